/* Compares the stored verdicts about one player with the verdicts about all other players. */
#ifndef HS_SERVICE_EVIDENCE_REPORT_H
#define HS_SERVICE_EVIDENCE_REPORT_H

#include "service/evidence/reader.h"

/* Limits of a report, so that its cost does not grow with the store. A report counts the newest
   verdicts of the player, at most HS_REPORT_COUNTED. The report reads the measures of at most
   HS_REPORT_MEASURED verdicts of the player, and of as many verdicts of other players. */
enum { HS_REPORT_COUNTED = 100000, HS_REPORT_MEASURED = 500 };

/*
 * Writes an object about the player or account `name`: counts of verdicts by verdict and reason,
 * the number of matches, and the share of each check's limit that claims used. The shares are the
 * median and the 95th percentile, for the player and for all others, under the ruleset of the
 * player's newest verdict. The object also has the summaries (ended.h) of the player's newest
 * matches. The call takes about 0.1 s. Only tenant, since_us and until_us of `query` are used.
 * MISSING: no verdict about the player is stored.
 */
enum hs_evidence_read hs_evidence_report(const struct hs_evidence_home *home, struct hs_str name,
                                         const struct hs_evidence_query *query,
                                         atomic_llong *alive_us, struct hs_writer *writer);

#endif
