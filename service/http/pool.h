/*
 * Threads for long requests. A worker serves many connections one after the other, so long requests
 * run here, while their connections are suspended. Tenants take turns: the next job is the oldest
 * job of the tenant with the fewest running jobs. Among tenants with the same number of
 * running jobs, the tenant whose job began last comes last.
 */
#ifndef HS_SERVICE_POOL_H
#define HS_SERVICE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

enum { HS_POOL_THREADS_MAX = 65 };

struct hs_pool;

/* The job of one request. It must stay valid until `done` is called. */
struct hs_pool_job {
    const void *owner;    /* the owner of the job, for hs_pool_end */
    struct hs_str tenant; /* len 0: no tenant */
    void (*run)(struct hs_pool_job *job);
    void (*done)(struct hs_pool_job *job); /* called after `run`, or instead of `run` if the owner
                                              has ended (hs_pool_end) */
    bool was_behind;          /* set by the pool: other jobs ran or waited when it was submitted */
    struct hs_pool_job *next; /* used by the pool */
};

/*
 * Starts up to HS_POOL_THREADS_MAX threads. If there are several threads, one tenant never occupies
 * all of them. `is_background` is for a pool with one thread, which yields to workers
 * (background.h). Returns NULL if memory or threads run out.
 */
struct hs_pool *hs_pool_create(unsigned threads, bool is_background);
/* Ends the threads and frees the pool. No job may be left. Does nothing for NULL. */
void hs_pool_destroy(struct hs_pool *pool);

/* Adds a job. Any thread may call this. If hs_pool_end was called for the job's owner, this
   function calls `done` at once, and `run` is never called. */
void hs_pool_submit(struct hs_pool *pool, struct hs_pool_job *job);

/* Calls `done` of the owner's waiting jobs, and waits for the owner's running jobs. Does nothing
   for NULL. */
void hs_pool_end(struct hs_pool *pool, const void *owner);

/*
 * For a pool with one thread. Returns whether the running job has used more than `limit_us` of
 * processor time, or none at all for `limit_us`. A thread that waits for the processor is not stuck
 * if it gets some processor time. Call it a few times a second, from any thread. `now_us`:
 * monotonic.
 */
bool hs_pool_is_stuck(struct hs_pool *pool, int64_t limit_us, int64_t now_us);

#endif
