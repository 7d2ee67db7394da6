/*
 * The rulesets and maps that replicas share. A PUT on one replica is answered when the store
 * (store/documents.h) has the ruleset or map. Every replica reads the changes within a second, and
 * before it opens or takes over a match. Rulesets from --rules are not shared.
 *
 * The store decides what a name stands for. While it is down, replicas use what they have, and
 * nothing can be put or deleted. A store that has lost its names gets them again from the replicas;
 * maps come from the files of --data. Thread-safe.
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
/* Ends the thread, within a second even if the store is slow. Nobody can ask the store
   (hs_store_ask) any more. Does nothing for NULL. */
void hs_catalog_stop(struct hs_catalog *catalog);

/* Waits until this replica has all changes that were answered before the call. Returns false if
   this takes longer than `wait_us`; the client must then send the request again later. Returns true
   if the store is down or does not answer. Workers must not call it, because it waits. */
bool hs_catalog_is_current(struct hs_catalog *catalog, int64_t wait_us);

/* Returns whether the store has lost its data in the last 120 s, as far as hs_catalog_is_current
   and the thread have seen. The store may still lack matches that other replicas have. */
bool hs_catalog_was_emptied(struct hs_catalog *catalog);

/*
 * The following functions repeat a change of this replica in the store: call them after the change
 * here. LOST: the store does not have the change, or it is unknown whether the store has it. This
 * replica then returns to what the store has. Without a catalog (NULL) they return DONE.
 */

/* Shares the ruleset that a name has on this replica, and its canary, unless a file has the name.
   LOST also if neither has this revision any more, because a change of another replica has replaced
   it.
 */
enum hs_shared_result hs_catalog_put_ruleset(struct hs_catalog *catalog, struct hs_str name,
                                             const char *revision);
/* Shares a map. `text`: its document. */
enum hs_shared_result hs_catalog_put_map(struct hs_catalog *catalog,
                                         const struct hs_map_entry *entry, struct hs_str text);
enum hs_shared_result hs_catalog_drop(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                      struct hs_str owner, struct hs_str name);

/* Return the ruleset with a revision, or the map with a name and a revision, for a match that
   another replica had. The name may stand for another document by now. `tenant`: the tenant of the
   match, who is charged for the document if it must be read. The caller gets a reference. NULL: not
   here after `wait_us`, but perhaps later. Workers must not call them, because they wait. */
struct hs_ruleset_entry *hs_catalog_ruleset(struct hs_catalog *catalog, struct hs_str tenant,
                                            struct hs_str revision, int64_t wait_us);
struct hs_map_entry *hs_catalog_map(struct hs_catalog *catalog, struct hs_str tenant,
                                    struct hs_str name, struct hs_str revision, int64_t wait_us);

#endif
