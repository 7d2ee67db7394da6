/* Replicas that share matches: the store fails in every way, or a match cannot be taken over. */
#include "service/system/packed.h"
#include "tests/integration/shared_pair.h"
#include "tests/support/clock.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNASKED(result) "hindsight_match_takeovers_total{source=\"none\",result=\"" result "\"}"
#define HOUSE           "{\"ruleset\":\"house\"}"

static struct hs_test_kept *const a = &hs_pair[0], *const b = &hs_pair[1];

/* ---- the store fails ---- */

static void expect_all_again(void)
{
    hs_pair_wait(a, "hindsight_store_up", 1);
    hs_pair_wait_for_state();
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && hs_pair_holds(a, 2, 10.8, HS_PAIR_UNDURABLE);
         i++)
        hs_test_pause_ms(10);
    ck_assert(!hs_pair_holds(a, 2, 10.8, HS_PAIR_UNDURABLE));
    hs_kept_kill(a);
    for (int shot = 1; shot <= 3; shot++)
        ck_assert(hs_pair_holds(b, shot, 10.4 + 0.2 * shot, HS_PAIR_REPLAYED));
}

static void stop_store(void)
{
    hs_test_redis_stop(&hs_pair_redis);
}

static void start_store(void)
{
    ck_assert(hs_test_redis_start(&hs_pair_redis, hs_pair_redis.port, NULL));
}

static void hang_store(void)
{
    kill(hs_pair_redis.pid, SIGSTOP);
}

static void wake_store(void)
{
    kill(hs_pair_redis.pid, SIGCONT);
}

static const struct {
    void (*begin)(void), (*end)(void);
} failures[] = {{stop_store, start_store}, {hang_store, wake_store}};

START_TEST(verdicts_go_on_without_the_store)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.6);
    failures[_i].begin();
    hs_pair_wait(a, "hindsight_store_up", 0);
    hs_pair_wait(b, "hindsight_store_up", 0);
    double began = hs_test_seconds();
    char *answer = hs_kept_hit(a, "m", 2, 10.8);
    ck_assert_double_lt(hs_test_seconds() - began, 1);
    hs_kept_holds(strdup(answer), HS_PAIR_ACCEPTED);
    hs_kept_holds(answer, HS_PAIR_UNDURABLE);
    ck_assert(hs_pair_holds(a, 3, 11, HS_PAIR_ACCEPTED));
    ck_assert_double_ge(hs_kept_metric(a, "hindsight_answers_not_durable_total"), 2);
    /* Another match opens, too. For one window, another replica may have paid its shots. */
    hs_kept_frames(b, "other", 10);
    hs_kept_holds(hs_kept_hit(b, "other", 0, 11), HS_PAIR_FORGOTTEN);
    hs_kept_frames(b, "other", 11.05);
    char *other = hs_kept_hit(b, "other", 1, 12);
    hs_kept_holds(other, HS_PAIR_ACCEPTED);
    /* One of the two links may still wait for its last command. */
    ck_assert_double_ge(hs_kept_metric(b, UNASKED("down")) + hs_kept_metric(b, UNASKED("late")), 1);
    failures[_i].end();
    expect_all_again();
    other = hs_kept_hit(b, "other", 1, 12);
    hs_kept_holds(other, HS_PAIR_REPLAYED);
}
END_TEST

/* A match ended, and its name is used again while the store hangs. The new match keeps its payments
   when the store answers again. */
START_TEST(a_name_is_used_again_without_the_store)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && hs_pair_has(HS_PAIR_STATE); i++)
        hs_test_pause_ms(10);
    hang_store();
    hs_pair_wait(a, "hindsight_store_up", 0);
    hs_kept_frames(a, "m", 10);
    hs_kept_frames(a, "m", 11.05); /* in the first window, shots are not paid */
    ck_assert(hs_pair_holds(a, 1, 12, HS_PAIR_ACCEPTED));
    wake_store();
    hs_pair_wait(a, "hindsight_store_up", 1);
    hs_pair_wait_for_state();
    hs_kept_frames(a, "m", 12.1);
    ck_assert(hs_pair_holds(a, 1, 12, HS_PAIR_REPLAYED));
}
END_TEST

static void post_shot(struct hs_test_kept *replica, int shot, double time)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"shots\":[{\"shot\":%d,\"shooter\":\"s\",\"time\":%.2f,"
             "\"origin\":[0,0,160],\"direction\":[1,0,0]}]}",
             time + 0.05, shot, time);
    hs_kept_holds(hs_kept_post(replica, "/v1/matches/m/shots", body), HS_PAIR_ACCEPTED);
}

/* The store is away, so the match starts empty on another replica, which does not know the posted
   shots. For one window it neither rejects their hits nor pays them. */
START_TEST(posted_shots_are_unknown_while_the_store_is_away)
{
    static const char rules[] = "{\"hit\":{\"require_shot\":true}}", match[] = HOUSE;
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/rulesets/house", rules), 201);
    free(hs_kept_get(b, "/v1/rulesets/house")); /* b has it now, too */
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", match), 201);
    hs_kept_frames(a, "m", 10);
    post_shot(a, 1, 10.8);
    stop_store();
    hs_pair_wait(b, "hindsight_store_up", 0);
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", match), 201);
    hs_kept_frames(b, "m", 10);
    ck_assert(hs_pair_holds(b, 1, 10.8, HS_PAIR_FORGOTTEN));
    hs_kept_frames(b, "m", 11.05);
    ck_assert(hs_pair_holds(b, 3, 12, "\"reason\":\"no_matching_shot\""));
    post_shot(b, 2, 12);
    ck_assert(hs_pair_holds(b, 2, 12, HS_PAIR_ACCEPTED));
}
END_TEST

START_TEST(a_flushed_store_is_filled_again)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.6);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    hs_test_redis_ask(&hs_pair_redis, "FLUSHALL");
    hs_pair_pay(a, 2, 10.8);
    hs_pair_pay(a, 3, 11);
    expect_all_again();
    ck_assert_str_eq(hs_test_redis_ask(&hs_pair_redis, "HGET %s epoch", HS_PAIR_OWNER), "2");
}
END_TEST

/* The store loses its data, and the match moves before its owner writes it again. The new owner
   cannot know what was paid before, so it pays no shot of that time. Its own payments stay. */
START_TEST(a_match_moves_out_of_a_flushed_store)
{
    hs_kept_frames(a, "m", 10);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    hs_kept_frames(a, "m", 10); /* a higher epoch than that of the next owner */
    hs_pair_pay(a, 1, 10.9);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    hs_test_redis_ask(&hs_pair_redis, "FLUSHALL");
    hs_kept_frames(b, "m", 10.5);
    ck_assert(hs_pair_holds(b, 1, 10.9, HS_PAIR_FORGOTTEN));
    hs_kept_frames(b, "m", 11.55);
    hs_pair_pay(b, 2, 12.4);
    hs_pair_wait(a, "hindsight_matches_moved_total", 1);
    ck_assert(hs_pair_holds(a, 2, 12.4, HS_PAIR_REPLAYED));
}
END_TEST

/* A replica has an older copy of the match when the store loses its data, and the owner dies. */
START_TEST(an_older_copy_pays_nothing_after_a_flush)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.9);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS); /* a has nothing more to write, so it keeps its copy */
    hs_kept_frames(b, "m", 12);
    hs_pair_pay(b, 2, 12.5);
    hs_kept_kill(b);
    hs_test_pause_ms(1100); /* a is not sure any more that it is the owner */
    hs_test_redis_ask(&hs_pair_redis, "FLUSHALL");
    if (_i == 1) /* a writes its copy again before it gets a request */
        hs_pair_wait_for_state();
    hs_kept_frames(a, "m", 12);
    ck_assert(hs_pair_holds(a, 2, 12.5, HS_PAIR_FORGOTTEN));
    ck_assert(hs_pair_holds(a, 1, 10.9, HS_PAIR_REPLAYED));
    hs_kept_frames(a, "m", 13.05);
    hs_pair_pay(a, 3, 13.95);
}
END_TEST

/* ---- states that cannot be used ---- */

static const struct {
    const char *bytes, *result;
    bool is_packed;
} faults[] = {
    {"HSCHKPT\x7f", "other_version", true},
    {"HSCHKPT", "damaged", true},
    {"HSCHKPT\x7f", "damaged", false},
};

START_TEST(unusable_states_start_an_empty_match)
{
    char series[128];
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    hs_kept_kill(a);
    struct hs_bytes packed = {0};
    ck_assert(hs_pack(faults[_i].bytes, strlen(faults[_i].bytes), &packed));
    if (faults[_i].is_packed)
        hs_test_redis_set(&hs_pair_redis, HS_PAIR_STATE, packed.data, packed.len);
    else
        hs_test_redis_set(&hs_pair_redis, HS_PAIR_STATE, faults[_i].bytes,
                          strlen(faults[_i].bytes));
    free(packed.data);
    hs_kept_frames(b, "m", 10);
    ck_assert(hs_pair_holds(b, 1, 11, HS_PAIR_FORGOTTEN)); /* the state may have its payment */
    snprintf(series, sizeof series,
             "hindsight_match_takeovers_total{source=\"unreleased\",result=\"%s\"}",
             faults[_i].result);
    ck_assert_double_eq(hs_kept_metric(b, series), 1);
    hs_pair_wait_for_state();
}
END_TEST

/* A record of payments cannot be read, so some shots may be paid already. */
START_TEST(a_damaged_journal_pays_no_shot_again)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.9);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    hs_kept_kill(a);
    const char *epoch = hs_test_redis_ask(&hs_pair_redis, "HGET %s epoch", HS_PAIR_OWNER);
    ck_assert_str_eq(epoch, "1");
    hs_test_redis_ask(&hs_pair_redis, "ZADD hs:v1:{/m}:journal %llu damaged", (1ULL << 32) + 99);
    hs_kept_frames(b, "m", 10);
    ck_assert(hs_pair_holds(b, 1, 10.9, HS_PAIR_REPLAYED));
    ck_assert(hs_pair_holds(b, 2, 11, HS_PAIR_FORGOTTEN));
}
END_TEST

/* A replica answers for a match only with the ruleset that the match has. */
START_TEST(an_unknown_ruleset_is_waited_for)
{
    static const char rules[] = "{\"name\":\"house\"}";
    hs_kept_stop(a);
    hs_kept_write_rules(a, "house", rules);
    hs_kept_start_with(a, "--rules", a->rules);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", HOUSE), 201);
    hs_kept_stop(a);
    char all[4096];
    snprintf(all, sizeof all, "%s",
             hs_test_redis_ask(&hs_pair_redis, "KEYS hs:v1:{catalog}:ruleset/*"));
    hs_test_redis_ask(&hs_pair_redis, "DEL %s", all);
    static const char frames[] = "{\"frames\":[{\"time\":14,\"players\":[]}]}";
    ck_assert_int_eq(hs_kept_status(b, "POST", "/v1/matches/m/frames", frames), 503);
    ck_assert_int_eq(hs_kept_status(b, "GET", "/v1/matches/m", NULL), 404);
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_match_takeovers_total{source=\"released\","
                                          "result=\"unknown_revision\"}"),
                        1);
    hs_kept_write_rules(b, "house", rules);
    hs_kept_stop(b);
    hs_kept_start_with(b, "--rules", b->rules);
    ck_assert_int_eq(hs_kept_status(b, "POST", "/v1/matches/m/frames", frames), 200);
    hs_kept_holds(hs_kept_get(b, "/v1/matches/m"), "\"ruleset\":\"house\"");
    ck_assert_double_eq(hs_kept_metric(b, HS_PAIR_RELEASED), 1);
}
END_TEST

/* The match ends while the store is away, and comes back neither here nor on another replica. */
START_TEST(an_end_is_sent_again)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    hang_store();
    hs_pair_wait(a, "hindsight_store_up", 0);
    hs_pair_wait(b, "hindsight_store_up", 0);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    wake_store();
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && hs_pair_has(HS_PAIR_STATE); i++)
        hs_test_pause_ms(10);
    ck_assert(!hs_pair_has(HS_PAIR_STATE));
    hs_pair_wait(&hs_pair[_i], "hindsight_store_up", 1);
    hs_kept_frames(&hs_pair[_i], "m", 10);
    ck_assert(hs_pair_holds(&hs_pair[_i], 1, 11, "\"replayed\":false"));
}
END_TEST

/* An empty match would pay again what was paid, and its state would replace the one in the store.
 */
START_TEST(a_match_without_memory_is_not_emptied)
{
    char code[64];
    hs_kept_stop(b);
    hs_kept_start_with(b, "--match-bytes", "65536");
    hs_kept_frames(a, "m", 10);
    for (int i = 0; i < 40; i++) { /* the state grows with its players */
        char body[256];
        snprintf(body, sizeof body,
                 "{\"frames\":[{\"time\":11.1,\"players\":[{\"player\":\"more-%d\","
                 "\"position\":[0,900,0]}]}]}",
                 i);
        free(hs_kept_post(a, "/v1/matches/m/frames", body));
    }
    hs_pair_pay(a, 1, 11);
    hs_kept_stop(a);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(hs_pair_claim(b, 1, 11, code), 503);
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_match_takeovers_total{source=\"released\","
                                          "result=\"no_room\"}"),
                        3);
    hs_kept_start(a, NULL);
    ck_assert(hs_pair_holds(a, 1, 11, HS_PAIR_REPLAYED));
    ck_assert_double_eq(hs_kept_metric(a, HS_PAIR_RELEASED), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared_failures");
    TCase *tests = tcase_create("replicas");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, hs_pair_setup, hs_pair_teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_loop_test(tests, verdicts_go_on_without_the_store, 0,
                            (int)(sizeof failures / sizeof failures[0]));
        tcase_add_test(tests, a_name_is_used_again_without_the_store);
        tcase_add_test(tests, posted_shots_are_unknown_while_the_store_is_away);
        tcase_add_test(tests, a_flushed_store_is_filled_again);
        tcase_add_test(tests, a_match_moves_out_of_a_flushed_store);
        tcase_add_loop_test(tests, an_older_copy_pays_nothing_after_a_flush, 0, 2);
        tcase_add_loop_test(tests, unusable_states_start_an_empty_match, 0,
                            (int)(sizeof faults / sizeof faults[0]));
        tcase_add_test(tests, a_damaged_journal_pays_no_shot_again);
        tcase_add_test(tests, an_unknown_ruleset_is_waited_for);
        tcase_add_loop_test(tests, an_end_is_sent_again, 0, 2);
        tcase_add_test(tests, a_match_without_memory_is_not_emptied);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
