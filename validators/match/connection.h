/* What frames say of a player's connection. Internal to validators/. */
#ifndef HS_CONNECTION_H
#define HS_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/match/players.h"

struct hs_connection {
    bool is_known;     /* a round trip was told */
    bool is_unsure;    /* but last before a restart */
    int64_t rtt_us;    /* the smallest of the last told: delay only ever adds to the truth */
    int64_t spread_us; /* the largest of them minus that */
    int64_t interp_us; /* 0 where it was never told */
    int64_t wish_us;   /* the prediction ping the player asked for; -1: none */
};

/* By the samples up to a time; nothing is known of a player who is NULL. */
void hs_connection_read(const struct hs_player *player, int64_t now_us, struct hs_connection *out);

/*
 * How far back a game that predicts by ping shows the others to a player: half of the ping less the
 * fudge, but never more than both sides agreed on.
 */
int64_t hs_connection_prediction(const struct hs_connection *connection,
                                 const struct hs_prediction_rules *rules);

#endif
