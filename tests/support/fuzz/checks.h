/*
 * What must hold of every answer, whatever was asked. Each returns NULL when it holds, else a
 * sentence about what does not.
 */
#ifndef HS_TESTS_FUZZ_CHECKS_H
#define HS_TESTS_FUZZ_CHECKS_H

#include <jansson.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"
#include "validators/hit.h"
#include "validators/match.h"

/* Leaves the calling function with the sentence unless the condition holds. */
#define HS_MUST(condition, sentence)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (sentence);                                                                     \
    } while (0)

/* Leaves the calling function with what a check found, if it found something. */
#define HS_MUST_HOLD(check)                                                                        \
    do {                                                                                           \
        const char *fault_ = (check);                                                              \
        if (fault_ != NULL)                                                                        \
            return fault_;                                                                         \
    } while (0)

/* One JSON document in UTF-8, no null (a number that is not finite would be one), no byte left. */
const char *hs_check_document(const struct hs_buffer *buffer);

/*
 * A problem that refuses a body: 400, bad fields with pointers for invalid_request, and a document.
 * With `root` (may be NULL) the pointers lead somewhere in it; those "is required" to where the
 * member should be.
 */
const char *hs_check_problem(const struct hs_problem *problem, const json_t *root);

/* A result agrees with itself: verdict, reason, checks, damage, numbers. */
const char *hs_check_hit_result(const struct hs_hit_result *result);

/* The histories of a match are in order and within its limits. */
const char *hs_check_match(const struct hs_match *match, const struct hs_match_limits *limits);

/*
 * What a JSON pointer leads to in a document, or NULL. With `beyond` one past the end of an array
 * counts as the array.
 */
const json_t *hs_resolve_pointer(const json_t *root, const char *pointer, bool beyond);

#endif
