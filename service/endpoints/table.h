/* Functions that several endpoints use. */
#ifndef HS_SERVICE_ENDPOINTS_H
#define HS_SERVICE_ENDPOINTS_H

#include <jansson.h>
#include <stdbool.h>

#include "api/json/reading.h"
#include "api/json/writing.h"
#include "service/http/server.h"
#include "service/sharing/catalog.h"
#include "service/state/registry.h"

/* Declares the endpoint of every route. */
#define X(id, method, pattern, listeners, access, priority, endpoint)                              \
    hs_endpoint hs_endpoint_##endpoint;
HS_ROUTES(X)
#undef X

/* Sets up the reader for decoding a request body. */
void hs_body_reader(struct hs_service *service, const struct hs_request *request,
                    struct hs_reply *reply, struct hs_reader *reader);

/* Parses the body and sets up its reader. The caller releases the result with json_decref. Returns
   NULL and sets the reply's problem if the body is not acceptable JSON. */
json_t *hs_body_parse(struct hs_service *service, const struct hs_request *request,
                      struct hs_reply *reply, struct hs_reader *reader);
/* Returns whether the body was decoded without faults. Otherwise sets the reply's problem. */
bool hs_body_is_fine(const struct hs_reader *reader, struct hs_reply *reply);

/*
 * Returns the match named in the request's path, locked. Opens a missing match if `opening` is not
 * NULL; *created is then true. On failure returns NULL and sets the reply's problem.
 */
struct hs_match_slot *hs_endpoint_acquire(struct hs_service *service,
                                          const struct hs_request *request,
                                          const struct hs_match_opening *opening, bool *created,
                                          struct hs_reply *reply);

/*
 * Returns the match named in the request's path, locked. Opens a missing match with the default
 * ruleset and map if `may_open` and the configuration allow it. On failure returns NULL and sets
 * the reply's problem.
 */
struct hs_match_slot *hs_endpoint_match(struct hs_service *service,
                                        const struct hs_request *request, struct hs_reply *reply,
                                        bool may_open);

/* Returns whether `tenant` may use a resource that belongs to `owner`. If `owner` is empty, the
   resource belongs to everybody. The ptr of `tenant` is NULL if the service has no tokens. */
bool hs_endpoint_may_see(struct hs_str tenant, const struct hs_name *owner);

/* These functions return the ruleset or map with this name. They return NULL if the name is unknown
   or belongs to another tenant. Clients must get the same answer in both cases. `match`: name of
   the match that will use the ruleset. The name of the match decides whether the match gets the
   canary. If no match will use the ruleset, the ptr of `match` is NULL. */
struct hs_ruleset_entry *hs_endpoint_ruleset(struct hs_service *service,
                                             const struct hs_request *request, struct hs_str name,
                                             struct hs_str match);
struct hs_map_entry *hs_endpoint_map(struct hs_service *service, const struct hs_request *request,
                                     struct hs_str name);

/* Answers `unknown_ruleset`. The message lists the names that the caller may use, and counts the
   names that do not fit. Locks the ruleset store. */
void hs_endpoint_unknown_ruleset(struct hs_service *service, const struct hs_request *request,
                                 struct hs_str name, struct hs_reply *reply);

/* Answers a request for a resource that is unknown or belongs to another tenant. Answers 403 if the
   service has tokens, otherwise 404 with `code`. */
void hs_endpoint_unknown(const struct hs_request *request, struct hs_reply *reply,
                         enum hs_problem_code code, const char *detail);

/* If requests are recorded, records this request and its answer. The match must still be locked.
   `request_work`: the request's work budget if some items exceeded this budget; otherwise 0. */
void hs_endpoint_record(struct hs_service *service, const struct hs_request *request,
                        struct hs_match_slot *slot, uint64_t request_work,
                        const struct hs_reply *reply);

/* If replicas share rulesets and maps, waits until this replica has read all earlier changes to
   names. Returns false and sets the reply's problem if the wait times out. */
bool hs_endpoint_is_current(struct hs_service *service, struct hs_reply *reply);

/* Like hs_endpoint_is_current, but for requests that change a name. Also returns false and sets the
   reply's problem if the store is down. */
bool hs_endpoint_may_change(struct hs_service *service, struct hs_reply *reply);

/* Returns whether the change to a name was stored for the other replicas. Otherwise sets the
   reply's problem. */
bool hs_endpoint_is_shared(enum hs_shared_result result, struct hs_reply *reply);

/* Answers 503; `what` is the problem's detail. */
void hs_endpoint_overloaded(struct hs_reply *reply, const char *what);

/* Answers 409 `match_moved`. */
void hs_endpoint_moved(struct hs_reply *reply);

/* Called before the body of a post is read. Returns false and sets the reply's problem if the
   request would open a match, but no more matches can be opened. */
bool hs_endpoint_has_capacity(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply);

#endif
