/*
 * Requests of 1 MiB that cost as much as possible, alone and together with other requests.
 *
 *   hostile_1mib_KIND_ms          one such request alone, median. KIND: hits, shots, frames, moves
 *                                 (1024, the max number), or ticks of frames and hits
 *   beside_hostile_tick_p99_us    ticks of other matches, 100 per second, while ten connections
 *                                 send such hits without a pause
 *   beside_hostile_tick_p50_us    the median of the same ticks
 *   beside_hostile_hits_most_ms   the slowest of those hits, from the first sent byte to the last
 *                                 received one
 *   beside_hostile_metrics_most_us, beside_hostile_livez_most_us
 *                                 the slowest answer to operators at the same time
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/bench.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/play/crowd.h"
#include "tests/support/play/game_load.h"

enum { HOSTILE = 10, REPEATS = 5, TICKS_A_SECOND = 100 };
#define SECONDS 8.0

static struct hs_test_service service;
static atomic_bool ends;

static double ask_ms(struct hs_test_http *http, const char *method, const char *path,
                     const struct hs_buffer *body)
{
    struct hs_test_response response = {0};
    int64_t began_ns = hs_bench_now_ns();
    hs_test_http_send(http, method, path, body != NULL ? body->data : NULL,
                      body != NULL ? body->len : 0, NULL, &response);
    double ms = (double)(hs_bench_now_ns() - began_ns) / 1e6;
    if (response.status != 200) {
        fprintf(stderr, "%s: %ld %.300s\n", path, response.status, response.body);
        exit(1);
    }
    hs_test_response_free(&response);
    return ms;
}

static void fill(struct hs_buffer *body, int frames, const char *key, hs_crowd_put *put)
{
    const char *separator = "{";
    if (key != NULL && strcmp(key, "moves") != 0) { /* in a list of moves, each move has its own
                                                       time */
        hs_buffer_puts(body, "{\"now\":" HS_CROWD_NOW);
        separator = ",";
    }
    if (frames >= 0) {
        hs_buffer_puts(body, separator);
        hs_crowd_put_frames(body, frames);
        separator = ",";
    }
    if (key != NULL) {
        hs_buffer_puts(body, separator);
        hs_crowd_put_items(body, key, put);
    }
    hs_buffer_puts(body, "}");
}

static void open_crowd(struct hs_test_http *http, const char *match)
{
    struct hs_buffer body = {0};
    char path[64];
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    fill(&body, 0, NULL, NULL);
    ask_ms(http, "POST", path, &body);
    hs_buffer_free(&body);
}

static const struct {
    const char *route, *key;
    int frames; /* number of the first frame; -1: no frames */
    hs_crowd_put *put;
} kinds[] = {{"hits", "hits", -1, hs_crowd_put_pellets},
             {"shots", "shots", -1, hs_crowd_put_shot},
             {"moves", "moves", -1, hs_crowd_put_move},
             {"frames", NULL, HS_CROWD_FRAMES, NULL},
             {"ticks", "hits", HS_CROWD_FRAMES, hs_crowd_put_pellets}};

static void alone(struct hs_test_http *http)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double ms[REPEATS];
        char path[64], match[32], name[64];
        struct hs_buffer body = {0};
        fill(&body, kinds[i].frames, kinds[i].key, kinds[i].put);
        for (int k = 0; k < REPEATS; k++) { /* each request goes to another match, so that none is a
                                               retry */
            snprintf(match, sizeof match, "%s%d", kinds[i].route, k);
            open_crowd(http, match);
            snprintf(path, sizeof path, "/v1/matches/%s/%s", match, kinds[i].route);
            ms[k] = ask_ms(http, "POST", path, &body);
        }
        snprintf(name, sizeof name, "hostile_1mib_%s_ms", kinds[i].route);
        hs_bench_print(name, hs_bench_median(ms, REPEATS), "ms", NULL, 0);
        hs_buffer_free(&body);
    }
}

struct attack {
    pthread_t thread;
    const struct hs_buffer *body;
    double most_ms;
};

static void *keep_asking(void *context)
{
    struct attack *attack = context;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    while (!atomic_load(&ends)) {
        double ms = ask_ms(http, "POST", "/v1/matches/hostile/hits", attack->body);
        attack->most_ms = ms > attack->most_ms ? ms : attack->most_ms;
    }
    hs_test_http_close(http);
    return NULL;
}

static void *probe(void *context)
{
    double *most_us = context; /* slowest answer of /metrics, and of /livez */
    struct hs_test_http *http = hs_test_http_open(service.admin_port);
    while (!atomic_load(&ends)) {
        double metrics_us = 1e3 * ask_ms(http, "GET", "/metrics", NULL);
        double livez_us = 1e3 * ask_ms(http, "GET", "/livez", NULL);
        most_us[0] = metrics_us > most_us[0] ? metrics_us : most_us[0];
        most_us[1] = livez_us > most_us[1] ? livez_us : most_us[1];
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    hs_test_http_close(http);
    return NULL;
}

static bool beside(struct hs_test_http *http)
{
    struct hs_game_load game = {.matches = 4, .players = 16, .headers = ""};
    struct hs_buffer body = {0};
    struct attack attacks[HOSTILE];
    pthread_t prober;
    double most_us[2] = {0, 0}, most_ms = 0;
    struct hs_open_load_result result = {0};
    open_crowd(http, "hostile");
    fill(&body, -1, "hits", hs_crowd_put_pellets);
    if (!hs_game_load_init(&game) || !hs_game_load_open(&game, service.data_port))
        return false;
    for (int i = 0; i < HOSTILE; i++) {
        attacks[i] = (struct attack){.body = &body};
        if (pthread_create(&attacks[i].thread, NULL, keep_asking, &attacks[i]) != 0)
            exit(1);
    }
    if (pthread_create(&prober, NULL, probe, most_us) != 0)
        exit(1);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    const struct hs_open_load_options options = {.port = service.data_port,
                                                 .rate = TICKS_A_SECOND,
                                                 .seconds = SECONDS,
                                                 .connections = 8,
                                                 .good_us = 20000,
                                                 .fill = hs_game_load_fill,
                                                 .context = &game};
    bool fine = hs_open_load_run(&options, &result);
    atomic_store(&ends, true);
    for (int i = 0; i < HOSTILE; i++) {
        pthread_join(attacks[i].thread, NULL);
        most_ms = attacks[i].most_ms > most_ms ? attacks[i].most_ms : most_ms;
    }
    pthread_join(prober, NULL);
    hs_bench_print("beside_hostile_hits_most_ms", most_ms, "ms", NULL, 0);
    hs_bench_print("beside_hostile_tick_p99_us", result.p99_us, "us", NULL, 0);
    hs_bench_print("beside_hostile_tick_p50_us", result.p50_us, "us", NULL, 0);
    hs_bench_print("beside_hostile_metrics_most_us", most_us[0], "us", NULL, 0);
    hs_bench_print("beside_hostile_livez_most_us", most_us[1], "us", NULL, 0);
    hs_game_load_free(&game);
    hs_buffer_free(&body);
    return fine;
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    alone(http);
    bool fine = beside(http);
    hs_test_http_close(http);
    return hs_test_service_stop(&service) && fine ? 0 : 1;
}
