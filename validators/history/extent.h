/* Boxes that contain all hitboxes of a player. Internal to validators/. */
#ifndef HS_EXTENT_H
#define HS_EXTENT_H

#include "validators/base/lanes.h"
#include "validators/history/ring.h"
#include "validators/rig.h"

/*
 * Sets the extent of a posted pose. Returns the distance from the root to the furthest hitbox
 * point; 0: no posted bone has a hitbox, and the extent is all 0.
 *
 * The extent is larger than the hitboxes by more than the rounding errors of a rewound pose. Bones
 * are interpolated linearly and may turn. So between two samples, the hitboxes stay inside the
 * smallest box around the extents of both samples.
 */
double hs_extent_measure(const struct hs_rig *rig, struct hs_posted_pose *pose);

/* Enlarges an extent so that it also contains another one. */
static inline void hs_extent_join(struct hs_extent *to, const struct hs_extent *more)
{
    hs_lanes_write(to->low, hs_lanes_min(hs_lanes_read(to->low), hs_lanes_read(more->low)));
    hs_lanes_write(to->high, hs_lanes_max(hs_lanes_read(to->high), hs_lanes_read(more->high)));
}

/* Returns the extent of a ball around the root. */
static inline struct hs_extent hs_extent_of_ball(double reach)
{
    float high = hs_float_above(reach * (1 + 8e-6));
    return (struct hs_extent){{-high, -high, -high, 0}, {high, high, high, 0}};
}

/* Returns an upper bound of the distance from the root to the points of an extent. */
double hs_extent_reach(const struct hs_extent *extent);

/* Returns whether a sphere surely misses an extent. `middle` is the middle of its path, relative to
   the root. `half` is half of its path. */
bool hs_extent_is_missed(const struct hs_extent *extent, struct hs_vec middle, struct hs_vec half,
                         double radius);

#endif
