/*
 * Movers: the parts of the world that move (doors, lifts), each a body of one box, with a history
 * as a player's. Internal to validators/.
 */
#ifndef HS_MOVERS_H
#define HS_MOVERS_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/frame.h"
#include "validators/history/rewind.h"
#include "validators/limits.h"

struct hs_mover {
    struct hs_name name;
    uint64_t hash;
    struct hs_history *history;    /* owned */
    struct hs_mover_state carried; /* inherited by the first sample */
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

/* The mover of that name; NULL: none. */
struct hs_mover *hs_movers_find(const struct hs_movers *movers, struct hs_str name, size_t at);

/* Whether hs_movers_restart and then hs_movers_post at any time would store the entry. */
bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at);

/* Forgets samples older than `before_us`, but keeps one of each mover at or before it. */
void hs_movers_prune(struct hs_movers *movers, int64_t before_us);

/* Forgets all samples; what the movers are is kept. For a clock that was set anew. */
void hs_movers_restart(struct hs_movers *movers);

/* What its next sample inherits when it is the newest. */
const struct hs_mover_state *hs_mover_newest_state(const struct hs_mover *mover);

/* A mover that was known before, without samples. False: out of memory. */
bool hs_movers_restore(struct hs_movers *movers, const struct hs_match_limits *limits,
                       struct hs_str name, const struct hs_mover_state *state);

size_t hs_movers_bytes(const struct hs_movers *movers);

/* What is around all samples kept: nothing of the box was ever outside. Without a sample it is all
   of space. */
static inline void hs_mover_surroundings(const struct hs_mover *mover, struct hs_vec *low,
                                         struct hs_vec *high)
{
    const struct hs_history_span *span = hs_history_span(mover->history);
    *low = (struct hs_vec){-DBL_MAX, -DBL_MAX, -DBL_MAX};
    *high = (struct hs_vec){DBL_MAX, DBL_MAX, DBL_MAX};
    if (span == NULL)
        return;
    double reach = span->posted_reach * (1 + HS_TOUCH_SLACK);
    *low = (struct hs_vec){span->low.x - reach, span->low.y - reach, span->low.z - reach};
    *high = (struct hs_vec){span->high.x + reach, span->high.y + reach, span->high.z + reach};
}

/* A mover at a time. */
struct hs_mover_pose {
    struct hs_solid solid;
    bool is_solid;
    double reach; /* nothing of the box is further from its centre */
};

/* Box and solidity in force: those of the older sample. */
const struct hs_mover_state *hs_mover_state_at(const struct hs_mover *mover,
                                               const struct hs_bracket *bracket);

/* A ball that holds the box at that time, without turning anything. */
void hs_mover_ball(const struct hs_mover *mover, const struct hs_bracket *bracket,
                   struct hs_vec *center, double *reach);

/* Where a mover was: lerp of the place, slerp of the rotation between the samples around the time;
   box and solidity of the older one. The bracket is hs_rewind_find's. */
void hs_mover_place(const struct hs_mover *mover, const struct hs_bracket *bracket,
                    struct hs_mover_pose *out);

/* As it is now: its newest sample. False: there is none. */
bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out);

/* Certainly has a place at all times from one to a later one. False: perhaps. O(1). */
static inline bool hs_mover_is_placed(const struct hs_mover *mover,
                                      const struct hs_ruleset *ruleset, int64_t from_us,
                                      int64_t to_us)
{
    const struct hs_history_span *span = hs_history_span(mover->history);
    return span != NULL && span->longest_gap_us <= ruleset->history.max_gap_us &&
           span->oldest_us <= from_us && to_us - span->newest_us <= ruleset->rewind.future_slack_us;
}

/* The next time after one at which a mover may jump, turn another way, or be lost from sight: its
   next sample, or where the newest is too old to stand in for it; INT64_MAX where neither comes. */
int64_t hs_mover_next_change(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                             int64_t time_us);

/*
 * The same two samples at a later time, no later than the next sample: where a mover that moves
 * from `now` on will be, as it still is. False where it stays: nothing is interpolated then.
 */
bool hs_mover_later(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *now, int64_t time_us, struct hs_bracket *out);

#endif
