/* The tables and lists of docs/ruleset.md and docs/api.md come from openapi.yaml, the vocabulary
   and the built-in rulesets. The test makes them again and compares. If HS_WRITE_PAGES is set, it
   writes the pages instead (make docs). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rulesets/document.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/run_suite.h"
#include "validators/ruleset.h"

enum { UNITS = 3, PAGE_BYTES = 262144, PAGE_COLUMNS = 100 };

static json_t *document, *builtin[UNITS];

static json_t *encode_builtin(const struct hs_builtin_ruleset *which)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(which);
    struct hs_buffer text = {0};
    struct hs_writer writer = {.buffer = &text};
    ck_assert_ptr_nonnull(ruleset);
    hs_ruleset_encode(&writer, ruleset);
    json_t *root = json_loadb(text.data, text.len, 0, NULL);
    ck_assert_ptr_nonnull(root);
    hs_buffer_free(&text);
    hs_ruleset_destroy(ruleset);
    return root;
}

static void setup(void)
{
    document = hs_contract_load();
    for (size_t i = 0; i < UNITS; i++)
        builtin[i] = encode_builtin(&hs_builtin_rulesets[i]);
}

static void teardown(void)
{
    json_decref(document);
    for (size_t i = 0; i < UNITS; i++)
        json_decref(builtin[i]);
}

/* ---- cells ---- */

/* Writes text in one line. Escapes bars, because a bar would end the cell. */
static void put_text(FILE *out, const char *text)
{
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        if (*at == '|')
            fputs("\\|", out);
        else if (*at != '\n' || at[1] != '\0')
            fputc(*at == '\n' ? ' ' : *at, out);
    }
}

static void put_value(FILE *out, const json_t *value)
{
    if (json_is_number(value)) {
        fprintf(out, "%.7g", json_number_value(value));
    } else if (json_is_string(value)) {
        fputs(json_string_value(value), out);
    } else if (value != NULL) {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(7));
        fputs(text, out);
        free(text);
    }
}

static void put_range(FILE *out, const json_t *schema)
{
    const char *type = json_string_value(hs_schema_get(document, schema, "type"));
    const json_t *names = hs_schema_get(document, schema, "enum"),
                 *low = hs_schema_get(document, schema, "minimum");
    size_t i;
    json_t *name;
    if (names != NULL) {
        json_array_foreach(names, i, name)
            fprintf(out, "%s%s", i > 0 ? ", " : "", json_string_value(name));
    } else if (low != NULL) {
        fputs(strcmp(type, "integer") == 0 ? "whole, " : "", out);
        put_value(out, low);
        fputs(" to ", out);
        put_value(out, hs_schema_get(document, schema, "maximum"));
    } else if (type != NULL) {
        fputs(strcmp(type, "boolean") == 0 ? "true, false" : type, out);
    }
}

/* Returns the member of the built-in ruleset `i` at a dotted path, or NULL. */
static const json_t *builtin_value(size_t i, const char *path)
{
    const json_t *at = builtin[i];
    char name[64];
    while (at != NULL && *path != '\0') {
        size_t len = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)len, path);
        at = json_object_get(at, name);
        path += len + (path[len] == '.');
    }
    return at;
}

static void put_default(FILE *out, const json_t *schema, const char *path)
{
    static const char *const units[UNITS] = {"", "; metres ", "; inches "};
    const json_t *left_out = hs_schema_get(document, schema, "x-default");
    const json_t *first = builtin_value(0, path);
    if (first == NULL || json_is_object(first) || strcmp(path, "name") == 0) {
        put_value(out, left_out);
        return;
    }
    put_value(out, first);
    for (size_t i = 1; i < UNITS; i++) {
        const json_t *value = builtin_value(i, path);
        if (json_equal((json_t *)(uintptr_t)value, (json_t *)(uintptr_t)first))
            continue;
        fputs(units[i], out);
        put_value(out, value);
    }
}

/* ---- tables ---- */

static bool is_required(const json_t *schema, const char *name)
{
    size_t i;
    json_t *required;
    json_array_foreach(json_object_get(schema, "required"), i,
                       required) if (strcmp(json_string_value(required), name) == 0) return true;
    return false;
}

/* Lists the members of an object of rules that have no table of their own, under `path`. */
static void put_members(FILE *out, const json_t *schema, const char *path)
{
    const char *name;
    json_t *field;
    json_object_foreach(json_object_get(schema, "properties"), name, field)
    {
        char whole[128];
        const json_t *inner = hs_schema_get(document, field, "properties");
        snprintf(whole, sizeof whole, "%s%s%s", path, *path != '\0' ? "." : "", name);
        if (inner != NULL) {
            const char *reference = json_string_value(json_object_get(field, "$ref"));
            if (*path != '\0')
                put_members(out, hs_schema_resolve(document, reference), whole);
            continue;
        }
        fprintf(out, "| `%s` | ", whole);
        put_text(out, json_string_value(hs_schema_get(document, field, "description")));
        fputs(" | ", out);
        put_range(out, field);
        fputs(" | ", out);
        if (is_required(schema, name))
            fputs("required", out);
        else
            put_default(out, field, whole);
        fputs(" |\n", out);
    }
}

static const struct {
    const char *title, *schema, *path;
} tables[] = {
    {"The document", "Ruleset", ""},
    {"`history`: the frames that are kept", "HistoryRules", "history"},
    {"`rewind`: the moment that counts", "RewindRules", "rewind"},
    {"`hit`: limits for claims", "HitRules", "hit"},
    {"`weapons.NAME`", "Weapon", "weapons.NAME"},
    {"`rigs.NAME`", "Rig", "rigs.NAME"},
    {"`rigs.NAME.hitboxes`, each", "Hitbox", "hitbox"},
    {"`rigs.NAME.stances.NAME`", "Stance", "stance"},
    {"`moves`: clients' clocks and movement", "MovesRules", "moves"},
    {"`moves.modes.NAME`", "MoveMode", "moves.modes.NAME"},
};

/* Writes a table of the numbers of the built-in entries of one kind, in metres, with a column for
   each entry. */
static void put_builtin_table(FILE *out, const char *path, const char *schema)
{
    json_t *things = (json_t *)(uintptr_t)builtin_value(1, path), *thing, *field;
    const char *name, *key;
    fputs("\n| built in, in metres |", out);
    json_object_foreach(things, name, thing) fprintf(out, " `%s` |", name);
    fputs("\n|---|", out);
    for (size_t i = 0; i < json_object_size(things); i++)
        fputs("---|", out);
    fputs("\n", out);
    json_object_foreach(json_object_get(hs_contract_schema(document, schema), "properties"), key,
                        field)
    {
        fprintf(out, "| `%s` |", key);
        json_object_foreach(things, name, thing)
        {
            fputs(" ", out);
            put_value(out, json_object_get(thing, key));
            fputs(" |", out);
        }
        fputs("\n", out);
    }
}

/* Writes the modes of the checks. All members have the same description and range. */
static void put_checks(FILE *out)
{
    const char *name;
    json_t *field;
    fputs("\n### `checks`: their modes\n\n", out);
    put_text(out, json_string_value(
                      json_object_get(hs_contract_schema(document, "Mode"), "description")));
    fputs("\n\n| field | range | default |\n|---|---|---|\n", out);
    json_object_foreach(json_object_get(hs_contract_schema(document, "CheckModes"), "properties"),
                        name, field)
    {
        fprintf(out, "| `checks.%s` | ", name);
        put_range(out, field);
        fputs(" | ", out);
        put_value(out, json_object_get(field, "x-default"));
        fputs(" |\n", out);
    }
}

static void put_tables(FILE *out)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const json_t *schema = hs_contract_schema(document, tables[i].schema);
        fprintf(out, "\n### %s\n\n", tables[i].title);
        const char *text = json_string_value(json_object_get(schema, "description"));
        put_text(out, text);
        fprintf(out, "%s| field | | range | default |\n|---|---|---|---|\n",
                text != NULL ? "\n\n" : "");
        put_members(out, schema, tables[i].path);
        if (strcmp(tables[i].schema, "Weapon") == 0)
            put_builtin_table(out, "weapons", "Weapon");
        if (strcmp(tables[i].schema, "MoveMode") == 0)
            put_builtin_table(out, "moves.modes", "MoveMode");
    }
    put_checks(out);
    fputs("\n", out);
}

/* Writes the block for users to copy: every check, in shadow. */
static void put_shadow(FILE *out)
{
    const char *name, *before = "";
    json_t *field;
    size_t width = 0;
    fputs("\n```json\n\"checks\": {", out);
    json_object_foreach(json_object_get(hs_contract_schema(document, "CheckModes"), "properties"),
                        name, field)
    {
        width += strlen(name) + 14;
        fprintf(out, "%s%s\"%s\": \"shadow\"", before, *before == '\0' || width > 96 ? "\n  " : " ",
                name);
        width = width > 96 ? strlen(name) + 14 : width;
        before = ",";
    }
    fputs("\n}\n```\n\n", out);
}

/* ---- docs/api.md ---- */

/* Writes the words of `text` from column `at` on. Returns the column after them. */
static size_t put_words(FILE *out, size_t at, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        bool wraps = at > 0 && at + 1 + len > PAGE_COLUMNS;
        fprintf(out, "%s%.*s", wraps ? "\n" : at > 0 ? " " : "", (int)len, text);
        at = (wraps || at == 0 ? 0 : at + 1) + len;
        text += len + (text[len] == ' ');
    }
    return at;
}

/* Writes `lead` and the names of the checks for which `is_listed` is true as one sentence. If there
   is no such check, writes nothing. */
static size_t put_check_names(FILE *out, size_t at, const char *lead,
                              bool is_listed(enum hs_check check))
{
    char name[64];
    const char *waiting = NULL;
    for (int i = 0; i < HS_CHECK_COUNT; i++) {
        if (!is_listed((enum hs_check)i))
            continue;
        if (waiting == NULL) {
            at = put_words(out, at, lead);
        } else {
            snprintf(name, sizeof name, "`%s`,", waiting);
            at = put_words(out, at, name);
        }
        waiting = hs_check_name((enum hs_check)i);
    }
    if (waiting == NULL)
        return at;
    snprintf(name, sizeof name, "`%s`.", waiting);
    return put_words(out, at, name);
}

static bool is_any(enum hs_check check)
{
    (void)check;
    return true;
}

static bool is_in_shadow(enum hs_check check)
{
    return hs_check_default_mode(check) == HS_MODE_SHADOW;
}

static bool is_off(enum hs_check check)
{
    return hs_check_default_mode(check) == HS_MODE_OFF;
}

static bool is_for_claims_only(enum hs_check check)
{
    return hs_check_stage(check) < HS_CHECK_STAGE_SHOT;
}

static void put_check_order(FILE *out)
{
    size_t at = put_check_names(out, 0, "The checks decide in the order", is_any);
    at = put_check_names(out, at, "By default these are in `shadow`:", is_in_shadow);
    at = put_check_names(out, at, "By default these are `off`:", is_off);
    put_check_names(out, at, "These are not evaluated for shots:", is_for_claims_only);
    fputs("\n", out);
}

/* Writes the table in the description of a schema. */
static void put_described(FILE *out, const char *schema)
{
    const char *text =
        json_string_value(json_object_get(hs_contract_schema(document, schema), "description"));
    ck_assert_ptr_nonnull(text);
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        if (*text == '|')
            fprintf(out, "%.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void put_reasons(FILE *out)
{
    put_described(out, "Reason");
}

static void put_move_reasons(FILE *out)
{
    put_described(out, "MoveReason");
}

static void put_errors(FILE *out)
{
    put_described(out, "ProblemCode");
}

/* ---- the pages ---- */

static const struct {
    const char *page, *what;
    void (*put)(FILE *out);
} parts[] = {
    {"docs/ruleset.md", "fields", put_tables},
    {"docs/ruleset.md", "shadow", put_shadow},
    {"docs/api.md", "checks", put_check_order},
    {"docs/api.md", "reasons", put_reasons},
    {"docs/api.md", "reasons of moves", put_move_reasons},
    {"docs/api.md", "errors", put_errors},
};

static void read_page(const char *name, char page[PAGE_BYTES])
{
    FILE *file = fopen(name, "r");
    ck_assert_msg(file != NULL, "run from the root of the tree");
    page[fread(page, 1, PAGE_BYTES - 1, file)] = '\0';
    fclose(file);
}

/* Returns the page with a new text between the two marker lines of `what`; the caller frees it. */
static char *renew(const char *page, const char *what, void put(FILE *out))
{
    char begin[64], end[64], *text = NULL;
    size_t size = 0;
    snprintf(begin, sizeof begin, "<!-- %s: begin, by make docs -->\n", what);
    snprintf(end, sizeof end, "<!-- %s: end -->\n", what);
    const char *from = strstr(page, begin), *to = strstr(page, end);
    ck_assert_msg(from != NULL && to > from, "no place for the %s", what);
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%.*s", (int)((size_t)(from - page) + strlen(begin)), page);
    put(out);
    fputs(to, out);
    fclose(out);
    return text;
}

START_TEST(the_pages_are_made_from_the_sources)
{
    static char page[PAGE_BYTES];
    const char *name = parts[_i].page;
    read_page(name, page);
    char *whole = renew(page, parts[_i].what, parts[_i].put);
    if (getenv("HS_WRITE_PAGES") != NULL) {
        FILE *file = fopen(name, "w");
        ck_assert_ptr_nonnull(file);
        fputs(whole, file);
        fclose(file);
        read_page(name, page);
    }
    ck_assert_msg(strcmp(page, whole) == 0, "%s is not up to date: make docs", name);
    free(whole);
}
END_TEST

/* The block for users to copy is a part of a ruleset, and sets every check to shadow. A ruleset
   with it is accepted. */
START_TEST(the_shadow_block_is_a_valid_ruleset)
{
    static char page[PAGE_BYTES], text[PAGE_BYTES + 2];
    struct hs_arena arena = {0};
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    read_page("docs/ruleset.md", page);
    const char *begin = strstr(page, "```json\n\"checks\"");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("```json\n");
    snprintf(text, sizeof text, "{%.*s}", (int)(strstr(begin, "```") - begin), begin);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    struct hs_ruleset *ruleset = hs_ruleset_decode(&reader, root, HS_STR("shadowed"));
    ck_assert_msg(ruleset != NULL, "%s", problem.errors[0].detail);
    for (size_t i = 0; i < HS_CHECK_COUNT; i++)
        ck_assert_int_eq(ruleset->checks[i], HS_MODE_SHADOW);
    for (size_t i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        ck_assert_int_eq(ruleset->move_checks[i], HS_MODE_SHADOW);
    hs_ruleset_destroy(ruleset);
    json_decref(root);
    hs_arena_free(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pages");
    TCase *tests = tcase_create("pages");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, the_pages_are_made_from_the_sources, 0,
                        sizeof parts / sizeof parts[0]);
    tcase_add_test(tests, the_shadow_block_is_a_valid_ruleset);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
