/*
 * Made-up players over bad networks, judged by their move timestamps: honest clocks are let alone,
 * fast ones are found in time. HS_TIMING_HOURS: of honest play on each profile.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/simulate/simulate.h"
#include "service/simulate/timing_run.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED 20260402

static struct hs_timing_run run;
static struct hs_timing_totals totals, again;

static void set_up(void)
{
    ck_assert(hs_timing_run_default(&run));
    run.seed = hs_test_seed(DEFAULT_SEED);
}

START_TEST(the_goal_is_met)
{
    char missed[2048];
    run.hours = (double)hs_test_count("HS_TIMING_HOURS", 20);
    run.runs = 20;
    ck_assert(hs_timing_run_play(&run, &totals));
    bool met = hs_timing_goal_met(&totals, missed, sizeof missed);
    if (!met)
        hs_timing_print(&run, &totals, stdout);
    ck_assert_msg(met, "%s", missed);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        const struct hs_timing_honest *honest = &totals.honest[profile][HS_TIMING_ACKS];
        ck_assert_double_ge(honest->hours, run.hours);
        /* Nobody is proven anything he did not do. */
        ck_assert_uint_eq(honest->flags[HS_DETECTOR_PROVEN], 0);
        /* An honest clock is always understood. */
        ck_assert_uint_eq(honest->refused, 0);
        for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
            ck_assert_uint_eq(totals.cheats[profile][cheat][HS_TIMING_ACKS].runs, run.runs);
    }
    /* What the compatible judge is known for: the lines are as bad as they should be. */
    const struct hs_timing_honest *bad = &totals.honest[HS_TIMING_BAD][HS_TIMING_ACKS];
    ck_assert_double_ge((double)bad->flags[HS_DETECTOR_DISCREPANCY] / bad->hours, 100);
}
END_TEST

/* What cannot be told from bad luck is not guessed at, but counted. */
START_TEST(held_packets_are_bursts)
{
    run.hours = 0;
    run.runs = 10;
    ck_assert(hs_timing_run_play(&run, &totals));
    const struct hs_timing_hunted *held =
        &totals.cheats[HS_TIMING_PROFILES][HS_TIMING_CHEAT_LAG_SWITCH][HS_TIMING_ACKS];
    ck_assert_uint_eq(held->with_bursts, held->runs);
    ck_assert_uint_eq(held->found[HS_DETECTOR_PROVEN], 0);
}
END_TEST

/* A judge that sleeps would be noticed. */
START_TEST(the_goal_can_be_missed)
{
    char missed[2048];
    run.hours = 2;
    run.runs = 4;
    run.rules.ack_slack_us = run.rules.lead_threshold_us = run.rules.lead_jump_us = 60000000;
    ck_assert(hs_timing_run_play(&run, &totals));
    ck_assert(!hs_timing_goal_met(&totals, missed, sizeof missed));
    ck_assert_ptr_nonnull(strstr(missed, "1.01x: 0 of "));
    run.rules.lead_threshold_us = 0;
    run.rules.lead_leak = 0;
    run.runs = 0;
    ck_assert(hs_timing_run_play(&run, &totals));
    ck_assert(!hs_timing_goal_met(&totals, missed, sizeof missed));
    ck_assert_ptr_nonnull(strstr(missed, "LAN, told acks"));
}
END_TEST

START_TEST(threads_change_nothing)
{
    run.hours = 1;
    run.runs = 2;
    run.threads = 1;
    ck_assert(hs_timing_run_play(&run, &totals));
    run.threads = 3;
    ck_assert(hs_timing_run_play(&run, &again));
    ck_assert_mem_eq(&totals, &again, sizeof totals);
    run.seed++;
    ck_assert(hs_timing_run_play(&run, &again));
    ck_assert_mem_ne(&totals, &again, sizeof totals);
}
END_TEST

/* Tables of the Poisson distribution. */
START_TEST(bounds_of_rare_events)
{
    ck_assert_double_eq_tol(hs_timing_poisson_bound(0, 1), 2.996, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(1, 1), 4.744, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(10, 2), 16.962 / 2, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(200, 1) - 200, 1.645 * 14.14 + 1.7, 1.5);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(201, 1) - hs_timing_poisson_bound(200, 1), 1,
                            1);
}
END_TEST

START_TEST(the_report_names_what_it_counts)
{
    char *text = NULL;
    size_t size = 0;
    run.hours = 0.5;
    run.runs = 1;
    ck_assert(hs_timing_run_play(&run, &totals));
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    hs_timing_print(&run, &totals, file);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "OUTAGE"));
    ck_assert_ptr_nonnull(strstr(text, "pause-and-run"));
    free(text);
    json_t *object = hs_timing_json(&run, &totals);
    json_t *honest =
        json_object_get(json_object_get(json_object_get(object, "told"), "acks"), "honest");
    ck_assert(json_is_object(json_object_get(honest, "BAD")));
    ck_assert(json_is_boolean(json_object_get(object, "goal_met")));
    json_decref(object);
}
END_TEST

START_TEST(wrong_usage)
{
    static char *lines[][4] = {{"simulate", "timing", "--hours=-1", NULL},
                               {"simulate", "timing", "--profile=modem", NULL},
                               {"simulate", "timing", "--set=lead_guard.threshold", NULL},
                               {"simulate", "timing", "--set=lead_guard.size=1", NULL},
                               {"simulate", "timing", "--set=lead_guard.leak=2", NULL},
                               {"simulate", "timing", "--jobs=0", NULL},
                               {"simulate", "timing", "more", NULL}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        ck_assert_msg(hs_simulate_main(3, lines[i]) == 2, "line %zu", i);
    char *help[] = {"simulate", "timing", "--help", NULL};
    ck_assert_int_eq(hs_simulate_main(3, help), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing goal");
    TCase *tcase = tcase_create("timing goal");
    tcase_set_timeout(tcase, 600);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, the_goal_is_met);
    tcase_add_test(tcase, held_packets_are_bursts);
    tcase_add_test(tcase, the_goal_can_be_missed);
    tcase_add_test(tcase, threads_change_nothing);
    tcase_add_test(tcase, bounds_of_rare_events);
    tcase_add_test(tcase, the_report_names_what_it_counts);
    tcase_add_test(tcase, wrong_usage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
