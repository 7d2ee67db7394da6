/* The effects of a refused move, with all checks of moves enforced. A refused move gains no
   distance and no credit. A player who continues honestly is accepted again. Units: metres, 60
   moves per second. The max speed is 6 m/s. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/play/session.h"
#include "tests/support/run_suite.h"

#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))
#define FRAME_US   INT64_C(16667)
#define DT         (FRAME_US / 1e6)
#define RUN        6.0
#define TRY_US     2 /* time between attempts; longer than min_delta */
#define CREDIT_S   0.25
#define TOLERANCE  1.01 /* tolerance of the speed check */

static struct hs_test_session session;
static struct hs_move move; /* the next move */
static struct hs_vec last;  /* last accepted place */
static int refusals;
static int64_t tries_us; /* lead of the client's clock during the attempts */

static void set_up(void)
{
    hs_session_open(&session);
    hs_ruleset_add_builtin_moves(session.rules, 100);
    session.rules->moves.client_max_error = 1e6;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        session.rules->move_checks[i] = HS_MODE_ENFORCE;
    hs_session_post(&session, S(99), HS_EVENT_NONE);
    move = hs_session_move(S(1), S(100));
    move.fields = HS_MOVE_HAS_POSITION;
    move.mode = HS_STR("walking");
    last = (struct hs_vec){0, 0, 0};
    refusals = 0;
    tries_us = 0;
}

static void tear_down(void)
{
    hs_session_close(&session);
}

/* Sends a move by `dx`. The move starts from the last accepted place. With `from_own` it starts
   from the place where the client believes to be. */
static struct hs_move_result send(double dx, bool from_own)
{
    if (!from_own)
        move.position = last;
    move.position.x += dx;
    struct hs_move_result result = hs_session_judge(&session, &move);
    bool good = result.verdict == HS_VERDICT_ACCEPTED;
    if (good)
        last = move.position;
    refusals += !good;
    return result;
}

static void pass(double client_s, double server_s)
{
    move.timestamp_us += S(client_s) - tries_us;
    tries_us = 0;
    move.received_us += S(server_s);
}

/* Walks honestly from the last accepted place. */
static void walk(double seconds)
{
    for (long i = lround(seconds / DT); i > 0; i--) {
        pass(DT, DT);
        send(RUN * DT, false);
    }
}

/* ---- cheats ---- */

/* Tries shorter and shorter distances until one is accepted. Each attempt is a separate move. */
static void send_greedily(double most)
{
    for (double way = most; way > 0; way -= most / 20) {
        if (send(way, false).verdict == HS_VERDICT_ACCEPTED)
            return;
        move.timestamp_us += TRY_US;
        tries_us += TRY_US;
    }
}

/* A kind of cheat that lasts ten seconds. */
static const struct {
    double speeds[2]; /* m/s; the two speeds take turns */
    double every_s;   /* time between moves */
    int parts;        /* moves that each step is divided into */
    int refused_of;   /* one of this many moves is normal, the others name an unknown base */
    bool is_greedy;
} cheats[] = {
    {{12, 12}, DT, 1, 1, false}, {{60, 60}, DT, 1, 1, false}, {{18, 3}, DT, 1, 1, false},
    {{7, 7}, DT, 1, 1, false},   {{18, 18}, DT, 1, 1, true},  {{18, 18}, DT, 8, 1, true},
    {{0, 24}, 0.5, 1, 1, true},  {{18, 18}, 1, 1, 1, true},   {{18, 18}, 4, 1, 1, true},
    {{18, 18}, DT, 1, 2, true},  {{60, 60}, DT, 1, 10, true}, {{12, 12}, DT, 1, 30, false},
};

/* A cheat gains the credit once, and the tolerance, and nothing else. */
START_TEST(refused_moves_win_nothing)
{
    walk(2);
    ck_assert_int_eq(refusals, 0);
    double from = last.x, since_s = 0;
    int64_t begin_us = move.received_us;
    int parts = cheats[_i].parts;
    for (int i = 0; since_s < 10; i++) {
        double speed = cheats[_i].speeds[i % 2];
        for (int part = 0; part < parts; part++) {
            pass(cheats[_i].every_s / parts, part == 0 ? cheats[_i].every_s : 0);
            bool is_meant = (i + 1) % cheats[_i].refused_of == 0;
            move.base = is_meant ? (struct hs_str){0} : HS_STR("nowhere");
            if (cheats[_i].is_greedy && is_meant)
                send_greedily(speed * cheats[_i].every_s * cheats[_i].refused_of / parts);
            else
                send(speed * cheats[_i].every_s / parts, false);
        }
        since_s = (double)(move.received_us - begin_us) / 1e6;
    }
    ck_assert_int_gt(refusals, 10);
    ck_assert_double_le(last.x - from, RUN * (since_s * TOLERANCE + CREDIT_S) + 0.6);
}
END_TEST

/*
 * Walks from the first move on, with a clock that is 1.3 times as fast. There are no acks that
 * prove it. The service knows round trips of 40 ms that differ by `spread_us`. Every fourth packet
 * is late. Plays ten seconds. Returns how far the player is ahead of an honest runner then, as the
 * seconds that a runner needs for that distance.
 */
static double win_with_fast_clock(int32_t spread_us)
{
    session.rules->move_checks[HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED] = HS_MODE_OFF;
    session.rules->move_checks[HS_MOVE_CHECK_TIMING_DISCREPANCY] = HS_MODE_OFF;
    for (int i = 0; i < 10; i++) {
        struct hs_player_frame entry = hs_stage_entry("S", 0, 0, 0);
        entry.fields = HS_FIELD_RTT;
        entry.rtt_us = 40000 + spread_us * (i % 2);
        ck_assert_int_eq(hs_stage_post(session.match, S(99.1) + S(0.05) * i, &entry, NULL),
                         HS_FRAME_STORED);
    }
    send(0, false);
    double since_s = 0;
    for (int i = 0; since_s < 10; i++) {
        double server_s = i % 4 == 2 ? 2 * DT : i % 4 == 3 ? 0 : DT;
        pass(1.3 * DT, server_s);
        send(1.3 * RUN * DT, false);
        since_s += server_s;
    }
    ck_assert_int_gt(refusals, 10);
    return last.x / RUN - since_s;
}

/* A time is granted only once: either by the credit of the clock, or by the credit of the
   movement. */
START_TEST(a_new_player_wins_little_on_a_steady_connection)
{
    static const struct {
        int32_t spread_us;
        double least_s, most_s;
    } rows[] = {{0, 0.6, 0.72},     /* no measured round trips: the whole credit of clock and
                                       movement, and the tolerance */
                {10000, 0.15, 0.2}, /* a steady connection */
                {25000, 0.2, 0.24}};
    double won_s = win_with_fast_clock(rows[_i].spread_us);
    ck_assert_double_ge(won_s, rows[_i].least_s);
    ck_assert_double_le(won_s, rows[_i].most_s);
}
END_TEST

/* ---- honest players ---- */

/* After a correction a player continues at once. */
START_TEST(a_corrected_player_goes_on)
{
    walk(2);
    pass(DT, DT);
    ck_assert_int_ne(send(_i == 0 ? 2 : 50, false).verdict, HS_VERDICT_ACCEPTED);
    ck_assert_int_eq(refusals, 1);
    walk(5);
    ck_assert_int_eq(refusals, 1);
}
END_TEST

/* The player may also continue from the place where the server put them. */
START_TEST(the_server_may_put_a_player_elsewhere)
{
    walk(2);
    pass(DT, DT);
    move.fields |= HS_MOVE_HAS_SERVER_POSITION;
    move.server_position = last;
    move.server_position.y += 8;
    struct hs_move_result result = send(50, false);
    ck_assert_int_eq(result.position, HS_MOVE_POSITION_CORRECTION);
    move.fields &= ~(unsigned)HS_MOVE_HAS_SERVER_POSITION;
    last = move.server_position;
    walk(5);
    ck_assert_int_eq(refusals, 1);
}
END_TEST

/* A player who gets no correction is refused until enough time has passed to walk the distance. */
START_TEST(nobody_is_refused_for_ever)
{
    walk(2);
    pass(DT, DT);
    send(12, false);
    for (int i = 0; i < 60 * 3; i++) {
        pass(DT, DT);
        send(0, true);
    }
    ck_assert_int_gt(refusals, 60);
    ck_assert_int_lt(refusals, 60 * 2.1);
    refusals = 0;
    walk(5);
    ck_assert_int_eq(refusals, 0);
}
END_TEST

/* ---- announcements of the server ---- */

/* Sends a move that is refused because the client's clock is fast. */
static void send_with_fast_clock(double dx)
{
    pass(0.6, DT);
    ck_assert_int_eq(send(dx, false).reason, HS_MOVE_TIMING_DISCREPANCY);
}

/* The teleport goes to the origin, where the frames have the player. */
START_TEST(a_refused_move_uses_up_no_teleport)
{
    walk(2);
    hs_session_post(&session, move.received_us, HS_EVENT_NONE);
    walk(2);
    hs_session_post(&session, move.received_us, HS_EVENT_TELEPORT);
    send_with_fast_clock(-last.x);
    pass(DT, DT);
    ck_assert_int_eq(send(-last.x, false).reason, HS_MOVE_OK);
    pass(DT, DT);
    ck_assert_int_ne(send(40, false).reason, HS_MOVE_OK);
}
END_TEST

/* A teleport excuses only a jump to its own place, not to another one. */
START_TEST(a_teleport_excuses_its_own_place_alone)
{
    walk(2);
    hs_session_post(&session, move.received_us, HS_EVENT_NONE);
    walk(2);
    hs_session_post(&session, move.received_us, HS_EVENT_TELEPORT);
    pass(DT, DT);
    ck_assert_int_ne(send(40, false).reason, HS_MOVE_OK);
    pass(DT, DT);
    ck_assert_int_eq(send(-last.x, false).reason, HS_MOVE_OK);
}
END_TEST

START_TEST(a_refused_move_uses_up_no_launch)
{
    walk(2);
    struct hs_player_frame entry = hs_stage_event("S", HS_EVENT_LAUNCH);
    entry.fields = HS_FIELD_VELOCITY;
    entry.velocity = (struct hs_vec){18, 0, 5};
    ck_assert_int_eq(hs_stage_post(session.match, move.received_us, &entry, NULL), HS_FRAME_STORED);
    send_with_fast_clock(18 * DT);
    refusals = 0;
    for (int i = 0; i < 12; i++) {
        pass(DT, DT);
        send(18 * DT, false);
    }
    ck_assert_int_eq(refusals, 0);
}
END_TEST

/* ---- dilation ---- */

/* Walks with a round trip of 200 ms, until the game slows down. */
static void walk_until_slow(double dilation)
{
    for (int i = 0; i < 10; i++) {
        struct hs_player_frame entry = hs_stage_entry("S", 0, 0, 0);
        entry.fields = HS_FIELD_RTT;
        entry.rtt_us = 200000 + 2000 * (i % 2);
        ck_assert_int_eq(hs_stage_post(session.match, S(99.1) + S(0.05) * i, &entry, NULL),
                         HS_FRAME_STORED);
    }
    walk(5);
    ck_assert_int_eq(refusals, 0);
    move.dilation = dilation;
}

START_TEST(moves_on_their_way_when_the_game_slows_down_are_not_refused)
{
    static const double dilations[] = {0, 0.3};
    walk_until_slow(dilations[_i]);
    walk(0.2); /* the client has not learned of the change */
    for (int i = 0; i < 60 && dilations[_i] > 0; i++) {
        pass(DT * dilations[_i], DT);
        send(RUN * DT * dilations[_i], false);
    }
    ck_assert_int_eq(refusals, 0);
}
END_TEST

START_TEST(who_ignores_a_slow_game_gains_little)
{
    walk_until_slow(0.3);
    double from = last.x;
    walk(5);
    ck_assert_int_gt(refusals, 10);
    ck_assert_double_le(last.x - from, RUN * (0.3 * 5 + 0.7 * 0.24) * TOLERANCE + RUN * CREDIT_S);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refused moves");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, refused_moves_win_nothing, 0,
                        (int)(sizeof cheats / sizeof cheats[0]));
    tcase_add_loop_test(tcase, a_new_player_wins_little_on_a_steady_connection, 0, 3);
    tcase_add_loop_test(tcase, a_corrected_player_goes_on, 0, 2);
    tcase_add_test(tcase, the_server_may_put_a_player_elsewhere);
    tcase_add_test(tcase, nobody_is_refused_for_ever);
    tcase_add_test(tcase, a_refused_move_uses_up_no_teleport);
    tcase_add_test(tcase, a_teleport_excuses_its_own_place_alone);
    tcase_add_test(tcase, a_refused_move_uses_up_no_launch);
    tcase_add_loop_test(tcase, moves_on_their_way_when_the_game_slows_down_are_not_refused, 0, 2);
    tcase_add_test(tcase, who_ignores_a_slow_game_gains_little);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
