/* What the endpoints of the resources share. */
#ifndef HS_SERVICE_ENDPOINTS_H
#define HS_SERVICE_ENDPOINTS_H

#include <jansson.h>
#include <stdbool.h>

#include "api/json/reading.h"
#include "api/json/writing.h"
#include "service/http/server.h"
#include "service/state/registry.h"

/* The endpoint of each route. Those of a group of routes share a file. */
#define X(id, method, pattern, listeners, access, priority, endpoint)                              \
    hs_endpoint hs_endpoint_##endpoint;
HS_ROUTES(X)
#undef X

/* Reads a body for an endpoint: the reader is set up, the JSON value lives until the end. */
struct hs_body_reader {
    struct hs_reader reader;
    json_t *root;
};

/* False with the reply's problem set when the body is not JSON. End with hs_body_close. */
bool hs_body_open(struct hs_service *service, const struct hs_request *request,
                  struct hs_reply *reply, struct hs_body_reader *out);
/* True when everything decoded; else the reply's problem is set. */
bool hs_body_is_fine(struct hs_body_reader *body, struct hs_reply *reply);
void hs_body_close(struct hs_body_reader *body);

/*
 * The match of the path, locked; a missing one is opened when there is an opening. NULL with the
 * reply's problem set.
 */
struct hs_match_slot *hs_endpoint_acquire(struct hs_service *service,
                                          const struct hs_request *request,
                                          const struct hs_match_opening *opening, bool *created,
                                          struct hs_reply *reply);

/*
 * The match of the path, locked; a missing one is opened with the default ruleset and map where
 * that is configured and `may_open`. NULL with the reply's problem set.
 */
struct hs_match_slot *hs_endpoint_match(struct hs_service *service,
                                        const struct hs_request *request, struct hs_reply *reply,
                                        bool may_open);

/*
 * The ruleset, or map, of that name where the caller may see it: his own, or everybody's. NULL:
 * there is none of that name, or it is another tenant's, which is to be told alike.
 */
struct hs_ruleset_entry *hs_endpoint_ruleset(struct hs_service *service,
                                             const struct hs_request *request, struct hs_str name);
struct hs_map_entry *hs_endpoint_map(struct hs_service *service, const struct hs_request *request,
                                     struct hs_str name);

/* Answers `unknown_ruleset` with the names that the caller may use, as many as fit. Takes the lock
   of the ruleset store. */
void hs_endpoint_unknown_ruleset(struct hs_service *service, const struct hs_request *request,
                                 struct hs_str name, struct hs_reply *reply);

/* What the path names is not there, or another tenant's: 404 where nobody asks for tokens. */
void hs_endpoint_unknown(const struct hs_request *request, struct hs_reply *reply,
                         enum hs_problem_code code, const char *detail);

/* Records an answered request while its match is still locked, if requests are recorded.
   `request_work`: its work budget, if some items did not fit; else 0. */
void hs_endpoint_record(struct hs_service *service, const struct hs_request *request,
                        struct hs_match_slot *slot, uint64_t request_work,
                        const struct hs_reply *reply);

/* A limit was reached or memory is out: 503. */
void hs_endpoint_overloaded(struct hs_reply *reply, const char *what);

/*
 * Asked before the body of a post is looked at: whether its match is open, or could be. False with
 * the reply's problem set: no other match can be opened.
 */
bool hs_endpoint_has_room(struct hs_service *service, const struct hs_request *request,
                          struct hs_reply *reply);

#endif
