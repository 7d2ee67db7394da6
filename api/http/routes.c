#include "api/http/routes.h"

#include <stdio.h>
#include <string.h>

static const char *const method_names[HS_METHOD_COUNT] = {"GET", "PUT", "POST", "DELETE"};

enum { DATA = HS_LISTENER_DATA, ADMIN = HS_LISTENER_ADMIN, BOTH = HS_LISTENER_BOTH };

static const struct {
    enum hs_method method;
    const char *pattern;
    unsigned listeners;
} routes[HS_ROUTE_COUNT] = {
#define X(id, method, pattern, listeners) {HS_METHOD_##method, pattern, listeners},
    HS_ROUTES(X)
#undef X
};

_Static_assert((int)DATA != (int)ADMIN && ((int)DATA | (int)ADMIN) == (int)BOTH,
               "listeners are bits");

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

/* Whether the shape of the path is that of the pattern; the `{}` segments go to `names`. */
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

static bool answers(enum hs_method method, const char *name)
{
    return strcmp(method_names[method], name) == 0 ||
           (method == HS_METHOD_GET && strcmp(name, "HEAD") == 0);
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
    bool known = false;
    struct hs_str names[2];
    params->allow[0] = '\0';
    params->name[0] = params->name[1] = (struct hs_str){0};
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++) {
        if ((routes[i].listeners & (unsigned)listener) == 0 ||
            !fits(routes[i].pattern, path, names))
            continue;
        known = true;
        allow(params->allow, sizeof params->allow, routes[i].method);
        if (!answers(routes[i].method, method))
            continue;
        *route = (enum hs_route)i;
        params->allow[0] = '\0';
        memcpy(params->name, names, sizeof params->name);
        for (size_t n = 0; n < 2; n++)
            if (names[n].ptr != NULL && !hs_name_is_valid(names[n]))
                return HS_ROUTE_BAD_NAME;
        return HS_ROUTE_FOUND;
    }
    return known ? HS_ROUTE_BAD_METHOD : HS_ROUTE_UNKNOWN;
}
