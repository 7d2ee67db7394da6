/*
 * Checks an answer against an expectation. An expectation names only the members that matter; the
 * rest of the answer may be anything. Recordings, scenarios and tests use it. docs/scenarios.md
 * describes the format.
 *
 *   object        every named member must be present and match; other members are ignored
 *   array         the same number of elements, which match one by one
 *   number        within the tolerance of its field: lengths and points 1e-3 of a metre,
 *                 directions 1e-3, everything else 2e-6
 *   other         equal
 *   {"$absent":true}              the member is absent
 *   {"$any":true}                 the member is present
 *   {"$near":x,"$within":d}       a number within d of x; in a flat array, each number
 *   {"$contains":[e, ..]}         an array that has a matching element for each e
 *   {"$lacks":[e, ..]}            an array in which no element matches any e
 *   {"$size":n}                   an array, object or string of that many elements or bytes
 *   {"$one_of":[e, ..]}           anything that matches one e
 *
 * Pure functions; safe from any thread.
 */
#ifndef HS_PLAY_EXPECT_H
#define HS_PLAY_EXPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { HS_EXPECT_FAULT_MAX = 2048 };

/* Compares an answer with the expected one. `unit`: units of length per metre in the answer.
   Returns false if the answers differ; `fault` then contains the JSON pointer and a description of
   the first difference. */
bool hs_expect_json(const json_t *expected, const json_t *actual, double unit,
                    char fault[HS_EXPECT_FAULT_MAX]);

/*
 * Compares a whole answer. `expect` may contain "status" (default 200), "body" (as above), "code"
 * (of a problem document) and "errors": the JSON pointers of all bad fields, each once, in any
 * order. Any other member is a fault, so that a misspelt expectation cannot pass.
 */
bool hs_expect_answer(const json_t *expect, long status, const char *body, size_t size, double unit,
                      char fault[HS_EXPECT_FAULT_MAX]);

#endif
