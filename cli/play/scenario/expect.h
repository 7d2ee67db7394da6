/*
 * Does an answer hold what is expected of it? An expectation names only what matters; the rest of
 * the answer may be anything. Shared by recordings, scenarios and tests; docs/scenarios.md is the
 * reader's page.
 *
 *   object        every named member must be there and match; others are not looked at
 *   array         as long as expected, element by element
 *   number        within the tolerance of its field: lengths and points 1e-3 of a metre,
 *                 directions 1e-3, everything else 2e-6
 *   other         equal
 *   {"$absent":true}              the member is not there
 *   {"$any":true}                 the member is there
 *   {"$near":x,"$within":d}       a number, or each number of a flat array, within d
 *   {"$contains":[e, ..]}         an array with, for each e, an element that matches it
 *   {"$lacks":[e, ..]}            an array without any element that matches one of them
 *   {"$size":n}                   an array, object or string of that many elements or bytes
 *   {"$one_of":[e, ..]}           anything that matches one of them
 *
 * Pure functions; safe from any thread.
 */
#ifndef HS_PLAY_EXPECT_H
#define HS_PLAY_EXPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { HS_EXPECT_FAULT_MAX = 2048 };

/*
 * Compares. `unit` is how many of the answer's units of length make a metre. False, with the
 * pointer of the first difference and a sentence in `fault`, when it does not hold.
 */
bool hs_expect_json(const json_t *expected, const json_t *actual, double unit,
                    char fault[HS_EXPECT_FAULT_MAX]);

/*
 * A whole answer. `expect` may say "status" (default 200), "body" (as above), "code" (of a
 * problem document) and "errors": the JSON pointers of all its bad fields, each once, in any
 * order. Any other member is a fault, so that a misspelt expectation cannot pass.
 */
bool hs_expect_answer(const json_t *expect, long status, const char *body, size_t size, double unit,
                      char fault[HS_EXPECT_FAULT_MAX]);

#endif
