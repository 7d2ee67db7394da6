/* Moves and claims that arrive after the end of their session, and their effect on the next
   session. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/inspect.h"
#include "tests/support/play/session.h"
#include "tests/support/play/stage.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/shot.h"

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

/* Posts frames without S. */
static void go_on(int64_t from_us, int64_t to_us)
{
    for (int64_t t = from_us; t <= to_us; t += HS_MS(50))
        hs_stage_place(session.match, t, "T", 20, 0, 0);
}

/* ---- moves ---- */

/* Plays one second of honest moves, then a frame in which S leaves. */
static void play_and_leave(int64_t from_us)
{
    for (int64_t t = 0; t < S(1); t += HS_MS(50)) {
        hs_session_post(&session, from_us + t, HS_EVENT_NONE);
        ck_assert_int_eq(hs_session_send(&session, S(50) + t, from_us + t), HS_MOVE_OK);
    }
    hs_session_post(&session, from_us + S(1), HS_EVENT_LEAVE);
}

static bool is_present(void)
{
    struct hs_player_info player;
    return hs_match_find_player(session.match, HS_STR("S"), &player);
}

START_TEST(a_move_after_leaving_brings_nobody_back)
{
    play_and_leave(S(100));
    static const double late[] = {0.0, 0.000001, 0.005, 0.5, 1.0};
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        ck_assert_int_eq(hs_session_send(&session, S(51), S(101) + S(late[i])), HS_MOVE_STALE);
    ck_assert(!is_present());
    ck_assert_uint_eq(hs_info_of(session.match).players, 0);
    struct hs_moves_info info;
    ck_assert(!hs_match_moves_info(session.match, HS_STR("S"), &info));
    /* S reconnects, and the client's clock begins at 0, without an epoch. */
    go_on(S(101), S(111));
    hs_session_post(&session, S(111), HS_EVENT_SPAWN);
    ck_assert(hs_match_moves_info(session.match, HS_STR("S"), &info));
    ck_assert(!info.present);
    for (int i = 1; i <= 300; i++)
        ck_assert_int_eq(hs_session_send(&session, i * FRAME_US, S(111) + i * FRAME_US),
                         HS_MOVE_OK);
    ck_assert(hs_match_moves_info(session.match, HS_STR("S"), &info));
    ck_assert(info.present);
    ck_assert_uint_eq(info.reasons[HS_MOVE_OK], 300);
    ck_assert_uint_eq(info.reasons[HS_MOVE_STALE], 0);
}
END_TEST

START_TEST(a_frame_that_names_the_player_ends_the_grace)
{
    play_and_leave(S(100));
    hs_session_post(&session, S(101.2), HS_EVENT_SPAWN);
    ck_assert_int_eq(hs_session_send(&session, S(51.1), S(101.2) - 1),
                     HS_MOVE_STALE); /* a time of the previous session */
    ck_assert_int_eq(hs_session_send(&session, S(0.1), S(101.2)), HS_MOVE_OK);
    ck_assert_int_eq(hs_session_send(&session, S(0.15), S(101.25)), HS_MOVE_OK);
    ck_assert_int_eq(hs_session_send(&session, S(51.2), S(101.1)), HS_MOVE_STALE);
}
END_TEST

START_TEST(a_move_after_the_grace_begins_a_session)
{
    play_and_leave(S(100));
    ck_assert_int_eq(hs_session_send(&session, S(0.1), S(102)), HS_MOVE_STALE);
    ck_assert(!is_present());
    ck_assert_int_eq(hs_session_send(&session, S(0.1), S(102) + 1), HS_MOVE_OK);
    ck_assert(is_present());
    ck_assert_int_eq(hs_session_send(&session, S(51.5), S(101.5)), HS_MOVE_STALE);
    ck_assert_int_eq(hs_session_send(&session, S(0.15), S(102.05)), HS_MOVE_OK);
}
END_TEST

/* A cheat who leaves and returns in each tick gets no more time than a player who stays. */
START_TEST(leaving_refills_no_credit)
{
    int64_t now_us = S(100), granted_us = 0;
    for (int i = 0; i < 400; i++) {
        hs_session_post(&session, now_us, HS_EVENT_SPAWN);
        for (int k = 1; k <= 4; k++) {
            struct hs_move move = hs_session_move(S(1) + k * HS_MS(120), now_us + k);
            granted_us += hs_session_judge(&session, &move).delta_us;
        }
        hs_session_post(&session, now_us + HS_MS(20), HS_EVENT_LEAVE);
        now_us += HS_MS(40);
    }
    int64_t elapsed_us = now_us - S(100);
    ck_assert_int_le(granted_us, elapsed_us + session.rules->moves.credit_max_us);
    ck_assert_int_gt(granted_us, elapsed_us / 2); /* and at least half of the elapsed time */
}
END_TEST

START_TEST(answers_are_kept_until_the_player_is_back)
{
    hs_session_post(&session, S(100), HS_EVENT_NONE);
    struct hs_move move = hs_session_move(S(50), S(100));
    move.fields = HS_MOVE_HAS_SEQ;
    move.seq = 1;
    move.epoch = 7;
    ck_assert_int_eq(hs_session_judge(&session, &move).reason, HS_MOVE_OK);
    hs_session_post(&session, S(100.05), HS_EVENT_LEAVE);
    struct hs_move_result again = hs_session_judge(&session, &move);
    ck_assert(again.replayed && again.reason == HS_MOVE_OK);
    ck_assert(!is_present());
    /* A lower epoch and a used sequence number are both of another session. */
    hs_session_post(&session, S(100.1), HS_EVENT_SPAWN);
    ck_assert_int_eq(hs_session_judge(&session, &move).reason, HS_MOVE_STALE);
    move = hs_session_move(S(0.1), S(100.15));
    move.fields = HS_MOVE_HAS_SEQ;
    move.seq = 1;
    struct hs_move_result first = hs_session_judge(&session, &move);
    ck_assert(!first.replayed && first.reason == HS_MOVE_OK);
}
END_TEST

/* ---- claims ---- */

static struct hs_hit_claim hit_of(uint64_t number, double time_s)
{
    struct hs_hit_claim claim = hs_stage_claim(S(time_s), 20, 0, 1.6);
    claim.shot = number;
    claim.start.z += 0.001 * (double)number; /* each hit has its own path */
    return claim;
}

static struct hs_hit_result *hit(uint64_t number, double time_s)
{
    struct hs_hit_claim claim = hit_of(number, time_s);
    struct hs_hit_result *result = hs_stage_judge(session.match, &claim, S(time_s) + HS_MS(50));
    if (result->replay == NULL)
        ck_assert(hs_hit_record(session.match, &claim, result, HS_STR("{")));
    return result;
}

/* Plays frames in which S and T stand still. */
static void stand(double from_s, double to_s)
{
    for (int64_t t = S(from_s); t <= S(to_s); t += HS_MS(50)) {
        hs_stage_place(session.match, t, "S", 0, 0, 0);
        hs_stage_place(session.match, t, "T", 20, 0, 0);
    }
}

START_TEST(a_late_claim_takes_no_number_of_the_next_session)
{
    stand(0, 0.95);
    hs_expect_reason(hit(1, 0.9), HS_REASON_OK);
    hs_session_post(&session, S(1), HS_EVENT_LEAVE);
    hs_expect_reason(hit(2, 0.95), HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    ck_assert_ptr_nonnull(hit(2, 0.95)->replay);
    ck_assert_ptr_nonnull(hit(1, 0.9)->replay);
    stand(2, 3);
    /* S is back, so another session begins. */
    hs_expect_reason(hit(3, 0.94), HS_REASON_HISTORY_TOO_SHORT);
    for (uint64_t number = 1; number <= 3; number++)
        hs_expect_reason(hit(number, 2.5 + 0.1 * (double)number), HS_REASON_OK);
    for (uint64_t number = 1; number <= 3; number++)
        ck_assert_ptr_nonnull(hit(number, 2.5 + 0.1 * (double)number)->replay);
}
END_TEST

static enum hs_reason shoot(uint64_t number, double time_s, bool *is_replay)
{
    struct hs_shot_claim shot = {.shot = number,
                                 .shooter = HS_STR("S"),
                                 .weapon = HS_STR("rifle"),
                                 .time_us = S(time_s),
                                 .origin = {0, 0, 1.6}};
    struct hs_hit_result result;
    int64_t forward_us;
    hs_shot_verify(session.match, &shot, S(time_s) + HS_MS(50), &result, &forward_us);
    *is_replay = result.replay != NULL;
    if (*is_replay)
        return HS_REASON_OK;
    ck_assert(hs_shot_record(session.match, &shot, &result, HS_STR("{")));
    return result.reason;
}

START_TEST(a_late_shot_takes_no_number_of_the_next_session)
{
    bool is_replay;
    stand(0, 0.95);
    ck_assert_int_eq(shoot(1, 0.9, &is_replay), HS_REASON_OK);
    hs_session_post(&session, S(1), HS_EVENT_LEAVE);
    ck_assert_int_eq(shoot(2, 0.95, &is_replay), HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    shoot(1, 0.9, &is_replay);
    ck_assert(is_replay);
    stand(2, 3);
    ck_assert_int_eq(shoot(3, 0.94, &is_replay), HS_REASON_HISTORY_TOO_SHORT);
    for (uint64_t number = 1; number <= 3; number++) {
        ck_assert_int_eq(shoot(number, 2.5 + 0.1 * (double)number, &is_replay), HS_REASON_OK);
        ck_assert(!is_replay);
    }
    /* If a shot of the new session has the same number, a hit of the first session is not paired
       with it. */
    struct hs_hit_claim claim = hit_of(3, 0.94);
    hs_expect_reason(hs_stage_judge(session.match, &claim, S(1)), HS_REASON_HISTORY_TOO_SHORT);
}
END_TEST

/* If the checks of the shooter are off, only the ledger prevents a second payment of a claim. */
START_TEST(nothing_of_an_ended_session_is_paid_twice)
{
    static const enum hs_check shooters[] = {HS_CHECK_WEAPON, HS_CHECK_LIFE, HS_CHECK_ORIGIN,
                                             HS_CHECK_AIM};
    for (size_t i = 0; i < sizeof shooters / sizeof shooters[0]; i++)
        session.rules->checks[shooters[i]] = HS_MODE_OFF;
    stand(0, 0.95);
    hs_expect_reason(hit(5, 0.8), HS_REASON_OK);
    hs_session_post(&session, S(1), HS_EVENT_LEAVE);
    hs_stage_place(session.match, S(1), "T", 20, 0, 0);
    hs_expect_reason(hit(6, 0.85), HS_REASON_OK);
    ck_assert_ptr_nonnull(hit(6, 0.85)->replay);
    stand(1.05, 1.2);
    hs_expect_reason(hit(5, 0.8), HS_REASON_NUMBER_FORGOTTEN);
    hs_expect_reason(hit(6, 0.85), HS_REASON_NUMBER_FORGOTTEN);
    hs_expect_reason(hit(7, 0.9), HS_REASON_OK); /* this claim arrives after the end of its
                                                    session */
    hs_expect_reason(hit(7, 0.9), HS_REASON_NUMBER_FORGOTTEN);
    hs_expect_reason(hit(5, 1.1), HS_REASON_OK); /* a time in the new session */
    ck_assert_ptr_nonnull(hit(5, 1.1)->replay);
}
END_TEST

START_TEST(answers_of_ended_sessions_are_dropped)
{
    stand(0, 0.95);
    hs_expect_reason(hit(1, 0.9), HS_REASON_OK);
    struct hs_move move = hs_session_move(S(50), S(0.9));
    move.fields = HS_MOVE_HAS_SEQ;
    ck_assert_int_eq(hs_session_judge(&session, &move).reason, HS_MOVE_OK);
    hs_session_post(&session, S(1), HS_EVENT_LEAVE);
    go_on(S(1), S(9));
    ck_assert_ptr_nonnull(hit(1, 0.9)->replay);
    ck_assert(hs_session_judge(&session, &move).replayed);
    const struct hs_player *shooter = hs_players_find(&session.match->players, HS_STR("S"));
    ck_assert_uint_ge(shooter->ledger.bytes, sizeof(struct hs_ledger_entry));
    ck_assert_ptr_nonnull(shooter->moves->answers);
    go_on(S(9.05), S(25));
    ck_assert_uint_eq(shooter->ledger.bytes, /* leaving does not reset the fire rate */
                      shooter->ledger.cadence_capacity * sizeof(struct hs_cadence));
    ck_assert_ptr_null(shooter->moves->answers);
    ck_assert_int_eq(hs_session_judge(&session, &move).reason, HS_MOVE_STALE);
    hs_expect_reason(hit(1, 0.9), HS_REASON_NUMBER_FORGOTTEN); /* but it is not paid again */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stragglers");
    TCase *sessions = tcase_create("sessions");
    tcase_add_checked_fixture(sessions, set_up, tear_down);
    tcase_add_test(sessions, a_move_after_leaving_brings_nobody_back);
    tcase_add_test(sessions, a_frame_that_names_the_player_ends_the_grace);
    tcase_add_test(sessions, a_move_after_the_grace_begins_a_session);
    tcase_add_test(sessions, leaving_refills_no_credit);
    tcase_add_test(sessions, answers_are_kept_until_the_player_is_back);
    tcase_add_test(sessions, a_late_claim_takes_no_number_of_the_next_session);
    tcase_add_test(sessions, a_late_shot_takes_no_number_of_the_next_session);
    tcase_add_test(sessions, nothing_of_an_ended_session_is_paid_twice);
    tcase_add_test(sessions, answers_of_ended_sessions_are_dropped);
    suite_add_tcase(suite, sessions);
    return hs_run_suite(suite);
}
