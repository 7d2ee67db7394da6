/* Rulesets: decodes a JSON document into struct hs_ruleset, and encodes it. */
#ifndef HS_API_RULESETS_H
#define HS_API_RULESETS_H

#include <jansson.h>

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/ruleset.h"

/*
 * Decodes and validates a ruleset document. Members that the document omits get their defaults,
 * with lengths in centimetres. If name.ptr is NULL, the document must contain the member `name`.
 * Otherwise the document may omit this member. If the member is present, it must be equal to the
 * argument `name`. On failure, returns NULL and sets the reader's problem or no_memory. The caller
 * owns the ruleset.
 */
struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name);

/* Returns whether a JSON value is an object that has a member of a ruleset document. */
bool hs_ruleset_has_member(const json_t *root);

/* Checks that every possible claim costs at most `limit` work units (validators/work.h); 0: no
   limit. Adds an error for each weapon with claims that can cost more. Returns false if an error
   was added. */
bool hs_ruleset_check_work(const struct hs_ruleset *ruleset, uint64_t limit,
                           struct hs_problem *problem);

/* Writes the canonical document: all fields in a fixed order, without white space. If this document
   is decoded and encoded again, the bytes are the same. */
void hs_ruleset_encode(struct hs_writer *writer, const struct hs_ruleset *ruleset);

#endif
