/* The rulesets and maps of stored verdicts. Each file of the store contains every document that its
   verdicts need, each document once. */
#ifndef HS_SERVICE_EVIDENCE_DOCUMENTS_H
#define HS_SERVICE_EVIDENCE_DOCUMENTS_H

#include "service/evidence/store.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"

/* Adds the ruleset and the map if the file lacks them. The map is read from its file in the data
   directory, because the service does not keep the texts of maps in memory. If that file does not
   exist yet, this function skips the map, because hs_evidence_keep_map adds each new map. `map` may
   be NULL. Returns false if the store failed. */
bool hs_evidence_put_documents(struct hs_evidence_store *store, const char *directory,
                               const struct hs_ruleset_entry *ruleset,
                               const struct hs_map_entry *map);

/* Adds the text of a new map to the file of today or to the spool, through a separate connection.
   Most of the time goes into compression. Thread-safe. */
void hs_evidence_keep_map(const struct hs_evidence_home *home, const struct hs_map_entry *map,
                          struct hs_str document);

#endif
