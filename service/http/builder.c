#include "service/http/builder.h"

#include "service/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* A tenth of what a worker gets of a processor both want. Lower, and on a busy machine no map would
   ever be built; higher, and requests wait for it. */
enum { NICE = 10 };

struct hs_builder {
    pthread_t thread;
    clockid_t clock; /* the thread's processor time */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job came, one ended, or `stops` */
    struct hs_builder_job *first, **end;
    const void *running;   /* the owner of the job that runs; NULL: none does */
    struct hs_name served; /* the tenant of the last job */
    bool stops;
    int64_t began_us, seen_us; /* processor time: at the start of the job, and when last looked */
    int64_t moved_us;          /* when `seen_us` last grew; monotonic */
};

static int64_t processor_us(const struct hs_builder *builder)
{
    struct timespec time = {0};
    clock_gettime(builder->clock, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* The lock is held. The first job of another tenant than the last one's, or else the first. */
static struct hs_builder_job *take_next(struct hs_builder *builder)
{
    struct hs_builder_job **at = &builder->first;
    while (*at != NULL && hs_str_equal((*at)->tenant, hs_name_str(&builder->served)))
        at = &(*at)->next;
    if (*at == NULL)
        at = &builder->first;
    struct hs_builder_job *job = *at;
    *at = job->next;
    if (*at == NULL)
        builder->end = at;
    hs_name_set(&builder->served, job->tenant);
    return job;
}

/* The lock is held, but not while the job runs. */
static void run_next(struct hs_builder *builder)
{
    struct hs_builder_job *job = take_next(builder);
    builder->running = job->owner;
    builder->began_us = builder->seen_us = processor_us(builder);
    builder->moved_us = hs_clock_us();
    pthread_mutex_unlock(&builder->lock);
    job->run(job);
    job->done(job);
    pthread_mutex_lock(&builder->lock);
    builder->running = NULL;
    pthread_cond_broadcast(&builder->changed);
}

static void *build(void *context)
{
    struct hs_builder *builder = context;
    /* Of this thread alone, on Linux. Where it is refused the thread is one as any other. */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    pthread_mutex_lock(&builder->lock);
    while (!builder->stops) {
        if (builder->first != NULL)
            run_next(builder);
        else
            pthread_cond_wait(&builder->changed, &builder->lock);
    }
    pthread_mutex_unlock(&builder->lock);
    return NULL;
}

struct hs_builder *hs_builder_create(void)
{
    struct hs_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL)
        return NULL;
    builder->end = &builder->first;
    pthread_mutex_init(&builder->lock, NULL);
    pthread_cond_init(&builder->changed, NULL);
    pthread_mutex_lock(&builder->lock); /* until the clock is known */
    bool fine = pthread_create(&builder->thread, NULL, build, builder) == 0;
    if (fine && pthread_getcpuclockid(builder->thread, &builder->clock) != 0)
        builder->clock = CLOCK_PROCESS_CPUTIME_ID;
    pthread_mutex_unlock(&builder->lock);
    if (fine)
        return builder;
    pthread_cond_destroy(&builder->changed);
    pthread_mutex_destroy(&builder->lock);
    free(builder);
    return NULL;
}

void hs_builder_destroy(struct hs_builder *builder)
{
    if (builder == NULL)
        return;
    pthread_mutex_lock(&builder->lock);
    builder->stops = true;
    pthread_cond_broadcast(&builder->changed);
    pthread_mutex_unlock(&builder->lock);
    pthread_join(builder->thread, NULL);
    pthread_cond_destroy(&builder->changed);
    pthread_mutex_destroy(&builder->lock);
    free(builder);
}

void hs_builder_submit(struct hs_builder *builder, struct hs_builder_job *job)
{
    pthread_mutex_lock(&builder->lock);
    job->next = NULL;
    *builder->end = job;
    builder->end = &job->next;
    pthread_cond_broadcast(&builder->changed);
    pthread_mutex_unlock(&builder->lock);
}

void hs_builder_end(struct hs_builder *builder, const void *owner)
{
    pthread_mutex_lock(&builder->lock);
    for (struct hs_builder_job **at = &builder->first; *at != NULL;) {
        struct hs_builder_job *job = *at;
        if (job->owner != owner) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->done(job);
    }
    builder->end = &builder->first;
    while (*builder->end != NULL)
        builder->end = &(*builder->end)->next;
    while (builder->running == owner)
        pthread_cond_wait(&builder->changed, &builder->lock);
    pthread_mutex_unlock(&builder->lock);
}

bool hs_builder_is_stuck(struct hs_builder *builder, int64_t limit_us, int64_t now_us)
{
    pthread_mutex_lock(&builder->lock);
    int64_t used_us = processor_us(builder);
    if (used_us > builder->seen_us)
        builder->moved_us = now_us;
    builder->seen_us = used_us;
    bool is_stuck = builder->running != NULL && (used_us - builder->began_us > limit_us ||
                                                 now_us - builder->moved_us > limit_us);
    pthread_mutex_unlock(&builder->lock);
    return is_stuck;
}
