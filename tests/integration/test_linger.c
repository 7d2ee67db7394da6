/* Requests that are refused before their body is read. The refusal and the earlier answers arrive,
   however late the client reads and whatever it still sends. The number of such connections and
   their time are limited, and the service does not wait longer for them at its end. */
#include "service/http/linger.h"
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hs_test_service service;

enum {
    LINGERS_MS = HS_LINGER_US / 1000,
    PATIENCE_MS = 4000 /* PATIENCE_MS is for busy machines */
};

#define POST "POST /v1/matches/linger/frames HTTP/1.1\r\nHost: x\r\n"
#define JSON "Content-Type: application/json\r\n"

static const struct {
    const char *head;
    int status;
} refusals[] = {
    {POST JSON "Content-Length: 10485760\r\n\r\n", 413},
    {POST "Content-Length: 10485760\r\n\r\n", 413},
    {POST JSON "Transfer-Encoding: chunked\r\n\r\n", 411},
    {POST "Content-Length: 1048576\r\n\r\n", 415},
    {POST JSON "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
    {"POST /nowhere HTTP/1.1\r\nHost: x\r\n" JSON "Content-Length: 1000000\r\n\r\n", 404},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", 400},
};
enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

static int open_connection(unsigned port)
{
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    ck_assert_msg(hs_raw_send(fd, text, strlen(text)), "%s", strerror(errno));
}

/* Returns whether the next read finds an orderly end of the connection, not a reset and no more
   bytes. */
static bool ends_in_order(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) == 0;
}

/* The client sends the whole body before it reads anything, as simple clients do. */
START_TEST(the_refusal_waits_for_the_body)
{
    enum { SIZE = 10 << 20 };
    struct hs_raw_answer answer;
    char *body = calloc(1, SIZE);
    ck_assert_ptr_nonnull(body);
    int fd = open_connection(service.data_port);
    send_text(fd, refusals[_i].head);
    bool whole = hs_raw_send(fd, body, SIZE);
    ck_assert_msg(whole, "the body was not accepted: %s", strerror(errno));
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, refusals[_i].status);
    ck_assert_msg(ends_in_order(fd), "%s", strerror(errno));
    close(fd);
    free(body);
}
END_TEST

/* The body is longer than the service reads. A client that reads in time can still read the
   answer. */
START_TEST(endless_bodies_are_given_up)
{
    static const char piece[65536];
    struct hs_raw_answer answer;
    int fd = open_connection(service.data_port);
    send_text(fd, POST JSON "Content-Length: 1000000000\r\n\r\n");
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 413);
    double began = hs_test_seconds(), megabytes = 0;
    while (hs_raw_send(fd, piece, sizeof piece) && hs_test_seconds() - began < 20)
        megabytes += sizeof piece / 1048576.0;
    double took = hs_test_seconds() - began;
    ck_assert_msg(1000 * took < LINGERS_MS + PATIENCE_MS, "taken from for %g s", took);
    ck_assert_msg(megabytes < 64, "%g MB were taken", megabytes);
    close(fd);
}
END_TEST

/* A long answer is still in the sockets when the next request is refused, because the client reads
   slowly. */
START_TEST(earlier_answers_are_not_lost)
{
    const int small = 4096;
    struct timeval patience = {.tv_sec = 20};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((in_port_t)service.data_port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    /* The body is longer than the part that the service reads together with the header. */
    static const char body[100000];
    send_text(fd, "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n" POST JSON
                  "Content-Length: 10485760\r\n\r\n");
    ck_assert(hs_raw_send(fd, body, sizeof body));
    hs_test_pause_ms(300);

    enum { ROOM = 1 << 20 };
    char *all = calloc(1, ROOM + 1);
    ck_assert_ptr_nonnull(all);
    size_t size = 0;
    ssize_t got = 0;
    while (size < ROOM && (got = recv(fd, all + size, ROOM - size, 0)) > 0)
        size += (size_t)got;
    ck_assert_msg(got == 0, "%s after %zu bytes", strerror(errno), size);
    const char *length = strstr(all, "Content-Length: "), *end = strstr(all, "\r\n\r\n");
    ck_assert(length != NULL && end != NULL);
    size_t first = strtoul(length + 16, NULL, 10);
    ck_assert_uint_gt(first, 32768);
    ck_assert_uint_gt(size, (size_t)(end + 4 - all) + first);
    ck_assert_int_eq(strncmp(end + 4 + first, "HTTP/1.1 413 ", 13), 0);
    free(all);
    close(fd);
}
END_TEST

/* Bytes after a request that asked to close belong to no request, and cause no harm. */
START_TEST(more_behind_the_last_request)
{
    static const char more[100000];
    struct hs_raw_answer answer;
    int fd = open_connection(service.data_port);
    send_text(fd, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ck_assert(hs_raw_send(fd, more, sizeof more));
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_msg(ends_in_order(fd), "%s", strerror(errno));
    close(fd);
}
END_TEST

/* Waits until at most `descriptors` are open. Returns the number of descriptors that are open at
   the end. */
static double wait_for_descriptors(double descriptors, int patience_ms)
{
    double open = 0;
    for (int waited = 0; waited <= patience_ms; waited += 50) {
        open = hs_metric(&service, "process_open_fds");
        if (open <= descriptors)
            break;
        hs_test_pause_ms(50);
    }
    return open;
}

/* Many clients are refused and never disconnect. */
START_TEST(a_flood_is_bounded)
{
    enum { PEERS = 600 };
    static int fds[PEERS];
    struct hs_raw_answer answer;
    double before = wait_for_descriptors(0, LINGERS_MS + 500);
    for (size_t i = 0; i < PEERS; i++) {
        fds[i] = open_connection(service.data_port);
        send_text(fds[i], refusals[0].head);
        hs_raw_read(fds[i], false, &answer);
        ck_assert_int_eq(answer.status, 413);
    }
    double most = wait_for_descriptors(before + HS_LINGER_MAX + 2, 500);
    ck_assert_msg(most <= before + HS_LINGER_MAX + 2, "%g descriptors, before %g", most, before);
    double after = wait_for_descriptors(before + 2, LINGERS_MS + PATIENCE_MS);
    ck_assert_msg(after <= before + 2, "%g descriptors, before %g", after, before);
    for (size_t i = 0; i < PEERS; i++)
        close(fds[i]);
    ck_assert_int_eq(hs_raw_status(service.data_port, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
                     200);
}
END_TEST

/* Clients that still have not read their answer when the service ends get the usual time, but no
   more. */
START_TEST(the_end_is_bounded)
{
    struct hs_test_service ending;
    struct hs_raw_answer answer;
    int fds[20];
    ck_assert(hs_test_service_start(&ending, NULL));
    for (size_t i = 0; i < 20; i++) {
        fds[i] = open_connection(ending.data_port);
        send_text(fds[i], refusals[0].head);
        hs_raw_read(fds[i], false, &answer);
        ck_assert_int_eq(answer.status, 413);
    }
    static const char late[1 << 20];
    double began = hs_test_seconds();
    ck_assert_int_eq(kill(ending.pid, SIGTERM), 0);
    hs_test_pause_ms(300);
    ck_assert_msg(hs_raw_send(fds[0], late, sizeof late), "%s", strerror(errno));
    ck_assert_msg(ends_in_order(fds[0]), "%s", strerror(errno));
    /* The service must end by itself. A second signal would end it early. */
    int status = -1;
    ck_assert_int_eq(waitpid(ending.pid, &status, 0), ending.pid);
    ck_assert_int_eq(status, 0);
    double took = hs_test_seconds() - began;
    ending.pid = 0;
    ck_assert(hs_test_service_stop(&ending));
    ck_assert_msg(1000 * took < LINGERS_MS + PATIENCE_MS, "ended after %g s", took);
    for (size_t i = 0; i < 20; i++)
        close(fds[i]);
}
END_TEST

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    Suite *suite = suite_create("linger");
    TCase *tests = tcase_create("refused");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_refusal_waits_for_the_body, 0, REFUSALS);
    tcase_add_test(tests, endless_bodies_are_given_up);
    tcase_add_test(tests, earlier_answers_are_not_lost);
    tcase_add_test(tests, more_behind_the_last_request);
    tcase_add_test(tests, a_flood_is_bounded);
    tcase_add_test(tests, the_end_is_bounded);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
