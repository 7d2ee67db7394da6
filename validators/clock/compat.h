/*
 * The compatible timing check. This check follows the rules for timestamps and time discrepancy
 * that Unreal's character movement made common. So teams that know Unreal's settings can compare
 * results. Internal to validators/.
 *
 * The check keeps one number per player, the discrepancy: how far the player's clock is ahead of
 * the server's clock. A discrepancy above a margin is flagged. Two faults of Unreal's check are
 * fixed: here a payback is never negative, and no move simulates more than max_delta. The clock of
 * a new player starts with their first move.
 *
 * Only differences between times matter: if all times are shifted by the same amount, the results
 * are bit-identical.
 */
#ifndef HS_COMPAT_H
#define HS_COMPAT_H

#include "validators/clock/guard.h"

struct hs_compat {
    int64_t current_us; /* last accepted client timestamp */
    int64_t stamp_us;   /* arrival of the last accepted move */
    int64_t arrived_us; /* client timestamp of the last move that arrived, accepted or not */
    int64_t reset_us;   /* arrival of the last reset of the client's clock */
    double ahead_us;    /* the discrepancy: client time minus server time, since the discrepancy was
                           last 0 */
    double lifetime_us; /* sum of client time minus server time, without any allowance or payback */
    double gathered_us; /* client time of this server tick that is not simulated yet */
    double override_us; /* simulated time of the last move while a discrepancy was paid back */
    bool is_resolving;  /* a discrepancy is being paid back */
};

struct hs_compat_result {
    double delta_us;   /* time that may be simulated; 0 .. max_delta * dilation */
    bool force_update; /* the client needs the server's state */
    bool flagged;      /* the discrepancy exceeded the margin on this move */
    double ahead_us;   /* the discrepancy that exceeded the margin; valid if flagged */
    double error_us;   /* client time minus server time of this move */
};

/* Sets up the state of a player from their first move. */
void hs_compat_begin(struct hs_compat *compat, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *step);

/*
 * Classifies the timestamp of a later move: HS_MOVE_OK, HS_MOVE_RESET, or the reason why the move
 * is not simulated. Changes nothing.
 */
enum hs_move_reason hs_compat_examine(const struct hs_compat *compat,
                                      const struct hs_moves_rules *rules,
                                      const struct hs_timing_move *step);

/* Records a timestamp whose class is neither OK nor RESET. Returns true if the client needs the
   server's state, because this move is not newer than the last move that arrived. */
bool hs_compat_refuse(struct hs_compat *compat, enum hs_move_reason reason,
                      const struct hs_timing_move *step);

/* Records a timestamp with class OK or RESET. */
void hs_compat_accept(struct hs_compat *compat, const struct hs_moves_rules *rules,
                      enum hs_move_reason reason, const struct hs_timing_move *step,
                      struct hs_compat_result *out);

#endif
