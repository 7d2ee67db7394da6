#include "api/json/writing.h"

#include "api/json/digits.h"
#include "api/json/escape.h"

/* Writes a value of `len` bytes. */
static inline void write_bytes(struct hs_writer *writer, const char *bytes, size_t len)
{
    char *at = hs_write_place(writer, len);
    if (at == NULL)
        return;
    memcpy(at, bytes, len);
    hs_write_until(writer, at + len);
}

void hs_write_str(struct hs_writer *writer, struct hs_str text)
{
    char *at = hs_write_place(writer, 0);
    if (at == NULL)
        return;
    hs_write_until(writer, at);
    hs_escape_json(writer->buffer, text);
}

void hs_write_plain(struct hs_writer *writer, struct hs_str text)
{
    char *at = hs_write_place(writer, text.len + 2);
    if (at == NULL)
        return;
    *at++ = '"';
    at = mempcpy(at, text.ptr, text.len);
    *at++ = '"';
    hs_write_until(writer, at);
}

void hs_write_name(struct hs_writer *writer, const char *key)
{
    hs_write_text(writer, key);
    hs_buffer_append(writer->buffer, ":", 1);
    writer->needs_comma = false;
}

void hs_write_raw(struct hs_writer *writer, struct hs_str json)
{
    write_bytes(writer, json.len > 0 ? json.ptr : "", json.len);
}

void hs_write_again(struct hs_writer *writer, size_t place, size_t end)
{
    char *at = hs_write_place(writer, end - place);
    if (at == NULL)
        return;
    memcpy(at, writer->buffer->data + place, end - place);
    hs_write_until(writer, at + (end - place));
}

void hs_write_bool(struct hs_writer *writer, bool value)
{
    if (value)
        write_bytes(writer, "true", 4);
    else
        write_bytes(writer, "false", 5);
}

void hs_write_null(struct hs_writer *writer)
{
    write_bytes(writer, "null", 4);
}

void hs_write_int(struct hs_writer *writer, int64_t value)
{
    char *at = hs_write_place(writer, HS_DIGITS_MAX);
    if (at != NULL)
        hs_write_until(writer, hs_digits_whole(at, value));
}

void hs_write_time(struct hs_writer *writer, int64_t us)
{
    char *at = hs_write_place(writer, HS_DIGITS_MAX);
    if (at != NULL)
        hs_write_until(writer, hs_digits_millionths(at, us));
}

/* Writes a number at `at`, in at most HS_DIGITS_MAX bytes. Returns the end of the text. */
static inline char *put_real(char *at, double value)
{
    if (fabs(value) < 9e12)
        return hs_digits_millionths(at, llrint(value * 1e6)); /* llrint rounds half to even */
    return isfinite(value) ? hs_digits_double(at, value) : mempcpy(at, "null", 4);
}

void hs_write_real(struct hs_writer *writer, double value)
{
    char *at = hs_write_place(writer, HS_DIGITS_MAX);
    if (at != NULL)
        hs_write_until(writer, put_real(at, value));
}

void hs_write_exact(struct hs_writer *writer, double value)
{
    if (!isfinite(value)) {
        hs_write_null(writer);
        return;
    }
    char *at = hs_write_place(writer, HS_DIGITS_MAX);
    if (at != NULL)
        hs_write_until(writer, hs_digits_double(at, value));
}

void hs_write_float(struct hs_writer *writer, float value)
{
    char *at = hs_write_place(writer, HS_DIGITS_MAX);
    if (at != NULL)
        hs_write_until(writer, hs_digits_float(at, value));
}

void hs_write_first_int_field(struct hs_writer *writer, size_t place, const char *key,
                              int64_t value)
{
    struct hs_buffer *buffer = writer->buffer;
    char member[HS_NAME_MAX + HS_DIGITS_MAX], *at = member;
    struct hs_str name = hs_str_of(key);
    *at++ = '"';
    memcpy(at, name.ptr, name.len);
    at += name.len;
    *at++ = '"';
    *at++ = ':';
    at = hs_digits_whole(at, value);
    *at++ = ',';
    size_t len = (size_t)(at - member);
    if (hs_buffer_space(buffer, len) == NULL)
        return;
    char *inside = buffer->data + place + 1;
    memmove(inside + len, inside, buffer->len - place - 1);
    memcpy(inside, member, len);
    buffer->len += len;
}

void hs_write_vec(struct hs_writer *writer, struct hs_vec v)
{
    char *at = hs_write_place(writer, sizeof "[,,]" + (size_t)3 * HS_DIGITS_MAX);
    if (at == NULL)
        return;
    *at++ = '[';
    at = put_real(at, v.x);
    *at++ = ',';
    at = put_real(at, v.y);
    *at++ = ',';
    at = put_real(at, v.z);
    *at++ = ']';
    hs_write_until(writer, at);
}

void hs_write_words_field(struct hs_writer *writer, const char *key,
                          const struct hs_vocabulary *words, unsigned bits)
{
    hs_write_begin_field(writer, key, '[');
    for (int i = 0; i < words->count && bits >> i != 0; i++)
        if (bits >> i & 1)
            hs_write_word(writer, words->names[i]);
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
