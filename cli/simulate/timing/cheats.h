/* How simulated cheats manipulate their clock and their packets. Times are seconds. */
#ifndef HS_SIMULATE_TIMING_CHEATS_H
#define HS_SIMULATE_TIMING_CHEATS_H

#include <stdbool.h>

enum hs_timing_cheat {
    HS_TIMING_CHEAT_1003, /* the first seven: clocks with a constant rate, from 1.003 to 2 */
    HS_TIMING_CHEAT_101,
    HS_TIMING_CHEAT_102,
    HS_TIMING_CHEAT_105,
    HS_TIMING_CHEAT_110,
    HS_TIMING_CHEAT_150,
    HS_TIMING_CHEAT_200,
    HS_TIMING_CHEAT_JUMPS,
    HS_TIMING_CHEAT_PULSES,
    HS_TIMING_CHEAT_PAUSE_RUN,
    HS_TIMING_CHEAT_FROZEN_ACKS,
    HS_TIMING_CHEAT_LAG_SWITCH,
    HS_TIMING_CHEATS
};

/* The cycle that a cheat repeats. In each cycle, the client first sends old acks, then pauses, and
   then has a fast clock. After that, the client plays honestly until the cycle ends. */
struct hs_timing_cheat_cycle {
    const char *name, *text;
    double length;
    double frozen, paused, fast; /* the end of each part, in seconds from the start of the cycle */
    double rate;                 /* rate of the fast clock */
    double jump;                 /* seconds added to the clock at the start of the cycle */
    /* The cheat holds all packets for this many seconds from the start of the cycle, and then sends
       them together. */
    double held;
};

extern const struct hs_timing_cheat_cycle hs_timing_cheats[HS_TIMING_CHEATS];

/* What a cheat does in one frame. */
struct hs_timing_trick {
    double rate;      /* the clock's rate */
    double jump;      /* seconds added to the clock in this frame */
    bool is_paused;   /* the client's clock stops, and the client sends no packet */
    bool freezes_ack; /* the client acknowledges no newer snapshot */
    double held;      /* seconds by which the packet is delayed */
};

/* Returns what the cheat does in the frame that ends `since` seconds after the start of cheating.
   `frame` is the length of the frame. */
struct hs_timing_trick hs_timing_cheat_at(enum hs_timing_cheat cheat, double since, double frame);

#endif
