#include "service/access/auth.h"

#include <stdio.h>
#include <strings.h>

#include "api/http/routes.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"

/* ---- the token ---- */

/* Returns the token of `Bearer TOKEN`; ptr NULL: the value has another form. */
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

static enum owner owner_of(const struct hs_name *owner, const struct hs_identity *identity)
{
    if (owner->text[0] == '\0')
        return EVERYBODY;
    return strcmp(owner->text, identity->tenant.text) == 0 ? CALLER : ANOTHER;
}

static enum owner owner_of_ruleset(struct hs_service *service, struct hs_str name,
                                   const struct hs_identity *identity)
{
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(service->rulesets, name);
    enum owner owner = entry == NULL ? NOBODY : owner_of(&entry->owner, identity);
    hs_ruleset_store_release(service->rulesets, entry);
    return owner;
}

static enum owner owner_of_map(struct hs_service *service, struct hs_str name,
                               const struct hs_identity *identity)
{
    struct hs_map_entry *entry = hs_map_store_get(service->maps, name);
    enum owner owner = entry == NULL ? NOBODY : owner_of(&entry->owner, identity);
    hs_map_store_release(service->maps, entry);
    return owner;
}

static enum owner owner_of_match(struct hs_service *service, struct hs_str name,
                                 const struct hs_identity *identity)
{
    struct hs_name tenant;
    if (!hs_registry_owner(service->registry, name, &tenant))
        return NOBODY;
    return owner_of(&tenant, identity);
}

static bool begins(enum hs_route route, const char *with)
{
    return strncmp(hs_route_pattern(route), with, strlen(with)) == 0;
}

/* Whether the request creates the resource in its path if it is missing. */
static bool can_make(const struct hs_service *service, enum hs_route route, unsigned scopes)
{
    switch (hs_route_method(route)) {
    case HS_METHOD_PUT:
        return true;
    case HS_METHOD_POST:
        return begins(route, "/v1/matches/") && service->options->auto_open &&
               hs_route_allows(HS_ROUTE_MATCH_PUT, scopes);
    case HS_METHOD_GET:
    case HS_METHOD_DELETE:
    case HS_METHOD_COUNT:
        break;
    }
    return false;
}

static bool may_touch(struct hs_service *service, enum hs_route route,
                      const struct hs_route_params *params, struct hs_auth *auth)
{
    enum owner owner = CALLER;
    if (!hs_name_is_valid(params->name[0]))
        return true; /* no resource: a list, or a request that is refused later */
    if (begins(route, "/v1/matches/{"))
        owner = owner_of_match(service, params->name[0], &auth->identity);
    else if (begins(route, "/v1/rulesets/{"))
        owner = owner_of_ruleset(service, params->name[0], &auth->identity);
    else if (begins(route, "/v1/maps/{"))
        owner = owner_of_map(service, params->name[0], &auth->identity);
    auth->hidden = owner == NOBODY;
    switch (owner) {
    case NOBODY:
        return can_make(service, route, auth->identity.scopes);
    case CALLER:
        return true;
    case EVERYBODY:
        return hs_route_method(route) == HS_METHOD_GET;
    case ANOTHER:
        break;
    }
    return false;
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

void hs_auth_not_yours(struct hs_problem *problem)
{
    hs_problem_set(problem, HS_PROBLEM_FORBIDDEN,
                   "You own nothing with this name; a missing resource can be put");
}

void hs_auth_refuse(const struct hs_auth *auth, enum hs_route route, struct hs_problem *problem)
{
    char scopes[64];
    switch (auth->failure) {
    case HS_AUTH_MISSING:
        hs_problem_set(problem, HS_PROBLEM_UNAUTHORIZED, "Send Authorization: Bearer TOKEN");
        return;
    case HS_AUTH_MALFORMED:
    case HS_AUTH_UNKNOWN:
    case HS_AUTH_EXPIRED:
        /* One text for all failures: details would help callers who guess tokens. */
        hs_problem_set(problem, HS_PROBLEM_UNAUTHORIZED, "The token is not valid");
        return;
    case HS_AUTH_SCOPE:
        hs_problem_set(problem, HS_PROBLEM_FORBIDDEN, "The token lacks a scope; this needs: %s",
                       hs_route_scopes(route, scopes, sizeof scopes));
        return;
    case HS_AUTH_TENANT:
        hs_auth_not_yours(problem);
        return;
    case HS_AUTH_FINE:
        return;
    }
}

const char *hs_auth_challenge(const struct hs_auth *auth, enum hs_route route, char text[192])
{
    static const char realm[] = "Bearer realm=\"hindsight\"";
    char scopes[64];
    text[0] = '\0';
    switch (auth->failure) {
    case HS_AUTH_MISSING:
        snprintf(text, 192, "%s", realm);
        break;
    case HS_AUTH_MALFORMED:
    case HS_AUTH_UNKNOWN:
    case HS_AUTH_EXPIRED:
        snprintf(text, 192, "%s, error=\"invalid_token\"", realm);
        break;
    case HS_AUTH_SCOPE:
        snprintf(text, 192, "%s, error=\"insufficient_scope\", scope=\"%s\"", realm,
                 hs_route_scopes(route, scopes, sizeof scopes));
        break;
    case HS_AUTH_TENANT:
    case HS_AUTH_FINE:
        break;
    }
    return text;
}
