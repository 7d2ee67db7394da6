/* The weapons of a ruleset document. */
#include "api/rulesets/load.h"

static void read_falloff(struct hs_loading *l, const json_t *array, const struct hs_json_at *at,
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

static void read_weapon_zones(struct hs_loading *l, const json_t *object,
                              const struct hs_json_at *at, struct hs_weapon *weapon)
{
    const json_t *value;
    const char *key;
    if (!hs_load_is_object(l, object, at))
        return;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        uint16_t zone = hs_ruleset_find_zone(l->ruleset, hs_load_str(key));
        double factor;
        if (zone == HS_NONE)
            hs_json_bad(l->reader, &here, "names no zone");
        else if (hs_json_read_real(l->reader, value, &here, 0, 1e3, &factor)) {
            weapon->zone_own[zone] = true;
            weapon->zone_factor[zone] = factor;
        }
    }
}

static void read_blast(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                       struct hs_weapon *weapon)
{
    const json_t *value;
    const char *key;
    struct hs_json_at radius = {.parent = at, .key = "radius"};
    if (!hs_load_is_object(l, object, at))
        return;
    weapon->has_blast = true;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_str text = {json_string_value(value), json_string_length(value)};
        const struct hs_scalar *scalar =
            hs_load_find_scalar(hs_blast_scalars, hs_blast_scalar_count, NULL, key);
        if (scalar != NULL)
            hs_load_scalar(l, scalar, value, &here, weapon);
        else if (strcmp(key, "unclaimed") != 0)
            hs_load_refuse_unknown(l, key, &here);
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

void hs_load_weapon(struct hs_loading *l, const char *name, const json_t *object,
                    const struct hs_json_at *at)
{
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_weapon(l->ruleset, hs_load_str(name));
    if (index == HS_NONE) {
        hs_json_bad(l->reader, at, "is one weapon too many: at most %d", HS_MAX_WEAPONS);
        return;
    }
    struct hs_weapon *weapon = l->ruleset->weapons[index];
    hs_load_defaults(hs_weapon_scalars, hs_weapon_scalar_count, weapon);
    hs_load_defaults(hs_blast_scalars, hs_blast_scalar_count, weapon);
    const json_t *value;
    const char *key;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        struct hs_str text = {json_string_value(value), json_string_length(value)};
        const struct hs_scalar *scalar =
            hs_load_find_scalar(hs_weapon_scalars, hs_weapon_scalar_count, NULL, key);
        if (scalar != NULL)
            hs_load_scalar(l, scalar, value, &here, weapon);
        else if (strcmp(key, "falloff") == 0)
            read_falloff(l, value, &here, weapon);
        else if (strcmp(key, "zones") == 0)
            read_weapon_zones(l, value, &here, weapon);
        else if (strcmp(key, "blast") == 0)
            read_blast(l, value, &here, weapon);
        else if (strcmp(key, "type") != 0)
            hs_load_refuse_unknown(l, key, &here);
        else if (!hs_weapon_type_parse(text, &weapon->type))
            hs_json_bad(l->reader, &here, "must be hitscan, projectile or melee");
    }
    struct hs_json_at type = {.parent = at, .key = "type"};
    weapon->has_world_radius = json_object_get(object, "world_radius") != NULL;
    if (json_object_get(object, "type") == NULL)
        hs_json_bad(l->reader, &type, "is required");
}
