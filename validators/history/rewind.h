/*
 * Rewind: where a player was at a time in the past. Nothing is moved and nothing has to be put
 * back: the answer is computed into the caller's memory, for as many times at once as wanted.
 *
 * Pure; the history must not change during a call.
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
    HS_REWIND_NO_HISTORY,     /* not one sample */
    HS_REWIND_TOO_SHORT,      /* before the oldest sample */
    HS_REWIND_LOW_CONFIDENCE, /* between two samples further apart than history.max_gap */
    HS_REWIND_AFTER_NEWEST,   /* beyond the newest sample by more than rewind.future_slack */
};

/* The two samples around a time, and how far between them it lies. */
struct hs_bracket {
    const struct hs_sample *from; /* at or before the time */
    const struct hs_sample *to;   /* the next one; `from` where nothing is interpolated */
    double alpha;                 /* 0 at `from`, below 1 */
    int64_t time_us;              /* the time the pose is for: the one asked, unless clamped */
    bool clamped;                 /* later than the newest sample, which stands in for it */
    bool held; /* `from` is kept unchanged: a teleport or a new life comes next */
};

/*
 * Finds the bracket of a time. Exactly at a sample: that sample, alpha 0. Never interpolates into
 * a sample the player jumped or spawned into, nor across lives or rigs: `from` is held until
 * then. Within future_slack after the newest sample the newest is taken; never extrapolates.
 * `out` is set only with HS_REWIND_OK. O(log n).
 */
enum hs_rewind_status hs_rewind_find(const struct hs_history *history,
                                     const struct hs_ruleset *ruleset, int64_t time_us,
                                     struct hs_bracket *out);

/* The state in force: that of the older sample. */
const struct hs_state *hs_rewind_state(const struct hs_history *history,
                                       const struct hs_bracket *bracket);

/* Position of the root: lerp. */
struct hs_vec hs_rewind_position(const struct hs_bracket *bracket);

/* Nothing of the body at that time is further than this from hs_rewind_position. */
double hs_rewind_reach(const struct hs_history *history, const struct hs_ruleset *ruleset,
                       const struct hs_bracket *bracket);

/* The eye: as posted in both samples (lerp), else the stance's eye placed on the root. */
struct hs_vec hs_rewind_eye(const struct hs_history *history, const struct hs_ruleset *ruleset,
                            const struct hs_bracket *bracket);

/* A body at a time, its hitboxes not yet placed: what is the same for all of them. */
struct hs_pose {
    const struct hs_bracket *bracket;
    const struct hs_rig *rig;
    struct hs_vec root;
    float rotation[4]; /* of the root */
    const struct hs_stance *stance_from, *stance_to;
    const struct hs_extra *from, *to; /* posted bones, or NULL */
};

/* `bracket` must live as long as the pose. */
void hs_rewind_pose(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_pose *out);

/* A ball that holds hitbox i of the rig. False: its bone has no place in one of the two samples. */
bool hs_pose_ball(const struct hs_pose *pose, uint16_t hitbox, struct hs_vec *center,
                  double *radius);

/* Places one hitbox, as hs_rewind_body does; false as above. */
bool hs_pose_place(const struct hs_pose *pose, uint16_t hitbox, struct hs_solid *out);

/* A rewound body: its hitboxes placed in the world. */
struct hs_body {
    const struct hs_rig *rig;
    uint16_t count;                   /* of solids */
    uint16_t hitbox[HS_MAX_HITBOXES]; /* index in the rig of each */
    struct hs_solid solids[HS_MAX_HITBOXES];
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones without a place in one of the two samples */
};

/*
 * Places every hitbox whose bone is known in both samples. Posted bones: lerp of place and scale,
 * slerp of rotation, bone by bone. Without posted bones the root is interpolated and the older
 * sample's stance placed on it. A scaled sphere or capsule takes the largest scale across its
 * axis for its radius.
 */
void hs_rewind_body(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_body *out);

#endif
