/* Rulesets: the JSON document of struct hs_ruleset. */
#ifndef HS_API_RULESETS_H
#define HS_API_RULESETS_H

#include <jansson.h>

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/ruleset.h"

/*
 * Decodes and validates a ruleset document. Members that the document leaves out get their
 * defaults, whose lengths are in centimetres. If the document has the member `name`, its value must
 * equal the argument `name`. If the argument is absent (ptr NULL), the document must have the
 * member `name`. NULL: failed, and the reader's problem or no_memory is set. The caller owns the
 * ruleset.
 */
struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name);

/* Returns whether every claim costs at most `limit` work units (validators/work.h); 0: no limit. If
   not, adds an error for each weapon whose claims can cost more. */
bool hs_ruleset_check_work(const struct hs_ruleset *ruleset, uint64_t limit,
                           struct hs_problem *problem);

/* Writes the canonical document: all fields in a fixed order, without white space. Decoding it
   gives an equal ruleset, and encoding that ruleset gives the same bytes. */
void hs_ruleset_encode(struct hs_writer *writer, const struct hs_ruleset *ruleset);

#endif
