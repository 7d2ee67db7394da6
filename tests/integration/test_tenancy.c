/* Scenario 97 over HTTP, and the same for rulesets, maps and verdicts. For objects of another
   tenant a tenant gets 403, changes nothing and learns nothing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/http/routes.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#define GAME "\"ingest\",\"verify\",\"rules\""

enum { ACME, ZETA, ZETA_VERIFY, ACME_ADMIN, ZETA_ADMIN, TOKENS };

static struct hs_test_token tokens[TOKENS] = {
    [ACME] = {.tenant = "acme", .kid = "game", .scopes = GAME},
    [ZETA] = {.tenant = "zeta", .kid = "game", .scopes = GAME},
    [ZETA_VERIFY] = {.tenant = "zeta", .kid = "verify", .scopes = "\"verify\""},
    [ACME_ADMIN] = {.tenant = "acme", .kid = "admin", .scopes = "\"admin\""},
    [ZETA_ADMIN] = {.tenant = "zeta", .kid = "admin", .scopes = "\"admin\""},
};

static char directory[] = "/tmp/hindsight_tenancy_XXXXXX";
static struct hs_test_service service;
static struct hs_test_http *http;
static struct hs_test_response answer;

static void setup(void)
{
    http = hs_test_http_open(service.data_port);
}

static void teardown(void)
{
    hs_test_response_free(&answer);
    hs_test_http_close(http);
}

/* ---- requests ---- */

/* Sends a request. The answer stays valid until the next one. Returns the status. */
static long ask(int who, const char *method, const char *path, const char *body)
{
    const char *headers[] = {tokens[who].header, "X-Request-Id: same", NULL};
    hs_test_response_free(&answer);
    hs_test_http_send(http, method, path, body, body != NULL ? strlen(body) : 0, headers, &answer);
    return answer.status;
}

static void expect(int who, const char *method, const char *path, const char *body, long status)
{
    long got = ask(who, method, path, body);
    ck_assert_msg(got == status, "%s %s %s: %ld, not %ld: %s", tokens[who].tenant, method, path,
                  got, status, answer.body);
}

/* Returns the whole answer as text: status, header fields except the date, and body. The caller
   frees it. */
static char *told(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%ld\n", answer.status);
    for (const char *line = answer.headers; *line != '\0';) {
        size_t len = strcspn(line, "\n") + 1;
        if (strncasecmp(line, "date:", 5) != 0)
            fprintf(out, "%.*s", (int)len, line);
        line += line[len - 1] == '\0' ? len - 1 : len;
    }
    fprintf(out, "%s", answer.body);
    fclose(out);
    return text;
}

static void expect_same(int who, const char *method, const char *path, const char *body,
                        const char *wanted)
{
    ask(who, method, path, body);
    char *text = told();
    ck_assert_msg(strcmp(text, wanted) == 0, "%s %s:\n%s\nnot\n%s", method, path, text, wanted);
    free(text);
}

#define FRAMES                                                                                     \
    "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"a\",\"position\":[0,0,0],"                \
    "\"weapon\":\"rifle\"},{\"player\":\"b\",\"position\":[5,0,0]}]},"                             \
    "{\"time\":1.05,\"players\":[{\"player\":\"a\",\"position\":[0,0,0]},"                         \
    "{\"player\":\"b\",\"position\":[5,0,0]}]}]}"
#define HITS                                                                                       \
    "{\"hits\":[{\"shot\":1,\"shooter\":\"a\",\"hit_time\":1.02,\"start\":[0,0,1.6],"              \
    "\"end\":[5,0,1.6],\"target\":\"b\"}]}"
#define METRES "{\"ruleset\":\"metres\"}"

/* ---- matches ---- */

static const struct {
    const char *method, *pattern;
} routes[] = {
#define X(id, method, pattern, ...) {#method, pattern},
    HS_ROUTES(X)
#undef X
};

static const char *const bodies[] = {
    FRAMES,
    HITS,
    METRES,
    "{}",
    "{\"ruleset\":\"inches\"}",
    "not JSON",
    "",
    "{\"frames\":[{\"time\":9,\"players\":[{\"player\":\"a\",\"event\":\"leave\"}]}]}"};

static bool takes_body(const char *method)
{
    return method[0] == 'P';
}

/* Writes the path of a route for a match. A second name in the path is a player. */
static void path_of(const char *pattern, const char *match, const char *player, char path[256])
{
    const char *rest = strchr(pattern, '}') + 1, *more = strchr(rest, '{');
    int len = snprintf(path, 256, "/v1/matches/%s%.*s", match,
                       (int)(more != NULL ? (size_t)(more - rest) : strlen(rest)), rest);
    if (more != NULL)
        snprintf(path + len, 256 - (size_t)len, "%s", player);
}

START_TEST(scenario_97_a_match_is_not_touched)
{
    char path[256];
    size_t asked = 0;
    expect(ACME, "PUT", "/v1/matches/m97", METRES, 201);
    expect(ACME, "POST", "/v1/matches/m97/frames", FRAMES, 200);
    expect(ACME, "GET", "/v1/matches/m97", NULL, 200);
    char *before = told();
    expect(ZETA, "POST", "/v1/matches/m97/frames", FRAMES, 403);
    char *refusal = told();
    for (size_t route = 0; route < HS_ROUTE_COUNT; route++) {
        if (strncmp(routes[route].pattern, "/v1/matches/{", 13) != 0)
            continue;
        const char *method = routes[route].method;
        for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
            const char *body = takes_body(method) ? bodies[i] : NULL;
            path_of(routes[route].pattern, "m97", i % 2 == 0 ? "a" : "nobody", path);
            ask(ZETA, method, path, body);
            ck_assert_msg(answer.status == 403, "%s %s: %ld", method, path, answer.status);
            /* The connection closes after a body that was not read, and stays open after an empty
               one. This depends on the request, not on the match. */
            if (body != NULL && body[0] != '\0')
                expect_same(ZETA, method, path, body, refusal);
            asked++;
        }
    }
    ck_assert_uint_ge(asked, 8 * sizeof bodies / sizeof bodies[0]);
    expect(ZETA_ADMIN, "DELETE", "/v1/matches/m97", NULL, 403);
    expect_same(ACME, "GET", "/v1/matches/m97", NULL, before);
    expect(ACME, "POST", "/v1/matches/m97/hits", HITS, 200);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"verdict\":\"accepted\""));
    ck_assert_ptr_nonnull(strstr(answer.body, "\"replayed\":false"));
    free(before);
    free(refusal);
}
END_TEST

/* If a request cannot create anything, it gets the same answer for a match that does not exist as
   for another tenant's match. */
START_TEST(unknown_names_look_like_those_of_others)
{
    static const struct {
        int who;
        const char *method, *pattern, *body;
    } asked[] = {
        {ZETA, "GET", "/v1/matches/{match}", NULL},
        {ZETA, "HEAD", "/v1/matches/{match}", NULL},
        {ZETA, "DELETE", "/v1/matches/{match}", NULL},
        {ZETA, "GET", "/v1/matches/{match}/players/{player}", NULL},
        {ZETA_VERIFY, "GET", "/v1/matches/{match}", NULL},
        {ZETA_VERIFY, "POST", "/v1/matches/{match}/hits", HITS},
        {ZETA_VERIFY, "POST", "/v1/matches/{match}/hits", "not JSON"},
    };
    char path[256];
    expect(ACME, "PUT", "/v1/matches/hidden", METRES, 201);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        path_of(asked[i].pattern, "hidden", "a", path);
        expect(asked[i].who, asked[i].method, path, asked[i].body, 403);
        char *text = told();
        path_of(asked[i].pattern, "absent", "a", path);
        expect_same(asked[i].who, asked[i].method, path, asked[i].body, text);
        free(text);
    }
    expect(ZETA, "GET", "/v1/matches", NULL, 200);
    ck_assert_ptr_null(strstr(answer.body, "absent"));
}
END_TEST

START_TEST(lists_show_own_entries_only)
{
    expect(ACME, "PUT", "/v1/matches/of-acme", METRES, 201);
    expect(ZETA, "POST", "/v1/matches/of-zeta/frames", FRAMES, 200);
    expect(ACME, "GET", "/v1/matches", NULL, 200);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"of-acme\""));
    ck_assert_ptr_null(strstr(answer.body, "\"of-zeta\""));
    expect(ZETA_VERIFY, "GET", "/v1/matches", NULL, 200);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"of-zeta\""));
    ck_assert_ptr_null(strstr(answer.body, "\"of-acme\""));
    expect(ACME_ADMIN, "DELETE", "/v1/matches/of-acme", NULL, 200);
    expect(ZETA, "PUT", "/v1/matches/of-acme", METRES, 201); /* the name is free */
    expect(ACME, "GET", "/v1/matches/of-acme", NULL, 403);
}
END_TEST

/* The listener for operators has the same rules. */
#define REFUSED_FOR_TENANT "hindsight_auth_failures_total{reason=\"tenant\"}"

START_TEST(the_admin_listener_checks_owners_too)
{
    double refused = hs_metric(&service, REFUSED_FOR_TENANT);
    expect(ACME, "PUT", "/v1/matches/m-admin", METRES, 201);
    hs_test_http_close(http);
    http = hs_test_http_open(service.admin_port);
    expect(ZETA_ADMIN, "GET", "/v1/matches/m-admin", NULL, 403);
    expect(ZETA_ADMIN, "DELETE", "/v1/matches/m-admin", NULL, 403);
    expect(ACME_ADMIN, "GET", "/v1/matches/m-admin", NULL, 200);
    expect(ZETA_ADMIN, "GET", "/v1/matches", NULL, 200);
    ck_assert_ptr_null(strstr(answer.body, "m-admin"));
    hs_test_response_free(&answer);
    hs_test_http_send(http, "GET", "/v1/matches", NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 401);
    hs_test_response_free(&answer);
    hs_test_http_send(http, "GET", "/metrics", NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert(hs_series(answer.body, REFUSED_FOR_TENANT) == refused + 2);
    ck_assert_ptr_null(strstr(answer.body, "acme"));
}
END_TEST

/* The service refuses the request when only the header was sent, and does not wait for the body. */
START_TEST(refused_before_the_body)
{
    static const struct {
        int who; /* index of the token; -1: no token */
        const char *path;
        int status;
    } sent[] = {{-1, "m-early/frames", 401},
                {ZETA, "m-early/frames", 403},
                {ZETA_VERIFY, "m-early/frames", 403},
                {ZETA_VERIFY, "m-late/hits", 403}};
    expect(ACME, "PUT", "/v1/matches/m-early", METRES, 201);
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        static struct hs_raw_answer raw;
        char head[1024];
        int fd = hs_raw_connect(service.data_port);
        snprintf(head, sizeof head,
                 "POST /v1/matches/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 "%s%sContent-Length: 500000\r\n\r\n",
                 sent[i].path, sent[i].who >= 0 ? tokens[sent[i].who].header : "",
                 sent[i].who >= 0 ? "\r\n" : "");
        ck_assert(hs_raw_send(fd, head, strlen(head)));
        hs_raw_read(fd, false, &raw);
        ck_assert_msg(raw.status == sent[i].status, "%s: %d", sent[i].path, raw.status);
        ck_assert(hs_raw_is_closed(fd));
        close(fd);
    }
}
END_TEST

/* ---- rulesets ---- */

START_TEST(a_ruleset_belongs_to_its_tenant)
{
    expect(ACME, "PUT", "/v1/rulesets/mine", "{\"name\":\"mine\",\"up\":\"+y\"}", 201);
    expect(ACME, "GET", "/v1/rulesets/mine", NULL, 200);
    char *before = told();
    expect(ZETA, "GET", "/v1/rulesets/mine", NULL, 403);
    char *refusal = told();
    expect_same(ZETA, "GET", "/v1/rulesets/never", NULL, refusal);
    free(refusal);
    expect(ZETA, "PUT", "/v1/rulesets/mine", "{\"name\":\"mine\"}", 403);
    expect(ZETA, "PUT", "/v1/rulesets/mine", "not JSON", 403);
    expect(ZETA_ADMIN, "PUT", "/v1/rulesets/mine", "{\"name\":\"mine\"}", 403);
    expect(ZETA, "DELETE", "/v1/rulesets/mine", NULL, 403);
    expect(ZETA_ADMIN, "DELETE", "/v1/rulesets/never", NULL, 403);
    expect_same(ACME, "GET", "/v1/rulesets/mine", NULL, before);
    free(before);
    expect(ZETA, "GET", "/v1/rulesets", NULL, 200);
    ck_assert_ptr_null(strstr(answer.body, "mine"));
    ck_assert_ptr_nonnull(strstr(answer.body, "\"metres\""));
    expect(ACME, "GET", "/v1/rulesets", NULL, 200);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"mine\""));

    /* Another tenant's ruleset gets the same answer as a ruleset that does not exist. */
    expect(ZETA, "PUT", "/v1/matches/with-mine", "{\"ruleset\":\"mine\"}", 422);
    ck_assert_ptr_nonnull(strstr(answer.body,
                                 "\"there is no ruleset mine; there are "
                                 "centimetres, godot, inches, metres, source, unity, unreal\""));
    expect(ZETA, "PUT", "/v1/matches/with-mine", "{\"ruleset\":\"none\"}", 422);
    ck_assert_ptr_nonnull(strstr(answer.body,
                                 "\"there is no ruleset none; there are "
                                 "centimetres, godot, inches, metres, source, unity, unreal\""));
    expect(ACME, "PUT", "/v1/matches/with-mine", "{\"ruleset\":\"none\"}", 422);
    ck_assert_ptr_nonnull(
        strstr(answer.body,
               "there are centimetres, godot, inches, metres, mine, source, unity, unreal\""));
    for (int i = 0; i < 12; i++) {
        char path[64], body[64];
        snprintf(path, sizeof path, "/v1/rulesets/another-one-%02d", i);
        snprintf(body, sizeof body, "{\"name\":\"another-one-%02d\"}", i);
        expect(ACME, "PUT", path, body, 201);
    }
    expect(ACME, "PUT", "/v1/matches/with-mine", "{\"ruleset\":\"none\"}", 422);
    ck_assert_msg(strstr(answer.body, "another-one-07 and 12 more\"") != NULL, "%s", answer.body);
    expect(ACME, "PUT", "/v1/matches/with-mine", "{\"ruleset\":\"mine\"}", 201);
    expect(ACME_ADMIN, "DELETE", "/v1/rulesets/mine", NULL, 409);
    expect(ACME, "DELETE", "/v1/matches/with-mine", NULL, 200);
    expect(ACME_ADMIN, "DELETE", "/v1/rulesets/mine", NULL, 204);
    expect(ACME, "GET", "/v1/rulesets/mine", NULL, 403);
}
END_TEST

START_TEST(shared_resources_cannot_be_changed)
{
    static const char *const names[] = {"metres", "centimetres", "inches", "default",
                                        "unreal", "unity",       "godot",  "source"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64], body[64];
        snprintf(path, sizeof path, "/v1/rulesets/%s", names[i]);
        snprintf(body, sizeof body, "{\"name\":\"%s\"}", names[i]);
        expect(ACME, "GET", path, NULL, 200);
        expect(ZETA, "GET", path, NULL, 200);
        expect(ACME_ADMIN, "PUT", path, body, 403);
        expect(ACME_ADMIN, "DELETE", path, NULL, 403);
    }
}
END_TEST

/* ---- maps ---- */

#define WALL "{\"boxes\":[{\"min\":[2,-5,0],\"max\":[3,5,5]}]}"

START_TEST(a_map_belongs_to_its_tenant)
{
    expect(ACME, "PUT", "/v1/maps/dm97", WALL, 201);
    expect(ACME, "GET", "/v1/maps/dm97", NULL, 200);
    char *before = told();
    expect(ZETA, "GET", "/v1/maps/dm97", NULL, 403);
    char *refusal = told();
    expect_same(ZETA, "GET", "/v1/maps/never", NULL, refusal);
    free(refusal);
    expect(ZETA, "DELETE", "/v1/maps/dm97", NULL, 403);
    refusal = told();
    expect_same(ZETA, "DELETE", "/v1/maps/never", NULL, refusal);
    free(refusal);
    expect(ZETA, "PUT", "/v1/maps/dm97", "{\"boxes\":[]}", 403);
    expect(ZETA_ADMIN, "PUT", "/v1/maps/dm97", "not JSON", 403);
    expect_same(ACME, "GET", "/v1/maps/dm97", NULL, before);
    free(before);
    expect(ZETA, "PUT", "/v1/matches/on-dm97", "{\"map\":\"dm97\"}", 422);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"code\":\"unknown_map\""));
    ck_assert_ptr_nonnull(strstr(answer.body, "\"detail\":\"dm97\""));
    expect(ZETA, "PUT", "/v1/matches/on-dm97", "{\"map\":\"none\"}", 422);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"detail\":\"none\""));
    expect(ACME, "PUT", "/v1/matches/on-dm97", "{\"map\":\"dm97\"}", 201);
    expect(ACME, "DELETE", "/v1/maps/dm97", NULL, 204);
    expect(ZETA, "PUT", "/v1/maps/dm97", WALL, 201); /* the name is free */
    expect(ACME, "GET", "/v1/maps/dm97", NULL, 403);
}
END_TEST

/* ---- verdicts ---- */

/* Opens a match as this tenant and posts a claim. The match and the claim are the same each time.
   Stores the id of the verdict. */
static void verdict_id(int who, char id[128])
{
    expect(who, "PUT", "/v1/matches/same", METRES, 201);
    expect(who, "POST", "/v1/matches/same/frames", FRAMES, 200);
    expect(who, "POST", "/v1/matches/same/hits", HITS, 200);
    json_t *body = hs_test_response_json(&answer);
    const json_t *result = json_array_get(json_object_get(body, "results"), 0);
    snprintf(id, 128, "%s", json_string_value(json_object_get(result, "verdict_id")));
    json_decref(body);
    expect(who, "DELETE", "/v1/matches/same", NULL, 200);
}

START_TEST(a_verdict_is_named_by_its_tenant_too)
{
    char first[128], other[128], again[128];
    verdict_id(ACME, first);
    verdict_id(ZETA, other);
    verdict_id(ACME, again);
    ck_assert_str_ne(first, other);
    ck_assert_str_ne(first, again); /* a claim in another opening of the match is another claim */
}
END_TEST

/* A recording with matches of several tenants gives the same answers again, including names. */
START_TEST(recordings_know_the_tenants)
{
    char path[128], command[512], file[128];
    snprintf(path, sizeof path, "%s/tokens.json", directory);
    snprintf(file, sizeof file, "%s/day.stream", directory);
    const char *const arguments[] = {"--token-file", path, "--record", file, NULL};
    struct hs_test_service recorded;
    ck_assert(hs_test_service_start(&recorded, arguments));
    hs_test_http_close(http);
    http = hs_test_http_open(recorded.data_port);
    char id[128];
    verdict_id(ACME, id);
    verdict_id(ZETA, id);
    expect(ACME, "POST", "/v1/matches/same/frames", FRAMES, 200);
    ck_assert(hs_test_service_stop(&recorded));
    snprintf(command, sizeof command, "\"$HS_PROGRAM\" recheck %s >%s/out 2>&1", file, directory);
    int status = system(command);
    snprintf(command, sizeof command, "cat %s/out", directory);
    if (status != 0)
        ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(status, 0);
    snprintf(command, sizeof command, "test $(grep -c '\"tenant\":\"[az]' %s) -eq 3", file);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    char path[128], command[128];
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/tokens.json", directory);
    hs_test_tokens_write(path, tokens, TOKENS);
    const char *const arguments[] = {"--token-file", path, NULL};
    if (!hs_test_service_start(&service, arguments))
        return 1;
    Suite *suite = suite_create("tenancy");
    TCase *tests = tcase_create("two tenants");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, scenario_97_a_match_is_not_touched);
    tcase_add_test(tests, unknown_names_look_like_those_of_others);
    tcase_add_test(tests, lists_show_own_entries_only);
    tcase_add_test(tests, the_admin_listener_checks_owners_too);
    tcase_add_test(tests, refused_before_the_body);
    tcase_add_test(tests, a_ruleset_belongs_to_its_tenant);
    tcase_add_test(tests, shared_resources_cannot_be_changed);
    tcase_add_test(tests, a_map_belongs_to_its_tenant);
    tcase_add_test(tests, a_verdict_is_named_by_its_tenant_too);
    tcase_add_test(tests, recordings_know_the_tenants);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) == 0 && failed == 0 && clean ? 0 : 1;
}
