/* Frames of reference, tracks, and the scenario format. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/scenario/file.h"
#include "cli/play/scenario/reference.h"
#include "cli/play/track.h"
#include "tests/support/run_suite.h"

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    ck_assert_msg(value != NULL, "not JSON: %s", text);
    return value;
}

/* ---- references ---- */

static void turn(const struct hs_reference *reference, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = reference->sign[i] * v[reference->axis[i]];
}

static void rotate(const double q[4], const double v[3], double out[3])
{
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]),
                   2 * (q[0] * v[1] - q[1] * v[0])};
    out[0] = v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
}

/* Returns a frame of reference. Checks that its table and its quaternion agree, and that it is no
   mirror. */
static const struct hs_reference *find_reference(const char *name)
{
    for (size_t i = 0; i < HS_REFERENCES; i++)
        if (strcmp(hs_references[i].name, name) == 0)
            return &hs_references[i];
    return NULL;
}

START_TEST(test_reference_is_a_rotation)
{
    const struct hs_reference *reference = &hs_references[_i];
    const double v[3] = {1.25, -2.5, 7};
    double a[3], b[3];
    turn(reference, v, a);
    rotate(reference->turn, v, b);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(a[i], b[i], 1e-12);
}
END_TEST

START_TEST(test_reference_as_written_changes_nothing)
{
    json_t *before = parse("{\"position\":[1,2.5,3],\"now\":1.0,\"radius\":5,\"up\":\"+z\","
                           "\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"capsule\"}]}}}");
    json_t *after = hs_reference_apply(find_reference("metres"), before);
    char *a = json_dumps(before, JSON_SORT_KEYS), *b = json_dumps(after, JSON_SORT_KEYS);
    json_t *again = parse(b);
    ck_assert_msg(json_object_size(again) == 5, "%s and %s", a, b);
    ck_assert_double_eq(json_number_value(json_object_get(again, "radius")), 5);
    ck_assert_str_eq(json_string_value(json_object_get(again, "up")), "+z");
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(again, "position"), 1)),
                        2.5);
    ck_assert_msg(strstr(b, "rotation") == NULL, "%s", b);
    free(a);
    free(b);
    json_decref(again);
    json_decref(before);
    json_decref(after);
}
END_TEST

/* What the frame of reference `turned` does with a document: it changes `before` to `after`
   (numbers within 1e-9). */
static const struct {
    const char *before, *after;
} turned[] = {
    {"{\"position\":[1,2,3]}", "{\"position\":[4099800,-2299700,7699900]}"},
    {"{\"velocity\":[1,2,3]}", "{\"velocity\":[-200,300,-100]}"},
    {"{\"normal\":[1,2,3]}", "{\"normal\":[-2,3,-1]}"},
    {"{\"origin\":[1,2,3]}", "{\"origin\":[4099800,-2299700,7699900]}"},
    {"{\"direction\":[1,2,3],\"directions\":[[1,2,3],[0,0,1]]}",
     "{\"direction\":[-2,3,-1],\"directions\":[[-2,3,-1],[0,1,0]]}"},
    {"{\"directions\":[],\"direction\":\"up\"}", "{\"directions\":[],\"direction\":\"up\"}"},
    {"{\"half_extents\":[1,2,3]}", "{\"half_extents\":[200,300,100]}"},
    {"{\"rotation\":[0,0,0.6,0.8]}", "{\"rotation\":[0,0.6,0,0.8]}"},
    {"{\"up\":\"+z\"}", "{\"up\":\"+y\"}"},
    {"{\"up\":\"+x\"}", "{\"up\":\"-z\"}"},
    {"{\"up\":\"-y\"}", "{\"up\":\"+x\"}"},
    {"{\"radius\":0.05,\"damage\":20}", "{\"radius\":5,\"damage\":20}"},
    {"{\"falloff\":[[10,1],[50,0.5]]}", "{\"falloff\":[[1000,1],[5000,0.5]]}"},
    {"{\"rewind\":{\"limit\":0.25}}", "{\"rewind\":{\"limit\":0.25}}"},
    {"{\"measured\":0.6,\"limit\":0.5,\"unit\":\"length\"}",
     "{\"measured\":60,\"limit\":50,\"unit\":\"length\"}"},
    {"{\"measured\":0.6,\"unit\":\"seconds\"}", "{\"measured\":0.6,\"unit\":\"seconds\"}"},
    {"{\"bones\":[[1,2,3,0,0,0,1],null]}", "{\"bones\":[[4099800,-2299700,7699900,0,0,0,1],null]}"},
    {"{\"bones\":[[1,2,3,0,0,0,1,1,2,3]]}",
     "{\"bones\":[[4099800,-2299700,7699900,0,0,0,1,2,3,1]]}"},
    {"{\"distance\":{\"$near\":20,\"$within\":0.01}}",
     "{\"distance\":{\"$near\":2000,\"$within\":1}}"},
    {"{\"point\":{\"$near\":[0,0,0],\"$within\":0.01}}",
     "{\"point\":{\"$near\":[4100000,-2300000,7700000],\"$within\":1}}"},
    /* Inside a rig nothing is moved. A capsule keeps its own z axis, and its rotation turns. */
    {"{\"rigs\":{\"a\":{\"bones\":[\"root\"],\"stances\":{\"s\":{\"eye\":[0,0,1.6],"
     "\"bones\":[[0,0,1,0,0,0,1]]}}}}}",
     "{\"rigs\":{\"a\":{\"bones\":[\"root\"],\"stances\":{\"s\":{\"eye\":[0,160,0],"
     "\"bones\":[[0,100,0,0,0,0,1]]}}}}}"},
    {"{\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"capsule\",\"center\":[0,0,1]}]}}}",
     "{\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"capsule\",\"center\":[0,100,0],"
     "\"rotation\":[-0.5,0.5,0.5,0.5]}]}}}"},
    {"{\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"sphere\",\"center\":[1,0,0]}]}}}",
     "{\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"sphere\",\"center\":[0,0,-100]}]}}}"},
    /* In maps, `min` stays the corner with the smaller coordinates, and a bad box stays bad. */
    {"{\"vertices\":[[1,2,3],[0,0,0]],\"triangles\":[[0,1,0]],\"boxes\":[]}",
     "{\"vertices\":[[4099800,-2299700,7699900],[4100000,-2300000,7700000]],"
     "\"triangles\":[[0,1,0]],\"boxes\":[]}"},
    {"{\"boxes\":[{\"min\":[1,2,3],\"max\":[10,20,30]}]}",
     "{\"boxes\":[{\"min\":[4098000,-2299700,7699000],\"max\":[4099800,-2297000,7699900]}]}"},
    {"{\"min\":[10,2,3],\"max\":[1,20,30]}",
     "{\"min\":[4098000,-2299700,7699900],\"max\":[4099800,-2297000,7699000]}"},
    {"{\"min\":[10,2,3],\"max\":null}", "{\"min\":[4099800,-2299700,7699000],\"max\":null}"},
    /* A mover's box is in the mover's own frame of reference, which turns with the world. */
    {"{\"mover\":\"a\",\"position\":[1,2,3],\"box\":{\"half_extents\":[1,2,3],"
     "\"center\":[1,2,3]}}",
     "{\"mover\":\"a\",\"position\":[4099800,-2299700,7699900],\"box\":{\"half_extents\":"
     "[200,300,100],\"center\":[-200,300,-100]}}"},
    /* A value of the wrong shape stays wrong. */
    {"{\"position\":[1,2]}", "{\"position\":[1,2]}"},
    {"{\"position\":[1,\"2\",3]}", "{\"position\":[1,\"2\",3]}"},
    {"{\"rotation\":[0,0,1]}", "{\"rotation\":[0,0,1]}"},
    {"{\"hit_time\":\"12\",\"position\":null}", "{\"hit_time\":\"12\",\"position\":null}"},
};

static bool nearly_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        return fabs(x - y) <= 1e-9 + 1e-15 * fabs(x);
    }
    if (json_is_array(a) && json_array_size(a) == json_array_size(b)) {
        bool same = json_is_array(b);
        for (size_t i = 0; same && i < json_array_size(a); i++)
            same = nearly_equal(json_array_get(a, i), json_array_get(b, i));
        return same;
    }
    if (json_is_object(a) && json_object_size(a) == json_object_size(b)) {
        bool same = json_is_object(b);
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)a, key, value) same =
            same && json_object_get(b, key) != NULL && nearly_equal(value, json_object_get(b, key));
        return same;
    }
    return json_equal(a, b);
}

START_TEST(test_reference_turned)
{
    json_t *before = parse(turned[_i].before), *expected = parse(turned[_i].after);
    json_t *after = hs_reference_apply(find_reference("turned"), before);
    char *text = json_dumps(after, JSON_COMPACT);
    ck_assert_msg(nearly_equal(after, expected), "%s became %s", turned[_i].before, text);
    free(text);
    json_decref(before);
    json_decref(expected);
    json_decref(after);
}
END_TEST

/* A turned capsule must point in the turned direction. */
START_TEST(test_reference_turns_capsules)
{
    const struct hs_reference *reference = find_reference("turned");
    json_t *before = parse("{\"rigs\":{\"a\":{\"hitboxes\":[{\"shape\":\"capsule\","
                           "\"rotation\":[0.1,0.7,-0.1,0.7]}]}}}");
    json_t *after = hs_reference_apply(reference, before);
    const char *const path[] = {"rigs", "a", "hitboxes"};
    const json_t *old = before, *new = after;
    for (size_t i = 0; i < 3; i++) {
        old = json_object_get(old, path[i]);
        new = json_object_get(new, path[i]);
    }
    old = json_object_get(json_array_get(old, 0), "rotation");
    new = json_object_get(json_array_get(new, 0), "rotation");
    double q[4], p[4], axis[3], expected[3], got[3];
    const double z[3] = {0, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        q[i] = json_number_value(json_array_get(old, i));
        p[i] = json_number_value(json_array_get(new, i));
    }
    rotate(q, z, axis);
    turn(reference, axis, expected);
    rotate(p, z, got);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(got[i], expected[i], 1e-12);
    json_decref(before);
    json_decref(after);
}
END_TEST

START_TEST(test_reference_epoch)
{
    json_t *before = parse("{\"now\":1,\"hits\":[{\"hit_time\":0.875,\"end\":[1,2,3]}],"
                           "\"rewind\":{\"by\":0.125,\"time\":{\"$near\":1,\"$within\":0.5}}}");
    json_t *expected =
        parse("{\"now\":1700000001,\"hits\":[{\"hit_time\":1700000000.875,\"end\":[1,2,3]}],"
              "\"rewind\":{\"by\":0.125,\"time\":{\"$near\":1700000001,\"$within\":0.5}}}");
    json_t *after = hs_reference_apply(find_reference("epoch"), before);
    ck_assert(nearly_equal(after, expected));
    json_decref(before);
    json_decref(expected);
    json_decref(after);
}
END_TEST

/* ---- tracks ---- */

static const char fixture[] =
    "{\"players\":{\"T\":{\"position\":[20,0,0],\"velocity\":[0,4,0]}},\"movers\":{\"lift\":"
    "{\"position\":[1,2,0],\"velocity\":[0,0,5],\"box\":{\"half_extents\":[1,1,0.1]}}}}";

static void check_track(const char *track_text, const char *expected_text)
{
    json_t *track = parse(track_text), *known = parse(fixture), *expected = parse(expected_text);
    char error[HS_TRACK_ERROR_MAX] = "";
    json_t *body = hs_track_expand(track, known, error);
    ck_assert_msg(body != NULL, "%s", error);
    char *text = json_dumps(body, JSON_COMPACT);
    ck_assert_msg(nearly_equal(json_object_get(body, "frames"), expected), "%s", text);
    free(text);
    json_decref(body);
    json_decref(track);
    json_decref(known);
    json_decref(expected);
}

START_TEST(test_track_moves_players)
{
    check_track("{\"from\":0.1,\"to\":0.3,\"every\":0.1,\"players\":[\"T\"]}",
                "[{\"time\":0.1,\"players\":[{\"player\":\"T\",\"position\":[20,0.4,0]}]},"
                "{\"time\":0.2,\"players\":[{\"player\":\"T\",\"position\":[20,0.8,0]}]},"
                "{\"time\":0.3,\"players\":[{\"player\":\"T\",\"position\":[20,1.2,0]}]}]");
}
END_TEST

START_TEST(test_track_sends_sticky_fields_once)
{
    check_track("{\"from\":0,\"to\":1,\"every\":1,\"players\":[{\"player\":\"A\","
                "\"position\":[1,0,0],\"team\":\"red\",\"rotation\":[0,0,1,0]}]}",
                "[{\"time\":0,\"players\":[{\"player\":\"A\",\"position\":[1,0,0],"
                "\"team\":\"red\",\"rotation\":[0,0,1,0]}]},"
                "{\"time\":1,\"players\":[{\"player\":\"A\",\"position\":[1,0,0],"
                "\"rotation\":[0,0,1,0]}]}]");
}
END_TEST

START_TEST(test_track_segments)
{
    check_track("{\"from\":0,\"to\":2,\"every\":1,\"players\":[{\"player\":\"T\",\"to\":1},"
                "{\"player\":\"T\",\"from\":2,\"at\":2,\"position\":[0,9,0],"
                "\"event\":\"teleport\"}]}",
                "[{\"time\":0,\"players\":[{\"player\":\"T\",\"position\":[20,0,0]}]},"
                "{\"time\":1,\"players\":[{\"player\":\"T\",\"position\":[20,4,0]}]},"
                "{\"time\":2,\"players\":[{\"player\":\"T\",\"position\":[0,9,0],"
                "\"event\":\"teleport\"}]}]");
}
END_TEST

START_TEST(test_track_changes)
{
    check_track("{\"from\":0,\"to\":1,\"every\":1,\"players\":[\"T\",{\"player\":\"A\","
                "\"position\":[1,0,0]}],\"changes\":["
                "{\"time\":0.5,\"player\":\"T\",\"event\":\"death\"},"
                "{\"time\":1,\"player\":\"T\",\"position\":[7,7,7]},"
                "{\"time\":0,\"player\":\"A\",\"skip\":true}]}",
                "[{\"time\":0,\"players\":[{\"player\":\"T\",\"position\":[20,0,0]}]},"
                "{\"time\":0.5,\"players\":[{\"player\":\"T\",\"position\":[20,2,0],"
                "\"event\":\"death\"}]},"
                "{\"time\":1,\"players\":[{\"player\":\"T\",\"position\":[7,7,7]},"
                "{\"player\":\"A\",\"position\":[1,0,0]}]}]");
}
END_TEST

START_TEST(test_track_moves_movers)
{
    check_track("{\"from\":0,\"to\":1,\"every\":1,\"players\":[\"T\"],\"movers\":[\"lift\","
                "{\"mover\":\"door\",\"from\":1,\"position\":[0,0,0],\"rotation\":[0,0,1,0]}],"
                "\"changes\":[{\"time\":1,\"mover\":\"lift\",\"solid\":false},"
                "{\"time\":0,\"player\":\"T\",\"skip\":true},"
                "{\"time\":2,\"mover\":\"door\",\"event\":\"teleport\"}]}",
                "[{\"time\":0,\"players\":[],\"movers\":[{\"mover\":\"lift\",\"position\":[1,2,0],"
                "\"box\":{\"half_extents\":[1,1,0.1]}}]},"
                "{\"time\":1,\"players\":[{\"player\":\"T\",\"position\":[20,4,0]}],\"movers\":["
                "{\"mover\":\"lift\",\"position\":[1,2,5],\"solid\":false},"
                "{\"mover\":\"door\",\"position\":[0,0,0],\"rotation\":[0,0,1,0]}]},"
                "{\"time\":2,\"players\":[],\"movers\":[{\"mover\":\"door\",\"position\":"
                "[0,0,0],\"rotation\":[0,0,1,0],\"event\":\"teleport\"}]}]");
}
END_TEST

static const char *const bad_tracks[] = {
    "{\"from\":0,\"players\":[\"nobody\"]}",
    "{\"from\":0,\"players\":[{\"player\":\"A\"}]}",
    "{\"from\":0,\"players\":[{\"position\":[0,0,0]}]}",
    "{\"from\":0,\"players\":[]}",
    "{\"from\":1,\"to\":0,\"players\":[\"T\"]}",
    "{\"from\":0,\"to\":1,\"every\":0,\"players\":[\"T\"]}",
    "{\"from\":0,\"to\":1,\"every\":1e-6,\"players\":[\"T\"]}",
    "{\"from\":0,\"players\":[\"T\"],\"step\":1}",
    "{\"from\":0,\"movers\":[\"T\"]}",
    "{\"from\":0,\"movers\":[{\"mover\":\"A\"}]}",
    "{\"from\":0,\"players\":[\"lift\"]}",
    "{\"from\":0,\"players\":[\"T\"],\"changes\":[{\"time\":0,\"mover\":\"T\",\"solid\":true}]}",
    "{\"from\":0,\"players\":[\"T\"],\"changes\":[{\"player\":\"T\"}]}",
    "{\"from\":0,\"players\":[\"T\"],\"changes\":[{\"time\":0,\"player\":\"A\",\"skip\":true}]}",
    "{\"from\":0,\"players\":[\"T\"],\"changes\":[{\"time\":0,\"player\":\"A\",\"team\":\"x\"}]}",
};

START_TEST(test_track_refuses)
{
    json_t *track = parse(bad_tracks[_i]), *known = parse(fixture);
    char error[HS_TRACK_ERROR_MAX] = "";
    json_t *body = hs_track_expand(track, known, error);
    ck_assert_msg(body == NULL, "%s was taken", bad_tracks[_i]);
    ck_assert_msg(strncmp(error, "track: ", 7) == 0, "\"%s\"", error);
    json_decref(track);
    json_decref(known);
}
END_TEST

/* ---- scenarios ---- */

static struct hs_scenarios *load_text(const char *text, char *error)
{
    char path[] = "/tmp/hindsight-scenario-XXXXXX";
    int fd = mkstemp(path);
    ck_assert(fd >= 0);
    ck_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    struct hs_scenarios *scenarios = hs_scenarios_load(path, error);
    unlink(path);
    return scenarios;
}

#define FIXTURE                                                                                    \
    "\"fixture\":{\"now\":1,\"claim\":{\"shooter\":\"S\",\"weapon\":\"rifle\"},"                   \
    "\"ruleset\":{\"name\":\"$ruleset\",\"hit\":{\"sweep_extension\":0.1,\"min_trace\":1}}}"

static const char good_file[] =
    "{\"title\":\"a file\"," FIXTURE ",\"scenarios\":[{\"row\":\"7\",\"title\":\"one\","
    "\"requires\":\"--some=thing\",\"ruleset_patch\":{\"hit\":{\"min_trace\":null}},"
    "\"requests\":[{\"claim\":{\"hit_time\":0.5,\"weapon\":null},\"expect\":{\"reason\":\"ok\"}},"
    "{\"method\":\"POST\",\"path\":\"/$match\",\"raw\":\"$match\",\"pad\":20,\"save\":\"a\"},"
    "{\"method\":\"GET\",\"path\":\"/x\",\"expect\":{\"status\":200,\"same_as\":\"a\"}}]}]}";

START_TEST(test_scenario_plan)
{
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenarios *file = load_text(good_file, error);
    ck_assert_msg(file != NULL, "%s", error);
    ck_assert_uint_eq(hs_scenarios_count(file), 1);
    struct hs_scenario_info info = hs_scenarios_info(file, 0);
    ck_assert_str_eq(info.row, "7");
    ck_assert_str_eq(info.title, "one");
    ck_assert_str_eq(info.requires, "--some=thing");

    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(file, 0, find_reference("turned"), "run", error);
    ck_assert_msg(plan != NULL, "%s", error);
    ck_assert_uint_eq(plan->count, 5);
    ck_assert_double_eq(plan->unit, 100);
    ck_assert_str_eq(plan->steps[0].method, "PUT");
    ck_assert(strncmp(plan->steps[0].path, "/v1/rulesets/scenario-", 22) == 0);
    const char *name = plan->steps[0].path + strlen("/v1/rulesets/");
    char expected[256];
    snprintf(expected, sizeof(expected), "{\"name\":\"%s\",\"hit\":{\"sweep_extension\":10.0}}",
             name);
    ck_assert_str_eq(plan->steps[0].body, expected);
    ck_assert_str_eq(plan->steps[1].path, "/v1/matches/run-7-turned");
    snprintf(expected, sizeof(expected), "{\"ruleset\":\"%s\"}", name);
    ck_assert_str_eq(plan->steps[1].body, expected);
    ck_assert_str_eq(plan->steps[2].path, "/v1/matches/run-7-turned/hits?explain=true");
    json_t *claim = parse(plan->steps[2].body);
    json_t *wanted =
        parse("{\"now\":1,\"hits\":[{\"shooter\":\"S\",\"hit_time\":0.5,\"shot\":1}]}");
    ck_assert_msg(nearly_equal(claim, wanted), "%s", plan->steps[2].body);
    json_decref(claim);
    json_decref(wanted);
    wanted = parse("{\"body\":{\"results\":[{\"reason\":\"ok\",\"shot\":1}]}}");
    ck_assert(json_equal(plan->steps[2].expect, wanted));
    json_decref(wanted);
    ck_assert_str_eq(plan->steps[3].path, "/run-7-turned");
    ck_assert_uint_eq(plan->steps[3].size, 20);
    ck_assert(memcmp(plan->steps[3].body, "run-7-turned        ", 20) == 0);
    ck_assert_str_eq(plan->steps[3].save, "a");
    ck_assert_str_eq(plan->steps[4].same_as, "a");
    ck_assert(plan->steps[4].body == NULL);
    hs_scenario_plan_destroy(plan);
    hs_scenarios_destroy(file);
}
END_TEST

static const char map_file[] =
    "{\"title\":\"maps\",\"fixture\":{\"map\":{\"boxes\":[]},\"ruleset\":{}},\"scenarios\":["
    "{\"row\":\"1\",\"title\":\"the "
    "fixture's\",\"requests\":[{\"method\":\"GET\",\"path\":\"/\"}]},"
    "{\"row\":\"2\",\"title\":\"its own\",\"map\":{\"boxes\":[{\"min\":[1,2,3],\"max\":[4,5,6]}]},"
    "\"requests\":[{\"method\":\"GET\",\"path\":\"/\"}]},"
    "{\"row\":\"3\",\"title\":\"none\",\"map\":null,\"requests\":[{\"method\":\"GET\",\"path\":"
    "\"/\"}]},"
    "{\"row\":\"4\",\"title\":\"nothing\",\"open\":false,\"requests\":[{\"method\":\"GET\","
    "\"path\":"
    "\"/\"}]}]}";

/*
 * Checks the requests for the map: it is put under a name, the match is opened with it, and it is
 * deleted.
 */
static void check_map(const struct hs_scenario_plan *plan, const char *name, const char *expected)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/maps/%s", name);
    ck_assert_uint_eq(plan->count, 5);
    ck_assert_str_eq(plan->steps[1].method, "PUT");
    ck_assert_str_eq(plan->steps[1].path, path);
    json_t *map = parse(plan->steps[1].body), *wanted = parse(expected);
    ck_assert_msg(nearly_equal(map, wanted), "%s", plan->steps[1].body);
    json_decref(map);
    json_decref(wanted);
    json_t *opening = parse(plan->steps[2].body);
    ck_assert_str_eq(json_string_value(json_object_get(opening, "map")), name);
    json_decref(opening);
    ck_assert_str_eq(plan->steps[4].method, "DELETE");
    ck_assert_str_eq(plan->steps[4].path, path);
}

START_TEST(test_scenario_maps)
{
    static const struct {
        const char *name, *map;
        size_t count; /* number of requests */
    } wanted[] = {{"run-1-turned", "{\"boxes\":[]}", 5},
                  {"run-2-turned",
                   "{\"boxes\":[{\"min\":[4099500,-2299700,7699600],"
                   "\"max\":[4099800,-2299400,7699900]}]}",
                   5},
                  {NULL, NULL, 3},
                  {NULL, NULL, 1}};
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenarios *file = load_text(map_file, error);
    ck_assert_msg(file != NULL, "%s", error);
    for (size_t i = 0; i < 4; i++) {
        struct hs_scenario_plan *plan =
            hs_scenario_plan_create(file, i, find_reference("turned"), "run", error);
        ck_assert_msg(plan != NULL, "%s", error);
        ck_assert_uint_eq(plan->count, wanted[i].count);
        if (wanted[i].map != NULL)
            check_map(plan, wanted[i].name, wanted[i].map);
        hs_scenario_plan_destroy(plan);
    }
    hs_scenarios_destroy(file);
}
END_TEST

struct answers {
    const char *const *texts;
    size_t sent;
};

static long answer_next(void *context, const struct hs_scenario_step *step, const char **answer,
                        size_t *size)
{
    struct answers *answers = context;
    *answer = answers->texts[answers->sent++];
    *size = *answer != NULL ? strlen(*answer) : 0;
    return *answer == NULL                                              ? 0
           : strncmp(step->path, "/v1/matches/", 12) == 0 && *size == 0 ? 201
                                                                        : 200;
}

/* Plays the good file with prepared answers. Returns whether it passes. */
static bool play_against(const char *const *texts, size_t sent, const char *fault_part)
{
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenarios *file = load_text(good_file, error);
    ck_assert_msg(file != NULL, "%s", error);
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(file, 0, &hs_references[0], "run", error);
    ck_assert(plan != NULL);
    struct answers answers = {.texts = texts};
    bool holds = hs_scenario_play(plan, answer_next, &answers, error);
    ck_assert_msg(answers.sent == sent, "%zu requests sent: %s", answers.sent, error);
    ck_assert_msg(strstr(error, fault_part) != NULL, "\"%s\" lacks \"%s\"", error, fault_part);
    hs_scenario_plan_destroy(plan);
    hs_scenarios_destroy(file);
    return holds;
}

START_TEST(test_scenario_play)
{
    const char *ok = "{\"results\":[{\"shot\":1,\"reason\":\"ok\"}]}";
    const char *bad = "{\"results\":[{\"shot\":1,\"reason\":\"self_hit\"}]}";
    ck_assert(play_against((const char *[]){"{}", "", ok, "{\"a\":1}", "{ \"a\" : 1 }"}, 5, ""));
    ck_assert(!play_against((const char *[]){"{}", "", bad}, 3, "/results/0/reason"));
    ck_assert(!play_against((const char *[]){"{}", "", ok, "{\"a\":1}", "{\"a\":2}"}, 5,
                            "request 5, GET /x"));
    ck_assert(!play_against((const char *[]){"{}", NULL}, 2, "no answer"));
}
END_TEST

static const char *const bad_files[] = {
    "{",
    "[]",
    "{\"title\":\"x\"," FIXTURE "}",
    "{\"title\":\"x\",\"fixture\":{},\"scenarios\":[]}",
    "{\"title\":\"x\",\"fixture\":\"nonesuch.json\",\"scenarios\":[]}",
    "{\"title\":\"x\"," FIXTURE ",\"scenarios\":[{\"row\":\"1\",\"title\":\"x\"}]}",
    "{\"title\":\"x\"," FIXTURE ",\"scenarios\":[{\"row\":1,\"title\":\"x\",\"requests\":[{}]}]}",
    "{\"title\":\"x\"," FIXTURE
    ",\"scenarios\":[{\"row\":\"1\",\"title\":\"x\",\"request\":[{}]}]}",
    "{\"title\":\"x\"," FIXTURE ",\"scenario\":[]}",
};

START_TEST(test_scenario_refuses_files)
{
    char error[HS_SCENARIO_ERROR_MAX] = "";
    struct hs_scenarios *file = load_text(bad_files[_i], error);
    ck_assert_msg(file == NULL, "%s was taken", bad_files[_i]);
    ck_assert_msg(strlen(error) > 10, "\"%s\"", error);
}
END_TEST

static const char *const bad_requests[] = {
    "{\"method\":\"GET\"}",
    "{\"path\":\"/x\"}",
    "{\"method\":\"GET\",\"path\":\"/x\",\"expects\":{}}",
    "{\"claim\":{}}",
    "{\"claim\":{},\"expect\":{},\"path\":\"/x\"}",
    "{\"track\":{\"from\":0,\"players\":[\"nobody\"]}}",
    "{\"track\":{\"from\":0,\"players\":[\"T\"]},\"stored\":1}",
};

START_TEST(test_scenario_refuses_requests)
{
    char text[1024], error[HS_SCENARIO_ERROR_MAX] = "";
    snprintf(text, sizeof(text),
             "{\"title\":\"x\"," FIXTURE
             ",\"scenarios\":[{\"row\":\"1\",\"title\":\"x\",\"requests\":[%s]}]}",
             bad_requests[_i]);
    struct hs_scenarios *file = load_text(text, error);
    ck_assert_msg(file != NULL, "%s", error);
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(file, 0, &hs_references[0], "run", error);
    ck_assert_msg(plan == NULL, "%s was taken", bad_requests[_i]);
    ck_assert_msg(strlen(error) > 10 && strcmp(error, "out of memory") != 0, "\"%s\"", error);
    hs_scenarios_destroy(file);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
    Suite *suite = suite_create("scenario");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, test_reference_is_a_rotation, 0, HS_REFERENCES);
    tcase_add_test(reference, test_reference_as_written_changes_nothing);
    tcase_add_loop_test(reference, test_reference_turned, 0, COUNT(turned));
    tcase_add_test(reference, test_reference_turns_capsules);
    tcase_add_test(reference, test_reference_epoch);
    suite_add_tcase(suite, reference);
    TCase *track = tcase_create("track");
    tcase_add_test(track, test_track_moves_players);
    tcase_add_test(track, test_track_sends_sticky_fields_once);
    tcase_add_test(track, test_track_segments);
    tcase_add_test(track, test_track_changes);
    tcase_add_test(track, test_track_moves_movers);
    tcase_add_loop_test(track, test_track_refuses, 0, COUNT(bad_tracks));
    suite_add_tcase(suite, track);
    TCase *scenario = tcase_create("scenario");
    tcase_add_test(scenario, test_scenario_plan);
    tcase_add_test(scenario, test_scenario_maps);
    tcase_add_test(scenario, test_scenario_play);
    tcase_add_loop_test(scenario, test_scenario_refuses_files, 0, COUNT(bad_files));
    tcase_add_loop_test(scenario, test_scenario_refuses_requests, 0, COUNT(bad_requests));
    suite_add_tcase(suite, scenario);
    return hs_run_suite(suite);
}
