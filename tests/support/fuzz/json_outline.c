#include "tests/support/fuzz/json_outline.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_PREFIX = 3 };

/* The state of the reader: the outline, the position, the open containers, and a key without its
   value. */
struct outlining {
    struct hs_json_outline *out;
    size_t at;
    int32_t open[HS_JSON_NESTING];
    size_t depth;
    uint32_t key, key_end;
};

static struct hs_json_span *add(struct outlining *o, enum hs_json_kind kind, size_t end)
{
    if (o->out->count == HS_JSON_SPANS)
        return NULL;
    struct hs_json_span *span = &o->out->spans[o->out->count++];
    *span = (struct hs_json_span){.begin = (uint32_t)o->at,
                                  .end = (uint32_t)end,
                                  .key = o->key,
                                  .key_end = o->key_end,
                                  .parent = o->depth > 0 ? o->open[o->depth - 1] : -1,
                                  .kind = kind};
    o->key = o->key_end = 0;
    return span;
}

static bool begin_container(struct outlining *o, enum hs_json_kind kind)
{
    if (o->depth == HS_JSON_NESTING || add(o, kind, o->out->size) == NULL)
        return false;
    o->open[o->depth++] = (int32_t)o->out->count - 1;
    o->at++;
    return true;
}

static bool end_container(struct outlining *o)
{
    if (o->depth == 0)
        return false;
    o->at++;
    o->out->spans[o->open[--o->depth]].end = (uint32_t)o->at;
    o->key = o->key_end = 0;
    return o->depth > 0;
}

static bool is_key(const struct outlining *o, size_t end)
{
    if (o->depth == 0 || o->key_end != 0 ||
        o->out->spans[o->open[o->depth - 1]].kind != HS_JSON_OBJECT)
        return false;
    while (end < o->out->size && isspace(o->out->text[end]))
        end++;
    return end < o->out->size && o->out->text[end] == ':';
}

static bool take_string(struct outlining *o)
{
    const uint8_t *text = o->out->text;
    size_t end = o->at + 1;
    while (end < o->out->size && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
    if (end >= o->out->size)
        return false;
    end++;
    if (is_key(o, end)) {
        o->key = (uint32_t)o->at;
        o->key_end = (uint32_t)end;
    } else if (add(o, HS_JSON_STRING, end) == NULL) {
        return false;
    }
    o->at = end;
    return true;
}

static bool take_word(struct outlining *o)
{
    const uint8_t *text = o->out->text;
    size_t end = o->at;
    while (end < o->out->size && (isalnum(text[end]) || strchr("+-.", text[end]) != NULL) &&
           text[end] != '\0')
        end++;
    bool number = isdigit(text[o->at]) || text[o->at] == '-';
    if (end == o->at || add(o, number ? HS_JSON_NUMBER : HS_JSON_WORD, end) == NULL)
        return false;
    o->at = end;
    return true;
}

static bool step(struct outlining *o)
{
    switch (o->out->text[o->at]) {
    case '{':
        return begin_container(o, HS_JSON_OBJECT);
    case '[':
        return begin_container(o, HS_JSON_ARRAY);
    case '}':
    case ']':
        return end_container(o);
    case '"':
        return take_string(o);
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ':':
    case ',':
        o->at++;
        return true;
    default:
        return take_word(o);
    }
}

void hs_json_outline(const uint8_t *text, size_t size, struct hs_json_outline *out)
{
    struct outlining o = {.out = out};
    out->text = text;
    out->size = size;
    out->count = 0;
    while (o.at < size && o.at < MAX_PREFIX && text[o.at] != '{' && text[o.at] != '[')
        o.at++;
    if (o.at >= size || (text[o.at] != '{' && text[o.at] != '['))
        return;
    while (o.at < size && step(&o))
        continue;
}
