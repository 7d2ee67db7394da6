/* The built-in rulesets are the same rules in several frames of reference. The same scenes, posted
   in the frame of each engine, get the same answers under each ruleset. Two of the frames are
   mirror images of the scenes' frame, so this also tests handedness. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/scenario/expect.h"
#include "cli/play/scenario/reference.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"
#include "validators/ruleset.h"

static struct hs_test_service service;
static struct hs_test_http *http;

static void setup(void)
{
    http = hs_test_http_open(service.data_port);
}

static void teardown(void)
{
    hs_test_http_close(http);
}

/* The frames of the engines. Each converts from the frame of the scenes, which has metres, x ahead,
   y to the left and z up, and is right-handed. */
static const struct hs_reference frames[] = {
    {.name = "metres", .unit = 1, .axis = {0, 1, 2}, .sign = {1, 1, 1}},
    {.name = "centimetres", .unit = 100, .axis = {0, 1, 2}, .sign = {1, 1, 1}},
    {.name = "inches", .unit = 1 / 0.0254, .axis = {0, 1, 2}, .sign = {1, 1, 1}},
    /* x ahead, y to the right: left-handed */
    {.name = "unreal", .unit = 100, .axis = {0, 1, 2}, .sign = {1, -1, 1}},
    /* x to the right, y up, z ahead: left-handed */
    {.name = "unity", .unit = 1, .axis = {1, 2, 0}, .sign = {-1, 1, 1}},
    /* x to the right, y up, z behind: right-handed */
    {.name = "godot", .unit = 1, .axis = {1, 2, 0}, .sign = {-1, 1, -1}},
    {.name = "source", .unit = 1 / 0.0254, .axis = {0, 1, 2}, .sign = {1, 1, 1}},
};

_Static_assert(sizeof frames / sizeof frames[0] == HS_BUILTIN_RULESETS, "a frame for each");

/* Places: `A` runs across the view and is at (20,0,0) at time 1. `R` runs at 7 m/s and is at
   (-6,4.6,0) at time 1, and at (-6,6,0) when the claims arrive. `L` lies on the ground with the
   head at (10,6.4,0.3). */
static const char others[] = "{\"player\":\"C\",\"position\":[12,-6,0],\"stance\":\"crouch\"},"
                             "{\"player\":\"L\",\"position\":[10,8,0.3],\"rotation\":[0."
                             "7071067811865476,0,0,0.7071067811865476]},"
                             "{\"player\":\"K\",\"position\":[0,-1.2,0]}";

static const struct {
    /* the members of the hit; shooter `S` and a start are added if they are missing */
    const char *hit;
    const char *verdict, *reason, *zone;
} scenes[] = {
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"end\":[20,0,1.6]", "accepted", "ok", "head"},
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"end\":[20,0,1.1]", "accepted", "ok", "torso"},
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"end\":[20,0,0.4]", "accepted", "ok", "limb"},
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"end\":[20,0,1.9]", "rejected", "no_intersection",
     NULL},
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"end\":[20,0.5,1.1]", "rejected", "no_intersection",
     NULL},
    {"\"weapon\":\"rifle\",\"target\":\"C\",\"end\":[12,-6,1.1]", "accepted", "ok", "torso"},
    {"\"weapon\":\"rifle\",\"target\":\"C\",\"end\":[12,-6,1.7]", "rejected", "no_intersection",
     NULL},
    {"\"weapon\":\"rifle\",\"target\":\"L\",\"end\":[10,6.4,0.3]", "accepted", "ok", "head"},
    {"\"weapon\":\"rifle\",\"target\":\"L\",\"end\":[10,6.7,0.3]", "accepted", "ok", "torso"},
    {"\"weapon\":\"rifle\",\"target\":\"L\",\"end\":[10,8.3,0.3]", "rejected", "no_intersection",
     NULL},
    {"\"weapon\":\"shotgun\",\"target\":\"A\",\"pellets\":[{\"end\":[20,0,1.6]},{\"end\":[20,0,2.4]"
     "}]",
     "accepted", "ok", "head"},
    {"\"weapon\":\"knife\",\"target\":\"K\",\"end\":[0,-1.2,1.1]", "accepted", "ok", "torso"},
    {"\"weapon\":\"bow\",\"target\":\"A\",\"end\":[20,0,1.1],\"fire_time\":0.5", "accepted", "ok",
     "torso"},
    {"\"weapon\":\"bow\",\"target\":\"A\",\"end\":[20,0,1.1],\"fire_time\":0.8", "rejected",
     "flight_time", NULL},
    {"\"weapon\":\"rocket\",\"target\":\"A\",\"end\":[20,0,1.1],\"fire_time\":0.343", "accepted",
     "ok", "torso"},
    {"\"weapon\":\"rifle\",\"target\":\"A\",\"start\":[0,0,2.4],\"end\":[20,0,1.6]", "rejected",
     "origin_mismatch", NULL},
    /* without a fire time, the shooter's eye at the time of the claim's arrival counts */
    {"\"shooter\":\"R\",\"weapon\":\"rifle\",\"target\":\"A\",\"start\":[-6,6,1.6],\"end\":[20,0,1."
     "1]",
     "accepted", "ok", "torso"},
    {"\"shooter\":\"R\",\"weapon\":\"rifle\",\"target\":\"A\",\"start\":[-6,4.6,1.6],\"end\":[20,0,"
     "1.1]",
     "rejected", "origin_mismatch", NULL},
};

enum { SCENES = sizeof scenes / sizeof scenes[0] };

/* Writes the request of one tick in the frame of the scenes. */
static json_t *write_scene(int scene)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("{\"now\":1.2,\"frames\":[", out);
    for (int i = 0; i <= 24; i++)
        fprintf(out,
                "%s{\"time\":%.2f,\"players\":[{\"player\":\"S\",\"position\":[0,0,0]},"
                "{\"player\":\"A\",\"position\":[20,%.2f,0]},{\"player\":\"R\",\"rtt\":0.18,"
                "\"interp\":0.02,\"position\":[-6,%.2f,0]},%s]}",
                i > 0 ? "," : "", 0.05 * i, 0.2 * i - 4, 0.35 * i - 2.4, others);
    /* the moves of S rise, without gravity */
    fputs("],\"moves\":[", out);
    for (int i = 0; i < 40; i++)
        fprintf(out,
                "%s{\"player\":\"S\",\"client_time\":%.2f,\"received\":%.2f,\"mode\":\"falling\","
                "\"position\":[%.2f,0,%.2f],\"velocity\":[1,0,%d]}",
                i > 0 ? "," : "", 1 + 0.05 * i, 1 + 0.05 * i, 0.05 * i, 0.5 * i, 10);
    fprintf(out, "],\"hits\":[{\"shot\":1,\"hit_time\":1.0,%s%s%s}]}", scenes[scene].hit,
            strstr(scenes[scene].hit, "\"shooter\"") != NULL ? "" : ",\"shooter\":\"S\"",
            strstr(scenes[scene].hit, "\"start\"") != NULL ? "" : ",\"start\":[0,0,1.6]");
    fclose(out);
    json_t *body = json_loads(text, 0, NULL);
    ck_assert_msg(body != NULL, "%s", text);
    free(text);
    return body;
}

/* At any depth, removes the parts that differ between frames: names, and sentences that contain
   lengths. */
static void forget_names(json_t *value)
{
    static const char *const names[] = {"revision", "verdict_id", "detail"};
    void *next;
    const char *key;
    size_t i;
    json_t *member;
    for (i = 0; json_is_object(value) && i < sizeof names / sizeof names[0]; i++)
        json_object_del(value, names[i]);
    json_object_foreach_safe(value, next, key, member) forget_names(member);
    json_array_foreach(value, i, member) forget_names(member);
}

/* Posts the shot of a hit at its fire time, with the frames, if the weapon requires a posted
   shot. */
static void post_shot(const char *path, const struct hs_reference *frame, json_t *body)
{
    const json_t *hit = json_array_get(json_object_get(body, "hits"), 0);
    const char *weapon = json_string_value(json_object_get(hit, "weapon"));
    json_t *time = json_object_get(hit, "fire_time");
    long status;
    if (strcmp(weapon, "rifle") == 0 || strcmp(weapon, "knife") == 0)
        return;
    time = time != NULL ? time : json_object_get(hit, "hit_time");
    json_t *fired =
        json_pack("{s:O, s:O, s:[{s:i, s:s, s:s, s:O, s:O}]}", "now", time, "frames",
                  json_object_get(body, "frames"), "shots", "shot", 1, "shooter", "S", "weapon",
                  weapon, "time", time, "origin", json_object_get(hit, "start"));
    json_t *answer =
        hs_test_http_json(http, "POST", path, hs_reference_apply(frame, fired), &status);
    const json_t *shot = json_array_get(json_object_get(answer, "shots"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(shot, "verdict")), "accepted");
    json_object_del(body, "frames");
    json_decref(answer);
    json_decref(fired);
}

static json_t *play(int scene, const struct hs_reference *frame)
{
    char path[96];
    long status;
    json_t *body = write_scene(scene);
    snprintf(path, sizeof path, "/v1/matches/%s-%d", frame->name, scene);
    json_decref(
        hs_test_http_json(http, "PUT", path, json_pack("{s:s}", "ruleset", frame->name), &status));
    ck_assert_int_eq(status, 201);
    snprintf(path, sizeof path, "/v1/matches/%s-%d/ticks?explain=true", frame->name, scene);
    post_shot(path, frame, body);
    json_t *answer =
        hs_test_http_json(http, "POST", path, hs_reference_apply(frame, body), &status);
    ck_assert_int_eq(status, 200);
    json_decref(body);
    forget_names(answer);
    return answer;
}

/* Checks the parts that the scene is about. */
static void assert_scene(const json_t *answer, int scene)
{
    const json_t *hit = json_array_get(json_object_get(answer, "hits"), 0);
    const char *zone = json_string_value(json_object_get(json_object_get(hit, "impact"), "zone"));
    bool is_right =
        strcmp(json_string_value(json_object_get(hit, "verdict")), scenes[scene].verdict) == 0 &&
        strcmp(json_string_value(json_object_get(hit, "reason")), scenes[scene].reason) == 0 &&
        (scenes[scene].zone == NULL || (zone != NULL && strcmp(zone, scenes[scene].zone) == 0));
    char *text = json_dumps(hit, JSON_COMPACT);
    ck_assert_msg(is_right, "scene %d: %s", scene, text);
    free(text);
    text = json_dumps(json_object_get(answer, "moves"), 0);
    ck_assert_ptr_nonnull(strstr(text, "gravity_violation"));
    free(text);
}

/* Row: a scene. */
START_TEST(every_frame_has_the_same_answers)
{
    json_t *base = play(_i, &frames[0]);
    assert_scene(base, _i);
    for (int i = 1; i < HS_BUILTIN_RULESETS; i++) {
        char fault[HS_EXPECT_FAULT_MAX];
        json_t *expected = hs_reference_apply(&frames[i], base), *got = play(_i, &frames[i]);
        ck_assert_msg(hs_expect_json(expected, got, frames[i].unit, fault), "scene %d, %s: %s", _i,
                      frames[i].name, fault);
        json_decref(expected);
        json_decref(got);
    }
    json_decref(base);
}
END_TEST

/* If a document sets only `up`, its bodies stand along that axis. */
START_TEST(the_rig_that_is_left_out_stands_upright)
{
    const struct hs_reference centimetres = {
        .unit = 100, .axis = {0, 1, 2}, .sign = {1, 1, 1}, .turn = {0, 0, 0, 1}};
    char fault[HS_EXPECT_FAULT_MAX];
    long status;
    json_decref(hs_test_http_json(http, "PUT", "/v1/rulesets/tall", json_pack("{s:s}", "up", "+y"),
                                  &status));
    ck_assert_int_eq(status, 201);
    json_t *tall = hs_test_http_json(http, "GET", "/v1/rulesets/tall", NULL, NULL);
    json_t *unity = hs_test_http_json(http, "GET", "/v1/rulesets/unity", NULL, NULL);
    json_t *rigs =
        json_pack("{s:O}", "rigs", json_object_get(json_object_get(unity, "ruleset"), "rigs"));
    json_t *expected = hs_reference_apply(&centimetres, rigs);
    ck_assert_msg(hs_expect_json(expected, json_object_get(tall, "ruleset"), 100, fault), "%s",
                  fault);
    json_decref(expected);
    json_decref(rigs);
    json_decref(unity);
    json_decref(tall);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("builtin rulesets");
    TCase *tests = tcase_create("frames of reference");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, every_frame_has_the_same_answers, 0, SCENES);
    tcase_add_test(tests, the_rig_that_is_left_out_stands_upright);
    suite_add_tcase(suite, tests);
    if (!hs_test_service_start(&service, NULL))
        return EXIT_FAILURE;
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? EXIT_SUCCESS : EXIT_FAILURE;
}
