/*
 * What the store of replicas (--state-redis) costs, with a private redis-server on the same
 * processor.
 *
 *   hit_paid_p50_us, hit_paid_p99_us       ticks with an accepted hit over HTTP, without a store
 *   hit_stored_p50_us, hit_stored_p99_us   the same; the answer waits until the store has the hit
 *   shared_match_bytes_s                   bytes that the service sends to the store for a match of
 *                                          16 players with 10 ticks and 10 accepted hits a second
 *   shared_match_commands_s                commands for such a match, with those in scripts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/processor.h"
#include "tests/support/bench.h"
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/store/redis.h"

enum { MATCHES = 16, PLAYERS = 16, WARM = 40, ROUNDS = 400, LIVE_SECONDS = 10, RATE = 10 };

static const double tick_seconds = 0.2; /* between two ticks of the game; slower than the rate of
                                           the rifle */

struct side {
    struct hs_test_service service;
    struct hs_test_http *http;
    int ticks[MATCHES];
    double taken[ROUNDS * MATCHES];
};

/* Posts the next tick of a match: all players, and a hit of p0 on p1 that is accepted. Returns the
   microseconds until the answer. */
static double play_tick(struct side *side, int match)
{
    char path[64], body[4096];
    int tick = side->ticks[match]++;
    double now = 100 + tick_seconds * tick;
    int len = snprintf(body, sizeof body, "{\"now\":%.3f,\"frames\":[{\"time\":%.3f,\"players\":[",
                       now, now);
    for (int i = 0; i < PLAYERS; i++)
        len += snprintf(body + len, sizeof body - (size_t)len,
                        "%s{\"player\":\"p%d\",\"position\":[%d,%d,0],\"weapon\":\"rifle\"}",
                        i > 0 ? "," : "", i, i == 1 ? 10 : 0, i == 1 ? 0 : 3 * i);
    /* Each claim has another end, because the same path is not accepted twice. */
    len += snprintf(body + len, sizeof body - (size_t)len,
                    "]}],\"hits\":[{\"shot\":%d,\"shooter\":\"p0\",\"hit_time\":%.3f,"
                    "\"start\":[0,0,1.6],\"end\":[20,0,%.4f],\"target\":\"p1\"}]}",
                    tick, now, 1.5 + 0.0005 * (tick % 400));
    snprintf(path, sizeof path, "/v1/matches/m%d/ticks", match);
    struct hs_test_response response;
    int64_t began = hs_bench_now_ns();
    hs_test_http_send(side->http, "POST", path, body, (size_t)len, NULL, &response);
    double taken = (double)(hs_bench_now_ns() - began) / 1e3;
    hs_bench_need(tick == 0 || strstr(response.body, "\"verdict\":\"accepted\"") != NULL,
                  response.body);
    hs_test_response_free(&response);
    return taken;
}

static void start(struct side *side, const char *store)
{
    const char *const arguments[] = {"--evidence", "off", "--state-redis", store, NULL};
    char path[64];
    hs_bench_need(hs_test_service_start(&side->service, arguments), "the service did not start");
    side->http = hs_test_http_open(side->service.admin_port);
    hs_bench_need(
        hs_test_http_put(side->http, "/v1/rulesets/game", json_loads(hs_kill_game_rules, 0, NULL)),
        "the ruleset was refused");
    for (int i = 0; i < MATCHES; i++) {
        snprintf(path, sizeof path, "/v1/matches/m%d", i);
        hs_bench_need(hs_test_http_put(side->http, path, json_pack("{s:s}", "ruleset", "game")),
                      "a match was refused");
    }
    for (int i = 0; i < WARM * MATCHES; i++)
        play_tick(side, i % MATCHES);
}

static double statistic(const struct hs_test_redis *redis, const char *name)
{
    const char *at = strstr(hs_test_redis_ask(redis, "INFO stats"), name);
    hs_bench_need(at != NULL, "no statistics of Redis");
    return atof(at + strlen(name) + 1);
}

static void bench_latency(struct side sides[2])
{
    enum { COUNT = ROUNDS * MATCHES };
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 2; k++) { /* the two sides take turns in being first */
            struct side *side = &sides[(i + k) % 2];
            side->taken[i] = play_tick(side, i % MATCHES);
        }
    double p50 = hs_bench_percentile(sides[0].taken, COUNT, 0.5);
    double p99 = hs_bench_percentile(sides[0].taken, COUNT, 0.99);
    double shared_p50 = hs_bench_percentile(sides[1].taken, COUNT, 0.5);
    double shared_p99 = hs_bench_percentile(sides[1].taken, COUNT, 0.99);
    hs_bench_print("hit_paid_p50_us", p50, "us", NULL, 0);
    hs_bench_print("hit_stored_p50_us", shared_p50, "us", "hit_paid_p50_us", p50 / shared_p50);
    hs_bench_print("hit_paid_p99_us", p99, "us", NULL, 0);
    hs_bench_print("hit_stored_p99_us", shared_p99, "us", "hit_paid_p99_us", p99 / shared_p99);
}

static void bench_traffic(struct side *side, const struct hs_test_redis *redis)
{
    double bytes = statistic(redis, "total_net_input_bytes");
    double commands = statistic(redis, "total_commands_processed"), began = hs_test_seconds();
    for (int i = 0; i < LIVE_SECONDS * RATE * MATCHES; i++) {
        double ahead = began + (double)i / (RATE * MATCHES) - hs_test_seconds();
        if (ahead > 0)
            hs_test_pause_ms((long)(1000 * ahead) + 1);
        play_tick(side, i % MATCHES);
    }
    double each = (hs_test_seconds() - began) * MATCHES;
    hs_bench_print("shared_match_bytes_s",
                   (statistic(redis, "total_net_input_bytes") - bytes) / each, "B/s", NULL, 0);
    hs_bench_print("shared_match_commands_s",
                   (statistic(redis, "total_commands_processed") - commands) / each, "1/s", NULL,
                   0);
}

int main(void)
{
    static struct side sides[2];
    struct hs_test_redis redis;
    if (hs_test_redis_program() == NULL) {
        fprintf(stderr, "SKIP: redis-server is not installed\n");
        return 0;
    }
    /* The bench, the service and Redis work in turns. On several processors the figures would
       depend on where the kernel places them, and on the time to wake an idle processor. */
    hs_processor_move_to(0);
    hs_bench_need(hs_test_redis_start(&redis, 0, NULL), "Redis did not start");
    start(&sides[0], "");
    start(&sides[1], redis.address);
    bench_latency(sides);
    bench_traffic(&sides[1], &redis);
    for (int k = 0; k < 2; k++) {
        hs_test_http_close(sides[k].http);
        hs_bench_need(hs_test_service_stop(&sides[k].service), "the service did not end well");
    }
    hs_test_redis_stop(&redis);
    return 0;
}
