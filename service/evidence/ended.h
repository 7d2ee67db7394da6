/*
 * Summaries of ended matches in the evidence store. When a match ends, the store gets a row for the
 * match, with the match's hints and counts. It also gets a row for each player, with the player's
 * clock, suspicion and counts. When a player leaves a running match, the store gets a row for that
 * player. These rows have an empty verdict. The data about the match or the player is in the
 * context (context.h).
 */
#ifndef HS_SERVICE_EVIDENCE_ENDED_H
#define HS_SERVICE_EVIDENCE_ENDED_H

#include "service/evidence/reader.h"
#include "service/evidence/writer.h"
#include "service/state/registry.h"

/* Stores the rows for a match that ends, and for its players. The match must be locked. `evidence`
   may be NULL. */
void hs_ended_keep(struct hs_evidence *evidence, const struct hs_match_slot *slot);

/* Stores the row for a player who leaves a locked match. Does nothing if the player is not in the
   match. `evidence` may be NULL. */
void hs_ended_keep_player(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                          struct hs_str player);

/* Writes an array of summaries, newest first. Ignores query.verdict. Sets *next_us as
   hs_evidence_list does. */
enum hs_evidence_read hs_ended_list(const struct hs_evidence_home *home,
                                    struct hs_evidence_query query, struct hs_writer *writer,
                                    int64_t *next_us);

/* Writes an object about one opening of an ended match: the members of the match's summary, and
   also `ended` and `players`. MISSING: the store has no summary of this opening, and nothing was
   written. `tenant`: as for hs_evidence_stream. */
enum hs_evidence_read hs_ended_match(const struct hs_evidence_home *home, struct hs_str tenant,
                                     struct hs_str match, uint64_t opening,
                                     struct hs_writer *writer);

#endif
