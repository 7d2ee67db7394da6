/* The rigs of a ruleset document. */
#include "api/rulesets/load.h"

static void read_bones(struct hs_loading *l, const json_t *value, const struct hs_json_at *at,
                       struct hs_rig *rig)
{
    if (!json_is_array(value) || json_array_size(value) < 1 ||
        json_array_size(value) > HS_MAX_BONES) {
        hs_json_bad(l->reader, at, "must be an array of 1 to %d names", HS_MAX_BONES);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct hs_str name;
        if (!hs_json_read_name(l->reader, json_array_get(value, i), &here, &name))
            continue;
        if (hs_rig_find_bone(rig, name) != HS_NONE)
            hs_json_bad(l->reader, &here, "stands twice");
        hs_name_set(&rig->bones[rig->bone_count++], name);
    }
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

static void read_zone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    const struct hs_loading *l = reader->context;
    struct hs_str name;
    uint16_t *zone = target;
    if (hs_json_read_name(reader, value, at, &name) &&
        (*zone = hs_ruleset_find_zone(l->ruleset, name)) == HS_NONE)
        hs_json_bad(reader, at, "names no zone");
}

#define TO(member) .offset = offsetof(struct hs_hitbox, member)

static const struct hs_json_field hitbox_fields[] = {
    {"bone", HS_JSON_CUSTOM, true, TO(bone), .decode = read_bone},
    {"zone", HS_JSON_CUSTOM, true, TO(zone), .decode = read_zone},
    {"shape", HS_JSON_ENUM, true, TO(shape), .words = &hs_shape_words},
    {"radius", HS_JSON_REAL, TO(radius), .high = 1e9},
    {"half_length", HS_JSON_REAL, TO(half_length), .high = 1e9},
    {"half_extents", HS_JSON_VEC, TO(half_extents)},
    {"center", HS_JSON_VEC, TO(center)},
    {"rotation", HS_JSON_FLOATS, TO(rotation), .count = 4},
    {"axis_aligned", HS_JSON_BOOL, TO(axis_aligned)},
};
static const struct hs_json_object hitbox_object = {HS_JSON_FIELDS(hitbox_fields)};

static void read_hitboxes(struct hs_loading *l, const json_t *array, const struct hs_json_at *at,
                          struct hs_rig *rig)
{
    if (!json_is_array(array) || json_array_size(array) > HS_MAX_HITBOXES) {
        hs_json_bad(l->reader, at, "must be an array of at most %d hitboxes", HS_MAX_HITBOXES);
        return;
    }
    l->rig = rig;
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct hs_hitbox *box = &rig->hitboxes[rig->hitbox_count++];
        box->rotation[3] = 1;
        hs_json_read_object(l->reader, json_array_get(array, i), &here, &hitbox_object, box);
    }
}

static void read_rest_bones(struct hs_loading *l, const json_t *array, const struct hs_json_at *at,
                            const struct hs_rig *rig, struct hs_stance *stance)
{
    if (!json_is_array(array) || json_array_size(array) != rig->bone_count) {
        hs_json_bad(l->reader, at, "must be an array of %u bones, as the rig's",
                    (unsigned)rig->bone_count);
        return;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *value = json_array_get(array, i);
        double v[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
        size_t count = json_array_size(value) == 10 ? 10 : 7;
        struct hs_rest_bone *bone = &stance->bones[i];
        if (!hs_json_read_reals(l->reader, value, &here, count, v))
            continue;
        bone->position = (struct hs_vec){v[0], v[1], v[2]};
        for (int k = 0; k < 4; k++)
            bone->rotation[k] = (float)v[3 + k];
        for (int k = 0; k < 3; k++)
            bone->scale[k] = (float)v[7 + k];
    }
}

static void read_stance(struct hs_loading *l, const char *key, const json_t *value,
                        const struct hs_json_at *at, void *target)
{
    static const char *const members[] = {"eye", "bones"};
    static const struct hs_json_field eye = {"eye", HS_JSON_VEC,
                                             .offset = offsetof(struct hs_stance, eye)};
    struct hs_rig *rig = target;
    struct hs_json_at eye_at = {.parent = at, .key = members[0]};
    struct hs_json_at bones_at = {.parent = at, .key = members[1]};
    if (!hs_load_key_name(l, key, at) || !hs_load_is_object(l, value, at))
        return;
    if (rig->stance_count == HS_MAX_STANCES) {
        hs_json_bad(l->reader, at, "is one stance too many: at most %d", HS_MAX_STANCES);
        return;
    }
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    hs_name_set(&stance->name, hs_str_of(key));
    hs_json_read_field(l->reader, json_object_get(value, members[0]), &eye_at, &eye, stance);
    read_rest_bones(l, json_object_get(value, members[1]), &bones_at, rig, stance);
    hs_load_refuse_others(l, value, at, members, 2);
}

void hs_load_rig(struct hs_loading *l, const char *name, const json_t *object,
                 const struct hs_json_at *at, void *target)
{
    static const char *const members[] = {"bones", "hitboxes", "stances"};
    (void)target;
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_rig(l->ruleset, hs_str_of(name));
    if (index == HS_NONE) {
        hs_json_bad(l->reader, at, "is one rig too many: at most %d", HS_MAX_RIGS);
        return;
    }
    struct hs_rig *rig = l->ruleset->rigs[index];
    struct hs_json_at bones = {.parent = at, .key = members[0]};
    struct hs_json_at hitboxes = {.parent = at, .key = members[1]};
    struct hs_json_at stances = {.parent = at, .key = members[2]};
    read_bones(l, json_object_get(object, members[0]), &bones, rig);
    read_hitboxes(l, json_object_get(object, members[1]), &hitboxes, rig);
    hs_load_entries(l, json_object_get(object, members[2]), &stances, read_stance, rig);
    hs_load_refuse_others(l, object, at, members, 3);
}
