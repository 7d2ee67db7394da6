/*
 * Checks streams of moves in one of two places: a match in this process, or a match of a service,
 * which receives the compact form. The results are the same, so one test runs in both places.
 *
 * If a call fails that should not (out of memory, a refused request), Check ends the test.
 */
#ifndef HS_TESTS_TIMING_RUNNER_H
#define HS_TESTS_TIMING_RUNNER_H

#include "validators/moves.h"

/* The ruleset fields in which the streams' matches differ; all others have their defaults. */
struct hs_timing_rules {
    double drift;
    bool resolution; /* `prevention` */
};

/* The answer to one move. */
struct hs_timing_seen {
    enum hs_move_reason reason;
    unsigned flags; /* bits of enum hs_move_check */
    double delta_s, discrepancy_s, credit_s, speed;
    bool force_update, replayed, is_resolving;
};

/* The timing of the player. */
struct hs_timing_told {
    int bursts_per_minute;
    double credit_s, discrepancy_s, speed;
    unsigned long reasons[HS_MOVE_REASON_COUNT];
};

struct hs_timing_runner;

/* Opens a match of the service at `port`. 0: opens a match in this process. */
struct hs_timing_runner *hs_timing_runner_open(unsigned port, const struct hs_timing_rules *rules);
void hs_timing_runner_close(struct hs_timing_runner *runner);

/* Checks moves. They belong to the player "P". Over HTTP all of them are in one request. */
void hs_timing_runner_judge(struct hs_timing_runner *runner, const struct hs_move *moves,
                            size_t count, struct hs_timing_seen *seen);

/* Returns whether both are equal to the last bit. */
bool hs_timing_seen_equal(const struct hs_timing_seen *a, const struct hs_timing_seen *b);

/* Posts a body unchanged, and returns the status. Only for a match of a service. */
long hs_timing_runner_post(struct hs_timing_runner *runner, const char *body);

void hs_timing_runner_ask(struct hs_timing_runner *runner, struct hs_timing_told *told);

#endif
