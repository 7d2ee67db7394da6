/* Jumps, falls and bounces of bodies: honest games, cheats, and the limit between them. */
#include <check.h>
#include <math.h>

#include "tests/support/play/walk.h"
#include "tests/support/run_suite.h"

/* The body is launched up at vz and stays in the air until it is back at the same height. */
static void jump(double vz, double gravity)
{
    double height = 0;
    hs_walk.step.mode = FALLING;
    do {
        double dz = vz * DT - gravity * DT * DT / 2;
        vz -= gravity * DT;
        hs_walk_by(4 * DT, fmax(dz, -height));
        height += dz;
    } while (height > 0);
    hs_walk.step.mode = WALKING;
}

START_TEST(jumping_and_landing_is_honest)
{
    for (int round = 0; round < 50; round++) {
        hs_walk_for(4, 0, 0.1 * (round % 3));
        hs_walk_by(4 * DT, 0);
        jump(4.2, 9.8);
    }
    hs_walk_by(4 * DT, 0);
    jump(15, 9.8); /* from a jump pad */
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

START_TEST(jumping_under_less_gravity_is_found)
{
    hs_walk_for(4, 0, 1);
    jump(4.2, 9.8 * 0.4);
    ck_assert_int_ge(hs_walk.failures[3], 1);
}
END_TEST

/* The vertical speed during the flight, per second. */
static const double flights[] = {0, 3, 30, -2};

START_TEST(staying_up_is_found_within_a_second)
{
    hs_walk.step.mode = FALLING;
    double seconds = hs_walk_for(4, flights[_i], 2);
    hs_walk_expect(0, 0, 0, 1);
    ck_assert_double_le(seconds, _i == 3 ? 1.5 : 1.0);
    ck_assert_int_eq(hs_walk.found[3].unit, HS_UNIT_LENGTH);
    ck_assert_double_eq_tol(hs_walk.found[3].limit, 9.8 * 0.35 * 0.35 / 2, 1e-9);
    for (int i = 0; i < 10 * HZ; i++)
        hs_walk_by(4 * DT, flights[_i] * DT);
    ck_assert_int_le(hs_walk.failures[3], 30);
}
END_TEST

/* Moves the body with a vertical speed that begins at v and falls by `gravity`. Returns the seconds
   until a check failed. */
static double fall_from(double v, double gravity, double seconds)
{
    int before = hs_walk.failures[3];
    for (int i = 0; i < (int)(seconds * HZ); i++) {
        v -= gravity * DT;
        hs_walk_by(0, v * DT);
        if (hs_walk.failures[3] > before)
            return i * DT;
    }
    return seconds;
}

static double fall(double gravity, double seconds)
{
    return fall_from(0, gravity, seconds);
}

START_TEST(falling_costs_nothing_and_saves_no_credit)
{
    hs_walk.step.mode = FALLING;
    fall(9.8, 3);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(0, -30, 5); /* the speed stays the same, because the air limits it */
    hs_walk_expect(0, 0, 0, 0);
    ck_assert_double_le(hs_walk_for(0, 0, 2), 1); /* the body stops without a floor */
    hs_walk_expect(0, 0, 0, 1);
}
END_TEST

START_TEST(sliding_down_what_is_too_steep_is_no_flying)
{
    hs_walk.step.mode = FALLING;
    fall(9.8 * 0.5, 3);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_begin();
    hs_walk.step.mode = FALLING;
    ck_assert_double_lt(fall(9.8 * 0.2, 3), 1.5);
    hs_walk_expect(0, 0, 0, 1);
}
END_TEST

START_TEST(a_bumped_head_is_no_flying_and_saves_no_climb)
{
    hs_walk.step.mode = FALLING;
    hs_walk_for(0, 8, 0.2);
    fall(9.8, 1);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_begin();
    hs_walk.step.mode = FALLING;
    hs_walk_for(0, 20, 0.2);
    hs_walk_for(0, 0, 0.3);
    hs_walk_for(0, 19, 0.3); /* rises at a steady speed, starting in the air */
    hs_walk_for(0, 19, 0.3);
    hs_walk_expect(0, 0, 0, 1);
}
END_TEST

START_TEST(a_jump_shortly_after_the_edge_is_a_launch)
{
    hs_walk.step.mode = FALLING;
    hs_walk_for(4, 0, 0.1);
    jump(4.2, 9.8);
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

/* The check excuses two landings whose moves were lost, and the air jumps of the mode, but not
   more. */
START_TEST(few_bounces_may_lack_their_ground)
{
    hs_walk.rules.modes[FALLING].air_jumps = _i;
    for (int round = 0; round < 10; round++) {
        hs_walk.step.mode = FALLING;
        for (int jumps = 0; jumps < 3 + _i; jumps++)
            fall_from(4.2, 9.8, 0.8);
        hs_walk_expect(0, 0, 0, 0);
        hs_walk.step.mode = WALKING;
        hs_walk_by(0, 0);
    }
    hs_walk.step.mode = FALLING;
    for (int jumps = 0; jumps < 5 + _i; jumps++)
        fall_from(4.2, 9.8, 0.8);
    ck_assert_int_ge(hs_walk.failures[3], 1);
}
END_TEST

/* A single move lasts so long that the player may have landed during it. */
START_TEST(a_long_move_may_hide_a_landing)
{
    for (int round = 0; round < 10; round++) {
        hs_walk.step.mode = WALKING;
        hs_walk_by(0, 0);
        hs_walk.step.mode = FALLING;
        fall_from(0, 9.8, 1);
        hs_walk.step.delta_us = 125000;
        hs_walk.step.client_us = 250000;
        hs_walk.step.received_us += 250000;
        hs_walk_by(0, 1);
        hs_walk.step.delta_us = DT_US;
        hs_walk.step.client_us = 0;
        fall_from(4, 9.8, 0.5);
    }
    hs_walk.step.delta_us = 125000;
    hs_walk.step.client_us = 2000000;
    hs_walk.step.received_us += 2000000;
    hs_walk.step.mode = WALKING; /* the player may have fallen before */
    hs_walk_by(0, -20);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk.step.received_us += 2000000;
    hs_walk_by(0, 20);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* A low rate of moves does not allow a body to fly. */
START_TEST(a_body_cannot_fly_with_few_moves)
{
    hs_walk.step.mode = FALLING;
    fall_from(0, 9.8, 0.3);
    hs_walk.step.delta_us = 125000;
    hs_walk.step.client_us = 300000;
    for (int steps = 0; steps < 10; steps++) {
        hs_walk.step.received_us += 300000;
        hs_walk_by(1, _i == 0 ? 0.9 : 0);
    }
    ck_assert_int_ge(hs_walk.failures[3], 1);
}
END_TEST

/* Hovering fails even if an occasional move is on the ground. */
START_TEST(touching_no_ground_pays_for_no_height)
{
    for (int i = 0; i < 3 * HZ; i++) {
        hs_walk.step.mode = i % 20 == 0 ? WALKING : FALLING;
        hs_walk_by(0, 0);
    }
    ck_assert_int_ge(hs_walk.failures[3], 1);
    hs_walk_begin();
    for (int i = 0; i < 60 * HZ; i++) { /* on rough ground a walking player falls for a moment */
        hs_walk.step.mode = i % 8 == 0 ? FALLING : WALKING;
        hs_walk_by(4 * DT, 0);
    }
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

static Suite *gravity_suite(void)
{
    Suite *suite = suite_create("movement gravity");
    TCase *gravity = tcase_create("gravity");
    tcase_add_checked_fixture(gravity, hs_walk_begin, NULL);
    tcase_add_test(gravity, jumping_and_landing_is_honest);
    tcase_add_test(gravity, jumping_under_less_gravity_is_found);
    tcase_add_loop_test(gravity, staying_up_is_found_within_a_second, 0, 4);
    tcase_add_test(gravity, falling_costs_nothing_and_saves_no_credit);
    tcase_add_test(gravity, sliding_down_what_is_too_steep_is_no_flying);
    tcase_add_test(gravity, a_bumped_head_is_no_flying_and_saves_no_climb);
    tcase_add_test(gravity, a_jump_shortly_after_the_edge_is_a_launch);
    tcase_add_loop_test(gravity, few_bounces_may_lack_their_ground, 0, 3);
    tcase_add_test(gravity, a_long_move_may_hide_a_landing);
    tcase_add_loop_test(gravity, a_body_cannot_fly_with_few_moves, 0, 2);
    tcase_add_test(gravity, touching_no_ground_pays_for_no_height);
    suite_add_tcase(suite, gravity);
    return suite;
}

int main(void)
{
    return hs_run_suite(gravity_suite());
}
