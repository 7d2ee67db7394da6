/*
 * The compatible timing check, compared with a plain copy of its rules in other arithmetic (long
 * double). The check and the copy get random streams of moves under random settings. Every answer
 * and every stored number must agree. If a number is so near a threshold that rounding decides, the
 * copy takes over the state of the check. The test fails if that is not rare.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/clock/compat.h"

#define DEFAULT_SEED 20250611

enum { STREAMS = 3000, MOVES = 600 };

/* ---- the copy of the rules ---- */

struct model {
    int64_t current, server_stamp, last_received, last_reset;
    long double discrepancy, lifetime_raw, accumulated_deltas, resolution_override;
    bool resolving;
    /* How far the last move is from the margin. */
    long double margin_gap;
};

struct answer {
    enum hs_move_reason reason;
    long double delta;
    bool force_update, flagged;
};

static long double least(long double a, long double b)
{
    return a < b ? a : b;
}

static long double most(long double a, long double b)
{
    return a > b ? a : b;
}

static enum hs_move_reason valid(const struct model *m, const struct hs_moves_rules *rules,
                                 int64_t ts, int64_t now)
{
    if (ts <= 0)
        return HS_MOVE_BAD_TIMESTAMP;
    int64_t d = ts - m->current;
    if (2 * llabs(d) > rules->reset_period_us) {
        if (d > 0)
            return HS_MOVE_STALE;
        return 2 * (now - m->last_reset) >= rules->reset_period_us ? HS_MOVE_RESET
                                                                   : HS_MOVE_RESET_TOO_SOON;
    }
    if (ts == m->current)
        return HS_MOVE_DUPLICATE;
    if (ts < m->current)
        return HS_MOVE_STALE;
    return d < rules->min_delta_us ? HS_MOVE_TOO_SMALL : HS_MOVE_OK;
}

static void resolve(struct model *m, const struct hs_moves_rules *rules, long double cd,
                    long double since, long double dilation)
{
    bool first = since > 0;
    long double base = least((long double)rules->max_delta_us * dilation, cd);
    if (!first)
        m->accumulated_deltas += base;
    long double bound = most(0, least(base + m->accumulated_deltas, since));
    if (first)
        m->accumulated_deltas = 0;
    long double pay = most(0, least(bound * (long double)rules->resolution_rate, m->discrepancy));
    long double after = most(bound - pay, (long double)rules->min_delta_us);
    m->discrepancy -= after == bound - pay ? pay : most(0, bound - after);
    m->resolution_override = after;
}

/* Returns whether the move exceeds the margin. */
static bool discrepancy(struct model *m, const struct hs_moves_rules *rules, int64_t ts,
                        int64_t received, long double dilation)
{
    bool flag = false;
    long double sd = (long double)(received - m->server_stamp) * dilation;
    long double cd = (long double)(ts - m->current), e = cd - sd;
    long double raw = m->discrepancy + e, n = raw;
    long double drift = sd * (long double)rules->drift_allowance;
    m->lifetime_raw += e;
    if (rules->drift_allowance > 0)
        n = n > 0 ? most(0, n - drift) : least(0, n + drift);
    n = most(n, (long double)rules->min_margin_us);
    long double eff = raw != 0 ? e * n / raw : e;
    m->resolving = m->resolving && m->discrepancy > 0;
    if (!m->resolving) {
        m->margin_gap = fabsl(n - (long double)rules->max_margin_us);
        if (n > (long double)rules->max_margin_us) {
            flag = true;
            m->resolving = rules->prevention == HS_PREVENTION_RESOLUTION;
            m->discrepancy = m->resolving ? n - eff : 0;
        } else {
            m->discrepancy = n;
        }
    }
    if (m->resolving)
        resolve(m, rules, cd, (long double)(received - m->server_stamp), dilation);
    return flag;
}

static struct answer model_judge(struct model *m, const struct hs_moves_rules *rules, int64_t ts,
                                 int64_t received, double dilation)
{
    struct answer answer = {.reason = valid(m, rules, ts, received)};
    m->margin_gap = HUGE_VALL;
    switch (answer.reason) {
    case HS_MOVE_BAD_TIMESTAMP:
        return answer;
    case HS_MOVE_OK:
        break;
    case HS_MOVE_RESET:
        m->last_reset = received;
        m->current -= rules->reset_period_us;
        break;
    default:
        answer.force_update = answer.reason == HS_MOVE_STALE && ts <= m->last_received;
        m->last_received = ts;
        return answer;
    }
    if (answer.reason == HS_MOVE_OK && rules->detection)
        answer.flagged = discrepancy(m, rules, ts, received, (long double)dilation);
    long double most_delta = (long double)rules->max_delta_us * (long double)dilation;
    answer.delta = most(0, least(most_delta, m->resolving ? m->resolution_override
                                                          : (long double)(ts - m->current)));
    answer.force_update = m->resolving && rules->force_corrections;
    m->current = m->last_received = ts;
    m->server_stamp = received;
    return answer;
}

/* ---- streams ---- */

/* A client and its connection. The client and the connection determine the next move. */
struct client {
    struct hs_random random;
    int64_t clock_us, now_us; /* client's clock; server's clock */
    double speed, dilation;
    int64_t frame_us;
    bool is_batched; /* several moves reach the server at the same time */
};

static void random_rules(struct hs_random *random, struct hs_moves_rules *rules)
{
    static const double drifts[] = {0, 0, 0.01, 0.02, 0.05, 0.3};
    static const double rates[] = {1, 1, 0.5, 0.25, 0.1, 0};
    static const int64_t margins_us[] = {250000, 250000, 50000, 0, 1000000};
    static const int64_t deltas_us[] = {125000, 125000, 40000, 20000};
    *rules = (struct hs_moves_rules){
        .prevention =
            hs_random_chance(random, 0.6) ? HS_PREVENTION_RESOLUTION : HS_PREVENTION_CREDIT,
        .detection = hs_random_chance(random, 0.95),
        .max_margin_us = margins_us[hs_random_index(random, 5)],
        .min_margin_us = -margins_us[hs_random_index(random, 5)],
        .resolution_rate = rates[hs_random_index(random, 6)],
        .drift_allowance = drifts[hs_random_index(random, 6)],
        .force_corrections = hs_random_chance(random, 0.3),
        .max_delta_us = deltas_us[hs_random_index(random, 4)],
        .min_delta_us = hs_random_chance(random, 0.8) ? 1 : 2000,
        .reset_period_us = hs_random_chance(random, 0.5) ? 240000000 : 4000000};
}

static void random_client(struct client *client, struct hs_random *random)
{
    static const double speeds[] = {1, 1, 1.003, 1.05, 1.5, 2, 0.9};
    static const int64_t frames_us[] = {16667, 16667, 6944, 50000, 33333};
    client->clock_us = 1 + hs_random_index(random, 3000000);
    client->now_us = hs_random_index(random, 1000000000);
    client->speed = speeds[hs_random_index(random, 7)];
    client->frame_us = frames_us[hs_random_index(random, 5)];
    client->is_batched = hs_random_chance(random, 0.3);
    client->dilation = 1;
}

/* Returns the timestamp of the next move. It is mostly normal. */
static int64_t next_timestamp(struct client *client, const struct hs_moves_rules *rules)
{
    struct hs_random *random = &client->random;
    int64_t passed_us = client->frame_us + hs_random_index(random, 4000) - 2000;
    int kind = hs_random_index(random, 200);
    if (!client->is_batched || hs_random_chance(random, 0.3))
        client->now_us += client->is_batched ? 3 * passed_us : passed_us;
    if (kind == 0)
        client->now_us += hs_random_index(random, 2000000); /* a stall */
    else if (kind == 1)
        client->clock_us += hs_random_index(random, 700000);
    else if (kind == 2)
        client->clock_us -= hs_random_index(random, 100000);
    else if (kind == 3)
        client->dilation = (double)hs_random_index(random, 5) / 2;
    else if (kind == 4)
        client->speed = 0.8 + hs_random_unit(random);
    client->clock_us += llround((double)passed_us * client->speed * client->dilation);
    if (client->clock_us > rules->reset_period_us && kind % 2 == 0)
        client->clock_us -= rules->reset_period_us;
    int64_t ts = client->clock_us;
    if (kind == 5)
        ts -= hs_random_index(random, 50000); /* late */
    else if (kind == 6)
        ts -= hs_random_index(random, 3) * client->frame_us;
    else if (kind == 7)
        ts = hs_random_index(random, 300000000) - 20000000;
    else if (kind == 8)
        ts += rules->reset_period_us; /* a time before the last reset */
    return ts;
}

/* ---- comparison ---- */

static bool is_near(long double expected, double got)
{
    return fabsl(expected - (long double)got) <= 1e-6L * (1 + fabsl(expected) * 1e-6L);
}

static bool agrees(const struct model *m, const struct answer *answer,
                   const struct hs_compat *compat, enum hs_move_reason reason, bool force_update,
                   const struct hs_compat_result *result)
{
    return answer->reason == reason && answer->force_update == force_update &&
           answer->flagged == result->flagged && is_near(answer->delta, result->delta_us) &&
           m->resolving == compat->is_resolving && m->current == compat->current_us &&
           m->last_received == compat->arrived_us && m->last_reset == compat->reset_us &&
           m->server_stamp == compat->stamp_us && is_near(m->discrepancy, compat->ahead_us) &&
           is_near(m->lifetime_raw, compat->lifetime_us) &&
           is_near(m->accumulated_deltas, compat->gathered_us);
}

static void take_over(struct model *m, const struct hs_compat *compat)
{
    m->current = compat->current_us;
    m->last_received = compat->arrived_us;
    m->last_reset = compat->reset_us;
    m->server_stamp = compat->stamp_us;
    m->discrepancy = (long double)compat->ahead_us;
    m->lifetime_raw = (long double)compat->lifetime_us;
    m->accumulated_deltas = (long double)compat->gathered_us;
    m->resolution_override = (long double)compat->override_us;
    m->resolving = compat->is_resolving;
}

/* Counts how often each case occurs, because each must occur. */
static struct seen {
    unsigned long reasons[HS_MOVE_REASON_COUNT], moves, flags, resolving, forced, near;
} seen;

static void judge_one(struct model *m, struct hs_compat *compat, const struct hs_moves_rules *rules,
                      const struct hs_timing_move *step, unsigned long stream)
{
    struct hs_compat_result result = {0};
    bool force_update = false;
    /* One of the two numbers may be slightly above 0, and the other one not. */
    bool near_zero =
        fabsl(m->discrepancy) < 1e-3L && m->discrepancy != (long double)compat->ahead_us;
    enum hs_move_reason reason = hs_compat_examine(compat, rules, step);
    if (reason == HS_MOVE_OK || reason == HS_MOVE_RESET) {
        hs_compat_accept(compat, rules, reason, step, &result);
        force_update = result.force_update;
    } else {
        force_update = hs_compat_refuse(compat, reason, step);
    }
    struct answer answer =
        model_judge(m, rules, step->timestamp_us, step->received_us, step->dilation);
    seen.moves++;
    seen.reasons[reason]++;
    seen.flags += result.flagged;
    seen.forced += force_update;
    seen.resolving += compat->is_resolving;
    if (agrees(m, &answer, compat, reason, force_update, &result))
        return;
    ck_assert_msg(m->margin_gap < 1e-3L || near_zero,
                  "stream %lu, move at %lld received %lld: reason %d for %d, delta %.9f for %.9Lf, "
                  "ahead %.9f for %.9Lf, resolving %d for %d, flag %d for %d, force %d for %d",
                  stream, (long long)step->timestamp_us, (long long)step->received_us, (int)reason,
                  (int)answer.reason, result.delta_us, answer.delta, compat->ahead_us,
                  m->discrepancy, compat->is_resolving, m->resolving, result.flagged,
                  answer.flagged, force_update, answer.force_update);
    seen.near++;
    take_over(m, compat);
}

static void judge_stream(uint64_t seed, unsigned long stream)
{
    struct client client = {.random = hs_random_start(seed, stream)};
    struct hs_moves_rules rules;
    struct hs_compat compat = {0};
    struct model m = {0};
    random_rules(&client.random, &rules);
    random_client(&client, &client.random);
    struct hs_timing_move step = {
        .timestamp_us = client.clock_us, .received_us = client.now_us, .dilation = 1};
    hs_compat_begin(&compat, &rules, &step);
    take_over(&m, &compat);
    ck_assert_int_eq(m.current, client.clock_us);
    ck_assert_int_eq(m.server_stamp, client.now_us);
    for (int i = 0; i < MOVES; i++) {
        step.timestamp_us = next_timestamp(&client, &rules);
        step.received_us = client.now_us;
        step.dilation = client.dilation;
        judge_one(&m, &compat, &rules, &step, stream);
    }
}

START_TEST(the_check_follows_its_rules)
{
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    unsigned long streams = (unsigned long)hs_test_count("HS_PROPERTY_CASES", STREAMS);
    printf("compat oracle: seed %llu, %lu streams\n", (unsigned long long)seed, streams);
    seen = (struct seen){0};
    for (unsigned long i = 0; i < streams; i++)
        judge_stream(seed, i);
    printf("compat oracle: %lu moves, %lu flags, %lu resolving, %lu forced, %lu near a threshold\n",
           seen.moves, seen.flags, seen.resolving, seen.forced, seen.near);
    ck_assert_uint_le(seen.near, seen.moves / 1000);
    if (streams < 1000)
        return;
    for (int i = HS_MOVE_OK; i <= HS_MOVE_BAD_TIMESTAMP; i++)
        ck_assert_msg(seen.reasons[i] > 100, "%s: %lu", hs_move_reason_name((enum hs_move_reason)i),
                      seen.reasons[i]);
    ck_assert_uint_gt(seen.flags, seen.moves / 1000);
    ck_assert_uint_gt(seen.resolving, seen.moves / 100);
    ck_assert_uint_gt(seen.forced, 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compat_oracle");
    TCase *tcase = tcase_create("compat_oracle");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_check_follows_its_rules);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
