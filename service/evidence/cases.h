/*
 * The reviewed verdicts. The limits `keep_days` and `keep_bytes` (writer.h) do not apply to
 * reviewed verdicts. The reviewed verdicts have their own place in the evidence store:
 * HS_EVIDENCE_CASES (files.h). This place has the same tables as every other place, and also the
 * tables `reviews` and `audit`. `reviews` has one row for each review; these rows are never
 * changed. `audit` has one row for each review, and rows for each deletion of a player. Each call
 * uses its own connection. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_CASES_H
#define HS_SERVICE_EVIDENCE_CASES_H

#include "api/reviews.h"
#include "service/evidence/reader.h"

enum { HS_REVIEWS_MAX = 100 }; /* max reviews of one verdict */

/* Opens HS_EVIDENCE_CASES for writing. Creates this place if it does not exist. Returns NULL on
   failure; the reason is logged. */
struct hs_evidence_store *hs_cases_open(const struct hs_evidence_home *home);

enum hs_cases_add { HS_CASES_ADDED, HS_CASES_MISSING, HS_CASES_FULL, HS_CASES_FAILED };

/* Copies a stored verdict to the reviewed verdicts, and adds a review of this verdict. When the
   call returns ADDED, the copy and the review are on the disk. FULL: the verdict already has
   HS_REVIEWS_MAX reviews. `tenant`: as for hs_evidence_stream. */
enum hs_cases_add hs_cases_review(const struct hs_evidence_home *home, struct hs_str tenant,
                                  struct hs_str id, const struct hs_review *review);

/* Writes an array with the reviews of a verdict, oldest first. The array may be empty. */
enum hs_evidence_read hs_cases_list(const struct hs_evidence_home *home, struct hs_str tenant,
                                    struct hs_str id, struct hs_writer *writer);

/* Writes an array with one object for each reason. The object contains the number of verdicts with
   each label, and the share of `cheat` among all labels except `unsure`. Only the newest review of
   a verdict counts. The share is omitted if all labels are `unsure`. */
enum hs_evidence_read hs_cases_precision(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_writer *writer);

/* Adds a row to the audit, inside the transaction of the caller. */
bool hs_cases_record(struct hs_evidence_store *cases, struct hs_str tenant, struct hs_str by,
                     const char *action, struct hs_str subject, int64_t count);

#endif
