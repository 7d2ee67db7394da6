/*
 * Threads for long requests. A worker serves many connections in turn, and a long request would
 * delay all these connections. So long requests run in a pool while their connections are
 * suspended. The next job is the oldest job of the tenant with the fewest running jobs. If several
 * tenants have equally few running jobs, the tenant whose job started last must wait for the other
 * tenants.
 */
#ifndef HS_SERVICE_POOL_H
#define HS_SERVICE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

enum { HS_POOL_THREADS_MAX = 65 };

struct hs_pool;

/* The job for one request. Must stay valid until `done` is called. */
struct hs_pool_job {
    const void *owner;    /* identifies the owner for hs_pool_end */
    struct hs_str tenant; /* len 0: no tenant */
    void (*run)(struct hs_pool_job *job);
    /* called after `run`, or instead of `run` after hs_pool_end */
    void (*done)(struct hs_pool_job *job);
    bool was_behind;          /* set by hs_pool_submit: other jobs were running or waiting */
    struct hs_pool_job *next; /* used only by the pool */
};

/*
 * Starts `threads` threads, at most HS_POOL_THREADS_MAX. If there are several threads, the jobs of
 * one tenant never use all threads. `is_background`: the thread gives way to workers
 * (background.h); allowed only if `threads` is 1. Returns NULL if memory or threads run out.
 */
struct hs_pool *hs_pool_create(unsigned threads, bool is_background);
/* Stops the threads and frees the pool. There must be no jobs left. Does nothing for NULL. */
void hs_pool_destroy(struct hs_pool *pool);

/* Adds a job. Thread-safe. If hs_pool_end was called for the job's owner, `done` is called at once,
   and `run` is never called. */
void hs_pool_submit(struct hs_pool *pool, struct hs_pool_job *job);

/* Calls `done` for the owner's waiting jobs, and waits until the owner's running jobs have
   finished. Does nothing for NULL. */
void hs_pool_end(struct hs_pool *pool, const void *owner);

/*
 * Returns whether the running job in a single-threaded pool has used more than `limit_us` of
 * processor time, or has made no progress for `limit_us`. A thread that gets little processor time,
 * but works, is not stuck. Must be called a few times a second. Thread-safe. `now_us` is monotonic.
 */
bool hs_pool_is_stuck(struct hs_pool *pool, int64_t limit_us, int64_t now_us);

#endif
