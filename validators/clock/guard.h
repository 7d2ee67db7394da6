/*
 * The default timing judge: is the player's clock fast? Internal to validators/.
 *
 * With c the client's time of a move and a its arrival at the server, x = c - a is the offset of
 * the two clocks less the delay on the way. Two detectors look at it; one proves, one suspects.
 *
 * AckBound. A move made after the client had seen a snapshot cannot be older than that snapshot.
 * With k the send time of the newest snapshot seen by the packet before, c - k is at least the
 * offset. Its smallest value Y, aged upwards by what an honest crystal may be off, bounds x from
 * above: delay, loss and bursts only ever lower x, so no honest clock passes the bound.
 *
 * LeadGuard. M is the largest x of a block of time (of the moves with the least delay), R the
 * largest of the window before. What M rises above R, clipped so that a change of route counts
 * little, gathers in an account that leaks; a fast clock fills it faster than it leaks. A second
 * account, not clipped, catches jumps. (Cumulative sums: Page, Continuous inspection schemes,
 * Biometrika 41, 1954.) How far M mostly is below R is the noise of the line, and raises what the
 * accounts may hold. Where there are acks, the smallest c - k of a block must have risen, too: a
 * line that got better raises M alone. And when c - k falls with no shorter round trip, the clock
 * stood, and R falls with it; how far is seen better in the blocks that follow, and they correct
 * it. A third account holds what a clock makes up after a silence with moves that were made, by
 * their own stamps, after it, and that still tell of no newer snapshot.
 *
 * The state is of fixed size and holds differences only: the same moves shifted in time give the
 * same bits, after a minute and after a month. Times are microseconds.
 */
#ifndef HS_CLOCK_GUARD_H
#define HS_CLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"

/* The last minute, in cells of HS_LEAD_CELL_US: the window of the reference is some of them, the
   estimate of speed looks at all. */
enum { HS_LEAD_CELLS = 12 };

#define HS_LEAD_CELL_US INT64_C(5000000)

/* What is known of a guard's acks; a bit each, as they are saved. */
enum hs_guard_known { HS_GUARD_BOUND = 1, HS_GUARD_ACK = 2, HS_GUARD_ARRIVING_ACK = 4 };

struct hs_clock_guard {
    int64_t base_us;     /* x of the first move, taken off every lead below */
    int64_t received_us; /* newest arrival */
    int64_t shift_us;    /* announced dilation: server time ran so much further */
    int64_t change_us;   /* arrival of the move that announced the last dilation */
    double dilation;

    /* AckBound. */
    double bound_us;         /* Y */
    int64_t ack_us;          /* newest seen by the packets before this one */
    int64_t arriving_ack_us; /* newest seen by this packet, too */

    /* LeadGuard. */
    int64_t block_from_us;        /* when the block that is being filled began */
    int32_t cell_so_far_us;       /* and how long before it the cell did */
    float gathered_us, jumped_us; /* the two accounts */
    /* The third: what was made up; negative: client time that was before the silence ended. */
    int32_t made_up_us;
    float noise_us;                         /* how far M is below R, in the mean of the window */
    int32_t highest_us, highest_before_us;  /* M so far, and of the block before */
    int32_t reference_us;                   /* R */
    int32_t cell_highest_us[HS_LEAD_CELLS]; /* INT32_MIN: nothing arrived */

    /* What acks say of the same: the clock is not ahead by more. */
    int32_t lowest_us, lowest_before_us;    /* c - k of this block, and of the last */
    int32_t lowest_trip_us, trip_before_us; /* a - k there */
    int32_t ceilings_us[2],
        round_trips_us[2]; /* smallest of this half of the window and the last */
    float speed;           /* of the client's clock; 1 is honest */

    uint8_t cell_noise[HS_LEAD_CELLS]; /* noise of whole cells, in units of 2 ms */
    uint16_t cell_below;               /* of this cell: the sum, in the same units, ... */
    uint8_t cell_below_count;          /* ... and of how many blocks */
    uint8_t cell;                      /* that is being filled */
    uint8_t half_cells;                /* filled since the halves changed places */
    uint8_t settling;                  /* blocks until R is corrected after a pause */
    uint8_t settling_cell;             /* the first after the pause */
    uint8_t known;                     /* set of enum hs_guard_known */
};

/* One move as the guard sees it. */
struct hs_clock_step {
    int64_t client_us; /* unwrapped: resets of the client's clock are taken out */
    int64_t received_us;
    int64_t ack_us; /* with has_ack */
    bool has_ack;
    double dilation; /* announced by the server from this move on */
};

struct hs_clock_verdict {
    bool proven, suspected; /* raised on this move */
    double proven_by_us;    /* how far beyond what acks allow the clock was; with proven */
    double suspected_us;    /* the account that was full, and when it is; with suspected */
    double suspected_limit_us;
};

/* Binds the guard to the first move of an epoch. */
void hs_clock_guard_begin(struct hs_clock_guard *guard, const struct hs_clock_step *step);

/* A later move, in order of arrival. After a flag its detector starts again from there. */
struct hs_clock_verdict hs_clock_guard_step(struct hs_clock_guard *guard,
                                            const struct hs_moves_rules *rules,
                                            const struct hs_clock_step *step);

#endif
