/* The static table of routes: method, path, listeners, required scopes, priority and endpoint.
   Finding a route allocates nothing. */
#ifndef HS_API_ROUTES_H
#define HS_API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/str.h"

enum hs_method { HS_METHOD_GET, HS_METHOD_PUT, HS_METHOD_POST, HS_METHOD_DELETE, HS_METHOD_COUNT };

/*
 * X(id, method, pattern, listeners, access, priority, endpoint): each row describes one route.
 * `{name}` in a pattern matches one segment of a path, which must be a valid name. BOTH means both
 * listeners. If the service has tokens, ALL_OF(scopes) or ANY_OF(scopes) describes the scopes that
 * a token needs. OPEN means that no token is needed, because the answer contains no name of a
 * tenant, a match or a player. The endpoint's function is hs_endpoint_ENDPOINT
 * (service/endpoints/table.h).
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
    X(VERDICT_LIST, GET, "/v1/verdicts", BOTH, ALL_OF(EVIDENCE), CONSOLE, verdict_list)            \
    X(VERDICT_GET, GET, "/v1/verdicts/{verdict}", BOTH, ALL_OF(EVIDENCE), CONSOLE, verdict_get)    \
    X(VERDICT_SCENE, GET, "/v1/verdicts/{verdict}/scene", BOTH, ALL_OF(EVIDENCE), CONSOLE,         \
      verdict_scene)                                                                               \
    X(SUMMARY_LIST, GET, "/v1/summaries", BOTH, ALL_OF(EVIDENCE), CONSOLE, summary_list)           \
    X(WHAT_IF, POST, "/v1/what-if", BOTH, ALL_OF(EVIDENCE), CONSOLE, what_if)                      \
    X(REVIEW_POST, POST, "/v1/verdicts/{verdict}/reviews", BOTH, ALL_OF(EVIDENCE), CONSOLE,        \
      review_post)                                                                                 \
    X(REVIEW_LIST, GET, "/v1/verdicts/{verdict}/reviews", BOTH, ALL_OF(EVIDENCE), CONSOLE,         \
      review_list)                                                                                 \
    X(PRECISION, GET, "/v1/precision", BOTH, ALL_OF(EVIDENCE), CONSOLE, precision)                 \
    X(PLAYER_REPORT, GET, "/v1/players/{account}", BOTH, ALL_OF(EVIDENCE), CONSOLE, player_report) \
    X(PLAYER_ERASE, DELETE, "/v1/players/{account}", BOTH, ALL_OF(OPERATOR), CONSOLE,              \
      player_erase)                                                                                \
    X(EVENTS, GET, "/v1/events", ADMIN, ALL_OF(EVIDENCE), CONSOLE, events)                         \
    X(CONTRACT, GET, "/openapi.yaml", BOTH, OPEN, VITAL, contract)                                 \
    X(LIVEZ, GET, "/livez", BOTH, OPEN, VITAL, livez)                                              \
    X(READYZ, GET, "/readyz", BOTH, OPEN, VITAL, readyz)                                           \
    X(METRICS, GET, "/metrics", ADMIN, OPEN, VITAL, metrics)                                       \
    X(CONSOLE, GET, "/console/", ADMIN, OPEN, VITAL, console)                                      \
    X(CONSOLE_FILE, GET, "/console/{file}", ADMIN, OPEN, VITAL, console)

enum hs_route {
#define X(id, method, pattern, listeners, access, priority, endpoint) HS_ROUTE_##id,
    HS_ROUTES(X)
#undef X
        HS_ROUTE_COUNT
};

enum hs_listener { HS_LISTENER_DATA = 1, HS_LISTENER_ADMIN = 2, HS_LISTENER_BOTH = 3 };

enum hs_route_match {
    HS_ROUTE_FOUND,
    HS_ROUTE_UNKNOWN,    /* status 404: this listener has no such path */
    HS_ROUTE_BAD_NAME,   /* status 400: the path matches a pattern, but contains an invalid name */
    HS_ROUTE_BAD_METHOD, /* status 405: the path matches a pattern, but not with this method */
};

struct hs_route_params {
    /* The segments that match the parts in braces, in order; borrowed from `path`. */
    struct hs_str name[2];
    char allow[48]; /* for BAD_METHOD: the value of the Allow header */
};

/* Finds the route of a request. HEAD uses the route of GET. `path` is the decoded path without the
   query. */
enum hs_route_match hs_route_find(enum hs_listener listener, const char *method, const char *path,
                                  enum hs_route *route, struct hs_route_params *params);

const char *hs_route_pattern(enum hs_route route); /* e.g. "/v1/matches/{match}/hits" */
enum hs_method hs_route_method(enum hs_route route);
const char *hs_method_name(enum hs_method method);

/* ---- scopes: the actions that a token permits ---- */

/* X(id, name on the wire) */
#define HS_SCOPES(X)                                                                               \
    X(INGEST, "ingest")     /* open and end matches, post what the game server observed */         \
    X(VERIFY, "verify")     /* post claims, and get verdicts */                                    \
    X(RULES, "rules")       /* upload and delete rulesets and maps */                              \
    X(EVIDENCE, "evidence") /* read matches and stored verdicts, review verdicts */                \
    X(ADMIN, "admin")       /* all of the above, and delete the data of players */

enum hs_scope {
#define X(id, name) HS_SCOPE_INDEX_##id,
    HS_SCOPES(X)
#undef X
        HS_SCOPE_COUNT
};

/* One bit for each scope. A set of scopes is an `unsigned` with these bits. */
enum {
#define X(id, name) HS_SCOPE_##id = 1 << HS_SCOPE_INDEX_##id,
    HS_SCOPES(X)
#undef X
};

const char *hs_scope_name(enum hs_scope scope);

/* Returns the bit of the scope with this name, or 0 if the name is unknown. */
unsigned hs_scope_parse(struct hs_str name);

/* Returns whether a route needs no token. */
bool hs_route_is_open(enum hs_route route);

/* Returns whether a caller with these scopes may use a route. */
bool hs_route_allows(enum hs_route route, unsigned scopes);

/* Writes the scopes of a route to `text`, for example "ingest verify", for messages and headers.
   The route's row says whether a token needs all of these scopes, or only one of these scopes.
   Returns `text`. */
const char *hs_route_scopes(enum hs_route route, char *text, size_t size);

/* ---- priorities: under overload, the last priority in this list is refused first ---- */

enum hs_priority {
    /* Health, metrics, openapi.yaml, the console's files; these requests are never refused. */
    HS_PRIORITY_VITAL,
    HS_PRIORITY_HITS,    /* hits, shots, ticks; ending a match, which frees memory */
    HS_PRIORITY_FRAMES,  /* frames, moves; opening a match */
    HS_PRIORITY_CONSOLE, /* requests from people and tools; rulesets, maps */
};

/* Returns the priority of a route. `route` is HS_ROUTE_COUNT if the request matches no route. */
enum hs_priority hs_route_priority(enum hs_route route);

#endif
