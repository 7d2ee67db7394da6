/*
 * Plays many simulated sessions on all cores, and adds up their results. The totals depend only on
 * the seed and the options, not on the number of threads.
 */
#ifndef HS_SIMULATE_TIMING_RUN_H
#define HS_SIMULATE_TIMING_RUN_H

#include <stdio.h>

#include "cli/simulate/command.h"
#include "cli/simulate/timing/session.h"

struct hs_timing_run {
    struct hs_moves_rules rules;
    uint64_t seed;
    double hours;                   /* hours of honest play on each profile */
    uint64_t runs;                  /* sessions of each cheat on each profile */
    int profile;                    /* enum hs_timing_profile; -1: all */
    uint64_t threads;               /* 0: one per core */
    hs_simulate_progress *progress; /* may be NULL */
};

/* Totals for honest players. */
struct hs_timing_honest {
    double hours;
    uint64_t sessions, flags[HS_DETECTORS], refused;
    double claimed, granted; /* seconds */
};

/* Totals for a cheat. The median and the maximum delay count only runs in which the cheat was
   found. */
struct hs_timing_cheating {
    uint64_t runs, found[HS_DETECTORS];
    double median[HS_DETECTORS], max[HS_DETECTORS];
    uint64_t with_bursts;
};

struct hs_timing_totals {
    struct hs_timing_honest honest[HS_TIMING_PROFILES][HS_TIMING_INPUTS];
    /* the last row contains the totals for all profiles */
    struct hs_timing_cheating cheats[HS_TIMING_PROFILES + 1][HS_TIMING_CHEATS][HS_TIMING_INPUTS];
};

/* Sets the default run: 20 hours, 40 runs, the built-in rules. Returns false if memory runs out. */
bool hs_timing_run_default(struct hs_timing_run *out);

/* Plays the run. Returns false if memory runs out. */
bool hs_timing_run_play(const struct hs_timing_run *run, struct hs_timing_totals *out);

/* Returns the upper 95 % bound for the rate (events per hour), given `count` events in `hours`. */
double hs_timing_poisson_bound(uint64_t count, double hours);

/* The default detector may raise at most this many flags per hour of honest play, on MOBILE and on
   BAD. */
#define HS_TIMING_GOAL_FLAGS 0.02

/* Returns whether the goal is met. For each part of the goal that is missed, writes one line to
   `missed`. */
bool hs_timing_goal_met(const struct hs_timing_totals *totals, char *missed, size_t size);

void hs_timing_print(const struct hs_timing_run *run, const struct hs_timing_totals *totals,
                     FILE *out);

/* Returns the totals as one JSON object (new reference). */
json_t *hs_timing_json(const struct hs_timing_run *run, const struct hs_timing_totals *totals);

/* Sets a number in the `moves` rules, for example "lead_guard.threshold=0.2". Returns false if
   there is no such number, or if the value is out of range. */
bool hs_timing_dial_set(struct hs_moves_rules *rules, const char *text);

/* Plays the run once with the given rules. Then plays it twice for each number in the rules of the
   timing checks: once with half and once with double the value. Simulates the same players in each
   run, and prints one line for each run. Returns false if memory runs out. */
bool hs_timing_sensitivity(const struct hs_timing_run *run, FILE *out);

#endif
