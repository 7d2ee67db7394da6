#include "service/watch/metrics.h"

#include "service/watch/metrics_inside.h"

#include <stdlib.h>
#include <string.h>

#include "service/system/clock.h"

/* Upper bounds of histogram buckets in seconds, ascending. A 0 ends each list. The last bucket,
   +Inf, is not listed. */
static const double http_bounds[HS_METRICS_BUCKETS] = {
    50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1.0};
static const double stage_bounds[HS_METRICS_BUCKETS] = {
    1e-6, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 5e-3, 25e-3, 0.1};
static const double wait_bounds[HS_METRICS_BUCKETS] = {5e-3, 10e-3, 15e-3, 25e-3, 50e-3,
                                                       0.1,  0.25,  0.5,   1.0};
static const double rewind_bounds[HS_METRICS_BUCKETS] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15,
                                                         0.2,  0.25,  0.3,  0.5,   1.0, 2.0};

#define AT(id) offsetof(struct hs_metrics_cells, id)

static const struct row {
    const char *name, *help;
    size_t offset; /* in struct hs_metrics_cells */
    enum { COUNTER, GAUGE, COUNTER_US, GAUGE_US, HISTOGRAM } kind;
    enum hs_metric_labels labels;
    const double *bounds; /* bucket bounds of a histogram, otherwise NULL */
} rows[HS_METRIC_COUNT] = {
#define HS_METRIC(id, kind, labels, name, help)                                                    \
    {name, help, AT(id), kind, HS_METRIC_LABELS_##labels, NULL},
#define HS_HISTOGRAM(id, bounds, labels, name, help)                                               \
    {name, help, AT(id), HISTOGRAM, HS_METRIC_LABELS_##labels, bounds},
#include "service/watch/metrics.def"
};

_Static_assert((int)HS_MODE_ENFORCE < (int)HS_METRICS_MODES &&
                   (int)HS_MODE_SHADOW < (int)HS_METRICS_MODES,
               "the modes with counters come first");

/* This thread's own cells. Set by hs_metrics_enter. */
static _Thread_local struct {
    const struct hs_metrics *metrics;
    struct hs_metrics_own *own;
} thread;

void hs_metrics_enter(struct hs_metrics *metrics)
{
    struct hs_metrics_own *own = calloc(1, sizeof *own);
    if (own == NULL)
        return; /* out of memory, so the thread uses the shared cells */
    own->next = atomic_load(&metrics->own);
    while (!atomic_compare_exchange_weak(&metrics->own, &own->next, own)) {
    }
    thread.metrics = metrics;
    thread.own = own;
}

void hs_metrics_leave(void)
{
    thread.metrics = NULL;
}

static void add(atomic_llong *cell, int64_t change, bool is_own)
{
    if (is_own)
        atomic_store_explicit(cell, atomic_load_explicit(cell, memory_order_relaxed) + change,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(cell, change, memory_order_relaxed);
}

/* Returns this thread's cells for a metric. The first cell belongs to the first series. */
static void *cells_of(struct hs_metrics *metrics, enum hs_metric metric, bool *is_own)
{
    *is_own = thread.metrics == metrics;
    struct hs_metrics_cells *cells = *is_own ? &thread.own->cells : &metrics->shared;
    return (char *)cells + rows[metric].offset;
}

void hs_metrics_add(struct hs_metrics *metrics, enum hs_metric metric, size_t series,
                    int64_t change)
{
    bool is_own;
    atomic_llong *cells = cells_of(metrics, metric, &is_own);
    add(&cells[series], change, is_own);
}

void hs_metrics_set(struct hs_metrics *metrics, enum hs_metric metric, size_t series, int64_t value)
{
    char *cells = (char *)&metrics->shared + rows[metric].offset;
    atomic_store_explicit((atomic_llong *)(void *)cells + series, value, memory_order_relaxed);
}

void hs_metrics_observe(struct hs_metrics *metrics, enum hs_metric histogram, size_t series,
                        double seconds)
{
    const struct row *row = &rows[histogram];
    bool is_own;
    struct hs_histogram *cells = cells_of(metrics, histogram, &is_own), *to = &cells[series];
    size_t i = 0;
    while (row->bounds[i] > 0 && seconds > row->bounds[i])
        i++;
    add(&to->buckets[i], 1, is_own);
    if (seconds > 0)
        add(&to->sum_ns, (int64_t)(seconds * 1e9 + 0.5), is_own);
}

struct hs_metrics *hs_metrics_create(void)
{
    struct hs_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL)
        return NULL;
    for (size_t route = 0; route < HS_METRICS_ROUTES; route++)
        metrics->first_routes[route] = hs_metrics_first_route(route);
    hs_metrics_set(metrics, HS_METRIC_BUILD_INFO, 0, 1);
    hs_metrics_set(metrics, HS_METRIC_START_TIME, 0, hs_clock_wall_us());
    hs_metrics_reload(metrics, true);
    return metrics;
}

void hs_metrics_destroy(struct hs_metrics *metrics)
{
    struct hs_metrics_own *own = metrics != NULL ? atomic_load(&metrics->own) : NULL;
    while (own != NULL) {
        struct hs_metrics_own *next = own->next;
        free(own);
        own = next;
    }
    free(metrics);
}

void hs_metrics_http(struct hs_metrics *metrics, unsigned route, int code, double seconds)
{
    static const int codes[] = {
#define X(status) status,
        HS_METRICS_STATUSES(X)
#undef X
    };
    size_t i = 0;
    while (i < HS_METRICS_STATUS_OTHER && codes[i] != code)
        i++;
    hs_metrics_add(metrics, HS_METRIC_REQUESTS, (size_t)route * HS_METRICS_CODES + i, 1);
    hs_metrics_observe(metrics, HS_METRIC_DURATION, metrics->first_routes[route], seconds);
}

void hs_metrics_verdict(struct hs_metrics *metrics, enum hs_verdict_of kind,
                        enum hs_verdict verdict, enum hs_reason reason, enum hs_mode mode)
{
    size_t claim = (kind * (size_t)HS_VERDICT_COUNT + verdict) * HS_REASON_COUNT + reason;
    if ((size_t)mode < HS_METRICS_MODES)
        hs_metrics_add(metrics, HS_METRIC_VERDICTS, claim * HS_METRICS_MODES + mode, 1);
}

void hs_metrics_flags(struct hs_metrics *metrics, enum hs_verdict_of kind, unsigned flags)
{
    for (size_t flag = 0; flags >> flag != 0; flag++)
        if ((flags & 1u << flag) != 0)
            hs_metrics_add(metrics, HS_METRIC_VERDICT_FLAGS, kind * (size_t)HS_FLAG_COUNT + flag,
                           1);
}

void hs_metrics_move(struct hs_metrics *metrics, enum hs_verdict verdict,
                     enum hs_move_reason reason, unsigned raised)
{
    hs_metrics_add(metrics, HS_METRIC_MOVES, verdict * (size_t)HS_MOVE_REASON_COUNT + reason, 1);
    for (size_t i = 0; i < HS_TIMING_FLAGS; i++)
        if ((raised >> hs_timing_flags[i] & 1) != 0)
            hs_metrics_add(metrics, HS_METRIC_TIMING_FLAGS, i, 1);
}

void hs_metrics_move_failure(struct hs_metrics *metrics, enum hs_move_check check,
                             enum hs_mode mode)
{
    if ((size_t)mode < HS_METRICS_MODES)
        hs_metrics_add(metrics, HS_METRIC_MOVE_FAILURES, check * (size_t)HS_METRICS_MODES + mode,
                       1);
}

void hs_metrics_reload(struct hs_metrics *metrics, bool successful)
{
    if (successful)
        hs_metrics_set(metrics, HS_METRIC_RELOAD_SUCCESS_TIME, 0, hs_clock_wall_us());
    hs_metrics_set(metrics, HS_METRIC_RELOAD_SUCCESSFUL, 0, successful);
}

/* ---- the Prometheus text format ---- */

/* Returns the sum over all threads of the cells at `offset` in struct hs_metrics_cells. */
static long long value(const struct hs_metrics *metrics, size_t offset)
{
    const char *cell = (const char *)&metrics->shared + offset;
    long long sum =
        atomic_load_explicit((const atomic_llong *)(const void *)cell, memory_order_relaxed);
    const struct hs_metrics_own *own = atomic_load(&metrics->own);
    for (; own != NULL; own = own->next) {
        cell = (const char *)&own->cells + offset;
        sum += atomic_load_explicit((const atomic_llong *)(const void *)cell, memory_order_relaxed);
    }
    return sum;
}

static void put_histogram(const struct hs_metrics *metrics, const struct row *row, size_t series,
                          const char *label, struct hs_buffer *out)
{
    size_t at = row->offset + series * sizeof(struct hs_histogram);
    size_t buckets = at + offsetof(struct hs_histogram, buckets);
    const char *comma = label[0] == '\0' ? "" : ",";
    long long total = 0;
    size_t i = 0;
    for (; row->bounds[i] > 0; i++) {
        total += value(metrics, buckets + i * sizeof(atomic_llong));
        hs_buffer_printf(out, "%s_bucket{%s%sle=\"%g\"} %lld\n", row->name, label, comma,
                         row->bounds[i], total);
    }
    total += value(metrics, buckets + i * sizeof(atomic_llong));
    hs_buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %lld\n", row->name, label, comma, total);
    const char *open = label[0] == '\0' ? "" : "{", *close = label[0] == '\0' ? "" : "}";
    hs_buffer_printf(out, "%s_sum%s%s%s %.9f\n", row->name, open, label, close,
                     (double)value(metrics, at + offsetof(struct hs_histogram, sum_ns)) * 1e-9);
    hs_buffer_printf(out, "%s_count%s%s%s %lld\n", row->name, open, label, close, total);
}

static void put_number(struct hs_buffer *out, const struct row *row, const char *label,
                       long long number)
{
    const char *open = label[0] == '\0' ? "" : "{", *close = label[0] == '\0' ? "" : "}";
    hs_buffer_printf(out, "%s%s%s%s ", row->name, open, label, close);
    if (row->kind == COUNTER || row->kind == GAUGE)
        hs_buffer_printf(out, "%lld\n", number);
    else
        hs_buffer_printf(out, "%.16g\n", (double)number * 1e-6);
}

static void put_family(const struct hs_metrics *metrics, const struct row *row,
                       struct hs_buffer *out)
{
    static const char *const types[] = {"counter", "gauge", "counter", "gauge", "histogram"};
    hs_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                     types[row->kind]);
    for (size_t i = 0; i < hs_metrics_series(row->labels); i++) {
        char label[HS_METRICS_LABEL_SIZE];
        bool occurs = hs_metrics_label(row->labels, i, label);
        if (row->kind != HISTOGRAM) {
            long long number = value(metrics, row->offset + i * sizeof(atomic_llong));
            if (occurs || number != 0)
                put_number(out, row, label, number);
        } else if (occurs) {
            put_histogram(metrics, row, i, label, out);
        }
    }
}

void hs_metrics_write(const struct hs_metrics *metrics, struct hs_buffer *out)
{
    for (size_t i = 0; i < HS_METRIC_COUNT; i++)
        put_family(metrics, &rows[i], out);
}
