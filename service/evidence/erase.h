/* Deletes the verdicts about a player. */
#ifndef HS_SERVICE_EVIDENCE_ERASE_H
#define HS_SERVICE_EVIDENCE_ERASE_H

#include "service/evidence/reader.h"

/* The action that the audit (cases.h) records when a deletion begins. */
#define HS_EVIDENCE_ERASE_BEGINS "begin to delete player"

/*
 * Deletes every verdict whose player, account or target has this name. If the name is an account,
 * also deletes each verdict whose target used this account in the match of the verdict. Deletes the
 * reviews of these verdicts, too. Searches all places, and overwrites the deleted bytes in SQLite
 * files. Records the SHA-256 of the name in the audit. The excerpt of a verdict about another
 * player may still contain the deleted player, if the two players were near each other.
 *
 * `tenant`: deletes only verdicts of this tenant; ptr NULL: deletes verdicts of all tenants. `by`:
 * the key id of the caller's token. The call takes about a second for each million stored verdicts.
 * If `alive_us` is not NULL, the call regularly sets *alive_us to hs_clock_us(), to show the
 * watchdog that the call is not stuck. Sets *deleted to the number of deleted rows. A reviewed
 * verdict counts twice if the file of its day still exists. Thread-safe.
 */
enum hs_evidence_read hs_evidence_erase(const struct hs_evidence_home *home, struct hs_str tenant,
                                        struct hs_str name, struct hs_str by,
                                        atomic_llong *alive_us, int64_t *deleted);

#endif
