/* Endpoints for matches and players: open, list, get, end. */
#include "api/matches.h"

#include <limits.h>
#include <unistd.h>

#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/endpoints/table.h"
#include "service/evidence/ended.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

static void list_match(void *context, struct hs_match_slot *slot)
{
    struct hs_match_head head = hs_match_slot_head(slot);
    hs_match_encode(context, &head, slot->match);
}

void hs_endpoint_match_list(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    char host[HOST_NAME_MAX + 1] = "";
    hs_write_begin(&writer, '{');
    if (gethostname(host, sizeof host - 1) == 0)
        hs_write_text_field(&writer, "replica", host);
    hs_write_begin_field(&writer, "matches", '[');
    hs_registry_each(service->registry, request->tenant, list_match, &writer);
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
}

/* Returns whether an open match has the ruleset and the map of a request. A ruleset or map that the
   request omits always matches. `ruleset` is the current ruleset with the requested name, or NULL
   if this name is unknown. */
static bool confirms(const struct hs_match_slot *slot, const struct hs_match_request *request,
                     const struct hs_ruleset_entry *ruleset)
{
    struct hs_match_head head = hs_match_slot_head(slot);
    struct hs_str wanted =
        ruleset != NULL ? hs_name_str(&ruleset->ruleset->name) : request->ruleset;
    bool same_rules = request->ruleset.ptr == NULL || hs_str_equal(head.ruleset, wanted);
    return same_rules && (request->map.ptr == NULL || hs_str_equal(head.map, request->map));
}

static void answer_put(const struct hs_match_slot *slot, bool created, struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    struct hs_match_head head = hs_match_slot_head(slot);
    hs_match_encode(&writer, &head, slot->match);
    reply->status = created ? 201 : 200;
}

/* Confirms an open match although its map or ruleset no longer has a name. A match keeps its map
   and ruleset until it ends, even if their names were deleted or lost in a restart. A PUT with such
   a name can confirm the match, but cannot open a new match. */
static void confirm_nameless(struct hs_service *service, const struct hs_request *request,
                             const struct hs_match_request *wanted,
                             const struct hs_ruleset_entry *ruleset, struct hs_reply *reply)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(service->registry, request->tenant, request->params.name[0], NULL, &slot);
    bool is_confirmed = slot != NULL && confirms(slot, wanted, ruleset);
    if (is_confirmed)
        answer_put(slot, false, reply);
    if (slot != NULL)
        hs_registry_release(service->registry, slot);
    if (is_confirmed)
        return;
    if (ruleset == NULL)
        hs_endpoint_unknown_ruleset(service, request, wanted->ruleset, reply);
    else
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_MAP, "%.*s", (int)wanted->map.len,
                       wanted->map.ptr);
}

static const char *name_of_map(const struct hs_match_slot *slot)
{
    if (slot->map == NULL && slot->awaited_map.text[0] == '\0')
        return "none";
    return slot->map != NULL ? slot->map->name.text : slot->awaited_map.text;
}

static void open_or_confirm(struct hs_service *service, const struct hs_request *request,
                            const struct hs_match_request *wanted,
                            const struct hs_match_opening *opening, struct hs_reply *reply)
{
    bool created;
    struct hs_match_slot *slot = hs_endpoint_acquire(service, request, opening, &created, reply);
    if (slot == NULL)
        return;
    slot->used_us = hs_clock_us();
    if (created || confirms(slot, wanted, opening->ruleset))
        answer_put(slot, created, reply);
    else
        hs_problem_set(reply->problem, HS_PROBLEM_MATCH_CONFLICT, "it has ruleset %s, map %s",
                       slot->ruleset->ruleset->name.text, name_of_map(slot));
    hs_registry_release(service->registry, slot);
}

static void put_match(struct hs_service *service, const struct hs_request *request,
                      const struct hs_match_request *wanted, struct hs_reply *reply)
{
    struct hs_str name = wanted->ruleset.ptr != NULL ? wanted->ruleset : HS_STR("default");
    struct hs_match_opening opening = {
        .limits = hs_registry_match_limits(service->registry, service->options),
        .tenant = request->tenant};
    opening.ruleset = hs_endpoint_ruleset(service, request, name, request->params.name[0]);
    if (wanted->map.ptr != NULL)
        opening.map = hs_endpoint_map(service, request, wanted->map);
    bool lacks_map = wanted->map.ptr != NULL && opening.map == NULL;
    if (opening.ruleset == NULL && wanted->ruleset.ptr == NULL)
        hs_endpoint_unknown_ruleset(service, request, name, reply);
    else if (opening.ruleset == NULL || lacks_map)
        confirm_nameless(service, request, wanted, opening.ruleset, reply);
    else
        open_or_confirm(service, request, wanted, &opening, reply);
    hs_map_store_release(service->maps, opening.map);
    hs_ruleset_store_release(service->rulesets, opening.ruleset);
}

void hs_endpoint_match_put(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_match_request wanted = {0};
    struct hs_reader reader;
    if (!hs_endpoint_has_capacity(service, request, reply))
        return;
    json_t *root = hs_body_parse(service, request, reply, &reader);
    if (root == NULL)
        return;
    hs_match_decode_body(&reader, root, &wanted);
    if (hs_body_is_fine(&reader, reply))
        put_match(service, request, &wanted, reply);
    json_decref(root);
}

void hs_endpoint_match_get(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_match_slot *slot = hs_endpoint_match(service, request, reply, false);
    if (slot == NULL)
        return;
    struct hs_writer writer = {.buffer = &reply->body};
    struct hs_match_head head = hs_match_slot_head(slot);
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
    struct hs_match_head head = hs_match_slot_head(slot);
    hs_match_encode_summary(&writer, &head, slot->match);
    bool is_kept = hs_kept_match_close(service, slot);
    if (is_kept) {
        hs_ended_keep(service->evidence, slot);
        /* record the request before another match can have this name */
        hs_endpoint_record(service, request, slot, 0, reply);
        hs_registry_remove(service->registry, slot);
    }
    hs_registry_release(service->registry, slot);
    if (!is_kept)
        hs_endpoint_overloaded(reply, "the end of the match cannot be written to the journal");
    else if (!hs_journal_settle(service->journal))
        hs_endpoint_overloaded(reply, "the end of the match cannot be synced to the disk");
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
        hs_player_encode(&writer, slot->match, &player);
    else
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_NAME, "no such player in this match");
    hs_registry_release(service->registry, slot);
}
