/* Replicas that share matches through a private redis-server: a match moves, a replica dies, two
   replicas claim the same match, and the store fails in every way. */
#include "service/system/packed.h"
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"
#include "tests/support/store/redis.h"

#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICAS = 3, PATIENCE_MS = 10000, SETTLE_MS = 700 };

#define STATE           "hs:v1:{/m}:state"
#define OWNER           "hs:v1:{/m}:own"
#define ACCEPTED        "\"verdict\":\"accepted\""
#define REPLAYED        "\"replayed\":true"
#define UNDURABLE       "\"durable\":false"
#define FORGOTTEN       "\"reason\":\"number_forgotten\""
#define RESTORED        "hindsight_match_takeovers_total{source=\"crashed\",result=\"restored\"}"
#define UNASKED(result) "hindsight_match_takeovers_total{source=\"none\",result=\"" result "\"}"
#define RELEASED        "hindsight_match_takeovers_total{source=\"released\",result=\"restored\"}"

static struct hs_test_redis redis;
static struct hs_test_kept replicas[REPLICAS], *const a = &replicas[0], *const b = &replicas[1];

static void setup(void)
{
    static const char *const options[] = {"--state-redis", redis.address,        "--state-take-ms",
                                          "3000",          "--state-payment-ms", "3000"};
    ck_assert(hs_test_redis_start(&redis, 0, NULL));
    for (size_t i = 0; i < REPLICAS; i++) {
        hs_kept_setup(&replicas[i]);
        memcpy(replicas[i].store, options, sizeof options);
    }
    hs_kept_start(a, NULL);
    hs_kept_start(b, NULL);
}

static void teardown(void)
{
    for (size_t i = 0; i < REPLICAS; i++)
        hs_kept_teardown(&replicas[i]);
    hs_test_redis_stop(&redis);
}

static void wait_for_metric(struct hs_test_kept *replica, const char *series, double value)
{
    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        if (hs_kept_metric(replica, series) == value)
            return;
        hs_test_pause_ms(10);
    }
    ck_abort_msg("%s is %g", series, hs_kept_metric(replica, series));
}

static bool store_has(const char *key)
{
    return strcmp(hs_test_redis_ask(&redis, "EXISTS %s", key), "1") == 0;
}

static void wait_for_state(void)
{
    for (int i = 0; i < PATIENCE_MS / 10 && !store_has(STATE); i++)
        hs_test_pause_ms(10);
    ck_assert(store_has(STATE));
}

static bool holds(struct hs_test_kept *replica, int shot, double time, const char *what)
{
    char *answer = hs_kept_hit(replica, "m", shot, time);
    bool found = strstr(answer, what) != NULL;
    free(answer);
    return found;
}

/* Claims a hit, which must be accepted. Repeats the claim until the store has the payment: on a
   busy machine the first answer may say that the payment is not durable yet. */
static void pay(struct hs_test_kept *replica, int shot, double time)
{
    ck_assert(holds(replica, shot, time, ACCEPTED));
    for (int i = 0; i < PATIENCE_MS / 10 && holds(replica, shot, time, UNDURABLE); i++)
        hs_test_pause_ms(10);
    ck_assert(!holds(replica, shot, time, UNDURABLE));
}

/* Claims a hit, and returns the status; the caller frees the answer. */
static long send_claim(struct hs_test_kept *replica, int shot, double time, char **answer)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.2f,"
             "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
             time + 0.05, shot, time);
    return hs_kept_send(replica, "POST", "/v1/matches/m/hits", body, answer);
}

/* Claims a hit, and returns the status and the code of the problem. */
static long claim(struct hs_test_kept *replica, int shot, double time, char code[64])
{
    char *answer;
    long status = send_claim(replica, shot, time, &answer);
    json_t *json = json_loads(answer, 0, NULL);
    const char *found = json_string_value(json_object_get(json, "code"));
    snprintf(code, 64, "%s", found != NULL ? found : "");
    json_decref(json);
    free(answer);
    return status;
}

/* ---- a match moves ---- */

static const struct {
    void (*end)(struct hs_test_kept *);
    const char *series, *late_time, *late_credit;
} ends[] = {
    /* The replica may have granted time after its last state, so the time since is not granted. */
    {hs_kept_kill, RESTORED, "\"delta_time\":0,", "\"credit\":0,"},
    {hs_kept_stop, RELEASED, "\"delta_time\":0.125,", "\"credit\":0.225,"},
};

START_TEST(another_replica_goes_on)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    char *hit = hs_kept_hit(a, "m", 1, 11), *moves = hs_kept_fast_moves(a);
    hs_kept_holds(strdup(hit), ACCEPTED);
    hs_kept_holds(strdup(moves), "\"credit\":0,");
    hs_test_pause_ms(SETTLE_MS);
    ends[_i].end(a);
    hs_kept_mark_replayed(moves);
    char *hit_again = hs_kept_hit(b, "m", 1, 11), *moves_again = hs_kept_fast_moves(b);
    ck_assert_str_eq(hit_again, hit);
    ck_assert_str_eq(moves_again, moves);
    wait_for_metric(b, ends[_i].series, 1);
    /* There are no poses yet, so a new claim is neither accepted nor rejected. */
    ck_assert(holds(b, 2, 11.2, "\"verdict\":\"inconclusive\""));
    char *late = hs_kept_late_move(b);
    hs_kept_holds(strdup(late), ends[_i].late_time);
    hs_kept_holds(late, ends[_i].late_credit);
    hs_kept_holds(hs_kept_post(b, "/v1/matches/m/frames",
                               "{\"frames\":[{\"time\":14,\"players\":[{\"player\":\"s\","
                               "\"position\":[0,0,0]}]}]}"),
                  "\"need\":\"resync\"");
    hs_kept_frames(b, "m", 14.05);
    pay(b, 3, 15);
    free(hit);
    free(moves);
    free(hit_again);
    free(moves_again);
}
END_TEST

/* The balancer sends a match to another replica while its owner still drains. The owner has written
   every move before its answer, so the time since the last move is granted. */
START_TEST(a_draining_replica_hands_over)
{
    hs_kept_stop(a);
    hs_kept_start_with(a, "--drain-wait-seconds", "60");
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    kill(a->service.pid, SIGTERM);
    wait_for_metric(a, "hindsight_draining", 1);
    char *moves = hs_kept_fast_moves(a);
    hs_kept_holds(strdup(moves), "\"credit\":0,");
    hs_kept_mark_replayed(moves);
    char *moves_again = hs_kept_fast_moves(b);
    ck_assert_str_eq(moves_again, moves);
    char *late = hs_kept_late_move(b);
    hs_kept_holds(strdup(late), ends[1].late_time);
    hs_kept_holds(late, ends[1].late_credit);
    ck_assert_double_eq(hs_kept_metric(b, RELEASED), 1);
    ck_assert(holds(b, 1, 11, REPLAYED));
    free(moves);
    free(moves_again);
}
END_TEST

/* The journal has what was paid after the last state. */
START_TEST(payments_survive_at_once)
{
    hs_kept_frames(a, "m", 10);
    hs_test_pause_ms(SETTLE_MS);
    for (int i = 0; i < 4; i++)
        pay(a, i, 10.4 + 0.15 * i);
    hs_kept_kill(a);
    for (int i = 0; i < 4; i++)
        ck_assert(holds(b, i, 10.4 + 0.15 * i, REPLAYED));
}
END_TEST

/* Even the first payment survives, although no state was written at its time. */
START_TEST(the_first_payment_survives)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    hs_kept_kill(a);
    ck_assert(holds(b, 1, 11, REPLAYED));
}
END_TEST

START_TEST(an_ended_match_does_not_come_back)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    for (int i = 0; i < PATIENCE_MS / 10 && store_has(STATE); i++)
        hs_test_pause_ms(10);
    hs_kept_frames(b, "m", 10);
    ck_assert(holds(b, 1, 11, "\"replayed\":false"));
}
END_TEST

/* The replica has restored the match from its checkpoint, but the store has a newer state. */
START_TEST(the_store_is_newer_than_a_checkpoint)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.9);
    hs_kept_stop(a);
    hs_kept_frames(b, "m", 12);
    pay(b, 2, 12.9);
    hs_kept_start(a, NULL);
    ck_assert_double_eq(hs_kept_metric(a, HS_KEPT_RESTORED), 1);
    ck_assert(holds(a, 1, 10.9, REPLAYED));
    ck_assert(holds(a, 2, 12.9, REPLAYED));
}
END_TEST

/* The store has forgotten the match, and does not send the names of rulesets at first. The copy
   from the checkpoint waits for them, and keeps its payments. */
START_TEST(a_copy_waits_for_rulesets)
{
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/rulesets/house", "{}"), 201);
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.9);
    hs_kept_stop(a);
    hs_test_redis_ask(&redis, "DEL %s %s", STATE, OWNER);
    hs_test_redis_ask(&redis, "ACL SETUSER default -hgetall");
    hs_kept_start(a, NULL);
    ck_assert_double_eq(hs_kept_metric(a, HS_KEPT_RESTORED), 1);
    char code[64];
    ck_assert_int_eq(claim(a, 1, 10.9, code), 503);
    hs_test_redis_ask(&redis, "ACL SETUSER default +hgetall");
    long status = 503;
    for (int i = 0; i < PATIENCE_MS / 10 && status == 503; i++) {
        status = claim(a, 1, 10.9, code);
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(status, 200);
    hs_test_pause_ms(SETTLE_MS); /* the store would refuse the writes of a former owner */
    ck_assert(holds(a, 1, 10.9, REPLAYED));
}
END_TEST

/* While one tenant uses a name, no other tenant can use it on any replica. */
START_TEST(a_name_belongs_to_one_tenant)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "z", .scopes = "\"admin\"", .secret_seed = 2}};
    const char *const headers[2][2] = {{tokens[0].header}, {tokens[1].header}};
    char file[96];
    snprintf(file, sizeof file, "%s/tokens", a->directory);
    hs_test_tokens_write(file, tokens, 2);
    for (int i = 0; i < 2; i++) {
        hs_kept_stop(&replicas[i]);
        hs_kept_start_with(&replicas[i], "--token-file", file);
        replicas[i].headers = headers[i];
    }
    /* A request that opens no match does not use the name. */
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{\"ruleset\":\"none\"}"), 422);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", "{}"), 201);
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{}"), 403);
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{}"), 403);
    ck_assert(holds(a, 1, 11, REPLAYED));
    b->headers = headers[0]; /* the owner can use every replica */
    ck_assert(holds(b, 1, 11, REPLAYED));
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/matches/m", NULL), 200);
    a->headers = headers[1];
    long status = 403; /* until a has dropped its copy */
    for (int i = 0; i < PATIENCE_MS / 10 && status == 403; i++) {
        status = hs_kept_status(a, "PUT", "/v1/matches/m", "{}");
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(status, 201);
}
END_TEST

/* ---- two replicas claim a match ---- */

START_TEST(a_split_brain_has_one_owner)
{
    char code[64];
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.9);
    ck_assert(holds(b, 1, 10.9, REPLAYED));
    hs_kept_frames(b, "m", 12);
    pay(b, 2, 12.9);
    /* After this pause the state of b is written, so b does not write again and does not notice
       that it loses the match.
     */
    hs_test_pause_ms(SETTLE_MS);
    /* Replica a does not know of shot 2, and has no history for it. If a pays it all the same, the
       store refuses the payment, because a has an old epoch. */
    int accepted = 0, moved = 0;
    hs_kept_frames(a, "m", 12);
    for (int i = 0; i < 10; i++) {
        long status = claim(a, 2, 12.9, code);
        accepted += status == 200;
        moved += status == 409 && strcmp(code, "match_moved") == 0;
    }
    ck_assert_int_le(moved, 1);
    ck_assert_int_eq(accepted + moved, 10);
    /* After a takeover, the new owner repeats the answer to the payment of the former owner. */
    ck_assert(holds(a, 2, 12.9, REPLAYED));
    ck_assert_str_eq(hs_test_redis_ask(&redis, "HGET %s epoch", OWNER), "3");
    wait_for_metric(b, "hindsight_matches_moved_total", 0);
    /* Now replica b is refused. But on a busy machine a second may have passed since b wrote last:
       then b first asks the store, drops its copy, and takes the match over. */
    long status = claim(b, 3, 13.05, code);
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_matches_moved_total"), 1);
    if (status == 200)
        return;
    ck_assert_int_eq(status, 409);
    ck_assert_str_eq(code, "match_moved");
    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        if (hs_kept_status(b, "GET", "/v1/matches/m", NULL) == 404)
            break;
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(hs_kept_status(b, "GET", "/v1/matches/m", NULL), 404);
}
END_TEST

/* Each shot is sent to all replicas, again and again. The first that accepts it pays it, and no
   other one does. */
START_TEST(nothing_is_paid_twice)
{
    int paid[8] = {0};
    char code[64];
    hs_kept_start(&replicas[2], NULL);
    hs_kept_frames(a, "m", 10);
    for (int round = 0; round < 3; round++)
        for (int shot = 0; shot < 4; shot++)
            for (int i = 0; i < REPLICAS; i++) {
                char *answer;
                if (send_claim(&replicas[i], shot, 10.4 + 0.15 * shot, &answer) == 200 &&
                    strstr(answer, ACCEPTED) != NULL && strstr(answer, REPLAYED) == NULL)
                    paid[shot]++;
                free(answer);
                (void)claim(&replicas[(i + 1) % REPLICAS], 100 + shot, 9, code);
            }
    for (int shot = 0; shot < 4; shot++)
        ck_assert_int_le(paid[shot], 1);
    ck_assert_int_eq(paid[0], 1);
}
END_TEST

/* ---- the store fails ---- */

static void expect_all_again(void)
{
    wait_for_metric(a, "hindsight_store_up", 1);
    wait_for_state();
    for (int i = 0; i < PATIENCE_MS / 10 && holds(a, 2, 10.8, UNDURABLE); i++)
        hs_test_pause_ms(10);
    ck_assert(!holds(a, 2, 10.8, UNDURABLE));
    hs_kept_kill(a);
    for (int shot = 1; shot <= 3; shot++)
        ck_assert(holds(b, shot, 10.4 + 0.2 * shot, REPLAYED));
}

static void stop_store(void)
{
    hs_test_redis_stop(&redis);
}

static void start_store(void)
{
    ck_assert(hs_test_redis_start(&redis, redis.port, NULL));
}

static void hang_store(void)
{
    kill(redis.pid, SIGSTOP);
}

static void wake_store(void)
{
    kill(redis.pid, SIGCONT);
}

static const struct {
    void (*begin)(void), (*end)(void);
} failures[] = {{stop_store, start_store}, {hang_store, wake_store}};

START_TEST(verdicts_go_on_without_the_store)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.6);
    failures[_i].begin();
    wait_for_metric(a, "hindsight_store_up", 0);
    wait_for_metric(b, "hindsight_store_up", 0);
    double began = hs_test_seconds();
    char *answer = hs_kept_hit(a, "m", 2, 10.8);
    ck_assert_double_lt(hs_test_seconds() - began, 1);
    hs_kept_holds(strdup(answer), ACCEPTED);
    hs_kept_holds(answer, UNDURABLE);
    ck_assert(holds(a, 3, 11, ACCEPTED));
    ck_assert_double_ge(hs_kept_metric(a, "hindsight_answers_not_durable_total"), 2);
    /* Another match opens as if there were no store. */
    hs_kept_frames(b, "other", 10);
    char *other = hs_kept_hit(b, "other", 1, 11);
    hs_kept_holds(other, ACCEPTED);
    /* One of the two links may still wait for its last command. */
    ck_assert_double_ge(hs_kept_metric(b, UNASKED("down")) + hs_kept_metric(b, UNASKED("late")), 1);
    failures[_i].end();
    expect_all_again();
    other = hs_kept_hit(b, "other", 1, 11);
    hs_kept_holds(other, REPLAYED);
}
END_TEST

START_TEST(a_flushed_store_is_filled_again)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.6);
    hs_test_pause_ms(SETTLE_MS);
    hs_test_redis_ask(&redis, "FLUSHALL");
    pay(a, 2, 10.8);
    pay(a, 3, 11);
    expect_all_again();
    ck_assert_str_eq(hs_test_redis_ask(&redis, "HGET %s epoch", OWNER), "2");
}
END_TEST

/* The store loses its data, and the match moves before its owner writes it again. The new owner
   cannot know what was paid before, so it pays no shot of that time. Its own payments stay. */
START_TEST(a_match_moves_out_of_a_flushed_store)
{
    hs_kept_frames(a, "m", 10);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    hs_kept_frames(a, "m", 10); /* a higher epoch than that of the next owner */
    pay(a, 1, 10.9);
    hs_test_pause_ms(SETTLE_MS);
    hs_test_redis_ask(&redis, "FLUSHALL");
    hs_kept_frames(b, "m", 10.5);
    ck_assert(holds(b, 1, 10.9, FORGOTTEN));
    hs_kept_frames(b, "m", 11.55);
    pay(b, 2, 12.4);
    wait_for_metric(a, "hindsight_matches_moved_total", 1);
    ck_assert(holds(a, 2, 12.4, REPLAYED));
}
END_TEST

/* A replica has an older copy of the match when the store loses its data, and the owner dies. */
START_TEST(an_older_copy_pays_nothing_after_a_flush)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 10.9);
    hs_test_pause_ms(SETTLE_MS); /* a has nothing more to write, so it keeps its copy */
    hs_kept_frames(b, "m", 12);
    pay(b, 2, 12.5);
    hs_kept_kill(b);
    hs_test_pause_ms(1100); /* a is not sure any more that it is the owner */
    hs_test_redis_ask(&redis, "FLUSHALL");
    if (_i == 1) /* a writes its copy again before it gets a request */
        wait_for_state();
    hs_kept_frames(a, "m", 12);
    ck_assert(holds(a, 2, 12.5, FORGOTTEN));
    ck_assert(holds(a, 1, 10.9, REPLAYED));
    hs_kept_frames(a, "m", 13.05);
    pay(a, 3, 13.95);
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
    pay(a, 1, 11);
    hs_test_pause_ms(SETTLE_MS);
    hs_kept_kill(a);
    struct hs_bytes packed = {0};
    ck_assert(hs_pack(faults[_i].bytes, strlen(faults[_i].bytes), &packed));
    if (faults[_i].is_packed)
        hs_test_redis_set(&redis, STATE, packed.data, packed.len);
    else
        hs_test_redis_set(&redis, STATE, faults[_i].bytes, strlen(faults[_i].bytes));
    free(packed.data);
    hs_kept_frames(b, "m", 10);
    ck_assert(holds(b, 1, 11, "\"replayed\":false"));
    snprintf(series, sizeof series,
             "hindsight_match_takeovers_total{source=\"crashed\",result=\"%s\"}",
             faults[_i].result);
    ck_assert_double_eq(hs_kept_metric(b, series), 1);
    wait_for_state();
}
END_TEST

/* A replica answers for a match only with the ruleset that the match has. */
START_TEST(an_unknown_ruleset_is_waited_for)
{
    static const char rules[] = "{\"name\":\"house\"}";
    hs_kept_stop(a);
    hs_kept_write_rules(a, "house", rules);
    hs_kept_start_with(a, "--rules", a->rules);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", "{\"ruleset\":\"house\"}"), 201);
    hs_kept_stop(a);
    char all[4096];
    snprintf(all, sizeof all, "%s", hs_test_redis_ask(&redis, "KEYS hs:v1:{catalog}:ruleset/*"));
    hs_test_redis_ask(&redis, "DEL %s", all);
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
    ck_assert_double_eq(hs_kept_metric(b, RELEASED), 1);
}
END_TEST

/* The match ends while the store is away, and comes back neither here nor on another replica. */
START_TEST(an_end_is_sent_again)
{
    hs_kept_frames(a, "m", 10);
    pay(a, 1, 11);
    hang_store();
    wait_for_metric(a, "hindsight_store_up", 0);
    wait_for_metric(b, "hindsight_store_up", 0);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    wake_store();
    for (int i = 0; i < PATIENCE_MS / 10 && store_has(STATE); i++)
        hs_test_pause_ms(10);
    ck_assert(!store_has(STATE));
    wait_for_metric(&replicas[_i], "hindsight_store_up", 1);
    hs_kept_frames(&replicas[_i], "m", 10);
    ck_assert(holds(&replicas[_i], 1, 11, "\"replayed\":false"));
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
    pay(a, 1, 11);
    hs_kept_stop(a);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(claim(b, 1, 11, code), 503);
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_match_takeovers_total{source=\"released\","
                                          "result=\"no_room\"}"),
                        3);
    hs_kept_start(a, NULL);
    ck_assert(holds(a, 1, 11, REPLAYED));
    ck_assert_double_eq(hs_kept_metric(a, RELEASED), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared_matches");
    TCase *tests = tcase_create("replicas");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_loop_test(tests, another_replica_goes_on, 0, (int)(sizeof ends / sizeof ends[0]));
        tcase_add_test(tests, a_draining_replica_hands_over);
        tcase_add_test(tests, payments_survive_at_once);
        tcase_add_test(tests, the_first_payment_survives);
        tcase_add_test(tests, an_ended_match_does_not_come_back);
        tcase_add_test(tests, the_store_is_newer_than_a_checkpoint);
        tcase_add_test(tests, a_copy_waits_for_rulesets);
        tcase_add_test(tests, a_name_belongs_to_one_tenant);
        tcase_add_test(tests, a_split_brain_has_one_owner);
        tcase_add_test(tests, nothing_is_paid_twice);
        tcase_add_loop_test(tests, verdicts_go_on_without_the_store, 0,
                            (int)(sizeof failures / sizeof failures[0]));
        tcase_add_test(tests, a_flushed_store_is_filled_again);
        tcase_add_test(tests, a_match_moves_out_of_a_flushed_store);
        tcase_add_loop_test(tests, an_older_copy_pays_nothing_after_a_flush, 0, 2);
        tcase_add_loop_test(tests, unusable_states_start_an_empty_match, 0,
                            (int)(sizeof faults / sizeof faults[0]));
        tcase_add_test(tests, an_unknown_ruleset_is_waited_for);
        tcase_add_loop_test(tests, an_end_is_sent_again, 0, 2);
        tcase_add_test(tests, a_match_without_memory_is_not_emptied);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
