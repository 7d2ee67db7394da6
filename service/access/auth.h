/*
 * Whether a request may be answered: its token, the scope its route needs, and whether what its
 * path names is its tenant's. Asked on the first call for a request, before its body is read.
 * docs/security.md has the rules. Thread-safe.
 */
#ifndef HS_SERVICE_AUTH_H
#define HS_SERVICE_AUTH_H

#include "api/http/routes.h"
#include "service/access/tokens.h"

struct hs_service;

/* The answer, kept for the life of the request. */
struct hs_auth {
    enum hs_auth_failure failure; /* HS_AUTH_FINE: admitted */
    bool hidden;                  /* TENANT: nobody has what it names; answered all the same */
    struct hs_identity identity;  /* of a valid token */
};

/*
 * `authorization`: the value of the header, ptr NULL without one. A service without tokens admits
 * everybody, as nobody in particular.
 */
void hs_auth_check(struct hs_service *service, enum hs_route route,
                   const struct hs_route_params *params, struct hs_str authorization,
                   struct hs_auth *auth);

/* Sets the problem of a caller who is not admitted: 401 or 403. */
void hs_auth_refuse(const struct hs_auth *auth, enum hs_route route, struct hs_problem *problem);

/* What is not the caller's: one answer, whether another tenant has it or nobody. */
void hs_auth_not_yours(struct hs_problem *problem);

/* The value of WWW-Authenticate (RFC 6750) for a refused caller, or "". Returns `text`. */
const char *hs_auth_challenge(const struct hs_auth *auth, enum hs_route route, char text[192]);

#endif
