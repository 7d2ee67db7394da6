/*
 * The broad phase over history: which players of a match a sphere surely passes by, found from the
 * bounds of their histories without reading a sample. Internal to validators/.
 */
#ifndef HS_CROWD_H
#define HS_CROWD_H

#include "validators/history/ring.h"
#include "validators/sweep.h"

/* A sweep at one moment, prepared for tests against many players. */
struct hs_passing {
    int64_t time_us;
    struct hs_vec middle, half; /* of the segment: its middle, and from there to its end */
    double reach;               /* of the sphere, with the slack of touch */
    /* The same in float. `near_reach` also has the error of that rounding. */
    float near_middle[3], near_half[3], near_reach;
};

/* Returns how far the body's hitboxes can be from its root at any time in the history. */
double hs_crowd_reach(const struct hs_history_span *span, const struct hs_ruleset *ruleset);

void hs_passing_of(const struct hs_sweep *sweep, int64_t time_us, struct hs_passing *out);

/*
 * True: the player has a pose at that time, and the sphere is never near any position in the
 * history. False: the exact search must decide. It reads no sample, and returns true for most
 * players.
 */
bool hs_is_passed_by(const struct hs_history *history, const struct hs_ruleset *ruleset,
                     const struct hs_passing *passing);

/*
 * The bounds of four players, in float and rounded outwards. A player without samples, or with a
 * gap that is too long, has an empty interval of time.
 */
struct hs_crowd {
    _Alignas(16) float middle[3][4];   /* per axis; world, length */
    float half[3][4];                  /* the same; with the reach of the body */
    int64_t from_us[4], until_us[4];   /* the player has a pose from .. until */
    int64_t all_from_us, all_until_us; /* all four have one */
};

/* Stores the bounds of player `i` (0 .. 3) of these four. Call it after every change to the
   history. */
void hs_crowd_put(struct hs_crowd *crowd, uint32_t i, const struct hs_history *history,
                  const struct hs_ruleset *ruleset);

/* Returns one bit for each of the four players for whom hs_is_passed_by may be false. */
unsigned hs_crowd_near(const struct hs_crowd *crowd, const struct hs_passing *passing);

#endif
