#include "api/json/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/json/batch.h"
#include "validators/base/units.h"
#include "validators/ruleset.h"

/* ---- values ---- */

bool hs_json_read_real(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       double low, double high, double *out)
{
    if (!json_is_number(value)) {
        hs_json_bad(reader, at, "must be a finite number");
        return false;
    }
    double number = json_number_value(value);
    if (!(number >= low && number <= high)) {
        hs_json_bad(reader, at, "must be from %g to %g", low, high);
        return false;
    }
    /* Turn -0 into 0, so that the number stays the same if it is written and read again. */
    *out = number == 0 ? 0 : number;
    return true;
}

bool hs_json_read_reals(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        size_t count, double *out)
{
    if (!json_is_array(value) || json_array_size(value) != count) {
        hs_json_bad(reader, at, "must be an array of %zu numbers", count);
        return false;
    }
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        struct hs_json_at element = {.parent = at, .index = i};
        fine = hs_json_read_real(reader, json_array_get(value, i), &element, -HS_JSON_REAL_MAX,
                                 HS_JSON_REAL_MAX, &out[i]) &&
               fine;
    }
    return fine;
}

bool hs_json_read_name(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       struct hs_str *out)
{
    struct hs_str name = {json_string_value(value), json_string_length(value)};
    if (!hs_name_is_valid(name)) {
        hs_json_bad(reader, at, "must be 1 to 64 characters of [A-Za-z0-9_.:-]");
        return false;
    }
    *out = name;
    return true;
}

const char *hs_json_words(const struct hs_vocabulary *words, int low, char text[HS_DETAIL_MAX])
{
    bool is_long = words->count - low > 4;
    int len = snprintf(text, HS_DETAIL_MAX, is_long ? "must be one of" : "must be");
    for (int i = low; i < words->count; i++) {
        const char *before = is_long || i == low ? " " : i + 1 < words->count ? ", " : " or ";
        len += snprintf(text + len, HS_DETAIL_MAX - (size_t)len, "%s%s", before, words->names[i]);
    }
    return text;
}

bool hs_json_read_word(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_vocabulary *words, int low, int *out)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    char wanted[HS_DETAIL_MAX];
    int found = hs_vocabulary_find(words, text);
    if (found < low)
        hs_json_bad(reader, at, "%s", hs_json_words(words, low, wanted));
    else
        *out = found;
    return found >= low;
}

void hs_json_check_direction(struct hs_reader *reader, const struct hs_json_at *at,
                             const double v[3])
{
    double length = hs_vec_length((struct hs_vec){v[0], v[1], v[2]});
    if (!(length > 1e-100 && length < 1e100))
        hs_json_bad(reader, at, "must be a direction, not 0 and not huge");
}

bool hs_json_is_lost(const struct hs_reader *reader)
{
    return reader->problem->count == HS_PROBLEM_MAX ||
           (reader->malformed != NULL && reader->malformed->count > reader->max_items);
}

void *hs_json_read_array(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         size_t low, size_t high, size_t size, size_t *count)
{
    *count = 0;
    if (!json_is_array(value)) {
        hs_json_bad(reader, at, "must be an array");
        return NULL;
    }
    size_t n = json_array_size(value);
    if (n < low || n > high) {
        hs_json_bad(reader, at, "must have from %zu to %zu elements", low, high);
        return NULL;
    }
    if (hs_json_is_lost(reader))
        return NULL;
    void *items = hs_arena_alloc(reader->arena, n + 1, size);
    if (items == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    *count = n;
    return items;
}

void hs_json_read_elements(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, size_t low, size_t high, const char *items,
                           hs_json_decode *decode, void *target)
{
    size_t count = json_array_size(value);
    char range[32] = "";
    if (low < high)
        snprintf(range, sizeof range, "%zu to ", low);
    if (!json_is_array(value) || count < low || count > high) {
        hs_json_bad(reader, at, "must be an array of %s%zu %s",
                    low == 0 && high > 0 ? "at most " : range, high, items);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        decode(reader, json_array_get(value, i), &here, target);
    }
}

void hs_json_read_entries(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, hs_json_decode *decode, void *target)
{
    json_t *members = (json_t *)(uintptr_t)value;
    if (!json_is_object(value))
        hs_json_bad(reader, at, "must be an object");
    for (void *it = json_object_iter(members); it != NULL;
         it = json_object_iter_next(members, it)) {
        struct hs_json_at here = {.parent = at, .key = json_object_iter_key(it)};
        decode(reader, json_object_iter_value(it), &here, target);
    }
}

void hs_json_put_integer(const struct hs_json_field *field, int64_t number, void *target)
{
    if (field->kind == HS_JSON_INT32 || field->kind == HS_JSON_SHORT_SECONDS)
        *(int32_t *)target = (int32_t)number;
    else
        *(int64_t *)target = number;
}

static void read_integer(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_field *field, void *target)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value)) {
        hs_json_bad(reader, at, "must be an integer");
    } else if ((double)number < field->low || (double)number > field->high) {
        hs_json_bad(reader, at, "must be from %.0f to %.0f", field->low, field->high);
    } else {
        hs_json_put_integer(field, number, target);
    }
}

static void read_time(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      const struct hs_json_field *field, void *target)
{
    bool is_short = field->kind == HS_JSON_SHORT_SECONDS,
         nearest = field->kind == HS_JSON_NEAREST_TIME;
    double seconds, high = nearest ? HUGE_VAL : is_short ? field->high : HS_JSON_TIME_MAX;
    if (!hs_json_read_real(reader, value, at, is_short ? 0 : -high, high, &seconds))
        return;
    seconds = fmax(-HS_JSON_TIME_MAX, fmin(HS_JSON_TIME_MAX, seconds));
    hs_json_put_integer(field, hs_seconds_to_us(seconds), target);
}

/* Reads a value of kind REALS, FLOATS or VEC. */
static void read_reals(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_json_field *field, void *target)
{
    double v[10] = {0};
    float *floats = target;
    size_t count = field->kind == HS_JSON_VEC ? 3 : field->count;
    if (!hs_json_read_reals(reader, value, at, count, v))
        return;
    if (field->kind != HS_JSON_FLOATS)
        memcpy(target, v, count * sizeof *v);
    for (size_t i = 0; field->kind == HS_JSON_FLOATS && i < count; i++)
        floats[i] = (float)v[i];
    if (field->kind == HS_JSON_VEC && field->check != NULL)
        field->check(reader, at, v);
}

static bool read_bool(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      bool *out)
{
    if (json_is_boolean(value))
        *out = json_is_true(value);
    else
        hs_json_bad(reader, at, "must be true or false");
    return json_is_boolean(value);
}

void hs_json_put_list(void *target, void *items, size_t count)
{
    memcpy(target, &items, sizeof items);
    memcpy((char *)target + sizeof items, &count, sizeof count);
}

/* Reads a value of kind OBJECT, ENTRIES, ELEMENTS, LIST or BATCH. */
static void read_container(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, const struct hs_json_field *field,
                           void *target)
{
    const struct hs_json_list *list = field->list;
    size_t count = 0;
    char *items;
    if (field->kind == HS_JSON_OBJECT) {
        hs_json_read_object(reader, value, at, field->object, target);
    } else if (field->kind == HS_JSON_ENTRIES) {
        hs_json_read_entries(reader, value, at, field->decode, target);
    } else if (field->kind == HS_JSON_ELEMENTS) {
        hs_json_read_elements(reader, value, at, (size_t)field->low, (size_t)field->high,
                              field->items, field->decode, target);
    } else if (field->kind == HS_JSON_BATCH) {
        items = hs_json_read_batch(reader, value, at, list, &count);
        hs_json_put_list(target, items, count);
    } else {
        items = hs_json_read_array(reader, value, at, list->low, list->high, list->size, &count);
        hs_json_put_list(target, items, count);
        for (size_t i = 0; items != NULL && i < count; i++) {
            struct hs_json_at here = {.parent = at, .index = i};
            hs_json_read_field(reader, json_array_get(value, i), &here, &list->item,
                               items + i * list->size);
        }
    }
}

void hs_json_read_field(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        const struct hs_json_field *field, void *base)
{
    void *target = (char *)base + field->offset;
    switch (field->kind) {
    case HS_JSON_NAME:
    case HS_JSON_NAME_OR_NULL:
        if (field->kind == HS_JSON_NAME || !json_is_null(value))
            hs_json_read_name(reader, value, at, target);
        return;
    case HS_JSON_ENUM:
        hs_json_read_word(reader, value, at, field->words, (int)field->low, target);
        return;
    case HS_JSON_BOOL:
        read_bool(reader, value, at, target);
        return;
    case HS_JSON_INT:
    case HS_JSON_INT32:
        read_integer(reader, value, at, field, target);
        return;
    case HS_JSON_REAL:
        hs_json_read_real(reader, value, at, field->low, field->high, target);
        return;
    case HS_JSON_REALS:
    case HS_JSON_FLOATS:
    case HS_JSON_VEC:
        read_reals(reader, value, at, field, target);
        return;
    case HS_JSON_TIME:
    case HS_JSON_NEAREST_TIME:
    case HS_JSON_SHORT_SECONDS:
        read_time(reader, value, at, field, target);
        return;
    case HS_JSON_OBJECT:
    case HS_JSON_ENTRIES:
    case HS_JSON_ELEMENTS:
    case HS_JSON_LIST:
    case HS_JSON_BATCH:
        read_container(reader, value, at, field, target);
        return;
    case HS_JSON_ANY:
        memcpy(target, &value, sizeof value);
        return;
    case HS_JSON_CUSTOM:
        field->decode(reader, value, at, target);
    }
}

size_t hs_json_find_field(const struct hs_json_object *table, size_t from, const char *key)
{
    for (size_t i = from; i < table->count; i++)
        if (strcmp(table->fields[i].name, key) == 0)
            return i;
    for (size_t i = 0; i < from; i++)
        if (strcmp(table->fields[i].name, key) == 0)
            return i;
    return table->count;
}

void hs_json_read_member(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, size_t i, void *target)
{
    hs_json_mark_present(table, &table->fields[i], target);
    hs_json_read_field(reader, value, at, &table->fields[i], target);
}

void hs_json_refuse_unknown(struct hs_reader *reader, const struct hs_json_at *at, const char *key)
{
    if (strncmp(key, "x_", 2) != 0)
        hs_json_bad(reader, at, "is not a field of %s",
                    reader->document != NULL ? reader->document : "this request");
}

bool hs_json_read_scalar(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_scalar *scalars, size_t count, const char *section,
                         void *base)
{
    const struct hs_scalar *scalar = scalars, *end = scalars + count;
    double number;
    bool flag = false;
    while (scalar < end && (strcmp(scalar->key, at->key) != 0 ||
                            (section != NULL && strcmp(scalar->section, section) != 0)))
        scalar++;
    if (scalar == end)
        return false;
    if (scalar->kind == HS_SCALAR_BOOL) {
        if (read_bool(reader, value, at, &flag))
            hs_scalar_set(scalar, base, flag ? 1 : 0);
    } else if (scalar->kind == HS_SCALAR_COUNT && !json_is_integer(value)) {
        hs_json_bad(reader, at, "must be an integer");
    } else if (hs_json_read_real(reader, value, at, scalar->low, scalar->high, &number)) {
        hs_scalar_set(scalar, base, number);
    }
    return true;
}

void hs_json_read_object(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, void *target)
{
    if (!json_is_object(value)) {
        hs_json_bad(reader, at, "must be an object");
        return;
    }
    uint64_t seen = 0;
    size_t next = 0;
    for (void *member = json_object_iter((json_t *)(uintptr_t)value); member != NULL;
         member = json_object_iter_next((json_t *)(uintptr_t)value, member)) {
        const char *key = json_object_iter_key(member);
        struct hs_json_at here = {.parent = at, .key = key};
        size_t i = hs_json_find_field(table, next, key);
        const json_t *inner = json_object_iter_value(member);
        if (i == table->count) {
            if (table->scalars == NULL || !hs_json_read_scalar(reader, inner, &here, table->scalars,
                                                               *table->scalar_count, NULL, target))
                hs_json_refuse_unknown(reader, &here, key);
            continue;
        }
        next = i + 1;
        seen |= UINT64_C(1) << i;
        if (!table->in_order)
            hs_json_read_member(reader, inner, &here, table, i, target);
    }
    for (size_t i = 0; i < table->count; i++) {
        const char *key = table->fields[i].name;
        struct hs_json_at here = {.parent = at, .key = key};
        bool is_present = seen >> i & 1;
        if (table->in_order && (is_present || table->fields[i].kind == HS_JSON_CUSTOM))
            hs_json_read_member(reader, json_object_get(value, key), &here, table, i, target);
        if (table->fields[i].required && !is_present)
            hs_json_bad(reader, &here, "is required");
    }
    if (table->finish != NULL)
        table->finish(reader, value, at, target);
}
