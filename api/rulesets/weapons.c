/* The weapons of a ruleset document. */
#include "api/rulesets/load.h"

static void read_falloff(struct hs_reader *reader, const json_t *array, const struct hs_json_at *at,
                         void *target)
{
    struct hs_weapon *weapon = target;
    if (!json_is_array(array) || json_array_size(array) > HS_MAX_FALLOFF) {
        hs_json_bad(reader, at, "must be an array of at most %d [distance, factor]",
                    HS_MAX_FALLOFF);
        return;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        double v[2];
        if (hs_json_read_reals(reader, json_array_get(array, i), &here, 2, v))
            weapon->falloff[weapon->falloff_count++] = (struct hs_falloff_point){v[0], v[1]};
    }
}

static void read_zone(struct hs_loading *l, const char *key, const json_t *value,
                      const struct hs_json_at *at, void *target)
{
    struct hs_weapon *weapon = target;
    uint16_t zone = hs_ruleset_find_zone(l->ruleset, hs_str_of(key));
    double factor;
    if (zone == HS_NONE) {
        hs_json_bad(l->reader, at, "names no zone");
    } else if (hs_json_read_real(l->reader, value, at, 0, 1e3, &factor)) {
        weapon->zone_own[zone] = true;
        weapon->zone_factor[zone] = factor;
    }
}

static void read_zones(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    hs_load_entries(reader->context, value, at, read_zone, target);
}

static bool read_blast_scalar(struct hs_reader *reader, const char *key, const json_t *value,
                              const struct hs_json_at *at, void *target)
{
    return hs_load_scalar(reader, hs_blast_scalars, hs_blast_scalar_count, NULL, key, value, at,
                          target);
}

static void finish_blast(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_weapon *weapon = target;
    struct hs_json_at radius = {.parent = at, .key = "radius"};
    if (json_object_get(value, "radius") == NULL)
        hs_json_bad(reader, &radius, "is required");
    /* The same everywhere unless something is said of it; a smallest share alone falls off from
       the centre. */
    if (json_object_get(value, "inner_radius") == NULL)
        weapon->blast.inner_radius =
            json_object_get(value, "min_scale") == NULL ? weapon->blast.radius : 0;
}

static bool read_weapon_scalar(struct hs_reader *reader, const char *key, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    return hs_load_scalar(reader, hs_weapon_scalars, hs_weapon_scalar_count, NULL, key, value, at,
                          target);
}

/* hs_ruleset_finish gives a default that depends on the type of the weapon. */
static void finish_weapon(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct hs_weapon *weapon = target;
    (void)reader, (void)at;
    weapon->has_world_radius = json_object_get(value, "world_radius") != NULL;
}

#define TO(member) .offset = offsetof(struct hs_weapon, member)

static const struct hs_json_field blast_fields[] = {
    {"unclaimed", HS_JSON_ENUM, TO(blast.unclaimed), .words = &hs_unclaimed_words},
};
static const struct hs_json_object blast_object = {
    HS_JSON_FIELDS(blast_fields), .other = read_blast_scalar, .finish = finish_blast};

static const struct hs_json_field weapon_fields[] = {
    {"type", HS_JSON_ENUM, true, TO(type), .words = &hs_weapon_type_words},
    {"falloff", HS_JSON_CUSTOM, .decode = read_falloff},
    {"zones", HS_JSON_CUSTOM, .decode = read_zones},
    {"blast", HS_JSON_OBJECT, .flag = offsetof(struct hs_weapon, has_blast),
     .object = &blast_object},
};
static const struct hs_json_object weapon_object = {
    HS_JSON_FIELDS(weapon_fields), .other = read_weapon_scalar, .finish = finish_weapon};

void hs_load_weapon(struct hs_loading *l, const char *name, const json_t *object,
                    const struct hs_json_at *at, void *target)
{
    (void)target;
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    uint16_t index = hs_ruleset_add_weapon(l->ruleset, hs_str_of(name));
    if (index == HS_NONE) {
        hs_json_bad(l->reader, at, "is one weapon too many: at most %d", HS_MAX_WEAPONS);
        return;
    }
    struct hs_weapon *weapon = l->ruleset->weapons[index];
    hs_load_defaults(hs_weapon_scalars, hs_weapon_scalar_count, weapon);
    hs_load_defaults(hs_blast_scalars, hs_blast_scalar_count, weapon);
    hs_json_read_object(l->reader, object, at, &weapon_object, weapon);
}
