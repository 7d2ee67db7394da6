/* The table from routes to endpoints, and what they share. */
#include "service/endpoints.h"

#include "service/map_store.h"
#include "service/metrics.h"
#include "service/options.h"
#include "service/ruleset_store.h"
#include "service/serve.h"

hs_endpoint *const hs_endpoints[HS_ROUTE_COUNT] = {
    [HS_ROUTE_MATCH_LIST] = hs_endpoint_match_list,
    [HS_ROUTE_MATCH_PUT] = hs_endpoint_match_put,
    [HS_ROUTE_MATCH_GET] = hs_endpoint_match_get,
    [HS_ROUTE_MATCH_DELETE] = hs_endpoint_match_delete,
    [HS_ROUTE_PLAYER_GET] = hs_endpoint_player_get,
    [HS_ROUTE_FRAMES_POST] = hs_endpoint_frames_post,
    [HS_ROUTE_SHOTS_POST] = hs_endpoint_shots_post,
    [HS_ROUTE_HITS_POST] = hs_endpoint_hits_post,
    [HS_ROUTE_TICKS_POST] = hs_endpoint_ticks_post,
    [HS_ROUTE_RULESET_LIST] = hs_endpoint_ruleset_list,
    [HS_ROUTE_RULESET_PUT] = hs_endpoint_ruleset_put,
    [HS_ROUTE_RULESET_GET] = hs_endpoint_ruleset_get,
    [HS_ROUTE_MAP_PUT] = hs_endpoint_map_put,
    [HS_ROUTE_MAP_GET] = hs_endpoint_map_get,
    [HS_ROUTE_MAP_DELETE] = hs_endpoint_map_delete,
    [HS_ROUTE_CONTRACT] = hs_endpoint_contract,
    [HS_ROUTE_LIVEZ] = hs_endpoint_livez,
    [HS_ROUTE_READYZ] = hs_endpoint_readyz,
    [HS_ROUTE_METRICS] = hs_endpoint_metrics,
};

bool hs_body_open(struct hs_service *service, const struct hs_request *request,
                  struct hs_reply *reply, struct hs_body_reader *out)
{
    *out = (struct hs_body_reader){.reader = {.problem = reply->problem,
                                              .arena = request->arena,
                                              .max_items = service->options->max_batch}};
    out->root = hs_json_parse(request->body, reply->problem);
    return out->root != NULL;
}

bool hs_body_is_fine(struct hs_body_reader *body, struct hs_reply *reply)
{
    if (body->reader.no_memory)
        hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "out of memory");
    return reply->problem->code == HS_PROBLEM_NONE;
}

void hs_body_close(struct hs_body_reader *body)
{
    json_decref(body->root);
}

void hs_endpoint_overloaded(struct hs_reply *reply, const char *what)
{
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "%s", what);
}

struct hs_match_slot *hs_endpoint_match(struct hs_service *service,
                                        const struct hs_request *request, struct hs_reply *reply,
                                        bool may_open)
{
    const struct hs_options *options = service->options;
    struct hs_match_slot *slot = NULL;
    struct hs_match_opening opening = {
        .limits = {(uint32_t)options->max_players, (uint32_t)options->max_samples}};
    if (may_open && options->auto_open)
        opening.ruleset = hs_ruleset_store_default(service->rulesets);
    enum hs_registry_result result =
        hs_registry_acquire(service->registry, request->params.name[0],
                            opening.ruleset != NULL ? &opening : NULL, &slot);
    hs_ruleset_store_release(service->rulesets, opening.ruleset);
    switch (result) {
    case HS_REGISTRY_FOUND:
    case HS_REGISTRY_CREATED:
        return slot;
    case HS_REGISTRY_MISSING:
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_MATCH, "open it with PUT first");
        break;
    case HS_REGISTRY_FULL:
        hs_endpoint_overloaded(reply, "as many matches are open as are configured");
        break;
    case HS_REGISTRY_NO_MEMORY:
        hs_endpoint_overloaded(reply, "out of memory");
        break;
    }
    return NULL;
}

static void add_gauges(void *context, struct hs_match_slot *slot)
{
    struct hs_metrics_gauges *gauges = context;
    struct hs_match_info info;
    hs_match_info(slot->match, &info);
    gauges->matches++;
    gauges->players += info.players;
    gauges->history_bytes += info.history_bytes;
}

void hs_service_gauges(struct hs_service *service, struct hs_metrics_gauges *gauges)
{
    *gauges = (struct hs_metrics_gauges){0};
    hs_registry_each(service->registry, add_gauges, gauges);
    struct hs_map_usage maps = hs_map_store_usage(service->maps);
    gauges->maps = maps.maps;
    gauges->map_bytes = maps.bytes;
}
