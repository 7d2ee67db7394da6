/* A map read the plain way, as a tree of values: what api/maps.h must agree with. */
#ifndef HS_TESTS_MAP_REFERENCE_H
#define HS_TESTS_MAP_REFERENCE_H

#include "api/maps.h"

/*
 * Decodes a text both ways and compares. NULL when both refuse it, or both take it and read the
 * same; else what differs. *accepted (may be NULL): what both said. `problem` gets that of
 * hs_map_decode.
 */
const char *hs_map_compare(struct hs_str text, bool *accepted, struct hs_problem *problem);

#endif
