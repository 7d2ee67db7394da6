/* Bodies that were drawn from the schemas of openapi.yaml. A schema cannot say how fields depend on
   each other; these functions change a drawn body until it also keeps those rules. */
#ifndef HS_TESTS_DRAWN_BODIES_H
#define HS_TESTS_DRAWN_BODIES_H

#include <jansson.h>

#include "tests/support/random.h"

/* Makes the names in a ruleset refer to each other, and its numbers consistent. `name` is the name
   under which it is put. */
void hs_drawn_mend_ruleset(json_t *ruleset, const char *name, struct hs_random *random);

/* Makes the corners of triangles refer to vertices, and orders the corners of boxes. */
void hs_drawn_mend_map(json_t *map, struct hs_random *random);

/* Replaces the rows of a table by items that are drawn from the schema `name` of the document.
   The members of these items become the columns. */
void hs_drawn_mend_table(json_t *table, const char *name, const json_t *document,
                         struct hs_random *random);

/* Mends an item and the batches in it. A POST body is such an item, too. */
void hs_drawn_mend_item(json_t *item, const json_t *document, struct hs_random *random);

#endif
