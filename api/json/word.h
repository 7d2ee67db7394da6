/*
 * Functions that process eight characters of a text at once, in one 64-bit word (Lamport, "Multiple
 * byte processing with full-word instructions", 1975). The first character is in the lowest byte.
 */
#ifndef HS_API_JSON_WORD_H
#define HS_API_JSON_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Entry i is 10^i. The table contains all powers of ten that fit into 64 bits. It is defined in a
   header, so that compilers can replace a division by a constant entry with a multiplication. */
static const uint64_t hs_powers_of_ten[20] = {1,
                                              10,
                                              100,
                                              1000,
                                              10000,
                                              100000,
                                              1000000,
                                              10000000,
                                              100000000,
                                              1000000000,
                                              10000000000,
                                              100000000000,
                                              1000000000000,
                                              10000000000000,
                                              100000000000000,
                                              1000000000000000,
                                              10000000000000000,
                                              100000000000000000,
                                              1000000000000000000,
                                              10000000000000000000U};

static inline bool hs_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool hs_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum { HS_WORD = 8 };

#define HS_WORD_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t hs_word_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Returns the index of the first byte of `marks` that has its highest bit set. At least one byte
   must have its highest bit set. */
static inline size_t hs_word_first_of(uint64_t marks)
{
    return (unsigned)__builtin_ctzll(marks) / 8;
}

/* Like hs_word_first_of, but returns HS_WORD if `marks` is 0. */
static inline size_t hs_word_first(uint64_t marks)
{
    return marks != 0 ? hs_word_first_of(marks) : HS_WORD;
}

/* Marks the characters that are not digits. In the result, the highest bit of a byte is set if the
   character in this byte is not a digit. All other bits are 0. The marks after a character that is
   not ASCII may be wrong, because of a carry. */
static inline uint64_t hs_word_others(uint64_t word)
{
    uint64_t values = word ^ HS_WORD_EACH('0');
    return (values | (values + HS_WORD_EACH(0x80 - 10))) & HS_WORD_EACH(0x80);
}

/* Returns the word with all bytes after the first `count` (0 to 7) set to zero. */
static inline uint64_t hs_word_keep(uint64_t word, size_t count)
{
    return word & ((UINT64_C(1) << 8 * count) - 1);
}

/* Returns the number that the first `count` (1 to 8) characters represent. These characters must be
   digits. The function combines pairs of digits, then pairs of pairs (Lemire, "Number parsing at a
   gigabyte per second", 2021). */
static inline uint64_t hs_word_number(uint64_t word, size_t count)
{
    const uint64_t pair = UINT64_C(0x000000FF000000FF);
    word = (word ^ HS_WORD_EACH('0')) << (64 - 8 * count);
    word = word * 10 + (word >> 8);
    return ((word & pair) * UINT64_C(0x000F424000000064) +
            ((word >> 16) & pair) * UINT64_C(0x0000271000000001)) >>
           32;
}

/* Returns the number of characters before the first quotation mark, or HS_WORD if the word contains
   no quotation mark. */
static inline size_t hs_word_quote(uint64_t word)
{
    uint64_t values = word ^ HS_WORD_EACH('"');
    return hs_word_first((values - HS_WORD_EACH(1)) & ~values & HS_WORD_EACH(0x80));
}

#endif
