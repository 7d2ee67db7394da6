/* `serve --record` and `recheck` as users run them. The parallel requests of several clients give
   the same bytes again. Under other rules, `recheck` reports exactly those claims that a second
   service with these rules answers differently. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/integration/recordings.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"

static struct hs_test_service service;

/* ---- the same rules ---- */

START_TEST(the_same_rules_give_the_same_bytes)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    struct stat status;
    const char *path = hs_recordings_file("same.stream");
    hs_record_traffic(path, &sum);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%d: %s%s", result.program.code, result.program.out,
                  result.program.err);
    ck_assert_str_eq(result.program.err, "");
    ck_assert_uint_gt(sum.claims, HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS);
    ck_assert_uint_gt(sum.replayed, 20);
    ck_assert_int_eq(hs_recheck_number(&result, "claims") + hs_recheck_number(&result, "moves"),
                     (json_int_t)sum.claims);
    ck_assert_int_gt(hs_recheck_number(&result, "moves"),
                     HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS - 1);
    ck_assert_int_eq(hs_recheck_number(&result, "identical"), (json_int_t)sum.claims);
    ck_assert_int_eq(hs_recheck_number(&result, "replayed"), (json_int_t)sum.replayed);
    ck_assert_int_eq(hs_recheck_number(&result, "matches"), 2 * HS_TRAFFIC_OWN + 1);
    ck_assert_int_gt(hs_recheck_number(&result, "shots"), 20);
    /* The claims must be of all kinds. If they were not, the comparison would prove little. */
    size_t i, sorts = 0;
    json_t *reason;
    json_array_foreach(json_object_get(result.report, "reasons"), i, reason)
    {
        json_int_t before = json_integer_value(json_object_get(reason, "before"));
        ck_assert_int_eq(before, json_integer_value(json_object_get(reason, "after")));
        sorts += before >= 10;
    }
    ck_assert_uint_ge(sorts, 5);
    ck_assert_ptr_nonnull(strstr(result.program.out, "occluded_world"));
    ck_assert_ptr_nonnull(strstr(result.program.out, "fast_clock_proven"));
    json_decref(result.report);
    HS_RECHECK(&result, "recheck", path);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "identical"));
    ck_assert_ptr_nonnull(strstr(result.program.out, "rewind_limit"));
}
END_TEST

/* ---- other rules ---- */

/* Adds a changed verdict to the set. The key has the match, the first character of the kind, the
   shooter and the shot. The value has the reasons before and after. */
static void add_flip(json_t *flips, const char *match, const char *kind, const char *before,
                     const json_t *after)
{
    char key[256];
    bool is_move = strcmp(kind, "move") == 0;
    snprintf(key, sizeof key, "%s %c %s %lld", match, kind[0],
             json_string_value(json_object_get(after, is_move ? "player" : "shooter")),
             (long long)json_integer_value(json_object_get(after, is_move ? "seq" : "shot")));
    json_object_set_new(
        flips, key,
        json_sprintf("%s %s", before, json_string_value(json_object_get(after, "reason"))));
}

/* Compares the results of both services. The recorded results may be from a brief answer; the other
   results are full. */
static void compare_results(json_t *flips, const char *match, const char *kind, bool is_brief,
                            const json_t *before, const json_t *after)
{
    size_t i, listed = 0;
    json_t *is;
    ck_assert(is_brief || json_array_size(before) == json_array_size(after));
    json_array_foreach(after, i, is)
    {
        const json_t *was = json_array_get(before, listed);
        const json_t *index = json_object_get(was, "index");
        ck_assert(was == NULL || (index != NULL) == is_brief);
        bool is_listed = !is_brief || (was != NULL && json_integer_value(index) == (json_int_t)i);
        listed += is_listed;
        if (is_listed && json_is_true(json_object_get(was, "replayed")))
            continue;
        const char *reason = is_listed ? json_string_value(json_object_get(was, "reason")) : "ok";
        if (strcmp(reason, json_string_value(json_object_get(is, "reason"))) != 0)
            add_flip(flips, match, kind, reason, is);
    }
    ck_assert_uint_eq(listed, json_array_size(before));
}

/* Sends one line of the stream to the second service. If the line opens a match, the match gets the
   other rules. */
static void send_line(struct hs_test_http *http, const json_t *line, json_t *flips)
{
    long status;
    char path[128];
    const char *match = json_string_value(json_object_get(line, "match"));
    const char *opened = json_string_value(json_object_get(line, "open"));
    const char *map = json_string_value(json_object_get(line, "map"));
    if (map != NULL && opened == NULL) {
        snprintf(path, sizeof path, "/v1/maps/%s", map);
        json_decref(hs_test_http_json(http, "PUT", path,
                                      json_incref(json_object_get(line, "document")), &status));
        ck_assert(status == 200 || status == 201);
    }
    if (opened != NULL) {
        snprintf(path, sizeof path, "/v1/matches/%s", opened);
        json_t *body =
            json_pack("{s:s,s:O?}", "ruleset", "loose", "map", json_object_get(line, "map"));
        json_decref(hs_test_http_json(http, "PUT", path, body, &status));
        ck_assert_int_eq(status, 201);
    }
    if (match == NULL)
        return;
    const char *request = json_string_value(json_object_get(line, "request"));
    bool ends = strcmp(request, "delete") == 0;
    snprintf(path, sizeof path, "/v1/matches/%s%s%s", match, ends ? "" : "/", ends ? "" : request);
    json_t *answer = hs_test_http_json(http, ends ? "DELETE" : "POST", path,
                                       json_incref(json_object_get(line, "body")), &status);
    ck_assert_int_eq(status, 200);
    const json_t *before = json_object_get(line, "answer");
    const char *kind = strcmp(request, "shots") == 0   ? "shot"
                       : strcmp(request, "moves") == 0 ? "move"
                                                       : "hit";
    bool is_brief = json_is_true(json_object_get(line, "brief"));
    compare_results(flips, match, kind, is_brief, json_object_get(before, "results"),
                    json_object_get(answer, "results"));
    compare_results(flips, match, "hit", is_brief, json_object_get(before, "hits"),
                    json_object_get(answer, "hits"));
    compare_results(flips, match, "shot", is_brief, json_object_get(before, "shots"),
                    json_object_get(answer, "shots"));
    compare_results(flips, match, "move", is_brief, json_object_get(before, "moves"),
                    json_object_get(answer, "moves"));
    json_decref(answer);
}

/* Returns the claims that a service with these rules answers differently, for the same requests in
   the same order. */
static json_t *ask_second_service(const char *stream)
{
    const char *extra[] = {"--rules", hs_recordings_folder(), NULL};
    char *text = NULL;
    size_t room = 0;
    json_t *flips = json_object();
    ck_assert(hs_test_service_start(&service, extra));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    FILE *file = fopen(stream, "r");
    ck_assert_ptr_nonnull(file);
    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(line);
        send_line(http, line, flips);
        json_decref(line);
    }
    free(text);
    fclose(file);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    return flips;
}

/* Writes the ruleset `metres` with other limits and without a name to the folder. */
static const char *write_rules(void)
{
    long status;
    ck_assert(hs_test_service_start(&service, NULL));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_object_get(answer, "ruleset");
    json_object_del(rules, "name");
    json_object_set_new(json_object_get(rules, "rewind"), "limit", json_real(0.35));
    json_object_set_new(json_object_get(rules, "hit"), "origin_tolerance", json_real(0.15));
    json_object_set_new(json_object_get(rules, "checks"), "fast_clock_proven",
                        json_string("shadow"));
    json_object_set_new(json_object_get(rules, "moves"), "max_delta", json_real(0.04));
    const char *path = hs_recordings_file("loose.json");
    ck_assert_int_eq(json_dump_file(rules, path, 0), 0);
    json_decref(answer);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    return path;
}

/* Returns the changed claims of a report as a set. */
static json_t *flips_of(const json_t *report)
{
    size_t i;
    json_t *claim, *flips = json_object();
    json_array_foreach(json_object_get(report, "changed"), i, claim)
    {
        char key[256];
        snprintf(key, sizeof key, "%s %c %s %lld",
                 json_string_value(json_object_get(claim, "match")),
                 json_string_value(json_object_get(claim, "kind"))[0],
                 json_string_value(json_object_get(claim, "shooter")),
                 (long long)json_integer_value(json_object_get(claim, "shot")));
        const json_t *before = json_object_get(claim, "before");
        const json_t *after = json_object_get(claim, "after");
        json_object_set_new(flips, key,
                            json_sprintf("%s %s",
                                         json_string_value(json_object_get(before, "reason")),
                                         json_string_value(json_object_get(after, "reason"))));
    }
    return flips;
}

/* With --ruleset, only the matches that a post opened with `metres` are checked. */
static void expect_matches_left_out(const char *path, const char *rules)
{
    struct hs_recheck result;
    HS_RECHECK(&result, "recheck", path, "--rules", rules, "--ruleset", "metres", "--json",
               "--limit", "3");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_int_eq(hs_recheck_number(&result, "matches"), HS_TRAFFIC_OWN + 1);
    ck_assert_int_eq(hs_recheck_number(&result, "matches_left_out"), HS_TRAFFIC_OWN);
    ck_assert_int_gt(hs_recheck_number(&result, "requests_left_out"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "changed")), 3);
    ck_assert_int_eq(hs_recheck_number(&result, "changed_left_out"),
                     hs_recheck_number(&result, "flipped") - 3);
    json_decref(result.report);
}

START_TEST(other_rules_give_the_verdicts_of_a_service_with_them)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    const char *path = hs_recordings_file("other.stream"), *key;
    hs_record_traffic(path, &sum);
    const char *rules = write_rules();
    json_t *expected = ask_second_service(path), *reasons;
    HS_RECHECK(&result, "recheck", path, "--rules", rules, "--json", "--limit", "1000000");
    ck_assert_msg(result.program.code == 0, "%d: %s", result.program.code, result.program.err);
    json_t *flips = flips_of(result.report);
    ck_assert_uint_gt(json_object_size(expected), 100);
    ck_assert_int_ge(hs_recheck_number(&result, "flipped"), (json_int_t)json_object_size(flips));
    ck_assert_uint_eq(json_object_size(flips), json_object_size(expected));
    ck_assert(json_equal(flips, expected));
    size_t moves = 0;
    json_object_foreach(flips, key, reasons) moves +=
        strcmp(json_string_value(reasons), "fast_clock_proven ok") == 0;
    ck_assert_uint_ge(moves, 3);
    json_int_t judged = hs_recheck_number(&result, "claims") + hs_recheck_number(&result, "moves");
    ck_assert_int_eq(judged, (json_int_t)sum.claims);
    ck_assert_int_eq(judged, hs_recheck_number(&result, "unchanged") +
                                 hs_recheck_number(&result, "flipped") +
                                 hs_recheck_number(&result, "damage_changed"));
    json_decref(result.report);
    json_decref(flips);
    json_decref(expected);
    expect_matches_left_out(path, rules);
    HS_RECHECK(&result, "recheck", path, "--rules", rules, "--limit", "1");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "loose.json (loose, sha256:"));
    ck_assert_ptr_nonnull(strstr(result.program.out, " more; --limit shows them"));
}
END_TEST

/* ---- files ---- */

START_TEST(changed_answers_are_found)
{
    struct hs_recheck result;
    const char *path = hs_recordings_file("honest.stream");
    hs_record_little(path, "little", false);
    const char *forged = hs_record_copy(path, "forged.stream",
                                        "\"verdict\":\"rejected\",\"reason\":\"origin_mismatch\"",
                                        "\"verdict\":\"accepted\",\"reason\":\"ok\"");
    HS_RECHECK(&result, "recheck", forged);
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(
        strstr(result.program.out, "accepted ok -> rejected origin_mismatch  origin "));
    ck_assert_ptr_nonnull(strstr(result.program.err, "answers differ under the same rules"));
    forged = hs_record_copy(path, "forged.stream", "\"stored\":2", "\"stored\":1");
    HS_RECHECK(&result, "recheck", forged, "--json");
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_int_eq(hs_recheck_number(&result, "answers_changed"), 1);
    ck_assert_int_eq(hs_recheck_number(&result, "flipped"), 0);
    json_decref(result.report);
    forged = hs_record_copy(path, "forged.stream", "\"program\":\"", "\"program\":\"old-");
    HS_RECHECK(&result, "recheck", forged);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "and computed again by"));
}
END_TEST

/* A copy of a stream with one replacement, and the message that it causes. */
static const struct {
    const char *find, *put, *says;
} broken[] = {
    {"\"format\":\"hindsight-stream\"", "\"format\":\"other\"",
     "line 1: is not the first line of a recording"},
    {"\"version\":3", "\"version\":4", "line 1: another version of the format"},
    {"{\"ruleset\":", "{\"rules\":", "line 2: is not a line of a recording"},
    {"\"up\":\"+z\"", "\"up\":\"+w\"", "line 2: not a ruleset: /up"},
    {",\"ruleset\":\"sha256:", ",\"ruleset\":\"sha224:",
     "line 3: the stream has no ruleset sha224:"},
    {"{\"open\":\"little\"", "{\"open\":\"litter\"",
     "line 4: a request for a match that is not open"},
    {"\"body\":{\"frames\"", "\"body\":{\"fumes\"", "line 4: invalid_request: /fumes"},
    {"{\"results\":[", "{\"results\":[{},", "the answer does not belong to this request"},
    {"\"answer\":", "\"answer\"", "line 4: is not a line"},
};

START_TEST(broken_files_are_refused)
{
    struct hs_recheck result;
    const char *path = hs_recordings_file("whole.stream");
    hs_record_little(path, "little", false);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *copy = hs_record_copy(path, "broken.stream", broken[i].find, broken[i].put);
        HS_RECHECK(&result, "recheck", copy);
        ck_assert_msg(result.program.code == 1 &&
                          strstr(result.program.err, broken[i].says) != NULL,
                      "row %zu: code %d: %s", i, result.program.code, result.program.err);
    }
    HS_RECHECK(&result, "recheck", hs_record_copy(path, "broken.stream", NULL, NULL));
    ck_assert_int_eq(result.program.code, 0);
    hs_test_write_file(hs_recordings_file("broken.stream"), "");
    HS_RECHECK(&result, "recheck", hs_recordings_file("broken.stream"));
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "is empty"));
    HS_RECHECK(&result, "recheck", hs_recordings_file("nothing.stream"));
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "cannot be read"));
    HS_RECHECK(&result, "recheck", path, "--rules", path);
    ck_assert_int_eq(result.program.code, 1);
    HS_RECHECK(&result, "recheck", path, "--rules", hs_recordings_file("nothing.json"));
    ck_assert_int_eq(result.program.code, 1);
}
END_TEST

static const char *const wrong[][6] = {
    {"recheck", NULL},
    {"recheck", "a.stream", "b.stream", NULL},
    {"recheck", "a.stream", "--rules", NULL},
    {"recheck", "a.stream", "--limit", "many", NULL},
    {"recheck", "a.stream", "--limit", "-1", NULL},
    {"recheck", "a.stream", "--ruleset", "metres", NULL},
    {"recheck", "a.stream", "--rules", "a.json", "--bogus", NULL},
};

START_TEST(wrong_usage_is_2)
{
    hs_test_program_rejects(wrong[_i]);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_ends_the_start)
{
    struct hs_recheck result;
    HS_RECHECK(&result, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
               "--data=", "--record", "/nonexistent/stream");
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "cannot record"));
    HS_RECHECK(&result, "recheck", "--help");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "--rules FILE"));
}
END_TEST

/* ---- recordings of other programs ---- */

/* `hindsight play` plays every scenario file, and `hindsight demo` its match. The recordings of
   both are computed again. */
START_TEST(scenarios_and_the_demo_are_computed_again)
{
    static const char *const files[] = {
        "tests/scenarios/cadence.json",  "tests/scenarios/claims.json",
        "tests/scenarios/geometry.json", "tests/scenarios/latency.json",
        "tests/scenarios/modes.json",    "tests/scenarios/shots.json",
        "tests/scenarios/time.json",     "tests/scenarios/weapons.json"};
    struct hs_recheck result;
    char url[64];
    const char *path = hs_recordings_file("scenarios.stream"),
               *demo = hs_recordings_file("demo.jsonl");
    HS_RECHECK(&result, "demo", "--keep", demo);
    ck_assert_int_eq(result.program.code, 0);
    hs_record_start(&service, path);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", service.data_port);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        HS_RECHECK(&result, "play", files[i], "--url", url);
        ck_assert_msg(result.program.code == 0, "%s: %s", files[i], result.program.err);
    }
    HS_RECHECK(&result, "play", demo, "--url", url);
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert(hs_test_service_stop(&service));
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_gt(hs_recheck_number(&result, "claims"), 500);
    ck_assert_int_gt(hs_recheck_number(&result, "shots"), 5);
    ck_assert_int_gt(hs_recheck_number(&result, "matches"), 50);
    json_decref(result.report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recheck");
    TCase *tests = tcase_create("recheck");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_same_rules_give_the_same_bytes);
    tcase_add_test(tests, other_rules_give_the_verdicts_of_a_service_with_them);
    tcase_add_test(tests, changed_answers_are_found);
    tcase_add_test(tests, broken_files_are_refused);
    tcase_add_loop_test(tests, wrong_usage_is_2, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tests, a_file_that_cannot_be_written_ends_the_start);
    tcase_add_test(tests, scenarios_and_the_demo_are_computed_again);
    suite_add_tcase(suite, tests);
    return hs_recordings_run(suite);
}
