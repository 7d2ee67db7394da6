#include "tests/integration/drawn_bodies.h"

#include <math.h>
#include <string.h>

#include "tests/support/contract/schema.h"
#include "tests/support/contract/schema_draw.h"

/* ---- rules between the fields of a ruleset ---- */

/* Returns the keys of a table as an array, or `otherwise` if the table is empty or absent. */
static json_t *keys_of(const json_t *table, const char *otherwise)
{
    json_t *keys = json_array(), *member;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)table, key, member)
        json_array_append_new(keys, json_string(key));
    if (json_array_size(keys) == 0)
        json_array_append_new(keys, json_string(otherwise));
    return keys;
}

static json_t *pick(const json_t *array, struct hs_random *random)
{
    return json_deep_copy(
        json_array_get(array, (size_t)hs_random_index(random, (int)json_array_size(array))));
}

static void set_unit_quaternion(json_t *array, size_t at, struct hs_random *random)
{
    double q[4], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = hs_random_between(random, -1, 1);
        length += q[i] * q[i];
    }
    for (size_t i = 0; i < 4; i++)
        json_array_set_new(array, at + i,
                           json_real(length > 1e-3 ? q[i] / sqrt(length) : (i == 3 ? 1.0 : 0.0)));
}

static void mend_stance(json_t *stance, size_t bones, struct hs_random *random)
{
    json_t *rest = json_object_get(stance, "bones");
    while (json_array_size(rest) > bones)
        json_array_remove(rest, json_array_size(rest) - 1);
    while (json_array_size(rest) < bones)
        json_array_append_new(rest, json_deep_copy(json_array_get(rest, 0)));
    for (size_t i = 0; i < bones; i++) {
        json_t *bone = json_array_get(rest, i);
        for (size_t k = 0; k < 3; k++)
            json_array_set_new(bone, k, json_real(hs_schema_draw_number(-1e9, 1e9, random)));
        set_unit_quaternion(bone, 3, random);
        for (size_t k = 7; k < json_array_size(bone); k++)
            json_array_set_new(bone, k, json_real(hs_random_log_between(random, 1e-6, 1e6)));
    }
}

static void mend_hitbox(json_t *hitbox, const json_t *bones, const json_t *zones,
                        struct hs_random *random)
{
    json_object_set_new(hitbox, "bone", pick(bones, random));
    json_object_set_new(hitbox, "zone", pick(zones, random));
    if (strcmp(json_string_value(json_object_get(hitbox, "shape")), "box") == 0)
        json_object_set_new(hitbox, "half_extents",
                            json_pack("[f,f,i]", hs_random_log_between(random, 1e-3, 1e3),
                                      hs_random_log_between(random, 1e-3, 1e3), 1));
    else
        json_object_set_new(hitbox, "radius", json_real(hs_random_log_between(random, 1e-3, 1e9)));
    json_t *rotation = json_object_get(hitbox, "rotation");
    if (rotation != NULL)
        set_unit_quaternion(rotation, 0, random);
}

static void mend_rig(json_t *rig, const json_t *zones, struct hs_random *random)
{
    const json_t *bones = json_object_get(rig, "bones");
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach(json_object_get(rig, "hitboxes"), i, member)
        mend_hitbox(member, bones, zones, random);
    json_object_foreach(json_object_get(rig, "stances"), key, member)
        mend_stance(member, json_array_size(bones), random);
}

/* The inner radius of an explosion must not be larger than its radius. */
static void mend_blast(json_t *blast, struct hs_random *random)
{
    double radius = json_number_value(json_object_get(blast, "radius"));
    if (json_object_get(blast, "inner_radius") != NULL)
        json_object_set_new(blast, "inner_radius",
                            json_real(hs_schema_draw_number(0, radius, random)));
}

static void mend_weapon(json_t *weapon, const json_t *zones, struct hs_random *random)
{
    json_t *falloff = json_object_get(weapon, "falloff"), *own = json_object_get(weapon, "zones");
    double distance = 0;
    if (strcmp(json_string_value(json_object_get(weapon, "type")), "projectile") == 0) {
        json_object_set_new(weapon, "speed", json_real(hs_random_log_between(random, 1e-3, 1e12)));
        json_object_del(weapon, "pellets");
    } else {
        json_object_del(weapon, "motion");
    }
    if (json_object_get(weapon, "world_radius") != NULL)
        json_object_set_new(weapon, "world_radius",
                            json_real(hs_schema_draw_number(
                                0, json_number_value(json_object_get(weapon, "radius")), random)));
    mend_blast(json_object_get(weapon, "blast"), random);
    for (size_t i = 0; i < json_array_size(falloff); i++) {
        json_t *point = json_array_get(falloff, i);
        json_array_set_new(point, 0, json_real(distance));
        json_array_set_new(point, 1, json_real(hs_schema_draw_number(0, 1000, random)));
        distance += hs_random_log_between(random, 1e-3, 1e6);
    }
    if (json_object_size(own) == 0)
        return;
    json_object_clear(own);
    json_t *zone = pick(zones, random);
    json_object_set_new(own, json_string_value(zone), json_real(hs_random_between(random, 0, 9)));
    json_decref(zone);
}

/* The window of `lead_guard` must not be shorter than its block. */
static void mend_moves_rules(json_t *rules)
{
    json_t *guard = json_object_get(rules, "lead_guard");
    json_t *block = json_object_get(guard, "block"), *window = json_object_get(guard, "window");
    double least = block != NULL ? json_number_value(block) : 0.5; /* the default values */
    double most = window != NULL ? json_number_value(window) : 30;
    if (guard != NULL && most < least)
        json_object_set_new(guard, "window", json_real(least));
}

void hs_drawn_mend_ruleset(json_t *ruleset, const char *name, struct hs_random *random)
{
    const char *key;
    json_t *member;
    if (json_object_size(json_object_get(ruleset, "zones")) == 0)
        json_object_del(ruleset, "zones");
    mend_moves_rules(json_object_get(ruleset, "moves"));
    json_t *zones = keys_of(json_object_get(ruleset, "zones"), "torso");
    json_t *rigs = keys_of(json_object_get(ruleset, "rigs"), "humanoid");
    json_object_foreach(json_object_get(ruleset, "rigs"), key, member)
        mend_rig(member, zones, random);
    json_object_foreach(json_object_get(ruleset, "weapons"), key, member)
        mend_weapon(member, zones, random);
    if (json_object_get(ruleset, "name") != NULL)
        json_object_set_new(ruleset, "name", json_string(name));
    if (json_object_get(ruleset, "default_rig") != NULL)
        json_object_set_new(ruleset, "default_rig", pick(rigs, random));
    json_t *priority = json_object_get(json_object_get(ruleset, "hit"), "zone_priority");
    for (size_t i = 0; i < json_array_size(priority); i++)
        json_array_set_new(priority, i, pick(zones, random));
    const json_t *keep = json_object_get(json_object_get(ruleset, "history"), "keep");
    json_t *rewind = json_object_get(ruleset, "rewind");
    double longest = keep != NULL ? json_number_value(keep) : 1;
    if (json_number_value(json_object_get(rewind, "limit")) > longest)
        json_object_set_new(rewind, "limit", json_real(longest));
    if (longest < 0.4) /* the default limit */
        json_object_set_new(ruleset, "rewind", json_pack("{s:f}", "limit", longest));
    json_decref(zones);
    json_decref(rigs);
}

/* ---- rules between the fields of a map ---- */

void hs_drawn_mend_map(json_t *map, struct hs_random *random)
{
    size_t i, count = json_array_size(json_object_get(map, "vertices"));
    json_t *triangle, *box;
    if (count == 0)
        json_object_del(map, "triangles");
    json_array_foreach(json_object_get(map, "triangles"), i, triangle) for (size_t k = 0; k < 3;
                                                                            k++)
        json_array_set_new(triangle, k, json_integer(hs_random_index(random, (int)count)));
    json_array_foreach(json_object_get(map, "boxes"), i, box)
    {
        json_t *min = json_object_get(box, "min"), *max = json_object_get(box, "max");
        for (size_t k = 0; k < 3; k++) {
            double a = json_number_value(json_array_get(min, k));
            double b = json_number_value(json_array_get(max, k));
            json_array_set_new(min, k, json_real(fmin(a, b)));
            json_array_set_new(max, k, json_real(fmax(a, b)));
        }
    }
}

/* ---- rules between columns and rows of a table, and for a player's bones ---- */

static const struct {
    const char *batch, *item;
} batches[] = {
    {"frames", "#/components/schemas/Frame"},      {"players", "#/components/schemas/PlayerFrame"},
    {"movers", "#/components/schemas/MoverFrame"}, {"moves", "#/components/schemas/Move"},
    {"shots", "#/components/schemas/Shot"},        {"hits", "#/components/schemas/HitClaim"}};

void hs_drawn_mend_table(json_t *table, const char *name, const json_t *document,
                         struct hs_random *random)
{
    const json_t *schema = hs_schema_resolve(document, name);
    json_t *keys = json_object(), *items = json_array(), *columns = json_array(), *value, *item;
    json_t *rows = json_object_get(table, "rows");
    const char *key;
    size_t i;
    json_array_foreach(json_object_get(schema, "required"), i, value)
        json_object_set_new(keys, json_string_value(value), json_null());
    for (i = 0; i < json_array_size(rows); i++) {
        item = hs_schema_draw(document, schema, 0.6, random);
        hs_drawn_mend_item(item, document, random);
        json_array_append_new(items, item);
        json_object_foreach(item, key, value) if (strncmp(key, "x_", 2) != 0)
            json_object_set_new(keys, key, json_null());
    }
    json_object_foreach(keys, key, value) json_array_insert_new(
        columns, (size_t)hs_random_index(random, (int)json_array_size(columns) + 1),
        json_string(key));
    json_array_clear(rows);
    json_array_foreach(items, i, item)
    {
        json_t *row = json_array(), *column;
        size_t k;
        json_array_foreach(columns, k, column)
        {
            value = json_object_get(item, json_string_value(column));
            json_array_append_new(row, value != NULL ? json_incref(value) : json_null());
        }
        json_array_append_new(rows, row);
    }
    json_object_set_new(table, "columns", columns);
    json_decref(items);
    json_decref(keys);
}

/* Makes the items of a list or a table valid. */
static void mend_batch(json_t *batch, const char *item, const json_t *document,
                       struct hs_random *random)
{
    json_t *element;
    size_t i;
    if (json_is_object(batch))
        hs_drawn_mend_table(batch, item, document, random);
    json_array_foreach(batch, i, element) hs_drawn_mend_item(element, document, random);
}

/* An array of bones must have 7 numbers for each bone. */
void hs_drawn_mend_item(json_t *item, const json_t *document, struct hs_random *random)
{
    json_t *bones = json_object_get(item, "bones");
    while (json_is_number(json_array_get(bones, 0)) && json_array_size(bones) % 7 != 0)
        json_array_remove(bones, json_array_size(bones) - 1);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        mend_batch(json_object_get(item, batches[i].batch), batches[i].item, document, random);
}
