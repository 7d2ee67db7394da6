#include "validators/history/crowd.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
#include "validators/history/extent.h"
#include "validators/history/ring_inside.h"

/* Upper bound of the rounding errors of near_four, relative to the coordinates. */
#define NEAR_SLACK 1e-6

static double sum_of(struct hs_vec v)
{
    return fabs(v.x) + fabs(v.y) + fabs(v.z);
}

void hs_passing_of(const struct hs_sweep *sweep, int64_t time_us, struct hs_passing *out)
{
    out->time_us = time_us;
    out->half = hs_vec_scale(sweep->direction, sweep->length / 2);
    out->middle = hs_vec_add(sweep->start, out->half);
    double rounding = 1e-12 * sum_of(sweep->start);
    out->reach = sweep->radius + (sweep->radius + sweep->length) * 4 * HS_TOUCH_SLACK + rounding;
    hs_vec_to_floats(out->middle, out->near_middle);
    hs_vec_to_floats(out->half, out->near_half);
    out->near_reach =
        hs_float_above(out->reach + NEAR_SLACK * (sum_of(out->middle) + sum_of(out->half)));
}

double hs_crowd_reach(const struct hs_history_span *span, const struct hs_ruleset *ruleset)
{
    return hs_larger(hs_extent_reach(&span->posted), ruleset->reach) * (1 + 4 * HS_TOUCH_SLACK);
}

void hs_crowd_extent(const struct hs_history *history, const struct hs_ruleset *ruleset,
                     struct hs_extent *out)
{
    *out = history->span.posted;
    if (!history->has_rest)
        return;
    struct hs_extent rest = hs_extent_of_ball(ruleset->reach);
    hs_extent_join(out, &rest);
}

/* ---- four players ---- */

/* The half extent is computed from the rounded middle, so the rounding of the middle does not
   matter. */
static inline void put_axis(struct hs_crowd *crowd, int axis, uint32_t i, double low, double high)
{
    float rounded = (float)((low + high) * 0.5);
    double middle = (double)rounded;
    crowd->middle[axis][i] = rounded;
    crowd->half[axis][i] = hs_float_above(hs_larger(high - middle, middle - low));
}

static inline int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void hs_crowd_put(struct hs_crowd *crowd, uint32_t i, const struct hs_history *history,
                  const struct hs_ruleset *ruleset)
{
    const struct hs_history_span *span = hs_history_span(history);
    int64_t slack_us = ruleset->rewind.future_slack_us;
    crowd->from_us[i] = INT64_MAX;
    crowd->until_us[i] = INT64_MIN;
    if (span != NULL && span->longest_gap_us <= ruleset->history.max_gap_us) {
        struct hs_extent body;
        hs_crowd_extent(history, ruleset, &body);
        const float *low = body.low, *high = body.high;
        put_axis(crowd, 0, i, span->low.x + (double)low[0], span->high.x + (double)high[0]);
        put_axis(crowd, 1, i, span->low.y + (double)low[1], span->high.y + (double)high[1]);
        put_axis(crowd, 2, i, span->low.z + (double)low[2], span->high.z + (double)high[2]);
        crowd->from_us[i] = span->oldest_us;
        crowd->until_us[i] =
            span->newest_us < INT64_MAX - slack_us ? span->newest_us + slack_us : INT64_MAX;
    }
    const int64_t *from_us = crowd->from_us, *until_us = crowd->until_us;
    crowd->all_from_us =
        later_of(later_of(from_us[0], from_us[1]), later_of(from_us[2], from_us[3]));
    crowd->all_until_us =
        earlier_of(earlier_of(until_us[0], until_us[1]), earlier_of(until_us[2], until_us[3]));
}

/* Returns one bit for each of the four players without a pose at that time. */
static inline unsigned without_pose(const struct hs_crowd *crowd, int64_t time_us)
{
    unsigned bits = 0;
    if (time_us >= crowd->all_from_us && time_us <= crowd->all_until_us)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        if (time_us < crowd->from_us[i] || time_us > crowd->until_us[i])
            bits |= 1u << i;
    return bits;
}

/* Runs the test of hs_extent_is_missed for four players at once. The boxes are enlarged by the
   rounding error of all operations. This error grows with the distance between the middles. */
static unsigned near_four(const struct hs_crowd *crowd, const struct hs_passing *passing)
{
    const float *m = passing->near_middle, *n = passing->near_half;
    struct hs_lanes_vec middle = {glmm_set1(m[0]), glmm_set1(m[1]), glmm_set1(m[2])};
    struct hs_lanes_vec half = {glmm_set1(n[0]), glmm_set1(n[1]), glmm_set1(n[2])};
    struct hs_lanes_vec between = hs_lanes_sub(hs_lanes_read_vec(crowd->middle[0]), middle);
    struct hs_lanes_vec size = hs_lanes_vec_abs(between), h = hs_lanes_vec_abs(half);
    glmm_128 reach =
        glmm_set1(passing->near_reach) + glmm_set1((float)NEAR_SLACK) * (size.x + size.y + size.z);
    struct hs_lanes_vec reaches = {reach, reach, reach};
    struct hs_lanes_vec box = hs_lanes_add(hs_lanes_read_vec(crowd->half[0]), reaches);
    unsigned apart = hs_lanes_at_most(box.x + h.x, size.x) | hs_lanes_at_most(box.y + h.y, size.y) |
                     hs_lanes_at_most(box.z + h.z, size.z);
    if (apart != 15) {
        /* If the segment is along an axis, some cross products are 0 and separate nothing. The
           minimum FLT_MIN makes sure that these products do not count as a separation. */
        glmm_128 least = glmm_set1(FLT_MIN);
        glmm_128 x = hs_lanes_abs(between.y * half.z - between.z * half.y);
        glmm_128 y = hs_lanes_abs(between.z * half.x - between.x * half.z);
        glmm_128 z = hs_lanes_abs(between.x * half.y - between.y * half.x);
        apart |= hs_lanes_at_most(box.y * h.z + box.z * h.y + least, x) |
                 hs_lanes_at_most(box.z * h.x + box.x * h.z + least, y) |
                 hs_lanes_at_most(box.x * h.y + box.y * h.x + least, z);
    }
    return (~apart & 15u) | without_pose(crowd, passing->time_us);
}

uint64_t hs_crowd_near_by_four(const struct hs_crowd *crowd, uint32_t count,
                               const struct hs_passing *passing)
{
    uint64_t near = 0;
    for (uint32_t i = 0; i < count; i++)
        near |= (uint64_t)near_four(&crowd[i], passing) << (4 * i);
    return near;
}

#ifdef CGLM_SIMD_x86

#define WITH_AVX2 __attribute__((target("avx2")))

WITH_AVX2 static inline __m256 join(const float *first, const float *second)
{
    return _mm256_loadu2_m128(second, first);
}

WITH_AVX2 static inline __m256 abs_of(__m256 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

WITH_AVX2 static inline unsigned at_most(__m256 a, __m256 b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}

/* A path, with each number in eight lanes. */
struct eight_paths {
    __m256 middle[3], half[3], h[3], reach;
};

/* Computes the same as near_four for eight players. */
WITH_AVX2 static inline unsigned
near_eight(const struct hs_crowd *first, const struct hs_crowd *second, const struct eight_paths *p)
{
    __m256 x = join(first->middle[0], second->middle[0]) - p->middle[0];
    __m256 y = join(first->middle[1], second->middle[1]) - p->middle[1];
    __m256 z = join(first->middle[2], second->middle[2]) - p->middle[2];
    __m256 size_x = abs_of(x), size_y = abs_of(y), size_z = abs_of(z);
    __m256 reach = p->reach + _mm256_set1_ps((float)NEAR_SLACK) * (size_x + size_y + size_z);
    __m256 box_x = join(first->half[0], second->half[0]) + reach;
    __m256 box_y = join(first->half[1], second->half[1]) + reach;
    __m256 box_z = join(first->half[2], second->half[2]) + reach;
    unsigned apart = at_most(box_x + p->h[0], size_x) | at_most(box_y + p->h[1], size_y) |
                     at_most(box_z + p->h[2], size_z);
    if (apart == 255)
        return 0;
    __m256 least = _mm256_set1_ps(FLT_MIN);
    __m256 cross_x = abs_of(y * p->half[2] - z * p->half[1]);
    __m256 cross_y = abs_of(z * p->half[0] - x * p->half[2]);
    __m256 cross_z = abs_of(x * p->half[1] - y * p->half[0]);
    apart |= at_most(box_y * p->h[2] + box_z * p->h[1] + least, cross_x) |
             at_most(box_z * p->h[0] + box_x * p->h[2] + least, cross_y) |
             at_most(box_x * p->h[1] + box_y * p->h[0] + least, cross_z);
    return ~apart & 255u;
}

WITH_AVX2 static uint64_t near_by_eight(const struct hs_crowd *crowd, uint32_t count,
                                        const struct hs_passing *passing)
{
    struct eight_paths p;
    uint64_t near = 0;
    p.reach = _mm256_set1_ps(passing->near_reach);
    for (int a = 0; a < 3; a++) {
        p.middle[a] = _mm256_set1_ps(passing->near_middle[a]);
        p.half[a] = _mm256_set1_ps(passing->near_half[a]);
        p.h[a] = abs_of(p.half[a]);
    }
    uint32_t i = 0;
    for (; i + 1 < count; i += 2) {
        unsigned bits = near_eight(&crowd[i], &crowd[i + 1], &p);
        bits |= without_pose(&crowd[i], passing->time_us) |
                without_pose(&crowd[i + 1], passing->time_us) << 4;
        near |= (uint64_t)bits << (4 * i);
    }
    if (i < count)
        near |= (uint64_t)near_four(&crowd[i], passing) << (4 * i);
    return near;
}

uint64_t hs_crowd_near(const struct hs_crowd *crowd, uint32_t count,
                       const struct hs_passing *passing)
{
    return __builtin_cpu_supports("avx2") ? near_by_eight(crowd, count, passing)
                                          : hs_crowd_near_by_four(crowd, count, passing);
}

#else

uint64_t hs_crowd_near(const struct hs_crowd *crowd, uint32_t count,
                       const struct hs_passing *passing)
{
    return hs_crowd_near_by_four(crowd, count, passing);
}

#endif
