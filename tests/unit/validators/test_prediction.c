/* Prediction by ping: the shooter's ping determines the time at which the target is checked.
   Fixture: tests/support/play/stage.h. T walks at 4 m/s, so each place belongs to one time. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"
#include "validators/match/connection.h"

static void set_up(void)
{
    open_stage();
    rules->rewind.source = HS_REWIND_BY_PREDICTION;
}

/* Posts the fixture's history with the round trip of S, and the wish of S: the largest ping to
   compensate. Negative numbers are not posted. */
static void play(int rtt_ms, int wish_ms)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.weapon = HS_STR("rifle");
        s.rtt_us = (int32_t)HS_MS(rtt_ms);
        s.prediction_us = (int32_t)HS_MS(wish_ms);
        s.fields = (rtt_ms >= 0 ? (unsigned)HS_FIELD_RTT : 0) |
                   (wish_ms >= 0 ? (unsigned)HS_FIELD_PREDICTION : 0);
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0.004 * ms, 0);
    }
}

static void expect_claim(struct hs_hit_claim claim, enum hs_reason reason, int64_t time_us)
{
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1000));
    hs_expect_reason(result, reason);
    if (time_us >= 0)
        ck_assert_int_eq(result->rewind.time_us, time_us);
    free(result);
}

/* The rewind in milliseconds: half of clamp(ping - 20, 0, min(wish, 120)). */
static const struct {
    int rtt, wish, back;
} pings[] = {{40, -1, 10},  {140, -1, 60}, {400, -1, 60}, {20, -1, 0},   {5, -1, 0},
             {140, 50, 25}, {60, 50, 20},  {140, 0, 0},   {140, 500, 60}};

#define PINGS ((int)(sizeof pings / sizeof *pings))

START_TEST(the_moment_follows_from_the_ping)
{
    play(pings[_i].rtt, pings[_i].wish);
    int64_t moment = HS_MS(1000 - pings[_i].back);
    double y = 4e-6 * (double)moment;
    /* The claimed time does not matter, not even for the check `latency`. */
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, y, 1.6);
    expect_claim(claim, HS_REASON_OK, moment);
    claim.hit_time_us = HS_MS(800);
    expect_claim(claim, HS_REASON_OK, moment);
    /* The shot goes through T's place at the claimed time, so it misses. */
    claim.end.y = 3.2 - 0.3;
    expect_claim(claim, HS_REASON_NO_INTERSECTION, moment);
}
END_TEST

START_TEST(the_shooters_pose_is_that_of_the_claim)
{
    play(140, -1);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(700), 20, 3.76, 1.6);
    expect_claim(claim, HS_REASON_REWIND_LIMIT, HS_MS(940)); /* fired 300 ms ago */
    claim.hit_time_us = HS_MS(1051);
    expect_claim(claim, HS_REASON_TIME_IN_FUTURE, HS_MS(940));
}
END_TEST

START_TEST(without_a_round_trip_nothing_is_known)
{
    play(-1, 50);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, 1.6);
    expect_claim(claim, HS_REASON_UNKNOWN_SHOOTER_HISTORY, -1);
    /* The claim is not rejected for a miss at the claimed time, but it is for a dead shooter. */
    claim.end.y = -9;
    claim.start.y = 5;
    expect_claim(claim, HS_REASON_ORIGIN_MISMATCH, -1);
}
END_TEST

START_TEST(with_claimed_times_the_ping_changes_nothing)
{
    rules->rewind.source = HS_REWIND_BY_CLAIM;
    play(120, -1);
    expect_claim(hs_stage_claim(HS_MS(900), 20, 3.6, 1.6), HS_REASON_OK, HS_MS(900));
}
END_TEST

/* The times of a projectile come from the claim. This arrow flew for half a second. */
START_TEST(projectiles_go_by_the_claim)
{
    play(140, -1);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 3.6, 1.2);
    claim.weapon = HS_STR("bow");
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(390);
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_int_eq(result->rewind.time_us, HS_MS(900));
    hs_expect_row(result, HS_CHECK_CONTACT, HS_OUTCOME_PASS, HS_REASON_OK);
    free(result);
}
END_TEST

/* The connection of a player: the smallest of the last four round trips, and the difference between
   the largest and the smallest of them. */
START_TEST(connections_are_read_from_the_last_four)
{
    static const int told[] = {5, 90, 70, 80, 75};
    struct hs_connection connection;
    for (int i = 0; i < 5; i++) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.fields = HS_FIELD_RTT | HS_FIELD_INTERP;
        s.rtt_us = (int32_t)HS_MS(told[i]);
        s.interp_us = (int32_t)HS_MS(30 + i);
        ck_assert_int_eq(hs_stage_post(match, HS_MS(50 * i), &s, NULL), HS_FRAME_STORED);
    }
    const struct hs_player *player = hs_players_find(&match->players, HS_STR("S"));
    hs_connection_read(player, HS_MS(300), &connection);
    ck_assert(connection.is_known);
    ck_assert_int_eq(connection.rtt_us, HS_MS(70));
    ck_assert_int_eq(connection.spread_us, HS_MS(20));
    ck_assert_int_eq(connection.interp_us, HS_MS(34));
    ck_assert_int_eq(connection.wish_us, -1);
    hs_connection_read(player, HS_MS(149), &connection); /* only the first three are used */
    ck_assert_int_eq(connection.rtt_us, HS_MS(5));
    ck_assert_int_eq(connection.interp_us, HS_MS(32));
    hs_connection_read(player, -1, &connection);
    ck_assert(!connection.is_known);
    hs_connection_read(NULL, HS_MS(300), &connection);
    ck_assert(!connection.is_known);
}
END_TEST

/* Round trips of 40 to 42 ms, one each `interval_ms`. */
static void post_round_trips(int from_ms, int to_ms, int interval_ms)
{
    for (int ms = from_ms, i = 0; ms <= to_ms; ms += interval_ms, i++) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.fields = HS_FIELD_RTT;
        s.rtt_us = (int32_t)HS_MS(40 + i % 3);
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
    }
}

/* A connection is quiet only while the last two windows of 15 s together have eight round trips. */
START_TEST(old_round_trips_make_no_connection_quiet)
{
    rules->history.max_forward_us = HS_MS(60000);
    const struct hs_player *player;
    post_round_trips(0, 600, 100); /* 7 round trips */
    player = hs_players_find(&match->players, HS_STR("S"));
    ck_assert(!hs_connection_is_quiet(player, HS_MS(600)));
    ck_assert_int_eq(hs_connection_move_credit(player, HS_MS(600)), -1);
    post_round_trips(700, 700, 1); /* the 8th */
    ck_assert(hs_connection_is_quiet(player, HS_MS(700)));
    ck_assert_int_eq(hs_connection_move_credit(player, HS_MS(700)), HS_MS(40));
    post_round_trips(15000, 25000, 10000); /* 2 in the next window, 10 in both */
    ck_assert(hs_connection_is_quiet(player, HS_MS(25000)));
    post_round_trips(30000, 40000, 10000); /* 4 in both windows */
    ck_assert(!hs_connection_is_quiet(player, HS_MS(40000)));
    ck_assert_int_eq(hs_connection_move_credit(player, HS_MS(40000)), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prediction");
    TCase *tcase = tcase_create("prediction");
    tcase_add_checked_fixture(tcase, set_up, close_stage);
    tcase_add_loop_test(tcase, the_moment_follows_from_the_ping, 0, PINGS);
    tcase_add_test(tcase, the_shooters_pose_is_that_of_the_claim);
    tcase_add_test(tcase, without_a_round_trip_nothing_is_known);
    tcase_add_test(tcase, with_claimed_times_the_ping_changes_nothing);
    tcase_add_test(tcase, projectiles_go_by_the_claim);
    tcase_add_test(tcase, connections_are_read_from_the_last_four);
    tcase_add_test(tcase, old_round_trips_make_no_connection_quiet);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
