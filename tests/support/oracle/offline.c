#include "tests/support/oracle/offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/routes.h"
#include "api/json/arena.h"
#include "api/json/reading.h"
#include "api/maps.h"
#include "api/matches.h"
#include "api/rulesets/document.h"
#include "api/ticks.h"
#include "tests/support/play/stage.h"
#include "validators/moves.h"
#include "validators/world.h"

enum { MAX_NAMES = 16, MAX_ITEMS = 1024, MAX_BODY = 1 << 20 };

struct named {
    struct hs_name name;
    void *thing; /* a ruleset, a world or a match */
};

struct list {
    struct named items[MAX_NAMES];
    size_t count;
};

struct hs_offline {
    hs_offline_answer *answer;
    void *context;
    hs_offline_watcher *before, *after;
    struct list rulesets, worlds, matches;
    /* number of shots and hits; it identifies the answer that a replay repeats */
    unsigned long answered;
    struct hs_arena arena;
    struct hs_problem problem;
    struct hs_reader reader;
    json_t *body;
};

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "offline: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

/* ---- things by name ---- */

static void **find(struct list *list, struct hs_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (hs_str_equal(hs_name_str(&list->items[i].name), name))
            return &list->items[i].thing;
    return NULL;
}

static void add(struct list *list, struct hs_str name, void *thing)
{
    if (list->count == MAX_NAMES) {
        fprintf(stderr, "offline: more than %d of a kind\n", MAX_NAMES);
        exit(EXIT_FAILURE);
    }
    struct named *item = &list->items[list->count++];
    hs_name_set(&item->name, name);
    item->thing = must(thing);
}

/* Removes a name. The named ruleset, world or match itself stays for its users. */
static void forget(struct list *list, struct hs_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (hs_str_equal(hs_name_str(&list->items[i].name), name))
            hs_name_set(&list->items[i].name, HS_STR(""));
}

static void drop_match(struct hs_offline *offline, struct hs_str name)
{
    struct list *list = &offline->matches;
    for (size_t i = 0; i < list->count; i++)
        if (hs_str_equal(hs_name_str(&list->items[i].name), name)) {
            hs_match_destroy(list->items[i].thing);
            list->items[i] = list->items[--list->count];
        }
}

static void ignore(void *context)
{
    (void)context;
}

void hs_offline_watch(struct hs_offline *offline, hs_offline_watcher *before,
                      hs_offline_watcher *after)
{
    offline->before = before;
    offline->after = after;
}

struct hs_offline *hs_offline_create(hs_offline_answer *answer, void *context)
{
    struct hs_offline *offline = must(calloc(1, sizeof *offline));
    offline->answer = answer;
    offline->context = context;
    hs_offline_watch(offline, ignore, ignore);
    offline->reader = (struct hs_reader){
        .problem = &offline->problem, .arena = &offline->arena, .max_items = MAX_ITEMS};
    for (size_t i = 0; i < HS_BUILTIN_RULESETS; i++)
        add(&offline->rulesets, hs_stage_str(hs_builtin_rulesets[i].name),
            hs_ruleset_create_builtin(&hs_builtin_rulesets[i]));
    return offline;
}

void hs_offline_destroy(struct hs_offline *offline)
{
    if (offline == NULL)
        return;
    for (size_t i = 0; i < offline->matches.count; i++)
        hs_match_destroy(offline->matches.items[i].thing);
    for (size_t i = 0; i < offline->worlds.count; i++)
        hs_world_destroy(offline->worlds.items[i].thing);
    for (size_t i = 0; i < offline->rulesets.count; i++)
        hs_ruleset_destroy(offline->rulesets.items[i].thing);
    free(offline);
}

/* ---- answers ---- */

static void answer(struct hs_offline *offline, const struct hs_offline_item *item)
{
    offline->answer(offline->context, item);
}

/* Answers with a verdict. The recorded text of an answer is its number, so a replay tells which
   answer it repeats. */
static void answer_verdict(struct hs_offline *offline, enum hs_offline_kind kind,
                           const struct hs_hit_result *result, int64_t forward_us, char note[24])
{
    struct hs_offline_item item = {.kind = kind, .forward_us = forward_us};
    offline->answered++;
    snprintf(note, 24, "%lu", offline->answered);
    if (result->replay == NULL) {
        item.result = result;
    } else {
        char text[24] = "";
        memcpy(text, result->replay->answer, result->replay->answer_size);
        item.replay_of = strtoul(text, NULL, 10);
    }
    answer(offline, &item);
}

/* Returns when an item was received. Items without a `now` are received at the time of the newest
   frame. */
static int64_t now_of(const struct hs_match *match, bool has_now, int64_t now_us,
                      int64_t without_frames_us)
{
    struct hs_match_info times;
    hs_match_info(match, &times);
    return has_now ? now_us : times.has_frames ? times.newest_us : without_frames_us;
}

/* Answers the malformed items of one kind, after the valid ones. */
static void answer_malformed(struct hs_offline *offline, enum hs_item kind,
                             struct hs_offline_item item)
{
    for (const struct hs_malformed *next = hs_malformed_first(offline->reader.malformed, kind);
         next != NULL; next = next->next)
        answer(offline, &item);
}

/* Rejects the malformed hits or shots. */
static void reject_malformed(struct hs_offline *offline, enum hs_item kind, enum hs_offline_kind as,
                             struct hs_hit_result *result)
{
    memset(result, 0, sizeof *result);
    result->verdict = HS_VERDICT_REJECTED;
    result->reason = HS_REASON_MALFORMED;
    answer_malformed(offline, kind, (struct hs_offline_item){.kind = as, .result = result});
}

static void do_frames(struct hs_offline *offline, struct hs_match *match,
                      const struct hs_frames_request *request)
{
    unsigned flags = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct hs_frame *frame = &request->frames[i];
        size_t count = frame->player_count + frame->mover_count;
        enum hs_frame_result *results = must(calloc(count + 1, sizeof *results));
        if (!hs_match_post_frame(match, frame, results, &flags))
            must(NULL);
        for (size_t k = 0; k < count; k++)
            answer(offline,
                   &(struct hs_offline_item){.kind = HS_OFFLINE_SAMPLE, .sample = results[k]});
        free(results);
    }
    for (int kind = HS_ITEM_FRAME; kind <= HS_ITEM_MOVER; kind++)
        answer_malformed(
            offline, (enum hs_item)kind,
            (struct hs_offline_item){.kind = HS_OFFLINE_SAMPLE, .sample = HS_FRAME_MALFORMED});
    struct hs_match_info times;
    hs_match_info(match, &times);
    answer(offline, &(struct hs_offline_item){.kind = HS_OFFLINE_FRAMES,
                                              .flags = flags,
                                              .needs_resync = times.needs_resync});
}

static void do_moves(struct hs_offline *offline, struct hs_match *match,
                     const struct hs_moves_request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        struct hs_move_result result;
        if (!hs_match_check_move(match, &request->moves[i], &result))
            must(NULL);
        answer(offline, &(struct hs_offline_item){.kind = HS_OFFLINE_MOVE, .move = &result});
    }
}

static void do_shots(struct hs_offline *offline, struct hs_match *match,
                     const struct hs_ticks_request *tick)
{
    struct hs_hit_result *result = must(malloc(sizeof *result));
    for (size_t i = 0; i < tick->shots.count; i++) {
        const struct hs_shot_claim *claim = &tick->shots.shots[i];
        char note[24];
        int64_t forward_us = 0;
        int64_t now_us =
            now_of(match, (tick->fields & HS_TICKS_NOW) != 0, tick->now_us, claim->time_us);
        offline->before(offline->context);
        if (claim->is_cancel)
            hs_shot_cancel(match, claim, true, result);
        else
            hs_shot_verify(match, claim, now_us, result, &forward_us);
        offline->after(offline->context);
        answer_verdict(offline, HS_OFFLINE_SHOT, result, forward_us, note);
        if (result->replay == NULL && !claim->is_cancel)
            hs_shot_record(match, claim, result, (struct hs_str){note, strlen(note)});
    }
    reject_malformed(offline, HS_ITEM_SHOT, HS_OFFLINE_SHOT, result);
    free(result);
}

static void do_hits(struct hs_offline *offline, struct hs_match *match,
                    const struct hs_ticks_request *tick)
{
    struct hs_hit_result *result = must(malloc(sizeof *result));
    for (size_t i = 0; i < tick->hits.count; i++) {
        const struct hs_hit_claim *claim = &tick->hits.claims[i];
        char note[24];
        int64_t now_us =
            now_of(match, (tick->fields & HS_TICKS_NOW) != 0, tick->now_us, claim->hit_time_us);
        offline->before(offline->context);
        hs_hit_verify(match, claim, now_us, result);
        offline->after(offline->context);
        answer_verdict(offline, HS_OFFLINE_HIT, result, 0, note);
        if (result->replay == NULL)
            hs_hit_record(match, claim, result, (struct hs_str){note, strlen(note)});
    }
    reject_malformed(offline, HS_ITEM_HIT, HS_OFFLINE_HIT, result);
    free(result);
}

/* ---- requests ---- */

static bool is_fine(const struct hs_offline *offline)
{
    return offline->problem.code == HS_PROBLEM_NONE;
}

static void put_ruleset(struct hs_offline *offline, struct hs_str name)
{
    struct hs_ruleset *ruleset = hs_ruleset_decode(&offline->reader, offline->body, name);
    if (ruleset == NULL)
        return;
    forget(&offline->rulesets, name);
    add(&offline->rulesets, name, ruleset);
}

static void put_map(struct hs_offline *offline, struct hs_str name, struct hs_str text)
{
    struct hs_map_document document;
    struct hs_world_mesh counts = hs_map_measure(text);
    if (hs_map_decode(&offline->reader, text, &counts, &document)) {
        struct hs_world_mesh mesh = hs_map_mesh(&document);
        enum hs_world_fault fault;
        struct hs_world *world = hs_world_create(&mesh, NULL, &fault);
        forget(&offline->worlds, name);
        if (world != NULL)
            add(&offline->worlds, name, world);
        else
            hs_problem_set(&offline->problem, HS_PROBLEM_INVALID_REQUEST, "no world");
    }
    hs_map_document_free(&document);
}

static void put_match(struct hs_offline *offline, struct hs_str name)
{
    static const struct hs_match_limits limits = {.players = 1024, .samples = 1024, .movers = 1024};
    struct hs_match_request wanted = {0};
    hs_match_decode_body(&offline->reader, offline->body, &wanted);
    if (!is_fine(offline) || find(&offline->matches, name) != NULL)
        return;
    bool is_default = wanted.ruleset.ptr == NULL || hs_str_equal(wanted.ruleset, HS_STR("default"));
    void **ruleset = find(&offline->rulesets, is_default ? HS_STR("centimetres") : wanted.ruleset);
    void **world = wanted.map.ptr != NULL ? find(&offline->worlds, wanted.map) : NULL;
    if (ruleset == NULL) {
        hs_problem_set(&offline->problem, HS_PROBLEM_UNKNOWN_RULESET, "no such ruleset");
    } else if (wanted.map.ptr != NULL && world == NULL) {
        hs_problem_set(&offline->problem, HS_PROBLEM_UNKNOWN_MAP, "no such map");
    } else {
        struct hs_match *match = must(hs_match_create(*ruleset, &limits));
        if (world != NULL)
            hs_match_set_world(match, *world);
        add(&offline->matches, name, match);
    }
}

/* Decodes all items for a match before it does anything. */
static void do_items(struct hs_offline *offline, enum hs_route route, struct hs_str name)
{
    struct hs_ticks_request tick = {0};
    hs_ticks_decode_body(&offline->reader, offline->body, route, &tick);
    if (!is_fine(offline))
        return;
    void **match = find(&offline->matches, name);
    if (match == NULL) {
        hs_problem_set(&offline->problem, HS_PROBLEM_UNKNOWN_MATCH, "no such match");
        return;
    }
    if ((tick.fields & HS_TICKS_FRAMES) != 0)
        do_frames(offline, *match, &tick.frames);
    do_moves(offline, *match, &tick.moves);
    do_shots(offline, *match, &tick);
    do_hits(offline, *match, &tick);
}

/* Handles a request by its route. Returns false if the request is not handled here. */
static bool do_route(struct hs_offline *offline, enum hs_route route, struct hs_str name,
                     struct hs_str text)
{
    switch (route) {
    case HS_ROUTE_MAP_PUT:
        put_map(offline, name, text);
        return true;
    case HS_ROUTE_RULESET_PUT:
    case HS_ROUTE_MATCH_PUT:
    case HS_ROUTE_FRAMES_POST:
    case HS_ROUTE_MOVES_POST:
    case HS_ROUTE_SHOTS_POST:
    case HS_ROUTE_HITS_POST:
    case HS_ROUTE_TICKS_POST:
        if (text.len > MAX_BODY)
            hs_problem_set(&offline->problem, HS_PROBLEM_BODY_TOO_LARGE, "too large");
        else
            offline->body = hs_json_parse(text, &offline->problem);
        if (offline->body == NULL)
            return true;
        break;
    case HS_ROUTE_RULESET_DELETE:
        forget(&offline->rulesets, name);
        return true;
    case HS_ROUTE_MAP_DELETE:
        forget(&offline->worlds, name);
        return true;
    case HS_ROUTE_MATCH_DELETE:
        drop_match(offline, name);
        return true;
    default:
        return hs_route_method(route) == HS_METHOD_GET;
    }
    if (route == HS_ROUTE_RULESET_PUT)
        put_ruleset(offline, name);
    else if (route == HS_ROUTE_MATCH_PUT)
        put_match(offline, name);
    else
        do_items(offline, route, name);
    return true;
}

bool hs_offline_send(struct hs_offline *offline, const struct hs_scenario_step *step)
{
    enum hs_route route;
    struct hs_route_params params;
    char path[HS_SCENARIO_PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(step->path, "?"), step->path);
    if (hs_route_find(HS_LISTENER_DATA, step->method, path, &route, &params) != HS_ROUTE_FOUND)
        return true; /* the service would refuse this request before it reads the body */
    hs_problem_init(&offline->problem);
    offline->reader.no_memory = false;
    struct hs_malformed_items malformed = {.count = 0};
    offline->reader.malformed = strstr(step->path, "strict=true") == NULL ? &malformed : NULL;
    struct hs_str text = {step->body != NULL ? step->body : "", step->size};
    bool known = do_route(offline, route, params.name[0], text);
    if (!is_fine(offline))
        answer(offline,
               &(struct hs_offline_item){.kind = HS_OFFLINE_PROBLEM, .problem = &offline->problem});
    json_decref(offline->body);
    offline->body = NULL;
    hs_arena_free(&offline->arena);
    return known;
}

bool hs_offline_play(struct hs_offline *offline, const struct hs_scenario_plan *plan)
{
    bool known = true;
    for (size_t i = 0; known && i < plan->count; i++)
        known = hs_offline_send(offline, &plan->steps[i]);
    return known;
}
