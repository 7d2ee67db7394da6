/*
 * Overload, one mechanism at a time: requests that waited too long, by kind; deadlines; tenants
 * that send too much; matches that nobody uses any more. (test_memory is about memory.) A request
 * is refused before its body is parsed. To show this, the bodies here are not JSON. The tests stop
 * the process for some time to make a queue.
 */
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hs_test_service service;
static struct hs_raw_answer answer;

#define FRAMES_BODY                                                                                \
    "{\"frames\":[{\"time\":12.5,\"players\":[{\"player\":\"bob\",\"position\":[1,2,3]}]}]}"
#define HITS_BODY                                                                                  \
    "{\"now\":12.5,\"hits\":[{\"shot\":1,\"shooter\":\"bob\",\"hit_time\":12.5,"                   \
    "\"start\":[0,0,1.6],\"end\":[20,3.5,1.6]}]}"

static void start(const char *const *arguments)
{
    ck_assert(hs_test_service_start(&service, arguments));
}

static void stop(void)
{
    ck_assert(hs_test_service_stop(&service));
}

/* `headers` are complete lines, or "". Without a body sends a GET, otherwise a POST, or the PUT of
   a match or a map. */
static int send_request(unsigned port, const char *path, const char *headers, const char *body)
{
    char request[4096];
    int size = 0;
    const char *name = strrchr(path, '/');
    bool puts = body != NULL && (name - path == 11 || strncmp(path, "/v1/maps/", 9) == 0);
    if (body == NULL)
        size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path,
                        headers);
    else
        size = snprintf(request, sizeof request,
                        "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n%s\r\n%s",
                        puts ? "PUT" : "POST", path, strlen(body), headers, body);
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, request, (size_t)size));
    return fd;
}

/* Receives an answer, which stays valid until the next one. Returns its status. */
static int receive(int fd)
{
    hs_raw_read(fd, false, &answer);
    close(fd);
    return answer.status;
}

static int ask(const char *path, const char *headers, const char *body)
{
    return receive(send_request(service.data_port, path, headers, body));
}

static double shed_for(const char *reason)
{
    char series[128];
    snprintf(series, sizeof series, "hindsight_requests_shed_total{reason=\"%s\"}", reason);
    return hs_metric(&service, series);
}

static void assert_problem(int status, const char *code, const char *retry_after)
{
    char value[256];
    ck_assert_int_eq(answer.status, status);
    ck_assert_str_eq(hs_raw_member(&answer, "code", value), code);
    ck_assert_str_eq(hs_raw_header(&answer, "Retry-After", value), retry_after);
    ck_assert_ptr_nonnull(strstr(answer.body, "\"retry_after_ms\":"));
}

/* Stops the process. Returns when all its threads stand still. */
static void halt(void)
{
    int status = 0;
    kill(service.pid, SIGSTOP);
    ck_assert_int_eq(waitpid(service.pid, &status, WUNTRACED), service.pid);
    ck_assert(WIFSTOPPED(status));
}

/* ---- queues ---- */

/* Requests that are at least half a second late are refused, but the health routes answer. The
   worker serves the first request, because no other request was before it in the queue. */
START_TEST(late_requests_are_refused)
{
    static const char *const arguments[] = {"--queue-ms", "50", "--threads", "1", NULL};
    static const char *const paths[] = {"/v1/matches/m/hits", "/v1/matches/m/ticks",
                                        "/v1/matches/m/frames", "/v1/matches/m", "/v1/maps/m"};
    enum { PATHS = sizeof paths / sizeof paths[0] };
    int fds[PATHS], served = 0;
    char value[256];
    start(arguments);
    ck_assert_int_eq(ask("/v1/matches/m/frames", "", FRAMES_BODY), 200);
    halt();
    for (size_t i = 0; i < PATHS; i++)
        fds[i] = send_request(service.data_port, paths[i], "", "no JSON");
    int livez = send_request(service.data_port, "/livez", "", NULL);
    hs_test_pause_ms(900);
    kill(service.pid, SIGCONT);
    ck_assert_int_eq(receive(livez), 200);
    for (size_t i = 0; i < PATHS; i++) {
        if (receive(fds[i]) == 503)
            assert_problem(503, "overloaded", "1");
        else
            served++;
        /* the connection stays open */
        ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "");
    }
    ck_assert_int_eq(served, 1);
    ck_assert(shed_for("queue") == PATHS - 1);
    ck_assert(hs_metric(&service, "hindsight_http_wait_seconds_bucket{le=\"0.5\"}") <=
              hs_metric(&service, "hindsight_http_wait_seconds_count") - PATHS);
    ck_assert_int_eq(ask("/v1/matches/m/frames", "", "no JSON"), 400);
    stop();
}
END_TEST

/* A client that sends one request after the other always gets its answers, however late, because to
   refuse the only request would help nobody. A health check at the same time does not make a
   queue. */
START_TEST(a_lone_client_is_never_refused)
{
    static const char *const arguments[] = {"--queue-ms", "10", "--threads", "1", NULL};
    static const struct {
        const char *path, *body;
        int status;
    } rows[] = {{"/v1/matches/m/frames", FRAMES_BODY, 200},
                {"/v1/matches/m/hits", HITS_BODY, 200},
                {"/v1/matches", NULL, 200},
                {"/v1/maps/m", "no JSON", 400}};
    enum { ROWS = sizeof rows / sizeof rows[0] };
    start(arguments);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        halt();
        int livez = send_request(service.data_port, "/livez", "", NULL);
        int fd = send_request(service.data_port, rows[i % ROWS].path, "", rows[i % ROWS].body);
        hs_test_pause_ms(300);
        kill(service.pid, SIGCONT);
        ck_assert_int_eq(receive(livez), 200);
        ck_assert_int_eq(receive(fd), rows[i % ROWS].status);
    }
    ck_assert(shed_for("queue") == 0);
    stop();
}
END_TEST

/* Sends requests while the service is stopped for `ms`. Before them the worker gets one more
   request, which it serves because no other was before it. */
static void stop_for(long ms, int fds[3])
{
    halt();
    int first = send_request(service.data_port, "/v1/matches/m/frames", "", FRAMES_BODY);
    fds[0] = send_request(service.data_port, "/v1/matches/m/hits", "", HITS_BODY);
    fds[1] = send_request(service.data_port, "/v1/matches/m/frames", "", FRAMES_BODY);
    fds[2] = send_request(service.data_port, "/v1/matches", "", NULL);
    hs_test_pause_ms(ms);
    kill(service.pid, SIGCONT);
    ck_assert_int_eq(receive(first), 200);
}

/* By kind, requests may wait 4, 2 and 1 s; a queue counts as standing after 0.5 s. */
static const struct {
    long stopped_ms;
    int statuses[3];
} stops[] = {{800, {200, 200, 200}},
             {1500, {200, 200, 503}},
             {2900, {200, 503, 503}},
             {4500, {503, 503, 503}}};

/* Stops the service repeatedly, and checks the answers. A queue that is empty for 0.1 s is no
   longer standing. So returns false if an answer is another one, but the machine was so busy that
   the queue may have been empty for that long between two stops. */
static bool try_stops(void)
{
    double late = 0;
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        int fds[3], statuses[3];
        double began = hs_test_seconds(), late_before = late;
        stop_for(stops[i].stopped_ms, fds);
        bool is_expected = true;
        for (size_t k = 0; k < 3; k++) {
            statuses[k] = receive(fds[k]);
            is_expected = is_expected && statuses[k] == stops[i].statuses[k];
        }
        late = hs_test_seconds() - began - (double)stops[i].stopped_ms / 1000;
        ck_assert_msg(is_expected || late_before + late > 0.1,
                      "stopped for %ld ms, %.3f s late: statuses %d, %d, %d", stops[i].stopped_ms,
                      late, statuses[0], statuses[1], statuses[2]);
        if (!is_expected)
            return false;
    }
    return true;
}

/* A standing queue: the service is stopped repeatedly. Hits are accepted after a longer wait than
   frames, and frames after a longer wait than requests of the console, whatever their order in the
   queue. */
START_TEST(hits_before_frames_before_console)
{
    static const char *const arguments[] = {"--queue-ms", "4000", "--threads", "1", NULL};
    bool is_shown = false;
    for (int tries = 0; tries < 6 && !is_shown; tries++) {
        start(arguments);
        ck_assert_int_eq(ask("/v1/matches/m/frames", "", FRAMES_BODY), 200);
        is_shown = try_stops();
        ck_assert(!is_shown || shed_for("queue") == 6);
        stop();
    }
    ck_assert(is_shown);
}
END_TEST

START_TEST(queue_limit_can_be_off)
{
    static const char *const arguments[] = {"--queue-ms", "0", NULL};
    int fds[3];
    start(arguments);
    ck_assert_int_eq(ask("/v1/matches/m/frames", "", FRAMES_BODY), 200);
    for (int round = 0; round < 2; round++) {
        stop_for(700, fds);
        for (size_t k = 0; k < 3; k++)
            ck_assert_int_eq(receive(fds[k]), 200);
    }
    stop();
}
END_TEST

/* Many connections are ready at once, and then none. libmicrohttpd's event loop takes connections
   in portions of 128. The service must serve the last connections of a portion without waiting for
   another portion. */
START_TEST(whole_portions_of_connections)
{
    enum { CONNECTIONS = 256 };
    static const char *const arguments[] = {"--threads", "1", NULL};
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    int fds[CONNECTIONS];
    start(arguments);
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            halt();
        for (int i = 0; i < CONNECTIONS; i++) {
            fds[i] = round == 0 ? hs_raw_connect(service.data_port) : fds[i];
            ck_assert(hs_raw_send(fds[i], request, sizeof request - 1));
        }
        kill(service.pid, SIGCONT);
        for (int i = 0; i < CONNECTIONS; i++) {
            hs_raw_read(fds[i], false, &answer);
            ck_assert_msg(answer.status == 200, "connection %d: status %d", i, answer.status);
        }
    }
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    stop();
}
END_TEST

/* ---- deadlines ---- */

#define DEADLINE(ms) "X-Deadline-Ms: " ms "\r\n"

START_TEST(deadlines)
{
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        {DEADLINE("60000"), 200}, {"x-deadline-ms: 3600000\r\n", 200},
        {DEADLINE("0"), 503},     {DEADLINE("3600001"), 400},
        {DEADLINE("-1"), 400},    {DEADLINE(""), 400},
        {DEADLINE("1.5"), 400},   {DEADLINE("60000") DEADLINE("60000"), 400},
        {DEADLINE("1e3"), 400},
    };
    char value[256];
    start(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(ask("/v1/matches/m/frames", rows[i].headers, FRAMES_BODY) == rows[i].status,
                      "row %zu: status %d", i, answer.status);
        if (rows[i].status == 400)
            ck_assert_str_eq(hs_raw_member(&answer, "code", value), "bad_header");
        ck_assert_int_eq(ask("/v1/matches", rows[i].headers, NULL), rows[i].status);
    }
    ck_assert_int_eq(ask("/v1/matches/m/frames", DEADLINE("0"), "no JSON"), 503);
    assert_problem(503, "overloaded", "1");
    ck_assert_int_eq(ask("/livez", DEADLINE("0"), NULL), 200);
    ck_assert(shed_for("deadline") == 3);
    stop();
}
END_TEST

/* A deadline counts from the arrival of the header. The time includes the wait for the worker and
   the wait for the body. */
START_TEST(deadlines_pass_while_waiting)
{
    start(NULL);
    halt();
    int late = send_request(service.data_port, "/v1/matches/m/frames", DEADLINE("300"), "no JSON");
    int patient =
        send_request(service.data_port, "/v1/matches/m/frames", DEADLINE("60000"), FRAMES_BODY);
    hs_test_pause_ms(500);
    kill(service.pid, SIGCONT);
    ck_assert_int_eq(receive(late), 503);
    ck_assert_int_eq(receive(patient), 200);

    const char *header = "POST /v1/matches/m/frames HTTP/1.1\r\nHost: x\r\nX-Deadline-Ms: 300\r\n"
                         "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n";
    int fd = hs_raw_connect(service.data_port);
    ck_assert(hs_raw_send(fd, header, strlen(header)));
    hs_test_pause_ms(500);
    ck_assert(hs_raw_send(fd, "no JSON", 7));
    ck_assert_int_eq(receive(fd), 503);
    ck_assert(shed_for("deadline") == 2);
    stop();
}
END_TEST

/* The service does not read the long body of a refused request. The answer and the end of the
   connection arrive before the body is sent. */
START_TEST(long_bodies_are_not_read)
{
    const char *header = "POST /v1/matches/m/frames HTTP/1.1\r\nHost: x\r\nX-Deadline-Ms: 0\r\n"
                         "Content-Type: application/json\r\nContent-Length: 500000\r\n\r\n";
    char value[256];
    start(NULL);
    int fd = hs_raw_connect(service.data_port);
    ck_assert(hs_raw_send(fd, header, strlen(header)));
    hs_raw_read(fd, false, &answer);
    assert_problem(503, "overloaded", "1");
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    ck_assert(hs_raw_is_closed(fd));
    close(fd);
    stop();
}
END_TEST

/* ---- tenants ---- */

static struct hs_test_token tokens[] = {
    {.tenant = "acme", .kid = "a", .scopes = "\"ingest\",\"verify\""},
    {.tenant = "acme", .kid = "b", .scopes = "\"ingest\",\"verify\"", .secret_seed = 1},
    {.tenant = "zeta", .kid = "a", .scopes = "\"ingest\",\"verify\"", .secret_seed = 2},
};

/* Sends a request with the header line of a token, or "" for none. */
static int ask_as(const char *header, const char *path, const char *body)
{
    char line[512] = "";
    if (header[0] != '\0')
        snprintf(line, sizeof line, "%s\r\n", header);
    return ask(path, line, body);
}

/*
 * Both keys of a tenant use one bucket, and another tenant has another bucket. Health requests use
 * none.
 */
START_TEST(tenants_have_their_rate)
{
    char directory[] = "/tmp/hindsight_overload_XXXXXX", path[64], value[256];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/tokens.json", directory);
    hs_test_tokens_write(path, tokens, 3);
    const char *const arguments[] = {
        "--token-file", path, "--tenant-rate", "1", "--tenant-burst", "4", NULL};
    start(arguments);
    ck_assert_int_eq(ask_as(tokens[0].header, "/v1/matches/m/frames", FRAMES_BODY), 200);
    int statuses[600] = {0}, refused = 0;
    for (int i = 0; i < 8; i++)
        statuses[ask_as(tokens[i % 2].header, "/v1/matches/m/frames", "no JSON")]++;
    refused = statuses[429];
    ck_assert_msg(statuses[400] + refused == 8 && refused >= 1, "%d refused, %d accepted", refused,
                  statuses[400]);
    /* Even on a slow machine, the bucket cannot refill as fast as these requests use it. */
    for (int i = 0; answer.status != 429 && i < 100; i++)
        ask_as(tokens[0].header, "/v1/matches", NULL);
    assert_problem(429, "rate_limited", "1");
    long wait_ms = strtol(strstr(answer.body, "\"retry_after_ms\":") + 17, NULL, 10);
    ck_assert_int_ge(wait_ms, 1);
    ck_assert_int_le(wait_ms, 1001);
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "");
    ck_assert_int_eq(ask_as(tokens[2].header, "/v1/matches/z/frames", FRAMES_BODY), 200);
    ck_assert_int_eq(ask_as("", "/v1/matches/m", NULL),
                     401); /* a request without a valid token takes nothing from any bucket */
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(ask("/livez", "", NULL), 200);
    hs_test_pause_ms(wait_ms + 20);
    ck_assert_int_eq(ask_as(tokens[1].header, "/v1/matches/m/frames", FRAMES_BODY), 200);
    ck_assert(shed_for("tenant_rate") >= refused);
    stop();
    unlink(path);
    rmdir(directory);
}
END_TEST

/* If the service has no tokens, all clients count as one tenant. */
START_TEST(one_rate_for_all)
{
    static const char *const arguments[] = {"--tenant-rate", "1", "--tenant-burst", "2", NULL};
    int refused = 0;
    start(arguments);
    for (int i = 0; i < 6; i++)
        refused += ask("/v1/matches", "", NULL) == 429 ? 1 : 0;
    ck_assert_int_ge(refused, 1);
    ck_assert(shed_for("tenant_rate") == refused);
    stop();
}
END_TEST

/* ---- idle matches ---- */

START_TEST(idle_matches_end)
{
    static const char *const arguments[] = {"--match-idle-seconds", "2", NULL};
    start(arguments);
    ck_assert_int_eq(ask("/v1/matches/idle/frames", "", FRAMES_BODY), 200);
    ck_assert_int_eq(ask("/v1/matches/busy/frames", "", FRAMES_BODY), 200);
    double begun = hs_test_seconds();
    while (ask("/v1/matches/idle", "", NULL) == 200 && hs_test_seconds() - begun < 30) {
        ck_assert_int_eq(ask("/v1/matches/busy/hits", "", HITS_BODY), 200);
        hs_test_pause_ms(50); /* reading a match does not keep it alive */
    }
    ck_assert_int_eq(answer.status, 404);
    ck_assert_msg(hs_test_seconds() - begun > 1.9, "ended after %f s", hs_test_seconds() - begun);
    ck_assert_int_eq(ask("/v1/matches/busy", "", NULL), 200);
    ck_assert(hs_metric(&service, "hindsight_matches_expired_total") == 1);
    ck_assert(hs_metric(&service, "hindsight_matches_active") == 1);
    stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overload");
    TCase *tests = tcase_create("mechanisms");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, late_requests_are_refused);
    tcase_add_test(tests, a_lone_client_is_never_refused);
    tcase_add_test(tests, hits_before_frames_before_console);
    tcase_add_test(tests, queue_limit_can_be_off);
    tcase_add_test(tests, whole_portions_of_connections);
    tcase_add_test(tests, deadlines);
    tcase_add_test(tests, deadlines_pass_while_waiting);
    tcase_add_test(tests, long_bodies_are_not_read);
    tcase_add_test(tests, tenants_have_their_rate);
    tcase_add_test(tests, one_rate_for_all);
    tcase_add_test(tests, idle_matches_end);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
