/*
 * openapi.yaml and the running service agree. The service answers the documented example requests
 * as documented, and serves the document unchanged. test_contract_errors.c causes the documented
 * errors. test_contract_generated.c sends what the schemas allow and forbid.
 * tests/unit/api/test_contract_texts.c compares the document with the sources.
 */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract/document.h"
#include "tests/support/files.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;
static json_t *document;

/* ---- the documented example requests ---- */

/* Returns whether a member depends on the time or on the version of the service. */
static bool is_volatile(const char *key)
{
    static const char *const keys[] = {"revision", "verdict_id", "instance", "history_bytes",
                                       "replica"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool is_same(const json_t *documented, const json_t *actual)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_number(documented) && json_is_number(actual))
        return json_number_value(documented) == json_number_value(actual);
    if (json_typeof(documented) != json_typeof(actual) ||
        json_object_size(documented) != json_object_size(actual) ||
        json_array_size(documented) != json_array_size(actual))
        return false;
    json_object_foreach((json_t *)(uintptr_t)documented, key, member)
    {
        const json_t *other = json_object_get(actual, key);
        if (other == NULL || (!is_volatile(key) && !is_same(member, other)))
            return false;
    }
    json_array_foreach(documented, i,
                       member) if (!is_same(member, json_array_get(actual, i))) return false;
    return json_is_object(documented) || json_is_array(documented) ||
           json_equal(documented, actual);
}

/* Returns the operation that a step belongs to, or NULL. If a step has no operation, it may get the
   answers that are documented for any path. */
static const json_t *operation_of(const char *method, const char *path)
{
    enum hs_route route;
    struct hs_route_params params;
    char plain[512];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(path, "?"), path);
    enum hs_route_match match = hs_route_find(HS_LISTENER_DATA, method, plain, &route, &params);
    if (match == HS_ROUTE_UNKNOWN || match == HS_ROUTE_BAD_METHOD)
        return hs_contract_operation(document, "GET", "/v1/matches");
    return hs_contract_operation(document, hs_method_name(hs_route_method(route)),
                                 hs_route_pattern(route));
}

static void note_used(json_t *used, const char *kind, const char *name)
{
    char key[256];
    snprintf(key, sizeof key, "%s %s", kind, name);
    json_object_set_new(used, key, json_true());
}

static void play_step(struct hs_test_http *http, const json_t *step, json_t *used)
{
    const char *method = json_string_value(json_object_get(step, "method"));
    const char *path = json_string_value(json_object_get(step, "path"));
    const char *request = json_string_value(json_object_get(step, "request"));
    const char *name = json_string_value(json_object_get(step, "response"));
    json_int_t status = json_integer_value(json_object_get(step, "status"));
    const json_t *operation = operation_of(method, path);
    const json_t *content = json_object_get(json_object_get(operation, "requestBody"), "content");
    const json_t *body = request != NULL ? hs_contract_example(content, request) : NULL;
    ck_assert_msg(request == NULL || body != NULL, "%s %s: no request example %s", method, path,
                  request);
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL, why[1024];
    struct hs_test_response answer;
    hs_test_http_send(http, method, path, text, text != NULL ? strlen(text) : 0, NULL, &answer);
    ck_assert_msg(answer.status == (long)status, "%s %s with %s: status %ld, not %d: %s", method,
                  path, request != NULL ? request : "nothing", answer.status, (int)status,
                  answer.body);
    ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s %s: %s", method, path,
                  why);
    const json_t *response = hs_contract_response(document, operation, (long)status);
    const json_t *documented =
        name != NULL ? hs_contract_example(json_object_get(response, "content"), name) : NULL;
    json_t *actual = hs_test_response_json(&answer);
    ck_assert_msg(name != NULL || answer.size == 0, "%s %s: an answer came", method, path);
    ck_assert_msg(name == NULL || documented != NULL, "%s %s: no answer example %s", method, path,
                  name);
    ck_assert_msg(name == NULL || is_same(documented, actual), "%s %s: example %s should be\n%s",
                  method, path, name, answer.body);
    if (request != NULL)
        note_used(used, "request", request);
    if (name != NULL)
        note_used(used, "answer", name);
    json_decref(actual);
    hs_test_response_free(&answer);
    free(text);
}

static const struct {
    const char *method, *pattern;
} routes[] = {
#define X(id, method, pattern, ...) {#method, pattern},
    HS_ROUTES(X)
#undef X
};

/* Every example of a request, and of a JSON answer without an error, must occur in a step. */
static void assert_all_used(const json_t *content, const char *kind, const json_t *used)
{
    static const char *const lists[] = {"examples", "x-bad-examples"};
    const char *name;
    json_t *example;
    const json_t *json = json_object_get(content, "application/json");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_object_foreach(json_object_get(json, lists[i]), name, example)
        {
            char key[256];
            snprintf(key, sizeof key, "%s %s", kind, name);
            ck_assert_msg(json_object_get(used, key) != NULL, "no step of the flow has the %s",
                          key);
        }
}

START_TEST(the_worked_flow_goes_as_documented)
{
    size_t i;
    json_t *step, *used = json_object();
    const json_t *flow = json_object_get(document, "x-worked-flow");
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    ck_assert_uint_gt(json_array_size(flow), 20);
    json_array_foreach(flow, i, step) play_step(http, step, used);
    for (i = 0; i < HS_ROUTE_COUNT; i++) {
        const json_t *operation =
            hs_contract_operation(document, routes[i].method, routes[i].pattern);
        assert_all_used(json_object_get(json_object_get(operation, "requestBody"), "content"),
                        "request", used);
        for (int status = 200; status <= 201; status++) {
            const json_t *response = hs_contract_response(document, operation, status);
            assert_all_used(json_object_get(response, "content"), "answer", used);
        }
    }
    hs_test_http_close(http);
    json_decref(used);
}
END_TEST

/* ---- explain ---- */

/* `?explain` is a boolean: unless it is off, an accepted claim lists its checks. */
START_TEST(explain_is_a_boolean)
{
    static const struct {
        const char *query;
        bool on;
    } cases[] = {{"", false},          {"?explain=false", false}, {"?explain=0", false},
                 {"?explain=1", true}, {"?explain=true", true},   {"?explain", true}};
    static const char tick[] =
        "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"S\",\"position\":[0,0,0],"
        "\"weapon\":\"rifle\"},{\"player\":\"T\",\"position\":[20,0,0]}]}],\"hits\":[{"
        "\"shot\":1,\"shooter\":\"S\",\"target\":\"T\",\"hit_time\":1,\"fire_time\":1,"
        "\"start\":[0,0,1.6],\"end\":[20,0,1.6]}]}";
    char path[128];
    snprintf(path, sizeof path, "/v1/matches/explain-%d", _i);
    ck_assert_int_eq(
        hs_test_http_status(service.data_port, "PUT", path, "{\"ruleset\":\"metres\"}"), 201);
    snprintf(path, sizeof path, "/v1/matches/explain-%d/ticks%s", _i, cases[_i].query);
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    struct hs_test_response answer;
    hs_test_http_send(http, "POST", path, tick, strlen(tick), NULL, &answer);
    ck_assert_msg(strstr(answer.body, "\"accepted\"") != NULL, "%s", answer.body);
    ck_assert_msg((strstr(answer.body, "\"checks\"") != NULL) == cases[_i].on, "%s: %s", path,
                  answer.body);
    hs_test_response_free(&answer);
    hs_test_http_close(http);
    snprintf(path, sizeof path, "/v1/matches/explain-%d", _i);
    ck_assert_int_eq(hs_test_http_status(service.data_port, "DELETE", path, NULL), 200);
}
END_TEST

/* ---- answers that are not JSON ---- */

START_TEST(the_contract_is_served_byte_for_byte)
{
    const unsigned ports[] = {service.data_port, service.admin_port};
    struct hs_test_http *http = hs_test_http_open(ports[_i]);
    char *file = hs_test_read_file("openapi.yaml", NULL);
    char why[1024];
    struct hs_test_response answer;
    hs_test_http_send(http, "GET", "/openapi.yaml", NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_msg(hs_contract_allows(document,
                                     hs_contract_operation(document, "GET", "/openapi.yaml"),
                                     &answer, why),
                  "%s", why);
    ck_assert_uint_eq(answer.size, strlen(file));
    ck_assert(memcmp(answer.body, file, answer.size) == 0);
    free(file);
    hs_test_response_free(&answer);
    hs_test_http_close(http);
}
END_TEST

START_TEST(metrics_are_on_the_admin_listener_only)
{
    const json_t *operation = hs_contract_operation(document, "GET", "/metrics");
    const json_t *response = hs_contract_response(document, operation, 200);
    const char *lines = json_string_value(
        hs_contract_example(json_object_get(response, "content"), "head_of_some"));
    struct hs_test_http *data = hs_test_http_open(service.data_port);
    struct hs_test_http *admin = hs_test_http_open(service.admin_port);
    struct hs_test_response answer;
    char why[1024];
    hs_test_http_send(data, "GET", "/metrics", NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 404);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"code\":\"unknown_route\""));
    hs_test_response_free(&answer);
    hs_test_http_send(admin, "GET", "/metrics", NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s", why);
    for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1) {
        char wanted[256];
        snprintf(wanted, sizeof wanted, "%.*s\n", (int)strcspn(line, "\n"), line);
        ck_assert_msg(strstr(answer.body, wanted) != NULL, "no line %s", wanted);
    }
    hs_test_response_free(&answer);
    hs_test_http_close(data);
    hs_test_http_close(admin);
}
END_TEST

static Suite *contract_suite(void)
{
    Suite *suite = suite_create("contract");
    TCase *running = tcase_create("running");
    tcase_set_timeout(running, 60);
    tcase_add_test(running, the_worked_flow_goes_as_documented);
    tcase_add_loop_test(running, explain_is_a_boolean, 0, 6);
    tcase_add_loop_test(running, the_contract_is_served_byte_for_byte, 0, 2);
    tcase_add_test(running, metrics_are_on_the_admin_listener_only);
    suite_add_tcase(suite, running);
    return suite;
}

int main(void)
{
    document = hs_contract_load();
    /* The steps list all rulesets and matches, so they need a service without any others. */
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = hs_run_suite(contract_suite());
    bool clean = hs_test_service_stop(&service);
    json_decref(document);
    return failed == 0 && clean ? 0 : 1;
}
