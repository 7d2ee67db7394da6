/* Where a player was at a time: which two samples, and the root. Metres, milliseconds. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "tests/support/stage.h"
#include "validators/quat.h"
#include "validators/rewind.h"

#define PI 3.14159265358979323846
/* Of places worked out by hand: what single precision leaves at a few metres from the root. */
#define NEAR 1e-6

static struct hs_ruleset *rules;
static struct hs_history *history;
static struct hs_state state;

static void set_up(void)
{
    rules = hs_stage_ruleset();
    history = hs_history_create(&(struct hs_history_limits){.samples = 64});
    state = (struct hs_state){.damage_scale = 1, .ammo = -1, .alive = true};
}

static void tear_down(void)
{
    hs_history_destroy(history);
    hs_ruleset_destroy(rules);
}

static struct hs_sample at(int64_t time_us, double x, double y, double z)
{
    return (struct hs_sample){.time_us = time_us, .position = {x, y, z}, .rotation = {0, 0, 0, 1}};
}

static void yaw(struct hs_sample *sample, double degrees)
{
    sample->rotation[2] = (float)sin(degrees * PI / 360);
    sample->rotation[3] = (float)cos(degrees * PI / 360);
}

static void put_extra(struct hs_sample sample, const struct hs_extra *extra)
{
    ck_assert_int_eq(hs_history_insert(history, &rules->history, &sample, &state, extra),
                     HS_INSERT_STORED);
}

static void put(struct hs_sample sample)
{
    put_extra(sample, NULL);
}

static struct hs_bracket find(int64_t time_us)
{
    struct hs_bracket bracket;
    memset(&bracket, 0xA5, sizeof bracket);
    ck_assert_int_eq(hs_rewind_find(history, rules, time_us, &bracket), HS_REWIND_OK);
    return bracket;
}

static enum hs_rewind_status status(int64_t time_us)
{
    struct hs_bracket bracket;
    return hs_rewind_find(history, rules, time_us, &bracket);
}

static struct hs_vec position(int64_t time_us)
{
    struct hs_bracket bracket = find(time_us);
    return hs_rewind_position(&bracket);
}

static struct hs_vec eye(int64_t time_us)
{
    struct hs_bracket bracket = find(time_us);
    return hs_rewind_eye(history, rules, &bracket);
}

static struct hs_body *body(int64_t time_us)
{
    static struct hs_body out;
    struct hs_bracket bracket = find(time_us);
    memset(&out, 0xA5, sizeof out);
    hs_rewind_body(history, rules, &bracket, &out);
    return &out;
}

static void expect_vec(struct hs_vec got, double x, double y, double z, double tolerance)
{
    ck_assert_msg(hs_vec_distance(got, (struct hs_vec){x, y, z}) <= tolerance,
                  "%.9g %.9g %.9g instead of %.9g %.9g %.9g", got.x, got.y, got.z, x, y, z);
}

/* ---- brackets ---- */

START_TEST(no_sample_no_answer)
{
    ck_assert_int_eq(status(0), HS_REWIND_NO_HISTORY);
}
END_TEST

START_TEST(before_the_oldest)
{
    put(at(HS_MS(800), 1, 2, 3));
    ck_assert_int_eq(status(HS_MS(800) - 1), HS_REWIND_TOO_SHORT);
    ck_assert_int_eq(status(HS_MS(790)), HS_REWIND_TOO_SHORT);
    struct hs_bracket bracket = find(HS_MS(800));
    ck_assert(!bracket.clamped && !bracket.held && bracket.alpha == 0);
    ck_assert(bracket.from == bracket.to);
}
END_TEST

START_TEST(after_the_newest)
{
    put(at(0, 0, 0, 0));
    put(at(HS_MS(50), 1, 0, 0));
    struct hs_bracket bracket = find(HS_MS(50));
    ck_assert(!bracket.clamped && bracket.time_us == HS_MS(50));
    for (int64_t beyond = 1; beyond <= HS_MS(50); beyond += HS_MS(49) + 999) {
        bracket = find(HS_MS(50) + beyond);
        ck_assert(bracket.clamped && !bracket.held && bracket.alpha == 0);
        ck_assert_int_eq(bracket.time_us, HS_MS(50));
        ck_assert_ptr_eq(bracket.from, bracket.to);
        expect_vec(position(HS_MS(50) + beyond), 1, 0, 0, 0);
    }
    ck_assert_int_eq(status(HS_MS(100)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(100) + 1), HS_REWIND_AFTER_NEWEST);
    rules->rewind.future_slack_us = 0;
    ck_assert_int_eq(status(HS_MS(50)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(50) + 1), HS_REWIND_AFTER_NEWEST);
}
END_TEST

START_TEST(gaps)
{
    put(at(0, 0, 0, 0));
    put(at(HS_MS(150), 1, 0, 0));
    put(at(HS_MS(300) + 1, 2, 0, 0));
    ck_assert_int_eq(status(HS_MS(75)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(151)), HS_REWIND_LOW_CONFIDENCE);
    ck_assert_int_eq(status(HS_MS(300)), HS_REWIND_LOW_CONFIDENCE);
    /* At its ends a gap is no gap. */
    ck_assert_int_eq(status(HS_MS(150)), HS_REWIND_OK);
    ck_assert_int_eq(status(HS_MS(300) + 1), HS_REWIND_OK);
}
END_TEST

START_TEST(shares_between_two_samples)
{
    int64_t epoch = INT64_C(1700000000000000); /* today's, in microseconds */
    for (int shifted = 0; shifted < 2; shifted++) {
        int64_t zero = shifted ? epoch : 0;
        hs_history_clear(history);
        put(at(zero + HS_MS(850), 20, 3.4, 0));
        put(at(zero + HS_MS(900), 20, 3.6, 0));
        struct hs_bracket bracket = find(zero + HS_MS(875));
        ck_assert_double_eq(bracket.alpha, 0.5);
        ck_assert_int_eq(bracket.from->time_us, zero + HS_MS(850));
        ck_assert_int_eq(bracket.to->time_us, zero + HS_MS(900));
        ck_assert_int_eq(bracket.time_us, zero + HS_MS(875));
        ck_assert(!bracket.clamped && !bracket.held);
        expect_vec(position(zero + HS_MS(875)), 20, 3.5, 0, 1e-12);
        for (int us = 1; us < 50000; us += 997) {
            bracket = find(zero + HS_MS(850) + us);
            ck_assert_double_eq(bracket.alpha, us / 50000.0);
            expect_vec(hs_rewind_position(&bracket), 20, 3.4 + 0.2 * us / 50000.0, 0, 1e-12);
        }
    }
}
END_TEST

/* ---- exactness ---- */

/* Alone, a sample can only be itself; among others it must be the same, bit for bit. */
START_TEST(at_a_sample_the_pose_is_the_stored_one)
{
    struct hs_sample samples[3];
    for (int i = 0; i < 3; i++) {
        samples[i] = at(HS_MS(50 * i), 1e5 / 3 + i / 7.0, -i / 3.0, 0.1 * i);
        yaw(&samples[i], 33 * i + 0.1);
        ck_assert(hs_quat_normalise(samples[i].rotation));
    }
    put(samples[1]);
    struct hs_body alone = *body(HS_MS(50));
    struct hs_vec eye_alone = eye(HS_MS(50));
    put(samples[0]);
    put(samples[2]);
    struct hs_bracket bracket = find(HS_MS(50));
    ck_assert(bracket.from == bracket.to && bracket.alpha == 0 && !bracket.held);
    struct hs_vec root = hs_rewind_position(&bracket);
    ck_assert_mem_eq(&root, &samples[1].position, sizeof root);
    struct hs_body among = *body(HS_MS(50));
    ck_assert_uint_eq(among.count, 2);
    ck_assert_mem_eq(among.solids[0].axes, alone.solids[0].axes, sizeof alone.solids[0].axes);
    for (int i = 0; i < 2; i++) {
        ck_assert_mem_eq(&among.solids[i].center, &alone.solids[i].center, sizeof root);
        ck_assert_mem_eq(among.solids[i].axes, alone.solids[i].axes, sizeof alone.solids[i].axes);
    }
    struct hs_vec eye_among = eye(HS_MS(50));
    ck_assert_mem_eq(&eye_among, &eye_alone, sizeof eye_alone);
}
END_TEST

START_TEST(the_standing_body)
{
    put(at(0, 10, 20, 30));
    struct hs_body *b = body(0);
    ck_assert_uint_eq(b->count, 2);
    ck_assert_uint_eq(b->hitbox[0], HS_STAGE_HEAD);
    ck_assert_uint_eq(b->hitbox[1], HS_STAGE_TORSO);
    expect_vec(b->solids[0].center, 10, 20, 31.6, NEAR);
    expect_vec(b->solids[1].center, 10, 20, 31.1, NEAR);
    ck_assert_double_eq(b->solids[0].radius, 0.15);
    ck_assert_double_eq(b->solids[1].radius, 0.30);
    expect_vec(b->solids[0].half_extents, 0, 0, 0, 0);
    expect_vec(b->solids[1].half_extents, 0, 0, 0.2, 0);
    ck_assert(b->excluded[0] == 0 && b->excluded[1] == 0);
    expect_vec(eye(0), 10, 20, 31.6, NEAR);
}
END_TEST

/* ---- discontinuities ---- */

/* Row: what the second of three samples (0, 50, 100 ms at x = 0, 6, 7) is. */
enum break_kind { TELEPORT, SPAWN, UNFLAGGED, LIFE, RIG, DEATH, NOTHING };

static void put_break(enum break_kind kind)
{
    struct hs_sample middle = at(HS_MS(50), 6, 0, 0);
    put(at(0, 0, 0, 0));
    if (kind == TELEPORT)
        middle.event = HS_EVENT_TELEPORT;
    if (kind == SPAWN)
        middle.event = HS_EVENT_SPAWN;
    if (kind == UNFLAGGED)
        middle.position.x = 11; /* 220 a second, 200 allowed */
    if (kind == LIFE || kind == SPAWN)
        state.life++;
    if (kind == RIG) {
        uint16_t rig = hs_ruleset_add_rig(rules, HS_STR("other"));
        struct hs_name name = rules->rigs[rig]->name;
        *rules->rigs[rig] = *rules->rigs[0];
        rules->rigs[rig]->name = name;
        state.rig = rig;
    }
    if (kind == DEATH) {
        middle.event = HS_EVENT_DEATH;
        state.alive = false;
    }
    put(middle);
    put(at(HS_MS(100), 7, 0, 0));
}

START_TEST(never_into_another_place_life_or_body)
{
    enum break_kind kind = (enum break_kind)_i;
    put_break(kind);
    bool breaks = kind != DEATH && kind != NOTHING;
    double middle_x = kind == UNFLAGGED ? 11 : 6;
    for (int ms = 1; ms < 50; ms += 7) {
        struct hs_bracket bracket = find(HS_MS(ms));
        ck_assert_int_eq(bracket.held, breaks);
        ck_assert_double_eq(bracket.alpha, breaks ? 0 : ms / 50.0);
        ck_assert_int_eq(bracket.time_us, HS_MS(ms));
        ck_assert_int_eq(bracket.to->time_us, HS_MS(50));
        expect_vec(hs_rewind_position(&bracket), breaks ? 0 : 6 * ms / 50.0, 0, 0, 1e-12);
        ck_assert_int_eq(hs_rewind_state(history, &bracket)->life, 0);
        ck_assert(hs_rewind_state(history, &bracket)->alive);
    }
    struct hs_bracket arrived = find(HS_MS(50));
    ck_assert(!arrived.held && arrived.alpha == 0);
    expect_vec(hs_rewind_position(&arrived), middle_x, 0, 0, 0);
    ck_assert_int_eq(hs_rewind_state(history, &arrived)->alive, kind != DEATH);
    /* The mark belongs to the sample arrived at: onwards it goes on smoothly. */
    struct hs_bracket after = find(HS_MS(75));
    ck_assert(!after.held && after.alpha == 0.5);
    expect_vec(hs_rewind_position(&after), (middle_x + 7) / 2, 0, 0, 1e-12);
}
END_TEST

START_TEST(a_gap_stays_a_gap_where_a_jump_ends_it)
{
    put(at(0, 0, 0, 0));
    struct hs_sample jump = at(HS_MS(151), 50, 0, 0);
    jump.event = HS_EVENT_TELEPORT;
    put(jump);
    ck_assert_int_eq(status(HS_MS(75)), HS_REWIND_LOW_CONFIDENCE);
}
END_TEST

START_TEST(held_bodies_are_whole)
{
    struct hs_sample a = at(0, 0, 0, 0), b = at(HS_MS(50), 5, 0, 0);
    yaw(&b, 90);
    b.event = HS_EVENT_TELEPORT;
    put(a);
    state.stance = 1;
    put(b);
    struct hs_body then = *body(0);
    struct hs_body held = *body(HS_MS(49));
    for (int i = 0; i < 2; i++)
        ck_assert_mem_eq(&held.solids[i].center, &then.solids[i].center, sizeof(struct hs_vec));
    expect_vec(eye(HS_MS(49)), 0, 0, 1.6, NEAR);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rewind");
    TCase *tcase = tcase_create("rewind");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, no_sample_no_answer);
    tcase_add_test(tcase, before_the_oldest);
    tcase_add_test(tcase, after_the_newest);
    tcase_add_test(tcase, gaps);
    tcase_add_test(tcase, shares_between_two_samples);
    tcase_add_test(tcase, at_a_sample_the_pose_is_the_stored_one);
    tcase_add_test(tcase, the_standing_body);
    tcase_add_loop_test(tcase, never_into_another_place_life_or_body, TELEPORT, NOTHING + 1);
    tcase_add_test(tcase, a_gap_stays_a_gap_where_a_jump_ends_it);
    tcase_add_test(tcase, held_bodies_are_whole);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
