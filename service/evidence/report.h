/* Compares the stored verdicts about one player with the verdicts about all other players. */
#ifndef HS_SERVICE_EVIDENCE_REPORT_H
#define HS_SERVICE_EVIDENCE_REPORT_H

#include "service/evidence/reader.h"

/* Limits that keep the cost of a report independent of the size of the store. A report counts at
   most the newest HS_REPORT_COUNTED verdicts about the player. A report reads the measured values
   from at most HS_REPORT_MEASURED verdicts about the player, and from at most HS_REPORT_MEASURED
   verdicts about other players. */
enum { HS_REPORT_COUNTED = 100000, HS_REPORT_MEASURED = 500 };

/*
 * Writes an object about the player or account `name`:
 *
 * - the number of matches, and the numbers of verdicts by outcome and by reason
 * - for each check: which share of its limit the claims of the player used, and which share the
 *   claims of all other players used (median and 95th percentile). Only claims under the ruleset of
 *   the player's newest verdict are measured.
 * - the summaries (ended.h) of the player's newest matches
 *
 * Reads only tenant, since_us and until_us of `query`. Takes about 0.1 s. If `alive_us` is not
 * NULL, regularly sets *alive_us to hs_clock_us(). MISSING: nothing about the player is stored.
 */
enum hs_evidence_read hs_evidence_report(const struct hs_evidence_home *home, struct hs_str name,
                                         const struct hs_evidence_query *query,
                                         atomic_llong *alive_us, struct hs_writer *writer);

#endif
