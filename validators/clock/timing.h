/*
 * Move timestamps of one player: may a move be simulated and for how long, and is the clock that
 * made it fast? Both judges always run; what the simulated time obeys is the ruleset's
 * `prevention`.
 *
 * Only the client's timestamp and the moment the game server received the move enter; when a
 * request arrived here never does. Pure but for the state it is given, allocates nothing, not
 * thread-safe on one state.
 */
#ifndef HS_TIMING_H
#define HS_TIMING_H

#include "validators/clock/compat.h"
#include "validators/clock/guard.h"

/* A flag raised on a move; each is a check of its own. */
enum hs_timing_flag {
    HS_TIMING_DISCREPANCY = 1 << 0,    /* timing_discrepancy: the compatible judge's margin */
    HS_TIMING_FAST_PROVEN = 1 << 1,    /* fast_clock_proven */
    HS_TIMING_FAST_SUSPECTED = 1 << 2, /* fast_clock_suspected */
};

/* Stalls of the last minute are counted in this many parts of it. */
enum { HS_BURST_PARTS = 6 };

struct hs_timing {
    struct hs_compat compat;
    struct hs_clock_guard guard;
    int64_t wrapped_us; /* the client's clock was reset after this much */
    double credit_us;   /* server time granted and not simulated yet */
    int64_t first_us;   /* arrival of the first move */
    int64_t heard_us;   /* arrival of the newest move */

    /* The last stall, and the burst that made up for it. */
    int64_t stall_from_us, stall_to_us; /* silent between these arrivals */
    int64_t burst_to_us;                /* the last arrival that made up for it */
    float backlog_us, caught_us;        /* client time held back by it, and made up for */
    int32_t burst_part;
    uint8_t bursts[HS_BURST_PARTS];

    bool has_begun, has_credit, has_burst;
};

struct hs_timing_move {
    int64_t timestamp_us; /* of the client */
    int64_t received_us;  /* by the game server */
    int64_t ack_us;       /* send time of the newest snapshot seen when it was made; with has_ack */
    bool has_ack;
    double dilation; /* announced: 1, and 0 while the game is paused */
};

struct hs_timing_result {
    enum hs_move_reason reason; /* OK, RESET, or why it is not simulated */
    double delta_us;            /* that the server may simulate */
    double client_us; /* game time since the last move, as the client says; of the first move of a
                         clock nobody knows: as much as there was, HUGE_VAL */
    bool force_update;
    unsigned flags; /* enum hs_timing_flag */
    /* With the flag: how far ahead by the compatible judge, beyond what acks allow, and what
       gathered and when that is too much. */
    double ahead_us, proven_by_us, suspected_us, suspected_limit_us;
};

/* Forgets everything but the credit, which no new epoch refills. */
void hs_timing_restart(struct hs_timing *timing);

/* Judges a move and books it. `timing` is all zero for a player never heard of. */
void hs_timing_judge(struct hs_timing *timing, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *move, struct hs_timing_result *out);

/* Moves of that time arrived in a burst, or a stall before one held them back. */
bool hs_timing_was_in_burst(const struct hs_timing *timing, int64_t time_us);

/* Stalls that ended in a burst, in the minute before the last move. */
unsigned hs_timing_bursts_per_minute(const struct hs_timing *timing);

#endif
