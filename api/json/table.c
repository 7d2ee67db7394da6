#include "api/json/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    *out = number == 0 ? 0 : number; /* -0 becomes 0, because -0 does not read back as it is
                                        written */
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

/* Writes "must be a, b or c". More than four words are written without commas. */
static void refuse_word(struct hs_reader *reader, const struct hs_json_at *at,
                        const struct hs_vocabulary *words, int low)
{
    char text[HS_DETAIL_MAX];
    bool is_long = words->count - low > 4;
    int len = snprintf(text, sizeof text, is_long ? "must be one of" : "must be");
    for (int i = low; i < words->count; i++) {
        const char *before = is_long || i == low ? " " : i + 1 < words->count ? ", " : " or ";
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%s", before, words->names[i]);
    }
    hs_json_bad(reader, at, "%s", text);
}

bool hs_json_read_word(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_vocabulary *words, int low, int *out)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    int found = hs_vocabulary_find(words, text);
    if (found < low)
        refuse_word(reader, at, words, low);
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

/* Whether the request already fails and can record no more faults, so that nothing more needs to be
   read. */
static bool is_lost(const struct hs_reader *reader)
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
    if (is_lost(reader))
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

size_t hs_json_real_count(const struct hs_json_field *field)
{
    return field->kind == HS_JSON_VEC ? 3 : field->count;
}

void hs_json_put_reals(struct hs_reader *reader, const struct hs_json_at *at,
                       const struct hs_json_field *field, const double *v, void *target)
{
    float *floats = target;
    size_t count = hs_json_real_count(field);
    if (field->kind != HS_JSON_FLOATS)
        memcpy(target, v, count * sizeof *v);
    for (size_t i = 0; field->kind == HS_JSON_FLOATS && i < count; i++)
        floats[i] = (float)v[i];
    if (field->kind == HS_JSON_VEC && field->check != NULL)
        field->check(reader, at, v);
}

/* Reads a value of kind REALS, FLOATS or VEC. */
static void read_reals(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_json_field *field, void *target)
{
    double v[10] = {0};
    if (hs_json_read_reals(reader, value, at, hs_json_real_count(field), v))
        hs_json_put_reals(reader, at, field, v, target);
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

/* Returns the index of a member in its table, or the table's count. Starts at `from`, because most
   requests have their members in the order of the table. */
static size_t find_field(const struct hs_json_object *table, size_t from, const char *key)
{
    for (size_t i = from; i < table->count; i++)
        if (strcmp(table->fields[i].name, key) == 0)
            return i;
    for (size_t i = 0; i < from; i++)
        if (strcmp(table->fields[i].name, key) == 0)
            return i;
    return table->count;
}

void hs_json_mark_present(const struct hs_json_object *table, const struct hs_json_field *field,
                          void *target)
{
    if (field->bit != 0)
        *(unsigned *)(void *)((char *)target + table->bits_offset) |= field->bit;
    if (field->flag != 0)
        *((bool *)target + field->flag) = true;
}

static void read_member(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
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
        size_t i = find_field(table, next, key);
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
            read_member(reader, inner, &here, table, i, target);
    }
    for (size_t i = 0; i < table->count; i++) {
        const char *key = table->fields[i].name;
        struct hs_json_at here = {.parent = at, .key = key};
        bool is_present = seen >> i & 1;
        if (table->in_order && (is_present || table->fields[i].kind == HS_JSON_CUSTOM))
            read_member(reader, json_object_get(value, key), &here, table, i, target);
        if (table->fields[i].required && !is_present)
            hs_json_bad(reader, &here, "is required");
    }
    if (table->finish != NULL)
        table->finish(reader, value, at, target);
}

static bool occurs_before(const json_t *names, size_t end)
{
    const char *name = json_string_value(json_array_get(names, end));
    for (size_t i = 0; i < end; i++) {
        const char *other = json_string_value(json_array_get(names, i));
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* ---- tables ---- */

size_t hs_json_find_column(const struct hs_json_columns *columns, const char *key)
{
    size_t field = find_field(columns->table, 0, key), i = 0;
    while (i < columns->count && columns->fields[i] != field)
        i++;
    return field < columns->table->count ? i : columns->count;
}

/* Returns the number of faults of the present item, or of the request. */
static size_t fault_count(const struct hs_reader *reader)
{
    return reader->item != NULL ? reader->item->kept + reader->item->left_out
                                : reader->problem->count + reader->problem->left_out;
}

/* Reads the names of columns. Each must be in the table or begin with x_, none may occur twice, and
   the required names must be present. False: recorded faults. */
static bool read_columns(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, struct hs_json_columns *out)
{
    size_t before = fault_count(reader), max = sizeof out->fields / sizeof out->fields[0];
    uint64_t seen = 0;
    *out = (struct hs_json_columns){.table = table, .count = json_array_size(value)};
    if (!json_is_array(value) || out->count < 1 || out->count > max) {
        hs_json_bad(reader, at, "must be an array of 1 to %zu names", max);
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const char *name = json_string_value(json_array_get(value, i));
        if (name == NULL) {
            hs_json_bad(reader, &here, "must be the name of a field");
            continue;
        }
        size_t field = find_field(table, 0, name);
        if (occurs_before(value, i))
            hs_json_bad(reader, &here, "is listed twice");
        else if (field == table->count)
            hs_json_refuse_unknown(reader, &here, name);
        else
            seen |= UINT64_C(1) << field;
        out->fields[i] = (uint8_t)field;
    }
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].required && !(seen >> i & 1))
            hs_json_bad(reader, at, "must name %s", table->fields[i].name);
    return fault_count(reader) == before;
}

/* Decodes the row of one object into `target`. A null stands for an absent member. The columns are
   in `at`. */
static void read_row(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                     void *target)
{
    const struct hs_json_columns *columns = at->columns;
    const struct hs_json_object *table = columns->table;
    if (!json_is_array(value) || json_array_size(value) != columns->count) {
        hs_json_bad(reader, at, "must be an array of %zu values, one for each column",
                    columns->count);
        return;
    }
    for (size_t i = 0; i < columns->count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *cell = json_array_get(value, i);
        size_t field = columns->fields[i];
        if (field == table->count)
            continue;
        if (!json_is_null(cell))
            read_member(reader, cell, &here, table, field, target);
        else if (table->fields[field].required)
            hs_json_bad(reader, &here, "must not be null");
    }
    if (table->finish != NULL)
        table->finish(reader, value, at, target);
}

/* ---- batches ---- */

/* A batch that is being read. */
struct batch {
    const struct hs_json_list *list;
    const struct hs_json_at *at;           /* position of the batch; NULL: the body itself is the
                                              table */
    const struct hs_json_at *array;        /* position of the array of items or rows */
    const struct hs_json_columns *columns; /* NULL: the items are objects, not rows */
};

/* Returns the member of an item with this name, or NULL. */
static const json_t *find_member(const struct hs_json_columns *columns, const json_t *item,
                                 const char *key)
{
    if (columns == NULL || key == NULL)
        return json_object_get(item, key);
    return json_array_get(item, hs_json_find_column(columns, key));
}

/* Adds an item to the list of malformed items, with its name and number if these can be read. */
static void list_malformed(struct hs_reader *reader, const struct batch *batch, const json_t *value,
                           size_t index, const struct hs_malformed *found)
{
    enum hs_item kind = batch->list->batch;
    struct hs_malformed_items *items = reader->malformed;
    struct hs_malformed *item = hs_arena_alloc(reader->arena, 1, sizeof *item);
    if (item == NULL) {
        reader->no_memory = true;
        return;
    }
    const json_t *who = find_member(batch->columns, value, hs_item_kinds[kind].name_key);
    const json_t *number = find_member(batch->columns, value, hs_item_kinds[kind].number_key);
    struct hs_str name = {json_string_value(who), json_string_length(who)};
    *item = *found;
    if (hs_name_is_valid(name))
        item->who = name;
    item->number = -1;
    if (json_is_integer(number) && json_integer_value(number) <= HS_JSON_INT_MAX)
        item->number = json_integer_value(number); /* a negative number also means "not readable" */
    item->index = index;
    const struct hs_json_at *frame = batch->at != NULL ? batch->at->parent : NULL;
    item->frame = frame != NULL ? frame->index : 0;
    if (items->lists[kind].last != NULL)
        items->lists[kind].last->next = item;
    else
        items->lists[kind].first = item;
    items->lists[kind].last = item;
    items->lists[kind].count++;
    items->count++;
}

/* Reads an item. False: it is malformed, and is listed. */
static bool read_item(struct hs_reader *reader, const struct batch *batch, const json_t *value,
                      size_t index, void *target)
{
    const struct hs_json_list *list = batch->list;
    const struct hs_json_at here = {
        .parent = batch->array, .index = index, .columns = batch->columns};
    struct hs_malformed found = {.errors = NULL}, *outer = reader->item;
    found.append = &found.errors;
    reader->item = reader->malformed != NULL ? &found : NULL;
    if (list->initial != NULL)
        memcpy(target, list->initial, list->size);
    if (batch->columns != NULL)
        read_row(reader, value, &here, target);
    else
        hs_json_read_field(reader, value, &here, &list->item, target);
    reader->item = outer;
    if (found.kept + found.left_out == 0)
        return true;
    list_malformed(reader, batch, value, index, &found);
    return false;
}

static void *read_items(struct hs_reader *reader, const struct batch *batch, const json_t *value,
                        size_t *count)
{
    size_t total, size = batch->list->size;
    char *items =
        hs_json_read_array(reader, value, batch->array, 0, reader->max_items, size, &total);
    *count = 0;
    for (size_t i = 0; items != NULL && i < total; i++) {
        char *target = items + *count * size;
        if (read_item(reader, batch, json_array_get(value, i), i, target)) {
            ++*count;
            continue;
        }
        memset(target, 0, size);
        if (!is_lost(reader))
            continue;
        reader->item = NULL; /* the fault belongs to the whole list, not to an item */
        hs_json_bad(reader, batch->array, "more than %zu items are malformed", reader->max_items);
        *count = 0;
        return NULL;
    }
    return items;
}

void *hs_json_read_table(struct hs_reader *reader, const struct hs_json_table *value,
                         const struct hs_json_at *at, const struct hs_json_list *list,
                         size_t *count)
{
    const struct hs_json_at columns_at = {.parent = at, .key = "columns"},
                            rows_at = {.parent = at, .key = "rows"};
    struct hs_json_columns columns;
    *count = 0;
    if (!read_columns(reader, value->columns, &columns_at, list->item.object, &columns))
        return NULL;
    const struct batch batch = {list, at, &rows_at, &columns};
    return read_items(reader, &batch, value->rows, count);
}

void *hs_json_read_batch(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_list *list, size_t *count)
{
    static const struct hs_json_field fields[] = {
        {"columns", HS_JSON_ANY, true, .offset = offsetof(struct hs_json_table, columns)},
        {"rows", HS_JSON_ANY, true, .offset = offsetof(struct hs_json_table, rows)},
    };
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    const struct batch batch = {list, at, at, NULL};
    struct hs_json_table table = {NULL, NULL};
    *count = 0;
    if (json_is_array(value))
        return read_items(reader, &batch, value, count);
    if (json_object_get(value, "columns") == NULL && json_object_get(value, "rows") == NULL) {
        hs_json_bad(reader, at, "must be an array, or an object with columns and rows");
        return NULL;
    }
    hs_json_read_object(reader, value, at, &object, &table);
    if (table.columns == NULL || table.rows == NULL)
        return NULL;
    return hs_json_read_table(reader, &table, at, list, count);
}
