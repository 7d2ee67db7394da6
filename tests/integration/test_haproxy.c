/* The shipped configurations of HAProxy and nginx in front of a real service. A request that two
   parsers could read differently is refused, or arrives as one request. */
#include "tests/support/contract/document.h"
#include "tests/support/files.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/client.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(shipped_file_is_valid)
{
    int code;
    const char *output = hs_test_shell(&code, "%s -c -V -f %s 2>&1", hs_balancer_program(),
                                       HS_BALANCER_CONFIGURATION);
    ck_assert_msg(code == 0, "%s", output);
    ck_assert_msg(strstr(output, "WARNING") == NULL && strstr(output, "ALERT") == NULL, "%s",
                  output);
}
END_TEST

/* In the shipped file the line for HTTPS is commented out. It must be valid, too. */
START_TEST(shipped_https_line_is_valid)
{
    char directory[] = "/tmp/hindsight_haproxy_XXXXXX", command[1024], output[4096];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(
        command, sizeof command,
        "cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=x "
        "2>/dev/null && cat cert key >both && cd - >/dev/null && sed 's|# bind \\(.* ssl crt\\) "
        "[^ ]*|bind \\1 %s/both|' %s >'%s/cfg' && grep -c '^    bind .* ssl crt' '%s/cfg' && "
        "%s -c -f '%s/cfg' 2>&1; result=$?; rm -r '%s'; exit $result",
        directory, directory, HS_BALANCER_CONFIGURATION, directory, directory,
        hs_balancer_program(), directory, directory);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    ck_assert_msg(pclose(pipe) == 0, "%s", output);
    ck_assert_msg(strncmp(output, "1\n", 2) == 0 && strstr(output, "WARNING") == NULL, "%s",
                  output);
}
END_TEST

START_TEST(shipped_nginx_file_is_valid)
{
    int code;
    const char *output =
        hs_test_shell(&code,
                      "d=$(mktemp -d) && %s -t -c \"$PWD/%s\" -e stderr -g \"pid $d/pid;\" 2>&1; "
                      "code=$?; rm -r \"$d\"; exit $code",
                      hs_nginx_program(), HS_NGINX_CONFIGURATION);
    ck_assert_msg(code == 0 && strstr(output, "[warn]") == NULL, "%s", output);
}
END_TEST

/* ---- the balancers' own answers ---- */

/* Checks every error document in the shipped file, also the rare ones. A text replaces each
   variable. */
START_TEST(shipped_answers_are_problems)
{
    char *file = hs_test_read_file(HS_BALANCER_CONFIGURATION, NULL), *rule = file;
    int count = 0, status;
    for (; (rule = strstr(rule, " status ")) != NULL; rule++) {
        char *text = strchr(rule, '\'');
        if (sscanf(rule, " status %d", &status) != 1 ||
            strncmp(rule + strlen(" status 400"), " content-type", 13) != 0)
            continue;
        ck_assert_ptr_nonnull(text);
        text[1 + strcspn(text + 1, "'")] = '\0';
        hs_contract_expect_problem(text + 1, status, NULL);
        rule = text + strlen(text);
        count++;
    }
    ck_assert_int_eq(count, 10);
    free(file);
}
END_TEST

START_TEST(shipped_nginx_answers_are_problems)
{
    char *file = hs_test_read_file(HS_NGINX_CONFIGURATION, NULL);
    char *rule = strstr(file, "map $status $problem {"), document[1024];
    ck_assert_ptr_nonnull(rule);
    int count = 0, status = 500; /* of the first row, `default` */
    for (; (rule = strstr(rule, " '\"type\"")) != NULL; rule++) {
        if (count > 0)
            ck_assert_int_eq(sscanf(rule - 3, "%d", &status), 1);
        snprintf(document, sizeof document, "{%.*s,\"instance\":\"x\"}",
                 (int)strcspn(rule + 2, "'"), rule + 2);
        hs_contract_expect_problem(document, status, NULL);
        count++;
    }
    ck_assert_int_eq(count, 10);
    free(file);
}
END_TEST

/* ---- two parsers ---- */

#define POST   "POST /v1/matches/edge/frames HTTP/1.1\r\nHost: x\r\n"
#define JSON   "Content-Type: application/json\r\n"
#define LENGTH "Content-Length: 5\r\n"
/* A second request in a place where the body ends for one parser but not for another. */
#define SMUGGLED                                                                                   \
    "PUT /v1/matches/smuggled HTTP/1.1\r\nHost: x\r\n" JSON "Content-Length: 2\r\n\r\n{}"

struct exchange {
    const char *request;
    int status;
    /* The connection closes after the answer, so the bytes after the request are not read as
       another request. */
    bool ends;
    int nginx;      /* 0: nginx answers with `status`, too */
    int nginx_next; /* 0: as `ends` says; else nginx reads a second request, and this is its answer
                     */
};

static const struct exchange exchanges[] = {
    /* Content-Length and Transfer-Encoding */
    {POST JSON LENGTH "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 411, true, 400, 0},
    {POST JSON "Transfer-Encoding: chunked\r\n" LENGTH "\r\n0\r\n\r\n" SMUGGLED, 411, true, 400, 0},
    {POST JSON "Transfer-Encoding: chunked\r\n\r\n5\r\n{}   \r\n0\r\n\r\n" SMUGGLED, 411, true, 411,
     201},
    {POST JSON LENGTH "Transfer-Encoding: identity\r\n\r\n{}   " SMUGGLED, 400, true, 411, 0},
    {POST JSON LENGTH "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true, 411, 0},
    {POST JSON LENGTH "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 422, true, 411,
     0},
    {POST JSON LENGTH "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true, 0, 0},
    {POST JSON LENGTH "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true, 0, 0},
    {POST JSON LENGTH " Transfer-Encoding: chunked\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON LENGTH "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 411, true, 400,
     0},
    {POST JSON LENGTH "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
                      "0\r\n\r\n" SMUGGLED,
     400, true, 0, 0},
    {POST JSON LENGTH "Transfer-Encoding: \x0b"
                      "chunked\r\n\r\n0\r\n\r\n" SMUGGLED,
     400, true, 411, 0},
    /* two lengths */
    {POST JSON LENGTH "Content-Length: 96\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: 0\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: 5, 96\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length : 5\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: +5\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: -5\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: 0x5\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: \r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Content-Length: 18446744073709551621\r\n\r\n{}   " SMUGGLED, 400, true, 0, 0},
    /* without a length, too long, not JSON, or encoded: the service refuses these after it read the
       header */
    {POST JSON "\r\n" SMUGGLED, 411, false, 0, 0},
    {"PUT /v1/matches/edge HTTP/1.1\r\nHost: x\r\n" JSON "\r\n" SMUGGLED, 411, false, 0, 0},
    {POST JSON "Content-Length: 1048577\r\n\r\n" SMUGGLED, 413, false, 0, 0},
    {POST LENGTH "\r\n{}   " SMUGGLED, 415, false, 0, 0},
    {POST "Content-Type: text/plain\r\n" LENGTH "\r\n{}   " SMUGGLED, 415, false, 0, 0},
    {POST JSON "Content-Encoding: gzip\r\n" LENGTH "\r\n{}   " SMUGGLED, 415, false, 0, 0},
    /* names of header fields */
    {POST JSON "X Y: 1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON ": 1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "Host: y\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 0, 0},
    /* ends of lines */
    {"GET /livez HTTP/1.1\nHost: x\n\n" SMUGGLED, 400, true, 200, 201},
    {"GET /livez HTTP/1.1\nHost: x\r\n\r\n" SMUGGLED, 400, true, 200, 201},
    {"GET /livez HTTP/1.1\r\nHost: x\n\r\n" SMUGGLED, 400, true, 200, 201},
    {"GET /livez HTTP/1.1\r\nHost: x\r\n\n" SMUGGLED, 400, true, 200, 201},
    {POST JSON "X: y\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 400, 201},
    {POST JSON "X: y\rContent-Length: 96\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 0, 0},
    {POST JSON "X: y\nTransfer-Encoding: chunked\n" LENGTH "\r\n0\r\n\r\n" SMUGGLED, 400, true, 0,
     0},
    {POST JSON "\nGET /livez HTTP/1.1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true, 411, 400},
    /* versions, methods and addresses */
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, true, 0, 0},
    {"GET http://y/livez HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED, 400, true, 200, 201},
    {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403, false, 400, 0},
    {"GET /livez#x HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED, 400, true, 404, 201},
    {"GET /livez HTTP/1.1\r\nHost: x\r\n" LENGTH "\r\n12345", 400, false, 0, 0},
};

enum { EXCHANGES = sizeof exchanges / sizeof exchanges[0] };

/* One service behind HAProxy and behind nginx, for all tests of requests. */
static struct hs_test_service edge_service;
static struct hs_balancer edge, nginx;

static bool start_edges(void)
{
    if (!hs_test_service_start(&edge_service, NULL))
        return false;
    struct hs_balancer_server server = {1, edge_service.data_port};
    return (hs_balancer_program() == NULL || hs_balancer_start(&edge, &server, 1)) &&
           (hs_nginx_program() == NULL || hs_nginx_start(&nginx, &server, 1));
}

static bool stop_edges(void)
{
    hs_balancer_stop(&edge);
    hs_balancer_stop(&nginx);
    return hs_test_service_stop(&edge_service);
}

/* Checks that answers still belong to their requests: each answer has the id of its request.
   HAProxy uses its connections to the service for new and for earlier requests. */
static void assert_in_step(unsigned port)
{
    for (int i = 0; i < 4; i++) {
        struct hs_raw_answer answer;
        char request[256], id[32], value[256];
        snprintf(id, sizeof id, "in-step-%d", i);
        snprintf(request, sizeof request,
                 "GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: %s\r\n\r\n", id);
        int fd = hs_raw_connect(port);
        ck_assert_int_ge(fd, 0);
        ck_assert(hs_raw_send(fd, request, strlen(request)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
        ck_assert_str_eq(hs_raw_header(&answer, "X-Request-Id", value), id);
        close(fd);
    }
}

/* The loop tests below run once for each of these. */
static struct hs_balancer *const edges[] = {&edge, &nginx};

/* Ends the match, so that the next case does not find the log lines of this one. */
static void forget_smuggled(void)
{
    hs_test_http_status(edge_service.data_port, "DELETE", "/v1/matches/smuggled", NULL);
}

START_TEST(one_exchange)
{
    const struct exchange *exchange = &exchanges[_i % EXCHANGES];
    bool by_nginx = _i >= EXCHANGES;
    unsigned port = edges[by_nginx]->port;
    int status = by_nginx && exchange->nginx != 0 ? exchange->nginx : exchange->status;
    bool ends = exchange->ends && !(by_nginx && exchange->nginx_next != 0);
    struct hs_raw_answer answer;
    char rest[4096];
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    hs_raw_send(fd, exchange->request, strlen(exchange->request));
    hs_raw_read(fd, false, &answer);
    ck_assert_msg(answer.status == status, "%s\nanswered %d %s", exchange->request, answer.status,
                  answer.body);
    if (ends)
        ck_assert_msg(hs_raw_drain(fd, rest, sizeof rest) && strstr(rest, "HTTP/1.1") == NULL,
                      "%s\nwas read on: %s", exchange->request, rest);
    /*
     * If the connection stays open, the bytes after the body are the next request and get an
     * answer. If the body is too long for the service, the bytes after the header belong to that
     * body.
     */
    bool read_on = !ends && status != 413 && strstr(exchange->request, "smuggled") != NULL;
    int next = exchange->nginx_next != 0 ? exchange->nginx_next : 201;
    if (read_on) {
        hs_raw_read(fd, false, &answer);
        ck_assert_msg(answer.status == next, "%s\nwas followed by %d", exchange->request,
                      answer.status);
    }
    close(fd);
    assert_in_step(port);
    long smuggled = hs_test_http_status(port, "GET", "/v1/matches/smuggled", NULL);
    ck_assert_msg(smuggled == (read_on && next == 201 ? 200 : 404), "%s\nleft %ld",
                  exchange->request, smuggled);
}
END_TEST

/* Requests that HAProxy repairs arrive at the service as one request, with the meaning that they
   had for HAProxy. */
START_TEST(mended_requests)
{
    enum { LATER = 4 };
    static const char *const requests[] = {
        POST JSON LENGTH LENGTH "\r\n{}   ",
        POST JSON "Content-Length: 5, 5\r\n\r\n{}   ",
        POST JSON "X: a\r\n b\r\n" LENGTH "\r\n{}   ",
        "\r\n" POST JSON LENGTH "\r\n{}   ",
        /* a bare LF in a request that is not the first of its connection */
        [LATER] = POST JSON "X: y\n" LENGTH "\n{}   ",
    };
    struct hs_raw_answer answer;
    int fd = hs_raw_connect(edge.port);
    ck_assert_int_ge(fd, 0);
    if (_i == LATER) {
        static const char first[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
        ck_assert(hs_raw_send(fd, first, strlen(first)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    ck_assert(hs_raw_send(fd, requests[_i], strlen(requests[_i])));
    hs_raw_read(fd, false, &answer);
    ck_assert_msg(answer.status == 400 && strstr(answer.body, "\"/frames\"") != NULL,
                  "%s\nanswered %d %s", requests[_i], answer.status, answer.body);
    ck_assert(hs_raw_send(fd, SMUGGLED, strlen(SMUGGLED)));
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 201);
    close(fd);
    assert_in_step(edge.port);
    ck_assert_int_eq(hs_test_http_status(edge.port, "DELETE", "/v1/matches/smuggled", NULL), 200);
}
END_TEST

/* A bare LF in a body ends neither a line nor the body. */
START_TEST(line_feeds_in_bodies)
{
    static const char body[] = "{\n\n\"frames\":\n[{\"time\":1,\n\"players\":[]}]\n}\n";
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/v1/matches/lf%d/frames", i);
        ck_assert_int_eq(hs_test_http_status(edges[_i]->port, "POST", path, body), 200);
    }
}
END_TEST

START_TEST(rulesets_are_not_put_through_it)
{
    ck_assert_int_eq(hs_test_http_status(edges[_i]->port, "GET", "/v1/rulesets/metres", NULL), 200);
    ck_assert_int_eq(
        hs_test_http_status(edges[_i]->port, "PUT", "/v1/rulesets/mine", "{\"name\":\"mine\"}"),
        403);
    ck_assert_int_eq(hs_test_http_status(edges[_i]->port, "DELETE", "/v1/maps/mine", NULL), 403);
    ck_assert_int_eq(hs_test_http_status(edges[_i]->port, "GET", "/v1/rulesets/mine", NULL), 404);
}
END_TEST

/* The balancers' own answers have the id of their request, as the answers of the service have. */
START_TEST(its_own_answers_have_ids)
{
#define WITH_ID "X-Request-Id: mine-1\r\n"
    static const struct {
        const char *request;
        int status;
        const char *id; /* NULL: the service made it */
        const char *code;
        int nginx; /* 0: the same status; -1: nginx forwards the request */
        const char *nginx_code;
    } cases[] = {
        {POST WITH_ID JSON "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, "mine-1",
         "length_required", 0, "length_required"},
        {"PUT /v1/rulesets/x HTTP/1.1\r\nHost: x\r\n" WITH_ID "Content-Length: 0\r\n\r\n", 403,
         "mine-1", "forbidden", 0, "forbidden"},
        {"DELETE /v1/maps/x HTTP/1.1\r\nHost: x\r\n\r\n", 403, NULL, "forbidden", 0, "forbidden"},
        {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403, NULL, "forbidden", 400, "bad_header"},
        {POST WITH_ID "X: y\n" LENGTH "\r\n{}   ", 400, "mine-1", "bad_header", -1, NULL},
        {"GET /problem HTTP/1.1\r\nHost: x\r\n" WITH_ID "\r\n", 404, "mine-1", "unknown_route", 0,
         "unknown_route"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_raw_answer answer;
        char value[256], instance[256];
        int status = _i == 1 && cases[i].nginx != 0 ? cases[i].nginx : cases[i].status;
        if (status < 0)
            continue;
        ck_assert_int_eq(hs_raw_ask(edges[_i]->port, cases[i].request, &answer), status);
        const char *id = hs_raw_header(&answer, "X-Request-Id", value);
        if (cases[i].id != NULL)
            ck_assert_str_eq(id, cases[i].id);
        else
            ck_assert_uint_ge(strlen(id), 32);
        hs_contract_expect_problem(answer.body, status,
                                   _i == 1 ? cases[i].nginx_code : cases[i].code);
        ck_assert_str_eq(hs_raw_member(&answer, "instance", instance), id);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("haproxy");
    TCase *parsers = tcase_create("parsers");
    tcase_set_timeout(parsers, 60);
    if (!start_edges()) {
        stop_edges();
        return 1;
    }
    bool haproxy_runs = edge.pid > 0, nginx_runs = nginx.pid > 0;
    int from = haproxy_runs ? 0 : 1, to = nginx_runs ? 2 : 1;
    tcase_add_checked_fixture(parsers, forget_smuggled, NULL);
    if (haproxy_runs) {
        tcase_add_test(parsers, shipped_file_is_valid);
        tcase_add_test(parsers, shipped_https_line_is_valid);
        tcase_add_test(parsers, shipped_answers_are_problems);
        tcase_add_loop_test(parsers, mended_requests, 0, 5);
    } else {
        printf("SKIP: haproxy is not installed\n");
    }
    if (nginx_runs) {
        tcase_add_test(parsers, shipped_nginx_file_is_valid);
        tcase_add_test(parsers, shipped_nginx_answers_are_problems);
    } else {
        printf("SKIP: nginx is not installed\n");
    }
    tcase_add_loop_test(parsers, one_exchange, from * EXCHANGES, to * EXCHANGES);
    tcase_add_loop_test(parsers, line_feeds_in_bodies, from, to);
    tcase_add_loop_test(parsers, rulesets_are_not_put_through_it, from, to);
    tcase_add_loop_test(parsers, its_own_answers_have_ids, from, to);
    suite_add_tcase(suite, parsers);
    int failed = hs_run_suite(suite);
    return stop_edges() && failed == 0 ? 0 : 1;
}
