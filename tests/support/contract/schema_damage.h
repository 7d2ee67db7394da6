/* Values that miss a schema in one known place, to see whether a reader finds it. */
#ifndef HS_TESTS_SCHEMA_DAMAGE_H
#define HS_TESTS_SCHEMA_DAMAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "tests/support/random.h"

/* What was done to a value, and where a reader should see the fault. */
struct hs_schema_damage {
    const char *what; /* "wrong type", ... */
    char pointer[512];
};

/*
 * A copy of `value`, which fits, that misses the schema in one place: another type, a member too
 * few or too many, a number out of range, a name too long or with a bad character, a word that is
 * not in the list, an array of the wrong length. The caller owns it. NULL: nothing to damage.
 */
json_t *hs_schema_damaged(const json_t *document, const json_t *schema, const json_t *value,
                          struct hs_random *random, struct hs_schema_damage *damage);

/*
 * The same one after the other: every kind of damage at every place, places that differ only in an
 * index once. `*end` is set when `n` is past the last; NULL otherwise: the kind does not apply.
 */
json_t *hs_schema_damaged_nth(const json_t *document, const json_t *schema, const json_t *value,
                              size_t n, struct hs_random *random, struct hs_schema_damage *damage,
                              bool *end);

#endif
