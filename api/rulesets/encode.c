#include "api/rulesets/document.h"

/* Writes the scalars of a section. If `section` is NULL, writes all scalars of the table. */
static void write_scalars(struct hs_writer *writer, const struct hs_scalar *table, size_t count,
                          const char *section, const void *base)
{
    for (const struct hs_scalar *scalar = table; scalar < table + count; scalar++) {
        double value = hs_scalar_get(scalar, base);
        if (section != NULL && strcmp(scalar->section, section) != 0)
            continue;
        if (scalar->kind == HS_SCALAR_BOOL)
            hs_write_bool_field(writer, scalar->key, value != 0);
        else
            hs_write_exact_field(writer, scalar->key, value);
    }
}

/* Writes the scalars of a section, and then its inner sections, in the order of hs_ruleset_scalars.
   In this table, the scalars of one section are next to each other. */
static void write_section(struct hs_writer *writer, const struct hs_ruleset *ruleset,
                          const char *section)
{
    size_t length = strlen(section);
    const char *last = "";
    write_scalars(writer, hs_ruleset_scalars, hs_ruleset_scalar_count, section, ruleset);
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        const char *inner = hs_ruleset_scalars[i].section;
        if (strncmp(inner, section, length) != 0 || inner[length] != '/' ||
            strcmp(inner, last) == 0)
            continue;
        last = inner;
        hs_write_begin_field(writer, inner + length + 1, '{');
        write_section(writer, ruleset, inner);
        hs_write_end(writer, '}');
    }
}

static void write_exact_vec(struct hs_writer *writer, const char *key, struct hs_vec v)
{
    hs_write_begin_field(writer, key, '[');
    hs_write_exact(writer, v.x);
    hs_write_exact(writer, v.y);
    hs_write_exact(writer, v.z);
    hs_write_end(writer, ']');
}

static void write_floats(struct hs_writer *writer, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        hs_write_float(writer, values[i]);
}

static void write_hitbox(struct hs_writer *writer, const struct hs_ruleset *ruleset,
                         const struct hs_rig *rig, const struct hs_hitbox *box)
{
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "bone", rig->bones[box->bone].text);
    hs_write_text_field(writer, "zone", ruleset->zones[box->zone].name.text);
    hs_write_text_field(writer, "shape", hs_shape_name(box->shape));
    if (box->shape == HS_SHAPE_BOX)
        write_exact_vec(writer, "half_extents", box->half_extents);
    else
        hs_write_exact_field(writer, "radius", box->radius);
    if (box->shape == HS_SHAPE_CAPSULE)
        hs_write_exact_field(writer, "half_length", box->half_length);
    write_exact_vec(writer, "center", box->center);
    hs_write_begin_field(writer, "rotation", '[');
    write_floats(writer, box->rotation, 4);
    hs_write_end(writer, ']');
    if (box->shape == HS_SHAPE_BOX)
        hs_write_bool_field(writer, "axis_aligned", box->axis_aligned);
    hs_write_end(writer, '}');
}

static void write_stance(struct hs_writer *writer, const struct hs_rig *rig,
                         const struct hs_stance *stance)
{
    hs_write_begin_field(writer, stance->name.text, '{');
    write_exact_vec(writer, "eye", stance->eye);
    hs_write_begin_field(writer, "bones", '[');
    for (int i = 0; i < rig->bone_count; i++) {
        const struct hs_rest_bone *bone = &stance->bones[i];
        hs_write_begin(writer, '[');
        hs_write_exact(writer, bone->position.x);
        hs_write_exact(writer, bone->position.y);
        hs_write_exact(writer, bone->position.z);
        write_floats(writer, bone->rotation, 4);
        bool scaled = bone->scale[0] != 1 || bone->scale[1] != 1 || bone->scale[2] != 1;
        if (scaled)
            write_floats(writer, bone->scale, 3);
        hs_write_end(writer, ']');
    }
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
}

static void write_rig(struct hs_writer *writer, const struct hs_ruleset *ruleset,
                      const struct hs_rig *rig)
{
    hs_write_begin_field(writer, rig->name.text, '{');
    hs_write_begin_field(writer, "bones", '[');
    for (int i = 0; i < rig->bone_count; i++)
        hs_write_text(writer, rig->bones[i].text);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "hitboxes", '[');
    for (int i = 0; i < rig->hitbox_count; i++)
        write_hitbox(writer, ruleset, rig, &rig->hitboxes[i]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "stances", '{');
    for (int i = 0; i < rig->stance_count; i++)
        write_stance(writer, rig, &rig->stances[i]);
    hs_write_end(writer, '}');
    hs_write_end(writer, '}');
}

static void write_weapon(struct hs_writer *writer, const struct hs_ruleset *ruleset,
                         const struct hs_weapon *weapon)
{
    hs_write_begin_field(writer, weapon->name.text, '{');
    hs_write_text_field(writer, "type", hs_weapon_type_name(weapon->type));
    hs_write_text_field(writer, "fuse", hs_fuse_name(weapon->fuse));
    hs_write_text_field(writer, "motion", hs_motion_name(weapon->motion));
    write_scalars(writer, hs_weapon_scalars, hs_weapon_scalar_count, NULL, weapon);
    if (weapon->has_blast) {
        hs_write_begin_field(writer, "blast", '{');
        write_scalars(writer, hs_blast_scalars, hs_blast_scalar_count, NULL, weapon);
        hs_write_text_field(writer, "unclaimed", hs_unclaimed_name(weapon->blast.unclaimed));
        hs_write_end(writer, '}');
    }
    hs_write_begin_field(writer, "falloff", '[');
    for (int i = 0; i < weapon->falloff_count; i++) {
        hs_write_begin(writer, '[');
        hs_write_exact(writer, weapon->falloff[i].distance);
        hs_write_exact(writer, weapon->falloff[i].factor);
        hs_write_end(writer, ']');
    }
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "zones", '{');
    for (int i = 0; i < ruleset->zone_count; i++)
        if (weapon->zone_own[i])
            hs_write_exact_field(writer, ruleset->zones[i].name.text, weapon->zone_factor[i]);
    hs_write_end(writer, '}');
    hs_write_end(writer, '}');
}

static void write_modes(struct hs_writer *writer, const struct hs_moves_rules *rules)
{
    hs_write_begin_field(writer, "modes", '{');
    for (int i = 0; i < rules->mode_count; i++) {
        hs_write_begin_field(writer, rules->modes[i].name.text, '{');
        write_scalars(writer, hs_move_mode_scalars, hs_move_mode_scalar_count, NULL,
                      &rules->modes[i]);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, '}');
}

static void write_checks(struct hs_writer *writer, const struct hs_vocabulary *checks,
                         const enum hs_mode *modes)
{
    for (int i = 0; i < checks->count; i++)
        hs_write_text_field(writer, checks->names[i], hs_mode_name(modes[i]));
}

static void write_rules(struct hs_writer *writer, const struct hs_ruleset *ruleset)
{
    hs_write_begin_field(writer, "history", '{');
    hs_write_text_field(writer, "same_time", hs_same_time_name(ruleset->history.same_time));
    write_section(writer, ruleset, "history");
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "rewind", '{');
    hs_write_text_field(writer, "source", hs_rewind_source_name(ruleset->rewind.source));
    write_section(writer, ruleset, "rewind");
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "hit", '{');
    hs_write_text_field(writer, "resolve", hs_resolve_name(ruleset->hit.resolve));
    write_section(writer, ruleset, "hit");
    hs_write_begin_field(writer, "zone_priority", '[');
    for (int i = 0; i < ruleset->hit.zone_priority_count; i++)
        hs_write_text(writer, ruleset->zones[ruleset->hit.zone_priority[i]].name.text);
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "moves", '{');
    hs_write_text_field(writer, "prevention", hs_prevention_name(ruleset->moves.prevention));
    write_section(writer, ruleset, "moves");
    write_modes(writer, &ruleset->moves);
    hs_write_end(writer, '}');
}

void hs_ruleset_encode(struct hs_writer *writer, const struct hs_ruleset *ruleset)
{
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "name", ruleset->name.text);
    hs_write_text_field(writer, "up", hs_up_name(ruleset->up));
    hs_write_text_field(writer, "default_rig", ruleset->rigs[ruleset->default_rig]->name.text);
    write_rules(writer, ruleset);
    hs_write_begin_field(writer, "zones", '{');
    for (int i = 0; i < ruleset->zone_count; i++)
        hs_write_exact_field(writer, ruleset->zones[i].name.text, ruleset->zones[i].factor);
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "rigs", '{');
    for (int i = 0; i < ruleset->rig_count; i++)
        write_rig(writer, ruleset, ruleset->rigs[i]);
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "weapons", '{');
    for (int i = 0; i < ruleset->weapon_count; i++)
        write_weapon(writer, ruleset, ruleset->weapons[i]);
    hs_write_end(writer, '}');
    hs_write_begin_field(writer, "checks", '{');
    write_checks(writer, &hs_check_words, ruleset->checks);
    write_checks(writer, &hs_move_check_words, ruleset->move_checks);
    hs_write_end(writer, '}');
    hs_write_end(writer, '}');
}
