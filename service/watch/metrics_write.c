/* The metrics in the Prometheus text format. */
#include "service/watch/metrics_inside.h"

#include <stdio.h>
#include <string.h>

#include "service/system/version.h"

static unsigned long long value(const hs_counter *of)
{
    return atomic_load_explicit(of, memory_order_relaxed);
}

/* `label` is empty or one `name="value"`. */
static void put_histogram(struct hs_buffer *out, const char *name, const char *label,
                          const struct hs_histogram *histogram, const double *bounds)
{
    unsigned long long total = 0;
    const char *comma = label[0] == '\0' ? "" : ",";
    size_t i = 0;
    for (; bounds[i] > 0; i++) {
        total += value(&histogram->buckets[i]);
        hs_buffer_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, label, comma, bounds[i],
                         total);
    }
    total += value(&histogram->buckets[i]);
    hs_buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, label, comma, total);
    const char *open = label[0] == '\0' ? "" : "{", *close = label[0] == '\0' ? "" : "}";
    hs_buffer_printf(out, "%s_sum%s%s%s %.9f\n", name, open, label, close,
                     (double)value(&histogram->sum_ns) * 1e-9);
    hs_buffer_printf(out, "%s_count%s%s%s %llu\n", name, open, label, close, total);
}

static const char *method_label(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other"
                                        : hs_method_name(hs_route_method((enum hs_route)route));
}

static void put_requests(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    hs_metrics_head(out, "hindsight_http_requests_total", "counter", "Answered requests.");
    for (size_t route = 0; route < HS_METRICS_ROUTES; route++) {
        for (size_t i = 0; i < HS_METRICS_CODES; i++) {
            char code[8] = "other";
            if (i < HS_METRICS_CODES - 1)
                snprintf(code, sizeof code, "%d", hs_metrics_codes[i]);
            hs_buffer_printf(
                out, "hindsight_http_requests_total{route=\"%s\",method=\"%s\",code=\"%s\"} %llu\n",
                hs_metrics_route(route), method_label(route), code,
                value(&metrics->requests[route][i]));
        }
    }
    hs_metrics_head(out, "hindsight_http_request_duration_seconds", "histogram",
                    "Time from the header of a request to its reply.");
    for (size_t route = 0; route < HS_METRICS_ROUTES; route++) {
        if (metrics->first[route] != route)
            continue;
        char label[96];
        snprintf(label, sizeof label, "route=\"%s\"", hs_metrics_route(route));
        put_histogram(out, "hindsight_http_request_duration_seconds", label,
                      &metrics->durations[route], hs_http_bounds);
    }
    hs_metrics_head(
        out, "hindsight_http_wait_seconds", "histogram",
        "Time the header of a request had waited in its socket to be read, as the kernel counts "
        "it.");
    put_histogram(out, "hindsight_http_wait_seconds", "", &metrics->waits, hs_wait_bounds);
    hs_metrics_gauge(out, "hindsight_http_inflight_requests", "Requests between header and reply.",
                     (double)atomic_load_explicit(&metrics->inflight, memory_order_relaxed));
    hs_metrics_head(out, "hindsight_requests_shed_total", "counter",
                    "Requests refused to protect the service.");
    static const char *const reasons[] = {
#define X(id, label) label,
        HS_SHED_REASONS(X)
#undef X
    };
    for (size_t i = 0; i < HS_SHED_REASON_COUNT; i++)
        hs_buffer_printf(out, "hindsight_requests_shed_total{reason=\"%s\"} %llu\n", reasons[i],
                         value(&metrics->shed[i]));
}

static void put_auth_failures(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    hs_metrics_head(out, "hindsight_auth_failures_total", "counter",
                    "Requests refused for their token, its scopes or its tenant.");
    for (size_t i = 0; i < HS_AUTH_FAILURE_COUNT; i++)
        hs_buffer_printf(out, "hindsight_auth_failures_total{reason=\"%s\"} %llu\n",
                         hs_auth_failure_name((enum hs_auth_failure)i),
                         value(&metrics->auth_failures[i]));
}

static const char *const kinds[HS_JUDGED_COUNT] = {"hit", "shot"};

/* Every reason with its own verdict; another pairing would be a mistake and shows only then. */
static void put_verdict(const struct hs_metrics *metrics, size_t kind, size_t verdict,
                        size_t reason, struct hs_buffer *out)
{
    bool own = hs_reason_verdict((enum hs_reason)reason) == (enum hs_verdict)verdict;
    for (size_t mode = 0; mode < HS_METRICS_MODES; mode++) {
        unsigned long long count = value(&metrics->verdicts[kind][verdict][reason][mode]);
        bool possible =
            own && (mode == (size_t)HS_MODE_ENFORCE || verdict != (size_t)HS_VERDICT_ACCEPTED);
        if (!possible && count == 0)
            continue;
        hs_buffer_printf(out,
                         "hindsight_verdicts_total{kind=\"%s\",verdict=\"%s\","
                         "reason=\"%s\",mode=\"%s\"} %llu\n",
                         kinds[kind], hs_verdict_name((enum hs_verdict)verdict),
                         hs_reason_name((enum hs_reason)reason), hs_mode_name((enum hs_mode)mode),
                         count);
    }
}

static void put_frames(const struct hs_metrics *metrics, enum hs_posted kind, const char *name,
                       const char *help, struct hs_buffer *out)
{
    hs_metrics_head(out, name, "counter", help);
    for (size_t i = 0; i < HS_FRAME_RESULT_COUNT; i++)
        hs_buffer_printf(out, "%s{result=\"%s\"} %llu\n", name,
                         hs_frame_result_name((enum hs_frame_result)i),
                         value(&metrics->frames[kind][i]));
}

static void put_stages(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    static const char *const stages[] = {
#define X(id, label) "stage=\"" label "\"",
        HS_STAGES(X)
#undef X
    };
    hs_metrics_head(
        out, "hindsight_verify_duration_seconds", "histogram",
        "Where the time of requests with claims goes: decode and lock once a request, judge and "
        "encode once a claim.");
    for (size_t i = 0; i < HS_STAGE_COUNT; i++)
        put_histogram(out, "hindsight_verify_duration_seconds", stages[i], &metrics->stages[i],
                      hs_stage_bounds);
}

static void put_verdicts(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    hs_metrics_head(
        out, "hindsight_verdicts_total", "counter",
        "Judged claims by deciding reason (enforce) and by reasons that would reject (shadow).");
    for (size_t kind = 0; kind < HS_JUDGED_COUNT; kind++)
        for (size_t verdict = 0; verdict < HS_VERDICT_COUNT; verdict++)
            for (size_t reason = 0; reason < HS_REASON_COUNT; reason++)
                put_verdict(metrics, kind, verdict, reason, out);
    hs_metrics_head(out, "hindsight_verdict_flags_total", "counter", "Remarks on judged claims.");
    for (size_t kind = 0; kind < HS_JUDGED_COUNT; kind++)
        for (size_t flag = 0; flag < HS_FLAG_COUNT; flag++)
            hs_buffer_printf(out, "hindsight_verdict_flags_total{kind=\"%s\",flag=\"%s\"} %llu\n",
                             kinds[kind], hs_flag_name((enum hs_flag)flag),
                             value(&metrics->flags[kind][flag]));
    hs_metrics_head(out, "hindsight_work_units_total", "counter",
                    "Work of claims, in units of about 10 ns; see --request-work.");
    hs_buffer_printf(out, "hindsight_work_units_total %llu\n", value(&metrics->work_units));
    put_stages(metrics, out);
    hs_metrics_head(out, "hindsight_rewind_age_seconds", "histogram", "How far back claims reach.");
    put_histogram(out, "hindsight_rewind_age_seconds", "", &metrics->rewind, hs_rewind_bounds);
    put_frames(metrics, HS_POSTED_PLAYER, "hindsight_frames_total", "Posted player samples.", out);
    put_frames(metrics, HS_POSTED_MOVER, "hindsight_mover_frames_total",
               "Posted samples of movers.", out);
}

/* One series for each listener. */
static void put_listeners(struct hs_buffer *out, const char *name, const char *help, double data,
                          double admin)
{
    hs_metrics_head(out, name, "gauge", help);
    hs_buffer_printf(out, "%s{listener=\"data\"} %.15g\n%s{listener=\"admin\"} %.15g\n", name, data,
                     name, admin);
}

static double connections(const struct hs_metrics *metrics, enum hs_listener listener)
{
    return (double)atomic_load_explicit(&metrics->connections[listener], memory_order_relaxed);
}

static void put_service(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                        struct hs_buffer *out)
{
    put_listeners(out, "hindsight_http_connections", "Open connections.",
                  connections(metrics, HS_LISTENER_DATA), connections(metrics, HS_LISTENER_ADMIN));
    put_listeners(out, "hindsight_http_connections_limit", "Connections beyond this wait.",
                  metrics->connection_limits[HS_LISTENER_DATA],
                  metrics->connection_limits[HS_LISTENER_ADMIN]);
    put_listeners(out, "hindsight_workers_stuck",
                  "Endpoints that run far longer than they ever may.",
                  gauges->stuck[HS_LISTENER_DATA], gauges->stuck[HS_LISTENER_ADMIN]);
    hs_metrics_gauge(out, "hindsight_draining", "1 from SIGTERM on.", gauges->draining ? 1 : 0);
    hs_metrics_head(out, "hindsight_log_lines_dropped_total", "counter",
                    "Log lines left out, for their number or because nobody read them.");
    hs_buffer_printf(out, "hindsight_log_lines_dropped_total %llu\n",
                     (unsigned long long)gauges->log_lines_dropped);
}

static void put_moves(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    hs_metrics_head(out, "hindsight_moves_total", "counter",
                    "Judged moves by what became of them.");
    for (size_t verdict = 0; verdict < HS_VERDICT_COUNT; verdict++) {
        for (size_t reason = 0; reason < HS_MOVE_REASON_COUNT; reason++) {
            bool own =
                hs_move_reason_verdict((enum hs_move_reason)reason) == (enum hs_verdict)verdict;
            unsigned long long count = value(&metrics->moves[verdict][reason]);
            if (own || count > 0) /* as for verdicts */
                hs_buffer_printf(out, "hindsight_moves_total{verdict=\"%s\",reason=\"%s\"} %llu\n",
                                 hs_verdict_name((enum hs_verdict)verdict),
                                 hs_move_reason_name((enum hs_move_reason)reason), count);
        }
    }
    hs_metrics_head(
        out, "hindsight_timing_flags_total", "counter",
        "Flags raised on moves by the judges of clocks, whatever the mode of their check.");
    for (size_t i = 0; i < HS_TIMING_FLAGS; i++)
        hs_buffer_printf(out, "hindsight_timing_flags_total{flag=\"%s\"} %llu\n",
                         hs_move_check_name(hs_timing_flags[i]), value(&metrics->timing_flags[i]));
    hs_metrics_head(out, "hindsight_move_failures_total", "counter", "Failed checks of moves.");
    for (size_t check = 0; check < HS_MOVE_CHECK_COUNT; check++)
        for (size_t mode = 0; mode < HS_METRICS_MODES; mode++)
            hs_buffer_printf(out, "hindsight_move_failures_total{check=\"%s\",mode=\"%s\"} %llu\n",
                             hs_move_check_name((enum hs_move_check)check),
                             hs_mode_name((enum hs_mode)mode),
                             value(&metrics->move_failures[check][mode]));
}

static void put_recording(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                          struct hs_buffer *out)
{
    hs_metrics_head(out, "hindsight_record_requests_total", "counter",
                    "Requests taken into the recording.");
    hs_buffer_printf(out, "hindsight_record_requests_total %llu\n", value(&metrics->recorded));
    hs_metrics_head(
        out, "hindsight_record_dropped_total", "counter",
        "Requests left out of the recording: the queue was full, or one before of the same match "
        "was left out.");
    hs_buffer_printf(out, "hindsight_record_dropped_total %llu\n", value(&metrics->not_recorded));
    hs_metrics_gauge(out, "hindsight_record_queue_bytes",
                     "Bytes of the recording that wait to be written.",
                     (double)gauges->record_queue_bytes);
    hs_metrics_gauge(out, "hindsight_record_queue_bytes_limit",
                     "Requests beyond this are left out.",
                     (double)gauges->record_queue_bytes_limit);
}

void hs_metrics_write(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                      struct hs_buffer *out)
{
    hs_metrics_head(out, "hindsight_build_info", "gauge", "The version of the service; always 1.");
    hs_buffer_puts(out, "hindsight_build_info{version=\"" HS_VERSION "\"} 1\n");
    put_requests(metrics, out);
    put_auth_failures(metrics, out);
    put_verdicts(metrics, out);
    put_moves(metrics, out);
    hs_metrics_gauge(out, "hindsight_matches_active", "Open matches.", (double)gauges->matches);
    hs_metrics_gauge(out, "hindsight_matches_limit", "Open matches beyond this are refused.",
                     (double)gauges->match_limit);
    hs_metrics_gauge(out, "hindsight_players_active", "Players with a history.",
                     (double)gauges->players);
    hs_metrics_gauge(out, "hindsight_movers_active", "Movers with a history.",
                     (double)gauges->movers);
    hs_metrics_gauge(out, "hindsight_history_bytes",
                     "Memory of all matches, players' reserves included.",
                     (double)gauges->history_bytes);
    hs_metrics_gauge(out, "hindsight_history_bytes_limit",
                     "No match is opened beyond nine tenths of it, none grows beyond it.",
                     (double)gauges->history_bytes_limit);
    hs_metrics_gauge(out, "hindsight_matches_held",
                     "Matches that may take no more memory for history.",
                     (double)gauges->matches_held);
    hs_metrics_head(out, "hindsight_matches_expired_total", "counter",
                    "Matches ended because nothing was posted to them.");
    hs_buffer_printf(out, "hindsight_matches_expired_total %llu\n",
                     value(&metrics->matches_expired));
    hs_metrics_gauge(out, "hindsight_maps", "Maps that can be named.", (double)gauges->maps);
    hs_metrics_gauge(out, "hindsight_maps_limit", "Maps beyond this are refused.",
                     (double)gauges->map_limit);
    hs_metrics_gauge(out, "hindsight_map_bytes",
                     "Memory of all maps, including those that only matches hold.",
                     (double)gauges->map_bytes);
    hs_metrics_gauge(out, "hindsight_map_bytes_limit", "Maps beyond this are refused.",
                     (double)gauges->map_bytes_limit);
    hs_metrics_gauge(out, "hindsight_rulesets",
                     "Rulesets that can be named, the built-in ones included.",
                     (double)gauges->rulesets);
    hs_metrics_gauge(out, "hindsight_rulesets_limit", "Rulesets beyond this are refused.",
                     (double)gauges->ruleset_limit);
    hs_metrics_gauge(out, "hindsight_ruleset_bytes",
                     "Memory of all rulesets, including those that only matches hold.",
                     (double)gauges->ruleset_bytes);
    hs_metrics_gauge(out, "hindsight_ruleset_bytes_limit",
                     "Max memory of all rulesets; more is refused.",
                     (double)gauges->ruleset_bytes_limit);
    put_service(metrics, gauges, out);
    put_recording(metrics, gauges, out);
    hs_checkpoint_write_metrics(&gauges->checkpoint, out);
    hs_metrics_gauge(
        out, "hindsight_config_last_reload_successful",
        "1 if the last reload of the configuration took everything, 0 if it took nothing.",
        atomic_load(&metrics->reload_failed) ? 0 : 1);
    hs_metrics_gauge(
        out, "hindsight_config_last_reload_success_timestamp_seconds",
        "When configuration was last taken, at the start or by a reload, since the epoch.",
        (double)atomic_load(&metrics->reload_success_ms) / 1000);
    hs_metrics_write_process(metrics->start_time, out);
}
