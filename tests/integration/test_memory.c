/* Memory of matches within `--match-bytes` and `--history-bytes`. Both limits hold at any time,
   whatever is posted. Known players go on, and nothing is paid twice. */
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_test_service service;
static struct hs_test_http *http;

static void start(const char *const *arguments)
{
    ck_assert(hs_test_service_start(&service, arguments));
    http = hs_test_http_open(service.data_port);
}

static void stop(void)
{
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}

static double history_bytes(void)
{
    return hs_metric(&service, "hindsight_history_bytes");
}

/* The result of posting a frame. */
struct posted {
    long status;
    int stored, refused_for_capacity;
};

/* Posts a frame of the players PREFIX0, PREFIX1, and so on. */
static struct posted post_players(const char *match, const char *prefix, int count, double time)
{
    struct posted posted = {0};
    char path[64], name[32];
    json_t *players = json_array(), *reason;
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%d", prefix, i);
        json_array_append_new(players,
                              json_pack("{ss, s[iii]}", "player", name, "position", 1, 2, 3));
    }
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    json_t *answer = hs_test_http_json(
        http, "POST", path, json_pack("{s[{sf, so}]}", "frames", "time", time, "players", players),
        &posted.status);
    posted.stored = (int)json_integer_value(json_object_get(answer, "stored"));
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(answer, "refused"), i, entry)
    {
        reason = json_object_get(entry, "reason");
        posted.refused_for_capacity += strcmp(json_string_value(reason), "capacity") == 0 ? 1 : 0;
    }
    json_decref(answer);
    return posted;
}

static double shed_for_history(void)
{
    return hs_metric(&service, "hindsight_requests_shed_total{reason=\"history\"}");
}

/* A match at its limit accepts no new player. Known players go on, and other matches are not
   affected. */
START_TEST(a_match_keeps_to_its_memory)
{
    static const char *const arguments[] = {"--match-bytes", "400000", NULL};
    start(arguments);
    double time = 1;
    int stored = 10, posted = 0;
    char prefix[16];
    for (; posted < 100 && stored == 10; posted++) {
        snprintf(prefix, sizeof prefix, "p%d_", posted);
        struct posted frame = post_players("m", prefix, 10, time += 0.01);
        ck_assert_int_eq(frame.status, 200);
        ck_assert_int_eq(frame.stored + frame.refused_for_capacity, 10);
        stored = frame.stored;
    }
    ck_assert_int_lt(posted, 100);
    ck_assert(hs_metric(&service, "hindsight_matches_held") == 1);
    double bytes = history_bytes();
    ck_assert_msg(bytes >= 350000 && bytes <= 400000, "%f bytes are held", bytes);
    ck_assert_int_eq(post_players("m", "new", 10, time += 0.01).refused_for_capacity, 10);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(post_players("m", "p0_", 10, time += 0.01).stored, 10);
    ck_assert(history_bytes() <= 400000);
    ck_assert_int_eq(post_players("other", "new", 10, 1).stored, 10);
    ck_assert(hs_metric(&service, "hindsight_matches_held") == 1);
    stop();
}
END_TEST

/* If memory is nearly full, no request can open a match. Open matches go on, and the limit holds.
   When a match ends, its space is free again. */
START_TEST(new_matches_are_refused_first)
{
    static const char *const arguments[] = {"--history-bytes", "4000000", NULL};
    char match[16];
    int opened = 0;
    long status = 200;
    start(arguments);
    for (; opened < 500 && status == 200; opened++) {
        snprintf(match, sizeof match, "m%d", opened);
        status = post_players(match, "p", 10, 1).status;
    }
    opened--;
    ck_assert_int_eq(status, 503);
    double bytes = history_bytes();
    ck_assert_msg(bytes >= 3600000 && bytes < 4000000, "%f bytes in %d matches", bytes, opened);
    ck_assert(hs_metric(&service, "hindsight_history_bytes_limit") == 4000000);
    unsigned port = service.data_port;
    ck_assert_int_eq(hs_test_http_status(port, "POST", "/v1/matches/x/hits", "no JSON"), 503);
    ck_assert_int_eq(hs_test_http_status(port, "PUT", "/v1/matches/x", "no JSON"), 503);
    ck_assert(shed_for_history() == 3);
    ck_assert_int_eq(hs_test_http_status(port, "PUT", "/v1/matches/m0", "{}"), 200);

    double time = 1;
    for (int i = 0; i < 400; i++) {
        snprintf(match, sizeof match, "m%d", opened > 0 ? i % opened : 0);
        ck_assert_int_eq(post_players(match, "p", 10, time += 0.001).stored, 10);
        snprintf(match, sizeof match, "q%d_", i);
        ck_assert_int_eq(post_players("m0", match, 10, time += 0.001).status, 200);
        ck_assert(history_bytes() <= 4000000);
    }
    ck_assert_int_eq(hs_test_http_status(port, "DELETE", "/v1/matches/m0", NULL), 200);
    ck_assert_int_eq(hs_test_http_status(port, "DELETE", "/v1/matches/m1", NULL), 200);
    ck_assert_int_eq(post_players("another", "p", 10, 1).stored, 10);
    stop();
}
END_TEST

/* ---- floods ---- */

enum { POSTERS = 3, MATCHES = 12, PLAYERS = 12, TICKS = 250, CLAIMS = 4 };

struct poster {
    pthread_t thread;
    int number, failures; /* `failures`: answers with a status other than 200, or 503 for an
                             opening */
    int paid_twice, ticks;
    atomic_bool has_ended;
};

static json_t *some_name(struct hs_random *random)
{
    /* A few players return repeatedly. Sometimes a new player appears. */
    int span = hs_random_chance(random, 0.95) ? PLAYERS : 10 * PLAYERS;
    return json_sprintf("p%d", hs_random_index(random, span));
}

static json_t *some_players(struct hs_random *random)
{
    json_t *players = json_array();
    for (int i = 0; i < PLAYERS; i++) {
        json_t *player =
            json_pack("{so, s[fff]}", "player", some_name(random), "position", 100.0 * i, 0.0, 0.0);
        if (hs_random_chance(random, 0.5))
            json_object_set_new(player, "bones",
                                json_pack("[[ffffffi], [ffffffi]]", 100.0 * i, 0.0, 0.0, 0.0, 0.0,
                                          0.0, 1, 100.0 * i, 0.0, 160.0, 0.0, 0.0, 0.0, 1));
        if (hs_random_chance(random, 0.01))
            json_object_set_new(player, "event", json_string("leave"));
        json_array_append_new(players, player);
    }
    return players;
}

static json_t *some_moves(struct hs_random *random, double time, int64_t *number)
{
    json_t *moves = json_array();
    for (int i = 0; i < PLAYERS; i++)
        json_array_append_new(moves, json_pack("{so, sI, sf, sf}", "player", some_name(random),
                                               "seq", (json_int_t)(*number)++, "client_time", time,
                                               "received", time));
    return moves;
}

/* Adds shots and their hits. Some have pellets, so their answers are long. */
static void add_claims(struct hs_random *random, json_t *tick, double time, int64_t *number)
{
    json_t *shots = json_array(), *hits = json_array();
    for (int i = 0; i < CLAIMS; i++) {
        json_t *shooter = some_name(random), *target = some_name(random);
        bool is_volley = hs_random_chance(random, 0.3);
        const char *weapon = is_volley ? "shotgun" : "rifle";
        json_t *hit = json_pack("{sI, sO, ss, sO, sf, s[fff], s[fff]}", "shot", (json_int_t)*number,
                                "shooter", shooter, "weapon", weapon, "target", target, "hit_time",
                                time, "start", 0.0, -500.0, 110.0, "end", 0.0, 0.0, 110.0);
        if (is_volley) {
            json_t *pellets = json_array();
            for (int k = 0; k < 10; k++)
                json_array_append_new(pellets, json_pack("{s[fff]}", "end", 0.0, 1.0 * k, 110.0));
            json_object_set_new(hit, "pellets", pellets);
            json_object_del(hit, "end");
        }
        json_array_append_new(hits, hit);
        if (hs_random_chance(random, 0.7))
            json_array_append_new(shots,
                                  json_pack("{sI, sO, ss, sf, s[fff]}", "shot", (json_int_t)*number,
                                            "shooter", shooter, "weapon", weapon, "time", time,
                                            "origin", 0.0, -500.0, 110.0));
        (*number)++;
        json_decref(shooter);
        json_decref(target);
    }
    json_object_set_new(tick, "shots", shots);
    json_object_set_new(tick, "hits", hits);
}

static bool pays(const json_t *verdict)
{
    return json_number_value(json_object_get(verdict, "damage_total")) > 0 &&
           !json_is_true(json_object_get(verdict, "replayed"));
}

/* Posts a tick, then its hits again. Each hit is paid at most once. */
static void post_tick(struct poster *poster, struct hs_test_http *own, const char *match,
                      json_t *tick)
{
    char path[64];
    long status;
    snprintf(path, sizeof path, "/v1/matches/%s/ticks?explain=true", match);
    json_t *again = json_pack("{sO, sO}", "now", json_object_get(tick, "now"), "hits",
                              json_object_get(tick, "hits"));
    json_t *first = hs_test_http_json(own, "POST", path, tick, &status);
    poster->failures += status != 200 && status != 503 ? 1 : 0;
    poster->ticks += status == 200 ? 1 : 0;
    json_t *second = hs_test_http_json(own, "POST", path, again, &status);
    poster->failures += status != 200 && status != 503 ? 1 : 0;
    const json_t *before = json_object_get(first, "hits"), *after = json_object_get(second, "hits");
    for (size_t i = 0; i < json_array_size(before) && i < json_array_size(after); i++)
        poster->paid_twice +=
            pays(json_array_get(before, i)) && pays(json_array_get(after, i)) ? 1 : 0;
    json_decref(first);
    json_decref(second);
}

static void *post_ticks(void *context)
{
    struct poster *poster = context;
    struct hs_random random = hs_random_start(hs_test_seed(20260207), (uint64_t)poster->number);
    struct hs_test_http *own = hs_test_http_open(service.data_port);
    int64_t number = 1 + (int64_t)poster->number * 1000000;
    for (int i = 0; i < TICKS; i++) {
        double time = 100 + i * 0.02;
        char match[16];
        snprintf(match, sizeof match, "m%d", hs_random_index(&random, MATCHES));
        json_t *tick =
            json_pack("{sf, s[{sf, so}], so}", "now", time, "frames", "time", time, "players",
                      some_players(&random), "moves", some_moves(&random, time, &number));
        add_claims(&random, tick, time, &number);
        post_tick(poster, own, match, tick);
    }
    hs_test_http_close(own);
    atomic_store(&poster->has_ended, true);
    return NULL;
}

/* Returns the bytes of the largest match, as the match reports them. */
static double largest_match(void)
{
    double most = 0;
    json_t *answer = hs_test_http_json(http, "GET", "/v1/matches", NULL, NULL);
    size_t i;
    const json_t *match;
    json_array_foreach(json_object_get(answer, "matches"), i, match)
    {
        double bytes = json_number_value(json_object_get(match, "history_bytes"));
        most = bytes > most ? bytes : most;
    }
    json_decref(answer);
    return most;
}

static const struct {
    const char *match_bytes, *history_bytes;
    bool fills_match; /* true: a match reaches its limit; false: all matches together reach
                         theirs */
} floods[] = {{"300000", "100000000", true}, {"100000000", "1500000", false}};

START_TEST(memory_stays_within_the_bounds)
{
    const char *const arguments[] = {"--match-bytes", floods[_i].match_bytes, "--history-bytes",
                                     floods[_i].history_bytes, NULL};
    double of_one = strtod(floods[_i].match_bytes, NULL);
    double of_all = strtod(floods[_i].history_bytes, NULL), most_of_one = 0, most_of_all = 0;
    struct poster posters[POSTERS] = {0};
    start(arguments);
    for (int i = 0; i < POSTERS; i++) {
        posters[i].number = i;
        ck_assert_int_eq(pthread_create(&posters[i].thread, NULL, post_ticks, &posters[i]), 0);
    }
    int looks = 0;
    for (bool ended = false; !ended; looks++) {
        ended = true;
        for (int i = 0; i < POSTERS; i++)
            ended = ended && atomic_load(&posters[i].has_ended);
        double bytes = history_bytes(), largest = largest_match();
        most_of_all = bytes > most_of_all ? bytes : most_of_all;
        most_of_one = largest > most_of_one ? largest : most_of_one;
        ck_assert_msg(bytes <= of_all, "%f bytes are taken of %f", bytes, of_all);
        ck_assert_msg(largest <= of_one, "%f bytes by a match of %f", largest, of_one);
    }
    int ticks = 0;
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
        ck_assert_int_eq(posters[i].failures, 0);
        ck_assert_int_eq(posters[i].paid_twice, 0);
        ticks += posters[i].ticks;
    }
    printf("%d ticks, looked at %d times: %.0f bytes at most, %.0f in a match\n", ticks, looks,
           most_of_all, most_of_one);
    ck_assert_int_ge(looks, 10);
    ck_assert_int_ge(ticks, TICKS / 2);
    ck_assert(hs_metric(&service, "hindsight_matches_held") >= 1);
    ck_assert(floods[_i].fills_match ? most_of_one > 0.9 * of_one : most_of_all > 0.9 * of_all);
    stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("bounds");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_match_keeps_to_its_memory);
    tcase_add_test(tests, new_matches_are_refused_first);
    tcase_add_loop_test(tests, memory_stays_within_the_bounds, 0, sizeof floods / sizeof floods[0]);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
