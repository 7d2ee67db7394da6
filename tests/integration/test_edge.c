/* Byte sequences that no correct client sends to the service. Each gets its exact answer. No part
   of a refused request is read as another request, and the service still works afterwards. */
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct hs_test_service service;

#define FRAMES_BODY                                                                                \
    "{\"frames\":[{\"time\":12.5,\"players\":[{\"player\":\"bob\",\"position\":[1,2,3]}]}]}"
#define FRAMES    "POST /v1/matches/edge/frames HTTP/1.1\r\nHost: x\r\n"
#define GET_LIVEZ "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
#define JSON      "Content-Type: application/json\r\n"

/* Makes a request that posts frames, with the correct Content-Length and further header fields. The
   caller frees it. */
static char *frames_request(const char *match, const char *headers, const char *body)
{
    char *text = NULL;
    ck_assert_int_gt(asprintf(&text,
                              "POST /v1/matches/%s/frames HTTP/1.1\r\nHost: x\r\n%s"
                              "Content-Length: %zu\r\n\r\n%s",
                              match, headers, strlen(body), body),
                     0);
    return text;
}

static int open_connection(void)
{
    int fd = hs_raw_connect(service.data_port);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* Runs after every test, and checks that the service still works. */
static void assert_serving(void)
{
    ck_assert_int_eq(hs_raw_status(service.data_port, GET_LIVEZ), 200);
    char *frames = frames_request("edge", JSON, FRAMES_BODY);
    ck_assert_int_eq(hs_raw_status(service.data_port, frames), 200);
    free(frames);
}

/* libmicrohttpd 1.0 refuses many requests that 0.9 passes to the service. Version 1.0 sends its own
   error page or no answer, and closes the connection. */
static bool library_may_refuse(void)
{
    return strncmp(MHD_get_version(), "0.", 2) != 0;
}

static bool is_problem(const struct hs_raw_answer *answer)
{
    char type[256];
    return strcmp(hs_raw_header(answer, "Content-Type", type), "application/problem+json") == 0;
}

struct exchange {
    const char *request;
    int status;
    const char
        *code;   /* member `code` of the problem; NULL: no problem, or an answer of libmicrohttpd */
    bool closes; /* false: the connection serves another request */
};

#define LENGTH_5 "Content-Length: 5\r\n"
#define REFUSED(headers, status, code)                                                             \
    {                                                                                              \
        FRAMES headers "\r\n{}   " GET_LIVEZ, status, code, true                                   \
    }

static const struct exchange exchanges[] = {
    /* ambiguous ends of the body */
    REFUSED(JSON LENGTH_5 LENGTH_5, 400, "bad_header"),
    REFUSED(JSON LENGTH_5 "Content-Length: 3\r\n", 400, "bad_header"),
    REFUSED(JSON LENGTH_5 "content-length: 0\r\n", 400, "bad_header"),
    REFUSED(JSON "Transfer-Encoding: chunked\r\n", 411, "length_required"),
    REFUSED(JSON "Transfer-Encoding: chunked\r\n" LENGTH_5, 411, "length_required"),
    REFUSED(JSON LENGTH_5 "transfer-encoding: CHUNKED\r\n", 411, "length_required"),
    REFUSED(JSON "Transfer-Encoding: identity\r\n" LENGTH_5, 411, "length_required"),
    REFUSED(JSON "Transfer-Encoding: gzip, chunked\r\n", 411, "length_required"),
    REFUSED(JSON "Transfer-Encoding: xchunked\r\n" LENGTH_5, 411, "length_required"),
    REFUSED(JSON "Content-Length : 5\r\n", 400, "bad_header"),
    REFUSED(JSON "Content-Length\t: 5\r\n", 400, "bad_header"),
    REFUSED(JSON "Transfer-Encoding : chunked\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "X Y: 1\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "Transfer-Encoding:\r\n chunked\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "Content-Length:\r\n 5\r\n", 400, "bad_header"),
    REFUSED(JSON "Content-Length: 1\r\n 5\r\n", 400, "bad_header"),
    REFUSED(JSON LENGTH_5 " Transfer-Encoding: chunked\r\n", 400, "bad_header"),
    REFUSED(JSON LENGTH_5 "Transfer-Encoding\t: chunked\r\n", 400, "bad_header"),
    REFUSED(JSON LENGTH_5 "Transfer-Encoding: \x0b"
                          "chunked\r\n",
            400, "bad_header"),
    REFUSED(JSON LENGTH_5 "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 411,
            "length_required"),
    REFUSED(JSON ": 1\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(": 1\r\n" JSON LENGTH_5, 400, "bad_header"),
    REFUSED(JSON LENGTH_5 ": 1\r\n", 400, "bad_header"),
    REFUSED(JSON LENGTH_5 ":\r\n", 400, "bad_header"),
    REFUSED(JSON "X: y\rContent-Length: 96\r\n" LENGTH_5, 400, "bad_header"),
    /* Some parsers accept a bare line feed as the end of a line. */
    REFUSED(JSON "X: y\nTransfer-Encoding: chunked\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "\nGET /livez HTTP/1.1\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "X: y\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "X: a\r\n b\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON, 411, "length_required"),
    REFUSED(JSON "Content-Length: -5\r\n", 400, NULL),
    REFUSED(JSON "Content-Length: +5\r\n", 400, NULL),
    REFUSED(JSON "Content-Length: 5x\r\n", 400, NULL),
    REFUSED(JSON "Content-Length: 0x5\r\n", 400, NULL),
    REFUSED(JSON "Content-Length: 5, 5\r\n", 400, NULL),
    REFUSED(JSON "Content-Length: \r\n", 400, NULL),
    REFUSED(JSON "Content-Length: 99999999999999999999999999\r\n", 413, NULL),
    REFUSED(JSON "Content-Length: 18446744073709551615\r\n", 413, "body_too_large"),
    REFUSED(JSON "Content-Length: 1048577\r\n", 413, "body_too_large"),
    REFUSED(JSON "Content-Length: 1048577\r\nExpect: 100-continue\r\n", 413, "body_too_large"),
    {"PUT /v1/matches/edge HTTP/1.1\r\nHost: x\r\n" JSON "\r\n", 411, "length_required", true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\n" LENGTH_5 "\r\n12345" GET_LIVEZ, 400, "bad_header", true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411,
     "length_required", true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200, NULL, false},
    /* content types and encodings */
    REFUSED(LENGTH_5, 415, "unsupported_media_type"),
    REFUSED("Content-Type: text/plain\r\n" LENGTH_5, 415, "unsupported_media_type"),
    REFUSED("Content-Type: application/jsonx\r\n" LENGTH_5, 415, "unsupported_media_type"),
    REFUSED("Content-Type: application/json; charset=latin1\r\n" LENGTH_5, 415,
            "unsupported_media_type"),
    REFUSED(JSON "Content-Type: text/plain\r\n" LENGTH_5, 400, "bad_header"),
    REFUSED(JSON "Content-Encoding: gzip\r\n" LENGTH_5, 415, "unsupported_media_type"),
    REFUSED(JSON "Content-Encoding: identity, br\r\n" LENGTH_5, 415, "unsupported_media_type"),
    /* paths and methods */
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET /v1/matches/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET /livez/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET //livez HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET http://y/livez HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET /livez#x HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_route", false},
    {"GET /live%7A HTTP/1.1\r\nHost: x\r\n\r\n", 200, NULL, false},
    {"GET /v1/matches/a%2Fb HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/a%00b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/a%20b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/a%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/a% HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request", false},
    {"GET /v1/matches/never-opened HTTP/1.1\r\nHost: x\r\n\r\n", 404, "unknown_match", false},
    {"POST /livez HTTP/1.1\r\nHost: x\r\n" JSON LENGTH_5 "\r\n12345", 405, "method_not_allowed",
     true},
    {"DELETE /livez HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed", false},
    {"get /livez HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed", false},
    {"BREW /v1/matches/edge HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed", false},
    /* versions and required header fields */
    {"GET /livez HTTP/1.1\r\n\r\n", 400, NULL, true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "bad_header", true},
    {"GET /livez HTTP/1.0\r\n\r\n", 200, NULL, true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200, NULL, true},
    {"GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", 505, NULL, true},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, NULL, true},
    {"GET /livez HTTQ/1.1\r\nHost: x\r\n\r\n", 400, NULL, true},
    {"GET /livez\r\n\r\n", 400, NULL, true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400, NULL, true},
};

/* Returns whether the answer may be libmicrohttpd's own, because the header fields about the
   request's end are wrong. */
static bool may_be_by_library(const struct exchange *exchange)
{
    static const char *const codes[] = {"bad_header", "length_required", "body_too_large"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0] && library_may_refuse(); i++)
        if (exchange->code != NULL && exchange->closes && strcmp(exchange->code, codes[i]) == 0)
            return true;
    return false;
}

START_TEST(one_exchange)
{
    const struct exchange *exchange = &exchanges[_i];
    struct hs_raw_answer answer;
    char value[256];
    int fd = open_connection();
    ck_assert(hs_raw_send(fd, exchange->request, strlen(exchange->request)));
    hs_raw_read(fd, false, &answer);
    bool by_library = may_be_by_library(exchange) && !is_problem(&answer);
    ck_assert_msg(answer.status == exchange->status || (by_library && answer.status == 400),
                  "%s answered %d %s", exchange->request, answer.status, answer.body);
    if (exchange->code != NULL && !by_library) {
        ck_assert_str_eq(hs_raw_member(&answer, "code", value), exchange->code);
        ck_assert_str_eq(hs_raw_header(&answer, "Content-Type", value), "application/problem+json");
        char id[256];
        ck_assert_uint_eq(strlen(hs_raw_header(&answer, "X-Request-Id", id)), 32);
        ck_assert_str_eq(hs_raw_member(&answer, "instance", value), id);
    }
    if (exchange->closes) {
        /* The bytes after each request of the table would get an answer if they were read as a
           request. libmicrohttpd writes the head of its own error pages twice. This is harmless
           because it then closes the connection. */
        char rest[4096];
        ck_assert_msg(hs_raw_drain(fd, rest, sizeof rest), "%s left the connection open",
                      exchange->request);
        bool is_library = exchange->code == NULL || by_library;
        ck_assert_msg(rest[0] == '\0' || (is_library && strstr(rest, " 200 ") == NULL),
                      "%s was answered more than once: %s", exchange->request, rest);
        ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    } else {
        ck_assert(hs_raw_send(fd, GET_LIVEZ, strlen(GET_LIVEZ)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    close(fd);
    assert_serving();
}
END_TEST

static const char *const accepted_headers[] = {
    JSON,
    "content-type: Application/JSON\r\n",
    "Content-Type: application/json; charset=utf-8\r\n",
    "Content-Type: application/json ; CHARSET=\"UTF-8\"; x=y\r\n",
    JSON "Content-Encoding: identity\r\n",
    JSON "X-Empty:\r\n",
    JSON "Content-Type-X: text/plain\r\n",
};

/* If a request has Expect but no body, libmicrohttpd must not take bytes of the next request for a
   body. The answer 100 may be missing, because the request has no body. */
START_TEST(expectations_without_a_body)
{
    static const char *const requests[] = {
        "GET /livez HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        "DELETE /v1/matches/never-opened HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        FRAMES JSON "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n",
    };
    static const int statuses[] = {200, 404, 400};
    struct hs_raw_answer answer;
    char text[512];
    int fd = open_connection();
    snprintf(text, sizeof text, "%s" GET_LIVEZ, requests[_i]);
    ck_assert(hs_raw_send(fd, text, strlen(text)));
    hs_raw_read(fd, false, &answer);
    if (!library_may_refuse())
        ck_assert_int_eq(answer.status, 100);
    if (answer.status == 100)
        hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, statuses[_i]);
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    close(fd);
}
END_TEST

START_TEST(acceptable_headers)
{
    char *request = frames_request("edge", accepted_headers[_i], FRAMES_BODY);
    ck_assert_int_eq(hs_raw_status(service.data_port, request), 200);
    free(request);
}
END_TEST

START_TEST(allow_lists_the_methods)
{
    static const struct {
        const char *path, *allow;
    } cases[] = {
        {"/v1/matches/edge", "PUT, GET, HEAD, DELETE"},
        {"/v1/matches/edge/hits", "POST"},
        {"/v1/matches", "GET, HEAD"},
        {"/v1/rulesets/centimetres", "PUT, GET, HEAD, DELETE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_raw_answer answer;
        char request[256], value[256];
        int fd = open_connection();
        snprintf(request, sizeof request, "PATCH %s HTTP/1.1\r\nHost: x\r\n\r\n", cases[i].path);
        ck_assert(hs_raw_send(fd, request, strlen(request)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 405);
        ck_assert_str_eq(hs_raw_header(&answer, "Allow", value), cases[i].allow);
        close(fd);
    }
}
END_TEST

START_TEST(names_at_their_longest)
{
    char name[66];
    memset(name, 'n', 65);
    name[65] = '\0';
    char *request = frames_request(name, JSON, FRAMES_BODY);
    ck_assert_int_eq(hs_raw_status(service.data_port, request), 400);
    free(request);
    name[64] = '\0';
    request = frames_request(name, JSON, FRAMES_BODY);
    ck_assert_int_eq(hs_raw_status(service.data_port, request), 200);
    free(request);
    /* the same match, spelled with %6E instead of "n" */
    char spelled[80];
    snprintf(spelled, sizeof spelled, "%%6E%s", name + 1);
    char get[160];
    snprintf(get, sizeof get, "GET /v1/matches/%s HTTP/1.1\r\nHost: x\r\n\r\n", spelled);
    ck_assert_int_eq(hs_raw_status(service.data_port, get), 200);
}
END_TEST

START_TEST(request_ids_are_echoed)
{
    static const struct {
        size_t length;
        char byte;
        bool kept;
    } cases[] = {{1, 'a', true},    {128, 'Z', true}, {36, '-', true},
                 {129, 'a', false}, {8, '/', false},  {8, '"', false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_raw_answer answer;
        char id[130] = "", request[256], value[256];
        int fd = open_connection();
        memset(id, cases[i].byte, cases[i].length);
        snprintf(request, sizeof request,
                 "GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: %s\r\n\r\n", id);
        ck_assert(hs_raw_send(fd, request, strlen(request)));
        hs_raw_read(fd, false, &answer);
        hs_raw_header(&answer, "X-Request-Id", value);
        ck_assert_int_eq(answer.status, 200);
        ck_assert_int_eq(strcmp(value, id) == 0, cases[i].kept);
        if (!cases[i].kept)
            ck_assert_uint_eq(strspn(value, "0123456789abcdef"), 32);
        close(fd);
    }
}
END_TEST

/* The header is too large, because one field is long or because there are many fields. */
START_TEST(oversized_headers)
{
    static const struct {
        size_t fields, bytes;
        int status;
    } cases[] = {{1, 8000, 200}, {100, 8, 200}, {1, 65536, 431}, {8000, 8, 431}};
    size_t size = 65536 + 8000 * 24 + 256;
    char *request = malloc(size);
    ck_assert_ptr_nonnull(request);
    struct hs_raw_answer answer;
    int fd = open_connection();
    size_t len = (size_t)snprintf(request, size, "GET /livez HTTP/1.1\r\nHost: x\r\n");
    for (size_t i = 0; i < cases[_i].fields; i++)
        len += (size_t)snprintf(request + len, size - len, "X-%zu: %0*d\r\n", i,
                                (int)cases[_i].bytes, 0);
    len += (size_t)snprintf(request + len, size - len, "\r\n");
    hs_raw_send(fd, request, len); /* sending may fail, because the service may refuse early */
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, cases[_i].status);
    ck_assert(cases[_i].status == 200 || hs_raw_is_closed(fd));
    close(fd);
    free(request);
    assert_serving();
}
END_TEST

START_TEST(largest_body)
{
    enum { LIMIT = 1048576 };
    char *body = malloc(LIMIT + 1);
    ck_assert_ptr_nonnull(body);
    memset(body, ' ', LIMIT);
    body[LIMIT] = '\0';
    memcpy(body, FRAMES_BODY, strlen(FRAMES_BODY));
    char *request = frames_request("edge", JSON, body);
    ck_assert_int_eq(hs_raw_status(service.data_port, request), 200);
    free(request);
    free(body);
}
END_TEST

START_TEST(head_is_get_without_a_body)
{
    struct hs_raw_answer get, head;
    char get_length[256], head_length[256];
    const char *request = "HEAD /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n";
    int fd = open_connection();
    ck_assert(hs_raw_send(fd, request, strlen(request)));
    hs_raw_read(fd, true, &head);
    request = "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n";
    ck_assert(hs_raw_send(fd, request, strlen(request)));
    hs_raw_read(fd, false, &get);
    ck_assert_int_eq(head.status, 200);
    ck_assert_int_eq(get.status, 200);
    ck_assert_uint_gt(get.size, 1000);
    ck_assert_str_eq(hs_raw_header(&get, "Content-Type", get_length), "application/yaml");
    ck_assert_str_eq(hs_raw_header(&head, "Content-Length", head_length),
                     hs_raw_header(&get, "Content-Length", get_length));
    close(fd);
}
END_TEST

START_TEST(pipelined_requests)
{
    struct hs_raw_answer answer;
    char all[2048] = "", value[256];
    for (int i = 0; i < 8; i++) {
        size_t len = strlen(all);
        if (i % 2 == 0)
            snprintf(all + len, sizeof all - len,
                     "GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: r%d\r\n\r\n", i);
        else
            snprintf(all + len, sizeof all - len,
                     FRAMES JSON "X-Request-Id: r%d\r\nContent-Length: %zu\r\n\r\n%s", i,
                     strlen(FRAMES_BODY), FRAMES_BODY);
    }
    int fd = open_connection();
    ck_assert(hs_raw_send(fd, all, strlen(all)));
    for (int i = 0; i < 8; i++) {
        char id[8];
        snprintf(id, sizeof id, "r%d", i);
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
        ck_assert_str_eq(hs_raw_header(&answer, "X-Request-Id", value), id);
    }
    close(fd);
}
END_TEST

START_TEST(connection_is_reused)
{
    struct hs_raw_answer answer;
    char *request = frames_request("edge", JSON, FRAMES_BODY);
    int fd = open_connection();
    for (int i = 0; i < 200; i++) {
        ck_assert(hs_raw_send(fd, request, strlen(request)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    close(fd);
    free(request);
}
END_TEST

/* Some parsers accept a bare line feed as the end of a line. */
START_TEST(bare_line_feeds)
{
    static const struct {
        const char *request;
        int status, newer; /* status with libmicrohttpd 0.9, and with 1.0 */
    } cases[] = {
        {"GET /livez HTTP/1.1\nHost: x\n\n", 400, 400},
        {"GET /livez HTTP/1.1\r\nHost: x\n\r\n", 400, 400},
        {"GET /livez HTTP/1.1\r\nHost: x\r\n\n", 400, 400},
        {"GET /livez HTTP/1.1\nHost: x\r\n\r\n", 400, 400},
        {"\n\n\n\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n", 200, 0},
        {"GET /livez HTTP/1.1\rHost: x\r\r", 0, 400},
    };
    struct hs_raw_answer answer;
    int fd = open_connection();
    hs_raw_send(fd, cases[_i].request, strlen(cases[_i].request));
    shutdown(fd, SHUT_WR);
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, library_may_refuse() ? cases[_i].newer : cases[_i].status);
    close(fd);
    assert_serving();
}
END_TEST

/* libmicrohttpd 0.9 wrongly takes these bytes for the end of a value or of the header. The bytes
   after them must not be read as a request. */
START_TEST(bytes_that_cut_the_header)
{
#define LIVEZ "GET /livez HTTP/1.1\r\nHost: x\r\n"
#define CUT(text)                                                                                  \
    {                                                                                              \
        text "\r\n" GET_LIVEZ, sizeof text - 1 + 2 + sizeof GET_LIVEZ - 1                          \
    }
    static const struct {
        const char *request;
        size_t size;
    } cases[] = {
        CUT(LIVEZ ": 1\r\n" GET_LIVEZ),
        CUT(LIVEZ "A: b\r\n:\r\n" GET_LIVEZ),
        CUT(LIVEZ "\0\r\n" GET_LIVEZ),
        CUT(LIVEZ "\0: a\r\n" GET_LIVEZ),
        CUT(LIVEZ "A: b\0c\r\n"),
        CUT(LIVEZ "A: b\0\r\n"),
        CUT(LIVEZ "A: \0b\r\nC: d\r\n"),
        CUT("GET /livez\0/nothing HTTP/1.1\r\nHost: x\r\n"),
        CUT("GET\0 /livez HTTP/1.1\r\nHost: x\r\n"),
    };
    struct hs_raw_answer answer;
    char rest[4096], value[256];
    int fd = open_connection();
    /* first a good request on the connection, so that its buffer is not empty */
    ck_assert(hs_raw_send(fd, GET_LIVEZ, strlen(GET_LIVEZ)));
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert(hs_raw_send(fd, cases[_i].request, cases[_i].size));
    hs_raw_read(fd, false, &answer);
    if (!library_may_refuse() || answer.status != 0)
        ck_assert_int_eq(answer.status, 400);
    if (!library_may_refuse() || is_problem(&answer))
        ck_assert_str_eq(hs_raw_member(&answer, "code", value), "bad_header");
    if (answer.status != 0)
        ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    ck_assert(hs_raw_drain(fd, rest, sizeof rest));
    ck_assert_str_eq(rest, "");
    close(fd);
    assert_serving();
}
END_TEST

/* Queries of any size get an answer at once. */
START_TEST(long_queries)
{
    static const struct {
        int arguments, bytes, status;
    } cases[] = {{1, 8000, 200}, {32, 4, 200},   {33, 4, 400},   {500, 4, 400},   {500, 1, 400},
                 {8000, 1, 400}, {1, 8192, 200}, {1, 8193, 400}, {1, 32700, 431}, {9000, 3, 414}};
    struct hs_raw_answer answer;
    char *request = malloc(65536), value[256];
    ck_assert_ptr_nonnull(request);
    size_t len = (size_t)sprintf(request, "GET /livez?");
    for (int i = 0; i < cases[_i].arguments; i++) {
        request[len] = '&';
        len += i > 0 ? 1 : 0;
        memset(request + len, 'a', (size_t)cases[_i].bytes);
        len += (size_t)cases[_i].bytes;
    }
    sprintf(request + len, " HTTP/1.1\r\nHost: x\r\n\r\n");
    int status = hs_raw_ask(service.data_port, request, &answer);
    /* If the address leaves no memory for the header, libmicrohttpd 1.0 refuses the request because
       of the address. */
    bool blames_address = library_may_refuse() && cases[_i].status == 431 && status == 414;
    ck_assert(status == cases[_i].status || blames_address);
    if (cases[_i].status == 400)
        ck_assert_str_eq(hs_raw_member(&answer, "code", value), "invalid_request");
    free(request);
    assert_serving();
}
END_TEST

int main(void)
{
    static const char *const arguments[] = {"--idle-seconds", "5", NULL};
    if (!hs_test_service_start(&service, arguments))
        return 1;
    Suite *suite = suite_create("edge");
    TCase *tests = tcase_create("requests");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, one_exchange, 0, (int)(sizeof exchanges / sizeof exchanges[0]));
    tcase_add_loop_test(tests, expectations_without_a_body, 0, 3);
    tcase_add_loop_test(tests, acceptable_headers, 0,
                        (int)(sizeof accepted_headers / sizeof accepted_headers[0]));
    tcase_add_test(tests, allow_lists_the_methods);
    tcase_add_test(tests, names_at_their_longest);
    tcase_add_test(tests, request_ids_are_echoed);
    tcase_add_loop_test(tests, oversized_headers, 0, 4);
    tcase_add_test(tests, largest_body);
    tcase_add_test(tests, head_is_get_without_a_body);
    tcase_add_test(tests, pipelined_requests);
    tcase_add_test(tests, connection_is_reused);
    tcase_add_loop_test(tests, bare_line_feeds, 0, 6);
    tcase_add_loop_test(tests, bytes_that_cut_the_header, 0, 9);
    tcase_add_loop_test(tests, long_queries, 0, 10);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
