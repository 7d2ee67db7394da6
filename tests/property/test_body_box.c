/*
 * Boxes around bodies contain every hitbox. Random rigs get random histories, with and without
 * posted bones. No sweep that touches a hitbox is excluded by the box of the body at that time, or
 * by the bounds of the history.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/oracle/bodies.h"
#include "tests/support/run_suite.h"
#include "validators/base/glm.h"
#include "validators/base/lanes.h"
#include "validators/history/body_box.h"
#include "validators/history/crowd.h"

#define DEFAULT_SEED  20261128
#define DEFAULT_CASES 4000

enum { SAMPLES = 6, STEP_US = 20000, SWEEPS = 20 };

static long cases(void)
{
    return hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES);
}

static double unit; /* the length of a limb */

static void draw_unit(struct hs_random *random)
{
    static const double units[] = {1, 1, 1e-2, 100};
    unit = units[hs_random_index(random, 4)];
}

/* ---- one posted pose ---- */

static void check_bounds(const struct hs_posted_pose *pose, const struct hs_rig *rig, double reach)
{
    double furthest = 0;
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        uint16_t bone = rig->hitboxes[i].bone;
        if (!hs_posted_pose_has_bone(pose, bone))
            continue;
        const float *values = pose->bones + (size_t)bone * pose->stride;
        double side = rig->hitbox_reach[i];
        if (pose->stride == HS_BONE_FLOATS_SCALED)
            side *= hs_largest_scale(values + HS_BONE_FLOATS);
        furthest = fmax(furthest, hs_vec_length(hs_vec_from_floats(values)) + side);
        for (int a = 0; a < 3; a++) {
            ck_assert_double_le((double)pose->low[a], (double)values[a] - side);
            ck_assert_double_ge((double)pose->high[a], (double)values[a] + side);
        }
    }
    ck_assert(reach == furthest);
}

START_TEST(bounds_of_a_posted_pose_contain_its_hitboxes)
{
    union hs_posted_pose_space space;
    long plain = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        draw_unit(&random);
        struct hs_ruleset *ruleset = hs_body_draw_ruleset(&random, unit);
        hs_body_draw_pose(&random, ruleset->rigs[0], unit, &space.posted_pose);
        plain += hs_posted_pose_is_plain(&space.posted_pose, ruleset->rigs[0]);
        double reach = hs_posted_pose_bound(&space.posted_pose, ruleset->rigs[0]);
        check_bounds(&space.posted_pose, ruleset->rigs[0], reach);
        hs_ruleset_destroy(ruleset);
    }
    ck_assert_int_gt(plain, cases() / 3);
    ck_assert_int_lt(plain, cases() * 3 / 4);
}
END_TEST

/* ---- the body at one time ---- */

struct play {
    struct hs_random random;
    struct hs_ruleset *ruleset;
    struct hs_history *history;
    struct hs_crowd crowd;
    long touched, missed, passed_by;
};

/* Fills the history. Usually every sample has posted bones, or none has. */
static void open_play(struct play *play)
{
    static const double far[] = {0, 0, 1e3, 1e6};
    struct hs_random *random = &play->random;
    const struct hs_state state = {.damage_scale = 1, .alive = true, .is_solid = true};
    union hs_posted_pose_space space;
    draw_unit(random);
    play->ruleset = hs_body_draw_ruleset(random, unit);
    play->history = hs_history_create(&(struct hs_history_limits){.samples = SAMPLES});
    ck_assert_ptr_nonnull(play->history);
    struct hs_vec place =
        hs_vec_scale(hs_random_direction(random), far[hs_random_index(random, 4)]);
    double share = hs_random_chance(random, 0.7) ? 1 : hs_random_chance(random, 0.5) ? 0.5 : 0;
    for (int i = 0; i < SAMPLES; i++) {
        struct hs_sample sample = {.time_us = i * (int64_t)STEP_US, .position = place};
        bool has_pose = hs_random_chance(random, share);
        hs_body_draw_rotation(random, sample.rotation);
        if (has_pose) {
            hs_body_draw_pose(random, play->ruleset->rigs[0], unit, &space.posted_pose);
            double reach = hs_posted_pose_bound(&space.posted_pose, play->ruleset->rigs[0]);
            space.posted_pose.reach = (float)(reach * (1 + 1e-6));
        }
        ck_assert_int_eq(hs_history_insert(play->history, &play->ruleset->history, &sample, &state,
                                           has_pose ? &space.posted_pose : NULL),
                         HS_INSERT_STORED);
        place = hs_vec_add(place, hs_body_draw_offset(random, unit));
    }
    memset(&play->crowd, 0, sizeof play->crowd);
    for (uint32_t i = 0; i < 4; i++)
        hs_crowd_put(&play->crowd, i, play->history, play->ruleset);
}

static void close_play(struct play *play)
{
    hs_history_destroy(play->history);
    hs_ruleset_destroy(play->ruleset);
}

/* Checks that a solid is inside the box, along each axis. */
static void check_inside(const struct hs_solid *solid, struct hs_vec middle, struct hs_vec half)
{
    struct hs_vec h = solid->half_extents, from = hs_vec_sub(solid->center, middle);
    const struct hs_vec *a = solid->axes;
    double x = fabs(a[0].x) * h.x + fabs(a[1].x) * h.y + fabs(a[2].x) * h.z + solid->radius;
    double y = fabs(a[0].y) * h.x + fabs(a[1].y) * h.y + fabs(a[2].y) * h.z + solid->radius;
    double z = fabs(a[0].z) * h.x + fabs(a[1].z) * h.y + fabs(a[2].z) * h.z + solid->radius;
    ck_assert_double_le(fabs(from.x) + x, half.x);
    ck_assert_double_le(fabs(from.y) + y, half.y);
    ck_assert_double_le(fabs(from.z) + z, half.z);
}

/* Draws a sweep that passes near the surface of the body. */
static struct hs_sweep draw_sweep(struct play *play, const struct hs_solid *solid)
{
    struct hs_random *random = &play->random;
    struct hs_vec along = hs_random_direction(random);
    if (hs_random_chance(random, 0.3))
        along = (struct hs_vec){0, hs_random_chance(random, 0.5) ? 1 : -1, 0};
    double beside = hs_vec_length(solid->half_extents) + solid->radius;
    struct hs_vec near = hs_vec_add_scaled(solid->center, hs_random_direction(random),
                                           beside * hs_random_between(random, 0, 3));
    double back = unit * hs_random_log_between(random, 1e-3, 100);
    return (struct hs_sweep){.start = hs_vec_add_scaled(near, along, -back),
                             .direction = along,
                             .length = back * hs_random_between(random, 0, 2),
                             .radius = unit * hs_random_between(random, 0, 0.1)};
}

static void check_sweep(struct play *play, const struct hs_body *body, int64_t time_us,
                        struct hs_vec middle, struct hs_vec half)
{
    const struct hs_solid *solid = &body->solids[hs_random_index(&play->random, body->count)];
    struct hs_sweep sweep = draw_sweep(play, solid);
    struct hs_passing passing;
    bool touched = false;
    double distance;
    for (uint16_t i = 0; i < body->count; i++)
        touched = touched || hs_sweep_touches(&sweep, &body->solids[i], &distance);
    hs_passing_of(&sweep, time_us, &passing);
    bool misses = hs_passing_misses(&passing, middle, half);
    uint64_t near = hs_crowd_near(&play->crowd, 4, &passing);
    ck_assert(near == 0 || near == 15);
    ck_assert(!touched || (!misses && near == 15));
    play->touched += touched;
    play->missed += misses;
    play->passed_by += near == 0;
}

START_TEST(boxes_of_a_body_contain_its_hitboxes)
{
    static struct play play;
    static struct hs_body body;
    for (long i = 0; i < cases(); i++) {
        struct hs_bracket bracket;
        struct hs_vec middle, half;
        play.random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        open_play(&play);
        int64_t time_us = hs_random_index(&play.random, SAMPLES * STEP_US);
        ck_assert_int_eq(hs_rewind_find(play.history, play.ruleset, time_us, &bracket),
                         HS_REWIND_OK);
        hs_rewind_body(play.history, play.ruleset, &bracket, &body);
        hs_rewind_box(play.history, play.ruleset, &bracket, &middle, &half);
        for (uint16_t k = 0; k < body.count; k++)
            check_inside(&body.solids[k], middle, half);
        for (int k = 0; k < SWEEPS && body.count > 0; k++)
            check_sweep(&play, &body, time_us, middle, half);
        close_play(&play);
    }
    printf("%ld sweeps touch, %ld miss the box, %ld pass by the history\n", play.touched,
           play.missed, play.passed_by);
    ck_assert_int_gt(play.touched, cases());
    ck_assert_int_gt(play.missed, cases());
    ck_assert_int_gt(play.passed_by, cases() / 2);
}
END_TEST

/* A shot passes half a metre beside a standing player, who may face any way. It misses the box. */
START_TEST(the_box_of_a_rest_pose_is_not_much_wider_than_the_body)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    const struct hs_state state = {.alive = true, .is_solid = true};
    struct hs_history *history = hs_history_create(&(struct hs_history_limits){.samples = 2});
    ck_assert_ptr_nonnull(ruleset);
    ck_assert_ptr_nonnull(history);
    for (int i = 0; i < 2; i++) {
        double turn = 0.7 * (_i + i);
        struct hs_sample sample = {.time_us = i * (int64_t)STEP_US,
                                   .rotation = {0, 0, (float)sin(turn), (float)cos(turn)}};
        ck_assert_int_eq(hs_history_insert(history, &ruleset->history, &sample, &state, NULL),
                         HS_INSERT_STORED);
    }
    struct hs_bracket bracket;
    struct hs_vec middle, half;
    struct hs_passing passing;
    const struct hs_sweep sweep = {
        .start = {-500, 50, 160}, .direction = {1, 0, 0}, .length = 1000};
    ck_assert_int_eq(hs_rewind_find(history, ruleset, STEP_US / 3, &bracket), HS_REWIND_OK);
    hs_rewind_box(history, ruleset, &bracket, &middle, &half);
    hs_passing_of(&sweep, STEP_US / 3, &passing);
    ck_assert(hs_passing_misses(&passing, middle, half));
    hs_history_destroy(history);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* ---- four and eight lanes ---- */

/* Draws the bounds of 64 players. Some players have no pose at most times. */
static void draw_crowd(struct hs_random *random, struct hs_crowd crowd[16])
{
    memset(crowd, 0, 16 * sizeof crowd[0]);
    for (int i = 0; i < 64; i++) {
        struct hs_crowd *four = &crowd[i / 4];
        int k = i % 4;
        bool is_short = hs_random_chance(random, 0.05);
        for (int a = 0; a < 3; a++) {
            four->middle[a][k] = (float)hs_random_between(random, -30, 30);
            four->half[a][k] = (float)hs_random_log_between(random, 0.1, 10);
        }
        four->from_us[k] = is_short ? 900 : 0;
        four->until_us[k] = 1000;
        four->all_from_us = is_short ? 900 : four->all_from_us;
        four->all_until_us = 1000;
    }
}

START_TEST(eight_lanes_find_the_players_of_four)
{
    struct hs_crowd crowd[16];
    long found = 0, all = 0;
    if (!hs_lanes_can_be_eight())
        return;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        uint32_t count = 1 + (uint32_t)hs_random_index(&random, 64);
        struct hs_sweep sweep = {.start = hs_vec_scale(hs_random_direction(&random), 30),
                                 .direction = hs_random_direction(&random),
                                 .length = hs_random_between(&random, 0, 60),
                                 .radius = hs_random_between(&random, 0, 0.2)};
        if (hs_random_chance(&random, 0.2))
            sweep.direction = (struct hs_vec){1, 0, 0};
        struct hs_passing passing;
        draw_crowd(&random, crowd);
        hs_passing_of(&sweep, hs_random_index(&random, 1100), &passing);
        uint64_t four = hs_crowd_near_by(false, crowd, count, &passing);
        ck_assert_uint_eq(hs_crowd_near_by(true, crowd, count, &passing), four);
        ck_assert(count == 64 || four >> count == 0);
        found += __builtin_popcountll(four);
        all += count;
    }
    ck_assert_int_gt(found, all / 10);
    ck_assert_int_lt(found, all * 9 / 10);
}
END_TEST

int main(void)
{
    printf("body box: HS_SEED=%llu, %ld cases\n", (unsigned long long)hs_test_seed(DEFAULT_SEED),
           cases());
    Suite *suite = suite_create("body box");
    TCase *tcase = tcase_create("body box");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, bounds_of_a_posted_pose_contain_its_hitboxes);
    tcase_add_test(tcase, boxes_of_a_body_contain_its_hitboxes);
    tcase_add_loop_test(tcase, the_box_of_a_rest_pose_is_not_much_wider_than_the_body, 0, 9);
    tcase_add_test(tcase, eight_lanes_find_the_players_of_four);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
