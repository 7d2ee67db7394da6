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

#include <float.h>

#include "validators/history/rewind.h"

/* The value of `gap` for a hitbox that is too far away, or without a place. */
#define HS_BOUNDS_FAR FLT_MAX

struct hs_pose_bounds {
    float gap[HS_MAX_HITBOXES];     /* at most the gap between sweep and hitbox */
    float contact[HS_MAX_HITBOXES]; /* travel of the first contact, or less, after `travelled` */
    double travelled;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that one of the two samples lacks */
};

/*
 * Finds the bounds of each hitbox of the rig; `contact` only where `gap` is at most `slack`. With
 * `finds_nearest` false, hitboxes with a gap above `slack` may get HS_BOUNDS_FAR. With true, only
 * those that another hitbox is surely nearer than.
 */
void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out);

#endif
