/*
 * The default timing check: is the player's clock fast? Internal to validators/.
 *
 * For one move, c is the client's timestamp, a is the arrival at the server, and x = c - a is the
 * lead: the offset of the client's clock minus the delay of the move. Two detectors use x. AckBound
 * proves that a clock is fast. LeadGuard only suspects that a clock is fast.
 *
 * AckBound. k is the send time of the newest snapshot that earlier packets acknowledged. The client
 * made the move after it received this snapshot, so c - k is at least the offset of the client's
 * clock. Y is the smallest c - k so far. Y rises slowly over time, because even an honest clock has
 * a small error. Delay and loss only lower x, so x of an honest clock never exceeds Y. A change of
 * the dilation changes the offset, and the client learns of the change late. So Y is then measured
 * again, with the snapshots sent after the change. When the server's clock is set back, the leads
 * stay the same. Y is then measured again, with the snapshots sent after the clock has passed its
 * old time.
 *
 * LeadGuard. Time is divided into blocks. M is the largest x in a block: the x of the move with the
 * least delay. R is the largest M in the window before the block. When M exceeds R, the difference
 * is added to an account: a sum that decreases (leaks) over time. The difference is clipped first,
 * so that a change of route counts little. A fast clock fills the account faster than it leaks. A
 * second account without clipping detects jumps (cumulative sums: Page, Continuous inspection
 * schemes, Biometrika 41, 1954).
 *
 * The noise of the connection is the mean distance of M below R. Noise raises the limits of both
 * accounts.
 *
 * Acks help in two more cases. First, a better connection raises M, but not the smallest c - k in
 * the block. So a rise of M counts only up to the rise of the smallest c - k. Second, if c - k
 * falls and the round trip has not become shorter, the clock paused. In this case R is lowered by
 * the length of the pause. Later blocks show the length of the pause better, so R is corrected
 * again some blocks later.
 *
 * A third account detects a clock that catches up after a silence. Moves that the connection
 * delayed may catch up by the length of the silence. If later moves gain more than this length, the
 * client made these moves after the silence, and an honest client acknowledges newer snapshots in
 * these moves. So lead that is gained without a newer ack is added to the account.
 *
 * The state has a fixed size. Leads are differences, so shifting all times by the same amount
 * changes no result, and precision does not degrade in a long match. Times are in microseconds.
 */
#ifndef HS_CLOCK_GUARD_H
#define HS_CLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"

/* The last minute is divided into cells of HS_LEAD_CELL_US. R is computed from the newest cells.
   The speed of the clock is computed from all cells. */
enum { HS_LEAD_CELLS = 12 };

#define HS_LEAD_CELL_US INT64_C(5000000)

/* Bits: which values of a guard are known. Snapshots store these numbers. */
enum hs_guard_known { HS_GUARD_BOUND = 1, HS_GUARD_ACK = 2, HS_GUARD_ARRIVING_ACK = 4 };

struct hs_clock_guard {
    int64_t base_us;     /* x of the first move, or of a later move after a rebase; every lead is
                            relative to this x */
    int64_t received_us; /* newest arrival, since the server's clock was last set back */
    int64_t shift_us;    /* game time minus server time, because of dilations */
    int64_t change_us;   /* acks of snapshots sent before this time do not count */
    double dilation;

    /* AckBound */
    double bound_us;         /* Y */
    int64_t ack_us;          /* k */
    int64_t arriving_ack_us; /* k for the next packet; the acks of this packet are included */

    /* LeadGuard */
    int64_t block_from_us;  /* start of the current block */
    int32_t cell_so_far_us; /* time from the start of the current cell to the start of the block */
    float gathered_us, jumped_us; /* leaking accounts, with and without clipping */
    /* The third account: the lead that the client gained while the client kept sending an old ack.
       If negative: how much delayed client time may still arrive after a silence. */
    int32_t made_up_us;
    float noise_us;                         /* mean distance of M below R in the window */
    int32_t highest_us, highest_before_us;  /* M in this block so far, and in the previous block */
    int32_t reference_us;                   /* R */
    int32_t cell_highest_us[HS_LEAD_CELLS]; /* M in each cell; INT32_MIN: no moves */

    /* Upper bounds of the lead, from acks. */
    int32_t lowest_us, lowest_before_us;    /* smallest c - k in this and in the previous block */
    int32_t lowest_trip_us, trip_before_us; /* a - k of the two moves with these values of c - k */
    /* Smallest lowest_us and smallest lowest_trip_us. [0]: in the current span of one window
       length, [1]: in the previous span. */
    int32_t ceilings_us[2], round_trips_us[2];
    float speed; /* speed of the client's clock relative to the server's clock; 1 is honest */

    uint8_t cell_noise[HS_LEAD_CELLS]; /* noise of complete cells, in units of 2 ms */
    uint16_t cell_below;      /* noise summed over the blocks of the current cell, same unit */
    uint8_t cell_below_count; /* number of blocks in `cell_below` */
    uint8_t cell;             /* the current cell */
    uint8_t half_cells;       /* complete cells in the current span (ceilings_us) */
    uint8_t settling;         /* blocks until R is corrected after a pause; 0: no correction is
                                 pending */
    uint8_t settling_cell;    /* the first cell after the pause */
    uint8_t known;            /* set of enum hs_guard_known */
};

/* One move, as input of the timing checks. */
struct hs_timing_move {
    int64_t timestamp_us; /* time on the client's clock; for the guard, as if the clock had never
                             been reset */
    int64_t received_us;  /* arrival of the move at the game server */
    int64_t ack_us;    /* send time of the newest snapshot that the client had; valid if has_ack */
    int64_t credit_us; /* initial credit for this connection; valid if has_credit */
    bool has_ack, has_credit;
    double dilation; /* game seconds per second from this move on; 0 while the game is paused */
};

struct hs_clock_verdict {
    /* Whether AckBound (`proven`) and LeadGuard (`suspected`) flagged this move. */
    bool proven, suspected;
    double proven_by_us; /* lead above Y; valid if proven */
    double suspected_us; /* the account that exceeded suspected_limit_us; valid if suspected */
    double suspected_limit_us;
};

/* Starts the guard with the first move of an epoch. */
void hs_clock_guard_begin(struct hs_clock_guard *guard, const struct hs_timing_move *step);

/* Adds a later move. Moves must be added in order of arrival. After a detector has flagged a move,
   the detector measures later moves relative to the flagged move. */
struct hs_clock_verdict hs_clock_guard_step(struct hs_clock_guard *guard,
                                            const struct hs_moves_rules *rules,
                                            const struct hs_timing_move *step);

/* Advances to the arrival of a move that was refused in a paused game, so that the time of the
   pause does not count as server time. */
void hs_clock_guard_pause(struct hs_clock_guard *guard, const struct hs_timing_move *step);

/* Returns the noise (the mean distance of M below R in the window) in microseconds. Cells without
   moves do not count. Returns 0 if nothing has been measured. */
int64_t hs_clock_guard_noise(const struct hs_clock_guard *guard);

#endif
