/* Replicas that share matches: a match moves, a replica dies, and two replicas claim a match. */
#include "tests/integration/shared_pair.h"
#include "tests/support/clock.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESTORED "hindsight_match_takeovers_total{source=\"unreleased\",result=\"restored\"}"

static struct hs_test_kept *const a = &hs_pair[0], *const b = &hs_pair[1];

/* ---- a match moves ---- */

static const struct {
    void (*end)(struct hs_test_kept *);
    const char *series, *late_time, *late_credit;
} ends[] = {
    /* The replica may have granted time after its last state, so the time since is not granted. */
    {hs_kept_kill, RESTORED, "\"delta_time\":0,", "\"credit\":0,"},
    {hs_kept_stop, HS_PAIR_RELEASED, "\"delta_time\":0.125,", "\"credit\":0.225,"},
};

START_TEST(another_replica_goes_on)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    char *hit = hs_kept_hit(a, "m", 1, 11), *moves = hs_kept_fast_moves(a);
    hs_kept_holds(strdup(hit), HS_PAIR_ACCEPTED);
    hs_kept_holds(strdup(moves), "\"credit\":0,");
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    ends[_i].end(a);
    hs_kept_mark_replayed(moves);
    char *hit_again = hs_kept_hit(b, "m", 1, 11), *moves_again = hs_kept_fast_moves(b);
    ck_assert_str_eq(hit_again, hit);
    ck_assert_str_eq(moves_again, moves);
    hs_pair_wait(b, ends[_i].series, 1);
    /* There are no poses yet, so a new claim is neither accepted nor rejected. */
    ck_assert(hs_pair_holds(b, 2, 11.2, "\"verdict\":\"inconclusive\""));
    char *late = hs_kept_late_move(b);
    hs_kept_holds(strdup(late), ends[_i].late_time);
    hs_kept_holds(late, ends[_i].late_credit);
    hs_kept_holds(hs_kept_post(b, "/v1/matches/m/frames",
                               "{\"frames\":[{\"time\":14,\"players\":[{\"player\":\"s\","
                               "\"position\":[0,0,0]}]}]}"),
                  "\"need\":\"resync\"");
    hs_kept_frames(b, "m", 14.05);
    hs_pair_pay(b, 3, 15);
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
    hs_pair_pay(a, 1, 11);
    kill(a->service.pid, SIGTERM);
    hs_pair_wait(a, "hindsight_draining", 1);
    char *moves = hs_kept_fast_moves(a);
    hs_kept_holds(strdup(moves), "\"credit\":0,");
    hs_kept_mark_replayed(moves);
    char *moves_again = hs_kept_fast_moves(b);
    ck_assert_str_eq(moves_again, moves);
    char *late = hs_kept_late_move(b);
    hs_kept_holds(strdup(late), ends[1].late_time);
    hs_kept_holds(late, ends[1].late_credit);
    ck_assert_double_eq(hs_kept_metric(b, HS_PAIR_RELEASED), 1);
    ck_assert(hs_pair_holds(b, 1, 11, HS_PAIR_REPLAYED));
    free(moves);
    free(moves_again);
}
END_TEST

/* The journal has what was paid after the last state. */
START_TEST(payments_survive_at_once)
{
    hs_kept_frames(a, "m", 10);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    for (int i = 0; i < 4; i++)
        hs_pair_pay(a, i, 10.4 + 0.15 * i);
    hs_kept_kill(a);
    for (int i = 0; i < 4; i++)
        ck_assert(hs_pair_holds(b, i, 10.4 + 0.15 * i, HS_PAIR_REPLAYED));
}
END_TEST

/* Even the first payment survives, although no state was written at its time. */
START_TEST(the_first_payment_survives)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    hs_kept_kill(a);
    ck_assert(hs_pair_holds(b, 1, 11, HS_PAIR_REPLAYED));
}
END_TEST

START_TEST(an_ended_match_does_not_come_back)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && hs_pair_has(HS_PAIR_STATE); i++)
        hs_test_pause_ms(10);
    hs_kept_frames(b, "m", 10);
    ck_assert(hs_pair_holds(b, 1, 11, "\"replayed\":false"));
}
END_TEST

/* A replica restores a match from its checkpoint, but the match has ended on another replica. */
START_TEST(an_ended_match_does_not_come_back_from_a_checkpoint)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    hs_kept_stop(a);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/matches/m", NULL), 200);
    hs_kept_start(a, NULL);
    ck_assert_double_eq(hs_kept_metric(a, HS_KEPT_RESTORED), 1);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", "{\"ruleset\":\"unreal\"}"), 201);
    hs_kept_frames(a, "m", 10);
    ck_assert(hs_pair_holds(a, 1, 11, "\"replayed\":false"));
}
END_TEST

/* The replica has restored the match from its checkpoint, but the store has a newer state. */
START_TEST(the_store_is_newer_than_a_checkpoint)
{
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.9);
    hs_kept_stop(a);
    hs_kept_frames(b, "m", 12);
    hs_pair_pay(b, 2, 12.9);
    hs_kept_start(a, NULL);
    ck_assert_double_eq(hs_kept_metric(a, HS_KEPT_RESTORED), 1);
    ck_assert(hs_pair_holds(a, 1, 10.9, HS_PAIR_REPLAYED));
    ck_assert(hs_pair_holds(a, 2, 12.9, HS_PAIR_REPLAYED));
}
END_TEST

/* The store has forgotten the match, and does not send the names of rulesets at first. The copy
   from the checkpoint waits for them, and keeps its payments. */
START_TEST(a_copy_waits_for_rulesets)
{
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/rulesets/house", "{}"), 201);
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.9);
    hs_kept_stop(a);
    hs_test_redis_ask(&hs_pair_redis, "DEL %s %s", HS_PAIR_STATE, HS_PAIR_OWNER);
    hs_test_redis_ask(&hs_pair_redis, "ACL SETUSER default -hgetall");
    hs_kept_start(a, NULL);
    ck_assert_double_eq(hs_kept_metric(a, HS_KEPT_RESTORED), 1);
    char code[64];
    ck_assert_int_eq(hs_pair_claim(a, 1, 10.9, code), 503);
    hs_test_redis_ask(&hs_pair_redis, "ACL SETUSER default +hgetall");
    long status = 503;
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && status == 503; i++) {
        status = hs_pair_claim(a, 1, 10.9, code);
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(status, 200);
    hs_test_pause_ms(HS_PAIR_SETTLE_MS); /* the store would refuse the writes of a former owner */
    ck_assert(hs_pair_holds(a, 1, 10.9, HS_PAIR_REPLAYED));
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
        hs_kept_stop(&hs_pair[i]);
        hs_kept_start_with(&hs_pair[i], "--token-file", file);
        hs_pair[i].headers = headers[i];
    }
    /* A request that opens no match does not use the name. */
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{\"ruleset\":\"none\"}"), 422);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", "{}"), 201);
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{}"), 403);
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    ck_assert_int_eq(hs_kept_status(b, "PUT", "/v1/matches/m", "{}"), 403);
    ck_assert(hs_pair_holds(a, 1, 11, HS_PAIR_REPLAYED));
    b->headers = headers[0]; /* the owner can use every replica */
    ck_assert(hs_pair_holds(b, 1, 11, HS_PAIR_REPLAYED));
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/matches/m", NULL), 200);
    a->headers = headers[1];
    long status = 0; /* until a has dropped its copy */
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && status != 201; i++) {
        status = hs_kept_status(a, "PUT", "/v1/matches/m", "{}");
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(status, 201);
}
END_TEST

/* A token does not stop a match from moving, even if posts may not open matches. */
START_TEST(matches_with_tokens_move)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "z", .scopes = "\"admin\"", .secret_seed = 2}};
    const char *const acme[] = {tokens[0].header, NULL}, *const zeta[] = {tokens[1].header, NULL};
    char file[96];
    snprintf(file, sizeof file, "%s/tokens", a->directory);
    hs_test_tokens_write(file, tokens, 2);
    const char *const arguments[] = {"--token-file", file, "--auto-open=false", NULL};
    for (int i = 0; i < 2; i++) {
        hs_kept_stop(&hs_pair[i]);
        hs_kept_start(&hs_pair[i], arguments);
        hs_pair[i].headers = acme;
    }
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/m", "{}"), 201);
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 11);
    hs_kept_frames(b, "m", 11.05); /* the match moves by a post */
    ck_assert(hs_pair_holds(b, 1, 11, HS_PAIR_REPLAYED));
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/matches/m", NULL), 200);
    /* Another tenant can use a name that the first tenant released on another replica. */
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/matches/n", "{}"), 201);
    hs_kept_stop(a);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/matches/n", NULL), 200);
    hs_kept_start(a, arguments);
    a->headers = zeta;
    long status = 0;
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && status != 201; i++) {
        status = hs_kept_status(a, "PUT", "/v1/matches/n", "{}");
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(status, 201);
    /* The names of rulesets and maps are there at once. */
    a->headers = acme;
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/rulesets/house", "{}"), 201);
    ck_assert_int_eq(hs_kept_status(b, "GET", "/v1/rulesets/house", NULL), 200);
    ck_assert_int_eq(hs_kept_status(a, "PUT", "/v1/rulesets/hall", "{}"), 201);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/rulesets/hall", NULL), 204);
}
END_TEST

/* ---- two replicas claim a match ---- */

START_TEST(a_split_brain_has_one_owner)
{
    char code[64];
    hs_kept_frames(a, "m", 10);
    hs_pair_pay(a, 1, 10.9);
    ck_assert(hs_pair_holds(b, 1, 10.9, HS_PAIR_REPLAYED));
    hs_kept_frames(b, "m", 12);
    hs_pair_pay(b, 2, 12.9);
    /* After this pause the state of b is written, so b does not write again and does not notice
       that it loses the match.
     */
    hs_test_pause_ms(HS_PAIR_SETTLE_MS);
    /* Replica a does not know of shot 2, and has no history for it. If a pays it all the same, the
       store refuses the payment, because a has an old epoch. */
    int accepted = 0, moved = 0;
    hs_kept_frames(a, "m", 12);
    for (int i = 0; i < 10; i++) {
        long status = hs_pair_claim(a, 2, 12.9, code);
        accepted += status == 200;
        moved += status == 409 && strcmp(code, "match_moved") == 0;
    }
    ck_assert_int_le(moved, 1);
    ck_assert_int_eq(accepted + moved, 10);
    /* After a takeover, the new owner repeats the answer to the payment of the former owner. */
    ck_assert(hs_pair_holds(a, 2, 12.9, HS_PAIR_REPLAYED));
    ck_assert_str_eq(hs_test_redis_ask(&hs_pair_redis, "HGET %s epoch", HS_PAIR_OWNER), "3");
    hs_pair_wait(b, "hindsight_matches_moved_total", 0);
    /* Now replica b is refused. But on a busy machine a second may have passed since b wrote last:
       then b first asks the store, drops its copy, and takes the match over. */
    long status = hs_pair_claim(b, 3, 13.05, code);
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_matches_moved_total"), 1);
    if (status == 200)
        return;
    ck_assert_int_eq(status, 409);
    ck_assert_str_eq(code, "match_moved");
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10; i++) {
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
    hs_kept_start(&hs_pair[2], NULL);
    hs_kept_frames(a, "m", 10);
    for (int round = 0; round < 3; round++)
        for (int shot = 0; shot < 4; shot++)
            for (int i = 0; i < HS_PAIR_COUNT; i++) {
                char *answer;
                if (hs_pair_send_claim(&hs_pair[i], shot, 10.4 + 0.15 * shot, &answer) == 200 &&
                    strstr(answer, HS_PAIR_ACCEPTED) != NULL &&
                    strstr(answer, HS_PAIR_REPLAYED) == NULL)
                    paid[shot]++;
                free(answer);
                (void)hs_pair_claim(&hs_pair[(i + 1) % HS_PAIR_COUNT], 100 + shot, 9, code);
            }
    for (int shot = 0; shot < 4; shot++)
        ck_assert_int_le(paid[shot], 1);
    ck_assert_int_eq(paid[0], 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared_matches");
    TCase *tests = tcase_create("replicas");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, hs_pair_setup, hs_pair_teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_loop_test(tests, another_replica_goes_on, 0, (int)(sizeof ends / sizeof ends[0]));
        tcase_add_test(tests, a_draining_replica_hands_over);
        tcase_add_test(tests, payments_survive_at_once);
        tcase_add_test(tests, the_first_payment_survives);
        tcase_add_test(tests, an_ended_match_does_not_come_back);
        tcase_add_test(tests, an_ended_match_does_not_come_back_from_a_checkpoint);
        tcase_add_test(tests, the_store_is_newer_than_a_checkpoint);
        tcase_add_test(tests, a_copy_waits_for_rulesets);
        tcase_add_test(tests, a_name_belongs_to_one_tenant);
        tcase_add_test(tests, matches_with_tokens_move);
        tcase_add_test(tests, a_split_brain_has_one_owner);
        tcase_add_test(tests, nothing_is_paid_twice);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
