/*
 * Admission: decides which requests are served under overload (docs/overload.md).
 *
 * The queue is in the kernel. A request waits in its socket until a worker reads the request. The
 * kernel reports how long the newest bytes have waited. As long as the queue becomes empty now and
 * then, a request is refused only after a very long wait (HS_BURST_TIMES). If long waits continue,
 * a request may wait only as long as its priority allows. After a longer wait, the request is
 * refused before its body is read. A late answer is worth little, and a refusal costs far less than
 * an answer.
 */
#ifndef HS_SERVICE_ADMISSION_H
#define HS_SERVICE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "validators/str.h"

enum {
    /* The queue is "standing" when a series of long waits has lasted for HS_STANDING_US. The series
       ends if there is no long wait for HS_STANDING_US. A higher value lets longer bursts through,
       but detects overload later. */
    HS_STANDING_US = 100000,
    /* A wait counts as long if it is longer than limit / HS_LONG_WAIT_PART. Kernels measure waits
       in steps of 1 to 10 ms. */
    HS_LONG_WAIT_PART = 8,
    /* Largest error of a measured wait: one tick of the kernel's clock. */
    HS_KERNEL_TICK_US = 10000,
    /* While the queue is not standing, a request may wait behind others for up to HS_BURST_TIMES *
       the limit. */
    HS_BURST_TIMES = 10,
    /* The time that a worker spends on refusals is at most HS_REFUSING_TIMES * its time for other
       requests. If the factor were 1 and a worker received twice as many requests as it can serve,
       the worker could not refuse the excess fast enough, and its queue would grow. */
    HS_REFUSING_TIMES = 9,
};

/* The data of one worker about the waits of its requests. Zero-initialized; used only by that
   worker. */
struct hs_gate {
    int64_t since_us;    /* when the current series of long waits began */
    int64_t long_us;     /* when the last long wait was seen */
    int64_t answered_us; /* when this worker last answered a request that was not vital */
    int64_t decided_us;
    /* time spent on refusals, minus HS_REFUSING_TIMES * the time spent on other requests; at least
       0 */
    int64_t refusing_us;
    bool has_refused; /* the last decision was a refusal */
};

/*
 * Decides whether to serve a request that waited `waited_us` until `now_us` (monotonic). While the
 * queue is standing, hits may wait `limit_us`, frames half of `limit_us`, and requests from the
 * console a quarter of `limit_us`. If `limit_us` is 0, all requests are served.
 *
 * A request counts as waiting behind others only if the request arrived more than HS_KERNEL_TICK_US
 * before the worker's last answer. Only a long wait behind others starts a series of long waits,
 * and only requests that waited behind others are refused. So a client that waits for each answer
 * before it sends the next request is always served, even if the machine is busy or was stopped.
 *
 * Refusals take time, too. If all requests are late, the refusals could take all of a worker's
 * time. So while `refusing_us` exceeds HS_STANDING_US, a worker also serves late requests.
 */
bool hs_gate_admit(struct hs_gate *gate, enum hs_priority priority, int64_t limit_us,
                   int64_t waited_us, int64_t now_us);

/* Records that the worker answers a request. Must be called before the answer is sent, so that the
   client's next request arrives after `now_us`. Does nothing for vital requests, such as health
   checks. */
void hs_gate_answered(struct hs_gate *gate, enum hs_priority priority, int64_t now_us);

/* Returns how long ago the newest bytes in a TCP socket arrived, in microseconds, with the
   resolution of the kernel's clock. Returns 0 if the time is unknown. */
int64_t hs_socket_waited_us(int fd);

/* ---- request rates of tenants ---- */

/* One token bucket for each tenant. Thread-safe. */
struct hs_tenant_rates;

/* Each tenant may send `per_second` requests (1 to 1000000) on average, and `burst_allowance`
   requests (at least 1) at once. Returns NULL if memory runs out. */
struct hs_tenant_rates *hs_tenant_rates_create(size_t per_second, size_t burst_allowance);
/* Does nothing for NULL. */
void hs_tenant_rates_destroy(struct hs_tenant_rates *rates);

/*
 * Takes a token from a tenant's bucket. All callers without a tenant (ptr NULL) share one bucket.
 * Returns 0 if the request is allowed, otherwise the milliseconds until the next token. `now_ns` is
 * monotonic. If there is no memory for the bucket, every request is allowed.
 */
unsigned hs_tenant_rates_take(struct hs_tenant_rates *rates, struct hs_str tenant, int64_t now_ns);

#endif
