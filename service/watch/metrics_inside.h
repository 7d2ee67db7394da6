/* The inside of the metrics: what metrics.c counts and metrics_write.c shows. */
#ifndef HS_SERVICE_METRICS_INSIDE_H
#define HS_SERVICE_METRICS_INSIDE_H

#include <stdatomic.h>

#include "api/moves.h"
#include "service/watch/metrics.h"

/* The statuses an answer can have; anything else is counted as "other". */
#define HS_METRICS_STATUSES(X)                                                                     \
    X(200)                                                                                         \
    X(201)                                                                                         \
    X(204)                                                                                         \
    X(400)                                                                                         \
    X(401) X(403) X(404) X(405) X(408) X(409) X(411) X(413) X(415) X(422) X(429) X(500) X(503)

enum {
#define X(code) HS_METRICS_STATUS_##code,
    HS_METRICS_STATUSES(X)
#undef X
        HS_METRICS_STATUS_OTHER,
    HS_METRICS_CODES
};

enum {
    HS_METRICS_ROUTES = HS_ROUTE_COUNT + 1,
    HS_METRICS_MODES = 2, /* enforce and shadow; a check that is off counts nothing */
    HS_METRICS_BUCKETS = 16,
};

typedef atomic_ullong hs_counter;

struct hs_histogram {
    hs_counter buckets[HS_METRICS_BUCKETS + 1]; /* not cumulated */
    hs_counter sum_ns;
};

struct hs_metrics {
    hs_counter requests[HS_METRICS_ROUTES][HS_METRICS_CODES];
    struct hs_histogram durations[HS_METRICS_ROUTES]; /* at the first route of the same pattern */
    size_t first[HS_METRICS_ROUTES];                  /* that route, for each */
    hs_counter verdicts[HS_JUDGED_COUNT][HS_VERDICT_COUNT][HS_REASON_COUNT][HS_METRICS_MODES];
    hs_counter flags[HS_JUDGED_COUNT][HS_FLAG_COUNT];
    hs_counter frames[HS_POSTED_COUNT][HS_FRAME_RESULT_COUNT];
    hs_counter moves[HS_VERDICT_COUNT][HS_MOVE_REASON_COUNT];
    hs_counter timing_flags[HS_TIMING_FLAGS];
    hs_counter move_failures[HS_MOVE_CHECK_COUNT][HS_METRICS_MODES];
    hs_counter shed[HS_SHED_REASON_COUNT];
    hs_counter auth_failures[HS_AUTH_FAILURE_COUNT];
    hs_counter recorded, not_recorded;
    struct hs_histogram stages[HS_STAGE_COUNT], rewind, waits;
    hs_counter matches_expired, work_units;
    atomic_llong inflight;
    atomic_llong connections[HS_LISTENER_BOTH]; /* by listener */
    unsigned connection_limits[HS_LISTENER_BOTH];
    atomic_bool reload_failed;
    atomic_llong reload_success_ms; /* since the epoch; the start counts */
    double start_time;
};

_Static_assert((int)HS_MODE_ENFORCE < (int)HS_METRICS_MODES &&
                   (int)HS_MODE_SHADOW < (int)HS_METRICS_MODES,
               "the modes that count come first");

/* The pattern of a route, or "other". */
const char *hs_metrics_route(size_t route);

/* The statuses in order; the last one, "other", is 0. */
extern const int hs_metrics_codes[HS_METRICS_CODES];

/* Upper bounds in seconds, ascending, closed by 0; +Inf follows. */
extern const double hs_http_bounds[HS_METRICS_BUCKETS], hs_stage_bounds[HS_METRICS_BUCKETS],
    hs_wait_bounds[HS_METRICS_BUCKETS], hs_rewind_bounds[HS_METRICS_BUCKETS];

#endif
