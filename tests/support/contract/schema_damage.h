/* Makes values that violate a schema in one known place, to test whether a reader finds it. */
#ifndef HS_TESTS_SCHEMA_DAMAGE_H
#define HS_TESTS_SCHEMA_DAMAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "tests/support/random.h"

/* The change of a value, and the place where a reader should report it. */
struct hs_schema_damage {
    const char *what; /* for example "wrong type" */
    char pointer[512];
};

/* Returns a copy of `value` with one violation: another type, a missing or extra member, a number
   out of range, a name too long or with a bad character, an unknown word, or an array of the wrong
   length. `value` itself must fit. The caller owns the copy. Returns NULL if the value has no place
   to damage. */
json_t *hs_schema_damaged(const json_t *document, const json_t *schema, const json_t *value,
                          struct hs_random *random, struct hs_schema_damage *damage);

/*
 * Makes damage number `n`. The numbers go through every kind of damage at every place. Places that
 * differ only in an index are used once. `*end` is set if `n` is past the last one. NULL and *end
 * not set: the kind does not apply to the place.
 */
json_t *hs_schema_damaged_nth(const json_t *document, const json_t *schema, const json_t *value,
                              size_t n, struct hs_random *random, struct hs_schema_damage *damage,
                              bool *end);

#endif
