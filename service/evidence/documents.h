/* Stores the rulesets and maps that verdicts need. Each file of the store contains one copy of each
   document that the verdicts in this file need. */
#ifndef HS_SERVICE_EVIDENCE_DOCUMENTS_H
#define HS_SERVICE_EVIDENCE_DOCUMENTS_H

#include "service/evidence/store.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"

/* Adds the ruleset and the map to `store`. Skips a document that `store` already contains. Reads
   the map from its file in the data directory, because the service does not keep map texts in
   memory. If that file does not exist yet, skips the map, because hs_evidence_keep_map adds the map
   later. `map` may be NULL. Returns false if the store failed. */
bool hs_evidence_put_documents(struct hs_evidence_store *store, const char *directory,
                               const struct hs_ruleset_entry *ruleset,
                               const struct hs_map_entry *map);

/* Adds the text of a new map to today's file, or to the spool. Uses its own connection. The call
   spends most of its time compressing the text. Thread-safe. */
void hs_evidence_keep_map(const struct hs_evidence_home *home, const struct hs_map_entry *map,
                          struct hs_str document);

#endif
