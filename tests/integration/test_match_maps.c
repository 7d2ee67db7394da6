/* Matches and their worlds: the map that a match is opened with and keeps, and the movers that
   frames post. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

/* Matches that a post opens use the map "plain". Few movers are allowed, so that the test can reach
   the limit. */
static const char *const options[] = {"--default-map", "plain", "--max-movers", "3", NULL};

static struct hs_test_service service;
static struct hs_test_http *http;

static void connect_to_it(void)
{
    http = hs_test_http_open(service.data_port);
}

static void disconnect(void)
{
    hs_test_http_close(http);
}

/*
 * Sends a request and expects a status. Returns a new reference to the answer, or NULL if it is
 * empty.
 */
static json_t *request(const char *method, const char *path, json_t *body, long expected)
{
    long status;
    json_t *answer = hs_test_http_json(http, method, path, body, &status);
    char *text = answer != NULL ? json_dumps(answer, JSON_COMPACT) : NULL;
    ck_assert_msg(status == expected, "%s %s: status %ld, not %ld: %.500s", method, path, status,
                  expected, text != NULL ? text : "");
    free(text);
    return answer;
}

static void request_only(const char *method, const char *path, json_t *body, long expected)
{
    json_decref(request(method, path, body, expected));
}

/* Puts a map with one box of this width. Stores the map's revision in `revision`, which may be
   NULL. */
static void put_map(const char *path, double width, long expected, char revision[80])
{
    json_t *answer = request(
        "PUT", path,
        json_pack("{s:[{s:[i,i,i],s:[f,i,i]}]}", "boxes", "min", 0, 0, 0, "max", width, 1, 1),
        expected);
    if (revision != NULL)
        snprintf(revision, 80, "%s", json_string_value(json_object_get(answer, "revision")));
    json_decref(answer);
}

static json_t *with_map(const char *map)
{
    return json_pack("{s:s,s:s}", "ruleset", "metres", "map", map);
}

static void assert_text(const json_t *object, const char *key, const char *expected)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(value != NULL, "there is no %s", key);
    if (expected == NULL)
        ck_assert_msg(json_is_null(value), "%s is not null", key);
    else
        ck_assert_str_eq(json_string_value(value), expected);
}

/* Expects that the answer about a match names this map, or no map if `map` is NULL. Releases the
   answer. */
static void assert_map(json_t *answer, const char *map, const char *revision)
{
    assert_text(answer, "map", map);
    assert_text(answer, "map_revision", revision);
    json_decref(answer);
}

static void assert_code(json_t *answer, const char *code)
{
    assert_text(answer, "code", code);
    json_decref(answer);
}

/* Returns the entry of a match in the list, as a new reference. */
static json_t *listed(const char *match)
{
    json_t *list = request("GET", "/v1/matches", NULL, 200), *entry, *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(list, "matches"), i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "match")), match) == 0)
            found = json_incref(entry);
    }
    ck_assert_msg(found != NULL, "%s is not in the list", match);
    json_decref(list);
    return found;
}

/* ---- opening ---- */

START_TEST(a_match_is_opened_on_a_map)
{
    char revision[80];
    put_map("/v1/maps/dm4", 4, 201, revision);
    put_map("/v1/maps/dm5", 5, 201, NULL);
    assert_map(request("PUT", "/v1/matches/open", with_map("dm4"), 201), "dm4", revision);
    assert_map(request("PUT", "/v1/matches/open", with_map("dm4"), 200), "dm4", revision);
    assert_map(request("GET", "/v1/matches/open", NULL, 200), "dm4", revision);
    assert_map(listed("open"), "dm4", revision);

    /* a PUT without `map` confirms the match, whatever its map is; null counts as omitted */
    assert_map(request("PUT", "/v1/matches/open", json_object(), 200), "dm4", revision);
    assert_map(request("PUT", "/v1/matches/open", json_pack("{s:n}", "map"), 200), "dm4", revision);
    assert_map(request("PUT", "/v1/matches/open", json_pack("{s:s}", "map", "dm4"), 200), "dm4",
               revision);

    json_t *conflict = request("PUT", "/v1/matches/open", with_map("dm5"), 409);
    assert_text(conflict, "detail", "it has ruleset metres, map dm4");
    assert_code(conflict, "match_conflict");
    assert_code(request("PUT", "/v1/matches/open",
                        json_pack("{s:s,s:s}", "ruleset", "inches", "map", "dm4"), 409),
                "match_conflict");
    assert_map(request("DELETE", "/v1/matches/open", NULL, 200), "dm4", revision);
}
END_TEST

START_TEST(a_match_without_a_map_has_none)
{
    put_map("/v1/maps/unused", 4, 201, NULL);
    assert_map(request("PUT", "/v1/matches/bare", json_pack("{s:s}", "ruleset", "metres"), 201),
               NULL, NULL);
    assert_map(listed("bare"), NULL, NULL);
    json_t *conflict = request("PUT", "/v1/matches/bare", with_map("unused"), 409);
    assert_text(conflict, "detail", "it has ruleset metres, map none");
    assert_code(conflict, "match_conflict");
    assert_map(request("DELETE", "/v1/matches/bare", NULL, 200), NULL, NULL);
}
END_TEST

START_TEST(a_map_must_be_there)
{
    json_t *refused = request("PUT", "/v1/matches/nowhere", with_map("nosuch"), 422);
    assert_text(refused, "detail", "nosuch");
    assert_code(refused, "unknown_map");
    request_only("GET", "/v1/matches/nowhere", NULL, 404);
    /* a PUT with an unknown map is refused for an open match, too, and the match goes on */
    request_only("PUT", "/v1/matches/nowhere", json_object(), 201);
    assert_code(request("PUT", "/v1/matches/nowhere", with_map("nosuch"), 422), "unknown_map");
    /* if ruleset and map are both unknown, the answer names the ruleset */
    assert_code(request("PUT", "/v1/matches/nowhere",
                        json_pack("{s:s,s:s}", "ruleset", "nosuch", "map", "nosuch"), 422),
                "unknown_ruleset");
    assert_map(request("GET", "/v1/matches/nowhere", NULL, 200), NULL, NULL);
}
END_TEST

/* ---- the life of a map ---- */

START_TEST(a_match_keeps_the_map_it_was_opened_with)
{
    char old[80], new[80];
    double bytes = hs_metric(&service, "hindsight_map_bytes");
    put_map("/v1/maps/arena", 4, 201, old);
    double of_one = hs_metric(&service, "hindsight_map_bytes") - bytes;
    ck_assert_double_gt(of_one, 0);
    request_only("PUT", "/v1/matches/keeper", with_map("arena"), 201);

    put_map("/v1/maps/arena", 7, 200, new);
    ck_assert_str_ne(old, new);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_map_bytes"), bytes + 2 * of_one, 0.5);
    assert_map(request("GET", "/v1/matches/keeper", NULL, 200), "arena", old);
    assert_map(request("PUT", "/v1/matches/keeper", with_map("arena"), 200), "arena", old);
    assert_map(request("PUT", "/v1/matches/later", with_map("arena"), 201), "arena", new);

    request_only("DELETE", "/v1/maps/arena", NULL, 204);
    assert_map(listed("keeper"), "arena", old);
    assert_map(request("PUT", "/v1/matches/keeper", with_map("arena"), 200), "arena", old);
    assert_code(request("PUT", "/v1/matches/keeper",
                        json_pack("{s:s,s:s}", "ruleset", "inches", "map", "arena"), 422),
                "unknown_map");
    assert_code(request("PUT", "/v1/matches/too-late", with_map("arena"), 422), "unknown_map");
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_map_bytes"), bytes + 2 * of_one, 0.5);

    assert_map(request("DELETE", "/v1/matches/keeper", NULL, 200), "arena", old);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_map_bytes"), bytes + of_one, 0.5);
    assert_map(request("DELETE", "/v1/matches/later", NULL, 200), "arena", new);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_map_bytes"), bytes, 0.5);
    request_only("PUT", "/v1/matches/keeper", with_map("arena"), 422);
}
END_TEST

static json_t *one_frame(double time)
{
    return json_pack("{s:[{s:f,s:[{s:s,s:[i,i,i]}]}]}", "frames", "time", time, "players", "player",
                     "T", "position", 0, 0, 0);
}

START_TEST(a_match_opened_by_posting_has_the_default_map)
{
    char revision[80];
    json_t *refused = request("POST", "/v1/matches/posted/frames", one_frame(1), 404);
    assert_text(refused, "detail", "the default map, plain, does not exist");
    assert_code(refused, "unknown_match");
    request_only("GET", "/v1/matches/posted", NULL, 404);

    put_map("/v1/maps/plain", 4, 201, revision);
    request_only("POST", "/v1/matches/posted/frames", one_frame(1), 200);
    assert_map(request("GET", "/v1/matches/posted", NULL, 200), "plain", revision);
    /* a PUT opens its match with the map that it names */
    assert_map(request("PUT", "/v1/matches/put", json_object(), 201), NULL, NULL);

    request_only("DELETE", "/v1/maps/plain", NULL, 204);
    request_only("POST", "/v1/matches/posted/frames", one_frame(2), 200);
    assert_map(request("DELETE", "/v1/matches/posted", NULL, 200), "plain", revision);
    request_only("POST", "/v1/matches/posted/frames", one_frame(3), 404);
}
END_TEST

/* ---- movers ---- */

static json_t *mover(const char *name, double z)
{
    return json_pack("{s:s,s:[i,i,f],s:{s:[i,i,f]}}", "mover", name, "position", 0, 0, z, "box",
                     "half_extents", 1, 1, 0.1);
}

/* Posts one frame with the player T and the movers. Releases the movers. */
static json_t *post_movers(double time, json_t *movers)
{
    json_t *body = one_frame(time);
    json_object_set_new(json_array_get(json_object_get(body, "frames"), 0), "movers", movers);
    return request("POST", "/v1/matches/lifts/frames", body, 200);
}

static void assert_refusal(const json_t *answer, size_t i, const char *name, const char *reason)
{
    const json_t *refusal = json_array_get(json_object_get(answer, "refused"), i);
    ck_assert_msg(refusal != NULL, "there are only %zu refusals", i);
    assert_text(refusal, "mover", name);
    assert_text(refusal, "reason", reason);
    ck_assert_int_eq(json_integer_value(json_object_get(refusal, "frame")), 0);
    ck_assert_ptr_null(json_object_get(refusal, "player"));
}

static void assert_mover_count(const char *match, json_int_t count)
{
    char path[80];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    json_t *state = request("GET", path, NULL, 200);
    ck_assert_int_eq(json_integer_value(json_object_get(state, "mover_count")), count);
    json_decref(state);
}

START_TEST(movers_are_stored_and_refused)
{
    const double active = hs_metric(&service, "hindsight_movers_active");
    const double stored = hs_metric(&service, "hindsight_mover_frames_total{result=\"stored\"}");
    const double capacity =
        hs_metric(&service, "hindsight_mover_frames_total{result=\"capacity\"}");
    request_only("PUT", "/v1/matches/lifts", json_pack("{s:s}", "ruleset", "metres"), 201);
    json_t *answer = post_movers(1, json_pack("[o,o]", mover("lift_1", 1), mover("door", 2)));
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "stored")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "refused")), 0);
    json_decref(answer);
    assert_mover_count("lifts", 2);

    /* for a known mover a place is enough, while a new one needs its box */
    json_t *turned = mover("door", 2);
    json_object_set_new(turned, "rotation", json_pack("[i,i,i,i]", 0, 0, 0, 2));
    answer = post_movers(1.05, json_pack("[{s:s,s:[i,i,f]},{s:s,s:[i,i,i]},o,o]", "mover", "lift_1",
                                         "position", 0, 0, 1.1, "mover", "bridge", "position", 0, 0,
                                         0, turned, mover("far", 1e9)));
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "stored")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "refused")), 3);
    assert_refusal(answer, 0, "bridge", "no_hitboxes");
    assert_refusal(answer, 1, "door", "bad_rotation");
    assert_refusal(answer, 2, "far", "coordinate_out_of_world");
    json_decref(answer);

    answer = post_movers(
        1.1, json_pack("[o,o,o]", mover("third", 1), mover("fourth", 1), mover("third", 2)));
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "refused")), 2);
    assert_refusal(answer, 0, "fourth", "capacity");
    assert_refusal(answer, 1, "third", "duplicate_time");
    json_decref(answer);
    assert_mover_count("lifts", 3);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_movers_active"), active + 3, 0.5);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_mover_frames_total{result=\"stored\"}"),
                            stored + 4, 0.5);
    ck_assert_double_eq_tol(
        hs_metric(&service, "hindsight_mover_frames_total{result=\"capacity\"}"), capacity + 1,
        0.5);
    request_only("DELETE", "/v1/matches/lifts", NULL, 200);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_movers_active"), active, 0.5);
}
END_TEST

/* If a field of one mover is bad, nothing of the request is applied. */
START_TEST(bad_movers_change_nothing)
{
    request_only("PUT", "/v1/matches/lifts", json_pack("{s:s}", "ruleset", "metres"), 201);
    json_decref(post_movers(1, json_pack("[o]", mover("lift_1", 1))));
    json_t *bad = mover("lift_2", 1), *body = one_frame(1.05);
    json_object_set_new(json_object_get(bad, "box"), "half_extents", json_pack("[i,i,i]", 1, 0, 1));
    json_object_set_new(json_array_get(json_object_get(body, "frames"), 0), "movers",
                        json_pack("[o,o]", mover("lift_1", 1), bad));
    json_t *answer = request("POST", "/v1/matches/lifts/frames?strict=true", body, 400);
    const json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
    assert_text(error, "pointer", "/frames/0/movers/1/box/half_extents/1");
    assert_text(error, "detail", "must be above 0");
    assert_code(answer, "invalid_request");
    json_t *state = request("GET", "/v1/matches/lifts", NULL, 200);
    ck_assert_double_eq_tol(json_number_value(json_object_get(state, "newest_time")), 1, 1e-9);
    json_decref(state);
    assert_mover_count("lifts", 1);
    request_only("DELETE", "/v1/matches/lifts", NULL, 200);
}
END_TEST

/* A frame may contain only movers. Such a frame advances the match's clock. */
START_TEST(a_frame_of_movers_alone)
{
    request_only("PUT", "/v1/matches/lifts", json_pack("{s:s}", "ruleset", "metres"), 201);
    json_t *answer = request("POST", "/v1/matches/lifts/ticks",
                             json_pack("{s:[{s:f,s:[],s:[o]}]}", "frames", "time", 5.5, "players",
                                       "movers", mover("lift_1", 1)),
                             200);
    const json_t *frames = json_object_get(answer, "frames");
    ck_assert_int_eq(json_integer_value(json_object_get(frames, "stored")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(frames, "refused")), 0);
    json_decref(answer);
    json_t *state = request("GET", "/v1/matches/lifts", NULL, 200);
    ck_assert_double_eq_tol(json_number_value(json_object_get(state, "newest_time")), 5.5, 1e-9);
    json_decref(state);
    assert_mover_count("lifts", 1);
    request_only("DELETE", "/v1/matches/lifts", NULL, 200);
}
END_TEST

static Suite *match_maps_suite(void)
{
    Suite *suite = suite_create("match maps");
    TCase *maps = tcase_create("maps");
    tcase_add_checked_fixture(maps, connect_to_it, disconnect);
    tcase_set_timeout(maps, 60);
    tcase_add_test(maps, a_match_is_opened_on_a_map);
    tcase_add_test(maps, a_match_without_a_map_has_none);
    tcase_add_test(maps, a_map_must_be_there);
    tcase_add_test(maps, a_match_keeps_the_map_it_was_opened_with);
    tcase_add_test(maps, a_match_opened_by_posting_has_the_default_map);
    suite_add_tcase(suite, maps);
    TCase *movers = tcase_create("movers");
    tcase_add_checked_fixture(movers, connect_to_it, disconnect);
    tcase_set_timeout(movers, 60);
    tcase_add_test(movers, movers_are_stored_and_refused);
    tcase_add_test(movers, bad_movers_change_nothing);
    tcase_add_test(movers, a_frame_of_movers_alone);
    suite_add_tcase(suite, movers);
    return suite;
}

int main(void)
{
    if (!hs_test_service_start(&service, options))
        return 1;
    int failed = hs_run_suite(match_maps_suite());
    return hs_test_service_stop(&service) && failed == 0 ? 0 : 1;
}
