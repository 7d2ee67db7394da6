/* Rules that hold for every answer to any request. Each function returns NULL if its rule holds,
   otherwise a sentence about the fault. */
#ifndef HS_TESTS_FUZZ_CHECKS_H
#define HS_TESTS_FUZZ_CHECKS_H

#include <jansson.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"
#include "validators/hit.h"
#include "validators/match.h"

/* Returns the sentence from the calling function unless the condition holds. */
#define HS_MUST(condition, sentence)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (sentence);                                                                     \
    } while (0)

/* Returns the fault of a check from the calling function, if there is one. */
#define HS_MUST_HOLD(check)                                                                        \
    do {                                                                                           \
        const char *fault_ = (check);                                                              \
        if (fault_ != NULL)                                                                        \
            return fault_;                                                                         \
    } while (0)

/* Requires one JSON document in UTF-8, without further bytes. The document must not contain null,
   because an infinite number would become null. */
const char *hs_check_document(const struct hs_buffer *buffer);

/* Requires a problem that refuses a body: status 400, a document, and for invalid_request the bad
   fields with pointers. If `root` is not NULL, the pointers must lead to a place in it. A pointer
   with "is required" leads to the place where the member should be. */
const char *hs_check_problem(const struct hs_problem *problem, const json_t *root);

/* Requires that the parts of a result agree: verdict, reason, checks, damage, numbers. */
const char *hs_check_hit_result(const struct hs_hit_result *result);

/* Requires that the histories of a match are in order and within its limits. */
const char *hs_check_match(const struct hs_match *match, const struct hs_match_limits *limits);

/* Returns the value at a JSON pointer in a document, or NULL. With `beyond`, an index just past the
   end of an array gives the array. */
const json_t *hs_resolve_pointer(const json_t *root, const char *pointer, bool beyond);

#endif
