#include "api/json/writing.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/json/escape.h"

static void separate(struct hs_writer *writer)
{
    if (writer->needs_comma)
        hs_buffer_append(writer->buffer, ",", 1);
    writer->needs_comma = true;
}

void hs_write_begin(struct hs_writer *writer, char bracket)
{
    separate(writer);
    hs_buffer_append(writer->buffer, &bracket, 1);
    writer->needs_comma = false;
}

void hs_write_end(struct hs_writer *writer, char bracket)
{
    hs_buffer_append(writer->buffer, &bracket, 1);
    writer->needs_comma = true;
}

void hs_write_str(struct hs_writer *writer, struct hs_str text)
{
    separate(writer);
    hs_escape_json(writer->buffer, text);
}

void hs_write_text(struct hs_writer *writer, const char *text)
{
    hs_write_str(writer, hs_str_of(text));
}

void hs_write_key(struct hs_writer *writer, const char *key)
{
    hs_write_text(writer, key);
    hs_buffer_append(writer->buffer, ":", 1);
    writer->needs_comma = false;
}

void hs_write_raw(struct hs_writer *writer, struct hs_str json)
{
    separate(writer);
    hs_buffer_append(writer->buffer, json.ptr, json.len);
}

void hs_write_bool(struct hs_writer *writer, bool value)
{
    separate(writer);
    hs_buffer_puts(writer->buffer, value ? "true" : "false");
}

void hs_write_null(struct hs_writer *writer)
{
    separate(writer);
    hs_buffer_puts(writer->buffer, "null");
}

/* Writes value / 10^decimals without trailing zeros. */
static void write_decimal(struct hs_writer *writer, int64_t value, int decimals)
{
    char digits[32];
    int at = (int)sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    bool significant = false;
    for (int i = 0; i < decimals; i++, rest /= 10) {
        char digit = (char)('0' + rest % 10);
        significant = significant || digit != '0';
        if (significant)
            digits[--at] = digit;
    }
    if (significant)
        digits[--at] = '.';
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[--at] = '-';
    separate(writer);
    hs_buffer_append(writer->buffer, digits + at, sizeof digits - (size_t)at);
}

void hs_write_int(struct hs_writer *writer, int64_t value)
{
    write_decimal(writer, value, 0);
}

void hs_write_time(struct hs_writer *writer, int64_t us)
{
    write_decimal(writer, us, 6);
}

void hs_write_real(struct hs_writer *writer, double value)
{
    if (fabs(value) < 9e12) {
        double scaled = value * 1e6, whole = floor(scaled), rest = scaled - whole;
        int64_t rounded = (int64_t)whole;
        if (rest > 0.5 || (rest == 0.5 && rounded % 2 != 0))
            rounded++;
        write_decimal(writer, rounded, 6);
        return;
    }
    hs_write_exact(writer, value);
}

/* Writes the shortest text of `low` to `high` digits that reads back as the same number. */
static void write_shortest(struct hs_writer *writer, double value, int low, int high, bool is_float)
{
    char text[32];
    for (int digits = low; digits <= high; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if ((is_float ? (double)strtof(text, NULL) : strtod(text, NULL)) == value)
            break;
    }
    separate(writer);
    hs_buffer_puts(writer->buffer, text);
}

void hs_write_exact(struct hs_writer *writer, double value)
{
    if (!isfinite(value)) {
        hs_write_null(writer);
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15) { /* most numbers need no search for digits */
        hs_write_int(writer, (int64_t)value);
        return;
    }
    write_shortest(writer, value, 15, 17, false);
}

void hs_write_float(struct hs_writer *writer, float value)
{
    write_shortest(writer, (double)value, 6, 9, true);
}

void hs_write_vec(struct hs_writer *writer, struct hs_vec v)
{
    hs_write_begin(writer, '[');
    hs_write_real(writer, v.x);
    hs_write_real(writer, v.y);
    hs_write_real(writer, v.z);
    hs_write_end(writer, ']');
}

/* ---- members ---- */

#define X(what, type)                                                                              \
    void hs_write_##what##_field(struct hs_writer *writer, const char *key, type value)            \
    {                                                                                              \
        hs_write_key(writer, key);                                                                 \
        hs_write_##what(writer, value);                                                            \
    }
HS_WRITE_FIELDS(X)
#undef X

void hs_write_words_field(struct hs_writer *writer, const char *key,
                          const struct hs_vocabulary *words, unsigned bits)
{
    hs_write_begin_field(writer, key, '[');
    for (int i = 0; i < words->count; i++)
        if (bits >> i & 1)
            hs_write_text(writer, words->names[i]);
    hs_write_end(writer, ']');
}

void hs_write_counts_field(struct hs_writer *writer, const char *key,
                           const struct hs_vocabulary *words, const uint64_t *counts)
{
    hs_write_begin_field(writer, key, '{');
    for (int i = 0; i < words->count; i++)
        if (counts[i] > 0)
            hs_write_int_field(writer, words->names[i], (int64_t)counts[i]);
    hs_write_end(writer, '}');
}
