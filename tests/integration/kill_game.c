#include "tests/integration/kill_game.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/need.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/random.h"

/* A writer may be this many ticks plus one ahead of the other writers of its match. */
enum { MATCHES = 3, WRITERS = 2, AHEAD = 3 };
enum { BATCH = 200 }; /* items in a request that repeats old items */

struct writer {
    struct match *match;
    struct hs_kill_squad squad;
    int tick;                  /* the next tick */
    char *body;                /* body of the tick that got no answer, or NULL */
    int settles;               /* restarts of the service that this writer has settled */
    struct hs_test_http *http; /* connection to the current service */
    int most_ticks;
    struct hs_kill_game_totals totals;
    pthread_t thread;
};

/* How far a match is between one opening and the next. */
enum opening { OPEN, DELETING, CLOSED, PUTTING };

struct match {
    struct hs_kill_game *game;
    char name[40];
    int number;
    struct writer writers[WRITERS];
    pthread_mutex_t lock; /* guards the fields below, and `tick` of the writers */
    pthread_cond_t moved;
    int opening, last_tick; /* the opening ends before `last_tick` */
    int waiting;            /* writers that finished this opening */
    enum opening state;
    bool was_put; /* a PUT of the match was answered */
};

struct hs_kill_game {
    uint64_t seed;
    struct hs_follower *follower;
    struct match matches[MATCHES];
    unsigned port;
    atomic_bool dies; /* the service may die, so requests may get no answer */
    atomic_bool dead; /* a request got no answer */
};

static struct hs_random dice(const struct match *match, int writer, int tick)
{
    uint64_t stream = (((uint64_t)match->number * 8 + (uint64_t)writer) << 48) +
                      ((uint64_t)match->opening << 24) + (uint64_t)tick;
    return hs_random_start(match->game->seed, stream);
}

/* ---- requests ---- */

static void fault(struct writer *writer, long *count, const char *what, const char *path,
                  const struct hs_test_response *response)
{
    hs_follower_fault(writer->match->game->follower, count, "%s: %s answered %ld %.300s%s", what,
                      path, response->status, response->body, response->error);
}

/* Makes all writers stop soon. */
static void stop_all(struct hs_kill_game *game)
{
    atomic_store(&game->dead, true);
    for (int m = 0; m < MATCHES; m++) {
        pthread_mutex_lock(&game->matches[m].lock);
        pthread_cond_broadcast(&game->matches[m].moved);
        pthread_mutex_unlock(&game->matches[m].lock);
    }
}

/* Returns the status, or 0 if the service is dead. The caller frees the response. */
static long ask(struct writer *writer, const char *method, const char *path, const char *body,
                struct hs_test_response *response)
{
    struct hs_kill_game *game = writer->match->game;
    hs_test_http_send(writer->http, method, path, body, body != NULL ? strlen(body) : 0, NULL,
                      response);
    if (response->status != 0)
        return response->status;
    writer->totals.unanswered++;
    if (!atomic_load(&game->dies))
        fault(writer, &writer->totals.follow.unexpected, "no answer", path, response);
    stop_all(game);
    return 0;
}

/* Sends a request and returns its status; `path` is relative to the match. */
static long status_of(struct writer *writer, const char *method, const char *path, const char *body)
{
    char whole[128];
    struct hs_test_response response;
    snprintf(whole, sizeof whole, "/v1/matches/%s%s", writer->match->name, path);
    long status = ask(writer, method, whole, body, &response);
    hs_test_response_free(&response);
    return status;
}

/* Returns the parsed answer to a post of the match, or NULL if there is no answer. Any status
   except 200 is a fault. */
static json_t *post(struct writer *writer, const char *route, const char *body)
{
    char path[96];
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/%s/%s", writer->match->name, route);
    long status = ask(writer, "POST", path, body, &response);
    json_t *answer = status == 200 ? hs_test_response_json(&response) : NULL;
    if (status != 0 && answer == NULL) {
        fault(writer, &writer->totals.follow.unexpected, "unexpected", path, &response);
        stop_all(writer->match->game);
    }
    hs_test_response_free(&response);
    return answer;
}

/* Checks the answers to the items of a tick, in the order in which the items were written. */
static void take_answers(struct writer *writer, const json_t *answer, bool shots, int tick)
{
    const json_t *results = json_object_get(answer, shots ? "shots" : "hits");
    size_t at = 0;
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        struct hs_kill_session *session = &writer->squad.shooters[s].now;
        for (size_t i = 0; i < session->count; i++)
            if (session->items[i].is_shot == shots && session->items[i].tick == tick)
                hs_follower_note(writer->match->game->follower, &writer->totals.follow,
                                 &session->items[i].followed, json_array_get(results, at++),
                                 HS_FOLLOW_NOW);
    }
    if (at != json_array_size(results))
        hs_follower_fault(writer->match->game->follower, &writer->totals.follow.unexpected,
                          "%zu results for %zu items", json_array_size(results), at);
}

/* Returns false if there is no answer. */
static bool send_tick(struct writer *writer)
{
    /* With `explain` some answers are long. */
    json_t *answer =
        post(writer, writer->tick % 5 == 0 ? "ticks?explain=true" : "ticks", writer->body);
    if (answer == NULL)
        return false;
    take_answers(writer, answer, true, writer->tick);
    take_answers(writer, answer, false, writer->tick);
    json_decref(answer);
    return true;
}

/* ---- after a restart ---- */

/* The items of one request. All are of one shooter and one kind. */
struct batch {
    struct hs_followed *items[BATCH];
    size_t count;
    bool is_shot;
    double now;
    enum hs_follow_moment moment;
};

/* Returns false if there is no answer. */
static bool send_batch(struct writer *writer, struct batch *batch)
{
    char *body = NULL;
    size_t size;
    if (batch->count == 0)
        return true;
    FILE *out = need(open_memstream(&body, &size));
    fprintf(out, "{\"now\":%.6f,\"%s\":[", batch->now, batch->is_shot ? "shots" : "hits");
    for (size_t i = 0; i < batch->count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", batch->items[i]->text);
    fputs("]}", out);
    fclose(out);
    json_t *answer = post(writer, batch->is_shot ? "shots" : "hits", need(body));
    free(body);
    const json_t *results = json_object_get(answer, "results");
    for (size_t i = 0; answer != NULL && i < batch->count; i++)
        hs_follower_note(writer->match->game->follower, &writer->totals.follow, batch->items[i],
                         json_array_get(results, i), batch->moment);
    batch->count = 0;
    bool fine = answer != NULL;
    json_decref(answer);
    return fine;
}

/* Sends the answered items of a session again. The verdict of an unpaid item may depend on the time
   when it arrives, so it is sent with its first time. Returns false if there is no answer. */
static bool send_again(struct writer *writer, struct hs_kill_session *session,
                       enum hs_follow_moment moment)
{
    struct batch batch = {.moment = moment};
    for (size_t i = 0; i < session->count; i++) {
        struct hs_kill_item *item = &session->items[i];
        if (!item->followed.is_answered || (moment == HS_FOLLOW_ENDED && !item->followed.is_paid))
            continue;
        bool is_old = item->tick + HS_KILL_SECOND < writer->tick && item->followed.is_paid;
        double now = is_old ? hs_kill_time(writer->tick - 1) : item->followed.now;
        bool fits = batch.is_shot == item->is_shot && batch.now == now && batch.count < BATCH;
        if (!fits && !send_batch(writer, &batch))
            return false;
        batch.is_shot = item->is_shot;
        batch.now = now;
        batch.items[batch.count++] = &item->followed;
    }
    return send_batch(writer, &batch);
}

/* Sends the newest paid rifle hits once more with new numbers. These hits have the paths and times
   of paid hits, so they must be refused. Returns false if there is no answer. */
static bool send_copies(struct writer *writer, struct hs_kill_shooter *shooter)
{
    enum { COPIES = 3 };
    bool fine = true;
    int copied = 0;
    for (size_t i = shooter->now.count; fine && i-- > 0 && copied < COPIES;) {
        const struct hs_kill_item *item = &shooter->now.items[i];
        if (item->is_shot || !item->followed.is_paid || item->tick + HS_KILL_SECOND < writer->tick)
            continue;
        struct hs_followed copy = {.text = hs_kill_print("{\"shot\":%d%s",
                                                         100000 + 10 * writer->settles + copied,
                                                         strchr(item->followed.text, ','))};
        struct batch batch = {
            .items = {&copy}, .count = 1, .now = item->followed.now, .moment = HS_FOLLOW_COPY};
        fine = send_batch(writer, &batch);
        free(copy.text);
        copied++;
    }
    return fine;
}

/* Checks that an open match is still open. Returns false if there is no answer. */
static bool check_match(struct writer *writer)
{
    bool was_opened = writer->tick > 0 || writer->match->was_put;
    long status = status_of(writer, "GET", "", NULL);
    if (was_opened && status != 200 && status != 0)
        hs_follower_fault(writer->match->game->follower, &writer->totals.follow.states,
                          "match %s, opening %d: %ld", writer->match->name, writer->match->opening,
                          status);
    return status != 0;
}

/* Checks that the players who are present are the same as in the last answer. Returns false if
   there is no answer. */
static bool check_players(struct writer *writer)
{
    if (writer->body != NULL)
        return true; /* it is unknown whether the tick without an answer was applied */
    for (int s = 0; s < HS_KILL_SHOOTERS; s++) {
        char path[64];
        const struct hs_kill_shooter *shooter = &writer->squad.shooters[s];
        snprintf(path, sizeof path, "/players/%s", shooter->name);
        long status = status_of(writer, "GET", path, NULL);
        if (status == 0)
            return false;
        if (status != (shooter->is_present ? 200 : 404))
            hs_follower_fault(writer->match->game->follower, &writer->totals.follow.states,
                              "%s of %s, present: %d since tick %d, now %d: %ld", shooter->name,
                              writer->match->name, shooter->is_present, shooter->since,
                              writer->tick, status);
    }
    return true;
}

static bool post_last_second(struct writer *writer)
{
    int first = writer->tick < HS_KILL_SECOND - 1 ? 0 : writer->tick - (HS_KILL_SECOND - 1);
    char *body = NULL;
    size_t size;
    FILE *out = need(open_memstream(&body, &size));
    fputs("{\"frames\":[", out);
    for (int tick = first; tick < writer->tick; tick++)
        fprintf(out, "%s%s", tick > first ? "," : "", writer->squad.frames[tick % HS_KILL_SECOND]);
    fputs("]}", out);
    fclose(out);
    json_t *answer = post(writer, "frames", need(body));
    free(body);
    bool fine = answer != NULL;
    json_decref(answer);
    return fine;
}

static bool settle_shooter(struct writer *writer, struct hs_kill_shooter *shooter)
{
    return send_again(writer, &shooter->before, HS_FOLLOW_ENDED) &&
           send_again(writer, &shooter->now, HS_FOLLOW_NOW) &&
           (shooter->style != HS_KILL_RIFLE || !shooter->is_present ||
            send_copies(writer, shooter));
}

/* Settles a restart: sends all earlier items again, but not the tick that got no answer. In some
   cases it sends only that tick again, as some servers do. Returns false if there is no answer. */
static bool settle(struct writer *writer)
{
    struct hs_random random =
        dice(writer->match, WRITERS + writer->squad.number, writer->settles++);
    if (!check_match(writer))
        return false;
    if (writer->tick == 0)
        return true; /* no tick was answered in this opening yet */
    if (!post_last_second(writer) || !check_players(writer))
        return false;
    bool is_lazy = hs_random_chance(&random, 0.25);
    for (int s = 0; s < HS_KILL_SHOOTERS && !is_lazy; s++)
        if (!settle_shooter(writer, &writer->squad.shooters[s]))
            return false;
    return true;
}

/* ---- openings ---- */

/* Every third opening uses a new match name. */
static void name_match(struct match *match, int opening)
{
    snprintf(match->name, sizeof match->name, "match%d_%d", match->number, opening / 3);
}

static void begin_opening(struct match *match)
{
    struct hs_random random = dice(match, 7, 0);
    match->last_tick = 60 + hs_random_index(&random, 200);
    name_match(match, match->opening);
    for (int w = 0; w < WRITERS; w++) {
        match->writers[w].tick = 0;
        hs_kill_squad_restart(&match->writers[w].squad);
    }
}

/* Deletes the match and opens it again at the current tick. Every other time the first post opens
   the match. Meanwhile all writers wait. Returns false if there is no answer. */
static bool reopen(struct writer *writer)
{
    struct match *match = writer->match;
    long status = 404;
    if (match->state == CLOSED)
        status = status_of(writer, "GET", "", NULL);
    if (status != 404 && status != 0)
        hs_follower_fault(match->game->follower, &writer->totals.follow.states,
                          "match %s was deleted and is there: %ld", match->name, status);
    if (match->state == OPEN || match->state == DELETING) {
        match->state = DELETING;
        status = status_of(writer, "DELETE", "", NULL);
    }
    if (status == 0)
        return false;
    match->state = CLOSED;
    match->was_put = match->opening % 2 == 0;
    if (!match->was_put)
        return true;
    match->state = PUTTING;
    name_match(match, match->opening + 1);
    return status_of(writer, "PUT", "", "{}") != 0;
}

/* Waits for the other writers of the match. The last writer to arrive opens the match again.
   Returns false if there is no answer. */
static bool meet(struct writer *writer)
{
    struct match *match = writer->match;
    pthread_mutex_lock(&match->lock);
    int opening = match->opening;
    if (++match->waiting == WRITERS) {
        pthread_mutex_unlock(&match->lock);
        bool is_open = reopen(writer);
        pthread_mutex_lock(&match->lock);
        if (is_open) {
            match->opening++;
            match->state = OPEN;
            writer->totals.openings++;
            begin_opening(match);
            pthread_cond_broadcast(&match->moved);
        }
    }
    while (match->opening == opening && !atomic_load(&match->game->dead))
        pthread_cond_wait(&match->moved, &match->lock);
    match->waiting--;
    bool fine = match->opening != opening;
    pthread_mutex_unlock(&match->lock);
    return fine;
}

/* Waits until the other writers are not too far behind. Returns false if the service is dead. */
static bool keep_step(struct writer *writer)
{
    struct match *match = writer->match;
    pthread_mutex_lock(&match->lock);
    for (int w = 0; w < WRITERS;) {
        if (match->writers[w].tick + AHEAD >= writer->tick)
            w++;
        else if (!atomic_load(&match->game->dead))
            pthread_cond_wait(&match->moved, &match->lock);
        else
            break;
    }
    pthread_mutex_unlock(&match->lock);
    return !atomic_load(&match->game->dead);
}

/* ---- a writer ---- */

static void finish_tick(struct writer *writer)
{
    struct match *match = writer->match;
    free(writer->body);
    writer->body = NULL;
    writer->totals.ticks++;
    pthread_mutex_lock(&match->lock);
    writer->tick++;
    pthread_cond_broadcast(&match->moved);
    pthread_mutex_unlock(&match->lock);
}

/* Sends one tick, in some cases twice. Returns false if there is no answer. */
static bool play_tick(struct writer *writer)
{
    struct hs_random random = dice(writer->match, 4 + writer->squad.number, writer->tick);
    if (writer->body == NULL) {
        struct hs_random own = dice(writer->match, writer->squad.number, writer->tick);
        writer->body = hs_kill_squad_tick(&writer->squad, writer->tick, &own);
    }
    if (!send_tick(writer) || (hs_random_chance(&random, 0.1) && !send_tick(writer)))
        return false;
    finish_tick(writer);
    struct hs_kill_shooter *shooter =
        &writer->squad.shooters[hs_random_index(&random, HS_KILL_SHOOTERS)];
    return !hs_random_chance(&random, 0.03) || !shooter->is_present ||
           send_again(writer, &shooter->before, HS_FOLLOW_ENDED);
}

static void *run(void *context)
{
    struct writer *writer = context;
    struct match *match = writer->match;
    writer->http = hs_test_http_open(match->game->port);
    bool fine = match->state != OPEN || settle(writer);
    for (int ticks = 0; fine && !atomic_load(&match->game->dead) && ticks < writer->most_ticks;
         ticks++) {
        if (writer->tick == match->last_tick)
            fine = meet(writer);
        else
            fine = keep_step(writer) && play_tick(writer);
    }
    if (fine)
        stop_all(match->game);
    hs_test_http_close(writer->http);
    return NULL;
}

/* ---- the game ---- */

struct hs_kill_game *hs_kill_game_create(uint64_t seed, struct hs_follower *follower)
{
    struct hs_kill_game *game = need(calloc(1, sizeof *game));
    game->seed = seed;
    game->follower = follower;
    for (int m = 0; m < MATCHES; m++) {
        struct match *match = &game->matches[m];
        match->game = game;
        match->number = m;
        pthread_mutex_init(&match->lock, NULL);
        pthread_cond_init(&match->moved, NULL);
        for (int w = 0; w < WRITERS; w++) {
            match->writers[w].match = match;
            hs_kill_squad_init(&match->writers[w].squad, m * WRITERS + w, w);
        }
        begin_opening(match);
    }
    return game;
}

void hs_kill_game_destroy(struct hs_kill_game *game)
{
    for (int m = 0; m < MATCHES; m++) {
        struct match *match = &game->matches[m];
        for (int w = 0; w < WRITERS; w++) {
            hs_kill_squad_free(&match->writers[w].squad);
            free(match->writers[w].body);
        }
        pthread_mutex_destroy(&match->lock);
        pthread_cond_destroy(&match->moved);
    }
    free(game);
}

void hs_kill_game_begin(struct hs_kill_game *game, unsigned port, int ticks)
{
    game->port = port;
    atomic_store(&game->dies, false);
    atomic_store(&game->dead, false);
    for (int m = 0; m < MATCHES; m++)
        for (int w = 0; w < WRITERS; w++) {
            struct writer *writer = &game->matches[m].writers[w];
            writer->most_ticks = ticks;
            if (pthread_create(&writer->thread, NULL, run, writer) != 0)
                abort();
        }
}

void hs_kill_game_dies(struct hs_kill_game *game)
{
    atomic_store(&game->dies, true);
}

void hs_kill_game_end(struct hs_kill_game *game)
{
    for (int m = 0; m < MATCHES; m++)
        for (int w = 0; w < WRITERS; w++)
            pthread_join(game->matches[m].writers[w].thread, NULL);
}

void hs_kill_game_total(const struct hs_kill_game *game, struct hs_kill_game_totals *out)
{
    *out = (struct hs_kill_game_totals){0};
    for (int m = 0; m < MATCHES; m++)
        for (int w = 0; w < WRITERS; w++) {
            const struct hs_kill_game_totals *totals = &game->matches[m].writers[w].totals;
            hs_follow_counts_add(&out->follow, &totals->follow);
            out->ticks += totals->ticks;
            out->sessions += game->matches[m].writers[w].squad.sessions;
            out->openings += totals->openings;
            out->unanswered += totals->unanswered;
        }
}
