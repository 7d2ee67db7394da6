/*
 * The match of the demo: a skirmish (cli/simulate) written down as a recording. Half of its people
 * play honestly, on links from good to bad; each of the others cheats in their own way: what they
 * hit honestly becomes a forgery of their kind, or nothing. A shot that hits nobody on the
 * shooter's screen is not claimed. Everything follows from the seed.
 */
#ifndef HS_DEMO_MATCH_H
#define HS_DEMO_MATCH_H

#include "cli/play/recording.h"
#include "cli/simulate/skirmish.h"

#define HS_WHO_HONEST "honest"

/* X(id, label, forgery, forgery: they take turns) */
#define HS_DEMO_CHEATS(X)                                                                          \
    X(CLAIM_FORGER, "claim_forger", HS_FORGERY_BESIDE, HS_FORGERY_BESIDE)                          \
    X(THROUGH_TIME, "through_time", HS_FORGERY_OLD, HS_FORGERY_FUTURE)                             \
    X(RADIUS_FORGER, "radius_forger", HS_FORGERY_RADIUS, HS_FORGERY_RADIUS)                        \
    X(WALL_FORGER, "wall_forger", HS_FORGERY_WALL, HS_FORGERY_WALL)                                \
    X(ORIGIN_FORGER, "origin_forger", HS_FORGERY_START, HS_FORGERY_START)

enum hs_demo_cheat {
#define X(id, label, first, second) HS_DEMO_##id,
    HS_DEMO_CHEATS(X)
#undef X
        HS_DEMO_CHEAT_COUNT
};

const char *hs_demo_label(enum hs_demo_cheat cheat);

/*
 * The match as a recording, from its first tick on; `seconds` of play. It is played as it is read.
 * NULL: out of memory.
 */
struct hs_recording *hs_demo_open(uint64_t seed, double seconds);

struct hs_demo_match;

/* The match behind a recording of hs_demo_open, for as long as that is open. */
const struct hs_demo_match *hs_demo_match(const struct hs_recording *recording);

/* The skirmish as far as it has been read. */
const struct hs_skirmish *hs_demo_skirmish(const struct hs_demo_match *match);

/* Honest shots so far that hit nobody on the shooter's own screen. */
size_t hs_demo_honest_misses(const struct hs_demo_match *match);

/* Where a player stood at a time, as the server had them. False: no such player, or not yet. */
bool hs_demo_pose(const struct hs_demo_match *match, const char *player, double time,
                  struct hs_sim_pose *out);

#endif
