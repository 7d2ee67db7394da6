/*
 * Four floats at a time: SSE2 where it is (every x86-64), plain C elsewhere. Each operation is one
 * IEEE 754 operation a lane, so both give the same bits.
 */
#ifndef HS_LANES_H
#define HS_LANES_H

#include <float.h>
#include <math.h>

/*
 * A float that is not below x, at most three steps above it; and the same downwards. One rounding
 * to nearest moves a number by less than 6e-8 of it.
 */
static inline float hs_float_above(double x)
{
    return (float)(x + (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

static inline float hs_float_below(double x)
{
    return (float)(x - (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

/* Number of the lowest bit that is set; there must be one. */
static inline int hs_lowest_bit(unsigned bits)
{
#if defined(__GNUC__)
    return __builtin_ctz(bits);
#else
    int i = 0;
    for (; (bits & 1) == 0; bits >>= 1)
        i++;
    return i;
#endif
}

#if defined(__SSE2__) && !defined(HS_LANES_PLAIN)

#include <emmintrin.h>

struct hs_lanes {
    __m128 v;
};

static inline struct hs_lanes hs_lanes_all(float x)
{
    return (struct hs_lanes){_mm_set1_ps(x)};
}

/* From 16-byte aligned memory. */
static inline struct hs_lanes hs_lanes_load(const float *from)
{
    return (struct hs_lanes){_mm_load_ps(from)};
}

static inline void hs_lanes_store(float *to, struct hs_lanes a)
{
    _mm_store_ps(to, a.v);
}

/* from[i] - minus, in double, then rounded; from 16-byte aligned memory. */
static inline struct hs_lanes hs_lanes_narrow(const double *from, double minus)
{
    __m128d base = _mm_set1_pd(minus);
    __m128 low = _mm_cvtpd_ps(_mm_sub_pd(_mm_load_pd(from), base));
    __m128 high = _mm_cvtpd_ps(_mm_sub_pd(_mm_load_pd(from + 2), base));
    return (struct hs_lanes){_mm_movelh_ps(low, high)};
}

static inline struct hs_lanes hs_lanes_add(struct hs_lanes a, struct hs_lanes b)
{
    return (struct hs_lanes){_mm_add_ps(a.v, b.v)};
}

static inline struct hs_lanes hs_lanes_sub(struct hs_lanes a, struct hs_lanes b)
{
    return (struct hs_lanes){_mm_sub_ps(a.v, b.v)};
}

static inline struct hs_lanes hs_lanes_mul(struct hs_lanes a, struct hs_lanes b)
{
    return (struct hs_lanes){_mm_mul_ps(a.v, b.v)};
}

/* a < b ? a : b */
static inline struct hs_lanes hs_lanes_min(struct hs_lanes a, struct hs_lanes b)
{
    return (struct hs_lanes){_mm_min_ps(a.v, b.v)};
}

/* a > b ? a : b */
static inline struct hs_lanes hs_lanes_max(struct hs_lanes a, struct hs_lanes b)
{
    return (struct hs_lanes){_mm_max_ps(a.v, b.v)};
}

/* One bit a lane, the lowest for the first: a <= b. */
static inline unsigned hs_lanes_at_most(struct hs_lanes a, struct hs_lanes b)
{
    return (unsigned)_mm_movemask_ps(_mm_cmple_ps(a.v, b.v));
}

static inline void hs_lanes_prefetch(const void *memory)
{
    _mm_prefetch(memory, _MM_HINT_T0);
}

#else

#include <stdalign.h>

struct hs_lanes {
    alignas(16) float v[4];
};

#define HS_LANES_EACH(expression)                                                                  \
    struct hs_lanes result;                                                                        \
    for (int i = 0; i < 4; i++)                                                                    \
        result.v[i] = (expression);                                                                \
    return result

static inline struct hs_lanes hs_lanes_all(float x)
{
    HS_LANES_EACH(x);
}

static inline struct hs_lanes hs_lanes_load(const float *from)
{
    HS_LANES_EACH(from[i]);
}

static inline struct hs_lanes hs_lanes_narrow(const double *from, double minus)
{
    HS_LANES_EACH((float)(from[i] - minus));
}

static inline void hs_lanes_store(float *to, struct hs_lanes a)
{
    for (int i = 0; i < 4; i++)
        to[i] = a.v[i];
}

static inline struct hs_lanes hs_lanes_add(struct hs_lanes a, struct hs_lanes b)
{
    HS_LANES_EACH(a.v[i] + b.v[i]);
}

static inline struct hs_lanes hs_lanes_sub(struct hs_lanes a, struct hs_lanes b)
{
    HS_LANES_EACH(a.v[i] - b.v[i]);
}

static inline struct hs_lanes hs_lanes_mul(struct hs_lanes a, struct hs_lanes b)
{
    HS_LANES_EACH(a.v[i] * b.v[i]);
}

static inline struct hs_lanes hs_lanes_min(struct hs_lanes a, struct hs_lanes b)
{
    HS_LANES_EACH(a.v[i] < b.v[i] ? a.v[i] : b.v[i]);
}

static inline struct hs_lanes hs_lanes_max(struct hs_lanes a, struct hs_lanes b)
{
    HS_LANES_EACH(a.v[i] > b.v[i] ? a.v[i] : b.v[i]);
}

static inline unsigned hs_lanes_at_most(struct hs_lanes a, struct hs_lanes b)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < 4; i++)
        bits |= a.v[i] <= b.v[i] ? 1u << i : 0;
    return bits;
}

static inline void hs_lanes_prefetch(const void *memory)
{
    (void)memory;
}

#undef HS_LANES_EACH

#endif

#endif
