#include "service/http/admission.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

/* ---- the queue ---- */

/* Returns how long a request may wait while the queue is standing. */
static int64_t standing_limit(enum hs_priority priority, int64_t limit_us)
{
    switch (priority) {
    case HS_PRIORITY_FRAMES:
        return limit_us / 2;
    case HS_PRIORITY_CONSOLE:
        return limit_us / 4;
    default:
        return limit_us;
    }
}

/* Updates `refusing_us` with the time since the last decision. If the last decision was a refusal,
   adds this time, but at most one kernel tick. Otherwise subtracts this time, multiplied by
   HS_REFUSING_TIMES. A refusal takes less than a kernel tick, so a longer time means that the
   process was stopped. If this request did not wait behind others, the worker was idle, and
   `refusing_us` restarts at 0. */
static void count_refusing(struct hs_gate *gate, bool was_behind, int64_t now_us)
{
    int64_t spent_us = now_us - gate->decided_us;
    if (gate->has_refused && spent_us > HS_KERNEL_TICK_US)
        spent_us = HS_KERNEL_TICK_US;
    gate->refusing_us += gate->has_refused ? spent_us : -HS_REFUSING_TIMES * spent_us;
    if (!was_behind || gate->refusing_us < 0)
        gate->refusing_us = 0;
    gate->decided_us = now_us;
}

bool hs_gate_admit(struct hs_gate *gate, enum hs_priority priority, int64_t limit_us,
                   int64_t waited_us, int64_t now_us)
{
    if (limit_us == 0)
        return true;
    /* `goes_on` compares the last long wait with the arrival of this request, not with `now_us`,
       because this request has been waiting since it arrived. */
    int64_t arrived_us = now_us - waited_us;
    bool goes_on = gate->long_us != 0 && arrived_us - gate->long_us <= HS_STANDING_US;
    bool was_behind = arrived_us + HS_KERNEL_TICK_US < gate->answered_us;
    if (waited_us > limit_us / HS_LONG_WAIT_PART &&
        (was_behind || (goes_on && waited_us >= HS_STANDING_US))) {
        if (!goes_on)
            gate->since_us = now_us;
        gate->long_us = now_us;
    }
    bool standing = gate->long_us - gate->since_us >= HS_STANDING_US &&
                    now_us - gate->long_us <= HS_STANDING_US;
    count_refusing(gate, was_behind, now_us);
    /* If a request did not wait behind others, it waited only because the machine was busy.
       Refusing such a request would not shorten the next waits. */
    gate->has_refused =
        priority != HS_PRIORITY_VITAL && was_behind &&
        waited_us > (standing ? standing_limit(priority, limit_us) : limit_us * HS_BURST_TIMES) &&
        gate->refusing_us <= HS_STANDING_US;
    return !gate->has_refused;
}

void hs_gate_answered(struct hs_gate *gate, enum hs_priority priority, int64_t now_us)
{
    if (priority != HS_PRIORITY_VITAL)
        gate->answered_us = now_us;
}

int64_t hs_socket_waited_us(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return (int64_t)info.tcpi_last_data_recv * 1000;
}

/* ---- tenants ---- */

enum { CHAINS = 256 };

/* A token bucket, implemented as the generic cell rate algorithm (ITU-T I.371): the bucket will be
   full at `full_ns`, and gets one token every `token_ns`. */
struct bucket {
    struct hs_name tenant;
    int64_t full_ns;
    struct bucket *next;
};

struct hs_tenant_rates {
    pthread_mutex_t lock; /* guards the buckets */
    int64_t token_ns, burst_allowance;
    struct bucket *chains[CHAINS]; /* a hash table, with one bucket for each tenant */
};

struct hs_tenant_rates *hs_tenant_rates_create(size_t per_second, size_t burst_allowance)
{
    struct hs_tenant_rates *rates = calloc(1, sizeof *rates);
    if (rates == NULL)
        return NULL;
    rates->token_ns = 1000000000 / (int64_t)per_second;
    rates->burst_allowance = (int64_t)burst_allowance;
    pthread_mutex_init(&rates->lock, NULL);
    return rates;
}

void hs_tenant_rates_destroy(struct hs_tenant_rates *rates)
{
    if (rates == NULL)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        while (rates->chains[i] != NULL) {
            struct bucket *bucket = rates->chains[i];
            rates->chains[i] = bucket->next;
            free(bucket);
        }
    }
    pthread_mutex_destroy(&rates->lock);
    free(rates);
}

/* Returns a tenant's bucket, and creates it if necessary. Returns NULL if memory runs out. The
   caller holds the lock. */
static struct bucket *bucket_of(struct hs_tenant_rates *rates, struct hs_str tenant)
{
    struct bucket **at = &rates->chains[hs_str_hash(tenant) % CHAINS];
    while (*at != NULL && !hs_str_equal(hs_name_str(&(*at)->tenant), tenant))
        at = &(*at)->next;
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
        if (*at != NULL)
            hs_name_set(&(*at)->tenant, tenant);
    }
    return *at;
}

unsigned hs_tenant_rates_take(struct hs_tenant_rates *rates, struct hs_str tenant, int64_t now_ns)
{
    int64_t missing_ns = 0;
    pthread_mutex_lock(&rates->lock);
    struct bucket *bucket = bucket_of(rates, tenant.ptr != NULL ? tenant : HS_STR(""));
    if (bucket != NULL) {
        int64_t full_ns = bucket->full_ns > now_ns ? bucket->full_ns : now_ns;
        missing_ns = full_ns + rates->token_ns - now_ns - rates->burst_allowance * rates->token_ns;
        if (missing_ns <= 0)
            bucket->full_ns = full_ns + rates->token_ns;
    }
    pthread_mutex_unlock(&rates->lock);
    return missing_ns <= 0 ? 0 : (unsigned)(missing_ns / 1000000) + 1;
}
