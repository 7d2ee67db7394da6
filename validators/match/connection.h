/* A player's connection, as posted in frames. Internal to validators/. */
#ifndef HS_CONNECTION_H
#define HS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/match/players.h"

struct hs_connection {
    bool is_known;     /* a round trip was posted */
    bool is_stale;     /* the round trip was posted before a restore */
    int64_t rtt_us;    /* the smallest of the last values, because a delay can only add to it */
    int64_t spread_us; /* the largest of the last values minus the smallest */
    int64_t interp_us; /* interpolation delay; 0 if it was never posted */
    int64_t wish_us;   /* the largest ping that the player wants to be compensated; -1: not
                          posted */
};

/* Reads the connection from the samples up to a time. If `player` is NULL, the connection is
   unknown. */
void hs_connection_read(const struct hs_player *player, int64_t now_us, struct hs_connection *out);

/* Records a round trip that a stored frame posted. */
void hs_connection_learn(struct hs_player *player, int32_t rtt_us, int64_t time_us);

/*
 * Returns the delay that packets of the player can have beyond the smallest round trip. The result
 * is the larger of two values. The first value comes from the spread of the round trips of the last
 * 15 to 30 s. The second value is the noise of the player's moves. In microseconds; 0 if nothing is
 * known. `player` may be NULL.
 */
int64_t hs_connection_noise(const struct hs_player *player);

/*
 * Returns whether enough round trips were measured to know that the connection has no noise. Three
 * conditions must hold: the last 15 to 30 s have HS_ROUND_TRIPS_ENOUGH round trips, these differ by
 * 1 to 20 ms, and the moves have no noise. The game server measures round trips. A client could
 * only delay its answers, and that adds noise. `player` may be NULL.
 */
bool hs_connection_is_quiet(const struct hs_player *player, int64_t now_us);

/*
 * Returns how much credit the player's moves need because they do not arrive evenly. The result is
 * computed from the spread of the round trips of the last 15 to 30 s. In microseconds, at least 40
 * ms; -1 if fewer than HS_ROUND_TRIPS_ENOUGH round trips were measured. `player` may be NULL.
 */
int64_t hs_connection_move_credit(const struct hs_player *player, int64_t now_us);

/* Returns whether the round trip can be used for a prediction by ping. */
bool hs_connection_predicts(const struct hs_connection *connection,
                            const struct hs_prediction_rules *rules);

/* Returns the time by which a game that predicts by ping rewinds (struct hs_prediction_rules). */
int64_t hs_connection_prediction(const struct hs_connection *connection,
                                 const struct hs_prediction_rules *rules);

/* Returns the part of the ping that the game does not compensate, because it is above the
   maximum. */
int64_t hs_connection_excess(const struct hs_connection *connection,
                             const struct hs_prediction_rules *rules);

#endif
