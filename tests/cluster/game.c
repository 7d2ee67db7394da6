#include "tests/cluster/game_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clock.h"
#include "tests/support/need.h"

/* For how many ticks a match may be inconclusive after a move: one window of history, the tick
   whose answer shows the move, and the tick after it, which has hits of shots fired before. */
enum { WINDOW = HS_KILL_SECOND + 2 };

/* After so many seconds, a payment is durable even if its answer was not yet durable
   (docs/state.md). */
enum { SOFT_SECONDS = 2 };

/* Seconds: the tolerance for sums of rounding errors, and `credit.max` of the ruleset. */
static const double credit_slack = 1e-4, credit_max = 0.35;

static const struct {
    const char *name;
    double clock; /* speed of the player's clock */
} movers[MOVERS] = {{"runner", 1.0}, {"racer", 1.3}};

/* ---- items ---- */

/* Returns whether a verdict may be inconclusive for this reason after a match has moved. */
static bool is_excuse(const char *reason)
{
    static const char *const reasons[] = {
        "history_too_short",       "history_gap", "unknown_target_history",
        "unknown_shooter_history", "no_weapon",   "number_forgotten"};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(reason, reasons[i]) == 0)
            return true;
    return false;
}

static bool is_same(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b); /* json_equal takes no NULL */
}

/* Compares a verdict with the verdict of the single replica. */
static void compare(struct worker *worker, const struct match *match,
                    const struct hs_followed *item, const json_t *result, const json_t *expected)
{
    const char *verdict = hs_cluster_text(result, "verdict"),
               *reason = hs_cluster_text(result, "reason");
    if (strcmp(verdict, hs_cluster_text(expected, "verdict")) == 0 &&
        strcmp(reason, hs_cluster_text(expected, "reason")) == 0 &&
        is_same(json_object_get(result, "damage"), json_object_get(expected, "damage")))
        return;
    bool is_open = match->tick < match->window_until;
    if (strcmp(verdict, "inconclusive") == 0 && is_excuse(reason)) {
        if (is_open)
            worker->counts.excused++;
        else
            hs_follower_fault(worker->game->follower, &worker->counts.outside, "%s tick %d: %s: %s",
                              match->name, match->tick, reason, item->text);
        return;
    }
    hs_follower_fault(worker->game->follower, &worker->counts.differs,
                      "%s tick %d: %s/%s, a single replica: %s/%s: %s", match->name, match->tick,
                      verdict, reason, hs_cluster_text(expected, "verdict"),
                      hs_cluster_text(expected, "reason"), item->text);
}

/* Records an answer to an item. */
static void note(struct worker *worker, const struct match *match, struct hs_followed *item,
                 int tick, const json_t *answer, const json_t *result, enum hs_follow_moment moment)
{
    /* If the matches have no single owner, the replica that made a payment may have lost the match
       since then.
     */
    if (worker->other == NULL && tick + SOFT_SECONDS * worker->game->options.rate < match->tick)
        item->may_be_lost = false;
    if (json_is_false(json_object_get(answer, "durable")))
        item->may_be_lost = true;
    hs_follower_note(worker->game->follower, &worker->counts.follow, item, result, moment);
}

static void take_items(struct worker *worker, struct match *match, const json_t *answer,
                       const json_t *expected, bool shots)
{
    const char *key = shots ? "shots" : "hits";
    const json_t *results = json_object_get(answer, key), *wanted = json_object_get(expected, key);
    enum hs_follow_moment moment =
        match->tick < match->window_until ? HS_FOLLOW_MOVED : HS_FOLLOW_NOW;
    size_t at = 0;
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        struct hs_kill_session *session = &match->squad.shooters[s].now;
        for (size_t i = 0; i < session->count; i++) {
            struct hs_kill_item *item = &session->items[i];
            if (item->is_shot != shots || item->tick != match->tick)
                continue;
            const json_t *result = json_array_get(results, at);
            if (!item->followed.is_answered) {
                compare(worker, match, &item->followed, result, json_array_get(wanted, at));
                worker->counts.refused +=
                    strcmp(hs_cluster_text(result, "verdict"), "rejected") == 0;
            }
            note(worker, match, &item->followed, item->tick, answer, result, moment);
            at++;
        }
    }
    if (at != json_array_size(results))
        hs_follower_fault(worker->game->follower, &worker->counts.follow.unexpected,
                          "%zu results for %zu items", json_array_size(results), at);
}

/* Sends the paid shots or hits of the current sessions once more. All must get their first answers.
 */
static void send_again(struct worker *worker, struct match *match, bool shots)
{
    char *body = NULL;
    size_t size, at = 0;
    FILE *out = need(open_memstream(&body, &size));
    fprintf(out, "{\"now\":%.6f,\"%s\":[", hs_kill_time(match->tick), shots ? "shots" : "hits");
    for (int pass = 0; pass < 2; pass++) {
        const json_t *results = NULL;
        json_t *answer = NULL;
        if (pass == 1) {
            fputs("]}", out);
            fclose(out);
            if (at > 0)
                answer = hs_cluster_post(worker, worker->http, match, shots ? "shots" : "hits",
                                         need(body), true);
            results = json_object_get(answer, "results");
            if (answer == NULL)
                break;
            at = 0;
        }
        for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
            struct hs_kill_session *session = &match->squad.shooters[s].now;
            for (size_t i = 0; i < session->count; i++) {
                struct hs_kill_item *item = &session->items[i];
                if (item->is_shot != shots || !item->followed.is_paid)
                    continue;
                if (pass == 0)
                    fprintf(out, "%s%s", at > 0 ? "," : "", item->followed.text);
                else
                    note(worker, match, &item->followed, item->tick, answer,
                         json_array_get(results, at), HS_FOLLOW_NOW);
                at++;
            }
        }
        json_decref(answer);
    }
    free(body);
}

/* ---- moves ---- */

/* Returns the body of a tick with the moves of the tick. */
static char *add_moves(const struct match *match, char *body)
{
    char *whole = NULL;
    size_t size;
    FILE *out = need(open_memstream(&whole, &size));
    double time = hs_kill_time(match->tick);
    fprintf(out, "%.*s,\"moves\":[", (int)strlen(body) - 1, body);
    for (int i = 0; i < MOVERS; i++)
        fprintf(out,
                "%s{\"player\":\"%s\",\"seq\":%d,\"client_time\":%.6f,\"received\":%.6f,"
                "\"ack\":%.6f,\"epoch\":1}",
                i > 0 ? "," : "", movers[i].name, match->tick + 1,
                5 + movers[i].clock * (time - hs_kill_time(0)), time, time - 0.1);
    fputs("]}", out);
    fclose(out);
    free(body);
    return need(whole);
}

/*
 * Checks the time granted to a client's moves since the beginning. The client with the fast clock
 * has used up its credit, so the cluster may never grant it more than the single replica does. The
 * client with the honest clock has its whole credit left. If a crash loses its newest moves, their
 * time may be granted again, but only from that credit.
 */
static void take_moves(struct worker *worker, struct match *match, const json_t *answer,
                       const json_t *expected)
{
    for (size_t i = 0; i < MOVERS; i++) {
        const json_t *move = json_array_get(json_object_get(answer, "moves"), i);
        const json_t *wanted = json_array_get(json_object_get(expected, "moves"), i);
        double *granted = match->granted[i], elapsed = hs_kill_time(match->tick) - hs_kill_time(0);
        bool is_honest = movers[i].clock <= 1.0;
        granted[0] += json_number_value(json_object_get(move, "delta_time"));
        granted[1] += json_number_value(json_object_get(wanted, "delta_time"));
        double limit = is_honest ? elapsed + credit_max : granted[1];
        if (granted[0] > limit + credit_slack)
            hs_follower_fault(worker->game->follower, &worker->counts.credit,
                              "%s of %s, tick %d: %.6f s of moves, at most %.6f s", movers[i].name,
                              match->name, match->tick, granted[0], limit);
        bool is_refused = strcmp(hs_cluster_text(move, "verdict"), "accepted") != 0;
        if (is_honest && is_refused && strcmp(hs_cluster_text(wanted, "verdict"), "accepted") == 0)
            hs_follower_fault(worker->game->follower, &worker->counts.moves,
                              "%s of %s, tick %d: %s/%s", movers[i].name, match->name, match->tick,
                              hs_cluster_text(move, "verdict"), hs_cluster_text(move, "reason"));
    }
}

/* ---- ticks ---- */

static bool needs_resync(const json_t *answer)
{
    return json_object_get(json_object_get(answer, "frames"), "need") != NULL;
}

/* Begins a window if an answer shows that the match has moved. `other`: the answer of the other
   replica to the same tick, or NULL. */
static void note_move(struct worker *worker, struct match *match, const json_t *answer,
                      const json_t *other, const json_t *expected)
{
    bool has_moved = (needs_resync(answer) || needs_resync(other)) && !needs_resync(expected);
    if (!has_moved || match->tick < match->window_until)
        return;
    match->window_until = match->tick + WINDOW;
    match->windows++;
    worker->counts.windows++;
}

static void take_answer(struct worker *worker, struct match *match, const json_t *answer,
                        const json_t *expected)
{
    if (answer == NULL)
        return;
    worker->counts.not_durable += json_is_false(json_object_get(answer, "durable"));
    take_items(worker, match, answer, expected, true);
    take_items(worker, match, answer, expected, false);
}

struct request {
    struct worker worker; /* a copy, whose counts only the other thread changes */
    const struct match *match;
    const char *body;
    json_t *answer;
};

static void *post_other(void *context)
{
    struct request *request = context;
    request->answer = hs_cluster_post(&request->worker, request->worker.other, request->match,
                                      "ticks", request->body, false);
    return NULL;
}

static void add_counts(struct hs_cluster_counts *counts, const struct hs_cluster_counts *more)
{
    hs_follow_counts_add(&counts->follow, &more->follow);
#define X(field, text) counts->field += more->field;
    HS_CLUSTER_FAULTS(X)
    HS_CLUSTER_TOTALS(X)
#undef X
}

/* Returns whether an answer repeats the first answer to a shot or a hit. */
static bool has_replays(const json_t *answer)
{
    static const char *const lists[] = {"shots", "hits"};
    const json_t *result;
    size_t i;
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++)
        json_array_foreach(json_object_get(answer, lists[list]), i, result)
        {
            if (json_is_true(json_object_get(result, "replayed")))
                return true;
        }
    return false;
}

/* Sends a tick to both replicas at the same time, until one of them answers. */
static void split_tick(struct worker *worker, struct match *match, const char *body,
                       const json_t *expected)
{
    enum { TRIES = 100 };
    bool is_answered = false;
    for (int tries = 0; !is_answered && tries < TRIES; tries++) {
        pthread_t thread;
        struct request other = {.worker = *worker, .match = match, .body = body};
        other.worker.counts = (struct hs_cluster_counts){0};
        if (pthread_create(&thread, NULL, post_other, &other) != 0)
            abort();
        json_t *answer = hs_cluster_post(worker, worker->http, match, "ticks", body, false);
        pthread_join(thread, NULL);
        add_counts(&worker->counts, &other.worker.counts);
        is_answered = answer != NULL || other.answer != NULL;
        note_move(worker, match, answer, other.answer, expected);
        /* The answers may arrive in another order than the replicas processed the tick. */
        bool is_first = !has_replays(answer);
        take_answer(worker, match, is_first ? answer : other.answer, expected);
        take_answer(worker, match, is_first ? other.answer : answer, expected);
        if (needs_resync(answer) || needs_resync(other.answer))
            hs_cluster_resync(worker, match->tick % 2 == 0 ? worker->http : worker->other, match);
        json_decref(answer);
        json_decref(other.answer);
    }
    if (!is_answered)
        hs_follower_fault(worker->game->follower, &worker->counts.follow.unexpected,
                          "%s tick %d: neither replica answers", match->name, match->tick);
}

static void whole_tick(struct worker *worker, struct match *match, const char *body,
                       const json_t *expected)
{
    int windows = match->windows;
    json_t *answer = hs_cluster_post(worker, worker->http, match, "ticks", body, true);
    note_move(worker, match, answer, NULL, expected);
    take_answer(worker, match, answer, expected);
    if (answer != NULL)
        take_moves(worker, match, answer, expected);
    if (needs_resync(answer) && match->tick > 0)
        hs_cluster_resync(worker, worker->http, match);
    json_decref(answer);
    if (match->windows > windows || hs_random_chance(&match->random, 0.03)) {
        send_again(worker, match, true);
        send_again(worker, match, false);
    }
    if (hs_random_chance(&match->random, 0.05)) {
        answer = hs_cluster_post(worker, worker->http, match, "ticks", body, true);
        take_answer(worker, match, answer, NULL);
        json_decref(answer);
    }
}

static void play_tick(struct worker *worker, struct match *match)
{
    char *body = add_moves(match, hs_kill_squad_tick(&match->squad, match->tick, &match->random));
    json_t *expected = hs_cluster_post(worker, worker->reference, match, "ticks", body, true);
    if (worker->other != NULL && match->tick >= WINDOW)
        split_tick(worker, match, body, expected);
    else
        whole_tick(worker, match, body, expected);
    json_decref(expected);
    free(body);
    worker->counts.ticks++;
    match->tick++;
}

static void *run(void *context)
{
    struct worker *worker = context;
    const struct hs_cluster_game *game = worker->game;
    double next = hs_test_seconds(), step = 1 / (game->options.rate * worker->match_count);
    while (!atomic_load(&game->stops))
        for (int i = 0; i < worker->match_count && !atomic_load(&game->stops); i++) {
            double now = hs_test_seconds();
            if (now < next)
                hs_test_pause_ms((long)(1000 * (next - now)) + 1);
            next = now < next + 1 ? next + step : now; /* do not catch up after a long wait */
            play_tick(worker, &worker->matches[i * WORKERS]);
        }
    return NULL;
}

/* Plays the first window of each match without pauses. */
static void *begin(void *context)
{
    struct worker *worker = context;
    for (int i = 0; i < worker->match_count; i++)
        for (int tick = 0; tick < WINDOW; tick++)
            play_tick(worker, &worker->matches[i * WORKERS]);
    return NULL;
}

/* Runs a function in one thread for each worker that has matches. */
static void start_workers(struct hs_cluster_game *game, void *(*function)(void *))
{
    for (int w = 0; w < WORKERS; w++)
        if (game->workers[w].match_count > 0 &&
            pthread_create(&game->workers[w].thread, NULL, function, &game->workers[w]) != 0)
            abort();
}

static void join_workers(struct hs_cluster_game *game)
{
    for (int w = 0; w < WORKERS; w++)
        if (game->workers[w].match_count > 0)
            pthread_join(game->workers[w].thread, NULL);
}

/* ---- the game ---- */

struct hs_cluster_game *hs_cluster_game_start(const struct hs_cluster_game_options *options)
{
    struct hs_cluster_game *game = need(calloc(1, sizeof *game));
    game->options = *options;
    game->began = hs_test_seconds();
    game->follower = hs_follower_create();
    game->matches = need(calloc((size_t)options->matches, sizeof *game->matches));
    for (int m = 0; m < options->matches; m++) {
        struct match *match = &game->matches[m];
        snprintf(match->name, sizeof match->name, "%s-%d", options->name, m);
        match->random = hs_random_start(options->seed, (uint64_t)m);
        hs_kill_squad_init(&match->squad, m, 0);
    }
    for (int w = 0; w < WORKERS; w++) {
        struct worker *worker = &game->workers[w];
        worker->game = game;
        worker->http = hs_test_http_open(options->port);
        worker->other = options->other_port != 0 ? hs_test_http_open(options->other_port) : NULL;
        worker->reference = hs_test_http_open(options->reference_port);
        worker->matches = &game->matches[w];
        worker->match_count = (options->matches - w + WORKERS - 1) / WORKERS;
        for (int i = 0; i < worker->match_count; i++)
            if (!hs_cluster_open_match(worker->http, &worker->matches[i * WORKERS]) ||
                !hs_cluster_open_match(worker->reference, &worker->matches[i * WORKERS]))
                hs_follower_fault(game->follower, &worker->counts.failed, "%s cannot be opened",
                                  worker->matches[i * WORKERS].name);
    }
    start_workers(game, begin);
    join_workers(game);
    for (int w = 0; w < WORKERS; w++)
        game->workers[w].latencies[0][0].count = game->workers[w].latencies[0][1].count = 0;
    start_workers(game, run);
    return game;
}

void hs_cluster_game_phase(struct hs_cluster_game *game, enum hs_cluster_phase phase, bool breaks)
{
    int last = atomic_load(&game->phase);
    if (last + 1 == HS_CLUSTER_PHASES_MAX)
        abort();
    game->phases[last + 1] = phase;
    atomic_store(&game->phase, last + 1);
    atomic_store(&game->breaks, breaks);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_latencies(const void *a, const void *b)
{
    const struct latency *x = a, *y = b;
    int windows = (x->window > y->window) - (x->window < y->window);
    return windows != 0 ? windows : compare_numbers(&x->us, &y->us);
}

/* Finds the median and the highest p99 of the windows. Changes the order of `all`. */
static void find_p99(struct latency *all, size_t count, double *median_us, double *highest_us)
{
    size_t windows = 0, first = 0;
    double *each = need(calloc(count + 1, sizeof *each));
    qsort(all, count, sizeof *all, compare_latencies);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && all[i + 1].window == all[i].window)
            continue;
        each[windows++] = all[first + (i + 1 - first) * 99 / 100].us;
        first = i + 1;
    }
    qsort(each, windows, sizeof *each, compare_numbers);
    *median_us = each[windows / 2]; /* without windows: 0 */
    *highest_us = each[windows > 0 ? windows - 1 : 0];
    free(each);
}

/* Finds the latency in one phase. `which`: 0: the cluster, 1: the single replica. */
static void total_latency(struct hs_cluster_game *game, int phase, int which,
                          struct hs_cluster_latency *latency)
{
    size_t count = 0;
    struct latency *all = NULL;
    for (int w = 0; w < WORKERS; w++) {
        struct latencies *more = &game->workers[w].latencies[phase][which];
        all = need(realloc(all, (count + more->count + 1) * sizeof *all));
        if (more->count > 0)
            memcpy(all + count, more->all, more->count * sizeof *all);
        count += more->count;
        free(more->all);
    }
    find_p99(all, count, &latency->of[which].p99_us, &latency->of[which].highest_us);
    free(all);
}

static void total_latencies(struct hs_cluster_game *game, struct hs_cluster_counts *counts)
{
    counts->phase_count = atomic_load(&game->phase) + 1;
    for (int phase = 0; phase < counts->phase_count; phase++) {
        counts->phases[phase].phase = game->phases[phase];
        for (int which = 0; which < 2; which++)
            total_latency(game, phase, which, &counts->phases[phase]);
    }
}

void hs_cluster_game_finish(struct hs_cluster_game *game, struct hs_cluster_counts *counts)
{
    *counts = (struct hs_cluster_counts){0};
    atomic_store(&game->stops, true);
    join_workers(game);
    for (int w = 0; w < WORKERS; w++) {
        struct worker *worker = &game->workers[w];
        for (int i = 0; i < worker->match_count; i++) {
            struct match *match = &worker->matches[i * WORKERS];
            match->tick--; /* the last tick that was played */
            send_again(worker, match, true);
            send_again(worker, match, false);
            if (match->windows > counts->windows_max)
                counts->windows_max = match->windows;
            hs_kill_squad_free(&match->squad);
        }
        add_counts(counts, &worker->counts);
        hs_test_http_close(worker->http);
        hs_test_http_close(worker->reference);
        if (worker->other != NULL)
            hs_test_http_close(worker->other);
    }
    total_latencies(game, counts);
    hs_follower_destroy(game->follower);
    free(game->matches);
    free(game);
}

long hs_cluster_counts_print(const struct hs_cluster_counts *counts)
{
    long faults = hs_follow_counts_print(&counts->follow);
#define X(field, text)                                                                             \
    faults += counts->field;                                                                       \
    printf("  %ld %s\n", counts->field, text);
    HS_CLUSTER_FAULTS(X)
#undef X
#define X(field, text) printf("%ld %s, ", counts->field, text);
    HS_CLUSTER_TOTALS(X)
#undef X
    printf("at most %d windows in a match\n", counts->windows_max);
    fflush(stdout);
    return faults;
}
