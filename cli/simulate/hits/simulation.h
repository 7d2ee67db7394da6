/*
 * Many simulated matches, and bursts, on all cores. The outcome follows from seed and options
 * alone: how many threads there are changes nothing.
 */
#ifndef HS_SIMULATE_SIMULATION_H
#define HS_SIMULATE_SIMULATION_H

#include <jansson.h>
#include <stdio.h>

#include "cli/simulate/hits/score.h"

struct hs_simulation {
    uint64_t seed;
    uint64_t claims;     /* matches are played until there are so many honest ones */
    uint64_t bursts;     /* at twice the pace */
    int link;            /* enum hs_link_kind of everybody; -1: all kinds */
    double seconds;      /* of play a match */
    double rewind_limit; /* seconds */
    double stamp_error;  /* seconds: deviation of claimed times from what screens showed */
    unsigned threads;    /* at least 1 */
    /* Called now and then by the thread that runs the simulation, with the share done. NULL: not.
     */
    void (*progress)(double share);
};

/* The numbers `hindsight simulate hits` begins with. */
struct hs_simulation hs_simulation_default(void);

/* False: out of memory, or no thread could be started. */
bool hs_simulation_run(const struct hs_simulation *simulation, struct hs_score *out);

/* The tables for people. `examples`: so many single cases that went wrong. */
void hs_simulation_print(const struct hs_simulation *simulation, const struct hs_score *score,
                         unsigned examples, FILE *out);

/* The same as one object; a new reference. */
json_t *hs_simulation_json(const struct hs_simulation *simulation, const struct hs_score *score);

#endif
