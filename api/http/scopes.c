#include "api/http/scopes.h"

#include <stdio.h>

#include "validators/vocabulary.h"

static const char *const names[HS_SCOPE_COUNT] = {
#define X(id, name) name,
    HS_SCOPES(X)
#undef X
};

/* CLOSED is what a route has that was forgotten here. */
enum access { CLOSED, OPEN, ALL_OF, ANY_OF };

enum {
    INGEST = HS_SCOPE_INGEST,
    VERIFY = HS_SCOPE_VERIFY,
    RULES = HS_SCOPE_RULES,
    /* Whoever has to do with matches may look at them. */
    OF_MATCHES = HS_SCOPE_INGEST | HS_SCOPE_VERIFY | HS_SCOPE_EVIDENCE,
    ANY_SCOPE = OF_MATCHES | HS_SCOPE_RULES,
};

static const struct {
    enum access access;
    unsigned scopes;
} routes[HS_ROUTE_COUNT] = {
    [HS_ROUTE_MATCH_LIST] = {ANY_OF, OF_MATCHES},
    [HS_ROUTE_MATCH_PUT] = {ALL_OF, INGEST},
    [HS_ROUTE_MATCH_GET] = {ANY_OF, OF_MATCHES},
    [HS_ROUTE_MATCH_DELETE] = {ALL_OF, INGEST},
    [HS_ROUTE_PLAYER_GET] = {ANY_OF, OF_MATCHES},
    [HS_ROUTE_FRAMES_POST] = {ALL_OF, INGEST},
    [HS_ROUTE_MOVES_POST] = {ALL_OF, INGEST},
    [HS_ROUTE_SHOTS_POST] = {ALL_OF, INGEST},
    [HS_ROUTE_HITS_POST] = {ALL_OF, VERIFY},
    [HS_ROUTE_TICKS_POST] = {ALL_OF, INGEST | VERIFY},
    [HS_ROUTE_RULESET_LIST] = {ANY_OF, ANY_SCOPE},
    [HS_ROUTE_RULESET_PUT] = {ALL_OF, RULES},
    [HS_ROUTE_RULESET_GET] = {ANY_OF, ANY_SCOPE},
    [HS_ROUTE_RULESET_DELETE] = {ALL_OF, RULES},
    [HS_ROUTE_MAP_PUT] = {ALL_OF, RULES},
    [HS_ROUTE_MAP_GET] = {ANY_OF, ANY_SCOPE},
    [HS_ROUTE_MAP_DELETE] = {ALL_OF, RULES},
    /* Probes and scrapers; what they read names no tenant, match or player. */
    [HS_ROUTE_CONTRACT] = {OPEN, 0},
    [HS_ROUTE_LIVEZ] = {OPEN, 0},
    [HS_ROUTE_READYZ] = {OPEN, 0},
    [HS_ROUTE_METRICS] = {OPEN, 0},
};

const char *hs_scope_name(enum hs_scope scope)
{
    return names[scope];
}

unsigned hs_scope_parse(struct hs_str name)
{
    static const struct hs_vocabulary words = {names, HS_SCOPE_COUNT};
    int found = hs_vocabulary_find(&words, name);
    return found >= 0 ? 1u << found : 0;
}

bool hs_route_is_open(enum hs_route route)
{
    return routes[route].access == OPEN;
}

bool hs_route_allows(enum hs_route route, unsigned scopes)
{
    unsigned wanted = routes[route].scopes;
    if (scopes & HS_SCOPE_ADMIN)
        scopes |= ANY_SCOPE;
    switch (routes[route].access) {
    case OPEN:
        return true;
    case ALL_OF:
        return (scopes & wanted) == wanted;
    case ANY_OF:
        return (scopes & wanted) != 0;
    case CLOSED:
        break;
    }
    return false;
}

const char *hs_route_scopes(enum hs_route route, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < HS_SCOPE_COUNT; i++)
        if ((routes[route].scopes & 1u << i) != 0 && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len > 0 ? " " : "", names[i]);
    return text;
}
