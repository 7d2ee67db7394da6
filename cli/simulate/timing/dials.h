/* The dials of the `moves` part of a ruleset, by name, and what turning them changes. */
#ifndef HS_SIMULATE_TIMING_DIALS_H
#define HS_SIMULATE_TIMING_DIALS_H

#include "cli/simulate/timing/run.h"

/* "lead_guard.threshold=0.2". False: no such dial, or out of its range. */
bool hs_timing_dial_set(struct hs_moves_rules *rules, const char *text);

/*
 * Plays the run as it is, and again with half and with double of each dial of both judges, always
 * with the same players; a line each as soon as it is known. False: out of memory.
 */
bool hs_timing_sensitivity(const struct hs_timing_run *run, FILE *out);

#endif
