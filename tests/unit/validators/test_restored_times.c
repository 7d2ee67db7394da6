/* What a restored match may have missed: jumps of players, posted shots, and earlier round
   trips. */
#include <check.h>

#include "tests/support/play/duel.h"
#include "tests/support/run_suite.h"
#include "validators/moves.h"

/* ---- moves ---- */

static unsigned move_to(int ms, double x)
{
    struct hs_move move = {.player = HS_STR("bob"),
                           .fields = HS_MOVE_HAS_POSITION,
                           .timestamp_us = (int64_t)ms * HS_DUEL_MS + 1000000,
                           .received_us = (int64_t)ms * HS_DUEL_MS,
                           .dilation = 1,
                           .mode = HS_STR("walking"),
                           .position = {x, 0, 0}};
    struct hs_move_result result;
    ck_assert(hs_match_check_move(hs_duel.match, &move, &result));
    return result.raised;
}

START_TEST(the_first_jump_after_a_restore_is_excused)
{
    for (int ms = 0; ms <= 500; ms += HS_DUEL_TICK_MS)
        ck_assert_uint_eq(move_to(ms, 20), 0);
    hs_duel_begin_anew();
    /* the move was on its way when the server moved the player */
    ck_assert_uint_eq(move_to(3000, 20), 0);
    ck_assert_uint_eq(move_to(3050, 4000), 0);
    ck_assert_uint_eq(move_to(3100, 4000), 0);
    ck_assert_uint_eq(move_to(3150, 20), 1u << HS_MOVE_CHECK_TELEPORT);
    hs_duel_begin_anew();
    for (int ms = 6000; ms <= 9000; ms += HS_DUEL_TICK_MS)
        ck_assert_uint_eq(move_to(ms, 20), 0);
    ck_assert_uint_eq(move_to(9050, 4000), 1u << HS_MOVE_CHECK_TELEPORT);
}
END_TEST

/* After the restart, moves from the lost time arrive, but no frames of that time. The first jump
   among the moves is excused, because its announcement may have been lost. The second jump is not
   excused. */
START_TEST(the_first_jump_is_excused_after_moves_of_the_lost_time)
{
    for (int ms = 0; ms <= 500; ms += HS_DUEL_TICK_MS)
        ck_assert_uint_eq(move_to(ms, 20), 0);
    hs_duel_begin_anew();
    hs_duel_post(5500, NULL, NULL);
    for (int ms = 550; ms <= 5000; ms += HS_DUEL_TICK_MS)
        ck_assert_uint_eq(move_to(ms, 20), 0);
    ck_assert_uint_eq(move_to(5050, 4000), 0);
    ck_assert_uint_eq(move_to(5100, 20), 1u << HS_MOVE_CHECK_TELEPORT);
}
END_TEST

/* ---- shots ---- */

START_TEST(the_hit_of_a_lost_shot_is_inconclusive)
{
    const struct hs_str rifle = HS_STR("rifle");
    hs_duel_play(0, 1000);
    ck_assert_int_eq(hs_duel_shoot(1000, 1), HS_REASON_OK);
    ck_assert_int_eq(hs_duel_hit_with(1000, rifle, 1), HS_REASON_OK);
    ck_assert_int_eq(hs_duel_hit_with(1000, rifle, 2), HS_REASON_NO_MATCHING_SHOT);
    double before = hs_duel_suspicion();
    /* Assume that shot 3 was posted at 1900 and lost, so the saved state does not have it. */
    hs_duel_begin_anew();
    ck_assert_int_eq(hs_duel_hit_with(1900, rifle, 3), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_begin_anew();
    hs_duel_play(1050, 2000);
    ck_assert_int_eq(hs_duel_hit_with(1900, rifle, 4), HS_REASON_HISTORY_TOO_SHORT);
    ck_assert_double_le(hs_duel_suspicion(), before);
    /* From now on shots are posted. One second after the first frame, no claim can be about a lost
       shot any more. */
    ck_assert_int_eq(hs_duel_shoot(2000, 5), HS_REASON_OK);
    ck_assert_int_eq(hs_duel_hit_with(2000, rifle, 5), HS_REASON_OK);
    hs_duel_play(2050, 3000);
    ck_assert_int_eq(hs_duel_hit_with(3000, rifle, 6), HS_REASON_NO_MATCHING_SHOT);
}
END_TEST

/* The uncertainty ends soon, because shots of the lost time become too old. */
START_TEST(the_uncertainty_about_lost_shots_ends)
{
    hs_duel_play(0, 1000);
    ck_assert_int_eq(hs_duel_shoot(1000, 1), HS_REASON_OK);
    hs_duel_begin_anew();
    hs_duel_play(2000, 4500);
    struct hs_hit_claim claim = {.shot = 7,
                                 .shooter = HS_STR("alice"),
                                 .target = HS_STR("bob"),
                                 .weapon = HS_STR("rifle"),
                                 .hit_time_us = INT64_C(4500000),
                                 .fire_time_us = INT64_C(1900000),
                                 .has_fire_time = true,
                                 .start = {0, 0, 1.6},
                                 .end = {20, 0, 1.6}};
    static struct hs_hit_result result;
    hs_hit_verify(hs_duel.match, &claim, claim.hit_time_us, &result);
    ck_assert_int_eq(result.reason, HS_REASON_NO_MATCHING_SHOT);
}
END_TEST

/* Hits of lost shots are not rejected either if the clock was set back between save and restore. */
START_TEST(the_hit_of_a_lost_shot_is_inconclusive_after_a_clock_reset)
{
    const struct hs_str rifle = HS_STR("rifle");
    hs_duel_play(999000, 1000000);
    ck_assert_int_eq(hs_duel_shoot(1000000, 1), HS_REASON_OK);
    hs_duel_begin_anew();
    struct hs_player_frame entry = {.player = HS_STR("alice")};
    struct hs_frame frame = {.players = &entry, .player_count = 1};
    enum hs_frame_result result = HS_FRAME_TOO_OLD;
    unsigned flags = 0;
    for (frame.time_us = 0; result != HS_FRAME_STORED; frame.time_us += INT64_C(50000))
        ck_assert(hs_match_post_frame(hs_duel.match, &frame, &result, &flags));
    hs_duel_play(150, 500);
    ck_assert_int_eq(hs_duel_hit_with(500, rifle, 2), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_play(550, 3000);
    ck_assert_int_eq(hs_duel_hit_with(3000, rifle, 3), HS_REASON_NO_MATCHING_SHOT);
}
END_TEST

/* ---- the connection ---- */

static const struct hs_player_frame line = {.fields = HS_FIELD_RTT | HS_FIELD_INTERP,
                                            .rtt_us = 40 * HS_DUEL_MS,
                                            .interp_us = 50 * HS_DUEL_MS};

/* A posted round trip stays valid, even after a restart of the service and of the clock. */
START_TEST(posted_round_trips_predict_after_a_restore)
{
    hs_duel.ruleset->rewind.source = HS_REWIND_BY_PREDICTION;
    hs_duel_post(0, &line, NULL);
    hs_duel_play(50, 1000);
    ck_assert_int_eq(hs_duel_hit(1000), HS_REASON_OK);
    hs_duel_begin_anew();
    hs_duel_play(2000, 3000);
    ck_assert_int_eq(hs_duel_hit(3000), HS_REASON_OK);
    hs_duel_begin_anew();
    hs_duel_begin_anew();
    hs_duel_play(4000, 5000);
    ck_assert_int_eq(hs_duel_hit(5000), HS_REASON_OK);
    struct hs_player_frame entry = {.player = HS_STR("alice")};
    struct hs_frame frame = {.players = &entry, .player_count = 1};
    enum hs_frame_result result = HS_FRAME_STORED;
    unsigned flags = 0;
    for (int i = 0; i < 3; i++) {
        frame.time_us = INT64_C(-900000000) + INT64_C(50000) * i;
        ck_assert(hs_match_post_frame(hs_duel.match, &frame, &result, &flags));
    }
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_RESTARTED);
    hs_duel_play(-899850, -899000);
    ck_assert_int_eq(hs_duel_hit(-899000), HS_REASON_OK);
}
END_TEST

/* Latency is checked with earlier round trips. A claim that they would reject is inconclusive until
   a round trip is posted again. */
START_TEST(earlier_round_trips_reject_no_claim_after_a_restore)
{
    hs_duel.ruleset->rewind.older_slack_us = INT64_C(30000);
    hs_duel_post(0, &line, NULL);
    hs_duel_play(50, 1000);
    ck_assert_int_eq(hs_duel_hit(1000), HS_REASON_TIME_MISMATCH); /* the claimed time is 1000, the
                                                                     expected one 910 */
    hs_duel_begin_anew();
    hs_duel_play(2000, 3500);
    ck_assert_int_eq(hs_duel_hit(3500), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_post(3550, &line, NULL);
    hs_duel_play(3600, 4000);
    ck_assert_int_eq(hs_duel_hit(4000), HS_REASON_TIME_MISMATCH);
    hs_duel_play(4050, 6000); /* no stored sample contains the round trip any more */
    ck_assert_int_eq(hs_duel_hit(6000), HS_REASON_TIME_MISMATCH);
    hs_duel_begin_anew();
    hs_duel_play(7000, 9000);
    /* By the earlier round trip the shot is too early, so its result is inconclusive. The result of
       its hit is inconclusive too. */
    ck_assert_int_eq(hs_duel_shoot_at(9000, 8800, HS_STR("rifle"), 100),
                     HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_post(9050, &line, NULL);
    ck_assert_int_eq(hs_duel_hit_with(9050, HS_STR("rifle"), 100), HS_REASON_HISTORY_TOO_SHORT);
}
END_TEST

/* Times of hits are compared with the times of hits before a restart. */
START_TEST(hit_times_are_compared_across_a_restore)
{
    struct hs_player_frame slower = line;
    slower.rtt_us = 440 * HS_DUEL_MS;
    hs_duel.ruleset->rewind.newer_slack_us = INT64_C(500000);
    hs_duel_post(0, &line, NULL);
    hs_duel_play(50, 1000);
    ck_assert_int_eq(hs_duel_hit(1000), HS_REASON_OK); /* 90 ms newer than expected */
    hs_duel_begin_anew();
    hs_duel_play(1050, 1950);
    hs_duel_post(2000, &slower, NULL);
    hs_duel_play(2050, 3100);
    ck_assert_int_eq(hs_duel_hit(2950), HS_REASON_LATENCY_JUMP); /* a jump of 490 ms */
    ck_assert_int_eq(hs_duel_hit(3050), HS_REASON_OK);           /* more than 2 s later */
    hs_duel_begin_anew();
    hs_duel_play(3150, 4200);
    ck_assert_int_eq(hs_duel_hit(2900), HS_REASON_TIME_BACKWARDS);
}
END_TEST

/* A restart lost the posted shot of a hit, and nobody knows the weapon for certain. So the hit has
   a hit time, but no fire time, and an earlier shot may have a later fire time than this hit time.
 */
START_TEST(a_hit_without_its_shot_is_compared_by_hit_times)
{
    const struct hs_player_frame armed = {.weapon = HS_STR("rifle")};
    hs_duel.ruleset->hit.trajectory_window_us = 1; /* all shots have the same trajectory */
    hs_duel.ruleset->rewind.future_slack_us = INT64_C(500000);
    hs_duel_post(0, &armed, NULL);
    hs_duel_play(50, 1000);
    ck_assert_int_eq(hs_duel_shoot_at(900, 1400, HS_STR("rifle"), 1), HS_REASON_OK);
    ck_assert_int_eq(hs_duel_hit_with(900, HS_STR("rifle"), 1), HS_REASON_OK);
    hs_duel_begin_anew();
    hs_duel_play(1050, 1200);
    ck_assert_int_eq(hs_duel_hit_with(1150, (struct hs_str){0}, 2), HS_REASON_HISTORY_TOO_SHORT);
    /* The hit times of two shots are compared all the same. */
    ck_assert_int_eq(hs_duel_hit_with(850, (struct hs_str){0}, 3), HS_REASON_TIME_BACKWARDS);
}
END_TEST

/* If a round trip is first posted in a frame that is older than the newest one, later frames use
   it. */
START_TEST(a_late_round_trip_is_used_by_later_frames)
{
    hs_duel.ruleset->rewind.source = HS_REWIND_BY_PREDICTION;
    hs_duel_play(0, 500);
    hs_duel_begin_anew();
    hs_duel_play(3000, 3050);
    hs_duel_post(2400, &line, NULL);
    hs_duel_play(3100, 4500);
    ck_assert_int_eq(hs_duel_hit(4500), HS_REASON_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("restored: moves, shots, the line");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, hs_duel_set_up, hs_duel_tear_down);
    tcase_add_test(tcase, the_first_jump_after_a_restore_is_excused);
    tcase_add_test(tcase, the_first_jump_is_excused_after_moves_of_the_lost_time);
    tcase_add_test(tcase, the_hit_of_a_lost_shot_is_inconclusive);
    tcase_add_test(tcase, the_uncertainty_about_lost_shots_ends);
    tcase_add_test(tcase, the_hit_of_a_lost_shot_is_inconclusive_after_a_clock_reset);
    tcase_add_test(tcase, posted_round_trips_predict_after_a_restore);
    tcase_add_test(tcase, earlier_round_trips_reject_no_claim_after_a_restore);
    tcase_add_test(tcase, hit_times_are_compared_across_a_restore);
    tcase_add_test(tcase, a_hit_without_its_shot_is_compared_by_hit_times);
    tcase_add_test(tcase, a_late_round_trip_is_used_by_later_frames);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
