/*
 * Hints: what an integration probably does wrong, found in the claims of a match. A wrong unit,
 * axis or clock makes most honest claims fail in the same way; a hint says so in a sentence with
 * numbers.
 *
 * Hints are computed from judged claims alone and never decide a verdict. They are in no snapshot.
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
    uint32_t claims, of;       /* claims that show it, of those that could; old claims fade */
    enum hs_unit unit;         /* of the two numbers; HS_UNIT_NONE: they mean nothing */
    double measured, expected; /* in the claims; by frames and ruleset */
    char detail[HS_HINT_TEXT];
};

/* The hints of a match, at most HS_HINTS_MAX. Returns how many. */
size_t hs_match_hints(const struct hs_match *match, struct hs_hint out[HS_HINTS_MAX]);

/* The codes of all hints of a match: a bit for each enum hs_hint_code. Cheap. */
unsigned hs_match_hint_codes(const struct hs_match *match);

HS_PUBLIC_END

#endif
