/*
 * The compatible timing judge: the timestamp and time-discrepancy rules that Unreal's character
 * movement made common, so that teams who know its dials can compare. Internal to validators/.
 *
 * It keeps one number per player, how far his clock is ahead of the server's, and flags when that
 * passes a margin: a range test on one-way delay. Two faults of the original are not kept: a
 * payback is never negative and no move simulates more than max_delta, and the clock of a new
 * player is bound to his first move.
 *
 * Everything is relative: the same moves shifted in time give the same bits.
 */
#ifndef HS_COMPAT_H
#define HS_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"
#include "validators/vocabulary.h"

struct hs_compat {
    int64_t current_us; /* last accepted client timestamp */
    int64_t stamp_us;   /* server time of the last accepted move */
    int64_t arrived_us; /* client timestamp that arrived last, accepted or not */
    int64_t reset_us;   /* server time of the last reset of the client's clock */
    double ahead_us;    /* the discrepancy: client time less server time, since it was last 0 */
    double lifetime_us; /* the same, never forgiven */
    double gathered_us; /* client time of this server tick that waits to be simulated */
    double override_us; /* what the last move was given while a discrepancy was paid back */
    bool is_resolving;  /* a discrepancy is being paid back */
};

/* One move as the judge sees it. */
struct hs_compat_step {
    int64_t timestamp_us; /* of the client */
    int64_t received_us;
    double dilation;
};

struct hs_compat_result {
    double delta_us;   /* that may be simulated; 0 .. max_delta * dilation */
    bool force_update; /* the client needs the server's state */
    bool flagged;      /* the margin was passed on this move */
    double ahead_us;   /* by which the client was ahead then; with flagged */
};

/* The clock of a player is bound to his first move. */
void hs_compat_begin(struct hs_compat *compat, const struct hs_moves_rules *rules,
                     const struct hs_compat_step *step);

/*
 * What a later timestamp is: HS_MOVE_OK, HS_MOVE_RESET, or why it is not to be simulated. Changes
 * nothing.
 */
enum hs_move_reason hs_compat_examine(const struct hs_compat *compat,
                                      const struct hs_moves_rules *rules,
                                      const struct hs_compat_step *step);

/* Books a timestamp examined as anything but OK or RESET. True: the client needs the server's
   state, as it sends nothing newer. */
bool hs_compat_refuse(struct hs_compat *compat, enum hs_move_reason reason,
                      const struct hs_compat_step *step);

/* Books a timestamp examined as OK or RESET. */
void hs_compat_accept(struct hs_compat *compat, const struct hs_moves_rules *rules,
                      enum hs_move_reason reason, const struct hs_compat_step *step,
                      struct hs_compat_result *out);

#endif
