/* Log lines about requests. */
#include "service/http/listener.h"

#include "api/http/routes.h"
#include "service/watch/metrics.h"

#include <stdio.h>
#include <string.h>

void hs_http_caller_set(struct hs_http_caller *caller, unsigned route,
                        const struct hs_route_params *params, const struct hs_headers *headers,
                        const struct hs_name *tenant)
{
    caller->route = route;
    memcpy(caller->request_id, headers->request_id, sizeof caller->request_id);
    memcpy(caller->trace_id, headers->trace_id, sizeof caller->trace_id);
    caller->tenant = *tenant;
    struct hs_str match = {0};
    if (route != HS_METRICS_NO_ROUTE && params->name[0].ptr != NULL &&
        strncmp(hs_route_pattern((enum hs_route)route), "/v1/matches/", 12) == 0)
        match = params->name[0];
    hs_name_set(&caller->match, match);
}

/* Returns the detail of a problem for the log. Returns "" for a syntax error, because its detail
   quotes the body, and bodies must not be logged. */
static const char *detail_to_log(const struct hs_problem *problem)
{
    return problem->code == HS_PROBLEM_NONE || problem->code == HS_PROBLEM_MALFORMED_JSON
               ? ""
               : problem->detail;
}

void hs_http_log_request(struct hs_http *http, const struct hs_http_caller *caller,
                         const struct hs_problem *problem, int status, int64_t duration_us)
{
    static const enum hs_log_level levels[HS_HTTP_LOGS] = {HS_LOG_DEBUG, HS_LOG_INFO, HS_LOG_WARN};
    enum hs_http_log kind = status >= 500   ? HS_HTTP_LOG_FAILED
                            : status >= 400 ? HS_HTTP_LOG_REFUSED
                                            : HS_HTTP_LOG_ANSWERED;
    if (!hs_log_enabled(levels[kind]) || !hs_log_allowed(&http->request_logs[kind]))
        return;
    bool routed = caller->route != HS_METRICS_NO_ROUTE;
    const struct hs_log_field fields[] = {
        HS_LOG_TEXT("request_id", caller->request_id),
        HS_LOG_TEXT("trace_id", caller->trace_id),
        HS_LOG_TEXT("tenant", caller->tenant.text),
        HS_LOG_TEXT("match", caller->match.text),
        HS_LOG_TEXT("route", routed ? hs_route_pattern((enum hs_route)caller->route) : ""),
        HS_LOG_NUMBER("status", status),
        HS_LOG_TEXT("code", hs_problem_name(problem->code)),
        HS_LOG_TEXT("detail", detail_to_log(problem)),
        HS_LOG_NUMBER("dur_us", duration_us),
    };
    hs_log_fields(levels[kind], "request", fields, sizeof fields / sizeof fields[0]);
}

void hs_http_report_log(struct hs_http *http, bool now)
{
    hs_log_report(&http->library_log, now);
    for (size_t i = 0; i < HS_HTTP_LOGS; i++)
        hs_log_report(&http->request_logs[i], now);
}
