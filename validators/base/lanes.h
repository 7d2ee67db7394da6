/*
 * Four floats at a time, on the vector type of cglm. Each operation is one IEEE 754 operation per
 * lane, so every machine computes the same bits. For sums, differences and products use + - *.
 */
#ifndef HS_LANES_H
#define HS_LANES_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "validators/base/glm.h"

/* For code that computes eight floats at a time. Such code may only run if hs_lanes_can_be_eight
   returns true. */
#ifdef CGLM_SIMD_x86
#include <immintrin.h>
#endif

/* Returns whether this machine has AVX2. */
static inline bool hs_lanes_can_be_eight(void)
{
#ifdef CGLM_SIMD_x86
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* Returns a float that is at least x, and at most three float steps above x. Rounding to nearest
   moves a number by less than 6e-8 of its size. */
static inline float hs_float_above(double x)
{
    return (float)(x + (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

/* Returns a float that is at most x, and at most three float steps below x. */
static inline float hs_float_below(double x)
{
    return (float)(x - (fabs(x) * 1.2e-7 + (double)FLT_MIN));
}

/* Returns the index of the lowest set bit. `bits` must not be 0. */
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

/* Returns one bit for each lane: set if a <= b. The lowest bit is for the first lane. */
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

static inline glmm_128 hs_lanes_abs(glmm_128 a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}

static inline glmm_128 hs_lanes_sqrt(glmm_128 a)
{
    return _mm_sqrt_ps(a);
}

/* Negates each lane of `a` for which the same lane of `by` has its sign bit set. */
static inline glmm_128 hs_lanes_flip(glmm_128 a, glmm_128 by)
{
    return _mm_xor_ps(a, _mm_and_ps(_mm_set1_ps(-0.0f), by));
}

/* Reads four floats. The address need not be aligned. */
static inline glmm_128 hs_lanes_read(const float *from)
{
    return _mm_loadu_ps(from);
}

/* Writes four floats. The address need not be aligned. */
static inline void hs_lanes_write(float *to, glmm_128 a)
{
    _mm_storeu_ps(to, a);
}

/* Reads four bytes as numbers from 0 to 255. The address need not be aligned. */
static inline glmm_128 hs_lanes_read_bytes(const uint8_t *from)
{
    int bytes;
    memcpy(&bytes, from, sizeof bytes);
    __m128i words = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), _mm_setzero_si128());
    return _mm_cvtepi32_ps(_mm_unpacklo_epi16(words, _mm_setzero_si128()));
}

static inline void hs_lanes_transpose(glmm_128 rows[4])
{
    _MM_TRANSPOSE4_PS(rows[0], rows[1], rows[2], rows[3]);
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

static inline glmm_128 hs_lanes_abs(glmm_128 a)
{
    return vabsq_f32(a);
}

static inline glmm_128 hs_lanes_sqrt(glmm_128 a)
{
    return vsqrtq_f32(a);
}

static inline glmm_128 hs_lanes_flip(glmm_128 a, glmm_128 by)
{
    uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(by), vdupq_n_u32(UINT32_C(1) << 31));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), sign));
}

static inline glmm_128 hs_lanes_read(const float *from)
{
    return vld1q_f32(from);
}

static inline void hs_lanes_write(float *to, glmm_128 a)
{
    vst1q_f32(to, a);
}

static inline glmm_128 hs_lanes_read_bytes(const uint8_t *from)
{
    uint32_t bytes;
    memcpy(&bytes, from, sizeof bytes);
    uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(bytes)));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(words)));
}

static inline void hs_lanes_transpose(glmm_128 rows[4])
{
    float32x4x2_t even = vtrnq_f32(rows[0], rows[1]), odd = vtrnq_f32(rows[2], rows[3]);
    rows[0] = vcombine_f32(vget_low_f32(even.val[0]), vget_low_f32(odd.val[0]));
    rows[1] = vcombine_f32(vget_low_f32(even.val[1]), vget_low_f32(odd.val[1]));
    rows[2] = vcombine_f32(vget_high_f32(even.val[0]), vget_high_f32(odd.val[0]));
    rows[3] = vcombine_f32(vget_high_f32(even.val[1]), vget_high_f32(odd.val[1]));
}

#else
#error "needs SSE2 or 64-bit Arm"
#endif

/* Four vectors at a time. The functions below have no loops over the axes, because gcc would not
   unroll such loops at -O2. */
struct hs_lanes_vec {
    glmm_128 x, y, z;
};

static inline struct hs_lanes_vec hs_lanes_add(struct hs_lanes_vec a, struct hs_lanes_vec b)
{
    return (struct hs_lanes_vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct hs_lanes_vec hs_lanes_sub(struct hs_lanes_vec a, struct hs_lanes_vec b)
{
    return (struct hs_lanes_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline struct hs_lanes_vec hs_lanes_scale(struct hs_lanes_vec a, glmm_128 s)
{
    return (struct hs_lanes_vec){a.x * s, a.y * s, a.z * s};
}

static inline glmm_128 hs_lanes_dot(struct hs_lanes_vec a, struct hs_lanes_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct hs_lanes_vec hs_lanes_vec_abs(struct hs_lanes_vec a)
{
    return (struct hs_lanes_vec){hs_lanes_abs(a.x), hs_lanes_abs(a.y), hs_lanes_abs(a.z)};
}

/* Reads four vectors from 12 floats: all x, then all y, then all z. */
static inline struct hs_lanes_vec hs_lanes_read_vec(const float *from)
{
    return (struct hs_lanes_vec){hs_lanes_read(from), hs_lanes_read(from + 4),
                                 hs_lanes_read(from + 8)};
}

/* Returns four copies of `v`, rounded to float. */
static inline struct hs_lanes_vec hs_lanes_set1_vec(struct hs_vec v)
{
    return (struct hs_lanes_vec){glmm_set1((float)v.x), glmm_set1((float)v.y),
                                 glmm_set1((float)v.z)};
}

#endif
