/*
 * Judges streams of moves in one of two places: a match in this process, or a match of a service,
 * where they go in the compact form. What comes back is the same, so that one test runs in both.
 *
 * Anything that must not happen (no memory, a refused request) ends the test through Check.
 */
#ifndef HS_TESTS_TIMING_RUNNER_H
#define HS_TESTS_TIMING_RUNNER_H

#include "validators/moves.h"

/* The rules of a match that streams differ in; the rest is as built in. */
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

/* A match of its own, of the service that listens there; `port` 0: in this process. */
struct hs_timing_runner *hs_timing_runner_open(unsigned port, const struct hs_timing_rules *rules);
void hs_timing_runner_close(struct hs_timing_runner *runner);

/* The moves are the player "P"'s. Over HTTP all of them are one request. */
void hs_timing_runner_judge(struct hs_timing_runner *runner, const struct hs_move *moves,
                            size_t count, struct hs_timing_seen *seen);

/* Equal to the last bit. */
bool hs_timing_seen_equal(const struct hs_timing_seen *a, const struct hs_timing_seen *b);

/* Posts a body as it stands; the status. Over HTTP only. */
long hs_timing_runner_post(struct hs_timing_runner *runner, const char *body);

void hs_timing_runner_ask(struct hs_timing_runner *runner, struct hs_timing_told *told);

#endif
