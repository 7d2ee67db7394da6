/* What simulated cheats do to their clock and to their line. Times are seconds. */
#ifndef HS_SIMULATE_TIMING_CHEATS_H
#define HS_SIMULATE_TIMING_CHEATS_H

#include <stdbool.h>

/* X(id, name): the first HS_CHEAT_STEADY run at a steady rate. */
#define HS_TIMING_CHEAT_LIST(X)                                                                    \
    X(1003, "1.003x")                                                                              \
    X(101, "1.01x")                                                                                \
    X(102, "1.02x")                                                                                \
    X(105, "1.05x")                                                                                \
    X(110, "1.1x")                                                                                 \
    X(150, "1.5x")                                                                                 \
    X(200, "2x")                                                                                   \
    X(JUMPS, "jumps")                                                                              \
    X(PULSES, "pulses")                                                                            \
    X(PAUSE_RUN, "pause-and-run")                                                                  \
    X(FROZEN_ACKS, "frozen-acks")                                                                  \
    X(LAG_SWITCH, "lag-switch")

enum hs_timing_cheat {
#define X(id, name) HS_TIMING_CHEAT_##id,
    HS_TIMING_CHEAT_LIST(X)
#undef X
        HS_TIMING_CHEATS
};

const char *hs_timing_cheat_name(enum hs_timing_cheat cheat);

/* What it is, in a few words. */
const char *hs_timing_cheat_text(enum hs_timing_cheat cheat);

/* What a cheat does in the frame that ends at some time. */
struct hs_timing_trick {
    double rate;      /* of his clock */
    double jump;      /* added to it in this frame */
    bool is_paused;   /* his clock stands, and he sends nothing */
    bool freezes_ack; /* he tells of no newer snapshot */
    double held;      /* his packets wait so much longer */
};

/* `since` his first trick, after a frame of `frame`. */
struct hs_timing_trick hs_timing_cheat_at(enum hs_timing_cheat cheat, double since, double frame);

#endif
