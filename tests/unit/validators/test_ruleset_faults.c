/* Validation of rulesets: each fault is found, and its pointer names the place. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/ruleset.h"

struct faults {
    size_t count;
    char pointer[16][400];
};

static void note(void *context, const char *pointer, const char *fault)
{
    struct faults *faults = context;
    ck_assert_uint_gt(strlen(fault), 0);
    if (faults->count < 16)
        snprintf(faults->pointer[faults->count], sizeof faults->pointer[0], "%s", pointer);
    faults->count++;
}

/* Expects exactly this fault in the ruleset. */
static void expect_fault(const struct hs_ruleset *ruleset, const char *pointer)
{
    struct faults faults = {0};
    size_t count = hs_ruleset_validate(ruleset, note, &faults);
    ck_assert_uint_eq(count, faults.count);
    ck_assert_uint_eq(hs_ruleset_validate(ruleset, NULL, NULL), count);
    ck_assert_msg(count == 1, "%zu faults instead of the one at %s", count, pointer);
    ck_assert_str_eq(faults.pointer[0], pointer);
}

START_TEST(every_scalar_has_its_range)
{
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    struct hs_weapon *weapon = ruleset->weapons[0];
    int tried = 0;
    weapon->radius = 1e6; /* the limit of `world_radius` */
    for (size_t i = 0; i < hs_ruleset_scalar_count + hs_weapon_scalar_count; i++) {
        bool of_weapon = i >= hs_ruleset_scalar_count;
        const struct hs_scalar *scalar =
            of_weapon ? &hs_weapon_scalars[i - hs_ruleset_scalar_count] : &hs_ruleset_scalars[i];
        void *base = of_weapon ? (void *)weapon : (void *)ruleset;
        char pointer[100];
        snprintf(pointer, sizeof pointer, "/%s/%s", of_weapon ? "weapons/rifle" : scalar->section,
                 scalar->key);
        double before = hs_scalar_get(scalar, base);
        double wrong[] = {scalar->low - (scalar->kind == HS_SCALAR_COUNT ? 1 : 0.001),
                          scalar->high + fmax(1, scalar->high / 1e6), (double)NAN};
        for (int k = 0; k < 3; k++) {
            bool is_real = scalar->kind == HS_SCALAR_REAL || scalar->kind == HS_SCALAR_LENGTH ||
                           scalar->kind == HS_SCALAR_AREA;
            if (scalar->kind == HS_SCALAR_BOOL || (k == 2 && !is_real))
                continue;
            hs_scalar_set(scalar, base, wrong[k]);
            if (strcmp(scalar->key, "keep") == 0 && k == 0)
                ruleset->rewind.limit_us = 0; /* the rewind limit must not be longer */
            bool is_wider = strcmp(scalar->key, k == 0 ? "radius" : "world_radius") == 0;
            if ((strcmp(scalar->key, "limit") == 0 && k == 1) || (is_wider && k < 2))
                /* these values cause a second fault: `limit` is also longer than the window, or
                   `world_radius` larger than `radius` */
                continue;
            expect_fault(ruleset, pointer);
            tried++;
        }
        hs_scalar_set(scalar, base, before);
        ruleset->rewind.limit_us = 250000;
        ck_assert_uint_eq(hs_ruleset_validate(ruleset, NULL, NULL), 0);
    }
    ck_assert_int_ge(tried, 40);
    hs_ruleset_destroy(ruleset);
}
END_TEST

typedef void damage_ruleset(struct hs_ruleset *ruleset);

static void rewind_past_history(struct hs_ruleset *r)
{
    r->rewind.limit_us = r->history.keep_us + 1;
}
static void zone_factor(struct hs_ruleset *r)
{
    r->zones[1].factor = -0.5;
}
static void zone_nan(struct hs_ruleset *r)
{
    r->zones[0].factor = (double)NAN;
}
static void default_rig(struct hs_ruleset *r)
{
    r->default_rig = 1;
}
static void no_hitboxes(struct hs_ruleset *r)
{
    r->rigs[0]->hitbox_count = 0;
}
static void no_stances(struct hs_ruleset *r)
{
    r->rigs[0]->stance_count = 0;
}
static void flat_sphere(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[0].radius = 0;
}
static void flat_box(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].shape = HS_SHAPE_BOX;
    r->rigs[0]->hitboxes[1].half_extents = (struct hs_vec){1, 0, 1};
}
static void short_capsule(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].half_length = -0.1;
}
static void twisted_hitbox(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].rotation[0] = 1;
}
static void infinite_center(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].center.y = (double)INFINITY;
}
static void large_radius(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[0].radius = 1.1e9;
}
static void large_half_length(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].half_length = (double)INFINITY;
}
static void far_eye(struct hs_ruleset *r)
{
    r->rigs[0]->stances[1].eye.y = -1.1e9;
}
static void boneless_hitbox(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[1].bone = 2;
}
static void zoneless_hitbox(struct hs_ruleset *r)
{
    r->rigs[0]->hitboxes[0].zone = HS_NONE;
}
static void eye_nan(struct hs_ruleset *r)
{
    r->rigs[0]->stances[1].eye.x = (double)NAN;
}
static void twisted_bone(struct hs_ruleset *r)
{
    r->rigs[0]->stances[1].bones[1].rotation[3] = 0;
}
static void no_scale(struct hs_ruleset *r)
{
    r->rigs[0]->stances[0].bones[1].scale[2] = 0;
}
static void still_projectile(struct hs_ruleset *r)
{
    r->weapons[HS_STAGE_BOW]->speed = 0;
}
static void wider_at_walls(struct hs_ruleset *r)
{
    r->weapons[HS_STAGE_KNIFE]->world_radius = 0.31;
}
static void falloff_back(struct hs_ruleset *r)
{
    r->weapons[0]->falloff_count = 2;
    r->weapons[0]->falloff[0] = (struct hs_falloff_point){10, 1};
    r->weapons[0]->falloff[1] = (struct hs_falloff_point){10, 0.5};
}
static void falloff_negative(struct hs_ruleset *r)
{
    r->weapons[0]->falloff_count = 1;
    r->weapons[0]->falloff[0] = (struct hs_falloff_point){0, -1};
}
static void priority_of_nothing(struct hs_ruleset *r)
{
    r->hit.zone_priority_count = 1;
    r->hit.zone_priority[0] = 2;
}

static const struct {
    damage_ruleset *damage;
    const char *pointer;
} wrong_rulesets[] = {
    {rewind_past_history, "/rewind/limit"},
    {zone_factor, "/zones/torso"},
    {zone_nan, "/zones/head"},
    {default_rig, "/default_rig"},
    {no_hitboxes, "/rigs/body/hitboxes"},
    {no_stances, "/rigs/body/stances"},
    {flat_sphere, "/rigs/body/hitboxes/0/radius"},
    {flat_box, "/rigs/body/hitboxes/1/half_extents"},
    {short_capsule, "/rigs/body/hitboxes/1/half_length"},
    {twisted_hitbox, "/rigs/body/hitboxes/1/rotation"},
    {infinite_center, "/rigs/body/hitboxes/1/center"},
    {large_radius, "/rigs/body/hitboxes/0/radius"},
    {large_half_length, "/rigs/body/hitboxes/1/half_length"},
    {far_eye, "/rigs/body/stances/crouch/eye"},
    {boneless_hitbox, "/rigs/body/hitboxes/1/bone"},
    {zoneless_hitbox, "/rigs/body/hitboxes/0/zone"},
    {eye_nan, "/rigs/body/stances/crouch/eye"},
    {twisted_bone, "/rigs/body/stances/crouch/bones/1"},
    {no_scale, "/rigs/body/stances/stand/bones/1"},
    {still_projectile, "/weapons/bow/speed"},
    {wider_at_walls, "/weapons/knife/world_radius"},
    {falloff_back, "/weapons/rifle/falloff"},
    {falloff_negative, "/weapons/rifle/falloff"},
    {priority_of_nothing, "/hit/zone_priority/0"},
};

#define WRONG_RULESETS ((int)(sizeof wrong_rulesets / sizeof *wrong_rulesets))

START_TEST(every_fault_is_found_with_its_pointer)
{
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    ck_assert_uint_eq(hs_ruleset_validate(ruleset, NULL, NULL), 0);
    wrong_rulesets[_i].damage(ruleset);
    expect_fault(ruleset, wrong_rulesets[_i].pointer);
    hs_ruleset_destroy(ruleset);
}
END_TEST

START_TEST(empty_rulesets_and_many_faults)
{
    struct hs_ruleset *empty = hs_ruleset_create(1);
    expect_fault(empty, "/rigs");
    hs_ruleset_destroy(empty);
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    flat_sphere(ruleset);
    no_scale(ruleset);
    still_projectile(ruleset);
    default_rig(ruleset);
    struct faults faults = {0};
    ck_assert_uint_eq(hs_ruleset_validate(ruleset, note, &faults),
                      4); /* each entry with this fault is reported, not only the first */
    ck_assert_uint_eq(faults.count, 4);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Pointers are complete even with the longest names. */
START_TEST(long_names_are_pointed_at_whole)
{
    char name[HS_NAME_MAX + 1];
    memset(name, 'n', HS_NAME_MAX);
    name[HS_NAME_MAX] = 0;
    struct hs_ruleset *ruleset = hs_stage_ruleset();
    hs_name_set(&ruleset->rigs[0]->name, hs_stage_str(name));
    hs_name_set(&ruleset->rigs[0]->stances[1].name, hs_stage_str(name));
    twisted_bone(ruleset);
    char pointer[400];
    snprintf(pointer, sizeof pointer, "/rigs/%s/stances/%s/bones/1", name, name);
    expect_fault(ruleset, pointer);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ruleset faults");
    TCase *tcase = tcase_create("faults");
    tcase_add_test(tcase, every_scalar_has_its_range);
    tcase_add_loop_test(tcase, every_fault_is_found_with_its_pointer, 0, WRONG_RULESETS);
    tcase_add_test(tcase, empty_rulesets_and_many_faults);
    tcase_add_test(tcase, long_names_are_pointed_at_whole);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
