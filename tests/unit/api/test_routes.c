/* Each path and method has the expected route, or none. */
#include "api/http/routes.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define NAME64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *method, *path;
    enum hs_route route;
    const char *first, *second; /* names in the path */
} found[] = {
    {"GET", "/v1/matches", HS_ROUTE_MATCH_LIST, NULL, NULL},
    {"PUT", "/v1/matches/m", HS_ROUTE_MATCH_PUT, "m", NULL},
    {"GET", "/v1/matches/m", HS_ROUTE_MATCH_GET, "m", NULL},
    {"HEAD", "/v1/matches/m", HS_ROUTE_MATCH_GET, "m", NULL},
    {"DELETE", "/v1/matches/m", HS_ROUTE_MATCH_DELETE, "m", NULL},
    {"GET", "/v1/matches/m/players/p", HS_ROUTE_PLAYER_GET, "m", "p"},
    {"POST", "/v1/matches/" NAME64 "/frames", HS_ROUTE_FRAMES_POST, NAME64, NULL},
    {"POST", "/v1/matches/hits/hits", HS_ROUTE_HITS_POST, "hits", NULL},
    {"POST", "/v1/matches/A.b:c_d-9/ticks", HS_ROUTE_TICKS_POST, "A.b:c_d-9", NULL},
    {"GET", "/v1/rulesets", HS_ROUTE_RULESET_LIST, NULL, NULL},
    {"PUT", "/v1/rulesets/r", HS_ROUTE_RULESET_PUT, "r", NULL},
    {"GET", "/v1/rulesets/r", HS_ROUTE_RULESET_GET, "r", NULL},
    {"DELETE", "/v1/rulesets/r", HS_ROUTE_RULESET_DELETE, "r", NULL},
    {"PUT", "/v1/maps/dm4", HS_ROUTE_MAP_PUT, "dm4", NULL},
    {"GET", "/v1/maps/dm4", HS_ROUTE_MAP_GET, "dm4", NULL},
    {"DELETE", "/v1/maps/dm4", HS_ROUTE_MAP_DELETE, "dm4", NULL},
    {"GET", "/openapi.yaml", HS_ROUTE_CONTRACT, NULL, NULL},
    {"GET", "/livez", HS_ROUTE_LIVEZ, NULL, NULL},
    {"GET", "/readyz", HS_ROUTE_READYZ, NULL, NULL},
};

START_TEST(each_path_finds_its_route)
{
    static const enum hs_listener listeners[] = {HS_LISTENER_DATA, HS_LISTENER_ADMIN};
    for (size_t i = 0; i < 2; i++) {
        enum hs_route route = HS_ROUTE_COUNT;
        struct hs_route_params params;
        ck_assert_int_eq(
            hs_route_find(listeners[i], found[_i].method, found[_i].path, &route, &params),
            HS_ROUTE_FOUND);
        ck_assert_int_eq(route, found[_i].route);
        const char *names[] = {found[_i].first, found[_i].second};
        for (size_t n = 0; n < 2; n++) {
            struct hs_str expected = {names[n], names[n] == NULL ? 0 : strlen(names[n])};
            ck_assert(hs_str_equal(params.name[n], expected));
            ck_assert((params.name[n].ptr == NULL) == (names[n] == NULL));
        }
        ck_assert_str_eq(params.allow, "");
    }
}
END_TEST

static const struct {
    const char *method, *path;
    enum hs_route_match match;
    const char *allow;
} refused[] = {
    {"GET", "", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/", HS_ROUTE_UNKNOWN, ""},
    {"GET", "*", HS_ROUTE_UNKNOWN, ""},
    {"GET", "livez", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/livez/", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/livezz", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/live", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/LIVEZ", HS_ROUTE_UNKNOWN, ""},
    {"GET", "//livez", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1/matches/", HS_ROUTE_UNKNOWN, ""},
    {"POST", "/v1/matches//hits", HS_ROUTE_UNKNOWN, ""},
    {"POST", "/v1/matches/m/hits/", HS_ROUTE_UNKNOWN, ""},
    {"POST", "/v1/matches/m/hits/x", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1/matches/m/players", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1/matches/m/players/", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1/matches/m/players/p/q", HS_ROUTE_UNKNOWN, ""},
    {"GET", "http://x/livez", HS_ROUTE_UNKNOWN, ""},
    {"GET", "/v1/matches/a%2Fb", HS_ROUTE_BAD_NAME, ""},
    {"GET", "/v1/matches/a b", HS_ROUTE_BAD_NAME, ""},
    {"GET", "/v1/matches/{match}", HS_ROUTE_BAD_NAME, ""},
    {"GET", "/v1/matches/" NAME64 "a", HS_ROUTE_BAD_NAME, ""},
    {"GET", "/v1/matches/m/players/\xc3\xa9", HS_ROUTE_BAD_NAME, ""},
    {"POST", "/v1/matches/m", HS_ROUTE_BAD_METHOD, "PUT, GET, HEAD, DELETE"},
    {"POST", "/v1/matches", HS_ROUTE_BAD_METHOD, "GET, HEAD"},
    {"GET", "/v1/matches/m/frames", HS_ROUTE_BAD_METHOD, "POST"},
    {"HEAD", "/v1/matches/m/hits", HS_ROUTE_BAD_METHOD, "POST"},
    {"get", "/livez", HS_ROUTE_BAD_METHOD, "GET, HEAD"},
    {"", "/livez", HS_ROUTE_BAD_METHOD, "GET, HEAD"},
    {"POST", "/v1/rulesets/r", HS_ROUTE_BAD_METHOD, "PUT, GET, HEAD, DELETE"},
};

START_TEST(unknown_paths_and_methods_have_no_route)
{
    enum hs_route route = HS_ROUTE_COUNT;
    struct hs_route_params params;
    ck_assert_int_eq(
        hs_route_find(HS_LISTENER_DATA, refused[_i].method, refused[_i].path, &route, &params),
        refused[_i].match);
    ck_assert_str_eq(params.allow, refused[_i].allow);
}
END_TEST

START_TEST(metrics_are_on_the_admin_listener_only)
{
    enum hs_route route = HS_ROUTE_COUNT;
    struct hs_route_params params;
    ck_assert_int_eq(hs_route_find(HS_LISTENER_DATA, "GET", "/metrics", &route, &params),
                     HS_ROUTE_UNKNOWN);
    ck_assert_int_eq(hs_route_find(HS_LISTENER_DATA, "POST", "/metrics", &route, &params),
                     HS_ROUTE_UNKNOWN);
    ck_assert_int_eq(hs_route_find(HS_LISTENER_ADMIN, "GET", "/metrics", &route, &params),
                     HS_ROUTE_FOUND);
    ck_assert_int_eq(route, HS_ROUTE_METRICS);
}
END_TEST

/* Every route is reached by its own pattern, and the Allow list has space for every method. */
START_TEST(patterns_lead_to_their_routes)
{
    for (int i = 0; i < HS_ROUTE_COUNT; i++) {
        char path[128];
        enum hs_route route = HS_ROUTE_COUNT;
        struct hs_route_params params;
        size_t len = 0;
        for (const char *from = hs_route_pattern((enum hs_route)i); *from != '\0'; from++)
            if (*from != '{' && *from != '}')
                path[len++] = *from;
        path[len] = '\0';
        ck_assert_int_eq(hs_route_find(HS_LISTENER_ADMIN,
                                       hs_method_name(hs_route_method((enum hs_route)i)), path,
                                       &route, &params),
                         HS_ROUTE_FOUND);
        ck_assert_int_eq(route, i);
        ck_assert_int_eq(hs_route_find(HS_LISTENER_ADMIN, "BREW", path, &route, &params),
                         HS_ROUTE_BAD_METHOD);
        ck_assert_uint_lt(strlen(params.allow), sizeof params.allow - 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("routes");
    TCase *tests = tcase_create("routes");
    tcase_add_loop_test(tests, each_path_finds_its_route, 0, (int)(sizeof found / sizeof found[0]));
    tcase_add_loop_test(tests, unknown_paths_and_methods_have_no_route, 0,
                        (int)(sizeof refused / sizeof refused[0]));
    tcase_add_test(tests, metrics_are_on_the_admin_listener_only);
    tcase_add_test(tests, patterns_lead_to_their_routes);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
