/*
 * Bounds of the gaps between a sweep and the hitboxes of a rewound body. The bounds are computed
 * before any hitbox is placed exactly. Every hitbox is inside a capsule or a ball that moves with
 * its bone. Capsules and balls are placed in float, four at a time, and compared with the sweep.
 * Internal to validators/.
 *
 * Here rotations are interpolated linearly, which differs from the spherical interpolation. If the
 * dot product of the two quaternions is 1 - x, the difference is at most 0.03 x radians, up to x =
 * 0.1. The bounds include this error. If a bone turns further (x > 0.1), its hitboxes use the ball
 * around the bone.
 */
#ifndef HS_BOUNDS_H
#define HS_BOUNDS_H

#include "validators/history/rewind.h"

struct hs_pose_bounds {
    uint64_t near[HS_MAX_HITBOXES / 64]; /* one bit for each hitbox with bounds */
    float gap[HS_MAX_HITBOXES];          /* lower bound of the gap between sweep and hitbox */
    /* Lower bound of the travel from `travelled` to the first contact, with the touch slack. */
    float contact[HS_MAX_HITBOXES];
    double travelled;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that are missing in one of the two samples */
};

/* Returns the first hitbox with bounds whose index is at least `i`, or HS_NONE. */
static inline uint16_t hs_bounds_next(const struct hs_pose_bounds *bounds, unsigned i)
{
    for (; i < HS_MAX_HITBOXES; i = (i / 64 + 1) * 64) {
        uint64_t left = bounds->near[i / 64] >> (i % 64);
        if (left != 0)
            return (uint16_t)(i + (unsigned)__builtin_ctzll(left));
    }
    return HS_NONE;
}

/*
 * Finds bounds of the hitboxes that may matter. A hitbox matters if its gap may be at most `slack`.
 * With `finds_nearest`, a hitbox that may be the nearest one matters too. `contact` is only valid
 * if `gap` is at most `slack`.
 */
void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out);

/* Does the same with the given number of lanes, for tests. Eight lanes need
   hs_lanes_can_be_eight. Both numbers of lanes give the same bounds. */
void hs_pose_find_bounds_by(bool eight_lanes, const struct hs_pose *pose,
                            const struct hs_sweep *sweep, double slack, bool finds_nearest,
                            struct hs_pose_bounds *out);

#endif
