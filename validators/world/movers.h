/*
 * Movers: moving parts of the world, such as doors and lifts. Each mover is one box with a history.
 * Internal to validators/.
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
    struct hs_mover_state carried; /* the state that the oldest sample inherits */
};

struct hs_movers {
    struct hs_mover *all; /* in the order in which they were added */
    uint32_t count, capacity;
    struct hs_budget *budget; /* the bytes of the movers are reserved from this budget; borrowed */
};

void hs_movers_destroy(struct hs_movers *movers);

/*
 * Stores a mover's entry in a frame as a sample. Adds the mover if it is new. Sets *result, and
 * sets bits of enum hs_frame_flag in *flags. `at` is the index of the entry in the frame's list of
 * movers. The search for the mover begins at this index, because games usually post the same movers
 * in the same order. Returns false if out of memory.
 */
bool hs_movers_post(struct hs_movers *movers, const struct hs_ruleset *ruleset,
                    const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                    size_t at, int64_t time_us, enum hs_frame_result *result, unsigned *flags);

/* Returns the mover with this name, or NULL. `at` is as in hs_movers_post. */
struct hs_mover *hs_movers_find(const struct hs_movers *movers, struct hs_str name, size_t at);

/* Returns whether hs_movers_post would store the entry if hs_movers_restart were called first. */
bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at);

/* For each mover, drops the samples before `before_us`, but keeps the newest of these samples. */
void hs_movers_prune(struct hs_movers *movers, int64_t before_us);

/* Drops all samples. Used for a clock reset. The movers and their newest states are kept. */
void hs_movers_restart(struct hs_movers *movers);

/* Returns the state that a new sample inherits if the new sample is newer than all other
   samples. */
const struct hs_mover_state *hs_mover_newest_state(const struct hs_mover *mover);

/* Adds a mover that was read from a snapshot. The mover has no samples yet. Returns false if out of
   memory. */
bool hs_movers_restore(struct hs_movers *movers, const struct hs_match_limits *limits,
                       struct hs_str name, const struct hs_mover_state *state);

size_t hs_movers_bytes(const struct hs_movers *movers);

/* Computes bounds that contain the mover's box at every time in the mover's history. If the mover
   has no samples, the bounds contain the whole world. */
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

struct hs_mover_pose {
    struct hs_solid solid;
    bool is_solid;
    double reach; /* distance from the centre of the box to its corners */
};

/* Returns the mover's state at the time of a bracket. This is the state of the bracket's older
   sample. */
const struct hs_mover_state *hs_mover_state_at(const struct hs_mover *mover,
                                               const struct hs_bracket *bracket);

/* Computes a ball that contains the mover's box at the time of a bracket, with any rotation of the
   box. */
void hs_mover_ball(const struct hs_mover *mover, const struct hs_bracket *bracket,
                   struct hs_vec *center, double *reach);

/* Computes the pose at the time of a bracket. Position and rotation are interpolated between the
   bracket's two samples. The state is the state of the older sample. */
void hs_mover_place(const struct hs_mover *mover, const struct hs_bracket *bracket,
                    struct hs_mover_pose *out);

/*
 * hs_mover_to_world converts a point from the mover's coordinates at `time_us` to world
 * coordinates. hs_mover_carry takes a point in world coordinates at `from_us`, and computes where
 * the point is at `to_us` if it moves with the mover. After its newest sample, a mover counts as
 * standing still. If the mover has no pose at one of the times, the functions return false and
 * leave the point unchanged.
 */
bool hs_mover_to_world(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                       int64_t time_us, struct hs_vec *point);
bool hs_mover_carry(const struct hs_mover *mover, const struct hs_ruleset *ruleset, int64_t from_us,
                    int64_t to_us, struct hs_vec *point);

/* Computes the pose of the newest sample. Returns false if the mover has no samples. */
bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out);

/* Returns true if the mover certainly has a pose at all times in [from_us, to_us]. May return false
   even if the mover has all these poses. O(1). */
static inline bool hs_mover_is_placed(const struct hs_mover *mover,
                                      const struct hs_ruleset *ruleset, int64_t from_us,
                                      int64_t to_us)
{
    const struct hs_history_span *span = hs_history_span(mover->history);
    return span != NULL && span->longest_gap_us <= ruleset->history.max_gap_us &&
           span->oldest_us <= from_us && to_us - span->newest_us <= ruleset->rewind.future_slack_us;
}

/* Returns the first time after `time_us` at which the mover's movement may change. This is the time
   of the next sample. After the newest sample, the result is the last time at which the newest
   sample may be used. From that time on, or if the mover has no samples, returns INT64_MAX. */
int64_t hs_mover_next_change(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                             int64_t time_us);

/* Computes the mover's bracket at `time_us`. This time must be between the older sample of `now`
   and the mover's next sample. Returns false if the mover counts as standing still between the two
   samples. A mover counts as standing still if the later sample is missing, if the later sample is
   a jump or a teleport, or if the gap between the samples is too long. */
bool hs_mover_later(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *now, int64_t time_us, struct hs_bracket *out);

#endif
