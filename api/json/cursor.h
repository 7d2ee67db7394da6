/*
 * A position in a JSON text. A cursor reads long arrays of numbers directly from a body that would
 * need too much memory as a tree of values. A cursor reads only values in their usual form. The
 * caller passes each unusual or faulty value to the parser.
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

/* Skips white space and then the character `c`. Returns false and does not move the cursor if
   another character follows the white space. */
bool hs_cursor_take_spaced(struct hs_cursor *cursor, char c);

/* Like hs_cursor_take_spaced, but faster if `c` is the next character. */
static inline bool hs_cursor_take(struct hs_cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return hs_cursor_take_spaced(cursor, c);
    cursor->at++;
    return true;
}

/* Reads `count` numbers with commas between them (hs_numbers_read). Returns false and does not move
   the cursor if the text has another form. */
static inline bool hs_cursor_take_numbers(struct hs_cursor *cursor, size_t count, double *out)
{
    const char *stop = hs_numbers_read(cursor->at, cursor->end, count, out);
    cursor->at = stop != NULL ? stop : cursor->at;
    return stop != NULL;
}

/* Reads an integer from 0 to `high`. Returns false if the text has another form, or if the integer
   is above `high` or has more than 18 digits. The position of the cursor is then undefined. */
bool hs_cursor_take_whole(struct hs_cursor *cursor, uint64_t high, uint64_t *out);

/*
 * These functions read an array of three numbers, `[a,b,c]`. They return false if the text has
 * another form. In this case the position of the cursor is undefined, and the caller must read the
 * array with the parser. Reals are rounded to nearest, as strtod does. Integers must fit into
 * 32 bits, and must not have a sign, a fraction or an exponent.
 */
bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3]);
bool hs_cursor_take_integers(struct hs_cursor *cursor, uint32_t out[3]);

/* Skips a value. Examines only strings and brackets. Returns false if no value begins at the
   cursor, if the text ends inside the value, or if the value nests deeper than `levels`. In this
   last case, sets *too_deep to true. After a failure, the cursor is at the fault. */
bool hs_cursor_skip_value(struct hs_cursor *cursor, size_t levels, bool *too_deep);

#endif
