/* Rulesets: the built-in numbers, the table of scalars, and the results of hs_ruleset_finish. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/base/units.h"
#include "validators/geometry/quat.h"
#include "validators/ruleset.h"

/* ---- built-in ---- */

static struct hs_ruleset *builtin(int i)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
    ck_assert_ptr_nonnull(ruleset);
    return ruleset;
}

START_TEST(builtins_are_valid_and_named)
{
    static const struct {
        const char *name, *up;
    } rows[] = {{"centimetres", "+z"}, {"metres", "+z"}, {"inches", "+z"}, {"unreal", "+z"},
                {"unity", "+y"},       {"godot", "+y"},  {"source", "+z"}};
    struct hs_ruleset *ruleset = builtin(_i);
    ck_assert_str_eq(ruleset->name.text, rows[_i].name);
    ck_assert_str_eq(hs_builtin_rulesets[_i].name, rows[_i].name);
    ck_assert_uint_eq(hs_ruleset_validate(ruleset, NULL, NULL), 0);
    ck_assert_str_eq(hs_up_name(ruleset->up), rows[_i].up);
    ck_assert_str_eq(ruleset->rigs[ruleset->default_rig]->name.text, "humanoid");
    int running = 0; /* new checks are off until a developer turns them on */
    for (int i = 0; i < HS_CHECK_COUNT; i++) {
        if (ruleset->checks[i] == HS_MODE_OFF)
            continue;
        ck_assert_int_eq(ruleset->checks[i], HS_MODE_ENFORCE);
        running++;
    }
    ck_assert_int_ge(running, 19);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* The values that the documentation promises, in centimetres. */
static const struct {
    const char *section, *key;
    double value;
} promised[] = {
    {"history", "keep", 1},
    {"history", "max_gap", 0.15},
    {"history", "world_bound", 1e7},
    {"history", "max_speed", 20000},
    {"history", "max_forward", 5},
    {"rewind", "limit", 0.4},
    {"rewind", "future_slack", 0.05},
    {"hit", "min_trace", 1e-4},
    {"hit", "sweep_extension", 10},
    {"hit", "claim_padding", 0},
    {"hit", "origin_tolerance", 25},
    {"hit", "death_grace", 0.08},
    {"hit", "friendly_fire", 0},
    {"hit", "aim_tolerance_deg", 5},
    {"hit", "binding_tolerance_deg", 0.5},
};

#define PROMISED ((int)(sizeof promised / sizeof *promised))

static const struct hs_scalar *find_scalar(const struct hs_scalar *table, size_t count,
                                           const char *section, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].key, key) == 0 && (section == NULL) == (table[i].section == NULL) &&
            (section == NULL || strcmp(table[i].section, section) == 0))
            return &table[i];
    ck_abort_msg("no scalar %s", key);
    return NULL;
}

static const struct hs_scalar *rule(const char *section, const char *key)
{
    return find_scalar(hs_ruleset_scalars, hs_ruleset_scalar_count, section, key);
}

START_TEST(defaults_are_the_promised_ones)
{
    struct hs_ruleset *cm = builtin(0);
    const struct hs_scalar *scalar = rule(promised[_i].section, promised[_i].key);
    ck_assert_double_eq(hs_scalar_get(scalar, cm), promised[_i].value);
    hs_ruleset_destroy(cm);
}
END_TEST

static void expect_ratio(double cm, double other, double unit, const char *what)
{
    ck_assert_msg(other == cm / unit, "%s: %.17g is not %.17g / %g", what, other, cm, unit);
}

/* Expects `v` to be zero except along `up`, where it is `height` / `unit`. */
static void expect_height(double height, struct hs_vec v, enum hs_up up, double unit)
{
    expect_ratio(height, hs_vec_dot(v, hs_up_direction(up)), unit, "height");
    ck_assert_double_eq(hs_vec_dot(v, v), height / unit * (height / unit));
}

static void compare_rigs(const struct hs_rig *cm, const struct hs_rig *other, enum hs_up up,
                         double unit)
{
    struct hs_vec above = hs_up_direction(up);
    ck_assert_uint_eq(cm->hitbox_count, other->hitbox_count);
    ck_assert_uint_eq(cm->stance_count, other->stance_count);
    for (int i = 0; i < cm->hitbox_count; i++) {
        const struct hs_hitbox *a = &cm->hitboxes[i], *b = &other->hitboxes[i];
        ck_assert(a->shape == b->shape && a->bone == b->bone && a->zone == b->zone);
        expect_ratio(a->radius, b->radius, unit, "radius");
        expect_ratio(a->half_length, b->half_length, unit, "half_length");
        expect_height(a->center.z, b->center, up, unit);
        expect_ratio(a->half_extents.z, fabs(hs_vec_dot(b->half_extents, above)), unit, "height");
        /* The box is as wide as it is deep: both values across `up` are equal. */
        double sum = b->half_extents.x + b->half_extents.y + b->half_extents.z;
        expect_ratio(sum - hs_vec_dot(b->half_extents, above), 2 * b->half_extents.x, 1, "width");
        if (a->shape == HS_SHAPE_CAPSULE) {
            struct hs_vec axis = hs_quat_rotate(b->rotation, (struct hs_vec){0, 0, 1});
            ck_assert_double_eq(fabs(hs_vec_dot(axis, above)), 1);
        }
    }
    for (int i = 0; i < cm->stance_count; i++) {
        expect_height(cm->stances[i].eye.z, other->stances[i].eye, up, unit);
        for (int k = 0; k < cm->bone_count; k++)
            expect_height(cm->stances[i].bones[k].position.z, other->stances[i].bones[k].position,
                          up, unit);
    }
}

/* The built-in rulesets differ only in their unit of length and their up axis. */
START_TEST(builtins_differ_in_lengths_and_up_alone)
{
    static const double units[] = {1, 100, 2.54, 1, 100, 100, 2.54};
    struct hs_ruleset *cm = builtin(0), *other = builtin(_i);
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        const struct hs_scalar *scalar = &hs_ruleset_scalars[i];
        double unit = scalar->kind == HS_SCALAR_LENGTH ? units[_i]
                      : scalar->kind == HS_SCALAR_AREA ? units[_i] * units[_i]
                                                       : 1;
        expect_ratio(hs_scalar_get(scalar, cm), hs_scalar_get(scalar, other), unit, scalar->key);
    }
    ck_assert_uint_eq(cm->zone_count, other->zone_count);
    ck_assert_uint_eq(cm->weapon_count, other->weapon_count);
    for (int w = 0; w < cm->weapon_count; w++) {
        const struct hs_weapon *a = cm->weapons[w], *b = other->weapons[w];
        ck_assert_str_eq(a->name.text, b->name.text);
        ck_assert_int_eq(a->type, b->type);
        for (size_t i = 0; i < hs_weapon_scalar_count; i++) {
            const struct hs_scalar *scalar = &hs_weapon_scalars[i];
            double unit = scalar->kind == HS_SCALAR_LENGTH ? units[_i] : 1;
            expect_ratio(hs_scalar_get(scalar, a), hs_scalar_get(scalar, b), unit, scalar->key);
        }
        ck_assert_uint_eq(a->falloff_count, b->falloff_count);
        for (int i = 0; i < a->falloff_count; i++) {
            expect_ratio(a->falloff[i].distance, b->falloff[i].distance, units[_i], "falloff");
            ck_assert_double_eq(a->falloff[i].factor, b->falloff[i].factor);
        }
        for (int z = 0; z < cm->zone_count; z++)
            ck_assert_double_eq(a->zone_factor[z], b->zone_factor[z]);
    }
    compare_rigs(cm->rigs[0], other->rigs[0], other->up, units[_i]);
    hs_ruleset_destroy(cm);
    hs_ruleset_destroy(other);
}
END_TEST

/* ---- the table ---- */

/* Returns whether a scalar cannot store fractions. Values in documents are already checked to be
   whole numbers. */
static bool is_whole(const struct hs_scalar *scalar)
{
    return scalar->kind == HS_SCALAR_BOOL || scalar->kind == HS_SCALAR_COUNT;
}

static void try_scalar(const struct hs_scalar *scalar, void *base)
{
    double values[] = {scalar->low, scalar->high, is_whole(scalar) ? 1 : 0.25};
    for (int i = 0; i < 3; i++) {
        if (values[i] < scalar->low || values[i] > scalar->high)
            continue;
        hs_scalar_set(scalar, base, values[i]);
        ck_assert_msg(hs_scalar_get(scalar, base) == values[i], "%s: %.17g became %.17g",
                      scalar->key, values[i], hs_scalar_get(scalar, base));
    }
}

/* Setting one field of the table changes no other field. */
static void try_table(const struct hs_scalar *table, size_t count, void *base)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++)
            hs_scalar_set(&table[k], base, table[k].low);
        try_scalar(&table[i], base);
        hs_scalar_set(&table[i], base, table[i].high);
        for (size_t k = 0; k < count; k++)
            ck_assert_msg(k == i || hs_scalar_get(&table[k], base) == table[k].low,
                          "setting %s changed %s", table[i].key, table[k].key);
        ck_assert_double_le(table[i].low, table[i].high);
    }
}

START_TEST(scalars_are_read_back_as_they_were_set)
{
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    try_table(hs_ruleset_scalars, hs_ruleset_scalar_count, ruleset);
    try_table(hs_weapon_scalars, hs_weapon_scalar_count, ruleset->weapons[0]);
    ck_assert_uint_ge(hs_ruleset_scalar_count, PROMISED);
    hs_ruleset_destroy(ruleset);
}
END_TEST

START_TEST(members_are_where_the_table_says)
{
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    hs_scalar_set(rule("rewind", "limit"), ruleset, 0.3);
    ck_assert_int_eq(ruleset->rewind.limit_us, 300000);
    hs_scalar_set(rule("history", "keep"), ruleset, 2.5);
    ck_assert_int_eq(ruleset->history.keep_us, 2500000);
    hs_scalar_set(rule("hit", "origin_tolerance"), ruleset, 0.75);
    ck_assert_double_eq(ruleset->hit.origin_tolerance, 0.75);
    hs_scalar_set(rule("hit", "friendly_fire"), ruleset, 1);
    ck_assert(ruleset->hit.friendly_fire);
    struct hs_weapon *weapon = ruleset->weapons[0];
    hs_scalar_set(find_scalar(hs_weapon_scalars, hs_weapon_scalar_count, NULL, "max_flight"),
                  weapon, 1.5);
    ck_assert_int_eq(weapon->max_flight_us, 1500000);
    hs_ruleset_destroy(ruleset);
}
END_TEST

static const struct {
    double seconds;
    int64_t us;
} roundings[] = {
    {0, 0},
    {12.5, 12500000},
    {0.0000005, 0}, /* rounded half to even */
    {0.0000015, 2},
    {0.0000025, 2},
    {-0.0000005, 0},
    {-0.0000015, -2},
    {-0.0000025, -2},
    {0.00000051, 1},
    {-0.00000051, -1},
    {1e-9, 0},
    {1700000000.123456, INT64_C(1700000000123456)},
    {-1700000000.123456, -INT64_C(1700000000123456)},
    {8999999999, INT64_C(8999999999000000)},
};

#define ROUNDINGS ((int)(sizeof roundings / sizeof *roundings))

START_TEST(seconds_are_rounded_half_to_even)
{
    ck_assert_int_eq(hs_seconds_to_us(roundings[_i].seconds), roundings[_i].us);
}
END_TEST

static const struct hs_vocabulary *const vocabularies[] = {
#define X(list) &hs_##list##_words,
    HS_VOCABULARIES(X)
#undef X
};

enum { VOCABULARIES = sizeof vocabularies / sizeof vocabularies[0] };

START_TEST(every_name_is_found_at_its_index)
{
    const struct hs_vocabulary *words = vocabularies[_i];
    ck_assert_int_gt(words->count, 1);
    for (int i = 0; i < words->count; i++) {
        ck_assert_ptr_nonnull(words->names[i]);
        ck_assert_int_eq(hs_vocabulary_find(words, hs_str_of(words->names[i])), i);
    }
    ck_assert_int_eq(hs_vocabulary_find(words, HS_STR("")), -1);
    ck_assert_int_eq(hs_vocabulary_find(words, HS_STR("oks")), -1);
    ck_assert_int_eq(hs_vocabulary_find(words, hs_str_of(NULL)), -1);
}
END_TEST

START_TEST(up_is_a_direction)
{
    static const struct hs_vec directions[] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                               {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    struct hs_vec d = hs_up_direction((enum hs_up)_i);
    ck_assert(d.x == directions[_i].x && d.y == directions[_i].y && d.z == directions[_i].z);
}
END_TEST

/* ---- adders ---- */

START_TEST(adders_stop_at_their_limits)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    char name[16];
    for (unsigned i = 0; i < HS_MAX_RIGS + 1; i++) {
        snprintf(name, sizeof name, "n%u", i);
        struct hs_str str = hs_stage_str(name);
        if (i <= HS_MAX_WEAPONS)
            ck_assert_uint_eq(hs_ruleset_add_weapon(ruleset, str),
                              i < HS_MAX_WEAPONS ? i : HS_NONE);
        if (i <= HS_MAX_ZONES)
            ck_assert_uint_eq(hs_ruleset_add_zone(ruleset, str, i), i < HS_MAX_ZONES ? i : HS_NONE);
        ck_assert_uint_eq(hs_ruleset_add_rig(ruleset, str), i < HS_MAX_RIGS ? i : HS_NONE);
    }
    ck_assert_uint_eq(hs_ruleset_find_weapon(ruleset, HS_STR("n127")), 127);
    ck_assert_uint_eq(hs_ruleset_find_zone(ruleset, HS_STR("n31")), 31);
    ck_assert_uint_eq(hs_ruleset_find_rig(ruleset, HS_STR("n255")), 255);
    ck_assert_uint_eq(hs_ruleset_find_rig(ruleset, HS_STR("n256")), HS_NONE);
    ck_assert_uint_eq(hs_ruleset_add_zone(ruleset, HS_STR("n3"), 99), 3); /* found, not changed */
    ck_assert_double_eq(ruleset->zones[3].factor, 3);
    hs_ruleset_destroy(ruleset);
    hs_ruleset_destroy(NULL);
}
END_TEST

START_TEST(weapons_take_zone_factors_they_do_not_set)
{
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    ck_assert_double_eq(ruleset->weapons[HS_STAGE_RIFLE]->zone_factor[HS_STAGE_HEAD], 2);
    ruleset->weapons[HS_STAGE_RIFLE]->zone_own[HS_STAGE_HEAD] = true;
    ruleset->weapons[HS_STAGE_RIFLE]->zone_factor[HS_STAGE_HEAD] = 0;
    ruleset->zones[HS_STAGE_HEAD].factor = 3;
    hs_ruleset_finish(ruleset);
    ck_assert_double_eq(ruleset->weapons[HS_STAGE_RIFLE]->zone_factor[HS_STAGE_HEAD], 0);
    ck_assert_double_eq(ruleset->weapons[HS_STAGE_KNIFE]->zone_factor[HS_STAGE_HEAD], 3);
    ck_assert_double_eq(ruleset->weapons[HS_STAGE_RIFLE]->zone_factor[HS_STAGE_TORSO], 1);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Row: type, whether the weapon sets `world_radius`, its value, the resulting value. */
static const struct {
    enum hs_weapon_type type;
    bool is_own;
    double set, expected;
} world_radii[] = {
    {HS_WEAPON_PROJECTILE, false, 0, 0.3},  {HS_WEAPON_PROJECTILE, true, 0, 0},
    {HS_WEAPON_PROJECTILE, true, 0.1, 0.1}, {HS_WEAPON_PROJECTILE, false, 0.1, 0.1},
    {HS_WEAPON_HITSCAN, false, 0, 0},       {HS_WEAPON_MELEE, false, 0, 0},
};

START_TEST(projectiles_meet_the_world_with_their_radius)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    uint16_t i = hs_ruleset_add_weapon(ruleset, HS_STR("gun"));
    struct hs_weapon *weapon = ruleset->weapons[i];
    weapon->type = world_radii[_i].type;
    weapon->radius = 0.3;
    weapon->has_world_radius = world_radii[_i].is_own;
    weapon->world_radius = world_radii[_i].set;
    hs_ruleset_finish(ruleset);
    ck_assert_double_eq(weapon->world_radius, world_radii[_i].expected);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Row: type, pellets, whether the weapon sets `require_shot`, its value, the resulting value. */
static const struct {
    enum hs_weapon_type type;
    int64_t pellets;
    bool is_own, set, expected;
} required_shots[] = {
    {HS_WEAPON_PROJECTILE, 1, false, false, true}, {HS_WEAPON_PROJECTILE, 1, true, false, false},
    {HS_WEAPON_HITSCAN, 2, false, false, true},    {HS_WEAPON_HITSCAN, 2, true, false, false},
    {HS_WEAPON_HITSCAN, 1, false, false, false},   {HS_WEAPON_HITSCAN, 1, true, true, true},
    {HS_WEAPON_MELEE, 1, false, false, false},
};

START_TEST(projectiles_and_pellets_need_their_shots)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    uint16_t i = hs_ruleset_add_weapon(ruleset, HS_STR("gun"));
    struct hs_weapon *weapon = ruleset->weapons[i];
    weapon->type = required_shots[_i].type;
    weapon->pellets = required_shots[_i].pellets;
    weapon->has_require_shot = required_shots[_i].is_own;
    weapon->require_shot = required_shots[_i].set;
    hs_ruleset_finish(ruleset);
    ck_assert_int_eq(weapon->require_shot, required_shots[_i].expected);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ruleset");
    TCase *tcase = tcase_create("ruleset");
    tcase_add_loop_test(tcase, builtins_are_valid_and_named, 0, HS_BUILTIN_RULESETS);
    tcase_add_loop_test(tcase, defaults_are_the_promised_ones, 0, PROMISED);
    tcase_add_loop_test(tcase, builtins_differ_in_lengths_and_up_alone, 0, HS_BUILTIN_RULESETS);
    tcase_add_test(tcase, scalars_are_read_back_as_they_were_set);
    tcase_add_test(tcase, members_are_where_the_table_says);
    tcase_add_loop_test(tcase, seconds_are_rounded_half_to_even, 0, ROUNDINGS);
    tcase_add_loop_test(tcase, every_name_is_found_at_its_index, 0, VOCABULARIES);
    tcase_add_loop_test(tcase, up_is_a_direction, 0, HS_UP_COUNT);
    tcase_add_test(tcase, adders_stop_at_their_limits);
    tcase_add_test(tcase, weapons_take_zone_factors_they_do_not_set);
    tcase_add_loop_test(tcase, projectiles_meet_the_world_with_their_radius, 0,
                        sizeof world_radii / sizeof world_radii[0]);
    tcase_add_loop_test(tcase, projectiles_and_pellets_need_their_shots, 0,
                        sizeof required_shots / sizeof required_shots[0]);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
