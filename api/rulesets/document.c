#include "api/rulesets/document.h"

#include <stdio.h>

#include "api/rulesets/load.h"
#include "validators/hit/work.h"

static void read_zone_priority(struct hs_loading *l, const json_t *value,
                               const struct hs_json_at *at)
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

static void read_source(struct hs_loading *l, const json_t *value, const struct hs_json_at *at)
{
    const char *text = json_string_value(value);
    if (text == NULL || !hs_rewind_source_parse(hs_load_str(text), &l->ruleset->rewind.source))
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
static void read_members(struct hs_loading *l, const char *section, const json_t *object,
                         const struct hs_json_at *at)
{
    const json_t *value;
    const char *key;
    if (object == NULL || !hs_load_is_object(l, object, at))
        return;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        const struct hs_scalar *scalar =
            hs_load_find_scalar(hs_ruleset_scalars, hs_ruleset_scalar_count, section, key);
        char inner[2 * HS_NAME_MAX];
        int length = snprintf(inner, sizeof inner, "%s/%s", section, key);
        if (scalar != NULL)
            hs_load_scalar(l, scalar, value, &here, l->ruleset);
        else if (length > 0 && (size_t)length < sizeof inner && has_section(inner))
            read_members(l, inner, value, &here);
        else if (strcmp(section, "hit") == 0 && strcmp(key, "zone_priority") == 0)
            read_zone_priority(l, value, &here);
        else if (strcmp(section, "rewind") == 0 && strcmp(key, "source") == 0)
            read_source(l, value, &here);
        else if (strcmp(section, "moves") != 0 || !hs_load_moves_member(l, key, value, &here))
            hs_load_refuse_unknown(l, key, &here);
    }
}

static void read_section(struct hs_loading *l, const char *section)
{
    struct hs_json_at at = {.key = section};
    read_members(l, section, json_object_get(l->root, section), &at);
}

/* ---- zones and checks ---- */

static void add_builtin_zones(struct hs_loading *l)
{
    if (!hs_ruleset_add_builtin_zones(l->ruleset))
        l->reader->no_memory = true;
}

static void read_zones(struct hs_loading *l)
{
    const json_t *object = json_object_get(l->root, "zones"), *value;
    struct hs_json_at at = {.key = "zones"};
    const char *key;
    if (object == NULL)
        add_builtin_zones(l);
    if (object == NULL || !hs_load_is_object(l, object, &at))
        return;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        double factor;
        if (!hs_load_key_name(l, key, &here) ||
            !hs_json_read_real(l->reader, value, &here, 0, 1e3, &factor))
            continue;
        if (hs_ruleset_add_zone(l->ruleset, hs_load_str(key), factor) == HS_NONE)
            hs_json_bad(l->reader, &here, "is one zone too many: at most %d", HS_MAX_ZONES);
    }
}

/* The mode of a check of claims or of moves; NULL: there is no such check. */
static enum hs_mode *find_check(struct hs_ruleset *ruleset, struct hs_str name)
{
    enum hs_check check;
    enum hs_move_check move_check;
    if (hs_check_parse(name, &check))
        return &ruleset->checks[check];
    return hs_move_check_parse(name, &move_check) ? &ruleset->move_checks[move_check] : NULL;
}

static void read_checks(struct hs_loading *l)
{
    const json_t *object = json_object_get(l->root, "checks"), *value;
    struct hs_json_at at = {.key = "checks"};
    const char *key;
    if (object == NULL || !hs_load_is_object(l, object, &at))
        return;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        struct hs_str mode = {json_string_value(value), json_string_length(value)};
        enum hs_mode *target = find_check(l->ruleset, hs_load_str(key));
        if (target == NULL) {
            if (strncmp(key, "x_", 2) != 0)
                hs_json_bad(l->reader, &here, "is not a check");
        } else if (!hs_mode_parse(mode, target))
            hs_json_bad(l->reader, &here, "must be enforce, shadow or off");
    }
}

/* ---- the whole ---- */

/* Every member of a table; false when the document has no such table. */
static bool read_table(struct hs_loading *l, const char *table, hs_load_entry *entry)
{
    const json_t *object = json_object_get(l->root, table), *value;
    struct hs_json_at at = {.key = table};
    const char *key;
    if (object == NULL)
        return false;
    if (!hs_load_is_object(l, object, &at))
        return true;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = &at, .key = key};
        entry(l, key, value, &here);
    }
    return true;
}

static void read_head(struct hs_loading *l, struct hs_str expected)
{
    static const char *const members[] = {"name",    "up",     "default_rig", "history",
                                          "rewind",  "hit",    "zones",       "rigs",
                                          "weapons", "checks", "moves"};
    hs_load_refuse_others(l, l->root, NULL, members, sizeof members / sizeof members[0]);
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

static void read_default_rig(struct hs_loading *l)
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
static void no_room(struct hs_loading *l)
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
    struct hs_loading l = {reader, hs_ruleset_create(cm_per_unit), root};
    if (l.ruleset == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    read_head(&l, name);
    read_zones(&l);
    if (!read_table(&l, "rigs", hs_load_rig) && !hs_ruleset_add_builtin_rig(l.ruleset, cm_per_unit))
        no_room(&l);
    if (!read_table(&l, "weapons", hs_load_weapon) &&
        !hs_ruleset_add_builtin_weapons(l.ruleset, cm_per_unit))
        no_room(&l);
    read_default_rig(&l);
    read_section(&l, "history");
    if (l.ruleset->rewind.limit_us > l.ruleset->history.keep_us)
        l.ruleset->rewind.limit_us = l.ruleset->history.keep_us; /* unless the document sets it */
    read_section(&l, "rewind");
    read_section(&l, "hit");
    hs_ruleset_add_builtin_moves(l.ruleset,
                                 cm_per_unit); /* those of the document take their place */
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

bool hs_ruleset_check_work(const struct hs_ruleset *ruleset, uint64_t limit,
                           struct hs_problem *problem)
{
    bool fits = true;
    for (int i = 0; limit > 0 && i < ruleset->weapon_count; i++) {
        const struct hs_weapon *weapon = ruleset->weapons[i];
        uint64_t work = hs_weapon_work(ruleset, weapon);
        if (work <= limit)
            continue;
        char pointer[HS_NAME_MAX + 32];
        snprintf(pointer, sizeof pointer, "/weapons/%s%s", weapon->name.text,
                 weapon->pellets > 1 ? "/pellets" : "");
        hs_problem_add(problem, pointer,
                       "makes one claim cost up to %llu work units with %llu hitboxes in the "
                       "largest rig: the limit is %llu (request-work)",
                       (unsigned long long)work, (unsigned long long)hs_ruleset_hitboxes(ruleset),
                       (unsigned long long)limit);
        fits = false;
    }
    return fits;
}
