#include "service/housekeeping.h"

#include "api/matches.h"
#include "service/checkpoint/kept_match.h"
#include "service/checkpoint/save.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/state/share.h"
#include "service/system/clock.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

/* Recorded like the request that would have ended it. */
static void end_idle(void *context, struct hs_match_slot *slot)
{
    struct hs_service *service = context;
    hs_metrics_match_expired(service->metrics);
    /* If this record cannot be written, the match may come back after a crash, and is idle
       again. */
    (void)hs_kept_match_close(service, slot);
    if (hs_log_enabled(HS_LOG_INFO) && hs_log_allowed(&service->match_log))
        hs_log(HS_LOG_INFO, "an idle match was ended", HS_LOG_TEXT("match", slot->name.text));
    if (service->record == NULL)
        return;
    struct hs_buffer summary = {0};
    struct hs_writer writer = {.buffer = &summary};
    struct hs_match_head head = hs_match_slot_head(slot);
    hs_match_encode_summary(&writer, &head, slot->match);
    struct hs_recorded_request recorded = {.route = HS_ROUTE_MATCH_DELETE};
    if (!summary.failed)
        recorded.answer = (struct hs_str){summary.data, summary.len};
    hs_record_request(service->record, slot, &recorded);
    hs_buffer_free(&summary);
}

void hs_service_expire(struct hs_service *service)
{
    size_t seconds = service->options->match_idle_seconds;
    if (seconds > 0)
        hs_registry_expire(service->registry, hs_clock_us() - (int64_t)seconds * 1000000, end_idle,
                           service);
}

void hs_service_gauges(struct hs_service *service, struct hs_metrics_gauges *gauges)
{
    *gauges = (struct hs_metrics_gauges){0};
    struct hs_registry_totals totals;
    hs_registry_totals(service->registry, &totals);
    gauges->matches = totals.matches;
    gauges->players = totals.players;
    gauges->movers = totals.movers;
    gauges->matches_held = totals.held;
    gauges->record_queue_bytes =
        service->record != NULL ? hs_record_queue_bytes(service->record) : 0;
    struct hs_map_usage maps = hs_map_store_usage(service->maps);
    gauges->history_bytes = hs_registry_bytes(service->registry);
    gauges->history_bytes_limit = hs_registry_bytes_limit(service->registry);
    gauges->match_limit = service->options->max_matches;
    gauges->map_bytes_limit = hs_share_limit(hs_map_store_share(service->maps));
    gauges->rulesets = hs_ruleset_store_count(service->rulesets);
    gauges->ruleset_limit = service->options->max_rulesets;
    gauges->map_limit = service->options->max_maps;
    gauges->ruleset_bytes = hs_share_used(hs_ruleset_store_share(service->rulesets));
    gauges->ruleset_bytes_limit = hs_share_limit(hs_ruleset_store_share(service->rulesets));
    gauges->record_queue_bytes_limit = service->options->record_queue_bytes;
    for (int i = HS_LISTENER_DATA; i <= HS_LISTENER_ADMIN; i++)
        gauges->stuck[i] = atomic_load(&service->stuck[i]);
    gauges->draining = atomic_load(&service->draining);
    gauges->log_lines_dropped = hs_log_dropped();
    gauges->maps = maps.maps;
    gauges->map_bytes = maps.bytes;
    hs_checkpoint_stats(service->checkpoint, &gauges->checkpoint);
}
