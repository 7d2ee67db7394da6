/*
 * Admission: which requests are served under overload (docs/overload.md).
 *
 * The queue is in the kernel: a request waits in its socket until a worker reads it. The kernel
 * reports how long the newest bytes in the socket waited. If the queue is empty now and then, every
 * request is served. While long waits continue, the service refuses each request that waited longer
 * than its priority allows, before the body is read. A late answer is worth little, and a refusal
 * costs far less than an answer.
 */
#ifndef HS_SERVICE_ADMISSION_H
#define HS_SERVICE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "validators/str.h"

enum {
    /* The queue is "standing" once long waits have recurred for this long without a longer pause
       between them. With a higher value, longer bursts are served, but overload is noticed
       later. */
    HS_STANDING_US = 100000,
    /* A wait is long if it exceeds limit / HS_LONG_WAIT_PART. Kernels measure waits in steps of 1
       to 10 ms. */
    HS_LONG_WAIT_PART = 8,
    /* The largest error of a measured wait: one tick of the kernel's clock. */
    HS_KERNEL_TICK_US = 10000,
    /* If the queue is not standing, a request may wait behind others for limit * HS_BURST_TIMES. */
    HS_BURST_TIMES = 10,
    /* A worker may spend this many times as much time on refusals as on other requests. With a
       value of 1, a worker that receives twice as many requests as it can serve cannot refuse them
       fast enough: its queue grows. */
    HS_REFUSING_TIMES = 9,
};

/* Data about the waits of requests for one worker. Zero-initialized; only that worker uses it. */
struct hs_gate {
    int64_t since_us;    /* time of the first long wait of this series */
    int64_t long_us;     /* time of the last long wait of this series */
    int64_t answered_us; /* when this worker last answered a request that is not vital */
    int64_t decided_us;  /* time of the last decision */
    /* time spent on refusals, minus HS_REFUSING_TIMES * the time spent on other requests; never
       below 0 */
    int64_t refusing_us;
    bool has_refused; /* the last decision was a refusal */
};

/*
 * Returns whether to serve a request that waited `waited_us` until `now_us` (monotonic). While the
 * queue is standing, hits may wait `limit_us` (0: no limit), frames half of `limit_us`, and
 * requests of the console a quarter of `limit_us`.
 *
 * Only a request that arrived before the last answer waited behind another request. So only the
 * waits of such requests count towards a standing queue, and only such requests are refused. A
 * client that waits for each answer before its next request is always served, even if a busy or
 * stopped machine makes it wait. After a stop of the machine, each worker also serves the first
 * waiting request.
 *
 * A refusal costs time, too. If all requests are late, refusing them could take all the time of a
 * worker. So the worker also serves late requests after it has spent too much time on refusals:
 * more than HS_REFUSING_TIMES times its time for other requests, plus HS_STANDING_US.
 */
bool hs_gate_admit(struct hs_gate *gate, enum hs_priority priority, int64_t limit_us,
                   int64_t waited_us, int64_t now_us);

/* Records that the worker answers a request. Call it before the answer is sent, because the
   client's next request must arrive after this call. Vital requests, such as health checks, do not
   count. */
void hs_gate_answered(struct hs_gate *gate, enum hs_priority priority, int64_t now_us);

/* Returns the age of the newest bytes of a TCP socket in microseconds, in steps of the kernel's
   clock; 0 if the age is unknown. */
int64_t hs_socket_waited_us(int fd);

/* ---- request rates of tenants ---- */

/* A token bucket for each tenant. Thread-safe. */
struct hs_tenant_rates;

/* Each tenant may send `per_second` requests (1 .. 1000000) on average and `burst_allowance` (>= 1)
   at once. Returns NULL if memory runs out. */
struct hs_tenant_rates *hs_tenant_rates_create(size_t per_second, size_t burst_allowance);
/* Does nothing for NULL. */
void hs_tenant_rates_destroy(struct hs_tenant_rates *rates);

/*
 * Takes one token of a tenant. All callers without a tenant (ptr NULL) share one bucket. Returns 0,
 * or the milliseconds until the next token. `now_ns` is monotonic. If there is no memory for a
 * bucket, the tenant has no limit.
 */
unsigned hs_tenant_rates_take(struct hs_tenant_rates *rates, struct hs_str tenant, int64_t now_ns);

#endif
