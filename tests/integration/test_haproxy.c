/*
 * The shipped HAProxy configuration in front of real services: what two parsers could read
 * differently is refused or comes through as one request, a replica drains without a failed
 * request, and replicas that come and go move their own matches only.
 */
#include "tests/support/clock.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/files.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/client.h"
#include "tests/support/http/load.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPLICAS = 4 };
static struct hs_test_service replicas[REPLICAS];

static void start_replicas(size_t count, const char *const *arguments)
{
    for (size_t i = 0; i < count; i++)
        ck_assert(hs_test_service_start(&replicas[i], arguments));
}

static void stop_replicas(void)
{
    for (size_t i = 0; i < REPLICAS; i++)
        ck_assert(hs_test_service_stop(&replicas[i]));
}

/* Balances the replicas whose bits are set in `chosen`; replica i has the id i + 1. */
static void balance(struct hs_balancer *balancer, unsigned chosen)
{
    struct hs_balancer_server servers[REPLICAS];
    size_t count = 0;
    for (unsigned i = 0; i < REPLICAS; i++)
        if ((chosen & 1u << i) != 0)
            servers[count++] = (struct hs_balancer_server){i + 1, replicas[i].data_port};
    ck_assert(hs_balancer_start(balancer, servers, count));
}

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

/* The line for HTTPS, which is a comment as shipped: it is right, too. */
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

/* ---- its own answers ---- */

/* Whether `text` is a problem document of openapi.yaml, with this status, and this code if any. */
static void assert_problem(const char *text, int status, const char *code)
{
    struct hs_schema_fault fault = {{0}, {0}};
    json_t *document = hs_contract_load(), *problem = json_loads(text, 0, NULL);
    ck_assert_msg(
        problem != NULL &&
            hs_schema_fits(document, hs_contract_schema(document, "Problem"), problem, &fault),
        "%s: %s %s", text, fault.pointer, fault.text);
    const char *given = json_string_value(json_object_get(problem, "code"));
    const char *type = json_string_value(json_object_get(problem, "type"));
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), status);
    ck_assert_str_eq(given, code != NULL ? code : given);
    ck_assert_str_eq(type + strlen("urn:hindsight:problem:"), given);
    json_decref(problem);
    json_decref(document);
}

/* Every document in the shipped file, the rare ones too; a variable stands for some text. */
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
        assert_problem(text + 1, status, NULL);
        rule = text + strlen(text);
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
/* Stands where the body of a request could end for one parser and not for the other. */
#define SMUGGLED                                                                                   \
    "PUT /v1/matches/smuggled HTTP/1.1\r\nHost: x\r\n" JSON "Content-Length: 2\r\n\r\n{}"

struct exchange {
    const char *request;
    int status;
    bool ends; /* the connection, after this one answer: nothing of the rest is a request */
};

static const struct exchange exchanges[] = {
    /* Content-Length and Transfer-Encoding */
    {POST JSON LENGTH "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 411, true},
    {POST JSON "Transfer-Encoding: chunked\r\n" LENGTH "\r\n0\r\n\r\n" SMUGGLED, 411, true},
    {POST JSON "Transfer-Encoding: chunked\r\n\r\n5\r\n{}   \r\n0\r\n\r\n" SMUGGLED, 411, true},
    {POST JSON LENGTH "Transfer-Encoding: identity\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON LENGTH "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true},
    {POST JSON LENGTH "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 422, true},
    {POST JSON LENGTH "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true},
    {POST JSON LENGTH "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 400, true},
    {POST JSON LENGTH " Transfer-Encoding: chunked\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON LENGTH "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" SMUGGLED, 411, true},
    {POST JSON LENGTH "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
                      "0\r\n\r\n" SMUGGLED,
     400, true},
    {POST JSON LENGTH "Transfer-Encoding: \x0b"
                      "chunked\r\n\r\n0\r\n\r\n" SMUGGLED,
     400, true},
    /* two lengths */
    {POST JSON LENGTH "Content-Length: 96\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: 0\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: 5, 96\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length : 5\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: +5\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: -5\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: 0x5\r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: \r\n\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Content-Length: 18446744073709551621\r\n\r\n{}   " SMUGGLED, 400, true},
    /* no length, too long, not JSON, encoded: refused by the service, from the header */
    {POST JSON "\r\n" SMUGGLED, 411, false},
    {"PUT /v1/matches/edge HTTP/1.1\r\nHost: x\r\n" JSON "\r\n" SMUGGLED, 411, false},
    {POST JSON "Content-Length: 1048577\r\n\r\n" SMUGGLED, 413, false},
    {POST LENGTH "\r\n{}   " SMUGGLED, 415, false},
    {POST "Content-Type: text/plain\r\n" LENGTH "\r\n{}   " SMUGGLED, 415, false},
    {POST JSON "Content-Encoding: gzip\r\n" LENGTH "\r\n{}   " SMUGGLED, 415, false},
    /* names */
    {POST JSON "X Y: 1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    {POST JSON ": 1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "Host: y\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    /* ends of lines */
    {"GET /livez HTTP/1.1\nHost: x\n\n" SMUGGLED, 400, true},
    {"GET /livez HTTP/1.1\nHost: x\r\n\r\n" SMUGGLED, 400, true},
    {"GET /livez HTTP/1.1\r\nHost: x\n\r\n" SMUGGLED, 400, true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\n\n" SMUGGLED, 400, true},
    {POST JSON "X: y\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "X: y\rContent-Length: 96\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    {POST JSON "X: y\nTransfer-Encoding: chunked\n" LENGTH "\r\n0\r\n\r\n" SMUGGLED, 400, true},
    {POST JSON "\nGET /livez HTTP/1.1\r\n" LENGTH "\r\n{}   " SMUGGLED, 400, true},
    /* what it is at all */
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, true},
    {"GET http://y/livez HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED, 400, true},
    {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403, false},
    {"GET /livez#x HTTP/1.1\r\nHost: x\r\n\r\n" SMUGGLED, 400, true},
    {"GET /livez HTTP/1.1\r\nHost: x\r\n" LENGTH "\r\n12345", 400, false},
};

/* One service behind HAProxy, for all tests of requests. */
static struct hs_test_service edge_service;
static struct hs_balancer edge;

static bool start_edge(void)
{
    if (!hs_test_service_start(&edge_service, NULL))
        return false;
    struct hs_balancer_server server = {1, edge_service.data_port};
    return hs_balancer_start(&edge, &server, 1);
}

static bool stop_edge(void)
{
    hs_balancer_stop(&edge);
    return hs_test_service_stop(&edge_service);
}

/* Whether answers still belong to their requests: the id of each comes back, on new connections
   that share HAProxy's connections to the service with what came before. */
static void assert_in_step(void)
{
    for (int i = 0; i < 4; i++) {
        struct hs_raw_answer answer;
        char request[256], id[32], value[256];
        snprintf(id, sizeof id, "in-step-%d", i);
        snprintf(request, sizeof request,
                 "GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: %s\r\n\r\n", id);
        int fd = hs_raw_connect(edge.port);
        ck_assert_int_ge(fd, 0);
        ck_assert(hs_raw_send(fd, request, strlen(request)));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, 200);
        ck_assert_str_eq(hs_raw_header(&answer, "X-Request-Id", value), id);
        close(fd);
    }
}

/* So that what one exchange leaves is not found by the next one. */
static void forget_smuggled(void)
{
    hs_test_http_status(edge.port, "DELETE", "/v1/matches/smuggled", NULL);
}

START_TEST(one_exchange)
{
    const struct exchange *exchange = &exchanges[_i];
    struct hs_raw_answer answer;
    char rest[4096];
    int fd = hs_raw_connect(edge.port);
    ck_assert_int_ge(fd, 0);
    hs_raw_send(fd, exchange->request, strlen(exchange->request));
    hs_raw_read(fd, false, &answer);
    ck_assert_msg(answer.status == exchange->status, "%s\nanswered %d %s", exchange->request,
                  answer.status, answer.body);
    if (exchange->ends)
        ck_assert_msg(hs_raw_drain(fd, rest, sizeof rest) && strstr(rest, "HTTP/1.1") == NULL,
                      "%s\nwas read on: %s", exchange->request, rest);
    /* Where the connection goes on, what follows the body is a request of its own, and answered.
       What follows the header of a body that is too long is that body, and nothing else. */
    bool follows =
        !exchange->ends && exchange->status != 413 && strstr(exchange->request, "smuggled") != NULL;
    if (follows) {
        hs_raw_read(fd, false, &answer);
        ck_assert_msg(answer.status == 201, "%s\nwas followed by %d", exchange->request,
                      answer.status);
    }
    close(fd);
    assert_in_step();
    long smuggled = hs_test_http_status(edge.port, "GET", "/v1/matches/smuggled", NULL);
    ck_assert_msg(smuggled == (follows ? 200 : 404), "%s\nleft %ld", exchange->request, smuggled);
}
END_TEST

/* Requests that HAProxy mends come to the service as one request, with the meaning HAProxy saw. */
START_TEST(mended_requests)
{
    enum { LATER = 4 };
    static const char *const requests[] = {
        POST JSON LENGTH LENGTH "\r\n{}   ",
        POST JSON "Content-Length: 5, 5\r\n\r\n{}   ",
        POST JSON "X: a\r\n b\r\n" LENGTH "\r\n{}   ",
        "\r\n" POST JSON LENGTH "\r\n{}   ",
        /* A bare LF after the first request of a connection. */
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
    assert_in_step();
    ck_assert_int_eq(hs_test_http_status(edge.port, "DELETE", "/v1/matches/smuggled", NULL), 200);
}
END_TEST

/* A bare LF in a body is not the end of anything. */
START_TEST(line_feeds_in_bodies)
{
    static const char body[] = "{\n\n\"frames\":\n[{\"time\":1,\n\"players\":[]}]\n}\n";
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/v1/matches/lf%d/frames", i);
        ck_assert_int_eq(hs_test_http_status(edge.port, "POST", path, body), 200);
    }
}
END_TEST

START_TEST(rulesets_are_not_put_through_it)
{
    ck_assert_int_eq(hs_test_http_status(edge.port, "GET", "/v1/rulesets/metres", NULL), 200);
    ck_assert_int_eq(
        hs_test_http_status(edge.port, "PUT", "/v1/rulesets/mine", "{\"name\":\"mine\"}"), 403);
    ck_assert_int_eq(hs_test_http_status(edge.port, "DELETE", "/v1/maps/mine", NULL), 403);
    ck_assert_int_eq(hs_test_http_status(edge.port, "GET", "/v1/rulesets/mine", NULL), 404);
}
END_TEST

/* What HAProxy answers by itself has the id of its request like any other answer. */
START_TEST(its_own_answers_have_ids)
{
#define WITH_ID "X-Request-Id: mine-1\r\n"
    static const struct {
        const char *request;
        int status;
        const char *id; /* NULL: one that was made there */
        const char *code;
    } cases[] = {
        {POST WITH_ID JSON "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, "mine-1",
         "length_required"},
        {"PUT /v1/rulesets/x HTTP/1.1\r\nHost: x\r\n" WITH_ID "Content-Length: 0\r\n\r\n", 403,
         "mine-1", "forbidden"},
        {"DELETE /v1/maps/x HTTP/1.1\r\nHost: x\r\n\r\n", 403, NULL, "forbidden"},
        {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403, NULL, "forbidden"},
        {POST WITH_ID "X: y\n" LENGTH "\r\n{}   ", 400, "mine-1", "bad_header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_raw_answer answer;
        char value[256], instance[256];
        ck_assert_int_eq(hs_raw_ask(edge.port, cases[i].request, &answer), cases[i].status);
        const char *id = hs_raw_header(&answer, "X-Request-Id", value);
        if (cases[i].id != NULL)
            ck_assert_str_eq(id, cases[i].id);
        else
            ck_assert_uint_ge(strlen(id), 32);
        assert_problem(answer.body, cases[i].status, cases[i].code);
        ck_assert_str_eq(hs_raw_member(&answer, "instance", instance), id);
    }
}
END_TEST

/* ---- replicas that come and go ---- */

enum { MATCHES = 240 };

/* Opens every match through the balancer; fresh[m]: no replica it is sent to had it yet. */
static void open_matches(unsigned port, bool fresh[MATCHES])
{
    struct hs_test_http *http = hs_test_http_open(port);
    for (int i = 0; i < MATCHES; i++) {
        char path[64];
        struct hs_test_response response;
        snprintf(path, sizeof path, "/v1/matches/match-%d", i);
        hs_test_http_send(http, "PUT", path, "{}", 2, NULL, &response);
        ck_assert_msg(response.status == 200 || response.status == 201, "%s: %ld %s", path,
                      response.status, response.body);
        fresh[i] = response.status == 201;
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
}

/* Which replicas know a match, as a set. */
static unsigned owners(int match)
{
    unsigned set = 0;
    char path[64];
    snprintf(path, sizeof path, "/v1/matches/match-%d", match);
    for (unsigned i = 0; i < REPLICAS; i++)
        if (hs_test_http_status(replicas[i].data_port, "GET", path, NULL) == 200)
            set |= 1u << i;
    return set;
}

/* Three replicas share the matches; a fourth takes some from each and nothing else moves; with the
   first gone, its matches move and nothing else. */
START_TEST(only_its_own_matches_move)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    unsigned before[MATCHES];
    int share[REPLICAS] = {0}, moved = 0;
    start_replicas(REPLICAS, NULL);

    balance(&balancer, 0x7);
    open_matches(balancer.port, fresh);
    hs_balancer_stop(&balancer);
    for (int i = 0; i < MATCHES; i++) {
        before[i] = owners(i);
        ck_assert(fresh[i]);
        ck_assert(before[i] == 1 || before[i] == 2 || before[i] == 4);
        share[before[i] >> 1]++;
    }
    for (int i = 0; i < 3; i++) /* a third each, nearly; with few points on the ring it is not */
        ck_assert_msg(abs(share[i] - MATCHES / 3) <= MATCHES / 20, "replica %d has %d of %d", i + 1,
                      share[i], MATCHES);

    balance(&balancer, 0xf);
    open_matches(balancer.port, fresh);
    hs_balancer_stop(&balancer);
    for (int i = 0; i < MATCHES; i++) {
        ck_assert_uint_eq(owners(i), fresh[i] ? before[i] | 8 : before[i]);
        moved += fresh[i];
    }
    ck_assert_msg(moved > MATCHES / 8 && moved < MATCHES / 2, "%d of %d moved", moved, MATCHES);

    balance(&balancer, 0x6);
    open_matches(balancer.port, fresh);
    for (int i = 0; i < MATCHES; i++)
        ck_assert_int_eq(fresh[i], before[i] == 1);

    /* However its name is spelled, a match has one replica. */
    for (int i = 0; i < MATCHES; i += 10) {
        char path[64];
        snprintf(path, sizeof path, "/v1/matches/%%6Datch%%2d%d", i);
        ck_assert_int_eq(hs_test_http_status(balancer.port, "PUT", path, "{}"), 200);
    }
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* ---- drain ---- */

enum { PEERS = 6 };

struct peer {
    pthread_t thread;
    struct hs_load *load;
    double seconds, rate;
};

static void *play(void *context)
{
    struct peer *peer = context;
    peer->rate = hs_load_run(peer->load, peer->seconds, "\"stored\"");
    return NULL;
}

static void start_peers(struct peer peers[PEERS], unsigned port, double seconds)
{
    static const char body[] = "{\"frames\":[{\"time\":1000000000,\"players\":[{\"player\":\"bob\","
                               "\"position\":[1,2,3]}]}]}";
    for (int i = 0; i < PEERS; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/matches/match-%d/frames", i);
        peers[i] = (struct peer){.seconds = seconds};
        peers[i].load = hs_load_open(port, path, body, (size_t)(strchr(body, '1') - body), 2);
        ck_assert_ptr_nonnull(peers[i].load);
        ck_assert_int_eq(pthread_create(&peers[i].thread, NULL, play, &peers[i]), 0);
    }
}

static size_t matches_of(const struct hs_test_service *service)
{
    struct hs_test_http *http = hs_test_http_open(service->admin_port);
    json_t *list = hs_test_http_json(http, "GET", "/v1/matches", NULL, NULL);
    size_t count = json_array_size(json_object_get(list, "matches"));
    json_decref(list);
    hs_test_http_close(http);
    return count;
}

/* SIGTERM in the middle of everybody's matches: every request of every match is answered 200, by
   the draining replica until HAProxy has seen its 404, by the others from then on. */
START_TEST(draining_fails_no_request)
{
    static const char *const arguments[] = {"--drain-wait-seconds", "3", NULL};
    struct hs_balancer balancer;
    struct peer peers[PEERS];
    start_replicas(3, arguments);
    balance(&balancer, 0x7);
    start_peers(peers, balancer.port, 6);
    hs_test_pause_ms(1000);

    size_t busiest = 0;
    for (size_t i = 1; i < 3; i++)
        if (matches_of(&replicas[i]) > matches_of(&replicas[busiest]))
            busiest = i;
    size_t had = matches_of(&replicas[busiest]), others = 0;
    ck_assert_uint_ge(had, PEERS / 3);
    struct hs_test_service *leaving = &replicas[busiest];
    double begun = hs_test_seconds();
    kill(leaving->pid, SIGTERM);
    int status = -1;
    ck_assert_int_eq(waitpid(leaving->pid, &status, 0), leaving->pid);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(hs_test_seconds() - begun >= 2.9 && hs_test_seconds() - begun < 20,
                  "it took %f s", hs_test_seconds() - begun);
    leaving->pid = 0;

    for (int i = 0; i < PEERS; i++) {
        pthread_join(peers[i].thread, NULL);
        hs_load_close(peers[i].load);
        ck_assert_msg(peers[i].rate > 0, "match %d had a request fail", i);
    }
    for (size_t i = 0; i < 3; i++)
        others += i == busiest ? 0 : matches_of(&replicas[i]);
    ck_assert_uint_eq(others, PEERS); /* those of the replica that left moved to them */
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* A replica that dies is stepped over: what is sent from then on is answered, at once. */
START_TEST(a_dead_replica_is_stepped_over)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    start_replicas(3, NULL);
    balance(&balancer, 0x7);
    open_matches(balancer.port, fresh);
    kill(replicas[1].pid, SIGKILL);
    ck_assert_int_eq(waitpid(replicas[1].pid, NULL, 0), replicas[1].pid);
    replicas[1].pid = 0;
    open_matches(balancer.port, fresh); /* 200 or 201, each of them */
    int moved = 0;
    for (int i = 0; i < MATCHES; i++)
        moved += fresh[i];
    ck_assert_msg(moved > MATCHES / 5 && moved < MATCHES / 2, "%d of %d moved", moved, MATCHES);
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* A replica with so much to do that its check waits for its turn is not gone: to take it out would
   end what it is doing, and put its load on the others. */
START_TEST(a_busy_replica_keeps_its_matches)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    start_replicas(2, NULL);
    balance(&balancer, 0x3);
    open_matches(balancer.port, fresh);
    ck_assert_int_eq(kill(replicas[0].pid, SIGSTOP), 0);
    hs_test_pause_ms(2500);
    ck_assert_int_eq(kill(replicas[0].pid, SIGCONT), 0);
    open_matches(balancer.port, fresh);
    for (int i = 0; i < MATCHES; i++)
        ck_assert_msg(!fresh[i], "match %d has moved", i);
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* Nobody is left: a problem document that says when to come back. */
START_TEST(without_replicas_it_says_so)
{
    struct hs_balancer balancer;
    struct hs_test_response response = {0};
    char value[64];
    start_replicas(1, NULL);
    balance(&balancer, 1);
    struct hs_test_http *http = hs_test_http_open(balancer.port);
    stop_replicas();
    for (int tries = 0; tries < 500 && response.status != 503; tries++) {
        hs_test_response_free(&response);
        hs_test_http_send(http, "GET", "/v1/matches/m", NULL, 0, NULL, &response);
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(response.status, 503);
    ck_assert(hs_test_response_header(&response, "Content-Type", value, sizeof value));
    ck_assert_str_eq(value, "application/problem+json");
    ck_assert(hs_test_response_header(&response, "Retry-After", value, sizeof value));
    ck_assert_str_eq(value, "1");
    ck_assert(hs_test_response_header(&response, "X-Request-Id", value, sizeof value));
    json_t *problem = hs_test_response_json(&response);
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "retry_after_ms")), 1000);
    json_decref(problem);
    assert_problem(response.body, 503, "overloaded");
    hs_test_response_free(&response);
    hs_test_http_close(http);
    hs_balancer_stop(&balancer);
}
END_TEST

/* A replica that dies with a request on its way to it: 502, and the request may be sent again. */
START_TEST(a_broken_connection_is_a_bad_gateway)
{
    static const char request[] = "GET /v1/matches HTTP/1.1\r\nHost: x\r\n\r\n";
    struct hs_balancer balancer;
    struct hs_raw_answer answer;
    int stopped;
    start_replicas(1, NULL);
    balance(&balancer, 1);
    ck_assert_int_eq(kill(replicas[0].pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(replicas[0].pid, &stopped, WUNTRACED), replicas[0].pid);
    int fd = hs_raw_connect(balancer.port);
    ck_assert(hs_raw_send(fd, request, strlen(request)));
    hs_test_pause_ms(500);
    ck_assert_int_eq(kill(replicas[0].pid, SIGKILL), 0);
    hs_raw_read(fd, false, &answer);
    assert_problem(answer.body, answer.status, "bad_gateway");
    ck_assert_int_eq(answer.status, 502);
    close(fd);
    ck_assert_int_eq(waitpid(replicas[0].pid, NULL, 0), replicas[0].pid);
    replicas[0].pid = 0;
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("haproxy");
    TCase *parsers = tcase_create("parsers"), *fleet = tcase_create("replicas");
    tcase_set_timeout(parsers, 60);
    tcase_set_timeout(fleet, 120);
    bool present = hs_balancer_program() != NULL;
    if (present && !start_edge()) {
        stop_edge();
        return 1;
    }
    if (present) {
        tcase_add_checked_fixture(parsers, forget_smuggled, NULL);
        tcase_add_test(parsers, shipped_file_is_valid);
        tcase_add_test(parsers, shipped_https_line_is_valid);
        tcase_add_test(parsers, shipped_answers_are_problems);
        tcase_add_loop_test(parsers, one_exchange, 0,
                            (int)(sizeof exchanges / sizeof exchanges[0]));
        tcase_add_loop_test(parsers, mended_requests, 0, 5);
        tcase_add_test(parsers, line_feeds_in_bodies);
        tcase_add_test(parsers, rulesets_are_not_put_through_it);
        tcase_add_test(parsers, its_own_answers_have_ids);
        tcase_add_test(fleet, only_its_own_matches_move);
        tcase_add_test(fleet, draining_fails_no_request);
        tcase_add_test(fleet, a_dead_replica_is_stepped_over);
        tcase_add_test(fleet, a_busy_replica_keeps_its_matches);
        tcase_add_test(fleet, without_replicas_it_says_so);
        tcase_add_test(fleet, a_broken_connection_is_a_bad_gateway);
    } else {
        printf("SKIP: haproxy is not installed\n");
    }
    suite_add_tcase(suite, parsers);
    suite_add_tcase(suite, fleet);
    int failed = hs_run_suite(suite);
    bool clean = !present || stop_edge();
    return failed == 0 && clean ? 0 : 1;
}
