/* One request on its way: header checks, body, endpoint, reply. Called by the library's threads. */
#include "service/http/http_listener.h"

#include "api/reply.h"
#include "service/access/auth.h"
#include "service/clock.h"
#include "service/watch/metrics.h"
#include "service/options/options.h"
#include "service/serve.h"
#include "service/state/map_store.h"
#include "service/state/share.h"
#include "validators/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

struct apart;

/* Lives from the first handler call to the completion callback, whatever happens in between. */
struct request {
    struct hs_http *http;
    struct hs_http_connection *connection;
    struct hs_headers headers; /* request_id is always set */
    struct hs_auth auth;
    bool authenticated; /* `auth` says */
    struct hs_buffer body;
    struct hs_share *share; /* where the body's bytes were taken, `taken` of them; or NULL */
    size_t taken;
    int64_t start_us;
    int64_t arrived_us; /* when the header had come, before the wait for its turn */
    bool shed;          /* it is not served; its body is read and dropped */
    enum hs_shed_reason why;
    unsigned retry_after_ms; /* 0: as usual */
    struct apart *apart;     /* of one that takes long; else NULL */
};

/*
 * Requests that take long for a worker: a body of this size takes some 20 ms to parse, and this
 * much work takes 10 ms. Requests that come after one that took long are expected to, as well.
 * Smaller bounds send ticks of many players with bones to the other threads, where requests wait
 * for long.
 */
enum { HEAVY_BODY_BYTES = 262144, HEAVY_WORK = 10 * HS_WORK_UNITS_A_MS };

/* A longer body of a request that is not served is not read: the connection ends. */
enum { DROPPED_BODY_MAX = 65536 };

/* After which an endpoint counts as stuck: most take well under a millisecond; a map of 108 MB was
   decoded and built in 8.5 s on a busy machine. */
enum { STUCK_US = 5000000, STUCK_BYTES_A_SECOND = 4 << 20 };

/* Where a request is meant to go, or why it is refused. */
struct target {
    unsigned route; /* HS_METRICS_NO_ROUTE: none */
    struct hs_route_params params;
    struct hs_problem problem;
    bool close; /* the end of the request is in doubt, or its body is left unread */
};

/* A request that a pool runs, and its answer. */
struct apart {
    struct hs_pool_job job; /* the first member: the one is the other */
    struct request *request;
    struct MHD_Connection *connection; /* suspended meanwhile */
    struct hs_pool *pool;
    struct target target;
    struct hs_reply reply;
    int64_t queued_us;
    bool has_run;
};

/* ---- names and headers ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Decodes only what a name may hold. Everything else keeps its `%`, which no name and no route
 * holds: an encoded slash or zero byte never turns one path into another.
 */
size_t hs_http_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        char decoded = low >= 0 ? (char)(high * 16 + low) : '\0';
        if (low >= 0 && hs_name_is_valid((struct hs_str){&decoded, 1})) {
            *to++ = decoded;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

static struct hs_http_connection *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

void *hs_http_note_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    struct hs_http_connection *peer = peer_of(connection);
    if (peer != NULL)
        hs_request_target_note(&peer->target, uri);
    return NULL; /* the request begins with the first call of hs_http_handle */
}

static void put_hex(uint64_t number, char *out)
{
    for (int i = 15; i >= 0; i--, number >>= 4)
        out[i] = "0123456789abcdef"[number & 15];
}

static void make_request_id(struct hs_http_worker *worker, char id[HS_REQUEST_ID_MAX + 1])
{
    put_hex(worker->process, id);
    put_hex(worker->ids++, id + 16);
    id[32] = '\0';
}

const char *hs_request_query(const struct hs_request *request, const char *name)
{
    const char *value = NULL;
    size_t size = 0;
    if (request->connection == NULL)
        return NULL;
    if (MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
                                      strlen(name), &value, &size) != MHD_YES)
        return NULL;
    return value == NULL ? "" : value;
}

/* ---- where to ---- */

static bool takes_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0;
}

static enum hs_route_match find_route(const struct request *request, const char *method,
                                      const char *url, struct target *target)
{
    enum hs_route route;
    enum hs_route_match match =
        hs_route_find(request->http->listener, method, url, &route, &target->params);
    bool known = match == HS_ROUTE_FOUND || match == HS_ROUTE_BAD_NAME;
    target->route = known ? (unsigned)route : HS_METRICS_NO_ROUTE;
    return match;
}

static void refuse_route(enum hs_route_match match, struct target *target)
{
    if (match == HS_ROUTE_UNKNOWN)
        hs_problem_set(&target->problem, HS_PROBLEM_UNKNOWN_ROUTE, "There is nothing at this path");
    else if (match == HS_ROUTE_BAD_METHOD)
        hs_problem_set(&target->problem, HS_PROBLEM_METHOD_NOT_ALLOWED, "Allowed here: %s",
                       target->params.allow);
    else if (match == HS_ROUTE_BAD_NAME)
        hs_problem_set(&target->problem, HS_PROBLEM_INVALID_REQUEST,
                       "A name in the path is not 1 to %d of [A-Za-z0-9_.:-]", HS_NAME_MAX);
}

/* The value of the Authorization header; with two of them the request is refused anyway. */
static struct hs_str authorization(struct MHD_Connection *connection)
{
    struct hs_str value = {0};
    if (MHD_lookup_connection_value_n(connection, MHD_HEADER_KIND, "Authorization", 13, &value.ptr,
                                      &value.len) != MHD_YES)
        return (struct hs_str){0};
    return value.ptr == NULL ? HS_STR("") : value;
}

/* Asks, once a request, who the caller is and what he may do. */
static void authenticate(struct request *request, struct MHD_Connection *connection,
                         struct target *target)
{
    enum hs_route route = (enum hs_route)target->route;
    if (!request->authenticated) {
        struct hs_service *service = request->http->service;
        request->authenticated = true;
        hs_auth_check(service, route, &target->params, authorization(connection), &request->auth);
        if (request->auth.failure != HS_AUTH_FINE && !request->auth.hidden)
            hs_metrics_auth_failure(service->metrics, request->auth.failure);
    }
    hs_auth_refuse(&request->auth, route, &target->problem);
}

static struct hs_str tenant_of(const struct request *request)
{
    return hs_name_str(&request->auth.identity.tenant);
}

/* Maps have a share of their own: a map that arrives is part of a map under construction. */
static struct hs_share *share_of(const struct request *request, unsigned route)
{
    const struct hs_service *service = request->http->service;
    return route == HS_ROUTE_MAP_PUT ? hs_map_store_share(service->maps) : service->bodies;
}

static size_t largest_body(const struct request *request, unsigned route)
{
    const struct hs_http_limits *limits = &request->http->limits;
    size_t limit = route == HS_ROUTE_MAP_PUT ? limits->map_body_bytes : limits->body_bytes;
    size_t most = hs_share_most(share_of(request, route), tenant_of(request));
    return limit < most ? limit : most;
}

static void examine(struct request *request, struct MHD_Connection *connection, const char *method,
                    const char *url, struct target *target)
{
    const struct hs_headers *headers = &request->headers;
    bool body = takes_body(method);
    hs_problem_init(&target->problem);
    hs_headers_check_framing(headers, body, &target->problem);
    if (request->connection->target.has_long_query)
        hs_problem_set(&target->problem, HS_PROBLEM_INVALID_REQUEST,
                       "A query has at most %d arguments and %d bytes", HS_QUERY_ARGUMENTS,
                       HS_QUERY_BYTES);
    target->close = target->problem.code != HS_PROBLEM_NONE;
    enum hs_route_match match = find_route(request, method, url, target);
    if (target->route != HS_METRICS_NO_ROUTE)
        authenticate(request, connection, target);
    refuse_route(match, target);
    hs_headers_check_content(headers, body, largest_body(request, target->route), &target->problem);
    if (target->problem.code != HS_PROBLEM_NONE && hs_headers_body_follows(headers))
        target->close = true;
}

/* For a request that will be refused whatever it says: as little as that takes. */
static void only_name(const struct request *request, struct target *target)
{
    hs_problem_init(&target->problem);
    target->route = request->connection->caller.route;
    target->params = (struct hs_route_params){0};
    target->close = false;
}

/* ---- whether it is served ---- */

static void shed(struct request *request, enum hs_shed_reason why)
{
    request->shed = true;
    request->why = why;
    hs_metrics_shed(request->http->service->metrics, why);
}

static void refuse_shed(const struct request *request, struct target *target)
{
    const struct hs_options *options = request->http->service->options;
    switch (request->why) {
    case HS_SHED_QUEUE:
        hs_problem_set(&target->problem, HS_PROBLEM_OVERLOADED,
                       "There is more to do than can be done, and this has waited too long");
        break;
    case HS_SHED_DEADLINE:
        hs_problem_set(&target->problem, HS_PROBLEM_OVERLOADED,
                       "Its X-Deadline-Ms passed before its turn came");
        break;
    case HS_SHED_RATE:
        hs_problem_set(&target->problem, HS_PROBLEM_RATE_LIMITED,
                       "A tenant may send %zu requests a second", options->tenant_rate);
        target->problem.retry_after_ms = request->retry_after_ms;
        break;
    case HS_SHED_CONNECTIONS:
        hs_problem_set(&target->problem, HS_PROBLEM_OVERLOADED,
                       "This tenant holds as many of the %zu connections as they may",
                       hs_share_limit(request->http->connections));
        break;
    default:
        hs_problem_set(&target->problem, HS_PROBLEM_OVERLOADED,
                       "The body has %zu bytes, and %zu are left for it of %s",
                       request->headers.length,
                       hs_share_left(share_of(request, target->route), tenant_of(request)),
                       target->route == HS_ROUTE_MAP_PUT ? "map-bytes" : "inflight-body-bytes");
        break;
    }
}

/*
 * Looks at how long the request has waited. Asked when its header has come and, where the body
 * came later, when that is there.
 */
static void judge_wait(struct request *request, enum hs_priority priority, int64_t waited_us,
                       int64_t now_us)
{
    const struct hs_headers *headers = &request->headers;
    bool has_turn = hs_gate_admit(&request->connection->worker->gate, priority,
                                  request->http->limits.queue_us, waited_us, now_us);
    if (priority == HS_PRIORITY_VITAL || request->shed)
        return;
    if (headers->deadlines > 0 &&
        now_us - request->arrived_us >= (int64_t)headers->deadline_ms * 1000)
        shed(request, HS_SHED_DEADLINE);
    else if (!has_turn)
        shed(request, HS_SHED_QUEUE);
}

/* Charges the tenant with the connection their request came over. Of those of a balancer the newest
   request's tenant is charged. False: they hold as many as they may. */
static bool charge_connection(const struct request *request)
{
    struct hs_http_connection *peer = request->connection;
    struct hs_share *share = request->http->connections;
    struct hs_str tenant = tenant_of(request), before = hs_name_str(&peer->tenant);
    if (tenant.len == 0 || hs_str_equal(tenant, before))
        return true;
    if (!hs_share_take(share, tenant, 1))
        return false;
    if (before.len > 0)
        hs_share_give(share, before, 1);
    hs_name_set(&peer->tenant, tenant);
    return true;
}

/* Takes the whole body's bytes before any of them is read. */
static void take_body(struct request *request, unsigned route)
{
    struct hs_share *share = share_of(request, route);
    size_t length = request->headers.length;
    if (!hs_share_take(share, tenant_of(request), length)) {
        shed(request, HS_SHED_BODIES);
        return;
    }
    request->share = share;
    request->taken = length;
}

/* On the first call, with everything else about the header in order. */
static void admit(struct request *request, struct target *target)
{
    struct hs_service *service = request->http->service;
    enum hs_priority priority = hs_priority_of((enum hs_route)target->route);
    judge_wait(request, priority, request->start_us - request->arrived_us, request->start_us);
    if (!request->shed && service->rates != NULL && priority != HS_PRIORITY_VITAL) {
        request->retry_after_ms =
            hs_tenant_rates_take(service->rates, tenant_of(request), hs_clock_ns());
        if (request->retry_after_ms > 0)
            shed(request, HS_SHED_RATE);
    }
    if (!request->shed && request->headers.length > 0)
        take_body(request, target->route);
    if (request->shed && request->headers.length > DROPPED_BODY_MAX) {
        refuse_shed(request, target);
        target->close = true;
    }
}

/* The body is there. Where it came with the header, or just after it, all has been said. */
static void admit_again(struct request *request, const struct target *target)
{
    enum { JUST_AFTER_US = 1000 };
    int64_t now_us = hs_clock_us();
    if (now_us - request->start_us > JUST_AFTER_US)
        judge_wait(request, hs_priority_of((enum hs_route)target->route),
                   hs_socket_waited_us(request->connection->fd), now_us);
}

/* ---- replies ---- */

/* A shorter answer counts as part of its connection. */
enum { LONG_ANSWER = 16384 };

/* A long answer that its peer does not read is memory as well: it is charged like a body, until it
   has been sent. */
static void charge_answer(struct request *request, const struct target *target,
                          struct hs_reply *reply)
{
    struct hs_share *share = request->http->service->bodies;
    size_t bytes = reply->body.capacity;
    if (reply->problem->code != HS_PROBLEM_NONE || bytes <= LONG_ANSWER || request->share != NULL ||
        hs_priority_of((enum hs_route)target->route) == HS_PRIORITY_VITAL)
        return;
    if (hs_share_take(share, tenant_of(request), bytes)) {
        request->share = share;
        request->taken = bytes;
        return;
    }
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED,
                   "The answer has %zu bytes, and %zu are left for it of inflight-body-bytes",
                   bytes, hs_share_left(share, tenant_of(request)));
    hs_metrics_shed(request->http->service->metrics, HS_SHED_BODIES);
}

static enum MHD_Result send_reply(struct request *request, const struct target *target,
                                  struct MHD_Connection *connection, struct hs_reply *reply)
{
    struct hs_http *http = request->http;
    struct hs_service *service = http->service;
    char challenge[192];
    struct hs_reply_headers headers = {
        .request_id = request->headers.request_id,
        .allow = target->params.allow,
        .close = target->close || atomic_load(&http->closing) || atomic_load(&service->draining),
    };
    charge_answer(request, target, reply);
    if (reply->problem->code != HS_PROBLEM_NONE)
        reply->status = hs_problem_status(reply->problem->code);
    if (reply->status == 401 || reply->status == 403)
        headers.challenge =
            hs_auth_challenge(&request->auth, (enum hs_route)target->route, challenge);
    int64_t duration_us = hs_clock_us() - request->start_us;
    hs_metrics_http(service->metrics, target->route, reply->status, (double)duration_us * 1e-6);
    hs_http_log_request(http, &request->connection->caller, reply->problem, reply->status,
                        duration_us);
    bool fine;
    if (reply->problem->code != HS_PROBLEM_NONE)
        fine = hs_reply_problem(connection, reply->problem, &headers);
    else if (reply->static_body != NULL)
        fine = hs_reply_static(connection, reply->status, reply->content_type, reply->static_body,
                               reply->static_size, &headers);
    else
        fine =
            hs_reply_buffer(connection, reply->status, reply->content_type, &reply->body, &headers);
    hs_buffer_free(&reply->body);
    return fine ? MHD_YES : MHD_NO;
}

static enum MHD_Result refuse(struct request *request, struct target *target,
                              struct MHD_Connection *connection)
{
    struct hs_reply reply = {.problem = &target->problem};
    return send_reply(request, target, connection, &reply);
}

/* ---- the handler calls, in order ---- */

static void drop_body(struct request *request)
{
    hs_buffer_free(&request->body);
    if (request->share != NULL)
        hs_share_give(request->share, tenant_of(request), request->taken);
    request->share = NULL;
}

static enum MHD_Result begin(struct hs_http *http, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             void **context)
{
    struct hs_http_connection *peer = peer_of(connection);
    struct request *request = peer == NULL ? NULL : calloc(1, sizeof *request);
    if (request == NULL)
        return MHD_NO;
    *context = request;
    request->http = http;
    request->connection = peer;
    request->start_us = hs_clock_us();
    int64_t waited_us = hs_socket_waited_us(peer->fd);
    request->arrived_us = request->start_us - waited_us;
    hs_metrics_wait(http->service->metrics, (double)waited_us * 1e-6);
    request->auth.failure = HS_AUTH_FINE;
    atomic_fetch_add(&http->in_flight, 1);
    hs_metrics_inflight(http->service->metrics, 1);

    struct hs_header_block block;
    hs_header_block_begin(&block, method, url, &peer->target, version);
    hs_header_block_collect(&block, connection, method, &request->headers);
    if (request->headers.request_id[0] == '\0')
        make_request_id(peer->worker, request->headers.request_id);
    struct target target;
    examine(request, connection, method, url, &target);
    if (!charge_connection(request)) {
        hs_problem_init(&target.problem);
        shed(request, HS_SHED_CONNECTIONS);
        refuse_shed(request, &target);
        target.close = true;
    } else if (target.problem.code == HS_PROBLEM_NONE) {
        admit(request, &target);
    }
    hs_http_caller_set(&peer->caller, target.route, &target.params, &request->headers,
                       &request->auth.identity.tenant);
    atomic_store(&peer->stuck_us,
                 STUCK_US + (int64_t)(request->headers.length / STUCK_BYTES_A_SECOND) * 1000000);
    atomic_store(&peer->body_length, request->headers.length);
    atomic_store(&peer->body_received, 0);
    if (!hs_http_advance(peer, HS_HTTP_IDLE, HS_HTTP_BODY))
        return MHD_NO;
    if (!target.close)
        return MHD_YES;
    /* A reply to the first call ends the connection: what follows is never looked at. */
    peer->is_cut_short = true;
    return hs_http_advance(peer, HS_HTTP_BODY, HS_HTTP_REPLY) ? refuse(request, &target, connection)
                                                              : MHD_NO;
}

static enum MHD_Result receive(struct request *request, const char *bytes, size_t size)
{
    if (atomic_load(&request->connection->watched->phase) != HS_HTTP_BODY)
        return MHD_NO;
    atomic_fetch_add(&request->connection->body_received, size);
    if (request->shed)
        return MHD_YES;
    /* All of it at once: what was taken is what is used. */
    if (request->body.data == NULL) {
        request->body.data = malloc(request->headers.length);
        request->body.capacity = request->body.data != NULL ? request->headers.length : 0;
    }
    if (size > request->body.capacity - request->body.len) {
        shed(request, HS_SHED_BODIES);
        drop_body(request);
        return MHD_YES;
    }
    hs_buffer_append(&request->body, bytes, size);
    return MHD_YES;
}

static void run_endpoint(struct request *request, struct target *target,
                         struct MHD_Connection *connection, struct hs_reply *reply)
{
    struct hs_http *http = request->http;
    struct hs_arena arena = {0};
    struct hs_request view = {
        .route = (enum hs_route)target->route,
        .listener = http->listener,
        .params = target->params,
        .body = {request->body.len > 0 ? request->body.data : "", request->body.len},
        .request_id = request->headers.request_id,
        .arena = &arena,
        .alive_us = &request->connection->watched->since_us,
        .connection = connection,
        .scopes = request->auth.identity.scopes,
    };
    if (http->service->keyring != NULL)
        view.tenant = tenant_of(request);
    const char *explain = hs_request_query(&view, "explain");
    view.explain = explain != NULL && strcmp(explain, "0") != 0;
    hs_endpoints[target->route](http->service, &view, reply);
    hs_arena_free(&arena);
    drop_body(request);
    if (reply->problem->code == HS_PROBLEM_NONE && reply->body.failed)
        hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "No memory is left for the answer");
    if (reply->problem->code == HS_PROBLEM_OVERLOADED)
        hs_metrics_shed(http->service->metrics, (enum hs_shed_reason)reply->shed);
}

/* ---- requests that take long ---- */

/* Maps and rulesets are built one after the other, at a lower priority. */
static struct hs_pool *builder_of(const struct hs_service *service, unsigned route)
{
    return route == HS_ROUTE_MAP_PUT       ? service->map_builder
           : route == HS_ROUTE_RULESET_PUT ? service->ruleset_builder
                                           : NULL;
}

/* The pool a request belongs to; NULL: its worker runs it. */
static struct hs_pool *pool_of(const struct request *request, const struct target *target)
{
    struct hs_pool *builder = builder_of(request->http->service, target->route);
    bool is_heavy = request->body.len > HEAVY_BODY_BYTES ||
                    (request->connection->is_dear && request->body.len > 0);
    if (target->problem.code != HS_PROBLEM_NONE || request->shed)
        return NULL;
    return builder != NULL ? builder : is_heavy ? request->http->heavy : NULL;
}

/* Beyond its deadline, or as in a worker's queue that passes (admission.h). */
static void shed_if_late(struct request *request, const struct apart *apart)
{
    const struct hs_headers *headers = &request->headers;
    int64_t now_us = hs_clock_us(), queue_us = request->http->limits.queue_us;
    if (headers->deadlines > 0 &&
        now_us - request->arrived_us >= (int64_t)headers->deadline_ms * 1000)
        shed(request, HS_SHED_DEADLINE);
    else if (queue_us > 0 && apart->pool == request->http->heavy &&
             now_us - apart->queued_us > 10 * queue_us)
        shed(request, HS_SHED_QUEUE);
}

static void run_apart(struct hs_pool_job *job)
{
    struct apart *apart = (struct apart *)job;
    struct request *request = apart->request;
    hs_http_advance(request->connection, HS_HTTP_QUEUED, HS_HTTP_ENDPOINT);
    shed_if_late(request, apart);
    if (request->shed)
        refuse_shed(request, &apart->target);
    else
        run_endpoint(request, &apart->target, apart->connection, &apart->reply);
    apart->has_run = true;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED);
}

/* From here on the job is the worker's: it resumes the connection (hs_http_resume), which ends with
   finish_apart, or closes it. */
static void done_apart(struct hs_pool_job *job)
{
    struct apart *apart = (struct apart *)job;
    struct hs_http_worker *worker = apart->request->connection->worker;
    job->next = atomic_load(&worker->done);
    while (!atomic_compare_exchange_weak(&worker->done, &job->next, job)) {
    }
    eventfd_write(worker->wake, 1);
}

void hs_http_resume(struct hs_http_worker *worker)
{
    struct hs_pool_job *done = atomic_exchange(&worker->done, NULL);
    while (done != NULL) {
        struct hs_pool_job *next = done->next; /* the job ends with its request */
        MHD_resume_connection(((struct apart *)done)->connection);
        done = next;
    }
}

/* False: memory is out. */
static bool begin_apart(struct request *request, const struct target *target,
                        struct MHD_Connection *connection, struct hs_pool *pool)
{
    struct apart *apart = malloc(sizeof *apart);
    if (apart == NULL)
        return false;
    *apart = (struct apart){.job = {.owner = request->http,
                                    .tenant = tenant_of(request),
                                    .run = run_apart,
                                    .done = done_apart},
                            .request = request,
                            .connection = connection,
                            .pool = pool,
                            .target = *target,
                            .reply = {.status = 200, .content_type = "application/json"},
                            .queued_us = hs_clock_us()};
    apart->reply.problem = &apart->target.problem;
    request->apart = apart;
    atomic_store(&request->connection->builder, pool == request->http->heavy ? NULL : pool);
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED);
    MHD_suspend_connection(connection);
    hs_pool_submit(pool, &apart->job);
    return true;
}

static enum MHD_Result finish_apart(struct request *request, struct MHD_Connection *connection)
{
    struct apart *apart = request->apart;
    if (!apart->has_run) {
        request->why = HS_SHED_CAPACITY;
        hs_problem_set(&apart->target.problem, HS_PROBLEM_OVERLOADED, "The service ends");
    }
    atomic_store(&request->connection->builder, NULL);
    request->connection->is_dear = apart->reply.work > HEAVY_WORK;
    hs_http_advance(request->connection, HS_HTTP_QUEUED, HS_HTTP_REPLY);
    return send_reply(request, &apart->target, connection, &apart->reply);
}

static enum MHD_Result finish(struct request *request, struct MHD_Connection *connection,
                              const char *url, const char *method)
{
    if (request->apart != NULL)
        return finish_apart(request, connection);
    struct target target;
    struct hs_reply reply = {
        .status = 200, .content_type = "application/json", .problem = &target.problem};
    if (!hs_http_advance(request->connection, HS_HTTP_BODY, HS_HTTP_ENDPOINT))
        return MHD_NO;
    /* What was wrong with it was found on the first call; a body to be read was let in then. */
    if (request->shed)
        only_name(request, &target);
    else
        examine(request, connection, method, url, &target);
    if (target.problem.code == HS_PROBLEM_NONE)
        admit_again(request, &target);
    if (target.problem.code == HS_PROBLEM_NONE && request->shed)
        refuse_shed(request, &target);
    struct hs_pool *pool = pool_of(request, &target);
    if (pool != NULL && begin_apart(request, &target, connection, pool))
        return MHD_YES;
    if (target.problem.code == HS_PROBLEM_NONE)
        run_endpoint(request, &target, connection, &reply);
    request->connection->is_dear = reply.work > HEAVY_WORK;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_REPLY);
    return send_reply(request, &target, connection, &reply);
}

enum MHD_Result hs_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request)
{
    const struct hs_http_worker *worker = context;
    if (*request == NULL)
        return begin(worker->http, connection, url, method, version, request);
    /* Without a body, but with `Expect: 100-continue` and another request behind it, the library
       comes with no bytes before it comes without any: too early for an answer. */
    if (upload != NULL) {
        enum MHD_Result result =
            *upload_size > 0 ? receive(*request, upload, *upload_size) : MHD_YES;
        *upload_size = 0;
        return result;
    }
    return finish(*request, connection, url, method);
}

void hs_http_completed(void *context, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    const struct hs_http_worker *worker = context;
    struct hs_http *http = worker->http;
    struct request *ended = *request;
    *request = NULL;
    if (ended == NULL)
        return;
    /* Back to the wait for the next header, unless the watchdog ended it or it broke off. */
    hs_http_advance(ended->connection, HS_HTTP_REPLY, HS_HTTP_IDLE);
    drop_body(ended);
    if (ended->apart != NULL)
        hs_buffer_free(&ended->apart->reply.body);
    free(ended->apart);
    free(ended);
    hs_metrics_inflight(http->service->metrics, -1);
    atomic_fetch_sub(&http->in_flight, 1);
}
