#include "validators/ruleset.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "validators/geometry/quat.h"

struct hs_ruleset *hs_ruleset_create(double cm_per_unit)
{
    struct hs_ruleset *ruleset = calloc(1, sizeof *ruleset);
    if (ruleset == NULL)
        return NULL;
    ruleset->up = HS_UP_PZ;
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        const struct hs_scalar *scalar = &hs_ruleset_scalars[i];
        double unit = scalar->kind == HS_SCALAR_LENGTH ? cm_per_unit
                      : scalar->kind == HS_SCALAR_AREA ? cm_per_unit * cm_per_unit
                                                       : 1;
        hs_scalar_set(scalar, ruleset, scalar->initial / unit);
    }
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        ruleset->checks[i] = hs_check_default_mode((enum hs_check)i);
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        ruleset->move_checks[i] = hs_move_check_default_mode((enum hs_move_check)i);
    return ruleset;
}

void hs_ruleset_destroy(struct hs_ruleset *ruleset)
{
    if (ruleset == NULL)
        return;
    for (int i = 0; i < ruleset->rig_count; i++)
        free(ruleset->rigs[i]);
    free(ruleset->rigs);
    for (int i = 0; i < ruleset->weapon_count; i++)
        free(ruleset->weapons[i]);
    free(ruleset);
}

uint16_t hs_ruleset_add_zone(struct hs_ruleset *ruleset, struct hs_str name, double factor)
{
    uint16_t found = hs_ruleset_find_zone(ruleset, name);
    if (found != HS_NONE)
        return found;
    if (ruleset->zone_count == HS_MAX_ZONES)
        return HS_NONE;
    hs_name_set(&ruleset->zones[ruleset->zone_count].name, name);
    ruleset->zones[ruleset->zone_count].factor = factor;
    return ruleset->zone_count++;
}

/* Makes space for one more rig. The array doubles when it is full, because most rulesets have few
   rigs. */
static bool grow_rigs(struct hs_ruleset *ruleset)
{
    size_t count = ruleset->rig_count;
    if (count == HS_MAX_RIGS)
        return false;
    if ((count & (count - 1)) != 0)
        return true; /* the array is full only if the count is 0 or a power of two */
    struct hs_rig **rigs =
        realloc(ruleset->rigs, (count == 0 ? 1 : 2 * count) * sizeof *ruleset->rigs);
    if (rigs == NULL)
        return false;
    ruleset->rigs = rigs;
    return true;
}

uint16_t hs_ruleset_add_rig(struct hs_ruleset *ruleset, struct hs_str name)
{
    struct hs_rig *rig = grow_rigs(ruleset) ? calloc(1, sizeof *rig) : NULL;
    if (rig == NULL)
        return HS_NONE;
    hs_name_set(&rig->name, name);
    ruleset->rigs[ruleset->rig_count] = rig;
    return ruleset->rig_count++;
}

uint16_t hs_ruleset_add_weapon(struct hs_ruleset *ruleset, struct hs_str name)
{
    struct hs_weapon *weapon =
        ruleset->weapon_count < HS_MAX_WEAPONS ? calloc(1, sizeof *ruleset->weapons[0]) : NULL;
    if (weapon == NULL)
        return HS_NONE;
    hs_name_set(&weapon->name, name);
    ruleset->weapons[ruleset->weapon_count] = weapon;
    return ruleset->weapon_count++;
}

/* Defines a function that returns the index of the entry with a name, or HS_NONE. */
#define FIND(function, type, count, name_at_i)                                                     \
    uint16_t function(const struct type *in, struct hs_str name)                                   \
    {                                                                                              \
        for (uint16_t i = 0; i < in->count; i++)                                                   \
            if (hs_str_equal(hs_name_str(&in->name_at_i), name))                                   \
                return i;                                                                          \
        return HS_NONE;                                                                            \
    }
FIND(hs_ruleset_find_zone, hs_ruleset, zone_count, zones[i].name)
FIND(hs_ruleset_find_move_mode, hs_ruleset, moves.mode_count, moves.modes[i].name)
FIND(hs_ruleset_find_rig, hs_ruleset, rig_count, rigs[i]->name)
FIND(hs_ruleset_find_weapon, hs_ruleset, weapon_count, weapons[i]->name)
FIND(hs_rig_find_bone, hs_rig, bone_count, bones[i])
FIND(hs_rig_find_stance, hs_rig, stance_count, stances[i].name)

static void finish_weapon(const struct hs_ruleset *ruleset, struct hs_weapon *weapon)
{
    for (int z = 0; z < ruleset->zone_count; z++)
        if (!weapon->zone_own[z])
            weapon->zone_factor[z] = ruleset->zones[z].factor;
    /* Instant shots may pass close to a wall. A projectile hits the world with its whole radius. */
    if (weapon->type == HS_WEAPON_PROJECTILE && !weapon->has_world_radius &&
        weapon->world_radius == 0)
        weapon->world_radius = weapon->radius;
    /* Without a posted shot, it is unknown when a projectile was launched, or in which directions
       pellets went. */
    if (!weapon->has_require_shot)
        weapon->require_shot = weapon->type == HS_WEAPON_PROJECTILE || weapon->pellets > 1;
}

void hs_ruleset_finish(struct hs_ruleset *ruleset)
{
    for (int w = 0; w < ruleset->weapon_count; w++)
        finish_weapon(ruleset, ruleset->weapons[w]);
    ruleset->reach = 0;
    for (int r = 0; r < ruleset->rig_count; r++) {
        const struct hs_rig *rig = ruleset->rigs[r];
        hs_rig_finish(ruleset->rigs[r]);
        for (int s = 0; s < rig->stance_count; s++)
            ruleset->reach = fmax(ruleset->reach, rig->stances[s].reach);
    }
}

/* ---- validation ---- */

struct validation {
    hs_ruleset_report *report;
    void *context;
    size_t faults;
    char base[288]; /* JSON pointer to the part that is being validated */
};

static void fault(struct validation *v, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct validation *v, const char *key, const char *format, ...)
{
    char pointer[384], text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(pointer, sizeof pointer, "%s%s%s", v->base, key[0] != 0 ? "/" : "", key);
    v->faults++;
    if (v->report != NULL)
        v->report(v->context, pointer, text);
}

static void validate_scalars(struct validation *v, const struct hs_scalar *table, size_t count,
                             const void *base)
{
    for (size_t i = 0; i < count; i++) {
        double value = hs_scalar_get(&table[i], base);
        char key[64];
        snprintf(key, sizeof key, "%s%s%s", table[i].section ? table[i].section : "",
                 table[i].section ? "/" : "", table[i].key);
        if (!(value >= table[i].low && value <= table[i].high))
            fault(v, key, "must be from %g to %g", table[i].low, table[i].high);
    }
}

static void validate_move_modes(struct validation *v, const struct hs_moves_rules *rules)
{
    for (int i = 0; i < rules->mode_count; i++) {
        snprintf(v->base, sizeof v->base, "/moves/modes/%s", rules->modes[i].name.text);
        validate_scalars(v, hs_move_mode_scalars, hs_move_mode_scalar_count, &rules->modes[i]);
    }
    v->base[0] = '\0';
}

/* Returns whether a vector is so small that float arithmetic on poses cannot overflow. */
static bool is_small(struct hs_vec v)
{
    return hs_vec_is_within(v, 1e9);
}

static void validate_hitbox(struct validation *v, const struct hs_ruleset *ruleset,
                            const struct hs_rig *rig, const struct hs_hitbox *box)
{
    if (box->bone >= rig->bone_count)
        fault(v, "bone", "names no bone of the rig");
    if (box->zone >= ruleset->zone_count)
        fault(v, "zone", "names no zone");
    const struct hs_vec h = box->half_extents;
    bool sized = box->shape == HS_SHAPE_BOX ? h.x > 0 && h.y > 0 && h.z > 0 : box->radius > 0;
    const char *large = !is_small(box->center)       ? "center"
                        : !is_small(h)               ? "half_extents"
                        : !(box->radius <= 1e9)      ? "radius"
                        : !(box->half_length <= 1e9) ? "half_length"
                                                     : NULL;
    if (large != NULL)
        fault(v, large, "must be within +-1e9");
    else if (!sized)
        fault(v, box->shape == HS_SHAPE_BOX ? "half_extents" : "radius", "must be above 0");
    else if (box->shape == HS_SHAPE_CAPSULE && box->half_length < 0)
        fault(v, "half_length", "must not be negative");
    float rotation[4] = {box->rotation[0], box->rotation[1], box->rotation[2], box->rotation[3]};
    if (!hs_quat_normalise(rotation))
        fault(v, "rotation", "must be a unit quaternion within 1e-3");
}

static void validate_stance(struct validation *v, const struct hs_rig *rig,
                            const struct hs_stance *stance)
{
    if (!is_small(stance->eye))
        fault(v, "eye", "must be within +-1e9");
    for (int i = 0; i < rig->bone_count; i++) {
        const struct hs_rest_bone *bone = &stance->bones[i];
        float rotation[4];
        memcpy(rotation, bone->rotation, sizeof rotation);
        char key[32];
        snprintf(key, sizeof key, "bones/%d", i);
        if (!is_small(bone->position) || !hs_quat_normalise(rotation))
            fault(v, key, "must be within +-1e9, with a unit quaternion within 1e-3");
        for (int k = 0; k < 3; k++)
            if (!(fabsf(bone->scale[k]) >= 1e-6f && fabsf(bone->scale[k]) <= 1e6f))
                fault(v, key, "must have a scale from 1e-6 to 1e6");
    }
}

static void validate_rig(struct validation *v, const struct hs_ruleset *ruleset,
                         const struct hs_rig *rig)
{
    char at[64 + HS_NAME_MAX];
    snprintf(at, sizeof at, "/rigs/%s", rig->name.text);
    snprintf(v->base, sizeof v->base, "%s", at);
    if (rig->bone_count == 0)
        fault(v, "bones", "needs at least one bone");
    if (rig->hitbox_count == 0)
        fault(v, "hitboxes", "needs at least one hitbox");
    if (rig->stance_count == 0)
        fault(v, "stances", "needs at least one stance");
    for (int i = 0; i < rig->hitbox_count; i++) {
        snprintf(v->base, sizeof v->base, "%s/hitboxes/%d", at, i);
        validate_hitbox(v, ruleset, rig, &rig->hitboxes[i]);
    }
    for (int i = 0; i < rig->stance_count; i++) {
        snprintf(v->base, sizeof v->base, "%s/stances/%s", at, rig->stances[i].name.text);
        validate_stance(v, rig, &rig->stances[i]);
    }
}

static void validate_weapon(struct validation *v, const struct hs_weapon *weapon)
{
    snprintf(v->base, sizeof v->base, "/weapons/%s", weapon->name.text);
    validate_scalars(v, hs_weapon_scalars, hs_weapon_scalar_count, weapon);
    if (weapon->type == HS_WEAPON_PROJECTILE && !(weapon->speed > 0))
        fault(v, "speed", "a projectile needs a speed above 0");
    if (weapon->type != HS_WEAPON_PROJECTILE && weapon->motion == HS_MOTION_SERVER)
        fault(v, "motion", "only projectiles have the motion `server`");
    if (weapon->world_radius > weapon->radius)
        fault(v, "world_radius", "must not be larger than radius");
    if (weapon->type == HS_WEAPON_PROJECTILE && weapon->pellets > 1)
        fault(v, "pellets", "only instant weapons have more than one");
    if (weapon->has_blast) {
        size_t end = strlen(v->base);
        snprintf(v->base + end, sizeof v->base - end, "/blast");
        validate_scalars(v, hs_blast_scalars, hs_blast_scalar_count, weapon);
        if (weapon->blast.inner_radius > weapon->blast.radius)
            fault(v, "inner_radius", "must not be larger than radius");
        v->base[end] = '\0';
    }
    for (int i = 0; i < weapon->falloff_count; i++) {
        const struct hs_falloff_point *p = &weapon->falloff[i];
        bool ascending = i == 0 || p->distance > weapon->falloff[i - 1].distance;
        if (!isfinite(p->distance) || p->distance < 0 || !ascending)
            fault(v, "falloff", "distances must be ascending, from 0");
        if (!(p->factor >= 0 && p->factor <= 1e3))
            fault(v, "falloff", "factors must be from 0 to 1000");
    }
}

size_t hs_ruleset_validate(const struct hs_ruleset *ruleset, hs_ruleset_report *report,
                           void *context)
{
    struct validation v = {report, context, 0, ""};
    validate_scalars(&v, hs_ruleset_scalars, hs_ruleset_scalar_count, ruleset);
    if (v.faults == 0 && ruleset->moves.lead_window_us < ruleset->moves.lead_block_us)
        fault(&v, "moves/lead_guard/window", "must not be shorter than moves.lead_guard.block");
    validate_move_modes(&v, &ruleset->moves);
    if (ruleset->rewind.limit_us > ruleset->history.keep_us)
        fault(&v, "rewind/limit", "must not be longer than history.keep");
    for (int i = 0; i < ruleset->hit.zone_priority_count; i++) {
        snprintf(v.base, sizeof v.base, "/hit/zone_priority/%d", i);
        if (ruleset->hit.zone_priority[i] >= ruleset->zone_count)
            fault(&v, "", "names no zone");
    }
    snprintf(v.base, sizeof v.base, "/zones");
    for (int i = 0; i < ruleset->zone_count; i++)
        if (!(ruleset->zones[i].factor >= 0 && ruleset->zones[i].factor <= 1e3))
            fault(&v, ruleset->zones[i].name.text, "must be from 0 to 1000");
    v.base[0] = 0;
    if (ruleset->rig_count == 0)
        fault(&v, "rigs", "needs at least one rig");
    else if (ruleset->default_rig >= ruleset->rig_count)
        fault(&v, "default_rig", "names no rig");
    for (int i = 0; i < ruleset->rig_count; i++)
        validate_rig(&v, ruleset, ruleset->rigs[i]);
    for (int i = 0; i < ruleset->weapon_count; i++)
        validate_weapon(&v, ruleset->weapons[i]);
    return v.faults;
}
