/* Draws random values that fit a schema. The caller adds rules between fields that a schema cannot
   express. */
#ifndef HS_TESTS_SCHEMA_DRAW_H
#define HS_TESTS_SCHEMA_DRAW_H

#include <jansson.h>

#include "tests/support/random.h"

/*
 * Returns a value that fits, sometimes with numbers at the ends of their ranges. `optional`: the
 * probability of each optional member; 1 draws all of them, and no empty list. The caller owns the
 * value.
 */
json_t *hs_schema_draw(const json_t *document, const json_t *schema, double optional,
                       struct hs_random *random);

/* Returns a number from a range that includes both ends. */
double hs_schema_draw_number(double low, double high, struct hs_random *random);

#endif
