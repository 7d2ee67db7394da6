/* The monotonic clock, for durations and deadlines. */
#ifndef HS_SERVICE_CLOCK_H
#define HS_SERVICE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds since some fixed moment. */
static inline int64_t hs_clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Nanoseconds since the same moment. */
static inline int64_t hs_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
