/* Writes JSON into a buffer. Adds the commas. The caller must close all objects and arrays that the
   caller opens. */
#ifndef HS_API_JSON_OUT_H
#define HS_API_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api/json/buffer.h"
#include "validators/str.h"
#include "validators/vec.h"
#include "validators/vocabulary.h"

struct hs_writer {
    struct hs_buffer *buffer;
    bool needs_comma;
};

/* Writes a comma if one is needed, and returns the address for a value of at most `max` bytes, or
   NULL if out of memory. After writing the value, the caller must call hs_write_until. */
static inline char *hs_write_place(struct hs_writer *writer, size_t max)
{
    char *at = hs_buffer_space(writer->buffer, max + 1);
    if (at == NULL)
        return NULL;
    *at = ',';
    at += writer->needs_comma ? 1 : 0;
    writer->needs_comma = true;
    return at;
}

/* Ends a value that was written to the address from hs_write_place. `end` is the address after the
   last byte of the value. */
static inline void hs_write_until(const struct hs_writer *writer, const char *end)
{
    writer->buffer->len = (size_t)(end - writer->buffer->data);
}

/* Opens an object or an array. `bracket` is '{' or '['. */
static inline void hs_write_begin(struct hs_writer *writer, char bracket)
{
    char *at = hs_write_place(writer, 1);
    writer->needs_comma = false;
    if (at == NULL)
        return;
    *at = bracket;
    hs_write_until(writer, at + 1);
}

/* Closes an object or an array. `bracket` is '}' or ']'. */
static inline void hs_write_end(struct hs_writer *writer, char bracket)
{
    writer->needs_comma = false;
    char *at = hs_write_place(writer, 1);
    if (at == NULL)
        return;
    *at = bracket;
    hs_write_until(writer, at + 1);
}

void hs_write_str(struct hs_writer *writer, struct hs_str text);
/* Like hs_write_str, but faster. Use this function only for a text without characters to escape,
   such as a valid name (str.h) or a word of a vocabulary. */
void hs_write_plain(struct hs_writer *writer, struct hs_str text);
void hs_write_bool(struct hs_writer *writer, bool value);
void hs_write_int(struct hs_writer *writer, int64_t value);
void hs_write_null(struct hs_writer *writer);

static inline void hs_write_text(struct hs_writer *writer, const char *text)
{
    hs_write_str(writer, hs_str_of(text));
}

/* Like hs_write_plain, but for a text with a terminating 0. */
static inline void hs_write_word(struct hs_writer *writer, const char *text)
{
    hs_write_plain(writer, hs_str_of(text));
}

/* Writes a key that is known only at run time. Escapes the key if needed. */
void hs_write_name(struct hs_writer *writer, const char *key);

/* Writes a key without characters to escape. If the key is a string literal, the length of the
   key is known at compile time, and the function compiles to a few stores. */
static inline __attribute__((always_inline)) void hs_write_key(struct hs_writer *writer,
                                                               const char *key)
{
    size_t len = hs_str_of(key).len;
    if (!__builtin_constant_p(len)) {
        hs_write_name(writer, key);
        return;
    }
    char *at = hs_buffer_space(writer->buffer, len + sizeof ",\"\":" - 1);
    if (at == NULL)
        return;
    at[0] = ',';
    at += writer->needs_comma ? 1 : 0;
    at[0] = '"';
    memcpy(at + 1, key, len);
    at[len + 1] = '"';
    at[len + 2] = ':';
    writer->buffer->len = (size_t)(at + len + 3 - writer->buffer->data);
    writer->needs_comma = false;
}

/* Inserts a member as the first member of the last object in the buffer. The object begins at the
   byte `place`, and must not be empty. */
void hs_write_first_int_field(struct hs_writer *writer, size_t place, const char *key,
                              int64_t value);

/* Appends a copy of the buffer's bytes from `place` up to, but not including, `end`. Use this
   function to write a number a second time, because copying the text is faster than converting the
   number again. */
void hs_write_again(struct hs_writer *writer, size_t place, size_t end);

/* Writes a text that is already JSON. The text is not changed. */
void hs_write_raw(struct hs_writer *writer, struct hs_str json);

/* Writes a computed number, rounded to at most six decimals, half to even. Writes numbers of 9e12
   or more like hs_write_exact. */
void hs_write_real(struct hs_writer *writer, double value);
/* Writes the text of hs_digits_double, which reads back as the same double. Writes null for a
   number that is not finite. */
void hs_write_exact(struct hs_writer *writer, double value);
/* Writes the text of hs_digits_float, which reads back as the same float. */
void hs_write_float(struct hs_writer *writer, float value);
/* Writes microseconds as seconds. */
void hs_write_time(struct hs_writer *writer, int64_t us);
void hs_write_vec(struct hs_writer *writer, struct hs_vec v);

/* Each row defines a function that writes a member of an object, for example
   hs_write_int_field(writer, key, value). */
#define HS_WRITE_FIELDS(X)                                                                         \
    X(begin, char)                                                                                 \
    X(str, struct hs_str)                                                                          \
    X(text, const char *)                                                                          \
    X(plain, struct hs_str)                                                                        \
    X(word, const char *)                                                                          \
    X(bool, bool)                                                                                  \
    X(int, int64_t)                                                                                \
    X(real, double)                                                                                \
    X(exact, double)                                                                               \
    X(time, int64_t)                                                                               \
    X(vec, struct hs_vec)

#define X(what, type)                                                                              \
    static inline __attribute__((always_inline)) void hs_write_##what##_field(                     \
        struct hs_writer *writer, const char *key, type value)                                     \
    {                                                                                              \
        hs_write_key(writer, key);                                                                 \
        hs_write_##what(writer, value);                                                            \
    }
HS_WRITE_FIELDS(X)
#undef X

/* hs_write_words_field writes an array of the words whose bits are set in `bits`.
   hs_write_counts_field writes an object with the counts that are not 0. The key of each count is
   the word with the same index. */
void hs_write_words_field(struct hs_writer *writer, const char *key,
                          const struct hs_vocabulary *words, unsigned bits);
void hs_write_counts_field(struct hs_writer *writer, const char *key,
                           const struct hs_vocabulary *words, const uint64_t *counts);

#endif
