#include "api/json/cursor.h"

enum { WHOLE_DIGITS = 18 /* the parser refuses integers with more digits */ };

bool hs_cursor_take_spaced(struct hs_cursor *cursor, char c)
{
    const char *at = cursor->at;
    while (at < cursor->end && hs_is_space(*at))
        at++;
    if (at == cursor->end || *at != c)
        return false;
    cursor->at = at + 1;
    return true;
}

/* ---- numbers ---- */

bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3])
{
    return hs_cursor_take(cursor, '[') && hs_cursor_take_numbers(cursor, 3, out) &&
           hs_cursor_take(cursor, ']');
}

static bool is_at(const struct hs_cursor *cursor, char c)
{
    return cursor->at < cursor->end && *cursor->at == c;
}

/* Reads the digits at the cursor. Sets *digits to their value, and returns the number of digits. */
static size_t take_digits(struct hs_cursor *cursor, uint64_t *digits)
{
    const char *at = cursor->at;
    uint64_t value = 0;
    for (; at < cursor->end && hs_is_digit(*at); at++)
        value = value * 10 + (uint64_t)(*at - '0');
    size_t count = (size_t)(at - cursor->at);
    cursor->at = at;
    *digits = value;
    return count;
}

bool hs_cursor_take_whole(struct hs_cursor *cursor, uint64_t high, uint64_t *out)
{
    hs_cursor_skip_space(cursor);
    bool leading_zero = is_at(cursor, '0');
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

/* ---- any value ---- */

/* Skips a string. The cursor must be at the opening quotation mark of the string. */
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
    return hs_is_space(c) || c == ',' || c == ']' || c == '}' || c == '[' || c == '{' || c == '"' ||
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
