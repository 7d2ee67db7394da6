#include "api/rulesets/document.h"

#include <stdio.h>

#include "api/rulesets/load.h"
#include "validators/hit.h"

static void read_zone_priority(struct hs_reader *reader, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    const struct hs_loading *l = reader->context;
    struct hs_hit_rules *hit = target;
    if (!json_is_array(value) || json_array_size(value) > HS_MAX_ZONES) {
        hs_json_bad(reader, at, "must be an array of zone names");
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct hs_str name;
        if (!hs_json_read_name(reader, json_array_get(value, i), &here, &name))
            continue;
        uint16_t zone = hs_ruleset_find_zone(l->ruleset, name);
        if (zone == HS_NONE)
            hs_json_bad(reader, &here, "names no zone");
        else
            hit->zone_priority[hit->zone_priority_count++] = zone;
    }
}

#define TO(member) .offset = offsetof(struct hs_ruleset, member)

/* What sections have besides scalars. */
static const struct {
    const char *section;
    struct hs_json_field field;
} members[] = {
    {"rewind", {"source", HS_JSON_ENUM, TO(rewind.source), .words = &hs_rewind_source_words}},
    {"hit", {"zone_priority", HS_JSON_CUSTOM, TO(hit), .decode = read_zone_priority}},
    {"moves", {"prevention", HS_JSON_ENUM, TO(moves.prevention), .words = &hs_prevention_words}},
    {"moves", {"modes", HS_JSON_CUSTOM, TO(moves), .decode = hs_load_modes}},
};

/* Scalars are in sections of that name. */
static bool has_section(const char *section)
{
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++)
        if (strcmp(hs_ruleset_scalars[i].section, section) == 0)
            return true;
    return false;
}

static bool read_special(struct hs_loading *l, const char *section, const char *key,
                         const json_t *value, const struct hs_json_at *at)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(members[i].section, section) != 0 || strcmp(members[i].field.name, key) != 0)
            continue;
        hs_json_read_field(l->reader, value, at, &members[i].field, l->ruleset);
        return true;
    }
    return false;
}

/* `target`: the section, as the names of the objects around it and its own, between slashes. */
static void read_member(struct hs_loading *l, const char *key, const json_t *value,
                        const struct hs_json_at *at, void *target)
{
    const char *section = target;
    char inner[2 * HS_NAME_MAX];
    int length = snprintf(inner, sizeof inner, "%s/%s", section, key);
    if (hs_load_scalar(l->reader, hs_ruleset_scalars, hs_ruleset_scalar_count, section, key, value,
                       at, l->ruleset))
        return;
    if (length > 0 && (size_t)length < sizeof inner && has_section(inner))
        hs_load_entries(l, value, at, read_member, inner);
    else if (!read_special(l, section, key, value, at))
        hs_json_refuse_unknown(l->reader, at, key);
}

/* An object of the document; absent: nothing. False: it is absent. */
static bool read_entries(struct hs_loading *l, const char *name, hs_load_entry *entry, void *target)
{
    const json_t *object = json_object_get(l->root, name);
    struct hs_json_at at = {.key = name};
    if (object != NULL)
        hs_load_entries(l, object, &at, entry, target);
    return object != NULL;
}

static void read_section(struct hs_loading *l, const char *section)
{
    read_entries(l, section, read_member, (void *)(uintptr_t)section);
}

/* ---- zones and checks ---- */

static void read_zone(struct hs_loading *l, const char *key, const json_t *value,
                      const struct hs_json_at *at, void *target)
{
    double factor;
    (void)target;
    if (!hs_load_key_name(l, key, at) || !hs_json_read_real(l->reader, value, at, 0, 1e3, &factor))
        return;
    if (hs_ruleset_add_zone(l->ruleset, hs_str_of(key), factor) == HS_NONE)
        hs_json_bad(l->reader, at, "is one zone too many: at most %d", HS_MAX_ZONES);
}

static void read_check(struct hs_loading *l, const char *key, const json_t *value,
                       const struct hs_json_at *at, void *target)
{
    int check = hs_vocabulary_find(&hs_check_words, hs_str_of(key));
    int move_check = hs_vocabulary_find(&hs_move_check_words, hs_str_of(key)), mode;
    (void)target;
    if (check < 0 && move_check < 0) {
        if (strncmp(key, "x_", 2) != 0)
            hs_json_bad(l->reader, at, "is not a check");
    } else if (hs_json_read_word(l->reader, value, at, &hs_mode_words, 0, &mode)) {
        *(check >= 0 ? &l->ruleset->checks[check] : &l->ruleset->move_checks[move_check]) =
            (enum hs_mode)mode;
    }
}

/* ---- the whole ---- */

static void read_head(struct hs_loading *l, struct hs_str expected)
{
    static const char *const known[] = {"name",  "up",   "default_rig", "history", "rewind", "hit",
                                        "zones", "rigs", "weapons",     "checks",  "moves"};
    static const struct hs_json_field up = {"up", HS_JSON_ENUM, TO(up), .words = &hs_up_words};
    hs_load_refuse_others(l, l->root, NULL, known, sizeof known / sizeof known[0]);
    struct hs_str name = expected;
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
    if (value != NULL)
        hs_json_read_field(l->reader, value, &up_at, &up, l->ruleset);
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

/* Reads all of it but what is derived. What is left out is in centimetres. */
static void read_document(struct hs_loading *l, struct hs_str name)
{
    const double cm_per_unit = 1;
    struct hs_ruleset *ruleset = l->ruleset;
    read_head(l, name);
    if (!read_entries(l, "zones", read_zone, NULL) && !hs_ruleset_add_builtin_zones(ruleset))
        l->reader->no_memory = true;
    if (!read_entries(l, "rigs", hs_load_rig, NULL) &&
        !hs_ruleset_add_builtin_rig(ruleset, cm_per_unit))
        no_room(l);
    if (!read_entries(l, "weapons", hs_load_weapon, NULL) &&
        !hs_ruleset_add_builtin_weapons(ruleset, cm_per_unit))
        no_room(l);
    read_default_rig(l);
    read_section(l, "history");
    if (ruleset->rewind.limit_us > ruleset->history.keep_us)
        ruleset->rewind.limit_us = ruleset->history.keep_us; /* unless the document sets it */
    read_section(l, "rewind");
    read_section(l, "hit");
    hs_ruleset_add_builtin_moves(ruleset, cm_per_unit); /* the document's take their place */
    read_section(l, "moves");
    read_entries(l, "checks", read_check, NULL);
}

struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name)
{
    struct hs_reader own = *reader;
    struct hs_loading l = {.reader = &own, .ruleset = hs_ruleset_create(1), .root = root};
    own.document = "a ruleset";
    own.context = &l;
    own.no_memory = l.ruleset == NULL;
    if (!own.no_memory)
        read_document(&l, name);
    if (reader->problem->code == HS_PROBLEM_NONE && !own.no_memory)
        hs_ruleset_validate(l.ruleset, report_fault, reader->problem);
    reader->no_memory = own.no_memory;
    if (reader->problem->code != HS_PROBLEM_NONE || own.no_memory) {
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
