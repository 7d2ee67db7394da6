/* The detectors of the default clock check, move by move: pauses, silences after which the moves
   catch up, changes of the dilation, and a server's clock that is set back. */
#include <check.h>

#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/clock/guard.h"

#define FRAME_US   INT64_C(16667)
#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))

static struct hs_ruleset *ruleset;
static struct hs_clock_guard guard;
static bool has_begun, has_acks;
static int suspected, proven;

/* The delays of the connection, and the time of the player's newest frame by their clock and by the
   true clock. */
static int64_t up_us, down_us, now_us, received_us;
static double client_us;

/* The dilation, the one before it, and when the server changed it. */
static double dilation, former_dilation;
static int64_t changed_us;

static void set_up(void)
{
    ruleset = hs_stage_ruleset();
    has_begun = false;
    has_acks = true;
    suspected = proven = 0;
    up_us = down_us = S(0.15);
    now_us = S(100);
    received_us = 0;
    client_us = 1e6;
    dilation = former_dilation = 1;
    changed_us = INT64_MIN;
}

static void tear_down(void)
{
    hs_ruleset_destroy(ruleset);
}

static void receive(int64_t at_us, int64_t ack_us)
{
    struct hs_timing_move step = {.timestamp_us = (int64_t)client_us,
                                  .received_us = at_us > received_us ? at_us : received_us,
                                  .ack_us = ack_us,
                                  .has_ack = has_acks};
    step.dilation = step.received_us >= changed_us ? dilation : former_dilation;
    received_us = step.received_us;
    if (!has_begun) {
        hs_clock_guard_begin(&guard, &step);
        has_begun = true;
        return;
    }
    struct hs_clock_verdict verdict = hs_clock_guard_step(&guard, &ruleset->moves, &step);
    suspected += verdict.suspected;
    proven += verdict.proven;
}

static void frame(double rate)
{
    now_us += FRAME_US;
    client_us += (double)FRAME_US * rate;
}

static void run(double seconds, double rate)
{
    for (int64_t end_us = now_us + S(seconds); now_us < end_us;) {
        frame(rate);
        receive(now_us + up_us, now_us - down_us);
    }
}

/* The player switches to another window. The clock pauses meanwhile. Afterwards the delay to the
   server is longer than before, and shrinks step by step. */
static void pause_and_return(double rate)
{
    now_us += S(2);
    client_us += 0.4e6;
    down_us += S(0.2);
    for (int i = 0; i < 4; i++) {
        run(0.75, rate);
        down_us -= S(0.05);
    }
}

START_TEST(a_pause_hides_no_gain)
{
    run(40, 1);
    run(6, 1.01);
    ck_assert_int_eq(suspected, 0);
    pause_and_return(1.01);
    run(9, 1.01);
    ck_assert_int_eq(suspected, 1);
    ck_assert_int_eq(proven, 0);
}
END_TEST

START_TEST(honest_pauses_are_no_offence)
{
    run(40, 1);
    for (int i = 0; i < 20; i++) {
        pause_and_return(1);
        run(i, 1);
    }
    ck_assert_int_eq(suspected + proven, 0);
}
END_TEST

/*
 * Sends no packets for 8 s while the player's clock stands. Then the clock has double speed, and no
 * newer snapshot is acknowledged.
 */
static void stand_and_run(double fast_s)
{
    int64_t seen_us = now_us - down_us;
    now_us += S(8);
    for (int64_t end_us = now_us + S(fast_s); now_us < end_us;) {
        frame(2);
        receive(now_us + up_us, seen_us);
    }
}

START_TEST(catching_up_a_pause_with_old_acks_is_suspected)
{
    run(60, 1);
    stand_and_run(8);
    ck_assert_int_ge(suspected, 1);
    ck_assert_int_eq(proven, 0);
}
END_TEST

START_TEST(moves_that_may_be_delayed_are_not_suspected)
{
    run(60, 1);
    stand_and_run(4);
    ck_assert_int_eq(suspected + proven, 0);
}
END_TEST

START_TEST(without_acks_catching_up_looks_like_a_stall)
{
    has_acks = false;
    run(60, 1);
    stand_and_run(8);
    ck_assert_int_eq(suspected + proven, 0);
}
END_TEST

/* A client cannot have a snapshot that was sent after its move arrived. Such an ack counts as the
   arrival, so it does not switch the proof off. */
START_TEST(a_fast_clock_with_acks_of_the_future_is_proven)
{
    static const double later_s[] = {0.000001, 1, 1000};
    for (int64_t end_us = now_us + S(10); now_us < end_us;) {
        frame(1.05);
        receive(now_us + up_us, now_us + up_us + S(later_s[_i]));
    }
    ck_assert_int_ge(proven, 1);
}
END_TEST

START_TEST(acks_of_the_future_prove_nothing_against_an_honest_clock)
{
    for (int64_t end_us = now_us + S(60); now_us < end_us;) {
        frame(1);
        receive(now_us + up_us, now_us + up_us + S(1));
    }
    ck_assert_int_eq(suspected + proven, 0);
}
END_TEST

/* Lets nothing arrive for 8 s. Then the waiting moves arrive at `speed` times the rate, and new
   moves wait behind them. */
static void outage(double speed)
{
    int64_t from_us = now_us, until_us = now_us + S(8), arrives_us = until_us + up_us;
    for (int64_t end_us = now_us + S(40); now_us < end_us;) {
        frame(1);
        bool is_through = now_us - down_us >= until_us;
        receive(arrives_us, is_through ? now_us - down_us : from_us - down_us);
        arrives_us += (int64_t)((double)FRAME_US / speed);
        if (arrives_us < now_us + FRAME_US + up_us)
            arrives_us = now_us + FRAME_US + up_us;
    }
}

START_TEST(an_outage_that_drains_is_no_offence)
{
    static const double speeds[] = {1.25, 1.5, 2, 4, 16, 1000};
    run(60, 1);
    outage(speeds[_i]);
    ck_assert_int_eq(suspected + proven, 0);
    outage(speeds[_i]);
    ck_assert_int_eq(suspected + proven, 0);
}
END_TEST

/* The noise is 0 before it is measured. Then it is the mean of the delays, minus the smallest
   delay. */
START_TEST(noise_is_measured)
{
    run(0.2, 1);
    ck_assert_int_eq(hs_clock_guard_noise(&guard), 0);
    run(40, 1);
    ck_assert_int_le(hs_clock_guard_noise(&guard), S(0.002));
    for (int i = 0; i < 30; i++) {
        up_us = S(0.15);
        run(1, 1);
        up_us = S(0.25);
        run(1, 1);
    }
    ck_assert_int_ge(hs_clock_guard_noise(&guard), S(0.02));
    ck_assert_int_le(hs_clock_guard_noise(&guard), S(0.07));
    now_us += S(600); /* nothing arrives, so nothing is measured */
    client_us += 600e6;
    run(0.2, 1);
    ck_assert_int_eq(hs_clock_guard_noise(&guard), 0);
}
END_TEST

static void set_dilation(double to)
{
    former_dilation = dilation;
    dilation = to;
    changed_us = now_us;
}

/* Plays with a clock of `rate` times the game's speed. The client learns of a change with the next
   snapshot. In a paused game it makes no moves. */
static void play(double seconds, double rate)
{
    for (int64_t end_us = now_us + S(seconds); now_us < end_us;) {
        double known = now_us - down_us >= changed_us ? dilation : former_dilation;
        frame(known * rate);
        if (known > 0)
            receive(now_us + up_us, now_us - down_us);
    }
}

/* The change reaches the client late, so its clock runs at the old speed for longer than any
   earlier snapshot took. */
START_TEST(a_change_of_the_dilation_proves_nothing)
{
    static const double dilations[] = {0, 0.3, 2, 4};
    play(20, 1);
    for (int i = 0; i < 5; i++) {
        set_dilation(i % 2 == 0 ? dilations[_i] : 1);
        down_us += S(0.2);
        play(1, 1);
        down_us -= S(0.2);
        play(9, 1);
    }
    ck_assert_int_eq(proven, 0);
}
END_TEST

START_TEST(a_late_packet_in_fast_motion_proves_nothing)
{
    set_dilation(2);
    play(10, 1);
    up_us = S(0.6);
    play(1, 1);
    up_us = S(0.05);
    play(10, 1);
    ck_assert_int_eq(proven, 0);
}
END_TEST

START_TEST(a_fast_clock_is_proven_at_every_dilation)
{
    static const double dilations[] = {0.3, 2, 4};
    play(20, 1);
    set_dilation(dilations[_i]);
    play(5, 1);
    ck_assert_int_eq(proven, 0);
    play(8, 1.1);
    ck_assert_int_ge(proven, 1);
}
END_TEST

/* Plays after the server's clock was set back. Snapshots sent before that carry the old time. */
static void play_after_set_back(double seconds, double rate, int64_t since_us, int64_t by_us)
{
    for (int64_t end_us = now_us + S(seconds); now_us < end_us;) {
        frame(rate);
        int64_t seen_us = now_us - down_us;
        receive(now_us + up_us - by_us, seen_us >= since_us ? seen_us - by_us : seen_us);
    }
}

START_TEST(setting_the_servers_clock_back_is_no_offence)
{
    static const double steps[] = {0.1, 0.2, 0.3, 0.4, 1, 4.9};
    run(40, 1);
    int64_t by_us = S(steps[_i]), since_us = now_us + up_us;
    received_us = now_us + up_us - by_us;
    play_after_set_back(20, 1, since_us, by_us);
    ck_assert_int_eq(suspected + proven, 0);
    play_after_set_back(5, 1.1, since_us, by_us);
    ck_assert_int_ge(proven, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock_guard");
    TCase *tcase = tcase_create("clock_guard");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, noise_is_measured);
    tcase_add_test(tcase, a_pause_hides_no_gain);
    tcase_add_test(tcase, honest_pauses_are_no_offence);
    tcase_add_test(tcase, catching_up_a_pause_with_old_acks_is_suspected);
    tcase_add_test(tcase, moves_that_may_be_delayed_are_not_suspected);
    tcase_add_test(tcase, without_acks_catching_up_looks_like_a_stall);
    tcase_add_loop_test(tcase, a_fast_clock_with_acks_of_the_future_is_proven, 0, 3);
    tcase_add_test(tcase, acks_of_the_future_prove_nothing_against_an_honest_clock);
    tcase_add_loop_test(tcase, an_outage_that_drains_is_no_offence, 0, 6);
    tcase_add_loop_test(tcase, a_change_of_the_dilation_proves_nothing, 0, 4);
    tcase_add_test(tcase, a_late_packet_in_fast_motion_proves_nothing);
    tcase_add_loop_test(tcase, a_fast_clock_is_proven_at_every_dilation, 0, 3);
    tcase_add_loop_test(tcase, setting_the_servers_clock_back_is_no_offence, 0, 6);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
