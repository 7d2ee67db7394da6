/*
 * Hints report likely mistakes in the integration of a game. A wrong unit, axis or clock makes most
 * honest claims fail in the same way. A hint describes such a mistake in a sentence with numbers.
 *
 * Hints are derived from the evaluated claims of a match. Hints never decide a verdict, and
 * snapshots do not contain hints.
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
    uint32_t claims, of;       /* how many claims show the mistake, and how many could show it;
                                  old claims count less */
    enum hs_unit unit;         /* unit of `measured` and `expected`; HS_UNIT_NONE: ignore both */
    double measured, expected; /* the value in the claims, and the value that follows from
                                  frames and ruleset */
    char detail[HS_HINT_TEXT];
};

/* Writes at most HS_HINTS_MAX hints for a match to `out` and returns how many. */
size_t hs_match_hints(const struct hs_match *match, struct hs_hint out[HS_HINTS_MAX]);

/* Returns the codes of all hints for a match, as bits `1 << code` (enum hs_hint_code). This
   function is cheaper than hs_match_hints. */
unsigned hs_match_hint_codes(const struct hs_match *match);

HS_PUBLIC_END

#endif
