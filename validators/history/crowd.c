#include "validators/history/crowd.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"

/* Upper bound of the rounding errors of hs_crowd_near, relative to the coordinates. */
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
    double reach = span->posted_reach > ruleset->reach ? span->posted_reach : ruleset->reach;
    return reach * (1 + 4 * HS_TOUCH_SLACK);
}

/* Computes bounds of the body over the whole history. Along each axis, the tighter of two bounds is
   used: the bounds of the posted hitboxes, or the reach around the root. */
static void bound_body(const struct hs_history_span *span, const struct hs_ruleset *ruleset,
                       struct hs_vec *low, struct hs_vec *high)
{
    double reach = hs_crowd_reach(span, ruleset), slack = 4 * HS_TOUCH_SLACK * reach;
    *low = hs_vec_from_floats(span->body_low);
    *high = hs_vec_from_floats(span->body_high);
    low->x = span->low.x + hs_larger(low->x - slack, -reach);
    low->y = span->low.y + hs_larger(low->y - slack, -reach);
    low->z = span->low.z + hs_larger(low->z - slack, -reach);
    high->x = span->high.x + hs_smaller(high->x + slack, reach);
    high->y = span->high.y + hs_smaller(high->y + slack, reach);
    high->z = span->high.z + hs_smaller(high->z + slack, reach);
}

/*
 * Separating axis test of a segment and a box. `between` is the vector between the middles of
 * segment and box. `half` is half of the segment, and `box` contains the half extents of the box.
 * Tests the axes of the box, and the cross products of these axes with the segment (Ericson,
 * Real-Time Collision Detection, 2005, 5.3.3).
 */
static bool are_apart(struct hs_vec between, struct hs_vec half, struct hs_vec box)
{
    struct hs_vec h = {fabs(half.x), fabs(half.y), fabs(half.z)};
    struct hs_vec cross = hs_vec_cross(between, half);
    /* All six tests run without branches: a mispredicted branch costs more than the tests that it
       saves. */
    return (fabs(between.x) > box.x + h.x) | (fabs(between.y) > box.y + h.y) |
           (fabs(between.z) > box.z + h.z) | (fabs(cross.x) > box.y * h.z + box.z * h.y) |
           (fabs(cross.y) > box.x * h.z + box.z * h.x) |
           (fabs(cross.z) > box.x * h.y + box.y * h.x);
}

bool hs_passing_misses(const struct hs_passing *passing, struct hs_vec middle, struct hs_vec half)
{
    double reach = passing->reach;
    return are_apart(hs_vec_sub(passing->middle, middle), passing->half,
                     (struct hs_vec){half.x + reach, half.y + reach, half.z + reach});
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
        struct hs_vec low, high;
        bound_body(span, ruleset, &low, &high);
        put_axis(crowd, 0, i, low.x, high.x);
        put_axis(crowd, 1, i, low.y, high.y);
        put_axis(crowd, 2, i, low.z, high.z);
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

/* Returns one bit for each of the four players: set if the player has no pose at `time_us`. */
static unsigned without_pose(const struct hs_crowd *crowd, int64_t time_us)
{
    unsigned bits = 0;
    if (time_us >= crowd->all_from_us && time_us <= crowd->all_until_us)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        if (time_us < crowd->from_us[i] || time_us > crowd->until_us[i])
            bits |= 1u << i;
    return bits;
}

/* A struct hs_passing, with each number in all lanes. */
struct passing_lanes {
    struct hs_lanes_vec middle, half, size; /* `size`: absolute values of `half` */
    glmm_128 reach;
};

static inline struct hs_lanes_vec set1_floats(const float v[3])
{
    return (struct hs_lanes_vec){glmm_set1(v[0]), glmm_set1(v[1]), glmm_set1(v[2])};
}

/* Runs the test of are_apart for four players. The boxes are enlarged by all rounding errors, which
   grow with the distance between the middles. */
static inline unsigned find_apart(const struct hs_crowd *crowd, const struct passing_lanes *p)
{
    struct hs_lanes_vec between = hs_lanes_sub(hs_lanes_read_vec(crowd->middle[0]), p->middle);
    struct hs_lanes_vec away = hs_lanes_vec_abs(between), half = p->half, h = p->size;
    glmm_128 reach = p->reach + glmm_set1((float)NEAR_SLACK) * (away.x + away.y + away.z);
    struct hs_lanes_vec reaches = {reach, reach, reach};
    struct hs_lanes_vec box = hs_lanes_add(hs_lanes_read_vec(crowd->half[0]), reaches);
    unsigned apart = hs_lanes_at_most(box.x + h.x, away.x) | hs_lanes_at_most(box.y + h.y, away.y) |
                     hs_lanes_at_most(box.z + h.z, away.z);
    if (apart == 15)
        return apart;
    /* If the segment is parallel to an axis, some cross products are 0. Because of FLT_MIN, 0 does
       not count as a separation. */
    glmm_128 least = glmm_set1(FLT_MIN);
    glmm_128 x = hs_lanes_abs(between.y * half.z - between.z * half.y);
    glmm_128 y = hs_lanes_abs(between.z * half.x - between.x * half.z);
    glmm_128 z = hs_lanes_abs(between.x * half.y - between.y * half.x);
    return apart | hs_lanes_at_most(box.y * h.z + box.z * h.y + least, x) |
           hs_lanes_at_most(box.z * h.x + box.x * h.z + least, y) |
           hs_lanes_at_most(box.x * h.y + box.y * h.x + least, z);
}

static uint64_t find_near_by_four(const struct hs_crowd *crowd, uint32_t count,
                                  const struct hs_passing *passing)
{
    struct passing_lanes p = {set1_floats(passing->near_middle), set1_floats(passing->near_half),
                              .reach = glmm_set1(passing->near_reach)};
    uint64_t near = 0;
    p.size = hs_lanes_vec_abs(p.half);
    for (uint32_t i = 0; i < count; i += 4, crowd++) {
        unsigned bits = ~find_apart(crowd, &p) & 15u;
        near |= (uint64_t)(bits | without_pose(crowd, passing->time_us)) << i;
    }
    return near;
}

#ifdef CGLM_SIMD_x86

#define WITH_AVX2 __attribute__((target("avx2"))) static inline

WITH_AVX2 __m256 join(const float *first, const float *other)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(first)), _mm_loadu_ps(other),
                                1);
}

WITH_AVX2 __m256 abs_eight(__m256 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

WITH_AVX2 __m256 at_least(__m256 a, __m256 b)
{
    return _mm256_cmp_ps(b, a, _CMP_LE_OQ);
}

/* Like find_apart, for the eight players in two elements of `crowd`. All six tests run, because a
   mispredicted branch costs more than three tests. */
WITH_AVX2 unsigned find_apart_eight(const struct hs_crowd *crowd, const struct hs_passing *passing)
{
    const struct hs_crowd *other = crowd + 1;
    const float *m = passing->near_middle, *n = passing->near_half;
    __m256 x = join(crowd->middle[0], other->middle[0]) - _mm256_set1_ps(m[0]);
    __m256 y = join(crowd->middle[1], other->middle[1]) - _mm256_set1_ps(m[1]);
    __m256 z = join(crowd->middle[2], other->middle[2]) - _mm256_set1_ps(m[2]);
    __m256 away_x = abs_eight(x), away_y = abs_eight(y), away_z = abs_eight(z);
    __m256 reach = _mm256_set1_ps(passing->near_reach) +
                   _mm256_set1_ps((float)NEAR_SLACK) * (away_x + away_y + away_z);
    __m256 box_x = join(crowd->half[0], other->half[0]) + reach;
    __m256 box_y = join(crowd->half[1], other->half[1]) + reach;
    __m256 box_z = join(crowd->half[2], other->half[2]) + reach;
    __m256 half_x = _mm256_set1_ps(n[0]), half_y = _mm256_set1_ps(n[1]);
    __m256 half_z = _mm256_set1_ps(n[2]), least = _mm256_set1_ps(FLT_MIN);
    __m256 hx = abs_eight(half_x), hy = abs_eight(half_y), hz = abs_eight(half_z);
    __m256 apart = at_least(away_x, box_x + hx);
    apart = _mm256_or_ps(apart, at_least(away_y, box_y + hy));
    apart = _mm256_or_ps(apart, at_least(away_z, box_z + hz));
    apart = _mm256_or_ps(
        apart, at_least(abs_eight(y * half_z - z * half_y), box_y * hz + box_z * hy + least));
    apart = _mm256_or_ps(
        apart, at_least(abs_eight(z * half_x - x * half_z), box_z * hx + box_x * hz + least));
    apart = _mm256_or_ps(
        apart, at_least(abs_eight(x * half_y - y * half_x), box_x * hy + box_y * hx + least));
    return (unsigned)_mm256_movemask_ps(apart);
}

__attribute__((target("avx2"))) static uint64_t
find_near_by_eight(const struct hs_crowd *crowd, uint32_t count, const struct hs_passing *passing)
{
    uint64_t near = 0;
    uint32_t i = 0;
    for (; i + 4 < count; i += 8, crowd += 2) {
        unsigned bits = ~find_apart_eight(crowd, passing) & 255u;
        bits |= without_pose(crowd, passing->time_us);
        bits |= without_pose(crowd + 1, passing->time_us) << 4;
        near |= (uint64_t)bits << i;
    }
    return i < count ? near | find_near_by_four(crowd, count - i, passing) << i : near;
}

#else

#define find_near_by_eight find_near_by_four

#endif

uint64_t hs_crowd_near_by(bool eight_lanes, const struct hs_crowd *crowd, uint32_t count,
                          const struct hs_passing *passing)
{
    uint64_t near = eight_lanes ? find_near_by_eight(crowd, count, passing)
                                : find_near_by_four(crowd, count, passing);
    return count < 64 ? near & ((UINT64_C(1) << count) - 1) : near;
}

uint64_t hs_crowd_near(const struct hs_crowd *crowd, uint32_t count,
                       const struct hs_passing *passing)
{
    return hs_crowd_near_by(hs_lanes_can_be_eight(), crowd, count, passing);
}
