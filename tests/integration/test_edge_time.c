/* Clients that are slow, silent, half closed or gone, and a service that ends during use. The
   service limits the time of each client, and serves others meanwhile. */
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/process_states.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hs_test_service service; /* started with --request-seconds 1 --idle-seconds 2 */
static struct hs_test_service patient; /* started with 60 s for both */

#define FRAMES_BODY                                                                                \
    "{\"frames\":[{\"time\":12.5,\"players\":[{\"player\":\"bob\",\"position\":[1,2,3]}]}]}"
#define FRAMES(length)                                                                             \
    "POST /v1/matches/edge/frames HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"       \
    "Content-Length: " length "\r\n\r\n"
#define GET_LIVEZ "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"

static int open_port(unsigned port)
{
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void assert_serving(void)
{
    char frames[512];
    snprintf(frames, sizeof frames, FRAMES("%zu") "%s", strlen(FRAMES_BODY), FRAMES_BODY);
    ck_assert_int_eq(hs_raw_status(service.data_port, GET_LIVEZ), 200);
    ck_assert_int_eq(hs_raw_status(service.data_port, frames), 200);
}

#define TIMEOUTS                                                                                   \
    "hindsight_http_requests_total{route=\"/v1/matches/{match}/frames\",method=\"POST\","          \
    "code=\"408\"}"

/* A body that never arrives, and one that arrives byte by byte. */
START_TEST(slow_body)
{
    struct hs_raw_answer answer;
    char value[256];
    double before = hs_metric(&service, TIMEOUTS);
    int fd = open_port(service.data_port);
    double begun = hs_test_seconds();
    ck_assert(hs_raw_send(fd, FRAMES("1000"), strlen(FRAMES("1000"))));
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    while (poll(&poller, 1, 50) == 0 && hs_test_seconds() - begun < 10) {
        if (_i == 1)
            hs_raw_send(fd, " ", 1);
        assert_serving();
    }
    hs_raw_read(fd, false, &answer);
    double took = hs_test_seconds() - begun;
    ck_assert_int_eq(answer.status, 408);
    ck_assert_str_eq(hs_raw_member(&answer, "code", value), "request_timeout");
    ck_assert_str_eq(hs_raw_header(&answer, "Content-Type", value), "application/problem+json");
    ck_assert_uint_eq(strlen(hs_raw_header(&answer, "X-Request-Id", value)), 32);
    ck_assert(hs_raw_is_closed(fd));
    ck_assert_msg(took > 0.99 && took < 3, "answered after %f s", took);
    ck_assert(hs_metric(&service, TIMEOUTS) == before + 1);
    close(fd);
}
END_TEST

/* One byte of the header arrives every 100 ms, so the connection is never silent long enough for a
   timeout. */
START_TEST(slow_header)
{
    const char *header = "GET /livez HTTP/1.1\r\nHost: example.org.with.a.long.name.to.be.slow";
    double begun = hs_test_seconds();
    int fd = open_port(service.data_port);
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    size_t sent = 0;
    while (poll(&poller, 1, 100) == 0 && header[sent] != '\0' && hs_raw_send(fd, header + sent, 1))
        sent++;
    ck_assert(hs_raw_is_closed(fd));
    ck_assert_msg(hs_test_seconds() - begun < 5, "closed after %f s", hs_test_seconds() - begun);
    ck_assert(header[sent] != '\0');
    close(fd);
    assert_serving();
}
END_TEST

START_TEST(silent_connections)
{
    int fds[100];
    double begun = hs_test_seconds();
    for (size_t i = 0; i < 100; i++)
        fds[i] = open_port(service.data_port);
    assert_serving();
    for (size_t i = 0; i < 100; i++) {
        ck_assert(hs_raw_is_closed(fds[i]));
        close(fds[i]);
    }
    double took = hs_test_seconds() - begun;
    ck_assert_msg(took > 0.9 && took < 5, "closed after %f s", took);
    assert_serving();
}
END_TEST

/* A client that closes its sending side after a whole request gets an answer. After half a request
   it gets none. */
START_TEST(half_closed)
{
    struct hs_raw_answer answer;
    char rest[64];
    int fd = open_port(service.data_port);
    ck_assert(hs_raw_send(fd, GET_LIVEZ, strlen(GET_LIVEZ)));
    shutdown(fd, SHUT_WR);
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert(hs_raw_is_closed(fd));
    close(fd);

    fd = open_port(service.data_port);
    ck_assert(hs_raw_send(fd, FRAMES("100") "{\"frames\"", strlen(FRAMES("100")) + 9));
    shutdown(fd, SHUT_WR);
    ck_assert(hs_raw_drain(fd, rest, sizeof rest));
    ck_assert_ptr_null(strstr(rest, " 200 "));
    close(fd);
    assert_serving();
}
END_TEST

/* The end of the connection arrives in one segment with the last bytes. The service notices it long
   before any deadline. */
START_TEST(ends_with_the_last_bytes)
{
    static const char *const requests[] = {GET_LIVEZ, FRAMES("200") "{\"frames\":[",
                                           "GET /livez HTTP/1.1\r\nHo"};
    const int on = 1;
    char rest[4096];
    double began = hs_test_seconds();
    int fd = open_port(patient.data_port);
    ck_assert_int_eq(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
    ck_assert(hs_raw_send(fd, requests[_i], strlen(requests[_i])));
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    ck_assert(hs_raw_drain(fd, rest, sizeof rest));
    double took = hs_test_seconds() - began;
    ck_assert_msg(took < 10, "it took %g s", took);
    ck_assert((strstr(rest, "HTTP/1.1 200 ") == rest) == (_i == 0));
    close(fd);
}
END_TEST

/* The client disconnects in the middle of the header, in the middle of the body, or before the
   answer. */
START_TEST(abrupt_resets)
{
    static const char *const starts[] = {"GET /live", FRAMES("100") "{\"frames\"", GET_LIVEZ, ""};
    const struct linger abrupt = {.l_onoff = 1, .l_linger = 0};
    for (size_t i = 0; i < 200; i++) {
        const char *start = starts[i % 4];
        int fd = open_port(service.data_port);
        ck_assert(hs_raw_send(fd, start, strlen(start)));
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
        close(fd);
    }
    assert_serving();
    /* The service must count only this request as running, none of the earlier ones. */
    double inflight = -1;
    for (int tries = 0; tries < 100 && inflight != 1; tries++) {
        inflight = hs_metric(&service, "hindsight_http_inflight_requests");
        hs_test_pause_ms(20);
    }
    ck_assert_msg(inflight == 1, "%f requests seem to run", inflight);
}
END_TEST

/* Random bytes are no request, and the client sends no more. So the service refuses them or closes
   the connection at once. */
START_TEST(random_bytes)
{
    uint64_t seed = hs_test_seed(20251121);
    struct hs_random random = hs_random_start(seed, 0);
    int answered = 0;
    double begun = hs_test_seconds();
    printf("random_bytes: HS_SEED=%llu\n", (unsigned long long)seed);
    for (int i = 0; i < 200; i++) {
        char bytes[512], rest[64];
        int size = 1 + hs_random_index(&random, (int)sizeof bytes);
        for (int at = 0; at < size; at++)
            bytes[at] = (char)hs_random_index(&random, 256);
        int fd = open_port(service.data_port);
        hs_raw_send(fd, bytes, (size_t)size);
        hs_raw_send(fd, "\r\n\r\n", 4);
        shutdown(fd, SHUT_WR);
        ck_assert(hs_raw_drain(fd, rest, sizeof rest));
        ck_assert_msg(rest[0] == '\0' || strncmp(rest, "HTTP/1.1 4", 10) == 0, "answered %s", rest);
        answered += rest[0] != '\0';
        close(fd);
    }
    /* If the service waited for a timeout, each would take at least a second. */
    double took = hs_test_seconds() - begun;
    ck_assert_msg(took < 60, "cut off after %f s in all", took);
    ck_assert_int_gt(answered, 0);
    assert_serving();
}
END_TEST

/* The total size of arriving bodies is limited. A request whose body does not fit gets 503 with a
   retry time. */
START_TEST(too_many_bodies)
{
    /* Two threads could accept both bodies at once, and refuse the one that should wait. */
    static const char *const arguments[] = {
        "--body-bytes", "1024", "--inflight-body-bytes", "1024", "--threads", "1", NULL};
    struct hs_test_service small;
    struct hs_raw_answer answer;
    char body[1001], request[2048], value[256];
    memset(body, ' ', 1000);
    memcpy(body, FRAMES_BODY, strlen(FRAMES_BODY));
    body[1000] = '\0';
    snprintf(request, sizeof request, FRAMES("1000") "%s", body);
    ck_assert(hs_test_service_start(&small, arguments));
    int holder = open_port(small.data_port);
    ck_assert(hs_raw_send(holder, request, strlen(request) - 10));
    /* The service accepts the second body until it has begun to read the first one. */
    for (int tries = 0; tries < 500; tries++) {
        hs_raw_ask(small.data_port, request, &answer);
        if (answer.status != 200)
            break;
        hs_test_pause_ms(10);
    }
    ck_assert_int_eq(answer.status, 503);
    ck_assert_str_eq(hs_raw_member(&answer, "code", value), "overloaded");
    ck_assert_str_eq(hs_raw_header(&answer, "Retry-After", value), "1");
    ck_assert_ptr_nonnull(strstr(answer.body, "\"retry_after_ms\":1000"));
    ck_assert(hs_metric(&small, "hindsight_requests_shed_total{reason=\"body_memory\"}") == 1);
    ck_assert(hs_raw_send(holder, request + strlen(request) - 10, 10));
    hs_raw_read(holder, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    close(holder);
    ck_assert_int_eq(hs_raw_status(small.data_port, request), 200);
    ck_assert(hs_test_service_stop(&small));
}
END_TEST

/* After SIGTERM the service is not ready. It still serves requests, closes each connection after
   its answer, and exits with 0. */
START_TEST(drains)
{
    static const char *const arguments[] = {"--drain-wait-seconds", "2", NULL};
    struct hs_test_service draining;
    struct hs_raw_answer answer;
    char request[512], value[256];
    const char *readyz = "GET /readyz?verbose HTTP/1.1\r\nHost: x\r\n\r\n";
    snprintf(request, sizeof request, FRAMES("%zu") "%s", strlen(FRAMES_BODY), FRAMES_BODY);
    ck_assert(hs_test_service_start(&draining, arguments));
    hs_raw_ask(draining.data_port, readyz, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hs_raw_member(&answer, "status", value), "ready");
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "");
    int kept = open_port(draining.data_port);
    ck_assert(hs_raw_send(kept, request, strlen(request)));
    hs_raw_read(kept, false, &answer);
    ck_assert_int_eq(answer.status, 200);

    double begun = hs_test_seconds();
    kill(draining.pid, SIGTERM);
    do {
        hs_raw_ask(draining.admin_port, readyz, &answer);
    } while (answer.status == 200 && hs_test_seconds() - begun < 1.5);
    ck_assert_int_eq(answer.status, 404);
    ck_assert_str_eq(hs_raw_member(&answer, "status", value), "draining");
    ck_assert_int_eq(hs_raw_status(draining.data_port, request), 200);
    ck_assert(hs_raw_send(kept, request, strlen(request)));
    hs_raw_read(kept, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    ck_assert(hs_raw_is_closed(kept));
    close(kept);
    int status = -1;
    ck_assert_int_eq(waitpid(draining.pid, &status, 0), draining.pid);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(hs_test_seconds() - begun >= 1.99 && hs_test_seconds() - begun < 10,
                  "ended after %f s", hs_test_seconds() - begun);
    draining.pid = 0;
    hs_test_service_stop(&draining);
}
END_TEST

/* A request whose body is still arriving when the listeners close gets its answer. */
START_TEST(requests_in_flight_are_finished)
{
    struct hs_test_service ending;
    struct hs_raw_answer answer;
    char request[512], value[256];
    snprintf(request, sizeof request, FRAMES("%zu") "%s", strlen(FRAMES_BODY), FRAMES_BODY);
    ck_assert(hs_test_service_start(&ending, NULL));
    int fd = open_port(ending.data_port);
    ck_assert(hs_raw_send(fd, request, strlen(request) - 10));
    while (hs_metric(&ending, "hindsight_http_inflight_requests") < 2)
        hs_test_pause_ms(10);
    kill(ending.pid, SIGTERM);
    int probe;
    while ((probe = hs_raw_connect(ending.data_port)) >= 0) { /* until connections are refused */
        close(probe);
        hs_test_pause_ms(10);
    }
    ck_assert(hs_raw_send(fd, request + strlen(request) - 10, 10));
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    close(fd);
    /* The service must end by itself. A second signal would end it early. */
    int status = -1;
    ck_assert_int_eq(waitpid(ending.pid, &status, 0), ending.pid);
    ck_assert_int_eq(status, 0);
    ending.pid = 0;
    ck_assert(hs_test_service_stop(&ending));
}
END_TEST

START_TEST(second_signal_ends_at_once)
{
    static const char *const arguments[] = {"--drain-wait-seconds", "60", NULL};
    struct hs_test_service stubborn;
    ck_assert(hs_test_service_start(&stubborn, arguments));
    double begun = hs_test_seconds();
    kill(stubborn.pid, SIGTERM);
    while (hs_raw_status(stubborn.admin_port, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n") == 200)
        hs_test_pause_ms(5);
    ck_assert(hs_test_service_stop(&stubborn)); /* hs_test_service_stop sends the second signal */
    double took = hs_test_seconds() - begun;
    ck_assert_msg(took < 5, "ended after %f s", took);
}
END_TEST

/* A worker may be busy with a large map for longer than with any other request. Such a worker does
   not count as stuck. */
START_TEST(large_maps_take_their_time)
{
    struct hs_raw_answer answer;
    ck_assert(hs_state_building(&answer));
    ck_assert_int_eq(answer.status, 200);
}
END_TEST

int main(void)
{
    static const char *const arguments[] = {"--request-seconds", "1", "--idle-seconds", "2", NULL};
    static const char *const longer[] = {"--request-seconds", "60", "--idle-seconds", "60", NULL};
    if (!hs_test_service_start(&service, arguments) || !hs_test_service_start(&patient, longer))
        return 1;
    Suite *suite = suite_create("edge_time");
    TCase *tests = tcase_create("peers");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, slow_body, 0, 2);
    tcase_add_test(tests, slow_header);
    tcase_add_test(tests, silent_connections);
    tcase_add_test(tests, half_closed);
    tcase_add_loop_test(tests, ends_with_the_last_bytes, 0, 3);
    tcase_add_test(tests, abrupt_resets);
    tcase_add_test(tests, random_bytes);
    tcase_add_test(tests, too_many_bodies);
    tcase_add_test(tests, large_maps_take_their_time);
    tcase_add_test(tests, drains);
    tcase_add_test(tests, requests_in_flight_are_finished);
    tcase_add_test(tests, second_signal_ends_at_once);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&patient) && clean;
    return failed == 0 && clean ? 0 : 1;
}
