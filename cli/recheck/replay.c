#include "cli/recheck/replay.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/maps.h"
#include "service/http/server.h"
#include "service/options/values.h"
#include "service/record/stream.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/watch/metrics.h"
#include "validators/journal.h"
#include "validators/snapshot.h"

/* A ruleset or a map from the stream, referenced until hs_replay_destroy. */
struct kept {
    char revision[HS_REVISION_MAX]; /* as recorded in the stream */
    struct hs_ruleset_entry *ruleset;
    struct hs_map_entry *map; /* exactly one of `ruleset` and `map` is not NULL */
};

struct hs_replay {
    struct hs_service service;
    /* the matches that were open at the last restart; NULL if `instead` is NULL */
    struct hs_registry *before;
    struct hs_options options;
    struct kept *kept;
    size_t kept_count;
    /* the rules that replace the recorded rules; NULL: the recorded rules are used */
    struct hs_ruleset_entry *instead;
    struct hs_name instead_of; /* replay only matches with this ruleset; "": all matches */
    json_t *left_out;          /* an object whose keys are the matches to leave out */
    struct hs_replay_summary summary;
    /* The arguments of the current call of hs_replay_line. */
    const struct hs_stream_line *line;
    struct hs_buffer *answer;
    char *error;
};

/* ---- creation ---- */

static bool create_service(struct hs_replay *replay)
{
    struct hs_service *service = &replay->service;
    char error[256];
    struct hs_options *options = &replay->options;
    hs_options_default(options);
    /* The recorded service has already enforced its limits. So the limits here only need to be
       large enough for every recording. */
    options->auto_open = false;
    options->max_matches = 1000000;
    options->max_batch = 65536;
    options->max_maps = 4096;
    options->map_bytes = options->ruleset_bytes = (size_t)1 << 40;
    service->options = options;
    service->metrics = hs_metrics_create();
    service->rulesets = hs_ruleset_store_create("centimetres", options->max_rulesets,
                                                options->ruleset_bytes, error);
    service->maps = hs_map_store_create(options->max_maps, options->map_bytes);
    if (service->rulesets != NULL && service->maps != NULL)
        service->registry =
            hs_registry_create(options->max_matches, service->rulesets, service->maps);
    replay->left_out = json_object();
    return service->metrics != NULL && service->rulesets != NULL && service->registry != NULL &&
           service->maps != NULL && replay->left_out != NULL;
}

/* Stores a ruleset and returns a reference to it. The reference stays valid even if another ruleset
   is later stored under the same name. Returns NULL if memory runs out, there are too many
   rulesets, or the name is reserved. */
static struct hs_ruleset_entry *hold_ruleset(struct hs_replay *replay, struct hs_ruleset *ruleset)
{
    char revision[HS_REVISION_MAX];
    struct hs_name name = ruleset->name;
    enum hs_ruleset_put result =
        hs_ruleset_store_put(replay->service.rulesets, (struct hs_str){0}, ruleset, revision);
    bool there = result == HS_RULESET_CREATED || result == HS_RULESET_REPLACED;
    return there ? hs_ruleset_store_get(replay->service.rulesets, hs_name_str(&name)) : NULL;
}

/* Adds a ruleset or a map (the other argument is NULL) to the kept rulesets and maps. Takes
   ownership of the reference, even on failure. Returns false if both arguments are NULL, or if
   memory runs out. */
static bool keep(struct hs_replay *replay, struct hs_str revision, struct hs_ruleset_entry *ruleset,
                 struct hs_map_entry *map)
{
    struct kept *more = realloc(replay->kept, (replay->kept_count + 1) * sizeof *more);
    if (more != NULL)
        replay->kept = more;
    if (more == NULL || (ruleset == NULL && map == NULL)) {
        hs_ruleset_store_release(replay->service.rulesets, ruleset);
        hs_map_store_release(replay->service.maps, map);
        return false;
    }
    struct kept *kept = &replay->kept[replay->kept_count++];
    *kept = (struct kept){.ruleset = ruleset, .map = map};
    snprintf(kept->revision, sizeof kept->revision, "%.*s", (int)revision.len, revision.ptr);
    return true;
}

/* Keeps the built-in rulesets, with their names as revisions. If a match uses a built-in ruleset,
   the recording may contain only the name of the ruleset. */
static bool keep_builtin(struct hs_replay *replay)
{
    bool fine = true;
    for (size_t i = 0; fine && i < HS_BUILTIN_RULESETS; i++) {
        struct hs_str name = hs_str_of(hs_builtin_rulesets[i].name);
        fine = keep(replay, name, hs_ruleset_store_get(replay->service.rulesets, name), NULL);
    }
    return fine;
}

struct hs_replay *hs_replay_create(struct hs_ruleset *ruleset, struct hs_str only)
{
    struct hs_replay *replay = calloc(1, sizeof *replay);
    bool fine = replay != NULL && create_service(replay) && keep_builtin(replay);
    if (!fine) {
        hs_ruleset_destroy(ruleset);
    } else if (ruleset != NULL) {
        replay->instead = hold_ruleset(replay, ruleset);
        fine = replay->instead != NULL;
        hs_name_set(&replay->instead_of, only);
    }
    if (fine)
        return replay;
    hs_replay_destroy(replay);
    return NULL;
}

void hs_replay_destroy(struct hs_replay *replay)
{
    if (replay == NULL)
        return;
    struct hs_service *service = &replay->service;
    hs_registry_destroy(service->registry); /* destroy the matches first, because they use rulesets
                                               and maps */
    hs_registry_destroy(replay->before);
    for (size_t i = 0; i < replay->kept_count; i++) {
        hs_ruleset_store_release(service->rulesets, replay->kept[i].ruleset);
        hs_map_store_release(service->maps, replay->kept[i].map);
    }
    hs_ruleset_store_release(service->rulesets, replay->instead);
    hs_map_store_destroy(service->maps);
    hs_ruleset_store_destroy(service->rulesets);
    hs_metrics_destroy(service->metrics);
    json_decref(replay->left_out);
    free(replay->kept);
    free(replay);
}

struct hs_replay_summary hs_replay_summary(const struct hs_replay *replay)
{
    struct hs_replay_summary summary = replay->summary;
    summary.rules_name = replay->instead != NULL ? replay->instead->ruleset->name.text : "";
    summary.revision = replay->instead != NULL ? replay->instead->revision : "";
    return summary;
}

/* ---- lines ---- */

static enum hs_replay_result impossible(struct hs_replay *replay, const char *what,
                                        struct hs_str name)
{
    snprintf(replay->error, HS_STREAM_ERROR_MAX, "%s%.*s", what, (int)name.len,
             name.ptr != NULL ? name.ptr : "");
    return HS_REPLAY_IMPOSSIBLE;
}

/* Ends all matches, because a service starts without matches. If there are replacement rules, moves
   the matches to `before`. A match that is restored later must continue from the state in `before`,
   because the recorded state was computed under the recorded rules. */
static enum hs_replay_result restart(struct hs_replay *replay)
{
    hs_registry_destroy(replay->before);
    replay->before = replay->instead != NULL ? replay->service.registry : NULL;
    if (replay->before == NULL)
        hs_registry_destroy(replay->service.registry);
    replay->service.registry = hs_registry_create(replay->options.max_matches,
                                                  replay->service.rulesets, replay->service.maps);
    json_object_clear(replay->left_out);
    return replay->service.registry != NULL
               ? HS_REPLAY_DONE
               : impossible(replay, "out of memory", (struct hs_str){0});
}

/* Finds a map by revision and name (`map`). If `map` is no_map, finds a ruleset by revision. */
static const struct kept *find_kept(const struct hs_replay *replay, struct hs_str revision,
                                    struct hs_str map)
{
    for (size_t i = replay->kept_count; i-- > 0;) {
        const struct kept *kept = &replay->kept[i];
        struct hs_str name = kept->map != NULL ? hs_name_str(&kept->map->name) : (struct hs_str){0};
        if (hs_str_equal(hs_str_of(kept->revision), revision) && hs_str_equal(name, map))
            return kept;
    }
    return NULL;
}

static const struct hs_str no_map = {0};

static enum hs_replay_result refused(struct hs_replay *replay, const char *what,
                                     const struct hs_problem *problem)
{
    snprintf(replay->error, HS_STREAM_ERROR_MAX, "%s: %.80s %.100s", what,
             problem->count > 0 ? problem->errors[0].pointer : "",
             problem->count > 0 ? problem->errors[0].detail : problem->detail);
    return HS_REPLAY_IMPOSSIBLE;
}

static enum hs_replay_result take_ruleset(struct hs_replay *replay)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_problem problem;
    hs_problem_init(&problem);
    if (find_kept(replay, line->revision, no_map) !=
        NULL) /* this ruleset was already read; a service records its rulesets again after a
                 restart */
        return HS_REPLAY_DONE;
    struct hs_ruleset *ruleset = hs_ruleset_from_text(line->document, line->name, &problem);
    if (ruleset == NULL)
        return refused(replay, "not a ruleset", &problem);
    return keep(replay, line->revision, hold_ruleset(replay, ruleset), NULL)
               ? HS_REPLAY_DONE
               : impossible(replay, "no space for the ruleset ", line->name);
}

/* Builds a map from its document and returns a reference to it. Returns NULL if the document is not
   a map, or if memory runs out. */
static struct hs_map_entry *build_map(struct hs_replay *replay, struct hs_str name,
                                      struct hs_str text)
{
    struct hs_arena arena = {0};
    struct hs_problem problem;
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    struct hs_map_document document;
    struct hs_map_entry *entry = NULL;
    hs_problem_init(&problem);
    struct hs_world_mesh counts = hs_map_measure(text);
    if (hs_map_decode(&reader, text, &counts, &document)) {
        struct hs_world_mesh mesh = hs_map_mesh(&document);
        hs_map_store_put(replay->service.maps, name, &mesh, &entry);
    }
    hs_map_document_free(&document);
    hs_arena_free(&arena);
    return entry;
}

static enum hs_replay_result take_map(struct hs_replay *replay)
{
    const struct hs_stream_line *line = replay->line;
    bool known = find_kept(replay, line->revision, line->name) != NULL;
    return known ||
                   keep(replay, line->revision, NULL, build_map(replay, line->name, line->document))
               ? HS_REPLAY_DONE
               : impossible(replay, "not a map, or no space for it: ", line->name);
}

/* The empty tenant name, with which the replay accesses the matches of all tenants. */
static const struct hs_str anybody = {0};

/* Ends the match that the line names. Returns false if the match is not open. */
static bool forget_match(struct hs_replay *replay)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(replay->service.registry, anybody, replay->line->name, NULL, &slot);
    if (slot != NULL) {
        hs_registry_remove(replay->service.registry, slot);
        hs_registry_release(replay->service.registry, slot);
    }
    return slot != NULL;
}

/* Sets whether the replay leaves out requests to the line's match from now on. */
static void leave_out(struct hs_replay *replay, bool left_out)
{
    struct hs_str name = replay->line->name;
    if (left_out)
        json_object_setn_new(replay->left_out, name.ptr, name.len, json_true());
    else
        json_object_deln(replay->left_out, name.ptr, name.len);
}

static bool is_left_out(const struct hs_replay *replay)
{
    struct hs_str name = replay->line->name;
    return json_object_getn(replay->left_out, name.ptr, name.len) != NULL;
}

/* ---- restored matches ---- */

static const char *const other_version = "its state is from another version of the program";

static enum hs_replay_result unknown(struct hs_replay *replay, const char *why)
{
    forget_match(replay);
    leave_out(replay, true);
    hs_buffer_puts(replay->answer, why);
    return HS_REPLAY_UNKNOWN;
}

/* The line names a match. Saves the state that this match had before the restart. That state was
   computed under the replacement rules. Returns false if the match was not open before the restart,
   or if memory runs out. */
static bool save_own(struct hs_replay *replay, struct hs_bytes *out)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_match_slot *slot = NULL;
    if (replay->before != NULL)
        hs_registry_acquire(replay->before, anybody, line->name, NULL, &slot);
    if (slot == NULL)
        return false;
    bool is_same = slot->opening == line->opening;
    if (is_same)
        hs_match_save(slot->match, out);
    hs_registry_release(replay->before, slot);
    return is_same && !out->failed;
}

/* Decodes the state in the line. `data` is NULL if the state is not base64, or if memory runs
   out. */
static struct hs_bytes decode_state(const struct hs_replay *replay)
{
    struct hs_bytes state = {0};
    state.data = hs_stream_decode(replay->line->state, &state.len);
    return state;
}

/* Returns whether the state in the line can be loaded under the replacement rules. The state can be
   loaded if it is the evidence of a verdict, and the replacement rules contain everything that the
   state refers to. */
static bool is_fit(const struct hs_replay *replay, const struct hs_bytes *state)
{
    const struct kept *kept = find_kept(replay, replay->line->revision, no_map);
    return state->data != NULL && kept != NULL && hs_match_is_excerpt(state->data, state->len) &&
           hs_excerpt_fits(kept->ruleset->ruleset, replay->instead->ruleset);
}

/* Restores the match that the line names. Returns NULL on failure, with the reason in *why. */
static struct hs_match *load_match(struct hs_replay *replay, const struct hs_match_opening *opening,
                                   const char **why)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_bytes state = {0};
    struct hs_match *match = NULL;
    if (replay->instead == NULL) {
        state = decode_state(replay);
        *why = state.data == NULL ? "its state is damaged" : other_version;
    } else if (!save_own(replay, &state)) {
        free(state.data);
        state = decode_state(replay);
        *why = "its state before the restart is not known under these rules";
        if (!is_fit(replay, &state))
            state.len = 0;
    }
    if (state.len > 0)
        hs_match_load(opening->ruleset->ruleset, &opening->limits, state.data, state.len, &match);
    if (match != NULL && line->moves_lost)
        hs_match_lost_moves(match);
    free(state.data);
    return match;
}

/* Applies the journal that the recorded service applied to a restored match. Ignores the journal
   under replacement rules, because the match then continues from a state that was computed under
   these rules. */
static enum hs_replay_result apply_journal(struct hs_replay *replay)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_match_slot *slot = NULL;
    char layout[HS_STREAM_LAYOUT];
    hs_stream_layout(layout);
    if (is_left_out(replay))
        return HS_REPLAY_DONE;
    if (line->ended)
        return forget_match(replay)
                   ? HS_REPLAY_DONE
                   : impossible(replay, "the end of a match that is not open: ", line->name);
    if (replay->instead != NULL)
        return HS_REPLAY_DONE;
    size_t size = 0;
    unsigned char *records = hs_stream_decode(line->records, &size);
    if (records == NULL || !hs_str_equal(hs_str_of(layout), line->layout)) {
        free(records);
        return unknown(replay, other_version);
    }
    hs_registry_acquire(replay->service.registry, anybody, line->name, NULL, &slot);
    if (slot != NULL) {
        /* ignore damaged records, as the service does */
        hs_match_replay(slot->match, records, size);
        hs_registry_release(replay->service.registry, slot);
    }
    free(records);
    return slot != NULL ? HS_REPLAY_DONE
                        : impossible(replay, "a journal of a match that is not open: ", line->name);
}

/* ---- matches ---- */

/* Opens a match with a name that no other match has. Sets the map and the restored match in
   `opening`. */
static enum hs_replay_result open_slot(struct hs_replay *replay, struct hs_match_opening *opening)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_match_slot *slot = NULL;
    const char *why = NULL;
    if (line->map.ptr != NULL) {
        const struct kept *map = find_kept(replay, line->map_revision, line->map);
        if (map == NULL)
            return impossible(replay, "the stream has no map ", line->map);
        opening->map = map->map;
    }
    if (line->state.ptr != NULL) {
        opening->match = load_match(replay, opening, &why);
        if (opening->match == NULL)
            return unknown(replay, why != NULL ? why : "out of memory");
    }
    hs_registry_acquire(replay->service.registry, anybody, line->name, opening, &slot);
    if (slot == NULL) {
        hs_match_destroy(opening->match);
        return impossible(replay, "no space for the match ", line->name);
    }
    hs_registry_release(replay->service.registry, slot);
    replay->summary.opened++;
    replay->summary.restored += line->state.ptr != NULL ? 1 : 0;
    return HS_REPLAY_DONE;
}

/* Opens the match that the line names. If an older match with that name is still open, the
   recording lacks the end of the older match. In this case, closes the older match first, and
   returns HS_REPLAY_REOPENED. */
static enum hs_replay_result open_match(struct hs_replay *replay)
{
    const struct hs_stream_line *line = replay->line;
    const struct kept *kept = find_kept(replay, line->revision, no_map);
    bool reopened = forget_match(replay);
    if (kept == NULL)
        return impossible(replay, "the stream has no ruleset ", line->revision);
    bool taken = replay->instead_of.text[0] == '\0' ||
                 strcmp(replay->instead_of.text, kept->ruleset->ruleset->name.text) == 0;
    leave_out(replay, !taken);
    if (!taken) {
        replay->summary.left_out++;
        return HS_REPLAY_DONE;
    }
    struct hs_match_opening opening = {.limits = {.players = (uint32_t)line->max_players,
                                                  .samples = (uint32_t)line->max_samples,
                                                  .movers = (uint32_t)line->max_movers},
                                       .tenant = line->tenant,
                                       .number = line->opening};
    opening.ruleset = replay->instead != NULL ? replay->instead : kept->ruleset;
    enum hs_replay_result result = open_slot(replay, &opening);
    return result == HS_REPLAY_DONE && reopened ? HS_REPLAY_REOPENED : result;
}

static enum hs_replay_result apply(struct hs_replay *replay)
{
    const struct hs_stream_line *line = replay->line;
    struct hs_problem problem;
    struct hs_arena arena = {0};
    struct hs_reply reply = {.status = 200, .problem = &problem, .body = *replay->answer};
    struct hs_request request = {.route = line->route,
                                 .listener = HS_LISTENER_DATA,
                                 .params = {.name = {line->name}},
                                 .body = line->body,
                                 .request_id = "",
                                 .arena = &arena,
                                 .brief = line->brief,
                                 /* Under replacement rules the answer must contain all checks,
                                    because the report shows their measurements. */
                                 .explain = line->explain || replay->instead != NULL};
    if (is_left_out(replay))
        return HS_REPLAY_LEFT_OUT;
    hs_problem_init(&problem);
    /* Items that exceeded the recorded work budget must stay unverified here too. If no budget is
       recorded, the service verified all items. */
    replay->options.request_work = line->request_work > 0 ? (size_t)line->request_work : SIZE_MAX;
    hs_endpoints[line->route](&replay->service, &request, &reply);
    hs_arena_free(&arena);
    *replay->answer = reply.body;
    if (problem.code == HS_PROBLEM_NONE && !reply.body.failed)
        return HS_REPLAY_ANSWERED;
    if (problem.code == HS_PROBLEM_UNKNOWN_MATCH)
        return impossible(replay, "a request for a match that is not open: ", line->name);
    return refused(replay, hs_problem_name(problem.code), &problem);
}

static enum hs_replay_result begin_gap(struct hs_replay *replay)
{
    forget_match(replay);
    leave_out(replay, false);
    return HS_REPLAY_DONE;
}

enum hs_replay_result hs_replay_line(struct hs_replay *replay, const struct hs_stream_line *line,
                                     struct hs_buffer *answer, char error[HS_STREAM_ERROR_MAX])
{
    static enum hs_replay_result (*const kinds[HS_STREAM_KIND_COUNT])(struct hs_replay *) = {
        [HS_STREAM_HEADER] = restart,        [HS_STREAM_RULESET] = take_ruleset,
        [HS_STREAM_MAP] = take_map,          [HS_STREAM_OPEN] = open_match,
        [HS_STREAM_REQUEST] = apply,         [HS_STREAM_GAP] = begin_gap,
        [HS_STREAM_JOURNAL] = apply_journal,
    };
    replay->line = line;
    replay->answer = answer;
    replay->error = error;
    answer->len = 0;
    return line->revision.len < HS_REVISION_MAX
               ? kinds[line->kind](replay)
               : impossible(replay, "not a revision: ", line->revision);
}
