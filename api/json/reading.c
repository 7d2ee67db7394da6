#include "api/json/reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "validators/base/units.h"
#include "validators/ruleset.h"

/* ---- memory ---- */

/* An allocation of the library failed in this thread. Only one of the library's errors reports
   this. */
static _Thread_local bool is_out;

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    is_out = is_out || memory == NULL;
    return memory;
}

void hs_json_init(void)
{
    json_set_alloc_funcs(allocate, free);
    json_object_seed(0);
}

json_t *hs_json_load(struct hs_str text, size_t flags, json_error_t *error, bool *no_memory)
{
    is_out = false;
    json_t *value = json_loadb(text.ptr != NULL ? text.ptr : "", text.len, flags, error);
    *no_memory = value == NULL && (is_out || json_error_code(error) == json_error_out_of_memory);
    return value;
}

/* ---- text ---- */

/* An object takes some 250 bytes when it is parsed, an array 100, however few of the text it has.
   Those of requests have at least so many of the text; a little is let pass. */
enum { BYTES_PER_OBJECT = 12, BYTES_PER_ARRAY = 4, LET_PASS = 4096 };

/*
 * The byte at which a text nests too deep, or its length. Blind to syntax but for strings.
 * *containers: the bytes its objects and arrays should have.
 */
static size_t find_too_deep(struct hs_str text, size_t *containers)
{
    size_t depth = 0;
    bool in_string = false;
    *containers = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            *containers += c == '{' ? BYTES_PER_OBJECT : BYTES_PER_ARRAY;
            if (++depth > HS_JSON_MAX_DEPTH)
                return i;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return text.len;
}

static bool has_byte_order_mark(struct hs_str text)
{
    return text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0;
}

static void report_parse_error(struct hs_str body, const json_error_t *error,
                               struct hs_problem *problem)
{
    const char *fault = NULL;
    switch (json_error_code(error)) {
    case json_error_duplicate_key:
        fault = "stands twice in the same object";
        break;
    case json_error_numeric_overflow:
        fault = "must be a finite number in range";
        break;
    case json_error_null_character:
        fault = "must not contain a NUL character";
        break;
    default:
        hs_problem_set(problem, HS_PROBLEM_MALFORMED_JSON, "line %d, column %d: %s", error->line,
                       error->column, error->text);
        return;
    }
    char pointer[HS_POINTER_MAX];
    hs_json_pointer_at(body, error->position > 0 ? (size_t)error->position : 0, pointer);
    hs_problem_add(problem, pointer, "%s", fault);
}

json_t *hs_json_parse(struct hs_str body, struct hs_problem *problem)
{
    if (has_byte_order_mark(body)) {
        hs_problem_set(problem, HS_PROBLEM_MALFORMED_JSON,
                       "the body begins with a byte order mark");
        return NULL;
    }
    size_t containers, deep = find_too_deep(body, &containers);
    if (deep < body.len) {
        char pointer[HS_POINTER_MAX];
        hs_json_pointer_at(body, deep, pointer);
        hs_problem_add(problem, pointer, "nested deeper than %d", HS_JSON_MAX_DEPTH);
        return NULL;
    }
    if (containers > body.len + LET_PASS) {
        hs_problem_add(problem, "", "has too many objects and arrays for its %zu bytes", body.len);
        return NULL;
    }
    json_error_t error;
    bool no_memory;
    json_t *root = hs_json_load(body, JSON_REJECT_DUPLICATES, &error, &no_memory);
    if (no_memory) {
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
        return NULL;
    }
    if (root == NULL) {
        report_parse_error(body, &error, problem);
        return NULL;
    }
    if (!json_is_object(root)) {
        hs_problem_add(problem, "", "must be an object");
        json_decref(root);
        return NULL;
    }
    return root;
}

/* ---- pointers ---- */

static size_t write_pointer(const struct hs_json_at *at, char *out, size_t size)
{
    if (at == NULL || (at->parent == NULL && at->key == NULL))
        return 0;
    size_t len = write_pointer(at->parent, out, size);
    int more = at->key == NULL ? snprintf(out + len, size - len, "/%zu", at->index)
                               : snprintf(out + len, size - len, "/");
    len += more > 0 ? (size_t)more : 0;
    for (const char *c = at->key; c != NULL && *c != '\0' && len + 3 < size; c++) {
        if (*c == '~' || *c == '/')
            out[len++] = '~';
        out[len++] = *c == '~' ? '0' : *c == '/' ? '1' : *c;
    }
    len = len < size ? len : size - 1;
    out[len] = '\0';
    return len;
}

/* Nothing of the request is used any more. */
static bool is_lost(const struct hs_reader *reader)
{
    return reader->problem->count == HS_PROBLEM_MAX ||
           (reader->malformed != NULL && reader->malformed->count > reader->max_items);
}

static char *copy_text(struct hs_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = hs_arena_alloc(arena, size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static bool keeps_error(const struct hs_reader *reader)
{
    const struct hs_malformed *item = reader->item;
    return item->kept == 0 ||
           (item->kept < HS_ITEM_ERRORS_MAX && reader->malformed->errors < HS_PROBLEM_MAX);
}

static void add_item_error(struct hs_reader *reader, const char *pointer, const char *detail)
{
    struct hs_malformed *item = reader->item;
    struct hs_item_error *error = hs_arena_alloc(reader->arena, 1, sizeof *error);
    if (error != NULL) {
        error->pointer = copy_text(reader->arena, pointer);
        error->detail = copy_text(reader->arena, detail);
    }
    if (error == NULL || error->pointer == NULL || error->detail == NULL) {
        reader->no_memory = true;
        item->left_out++;
        return;
    }
    *item->append = error;
    item->append = &error->next;
    item->kept++;
    reader->malformed->errors++;
}

void hs_json_bad(struct hs_reader *reader, const struct hs_json_at *at, const char *format, ...)
{
    struct hs_malformed *item = reader->item;
    if (item != NULL ? !keeps_error(reader) : reader->problem->count == HS_PROBLEM_MAX) {
        ++*(item != NULL ? &item->left_out : &reader->problem->left_out);
        return;
    }
    char pointer[HS_POINTER_MAX] = "", detail[HS_DETAIL_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    write_pointer(at, pointer, sizeof pointer);
    if (item != NULL)
        add_item_error(reader, pointer, detail);
    else
        hs_problem_add(reader->problem, pointer, "%s", detail);
}

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
    *out = number == 0 ? 0 : number; /* -0 would be written as -0 and read back as 0 */
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

static void read_integer(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_field *field, char *target)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value)) {
        hs_json_bad(reader, at, "must be an integer");
    } else if ((double)number < field->low || (double)number > field->high) {
        hs_json_bad(reader, at, "must be from %.0f to %.0f", field->low, field->high);
    } else if (field->kind == HS_JSON_INT32) {
        *(int32_t *)(void *)target = (int32_t)number;
    } else {
        *(int64_t *)(void *)target = number;
    }
}

static void read_seconds(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_field *field, char *target)
{
    double seconds;
    if (!hs_json_read_real(reader, value, at, field->low, field->high, &seconds))
        return;
    int64_t us = hs_seconds_to_us(seconds);
    if (field->kind == HS_JSON_SECONDS)
        *(int64_t *)(void *)target = us;
    else
        *(int32_t *)(void *)target = (int32_t)us;
}

static void read_field(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_json_field *field, char *base)
{
    char *target = base + field->offset;
    switch (field->kind) {
    case HS_JSON_NAME_OR_NULL:
        if (json_is_null(value))
            return;
        hs_json_read_name(reader, value, at, (struct hs_str *)(void *)target);
        return;
    case HS_JSON_NAME:
        hs_json_read_name(reader, value, at, (struct hs_str *)(void *)target);
        return;
    case HS_JSON_REAL:
        hs_json_read_real(reader, value, at, field->low, field->high, (double *)(void *)target);
        return;
    case HS_JSON_REALS:
        hs_json_read_reals(reader, value, at, field->count, (double *)(void *)target);
        return;
    case HS_JSON_SECONDS:
    case HS_JSON_SHORT_SECONDS:
        read_seconds(reader, value, at, field, target);
        return;
    case HS_JSON_INT:
    case HS_JSON_INT32:
        read_integer(reader, value, at, field, target);
        return;
    case HS_JSON_BOOL:
        if (json_is_boolean(value))
            *(bool *)(void *)target = json_is_true(value);
        else
            hs_json_bad(reader, at, "must be true or false");
        return;
    case HS_JSON_CUSTOM:
        field->decode(reader, value, at, base);
        return;
    }
}

/* The place of a member in its table; the table's count: there is none. */
static size_t find_field(const struct hs_json_object *table, const char *key)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->fields[i].name, key) != 0)
        i++;
    return i;
}

static void read_member(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        const struct hs_json_object *table, size_t i, void *target)
{
    const struct hs_json_field *field = &table->fields[i];
    if (field->bit != 0)
        *(unsigned *)(void *)((char *)target + table->bits_offset) |= field->bit;
    read_field(reader, value, at, field, target);
}

static void refuse_unknown(struct hs_reader *reader, const struct hs_json_at *at, const char *key)
{
    if (strncmp(key, "x_", 2) != 0)
        hs_json_bad(reader, at, "is not a field of %s",
                    reader->document != NULL ? reader->document : "this request");
}

void hs_json_read_object(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, void *target)
{
    if (!json_is_object(value)) {
        hs_json_bad(reader, at, "must be an object");
        return;
    }
    uint64_t seen = 0;
    for (void *member = json_object_iter((json_t *)(uintptr_t)value); member != NULL;
         member = json_object_iter_next((json_t *)(uintptr_t)value, member)) {
        const char *key = json_object_iter_key(member);
        struct hs_json_at here = {.parent = at, .key = key};
        size_t i = find_field(table, key);
        if (i == table->count) {
            refuse_unknown(reader, &here, key);
            continue;
        }
        seen |= UINT64_C(1) << i;
        read_member(reader, json_object_iter_value(member), &here, table, i, target);
    }
    for (size_t i = 0; i < table->count; i++) {
        struct hs_json_at here = {.parent = at, .key = table->fields[i].name};
        if (table->fields[i].required && !(seen >> i & 1))
            hs_json_bad(reader, &here, "is required");
    }
}

static bool stands_before(const json_t *names, size_t end)
{
    const char *name = json_string_value(json_array_get(names, end));
    for (size_t i = 0; i < end; i++) {
        const char *other = json_string_value(json_array_get(names, i));
        if (other != NULL && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

bool hs_json_read_columns(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, const struct hs_json_object *table,
                          struct hs_json_columns *out)
{
    size_t before = reader->problem->count + reader->problem->left_out;
    size_t most = sizeof out->fields / sizeof out->fields[0];
    uint64_t seen = 0;
    *out = (struct hs_json_columns){.table = table, .count = json_array_size(value)};
    if (!json_is_array(value) || out->count < 1 || out->count > most) {
        hs_json_bad(reader, at, "must be an array of 1 to %zu names", most);
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const char *name = json_string_value(json_array_get(value, i));
        if (name == NULL) {
            hs_json_bad(reader, &here, "must be the name of a field");
            continue;
        }
        size_t field = find_field(table, name);
        if (stands_before(value, i))
            hs_json_bad(reader, &here, "stands twice");
        else if (field == table->count)
            refuse_unknown(reader, &here, name);
        else
            seen |= UINT64_C(1) << field;
        out->fields[i] = (uint8_t)field;
    }
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].required && !(seen >> i & 1))
            hs_json_bad(reader, at, "must name %s", table->fields[i].name);
    return reader->problem->count + reader->problem->left_out == before;
}

void hs_json_read_row(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      const struct hs_json_columns *columns, void *target)
{
    if (!json_is_array(value) || json_array_size(value) != columns->count) {
        hs_json_bad(reader, at, "must be an array of %zu values, one for each column",
                    columns->count);
        return;
    }
    for (size_t i = 0; i < columns->count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *cell = json_array_get(value, i);
        size_t field = columns->fields[i];
        if (field == columns->table->count)
            continue;
        if (!json_is_null(cell))
            read_member(reader, cell, &here, columns->table, field, target);
        else if (columns->table->fields[field].required)
            hs_json_bad(reader, &here, "must not be null");
    }
}

/* ---- batches ---- */

/* A member of an item; NULL: it has none of this name. */
static const json_t *find_member(const struct hs_reader *reader, const json_t *item,
                                 const char *key)
{
    const struct hs_json_columns *columns = reader->columns;
    if (columns == NULL || key == NULL)
        return json_object_get(item, key);
    size_t i = 0, field = find_field(columns->table, key);
    while (i < columns->count && columns->fields[i] != field)
        i++;
    return i < columns->count ? json_array_get(item, i) : NULL;
}

/* Beyond this a double is no longer exact. */
#define LARGEST_NUMBER INT64_C(9007199254740991)

/* Lists an item with bad fields under what can be read of its name and number. */
static void list_malformed(struct hs_reader *reader, const json_t *value, enum hs_item kind,
                           const struct hs_json_at *at, const struct hs_malformed *found)
{
    struct hs_malformed_items *items = reader->malformed;
    struct hs_malformed *item = hs_arena_alloc(reader->arena, 1, sizeof *item);
    if (item == NULL) {
        reader->no_memory = true;
        return;
    }
    const json_t *who = find_member(reader, value, hs_item_name_key(kind));
    const json_t *number = find_member(reader, value, hs_item_number_key(kind));
    struct hs_str name = {json_string_value(who), json_string_length(who)};
    *item = *found;
    if (hs_name_is_valid(name))
        item->who = name;
    item->number = -1;
    if (json_is_integer(number) && json_integer_value(number) <= LARGEST_NUMBER)
        item->number = json_integer_value(number); /* below 0 it is not readable either */
    item->index = at->index;
    const struct hs_json_at *frame = at->parent->parent;
    item->frame = frame != NULL ? frame->index : 0;
    if (items->lists[kind].last != NULL)
        items->lists[kind].last->next = item;
    else
        items->lists[kind].first = item;
    items->lists[kind].last = item;
    items->count++;
}

/* False: the item is malformed. */
static bool read_item(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      enum hs_item kind, hs_json_decode *decode, void *target)
{
    struct hs_malformed found = {.errors = NULL}, *outer = reader->item;
    found.append = &found.errors;
    reader->item = reader->malformed != NULL ? &found : NULL;
    decode(reader, value, at, target);
    reader->item = outer;
    if (found.kept + found.left_out == 0)
        return true;
    list_malformed(reader, value, kind, at, &found);
    return false;
}

void *hs_json_read_batch(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         enum hs_item kind, size_t size, hs_json_decode *decode, size_t *count)
{
    size_t total;
    char *items = hs_json_read_array(reader, value, at, 0, reader->max_items, size, &total);
    *count = 0;
    for (size_t i = 0; items != NULL && i < total; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        char *target = items + *count * size;
        if (read_item(reader, json_array_get(value, i), &here, kind, decode, target)) {
            ++*count;
            continue;
        }
        memset(target, 0, size);
        if (!is_lost(reader))
            continue;
        reader->item = NULL; /* the fault is the request's, also within a frame */
        hs_json_bad(reader, at, "more than %zu items are malformed", reader->max_items);
        return NULL;
    }
    return items;
}
