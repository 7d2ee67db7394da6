/*
 * Writes values to a buffer as little-endian bytes, and reads them back. The reader never reads
 * past the end of its input.
 */
#ifndef HS_ENCODING_H
#define HS_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "validators/bytes.h"
#include "validators/str.h"

/* Grows the buffer so that the next `size` bytes fit. Returns false, and changes nothing, if out of
   memory. */
bool hs_bytes_ensure(struct hs_bytes *bytes, size_t size);

/* Appends `size` bytes that are not set yet, and returns their address; NULL if out of memory.
   Inline, because thousands of values are appended when a match is saved. */
static inline unsigned char *hs_bytes_reserve(struct hs_bytes *bytes, size_t size)
{
    if (bytes->failed)
        return NULL;
    if (size > bytes->capacity - bytes->len && !hs_bytes_ensure(bytes, size)) {
        bytes->failed = true;
        return NULL;
    }
    unsigned char *at = bytes->data + bytes->len;
    bytes->len += size;
    return at;
}

/* Writes the lowest `size` bytes (1 .. 8) of a value. */
static inline void hs_bytes_store(unsigned char *to, uint64_t value, unsigned size)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        memcpy(to, &value, size);
    else
        for (unsigned i = 0; i < size; i++)
            to[i] = (unsigned char)(value >> 8 * i);
}

/* Appends the lowest `size` bytes (1 .. 8) of a value. */
static inline void hs_bytes_put(struct hs_bytes *bytes, uint64_t value, unsigned size)
{
    unsigned char *to = hs_bytes_reserve(bytes, size);
    if (to != NULL)
        hs_bytes_store(to, value, size);
}

/* Overwrites `size` bytes that were appended earlier, starting at the offset `at`. */
static inline void hs_bytes_patch(struct hs_bytes *bytes, size_t at, uint64_t value, unsigned size)
{
    if (!bytes->failed)
        hs_bytes_store(bytes->data + at, value, size);
}

static inline void hs_bytes_put_run(struct hs_bytes *bytes, const void *from, size_t size)
{
    unsigned char *to = hs_bytes_reserve(bytes, size);
    if (to != NULL && size > 0)
        memcpy(to, from, size);
}

static inline void hs_bytes_put_real(struct hs_bytes *bytes, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    hs_bytes_put(bytes, word, sizeof word);
}

/* Appends one byte with the length, then the name (at most 255 bytes). */
static inline void hs_bytes_put_name(struct hs_bytes *bytes, const char *name)
{
    size_t len = strlen(name);
    hs_bytes_put(bytes, len, 1);
    hs_bytes_put_run(bytes, name, len);
}

/* Reads bytes that the functions above wrote. A read past the end fails. A failed read, and every
   read after it, returns 0. */
struct hs_bytes_reader {
    const unsigned char *at, *end;
    bool failed;
};

static inline const unsigned char *hs_bytes_take(struct hs_bytes_reader *reader, size_t size)
{
    if (reader->failed || size > (size_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    const unsigned char *taken = reader->at;
    reader->at += size;
    return taken;
}

static inline uint64_t hs_bytes_get(struct hs_bytes_reader *reader, unsigned size)
{
    const unsigned char *from = hs_bytes_take(reader, size);
    uint64_t value = 0;
    for (unsigned i = 0; from != NULL && i < size; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline double hs_bytes_get_real(struct hs_bytes_reader *reader)
{
    uint64_t word = hs_bytes_get(reader, sizeof word);
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Reads a name, which points into the input. */
static inline struct hs_str hs_bytes_get_name(struct hs_bytes_reader *reader)
{
    size_t len = hs_bytes_get(reader, 1);
    const unsigned char *name = hs_bytes_take(reader, len);
    return (struct hs_str){(const char *)name, name != NULL ? len : 0};
}

/* Reads a number. If the number is above `max`, the read fails. */
static inline uint64_t hs_bytes_get_max(struct hs_bytes_reader *reader, unsigned size, uint64_t max)
{
    uint64_t value = hs_bytes_get(reader, size);
    if (value <= max)
        return value;
    reader->failed = true;
    return 0;
}

#endif
