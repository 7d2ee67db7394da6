/* The movement of bodies, rule by rule: honest games, cheats, and the limit between them.
   test_movement_gravity is about falls and jumps. */
#include <check.h>
#include <math.h>

#include "tests/support/play/walk.h"
#include "tests/support/run_suite.h"
#include "validators/ruleset.h"

/* ---- speed ---- */

START_TEST(running_at_the_limit_for_an_hour_is_honest)
{
    hs_walk_for(6, 0, 3600);
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

START_TEST(a_fast_body_is_found_once_its_credit_is_spent)
{
    double seconds = hs_walk_for(6 * 1.3, 0, 10);
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.25 / (1.3 - SHARE), 2 * DT);
    ck_assert_int_eq(hs_walk.found[1].unit, HS_UNIT_SPEED);
    ck_assert_double_eq_tol(hs_walk.found[1].measured, 6 * 1.3, 1e-6);
    ck_assert_double_eq(hs_walk.found[1].limit, 6);
}
END_TEST

START_TEST(one_cause_is_not_found_on_every_move)
{
    for (int i = 0; i < 10 * HZ; i++)
        hs_walk_by(6 * 1.3 * DT, 0);
    ck_assert_int_ge(hs_walk.failures[1], 10);
    ck_assert_int_le(hs_walk.failures[1], 12);
}
END_TEST

/*
 * The max distance of one move is that of its own time, plus that of the credit, however long the
 * player stood before.
 */
START_TEST(a_dash_may_use_the_credit_and_no_more)
{
    double most = 6 * (0.25 + DT * SHARE);
    hs_walk_for(0, 0, 5);
    hs_walk_by(most - 1e-6, 0);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(0, 0, 1);
    hs_walk_by(most + 1e-6, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* A steady connection needs less credit than the mode allows. A connection never adds credit. */
START_TEST(the_credit_is_what_the_connection_needs)
{
    static const double needs_s[] = {0.04, 0.25, 10};
    double credit_s = fmin(needs_s[_i], 0.25);
    hs_walk.step.has_credit = true;
    hs_walk.step.credit_s = needs_s[_i];
    ck_assert_double_eq_tol(hs_walk_for(6 * 1.3, 0, 10), credit_s / (1.3 - SHARE), 2 * DT);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* A debt from before the connection was known to be steady is no offence. */
START_TEST(a_connection_that_becomes_steady_is_no_trap)
{
    hs_walk_by(6 * 0.2, 0);
    hs_walk.step.has_credit = true;
    hs_walk.step.credit_s = 0.04;
    hs_walk_for(6, 0, 30);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(0, 0, 1);
    hs_walk_by(6 * (0.04 + SHARE * DT) + 0.01, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_move_without_time_has_the_credit_alone)
{
    hs_walk.step.delta_us = 0;
    hs_walk_by(1.5 - 1e-6, 0);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(1e-3, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

START_TEST(without_credit_every_move_stands_alone)
{
    hs_walk.rules.modes[WALKING].credit = 0;
    hs_walk.rules.modes[WALKING].max_accel = 0;
    hs_walk_for(6, 0, 10);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(6 * DT * SHARE + 1e-6, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* On slopes and stairs the height is added to the walking distance. A wall is no slope. */
START_TEST(slopes_and_steps_are_walked_at_full_speed)
{
    hs_walk_for(6, 6, 30);
    hs_walk_for(6, -6, 30);
    for (int i = 0; i < 100; i++) { /* stairs: 30 cm high and deep */
        hs_walk_by(0.1, 0.3);
        hs_walk_by(0.1, 0);
        hs_walk_by(0.1, 0);
    }
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(0, 8, 2);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* Falling at 40 is allowed in a mode with gravity. Rising or running that fast is not. */
START_TEST(a_fall_has_its_own_limit)
{
    hs_walk.rules.modes[FREE] =
        (struct hs_move_mode){.max_speed = 9, .max_fall_speed = 40, .credit = 0.25};
    hs_walk.step.mode = FREE;
    hs_walk_for(9, -40, 3);
    hs_walk_for(9, 9, 3);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(_i == 0 ? 12 : 0, _i == 1 ? 12 : _i == 2 ? -53 : 0, 2);
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_double_eq(hs_walk.found[1].limit, _i == 2 ? 40 : 9);
}
END_TEST

/*
 * After lost moves, the next move covers their distance. The clocks of client and server both show
 * that the time of the lost moves has passed.
 */
START_TEST(the_path_of_lost_moves_has_their_time)
{
    hs_walk_for(6, 0, 5);
    hs_walk.step.delta_us = 125000;
    hs_walk.step.client_us = 900000;
    hs_walk.step.received_us += 900000;
    hs_walk_by(5.4, 0);
    hs_walk_expect(0, 0, 0, 0);
    /* the client claims the same time again, but the server's clock has not advanced */
    hs_walk_by(5.4, 0);
    hs_walk_expect(0, 1, 0, 0);
    hs_walk_for(0, 0, 1);
    hs_walk.step.received_us += 900000;
    hs_walk.step.client_us = 0; /* the client's clock does not show the time of the lost moves */
    hs_walk_by(5.4, 0);
    hs_walk_expect(0, 2, 0, 0);
}
END_TEST

/* Moves of five seconds arrive after an outage, in three ticks of the server. The clock's credit
   grants no time for most of them. The second connection is steady, so its credit is small. */
START_TEST(moves_of_an_outage_arrive_in_several_ticks)
{
    hs_walk.step.has_credit = _i == 1;
    hs_walk.step.credit_s = 0.04;
    hs_walk_for(6, 0, 5);
    hs_walk.rules.credit_max_us = 350000;
    hs_walk.step.received_us += 5000000 - 3 * DT_US;
    hs_walk.step.delta_us = 0;
    hs_walk.step.client_us = DT_US;
    for (int i = 0; i < 5 * HZ; i++) {
        hs_walk.step.received_us += i % 120 == 0 ? DT_US : 0;
        hs_walk.step.position.x += 6 * DT;
        hs_walk_judge();
    }
    hs_walk_expect(0, 0, 0, 0);
    for (int i = 0; i < HZ; i++) { /* no time is left */
        hs_walk.step.position.x += 6 * DT;
        hs_walk_judge();
    }
    ck_assert_int_gt(hs_walk.failures[1], 0);
}
END_TEST

START_TEST(what_a_mode_does_not_limit_is_not_judged)
{
    hs_walk.step.mode = FREE;
    hs_walk_for(100, 100, 10);
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

/* ---- acceleration ---- */

static void claim(double vx, double vy)
{
    hs_walk.step.has_velocity = true;
    hs_walk.step.velocity.x = vx;
    hs_walk.step.velocity.y = vy;
    hs_walk.step.position.y += vy * DT;
    hs_walk_by(vx * DT, 0);
}

START_TEST(speeding_up_by_the_limit_and_stopping_at_once_is_honest)
{
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i * 20 * DT < 6; i++)
            claim(i * 20 * DT, 0);
        for (int i = 0; i < 6; i++)
            claim(6, 0);
        claim(0, 0); /* the player hits a wall */
    }
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

START_TEST(a_sudden_gain_of_speed_is_found)
{
    double most = 20 * (0.25 + DT * SHARE);
    claim(0, 0);
    claim(most - 1e-4, 0);
    hs_walk_expect(0, 0, 0, 0);
    for (int i = 0; i < HZ; i++)
        claim(0, 0);
    claim(most + 1e-4, 0);
    hs_walk_expect(0, 0, 1, 0);
    ck_assert_int_eq(hs_walk.found[2].unit, HS_UNIT_ACCELERATION);
    ck_assert_double_eq(hs_walk.found[2].limit, 20);
}
END_TEST

START_TEST(turning_little_by_little_is_free_and_at_once_is_not)
{
    claim(6, 0);
    for (int i = 0; i < 20 * HZ; i++) /* one turn per second */
        claim(6 * cos(6.2832 * i / HZ), 6 * sin(6.2832 * i / HZ));
    hs_walk_expect(0, 0, 0, 0);
    claim(6, 0);
    for (int i = 0; i < HZ; i++)
        claim(6, 0);
    claim(-6, 0);
    hs_walk_expect(0, 0, 1, 0);
}
END_TEST

/* Without claimed velocities, they are computed from the positions over a tenth of a second. */
START_TEST(acceleration_is_also_found_from_positions)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i * 20 * DT < 6; i++)
            hs_walk_by(i * 20 * DT * DT, 0);
        hs_walk_for(6, 0, 0.2);
        hs_walk_for(0, 0, 0.1);
    }
    hs_walk_expect(0, 0, 0, 0);
    for (int round = 0; round < 8; round++) {
        hs_walk_for(6, 0, 0.1);
        hs_walk_for(0, 0, 0.1);
    }
    ck_assert_int_ge(hs_walk.failures[2], 1);
    hs_walk_expect(0, 0, hs_walk.failures[2], 0);
}
END_TEST

START_TEST(rounded_positions_accelerate_nobody)
{
    double x = 0;
    for (int i = 0; i < 60 * HZ; i++) { /* positions are rounded to whole centimetres */
        double last = round(x * 100) / 100;
        x += 5.9 * DT;
        hs_walk_by(round(x * 100) / 100 - last, 0);
    }
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

/* ---- changes of limits ---- */

/* After the change the old limit still counts for the round trip plus 2 ticks. */
START_TEST(the_larger_limit_counts_for_a_round_trip)
{
    hs_walk.step.mode = SPRINTING;
    hs_walk_for(12, 0, 1.2);
    hs_walk.step.mode = STRICT;
    hs_walk.body.speed.owed_s = 0;
    double seconds = hs_walk_for(12, 0, 1);
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.1 + 2 * TICK_S + 0.02, 2 * DT);
}
END_TEST

START_TEST(an_unknown_round_trip_counts_as_a_long_one)
{
    hs_walk.step.mode = SPRINTING;
    hs_walk.step.rtt_us = -1;
    hs_walk_for(12, 0, 1.2);
    hs_walk.step.mode = STRICT;
    double seconds = hs_walk_for(12, 0, 1);
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.2 + 2 * TICK_S + 0.02, 2 * DT);
}
END_TEST

START_TEST(a_raised_limit_counts_at_once)
{
    hs_walk_for(6, 0, 1);
    hs_walk.step.mode = SPRINTING;
    hs_walk_for(12, 0, 10);
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

START_TEST(changing_between_slower_modes_prolongs_no_limit)
{
    int moves = 0;
    hs_walk.step.mode = SPRINTING;
    hs_walk_for(12, 0, 1.2);
    for (; moves < HZ && hs_walk.failures[1] == 0; moves++) {
        hs_walk.step.mode = moves % 2 == 0 ? STRICT : WALKING;
        hs_walk_by(12 * DT, 0);
    }
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_double_le(moves * DT, 0.1 + 2 * TICK_S + 0.5);
}
END_TEST

START_TEST(changing_modes_refills_nothing)
{
    hs_walk_by(1.4, 0);
    for (int i = 0; i < 10; i++) {
        hs_walk.step.mode = i % 2 == 0 ? FLYING : WALKING;
        hs_walk_by(6 * DT, 0);
    }
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(1.0, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* A debt under a larger credit is no offence under a smaller credit, and it disappears. */
START_TEST(a_smaller_credit_is_no_trap)
{
    hs_walk.step.mode = SPRINTING;
    hs_walk_by(0, 0);
    hs_walk.rules.modes[STRICT].max_speed = 12;
    hs_walk.step.rtt_us = 0;
    hs_walk.step.jump_speed = 0;
    hs_walk.body.acceleration = (struct hs_movement_pool){0};
    hs_walk.step.has_velocity = true;
    hs_walk_by(11, 0);
    hs_walk.step.mode = STRICT;
    hs_walk_for(12, 0, 5);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_for(0, 0, 2);
    hs_walk_by(12 * (0.02 + SHARE * DT) + 0.01, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

/* ---- places ---- */

START_TEST(a_jump_that_nobody_announced_is_found)
{
    double reach = 200 * TICK_S;
    hs_walk.step.mode = FREE;
    hs_walk_for(0, 0, 3); /* after three seconds the tick of the server is known */
    reach = 200 * (double)hs_walk.body.tick_us / 1e6;
    ck_assert_double_eq_tol(reach, 200 * TICK_S, 0.01);
    hs_walk_by(reach - 1e-3, 0);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(reach + 0.01, 0);
    hs_walk_expect(1, 0, 0, 0);
    ck_assert_int_eq(hs_walk.found[0].unit, HS_UNIT_LENGTH);
    ck_assert_double_eq_tol(hs_walk.found[0].measured, reach + 0.01, 1e-9);
    hs_walk_by(0.1, 0); /* the path continues from the new place */
    hs_walk_expect(1, 0, 0, 0);
    hs_walk.step.delta_us = 0; /* a move that is granted no time counts as one tick */
    hs_walk_by(3, 0);
    hs_walk_expect(1, 0, 0, 0);
}
END_TEST

START_TEST(a_teleport_is_no_speed)
{
    hs_walk_for(6, 0, 1);
    hs_walk_by(1000, 1000);
    hs_walk_for(6, 0, 1);
    hs_walk_expect(1, 0, 0, 0);
}
END_TEST

START_TEST(an_announced_teleport_is_silent)
{
    hs_walk_for(6, 0, 1);
    hs_walk.step.is_announced = true;
    hs_walk_by(1000, 1000);
    hs_walk.step.is_announced = false;
    hs_walk_for(6, 0, 1);
    hs_walk_expect(0, 0, 0, 0);
}
END_TEST

START_TEST(a_correction_is_followed_without_offence)
{
    hs_walk_for(6, 0, 1);
    hs_walk.step.corrected = hs_walk.step.position;
    hs_walk.step.has_corrected = true;
    hs_walk.step.corrected.y += 3;
    hs_walk.step.position.y += 3;
    hs_walk_by(6 * DT, 0);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk.step.position.y += 3; /* the server did not order it */
    hs_walk_by(6 * DT, 0);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_change_of_base_refills_no_credit)
{
    hs_walk_by(1.4, 0);
    hs_walk.step.base = 77;
    hs_walk_by(-500, 20);
    hs_walk_by(0, 0);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(1.0, 0);
    hs_walk_expect(0, 1, 0, 0);
    hs_walk.step.base = 0;
    hs_walk_by(500, 0);
    hs_walk_for(6, 0, 5);
    hs_walk_expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_base_changed_on_every_move_is_found)
{
    for (int i = 0; i < 100; i++) { /* two changes of base per second are honest */
        hs_walk.step.base++;
        hs_walk_by(30, 0);
        hs_walk_for(0, 0, 0.5);
    }
    hs_walk_expect(0, 0, 0, 0);
    for (int i = 0; i < HZ && hs_walk.failures[1] == 0; i++) {
        hs_walk.step.base++;
        hs_walk_by(30, 0);
    }
    hs_walk_expect(0, 1, 0, 0);
    ck_assert_int_eq(hs_walk.found[1].unit, HS_UNIT_COUNTED);
    ck_assert_double_eq(hs_walk.found[1].limit, 20);
}
END_TEST

START_TEST(an_unknown_mode_is_judged_by_jumps_alone)
{
    hs_walk.step.mode = _i == 0 ? HS_NONE : MODES;
    hs_walk_for(100, -5, 5);
    hs_walk_expect(0, 0, 0, 0);
    hs_walk_by(1000, 0);
    hs_walk_expect(1, 0, 0, 0);
    hs_walk.step.mode = WALKING; /* the last place is known although the mode was not */
    hs_walk_for(5, 0, 5);
    hs_walk_expect(1, 0, 0, 0);
}
END_TEST

/* ---- numbers ---- */

START_TEST(extreme_numbers_stay_numbers)
{
    static const double extremes[] = {0, 1e-9, 1, 1e9, -1e9, 1e15};
    enum { N = sizeof extremes / sizeof *extremes };
    hs_walk.rules.modes[STRICT] =
        (struct hs_move_mode){.max_speed = 1e-12, .max_accel = 1e-12, .gravity = 1e9, .credit = 60};
    for (int i = 0; i < 5000; i++) {
        hs_walk.step.mode = (uint16_t)(i % (MODES + 1));
        hs_walk.step.jump_speed = i % 3 == 0 ? 0 : 1e9;
        hs_walk.step.delta_us = i % 5 == 0 ? 0 : 1e5;
        hs_walk.step.client_us = i % 19 == 0 ? 1e15 : 0;
        hs_walk.step.has_velocity = i % 7 < 4;
        hs_walk.step.velocity = (struct hs_vec){i % 11 == 0 ? 1e300 : extremes[i % N], 0, -1e12};
        hs_walk.step.position =
            (struct hs_vec){extremes[i % N], extremes[i / N % N], extremes[i / (N * N) % N]};
        hs_walk.step.received_us += i % 13 == 0 ? -1000000 : DT_US;
        hs_walk.step.rtt_us = i % 17 == 0 ? INT64_MAX : -1;
        hs_walk_judge();
        ck_assert(isfinite(hs_walk.body.speed.owed_s) &&
                  isfinite(hs_walk.body.acceleration.owed_s));
        ck_assert(isfinite(hs_walk.body.kept) && isfinite(hs_walk.body.rise) &&
                  isfinite(hs_walk.body.unused_us) && isfinite(hs_walk.body.gathered[0]) &&
                  isfinite(hs_walk.body.velocity[0]));
    }
    ck_assert_int_gt(hs_walk.failures[0] + hs_walk.failures[1], 0);
}
END_TEST

static Suite *movement_suite(void)
{
    Suite *suite = suite_create("movement");
    TCase *speed = tcase_create("speed");
    tcase_add_checked_fixture(speed, hs_walk_begin, NULL);
    tcase_add_test(speed, running_at_the_limit_for_an_hour_is_honest);
    tcase_add_test(speed, a_fast_body_is_found_once_its_credit_is_spent);
    tcase_add_test(speed, one_cause_is_not_found_on_every_move);
    tcase_add_test(speed, a_dash_may_use_the_credit_and_no_more);
    tcase_add_loop_test(speed, the_credit_is_what_the_connection_needs, 0, 3);
    tcase_add_test(speed, a_connection_that_becomes_steady_is_no_trap);
    tcase_add_test(speed, a_move_without_time_has_the_credit_alone);
    tcase_add_test(speed, without_credit_every_move_stands_alone);
    tcase_add_test(speed, slopes_and_steps_are_walked_at_full_speed);
    tcase_add_loop_test(speed, a_fall_has_its_own_limit, 0, 3);
    tcase_add_test(speed, the_path_of_lost_moves_has_their_time);
    tcase_add_loop_test(speed, moves_of_an_outage_arrive_in_several_ticks, 0, 2);
    tcase_add_test(speed, what_a_mode_does_not_limit_is_not_judged);
    tcase_add_test(speed, speeding_up_by_the_limit_and_stopping_at_once_is_honest);
    tcase_add_test(speed, a_sudden_gain_of_speed_is_found);
    tcase_add_test(speed, turning_little_by_little_is_free_and_at_once_is_not);
    tcase_add_test(speed, acceleration_is_also_found_from_positions);
    tcase_add_test(speed, rounded_positions_accelerate_nobody);
    suite_add_tcase(suite, speed);
    TCase *modes = tcase_create("modes and places");
    tcase_add_checked_fixture(modes, hs_walk_begin, NULL);
    tcase_add_test(modes, the_larger_limit_counts_for_a_round_trip);
    tcase_add_test(modes, an_unknown_round_trip_counts_as_a_long_one);
    tcase_add_test(modes, a_raised_limit_counts_at_once);
    tcase_add_test(modes, changing_between_slower_modes_prolongs_no_limit);
    tcase_add_test(modes, changing_modes_refills_nothing);
    tcase_add_test(modes, a_smaller_credit_is_no_trap);
    tcase_add_test(modes, a_jump_that_nobody_announced_is_found);
    tcase_add_test(modes, a_teleport_is_no_speed);
    tcase_add_test(modes, an_announced_teleport_is_silent);
    tcase_add_test(modes, a_correction_is_followed_without_offence);
    tcase_add_test(modes, a_change_of_base_refills_no_credit);
    tcase_add_test(modes, a_base_changed_on_every_move_is_found);
    tcase_add_loop_test(modes, an_unknown_mode_is_judged_by_jumps_alone, 0, 2);
    tcase_add_test(modes, extreme_numbers_stay_numbers);
    suite_add_tcase(suite, modes);
    return suite;
}

int main(void)
{
    return hs_run_suite(movement_suite());
}
