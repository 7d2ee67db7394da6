/* The table of endpoints, and functions that several endpoints use. */
#include "service/endpoints/table.h"

#include "service/access/auth.h"
#include "service/checkpoint/kept_match.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/sharing/takeover.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/watch/metrics.h"

/* How long a request for a ruleset or map waits for changes that other replicas have made. */
enum { CATALOG_US = 1000000 };

hs_endpoint *const hs_endpoints[HS_ROUTE_COUNT] = {
#define X(id, method, pattern, listeners, access, priority, endpoint)                              \
    [HS_ROUTE_##id] = hs_endpoint_##endpoint,
    HS_ROUTES(X)
#undef X
};

void hs_body_reader(struct hs_service *service, const struct hs_request *request,
                    struct hs_reply *reply, struct hs_reader *reader)
{
    *reader = (struct hs_reader){.problem = reply->problem,
                                 .arena = request->arena,
                                 .max_items = service->options->max_batch};
}

json_t *hs_body_parse(struct hs_service *service, const struct hs_request *request,
                      struct hs_reply *reply, struct hs_reader *reader)
{
    hs_body_reader(service, request, reply, reader);
    return hs_json_parse(request->body, reply->problem);
}

bool hs_body_is_fine(const struct hs_reader *reader, struct hs_reply *reply)
{
    if (reader->no_memory)
        hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "out of memory");
    return reply->problem->code == HS_PROBLEM_NONE;
}

void hs_endpoint_overloaded(struct hs_reply *reply, const char *what)
{
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "%s", what);
}

void hs_endpoint_unknown(const struct hs_request *request, struct hs_reply *reply,
                         enum hs_problem_code code, const char *detail)
{
    if (request->tenant.ptr != NULL)
        hs_auth_not_yours(reply->problem);
    else
        hs_problem_set(reply->problem, code, "%s", detail);
}

bool hs_endpoint_may_see(struct hs_str tenant, const struct hs_name *owner)
{
    return tenant.ptr == NULL || owner->text[0] == '\0' || hs_str_equal(hs_name_str(owner), tenant);
}

struct hs_ruleset_entry *hs_endpoint_ruleset(struct hs_service *service,
                                             const struct hs_request *request, struct hs_str name,
                                             struct hs_str match)
{
    struct hs_ruleset_entry *entry = hs_ruleset_store_get_for_match(service->rulesets, name, match);
    if (entry == NULL || hs_endpoint_may_see(request->tenant, &entry->owner))
        return entry;
    hs_ruleset_store_release(service->rulesets, entry);
    return NULL;
}

struct hs_map_entry *hs_endpoint_map(struct hs_service *service, const struct hs_request *request,
                                     struct hs_str name)
{
    struct hs_map_entry *entry = hs_map_store_get(service->maps, name);
    if (entry == NULL || hs_endpoint_may_see(request->tenant, &entry->owner))
        return entry;
    hs_map_store_release(service->maps, entry);
    return NULL;
}

bool hs_endpoint_is_current(struct hs_service *service, struct hs_reply *reply)
{
    if (hs_catalog_is_current(service->catalog, CATALOG_US))
        return true;
    hs_endpoint_overloaded(reply,
                           "this replica is still reading rulesets or maps from another replica");
    reply->shed = HS_SHED_REVISION;
    return false;
}

bool hs_endpoint_may_change(struct hs_service *service, struct hs_reply *reply)
{
    if (service->store == NULL || hs_store_is_up(service->store, HS_STORE_BULK))
        return hs_endpoint_is_current(service, reply);
    hs_endpoint_overloaded(reply, "the store that shares rulesets and maps is down");
    return false;
}

bool hs_endpoint_is_shared(enum hs_shared_result result, struct hs_reply *reply)
{
    if (result == HS_SHARED_FOREIGN)
        hs_auth_not_yours(reply->problem);
    else if (result == HS_SHARED_LOST)
        hs_endpoint_overloaded(reply, "the store that shares rulesets and maps did not answer");
    return result == HS_SHARED_DONE;
}

static void refuse_another(enum hs_registry_result why, struct hs_reply *reply)
{
    if (why == HS_REGISTRY_FULL) {
        hs_endpoint_overloaded(reply, "the limit of open matches is reached");
        return;
    }
    hs_endpoint_overloaded(reply, "the open matches fill the memory for histories");
    reply->shed = HS_SHED_HISTORY;
}

void hs_endpoint_moved(struct hs_reply *reply)
{
    hs_problem_set(reply->problem, HS_PROBLEM_MATCH_MOVED,
                   "another replica has this match now: send the request again");
}

/* Refuses a request for a match that another replica now owns, and closes the match here. */
static void refuse_moved(struct hs_service *service, struct hs_match_slot *slot,
                         struct hs_reply *reply)
{
    hs_kept_match_moved(service, slot);
    hs_registry_release(service->registry, slot);
    hs_endpoint_moved(reply);
}

/* Writes the opening of a match to the journal before any answer about the match is sent. If this
   write fails, closes the match and returns false. Also returns false if another replica now owns
   the match. */
static bool keep_opening(struct hs_service *service, struct hs_match_slot *slot,
                         struct hs_reply *reply)
{
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    if (shared != NULL && hs_shared_match_is_lost(shared)) {
        refuse_moved(service, slot, reply);
        return false;
    }
    if (hs_kept_match_open(service, slot))
        return true;
    hs_registry_remove(service->registry, slot);
    hs_registry_release(service->registry, slot);
    hs_endpoint_overloaded(reply, "the opening of the match cannot be written to the journal");
    return false;
}

struct hs_match_slot *hs_endpoint_acquire(struct hs_service *service,
                                          const struct hs_request *request,
                                          const struct hs_match_opening *opening, bool *created,
                                          struct hs_reply *reply)
{
    struct hs_match_slot *slot = NULL;
    /* If replicas share matches and the service has not asked the store about the match, the match
       was open here when the request arrived. If the match is missing now, the match has moved to
       another replica or has ended. In this case, this replica must not open a new, empty match,
       because the new match would pay again for claims that were already paid. GET requests never
       start a takeover, so a GET request for a missing match gets the answer that the match is
       unknown. */
    bool may_open = service->takers == NULL || request->takeover != NULL;
    enum hs_registry_result result =
        hs_registry_acquire(service->registry, request->tenant, request->params.name[0],
                            may_open ? opening : NULL, &slot);
    *created = result == HS_REGISTRY_CREATED;
    if (result == HS_REGISTRY_MISSING && !may_open &&
        hs_route_method(request->route) != HS_METHOD_GET) {
        hs_endpoint_moved(reply);
        return NULL;
    }
    if (*created && request->takeover != NULL)
        hs_takeover_share(service, slot, request->takeover);
    if (slot != NULL && !keep_opening(service, slot, reply))
        return NULL;
    switch (result) {
    case HS_REGISTRY_FOUND:
    case HS_REGISTRY_CREATED:
        break;
    case HS_REGISTRY_MISSING:
    case HS_REGISTRY_FOREIGN:
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_MATCH, "open it with PUT first");
        break;
    case HS_REGISTRY_FULL:
    case HS_REGISTRY_NO_HISTORY:
        refuse_another(result, reply);
        break;
    case HS_REGISTRY_NO_MEMORY:
        hs_endpoint_overloaded(reply, "out of memory");
        break;
    }
    return slot;
}

/* Opens a match with the default ruleset and map. Fails if the ruleset or the map is missing,
   because verdicts without the map would ignore the walls. */
static struct hs_match_slot *open_by_default(struct hs_service *service,
                                             const struct hs_request *request,
                                             struct hs_reply *reply)
{
    const char *map = service->options->default_map;
    struct hs_match_opening opening = {
        .ruleset = hs_ruleset_store_get_for_match(service->rulesets, HS_STR("default"),
                                                  request->params.name[0]),
        .limits = hs_registry_match_limits(service->registry, service->options),
        .tenant = request->tenant};
    if (map[0] != '\0')
        opening.map = hs_endpoint_map(service, request, hs_str_of(map));
    bool lacks_map = map[0] != '\0' && opening.map == NULL, created;
    if (lacks_map)
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_MATCH,
                       "the default map, %s, does not exist", map);
    bool complete = opening.ruleset != NULL && !lacks_map;
    struct hs_match_slot *slot =
        hs_endpoint_acquire(service, request, complete ? &opening : NULL, &created, reply);
    hs_map_store_release(service->maps, opening.map);
    hs_ruleset_store_release(service->rulesets, opening.ruleset);
    return slot;
}

/* Returns whether the caller may open a match by posting to it. The scope `verify` alone does not
   allow a caller to open matches. */
static bool may_open_matches(const struct hs_service *service, const struct hs_request *request)
{
    return service->options->auto_open &&
           (request->tenant.ptr == NULL || hs_route_allows(HS_ROUTE_MATCH_PUT, request->scopes));
}

bool hs_endpoint_has_capacity(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_name owner;
    bool opens = request->route == HS_ROUTE_MATCH_PUT || may_open_matches(service, request);
    enum hs_registry_result result =
        opens ? hs_registry_capacity(service->registry) : HS_REGISTRY_CREATED;
    if (result == HS_REGISTRY_CREATED ||
        hs_registry_owner(service->registry, request->params.name[0], &owner))
        return true;
    refuse_another(result, reply);
    return false;
}

struct hs_match_slot *hs_endpoint_match(struct hs_service *service,
                                        const struct hs_request *request, struct hs_reply *reply,
                                        bool may_open)
{
    struct hs_match_slot *slot = NULL;
    bool created;
    if (!may_open || !may_open_matches(service, request))
        return hs_endpoint_acquire(service, request, NULL, &created, reply);
    /* The match is nearly always open. For an open match, the default ruleset and map need not be
       looked up. */
    hs_registry_acquire(service->registry, request->tenant, request->params.name[0], NULL, &slot);
    if (slot == NULL)
        return open_by_default(service, request, reply);
    return keep_opening(service, slot, reply) ? slot : NULL;
}

void hs_endpoint_record(struct hs_service *service, const struct hs_request *request,
                        struct hs_match_slot *slot, uint64_t request_work,
                        const struct hs_reply *reply)
{
    if (service->record == NULL)
        return;
    struct hs_recorded_request recorded = {.route = request->route,
                                           .explain = request->explain,
                                           .brief = request->brief,
                                           .request_work = request_work,
                                           .body = request->body};
    if (reply->problem->code == HS_PROBLEM_NONE && !reply->body.failed)
        recorded.answer = (struct hs_str){reply->body.data, reply->body.len};
    hs_record_request(service->record, slot, &recorded);
}
