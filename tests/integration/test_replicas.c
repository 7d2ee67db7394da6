/* Replicas behind the shipped configurations of HAProxy and nginx. A replica drains without a
   failed request. If replicas appear or disappear, only their own matches move. */
#include "tests/support/clock.h"
#include "tests/support/contract/document.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/client.h"
#include "tests/support/http/load.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
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

/* The loop tests run once for each. */
enum { HAPROXY, NGINX, BALANCERS };

/* Starts HAProxy or nginx for the replicas whose bits are set in `chosen`. Replica i has the id
   i + 1. */
static void balance(int kind, struct hs_balancer *balancer, unsigned chosen)
{
    struct hs_balancer_server servers[REPLICAS];
    size_t count = 0;
    for (unsigned i = 0; i < REPLICAS; i++)
        if ((chosen & 1u << i) != 0)
            servers[count++] = (struct hs_balancer_server){i + 1, replicas[i].data_port};
    ck_assert(kind == NGINX ? hs_nginx_start(balancer, servers, count)
                            : hs_balancer_start(balancer, servers, count));
}

/* ---- replicas that come and go ---- */

enum { MATCHES = 240 };

/* Opens every match through the balancer. Sets fresh[m] if the replica that got match m did not
   have it before. */
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

/* Returns the replicas that know a match, as a set. */
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

/* Three replicas share the matches. A fourth replica takes some matches from each, and no other
   match moves. When the first replica is gone, only its matches move. */
START_TEST(only_its_own_matches_move)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    unsigned before[MATCHES];
    int share[REPLICAS] = {0}, moved = 0;
    start_replicas(REPLICAS, NULL);

    balance(_i, &balancer, 0x7);
    open_matches(balancer.port, fresh);
    hs_balancer_stop(&balancer);
    for (int i = 0; i < MATCHES; i++) {
        before[i] = owners(i);
        ck_assert(fresh[i]);
        ck_assert(before[i] == 1 || before[i] == 2 || before[i] == 4);
        share[before[i] >> 1]++;
    }
    /* Nearly a third each. nginx has fewer points on its ring, so its shares are less even. */
    for (int i = 0; i < 3; i++)
        ck_assert_msg(abs(share[i] - MATCHES / 3) <= MATCHES / (_i == NGINX ? 6 : 20),
                      "replica %d has %d of %d", i + 1, share[i], MATCHES);

    balance(_i, &balancer, 0xf);
    open_matches(balancer.port, fresh);
    hs_balancer_stop(&balancer);
    for (int i = 0; i < MATCHES; i++) {
        ck_assert_uint_eq(owners(i), fresh[i] ? before[i] | 8 : before[i]);
        moved += fresh[i];
    }
    ck_assert_msg(moved > MATCHES / 8 && moved < MATCHES / 2, "%d of %d moved", moved, MATCHES);

    balance(_i, &balancer, 0x6);
    open_matches(balancer.port, fresh);
    for (int i = 0; i < MATCHES; i++)
        ck_assert_int_eq(fresh[i], before[i] == 1);

    /* A match goes to one replica, however the name is spelled in the path. */
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

/* SIGTERM while requests of all matches arrive. Every request gets 200: from the draining replica
   until HAProxy has seen its 404, or until it refuses the connections of nginx. Afterwards the
   others answer. */
START_TEST(draining_fails_no_request)
{
    const char *const arguments[] = {"--drain-wait-seconds", _i == NGINX ? "0" : "3", NULL};
    struct hs_balancer balancer;
    struct peer peers[PEERS];
    start_replicas(3, arguments);
    balance(_i, &balancer, 0x7);
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
    ck_assert_msg(hs_test_seconds() - begun >= (_i == NGINX ? 0 : 2.9) &&
                      hs_test_seconds() - begun < 20,
                  "it took %f s", hs_test_seconds() - begun);
    leaving->pid = 0;

    for (int i = 0; i < PEERS; i++) {
        pthread_join(peers[i].thread, NULL);
        hs_load_close(peers[i].load);
        ck_assert_msg(peers[i].rate > 0, "match %d had a request fail", i);
    }
    for (size_t i = 0; i < 3; i++)
        others += i == busiest ? 0 : matches_of(&replicas[i]);
    ck_assert_uint_eq(others, PEERS); /* the matches of the stopped replica moved to the others */
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* The balancer skips a dead replica, so requests for its matches are answered at once by another
 * one. */
START_TEST(a_dead_replica_is_skipped)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    start_replicas(3, NULL);
    balance(_i, &balancer, 0x7);
    open_matches(balancer.port, fresh);
    kill(replicas[1].pid, SIGKILL);
    ck_assert_int_eq(waitpid(replicas[1].pid, NULL, 0), replicas[1].pid);
    replicas[1].pid = 0;
    open_matches(balancer.port, fresh); /* each answer must be 200 or 201 */
    int moved = 0;
    for (int i = 0; i < MATCHES; i++)
        moved += fresh[i];
    ck_assert_msg(moved > MATCHES / 5 && moved < MATCHES / 2, "%d of %d moved", moved, MATCHES);
    hs_balancer_stop(&balancer);
    stop_replicas();
}
END_TEST

/* A replica under so much load that its health check waits must stay in use. Removing it would end
   its requests and put its load on the others. */
START_TEST(a_busy_replica_keeps_its_matches)
{
    struct hs_balancer balancer;
    bool fresh[MATCHES];
    start_replicas(2, NULL);
    balance(_i, &balancer, 0x3);
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

/* If no replica is up, the answer is a problem document with a retry time. */
START_TEST(without_replicas_the_answer_is_503)
{
    struct hs_balancer balancer;
    struct hs_test_response response = {0};
    char value[64];
    start_replicas(1, NULL);
    balance(_i, &balancer, 1);
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
    hs_contract_expect_problem(response.body, 503, "overloaded");
    hs_test_response_free(&response);
    hs_test_http_close(http);
    hs_balancer_stop(&balancer);
}
END_TEST

/* A replica dies while a request is on its way to it. The answer is 502, and the client may send
   the request again. */
START_TEST(a_broken_connection_is_a_bad_gateway)
{
    static const char request[] = "GET /v1/matches HTTP/1.1\r\nHost: x\r\n\r\n";
    struct hs_balancer balancer;
    struct hs_raw_answer answer;
    int stopped;
    start_replicas(1, NULL);
    balance(_i, &balancer, 1);
    ck_assert_int_eq(kill(replicas[0].pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(replicas[0].pid, &stopped, WUNTRACED), replicas[0].pid);
    int fd = hs_raw_connect(balancer.port);
    ck_assert(hs_raw_send(fd, request, strlen(request)));
    hs_test_pause_ms(500);
    ck_assert_int_eq(kill(replicas[0].pid, SIGKILL), 0);
    hs_raw_read(fd, false, &answer);
    hs_contract_expect_problem(answer.body, answer.status, "bad_gateway");
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
    Suite *suite = suite_create("replicas");
    TCase *tests = tcase_create("replicas");
    tcase_set_timeout(tests, 120);
    const bool present[BALANCERS] = {hs_balancer_program() != NULL, hs_nginx_program() != NULL};
    for (int kind = 0; kind < BALANCERS; kind++) {
        if (!present[kind]) {
            printf("SKIP: %s is not installed\n", kind == NGINX ? "nginx" : "haproxy");
            continue;
        }
        tcase_add_loop_test(tests, only_its_own_matches_move, kind, kind + 1);
        tcase_add_loop_test(tests, draining_fails_no_request, kind, kind + 1);
        tcase_add_loop_test(tests, a_dead_replica_is_skipped, kind, kind + 1);
        tcase_add_loop_test(tests, a_busy_replica_keeps_its_matches, kind, kind + 1);
        tcase_add_loop_test(tests, a_broken_connection_is_a_bad_gateway, kind, kind + 1);
    }
    if (present[HAPROXY])
        tcase_add_test(tests, without_replicas_the_answer_is_503);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
