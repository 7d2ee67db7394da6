/*
 * The rulesets and maps that replicas share. A ruleset or map that was put on one replica is in the
 * store (store/documents.h) when the PUT is answered. Every replica reads the changes within a
 * second, and before it opens or takes over a match. Rulesets of --rules are not shared.
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

/* Reads all names, for up to `wait_us`, and starts the thread. The service has a store. NULL:
   memory or threads are out. */
struct hs_catalog *hs_catalog_start(struct hs_service *service, int64_t wait_us);
void hs_catalog_stop(struct hs_catalog *catalog); /* NULL does nothing */

/* Makes sure that this replica has all changes that were answered before the call. Returns false if
   it has not after `wait_us`; the caller sends the request again later. Returns true if the store
   is down. No worker may call it. */
bool hs_catalog_is_current(struct hs_catalog *catalog, int64_t wait_us);

/*
 * The following functions change the store like this replica: call them after the change here.
 * LOST: the store does not have the change, or nobody knows. This replica then does what the store
 * says.
 */

/* Shares the ruleset, and the canary, that the name has here. LOST also if none of them has this
   revision any more, because a change of another replica has replaced it. */
enum hs_shared_result hs_catalog_put_ruleset(struct hs_catalog *catalog, struct hs_str name,
                                             const char *revision);
/* Shares a map. `text`: its document. */
enum hs_shared_result hs_catalog_put_map(struct hs_catalog *catalog,
                                         const struct hs_map_entry *entry, struct hs_str text);
enum hs_shared_result hs_catalog_drop(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                      struct hs_str owner, struct hs_str name);

/* Return the ruleset with a revision, or the map with a name and a revision, for a match that
   another replica had; with a reference for the caller. They need no name any more. NULL: not here
   after `wait_us`, but perhaps later. No worker may call them. */
struct hs_ruleset_entry *hs_catalog_ruleset(struct hs_catalog *catalog, struct hs_str revision,
                                            int64_t wait_us);
struct hs_map_entry *hs_catalog_map(struct hs_catalog *catalog, struct hs_str name,
                                    struct hs_str revision, int64_t wait_us);

#endif
