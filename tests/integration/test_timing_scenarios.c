/* The acceptance scenarios of move timing that are streams of moves. Each stream is played twice:
   to the library in this process, and to a service over HTTP. HS_TIMING_TABLE=1 prints the measured
   values. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/timing_rows.h"
#include "tests/support/http/service.h"
#include "tests/support/play/timing_runner.h"
#include "tests/support/run_suite.h"

enum { BATCH = 1000, SEEDS = 200, HTTP_SEEDS = 8 };

/* The sessions of scenario 38 (bufferbloat) last 10 minutes each, with alternating rounds. .ci/run
   sets HS_TIMING_HOURS=20, which gives the 100 h of the scenario. */
enum { TURNS = 10, HOURS = 3, SESSIONS_FOR_AN_HOUR = 3 };

#define COMPAT (1u << HS_MOVE_CHECK_TIMING_DISCREPANCY)
#define GUARD  (1u << HS_MOVE_CHECK_FAST_CLOCK_PROVEN | 1u << HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED)

static struct hs_test_service service;

/* ---- a stream ---- */

enum { FLAGS_KEPT = 64 };

/* The results of a stream. */
struct outcome {
    /* times at which flagged moves were sent, in seconds since the start of the stream */
    double compat_s[FLAGS_KEPT];
    int compat_flags, guard_flags;
    double guard_s, proven_s, suspected_s; /* times of the first flags; infinite: no flag */
    double discrepancy_s, most_credit_s, most_delta_s;
    int most_bursts;
};

static void note_flags(struct outcome *outcome, double sent_s, unsigned flags)
{
    if (flags & COMPAT) {
        if (outcome->compat_flags < FLAGS_KEPT)
            outcome->compat_s[outcome->compat_flags] = sent_s;
        outcome->compat_flags++;
    }
    if (flags & 1u << HS_MOVE_CHECK_FAST_CLOCK_PROVEN)
        outcome->proven_s = fmin(outcome->proven_s, sent_s);
    if (flags & 1u << HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED)
        outcome->suspected_s = fmin(outcome->suspected_s, sent_s);
    outcome->guard_flags += (flags & GUARD) != 0;
    outcome->guard_s = fmin(outcome->proven_s, outcome->suspected_s);
}

/* Plays the next moves of a stream, and adds their results. Returns their number. */
static size_t play_batch(struct hs_timing_runner *runner, struct hs_move_stream *play, size_t most,
                         struct outcome *outcome)
{
    static struct hs_clock_item items[BATCH];
    static struct hs_move moves[BATCH];
    static struct hs_timing_seen seen[BATCH];
    size_t count = hs_move_stream_fill(play, items, most);
    for (size_t i = 0; i < count; i++)
        moves[i] = items[i].move;
    hs_timing_runner_judge(runner, moves, count, seen);
    for (size_t i = 0; i < count; i++) {
        note_flags(outcome, (double)items[i].sent_us / 1e6, seen[i].flags);
        outcome->most_credit_s = fmax(outcome->most_credit_s, seen[i].credit_s);
        outcome->most_delta_s = fmax(outcome->most_delta_s, seen[i].delta_s);
        outcome->discrepancy_s = seen[i].discrepancy_s;
    }
    return count;
}

/* Plays the stream to its end, or until both checks have flagged it. */
static void play_stream(unsigned port, double drift, const struct hs_clock_options *options,
                        bool until_found, struct outcome *outcome)
{
    struct hs_move_stream play;
    struct hs_timing_told told;
    struct hs_timing_runner *runner =
        hs_timing_runner_open(port, &(struct hs_timing_rules){.drift = drift});
    *outcome = (struct outcome){.guard_s = HUGE_VAL, .proven_s = HUGE_VAL, .suspected_s = HUGE_VAL};
    hs_move_stream_start(&play, options);
    while (play_batch(runner, &play, until_found ? BATCH / 4 : BATCH, outcome) > 0) {
        hs_timing_runner_ask(runner, &told);
        if (told.bursts_per_minute > outcome->most_bursts)
            outcome->most_bursts = told.bursts_per_minute;
        if (until_found && outcome->compat_flags > 0 && isfinite(outcome->guard_s))
            break;
    }
    hs_timing_runner_close(runner);
}

/* ---- rows ---- */

static double move_s(const struct hs_clock_options *options)
{
    return 1 / (options->rate_hz > 0 ? options->rate_hz : 60);
}

static void expect_compat(const struct hs_timing_row *row, const struct outcome *outcome,
                          double origin_s)
{
    double slack = move_s(&row->play) + (row->rounding_s > 0 ? row->rounding_s : 0.005);
    double first_s = outcome->compat_s[0] - origin_s;
    if (row->compat_s == HS_TIMING_NEVER)
        ck_assert_msg(outcome->compat_flags == 0,
                      "scenario %d (%s): %d flags of the compatible check, the first after %.3f s",
                      row->number, row->name, outcome->compat_flags, first_s);
    if (row->compat_s == HS_TIMING_UNKNOWN)
        ck_assert_msg(outcome->compat_flags > 0 && first_s >= 0,
                      "scenario %d (%s): the compatible check flags after %.3f s", row->number,
                      row->name, first_s);
    if (row->compat_s >= 0)
        ck_assert_msg(outcome->compat_flags > 0 && fabs(first_s - row->compat_s) <= slack,
                      "scenario %d (%s): the compatible check flags after %.4f s, not %.4f",
                      row->number, row->name, first_s, row->compat_s);
    if (row->compat_every_s > 0)
        for (int i = 1; i < outcome->compat_flags && i < FLAGS_KEPT; i++)
            ck_assert_msg(
                fabs(outcome->compat_s[i] - outcome->compat_s[i - 1] - row->compat_every_s) <= 1,
                "scenario %d (%s): flags at %.3f and %.3f s", row->number, row->name,
                outcome->compat_s[i - 1], outcome->compat_s[i]);
}

static void expect_guard(const struct hs_timing_row *row, const struct outcome *outcome,
                         double origin_s)
{
    double first_s = outcome->guard_s - origin_s;
    if (row->guard_s == HS_TIMING_NEVER)
        ck_assert_msg(outcome->guard_flags == 0,
                      "scenario %d (%s): %d flags of the default check, the first after %.3f s",
                      row->number, row->name, outcome->guard_flags, first_s);
    if (row->guard_s >= 0)
        ck_assert_msg(first_s >= 0 && first_s <= row->guard_s,
                      "scenario %d (%s): the default check flags after %.3f s, not within %.3f",
                      row->number, row->name, first_s, row->guard_s);
}

static void print_row(const struct hs_timing_row *row, bool is_http, const struct outcome *outcome)
{
    double origin_s = (double)row->origin_us / 1e6;
    if (getenv("HS_TIMING_TABLE") == NULL)
        return;
    printf("| %d | %s | %s | %.3f s, %d flags, discrepancy %.3f | proven %.3f, suspected %.3f, %d "
           "flags | bursts %d, credit %.3f |\n",
           row->number, row->name, is_http ? "http" : "library",
           outcome->compat_flags > 0 ? outcome->compat_s[0] - origin_s : -1, outcome->compat_flags,
           outcome->discrepancy_s, outcome->proven_s - origin_s, outcome->suspected_s - origin_s,
           outcome->guard_flags, outcome->most_bursts, outcome->most_credit_s);
    fflush(stdout);
}

START_TEST(streams_end_as_they_should)
{
    const struct hs_timing_row *row = &hs_timing_rows[_i % hs_timing_row_count];
    bool is_http = _i >= hs_timing_row_count, is_cut = is_http && row->http_us > 0;
    double origin_s = (double)row->origin_us / 1e6;
    struct hs_clock_options options = row->play;
    struct outcome outcome;
    if (is_cut)
        options.length_us = row->http_us;
    play_stream(is_http ? service.data_port : 0, row->drift, &options, false, &outcome);
    print_row(row, is_http, &outcome);
    expect_compat(row, &outcome, origin_s);
    expect_guard(row, &outcome, origin_s);
    if (row->compat_flags > 0 && !is_cut)
        ck_assert_int_eq(outcome.compat_flags, row->compat_flags);
    if (row->has_discrepancy)
        ck_assert_double_eq_tol(outcome.discrepancy_s, row->discrepancy_s, 0.0005);
    ck_assert_int_ge(outcome.most_bursts, row->bursts);
    ck_assert_double_le(outcome.most_credit_s, 0.35);
    ck_assert_double_le(outcome.most_delta_s, 0.125);
}
END_TEST

/* ---- statistics ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void expect_near(const struct hs_timing_spread *spread, const char *what, double got,
                        double expected, double share)
{
    ck_assert_msg(fabs(got - expected) <= share * expected + spread->rounding_s,
                  "scenario %d (%s): %s %.4f s, not %.4f", spread->number, spread->name, what, got,
                  expected);
}

static void play_seed(const struct hs_timing_spread *spread, unsigned port, int i,
                      struct outcome *outcome)
{
    struct hs_clock_options options = spread->play;
    options.seed = 1000 * (uint64_t)spread->number + (uint64_t)i;
    play_stream(port, spread->drift, &options, true, outcome);
    ck_assert_int_gt(outcome->compat_flags, 0);
}

START_TEST(jitter_shifts_flags_as_it_should)
{
    const struct hs_timing_spread *spread = &hs_timing_spreads[_i];
    double compat_s[SEEDS], guard_s[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        struct outcome outcome;
        play_seed(spread, 0, i, &outcome);
        compat_s[i] = outcome.compat_s[0];
        guard_s[i] = outcome.guard_s;
    }
    qsort(compat_s, SEEDS, sizeof *compat_s, compare);
    qsort(guard_s, SEEDS, sizeof *guard_s, compare);
    double median_s = (compat_s[SEEDS / 2 - 1] + compat_s[SEEDS / 2]) / 2;
    if (getenv("HS_TIMING_TABLE") != NULL)
        printf("| %d | %s | %.3f / %.3f / %.3f | %.3f / %.3f / %.3f |\n", spread->number,
               spread->name, compat_s[0], median_s, compat_s[SEEDS - 1], guard_s[0],
               guard_s[SEEDS / 2], guard_s[SEEDS - 1]);
    fflush(stdout);
    expect_near(spread, "least", compat_s[0], spread->least_s, 0.1);
    expect_near(spread, "median", median_s, spread->median_s, 0.02);
    expect_near(spread, "most", compat_s[SEEDS - 1], spread->most_s, 0.1);
    ck_assert_msg(guard_s[SEEDS / 2] <= spread->guard_median_s,
                  "scenario %d (%s): the default check's median is %.3f s", spread->number,
                  spread->name, guard_s[SEEDS / 2]);
}
END_TEST

/* The statistics get the same data over HTTP, so the test collects it only once. */
START_TEST(jitter_is_the_same_over_http)
{
    const struct hs_timing_spread *spread = &hs_timing_spreads[_i];
    long seeds = hs_test_count("HS_HTTP_SEEDS", HTTP_SEEDS);
    for (int i = 0; i < seeds; i++) {
        struct outcome here, there;
        play_seed(spread, 0, i, &here);
        play_seed(spread, service.data_port, i, &there);
        ck_assert_double_eq(here.compat_s[0], there.compat_s[0]);
        ck_assert_double_eq(here.guard_s, there.guard_s);
        ck_assert_double_eq(here.discrepancy_s, there.discrepancy_s);
    }
}
END_TEST

START_TEST(bufferbloat_is_no_offence)
{
    const struct hs_timing_row *row = hs_timing_rows;
    long sessions = hs_test_count("HS_TIMING_HOURS", HOURS) * SESSIONS_FOR_AN_HOUR, flagged = 0;
    double first_s = HUGE_VAL;
    while (row->number != 38)
        row++;
    for (long i = 0; i < sessions; i++) {
        struct hs_clock_options options = row->play;
        struct outcome outcome;
        options.seed = 3800 + (uint64_t)(sessions * _i + i);
        play_stream(0, 0, &options, false, &outcome);
        flagged += outcome.guard_flags > 0;
        first_s = fmin(first_s, outcome.guard_s);
    }
    ck_assert_msg(flagged == 0, "%ld of %ld sessions are flagged, one after %.3f s", flagged,
                  sessions, first_s);
}
END_TEST

static int run_suite(void)
{
    Suite *suite = suite_create("timing_scenarios");
    TCase *tcase = tcase_create("timing_scenarios");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, streams_end_as_they_should, 0, 2 * hs_timing_row_count);
    tcase_add_loop_test(tcase, jitter_shifts_flags_as_it_should, 0, hs_timing_spread_count);
    tcase_add_loop_test(tcase, jitter_is_the_same_over_http, 0, hs_timing_spread_count);
    tcase_add_loop_test(tcase, bufferbloat_is_no_offence, 0, TURNS);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return EXIT_FAILURE;
    int failed = run_suite();
    return hs_test_service_stop(&service) && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
