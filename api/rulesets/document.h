/* rulesets: the document form of struct hs_ruleset. */
#ifndef HS_API_RULESETS_H
#define HS_API_RULESETS_H

#include <jansson.h>

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/ruleset.h"

/*
 * Decodes and validates a whole ruleset document. What it leaves out has its default; lengths
 * default to centimetres. `name`: the one it must carry if it carries any (ptr NULL: it must carry
 * one). NULL with the reader's problem set (or no_memory); the caller owns the ruleset.
 */
struct hs_ruleset *hs_ruleset_decode(struct hs_reader *reader, const json_t *root,
                                     struct hs_str name);

/*
 * Whether every claim by these rules fits `limit` work units (hit_work.h); 0: no limit. If not, the
 * problem gets an error for each weapon at fault.
 */
bool hs_ruleset_check_work(const struct hs_ruleset *ruleset, uint64_t limit,
                           struct hs_problem *problem);

/*
 * The canonical document: every field, in a fixed order, without white space. Decoding it gives
 * an equal ruleset, and encoding that the same bytes.
 */
void hs_ruleset_encode(struct hs_writer *writer, const struct hs_ruleset *ruleset);

#endif
