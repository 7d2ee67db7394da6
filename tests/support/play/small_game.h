/*
 * A made-up game, tick after tick, for tests that compare a match with another that should know the
 * same: six players who walk, shoot, send moves, come and go, and now and then send again what
 * they sent before. What is sent at a tick depends on the seed and the tick alone. In metres.
 */
#ifndef HS_TESTS_SMALL_GAME_H
#define HS_TESTS_SMALL_GAME_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/match.h"
#include "validators/shot.h"

enum { HS_SMALL_GAME_PLAYERS = 6, HS_SMALL_GAME_TICK_US = 50000, HS_SMALL_GAME_RESYNC = 40 };

struct hs_small_game {
    uint64_t seed;
    bool has_rtt; /* frames say the round trip */
    /* From this tick on, 0 for never, frames do what a game server does after a restart: the first
       says all there is to say of everybody, and for HS_SMALL_GAME_RESYNC ticks everybody is set
       down where the player is, which excuses any jump of the moves. */
    int resync_tick;
};

/* The ruleset it is played by; the caller owns it. */
struct hs_ruleset *hs_small_game_ruleset(void);

/* What is sent at a tick. Each returns a hash of the answers. */
uint64_t hs_small_game_frames(const struct hs_small_game *traffic, struct hs_match *match,
                              int tick);
uint64_t hs_small_game_moves(const struct hs_small_game *traffic, struct hs_match *match, int tick);
uint64_t hs_small_game_shots(const struct hs_small_game *traffic, struct hs_match *match, int tick);

/* Called with each verdict before it is recorded; NULL: not called. Either the hit or the shot is
   NULL. */
extern void (*hs_small_game_verified)(const struct hs_match *match, const struct hs_hit_claim *hit,
                                      const struct hs_shot_claim *shot,
                                      const struct hs_hit_result *result);

/* Everybody spawns after the newest frame, and sends moves from the ends of time as requests can
   tell it, in an order that depends on the seed; for matches that may hold anything. NULL, or what
   an answer should never say. */
const char *hs_small_game_ends_of_time(uint64_t seed, struct hs_match *match);

/* Verdicts of shots and hits so far in this process that were replays, and all. */
struct hs_small_game_counts {
    long replays, verdicts, move_replays, moves;
};
extern struct hs_small_game_counts hs_small_game_counts;

#endif
