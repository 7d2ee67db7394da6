/*
 * Checks client moves. A move has a client timestamp, an arrival time at the game server, and
 * optionally a position. The checks answer three questions. How much of the move's time may be
 * simulated? Was the client's clock too fast? Can a body move in this way?
 *
 * Not thread-safe on one match.
 */
#ifndef HS_MOVES_H
#define HS_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "match.h"
#include "move.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/*
 * Checks a move and records it. Adds the player if they are new. Returns false and changes nothing
 * if memory runs out.
 */
bool hs_match_check_move(struct hs_match *match, const struct hs_move *move,
                         struct hs_move_result *out);

/* The state of a player, derived from their moves. */
struct hs_moves_info {
    bool present; /* the player sent a move */
    uint64_t epoch;
    int64_t received_us; /* arrival of the newest move */
    int64_t discrepancy_us, lifetime_us, age_us, credit_us;
    bool is_resolving;
    double speed;       /* speed of the client's clock; 1 is honest */
    double speed_error; /* how wrong `speed` can be, because the delay of packets varies; 1: the
                           clock was not measured long enough */
    uint32_t bursts_per_minute;
    uint64_t reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT]; /* number of moves that failed the check, enforced or
                                             not */
};

/* Writes the state to *out. Returns false if the player left or never joined. */
bool hs_match_moves_info(const struct hs_match *match, struct hs_str player,
                         struct hs_moves_info *out);

HS_PUBLIC_END

#endif
