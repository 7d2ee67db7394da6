/* Internal interface of metrics.c and metrics_labels.c. */
#ifndef HS_SERVICE_METRICS_INSIDE_H
#define HS_SERVICE_METRICS_INSIDE_H

#include <stdatomic.h>

#include "service/watch/metrics.h"

enum { HS_METRICS_BUCKETS = 16, HS_METRICS_LABEL_SIZE = 192 };

struct hs_histogram {
    /* number of values in each bucket (not cumulative) */
    atomic_llong buckets[HS_METRICS_BUCKETS + 1];
    atomic_llong sum_ns;
};

#define X(id, count) HS_METRIC_SERIES_##id = (count),
enum { HS_METRIC_LABELS(X) };
#undef X

struct hs_metrics_cells {
#define HS_METRIC(id, kind, labels, name, help) atomic_llong id[HS_METRIC_SERIES_##labels];
#define HS_HISTOGRAM(id, bounds, labels, name, help)                                               \
    struct hs_histogram id[HS_METRIC_SERIES_##labels];
#include "service/watch/metrics.def"
};

/* One thread's cells. Only this thread writes to these cells, so the thread needs no atomic
   additions, and processors do not compete for cache lines. */
struct hs_metrics_own {
    struct hs_metrics_cells cells;
    struct hs_metrics_own *next;
};

struct hs_metrics {
    struct hs_metrics_cells shared; /* for threads without cells of their own */
    /* list of all threads' cells, including those of finished threads */
    _Atomic(struct hs_metrics_own *) own;
    size_t first_routes[HS_METRICS_ROUTES];
};

/* Returns the first route with the same pattern as `route`. */
size_t hs_metrics_first_route(size_t route);

/* Returns the number of series in a set of labels. */
size_t hs_metrics_series(enum hs_metric_labels labels);

/* Writes the labels of a series as `name="value",...`. Returns false if this combination of label
   values should never occur. hs_metrics_write shows such a series only if its value is not 0. */
bool hs_metrics_label(enum hs_metric_labels labels, size_t series,
                      char text[HS_METRICS_LABEL_SIZE]);

#endif
