#include "cli/simulate/timing/cheats.h"

#include <math.h>

static const char steady[] = "a clock that is fast all the time";

/* A cycle: acks frozen, then a pause, then fast for a while, then honest. */
static const struct {
    const char *name, *text;
    double cycle;
    double frozen, paused, fast; /* end of each part of it */
    double rate;                 /* while fast */
    double jump;                 /* at the beginning of the cycle */
    double held;                 /* all packets of the first so many seconds of it leave then */
} cheats[HS_TIMING_CHEATS] = {
    [HS_TIMING_CHEAT_1003] =
        {.name = "1.003x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.003},
    [HS_TIMING_CHEAT_101] =
        {.name = "1.01x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.01},
    [HS_TIMING_CHEAT_102] =
        {.name = "1.02x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.02},
    [HS_TIMING_CHEAT_105] =
        {.name = "1.05x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.05},
    [HS_TIMING_CHEAT_110] =
        {.name = "1.1x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.1},
    [HS_TIMING_CHEAT_150] =
        {.name = "1.5x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 1.5},
    [HS_TIMING_CHEAT_200] =
        {.name = "2x", .text = steady, .cycle = HUGE_VAL, .fast = HUGE_VAL, .rate = 2},
    [HS_TIMING_CHEAT_JUMPS] = {.name = "jumps", .text = "+0.2 s each 5 s", .cycle = 5, .jump = 0.2},
    [HS_TIMING_CHEAT_PULSES] =
        {.name = "pulses", .text = "1.3x for 1 s each 10 s", .cycle = 10, .fast = 1, .rate = 1.3},
    [HS_TIMING_CHEAT_PAUSE_RUN] = {.name = "pause-and-run",
                                   .text = "2 s of pause, 2 s of 2x, each 20 s",
                                   .cycle = 20,
                                   .paused = 2,
                                   .fast = 4,
                                   .rate = 2},
    [HS_TIMING_CHEAT_FROZEN_ACKS] = {.name = "frozen-acks",
                                     .text = "8 s of old acks, 8 s of pause, 8 s of 2x",
                                     .cycle = HUGE_VAL,
                                     .frozen = 8,
                                     .paused = 16,
                                     .fast = 24,
                                     .rate = 2},
    [HS_TIMING_CHEAT_LAG_SWITCH] = {.name = "lag-switch",
                                    .text = "packets held for 0.4 s each 10 s",
                                    .cycle = 10,
                                    .held = 0.4},
};

const char *hs_timing_cheat_name(enum hs_timing_cheat cheat)
{
    return cheats[cheat].name;
}

const char *hs_timing_cheat_text(enum hs_timing_cheat cheat)
{
    return cheats[cheat].text;
}

struct hs_timing_trick hs_timing_cheat_at(enum hs_timing_cheat cheat, double since, double frame)
{
    struct hs_timing_trick trick = {.rate = 1};
    bool repeats = isfinite(cheats[cheat].cycle);
    double at = repeats ? fmod(since, cheats[cheat].cycle) : since;
    if (at < frame)
        trick.jump = cheats[cheat].jump;
    if (at < cheats[cheat].held)
        trick.held = cheats[cheat].held - at;
    if (at < cheats[cheat].frozen)
        trick.freezes_ack = true;
    else if (at < cheats[cheat].paused)
        trick.is_paused = true;
    else if (at < cheats[cheat].fast)
        trick.rate = cheats[cheat].rate;
    return trick;
}
