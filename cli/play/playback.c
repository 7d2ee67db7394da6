#include "cli/play/playback.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/resync.h"
#include "cli/play/scenario/expect.h"
#include "service/record/stream.h"

enum { PATIENCE_SECONDS = 30, WAITS_MAX = 100 };

struct session {
    const struct hs_playback *playback;
    struct hs_name match; /* recorded name of the match that was opened first */
    /* The matches that this run has opened (resync.h), by their recorded names. The value false
       means that the recording has a gap in the match. */
    json_t *matches;
    size_t left_out;        /* requests that were not sent, because they follow a gap in the
                               recording */
    struct hs_forge *forge; /* NULL: claims are sent as recorded */
    double begin;           /* hs_client_now() at the first entry */
    double first_at;
    double shown; /* hs_client_now() when progress was last shown */
    size_t sent;
    /* The last request and its answer. */
    const char *method;
    char path[HS_PLAY_PATH_MAX];
    struct hs_client_response response;
    unsigned waits; /* how often the last request was repeated */
    char *error;    /* buffer of HS_PLAY_ERROR_MAX bytes */
};

__attribute__((format(printf, 2, 3))) static bool fail(struct session *session, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->error, HS_PLAY_ERROR_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* Describes an error answer, for example "400 The request has bad fields: /hits/0/start must be
   ..." */
static void describe_problem(const struct session *session, char *out, size_t size)
{
    const struct hs_client_response *response = &session->response;
    json_t *problem = json_loadb(response->body, response->size, 0, NULL), *field;
    const char *title = json_string_value(json_object_get(problem, "title"));
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    size_t i;
    FILE *text = fmemopen(out, size, "w");
    out[0] = '\0';
    if (text == NULL) {
        json_decref(problem);
        return;
    }
    fprintf(text, "%ld%s%s%s%s", response->status, title != NULL ? " " : "",
            title != NULL ? title : "", detail != NULL && *detail != '\0' ? ": " : "",
            detail != NULL ? detail : "");
    json_array_foreach(json_object_get(problem, "errors"), i, field)
    {
        const char *pointer = json_string_value(json_object_get(field, "pointer"));
        const char *fault = json_string_value(json_object_get(field, "detail"));
        if (pointer != NULL && fault != NULL && i < 3)
            fprintf(text, "%s %s %s", i == 0 ? ":" : ";", pointer, fault);
    }
    if (response->wait_seconds > 0.0)
        fprintf(text, " (sent %u time%s; the service asks to wait another %g s)",
                session->waits + 1, session->waits > 0 ? "s" : "", response->wait_seconds);
    fclose(text);
    out[size - 1] = '\0';
    json_decref(problem);
}

/* Sends a body (ptr NULL: none) to session->path. */
static bool send_text(struct session *session, struct hs_str body, const json_t *expect)
{
    const struct hs_playback *playback = session->playback;
    if (hs_playback_send(playback->client, session->method, session->path, body, expect,
                         playback->recording->header.unit, &session->waits, &session->response))
        return true;
    return fail(session,
                "no answer from %s: %s\n"
                "Is the service running there? Start one with: hindsight serve",
                hs_client_url(playback->client), hs_client_error(playback->client));
}

/* Sends a body (NULL: none) to session->path. */
static bool send_json(struct session *session, const json_t *body, const json_t *expect)
{
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (body != NULL && text == NULL)
        return fail(session, "out of memory");
    bool answered = send_text(session, hs_str_of(text), expect);
    free(text);
    return answered;
}

static void aim(struct session *session, const char *method, const char *collection,
                const char *name)
{
    session->method = method;
    snprintf(session->path, sizeof(session->path), "/v1/%s/%s", collection, name);
}

/* Returns whether the last request succeeded; otherwise writes the error message. `line`: the line
   number of the request in the recording, or 0 for a request that prepares a match. */
static bool succeeded(struct session *session, size_t line)
{
    char problem[HS_PLAY_ERROR_MAX / 2], where[32] = "";
    if (session->response.status < 400)
        return true;
    if (line > 0)
        snprintf(where, sizeof(where), "line %zu: ", line);
    describe_problem(session, problem, sizeof(problem));
    return fail(session, "%sthe service refused %s %s: %s", where, session->method, session->path,
                problem);
}

/* Sends a request that prepares the match. The request must succeed. */
static bool ask(struct session *session, const char *method, const char *collection,
                const char *name, const json_t *body)
{
    aim(session, method, collection, name);
    return send_json(session, body, NULL) && succeeded(session, 0);
}

static json_t *answer_of(const struct session *session)
{
    return json_loadb(session->response.body, session->response.size, 0, NULL);
}

/* Returns the name under which a recorded match is played. */
static const char *name_of(const struct session *session, const char *match)
{
    return session->playback->match != NULL ? session->playback->match : match;
}

static bool start_forging(struct session *session, const char *ruleset)
{
    hs_forge_destroy(session->forge);
    session->forge = NULL;
    if (!ask(session, "GET", "rulesets", ruleset, NULL))
        return false;
    json_t *answer = answer_of(session), *document = json_object_get(answer, "ruleset");
    session->forge =
        hs_forge_create(session->playback->cheat, json_is_object(document) ? document : answer);
    json_decref(answer);
    return session->forge != NULL || fail(session, "out of memory");
}

/* Uploads a ruleset from the recording. If the service already has this revision, does not upload
   the ruleset. Built-in rulesets need this exception, because the service refuses uploads under the
   names of built-in rulesets. `revision` is "" if the revision is unknown; the ruleset is then
   always uploaded. */
static bool bring_ruleset(struct session *session, const char *name, const char *revision,
                          const json_t *document)
{
    bool is_there = false;
    if (revision[0] != '\0') {
        aim(session, "GET", "rulesets", name);
        if (!send_json(session, NULL, NULL))
            return false;
        json_t *answer = answer_of(session);
        const char *there = json_string_value(json_object_get(answer, "revision"));
        is_there = session->response.status == 200 && there != NULL && strcmp(there, revision) == 0;
        json_decref(answer);
    }
    return is_there || ask(session, "PUT", "rulesets", name, document);
}

/* Uploads a map from the recording. Does nothing if the option `--map` is set, because the map of
   this option replaces all maps. */
static bool bring_map(struct session *session, const char *name, const json_t *document)
{
    return session->playback->map.ptr != NULL || ask(session, "PUT", "maps", name, document);
}

/* If `--map` is set, uploads that map under the name of the match's map. If the match has no map,
   the uploaded map gets the name of the match, and *map is set to this name. */
static bool replace_map(struct session *session, const char *match, const char **map)
{
    if (session->playback->map.ptr == NULL)
        return true;
    if (*map[0] == '\0')
        *map = match;
    aim(session, "PUT", "maps", *map);
    return send_text(session, session->playback->map, NULL) && succeeded(session, 0);
}

/* Some options support only one match. Returns false if such an option is set and `match` is the
   second match in the recording. */
static bool fits_options(struct session *session, const char *match)
{
    const struct hs_playback *playback = session->playback;
    if (session->match.text[0] == '\0')
        hs_name_set(&session->match, hs_str_of(match));
    if (strcmp(session->match.text, match) == 0 ||
        (playback->match == NULL && playback->cheat == HS_CHEAT_NONE && playback->speed <= 0.0))
        return true;
    return fail(session,
                "the recording has several matches; --match, --cheat and --speed support only one");
}

static bool open_match(struct session *session, const char *recorded, const char *ruleset,
                       const char *map)
{
    const struct hs_playback *playback = session->playback;
    const char *match = name_of(session, recorded);
    bool again = json_object_get(session->matches, recorded) != NULL;
    if (!fits_options(session, recorded) || !replace_map(session, match, &map))
        return false;
    if (playback->cheat != HS_CHEAT_NONE && !start_forging(session, ruleset))
        return false;
    aim(session, "DELETE", "matches", match);
    if ((playback->replace || again) && !send_json(session, NULL, NULL))
        return false;
    json_t *body = json_pack("{s:s}", "ruleset", ruleset);
    if (map[0] != '\0')
        json_object_set_new(body, "map", json_string(map));
    session->method = "PUT";
    if (!send_json(session, body, NULL)) {
        json_decref(body);
        return false;
    }
    json_object_set_new(session->matches, recorded, hs_resync_create(body));
    /* 200: the match was already open. 409: the match was open with another ruleset or map, or with
       another revision of the ruleset or map. */
    if (session->response.status == 200 || session->response.status == 409)
        return fail(session,
                    "the match %s is already open on this service; end it with --replace, "
                    "or play under another name with --match NAME",
                    match);
    return succeeded(session, 0);
}

/* Opens the match of an imported recording, with its ruleset and map. */
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
        session->begin = hs_client_now();
    if (!isfinite(at))
        return;
    if (!isfinite(session->first_at))
        session->first_at = at;
    if (speed > 0.0)
        hs_client_pause(session->begin + (at - session->first_at) / speed - hs_client_now());
}

static void show_progress(struct session *session, double at)
{
    const struct hs_playback *playback = session->playback;
    double now = hs_client_now();
    if (!playback->show_progress || now - session->shown < 0.1)
        return;
    session->shown = now;
    struct hs_recording *recording = playback->recording;
    fprintf(stderr, "\r\033[K  %.1f s of the match, %zu requests, %zu claims",
            isfinite(at) ? at - session->first_at : 0.0, session->sent,
            playback->tally->total.claims);
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

static bool count_result(struct session *session, const struct hs_recording_entry *entry,
                         size_t claim, const json_t *result)
{
    const struct hs_playback *playback = session->playback;
    const char *who = json_string_value(json_array_get(entry->who, claim));
    enum hs_truth truth = session->forge != NULL ? HS_TRUTH_UNKNOWN : truth_of(entry, claim);
    if (!hs_tally_result(playback->tally, who, truth, result))
        return fail(session, "line %zu: result %zu has no verdict", entry->line, claim);
    if (playback->observe != NULL)
        playback->observe(playback->context, entry, claim,
                          json_array_get(hs_recording_claims(entry), claim), result);
    return true;
}

/* Counts the results of all claims. A brief answer lists only the results that have something to
   report. The answer leaves out all other accepted claims, and contains only their number. */
static bool count_results(struct session *session, const struct hs_recording_entry *entry,
                          const json_t *answer)
{
    size_t claims = json_array_size(hs_recording_claims(entry)), listed = 0;
    const json_t *results = hs_tally_results(answer),
                 *accepted = json_object_get(answer, "accepted");
    if (json_is_object(accepted))
        accepted = json_object_get(accepted, "hits");
    size_t answered = json_array_size(results) + (size_t)json_integer_value(accepted);
    if (answered != claims)
        return fail(session, "line %zu: %zu results for %zu claims", entry->line, answered, claims);
    json_t *plain = json_pack("{s:s,s:s}", "verdict", "accepted", "reason", "ok");
    bool good = true;
    for (size_t i = 0; good && i < claims; i++) {
        const json_t *result = json_array_get(results, listed);
        const json_t *index = json_object_get(result, "index");
        bool is_listed =
            accepted == NULL || (index != NULL && json_integer_value(index) == (json_int_t)i);
        listed += is_listed ? 1 : 0;
        good = count_result(session, entry, i, is_listed ? result : plain);
    }
    json_decref(plain);
    return good;
}

static bool count_answer(struct session *session, const struct hs_recording_entry *entry,
                         const json_t *answer)
{
    hs_tally_frames(session->playback->tally, answer);
    return hs_recording_claims(entry) == NULL || count_results(session, entry, answer);
}

static void check_expectation(struct session *session, const struct hs_recording_entry *entry)
{
    const struct hs_playback *playback = session->playback;
    const struct hs_client_response *response = &session->response;
    char fault[HS_EXPECT_FAULT_MAX];
    bool held = hs_expect_answer(entry->expect, response->status, response->body, response->size,
                                 playback->recording->header.unit, fault);
    hs_tally_expectation(playback->tally, held);
    if (!held && playback->complaints != NULL)
        fprintf(playback->complaints, "%sline %zu: expectation failed: %s\n",
                playback->show_progress ? "\r\033[K" : "", entry->line, fault);
}

/* Returns the recorded name of an entry's match. */
static const char *recorded_name(const struct session *session,
                                 const struct hs_recording_entry *entry)
{
    return entry->name.text[0] != '\0' ? entry->name.text : session->match.text;
}

static const char *match_of(const struct session *session, const struct hs_recording_entry *entry)
{
    return name_of(session, recorded_name(session, entry));
}

/* Sets the method and the path. If the recording has no answer to a request, a bad field in the
   request is a mistake in the recording. Such a request is sent with `strict`, so that the service
   refuses bad fields. `brief` shortens the answer. `brief` is not set for an answer that is
   compared with an expectation, because such an answer must be complete. */
static void aim_request(struct session *session, const struct hs_recording_entry *entry)
{
    const char *match = match_of(session, entry);
    if (entry->route == HS_ROUTE_MATCH_DELETE) {
        aim(session, "DELETE", "matches", match);
        return;
    }
    session->method = "POST";
    bool is_expected = session->forge == NULL && entry->expect != NULL;
    snprintf(session->path, sizeof(session->path),
             "/v1/matches/%s/%s?strict=%s&explain=%s&brief=%s", match,
             hs_stream_request_name(entry->route), entry->answered ? "false" : "true",
             entry->explain ? "true" : "false", is_expected ? "false" : "true");
}

/* Restores a match that the service lost: opens the match, and posts the match's last second of
   frames. */
static bool bring_back(struct session *session, const char *name, const json_t *match)
{
    const json_t *recent = json_object_get(match, "recent"), *frames;
    bool good = ask(session, "PUT", "matches", name, json_object_get(match, "put"));
    size_t i;
    session->method = "POST";
    snprintf(session->path, sizeof(session->path), "/v1/matches/%s/frames", name);
    json_array_foreach(recent, i, frames)
    {
        json_t *body = json_pack("{s:O}", "frames", frames);
        good = good && send_json(session, body, NULL) && succeeded(session, 0);
        json_decref(body);
    }
    return good;
}

static bool is_unknown_match(const struct session *session)
{
    if (session->response.status == 403)
        return true; /* with tokens; if the token lacks a scope, the second answer is 403 too */
    if (session->response.status != 404)
        return false;
    json_t *problem = answer_of(session);
    const char *code = json_string_value(json_object_get(problem, "code"));
    bool is_unknown = code != NULL && strcmp(code, "unknown_match") == 0;
    json_decref(problem);
    return is_unknown;
}

/* Sends a request. If the answer says that the match is unknown, restores the match and sends the
   request again. */
static bool deliver(struct session *session, const struct hs_recording_entry *entry,
                    const json_t *expect, const json_t *match)
{
    if (!send_json(session, entry->body, expect))
        return false;
    if (match == NULL || expect != NULL || !is_unknown_match(session))
        return true;
    bool good = bring_back(session, match_of(session, entry), match);
    aim_request(session, entry);
    return good && send_json(session, entry->body, expect);
}

static bool play_request(struct session *session, struct hs_recording_entry *entry)
{
    json_t *match = NULL;
    if (entry->route != HS_ROUTE_MATCH_DELETE)
        match = json_object_get(session->matches, recorded_name(session, entry));
    aim_request(session, entry);
    if (session->forge != NULL)
        hs_forge_entry(session->forge, entry);
    wait_for_turn(session, entry->at);
    const json_t *expect = session->forge == NULL ? entry->expect : NULL;
    if (!deliver(session, entry, expect, match))
        return false;
    hs_tally_request(session->playback->tally, session->response.seconds);
    session->sent++;
    show_progress(session, entry->at);
    if (expect != NULL)
        check_expectation(session, entry);
    if (session->response.status >= 400)
        return expect != NULL || succeeded(session, entry->line);
    json_t *answer = answer_of(session);
    bool good = count_answer(session, entry, answer);
    hs_resync_keep(match, json_object_get(entry->body, "frames"));
    if (good && hs_resync_is_due(match, answer))
        good = bring_back(session, match_of(session, entry), match);
    json_decref(answer);
    return good;
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
    if (name[0] == '\0' || json_is_object(json_object_get(matches, name)))
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

bool hs_playback_send(struct hs_client *client, const char *method, const char *path,
                      struct hs_str body, const json_t *expect, double unit, unsigned *waits,
                      struct hs_client_response *response)
{
    char fault[HS_EXPECT_FAULT_MAX];
    double until = 0.0;
    for (*waits = 0;; ++*waits) {
        if (!hs_client_send(client, method, path, body.ptr, body.len, response))
            return false;
        double wait = response->wait_seconds, now = hs_client_now();
        if (*waits == 0)
            until = now + PATIENCE_SECONDS;
        if (wait <= 0.0 || *waits == WAITS_MAX || now + wait > until ||
            (expect != NULL && hs_expect_answer(expect, response->status, response->body,
                                                response->size, unit, fault)))
            return true;
        hs_client_pause(wait);
    }
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
                "%zu requests were not sent: the recording has gaps before them\n",
                session.left_out);
    hs_forge_destroy(session.forge);
    json_decref(session.matches);
    return good;
}
