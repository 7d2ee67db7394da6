/* Ten seconds of fire. An honest weapon is never refused, even if its shots jitter, arrive in
   groups or overtake each other. A weapon that fires too fast gains at most one shot, in any order
   of arrival. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/shot.h"

#define DEFAULT_SEED 20250404
#define BURST_US     INT64_C(10000000)
#define START_US     INT64_C(1000000)

enum { MOST = 4096, ROUNDS = 40 };

static struct hs_ruleset *rules;
static struct hs_match *match;

struct fired {
    uint64_t number;
    int64_t time_us, arrival_us;
};

struct burst {
    struct fired shots[MOST];
    int count;
};

static struct burst burst;

static void set_up(void)
{
    rules = hs_stage_ruleset();
    rules->rewind.limit_us = HS_MS(1000);
    rules->history.keep_us = HS_MS(2000);
    rules->rewind.backstep_us = HS_MS(100); /* so that shots may overtake each other */
    match = NULL;
}

static void tear_down(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

/* Returns a random interval in the range of real weapons, from machine guns to rifles. */
static int64_t any_interval(struct hs_random *random)
{
    return HS_MS(50) + hs_random_index(random, 950000);
}

/* Fires a shot every `interval_us`, each up to `jitter_us` early or late. The shots arrive without
   delay. */
static void fire(struct hs_random *random, int64_t interval_us, int64_t jitter_us)
{
    burst.count = 0;
    for (int64_t at = 0; at <= BURST_US && burst.count < MOST; at += interval_us) {
        int64_t off = 0;
        if (jitter_us > 0)
            off = hs_random_index(random, (int)(2 * jitter_us + 1)) - jitter_us;
        int64_t time_us = START_US + at + off;
        burst.shots[burst.count] = (struct fired){(uint64_t)burst.count + 1, time_us, time_us};
        burst.count++;
    }
}

/* Delays shots until up to `most` of them arrive together. */
static void bunch(struct hs_random *random, int most)
{
    for (int first = 0; first < burst.count;) {
        int together = 1 + hs_random_index(random, most);
        int64_t arrival_us = 0;
        for (int i = first; i < first + together && i < burst.count; i++)
            arrival_us = burst.shots[i].time_us > arrival_us ? burst.shots[i].time_us : arrival_us;
        for (int i = first; i < first + together && i < burst.count; i++)
            burst.shots[i].arrival_us = arrival_us;
        first += together;
    }
}

/* Puts shots that arrive together in any order. */
static void shuffle(struct hs_random *random)
{
    for (int i = 0; i + 1 < burst.count; i++) {
        int last = i;
        while (last + 1 < burst.count &&
               burst.shots[last + 1].arrival_us == burst.shots[i].arrival_us)
            last++;
        int other = i + hs_random_index(random, last - i + 1);
        struct fired kept = burst.shots[i];
        burst.shots[i] = burst.shots[other];
        burst.shots[other] = kept;
    }
}

static void post_frames_until(int64_t time_us, int64_t *posted_us)
{
    for (; *posted_us <= time_us + HS_MS(50); *posted_us += HS_MS(50))
        hs_stage_place(match, *posted_us, "S", 0, 0, 0);
}

static enum hs_reason claim_hit(const struct fired *shot)
{
    static struct hs_hit_result result;
    struct hs_hit_claim claim =
        hs_stage_claim(shot->time_us, 20, 0.001 * (double)shot->number, 1.6);
    claim.shot = shot->number;
    claim.target.ptr = NULL;
    hs_hit_verify(match, &claim, shot->arrival_us, &result);
    ck_assert(result.replay == NULL && hs_hit_record(match, &claim, &result, HS_STR("{")));
    return result.reason;
}

static enum hs_reason post_shot(const struct fired *shot)
{
    static struct hs_hit_result result;
    int64_t forward_us;
    struct hs_shot_claim claim = {.shot = shot->number,
                                  .shooter = HS_STR("S"),
                                  .weapon = HS_STR("rifle"),
                                  .time_us = shot->time_us,
                                  .origin = {0, 0, 1.6}};
    hs_shot_verify(match, &claim, shot->arrival_us, &result, &forward_us);
    ck_assert(result.replay == NULL && hs_shot_record(match, &claim, &result, HS_STR("{")));
    return result.reason;
}

/* Plays the shots. Returns the number of accepted shots. Expects that all others are refused for
   the rate of fire. */
static int play(int64_t interval_us, bool as_shots)
{
    int64_t posted_us = START_US - HS_MS(500);
    int accepted = 0;
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = interval_us;
    hs_match_destroy(match);
    match = hs_stage_match(rules);
    for (int i = 0; i < burst.count; i++) {
        post_frames_until(burst.shots[i].arrival_us, &posted_us);
        enum hs_reason reason = as_shots ? post_shot(&burst.shots[i]) : claim_hit(&burst.shots[i]);
        ck_assert_msg(reason == HS_REASON_OK || reason == HS_REASON_FIRE_RATE, "shot %d: %s", i,
                      hs_reason_name(reason));
        accepted += reason == HS_REASON_OK;
    }
    return accepted;
}

/* Returns how many shots may arrive together without the first being too old. */
static int most_together(int64_t interval_us)
{
    int most = (int)(HS_MS(600) / interval_us);
    return most < 1 ? 1 : most > 12 ? 12 : most;
}

START_TEST(honest_fire_is_never_refused)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    for (int round = 0; round < 8; round++) {
        int64_t interval_us = any_interval(&random);
        fire(&random, interval_us, round % 2 == 0 ? 0 : HS_MS(20));
        if (round % 4 >= 2)
            bunch(&random, most_together(interval_us));
        if (round >= 4)
            shuffle(&random);
        int accepted = play(interval_us, _i % 2 == 0);
        ck_assert_msg(accepted == burst.count, "interval %lld us, round %d: %d of %d",
                      (long long)interval_us, round, accepted, burst.count);
    }
}
END_TEST

/* Fire times are rounded to the ticks of a server, as frames and clients do it. */
START_TEST(rounding_to_ticks_is_honest)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 100 + (uint64_t)_i);
    static const double rates[] = {30, 60, 64, 128};
    for (int rate = 0; rate < 4; rate++) {
        int64_t interval_us = any_interval(&random);
        fire(&random, interval_us, 0);
        for (int i = 0; i < burst.count; i++) {
            double ticks = floor((double)burst.shots[i].time_us * rates[rate] / 1e6);
            burst.shots[i].time_us = burst.shots[i].arrival_us =
                (int64_t)(ticks * 1e6 / rates[rate]);
        }
        ck_assert_int_eq(play(interval_us, true), burst.count);
    }
}
END_TEST

/* Plays the shots of a cheat at `factor` times the rate. At most one shot more than at the legal
   rate may be accepted. */
static void check_gain(struct hs_random *random, double factor, int how)
{
    int64_t interval_us = any_interval(random);
    fire(random, (int64_t)((double)interval_us / factor), how % 2 == 0 ? 0 : HS_MS(20));
    if (how % 4 >= 2)
        bunch(random, most_together((int64_t)((double)interval_us / factor)));
    if (how >= 4)
        shuffle(random);
    int legal = (int)(BURST_US / interval_us) + 1;
    int accepted = play(interval_us, how % 3 == 0);
    ck_assert_msg(accepted <= legal + 1, "interval %lld us, %g times as fast, way %d: %d, legal %d",
                  (long long)interval_us, factor, how, accepted, legal);
    ck_assert_msg(accepted >= 3 && accepted < burst.count, "%d of %d", accepted, burst.count);
}

START_TEST(twice_the_rate_gains_no_more_than_a_shot)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 200 + (uint64_t)_i);
    for (int how = 0; how < 8; how++)
        check_gain(&random, 2, how);
}
END_TEST

START_TEST(no_faster_rate_gains_more)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 300 + (uint64_t)_i);
    for (int how = 0; how < 8; how++)
        check_gain(&random, hs_random_between(&random, 2, 10), how);
}
END_TEST

/* A player who returns to the rate of the weapon after a refusal is accepted at once, and stays
   accepted. */
START_TEST(an_honest_rate_after_a_refusal)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 400 + (uint64_t)_i);
    int64_t interval_us = any_interval(&random);
    fire(&random, interval_us, 0);
    burst.count = burst.count > 40 ? 40 : burst.count;
    for (int i = 0; i < 6; i++) /* the first six shots are fired at twice the rate */
        burst.shots[i].time_us = burst.shots[i].arrival_us =
            burst.shots[6].time_us - (6 - i) * interval_us / 2;
    int accepted = play(interval_us, true);
    ck_assert_msg(accepted >= burst.count - 4 && accepted < burst.count, "%d of %d", accepted,
                  burst.count);
}
END_TEST

/* Groups shots of a window of time. The shots of a group swap places and arrive together. */
static void permute(struct hs_random *random, int64_t window_us)
{
    for (int first = 0; first < burst.count;) {
        int last = first;
        while (last + 1 < burst.count &&
               burst.shots[last + 1].time_us - burst.shots[first].time_us < window_us)
            last++;
        for (int i = first; i <= last; i++) {
            int other = i + hs_random_index(random, last - i + 1);
            struct fired kept = burst.shots[i];
            burst.shots[i] = burst.shots[other];
            burst.shots[other] = kept;
        }
        int64_t latest_us = burst.shots[first].time_us;
        for (int i = first; i <= last; i++)
            latest_us = burst.shots[i].time_us > latest_us ? burst.shots[i].time_us : latest_us;
        for (int i = first; i <= last; i++)
            burst.shots[i].arrival_us = latest_us;
        first = last + 1;
    }
}

/* Returns the max number of shots that a bucket of 1.82 tokens lets pass in the time of these
   shots. */
static int bucket_allows(int64_t interval_us)
{
    int64_t first_us = INT64_MAX, last_us = INT64_MIN;
    for (int i = 0; i < burst.count; i++) {
        int64_t time_us = burst.shots[i].time_us;
        first_us = time_us < first_us ? time_us : first_us;
        last_us = time_us > last_us ? time_us : last_us;
    }
    return (int)((double)(last_us - first_us) / (double)interval_us + 1.82);
}

/* For any set of shots within the rewind window, no order of arrival makes more shots pass than the
   bucket allows. */
START_TEST(no_order_gains)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 500 + (uint64_t)_i);
    int64_t interval_us = HS_MS(15) + hs_random_index(&random, 300000);
    for (int how = 0; how < 3; how++) {
        fire(&random, interval_us / (2 + how), how == 0 ? 0 : HS_MS(5));
        permute(&random, HS_MS(300));
        int accepted = play(interval_us, how % 2 == 0);
        ck_assert_msg(accepted <= bucket_allows(interval_us), "interval %lld us: %d",
                      (long long)interval_us, accepted);
    }
}
END_TEST

/* Row: an interval in ms. The weapon fires every millisecond for 4 s, then honestly with 40 %
   jitter. */
START_TEST(short_and_long_intervals_alike)
{
    static const int intervals[] = {20, 50, 200, 2000};
    int64_t interval_us = HS_MS(intervals[_i]);
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 600 + (uint64_t)_i);
    fire(&random, HS_MS(1), 0);
    burst.count = burst.count > 4001 ? 4001 : burst.count;
    int accepted = play(interval_us, true);
    ck_assert_int_le(accepted, 4000 / intervals[_i] + 2);
    ck_assert_int_ge(accepted, 4000 / intervals[_i] + 1);
    for (int how = 0; how < 4; how++) {
        fire(&random, interval_us, interval_us * 2 / 5);
        if (how % 2 == 1)
            permute(&random, HS_MS(400));
        ck_assert_int_eq(play(interval_us, how < 2), burst.count);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cadence");
    TCase *tcase = tcase_create("cadence");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, honest_fire_is_never_refused, 0, ROUNDS);
    tcase_add_loop_test(tcase, rounding_to_ticks_is_honest, 0, ROUNDS);
    tcase_add_loop_test(tcase, twice_the_rate_gains_no_more_than_a_shot, 0, ROUNDS);
    tcase_add_loop_test(tcase, no_faster_rate_gains_more, 0, ROUNDS);
    tcase_add_loop_test(tcase, an_honest_rate_after_a_refusal, 0, ROUNDS);
    tcase_add_loop_test(tcase, no_order_gains, 0, ROUNDS);
    tcase_add_loop_test(tcase, short_and_long_intervals_alike, 0, 4);
    suite_add_tcase(suite, tcase);
    printf("cadence: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    return hs_run_suite(suite);
}
