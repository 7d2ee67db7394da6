/* The numbers of openapi.yaml equal those of the sources: defaults and ranges of rulesets, limits
   of requests and answers. */
#include <check.h>
#include <stddef.h>
#include <string.h>

#include "api/http/problem.h"
#include "api/json/table.h"
#include "tests/support/contract/document.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/match.h"
#include "validators/moves.h"
#include "validators/ruleset.h"
#include "validators/vocabulary.h"

static json_t *document;

/* ---- rulesets ---- */

/* Returns whether a scalar has no single default: its default depends on other fields, or it is
   required. */
static bool has_no_default(const struct hs_scalar *scalar)
{
    bool is_radius = strcmp(scalar->key, "radius") == 0;
    bool is_of_weapon = scalar->section == NULL && strcmp(scalar->key, "require_shot") == 0;
    return (is_radius && scalar->offset == offsetof(struct hs_weapon, blast.radius)) ||
           strcmp(scalar->key, "inner_radius") == 0 || strcmp(scalar->key, "world_radius") == 0 ||
           is_of_weapon;
}

static void assert_number(const json_t *field, const struct hs_scalar *scalar)
{
    double low = json_number_value(json_object_get(field, "minimum"));
    double high = json_number_value(json_object_get(field, "maximum"));
    ck_assert_msg(low == scalar->low && high == scalar->high, "%s: %.17g..%.17g in the sources",
                  scalar->key, scalar->low, scalar->high);
    ck_assert_str_eq(json_string_value(json_object_get(field, "type")),
                     scalar->kind == HS_SCALAR_COUNT ? "integer" : "number");
}

static void assert_scalar(const json_t *properties, const struct hs_scalar *scalar, double initial)
{
    const json_t *field = json_object_get(properties, scalar->key);
    ck_assert_msg(field != NULL, "%s is not documented", scalar->key);
    const json_t *given = json_object_get(field, "x-default");
    if (has_no_default(scalar)) {
        if (scalar->kind != HS_SCALAR_BOOL)
            assert_number(field, scalar);
        ck_assert_ptr_null(given);
        return;
    }
    if (scalar->kind == HS_SCALAR_BOOL) {
        ck_assert_msg(json_is_boolean(given) && json_is_true(given) == (initial != 0), "%s",
                      scalar->key);
        ck_assert_str_eq(json_string_value(json_object_get(field, "type")), "boolean");
        return;
    }
    ck_assert_msg(json_is_number(given) && json_number_value(given) == initial,
                  "%s: %.17g in the sources", scalar->key, initial);
    assert_number(field, scalar);
}

/* Compares each scalar of a section with its documentation. Returns the number of scalars.
   `others`: how many members of the section are not scalars. */
static size_t assert_section(const char *section, const char *schema,
                             const struct hs_ruleset *defaults, size_t others)
{
    size_t count = 0;
    const json_t *properties = json_object_get(hs_contract_schema(document, schema), "properties");
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        const struct hs_scalar *scalar = &hs_ruleset_scalars[i];
        if (strcmp(scalar->section, section) != 0)
            continue;
        assert_scalar(properties, scalar, hs_scalar_get(scalar, defaults));
        count++;
    }
    ck_assert_uint_eq(json_object_size(properties), count + others);
    return count;
}

/* Compares the fields of an empty document, which is in centimetres. */
START_TEST(ruleset_fields_have_the_defaults_and_ranges_of_the_sources)
{
    struct hs_ruleset *defaults = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    ck_assert_ptr_nonnull(defaults);
    ck_assert_str_eq(defaults->name.text, "centimetres");
    /* The last argument of each call is the number of members that are not scalars, such as lists
       and sections. */
    size_t count = assert_section("history", "HistoryRules", defaults, 1) +
                   assert_section("rewind", "RewindRules", defaults, 1) +
                   assert_section("hit", "HitRules", defaults, 2) +
                   assert_section("moves", "MovesRules", defaults, 9) +
                   assert_section("moves/client_authoritative", "AuthorityRules", defaults, 0) +
                   assert_section("moves/large_correction", "LargeCorrectionRules", defaults, 0) +
                   assert_section("moves/forced_update", "ForcedUpdateRules", defaults, 0) +
                   assert_section("moves/prediction_ping", "PredictionRules", defaults, 0) +
                   assert_section("moves/credit", "CreditRules", defaults, 0) +
                   assert_section("moves/ack_bound", "AckBoundRules", defaults, 0) +
                   assert_section("moves/lead_guard", "LeadGuardRules", defaults, 0);
    ck_assert_uint_eq(count, hs_ruleset_scalar_count);
    const json_t *moves = json_object_get(hs_contract_schema(document, "MovesRules"), "properties");
    const json_t *prevention = json_object_get(moves, "prevention");
    ck_assert_str_eq(json_string_value(json_object_get(prevention, "x-default")),
                     hs_prevention_name(defaults->moves.prevention));
    const json_t *modes_of =
        json_object_get(hs_contract_schema(document, "CheckModes"), "properties");
    ck_assert_uint_eq(json_object_size(modes_of), HS_CHECK_COUNT + HS_MOVE_CHECK_COUNT);
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        ck_assert_str_eq(
            json_string_value(json_object_get(
                json_object_get(modes_of, hs_move_check_name((enum hs_move_check)i)), "x-default")),
            hs_mode_name(hs_move_check_default_mode((enum hs_move_check)i)));
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        ck_assert_str_eq(
            json_string_value(json_object_get(
                json_object_get(modes_of, hs_check_name((enum hs_check)i)), "x-default")),
            hs_mode_name(hs_check_default_mode((enum hs_check)i)));
    hs_ruleset_destroy(defaults);
}
END_TEST

START_TEST(weapon_fields_have_the_defaults_and_ranges_of_the_sources)
{
    const json_t *properties =
        json_object_get(hs_contract_schema(document, "Weapon"), "properties");
    for (size_t i = 0; i < hs_weapon_scalar_count; i++)
        assert_scalar(properties, &hs_weapon_scalars[i], hs_weapon_scalars[i].initial);
    /* members other than scalars: type, fuse, motion, blast, falloff, zones */
    ck_assert_uint_eq(json_object_size(properties), hs_weapon_scalar_count + 6);
}
END_TEST

START_TEST(move_mode_fields_have_the_defaults_and_ranges_of_the_sources)
{
    const json_t *properties =
        json_object_get(hs_contract_schema(document, "MoveMode"), "properties");
    for (size_t i = 0; i < hs_move_mode_scalar_count; i++)
        assert_scalar(properties, &hs_move_mode_scalars[i], hs_move_mode_scalars[i].initial);
    ck_assert_uint_eq(json_object_size(properties), hs_move_mode_scalar_count);
}
END_TEST

static void assert_columns(const char *table, const char *item)
{
    const json_t *properties = json_object_get(hs_contract_schema(document, item), "properties");
    const json_t *columns = json_object_get(
        json_object_get(hs_contract_schema(document, table), "properties"), "columns");
    const json_t *names = json_object_get(json_object_get(columns, "items"), "enum");
    size_t i;
    json_t *name;
    ck_assert_uint_eq(json_array_size(names), json_object_size(properties));
    json_array_foreach(names, i, name)
        ck_assert_ptr_nonnull(json_object_get(properties, json_string_value(name)));
}

/* Each column of a table is a member of a move or of a player. */
START_TEST(columns_are_the_members_of_the_items)
{
    assert_columns("MovesTable", "Move");
    assert_columns("PlayersTable", "PlayerFrame");
}
END_TEST

START_TEST(blast_fields_have_the_defaults_and_ranges_of_the_sources)
{
    const json_t *properties = json_object_get(hs_contract_schema(document, "Blast"), "properties");
    for (size_t i = 0; i < hs_blast_scalar_count; i++) {
        const struct hs_scalar *scalar = &hs_blast_scalars[i];
        assert_scalar(properties, scalar, scalar->initial);
    }
    /* members other than scalars: unclaimed */
    ck_assert_uint_eq(json_object_size(properties), hs_blast_scalar_count + 1);
}
END_TEST

/* ---- bounds ---- */

static const struct {
    const char *schema, *member, *keyword;
    int limit;
} limits[] = {
    {"Ruleset", "zones", "maxProperties", HS_MAX_ZONES},
    {"Ruleset", "rigs", "maxProperties", HS_MAX_RIGS},
    {"Ruleset", "weapons", "maxProperties", HS_MAX_WEAPONS},
    {"HitRules", "zone_priority", "maxItems", HS_MAX_ZONES},
    {"MovesRules", "modes", "maxProperties", HS_MAX_MOVE_MODES},
    {"Weapon", "falloff", "maxItems", HS_MAX_FALLOFF},
    {"Rig", "bones", "maxItems", HS_MAX_BONES},
    {"Rig", "hitboxes", "maxItems", HS_MAX_HITBOXES},
    {"Rig", "stances", "maxProperties", HS_MAX_STANCES},
    {"Stance", "bones", "maxItems", HS_MAX_BONES},
    {"PlayerFrame", "bones", "maxItems", HS_MAX_BONES},
    {"PlayerFrame", "weapons", "maxItems", HS_MAX_WEAPONS},
    {"Problem", "errors", "maxItems", HS_PROBLEM_MAX},
    {"Rewind", "ignored_players", "maxItems", HS_MAX_IGNORED},
    {"HitClaim", "pellets", "maxItems", HS_MAX_PELLETS},
    {"HitClaim", "additional_targets", "maxItems", HS_MAX_VICTIMS},
    {"HitResult", "pellets", "maxItems", HS_MAX_PELLETS},
    {"HitResult", "refused", "maxItems", HS_MAX_VICTIMS},
    {"HitResult", "unclaimed", "maxItems", HS_MAX_VICTIMS},
    {"PelletResult", "index", "maximum", HS_MAX_PELLETS - 1},
    {"Shot", "directions", "maxItems", HS_MAX_PELLETS},
    {"Weapon", "pellets", "maximum", HS_MAX_PELLETS},
    {"HitRules", "max_victims", "maximum", HS_MAX_VICTIMS},
};

START_TEST(numbers_have_the_bounds_of_the_sources)
{
    const json_t *real = hs_contract_schema(document, "Real"),
                 *time = hs_contract_schema(document, "Time");
    ck_assert(json_number_value(json_object_get(real, "minimum")) == -HS_JSON_REAL_MAX);
    ck_assert(json_number_value(json_object_get(real, "maximum")) == HS_JSON_REAL_MAX);
    ck_assert(json_number_value(json_object_get(time, "minimum")) == -HS_JSON_TIME_MAX);
    ck_assert(json_number_value(json_object_get(time, "maximum")) == HS_JSON_TIME_MAX);
}
END_TEST

START_TEST(limits_are_those_of_the_sources)
{
    const json_t *properties =
        json_object_get(hs_contract_schema(document, limits[_i].schema), "properties");
    const json_t *member = json_object_get(properties, limits[_i].member);
    /* `bones` has several forms; the first is nested */
    const json_t *forms = json_object_get(member, "oneOf");
    member = forms != NULL ? json_array_get(forms, 0) : member;
    ck_assert_int_eq(json_integer_value(json_object_get(member, limits[_i].keyword)),
                     limits[_i].limit);
}
END_TEST

static Suite *numbers_suite(void)
{
    Suite *suite = suite_create("contract numbers");
    TCase *tcase = tcase_create("contract numbers");
    tcase_add_test(tcase, ruleset_fields_have_the_defaults_and_ranges_of_the_sources);
    tcase_add_test(tcase, weapon_fields_have_the_defaults_and_ranges_of_the_sources);
    tcase_add_test(tcase, move_mode_fields_have_the_defaults_and_ranges_of_the_sources);
    tcase_add_test(tcase, columns_are_the_members_of_the_items);
    tcase_add_test(tcase, blast_fields_have_the_defaults_and_ranges_of_the_sources);
    tcase_add_test(tcase, numbers_have_the_bounds_of_the_sources);
    tcase_add_loop_test(tcase, limits_are_those_of_the_sources, 0,
                        (int)(sizeof limits / sizeof limits[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    document = hs_contract_load();
    int failed = hs_run_suite(numbers_suite());
    json_decref(document);
    return failed;
}
