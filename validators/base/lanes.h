/*
 * Four floats at a time, on the vector type of cglm. Each operation is one IEEE 754 operation a
 * lane, so every machine computes the same bits. Add, subtract and multiply with + - *.
 */
#ifndef HS_LANES_H
#define HS_LANES_H

#include <float.h>
#include <math.h>

#include "validators/base/glm.h"

/* Returns a float that is at least x, and at most three steps above it. Rounding to nearest moves a
   number by less than 6e-8 of its size. */
static inline float hs_float_above(double x)
{
    return (float)(x + (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

/* Returns a float that is at most x, and at most three steps below it. */
static inline float hs_float_below(double x)
{
    return (float)(x - (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

/* Returns the number of the lowest set bit; `bits` must not be 0. */
static inline int hs_lowest_bit(unsigned bits)
{
    return __builtin_ctz(bits);
}

#ifdef CGLM_SIMD_x86

/* Returns a < b ? a : b for each lane. */
static inline glmm_128 hs_lanes_min(glmm_128 a, glmm_128 b)
{
    return _mm_min_ps(a, b);
}

/* Returns a > b ? a : b for each lane. */
static inline glmm_128 hs_lanes_max(glmm_128 a, glmm_128 b)
{
    return _mm_max_ps(a, b);
}

/* Returns one bit for each lane, set where a <= b. The lowest bit is the first lane. */
static inline unsigned hs_lanes_at_most(glmm_128 a, glmm_128 b)
{
    return (unsigned)_mm_movemask_ps(_mm_cmple_ps(a, b));
}

/* Returns from[i] - minus for each lane, computed in double and then rounded. `from` is aligned to
   16 bytes. */
static inline glmm_128 hs_lanes_narrow(const double *from, double minus)
{
    __m128d low = _mm_sub_pd(_mm_load_pd(from), _mm_set1_pd(minus));
    __m128d high = _mm_sub_pd(_mm_load_pd(from + 2), _mm_set1_pd(minus));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

#elif defined(__aarch64__)

static inline glmm_128 hs_lanes_min(glmm_128 a, glmm_128 b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

static inline glmm_128 hs_lanes_max(glmm_128 a, glmm_128 b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline unsigned hs_lanes_at_most(glmm_128 a, glmm_128 b)
{
    const uint32x4_t bit = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcleq_f32(a, b), bit));
}

static inline glmm_128 hs_lanes_narrow(const double *from, double minus)
{
    float64x2_t low = vsubq_f64(vld1q_f64(from), vdupq_n_f64(minus));
    float64x2_t high = vsubq_f64(vld1q_f64(from + 2), vdupq_n_f64(minus));
    return vcombine_f32(vcvt_f32_f64(low), vcvt_f32_f64(high));
}

#else
#error "needs SSE2 or 64-bit Arm"
#endif

#endif
