/*
 * Error replies (RFC 9457, application/problem+json). A problem lists at most HS_PROBLEM_MAX bad
 * fields of a request, each with its JSON pointer (RFC 6901).
 */
#ifndef HS_API_PROBLEM_H
#define HS_API_PROBLEM_H

#include <stddef.h>

#include "api/json/buffer.h"

/* X(id, code on the wire, HTTP status, title) */
#define HS_PROBLEMS(X)                                                                             \
    X(NONE, "", 200, "")                                                                           \
    X(MALFORMED_JSON, "malformed_json", 400, "The body is not acceptable JSON")                    \
    X(INVALID_REQUEST, "invalid_request", 400, "The request has bad fields")                       \
    X(BAD_HEADER, "bad_header", 400, "A header is ambiguous or malformed")                         \
    X(UNAUTHORIZED, "unauthorized", 401, "A valid token is required")                              \
    X(FORBIDDEN, "forbidden", 403, "Not allowed")                                                  \
    X(UNKNOWN_MATCH, "unknown_match", 404, "No such match is open")                                \
    X(UNKNOWN_ROUTE, "unknown_route", 404, "No such route")                                        \
    X(UNKNOWN_NAME, "unknown_name", 404, "No such resource")                                       \
    X(METHOD_NOT_ALLOWED, "method_not_allowed", 405, "Method not allowed here")                    \
    X(REQUEST_TIMEOUT, "request_timeout", 408, "The body took too long to arrive")                 \
    X(MATCH_CONFLICT, "match_conflict", 409, "The match is open with other values")                \
    X(MATCH_MOVED, "match_moved", 409, "Another replica has the match now")                        \
    X(RULESET_IN_USE, "ruleset_in_use", 409, "Something needs the ruleset")                        \
    X(LENGTH_REQUIRED, "length_required", 411, "A Content-Length is required")                     \
    X(BODY_TOO_LARGE, "body_too_large", 413, "The body is too large")                              \
    X(UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415, "Send application/json, not encoded") \
    X(UNKNOWN_RULESET, "unknown_ruleset", 422, "No such ruleset")                                  \
    X(UNKNOWN_MAP, "unknown_map", 422, "No such map")                                              \
    X(RATE_LIMITED, "rate_limited", 429, "Too many requests")                                      \
    X(INTERNAL, "internal_error", 500, "The service failed")                                       \
    X(OVERLOADED, "overloaded", 503, "The service is at a limit")

enum hs_problem_code {
#define X(id, code, status, title) HS_PROBLEM_##id,
    HS_PROBLEMS(X)
#undef X
        HS_PROBLEM_COUNT
};

enum { HS_PROBLEM_MAX = 32, HS_POINTER_MAX = 192, HS_DETAIL_MAX = 160 };

/* The default of the member `retry_after_ms`. The header Retry-After contains the same time,
   rounded up to whole seconds. */
enum { HS_RETRY_AFTER_MS = 1000 };

struct hs_problem {
    enum hs_problem_code code; /* HS_PROBLEM_NONE: no problem so far */
    char detail[256];          /* one sentence about the problem; if empty, the title is used */
    unsigned retry_after_ms;   /* used only with the status 429 or 503; 0: HS_RETRY_AFTER_MS */
    size_t count;              /* number of bad fields in `errors` */
    size_t left_out;           /* number of bad fields that are not in `errors` */
    struct {
        char pointer[HS_POINTER_MAX];
        char detail[HS_DETAIL_MAX];
    } errors[HS_PROBLEM_MAX];
};

/* Resets the struct to "no problem so far". This is faster than clearing the whole struct. */
void hs_problem_init(struct hs_problem *problem);

/* Sets the code and the detail. Does nothing if a code is already set. */
void hs_problem_set(struct hs_problem *problem, enum hs_problem_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records a bad field. If no code is set yet, sets the code INVALID_REQUEST. */
void hs_problem_add(struct hs_problem *problem, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns how long the client should wait before it sends the request again, in milliseconds.
   Returns 0 if a retry would not help. */
unsigned hs_problem_retry_after_ms(const struct hs_problem *problem);

int hs_problem_status(enum hs_problem_code code);
const char *hs_problem_name(enum hs_problem_code code);

/* Writes the problem as a JSON document. `instance` is the request id. */
void hs_problem_encode(const struct hs_problem *problem, const char *instance,
                       struct hs_buffer *out);

#endif
