/*
 * Axis-aligned boxes around bodies. The boxes exclude most bystanders before any bone is read. A
 * ball around a standing body would be about ten times as large as its box. Internal to
 * validators/.
 */
#ifndef HS_BODY_BOX_H
#define HS_BODY_BOX_H

#include "validators/history/rewind.h"

/* Computes `low` and `high` of a posted pose from its bones. Returns an upper bound of the distance
   from the root to the furthest hitbox point; 0 if no posted bone has a hitbox. Call hs_rig_finish
   for the rig before this function. */
double hs_posted_pose_bound(struct hs_posted_pose *pose, const struct hs_rig *rig);

/* Returns whether every bone of the rig was posted, without scales. */
static inline bool hs_posted_pose_is_plain(const struct hs_posted_pose *pose,
                                           const struct hs_rig *rig)
{
    bool is_whole = pose->bone_count == rig->bone_count && pose->stride == HS_BONE_FLOATS;
    for (unsigned i = 0; i < rig->bone_count && is_whole; i += 64) {
        unsigned count = rig->bone_count - i;
        uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
        is_whole = (pose->present[i / 64] & all) == all;
    }
    return is_whole;
}

/*
 * Computes a box that contains all hitboxes at the bracket's time. `middle` is the middle of the
 * box in world coordinates, and `half` is half its size on each axis. The box has a margin, which
 * covers rounding errors and the part of the touch slack that depends on the body.
 */
void hs_rewind_box(const struct hs_history *history, const struct hs_ruleset *ruleset,
                   const struct hs_bracket *bracket, struct hs_vec *middle, struct hs_vec *half);

#endif
