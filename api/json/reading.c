#include "api/json/reading.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/json/batch.h"

/* ---- memory ---- */

/* Set if an allocation by the JSON library failed in this thread. After such a failure, the library
   usually reports another error. */
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

/* ---- pointers ---- */

/* Appends a step to a JSON pointer, and returns the new length. The step is the name `key`, or
   `index` if key.ptr is NULL. RFC 6901 requires that ~ and / in a name are written as ~0 and ~1. */
static size_t append_step(char pointer[HS_POINTER_MAX], size_t len, struct hs_str key, size_t index)
{
    size_t left = HS_POINTER_MAX - len;
    len += (size_t)(key.ptr == NULL ? snprintf(pointer + len, left, "/%zu", index)
                                    : snprintf(pointer + len, left, "/"));
    for (size_t i = 0; i < key.len && len + 3 < HS_POINTER_MAX; i++) {
        char c = key.ptr[i];
        if (c == '~' || c == '/')
            pointer[len++] = '~';
        pointer[len++] = c == '~' ? '0' : c == '/' ? '1' : c;
    }
    len = len < HS_POINTER_MAX ? len : HS_POINTER_MAX - 1;
    pointer[len] = '\0';
    return len;
}

static size_t write_pointer(const struct hs_json_at *at, char pointer[HS_POINTER_MAX])
{
    if (at == NULL || (at->parent == NULL && at->key == NULL))
        return 0;
    const struct hs_json_columns *columns = at->parent != NULL ? at->parent->columns : NULL;
    size_t len = write_pointer(at->parent, pointer);
    size_t column =
        columns != NULL && at->key != NULL ? hs_json_find_column(columns, at->key) : SIZE_MAX;
    if (columns != NULL && column < columns->count)
        return append_step(pointer, len, (struct hs_str){0}, column);
    return append_step(pointer, len, hs_str_of(at->key), at->index);
}

enum { MAX_LEVELS = HS_JSON_MAX_DEPTH + 1 };

struct level {
    bool is_array;
    bool wants_key; /* the next string is a member's name */
    size_t index;
    struct hs_str key; /* the text of the name between the quotation marks, with its escapes */
};

static size_t string_end(struct hs_str text, size_t at)
{
    for (at++; at < text.len && text.ptr[at] != '"'; at++)
        if (text.ptr[at] == '\\')
            at++;
    return at;
}

static size_t walk(struct hs_str text, size_t offset, struct level *levels)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.len && i < offset; i++) {
        struct level *top = depth > 0 ? &levels[depth - 1] : NULL;
        char c = text.ptr[i];
        if (c == '"') {
            size_t end = string_end(text, i);
            if (top != NULL && top->wants_key) {
                size_t stop = end < text.len ? end : text.len;
                top->key = (struct hs_str){text.ptr + i + 1, stop > i + 1 ? stop - i - 1 : 0};
                top->wants_key = false;
            }
            i = end;
        } else if ((c == '{' || c == '[') && depth < MAX_LEVELS) {
            levels[depth++] = (struct level){.is_array = c == '[', .wants_key = c == '{'};
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && top != NULL) {
            top->index += top->is_array;
            top->wants_key = !top->is_array;
        }
    }
    return depth;
}

void hs_json_pointer_at(struct hs_str text, size_t offset, char pointer[HS_POINTER_MAX])
{
    struct level levels[MAX_LEVELS];
    size_t depth = walk(text, offset, levels), len = 0;
    pointer[0] = '\0';
    for (size_t i = 0; i < depth && (levels[i].is_array || levels[i].key.ptr != NULL); i++)
        len = append_step(pointer, len, levels[i].key, levels[i].index);
}

/* ---- text ---- */

/* Returns the first offset at which a text nests deeper than HS_JSON_MAX_DEPTH. If no part of the
   text is too deep, returns the length of the text. Examines only strings and brackets. Also
   adds HS_JSON_BYTES_PER_OBJECT (reading.h) for each object, and HS_JSON_BYTES_PER_ARRAY for each
   array, and stores the sum in *containers. */
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
            *containers += c == '{' ? HS_JSON_BYTES_PER_OBJECT : HS_JSON_BYTES_PER_ARRAY;
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
        fault = "occurs twice in the same object";
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

static size_t number_end(struct hs_str text, size_t at)
{
    while (at < text.len && text.ptr[at] != '\0' && strchr("+-.0123456789Ee", text.ptr[at]) != NULL)
        at++;
    return at;
}

/* Returns whether the parser refuses a number because its absolute value is too large. */
static bool is_out_of_range(const char *number, size_t len)
{
    errno = 0;
    if (memchr(number, '.', len) == NULL && memchr(number, 'e', len) == NULL &&
        memchr(number, 'E', len) == NULL)
        strtoll(number, NULL, 10);
    else if (fabs(strtod(number, NULL)) < HUGE_VAL)
        errno = 0; /* a number near 0, which strtod also reports as ERANGE */
    return errno == ERANGE;
}

/* Returns the UTF-16 unit of the escape \uXXXX at `at`. Returns 0 if there is no escape of this
   form between `at` and `end`. */
static unsigned unit_at(const char *text, size_t at, size_t end)
{
    char digits[5] = "";
    if (end - at < 6 || text[at] != '\\' || text[at + 1] != 'u')
        return 0;
    memcpy(digits, text + at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (unsigned)strtoul(digits, NULL, 16) : 0;
}

/* Replaces each escaped surrogate outside a pair with the replacement character U+FFFD. */
static void mend_string(char *text, size_t at, size_t end)
{
    for (size_t next; at < end; at = next) {
        unsigned unit = unit_at(text, at, end);
        next = at + (unit != 0 ? 6 : text[at] == '\\' ? 2 : 1);
        if (unit >> 10 == 0xD800 >> 10 && unit_at(text, next, end) >> 10 == 0xDC00 >> 10)
            next += 6;
        else if (unit >> 11 == 0xD800 >> 11) {
            memset(text + at + 2, 'f', 3);
            text[at + 5] = 'd';
        }
    }
}

/*
 * Returns a mended copy of a text, or NULL if memory ran out. A client can send values that make
 * the parser refuse the whole text, although only one item is faulty. The copy contains other
 * values in place of these values. A number that is out of range becomes a string of spaces, which
 * no field accepts. A surrogate outside a pair becomes U+FFFD, which no name contains.
 */
static char *mend_values(struct hs_str text)
{
    char *copy = malloc(text.len + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    for (size_t i = 0, end; i < text.len; i = end) {
        bool is_string = copy[i] == '"';
        end = is_string ? string_end(text, i) + 1 : number_end(text, i);
        end = end > text.len ? text.len : end;
        if (end == i) {
            end++;
        } else if (is_string) {
            mend_string(copy, i, end);
        } else if (is_out_of_range(copy + i, end - i)) {
            memset(copy + i, ' ', end - i);
            copy[i] = copy[end - 1] = '"';
        }
    }
    return copy;
}

/* Parses a mended copy of a refused text. Returns NULL if there is nothing to mend. */
static json_t *load_mended(struct hs_str text, json_error_t *error, bool *no_memory)
{
    char *mended = mend_values(text);
    json_t *root = NULL;
    *no_memory = mended == NULL;
    if (mended != NULL && memcmp(mended, text.ptr, text.len) != 0)
        root = hs_json_load((struct hs_str){mended, text.len}, JSON_REJECT_DUPLICATES, error,
                            no_memory);
    free(mended);
    return root;
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
    if (containers > body.len + HS_JSON_LET_PASS) {
        hs_problem_add(problem, "", "has too many objects and arrays for its %zu bytes", body.len);
        return NULL;
    }
    json_error_t error;
    bool no_memory;
    json_t *root = hs_json_load(body, JSON_REJECT_DUPLICATES, &error, &no_memory);
    if (root == NULL && !no_memory && body.len > 0)
        root = load_mended(body, &error, &no_memory);
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

/* ---- faults ---- */

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
    write_pointer(at, pointer);
    if (item != NULL)
        add_item_error(reader, pointer, detail);
    else
        hs_problem_add(reader->problem, pointer, "%s", detail);
}
