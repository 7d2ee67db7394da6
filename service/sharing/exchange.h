/*
 * Copies rulesets and maps between this replica and the store (store/documents.h) when the catalog
 * (catalog.h) asks for it. The functions wait for the store. All functions except
 * hs_exchange_put_ruleset and hs_exchange_put_map change the names of this replica, so one thread
 * at a time may use them. Failures are logged and counted.
 */
#ifndef HS_SERVICE_SHARING_EXCHANGE_H
#define HS_SERVICE_SHARING_EXCHANGE_H

#include "service/checkpoint/maps.h"
#include "service/store/documents.h"

struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

/* Copies the names of the store to this replica, and deletes all other names that clients put. Also
   deletes a name if its document cannot be used on this replica. Returns false if the store did not
   answer. If the store did not send the document of a name, the name keeps its old document. */
bool hs_exchange_read(struct hs_service *service);

/* Returns whether this replica has names that clients put. Names of files do not count. */
bool hs_exchange_has_names(struct hs_service *service);

/* Sends all names that the store lacks to the store, with their documents. */
void hs_exchange_send_all(struct hs_service *service);

/* Another replica that takes over a match needs the match's ruleset and map. On that replica, these
   documents may have no name, for example because they come from --rules or from another version of
   the program. hs_exchange_keep lets the documents of open matches expire a day from now at the
   earliest. hs_exchange_offer sends all rulesets that have a name on this replica, except those in
   `sent`, and adds them to `sent`. */
void hs_exchange_keep(struct hs_service *service);
void hs_exchange_offer(struct hs_service *service, struct hs_revisions *sent);

/* Write a name and its documents to the store. `if_new`: do nothing if the store has the name.
   `text`: the document of the map. */
enum hs_shared_result hs_exchange_put_ruleset(struct hs_service *service,
                                              struct hs_ruleset_entry *entry, bool if_new);
enum hs_shared_result hs_exchange_put_map(struct hs_service *service,
                                          const struct hs_map_entry *entry, struct hs_str text,
                                          bool if_new);

/* Read the ruleset with a revision, or the map with a name and a revision, from the store. The
   names on this replica do not change. The caller gets a reference. NULL: failure; *has_answer is
   false if the store did not answer. `owner`: the tenant who is charged for the document. */
struct hs_ruleset_entry *hs_exchange_ruleset(struct hs_service *service, struct hs_str owner,
                                             const char *revision, bool *has_answer);
struct hs_map_entry *hs_exchange_map(struct hs_service *service, struct hs_str owner,
                                     struct hs_str name, const char *revision, bool *has_answer);

#endif
