/* The acceptance scenarios of move timing that depend on single moves. Each is played in this
   process and over HTTP. Each begins with honest moves at 60 Hz that arrive 50 ms late. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/service.h"
#include "tests/support/play/move_stream.h"
#include "tests/support/play/timing_runner.h"
#include "tests/support/run_suite.h"

enum { BATCH = 1000 };

#define FRAME_US   INT64_C(16667)
#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))

#define COMPAT (1u << HS_MOVE_CHECK_TIMING_DISCREPANCY)
#define GUARD  (1u << HS_MOVE_CHECK_FAST_CLOCK_PROVEN | 1u << HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED)

static struct hs_test_service service;

/* A player and two clocks: the client's and the server's. */
struct session {
    struct hs_timing_runner *runner;
    int64_t timestamp_us, received_us;
    uint64_t seq, epoch;
};

/* Opens a session. Turn 0: in this process; turn 1: over HTTP. */
static struct session open_session(int turn, bool resolution)
{
    return (struct session){
        .runner = hs_timing_runner_open(turn == 0 ? 0 : service.data_port,
                                        &(struct hs_timing_rules){.resolution = resolution}),
        .received_us = S(100)};
}

static struct hs_timing_seen judge_at(struct session *session, int64_t timestamp_us,
                                      int64_t received_us)
{
    struct hs_timing_seen seen;
    struct hs_move move = {.player = HS_STR("P"),
                           .fields = HS_MOVE_HAS_SEQ,
                           .seq = ++session->seq,
                           .epoch = session->epoch,
                           .timestamp_us = timestamp_us,
                           .received_us = received_us,
                           .dilation = 1};
    hs_timing_runner_judge(session->runner, &move, 1, &seen);
    return seen;
}

/* Sends honest moves for `seconds`. The session keeps the last two times. */
static void run(struct session *session, double seconds)
{
    static struct hs_move moves[BATCH];
    static struct hs_timing_seen seen[BATCH];
    for (long left = lround(seconds * 60); left > 0;) {
        size_t count = 0;
        for (; count < BATCH && left > 0; count++, left--) {
            session->timestamp_us += FRAME_US;
            session->received_us += FRAME_US;
            moves[count] = (struct hs_move){.player = HS_STR("P"),
                                            .fields = HS_MOVE_HAS_SEQ,
                                            .seq = ++session->seq,
                                            .epoch = session->epoch,
                                            .timestamp_us = session->timestamp_us,
                                            .received_us = session->received_us,
                                            .dilation = 1};
        }
        hs_timing_runner_judge(session->runner, moves, count, seen);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(seen[i].reason, HS_MOVE_OK);
            ck_assert_uint_eq(seen[i].flags, 0);
        }
    }
}

/* Sends the next honest move. */
static struct hs_timing_seen step(struct session *session)
{
    session->timestamp_us += FRAME_US;
    session->received_us += FRAME_US;
    return judge_at(session, session->timestamp_us, session->received_us);
}

static unsigned long told(struct session *session, enum hs_move_reason reason)
{
    struct hs_timing_told answer;
    hs_timing_runner_ask(session->runner, &answer);
    return answer.reasons[reason];
}

static void end(struct session *session)
{
    hs_timing_runner_close(session->runner);
}

/* Expects that both sessions are in the same state, although one of them got an additional move. */
static void expect_unchanged(struct session *touched, struct session *untouched)
{
    for (int i = 0; i < 30; i++) {
        struct hs_timing_seen a = step(touched), b = step(untouched);
        ck_assert_int_eq(a.reason, HS_MOVE_OK);
        ck_assert_msg(hs_timing_seen_equal(&a, &b),
                      "move %d: delta %.9f and %.9f, ahead %.9f and "
                      "%.9f, credit %.9f and %.9f",
                      i, a.delta_s, b.delta_s, a.discrepancy_s, b.discrepancy_s, a.credit_s,
                      b.credit_s);
    }
}

/* ---- 27 to 29: invalid timestamps, old timestamps, a jump ahead ---- */

START_TEST(bad_timestamps_change_nothing)
{
    struct session touched = open_session(_i, false), untouched = open_session(_i, false);
    struct hs_timing_seen seen = judge_at(&touched, 0, S(100));
    ck_assert_int_eq(seen.reason, HS_MOVE_BAD_TIMESTAMP);
    run(&touched, 3);
    run(&untouched, 3);
    const int64_t bad_us[] = {0, -1, S(-1), S(-1e6)};
    for (int i = 0; i < 4; i++) {
        seen = judge_at(&touched, bad_us[i], touched.received_us + 1 + i);
        ck_assert_int_eq(seen.reason, HS_MOVE_BAD_TIMESTAMP);
        ck_assert(!seen.force_update);
        ck_assert_double_eq(seen.delta_s, 0);
        ck_assert_uint_eq(seen.flags, 0);
    }
    expect_unchanged(&touched, &untouched);
    ck_assert_uint_eq(told(&touched, HS_MOVE_BAD_TIMESTAMP), 4);
    ck_assert_uint_eq(told(&touched, HS_MOVE_OK), 210);
    end(&touched);
    end(&untouched);
}
END_TEST

static const char *const not_numbers[] = {"NaN",  "Infinity", "-Infinity", "\"12\"", "null",
                                          "true", "[1]",      "1e400",     NULL};

START_TEST(values_that_are_no_numbers_are_refused)
{
    struct session touched = open_session(1, false), untouched = open_session(1, false);
    run(&touched, 1);
    run(&untouched, 1);
    for (const char *const *bad = not_numbers; *bad != NULL; bad++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"moves\":[{\"player\":\"P\",\"client_time\":%s,\"received\":200}]}", *bad);
        ck_assert_msg(hs_timing_runner_post(touched.runner, body) == 400, "%s", body);
        snprintf(body, sizeof body,
                 "{\"columns\":[\"player\",\"client_time\",\"received\"],"
                 "\"rows\":[[\"P\",1.5,200],[\"P\",%s,200]]}",
                 *bad);
        ck_assert_msg(hs_timing_runner_post(touched.runner, body) == 400, "%s", body);
    }
    const char missing[] = "{\"moves\":[{\"player\":\"P\",\"received\":200}]}";
    ck_assert_int_eq(hs_timing_runner_post(touched.runner, missing), 400);
    expect_unchanged(&touched, &untouched);
    end(&touched);
    end(&untouched);
}
END_TEST

START_TEST(old_timestamps_are_no_moves)
{
    struct session session = open_session(_i, false);
    run(&session, 3);
    struct hs_timing_seen before = step(&session);
    struct hs_timing_seen same = judge_at(&session, session.timestamp_us, session.received_us + 5);
    struct hs_timing_seen older =
        judge_at(&session, session.timestamp_us - FRAME_US, session.received_us + 9);
    ck_assert_int_eq(same.reason, HS_MOVE_DUPLICATE);
    ck_assert_int_eq(older.reason, HS_MOVE_STALE);
    ck_assert_double_eq(same.discrepancy_s, before.discrepancy_s);
    ck_assert_double_eq(older.discrepancy_s, before.discrepancy_s);
    ck_assert_double_eq(same.delta_s + older.delta_s, 0);
    ck_assert_uint_eq(same.flags | older.flags, 0);
    ck_assert(older.force_update); /* the timestamp is not newer than that of the last move */
    ck_assert_int_eq(step(&session).reason, HS_MOVE_OK);
    ck_assert_uint_eq(told(&session, HS_MOVE_DUPLICATE), 1);
    ck_assert_uint_eq(told(&session, HS_MOVE_STALE), 1);
    end(&session);
}
END_TEST

START_TEST(a_leap_is_flagged_and_not_simulated)
{
    struct session session = open_session(_i, false);
    run(&session, 3);
    session.received_us += S(1); /* the client's clock stood still meanwhile */
    struct hs_timing_seen seen = step(&session);
    ck_assert_double_eq_tol(seen.discrepancy_s, -0.25, 1e-9);
    session.timestamp_us += S(100);
    seen = step(&session);
    ck_assert_uint_ne(seen.flags & COMPAT, 0);
    ck_assert_uint_ne(seen.flags & GUARD, 0);
    ck_assert_double_le(seen.delta_s, 0.125);
    ck_assert_double_eq(seen.discrepancy_s, 0);
    end(&session);
}
END_TEST

/* ---- 30 to 33: resets ---- */

START_TEST(half_a_period_back_is_no_reset)
{
    struct session session = open_session(_i / 2, _i % 2);
    session.timestamp_us = S(200);
    run(&session, 3);
    struct hs_timing_seen seen =
        judge_at(&session, session.timestamp_us - S(119.9), session.received_us + FRAME_US);
    ck_assert_int_eq(seen.reason, HS_MOVE_STALE);
    ck_assert_int_eq(step(&session).reason, HS_MOVE_OK);
    end(&session);
}
END_TEST

/* The compatible check (`timing_discrepancy`) takes a timestamp as a reset if it is more than half
   a reset period before the last one. So does the default check. But if no honest clock can show
   such a timestamp, the default check grants at most the server's time. */
START_TEST(an_implausible_reset_gets_clipped_time)
{
    bool resolution = _i % 2;
    struct session session = open_session(_i / 2, resolution);
    session.timestamp_us = S(200);
    run(&session, 3);
    struct hs_timing_seen seen =
        judge_at(&session, session.timestamp_us - S(120.1), session.received_us + FRAME_US);
    ck_assert_int_eq(seen.reason, HS_MOVE_RESET);
    ck_assert(resolution || fabs(seen.delta_s - (double)FRAME_US / 1e6) < 1e-9);
    session.timestamp_us -= S(120.1);
    session.received_us += FRAME_US;
    if (!resolution)
        run(&session, 3);
    end(&session);
}
END_TEST

START_TEST(a_plausible_reset_is_accepted)
{
    struct session session = open_session(_i / 2, _i % 2);
    session.timestamp_us = S(200);
    run(&session, 3);
    /* No packet arrived for 119.9 s. Meanwhile the clock reached the end of its period and was
       reset. */
    int64_t timestamp_us = session.timestamp_us - S(120.1);
    struct hs_timing_seen seen = judge_at(&session, timestamp_us, session.received_us + S(119.9));
    ck_assert_int_eq(seen.reason, HS_MOVE_RESET);
    ck_assert_uint_eq(seen.flags, 0);
    ck_assert_double_eq_tol(seen.delta_s, 0.125, 1e-9);
    session.timestamp_us = timestamp_us;
    session.received_us += S(119.9);
    run(&session, 3);
    end(&session);
}
END_TEST

START_TEST(a_second_reset_comes_too_soon)
{
    struct session session = open_session(_i / 2, _i % 2);
    session.timestamp_us = S(340); /* a clock that is reset late */
    run(&session, 10);
    session.timestamp_us -= S(240);
    ck_assert_int_eq(step(&session).reason, HS_MOVE_RESET);
    run(&session, 60);
    struct hs_timing_seen seen =
        judge_at(&session, session.timestamp_us - S(120.1), session.received_us + FRAME_US);
    ck_assert_int_eq(seen.reason, HS_MOVE_RESET_TOO_SOON);
    ck_assert_double_eq(seen.delta_s, 0);
    ck_assert_int_eq(step(&session).reason, HS_MOVE_OK);
    ck_assert_uint_eq(told(&session, HS_MOVE_RESET_TOO_SOON), 1);
    end(&session);
}
END_TEST

START_TEST(any_first_timestamp_will_do)
{
    struct session session = open_session(_i / 2, _i % 2);
    session.timestamp_us = S(1000) - FRAME_US;
    struct hs_timing_seen seen = step(&session);
    ck_assert_int_eq(seen.reason, HS_MOVE_OK);
    ck_assert_double_eq(seen.delta_s, 0);
    ck_assert_double_eq(seen.discrepancy_s, 0);
    seen = step(&session);
    ck_assert_int_eq(seen.reason, HS_MOVE_OK);
    ck_assert_double_eq_tol(seen.delta_s, (double)FRAME_US / 1e6, 1e-9);
    run(&session, 3);
    end(&session);
}
END_TEST

/* ---- 34: epochs ---- */

START_TEST(a_new_epoch_starts_a_new_clock)
{
    struct session session = open_session(_i, false);
    session.epoch = 7;
    session.timestamp_us = S(50);
    run(&session, 6);
    session.epoch = 8;
    session.timestamp_us = 0;
    struct hs_timing_seen seen = step(&session);
    ck_assert_int_eq(seen.reason, HS_MOVE_OK);
    ck_assert_double_eq(seen.delta_s, 0);
    run(&session, 2);
    /* Packets of an older epoch that arrive late. */
    session.epoch = 7;
    ck_assert_int_eq(judge_at(&session, S(56.5), session.received_us + 9).reason, HS_MOVE_STALE);
    /* Another new epoch, 2 s later. */
    session.epoch = 9;
    seen = judge_at(&session, S(0.1), session.received_us + 10);
    ck_assert_int_eq(seen.reason, HS_MOVE_EPOCH_TOO_SOON);
    ck_assert_double_eq(seen.delta_s, 0);
    session.epoch = 8;
    run(&session, 3.1);
    session.epoch = 9;
    session.timestamp_us = S(1000);
    ck_assert_int_eq(step(&session).reason, HS_MOVE_OK);
    ck_assert_uint_eq(told(&session, HS_MOVE_EPOCH_TOO_SOON), 1);
    ck_assert_uint_eq(told(&session, HS_MOVE_STALE), 1);
    end(&session);
}
END_TEST

/* ---- 36: uptime ---- */

static void fill(const struct hs_clock_options *options, int64_t start_us, struct hs_move *moves)
{
    static struct hs_clock_item items[BATCH];
    struct hs_clock_options shifted = *options;
    struct hs_move_stream play;
    shifted.start_us = start_us;
    hs_move_stream_start(&play, &shifted);
    ck_assert_uint_eq(hs_move_stream_fill(&play, items, BATCH), BATCH);
    for (int i = 0; i < BATCH; i++)
        moves[i] = items[i].move;
}

START_TEST(uptime_changes_nothing)
{
    static const struct hs_clock_options streams[] = {
        {.length_us = S(20)},
        {.length_us = S(20), .events = {{HS_CLOCK_SPEED, 0, S(100), 0, 1.05}}},
        {.seed = 5, .length_us = S(20), .jitter_us = 10000, .loss = 0.05},
    };
    static struct hs_move moves[BATCH];
    static struct hs_timing_seen young[BATCH], old[BATCH];
    for (size_t k = 0; k < sizeof streams / sizeof streams[0]; k++) {
        struct session fresh = open_session(_i, false), late = open_session(_i, false);
        fill(&streams[k], S(1), moves);
        hs_timing_runner_judge(fresh.runner, moves, BATCH, young);
        fill(&streams[k], S(1 + 30 * 86400.0), moves);
        hs_timing_runner_judge(late.runner, moves, BATCH, old);
        for (int i = 0; i < BATCH; i++)
            ck_assert_msg(hs_timing_seen_equal(&young[i], &old[i]), "stream %zu, move %d", k, i);
        end(&fresh);
        end(&late);
    }
}
END_TEST

/* ---- 39: retries ---- */

START_TEST(a_batch_sent_again_is_answered_again)
{
    enum { SOME = 60 };
    const struct hs_clock_options options = {.length_us = S(20),
                                             .events = {{HS_CLOCK_SPEED, 0, S(100), 0, 2}}};
    static struct hs_move moves[BATCH];
    struct hs_timing_seen first[SOME], again[SOME];
    struct session session = open_session(_i, false), untouched = open_session(_i, false);
    struct hs_timing_told before, after;
    fill(&options, S(1), moves);
    hs_timing_runner_judge(session.runner, moves, SOME, first);
    hs_timing_runner_ask(session.runner, &before);
    for (int round = 0; round < 3; round++) {
        hs_timing_runner_judge(session.runner, moves, SOME, again);
        for (int i = 0; i < SOME; i++) {
            ck_assert(!first[i].replayed && again[i].replayed);
            ck_assert(hs_timing_seen_equal(&first[i], &again[i]));
        }
    }
    hs_timing_runner_ask(session.runner, &after);
    ck_assert_double_eq(before.credit_s, after.credit_s);
    ck_assert_double_eq(before.discrepancy_s, after.discrepancy_s);
    ck_assert_mem_eq(before.reasons, after.reasons, sizeof before.reasons);
    /* Later moves are checked as if nothing was repeated. */
    hs_timing_runner_judge(untouched.runner, moves, SOME, first);
    hs_timing_runner_judge(session.runner, moves + SOME, SOME, again);
    hs_timing_runner_judge(untouched.runner, moves + SOME, SOME, first);
    for (int i = 0; i < SOME; i++)
        ck_assert(hs_timing_seen_equal(&first[i], &again[i]));
    end(&session);
    end(&untouched);
}
END_TEST

static int run_suite(void)
{
    Suite *suite = suite_create("timing_moves");
    TCase *tcase = tcase_create("timing_moves");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, bad_timestamps_change_nothing, 0, 2);
    tcase_add_test(tcase, values_that_are_no_numbers_are_refused);
    tcase_add_loop_test(tcase, old_timestamps_are_no_moves, 0, 2);
    tcase_add_loop_test(tcase, a_leap_is_flagged_and_not_simulated, 0, 2);
    tcase_add_loop_test(tcase, half_a_period_back_is_no_reset, 0, 4);
    tcase_add_loop_test(tcase, an_implausible_reset_gets_clipped_time, 0, 4);
    tcase_add_loop_test(tcase, a_plausible_reset_is_accepted, 0, 4);
    tcase_add_loop_test(tcase, a_second_reset_comes_too_soon, 0, 4);
    tcase_add_loop_test(tcase, any_first_timestamp_will_do, 0, 4);
    tcase_add_loop_test(tcase, a_new_epoch_starts_a_new_clock, 0, 2);
    tcase_add_loop_test(tcase, uptime_changes_nothing, 0, 2);
    tcase_add_loop_test(tcase, a_batch_sent_again_is_answered_again, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return EXIT_FAILURE;
    int failed = run_suite();
    return hs_test_service_stop(&service) && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
