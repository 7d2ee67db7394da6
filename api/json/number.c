#include "api/json/number.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/word.h"

enum {
    LONGEST_NUMBER = 64,
    WHOLE_DIGITS = 18,   /* the parser refuses integers with more digits */
    LARGEST_DIGITS = 19, /* all numbers with this many digits fit into 64 bits */
    EXACT_POWER = 22,    /* exponent of the largest power of 10 that is exact in a double */
    /* read_words reads at most three words of decimals, and calls read_any for a number with more
       than LARGEST_DIGITS decimals */
    MOST_DECIMALS = 24,
    FAST_LENGTH = 40 /* read_plain and read_words load fewer bytes than this */
};
#define EXACT_DIGITS (UINT64_C(1) << 53)

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* ---- any number ---- */

/* Appends the decimal digits at `at` to the number *digits. Returns the end of the digits. */
static const char *skip_digits(const char *at, const char *end, uint64_t *digits)
{
    for (; at < end && hs_is_digit(*at); at++)
        *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Reads the sign and the digits of an exponent, and adds the exponent to *power. Returns NULL if
   the exponent has no digits or more than 4 digits. */
static const char *read_exponent(const char *at, const char *end, int *power)
{
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    uint64_t value = 0;
    const char *stop = skip_digits(at, end, &value);
    if (stop == at || stop - at > 4)
        return NULL;
    *power += is_negative ? -(int)value : (int)value;
    return stop;
}

static const char *round_long(const char *first, const char *end, double *out)
{
    char text[LONGEST_NUMBER];
    size_t len = (size_t)(end - first);
    if (len >= sizeof text)
        return NULL;
    memcpy(text, first, len);
    text[len] = '\0';
    *out = strtod(text, NULL);
    return fabs(*out) <= HS_NUMBER_MAX ? end : NULL;
}

static const char *read_any(const char *first, const char *end, double *out)
{
    bool is_negative = first < end && *first == '-', is_whole = true;
    const char *at = first + is_negative;
    uint64_t digits = 0;
    int power = 0;
    const char *stop = skip_digits(at, end, &digits);
    ptrdiff_t count = stop - at;
    if (count == 0 || (*at == '0' && count > 1))
        return NULL;
    if (stop < end && *stop == '.') {
        at = stop + 1;
        stop = skip_digits(at, end, &digits);
        if (stop == at || stop - at > LONGEST_NUMBER)
            return NULL;
        count += stop - at;
        power = -(int)(stop - at);
        is_whole = false;
    }
    if (stop < end && (*stop == 'e' || *stop == 'E')) {
        stop = read_exponent(stop + 1, end, &power);
        is_whole = false;
    }
    if (stop == NULL || (is_whole && count > WHOLE_DIGITS))
        return NULL;
    if (count > LARGEST_DIGITS || digits > EXACT_DIGITS || power < -EXACT_POWER ||
        power > EXACT_POWER)
        return round_long(first, stop, out);
    /* Both operands are exact in a double. So only the division or the multiplication rounds, and
       the result is correctly rounded (Clinger, "How to read floating point numbers accurately",
       1990). */
    double value = (double)digits;
    value = power < 0 ? value / powers[-power] : value * powers[power];
    *out = is_negative ? -value : value;
    return stop;
}

/* ---- numbers as games print them ---- */

__extension__ typedef unsigned __int128 wide;

/*
 * Returns digits / 10^decimals, correctly rounded. `digits` must be above 2^53, and `decimals` at
 * most 19. The function divides integers that are scaled so that the quotient has at least 63 bits.
 * If there is a remainder, the function sets the lowest bit of the quotient. So only the conversion
 * to double rounds (algorithm M of Clinger, 1990, in 128 bits).
 */
static double divide(uint64_t digits, size_t decimals)
{
    uint64_t divisor = hs_powers_of_ten[decimals];
    int up = __builtin_clzll(digits), down = __builtin_clzll(divisor);
    wide dividend = (wide)(digits << up) << 63;
    uint64_t quotient = (uint64_t)(dividend / (divisor << down));
    uint64_t rest = (uint64_t)dividend - quotient * (divisor << down);
    uint64_t scale_bits = (uint64_t)(1023 + down - up - 63) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return (double)(quotient | (rest != 0)) * scale;
}

/* Reads a number one word at a time. Calls read_any for numbers in unusual forms. The text must
   have at least FAST_LENGTH bytes from `first` on. */
static const char *read_words(const char *first, const char *end, double *out)
{
    const char *at = first + (*first == '-');
    uint64_t word = hs_word_load(at), digits;
    size_t count = hs_word_first(hs_word_others(word)), decimals = 0;
    if (count == 0 || count == HS_WORD || (*at == '0' && count > 1))
        return read_any(first, end, out);
    digits = hs_word_number(word, count);
    at += count;
    count -= digits == 0; /* a 0 before the point is not a significant digit */
    if (*at == '.') {
        for (size_t more = HS_WORD; more == HS_WORD && decimals < MOST_DECIMALS; decimals += more) {
            word = hs_word_load(at + 1 + decimals);
            more = hs_word_first(hs_word_others(word));
            digits = digits * hs_powers_of_ten[more] + (more > 0 ? hs_word_number(word, more) : 0);
        }
        at += 1 + decimals;
        if (decimals == 0)
            return NULL;
    }
    if (decimals > LARGEST_DIGITS || count + decimals > LARGEST_DIGITS || *at == 'e' || *at == 'E')
        return read_any(first, end, out);
    double value = digits <= EXACT_DIGITS ? (double)(int64_t)digits / powers[decimals]
                                          : divide(digits, decimals);
    *out = *first == '-' ? -value : value;
    return at;
}

/*
 * Reads a number with a point and up to 6 digits, such as 12.345, from one word. The function
 * removes the point, and converts the digits on both sides at once. The function also reads an
 * integer with one digit. For all other numbers, the function calls read_words. No branch depends
 * on the sign or on a leading zero, because the processor could not predict such branches.
 */
static inline const char *read_plain(const char *first, const char *end, double *out)
{
    static const double signs[2] = {1, -1};
    bool is_negative = *first == '-';
    const char *at = first + is_negative;
    /* Load both possible words, with and without the first character, so that no load must wait for
       the test of the sign. */
    uint64_t with = hs_word_load(first), without = hs_word_load(first + 1);
    uint64_t word = is_negative ? without : with;
    uint64_t others = hs_word_others(word), behind = others & (others - 1);
    if (behind == 0)
        return read_words(first, end, out);
    size_t point = hs_word_first_of(others), stop = hs_word_first_of(behind);
    if (point == 1 && (at[1] == ',' || at[1] == ']')) {
        *out = (double)(*at - '0') * signs[is_negative];
        return at + 1;
    }
    size_t most = *at == '0' ? 1 : HS_WORD; /* max number of digits before the point */
    if (at[point] != '.' || (at[stop] | 0x20) == 'e' || point - 1 >= most || stop - point == 1)
        return read_words(first, end, out);
    uint64_t whole = (UINT64_C(1) << 8 * point) - 1;
    uint64_t digits = hs_word_number((word & whole) | ((word >> 8) & ~whole), stop - 1);
    *out = (double)(int64_t)digits / powers[stop - point - 1] * signs[is_negative];
    return at + stop;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && hs_is_space(*at))
        at++;
    return at;
}

const char *hs_numbers_read(const char *at, const char *end, size_t count, double *out)
{
    for (const double *last = out + count - 1;; out++, at++) {
        if (end - at < FAST_LENGTH || *at <= ' ')
            at = skip_space(at, end);
        at = end - at >= FAST_LENGTH ? read_plain(at, end, out) : read_any(at, end, out);
        if (at == NULL || out == last)
            return at;
        if (at < end && *at == ',')
            continue;
        at = skip_space(at, end);
        if (at == end || *at != ',')
            return NULL;
    }
}

bool hs_number_parse(struct hs_str text, double *out)
{
    return text.len > 0 && !hs_is_space(text.ptr[0]) &&
           hs_numbers_read(text.ptr, text.ptr + text.len, 1, out) == text.ptr + text.len;
}
