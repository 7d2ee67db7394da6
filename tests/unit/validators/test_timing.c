/* Both timing checks of one player: resets, credit, bursts of moves, dilation, epochs. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/play/move_stream.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/clock/timing.h"

#define FRAME_US   INT64_C(16667)
#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))

static struct hs_ruleset *ruleset;
static struct hs_moves_rules *rules;

/* The player's clock state and move, and the time granted so far. */
static struct hs_timing timing;
static struct hs_timing_move move;
static struct hs_timing_result result;
static double granted_us, most_credit_us;
static unsigned flags;
static unsigned long reasons[HS_MOVE_REASON_COUNT];

static void begin_at(double client_s, double server_s)
{
    memset(&timing, 0, sizeof timing);
    memset(reasons, 0, sizeof reasons);
    move = (struct hs_timing_move){
        .timestamp_us = S(client_s), .received_us = S(server_s), .dilation = 1};
    granted_us = most_credit_us = 0;
    flags = 0;
}

static void set_up(void)
{
    ruleset = hs_stage_ruleset();
    rules = &ruleset->moves;
    begin_at(1, 100);
}

static void tear_down(void)
{
    hs_ruleset_destroy(ruleset);
}

static enum hs_move_reason judge(void)
{
    hs_timing_check(&timing, rules, &move, &result);
    granted_us += result.delta_us;
    most_credit_us = fmax(most_credit_us, timing.credit_us);
    flags |= result.flags;
    reasons[result.reason]++;
    ck_assert_double_ge(result.delta_us, 0);
    ck_assert_double_le(result.delta_us, (double)rules->max_delta_us * move.dilation);
    return result.reason;
}

/* Checks the next move. The arguments say how much later it is by the client's clock and by the
   server's. */
static enum hs_move_reason after(int64_t client_us, int64_t server_us)
{
    move.timestamp_us += client_us;
    move.received_us += server_us;
    return judge();
}

static void run(double seconds)
{
    for (long i = lround(seconds * 60); i > 0; i--)
        ck_assert_int_eq(after(FRAME_US, FRAME_US), HS_MOVE_OK);
}

/* ---- resets ---- */

/* The size of the clock state stays within the limit of docs/lab/timing.md. */
START_TEST(the_clock_state_stays_small)
{
    ck_assert_uint_le(sizeof(struct hs_timing), 360);
}
END_TEST

START_TEST(a_clock_is_reset_for_hours)
{
    const int64_t tick_us = 100000;
    judge();
    for (int i = 0; i < 10 * 8 * 3600; i++) {
        bool wraps = move.timestamp_us + tick_us > rules->reset_period_us;
        enum hs_move_reason reason = after(tick_us - (wraps ? rules->reset_period_us : 0), tick_us);
        ck_assert_int_eq(reason, wraps ? HS_MOVE_RESET : HS_MOVE_OK);
        ck_assert_double_eq(result.delta_us, (double)tick_us);
    }
    ck_assert_uint_eq(reasons[HS_MOVE_RESET], 120);
    ck_assert_uint_eq(flags, 0);
    ck_assert_double_eq(timing.compat.ahead_us, 0);
    ck_assert_double_eq(timing.compat.lifetime_us, 0);
    ck_assert_double_eq(timing.guard.speed, 1);
}
END_TEST

START_TEST(a_straggler_of_before_a_reset_is_stale)
{
    begin_at(239, 100);
    judge();
    run(0.9);
    int64_t last_us = move.timestamp_us;
    ck_assert_int_eq(after(10 * FRAME_US - S(240), 10 * FRAME_US), HS_MOVE_RESET);
    struct hs_timing_move newest = move;
    struct hs_timing before = timing;
    move.timestamp_us = last_us + 3 * FRAME_US;
    ck_assert_int_eq(judge(), HS_MOVE_STALE);
    ck_assert(!result.force_update); /* the move is newer than the one that arrived last */
    ck_assert_double_eq(result.delta_us, 0);
    move.timestamp_us += -FRAME_US;
    ck_assert_int_eq(judge(), HS_MOVE_STALE);
    ck_assert(result.force_update);
    before.compat.arrived_us = timing.compat.arrived_us;
    ck_assert_mem_eq(&before, &timing, sizeof timing);
    move = newest;
    run(3);
    ck_assert_uint_eq(flags, 0);
}
END_TEST

/* A client is in the background, and its clock is reset during that time. */
START_TEST(a_reset_in_the_background_is_accepted)
{
    begin_at(239.8, 100);
    judge();
    ck_assert_int_eq(after(S(0.4) - S(240), S(5)), HS_MOVE_RESET);
    run(3);
    ck_assert_uint_eq(flags, 0);
}
END_TEST

/* A clock whose first reset comes long after the reset period. */
START_TEST(a_reset_by_several_periods_is_accepted)
{
    rules->prevention = _i == 0 ? HS_PREVENTION_CREDIT : HS_PREVENTION_RESOLUTION;
    begin_at(1000, 100);
    judge();
    run(1);
    ck_assert_int_eq(after(FRAME_US - S(960), FRAME_US), HS_MOVE_RESET);
    if (rules->prevention == HS_PREVENTION_CREDIT)
        ck_assert_double_eq(result.delta_us, (double)FRAME_US);
    run(3);
    ck_assert_uint_eq(flags, 0);
}
END_TEST

/* Rows: the time since the last move, how far the client's clock went back in that time, and the
   granted time. The new clock is accepted. The granted time is at most the time on the server's
   clock. */
/*
 * After a silence of two minutes or longer, the clock may show any value: a dead player waits for
 * the next round. With the prevention `resolution`, the rules of Unreal refuse such clocks. Rows:
 * the length of the silence.
 */
START_TEST(a_clock_is_accepted_after_a_long_silence)
{
    static const double silences_s[] = {119, 121, 130, 150, 200, 239, 241, 400};
    static const enum hs_move_reason expected[] = {HS_MOVE_OK,    HS_MOVE_OK,    HS_MOVE_OK,
                                                   HS_MOVE_RESET, HS_MOVE_RESET, HS_MOVE_RESET,
                                                   HS_MOVE_OK,    HS_MOVE_RESET};
    int64_t silence_us = S(silences_s[_i]);
    for (int prevention = 0; prevention < 2; prevention++) {
        rules->prevention = prevention == 0 ? HS_PREVENTION_CREDIT : HS_PREVENTION_RESOLUTION;
        begin_at(1, 100);
        judge();
        run(100);
        int64_t clock_us = (move.timestamp_us + silence_us) % rules->reset_period_us;
        enum hs_move_reason reason = after(clock_us - move.timestamp_us, silence_us);
        if (prevention == 1) {
            ck_assert_int_eq(reason == HS_MOVE_STALE, _i > 0 && _i != 6);
            continue;
        }
        ck_assert_int_eq(reason, expected[_i]);
        run(10);
        ck_assert_uint_eq(flags, 0);
    }
}
END_TEST

/* A cheater gains nothing from the silence. */
START_TEST(a_long_silence_gives_no_time)
{
    judge();
    run(100);
    granted_us = 0;
    after(_i == 0 ? S(125) : -S(10), S(121));
    for (int i = 0; i < 600; i++)
        after(2 * FRAME_US, FRAME_US);
    ck_assert_double_le(granted_us, (double)(600 * FRAME_US + rules->credit_max_us));
    ck_assert_uint_ne(flags, 0);
}
END_TEST

START_TEST(an_implausible_reset_is_taken_over_with_clipped_time)
{
    static const struct {
        double since_s, back_s, granted_s;
    } rows[] = {{0.05, 121, 0.05}, {0.05, 170, 0.05}, {0.05, 199.9, 0.05},
                {0, 150, 0},       {3, 150, 0.125},   {0.05, 241.5, 0.05}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin_at(rows[i].back_s > 200 ? 300 : 200, 100);
        judge();
        run(1);
        double speed = timing.guard.speed;
        ck_assert_int_eq(after(-S(rows[i].back_s), S(rows[i].since_s)), HS_MOVE_RESET);
        ck_assert_double_eq_tol(result.delta_us, rows[i].granted_s * 1e6, 1e-3);
        ck_assert_double_eq(timing.guard.speed, speed);
        run(30);
        ck_assert_uint_eq(flags, 0);
        ck_assert_double_le(granted_us, (double)rules->credit_max_us + S(31.1 + rows[i].since_s));
    }
}
END_TEST

/* However far a client's clock goes back, the player neither gains nor loses time. */
START_TEST(a_reset_never_goes_back)
{
    rules->prevention = _i == 0 ? HS_PREVENTION_CREDIT : HS_PREVENTION_RESOLUTION;
    for (int64_t back_us = S(239); back_us < S(242); back_us += 50000) {
        begin_at(500, 100);
        judge();
        run(0.5);
        after(-back_us, FRAME_US);
        for (int i = 0; i < 30; i++)
            after(FRAME_US, FRAME_US);
        ck_assert_double_le(timing.credit_us, (double)rules->credit_max_us);
        ck_assert_double_le(granted_us, (double)rules->credit_max_us + 61.0 * FRAME_US);
    }
}
END_TEST

/* ---- duplicates ---- */

START_TEST(a_timestamp_counts_once)
{
    judge();
    run(1);
    double before_us = granted_us;
    struct hs_timing kept = timing;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(after(0, 1), HS_MOVE_DUPLICATE);
    ck_assert_double_eq(granted_us, before_us);
    ck_assert_mem_eq(&kept, &timing, sizeof timing);
    move.received_us -= 100;
    rules->min_delta_us = 1000;
    ck_assert_int_eq(after(999, FRAME_US), HS_MOVE_TOO_SMALL);
    move.timestamp_us -= 999;
    ck_assert_int_eq(after(1000, 0), HS_MOVE_OK);
}
END_TEST

/* ---- credit ---- */

START_TEST(a_fast_clock_gains_the_credit_and_no_more)
{
    double speeds[] = {1.01, 1.05, 1.5, 2, 7};
    int64_t begun_us = move.received_us;
    judge();
    for (int i = 0; i < 60 * 120; i++)
        after((int64_t)((double)FRAME_US * speeds[_i]), FRAME_US);
    double passed_us = (double)(move.received_us - begun_us);
    double most_us = (double)rules->credit_max_us;
    ck_assert_double_le(granted_us, passed_us + most_us + 1e-3);
    /* The credit is full at the start, and again later, because the time of the second move was
       lost. */
    ck_assert_double_ge(granted_us, passed_us + fmin(most_us - 2 * FRAME_US, 0.009 * passed_us));
    ck_assert_double_le(most_credit_us, most_us);
}
END_TEST

/* The first credit is what the connection needs, and at most the whole. Later credit is earned by
   time. */
START_TEST(a_steady_connection_begins_with_less_credit)
{
    move.has_credit = true;
    move.credit_us = _i == 0 ? 40000 : INT64_C(1000000);
    judge();
    ck_assert_double_eq(timing.credit_us, _i == 0 ? 40000 : (double)rules->credit_max_us);
    after(FRAME_US, S(1));
    ck_assert_double_eq(timing.credit_us, (double)rules->credit_max_us - FRAME_US);
}
END_TEST

START_TEST(spent_credit_is_never_owed)
{
    judge();
    hs_timing_spend(&timing, 100000);
    ck_assert_double_eq(timing.credit_us, (double)rules->credit_max_us - 100000);
    hs_timing_spend(&timing, 1e6);
    ck_assert_double_eq(timing.credit_us, 0);
}
END_TEST

START_TEST(credit_is_saved_up_to_its_most)
{
    judge();
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(after(FRAME_US, S(30)), HS_MOVE_OK);
        ck_assert_double_le(timing.credit_us, 350000);
        double before_us = granted_us;
        for (int k = 0; k < 200; k++)
            after(100000, 0); /* the delayed moves arrive all at once */
        ck_assert_double_le(granted_us - before_us, 350000);
        ck_assert_double_eq_tol(timing.credit_us, 0, 1e-6);
    }
}
END_TEST

/* A move that is limited by the credit is no offence by itself. */
START_TEST(a_packet_burst_uses_up_credit_without_a_flag_of_the_default_check)
{
    judge();
    run(30);
    after(FRAME_US, S(3));
    for (int k = 0; k < 179; k++)
        ck_assert_int_eq(after(FRAME_US, 0), HS_MOVE_OK);
    ck_assert_double_eq(result.delta_us, 0);
    run(30);
    ck_assert_uint_eq(flags & ~(unsigned)HS_TIMING_DISCREPANCY, 0);
}
END_TEST

START_TEST(resolution_leaves_no_more_than_server_time)
{
    rules->prevention = HS_PREVENTION_RESOLUTION;
    int64_t begun_us = move.received_us;
    judge();
    for (int i = 0; i < 60 * 60; i++)
        after(2 * FRAME_US, FRAME_US);
    ck_assert_uint_ne(flags & HS_TIMING_DISCREPANCY, 0);
    /* A cheat gains the margin at first, and again after each payback. During a payback the cheat
       gains nothing, so they gain in only half of the time. */
    double passed_us = (double)(move.received_us - begun_us);
    ck_assert_double_le(granted_us, 1.35 * passed_us);
    ck_assert_double_ge(granted_us, passed_us);
}
END_TEST

/* With a new epoch every five seconds, a clock at 1.05x is never ahead by more than the margin. */
START_TEST(a_new_epoch_pays_back_the_discrepancy)
{
    rules->prevention = HS_PREVENTION_RESOLUTION;
    judge();
    granted_us = 0;
    for (int i = 1; i <= 60 * 120; i++) {
        if (i % 300 == 0) {
            hs_timing_restart(&timing);
            move.timestamp_us = S(1);
        }
        after(FRAME_US * 21 / 20, FRAME_US);
    }
    ck_assert_double_le(granted_us, (double)(60 * 120 * FRAME_US + rules->max_margin_us));
    ck_assert_uint_ne(flags & HS_TIMING_DISCREPANCY, 0);
}
END_TEST

START_TEST(a_new_epoch_begins_with_the_credit_there_is)
{
    judge();
    run(5);
    for (int k = 0; k < 20; k++)
        after(100000, 0);
    ck_assert_double_eq_tol(timing.credit_us, 0, 1e-6);
    hs_timing_restart(&timing);
    move.timestamp_us = FRAME_US;
    move.received_us += S(0.3);
    ck_assert_int_eq(judge(), HS_MOVE_OK);
    ck_assert_double_eq(result.delta_us, 0);
    ck_assert_double_eq_tol(timing.credit_us, 300000, 1e-3);
    ck_assert_double_eq(timing.compat.ahead_us, 0);
    flags = 0;
    run(5);
    ck_assert_uint_eq(flags, 0);
}
END_TEST

/* ---- stalls and bursts ---- */

static void stall(double seconds)
{
    int64_t held_us = S(seconds);
    after(FRAME_US, held_us);
    for (int64_t at = FRAME_US; at < held_us; at += FRAME_US)
        after(FRAME_US, 0);
}

/*
 * Rows: how many ms the client's clock lost in 0.4 s of silence and recovered after it.
 */
START_TEST(less_than_100_ms_of_backlog_are_no_burst)
{
    int64_t backlog_us = HS_MS(_i == 0 ? 99 : 101);
    judge();
    run(10);
    after(S(0.4) - backlog_us, S(0.4));
    after(FRAME_US + backlog_us, FRAME_US);
    run(1);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), (unsigned)_i);
}
END_TEST

START_TEST(bursts_are_counted_for_a_minute)
{
    judge();
    run(10);
    for (int i = 1; i <= 5; i++) {
        stall(0.4);
        run(2);
        ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), (unsigned)i);
    }
    run(45);
    ck_assert_uint_gt(hs_timing_bursts_per_minute(&timing), 0);
    run(27);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 0);
    stall(3);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 1);
    after(FRAME_US, S(500));
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 0);
}
END_TEST

START_TEST(hits_during_a_packet_burst_are_known)
{
    judge();
    run(10);
    int64_t from_us = move.received_us;
    stall(0.5);
    int64_t to_us = move.received_us;
    ck_assert(hs_timing_was_in_burst(&timing, from_us + 1000));
    ck_assert(hs_timing_was_in_burst(&timing, to_us));
    ck_assert(!hs_timing_was_in_burst(&timing, from_us - 1000));
    run(5);
    ck_assert(!hs_timing_was_in_burst(&timing, move.received_us));
    ck_assert(hs_timing_was_in_burst(&timing, to_us));
}
END_TEST

START_TEST(silence_is_no_burst)
{
    judge();
    run(10);
    after(S(3), S(3)); /* the moves were lost */
    run(2);
    after(S(0.1), S(3)); /* the client was in the background */
    run(2);
    after(FRAME_US, S(0.2)); /* a short silence */
    for (int i = 0; i < 11; i++)
        after(FRAME_US, 0);
    run(2);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 0);
    ck_assert(!hs_timing_was_in_burst(&timing, move.received_us));
}
END_TEST

/* Rows: the dilation. In a hitch of 0.4 s, the client's clock advances by 0.1 s. It does not catch
   up. */
START_TEST(a_hitch_of_the_client_is_no_burst_at_any_dilation)
{
    static const double dilations[] = {0.3, 1, 2, 4};
    double dilation = dilations[_i];
    judge();
    move.dilation = dilation;
    for (int i = 0; i < 600; i++)
        after((int64_t)((double)FRAME_US * dilation), FRAME_US);
    after(S(0.1), S(0.4));
    for (int i = 0; i < 120; i++)
        after((int64_t)((double)FRAME_US * dilation), FRAME_US);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 0);
    after((int64_t)((double)FRAME_US * dilation), S(0.5)); /* a stall */
    after((int64_t)((double)S(0.5) * dilation), FRAME_US);
    ck_assert_uint_eq(hs_timing_bursts_per_minute(&timing), 1);
}
END_TEST

/* ---- dilation ---- */

START_TEST(a_paused_game_grants_nothing)
{
    judge();
    run(5);
    double before_us = granted_us;
    double credit_us = timing.credit_us;
    move.dilation = 0;
    for (int i = 0; i < 600; i++) { /* the client's clock goes on although the game is paused */
        ck_assert_int_eq(after(FRAME_US, FRAME_US), HS_MOVE_OK);
        ck_assert_double_eq(result.delta_us, 0);
    }
    ck_assert_double_eq(granted_us, before_us);
    ck_assert_double_le(timing.credit_us, credit_us);
}
END_TEST

START_TEST(slow_motion_is_no_offence)
{
    judge();
    run(10);
    for (int round = 0; round < 4; round++) {
        double before_us = granted_us;
        move.dilation = 0.5;
        for (int i = 0; i < 600; i++)
            ck_assert_int_eq(after(FRAME_US / 2, FRAME_US / 2 * 2), HS_MOVE_OK);
        ck_assert_double_eq_tol(granted_us - before_us, 600.0 * (double)(FRAME_US / 2), 1);
        ck_assert_double_eq(timing.compat.ahead_us, 0);
        move.dilation = 1;
        run(10);
    }
    ck_assert_uint_eq(flags, 0);
}
END_TEST

/* Half speed is announced, but the client's clock keeps its full speed. */
START_TEST(ignoring_slow_motion_is_a_fast_clock)
{
    judge();
    run(10);
    move.dilation = 0.5;
    int64_t begun_us = move.received_us;
    double before_us = granted_us;
    for (int i = 0; i < 600; i++)
        after(FRAME_US, FRAME_US);
    ck_assert_uint_eq(flags & HS_TIMING_DISCREPANCY, HS_TIMING_DISCREPANCY);
    ck_assert_uint_ne(flags & ~(unsigned)HS_TIMING_DISCREPANCY, 0);
    ck_assert_double_le(granted_us - before_us,
                        0.5 * (double)(move.received_us - begun_us) + 350000 + 1e-3);
}
END_TEST

/* ---- order of arrival ---- */

/* If the receipt times of the game server go back slightly, they count as the newest one. */
START_TEST(receipts_out_of_order_grant_nothing)
{
    int64_t begun_us = move.received_us;
    judge();
    for (int i = 0; i < 6000; i++) {
        after(2 * FRAME_US, i % 2 == 0 ? 3 * FRAME_US : -FRAME_US);
        ck_assert_double_le(granted_us, (double)(move.received_us - begun_us) + 350000 + FRAME_US);
    }
}
END_TEST

/* ---- long sessions ---- */

static size_t play(const struct hs_clock_options *options, size_t skipped,
                   struct hs_timing_result *kept, size_t most)
{
    struct hs_move_stream stream;
    struct hs_clock_item item;
    size_t count = 0;
    begin_at(1, 1);
    hs_move_stream_start(&stream, options);
    for (size_t i = 0; hs_move_stream_next(&stream, &item) && count < most; i++) {
        move = (struct hs_timing_move){.timestamp_us = item.move.timestamp_us,
                                       .received_us = item.move.received_us,
                                       .ack_us = item.move.ack_us,
                                       .has_ack = true,
                                       .dilation = 1};
        hs_timing_check(&timing, rules, &move, &result);
        flags |= result.flags;
        if (i >= skipped)
            kept[count++] = result;
    }
    return count;
}

/* A clock that becomes fast after eight hours gets the same results as one that becomes fast after
   a minute. The results on the thirtieth day are the same as on the first. */
START_TEST(hours_and_uptime_change_nothing)
{
    enum { MOST = 3600 };
    static struct hs_timing_result fresh[MOST], late[MOST];
    const double lead_in_s[] = {60, 60 + 8 * 3600, 60}, start_s[] = {1, 1, 1 + 30 * 86400};
    for (int k = 0; k < 3; k++) {
        struct hs_clock_options options = {
            .length_us = S(lead_in_s[k] + 120),
            .start_us = S(start_s[k]),
            .events = {{HS_CLOCK_SPEED, S(lead_in_s[k]), S(1e6), 0, 1.05}}};
        struct hs_timing_result *kept = k == 0 ? fresh : late;
        ck_assert_uint_eq(play(&options, (size_t)(60 * lead_in_s[k]), kept, MOST), MOST);
        ck_assert_uint_ne(flags & HS_TIMING_FAST_PROVEN, 0);
        for (int i = 0; i < MOST; i++)
            ck_assert_msg(k == 0 || (fresh[i].reason == late[i].reason &&
                                     fresh[i].flags == late[i].flags &&
                                     fresh[i].delta_us == late[i].delta_us &&
                                     fresh[i].ahead_us == late[i].ahead_us &&
                                     fresh[i].proven_by_us == late[i].proven_by_us &&
                                     fresh[i].suspected_us == late[i].suspected_us),
                          "move %d: %.17g and %.17g", i, fresh[i].delta_us, late[i].delta_us);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timing");
    TCase *tcase = tcase_create("timing");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_clock_state_stays_small);
    tcase_add_test(tcase, a_clock_is_reset_for_hours);
    tcase_add_test(tcase, a_straggler_of_before_a_reset_is_stale);
    tcase_add_test(tcase, a_reset_in_the_background_is_accepted);
    tcase_add_loop_test(tcase, a_reset_by_several_periods_is_accepted, 0, 2);
    tcase_add_loop_test(tcase, a_clock_is_accepted_after_a_long_silence, 0, 8);
    tcase_add_loop_test(tcase, a_long_silence_gives_no_time, 0, 2);
    tcase_add_test(tcase, an_implausible_reset_is_taken_over_with_clipped_time);
    tcase_add_loop_test(tcase, a_reset_never_goes_back, 0, 2);
    tcase_add_test(tcase, a_timestamp_counts_once);
    tcase_add_loop_test(tcase, a_fast_clock_gains_the_credit_and_no_more, 0, 5);
    tcase_add_loop_test(tcase, a_steady_connection_begins_with_less_credit, 0, 2);
    tcase_add_test(tcase, spent_credit_is_never_owed);
    tcase_add_test(tcase, credit_is_saved_up_to_its_most);
    tcase_add_test(tcase, a_packet_burst_uses_up_credit_without_a_flag_of_the_default_check);
    tcase_add_test(tcase, resolution_leaves_no_more_than_server_time);
    tcase_add_test(tcase, a_new_epoch_pays_back_the_discrepancy);
    tcase_add_test(tcase, a_new_epoch_begins_with_the_credit_there_is);
    tcase_add_loop_test(tcase, less_than_100_ms_of_backlog_are_no_burst, 0, 2);
    tcase_add_test(tcase, bursts_are_counted_for_a_minute);
    tcase_add_test(tcase, hits_during_a_packet_burst_are_known);
    tcase_add_test(tcase, silence_is_no_burst);
    tcase_add_loop_test(tcase, a_hitch_of_the_client_is_no_burst_at_any_dilation, 0, 4);
    tcase_add_test(tcase, a_paused_game_grants_nothing);
    tcase_add_test(tcase, slow_motion_is_no_offence);
    tcase_add_test(tcase, ignoring_slow_motion_is_a_fast_clock);
    tcase_add_test(tcase, receipts_out_of_order_grant_nothing);
    tcase_add_test(tcase, hours_and_uptime_change_nothing);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
