/* The rigs of a ruleset document. */
#include "api/rulesets/load.h"

static void read_bone_name(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    struct hs_rig *rig = target;
    struct hs_str name;
    if (!hs_json_read_name(reader, value, at, &name))
        return;
    if (hs_rig_find_bone(rig, name) != HS_NONE)
        hs_json_bad(reader, at, "is listed twice");
    hs_name_set(&rig->bones[rig->bone_count++], name);
}

static void read_bone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    const struct hs_loading *l = reader->context;
    struct hs_str name;
    uint16_t *bone = target;
    if (hs_json_read_name(reader, value, at, &name) &&
        (*bone = hs_rig_find_bone(l->rig, name)) == HS_NONE)
        hs_json_bad(reader, at, "names no bone of the rig");
}

#define TO(member) .offset = offsetof(struct hs_hitbox, member)

static const struct hs_json_field hitbox_fields[] = {
    {"bone", HS_JSON_CUSTOM, true, TO(bone), .decode = read_bone},
    {"zone", HS_JSON_CUSTOM, true, TO(zone), .decode = hs_load_zone},
    {"shape", HS_JSON_ENUM, true, TO(shape), .words = &hs_shape_words},
    {"radius", HS_JSON_REAL, TO(radius), .high = 1e9},
    {"half_length", HS_JSON_REAL, TO(half_length), .high = 1e9},
    {"half_extents", HS_JSON_VEC, TO(half_extents)},
    {"center", HS_JSON_VEC, TO(center)},
    {"rotation", HS_JSON_FLOATS, TO(rotation), .count = 4},
    {"axis_aligned", HS_JSON_BOOL, TO(axis_aligned)},
};
static const struct hs_json_object hitbox_object = {HS_JSON_FIELDS(hitbox_fields)};

static void read_hitbox(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct hs_rig *rig = target;
    struct hs_hitbox *box = &rig->hitboxes[rig->hitbox_count++];
    box->rotation[3] = 1;
    hs_json_read_object(reader, value, at, &hitbox_object, box);
}

static void read_rest_bone(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    double v[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    struct hs_rest_bone *bone = &((struct hs_stance *)target)->bones[at->index];
    if (!hs_json_read_reals(reader, value, at, json_array_size(value) == 10 ? 10 : 7, v))
        return;
    bone->position = (struct hs_vec){v[0], v[1], v[2]};
    for (int k = 0; k < 4; k++)
        bone->rotation[k] = (float)v[3 + k];
    for (int k = 0; k < 3; k++)
        bone->scale[k] = (float)v[7 + k];
}

static void read_rest_bones(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target)
{
    size_t count = ((const struct hs_loading *)reader->context)->rig->bone_count;
    hs_json_read_elements(reader, value, at, count, count, "bones, one for each bone of the rig",
                          read_rest_bone, target);
}

static const struct hs_json_field stance_fields[] = {
    {"eye", HS_JSON_VEC, true, .offset = offsetof(struct hs_stance, eye)},
    {"bones", HS_JSON_CUSTOM, true, .decode = read_rest_bones},
};
static const struct hs_json_object stance_object = {HS_JSON_FIELDS(stance_fields)};

static void read_stance(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct hs_rig *rig = target;
    if (!hs_load_begins(reader, value, at, "stance", rig->stance_count, HS_MAX_STANCES))
        return;
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    hs_name_set(&stance->name, hs_str_of(at->key));
    hs_json_read_object(reader, value, at, &stance_object, stance);
}

/* Bones are read first, because hitboxes and stances refer to bones. */
static const struct hs_json_field rig_fields[] = {
    {"bones", HS_JSON_ELEMENTS, true, .low = 1, .high = HS_MAX_BONES, .items = "names",
     .decode = read_bone_name},
    {"hitboxes", HS_JSON_ELEMENTS, true, .high = HS_MAX_HITBOXES, .items = "hitboxes",
     .decode = read_hitbox},
    {"stances", HS_JSON_ENTRIES, true, .decode = read_stance},
};
static const struct hs_json_object rig_object = {HS_JSON_FIELDS(rig_fields), .in_order = true};

void hs_load_rig(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                 void *target)
{
    struct hs_loading *l = reader->context;
    struct hs_ruleset *ruleset = target;
    if (!hs_load_begins(reader, value, at, "rig", ruleset->rig_count, HS_MAX_RIGS))
        return;
    uint16_t index = hs_ruleset_add_rig(ruleset, hs_str_of(at->key));
    reader->no_memory = reader->no_memory || index == HS_NONE;
    if (index == HS_NONE)
        return;
    l->rig = ruleset->rigs[index];
    hs_json_read_object(reader, value, at, &rig_object, ruleset->rigs[index]);
}
