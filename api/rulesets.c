#include "api/rulesets.h"

#include <stdio.h>

/* A document that is being turned into a ruleset. */
struct loading {
    struct hs_reader *reader;
    struct hs_ruleset *ruleset;
    const json_t *root;
};

static struct hs_str str_of(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

static void refuse_unknown(struct loading *l, const char *key, const struct hs_json_at *at)
{
    if (strncmp(key, "x_", 2) != 0)
        hs_json_bad(l->reader, at, "is not a field of a ruleset");
}

/* An object member by member. `key` and `value` as in json_object_foreach, but const. */
#define FOR_EACH(object, key, value)                                                               \
    for (void *it_ = json_object_iter((json_t *)(uintptr_t)(object));                              \
         it_ != NULL && ((key) = json_object_iter_key(it_)) != NULL &&                             \
         ((value) = json_object_iter_value(it_)) != NULL;                                          \
         it_ = json_object_iter_next((json_t *)(uintptr_t)(object), it_))

/* Refuses every member that is not in the list. */
static void refuse_others(struct loading *l, const json_t *object, const struct hs_json_at *at,
                          const char *const *members, size_t count)
{
    const json_t *value;
    const char *key;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(members[i], key) == 0;
        if (!known)
            refuse_unknown(l, key, &here);
    }
}

static bool is_object(struct loading *l, const json_t *value, const struct hs_json_at *at)
{
    if (!json_is_object(value))
        hs_json_bad(l->reader, at, "must be an object");
    return json_is_object(value);
}

static bool read_key_name(struct loading *l, const char *key, const struct hs_json_at *at)
{
    if (!hs_name_is_valid(str_of(key))) {
        hs_json_bad(l->reader, at, "must be named with 1 to 64 characters of [A-Za-z0-9_.:-]");
        return false;
    }
    return true;
}

/* ---- scalars ---- */

static void read_scalar(struct loading *l, const struct hs_scalar *scalar, const json_t *value,
                        const struct hs_json_at *at, void *base)
{
    double number;
    if (scalar->kind == HS_SCALAR_BOOL) {
        if (!json_is_boolean(value))
            hs_json_bad(l->reader, at, "must be true or false");
        else
            hs_scalar_set(scalar, base, json_is_true(value) ? 1 : 0);
    } else if (scalar->kind == HS_SCALAR_COUNT && !json_is_integer(value)) {
        hs_json_bad(l->reader, at, "must be an integer");
    } else if (hs_json_read_real(l->reader, value, at, scalar->low, scalar->high, &number)) {
        hs_scalar_set(scalar, base, number);
    }
}

static const struct hs_scalar *find_scalar(const struct hs_scalar *table, size_t count,
                                           const char *section, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if ((section == NULL || strcmp(table[i].section, section) == 0) &&
            strcmp(table[i].key, key) == 0)
            return &table[i];
    return NULL;
}

static void read_zone_priority(struct loading *l, const json_t *value, const struct hs_json_at *at)
{
    struct hs_hit_rules *hit = &l->ruleset->hit;
    if (!json_is_array(value) || json_array_size(value) > HS_MAX_ZONES) {
        hs_json_bad(l->reader, at, "must be an array of zone names");
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct hs_str name;
        if (!hs_json_read_name(l->reader, json_array_get(value, i), &here, &name))
            continue;
        uint16_t zone = hs_ruleset_find_zone(l->ruleset, name);
        if (zone == HS_NONE)
            hs_json_bad(l->reader, &here, "names no zone");
        else
            hit->zone_priority[hit->zone_priority_count++] = zone;
    }
}

static void read_source(struct loading *l, const json_t *value, const struct hs_json_at *at)
{
    const char *text = json_string_value(value);
    if (text == NULL || !hs_rewind_source_parse(str_of(text), &l->ruleset->rewind.source))
        hs_json_bad(l->reader, at, "must be claim or prediction_ping");
}

/* Scalars are in sections of that name. */
static bool has_section(const char *section)
{
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++)
        if (strcmp(hs_ruleset_scalars[i].section, section) == 0)
            return true;
    return false;
}

/* `section`: the names of the objects around it and its own, between slashes. */
static void read_members(struct loading *l, const char *section, const json_t *object,
                         const struct hs_json_at *at)
{
    const json_t *value;
    const char *key;
    if (object == NULL || !is_object(l, object, at))
        return;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        const struct hs_scalar *scalar =
            find_scalar(hs_ruleset_scalars, hs_ruleset_scalar_count, section, key);
        char inner[2 * HS_NAME_MAX];
        int length = snprintf(inner, sizeof inner, "%s/%s", section, key);
        if (scalar != NULL)
            read_scalar(l, scalar, value, &here, l->ruleset);
        else if (length > 0 && (size_t)length < sizeof inner && has_section(inner))
            read_members(l, inner, value, &here);
        else if (strcmp(section, "hit") == 0 && strcmp(key, "zone_priority") == 0)
            read_zone_priority(l, value, &here);
        else if (strcmp(section, "rewind") == 0 && strcmp(key, "source") == 0)
            read_source(l, value, &here);
        else
            refuse_unknown(l, key, &here);
    }
}

static void read_section(struct loading *l, const char *section)
{
    struct hs_json_at at = {.key = section};
    read_members(l, section, json_object_get(l->root, section), &at);
}

/* ---- zones and checks ---- */

static void add_builtin_zones(struct loading *l)
{
    if (!hs_ruleset_add_builtin_zones(l->ruleset))
        l->reader->no_memory = true;
}

static void read_zones(struct loading *l)
{
    const json_t *object = json_object_get(l->root, "zones"), *value;
    struct hs_json_at at = {.key = "zones"};
    const char *key;
    if (object == NULL)
        add_builtin_zones(l);
    if (object == NULL || !is_object(l, object, &at))
        return;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        double factor;
        if (!read_key_name(l, key, &here) ||
            !hs_json_read_real(l->reader, value, &here, 0, 1e3, &factor))
            continue;
        if (hs_ruleset_add_zone(l->ruleset, str_of(key), factor) == HS_NONE)
            hs_json_bad(l->reader, &here, "is one zone too many: at most %d", HS_MAX_ZONES);
    }
}

static void read_checks(struct loading *l)
{
    const json_t *object = json_object_get(l->root, "checks"), *value;
    struct hs_json_at at = {.key = "checks"};
    const char *key;
    if (object == NULL || !is_object(l, object, &at))
        return;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        enum hs_check check;
        struct hs_str mode = {json_string_value(value), json_string_length(value)};
        if (!hs_check_parse(str_of(key), &check)) {
            if (strncmp(key, "x_", 2) != 0)
                hs_json_bad(l->reader, &here, "is not a check");
        } else if (!hs_mode_parse(mode, &l->ruleset->checks[check]))
            hs_json_bad(l->reader, &here, "must be enforce, shadow or off");
    }
}

/* ---- rigs ---- */

static bool read_floats(struct loading *l, const json_t *value, const struct hs_json_at *at,
                        size_t count, float *out)
{
    double v[10];
    if (!hs_json_read_reals(l->reader, value, at, count, v))
        return false;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)v[i];
    return true;
}

static void read_vec(struct loading *l, const json_t *value, const struct hs_json_at *at,
                     struct hs_vec *out)
{
    double v[3];
    if (hs_json_read_reals(l->reader, value, at, 3, v))
        *out = (struct hs_vec){v[0], v[1], v[2]};
}

static void read_bones(struct loading *l, const json_t *value, const struct hs_json_at *at,
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

static uint16_t find_named(struct loading *l, const json_t *value, const struct hs_json_at *at,
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

static void read_hitbox_field(struct loading *l, const char *key, const json_t *value,
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
        refuse_unknown(l, key, at);
    }
}

static void read_hitboxes(struct loading *l, const json_t *array, const struct hs_json_at *at,
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
        if (!is_object(l, object, &here))
            continue;
        FOR_EACH(object, key, value)
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

static void read_rest_bones(struct loading *l, const json_t *array, const struct hs_json_at *at,
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

static void read_stances(struct loading *l, const json_t *object, const struct hs_json_at *at,
                         struct hs_rig *rig)
{
    static const char *const members[] = {"eye", "bones"};
    const json_t *value;
    const char *key;
    if (!is_object(l, object, at))
        return;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_json_at eye = {.parent = &here, .key = "eye"};
        struct hs_json_at bones = {.parent = &here, .key = "bones"};
        if (!read_key_name(l, key, &here) || !is_object(l, value, &here))
            continue;
        if (rig->stance_count == HS_MAX_STANCES) {
            hs_json_bad(l->reader, &here, "is one stance too many: at most %d", HS_MAX_STANCES);
            return;
        }
        struct hs_stance *stance = &rig->stances[rig->stance_count++];
        hs_name_set(&stance->name, str_of(key));
        read_vec(l, json_object_get(value, "eye"), &eye, &stance->eye);
        read_rest_bones(l, json_object_get(value, "bones"), &bones, rig, stance);
        refuse_others(l, value, &here, members, 2);
    }
}

static void read_rig(struct loading *l, const char *name, const json_t *object,
                     const struct hs_json_at *at)
{
    static const char *const members[] = {"bones", "hitboxes", "stances"};
    if (!read_key_name(l, name, at) || !is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_rig(l->ruleset, str_of(name));
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
    refuse_others(l, object, at, members, 3);
}

/* ---- weapons ---- */

static void read_falloff(struct loading *l, const json_t *array, const struct hs_json_at *at,
                         struct hs_weapon *weapon)
{
    if (!json_is_array(array) || json_array_size(array) > HS_MAX_FALLOFF) {
        hs_json_bad(l->reader, at, "must be an array of at most %d [distance, factor]",
                    HS_MAX_FALLOFF);
        return;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        double v[2];
        if (hs_json_read_reals(l->reader, json_array_get(array, i), &here, 2, v))
            weapon->falloff[weapon->falloff_count++] = (struct hs_falloff_point){v[0], v[1]};
    }
}

static void read_weapon_zones(struct loading *l, const json_t *object, const struct hs_json_at *at,
                              struct hs_weapon *weapon)
{
    const json_t *value;
    const char *key;
    if (!is_object(l, object, at))
        return;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        uint16_t zone = hs_ruleset_find_zone(l->ruleset, str_of(key));
        double factor;
        if (zone == HS_NONE)
            hs_json_bad(l->reader, &here, "names no zone");
        else if (hs_json_read_real(l->reader, value, &here, 0, 1e3, &factor)) {
            weapon->zone_own[zone] = true;
            weapon->zone_factor[zone] = factor;
        }
    }
}

static void read_blast(struct loading *l, const json_t *object, const struct hs_json_at *at,
                       struct hs_weapon *weapon)
{
    const json_t *value;
    const char *key;
    struct hs_json_at radius = {.parent = at, .key = "radius"};
    if (!is_object(l, object, at))
        return;
    weapon->has_blast = true;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_str text = {json_string_value(value), json_string_length(value)};
        const struct hs_scalar *scalar =
            find_scalar(hs_blast_scalars, hs_blast_scalar_count, NULL, key);
        if (scalar != NULL)
            read_scalar(l, scalar, value, &here, weapon);
        else if (strcmp(key, "unclaimed") != 0)
            refuse_unknown(l, key, &here);
        else if (!hs_str_equal(text, HS_STR("report")) && !hs_str_equal(text, HS_STR("damage")))
            hs_json_bad(l->reader, &here, "must be report or damage");
        else
            weapon->blast.damages_unclaimed = hs_str_equal(text, HS_STR("damage"));
    }
    if (json_object_get(object, "radius") == NULL)
        hs_json_bad(l->reader, &radius, "is required");
    /* The same everywhere unless something is said of it; a smallest share alone falls off from
       the centre. */
    if (json_object_get(object, "inner_radius") == NULL)
        weapon->blast.inner_radius =
            json_object_get(object, "min_scale") == NULL ? weapon->blast.radius : 0;
}

/* Defaults of a weapon whose lengths are in the document's unit. */
static void set_weapon_defaults(struct hs_weapon *weapon)
{
    for (size_t i = 0; i < hs_weapon_scalar_count; i++)
        hs_scalar_set(&hs_weapon_scalars[i], weapon, hs_weapon_scalars[i].initial);
    for (size_t i = 0; i < hs_blast_scalar_count; i++)
        hs_scalar_set(&hs_blast_scalars[i], weapon, hs_blast_scalars[i].initial);
}

static void read_weapon(struct loading *l, const char *name, const json_t *object,
                        const struct hs_json_at *at)
{
    if (!read_key_name(l, name, at) || !is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_weapon(l->ruleset, str_of(name));
    if (index == HS_NONE) {
        hs_json_bad(l->reader, at, "is one weapon too many: at most %d", HS_MAX_WEAPONS);
        return;
    }
    struct hs_weapon *weapon = l->ruleset->weapons[index];
    set_weapon_defaults(weapon);
    const json_t *value;
    const char *key;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_str text = {json_string_value(value), json_string_length(value)};
        const struct hs_scalar *scalar =
            find_scalar(hs_weapon_scalars, hs_weapon_scalar_count, NULL, key);
        if (scalar != NULL)
            read_scalar(l, scalar, value, &here, weapon);
        else if (strcmp(key, "falloff") == 0)
            read_falloff(l, value, &here, weapon);
        else if (strcmp(key, "zones") == 0)
            read_weapon_zones(l, value, &here, weapon);
        else if (strcmp(key, "blast") == 0)
            read_blast(l, value, &here, weapon);
        else if (strcmp(key, "type") != 0)
            refuse_unknown(l, key, &here);
        else if (!hs_weapon_type_parse(text, &weapon->type))
            hs_json_bad(l->reader, &here, "must be hitscan, projectile or melee");
    }
    struct hs_json_at type = {.parent = at, .key = "type"};
    if (json_object_get(object, "type") == NULL)
        hs_json_bad(l->reader, &type, "is required");
}

/* ---- the whole ---- */

typedef void read_entry(struct loading *l, const char *name, const json_t *object,
                        const struct hs_json_at *at);

/* Every member of a table; false when the document has no such table. */
static bool read_table(struct loading *l, const char *table, read_entry *entry)
{
    const json_t *object = json_object_get(l->root, table), *value;
    struct hs_json_at at = {.key = table};
    const char *key;
    if (object == NULL)
        return false;
    if (!is_object(l, object, &at))
        return true;
    FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        entry(l, key, value, &here);
    }
    return true;
}

static void read_head(struct loading *l, struct hs_str expected)
{
    static const char *const members[] = {"name",    "up",     "default_rig", "history",
                                          "rewind",  "hit",    "zones",       "rigs",
                                          "weapons", "checks", "moves"};
    refuse_others(l, l->root, NULL, members, sizeof members / sizeof members[0]);
    struct hs_str name = expected, up;
    struct hs_json_at at = {.key = "name"};
    const json_t *value = json_object_get(l->root, "name");
    if (value == NULL && expected.ptr == NULL)
        hs_json_bad(l->reader, &at, "is required");
    if (value != NULL && hs_json_read_name(l->reader, value, &at, &name) && expected.ptr != NULL &&
        !hs_str_equal(name, expected))
        hs_json_bad(l->reader, &at, "must be the name in the path");
    hs_name_set(&l->ruleset->name, name);

    struct hs_json_at up_at = {.key = "up"};
    value = json_object_get(l->root, "up");
    up = (struct hs_str){json_string_value(value), json_string_length(value)};
    if (value != NULL && !hs_up_parse(up, &l->ruleset->up))
        hs_json_bad(l->reader, &up_at, "must be one of +x -x +y -y +z -z");
}

static void read_default_rig(struct loading *l)
{
    const json_t *value = json_object_get(l->root, "default_rig");
    struct hs_json_at at = {.key = "default_rig"};
    struct hs_str name;
    if (value == NULL || !hs_json_read_name(l->reader, value, &at, &name))
        return;
    uint16_t rig = hs_ruleset_find_rig(l->ruleset, name);
    if (rig == HS_NONE)
        hs_json_bad(l->reader, &at, "names no rig");
    else
        l->ruleset->default_rig = rig;
}

static void report_fault(void *context, const char *pointer, const char *fault)
{
    hs_problem_add(context, pointer, "%s", fault);
}

/* The built-in rig and weapons bring zones of their own. */
static void no_room(struct loading *l)
{
    struct hs_json_at at = {.key = "zones"};
    if (l->ruleset->zone_count == HS_MAX_ZONES)
        hs_json_bad(l->reader, &at, "leaves no room for those of the built-in rig or weapons");
    else
        l->reader->no_memory = true;
}

struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name)
{
    const double cm_per_unit = 1; /* what is left out is in centimetres */
    struct loading l = {reader, hs_ruleset_create(cm_per_unit), root};
    if (l.ruleset == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    read_head(&l, name);
    read_zones(&l);
    if (!read_table(&l, "rigs", read_rig) && !hs_ruleset_add_builtin_rig(l.ruleset, cm_per_unit))
        no_room(&l);
    if (!read_table(&l, "weapons", read_weapon) &&
        !hs_ruleset_add_builtin_weapons(l.ruleset, cm_per_unit))
        no_room(&l);
    read_default_rig(&l);
    read_section(&l, "history");
    read_section(&l, "rewind");
    read_section(&l, "hit");
    read_section(&l, "moves");
    read_checks(&l);
    if (reader->problem->code == HS_PROBLEM_NONE && !reader->no_memory)
        hs_ruleset_validate(l.ruleset, report_fault, reader->problem);
    if (reader->problem->code != HS_PROBLEM_NONE || reader->no_memory) {
        hs_ruleset_destroy(l.ruleset);
        return NULL;
    }
    hs_ruleset_finish(l.ruleset);
    return l.ruleset;
}
