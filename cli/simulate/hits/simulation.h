/*
 * Runs many simulated matches and volleys on all cores. The result depends only on the seed and the
 * options, not on the number of threads.
 */
#ifndef HS_SIMULATE_SIMULATION_H
#define HS_SIMULATE_SIMULATION_H

#include <stdio.h>

#include "cli/simulate/command.h"
#include "cli/simulate/hits/score.h"

struct hs_simulation {
    uint64_t seed;
    uint64_t claims;     /* minimum number of honest claims */
    uint64_t bursts;     /* volleys at twice the weapon's rate */
    uint64_t cheats;     /* matches of the cheats and their twins, on each kind of link */
    int link;            /* enum hs_link_kind for all players; -1: mixed */
    double seconds;      /* length of each match */
    double rewind_limit; /* seconds */
    double stamp_error;  /* seconds; standard deviation of hit_time minus drawn time */
    uint64_t threads;    /* 0: one per core */
    hs_simulate_progress *progress; /* may be NULL */
};

/* Returns the defaults of `hindsight simulate hits`. */
struct hs_simulation hs_simulation_default(void);

/* Runs the simulation. Returns false if memory runs out. */
bool hs_simulation_run(const struct hs_simulation *simulation, struct hs_score *out);

/* Prints the tables as text, with up to `examples` examples. */
void hs_simulation_print(const struct hs_simulation *simulation, const struct hs_score *score,
                         uint64_t examples, FILE *out);

/* Returns the tables as one JSON object (new reference). */
json_t *hs_simulation_json(const struct hs_simulation *simulation, const struct hs_score *score);

/* ---- jobs ---- */

/* Runs the job with this number, and adds its results to *score. Several threads can run jobs at
   the same time. Returns false if memory runs out. */

typedef bool hs_simulation_job(const struct hs_simulation *simulation,
                               const struct hs_sim_arena *arena, uint64_t number,
                               struct hs_score *score);

/* Plays a match. The library verifies the shots and the claims. The library also verifies forgeries
   that are made from accepted claims. */
hs_simulation_job hs_trial_run;

/* Plays a volley of 10 s at twice a weapon's rate (burst.c). */
hs_simulation_job hs_burst_run;

/* Plays every cheat and its twin, on the link `number` % HS_LINKS_AND_STEADY (cheating.c). */
hs_simulation_job hs_cheats_run;

/* Returns the seed of a job, which is different for each `number`. */
static inline uint64_t hs_seed_of(uint64_t seed, uint64_t number)
{
    struct hs_dice dice = {seed};
    dice.state = hs_dice_next(&dice) + number * UINT64_C(0xD1342543DE82EF95);
    return hs_dice_next(&dice);
}

#endif
