#include "api/json/digits.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/word.h"

__extension__ typedef unsigned __int128 wide;

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

enum { MILLION = 1000000 };

/* Returns the number of decimal digits of `value`. 0 has one digit. */
static int count_digits(uint64_t value)
{
    int bits = 64 - __builtin_clzll(value | 1);
    int count = bits * 1233 >> 12; /* log10(2) is about 1233 / 4096 */
    return count + (value >= hs_powers_of_ten[count]) + (value == 0);
}

/* Writes the last `count` digits of a number. */
static char *put_digits(char *at, uint64_t value, int count)
{
    int left = count;
    for (; left >= 2; value /= 100) {
        left -= 2;
        memcpy(at + left, pairs + value % 100 * 2, 2);
    }
    if (left > 0)
        *at = (char)('0' + value % 10);
    return at + count;
}

static char *put_sign(char *at, int64_t value, uint64_t *magnitude)
{
    *magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '-';
    return at + (value < 0);
}

static char *put_long(char *at, uint64_t value)
{
    return put_digits(at, value, count_digits(value));
}

/* Writes a whole number. Most coordinates have one or two digits before the point, so these numbers
   are written without a function call. */
static inline __attribute__((always_inline)) char *put_whole(char *at, uint64_t value)
{
    if (value >= 100)
        return put_long(at, value);
    bool has_two = value >= 10;
    *at = pairs[2 * value];
    at += has_two;
    *at = pairs[2 * value + 1];
    return at + 1;
}

char *hs_digits_unsigned(char *at, uint64_t value)
{
    return put_whole(at, value);
}

char *hs_digits_hex(char *at, uint64_t value)
{
    for (int i = 0; i < 2; i++, value <<= 32) {
        /* Spread eight digits of four bits each over the eight bytes of a word. */
        uint64_t word = value >> 32;
        word = (word | word << 16) & UINT64_C(0x0000ffff0000ffff);
        word = (word | word << 8) & UINT64_C(0x00ff00ff00ff00ff);
        word = (word | word << 4) & HS_WORD_EACH(15);
        /* If a digit is above 9, adding 6 carries into the upper half of the digit's byte. */
        uint64_t letters = (word + HS_WORD_EACH(6)) >> 4 & HS_WORD_EACH(1);
        word = htobe64(word + HS_WORD_EACH('0') + letters * ('a' - '0' - 10));
        at = mempcpy(at, &word, sizeof word);
    }
    return at;
}

/* Returns the end of a text after its trailing zeros are removed. At least one of the last 6
   characters must not be '0'. The memory of the last 8 characters must be readable. */
static char *trim_six(char *end)
{
    uint64_t others = hs_word_load(end - HS_WORD) ^ HS_WORD_EACH('0');
    return end - __builtin_clzll(others) / 8;
}

/* Returns the end of a text after its trailing zeros are removed. At least one character must not
   be '0'. */
static char *trim(char *end)
{
    while (end[-1] == '0')
        end--;
    return end;
}

char *hs_digits_whole(char *at, int64_t value)
{
    uint64_t magnitude;
    at = put_sign(at, value, &magnitude);
    return hs_digits_unsigned(at, magnitude);
}

char *hs_digits_millionths(char *at, int64_t value)
{
    uint64_t magnitude;
    at = put_sign(at, value, &magnitude);
    uint64_t whole = magnitude / MILLION;
    uint32_t part = (uint32_t)(magnitude - whole * MILLION);
    at = put_whole(at, whole);
    if (part == 0)
        return at;
    at[0] = '.';
    memcpy(at + 1, pairs + 2 * (size_t)(part / 10000), 2);
    memcpy(at + 3, pairs + 2 * (size_t)(part / 100 % 100), 2);
    memcpy(at + 5, pairs + 2 * (size_t)(part % 100), 2);
    return trim_six(at + 7);
}

/* Writes a number with `low` significant digits. If this text does not read back as the same
   number, uses more digits, up to `high`. */
static char *print_shortest(char *at, double value, int low, int high, bool is_float)
{
    char text[HS_DIGITS_MAX];
    for (int digits = low; digits <= high; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if ((is_float ? (double)strtof(text, NULL) : strtod(text, NULL)) == value)
            break;
    }
    return mempcpy(at, text, strlen(text));
}

/* Represents the number mantissa * 2^-shift. The mantissa has 53 bits. */
struct binary {
    uint64_t mantissa;
    int shift;
};

/*
 * Rounds a number, half to even, to a multiple of 10^-decimals. Returns the multiple in units of
 * 10^-decimals. Sets *reads_back to whether the text of the multiple reads back as the same double.
 * The text reads back as the same double if the multiple differs from the number by less than half
 * of the distance between adjacent doubles. Just below a power of two, this
 * distance is half as large as just above the power of two. If the multiple is exactly between two
 * doubles, the text reads back as the double with the even mantissa.
 */
static uint64_t round_binary(struct binary number, int decimals, bool *reads_back)
{
    wide product = (wide)number.mantissa * hs_powers_of_ten[decimals];
    uint64_t one = UINT64_C(1) << number.shift, rest = (uint64_t)product & (one - 1);
    uint64_t rounded = (uint64_t)(product >> number.shift);
    bool is_up = rest > one / 2 || (rest == one / 2 && rounded % 2 != 0);
    bool is_narrow = !is_up && number.mantissa == UINT64_C(1) << 52;
    uint64_t off = (is_up ? one - rest : rest) * (is_narrow ? 4 : 2);
    *reads_back = off < hs_powers_of_ten[decimals] ||
                  (off == hs_powers_of_ten[decimals] && number.mantissa % 2 == 0);
    return rounded + is_up;
}

/* Returns whether round_binary can be used for a number. For these numbers, binary.shift is 3 to
   62, as round_binary requires. */
static bool is_usual(double magnitude)
{
    return magnitude >= 1e-3 && magnitude < 1e15;
}

static struct binary binary_of(double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return (struct binary){.mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52,
                           .shift = 1075 - (int)(bits >> 52)};
}

/* Returns the number of significant digits before the point. For a number below 1, counts the zeros
   right after the point, and returns minus this count. */
static int digits_before_point(double magnitude)
{
    return magnitude >= 1      ? count_digits((uint64_t)magnitude)
           : magnitude >= 1e-1 ? 0
           : magnitude >= 1e-2 ? -1
                               : -2;
}

/* Writes value / 10^decimals as a decimal number without trailing zeros. */
static char *put_decimal(char *at, uint64_t value, int decimals)
{
    uint64_t part = value % hs_powers_of_ten[decimals];
    at = put_whole(at, value / hs_powers_of_ten[decimals]);
    if (part == 0)
        return at;
    *at = '.';
    return trim(put_digits(at + 1, part, decimals));
}

char *hs_digits_double(char *at, double value)
{
    double magnitude = fabs(value);
    if (magnitude < 1e15 && value == (double)(int64_t)value)
        return hs_digits_whole(at, (int64_t)value);
    if (!is_usual(magnitude))
        return print_shortest(at, value, 15, 17, false);
    struct binary number = binary_of(magnitude);
    int before = digits_before_point(magnitude), decimals = 14 - before;
    bool reads_back = false;
    uint64_t rounded = 0;
    while (!reads_back && decimals < 17 - before)
        rounded = round_binary(number, ++decimals, &reads_back);
    *at = '-';
    return put_decimal(at + (value < 0), rounded, decimals);
}

char *hs_digits_rounded(char *at, double value, int digits, double *shown)
{
    double magnitude = fabs(value);
    bool ignored;
    if (!is_usual(magnitude))
        return NULL;
    int decimals = digits - digits_before_point(magnitude);
    *at = '-';
    at += value < 0;
    if (decimals >= 0) {
        uint64_t rounded = round_binary(binary_of(magnitude), decimals, &ignored);
        *shown = copysign((double)rounded / (double)hs_powers_of_ten[decimals], value);
        return put_decimal(at, rounded, decimals);
    }
    uint64_t whole = (uint64_t)magnitude, step = hs_powers_of_ten[-decimals];
    uint64_t rounded = whole / step, twice = whole % step * 2;
    bool is_tie = twice == step && magnitude == (double)whole;
    rounded += twice > step || (twice == step && (!is_tie || rounded % 2 != 0));
    *shown = copysign((double)(rounded * step), value);
    return hs_digits_unsigned(at, rounded * step);
}

char *hs_digits_float(char *at, float value)
{
    return print_shortest(at, (double)value, 6, 9, true);
}
