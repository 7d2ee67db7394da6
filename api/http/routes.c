#include "api/http/routes.h"

#include <stdio.h>
#include <string.h>

#include "validators/vocabulary.h"

static const char *const method_names[HS_METHOD_COUNT] = {"GET", "PUT", "POST", "DELETE"};

enum { DATA = HS_LISTENER_DATA, ADMIN = HS_LISTENER_ADMIN, BOTH = HS_LISTENER_BOTH };

enum {
    INGEST = HS_SCOPE_INGEST,
    VERIFY = HS_SCOPE_VERIFY,
    RULES = HS_SCOPE_RULES,
    EVIDENCE = HS_SCOPE_EVIDENCE,
    OPERATOR = HS_SCOPE_ADMIN, /* not named ADMIN, because ADMIN is a listener in this file */
    /* A token needs at least one of these scopes to read matches. */
    OF_MATCHES = HS_SCOPE_INGEST | HS_SCOPE_VERIFY | HS_SCOPE_EVIDENCE,
    ANY_SCOPE = OF_MATCHES | HS_SCOPE_RULES,
};

enum access { ACCESS_OPEN, ACCESS_ALL_OF, ACCESS_ANY_OF };

static const struct {
    enum hs_method method;
    const char *pattern;
    unsigned listeners;
    enum access access;
    unsigned scopes;
    enum hs_priority priority;
} routes[HS_ROUTE_COUNT] = {
#define OPEN           ACCESS_OPEN, 0
#define ALL_OF(scopes) ACCESS_ALL_OF, scopes
#define ANY_OF(scopes) ACCESS_ANY_OF, scopes
#define X(id, method, pattern, listeners, access, priority, endpoint)                              \
    {HS_METHOD_##method, pattern, listeners, access, HS_PRIORITY_##priority},
    HS_ROUTES(X)
#undef X
};

const char *hs_route_pattern(enum hs_route route)
{
    return routes[route].pattern;
}

enum hs_method hs_route_method(enum hs_route route)
{
    return routes[route].method;
}

const char *hs_method_name(enum hs_method method)
{
    return method_names[method];
}

/* Returns whether a path matches a pattern. Sets `names` to the segments of the path that match the
   parts in braces. */
static bool fits(const char *pattern, const char *path, struct hs_str names[2])
{
    size_t count = 0;
    names[0] = names[1] = (struct hs_str){0};
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t len = strcspn(path, "/");
        if (len == 0 || count == 2)
            return false;
        names[count++] = (struct hs_str){path, len};
        path += len;
        pattern += strcspn(pattern, "/");
    }
    return *path == '\0';
}

/* Returns the method with this name. HEAD counts as GET. Returns HS_METHOD_COUNT if no route has
   this method. */
static enum hs_method method_of(const char *name)
{
    int method = 0;
    if (strcmp(name, "HEAD") == 0)
        return HS_METHOD_GET;
    while (method < HS_METHOD_COUNT && strcmp(method_names[method], name) != 0)
        method++;
    return (enum hs_method)method;
}

static void allow(char *list, size_t size, enum hs_method method)
{
    size_t len = strlen(list);
    snprintf(list + len, size - len, "%s%s%s", len > 0 ? ", " : "", method_names[method],
             method == HS_METHOD_GET ? ", HEAD" : "");
}

enum hs_route_match hs_route_find(enum hs_listener listener, const char *method, const char *path,
                                  enum hs_route *route, struct hs_route_params *params)
{
    enum hs_method wanted = method_of(method);
    struct hs_str *names = params->name;
    params->allow[0] = '\0';
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++) {
        if (routes[i].method != wanted || (routes[i].listeners & (unsigned)listener) == 0 ||
            !fits(routes[i].pattern, path, names))
            continue;
        *route = (enum hs_route)i;
        for (size_t n = 0; n < 2; n++)
            if (names[n].ptr != NULL && !hs_name_is_valid(names[n]))
                return HS_ROUTE_BAD_NAME;
        return HS_ROUTE_FOUND;
    }
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++)
        if ((routes[i].listeners & (unsigned)listener) != 0 && fits(routes[i].pattern, path, names))
            allow(params->allow, sizeof params->allow, routes[i].method);
    names[0] = names[1] = (struct hs_str){0};
    return params->allow[0] != '\0' ? HS_ROUTE_BAD_METHOD : HS_ROUTE_UNKNOWN;
}

enum hs_priority hs_route_priority(enum hs_route route)
{
    return (int)route < HS_ROUTE_COUNT ? routes[route].priority : HS_PRIORITY_CONSOLE;
}

/* ---- scopes ---- */

static const char *const scope_names[HS_SCOPE_COUNT] = {
#define X(id, name) name,
    HS_SCOPES(X)
#undef X
};

const char *hs_scope_name(enum hs_scope scope)
{
    return scope_names[scope];
}

unsigned hs_scope_parse(struct hs_str name)
{
    static const struct hs_vocabulary words = {scope_names, HS_SCOPE_COUNT};
    int found = hs_vocabulary_find(&words, name);
    return found >= 0 ? 1u << found : 0;
}

bool hs_route_is_open(enum hs_route route)
{
    return routes[route].access == ACCESS_OPEN;
}

bool hs_route_allows(enum hs_route route, unsigned scopes)
{
    unsigned wanted = routes[route].scopes;
    if (scopes & HS_SCOPE_ADMIN)
        scopes |= ANY_SCOPE;
    if (routes[route].access == ACCESS_ANY_OF)
        return (scopes & wanted) != 0;
    /* Always true for an open route, because an open route needs no scope. */
    return (scopes & wanted) == wanted;
}

const char *hs_route_scopes(enum hs_route route, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < HS_SCOPE_COUNT; i++)
        if ((routes[route].scopes & 1u << i) != 0 && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len > 0 ? " " : "",
                                    scope_names[i]);
    return text;
}
