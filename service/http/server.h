/*
 * The HTTP server: listeners on libmicrohttpd, header checks, limits, the request body, dispatch to
 * the endpoint, and the reply.
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

struct hs_service; /* service/service.h: everything that endpoints may use */
struct hs_shared_match;
struct hs_subscription;
struct hs_takeover;

/* A request as an endpoint sees it. All members are borrowed and valid until the endpoint
   returns. */
struct hs_request {
    enum hs_route route;
    enum hs_listener listener;
    struct hs_route_params params;
    struct hs_str body;
    const char *request_id; /* the caller's X-Request-Id, or a new id */
    struct hs_arena *arena; /* freed after the endpoint returns */
    bool explain;           /* ?explain, ?explain=true */
    bool brief;             /* ?brief, ?brief=true: the answer leaves out plain results
                               (endpoints/brief.h) */
    bool strict;            /* ?strict, ?strict=true: a malformed item refuses the whole request */
    /* A long endpoint sets this member to the current time (hs_clock_us) now and then, to show that
       it does not hang. NULL: no watchdog. */
    atomic_llong *alive_us;
    struct hs_str tenant; /* tenant of the caller; ptr is NULL if the service has no tokens, and
                             resources then have no owners */
    struct hs_str kid;    /* key id of the caller's token; ptr NULL without tenants */
    unsigned scopes; /* the caller's scopes (api/http/routes.h); not set if `tenant` is absent */
    /* Set if the store was asked for the match; the request may then open the match
       (sharing/takeover.h). NULL if the store was not asked. */
    const struct hs_takeover *takeover;
    void *connection; /* for hs_request_query; NULL if there is no connection, and so no query */
};

/* The answer of an endpoint: a body and a status, or a problem. */
struct hs_reply {
    int status;               /* 200 unless set */
    const char *content_type; /* "application/json" unless set; a literal */
    struct hs_buffer body;
    uint64_t work; /* cost of the request's claims and shots, in work units (validators/work.h) */
    unsigned shed; /* enum hs_shed_reason of a problem that is OVERLOADED */
    struct hs_problem *problem; /* if the code of the problem is set, the reply is the problem and
                                   not the body */
    const char *static_body;    /* if set, these `static_size` bytes are sent as the body, without a
                                   copy */
    size_t static_size;
    const char *etag;     /* if set, the reply is a file of the console; a literal */
    const char *encoding; /* Content-Encoding of the body, a literal; NULL: no encoding */
    int file; /* if > 0, the first `file_size` bytes of this descriptor are sent; owned */
    uint64_t file_size;
    struct hs_share *share; /* if set, 1 is released from this share when the reply is sent */
    /* The answer waits until this point of the evidence store is on the disk. 0: the answer does
       not wait. */
    uint64_t evidence_mark;
    /* The answer waits until the store has the payments of this match; a reference. NULL: the
       answer does not wait. */
    struct hs_shared_match *shared;
    struct hs_subscription *events; /* if set, the reply is a stream of these events, without a
                                       body */
};

typedef void hs_endpoint(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply);

/* The endpoints, indexed by enum hs_route (service/endpoints/table.c). */
extern hs_endpoint *const hs_endpoints[HS_ROUTE_COUNT];

/* Returns the value of a query argument, "" for `?name` alone, or NULL if the argument is
   absent. */
const char *hs_request_query(const struct hs_request *request, const char *name);

/* Returns the value of a header, or NULL. */
const char *hs_request_header(const struct hs_request *request, const char *name);

/* Microseconds after the header during which the body may arrive more slowly than required. */
enum { HS_BODY_GRACE_US = 2000000 };

/* The share of one listener in the threads and descriptors of the process. */
struct hs_http_limits {
    unsigned threads;     /* workers, >= 1 */
    unsigned connections; /* max open connections */
    unsigned linger;      /* max lingering connections (linger.h) */
};

struct hs_http;

/* Listens on the address that this listener has in the options of `service`. Threads of the server
   serve the connections, over TLS if `tls` has a certificate. `tls` may be freed afterwards.
   Returns NULL with a sentence in `error` on failure. Call it from one thread. */
struct hs_http *hs_http_start(struct hs_service *service, enum hs_listener listener,
                              const struct hs_http_limits *limits, const struct hs_tls *tls,
                              char error[256]);

/* Returns the bound address as "127.0.0.1:8080". */
const char *hs_http_address(const struct hs_http *http);

/* Stops accepting connections, waits up to `wait_ms` until peers have read their replies, closes
   all connections and frees the server. */
void hs_http_stop(struct hs_http *http, unsigned wait_ms);

#endif
