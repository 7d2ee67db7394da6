/* The rigs of a ruleset document. */
#include "api/rulesets/load.h"

static bool read_floats(struct hs_loading *l, const json_t *value, const struct hs_json_at *at,
                        size_t count, float *out)
{
    double v[10];
    if (!hs_json_read_reals(l->reader, value, at, count, v))
        return false;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)v[i];
    return true;
}

static void read_vec(struct hs_loading *l, const json_t *value, const struct hs_json_at *at,
                     struct hs_vec *out)
{
    double v[3];
    if (hs_json_read_reals(l->reader, value, at, 3, v))
        *out = (struct hs_vec){v[0], v[1], v[2]};
}

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

static uint16_t find_named(struct hs_loading *l, const json_t *value, const struct hs_json_at *at,
                           const struct hs_rig *rig)
{
    struct hs_str name;
    if (!hs_json_read_name(l->reader, value, at, &name))
        return 0;
    uint16_t i = rig != NULL ? hs_rig_find_bone(rig, name) : hs_ruleset_find_zone(l->ruleset, name);
    if (i != HS_NONE)
        return i;
    hs_json_bad(l->reader, at, rig != NULL ? "names no bone of the rig" : "names no zone");
    return 0;
}

static void read_hitbox_field(struct hs_loading *l, const char *key, const json_t *value,
                              const struct hs_json_at *at, const struct hs_rig *rig,
                              struct hs_hitbox *box)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    if (strcmp(key, "bone") == 0) {
        box->bone = find_named(l, value, at, rig);
    } else if (strcmp(key, "zone") == 0) {
        box->zone = find_named(l, value, at, NULL);
    } else if (strcmp(key, "shape") == 0) {
        if (!hs_shape_parse(text, &box->shape))
            hs_json_bad(l->reader, at, "must be sphere, capsule or box");
    } else if (strcmp(key, "radius") == 0) {
        hs_json_read_real(l->reader, value, at, 0, 1e9, &box->radius);
    } else if (strcmp(key, "half_length") == 0) {
        hs_json_read_real(l->reader, value, at, 0, 1e9, &box->half_length);
    } else if (strcmp(key, "half_extents") == 0) {
        read_vec(l, value, at, &box->half_extents);
    } else if (strcmp(key, "center") == 0) {
        read_vec(l, value, at, &box->center);
    } else if (strcmp(key, "rotation") == 0) {
        read_floats(l, value, at, 4, box->rotation);
    } else if (strcmp(key, "axis_aligned") == 0) {
        if (!json_is_boolean(value))
            hs_json_bad(l->reader, at, "must be true or false");
        box->axis_aligned = json_is_true(value);
    } else {
        hs_load_refuse_unknown(l, key, at);
    }
}

static void read_hitboxes(struct hs_loading *l, const json_t *array, const struct hs_json_at *at,
                          struct hs_rig *rig)
{
    static const char *const required[] = {"bone", "zone", "shape"};
    if (!json_is_array(array) || json_array_size(array) > HS_MAX_HITBOXES) {
        hs_json_bad(l->reader, at, "must be an array of at most %d hitboxes", HS_MAX_HITBOXES);
        return;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *object = json_array_get(array, i), *value;
        const char *key;
        struct hs_hitbox *box = &rig->hitboxes[rig->hitbox_count++];
        box->rotation[3] = 1;
        if (!hs_load_is_object(l, object, &here))
            continue;
        HS_FOR_EACH(object, key, value)
        {
            struct hs_json_at field = {.parent = &here, .key = key};
            read_hitbox_field(l, key, value, &field, rig, box);
        }
        for (size_t k = 0; k < sizeof required / sizeof required[0]; k++) {
            struct hs_json_at field = {.parent = &here, .key = required[k]};
            if (json_object_get(object, required[k]) == NULL)
                hs_json_bad(l->reader, &field, "is required");
        }
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

static void read_stances(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                         struct hs_rig *rig)
{
    static const char *const members[] = {"eye", "bones"};
    const json_t *value;
    const char *key;
    if (!hs_load_is_object(l, object, at))
        return;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_json_at eye = {.parent = &here, .key = "eye"};
        struct hs_json_at bones = {.parent = &here, .key = "bones"};
        if (!hs_load_key_name(l, key, &here) || !hs_load_is_object(l, value, &here))
            continue;
        if (rig->stance_count == HS_MAX_STANCES) {
            hs_json_bad(l->reader, &here, "is one stance too many: at most %d", HS_MAX_STANCES);
            return;
        }
        struct hs_stance *stance = &rig->stances[rig->stance_count++];
        hs_name_set(&stance->name, hs_load_str(key));
        read_vec(l, json_object_get(value, "eye"), &eye, &stance->eye);
        read_rest_bones(l, json_object_get(value, "bones"), &bones, rig, stance);
        hs_load_refuse_others(l, value, &here, members, 2);
    }
}

void hs_load_rig(struct hs_loading *l, const char *name, const json_t *object,
                 const struct hs_json_at *at)
{
    static const char *const members[] = {"bones", "hitboxes", "stances"};
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_rig(l->ruleset, hs_load_str(name));
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
    read_stances(l, json_object_get(object, members[2]), &stances, rig);
    hs_load_refuse_others(l, object, at, members, 3);
}
