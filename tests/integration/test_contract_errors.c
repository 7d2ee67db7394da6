/*
 * Every error status that openapi.yaml lists for a route can be provoked, and what then comes back
 * is the problem document it promises. Not provoked: 503 of /livez and /readyz (a stuck or a
 * starting process).
 */
#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/problem.h"
#include "api/scopes.h"
#include "tests/support/contract.h"
#include "tests/support/raw.h"
#include "tests/support/run_suite.h"
#include "tests/support/schema.h"
#include "tests/support/service.h"
#include "tests/support/tokens.h"

/* Small limits, so that each can be reached; nothing opens a match but PUT. */
static const char *const narrow[] = {"--auto-open=false",
                                     "--body-bytes",
                                     "8192",
                                     "--inflight-body-bytes",
                                     "8192",
                                     "--request-seconds",
                                     "1",
                                     "--max-matches",
                                     "3",
                                     NULL};

/* Bytes of a body that is never finished, of one that then is too much, of one that always is. */
enum { UNFINISHED_BODY = 6000, SECOND_BODY = 4096, BEYOND_BODY = 9000 };

static struct hs_test_service service, guarded, limited;
static json_t *document;

static const struct {
    const char *method, *pattern;
    enum hs_listener listeners;
} routes[] = {
#define X(id, method, pattern, listeners) {#method, pattern, HS_LISTENER_##listeners},
    HS_ROUTES(X)
#undef X
};

static unsigned port_at(const struct hs_test_service *of, size_t route)
{
    return routes[route].listeners == HS_LISTENER_ADMIN ? of->admin_port : of->data_port;
}

static unsigned port_of(size_t route)
{
    return port_at(&service, route);
}

/* Between them they lack every scope; where a route takes any, it is the name they lack. */
static struct hs_test_token tokens[] = {
    {.tenant = "acme", .kid = "a", .scopes = "\"ingest\""},
    {.tenant = "acme", .kid = "b", .scopes = "\"rules\""},
};

static char token_file[] = "/tmp/hindsight_tokens_XXXXXX";

/* The path of a route with names in it: the match that is open, unless another is wanted. */
static void fill_path(const char *pattern, const char *name, char path[256])
{
    size_t len = 0;
    for (const char *at = pattern; *at != '\0' && len + 80 < 256;) {
        if (*at != '{') {
            path[len++] = *at++;
            continue;
        }
        len += (size_t)snprintf(path + len, 80, "%s", name);
        at += strcspn(at, "}") + 1;
    }
    path[len] = '\0';
}

static bool takes_body(size_t route)
{
    return strcmp(routes[route].method, "POST") == 0 || strcmp(routes[route].method, "PUT") == 0;
}

/* The smallest body the schema of the route allows; of several the first. */
static void smallest_body(size_t route, char *out, size_t size)
{
    const json_t *operation =
        hs_contract_operation(document, routes[route].method, routes[route].pattern);
    const json_t *schema = hs_contract_request_schema(operation);
    const json_t *branch = json_array_get(hs_schema_get(document, schema, "oneOf"), 0);
    const json_t *required = hs_schema_get(document, branch != NULL ? branch : schema, "required");
    json_t *body = json_object();
    for (size_t i = 0; i < json_array_size(required); i++)
        json_object_set_new(body, json_string_value(json_array_get(required, i)), json_array());
    ck_assert(hs_schema_fits(document, schema, body, NULL));
    char *text = json_dumps(body, JSON_COMPACT);
    snprintf(out, size, "%s", text);
    free(text);
    json_decref(body);
}

/* ---- sending ---- */

/* What goes out. The length is that of the body unless `headers` say it. */
struct message {
    const char *method, *headers, *body;
    char path[256];
    size_t size;   /* of the body */
    bool unsized;  /* no Content-Length */
    bool oversize; /* a Content-Length above every limit, and no body */
};

static int send_message(unsigned port, const struct message *message)
{
    char length[64] = "";
    if (message->oversize)
        snprintf(length, sizeof length, "Content-Length: %d\r\n", BEYOND_BODY);
    else if (!message->unsized && (message->size > 0 || strcmp(message->method, "GET") != 0))
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", message->size);
    char *head = NULL;
    ck_assert_int_gt(asprintf(&head, "%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n", message->method,
                              message->path, message->headers, length),
                     0);
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, head, strlen(head)));
    if (message->size > 0)
        hs_raw_send(fd, message->body, message->size);
    free(head);
    return fd;
}

/* Reads one answer, the only one at a time, and closes the connection. */
static const struct hs_raw_answer *receive(int fd)
{
    static struct hs_raw_answer raw;
    hs_raw_read(fd, false, &raw);
    close(fd);
    return &raw;
}

/* Holds an answer against what the operation documents for that status. */
static void expect(const struct hs_raw_answer *raw, const json_t *operation, int status,
                   const char *what)
{
    char why[1024], value[256], body[sizeof raw->body], headers[sizeof raw->headers];
    ck_assert_msg(raw->status == status, "%s: status %d, not %d: %s", what, raw->status, status,
                  raw->body);
    memcpy(body, raw->body, sizeof body);
    memcpy(headers, raw->headers, sizeof headers);
    struct hs_test_response answer = {
        .status = raw->status, .body = body, .size = raw->size, .headers = headers};
    ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s: %s", what, why);
    json_t *problem = hs_test_response_json(&answer);
    const char *code = json_string_value(json_object_get(problem, "code"));
    const char *id = json_string_value(json_object_get(problem, "instance"));
    ck_assert_msg(code != NULL && id != NULL, "%s: %s", what, raw->body);
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), status);
    ck_assert_str_eq(hs_raw_header(raw, "X-Request-Id", value), id);
    int documented = 0;
    for (int i = 1; i < HS_PROBLEM_COUNT; i++)
        if (strcmp(hs_problem_name((enum hs_problem_code)i), code) == 0)
            documented = hs_problem_status((enum hs_problem_code)i);
    ck_assert_int_eq(documented, status);
    ck_assert_int_eq(hs_raw_header(raw, "Retry-After", value)[0] != '\0',
                     status == 429 || status == 503);
    const char *challenge = hs_raw_header(raw, "WWW-Authenticate", value);
    ck_assert_int_eq(strncmp(challenge, "Bearer realm=", 13) == 0,
                     status == 401 ||
                         (status == 403 && strstr(raw->body, "lacks a scope") != NULL));
    json_decref(problem);
}

/* ---- provoking ---- */

#define JSON_TYPE "Content-Type: application/json\r\n"

static const char *padding(size_t size)
{
    static char text[BEYOND_BODY + 1];
    memset(text, ' ', size);
    memcpy(text, "{}", 2);
    text[size] = '\0';
    return text;
}

static void provoke_bad_request(size_t route, struct message *message)
{
    if (takes_body(route))
        message->body = "{\"nonsense\":";
    else
        fill_path(routes[route].pattern, "not%20a%20name", message->path);
}

/* A token that must not use the route, or the path of what nobody has. */
static void provoke_forbidden(size_t route, struct message *message)
{
    static char headers[512];
    bool allowed = hs_route_allows((enum hs_route)route, HS_SCOPE_INGEST);
    const char *header = tokens[allowed ? 1 : 0].header;
    if (hs_route_allows((enum hs_route)route, HS_SCOPE_INGEST) &&
        hs_route_allows((enum hs_route)route, HS_SCOPE_RULES))
        fill_path(routes[route].pattern, "never-put", message->path);
    snprintf(headers, sizeof headers, "%s%s\r\n", message->headers, header);
    message->headers = headers;
}

/* Makes a message that is answered with this status; false where that takes more than a message. */
static bool provoke(size_t route, int status, struct message *message)
{
    switch (status) {
    case 400:
        provoke_bad_request(route, message);
        return true;
    case 401:
        return true;
    case 403:
        provoke_forbidden(route, message);
        return true;
    case 404:
        fill_path(routes[route].pattern, "never-opened", message->path);
        return strchr(routes[route].pattern, '{') != NULL;
    case 409:
        message->body = "{\"ruleset\":\"inches\"}";
        return true;
    case 411:
        message->unsized = true;
        return true;
    case 413:
        message->oversize = true;
        message->body = "";
        return true;
    case 415:
        message->headers = "Content-Type: text/plain\r\n";
        return true;
    case 422:
        message->body = "{\"ruleset\":\"nosuch\"}";
        return true;
    case 429:
        return true;
    case 503:
        if (takes_body(route))
            message->body = padding(SECOND_BODY);
        else
            message->headers = "X-Deadline-Ms: 0\r\n";
        return strncmp(routes[route].pattern, "/v1/", 4) == 0;
    default:
        return false;
    }
}

/* Sends while so much of another body has arrived that there is no room for this one. */
static const struct hs_raw_answer *send_crowded(unsigned port, const struct message *message)
{
    struct message other = {.method = "PUT",
                            .headers = JSON_TYPE "Content-Length: 8192\r\n",
                            .body = padding(SECOND_BODY),
                            .path = "/v1/matches/crowd",
                            .size = SECOND_BODY,
                            .unsized = true};
    char piece[UNFINISHED_BODY - SECOND_BODY];
    memset(piece, ' ', sizeof piece);
    const struct hs_raw_answer *raw = NULL;
    /* Until the other body has arrived, and the one before it is forgotten, it is not crowded. */
    for (int tries = 0; tries < 50 && (raw == NULL || raw->status != 503); tries++) {
        int crowd = send_message(port, &other);
        ck_assert(hs_raw_send(crowd, piece, sizeof piece));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        raw = receive(send_message(port, message));
        close(crowd);
    }
    return raw;
}

/* A service that lets one request a second in. */
static const struct hs_raw_answer *send_often(unsigned port, const struct message *message)
{
    const struct hs_raw_answer *raw = NULL;
    for (int tries = 0; tries < 50 && (raw == NULL || raw->status != 429); tries++)
        raw = receive(send_message(port, message));
    return raw;
}

static const struct hs_raw_answer *send_for(size_t route, int status, const struct message *message)
{
    if (status == 401 || status == 403)
        return receive(send_message(port_at(&guarded, route), message));
    if (status == 429)
        return send_often(port_at(&limited, route), message);
    if (status == 503 && takes_body(route))
        return send_crowded(port_of(route), message);
    return receive(send_message(port_of(route), message));
}

START_TEST(documented_errors_can_be_provoked)
{
    size_t route = (size_t)_i, provoked = 0, listed = 0;
    const json_t *operation =
        hs_contract_operation(document, routes[route].method, routes[route].pattern);
    const char *key;
    json_t *response;
    json_object_foreach(json_object_get(operation, "responses"), key, response)
    {
        int status = atoi(key);
        char body[256] = "", what[512];
        if (status < 400 || status == 408)
            continue;
        listed++;
        if (takes_body(route))
            smallest_body(route, body, sizeof body);
        struct message message = {.method = routes[route].method, .body = body};
        message.headers = takes_body(route) ? JSON_TYPE : "";
        fill_path(routes[route].pattern, "open", message.path);
        if (!provoke(route, status, &message))
            continue;
        provoked++;
        message.size = message.unsized ? 0 : strlen(message.body);
        snprintf(what, sizeof what, "%s %s", message.method, message.path);
        expect(send_for(route, status, &message), operation, status, what);
    }
    /* the health routes say 404 and 503 of the process, not of a request */
    bool is_health = strcmp(routes[route].pattern, "/livez") == 0 ||
                     strcmp(routes[route].pattern, "/readyz") == 0;
    ck_assert_uint_eq(provoked, is_health ? 0 : listed);
}
END_TEST

/* The `default` answer: another method, and a body or an encoding where none belongs. */
START_TEST(problems_of_any_path_are_documented)
{
    size_t route = (size_t)_i;
    const json_t *operation =
        hs_contract_operation(document, routes[route].method, routes[route].pattern);
    const json_t *path = json_object_get(json_object_get(document, "paths"), routes[route].pattern);
    char allow[300], value[256], wanted[16];
    struct message message = {.method = "PATCH", .headers = JSON_TYPE, .body = "{}", .size = 2};
    fill_path(routes[route].pattern, "open", message.path);
    expect(receive(send_message(port_of(route), &message)), operation, 405, message.path);

    const struct hs_raw_answer *raw = receive(send_message(port_of(route), &message));
    snprintf(allow, sizeof allow, ", %s,", hs_raw_header(raw, "Allow", value));
    const char *method;
    json_t *other;
    size_t methods = 0;
    json_object_foreach((json_t *)(uintptr_t)path, method, other)
    {
        if (strcmp(method, "parameters") == 0)
            continue;
        snprintf(wanted, sizeof wanted, ", %s,", method);
        for (char *c = wanted; *c != '\0'; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        ck_assert_msg(strstr(allow, wanted) != NULL, "%s: Allow is %s", message.path, value);
        methods += strcmp(method, "get") == 0 ? 2 : 1; /* and HEAD */
    }
    for (const char *c = allow; *c != '\0'; c++)
        methods -= *c == ',' && c != allow;
    ck_assert_uint_eq(methods, 0);

    if (takes_body(route))
        return;
    message.method = routes[route].method;
    expect(receive(send_message(port_of(route), &message)), operation, 400,
           "a body where none belongs");
    message =
        (struct message){.method = routes[route].method, .headers = "Content-Encoding: gzip\r\n"};
    fill_path(routes[route].pattern, "open", message.path);
    expect(receive(send_message(port_of(route), &message)), operation, 415, "an encoding");
    message.headers = "Transfer-Encoding: chunked\r\n";
    message.unsized = true;
    expect(receive(send_message(port_of(route), &message)), operation, 411, "chunks");
}
END_TEST

START_TEST(slow_bodies_time_out)
{
    int sockets[HS_ROUTE_COUNT];
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++) {
        struct message message = {.method = routes[i].method,
                                  .headers = JSON_TYPE "Content-Length: 10\r\n",
                                  .body = "{",
                                  .size = 1,
                                  .unsized = true};
        fill_path(routes[i].pattern, "open", message.path);
        sockets[i] = takes_body(i) ? send_message(port_of(i), &message) : -1;
    }
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++)
        if (sockets[i] >= 0)
            expect(receive(sockets[i]),
                   hs_contract_operation(document, routes[i].method, routes[i].pattern), 408,
                   routes[i].pattern);
}
END_TEST

/* Of two lists: every status listed is one of those the suites of this file look at. */
START_TEST(only_known_error_statuses_are_listed)
{
    static const char known[] = " 400 401 403 404 408 409 411 413 415 422 429 503 ";
    const json_t *operation =
        hs_contract_operation(document, routes[_i].method, routes[_i].pattern);
    const char *key;
    json_t *response;
    json_object_foreach(json_object_get(operation, "responses"), key, response)
    {
        char spaced[16];
        snprintf(spaced, sizeof spaced, " %s ", key);
        ck_assert_msg(key[0] == '2' || strcmp(key, "default") == 0 || strstr(known, spaced) != NULL,
                      "%s %s", routes[_i].pattern, key);
    }
    ck_assert_ptr_nonnull(json_object_get(json_object_get(operation, "responses"), "default"));
}
END_TEST

/* ---- limits and the end of the process ---- */

START_TEST(a_full_registry_is_overloaded)
{
    const json_t *operation = hs_contract_operation(document, "PUT", "/v1/matches/{match}");
    for (int i = 0; i < 4; i++) {
        struct message message = {.method = "PUT", .headers = JSON_TYPE, .body = "{}", .size = 2};
        snprintf(message.path, sizeof message.path, "/v1/matches/full-%d", i);
        const struct hs_raw_answer *raw = receive(send_message(service.data_port, &message));
        /* "open" is one of the three */
        if (i >= 2)
            expect(raw, operation, 503, "one match too many");
        else
            ck_assert_int_eq(raw->status, 201);
    }
}
END_TEST

/* Readiness says 404 from SIGTERM on, while everything else is still answered. */
START_TEST(a_draining_service_is_not_ready)
{
    static const char *const slowly[] = {"--drain-wait-seconds", "30", NULL};
    struct hs_test_service leaving;
    struct hs_test_response answer;
    char why[1024];
    ck_assert(hs_test_service_start(&leaving, slowly));
    struct hs_test_http *http = hs_test_http_open(leaving.data_port);
    ck_assert_int_eq(kill(leaving.pid, SIGTERM), 0);
    const json_t *operation = hs_contract_operation(document, "GET", "/readyz");
    for (int tries = 0; tries < 500; tries++) {
        hs_test_http_send(http, "GET", "/readyz", NULL, 0, NULL, &answer);
        if (answer.status != 200)
            break;
        hs_test_response_free(&answer);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    ck_assert_int_eq(answer.status, 404);
    ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s", why);
    const json_t *response = hs_contract_response(document, operation, 404);
    json_t *body = hs_test_response_json(&answer);
    ck_assert(
        json_equal(hs_contract_example(json_object_get(response, "content"), "draining"), body));
    json_decref(body);
    hs_test_response_free(&answer);
    long status;
    json_decref(hs_test_http_json(http, "GET", "/v1/matches", NULL, &status));
    ck_assert_int_eq(status, 200);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&leaving));
}
END_TEST

static bool open_match(void)
{
    long status;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_decref(hs_test_http_json(http, "PUT", "/v1/matches/open",
                                  json_pack("{s:s}", "ruleset", "metres"), &status));
    hs_test_http_close(http);
    return status == 201;
}

static Suite *errors_suite(void)
{
    Suite *suite = suite_create("contract errors");
    TCase *routed = tcase_create("routes");
    tcase_set_timeout(routed, 60);
    tcase_add_loop_test(routed, only_known_error_statuses_are_listed, 0, HS_ROUTE_COUNT);
    tcase_add_loop_test(routed, documented_errors_can_be_provoked, 0, HS_ROUTE_COUNT);
    tcase_add_loop_test(routed, problems_of_any_path_are_documented, 0, HS_ROUTE_COUNT);
    tcase_add_test(routed, slow_bodies_time_out);
    suite_add_tcase(suite, routed);
    TCase *limits = tcase_create("limits");
    tcase_set_timeout(limits, 120);
    tcase_add_test(limits, a_full_registry_is_overloaded);
    tcase_add_test(limits, a_draining_service_is_not_ready);
    suite_add_tcase(suite, limits);
    return suite;
}

int main(void)
{
    static const char *const slow[] = {"--tenant-rate", "1", "--tenant-burst", "1", NULL};
    const char *const guards[] = {"--token-file", token_file, NULL};
    document = hs_contract_load();
    int fd = mkstemp(token_file);
    if (fd < 0)
        return 1;
    close(fd);
    hs_test_tokens_write(token_file, tokens, sizeof tokens / sizeof tokens[0]);
    if (!hs_test_service_start(&service, narrow) || !open_match() ||
        !hs_test_service_start(&guarded, guards) || !hs_test_service_start(&limited, slow))
        return 1;
    int failed = hs_run_suite(errors_suite());
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&guarded) && clean;
    clean = hs_test_service_stop(&limited) && clean;
    unlink(token_file);
    json_decref(document);
    return failed == 0 && clean ? 0 : 1;
}
