/* Reads the monotonic clock (for durations and deadlines) and the wall clock (for records). */
#ifndef HS_SERVICE_CLOCK_H
#define HS_SERVICE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Returns monotonic time in microseconds. */
static inline int64_t hs_clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Returns the wall-clock time in microseconds since 1970. */
static inline int64_t hs_clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline struct timespec hs_clock_timespec(int64_t us)
{
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

/* Initializes a condition variable. Timed waits on this variable use the monotonic clock. */
static inline void hs_clock_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Returns monotonic time in nanoseconds, with the same origin as hs_clock_us. */
static inline int64_t hs_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
