/*
 * Which requests get their turn when there is more to do than can be done (docs/overload.md).
 *
 * The queue is in the kernel: what a connection sent waits in its socket until a worker comes to
 * it. How long the last of it has waited the kernel knows, so nothing has to be guessed. While the
 * queue empties again and again, everybody is served. Once waits have been long for a while, a
 * request that waited longer than its kind may is refused at once, before its body is looked at:
 * what is late is worth little, and refusing costs far less than serving.
 */
#ifndef HS_SERVICE_ADMISSION_H
#define HS_SERVICE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "validators/str.h"

enum {
    /* Waits must have been long for this time, never further apart than it, for the queue to count
       as standing. Longer: bursts pass, and overload is noticed later. */
    HS_STANDING_US = 100000,
    /* A wait counts as long beyond limit / HS_LONG_WAIT_PART; the kernel counts in steps of 1 to
       10 ms. */
    HS_LONG_WAIT_PART = 8,
    /* The largest error of a measured wait: one tick of the kernel's clock. */
    HS_KERNEL_TICK_US = 10000,
    /* Without a standing queue a request waits at most limit * HS_BURST_TIMES behind others. */
    HS_BURST_TIMES = 10,
};

/* One worker's memory of how long requests waited for it. Zeroed at first; used by that worker. */
struct hs_gate {
    int64_t since_us;    /* the first long wait of this series */
    int64_t long_us;     /* the last one */
    int64_t answered_us; /* when this worker last answered a request that is not vital */
};

/*
 * Whether a request gets its turn that waited `waited_us` until `now_us` (monotonic). `limit_us`:
 * what hits may wait while a queue stands; frames half of it, the console a quarter. 0: everybody
 * gets a turn.
 *
 * Only a request that arrived before the last answer waited behind another request. So only such
 * waits begin a queue, and only such requests are refused. A client that sends one request after
 * the other always gets a turn, however long a busy or stopped machine lets it wait. After such a
 * stop each worker also serves the first of the requests that wait for it.
 */
bool hs_gate_admit(struct hs_gate *gate, enum hs_priority priority, int64_t limit_us,
                   int64_t waited_us, int64_t now_us);

/* The worker answers a request. Call it before the answer is sent: the client's next request then
   arrives later. Vital requests are not counted: a client whose only company is a health check is
   alone. */
void hs_gate_answered(struct hs_gate *gate, enum hs_priority priority, int64_t now_us);

/* How long ago the newest bytes of a TCP socket came, in microseconds, in steps of the kernel's
   clock; 0 where it cannot tell. */
int64_t hs_socket_waited_us(int fd);

/* ---- what each tenant may send ---- */

/* A token bucket for each tenant. Thread-safe. */
struct hs_tenant_rates;

/*
 * Each tenant may send `per_second` requests (1 .. 1000000) on average and `burst` (>= 1) at once.
 * NULL: out of memory.
 */
struct hs_tenant_rates *hs_tenant_rates_create(size_t per_second, size_t burst);
/* NULL is fine. */
void hs_tenant_rates_destroy(struct hs_tenant_rates *rates);

/*
 * Takes one token of a tenant's (ptr NULL: of all who have none). 0, or the milliseconds until
 * there is one. `now_ns`: monotonic. A tenant for whom there is no memory is not limited.
 */
unsigned hs_tenant_rates_take(struct hs_tenant_rates *rates, struct hs_str tenant, int64_t now_ns);

#endif
