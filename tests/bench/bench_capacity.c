/*
 * How many matches one processor serves. Every match posts a tick 60 times per second, with the
 * pose and the move of every player. Each player fires and claims a hit every 4 s. The service has
 * its own processor and one thread, and gets as many matches as use 80 % of its capacity. Each
 * match has its own connection.
 *
 * P is the number of players, or PxB with B posted bones for each. F is the form of the bodies:
 * plain; brief, with ?brief=1; or compact, with ?brief=1 and tables of columns and rows. A form
 * that the service does not take is left out.
 *
 *   capacity_P_F_matches        matches that one processor serves: 1 / (processor time for a
 *                               second of a match), if ticks are sent as fast as possible
 *   capacity_P_F_paced_matches  the same number, from the processor time of a run in real time
 *                               with 80 % as many matches
 *   capacity_P_F_claim_p99_us   latency of the ticks with claims in that run, counted from the
 *                               time at which they should be sent
 *   capacity_P_F_late_p99_us    the load's own delay in sending these ticks, a part of that latency
 *   capacity_P_F_own_p99_us     the same latency on a processor that no other program uses. It is
 *                               computed from the service's processor time for each tick;
 *                               median of three runs
 *   capacity_P_F_match_bytes    growth of the process for each match
 *
 * The memory of a player is measured for a player with one pose (player_silent), and for a player
 * with 60 moves per second and a second of poses of 16 bones (player_moving):
 *
 *   player_..._bytes            by the service's own count
 *   player_..._resident_bytes   growth of the process
 *
 *   bench_capacity [PLAYERS [BONES [FORM]]]   measures only these
 *   bench_capacity memory                     measures only the players' memory
 *   bench_capacity PLAYERS BONES FORM TICKS   posts these ticks of one match and prints nothing,
 *                                             for profilers that HS_WRAP starts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/processor.h"
#include "tests/support/bench.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/open_load.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/play/match_ticks.h"

/* Numbers of ticks of each match. FIRST_MATCHES is for the run that finds how many matches to
   play. */
enum { SLICES = 3, SLICE = 48, PACED_S = 4, FIRST_MATCHES = 16, FIRST_SLICE = 24 };
enum { SINGLE = 24 }; /* in each of SLICES runs in which the ticks are measured one by one */
enum { TICKS = HS_MATCH_TICKS_KEPT + SLICES * (SLICE + SINGLE) + PACED_S * HS_MATCH_TICKS_HZ };
enum { MEMORY_MATCHES = 32, MEMORY_PLAYERS = 64, MEMORY_BONES = 16, MEMORY_TICKS = 132 };
#define LOAD_SHARE 0.8
/* Above these limits, the figures are about the machine or the load, not the service. */
#define WAITED_SHARE 0.02
#define LATE_US      300

static struct hs_test_service service;

struct form {
    const char *name, *query;
    bool is_compact;
};

static const struct form forms[] = {
    {"plain", "", false}, {"brief", "?brief=1", false}, {"compact", "?brief=1", true}};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* ---- requests ---- */

struct play {
    const struct hs_match_ticks *ticks;
    const struct form *form;
    unsigned matches;
    uint64_t posted; /* requests so far; each match continues with its next tick */
    /* NULL, or: ticks are sent one by one, and this gets the service's processor time before each
     */
    double *before;
};

static size_t fill(void *context, uint64_t number, char out[HS_OPEN_LOAD_REQUEST_MAX])
{
    const struct play *play = context;
    size_t tick = (size_t)(number / play->matches);
    if (play->before != NULL)
        play->before[number - play->posted] = hs_processor_time(service.pid);
    int head =
        snprintf(out, 512,
                 "POST /v1/matches/m%u/ticks%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                 (unsigned)(number % play->matches), play->form->query, play->ticks->sizes[tick]);
    memcpy(out + head, play->ticks->bodies[tick], play->ticks->sizes[tick]);
    return (size_t)head + play->ticks->sizes[tick];
}

static bool has_claims(void *context, uint64_t number)
{
    const struct play *play = context;
    return play->ticks->claims[number / play->matches] > 0;
}

/* Posts `ticks` ticks of each match. `hz` is the number of ticks per second; 0: sends each tick
   after the answer to the last one. Sends fewer if the machine has no time for them. Returns false
   if an answer was not 200. */
static bool post(struct play *play, unsigned ticks, double hz, struct hs_open_load_result *result)
{
    struct hs_open_load_options options = {.port = service.data_port,
                                           .rate = hz * play->matches,
                                           .seconds = hz > 0 ? ticks / hz : 600,
                                           .connections = play->before != NULL ? 1 : play->matches,
                                           .good_us = 1000000,
                                           .fill = fill,
                                           .context = play,
                                           .first = play->posted,
                                           .most = (uint64_t)ticks * play->matches,
                                           .is_in_order = true,
                                           .is_timed = has_claims};
    if (!hs_open_load_run(&options, result))
        return false;
    play->posted += options.most;
    if (result->limited + result->shed + result->other == 0)
        return true;
    fprintf(stderr, "capacity: %llu of %llu ticks were not answered 200\n",
            (unsigned long long)(options.most - result->ok), (unsigned long long)options.most);
    return false;
}

static bool start(struct play *play)
{
    static const char *const arguments[] = {"--threads", "1", "--max-matches", "100000", NULL};
    hs_processor_move_to(0);
    bool fine = hs_test_service_start(&service, arguments);
    hs_processor_move_to(1);
    play->posted = 0;
    return fine && hs_match_ticks_open(play->ticks, service.data_port, "m", play->matches);
}

/* Returns whether every posted item was stored, accepted and paid. */
static bool is_honest(const struct play *play)
{
    uint64_t posted = play->posted / play->matches;
    double ticks = (double)posted, claims = 0;
    double players = (double)play->ticks->players * play->matches;
    for (uint64_t tick = 0; tick < posted; tick++)
        claims += play->ticks->claims[tick] * (double)play->matches;
    double stored = hs_metric_or_minus(&service, "hindsight_frames_total{result=\"stored\"}");
    double moved =
        hs_metric_or_minus(&service, "hindsight_moves_total{verdict=\"accepted\",reason=\"ok\"}");
    double hit =
        hs_metric_or_minus(&service, "hindsight_verdicts_total{kind=\"hit\",verdict=\"accepted\","
                                     "reason=\"ok\",mode=\"enforce\"}");
    double moves = play->ticks->is_silent ? 0 : players * ticks;
    if (stored == players * ticks && moved == moves && hit == claims)
        return true;
    fprintf(stderr,
            "capacity: %.0f of %.0f poses stored, %.0f of %.0f moves and %.0f of %.0f claims "
            "accepted\n",
            stored, players * ticks, moved, moves, hit, claims);
    return false;
}

/* Posts one tick of match 0. */
static void post_one(struct play *play, unsigned tick, struct hs_raw_answer *answer)
{
    static char request[HS_OPEN_LOAD_REQUEST_MAX];
    size_t size = fill(play, (uint64_t)tick * play->matches, request);
    int fd = hs_raw_connect(service.data_port);
    *answer = (struct hs_raw_answer){0};
    if (fd >= 0 && hs_raw_send(fd, request, size))
        hs_raw_read(fd, false, answer);
    if (fd >= 0)
        close(fd);
}

/* Returns whether the service takes the form. The size of an answer shows it: a brief answer to a
   later tick has less than 64 bytes per move. */
static bool is_taken(const struct hs_match_ticks *ticks, const struct form *form)
{
    static struct hs_raw_answer answer;
    struct play play = {.ticks = ticks, .form = form, .matches = 1};
    if (!start(&play))
        return false;
    post_one(&play, 0, &answer);
    if (answer.status == 200)
        post_one(&play, 1, &answer);
    bool fine = answer.status == 200 &&
                (form->query[0] == '\0' || answer.size < 1000 + (size_t)64 * ticks->players);
    if (!fine)
        fprintf(stderr, "capacity: the service does not take the form %s (status %d): left out\n",
                form->name, answer.status);
    return hs_test_service_stop(&service) && fine;
}

/* ---- processor time ---- */

struct capacity {
    double matches, paced; /* matches that one processor serves */
    double claim_p99_us, late_p99_us, own_p99_us;
    double match_bytes;
    /* shares of the time of the run at 80 % in which the service and the load waited for a
       processor */
    double waited, load_waited;
    double unsent; /* share of the ticks of that run for which there was no time */
};

/* Returns the number of matches that one processor serves, if it needs `processor_s` for `ticks`
   ticks. */
static double matches_of(double processor_s, uint64_t ticks)
{
    return (double)ticks / HS_MATCH_TICKS_HZ / processor_s;
}

/* Sends ticks as fast as they are answered. Returns the number of matches that one processor
   serves, or 0 on failure. */
static double measure_slice(struct play *play, unsigned ticks)
{
    struct hs_open_load_result result;
    double began = hs_processor_time(service.pid);
    if (!post(play, ticks, 0, &result))
        return 0;
    return matches_of(hs_processor_time(service.pid) - began, result.ok);
}

/*
 * Computes the latency of ticks with claims at 80 % of the capacity, on a processor that no other
 * program uses. The ticks come at equal intervals and wait for one another. The processor time of
 * each is measured. `times` has space for one more than `count` times.
 */
static bool queue_up(struct play *play, uint64_t count, double *times, double *p99_us)
{
    struct hs_open_load_result result;
    uint64_t first = play->posted;
    size_t claims = 0;
    double wait = 0;
    play->before = times;
    bool fine = post(play, SINGLE, 0, &result);
    play->before = NULL;
    times[count] = hs_processor_time(service.pid);
    double interval = (times[count] - times[0]) / (double)count / LOAD_SHARE;
    for (uint64_t i = 0; i < count; i++) {
        double cost = times[i + 1] - times[i], latency = wait + cost;
        if (has_claims(play, first + i))
            times[claims++] = latency; /* this place is read already */
        wait = latency > interval ? latency - interval : 0;
    }
    *p99_us = claims > 0 ? hs_bench_percentile(times, claims, 0.99) * 1e6 : 0;
    return fine;
}

static bool measure_own(struct play *play, struct capacity *out)
{
    uint64_t count = (uint64_t)SINGLE * play->matches;
    double p99_us[SLICES] = {0}, *times = calloc(count + 1, sizeof *times);
    bool fine = times != NULL;
    for (int i = 0; fine && i < SLICES; i++)
        fine = queue_up(play, count, times, &p99_us[i]);
    out->own_p99_us = hs_bench_median(p99_us, SLICES);
    free(times);
    return fine;
}

static double resident(void)
{
    return hs_metric_or_minus(&service, "process_resident_memory_bytes");
}

static bool measure_paced(struct play *play, struct capacity *out)
{
    struct hs_open_load_result result;
    double began = hs_processor_time(service.pid);
    double waited = hs_processor_waited(service.pid), own = hs_processor_waited(getpid());
    if (!post(play, PACED_S * HS_MATCH_TICKS_HZ, HS_MATCH_TICKS_HZ, &result))
        return false;
    out->waited = (hs_processor_waited(service.pid) - waited) / result.seconds;
    out->load_waited = (hs_processor_waited(getpid()) - own) / result.seconds;
    out->paced = matches_of(hs_processor_time(service.pid) - began, result.ok);
    out->claim_p99_us = result.p99_us;
    out->late_p99_us = result.late_p99_us;
    out->unsent = (double)result.unsent / (double)result.intended;
    return true;
}

/* Estimates the number of matches that one processor serves, in a first, small run. */
static unsigned promised(struct play *play)
{
    struct hs_open_load_result result;
    play->matches = FIRST_MATCHES;
    bool fine = start(play) && post(play, HS_MATCH_TICKS_KEPT, 0, &result);
    double matches = fine ? measure_slice(play, FIRST_SLICE) : 0;
    hs_test_service_stop(&service);
    return (unsigned)(matches * LOAD_SHARE) + (matches > 0 ? 1 : 0);
}

static bool measure(const struct hs_match_ticks *ticks, const struct form *form,
                    struct capacity *out)
{
    struct play play = {.ticks = ticks, .form = form};
    struct hs_open_load_result result;
    double slices[SLICES] = {0};
    play.matches = promised(&play);
    if (play.matches == 0 || !start(&play))
        return false;
    double before = resident();
    bool fine = post(&play, HS_MATCH_TICKS_KEPT, 0, &result);
    for (int i = 0; fine && i < SLICES; i++)
        fine = (slices[i] = measure_slice(&play, SLICE)) > 0;
    fine = fine && measure_own(&play, out) && is_honest(&play) && measure_paced(&play, out) &&
           (out->unsent > 0 || is_honest(&play));
    out->match_bytes = fine ? (resident() - before) / play.matches : 0;
    out->matches = hs_bench_median(slices, SLICES);
    return hs_test_service_stop(&service) && fine;
}

/* ---- rows ---- */

/* Prints a warning if the figures are about the machine or the load. */
static void warn(const char *name, const struct capacity *capacity)
{
    if (capacity->waited > WAITED_SHARE)
        fprintf(stderr,
                "%s: other programs held the service's processor for %.0f %% of the time: "
                "the p99 is that of the machine\n",
                name, 100 * capacity->waited);
    if (capacity->unsent > 0)
        fprintf(stderr, "%s: %.0f %% of the ticks were not sent: the p99 is not meaningful\n", name,
                100 * capacity->unsent);
    if (capacity->load_waited > WAITED_SHARE || capacity->late_p99_us > LATE_US)
        fprintf(stderr,
                "%s: the load itself was late (p99 %.0f us; it waited for its processor "
                "for %.0f %% of the time): the p99 is that of the load\n",
                name, capacity->late_p99_us, 100 * capacity->load_waited);
}

static void print_one(const char *kind, const char *what, double value, const char *unit,
                      const char *baseline_kind, double baseline)
{
    char name[64], other[64];
    snprintf(name, sizeof name, "%s_%s", kind, what);
    snprintf(other, sizeof other, "%s_%s", baseline_kind, what);
    hs_bench_print(name, value, unit, baseline > 0 ? other : NULL,
                   baseline > 0 ? value / baseline : 0);
}

/* `plain` is the figure to compare with; 0: no such figure. */
static void print(const char *kind, const char *plain_kind, const struct capacity *capacity,
                  double plain)
{
    print_one(kind, "matches", capacity->matches, "1", plain_kind, plain);
    print_one(kind, "paced_matches", capacity->paced, "1", kind, 0);
    print_one(kind, "claim_p99_us", capacity->claim_p99_us, "us", kind, 0);
    print_one(kind, "late_p99_us", capacity->late_p99_us, "us", kind, 0);
    print_one(kind, "own_p99_us", capacity->own_p99_us, "us", kind, 0);
    print_one(kind, "match_bytes", capacity->match_bytes, "B", kind, 0);
    warn(kind, capacity);
}

static bool measure_forms(unsigned players, unsigned bones, const char *only)
{
    char group[32], plain_kind[48] = "", kind[48];
    double plain = 0;
    snprintf(group, sizeof group, bones > 0 ? "capacity_%ux%u" : "capacity_%u", players, bones);
    for (int i = 0; i < FORMS; i++) {
        const struct form *form = &forms[i];
        struct hs_match_ticks ticks = {
            .players = players, .bones = bones, .is_compact = form->is_compact, .ticks = TICKS};
        struct capacity capacity = {0};
        if (only != NULL && strcmp(only, form->name) != 0)
            continue;
        bool fine = hs_match_ticks_make(&ticks);
        if (fine && is_taken(&ticks, form)) {
            fine = measure(&ticks, form, &capacity);
            snprintf(kind, sizeof kind, "%s_%s", group, form->name);
            if (fine)
                print(kind, plain_kind, &capacity, plain);
            if (fine && plain <= 0) {
                plain = capacity.matches;
                memcpy(plain_kind, kind, sizeof kind);
            }
        }
        hs_match_ticks_free(&ticks);
        if (!fine)
            return false;
    }
    return true;
}

/* ---- memory ---- */

static bool measure_player(const char *kind, struct hs_match_ticks *ticks)
{
    struct play play = {.ticks = ticks, .form = &forms[0], .matches = MEMORY_MATCHES};
    struct hs_open_load_result result;
    double players = (double)MEMORY_MATCHES * ticks->players;
    bool fine = hs_match_ticks_make(ticks) && start(&play);
    double before = fine ? resident() : 0;
    double accounted = fine ? hs_metric_or_minus(&service, "hindsight_history_bytes") : 0;
    fine = fine && post(&play, ticks->ticks, 0, &result) && is_honest(&play);
    if (fine) {
        print_one(kind, "bytes",
                  (hs_metric_or_minus(&service, "hindsight_history_bytes") - accounted) / players,
                  "B", kind, 0);
        print_one(kind, "resident_bytes", (resident() - before) / players, "B", kind, 0);
    }
    hs_match_ticks_free(ticks);
    return hs_test_service_stop(&service) && fine;
}

static bool measure_memory(void)
{
    struct hs_match_ticks silent = {.players = MEMORY_PLAYERS, .ticks = 1, .is_silent = true};
    struct hs_match_ticks moving = {.players = MEMORY_PLAYERS,
                                    .bones = MEMORY_BONES,
                                    .ticks = MEMORY_TICKS,
                                    .is_peaceful = true};
    return measure_player("player_silent", &silent) && measure_player("player_moving", &moving);
}

/* ---- all figures ---- */

/* Plays one match for a profiler. */
static bool play_once(const char *players, const char *bones, const char *name, const char *count)
{
    struct hs_match_ticks ticks = {.players = (unsigned)strtoul(players, NULL, 10),
                                   .bones = (unsigned)strtoul(bones, NULL, 10),
                                   .ticks = (unsigned)strtoul(count, NULL, 10)};
    struct play play = {.ticks = &ticks, .matches = 1};
    struct hs_open_load_result result;
    for (int i = 0; i < FORMS; i++)
        if (strcmp(name, forms[i].name) == 0)
            play.form = &forms[i];
    ticks.is_compact = play.form != NULL && play.form->is_compact;
    bool fine = play.form != NULL && hs_match_ticks_make(&ticks) && start(&play) &&
                post(&play, ticks.ticks, 0, &result) && is_honest(&play);
    hs_match_ticks_free(&ticks);
    return hs_test_service_stop(&service) && fine;
}

int main(int argc, char **argv)
{
    static const unsigned players[] = {10, 16, 64, 100}, bones[] = {0, 16};
    if (argc > 1 && strcmp(argv[1], "memory") == 0)
        return measure_memory() ? 0 : 1;
    if (argc > 4)
        return play_once(argv[1], argv[2], argv[3], argv[4]) ? 0 : 1;
    bool fine = argc > 1 || measure_memory();
    for (size_t p = 0; p < sizeof players / sizeof players[0]; p++)
        for (size_t b = 0; b < sizeof bones / sizeof bones[0]; b++)
            if ((argc < 2 || strtoul(argv[1], NULL, 10) == players[p]) &&
                (argc < 3 || strtoul(argv[2], NULL, 10) == bones[b]))
                fine = fine && measure_forms(players[p], bones[b], argc > 3 ? argv[3] : NULL);
    return fine ? 0 : 1;
}
