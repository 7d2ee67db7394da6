/* Reads a map as a tree of values. The reader in api/maps.h must agree with it. */
#ifndef HS_TESTS_MAP_REFERENCE_H
#define HS_TESTS_MAP_REFERENCE_H

#include "api/maps.h"

/* Decodes a text both ways and compares. Returns NULL if both readers refuse the text, or if both
   accept it and read the same. Otherwise returns a sentence about the difference. *accepted (may be
   NULL): whether both accept it. `problem` receives the problem of hs_map_decode. */
const char *hs_map_compare(struct hs_str text, bool *accepted, struct hs_problem *problem);

#endif
