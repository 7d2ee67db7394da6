/*
 * Bounds of what a sweep meets on a rewound body, before any hitbox is placed. Every hitbox is
 * inside a capsule or a ball that its bone carries. These are placed in float, four at a time, and
 * compared with the sweep. Internal to validators/.
 *
 * Rotations are interpolated linearly here. For quaternions whose product is 1 - x, the result is
 * at most 0.03 x radians from the spherical interpolation, up to x = 0.1; the bounds contain that
 * error. Hitboxes that turn faster get the ball around their bone.
 */
#ifndef HS_BOUNDS_H
#define HS_BOUNDS_H

#include "validators/history/rewind.h"

struct hs_pose_bounds {
    uint64_t near[HS_MAX_HITBOXES / 64]; /* one bit for each hitbox with bounds */
    float gap[HS_MAX_HITBOXES];          /* at most the gap between sweep and hitbox */
    /* At most the travel of the first contact, also of one within the slack, after `travelled`. */
    float contact[HS_MAX_HITBOXES];
    double travelled;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that one of the two samples lacks */
};

/* Returns the first hitbox with bounds from `i` on, or HS_NONE. */
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
 * Finds bounds of the hitboxes of the rig that may count; `contact` only where `gap` is at most
 * `slack`. With `finds_nearest` false, those count whose gap may be at most `slack`. With true,
 * also those that may be the nearest.
 */
void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out);

#endif
