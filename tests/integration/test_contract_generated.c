/*
 * Bodies that the schemas of openapi.yaml allow get a documented answer. Bodies that they forbid
 * are refused with a pointer to the place, and change nothing. Bodies are made from the schemas.
 * Repeat a failing run with HS_SEED=<printed>. HS_CONTRACT_CASES sets the number of bodies of each
 * kind for a route.
 */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/problem.h"
#include "tests/integration/drawn_bodies.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/contract/schema_damage.h"
#include "tests/support/contract/schema_draw.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

enum { DEFAULT_CASES = 40 };

static struct hs_test_service service;
static json_t *document;
static uint64_t seed;
static long cases;

/* Returns the elements of a list, or the rows of a table. */
static const json_t *elements_of(const json_t *batch)
{
    return json_is_object(batch) ? json_object_get(batch, "rows") : batch;
}

/* Returns a member of an element, or NULL. */
static const json_t *member_of(const json_t *batch, size_t element, const char *key)
{
    const json_t *item = json_array_get(elements_of(batch), element), *column;
    size_t i;
    if (!json_is_object(batch))
        return json_object_get(item, key);
    json_array_foreach(json_object_get(batch, "columns"), i,
                       column) if (strcmp(json_string_value(column), key) ==
                                   0) return json_array_get(item, i);
    return NULL;
}

/* ---- the routes with bodies ---- */

static const struct posting {
    const char *method, *pattern;
} postings[] = {
    {"PUT", "/v1/matches/{match}"},
    {"POST", "/v1/matches/{match}/frames"},
    {"POST", "/v1/matches/{match}/hits"},
    {"POST", "/v1/matches/{match}/ticks"},
    {"PUT", "/v1/rulesets/{ruleset}"},
    {"POST", "/v1/matches/{match}/shots"},
    {"PUT", "/v1/maps/{map}"},
    {"POST", "/v1/matches/{match}/moves"},
};

enum {
    POSTINGS = sizeof postings / sizeof postings[0],
    PUT_MATCH = 0,
    PUT_RULESET = 4,
    PUT_MAP = 6
};

/* Makes a body that the route accepts under `name`. */
static json_t *draw_body(int posting, const json_t *schema, const char *name, double optional,
                         struct hs_random *random)
{
    static const char *const rulesets[] = {"default", "metres", "centimetres", "unity"};
    json_t *body = hs_schema_draw(document, schema, optional, random);
    struct hs_schema_fault fault;
    if (posting == PUT_MATCH && json_object_get(body, "ruleset") != NULL)
        json_object_set_new(body, "ruleset", json_string(rulesets[hs_random_index(random, 4)]));
    if (posting == PUT_MATCH)
        json_object_set_new(body, "map",
                            hs_random_chance(random, 0.5) ? json_null() : json_string("yard"));
    if (posting == PUT_RULESET)
        hs_drawn_mend_ruleset(body, name, random);
    if (posting == PUT_MAP)
        hs_drawn_mend_map(body, random);
    if (strcmp(postings[posting].method, "POST") == 0)
        hs_drawn_mend_item(body, document, random);
    if (json_object_get(body, "columns") != NULL)
        hs_drawn_mend_table(body, "#/components/schemas/Move", document, random);
    ck_assert_msg(hs_schema_fits(document, schema, body, &fault), "drawn: %s %s", fault.pointer,
                  fault.text);
    return body;
}

static void fill_path(const char *pattern, const char *name, const char *query, char path[256])
{
    size_t len = strcspn(pattern, "{");
    const char *rest = pattern + len + strcspn(pattern + len, "}") + 1;
    snprintf(path, 256, "%.*s%s%s%s", (int)len, pattern, name, rest, query);
}

/* Writes what a failing case prints, so that it can be repeated. */
static void describe(const char *path, const char *text, const struct hs_test_response *answer,
                     char out[4096])
{
    snprintf(out, 4096, "HS_SEED=%llu %s\n%.2500s\n%ld %.1200s", (unsigned long long)seed, path,
             text, answer->status, answer->body);
}

/* Checks that the answer has one result for each item, in the order of the items. A brief answer
   counts `accepted` items and has the results of the others. */
static void assert_results(const json_t *items, const json_t *results, const json_t *accepted,
                           const char *key)
{
    size_t plain = accepted != NULL ? (size_t)json_integer_value(accepted) : 0, count = 0;
    ck_assert_uint_eq(json_array_size(results) + plain, json_array_size(elements_of(items)));
    for (size_t i = 0; i < json_array_size(results); i++, count++) {
        const json_t *result = json_array_get(results, i),
                     *index = json_object_get(result, "index");
        ck_assert_int_eq(index != NULL, accepted != NULL);
        if (index != NULL) {
            ck_assert_int_ge(json_integer_value(index), (json_int_t)count);
            count = (size_t)json_integer_value(index);
        }
        ck_assert(json_equal(member_of(items, count, key), json_object_get(result, key)));
    }
}

static void assert_all_results(const json_t *body, const json_t *answer)
{
    static const char *const lists[][2] = {
        {"shots", "shot"}, {"hits", "shot"}, {"moves", "player"}, {"rows", "player"}};
    const json_t *accepted = json_object_get(answer, "accepted");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *items = json_object_get(body, lists[i][0]);
        const json_t *results = json_object_get(answer, lists[i][0]);
        if (items == NULL)
            continue;
        bool is_tick = results != NULL, is_table = strcmp(lists[i][0], "rows") == 0;
        assert_results(is_table ? body : items,
                       is_tick ? results : json_object_get(answer, "results"),
                       is_tick ? json_object_get(accepted, lists[i][0]) : accepted, lists[i][1]);
    }
}

/* The answer must have one result for each item of the request. Stored movers are not counted. */
static void assert_counts(const json_t *body, const struct hs_test_response *answer)
{
    json_t *parsed = hs_test_response_json(answer);
    const json_t *frames = json_object_get(body, "frames");
    const json_t *stored = json_object_get(parsed, "frames");
    assert_all_results(body, parsed);
    if (frames != NULL) {
        size_t i, entries = 0, refused = 0;
        json_t *refusal;
        for (i = 0; i < json_array_size(elements_of(frames)); i++)
            entries += json_array_size(elements_of(member_of(frames, i, "players")));
        stored = stored != NULL ? stored : parsed;
        json_array_foreach(json_object_get(stored, "refused"), i, refusal) refused +=
            json_object_get(refusal, "player") != NULL;
        ck_assert_uint_eq((size_t)json_integer_value(json_object_get(stored, "stored")) + refused,
                          entries);
    }
    json_decref(parsed);
}

static void assert_alive(struct hs_test_http *http)
{
    long status;
    json_decref(hs_test_http_json(http, "GET", "/livez", NULL, &status));
    ck_assert_int_eq(status, 200);
}

START_TEST(allowed_bodies_are_answered)
{
    const struct posting *posting = &postings[_i];
    const json_t *operation = hs_contract_operation(document, posting->method, posting->pattern);
    const json_t *schema = hs_contract_request_schema(operation);
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)(_i * 1000000 + i));
        char name[32], path[256], why[1024], text[4096];
        /* Each PUT of a match opens a new one. All other requests use matches that earlier requests
           changed. */
        snprintf(name, sizeof name, "allowed-%ld", _i == PUT_MATCH ? i : i % 8);
        static const char *const queries[] = {"?explain=true&strict=true", "?strict=true",
                                              "?brief=true&strict=true"};
        fill_path(posting->pattern, name, queries[i % 3], path);
        json_t *body = draw_body(_i, schema, name, i % 10 == 0 ? 1 : 0.4, &random);
        char *sent = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
        struct hs_test_response answer;
        hs_test_http_send(http, posting->method, path, sent, strlen(sent), NULL, &answer);
        describe(path, sent, &answer, text);
        ck_assert_msg(answer.status == 200 || answer.status == 201, "%s", text);
        ck_assert_msg(hs_contract_allows(document, operation, &answer, why), "%s\n%s", why, text);
        assert_counts(body, &answer);
        hs_test_response_free(&answer);
        free(sent);
        json_decref(body);
    }
    assert_alive(http);
    hs_test_http_close(http);
}
END_TEST

/* Returns the state of a match, a ruleset or a map as text. The caller frees it. */
static char *state_of(struct hs_test_http *http, int posting, const char *name)
{
    char path[256];
    struct hs_test_response answer;
    snprintf(path, sizeof path, "/v1/%s/%s",
             posting == PUT_RULESET ? "rulesets"
             : posting == PUT_MAP   ? "maps"
                                    : "matches",
             name);
    hs_test_http_send(http, "GET", path, NULL, 0, NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    free(answer.headers);
    return answer.body;
}

/*
 * Makes a match with two players and a verdict, a ruleset, or a map. No refused request may change
 * what it makes.
 */
static void prepare(struct hs_test_http *http, int posting, const char *name)
{
    char path[256];
    long status;
    if (posting == PUT_RULESET || posting == PUT_MAP) {
        snprintf(path, sizeof path, "/v1/%s/%s", posting == PUT_MAP ? "maps" : "rulesets", name);
        json_decref(hs_test_http_json(http, "PUT", path, json_object(), &status));
        ck_assert_int_eq(status, 201);
        return;
    }
    snprintf(path, sizeof path, "/v1/matches/%s/ticks", name);
    json_decref(hs_test_http_json(
        http, "POST", path,
        json_pack("{s:[{s:f,s:[{s:s,s:[i,i,i]},{s:s,s:[i,i,i]}]}],s:[{s:i,s:s,s:f,s:[i,i,i],"
                  "s:[i,i,i]}]}",
                  "frames", "time", 10.0, "players", "player", "alice", "position", 0, 0, 0,
                  "player", "bob", "position", 1000, 0, 0, "hits", "shot", 1, "shooter", "alice",
                  "hit_time", 10.0, "start", 0, 0, 160, "end", 1000, 0, 160),
        &status));
    ck_assert_int_eq(status, 200);
}

/* Returns whether `pointer` names `place`. In rigs and bones it may also name the array that
   contains `place`. */
static bool names(const char *pointer, const char *place)
{
    const char *last = strrchr(place, '/');
    size_t digits = last != NULL ? strspn(last + 1, "0123456789") : 0;
    bool is_inside = strncmp(place, "/rigs/", 6) == 0 || strstr(place, "/bones/") != NULL;
    bool is_element = is_inside && digits > 0 && last[1 + digits] == '\0';
    /* Pointers are cut off at HS_POINTER_MAX. */
    return strncmp(pointer, place, HS_POINTER_MAX - 1) == 0 ||
           (is_element && strlen(pointer) == (size_t)(last - place) &&
            strncmp(pointer, place, strlen(pointer)) == 0);
}

/* Returns whether the problem names the place. If the body is neither an object nor an array, the
   problem may say that the body is no JSON. */
static bool points_at(const json_t *problem, const char *place)
{
    const json_t *errors = json_object_get(problem, "errors");
    if (place[0] == '\0' &&
        strcmp(json_string_value(json_object_get(problem, "code")), "malformed_json") == 0)
        return true;
    for (size_t i = 0; i < json_array_size(errors); i++)
        if (names(json_string_value(json_object_get(json_array_get(errors, i), "pointer")), place))
            return true;
    return false;
}

/* What the tests of forbidden bodies share: the connection, the path, and the state that must not
   change. */
struct refusing {
    struct hs_test_http *http;
    const struct posting *posting;
    const json_t *operation, *schema;
    char name[32], path[256];
    char *before;
    long refused;
};

static void begin_refusing(struct refusing *r, int posting, const char *prefix)
{
    r->http = hs_test_http_open(service.data_port);
    r->posting = &postings[posting];
    r->operation = hs_contract_operation(document, r->posting->method, r->posting->pattern);
    r->schema = hs_contract_request_schema(r->operation);
    r->refused = 0;
    snprintf(r->name, sizeof r->name, "%s-%d", prefix, posting);
    fill_path(r->posting->pattern, r->name, "?strict=true", r->path);
    prepare(r->http, posting, r->name);
    r->before = state_of(r->http, posting, r->name);
}

static void end_refusing(struct refusing *r, int posting)
{
    char *after = state_of(r->http, posting, r->name);
    ck_assert_str_eq(r->before, after);
    free(r->before);
    free(after);
    assert_alive(r->http);
    hs_test_http_close(r->http);
}

/* Without `?strict` each item of a batch gets its own answer. Checks that the answers with and
   without `?strict` follow the contract. */
static void assert_answered(struct refusing *r, const char *sent)
{
    char path[256], why[1024], text[4096];
    struct hs_test_response answer;
    if (strcmp(r->posting->method, "POST") != 0)
        return;
    fill_path(r->posting->pattern, "item-by-item", "", path);
    hs_test_http_send(r->http, "POST", path, sent, strlen(sent), NULL, &answer);
    describe(path, sent, &answer, text);
    ck_assert_msg(answer.status == 200 || answer.status == 400, "%s", text);
    ck_assert_msg(hs_contract_allows(document, r->operation, &answer, why), "%s\n%s", why, text);
    ck_assert_msg(answer.status == 400 || strstr(answer.body, "malformed") != NULL, "%s", text);
    hs_test_response_free(&answer);
}

static void assert_refused(struct refusing *r, const json_t *body,
                           const struct hs_schema_damage *damage)
{
    char why[1024], text[4096];
    struct hs_test_response answer;
    ck_assert_msg(!hs_schema_fits(document, r->schema, body, NULL), "%s at %s still fits",
                  damage->what, damage->pointer);
    char *sent = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
    hs_test_http_send(r->http, r->posting->method, r->path, sent, strlen(sent), NULL, &answer);
    describe(r->path, sent, &answer, text);
    json_t *problem = hs_test_response_json(&answer);
    ck_assert_msg(answer.status == 400, "%s at %s\n%s", damage->what, damage->pointer, text);
    ck_assert_msg(hs_contract_allows(document, r->operation, &answer, why), "%s\n%s", why, text);
    ck_assert_msg(points_at(problem, damage->pointer), "%s at %s\n%s", damage->what,
                  damage->pointer, text);
    assert_answered(r, sent);
    r->refused++;
    json_decref(problem);
    hs_test_response_free(&answer);
    free(sent);
}

START_TEST(forbidden_bodies_are_refused_with_a_pointer)
{
    struct refusing r;
    begin_refusing(&r, _i, "still");
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)(_i * 1000000 + 500000 + i));
        struct hs_schema_damage damage;
        json_t *whole = draw_body(_i, r.schema, r.name, i % 10 == 0 ? 1 : 0.4, &random);
        json_t *body = hs_schema_damaged(document, r.schema, whole, &random, &damage);
        if (body != NULL)
            assert_refused(&r, body, &damage);
        json_decref(body);
        json_decref(whole);
    }
    ck_assert_int_ge(r.refused, cases - cases / 10);
    end_refusing(&r, _i);
}
END_TEST

/* Random damage does not reach every field. So this applies every kind of damage once to every
   field of a body that has all fields. */
START_TEST(every_field_is_checked)
{
    struct refusing r;
    begin_refusing(&r, _i, "whole");
    struct hs_random random = hs_random_start(seed, (uint64_t)(_i * 1000000 + 900000));
    json_t *whole = draw_body(_i, r.schema, r.name, 1, &random);
    bool end = false;
    for (size_t n = 0; !end; n++) {
        struct hs_schema_damage damage;
        json_t *body = hs_schema_damaged_nth(document, r.schema, whole, n, &random, &damage, &end);
        if (body != NULL)
            assert_refused(&r, body, &damage);
        json_decref(body);
    }
    ck_assert_int_ge(r.refused, 5);
    json_decref(whole);
    end_refusing(&r, _i);
}
END_TEST

static Suite *generated_suite(void)
{
    Suite *suite = suite_create("contract generated");
    TCase *bodies = tcase_create("bodies");
    tcase_set_timeout(bodies, 300);
    tcase_add_loop_test(bodies, allowed_bodies_are_answered, 0, POSTINGS);
    tcase_add_loop_test(bodies, forbidden_bodies_are_refused_with_a_pointer, 0, POSTINGS);
    tcase_add_loop_test(bodies, every_field_is_checked, 0, POSTINGS);
    suite_add_tcase(suite, bodies);
    return suite;
}

/* Puts the map that the matches use. */
static void put_yard(void)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    long status;
    json_decref(hs_test_http_json(
        http, "PUT", "/v1/maps/yard",
        json_pack("{s:[{s:[i,i,i],s:[i,i,i]}]}", "boxes", "min", 9, -5, 0, "max", 10, 5, 3),
        &status));
    hs_test_http_close(http);
    if (status != 201)
        fprintf(stderr, "the map: status %ld\n", status);
}

int main(void)
{
    seed = hs_test_seed(20260701);
    cases = hs_test_count("HS_CONTRACT_CASES", DEFAULT_CASES);
    printf("seed %llu, %ld bodies of each kind a route\n", (unsigned long long)seed, cases);
    fflush(stdout);
    document = hs_contract_load();
    if (!hs_test_service_start(&service, NULL))
        return 1;
    put_yard();
    int failed = hs_run_suite(generated_suite());
    bool clean = hs_test_service_stop(&service);
    json_decref(document);
    return failed == 0 && clean ? 0 : 1;
}
