#include "cli/simulate/timing/cheats.h"

#include <math.h>

#define STEADY "a clock that is fast all the time"

const struct hs_timing_cheat_cycle hs_timing_cheats[HS_TIMING_CHEATS] = {
    /* name, text, length, frozen, paused, fast, rate, jump, held */
    {"1.003x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.003, 0, 0},
    {"1.01x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.01, 0, 0},
    {"1.02x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.02, 0, 0},
    {"1.05x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.05, 0, 0},
    {"1.1x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.1, 0, 0},
    {"1.5x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 1.5, 0, 0},
    {"2x", STEADY, HUGE_VAL, 0, 0, HUGE_VAL, 2, 0, 0},
    {"jumps", "+0.2 s every 5 s", 5, 0, 0, 0, 0, 0.2, 0},
    {"pulses", "1.3x for 1 s every 10 s", 10, 0, 0, 1, 1.3, 0, 0},
    {"pause-and-run", "2 s of pause, 2 s of 2x, every 20 s", 20, 0, 2, 4, 2, 0, 0},
    {"frozen-acks", "8 s of old acks, 8 s of pause, 8 s of 2x", HUGE_VAL, 8, 16, 24, 2, 0, 0},
    {"lag-switch", "packets held for 0.4 s every 10 s", 10, 0, 0, 0, 0, 0, 0.4},
};

struct hs_timing_trick hs_timing_cheat_at(enum hs_timing_cheat cheat, double since, double frame)
{
    const struct hs_timing_cheat_cycle *cycle = &hs_timing_cheats[cheat];
    struct hs_timing_trick trick = {.rate = 1};
    double at = isfinite(cycle->length) ? fmod(since, cycle->length) : since;
    if (at < frame)
        trick.jump = cycle->jump;
    if (at < cycle->held)
        trick.held = cycle->held - at;
    if (at < cycle->frozen)
        trick.freezes_ack = true;
    else if (at < cycle->paused)
        trick.is_paused = true;
    else if (at < cycle->fast)
        trick.rate = cycle->rate;
    return trick;
}
