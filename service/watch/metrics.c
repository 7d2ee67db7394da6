#include "service/watch/metrics.h"

#include "service/watch/metrics_inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const int hs_metrics_codes[HS_METRICS_CODES] = {
#define X(code) code,
    HS_METRICS_STATUSES(X)
#undef X
};

const double hs_http_bounds[HS_METRICS_BUCKETS] = {
    50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0};
const double hs_stage_bounds[HS_METRICS_BUCKETS] = {
    1e-6, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 5e-3, 25e-3, 0.1};
const double hs_wait_bounds[HS_METRICS_BUCKETS] = {5e-3, 10e-3, 15e-3, 25e-3, 50e-3,
                                                   0.1,  0.25,  0.5,   1.0};
const double hs_rewind_bounds[HS_METRICS_BUCKETS] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15,
                                                     0.2,  0.25,  0.3,  0.5,   1.0, 2.0};

static void add(hs_counter *to, unsigned long long amount)
{
    atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

const char *hs_metrics_route(size_t route)
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
    for (size_t route = 0; route < HS_METRICS_ROUTES; route++)
        while (strcmp(hs_metrics_route(metrics->first[route]), hs_metrics_route(route)) != 0)
            metrics->first[route]++;
    atomic_init(&metrics->reload_success_ms, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
    metrics->start_time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    return metrics;
}

void hs_metrics_destroy(struct hs_metrics *metrics)
{
    free(metrics);
}

static void observe(struct hs_histogram *histogram, const double *bounds, double seconds)
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
    while (i < HS_METRICS_CODES - 1 && hs_metrics_codes[i] != code)
        i++;
    add(&metrics->requests[route][i], 1);
    observe(&metrics->durations[metrics->first[route]], hs_http_bounds, seconds);
}

void hs_metrics_wait(struct hs_metrics *metrics, double seconds)
{
    observe(&metrics->waits, hs_wait_bounds, seconds);
}

void hs_metrics_work(struct hs_metrics *metrics, uint64_t units)
{
    add(&metrics->work_units, units);
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
    if ((size_t)mode < HS_METRICS_MODES)
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
    if ((size_t)mode < HS_METRICS_MODES)
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
    observe(&metrics->stages[stage], hs_stage_bounds, (double)ns / 1e9);
}

void hs_metrics_rewind_age(struct hs_metrics *metrics, double seconds)
{
    observe(&metrics->rewind, hs_rewind_bounds, seconds);
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
