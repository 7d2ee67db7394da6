/* Simulated players on bad networks, checked by the timestamps of their moves. Honest clocks are
   not flagged, and fast clocks are flagged in time. HS_TIMING_HOURS sets the hours of honest play
   for each profile. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/timing/run.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "tests/support/table.h"

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
    run.hours = (double)hs_test_count("HS_TIMING_HOURS", 3);
    run.runs = 20;
    ck_assert(hs_timing_run_play(&run, &totals));
    bool met = hs_timing_goal_met(&totals, missed, sizeof missed);
    if (!met)
        hs_timing_print(&run, &totals, stdout);
    ck_assert_msg(met, "%s", missed);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        const struct hs_timing_honest *honest = &totals.honest[profile][HS_TIMING_ACKS];
        ck_assert_double_ge(honest->hours, run.hours);
        /* The check must not claim proof against an honest player. */
        ck_assert_uint_eq(honest->flags[HS_DETECTOR_PROVEN], 0);
        /* No move of an honest clock may be refused. */
        ck_assert_uint_eq(honest->refused, 0);
        for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
            ck_assert_uint_eq(totals.cheats[profile][cheat][HS_TIMING_ACKS].runs, run.runs);
    }
    /* The compatible check (`timing_discrepancy`) flags honest players on bad networks. The
       documentation says so, and the simulation must show it. */
    const struct hs_timing_honest *bad = &totals.honest[HS_TIMING_BAD][HS_TIMING_ACKS];
    ck_assert_double_ge((double)bad->flags[HS_DETECTOR_DISCREPANCY] / bad->hours, 100);
}
END_TEST

/* Packets that are delayed on purpose look like a bad network. They are counted as packet bursts,
   and never prove a cheat. */
START_TEST(held_packets_count_as_bursts)
{
    run.hours = 0;
    run.runs = 10;
    ck_assert(hs_timing_run_play(&run, &totals));
    const struct hs_timing_cheating *held =
        &totals.cheats[HS_TIMING_PROFILES][HS_TIMING_CHEAT_LAG_SWITCH][HS_TIMING_ACKS];
    ck_assert_uint_eq(held->with_bursts, held->runs);
    ck_assert_uint_eq(held->found[HS_DETECTOR_PROVEN], 0);
}
END_TEST

/* If the check does nothing, the goal must be missed. */
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
    ck_assert_ptr_nonnull(strstr(missed, "LAN, acks"));
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

/* The values are from tables of the Poisson distribution. */
START_TEST(bounds_of_rare_events)
{
    ck_assert_double_eq_tol(hs_timing_poisson_bound(0, 1), 2.996, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(1, 1), 4.744, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(10, 2), 16.962 / 2, 0.001);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(200, 1), 224.874, 0.001);
    /* Beyond the table an approximation is used, which is slightly too high. */
    ck_assert_double_eq_tol(hs_timing_poisson_bound(201, 1), 225.932 + 0.05, 0.05);
    ck_assert_double_eq_tol(hs_timing_poisson_bound(1000, 10), 105.34, 0.05);
}
END_TEST

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number %s", key);
    return json_number_value(value);
}

#define HONEST   "honest   input"
#define CHEATS   "cheats, all profiles"
#define PROFILES "the default judge, with acks"

static void assert_honest_row(const char *text, const char *row, const json_t *counts)
{
    const json_t *detectors = json_object_get(counts, "detectors");
    ck_assert_double_eq_tol(hs_test_cell(text, HONEST, row, 0), number_in(counts, "hours"), 0.051);
    for (int i = 0; i < HS_DETECTORS; i++) {
        const json_t *flags = json_object_get(detectors, hs_timing_detector_names[i]);
        ck_assert_double_eq_tol(hs_test_cell(text, HONEST, row, 1 + 3 * i),
                                number_in(flags, "an_hour"), 0.0001);
        ck_assert_double_eq_tol(number_in(flags, "an_hour") * number_in(counts, "hours"),
                                number_in(flags, "flags"), 1e-6);
        ck_assert_double_eq_tol(hs_test_cell(text, HONEST, row, 3 + 3 * i),
                                number_in(flags, "an_hour_high"), 0.0001);
    }
    ck_assert(hs_test_cell(text, HONEST, row, 1 + 3 * HS_DETECTORS) ==
              number_in(counts, "refused"));
    ck_assert_double_eq_tol(hs_test_cell(text, HONEST, row, 2 + 3 * HS_DETECTORS),
                            100 * number_in(counts, "simulated_share"), 0.0006);
}

/* Compares the cells of one check in a row, which come after `before` other cells. Returns their
   number. */
static int assert_found(const char *text, const char *heading, const char *row, int before,
                        const json_t *cheat, const char *judge)
{
    const json_t *found = json_object_get(json_object_get(cheat, "detectors"), judge);
    if (number_in(found, "found") == 0)
        return 1; /* the cell is a dash */
    ck_assert_double_eq_tol(hs_test_cell(text, heading, row, before),
                            100 * number_in(found, "found") / number_in(cheat, "runs"), 0.06);
    ck_assert_double_eq_tol(hs_test_cell(text, heading, row, before + 2),
                            number_in(found, "median_delay"), 0.006);
    ck_assert_double_eq_tol(hs_test_cell(text, heading, row, before + 3),
                            number_in(found, "longest_delay"), 0.006);
    return 4;
}

static void assert_cheat_row(const char *text, const char *row, const json_t *cheat)
{
    int cell = 1;
    ck_assert(hs_test_cell(text, CHEATS, row, 0) == number_in(cheat, "runs"));
    for (int i = 0; i < HS_DETECTORS; i++)
        cell += assert_found(text, CHEATS, row, cell, cheat, hs_timing_detector_names[i]);
    ck_assert_double_eq_tol(hs_test_cell(text, CHEATS, row, cell),
                            100 * number_in(cheat, "with_bursts") / number_in(cheat, "runs"), 0.51);
}

static void assert_profile_row(const char *text, const char *name, const json_t *cheats)
{
    int cell = 0;
    for (int i = 0; i < HS_TIMING_PROFILES; i++)
        cell +=
            assert_found(text, PROFILES, name, cell,
                         json_object_get(json_object_get(cheats, hs_timing_profile_names[i]), name),
                         hs_timing_detector_names[HS_DETECTOR_DEFAULT]);
}

START_TEST(the_report_names_what_it_counts)
{
    char *text = NULL, row[64];
    size_t size = 0;
    int rows = 0;
    const char *told, *name;
    json_t *tables, *counts;
    run.hours = 0.5;
    run.runs = 1;
    ck_assert(hs_timing_run_play(&run, &totals));
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    hs_timing_print(&run, &totals, file);
    fclose(file);
    json_t *object = hs_timing_json(&run, &totals);
    json_object_foreach(json_object_get(object, "told"), told, tables)
    {
        json_t *cheats = json_object_get(tables, "cheats");
        json_object_foreach(json_object_get(tables, "honest"), name, counts)
        {
            snprintf(row, sizeof row, "%s %s", name, told);
            assert_honest_row(text, row, counts);
            rows++;
        }
        json_object_foreach(json_object_get(cheats, "all"), name, counts)
        {
            snprintf(row, sizeof row, "%s %s", name, told);
            assert_cheat_row(text, row, counts);
            rows++;
            if (strcmp(told, hs_timing_input_names[HS_TIMING_ACKS]) == 0)
                assert_profile_row(text, name, cheats);
        }
    }
    ck_assert_int_eq(rows, HS_TIMING_INPUTS * (HS_TIMING_PROFILES + HS_TIMING_CHEATS));
    ck_assert(json_is_boolean(json_object_get(object, "goal_met")));
    json_decref(object);
    free(text);
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
    tcase_add_test(tcase, held_packets_count_as_bursts);
    tcase_add_test(tcase, the_goal_can_be_missed);
    tcase_add_test(tcase, threads_change_nothing);
    tcase_add_test(tcase, bounds_of_rare_events);
    tcase_add_test(tcase, the_report_names_what_it_counts);
    tcase_add_test(tcase, wrong_usage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
