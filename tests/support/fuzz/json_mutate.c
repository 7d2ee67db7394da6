#include "tests/support/fuzz/json_mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fuzz/json_outline.h"

enum { TRIES = 8, PIECE = 4096 };

/* The state of one mutation: the text, the values that may be inserted, and the result. */
struct mutating {
    uint8_t *data;
    size_t size, room;
    struct hs_random *random;
    struct hs_json_outline outline;
    uint8_t piece[PIECE];
    size_t len;
};

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }

struct text {
    const char *ptr;
    size_t len;
};

/* Numbers at the ends of every range that code may compute with, and texts that only look like
   numbers. */
static const struct text numbers[] = {
    TEXT("0"),
    TEXT("-0"),
    TEXT("-0.0"),
    TEXT("1"),
    TEXT("-1"),
    TEXT("0.5"),
    TEXT("2.5e-7"),
    TEXT("5e-7"),
    TEXT("127"),
    TEXT("128"),
    TEXT("255"),
    TEXT("256"),
    TEXT("65535"),
    TEXT("65536"),
    TEXT("2147483647"),
    TEXT("2147483648"),
    TEXT("-2147483649"),
    TEXT("4294967295"),
    TEXT("4294967296"),
    TEXT("9007199254740991"),
    TEXT("9007199254740992"),
    TEXT("9007199254740993"),
    TEXT("9223372036854775807"),
    TEXT("9223372036854775808"),
    TEXT("-9223372036854775808"),
    TEXT("-9223372036854775809"),
    TEXT("18446744073709551615"),
    TEXT("18446744073709551616"),
    TEXT("9223372036854.775807"),
    TEXT("9223372036854.775808"),
    TEXT("1e6"),
    TEXT("1e9"),
    TEXT("-1e9"),
    TEXT("1e12"),
    TEXT("1e15"),
    TEXT("1e18"),
    TEXT("1e19"),
    TEXT("3.4028235e38"),
    TEXT("3.4028236e38"),
    TEXT("1e100"),
    TEXT("1e154"),
    TEXT("1e155"),
    TEXT("1e-154"),
    TEXT("1e-300"),
    TEXT("1.7976931348623157e308"),
    TEXT("-1.7976931348623157e308"),
    TEXT("1.7976931348623159e308"),
    TEXT("2.2250738585072014e-308"),
    TEXT("2.2250738585072011e-308"),
    TEXT("4.9406564584124654e-324"),
    TEXT("1e-324"),
    TEXT("1e-400"),
    TEXT("1e400"),
    TEXT("-1e400"),
    TEXT("1e99999999999999999999"),
    TEXT("1e-99999999999999999999"),
    TEXT("0e99999999999999999999"),
    TEXT("1.0"),
    TEXT("1e0"),
    TEXT("1E+2"),
    TEXT("0.1000000000000000055511151231257827021181583404541015625"),
    TEXT("00"),
    TEXT("01"),
    TEXT("+1"),
    TEXT(".5"),
    TEXT("1."),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("-"),
    TEXT("0x10"),
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("-Infinity"),
    TEXT("1_000"),
    TEXT("1,5")};

/*
 * Strings with their quotes: invalid UTF-8, incomplete escapes, names at the limits of the rules.
 */
static const struct text strings[] = {TEXT("\"\""),
                                      TEXT("\" \""),
                                      TEXT("\"a b\""),
                                      TEXT("\"a/b\""),
                                      TEXT("\"a~b\""),
                                      TEXT("\".\""),
                                      TEXT("\"..\""),
                                      TEXT("\"-\""),
                                      TEXT("\"_:.-\""),
                                      TEXT("\"\xc3\xa9\""),
                                      TEXT("\"\xf0\x9f\x98\x80\""),
                                      TEXT("\"\xef\xbb\xbf\""),
                                      TEXT("\"\x80\""),
                                      TEXT("\"\xc3\""),
                                      TEXT("\"\xc0\x80\""),
                                      TEXT("\"\xc1\xbf\""),
                                      TEXT("\"\xe0\x80\x80\""),
                                      TEXT("\"\xe0\x9f\xbf\""),
                                      TEXT("\"\xed\xa0\x80\""),
                                      TEXT("\"\xed\xbf\xbf\""),
                                      TEXT("\"\xef\xbf\xbe\""),
                                      TEXT("\"\xf0\x80\x80\x80\""),
                                      TEXT("\"\xf4\x8f\xbf\xbf\""),
                                      TEXT("\"\xf4\x90\x80\x80\""),
                                      TEXT("\"\xf8\x88\x80\x80\x80\""),
                                      TEXT("\"\xfe\""),
                                      TEXT("\"\xff\xff\""),
                                      TEXT("\"a\0b\""),
                                      TEXT("\"a\nb\""),
                                      TEXT("\"a\x1f\""),
                                      TEXT("\"a\x7f\""),
                                      TEXT("\"\\u0000\""),
                                      TEXT("\"\\u0041\""),
                                      TEXT("\"\\ud800\""),
                                      TEXT("\"\\udc00\""),
                                      TEXT("\"\\ud83d\\ude00\""),
                                      TEXT("\"\\ude00\\ud83d\""),
                                      TEXT("\"\\ud83d\\u0041\""),
                                      TEXT("\"\\ud83dx\""),
                                      TEXT("\"\\uZZZZ\""),
                                      TEXT("\"\\u12\""),
                                      TEXT("\"\\x41\""),
                                      TEXT("\"\\\""),
                                      TEXT("\"\\/\\b\\f\\n\\r\\t\\\\\\\"\""),
                                      TEXT("\"x_\""),
                                      TEXT("\"__proto__\""),
                                      TEXT("\"%s%n\""),
                                      TEXT("\"default\""),
                                      TEXT("\"null\"")};

static const struct text others[] = {
    TEXT("null"), TEXT("true"),   TEXT("false"), TEXT("{}"),      TEXT("[]"),
    TEXT("[[]]"), TEXT("[null]"), TEXT("\"\""),  TEXT("0"),       TEXT("{\"\":0}"),
    TEXT("nul"),  TEXT("TRUE"),   TEXT("{]"),    TEXT("[0,0,0]"), TEXT("[0,0,0,1]"),
    TEXT(""),     TEXT(","),      TEXT("/**/0"), TEXT("[0,]"),    TEXT("{\"a\":0,}")};

#define COUNT(table) (int)(sizeof(table) / sizeof(table)[0])

/* ---- building the new text ---- */

static void put(struct mutating *m, const void *bytes, size_t len)
{
    size_t left = sizeof m->piece - m->len;
    if (len > left)
        len = left;
    memcpy(m->piece + m->len, bytes, len);
    m->len += len;
}

static void put_text(struct mutating *m, const char *text)
{
    put(m, text, strlen(text));
}

static void put_range(struct mutating *m, size_t begin, size_t end)
{
    put(m, m->data + begin, end - begin);
}

static void put_entry(struct mutating *m, const struct text *table, int count)
{
    const struct text *text = &table[hs_random_index(m->random, count)];
    put(m, text->ptr, text->len);
}

static const struct hs_json_span *pick(struct mutating *m)
{
    return &m->outline.spans[hs_random_index(m->random, (int)m->outline.count)];
}

/* Returns a random value of this kind. Returns NULL if no attempt found one. */
static const struct hs_json_span *pick_kind(struct mutating *m, enum hs_json_kind kind)
{
    for (int i = 0; i < 2 * TRIES; i++) {
        const struct hs_json_span *span = pick(m);
        if (span->kind == kind)
            return span;
    }
    return NULL;
}

/* Returns a random value within a container, or NULL. */
static const struct hs_json_span *pick_item(struct mutating *m)
{
    const struct hs_json_span *span = pick(m);
    return span->parent >= 0 ? span : NULL;
}

static size_t item_begin(const struct hs_json_span *span)
{
    return span->key_end > 0 ? span->key : span->begin;
}

/* Replaces [begin, end) by the piece. */
static bool replace(struct mutating *m, size_t begin, size_t end)
{
    size_t size = m->size - (end - begin) + m->len;
    if (size > m->room || size == 0)
        return false;
    memmove(m->data + begin + m->len, m->data + end, m->size - end);
    memcpy(m->data + begin, m->piece, m->len);
    m->size = size;
    return true;
}

/* ---- the mutations; each returns false where it does not apply ---- */

typedef bool mutation(struct mutating *m);

static bool other_number(struct mutating *m)
{
    const struct hs_json_span *span = pick_kind(m, HS_JSON_NUMBER);
    if (span == NULL)
        return false;
    put_entry(m, numbers, COUNT(numbers));
    return replace(m, span->begin, span->end);
}

/* Replaces a number by one near it or far from it. */
static bool moved_number(struct mutating *m)
{
    const struct hs_json_span *span = pick_kind(m, HS_JSON_NUMBER);
    char text[64] = "";
    if (span == NULL || span->end - span->begin >= sizeof text)
        return false;
    memcpy(text, m->data + span->begin, span->end - span->begin);
    double value = strtod(text, NULL);
    static const double steps[] = {1, -1, 0.5, 1e-6, -1e-6, 5e-7, 1e-3, -0.016, 0.05, 10, -360};
    static const double factors[] = {-1, 2, 0.5, 10, 0.1, 1e3, 1e-3, 1e6, 1.0000000000000002};
    if (hs_random_chance(m->random, 0.5))
        value += steps[hs_random_index(m->random, COUNT(steps))];
    else
        value *= factors[hs_random_index(m->random, COUNT(factors))];
    snprintf(text, sizeof text, "%.*g", hs_random_chance(m->random, 0.5) ? 17 : 6, value);
    put_text(m, text);
    return replace(m, span->begin, span->end);
}

static bool other_string(struct mutating *m)
{
    const struct hs_json_span *span = pick_kind(m, HS_JSON_STRING);
    if (span == NULL)
        return false;
    put_entry(m, strings, COUNT(strings));
    return replace(m, span->begin, span->end);
}

/* Makes a string of the max length of names, one character more, or much longer. Sometimes it has
   more bytes than characters. */
static bool long_string(struct mutating *m)
{
    static const int lengths[] = {1, 63, 64, 65, 127, 128, 129, 191, 255, 1000};
    const struct hs_json_span *span = pick_kind(m, HS_JSON_STRING);
    if (span == NULL)
        return false;
    int len = lengths[hs_random_index(m->random, COUNT(lengths))];
    bool wide = hs_random_chance(m->random, 0.2);
    put_text(m, "\"");
    for (int i = 0; i < len; i++)
        put_text(m, wide ? "\xc3\xa9" : "n");
    put_text(m, "\"");
    return replace(m, span->begin, span->end);
}

/* Inserts a few bytes that are not allowed in strings into a string or a key. */
static bool bytes_in_string(struct mutating *m)
{
    const struct hs_json_span *span = pick(m);
    size_t begin = span->key_end > 0 ? span->key : span->begin;
    size_t end = span->key_end > 0 ? span->key_end : span->end;
    const struct text *text = &strings[hs_random_index(m->random, COUNT(strings))];
    if (end - begin < 2 || m->data[begin] != '"' || text->len < 3)
        return false;
    put(m, text->ptr + 1, text->len - 2);
    size_t at = begin + 1 + (size_t)hs_random_index(m->random, (int)(end - begin - 1));
    return replace(m, at, at);
}

static bool other_type(struct mutating *m)
{
    const struct hs_json_span *span = pick(m);
    put_entry(m, others, COUNT(others));
    return replace(m, span->begin, span->end);
}

/* Replaces a value by another one. */
static bool copied_value(struct mutating *m)
{
    const struct hs_json_span *from = pick(m), *to = pick(m);
    if (from == to)
        return false;
    put_range(m, from->begin, from->end);
    return replace(m, to->begin, to->end);
}

static bool without_item(struct mutating *m)
{
    const struct hs_json_span *span = pick_item(m);
    if (span == NULL)
        return false;
    size_t begin = item_begin(span), end = span->end;
    if (end < m->size && m->data[end] == ',')
        end++;
    else if (begin > 0 && m->data[begin - 1] == ',')
        begin--;
    return replace(m, begin, end);
}

/* Repeats a member's key, or lets an array grow, sometimes beyond the max length of a list. */
static bool repeated_item(struct mutating *m)
{
    const struct hs_json_span *span = pick_item(m);
    if (span == NULL)
        return false;
    int times = hs_random_chance(m->random, 0.2) ? 2 + hs_random_index(m->random, 300) : 1;
    size_t len = span->end - item_begin(span) + 1;
    for (int i = 0; i < times && m->len + len <= sizeof m->piece; i++) {
        put_text(m, ",");
        put_range(m, item_begin(span), span->end);
    }
    return m->len > 0 && replace(m, span->end, span->end);
}

static bool other_key(struct mutating *m)
{
    const struct hs_json_span *span = pick_item(m), *from = pick(m);
    if (span == NULL || span->key_end == 0)
        return false;
    if (from->key_end > 0 && hs_random_chance(m->random, 0.6))
        put_range(m, from->key, from->key_end);
    else
        put_entry(m, strings, COUNT(strings));
    return replace(m, span->key, span->key_end);
}

/* Adds a member. Its key is used elsewhere, or readers ignore it. */
static bool further_member(struct mutating *m)
{
    const struct hs_json_span *object = pick_kind(m, HS_JSON_OBJECT), *from = pick(m);
    if (object == NULL)
        return false;
    if (from->key_end > 0)
        put_range(m, from->key, from->key_end);
    else
        put_text(m, "\"x_note\"");
    put_text(m, ":");
    const struct hs_json_span *value = pick(m);
    if (hs_random_chance(m->random, 0.5))
        put_range(m, value->begin, value->end);
    else
        put_entry(m, others, COUNT(others));
    const uint8_t next = object->begin + 1 < m->size ? m->data[object->begin + 1] : '}';
    if (next != '}')
        put_text(m, ",");
    return replace(m, object->begin + 1, object->begin + 1);
}

/* Makes an array shorter than its correct length, equal to it, or longer. */
static bool resized_array(struct mutating *m)
{
    const struct hs_json_span *array = pick_kind(m, HS_JSON_ARRAY), *item = pick(m);
    if (array == NULL)
        return false;
    int count = hs_random_index(m->random, hs_random_chance(m->random, 0.1) ? 400 : 12);
    put_text(m, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            put_text(m, ",");
        if (item->kind >= HS_JSON_STRING)
            put_range(m, item->begin, item->end);
        else
            put_text(m, "0");
    }
    put_text(m, "]");
    return replace(m, array->begin, array->end);
}

static bool nested(struct mutating *m)
{
    const struct hs_json_span *span = pick(m);
    int depth = 1 + hs_random_index(m->random, hs_random_chance(m->random, 0.3) ? 40 : 3);
    bool object = hs_random_chance(m->random, 0.4);
    for (int i = 0; i < depth; i++)
        put_text(m, object ? "{\"a\":" : "[");
    put_range(m, span->begin, span->end);
    for (int i = 0; i < depth; i++)
        put_text(m, object ? "}" : "]");
    return replace(m, span->begin, span->end);
}

/* Swaps two items of one container. */
static bool swapped(struct mutating *m)
{
    const struct hs_json_span *a = pick_item(m), *b = pick_item(m);
    if (a == NULL || b == NULL || a->parent != b->parent || a == b)
        return false;
    if (a > b) {
        const struct hs_json_span *first = b;
        b = a;
        a = first;
    }
    put_range(m, item_begin(b), b->end);
    put_range(m, a->end, item_begin(b));
    put_range(m, item_begin(a), a->end);
    return m->len == b->end - item_begin(a) && replace(m, item_begin(a), b->end);
}

/* Inserts white space, or invalid white space, between two tokens or after the last. */
static bool blanks(struct mutating *m)
{
    static const struct text table[] = {
        TEXT(" "),  TEXT("\t\r\n"), TEXT("\v"),          TEXT("\0"), TEXT("\xef\xbb\xbf"),
        TEXT("//"), TEXT(","),      TEXT("\xc2\xa0"),    TEXT("]"),  TEXT("}"),
        TEXT("{}"), TEXT("\x1e"),   TEXT("        \n\n")};
    const struct hs_json_span *span = pick(m);
    size_t at = hs_random_chance(m->random, 0.5) ? span->begin : span->end;
    put_entry(m, table, COUNT(table));
    return replace(m, at, at);
}

static bool cut_short(struct mutating *m)
{
    const struct hs_json_span *span = pick(m);
    if (span->begin == 0 || !hs_random_chance(m->random, 0.3))
        return false;
    m->size = hs_random_chance(m->random, 0.5) ? span->begin : span->end;
    return true;
}

/* Kinds that are likely to pass the type checks are listed more than once. */
static mutation *const mutations[] = {
    other_number,    moved_number,  moved_number, moved_number,   other_string,  long_string,
    bytes_in_string, other_type,    copied_value, copied_value,   without_item,  without_item,
    repeated_item,   repeated_item, other_key,    further_member, resized_array, nested,
    swapped,         blanks,        cut_short,    other_number,
};

size_t hs_json_mutate(uint8_t *data, size_t size, size_t room, struct hs_random *random)
{
    struct mutating m;
    m.data = data;
    m.size = size;
    m.room = room;
    m.random = random;
    if (size > room)
        return 0;
    hs_json_outline(data, size, &m.outline);
    for (int i = 0; m.outline.count > 0 && i < TRIES; i++) {
        m.len = 0;
        if (mutations[hs_random_index(random, COUNT(mutations))](&m))
            return m.size;
    }
    return 0;
}

static bool same_key(const struct hs_json_outline *a, const struct hs_json_span *x,
                     const struct hs_json_outline *b, const struct hs_json_span *y)
{
    uint32_t len = x->key_end - x->key;
    return len == y->key_end - y->key && memcmp(a->text + x->key, b->text + y->key, len) == 0;
}

size_t hs_json_cross(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                     uint8_t *out, size_t room, struct hs_random *random)
{
    struct hs_json_outline a, b;
    hs_json_outline(data, size, &a);
    hs_json_outline(other, other_size, &b);
    if (a.count == 0 || b.count == 0)
        return 0;
    const struct hs_json_span *to = &a.spans[hs_random_index(random, (int)a.count)], *from = NULL;
    for (int i = 0; i < 2 * TRIES; i++) {
        from = &b.spans[hs_random_index(random, (int)b.count)];
        if (same_key(&a, to, &b, from))
            break;
    }
    size_t len = from->end - from->begin, result = size - (to->end - to->begin) + len;
    if (result > room)
        return 0;
    memcpy(out, data, to->begin);
    memcpy(out + to->begin, other + from->begin, len);
    memcpy(out + to->begin + len, data + to->end, size - to->end);
    return result;
}
