/* The place of a player at a time: which two samples are used, and the position between them.
   Metres, milliseconds. */
#include <check.h>

#include "tests/support/play/past.h"
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

static enum hs_rewind_status status(int64_t time_us)
{
    struct hs_bracket bracket;
    return hs_rewind_find(past.history, past.rules, time_us, &bracket);
}

static struct hs_vec position(int64_t time_us)
{
    struct hs_bracket bracket = hs_past_find(&past, time_us);
    return hs_rewind_position(&bracket);
}

/* ---- brackets ---- */

START_TEST(no_sample_no_answer)
{
    ck_assert_int_eq(status(0), HS_REWIND_NO_HISTORY);
}
END_TEST

START_TEST(no_pose_before_the_oldest_sample)
{
    hs_past_put(&past, hs_past_at(HS_MS(800), 1, 2, 3), NULL);
    ck_assert_int_eq(status(HS_MS(800) - 1), HS_REWIND_TOO_SHORT);
    ck_assert_int_eq(status(HS_MS(790)), HS_REWIND_TOO_SHORT);
    struct hs_bracket bracket = hs_past_find(&past, HS_MS(800));
    ck_assert(!bracket.clamped && !bracket.held && bracket.alpha == 0);
    ck_assert(bracket.from == bracket.to);
}
END_TEST

START_TEST(the_newest_sample_counts_up_to_the_future_slack)
{
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), NULL);
    hs_past_put(&past, hs_past_at(HS_MS(50), 1, 0, 0), NULL);
    struct hs_bracket bracket = hs_past_find(&past, HS_MS(50));
    ck_assert(!bracket.clamped && bracket.time_us == HS_MS(50));
    for (int64_t beyond = 1; beyond <= HS_MS(50); beyond += HS_MS(49) + 999) {
        bracket = hs_past_find(&past, HS_MS(50) + beyond);
        ck_assert(bracket.clamped && !bracket.held && bracket.alpha == 0);
        ck_assert_int_eq(bracket.time_us, HS_MS(50));
        ck_assert_ptr_eq(bracket.from, bracket.to);
        hs_expect_vec(position(HS_MS(50) + beyond), 1, 0, 0, 0);
    }
    ck_assert_int_eq(status(HS_MS(100)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(100) + 1), HS_REWIND_AFTER_NEWEST);
    past.rules->rewind.future_slack_us = 0;
    ck_assert_int_eq(status(HS_MS(50)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(50) + 1), HS_REWIND_AFTER_NEWEST);
}
END_TEST

START_TEST(inside_a_long_gap_no_pose_is_known)
{
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), NULL);
    hs_past_put(&past, hs_past_at(HS_MS(150), 1, 0, 0), NULL);
    hs_past_put(&past, hs_past_at(HS_MS(300) + 1, 2, 0, 0), NULL);
    ck_assert_int_eq(status(HS_MS(75)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(151)), HS_REWIND_LOW_CONFIDENCE);
    ck_assert_int_eq(status(HS_MS(300)), HS_REWIND_LOW_CONFIDENCE);
    /* The place is known at both ends of a gap. */
    ck_assert_int_eq(status(HS_MS(150)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(300) + 1), HS_REWIND_OK);
}
END_TEST

START_TEST(positions_are_interpolated_between_samples)
{
    int64_t epoch = INT64_C(1700000000000000); /* a time as wall clocks have it now, in microseconds
                                                  since 1970 */
    for (int shifted = 0; shifted < 2; shifted++) {
        int64_t zero = shifted ? epoch : 0;
        hs_history_clear(past.history);
        hs_past_put(&past, hs_past_at(zero + HS_MS(850), 20, 3.4, 0), NULL);
        hs_past_put(&past, hs_past_at(zero + HS_MS(900), 20, 3.6, 0), NULL);
        struct hs_bracket bracket = hs_past_find(&past, zero + HS_MS(875));
        ck_assert_double_eq(bracket.alpha, 0.5);
        ck_assert_int_eq(bracket.from->time_us, zero + HS_MS(850));
        ck_assert_int_eq(bracket.to->time_us, zero + HS_MS(900));
        ck_assert_int_eq(bracket.time_us, zero + HS_MS(875));
        ck_assert(!bracket.clamped && !bracket.held);
        hs_expect_vec(position(zero + HS_MS(875)), 20, 3.5, 0, 1e-12);
        for (int us = 1; us < 50000; us += 997) {
            bracket = hs_past_find(&past, zero + HS_MS(850) + us);
            ck_assert_double_eq(bracket.alpha, us / 50000.0);
            hs_expect_vec(hs_rewind_position(&bracket), 20, 3.4 + 0.2 * us / 50000.0, 0, 1e-12);
        }
    }
}
END_TEST

/* ---- exactness ---- */

/* The pose at a sample's time is the same, bit for bit, whether the sample is alone or among
   others. */
START_TEST(at_a_sample_the_pose_is_the_stored_one)
{
    struct hs_sample samples[3];
    for (int i = 0; i < 3; i++) {
        samples[i] = hs_past_at(HS_MS(50 * i), 1e5 / 3 + i / 7.0, -i / 3.0, 0.1 * i);
        hs_past_yaw(&samples[i], 33 * i + 0.1);
        ck_assert(hs_quat_normalise(samples[i].rotation));
    }
    hs_past_put(&past, samples[1], NULL);
    struct hs_body alone = *hs_past_body(&past, HS_MS(50));
    struct hs_vec eye_alone = hs_past_eye(&past, HS_MS(50));
    hs_past_put(&past, samples[0], NULL);
    hs_past_put(&past, samples[2], NULL);
    struct hs_bracket bracket = hs_past_find(&past, HS_MS(50));
    ck_assert(bracket.from == bracket.to && bracket.alpha == 0 && !bracket.held);
    struct hs_vec root = hs_rewind_position(&bracket);
    ck_assert_mem_eq(&root, &samples[1].position, sizeof root);
    struct hs_body among = *hs_past_body(&past, HS_MS(50));
    ck_assert_uint_eq(among.count, 2);
    ck_assert_mem_eq(among.solids[0].axes, alone.solids[0].axes, sizeof alone.solids[0].axes);
    for (int i = 0; i < 2; i++) {
        ck_assert_mem_eq(&among.solids[i].center, &alone.solids[i].center, sizeof root);
        ck_assert_mem_eq(among.solids[i].axes, alone.solids[i].axes, sizeof alone.solids[i].axes);
    }
    struct hs_vec eye_among = hs_past_eye(&past, HS_MS(50));
    ck_assert_mem_eq(&eye_among, &eye_alone, sizeof eye_alone);
}
END_TEST

START_TEST(the_rest_pose_stands_on_the_root)
{
    hs_past_put(&past, hs_past_at(0, 10, 20, 30), NULL);
    struct hs_body *b = hs_past_body(&past, 0);
    ck_assert_uint_eq(b->count, 2);
    ck_assert_uint_eq(b->hitbox[0], HS_STAGE_HEAD);
    ck_assert_uint_eq(b->hitbox[1], HS_STAGE_TORSO);
    hs_expect_vec(b->solids[0].center, 10, 20, 31.6, HS_PAST_NEAR);
    hs_expect_vec(b->solids[1].center, 10, 20, 31.1, HS_PAST_NEAR);
    ck_assert_double_eq(b->solids[0].radius, 0.15);
    ck_assert_double_eq(b->solids[1].radius, 0.30);
    hs_expect_vec(b->solids[0].half_extents, 0, 0, 0, 0);
    hs_expect_vec(b->solids[1].half_extents, 0, 0, 0.2, 0);
    ck_assert(b->excluded[0] == 0 && b->excluded[1] == 0);
    hs_expect_vec(hs_past_eye(&past, 0), 10, 20, 31.6, HS_PAST_NEAR);
}
END_TEST

/* ---- discontinuities ---- */

/* Rows: the break in the second of three samples (0, 50, 100 ms at x = 0, 6, 7). */
enum break_kind { TELEPORT, SPAWN, UNFLAGGED, LIFE, RIG, DEATH, NOTHING };

static void put_break(enum break_kind kind)
{
    struct hs_sample middle = hs_past_at(HS_MS(50), 6, 0, 0);
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), NULL);
    if (kind == TELEPORT)
        middle.event = HS_EVENT_TELEPORT;
    if (kind == SPAWN)
        middle.event = HS_EVENT_SPAWN;
    if (kind == UNFLAGGED)
        middle.position.x = 11; /* 220 m/s, where 200 m/s are allowed */
    if (kind == LIFE || kind == SPAWN)
        past.state.life++;
    if (kind == RIG) {
        uint16_t rig = hs_ruleset_add_rig(past.rules, HS_STR("other"));
        struct hs_name name = past.rules->rigs[rig]->name;
        *past.rules->rigs[rig] = *past.rules->rigs[0];
        past.rules->rigs[rig]->name = name;
        past.state.rig = rig;
    }
    if (kind == DEATH) {
        middle.event = HS_EVENT_DEATH;
        past.state.alive = false;
    }
    hs_past_put(&past, middle, NULL);
    hs_past_put(&past, hs_past_at(HS_MS(100), 7, 0, 0), NULL);
}

START_TEST(nothing_is_interpolated_into_another_place_life_or_rig)
{
    enum break_kind kind = (enum break_kind)_i;
    put_break(kind);
    bool breaks = kind != DEATH && kind != NOTHING;
    double middle_x = kind == UNFLAGGED ? 11 : 6;
    for (int ms = 1; ms < 50; ms += 7) {
        struct hs_bracket bracket = hs_past_find(&past, HS_MS(ms));
        ck_assert_int_eq(bracket.held, breaks);
        ck_assert_double_eq(bracket.alpha, breaks ? 0 : ms / 50.0);
        ck_assert_int_eq(bracket.time_us, HS_MS(ms));
        ck_assert_int_eq(bracket.to->time_us, HS_MS(50));
        hs_expect_vec(hs_rewind_position(&bracket), breaks ? 0 : 6 * ms / 50.0, 0, 0, 1e-12);
        ck_assert_int_eq(hs_rewind_state(past.history, &bracket)->life, 0);
        ck_assert(hs_rewind_state(past.history, &bracket)->alive);
    }
    struct hs_bracket arrived = hs_past_find(&past, HS_MS(50));
    ck_assert(!arrived.held && arrived.alpha == 0);
    hs_expect_vec(hs_rewind_position(&arrived), middle_x, 0, 0, 0);
    ck_assert_int_eq(hs_rewind_state(past.history, &arrived)->alive, kind != DEATH);
    /* The jump belongs to the sample after it. After that sample the motion is smooth. */
    struct hs_bracket after = hs_past_find(&past, HS_MS(75));
    ck_assert(!after.held && after.alpha == 0.5);
    hs_expect_vec(hs_rewind_position(&after), (middle_x + 7) / 2, 0, 0, 1e-12);
}
END_TEST

START_TEST(a_gap_before_a_jump_has_no_pose)
{
    hs_past_put(&past, hs_past_at(0, 0, 0, 0), NULL);
    struct hs_sample jump = hs_past_at(HS_MS(151), 50, 0, 0);
    jump.event = HS_EVENT_TELEPORT;
    hs_past_put(&past, jump, NULL);
    ck_assert_int_eq(status(HS_MS(75)), HS_REWIND_LOW_CONFIDENCE);
}
END_TEST

START_TEST(before_a_jump_the_whole_body_is_the_older_one)
{
    struct hs_sample a = hs_past_at(0, 0, 0, 0), b = hs_past_at(HS_MS(50), 5, 0, 0);
    hs_past_yaw(&b, 90);
    b.event = HS_EVENT_TELEPORT;
    hs_past_put(&past, a, NULL);
    past.state.stance = 1;
    hs_past_put(&past, b, NULL);
    struct hs_body then = *hs_past_body(&past, 0);
    struct hs_body held = *hs_past_body(&past, HS_MS(49));
    for (int i = 0; i < 2; i++)
        ck_assert_mem_eq(&held.solids[i].center, &then.solids[i].center, sizeof(struct hs_vec));
    hs_expect_vec(hs_past_eye(&past, HS_MS(49)), 0, 0, 1.6, HS_PAST_NEAR);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rewind");
    TCase *tcase = tcase_create("rewind");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, no_sample_no_answer);
    tcase_add_test(tcase, no_pose_before_the_oldest_sample);
    tcase_add_test(tcase, the_newest_sample_counts_up_to_the_future_slack);
    tcase_add_test(tcase, inside_a_long_gap_no_pose_is_known);
    tcase_add_test(tcase, positions_are_interpolated_between_samples);
    tcase_add_test(tcase, at_a_sample_the_pose_is_the_stored_one);
    tcase_add_test(tcase, the_rest_pose_stands_on_the_root);
    tcase_add_loop_test(tcase, nothing_is_interpolated_into_another_place_life_or_rig, TELEPORT,
                        NOTHING + 1);
    tcase_add_test(tcase, a_gap_before_a_jump_has_no_pose);
    tcase_add_test(tcase, before_a_jump_the_whole_body_is_the_older_one);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
