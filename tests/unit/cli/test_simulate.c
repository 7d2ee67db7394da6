/*
 * The parts of the simulator: its network, its players, the views of clients, counts, determinism.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/command.h"
#include "cli/simulate/film.h"
#include "cli/simulate/hits/simulation.h"
#include "tests/support/run_suite.h"
#include "tests/support/table.h"

/* ---- links ---- */

START_TEST(one_direction_takes_half_the_round_trip_and_the_jitter)
{
    enum { DRAWS = 20000 };
    struct hs_dice dice = {(uint64_t)_i};
    struct hs_link link;
    hs_link_draw((enum hs_link_kind)_i, &dice, &link);
    ck_assert(link.base >= 0.020 && link.base <= 0.200 && link.jitter > 0);
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        double delay = hs_link_delay(&link, &dice);
        ck_assert_double_ge(delay, link.base / 2);
        sum += delay;
    }
    ck_assert_double_eq_tol(sum / DRAWS, link.base / 2 + link.jitter, 0.05 * link.jitter);
}
END_TEST

START_TEST(one_message_in_twenty_is_lost_and_sent_again)
{
    enum { DRAWS = 100000 };
    struct hs_dice dice = {7};
    struct hs_link link;
    hs_link_draw(HS_LINK_WIFI, &dice, &link);
    int lost = 0, late = 0;
    for (int i = 0; i < DRAWS; i++) {
        unsigned losses;
        lost += hs_link_loses(&dice);
        double delay = hs_link_command(&link, 0, &dice, &losses);
        late += losses > 0;
        ck_assert_double_ge(delay, link.base / 2 + losses * HS_LINK_RESEND);
    }
    ck_assert_double_eq_tol((double)lost / DRAWS, HS_LINK_LOSS, 0.003);
    ck_assert_double_eq_tol((double)late / DRAWS, HS_LINK_LOSS, 0.003);
}
END_TEST

START_TEST(an_outage_cuts_or_holds_messages_for_seconds)
{
    enum { SPANS = 400 };
    struct hs_dice dice = {7};
    struct hs_link link;
    hs_link_draw(HS_LINK_OUTAGE, &dice, &link);
    int outages = 0, cuts = 0;
    double out = 0, before = 0;
    for (int i = 0; i < SPANS * 1500; i++) {
        bool loses;
        unsigned losses;
        double at = 0.1 * i, left = hs_link_outage(&link, at, &loses);
        ck_assert(left >= 0 && left <= 10 && (left > 0 || !loses));
        ck_assert_double_ge(hs_link_command(&link, at, &dice, &losses), left + link.base / 2);
        outages += left > 0 && before <= 0;
        cuts += loses && before <= 0;
        out += left > 0 ? 0.1 : 0;
        before = left;
    }
    ck_assert_int_eq(outages, SPANS);
    ck_assert(cuts > SPANS * 2 / 5 && cuts < SPANS * 3 / 5);
    ck_assert_double_eq_tol(out / SPANS, 6.5, 0.3); /* the mean of outages of 3 to 10 s */
}
END_TEST

START_TEST(links_have_names)
{
    int kind;
    const struct hs_argument option = {"profile", hs_argument_word, &kind,
                                       0,         HS_LINKS - 1,     hs_link_names};
    for (int i = 0; i < HS_LINKS; i++) {
        ck_assert(hs_argument_word(&option, hs_link_names[i]));
        ck_assert_int_eq(kind, i);
    }
    ck_assert(hs_argument_word(&option, "mobile") && kind == HS_LINK_MOBILE);
    ck_assert(!hs_argument_word(&option, "mobil"));
}
END_TEST

/* ---- people ---- */

START_TEST(people_stay_out_of_walls_and_do_not_fly)
{
    enum { TICKS = 3600 };
    struct hs_dice dice = {11};
    struct hs_sim_arena *arena = hs_sim_arena_create(0.4);
    struct hs_crowd *crowd = hs_crowd_create(TICKS, -1, &dice);
    int jumps = 0, deaths = 0, ducked = 0;
    ck_assert(arena != NULL && crowd != NULL);
    for (unsigned who = 0; who < HS_CROWD; who++) {
        for (size_t tick = 1; tick < TICKS; tick++) {
            const struct hs_sim_pose *before = hs_crowd_at(crowd, who, tick - 1);
            const struct hs_sim_pose *now = hs_crowd_at(crowd, who, tick);
            ck_assert(hs_sim_arena_is_free(now->position, 0.3));
            ck_assert(now->position.z >= 0 && now->position.z < 1);
            if (now->jumps == before->jumps)
                ck_assert_double_lt(hs_vec_distance(now->position, before->position) * HS_CROWD_HZ,
                                    20);
            jumps += now->jumps != before->jumps;
            deaths += before->alive && !now->alive;
            ducked += now->crouched;
        }
    }
    ck_assert(jumps > 20 && deaths > 10 && ducked > TICKS / 10);
    hs_crowd_destroy(crowd);
    hs_sim_arena_destroy(arena);
}
END_TEST

/* ---- films ---- */

static struct hs_film_frame frames[3];
static const struct hs_film film = {frames, 3};

static void set_up_film(void)
{
    memset(frames, 0, sizeof frames);
    for (int i = 0; i < 3; i++) {
        frames[i].time = 1 + 0.1 * i;
        frames[i].people[0] = (struct hs_sim_pose){
            .position = {1.0 * i, 0.1, 0}, .yaw = i == 0 ? 3.1 : -3.1, .jumps = i == 2 ? 1 : 0};
    }
}

START_TEST(poses_blend_but_never_into_a_jump)
{
    struct hs_moment moment;
    struct hs_sim_pose pose;
    ck_assert(!hs_film_find(&film, 0.99, &moment) && !hs_film_pose(&film, 0.99, 0, &pose));
    ck_assert(hs_film_find(&film, 1.05, &moment));
    ck_assert(moment.from == 0 && moment.to == 1);
    ck_assert(hs_film_pose(&film, 1.05, 0, &pose));
    ck_assert_double_eq_tol(pose.position.x, 0.5, 1e-9);
    ck_assert_double_eq_tol(fabs(pose.yaw), 3.14159265358979, 1e-6); /* the turn is the shorter
                                                                        one */
    ck_assert(hs_film_pose(&film, 1.19, 0, &pose));
    ck_assert_double_eq(pose.position.x, 1);
    ck_assert(hs_film_find(&film, 5, &moment));
    ck_assert(moment.from == 2 && moment.to == 2 && moment.time == frames[2].time);
}
END_TEST

START_TEST(sent_poses_are_rounded)
{
    struct hs_moment moment;
    struct hs_sim_pose exact, sent;
    ck_assert(hs_film_find(&film, 1, &moment));
    ck_assert(hs_film_pose(&film, 1, 0, &exact));
    hs_film_pose_sent(&film, &moment, 0, &sent);
    static volatile const float tenth = 0.1f;
    ck_assert_double_eq(sent.position.y, (double)tenth);
    ck_assert_double_ne(sent.yaw, exact.yaw);
    ck_assert_double_eq_tol(sent.yaw, exact.yaw, 1e-4);
}
END_TEST

/* ---- counts ---- */

START_TEST(wilsons_interval)
{
    ck_assert_double_eq(hs_wilson_low(0, 0), 0);
    ck_assert_double_eq_tol(hs_wilson_low(0, 10), 0, 1e-12);
    ck_assert_double_eq_tol(hs_wilson_low(10, 10), 0.722467, 1e-6);
    ck_assert_double_eq_tol(hs_wilson_low(995, 1000), 0.988349, 1e-6);
}
END_TEST

static struct hs_score *good_score(void)
{
    static struct hs_score score;
    memset(&score, 0, sizeof score);
    score.honest[0][0].reasons[HS_REASON_OK] = 10000;
    score.forged[HS_FORGERY_WALL].reasons[HS_REASON_OCCLUDED_WORLD] = 100000;
    score.bursts[HS_ARM_RIFLE] = (struct hs_burst_count){10, 1340, 700, 3};
    return &score;
}

START_TEST(goals)
{
    char missed[256];
    struct hs_score *score = good_score();
    ck_assert(hs_score_meets_goals(score, missed, sizeof missed));
    score->honest[0][0].reasons[HS_REASON_NO_INTERSECTION] = 60; /* this many refused claims may be
                                                                    chance */
    ck_assert(hs_score_meets_goals(score, missed, sizeof missed));
    score->honest[0][0].reasons[HS_REASON_NO_INTERSECTION] = 80;
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
    score = good_score();
    score->honest[0][0].reasons[HS_REASON_OK] = 40000;
    score->honest[HS_LINK_OUTAGE][0].reasons[HS_REASON_OK] = 10000;
    score->honest[HS_LINK_OUTAGE][0].reasons[HS_REASON_REWIND_LIMIT] = 80;
    ck_assert(hs_score_meets_goals(score, missed, sizeof missed));
    score->honest[HS_LINK_OUTAGE][0].reasons[HS_REASON_REWIND_LIMIT] = 130;
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
    ck_assert_ptr_nonnull(strstr(missed, "OUTAGE"));
    score = good_score();
    score->forged[HS_FORGERY_WALL].reasons[HS_REASON_OK] = 150;
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
    ck_assert_ptr_nonnull(strstr(missed, "wall_between"));
    /* A forged claim whose result is unknown counts as not rejected. */
    score->forged[HS_FORGERY_WALL].reasons[HS_REASON_OK] = 0;
    score->forged[HS_FORGERY_WALL].reasons[HS_REASON_HISTORY_GAP] = 150;
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
    score = good_score();
    score->bursts[HS_ARM_RIFLE].worst = 4;
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
    memset(score, 0, sizeof *score);
    ck_assert(!hs_score_meets_goals(score, missed, sizeof missed));
}
END_TEST

/* ---- cheats ---- */

START_TEST(gains_and_their_intervals)
{
    struct hs_paired sum = {0};
    double gain, low, high;
    ck_assert(!hs_paired_gain(&sum, &gain, &low, &high));
    hs_paired_add(&sum, 10, 12);
    hs_paired_add(&sum, 20, 24);
    ck_assert(hs_paired_gain(&sum, &gain, &low, &high));
    /* the gain is equal in both runs, so there is no uncertainty */
    ck_assert_double_eq_tol(gain, 0.2, 1e-12);
    ck_assert(fabs(low - 0.2) < 1e-6 && fabs(high - 0.2) < 1e-6);
    hs_paired_add(&sum, 30, 24);
    ck_assert(hs_paired_gain(&sum, &gain, &low, &high));
    ck_assert_double_eq_tol(gain, 0, 1e-12);
    /* The runs differ by 2, 4 and -6: 1.96 sqrt(3 / 2 * 56) / 60. */
    ck_assert_double_eq_tol(high, 0.299389, 1e-6);
    ck_assert_double_eq_tol(low, -0.299389, 1e-6);
}
END_TEST

START_TEST(limits_of_cheats)
{
    struct hs_cheat cheat = {.bound = HS_CHEAT_EXTENT, .limit = 0.5};
    struct hs_cheat_count count = {.extent = 0.5};
    ck_assert(hs_cheat_is_within(&cheat, &count));
    count.extent = 0.51;
    ck_assert(!hs_cheat_is_within(&cheat, &count));
    cheat.bound = HS_CHEAT_UNBOUND;
    ck_assert(hs_cheat_is_within(&cheat, &count));
    cheat.bound = HS_CHEAT_GAIN;
    ck_assert(hs_cheat_is_within(&cheat, &count)); /* nothing was played yet */
    hs_paired_add(&count.hits, 10, 14);
    hs_paired_add(&count.hits, 10, 20);
    /* if the true gain is +50 %, a gain of +70 % in two runs may be chance */
    ck_assert(hs_cheat_is_within(&cheat, &count));
    for (int i = 0; i < 3; i++)
        hs_paired_add(&count.hits, 10, 17);
    ck_assert(!hs_cheat_is_within(&cheat, &count));
}
END_TEST

START_TEST(a_judged_cheat_fails_the_check)
{
    char missed[256];
    for (int i = 0; i < HS_CHEATS; i++) {
        struct hs_score *score = good_score();
        struct hs_cheat_count *count = &score->cheats[i][HS_LINK_STEADY];
        bool counts = hs_cheats[i].is_judged;
        ck_assert(!counts || hs_cheats[i].bound != HS_CHEAT_UNBOUND);
        count->extent = 1e6;
        hs_paired_add(&count->hits, 10, 1e6);
        hs_paired_add(&count->hits, 10, 1e6);
        ck_assert_msg(hs_score_meets_goals(score, missed, sizeof missed) == !counts, "%s: %s",
                      hs_cheats[i].name, missed);
        ck_assert(!counts || strstr(missed, hs_cheats[i].name) != NULL);
    }
}
END_TEST

/* ---- the whole ---- */

static struct hs_score scores[2];

static void play(uint64_t seed, unsigned threads, struct hs_score *out)
{
    struct hs_simulation simulation = hs_simulation_default();
    simulation.seed = seed;
    simulation.threads = threads;
    simulation.claims = 200;
    simulation.bursts = 6;
    simulation.cheats = 1;
    simulation.seconds = 4;
    memset(out, 0, sizeof *out);
    ck_assert(hs_simulation_run(&simulation, out));
}

START_TEST(threads_change_nothing)
{
    play(5, 1, &scores[0]);
    play(5, 3, &scores[1]);
    ck_assert_mem_eq(scores[0].honest, scores[1].honest, sizeof scores[0].honest);
    ck_assert_mem_eq(scores[0].shots, scores[1].shots, sizeof scores[0].shots);
    ck_assert_mem_eq(scores[0].forged, scores[1].forged, sizeof scores[0].forged);
    ck_assert_mem_eq(scores[0].bursts, scores[1].bursts, sizeof scores[0].bursts);
    ck_assert_mem_eq(scores[0].cheats, scores[1].cheats, sizeof scores[0].cheats);
    ck_assert_uint_eq(scores[0].example_count, scores[1].example_count);
}
END_TEST

START_TEST(seeds_change_everything)
{
    play(5, 2, &scores[0]);
    play(6, 2, &scores[1]);
    ck_assert_mem_ne(scores[0].honest, scores[1].honest, sizeof scores[0].honest);
    ck_assert_mem_ne(scores[0].forged, scores[1].forged, sizeof scores[0].forged);
    ck_assert_mem_ne(scores[0].cheats, scores[1].cheats, sizeof scores[0].cheats);
}
END_TEST

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number %s", key);
    return json_number_value(value);
}

/* Checks that a row of claims has the numbers of the object with the same name. */
static void assert_row(const char *text, const char *heading, const char *row, const json_t *counts,
                       const char *good)
{
    ck_assert_ptr_nonnull(counts);
    if (number_in(counts, "claims") == 0)
        return;
    bool is_honest = strcmp(good, "accepted") == 0;
    ck_assert(hs_test_cell(text, heading, row, 0) == number_in(counts, "claims"));
    ck_assert(hs_test_cell(text, heading, row, 1) == number_in(counts, good));
    int share = is_honest ? 3 : 4;
    ck_assert_double_eq_tol(hs_test_cell(text, heading, row, share),
                            100 * number_in(counts, "share"), 0.0006);
    ck_assert_double_eq_tol(hs_test_cell(text, heading, row, share + 1),
                            100 * number_in(counts, "share_low"), 0.0006);
    if (is_honest)
        ck_assert(hs_test_cell(text, heading, row, 5) == number_in(counts, "in_vain"));
    const char *why = hs_test_row(text, heading, row), *name;
    json_t *count;
    json_object_foreach(json_object_get(counts, "reasons"), name, count)
    {
        char said[96];
        if (strcmp(name, hs_reason_name(HS_REASON_OK)) == 0)
            continue;
        snprintf(said, sizeof said, " %lld %s", (long long)json_integer_value(count), name);
        const char *at = strstr(why, said);
        ck_assert_msg(at != NULL && at < strchr(why, '\n'), "row %s does not say%s: %s", row, said,
                      why);
    }
}

#define HONEST "honest    weapon"
#define FORGED "forged  "
#define BURSTS "twice the pace"
#define CHEATS "cheat    "

/* Checks that each cheat has a row for each connection, with the numbers of its object. */
static void assert_cheats(const char *text, const json_t *cheats)
{
    for (int i = 0; i < HS_CHEATS; i++) {
        const char *name = hs_cheats[i].name;
        const json_t *links = json_object_get(json_object_get(cheats, name), "links");
        ck_assert_msg(json_object_size(links) == HS_LINKS_AND_STEADY, "%s", name);
        for (int link = 0; link < HS_LINKS_AND_STEADY; link++) {
            char row[64];
            const json_t *object = json_object_get(links, hs_link_names[link]);
            const json_t *gain = json_object_get(object, "hits");
            snprintf(row, sizeof row, "%s %s", name, hs_link_names[link]);
            ck_assert(hs_test_cell(text, CHEATS, row, 0) == number_in(object, "tried"));
            ck_assert_double_eq_tol(hs_test_cell(text, CHEATS, row, 2), number_in(object, "cheat"),
                                    0.51);
            if (json_is_object(gain))
                ck_assert_double_eq_tol(hs_test_cell(text, CHEATS, row, 3),
                                        100 * number_in(gain, "gain"), 0.051);
        }
    }
}

START_TEST(the_report_names_what_it_counts)
{
    char *text = NULL, row[64];
    size_t size = 0;
    int rows = 0;
    const char *link, *arm, *kind;
    json_t *links, *counts;
    play(5, 2, &scores[0]);
    struct hs_simulation simulation = hs_simulation_default();
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    hs_simulation_print(&simulation, &scores[0], 4, file);
    fclose(file);
    json_t *object = hs_simulation_json(&simulation, &scores[0]);
    struct hs_count honest = hs_score_honest(&scores[0]);
    json_t *all = json_object_get(json_object_get(object, "honest"), "all");
    ck_assert_int_eq(json_integer_value(json_object_get(all, "claims")),
                     (json_int_t)hs_count_all(&honest));
    assert_row(text, HONEST, "all", all, "accepted");
    ck_assert(hs_test_cell(text, HONEST, "would be refused by checks in shadow:", 0) ==
              number_in(all, "would_reject"));
    json_object_del(json_object_get(object, "honest"), "all");
    json_object_foreach(json_object_get(object, "honest"), link, links)
    {
        json_object_foreach(links, arm, counts)
        {
            bool is_shots = strcmp(arm, "shots") == 0;
            snprintf(row, sizeof row, "%s %s", link, is_shots ? "(shots)" : arm);
            assert_row(text, HONEST, row, counts, "accepted");
            rows++;
        }
    }
    ck_assert_int_eq(rows, HS_LINKS * (HS_ARMS + 1));
    json_t *forged = json_object_get(object, "forged"), *bursts = json_object_get(object, "bursts");
    ck_assert_uint_eq(json_object_size(forged), HS_FORGERIES);
    json_object_foreach(forged, kind, counts) assert_row(text, FORGED, kind, counts, "rejected");
    ck_assert_uint_gt(json_object_size(bursts), 0);
    json_object_foreach(bursts, arm, counts)
    {
        static const char *const columns[] = {"bursts", "shots", "accepted", "worst_excess"};
        for (int i = 0; i < 4; i++)
            ck_assert(hs_test_cell(text, BURSTS, arm, i) == number_in(counts, columns[i]));
    }
    assert_cheats(text, json_object_get(object, "cheats"));
    ck_assert(json_is_boolean(json_object_get(object, "goals_met")));
    json_decref(object);
    free(text);
}
END_TEST

START_TEST(wrong_usage)
{
    static char *lines[][4] = {{"simulate", NULL},
                               {"simulate", "hots", NULL},
                               {"simulate", "hits", "--claims=0", NULL},
                               {"simulate", "hits", "--seed=-1", NULL},
                               {"simulate", "hits", "--cheats=some", NULL},
                               {"simulate", "hits", "--profile=modem", NULL},
                               {"simulate", "hits", "--rewind-limit=nan", NULL},
                               {"simulate", "hits", "--speed", NULL},
                               {"simulate", "hits", "more", NULL}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        int argc = 0;
        while (argc < 4 && lines[i][argc] != NULL)
            argc++;
        ck_assert_msg(hs_simulate_main(argc, lines[i]) == 2, "line %zu", i);
    }
    char *help[] = {"simulate", "hits", "--help", NULL};
    ck_assert_int_eq(hs_simulate_main(3, help), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulate");
    TCase *tcase = tcase_create("simulate");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up_film, NULL);
    tcase_add_loop_test(tcase, one_direction_takes_half_the_round_trip_and_the_jitter, 0, HS_LINKS);
    tcase_add_test(tcase, one_message_in_twenty_is_lost_and_sent_again);
    tcase_add_test(tcase, links_have_names);
    tcase_add_test(tcase, an_outage_cuts_or_holds_messages_for_seconds);
    tcase_add_test(tcase, people_stay_out_of_walls_and_do_not_fly);
    tcase_add_test(tcase, poses_blend_but_never_into_a_jump);
    tcase_add_test(tcase, sent_poses_are_rounded);
    tcase_add_test(tcase, wilsons_interval);
    tcase_add_test(tcase, goals);
    tcase_add_test(tcase, gains_and_their_intervals);
    tcase_add_test(tcase, limits_of_cheats);
    tcase_add_test(tcase, a_judged_cheat_fails_the_check);
    tcase_add_test(tcase, threads_change_nothing);
    tcase_add_test(tcase, seeds_change_everything);
    tcase_add_test(tcase, the_report_names_what_it_counts);
    tcase_add_test(tcase, wrong_usage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
