#include "service/access/auth.h"

#include <stdio.h>
#include <strings.h>

#include "api/http/routes.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/sharing/takeover.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"

/* ---- the token ---- */

/* Returns TOKEN from `Bearer TOKEN`, or ptr NULL if the value has another form. */
static struct hs_str bearer(struct hs_str value)
{
    static const char scheme[] = "Bearer";
    size_t len = sizeof scheme - 1;
    if (value.len <= len || strncasecmp(value.ptr, scheme, len) != 0 || value.ptr[len] != ' ')
        return (struct hs_str){0};
    while (len < value.len && value.ptr[len] == ' ')
        len++;
    struct hs_str token = {value.ptr + len, value.len - len};
    while (token.len > 0 && token.ptr[token.len - 1] == ' ')
        token.len--;
    return token;
}

/* ---- owners ---- */

enum owner { NOBODY, CALLER, EVERYBODY, ANOTHER };

static bool begins(enum hs_route route, const char *with)
{
    return strncmp(hs_route_pattern(route), with, strlen(with)) == 0;
}

/* Returns the owner of the resource that the request path names, or CALLER if the path names no
   resource. */
static enum owner owner_of(struct hs_service *service, enum hs_route route, struct hs_str name,
                           const struct hs_identity *identity)
{
    struct hs_name owner = {0};
    bool exists = false;
    if (begins(route, "/v1/matches/{")) {
        exists = hs_registry_owner(service->registry, name, &owner);
    } else if (begins(route, "/v1/rulesets/{")) {
        struct hs_ruleset_entry *entry = hs_ruleset_store_get(service->rulesets, name);
        exists = entry != NULL;
        if (exists)
            owner = entry->owner;
        hs_ruleset_store_release(service->rulesets, entry);
    } else if (begins(route, "/v1/maps/{")) {
        struct hs_map_entry *entry = hs_map_store_get(service->maps, name);
        exists = entry != NULL;
        if (exists)
            owner = entry->owner;
        hs_map_store_release(service->maps, entry);
    } else {
        return CALLER;
    }
    return !exists                                          ? NOBODY
           : owner.text[0] == '\0'                          ? EVERYBODY
           : strcmp(owner.text, identity->tenant.text) == 0 ? CALLER
                                                            : ANOTHER;
}

/* Returns whether the request may create the resource that its path names. Called if this resource
   does not exist. */
static bool can_make(const struct hs_service *service, enum hs_route route, unsigned scopes)
{
    enum hs_method method = hs_route_method(route);
    return method == HS_METHOD_PUT ||
           (method == HS_METHOD_POST && begins(route, "/v1/matches/") &&
            service->options->auto_open && hs_route_allows(HS_ROUTE_MATCH_PUT, scopes));
}

/* Returns whether another replica may have the resource, or whether this replica's copy may be
   outdated. Then the endpoint checks the owner, after the takeover or after reading the names. */
static bool may_be_elsewhere(const struct hs_service *service, enum hs_route route,
                             struct hs_str name, enum owner owner)
{
    if (begins(route, "/v1/matches/{"))
        return hs_route_method(route) != HS_METHOD_GET && owner != EVERYBODY &&
               hs_takeover_is_needed(service->takers, name);
    return owner == NOBODY && service->catalog != NULL;
}

static bool may_touch(struct hs_service *service, enum hs_route route,
                      const struct hs_route_params *params, struct hs_auth *auth)
{
    if (!hs_name_is_valid(params->name[0]))
        /* the path contains no name, or an invalid name; a later check refuses invalid names */
        return true;
    enum owner owner = owner_of(service, route, params->name[0], &auth->identity);
    auth->hidden = owner == NOBODY;
    return owner == CALLER || (owner == EVERYBODY && hs_route_method(route) == HS_METHOD_GET) ||
           (owner == NOBODY && can_make(service, route, auth->identity.scopes)) ||
           may_be_elsewhere(service, route, params->name[0], owner);
}

/* ---- the check ---- */

void hs_auth_check(struct hs_service *service, enum hs_route route,
                   const struct hs_route_params *params, struct hs_str authorization,
                   struct hs_auth *auth)
{
    *auth = (struct hs_auth){.failure = HS_AUTH_FINE};
    if (service->keyring == NULL || hs_route_is_open(route))
        return;
    auth->failure = HS_AUTH_MISSING;
    if (authorization.ptr == NULL)
        return;
    struct hs_str token = bearer(authorization);
    auth->failure = HS_AUTH_MALFORMED;
    if (token.ptr == NULL)
        return;
    auth->failure = hs_keyring_check(service->keyring, token, &auth->identity);
    if (auth->failure != HS_AUTH_FINE)
        return;
    if (!hs_route_allows(route, auth->identity.scopes))
        auth->failure = HS_AUTH_SCOPE;
    else if (!may_touch(service, route, params, auth))
        auth->failure = HS_AUTH_TENANT;
}

static const char not_yours[] =
    "You own no resource with this name; PUT creates it if the name is free";

/* For each failure: the detail of the problem, and the end of the WWW-Authenticate header. All
   wrong tokens get the same text, because details would help callers who guess tokens. */
static const struct {
    enum hs_problem_code code;
    const char *detail, *challenge;
} refusals[HS_AUTH_FAILURE_COUNT] = {
    [HS_AUTH_MISSING] = {HS_PROBLEM_UNAUTHORIZED, "Send Authorization: Bearer TOKEN", ""},
#define WRONG_TOKEN HS_PROBLEM_UNAUTHORIZED, "The token is not valid", ", error=\"invalid_token\""
    [HS_AUTH_MALFORMED] = {WRONG_TOKEN},
    [HS_AUTH_UNKNOWN] = {WRONG_TOKEN},
    [HS_AUTH_EXPIRED] = {WRONG_TOKEN},
    [HS_AUTH_SCOPE] = {HS_PROBLEM_FORBIDDEN, "The token lacks a scope; this request needs: ",
                       ", error=\"insufficient_scope\""},
    [HS_AUTH_TENANT] = {HS_PROBLEM_FORBIDDEN, not_yours, NULL},
};

void hs_auth_not_yours(struct hs_problem *problem)
{
    hs_problem_set(problem, HS_PROBLEM_FORBIDDEN, "%s", not_yours);
}

void hs_auth_refuse(const struct hs_auth *auth, enum hs_route route, struct hs_problem *problem)
{
    char scopes[64] = "";
    if (auth->failure == HS_AUTH_FINE)
        return;
    if (auth->failure == HS_AUTH_SCOPE)
        hs_route_scopes(route, scopes, sizeof scopes);
    hs_problem_set(problem, refusals[auth->failure].code, "%s%s", refusals[auth->failure].detail,
                   scopes);
}

const char *hs_auth_challenge(const struct hs_auth *auth, enum hs_route route, char text[192])
{
    char scopes[64];
    text[0] = '\0';
    if (auth->failure == HS_AUTH_TENANT || auth->failure == HS_AUTH_FINE)
        return text;
    int len =
        snprintf(text, 192, "Bearer realm=\"hindsight\"%s", refusals[auth->failure].challenge);
    if (auth->failure == HS_AUTH_SCOPE)
        snprintf(text + len, 192 - (size_t)len, ", scope=\"%s\"",
                 hs_route_scopes(route, scopes, sizeof scopes));
    return text;
}
