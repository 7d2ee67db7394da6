/* Reading a part of what was saved. Internal to validators/. */
#ifndef HS_SNAPSHOT_LOAD_H
#define HS_SNAPSHOT_LOAD_H

#include "validators/base/saved.h"
#include "validators/ruleset.h"

/*
 * An entry of a ledger with its posted shot and its answer, as hs_saved_put_entry wrote them.
 * Afterwards the caller owns the memory of the entry (hs_ledger_free_entry), even if this failed.
 * False: damaged, or no memory.
 */
bool hs_saved_get_entry(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                        const struct hs_ruleset *ruleset, struct hs_ledger_entry *entry);

#endif
