/* Retries over HTTP. The same item gets the same bytes except `replayed`, whatever happened
   meanwhile. Another item with the same number is refused. Nothing is ever paid twice. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;

/* ---- a match of S and T, who stand 20 m apart ---- */

static void post(struct hs_test_http *http, const char *path, const char *body,
                 struct hs_test_response *response)
{
    hs_test_http_send(http, "POST", path, body, strlen(body), NULL, response);
    ck_assert_msg(response->status == 200, "%s: %ld %.300s%s", body, response->status,
                  response->body, response->error);
}

static void post_frames(struct hs_test_http *http, const char *match, double from, double to)
{
    char path[128], *body = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&body, &size);
    fputs("{\"frames\":[", stream);
    for (int i = 0; from + 0.05 * i < to + 0.01; i++)
        fprintf(stream,
                "%s{\"time\":%.3f,\"players\":[{\"player\":\"S\",\"position\":[0,0,0]},"
                "{\"player\":\"T\",\"position\":[20,0,0]}]}",
                i > 0 ? "," : "", from + 0.05 * i);
    fputs("]}", stream);
    fclose(stream);
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    post(http, path, body, &response);
    ck_assert(strstr(response.body, "\"refused\":[]") != NULL);
    hs_test_response_free(&response);
    free(body);
}

/* Puts the built-in rules with one more weapon, which may fire any number of shots at once. */
static void put_rules(struct hs_test_http *http)
{
    long status;
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_incref(json_object_get(answer, "ruleset"));
    json_object_set_new(rules, "name", json_string("replays"));
    json_object_set_new(
        json_object_get(rules, "weapons"), "laser",
        json_pack("{s:s,s:i,s:i,s:i}", "type", "hitscan", "damage", 50, "range", 100, "radius", 0));
    json_decref(answer);
    json_decref(hs_test_http_json(http, "PUT", "/v1/rulesets/replays", rules, &status));
    ck_assert(status == 200 || status == 201);
}

static void open_match(struct hs_test_http *http, const char *match)
{
    char path[128];
    long status;
    put_rules(http);
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    json_decref(
        hs_test_http_json(http, "PUT", path, json_pack("{s:s}", "ruleset", "replays"), &status));
    ck_assert_int_eq(status, 201);
    post_frames(http, match, 100, 101);
}

/* Returns result `k` of an answer as text without its member `replayed`, and stores that member's
 * value in *replayed. */
static char *result_text(const char *body, size_t k, bool *replayed)
{
    static const char fresh[] = ",\"replayed\":false}", again[] = ",\"replayed\":true}";
    const char *at = strchr(body, '[') + 1, *end;
    for (;; k--) {
        const char *a = strstr(at, fresh), *b = strstr(at, again);
        ck_assert_msg(a != NULL || b != NULL, "no result %zu in %s", k, body);
        *replayed = a == NULL || (b != NULL && b < a);
        end = *replayed ? b : a;
        if (k == 0)
            return strndup(at, (size_t)(end - at));
        at = end + (*replayed ? sizeof again : sizeof fresh) - 1 + 1;
    }
}

/* Posts items. Returns the text of the first result. */
static char *ask(struct hs_test_http *http, const char *path, const char *body, bool wants_replay)
{
    struct hs_test_response response;
    bool replayed;
    post(http, path, body, &response);
    char *text = result_text(response.body, 0, &replayed);
    ck_assert_msg(replayed == wants_replay, "%s: %s", body, response.body);
    hs_test_response_free(&response);
    return text;
}

static double damage_dealt(struct hs_test_http *http, const char *match)
{
    char path[128];
    long status;
    snprintf(path, sizeof path, "/v1/matches/%s/players/S", match);
    json_t *player = hs_test_http_json(http, "GET", path, NULL, &status);
    ck_assert_int_eq(status, 200);
    double damage = json_number_value(json_object_get(player, "damage_dealt"));
    json_decref(player);
    return damage;
}

/* ---- the same bytes ---- */

/* Row: kind of the item, the item, and a text in its first verdict. */
static const struct {
    const char *kind, *item, *verdict;
} items[] = {
    {"hits",
     "\"shot\":1,\"hit_time\":100.9,\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"T\"",
     "\"reason\":\"ok\""},
    {"hits",
     "\"shot\":1,\"hit_time\":100.9,\"start\":[0,0,1.6],\"end\":[20,9,1.6],\"target\":\"T\"",
     "\"reason\":\"no_intersection\""},
    {"hits",
     "\"shot\":1,\"hit_time\":100.5,\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"T\"",
     "\"reason\":\"rewind_limit\""},
    {"hits",
     "\"shot\":1,\"hit_time\":100.9,\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"X\"",
     "\"reason\":\"unknown_target_history\""},
    {"hits",
     "\"shot\":9007199254740991,\"hit_time\":100.9,\"start\":[0.1,0.2,1.7],\"end\":[20,0.01,1.1],"
     "\"target\":\"T\",\"claimed_bone\":\"head\",\"claimed_damage\":1e9,\"radius\":0.3,"
     "\"fire_time\":100.89",
     "\"damage_forged\""},
    {"shots", "\"shot\":1,\"time\":100.9,\"origin\":[0,0,1.6],\"direction\":[1,0,0],\"seed\":3",
     "\"forward_time\":0.1"},
    {"shots", "\"shot\":1,\"time\":100.9,\"origin\":[0,3,1.6]", "\"reason\":\"origin_mismatch\""},
    {"shots", "\"shot\":1,\"time\":100.2,\"origin\":[0,0,1.6]", "\"reason\":\"rewind_limit\""},
};

#define ITEMS ((int)(sizeof items / sizeof *items))

static void write_body(char *body, size_t size, int i, const char *now, const char *extra)
{
    snprintf(body, size, "{%s\"%s\":[{%s,\"shooter\":\"S\",\"weapon\":\"rifle\"%s}]}", now,
             items[i].kind, items[i].item, extra);
}

START_TEST(the_same_bytes_whatever_happened_since)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char match[32], path[128], explained[160], body[600];
    snprintf(match, sizeof match, "bytes-%d", _i);
    snprintf(path, sizeof path, "/v1/matches/%s/%s", match, items[_i].kind);
    snprintf(explained, sizeof explained, "%s?explain=true", path);
    open_match(http, match);
    write_body(body, sizeof body, _i, "\"now\":101,", "");
    char *first = ask(http, explained, body, false);
    ck_assert_msg(strstr(first, items[_i].verdict) != NULL, "%s", first);
    ck_assert(strstr(first, "\"checks\":[{") != NULL);
    double damage = damage_dealt(http, match);
    /* The ways to write an item. Row: a text before it, and a text in it. The item is the same in
       every row. */
    static const char *const ways[][2] = {
        {"\"now\":101,", ""},
        {"\"now\":150,", ""},
        {"", ""},
        {"\"now\":0,", ""},
        {"\"now\":101,", ",\"x_try\":2"},
    };
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            write_body(body, sizeof body, _i, ways[i][0], ways[i][1]);
            char *again = ask(http, i % 2 == 0 ? explained : path, body, true);
            ck_assert_msg(strcmp(first, again) == 0, "%s\n%s", first, again);
            free(again);
        }
        /* Posts frames until the history has nothing of the item's time. */
        post_frames(http, match, 101.05 + 4 * round, 105 + 4 * round);
    }
    ck_assert_double_eq(damage_dealt(http, match), damage);
    free(first);
    hs_test_http_close(http);
}
END_TEST

/* An item is the same if its numbers and vectors are written differently. */
START_TEST(other_spellings_are_the_same_item)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    open_match(http, "spellings");
    static const char *const bodies[] = {
        ("{\"now\":101,\"hits\":[{\"shot\":1,\"shooter\":\"S\",\"hit_time\":100.9,\"weapon\":"
         "\"rifle\","
         "\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"T\"}]}"),
        ("{ \"hits\" : [{\"target\":\"T\",\"end\":[2e1,0.0,16e-1],\"start\":[0.0,-0.0,1.60],"
         "\"weapon\":\"\\u0072ifle\",\"hit_time\":1009e-1,\"shooter\":\"S\",\"shot\":1}],\"now\":"
         "101}"),
        ("{\"now\":101,\"hits\":[{\"shot\":1,\"shooter\":\"S\",\"hit_time\":100.9000001,"
         "\"weapon\":\"rifle\",\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"T\"}]}"),
    };
    char *first = ask(http, "/v1/matches/spellings/hits", bodies[0], false);
    for (int i = 1; i < 3; i++) {
        char *again = ask(http, "/v1/matches/spellings/hits", bodies[i], true);
        ck_assert_str_eq(first, again);
        free(again);
    }
    free(first);
    hs_test_http_close(http);
}
END_TEST

/* ---- how many answers are kept ---- */

static void write_claim(char *body, size_t size, int shot)
{
    snprintf(body, size,
             "{\"now\":101,\"hits\":[{\"shot\":%d,\"shooter\":\"S\",\"hit_time\":100.9,"
             "\"weapon\":\"laser\",\"start\":[0,0,1.6],\"end\":[20,%.4f,1.1],\"target\":\"T\"}]}",
             shot, 0.001 * shot);
}

/* Repeated claims with one of the last 128 numbers get their answer again. Claims with earlier
   numbers are refused and pay nothing. */
START_TEST(the_last_128_are_kept)
{
    enum { CLAIMS = 140, KEPT = 128 };
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char body[400], *first[CLAIMS];
    open_match(http, "many");
    for (int i = 0; i < CLAIMS; i++) {
        write_claim(body, sizeof body, i);
        first[i] = ask(http, "/v1/matches/many/hits", body, false);
        ck_assert_msg(strstr(first[i], "\"verdict\":\"accepted\"") != NULL, "%s", first[i]);
    }
    double damage = damage_dealt(http, "many");
    for (int i = 0; i < CLAIMS; i++) {
        write_claim(body, sizeof body, i);
        bool kept = i >= CLAIMS - KEPT;
        char *again = ask(http, "/v1/matches/many/hits", body, kept);
        if (kept)
            ck_assert_str_eq(first[i], again);
        else
            ck_assert_msg(strstr(again, "\"reason\":\"duplicate\",\"damage_total\":0,") != NULL,
                          "%s", again);
        free(again);
        free(first[i]);
    }
    ck_assert_double_eq(damage_dealt(http, "many"), damage);
    hs_test_http_close(http);
}
END_TEST

/* ---- many senders at once ---- */

enum { SENDERS = 4, NUMBERS = 40 };

struct sender {
    char *texts[NUMBERS];
    int fresh;
};

/* Sends every claim again, like a client that lost the answers. */
static void *send_all(void *context)
{
    struct sender *sender = context;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (int i = 0; i < NUMBERS; i++) {
        char body[400];
        bool replayed;
        struct hs_test_response response;
        write_claim(body, sizeof body, i);
        hs_test_http_send(http, "POST", "/v1/matches/race/hits", body, strlen(body), NULL,
                          &response);
        if (response.status == 200) {
            sender->texts[i] = result_text(response.body, 0, &replayed);
            sender->fresh += !replayed;
        }
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    return NULL;
}

START_TEST(concurrent_retries_count_once)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    open_match(http, "race");
    struct sender senders[SENDERS] = {0};
    pthread_t threads[SENDERS];
    for (int i = 0; i < SENDERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    int fresh = 0;
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        fresh += senders[i].fresh;
    }
    ck_assert_int_eq(fresh, NUMBERS);
    for (int k = 0; k < NUMBERS; k++) {
        for (int i = 0; i < SENDERS; i++) {
            ck_assert(senders[i].texts[k] != NULL);
            ck_assert_str_eq(senders[i].texts[k], senders[0].texts[k]);
        }
        ck_assert(strstr(senders[0].texts[k], "\"verdict\":\"accepted\"") != NULL);
    }
    for (int k = 0; k < NUMBERS * SENDERS; k++)
        free(senders[k / NUMBERS].texts[k % NUMBERS]);
    ck_assert_double_eq_tol(damage_dealt(http, "race"), 50.0 * NUMBERS, 1e-9);
    hs_test_http_close(http);
}
END_TEST

/* ---- ticks ---- */

START_TEST(a_tick_sent_again)
{
    static const char body[] =
        "{\"now\":101.05,\"frames\":[{\"time\":101.05,\"players\":[{\"player\":\"S\",\"position\":"
        "[0,0,0]},{\"player\":\"T\",\"position\":[20,0,0]}]}],\"shots\":[{\"shot\":1,\"shooter\":"
        "\"S\",\"weapon\":\"rifle\",\"time\":101.0,\"origin\":[0,0,1.6]}],\"hits\":[{\"shot\":1,"
        "\"shooter\":\"S\",\"hit_time\":101.0,\"start\":[0,0,1.6],\"end\":[20,0,1.6],"
        "\"target\":\"T\"}]}";
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    open_match(http, "tick");
    struct hs_test_response once, twice;
    post(http, "/v1/matches/tick/ticks", body, &once);
    post(http, "/v1/matches/tick/ticks", body, &twice);
    /* The frame is stored already. Shots and hits get the same answers again. */
    ck_assert(strstr(twice.body, "\"stored\":0") != NULL);
    const char *of_once = strstr(once.body, "\"shots\":["),
               *of_twice = strstr(twice.body, "\"shots\":[");
    ck_assert(of_once != NULL && of_twice != NULL);
    bool fresh, replay;
    char *first = result_text(of_once, 0, &fresh), *again = result_text(of_twice, 0, &replay);
    ck_assert(!fresh && replay);
    ck_assert_str_eq(first, again);
    free(first);
    free(again);
    first = result_text(strstr(of_once, "\"hits\":["), 0, &fresh);
    again = result_text(strstr(of_twice, "\"hits\":["), 0, &replay);
    ck_assert(!fresh && replay);
    ck_assert_str_eq(first, again);
    ck_assert(strstr(first, "\"verdict\":\"accepted\"") != NULL);
    ck_assert_double_eq(damage_dealt(http, "tick"), 40 * (1 - 0.5 * 19.85 / 50));
    free(first);
    free(again);
    hs_test_response_free(&once);
    hs_test_response_free(&twice);
    hs_test_http_close(http);
}
END_TEST

/* Batches contain known items in any order, with new items between them. Each known item gets its
   first answer. */
START_TEST(a_batch_grows)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    struct hs_random random = hs_random_start(hs_test_seed(20250405), 0);
    open_match(http, "grows");
    char *known[32] = {0};
    for (int round = 0; round < 40; round++) {
        int order[32], count = 1 + hs_random_index(&random, 32), used = 0;
        bool taken[32] = {false};
        char body[32 * 220] = "{\"now\":101,\"hits\":[";
        for (int i = 0; i < count; i++) {
            int shot = hs_random_index(&random, 32);
            if (taken[shot])
                continue;
            taken[shot] = true;
            size_t len = strlen(body);
            snprintf(body + len, sizeof body - len,
                     "%s{\"shot\":%d,\"shooter\":\"S\",\"hit_time\":100.9,\"weapon\":\"laser\","
                     "\"start\":[0,0,1.6],\"end\":[20,%.4f,1.1],\"target\":\"T\"}",
                     used > 0 ? "," : "", shot, 0.05 * shot);
            order[used++] = shot;
        }
        strcat(body, "]}");
        struct hs_test_response response;
        post(http, "/v1/matches/grows/hits", body, &response);
        for (int i = 0; i < used; i++) {
            bool replayed;
            char *text = result_text(response.body, (size_t)i, &replayed);
            ck_assert_int_eq(replayed, known[order[i]] != NULL);
            if (known[order[i]] == NULL) {
                known[order[i]] = text;
                continue;
            }
            ck_assert_str_eq(known[order[i]], text);
            free(text);
        }
        hs_test_response_free(&response);
    }
    for (int i = 0; i < 32; i++)
        free(known[i]);
    hs_test_http_close(http);
}
END_TEST

static int run_suite(void)
{
    Suite *suite = suite_create("replays");
    TCase *tcase = tcase_create("replays");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, the_same_bytes_whatever_happened_since, 0, ITEMS);
    tcase_add_test(tcase, other_spellings_are_the_same_item);
    tcase_add_test(tcase, the_last_128_are_kept);
    tcase_add_test(tcase, concurrent_retries_count_once);
    tcase_add_test(tcase, a_tick_sent_again);
    tcase_add_test(tcase, a_batch_grows);
    suite_add_tcase(suite, tcase);
    printf("replays: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(20250405));
    return hs_run_suite(suite);
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = run_suite();
    return hs_test_service_stop(&service) && failed == 0 ? 0 : 1;
}
