/*
 * Several kinds of hostile tenants run at once for some time. They send maps, rulesets, and bodies,
 * fast or slowly, and do not read answers. The memory of the process stays below the sum of its
 * limits in docs/deploy.md plus 64 MiB. Then honest matches are played one after the other, and the
 * process does not grow. HS_SOAK_SECONDS sets the duration of each part (6).
 */
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/open_load.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/play/match_ticks.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* The limits, and the options that set them. */
#define HISTORY 16777216
#define MATCH   8388608
#define MAPS    100663296
#define RULES   16777216
#define BODIES  16777216
#define BODY    262144
enum { CONNECTIONS = 300, ADMIN_CONNECTIONS = 256, THREADS = 2, ADMIN_THREADS = 1, BUILDERS = 2 };
#define TEXT_OF(number) TEXT(number)
#define TEXT(number)    #number

static const char *const bounds[] = {"--token-file",
                                     NULL,
                                     "--history-bytes",
                                     TEXT_OF(HISTORY),
                                     "--match-bytes",
                                     TEXT_OF(MATCH),
                                     "--map-bytes",
                                     TEXT_OF(MAPS),
                                     "--ruleset-bytes",
                                     TEXT_OF(RULES),
                                     "--inflight-body-bytes",
                                     TEXT_OF(BODIES),
                                     "--body-bytes",
                                     TEXT_OF(BODY),
                                     "--threads",
                                     "2",
                                     "--max-connections",
                                     "300",
                                     "--max-rulesets",
                                     "4096",
                                     "--max-matches",
                                     "100000",
                                     NULL};

/* The sum in docs/deploy.md, "Memory bounds". */
static size_t sum_of_bounds(void)
{
    size_t tree = 40 * (size_t)BODY;
    size_t connection = 64 * KIB;
    return (size_t)HISTORY + MAPS + RULES + BODIES + (THREADS + ADMIN_THREADS + BUILDERS) * tree +
           (CONNECTIONS + ADMIN_CONNECTIONS) * connection;
}

enum { TENANTS = 6 };

static struct hs_test_token tokens[TENANTS];
static char names[TENANTS][16];
static char token_file[] = "/tmp/hindsight_soak_XXXXXX";
static struct hs_test_service service;
static atomic_bool ends;
static atomic_uint answered[6]; /* number of answers by status / 100; [0]: no answer */

/* ---- requests ---- */

static void send_request(int fd, unsigned who, const char *method, const char *path,
                         const char *body, size_t length, size_t sent)
{
    char header[512];
    int size = snprintf(header, sizeof header,
                        "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        method, path, tokens[who].header, length);
    if (hs_raw_send(fd, header, (size_t)size))
        hs_raw_send(fd, body, sent);
}

static int ask(unsigned who, const char *method, const char *path, const char *body, size_t length)
{
    static _Thread_local struct hs_raw_answer answer;
    int fd = hs_raw_connect(service.data_port);
    if (fd < 0)
        return 0;
    send_request(fd, who, method, path, body, length, length);
    hs_raw_read(fd, false, &answer);
    close(fd);
    atomic_fetch_add(&answered[answer.status / 100], 1);
    return answer.status;
}

/* ---- hostile tenants ---- */

static struct hs_random own_random(unsigned who)
{
    return hs_random_start(hs_test_seed(20261121), who);
}

/* Puts maps of 200 KB to 12 MB, with triangles of 8 bytes each, and opens matches that use them. */
static void put_maps(unsigned who)
{
    struct hs_random random = own_random(who);
    static const char head[] = "{\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,2]";
    char *body = malloc(12 * MIB), path[64], opening[64];
    for (unsigned i = 0; body != NULL && !atomic_load(&ends); i++) {
        size_t size = 200 * KIB + (size_t)hs_random_index(&random, 11 << 20), at = sizeof head - 1;
        memcpy(body, head, at);
        for (; at + 10 < size; at += 8)
            memcpy(body + at, ",[0,1,2]", 8);
        memcpy(body + at, "]}", 2);
        snprintf(path, sizeof path, "/v1/maps/m%u-%u", who, i % 8);
        if (ask(who, "PUT", path, body, at + 2) / 100 != 2)
            ask(who, "DELETE", path, "", 0);
        snprintf(opening, sizeof opening, "{\"map\":\"m%u-%u\"}", who, i % 8);
        snprintf(path, sizeof path, "/v1/matches/map%u-%u", who, i % 4);
        ask(who, i % 3 == 0 ? "DELETE" : "PUT", path, opening, i % 3 == 0 ? 0 : strlen(opening));
    }
    free(body);
}

/* Puts revisions of a ruleset with 16 rigs, and opens a match with each of them. */
static void put_rulesets(unsigned who)
{
    char *body = malloc(64 * KIB), path[64], opening[64];
    for (unsigned i = 0; body != NULL && !atomic_load(&ends); i++) {
        int at =
            snprintf(body, 64 * KIB, "{\"zones\":{\"body\":1},\"default_rig\":\"r0\",\"rigs\":{");
        for (unsigned r = 0; r < 16; r++)
            at += snprintf(
                body + at, 64 * KIB - (size_t)at,
                "%s\"r%u\":{\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":\"root\",\"zone\":"
                "\"body\",\"shape\":\"sphere\",\"radius\":%u}],\"stances\":{\"stand\":{"
                "\"eye\":[0,0,1],\"bones\":[[0,0,1,0,0,0,1]]}}}",
                r == 0 ? "" : ",", r, 1 + i % 97 * 16 + r);
        at += snprintf(body + at, 64 * KIB - (size_t)at, "}}");
        snprintf(path, sizeof path, "/v1/rulesets/r%u", who);
        ask(who, "PUT", path, body, (size_t)at);
        snprintf(path, sizeof path, "/v1/matches/rules%u-%u", who, i % 300);
        snprintf(opening, sizeof opening, "{\"ruleset\":\"r%u\"}", who);
        ask(who, "PUT", path, opening, strlen(opening));
        if (i % 2 == 0)
            ask(who, "GET", "/v1/rulesets", "", 0);
    }
    free(body);
}

/* Sends complete bodies with the largest possible JSON tree, and frames that are stored. */
static void post_bodies(unsigned who)
{
    static const char *const elements[] = {"{\"end\":[0,0,0]}", "[0,0,0]", "[1]", "0"};
    char *body = malloc(BODY), path[64];
    for (unsigned i = 0; body != NULL && !atomic_load(&ends); i++) {
        size_t at = (size_t)snprintf(body, BODY, "{\"frames\":["), len = strlen(elements[i % 4]);
        for (bool first = true; at + len + 8 < BODY; first = false) {
            if (!first)
                body[at++] = ',';
            memcpy(body + at, elements[i % 4], len);
            at += len;
        }
        at += (size_t)snprintf(body + at, 4, "]}");
        ask(who, "POST", "/v1/matches/bodies/frames", body, at);
        at = (size_t)snprintf(body, BODY, "{\"frames\":[{\"time\":%u,\"players\":[", i);
        for (unsigned p = 0; p < 200; p++)
            at += (size_t)snprintf(body + at, BODY - at,
                                   "%s{\"player\":\"p%u-%u\",\"position\":[0,0,0]}",
                                   p == 0 ? "" : ",", i % 50, p);
        at += (size_t)snprintf(body + at, BODY - at, "]}]}");
        snprintf(path, sizeof path, "/v1/matches/f%u-%u/frames", who, i % 100);
        ask(who, "POST", path, body, at);
    }
    free(body);
}

/* Sends half of a body and never the rest. Also requests lists and does not read the answers. */
static void hold_bodies(unsigned who)
{
    enum { HELD = 48 };
    int fds[HELD];
    char *body = calloc(1, BODY);
    memset(fds, -1, sizeof fds);
    for (unsigned i = 0; body != NULL && !atomic_load(&ends); i++) {
        int *fd = &fds[i % HELD];
        if (*fd >= 0)
            close(*fd);
        *fd = hs_raw_connect(service.data_port);
        if (*fd < 0)
            continue;
        if (i % 3 == 0)
            send_request(*fd, who, "PUT", "/v1/maps/held", body, 5 * MIB, BODY / 2);
        else if (i % 3 == 1)
            send_request(*fd, who, "POST", "/v1/matches/held/frames", body, BODY, BODY / 2);
        else
            send_request(*fd, who, "GET", "/v1/matches", "", 0, 0);
        hs_test_pause_ms(5);
    }
    for (size_t i = 0; i < HELD; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(body);
}

struct hostile {
    pthread_t thread;
    unsigned who;
    void (*act)(unsigned who);
};

static void *act(void *context)
{
    const struct hostile *hostile = context;
    hostile->act(hostile->who);
    return NULL;
}

/* ---- the sum ---- */

static size_t resident(void)
{
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)service.pid);
    FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static double wanted_seconds(void)
{
    const char *wanted = getenv("HS_SOAK_SECONDS");
    return wanted != NULL ? strtod(wanted, NULL) : 6;
}

static void start(void)
{
    const char *arguments[sizeof bounds / sizeof bounds[0]];
    memcpy(arguments, bounds, sizeof bounds);
    arguments[1] = token_file;
    ck_assert(hs_test_service_start(&service, arguments));
}

static void assert_below(const char *name)
{
    char limit[64];
    snprintf(limit, sizeof limit, "%s_limit", name);
    ck_assert_msg(hs_metric(&service, name) <= hs_metric(&service, limit), "%s is passed", name);
}

/* A sanitizer needs memory of its own and does not release freed memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

START_TEST(memory_keeps_to_the_sum_of_its_bounds)
{
    struct hostile hostiles[] = {
        {.who = 0, .act = put_maps},     {.who = 1, .act = put_maps},
        {.who = 2, .act = put_rulesets}, {.who = 3, .act = put_rulesets},
        {.who = 4, .act = post_bodies},  {.who = 5, .act = post_bodies},
        {.who = 0, .act = hold_bodies},  {.who = 3, .act = hold_bodies},
    };
    enum { HOSTILES = sizeof hostiles / sizeof hostiles[0] };
    double seconds = wanted_seconds();
    size_t most = 0, limit = sum_of_bounds() + 64 * MIB;
    start();
    size_t idle = resident();
    for (size_t i = 0; i < HOSTILES; i++)
        ck_assert_int_eq(pthread_create(&hostiles[i].thread, NULL, act, &hostiles[i]), 0);
    for (double begun = hs_test_seconds(); hs_test_seconds() - begun < seconds;) {
        size_t now = resident();
        most = now > most ? now : most;
        hs_test_pause_ms(10);
    }
    printf("soak: %zu MiB at the start, %zu at the most, %zu allowed; answers 2xx %u, 4xx %u, "
           "5xx %u, none %u\n",
           idle / MIB, most / MIB, limit / MIB, answered[2], answered[4], answered[5], answered[0]);
    fflush(stdout);
#ifndef SANITIZED
    ck_assert_msg(most <= limit, "%zu MiB, %zu are allowed", most / MIB, limit / MIB);
#endif
    assert_below("hindsight_map_bytes");
    assert_below("hindsight_ruleset_bytes");
    assert_below("hindsight_history_bytes");
    atomic_store(&ends, true);
    for (size_t i = 0; i < HOSTILES; i++)
        pthread_join(hostiles[i].thread, NULL);
    ck_assert_uint_gt(answered[2], 0);
    ck_assert_uint_gt(answered[5], 0);
    for (int tries = 0; tries < 500 && ask(0, "PUT", "/v1/matches/after", "{}", 2) / 100 != 2;)
        tries++;
    ck_assert(hs_test_service_stop(&service));
}
END_TEST

/* ---- honest matches, one after the other ---- */

/* GROWTH is the allowed growth between the halves of the run. Threads and checkpoints allocate up
   to 5 MiB once, at a late time. Half of a run has about 150 matches, and each needs more than 1
   MiB, so a leak of matches would be larger. */
enum { MATCHES = 8, PLAYERS = 16, BONES = 16, TICKS = 150, FEWEST = 6, GROWTH = 8 << 20 };

struct rounds {
    const struct hs_match_ticks *match;
    unsigned round;
};

static size_t fill_tick(void *context, uint64_t number, char out[HS_OPEN_LOAD_REQUEST_MAX])
{
    const struct rounds *rounds = context;
    const struct hs_match_ticks *match = rounds->match;
    size_t tick = (size_t)(number / MATCHES);
    int head = snprintf(out, 512,
                        "POST /v1/matches/r%u-%u/ticks HTTP/1.1\r\nHost: x\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                        rounds->round, (unsigned)(number % MATCHES), match->sizes[tick]);
    memcpy(out + head, match->bodies[tick], match->sizes[tick]);
    return (size_t)head + match->sizes[tick];
}

/* Opens matches, plays them to the end and deletes them. */
static void play_round(struct rounds *rounds)
{
    struct hs_open_load_result result;
    struct hs_open_load_options options = {.port = service.data_port,
                                           .seconds = 600,
                                           .connections = MATCHES,
                                           .good_us = 1000000,
                                           .fill = fill_tick,
                                           .context = rounds,
                                           .most = MATCHES * TICKS,
                                           .is_in_order = true};
    char text[64], request[128];
    snprintf(text, sizeof text, "r%u-", rounds->round);
    ck_assert(hs_match_ticks_open(rounds->match, service.data_port, text, MATCHES));
    ck_assert(hs_open_load_run(&options, &result));
    ck_assert_uint_eq(result.ok, options.most);
    for (unsigned i = 0; i < MATCHES; i++) {
        snprintf(request, sizeof request,
                 "DELETE /v1/matches/r%u-%u HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                 rounds->round, i);
        ck_assert_int_eq(hs_raw_status(service.data_port, request), 200);
    }
    rounds->round++;
}

START_TEST(matches_leave_no_memory_behind)
{
    static const char *const arguments[] = {"--threads", "2", NULL};
    struct hs_match_ticks match = {.players = PLAYERS, .bones = BONES, .ticks = TICKS};
    struct rounds rounds = {.match = &match};
    double seconds = wanted_seconds(), begun = hs_test_seconds();
    size_t halves[2] = {0};
    ck_assert(hs_match_ticks_make(&match));
    /* The allocator gives freed memory back at once, so the size of the process is what is in use.
     */
    ck_assert_int_eq(setenv("MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0", 1), 0);
    ck_assert(hs_test_service_start(&service, arguments));
    ck_assert_int_eq(unsetenv("MALLOC_CONF"), 0);
    for (double passed = 0; passed < seconds || rounds.round < FEWEST;
         passed = hs_test_seconds() - begun) {
        size_t *half = &halves[passed >= seconds / 2 && rounds.round >= FEWEST / 2];
        play_round(&rounds);
        size_t now = resident();
        *half = now > *half ? now : *half;
    }
    printf("soak: %u rounds of %d matches; %zu KiB at the most in the first half, %zu in the "
           "second\n",
           rounds.round, MATCHES, halves[0] / KIB, halves[1] / KIB);
    fflush(stdout);
    ck_assert(hs_metric(&service, "hindsight_matches_active") == 0);
    ck_assert(hs_metric(&service, "hindsight_history_bytes") == 0);
#ifndef SANITIZED
    ck_assert_msg(halves[1] <= halves[0] + GROWTH, "the process grew by %zu KiB",
                  (halves[1] - halves[0]) / KIB);
#endif
    hs_match_ticks_free(&match);
    ck_assert(hs_test_service_stop(&service));
}
END_TEST

int main(void)
{
    int fd = mkstemp(token_file);
    if (fd < 0)
        return 1;
    close(fd);
    for (unsigned i = 0; i < TENANTS; i++) {
        snprintf(names[i], sizeof names[i], "tenant%u", i);
        tokens[i] = (struct hs_test_token){
            .tenant = names[i], .kid = names[i], .scopes = "\"admin\"", .secret_seed = i};
    }
    hs_test_tokens_write(token_file, tokens, TENANTS);
    Suite *suite = suite_create("soak");
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, memory_keeps_to_the_sum_of_its_bounds);
    suite_add_tcase(suite, tests);
    TCase *growth = tcase_create("growth");
    tcase_set_timeout(growth, 0);
    tcase_add_test(growth, matches_leave_no_memory_behind);
    suite_add_tcase(suite, growth);
    int failed = hs_run_suite(suite);
    unlink(token_file);
    return failed == 0 ? 0 : 1;
}
