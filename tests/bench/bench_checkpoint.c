/*
 * The cost of checkpoints: how long a match stays locked for one, and the latency of hits over HTTP
 * with and without checkpoints.
 *
 *   checkpoint_player_bytes   size of a player with as much state as possible
 *   checkpoint_part_us        99th percentile of the processor time that one part locks its match
 *   hit_p99_us                one hit per request, without checkpoints
 *   hit_p99_kept_us           the same with a checkpoint of 256 players every second
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/bench.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/play/small_game.h"
#include "validators/hit.h"
#include "validators/snapshot.h"

enum {
    PART_BYTES = 64 * 1024, /* as in service/checkpoint/save.c */
    PLAYERS = 64,
    ANSWER_BYTES = 600, /* bytes in the answer to one refused hit or to three accepted hits */
    PARTS = 20000,
    MATCHES = 16,
    SHOOTERS = 16,
    SHOTS = 128,
    REQUESTS = 20000
};

/* ---- the library ---- */

/* Returns the processor time of this thread, so that other programs do not count. */
static double processor_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static struct hs_match *remember_everything(const struct hs_ruleset *ruleset)
{
    static char answer[ANSWER_BYTES];
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = 64, .movers = 4};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    hs_bench_need(match != NULL, "out of memory");
    memset(answer, 'x', sizeof answer);
    for (uint64_t i = 0; i < (uint64_t)PLAYERS * SHOTS; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "p%d", (int)(i % PLAYERS));
        struct hs_hit_claim claim = {.shot = i,
                                     .shooter = {name, (size_t)len},
                                     .hit_time_us = (int64_t)i * 1000,
                                     .end = {20, (double)i, 0}};
        struct hs_hit_result result;
        hs_hit_verify(match, &claim, claim.hit_time_us, &result);
        hs_bench_need(hs_hit_record(match, &claim, &result, (struct hs_str){answer, sizeof answer}),
                      "a hit was not recorded");
    }
    return match;
}

static void bench_parts(void)
{
    static double taken[PARTS];
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = remember_everything(ruleset);
    struct hs_bytes bytes = {0};
    hs_match_save(match, &bytes);
    hs_bench_print("checkpoint_player_bytes", (double)bytes.len / PLAYERS, "B", NULL, 0);
    struct hs_save_cursor cursor = {0};
    bytes.len = 0;
    for (size_t i = 0; i < PARTS; i++) {
        double began = processor_us();
        bool is_more = hs_match_save_part(match, &cursor, PART_BYTES, &bytes);
        taken[i] = processor_us() - began;
        hs_bench_need(!bytes.failed, "out of memory");
        if (is_more)
            continue;
        cursor = (struct hs_save_cursor){0};
        bytes.len = 0;
    }
    hs_bench_print("checkpoint_part_us", hs_bench_percentile(taken, PARTS, 0.99), "us", NULL, 0);
    free(bytes.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}

/* ---- the service ---- */

struct side {
    struct hs_test_service service;
    struct hs_test_http *http;
    double taken[REQUESTS];
};

static double post(struct side *side, int match, const char *body)
{
    char path[64];
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/m%d/hits", match);
    int64_t began = hs_bench_now_ns();
    hs_test_http_send(side->http, "POST", path, body, strlen(body), NULL, &response);
    double taken = (double)(hs_bench_now_ns() - began) / 1e3;
    hs_bench_need(response.status == 200, "a hit was not answered");
    hs_test_response_free(&response);
    return taken;
}

static size_t write_hit(char *to, size_t size, int shooter, int shot)
{
    return (size_t)snprintf(to, size,
                            "{\"shot\":%d,\"shooter\":\"s%d\",\"weapon\":\"rifle\",\"hit_time\":%d,"
                            "\"start\":[0,0,160],\"end\":[%d,500,160],\"target\":\"t\"}",
                            shot, shooter, shot, shot % 1000);
}

/* Fills matches in which every player has as much state as possible. */
static void fill(struct side *side)
{
    static char body[SHOTS * 256];
    for (int match = 0; match < MATCHES; match++) {
        for (int shooter = 0; shooter < SHOOTERS; shooter++) {
            size_t len = (size_t)snprintf(body, sizeof body, "{\"now\":0,\"hits\":[");
            for (int shot = 0; shot < SHOTS; shot++) {
                if (shot > 0)
                    body[len++] = ',';
                len += write_hit(body + len, sizeof body - len, shooter, shot);
            }
            snprintf(body + len, sizeof body - len, "]}");
            post(side, match, body);
        }
    }
}

static void start(struct side *side, const char *data)
{
    const char *const arguments[] = {"--data", data, "--checkpoint-seconds", "1", "--evidence",
                                     "off",    NULL};
    hs_bench_need(hs_test_service_start(&side->service, arguments), "the service did not start");
    side->http = hs_test_http_open(side->service.data_port);
    fill(side);
}

static void bench_hits(void)
{
    static struct side sides[2];
    char directory[] = "/tmp/hindsight_bench_XXXXXX", command[64], body[320];
    hs_bench_need(mkdtemp(directory) != NULL, "no directory");
    start(&sides[0], "");
    start(&sides[1], directory);
    for (int i = 0; i < REQUESTS; i++) {
        for (int k = 0; k < 2; k++) {
            size_t len = (size_t)snprintf(body, sizeof body, "{\"now\":%d,\"hits\":[", SHOTS + i);
            len += write_hit(body + len, sizeof body - len, i % SHOOTERS, SHOTS + i);
            snprintf(body + len, sizeof body - len, "]}");
            struct side *side = &sides[(i + k) % 2]; /* the two sides take turns in being first */
            side->taken[i] = post(side, i % MATCHES, body);
        }
    }
    for (int k = 0; k < 2; k++) {
        hs_test_http_close(sides[k].http);
        hs_bench_need(hs_test_service_stop(&sides[k].service), "the service did not end well");
    }
    snprintf(command, sizeof command, "rm -r %s", directory);
    hs_bench_need(system(command) == 0, "cannot remove the directory");
    double off = hs_bench_percentile(sides[0].taken, REQUESTS, 0.99);
    double kept = hs_bench_percentile(sides[1].taken, REQUESTS, 0.99);
    hs_bench_print("hit_p99_us", off, "us", NULL, 0);
    hs_bench_print("hit_p99_kept_us", kept, "us", "hit_p99_us", off / kept);
}

int main(void)
{
    bench_parts();
    bench_hits();
    return 0;
}
