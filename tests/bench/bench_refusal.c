/*
 * The processor time of a refused request, and what follows from it for overload. The requests are
 * ticks of 16 players without bones, 1.5 KB each.
 *
 *   small_tick_us            processor time of the service for a tick with an answer 200
 *   small_refusal_us         for a tick that it refuses with 503, because its deadline has passed
 *   bare_refusal_us          for the same tick and a server that only receives it, without looking
 *                            at it, and sends a constant answer of the same size
 *   small_2x_computed        share of its peak that the service keeps at twice its capacity, if a
 *                            refusal costs as much as small_refusal_us
 *   bare_2x_computed         the same if a refusal costs as much as bare_refusal_us: the limit for
 *                            a service that answers each request on its own processor
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/processor.h"
#include "tests/support/bench.h"
#include "tests/support/http/service.h"
#include "tests/support/play/game_load.h"

enum { ROUNDS = 3, CONNECTIONS = 256, EVENTS = 128, REQUEST_MAX = 16384 };
#define SECONDS 1.5

/* ---- the bare server ---- */

struct bare {
    pthread_t thread;
    clockid_t clock; /* processor time of the thread */
    int listener, epoll;
    unsigned port;
    char answer[1024];
};

/* The same bytes as a refusal of the service has, as far as their number matters. */
static void write_answer(struct bare *bare)
{
    static const char body[] =
        "{\"type\":\"urn:hindsight:problem:overloaded\",\"title\":\"The service is at a limit\","
        "\"status\":503,\"detail\":\"Its X-Deadline-Ms passed before its turn came\","
        "\"instance\":\"0123456789abcdef0123456789abcdef\",\"code\":\"overloaded\","
        "\"retry_after_ms\":1000}";
    snprintf(bare->answer, sizeof bare->answer,
             "HTTP/1.1 503 Service Unavailable\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
             "X-Request-Id: 0123456789abcdef0123456789abcdef\r\n"
             "Content-Type: application/problem+json\r\nRetry-After: 1\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             sizeof body - 1, body);
}

static void add_connection(const struct bare *bare)
{
    struct epoll_event event = {.events = EPOLLIN};
    event.data.fd = accept4(bare->listener, NULL, NULL, SOCK_CLOEXEC);
    if (event.data.fd >= 0)
        epoll_ctl(bare->epoll, EPOLL_CTL_ADD, event.data.fd, &event);
}

/* A request arrives whole, because it fits into one packet of the loopback interface. */
static void answer(const struct bare *bare, int fd, size_t size)
{
    char request[REQUEST_MAX];
    if (recv(fd, request, sizeof request, 0) <= 0 ||
        send(fd, bare->answer, size, MSG_NOSIGNAL) != (ssize_t)size)
        close(fd);
}

static void *serve(void *context)
{
    const struct bare *bare = context;
    struct epoll_event events[EVENTS];
    size_t size = strlen(bare->answer);
    int count = 0;
    while ((count = epoll_wait(bare->epoll, events, EVENTS, -1)) >= 0)
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == bare->listener)
                add_connection(bare);
            else
                answer(bare, events[i].data.fd, size);
        }
    return NULL;
}

/* The thread runs until the program ends. */
static void start_bare(struct bare *bare)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    write_answer(bare);
    bare->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bare->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = bare->listener};
    hs_bench_need(bind(bare->listener, (struct sockaddr *)&address, size) == 0 &&
                      listen(bare->listener, CONNECTIONS) == 0 &&
                      getsockname(bare->listener, (struct sockaddr *)&address, &size) == 0 &&
                      epoll_ctl(bare->epoll, EPOLL_CTL_ADD, bare->listener, &event) == 0 &&
                      pthread_create(&bare->thread, NULL, serve, bare) == 0 &&
                      pthread_getcpuclockid(bare->thread, &bare->clock) == 0,
                  "the bare server did not start");
    bare->port = ntohs(address.sin_port);
}

/* ---- measuring ---- */

static double clock_seconds(clockid_t clock)
{
    struct timespec used = {0};
    clock_gettime(clock, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* Returns the processor time for each answer with the status 200, or 503 if `refused`. */
static double cost_us(struct hs_game_load *game, unsigned port, clockid_t clock, bool refused,
                      uint64_t *next)
{
    struct hs_open_load_options options = {.port = port,
                                           .seconds = SECONDS,
                                           .connections = CONNECTIONS,
                                           .fill = hs_game_load_fill,
                                           .context = game,
                                           .first = *next};
    struct hs_open_load_result result;
    double before = clock_seconds(clock);
    hs_bench_need(hs_open_load_run(&options, &result), "the load failed");
    uint64_t wanted = refused ? result.shed : result.ok;
    hs_bench_need(wanted > 0 && wanted == result.ok + result.shed + result.limited + result.other,
                  "an answer has another status");
    *next = result.next + game->matches; /* each match continues with its next tick */
    return (clock_seconds(clock) - before) / (double)wanted * 1e6;
}

/* The share of the peak g that is left at twice the capacity: the processor has time for g ticks of
   cost 1, and 2 - g refusals of cost r. */
static double kept(double refusal_us, double tick_us)
{
    double r = refusal_us / tick_us;
    return r < 0.5 ? (1 - 2 * r) / (1 - r) : 0;
}

int main(void)
{
    static const char *const arguments[] = {"--queue-ms", "0", "--threads", "1", NULL};
    struct hs_game_load ticks = {.matches = 64, .players = 16, .headers = ""};
    struct hs_game_load late = {.matches = 64, .players = 16, .headers = "X-Deadline-Ms: 0\r\n"};
    static struct bare bare;
    struct hs_test_service service;
    double tick[ROUNDS], refusal[ROUNDS], constant[ROUNDS];
    clockid_t clock;
    uint64_t next = 0, unused = 0;
    hs_processor_move_to(0);
    hs_bench_need(hs_test_service_start(&service, arguments) &&
                      clock_getcpuclockid(service.pid, &clock) == 0,
                  "the service did not start");
    start_bare(&bare);
    hs_processor_move_to(1);
    hs_bench_need(hs_game_load_init(&ticks) && hs_game_load_init(&late) &&
                      hs_game_load_open(&ticks, service.data_port),
                  "no matches");
    for (int i = 0; i < ROUNDS; i++) {
        tick[i] = cost_us(&ticks, service.data_port, clock, false, &next);
        refusal[i] = cost_us(&late, service.data_port, clock, true, &unused);
        constant[i] = cost_us(&late, bare.port, bare.clock, true, &unused);
    }
    double tick_us = hs_bench_median(tick, ROUNDS), refusal_us = hs_bench_median(refusal, ROUNDS);
    double bare_us = hs_bench_median(constant, ROUNDS);
    double share = kept(refusal_us, tick_us), bound = kept(bare_us, tick_us);
    hs_bench_print("small_tick_us", tick_us, "us", NULL, 0);
    hs_bench_print("bare_refusal_us", bare_us, "us", NULL, 0);
    hs_bench_print("small_refusal_us", refusal_us, "us", "bare_refusal_us", bare_us / refusal_us);
    hs_bench_print("bare_2x_computed", bound, "1", NULL, 0);
    hs_bench_print("small_2x_computed", share, "1", "bare_2x_computed", share / bound);
    hs_game_load_free(&ticks);
    hs_game_load_free(&late);
    return hs_test_service_stop(&service) ? 0 : 1;
}
