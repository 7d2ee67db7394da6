/*
 * Checks the timestamps of one player's moves. May a move be simulated, and for how long? Is the
 * client's clock too fast? Two timing checks answer the second question, and both always run. The
 * ruleset's `prevention` selects what limits the simulated time: the credit, or the payback of the
 * compatible check (compat.h).
 *
 * Arrival times are always arrivals at the game server, never at this service.
 *
 * The functions change only the given state, and allocate nothing. Calls with the same state are
 * not thread-safe.
 */
#ifndef HS_TIMING_H
#define HS_TIMING_H

#include "validators/clock/compat.h"
#include "validators/clock/guard.h"

/* The checks that flagged a move, as bits. */
enum hs_timing_flag {
    HS_TIMING_DISCREPANCY = 1 << 0,    /* timing_discrepancy (compat.h) */
    HS_TIMING_FAST_PROVEN = 1 << 1,    /* fast_clock_proven */
    HS_TIMING_FAST_SUSPECTED = 1 << 2, /* fast_clock_suspected */
};

/* To count packet bursts, the last minute is divided into this many parts. */
enum { HS_BURST_PARTS = 6 };

struct hs_timing {
    struct hs_compat compat;
    struct hs_clock_guard guard;
    int64_t wrapped_us; /* time added to the client's clock for all its resets so far */
    double credit_us;   /* server time granted and not simulated yet */
    int64_t first_us;   /* arrival of the first move */
    int64_t heard_us;   /* arrival of the newest move */

    /* The last stall, and the packet burst after it. */
    int64_t stall_from_us, stall_to_us; /* last arrival before the stall, first arrival after it */
    int64_t burst_to_us;                /* arrival of the last move that caught up */
    float backlog_us, caught_us;        /* client time that the stall delayed, and the client time
                                           that later moves made up for */
    int32_t burst_part;
    uint8_t bursts[HS_BURST_PARTS];

    bool has_begun, has_credit, has_burst;
};

struct hs_timing_result {
    enum hs_move_reason reason; /* OK, RESET, or the reason not to simulate the move */
    double delta_us;            /* time that the server may simulate for this move */
    /* Game time since the previous move, by the client's clock. HUGE_VAL for the first move of an
       epoch. */
    double client_us;
    bool force_update;
    double forced_us;       /* time for which the server should move the player by itself */
    double slowed_by;       /* by how much the dilation fell since the previous move; 0: no fall */
    double slowed_after_us; /* how long the higher dilation was in force */
    double error_us;        /* client time minus server time for this move; 0: not simulated */
    int64_t late_us; /* how far a stale move was behind the newest move, by the client's clock */
    unsigned flags;  /* enum hs_timing_flag */
    /* Each of these is valid if its flag is set. ahead_us: the discrepancy (compat.h).
       proven_by_us: how far the lead is above its upper bound (Y in guard.h). suspected_us: the
       account that exceeded suspected_limit_us (guard.h). */
    double ahead_us, proven_by_us, suspected_us, suspected_limit_us;
};

/* Starts a new epoch: forgets everything except the credit and the discrepancy (see
   hs_compat_begin). A new epoch must not refill the credit. */
void hs_timing_restart(struct hs_timing *timing);

/* Checks a move and records it. `timing` is all zero for a new player. */
void hs_timing_check(struct hs_timing *timing, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *move, struct hs_timing_result *out);

/* Reduces the credit by `time_us`, but not below 0. Call this if the movement checks counted more
   time than `delta_us` for an accepted move, so that later moves cannot use this time again. */
void hs_timing_spend(struct hs_timing *timing, double time_us);

/* Returns whether `time_us` lies in the last stall or in the packet burst after it. Returns false
   if no burst followed the stall. */
bool hs_timing_was_in_burst(const struct hs_timing *timing, int64_t time_us);

/* Returns the number of packet bursts after stalls, in the minute before the last move. */
unsigned hs_timing_bursts_per_minute(const struct hs_timing *timing);

#endif
