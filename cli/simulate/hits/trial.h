/*
 * A skirmish whose shots and claims the judging library verifies and a score counts, with forgeries
 * of what it accepts. Everything follows from the seed.
 */
#ifndef HS_SIMULATE_TRIAL_H
#define HS_SIMULATE_TRIAL_H

#include "cli/simulate/hits/score.h"

struct hs_trial {
    const struct hs_sim_arena *arena;
    uint64_t seed;      /* of all trials */
    uint64_t number;    /* of this one: it also decides how the game server works */
    int link;           /* enum hs_link_kind of everybody; -1: two of each */
    double seconds;     /* of play */
    double stamp_error; /* seconds; see struct hs_game */
};

/* Adds to *score. Many threads can run trials at once. False: out of memory. */
bool hs_trial_run(const struct hs_trial *trial, struct hs_score *score);

/*
 * One burst of 10 s at twice the pace of a weapon over a link of that kind; see burst.c.
 * `number` chooses the way it is fired. False: out of memory.
 */
bool hs_burst_play(const struct hs_sim_arena *arena, uint64_t seed, uint64_t number,
                   enum hs_link_kind link, struct hs_score *score);

/* A seed of its own for each of many things that follow from one. */
static inline uint64_t hs_seed_of(uint64_t seed, uint64_t number)
{
    struct hs_dice dice = {seed};
    dice.state = hs_dice_next(&dice) + number * UINT64_C(0xD1342543DE82EF95);
    return hs_dice_next(&dice);
}

#endif
