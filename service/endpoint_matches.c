/* matches: open, list, look at, end. */
#include "api/matches.h"

#include "service/endpoints.h"
#include "service/options.h"
#include "service/ruleset_store.h"
#include "service/serve.h"

static struct hs_match_head head_of(const struct hs_match_slot *slot)
{
    return (struct hs_match_head){.name = hs_name_str(&slot->name),
                                  .ruleset = hs_name_str(&slot->ruleset->ruleset->name),
                                  .map = hs_name_str(&slot->map),
                                  .revision = slot->ruleset->revision};
}

static void list_match(void *context, struct hs_match_slot *slot)
{
    struct hs_match_head head = head_of(slot);
    hs_match_encode(context, &head, slot->match);
}

void hs_endpoint_match_list(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    (void)request;
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "matches");
    hs_write_begin(&writer, '[');
    hs_registry_each(service->registry, list_match, &writer);
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
}

/* An open match is confirmed when it is what the request names; what it leaves out agrees. */
static bool confirms(const struct hs_match_slot *slot, const struct hs_match_request *request,
                     const struct hs_ruleset_entry *ruleset)
{
    bool same_rules =
        request->ruleset.ptr == NULL || hs_str_equal(hs_name_str(&slot->ruleset->ruleset->name),
                                                     hs_name_str(&ruleset->ruleset->name));
    bool same_map = request->map.ptr == NULL || hs_str_equal(hs_name_str(&slot->map), request->map);
    return same_rules && same_map;
}

static void open_match(struct hs_service *service, const struct hs_request *request,
                       const struct hs_match_request *wanted, struct hs_ruleset_entry *ruleset,
                       struct hs_reply *reply)
{
    const struct hs_options *options = service->options;
    struct hs_match_opening opening = {
        .ruleset = ruleset,
        .limits = {(uint32_t)options->max_players, (uint32_t)options->max_samples}};
    struct hs_match_slot *slot = NULL;
    enum hs_registry_result result =
        hs_registry_acquire(service->registry, request->params.name[0], &opening, &slot);
    if (slot == NULL) {
        hs_endpoint_overloaded(reply, result == HS_REGISTRY_FULL
                                          ? "as many matches are open as are configured"
                                          : "out of memory");
        return;
    }
    if (result == HS_REGISTRY_FOUND && !confirms(slot, wanted, ruleset)) {
        hs_problem_set(reply->problem, HS_PROBLEM_MATCH_CONFLICT, "it has ruleset %s, map %s",
                       slot->ruleset->ruleset->name.text,
                       slot->map.text[0] != '\0' ? slot->map.text : "none");
    } else {
        struct hs_writer writer = {.buffer = &reply->body};
        struct hs_match_head head = head_of(slot);
        hs_match_encode(&writer, &head, slot->match);
        reply->status = result == HS_REGISTRY_CREATED ? 201 : 200;
    }
    hs_registry_release(service->registry, slot);
}

void hs_endpoint_match_put(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_body_reader body;
    if (!hs_body_open(service, request, reply, &body))
        return;
    struct hs_match_request wanted = {0};
    hs_match_decode_body(&body.reader, body.root, &wanted);
    if (hs_body_is_fine(&body, reply)) {
        struct hs_str name = wanted.ruleset.ptr != NULL ? wanted.ruleset : HS_STR("default");
        struct hs_ruleset_entry *ruleset = hs_ruleset_store_get(service->rulesets, name);
        if (ruleset == NULL)
            hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_RULESET, "%.*s", (int)name.len,
                           name.ptr);
        else if (wanted.map.ptr != NULL)
            hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_MAP, "%.*s", (int)wanted.map.len,
                           wanted.map.ptr);
        else
            open_match(service, request, &wanted, ruleset, reply);
        hs_ruleset_store_release(service->rulesets, ruleset);
    }
    hs_body_close(&body);
}

void hs_endpoint_match_get(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_match_slot *slot = hs_endpoint_match(service, request, reply, false);
    if (slot == NULL)
        return;
    struct hs_writer writer = {.buffer = &reply->body};
    struct hs_match_head head = head_of(slot);
    hs_match_encode_state(&writer, &head, slot->match);
    hs_registry_release(service->registry, slot);
}

void hs_endpoint_match_delete(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_match_slot *slot = hs_endpoint_match(service, request, reply, false);
    if (slot == NULL)
        return;
    struct hs_writer writer = {.buffer = &reply->body};
    struct hs_match_head head = head_of(slot);
    hs_match_encode_summary(&writer, &head, slot->match);
    hs_registry_remove(service->registry, slot);
    hs_registry_release(service->registry, slot);
}

void hs_endpoint_player_get(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    struct hs_match_slot *slot = hs_endpoint_match(service, request, reply, false);
    if (slot == NULL)
        return;
    struct hs_player_info player;
    struct hs_writer writer = {.buffer = &reply->body};
    if (hs_match_find_player(slot->match, request->params.name[1], &player))
        hs_player_encode(&writer, &player);
    else
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_NAME, "no such player in this match");
    hs_registry_release(service->registry, slot);
}
