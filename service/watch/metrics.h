/*
 * The service's metrics, in the Prometheus text format 0.0.4. Counters are relaxed atomics, so
 * counting never blocks. Every label has a fixed set of values, and every series exists from the
 * start, with the value 0. Matches, players and addresses are never labels.
 */
#ifndef HS_SERVICE_METRICS_H
#define HS_SERVICE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "api/json/buffer.h"
#include "api/moves.h"
#include "service/watch/labels.h"
#include "validators/vocabulary.h"

struct hs_metrics;

/* Requests without a route are counted under this index, with route="other". */
enum { HS_METRICS_NO_ROUTE = HS_ROUTE_COUNT };

enum {
    HS_METRICS_ROUTES = HS_ROUTE_COUNT + 1,
    HS_METRICS_MODES = 2, /* enforce and shadow; checks that are off are not counted */
};

/* The sets of labels. `count`: number of series of a metric with these labels. X(id, count) */
#define HS_METRIC_LABELS(X)                                                                        \
    X(NONE, 1)                                                                                     \
    X(VERSION, 1)                                                                                  \
    X(LISTENER, 2) /* by enum hs_listener - HS_LISTENER_DATA */                                    \
    X(SHED_REASON, HS_SHED_REASON_COUNT)                                                           \
    X(AUTH_REASON, HS_AUTH_FAILURE_COUNT)                                                          \
    X(ROUTE, HS_METRICS_ROUTES) /* routes with one pattern share a series */                       \
    X(REQUEST, HS_METRICS_ROUTES *HS_METRICS_CODES)                                                \
    X(VERDICT, HS_VERDICT_OF_COUNT *HS_VERDICT_COUNT *HS_REASON_COUNT *HS_METRICS_MODES)           \
    X(FLAG, HS_VERDICT_OF_COUNT *HS_FLAG_COUNT)                                                    \
    X(STAGE, HS_STAGE_COUNT)                                                                       \
    X(FRAME_RESULT, HS_FRAME_RESULT_COUNT)                                                         \
    X(MOVE, HS_VERDICT_COUNT *HS_MOVE_REASON_COUNT)                                                \
    X(TIMING_FLAG, HS_TIMING_FLAGS)                                                                \
    X(MOVE_FAILURE, HS_MOVE_CHECK_COUNT *HS_METRICS_MODES)                                         \
    X(FILE_RESULT, 2)    /* written, failed */                                                     \
    X(JOURNAL_RESULT, 3) /* written, failed, not synced */                                         \
    X(EVIDENCE_DROP, HS_EVIDENCE_DROP_COUNT)                                                       \
    X(WEBHOOK_DROP, HS_WEBHOOK_DROP_COUNT)                                                         \
    X(WEBHOOK_RESULT, HS_WEBHOOK_RESULT_COUNT)                                                     \
    X(RESTORED, HS_RESTORED_COUNT)                                                                 \
    X(RESTORED_RULESET, HS_RESTORED_NAME_COUNT)                                                    \
    X(RESTORED_MAP, HS_RESTORED_NAME_COUNT)                                                        \
    X(STORE_OP, HS_STORE_OP_COUNT)                                                                 \
    X(TAKEOVER, HS_TAKEOVER_FROM_COUNT *HS_TAKEOVER_COUNT)

#define X(id, count) HS_METRIC_LABELS_##id,
enum hs_metric_labels { HS_METRIC_LABELS(X) HS_METRIC_LABELS_COUNT };
#undef X

enum hs_metric {
#define HS_METRIC(id, kind, labels, name, help)      HS_METRIC_##id,
#define HS_HISTOGRAM(id, bounds, labels, name, help) HS_METRIC_##id,
#include "service/watch/metrics.def"
    HS_METRIC_COUNT
};

/* Returns NULL if memory runs out. */
struct hs_metrics *hs_metrics_create(void);
/* Frees the metrics. Before this call, every thread that has called hs_metrics_enter must call
   hs_metrics_leave. Does nothing for NULL. */
void hs_metrics_destroy(struct hs_metrics *metrics);

/* After hs_metrics_enter, the calling thread counts in its own cells. So threads that count often
   do not slow each other down. Call hs_metrics_leave before the same thread calls hs_metrics_enter
   with other metrics. */
void hs_metrics_enter(struct hs_metrics *metrics);
void hs_metrics_leave(void);

/* These functions add to a metric or set its value. `series` is the index in the metric's set of
   labels, or 0 if the metric has no labels. Values are integers, in microseconds for COUNTER_US and
   GAUGE_US. Thread-safe. */
void hs_metrics_add(struct hs_metrics *metrics, enum hs_metric metric, size_t series,
                    int64_t change);
void hs_metrics_set(struct hs_metrics *metrics, enum hs_metric metric, size_t series,
                    int64_t value);

/* Adds a value to a histogram. Thread-safe. */
void hs_metrics_observe(struct hs_metrics *metrics, enum hs_metric histogram, size_t series,
                        double seconds);

/* Counts an answered request. `seconds` is the time from the request's header to the answer. */
void hs_metrics_http(struct hs_metrics *metrics, unsigned route, int code, double seconds);

/* Counts one reason of a claim or move. `mode` is HS_MODE_ENFORCE if this reason decided the
   verdict, and HS_MODE_SHADOW if the reason is in `would_reject`. `verdict` must be the verdict of
   this reason (hs_reason_verdict). */
void hs_metrics_verdict(struct hs_metrics *metrics, enum hs_verdict_of kind,
                        enum hs_verdict verdict, enum hs_reason reason, enum hs_mode mode);

/* Counts the flags of a verified claim. `flags` has one bit for each enum hs_flag. */
void hs_metrics_flags(struct hs_metrics *metrics, enum hs_verdict_of kind, unsigned flags);

/* Counts a checked move. `raised` has one bit (enum hs_move_check) for each failed check, in any
   mode. */
void hs_metrics_move(struct hs_metrics *metrics, enum hs_verdict verdict,
                     enum hs_move_reason reason, unsigned raised);

/* Counts a failed check of a move. */
void hs_metrics_move_failure(struct hs_metrics *metrics, enum hs_move_check check,
                             enum hs_mode mode);

/* Records the result of a reload. `successful`: true: the whole configuration was applied; false:
   nothing was applied. The start of the service counts as a reload. */
void hs_metrics_reload(struct hs_metrics *metrics, bool successful);

/* Reads memory, processor time and descriptors of the process from the kernel. */
void hs_metrics_read_process(struct hs_metrics *metrics);

/* Writes all metrics in the Prometheus text format. */
void hs_metrics_write(const struct hs_metrics *metrics, struct hs_buffer *out);

#endif
