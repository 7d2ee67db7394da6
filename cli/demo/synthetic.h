/*
 * A synthetic match: people who shoot at each other in an arena, each seeing the others as old as
 * his latency makes them, and four cheats. Everything follows from the seed.
 *
 * Five shoot honestly: they aim with a human's error at those whom their screens show, and claim a
 * hit when the shot went through a body there before it came to a wall or to the door. A shot that
 * missed on the screen is not claimed.
 *   claim_forger   claims hits of shots that went past the body, above it or the other way
 *   through_time   aims well, but at a moment far in the past, or in the future
 *   radius_forger  claims wide shots, which only then touch; the weapon is a ray
 *   wall_forger    aims well, at those who are behind a wall
 */
#ifndef HS_PLAY_SYNTHETIC_H
#define HS_PLAY_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

#include "cli/demo/walkers.h"
#include "cli/play/recording.h"

#define HS_WHO_HONEST        "honest"
#define HS_WHO_CLAIM_FORGER  "claim_forger"
#define HS_WHO_THROUGH_TIME  "through_time"
#define HS_WHO_RADIUS_FORGER "radius_forger"
#define HS_WHO_WALL_FORGER   "wall_forger"

struct hs_synthetic;

/* NULL: out of memory. `seconds` of play, at most an hour. */
struct hs_synthetic *hs_synthetic_create(uint64_t seed, double seconds);
void hs_synthetic_destroy(struct hs_synthetic *match);

/*
 * The match as a recording from its first tick on; it borrows the synthetic match and can be
 * opened again. NULL: out of memory.
 */
struct hs_recording *hs_synthetic_open(const struct hs_synthetic *match);

/* The ruleset it is played by: the built-in metres. */
const struct hs_ruleset *hs_synthetic_ruleset(const struct hs_synthetic *match);

const struct hs_walkers *hs_synthetic_walkers(const struct hs_synthetic *match);

/* The walker of that player's name, or -1. */
int hs_synthetic_find(const char *player);

/* Honest shots that missed on the shooter's own screen: fired, seen to miss, not claimed. */
size_t hs_synthetic_honest_misses(const struct hs_synthetic *match);

#endif
