/* A player's connection, as posted in frames. Internal to validators/. */
#ifndef HS_CONNECTION_H
#define HS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/match/players.h"

struct hs_connection {
    bool is_known;     /* a round trip was posted */
    bool is_stale;     /* it was posted before a restore */
    int64_t rtt_us;    /* the smallest of the last values, because delay only adds to it */
    int64_t spread_us; /* the largest of them minus the smallest */
    int64_t interp_us; /* 0 if it was never posted */
    int64_t wish_us;   /* the prediction ping that the player asked for; -1: none */
};

/* Reads the samples up to a time. `player` may be NULL; then nothing is known. */
void hs_connection_read(const struct hs_player *player, int64_t now_us, struct hs_connection *out);

/* Records a round trip that a stored frame posted. */
void hs_connection_learn(struct hs_player *player, int32_t rtt_us, int64_t time_us);

/*
 * How late packets of the player can be, beyond the smallest round trip. It is the larger of two
 * values: one from the spread of the round trips of the last 15 to 30 s, and the noise of the
 * player's moves. Microseconds; 0 while nothing is known. `player` may be NULL.
 */
int64_t hs_connection_noise(const struct hs_player *player);

/*
 * Whether enough round trips were measured to know that the connection has no noise:
 * HS_ROUND_TRIPS_ENOUGH in the last 15 to 30 s, which differ by 1 to 20 ms, and moves without
 * noise. The game server measures them. A client can only delay its answers, which adds noise.
 * `player` may be NULL.
 */
bool hs_connection_is_quiet(const struct hs_player *player, int64_t now_us);

/*
 * How much credit the player's moves need, because they do not arrive evenly, by the spread of the
 * round trips of the last 15 to 30 s. Microseconds, 40 ms and more; -1: unknown, because fewer than
 * HS_ROUND_TRIPS_ENOUGH were measured. `player` may be NULL.
 */
int64_t hs_connection_move_credit(const struct hs_player *player, int64_t now_us);

/* The round trip can be used for a prediction. */
bool hs_connection_predicts(const struct hs_connection *connection,
                            const struct hs_prediction_rules *rules);

/* The time by which a game that predicts by ping looks back (struct hs_prediction_rules). */
int64_t hs_connection_prediction(const struct hs_connection *connection,
                                 const struct hs_prediction_rules *rules);

/* The ping beyond what is compensated. */
int64_t hs_connection_excess(const struct hs_connection *connection,
                             const struct hs_prediction_rules *rules);

#endif
