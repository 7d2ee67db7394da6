/* The body and the eye at an earlier time: turns, stances, posted bones, boxes. Metres,
   milliseconds. */
#include <check.h>
#include <string.h>

#include "tests/support/play/past.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/angle.h"
#include "validators/geometry/quat.h"

static struct hs_past past;

static void set_up(void)
{
    hs_past_open(&past);
}

static void tear_down(void)
{
    hs_past_close(&past);
}

/* Hitboxes that are placed one by one equal those of the whole body. */
static void compare_one_by_one(const struct hs_bracket *bracket, const struct hs_body *whole)
{
    struct hs_pose pose;
    hs_rewind_pose(past.history, past.rules, bracket, &pose);
    ck_assert_ptr_eq(pose.rig, whole->rig);
    uint16_t k = 0;
    for (uint16_t i = 0; i < pose.rig->hitbox_count; i++) {
        struct hs_solid solid;
        bool is_there = k < whole->count && whole->hitbox[k] == i;
        ck_assert(hs_pose_place(&pose, i, &solid) == is_there);
        if (!is_there)
            continue;
        const struct hs_solid *same = &whole->solids[k++];
        ck_assert(memcmp(&solid.center, &same->center, sizeof solid.center) == 0);
        ck_assert(memcmp(solid.axes, same->axes, sizeof solid.axes) == 0);
        ck_assert(memcmp(&solid.half_extents, &same->half_extents, sizeof solid.half_extents) == 0);
        ck_assert(solid.radius == same->radius && solid.axis_aligned == same->axis_aligned);
    }
    ck_assert_uint_eq(k, whole->count);
}

static struct hs_body *body(int64_t time_us)
{
    struct hs_bracket bracket = hs_past_find(&past, time_us);
    hs_ruleset_finish(past.rules); /* because tests change the rig */
    struct hs_body *out = hs_past_body(&past, time_us);
    compare_one_by_one(&bracket, out);
    return out;
}

/* ---- turning ---- */

START_TEST(from_179_to_minus_179_by_way_of_180)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].center = (struct hs_vec){0.5, 0, 0};
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(100), 0, 0, 0);
    hs_past_yaw(&a, 179);
    hs_past_yaw(&b, -179);
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, NULL);
    hs_expect_vec(body(HS_MS(50))->solids[1].center, -0.5, 0, 0, HS_PAST_NEAR);
    hs_expect_vec(body(HS_MS(25))->solids[1].center, 0.5 * cos(179.5 * HS_PI / 180),
                  0.5 * sin(179.5 * HS_PI / 180), 0, HS_PAST_NEAR);
}
END_TEST

START_TEST(slerp_turns_at_a_constant_rate)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].center = (struct hs_vec){0.5, 0, 0};
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(100), 0, 0, 0);
    hs_past_yaw(&b, 120);
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, NULL);
    for (int ms = 0; ms < 100; ms++) {
        double angle = 120 * HS_PI / 180 * ms / 100;
        hs_expect_vec(body(HS_MS(ms))->solids[1].center, 0.5 * cos(angle), 0.5 * sin(angle), 0,
                      HS_PAST_NEAR);
    }
}
END_TEST

START_TEST(q_and_minus_q_are_one_pose)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].center = (struct hs_vec){0.5, 0, 0};
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(100), 0, 0, 0);
    hs_past_yaw(&a, 72);
    b = a;
    b.time_us = HS_MS(100);
    for (int i = 0; i < 4; i++)
        b.rotation[i] = -a.rotation[i];
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, NULL);
    for (int ms = 0; ms <= 100; ms += 10)
        hs_expect_vec(body(HS_MS(ms))->solids[1].center, 0.5 * cos(72 * HS_PI / 180),
                      0.5 * sin(72 * HS_PI / 180), 0, HS_PAST_NEAR);
}
END_TEST

/* ---- stances ---- */

START_TEST(between_stances_the_older_one_stands)
{
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(50), 1, 0, 0);
    hs_past_yaw(&b, 90);
    past.state.stance = 1;
    hs_past_put(&past, a, NULL);
    past.state.stance = 0;
    hs_past_put(&past, b, NULL);
    struct hs_body *b25 = body(HS_MS(25));
    hs_expect_vec(b25->solids[0].center, 0.5, 0, 1.1, HS_PAST_NEAR);
    hs_expect_vec(b25->solids[1].center, 0.5, 0, 1.1, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(25)), 0.5, 0, 1.1, HS_PAST_NEAR);
    hs_expect_vec(body(HS_MS(50))->solids[0].center, 1, 0, 1.6, HS_PAST_NEAR);
}
END_TEST

/* ---- posted bones ---- */

static union hs_posted_pose_space room;

static struct hs_posted_pose *bones_of(uint8_t stride)
{
    memset(&room, 0, sizeof room);
    struct hs_posted_pose *posted_pose = &room.posted_pose;
    posted_pose->stride = stride;
    posted_pose->bone_count = 2;
    posted_pose->present[0] = 3;
    posted_pose->reach = 10;
    for (int b = 0; b < 2; b++) {
        float *v = posted_pose->bones + b * stride;
        v[6] = 1;
        for (int k = HS_BONE_FLOATS; k < stride; k++)
            v[k] = 1;
    }
    return posted_pose;
}

static void set_bone(struct hs_posted_pose *posted_pose, int bone, double x, double y, double z,
                     double degrees)
{
    float *v = posted_pose->bones + bone * posted_pose->stride;
    v[0] = (float)x;
    v[1] = (float)y;
    v[2] = (float)z;
    v[5] = (float)sin(degrees * HS_PI / 360);
    v[6] = (float)cos(degrees * HS_PI / 360);
}

START_TEST(posted_bones_move_by_themselves)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_HEAD].center = (struct hs_vec){0.5, 0, 0};
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS);
    set_bone(posted_pose, 1, 0, 0, 1, 0);
    struct hs_sample a = hs_past_at(0, 100, 0, 0), b = hs_past_at(HS_MS(100), 104, 0, 0);
    hs_past_yaw(&b, 77); /* the turn of the root does not move posted bones */
    hs_past_put(&past, a, posted_pose);
    set_bone(posted_pose, 1, 0, 2, 1, 90);
    hs_past_put(&past, b, posted_pose);
    struct hs_vec got = body(HS_MS(50))->solids[0].center;
    hs_expect_vec(got, 102 + 0.5 * cos(HS_PI / 4), 1 + 0.5 * sin(HS_PI / 4), 1, HS_PAST_NEAR);
    hs_expect_vec(body(HS_MS(50))->solids[1].center, 102, 0, 1.1, HS_PAST_NEAR);
    hs_expect_vec(body(HS_MS(100))->solids[0].center, 104, 2.5, 1, HS_PAST_NEAR);
}
END_TEST

/* The bounding balls contain the body, whatever is posted: far from the origin, scaled, turned in
   any way, or with hitboxes beside their bones. */
START_TEST(bounding_balls_contain_every_posted_body)
{
    struct hs_random random = hs_random_start(hs_test_seed(12), (uint64_t)_i);
    struct hs_rig *rig = past.rules->rigs[0];
    for (int i = 0; i < rig->hitbox_count; i++)
        rig->hitboxes[i].center = hs_vec_scale(hs_random_direction(&random), 0.5);
    for (int ms = 0; ms <= 3000; ms += 100) {
        bool rests = hs_random_chance(&random, 0.2);
        struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS_SCALED);
        for (int b = 0; b < 2; b++) {
            struct hs_vec to = hs_random_direction(&random);
            set_bone(posted_pose, b, to.x, to.y, to.z, hs_random_between(&random, -180, 180));
            float *scale = posted_pose->bones + (size_t)b * posted_pose->stride + HS_BONE_FLOATS;
            for (int k = 0; k < 3; k++)
                scale[k] = (float)hs_random_between(&random, -3, 3);
        }
        struct hs_sample sample = hs_past_at(HS_MS(ms), 1e6 + ms * 0.01, -1e5, 3);
        hs_past_yaw(&sample, hs_random_between(&random, -180, 180));
        hs_past_put(&past, sample, rests ? NULL : posted_pose);
    }
    for (int i = 0; i < 200; i++)
        ck_assert_uint_eq(body(hs_random_index(&random, HS_MS(3000)))->count, rig->hitbox_count);
}
END_TEST

START_TEST(bones_missing_in_one_sample_are_left_out)
{
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS);
    posted_pose->present[0] =
        _i == 0 ? 1 : 3; /* row 0: the older sample has no head, row 1: the newer one has none */
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), posted_pose);
    posted_pose->present[0] = _i == 0 ? 3 : 1;
    hs_past_put(&past, hs_past_at(HS_MS(100), 0, 0, 0), posted_pose);
    struct hs_body *b = body(HS_MS(50));
    ck_assert_uint_eq(b->count, 1);
    ck_assert_uint_eq(b->hitbox[0], HS_STAGE_TORSO);
    ck_assert_uint_eq(b->excluded[0], 2);
    ck_assert_uint_eq(b->excluded[1], 0);
    /* At the time of a sample, only that sample decides which bones exist. */
    ck_assert_uint_eq(body(0)->count, _i == 0 ? 1 : 2);
    ck_assert_uint_eq(body(HS_MS(100))->count, _i == 0 ? 2 : 1);
    ck_assert_uint_eq(body(HS_MS(100))->excluded[0], _i == 0 ? 0 : 2);
}
END_TEST

START_TEST(an_older_pose_needs_no_bones_of_the_next_sample)
{
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS);
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), posted_pose);
    posted_pose->present[0] = 1;
    struct hs_sample jump = hs_past_at(HS_MS(100), 0, 0, 0);
    jump.event = HS_EVENT_TELEPORT;
    hs_past_put(&past, jump, posted_pose);
    ck_assert_uint_eq(body(HS_MS(50))->count, 2);
    ck_assert_uint_eq(body(HS_MS(50))->excluded[0], 0);
}
END_TEST

START_TEST(posted_bones_meet_a_rest_pose)
{
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS);
    set_bone(posted_pose, 1, 0, 0, 2, 0);
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), posted_pose);
    hs_past_put(&past, hs_past_at(HS_MS(100), 2, 0, 0), NULL);
    hs_past_put(&past, hs_past_at(HS_MS(200), 2, 0, 0), posted_pose);
    hs_expect_vec(body(HS_MS(50))->solids[0].center, 1, 0, 1.8, HS_PAST_NEAR);
    hs_expect_vec(body(HS_MS(150))->solids[0].center, 2, 0, 1.8, HS_PAST_NEAR);
}
END_TEST

START_TEST(scale_is_interpolated_and_grows_the_shapes)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_HEAD].center = (struct hs_vec){0, 0, 0.5};
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS_SCALED);
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), bones_of(HS_BONE_FLOATS_SCALED));
    posted_pose = bones_of(HS_BONE_FLOATS_SCALED);
    for (int b = 0; b < 2; b++) {
        float *v = posted_pose->bones + b * posted_pose->stride;
        v[7] = 3;
        v[8] = 2;
        v[9] = 5;
    }
    hs_past_put(&past, hs_past_at(HS_MS(100), 0, 0, 0), posted_pose);
    const struct hs_solid *s = body(HS_MS(100))->solids;
    /* a sphere takes the largest scale */
    ck_assert_double_eq_tol(s[0].radius, 0.15 * 5, HS_PAST_NEAR);
    hs_expect_vec(s[0].center, 0, 0, 2.5, HS_PAST_NEAR);
    /* a capsule's radius takes the scale across its axis */
    ck_assert_double_eq_tol(s[1].radius, 0.30 * 3, HS_PAST_NEAR);
    ck_assert_double_eq_tol(s[1].half_extents.z, 0.2 * 5, HS_PAST_NEAR);
    s = body(HS_MS(50))->solids;
    ck_assert_double_eq_tol(s[0].radius, 0.15 * 3, HS_PAST_NEAR);
    ck_assert_double_eq_tol(s[1].radius, 0.30 * 2, HS_PAST_NEAR);
    ck_assert_double_eq_tol(s[1].half_extents.z, 0.2 * 3, HS_PAST_NEAR);
    hs_expect_vec(s[1].center, 0, 0, 3.3, HS_PAST_NEAR);
}
END_TEST

START_TEST(mirrored_bones_keep_their_size)
{
    past.rules->rigs[0]->hitboxes[HS_STAGE_HEAD].center = (struct hs_vec){0.25, 0, 0};
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS_SCALED);
    posted_pose->bones[posted_pose->stride + HS_BONE_FLOATS] = -2;
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), posted_pose);
    const struct hs_solid *s = body(0)->solids;
    ck_assert_double_eq_tol(s[0].radius, 0.30, HS_PAST_NEAR);
    hs_expect_vec(s[0].center, -0.5, 0, 0, HS_PAST_NEAR);
}
END_TEST

/* ---- boxes ---- */

static void box_on_the_root(bool axis_aligned)
{
    struct hs_hitbox *box = &past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO];
    *box = (struct hs_hitbox){.bone = 0,
                              .zone = HS_STAGE_TORSO,
                              .shape = HS_SHAPE_BOX,
                              .half_extents = {1, 2, 3},
                              .center = {0.5, 0, 4},
                              .rotation = {0, 0, 0, 1},
                              .axis_aligned = axis_aligned};
    hs_ruleset_finish(past.rules);
}

START_TEST(axis_aligned_boxes_ignore_every_turn)
{
    box_on_the_root(true);
    /* the hitbox's own rotation does not turn it either */
    past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].rotation[0] = 1;
    past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].rotation[3] = 0;
    struct hs_sample a = hs_past_at(0, 10, 0, 0), b = hs_past_at(HS_MS(100), 12, 0, 0);
    hs_past_yaw(&a, 45);
    hs_past_yaw(&b, 180);
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, NULL);
    for (int ms = 0; ms <= 100; ms += 20) {
        const struct hs_solid *s = &body(HS_MS(ms))->solids[1];
        ck_assert(s->axis_aligned);
        hs_expect_vec(s->center, 10.5 + 0.02 * ms, 0, 4, HS_PAST_NEAR);
        hs_expect_vec(s->half_extents, 1, 2, 3, 0);
        ck_assert_double_eq(s->radius, 0);
        for (int i = 0; i < 3; i++)
            hs_expect_vec(s->axes[i], i == 0, i == 1, i == 2, 0);
    }
}
END_TEST

START_TEST(oriented_boxes_turn_with_the_bone_and_by_themselves)
{
    box_on_the_root(false);
    float *own = past.rules->rigs[0]->hitboxes[HS_STAGE_TORSO].rotation;
    own[0] = own[3] = (float)sqrt(0.5); /* a quarter turn about x turns y to z, and z to -y */
    struct hs_sample a = hs_past_at(0, 10, 0, 0);
    hs_past_yaw(&a, 90);
    hs_past_put(&past, a, NULL);
    const struct hs_solid *s = &body(0)->solids[1];
    ck_assert(!s->axis_aligned);
    hs_expect_vec(s->center, 10, 0.5, 4, HS_PAST_NEAR); /* the centre is turned by the bone only */
    hs_expect_vec(s->axes[0], 0, 1, 0, HS_PAST_NEAR);
    hs_expect_vec(s->axes[1], 0, 0, 1, HS_PAST_NEAR);
    hs_expect_vec(s->axes[2], 1, 0, 0, HS_PAST_NEAR);
    hs_expect_vec(s->half_extents, 1, 2, 3, 0);
}
END_TEST

/* ---- eyes ---- */

START_TEST(eyes_of_stances_turn_with_the_root)
{
    past.rules->rigs[0]->stances[0].eye = (struct hs_vec){0.5, 0, 1.5};
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(100), 2, 0, 0);
    hs_past_yaw(&b, 90);
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, NULL);
    hs_expect_vec(hs_past_eye(&past, 0), 0.5, 0, 1.5, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(100)), 2, 0.5, 1.5, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(50)), 1 + 0.5 * cos(HS_PI / 4), 0.5 * sin(HS_PI / 4),
                  1.5, HS_PAST_NEAR);
}
END_TEST

static const struct hs_posted_pose *eye_at(double z)
{
    memset(&room, 0, sizeof room);
    room.posted_pose.stride = HS_BONE_FLOATS;
    room.posted_pose.has_eye = true;
    room.posted_pose.eye[2] = z;
    return &room.posted_pose;
}

START_TEST(posted_eyes_are_interpolated)
{
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), eye_at(1));
    hs_past_put(&past, hs_past_at(HS_MS(100), 2, 0, 0), eye_at(3));
    hs_past_put(&past, hs_past_at(HS_MS(200), 4, 0, 0), NULL);
    hs_past_put(&past, hs_past_at(HS_MS(300), 6, 0, 0), eye_at(1));
    struct hs_sample jump = hs_past_at(HS_MS(400), 8, 0, 0);
    jump.event = HS_EVENT_TELEPORT;
    hs_past_put(&past, jump, NULL);
    hs_expect_vec(hs_past_eye(&past, 0), 0, 0, 1, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(25)), 0.5, 0, 1.5, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(100)), 2, 0, 3, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(150)), 3, 0, 2.3,
                  HS_PAST_NEAR); /* between the posted height and the height of the stance */
    hs_expect_vec(hs_past_eye(&past, HS_MS(200)), 4, 0, 1.6, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(250)), 5, 0, 1.3, HS_PAST_NEAR); /* from the height of
                                                                               the stance back to
                                                                               the posted height */
    hs_expect_vec(hs_past_eye(&past, HS_MS(300)), 6, 0, 1, HS_PAST_NEAR);
    hs_expect_vec(hs_past_eye(&past, HS_MS(350)), 6, 0, 1,
                  HS_PAST_NEAR); /* constant until the teleport */
    hs_expect_vec(hs_past_eye(&past, HS_MS(420)), 8, 0, 1.6, HS_PAST_NEAR);
    /* Posted eyes do not affect the bones. */
    ck_assert_uint_eq(body(HS_MS(25))->count, 2);
    hs_expect_vec(body(HS_MS(25))->solids[0].center, 0.5, 0, 1.6, HS_PAST_NEAR);
}
END_TEST

/* ---- reach ---- */

START_TEST(reach_covers_the_body)
{
    box_on_the_root(_i % 2 == 1);
    struct hs_posted_pose *posted_pose = bones_of(HS_BONE_FLOATS);
    posted_pose->reach = 9;
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(100), 2, 0, 0);
    hs_past_yaw(&b, 60);
    hs_past_put(&past, a, NULL);
    hs_past_put(&past, b, posted_pose);
    struct hs_bracket bracket = hs_past_find(&past, 0);
    double standing = hs_rewind_reach(past.history, past.rules, &bracket);
    /* The furthest corner of the box is (1.5, 2, 7), at a distance of 7.43. */
    ck_assert_double_ge(standing, hs_vec_length((struct hs_vec){1.5, 2, 7}));
    ck_assert_double_le(standing, hs_vec_length((struct hs_vec){0.5, 0, 4}) +
                                      hs_vec_length((struct hs_vec){1, 2, 3}) + 1e-9);
    bracket = hs_past_find(&past, HS_MS(50));
    ck_assert_double_eq(hs_rewind_reach(past.history, past.rules, &bracket), 9);
    bracket = hs_past_find(&past, HS_MS(100));
    ck_assert_double_eq(hs_rewind_reach(past.history, past.rules, &bracket), 9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rewind body");
    TCase *tcase = tcase_create("rewind");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, from_179_to_minus_179_by_way_of_180);
    tcase_add_test(tcase, slerp_turns_at_a_constant_rate);
    tcase_add_test(tcase, q_and_minus_q_are_one_pose);
    tcase_add_test(tcase, between_stances_the_older_one_stands);
    tcase_add_test(tcase, posted_bones_move_by_themselves);
    tcase_add_loop_test(tcase, bounding_balls_contain_every_posted_body, 0, 20);
    tcase_add_loop_test(tcase, bones_missing_in_one_sample_are_left_out, 0, 2);
    tcase_add_test(tcase, an_older_pose_needs_no_bones_of_the_next_sample);
    tcase_add_test(tcase, posted_bones_meet_a_rest_pose);
    tcase_add_test(tcase, scale_is_interpolated_and_grows_the_shapes);
    tcase_add_test(tcase, mirrored_bones_keep_their_size);
    tcase_add_test(tcase, axis_aligned_boxes_ignore_every_turn);
    tcase_add_test(tcase, oriented_boxes_turn_with_the_bone_and_by_themselves);
    tcase_add_test(tcase, eyes_of_stances_turn_with_the_root);
    tcase_add_test(tcase, posted_eyes_are_interpolated);
    tcase_add_loop_test(tcase, reach_covers_the_body, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
