/* The weapons of a ruleset document. */
#include "api/rulesets/load.h"

static void read_falloff(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_weapon *weapon = target;
    double v[2];
    if (hs_json_read_reals(reader, value, at, 2, v))
        weapon->falloff[weapon->falloff_count++] = (struct hs_falloff_point){v[0], v[1]};
}

static void read_zone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    const struct hs_loading *l = reader->context;
    struct hs_weapon *weapon = target;
    uint16_t zone = hs_ruleset_find_zone(l->ruleset, hs_str_of(at->key));
    double factor;
    if (zone == HS_NONE) {
        hs_json_bad(reader, at, "names no zone");
    } else if (hs_json_read_real(reader, value, at, 0, 1e3, &factor)) {
        weapon->zone_own[zone] = true;
        weapon->zone_factor[zone] = factor;
    }
}

/* Sets the default of inner_radius. If the document sets min_scale, the default is 0, so that the
   damage decreases from the centre outwards. Otherwise the default is `radius`, so that the damage
   is the same everywhere in the blast. */
static void finish_blast(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_weapon *weapon = target;
    struct hs_json_at radius = {.parent = at, .key = "radius"};
    if (json_object_get(value, "radius") == NULL)
        hs_json_bad(reader, &radius, "is required");
    if (json_object_get(value, "inner_radius") == NULL)
        weapon->blast.inner_radius =
            json_object_get(value, "min_scale") == NULL ? weapon->blast.radius : 0;
}

/* Records whether the document sets `world_radius` and `require_shot`. For a member that is not
   set, hs_ruleset_finish sets a default that depends on the weapon. */
static void finish_weapon(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct hs_weapon *weapon = target;
    (void)reader, (void)at;
    weapon->has_world_radius = json_object_get(value, "world_radius") != NULL;
    weapon->has_require_shot = json_object_get(value, "require_shot") != NULL;
}

static const struct hs_json_field blast_fields[] = {
    {"unclaimed", HS_JSON_ENUM, .offset = offsetof(struct hs_weapon, blast.unclaimed),
     .words = &hs_unclaimed_words},
};
static const struct hs_json_object blast_object = {
    HS_JSON_FIELDS(blast_fields), .scalars = hs_blast_scalars,
    .scalar_count = &hs_blast_scalar_count, .finish = finish_blast};

static const struct hs_json_field weapon_fields[] = {
    {"type", HS_JSON_ENUM, true, offsetof(struct hs_weapon, type), .words = &hs_weapon_type_words},
    {"fuse", HS_JSON_ENUM, .offset = offsetof(struct hs_weapon, fuse), .words = &hs_fuse_words},
    {"motion", HS_JSON_ENUM, .offset = offsetof(struct hs_weapon, motion),
     .words = &hs_motion_words},
    {"falloff", HS_JSON_ELEMENTS, .high = HS_MAX_FALLOFF, .items = "[distance, factor]",
     .decode = read_falloff},
    {"zones", HS_JSON_ENTRIES, .decode = read_zone},
    {"blast", HS_JSON_OBJECT, .flag = offsetof(struct hs_weapon, has_blast),
     .object = &blast_object},
};
static const struct hs_json_object weapon_object = {
    HS_JSON_FIELDS(weapon_fields), .scalars = hs_weapon_scalars,
    .scalar_count = &hs_weapon_scalar_count, .finish = finish_weapon};

void hs_load_weapon(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    void *target)
{
    struct hs_ruleset *ruleset = target;
    if (!hs_load_begins(reader, value, at, "weapon", ruleset->weapon_count, HS_MAX_WEAPONS))
        return;
    uint16_t index = hs_ruleset_add_weapon(ruleset, hs_str_of(at->key));
    reader->no_memory = reader->no_memory || index == HS_NONE;
    if (index == HS_NONE)
        return;
    struct hs_weapon *weapon = ruleset->weapons[index];
    hs_load_defaults(hs_weapon_scalars, hs_weapon_scalar_count, weapon);
    hs_load_defaults(hs_blast_scalars, hs_blast_scalar_count, weapon);
    hs_json_read_object(reader, value, at, &weapon_object, weapon);
}
