/*
 * Reviewed verdicts: the file `cases.db` of the data directory. Retention never removes these
 * verdicts. The file has the tables of a day's file (store.h), and two more. `reviews` has a row
 * for each review; such a row never changes. `audit` has a row for each review and each deletion of
 * a player. Every call has its own connection. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_CASES_H
#define HS_SERVICE_EVIDENCE_CASES_H

#include "api/reviews.h"
#include "service/evidence/reader.h"

enum { HS_REVIEWS_MAX = 100 }; /* max reviews of one verdict */

/* Opens the file for writing, and creates it if it is missing. Returns NULL on failure; the reason
   is logged. */
struct hs_evidence_store *hs_cases_open(const struct hs_evidence_home *home);

enum hs_cases_add { HS_CASES_ADDED, HS_CASES_MISSING, HS_CASES_FULL, HS_CASES_FAILED };

/* Adds a review of a stored verdict, with a copy of the verdict, and syncs the review and the copy
   to the disk. FULL: the verdict already has HS_REVIEWS_MAX reviews. `tenant` as in
   hs_evidence_stream. */
enum hs_cases_add hs_cases_review(const struct hs_evidence_home *home, struct hs_str tenant,
                                  struct hs_str id, const struct hs_review *review);

/* Writes the array of reviews of a verdict, the oldest first. The array may be empty. */
enum hs_evidence_read hs_cases_list(const struct hs_evidence_home *home, struct hs_str tenant,
                                    struct hs_str id, struct hs_writer *writer);

/* Writes an array with an object for each reason. Each object has the number of verdicts with each
   label. Only the newest review of a verdict counts. If there are labels other than `unsure`, the
   object also has the share of `cheat` among those labels. */
enum hs_evidence_read hs_cases_precision(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_writer *writer);

/* Adds a row to the audit, inside the caller's transaction. */
bool hs_cases_record(struct hs_evidence_store *cases, struct hs_str tenant, struct hs_str by,
                     const char *action, struct hs_str subject, int64_t count);

#endif
