/* Runs long requests in a pool while their connections are suspended. */
#include "service/http/request.h"

#include "service/evidence/writer.h"
#include "service/service.h"
#include "service/system/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A larger body is too long for a worker: a body of this size takes some 20 ms to parse. With a
   smaller bound, ticks of many players with bones would go to the pool, where requests wait
   longer. */
enum { HEAVY_BODY_BYTES = 262144 };

/* A request that a pool runs, or whose answer waits for the evidence store. It has the answer
   too. */
struct hs_http_apart {
    struct hs_pool_job job; /* first member: pointers to both are the same */
    struct hs_evidence_wait wait;
    struct hs_http_request *request;
    struct MHD_Connection *connection; /* suspended until the answer is ready */
    struct hs_pool *pool;
    struct hs_reply reply;
    int64_t queued_us;
    bool has_run;
};

/* Maps and rulesets are built one at a time, at a lower priority. */
static struct hs_pool *builder_of(const struct hs_service *service, unsigned route)
{
    return route == HS_ROUTE_MAP_PUT       ? service->map_builder
           : route == HS_ROUTE_RULESET_PUT ? service->ruleset_builder
                                           : NULL;
}

/* Whether the endpoint of a route reads files of the evidence store. That may take longer than a
   request of a game server may wait. */
static bool reads_evidence(unsigned route)
{
    switch (route) {
    case HS_ROUTE_VERDICT_LIST:
    case HS_ROUTE_VERDICT_GET:
    case HS_ROUTE_VERDICT_SCENE:
    case HS_ROUTE_SUMMARY_LIST:
    case HS_ROUTE_WHAT_IF:
    case HS_ROUTE_REVIEW_POST:
    case HS_ROUTE_REVIEW_LIST:
    case HS_ROUTE_PRECISION:
    case HS_ROUTE_PLAYER_REPORT:
    case HS_ROUTE_PLAYER_ERASE:
        return true;
    default:
        return false;
    }
}

struct hs_pool *hs_http_pool_of(const struct hs_http_request *request)
{
    struct hs_pool *builder = builder_of(request->http->service, request->route);
    bool is_heavy = request->body.len > HEAVY_BODY_BYTES ||
                    (request->connection->is_expensive && request->body.len > 0);
    if (request->problem.code != HS_PROBLEM_NONE || request->shed)
        return NULL;
    if (builder != NULL)
        return builder;
    return reads_evidence(request->route) ? request->http->service->evidence_readers
           : is_heavy                     ? request->http->heavy
                                          : NULL;
}

/* Sheds a request that passed its deadline, or waited behind others for HS_BURST_TIMES as long as
   requests may wait for a worker (admission.h). */
static void shed_if_late(struct hs_http_request *request, const struct hs_http_apart *apart)
{
    const struct hs_headers *headers = &request->headers;
    int64_t now_us = hs_clock_us(), queue_us = hs_http_queue_us(request->http);
    if (headers->deadlines > 0 &&
        now_us - request->arrived_us >= (int64_t)headers->deadline_ms * 1000)
        hs_http_shed(request, HS_SHED_DEADLINE);
    else if (queue_us > 0 && apart->pool == request->http->heavy && apart->job.was_behind &&
             now_us - apart->queued_us > HS_BURST_TIMES * queue_us)
        hs_http_shed(request, HS_SHED_QUEUE);
}

static void run_apart(struct hs_pool_job *job)
{
    struct hs_http_apart *apart = (struct hs_http_apart *)job;
    struct hs_http_request *request = apart->request;
    hs_http_advance(request->connection, HS_HTTP_QUEUED, HS_HTTP_ENDPOINT, hs_clock_us());
    shed_if_late(request, apart);
    if (request->shed)
        hs_http_refuse_shed(request);
    else
        hs_http_run_endpoint(request, apart->connection, &apart->reply);
    apart->has_run = true;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED, hs_clock_us());
}

/* Hands the job to the worker. The worker resumes the connection (hs_http_resume), and finish_apart
   sends the reply, or it closes the connection. */
static void wake(struct hs_http_apart *apart)
{
    struct hs_http_worker *worker = apart->request->connection->worker;
    struct hs_pool_job *job = &apart->job;
    job->next = atomic_load(&worker->done);
    while (!atomic_compare_exchange_weak(&worker->done, &job->next, job)) {
    }
    eventfd_write(worker->wake, 1);
}

static void done_wait(struct hs_evidence_wait *wait)
{
    wake((struct hs_http_apart *)((char *)wait - offsetof(struct hs_http_apart, wait)));
}

/* Waits until the evidence of the answer is on the disk. False: the answer need not wait. */
static bool await_evidence(struct hs_http_apart *apart)
{
    if (apart->reply.evidence_mark == 0)
        return false;
    apart->wait = (struct hs_evidence_wait){
        .owner = apart->request->http, .mark = apart->reply.evidence_mark, .done = done_wait};
    return hs_evidence_await(apart->request->http->service->evidence, &apart->wait);
}

static void done_apart(struct hs_pool_job *job)
{
    struct hs_http_apart *apart = (struct hs_http_apart *)job;
    if (!apart->has_run || !await_evidence(apart))
        wake(apart);
}

void hs_http_resume(struct hs_http_worker *worker)
{
    struct hs_pool_job *done = atomic_exchange(&worker->done, NULL);
    while (done != NULL) {
        /* read `next` first, because the resumed request frees the job */
        struct hs_pool_job *next = done->next;
        MHD_resume_connection(((struct hs_http_apart *)done)->connection);
        done = next;
    }
}

bool hs_http_begin_apart(struct hs_http_request *request, struct MHD_Connection *connection,
                         struct hs_pool *pool)
{
    struct hs_http_apart *apart = malloc(sizeof *apart);
    if (apart == NULL)
        return false;
    *apart = (struct hs_http_apart){
        .job = {.owner = request->http,
                .tenant = hs_http_tenant_of(request),
                .run = run_apart,
                .done = done_apart},
        .request = request,
        .connection = connection,
        .pool = pool,
        .reply = {.status = 200, .content_type = "application/json", .problem = &request->problem},
        .queued_us = hs_clock_us()};
    request->apart = apart;
    atomic_store(&request->connection->builder, builder_of(request->http->service, request->route));
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED, apart->queued_us);
    MHD_suspend_connection(connection);
    hs_pool_submit(pool, &apart->job);
    return true;
}

bool hs_http_begin_wait(struct hs_http_request *request, struct MHD_Connection *connection,
                        struct hs_reply *reply)
{
    struct hs_http_apart *apart = malloc(sizeof *apart);
    if (apart == NULL)
        return false;
    *apart = (struct hs_http_apart){
        .request = request, .connection = connection, .reply = *reply, .has_run = true};
    reply->body = (struct hs_buffer){0};
    request->apart = apart;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED, hs_clock_us());
    MHD_suspend_connection(connection);
    if (!await_evidence(apart))
        wake(apart);
    return true;
}

enum MHD_Result hs_http_finish_apart(struct hs_http_request *request,
                                     struct MHD_Connection *connection)
{
    struct hs_http_apart *apart = request->apart;
    if (!apart->has_run) {
        request->why = HS_SHED_CAPACITY;
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED, "The service ends");
    }
    if (apart->wait.is_lost)
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "the evidence cannot be written to the disk");
    atomic_store(&request->connection->builder, NULL);
    request->connection->may_be_old = true;
    request->connection->is_expensive = apart->reply.work > HS_HTTP_HEAVY_WORK;
    int64_t now_us = hs_clock_us();
    hs_http_advance(request->connection, HS_HTTP_QUEUED, HS_HTTP_REPLY, now_us);
    return hs_http_send_reply(request, connection, &apart->reply, now_us);
}

void hs_http_free_apart(struct hs_http_apart *apart)
{
    if (apart != NULL)
        hs_buffer_free(&apart->reply.body);
    if (apart != NULL && apart->reply.file > 0)
        close(apart->reply.file);
    if (apart != NULL && apart->reply.share != NULL)
        hs_share_release(apart->reply.share, hs_http_tenant_of(apart->request), 1);
    free(apart);
}
