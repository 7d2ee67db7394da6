#include "tests/integration/refusals.h"

#include <check.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/http/problem.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"

enum { STATUSES = 600 };

static const struct {
    const char *method, *pattern;
    enum hs_listener listeners;
} routes[] = {
#define X(id, method, pattern, listeners, ...) {#method, pattern, HS_LISTENER_##listeners},
    HS_ROUTES(X)
#undef X
};

/* This memory is shared with the processes that run the tests. */
static atomic_bool (*seen)[STATUSES];

bool hs_refusal_init(void)
{
    void *memory = mmap(NULL, sizeof(atomic_bool[HS_ROUTE_COUNT][STATUSES]), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    seen = memory == MAP_FAILED ? NULL : memory;
    return seen != NULL;
}

bool hs_refusal_was_seen(size_t route, int status)
{
    return status > 0 && status < STATUSES && atomic_load(&seen[route][status]);
}

/* ---- routes ---- */

unsigned hs_refusal_port(const struct hs_test_service *service, size_t route)
{
    return routes[route].listeners == HS_LISTENER_ADMIN ? service->admin_port : service->data_port;
}

const json_t *hs_refusal_operation(const json_t *document, size_t route)
{
    return hs_contract_operation(document, routes[route].method, routes[route].pattern);
}

const char *hs_refusal_method(size_t route)
{
    return routes[route].method;
}

const char *hs_refusal_pattern(size_t route)
{
    return routes[route].pattern;
}

bool hs_refusal_takes_body(size_t route)
{
    return strcmp(routes[route].method, "POST") == 0 || strcmp(routes[route].method, "PUT") == 0;
}

void hs_refusal_path(size_t route, const char *name, char path[256])
{
    size_t len = 0;
    for (const char *at = routes[route].pattern; *at != '\0' && len + 80 < 256;) {
        if (*at != '{') {
            path[len++] = *at++;
            continue;
        }
        len += (size_t)snprintf(path + len, 80, "%s", name);
        at += strcspn(at, "}") + 1;
    }
    path[len] = '\0';
}

/* ---- sending ---- */

void hs_refusal_any(size_t route, const char *name, struct hs_refusal_message *message)
{
    *message = (struct hs_refusal_message){.method = hs_refusal_method(route), .headers = ""};
    hs_refusal_path(route, name, message->path);
    if (hs_refusal_takes_body(route)) {
        message->headers = "Content-Type: application/json\r\n";
        message->body = "no JSON"; /* no nul byte is sent */
        message->size = 7;
    }
}

void hs_refusal_smallest_body(const json_t *document, size_t route, char *out, size_t size)
{
    const json_t *operation = hs_refusal_operation(document, route);
    const json_t *schema = hs_contract_request_schema(operation);
    const json_t *branch = json_array_get(hs_schema_get(document, schema, "oneOf"), 0);
    const json_t *required = hs_schema_get(document, branch != NULL ? branch : schema, "required");
    json_t *body = json_object();
    const json_t *members = hs_schema_get(document, branch != NULL ? branch : schema, "properties");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        const json_t *words = hs_schema_get(document, json_object_get(members, name), "enum");
        json_object_set_new(body, name,
                            words != NULL ? json_copy(json_array_get(words, 0)) : json_array());
    }
    ck_assert(hs_schema_fits(document, schema, body, NULL));
    char *text = json_dumps(body, JSON_COMPACT);
    snprintf(out, size, "%s", text);
    free(text);
    json_decref(body);
}

int hs_refusal_send(unsigned port, const struct hs_refusal_message *message)
{
    char length[64] = "", *head = NULL;
    size_t size = message->claimed_length > 0 ? message->claimed_length : message->size;
    if (!message->unsized && (size > 0 || strcmp(message->method, "GET") != 0))
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    ck_assert_int_gt(asprintf(&head, "%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n", message->method,
                              message->path, message->headers, length),
                     0);
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, head, strlen(head)));
    if (message->size > 0)
        /* sending may fail, because the service may refuse early */
        hs_raw_send(fd, message->body, message->size);
    free(head);
    return fd;
}

const struct hs_raw_answer *hs_refusal_receive(int fd)
{
    static struct hs_raw_answer raw;
    hs_raw_read(fd, false, &raw);
    close(fd);
    return &raw;
}

/* ---- answers ---- */

/* Checks that the answer has each header field that the contract lists for it, with a whole number
   if the contract says so. Allow and WWW-Authenticate are required only for some problems. */
static void expect_headers(const json_t *document, const json_t *response,
                           const struct hs_raw_answer *raw, const char *what)
{
    const char *name;
    json_t *entry;
    json_object_foreach(json_object_get(response, "headers"), name, entry)
    {
        char value[256];
        const char *reference = json_string_value(json_object_get(entry, "$ref"));
        const json_t *header = reference != NULL ? hs_schema_resolve(document, reference) : entry;
        const char *type =
            json_string_value(json_object_get(json_object_get(header, "schema"), "type"));
        bool sometimes = strcmp(name, "Allow") == 0 || strcmp(name, "WWW-Authenticate") == 0;
        hs_raw_header(raw, name, value);
        ck_assert_msg(value[0] != '\0' || sometimes, "%s: no %s", what, name);
        if (type != NULL && strcmp(type, "integer") == 0)
            ck_assert_msg(strspn(value, "0123456789") == strlen(value) && atoi(value) >= 1,
                          "%s: %s is %s", what, name, value);
    }
}

static void expect_problem(const json_t *problem, const struct hs_raw_answer *raw, const char *what)
{
    char value[256], type[128];
    const char *code = json_string_value(json_object_get(problem, "code"));
    const char *id = json_string_value(json_object_get(problem, "instance"));
    const char *said = json_string_value(json_object_get(problem, "type"));
    int documented = 0;
    ck_assert_msg(code != NULL && id != NULL && said != NULL, "%s: %s", what, raw->body);
    ck_assert_str_eq(hs_raw_header(raw, "Content-Type", value), "application/problem+json");
    snprintf(type, sizeof type, "urn:hindsight:problem:%s", code);
    ck_assert_str_eq(said, type);
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), raw->status);
    ck_assert_str_eq(hs_raw_header(raw, "X-Request-Id", value), id);
    for (int i = 1; i < HS_PROBLEM_COUNT; i++)
        if (strcmp(hs_problem_name((enum hs_problem_code)i), code) == 0)
            documented = hs_problem_status((enum hs_problem_code)i);
    ck_assert_int_eq(documented, raw->status);
    /* Retry-After is the wait in the body, in seconds, rounded up. */
    bool waits = raw->status == 429 || raw->status == 503;
    json_int_t wait_ms = json_integer_value(json_object_get(problem, "retry_after_ms"));
    ck_assert_int_eq(hs_raw_header(raw, "Retry-After", value)[0] != '\0', waits);
    ck_assert_msg(!waits || (wait_ms >= 1 && atoi(value) == (wait_ms + 999) / 1000),
                  "%s: Retry-After is %s: %s", what, value, raw->body);
    const char *challenge = hs_raw_header(raw, "WWW-Authenticate", value);
    ck_assert_int_eq(strncmp(challenge, "Bearer realm=", 13) == 0,
                     raw->status == 401 ||
                         (raw->status == 403 && strstr(raw->body, "lacks a scope") != NULL));
}

void hs_refusal_expect(const json_t *document, size_t route, const struct hs_raw_answer *raw,
                       int status, const char *what)
{
    const json_t *operation = hs_refusal_operation(document, route);
    char why[1024], value[256], body[sizeof raw->body], headers[sizeof raw->headers];
    ck_assert_msg(raw->status == status, "%s %s: status %d, not %d: %s", routes[route].method, what,
                  raw->status, status, raw->body);
    memcpy(body, raw->body, sizeof body);
    memcpy(headers, raw->headers, sizeof headers);
    struct hs_test_response answer = {
        .status = raw->status, .body = body, .size = raw->size, .headers = headers};
    ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s: %s", what, why);
    expect_headers(document, hs_contract_response(document, operation, status), raw, what);
    hs_raw_header(raw, "Content-Type", value);
    if (strcmp(value, "application/problem+json") == 0) {
        json_t *problem = hs_test_response_json(&answer);
        expect_problem(problem, raw, what);
        json_decref(problem);
    }
    atomic_store(&seen[route][status], true);
}
