/* The pieces that all parts of a ruleset document are read with. */
#include "api/rulesets/load.h"

#include <string.h>

void hs_load_entries(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                     hs_load_entry *entry, void *target)
{
    json_t *members = (json_t *)(uintptr_t)object;
    if (!hs_load_is_object(l, object, at))
        return;
    for (void *it = json_object_iter(members); it != NULL;
         it = json_object_iter_next(members, it)) {
        struct hs_json_at here = {.parent = at, .key = json_object_iter_key(it)};
        entry(l, here.key, json_object_iter_value(it), &here, target);
    }
}

struct known {
    const char *const *members;
    size_t count;
};

static void refuse_other(struct hs_loading *l, const char *key, const json_t *value,
                         const struct hs_json_at *at, void *target)
{
    const struct known *known = target;
    (void)value;
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->members[i], key) == 0)
            return;
    hs_json_refuse_unknown(l->reader, at, key);
}

void hs_load_refuse_others(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                           const char *const *members, size_t count)
{
    struct known known = {members, count};
    hs_load_entries(l, object, at, refuse_other, &known);
}

bool hs_load_is_object(struct hs_loading *l, const json_t *value, const struct hs_json_at *at)
{
    if (!json_is_object(value))
        hs_json_bad(l->reader, at, "must be an object");
    return json_is_object(value);
}

bool hs_load_key_name(struct hs_loading *l, const char *key, const struct hs_json_at *at)
{
    bool is_valid = hs_name_is_valid(hs_str_of(key));
    if (!is_valid)
        hs_json_bad(l->reader, at, "must be named with 1 to 64 characters of [A-Za-z0-9_.:-]");
    return is_valid;
}

/* ---- scalars ---- */

static void read_scalar(struct hs_reader *reader, const struct hs_scalar *scalar,
                        const json_t *value, const struct hs_json_at *at, void *base)
{
    double number;
    if (scalar->kind == HS_SCALAR_BOOL) {
        if (!json_is_boolean(value))
            hs_json_bad(reader, at, "must be true or false");
        else
            hs_scalar_set(scalar, base, json_is_true(value) ? 1 : 0);
    } else if (scalar->kind == HS_SCALAR_COUNT && !json_is_integer(value)) {
        hs_json_bad(reader, at, "must be an integer");
    } else if (hs_json_read_real(reader, value, at, scalar->low, scalar->high, &number)) {
        hs_scalar_set(scalar, base, number);
    }
}

bool hs_load_scalar(struct hs_reader *reader, const struct hs_scalar *table, size_t count,
                    const char *section, const char *key, const json_t *value,
                    const struct hs_json_at *at, void *base)
{
    for (size_t i = 0; i < count; i++) {
        if ((section != NULL && strcmp(table[i].section, section) != 0) ||
            strcmp(table[i].key, key) != 0)
            continue;
        read_scalar(reader, &table[i], value, at, base);
        return true;
    }
    return false;
}

void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base)
{
    for (size_t i = 0; i < count; i++)
        hs_scalar_set(&table[i], base, table[i].initial);
}
