/*
 * The static table of routes: which method on which path is which endpoint, on which listener it
 * is served, who may use it, and how urgent it is. Matching splits the path and checks the names in
 * it; it allocates nothing.
 */
#ifndef HS_API_ROUTES_H
#define HS_API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/str.h"

enum hs_method { HS_METHOD_GET, HS_METHOD_PUT, HS_METHOD_POST, HS_METHOD_DELETE, HS_METHOD_COUNT };

/*
 * X(id, method, pattern, listeners, access, priority, endpoint): everything about a route but its
 * endpoint's code. `{}` in a pattern stands for one segment with a name. BOTH: both listeners.
 * ALL_OF(scopes), ANY_OF(scopes): what a token must have, where tokens are asked for. OPEN:
 * nothing, because the answer names no tenant, match or player. The endpoint is
 * hs_endpoint_ENDPOINT (service/endpoints/table.h).
 */
#define HS_ROUTES(X)                                                                               \
    X(MATCH_LIST, GET, "/v1/matches", BOTH, ANY_OF(OF_MATCHES), CONSOLE, match_list)               \
    X(MATCH_PUT, PUT, "/v1/matches/{match}", BOTH, ALL_OF(INGEST), FRAMES, match_put)              \
    X(MATCH_GET, GET, "/v1/matches/{match}", BOTH, ANY_OF(OF_MATCHES), CONSOLE, match_get)         \
    X(MATCH_DELETE, DELETE, "/v1/matches/{match}", BOTH, ALL_OF(INGEST), HITS, match_delete)       \
    X(PLAYER_GET, GET, "/v1/matches/{match}/players/{player}", BOTH, ANY_OF(OF_MATCHES), CONSOLE,  \
      player_get)                                                                                  \
    X(FRAMES_POST, POST, "/v1/matches/{match}/frames", BOTH, ALL_OF(INGEST), FRAMES, post)         \
    X(MOVES_POST, POST, "/v1/matches/{match}/moves", BOTH, ALL_OF(INGEST), FRAMES, post)           \
    X(SHOTS_POST, POST, "/v1/matches/{match}/shots", BOTH, ALL_OF(INGEST), HITS, post)             \
    X(HITS_POST, POST, "/v1/matches/{match}/hits", BOTH, ALL_OF(VERIFY), HITS, post)               \
    X(TICKS_POST, POST, "/v1/matches/{match}/ticks", BOTH, ALL_OF(INGEST | VERIFY), HITS, post)    \
    X(RULESET_LIST, GET, "/v1/rulesets", BOTH, ANY_OF(ANY_SCOPE), CONSOLE, ruleset_list)           \
    X(RULESET_PUT, PUT, "/v1/rulesets/{ruleset}", BOTH, ALL_OF(RULES), CONSOLE, ruleset_put)       \
    X(RULESET_GET, GET, "/v1/rulesets/{ruleset}", BOTH, ANY_OF(ANY_SCOPE), CONSOLE, ruleset_get)   \
    X(RULESET_DELETE, DELETE, "/v1/rulesets/{ruleset}", BOTH, ALL_OF(RULES), CONSOLE,              \
      ruleset_delete)                                                                              \
    X(MAP_PUT, PUT, "/v1/maps/{map}", BOTH, ALL_OF(RULES), CONSOLE, map_put)                       \
    X(MAP_GET, GET, "/v1/maps/{map}", BOTH, ANY_OF(ANY_SCOPE), CONSOLE, map_get)                   \
    X(MAP_DELETE, DELETE, "/v1/maps/{map}", BOTH, ALL_OF(RULES), CONSOLE, map_delete)              \
    X(CONTRACT, GET, "/openapi.yaml", BOTH, OPEN, VITAL, contract)                                 \
    X(LIVEZ, GET, "/livez", BOTH, OPEN, VITAL, livez)                                              \
    X(READYZ, GET, "/readyz", BOTH, OPEN, VITAL, readyz)                                           \
    X(METRICS, GET, "/metrics", ADMIN, OPEN, VITAL, metrics)

enum hs_route {
#define X(id, method, pattern, listeners, access, priority, endpoint) HS_ROUTE_##id,
    HS_ROUTES(X)
#undef X
        HS_ROUTE_COUNT
};

enum hs_listener { HS_LISTENER_DATA = 1, HS_LISTENER_ADMIN = 2, HS_LISTENER_BOTH = 3 };

enum hs_route_match {
    HS_ROUTE_FOUND,
    HS_ROUTE_UNKNOWN,    /* no such path on this listener: 404 */
    HS_ROUTE_BAD_NAME,   /* the path fits, a name in it is not a valid name: 400 */
    HS_ROUTE_BAD_METHOD, /* the path is known with other methods: 405 */
};

struct hs_route_params {
    struct hs_str name[2]; /* the {..} segments of the pattern in order, borrowed from `path` */
    char allow[48];        /* for BAD_METHOD: the value of the Allow header */
};

/* HEAD is answered like GET. `path` is the decoded path without the query. */
enum hs_route_match hs_route_find(enum hs_listener listener, const char *method, const char *path,
                                  enum hs_route *route, struct hs_route_params *params);

const char *hs_route_pattern(enum hs_route route); /* e.g. "/v1/matches/{match}/hits" */
enum hs_method hs_route_method(enum hs_route route);
const char *hs_method_name(enum hs_method method);

/* ---- scopes: what the owner of a token may do ---- */

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

/* ---- priorities: who gets a turn when there is more to do than can be done ---- */

enum hs_priority {
    HS_PRIORITY_VITAL,   /* health, metrics, the contract: never refused */
    HS_PRIORITY_HITS,    /* hits, shots, ticks; ending a match, which makes room */
    HS_PRIORITY_FRAMES,  /* frames, moves; opening a match */
    HS_PRIORITY_CONSOLE, /* what people and tools look at, rulesets and maps */
};

/* HS_ROUTE_COUNT stands for a request that no route answers. */
enum hs_priority hs_route_priority(enum hs_route route);

#endif
