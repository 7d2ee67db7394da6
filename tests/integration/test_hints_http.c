/* Hints for clients and operators. If a game server does not put the ruleset of the README, the
   match state and one line of the log name the mistake. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

enum { TICKS = 160 };

static struct hs_test_service service;

static json_t *tick_of(int tick)
{
    double now = 10 + 0.05 * tick, x = 0.1 * tick;
    json_t *frames =
        json_pack("[{s:f,s:[{s:s,s:[f,f,f],s:[i,i,i],s:s,s:f,s:f},"
                  "{s:s,s:[f,f,f],s:[i,i,i],s:s,s:f,s:f}]}]",
                  "time", now, "players", "player", "p1", "position", x, 0.0, 0.0, "aim", 0, 1, 0,
                  "weapon", "rifle", "rtt", 0.02, "interp", 0.0, "player", "p2", "position", x,
                  12.0, 0.0, "aim", 0, -1, 0, "weapon", "rifle", "rtt", 0.06, "interp", 0.0);
    json_t *hits = json_pack("[{s:i,s:s,s:s,s:f,s:[f,f,f],s:[f,f,f]}]", "shot", tick + 1, "shooter",
                             tick % 2 == 0 ? "p1" : "p2", "target", tick % 2 == 0 ? "p2" : "p1",
                             "hit_time", now, "start", x, tick % 2 == 0 ? 0.0 : 12.0, 1.6, "end", x,
                             tick % 2 == 0 ? 12.0 : 0.0, 1.2);
    return json_pack("{s:f,s:o,s:o}", "now", now, "frames", frames, "hits", hits);
}

/* Plays in metres and returns the hints. The caller releases them. */
static json_t *play(const char *match, const char *ruleset)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    char path[64], ticks[80];
    long status;
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    snprintf(ticks, sizeof ticks, "%s/ticks", path);
    json_decref(
        hs_test_http_json(http, "PUT", path, json_pack("{s:s}", "ruleset", ruleset), &status));
    ck_assert_int_eq(status, 201);
    for (int tick = 0; tick < TICKS; tick++) {
        json_decref(hs_test_http_json(http, "POST", ticks, tick_of(tick), &status));
        ck_assert_int_eq(status, 200);
    }
    json_t *state = hs_test_http_json(http, "GET", path, NULL, &status);
    json_t *hints = json_incref(json_object_get(state, "hints"));
    ck_assert(json_is_array(hints));
    json_decref(state);
    hs_test_http_close(http);
    return hints;
}

/* Returns the number of log lines about hints of a match. */
static int logged(const char *match, char detail[512])
{
    FILE *log = fdopen(dup(service.err), "r");
    char line[8192];
    int count = 0;
    ck_assert_ptr_nonnull(log);
    rewind(log);
    while (fgets(line, sizeof line, log) != NULL) {
        json_t *root = json_loads(line, 0, NULL);
        const char *of = json_string_value(json_object_get(root, "match"));
        if (json_object_get(root, "hint") != NULL && of != NULL && strcmp(of, match) == 0) {
            ck_assert_str_eq(json_string_value(json_object_get(root, "level")), "warn");
            snprintf(detail, 512, "%s", json_string_value(json_object_get(root, "detail")));
            count++;
        }
        json_decref(root);
    }
    fclose(log);
    return count;
}

START_TEST(a_forgotten_ruleset_is_named)
{
    char detail[512] = "";
    json_t *hints = play("forgotten", "centimetres");
    ck_assert_uint_eq(json_array_size(hints), 1);
    const json_t *hint = json_array_get(hints, 0);
    ck_assert_str_eq(json_string_value(json_object_get(hint, "code")), "unit_of_ruleset");
    ck_assert_str_eq(json_string_value(json_object_get(hint, "unit")), "length");
    ck_assert_double_eq_tol(json_number_value(json_object_get(hint, "measured")), 1.6, 1e-3);
    ck_assert_double_eq_tol(json_number_value(json_object_get(hint, "expected")), 160, 1e-3);
    ck_assert_int_ge(json_integer_value(json_object_get(hint, "claims")), 30);
    ck_assert_int_eq(logged("forgotten", detail), 1);
    ck_assert_ptr_nonnull(strstr(detail, "does the game count in metres and the ruleset in "
                                         "centimetres?"));
    json_decref(hints);
}
END_TEST

START_TEST(a_right_integration_has_none)
{
    char detail[512] = "";
    json_t *hints = play("right", "metres");
    ck_assert_uint_eq(json_array_size(hints), 0);
    ck_assert_int_eq(logged("right", detail), 0);
    json_decref(hints);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hints over HTTP");
    TCase *tests = tcase_create("hints over HTTP");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_forgotten_ruleset_is_named);
    tcase_add_test(tests, a_right_integration_has_none);
    suite_add_tcase(suite, tests);
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
