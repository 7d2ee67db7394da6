/*
 * The default timing check: is the player's clock fast? Internal to validators/.
 *
 * c is the client's time of a move, and a is its arrival at the server. x = c - a is the lead: the
 * offset of the client's clock minus the delay of the move. Two detectors use x: AckBound proves a
 * fast clock, and LeadGuard suspects a fast clock.
 *
 * AckBound. A client made a move after it received the snapshots that it acknowledges. k is the
 * send time of the newest snapshot that earlier packets acknowledged. The move was made after k, so
 * c - k is at least the offset of the client's clock. Y is the smallest c - k so far. Even an
 * honest clock has a small error, so the check raises Y slowly over time. Delay and loss only lower
 * x, so x of an honest clock never exceeds Y.
 *
 * LeadGuard. Time is divided into blocks. M is the largest x in a block: the x of the move with the
 * least delay. R is the largest M in the window before the block. When M rises above R, the rise is
 * added to an account that leaks over time. The rise is clipped first, so that a change of route
 * counts little. A fast clock fills the account faster than it leaks. A second account without
 * clipping detects jumps (cumulative sums: Page, Continuous inspection schemes, Biometrika 41,
 * 1954).
 *
 * The mean distance of M below R is the noise of the connection. Noise raises the limits of the
 * accounts.
 *
 * Acks explain two more cases. First, a better connection raises M, but not the smallest c - k of
 * the block. So a rise in M counts only to the extent that the smallest c - k rises with it.
 * Second, if c - k falls and the round trip is not shorter, the clock paused. Then R is lowered by
 * the same amount. The blocks after the pause measure its length better, and correct R.
 *
 * A third account detects a clock that catches up after a silence. By their timestamps, some moves
 * were made after the silence. If these moves acknowledge no newer snapshot, their client time is
 * added to the third account.
 *
 * The state has a fixed size and contains only differences. So if all times are shifted by the same
 * amount, the results are bit-identical, after a minute and after a month. Times are microseconds.
 */
#ifndef HS_CLOCK_GUARD_H
#define HS_CLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"

/* The last minute is divided into cells of HS_LEAD_CELL_US. R uses the newest cells; the estimate
   of speed uses all cells. */
enum { HS_LEAD_CELLS = 12 };

#define HS_LEAD_CELL_US INT64_C(5000000)

/* Bits that show which values of a guard are known. Snapshots contain these numbers. */
enum hs_guard_known { HS_GUARD_BOUND = 1, HS_GUARD_ACK = 2, HS_GUARD_ARRIVING_ACK = 4 };

struct hs_clock_guard {
    int64_t base_us;     /* x of the first move, or of a later one after a rebase; all leads in this
                            struct are relative to it */
    int64_t received_us; /* newest arrival */
    int64_t shift_us;    /* server time added because of announced dilations */
    int64_t change_us;   /* arrival of the move that announced the last dilation */
    double dilation;

    /* AckBound */
    double bound_us;         /* Y */
    int64_t ack_us;          /* newest snapshot that earlier packets acknowledged */
    int64_t arriving_ack_us; /* newest snapshot that this or an earlier packet acknowledged */

    /* LeadGuard */
    int64_t block_from_us;  /* start of the current block */
    int32_t cell_so_far_us; /* time from the start of the current cell to the start of the block */
    float gathered_us, jumped_us; /* the leaking accounts: with clipping, and without */
    /* The third account: client time caught up after a silence. If negative: client time that the
       silence delayed and that may still arrive. */
    int32_t made_up_us;
    float noise_us;                         /* mean distance of M below R in the window */
    int32_t highest_us, highest_before_us;  /* M of this block so far, and of the block before */
    int32_t reference_us;                   /* R */
    int32_t cell_highest_us[HS_LEAD_CELLS]; /* INT32_MIN: nothing arrived */

    /* Upper bounds of the lead, from acks. */
    int32_t lowest_us, lowest_before_us; /* smallest c - k of this block, and of the block before */
    int32_t lowest_trip_us, trip_before_us;    /* a - k of the moves with these smallest c - k */
    int32_t ceilings_us[2], round_trips_us[2]; /* smallest lowest_us, and smallest lowest_trip_us:
                                                  in this half of the window, and in the half
                                                  before */
    float speed; /* speed of the client's clock relative to the server's clock; 1 is honest */

    uint8_t cell_noise[HS_LEAD_CELLS]; /* noise of complete cells, in units of 2 ms */
    uint16_t cell_below;      /* sum of the noise over the blocks of the current cell, same units */
    uint8_t cell_below_count; /* number of blocks in `cell_below` */
    uint8_t cell;             /* the current cell */
    uint8_t half_cells;       /* complete cells in this half of the window */
    uint8_t settling;         /* blocks until R is corrected after a pause; 0: no correction is
                                 due */
    uint8_t settling_cell;    /* the first cell after the pause */
    uint8_t known;            /* set of enum hs_guard_known */
};

/* One move, as input of the timing checks. */
struct hs_timing_move {
    int64_t timestamp_us; /* time of the move by the client's clock; for the guard, as if the clock
                             had never been reset */
    int64_t received_us;  /* arrival of the move at the game server */
    int64_t ack_us;       /* send time of the newest snapshot the client had seen; valid if
                             has_ack */
    int64_t credit_us;    /* initial credit for this connection; valid if has_credit */
    bool has_ack, has_credit;
    double dilation; /* the announced dilation from this move on; 0 while the game is paused */
};

struct hs_clock_verdict {
    bool proven, suspected; /* the detector flagged this move */
    double proven_by_us;    /* how far the clock was beyond the bound from acks; valid if proven */
    double suspected_us;    /* value of the account that exceeded its limit, and the limit; valid if
                               suspected */
    double suspected_limit_us;
};

/* Starts the guard with the first move of an epoch. */
void hs_clock_guard_begin(struct hs_clock_guard *guard, const struct hs_timing_move *step);

/* Adds a later move, in order of arrival. A detector that flags this move restarts from this
   move. */
struct hs_clock_verdict hs_clock_guard_step(struct hs_clock_guard *guard,
                                            const struct hs_moves_rules *rules,
                                            const struct hs_timing_move *step);

/* Returns the noise: the mean distance of M below R in the window, in microseconds. Cells without
   any move do not count. 0 until the first measurement. */
int64_t hs_clock_guard_noise(const struct hs_clock_guard *guard);

#endif
