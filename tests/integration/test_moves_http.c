/*
 * Moves over HTTP. A repeated batch gets the same bytes, and a table gets the same answer as the
 * equal list. Ticks check moves after their frames and before their shots and hits. Refused moves
 * change nothing, and positions are acknowledged or corrected. The state of the player and of the
 * match, and the metrics, report the moves.
 */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;

/* ---- requests ---- */

static struct hs_test_response ask(struct hs_test_http *http, const char *method, const char *path,
                                   const char *body)
{
    struct hs_test_response response;
    hs_test_http_send(http, method, path, body, body != NULL ? strlen(body) : 0, NULL, &response);
    ck_assert_msg(response.status != 0, "%s %s: %s", method, path, response.error);
    return response;
}

/* Returns the body of an answer with status 200. The caller frees it. */
static char *answer_text(struct hs_test_http *http, const char *method, const char *path,
                         const char *body)
{
    struct hs_test_response response = ask(http, method, path, body);
    ck_assert_msg(response.status == 200, "%s %s: %ld %s", path, body != NULL ? body : "",
                  response.status, response.body);
    char *text = strdup(response.body);
    ck_assert_ptr_nonnull(text);
    hs_test_response_free(&response);
    return text;
}

static json_t *answer(struct hs_test_http *http, const char *method, const char *path,
                      const char *body)
{
    char *text = answer_text(http, method, path, body);
    json_t *parsed = json_loads(text, 0, NULL);
    ck_assert_msg(parsed != NULL, "%s", text);
    free(text);
    return parsed;
}

static const json_t *result_at(const json_t *parsed, size_t i)
{
    const json_t *result = json_array_get(json_object_get(parsed, "results"), i);
    ck_assert_ptr_nonnull(result);
    return result;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "%s is no number", key);
    return json_number_value(value);
}

static void assert_verdict(const json_t *result, const char *verdict, const char *reason)
{
    ck_assert_str_eq(text_of(result, "reason"), reason);
    ck_assert_str_eq(text_of(result, "verdict"), verdict);
}

/* Returns the whole state that a match reports, so that a test can check that nothing changed. The
   caller frees it. */
static char *state_of(struct hs_test_http *http, const char *match)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    return answer_text(http, "GET", path, NULL);
}

/* Replaces every `from` in `text` by `to`, which must not be longer. */
static void replace_all(char *text, const char *from, const char *to)
{
    size_t cut = strlen(from) - strlen(to);
    for (char *at = text; (at = strstr(at, from)) != NULL; at += strlen(to)) {
        memcpy(at, to, strlen(to));
        memmove(at + strlen(to), at + strlen(to) + cut, strlen(at + strlen(to) + cut) + 1);
    }
}

/* ---- batches ---- */

#define LIST                                                                                       \
    "{\"moves\":["                                                                                 \
    "{\"player\":\"ann\",\"seq\":1,\"client_time\":17.2,\"received\":10.05,\"ack\":9.95,"          \
    "\"epoch\":3,\"mode\":\"walking\",\"position\":[0,0,0],\"server_position\":[0,0,0]},"          \
    "{\"player\":\"ben\",\"seq\":1,\"client_time\":5,\"received\":10.05,\"kind\":\"pending\","     \
    "\"base\":\"lift\"},"                                                                          \
    "{\"player\":\"ann\",\"seq\":2,\"client_time\":17.2167,\"received\":10.0667,\"ack\":9.9667,"   \
    "\"epoch\":3,\"mode\":\"walking\",\"position\":[0.5,0,0],\"server_position\":[0,0,0],"         \
    "\"server_velocity\":[1,2,3],\"server_mode\":\"falling\",\"velocity\":[6,0,0],"                \
    "\"dilation\":0.5,\"base\":null},"                                                             \
    "{\"player\":\"ann\",\"seq\":3,\"client_time\":17.2167,\"received\":10.07,\"epoch\":3}]}"

/* The same moves as a table, with columns in another order and one ignored column. */
#define TABLE                                                                                      \
    "{\"columns\":[\"epoch\",\"player\",\"x_note\",\"server_mode\",\"client_time\",\"kind\","      \
    "\"received\",\"seq\",\"ack\",\"base\",\"mode\",\"position\",\"velocity\",\"dilation\","       \
    "\"server_velocity\",\"server_position\"],\"rows\":["                                          \
    "[3,\"ann\",{},null,17.2,null,10.05,1,9.95,null,\"walking\",[0,0,0],null,null,null,[0,0,0]],"  \
    "[null,\"ben\",1,null,5,\"pending\",10.05,1,null,\"lift\",null,null,null,null,null,null],"     \
    "[3,\"ann\",null,\"falling\",17.2167,\"new\",10.0667,2,9.9667,null,\"walking\",[0.5,0,0],"     \
    "[6,0,0],0.5,[1,2,3],[0,0,0]],"                                                                \
    "[3,\"ann\",[],null,17.2167,\"new\",10.07,3,null,null,null,null,null,1,null,null]]}"

START_TEST(a_batch_sent_again_is_answered_with_the_same_bytes)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char *first = answer_text(http, "POST", "/v1/matches/again/moves", LIST);
    char *before = state_of(http, "again");
    ck_assert_ptr_null(strstr(first, "\"replayed\":true"));
    for (int i = 0; i < 3; i++) {
        char *again = answer_text(http, "POST", "/v1/matches/again/moves", i == 1 ? TABLE : LIST);
        ck_assert_ptr_null(strstr(again, "\"replayed\":false"));
        char *plain = strdup(first);
        replace_all(plain, "\"replayed\":false", "\"replayed\":true");
        ck_assert_str_eq(again, plain);
        free(plain);
        free(again);
    }
    char *after = state_of(http, "again");
    ck_assert_str_eq(before, after);
    /* A move with the same number and other contents is another move. */
    json_t *other = answer(http, "POST", "/v1/matches/again/moves",
                           "{\"moves\":[{\"player\":\"ann\",\"seq\":1,\"client_time\":17.3,"
                           "\"received\":10.05,\"epoch\":3}]}");
    assert_verdict(result_at(other, 0), "rejected", "duplicate");
    ck_assert(json_is_false(json_object_get(result_at(other, 0), "replayed")));
    json_decref(other);
    free(first);
    free(before);
    free(after);
    hs_test_http_close(http);
}
END_TEST

START_TEST(a_table_is_the_list_it_stands_for)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char *list = answer_text(http, "POST", "/v1/matches/list/moves", LIST);
    char *table = answer_text(http, "POST", "/v1/matches/table/moves", TABLE);
    ck_assert_str_eq(list, table);
    char *of_list = state_of(http, "list"), *of_table = state_of(http, "table");
    replace_all(of_table, "\"table\"", "\"list\"");
    ck_assert_str_eq(of_list, of_table);
    free(list);
    free(table);
    free(of_list);
    free(of_table);
    hs_test_http_close(http);
}
END_TEST

/* Posts 112 moves, one every 10 ms, and repeats them. A repeated early move is refused, because the
   service has dropped its answer. */
START_TEST(the_last_96_are_kept)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char bodies[112][160];
    for (int i = 0; i < 112; i++) {
        snprintf(bodies[i], sizeof bodies[i],
                 "{\"moves\":[{\"player\":\"ann\",\"seq\":%d,\"client_time\":%.2f,"
                 "\"received\":%.2f}]}",
                 i, 5 + 0.01 * i, 10 + 0.01 * i);
        json_t *fresh = answer(http, "POST", "/v1/matches/kept/moves", bodies[i]);
        assert_verdict(result_at(fresh, 0), "accepted", "ok");
        json_decref(fresh);
    }
    for (int i = 0; i < 112; i++) {
        json_t *again = answer(http, "POST", "/v1/matches/kept/moves", bodies[i]);
        const json_t *result = result_at(again, 0);
        bool kept = i >= 112 - 96;
        assert_verdict(result, kept ? "accepted" : "rejected", kept ? "ok" : "stale");
        ck_assert_int_eq(json_is_true(json_object_get(result, "replayed")), kept);
        json_decref(again);
    }
    hs_test_http_close(http);
}
END_TEST

/* ---- bad fields ---- */

#define MOVE "\"player\":\"ann\",\"client_time\":5,\"received\":10"

static const struct {
    const char *body;
    const char *pointers[6]; /* the pointers in order, without gaps */
} bad[] = {
    {"{}", {"/moves"}},
    {"{\"moves\":[],\"rows\":[]}", {"/moves"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\"]}", {"/rows"}},
    {"{\"rows\":[]}", {"/columns"}},
    {"{\"moves\":{}}", {"/moves"}},
    {"{\"moves\":{\"rows\":[]}}", {"/moves/columns"}},
    {"{\"moves\":[],\"now\":1}", {"/now"}},
    {"{\"moves\":[{" MOVE "},5]}", {"/moves/1"}},
    {"{\"moves\":[{\"player\":\"ann\",\"client_time\":5}]}", {"/moves/0/received"}},
    {"{\"moves\":[{\"player\":\"ann\",\"received\":5}]}", {"/moves/0/client_time"}},
    {"{\"moves\":[{\"client_time\":4,\"received\":5}]}", {"/moves/0/player"}},
    {"{\"moves\":[{" MOVE "},{\"player\":\"ann\",\"client_time\":\"12\",\"received\":10}]}",
     {"/moves/1/client_time"}},
    {"{\"moves\":[{\"player\":\"ann\",\"client_time\":null,\"received\":10}]}",
     {"/moves/0/client_time"}},
    {"{\"moves\":[{\"player\":\"ann\",\"client_time\":1e400,\"received\":10}]}",
     {"/moves/0/client_time"}},
    {"{\"moves\":[{\"player\":\"ann\",\"client_time\":1,\"received\":1e10}]}",
     {"/moves/0/received"}},
    {"{\"moves\":[{" MOVE ",\"seq\":-1}]}", {"/moves/0/seq"}},
    {"{\"moves\":[{" MOVE ",\"seq\":1.0}]}", {"/moves/0/seq"}},
    {"{\"moves\":[{" MOVE ",\"epoch\":9007199254740992}]}", {"/moves/0/epoch"}},
    {"{\"moves\":[{" MOVE ",\"dilation\":-0.1}]}", {"/moves/0/dilation"}},
    {"{\"moves\":[{" MOVE ",\"kind\":\"newer\"}]}", {"/moves/0/kind"}},
    {"{\"moves\":[{" MOVE ",\"mode\":null}]}", {"/moves/0/mode"}},
    {"{\"moves\":[{" MOVE ",\"position\":[0,0]}]}", {"/moves/0/position"}},
    {"{\"moves\":[{" MOVE ",\"velocity\":[0,0,\"1\"]}]}", {"/moves/0/velocity/2"}},
    {"{\"moves\":[{" MOVE ",\"flags\":[\"jumped\",\"prone\"]}]}", {"/moves/0/flags/1"}},
    {"{\"moves\":[{" MOVE ",\"flags\":[\"jumped\",\"jumped\",\"jumped\"]}]}", {"/moves/0/flags"}},
    {"{\"moves\":[{" MOVE ",\"colour\":1}]}", {"/moves/0/colour"}},
    {"{\"columns\":\"player\",\"rows\":[]}", {"/columns"}},
    {"{\"columns\":[],\"rows\":[]}", {"/columns"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\",\"seq\",\"seq\"],\"rows\":[]}",
     {"/columns/4"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\",\"x_a\",\"x_a\"],\"rows\":[]}",
     {"/columns/4"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\",\"sequence\",3],\"rows\":[]}",
     {"/columns/3", "/columns/4"}},
    {"{\"columns\":[\"player\",\"seq\"],\"rows\":[[1]]}", {"/columns", "/columns"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\"],\"rows\":{}}", {"/rows"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\",\"seq\"],\"rows\":[[\"ann\",5,10,1],"
     "[\"ann\",5,10],[\"ann\",5,10,1,1],{},[\"a b\",\"5\",null,-1]]}",
     {"/rows/1", "/rows/2", "/rows/3", "/rows/4/0", "/rows/4/1", "/rows/4/2"}},
    {"{\"columns\":[\"player\",\"client_time\",\"received\",\"position\"],\"rows\":[[\"ann\",5,10,"
     "[0,0,0]],[\"ann\",5,10,[0,\"0\",0]]]}",
     {"/rows/1/3/1"}},
};

/* Checks the pointers of the problem, in order. */
static void assert_pointers(const struct hs_test_response *response, int row)
{
    json_t *problem = hs_test_response_json(response);
    const json_t *errors = json_object_get(problem, "errors");
    size_t count = 0;
    ck_assert_msg(response->status == 400, "row %d: %ld %s", row, response->status, response->body);
    ck_assert_str_eq(text_of(problem, "code"), "invalid_request");
    for (; count < 6 && bad[row].pointers[count] != NULL; count++)
        ck_assert_msg(strcmp(text_of(json_array_get(errors, count), "pointer"),
                             bad[row].pointers[count]) == 0,
                      "row %d: no %s in %s", row, bad[row].pointers[count], response->body);
    ck_assert_msg(json_array_size(errors) == count || count == 6, "row %d: %s", row,
                  response->body);
    json_decref(problem);
}

START_TEST(bad_fields_have_pointers_and_change_nothing)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char match[32], path[128];
    snprintf(match, sizeof match, "bad-%d", _i);
    snprintf(path, sizeof path, "/v1/matches/%s/moves?strict=true", match);
    free(answer_text(http, "POST", path, LIST));
    char *before = state_of(http, match);
    struct hs_test_response response = ask(http, "POST", path, bad[_i].body);
    assert_pointers(&response, _i);
    hs_test_response_free(&response);
    /* A tick with the same list must be refused with the same pointers. */
    if (strncmp(bad[_i].body, "{\"moves\":[{", 11) == 0) {
        snprintf(path, sizeof path, "/v1/matches/%s/ticks?strict=true", match);
        response = ask(http, "POST", path, bad[_i].body);
        assert_pointers(&response, _i);
        hs_test_response_free(&response);
    }
    char *after = state_of(http, match);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    hs_test_http_close(http);
}
END_TEST

/* An absurd client_time makes the move invalid, but is no bad field. */
START_TEST(strange_client_times_are_answered_one_by_one)
{
    static const char *const times[] = {"0", "-1", "-0.0", "1e-9", "-1e300", "1e300"};
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"moves\":[{\"player\":\"p%zu\",\"client_time\":%s,\"received\":10},"
                 "{\"player\":\"q%zu\",\"client_time\":1000,\"received\":10}]}",
                 i, times[i], i);
        json_t *parsed = answer(http, "POST", "/v1/matches/strange/moves", body);
        bool far =
            /* the first move only sets the clock, so it is accepted */
            strcmp(times[i], "1e300") == 0;
        assert_verdict(result_at(parsed, 0), far ? "accepted" : "rejected",
                       far ? "ok" : "bad_timestamp");
        ck_assert(number_of(result_at(parsed, 0), "delta_time") == 0);
        assert_verdict(result_at(parsed, 1), "accepted", "ok");
        json_decref(parsed);
    }
    hs_test_http_close(http);
}
END_TEST

/* ---- ticks ---- */

START_TEST(a_tick_checks_moves_after_frames_and_before_the_rest)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char *text = answer_text(
        http, "POST", "/v1/matches/tick/ticks",
        "{\"hits\":[{\"shot\":1,\"shooter\":\"ann\",\"hit_time\":10,\"start\":[0,0,160],"
        "\"end\":[900,0,160],\"weapon\":\"rifle\"}],\"shots\":[],\"moves\":[{\"player\":\"ann\","
        "\"seq\":1,\"client_time\":5,\"received\":10},{\"player\":\"zoe\",\"seq\":1,"
        "\"client_time\":5,\"received\":10}],\"frames\":[{\"time\":10,\"players\":[{\"player\":"
        "\"ann\",\"position\":[0,0,0],\"rtt\":0.05}]}],\"now\":10.01}");
    const char *order[] = {"\"frames\":", "\"moves\":[", "\"shots\":[", "\"hits\":["};
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        at = strstr(at, order[i]);
        ck_assert_msg(at != NULL, "no %s in its place in %s", order[i], text);
    }
    free(text);
    json_t *state = answer(http, "GET", "/v1/matches/tick", NULL);
    const json_t *players = json_object_get(state, "players");
    /* If the move were applied before the frame, it would have added ann first. */
    ck_assert_uint_eq(json_array_size(players), 2);
    ck_assert_str_eq(text_of(json_array_get(players, 0), "player"), "ann");
    ck_assert(number_of(json_array_get(players, 0), "samples") == 1);
    ck_assert_str_eq(text_of(json_array_get(players, 1), "player"), "zoe");
    ck_assert(number_of(json_array_get(players, 1), "samples") == 0);
    json_decref(state);

    /* Moves in one request get the same answers as in two requests. */
    json_t *tick = answer(http, "POST", "/v1/matches/tick/ticks",
                          "{\"moves\":[{\"player\":\"ann\",\"seq\":1,\"client_time\":5,"
                          "\"received\":10}]}");
    const json_t *again = json_array_get(json_object_get(tick, "moves"), 0);
    ck_assert(json_is_true(json_object_get(again, "replayed")));
    ck_assert_ptr_null(json_object_get(tick, "frames"));
    json_decref(tick);
    hs_test_http_close(http);
}
END_TEST

/* ---- positions ---- */

START_TEST(positions_are_acknowledged_or_corrected)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    /* In centimetres: an error of 1.7 is allowed, 1.8 is not. (The limit for the error's square is
       3.) */
    json_t *parsed =
        answer(http, "POST", "/v1/matches/place/moves",
               "{\"columns\":[\"player\",\"client_time\",\"received\",\"mode\",\"server_mode\","
               "\"position\",\"server_position\",\"server_velocity\",\"kind\"],\"rows\":["
               "[\"ann\",5.00,10.00,\"walking\",\"walking\",[0,0,0],[1.7,0,0],null,null],"
               "[\"ann\",5.02,10.02,\"walking\",\"walking\",[0,0,0],[1.8,0,0],[1,2,3],null],"
               "[\"ann\",5.04,10.04,\"walking\",\"falling\",[0,0,0],[0,0,0],null,null],"
               "[\"ann\",5.06,10.06,\"walking\",null,[0,0,0],null,null,null],"
               "[\"ann\",5.08,10.08,\"walking\",null,[0,0,0],[90,0,0],null,\"pending\"]]}");
    const json_t *right = result_at(parsed, 0), *wrong = result_at(parsed, 1);
    ck_assert(json_is_true(json_object_get(right, "ack")));
    ck_assert_ptr_null(json_object_get(right, "correction"));
    const json_t *correction = json_object_get(wrong, "correction");
    ck_assert_ptr_null(json_object_get(wrong, "ack"));
    ck_assert(fabs(number_of(correction, "error") - 1.8) < 1e-6);
    ck_assert(fabs(number_of(correction, "limit") - sqrt(3)) < 1e-6);
    ck_assert_str_eq(text_of(correction, "mode"), "walking");
    json_t *place = json_pack("[f,i,i]", 1.8, 0, 0), *velocity = json_pack("[i,i,i]", 1, 2, 3);
    ck_assert(json_equal(json_object_get(correction, "position"), place));
    ck_assert(json_equal(json_object_get(correction, "velocity"), velocity));
    const json_t *other_mode = json_object_get(result_at(parsed, 2), "correction");
    ck_assert_str_eq(text_of(other_mode, "mode"), "falling");
    ck_assert(number_of(other_mode, "error") == 0);
    ck_assert_ptr_null(json_object_get(other_mode, "velocity"));
    /* of the two moves, one has only one of the two positions, and the other is `pending` */
    for (size_t i = 3; i < 5; i++) {
        ck_assert_ptr_null(json_object_get(result_at(parsed, i), "ack"));
        ck_assert_ptr_null(json_object_get(result_at(parsed, i), "correction"));
    }
    json_decref(place);
    json_decref(velocity);
    json_decref(parsed);
    hs_test_http_close(http);
}
END_TEST

/* ---- timing of a player ---- */

/* A clock that runs twice as fast, with acks. The default rules refuse the moves, and prove that
   the clock is fast. */
START_TEST(a_fast_clock_is_refused_counted_and_reported)
{
    static const char *const proven =
        "hindsight_moves_total{verdict=\"rejected\",reason=\"fast_clock_proven\"}";
    static const char *const flagged = "hindsight_timing_flags_total{flag=\"fast_clock_proven\"}";
    static const char *const failed =
        "hindsight_move_failures_total{check=\"fast_clock_proven\",mode=\"enforce\"}";
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    double before[] = {hs_metric(&service, proven), hs_metric(&service, flagged),
                       hs_metric(&service, failed)};
    int refused = 0;
    for (int i = 0; i < 60; i++) {
        char body[256];
        double t = i / 60.0;
        snprintf(body, sizeof body,
                 "{\"moves\":[{\"player\":\"ann\",\"seq\":%d,\"client_time\":%.6f,"
                 "\"received\":%.6f,\"ack\":%.6f,\"epoch\":7}]}",
                 i, 5 + 2 * t, 10.05 + t, 9.95 + t);
        json_t *parsed = answer(http, "POST", "/v1/matches/fast/moves", body);
        const json_t *result = result_at(parsed, 0);
        if (strcmp(text_of(result, "reason"), "fast_clock_proven") == 0) {
            const json_t *check = json_array_get(json_object_get(result, "checks"), 0);
            const json_t *flags = json_object_get(json_object_get(result, "timing"), "flags");
            ck_assert_str_eq(text_of(check, "check"), "fast_clock_proven");
            ck_assert_str_eq(text_of(check, "outcome"), "fail");
            ck_assert_str_eq(text_of(check, "mode"), "enforce");
            ck_assert_str_eq(text_of(check, "unit"), "seconds");
            ck_assert(number_of(check, "measured") > number_of(check, "limit"));
            ck_assert_str_eq(json_string_value(json_array_get(flags, 0)), "fast_clock_proven");
            ck_assert(json_is_true(json_object_get(result, "force_update")));
            ck_assert(number_of(result, "delta_time") == 0);
            refused++;
        }
        json_decref(parsed);
    }
    ck_assert_int_gt(refused, 0);
    ck_assert(hs_metric(&service, proven) == before[0] + refused);
    ck_assert(hs_metric(&service, flagged) == before[1] + refused);
    ck_assert(hs_metric(&service, failed) == before[2] + refused);
    json_t *player = answer(http, "GET", "/v1/matches/fast/players/ann", NULL);
    const json_t *timing = json_object_get(player, "timing");
    ck_assert(number_of(timing, "epoch") == 7);
    ck_assert(fabs(number_of(timing, "received") - (10.05 + 59 / 60.0)) < 1e-6);
    ck_assert(number_of(json_object_get(timing, "reasons"), "fast_clock_proven") == refused);
    ck_assert(number_of(json_object_get(timing, "flags"), "fast_clock_proven") == refused);
    ck_assert(number_of(timing, "lag_bursts_per_minute") == 0);
    ck_assert(number_of(timing, "credit") >= 0 && number_of(timing, "credit") <= 0.35);
    ck_assert(number_of(player, "suspicion") > 0);
    json_decref(player);

    /* A player without moves has no timing. */
    free(answer_text(http, "POST", "/v1/matches/fast/frames",
                     "{\"frames\":[{\"time\":11,\"players\":[{\"player\":\"ben\",\"position\":[0,"
                     "0,0]}]}]}"));
    player = answer(http, "GET", "/v1/matches/fast/players/ben", NULL);
    ck_assert_ptr_null(json_object_get(player, "timing"));
    json_decref(player);
    hs_test_http_close(http);
}
END_TEST

/* ---- rules ---- */

START_TEST(the_rules_of_the_match_apply_to_moves)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    struct hs_test_response response =
        ask(http, "PUT", "/v1/rulesets/slow",
            "{\"moves\":{\"prevention\":\"resolution\",\"max_delta\":0.05,\"modes\":{\"crawling\":"
            "{\"max_speed\":50}}},\"checks\":{\"fast_clock_proven\":\"off\"}}");
    ck_assert_msg(response.status == 201, "%s", response.body);
    hs_test_response_free(&response);
    json_t *rules = answer(http, "GET", "/v1/rulesets/slow", NULL);
    const json_t *moves = json_object_get(json_object_get(rules, "ruleset"), "moves");
    ck_assert_str_eq(text_of(moves, "prevention"), "resolution");
    const json_t *modes = json_object_get(moves, "modes");
    ck_assert_uint_eq(json_object_size(modes), 1);
    ck_assert(number_of(json_object_get(modes, "crawling"), "max_speed") == 50);
    ck_assert(number_of(json_object_get(modes, "crawling"), "credit") == 0.25);
    json_decref(rules);
    response = ask(http, "PUT", "/v1/matches/slow", "{\"ruleset\":\"slow\"}");
    ck_assert_int_eq(response.status, 201);
    hs_test_response_free(&response);
    json_t *parsed = answer(http, "POST", "/v1/matches/slow/moves",
                            "{\"moves\":[{\"player\":\"ann\",\"client_time\":5,\"received\":10},"
                            "{\"player\":\"ann\",\"client_time\":5.2,\"received\":10.2}]}");
    ck_assert(fabs(number_of(result_at(parsed, 1), "delta_time") - 0.05) < 1e-9);
    json_decref(parsed);

    response =
        ask(http, "PUT", "/v1/rulesets/slow",
            "{\"history\":{\"same_time\":\"newest\"},\"moves\":{\"client_authoritative\":true,"
            "\"prevention\":\"trust\",\"modes\":{\"a b\":{},\"x\":{\"jump\":1}},"
            "\"credit\":{\"least\":0}},\"checks\":{\"teleports\":\"off\"}}");
    ck_assert_int_eq(response.status, 400);
    static const char *const pointers[] = {"/history/same_time",  "/moves/client_authoritative",
                                           "/moves/prevention",   "/moves/modes/a b",
                                           "/moves/modes/x/jump", "/moves/credit/least",
                                           "/checks/teleports"};
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
        ck_assert_msg(strstr(response.body, pointers[i]) != NULL, "no %s in %s", pointers[i],
                      response.body);
    hs_test_response_free(&response);
    hs_test_http_close(http);
}
END_TEST

static int run_suite(void)
{
    Suite *suite = suite_create("moves over HTTP");
    TCase *tcase = tcase_create("moves");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_batch_sent_again_is_answered_with_the_same_bytes);
    tcase_add_test(tcase, a_table_is_the_list_it_stands_for);
    tcase_add_test(tcase, the_last_96_are_kept);
    tcase_add_loop_test(tcase, bad_fields_have_pointers_and_change_nothing, 0,
                        (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tcase, strange_client_times_are_answered_one_by_one);
    tcase_add_test(tcase, a_tick_checks_moves_after_frames_and_before_the_rest);
    tcase_add_test(tcase, positions_are_acknowledged_or_corrected);
    tcase_add_test(tcase, a_fast_clock_is_refused_counted_and_reported);
    tcase_add_test(tcase, the_rules_of_the_match_apply_to_moves);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = run_suite();
    return hs_test_service_stop(&service) && failed == 0 ? 0 : 1;
}
