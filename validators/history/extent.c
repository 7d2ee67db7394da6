#include "validators/history/extent.h"

#include "validators/base/glm.h"
#include "validators/base/units.h"

/* Larger than the errors of the rotation and interpolation of bones in float, relative to the
   distance from the root. */
#define FLOAT_SLACK 8e-6f

double hs_extent_measure(const struct hs_rig *rig, struct hs_posted_pose *pose)
{
    double furthest = 0;
    glmm_128 low = glmm_set1(FLT_MAX), high = glmm_set1(-FLT_MAX);
    size_t stride = pose->stride;
    unsigned count = rig->hitbox_count;
    for (unsigned i = 0; i < count; i++) {
        uint16_t bone = rig->hitboxes[i].bone;
        if (!hs_posted_pose_has_bone(pose, bone))
            continue;
        const float *v = pose->bones + bone * stride;
        double beyond = rig->hitbox_reach[i];
        if (stride == HS_BONE_FLOATS_SCALED)
            beyond *= hs_largest_scale(v + HS_BONE_FLOATS);
        furthest = hs_larger(furthest, hs_vec_length(hs_vec_from_floats(v)) + beyond);
        /* The rounding errors here are smaller than the slack. The fourth lane is ignored. */
        glmm_128 offset = hs_lanes_read(v), around = glmm_set1((float)beyond);
        low = hs_lanes_min(low, offset - around);
        high = hs_lanes_max(high, offset + around);
    }
    pose->extent = (struct hs_extent){0};
    if (furthest == 0)
        return 0;
    glmm_128 slack = glmm_set1(FLOAT_SLACK) * hs_lanes_max(hs_lanes_abs(low), hs_lanes_abs(high)) +
                     glmm_set1(FLT_MIN);
    hs_lanes_write(pose->extent.low, low - slack);
    hs_lanes_write(pose->extent.high, high + slack);
    pose->extent.low[3] = pose->extent.high[3] = 0;
    return furthest;
}

double hs_extent_reach(const struct hs_extent *extent)
{
    const float *low = extent->low, *high = extent->high;
    double x = hs_larger((double)-low[0], (double)high[0]);
    double y = hs_larger((double)-low[1], (double)high[1]);
    double z = hs_larger((double)-low[2], (double)high[2]);
    return hs_vec_length((struct hs_vec){x, y, z});
}

static inline glmm_128 rounded(struct hs_vec v)
{
    return (glmm_128){(float)v.x, (float)v.y, (float)v.z, 0};
}

/* Return the vector with its coordinates in another order. */
#define YZX(v) __builtin_shufflevector(v, v, 1, 2, 0, 3)
#define ZXY(v) __builtin_shufflevector(v, v, 2, 0, 1, 3)

/*
 * Separating axis test of a segment and a box, both given by their middle and half extent. The axes
 * are those of the box, and their cross products with the segment (Ericson, Real-Time Collision
 * Detection, 2005, 5.3.3). One lane for each axis. The box is made larger by the rounding errors.
 */
bool hs_extent_is_missed(const struct hs_extent *extent, struct hs_vec middle, struct hs_vec half,
                         double radius)
{
    const double slack = 2e-6;
    double sum = fabs(middle.x) + fabs(middle.y) + fabs(middle.z) + fabs(half.x) + fabs(half.y) +
                 fabs(half.z);
    glmm_128 low = hs_lanes_read(extent->low), high = hs_lanes_read(extent->high);
    glmm_128 between = rounded(middle) - (low + high) * glmm_set1(0.5f);
    glmm_128 box = (high - low) * glmm_set1(0.5f * (1 + 8e-6f)) +
                   glmm_set1(hs_float_above(radius + slack * sum));
    glmm_128 along = rounded(half), h = hs_lanes_abs(along);
    unsigned apart = hs_lanes_at_most(box + h, hs_lanes_abs(between));
    /* If the segment is along an axis, some cross products are 0 and separate nothing. The minimum
       FLT_MIN makes sure that these products do not count as a separation. */
    glmm_128 cross = hs_lanes_abs(YZX(between) * ZXY(along) - ZXY(between) * YZX(along));
    glmm_128 limit = YZX(box) * ZXY(h) + ZXY(box) * YZX(h) + glmm_set1(FLT_MIN);
    apart |= hs_lanes_at_most(limit, cross);
    return (apart & 7) != 0;
}
