/* Routing and admission: finds the route of a request, or a reason to refuse it. */
#include "service/http/request.h"

#include "service/service.h"
#include "service/state/maps.h"
#include "service/system/clock.h"

#include <string.h>
#include <strings.h>

/* If the body of a refused request is larger than DROPPED_BODY_MAX bytes, the body is not read, and
   the connection closes. */
enum { DROPPED_BODY_MAX = 65536 };

/* ---- routing ---- */

static bool takes_body(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0;
}

static enum hs_route_match find_route(struct hs_http_request *request, const char *method,
                                      const char *url)
{
    enum hs_route route;
    enum hs_route_match match =
        hs_route_find(request->http->listener, method, url, &route, &request->params);
    bool known = match == HS_ROUTE_FOUND || match == HS_ROUTE_BAD_NAME;
    request->route = known ? (unsigned)route : HS_METRICS_NO_ROUTE;
    return match;
}

static void refuse_route(enum hs_route_match match, struct hs_http_request *request)
{
    if (match == HS_ROUTE_UNKNOWN)
        hs_problem_set(&request->problem, HS_PROBLEM_UNKNOWN_ROUTE,
                       "There is nothing at this path");
    else if (match == HS_ROUTE_BAD_METHOD)
        hs_problem_set(&request->problem, HS_PROBLEM_METHOD_NOT_ALLOWED, "Allowed here: %s",
                       request->params.allow);
    else if (match == HS_ROUTE_BAD_NAME)
        hs_problem_set(&request->problem, HS_PROBLEM_INVALID_REQUEST,
                       "A name in the path is not 1 to %d of [A-Za-z0-9_.:-]", HS_NAME_MAX);
}

/* Reads only the first Authorization header, because a request with two Authorization headers is
   refused anyway. */
struct hs_str hs_http_authorization(struct MHD_Connection *connection)
{
    struct hs_str value = {0};
    if (MHD_lookup_connection_value_n(connection, MHD_HEADER_KIND, "Authorization", 13, &value.ptr,
                                      &value.len) != MHD_YES)
        return (struct hs_str){0};
    return value.ptr == NULL ? HS_STR("") : value;
}

static void authenticate(struct hs_http_request *request, struct MHD_Connection *connection)
{
    struct hs_service *service = request->http->service;
    enum hs_route route = (enum hs_route)request->route;
    hs_auth_check(service, route, &request->params, hs_http_authorization(connection),
                  &request->auth);
    if (request->auth.failure != HS_AUTH_FINE && !request->auth.hidden)
        hs_metrics_add(service->metrics, HS_METRIC_AUTH_FAILURES, request->auth.failure, 1);
    hs_auth_refuse(&request->auth, route, &request->problem);
}

struct hs_str hs_http_tenant_of(const struct hs_http_request *request)
{
    return hs_name_str(&request->auth.identity.tenant);
}

/* Returns the share to which the body is charged. The body of a map counts as memory for maps,
   because the build of the map needs the body. */
static struct hs_share *share_of(const struct hs_http_request *request)
{
    const struct hs_service *service = request->http->service;
    return request->route == HS_ROUTE_MAP_PUT ? hs_map_store_share(service->maps) : service->bodies;
}

static size_t largest_body(const struct hs_http_request *request)
{
    const struct hs_options *options = request->http->options;
    size_t limit =
        request->route == HS_ROUTE_MAP_PUT ? options->map_body_bytes : options->body_bytes;
    size_t max = hs_share_max(share_of(request), hs_http_tenant_of(request));
    return limit < max ? limit : max;
}

void hs_http_examine(struct hs_http_request *request, struct MHD_Connection *connection,
                     const char *method, const char *url)
{
    const struct hs_headers *headers = &request->headers;
    bool body = takes_body(method);
    hs_problem_init(&request->problem);
    hs_headers_check_framing(headers, body, &request->problem);
    if (request->connection->target.has_long_query)
        hs_problem_set(&request->problem, HS_PROBLEM_INVALID_REQUEST,
                       "A query has at most %d arguments and %d bytes", HS_QUERY_ARGUMENTS,
                       HS_QUERY_BYTES);
    request->close = request->problem.code != HS_PROBLEM_NONE;
    enum hs_route_match match = find_route(request, method, url);
    if (request->route != HS_METRICS_NO_ROUTE)
        authenticate(request, connection);
    refuse_route(match, request);
    hs_headers_check_content(headers, body, largest_body(request), &request->problem);
    if (request->problem.code != HS_PROBLEM_NONE && hs_headers_body_follows(headers))
        request->close = true;
}

/* ---- admission ---- */

void hs_http_shed(struct hs_http_request *request, enum hs_shed_reason why)
{
    request->shed = true;
    request->why = why;
    hs_metrics_add(request->http->service->metrics, HS_METRIC_SHED, why, 1);
}

void hs_http_refuse_shed(struct hs_http_request *request)
{
    const struct hs_options *options = request->http->options;
    switch (request->why) {
    case HS_SHED_QUEUE:
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "The service is overloaded, and this request has waited too long");
        break;
    case HS_SHED_DEADLINE:
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "Its X-Deadline-Ms passed before its turn came");
        break;
    case HS_SHED_RATE:
        hs_problem_set(&request->problem, HS_PROBLEM_RATE_LIMITED,
                       "A tenant may send %zu requests a second", options->tenant_rate);
        request->problem.retry_after_ms = request->retry_after_ms;
        break;
    case HS_SHED_CONNECTIONS:
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "This tenant has too many of the %zu connections",
                       hs_share_limit(request->http->connections));
        break;
    default:
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "The body has %zu bytes, and only %zu are left for it in %s",
                       request->headers.length,
                       hs_share_left(share_of(request), hs_http_tenant_of(request)),
                       request->route == HS_ROUTE_MAP_PUT ? "map-bytes" : "inflight-body-bytes");
        break;
    }
}

/*
 * Sheds a request that has waited too long. Called after the header, and again after the body if
 * the body arrived later than the header.
 */
static void check_wait(struct hs_http_request *request, enum hs_priority priority,
                       int64_t waited_us, int64_t now_us)
{
    const struct hs_headers *headers = &request->headers;
    bool has_turn = hs_gate_admit(&request->connection->worker->gate, priority,
                                  hs_http_queue_us(request->http), waited_us, now_us);
    if (priority == HS_PRIORITY_VITAL || request->shed)
        return;
    if (headers->deadlines > 0 &&
        now_us - request->arrived_us >= (int64_t)headers->deadline_ms * 1000)
        hs_http_shed(request, HS_SHED_DEADLINE);
    else if (!has_turn)
        hs_http_shed(request, HS_SHED_QUEUE);
}

bool hs_http_charge_connection(const struct hs_http_request *request)
{
    struct hs_http_connection *peer = request->connection;
    struct hs_share *share = request->http->connections;
    struct hs_str tenant = hs_http_tenant_of(request), before = hs_name_str(&peer->tenant);
    if (tenant.len == 0 || hs_str_equal(tenant, before))
        return true;
    if (!hs_share_reserve(share, tenant, 1))
        return false;
    if (before.len > 0)
        hs_share_release(share, before, 1);
    hs_name_set(&peer->tenant, tenant);
    return true;
}

/* Reserves memory for the whole body before any part of it is read. */
static void reserve_body(struct hs_http_request *request)
{
    struct hs_share *share = share_of(request);
    size_t length = request->headers.length;
    if (!hs_share_reserve(share, hs_http_tenant_of(request), length)) {
        hs_http_shed(request, HS_SHED_BODIES);
        return;
    }
    request->share = share;
    request->reserved = length;
}

void hs_http_admit(struct hs_http_request *request)
{
    struct hs_service *service = request->http->service;
    enum hs_priority priority = hs_route_priority((enum hs_route)request->route);
    check_wait(request, priority, request->start_us - request->arrived_us, request->start_us);
    if (!request->shed && service->rates != NULL && priority != HS_PRIORITY_VITAL) {
        request->retry_after_ms =
            hs_tenant_rates_take(service->rates, hs_http_tenant_of(request), hs_clock_ns());
        if (request->retry_after_ms > 0)
            hs_http_shed(request, HS_SHED_RATE);
    }
    if (!request->shed && request->headers.length > 0)
        reserve_body(request);
    if (request->shed && request->headers.length > DROPPED_BODY_MAX) {
        hs_http_refuse_shed(request);
        request->close = true;
    }
}

/* If the body arrived together with the header or just after it, the decision of hs_http_admit is
   still valid. */
void hs_http_admit_again(struct hs_http_request *request, int64_t now_us)
{
    enum { JUST_AFTER_US = 1000 };
    if (now_us - request->start_us > JUST_AFTER_US)
        check_wait(request, hs_route_priority((enum hs_route)request->route),
                   hs_socket_waited_us(request->connection->fd), now_us);
}
