/*
 * Bounds never exclude a body that counts. Random fights are verified with the broad phase, and
 * again with infinite bounds, so that every player is searched. The answers are equal, byte for
 * byte. The contact with each body, which the bounds search for, is also compared with sweeps of
 * every hitbox, bit for bit.
 */
#include <check.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/bodies.h"
#include "tests/support/oracle/scene.h"
#include "tests/support/run_suite.h"
#include "validators/base/lanes.h"
#include "validators/history/bounds.h"
#include "validators/history/ring_inside.h"
#include "validators/hit/contact.h"

#define DEFAULT_SEED  20261123
#define DEFAULT_CASES 4000

static long cases(void)
{
    return hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES);
}

static struct hs_scene_stage stage;
static struct hs_scene scene;

static void open_scene(struct hs_random *random)
{
    static const double far[] = {0, 0, 1e3, 1e6, 1e9};
    static const double scales[] = {1, 1, 100, 1e-2};
    struct hs_scene_wishes wishes = hs_scene_anything;
    struct hs_scene_frame frame = hs_scene_as_it_is();
    wishes.instant = hs_random_chance(random, 0.7);
    wishes.world = hs_random_chance(random, 0.2);
    hs_scene_draw(random, &wishes, &scene);
    frame.scale = scales[hs_random_index(random, 4)];
    frame.translation = hs_vec_scale(hs_random_direction(random), far[hs_random_index(random, 5)]);
    if (hs_random_chance(random, 0.5)) /* then the path and a body may have equal coordinates */
        frame.translation.x = frame.translation.z = 0;
    frame.order = 1 + (uint64_t)hs_random_index(random, 1000);
    hs_scene_open(&scene, &frame, &stage);
}

/* ---- the broad phase ---- */

/* Makes the bounds of all posted poses infinite. */
static void open_poses(struct hs_history *history)
{
    for (uint32_t i = 0; i < history->count; i++) {
        const struct hs_sample *sample = hs_history_slot(history, i);
        if (sample->posted_pose == HS_NO_POSTED_POSE)
            continue;
        struct hs_posted_pose *pose =
            (struct hs_posted_pose *)(void *)hs_history_pose_block(history, sample->posted_pose);
        for (int a = 0; a < 3; a++) {
            pose->low[a] = -1e30F;
            pose->high[a] = 1e30F;
        }
    }
}

/* Makes the bounds of all players infinite, so that no player counts as far away. */
static void open_bounds(struct hs_match *match)
{
    for (uint32_t i = 0; i < match->players.count; i++) {
        struct hs_crowd *crowd = &match->players.crowd[i / 4];
        struct hs_history_span *span = &match->players.all[i]->history->span;
        crowd->from_us[i % 4] = crowd->all_from_us = INT64_MAX;
        span->longest_gap_us = INT64_MAX;
        span->posted_reach = DBL_MAX;
        open_poses(match->players.all[i]->history);
    }
}

START_TEST(broad_phase_changes_no_answer)
{
    static struct hs_hit_result with, without;
    long touched = 0, saved = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        open_scene(&random);
        memset(&with, 0, sizeof with);
        memset(&without, 0, sizeof without);
        hs_scene_verify(&stage, &with);
        open_bounds(stage.match);
        hs_scene_verify(&stage, &without);
        touched += with.impact.present;
        saved += with.work < without.work;
        without.work = with.work;
        ck_assert_msg(memcmp(&with, &without, sizeof with) == 0, "case %ld", i);
        hs_scene_close(&stage);
    }
    printf("%ld cases, %ld touch something, work is saved in %ld\n", cases(), touched, saved);
    ck_assert_int_gt(touched, cases() / 4);
    ck_assert_int_gt(saved, cases() / 4);
}
END_TEST

/* ---- one body ---- */

/* The result of sweeping all hitboxes in the order of the rig. */
struct naive {
    bool touched;
    double distance, center_distance, gap;
    uint16_t hitbox, nearest;
    struct hs_sweep_contact detail, approach;
};

static int rank_of(uint16_t zone)
{
    const struct hs_hit_rules *rules = &stage.rules->hit;
    for (int i = 0; i < rules->zone_priority_count; i++)
        if (rules->zone_priority[i] == zone)
            return i;
    return rules->zone_priority_count;
}

static void keep(const struct hs_body *body, uint16_t i, const struct hs_leg *leg,
                 const struct hs_sweep *sweep, double tie, int *best, struct naive *out)
{
    struct hs_sweep_contact contact;
    const struct hs_vec still = {0, 0, 0};
    hs_sweep_solid(sweep, &body->solids[i], &contact);
    double center = hs_vec_distance(contact.center, body->solids[i].center);
    hs_leg_to_world(leg, sweep, still, &contact);
    if (contact.gap < out->gap) {
        out->gap = contact.gap;
        out->approach = contact;
        out->nearest = body->hitbox[i];
    }
    if (!contact.touched)
        return;
    int rank = rank_of(body->rig->hitboxes[body->hitbox[i]].zone);
    bool first = !out->touched, sooner = first || contact.distance < out->detail.distance - tie;
    bool tied = !sooner && contact.distance <= out->detail.distance + tie;
    bool nearer = sooner || (tied && center < out->center_distance - tie);
    if (first || contact.distance < out->distance)
        out->distance = contact.distance;
    if (first || rank < *best || (rank == *best && nearer)) {
        out->hitbox = body->hitbox[i];
        out->detail = contact;
        out->center_distance = center;
        *best = rank;
    }
    out->touched = true;
}

static bool find_naively(const struct hs_path *path, const struct hs_history *history,
                         struct hs_body *body, struct naive *out)
{
    struct hs_bracket bracket;
    struct hs_leg leg;
    int best = 0;
    memset(out, 0, sizeof *out);
    out->gap = DBL_MAX;
    if (hs_rewind_find(history, stage.rules, path->end_us, &bracket) != HS_REWIND_OK)
        return false;
    hs_path_leg(path, 0, &leg);
    struct hs_sweep sweep = hs_leg_relative(&leg, (struct hs_vec){0, 0, 0});
    hs_rewind_body(history, stage.rules, &bracket, body);
    for (uint16_t i = 0; i < body->count; i++)
        keep(body, i, &leg, &sweep, HS_CONTACT_TIE * (path->length + path->radius), &best, out);
    return true;
}

/* Draws a path through a body, past it, along an axis, from far away or from inside. */
static void draw_path(struct hs_random *random, const struct hs_history *history,
                      struct hs_path *out)
{
    uint32_t at = (uint32_t)hs_random_index(random, (int)hs_history_count(history));
    const struct hs_sample *sample = hs_history_at(history, at);
    double unit = stage.rules->reach, back = unit * hs_random_log_between(random, 1e-3, 100);
    struct hs_vec along = hs_random_direction(random), aside = hs_random_direction(random);
    if (hs_random_chance(random, 0.3))
        along = (struct hs_vec){hs_random_chance(random, 0.5) ? 1 : -1, 0, 0};
    struct hs_vec through =
        hs_vec_add_scaled(sample->position, aside, unit * hs_random_between(random, 0, 1.2));
    struct hs_vec start = hs_vec_add_scaled(through, along, -back);
    struct hs_vec end = hs_vec_add_scaled(through, along, back * hs_random_between(random, -1, 1));
    double radius = hs_random_chance(random, 0.3) ? 0 : unit * hs_random_between(random, 0, 0.2);
    hs_path_trace(start, end, radius, unit * hs_random_between(random, 0, 0.1),
                  sample->time_us + hs_random_index(random, 60000), out);
}

static bool is_same(const struct hs_contact *found, const struct naive *want, bool is_target)
{
    if (found->touched != want->touched)
        return false;
    if (found->touched &&
        (found->hitbox != want->hitbox || found->distance != want->distance ||
         found->center_distance != want->center_distance ||
         memcmp(&found->detail.distance, &want->detail.distance,
                sizeof found->detail - offsetof(struct hs_sweep_contact, distance)) != 0))
        return false;
    if (!is_target)
        return true;
    if (found->touched)
        return fmax(found->nearest.gap, 0) == fmax(want->gap, 0);
    return found->nearest.gap == want->gap &&
           (want->gap == DBL_MAX ||
            (found->nearest_hitbox == want->nearest &&
             memcmp(&found->nearest.gap, &want->approach.gap,
                    sizeof found->nearest - offsetof(struct hs_sweep_contact, gap)) == 0));
}

static void compare_contact(struct hs_random *random, long i, long *touched, long *missed)
{
    const struct hs_players *players = &stage.match->players;
    if (players->count == 0)
        return;
    const struct hs_history *history =
        players->all[hs_random_index(random, (int)players->count)]->history;
    if (hs_history_count(history) == 0)
        return;
    static struct hs_body body;
    struct hs_path path;
    struct naive want;
    draw_path(random, history, &path);
    bool has_pose = find_naively(&path, history, &body, &want);
    for (int is_target = 0; is_target < 2; is_target++) {
        struct hs_work work = {0};
        struct hs_contact found;
        hs_contact_find(&path, stage.rules, history, is_target != 0, HS_NONE, &work, &found);
        ck_assert_int_eq(found.has_pose, has_pose);
        struct hs_bracket bracket;
        if (!has_pose)
            continue;
        hs_rewind_find(history, stage.rules, path.end_us, &bracket);
        const struct hs_state *state = hs_rewind_state(history, &bracket);
        if (is_target == 0 && (!state->alive || !state->is_solid)) {
            ck_assert(!found.touched);
            continue;
        }
        ck_assert_msg(is_same(&found, &want, is_target != 0), "case %ld, target %d", i, is_target);
        *touched += found.touched;
        *missed += !found.touched;
    }
}

START_TEST(bounds_change_no_contact)
{
    long touched = 0, missed = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        open_scene(&random);
        for (int k = 0; k < 40; k++)
            compare_contact(&random, i, &touched, &missed);
        hs_scene_close(&stage);
    }
    printf("%ld contacts, %ld misses\n", touched, missed);
    ck_assert_int_gt(touched, cases());
    ck_assert_int_gt(missed, cases());
}
END_TEST

/* ---- four and eight lanes ---- */

/* Compares the bounds that four and eight lanes compute. Returns the number of
   hitboxes with bounds. */
static int compare_lanes(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, long i)
{
    static struct hs_pose_bounds four, eight;
    int count = 0;
    hs_pose_find_bounds_by(false, pose, sweep, slack, finds_nearest, &four);
    hs_pose_find_bounds_by(true, pose, sweep, slack, finds_nearest, &eight);
    ck_assert_msg(memcmp(four.near, eight.near, sizeof four.near) == 0, "case %ld", i);
    ck_assert(memcmp(four.excluded, eight.excluded, sizeof four.excluded) == 0);
    for (uint16_t h = hs_bounds_next(&four, 0); h != HS_NONE; h = hs_bounds_next(&four, h + 1)) {
        count++;
        bool has_contact = (double)four.gap[h] <= slack;
        ck_assert_msg(four.gap[h] == eight.gap[h] &&
                          (!has_contact || four.contact[h] == eight.contact[h]),
                      "case %ld, hitbox %d", i, h);
    }
    return count;
}

START_TEST(eight_lanes_compute_the_bounds_of_four)
{
    union hs_posted_pose_space from, to;
    long with_bounds = 0;
    if (!hs_lanes_can_be_eight())
        return;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        struct hs_ruleset *ruleset = hs_body_draw_ruleset(&random, 1);
        struct hs_bracket bracket = {
            .alpha = hs_random_chance(&random, 0.3) ? 0 : hs_random_unit(&random)};
        struct hs_pose pose = {.bracket = &bracket, .rig = ruleset->rigs[0]};
        struct hs_sample at = {.rotation = {0, 0, 0, 1}};
        bracket.from = bracket.to = &at;
        pose.rotation[3] = 1;
        pose.stance_from = pose.stance_to = &ruleset->rigs[0]->stances[0];
        hs_body_draw_pose(&random, ruleset->rigs[0], 1, &from.posted_pose);
        hs_body_draw_pose(&random, ruleset->rigs[0], 1, &to.posted_pose);
        pose.from = hs_random_chance(&random, 0.8) ? &from.posted_pose : NULL;
        pose.to = hs_random_chance(&random, 0.8) ? &to.posted_pose : NULL;
        struct hs_vec along = hs_random_direction(&random);
        double back = hs_random_log_between(&random, 0.1, 100);
        struct hs_vec through =
            hs_vec_scale(hs_random_direction(&random), hs_random_between(&random, 0, 1.5));
        struct hs_sweep sweep = {.start = hs_vec_add_scaled(through, along, -back),
                                 .direction = along,
                                 .length = back * hs_random_between(&random, 0.5, 1.5),
                                 .radius = hs_random_between(&random, 0, 0.2)};
        for (int nearest = 0; nearest < 2; nearest++)
            with_bounds += compare_lanes(&pose, &sweep, 1e-5, nearest == 1, i);
        hs_ruleset_destroy(ruleset);
    }
    printf("%ld hitboxes with bounds\n", with_bounds);
    ck_assert_int_gt(with_bounds, cases());
}
END_TEST

/* ---- grazes ---- */

/* Makes a rig with one ball around its root. */
static void make_ball(struct hs_rig *rig, double radius)
{
    memset(rig, 0, sizeof *rig);
    rig->bone_count = rig->hitbox_count = rig->stance_count = 1;
    rig->hitboxes[0] =
        (struct hs_hitbox){.shape = HS_SHAPE_SPHERE, .radius = radius, .rotation = {0, 0, 0, 1}};
    struct hs_rest_bone *bone = &rig->stances[0].bones[0];
    bone->rotation[3] = 1;
    bone->scale[0] = bone->scale[1] = bone->scale[2] = 1;
    hs_rig_finish(rig);
}

/* A sweep also touches bodies that it misses by at most the slack, which is a millimetre on a long
   path. The lower bound of the travel to the contact holds for such a touch, too. */
START_TEST(bounds_hold_for_grazes)
{
    static struct hs_rig rig;
    struct hs_bracket bracket = {0};
    long touched = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        struct hs_pose_bounds bounds;
        struct hs_sweep_contact contact;
        struct hs_solid solid;
        double radius = hs_random_between(&random, 0.05, 0.5);
        double half = hs_random_between(&random, 5, 1000);
        double slack = HS_TOUCH_SLACK * 2 * half;
        double beside = radius + slack * hs_random_unit(&random);
        make_ball(&rig, radius);
        struct hs_pose pose = {.bracket = &bracket, .rig = &rig, .rotation = {0, 0, 0, 1}};
        pose.stance_from = pose.stance_to = &rig.stances[0];
        struct hs_sweep sweep = {
            .start = {-half, beside, 0}, .direction = {1, 0, 0}, .length = 2 * half};
        hs_pose_find_bounds(&pose, &sweep, slack, false, &bounds);
        hs_pose_place(&pose, 0, &solid);
        hs_sweep_solid(&sweep, &solid, &contact);
        if (!contact.touched)
            continue;
        touched++;
        ck_assert_msg((bounds.near[0] & 1) != 0, "case %ld: the touched hitbox was excluded", i);
        ck_assert_msg((double)bounds.contact[0] + bounds.travelled <= contact.distance,
                      "case %ld: %.9f is no bound of %.9f", i,
                      (double)bounds.contact[0] + bounds.travelled, contact.distance);
    }
    ck_assert_int_gt(touched, cases() / 2);
}
END_TEST

int main(void)
{
    printf("hit bounds: HS_SEED=%llu, %ld cases\n", (unsigned long long)hs_test_seed(DEFAULT_SEED),
           cases());
    Suite *suite = suite_create("hit bounds");
    TCase *tcase = tcase_create("hit bounds");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, broad_phase_changes_no_answer);
    tcase_add_test(tcase, bounds_change_no_contact);
    tcase_add_test(tcase, eight_lanes_compute_the_bounds_of_four);
    tcase_add_test(tcase, bounds_hold_for_grazes);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
