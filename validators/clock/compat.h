/*
 * The compatible timing check follows the timestamp and time-discrepancy rules of Unreal's
 * character movement. So teams who know Unreal's settings can compare results. Internal to
 * validators/.
 *
 * The check keeps one number per player: the discrepancy, which is how far the player's clock is
 * ahead of the server's clock. The check flags a discrepancy above a margin. Two faults of Unreal's
 * check are fixed here: a payback is never negative, and no move simulates more than max_delta.
 *
 * Shifting all arrival times by the same amount changes no result, not even in the last bit.
 */
#ifndef HS_COMPAT_H
#define HS_COMPAT_H

#include "validators/clock/guard.h"

struct hs_compat {
    int64_t current_us; /* client timestamp of the last accepted move */
    int64_t stamp_us;   /* newest arrival of an accepted move, or of any move in a paused game */
    int64_t arrived_us; /* client timestamp of the last move that arrived, accepted or not */
    int64_t reset_us;   /* arrival of the move that last reset the client's clock */
    double ahead_us;    /* the discrepancy, after allowance and payback */
    double lifetime_us; /* client time minus server time over all moves, without allowance or
                           payback */
    double gathered_us; /* client time of all moves in a tick except the first move; the first move
                           of the next tick may use this time */
    double override_us; /* simulated time of the last move during a payback */
    bool is_resolving;  /* a discrepancy is being paid back */
};

struct hs_compat_result {
    double delta_us;   /* time that may be simulated; 0 .. max_delta * dilation */
    bool force_update; /* the client needs the server's state */
    bool flagged;      /* the discrepancy exceeded the margin on this move */
    double ahead_us;   /* the discrepancy that exceeded the margin; valid if flagged */
    double error_us;   /* client time minus server time for this move */
};

/* Sets up the state of a player from the first move of an epoch. With the prevention `resolution`,
   a positive discrepancy from an earlier epoch still has to be paid back. `compat` is all zero for
   a new player. */
void hs_compat_begin(struct hs_compat *compat, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *step);

/*
 * Examines a move that is not the first of its epoch: returns HS_MOVE_OK, HS_MOVE_RESET, or the
 * reason why the move is not simulated. Changes nothing.
 */
enum hs_move_reason hs_compat_examine(const struct hs_compat *compat,
                                      const struct hs_moves_rules *rules,
                                      const struct hs_timing_move *step);

/* Records a move that hs_compat_examine refused for `reason`. Returns true if the client needs the
   server's state: the move is stale, and not newer than the last move that arrived. */
bool hs_compat_refuse(struct hs_compat *compat, enum hs_move_reason reason,
                      const struct hs_timing_move *step);

/* Records a move for which hs_compat_examine returned OK or RESET. */
void hs_compat_accept(struct hs_compat *compat, const struct hs_moves_rules *rules,
                      enum hs_move_reason reason, const struct hs_timing_move *step,
                      struct hs_compat_result *out);

#endif
