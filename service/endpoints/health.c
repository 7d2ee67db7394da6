/* Endpoints about the service itself: liveness, readiness, metrics and the contract. */
#include "service/endpoints/table.h"

#include "service/housekeeping.h"
#include "service/service.h"
#include "service/system/embedded.h"
#include "service/watch/metrics.h"

/* One check in the answer to `?verbose`. */
struct check {
    const char *name;
    bool passed;
};

static void put_status(const struct hs_request *request, struct hs_reply *reply, const char *status,
                       const struct check checks[2])
{
    size_t count = hs_request_query(request, "verbose") != NULL ? 2 : 0;
    hs_buffer_printf(&reply->body, "{\"status\":\"%s\"", status);
    for (size_t i = 0; i < count; i++)
        hs_buffer_printf(&reply->body, "%s{\"check\":\"%s\",\"passed\":%s}",
                         i == 0 ? ",\"checks\":[" : ",", checks[i].name,
                         checks[i].passed ? "true" : "false");
    hs_buffer_puts(&reply->body, count > 0 ? "]}" : "}");
}

/* Answers 200, or 503 while an endpoint is stuck. The answer depends only on this process. */
void hs_endpoint_livez(struct hs_service *service, const struct hs_request *request,
                       struct hs_reply *reply)
{
    const struct check checks[] = {
        {"data_workers", atomic_load(&service->stuck[HS_LISTENER_DATA]) == 0},
        {"admin_workers", atomic_load(&service->stuck[HS_LISTENER_ADMIN]) == 0},
    };
    bool alive = checks[0].passed && checks[1].passed;
    reply->status = alive ? 200 : 503;
    put_status(request, reply, alive ? "alive" : "stuck", checks);
}

/* Answers 200 if the service is ready, 503 while it starts, and 404 while it drains. After a 503 or
   404, load balancers send no new connections. */
void hs_endpoint_readyz(struct hs_service *service, const struct hs_request *request,
                        struct hs_reply *reply)
{
    bool draining = atomic_load(&service->draining);
    const struct check checks[] = {
        {"started", atomic_load(&service->ready)},
        {"not_draining", !draining},
    };
    reply->status = draining ? 404 : checks[0].passed ? 200 : 503;
    const char *unready = draining ? "draining" : "starting";
    put_status(request, reply, reply->status == 200 ? "ready" : unready, checks);
}

void hs_endpoint_metrics(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply)
{
    (void)request;
    hs_service_read_metrics(service);
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
    hs_metrics_write(service->metrics, &reply->body);
}

void hs_endpoint_contract(struct hs_service *service, const struct hs_request *request,
                          struct hs_reply *reply)
{
    (void)service;
    (void)request;
    const struct hs_embedded *contract = hs_embedded_find("openapi.yaml");
    if (contract == NULL) {
        hs_problem_set(reply->problem, HS_PROBLEM_INTERNAL, "This build has no contract");
        return;
    }
    reply->content_type = "application/yaml";
    reply->static_body = (const char *)contract->data;
    reply->static_size = contract->size;
}
