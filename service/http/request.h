/*
 * The state and functions of one request, for request.c (calls of the library, in order), target.c
 * (routing and admission), reply.c (endpoint and reply) and apart.c (long requests). All functions
 * run in the thread of the request's worker, or in a pool's thread while the connection is
 * suspended.
 */
#ifndef HS_SERVICE_HTTP_REQUEST_H
#define HS_SERVICE_HTTP_REQUEST_H

#include "service/access/auth.h"
#include "service/http/listener.h"
#include "service/state/share.h"
#include "service/watch/metrics.h"
#include "validators/work.h"

struct hs_http_apart;
struct hs_http_stream;

/* A request, which always lives from the first handler call to the completion callback. */
struct hs_http_request {
    struct hs_http *http;
    struct hs_http_connection *connection;
    struct hs_headers headers; /* request_id is always set */
    struct hs_auth auth;
    struct hs_buffer body;
    struct hs_buffer answer; /* the library sends these bytes until the request is completed */
    /* The share in which `reserved` bytes are reserved for the body, or NULL. */
    struct hs_share *share;
    size_t reserved;
    int64_t start_us;
    int64_t arrived_us; /* when the header arrived, before the wait in the socket */
    bool shed;          /* the request is refused; its body is read and dropped */
    enum hs_shed_reason why;
    unsigned retry_after_ms;            /* wait before a retry, for the reply; 0: the default */
    struct hs_http_apart *apart;        /* set if a pool runs the request, otherwise NULL */
    const struct hs_takeover *takeover; /* see struct hs_request */
    struct hs_http_stream *stream;      /* set if the reply is a stream, otherwise NULL */
    unsigned route;                     /* HS_METRICS_NO_ROUTE: no route */
    bool close; /* the connection must close: the end of the request is unknown,
                   or its body stays unread */
    struct hs_route_params params;
    struct hs_problem problem; /* last member: most of its bytes stay uninitialized */
};

/* After a request with more work than this (10 ms), the next request of the connection is expected
   to be long too. */
enum { HS_HTTP_HEAVY_WORK = 10 * HS_WORK_UNITS_A_MS };

/* ---- target.c ---- */

struct hs_str hs_http_tenant_of(const struct hs_http_request *request);

/* Returns the value of the Authorization header, or ptr NULL if the header is missing. */
struct hs_str hs_http_authorization(struct MHD_Connection *connection);

/* Finds the route, the caller and all problems of the request. Call it once, when the header has
   arrived; `url` stays valid until the request is completed. */
void hs_http_examine(struct hs_http_request *request, struct MHD_Connection *connection,
                     const char *method, const char *url);

/* Marks a request as not served and counts it; hs_http_refuse_shed sets the problem of the
   answer. */
void hs_http_shed(struct hs_http_request *request, enum hs_shed_reason why);
void hs_http_refuse_shed(struct hs_http_request *request);

/* Charges the connection to the tenant of its newest request. Returns false if that tenant has too
   many connections. */
bool hs_http_charge_connection(const struct hs_http_request *request);

/* Decide whether to serve a request, after its header and again after its body. */
void hs_http_admit(struct hs_http_request *request);
void hs_http_admit_again(struct hs_http_request *request, int64_t now_us);

/* ---- reply.c ---- */

/* Drops the body and releases its reserved bytes. */
void hs_http_drop_body(struct hs_http_request *request);
/* Run the endpoint and send the reply. The problem of the reply is the problem of the request. */
void hs_http_run_endpoint(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_reply *reply);
enum MHD_Result hs_http_send_reply(struct hs_http_request *request,
                                   struct MHD_Connection *connection, struct hs_reply *reply,
                                   int64_t now_us);

/* ---- apart.c ---- */

/* Returns whether the endpoint of a route reads the evidence store. Such a read can take longer
   than requests of game servers may wait. */
bool hs_http_reads_evidence(unsigned route);

/* Returns the pool that runs a request, or NULL if its worker runs it. */
struct hs_pool *hs_http_pool_of(const struct hs_http_request *request);
/* Lets a pool run the endpoint; the worker finishes the request later. Returns false if memory runs
   out. */
bool hs_http_begin_apart(struct hs_http_request *request, struct MHD_Connection *connection,
                         struct hs_pool *pool);
/* Returns whether an answer waits for its evidence_mark or for the payments of `shared`. */
bool hs_http_must_wait(const struct hs_reply *reply);
/* Delays an answer for which hs_http_must_wait is true; the worker finishes the request later.
   Takes ownership of the reply. Returns false if memory runs out. */
bool hs_http_begin_wait(struct hs_http_request *request, struct MHD_Connection *connection,
                        struct hs_reply *reply);
enum MHD_Result hs_http_finish_apart(struct hs_http_request *request,
                                     struct MHD_Connection *connection);
void hs_http_free_apart(struct hs_http_apart *apart); /* does nothing for NULL */

#endif
