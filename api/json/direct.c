#include "api/json/direct.h"

#include <string.h>

#include "validators/base/units.h"

enum { FIRST_ITEMS = 16 };

static bool take_field(struct hs_direct *in, const struct hs_json_field *field, void *base);

/* ---- values ---- */

bool hs_direct_take_literal(struct hs_direct *in, const char *word)
{
    struct hs_cursor *cursor = &in->cursor;
    size_t length = strlen(word);
    hs_cursor_skip_space(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

bool hs_direct_take_text(struct hs_direct *in, struct hs_str *out)
{
    struct hs_cursor *cursor = &in->cursor;
    if (!hs_cursor_take(cursor, '"'))
        return false;
    const char *first = cursor->at, *at = first;
    while (at < cursor->end && *at >= ' ' && *at < 127 && *at != '"' && *at != '\\')
        at++;
    if (at == cursor->end || *at != '"')
        return false;
    *out = (struct hs_str){first, (size_t)(at - first)};
    cursor->at = at + 1;
    return true;
}

static bool take_real(struct hs_direct *in, double low, double high, double *out)
{
    double number;
    if (!hs_cursor_take_number(&in->cursor, &number) || !(number >= low && number <= high))
        return false;
    *out = number == 0 ? 0 : number; /* as hs_json_read_real */
    return true;
}

bool hs_direct_take_reals(struct hs_direct *in, size_t low, size_t high, double *out, size_t *count)
{
    *count = 0;
    if (!hs_cursor_take(&in->cursor, '['))
        return false;
    do {
        if (*count == high || !take_real(in, -HS_JSON_REAL_MAX, HS_JSON_REAL_MAX, &out[*count]))
            return false;
        ++*count;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, ']') && *count >= low;
}

static bool take_name(struct hs_direct *in, struct hs_str *out)
{
    return hs_direct_take_text(in, out) && hs_name_is_valid(*out);
}

static bool take_word(struct hs_direct *in, const struct hs_json_field *field, int *out)
{
    struct hs_str text;
    if (!hs_direct_take_text(in, &text))
        return false;
    *out = hs_vocabulary_find(field->words, text);
    return *out >= (int)field->low;
}

static bool take_bool(struct hs_direct *in, bool *out)
{
    *out = hs_direct_take_literal(in, "true");
    return *out || hs_direct_take_literal(in, "false");
}

static bool take_integer(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    uint64_t number;
    if (!hs_cursor_take_whole(&in->cursor, HS_JSON_INT_MAX, &number) ||
        (double)number < field->low || (double)number > field->high)
        return false;
    hs_json_put_integer(field, (int64_t)number, target);
    return true;
}

static bool take_time(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    bool is_short = field->kind == HS_JSON_SHORT_SECONDS;
    double seconds, high = is_short ? field->high : HS_JSON_TIME_MAX;
    if (!take_real(in, is_short ? 0 : -high, high, &seconds))
        return false;
    hs_json_put_integer(field, hs_seconds_to_us(seconds), target);
    return true;
}

/* REALS, FLOATS or VEC. */
static bool take_reals(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    double v[10];
    size_t count = hs_json_real_count(field), found;
    if (!hs_direct_take_reals(in, count, count, v, &found))
        return false;
    hs_json_put_reals(in->reader, NULL, field, v, target);
    return true;
}

/* ---- lists ---- */

void *hs_direct_add(struct hs_direct *in, struct hs_direct_items *items, size_t high)
{
    if (items->count == high)
        return NULL;
    if (items->count == items->capacity) {
        size_t capacity = items->capacity > 0 ? 2 * items->capacity : FIRST_ITEMS;
        char *more = hs_arena_alloc(in->reader->arena, capacity, items->size);
        if (more == NULL)
            return NULL;
        if (items->count > 0)
            memcpy(more, items->items, items->count * items->size);
        items->items = more;
        items->capacity = capacity;
    }
    return items->items + items->count++ * items->size;
}

/* LIST or BATCH. */
static bool take_list(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    const struct hs_json_list *list = field->list;
    bool is_batch = field->kind == HS_JSON_BATCH;
    size_t high = is_batch ? in->reader->max_items : list->high;
    struct hs_direct_items items = {.size = list->size};
    if (!hs_cursor_take(&in->cursor, '['))
        return false;
    if (!hs_cursor_take(&in->cursor, ']')) {
        do {
            void *item = hs_direct_add(in, &items, high);
            if (item == NULL)
                return false;
            if (list->initial != NULL)
                memcpy(item, list->initial, list->size);
            if (!take_field(in, &list->item, item))
                return false;
        } while (hs_cursor_take(&in->cursor, ','));
        if (!hs_cursor_take(&in->cursor, ']'))
            return false;
    } else if (hs_direct_add(in, &items, 1) == NULL) {
        return false; /* an empty list is not NULL */
    } else {
        items.count = 0;
    }
    hs_json_put_list(target, items.items, items.count);
    return is_batch || items.count >= list->low;
}

/* ---- objects ---- */

/* Whether the cursor is at this key. If so, it goes on behind the colon. */
static bool take_key(struct hs_cursor *cursor, const char *key)
{
    const char *at = cursor->at;
    while (at < cursor->end && *key != '\0' && *at == *key) {
        at++;
        key++;
    }
    if (*key != '\0' || at == cursor->end || *at != '"')
        return false;
    cursor->at = at + 1;
    return true;
}

/* The field of the next member, or the table's count. Members mostly come in the table's order. */
static size_t take_member(struct hs_cursor *cursor, const struct hs_json_object *table, size_t from)
{
    if (!hs_cursor_take(cursor, '"'))
        return table->count;
    for (size_t n = 0; n < table->count; n++) {
        size_t i = from + n < table->count ? from + n : from + n - table->count;
        if (take_key(cursor, table->fields[i].name))
            return hs_cursor_take(cursor, ':') ? i : table->count;
    }
    return table->count;
}

static bool take_members(struct hs_direct *in, const struct hs_json_object *table, void *target,
                         uint64_t *seen)
{
    size_t next = 0;
    do {
        size_t i = take_member(&in->cursor, table, next);
        if (i == table->count || (*seen >> i & 1) != 0)
            return false;
        const struct hs_json_field *field = &table->fields[i];
        *seen |= UINT64_C(1) << i;
        next = i + 1 < table->count ? i + 1 : 0;
        hs_json_mark_present(table, field, target);
        if (!take_field(in, field, target))
            return false;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, '}');
}

static bool take_object(struct hs_direct *in, const struct hs_json_object *table, void *target)
{
    uint64_t seen = 0;
    if (table->in_order || table->scalars != NULL || !hs_cursor_take(&in->cursor, '{'))
        return false;
    if (!hs_cursor_take(&in->cursor, '}') && !take_members(in, table, target, &seen))
        return false;
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].required && !(seen >> i & 1))
            return false;
    if (table->finish != NULL)
        table->finish(in->reader, NULL, NULL, target);
    return in->reader->problem->count == 0;
}

static bool take_field(struct hs_direct *in, const struct hs_json_field *field, void *base)
{
    void *target = (char *)base + field->offset;
    switch (field->kind) {
    case HS_JSON_NAME:
        return take_name(in, target);
    case HS_JSON_NAME_OR_NULL:
        return hs_direct_take_literal(in, "null") || take_name(in, target);
    case HS_JSON_ENUM:
        return take_word(in, field, target);
    case HS_JSON_BOOL:
        return take_bool(in, target);
    case HS_JSON_INT:
    case HS_JSON_INT32:
        return take_integer(in, field, target);
    case HS_JSON_REAL:
        return take_real(in, field->low, field->high, target);
    case HS_JSON_REALS:
    case HS_JSON_FLOATS:
    case HS_JSON_VEC:
        return take_reals(in, field, target);
    case HS_JSON_TIME:
    case HS_JSON_NEAREST_TIME:
    case HS_JSON_SHORT_SECONDS:
        return take_time(in, field, target);
    case HS_JSON_OBJECT:
        return take_object(in, field->object, target);
    case HS_JSON_LIST:
    case HS_JSON_BATCH:
        return take_list(in, field, target);
    case HS_JSON_CUSTOM:
        return field->take != NULL && field->take(in, target);
    case HS_JSON_ELEMENTS:
    case HS_JSON_ENTRIES:
    case HS_JSON_ANY:
        break;
    }
    return false;
}

bool hs_json_read_directly(struct hs_reader *reader, struct hs_str body,
                           const struct hs_json_object *table, void *target)
{
    struct hs_problem unused; /* the rules write their faults here, which are not used */
    struct hs_reader own = {
        .problem = &unused, .arena = reader->arena, .max_items = reader->max_items};
    struct hs_direct in = {{body.ptr, body.ptr + body.len}, &own};
    hs_problem_init(&unused);
    if (body.len == 0 || !take_object(&in, table, target))
        return false;
    hs_cursor_skip_space(&in.cursor);
    return in.cursor.at == in.cursor.end;
}
