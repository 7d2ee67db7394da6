/* Where in a document a byte lies: for faults that the parser reports by position only. */
#include <stdio.h>

#include "api/json/reading.h"

enum { MAX_LEVELS = HS_JSON_MAX_DEPTH + 1 };

struct level {
    bool is_array;
    bool wants_key; /* the next string is a member's name */
    size_t index;
    struct hs_str key; /* raw, between its quotes */
};

static void append(char *pointer, size_t *len, char c)
{
    if (*len + 1 < HS_POINTER_MAX)
        pointer[(*len)++] = c;
}

/* RFC 6901: ~ and / inside a name are written ~0 and ~1. */
static void append_key(char *pointer, size_t *len, struct hs_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        if (c == '~' || c == '/')
            append(pointer, len, '~');
        append(pointer, len, c == '~' ? '0' : c == '/' ? '1' : c);
    }
}

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
    for (size_t i = 0; i < depth; i++) {
        if (!levels[i].is_array && levels[i].key.ptr == NULL)
            break;
        append(pointer, &len, '/');
        char number[24];
        snprintf(number, sizeof number, "%zu", levels[i].index);
        struct hs_str key =
            levels[i].is_array ? (struct hs_str){number, strlen(number)} : levels[i].key;
        append_key(pointer, &len, key);
    }
    pointer[len] = '\0';
}
