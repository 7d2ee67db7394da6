/* Replicas that share rulesets and maps through a private redis-server. */
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"
#include "tests/support/store/redis.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICAS = 2, PATIENCE_MS = 10000 };

static struct hs_test_redis redis;
static struct hs_test_kept replicas[REPLICAS], *const a = &replicas[0], *const b = &replicas[1];

static void setup(void)
{
    ck_assert(hs_test_redis_start(&redis, 0, NULL));
    for (size_t i = 0; i < REPLICAS; i++) {
        hs_kept_setup(&replicas[i]);
        replicas[i].store[0] = "--state-redis";
        replicas[i].store[1] = redis.address;
        hs_kept_start(&replicas[i], NULL);
    }
}

static void teardown(void)
{
    for (size_t i = 0; i < REPLICAS; i++)
        hs_kept_teardown(&replicas[i]);
    hs_test_redis_stop(&redis);
}

/* Sends a PUT. Like a good client, sends it again after 503, unless 503 is the expected status. The
   first PUT may have reached the store although the answer was 503; then the second PUT replaces
   its document (200). */
static void put(struct hs_test_kept *replica, const char *path, const char *body, long status)
{
    char *answer = NULL;
    long got = 503;
    bool is_repeated = false;
    for (int i = 0; i < PATIENCE_MS / 100 && got == 503 && (i == 0 || status != 503); i++) {
        hs_test_pause_ms(i == 0 ? 0 : 100);
        free(answer);
        is_repeated = i > 0;
        got = hs_kept_send(replica, "PUT", path, body, &answer);
    }
    ck_assert_msg(got == status || (is_repeated && status == 201 && got == 200), "%s: %ld: %s",
                  path, got, answer != NULL ? answer : "");
    free(answer);
}

static void wait_for(struct hs_test_kept *replica, const char *path, long status)
{
    long got = 0;
    for (int i = 0; i < PATIENCE_MS / 20 && got != status; i++) {
        got = hs_kept_status(replica, "GET", path, NULL);
        hs_test_pause_ms(20);
    }
    ck_assert_int_eq(got, status);
}

/* Sends an empty frame until the replica has taken the match `m` over. */
static void wait_until_open(struct hs_test_kept *replica)
{
    long got = 0;
    for (int i = 0; i < PATIENCE_MS / 20 && got != 200; i++) {
        got = hs_kept_status(replica, "POST", "/v1/matches/m/frames",
                             "{\"frames\":[{\"time\":19,\"players\":[]}]}");
        hs_test_pause_ms(20);
    }
    ck_assert_int_eq(got, 200);
}

static const char first[] = "{\"name\":\"arena\",\"zones\":{\"head\":3}}";
static const char second[] = "{\"name\":\"arena\",\"zones\":{\"head\":4}}";
static const char third[] = "{\"name\":\"arena\",\"zones\":{\"head\":5}}";
/* The shooter of hs_kept_frames stands at the origin, the target 5 m away along +x. */
static const char wall[] = "{\"boxes\":[{\"min\":[240,-100,0],\"max\":[260,100,300]}]}";
static const char other_wall[] = "{\"boxes\":[{\"min\":[240,900,0],\"max\":[260,990,300]}]}";

#define ARENA "/v1/rulesets/arena"
#define HALL  "/v1/maps/hall"

/* When a PUT on one replica is answered, the other replica has the new or changed document. */
START_TEST(a_put_is_everywhere_at_once)
{
    for (int i = 0; i < 20; i++) {
        struct hs_test_kept *from = &replicas[i % 2], *to = &replicas[1 - i % 2];
        char match[64];
        snprintf(match, sizeof match, "/v1/matches/match-%d", i);
        put(from, ARENA, i % 4 < 2 ? first : second, i == 0 ? 201 : 200);
        put(from, HALL, i % 4 < 2 ? wall : other_wall, i == 0 ? 201 : 200);
        char *rules = hs_kept_get(from, ARENA), *map = hs_kept_get(from, HALL);
        put(to, match, "{\"ruleset\":\"arena\",\"map\":\"hall\"}", 201);
        hs_kept_same(to, ARENA, rules);
        hs_kept_same(to, HALL, map);
        char revision[80];
        snprintf(revision, sizeof revision, "%.71s", strstr(rules, "sha256:"));
        hs_kept_holds(hs_kept_get(to, match), revision);
        free(rules);
        free(map);
    }
}
END_TEST

START_TEST(a_deletion_is_everywhere_at_once)
{
    put(a, ARENA, first, 201);
    put(a, HALL, wall, 201);
    ck_assert_int_eq(hs_kept_status(b, "GET", HALL, NULL), 200);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", ARENA, NULL), 204);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", HALL, NULL), 204);
    ck_assert_int_eq(hs_kept_status(a, "GET", ARENA, NULL), 404);
    put(a, "/v1/matches/m", "{\"map\":\"hall\"}", 422);
    put(a, "/v1/matches/m", "{\"ruleset\":\"arena\"}", 422);
}
END_TEST

/* Both replicas give the canary to the same matches. */
START_TEST(a_canary_is_shared)
{
    put(a, ARENA, first, 201);
    put(a, ARENA "?canary_share=0.5", second, 201);
    char *rules = hs_kept_get(a, ARENA), canary[80];
    snprintf(canary, sizeof canary, "%.71s", strstr(strstr(rules, "\"canary\""), "sha256:"));
    hs_kept_same(b, ARENA, rules);
    free(rules);
    int count = 0;
    for (int i = 0; i < 60; i++) {
        char path[64], *answers[REPLICAS];
        snprintf(path, sizeof path, "/v1/matches/c%d", i);
        for (int j = 0; j < REPLICAS; j++) {
            put(&replicas[j], path, "{\"ruleset\":\"arena\"}", 201);
            answers[j] = hs_kept_get(&replicas[j], path);
            ck_assert_int_eq(hs_kept_status(&replicas[j], "DELETE", path, NULL), 200);
        }
        bool is_canary = strstr(answers[0], canary) != NULL;
        ck_assert_int_eq(is_canary, strstr(answers[1], canary) != NULL);
        count += is_canary;
        free(answers[0]);
        free(answers[1]);
    }
    ck_assert_int_gt(count, 15);
    ck_assert_int_lt(count, 45);
    put(b, ARENA, second, 200);
    rules = hs_kept_get(a, ARENA);
    ck_assert_ptr_null(strstr(rules, "canary"));
    hs_kept_holds(rules, canary);
}
END_TEST

/* The names of files are not shared, and neither are their canaries. So the canary of a newer file
   is not taken for that of a replaced ruleset. */
START_TEST(a_canary_of_a_file_is_not_shared)
{
    for (int i = 0; i < 2; i++) {
        hs_kept_stop(a);
        hs_kept_write_rules(a, "arena", i == 0 ? first : third);
        hs_kept_start(
            a, (const char *const[]){"--state-redis", redis.address, "--rules", a->rules, NULL});
        put(a, ARENA "?canary_share=0.5", i == 0 ? second : first, 201);
        hs_kept_holds(hs_kept_get(a, ARENA), "\"canary\"");
        ck_assert_str_eq(hs_test_redis_ask(&redis, "HLEN hs:v1:{catalog}:names"), "0");
        ck_assert_int_eq(hs_kept_status(b, "GET", ARENA, NULL), 404);
    }
}
END_TEST

/* A match that moves keeps its ruleset and its map, although their names stand for others now, or
   for nothing. */
START_TEST(a_match_keeps_what_it_was_opened_with)
{
    put(a, ARENA, first, 201);
    put(a, HALL, wall, 201);
    put(a, "/v1/matches/m", "{\"ruleset\":\"arena\",\"map\":\"hall\"}", 201);
    char *before = hs_kept_get(a, "/v1/matches/m"), revision[80];
    snprintf(revision, sizeof revision, "%.71s", strstr(before, "sha256:"));
    free(before);
    hs_kept_frames(a, "m", 10);
    hs_kept_holds(hs_kept_hit(a, "m", 1, 11), "\"occluded_world\"");
    put(b, ARENA, second, 200);
    if (_i == 0)
        put(b, HALL, other_wall, 200);
    else
        ck_assert_int_eq(hs_kept_status(b, "DELETE", HALL, NULL), 204);
    hs_kept_stop(a);
    wait_until_open(b);
    hs_kept_frames(b, "m", 20);
    hs_kept_holds(hs_kept_hit(b, "m", 2, 21), "\"occluded_world\"");
    hs_kept_holds(hs_kept_get(b, "/v1/matches/m"), revision);
}
END_TEST

/* Returns the document of a map with so many boxes. Free it. */
static char *boxes(int count)
{
    char *text = malloc((size_t)count * 64 + 64), *end = text;
    ck_assert_ptr_nonnull(text);
    end += sprintf(end, "{\"boxes\":[");
    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s{\"min\":[%d,900,0],\"max\":[%d,990,300]}", i > 0 ? "," : "",
                       100 * i, 100 * i + 50);
    sprintf(end, "]}");
    return text;
}

/* Puts a map as a tenant, and deletes it again. Returns whether it fitted. */
static bool fits(const char *const *headers, const char *document)
{
    b->headers = headers;
    bool is_put = hs_kept_status(b, "PUT", "/v1/maps/yard", document) == 201;
    if (is_put)
        ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/maps/yard", NULL), 204);
    return is_put;
}

/* A map without a name, which a match that moved still uses, is charged to the tenant of the match.
   So they can put less than another tenant. */
START_TEST(a_pinned_map_is_charged)
{
    enum { PINNED = 2000 };
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "z", .scopes = "\"admin\"", .secret_seed = 2}};
    const char *const headers[2][2] = {{tokens[0].header}, {tokens[1].header}};
    char file[96], *map = boxes(PINNED);
    snprintf(file, sizeof file, "%s/tokens", a->directory);
    hs_test_tokens_write(file, tokens, 2);
    for (int i = 0; i < 2; i++) {
        const char *const more[] = {"--token-file", file, "--map-bytes", "8388608", NULL};
        hs_kept_stop(&replicas[i]);
        hs_kept_start(&replicas[i], more);
        replicas[i].headers = headers[0];
    }
    put(a, HALL, map, 201);
    put(a, "/v1/matches/m", "{\"map\":\"hall\"}", 201);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", HALL, NULL), 204);
    wait_for(b, HALL, 403);
    hs_kept_stop(a);
    wait_until_open(b);
    free(map);
    int count = 20 * PINNED;
    for (bool fit = false; !fit; count -= PINNED / 20) {
        ck_assert_int_gt(count, PINNED);
        map = boxes(count);
        fit = fits(headers[1], map);
        if (fit)
            ck_assert(!fits(headers[0], map));
        free(map);
    }
}
END_TEST

/* A replica that starts gets everything; what was deleted meanwhile, it forgets. */
START_TEST(a_replica_that_was_away)
{
    put(a, ARENA, first, 201);
    put(a, "/v1/rulesets/gone", "{\"name\":\"gone\"}", 201);
    put(a, HALL, wall, 201);
    hs_kept_stop(b);
    put(a, ARENA, third, 200);
    put(a, HALL, other_wall, 200);
    ck_assert_int_eq(hs_kept_status(a, "DELETE", "/v1/rulesets/gone", NULL), 204);
    char *rules = hs_kept_get(a, ARENA), *map = hs_kept_get(a, HALL);
    hs_kept_start(b, NULL);
    hs_kept_same(b, ARENA, rules);
    hs_kept_same(b, HALL, map);
    ck_assert_int_eq(hs_kept_status(b, "GET", "/v1/rulesets/gone", NULL), 404);
    free(rules);
    free(map);
}
END_TEST

/* Waits until the store has so many names of rulesets and maps. */
static void wait_for_names(const char *count)
{
    const char *got = "";
    for (int i = 0; i < PATIENCE_MS / 20 && strcmp(got, count) != 0; i++) {
        hs_test_pause_ms(i == 0 ? 0 : 20);
        got = hs_test_redis_ask(&redis, "HLEN hs:v1:{catalog}:names");
    }
    ck_assert_str_eq(got, count);
}

/* A store that lost everything gets all documents again, from both replicas. */
START_TEST(a_flushed_store_has_all_again)
{
    put(a, ARENA, first, 201);
    put(a, ARENA "?canary_share=0.5", second, 201);
    put(b, HALL, wall, 201);
    hs_kept_wait(a); /* the file of the map is written */
    hs_kept_wait(b);
    char *rules = hs_kept_get(a, ARENA), *map = hs_kept_get(a, HALL);
    hs_test_redis_ask(&redis, "FLUSHALL");
    wait_for_names("2");
    hs_kept_stop(a);
    hs_kept_start(a, NULL);
    for (int i = 0; i < REPLICAS; i++) {
        hs_kept_same(&replicas[i], ARENA, rules);
        hs_kept_same(&replicas[i], HALL, map);
    }
    free(rules);
    free(map);
}
END_TEST

/* A store that lost everything refuses the map at first. The replicas keep the map until the store
   takes it. A ruleset that is deleted in the meantime does not come back. */
START_TEST(a_refused_map_is_kept)
{
    put(a, ARENA, first, 201);
    put(a, "/v1/rulesets/gone", "{\"name\":\"gone\"}", 201);
    put(b, HALL, wall, 201);
    hs_kept_wait(a); /* the file of the map is written */
    hs_kept_wait(b);
    char *rules = hs_kept_get(a, ARENA), *map = hs_kept_get(a, HALL);
    hs_test_redis_ask(&redis, "ACL SETUSER default resetkeys ~hs:v1:{catalog}:[nvr]*");
    hs_test_redis_ask(&redis, "FLUSHALL");
    wait_for_names("2");
    for (int i = 0; i < REPLICAS; i++) {
        wait_for(&replicas[i], ARENA, 200);
        wait_for(&replicas[i], HALL, 200);
    }
    ck_assert_int_eq(hs_kept_status(b, "DELETE", "/v1/rulesets/gone", NULL), 204);
    hs_test_pause_ms(4500); /* the replicas send the map again after 3 s */
    wait_for_names("1");
    for (int i = 0; i < REPLICAS; i++) {
        wait_for(&replicas[i], "/v1/rulesets/gone", 404);
        hs_kept_same(&replicas[i], HALL, map);
    }
    hs_test_redis_ask(&redis, "ACL SETUSER default allkeys");
    wait_for_names("2");
    hs_kept_stop(a);
    hs_kept_start(a, NULL);
    for (int i = 0; i < REPLICAS; i++) {
        hs_kept_same(&replicas[i], ARENA, rules);
        hs_kept_same(&replicas[i], HALL, map);
    }
    free(rules);
    free(map);
}
END_TEST

/* A map of some megabytes is sent in several pieces. */
START_TEST(a_large_map_is_shared)
{
    enum { BOXES = 120000, BYTES = BOXES * 128 };
    char *text = malloc(BYTES);
    uint32_t random = 1;
    size_t length = (size_t)snprintf(text, BYTES, "{\"boxes\":[");
    for (int i = 0; i < BOXES; i++) {
        double at[3];
        for (int j = 0; j < 3; j++)
            at[j] = (double)(random = random * 1664525U + 1013904223U) / 1e6;
        length += (size_t)snprintf(
            text + length, BYTES - length, "%s{\"min\":[%.5f,%.5f,%.5f],\"max\":[%.5f,%.5f,%.5f]}",
            i > 0 ? "," : "", at[0], at[1], at[2], at[0] + 1, at[1] + 1, at[2] + 1);
    }
    snprintf(text + length, BYTES - length, "]}");
    put(a, HALL, text, 201);
    free(text);
    char *map = hs_kept_get(a, HALL);
    wait_for(b, HALL, 200);
    hs_kept_same(b, HALL, map);
    free(map);
    /* On a busy machine, an upload may have failed and left its temporary key, which is longer. */
    char key[256], digest[64 + 1];
    memset(digest, '?', 64);
    digest[64] = '\0';
    snprintf(key, sizeof key, "%s",
             hs_test_redis_ask(&redis, "KEYS hs:v1:{catalog}:map/*/sha256:%s", digest));
    ck_assert_int_gt(atoi(hs_test_redis_ask(&redis, "STRLEN %s", key)), 2 << 20);
}
END_TEST

/* While the store is down, matches open with the documents that a replica has, and no document can
   be changed. */
START_TEST(nothing_changes_without_the_store)
{
    put(a, ARENA, first, 201);
    ck_assert_int_eq(hs_kept_status(b, "GET", ARENA, NULL), 200);
    hs_test_redis_stop(&redis);
    long status = 0;
    for (int i = 0; i < PATIENCE_MS / 20 && status != 503; i++) {
        status = hs_kept_status(b, "PUT", ARENA, first); /* until the loss is noticed */
        hs_test_pause_ms(20);
    }
    put(b, ARENA, second, 503);
    put(b, HALL, wall, 503);
    ck_assert_int_eq(hs_kept_status(b, "DELETE", ARENA, NULL), 503);
    put(b, "/v1/matches/m", "{\"ruleset\":\"arena\"}", 201);
    ck_assert(hs_test_redis_start(&redis, redis.port, NULL));
    wait_for(b, ARENA, 200);
    for (int i = 0; i < PATIENCE_MS / 20 && status != 200; i++) {
        status = hs_kept_status(b, "PUT", ARENA, second);
        hs_test_pause_ms(20);
    }
    char *rules = hs_kept_get(b, ARENA);
    hs_kept_same(a, ARENA, rules);
    free(rules);
}
END_TEST

/* A name in the store has changed, but for a while the store does not send the new document. Until
   it does, the name keeps its old document, and no match opens with it. */
START_TEST(a_name_waits_for_its_document)
{
    put(a, ARENA, first, 201);
    put(a, HALL, wall, 201);
    wait_for(b, ARENA, 200);
    wait_for(b, HALL, 200);
    hs_test_redis_ask(&redis, "ACL SETUSER default -getrange");
    put(a, ARENA, second, 200);
    put(a, HALL, other_wall, 200);
    put(b, "/v1/matches/m", "{\"ruleset\":\"arena\",\"map\":\"hall\"}", 503);
    hs_test_pause_ms(1500); /* b looks again each second */
    ck_assert_double_eq(hs_kept_metric(b, "hindsight_catalog_failures_total"), 0);
    hs_test_redis_ask(&redis, "ACL SETUSER default +getrange");
    wait_for(b, ARENA, 200);
    wait_for(b, HALL, 200);
    char *rules = hs_kept_get(a, ARENA), *map = hs_kept_get(a, HALL);
    hs_kept_same(b, ARENA, rules);
    hs_kept_same(b, HALL, map);
    free(rules);
    free(map);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared_rules");
    TCase *tests = tcase_create("replicas");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_test(tests, a_put_is_everywhere_at_once);
        tcase_add_test(tests, a_deletion_is_everywhere_at_once);
        tcase_add_test(tests, a_canary_is_shared);
        tcase_add_test(tests, a_canary_of_a_file_is_not_shared);
        tcase_add_loop_test(tests, a_match_keeps_what_it_was_opened_with, 0, 2);
        tcase_add_test(tests, a_pinned_map_is_charged);
        tcase_add_test(tests, a_replica_that_was_away);
        tcase_add_test(tests, a_flushed_store_has_all_again);
        tcase_add_test(tests, a_refused_map_is_kept);
        tcase_add_test(tests, a_large_map_is_shared);
        tcase_add_test(tests, nothing_changes_without_the_store);
        tcase_add_test(tests, a_name_waits_for_its_document);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
