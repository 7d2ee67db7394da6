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

/* The endpoint of each route. Endpoints of related routes are in the same file. */
#define X(id, method, pattern, listeners, access, priority, endpoint)                              \
    hs_endpoint hs_endpoint_##endpoint;
HS_ROUTES(X)
#undef X

/* Sets up the reader of a body. */
void hs_body_reader(struct hs_service *service, const struct hs_request *request,
                    struct hs_reply *reply, struct hs_reader *reader);

/* Parses the body and sets up its reader. Release the result with json_decref. Returns NULL with
   the reply's problem set if the body is not acceptable JSON. */
json_t *hs_body_parse(struct hs_service *service, const struct hs_request *request,
                      struct hs_reply *reply, struct hs_reader *reader);
/* Returns whether the body decoded without faults. Sets the reply's problem if the body has
   faults. */
bool hs_body_is_fine(const struct hs_reader *reader, struct hs_reply *reply);

/*
 * Returns the match of the path, locked. Opens a missing match if `opening` is not NULL. Returns
 * NULL and sets the reply's problem on failure.
 */
struct hs_match_slot *hs_endpoint_acquire(struct hs_service *service,
                                          const struct hs_request *request,
                                          const struct hs_match_opening *opening, bool *created,
                                          struct hs_reply *reply);

/*
 * Returns the match of the path, locked. Opens a missing match with the default ruleset and map, if
 * the configuration and `may_open` allow it. Returns NULL and sets the reply's problem on failure.
 */
struct hs_match_slot *hs_endpoint_match(struct hs_service *service,
                                        const struct hs_request *request, struct hs_reply *reply,
                                        bool may_open);

/* Returns whether the caller `tenant` may use a resource of `owner`. The resource belongs to
   everybody if `owner` is "". `tenant` has ptr NULL if the service has no tenants. */
bool hs_endpoint_may_see(struct hs_str tenant, const struct hs_name *owner);

/* Return the ruleset or map with a name, if the caller may use it. Returns NULL if the name is
   unknown or belongs to another tenant. An unknown name and another tenant's name must get the same
   answer. `match` is the name of the match that will use the ruleset, because the match may get the
   canary. `match` has ptr NULL if no match will use the ruleset. */
struct hs_ruleset_entry *hs_endpoint_ruleset(struct hs_service *service,
                                             const struct hs_request *request, struct hs_str name,
                                             struct hs_str match);
struct hs_map_entry *hs_endpoint_map(struct hs_service *service, const struct hs_request *request,
                                     struct hs_str name);

/* Answers `unknown_ruleset` and lists names that the caller may use, as many as fit. Locks the
   ruleset store. */
void hs_endpoint_unknown_ruleset(struct hs_service *service, const struct hs_request *request,
                                 struct hs_str name, struct hs_reply *reply);

/* Refuses a resource that is unknown or belongs to another tenant: 404 with `code` if the service
   has no tokens, otherwise 403. */
void hs_endpoint_unknown(const struct hs_request *request, struct hs_reply *reply,
                         enum hs_problem_code code, const char *detail);

/* Records an answered request while its match is still locked, if requests are recorded.
   `request_work`: the work budget of the request if some items did not fit into it, otherwise 0. */
void hs_endpoint_record(struct hs_service *service, const struct hs_request *request,
                        struct hs_match_slot *slot, uint64_t request_work,
                        const struct hs_reply *reply);

/* If replicas share rulesets and maps, waits until this replica has read all earlier changes of
   names. Returns false and sets the reply's problem if a change is still missing. */
bool hs_endpoint_is_current(struct hs_service *service, struct hs_reply *reply);

/* Call it before a name is changed. Works like hs_endpoint_is_current, but also returns false and
   sets the reply's problem if the store is down. */
bool hs_endpoint_may_change(struct hs_service *service, struct hs_reply *reply);

/* Returns whether the change of a name arrived in the store. Sets the reply's problem if the change
   is not in the store. */
bool hs_endpoint_is_shared(enum hs_shared_result result, struct hs_reply *reply);

/* Answers 503. `what` is the detail, for example which limit was reached. */
void hs_endpoint_overloaded(struct hs_reply *reply, const char *what);

/* Answers 409 `match_moved`. */
void hs_endpoint_moved(struct hs_reply *reply);

/* Returns whether the match of the path is open or could be opened. Returns false with the reply's
   problem set if no further match can be opened. Call it before the body of a post is read. */
bool hs_endpoint_has_capacity(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply);

#endif
