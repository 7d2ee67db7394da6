/*
 * The HTTP server: listeners on libmicrohttpd, header checks, limits, request bodies, calls of the
 * endpoints, and answers.
 */
#ifndef HS_SERVICE_HTTP_H
#define HS_SERVICE_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/http/problem.h"
#include "api/http/routes.h"
#include "api/json/arena.h"
#include "api/json/buffer.h"
#include "service/http/tls.h"

struct hs_service; /* service/service.h: everything that endpoints use */
struct hs_shared_match;
struct hs_subscription;
struct hs_takeover;

/* A request as an endpoint sees it. Everything is borrowed and valid until the endpoint returns. */
struct hs_request {
    enum hs_route route;
    enum hs_listener listener;
    struct hs_route_params params;
    struct hs_str body;
    const char *request_id; /* the caller's X-Request-Id, or a generated one */
    struct hs_arena *arena; /* emptied when the endpoint has returned */
    bool explain;           /* query argument `explain` */
    bool brief;  /* query argument `brief`: leave out plain results (endpoints/brief.h) */
    bool strict; /* query argument `strict`: refuse the whole request if an item is malformed */
    /* A long endpoint stores the current time (hs_clock_us) here now and then, to show that it is
       not stuck. NULL: no watchdog. */
    atomic_llong *alive_us;
    /* the caller's tenant; ptr NULL: the service has no tokens, and resources have no owners */
    struct hs_str tenant;
    struct hs_str kid; /* key name in the caller's token; ptr NULL: the service has no tokens */
    unsigned scopes;   /* the caller's scopes (api/http/routes.h); set only if there are tokens */
    /* Set if the service has asked the store about the match (sharing/takeover.h), otherwise NULL.
       If NULL, the request must not open a match that replicas share. */
    const struct hs_takeover *takeover;
    void *connection; /* for hs_request_query; NULL: there is no connection and so no query */
};

/* An endpoint's answer: a status and a body, or a problem. */
struct hs_reply {
    int status;               /* 200 by default */
    const char *content_type; /* a string literal; "application/json" by default */
    struct hs_buffer body;
    uint64_t work; /* work for the request's claims and shots, in work units (validators/work.h) */
    unsigned shed; /* enum hs_shed_reason, for the problem OVERLOADED */
    struct hs_problem *problem; /* if its code is set, the problem is sent instead of the body */
    const char *static_body;    /* if set, these `static_size` bytes are the body; not copied */
    size_t static_size;
    const char *etag;     /* a string literal; set for files of the console */
    const char *encoding; /* a string literal for Content-Encoding; NULL: none */
    /* if > 0, the reply owns this file descriptor, and the body is the first `file_size` bytes of
       the file */
    int file;
    uint64_t file_size;
    /* if set, one unit of this share is released when the request is completed */
    struct hs_share *share;
    /* If not 0, the answer waits until the evidence store has written everything up to this mark.
       `evidence_done`: result of hs_evidence_done before the request. */
    uint64_t evidence_mark, evidence_done;
    /* If set, the answer waits until the payments of this match are in the store; a reference. */
    struct hs_shared_match *shared;
    struct hs_subscription *events; /* if set, the answer is a stream of these events */
};

typedef void hs_endpoint(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply);

/* Indexed by enum hs_route (service/endpoints/table.c). */
extern hs_endpoint *const hs_endpoints[HS_ROUTE_COUNT];

/* Returns the value of a query argument, "" for `?name` without a value, or NULL if the argument is
   absent. */
const char *hs_request_query(const struct hs_request *request, const char *name);

/* Returns the value of a header, or NULL. */
const char *hs_request_header(const struct hs_request *request, const char *name);

/* In the first HS_BODY_GRACE_US microseconds after the header, the minimum speed for bodies does
   not apply. */
enum { HS_BODY_GRACE_US = 2000000 };

/* Limits on the threads and connections of one listener. */
struct hs_http_limits {
    unsigned threads;     /* number of workers, at least 1 */
    unsigned connections; /* max open connections */
    unsigned linger;      /* max lingering connections (linger.h) */
};

struct hs_http;

/* Listens on the address in the service's options, and starts the threads that serve connections.
   The connections use TLS if `tls` contains a certificate. `tls` may be freed afterwards. On
   failure returns NULL with a message in `error`. Not thread-safe. */
struct hs_http *hs_http_start(struct hs_service *service, enum hs_listener listener,
                              const struct hs_http_limits *limits, const struct hs_tls *tls,
                              char error[256]);

/* Returns the address on which the server listens, for example "127.0.0.1:8080". */
const char *hs_http_address(const struct hs_http *http);

/* Stops accepting connections, waits up to `wait_ms` until peers have read their answers, closes
   all connections and frees the server. Does nothing for NULL. */
void hs_http_stop(struct hs_http *http, unsigned wait_ms);

#endif
