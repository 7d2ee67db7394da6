/*
 * How bodies may move, rule by rule: what honest games do, what cheats do, and the edge between.
 * Metres; up is +z; 60 moves a second, each arriving by itself.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "validators/movement.h"
#include "validators/ruleset.h"

#define HZ     60
#define DT_US  16667
#define DT     (DT_US / 1e6)
#define TICK_S DT
#define SHARE  1.01 /* of time that is granted */

enum { WALKING, FALLING, FLYING, FREE, SPRINTING, STRICT, GLIDING, MODES };

static struct hs_moves_rules rules;
static struct hs_movement body;
static struct hs_movement_step step;
static struct hs_movement_result result;
static int failures[4]; /* teleport, speed, acceleration, gravity */
static struct hs_movement_finding found[4];

static void set_up(void)
{
    static const struct hs_move_mode modes[MODES] = {
        [WALKING] = {.max_speed = 6, .max_accel = 20, .credit = 0.25},
        [FALLING] = {.max_speed = 40, .gravity = 9.8, .credit = 0.25},
        [FLYING] = {.max_speed = 6, .credit = 0.25},
        [FREE] = {.credit = 0.25},
        [SPRINTING] = {.max_speed = 12, .max_accel = 20, .credit = 1},
        [STRICT] = {.max_speed = 6, .max_accel = 20, .credit = 0.02},
        [GLIDING] = {.max_speed = 40, .gravity = 1, .credit = 0.25},
    };
    rules = (struct hs_moves_rules){.mode_count = MODES, .credit_max_us = 1000000};
    for (int i = 0; i < MODES; i++)
        rules.modes[i] = modes[i];
    body = (struct hs_movement){0};
    step = (struct hs_movement_step){.up = {0, 0, 1},
                                     .delta_us = DT_US,
                                     .dilation = 1,
                                     .jump_speed = 200,
                                     .received_us = 1000000,
                                     .rtt_us = 100000,
                                     .mode = WALKING};
    for (int i = 0; i < 4; i++)
        failures[i] = 0;
    hs_movement_judge(&body, &rules, &step, &result);
}

static void note(int which, const struct hs_movement_finding *finding)
{
    if (!finding->failed)
        return;
    failures[which]++;
    found[which] = *finding;
    ck_assert(isfinite(finding->measured) && isfinite(finding->limit));
    ck_assert_double_gt(finding->measured, finding->limit);
}

static void judge(void)
{
    hs_movement_judge(&body, &rules, &step, &result);
    note(0, &result.teleport);
    note(1, &result.speed);
    note(2, &result.acceleration);
    note(3, &result.gravity);
}

/* One move that ends dx, dz further. */
static void move_by(double dx, double dz)
{
    step.received_us += DT_US;
    step.position.x += dx;
    step.position.z += dz;
    judge();
}

/* Moves at a velocity for a time; stops at the first failure. Returns the seconds made. */
static double run(double vx, double vz, double seconds)
{
    int moves = (int)lround(seconds * HZ), before = failures[0] + failures[1];
    for (int i = 0; i < moves; i++) {
        move_by(vx * DT, vz * DT);
        if (failures[0] + failures[1] + failures[2] + failures[3] > before)
            return (i + 1) * DT;
    }
    return moves * DT;
}

static void expect(int teleports, int speeds, int accelerations, int gravities)
{
    ck_assert_int_eq(failures[0], teleports);
    ck_assert_int_eq(failures[1], speeds);
    ck_assert_int_eq(failures[2], accelerations);
    ck_assert_int_eq(failures[3], gravities);
}

/* ---- speed ---- */

START_TEST(running_at_the_limit_for_an_hour_is_honest)
{
    run(6, 0, 3600);
    expect(0, 0, 0, 0);
}
END_TEST

START_TEST(a_fast_body_is_found_once_its_credit_is_spent)
{
    double seconds = run(6 * 1.3, 0, 10);
    expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.25 / (1.3 - SHARE), 2 * DT);
    ck_assert_int_eq(found[1].unit, HS_UNIT_SPEED);
    ck_assert_double_eq_tol(found[1].measured, 6 * 1.3, 1e-6);
    ck_assert_double_eq(found[1].limit, 6);
}
END_TEST

START_TEST(one_cause_is_not_found_on_every_move)
{
    for (int i = 0; i < 10 * HZ; i++)
        move_by(6 * 1.3 * DT, 0);
    ck_assert_int_ge(failures[1], 10);
    ck_assert_int_le(failures[1], 12);
}
END_TEST

/* The most one move may make: its own time and the credit, however long was stood before. */
START_TEST(a_dash_may_use_the_credit_and_no_more)
{
    double most = 6 * (0.25 + DT * SHARE);
    run(0, 0, 5);
    move_by(most - 1e-6, 0);
    expect(0, 0, 0, 0);
    run(0, 0, 1);
    move_by(most + 1e-6, 0);
    expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_move_without_time_has_the_credit_alone)
{
    step.delta_us = 0;
    move_by(1.5 - 1e-6, 0);
    expect(0, 0, 0, 0);
    move_by(1e-3, 0);
    expect(0, 1, 0, 0);
}
END_TEST

START_TEST(without_credit_every_move_stands_alone)
{
    rules.modes[WALKING].credit = 0;
    rules.modes[WALKING].max_accel = 0;
    run(6, 0, 10);
    expect(0, 0, 0, 0);
    move_by(6 * DT * SHARE + 1e-6, 0);
    expect(0, 1, 0, 0);
}
END_TEST

/* Slopes add height to the speed of walking; a wall is no slope. */
START_TEST(slopes_and_steps_are_walked_at_full_speed)
{
    run(6, 6, 30);
    run(6, -6, 30);
    for (int i = 0; i < 100; i++) { /* stairs: 30 cm high and deep */
        move_by(0.1, 0.3);
        move_by(0.1, 0);
        move_by(0.1, 0);
    }
    expect(0, 0, 0, 0);
    run(0, 8, 2);
    expect(0, 1, 0, 0);
}
END_TEST

/* Lost moves: the next covers their way, and both clocks say that their time has passed. */
START_TEST(a_way_made_while_moves_were_lost_has_their_time)
{
    run(6, 0, 5);
    step.delta_us = 125000;
    step.client_us = 900000;
    step.received_us += 900000;
    move_by(5.4, 0);
    expect(0, 0, 0, 0);
    move_by(5.4, 0); /* the client says so again: no such time passed */
    expect(0, 1, 0, 0);
    run(0, 0, 1);
    step.received_us += 900000;
    step.client_us = 0; /* no client says so */
    move_by(5.4, 0);
    expect(0, 2, 0, 0);
}
END_TEST

START_TEST(what_a_mode_does_not_limit_is_not_judged)
{
    step.mode = FREE;
    run(100, 100, 10);
    expect(0, 0, 0, 0);
}
END_TEST

/* ---- acceleration ---- */

static void claim(double vx, double vy)
{
    step.has_velocity = true;
    step.velocity.x = vx;
    step.velocity.y = vy;
    step.position.y += vy * DT;
    move_by(vx * DT, 0);
}

START_TEST(speeding_up_by_the_limit_and_stopping_at_once_is_honest)
{
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i * 20 * DT < 6; i++)
            claim(i * 20 * DT, 0);
        for (int i = 0; i < 6; i++)
            claim(6, 0);
        claim(0, 0); /* a wall */
    }
    expect(0, 0, 0, 0);
}
END_TEST

START_TEST(speed_from_nowhere_is_found)
{
    double most = 20 * (0.25 + DT * SHARE);
    claim(0, 0);
    claim(most - 1e-4, 0);
    expect(0, 0, 0, 0);
    for (int i = 0; i < HZ; i++)
        claim(0, 0);
    claim(most + 1e-4, 0);
    expect(0, 0, 1, 0);
    ck_assert_int_eq(found[2].unit, HS_UNIT_ACCELERATION);
    ck_assert_double_eq(found[2].limit, 20);
}
END_TEST

START_TEST(turning_little_by_little_is_free_and_at_once_is_not)
{
    claim(6, 0);
    for (int i = 0; i < 20 * HZ; i++) /* a turn a second */
        claim(6 * cos(6.2832 * i / HZ), 6 * sin(6.2832 * i / HZ));
    expect(0, 0, 0, 0);
    claim(6, 0);
    for (int i = 0; i < HZ; i++)
        claim(6, 0);
    claim(-6, 0);
    expect(0, 0, 1, 0);
}
END_TEST

/* Velocities that nobody claims are told from positions, over a tenth of a second. */
START_TEST(acceleration_is_told_from_positions_too)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i * 20 * DT < 6; i++)
            move_by(i * 20 * DT * DT, 0);
        run(6, 0, 0.2);
        run(0, 0, 0.1);
    }
    expect(0, 0, 0, 0);
    for (int round = 0; round < 8; round++) {
        run(6, 0, 0.1);
        run(0, 0, 0.1);
    }
    ck_assert_int_ge(failures[2], 1);
    expect(0, 0, failures[2], 0);
}
END_TEST

START_TEST(rounded_positions_accelerate_nobody)
{
    double x = 0;
    for (int i = 0; i < 60 * HZ; i++) { /* to whole centimetres */
        double last = round(x * 100) / 100;
        x += 5.9 * DT;
        move_by(round(x * 100) / 100 - last, 0);
    }
    expect(0, 0, 0, 0);
}
END_TEST

/* ---- gravity ---- */

/* In the air from a launch at vz until back at the height of it. */
static void jump(double vz, double gravity)
{
    double height = 0;
    step.mode = FALLING;
    do {
        double dz = vz * DT - gravity * DT * DT / 2;
        vz -= gravity * DT;
        move_by(4 * DT, fmax(dz, -height));
        height += dz;
    } while (height > 0);
    step.mode = WALKING;
}

START_TEST(jumping_and_landing_is_honest)
{
    for (int round = 0; round < 50; round++) {
        run(4, 0, 0.1 * (round % 3));
        move_by(4 * DT, 0);
        jump(4.2, 9.8);
    }
    move_by(4 * DT, 0);
    jump(15, 9.8); /* from a pad */
    expect(0, 0, 0, 0);
}
END_TEST

START_TEST(jumping_under_less_gravity_is_found)
{
    run(4, 0, 1);
    jump(4.2, 9.8 * 0.4);
    ck_assert_int_ge(failures[3], 1);
}
END_TEST

/* vz of the flight, per second. */
static const double flights[] = {0, 3, 30, -2};

START_TEST(staying_up_is_found_within_a_second)
{
    step.mode = FALLING;
    double seconds = run(4, flights[_i], 2);
    expect(0, 0, 0, 1);
    ck_assert_double_le(seconds, _i == 3 ? 1.5 : 1.0);
    ck_assert_int_eq(found[3].unit, HS_UNIT_LENGTH);
    ck_assert_double_eq_tol(found[3].limit, 9.8 * 0.35 * 0.35 / 2, 1e-9);
    for (int i = 0; i < 10 * HZ; i++)
        move_by(4 * DT, flights[_i] * DT);
    ck_assert_int_le(failures[3], 30);
}
END_TEST

/* Thrown up at v; returns the seconds until something was found. */
static double fall_from(double v, double gravity, double seconds)
{
    int before = failures[3];
    for (int i = 0; i < (int)(seconds * HZ); i++) {
        v -= gravity * DT;
        move_by(0, v * DT);
        if (failures[3] > before)
            return i * DT;
    }
    return seconds;
}

static double fall(double gravity, double seconds)
{
    return fall_from(0, gravity, seconds);
}

START_TEST(falling_is_free_and_its_credit_cannot_be_saved)
{
    step.mode = FALLING;
    fall(9.8, 3);
    expect(0, 0, 0, 0);
    run(0, -30, 5); /* the air brakes */
    expect(0, 0, 0, 0);
    ck_assert_double_le(run(0, 0, 2), 1); /* no floor there */
    expect(0, 0, 0, 1);
}
END_TEST

START_TEST(sliding_down_what_is_too_steep_is_no_flying)
{
    step.mode = FALLING;
    fall(9.8 * 0.5, 3);
    expect(0, 0, 0, 0);
    set_up();
    step.mode = FALLING;
    ck_assert_double_lt(fall(9.8 * 0.2, 3), 1.5);
    expect(0, 0, 0, 1);
}
END_TEST

START_TEST(a_bumped_head_is_no_flying_and_saves_no_climb)
{
    step.mode = FALLING;
    run(0, 8, 0.2);
    fall(9.8, 1);
    expect(0, 0, 0, 0);
    set_up();
    step.mode = FALLING;
    run(0, 20, 0.2);
    run(0, 0, 0.3);
    run(0, 19, 0.3); /* evenly, from the air */
    run(0, 19, 0.3);
    expect(0, 0, 0, 1);
}
END_TEST

START_TEST(a_jump_shortly_after_the_edge_is_a_launch)
{
    step.mode = FALLING;
    run(4, 0, 0.1);
    jump(4.2, 9.8);
    expect(0, 0, 0, 0);
}
END_TEST

/* A second jump in the air, or a landing whose move was lost; not again and again. */
START_TEST(two_bounces_may_lack_their_ground)
{
    for (int round = 0; round < 10; round++) {
        step.mode = FALLING;
        for (int jumps = 0; jumps < 3; jumps++)
            fall_from(4.2, 9.8, 0.8);
        expect(0, 0, 0, 0);
        step.mode = WALKING;
        move_by(0, 0);
    }
    step.mode = FALLING;
    for (int jumps = 0; jumps < 5; jumps++)
        fall_from(4.2, 9.8, 0.8);
    ck_assert_int_ge(failures[3], 1);
}
END_TEST

/* Where he was for so long nobody knows: he may have been on the ground. */
START_TEST(a_long_way_in_one_move_may_hide_a_landing)
{
    step.mode = FALLING;
    for (int round = 0; round < 10; round++) {
        fall_from(0, 9.8, 1);
        step.delta_us = 125000;
        step.client_us = 250000;
        step.received_us += 250000;
        move_by(0, 1);
        step.delta_us = DT_US;
        step.client_us = 0;
        fall_from(4, 9.8, 0.5);
    }
    step.delta_us = 125000;
    step.client_us = 2000000;
    step.received_us += 2000000;
    step.mode = WALKING; /* and it may have fallen */
    move_by(0, -20);
    expect(0, 0, 0, 0);
    step.received_us += 2000000;
    move_by(0, 20);
    expect(0, 1, 0, 0);
}
END_TEST

/* Hovering with a move on the ground now and then is hovering. */
START_TEST(touching_no_ground_pays_for_no_height)
{
    for (int i = 0; i < 3 * HZ; i++) {
        step.mode = i % 20 == 0 ? WALKING : FALLING;
        move_by(0, 0);
    }
    ck_assert_int_ge(failures[3], 1);
    set_up();
    for (int i = 0; i < 60 * HZ; i++) { /* on rough ground it happens for a moment */
        step.mode = i % 8 == 0 ? FALLING : WALKING;
        move_by(4 * DT, 0);
    }
    expect(0, 0, 0, 0);
}
END_TEST

/* ---- changes of limits ---- */

/* For rtt + 2 ticks after the change the old limit counts. */
START_TEST(the_larger_limit_counts_for_a_round_trip)
{
    step.mode = SPRINTING;
    run(12, 0, 1.2);
    step.mode = STRICT;
    body.speed.owed_s = 0;
    double seconds = run(12, 0, 1);
    expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.1 + 2 * TICK_S + 0.02, 2 * DT);
}
END_TEST

START_TEST(a_round_trip_not_known_is_taken_as_long)
{
    step.mode = SPRINTING;
    step.rtt_us = -1;
    run(12, 0, 1.2);
    step.mode = STRICT;
    double seconds = run(12, 0, 1);
    expect(0, 1, 0, 0);
    ck_assert_double_eq_tol(seconds, 0.2 + 2 * TICK_S + 0.02, 2 * DT);
}
END_TEST

START_TEST(a_raised_limit_counts_at_once)
{
    run(6, 0, 1);
    step.mode = SPRINTING;
    run(12, 0, 10);
    expect(0, 0, 0, 0);
}
END_TEST

START_TEST(changing_between_lesser_modes_prolongs_nothing)
{
    int moves = 0;
    step.mode = SPRINTING;
    run(12, 0, 1.2);
    for (; moves < HZ && failures[1] == 0; moves++) {
        step.mode = moves % 2 == 0 ? STRICT : WALKING;
        move_by(12 * DT, 0);
    }
    expect(0, 1, 0, 0);
    ck_assert_double_le(moves * DT, 0.1 + 2 * TICK_S + 0.5);
}
END_TEST

START_TEST(changing_modes_refills_nothing)
{
    move_by(1.4, 0);
    for (int i = 0; i < 10; i++) {
        step.mode = i % 2 == 0 ? FLYING : WALKING;
        move_by(6 * DT, 0);
    }
    expect(0, 0, 0, 0);
    move_by(1.0, 0);
    expect(0, 1, 0, 0);
}
END_TEST

/* What was owed under a larger credit is no offence under a smaller one, and leaves nothing. */
START_TEST(a_smaller_credit_is_no_trap)
{
    step.mode = SPRINTING;
    move_by(0, 0);
    rules.modes[STRICT].max_speed = 12;
    step.rtt_us = 0;
    step.jump_speed = 0;
    body.acceleration = (struct hs_movement_pool){0};
    step.has_velocity = true;
    move_by(11, 0);
    step.mode = STRICT;
    run(12, 0, 5);
    expect(0, 0, 0, 0);
    run(0, 0, 2);
    move_by(12 * (0.02 + SHARE * DT) + 0.01, 0);
    expect(0, 1, 0, 0);
}
END_TEST

/* ---- places ---- */

START_TEST(a_jump_that_nobody_announced_is_found)
{
    double reach = 200 * TICK_S;
    step.mode = FREE;
    run(0, 0, 3); /* the tick is known by now */
    reach = 200 * (double)body.tick_us / 1e6;
    ck_assert_double_eq_tol(reach, 200 * TICK_S, 0.01);
    move_by(reach - 1e-3, 0);
    expect(0, 0, 0, 0);
    move_by(reach + 0.01, 0);
    expect(1, 0, 0, 0);
    ck_assert_int_eq(found[0].unit, HS_UNIT_LENGTH);
    ck_assert_double_eq_tol(found[0].measured, reach + 0.01, 1e-9);
    move_by(0.1, 0); /* goes on from there */
    expect(1, 0, 0, 0);
    step.delta_us = 0; /* a move without time has a tick */
    move_by(3, 0);
    expect(1, 0, 0, 0);
}
END_TEST

START_TEST(a_teleport_is_no_speed)
{
    run(6, 0, 1);
    move_by(1000, 1000);
    run(6, 0, 1);
    expect(1, 0, 0, 0);
}
END_TEST

START_TEST(an_announced_teleport_is_silent)
{
    run(6, 0, 1);
    step.is_announced = true;
    move_by(1000, 1000);
    step.is_announced = false;
    run(6, 0, 1);
    expect(0, 0, 0, 0);
}
END_TEST

START_TEST(a_correction_is_followed_without_offence)
{
    run(6, 0, 1);
    step.corrected = step.position;
    step.has_corrected = true;
    step.corrected.y += 3;
    step.position.y += 3;
    move_by(6 * DT, 0);
    expect(0, 0, 0, 0);
    step.position.y += 3; /* nobody told him to */
    move_by(6 * DT, 0);
    expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_change_of_base_hides_a_way_and_refills_nothing)
{
    move_by(1.4, 0);
    step.base = 77;
    move_by(-500, 20);
    move_by(0, 0);
    expect(0, 0, 0, 0);
    move_by(1.0, 0);
    expect(0, 1, 0, 0);
    step.base = 0;
    move_by(500, 0);
    run(6, 0, 5);
    expect(0, 1, 0, 0);
}
END_TEST

START_TEST(a_base_changed_on_every_move_is_found)
{
    for (int i = 0; i < 100; i++) { /* two a second are honest */
        step.base++;
        move_by(30, 0);
        run(0, 0, 0.5);
    }
    expect(0, 0, 0, 0);
    for (int i = 0; i < HZ && failures[1] == 0; i++) {
        step.base++;
        move_by(30, 0);
    }
    expect(0, 1, 0, 0);
    ck_assert_int_eq(found[1].unit, HS_UNIT_COUNTED);
    ck_assert_double_eq(found[1].limit, 20);
}
END_TEST

START_TEST(an_unknown_mode_is_judged_by_jumps_alone)
{
    step.mode = _i == 0 ? HS_NONE : MODES;
    run(100, -5, 5);
    expect(0, 0, 0, 0);
    move_by(1000, 0);
    expect(1, 0, 0, 0);
    step.mode = WALKING; /* his place is known all the same */
    run(5, 0, 5);
    expect(1, 0, 0, 0);
}
END_TEST

/* ---- numbers ---- */

START_TEST(extreme_numbers_stay_numbers)
{
    static const double extremes[] = {0, 1e-9, 1, 1e9, -1e9, 1e15};
    enum { N = sizeof extremes / sizeof *extremes };
    rules.modes[STRICT] =
        (struct hs_move_mode){.max_speed = 1e-12, .max_accel = 1e-12, .gravity = 1e9, .credit = 60};
    for (int i = 0; i < 5000; i++) {
        step.mode = (uint16_t)(i % (MODES + 1));
        step.jump_speed = i % 3 == 0 ? 0 : 1e9;
        step.delta_us = i % 5 == 0 ? 0 : 1e5;
        step.client_us = i % 19 == 0 ? 1e15 : 0;
        step.has_velocity = i % 7 < 4;
        step.velocity = (struct hs_vec){i % 11 == 0 ? 1e300 : extremes[i % N], 0, -1e12};
        step.position =
            (struct hs_vec){extremes[i % N], extremes[i / N % N], extremes[i / (N * N) % N]};
        step.received_us += i % 13 == 0 ? -1000000 : DT_US;
        step.rtt_us = i % 17 == 0 ? INT64_MAX : -1;
        judge();
        ck_assert(isfinite(body.speed.owed_s) && isfinite(body.acceleration.owed_s));
        ck_assert(isfinite(body.kept) && isfinite(body.rise) && isfinite(body.unused_us) &&
                  isfinite(body.way[0]) && isfinite(body.velocity[0]));
    }
    ck_assert_int_gt(failures[0] + failures[1], 0);
}
END_TEST

static Suite *movement_suite(void)
{
    Suite *suite = suite_create("movement");
    TCase *speed = tcase_create("speed");
    tcase_add_checked_fixture(speed, set_up, NULL);
    tcase_add_test(speed, running_at_the_limit_for_an_hour_is_honest);
    tcase_add_test(speed, a_fast_body_is_found_once_its_credit_is_spent);
    tcase_add_test(speed, one_cause_is_not_found_on_every_move);
    tcase_add_test(speed, a_dash_may_use_the_credit_and_no_more);
    tcase_add_test(speed, a_move_without_time_has_the_credit_alone);
    tcase_add_test(speed, without_credit_every_move_stands_alone);
    tcase_add_test(speed, slopes_and_steps_are_walked_at_full_speed);
    tcase_add_test(speed, a_way_made_while_moves_were_lost_has_their_time);
    tcase_add_test(speed, what_a_mode_does_not_limit_is_not_judged);
    tcase_add_test(speed, speeding_up_by_the_limit_and_stopping_at_once_is_honest);
    tcase_add_test(speed, speed_from_nowhere_is_found);
    tcase_add_test(speed, turning_little_by_little_is_free_and_at_once_is_not);
    tcase_add_test(speed, acceleration_is_told_from_positions_too);
    tcase_add_test(speed, rounded_positions_accelerate_nobody);
    suite_add_tcase(suite, speed);
    TCase *gravity = tcase_create("gravity");
    tcase_add_checked_fixture(gravity, set_up, NULL);
    tcase_add_test(gravity, jumping_and_landing_is_honest);
    tcase_add_test(gravity, jumping_under_less_gravity_is_found);
    tcase_add_loop_test(gravity, staying_up_is_found_within_a_second, 0, 4);
    tcase_add_test(gravity, falling_is_free_and_its_credit_cannot_be_saved);
    tcase_add_test(gravity, sliding_down_what_is_too_steep_is_no_flying);
    tcase_add_test(gravity, a_bumped_head_is_no_flying_and_saves_no_climb);
    tcase_add_test(gravity, a_jump_shortly_after_the_edge_is_a_launch);
    tcase_add_test(gravity, two_bounces_may_lack_their_ground);
    tcase_add_test(gravity, a_long_way_in_one_move_may_hide_a_landing);
    tcase_add_test(gravity, touching_no_ground_pays_for_no_height);
    suite_add_tcase(suite, gravity);
    TCase *modes = tcase_create("modes and places");
    tcase_add_checked_fixture(modes, set_up, NULL);
    tcase_add_test(modes, the_larger_limit_counts_for_a_round_trip);
    tcase_add_test(modes, a_round_trip_not_known_is_taken_as_long);
    tcase_add_test(modes, a_raised_limit_counts_at_once);
    tcase_add_test(modes, changing_between_lesser_modes_prolongs_nothing);
    tcase_add_test(modes, changing_modes_refills_nothing);
    tcase_add_test(modes, a_smaller_credit_is_no_trap);
    tcase_add_test(modes, a_jump_that_nobody_announced_is_found);
    tcase_add_test(modes, a_teleport_is_no_speed);
    tcase_add_test(modes, an_announced_teleport_is_silent);
    tcase_add_test(modes, a_correction_is_followed_without_offence);
    tcase_add_test(modes, a_change_of_base_hides_a_way_and_refills_nothing);
    tcase_add_test(modes, a_base_changed_on_every_move_is_found);
    tcase_add_loop_test(modes, an_unknown_mode_is_judged_by_jumps_alone, 0, 2);
    tcase_add_test(modes, extreme_numbers_stay_numbers);
    suite_add_tcase(suite, modes);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(movement_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
