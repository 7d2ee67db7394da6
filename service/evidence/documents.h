/* The rulesets and maps of stored verdicts. Each file of the store has every document that its
   verdicts need, once. */
#ifndef HS_SERVICE_EVIDENCE_DOCUMENTS_H
#define HS_SERVICE_EVIDENCE_DOCUMENTS_H

#include "service/evidence/store.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"

/* Puts what the file lacks. A map comes from its file in the data directory, because no map keeps
   its text in memory. If that file is not written yet, the map is left out; hs_evidence_keep_map
   has put new maps. `map` may be NULL. False: the store failed. */
bool hs_evidence_put_documents(struct hs_evidence_store *store, const char *directory,
                               const struct hs_ruleset_entry *ruleset,
                               const struct hs_map_entry *map);

/* Puts the text of a new map into the file of today, with an own connection. It takes as long as
   the compression of the text. Thread-safe. */
void hs_evidence_keep_map(const char *directory, const struct hs_map_entry *map,
                          struct hs_str document);

#endif
