#include "api/json/cursor.h"

#include <stdlib.h>
#include <string.h>

/* The parser refuses longer integers; the largest that uint64_t holds; powers of 10 that are exact.
 */
enum { LONGEST_NUMBER = 64, WHOLE_DIGITS = 18, LARGEST_DIGITS = 19, EXACT_POWER = 22 };
#define EXACT_DIGITS (UINT64_C(1) << 53)

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

/* Digits from the cursor on, appended to `digits`. Returns how many there are. */
static size_t take_digits(struct hs_cursor *cursor, uint64_t *digits)
{
    const char *at = cursor->at;
    uint64_t value = *digits;
    for (; at < cursor->end && is_digit(*at); at++)
        value = value * 10 + (uint64_t)(*at - '0');
    size_t count = (size_t)(at - cursor->at);
    cursor->at = at;
    *digits = value;
    return count;
}

static bool is_at(const struct hs_cursor *cursor, char c)
{
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool take_exponent(struct hs_cursor *cursor, int *power)
{
    cursor->at++;
    bool negative = is_at(cursor, '-');
    if (negative || is_at(cursor, '+'))
        cursor->at++;
    uint64_t value = 0;
    size_t count = take_digits(cursor, &value);
    if (count == 0 || count > 4)
        return false;
    *power += negative ? -(int)value : (int)value;
    return true;
}

/* Rounds a number of any length. */
static bool round_long(const struct hs_cursor *cursor, const char *first, double *out)
{
    char text[LONGEST_NUMBER];
    size_t len = (size_t)(cursor->at - first);
    if (len >= sizeof text)
        return false;
    memcpy(text, first, len);
    text[len] = '\0';
    *out = strtod(text, NULL);
    return true;
}

bool hs_cursor_take_number(struct hs_cursor *cursor, double *out)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    hs_cursor_skip_space(cursor);
    const char *first = cursor->at;
    bool negative = is_at(cursor, '-'), is_whole = true;
    cursor->at += negative;
    bool leading_zero = is_at(cursor, '0');
    uint64_t digits = 0;
    int power = 0;
    size_t count = take_digits(cursor, &digits);
    if (count == 0 || (leading_zero && count > 1))
        return false;
    if (is_at(cursor, '.')) {
        cursor->at++;
        size_t decimals = take_digits(cursor, &digits);
        if (decimals == 0 || decimals > LONGEST_NUMBER)
            return false;
        is_whole = false;
        count += decimals;
        power = -(int)decimals;
    }
    if (is_at(cursor, 'e') || is_at(cursor, 'E')) {
        is_whole = false;
        if (!take_exponent(cursor, &power))
            return false;
    }
    if (is_whole && count > WHOLE_DIGITS)
        return false;
    if (count > LARGEST_DIGITS || digits > EXACT_DIGITS || power < -EXACT_POWER ||
        power > EXACT_POWER)
        return round_long(cursor, first, out);
    /* Both factors are exact in double, so the one operation rounds correctly (Clinger, "How to
       read floating point numbers accurately", 1990). */
    double value = (double)digits;
    value = power < 0 ? value / powers[-power] : value * powers[power];
    *out = negative ? -value : value;
    return true;
}

bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3])
{
    return hs_cursor_take(cursor, '[') && hs_cursor_take_number(cursor, &out[0]) &&
           hs_cursor_take(cursor, ',') && hs_cursor_take_number(cursor, &out[1]) &&
           hs_cursor_take(cursor, ',') && hs_cursor_take_number(cursor, &out[2]) &&
           hs_cursor_take(cursor, ']');
}

bool hs_cursor_take_whole(struct hs_cursor *cursor, uint64_t high, uint64_t *out)
{
    hs_cursor_skip_space(cursor);
    bool leading_zero = is_at(cursor, '0');
    *out = 0;
    size_t count = take_digits(cursor, out);
    bool ends = !is_at(cursor, '.') && !is_at(cursor, 'e') && !is_at(cursor, 'E');
    return count > 0 && count <= WHOLE_DIGITS && (!leading_zero || count == 1) && *out <= high &&
           ends;
}

static bool take_integer(struct hs_cursor *cursor, uint32_t *out)
{
    uint64_t value;
    bool fine = hs_cursor_take_whole(cursor, UINT32_MAX, &value);
    *out = (uint32_t)value;
    return fine;
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
