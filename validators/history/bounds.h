/*
 * Lower bounds of the gaps between a sweep and the hitboxes of a rewound body. The bounds are cheap
 * to compute, and show that most hitboxes need not be placed exactly. Each hitbox is inside a
 * capsule or a ball that moves with its bone. Capsules and balls are placed in float, several at a
 * time, and compared with the sweep. Internal to validators/.
 *
 * Rotations are interpolated linearly here, but spherically for the exact placement. Let the dot
 * product of the two quaternions be 1 - x. Up to x = 0.1, the two interpolations differ by at most
 * 0.03 x radians, and the bounds include this error. If x is larger, the ball around the bone is
 * used as the bound of its hitboxes.
 */
#ifndef HS_BOUNDS_H
#define HS_BOUNDS_H

#include "validators/history/rewind.h"

struct hs_pose_bounds {
    uint64_t near[HS_MAX_HITBOXES / 64]; /* one bit for each hitbox that may matter; only these
                                            hitboxes have bounds */
    float gap[HS_MAX_HITBOXES];          /* lower bound of the gap between sweep and hitbox */
    /* Lower bound of the travel to the first contact (with the touch slack), measured from the
       sweep's point that is nearest to the root. `travelled` is the distance from the sweep's start
       to that point. */
    float contact[HS_MAX_HITBOXES];
    double travelled;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that are missing in one of the two samples */
};

/* Returns the index of the first hitbox that has bounds, from index `i` on; HS_NONE: there is no
   such hitbox. */
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
 * Computes bounds for the hitboxes that may matter. A hitbox may matter if its gap may be at most
 * `slack`. If `finds_nearest` is true, a hitbox that may be the nearest may matter too. `contact`
 * is valid only where `gap` is at most `slack`.
 */
void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out);

/* Does the same as hs_pose_find_bounds, with four or eight SIMD lanes. Only for tests: the bounds
   must be identical with four and with eight lanes. Eight lanes require hs_lanes_can_be_eight. */
void hs_pose_find_bounds_by(bool eight_lanes, const struct hs_pose *pose,
                            const struct hs_sweep *sweep, double slack, bool finds_nearest,
                            struct hs_pose_bounds *out);

#endif
