/* Integers as little-endian bytes on any machine, for checkpoint and map files. */
#ifndef HS_SERVICE_WORDS_H
#define HS_SERVICE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Writes the lowest `size` bytes (1 .. 8) of a value. */
static inline void hs_word_put(unsigned char *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t hs_word_get(const unsigned char *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

#endif
