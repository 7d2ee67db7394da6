/*
 * The rulesets and maps that replicas share. A PUT on one replica is answered when the store
 * (store/documents.h) has the ruleset or map. Every replica reads the changes within a second, and
 * before it opens or takes over a match. Rulesets from --rules are not shared.
 *
 * The store decides which document belongs to a name. While the store is down, replicas use their
 * own copies, and clients cannot put or delete anything. If the store has lost its names, the
 * replicas send their names and documents to it again. Replicas read the documents of maps from the
 * files in --data. Thread-safe.
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

/* Reads all names, if the store is up, and starts the thread. Call it only if the service has a
   store. NULL: out of memory or threads. */
struct hs_catalog *hs_catalog_start(struct hs_service *service);
/* Ends the thread, within a second even if the store is slow. After this call, hs_store_ask always
   returns LOST. Does nothing for NULL. */
void hs_catalog_stop(struct hs_catalog *catalog);

/* Waits until this replica has every change of a name that any replica confirmed before the call.
   Returns false if this takes longer than `wait_us`; the client must then send the request again
   later. Returns true if the store is down or does not answer. Workers must not call it, because it
   waits. */
bool hs_catalog_is_current(struct hs_catalog *catalog, int64_t wait_us);

/* Returns whether this replica noticed in the last 120 s that the store had lost its data. For
   these 120 s, the store may still lack matches that other replicas have. */
bool hs_catalog_was_emptied(struct hs_catalog *catalog);

/*
 * The following functions write a change of this replica's names to the store. Call them after the
 * change on this replica. LOST: the store may lack the change. After LOST, this replica reads all
 * names of the store again, and uses these names. Without a catalog (NULL) the functions return
 * DONE.
 */

/* Writes the ruleset that a name has on this replica, and its canary. Does nothing if the name
   belongs to a file. Also returns LOST if neither the ruleset nor the canary has `revision` any
   more, because another replica has changed the name. */
enum hs_shared_result hs_catalog_put_ruleset(struct hs_catalog *catalog, struct hs_str name,
                                             const char *revision);
/* Writes a map. `text`: the document of the map. */
enum hs_shared_result hs_catalog_put_map(struct hs_catalog *catalog,
                                         const struct hs_map_entry *entry, struct hs_str text);
enum hs_shared_result hs_catalog_drop(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                      struct hs_str owner, struct hs_str name);

/* Return the ruleset with a revision, or the map with a name and a revision, for a match that
   another replica had. The name may refer to another document by now. `tenant`: the tenant of the
   match, who is charged for the document if it must be read. The caller gets a reference. NULL: the
   document did not arrive within `wait_us`; a later call may succeed. Workers must not call these
   functions, because they wait. */
struct hs_ruleset_entry *hs_catalog_ruleset(struct hs_catalog *catalog, struct hs_str tenant,
                                            struct hs_str revision, int64_t wait_us);
struct hs_map_entry *hs_catalog_map(struct hs_catalog *catalog, struct hs_str tenant,
                                    struct hs_str name, struct hs_str revision, int64_t wait_us);

#endif
