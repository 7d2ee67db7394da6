/*
 * Compares an answer with an expectation. An expectation contains only the members that matter; the
 * rest of the answer may be anything. Recordings, scenarios and tests contain expectations.
 * docs/scenarios.md describes the format.
 *
 *   object        every expected member must be present and match; other members are ignored
 *   array         the same number of elements, which match in order
 *   number        within the tolerance of its field: lengths and points 1e-3 of a metre,
 *                 directions 1e-3, everything else 2e-6
 *   other         equal
 *   {"$absent":true}              the member is absent
 *   {"$any":true}                 the member is present
 *   {"$near":x,"$within":d}       within d of the number x; x may be a flat array of numbers
 *   {"$contains":[e, ..]}         an array that contains a matching element for each e
 *   {"$lacks":[e, ..]}            an array in which no element matches any e
 *   {"$size":n}                   an array or object with n elements, or a string of n bytes
 *   {"$one_of":[e, ..]}           anything that matches at least one e
 *
 * Pure functions; safe from any thread.
 */
#ifndef HS_PLAY_EXPECT_H
#define HS_PLAY_EXPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { HS_EXPECT_FAULT_MAX = 2048 };

/* Compares a JSON value with an expectation. `unit`: units of length per metre in the value.
   Returns false if the value does not match. In this case, `fault` contains the JSON pointer and a
   description of the first difference. */
bool hs_expect_json(const json_t *expected, const json_t *actual, double unit,
                    char fault[HS_EXPECT_FAULT_MAX]);

/*
 * Compares a whole answer. `expect` may contain "status" (default 200), "body" (an expectation as
 * above), "code" (of a problem document) and "errors" (the JSON pointers to all bad fields, each
 * once, in any order). Fails if `expect` contains any other member, so that a misspelt expectation
 * cannot pass.
 */
bool hs_expect_answer(const json_t *expect, long status, const char *body, size_t size, double unit,
                      char fault[HS_EXPECT_FAULT_MAX]);

#endif
