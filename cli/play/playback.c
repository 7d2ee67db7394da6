#include "cli/play/playback.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/play/scenario/expect.h"

struct session {
    const struct hs_playback *playback;
    const char *match;
    struct hs_forge *forge; /* NULL: honest */
    double begin;           /* seconds of this machine's clock at the first entry */
    double first_at;
    double shown; /* when progress was last shown */
    size_t sent;
    struct hs_client_patience patience; /* with the last request */
    char *error;                        /* HS_PLAY_ERROR_MAX */
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static bool fail(struct session *session, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->error, HS_PLAY_ERROR_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* "400 The request has bad fields: /hits/0/start must be ..." */
static void describe_problem(const struct session *session,
                             const struct hs_client_response *response, char *out, size_t size)
{
    json_t *problem = json_loadb(response->body, response->size, 0, NULL);
    const char *title = json_string_value(json_object_get(problem, "title"));
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    int used = snprintf(out, size, "%ld%s%s%s%s", response->status, title != NULL ? " " : "",
                        title != NULL ? title : "", detail != NULL && *detail != '\0' ? ": " : "",
                        detail != NULL ? detail : "");
    size_t i;
    json_t *field;
    json_array_foreach(json_object_get(problem, "errors"), i, field)
    {
        const char *pointer = json_string_value(json_object_get(field, "pointer"));
        const char *fault = json_string_value(json_object_get(field, "detail"));
        if (pointer == NULL || fault == NULL || used < 0 || (size_t)used >= size || i == 3)
            break;
        used += snprintf(out + used, size - (size_t)used, "%s %s %s", i == 0 ? ":" : ";", pointer,
                         fault);
    }
    if (response->wait_seconds > 0.0 && used >= 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used,
                 " (sent %u time%s, and told to come back in another %g s)",
                 session->patience.waits + 1, session->patience.waits > 0 ? "s" : "",
                 response->wait_seconds);
    json_decref(problem);
}

/* Whether the answer is what the recording wants; expect NULL: it does not say. */
static bool is_wanted(const struct session *session, const json_t *expect,
                      const struct hs_client_response *response)
{
    char fault[HS_EXPECT_FAULT_MAX];
    return expect != NULL &&
           hs_expect_answer(expect, response->status, response->body, response->size,
                            session->playback->recording->header.unit, fault);
}

/* Sends a body, ptr NULL: none. A refusal for now, unless it is wanted, is waited out. */
static bool send_text(struct session *session, const char *method, const char *path,
                      struct hs_str body, const json_t *expect, struct hs_client_response *response)
{
    const struct hs_playback *playback = session->playback;
    session->patience = (struct hs_client_patience){0};
    do {
        if (!hs_client_send(playback->client, method, path, body.ptr, body.len, response))
            return fail(session,
                        "no answer from %s: %s\n"
                        "Is the service running there? Start one with: hindsight serve",
                        hs_client_url(playback->client), hs_client_error(playback->client));
    } while (response->wait_seconds > 0.0 && !is_wanted(session, expect, response) &&
             hs_client_wait(&session->patience, response));
    return true;
}

static bool send_json(struct session *session, const char *method, const char *path,
                      const json_t *body, const json_t *expect, struct hs_client_response *response)
{
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (body != NULL && text == NULL)
        return fail(session, "out of memory");
    struct hs_str sent = {text, text != NULL ? strlen(text) : 0};
    bool answered = send_text(session, method, path, sent, expect, response);
    free(text);
    return answered;
}

/* Anything but success is an error. */
static bool must_succeed(struct session *session, const char *method, const char *path,
                         const struct hs_client_response *response)
{
    char problem[HS_PLAY_ERROR_MAX / 2];
    if (response->status < 400)
        return true;
    describe_problem(session, response, problem, sizeof(problem));
    return fail(session, "the service refused %s %s: %s", method, path, problem);
}

/* A request of the preparation. */
static bool ask(struct session *session, const char *method, const char *path, const json_t *body,
                struct hs_client_response *response)
{
    return send_json(session, method, path, body, NULL, response) &&
           must_succeed(session, method, path, response);
}

/* The name of the map the match is opened on; empty: none. */
static const char *map_name(const struct session *session)
{
    const struct hs_playback *playback = session->playback;
    const char *named = playback->recording->header.map.text;
    return named[0] == '\0' && playback->map.ptr != NULL ? session->match : named;
}

static bool start_forging(struct session *session, const char *ruleset)
{
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    snprintf(path, sizeof(path), "/v1/rulesets/%s", ruleset);
    if (!ask(session, "GET", path, NULL, &response))
        return false;
    json_t *answer = json_loadb(response.body, response.size, 0, NULL);
    json_t *document = json_object_get(answer, "ruleset");
    session->forge =
        hs_forge_create(session->playback->cheat, json_is_object(document) ? document : answer);
    json_decref(answer);
    return session->forge != NULL || fail(session, "out of memory");
}

/* PUTs what the recording brings to be judged by. */
static bool bring_rules(struct session *session)
{
    const struct hs_playback *playback = session->playback;
    const struct hs_recording_header *header = &playback->recording->header;
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    snprintf(path, sizeof(path), "/v1/rulesets/%s", header->ruleset.text);
    if (header->ruleset_document != NULL &&
        !ask(session, "PUT", path, header->ruleset_document, &response))
        return false;
    if (playback->map.ptr != NULL) {
        snprintf(path, sizeof(path), "/v1/maps/%s", map_name(session));
        return send_text(session, "PUT", path, playback->map, NULL, &response) &&
               must_succeed(session, "PUT", path, &response);
    }
    snprintf(path, sizeof(path), "/v1/maps/%s", header->map.text);
    return header->map_document == NULL ||
           ask(session, "PUT", path, header->map_document, &response);
}

static bool open_match(struct session *session)
{
    const struct hs_playback *playback = session->playback;
    const struct hs_recording_header *header = &playback->recording->header;
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    if (!bring_rules(session))
        return false;
    if (playback->cheat != HS_CHEAT_NONE && !start_forging(session, header->ruleset.text))
        return false;

    snprintf(path, sizeof(path), "/v1/matches/%s", session->match);
    if (playback->replace && !send_json(session, "DELETE", path, NULL, NULL, &response))
        return false;
    json_t *body = json_pack("{s:s}", "ruleset", header->ruleset.text);
    if (map_name(session)[0] != '\0')
        json_object_set_new(body, "map", json_string(map_name(session)));
    bool good = send_json(session, "PUT", path, body, NULL, &response);
    json_decref(body);
    if (!good)
        return false;
    /* 409: open under another ruleset or map, or another revision of them. */
    if (response.status == 200 || response.status == 409)
        return fail(session,
                    "the match %s is open on this service already; end it with --replace, "
                    "or play under another name with --match NAME",
                    session->match);
    return must_succeed(session, "PUT", path, &response);
}

static void wait_for_turn(struct session *session, double at)
{
    double speed = session->playback->speed;
    if (session->sent == 0) {
        session->begin = now_seconds();
        session->first_at = at;
    }
    if (speed <= 0.0)
        return;
    double left = session->begin + (at - session->first_at) / speed - now_seconds();
    if (left > 0.0) {
        struct timespec pause = {.tv_sec = (time_t)left};
        pause.tv_nsec = (long)((left - (double)pause.tv_sec) * 1e9);
        nanosleep(&pause, NULL);
    }
}

static void show_progress(struct session *session, double at)
{
    const struct hs_playback *playback = session->playback;
    double now = now_seconds();
    if (!playback->show_progress || now - session->shown < 0.1)
        return;
    session->shown = now;
    struct hs_recording *recording = playback->recording;
    fprintf(stderr, "\r\033[K  %.1f s of the match, %zu requests, %zu claims",
            at - session->first_at, session->sent, hs_tally_total(playback->tally)->claims);
    if (recording->progress != NULL)
        fprintf(stderr, "  (%.0f %%)", 100.0 * recording->progress(recording->state));
    fflush(stderr);
}

static enum hs_truth truth_of(const struct hs_recording_entry *entry, size_t claim)
{
    const char *text = json_string_value(json_array_get(entry->truth, claim));
    if (text == NULL)
        return HS_TRUTH_UNKNOWN;
    return strcmp(text, "hit") == 0 ? HS_TRUTH_HIT : HS_TRUTH_MISS;
}

static bool take_results(struct session *session, const struct hs_recording_entry *entry,
                         const json_t *answer)
{
    const struct hs_playback *playback = session->playback;
    json_t *claims = hs_recording_claims(entry);
    json_t *hits = json_object_get(answer, "hits");
    json_t *results = json_object_get(json_is_object(hits) ? hits : answer, "results");
    if (json_is_array(hits))
        results = hits;
    if (json_array_size(results) != json_array_size(claims))
        return fail(session, "line %zu: %zu results for %zu claims", entry->line,
                    json_array_size(results), json_array_size(claims));
    size_t i;
    json_t *result;
    json_array_foreach(results, i, result)
    {
        const char *who = json_string_value(json_array_get(entry->who, i));
        enum hs_truth truth = session->forge != NULL ? HS_TRUTH_UNKNOWN : truth_of(entry, i);
        if (!hs_tally_result(playback->tally, who, truth, result))
            return fail(session, "line %zu: result %zu has no verdict", entry->line, i);
        if (playback->observe != NULL)
            playback->observe(playback->context, entry, i, json_array_get(claims, i), result);
    }
    return true;
}

static bool take_answer(struct session *session, const struct hs_recording_entry *entry,
                        const struct hs_client_response *response)
{
    json_t *answer = json_loadb(response->body, response->size, 0, NULL);
    json_t *frames = json_object_get(answer, "frames");
    hs_tally_frames(session->playback->tally, frames != NULL ? frames : answer);
    bool good = hs_recording_claims(entry) == NULL || take_results(session, entry, answer);
    json_decref(answer);
    return good;
}

static void check_expectation(struct session *session, const struct hs_recording_entry *entry,
                              const struct hs_client_response *response)
{
    const struct hs_playback *playback = session->playback;
    char fault[HS_EXPECT_FAULT_MAX];
    bool held = hs_expect_answer(entry->expect, response->status, response->body, response->size,
                                 playback->recording->header.unit, fault);
    hs_tally_expectation(playback->tally, held);
    if (!held && playback->complaints != NULL)
        fprintf(playback->complaints, "%sline %zu: expectation failed: %s\n",
                playback->show_progress ? "\r\033[K" : "", entry->line, fault);
}

/* A bad field is a fault of the recording: it must not pass as one refused item. A path with a
   query says itself what it wants. */
static bool path_of(const struct session *session, const struct hs_recording_entry *entry,
                    char out[HS_PLAY_PATH_MAX])
{
    static const char strict[] = "?strict=true";
    if (!hs_recording_path(entry, session->match, out))
        return false;
    if (strcmp(entry->method, "POST") != 0 || strchr(out, '?') != NULL)
        return true;
    size_t len = strlen(out);
    if (len + sizeof(strict) > HS_PLAY_PATH_MAX)
        return false;
    memcpy(out + len, strict, sizeof(strict));
    return true;
}

static bool play_entry(struct session *session, struct hs_recording_entry *entry)
{
    const struct hs_playback *playback = session->playback;
    char path[HS_PLAY_PATH_MAX], problem[HS_PLAY_ERROR_MAX / 2];
    struct hs_client_response response = {0};
    if (session->forge != NULL)
        hs_forge_entry(session->forge, entry);
    if (!path_of(session, entry, path))
        return fail(session, "line %zu: the path is too long", entry->line);
    wait_for_turn(session, entry->at);
    bool judged = entry->expect != NULL && session->forge == NULL;
    if (!send_json(session, entry->method, path, entry->body, judged ? entry->expect : NULL,
                   &response))
        return false;
    hs_tally_request(playback->tally, response.seconds);
    session->sent++;
    show_progress(session, entry->at);
    if (judged)
        check_expectation(session, entry, &response);
    if (response.status < 400)
        return take_answer(session, entry, &response);
    if (judged)
        return true;
    describe_problem(session, &response, problem, sizeof(problem));
    return fail(session, "line %zu: the service refused %s %s: %s", entry->line, entry->method,
                path, problem);
}

bool hs_playback_run(const struct hs_playback *playback, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_recording *recording = playback->recording;
    struct session session = {.playback = playback,
                              .match = playback->match != NULL ? playback->match
                                                               : recording->header.match.text,
                              .error = error};
    bool good = open_match(&session);
    while (good) {
        struct hs_recording_entry entry;
        enum hs_recording_result result = hs_recording_next(recording, &entry, error);
        if (result == HS_RECORDING_END)
            break;
        good = result == HS_RECORDING_ENTRY && play_entry(&session, &entry);
        hs_recording_entry_clear(&entry);
    }
    if (playback->show_progress && session.shown > 0.0)
        fputs("\r\033[K", stderr);
    hs_forge_destroy(session.forge);
    return good;
}
