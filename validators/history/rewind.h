/*
 * Rewind: the pose of a player at a time in the past, computed into the caller's memory. Pure; the
 * history must not change during a call.
 */
#ifndef HS_REWIND_H
#define HS_REWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/history/ring.h"
#include "validators/ruleset.h"
#include "validators/sweep.h"

enum hs_rewind_status {
    HS_REWIND_OK,
    HS_REWIND_NO_HISTORY,     /* no sample */
    HS_REWIND_TOO_SHORT,      /* before the oldest sample */
    HS_REWIND_LOW_CONFIDENCE, /* between two samples further apart than history.max_gap */
    HS_REWIND_AFTER_NEWEST,   /* beyond the newest sample by more than rewind.future_slack */
};

/* The two samples around a time. */
struct hs_bracket {
    const struct hs_sample *from; /* at or before the time */
    const struct hs_sample *to;   /* the next one; `from` if nothing is interpolated */
    double alpha;                 /* position of the time between them; 0 at `from`, below 1 */
    int64_t time_us;              /* time of the pose: the given time, unless clamped */
    bool clamped;                 /* the time is later than the newest sample, which is used */
    bool held;                    /* `from` is used: a jump, a new life or a new rig follows */
};

/*
 * Finds the bracket of a time. At exactly the time of a sample it is that sample. Within
 * future_slack after the newest sample, the newest is used. Nothing is extrapolated. `out` is set
 * only with HS_REWIND_OK. O(log n).
 */
enum hs_rewind_status hs_rewind_find(const struct hs_history *history,
                                     const struct hs_ruleset *ruleset, int64_t time_us,
                                     struct hs_bracket *out);

/* Returns the state at that time, which is that of the older sample. */
const struct hs_state *hs_rewind_state(const struct hs_history *history,
                                       const struct hs_bracket *bracket);

/* Returns the position of the root, interpolated linearly. */
struct hs_vec hs_rewind_position(const struct hs_bracket *bracket);

/* Returns the distance from the root to the furthest hitbox point at that time, or more. */
double hs_rewind_reach(const struct hs_history *history, const struct hs_ruleset *ruleset,
                       const struct hs_bracket *bracket);

/* Returns the position of the eye. It is interpolated if a sample has a posted eye. Otherwise it is
   that of the stance. */
struct hs_vec hs_rewind_eye(const struct hs_history *history, const struct hs_ruleset *ruleset,
                            const struct hs_bracket *bracket);

/* Tells the processor that the body will be placed soon. */
void hs_rewind_prefetch(const struct hs_history *history, const struct hs_bracket *bracket);

/* A body at a time, before its hitboxes are placed. */
struct hs_pose {
    const struct hs_bracket *bracket;
    const struct hs_rig *rig;
    struct hs_vec root;
    float rotation[4]; /* of the root; only if no posted bones count */
    const struct hs_stance *stance_from, *stance_to;
    const struct hs_posted_pose *from, *to; /* posted bones, or NULL */
};

/* Prepares the pose of a body at the time of `bracket`, which must live as long as the pose. */
void hs_rewind_pose(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_pose *out);

/* A bone at a time. The offset is from the rewound root, along the world's axes. */
struct hs_bone_pose {
    float offset[3];
    float rotation[4];
    float scale[3];
};

/* Returns whether a pose is between two samples. Otherwise it is that of the older one. */
static inline bool hs_pose_interpolates(const struct hs_pose *pose)
{
    return pose->bracket->alpha > 0;
}

/* Returns the distance from the root to the furthest hitbox point in both samples, or more. */
double hs_pose_reach(const struct hs_pose *pose);

/* Computes the pose of a bone. False: one of the two samples lacks it. */
bool hs_pose_bone(const struct hs_pose *pose, uint16_t bone, struct hs_bone_pose *out);

/* Places one hitbox like hs_rewind_body. False: one of the two samples lacks its bone. */
bool hs_pose_place(const struct hs_pose *pose, uint16_t hitbox, struct hs_solid *out);

/* A rewound body: its hitboxes placed in the world. */
struct hs_body {
    const struct hs_rig *rig;
    uint16_t count;                   /* of solids */
    uint16_t hitbox[HS_MAX_HITBOXES]; /* index in the rig of each */
    struct hs_solid solids[HS_MAX_HITBOXES];
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that one of the two samples lacks */
};

/*
 * Places every hitbox whose bone is known in both samples. Position and scale of posted bones are
 * interpolated linearly, rotations spherically. Without posted bones, the stance of the older
 * sample is placed on the interpolated root. The radius of a sphere is scaled by the largest scale,
 * that of a capsule by the largest scale across its axis.
 */
void hs_rewind_body(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_body *out);

#endif
