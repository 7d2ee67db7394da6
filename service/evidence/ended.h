/*
 * Summaries of ended matches in the evidence store: a row for the match, with its hints and counts,
 * and a row for each player, with their clock, suspicion and counts. A player who leaves a running
 * match also gets a row. The rows have an empty verdict. The context of a row contains its data
 * (context.h).
 */
#ifndef HS_SERVICE_EVIDENCE_ENDED_H
#define HS_SERVICE_EVIDENCE_ENDED_H

#include "service/evidence/reader.h"
#include "service/evidence/writer.h"
#include "service/state/registry.h"

/* Adds the rows of a locked match that ends. `evidence` may be NULL. */
void hs_ended_keep(struct hs_evidence *evidence, const struct hs_match_slot *slot);

/* Adds the row of a player who leaves a locked match. Does nothing if they are not in the match. */
void hs_ended_keep_player(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                          struct hs_str player);

/* Writes an array of summaries, the newest first. `query` has the filters; its member `verdict` is
   not used. `next_us`: as for hs_evidence_list. */
enum hs_evidence_read hs_ended_list(const struct hs_evidence_home *home,
                                    struct hs_evidence_query query, struct hs_writer *writer,
                                    int64_t *next_us);

/* Writes an opening of a match that has ended: an object with the members of the match, plus
   `ended` and `players`. MISSING: nothing is written, because the store has no summary of this
   opening. `tenant`: as for hs_evidence_stream. */
enum hs_evidence_read hs_ended_match(const struct hs_evidence_home *home, struct hs_str tenant,
                                     struct hs_str match, uint64_t opening,
                                     struct hs_writer *writer);

#endif
