#include "service/evidence/items.h"

#include <stdlib.h>
#include <string.h>

#include "service/record/stream.h"

/* The service rejects bodies with more than this many levels of nesting. */
enum { LEVELS = 64 };

/* ---- bodies in the usual form ---- */

/* Moves the cursor past the `[` of the list. Returns false if the body is not an object that
   contains the list, for example if the body is a table (an unusual form). */
static bool find_list(struct hs_cursor *cursor, struct hs_str key)
{
    bool too_deep;
    if (!hs_cursor_take(cursor, '{'))
        return false;
    do {
        hs_cursor_skip_space(cursor);
        const char *name = cursor->at;
        if (!hs_cursor_skip_value(cursor, 0, &too_deep))
            return false;
        struct hs_str found = {name + 1, (size_t)(cursor->at - name) - 2};
        if (!hs_cursor_take(cursor, ':'))
            return false;
        if (hs_str_equal(found, key))
            return hs_cursor_take(cursor, '[');
        if (!hs_cursor_skip_value(cursor, LEVELS, &too_deep))
            return false;
    } while (hs_cursor_take(cursor, ','));
    return false;
}

/* Returns the JSON text of the item in the body. ptr NULL: the body has an unusual form. */
static struct hs_str find_item(struct hs_body_items *items, struct hs_str body, struct hs_str key,
                               size_t place)
{
    bool too_deep;
    if (items->starts != NULL) {
        const char *at = items->starts[place];
        struct hs_cursor here = {at, body.ptr + body.len};
        hs_cursor_skip_value(&here, LEVELS, &too_deep);
        return (struct hs_str){at, (size_t)(here.at - at)};
    }
    if (!items->has_list) {
        items->cursor = (struct hs_cursor){body.ptr, body.ptr + body.len};
        items->has_list = items->root == NULL && find_list(&items->cursor, key);
    }
    while (items->has_list) {
        hs_cursor_skip_space(&items->cursor);
        const char *at = items->cursor.at;
        struct hs_cursor here = items->cursor;
        if (!hs_cursor_skip_value(&here, LEVELS, &too_deep))
            break;
        if (items->next == place)
            return (struct hs_str){at, (size_t)(here.at - at)};
        items->cursor = here;
        items->next++;
        if (!hs_cursor_take(&items->cursor, ','))
            break;
    }
    return (struct hs_str){0};
}

/* ---- bodies in other forms ---- */

/* Returns a row of a table as an object. Omits members that are null. */
static json_t *object_of_row(const json_t *table, size_t place)
{
    const json_t *row = json_array_get(json_object_get(table, "rows"), place);
    json_t *object = json_object(), *column;
    size_t i;
    json_array_foreach(json_object_get(table, "columns"), i, column)
    {
        json_t *value = json_array_get(row, i);
        if (value != NULL && !json_is_null(value))
            json_object_set(object, json_string_value(column), value);
    }
    return object;
}

static json_t *item_of_tree(struct hs_body_items *items, struct hs_str body, struct hs_str key,
                            size_t place)
{
    if (items->root == NULL)
        items->root = json_loadb(body.ptr, body.len, 0, NULL);
    const json_t *list = json_object_getn(items->root, key.ptr, key.len);
    if (list == NULL)
        list = items->root; /* the request body has columns and rows */
    return json_is_array(list) ? json_incref(json_array_get(list, place))
                               : object_of_row(list, place);
}

static void append_tree(json_t *item, struct hs_buffer *out)
{
    char *text = json_dumps(item, JSON_COMPACT);
    if (text != NULL)
        hs_buffer_puts(out, text);
    out->failed = out->failed || text == NULL;
    free(text);
}

/* ---- masks ---- */

/* Returns the next part of a JSON pointer, and moves *at to the `/`, `,` or null byte after it. */
static struct hs_str next_part(const char **at)
{
    struct hs_str part = {*at + 1, strcspn(*at + 1, "/,")};
    *at = part.ptr + part.len;
    return part;
}

static json_t *child(json_t *value, struct hs_str name)
{
    char *end;
    if (json_is_array(value)) {
        unsigned long index = strtoul(name.ptr, &end, 10);
        return end == name.ptr + name.len ? json_array_get(value, index) : NULL;
    }
    return json_object_getn(value, name.ptr, name.len);
}

/* Masks the value that the JSON pointer at the start of `at` refers to. Returns the position after
   this JSON pointer. */
static const char *mask_one(json_t *value, const char *at)
{
    struct hs_str part = next_part(&at);
    while (*at == '/') {
        value = child(value, part);
        part = next_part(&at);
    }
    if (child(value, part) == NULL)
        return at;
    if (json_is_array(value))
        json_array_set_new(value, strtoul(part.ptr, NULL, 10), json_string("masked"));
    else
        json_object_setn_new(value, part.ptr, part.len, json_string("masked"));
    return at;
}

static void mask_item(json_t *item, const char *mask)
{
    for (const char *at = mask; *at == '/'; at += *at == ',')
        at = mask_one(item, at);
}

/* ---- items ---- */

void hs_body_item(struct hs_body_items *items, struct hs_str body, struct hs_str key, size_t place,
                  const char *mask, struct hs_buffer *out)
{
    size_t mark = out->len;
    struct hs_str text = find_item(items, body, key, place);
    bool is_masked =
        mask[0] != '\0' && (text.ptr == NULL || memmem(text.ptr, text.len, "\"x_", 3) != NULL ||
                            memchr(text.ptr, '\\', text.len) != NULL);
    if (text.ptr != NULL && !is_masked) {
        hs_buffer_append(out, text.ptr, text.len);
    } else {
        json_t *item = text.ptr != NULL ? json_loadb(text.ptr, text.len, 0, NULL)
                                        : item_of_tree(items, body, key, place);
        mask_item(item, is_masked ? mask : "");
        append_tree(item, out);
        json_decref(item);
    }
    if (!out->failed)
        hs_stream_flatten(out->data + mark, out->len - mark);
}

void hs_body_items_free(struct hs_body_items *items)
{
    json_decref(items->root);
}
