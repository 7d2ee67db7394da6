/* The warnings of check-config: axes, units of length, weapons without a rate. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "validators/ruleset.h"

struct warnings {
    size_t count;
    char text[1024]; /* the pointers, each followed by a space */
    char sentence[512];
};

static void note(void *context, const char *pointer, const char *sentence)
{
    struct warnings *warnings = context;
    size_t end = strlen(warnings->text);
    snprintf(warnings->text + end, sizeof warnings->text - end, "%s ", pointer);
    snprintf(warnings->sentence, sizeof warnings->sentence, "%s", sentence);
    warnings->count++;
}

static struct warnings warnings_of(struct hs_ruleset *ruleset)
{
    struct warnings warnings = {0};
    ck_assert_uint_eq(hs_ruleset_validate(ruleset, NULL, NULL), 0);
    hs_ruleset_finish(ruleset);
    ck_assert_uint_eq(hs_ruleset_warn(ruleset, note, &warnings), warnings.count);
    ck_assert_uint_eq(hs_ruleset_warn(ruleset, NULL, NULL), warnings.count);
    return warnings;
}

static struct hs_ruleset *builtin(int i)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
    ck_assert_ptr_nonnull(ruleset);
    return ruleset;
}

enum { CENTIMETRES, METRES };

START_TEST(built_in_rulesets_have_no_warning)
{
    struct hs_ruleset *ruleset = builtin(_i);
    struct warnings warnings = warnings_of(ruleset);
    ck_assert_msg(warnings.count == 0, "%s: %s%s", ruleset->name.text, warnings.text,
                  warnings.sentence);
    hs_ruleset_destroy(ruleset);
}
END_TEST

static struct hs_stance *stance(struct hs_ruleset *r, int i)
{
    return &r->rigs[0]->stances[i];
}
static struct hs_weapon *weapon(struct hs_ruleset *r, const char *name)
{
    return r->weapons[hs_ruleset_find_weapon(r, (struct hs_str){name, strlen(name)})];
}

static void another_up(struct hs_ruleset *r)
{
    r->up = HS_UP_PY;
}
static void upside_down(struct hs_ruleset *r)
{
    r->up = HS_UP_NZ;
}
static void eyes_alone_along_y(struct hs_ruleset *r)
{
    stance(r, 0)->eye = (struct hs_vec){0, 1.6, 0.1};
    stance(r, 1)->eye = (struct hs_vec){0, 1.1, 0.1};
}
static void body_alone_along_y(struct hs_ruleset *r)
{
    for (int i = 0; i < 2; i++)
        stance(r, i)->bones[1].position = (struct hs_vec){0, 1.6, 0};
    for (int i = 0; i < r->rigs[0]->hitbox_count; i++)
        r->rigs[0]->hitboxes[i].center = (struct hs_vec){0, r->rigs[0]->hitboxes[i].center.z, 0};
}
/* A bone at the root that turns its children. The centres of the hitboxes are along z only in the
   frame of the bone. */
static void body_turned_by_its_bone(struct hs_ruleset *r)
{
    for (int i = 0; i < 2; i++) {
        static const float quarter[4] = {0.5f, 0.5f, 0.5f, 0.5f}; /* turns z to x */
        memcpy(stance(r, i)->bones[0].rotation, quarter, sizeof quarter);
        stance(r, i)->bones[1].position = (struct hs_vec){1.6, 0, 0};
    }
}
static void eye_in_centimetres(struct hs_ruleset *r)
{
    stance(r, 0)->eye.z = 160;
}
static void eye_in_kilometres(struct hs_ruleset *r)
{
    stance(r, 0)->eye.z = stance(r, 1)->eye.z = 0.0016;
}
static void teleports(struct hs_ruleset *r)
{
    r->history.max_speed = 2;
}
static void large_origin(struct hs_ruleset *r)
{
    r->hit.origin_tolerance = 50;
}
static void small_origin(struct hs_ruleset *r)
{
    r->hit.origin_tolerance = 0.005;
}
static void long_sweep(struct hs_ruleset *r)
{
    r->hit.sweep_extension = 10;
}
static void thick_shot(struct hs_ruleset *r)
{
    weapon(r, "rifle")->radius = 5;
}
static void far_knife(struct hs_ruleset *r)
{
    weapon(r, "knife")->range = 150;
}
static void near_knife(struct hs_ruleset *r)
{
    weapon(r, "knife")->range = 0.015;
}
static void near_guns(struct hs_ruleset *r)
{
    weapon(r, "rifle")->range = 1.2;
    weapon(r, "shotgun")->range = 0.3;
    weapon(r, "bow")->range = 1.6;
    weapon(r, "rocket")->range = 1.8;
}
static void fast_modes(struct hs_ruleset *r)
{
    for (int i = 0; i < r->moves.mode_count; i++)
        r->moves.modes[i].max_speed *= 100;
}
static void slow_modes(struct hs_ruleset *r)
{
    for (int i = 0; i < r->moves.mode_count; i++)
        r->moves.modes[i].max_speed /= 100;
}
static void no_rate(struct hs_ruleset *r)
{
    weapon(r, "rifle")->min_interval_us = 0;
}
static void no_spread(struct hs_ruleset *r)
{
    weapon(r, "shotgun")->spread_deg = 0;
}

static void piercing_pellets(struct hs_ruleset *r)
{
    weapon(r, "shotgun")->pierce = 2;
    weapon(r, "rifle")->pierce = 2; /* a weapon with one pellet may pierce */
}

/* Each change of the built-in ruleset in metres causes one warning. */
static const struct {
    void (*damage)(struct hs_ruleset *ruleset);
    const char *pointer, *says;
} rows[] = {
    {another_up, "/rigs/humanoid/stances/stand/eye",
     "the eye is 1.6 along +z and 0 along +y, but `up` is +y: set `up` to +z, or turn the rig"},
    {upside_down, "/rigs/humanoid/stances/stand/eye",
     "the eye is 1.6 along +z and -1.6 along -z, but `up` is -z: set `up` to +z"},
    {eyes_alone_along_y, "/rigs/humanoid/stances/stand/eye",
     "the eye is 1.6 along +y and 0.1 along +z, but `up` is +z"},
    {body_alone_along_y, "/rigs/humanoid/hitboxes",
     "the hitboxes extend by 1.6 along y and by 0 along `up`, which is +z"},
    {body_turned_by_its_bone, "/rigs/humanoid/hitboxes", "the hitboxes extend by 1.6 along x"},
    {eye_in_centimetres, "/rigs/humanoid/stances/stand/eye",
     "the eye is 160 from the root and the hitboxes reach 1.75 from it"},
    {eye_in_kilometres, "/rigs/humanoid/stances/stand/eye", "the eye is 0.0016 from the root"},
    {teleports, "/history/max_speed", "2 is 1.14 times the body"},
    {large_origin, "/hit/origin_tolerance",
     "50 is 28.6 times the body of the rig `humanoid`, which reaches 1.75 from its root"},
    {small_origin, "/hit/origin_tolerance", "0.005 is 0.00286 times the body"},
    {long_sweep, "/hit/sweep_extension", "10 is 5.71 times the body"},
    {thick_shot, "/weapons/rifle/radius", "5 is 2.86 times the body"},
    {far_knife, "/weapons/knife/range", "150 is 85.7 times the body"},
    {near_knife, "/weapons/knife/range", "0.015 is 0.00857 times the body"},
    {near_guns, "/weapons/rocket/range", "1.8 is 1.03 times the body"},
    {fast_modes, "/moves/modes/swimming/max_speed", "300 is 171 times the body"},
    {slow_modes, "/moves/modes/falling/max_speed", "0.09 is 0.0514 times the body"},
    {no_rate, "/weapons/rifle/min_interval", "is 0, so the rate of fire is not checked"},
    {no_spread, "/weapons/shotgun/spread_deg", "is 0, so all pellets must fly the same way"},
    {piercing_pellets, "/weapons/shotgun/pierce",
     "is 2, but each of the weapon's pellets hurts only one body: set `pierce` to 0"},
};

#define ROWS ((int)(sizeof rows / sizeof *rows))

START_TEST(each_mistake_has_its_warning)
{
    struct hs_ruleset *ruleset = builtin(METRES);
    rows[_i].damage(ruleset);
    struct warnings warnings = warnings_of(ruleset);
    char pointers[256];
    snprintf(pointers, sizeof pointers, "%s ", rows[_i].pointer);
    ck_assert_str_eq(warnings.text, pointers);
    ck_assert_msg(strstr(warnings.sentence, rows[_i].says) != NULL, "%s", warnings.sentence);
    hs_ruleset_destroy(ruleset);
}
END_TEST

static void no_eye(struct hs_ruleset *r)
{
    stance(r, 0)->eye = stance(r, 1)->eye = (struct hs_vec){0, 0, 0};
}
/* The eye is in front of the body's middle. */
static void root_in_the_middle(struct hs_ruleset *r)
{
    for (int s = 0; s < 2; s++) {
        stance(r, s)->eye.z -= 0.9;
        stance(r, s)->eye.x = 0.2;
        stance(r, s)->bones[0].position.z -= 0.9;
        stance(r, s)->bones[1].position.z -= 0.9;
    }
}
static void also_prone(struct hs_ruleset *r)
{
    struct hs_stance *prone = stance(r, r->rigs[0]->stance_count++);
    *prone = *stance(r, 0);
    hs_name_set(&prone->name, HS_STR("prone"));
    prone->eye = (struct hs_vec){0.9, 0, 0.2};
}
static void animal(struct hs_ruleset *r)
{
    for (int s = 0; s < 2; s++) {
        stance(r, s)->eye = (struct hs_vec){0.6, 0, 0.5};
        stance(r, s)->bones[1].position = (struct hs_vec){0.6, 0, 0.5};
    }
}
static void strict_and_unlimited(struct hs_ruleset *r)
{
    r->hit.origin_tolerance = r->hit.sweep_extension = 0;
    r->history.max_speed = 1e9;
    for (int i = 0; i < r->moves.mode_count; i++)
        r->moves.modes[i].max_speed = 0; /* no speed check */
}
static void flamethrower_and_jet(struct hs_ruleset *r)
{
    weapon(r, "shotgun")->range = 3;
    r->moves.modes[2].max_speed = 300;
}
static void no_weapons(struct hs_ruleset *r)
{
    while (r->weapon_count > 0)
        free(r->weapons[--r->weapon_count]);
    r->moves.mode_count = 0;
}

static void (*const unusual[])(struct hs_ruleset *ruleset) = {
    no_eye,     root_in_the_middle, also_prone, animal, strict_and_unlimited, flamethrower_and_jet,
    no_weapons,
};

#define UNUSUAL ((int)(sizeof unusual / sizeof *unusual))

/* Games differ, so unusual values get no warning. */
START_TEST(unusual_games_have_no_warning)
{
    struct hs_ruleset *ruleset = builtin(METRES);
    unusual[_i](ruleset);
    struct warnings warnings = warnings_of(ruleset);
    ck_assert_msg(warnings.count == 0, "%s%s", warnings.text, warnings.sentence);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Bodies are in one unit, and everything else is in another, as in a document that omits the
   unit. */
START_TEST(a_body_in_another_unit_is_seen)
{
    struct hs_ruleset *ruleset = builtin(_i == 0 ? CENTIMETRES : METRES);
    struct hs_ruleset *other = builtin(_i == 0 ? METRES : CENTIMETRES);
    struct hs_rig *rig = ruleset->rigs[0];
    ruleset->rigs[0] = other->rigs[0];
    other->rigs[0] = rig;
    struct warnings warnings = warnings_of(ruleset);
    ck_assert_str_eq(warnings.text, _i == 0 ? "/hit/origin_tolerance /hit/sweep_extension "
                                              "/weapons/bow/radius /weapons/rocket/radius "
                                              "/weapons/knife/radius "
                                              "/moves/modes/swimming/max_speed "
                                              "/moves/modes/walking/body_radius "
                                              "/moves/modes/walking/step "
                                            : "/history/max_speed /hit/origin_tolerance "
                                              "/weapons/knife/range /weapons/rocket/range "
                                              "/moves/modes/falling/max_speed "
                                              "/moves/modes/walking/body_radius "
                                              "/moves/modes/walking/step ");
    hs_ruleset_destroy(ruleset);
    hs_ruleset_destroy(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ruleset_warn");
    TCase *tcase = tcase_create("ruleset_warn");
    tcase_add_loop_test(tcase, built_in_rulesets_have_no_warning, 0, HS_BUILTIN_RULESETS);
    tcase_add_loop_test(tcase, each_mistake_has_its_warning, 0, ROWS);
    tcase_add_loop_test(tcase, unusual_games_have_no_warning, 0, UNUSUAL);
    tcase_add_loop_test(tcase, a_body_in_another_unit_is_seen, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
