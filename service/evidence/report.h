/* What the store knows about one player, beside everybody else. */
#ifndef HS_SERVICE_EVIDENCE_REPORT_H
#define HS_SERVICE_EVIDENCE_REPORT_H

#include "service/evidence/reader.h"

/* Limits of a report, so that its cost does not grow with the store: the newest verdicts that are
   counted, and the newest of the player and of all others whose measures are read. */
enum { HS_REPORT_COUNTED = 100000, HS_REPORT_MEASURED = 500 };

/*
 * Writes an object about the player or account `name`: counts of verdicts by verdict and reason,
 * the number of matches, and for each check which share of its limit the claims used, as median and
 * 95th percentile, of the player and of all others. It takes some 0.1 s. `query`: tenant, since_us
 * and until_us count. MISSING: there is no such verdict.
 */
enum hs_evidence_read hs_evidence_report(const char *directory, struct hs_str name,
                                         const struct hs_evidence_query *query,
                                         atomic_llong *alive_us, struct hs_writer *writer);

#endif
