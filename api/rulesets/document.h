/* Rulesets: JSON document <-> struct hs_ruleset. */
#ifndef HS_API_RULESETS_H
#define HS_API_RULESETS_H

#include <jansson.h>

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/ruleset.h"

/*
 * Decodes and validates a ruleset document. Members that the document omits get their defaults
 * (lengths in centimetres). If the argument `name` is given, a member `name` must equal it.
 * Otherwise (ptr NULL), the document must contain `name`. On failure, returns NULL and sets the
 * reader's problem or no_memory. The caller owns the ruleset.
 */
struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name);

/* Returns whether a JSON value is an object that has a member of a ruleset document. */
bool hs_ruleset_has_member(const json_t *root);

/* Checks that no claim can cost more than `limit` work units (validators/work.h); 0: no limit. If a
   claim can cost more, adds an error for each weapon that makes it possible, and returns false. */
bool hs_ruleset_check_work(const struct hs_ruleset *ruleset, uint64_t limit,
                           struct hs_problem *problem);

/* Writes the canonical document: all fields in a fixed order, without white space. Decoding this
   document and encoding the result again gives the same bytes. */
void hs_ruleset_encode(struct hs_writer *writer, const struct hs_ruleset *ruleset);

#endif
