/*
 * Movers: the parts of the world that move (doors, lifts), each a box with a history. Internal to
 * validators/.
 *
 * Memory: a mover's history grows up to its limit of samples and never beyond, and as the account
 * lets it; only posting allocates.
 */
#ifndef HS_MOVERS_H
#define HS_MOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/frame.h"
#include "validators/history/rewind.h"
#include "validators/limits.h"

/* What a mover is besides its place; a sample inherits it from the one before it in time. */
struct hs_mover_state {
    struct hs_vec half_extents; /* of the box, in the mover's frame; length */
    struct hs_vec center;       /* of the box, in the mover's frame */
    bool has_box;
    bool is_solid;    /* an open door is not */
    bool tells_solid; /* `is_solid` was said, and may change; a lift's never is */
    bool is_unsure;   /* it was last said before the match was read back (snapshot.h) */
};

struct hs_mover_sample {
    int64_t time_us;
    struct hs_vec position; /* world, length */
    float rotation[4];
    struct hs_mover_state state;
    bool teleported; /* said so */
    bool jumped;     /* faster than history.max_speed without saying so */
};

struct hs_mover {
    struct hs_name name;
    uint64_t hash;
    struct hs_mover_sample *samples; /* a ring, in order of time from `first` on */
    uint32_t first, count, capacity;
    struct hs_mover_state carried; /* inherited by the first sample */

    /* Of the samples kept, and perhaps of as many that went: nothing of the box was ever outside,
       as long as one sample is kept. */
    struct hs_vec low, high;
    int64_t widest_gap_us;
    uint32_t dropped; /* samples that went since these were found anew */
};

struct hs_movers {
    struct hs_mover *all; /* in order of arrival */
    uint32_t count, capacity;
    struct hs_account *account; /* what they take is taken from it */
};

void hs_movers_destroy(struct hs_movers *movers);

/*
 * Puts a sample in its place. `at` is the place of the entry in its frame: games post the same
 * movers in the same order, so it is where the mover is looked for first. *flags gets a bit per
 * enum hs_frame_flag. False: out of memory; else *result says what became of it.
 */
bool hs_movers_post(struct hs_movers *movers, const struct hs_ruleset *ruleset,
                    const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                    size_t at, int64_t time_us, enum hs_frame_result *result, unsigned *flags);

/* Whether the mover has a sample of exactly this time that counts as a jump: how far and how long
   after the sample before it. */
bool hs_movers_jump(const struct hs_movers *movers, struct hs_str name, size_t at, int64_t time_us,
                    double *distance, int64_t *elapsed_us);

/* Whether hs_movers_restart and then hs_movers_post at any time would store the entry. */
bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at);

/* Forgets samples older than `before_us`, but keeps one of each mover at or before it. */
void hs_movers_prune(struct hs_movers *movers, int64_t before_us);

/* Forgets all samples; what the movers are is kept. For a clock that was set anew. */
void hs_movers_restart(struct hs_movers *movers);

/* What a mover takes of the account when it is added, at least. */
size_t hs_movers_least_bytes(void);

/* What its next sample inherits when it is the newest. */
const struct hs_mover_state *hs_mover_newest_state(const struct hs_mover *mover);

/* A mover that was known before, without samples. False: out of memory. */
bool hs_movers_restore(struct hs_movers *movers, struct hs_str name,
                       const struct hs_mover_state *state);

size_t hs_movers_bytes(const struct hs_movers *movers);

/* The two samples around a time, and how far between them it lies. */
struct hs_mover_bracket {
    const struct hs_mover_sample *from, *to;
    double alpha;
};

/* A mover at a time. */
struct hs_mover_pose {
    struct hs_solid solid;
    bool is_solid;
    double reach; /* nothing of the box is further from its centre */
};

/*
 * The samples around a time. The rules of hs_rewind_find hold: nothing is interpolated into a jump
 * or over a gap, nothing extrapolated. `out` is set only with HS_REWIND_OK. O(log n).
 */
enum hs_rewind_status hs_mover_find(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                                    int64_t time_us, struct hs_mover_bracket *out);

/* A ball that holds the box at that time, without turning anything. */
void hs_mover_ball(const struct hs_mover_bracket *bracket, struct hs_vec *center, double *reach);

/* Where a mover was: lerp of the place, slerp of the rotation between the samples; box and solidity
   of the older one. */
void hs_mover_place(const struct hs_mover_bracket *bracket, struct hs_mover_pose *out);

/* As it is now: its newest sample. False: there is none. */
bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out);

/* Certainly has a place at all times from one to a later one. False: perhaps. O(1). */
bool hs_mover_is_placed(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                        int64_t from_us, int64_t to_us);

/* The next time after one at which a mover may jump, turn another way, or be lost from sight: its
   next sample, or where the newest is too old to stand in for it; INT64_MAX where neither comes. */
int64_t hs_mover_next_change(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                             int64_t time_us);

/*
 * The same two samples at a later time, no later than the next sample: where a mover that moves
 * from `now` on will be, as it still is. False where it stays: nothing is interpolated then.
 */
bool hs_mover_later(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                    const struct hs_mover_bracket *now, int64_t time_us,
                    struct hs_mover_bracket *out);

#endif
