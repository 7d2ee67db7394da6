/* Deletes the verdicts of a player. */
#ifndef HS_SERVICE_EVIDENCE_ERASE_H
#define HS_SERVICE_EVIDENCE_ERASE_H

#include "service/evidence/reader.h"

/* The action in the row that a deletion adds to the audit (cases.h) when it begins. */
#define HS_EVIDENCE_ERASE_BEGINS "begin to delete player"

/*
 * Deletes every verdict whose player, account or target has this name. If the name is an account,
 * also deletes each verdict whose target was a player of this account in the match of the verdict.
 * Deletes these verdicts in all files, together with their reviews. Deleted bytes are overwritten.
 * The audit gets a row with the SHA-256 of the name. The player still appears in the excerpts of
 * verdicts about other players who were near them.
 *
 * `tenant`: deletes only the verdicts of this tenant; ptr NULL: the verdicts of all tenants. The
 * call takes about a second for each million stored verdicts. During the call, it regularly sets
 * *alive_us to the current time, unless `alive_us` is NULL. Sets *deleted to the number of deleted
 * rows. A reviewed verdict has a row in cases.db, and a second row in the file of its day if that
 * file still exists. Thread-safe.
 */
enum hs_evidence_read hs_evidence_erase(const struct hs_evidence_home *home, struct hs_str tenant,
                                        struct hs_str name, struct hs_str by,
                                        atomic_llong *alive_us, int64_t *deleted);

#endif
