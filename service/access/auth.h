/*
 * Decides whether a caller may use a route. Checks the token, the scope that the route needs, and
 * the owner of the resource that the path names. The check runs before the request body is read.
 * docs/security.md lists the rules. Thread-safe.
 */
#ifndef HS_SERVICE_AUTH_H
#define HS_SERVICE_AUTH_H

#include "api/http/routes.h"
#include "service/access/tokens.h"

struct hs_service;

struct hs_auth {
    enum hs_auth_failure failure; /* HS_AUTH_FINE: admitted */
    /* the resource in the path does not exist; an answer for HS_AUTH_TENANT must not reveal this
       fact */
    bool hidden;
    struct hs_identity identity; /* the caller, if the token is valid */
};

/* Checks a caller. `authorization` is the value of the Authorization header; its ptr is NULL if the
   header is missing. A service without tokens admits every caller, with an empty identity. */
void hs_auth_check(struct hs_service *service, enum hs_route route,
                   const struct hs_route_params *params, struct hs_str authorization,
                   struct hs_auth *auth);

/* Sets `problem` to the 401 or 403 answer for a refused caller. Does nothing if the caller was
   admitted. */
void hs_auth_refuse(const struct hs_auth *auth, enum hs_route route, struct hs_problem *problem);

/* Sets `problem` to the answer for a resource that the caller does not own. Missing resources get
   the same answer. */
void hs_auth_not_yours(struct hs_problem *problem);

/* Writes the value of the WWW-Authenticate header (RFC 6750) for a refused caller to `text`. Writes
   "" if the answer has no WWW-Authenticate header. Returns `text`. */
const char *hs_auth_challenge(const struct hs_auth *auth, enum hs_route route, char text[192]);

#endif
