/*
 * Brief answers have the same meaning as full answers. Two matches get the same requests, and only
 * one of them with `?brief`. The test decides from the full answer and the contract which items are
 * plain, so that a brief answer must leave them out.
 */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

enum { PLAYERS = 4, TICKS = 600 };

static struct hs_test_service service;
static struct hs_test_http *http;
static struct hs_random dice;

/* The clock of each player, and the client_time and epoch of the player's last accepted move. */
static struct {
    double clock, accepted_at;
    json_int_t accepted_epoch; /* -1: none */
    int seq, epoch;
} players[PLAYERS];

static size_t seen_plain[3], seen_listed[3], seen_acks;
static const char *const kinds[] = {"moves", "shots", "hits"};
enum { MOVES, SHOTS, HITS };

static void setup(void)
{
    ck_assert(hs_test_service_start(&service, NULL));
    http = hs_test_http_open(service.data_port);
    dice = hs_random_start(hs_test_seed(14), 0);
}

static void teardown(void)
{
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}

/* ---- requests ---- */

static json_t *make_frame(double now)
{
    json_t *entries = json_array();
    for (int i = 0; i < PLAYERS; i++)
        json_array_append_new(
            entries, json_pack("{s:o,s:[i,i,i],s:[i,i,i],s:s}", "player", json_sprintf("p%d", i),
                               "position", i == 1 ? 20 : 0, i > 1 ? 5 * i : 0, 0, "aim",
                               i == 1 ? -1 : 1, 0, 0, "weapon", i == 2 ? "rocket" : "rifle"));
    return json_pack("{s:f,s:o}", "time", now, "players", entries);
}

static bool chance(double probability)
{
    return hs_random_chance(&dice, probability);
}

/* Makes a move. Most moves are honest. Others are late, short of time, malformed or misplaced. */
static json_t *make_move(int player, double now, double step)
{
    players[player].clock += chance(0.01) ? 0.3 : step;
    players[player].epoch += chance(0.002) ? 1 : 0;
    double time = players[player].clock - (chance(0.05) ? 1 : 0);
    json_t *move = json_pack("{s:o,s:i,s:f,s:f,s:i}", "player", json_sprintf("p%d", player), "seq",
                             ++players[player].seq, "client_time", time, "received", now, "epoch",
                             players[player].epoch);
    if (chance(0.3)) {
        double off = chance(0.2) ? 3 : 0, far = chance(0.2) ? 50 : 0;
        json_object_set_new(move, "position", json_pack("[f,f,f]", far, 5.0 * player, 0.0));
        json_object_set_new(move, "server_position",
                            json_pack("[f,f,f]", far + off, 5.0 * player, 0.0));
    }
    if (chance(0.05))
        json_object_set_new(move, "colour", json_true());
    return move;
}

static json_t *make_shot(int shooter, int number, double now)
{
    json_t *shot =
        json_pack("{s:i,s:o,s:f,s:[f,f,f],s:[i,i,i]}", "shot", number, "shooter",
                  json_sprintf("p%d", shooter), "time", now, "origin", chance(0.1) ? 2.0 : 0.0,
                  shooter > 1 ? 5.0 * shooter : 0.0, 1.6, "direction", 1, 0, 0);
    if (chance(0.1))
        json_object_set_new(shot, "time", json_string("now"));
    return shot;
}

static json_t *make_hit(int shooter, int number, double now)
{
    double y = shooter > 1 ? 5.0 * shooter : 0.0;
    json_t *hit = json_pack("{s:i,s:o,s:f,s:[f,f,f],s:[f,f,f]}", "shot", number, "shooter",
                            json_sprintf("p%d", shooter), "hit_time", now, "start", 0.0, y, 1.6,
                            "end", 20.0, y, 1.6);
    if (shooter == 0 && chance(0.5))
        json_object_set_new(hit, "target", json_string("p1"));
    if (shooter == 0 && chance(0.3)) { /* a shot over the head of everyone, without a target */
        json_object_del(hit, "target");
        json_object_set_new(hit, "end", json_pack("[f,f,f]", 20.0, 0.5, 4.0));
    }
    return hit;
}

static json_t *make_tick(int tick, double now)
{
    static json_t *last; /* the last item, which is sent again in some cases */
    json_t *moves = json_array(), *shots = json_array(), *hits = json_array();
    if (last != NULL && chance(0.1)) {
        json_decref(moves);
        json_decref(shots);
        json_decref(hits);
        return json_deep_copy(last);
    }
    for (int i = 0; i < PLAYERS; i++)
        for (int count = chance(0.2) ? 2 : 1, k = 0; k < count; k++)
            json_array_append_new(moves, make_move(i, now, 1.0 / 64 / count));
    if (tick % 10 == 0) {
        json_array_append_new(shots, make_shot(0, tick, now));
        json_array_append_new(shots, make_shot(2, tick, now));
        json_array_append_new(hits, make_hit(0, tick, now));
        json_array_append_new(hits, make_hit(3, tick, now));
    }
    if (tick % 30 == 7)
        json_array_append_new(
            shots, json_pack("{s:i,s:s,s:b}", "shot", tick - 7, "shooter", "p2", "cancel", true));
    json_decref(last);
    last = json_pack("{s:f,s:[o],s:o,s:o,s:o}", "now", now, "frames", make_frame(now), "moves",
                     moves, "shots", shots, "hits", hits);
    return json_deep_copy(last);
}

/* ---- expected answers ---- */

static bool is_empty(const json_t *result, const char *key)
{
    return json_array_size(json_object_get(result, key)) == 0;
}

static bool is_text(const json_t *result, const char *key, const char *text)
{
    return strcmp(json_string_value(json_object_get(result, key)), text) == 0;
}

static bool has_any(const json_t *result, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (json_object_get(result, *keys) != NULL)
            return true;
    return false;
}

/* Returns whether the granted time of a move is all of its time by `client_time`. Remembers the
   move if it was accepted. */
static bool is_whole_move(const json_t *move, const json_t *result)
{
    const char *name = json_string_value(json_object_get(result, "player"));
    int player = name[1] - '0';
    double time = json_number_value(json_object_get(move, "client_time"));
    json_int_t epoch = json_integer_value(json_object_get(move, "epoch"));
    double expected = time - players[player].accepted_at;
    bool is_whole = players[player].accepted_epoch == epoch &&
                    fabs(expected - json_number_value(json_object_get(result, "delta_time"))) <
                        2e-6; /* because times are rounded */
    if (is_text(result, "verdict", "accepted") &&
        json_is_false(json_object_get(result, "replayed"))) {
        players[player].accepted_at = time;
        players[player].accepted_epoch = epoch;
    }
    return is_whole;
}

static bool is_plain(int kind, const json_t *item, const json_t *result)
{
    static const char *const of_moves[] = {"checks",  "correction", "forced_time",
                                           "late_by", "errors",     NULL};
    static const char *const of_shots[] = {"remaining_flight", "sleep_time", NULL};
    static const char *const of_hits[] = {"refused", "unclaimed", NULL};
    const json_t *timing = json_object_get(result, "timing");
    bool is_fine = is_text(result, "verdict", "accepted") && is_text(result, "reason", "ok") &&
                   json_is_false(json_object_get(result, "replayed"));
    if (kind == MOVES) {
        bool is_whole = timing != NULL && is_whole_move(item, result);
        return is_fine && is_whole && !has_any(result, of_moves) && is_empty(timing, "flags") &&
               json_is_false(json_object_get(timing, "resolving")) &&
               json_is_false(json_object_get(result, "force_update"));
    }
    is_fine = is_fine && is_empty(result, "flags") && is_empty(result, "would_reject");
    if (kind == SHOTS)
        return is_fine && (json_object_get(item, "cancel") != NULL || !has_any(result, of_shots));
    return is_fine && !has_any(result, of_hits) && is_empty(result, "damage");
}

/* Turns full results into brief ones. Returns the number of plain items. */
static json_int_t abridge(int kind, const json_t *items, json_t *results, json_t *acks)
{
    json_int_t plain = 0;
    size_t count = json_array_size(results), listed = 0;
    ck_assert_uint_eq(json_array_size(items), count);
    for (size_t i = 0; i < count; i++) {
        json_t *result = json_array_get(results, listed);
        if (!is_plain(kind, json_array_get(items, i), result)) {
            json_object_set_new(result, "index", json_integer((json_int_t)i));
            listed++;
            continue;
        }
        if (json_object_get(result, "ack") != NULL)
            json_array_append_new(acks, json_integer((json_int_t)i));
        json_array_remove(results, listed);
        plain++;
    }
    seen_plain[kind] += (size_t)plain;
    seen_listed[kind] += listed;
    return plain;
}

/* The id of a verdict depends on the name of the match. */
static void forget_ids(json_t *results)
{
    json_t *result;
    size_t i;
    json_array_foreach(results, i, result) json_object_del(result, "verdict_id");
}

static json_t *post(const char *match, const char *route, const char *query, json_t *body)
{
    char path[128];
    long status;
    snprintf(path, sizeof path, "/v1/matches/%s/%s%s", match, route, query);
    json_t *answer = hs_test_http_json(http, "POST", path, body, &status);
    ck_assert_int_eq(status, 200);
    return answer;
}

static void same(json_t *expected, json_t *brief)
{
    char *wanted = json_dumps(expected, JSON_SORT_KEYS), *is = json_dumps(brief, JSON_SORT_KEYS);
    ck_assert_str_eq(is, wanted);
    free(wanted);
    free(is);
    json_decref(expected);
    json_decref(brief);
}

static void post_tick(const json_t *tick)
{
    json_t *expected = post("full", "ticks", "", json_deep_copy(tick));
    json_t *brief = post("brief", "ticks", "?brief=true", json_deep_copy(tick));
    json_t *accepted = json_object(), *acks = json_array();
    for (int kind = MOVES; kind <= HITS; kind++) {
        json_t *results = json_object_get(expected, kinds[kind]);
        json_object_set_new(accepted, kinds[kind],
                            json_integer(abridge(kind, json_object_get(tick, kinds[kind]), results,
                                                 kind == MOVES ? acks : NULL)));
        forget_ids(results);
        forget_ids(json_object_get(brief, kinds[kind]));
    }
    seen_acks += json_array_size(acks);
    json_object_del(expected, "revision");
    json_object_set_new(expected, "accepted", accepted);
    json_object_set_new(expected, "acks", acks);
    same(expected, brief);
}

/* Posts each list of a tick by its own route. */
static void post_apart(const json_t *tick)
{
    json_t *frames = json_object_get(tick, "frames");
    same(post("full", "frames", "", json_pack("{s:O}", "frames", frames)),
         post("brief", "frames", "?brief", json_pack("{s:O}", "frames", frames)));
    for (int kind = MOVES; kind <= HITS; kind++) {
        json_t *items = json_object_get(tick, kinds[kind]), *acks = json_array();
        json_t *body = json_pack("{s:O}", kinds[kind], items);
        if (kind != MOVES)
            json_object_set(body, "now", json_object_get(tick, "now"));
        json_t *expected = post("full", kinds[kind], "", json_deep_copy(body));
        json_t *brief = post("brief", kinds[kind], "?brief=1", body);
        json_t *results = json_object_get(expected, "results");
        json_object_set_new(expected, "accepted",
                            json_integer(abridge(kind, items, results, acks)));
        json_object_del(expected, "revision");
        forget_ids(results);
        forget_ids(json_object_get(brief, "results"));
        if (kind == MOVES)
            json_object_set(expected, "acks", acks);
        json_decref(acks);
        same(expected, brief);
    }
}

/* Opens both matches, with rules that reject a move that jumps. */
static void open_matches(void)
{
    long status;
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_object_get(answer, "ruleset");
    json_object_del(rules, "name");
    json_object_set_new(json_object_get(rules, "checks"), "teleport", json_string("enforce"));
    json_decref(hs_test_http_json(http, "PUT", "/v1/rulesets/hard", json_incref(rules), &status));
    ck_assert_int_eq(status, 201);
    json_decref(answer);
    static const char *const paths[] = {"/v1/matches/full", "/v1/matches/brief"};
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(
            hs_test_http_status(service.data_port, "PUT", paths[i], "{\"ruleset\":\"hard\"}"), 201);
}

/* ---- the tests ---- */

START_TEST(brief_answers_say_the_same)
{
    open_matches();
    for (int i = 0; i < PLAYERS; i++)
        players[i].clock = 5, players[i].accepted_epoch = -1;
    for (int i = 0; i < TICKS; i++) {
        json_t *tick = make_tick(i, 100 + i / 64.0);
        if (chance(0.5))
            post_tick(tick);
        else
            post_apart(tick);
        json_decref(tick);
    }
    for (int kind = MOVES; kind <= HITS; kind++) {
        ck_assert_uint_gt(seen_plain[kind], 5);
        ck_assert_uint_gt(seen_listed[kind], 5);
    }
    ck_assert_uint_gt(seen_plain[MOVES], 500);
    ck_assert_uint_gt(seen_acks, 20);
}
END_TEST

/* Moves of 64 players with honest clocks get 38 bytes instead of 15 KB. */
START_TEST(plain_moves_need_few_bytes)
{
    struct hs_test_response answer;
    open_matches();
    for (int round = 0; round < 3; round++) {
        json_t *moves = json_array();
        for (int i = 0; i < 64; i++)
            json_array_append_new(moves, json_pack("{s:o,s:i,s:f,s:f}", "player",
                                                   json_sprintf("player%d", i), "seq", round,
                                                   "client_time", 5 + round / 64.0, "received",
                                                   10 + round / 64.0));
        json_t *body = json_pack("{s:o}", "moves", moves);
        char *text = json_dumps(body, JSON_COMPACT);
        hs_test_http_send(http, "POST", "/v1/matches/brief/moves?brief", text, strlen(text), NULL,
                          &answer);
        ck_assert_int_eq(answer.status, 200);
        if (round > 0)
            ck_assert_str_eq(answer.body, "{\"results\":[],\"accepted\":64,\"acks\":[]}");
        hs_test_response_free(&answer);
        free(text);
        json_decref(body);
    }
}
END_TEST

/* `?strict` and `?brief` work together. `?brief=false` gets a full answer. */
START_TEST(other_switches_stay_as_they_are)
{
    static const struct {
        const char *query, *body;
        long status;
        const char *holds, *lacks;
    } rows[] = {
        {"?brief=true&strict=true", "{\"moves\":[{\"player\":7}]}", 400, "/moves/0/player",
         "accepted"},
        {"?brief=true", "{\"moves\":[{\"player\":7}]}", 200,
         "{\"index\":0,\"verdict\":\"rejected\"", "revision"},
        {"?brief=false", "{\"moves\":[]}", 200, "\"revision\"", "accepted"},
        {"?brief=0", "{\"moves\":[]}", 200, "\"revision\"", "accepted"},
        {"?brief", "{}", 200, "{\"accepted\":{}}", "acks"},
        {"?brief", "{\"moves\":[]}", 200, "{\"moves\":[],\"accepted\":{\"moves\":0},\"acks\":[]}",
         "revision"},
    };
    struct hs_test_response answer;
    open_matches();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        snprintf(path, sizeof path, "/v1/matches/brief/ticks%s", rows[i].query);
        hs_test_http_send(http, "POST", path, rows[i].body, strlen(rows[i].body), NULL, &answer);
        ck_assert_int_eq(answer.status, rows[i].status);
        ck_assert_msg(strstr(answer.body, rows[i].holds) != NULL, "%s: %s", path, answer.body);
        ck_assert_msg(strstr(answer.body, rows[i].lacks) == NULL, "%s: %s", path, answer.body);
        hs_test_response_free(&answer);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("brief answers");
    TCase *tcase = tcase_create("brief");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, brief_answers_say_the_same);
    tcase_add_test(tcase, plain_moves_need_few_bytes);
    tcase_add_test(tcase, other_switches_stay_as_they_are);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
