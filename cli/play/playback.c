#include "cli/play/playback.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/play/scenario/expect.h"
#include "service/record/stream.h"

struct session {
    const struct hs_playback *playback;
    struct hs_name match;   /* that was opened first, as the recording calls it */
    json_t *matches;        /* opened by this run, by the recording's name: true while it is open */
    size_t left_out;        /* requests of matches that are not open */
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

/* What a match of the recording is called in the service. */
static const char *name_of(const struct session *session, const char *match)
{
    return session->playback->match != NULL ? session->playback->match : match;
}

static bool start_forging(struct session *session, const char *ruleset)
{
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    hs_forge_destroy(session->forge);
    session->forge = NULL;
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

/* Whether the service has a ruleset of this name and revision. */
static bool has_ruleset(struct session *session, const char *path, const char *revision, bool *has)
{
    struct hs_client_response response = {0};
    *has = false;
    if (revision[0] == '\0')
        return true;
    if (!send_json(session, "GET", path, NULL, NULL, &response))
        return false;
    json_t *answer = json_loadb(response.body, response.size, 0, NULL);
    const char *there = json_string_value(json_object_get(answer, "revision"));
    *has = response.status == 200 && there != NULL && strcmp(there, revision) == 0;
    json_decref(answer);
    return true;
}

/* PUTs a ruleset of the recording, unless it is there: built-in names cannot be PUT. */
static bool bring_ruleset(struct session *session, const char *name, const char *revision,
                          const json_t *document)
{
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    bool has;
    snprintf(path, sizeof(path), "/v1/rulesets/%s", name);
    return has_ruleset(session, path, revision, &has) &&
           (has || ask(session, "PUT", path, document, &response));
}

/* PUTs a map of the recording; `--map` comes instead of all of them. */
static bool bring_map(struct session *session, const char *name, const json_t *document)
{
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    snprintf(path, sizeof(path), "/v1/maps/%s", name);
    return session->playback->map.ptr != NULL || ask(session, "PUT", path, document, &response);
}

/* The name of the map a match is opened on, brought with `--map` or named; empty: none. */
static bool choose_map(struct session *session, const char *match, const char *named,
                       const char **map)
{
    char path[HS_PLAY_PATH_MAX];
    struct hs_str document = session->playback->map;
    struct hs_client_response response = {0};
    *map = named;
    if (document.ptr == NULL)
        return true;
    if (named[0] == '\0')
        *map = match;
    snprintf(path, sizeof(path), "/v1/maps/%s", *map);
    return send_text(session, "PUT", path, document, NULL, &response) &&
           must_succeed(session, "PUT", path, &response);
}

/* A second match of the recording: what is wanted for one may not fit it. */
static bool is_welcome(struct session *session, const char *match)
{
    const struct hs_playback *playback = session->playback;
    if (session->match.text[0] == '\0')
        hs_name_set(&session->match, (struct hs_str){match, strlen(match)});
    if (strcmp(session->match.text, match) == 0 ||
        (playback->match == NULL && playback->cheat == HS_CHEAT_NONE && playback->speed <= 0.0))
        return true;
    return fail(session,
                "the recording has several matches; --match, --cheat and --speed are for one");
}

static bool open_match(struct session *session, const char *recorded, const char *ruleset,
                       const char *named_map)
{
    const struct hs_playback *playback = session->playback;
    const char *match = name_of(session, recorded), *map;
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response = {0};
    bool again = json_object_get(session->matches, recorded) != NULL;
    if (!is_welcome(session, recorded) || !choose_map(session, match, named_map, &map))
        return false;
    if (playback->cheat != HS_CHEAT_NONE && !start_forging(session, ruleset))
        return false;
    snprintf(path, sizeof(path), "/v1/matches/%s", match);
    if ((playback->replace || again) && !send_json(session, "DELETE", path, NULL, NULL, &response))
        return false;
    json_t *body = json_pack("{s:s}", "ruleset", ruleset);
    if (map[0] != '\0')
        json_object_set_new(body, "map", json_string(map));
    bool good = send_json(session, "PUT", path, body, NULL, &response);
    json_decref(body);
    if (!good)
        return false;
    /* 409: open under another ruleset or map, or another revision of them. */
    if (response.status == 200 || response.status == 409)
        return fail(session,
                    "the match %s is open on this service already; end it with --replace, "
                    "or play under another name with --match NAME",
                    match);
    json_object_set_new(session->matches, recorded, json_true());
    return must_succeed(session, "PUT", path, &response);
}

/* The match of an importer's recording, with what it brings. */
static bool open_header(struct session *session)
{
    const struct hs_recording_header *header = &session->playback->recording->header;
    if (header->match.text[0] == '\0')
        return true;
    return (header->ruleset_document == NULL ||
            bring_ruleset(session, header->ruleset.text, "", header->ruleset_document)) &&
           (header->map_document == NULL ||
            bring_map(session, header->map.text, header->map_document)) &&
           open_match(session, header->match.text, header->ruleset.text, header->map.text);
}

static void wait_for_turn(struct session *session, double at)
{
    double speed = session->playback->speed;
    if (session->sent == 0)
        session->begin = now_seconds();
    if (!isfinite(at))
        return;
    if (!isfinite(session->first_at))
        session->first_at = at;
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
            isfinite(at) ? at - session->first_at : 0.0, session->sent,
            hs_tally_total(playback->tally)->claims);
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

/* The request as the service wants it. A bad field of a request that no service took yet is a fault
   of the recording: it must not pass as one refused item. */
static const char *target_of(const struct session *session, const struct hs_recording_entry *entry,
                             char path[HS_PLAY_PATH_MAX])
{
    const char *match =
        name_of(session, entry->name.text[0] != '\0' ? entry->name.text : session->match.text);
    bool deletes = entry->route == HS_ROUTE_MATCH_DELETE, strict = !deletes && !entry->answered;
    bool explain = !deletes && entry->explain;
    snprintf(path, HS_PLAY_PATH_MAX, "/v1/matches/%s%s%s%s%s%s%s", match, deletes ? "" : "/",
             deletes ? "" : hs_stream_request_name(entry->route), strict || explain ? "?" : "",
             strict ? "strict=true" : "", strict && explain ? "&" : "",
             explain ? "explain=true" : "");
    return deletes ? "DELETE" : "POST";
}

static bool play_request(struct session *session, struct hs_recording_entry *entry)
{
    const struct hs_playback *playback = session->playback;
    char path[HS_PLAY_PATH_MAX], problem[HS_PLAY_ERROR_MAX / 2];
    struct hs_client_response response = {0};
    const char *method = target_of(session, entry, path);
    if (session->forge != NULL)
        hs_forge_entry(session->forge, entry);
    wait_for_turn(session, entry->at);
    bool judged = entry->expect != NULL && session->forge == NULL;
    if (!send_json(session, method, path, entry->body, judged ? entry->expect : NULL, &response))
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
    return fail(session, "line %zu: the service refused %s %s: %s", entry->line, method, path,
                problem);
}

static bool play_entry(struct session *session, struct hs_recording_entry *entry)
{
    const char *name = entry->name.text, *key;
    json_t *matches = session->matches, *value;
    switch (entry->kind) {
    case HS_ENTRY_RULESET:
        return bring_ruleset(session, name, entry->revision, entry->document);
    case HS_ENTRY_MAP:
        return bring_map(session, name, entry->document);
    case HS_ENTRY_OPEN:
        return open_match(session, name, entry->ruleset.text, entry->map.text);
    case HS_ENTRY_GAP:
        if (json_object_get(matches, name) != NULL)
            json_object_set_new(matches, name, json_false());
        return true;
    case HS_ENTRY_RESTART:
        json_object_foreach(matches, key, value)
        {
            json_object_set_new(matches, key, json_false());
        }
        return true;
    case HS_ENTRY_REQUEST:
        break;
    }
    if (name[0] == '\0' || json_is_true(json_object_get(matches, name)))
        return play_request(session, entry);
    session->left_out++;
    return true;
}

static bool play_all(struct session *session)
{
    struct hs_recording *recording = session->playback->recording;
    bool good = open_header(session);
    while (good) {
        struct hs_recording_entry entry;
        enum hs_recording_result result = hs_recording_next(recording, &entry, session->error);
        if (result == HS_RECORDING_END)
            break;
        good = result == HS_RECORDING_ENTRY && play_entry(session, &entry);
        hs_recording_entry_clear(&entry);
    }
    return good;
}

bool hs_playback_run(const struct hs_playback *playback, char error[HS_PLAY_ERROR_MAX])
{
    struct session session = {
        .playback = playback, .matches = json_object(), .first_at = -HUGE_VAL, .error = error};
    bool good = session.matches != NULL ? play_all(&session) : fail(&session, "out of memory");
    if (playback->show_progress && session.shown > 0.0)
        fputs("\r\033[K", stderr);
    if (session.left_out > 0 && playback->complaints != NULL)
        fprintf(playback->complaints,
                "%zu requests were left out: the recording has gaps before them\n",
                session.left_out);
    hs_forge_destroy(session.forge);
    json_decref(session.matches);
    return good;
}
