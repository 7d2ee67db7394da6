/* The built-in rulesets: the same rules for different units of length and up axes. */
#include <stdlib.h>

#include "validators/ruleset.h"

const struct hs_builtin_ruleset hs_builtin_rulesets[HS_BUILTIN_RULESETS] = {
    {"centimetres", 1.0, HS_UP_PZ}, /* the first ruleset is the default */
    {"metres", 100.0, HS_UP_PZ},    {"inches", 2.54, HS_UP_PZ}, {"unreal", 1.0, HS_UP_PZ},
    {"unity", 100.0, HS_UP_PY},     {"godot", 100.0, HS_UP_PY}, {"source", 2.54, HS_UP_PZ},
};

struct frame {
    double unit; /* in centimetres */
    enum hs_up up;
};

/* Returns the point that is `cm` centimetres above the body's root. */
static struct hs_vec above(const struct frame *frame, double cm)
{
    return hs_vec_scale(hs_up_direction(frame->up), cm / frame->unit);
}

static void rest_bone(struct hs_rest_bone *bone, struct hs_vec position)
{
    *bone = (struct hs_rest_bone){position, {0, 0, 0, 1}, {1, 1, 1}};
}

static void add_stance(struct hs_rig *rig, const char *name, double head, const struct frame *frame)
{
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    hs_name_set(&stance->name, (struct hs_str){name, strlen(name)});
    stance->eye = above(frame, head);
    rest_bone(&stance->bones[0], above(frame, 0));
    rest_bone(&stance->bones[1], above(frame, head));
}

static struct hs_hitbox *add_hitbox(struct hs_rig *rig, enum hs_shape shape, uint16_t bone,
                                    uint16_t zone)
{
    struct hs_hitbox *box = &rig->hitboxes[rig->hitbox_count++];
    box->shape = shape;
    box->bone = bone;
    box->zone = zone;
    box->rotation[3] = 1;
    return box;
}

/* Rotates a capsule so that it lies along `up` and not along z. The rotation permutes the three
   axes cyclically, which is exact in floating point. A quarter turn would not be exact. */
static void stand_up(float rotation[4], enum hs_up up)
{
    if (up == HS_UP_PZ || up == HS_UP_NZ)
        return;
    float part = up == HS_UP_PX || up == HS_UP_NX ? 0.5f : -0.5f;
    rotation[0] = rotation[1] = rotation[2] = part;
    rotation[3] = 0.5f;
}

/* A person who is 175 cm tall: a sphere for the head, a capsule for the torso, and a box for the
   legs. */
static void fill_humanoid(struct hs_rig *rig, const uint16_t zones[3], const struct frame *frame)
{
    double unit = frame->unit;
    struct hs_vec up = hs_up_direction(frame->up);
    rig->bone_count = 2;
    hs_name_set(&rig->bones[0], HS_STR("root"));
    hs_name_set(&rig->bones[1], HS_STR("head"));
    struct hs_hitbox *head = add_hitbox(rig, HS_SHAPE_SPHERE, 1, zones[0]);
    head->radius = 15 / unit;
    struct hs_hitbox *torso = add_hitbox(rig, HS_SHAPE_CAPSULE, 0, zones[1]);
    torso->radius = 30 / unit;
    torso->half_length = 20 / unit;
    torso->center = above(frame, 110);
    stand_up(torso->rotation, frame->up);
    struct hs_hitbox *legs = add_hitbox(rig, HS_SHAPE_BOX, 0, zones[2]);
    legs->half_extents = (struct hs_vec){(up.x != 0 ? 40 : 20) / unit, (up.y != 0 ? 40 : 20) / unit,
                                         (up.z != 0 ? 40 : 20) / unit};
    legs->center = above(frame, 40);
    add_stance(rig, "stand", 160, frame);
    add_stance(rig, "crouch", 110, frame);
}

static struct hs_weapon *add_weapon(struct hs_ruleset *ruleset, const char *name,
                                    enum hs_weapon_type type, double unit)
{
    uint16_t i = hs_ruleset_add_weapon(ruleset, (struct hs_str){name, strlen(name)});
    if (i == HS_NONE)
        return NULL;
    struct hs_weapon *weapon = ruleset->weapons[i];
    for (size_t k = 0; k < hs_weapon_scalar_count; k++) {
        double scale = hs_weapon_scalars[k].kind == HS_SCALAR_LENGTH ? unit : 1;
        hs_scalar_set(&hs_weapon_scalars[k], weapon, hs_weapon_scalars[k].initial / scale);
    }
    for (size_t k = 0; k < hs_blast_scalar_count; k++)
        hs_scalar_set(&hs_blast_scalars[k], weapon, hs_blast_scalars[k].initial);
    weapon->type = type;
    return weapon;
}

static void fill_instant(struct hs_weapon *rifle, struct hs_weapon *shotgun,
                         struct hs_weapon *knife, uint16_t head, double unit)
{
    rifle->damage = 20;
    rifle->range = 10000 / unit;
    rifle->min_interval_us = 150000;
    rifle->magazine = 30;
    rifle->reload_us = 2000000;
    rifle->falloff_count = 2;
    rifle->falloff[0] = (struct hs_falloff_point){0, 1.0};
    rifle->falloff[1] = (struct hs_falloff_point){5000 / unit, 0.5};
    rifle->zone_own[head] = true;
    rifle->zone_factor[head] = 2.0;
    shotgun->damage = 5;
    shotgun->pellets = 10;
    shotgun->spread_deg = 4;
    shotgun->min_interval_us = 800000;
    shotgun->range = 3000 / unit;
    knife->damage = 40;
    knife->range = 150 / unit;
    knife->radius = 30 / unit;
    knife->min_interval_us = 400000;
}

static void fill_projectiles(struct hs_weapon *bow, struct hs_weapon *rocket, double unit)
{
    bow->damage = 50;
    bow->speed = 4000 / unit;
    bow->gravity = 980 / unit;
    bow->radius = 5 / unit;
    bow->range = 16000 / unit;
    bow->max_flight_us = 4000000;
    bow->min_interval_us = 800000;
    rocket->damage = 20;
    rocket->speed = 3000 / unit;
    rocket->radius = 10 / unit;
    rocket->range = 18000 / unit;
    rocket->max_flight_us = 6000000;
    rocket->min_interval_us = 800000;
    rocket->fuse = HS_FUSE_CONTACT;
    rocket->has_blast = true;
    rocket->blast.radius = rocket->blast.inner_radius = 300 / unit;
    rocket->blast.damage = 20;
}

bool hs_ruleset_add_builtin_weapons(struct hs_ruleset *ruleset, double unit)
{
    uint16_t head = hs_ruleset_add_zone(ruleset, HS_STR("head"), 2.0);
    struct hs_weapon *rifle = add_weapon(ruleset, "rifle", HS_WEAPON_HITSCAN, unit);
    struct hs_weapon *shotgun = add_weapon(ruleset, "shotgun", HS_WEAPON_HITSCAN, unit);
    struct hs_weapon *bow = add_weapon(ruleset, "bow", HS_WEAPON_PROJECTILE, unit);
    struct hs_weapon *rocket = add_weapon(ruleset, "rocket", HS_WEAPON_PROJECTILE, unit);
    struct hs_weapon *knife = add_weapon(ruleset, "knife", HS_WEAPON_MELEE, unit);
    if (head == HS_NONE || rifle == NULL || shotgun == NULL || bow == NULL || rocket == NULL ||
        knife == NULL)
        return false;
    fill_instant(rifle, shotgun, knife, head, unit);
    fill_projectiles(bow, rocket, unit);
    return true;
}

static bool add_zones(struct hs_ruleset *ruleset, uint16_t zones[3])
{
    zones[0] = hs_ruleset_add_zone(ruleset, HS_STR("head"), 2.0);
    zones[1] = hs_ruleset_add_zone(ruleset, HS_STR("torso"), 1.0);
    zones[2] = hs_ruleset_add_zone(ruleset, HS_STR("limb"), 0.75);
    return zones[0] != HS_NONE && zones[1] != HS_NONE && zones[2] != HS_NONE;
}

bool hs_ruleset_add_builtin_zones(struct hs_ruleset *ruleset)
{
    uint16_t zones[3];
    return add_zones(ruleset, zones);
}

bool hs_ruleset_add_builtin_rig(struct hs_ruleset *ruleset, double unit)
{
    uint16_t zones[3];
    if (!add_zones(ruleset, zones))
        return false;
    uint16_t rig = hs_ruleset_add_rig(ruleset, HS_STR("humanoid"));
    if (rig == HS_NONE)
        return false;
    fill_humanoid(ruleset->rigs[rig], zones, &(struct frame){unit, ruleset->up});
    return true;
}

void hs_ruleset_add_builtin_moves(struct hs_ruleset *ruleset, double unit)
{
    static const struct {
        const char *name;
        double max_speed, max_fall_speed, max_accel, gravity, step;
    } modes[] = {
        {"walking", 600, 0, 2048, 0, 45},
        {"falling", 900, 4000, 0, 980, 0},
        {"flying", 600, 0, 0, 0, 0},
        {"swimming", 300, 0, 0, 0, 0},
    };
    ruleset->moves.mode_count = sizeof modes / sizeof modes[0];
    for (int i = 0; i < ruleset->moves.mode_count; i++) {
        struct hs_move_mode *mode = &ruleset->moves.modes[i];
        hs_name_set(&mode->name, (struct hs_str){modes[i].name, strlen(modes[i].name)});
        mode->max_speed = modes[i].max_speed / unit;
        mode->max_fall_speed = modes[i].max_fall_speed / unit;
        mode->max_accel = modes[i].max_accel / unit;
        mode->gravity = modes[i].gravity / unit;
        mode->credit = 0.25;
        mode->body_radius = 20 / unit;
        mode->step = modes[i].step / unit;
    }
}

struct hs_ruleset *hs_ruleset_create_builtin(const struct hs_builtin_ruleset *builtin)
{
    double unit = builtin->cm_per_unit;
    struct hs_ruleset *ruleset = hs_ruleset_create(unit);
    if (ruleset == NULL)
        return NULL;
    hs_name_set(&ruleset->name, (struct hs_str){builtin->name, strlen(builtin->name)});
    ruleset->up = builtin->up;
    if (!hs_ruleset_add_builtin_rig(ruleset, unit) ||
        !hs_ruleset_add_builtin_weapons(ruleset, unit)) {
        hs_ruleset_destroy(ruleset);
        return NULL;
    }
    hs_ruleset_add_builtin_moves(ruleset, unit);
    hs_ruleset_finish(ruleset);
    return ruleset;
}
