/* Deletes the verdicts of a player. */
#ifndef HS_SERVICE_EVIDENCE_ERASE_H
#define HS_SERVICE_EVIDENCE_ERASE_H

#include "service/evidence/reader.h"

/* The action of the audit (cases.h) with which a deletion begins. */
#define HS_EVIDENCE_ERASE_BEGINS "begin to delete player"

/*
 * Deletes every verdict whose player, account or target has this name. If the name is an account,
 * verdicts whose target is a player of this account in that match are deleted too. This covers all
 * files, and the reviews of these verdicts. Deleted bytes are overwritten. The audit gets a row
 * with the SHA-256 of the name. The player stays in the excerpts of verdicts about others who were
 * near them.
 *
 * `tenant`: delete only the verdicts of this tenant; ptr NULL: of all tenants. The call takes about
 * a second for each million stored verdicts. It stores the time in *alive_us now and then, unless
 * `alive_us` is NULL. *deleted: the number of rows. A reviewed verdict has two rows while the file
 * of its day exists: one there, and one in cases.db. Thread-safe.
 */
enum hs_evidence_read hs_evidence_erase(const struct hs_evidence_home *home, struct hs_str tenant,
                                        struct hs_str name, struct hs_str by,
                                        atomic_llong *alive_us, int64_t *deleted);

#endif
