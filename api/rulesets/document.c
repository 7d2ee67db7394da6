#include "api/rulesets/document.h"

#include <stdio.h>

#include "api/rulesets/load.h"
#include "validators/hit.h"

/* ---- functions that several parts use ---- */

static bool is_name(struct hs_reader *reader, const struct hs_json_at *at)
{
    bool is_valid = hs_name_is_valid(hs_str_of(at->key));
    if (!is_valid)
        hs_json_bad(reader, at, "must be named with 1 to 64 characters of [A-Za-z0-9_.:-]");
    return is_valid;
}

bool hs_load_begins(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    const char *what, int count, int max)
{
    if (!is_name(reader, at))
        return false;
    if (!json_is_object(value))
        hs_json_bad(reader, at, "must be an object");
    else if (count >= max)
        hs_json_bad(reader, at, "is one %s too many: at most %d", what, max);
    return json_is_object(value) && count < max;
}

void hs_load_zone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                  void *target)
{
    const struct hs_loading *l = reader->context;
    uint16_t *zone = target;
    struct hs_str name;
    if (hs_json_read_name(reader, value, at, &name) &&
        (*zone = hs_ruleset_find_zone(l->ruleset, name)) == HS_NONE)
        hs_json_bad(reader, at, "names no zone");
}

void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base)
{
    for (size_t i = 0; i < count; i++)
        hs_scalar_set(&table[i], base, table[i].initial);
}

/* ---- sections ---- */

static void read_priority(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct hs_hit_rules *hit = target;
    uint16_t zone = HS_NONE;
    hs_load_zone(reader, value, at, &zone);
    if (zone != HS_NONE)
        hit->zone_priority[hit->zone_priority_count++] = zone;
}

static void read_mode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    static const struct hs_json_object table = {.scalars = hs_move_mode_scalars,
                                                .scalar_count = &hs_move_mode_scalar_count};
    struct hs_moves_rules *rules = target;
    if (!hs_load_begins(reader, value, at, "mode", rules->mode_count, HS_MAX_MOVE_MODES))
        return;
    struct hs_move_mode *mode = &rules->modes[rules->mode_count++];
    *mode = (struct hs_move_mode){0};
    hs_name_set(&mode->name, hs_str_of(at->key));
    hs_load_defaults(hs_move_mode_scalars, hs_move_mode_scalar_count, mode);
    hs_json_read_object(reader, value, at, &table, mode);
}

/* Reads the modes of a document. The modes in the document replace all built-in modes. */
static void read_modes(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    struct hs_moves_rules *rules = target;
    if (json_is_object(value))
        rules->mode_count = 0;
    hs_json_read_entries(reader, value, at, read_mode, rules);
}

#define TO(member) .offset = offsetof(struct hs_ruleset, member)

/* The members of sections that are not scalars: enums, lists and objects. */
static const struct {
    const char *section;
    struct hs_json_field field;
} members[] = {
    {"history", {"same_time", HS_JSON_ENUM, TO(history.same_time), .words = &hs_same_time_words}},
    {"rewind", {"source", HS_JSON_ENUM, TO(rewind.source), .words = &hs_rewind_source_words}},
    {"hit", {"resolve", HS_JSON_ENUM, TO(hit.resolve), .words = &hs_resolve_words}},
    {"hit",
     {"zone_priority", HS_JSON_ELEMENTS, TO(hit), .high = HS_MAX_ZONES, .items = "zone names",
      .decode = read_priority}},
    {"moves", {"prevention", HS_JSON_ENUM, TO(moves.prevention), .words = &hs_prevention_words}},
    {"moves", {"modes", HS_JSON_CUSTOM, TO(moves), .decode = read_modes}},
};

/* Returns whether a section with this path exists. A section exists if it contains a scalar. */
static bool has_section(const char *section)
{
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++)
        if (strcmp(hs_ruleset_scalars[i].section, section) == 0)
            return true;
    return false;
}

/* Reads a member of a section. `target` is the path of the section, for example "moves/credit". */
static void read_member(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct hs_ruleset *ruleset = ((const struct hs_loading *)reader->context)->ruleset;
    const char *section = target;
    char inner[2 * HS_NAME_MAX];
    int length = snprintf(inner, sizeof inner, "%s/%s", section, at->key);
    if (hs_json_read_scalar(reader, value, at, hs_ruleset_scalars, hs_ruleset_scalar_count, section,
                            ruleset))
        return;
    if (length > 0 && (size_t)length < sizeof inner && has_section(inner)) {
        if (json_is_boolean(value) && strcmp(inner, "moves/client_authoritative") == 0)
            hs_json_bad(reader, at, "must be an object with max_error (0: no client is trusted)");
        else
            hs_json_read_entries(reader, value, at, read_member, inner);
        return;
    }
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(members[i].section, section) != 0 || strcmp(members[i].field.name, at->key) != 0)
            continue;
        hs_json_read_field(reader, value, at, &members[i].field, ruleset);
        return;
    }
    hs_json_refuse_unknown(reader, at, at->key);
}

/* ---- zones and checks ---- */

static void read_zone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    double factor;
    if (is_name(reader, at) && hs_json_read_real(reader, value, at, 0, 1e3, &factor) &&
        hs_ruleset_add_zone(target, hs_str_of(at->key), factor) == HS_NONE)
        hs_json_bad(reader, at, "is one zone too many: at most %d", HS_MAX_ZONES);
}

static void read_check(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    struct hs_ruleset *ruleset = target;
    int check = hs_vocabulary_find(&hs_check_words, hs_str_of(at->key));
    int move_check = hs_vocabulary_find(&hs_move_check_words, hs_str_of(at->key)), mode;
    if (check < 0 && move_check < 0) {
        if (strncmp(at->key, "x_", 2) != 0)
            hs_json_bad(reader, at, "is not a check");
    } else if (hs_json_read_word(reader, value, at, &hs_mode_words, 0, &mode)) {
        *(check >= 0 ? &ruleset->checks[check] : &ruleset->move_checks[move_check]) =
            (enum hs_mode)mode;
    }
}

/* Reads the modes of checks. If the game server adopts positions of clients, the default mode of
   the move checks `path`, `ground`, `base` and `stance` is `enforce`. */
static void read_checks(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    static const enum hs_move_check ways[] = {HS_MOVE_CHECK_PATH, HS_MOVE_CHECK_GROUND,
                                              HS_MOVE_CHECK_BASE, HS_MOVE_CHECK_STANCE};
    struct hs_ruleset *ruleset = target;
    for (size_t i = 0; ruleset->moves.client_max_error > 0 && i < sizeof ways / sizeof ways[0]; i++)
        ruleset->move_checks[ways[i]] = HS_MODE_ENFORCE;
    if (value != NULL)
        hs_json_read_entries(reader, value, at, read_check, target);
}

/* ---- the document ---- */

/* The number of centimetres per unit of length. The default lengths are in centimetres. */
enum { CM_PER_UNIT = 1 };

static void read_name(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    struct hs_str expected = ((const struct hs_loading *)reader->context)->name, name = expected;
    if (value == NULL && expected.ptr == NULL)
        hs_json_bad(reader, at, "is required");
    if (value != NULL && hs_json_read_name(reader, value, at, &name) && expected.ptr != NULL &&
        !hs_str_equal(name, expected))
        hs_json_bad(reader, at, "must be the name in the path");
    hs_name_set(target, name);
}

static void read_zones(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    if (value != NULL)
        hs_json_read_entries(reader, value, at, read_zone, target);
    else if (!hs_ruleset_add_builtin_zones(target))
        reader->no_memory = true;
}

/* Records that the built-in rig or the built-in weapons cannot be added, because there is no space
   for their zones, or because memory ran out. */
static void no_space(struct hs_reader *reader, const struct hs_ruleset *ruleset)
{
    struct hs_json_at at = {.key = "zones"};
    if (ruleset->zone_count == HS_MAX_ZONES)
        hs_json_bad(reader, &at, "leaves no space for the zones of the built-in rig or weapons");
    else
        reader->no_memory = true;
}

static void read_rigs(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    if (value != NULL)
        hs_json_read_entries(reader, value, at, hs_load_rig, target);
    else if (!hs_ruleset_add_builtin_rig(target, CM_PER_UNIT))
        no_space(reader, target);
}

static void read_weapons(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    if (value != NULL)
        hs_json_read_entries(reader, value, at, hs_load_weapon, target);
    else if (!hs_ruleset_add_builtin_weapons(target, CM_PER_UNIT))
        no_space(reader, target);
}

static void read_default_rig(struct hs_reader *reader, const json_t *value,
                             const struct hs_json_at *at, void *target)
{
    struct hs_ruleset *ruleset = target;
    struct hs_str name;
    if (value == NULL || !hs_json_read_name(reader, value, at, &name))
        return;
    uint16_t rig = hs_ruleset_find_rig(ruleset, name);
    if (rig == HS_NONE)
        hs_json_bad(reader, at, "names no rig");
    else
        ruleset->default_rig = rig;
}

static void read_section(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    (void)target;
    if (value != NULL)
        hs_json_read_entries(reader, value, at, read_member, (void *)(uintptr_t)at->key);
}

static void read_rewind(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct hs_ruleset *ruleset = target;
    if (ruleset->rewind.limit_us > ruleset->history.keep_us)
        /* The default limit must not be above history.keep. */
        ruleset->rewind.limit_us = ruleset->history.keep_us;
    read_section(reader, value, at, target);
}

/* Members are read in the order of this table, because later members use names that earlier members
   define. For example, weapons use the names of zones. */
static const struct hs_json_field document_fields[] = {
    {"name", HS_JSON_CUSTOM, TO(name), .decode = read_name},
    {"up", HS_JSON_ENUM, TO(up), .words = &hs_up_words},
    {"zones", HS_JSON_CUSTOM, .decode = read_zones},
    {"rigs", HS_JSON_CUSTOM, .decode = read_rigs},
    {"weapons", HS_JSON_CUSTOM, .decode = read_weapons},
    {"default_rig", HS_JSON_CUSTOM, .decode = read_default_rig},
    {"history", HS_JSON_CUSTOM, .decode = read_section},
    {"rewind", HS_JSON_CUSTOM, .decode = read_rewind},
    {"hit", HS_JSON_CUSTOM, .decode = read_section},
    {"moves", HS_JSON_CUSTOM, .decode = read_section},
    {"checks", HS_JSON_CUSTOM, .decode = read_checks},
};
static const struct hs_json_object document_object = {HS_JSON_FIELDS(document_fields),
                                                      .in_order = true};

bool hs_ruleset_has_member(const json_t *root)
{
    for (size_t i = 0; i < sizeof document_fields / sizeof document_fields[0]; i++)
        if (json_object_get(root, document_fields[i].name) != NULL)
            return true;
    return false;
}

static void report_fault(void *context, const char *pointer, const char *fault)
{
    hs_problem_add(context, pointer, "%s", fault);
}

struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name)
{
    struct hs_reader own = *reader;
    struct hs_loading l = {.ruleset = hs_ruleset_create(CM_PER_UNIT), .name = name};
    own.document = "a ruleset";
    own.context = &l;
    own.no_memory = l.ruleset == NULL;
    if (!own.no_memory) {
        hs_ruleset_add_builtin_moves(l.ruleset, CM_PER_UNIT);
        hs_json_read_object(&own, root, NULL, &document_object, l.ruleset);
    }
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
