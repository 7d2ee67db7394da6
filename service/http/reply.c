/* Runs the endpoint of a request and sends its answer, in a worker's or a pool's thread. */
#include "service/http/request.h"

#include "api/http/reply.h"
#include "service/http/stream.h"
#include "service/service.h"
#include "service/system/clock.h"

#include <string.h>
#include <unistd.h>

static const char *look_up(const struct hs_request *request, enum MHD_ValueKind kind,
                           const char *name)
{
    const char *value = NULL;
    size_t size = 0;
    if (request->connection == NULL)
        return NULL;
    if (MHD_lookup_connection_value_n(request->connection, kind, name, strlen(name), &value,
                                      &size) != MHD_YES)
        return NULL;
    return value == NULL ? "" : value;
}

const char *hs_request_query(const struct hs_request *request, const char *name)
{
    return look_up(request, MHD_GET_ARGUMENT_KIND, name);
}

const char *hs_request_header(const struct hs_request *request, const char *name)
{
    return look_up(request, MHD_HEADER_KIND, name);
}

/* Smaller answers are not charged to a tenant; they count as part of the connection. */
enum { LONG_ANSWER = HS_KEPT_ANSWER };

/* Charges a long answer to the tenant, because the answer stays in memory until the peer has read
   it. */
static void charge_answer(struct hs_http_request *request, struct hs_reply *reply)
{
    struct hs_share *share = request->http->service->bodies;
    size_t bytes = reply->body.capacity;
    if (reply->problem->code != HS_PROBLEM_NONE || bytes <= LONG_ANSWER || request->share != NULL ||
        hs_route_priority((enum hs_route)request->route) == HS_PRIORITY_VITAL)
        return;
    if (hs_share_reserve(share, hs_http_tenant_of(request), bytes)) {
        request->share = share;
        request->reserved = bytes;
        return;
    }
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED,
                   "The answer has %zu bytes, and inflight-body-bytes has only %zu left", bytes,
                   hs_share_left(share, hs_http_tenant_of(request)));
    hs_metrics_add(request->http->service->metrics, HS_METRIC_SHED, HS_SHED_BODIES, 1);
}

enum MHD_Result hs_http_send_reply(struct hs_http_request *request,
                                   struct MHD_Connection *connection, struct hs_reply *reply,
                                   int64_t now_us)
{
    struct hs_http *http = request->http;
    struct hs_service *service = http->service;
    char challenge[192];
    struct hs_reply_headers headers = {
        .request_id = request->headers.request_id,
        .allow = request->params.allow,
        .etag = reply->etag,
        .encoding = reply->encoding,
        .close = request->close || atomic_load(&http->closing) || atomic_load(&service->draining),
    };
    if (reply->share != NULL) {
        request->share = reply->share;
        request->reserved = 1;
        reply->share = NULL;
    }
    charge_answer(request, reply);
    if (reply->problem->code != HS_PROBLEM_NONE) {
        reply->status = hs_problem_status(reply->problem->code);
        headers.etag = NULL;
    }
    if (reply->status == 401 || reply->status == 403)
        headers.challenge =
            hs_auth_challenge(&request->auth, (enum hs_route)request->route, challenge);
    int64_t duration_us = now_us - request->start_us;
    hs_gate_answered(&request->connection->worker->gate,
                     hs_route_priority((enum hs_route)request->route), now_us);
    hs_metrics_http(service->metrics, request->route, reply->status, (double)duration_us * 1e-6);
    hs_http_log_request(http, &request->connection->caller, reply->problem, reply->status,
                        duration_us);
    bool has_problem = reply->problem->code != HS_PROBLEM_NONE;
    request->answer = reply->body;
    reply->body = (struct hs_buffer){0};
    if (reply->events != NULL)
        return hs_http_stream_begin(request, connection, reply->events, &headers) ? MHD_YES
                                                                                  : MHD_NO;
    if (has_problem && request->answer.capacity > LONG_ANSWER)
        /* An answer with a problem is not charged to a tenant, so the answer must not keep a large
           buffer. */
        hs_buffer_free(&request->answer);
    if (request->answer.capacity == 0)
        request->answer = hs_kept_answer(&request->connection->worker->kept);
    struct hs_str bytes = {request->answer.data, request->answer.len};
    if (reply->static_body != NULL)
        bytes = (struct hs_str){reply->static_body, reply->static_size};
    int file = reply->file;
    reply->file = 0;
    if (file > 0 && has_problem)
        close(file);
    bool fine;
    if (has_problem)
        fine = hs_reply_problem(connection, reply->problem, &request->answer, &headers);
    else if (file > 0)
        fine = hs_reply_file(connection, reply->status, reply->content_type, file, reply->file_size,
                             &headers);
    else
        fine = hs_reply_bytes(connection, reply->status, reply->content_type, bytes.ptr, bytes.len,
                              &headers);
    return fine ? MHD_YES : MHD_NO;
}

void hs_http_drop_body(struct hs_http_request *request)
{
    if (request->apart == NULL)
        hs_keep_body(&request->connection->worker->kept, &request->body);
    else
        /* A pool's thread must not use the worker's buffers. */
        hs_buffer_free(&request->body);
    if (request->share != NULL)
        hs_share_release(request->share, hs_http_tenant_of(request), request->reserved);
    request->share = NULL;
}

/* Returns whether a query argument is present, and its value is neither 0 nor false. */
static bool is_asked(const struct hs_request *request, const char *name)
{
    const char *value = hs_request_query(request, name);
    return value != NULL && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

void hs_http_run_endpoint(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_reply *reply)
{
    struct hs_http *http = request->http;
    struct hs_kept *kept = request->apart == NULL ? &request->connection->worker->kept : NULL;
    struct hs_arena own = {0}, *arena = kept != NULL ? &kept->arena : &own;
    if (kept != NULL)
        reply->body = hs_kept_answer(kept);
    struct hs_request view = {
        .route = (enum hs_route)request->route,
        .listener = http->listener,
        .params = request->params,
        .body = {request->body.len > 0 ? request->body.data : "", request->body.len},
        .request_id = request->headers.request_id,
        .arena = arena,
        .alive_us = &request->connection->watched->since_us,
        .connection = connection,
        .scopes = request->auth.identity.scopes,
        .takeover = request->takeover,
    };
    if (http->service->keyring != NULL)
        view.tenant = hs_http_tenant_of(request);
    if (http->service->keyring != NULL)
        view.kid = hs_name_str(&request->auth.identity.kid);
    if (MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0) {
        view.explain = is_asked(&view, "explain");
        view.brief = is_asked(&view, "brief");
        view.strict = is_asked(&view, "strict");
    }
    hs_endpoints[request->route](http->service, &view, reply);
    if (kept != NULL)
        hs_arena_reset(&kept->arena);
    hs_arena_free(&own);
    hs_http_drop_body(request);
    if (reply->problem->code == HS_PROBLEM_NONE && reply->body.failed)
        hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED, "No memory is left for the answer");
    if (reply->problem->code == HS_PROBLEM_OVERLOADED)
        hs_metrics_add(http->service->metrics, HS_METRIC_SHED, reply->shed, 1);
}
