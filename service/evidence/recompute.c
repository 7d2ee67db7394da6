#include "service/evidence/recompute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/maps.h"
#include "service/record/members.h"
#include "service/record/stream.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "validators/snapshot.h"

/* ---- the evidence ---- */

void hs_evidence_parts_add_line(struct hs_evidence_parts *parts, const struct hs_stream_line *line)
{
    switch (line->kind) {
    case HS_STREAM_RULESET:
        parts->ruleset = line->name;
        parts->rules = line->document;
        break;
    case HS_STREAM_MAP:
        parts->map_document = line->document;
        break;
    case HS_STREAM_OPEN:
        parts->revision = line->revision;
        parts->map = line->map;
        parts->map_revision = line->map_revision;
        parts->limits = (struct hs_match_limits){.players = (uint32_t)line->max_players,
                                                 .samples = (uint32_t)line->max_samples,
                                                 .movers = (uint32_t)line->max_movers};
        break;
    case HS_STREAM_REQUEST:
        parts->body = line->body;
        parts->answer = line->answer;
        parts->route = line->route;
        break;
    default:
        break;
    }
}

bool hs_evidence_parts_read(struct hs_str text, struct hs_evidence_parts *out,
                            unsigned char **state)
{
    struct hs_stream_line line;
    const char *at = text.ptr, *end = text.ptr + text.len;
    *out = (struct hs_evidence_parts){0};
    *state = NULL;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if (!hs_stream_line_read((struct hs_str){at, (size_t)(stop - at)}, &line))
            return false;
        if (line.kind == HS_STREAM_REQUEST && out->body.ptr != NULL)
            return false; /* a download contains only one request */
        hs_evidence_parts_add_line(out, &line);
        if (line.kind == HS_STREAM_OPEN && line.state.ptr != NULL && *state == NULL) {
            *state = hs_stream_decode(line.state, &out->state.len);
            out->state.ptr = (const char *)*state;
        }
        at = stop + 1;
    }
    return *state != NULL && out->rules.ptr != NULL && out->body.ptr != NULL &&
           (out->map.ptr == NULL) == (out->map_document.ptr == NULL);
}

/* ---- rulesets and maps ---- */

enum { KEPT_MAX = 8 };

struct kept {
    char revision[HS_REVISION_MAX];
    struct hs_ruleset *ruleset;
    struct hs_map_entry *map; /* retained */
};

struct hs_recompute {
    struct hs_map_store *store; /* builds the maps: `own`, or a borrowed store */
    struct hs_map_store *own;
    struct kept rulesets[KEPT_MAX], maps[KEPT_MAX]; /* most recently used entry first */
    struct hs_world_limits limits;                  /* for building maps */
};

struct hs_recompute *hs_recompute_create(struct hs_map_store *maps)
{
    struct hs_recompute *recompute = calloc(1, sizeof *recompute);
    if (recompute == NULL)
        return NULL;
    if (maps == NULL)
        maps = recompute->own = hs_map_store_create(KEPT_MAX, SIZE_MAX / 2);
    recompute->store = maps;
    recompute->limits.max_bytes = SIZE_MAX;
    if (maps != NULL)
        return recompute;
    free(recompute);
    return NULL;
}

void hs_recompute_limit_builds(struct hs_recompute *recompute, bool (*must_stop)(void *),
                               void *context)
{
    recompute->limits.must_stop = must_stop;
    recompute->limits.context = context;
}

static bool is_stopped(const struct hs_recompute *recompute)
{
    const struct hs_world_limits *limits = &recompute->limits;
    return limits->must_stop != NULL && limits->must_stop(limits->context);
}

static void drop(struct hs_recompute *recompute, struct kept *kept)
{
    hs_ruleset_destroy(kept->ruleset);
    hs_map_store_release(recompute->store, kept->map);
    *kept = (struct kept){0};
}

void hs_recompute_destroy(struct hs_recompute *recompute)
{
    if (recompute == NULL)
        return;
    for (int i = 0; i < KEPT_MAX; i++) {
        drop(recompute, &recompute->rulesets[i]);
        drop(recompute, &recompute->maps[i]);
    }
    hs_map_store_destroy(recompute->own);
    free(recompute);
}

/* Moves the entry with this revision to the front. If there is no such entry, drops the least
   recently used entry, puts an empty entry at the front and returns false. */
static bool to_front(struct hs_recompute *recompute, struct kept list[KEPT_MAX],
                     struct hs_str revision)
{
    int i = 0;
    while (i < KEPT_MAX - 1 && !hs_str_equal(hs_str_of(list[i].revision), revision))
        i++;
    bool found = hs_str_equal(hs_str_of(list[i].revision), revision);
    struct kept front = list[i];
    if (!found)
        drop(recompute, &front);
    memmove(&list[1], &list[0], (size_t)i * sizeof list[0]);
    list[0] = front;
    return found;
}

/* A damaged download may contain any text as its revision. Refuses an empty text, because an empty
   text would match an empty entry of the cache. */
static bool is_revision(struct hs_str text)
{
    return text.len > 0 && text.len < HS_REVISION_MAX;
}

static void set_revision(struct kept *kept, struct hs_str revision)
{
    snprintf(kept->revision, sizeof kept->revision, "%.*s", (int)revision.len, revision.ptr);
}

void hs_recompute_lend_map(struct hs_recompute *recompute, struct hs_map_entry *map)
{
    if (to_front(recompute, recompute->maps, hs_str_of(map->revision)))
        return;
    set_revision(&recompute->maps[0], hs_str_of(map->revision));
    hs_map_store_retain(recompute->store, map);
    recompute->maps[0].map = map;
}

static enum hs_recompute_status find_ruleset(struct hs_recompute *recompute,
                                             const struct hs_evidence_parts *parts)
{
    struct hs_problem problem;
    if (!is_revision(parts->revision))
        return HS_RECOMPUTE_DAMAGED;
    if (to_front(recompute, recompute->rulesets, parts->revision))
        return HS_RECOMPUTE_DONE;
    hs_problem_init(&problem);
    struct kept *kept = &recompute->rulesets[0];
    kept->ruleset = hs_ruleset_from_text(parts->rules, parts->ruleset, &problem);
    if (kept->ruleset != NULL)
        set_revision(kept, parts->revision);
    return kept->ruleset != NULL                   ? HS_RECOMPUTE_DONE
           : problem.code == HS_PROBLEM_OVERLOADED ? HS_RECOMPUTE_NO_MEMORY
                                                   : HS_RECOMPUTE_DAMAGED;
}

/* Builds a map. The map store does not list the map. The memory of the map and of the build is
   charged to the map store. */
static enum hs_recompute_status build_map(const struct hs_recompute *recompute, struct hs_str name,
                                          struct hs_str text, struct hs_map_entry **entry)
{
    struct hs_map_store *store = recompute->store;
    struct hs_arena arena = {0};
    struct hs_problem problem;
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    struct hs_map_document document = {0};
    struct hs_share *share = hs_map_store_share(store);
    struct hs_world_mesh counts = hs_map_measure(text);
    size_t bytes = hs_map_store_put_bytes(store, &counts, 0);
    hs_problem_init(&problem);
    if (!hs_share_reserve(share, (struct hs_str){0}, bytes))
        return HS_RECOMPUTE_NO_MEMORY;
    if (!is_stopped(recompute) && hs_map_decode(&reader, text, &counts, &document)) {
        struct hs_world_mesh mesh = hs_map_mesh(&document);
        hs_map_store_restore(store, name, &mesh, (struct hs_str){0}, &recompute->limits, entry);
    }
    hs_map_document_free(&document);
    hs_arena_free(&arena);
    hs_share_release(share, (struct hs_str){0}, bytes);
    return *entry != NULL                    ? HS_RECOMPUTE_DONE
           : is_stopped(recompute)           ? HS_RECOMPUTE_STOPPED
           : problem.code != HS_PROBLEM_NONE ? HS_RECOMPUTE_DAMAGED
                                             : HS_RECOMPUTE_NO_MEMORY;
}

static enum hs_recompute_status find_map(struct hs_recompute *recompute,
                                         const struct hs_evidence_parts *parts)
{
    if (parts->map.ptr == NULL)
        return HS_RECOMPUTE_DONE;
    if (!is_revision(parts->map_revision))
        return HS_RECOMPUTE_DAMAGED;
    if (to_front(recompute, recompute->maps, parts->map_revision))
        return HS_RECOMPUTE_DONE;
    struct kept *kept = &recompute->maps[0];
    enum hs_recompute_status status =
        build_map(recompute, parts->map, parts->map_document, &kept->map);
    if (status == HS_RECOMPUTE_DONE)
        set_revision(kept, parts->map_revision);
    return status;
}

static bool has(const struct kept list[KEPT_MAX], struct hs_str revision)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (hs_str_equal(hs_str_of(list[i].revision), revision))
            return true;
    return false;
}

int64_t hs_recompute_build_us(const struct hs_recompute *recompute,
                              const struct hs_evidence_parts *parts)
{
    enum { US_A_TRIANGLE = 2 };
    if (parts->map.ptr == NULL || has(recompute->maps, parts->map_revision))
        return 0;
    return US_A_TRIANGLE * (int64_t)hs_map_measure(parts->map_document).triangle_count;
}

/* ---- a stored verdict ---- */

static bool add_line(struct hs_evidence_parts *parts, struct hs_str text)
{
    struct hs_stream_line line;
    text.len -= text.len > 0 && text.ptr[text.len - 1] == '\n' ? 1 : 0;
    if (!hs_stream_line_read(text, &line))
        return false;
    hs_evidence_parts_add_line(parts, &line);
    return true;
}

/* If the document is needed, reads it into *text and *out. Returns false only if a needed document
   cannot be read. */
static bool read_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                          struct hs_str revision, bool is_needed, char **text, struct hs_str *out)
{
    size_t size = 0;
    *text = is_needed ? hs_evidence_document(stored, kind, revision, &size) : NULL;
    *out = (struct hs_str){*text, size};
    return !is_needed || *text != NULL;
}

bool hs_stored_parts_read(const struct hs_evidence_stored *stored, struct hs_recompute *recompute,
                          struct hs_stored_parts *out)
{
    const struct hs_evidence_row *row = &stored->row;
    struct hs_evidence_parts *parts = &out->parts;
    *out = (struct hs_stored_parts){.parts = {.ruleset = row->ruleset, .state = row->state}};
    hs_buffer_append(&out->opening, row->opening.ptr, row->opening.len);
    hs_buffer_puts(&out->opening, "}");
    if (out->opening.failed ||
        !add_line(parts, (struct hs_str){out->opening.data, out->opening.len}) ||
        !add_line(parts, row->request))
        return false;
    bool needs_map = row->map.ptr != NULL && !has(recompute->maps, row->map_revision);
    return read_document(stored, HS_STR("ruleset"), row->revision,
                         !has(recompute->rulesets, row->revision), &out->rules, &parts->rules) &&
           read_document(stored, HS_STR("map"), row->map_revision, needs_map, &out->map,
                         &parts->map_document);
}

void hs_stored_parts_free(struct hs_stored_parts *stored)
{
    hs_buffer_free(&stored->opening);
    free(stored->rules);
    free(stored->map);
}

/* ---- the claim ---- */

static enum hs_recompute_status decode(const struct hs_evidence_parts *parts,
                                       struct hs_recomputed *out)
{
    struct hs_problem problem;
    struct hs_reader reader = {.problem = &problem, .arena = &out->arena, .max_items = 1};
    struct hs_ticks_request *request = &out->request;
    hs_problem_init(&problem);
    out->root = hs_json_parse(parts->body, &problem);
    if (out->root != NULL)
        hs_ticks_decode_body(&reader, out->root, parts->route, request);
    if (reader.no_memory || problem.code == HS_PROBLEM_OVERLOADED)
        return HS_RECOMPUTE_NO_MEMORY;
    bool is_one = request->hits.count + request->shots.count == 1;
    if (problem.code != HS_PROBLEM_NONE || !is_one || (request->fields & HS_TICKS_NOW) == 0)
        return HS_RECOMPUTE_DAMAGED;
    out->hit = request->hits.count == 1 ? request->hits.claims : NULL;
    out->shot = request->shots.count == 1 ? request->shots.shots : NULL;
    out->now_us = request->now_us;
    return HS_RECOMPUTE_DONE;
}

static void read_id(struct hs_str recorded, struct hs_verdict_id *id)
{
    struct hs_str key, value;
    struct hs_pieces members = hs_pieces_of(recorded, '{');
    id->text[0] = '\0';
    while (hs_pieces_next(&members, &key, &value)) {
        struct hs_str text = hs_piece_text(value);
        if (hs_str_equal(key, HS_STR("verdict_id")) && text.len < sizeof id->text) {
            memcpy(id->text, text.ptr, text.len);
            id->text[text.len] = '\0';
        }
    }
}

/* Encodes the new result with the verdict id of the recorded result, and compares the two
   results. */
static void compare(struct hs_recomputed *out)
{
    struct hs_verdict_id id;
    struct hs_buffer answer = {0};
    struct hs_writer writer = {.buffer = &answer};
    read_id(out->recorded, &id);
    if (out->hit != NULL)
        hs_hit_encode(&writer, out->hit, &out->result, &id, true);
    else
        hs_shot_encode(&writer, out->shot, &out->result, out->forward_us, &id, true);
    hs_replayed_encode(&writer, false);
    out->is_identical =
        !answer.failed && hs_str_equal(out->recorded, (struct hs_str){answer.data, answer.len});
    hs_buffer_free(&answer);
}

static enum hs_recompute_status load(const struct hs_evidence_parts *parts,
                                     const struct hs_world *world, struct hs_recomputed *out)
{
    switch (hs_match_load(out->ruleset, &parts->limits, parts->state.ptr, parts->state.len,
                          &out->match)) {
    case HS_MATCH_LOADED:
    case HS_MATCH_LOADED_PARTLY:
        hs_match_set_world(out->match, world);
        return HS_RECOMPUTE_DONE;
    case HS_MATCH_OTHER_VERSION:
        return HS_RECOMPUTE_FOREIGN;
    case HS_MATCH_DAMAGED:
        return HS_RECOMPUTE_DAMAGED;
    case HS_MATCH_LOAD_NO_MEMORY:
        break;
    }
    return HS_RECOMPUTE_NO_MEMORY;
}

/* Verifies the claim. First adds the shooter to the match, as the service does before it records a
   result. */
static void verify(struct hs_recomputed *out)
{
    if (out->hit != NULL) {
        hs_hit_admit(out->match, out->hit->shooter);
        hs_hit_verify(out->match, out->hit, out->now_us, &out->result);
    } else {
        hs_hit_admit(out->match, out->shot->shooter);
        hs_shot_verify(out->match, out->shot, out->now_us, &out->result, &out->forward_us);
    }
}

enum hs_recompute_status hs_recompute_run(struct hs_recompute *recompute,
                                          const struct hs_evidence_parts *parts,
                                          const struct hs_ruleset *rules, struct hs_recomputed *out)
{
    *out = (struct hs_recomputed){0};
    enum hs_recompute_status status = find_ruleset(recompute, parts);
    if (status == HS_RECOMPUTE_DONE)
        status = find_map(recompute, parts);
    if (status == HS_RECOMPUTE_DONE)
        status = decode(parts, out);
    if (status != HS_RECOMPUTE_DONE)
        return status;
    const struct hs_ruleset *own = recompute->rulesets[0].ruleset;
    if (rules != NULL && !hs_excerpt_fits(own, rules))
        return HS_RECOMPUTE_UNFIT;
    out->ruleset = rules != NULL ? rules : own;
    status = load(parts, parts->map.ptr != NULL ? recompute->maps[0].map->world : NULL, out);
    if (status != HS_RECOMPUTE_DONE)
        return status;
    struct hs_str list = out->hit != NULL ? HS_STR("hits") : HS_STR("shots");
    out->item = hs_pieces_first(parts->body, list);
    if (out->item.ptr == NULL)
        out->item = parts->body; /* the body is a table with one row */
    out->recorded = hs_pieces_first(parts->answer, HS_STR("results"));
    verify(out);
    compare(out);
    return HS_RECOMPUTE_DONE;
}

void hs_recomputed_free(struct hs_recomputed *recomputed)
{
    hs_match_destroy(recomputed->match);
    json_decref(recomputed->root);
    hs_arena_free(&recomputed->arena);
    *recomputed = (struct hs_recomputed){0};
}
