/*
 * Runs an open-loop load against a running service and prints the results:
 *
 *   open_load PORT RATE SECONDS [CONNECTIONS [MATCHES [PLAYERS [BONES [DEADLINE_MS]]]]]
 *
 * The program sends RATE requests per second over CONNECTIONS (256). If RATE is 0, the loop is
 * closed: each connection sends its next request after the answer. Each request is the next tick of
 * one of MATCHES (64) and has one claim. Its frame has PLAYERS (16; 0: no frame) with BONES posted
 * bones each (0). Answers within DEADLINE_MS (100) are good. If DEADLINE_MS is given, requests have
 * X-Deadline-Ms.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/play/game_load.h"

static unsigned long argument(int argc, char **argv, int i, unsigned long otherwise)
{
    return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct hs_open_load_result result;
    char header[64] = "";
    if (argc < 4) {
        fprintf(stderr, "usage: open_load PORT RATE SECONDS [CONNECTIONS [MATCHES [PLAYERS [BONES "
                        "[DEADLINE_MS]]]]]\n");
        return 2;
    }
    unsigned long deadline_ms = argument(argc, argv, 8, 100);
    if (argc > 8)
        snprintf(header, sizeof header, "X-Deadline-Ms: %lu\r\n", deadline_ms);
    struct hs_game_load game = {.matches = (unsigned)argument(argc, argv, 5, 64),
                                .players = (unsigned)argument(argc, argv, 6, 16),
                                .bones = (unsigned)argument(argc, argv, 7, 0),
                                .headers = header};
    struct hs_open_load_options options = {.port = (unsigned)argument(argc, argv, 1, 0),
                                           .rate = strtod(argv[2], NULL),
                                           .seconds = strtod(argv[3], NULL),
                                           .connections = (unsigned)argument(argc, argv, 4, 256),
                                           .good_us = (int64_t)deadline_ms * 1000,
                                           .fill = hs_game_load_fill,
                                           .context = &game};
    bool fine = game.matches > 0 && options.connections > 0 && hs_game_load_init(&game) &&
                hs_game_load_open(&game, options.port) && hs_open_load_run(&options, &result);
    hs_game_load_free(&game);
    if (!fine)
        return 1;
    printf("requests %llu of %zu bytes, unsent %llu\n", (unsigned long long)result.intended,
           game.size, (unsigned long long)result.unsent);
    printf("answers  200 %llu, 429 %llu, 503 %llu, other or none %llu\n",
           (unsigned long long)result.ok, (unsigned long long)result.limited,
           (unsigned long long)result.shed, (unsigned long long)result.other);
    printf("goodput  %.0f/s within %lu ms\n", result.goodput, deadline_ms);
    printf("latency  p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, most %.2f ms\n", result.p50_us / 1e3,
           result.p99_us / 1e3, result.p999_us / 1e3, result.max_us / 1e3);
    return 0;
}
