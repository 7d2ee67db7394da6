/*
 * The compatible timing check: the timestamp and time-discrepancy rules that Unreal's character
 * movement made common. Teams that know those settings can compare results. Internal to
 * validators/.
 *
 * It keeps one number per player: how far the player's clock is ahead of the server's. It flags
 * when that passes a margin, which is a range test on one-way delay. Two faults of the original are
 * fixed. A payback is never negative, and no move simulates more than max_delta. The clock of a new
 * player starts with their first move.
 *
 * All state is relative: the same moves shifted in time give the same bits.
 */
#ifndef HS_COMPAT_H
#define HS_COMPAT_H

#include "validators/clock/guard.h"

struct hs_compat {
    int64_t current_us; /* last accepted client timestamp */
    int64_t stamp_us;   /* arrival of the last accepted move */
    int64_t arrived_us; /* client timestamp of the last move that arrived, accepted or not */
    int64_t reset_us;   /* arrival of the last reset of the client's clock */
    double ahead_us;    /* the discrepancy: client time minus server time since it was last 0 */
    double lifetime_us; /* the same sum, but never forgiven */
    double gathered_us; /* client time of this server tick that is not simulated yet */
    double override_us; /* time given to the last move while a discrepancy was paid back */
    bool is_resolving;  /* a discrepancy is being paid back */
};

struct hs_compat_result {
    double delta_us;   /* time that may be simulated; 0 .. max_delta * dilation */
    bool force_update; /* the client needs the server's state */
    bool flagged;      /* the discrepancy passed the margin on this move */
    double ahead_us;   /* the discrepancy then; with flagged */
    double error_us;   /* client time minus server time of this move */
};

/* Starts the clock of a player with their first move. */
void hs_compat_begin(struct hs_compat *compat, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *step);

/*
 * Classifies a later timestamp: HS_MOVE_OK, HS_MOVE_RESET, or the reason not to simulate it.
 * Changes nothing.
 */
enum hs_move_reason hs_compat_examine(const struct hs_compat *compat,
                                      const struct hs_moves_rules *rules,
                                      const struct hs_timing_move *step);

/* Records a timestamp with any other class than OK and RESET. True: the client needs the
   server's state, because it sends nothing newer. */
bool hs_compat_refuse(struct hs_compat *compat, enum hs_move_reason reason,
                      const struct hs_timing_move *step);

/* Records a timestamp with class OK or RESET. */
void hs_compat_accept(struct hs_compat *compat, const struct hs_moves_rules *rules,
                      enum hs_move_reason reason, const struct hs_timing_move *step,
                      struct hs_compat_result *out);

#endif
