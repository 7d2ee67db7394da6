/* The pieces that all parts of a ruleset document are read with. */
#include "api/rulesets/load.h"

#include <string.h>

struct hs_str hs_load_str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

void hs_load_refuse_unknown(struct hs_loading *l, const char *key, const struct hs_json_at *at)
{
    if (strncmp(key, "x_", 2) != 0)
        hs_json_bad(l->reader, at, "is not a field of a ruleset");
}

/* Refuses every member that is not in the list. */
void hs_load_refuse_others(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                           const char *const *members, size_t count)
{
    const json_t *value;
    const char *key;
    HS_FOR_EACH(object, key, value)
    {
        struct hs_json_at here = {.parent = at, .key = key};
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(members[i], key) == 0;
        if (!known)
            hs_load_refuse_unknown(l, key, &here);
    }
}

bool hs_load_is_object(struct hs_loading *l, const json_t *value, const struct hs_json_at *at)
{
    if (!json_is_object(value))
        hs_json_bad(l->reader, at, "must be an object");
    return json_is_object(value);
}

bool hs_load_key_name(struct hs_loading *l, const char *key, const struct hs_json_at *at)
{
    if (!hs_name_is_valid(hs_load_str(key))) {
        hs_json_bad(l->reader, at, "must be named with 1 to 64 characters of [A-Za-z0-9_.:-]");
        return false;
    }
    return true;
}

/* ---- scalars ---- */

void hs_load_scalar(struct hs_loading *l, const struct hs_scalar *scalar, const json_t *value,
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

const struct hs_scalar *hs_load_find_scalar(const struct hs_scalar *table, size_t count,
                                            const char *section, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if ((section == NULL || strcmp(table[i].section, section) == 0) &&
            strcmp(table[i].key, key) == 0)
            return &table[i];
    return NULL;
}

void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base)
{
    for (size_t i = 0; i < count; i++)
        hs_scalar_set(&table[i], base, table[i].initial);
}
