/*
 * Shares rulesets and maps between replicas. When a client uploads a ruleset or a map with PUT, the
 * replica answers only after the store (store/documents.h) has the document. Every other replica
 * reads the change within a second, and always before it opens or takes over a match. Rulesets from
 * --rules are not shared. Thread-safe.
 *
 * The store decides which document belongs to a name. While the store is down, each replica uses
 * its own copies, and refuses uploads and deletions. If the store has lost its names, the replicas
 * send their own names again, together with the documents. The replicas read the documents of maps
 * from the files in --data.
 */
#ifndef HS_SERVICE_SHARING_CATALOG_H
#define HS_SERVICE_SHARING_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "service/store/documents.h"

struct hs_catalog;
struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

/* Reads all names if the store is up, and starts the thread. Call this function only if the service
   has a store. Returns NULL if memory runs out or the thread cannot start. */
struct hs_catalog *hs_catalog_start(struct hs_service *service);
/* Stops the thread. The call takes less than a second, even if the store is slow. After this call,
   hs_store_ask returns LOST. Does nothing for NULL. */
void hs_catalog_stop(struct hs_catalog *catalog);

/* Waits until this replica has every change of a name that any replica confirmed to a client before
   the call. Returns false if the wait takes longer than `wait_us`; the client must then retry. If
   the store is down or does not answer, returns true, because in this case the replica uses its own
   names. This function waits, so workers must not call it. */
bool hs_catalog_is_current(struct hs_catalog *catalog, int64_t wait_us);

/* Returns whether this replica has noticed in the last 120 s that the store lost its data. Until
   these 120 s are over, the store may still lack matches of other replicas. */
bool hs_catalog_was_emptied(struct hs_catalog *catalog);

/*
 * The following functions write a change of a name to the store. Call them after the change was
 * made on this replica. DONE: the store has the change, or `catalog` is NULL. LOST: the store may
 * lack the change. In this case, this replica reads all names from the store again, and uses these
 * names.
 */

/* Writes the ruleset and the canary that a name has on this replica. Does nothing if the ruleset is
   from a file. Also returns LOST if neither the name's ruleset nor its canary has this `revision`,
   because another replica has changed the name in the meantime. */
enum hs_shared_result hs_catalog_put_ruleset(struct hs_catalog *catalog, struct hs_str name,
                                             const char *revision);
/* Writes a map. `text`: the document of the map. */
enum hs_shared_result hs_catalog_put_map(struct hs_catalog *catalog,
                                         const struct hs_map_entry *entry, struct hs_str text);
enum hs_shared_result hs_catalog_drop(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                      struct hs_str owner, struct hs_str name);

/* These functions return the ruleset with this revision, or the map with this name and revision,
   for a match that is taken over. The name may refer to another document by now. `tenant`: the
   tenant of the match, who is charged if the document must be fetched. The caller must release the
   result. NULL: the document did not arrive within `wait_us`; a later call may succeed. The
   functions wait, so workers must not call them. */
struct hs_ruleset_entry *hs_catalog_ruleset(struct hs_catalog *catalog, struct hs_str tenant,
                                            struct hs_str revision, int64_t wait_us);
struct hs_map_entry *hs_catalog_map(struct hs_catalog *catalog, struct hs_str tenant,
                                    struct hs_str name, struct hs_str revision, int64_t wait_us);

#endif
