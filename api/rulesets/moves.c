/* What the `moves` part of a ruleset document has besides scalars. */
#include "api/rulesets/load.h"

static void read_mode(struct hs_loading *l, const char *name, const json_t *object,
                      const struct hs_json_at *at)
{
    struct hs_moves_rules *rules = &l->ruleset->moves;
    const json_t *value;
    const char *key;
    if (!hs_load_key_name(l, name, at) || !hs_load_is_object(l, object, at))
        return;
    if (rules->mode_count == HS_MAX_MOVE_MODES) {
        hs_json_bad(l->reader, at, "is one mode too many: at most %d", HS_MAX_MOVE_MODES);
        return;
    }
    struct hs_move_mode *mode = &rules->modes[rules->mode_count++];
    *mode = (struct hs_move_mode){0};
    hs_name_set(&mode->name, hs_load_str(name));
    hs_load_defaults(hs_move_mode_scalars, hs_move_mode_scalar_count, mode);
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        const struct hs_scalar *scalar =
            hs_load_find_scalar(hs_move_mode_scalars, hs_move_mode_scalar_count, NULL, key);
        if (scalar != NULL)
            hs_load_scalar(l, scalar, value, &here, mode);
        else
            hs_load_refuse_unknown(l, key, &here);
    }
}

/* The modes of a document take the place of the built-in ones, all of them. */
static void read_modes(struct hs_loading *l, const json_t *object, const struct hs_json_at *at)
{
    const json_t *value;
    const char *key;
    if (!hs_load_is_object(l, object, at))
        return;
    l->ruleset->moves.mode_count = 0;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        read_mode(l, key, value, &here);
    }
}

static void read_prevention(struct hs_loading *l, const json_t *value, const struct hs_json_at *at)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    if (text.ptr == NULL || !hs_prevention_parse(text, &l->ruleset->moves.prevention))
        hs_json_bad(l->reader, at, "must be credit or resolution");
}

bool hs_load_moves_member(struct hs_loading *l, const char *key, const json_t *value,
                          const struct hs_json_at *at)
{
    if (strcmp(key, "prevention") == 0)
        read_prevention(l, value, at);
    else if (strcmp(key, "modes") == 0)
        read_modes(l, value, at);
    else
        return false;
    return true;
}
