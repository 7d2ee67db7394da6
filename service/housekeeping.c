#include "service/housekeeping.h"

#include "api/matches.h"
#include "service/checkpoint/kept_match.h"
#include "service/checkpoint/save.h"
#include "service/delivery/events.h"
#include "service/delivery/webhook.h"
#include "service/evidence/ended.h"
#include "service/evidence/writer.h"
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

static void record_end(struct hs_service *service, struct hs_match_slot *slot)
{
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

/* Ends the match if it received no posts for the configured time, and records the end in the same
   way as a DELETE request. */
static void end_idle(void *context, struct hs_match_slot *slot)
{
    struct hs_service *service = context;
    int64_t idle_us = (int64_t)service->options->match_idle_seconds * 1000000;
    if (slot->used_us >= hs_clock_us() - idle_us)
        return;
    hs_metrics_add(service->metrics, HS_METRIC_MATCHES_EXPIRED, 0, 1);
    /* If the end cannot be written, a restart after a crash restores the match. The service then
       ends the match again, because the match is still idle. */
    (void)hs_kept_match_close(service, slot);
    if (hs_log_enabled(HS_LOG_INFO) && hs_log_allowed(&service->match_log))
        hs_log(HS_LOG_INFO, "an idle match was ended", HS_LOG_TEXT("match", slot->name.text));
    if (service->record != NULL)
        record_end(service, slot);
    hs_ended_keep(service->evidence, slot);
    hs_registry_remove(service->registry, slot);
}

void hs_service_expire(struct hs_service *service)
{
    hs_evidence_expire(service->evidence);
    if (service->options->match_idle_seconds > 0)
        hs_registry_each(service->registry, (struct hs_str){0}, end_idle, service);
}

static void set(struct hs_service *service, enum hs_metric metric, size_t value)
{
    hs_metrics_set(service->metrics, metric, 0, (int64_t)value);
}

static void read_stores(struct hs_service *service)
{
    const struct hs_options *options = service->options;
    struct hs_registry_totals totals;
    hs_registry_totals(service->registry, &totals);
    struct hs_map_usage maps = hs_map_store_usage(service->maps);
    struct hs_share *map_share = hs_map_store_share(service->maps);
    struct hs_share *ruleset_share = hs_ruleset_store_share(service->rulesets);
    set(service, HS_METRIC_MATCHES, totals.matches);
    set(service, HS_METRIC_MATCHES_LIMIT, options->max_matches);
    set(service, HS_METRIC_MATCHES_HELD, totals.memory_limited);
    set(service, HS_METRIC_PLAYERS, totals.players);
    set(service, HS_METRIC_MOVERS, totals.movers);
    set(service, HS_METRIC_ACCOUNTS, totals.accounts);
    set(service, HS_METRIC_HISTORY_BYTES, totals.bytes);
    set(service, HS_METRIC_HISTORY_BYTES_LIMIT, totals.bytes_limit);
    set(service, HS_METRIC_MAPS, maps.maps);
    set(service, HS_METRIC_MAPS_LIMIT, options->max_maps);
    set(service, HS_METRIC_MAP_BYTES, maps.bytes);
    set(service, HS_METRIC_MAP_BYTES_LIMIT, hs_share_limit(map_share));
    set(service, HS_METRIC_RULESETS, hs_ruleset_store_count(service->rulesets));
    set(service, HS_METRIC_RULESETS_LIMIT, options->max_rulesets);
    set(service, HS_METRIC_RULESET_BYTES, hs_share_used(ruleset_share));
    set(service, HS_METRIC_RULESET_BYTES_LIMIT, hs_share_limit(ruleset_share));
    set(service, HS_METRIC_RECORD_QUEUE_BYTES,
        service->record != NULL ? hs_record_queue_bytes(service->record) : 0);
    set(service, HS_METRIC_EVIDENCE_QUEUE,
        service->evidence != NULL ? hs_evidence_queue_length(service->evidence) : 0);
    set(service, HS_METRIC_EVENT_STREAMS, hs_events_streams(service->events));
    set(service, HS_METRIC_RECORD_QUEUE_BYTES_LIMIT, options->record_queue_bytes);
}

static void read_webhook(struct hs_service *service)
{
    struct hs_webhook_state state = {0};
    if (service->webhook != NULL)
        state = hs_webhook_state(service->webhook);
    set(service, HS_METRIC_WEBHOOK_QUEUE, state.waiting);
    hs_metrics_set(service->metrics, HS_METRIC_WEBHOOK_OLDEST, 0, state.oldest_us);
}

static void read_checkpoint(struct hs_service *service)
{
    struct hs_metrics *metrics = service->metrics;
    struct hs_checkpoint_stats stats;
    hs_checkpoint_stats(service->checkpoint, &stats);
    const struct {
        enum hs_metric metric;
        const uint64_t *values; /* one value for each series */
        size_t count;
    } rows[] = {
        {HS_METRIC_CHECKPOINTS, (uint64_t[]){stats.written, stats.failed}, 2},
        {HS_METRIC_CHECKPOINT_BYTES, &stats.bytes, 1},
        {HS_METRIC_JOURNAL_RECORDS,
         (uint64_t[]){stats.journal.written, stats.journal.failed, stats.journal.synced_failed}, 3},
        {HS_METRIC_JOURNAL_BYTES, &stats.journal.bytes, 1},
        {HS_METRIC_MATCHES_RESTORED, stats.restored, HS_RESTORED_COUNT},
        {HS_METRIC_RULESETS_RESTORED, stats.rulesets, HS_RESTORED_NAME_COUNT},
        {HS_METRIC_MAPS_RESTORED, stats.maps, HS_RESTORED_NAME_COUNT},
        {HS_METRIC_MAP_FILES, (uint64_t[]){stats.map_files_written, stats.map_files_failed}, 2},
        {HS_METRIC_CHECKPOINTS_REFUSED, &stats.files_refused, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t series = 0; series < rows[i].count; series++)
            hs_metrics_set(metrics, rows[i].metric, series, (int64_t)rows[i].values[series]);
    hs_metrics_set(metrics, HS_METRIC_CHECKPOINT_LAG, 0, (int64_t)(stats.lag_seconds * 1e6));
    hs_metrics_set(metrics, HS_METRIC_CHECKPOINT_INTERVAL, 0,
                   (int64_t)(stats.interval_seconds * 1e6));
    hs_metrics_set(metrics, HS_METRIC_CHECKPOINT_DURATION, 0,
                   (int64_t)(stats.duration_seconds * 1e6));
}

void hs_service_read_metrics(struct hs_service *service)
{
    read_stores(service);
    read_webhook(service);
    read_checkpoint(service);
    hs_metrics_read_process(service->metrics);
    for (int i = HS_LISTENER_DATA; i <= HS_LISTENER_ADMIN; i++)
        hs_metrics_set(service->metrics, HS_METRIC_WORKERS_STUCK, (size_t)(i - HS_LISTENER_DATA),
                       atomic_load(&service->stuck[i]));
    set(service, HS_METRIC_DRAINING, atomic_load(&service->draining));
    set(service, HS_METRIC_LOG_LINES_DROPPED, hs_log_dropped());
}
