/*
 * Copies rulesets and maps between this replica and the store (store/documents.h), for the catalog
 * (catalog.h). The functions wait for the store. Failures are logged and counted.
 * hs_exchange_put_ruleset and hs_exchange_put_map are thread-safe. Only one thread at a time may
 * call the other functions, because they change the names on this replica.
 */
#ifndef HS_SERVICE_SHARING_EXCHANGE_H
#define HS_SERVICE_SHARING_EXCHANGE_H

#include "service/checkpoint/maps.h"
#include "service/store/documents.h"

struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

struct hs_unsent_name {
    enum hs_shared_kind kind;
    struct hs_name name;
};

/* Uploaded names of this replica that the store lost, and that this replica has not sent again yet.
   The caller frees `names` at the end. */
struct hs_unsent {
    struct hs_unsent_name *names;
    size_t count, capacity;
};

/* Replaces the uploaded names on this replica with the names in the store, but keeps the names in
   `unsent`. Also deletes a name on this replica if this replica cannot use the document of the
   name. If the store does not send the document of a name, the name keeps its old document. Returns
   false if the store did not answer all requests. */
bool hs_exchange_read(struct hs_service *service, const struct hs_unsent *unsent);

/* Replaces the list with all uploaded names on this replica. If memory runs out, returns false with
   an empty list. */
bool hs_exchange_list(struct hs_service *service, struct hs_unsent *unsent);

/* Sends the listed names that the store lacks, with their documents. Names stay in the list only if
   the store may still lack them, and a later call can send them. So a map without a file in --data
   does not stay: this replica cannot send this map. */
void hs_exchange_send(struct hs_service *service, struct hs_unsent *unsent);

/* A replica that takes over a match needs the match's ruleset and map. If the replica lacks one of
   these documents, the replica must fetch it from the store. For example, a ruleset may come from
   the --rules of another replica, or from another version of the program. After hs_exchange_keep,
   the documents of open matches stay in the store for at least a day. hs_exchange_offer sends all
   rulesets that have a name on this replica and are not in `sent`, and adds the sent rulesets to
   `sent`. */
void hs_exchange_keep(struct hs_service *service);
void hs_exchange_offer(struct hs_service *service, struct hs_revisions *sent);

/* These functions write a name and its documents to the store. `if_new`: true: do nothing if the
   store already has the name. `text`: the map's document. */
enum hs_shared_result hs_exchange_put_ruleset(struct hs_service *service,
                                              struct hs_ruleset_entry *entry, bool if_new);
enum hs_shared_result hs_exchange_put_map(struct hs_service *service,
                                          const struct hs_map_entry *entry, struct hs_str text,
                                          bool if_new);

/* These functions fetch the ruleset with this revision, or the map with this name and revision,
   from the store. The names on this replica do not change. `owner`: the tenant who is charged for
   the document. The caller must release the result. NULL: failure; *has_answer is false if the
   store did not answer. */
struct hs_ruleset_entry *hs_exchange_ruleset(struct hs_service *service, struct hs_str owner,
                                             const char *revision, bool *has_answer);
struct hs_map_entry *hs_exchange_map(struct hs_service *service, struct hs_str owner,
                                     struct hs_str name, const char *revision, bool *has_answer);

#endif
