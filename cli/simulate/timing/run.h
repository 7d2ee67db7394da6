/*
 * Many simulated sessions on all cores, and what they add up to. The outcome follows from seed and
 * options alone: how many threads there are changes nothing.
 */
#ifndef HS_SIMULATE_TIMING_RUN_H
#define HS_SIMULATE_TIMING_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "cli/simulate/timing/session.h"

struct hs_timing_run {
    struct hs_moves_rules rules;
    uint64_t seed;
    double hours;  /* of honest play on each profile */
    unsigned runs; /* of each cheat on each profile */
    int profile;   /* enum hs_timing_profile; -1: all */
    unsigned threads;
    /* Called now and then by the thread that runs it, with the share done. NULL: not. */
    void (*progress)(double share);
};

/* What is counted of honest players. */
struct hs_timing_honest {
    double hours;
    uint64_t sessions, flags[HS_DETECTORS], refused;
    double claimed, granted; /* seconds */
};

/* What is counted of a cheat. Delays are of those found. */
struct hs_timing_hunted {
    uint64_t runs, found[HS_DETECTORS];
    double median[HS_DETECTORS], most[HS_DETECTORS];
    uint64_t with_bursts;
};

struct hs_timing_totals {
    struct hs_timing_honest honest[HS_TIMING_PROFILES][HS_TIMING_TELLINGS];
    /* The last row is of all profiles together. */
    struct hs_timing_hunted cheats[HS_TIMING_PROFILES + 1][HS_TIMING_CHEATS][HS_TIMING_TELLINGS];
};

/* 20 hours and 40 runs by the built-in rules. False: out of memory. */
bool hs_timing_run_default(struct hs_timing_run *out);

/* False: out of memory, or no thread could be started. */
bool hs_timing_run_play(const struct hs_timing_run *run, struct hs_timing_totals *out);

/* Events an hour that 95 % of the time would have shown more than were counted. */
double hs_timing_poisson_bound(uint64_t count, double hours);

/* Flags an hour on any one profile that the goal allows, of a judge that is told everything. */
#define HS_TIMING_GOAL_FLAGS 0.02

/* True if the goal is met; else what is missed, a line each. */
bool hs_timing_goal_met(const struct hs_timing_totals *totals, char *missed, size_t size);

void hs_timing_print(const struct hs_timing_run *run, const struct hs_timing_totals *totals,
                     FILE *out);

/* The same as one object; a new reference. */
json_t *hs_timing_json(const struct hs_timing_run *run, const struct hs_timing_totals *totals);

#endif
