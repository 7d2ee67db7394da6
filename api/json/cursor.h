/*
 * A position in a JSON text. A cursor reads long arrays of numbers directly, from requests that are
 * too large for a tree of values. The cursor reads only the usual form of a value. The caller
 * passes unusual and faulty values to the parser, one small value at a time.
 */
#ifndef HS_API_JSON_CURSOR_H
#define HS_API_JSON_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_cursor {
    const char *at, *end;
};

void hs_cursor_skip_space(struct hs_cursor *cursor);

/* Skips white space and then `c`. False: the character after the white space is not `c`, and the
   cursor did not move. */
bool hs_cursor_take_spaced(struct hs_cursor *cursor, char c);

/* Does the same as hs_cursor_take_spaced, but faster if `c` is the next character. */
static inline bool hs_cursor_take(struct hs_cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return hs_cursor_take_spaced(cursor, c);
    cursor->at++;
    return true;
}

/* Reads `count` numbers with commas between them; see hs_numbers_read. False: the text does not
   have this form, and the cursor did not move. */
bool hs_cursor_take_numbers(struct hs_cursor *cursor, size_t count, double *out);

/* Reads an integer from 0 to `high`. False: the text does not have this form, or the parser refuses
   the integer. The position of the cursor is then undefined. */
bool hs_cursor_take_whole(struct hs_cursor *cursor, uint64_t high, uint64_t *out);

/*
 * Read `[a,b,c]`. False: the text does not have this form, so the caller must pass the element to
 * the parser. The position of the cursor is then undefined. Reals are rounded to nearest, as strtod
 * does. Integers fit 32 bits and have no sign, fraction or exponent.
 */
bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3]);
bool hs_cursor_take_integers(struct hs_cursor *cursor, uint32_t out[3]);

/* Skips a value. Examines only its strings and brackets. False: the value nests deeper than
   `levels` (sets *too_deep), or the text ends inside it. The cursor is then at the fault. */
bool hs_cursor_skip_value(struct hs_cursor *cursor, size_t levels, bool *too_deep);

#endif
