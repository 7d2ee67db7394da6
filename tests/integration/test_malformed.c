/*
 * A bad field affects only its own item. Such an item gets its own answer in its place and changes
 * nothing. Everything else in the request is applied. Recordings with such items give the same
 * bytes again.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/buffer.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

#define HIT(shot, more)                                                                            \
    "{\"shot\":" shot ",\"shooter\":\"s\",\"hit_time\":11,\"start\":[0,0,160],"                    \
    "\"end\":[500,0,160],\"target\":\"t\"" more "}"
#define SHOT(shot, more)                                                                           \
    "{\"shot\":" shot ",\"shooter\":\"s\",\"time\":11,\"origin\":[0,0,160]" more "}"
#define MOVE(seq, time, more)                                                                      \
    "{\"player\":\"s\",\"seq\":" seq ",\"client_time\":" time ",\"received\":" time more "}"
#define PLAYER(name, more) "{\"player\":\"" name "\",\"position\":[0,0,0]" more "}"
#define LONG_NAME          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A tick without bad items. */
static const char good[] =
    "{\"now\":11.05,\"frames\":[{\"time\":11.05,\"players\":["
    "{\"player\":\"s\",\"position\":[0,0,0]},"
    "{\"player\":\"t\",\"position\":[500,0,0]}],\"movers\":["
    "{\"mover\":\"m\",\"position\":[0,0,900],"
    "\"box\":{\"half_extents\":[1,1,1]}}]}],"
    "\"moves\":[" MOVE("1", "11", "") "," MOVE(
        "2", "11.05", "") "],"
                          "\"shots\":[" SHOT("7", "") "],"
                                                      "\"hits\":[" HIT("7", "") "]}";

/* A tick with one bad item of every kind. The faults are an unknown member, a number out of range,
   a name that is too long, a missing member, and an item that is not an object. */
static const char mixed[] = "{\"now\":11.05,\"frames\":[{\"time\":1e10,\"players\":[" PLAYER(
    "s",
    "") "]},"
        "{\"time\":11.05,\"players\":[" PLAYER(
            "a",
            ",\"speed\":3") ","
                            "{\"player\":\"s\",\"position\":[0,0,0]}," PLAYER(
                                LONG_NAME,
                                "") ","
                                    "{\"player\":\"t\",\"position\":[500,0,0]}],\"movers\":[7,"
                                    "{\"mover\":\"m\",\"position\":[0,0,900],\"box\":{\"half_"
                                    "extents\":[1,1,1]}}]}],"
                                    "\"moves\":[" MOVE("1", "11", "") "," MOVE("9", "11.01", ",\"dilation\":-1") "," MOVE(
                                        "2", "11.05",
                                        "") "],"
                                            "\"shots\":[" SHOT("-1", "") "," SHOT("7", "") "," SHOT(
                                                "8", ",\"colour\":1") "],"
                                                                      "\"hits\":[null," HIT(
                                                                          "8",
                                                                          ",\"claimed_bone\":\"a "
                                                                          "b\"") "," HIT("7",
                                                                                         "") "]}";

static void open_match(const char *match)
{
    hs_kept_frames(&kept, match, 10);
}

static json_t *post(const char *path, const char *body)
{
    char *text = hs_kept_post(&kept, path, body);
    json_t *answer = json_loads(text, 0, NULL);
    ck_assert_msg(answer != NULL, "%s", text);
    free(text);
    return answer;
}

/* Returns the pointers of an item's errors, in order. */
static const char *pointers_of(const json_t *item)
{
    static char text[1024];
    size_t i;
    json_t *error;
    text[0] = '\0';
    json_array_foreach(json_object_get(item, "errors"), i, error)
    {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? " " : "",
                 json_string_value(json_object_get(error, "pointer")));
    }
    return text;
}

/* Takes the answers to malformed items out of a list, and compares their pointers. */
static void take_malformed(json_t *list, const char *const *pointers)
{
    for (size_t i = 0; i < json_array_size(list);) {
        const json_t *item = json_array_get(list, i);
        const char *reason = json_string_value(json_object_get(item, "reason"));
        if (reason == NULL || strcmp(reason, "malformed") != 0) {
            i++;
            continue;
        }
        ck_assert_ptr_nonnull(*pointers);
        ck_assert_str_eq(pointers_of(item), *pointers++);
        json_array_remove(list, i);
    }
    ck_assert_ptr_null(*pointers);
}

static double count_of(const char *series)
{
    return hs_kept_metric(&kept, series);
}

START_TEST(a_bad_item_of_every_kind_in_one_tick)
{
    hs_kept_start(&kept, NULL);
    open_match("good");
    open_match("mixed");
    json_t *wanted = post("/v1/matches/good/ticks", good);
    json_t *answer = post("/v1/matches/mixed/ticks", mixed);
    json_t *hit = json_array_get(json_object_get(answer, "hits"), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(hit, "shot")), 8);
    ck_assert_str_eq(json_string_value(json_object_get(hit, "shooter")), "s");
    ck_assert_str_eq(json_string_value(json_object_get(hit, "verdict")), "rejected");
    json_t *frames = json_object_get(answer, "frames");
    take_malformed(json_object_get(frames, "refused"),
                   (const char *const[]){"/frames/0/time", "/frames/1/players/0/speed",
                                         "/frames/1/players/2/player", "/frames/1/movers/0", NULL});
    take_malformed(json_object_get(answer, "moves"),
                   (const char *const[]){"/moves/1/dilation", NULL});
    take_malformed(json_object_get(answer, "shots"),
                   (const char *const[]){"/shots/0/shot", "/shots/2/colour", NULL});
    take_malformed(json_object_get(answer, "hits"),
                   (const char *const[]){"/hits/0", "/hits/1/claimed_bone", NULL});
    json_t *const both[] = {wanted, answer};
    for (size_t i = 0; i < 2; i++) { /* ids depend on the name of the match */
        json_object_del(json_array_get(json_object_get(both[i], "shots"), 0), "verdict_id");
        json_object_del(json_array_get(json_object_get(both[i], "hits"), 0), "verdict_id");
    }
    ck_assert(json_equal(wanted, answer));
    json_decref(wanted);
    json_decref(answer);

    /* Suspicion, counters and history are the same in both matches. */
    static const char *const players[] = {"s", "t"};
    for (size_t i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/matches/good/players/%s", players[i]);
        char *before = hs_kept_get(&kept, path);
        snprintf(path, sizeof path, "/v1/matches/mixed/players/%s", players[i]);
        hs_kept_same(&kept, path, before);
        free(before);
    }
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/matches/mixed/players/a", NULL), 404);
#define MALFORMED "verdict=\"rejected\",reason=\"malformed\""
    ck_assert(count_of("hindsight_verdicts_total{kind=\"hit\"," MALFORMED ",mode=\"enforce\"}") ==
              2);
    ck_assert(count_of("hindsight_verdicts_total{kind=\"shot\"," MALFORMED ",mode=\"enforce\"}") ==
              2);
    ck_assert(count_of("hindsight_moves_total{" MALFORMED "}") == 1);
    ck_assert(count_of("hindsight_frames_total{result=\"malformed\"}") == 3);
    ck_assert(count_of("hindsight_mover_frames_total{result=\"malformed\"}") == 1);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(a_repaired_item_is_verified)
{
    hs_kept_start(&kept, NULL);
    open_match("m");
    for (int i = 0; i < 2; i++) /* the answer to a malformed item is never a repeated one */
        hs_kept_holds(hs_kept_post(&kept, "/v1/matches/m/hits",
                                   "{\"hits\":[" HIT("1", ",\"radius\":\"big\"") "]}"),
                      "\"pointer\":\"/hits/0/radius\",\"detail\":\"must be a finite number\"}],"
                      "\"replayed\":false}");
    hs_kept_holds(hs_kept_post(&kept, "/v1/matches/m/hits", "{\"hits\":[" HIT("1", "") "]}"),
                  "\"verdict\":\"accepted\"");
    hs_kept_stop(&kept);
}
END_TEST

/* A client can choose any number, and some languages print 1e20 as a whole number. */
START_TEST(a_number_out_of_range_is_a_fault_of_its_item)
{
    static const char *const numbers[] = {"1e400", "-1e400", "100000000000000000000",
                                          "-9223372036854775809"};
    char *answer = NULL;
    hs_kept_start(&kept, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char match[16], path[64], body[1024];
        snprintf(match, sizeof match, "m%zu", i);
        snprintf(path, sizeof path, "/v1/matches/%s/ticks", match);
        open_match(match);
        snprintf(body, sizeof body,
                 "{\"x_1\":%s,\"frames\":[{\"time\":11.05,\"players\":[" PLAYER(
                     "s", "") "]}],"
                              "\"hits\":[" HIT("1", ",\"radius\":%s,\"claimed_bone\":%s") "," HIT(
                                  "2", "") "]}",
                 numbers[i], numbers[i], numbers[i]);
        json_t *tick = post(path, body), *hits = json_object_get(tick, "hits");
        ck_assert_str_eq(pointers_of(json_array_get(hits, 0)),
                         "/hits/0/radius /hits/0/claimed_bone");
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(hits, 1), "reason")),
                         "ok");
        json_decref(tick);
        strcat(path, "?strict=true");
        ck_assert_int_eq(hs_kept_send(&kept, "POST", path, body, &answer), 400);
        hs_kept_holds(answer, "/hits/0/radius");
    }
    hs_kept_stop(&kept);
}
END_TEST

/* Some languages allow half a surrogate pair in a string, and escape it in JSON. */
START_TEST(half_a_character_is_a_fault_of_its_item)
{
    static const char *const halves[] = {"\\ud800", "\\uDC00x", "a\\uDbFf\\u0041",
                                         "\\udc00\\ud800"};
    static const char *const whole[] = {"\\ud83d\\ude00", "\\\\ud800"};
    hs_kept_start(&kept, NULL);
    open_match("m");
    for (size_t i = 0; i < 6; i++) {
        const char *text = i < 4 ? halves[i] : whole[i - 4];
        char body[1024];
        snprintf(body, sizeof body,
                 "{\"x_1\":\"%s\",\"hits\":[" HIT("1", ",\"claimed_bone\":\"%s\"") ",7]}", text,
                 text);
        json_t *answer = post("/v1/matches/m/hits", body);
        const json_t *results = json_object_get(answer, "results");
        ck_assert_str_eq(pointers_of(json_array_get(results, 0)), "/hits/0/claimed_bone");
        ck_assert_str_eq(pointers_of(json_array_get(results, 1)), "/hits/1");
        json_decref(answer);
    }
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(strict_refuses_the_whole_request)
{
    char *answer = NULL;
    hs_kept_start(&kept, NULL);
    open_match("m");
    char *before = hs_kept_get(&kept, "/v1/matches/m");
    ck_assert_int_eq(hs_kept_send(&kept, "POST", "/v1/matches/m/ticks?strict=true", mixed, &answer),
                     400);
    hs_kept_holds(answer, "/hits/1/claimed_bone");
    hs_kept_same(&kept, "/v1/matches/m", before);
    free(before);
    json_decref(post("/v1/matches/m/ticks?strict=0", mixed));
    json_decref(post("/v1/matches/m/ticks?strict=false", mixed));
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(a_jump_after_a_malformed_frame_names_its_own)
{
    hs_kept_start(&kept, NULL);
    open_match("m");
    json_t *answer = post(
        "/v1/matches/m/frames",
        "{\"frames\":[7,{\"time\":11.05,\"players\":[" PLAYER(
            "s", "") "]},8,9,"
                     "{\"time\":11.1,\"players\":[{\"player\":\"s\",\"position\":[9000,0,0]}]}]}");
    const json_t *jumps = json_object_get(answer, "jumps");
    ck_assert_uint_eq(json_array_size(jumps), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(jumps, 0), "frame")), 4);
    json_decref(answer);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(rows_of_a_table_are_items_too)
{
    hs_kept_start(&kept, NULL);
    json_t *answer = post("/v1/matches/m/moves",
                          "{\"columns\":[\"client_time\",\"seq\",\"player\",\"received\"],"
                          "\"rows\":[[10,1,\"s\",10],[10,2,\"s\",\"soon\"],[10.1,3,\"s\",10.1]]}");
    const json_t *results = json_object_get(answer, "results");
    const json_t *bad = json_array_get(results, 1);
    ck_assert_uint_eq(json_array_size(results), 3);
    ck_assert_str_eq(pointers_of(bad), "/rows/1/3");
    ck_assert_int_eq(json_integer_value(json_object_get(bad, "seq")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(bad, "player")), "s");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(results, 2), "verdict")),
                     "accepted");
    json_decref(answer);
    answer = post("/v1/matches/m/moves", "{\"columns\":[\"client_time\",\"player\",\"received\"],"
                                         "\"rows\":[[10,\"s\",10,7]]}");
    bad = json_array_get(json_object_get(answer, "results"), 0);
    ck_assert_str_eq(pointers_of(bad), "/rows/0");
    ck_assert_ptr_null(json_object_get(bad, "seq")); /* 7 is in no column */
    json_decref(answer);
    hs_kept_stop(&kept);
}
END_TEST

/* Posts `count` hits with ten faults each, and then a good hit. Returns the status. */
static long post_many(int count, char **answer)
{
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"hits\":[");
    for (int i = 0; i < count; i++)
        hs_buffer_puts(&body, "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1},");
    hs_buffer_puts(&body, HIT("1", "") "]}");
    hs_buffer_append(&body, "", 1);
    long status = hs_kept_send(&kept, "POST", "/v1/matches/m/hits", body.data, answer);
    hs_buffer_free(&body);
    return status;
}

START_TEST(errors_are_bounded)
{
    char *text = NULL;
    hs_kept_start(&kept, NULL);
    open_match("m");
    ck_assert_int_eq(post_many(100, &text), 200);
    json_t *answer = json_loads(text, 0, NULL);
    free(text);
    const json_t *results = json_object_get(answer, "results");
    ck_assert_uint_eq(json_array_size(results), 101);
    for (size_t i = 0; i < 100; i++) { /* five members are unknown, and five are missing */
        const json_t *item = json_array_get(results, i);
        size_t kept_errors = i < 4 ? 8 : 1;
        ck_assert_uint_eq(json_array_size(json_object_get(item, "errors")), kept_errors);
        ck_assert_int_eq(json_integer_value(json_object_get(item, "errors_left_out")),
                         (json_int_t)(10 - kept_errors));
    }
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(results, 100), "reason")),
                     "ok");
    json_decref(answer);
    hs_kept_stop(&kept);
}
END_TEST

/* A frame is a list within a list. The malformed entries of all frames count together against
   max-batch. */
START_TEST(too_many_malformed_items_refuse_the_request)
{
    char *answer = NULL;
    hs_kept_start(&kept, (const char *const[]){"--max-batch", "10", NULL});
#define FIVE(time) "{\"time\":" time ",\"players\":[1,2,3,4,5]}"
    hs_kept_holds(
        hs_kept_post(&kept, "/v1/matches/m/frames", "{\"frames\":[" FIVE("1") "," FIVE("2") "]}"),
        "/frames/1/players/4");
    ck_assert_int_eq(hs_kept_send(&kept, "POST", "/v1/matches/m/frames",
                                  "{\"frames\":[" FIVE("1") "," FIVE("2") "," FIVE("3") "]}",
                                  &answer),
                     400);
    hs_kept_holds(answer, "{\"pointer\":\"/frames/2/players\","
                          "\"detail\":\"more than 10 items are malformed\"}");
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(a_recording_gives_the_same_bytes)
{
    char path[128];
    struct hs_test_run run;
    snprintf(path, sizeof path, "%s/stream", kept.directory);
    hs_kept_start(&kept, (const char *const[]){"--record", path, NULL});
    open_match("m");
    json_decref(post("/v1/matches/m/ticks", mixed));
    json_decref(post("/v1/matches/m/ticks", mixed));
    hs_kept_stop(&kept);
    HS_TEST_RUN(&run, "recheck", path, "--json");
    ck_assert_msg(run.code == 0, "%d: %s%s", run.code, run.out, run.err);
    ck_assert_ptr_nonnull(strstr(run.out, "malformed"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("malformed items");
    TCase *tcase = tcase_create("items");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_bad_item_of_every_kind_in_one_tick);
    tcase_add_test(tcase, a_repaired_item_is_verified);
    tcase_add_test(tcase, a_number_out_of_range_is_a_fault_of_its_item);
    tcase_add_test(tcase, half_a_character_is_a_fault_of_its_item);
    tcase_add_test(tcase, strict_refuses_the_whole_request);
    tcase_add_test(tcase, a_jump_after_a_malformed_frame_names_its_own);
    tcase_add_test(tcase, rows_of_a_table_are_items_too);
    tcase_add_test(tcase, errors_are_bounded);
    tcase_add_test(tcase, too_many_malformed_items_refuse_the_request);
    tcase_add_test(tcase, a_recording_gives_the_same_bytes);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
