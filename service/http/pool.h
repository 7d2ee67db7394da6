/*
 * Threads for requests that take long. A worker serves many connections one after the other, so
 * what takes long runs here, while its connection is suspended. Tenants take turns: the next job is
 * the oldest of the tenant who has the fewest threads and was not served last.
 */
#ifndef HS_SERVICE_POOL_H
#define HS_SERVICE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

enum { HS_POOL_THREADS_MAX = 65 };

struct hs_pool;

/* One request; lives until `done`. */
struct hs_pool_job {
    const void *owner;    /* for hs_pool_end */
    struct hs_str tenant; /* len 0: nobody in particular */
    void (*run)(struct hs_pool_job *job);
    void (*done)(struct hs_pool_job *job); /* after `run`, or instead of it at the end */
    struct hs_pool_job *next;              /* of the pool */
};

/*
 * Starts up to HS_POOL_THREADS_MAX threads. A tenant never has all of several. `is_nice`: at a
 * lower priority than workers. NULL: out of memory or threads.
 */
struct hs_pool *hs_pool_create(unsigned threads, bool is_nice);
/* No job may be left. NULL: nothing. */
void hs_pool_destroy(struct hs_pool *pool);

/* Any thread. After hs_pool_end of its owner the job is done at once, and does not run. */
void hs_pool_submit(struct hs_pool *pool, struct hs_pool_job *job);

/* Ends the owner's jobs: those that wait do not run, and those that run are waited for. NULL:
   nothing. */
void hs_pool_end(struct hs_pool *pool, const void *owner);

/*
 * Of a pool with one thread: whether the job that runs has used more than `limit_us` of the
 * processor, or for that long none of it. The thread may wait for the processor, but then others
 * use it. Call it a few times a second, in any thread. `now_us`: monotonic.
 */
bool hs_pool_is_stuck(struct hs_pool *pool, int64_t limit_us, int64_t now_us);

#endif
