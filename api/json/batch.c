#include "api/json/batch.h"

#include <stddef.h>
#include <string.h>

/* ---- columns and rows ---- */

size_t hs_json_find_column(const struct hs_json_columns *columns, const char *key)
{
    size_t field = hs_json_find_field(columns->table, 0, key), i = 0;
    while (i < columns->count && columns->fields[i] != field)
        i++;
    return field < columns->table->count ? i : columns->count;
}

/* Returns the number of faults in the current item, or in the request if no item is being read. */
static size_t fault_count(const struct hs_reader *reader)
{
    return reader->item != NULL ? reader->item->kept + reader->item->left_out
                                : reader->problem->count + reader->problem->left_out;
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

/* Reads the names of the columns. Each name must be in the table or begin with x_. No name may
   occur twice. The names of all required members must be present. Returns false if faults were
   recorded. */
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
        size_t field = hs_json_find_field(table, 0, name);
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

/* Decodes the row of one object into `target`. The columns are in at->columns. */
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
            hs_json_read_member(reader, cell, &here, table, field, target);
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
    /* Position of the batch; NULL: the whole body is a table. */
    const struct hs_json_at *at;
    const struct hs_json_at *array; /* position of the array of items or rows */
    /* The columns of the rows; NULL: the items are objects. */
    const struct hs_json_columns *columns;
};

/* Returns the member with this name in an item, or NULL. */
static const json_t *find_member(const struct hs_json_columns *columns, const json_t *item,
                                 const char *key)
{
    if (columns == NULL || key == NULL)
        return json_object_get(item, key);
    /* The number of elements in a malformed row may differ from the number of columns. */
    size_t i = hs_json_find_column(columns, key);
    return i < columns->count ? json_array_get(item, i) : NULL;
}

/* Adds an item to the list of malformed items. Also stores the item's name and number if they can
   be read. */
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
        /* Keep a negative number, because every negative number means "not readable". */
        item->number = json_integer_value(number);
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

/* Reads an item. If the item is malformed, adds the item to the list of malformed items and returns
   false. */
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
        if (!hs_json_is_lost(reader))
            continue;
        reader->item = NULL; /* this fault belongs to the whole list, not to an item */
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
