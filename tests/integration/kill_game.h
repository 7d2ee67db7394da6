/*
 * Traffic for a service that is killed repeatedly. Several matches have two writers each. Every
 * writer is a thread with its own connection, and posts the ticks of its own squad (kill_squad.h).
 * Matches are deleted and opened again, with the same clock. The posted data depends only on the
 * seed. How far a run gets depends on when the service dies.
 *
 * After a restart each writer posts the frames of its last second again, and sends every item of
 * its shooters' sessions again. Then it sends the request that got no answer, and goes on.
 */
#ifndef HS_TESTS_KILL_GAME_H
#define HS_TESTS_KILL_GAME_H

#include <stdint.h>

#include "tests/support/play/follower.h"

struct hs_kill_game;

/* The default ruleset of the service must be hs_kill_game_rules (kill_squad.h). The follower is
   borrowed. If memory runs out, the test program ends. */
struct hs_kill_game *hs_kill_game_create(uint64_t seed, struct hs_follower *follower);
void hs_kill_game_destroy(struct hs_kill_game *game);

/* Starts all writers against a service that was just started. Each writer first settles the restart
   (the last paragraph above), and then plays at most `ticks` ticks. */
void hs_kill_game_begin(struct hs_kill_game *game, unsigned port, int ticks);

/* Waits until each writer is done or got no answer. Missing answers are allowed only after
   hs_kill_game_dies. */
void hs_kill_game_end(struct hs_kill_game *game);

/* Announces a kill of the service: from now on requests may get no answer. */
void hs_kill_game_dies(struct hs_kill_game *game);

struct hs_kill_game_totals {
    struct hs_follow_counts follow;
    long ticks, sessions, openings, unanswered;
};
void hs_kill_game_total(const struct hs_kill_game *game, struct hs_kill_game_totals *out);

#endif
