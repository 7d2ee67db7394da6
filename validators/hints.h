/*
 * Hints: likely mistakes of an integration, found in the claims of a match. A wrong unit, axis or
 * clock makes most honest claims fail in the same way. A hint describes such a mistake in a
 * sentence with numbers.
 *
 * Hints are computed from evaluated claims only. Hints never decide a verdict, and snapshots do not
 * contain hints.
 */
#ifndef HS_HINTS_H
#define HS_HINTS_H

#include <stddef.h>

#include "linkage.h"
#include "match.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

enum { HS_HINTS_MAX = 8, HS_HINT_TEXT = 256 };

struct hs_hint {
    enum hs_hint_code code;
    uint32_t claims, of;       /* `of`: number of claims that could show the mistake; `claims`:
                                  number of claims that show it. Old claims have less weight */
    enum hs_unit unit;         /* unit of `measured` and `expected`; HS_UNIT_NONE: ignore both */
    double measured, expected; /* the value in the claims, and the value according to frames and
                                  ruleset */
    char detail[HS_HINT_TEXT];
};

/* Writes the hints of a match, at most HS_HINTS_MAX. Returns their number. Reads only. */
size_t hs_match_hints(const struct hs_match *match, struct hs_hint out[HS_HINTS_MAX]);

/* Returns the codes of all hints of a match, one bit per enum hs_hint_code. Cheaper than
   hs_match_hints. */
unsigned hs_match_hint_codes(const struct hs_match *match);

HS_PUBLIC_END

#endif
