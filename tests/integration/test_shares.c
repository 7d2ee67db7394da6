/* The limits of one tenant: arriving bodies, maps that are built, rulesets, connections. Each
   resource is limited in total and per tenant, so another tenant is always served. */
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { ACME, ZETA, TOKENS };

static struct hs_test_token tokens[TOKENS] = {
    [ACME] = {.tenant = "acme", .kid = "a", .scopes = "\"admin\"", .secret_seed = 1},
    [ZETA] = {.tenant = "zeta", .kid = "z", .scopes = "\"admin\"", .secret_seed = 2},
};

static char token_file[] = "/tmp/hindsight_shares_XXXXXX";
static struct hs_test_service service;
static struct hs_raw_answer answer;

/* Starts a service with small limits and the options in `more`. */
static void start(const char *const *more)
{
    const char *arguments[24] = {"--token-file", token_file, "--inflight-body-bytes", "4194304",
                                 "--threads",    "2",        "--map-body-bytes",      "16777216"};
    for (size_t i = 0, at = 8; more != NULL && more[i] != NULL && at < 23; i++)
        arguments[at++] = more[i];
    ck_assert(hs_test_service_start(&service, arguments));
}

static void stop(void)
{
    ck_assert(hs_test_service_stop(&service));
}

/* ---- requests ---- */

/* Opens a connection and sends the header of a request, without its body. */
static int begin(int who, const char *method, const char *path, size_t length)
{
    char header[512];
    int size = snprintf(header, sizeof header,
                        "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        method, path, tokens[who].header, length);
    int fd = hs_raw_connect(service.data_port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, header, (size_t)size));
    return fd;
}

/* Sends a whole request. Returns the status. */
static int ask(int who, const char *method, const char *path, const char *body)
{
    int fd = begin(who, method, path, strlen(body));
    hs_raw_send(fd, body, strlen(body));
    hs_raw_read(fd, false, &answer);
    close(fd);
    return answer.status;
}

static int tick(int who)
{
    return ask(who, "POST", who == ACME ? "/v1/matches/a/ticks" : "/v1/matches/z/ticks",
               "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"p\",\"position\":[0,0,0]}]}],"
               "\"hits\":[]}");
}

static void assert_detail(const char *part)
{
    char value[256];
    hs_raw_member(&answer, "detail", value);
    ck_assert_msg(strstr(value, part) != NULL, "\"%s\" says nothing of %s", value, part);
}

static void send_spaces(int fd, size_t size)
{
    static char spaces[1 << 16];
    memset(spaces, ' ', sizeof spaces);
    for (size_t sent = 0; sent < size; sent += sizeof spaces)
        hs_raw_send(fd, spaces, size - sent < sizeof spaces ? size - sent : sizeof spaces);
}

/* ---- bodies ---- */

/* An arriving map does not use the space for other bodies. Ticks go on while nearly all of the map
   has arrived. */
START_TEST(maps_and_ticks_are_apart)
{
    start(NULL);
    int map = begin(ACME, "PUT", "/v1/maps/big", 4 * MIB);
    send_spaces(map, 4 * MIB - 10);
    hs_test_pause_ms(200);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(tick(ZETA), 200);
        ck_assert_int_eq(tick(ACME), 200);
    }
    ck_assert(hs_metric(&service, "hindsight_map_bytes") == 4 * MIB);
    close(map);
    stop();
}
END_TEST

/* If one tenant sends as many bodies as possible, half of the limit remains for other tenants. */
START_TEST(bodies_of_one_tenant_leave_half)
{
    enum { BODIES = 8 };
    int fds[BODIES];
    start(NULL);
    for (size_t i = 0; i < BODIES; i++) {
        fds[i] = begin(ACME, "POST", "/v1/matches/a/frames", MIB);
        send_spaces(fds[i], MIB - 1000);
    }
    hs_test_pause_ms(200);
    ck_assert_int_eq(tick(ACME), 503);
    assert_detail("inflight-body-bytes");
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(tick(ZETA), 200);
    ck_assert(hs_metric(&service, "hindsight_requests_shed_total{reason=\"body_memory\"}") >=
              BODIES - 2);
    for (size_t i = 0; i < BODIES; i++)
        close(fds[i]);
    for (int tries = 0; tries < 100 && tick(ACME) != 200; tries++)
        hs_test_pause_ms(20);
    ck_assert_int_eq(answer.status, 200);
    stop();
}
END_TEST

/* A body that arrives with only a byte at a time is refused before --request-seconds is over. */
START_TEST(slow_bodies_let_go_early)
{
    static const char *const minute[] = {"--request-seconds", "60", NULL};
    char value[256];
    start(minute);
    int fd = begin(ACME, "POST", "/v1/matches/a/frames", MIB);
    double begun = hs_test_seconds();
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    while (poll(&poller, 1, 100) == 0 && hs_test_seconds() - begun < 20)
        hs_raw_send(fd, " ", 1);
    double took = hs_test_seconds() - begun;
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 408);
    ck_assert_str_eq(hs_raw_member(&answer, "code", value), "request_timeout");
    ck_assert_msg(took > 1.9 && took < 6, "after %f s", took);
    close(fd);
    stop();
}
END_TEST

/* A body that arrives with the min rate is accepted, however small its pieces are. */
START_TEST(steady_bodies_are_taken)
{
    static const char *const eight[] = {"--request-seconds", "8", NULL};
    static const char body[] = "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"p\","
                               "\"position\":[0,0,0]}]}]}";
    start(eight);
    int fd = begin(ACME, "POST", "/v1/matches/a/frames", sizeof body - 1);
    for (size_t at = 0; at < sizeof body - 1; at++) {
        ck_assert(hs_raw_send(fd, body + at, 1));
        hs_test_pause_ms(5000 / (long)sizeof body);
    }
    hs_raw_read(fd, false, &answer);
    ck_assert_int_eq(answer.status, 200);
    close(fd);
    stop();
}
END_TEST

/* Long answers use memory until the client reads them, so they count towards the same limit as
   bodies. Answers of /livez and /metrics do not count. */
START_TEST(long_answers_are_charged)
{
    static const char *const small[] = {"--inflight-body-bytes", "131072", "--body-bytes", "65536",
                                        NULL};
    char path[80];
    int matches = 0;
    start(small);
    while (matches < 2000 && ask(ACME, "GET", "/v1/matches", "") == 200) {
        for (int i = 0; i < 50; i++, matches++) {
            snprintf(path, sizeof path, "/v1/matches/m%d", matches);
            /* For a moment, the previous answer may still count. */
            for (int tries = 0; tries < 100 && ask(ACME, "PUT", path, "{}") == 503; tries++)
                hs_test_pause_ms(10);
            ck_assert_int_eq(answer.status, 201);
        }
    }
    ck_assert_int_eq(answer.status, 503);
    assert_detail("The answer has");
    ck_assert_int_eq(ask(ZETA, "GET", "/v1/matches", ""), 200);
    ck_assert(hs_metric(&service, "hindsight_requests_shed_total{reason=\"body_memory\"}") >= 1);
    stop();
}
END_TEST

/* ---- maps that are built ---- */

/* Returns a value from /proc/PID/status of the service, in KiB. */
static long status_kib(const char *key)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)service.pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key) + 1, NULL, 10);
    fclose(file);
    return value;
}

/* Makes a body of this size, with triangles of eight bytes each. The caller frees it. */
static char *many_triangles(size_t size)
{
    static const char head[] = "{\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,2]";
    char *body = malloc(size + 1);
    ck_assert_ptr_nonnull(body);
    memcpy(body, head, sizeof head - 1);
    size_t at = sizeof head - 1;
    for (; at + 10 < size; at += 8)
        memcpy(body + at, ",[0,1,2]", 8);
    memset(body + at, ' ', size - at);
    memcpy(body + size - 2, "]}", 3);
    return body;
}

/* The service refuses a build that needs too much memory before it reads the map. This map would
   need hundreds of MiB. */
START_TEST(builds_are_refused_before_they_begin)
{
    static const char *const small[] = {"--map-bytes", "33554432", NULL};
    start(small);
    char *body = many_triangles(8 * MIB);
    ck_assert_int_eq(tick(ZETA), 200);
    long before = status_kib("VmHWM");
    ck_assert_int_eq(ask(ACME, "PUT", "/v1/maps/huge", body), 413);
    assert_detail("map-bytes");
    long more = status_kib("VmHWM") - before;
    ck_assert_msg(more < 32 * 1024, "%ld KiB more at the most", more);
    ck_assert(hs_metric(&service, "hindsight_map_bytes") == 0);
    free(body);
    body = many_triangles(1 << 16);
    ck_assert_int_eq(ask(ACME, "PUT", "/v1/maps/small", body), 201);
    free(body);
    stop();
}
END_TEST

/* While a map is built, workers go on: the only worker answers ticks. */
START_TEST(builds_delay_no_request)
{
    static const char *const one[] = {
        "--threads", "1", "--map-bytes", "4294967296", "--inflight-body-bytes", "16777216", NULL};
    enum { SIZE = 12 << 20 };
    double slowest = 0;
    start(one);
    char *body = many_triangles(SIZE);
    int map = begin(ACME, "PUT", "/v1/maps/huge", SIZE);
    ck_assert(hs_raw_send(map, body, SIZE));
    double begun = hs_test_seconds();
    struct pollfd poller = {.fd = map, .events = POLLIN};
    while (poll(&poller, 1, 0) == 0 && hs_test_seconds() - begun < 60) {
        double before = hs_test_seconds();
        ck_assert_int_eq(tick(ZETA), 200);
        double took = hs_test_seconds() - before;
        slowest = took > slowest ? took : slowest;
    }
    double all = hs_test_seconds() - begun;
    hs_raw_read(map, false, &answer);
    ck_assert_int_eq(answer.status, 201);
    ck_assert_msg(slowest < all / 3, "a tick took %f s of the %f s of the build", slowest, all);
    close(map);
    free(body);
    stop();
}
END_TEST

/* ---- connections ---- */

/* One tenant may use half of the connections, so others can still connect. */
START_TEST(connections_of_one_tenant_leave_half)
{
    static const char *const few[] = {"--max-connections", "40", NULL};
    enum { MANY = 40 };
    int fds[MANY], open = 0;
    char value[256];
    start(few);
    for (; open < MANY; open++) {
        fds[open] = begin(ACME, "GET", "/v1/matches", 0);
        hs_raw_read(fds[open], false, &answer);
        if (answer.status != 200)
            break;
    }
    ck_assert_int_eq(open, 20);
    ck_assert_int_eq(answer.status, 503);
    assert_detail("connections");
    ck_assert_str_eq(hs_raw_header(&answer, "Connection", value), "close");
    close(fds[open]);
    ck_assert(hs_metric(&service, "hindsight_requests_shed_total{reason=\"connections\"}") == 1);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(tick(ZETA), 200);
    for (int i = 0; i < open; i++)
        close(fds[i]);
    for (int tries = 0; tries < 100 && tick(ACME) != 200; tries++)
        hs_test_pause_ms(20);
    ck_assert_int_eq(answer.status, 200);
    stop();
}
END_TEST

/* ---- rulesets ---- */

/* Puts a ruleset with a rig that no other ruleset has. */
static int put_ruleset(int who, const char *name, int radius)
{
    char path[64], body[512];
    snprintf(path, sizeof path, "/v1/rulesets/%s", name);
    snprintf(body, sizeof body,
             "{\"name\":\"%s\",\"zones\":{\"body\":1},\"default_rig\":\"r\",\"rigs\":{\"r\":{"
             "\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":\"root\",\"zone\":\"body\",\"shape\":"
             "\"sphere\",\"radius\":%d}],\"stances\":{\"stand\":{\"eye\":[0,0,1],\"bones\":[[0,0,1,"
             "0,0,0,1]]}}}}}",
             name, radius);
    return ask(who, "PUT", path, body);
}

/* Revisions that matches use count as well. The revisions of one tenant leave space for those of
   another. */
START_TEST(rulesets_of_one_tenant_leave_half)
{
    static const char *const small[] = {"--ruleset-bytes", "6291456", NULL};
    char match[64];
    int count = 0;
    start(small);
    ck_assert(hs_metric(&service, "hindsight_ruleset_bytes_limit") == 6 * MIB);
    ck_assert(hs_metric(&service, "hindsight_rulesets") == 7); /* the seven built-in rulesets */
    ck_assert(hs_metric(&service, "hindsight_rulesets_limit") == 256);
    ck_assert(hs_metric(&service, "hindsight_maps_limit") == 64);
    for (; count < 100 && put_ruleset(ACME, "mine", count + 1) != 503; count++) {
        ck_assert_int_eq(answer.status, count == 0 ? 201 : 200);
        snprintf(match, sizeof match, "/v1/matches/m%d", count);
        ck_assert_int_eq(ask(ACME, "PUT", match, "{\"ruleset\":\"mine\"}"), 201);
    }
    ck_assert_int_gt(count, 4);
    ck_assert_int_lt(count, 100);
    assert_detail("ruleset-bytes");
    ck_assert(hs_metric(&service, "hindsight_ruleset_bytes") < 4 * MIB);
    ck_assert_int_eq(put_ruleset(ZETA, "theirs", 1), 201);
    for (int i = 0; i < count; i++) {
        snprintf(match, sizeof match, "/v1/matches/m%d", i);
        ck_assert_int_eq(ask(ACME, "DELETE", match, ""), 200);
    }
    ck_assert_int_eq(put_ruleset(ACME, "mine", 1000), 200);
    stop();
}
END_TEST

int main(void)
{
    int fd = mkstemp(token_file);
    if (fd < 0)
        return 1;
    close(fd);
    hs_test_tokens_write(token_file, tokens, TOKENS);
    Suite *suite = suite_create("shares");
    TCase *tests = tcase_create("tenants");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, maps_and_ticks_are_apart);
    tcase_add_test(tests, bodies_of_one_tenant_leave_half);
    tcase_add_test(tests, slow_bodies_let_go_early);
    tcase_add_test(tests, steady_bodies_are_taken);
    tcase_add_test(tests, long_answers_are_charged);
    tcase_add_test(tests, builds_are_refused_before_they_begin);
    tcase_add_test(tests, builds_delay_no_request);
    tcase_add_test(tests, connections_of_one_tenant_leave_half);
    tcase_add_test(tests, rulesets_of_one_tenant_leave_half);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    unlink(token_file);
    return failed == 0 ? 0 : 1;
}
