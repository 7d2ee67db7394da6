/* Values of metric labels that the code refers to by id. X(id, label) */
#ifndef HS_SERVICE_LABELS_H
#define HS_SERVICE_LABELS_H

enum hs_verdict_of { HS_VERDICT_OF_HIT, HS_VERDICT_OF_SHOT, HS_VERDICT_OF_COUNT };

/* Stages of a request with claims. */
#define HS_STAGES(X)                                                                               \
    X(DECODE, "decode") /* parsing the body; once for each request */                              \
    X(LOCK, "lock")     /* waiting for the match; once for each request */                         \
    X(JUDGE, "judge")   /* running the checks; once for each claim */                              \
    X(ENCODE, "encode") /* writing the answer; once for each claim */

#define X(id, label) HS_STAGE_##id,
enum hs_stage { HS_STAGES(X) HS_STAGE_COUNT };
#undef X

/* Why a request was refused to protect the service. */
#define HS_SHED_REASONS(X)                                                                         \
    X(CAPACITY, "capacity")          /* a table is full, or memory ran out */                      \
    X(BODIES, "body_memory")         /* no memory is left for the body or the answer */            \
    X(HISTORY, "history")            /* the open matches fill the memory for histories */          \
    X(QUEUE, "queue")                /* the request waited too long */                             \
    X(DEADLINE, "deadline")          /* the time in X-Deadline-Ms has passed */                    \
    X(RATE, "tenant_rate")           /* the tenant sends too many requests (429) */                \
    X(MAP, "awaiting_map")           /* the match's map was lost in a restart */                   \
    X(REVISION, "awaiting_revision") /* this replica lacks the moved match's ruleset or map */     \
    X(CONNECTIONS, "connections")    /* the tenant has too many connections */

#define X(id, label) HS_SHED_##id,
enum hs_shed_reason { HS_SHED_REASONS(X) HS_SHED_REASON_COUNT };
#undef X

/* Why a caller was not admitted. */
#define HS_AUTH_FAILURES(X)                                                                        \
    X(MISSING, "missing")     /* no Authorization header */                                        \
    X(MALFORMED, "malformed") /* not `Bearer hs_...` */                                            \
    X(UNKNOWN, "unknown")     /* unknown tenant or kid, or wrong secret */                         \
    X(EXPIRED, "expired")     /* the token is not valid yet, or no longer valid */                 \
    X(SCOPE, "scope")         /* the token lacks the scope that the route needs */                 \
    X(TENANT, "tenant")       /* the caller does not own the resource in the path */

#define X(id, label) HS_AUTH_##id,
enum hs_auth_failure {
    HS_AUTH_FAILURES(X) HS_AUTH_FAILURE_COUNT,
    HS_AUTH_FINE = HS_AUTH_FAILURE_COUNT
};
#undef X

/* Why a verdict is missing from the evidence store. */
#define HS_EVIDENCE_DROPS(X)                                                                       \
    X(SAMPLE, "sample")   /* accepted verdicts are dropped once the queue is half full */          \
    X(QUEUE, "queue")     /* the queue is full */                                                  \
    X(MEMORY, "memory")   /* out of memory */                                                      \
    X(DISK, "disk")       /* the service stopped while the disk could not be written */            \
    X(REFUSED, "refused") /* the database can never accept this row */

#define X(id, label) HS_EVIDENCE_DROP_##id,
enum hs_evidence_drop { HS_EVIDENCE_DROPS(X) HS_EVIDENCE_DROP_COUNT };
#undef X

/* Why the webhook dropped a verdict. */
#define HS_WEBHOOK_DROPS(X)                                                                        \
    X(QUEUE, "queue")   /* the queue was full */                                                   \
    X(MEMORY, "memory") /* memory ran out */                                                       \
    X(AGE, "age")       /* the receiver did not accept the verdict in time */                      \
    X(END, "end")       /* the shutdown timed out */

#define X(id, label) HS_WEBHOOK_DROP_##id,
enum hs_webhook_drop { HS_WEBHOOK_DROPS(X) HS_WEBHOOK_DROP_COUNT };
#undef X

/* Results of the webhook's requests. */
#define HS_WEBHOOK_RESULTS(X)                                                                      \
    X(ACCEPTED, "accepted") /* status 200 to 299 */                                                \
    X(REFUSED, "refused")   /* another status */                                                   \
    X(FAILED, "failed")     /* no answer */

#define X(id, label) HS_WEBHOOK_##id,
enum hs_webhook_result { HS_WEBHOOK_RESULTS(X) HS_WEBHOOK_RESULT_COUNT };
#undef X

/* Results of restoring a match at startup. */
#define HS_RESTORED(X)                                                                             \
    X(WHOLE, "restored")                                                                           \
    X(RESET, "restored_without_judges") /* move checks restart: the saved layout has changed */    \
    X(VERSION, "other_version")         /* written by another version of the program */            \
    X(DAMAGED, "damaged")                                                                          \
    X(NO_SPACE, "no_room")

#define X(id, label) HS_RESTORED_##id,
enum hs_restored { HS_RESTORED(X) HS_RESTORED_COUNT };
#undef X

/* Commands to the shared store (store/link.h). */
#define HS_STORE_OPS(X)                                                                            \
    X(TAKE, "take")       /* reads a match and becomes its owner */                                \
    X(APPEND, "append")   /* appends payments to a match's journal */                              \
    X(WRITE, "write")     /* writes a match's state */                                             \
    X(CLOSE, "close")     /* ends a match, or releases its ownership */                            \
    X(CATALOG, "catalog") /* reads or writes rulesets and maps */                                  \
    X(PING, "ping")

#define X(id, label) HS_STORE_##id,
enum hs_store_op { HS_STORE_OPS(X) HS_STORE_OP_COUNT };
#undef X

/* Whether a match's previous owner released the ownership. */
#define HS_TAKEOVERS_FROM(X)                                                                       \
    X(RELEASED, "released")     /* the previous owner drained or stopped normally */               \
    X(UNRELEASED, "unreleased") /* the previous owner crashed or still runs */                     \
    X(NONE, "none")             /* unknown, because the store did not answer */

#define X(id, label) HS_TAKEOVER_FROM_##id,
enum hs_takeover_from { HS_TAKEOVERS_FROM(X) HS_TAKEOVER_FROM_COUNT };
#undef X

/* Results of taking over a match from the store. */
#define HS_TAKEOVERS(X)                                                                            \
    X(RESTORED, "restored")                                                                        \
    X(RESET, "restored_without_judges") /* like HS_RESTORED_RESET */                               \
    X(VERSION, "other_version")         /* from another program version; the match starts empty */ \
    X(DAMAGED, "damaged")               /* the match starts empty */                               \
    X(NO_SPACE, "no_room")              /* this replica has no space for the match (503) */        \
    X(REVISION, "unknown_revision")     /* this replica lacks the ruleset or map (503) */          \
    X(LATE, "late")                     /* no answer in time; the match starts empty */            \
    X(DOWN, "down")                     /* the store is down or slow; the match starts empty */

#define X(id, label) HS_TAKEOVER_##id,
enum hs_takeover_result { HS_TAKEOVERS(X) HS_TAKEOVER_COUNT };
#undef X

/* Results of restoring uploaded rulesets and maps at startup. */
#define HS_RESTORED_NAMES(X)                                                                       \
    X(BACK, "restored")                                                                            \
    X(IS_FILES, "name_of_a_file") /* a ruleset file now has this name */                           \
    X(MISSING, "missing")                                                                          \
    X(DAMAGED, "damaged")                                                                          \
    X(NO_SPACE, "no_room")

#define X(id, label) HS_RESTORED_NAME_##id,
enum hs_restored_name { HS_RESTORED_NAMES(X) HS_RESTORED_NAME_COUNT };
#undef X

/* HTTP statuses; all others are counted as "other". X(code) */
#define HS_METRICS_STATUSES(X)                                                                     \
    X(200)                                                                                         \
    X(201)                                                                                         \
    X(204)                                                                                         \
    X(400)                                                                                         \
    X(401) X(403) X(404) X(405) X(408) X(409) X(411) X(413) X(415) X(422) X(429) X(500) X(503)

#define X(code) HS_METRICS_STATUS_##code,
enum { HS_METRICS_STATUSES(X) HS_METRICS_STATUS_OTHER, HS_METRICS_CODES };
#undef X

#endif
