/*
 * openapi.yaml agrees with the sources. The document is complete and every part is understood. Its
 * routes and closed lists are those of the code, its examples fit its schemas, and docs/api.md
 * agrees. test_contract_numbers.c checks its numbers. tests/integration/test_contract*.c compare it
 * with the running service.
 */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/http/problem.h"
#include "api/http/routes.h"
#include "api/json/reading.h"
#include "service/system/version.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/match.h"
#include "validators/moves.h"
#include "validators/ruleset.h"
#include "validators/vocabulary.h"

static json_t *document;

/* ---- the document itself ---- */

START_TEST(every_schema_is_understood)
{
    struct hs_schema_fault fault;
    const char *name;
    json_t *schema;
    json_object_foreach(json_object_get(json_object_get(document, "components"), "schemas"), name,
                        schema) ck_assert_msg(hs_schema_is_understood(document, schema, &fault),
                                              "%s: %s", name, fault.text);
    ck_assert_str_eq(json_string_value(json_object_get(document, "openapi")), "3.1.0");
    ck_assert_str_eq(
        json_string_value(json_object_get(json_object_get(document, "info"), "version")),
        HS_VERSION);
}
END_TEST

/*
 * Follows every `$ref` of the document, and counts the references below `paths` to each component.
 */
static void check_references(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    const char *reference = json_string_value(json_object_get(value, "$ref"));
    if (reference != NULL)
        ck_assert_msg(hs_schema_resolve(document, reference) != NULL, "%s", reference);
    json_object_foreach((json_t *)(uintptr_t)value, key, member) check_references(member);
    json_array_foreach(value, i, member) check_references(member);
}

START_TEST(every_reference_leads_somewhere)
{
    check_references(document);
}
END_TEST

/* Returns whether a value contains `reference` anywhere. */
static bool is_referred_to(const json_t *value, const char *reference)
{
    const char *key;
    json_t *member;
    size_t i;
    const char *here = json_string_value(json_object_get(value, "$ref"));
    if (here != NULL && strcmp(here, reference) == 0)
        return true;
    json_object_foreach((json_t *)(uintptr_t)value, key,
                        member) if (is_referred_to(member, reference)) return true;
    json_array_foreach(value, i, member) if (is_referred_to(member, reference)) return true;
    return false;
}

START_TEST(every_component_is_used)
{
    const char *kind, *name;
    json_t *kinds, *value;
    json_object_foreach(json_object_get(document, "components"), kind, kinds)
        json_object_foreach(kinds, name, value)
    {
        char reference[256];
        if (strcmp(kind, "securitySchemes") == 0)
            /* routes name these components without a `$ref`: see
               documented_scopes_equal_those_of_the_route */
            continue;
        snprintf(reference, sizeof reference, "#/components/%s/%s", kind, name);
        ck_assert_msg(is_referred_to(document, reference), "nothing refers to %s", reference);
    }
}
END_TEST

/* Checks every example of a media type: if `fitting`, the examples in `list` must fit its schema;
   otherwise they must not fit. Returns the number of examples. */
static size_t check_list(const json_t *type, const char *list, bool fitting, const char *where)
{
    size_t count = 0;
    const char *name;
    json_t *example;
    json_object_foreach(json_object_get(type, list), name, example)
    {
        struct hs_schema_fault fault;
        const json_t *value = json_object_get(example, "value");
        bool fine = hs_schema_fits(document, json_object_get(type, "schema"), value, &fault);
        ck_assert_msg(fine == fitting, "%s: example %s: %s %s", where, name, fault.pointer,
                      fine ? "fits" : fault.text);
        count++;
    }
    return count;
}

static size_t check_examples(const json_t *content, const char *where)
{
    size_t count = 0;
    const char *media;
    json_t *type;
    json_object_foreach((json_t *)(uintptr_t)content, media, type) count +=
        check_list(type, "examples", true, where) +
        check_list(type, "x-bad-examples", false, where);
    return count;
}

static size_t check_all_examples(const json_t *value, const char *where)
{
    size_t count = 0;
    const char *key;
    json_t *member;
    if (json_is_object(json_object_get(value, "content")))
        count += check_examples(json_object_get(value, "content"), where);
    json_object_foreach((json_t *)(uintptr_t)value, key, member) if (strcmp(key, "content") != 0)
        count += check_all_examples(member, key);
    return count;
}

/* Checks the names in a closed list. If the schema allows members named `x_`, all other names are
   in `properties`. */
static size_t check_names(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i, count = 0;
    const json_t *names = json_object_get(json_object_get(value, "propertyNames"), "oneOf");
    const json_t *known = json_object_get(json_array_get(names, 1), "enum");
    if (known != NULL) {
        const json_t *properties = json_object_get(value, "properties");
        ck_assert_uint_eq(json_array_size(known), json_object_size(properties));
        json_array_foreach(known, i, member)
            ck_assert_msg(json_object_get(properties, json_string_value(member)) != NULL,
                          "%s is not a property", json_string_value(member));
        count++;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member) count += check_names(member);
    return count;
}

START_TEST(known_names_are_those_of_the_properties)
{
    ck_assert_uint_ge(check_names(json_object_get(document, "components")), 33);
}
END_TEST

START_TEST(every_example_fits_its_schema)
{
    ck_assert_uint_ge(check_all_examples(document, ""), 45);
}
END_TEST

/* ---- routes ---- */

static const struct {
    const char *method, *pattern;
    const char *listeners;
} routes[] = {
#define X(id, method, pattern, listeners, ...) {#method, pattern, #listeners},
    HS_ROUTES(X)
#undef X
};

START_TEST(every_route_is_documented)
{
    const json_t *operation =
        hs_contract_operation(document, routes[_i].method, routes[_i].pattern);
    ck_assert_msg(operation != NULL, "%s %s", routes[_i].method, routes[_i].pattern);
    /* The `servers` of the document are both listeners. An operation that exists on only one
       listener names that listener. */
    json_t *servers = json_object_get(operation, "servers");
    const json_t *all = json_object_get(document, "servers");
    ck_assert_uint_eq(json_array_size(all), 2);
    if (strcmp(routes[_i].listeners, "BOTH") == 0) {
        ck_assert_ptr_null(servers);
        return;
    }
    ck_assert_uint_eq(json_array_size(servers), 1);
    const char *wanted = strcmp(routes[_i].listeners, "ADMIN") == 0 ? "admin" : "data";
    const char *text =
        json_string_value(json_object_get(json_array_get(servers, 0), "description"));
    ck_assert_msg(strncmp(text, wanted, strlen(wanted)) == 0, "%s", text);
}
END_TEST

START_TEST(every_documented_route_exists)
{
    size_t count = 0;
    const char *pattern, *method;
    json_t *path, *operation;
    json_object_foreach(json_object_get(document, "paths"), pattern, path)
        json_object_foreach(path, method, operation)
    {
        bool found = strcmp(method, "parameters") == 0;
        for (size_t i = 0; i < HS_ROUTE_COUNT && !found; i++)
            found = strcasecmp(routes[i].method, method) == 0 &&
                    strcmp(routes[i].pattern, pattern) == 0;
        ck_assert_msg(found, "%s %s", method, pattern);
        count += strcmp(method, "parameters") != 0;
    }
    ck_assert_uint_eq(count, HS_ROUTE_COUNT);
}
END_TEST

START_TEST(path_parameters_are_declared)
{
    const json_t *path = json_object_get(json_object_get(document, "paths"), routes[_i].pattern);
    const json_t *declared = json_object_get(path, "parameters");
    size_t count = 0;
    for (const char *at = routes[_i].pattern; (at = strchr(at, '{')) != NULL; at++, count++) {
        char reference[128];
        snprintf(reference, sizeof reference, "#/components/parameters/%.*s",
                 (int)strcspn(at + 1, "}"), at + 1);
        ck_assert_str_eq(
            json_string_value(json_object_get(json_array_get(declared, count), "$ref")), reference);
    }
    /* Next comes the header for the deadline, if the route can refuse a request because of it. */
    if (strncmp(routes[_i].pattern, "/v1/", 4) == 0)
        ck_assert_str_eq(
            json_string_value(json_object_get(json_array_get(declared, count++), "$ref")),
            "#/components/parameters/deadline");
    ck_assert_uint_eq(json_array_size(declared), count);
}
END_TEST

/* Returns whether a caller with these scopes (-1: without a token) may use the operation. */
static bool has_security(const json_t *operation, int scopes)
{
    size_t i, k;
    json_t *one, *role;
    const json_t *alternatives = json_object_get(operation, "security");
    if (json_array_size(alternatives) == 0)
        return true;
    json_array_foreach(alternatives, i, one)
    {
        const json_t *roles = json_object_get(one, "bearer");
        bool fine = roles != NULL && scopes >= 0;
        json_array_foreach(roles, k, role)
        {
            const char *name = json_string_value(role);
            unsigned bit = hs_scope_parse((struct hs_str){name, strlen(name)});
            ck_assert_msg(bit != 0, "%s is no scope", name);
            fine = fine && ((unsigned)scopes & bit) != 0;
        }
        if (fine)
            return true;
    }
    return false;
}

/* The documented scopes are those of the route. The scope `admin` includes all others, so it is not
   listed. */
START_TEST(documented_scopes_equal_those_of_the_route)
{
    enum hs_route route = (enum hs_route)_i;
    const json_t *operation =
        hs_contract_operation(document, routes[_i].method, routes[_i].pattern);
    const json_t *responses = json_object_get(operation, "responses");
    const json_t *schemes =
        json_object_get(json_object_get(document, "components"), "securitySchemes");
    ck_assert_ptr_nonnull(json_object_get(schemes, "bearer"));
    ck_assert_ptr_nonnull(json_object_get(operation, "security"));
    ck_assert_int_eq(has_security(operation, -1), hs_route_is_open(route));
    ck_assert_int_eq(json_object_get(responses, "401") == NULL, hs_route_is_open(route));
    for (int scopes = 0; scopes < HS_SCOPE_ADMIN; scopes++)
        ck_assert_msg(has_security(operation, scopes) == hs_route_allows(route, (unsigned)scopes),
                      "%s %s with scopes %x", routes[_i].method, routes[_i].pattern,
                      (unsigned)scopes);
    ck_assert_msg(hs_route_allows(route, HS_SCOPE_ADMIN), "%s is not in the table of scopes",
                  routes[_i].pattern);
    ck_assert_int_eq(strncmp(routes[_i].pattern, "/v1/", 4) != 0, hs_route_is_open(route));
}
END_TEST

/* ---- closed lists ---- */

#define NAME_2(id, name)      name,
#define NAME_3(id, name, ...) name,

static const char *const verdicts[] = {HS_VERDICTS(NAME_2) NULL};
static const char *const modes[] = {HS_MODES(NAME_2) NULL};
#define CHECK_NAME(id, name, a, b) #name,
static const char *const checks[] = {HS_CHECKS(CHECK_NAME) NULL};
static const char *const reasons[] = {HS_REASONS(NAME_3) NULL};
static const char *const flags[] = {HS_FLAGS(NAME_2) NULL};
static const char *const hints[] = {HS_HINTS(NAME_2) NULL};
static const char *const move_checks[] = {HS_MOVE_CHECKS(NAME_3) NULL};
static const char *const move_reasons[] = {HS_MOVE_REASONS(NAME_3) NULL};
static const char *const units[] = {HS_UNITS(NAME_2) NULL};
static const char *const frame_results[] = {HS_FRAME_RESULTS(NAME_2) NULL};
static const char *const frame_flags[] = {HS_FRAME_FLAGS(NAME_2) NULL};
/* The last two codes come from balancers (deploy/haproxy). */
static const char *const problem_codes[] = {HS_PROBLEMS(NAME_3) "bad_gateway", "gateway_timeout",
                                            NULL};

/* `first`: number of values at the head of the list that are never written. */
static const struct {
    const char *schema;
    const char *const *names;
    size_t first;
} lists[] = {
    {"Verdict", verdicts, 0},
    {"Mode", modes, 0},
    {"Check", checks, 0},
    {"Reason", reasons, 0},
    {"HintCode", hints, 0},
    {"Flag", flags, 0},
    {"MoveCheck", move_checks, 0},
    {"MoveReason", move_reasons, 0},
    {"Unit", units, 1 /* not the first one, `none`: it is never written, because the members are
                         left out */},
    {"FrameRefusal", frame_results, 1 /* not `stored`, which is no refusal */},
    {"FrameFlag", frame_flags, 0},
    {"ProblemCode", problem_codes, 1 /* not the first one, `none` */},
};

START_TEST(closed_lists_are_those_of_the_sources)
{
    const json_t *names = json_object_get(hs_contract_schema(document, lists[_i].schema), "enum");
    size_t count = 0;
    for (const char *const *name = lists[_i].names + lists[_i].first; *name != NULL; name++) {
        const char *documented = json_string_value(json_array_get(names, count++));
        ck_assert_msg(documented != NULL && strcmp(documented, *name) == 0,
                      "%s: %s in the sources, %s in openapi.yaml", lists[_i].schema, *name,
                      documented != NULL ? documented : "nothing");
    }
    ck_assert_uint_eq(json_array_size(names), count);
}
END_TEST

static void assert_enum(const char *schema, const char *(*name)(int), int count)
{
    const json_t *names = json_object_get(hs_contract_schema(document, schema), "enum");
    ck_assert_uint_eq(json_array_size(names), (size_t)count);
    for (int i = 0; i < count; i++)
        ck_assert_str_eq(json_string_value(json_array_get(names, (size_t)i)), name(i));
}

static const char *outcome_name(int i)
{
    return hs_outcome_name((enum hs_outcome)i);
}

static const char *weapon_type_name(int i)
{
    return hs_weapon_type_name((enum hs_weapon_type)i);
}

static const char *pellet_outcome_name(int i)
{
    return hs_pellet_outcome_name((enum hs_pellet_outcome)i);
}

static const char *shape_name(int i)
{
    return hs_shape_name((enum hs_shape)i);
}

static const char *up_name(int i)
{
    return hs_up_name((enum hs_up)i);
}

START_TEST(small_lists_are_those_of_the_sources)
{
    assert_enum("Outcome", outcome_name, HS_OUTCOME_UNKNOWN + 1);
    assert_enum("WeaponType", weapon_type_name, HS_WEAPON_TYPE_COUNT);
    assert_enum("Shape", shape_name, HS_SHAPE_COUNT);
    assert_enum("Up", up_name, HS_UP_NZ + 1);
    assert_enum("PelletOutcome", pellet_outcome_name, HS_PELLET_UNKNOWN + 1);
    /* The sources have no list of the names of events. Other tests check that each name is
       accepted. */
    const json_t *events = json_object_get(hs_contract_schema(document, "PlayerEvent"), "enum");
    ck_assert_uint_eq(json_array_size(events), HS_EVENT_LAUNCH);
    const json_t *fuses = json_object_get(hs_contract_schema(document, "Fuse"), "enum");
    ck_assert_uint_eq(json_array_size(fuses), HS_FUSE_PROXIMITY);
    const json_t *kinds = json_object_get(hs_contract_schema(document, "MoveKind"), "enum");
    ck_assert_uint_eq(json_array_size(kinds), HS_MOVE_OLD + 1);
    const json_t *causes = json_object_get(hs_contract_schema(document, "Cause"), "enum");
    ck_assert_uint_eq(json_array_size(causes), HS_CAUSE_BLAST + 1);
}
END_TEST

/* ---- the tables for readers ---- */

static void assert_tables(const char *reason_text, const char *problem_text, const char *where)
{
    char row[256];
    for (int i = 0; i < HS_REASON_COUNT; i++) {
        enum hs_reason reason = (enum hs_reason)i;
        snprintf(row, sizeof row, "| `%s` | %s | `%s` | ", hs_reason_name(reason),
                 hs_verdict_name(hs_reason_verdict(reason)),
                 hs_check_name(hs_reason_check(reason)));
        ck_assert_msg(strstr(reason_text, row) != NULL, "%s has no row %s", where, row);
    }
    for (int i = 1; i < HS_PROBLEM_COUNT; i++) {
        enum hs_problem_code code = (enum hs_problem_code)i;
        snprintf(row, sizeof row, "| `%s` | %d | ", hs_problem_name(code), hs_problem_status(code));
        ck_assert_msg(strstr(problem_text, row) != NULL, "%s has no row %s", where, row);
    }
}

static void assert_move_tables(const char *text, const char *where)
{
    char row[256];
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++) {
        enum hs_move_reason reason = (enum hs_move_reason)i;
        snprintf(row, sizeof row, "| `%s` | %s | ", hs_move_reason_name(reason),
                 hs_verdict_name(hs_move_reason_verdict(reason)));
        ck_assert_msg(strstr(text, row) != NULL, "%s has no row %s", where, row);
    }
}

START_TEST(tables_are_those_of_the_sources)
{
    const json_t *reason = hs_contract_schema(document, "Reason");
    const json_t *move_reason = hs_contract_schema(document, "MoveReason");
    const json_t *problem = hs_contract_schema(document, "ProblemCode");
    assert_tables(json_string_value(json_object_get(reason, "description")),
                  json_string_value(json_object_get(problem, "description")), "openapi.yaml");
    assert_move_tables(json_string_value(json_object_get(move_reason, "description")),
                       "openapi.yaml");
    char *page = hs_test_read_file("docs/api.md", NULL);
    assert_tables(page, page, "docs/api.md");
    const char *moves = strstr(page, "| reason of a move |");
    ck_assert_ptr_nonnull(moves);
    assert_move_tables(moves, "docs/api.md");
    char quoted[128];
    for (int i = 0; i < HS_FLAG_COUNT; i++) {
        snprintf(quoted, sizeof quoted, "`%s`", hs_flag_name((enum hs_flag)i));
        ck_assert_msg(strstr(page, quoted) != NULL, "docs/api.md lacks the flag %s", quoted);
    }
    free(page);
}
END_TEST

/* Compares the names in backquotes from `at` on with a closed list, in order. */
static void assert_enumeration(const char *at, const char *const *names, size_t first,
                               const char *what)
{
    ck_assert_msg(at != NULL, "docs/api.md does not list %s", what);
    for (const char *const *name = names + first; *name != NULL; name++) {
        const char *open = strchr(at, '`');
        size_t len = open != NULL ? strcspn(open + 1, "`") : 0;
        ck_assert_msg(strlen(*name) == len && strncmp(open + 1, *name, len) == 0,
                      "docs/api.md lists %.*s where %s has %s", (int)len,
                      open != NULL ? open + 1 : "", what, *name);
        at = open + len + 2;
    }
}

static bool is_listed(const char *const *names, const char *name, size_t len)
{
    for (; *names != NULL; names++)
        if (strlen(*names) == len && strncmp(*names, name, len) == 0)
            return true;
    return false;
}

/* Compares in both directions: the page lists all values, and every name in its tables exists,
   once. */
START_TEST(the_page_lists_all_values_and_no_others)
{
    char *page = hs_test_read_file("docs/api.md", NULL);
    assert_enumeration(strstr(page, "The checks decide in the order"), checks, 0, "Check");
    assert_enumeration(strstr(page, "The checks of a move decide in the order"), move_checks, 0,
                       "MoveCheck");
    assert_enumeration(strstr(page, "Its `unit` is ") != NULL
                           ? strstr(page, "Its `unit` is ") + strlen("Its `unit` is ")
                           : NULL,
                       units, 1, "Unit");
    assert_enumeration(strstr(page, "Entries of frames are refused as"), frame_results, 1,
                       "FrameRefusal");
    assert_enumeration(strstr(page, "can have the remarks"), frame_flags, 0, "FrameFlag");
    size_t rows = 0, wanted = HS_VERDICT_COUNT + HS_REASON_COUNT + HS_FLAG_COUNT + HS_HINT_COUNT +
                              HS_MOVE_REASON_COUNT;
    for (const char *at = page; (at = strstr(at, "\n| `")) != NULL; at++) {
        const char *name = at + 4;
        size_t len = strcspn(name, "`");
        ck_assert_msg(is_listed(verdicts, name, len) || is_listed(reasons, name, len) ||
                          is_listed(flags, name, len) || is_listed(problem_codes, name, len) ||
                          is_listed(hints, name, len) || is_listed(move_reasons, name, len),
                      "docs/api.md has a row of %.*s, which is in no list", (int)len, name);
        rows++;
    }
    enum { NONE_AND_END = 2 };
    ck_assert_uint_eq(rows, wanted + sizeof problem_codes / sizeof problem_codes[0] - NONE_AND_END);
    free(page);
}
END_TEST

static Suite *texts_suite(void)
{
    Suite *suite = suite_create("contract texts");
    const int route_count = HS_ROUTE_COUNT, list_count = sizeof lists / sizeof lists[0];
    TCase *whole = tcase_create("whole");
    tcase_add_test(whole, every_schema_is_understood);
    tcase_add_test(whole, every_reference_leads_somewhere);
    tcase_add_test(whole, every_component_is_used);
    tcase_add_test(whole, every_example_fits_its_schema);
    tcase_add_test(whole, known_names_are_those_of_the_properties);
    suite_add_tcase(suite, whole);
    TCase *sources = tcase_create("sources");
    tcase_add_loop_test(sources, every_route_is_documented, 0, route_count);
    tcase_add_loop_test(sources, documented_scopes_equal_those_of_the_route, 0, route_count);
    tcase_add_test(sources, every_documented_route_exists);
    tcase_add_loop_test(sources, path_parameters_are_declared, 0, route_count);
    tcase_add_loop_test(sources, closed_lists_are_those_of_the_sources, 0, list_count);
    tcase_add_test(sources, small_lists_are_those_of_the_sources);
    tcase_add_test(sources, tables_are_those_of_the_sources);
    tcase_add_test(sources, the_page_lists_all_values_and_no_others);
    suite_add_tcase(suite, sources);
    return suite;
}

int main(void)
{
    document = hs_contract_load();
    int failed = hs_run_suite(texts_suite());
    json_decref(document);
    return failed == 0 ? 0 : 1;
}
