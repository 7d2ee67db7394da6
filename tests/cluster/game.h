/*
 * Matches that are played on a cluster and, with the same requests, on a single replica that keeps
 * everything in memory. Each match has the squad of kill_squad.h, which posts frames, shots and
 * hits, and two players who post moves: one with an honest clock and one with a fast clock. A
 * follower checks every answer: no shot is paid twice, a repeated shot gets its first answer,
 * verdicts equal those of the single replica, and used credit stays used. The clients follow the
 * rules of docs/balancer.md.
 */
#ifndef HS_TESTS_CLUSTER_GAME_H
#define HS_TESTS_CLUSTER_GAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/play/follower.h"

/* X(field, text): faults of the cluster that the follower does not count. */
#define HS_CLUSTER_FAULTS(X)                                                                       \
    X(differs, "verdicts other than those of one replica")                                         \
    X(outside, "inconclusive later than one window after a move of the match")                     \
    X(credit, "moves with credit that had been used before")                                       \
    X(moves, "honest moves refused")                                                               \
    X(failed, "requests that failed although nothing was out of order")

/* X(field, text): totals. */
#define HS_CLUSTER_TOTALS(X)                                                                       \
    X(ticks, "ticks")                                                                              \
    X(moved, "answers 409 match_moved")                                                            \
    X(unknown, "answers 404 unknown_match")                                                        \
    X(repeated, "requests sent again after another failure")                                       \
    X(windows, "windows after a move of a match")                                                  \
    X(excused, "verdicts inconclusive in such a window")                                           \
    X(not_durable, "answers that were not durable")                                                \
    X(refused, "items refused at their first answer")

enum hs_cluster_phase { HS_PHASE_BEFORE, HS_PHASE_FAULT, HS_PHASE_AFTER };

/*
 * Latency of ticks in one phase, without ticks that were sent again: the median and the highest p99
 * of all windows of HS_CLUSTER_WINDOW_MS. When other programs use the processors for a moment, the
 * median stays the same. When all requests of a moment wait, only the highest shows it. Without
 * ticks both are 0.
 */
struct hs_cluster_latency {
    enum hs_cluster_phase phase;
    struct {
        double p99_us, highest_us;
    } of[2]; /* the cluster; the single replica, which gets the same ticks */
};

enum { HS_CLUSTER_WINDOW_MS = 250 };

enum { HS_CLUSTER_PHASES_MAX = 96 };

struct hs_cluster_counts {
    struct hs_follow_counts follow;
#define X(field, text) long field;
    HS_CLUSTER_FAULTS(X)
    HS_CLUSTER_TOTALS(X)
#undef X
    int windows_max; /* of one match */
    int phase_count;
    struct hs_cluster_latency phases[HS_CLUSTER_PHASES_MAX]; /* in the order of time */
};

struct hs_cluster_game_options {
    uint64_t seed;
    const char *name; /* prefix of the names of the matches */
    int matches;
    double rate; /* ticks per second of each match */
    /* Port of the balancer. If `other_port` is not 0, each tick is sent to both ports at the same
       time, and the matches have no single owner. */
    unsigned port, other_port;
    unsigned reference_port;
};

struct hs_cluster_game;

/* Opens the matches and begins to play. */
struct hs_cluster_game *hs_cluster_game_start(const struct hs_cluster_game_options *options);

/* Begins a phase, up to HS_CLUSTER_PHASES_MAX. The first one is HS_PHASE_BEFORE. While `breaks` is
   true, requests may fail, and the game repeats them. Thread-safe. */
void hs_cluster_game_phase(struct hs_cluster_game *game, enum hs_cluster_phase phase, bool breaks);

/* Stops playing, sends every paid item of the present sessions once more, and frees the game. */
void hs_cluster_game_finish(struct hs_cluster_game *game, struct hs_cluster_counts *counts);

/* Prints all counts, and returns the sum of the faults. */
long hs_cluster_counts_print(const struct hs_cluster_counts *counts);

#endif
