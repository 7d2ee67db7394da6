/* Very old moves, and moves that show one of several jumps that the server made. */
#include <check.h>
#include <string.h>

#include "tests/support/play/session.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/match/players.h"
#include "validators/moves.h"

#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))
#define FRAME_US   INT64_C(16667)

static struct hs_test_session session;

static void set_up(void)
{
    hs_session_open(&session);
}

static void tear_down(void)
{
    hs_session_close(&session);
}

/* ---- moves of long ago ---- */

/* Plays ten seconds with a client clock that is 2 % fast, so that some credit is used. */
static uint64_t play_fast(int64_t from_us, uint64_t epoch)
{
    uint64_t seq = 0;
    for (int64_t t = 0; t < S(10); t += FRAME_US) {
        struct hs_move move = hs_session_move(S(1) + t * 102 / 100, from_us + t);
        move.fields = HS_MOVE_HAS_SEQ;
        move.seq = seq++;
        move.epoch = epoch;
        ck_assert_int_eq(hs_session_judge(&session, &move).verdict, HS_VERDICT_ACCEPTED);
    }
    return seq;
}

static struct hs_moves_info info_of(void)
{
    struct hs_moves_info info;
    ck_assert(hs_match_moves_info(session.match, HS_STR("S"), &info));
    info.reasons[HS_MOVE_STALE] = 0;
    return info;
}

/* Rows: how much older the late moves are than the newest one, and how many arrive at once. */
START_TEST(stragglers_change_nothing)
{
    static const struct {
        double by_s;
        int count;
        uint64_t epoch;
    } rows[] = {{4.9, 1, 3}, {5.1, 1, 3}, {7.98, 1, 3}, {7.98, 50, 3}, {8, 1, 2}, {8, 200, 2}};
    uint64_t seq = play_fast(S(100), 3);
    struct hs_moves_info before = info_of();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < rows[i].count; k++) {
            int64_t received_us = S(110 - rows[i].by_s) + k * FRAME_US;
            struct hs_move move = hs_session_move(S(2), received_us);
            move.fields = HS_MOVE_HAS_SEQ;
            move.epoch = rows[i].epoch;
            move.seq = 1000000 + 1000 * i + (uint64_t)k;
            ck_assert_int_eq(hs_session_judge(&session, &move).reason, HS_MOVE_STALE);
        }
        struct hs_moves_info after = info_of();
        ck_assert_uint_eq(after.epoch, before.epoch);
        ck_assert_int_eq(after.received_us, before.received_us);
        ck_assert_int_eq(after.credit_us, before.credit_us);
        ck_assert_int_eq(after.lifetime_us, before.lifetime_us);
        ck_assert_double_eq(after.speed, before.speed);
    }
    struct hs_move next = hs_session_move(S(1) + S(10) * 102 / 100 + FRAME_US, S(110) + FRAME_US);
    next.fields = HS_MOVE_HAS_SEQ;
    next.epoch = 3;
    next.seq = seq;
    struct hs_move_result result = hs_session_judge(&session, &next);
    ck_assert_int_eq(result.reason, HS_MOVE_OK);
    ck_assert_int_lt(result.credit_us, S(0.25));
}
END_TEST

/* If the match has no frames, a second of consistent moves shows that the server's clock was set
   back. When the clock returns to its old time, the time that was granted before is not granted
   again. */
START_TEST(moves_that_agree_set_the_clock_back)
{
    play_fast(S(100), 0);
    int64_t credit_us = info_of().credit_us;
    ck_assert_int_lt(credit_us, S(0.25));
    int stale = 0;
    for (int64_t t = 0; t <= S(2); t += FRAME_US) {
        enum hs_move_reason reason = hs_session_send(&session, S(1) + t, S(50) + t);
        stale += reason == HS_MOVE_STALE;
        ck_assert_int_eq(reason, t >= S(1) ? HS_MOVE_OK : HS_MOVE_STALE);
    }
    ck_assert_int_eq(stale, 60);
    ck_assert_int_eq(info_of().received_us, S(50) + S(2) / FRAME_US * FRAME_US);
    int64_t used_us = info_of().credit_us;
    hs_session_send(&session, S(3.1), S(110.1));
    ck_assert_int_le(info_of().credit_us, used_us + S(0.1) + FRAME_US);
}
END_TEST

/* Many moves in one packet prove no more than one move. Three moves that are far apart prove
   nothing. */
START_TEST(moves_that_do_not_agree_do_not_set_the_clock_back)
{
    play_fast(S(100), 0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(hs_session_send(&session, S(1) + i * FRAME_US, S(50)), HS_MOVE_STALE);
    for (int i = 1; i < 10; i++)
        ck_assert_int_eq(hs_session_send(&session, S(2 + 6 * i), S(50 - 6 * i)), HS_MOVE_STALE);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(hs_session_send(&session, S(3 + i), S(50 + 4 * i % 8)), HS_MOVE_STALE);
        ck_assert_int_eq(hs_session_send(&session, S(11.5 + i), S(110.1 + i)),
                         HS_MOVE_OK); /* times of the old clock */
    }
}
END_TEST

START_TEST(the_clock_of_frames_decides_over_moves)
{
    for (int64_t t = 0; t < S(10); t += HS_MS(50)) {
        hs_session_post(&session, S(100) + t, HS_EVENT_NONE);
        ck_assert_int_eq(hs_session_send(&session, S(1) + t, S(100) + t), HS_MOVE_OK);
    }
    for (int64_t t = 0; t < S(5); t += HS_MS(50))
        ck_assert_int_eq(hs_session_send(&session, S(20) + t, S(50) + t), HS_MOVE_STALE);
    ck_assert_int_eq(hs_session_send(&session, S(11), S(110)), HS_MOVE_OK);
    /* Three frames with earlier times show that the clock was set back. */
    struct hs_player_frame back = hs_stage_event("S", HS_EVENT_NONE);
    for (int i = 0; i < 3; i++)
        hs_stage_post(session.match, S(50) + i * HS_MS(50), &back, NULL);
    ck_assert_int_eq(hs_session_send(&session, S(30), S(50.2)), HS_MOVE_OK);
}
END_TEST

/* ---- several jumps in flight ---- */

/* Returns the player's place at a time. The time jumps[i] begins place i + 1. */
static double place_at(const int64_t *jumps, int count, int64_t time_us)
{
    int at = 0;
    while (at < count && time_us >= jumps[at])
        at++;
    return at % 2 == 0 ? 10.0 * at : -10.0 * at;
}

/* Plays five seconds in which the player stands still except for the jumps. Frames announce the
   jumps whose bits are set in `told`. Returns the number of failed moves. */
static int play_jumps(const int64_t *jumps, int count, unsigned told, int64_t one_way_us)
{
    int failed = 0;
    for (int64_t t = S(1); t < S(6); t += FRAME_US) {
        struct hs_player_frame entry = hs_stage_entry("S", place_at(jumps, count, t), 0, 0);
        entry.fields = HS_FIELD_RTT;
        entry.rtt_us = (int32_t)(2 * one_way_us);
        for (int i = 0; i < count; i++)
            if (t >= jumps[i] && t - FRAME_US < jumps[i] && (told >> i & 1) != 0)
                entry.event = HS_EVENT_TELEPORT;
        hs_stage_post(session.match, t, &entry, NULL);
        struct hs_move move = hs_session_move(S(1) + t, t);
        move.fields = HS_MOVE_HAS_POSITION;
        move.mode = HS_STR("walking");
        move.position.x = place_at(jumps, count, t - 2 * one_way_us);
        failed += hs_session_judge(&session, &move).failure_count > 0;
    }
    return failed;
}

START_TEST(each_announced_jump_is_excused)
{
    static const struct {
        int64_t jumps[3];
        int count;
        double one_way_s;
    } rows[] = {{{S(3), S(3.5)}, 2, 0.05},          {{S(3), S(3.05)}, 2, 0.05},
                {{S(3), S(3.1)}, 2, 0.1},           {{S(3), S(3.05), S(3.1)}, 3, 0.1},
                {{S(3), S(3.25), S(3.5)}, 3, 0.25}, {{S(3), S(3.02)}, 2, 0.2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(play_jumps(rows[i].jumps, rows[i].count, 7, S(rows[i].one_way_s)), 0);
        tear_down();
        set_up();
    }
}
END_TEST

START_TEST(one_announcement_excuses_one_jump)
{
    static const int64_t jumps[] = {S(3), S(3.1), S(3.2)};
    for (unsigned told = 0; told < 8; told++) {
        int untold = 3 - (int)(told & 1) - (int)(told >> 1 & 1) - (int)(told >> 2 & 1);
        int failed = play_jumps(jumps, 3, told, S(0.1));
        ck_assert_msg(untold == 0 ? failed == 0 : failed >= untold, "%u: %d", told, failed);
        tear_down();
        set_up();
    }
}
END_TEST

/* The stored announcements are sorted, limited in number, and without duplicates. */
START_TEST(announcements_are_sorted_and_limited)
{
    static const struct {
        int64_t told[8], want[HS_JUMPS_OPEN];
        int count;
    } rows[] = {
        {{5}, {5, 5, 5, 5}, 1},
        {{5, 7}, {5, 5, 5, 7}, 2},
        {{7, 5}, {5, 7, 7, 7}, 2},
        {{5, 7, 6}, {5, 5, 6, 7}, 3},
        {{5, 9, 7, 6}, {5, 6, 7, 9}, 4},
        {{1, 2, 3, 4, 5, 6}, {3, 4, 5, 6}, 6},
        {{4, 5, 6, 7, 1}, {4, 5, 6, 7}, 5},
        {{9, 8, 7, 6, 5}, {6, 7, 8, 9}, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < rows[i].count; k++)
            hs_session_post(&session, HS_MS(50) * rows[i].told[k], HS_EVENT_TELEPORT);
        const struct hs_player *player = hs_players_find(&session.match->players, HS_STR("S"));
        for (int k = 0; k < HS_JUMPS_OPEN; k++)
            ck_assert_msg(player->moved_us[k] == HS_MS(50) * rows[i].want[k], "row %zu: %d is %lld",
                          i, k, (long long)player->moved_us[k] / HS_MS(50));
        tear_down();
        set_up();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("late moves");
    TCase *clock = tcase_create("clock"), *jumps = tcase_create("jumps");
    tcase_add_checked_fixture(clock, set_up, tear_down);
    tcase_add_checked_fixture(jumps, set_up, tear_down);
    tcase_add_test(clock, stragglers_change_nothing);
    tcase_add_test(clock, moves_that_agree_set_the_clock_back);
    tcase_add_test(clock, moves_that_do_not_agree_do_not_set_the_clock_back);
    tcase_add_test(clock, the_clock_of_frames_decides_over_moves);
    tcase_add_test(jumps, each_announced_jump_is_excused);
    tcase_add_test(jumps, one_announcement_excuses_one_jump);
    tcase_add_test(jumps, announcements_are_sorted_and_limited);
    suite_add_tcase(suite, clock);
    suite_add_tcase(suite, jumps);
    return hs_run_suite(suite);
}
