/*
 * What a caller may do: the scopes of a token, and which of them each route needs. One table, in
 * scopes.c; a route that is not in it is closed to everybody as soon as tokens are asked for.
 */
#ifndef HS_API_SCOPES_H
#define HS_API_SCOPES_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/routes.h"

/* X(id, name on the wire) */
#define HS_SCOPES(X)                                                                               \
    X(INGEST, "ingest")     /* open and end matches, post what the game server saw */              \
    X(VERIFY, "verify")     /* have claims judged */                                               \
    X(RULES, "rules")       /* put rulesets and maps */                                            \
    X(EVIDENCE, "evidence") /* look at what was judged */                                          \
    X(ADMIN, "admin")       /* all of the above */

enum hs_scope {
#define X(id, name) HS_SCOPE_INDEX_##id,
    HS_SCOPES(X)
#undef X
        HS_SCOPE_COUNT
};

/* A set of scopes is an `unsigned` of these. */
enum {
#define X(id, name) HS_SCOPE_##id = 1 << HS_SCOPE_INDEX_##id,
    HS_SCOPES(X)
#undef X
};

const char *hs_scope_name(enum hs_scope scope);

/* The bit of a scope by its name, or 0: there is none. */
unsigned hs_scope_parse(struct hs_str name);

/* Whether a route is answered without a token: it tells nothing of any tenant. */
bool hs_route_is_open(enum hs_route route);

/* Whether a caller with these scopes may use a route. */
bool hs_route_allows(enum hs_route route, unsigned scopes);

/* What a route asks for, as text for people and headers: "ingest verify" (all of them where it
   needs several, any of them where it has a choice). Returns `text`. */
const char *hs_route_scopes(enum hs_route route, char *text, size_t size);

#endif
