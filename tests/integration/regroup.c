#include "tests/integration/regroup.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The items of one request or of several. */
struct batch {
    char match[HS_SCENARIO_PATH_MAX]; /* "/v1/matches/NAME/" */
    char query[32];                   /* "?explain=true", or empty */
    json_t *frames, *shots, *hits;    /* arrays, perhaps empty */
    json_t *now;                      /* NULL: the request has no `now` */
};

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "regroup: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

static void open_batch(struct batch *batch)
{
    memset(batch, 0, sizeof *batch);
    batch->frames = must(json_array());
    batch->shots = must(json_array());
    batch->hits = must(json_array());
}

static void close_batch(struct batch *batch)
{
    json_decref(batch->frames);
    json_decref(batch->shots);
    json_decref(batch->hits);
    json_decref(batch->now);
    memset(batch, 0, sizeof *batch);
}

static size_t batch_size(const struct batch *batch)
{
    return json_array_size(batch->frames) + json_array_size(batch->shots) +
           json_array_size(batch->hits);
}

static bool is_judged(const struct batch *batch)
{
    return json_array_size(batch->shots) + json_array_size(batch->hits) > 0;
}

/* Reads the items of a request. Returns false if it contains anything except items and `now`,
   because other members belong to the whole request. */
static bool read_items(const json_t *body, struct batch *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (strcmp(key, "frames") == 0)
            json_array_extend(out->frames, value);
        else if (strcmp(key, "shots") == 0)
            json_array_extend(out->shots, value);
        else if (strcmp(key, "hits") == 0)
            json_array_extend(out->hits, value);
        else if (strcmp(key, "now") == 0)
            out->now = json_incref(value);
        else
            return false;
    }
    return true;
}

/* Reads a request as items. Returns false if the request must stay as it is. Then nothing has to be
   freed. */
static bool read_batch(const char *method, const char *path, const char *body, size_t size,
                       struct batch *out)
{
    static const char *const routes[] = {"frames", "shots", "hits", "ticks"};
    size_t route_at = strlen(path), len = strcspn(path, "?");
    while (route_at > 0 && (route_at > len || path[route_at - 1] != '/'))
        route_at--;
    bool known = false;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        known |= strlen(routes[i]) == len - route_at &&
                 strncmp(path + route_at, routes[i], len - route_at) == 0;
    if (!known || strcmp(method, "POST") != 0 || body == NULL || strlen(path + len) > 31)
        return false;
    json_t *document = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
    open_batch(out);
    snprintf(out->match, sizeof out->match, "%.*s", (int)route_at, path);
    snprintf(out->query, sizeof out->query, "%.31s", path + len);
    bool fine = document != NULL && read_items(document, out);
    json_decref(document);
    if (!fine)
        close_batch(out);
    return fine;
}

/* ---- writing requests ---- */

static struct hs_regrouped *add_request(struct hs_regroup_list *list, const char *method)
{
    list->items = must(realloc(list->items, (list->count + 1) * sizeof *list->items));
    struct hs_regrouped *request = &list->items[list->count++];
    memset(request, 0, sizeof *request);
    snprintf(request->method, sizeof request->method, "%s", method);
    return request;
}

/* Writes the items as one request, to the route of their kind or as a tick. */
static void add_batch(struct hs_regroup_list *list, const struct batch *batch)
{
    size_t frames = json_array_size(batch->frames), shots = json_array_size(batch->shots);
    size_t hits = json_array_size(batch->hits);
    int kinds = (frames > 0) + (shots > 0) + (hits > 0);
    const char *route = kinds > 1 ? "ticks" : frames > 0 ? "frames" : shots > 0 ? "shots" : "hits";
    if (kinds == 0)
        return;
    json_t *body = must(json_object());
    if (frames > 0)
        json_object_set(body, "frames", batch->frames);
    if (shots > 0)
        json_object_set(body, "shots", batch->shots);
    if (hits > 0)
        json_object_set(body, "hits", batch->hits);
    if (batch->now != NULL && is_judged(batch))
        json_object_set(body, "now", batch->now);
    struct hs_regrouped *request = add_request(list, "POST");
    snprintf(request->path, sizeof request->path, "%s%s%s", batch->match, route,
             is_judged(batch) ? batch->query : "");
    request->body = must(json_dumps(body, JSON_COMPACT));
    request->size = strlen(request->body);
    request->is_batch = true;
    json_decref(body);
}

static void add_as_written(struct hs_regroup_list *list, const struct hs_scenario_step *step,
                           bool is_batch)
{
    struct hs_regrouped *request = add_request(list, step->method);
    snprintf(request->path, sizeof request->path, "%s", step->path);
    request->is_batch = is_batch;
    if (step->body == NULL)
        return;
    request->body = must(malloc(step->size + 1));
    memcpy(request->body, step->body, step->size);
    request->body[step->size] = '\0';
    request->size = step->size;
}

static void add_split(struct hs_regroup_list *list, const struct batch *batch)
{
    const json_t *const kinds[] = {batch->frames, batch->shots, batch->hits};
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < json_array_size(kinds[kind]); i++) {
            struct batch one;
            open_batch(&one);
            memcpy(one.match, batch->match, sizeof one.match);
            memcpy(one.query, batch->query, sizeof one.query);
            one.now = json_incref(batch->now);
            json_array_append(kind == 0   ? one.frames
                              : kind == 1 ? one.shots
                                          : one.hits,
                              json_array_get(kinds[kind], i));
            add_batch(list, &one);
            close_batch(&one);
        }
}

/* Returns whether the items of `next` may follow in the same request. A tick has one `now` and one
   query, and applies its frames first, then its shots, then its hits. */
static bool follows(const struct batch *group, const struct batch *next)
{
    bool in_order = json_array_size(next->frames) == 0 || !is_judged(group);
    if (json_array_size(next->shots) > 0 && json_array_size(group->hits) > 0)
        in_order = false;
    bool same_now = group->now == NULL ? next->now == NULL
                                       : next->now != NULL && json_equal(group->now, next->now);
    bool same_terms = same_now && strcmp(group->query, next->query) == 0;
    return strcmp(group->match, next->match) == 0 && in_order &&
           (same_terms || !is_judged(group) || !is_judged(next));
}

static void join(struct batch *group, const struct batch *next)
{
    if (batch_size(group) == 0)
        memcpy(group->match, next->match, sizeof group->match);
    if (is_judged(next)) {
        memcpy(group->query, next->query, sizeof group->query);
        json_decref(group->now);
        group->now = json_incref(next->now);
    }
    json_array_extend(group->frames, next->frames);
    json_array_extend(group->shots, next->shots);
    json_array_extend(group->hits, next->hits);
}

static void flush(struct hs_regroup_list *list, struct batch *group)
{
    add_batch(list, group);
    close_batch(group);
    open_batch(group);
}

void hs_regroup(const struct hs_scenario_plan *plan, const long *statuses,
                enum hs_regrouping regrouping, struct hs_regroup_list *out)
{
    struct batch group;
    *out = (struct hs_regroup_list){0};
    open_batch(&group);
    for (size_t i = 0; i < plan->count; i++) {
        const struct hs_scenario_step *step = &plan->steps[i];
        struct batch batch;
        bool is_batch = read_batch(step->method, step->path, step->body, step->size, &batch);
        if (regrouping == HS_REGROUP_NOT || !is_batch || statuses[i] != 200) {
            flush(out, &group);
            add_as_written(out, step, is_batch && statuses[i] == 200);
        } else if (regrouping == HS_REGROUP_SPLIT) {
            add_split(out, &batch);
        } else {
            if (!follows(&group, &batch) && batch_size(&group) > 0)
                flush(out, &group);
            join(&group, &batch);
        }
        if (is_batch)
            close_batch(&batch);
    }
    flush(out, &group);
    close_batch(&group);
}

void hs_regroup_free(struct hs_regroup_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].body);
    free(list->items);
    *list = (struct hs_regroup_list){0};
}

/* ---- transcripts ---- */

void hs_transcript_begin(struct hs_transcript *transcript)
{
    transcript->content = must(json_pack("{s:[],s:[],s:i,s:[],s:{},s:n,s:[]}", "shots", "hits",
                                         "stored", 0, "refused", "flags", "need", "others"));
    transcript->frames = 0;
}

void hs_transcript_end(struct hs_transcript *transcript)
{
    json_decref(transcript->content);
    transcript->content = NULL;
}

static void add_frames(struct hs_transcript *transcript, const json_t *answer, size_t frames)
{
    json_t *content = transcript->content, *refused, *flag;
    size_t i;
    json_int_t stored = json_integer_value(json_object_get(content, "stored")) +
                        json_integer_value(json_object_get(answer, "stored"));
    json_object_set_new(content, "stored", json_integer(stored));
    json_array_foreach(json_object_get(answer, "refused"), i, refused)
    {
        json_t *named = json_deep_copy(refused);
        json_int_t frame = json_integer_value(json_object_get(refused, "frame"));
        json_object_set_new(named, "frame", json_integer(frame + (json_int_t)transcript->frames));
        json_array_append_new(json_object_get(content, "refused"), named);
    }
    json_array_foreach(json_object_get(answer, "flags"), i, flag) json_object_set_new(
        json_object_get(content, "flags"), json_string_value(flag), json_true());
    json_t *need = json_object_get(answer, "need");
    json_object_set_new(content, "need", need != NULL ? json_incref(need) : json_null());
    transcript->frames += frames;
}

/*
 * The answer of a separate route has the form {"results":[..]}. The answer of a tick has the form
 * {"frames":{..},"shots":[..],"hits":[..]}.
 */
static void add_results(struct hs_transcript *transcript, const struct batch *batch,
                        const json_t *answer)
{
    json_t *content = transcript->content;
    const json_t *results = json_object_get(answer, "results");
    size_t frames = json_array_size(batch->frames);
    if (results != NULL) {
        json_array_extend(
            json_object_get(content, json_array_size(batch->hits) > 0 ? "hits" : "shots"),
            (json_t *)(uintptr_t)results);
    } else if (json_object_get(answer, "stored") != NULL) {
        add_frames(transcript, answer, frames);
    } else {
        if (json_object_get(answer, "frames") != NULL)
            add_frames(transcript, json_object_get(answer, "frames"), frames);
        json_array_extend(json_object_get(content, "shots"), json_object_get(answer, "shots"));
        json_array_extend(json_object_get(content, "hits"), json_object_get(answer, "hits"));
    }
}

/* Removes the pointers of malformed items, because these depend on the item's place in the
   request. */
static void forget_places(json_t *items)
{
    size_t i, k;
    json_t *item, *error;
    json_array_foreach(items, i, item)
    {
        json_array_foreach(json_object_get(item, "errors"), k, error)
            json_object_del(error, "pointer");
    }
}

void hs_transcript_add(struct hs_transcript *transcript, const struct hs_regrouped *request,
                       long status, const char *body, size_t size)
{
    struct batch batch;
    json_t *answer = json_loadb(body, size, JSON_DECODE_ANY, NULL);
    forget_places(json_object_get(answer, "results"));
    forget_places(json_object_get(answer, "shots"));
    forget_places(json_object_get(answer, "hits"));
    if (status == 200 &&
        read_batch(request->method, request->path, request->body, request->size, &batch)) {
        add_results(transcript, &batch, answer);
        close_batch(&batch);
    } else if (strncmp(request->path, "/v1/rulesets/", 13) != 0 &&
               strncmp(request->path, "/v1/maps/", 9) != 0) {
        /* Documents that several scenarios share may already exist, so their answers differ and are
           left out. */
        json_t *other = must(json_pack("{s:s,s:i}", "path", request->path, "status", (int)status));
        if (status == 200)
            json_object_set(other, "body", answer);
        json_array_append_new(json_object_get(transcript->content, "others"), other);
    }
    json_decref(answer);
}
