/* A simulated game, tick after tick, to compare two matches that should have the same state. Six
   players walk, shoot, send moves, come and go, and sometimes repeat earlier items. The posts of a
   tick depend only on the seed and the tick. In metres. */
#ifndef HS_TESTS_SMALL_GAME_H
#define HS_TESTS_SMALL_GAME_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/match.h"
#include "validators/shot.h"

enum { HS_SMALL_GAME_PLAYERS = 6, HS_SMALL_GAME_TICK_US = 50000, HS_SMALL_GAME_RESYNC = 40 };

struct hs_small_game {
    uint64_t seed;
    bool has_rtt; /* frames contain the round trip */
    /* From this tick on (0: never), frames are those of a game server after a restart. The first
       one contains the complete state of all players. For HS_SMALL_GAME_RESYNC ticks, each frame
       places every player where they are, which excuses any jump in the moves. */
    int resync_tick;
};

/* The ruleset of the game; the caller owns it. */
struct hs_ruleset *hs_small_game_ruleset(void);

/* Sends the posts of a tick. Each returns a hash of its answers. */
uint64_t hs_small_game_frames(const struct hs_small_game *traffic, struct hs_match *match,
                              int tick);
uint64_t hs_small_game_moves(const struct hs_small_game *traffic, struct hs_match *match, int tick);
uint64_t hs_small_game_shots(const struct hs_small_game *traffic, struct hs_match *match, int tick);

/* Called with each verdict before it is recorded; NULL: not called. Either the hit or the shot is
   NULL. */
extern void (*hs_small_game_verified)(const struct hs_match *match, const struct hs_hit_claim *hit,
                                      const struct hs_shot_claim *shot,
                                      const struct hs_hit_result *result);

/* All players spawn after the newest frame. They send moves at the earliest and latest possible
   times, in an order that depends on the seed. This test is for matches with any contents. Returns
   NULL, or a sentence about an invalid answer. */
const char *hs_small_game_ends_of_time(uint64_t seed, struct hs_match *match);

/* Counts of this process. `verdicts`: all verdicts on shots and hits, of which `replays` were
   replayed. `moves`: all results of moves, of which `move_replays` were replayed. */
struct hs_small_game_counts {
    long replays, verdicts, move_replays, moves;
};
extern struct hs_small_game_counts hs_small_game_counts;

#endif
