/*
 * Bounds never exclude a body that counts. Random fights are verified with the broad phase, and
 * again with infinite bounds, so that every player is searched. The answers are equal, byte for
 * byte. The contact with each body, which the bounds search for, is also compared with sweeps of
 * every hitbox, bit for bit. The extent of random poses contains their hitboxes at any time.
 */
#include <check.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/scene.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/quat.h"
#include "validators/history/bounds.h"
#include "validators/history/crowd.h"
#include "validators/history/extent.h"
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

/* Makes the bounds of all players infinite, so that no player counts as far away. */
static void open_bounds(struct hs_match *match)
{
    for (uint32_t i = 0; i < match->players.count; i++) {
        struct hs_crowd *crowd = &match->players.crowd[i / 4];
        struct hs_history_span *span = &match->players.all[i]->history->span;
        crowd->from_us[i % 4] = crowd->all_from_us = INT64_MAX;
        span->longest_gap_us = INT64_MAX;
        for (int a = 0; a < 3; a++) {
            span->posted.low[a] = -FLT_MAX;
            span->posted.high[a] = FLT_MAX;
        }
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

/* Draws the bounds of one player. */
static void draw_bounds(struct hs_random *random, struct hs_crowd *crowd, int i)
{
    double unit = hs_random_log_between(random, 1, 100);
    for (int a = 0; a < 3; a++) {
        crowd->middle[a][i] = (float)hs_random_between(random, -unit, unit);
        crowd->half[a][i] = (float)hs_random_between(random, 0, unit / 4);
    }
    crowd->from_us[i] = hs_random_index(random, 100);
    crowd->until_us[i] = 100 + hs_random_index(random, 100);
}

/* Eight players at a time are tested with the same results as four at a time. */
START_TEST(lanes_change_no_bit)
{
    enum { CROWDS = 16 };
    static struct hs_crowd crowd[CROWDS];
    long near = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        for (int k = 0; k < 4 * CROWDS; k++)
            draw_bounds(&random, &crowd[k / 4], k % 4);
        for (int k = 0; k < CROWDS; k++) {
            crowd[k].all_from_us = 100;
            crowd[k].all_until_us = 100;
        }
        struct hs_sweep sweep = {.start = hs_vec_scale(hs_random_direction(&random), 40),
                                 .direction = hs_random_direction(&random),
                                 .length = hs_random_between(&random, 0, 100),
                                 .radius = hs_random_between(&random, 0, 1)};
        struct hs_passing passing;
        uint32_t count = (uint32_t)hs_random_index(&random, CROWDS + 1);
        hs_passing_of(&sweep, 50 + hs_random_index(&random, 100), &passing);
        uint64_t bits = hs_crowd_near(crowd, count, &passing);
        ck_assert_uint_eq(bits, hs_crowd_near_by_four(crowd, count, &passing));
        near += __builtin_popcountll(bits);
    }
    printf("%ld near players\n", near);
    ck_assert_int_gt(near, cases());
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

/* ---- extents ---- */

static void draw_rotation(struct hs_random *random, float out[4])
{
    double half = hs_random_between(random, -1.57, 1.57);
    hs_vec_to_floats(hs_vec_scale(hs_random_direction(random), sin(half)), out);
    out[3] = (float)cos(half);
    hs_quat_normalise(out);
}

static void draw_rig(struct hs_random *random, struct hs_rig *rig)
{
    memset(rig, 0, sizeof *rig);
    rig->bone_count = (uint16_t)(1 + hs_random_index(random, 70));
    rig->hitbox_count = (uint16_t)(1 + hs_random_index(random, 10));
    double unit = hs_random_log_between(random, 1e-2, 100);
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        struct hs_hitbox *box = &rig->hitboxes[i];
        box->bone = (uint16_t)hs_random_index(random, rig->bone_count);
        box->shape = (enum hs_shape)hs_random_index(random, HS_SHAPE_COUNT);
        box->radius = unit * hs_random_between(random, 0.01, 0.3);
        box->half_length = unit * hs_random_between(random, 0.01, 0.5);
        box->half_extents = hs_vec_scale(hs_random_direction(random), unit);
        box->half_extents = (struct hs_vec){fabs(box->half_extents.x), fabs(box->half_extents.y),
                                            fabs(box->half_extents.z)};
        if (hs_random_chance(random, 0.5))
            box->center = hs_vec_scale(hs_random_direction(random), unit);
        box->axis_aligned = hs_random_chance(random, 0.3);
        draw_rotation(random, box->rotation);
    }
    hs_rig_finish(rig);
}

/* Draws a posted pose. Some bones are missing, mirrored, scaled, or far from the root. */
static void draw_pose(struct hs_random *random, const struct hs_rig *rig,
                      struct hs_posted_pose *out)
{
    bool is_whole = hs_random_chance(random, 0.5);
    out->stride = hs_random_chance(random, 0.5) ? HS_BONE_FLOATS : HS_BONE_FLOATS_SCALED;
    out->bone_count = rig->bone_count;
    memset(out->present, 0, sizeof out->present);
    for (uint16_t b = 0; b < rig->bone_count; b++) {
        float *v = out->bones + (size_t)b * out->stride;
        double far = hs_random_log_between(random, 1e-3, 1e3);
        hs_vec_to_floats(hs_vec_scale(hs_random_direction(random), far), v);
        draw_rotation(random, v + 3);
        for (int k = HS_BONE_FLOATS; k < out->stride; k++)
            v[k] = (float)(hs_random_log_between(random, 0.1, 10) *
                           (hs_random_chance(random, 0.3) ? -1 : 1));
        if (is_whole || hs_random_chance(random, 0.8))
            out->present[b / 64] |= UINT64_C(1) << (b % 64);
    }
    out->reach = (float)(hs_extent_measure(rig, out) * (1 + 1e-6));
}

/* How far a hitbox reaches from its centre, along one axis. */
static double half_of(const struct hs_solid *solid, int axis)
{
    const double half[3] = {solid->half_extents.x, solid->half_extents.y, solid->half_extents.z};
    double sum = solid->radius;
    for (int i = 0; i < 3; i++) {
        const double along[3] = {solid->axes[i].x, solid->axes[i].y, solid->axes[i].z};
        sum += fabs(along[axis]) * half[i];
    }
    return sum;
}

static void check_inside(const struct hs_extent *extent, const struct hs_solid *solid, long i)
{
    const double center[3] = {solid->center.x, solid->center.y, solid->center.z};
    for (int a = 0; a < 3; a++) {
        double half = half_of(solid, a);
        ck_assert_msg(center[a] - half >= (double)extent->low[a] &&
                          center[a] + half <= (double)extent->high[a],
                      "case %ld, axis %d: %.9g +- %.9g is not in [%.9g, %.9g]", i, a, center[a],
                      half, (double)extent->low[a], (double)extent->high[a]);
    }
}

/* A sphere that misses the extent misses the hitbox, too. */
static bool check_missed(struct hs_random *random, const struct hs_extent *extent,
                         const struct hs_solid *solid, long i)
{
    double reach = hs_extent_reach(extent), distance;
    struct hs_vec start = hs_vec_scale(hs_random_direction(random), 2 * reach);
    struct hs_vec to = hs_vec_add_scaled(solid->center, hs_random_direction(random),
                                         reach * hs_random_unit(random));
    struct hs_vec path = hs_vec_sub(to, start);
    double length = hs_vec_length(path) * hs_random_between(random, 0.5, 2);
    struct hs_sweep sweep = {.start = start,
                             .direction = hs_vec_scale(path, 1 / hs_vec_length(path)),
                             .length = length,
                             .radius = hs_random_chance(random, 0.5) ? 0 : reach / 50};
    struct hs_vec half = hs_vec_scale(sweep.direction, length / 2);
    double slack = 4 * HS_TOUCH_SLACK * (length + sweep.radius);
    bool is_missed =
        hs_extent_is_missed(extent, hs_vec_add(start, half), half, sweep.radius + slack);
    ck_assert_msg(!is_missed || !hs_sweep_touches(&sweep, solid, &distance), "case %ld", i);
    return is_missed;
}

/* Every machine computes the same bounds, bit for bit. */
static void compare_lanes(struct hs_random *random, const struct hs_pose *pose, long i)
{
    static struct hs_pose_bounds bounds, plain;
    struct hs_sweep sweep = {.start = hs_vec_scale(hs_random_direction(random), 10),
                             .direction = hs_random_direction(random),
                             .length = hs_random_between(random, 0, 100),
                             .radius = hs_random_unit(random)};
    bool finds_nearest = hs_random_chance(random, 0.5);
    memset(&bounds, 0, sizeof bounds);
    memset(&plain, 0, sizeof plain);
    hs_pose_find_bounds(pose, &sweep, 1e-3, finds_nearest, &bounds);
    hs_pose_find_bounds_plainly(pose, &sweep, 1e-3, finds_nearest, &plain);
    ck_assert_msg(memcmp(&bounds, &plain, sizeof bounds) == 0, "case %ld", i);
}

START_TEST(extents_contain_every_hitbox)
{
    static struct hs_rig rig;
    static union hs_posted_pose_space from, to;
    long placed = 0, missed = 0;
    for (long i = 0; i < cases(); i++) {
        struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)i);
        draw_rig(&random, &rig);
        draw_pose(&random, &rig, &from.posted_pose);
        draw_pose(&random, &rig, &to.posted_pose);
        struct hs_extent extent = from.posted_pose.extent;
        hs_extent_join(&extent, &to.posted_pose.extent);
        for (int k = 0; k < 20; k++) {
            struct hs_bracket bracket = {.alpha = k < 1 ? 0 : hs_random_unit(&random)};
            struct hs_pose pose = {.bracket = &bracket, .rig = &rig};
            pose.from = &from.posted_pose;
            pose.to = &to.posted_pose;
            compare_lanes(&random, &pose, i);
            struct hs_solid solid;
            uint16_t hitbox = (uint16_t)hs_random_index(&random, rig.hitbox_count);
            if (!hs_pose_place(&pose, hitbox, &solid))
                continue;
            placed++;
            check_inside(k < 1 ? &from.posted_pose.extent : &extent, &solid, i);
            missed += check_missed(&random, &extent, &solid, i);
        }
    }
    printf("%ld hitboxes, %ld missed\n", placed, missed);
    ck_assert_int_gt(placed, 10 * cases());
    ck_assert_int_gt(missed, cases() / 10);
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
    tcase_add_test(tcase, lanes_change_no_bit);
    tcase_add_test(tcase, bounds_change_no_contact);
    tcase_add_test(tcase, extents_contain_every_hitbox);
    tcase_add_test(tcase, bounds_hold_for_grazes);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
