/* The modes in the `moves` part of a ruleset document. */
#include "api/rulesets/load.h"

static bool read_scalar(struct hs_reader *reader, const char *key, const json_t *value,
                        const struct hs_json_at *at, void *target)
{
    return hs_load_scalar(reader, hs_move_mode_scalars, hs_move_mode_scalar_count, NULL, key, value,
                          at, target);
}

static void read_mode(struct hs_loading *l, const char *name, const json_t *object,
                      const struct hs_json_at *at, void *target)
{
    static const struct hs_json_object table = {.other = read_scalar};
    struct hs_moves_rules *rules = target;
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    if (rules->mode_count == HS_MAX_MOVE_MODES) {
        hs_json_bad(l->reader, at, "is one mode too many: at most %d", HS_MAX_MOVE_MODES);
        return;
    }
    struct hs_move_mode *mode = &rules->modes[rules->mode_count++];
    *mode = (struct hs_move_mode){0};
    hs_name_set(&mode->name, hs_str_of(name));
    hs_load_defaults(hs_move_mode_scalars, hs_move_mode_scalar_count, mode);
    hs_json_read_object(l->reader, object, at, &table, mode);
}

/* The modes of a document take the place of the built-in ones, all of them. */
void hs_load_modes(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                   void *target)
{
    struct hs_loading *l = reader->context;
    struct hs_moves_rules *rules = target;
    if (json_is_object(value))
        rules->mode_count = 0;
    hs_load_entries(l, value, at, read_mode, rules);
}
