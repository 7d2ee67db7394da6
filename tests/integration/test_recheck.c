/*
 * `serve --record` and `recheck` as a user runs them: traffic of several clients at once is
 * computed again byte for byte; under other rules exactly those claims flip that a second service
 * with these rules, given the same requests, answers otherwise.
 */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/exposition.h"
#include "tests/support/files.h"
#include "tests/support/http.h"
#include "tests/support/program.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"
#include "tests/support/traffic.h"

static struct hs_test_service service;
static char folder[64];

/* Each name has one path for good. */
static const char *file_named(const char *name)
{
    enum { NAMES = 32 };
    static char paths[NAMES][128];
    char path[128];
    size_t i = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (i < NAMES - 1 && paths[i][0] != '\0' && strcmp(paths[i], path) != 0)
        i++;
    ck_assert_uint_lt(i, NAMES - 1);
    memcpy(paths[i], path, sizeof path);
    return paths[i];
}

/* ---- recheck ---- */

/* A run, and its report of --json. */
struct run {
    struct hs_test_run program;
    json_t *report; /* NULL: there is none */
};

#define RUN(result, ...)                                                                           \
    do {                                                                                           \
        HS_TEST_RUN(&(result)->program, __VA_ARGS__);                                              \
        (result)->report = json_loads((result)->program.out, 0, NULL);                             \
    } while (0)

static json_int_t number(const struct run *result, const char *key)
{
    ck_assert_msg(result->report != NULL, "no report: %s%s", result->program.out,
                  result->program.err);
    json_t *value = json_object_get(result->report, key);
    ck_assert_msg(json_is_integer(value), "no %s in %s", key, result->program.out);
    return json_integer_value(value);
}

/* ---- recordings ---- */

/* A service that records, with the metres as default. */
static void start_recording(const char *path)
{
    const char *extra[] = {"--record", path, "--default-ruleset", "metres", "--threads", "4", NULL};
    ck_assert(hs_test_service_start(&service, extra));
}

static void record_traffic(const char *path, struct hs_traffic *sum)
{
    start_recording(path);
    hs_traffic_play(service.data_port, hs_test_seed(7), sum);
    ck_assert_msg(sum->fault[0] == '\0', "%s", sum->fault);
    ck_assert(hs_metric(&service, "hindsight_record_dropped_total") == 0);
    ck_assert(hs_metric(&service, "hindsight_record_requests_total") >
              HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS);
    ck_assert(hs_test_service_stop(&service));
}

/* ---- the same rules ---- */

START_TEST(the_same_rules_give_the_same_bytes)
{
    struct run result;
    struct hs_traffic sum;
    struct stat status;
    const char *path = file_named("same.stream");
    record_traffic(path, &sum);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%d: %s%s", result.program.code, result.program.out,
                  result.program.err);
    ck_assert_str_eq(result.program.err, "");
    ck_assert_uint_gt(sum.claims, HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS);
    ck_assert_uint_gt(sum.replayed, 20);
    ck_assert_int_eq(number(&result, "claims") + number(&result, "moves"), (json_int_t)sum.claims);
    ck_assert_int_gt(number(&result, "moves"), HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS - 1);
    ck_assert_int_eq(number(&result, "identical"), (json_int_t)sum.claims);
    ck_assert_int_eq(number(&result, "replayed"), (json_int_t)sum.replayed);
    ck_assert_int_eq(number(&result, "matches"), 2 * HS_TRAFFIC_OWN + 1);
    ck_assert_int_gt(number(&result, "shots"), 20);
    /* The claims were of all sorts, or the comparison would say little. */
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
    RUN(&result, "recheck", path);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "identical"));
    ck_assert_ptr_nonnull(strstr(result.program.out, "rewind_limit"));
}
END_TEST

/* ---- other rules ---- */

/* The first character of a kind, the shooter, the shot and both verdicts, for a set of flips. */
static void add_flip(json_t *flips, const char *match, const char *kind, const json_t *before,
                     const json_t *after)
{
    char key[256];
    bool is_move = strcmp(kind, "move") == 0;
    snprintf(key, sizeof key, "%s %c %s %lld", match, kind[0],
             json_string_value(json_object_get(before, is_move ? "player" : "shooter")),
             (long long)json_integer_value(json_object_get(before, is_move ? "seq" : "shot")));
    json_object_set_new(flips, key,
                        json_sprintf("%s %s", json_string_value(json_object_get(before, "reason")),
                                     json_string_value(json_object_get(after, "reason"))));
}

static void compare_results(json_t *flips, const char *match, const char *kind,
                            const json_t *before, const json_t *after)
{
    size_t i;
    json_t *was;
    ck_assert_uint_eq(json_array_size(before), json_array_size(after));
    json_array_foreach(before, i, was)
    {
        const json_t *is = json_array_get(after, i);
        const json_t *reason = json_object_get(is, "reason");
        if (!json_is_true(json_object_get(was, "replayed")) &&
            !json_equal(json_object_get(was, "reason"), (json_t *)(uintptr_t)reason))
            add_flip(flips, match, kind, was, is);
    }
}

/* One line of the stream to the second service. A match that is opened gets the other rules. */
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
    compare_results(flips, match, kind, json_object_get(before, "results"),
                    json_object_get(answer, "results"));
    compare_results(flips, match, "hit", json_object_get(before, "hits"),
                    json_object_get(answer, "hits"));
    compare_results(flips, match, "shot", json_object_get(before, "shots"),
                    json_object_get(answer, "shots"));
    compare_results(flips, match, "move", json_object_get(before, "moves"),
                    json_object_get(answer, "moves"));
    json_decref(answer);
}

/* What a service with these rules answers otherwise, given the same requests in the same order. */
static json_t *ask_second_service(const char *stream)
{
    const char *extra[] = {"--rules", folder, NULL};
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

/* The metres with other limits, in the folder, without a name inside. */
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
    const char *path = file_named("loose.json");
    ck_assert_int_eq(json_dump_file(rules, path, 0), 0);
    json_decref(answer);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    return path;
}

START_TEST(other_rules_flip_what_a_service_with_them_would)
{
    struct run result;
    struct hs_traffic sum;
    const char *path = file_named("other.stream");
    record_traffic(path, &sum);
    const char *rules = write_rules();
    json_t *expected = ask_second_service(path);
    RUN(&result, "recheck", path, "--rules", rules, "--json", "--limit", "1000000");
    ck_assert_msg(result.program.code == 0, "%d: %s", result.program.code, result.program.err);
    size_t i;
    json_t *claim, *flips = json_object();
    json_array_foreach(json_object_get(result.report, "changed"), i, claim)
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
    ck_assert_uint_gt(json_object_size(expected), 100);
    ck_assert_int_ge(number(&result, "flipped"), (json_int_t)json_object_size(flips));
    ck_assert_uint_eq(json_object_size(flips), json_object_size(expected));
    ck_assert(json_equal(flips, expected));
    size_t moves = 0;
    const char *key;
    json_object_foreach(flips, key, claim) moves +=
        strcmp(json_string_value(claim), "fast_clock_proven ok") == 0;
    ck_assert_uint_ge(moves, 3);
    json_int_t judged = number(&result, "claims") + number(&result, "moves");
    ck_assert_int_eq(judged, (json_int_t)sum.claims);
    ck_assert_int_eq(judged, number(&result, "unchanged") + number(&result, "flipped") +
                                 number(&result, "damage_changed"));
    json_decref(result.report);
    json_decref(flips);
    json_decref(expected);

    /* Only the matches that were opened with the metres: by their first post. */
    RUN(&result, "recheck", path, "--rules", rules, "--ruleset", "metres", "--json", "--limit",
        "3");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_int_eq(number(&result, "matches"), HS_TRAFFIC_OWN + 1);
    ck_assert_int_eq(number(&result, "matches_left_out"), HS_TRAFFIC_OWN);
    ck_assert_int_gt(number(&result, "requests_left_out"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "changed")), 3);
    ck_assert_int_eq(number(&result, "changed_left_out"), number(&result, "flipped") - 3);
    json_decref(result.report);
    RUN(&result, "recheck", path, "--rules", rules, "--limit", "1");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "loose.json (loose, sha256:"));
    ck_assert_ptr_nonnull(strstr(result.program.out, " more; --limit shows them"));
}
END_TEST

/* ---- files ---- */

/* The file of `from` up to `size` bytes (0: all), with `find` replaced once. */
static const char *copy_stream(const char *from, const char *to, long size, const char *find,
                               const char *put)
{
    char *text = NULL;
    size_t room = 0, written = 0;
    const char *path = file_named(to);
    FILE *in = fopen(from, "r"), *out = fopen(path, "w");
    ck_assert(in != NULL && out != NULL);
    for (ssize_t got; (got = getline(&text, &room, in)) > 0;) {
        char *at = find != NULL ? strstr(text, find) : NULL;
        size_t len = (size_t)got;
        if (size > 0 && written + len > (size_t)size)
            len = (size_t)size - written;
        if (at != NULL) {
            fprintf(out, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
            find = NULL;
        } else {
            fwrite(text, 1, len, out);
        }
        written += len;
    }
    free(text);
    fclose(in);
    fclose(out);
    return path;
}

/* Waits until every line is in the file. */
static void wait_for_lines(void)
{
    while (hs_metric(&service, "hindsight_record_queue_bytes") > 0)
        hs_test_pause_ms(1);
}

/* A recording of one small match; its service is killed while it runs, or stopped. */
static void record_little(const char *path, const char *match, bool kill_it)
{
    start_recording(path);
    struct hs_traffic sent;
    hs_traffic_play_little(service.data_port, match, &sent);
    ck_assert_msg(sent.fault[0] == '\0', "%s", sent.fault);
    if (kill_it) {
        wait_for_lines();
        kill(service.pid, SIGKILL);
        ck_assert(!hs_test_service_stop(&service));
    } else {
        ck_assert(hs_test_service_stop(&service));
    }
}

START_TEST(a_restarted_service_continues_the_file)
{
    struct run result;
    struct stat status;
    const char *path = file_named("restart.stream");
    record_little(path, "little", true);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(truncate(path, status.st_size - 40), 0); /* killed in the middle of a line */
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert_int_eq(number(&result, "interrupted"), 1);
    ck_assert_int_eq(number(&result, "identical"), 89);
    json_decref(result.report);
    /* The same name is another match after the restart. */
    record_little(path, "little", false);
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert_int_eq(number(&result, "interrupted"), 1);
    ck_assert_int_eq(number(&result, "matches"), 2);
    ck_assert_int_eq(number(&result, "identical"), 89 + 90);
    json_decref(result.report);
    RUN(&result, "recheck", path);
    ck_assert_ptr_nonnull(strstr(result.program.out, "1 lines end in the middle"));
}
END_TEST

/* ---- restarts ---- */

/*
 * Traffic over three lives of a service that keeps its matches and records. The first life ends by
 * SIGTERM. The second one has no checkpoint but the one at its start, and ends by SIGKILL or
 * SIGTERM. The claims of all lives are counted.
 */
static void record_lives(const char *path, bool kill_it, struct hs_traffic *sum)
{
    static const int until[] = {100, 130, HS_TRAFFIC_TICKS};
    char data[160];
    snprintf(data, sizeof data, "%s.data", path);
    const char *extra[] = {"--record", path, "--default-ruleset",    "metres", "--threads", "4",
                           "--data",   data, "--checkpoint-seconds", "3600",   NULL};
    for (int life = 0; life < 3; life++) {
        ck_assert(hs_test_service_start(&service, extra));
        hs_traffic_play_part(service.data_port, hs_test_seed(7), life > 0 ? until[life - 1] : 0,
                             until[life], sum);
        ck_assert_msg(sum->fault[0] == '\0', "%s", sum->fault);
        ck_assert(hs_metric(&service, "hindsight_record_dropped_total") == 0);
        wait_for_lines();
        bool dies = kill_it && life == 1;
        if (dies)
            kill(service.pid, SIGKILL);
        ck_assert(hs_test_service_stop(&service) != dies);
    }
}

/* Matches go on after a restart, and so do their recordings: the saved state is in them. */
START_TEST(recordings_go_on_after_a_restart)
{
    struct run result;
    struct hs_traffic sum;
    const char *path = file_named(_i == 0 ? "stopped.stream" : "killed.stream");
    record_lives(path, _i != 0, &sum);
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "gaps")), 0);
    ck_assert_int_eq(number(&result, "claims") + number(&result, "moves"), (json_int_t)sum.claims);
    ck_assert_int_eq(number(&result, "identical"), (json_int_t)sum.claims);
    ck_assert_int_eq(number(&result, "replayed"), (json_int_t)sum.replayed);
    ck_assert_int_eq(number(&result, "matches_restored"), 2 * (HS_TRAFFIC_OWN + 1));
    ck_assert_ptr_nonnull(strstr(result.program.out, "fast_clock_proven"));
    json_decref(result.report);
    RUN(&result, "recheck", path);
    ck_assert_ptr_nonnull(strstr(result.program.out, "8 of them restored after a restart"));
    /* A state that another program saved cannot be loaded: its match is a gap. */
    const char *other = copy_stream(path, "other-state.stream", 0, "\"state\":\"", "\"state\":\"/");
    RUN(&result, "recheck", other, "--json");
    ck_assert_int_eq(number(&result, "matches_restored"), 2 * (HS_TRAFFIC_OWN + 1) - 1);
    ck_assert_int_eq(number(&result, "flipped"), 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "its state is damaged"));
    json_decref(result.report);
}
END_TEST

/* A match whose saved state does not fit into the queue is a gap in the next file. */
START_TEST(a_state_that_is_too_large_is_a_gap)
{
    struct run result;
    struct hs_traffic sum;
    const char *path = file_named("large.stream"), *next = file_named("next.stream");
    char data[160];
    snprintf(data, sizeof data, "%s.data", path);
    const char *extra[] = {"--record", next, "--record-queue-bytes", "65536", "--data", data, NULL};
    record_lives(path, false, &sum);
    ck_assert(hs_test_service_start(&service, extra));
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", next);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "gaps: these matches are not compared until"));
    ck_assert_ptr_nonnull(
        strstr(result.program.out, ": its saved state does not fit into --record-queue-bytes\n"));
}
END_TEST

/* Under other rules a restored match goes on from its own state. Here the other rules are the same
   ones, so nothing may change. */
START_TEST(other_rules_go_on_after_a_restart)
{
    struct run result;
    struct hs_traffic sum;
    long status;
    const char *path = file_named("other-lives.stream"), *rules = file_named("same.json");
    record_lives(path, false, &sum);
    ck_assert(hs_test_service_start(&service, NULL));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_object_set_new(json_object_get(answer, "ruleset"), "name", json_string("same"));
    ck_assert_int_eq(json_dump_file(json_object_get(answer, "ruleset"), rules, 0), 0);
    json_decref(answer);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", path, "--rules", rules, "--ruleset", "metres", "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_msg(json_array_size(json_object_get(result.report, "gaps")) == 0, "%s",
                  result.program.out);
    ck_assert_int_eq(number(&result, "matches_restored"), 2); /* the shared one, twice */
    ck_assert_int_gt(number(&result, "unchanged"), (json_int_t)sum.claims / 2);
    ck_assert_int_eq(number(&result, "claims") + number(&result, "moves"),
                     number(&result, "unchanged"));
    json_decref(result.report);
}
END_TEST

START_TEST(what_was_tampered_with_is_found)
{
    struct run result;
    const char *path = file_named("honest.stream");
    record_little(path, "little", false);
    const char *forged = copy_stream(path, "forged.stream", 0,
                                     "\"verdict\":\"rejected\",\"reason\":\"origin_mismatch\"",
                                     "\"verdict\":\"accepted\",\"reason\":\"ok\"");
    RUN(&result, "recheck", forged);
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(
        strstr(result.program.out, "accepted ok -> rejected origin_mismatch  origin "));
    ck_assert_ptr_nonnull(strstr(result.program.err, "answers differ under the same rules"));
    forged = copy_stream(path, "forged.stream", 0, "\"stored\":2", "\"stored\":1");
    RUN(&result, "recheck", forged, "--json");
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_int_eq(number(&result, "answers_changed"), 1);
    ck_assert_int_eq(number(&result, "flipped"), 0);
    json_decref(result.report);
    forged = copy_stream(path, "forged.stream", 0, "\"program\":\"", "\"program\":\"old-");
    RUN(&result, "recheck", forged);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "and computed again by"));
}
END_TEST

/* A copy of a stream with one replacement, and what is said to it. */
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
    struct run result;
    const char *path = file_named("whole.stream");
    record_little(path, "little", false);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *copy = copy_stream(path, "broken.stream", 0, broken[i].find, broken[i].put);
        RUN(&result, "recheck", copy);
        ck_assert_msg(result.program.code == 1 &&
                          strstr(result.program.err, broken[i].says) != NULL,
                      "row %zu: code %d: %s", i, result.program.code, result.program.err);
    }
    RUN(&result, "recheck", copy_stream(path, "broken.stream", 0, NULL, NULL));
    ck_assert_int_eq(result.program.code, 0);
    hs_test_write_file(file_named("broken.stream"), "");
    RUN(&result, "recheck", file_named("broken.stream"));
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "is empty"));
    RUN(&result, "recheck", file_named("nothing.stream"));
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "cannot be read"));
    RUN(&result, "recheck", path, "--rules", path);
    ck_assert_int_eq(result.program.code, 1);
    RUN(&result, "recheck", path, "--rules", file_named("nothing.json"));
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
    struct hs_test_run result;
    hs_test_program_run(&result, wrong[_i]);
    ck_assert_int_eq(result.code, 2);
    ck_assert_ptr_nonnull(strstr(result.err, "--help"));
    ck_assert_str_eq(result.out, "");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_ends_the_start)
{
    struct run result;
    RUN(&result, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
        "--data=", "--record", "/nonexistent/stream");
    ck_assert_int_eq(result.program.code, 1);
    ck_assert_ptr_nonnull(strstr(result.program.err, "cannot record"));
    RUN(&result, "recheck", "--help");
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "--rules FILE"));
}
END_TEST

/* ---- what others recorded ---- */

/* Every scenario file, and the demo's match, played by the program itself. */
START_TEST(scenarios_and_the_demo_are_computed_again)
{
    static const char *const files[] = {
        "tests/scenarios/cadence.json",  "tests/scenarios/claims.json",
        "tests/scenarios/geometry.json", "tests/scenarios/latency.json",
        "tests/scenarios/modes.json",    "tests/scenarios/shots.json",
        "tests/scenarios/time.json",     "tests/scenarios/weapons.json"};
    struct run result;
    char url[64];
    const char *path = file_named("scenarios.stream"), *demo = file_named("demo.jsonl");
    RUN(&result, "demo", "--keep", demo);
    ck_assert_int_eq(result.program.code, 0);
    start_recording(path);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", service.data_port);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        RUN(&result, "play", files[i], "--url", url);
        ck_assert_msg(result.program.code == 0, "%s: %s", files[i], result.program.err);
    }
    RUN(&result, "play", demo, "--url", url);
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_gt(number(&result, "claims"), 500);
    ck_assert_int_gt(number(&result, "shots"), 5);
    ck_assert_int_gt(number(&result, "matches"), 50);
    json_decref(result.report);
}
END_TEST

/* ---- matches that are short of memory ---- */

static const char *const match_bytes[] = {"65536", "70000", "100000", "150000", "250000"};

/* Traffic of matches that give something up sooner or later because memory is short. The recording
   must not contain requests that a replay with more memory would answer differently. */
START_TEST(what_memory_decides_is_not_computed_again)
{
    struct run result;
    struct hs_traffic sum;
    const char *path = file_named(match_bytes[_i]);
    const char *extra[] = {"--record",      path, "--default-ruleset", "metres", "--match-bytes",
                           match_bytes[_i], NULL};
    ck_assert(hs_test_service_start(&service, extra));
    hs_traffic_play(service.data_port, hs_test_seed(7), &sum);
    ck_assert_msg(sum.fault[0] == '\0', "%s", sum.fault);
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_eq(number(&result, "flipped"), 0);
    ck_assert_uint_gt(json_array_size(json_object_get(result.report, "gaps")), 0);
    json_decref(result.report);
}
END_TEST

/* The first request of a match does not fit: the recording has only a gap for it. */
START_TEST(a_match_without_memory_from_its_first_request)
{
    struct run result;
    long status;
    const char *path = file_named("short.stream");
    const char *extra[] = {"--record", path, "--match-bytes", "65536", NULL};
    ck_assert(hs_test_service_start(&service, extra));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *players = json_array();
    for (int i = 0; i < 100; i++)
        json_array_append_new(players, json_pack("{so, s[iii]}", "player", json_sprintf("p%d", i),
                                                 "position", i, 2, 3));
    json_t *frames = json_pack("{s[{sf, so}]}", "frames", "time", 1.0, "players", players);
    for (int i = 0; i < 2; i++) {
        json_t *answer = hs_test_http_json(http, "POST", "/v1/matches/short/frames",
                                           json_incref(frames), &status);
        ck_assert_int_eq(status, 200);
        ck_assert_uint_gt(json_array_size(json_object_get(answer, "refused")), 0);
        json_decref(answer);
    }
    json_decref(frames);
    ck_assert_double_eq(hs_metric(&service, "hindsight_record_dropped_total"), 2);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_eq(number(&result, "matches"), 0);
    ck_assert_int_eq(number(&result, "requests"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "gaps")), 1);
    json_decref(result.report);
    RUN(&result, "recheck", path);
    ck_assert_ptr_nonnull(
        strstr(result.program.out, "short  from line 2 on: requests are missing"));
}
END_TEST

static Suite *create_suite(void)
{
    Suite *suite = suite_create("recheck");
    TCase *tests = tcase_create("recheck");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_same_rules_give_the_same_bytes);
    tcase_add_test(tests, other_rules_flip_what_a_service_with_them_would);
    tcase_add_test(tests, a_restarted_service_continues_the_file);
    tcase_add_loop_test(tests, recordings_go_on_after_a_restart, 0, 2);
    tcase_add_test(tests, a_state_that_is_too_large_is_a_gap);
    tcase_add_test(tests, other_rules_go_on_after_a_restart);
    tcase_add_test(tests, what_was_tampered_with_is_found);
    tcase_add_test(tests, broken_files_are_refused);
    tcase_add_loop_test(tests, wrong_usage_is_2, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tests, a_file_that_cannot_be_written_ends_the_start);
    tcase_add_test(tests, scenarios_and_the_demo_are_computed_again);
    tcase_add_test(tests, a_match_without_memory_from_its_first_request);
    tcase_add_loop_test(tests, what_memory_decides_is_not_computed_again, 0,
                        sizeof match_bytes / sizeof match_bytes[0]);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    strcpy(folder, "/tmp/hs-recheck-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = hs_run_suite(create_suite());
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
