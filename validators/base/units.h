/* Conversions of time, and small functions on numbers. The library uses whole microseconds, but
   requests and answers contain seconds. */
#ifndef HS_UNITS_H
#define HS_UNITS_H

#include <math.h>
#include <stdint.h>

static inline double hs_seconds(int64_t us)
{
    return (double)us / 1e6;
}

/* Rounds seconds to whole microseconds, half to even. The argument must be within +-9e12. */
static inline int64_t hs_seconds_to_us(double seconds)
{
    /* The result must not depend on the caller's rounding mode, so nearbyint() cannot be used.
       `rest` has no rounding error. */
    double scaled = seconds * 1e6;
    int64_t whole = (int64_t)scaled;
    double rest = fabs(scaled - (double)whole);
    if (rest > 0.5 || (rest == 0.5 && whole % 2 != 0))
        whole += scaled < 0 ? -1 : 1;
    return whole;
}

/* hs_smaller and hs_larger are much cheaper than fmin and fmax, which also handle NaN and call the
   C library. */
static inline double hs_smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double hs_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double hs_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

#endif
