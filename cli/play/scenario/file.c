#include "cli/play/scenario/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/scenario/expect.h"
#include "cli/play/track.h"
#include "validators/str.h"

struct hs_scenarios {
    json_t *document;
    json_t *fixture; /* has "ruleset", and may have "players", "movers", "map", "claim" and "now" */
};

/* A plan under construction. */
struct draft {
    const json_t *fixture;
    const struct hs_reference *reference;
    struct hs_scenario_plan *plan;
    char match[96], ruleset[40];
    json_int_t next_shot;
    char *error;
};

static json_t *load_json(const char *path, char *error)
{
    json_error_t fault;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
    if (document == NULL)
        snprintf(error, HS_SCENARIO_ERROR_MAX, "%.1000s:%d: %s", path, fault.line, fault.text);
    return document;
}

/* With these flags, json_unpack_ex reports unknown fields. Without these flags, json_unpack_ex
   would ignore a misspelt field. The scenario would then not test what the author of the scenario
   wanted. */
enum { SHAPE = JSON_VALIDATE_ONLY | JSON_STRICT };

/* Returns the fixture (new reference). `fixture` is the fixture itself, or the path of a fixture
   file relative to the scenario file at `path`. */
static json_t *load_fixture(const char *path, const json_t *fixture, char *error)
{
    if (!json_is_string(fixture))
        return json_incref((json_t *)(uintptr_t)fixture);
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    char full[4096];
    int len = snprintf(full, sizeof(full), "%.*s%s", folder, path, json_string_value(fixture));
    if (len < 0 || (size_t)len >= sizeof(full)) {
        snprintf(error, HS_SCENARIO_ERROR_MAX, "the fixture's path is too long");
        return NULL;
    }
    return load_json(full, error);
}

static bool check_document(const struct hs_scenarios *scenarios, const char *path, char *error)
{
    json_error_t why;
    json_t *list = json_object_get(scenarios->document, "scenarios");
    size_t i = 0;
    bool good = json_unpack_ex(scenarios->document, &why, SHAPE, "{s:s, s:o, s:[o*]}", "title",
                               "fixture", "scenarios") == 0 &&
                json_unpack_ex(scenarios->fixture, &why, SHAPE, "{s:{*}, s?o, s?o, s?o, s?o, s?o}",
                               "ruleset", "players", "movers", "map", "claim", "now") == 0;
    for (; good && i < json_array_size(list); i++)
        good = json_unpack_ex(json_array_get(list, i), &why, SHAPE,
                              "{s:s, s:s, s?s, s?o, s?o, s?o, s:[o*]}", "row", "title", "requires",
                              "ruleset_patch", "map", "open", "requests") == 0;
    if (!good && i > 0)
        snprintf(error, HS_SCENARIO_ERROR_MAX, "%.200s: scenario %zu: %s", path, i, why.text);
    else if (!good)
        snprintf(error, HS_SCENARIO_ERROR_MAX, "%.200s: %s", path, why.text);
    return good;
}

struct hs_scenarios *hs_scenarios_load(const char *path, char error[HS_SCENARIO_ERROR_MAX])
{
    struct hs_scenarios *scenarios = calloc(1, sizeof(*scenarios));
    snprintf(error, HS_SCENARIO_ERROR_MAX, "out of memory");
    if (scenarios == NULL)
        return NULL;
    scenarios->document = load_json(path, error);
    if (scenarios->document != NULL)
        scenarios->fixture =
            load_fixture(path, json_object_get(scenarios->document, "fixture"), error);
    if (scenarios->fixture == NULL || !check_document(scenarios, path, error)) {
        hs_scenarios_destroy(scenarios);
        return NULL;
    }
    return scenarios;
}

void hs_scenarios_destroy(struct hs_scenarios *scenarios)
{
    if (scenarios == NULL)
        return;
    json_decref(scenarios->document);
    json_decref(scenarios->fixture);
    free(scenarios);
}

static const json_t *scenario_at(const struct hs_scenarios *scenarios, size_t index)
{
    return json_array_get(json_object_get(scenarios->document, "scenarios"), index);
}

size_t hs_scenarios_count(const struct hs_scenarios *scenarios)
{
    return json_array_size(json_object_get(scenarios->document, "scenarios"));
}

struct hs_scenario_info hs_scenarios_info(const struct hs_scenarios *scenarios, size_t index)
{
    const json_t *item = scenario_at(scenarios, index);
    return (struct hs_scenario_info){json_string_value(json_object_get(item, "row")),
                                     json_string_value(json_object_get(item, "title")),
                                     json_string_value(json_object_get(item, "requires"))};
}

/* Returns a copy of `text` (malloc'ed) with $match and $ruleset replaced by the names, or NULL if
   memory runs out. */
static char *fill_in(const struct draft *draft, const char *text)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    if (stream == NULL)
        return NULL;
    while (*text != '\0') {
        bool is_match = strncmp(text, "$match", 6) == 0;
        bool is_ruleset = strncmp(text, "$ruleset", 8) == 0;
        if (is_match || is_ruleset)
            fputs(is_match ? draft->match : draft->ruleset, stream);
        else
            fputc(*text, stream);
        text += is_match ? 6 : is_ruleset ? 8 : 1;
    }
    return fclose(stream) == 0 ? out : NULL;
}

static json_t *fill_in_json(const struct draft *draft, const json_t *value)
{
    if (json_is_string(value)) {
        char *text = fill_in(draft, json_string_value(value));
        json_t *out = json_string(text);
        free(text);
        return out;
    }
    json_t *out = json_is_object(value)  ? json_object()
                  : json_is_array(value) ? json_array()
                                         : json_deep_copy(value);
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
        json_object_set_new(out, key, fill_in_json(draft, member));
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, fill_in_json(draft, json_array_get(value, i)));
    return out;
}

/* Merges a patch into a target (RFC 7396). Returns a new reference. */
static json_t *merged(const json_t *target, const json_t *patch)
{
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    json_t *out = json_is_object(target) ? json_deep_copy(target) : json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value)
    {
        if (json_is_null(value))
            json_object_del(out, key);
        else
            json_object_set_new(out, key, merged(json_object_get(out, key), value));
    }
    return out;
}

/* Converts a document to the plan's frame of reference, and replaces $match and $ruleset. Takes
   ownership of `document`; the caller owns the result. */
static json_t *finished(const struct draft *draft, json_t *document)
{
    json_t *placed = hs_reference_apply(draft->reference, document);
    json_t *out = fill_in_json(draft, placed);
    json_decref(placed);
    json_decref(document);
    return out;
}

/* Gives the ownership of a value to the plan. The value is released when the plan is destroyed. */
static json_t *keep(struct draft *draft, json_t *value)
{
    json_array_append_new(draft->plan->owned, value);
    return value;
}

/* Takes ownership of `body` (malloc'ed) and `expect`; either may be NULL. */
static struct hs_scenario_step *add_step(struct draft *draft, const char *method, const char *path,
                                         char *body, size_t size, json_t *expect)
{
    struct hs_scenario_plan *plan = draft->plan;
    struct hs_scenario_step *steps = realloc(plan->steps, (plan->count + 1) * sizeof(*plan->steps));
    if (steps == NULL) {
        free(body);
        json_decref(expect);
        return NULL;
    }
    plan->steps = steps;
    struct hs_scenario_step *step = &steps[plan->count++];
    *step = (struct hs_scenario_step){.body = body, .size = size};
    snprintf(step->method, sizeof(step->method), "%s", method);
    char *full = fill_in(draft, path);
    snprintf(step->path, sizeof(step->path), "%s", full != NULL ? full : "");
    free(full);
    step->expect = keep(draft, expect != NULL ? finished(draft, expect) : json_object());
    return step;
}

/* Adds a step with a JSON body. Takes ownership of `body` and `expect`. */
static struct hs_scenario_step *add_json_step(struct draft *draft, const char *method,
                                              const char *path, json_t *body, json_t *expect)
{
    json_t *document = finished(draft, body);
    char *text = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(document);
    return add_step(draft, method, path, text, text != NULL ? strlen(text) : 0, expect);
}

static json_t *copy_member(const json_t *object, const char *key)
{
    return json_deep_copy(json_object_get(object, key));
}

/* Adds a step that posts frames. If `request` has no expectation, the expectation of the step is
   that the service stores every pose. */
static struct hs_scenario_step *add_frames(struct draft *draft, const json_t *request)
{
    json_t *body;
    const json_t *track = json_object_get(request, "track");
    if (track != NULL) {
        char fault[HS_TRACK_ERROR_MAX];
        body = hs_track_expand(track, draft->fixture, fault);
        if (body == NULL) {
            snprintf(draft->error, HS_SCENARIO_ERROR_MAX, "%s", fault);
            return NULL;
        }
    } else {
        body = json_pack("{s:o}", "frames", copy_member(request, "frames"));
    }
    json_t *expect = copy_member(request, "expect");
    if (expect == NULL)
        expect = json_pack("{s:[]}", "refused");
    return add_json_step(draft, "POST", "/v1/matches/$match/frames", body,
                         json_pack("{s:o}", "body", expect));
}

/* Adds a step with one claim. The claim has the members of the fixture's claim. Members of the
   request's claim replace members with the same key. The request's expectation describes the result
   of the claim. */
static struct hs_scenario_step *add_claim(struct draft *draft, const json_t *request)
{
    json_t *claim =
        merged(json_object_get(draft->fixture, "claim"), json_object_get(request, "claim"));
    if (json_object_get(claim, "shot") == NULL)
        json_object_set_new(claim, "shot", json_integer(++draft->next_shot));
    json_t *result = copy_member(request, "expect");
    if (result == NULL || !json_is_object(result)) {
        json_decref(claim);
        json_decref(result);
        snprintf(draft->error, HS_SCENARIO_ERROR_MAX, "a claim needs an expected result");
        return NULL;
    }
    json_object_set(result, "shot", json_object_get(claim, "shot"));
    const json_t *now = json_object_get(request, "now");
    if (now == NULL)
        now = json_object_get(draft->fixture, "now");
    json_t *body = json_pack("{s:[o]}", "hits", claim);
    if (json_is_number(now))
        json_object_set_new(body, "now", json_deep_copy(now));
    return add_json_step(draft, "POST", "/v1/matches/$match/hits?explain=true", body,
                         json_pack("{s:{s:[o]}}", "body", "results", result));
}

/* Adds a step whose body is any text, even invalid JSON, padded with spaces to `pad` bytes. */
static struct hs_scenario_step *add_raw(struct draft *draft, const json_t *request,
                                        const char *method, const char *path)
{
    char *text = fill_in(draft, json_string_value(json_object_get(request, "raw")));
    size_t size = text != NULL ? strlen(text) : 0;
    json_int_t pad = json_integer_value(json_object_get(request, "pad"));
    if (pad > (json_int_t)size) {
        char *padded = realloc(text, (size_t)pad);
        if (padded == NULL) {
            free(text);
            return NULL;
        }
        memset(padded + size, ' ', (size_t)pad - size);
        text = padded;
        size = (size_t)pad;
    }
    return add_step(draft, method, path, text, size, copy_member(request, "expect"));
}

static struct hs_scenario_step *add_plain(struct draft *draft, const json_t *request)
{
    const char *method = json_string_value(json_object_get(request, "method"));
    const char *path = json_string_value(json_object_get(request, "path"));
    if (json_is_string(json_object_get(request, "raw")))
        return add_raw(draft, request, method, path);
    json_t *expect = copy_member(request, "expect");
    if (json_object_get(request, "body") == NULL)
        return add_step(draft, method, path, NULL, 0, expect);
    return add_json_step(draft, method, path, copy_member(request, "body"), expect);
}

static bool add_request(struct draft *draft, const json_t *request)
{
    json_error_t why;
    bool is_claim = json_object_get(request, "claim") != NULL;
    bool is_frames =
        json_object_get(request, "track") != NULL || json_object_get(request, "frames") != NULL;
    json_t *shaped = (json_t *)(uintptr_t)request;
    int wrong = is_claim ? json_unpack_ex(shaped, &why, SHAPE, "{s:o, s?o, s?o, s?s}", "claim",
                                          "now", "expect", "save")
                : is_frames
                    ? json_unpack_ex(shaped, &why, SHAPE, "{s?o, s?o, s?o, s?s}", "track", "frames",
                                     "expect", "save")
                    : json_unpack_ex(shaped, &why, SHAPE, "{s:s, s:s, s?o, s?s, s?i, s?o, s?s}",
                                     "method", "path", "body", "raw", "pad", "expect", "save");
    if (wrong != 0) {
        snprintf(draft->error, HS_SCENARIO_ERROR_MAX, "a request: %s", why.text);
        return false;
    }
    struct hs_scenario_step *step = is_claim    ? add_claim(draft, request)
                                    : is_frames ? add_frames(draft, request)
                                                : add_plain(draft, request);
    if (step == NULL)
        return false;
    const json_t *save = json_object_get(request, "save");
    if (save != NULL)
        step->save = json_string_value(keep(draft, json_deep_copy(save)));
    json_t *same_as = copy_member(step->expect, "same_as");
    if (same_as != NULL) {
        step->same_as = json_string_value(keep(draft, same_as));
        json_object_del(step->expect, "same_as");
    }
    return true;
}

/* Names a ruleset after a hash of its content, so that scenarios with equal rulesets share one
   ruleset in the service. */
static void name_ruleset(struct draft *draft, const json_t *ruleset)
{
    json_t *placed = hs_reference_apply(draft->reference, ruleset);
    char *text = json_dumps(placed, JSON_COMPACT | JSON_SORT_KEYS);
    snprintf(draft->ruleset, sizeof(draft->ruleset), "scenario-%016" PRIx64,
             hs_str_hash(hs_str_of(text)));
    free(text);
    json_decref(placed);
}

/* Returns the map of the scenario. If the scenario has no map, returns the map of the fixture. If
   neither the scenario nor the fixture has a map, returns NULL. The result is borrowed. */
static const json_t *map_of(const struct draft *draft, const json_t *scenario)
{
    const json_t *map = json_object_get(scenario, "map");
    if (map == NULL)
        map = json_object_get(draft->fixture, "map");
    return json_is_object(map) ? map : NULL;
}

static struct hs_scenario_step *add_document(struct draft *draft, const char *path,
                                             json_t *document)
{
    return add_json_step(draft, "PUT", path, document,
                         json_pack("{s:{s:[i,i]}}", "status", "$one_of", 200, 201));
}

static bool add_opening(struct draft *draft, const json_t *scenario)
{
    const json_t *own = json_object_get(draft->fixture, "ruleset");
    const json_t *patch = json_object_get(scenario, "ruleset_patch");
    json_t *ruleset = patch != NULL ? merged(own, patch) : json_deep_copy(own);
    const json_t *map = map_of(draft, scenario);
    name_ruleset(draft, ruleset);
    if (json_is_false(json_object_get(scenario, "open"))) {
        json_decref(ruleset);
        return true;
    }
    json_t *opening = map != NULL ? json_pack("{s:s,s:s}", "ruleset", "$ruleset", "map", "$match")
                                  : json_pack("{s:s}", "ruleset", "$ruleset");
    if (add_document(draft, "/v1/rulesets/$ruleset", ruleset) == NULL ||
        (map != NULL && add_document(draft, "/v1/maps/$match", json_deep_copy(map)) == NULL)) {
        json_decref(opening);
        return false;
    }
    return add_json_step(draft, "PUT", "/v1/matches/$match", opening,
                         json_pack("{s:i}", "status", 201)) != NULL;
}

/* Adds a step that deletes the map, so that the maps of all scenarios need not fit into the service
   at the same time. The open match keeps using the deleted map. Accepts 404, because the scenario
   itself may have deleted the map. */
static bool add_closing(struct draft *draft, const json_t *scenario)
{
    if (json_is_false(json_object_get(scenario, "open")) || map_of(draft, scenario) == NULL)
        return true;
    return add_step(draft, "DELETE", "/v1/maps/$match", NULL, 0,
                    json_pack("{s:{s:[i,i,i]}}", "status", "$one_of", 204, 403, 404)) != NULL;
}

struct hs_scenario_plan *hs_scenario_plan_create(const struct hs_scenarios *scenarios, size_t index,
                                                 const struct hs_reference *reference,
                                                 const char *prefix,
                                                 char error[HS_SCENARIO_ERROR_MAX])
{
    struct hs_scenario_plan *plan = calloc(1, sizeof(*plan));
    snprintf(error, HS_SCENARIO_ERROR_MAX, "out of memory");
    if (plan == NULL)
        return NULL;
    plan->unit = reference->unit;
    plan->owned = json_array();
    const json_t *scenario = scenario_at(scenarios, index);
    struct draft draft = {
        .fixture = scenarios->fixture, .reference = reference, .plan = plan, .error = error};
    snprintf(draft.match, sizeof(draft.match), "%.32s-%.16s-%s", prefix,
             json_string_value(json_object_get(scenario, "row")), reference->name);
    bool made = add_opening(&draft, scenario);
    const json_t *requests = json_object_get(scenario, "requests");
    for (size_t i = 0; made && i < json_array_size(requests); i++)
        made = add_request(&draft, json_array_get(requests, i));
    made = made && add_closing(&draft, scenario);
    if (!made) {
        hs_scenario_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

void hs_scenario_plan_destroy(struct hs_scenario_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->count; i++)
        free(plan->steps[i].body);
    free(plan->steps);
    json_decref(plan->owned);
    free(plan);
}

/* ---- playing ---- */

static bool same_as_saved(const json_t *saved, const char *name, const json_t *answer, char *fault)
{
    const json_t *before = json_object_get(saved, name);
    if (before != NULL && answer != NULL && json_equal(before, answer))
        return true;
    char *was = before != NULL ? json_dumps(before, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *is = answer != NULL ? json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    snprintf(fault, HS_EXPECT_FAULT_MAX, "\"%s\" was %.200s, is %.200s", name,
             was != NULL ? was : "never saved", is != NULL ? is : "not JSON");
    free(was);
    free(is);
    return false;
}

static bool play_step(const struct hs_scenario_plan *plan, const struct hs_scenario_step *step,
                      hs_scenario_send *send, void *context, json_t *saved, char *fault)
{
    const char *answer = NULL;
    size_t size = 0;
    long status = send(context, step, &answer, &size);
    if (status == 0 || answer == NULL) {
        snprintf(fault, HS_EXPECT_FAULT_MAX, "no answer");
        return false;
    }
    if (!hs_expect_answer(step->expect, status, answer, size, plan->unit, fault))
        return false;
    if (step->save == NULL && step->same_as == NULL)
        return true;
    json_t *document = json_loadb(answer, size, JSON_DECODE_ANY, NULL);
    bool same = step->same_as == NULL || same_as_saved(saved, step->same_as, document, fault);
    if (step->save != NULL && document != NULL)
        json_object_set(saved, step->save, document);
    json_decref(document);
    return same;
}

bool hs_scenario_play(const struct hs_scenario_plan *plan, hs_scenario_send *send, void *context,
                      char fault[HS_SCENARIO_ERROR_MAX])
{
    json_t *saved = json_object();
    fault[0] = '\0';
    bool good = true;
    for (size_t i = 0; good && i < plan->count; i++) {
        const struct hs_scenario_step *step = &plan->steps[i];
        char detail[HS_EXPECT_FAULT_MAX];
        good = play_step(plan, step, send, context, saved, detail);
        if (!good)
            snprintf(fault, HS_SCENARIO_ERROR_MAX, "request %zu, %s %.120s: %s", i + 1,
                     step->method, step->path, detail);
    }
    json_decref(saved);
    return good;
}
