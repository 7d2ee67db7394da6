/*
 * One request: its state and its functions in request.c (the library's calls), target.c (routing
 * and admission), reply.c (endpoint and answer) and apart.c (long requests). All functions run in
 * the worker's thread, or in a pool's thread while the connection is suspended.
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

/* A request. A request lives from the library's first handler call for the request to the
   completion callback. */
struct hs_http_request {
    struct hs_http *http;
    struct hs_http_connection *connection;
    struct hs_headers headers; /* `request_id` is always set */
    struct hs_auth auth;
    struct hs_buffer body;
    struct hs_buffer answer; /* the library may send these bytes until the request is completed */
    /* the share in which `reserved` bytes or items are reserved, or NULL */
    struct hs_share *share;
    size_t reserved;
    int64_t start_us;
    int64_t arrived_us; /* when the header arrived in the socket */
    bool shed;          /* the request is refused; its body is read and discarded */
    enum hs_shed_reason why;
    unsigned retry_after_ms;            /* for the answer; 0: the default */
    struct hs_http_apart *apart;        /* set once the connection was suspended, otherwise NULL */
    const struct hs_takeover *takeover; /* see struct hs_request in server.h */
    struct hs_http_stream *stream;      /* set if the answer is a stream, otherwise NULL */
    unsigned route;
    /* the connection must close: the end of the request is unknown, or its body is not read */
    bool close;
    struct hs_route_params params;
    struct hs_problem problem; /* must be last: most of it is not zeroed */
};

/* If a request needed more work than HS_HTTP_HEAVY_WORK (10 ms), the connection's next request is
   expected to take a long time, too. */
enum { HS_HTTP_HEAVY_WORK = 10 * HS_WORK_UNITS_A_MS };

/* ---- target.c ---- */

struct hs_str hs_http_tenant_of(const struct hs_http_request *request);

/* Returns the value of the Authorization header. The ptr of the value is NULL if the header is
   missing. */
struct hs_str hs_http_authorization(struct MHD_Connection *connection);

/* Finds the route and the caller, and checks everything that can be checked without the body.
   Called once, when the header has arrived. `url` must stay valid until the request is
   completed. */
void hs_http_examine(struct hs_http_request *request, struct MHD_Connection *connection,
                     const char *method, const char *url);

/* hs_http_shed marks a request as refused and counts it; hs_http_refuse_shed sets the problem for
   its answer. */
void hs_http_shed(struct hs_http_request *request, enum hs_shed_reason why);
void hs_http_refuse_shed(struct hs_http_request *request);

/* Charges the connection to the tenant of its newest request. Returns false if this tenant has too
   many connections. */
bool hs_http_charge_connection(const struct hs_http_request *request);

/* These functions decide whether to serve a request. hs_http_admit is called after the header, and
   hs_http_admit_again is called after the body. */
void hs_http_admit(struct hs_http_request *request);
void hs_http_admit_again(struct hs_http_request *request, int64_t now_us);

/* ---- reply.c ---- */

/* Frees the body and releases the reservation for the body. */
void hs_http_drop_body(struct hs_http_request *request);
/* These functions run the endpoint and send the answer. reply->problem must point to the request's
   problem. */
void hs_http_run_endpoint(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_reply *reply);
enum MHD_Result hs_http_send_reply(struct hs_http_request *request,
                                   struct MHD_Connection *connection, struct hs_reply *reply,
                                   int64_t now_us);

/* ---- apart.c ---- */

/* Returns whether a route reads the evidence store. Requests for such a route can take a long time,
   and requests from game servers must not wait behind them. */
bool hs_http_reads_evidence(unsigned route);

/* Returns the pool that must run the request, or NULL if the worker runs it. */
struct hs_pool *hs_http_pool_of(const struct hs_http_request *request);
/* Suspends the connection and submits the request to a pool; the worker sends the answer later.
   Returns false if memory runs out. */
bool hs_http_begin_apart(struct hs_http_request *request, struct MHD_Connection *connection,
                         struct hs_pool *pool);
/* Returns whether the answer must wait until evidence or payments are stored. */
bool hs_http_must_wait(const struct hs_reply *reply);
/* Suspends the connection until the answer may be sent. Called only for an answer that must wait
   (hs_http_must_wait). Takes ownership of the answer. Returns false if memory runs out. */
bool hs_http_begin_wait(struct hs_http_request *request, struct MHD_Connection *connection,
                        struct hs_reply *reply);
enum MHD_Result hs_http_finish_apart(struct hs_http_request *request,
                                     struct MHD_Connection *connection);
void hs_http_free_apart(struct hs_http_apart *apart); /* does nothing for NULL */

#endif
