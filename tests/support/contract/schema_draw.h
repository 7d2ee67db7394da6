/*
 * Values made from a schema. They fit what it says; rules between fields that it cannot say are
 * the caller's to add.
 */
#ifndef HS_TESTS_SCHEMA_DRAW_H
#define HS_TESTS_SCHEMA_DRAW_H

#include <jansson.h>

#include "tests/support/random.h"

/*
 * A value that fits, with the ends of ranges every now and then. `optional`: the chance of each
 * member that is not required; 1 draws all of them, and no list empty. The caller owns it.
 */
json_t *hs_schema_draw(const json_t *document, const json_t *schema, double optional,
                       struct hs_random *random);

/* A number of a range, its ends included. */
double hs_schema_draw_number(double low, double high, struct hs_random *random);

#endif
