/*
 * A position in a JSON text. A cursor reads long arrays of numbers directly from bodies that would
 * be too large as a tree of values. It reads only the usual form of a value. The caller passes
 * unusual and faulty values to the parser, one small value at a time.
 */
#ifndef HS_API_JSON_CURSOR_H
#define HS_API_JSON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/json/number.h"
#include "api/json/word.h"
#include "validators/str.h"

struct hs_cursor {
    const char *at, *end;
};

static inline void hs_cursor_skip_space(struct hs_cursor *cursor)
{
    while (cursor->at < cursor->end && *cursor->at <= ' ' && hs_is_space(*cursor->at))
        cursor->at++;
}

/* Skips white space and then `c`. Returns false if another character follows; the cursor does not
   move then. */
bool hs_cursor_take_spaced(struct hs_cursor *cursor, char c);

/* Like hs_cursor_take_spaced, but faster if `c` is the next character. */
static inline bool hs_cursor_take(struct hs_cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return hs_cursor_take_spaced(cursor, c);
    cursor->at++;
    return true;
}

/* Reads `count` numbers with commas between them; see hs_numbers_read. Returns false if the text
   has another form; the cursor does not move then. */
static inline bool hs_cursor_take_numbers(struct hs_cursor *cursor, size_t count, double *out)
{
    const char *stop = hs_numbers_read(cursor->at, cursor->end, count, out);
    cursor->at = stop != NULL ? stop : cursor->at;
    return stop != NULL;
}

/* Reads an integer from 0 to `high`. Returns false if the text has another form, or if the integer
   is too large or too long. The position of the cursor is then undefined. */
bool hs_cursor_take_whole(struct hs_cursor *cursor, uint64_t high, uint64_t *out);

/*
 * Read an array of three numbers, `[a,b,c]`. Return false if the text has another form. In this
 * case the position of the cursor is undefined, and the caller must read the array with the parser.
 * Reals are rounded to nearest, as strtod does. Integers must fit 32 bits, and have no sign,
 * fraction or exponent.
 */
bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3]);
bool hs_cursor_take_integers(struct hs_cursor *cursor, uint32_t out[3]);

/* Skips a value. Examines only its strings and brackets. Returns false if no value begins here, if
   the text ends inside the value, or if the value nests deeper than `levels` (sets *too_deep). The
   cursor is then at the fault. */
bool hs_cursor_skip_value(struct hs_cursor *cursor, size_t levels, bool *too_deep);

#endif
