/* The state of a player's connection, computed from the values that frames post. Internal to
   validators/. */
#ifndef HS_CONNECTION_H
#define HS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/base/units.h"
#include "validators/match/players.h"

struct hs_connection {
    bool is_known; /* a round trip was posted */
    bool is_stale; /* the round trip was posted before a restore */
    /* The smallest of the last four posted round trips. The smallest round trip is the best
       estimate, because delays only make a round trip longer. */
    int64_t rtt_us;
    /* Difference between the largest and the smallest of these four round trips. */
    int64_t spread_us;
    int64_t interp_us; /* interpolation delay; 0 if not posted */
    /* The largest ping for which the player wants compensation; -1: not posted. */
    int64_t wish_us;
};

/* Computes the connection from the player's samples up to `now_us`. If `player` is NULL, the
   connection is unknown. */
void hs_connection_read(const struct hs_player *player, int64_t now_us, struct hs_connection *out);

/* When a claim arrives, the state that the shooter saw is older than the server's state. Returns
   this difference in microseconds, or 0 if the connection is unknown. */
static inline int64_t hs_connection_delay(const struct hs_connection *connection,
                                          const struct hs_rewind_rules *rewind)
{
    int64_t interp_us = connection->interp_us < rewind->max_interp_us ? connection->interp_us
                                                                      : rewind->max_interp_us;
    return connection->is_known
               ? hs_seconds_to_us(rewind->rtt_share * (double)connection->rtt_us / 1e6) + interp_us
               : 0;
}

/* Records a round trip that the frame with time `time_us` posted. */
void hs_connection_learn(struct hs_player *player, int32_t rtt_us, int64_t time_us);

/*
 * Returns the noise of the connection, in microseconds. The noise is an estimate of how much the
 * delay of a packet can exceed the smallest delay. There are two estimates: one from the spread of
 * the round trips in the last 15 to 30 s, and one from the timing of the player's moves. The result
 * is the larger estimate, or 0 if neither is known. `player` may be NULL.
 */
int64_t hs_connection_noise(const struct hs_player *player);

/*
 * Returns whether the connection is known to be steady. The last 15 to 30 s must contain
 * HS_ROUND_TRIPS_ENOUGH round trips. The difference between the largest and the smallest of these
 * round trips must be 1 to 20 ms, and the player's moves must show no noise. A client cannot fake a
 * steady connection: the game server measures the round trips, and a client that delays its answers
 * adds noise. `player` may be NULL.
 */
bool hs_connection_is_quiet(const struct hs_player *player, int64_t now_us);

/*
 * Returns the credit, in microseconds, that the player's moves need because they arrive unevenly.
 * The credit is computed from the spread of the round trips in the last 15 to 30 s, and is at least
 * 40 ms. Returns -1 if there are fewer than HS_ROUND_TRIPS_ENOUGH round trips, or if their spread
 * is less than 1 ms. `player` may be NULL.
 */
int64_t hs_connection_move_credit(const struct hs_player *player, int64_t now_us);

/* Returns whether a prediction by ping is possible: the round trip is known, or the rules count an
   unknown round trip as 0. */
bool hs_connection_predicts(const struct hs_connection *connection,
                            const struct hs_prediction_rules *rules);

/* Returns how far a game that predicts by ping rewinds, in microseconds (struct
   hs_prediction_rules). */
int64_t hs_connection_prediction(const struct hs_connection *connection,
                                 const struct hs_prediction_rules *rules);

/* Returns how far the ping exceeds the largest ping that the game compensates, in microseconds. */
int64_t hs_connection_excess(const struct hs_connection *connection,
                             const struct hs_prediction_rules *rules);

#endif
