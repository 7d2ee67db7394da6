/*
 * The broad phase: finds the players of a match whose bodies a moving sphere certainly does not
 * touch. The broad phase uses only the bounds of the players' histories, and reads no sample.
 * Internal to validators/.
 */
#ifndef HS_CROWD_H
#define HS_CROWD_H

#include "validators/history/ring.h"
#include "validators/sweep.h"

/* A sweep and its time, prepared for tests against many players. */
struct hs_passing {
    int64_t time_us;
    struct hs_vec middle, half; /* middle of the segment, and the vector from the middle to its
                                   end */
    double reach;               /* radius of the sphere, plus the touch slack */
    /* `middle`, `half` and `reach` in float. `near_reach` includes the rounding errors of all
       three. */
    float near_middle[3], near_half[3], near_reach;
};

/* Returns an upper bound of the distance from the body's root to its hitboxes, over the whole
   history. */
double hs_crowd_reach(const struct hs_history_span *span, const struct hs_ruleset *ruleset);

void hs_passing_of(const struct hs_sweep *sweep, int64_t time_us, struct hs_passing *out);

/* Returns whether the sphere certainly touches nothing inside a box. `middle` and `half` describe
   the box as in hs_rewind_box, and the box must include the same margin. */
bool hs_passing_misses(const struct hs_passing *passing, struct hs_vec middle, struct hs_vec half);

/*
 * The bounds of four players, in float and rounded outwards. The time interval of a player is empty
 * if the player has no samples, or if two neighbouring samples are further apart than
 * history.max_gap.
 */
struct hs_crowd {
    _Alignas(16) float middle[3][4];   /* per axis: the middle of the box around all roots and
                                          hitboxes; world */
    float half[3][4];                  /* per axis: half the size of this box; length */
    int64_t from_us[4], until_us[4];   /* the interval in which the player has a pose */
    int64_t all_from_us, all_until_us; /* the interval in which all four players have a pose */
};

/* Stores the bounds of a player as entry `i` (0 .. 3). Call this after every change of the player's
   history. */
void hs_crowd_put(struct hs_crowd *crowd, uint32_t i, const struct hs_history *history,
                  const struct hs_ruleset *ruleset);

/*
 * Returns one bit for each of `count` players (at most 64). A bit is set if the player's body may
 * be touched, or if the player may have no pose at the time of `passing`. Each element of `crowd`
 * has the bounds of four players.
 */
uint64_t hs_crowd_near(const struct hs_crowd *crowd, uint32_t count,
                       const struct hs_passing *passing);

/* Does the same as hs_crowd_near, with four or eight SIMD lanes. Only for tests: the bits must be
   identical with four and with eight lanes. Eight lanes require hs_lanes_can_be_eight. */
uint64_t hs_crowd_near_by(bool eight_lanes, const struct hs_crowd *crowd, uint32_t count,
                          const struct hs_passing *passing);

#endif
