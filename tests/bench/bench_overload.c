/*
 * Measures the service under overload. The service has its own processor. The open-loop load
 * (tests/support/http/open_load.h) runs on another one. If there is only one processor, the figures
 * mean little.
 *
 *   tick_capacity_rps      answered ticks of 16 players with 16 bones each and a claim, per second
 *   tick_peak_goodput_rps  the best of 0.9 and 1 times that rate, answered 200 within 100 ms
 *   tick_2x_goodput_rps    the same at twice the capacity
 *   tick_2x_per_cpu_s      good answers at twice the capacity, per second of the service's
 *                          processor time (not that of other programs); baseline
 *                          tick_peak_per_cpu_s
 *   tick_2x_p99_us         latency of answers 200 at twice the capacity, from the intended time
 *   small_...              the same with ticks of 16 players without bones
 *   tick_2x_load_busy      used share of the load's processor at twice the capacity, with the
 *                          balancer if it runs there; near 1 the load limits the figures
 *   tick_2x_load_late_p99_us  the load's own delay in sending, a part of the latencies
 *   balanced_...           both kinds of ticks through HAProxy with the shipped configuration
 *   health_2x_most_us      slowest /livez of the admin listener at twice the capacity
 *   metrics_2x_most_us     slowest /metrics at twice the capacity
 *   hit_alone_p99_us       claims alone at a quarter of the capacity: the median of the p99s of
 *                          80 quarters of a second
 *   hit_crowded_p99_us     the same together with 10000 idle connections and 200 that send 250
 *                          bytes of a body every 250 ms; both measurements alternate
 *   hit_shared_p99_us      claims of one tenant while another uses its whole share: half of the
 *                          bodies and of the connections, and maps and rulesets one after the
 *                          other over 1 Gbit/s; baseline hit_unshared_p99_us, without that tenant
 *   hit_shared_late_p99_us the load's own delay in sending those claims, a part of that latency
 *   flood_history_bytes    memory of histories after very many new matches were posted
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/greedy.h"
#include "tests/bench/processor.h"
#include "tests/support/bench.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/play/game_load.h"

/*
 * WIDE is a number of connections so large that one is free whenever a request is due. A request
 * waits up to --queue-ms before it is refused, so about rate * 50 ms connections are busy: 4500 at
 * twice a capacity of 45,000/s. With fewer, requests would wait at the sender, unseen by the
 * service.
 */
enum { GOOD_US = 100000, LATE_US = GOOD_US / 10, BUSY = 32, WIDE = 6144, ROUNDS = 3 };
/* The crowd connects and disconnects CROWDS times. Each time, CROWD_QUARTERS quarters of a second
   are measured with the crowd, and as many without it. */
enum { IDLE = 10000, SLOW = 200, SLOW_BYTES = 250, SLOW_NS = 250000000 };
enum { CROWDS = 4, CROWD_QUARTERS = 20 };
enum { HISTORY_BYTES = 64 << 20, MATCH_BYTES = 8 << 20 };
#define SECONDS 3.0

static struct hs_test_service service;
static struct hs_balancer balancer = {.listener = -1, .control = -1, .log = -1};
static unsigned load_port; /* port of the service, or of the balancer in front of it */
static uint64_t next_request;

static const char *const flood_arguments[] = {"--queue-ms", "50", "--max-connections", "12000",
                                              NULL};

static bool start(const char *const *arguments)
{
    hs_processor_move_to(0);
    bool fine = hs_test_service_start(&service, arguments);
    hs_processor_move_to(1);
    load_port = service.data_port;
    next_request = 0;
    return fine;
}

/* ---- loads ---- */

static bool load(struct hs_game_load *game, double rate, double seconds, unsigned connections,
                 struct hs_open_load_result *result)
{
    struct hs_open_load_options options = {.port = load_port,
                                           .rate = rate,
                                           .seconds = seconds,
                                           .connections = connections,
                                           .good_us = GOOD_US,
                                           .fill = hs_game_load_fill,
                                           .context = game,
                                           .first = next_request};
    bool fine = hs_open_load_run(&options, result);
    next_request = result->next + game->matches; /* each match continues with its next tick */
    return fine;
}

static double capacity(struct hs_game_load *game)
{
    struct hs_open_load_result result;
    return load(game, 0, SECONDS, BUSY, &result) ? (double)result.ok / SECONDS : 0;
}

/* ---- answers to operators ---- */

struct probe {
    pthread_t thread;
    atomic_bool ends;
    double livez_us, metrics_us; /* slowest answers */
    unsigned failures;
};

static double ask_us(const char *path, unsigned *failures)
{
    static _Thread_local char rest[1 << 20];
    char request[128];
    int size = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    int64_t began_ns = hs_bench_now_ns();
    int fd = hs_raw_connect(service.admin_port);
    bool fine = fd >= 0 && hs_raw_send(fd, request, (size_t)size) &&
                hs_raw_drain(fd, rest, sizeof rest) && strncmp(rest, "HTTP/1.1 200 ", 13) == 0;
    if (fd >= 0)
        close(fd);
    *failures += fine ? 0 : 1;
    return (double)(hs_bench_now_ns() - began_ns) / 1e3;
}

/* Requests /livez ten times a second, and /metrics twice, which is a small load. */
static void *probe(void *context)
{
    struct probe *probe = context;
    for (unsigned i = 0; !atomic_load(&probe->ends); i++) {
        double livez_us = ask_us("/livez", &probe->failures);
        double metrics_us = i % 5 == 0 ? ask_us("/metrics", &probe->failures) : 0;
        probe->livez_us = livez_us > probe->livez_us ? livez_us : probe->livez_us;
        probe->metrics_us = metrics_us > probe->metrics_us ? metrics_us : probe->metrics_us;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return NULL;
}

static double metric(const char *series)
{
    return hs_metric_or_minus(&service, series);
}

/* ---- twice the capacity ---- */

struct flood {
    double capacity, peak, twice, twice_p99_us;
    double peak_per_cpu, twice_per_cpu; /* good answers per second of processor time */
    /* used share of the processor on which the load runs, and the balancer if it runs there too */
    double load_busy;
    /* share of the time in which the load and the balancer waited for that processor */
    double load_waited;
    double service_waited, late_us;
    uint64_t lost;   /* requests that were sent and got neither 200 nor 503 */
    uint64_t unsent; /* requests for which no connection was free in time */
};

/* Processor time that the load, the balancer and the service used, and for how long they waited. */
struct usage {
    double seconds, load, balancer, service, load_waited, balancer_waited, service_waited;
};

static struct usage usage_now(void)
{
    return (struct usage){.seconds = (double)hs_bench_now_ns() * 1e-9,
                          .load = hs_processor_time(getpid()),
                          .balancer = balancer.pid > 0 ? hs_processor_time(balancer.pid) : 0,
                          .service = hs_processor_time(service.pid),
                          .load_waited = hs_processor_waited(getpid()),
                          .balancer_waited =
                              balancer.pid > 0 ? hs_processor_waited(balancer.pid) : 0,
                          .service_waited = hs_processor_waited(service.pid)};
}

/* Keeps the largest shares of all rounds. */
static void add_usage(const struct usage *began, struct flood *out)
{
    struct usage now = usage_now();
    double seconds = now.seconds - began->seconds;
    double load = (now.load - began->load) / seconds;
    double balanced = (now.balancer - began->balancer) / seconds;
    double busy = hs_processor_count() > 2 ? fmax(load, balanced) : load + balanced;
    double waited =
        fmax(now.load_waited - began->load_waited, now.balancer_waited - began->balancer_waited);
    out->load_busy = fmax(out->load_busy, busy);
    out->load_waited = fmax(out->load_waited, waited / seconds);
    /* Threads of the service also wait for one another. */
    double service_waited = fmin((now.service_waited - began->service_waited) / seconds,
                                 1 - (now.service - began->service) / seconds);
    out->service_waited = fmax(out->service_waited, service_waited);
}

/* The measurements take turns. The results are medians. */
static bool flood(struct hs_game_load *game, struct flood *out)
{
    static const double parts[] = {0.9, 1.0};
    double capacities[ROUNDS], peaks[ROUNDS], twices[ROUNDS], p99s[ROUNDS];
    double peaks_per_cpu[ROUNDS], twices_per_cpu[ROUNDS];
    struct hs_open_load_result result;
    *out = (struct flood){0};
    for (int i = 0; i < ROUNDS; i++) {
        double began = hs_processor_time(service.pid);
        capacities[i] = capacity(game);
        peaks_per_cpu[i] = capacities[i] * SECONDS / (hs_processor_time(service.pid) - began);
        if (capacities[i] <= 0)
            return false;
        peaks[i] = 0;
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            if (!load(game, parts[p] * capacities[i], SECONDS, WIDE, &result))
                return false;
            peaks[i] = result.goodput > peaks[i] ? result.goodput : peaks[i];
        }
        began = hs_processor_time(service.pid);
        struct usage usage = usage_now();
        if (!load(game, 2 * capacities[i], SECONDS, WIDE, &result))
            return false;
        add_usage(&usage, out);
        twices_per_cpu[i] = (double)result.good / (hs_processor_time(service.pid) - began);
        twices[i] = result.goodput;
        p99s[i] = result.p99_us;
        out->late_us = fmax(out->late_us, result.late_p99_us);
        out->lost += result.other;
        out->unsent += result.unsent;
    }
    out->capacity = hs_bench_median(capacities, ROUNDS);
    out->peak = hs_bench_median(peaks, ROUNDS);
    out->twice = hs_bench_median(twices, ROUNDS);
    out->peak_per_cpu = hs_bench_median(peaks_per_cpu, ROUNDS);
    out->twice_per_cpu = hs_bench_median(twices_per_cpu, ROUNDS);
    out->twice_p99_us = hs_bench_median(p99s, ROUNDS);
    return true;
}

/* Above these shares, the figures are about the load or other programs. */
#define FULL   0.9
#define WAITED 0.05

static bool balancer_shares(void)
{
    return balancer.pid > 0 && hs_processor_count() <= 2;
}

/* Checks that every request was answered. Warns if the figures are not about the service. */
static bool is_sound(const char *kind, const struct flood *flood)
{
    if (flood->unsent > 0)
        fprintf(stderr, "%s: %llu requests found all %d connections busy: not an open loop\n", kind,
                (unsigned long long)flood->unsent, WIDE);
    if (flood->load_busy > FULL || flood->load_waited > WAITED || flood->late_us > LATE_US)
        fprintf(stderr,
                "%s: the load was late, not the service: p99 %.1f ms; the processor of the load%s "
                "was used for %.0f %%, and they waited for it for %.0f %% of the time\n",
                kind, flood->late_us / 1e3, balancer_shares() ? " and of the balancer" : "",
                100 * flood->load_busy, 100 * flood->load_waited);
    if (flood->service_waited > WAITED && !balancer_shares())
        fprintf(stderr, "%s: other programs held the service's processor for %.0f %% of the time\n",
                kind, 100 * flood->service_waited);
    if (flood->lost > 0)
        fprintf(stderr, "%s: %llu requests were answered neither 200 nor 503\n", kind,
                (unsigned long long)flood->lost);
    return flood->lost == 0;
}

static void print_one(const char *kind, const char *what, double value, const char *unit,
                      double whole)
{
    char name[64], baseline[64];
    snprintf(name, sizeof name, "%s_2x_%s", kind, what);
    snprintf(baseline, sizeof baseline, "%s_peak_%s", kind, what);
    hs_bench_print(baseline, whole, unit, NULL, 0);
    hs_bench_print(name, value, unit, baseline, value / whole);
}

static void print_flood(const char *kind, const struct flood *flood)
{
    char name[64];
    snprintf(name, sizeof name, "%s_capacity_rps", kind);
    hs_bench_print(name, flood->capacity, "1/s", NULL, 0);
    print_one(kind, "goodput_rps", flood->twice, "1/s", flood->peak);
    print_one(kind, "per_cpu_s", flood->twice_per_cpu, "1/s", flood->peak_per_cpu);
    snprintf(name, sizeof name, "%s_2x_p99_us", kind);
    hs_bench_print(name, flood->twice_p99_us, "us", NULL, 0);
    snprintf(name, sizeof name, "%s_2x_load_busy", kind);
    hs_bench_print(name, flood->load_busy, "1", NULL, 0);
    snprintf(name, sizeof name, "%s_2x_load_late_p99_us", kind);
    hs_bench_print(name, flood->late_us, "us", NULL, 0);
}

static bool is_played(void)
{
    double stored = metric("hindsight_frames_total{result=\"stored\"}");
    double bad = metric("hindsight_frames_total{result=\"bad_bones\"}");
    double accepted = metric("hindsight_verdicts_total{kind=\"hit\",verdict=\"accepted\","
                             "reason=\"ok\",mode=\"enforce\"}");
    bool fine = stored > 0 && bad <= 0 && accepted > 0;
    if (!fine)
        fprintf(stderr, "overload: %.0f samples stored, %.0f refused, %.0f claims accepted\n",
                stored, bad, accepted);
    return fine;
}

static bool measure_floods(void)
{
    struct hs_game_load big = {.matches = 64, .players = 16, .bones = 16, .headers = ""};
    struct hs_game_load small = {.matches = 64, .players = 16, .headers = ""};
    struct flood of_big, of_small;
    struct probe operators = {0};
    if (!hs_game_load_init(&big) || !hs_game_load_init(&small) || !start(flood_arguments))
        return false;
    bool fine = hs_game_load_open(&big, service.data_port) &&
                pthread_create(&operators.thread, NULL, probe, &operators) == 0;
    if (fine) {
        fine = flood(&big, &of_big) && flood(&small, &of_small) && is_played();
        atomic_store(&operators.ends, true);
        pthread_join(operators.thread, NULL);
    }
    hs_game_load_free(&big);
    hs_game_load_free(&small);
    if (!hs_test_service_stop(&service) || !fine || operators.failures > 0)
        return false;
    if (!is_sound("tick", &of_big) || !is_sound("small", &of_small))
        return false;
    print_flood("tick", &of_big);
    print_flood("small", &of_small);
    hs_bench_print("health_2x_most_us", operators.livez_us, "us", NULL, 0);
    hs_bench_print("metrics_2x_most_us", operators.metrics_us, "us", NULL, 0);
    return true;
}

/*
 * Measures the floods through the balancer with the shipped configuration, which refuses requests
 * that wait too long for a place in front of the service. With three processors the balancer has
 * one of its own. With fewer it shares the load's processor. Then it needs more time for a request
 * than the service does, so brakes (processor.h) leave the service a quarter of its processor.
 */
static bool measure_balanced(void)
{
    struct hs_game_load big = {.matches = 64, .players = 16, .bones = 16, .headers = ""};
    struct hs_game_load small = {.matches = 64, .players = 16, .headers = ""};
    struct flood of_big, of_small;
    if (hs_balancer_program() == NULL) {
        fprintf(stderr, "overload: haproxy is not installed, nothing is measured through it\n");
        return true;
    }
    if (!hs_game_load_init(&big) || !hs_game_load_init(&small) || !start(flood_arguments))
        return false;
    const struct hs_balancer_server server = {.id = 1, .port = service.data_port};
    hs_processor_move_to(hs_processor_count() > 2 ? 2 : 1);
    bool fine =
        hs_game_load_open(&big, service.data_port) && hs_balancer_start(&balancer, &server, 1);
    hs_processor_move_to(1);
    pid_t brakes[HS_PROCESSOR_BRAKES] = {0};
    if (fine && balancer_shares())
        fine = hs_processor_brakes_start(0, brakes);
    if (fine) {
        load_port = balancer.port;
        fine = flood(&big, &of_big) && flood(&small, &of_small) && is_played();
        fine = fine && is_sound("balanced_tick", &of_big) && is_sound("balanced_small", &of_small);
    }
    hs_processor_brakes_end(brakes);
    hs_balancer_stop(&balancer);
    hs_game_load_free(&big);
    hs_game_load_free(&small);
    if (!hs_test_service_stop(&service) || !fine)
        return false;
    print_flood("balanced_tick", &of_big);
    print_flood("balanced_small", &of_small);
    return true;
}

/* ---- a crowd of idle and slow connections ---- */

struct crowd {
    pthread_t thread;
    atomic_bool ends;
    int idle[IDLE], slow[SLOW];
};

/* Sends the slowest body that is allowed: 250 bytes every 250 ms, complete in time. */
static void *trickle(void *context)
{
    struct crowd *crowd = context;
    char spaces[SLOW_BYTES];
    memset(spaces, ' ', sizeof spaces);
    while (!atomic_load(&crowd->ends)) {
        for (int i = 0; i < SLOW && !atomic_load(&crowd->ends); i++) {
            hs_raw_send(crowd->slow[i], spaces, sizeof spaces);
            nanosleep(&(struct timespec){.tv_nsec = SLOW_NS / SLOW}, NULL);
        }
    }
    return NULL;
}

static bool gather(struct crowd *crowd)
{
    static const char header[] = "POST /v1/matches/slow/hits HTTP/1.1\r\nHost: x\r\n"
                                 "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n";
    bool fine = true;
    for (int i = 0; i < IDLE; i++) {
        crowd->idle[i] = hs_raw_connect(service.data_port);
        fine = fine && crowd->idle[i] >= 0;
    }
    for (int i = 0; i < SLOW; i++) {
        crowd->slow[i] = hs_raw_connect(service.data_port);
        fine =
            fine && crowd->slow[i] >= 0 && hs_raw_send(crowd->slow[i], header, sizeof header - 1);
    }
    fine = pthread_create(&crowd->thread, NULL, trickle, crowd) == 0 && fine;
    /* Wait until all are connected, because their presence is measured, not their arrival. */
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    return fine;
}

static void disperse(struct crowd *crowd)
{
    atomic_store(&crowd->ends, true);
    pthread_join(crowd->thread, NULL);
    for (int i = 0; i < IDLE; i++)
        close(crowd->idle[i]);
    for (int i = 0; i < SLOW; i++)
        close(crowd->slow[i]);
    /* until the service has closed them */
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}

/*
 * Measures the p99 of several quarters of a second. In each quarter the service scans all its
 * connections, which it does every 200 ms. A virtual machine is itself stopped for 5 to 15 ms at
 * times, here for 0.2 to 0.8 % of the time. So a single p99 of all requests would be that of the
 * machine. Stores the p99 of the load's own delay in `late_us`.
 */
static bool p99_of_each_quarter(struct hs_game_load *claims, double rate, double *p99s_us,
                                double *late_us)
{
    struct hs_open_load_result result;
    bool fine = true;
    for (int i = 0; fine && i < CROWD_QUARTERS; i++) {
        fine = load(claims, rate, 0.25, 64, &result);
        p99s_us[i] = result.p99_us;
        late_us[i] = result.late_p99_us;
    }
    return fine;
}

static bool measure_crowd(void)
{
    static const char *const arguments[] = {
        "--queue-ms", "50", "--request-seconds", "120", "--max-connections", "12000", NULL};
    struct hs_game_load claims = {.matches = 64, .headers = "", .ticks = 6};
    struct hs_game_load ticks = {.matches = 64, .players = 16, .headers = ""};
    struct hs_open_load_result result;
    double alone[CROWDS * CROWD_QUARTERS], crowded[CROWDS * CROWD_QUARTERS];
    double late[CROWD_QUARTERS];
    struct crowd *crowd = calloc(1, sizeof *crowd);
    if (crowd == NULL || !hs_game_load_init(&claims) || !hs_game_load_init(&ticks) ||
        !start(arguments))
        return false;
    /* Posts 7 ticks of each match, because the claims need history. */
    bool fine = load(&ticks, 500, 1, 16, &result) && result.unsent == 0;
    double rate = capacity(&claims) / 4;
    for (int i = 0; fine && i < CROWDS; i++) {
        fine = p99_of_each_quarter(&claims, rate, alone + (ptrdiff_t)i * CROWD_QUARTERS, late);
        *crowd = (struct crowd){0};
        fine = fine && gather(crowd) &&
               p99_of_each_quarter(&claims, rate, crowded + (ptrdiff_t)i * CROWD_QUARTERS, late);
        if (fine && metric("hindsight_http_connections{listener=\"data\"}") < IDLE + SLOW) {
            fprintf(stderr, "overload: some clients of the crowd are not connected\n");
            fine = false;
        }
        disperse(crowd);
    }
    fine = fine && is_played();
    free(crowd);
    hs_game_load_free(&claims);
    hs_game_load_free(&ticks);
    if (!hs_test_service_stop(&service) || !fine)
        return false;
    double quiet = hs_bench_median(alone, CROWDS * CROWD_QUARTERS);
    double loud = hs_bench_median(crowded, CROWDS * CROWD_QUARTERS);
    hs_bench_print("hit_alone_p99_us", quiet, "us", NULL, 0);
    hs_bench_print("hit_crowded_p99_us", loud, "us", "hit_alone_p99_us", quiet / loud);
    return true;
}

/* ---- one tenant uses its whole share ---- */

static struct hs_test_token tenants[] = {
    {.tenant = "quiet", .kid = "q", .scopes = "\"admin\"", .secret_seed = 1},
    {.tenant = "greedy", .kid = "g", .scopes = "\"admin\"", .secret_seed = 2},
};

static bool measure_shares(void)
{
    char tokens[] = "/tmp/hindsight_bench_XXXXXX", header[80 + HS_TOKEN_MAX];
    int fd = mkstemp(tokens);
    if (fd < 0)
        return false;
    close(fd);
    hs_test_tokens_write(tokens, tenants, 2);
    snprintf(header, sizeof header, "%s\r\n", tenants[0].header);
    const char *const arguments[] = {"--queue-ms", "50", "--request-seconds", "120", "--token-file",
                                     tokens,       NULL};
    struct hs_game_load claims = {.matches = 64, .headers = header, .ticks = 6};
    struct hs_game_load ticks = {.matches = 64, .players = 16, .headers = header};
    struct hs_open_load_result result;
    double alone[CROWDS * CROWD_QUARTERS], shared[CROWDS * CROWD_QUARTERS];
    double late[CROWDS * CROWD_QUARTERS];
    static struct hs_greedy greedy;
    if (!hs_game_load_init(&claims) || !hs_game_load_init(&ticks) || !start(arguments))
        return false;
    bool fine = load(&ticks, 500, 1, 16, &result) && result.unsent == 0;
    double rate = capacity(&claims) / 4;
    for (int i = 0; fine && i < CROWDS; i++) {
        ptrdiff_t first = (ptrdiff_t)i * CROWD_QUARTERS;
        fine = p99_of_each_quarter(&claims, rate, alone + first, late + first);
        greedy = (struct hs_greedy){.port = service.data_port, .authorization = tenants[1].header};
        fine = fine && hs_greedy_hold_all(&greedy) &&
               p99_of_each_quarter(&claims, rate, shared + first, late + first);
        hs_greedy_let_go(&greedy);
        if (greedy.built == 0) {
            fprintf(stderr, "overload: the greedy tenant built nothing\n");
            fine = false;
        }
    }
    fine = fine && is_played();
    hs_game_load_free(&claims);
    hs_game_load_free(&ticks);
    unlink(tokens);
    if (!hs_test_service_stop(&service) || !fine)
        return false;
    double quiet = hs_bench_median(alone, CROWDS * CROWD_QUARTERS);
    double loud = hs_bench_median(shared, CROWDS * CROWD_QUARTERS);
    hs_bench_print("hit_unshared_p99_us", quiet, "us", NULL, 0);
    hs_bench_print("hit_shared_late_p99_us", hs_bench_median(late, CROWDS * CROWD_QUARTERS), "us",
                   NULL, 0);
    hs_bench_print("hit_shared_p99_us", loud, "us", "hit_unshared_p99_us", quiet / loud);
    return true;
}

/* ---- unlimited new matches ---- */

static bool measure_memory(void)
{
    char history[16], match[16];
    snprintf(history, sizeof history, "%d", HISTORY_BYTES);
    snprintf(match, sizeof match, "%d", MATCH_BYTES);
    const char *const arguments[] = {
        "--queue-ms", "50", "--history-bytes", history, "--match-bytes", match, "--max-matches",
        "100000",     NULL};
    /* Opens many more matches than fit, and posts to each one as long as the service allows it. */
    struct hs_game_load game = {.matches = 3000, .players = 16, .bones = 2, .headers = ""};
    struct hs_open_load_result result;
    if (!hs_game_load_init(&game) || !start(arguments))
        return false;
    double before = metric("process_resident_memory_bytes");
    bool fine = load(&game, 0, 6 * SECONDS, 64, &result);
    double bytes = metric("hindsight_history_bytes");
    double resident = metric("process_resident_memory_bytes") - before;
    double refused = metric("hindsight_requests_shed_total{reason=\"history\"}");
    hs_game_load_free(&game);
    if (!hs_test_service_stop(&service) || !fine || refused <= 0 || bytes > HISTORY_BYTES)
        return false;
    hs_bench_print("history_bytes_limit", HISTORY_BYTES, "B", NULL, 0);
    hs_bench_print("flood_history_bytes", bytes, "B", "history_bytes_limit", HISTORY_BYTES / bytes);
    hs_bench_print("flood_resident_bytes", resident, "B", "history_bytes_limit",
                   HISTORY_BYTES / resident);
    return true;
}

/* An argument selects one part: floods, balanced, crowd, shares or memory. */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*measure)(void);
    } parts[] = {{"floods", measure_floods},
                 {"balanced", measure_balanced},
                 {"crowd", measure_crowd},
                 {"shares", measure_shares},
                 {"memory", measure_memory}};
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    bool fine = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
            fine = fine && parts[i].measure();
    return fine ? 0 : 1;
}
