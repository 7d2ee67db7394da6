/* Launches: the server throws a player, whose moves may be faster for a while. */
#include <check.h>

#include "tests/support/run_suite.h"
#include "tests/unit/validators/server_moves.h"
#include "validators/match/player_moves.h"

static struct hs_player_frame launch(double x, double z)
{
    struct hs_player_frame entry = hs_stage_event("S", HS_EVENT_LAUNCH);
    entry.fields = HS_FIELD_VELOCITY;
    entry.velocity = (struct hs_vec){x, 0, z};
    return entry;
}

/* A knock-back of 18 m/s for a player who stands. The player slows down by 20 m/s^2. `claims`: the
   moves contain velocities. */
static void knock_back(bool claims)
{
    for (double v = 18; v > 0; v -= 20 * DT) {
        move.velocity.x = v;
        if (claims)
            move.fields |= HS_MOVE_HAS_VELOCITY;
        step(v * DT, 0);
    }
    run(0, 0, 0.5);
}

START_TEST(a_launch_pays_for_knock_back)
{
    bool claims = _i % 2 == 1, is_told = _i / 2 == 1;
    run(0, 0, 1);
    if (is_told)
        post(move.received_us, launch(18, 0));
    run(0, 0, 0.1); /* the launch is on its way to the client */
    knock_back(claims);
    ck_assert_msg((failures == 0) == is_told, "%d", failures);
}
END_TEST

/* A client answers pings 9 s late, and runs on with the speed of a launch. The round trip counts as
   1 s, for which the launch counts in full, plus 0.5 s. */
START_TEST(a_long_round_trip_keeps_no_launch)
{
    struct hs_player_frame entry = launch(18, 0);
    run(0, 0, 1);
    for (int i = 0; i < 100; i++) {
        entry.fields |= HS_FIELD_RTT;
        entry.rtt_us = S(9);
        ck_assert_int_eq(hs_stage_post(session.match, move.received_us, &entry, NULL),
                         HS_FRAME_STORED);
        entry = hs_stage_entry("S", move.position.x, 0, 0);
        run(18, 0, 0.05);
        if (i < 30)
            ck_assert_int_eq(failures, 0);
    }
    ck_assert_int_gt(failures, 0);
}
END_TEST

START_TEST(a_launch_excuses_one_gain_of_speed)
{
    run(0, 0, 1);
    post(move.received_us, launch(18, 0));
    knock_back(false);
    run(6, 0, 2);
    ck_assert_int_eq(failures, 0);
    knock_back(false);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* Launches the body up at vz, until it is back on the ground. */
static void fly(double vx, double vz)
{
    double height = 0;
    move.mode = HS_STR("falling");
    do {
        double dz = vz * DT - 9.8 * DT * DT / 2;
        dz = height + dz < 0 ? -height : dz;
        vz -= 9.8 * DT;
        step(vx * DT, dz);
        height += dz;
    } while (height > 0);
    move.mode = HS_STR("walking");
}

/* The rows launch the player from the ground or in the middle of a jump. */
START_TEST(a_launch_pays_for_jump_pads_and_rocket_jumps)
{
    bool is_told = _i % 2 == 1, is_in_air = _i / 2 == 1;
    run(6, 0, 1);
    for (int i = 0; i < 3; i++) { /* three launches, each with one flight */
        move.mode = is_in_air ? HS_STR("falling") : HS_STR("walking");
        for (double v = 4.2; is_in_air && v > -2; v -= 9.8 * DT)
            step(4 * DT, v * DT);
        if (is_told)
            post(move.received_us, launch(16, 18));
        fly(16, 18);
        run(6, 0, 0.5);
    }
    ck_assert_msg((failures == 0) == is_told, "%d", failures);
}
END_TEST

START_TEST(a_launch_is_no_flight)
{
    run(6, 0, 1);
    post(move.received_us, launch(0, 18));
    move.mode = HS_STR("falling");
    run(4, 18, 3);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* Hopping does not preserve the speed of the launch. A body may slide after it lands. */
START_TEST(a_landing_slows_a_launch)
{
    bool hops = _i == 1;
    run(0, 0, 1);
    post(move.received_us, launch(18, 8));
    fly(16, 8);
    for (double v = 16; !hops && v > 6; v -= 15 * DT)
        step(v * DT, 0);
    run(6, 0, hops ? 0.01 : 1);
    ck_assert_int_eq(failures, 0);
    for (int i = 0; hops && i < 6; i++) {
        step(16 * DT, 0);
        fly(16, 4.2);
    }
    ck_assert_int_eq(failures > 0, hops);
}
END_TEST

/* A launch may be lost in a restart. So the first fast movement shortly after a restart is not
   refused. Later ones are. */
START_TEST(a_launch_may_be_lost_in_a_restart)
{
    run(0, 0, 1);
    restart();
    run(0, 0, 0.2);
    knock_back(_i == 1);
    ck_assert_int_eq(failures, 0);
    run(6, 0, 2);
    knock_back(_i == 1);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* One small jump after a restart does not allow any speed: the speed of the assumed launch has a
   limit. */
START_TEST(an_assumed_launch_has_a_max_speed)
{
    run(0, 0, 1);
    restart();
    step(0, 0);
    step(3, 0);
    ck_assert_int_eq(failures, 0);
    run(60, 0, 0.3);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* In the air, the speed of a launch does not shrink. So an assumed launch ends earlier than one
   that the server posted. */
START_TEST(an_assumed_launch_ends_early)
{
    double vz = 0;
    run(0, 0, 1);
    restart();
    step(0, 0);
    move.mode = HS_STR("falling");
    for (int i = 0; i < 5 * 60; i++) {
        vz = vz > -30 ? vz - 9.8 * DT : vz;
        step((i == 0 ? 180 : 16) * DT, vz * DT);
        if (i < 2.5 * 60)
            ck_assert_int_eq(failures, 0);
    }
    ck_assert_int_gt(failures, 0);
}
END_TEST

START_TEST(a_saved_launch_counts_after_a_restart)
{
    run(0, 0, 1);
    post(move.received_us, launch(18, 0));
    step(18 * DT, 0);
    restart();
    const struct hs_player *player = hs_players_find(&session.match->players, HS_STR("S"));
    ck_assert(player->was_launched && player->launch.speed == 18);
    player->moves->is_restored = false; /* because a restored player's jump would be excused */
    knock_back(true);
    ck_assert_int_eq(failures, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("launches");
    TCase *tcase = tcase_create("launches");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_launch_pays_for_knock_back, 0, 4);
    tcase_add_test(tcase, a_long_round_trip_keeps_no_launch);
    tcase_add_test(tcase, a_launch_excuses_one_gain_of_speed);
    tcase_add_loop_test(tcase, a_launch_pays_for_jump_pads_and_rocket_jumps, 0, 4);
    tcase_add_test(tcase, a_launch_is_no_flight);
    tcase_add_loop_test(tcase, a_landing_slows_a_launch, 0, 2);
    tcase_add_test(tcase, a_saved_launch_counts_after_a_restart);
    tcase_add_test(tcase, an_assumed_launch_has_a_max_speed);
    tcase_add_test(tcase, an_assumed_launch_ends_early);
    tcase_add_loop_test(tcase, a_launch_may_be_lost_in_a_restart, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
