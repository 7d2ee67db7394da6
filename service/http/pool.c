#include "service/http/pool.h"

#include "service/http/background.h"
#include "service/system/clock.h"
#include "service/system/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Maximum number of owners that call hs_pool_end: the two listeners. */
enum { ENDED_MAX = 2 };

struct hs_pool {
    pthread_mutex_t lock;   /* guards the following members */
    pthread_cond_t changed; /* signalled when a job is added or has ended, or `stops` is set */
    pthread_t threads[HS_POOL_THREADS_MAX];
    unsigned count, started;
    bool is_background, stops;
    struct hs_pool_job *first, **end;                 /* waiting jobs, oldest first */
    struct hs_pool_job *running[HS_POOL_THREADS_MAX]; /* each thread's current job, or NULL */
    const void *ended[ENDED_MAX];
    struct hs_name served; /* tenant of the job that started last */
    /* the members below describe the first thread only */
    struct hs_background background;
    clockid_t clock; /* measures the thread's processor time */
    /* the thread's processor time when the job started, and at the last check */
    int64_t began_us, seen_us;
    unsigned seen_yields;
    int64_t moved_us; /* when a check last found that the thread had worked (monotonic) */
};

static int64_t processor_us(const struct hs_pool *pool)
{
    struct timespec time = {0};
    clock_gettime(pool->clock, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- the next job; the caller holds the lock ---- */

static unsigned running_of(const struct hs_pool *pool, struct hs_str tenant)
{
    unsigned count = 0;
    for (unsigned i = 0; i < pool->count; i++)
        count += pool->running[i] != NULL && hs_str_equal(pool->running[i]->tenant, tenant);
    return count;
}

/* Returns a job's rank; the lowest rank runs first. Returns UINT_MAX if the job may not run now. If
   several tenants have the same number of running jobs, the tenant whose job started last
   (`served`) must wait for the others. */
static unsigned turn_of(const struct hs_pool *pool, const struct hs_pool_job *job)
{
    unsigned running = running_of(pool, job->tenant);
    if (job->tenant.len > 0 && pool->count > 1 && running + 1 >= pool->count)
        return ~0u;
    return 2 * running + (hs_str_equal(job->tenant, hs_name_str(&pool->served)) ? 1 : 0);
}

/* Removes the next job from the queue and returns it, or NULL if no job may run. */
static struct hs_pool_job *take_next(struct hs_pool *pool)
{
    struct hs_pool_job **best = NULL;
    unsigned earliest = ~0u;
    for (struct hs_pool_job **at = &pool->first; *at != NULL; at = &(*at)->next) {
        unsigned turn = turn_of(pool, *at);
        if (turn >= earliest)
            continue;
        earliest = turn;
        best = at;
    }
    if (best == NULL)
        return NULL;
    struct hs_pool_job *job = *best;
    *best = job->next;
    if (*best == NULL)
        pool->end = best;
    hs_name_set(&pool->served, job->tenant);
    return job;
}

/* ---- threads ---- */

/* Runs a job. The caller holds the lock, which is released while the job runs. */
static void run_job(struct hs_pool *pool, unsigned place, struct hs_pool_job *job)
{
    pool->running[place] = job;
    if (place == 0) {
        pool->began_us = pool->seen_us = processor_us(pool);
        pool->moved_us = hs_clock_us();
    }
    pthread_mutex_unlock(&pool->lock);
    if (pool->is_background)
        hs_background_begin(&pool->background);
    job->run(job);
    if (pool->is_background)
        hs_background_end(&pool->background);
    pthread_mutex_lock(&pool->lock);
    pool->running[place] = NULL;
    /* Call `done` under the lock, so that no `done` runs after hs_pool_end has returned. */
    job->done(job);
    /* Another job of this tenant may be allowed to run now. */
    pthread_cond_broadcast(&pool->changed);
}

static void *work(void *context)
{
    struct hs_pool *pool = context;
    if (pool->is_background)
        hs_background_enter(&pool->background);
    pthread_mutex_lock(&pool->lock);
    unsigned place = pool->started++;
    while (!pool->stops) {
        struct hs_pool_job *job = take_next(pool);
        if (job != NULL)
            run_job(pool, place, job);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    if (pool->is_background)
        hs_background_leave(&pool->background);
    return NULL;
}

struct hs_pool *hs_pool_create(unsigned threads, bool is_background)
{
    struct hs_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->end = &pool->first;
    pool->is_background = is_background;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    /* The lock makes the threads wait until `count` and `clock` are set. */
    pthread_mutex_lock(&pool->lock);
    bool fine = true;
    for (unsigned i = 0; i < threads && i < HS_POOL_THREADS_MAX && fine; i++) {
        fine = hs_thread_start(&pool->threads[i], work, pool);
        pool->count += fine ? 1 : 0;
    }
    if (fine && pthread_getcpuclockid(pool->threads[0], &pool->clock) != 0)
        pool->clock = CLOCK_PROCESS_CPUTIME_ID;
    pthread_mutex_unlock(&pool->lock);
    if (fine)
        return pool;
    hs_pool_destroy(pool);
    return NULL;
}

void hs_pool_destroy(struct hs_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stops = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- jobs ---- */

static bool has_ended(const struct hs_pool *pool, const void *owner)
{
    bool ended = false;
    for (int i = 0; i < ENDED_MAX; i++)
        ended = ended || pool->ended[i] == owner;
    return ended;
}

static bool is_idle(const struct hs_pool *pool)
{
    unsigned running = 0;
    for (unsigned i = 0; i < pool->count; i++)
        running += pool->running[i] != NULL;
    return running == 0 && pool->first == NULL;
}

void hs_pool_submit(struct hs_pool *pool, struct hs_pool_job *job)
{
    pthread_mutex_lock(&pool->lock);
    job->next = NULL;
    job->was_behind = !is_idle(pool);
    if (has_ended(pool, job->owner)) {
        job->done(job);
    } else {
        *pool->end = job;
        pool->end = &job->next;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
}

static bool runs_any_of(const struct hs_pool *pool, const void *owner)
{
    bool any = false;
    for (unsigned i = 0; i < pool->count; i++)
        any = any || (pool->running[i] != NULL && pool->running[i]->owner == owner);
    return any;
}

void hs_pool_end(struct hs_pool *pool, const void *owner)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ended[pool->ended[0] != NULL] = owner;
    for (struct hs_pool_job **at = &pool->first; *at != NULL;) {
        struct hs_pool_job *job = *at;
        if (job->owner != owner) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->done(job);
    }
    pool->end = &pool->first;
    while (*pool->end != NULL)
        pool->end = &(*pool->end)->next;
    while (runs_any_of(pool, owner))
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

bool hs_pool_is_stuck(struct hs_pool *pool, int64_t limit_us, int64_t now_us)
{
    pthread_mutex_lock(&pool->lock);
    int64_t used_us = processor_us(pool);
    unsigned yields = atomic_load(&pool->background.yields);
    if (used_us > pool->seen_us + (int64_t)HS_YIELD_US * (yields - pool->seen_yields + 1))
        pool->moved_us = now_us;
    pool->seen_us = used_us;
    pool->seen_yields = yields;
    bool is_stuck = pool->running[0] != NULL &&
                    (used_us - pool->began_us > limit_us || now_us - pool->moved_us > limit_us);
    pthread_mutex_unlock(&pool->lock);
    return is_stuck;
}
