/*
 * Timestamps of one player's moves: may a move be simulated, and for how long? Is the client's
 * clock too fast? Two timing checks answer the second question, and both always run. The ruleset's
 * `prevention` selects which of them sets the simulated time.
 *
 * The inputs are the client's timestamp and the time when the game server received the move. The
 * arrival time of a request at this service is never used.
 *
 * The functions change only the given state, and allocate nothing. They are not thread-safe on one
 * state.
 */
#ifndef HS_TIMING_H
#define HS_TIMING_H

#include "validators/clock/compat.h"
#include "validators/clock/guard.h"

/* The flags of a move. Each flag belongs to one check. */
enum hs_timing_flag {
    HS_TIMING_DISCREPANCY = 1 << 0,    /* timing_discrepancy: the discrepancy exceeded the margin
                                          (compat.h) */
    HS_TIMING_FAST_PROVEN = 1 << 1,    /* fast_clock_proven */
    HS_TIMING_FAST_SUSPECTED = 1 << 2, /* fast_clock_suspected */
};

/* The last minute is divided into this many parts, to count the packet bursts in it. */
enum { HS_BURST_PARTS = 6 };

struct hs_timing {
    struct hs_compat compat;
    struct hs_clock_guard guard;
    int64_t wrapped_us; /* sum of the times added to the client's clock for its resets */
    double credit_us;   /* server time granted and not simulated yet */
    int64_t first_us;   /* arrival of the first move */
    int64_t heard_us;   /* arrival of the newest move */

    /* The last stall, and the packet burst after it. */
    int64_t stall_from_us, stall_to_us; /* last arrival before the silence, and first arrival after
                                           it */
    int64_t burst_to_us;                /* arrival of the last move that caught up with the
                                           silence */
    float backlog_us, caught_us;        /* client time that the stall delayed, and the part of this
                                           time that later moves made up for */
    int32_t burst_part;
    uint8_t bursts[HS_BURST_PARTS];

    bool has_begun, has_credit, has_burst;
};

struct hs_timing_result {
    enum hs_move_reason reason; /* OK, RESET, or the reason not to simulate the move */
    double delta_us;            /* time that the server may simulate */
    /* Game time since the previous move, by the client's clock. HUGE_VAL for the first move after
       the clock started again. */
    double client_us;
    bool force_update;
    double forced_us; /* time for which the server moves the player without the client */
    double error_us;  /* client time minus server time of this move; 0: not simulated */
    int64_t late_us;  /* how far a stale move was behind the newest move, by the client's clock */
    unsigned flags;   /* enum hs_timing_flag */
    /* Each member is valid if its flag is set. ahead_us: the discrepancy (compat.h). proven_by_us:
       the time beyond the bound from acks. suspected_us: the account that exceeded
       suspected_limit_us (guard.h). */
    double ahead_us, proven_by_us, suspected_us, suspected_limit_us;
};

/* Forgets everything except the credit, so that a new epoch does not refill it. */
void hs_timing_restart(struct hs_timing *timing);

/* Checks a move and records it. `timing` is all zero for a new player. */
void hs_timing_check(struct hs_timing *timing, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *move, struct hs_timing_result *out);

/* Reduces the credit by `time_us`, but not below 0. Call this function if the movement checks
   counted more time than `delta_us` for an accepted move. Later moves must not use this time
   again. */
void hs_timing_spend(struct hs_timing *timing, double time_us);

/* Returns whether a packet burst followed the last stall, and `time_us` is in this stall or
   burst. */
bool hs_timing_was_in_burst(const struct hs_timing *timing, int64_t time_us);

/* Returns the number of packet bursts after stalls, in the minute before the last move. */
unsigned hs_timing_bursts_per_minute(const struct hs_timing *timing);

#endif
