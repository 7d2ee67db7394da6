/*
 * What the service counts: relaxed atomics that any thread adds to without waiting, written out
 * in the Prometheus text format 0.0.4. Label sets are closed; every series is there from the
 * start, at 0. No match, player or address is ever a label.
 */
#ifndef HS_SERVICE_METRICS_H
#define HS_SERVICE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "api/json/buffer.h"
#include "service/access/tokens.h"
#include "service/checkpoint/save.h"
#include "validators/vocabulary.h"

struct hs_service;
struct hs_metrics;

/* NULL when memory is out. */
struct hs_metrics *hs_metrics_create(void);
void hs_metrics_destroy(struct hs_metrics *metrics);

/* A request that no route answers is counted under this one: route="other". */
enum { HS_METRICS_NO_ROUTE = HS_ROUTE_COUNT };

/* One answered request. `code` is its HTTP status, `seconds` from its header to its reply. */
void hs_metrics_http(struct hs_metrics *metrics, unsigned route, int code, double seconds);

/* How long what came last of a request's header had waited to be read. */
void hs_metrics_wait(struct hs_metrics *metrics, double seconds);

/* Requests between header and reply: add 1, add -1. */
void hs_metrics_inflight(struct hs_metrics *metrics, int change);

/* A connection of a listener (HS_LISTENER_DATA, HS_LISTENER_ADMIN): add 1, add -1. */
void hs_metrics_connection(struct hs_metrics *metrics, enum hs_listener listener, int change);

/* The most connections it takes; set before it takes any. */
void hs_metrics_connection_limit(struct hs_metrics *metrics, enum hs_listener listener,
                                 unsigned limit);

/* One judged hit: its deciding reason under HS_MODE_ENFORCE, each reason in its `would_reject`
   under HS_MODE_SHADOW. `verdict` is the reason's own (hs_reason_verdict). */
enum hs_judged { HS_JUDGED_HIT, HS_JUDGED_SHOT, HS_JUDGED_COUNT };
void hs_metrics_verdict(struct hs_metrics *metrics, enum hs_judged kind, enum hs_verdict verdict,
                        enum hs_reason reason, enum hs_mode mode);

/* The remarks on one judged hit or shot, a set of enum hs_flag. */
void hs_metrics_flags(struct hs_metrics *metrics, enum hs_judged kind, unsigned flags);

/* One judged move: what became of it, and which checks failed on it (bits of enum hs_move_check,
   whatever their modes). */
void hs_metrics_move(struct hs_metrics *metrics, enum hs_verdict verdict,
                     enum hs_move_reason reason, unsigned raised);

/* A check of a move that failed, by its mode. */
void hs_metrics_move_failure(struct hs_metrics *metrics, enum hs_move_check check,
                             enum hs_mode mode);

/* Posted samples by what became of them. */
enum hs_posted { HS_POSTED_PLAYER, HS_POSTED_MOVER, HS_POSTED_COUNT };
void hs_metrics_frame(struct hs_metrics *metrics, enum hs_posted kind, enum hs_frame_result result,
                      size_t count);

/* Where the time of a request with claims goes. X(id, label) */
#define HS_STAGES(X)                                                                               \
    X(DECODE, "decode") /* from the body to the claims, once a request */                          \
    X(LOCK, "lock")     /* the wait for the match, once a request */                               \
    X(JUDGE, "judge")   /* the checks, once a claim */                                             \
    X(ENCODE, "encode") /* the answer, once a claim */

enum hs_stage {
#define X(id, label) HS_STAGE_##id,
    HS_STAGES(X)
#undef X
        HS_STAGE_COUNT
};

/* Time one stage took, in nanoseconds. */
void hs_metrics_stage(struct hs_metrics *metrics, enum hs_stage stage, int64_t ns);

/* How far back a claim reached: `now` - `hit_time`. */
void hs_metrics_rewind_age(struct hs_metrics *metrics, double seconds);

/* Requests refused to protect the service. X(id, label) */
#define HS_SHED_REASONS(X)                                                                         \
    X(CAPACITY, "capacity")  /* a table is full, or memory is out */                               \
    X(BODIES, "body_memory") /* bodies being received fill their share of memory */                \
    X(HISTORY, "history")    /* a new match: the others fill the memory there is for histories */  \
    X(QUEUE, "queue")        /* it waited too long for its turn */                                 \
    X(DEADLINE, "deadline")  /* its X-Deadline-Ms had passed */                                    \
    X(RATE, "tenant_rate")   /* its tenant sends too many requests: 429 */                         \
    X(MAP, "awaiting_map")   /* its match waits for the map that it had before a restart */        \
    X(CONNECTIONS, "connections") /* its tenant holds too many connections */

enum hs_shed_reason {
#define X(id, label) HS_SHED_##id,
    HS_SHED_REASONS(X)
#undef X
        HS_SHED_REASON_COUNT
};

void hs_metrics_shed(struct hs_metrics *metrics, enum hs_shed_reason reason);

/* Adds the work units of a claim or a shot, whether it was judged or not. */
void hs_metrics_work(struct hs_metrics *metrics, uint64_t units);

/* A match that was ended because nothing was posted to it. */
void hs_metrics_match_expired(struct hs_metrics *metrics);

/* A request that was not admitted, and why. */
void hs_metrics_auth_failure(struct hs_metrics *metrics, enum hs_auth_failure failure);

/* A request that changed a match, where requests are recorded: whether it could be. */
void hs_metrics_recorded(struct hs_metrics *metrics, bool recorded);

/* Whether a reload of the configuration took everything or nothing; the start counts as one. */
void hs_metrics_reload(struct hs_metrics *metrics, bool successful);

/* What is counted where it lives, read when the metrics are. */
struct hs_metrics_gauges {
    size_t matches, players, movers, history_bytes, maps, map_bytes, record_queue_bytes;
    size_t rulesets, ruleset_limit, map_limit, ruleset_bytes, ruleset_bytes_limit;
    size_t matches_held; /* of `matches`: take no more memory for history */
    size_t match_limit, history_bytes_limit, map_bytes_limit,
        record_queue_bytes_limit;     /* as configured */
    unsigned stuck[HS_LISTENER_BOTH]; /* by listener: endpoints that hang */
    bool draining;
    uint64_t log_lines_dropped;
    struct hs_checkpoint_stats checkpoint;
};

/* Writes the exposition. */
void hs_metrics_write(const struct hs_metrics *metrics, const struct hs_metrics_gauges *gauges,
                      struct hs_buffer *out);

/* Its last part, about the process: memory, processor, descriptors. `start_time` in seconds since
   the epoch. service/watch/metrics_process.c. */
void hs_metrics_write_process(double start_time, struct hs_buffer *out);

/* The lines before the samples of a family, and a whole family of one gauge. */
void hs_metrics_head(struct hs_buffer *out, const char *name, const char *type, const char *help);
void hs_metrics_gauge(struct hs_buffer *out, const char *name, const char *help, double number);

#endif
