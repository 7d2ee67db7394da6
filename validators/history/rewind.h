/*
 * Rewind: computes the pose of a player at a time in the past. The functions write only to the
 * caller's memory. The history must not change during a call.
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
    HS_REWIND_NO_HISTORY,     /* the history is empty */
    HS_REWIND_TOO_SHORT,      /* the time is before the oldest sample */
    HS_REWIND_LOW_CONFIDENCE, /* the time is between two samples that are further apart than
                                 history.max_gap */
    HS_REWIND_AFTER_NEWEST,   /* the time is after the newest sample by more than
                                 rewind.future_slack */
};

/* The two samples around a time. */
struct hs_bracket {
    const struct hs_sample *from; /* at or before the time */
    const struct hs_sample *to;   /* the next sample; equal to `from` if clamped, or if `from` has
                                     exactly the given time */
    double alpha;                 /* weight of `to` in the interpolation, in [0, 1); 0 at the time
                                     of `from` */
    int64_t time_us;              /* time of the pose: the given time or, if clamped, the time of
                                     the newest sample */
    bool clamped;                 /* the time is after the newest sample, so the newest sample is
                                     used */
    bool held;                    /* only `from` is used, because `to` is a jump, a new life or a
                                     new rig */
};

/*
 * Finds the samples around a time. If a sample has exactly this time, only that sample is used. Up
 * to future_slack after the newest sample, the newest sample is used: nothing is extrapolated.
 * `out` is valid only if the result is HS_REWIND_OK. O(log n).
 */
enum hs_rewind_status hs_rewind_find(const struct hs_history *history,
                                     const struct hs_ruleset *ruleset, int64_t time_us,
                                     struct hs_bracket *out);

/* Returns the player's state at the bracket's time: the state of the older sample. */
const struct hs_state *hs_rewind_state(const struct hs_history *history,
                                       const struct hs_bracket *bracket);

/* Returns the position of the root, interpolated linearly. */
struct hs_vec hs_rewind_position(const struct hs_bracket *bracket);

/* Computes the rotation of the root, interpolated spherically. */
void hs_rewind_rotation(const struct hs_bracket *bracket, float out[4]);

/* Returns an upper bound of the distance from the root to the hitboxes at the bracket's time. */
double hs_rewind_reach(const struct hs_history *history, const struct hs_ruleset *ruleset,
                       const struct hs_bracket *bracket);

/* Returns the stance of a sample. */
const struct hs_stance *hs_rewind_stance(const struct hs_history *history,
                                         const struct hs_ruleset *ruleset,
                                         const struct hs_sample *sample);

/* Returns the position of the eye. Between two samples, the eye is interpolated if at least one of
   them has a posted eye. Otherwise the eye of the older sample is used: the posted eye, or the eye
   of the stance. */
struct hs_vec hs_rewind_eye(const struct hs_history *history, const struct hs_ruleset *ruleset,
                            const struct hs_bracket *bracket);

/* Starts to load the poses of the bracket into the processor's cache. */
void hs_rewind_prefetch(const struct hs_history *history, const struct hs_bracket *bracket);

/* A body at one time, before its hitboxes are placed. */
struct hs_pose {
    const struct hs_bracket *bracket;
    const struct hs_rig *rig;
    struct hs_vec root;
    float rotation[4];     /* rotation of the root; set only if no posted bones are used */
    struct hs_vec axes[3]; /* hs_quat_axes of `rotation`; set together with `rotation` */
    const struct hs_stance *stance_from, *stance_to;
    const struct hs_posted_pose *from, *to; /* posted bones of the two samples; NULL: the sample has
                                               no posted bones */
};

/* Prepares the pose of a body at the time of `bracket`. The bracket must live as long as the
   pose. */
void hs_rewind_pose(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_pose *out);

/* A bone at one time. The offset is from the rewound root, along the world's axes. */
struct hs_bone_pose {
    float offset[3];
    float rotation[4];
    float scale[3];
};

/* Returns whether a pose is interpolated between two samples. If not, the older sample is used. */
static inline bool hs_pose_interpolates(const struct hs_pose *pose)
{
    return pose->bracket->alpha > 0;
}

/* Returns an upper bound of the distance from the root to the hitboxes in both samples. */
double hs_pose_reach(const struct hs_pose *pose);

/* Computes the pose of a bone. Returns false if the bone is missing in one of the two samples. */
bool hs_pose_bone(const struct hs_pose *pose, uint16_t bone, struct hs_bone_pose *out);

/* Places one hitbox in the world, as hs_rewind_body does. Returns false if the hitbox's bone is
   missing in one of the two samples. */
bool hs_pose_place(const struct hs_pose *pose, uint16_t hitbox, struct hs_solid *out);

/* A rewound body: its hitboxes placed in the world. */
struct hs_body {
    const struct hs_rig *rig;
    uint16_t count;                   /* number of `solids` */
    uint16_t hitbox[HS_MAX_HITBOXES]; /* the index in the rig, for each solid */
    struct hs_solid solids[HS_MAX_HITBOXES];
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones that are missing in one of the two samples */
};

/*
 * Places every hitbox whose bone is known in both samples. Position and scale of posted bones are
 * interpolated linearly, and their rotation spherically. Without posted bones, the stance of the
 * older sample is placed on the interpolated root. A sphere's radius is multiplied by the largest
 * scale of its bone. A capsule's radius is multiplied by the largest scale across the capsule's
 * axis.
 */
void hs_rewind_body(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_body *out);

#endif
