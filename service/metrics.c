#include "service/metrics.h"
#include "api/moves.h"
#include "service/version.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The statuses an answer can have; anything else is counted as "other". */
#define CODES(X)                                                                                   \
    X(200)                                                                                         \
    X(201)                                                                                         \
    X(204)                                                                                         \
    X(400)                                                                                         \
    X(401) X(403) X(404) X(405) X(408) X(409) X(411) X(413) X(415) X(422) X(429) X(500) X(503)

static const int codes[] = {
#define X(code) code,
    CODES(X)
#undef X
};

enum {
    CODE_COUNT = sizeof codes / sizeof codes[0] + 1, /* the last one is "other" */
    ROUTE_COUNT = HS_ROUTE_COUNT + 1,
    SHOWN_MODES = 2, /* enforce and shadow; a check that is off counts nothing */
    BUCKETS_MAX = 16,
};

/* Upper bounds in seconds, ascending, closed by 0; +Inf follows. */
static const double http_bounds[BUCKETS_MAX] = {50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3,
                                                10e-3, 25e-3,  50e-3,  0.1,    0.25, 0.5,    1.0};
static const double stage_bounds[BUCKETS_MAX] = {1e-6,   2e-6,   5e-6, 10e-6, 20e-6, 50e-6, 100e-6,
                                                 200e-6, 500e-6, 1e-3, 5e-3,  25e-3, 0.1};
static const double wait_bounds[BUCKETS_MAX] = {5e-3, 10e-3, 15e-3, 25e-3, 50e-3,
                                                0.1,  0.25,  0.5,   1.0};
static const double rewind_bounds[BUCKETS_MAX] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15,
                                                  0.2,  0.25,  0.3,  0.5,   1.0, 2.0};

typedef atomic_ullong counter;

struct histogram {
    counter buckets[BUCKETS_MAX + 1]; /* not cumulated */
    counter sum_ns;
};

struct hs_metrics {
    counter requests[ROUTE_COUNT][CODE_COUNT];
    struct histogram durations[ROUTE_COUNT]; /* at the first route of the same pattern */
    size_t first[ROUTE_COUNT];               /* that route, for each */
    counter verdicts[HS_JUDGED_COUNT][HS_VERDICT_COUNT][HS_REASON_COUNT][SHOWN_MODES];
    counter flags[HS_JUDGED_COUNT][HS_FLAG_COUNT];
    counter frames[HS_POSTED_COUNT][HS_FRAME_RESULT_COUNT];
    counter moves[HS_VERDICT_COUNT][HS_MOVE_REASON_COUNT];
    counter timing_flags[HS_TIMING_FLAGS];
    counter move_failures[HS_MOVE_CHECK_COUNT][SHOWN_MODES];
    counter shed[HS_SHED_REASON_COUNT];
    counter auth_failures[HS_AUTH_FAILURE_COUNT];
    counter recorded, not_recorded;
    struct histogram stages[HS_STAGE_COUNT], rewind, waits;
    counter matches_expired;
    atomic_llong inflight;
    atomic_llong connections[HS_LISTENER_BOTH]; /* by listener */
    unsigned connection_limits[HS_LISTENER_BOTH];
    atomic_bool reload_failed;
    atomic_llong reload_success_ms; /* since the epoch; the start counts */
    double start_time;
};

_Static_assert((int)HS_MODE_ENFORCE < (int)SHOWN_MODES && (int)HS_MODE_SHADOW < (int)SHOWN_MODES,
               "the modes that count come first");

static void add(counter *to, unsigned long long amount)
{
    atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

static unsigned long long value(const counter *of)
{
    return atomic_load_explicit(of, memory_order_relaxed);
}

static const char *route_label(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other" : hs_route_pattern((enum hs_route)route);
}

struct hs_metrics *hs_metrics_create(void)
{
    struct hs_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL)
        return NULL;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t route = 0; route < ROUTE_COUNT; route++)
        while (strcmp(route_label(metrics->first[route]), route_label(route)) != 0)
            metrics->first[route]++;
    atomic_init(&metrics->reload_success_ms, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    metrics->start_time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    return metrics;
}

void hs_metrics_destroy(struct hs_metrics *metrics)
{
    free(metrics);
}

static void observe(struct histogram *histogram, const double *bounds, double seconds)
{
    size_t i = 0;
    while (bounds[i] > 0 && seconds > bounds[i])
        i++;
    add(&histogram->buckets[i], 1);
    if (seconds > 0)
        add(&histogram->sum_ns, (unsigned long long)(seconds * 1e9 + 0.5));
}

void hs_metrics_http(struct hs_metrics *metrics, unsigned route, int code, double seconds)
{
    size_t i = 0;
    while (i < CODE_COUNT - 1 && codes[i] != code)
        i++;
    add(&metrics->requests[route][i], 1);
    observe(&metrics->durations[metrics->first[route]], http_bounds, seconds);
}

void hs_metrics_wait(struct hs_metrics *metrics, double seconds)
{
    observe(&metrics->waits, wait_bounds, seconds);
}

void hs_metrics_match_expired(struct hs_metrics *metrics)
{
    add(&metrics->matches_expired, 1);
}

void hs_metrics_inflight(struct hs_metrics *metrics, int change)
{
    atomic_fetch_add_explicit(&metrics->inflight, change, memory_order_relaxed);
}

void hs_metrics_connection(struct hs_metrics *metrics, enum hs_listener listener, int change)
{
    atomic_fetch_add_explicit(&metrics->connections[listener], change, memory_order_relaxed);
}

void hs_metrics_connection_limit(struct hs_metrics *metrics, enum hs_listener listener,
                                 unsigned limit)
{
    metrics->connection_limits[listener] = limit;
}

void hs_metrics_verdict(struct hs_metrics *metrics, enum hs_judged kind, enum hs_verdict verdict,
                        enum hs_reason reason, enum hs_mode mode)
{
    if ((size_t)mode < SHOWN_MODES)
        add(&metrics->verdicts[kind][verdict][reason][mode], 1);
}

void hs_metrics_flags(struct hs_metrics *metrics, enum hs_judged kind, unsigned flags)
{
    for (size_t flag = 0; flag < HS_FLAG_COUNT; flag++)
        if ((flags & 1u << flag) != 0)
            add(&metrics->flags[kind][flag], 1);
}

void hs_metrics_move(struct hs_metrics *metrics, enum hs_verdict verdict,
                     enum hs_move_reason reason, unsigned raised)
{
    add(&metrics->moves[verdict][reason], 1);
    for (size_t i = 0; i < HS_TIMING_FLAGS; i++)
        if ((raised >> hs_timing_flags[i] & 1) != 0)
            add(&metrics->timing_flags[i], 1);
}

void hs_metrics_move_failure(struct hs_metrics *metrics, enum hs_move_check check,
                             enum hs_mode mode)
{
    if ((size_t)mode < SHOWN_MODES)
        add(&metrics->move_failures[check][mode], 1);
}

void hs_metrics_frame(struct hs_metrics *metrics, enum hs_posted kind, enum hs_frame_result result,
                      size_t count)
{
    if (count > 0)
        add(&metrics->frames[kind][result], count);
}

void hs_metrics_stage(struct hs_metrics *metrics, enum hs_stage stage, int64_t ns)
{
    observe(&metrics->stages[stage], stage_bounds, (double)ns / 1e9);
}

void hs_metrics_rewind_age(struct hs_metrics *metrics, double seconds)
{
    observe(&metrics->rewind, rewind_bounds, seconds);
}

void hs_metrics_shed(struct hs_metrics *metrics, enum hs_shed_reason reason)
{
    add(&metrics->shed[reason], 1);
}

void hs_metrics_auth_failure(struct hs_metrics *metrics, enum hs_auth_failure failure)
{
    add(&metrics->auth_failures[failure], 1);
}

void hs_metrics_recorded(struct hs_metrics *metrics, bool recorded)
{
    add(recorded ? &metrics->recorded : &metrics->not_recorded, 1);
}

void hs_metrics_reload(struct hs_metrics *metrics, bool successful)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (successful)
        atomic_store(&metrics->reload_success_ms, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    atomic_store(&metrics->reload_failed, !successful);
}

void hs_metrics_head(struct hs_buffer *out, const char *name, const char *type, const char *help)
{
    hs_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void hs_metrics_gauge(struct hs_buffer *out, const char *name, const char *help, double number)
{
    hs_metrics_head(out, name, "gauge", help);
    hs_buffer_printf(out, "%s %.15g\n", name, number);
}

static void head(struct hs_buffer *out, const char *name, const char *type, const char *help)
{
    hs_metrics_head(out, name, type, help);
}

static void gauge(struct hs_buffer *out, const char *name, const char *help, double number)
{
    hs_metrics_gauge(out, name, help, number);
}

/* `label` is empty or one `name="value"`. */
static void put_histogram(struct hs_buffer *out, const char *name, const char *label,
                          const struct histogram *histogram, const double *bounds)
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
    head(out, "hindsight_http_requests_total", "counter", "Answered requests.");
    for (size_t route = 0; route < ROUTE_COUNT; route++) {
        for (size_t i = 0; i < CODE_COUNT; i++) {
            char code[8] = "other";
            if (i < CODE_COUNT - 1)
                snprintf(code, sizeof code, "%d", codes[i]);
            hs_buffer_printf(
                out, "hindsight_http_requests_total{route=\"%s\",method=\"%s\",code=\"%s\"} %llu\n",
                route_label(route), method_label(route), code, value(&metrics->requests[route][i]));
        }
    }
    head(out, "hindsight_http_request_duration_seconds", "histogram",
         "Time from the header of a request to its reply.");
    for (size_t route = 0; route < ROUTE_COUNT; route++) {
        if (metrics->first[route] != route)
            continue;
        char label[96];
        snprintf(label, sizeof label, "route=\"%s\"", route_label(route));
        put_histogram(out, "hindsight_http_request_duration_seconds", label,
                      &metrics->durations[route], http_bounds);
    }
    head(out, "hindsight_http_wait_seconds", "histogram",
         "Time the header of a request had waited in its socket to be read, as the kernel counts "
         "it.");
    put_histogram(out, "hindsight_http_wait_seconds", "", &metrics->waits, wait_bounds);
    gauge(out, "hindsight_http_inflight_requests", "Requests between header and reply.",
          (double)atomic_load_explicit(&metrics->inflight, memory_order_relaxed));
    head(out, "hindsight_requests_shed_total", "counter",
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
    head(out, "hindsight_auth_failures_total", "counter",
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
    for (size_t mode = 0; mode < SHOWN_MODES; mode++) {
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
    head(out, name, "counter", help);
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
    head(out, "hindsight_verify_duration_seconds", "histogram",
         "Where the time of requests with claims goes: decode and lock once a request, judge and "
         "encode once a claim.");
    for (size_t i = 0; i < HS_STAGE_COUNT; i++)
        put_histogram(out, "hindsight_verify_duration_seconds", stages[i], &metrics->stages[i],
                      stage_bounds);
}

static void put_verdicts(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    head(out, "hindsight_verdicts_total", "counter",
         "Judged claims by deciding reason (enforce) and by reasons that would reject (shadow).");
    for (size_t kind = 0; kind < HS_JUDGED_COUNT; kind++)
        for (size_t verdict = 0; verdict < HS_VERDICT_COUNT; verdict++)
            for (size_t reason = 0; reason < HS_REASON_COUNT; reason++)
                put_verdict(metrics, kind, verdict, reason, out);
    head(out, "hindsight_verdict_flags_total", "counter", "Remarks on judged claims.");
    for (size_t kind = 0; kind < HS_JUDGED_COUNT; kind++)
        for (size_t flag = 0; flag < HS_FLAG_COUNT; flag++)
            hs_buffer_printf(out, "hindsight_verdict_flags_total{kind=\"%s\",flag=\"%s\"} %llu\n",
                             kinds[kind], hs_flag_name((enum hs_flag)flag),
                             value(&metrics->flags[kind][flag]));
    put_stages(metrics, out);
    head(out, "hindsight_rewind_age_seconds", "histogram", "How far back claims reach.");
    put_histogram(out, "hindsight_rewind_age_seconds", "", &metrics->rewind, rewind_bounds);
    put_frames(metrics, HS_POSTED_PLAYER, "hindsight_frames_total", "Posted player samples.", out);
    put_frames(metrics, HS_POSTED_MOVER, "hindsight_mover_frames_total",
               "Posted samples of movers.", out);
}

/* One series for each listener. */
static void put_listeners(struct hs_buffer *out, const char *name, const char *help, double data,
                          double admin)
{
    head(out, name, "gauge", help);
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
    gauge(out, "hindsight_draining", "1 from SIGTERM on.", gauges->draining ? 1 : 0);
    head(out, "hindsight_log_lines_dropped_total", "counter",
         "Log lines left out, for their number or because nobody read them.");
    hs_buffer_printf(out, "hindsight_log_lines_dropped_total %llu\n",
                     (unsigned long long)gauges->log_lines_dropped);
}

static void put_moves(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    head(out, "hindsight_moves_total", "counter", "Judged moves by what became of them.");
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
    head(out, "hindsight_timing_flags_total", "counter",
         "Flags raised on moves by the judges of clocks, whatever the mode of their check.");
    for (size_t i = 0; i < HS_TIMING_FLAGS; i++)
        hs_buffer_printf(out, "hindsight_timing_flags_total{flag=\"%s\"} %llu\n",
                         hs_move_check_name(hs_timing_flags[i]), value(&metrics->timing_flags[i]));
    head(out, "hindsight_move_failures_total", "counter", "Failed checks of moves.");
    for (size_t check = 0; check < HS_MOVE_CHECK_COUNT; check++)
        for (size_t mode = 0; mode < SHOWN_MODES; mode++)
            hs_buffer_printf(out, "hindsight_move_failures_total{check=\"%s\",mode=\"%s\"} %llu\n",
                             hs_move_check_name((enum hs_move_check)check),
                             hs_mode_name((enum hs_mode)mode),
                             value(&metrics->move_failures[check][mode]));
}

static void put_recording(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                          struct hs_buffer *out)
{
    head(out, "hindsight_record_requests_total", "counter", "Requests taken into the recording.");
    hs_buffer_printf(out, "hindsight_record_requests_total %llu\n", value(&metrics->recorded));
    head(out, "hindsight_record_dropped_total", "counter",
         "Requests left out of the recording: the queue was full, or one before of the same match "
         "was left out.");
    hs_buffer_printf(out, "hindsight_record_dropped_total %llu\n", value(&metrics->not_recorded));
    gauge(out, "hindsight_record_queue_bytes", "Bytes of the recording that wait to be written.",
          (double)gauges->record_queue_bytes);
    gauge(out, "hindsight_record_queue_bytes_limit", "Requests beyond this are left out.",
          (double)gauges->record_queue_bytes_limit);
}

void hs_metrics_write(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                      struct hs_buffer *out)
{
    head(out, "hindsight_build_info", "gauge", "The version of the service; always 1.");
    hs_buffer_puts(out, "hindsight_build_info{version=\"" HS_VERSION "\"} 1\n");
    put_requests(metrics, out);
    put_auth_failures(metrics, out);
    put_verdicts(metrics, out);
    put_moves(metrics, out);
    gauge(out, "hindsight_matches_active", "Open matches.", (double)gauges->matches);
    gauge(out, "hindsight_matches_limit", "Open matches beyond this are refused.",
          (double)gauges->match_limit);
    gauge(out, "hindsight_players_active", "Players with a history.", (double)gauges->players);
    gauge(out, "hindsight_movers_active", "Movers with a history.", (double)gauges->movers);
    gauge(out, "hindsight_history_bytes", "Memory of all histories.",
          (double)gauges->history_bytes);
    gauge(out, "hindsight_history_bytes_limit",
          "No match is opened beyond nine tenths of it, none grows beyond it.",
          (double)gauges->history_bytes_limit);
    gauge(out, "hindsight_matches_held", "Matches that may take no more memory for history.",
          (double)gauges->matches_held);
    head(out, "hindsight_matches_expired_total", "counter",
         "Matches ended because nothing was posted to them.");
    hs_buffer_printf(out, "hindsight_matches_expired_total %llu\n",
                     value(&metrics->matches_expired));
    gauge(out, "hindsight_maps", "Maps that can be named.", (double)gauges->maps);
    gauge(out, "hindsight_map_bytes", "Memory of all maps, those only matches hold included.",
          (double)gauges->map_bytes);
    gauge(out, "hindsight_map_bytes_limit", "Maps beyond this are refused.",
          (double)gauges->map_bytes_limit);
    put_service(metrics, gauges, out);
    put_recording(metrics, gauges, out);
    hs_checkpoint_write_metrics(&gauges->checkpoint, out);
    gauge(out, "hindsight_config_last_reload_successful",
          "1 if the last reload of the configuration took everything, 0 if it took nothing.",
          atomic_load(&metrics->reload_failed) ? 0 : 1);
    gauge(out, "hindsight_config_last_reload_success_timestamp_seconds",
          "When configuration was last taken, at the start or by a reload, since the epoch.",
          (double)atomic_load(&metrics->reload_success_ms) / 1000);
    hs_metrics_write_process(metrics->start_time, out);
}
