/*
 * A place in a JSON text, for the few requests that are too large to build a tree of: long arrays
 * of numbers are read where they stand. Only what is quick to read is read here; everything else,
 * faults above all, is left to the ordinary parser, one small value at a time.
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

/* Goes past `c` and white space before it; false, at the same place, when something else stands
   there. */
bool hs_cursor_take(struct hs_cursor *cursor, char c);

/*
 * Reads `[a,b,c]`; false, and the cursor anywhere, when it is not exactly that: the element must
 * then be given to the parser. Reals are rounded to nearest as by strtod; integers are written
 * without sign, fraction and exponent and fit 32 bits.
 */
bool hs_cursor_take_reals(struct hs_cursor *cursor, double out[3]);
bool hs_cursor_take_integers(struct hs_cursor *cursor, uint32_t out[3]);

/*
 * Goes past a value without looking at its inside but for strings and brackets, which nest at most
 * `levels` deep. False, with the cursor where it goes wrong, when it nests deeper (*too_deep) or
 * the text ends first.
 */
bool hs_cursor_skip_value(struct hs_cursor *cursor, size_t levels, bool *too_deep);

#endif
