/*
 * The static table of routes: which method on which path is which endpoint, and on which
 * listener it is served. Matching splits the path and checks the names in it; it allocates nothing.
 */
#ifndef HS_API_ROUTES_H
#define HS_API_ROUTES_H

#include "validators/str.h"

enum hs_method { HS_METHOD_GET, HS_METHOD_PUT, HS_METHOD_POST, HS_METHOD_DELETE, HS_METHOD_COUNT };

/* X(id, method, pattern, listeners). `{}` stands for one name segment. BOTH: both listeners. */
#define HS_ROUTES(X)                                                                               \
    X(MATCH_LIST, GET, "/v1/matches", BOTH)                                                        \
    X(MATCH_PUT, PUT, "/v1/matches/{match}", BOTH)                                                 \
    X(MATCH_GET, GET, "/v1/matches/{match}", BOTH)                                                 \
    X(MATCH_DELETE, DELETE, "/v1/matches/{match}", BOTH)                                           \
    X(PLAYER_GET, GET, "/v1/matches/{match}/players/{player}", BOTH)                               \
    X(FRAMES_POST, POST, "/v1/matches/{match}/frames", BOTH)                                       \
    X(MOVES_POST, POST, "/v1/matches/{match}/moves", BOTH)                                         \
    X(SHOTS_POST, POST, "/v1/matches/{match}/shots", BOTH)                                         \
    X(HITS_POST, POST, "/v1/matches/{match}/hits", BOTH)                                           \
    X(TICKS_POST, POST, "/v1/matches/{match}/ticks", BOTH)                                         \
    X(RULESET_LIST, GET, "/v1/rulesets", BOTH)                                                     \
    X(RULESET_PUT, PUT, "/v1/rulesets/{ruleset}", BOTH)                                            \
    X(RULESET_GET, GET, "/v1/rulesets/{ruleset}", BOTH)                                            \
    X(RULESET_DELETE, DELETE, "/v1/rulesets/{ruleset}", BOTH)                                      \
    X(MAP_PUT, PUT, "/v1/maps/{map}", BOTH)                                                        \
    X(MAP_GET, GET, "/v1/maps/{map}", BOTH)                                                        \
    X(MAP_DELETE, DELETE, "/v1/maps/{map}", BOTH)                                                  \
    X(CONTRACT, GET, "/openapi.yaml", BOTH)                                                        \
    X(LIVEZ, GET, "/livez", BOTH)                                                                  \
    X(READYZ, GET, "/readyz", BOTH)                                                                \
    X(METRICS, GET, "/metrics", ADMIN)

enum hs_route {
#define X(id, method, pattern, listeners) HS_ROUTE_##id,
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

#endif
