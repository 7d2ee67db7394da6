#include "api/json/cursor.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 64, EXACT_DIGITS = 15, EXACT_POWER = 22 };

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void hs_cursor_skip_space(struct hs_cursor *cursor)
{
    while (cursor->at < cursor->end && is_space(*cursor->at))
        cursor->at++;
}

bool hs_cursor_take(struct hs_cursor *cursor, char c)
{
    const char *at = cursor->at;
    while (at < cursor->end && is_space(*at))
        at++;
    if (at == cursor->end || *at != c)
        return false;
    cursor->at = at + 1;
    return true;
}

/* ---- numbers ---- */

/* A decimal number: digits x 10^power. */
struct decimal {
    uint64_t digits;
    int count; /* of the digits, without leading zeros */
    int power;
    bool negative;
};

static char peek(const struct hs_cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

/* Reads digits; those of a fraction lower the power. False: no digit. */
static bool take_digits(struct hs_cursor *cursor, struct decimal *d, bool fraction)
{
    const char *first = cursor->at;
    for (; is_digit(peek(cursor)); cursor->at++) {
        if (d->count > 0 || *cursor->at != '0')
            d->count++;
        if (d->count <= EXACT_DIGITS)
            d->digits = d->digits * 10 + (uint64_t)(*cursor->at - '0');
        d->power -= fraction;
    }
    return cursor->at > first;
}

static bool take_exponent(struct hs_cursor *cursor, struct decimal *d)
{
    cursor->at++;
    bool negative = peek(cursor) == '-';
    if (negative || peek(cursor) == '+')
        cursor->at++;
    const char *first = cursor->at;
    int power = 0;
    for (; is_digit(peek(cursor)); cursor->at++)
        power = power < 10000 ? power * 10 + (*cursor->at - '0') : power;
    d->power += negative ? -power : power;
    return cursor->at > first;
}

/* The grammar of RFC 8259. */
static bool take_decimal(struct hs_cursor *cursor, struct decimal *d)
{
    *d = (struct decimal){0};
    if (peek(cursor) == '-') {
        d->negative = true;
        cursor->at++;
    }
    bool leading_zero = peek(cursor) == '0';
    const char *first = cursor->at;
    if (!take_digits(cursor, d, false) || (leading_zero && cursor->at > first + 1))
        return false;
    if (peek(cursor) == '.') {
        cursor->at++;
        if (!take_digits(cursor, d, true))
            return false;
    }
    if (peek(cursor) == 'e' || peek(cursor) == 'E')
        return take_exponent(cursor, d);
    return true;
}

static bool take_real(struct hs_cursor *cursor, double *out)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    hs_cursor_skip_space(cursor);
    const char *first = cursor->at;
    struct decimal d;
    if (!take_decimal(cursor, &d))
        return false;
    if (d.count <= EXACT_DIGITS && d.power >= -EXACT_POWER && d.power <= EXACT_POWER) {
        /* Both factors are exact in double, so the one operation rounds correctly (Clinger, "How to
           read floating point numbers accurately", 1990). */
        double value = (double)d.digits;
        value = d.power < 0 ? value / powers[-d.power] : value * powers[d.power];
        *out = d.negative ? -value : value;
        return true;
    }
    char text[LONGEST_NUMBER];
    size_t len = (size_t)(cursor->at - first);
    if (len >= sizeof text)
        return false;
    memcpy(text, first, len);
    text[len] = '\0';
    *out = strtod(text, NULL);
    return true;
}

bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3])
{
    return hs_cursor_take(cursor, '[') && take_real(cursor, &out[0]) &&
           hs_cursor_take(cursor, ',') && take_real(cursor, &out[1]) &&
           hs_cursor_take(cursor, ',') && take_real(cursor, &out[2]) && hs_cursor_take(cursor, ']');
}

static bool take_integer(struct hs_cursor *cursor, uint32_t *out)
{
    uint64_t value = 0;
    hs_cursor_skip_space(cursor);
    const char *first = cursor->at;
    for (; is_digit(peek(cursor)) && value <= UINT32_MAX; cursor->at++)
        value = value * 10 + (uint64_t)(*cursor->at - '0');
    if (cursor->at == first || (*first == '0' && cursor->at > first + 1) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

bool hs_cursor_take_integers(struct hs_cursor *cursor, uint32_t out[3])
{
    return hs_cursor_take(cursor, '[') && take_integer(cursor, &out[0]) &&
           hs_cursor_take(cursor, ',') && take_integer(cursor, &out[1]) &&
           hs_cursor_take(cursor, ',') && take_integer(cursor, &out[2]) &&
           hs_cursor_take(cursor, ']');
}

/* ---- anything ---- */

/* Skips a string, from its opening quotation mark on. */
static bool skip_string(struct hs_cursor *cursor)
{
    for (cursor->at++; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at == '\\')
            cursor->at++;
        else if (*cursor->at == '"') {
            cursor->at++;
            return true;
        }
    }
    cursor->at = cursor->end;
    return false;
}

static bool ends_plain(char c)
{
    return is_space(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"' ||
           c == ':';
}

bool hs_cursor_skip_value(struct hs_cursor *cursor, size_t levels, bool *too_deep)
{
    size_t depth = 0;
    *too_deep = false;
    hs_cursor_skip_space(cursor);
    if (cursor->at < cursor->end && ends_plain(*cursor->at) && *cursor->at != '[' &&
        *cursor->at != '{' && *cursor->at != '"')
        return false;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '"') {
            if (!skip_string(cursor))
                return false;
        } else if (c == '[' || c == '{') {
            if (depth == levels) {
                *too_deep = true;
                return false;
            }
            depth++;
            cursor->at++;
        } else if (c == ']' || c == '}') {
            depth--;
            cursor->at++;
        } else if (ends_plain(c)) {
            cursor->at++;
        } else {
            while (cursor->at < cursor->end && !ends_plain(*cursor->at))
                cursor->at++;
        }
        if (depth == 0)
            return true;
    }
    return false;
}
