/*
 * Threads for requests that take long. A worker serves many connections one after the other, so
 * what takes long is done here, while its connection is suspended. Workers sleep most of the time,
 * so the kernel runs them at once when something comes.
 */
#include "service/http/http_listener.h"

#include "service/serve.h"

#include <string.h>
#include <sys/eventfd.h>

/* Where there are tenants, one of them never has all threads. */
static unsigned share_of_tenant(const struct hs_http *http)
{
    const struct hs_http_heavy *heavy = &http->heavy;
    return http->service->keyring != NULL && heavy->count > 1 ? heavy->count - 1 : heavy->count;
}

static unsigned running_of(const struct hs_http_heavy *heavy, const struct hs_name *tenant)
{
    unsigned count = 0;
    for (unsigned i = 0; i < heavy->count; i++) {
        const struct hs_http_job *job = heavy->running[i];
        count += job != NULL && strcmp(job->tenant->text, tenant->text) == 0 ? 1 : 0;
    }
    return count;
}

/* With the lock. The oldest job of the tenant who has the fewest threads; NULL: none may run. */
static struct hs_http_job *take_job(struct hs_http *http)
{
    struct hs_http_heavy *heavy = &http->heavy;
    struct hs_http_job **best = NULL;
    unsigned fewest = share_of_tenant(http);
    for (struct hs_http_job **at = &heavy->waiting; *at != NULL && fewest > 0; at = &(*at)->next) {
        unsigned running = running_of(heavy, (*at)->tenant);
        if (running < fewest) {
            fewest = running;
            best = at;
        }
    }
    if (best == NULL)
        return NULL;
    struct hs_http_job *job = *best;
    *best = job->next;
    return job;
}

static void put_last(struct hs_http_job **list, struct hs_http_job *job)
{
    while (*list != NULL)
        list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

/* Without a lock: no worker waits for a thread that holds one and does not run. */
static void put_done(struct hs_http_job *job)
{
    struct hs_http_worker *worker = job->worker;
    job->next = atomic_load(&worker->done);
    while (!atomic_compare_exchange_weak(&worker->done, &job->next, job)) {
    }
    eventfd_write(worker->wake, 1);
}

static void *work(void *context)
{
    struct hs_http *http = context;
    struct hs_http_heavy *heavy = &http->heavy;
    pthread_mutex_lock(&heavy->lock);
    unsigned place = heavy->started++;
    while (!heavy->ended) {
        struct hs_http_job *job = take_job(http);
        if (job == NULL) {
            pthread_cond_wait(&heavy->wake, &heavy->lock);
            continue;
        }
        heavy->running[place] = job;
        pthread_mutex_unlock(&heavy->lock);
        job->run(job);
        pthread_mutex_lock(&heavy->lock);
        heavy->running[place] = NULL;
        pthread_cond_broadcast(&heavy->wake); /* its tenant may have one more now */
        pthread_mutex_unlock(&heavy->lock);
        put_done(job); /* the name of its tenant may end with it */
        pthread_mutex_lock(&heavy->lock);
    }
    pthread_mutex_unlock(&heavy->lock);
    return NULL;
}

bool hs_http_heavy_start(struct hs_http *http, unsigned count)
{
    struct hs_http_heavy *heavy = &http->heavy;
    pthread_mutex_init(&heavy->lock, NULL);
    pthread_cond_init(&heavy->wake, NULL);
    count = count < HS_HTTP_HEAVY_MAX ? count : HS_HTTP_HEAVY_MAX;
    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_lock(&heavy->lock);
        bool fine = pthread_create(&heavy->threads[i], NULL, work, http) == 0;
        heavy->count += fine ? 1 : 0;
        pthread_mutex_unlock(&heavy->lock);
        if (!fine) {
            hs_http_heavy_stop(http);
            return false;
        }
    }
    return true;
}

void hs_http_heavy_put(struct hs_http *http, struct hs_http_job *job)
{
    struct hs_http_heavy *heavy = &http->heavy;
    pthread_mutex_lock(&heavy->lock);
    bool is_late = heavy->ended;
    if (!is_late) {
        put_last(&heavy->waiting, job);
        pthread_cond_signal(&heavy->wake);
    }
    pthread_mutex_unlock(&heavy->lock);
    if (is_late)
        put_done(job);
}

void hs_http_heavy_resume(struct hs_http_worker *worker)
{
    struct hs_http_job *done = atomic_exchange(&worker->done, NULL);
    while (done != NULL) {
        struct hs_http_job *next = done->next; /* the job ends with its request */
        MHD_resume_connection(done->connection);
        done = next;
    }
}

void hs_http_heavy_stop(struct hs_http *http)
{
    struct hs_http_heavy *heavy = &http->heavy;
    pthread_mutex_lock(&heavy->lock);
    heavy->ended = true;
    pthread_cond_broadcast(&heavy->wake);
    pthread_mutex_unlock(&heavy->lock);
    for (unsigned i = 0; i < heavy->count; i++)
        pthread_join(heavy->threads[i], NULL);
    /* Those that were not begun end with their connections. */
    pthread_mutex_lock(&heavy->lock);
    struct hs_http_job *waiting = heavy->waiting;
    heavy->waiting = NULL;
    heavy->count = 0;
    pthread_mutex_unlock(&heavy->lock);
    while (waiting != NULL) {
        struct hs_http_job *next = waiting->next;
        put_done(waiting);
        waiting = next;
    }
}

void hs_http_heavy_free(struct hs_http *http)
{
    pthread_cond_destroy(&http->heavy.wake);
    pthread_mutex_destroy(&http->heavy.lock);
}
