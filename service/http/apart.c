/* Handles requests whose connection is suspended. A pool runs the request, or the answer waits
   until payments or evidence are stored. */
#include "service/http/request.h"

#include "service/evidence/writer.h"
#include "service/service.h"
#include "service/sharing/takeover.h"
#include "service/store/matches.h"
#include "service/system/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Requests with a body larger than HEAVY_BODY_BYTES run in the pool. Parsing a body of this size
   takes about 20 ms. If a worker parsed such a body, the worker's other requests would have to
   wait. With a smaller limit, ticks with many players and bones would also run in the pool, where
   requests wait longer than for a worker. */
enum { HEAVY_BODY_BYTES = 262144 };

/* A suspended request and its answer. */
struct hs_http_apart {
    /* must come first: a pointer to the job is a pointer to this structure */
    struct hs_pool_job job;
    struct hs_evidence_wait wait;
    struct hs_payments_wait payments;
    struct hs_http_request *request;
    struct MHD_Connection *connection; /* suspended until the answer can be sent */
    struct hs_pool *pool;
    struct hs_reply reply;
    int64_t queued_us;
    bool has_run;
};

/* Returns the pool that builds maps or the pool that builds rulesets, or NULL if the request needs
   neither pool. Each of these pools runs one request at a time, at a lower priority than the
   workers. If replicas share a store, requests that read or delete maps and rulesets run in the
   pool for rulesets, because these requests may wait for the store. */
static struct hs_pool *builder_of(const struct hs_service *service, unsigned route)
{
    switch (route) {
    case HS_ROUTE_MAP_PUT:
        return service->map_builder;
    case HS_ROUTE_RULESET_PUT:
        return service->ruleset_builder;
    case HS_ROUTE_RULESET_LIST:
    case HS_ROUTE_RULESET_GET:
    case HS_ROUTE_RULESET_DELETE:
    case HS_ROUTE_MAP_GET:
    case HS_ROUTE_MAP_DELETE:
        return service->catalog != NULL ? service->ruleset_builder : NULL;
    default:
        return NULL;
    }
}

bool hs_http_reads_evidence(unsigned route)
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

/* Returns whether this replica must first ask the store which replica owns the request's match. A
   request that only reads never makes this replica the owner. */
static bool takes_match(const struct hs_http_request *request)
{
    const struct hs_service *service = request->http->service;
    if (service->takers == NULL || request->problem.code != HS_PROBLEM_NONE || request->shed)
        return false;
    switch (request->route) {
    case HS_ROUTE_MATCH_PUT:
    case HS_ROUTE_MATCH_DELETE:
    case HS_ROUTE_FRAMES_POST:
    case HS_ROUTE_MOVES_POST:
    case HS_ROUTE_SHOTS_POST:
    case HS_ROUTE_HITS_POST:
    case HS_ROUTE_TICKS_POST:
        return hs_takeover_is_needed(service->takers, request->params.name[0]);
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
    if (takes_match(request))
        return request->http->service->taker_pool;
    return hs_http_reads_evidence(request->route) ? request->http->service->evidence_readers
           : is_heavy                             ? request->http->heavy
                                                  : NULL;
}

/* Sheds a request whose deadline has passed. Also sheds a request that waited behind others in the
   heavy pool for more than HS_BURST_TIMES * the queue limit (admission.h). */
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

/* Runs the endpoint. If the pool is `taker_pool`, first takes over the match. */
static void run_endpoint(struct hs_http_apart *apart)
{
    struct hs_http_request *request = apart->request;
    struct hs_service *service = request->http->service;
    struct hs_takeover takeover;
    if (apart->pool != service->taker_pool) {
        hs_http_run_endpoint(request, apart->connection, &apart->reply);
        return;
    }
    struct hs_str tenant =
        service->keyring != NULL ? hs_http_tenant_of(request) : (struct hs_str){0};
    if (hs_takeover_begin(service->takers, tenant, request->params.name[0], &takeover,
                          &request->problem)) {
        request->takeover = takeover.has_asked ? &takeover : NULL;
        hs_http_run_endpoint(request, apart->connection, &apart->reply);
        request->takeover = NULL;
    } else {
        hs_http_drop_body(request);
        if (takeover.is_foreign)
            hs_auth_not_yours(&request->problem);
        if (request->problem.code == HS_PROBLEM_OVERLOADED)
            hs_metrics_add(service->metrics, HS_METRIC_SHED, takeover.shed, 1);
    }
    hs_takeover_end(service->takers, tenant, request->params.name[0], &takeover);
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
        run_endpoint(apart);
    apart->has_run = true;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED, hs_clock_us());
}

/* Returns the job to the worker. The worker resumes the connection (hs_http_resume), and
   hs_http_finish_apart sends the answer. A worker that is stopping closes the connection
   instead. */
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

/* Starts the wait until the evidence for this answer is on the disk. Returns false if the answer
   need not wait. */
static bool await_evidence(struct hs_http_apart *apart)
{
    if (apart->reply.evidence_mark == 0)
        return false;
    apart->wait = (struct hs_evidence_wait){.owner = apart->request->http,
                                            .mark = apart->reply.evidence_mark,
                                            .done_before = apart->reply.evidence_done,
                                            .done = done_wait};
    return hs_evidence_await(apart->request->http->service->evidence, &apart->wait);
}

static void go_on(struct hs_http_apart *apart)
{
    if (!await_evidence(apart))
        wake(apart);
}

static void done_payments(struct hs_payments_wait *payments)
{
    struct hs_http_apart *apart =
        (struct hs_http_apart *)((char *)payments - offsetof(struct hs_http_apart, payments));
    struct hs_http *http = apart->request->http;
    go_on(apart);
    atomic_fetch_sub(&http->waits, 1);
}

/* Starts the wait until the payments in this answer are in the store. Returns false if the answer
   need not wait. */
static bool await_payments(struct hs_http_apart *apart)
{
    struct hs_http *http = apart->request->http;
    apart->payments = (struct hs_payments_wait){.done = done_payments};
    if (apart->reply.shared == NULL)
        return false;
    atomic_fetch_add(&http->waits, 1);
    if (hs_shared_match_await(apart->reply.shared, &apart->payments) == HS_PAYMENTS_PENDING)
        return true;
    atomic_fetch_sub(&http->waits, 1);
    return false;
}

static void done_apart(struct hs_pool_job *job)
{
    struct hs_http_apart *apart = (struct hs_http_apart *)job;
    if (!apart->has_run)
        wake(apart);
    else if (!await_payments(apart))
        go_on(apart);
}

bool hs_http_must_wait(const struct hs_reply *reply)
{
    return reply->evidence_mark > 0 || reply->shared != NULL;
}

void hs_http_end_waits(struct hs_http *http)
{
    while (atomic_load(&http->waits) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void hs_http_resume(struct hs_http_worker *worker)
{
    struct hs_pool_job *done = atomic_exchange(&worker->done, NULL);
    while (done != NULL) {
        /* The resumed request may free the job at once, so `next` must be read first. */
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
    if (apart == NULL) {
        hs_shared_match_release(reply->shared);
        return false;
    }
    *apart = (struct hs_http_apart){
        .request = request, .connection = connection, .reply = *reply, .has_run = true};
    reply->body = (struct hs_buffer){0};
    reply->shared = NULL;
    request->apart = apart;
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_QUEUED, hs_clock_us());
    MHD_suspend_connection(connection);
    if (!await_payments(apart))
        go_on(apart);
    return true;
}

/* Adds the result of the wait for payments to the answer. */
static void report_payments(struct hs_http_apart *apart)
{
    struct hs_http_request *request = apart->request;
    struct hs_buffer *body = &apart->reply.body;
    if (request->problem.code != HS_PROBLEM_NONE || apart->reply.shared == NULL)
        return;
    if (apart->payments.result == HS_PAYMENTS_MOVED)
        hs_problem_set(&request->problem, HS_PROBLEM_MATCH_MOVED,
                       "another replica has this match now: send the request again");
    /* answers to moves contain no payments */
    bool has_member = request->route != HS_ROUTE_MOVES_POST;
    if (apart->payments.result != HS_PAYMENTS_NOT_DURABLE || body->len == 0 || !has_member)
        return;
    hs_metrics_add(request->http->service->metrics, HS_METRIC_NOT_DURABLE, 0, 1);
    body->len--; /* remove the closing brace */
    hs_buffer_append(body, ",\"durable\":false}", 17);
    if (body->failed)
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "No memory is left for the answer");
}

enum MHD_Result hs_http_finish_apart(struct hs_http_request *request,
                                     struct MHD_Connection *connection)
{
    struct hs_http_apart *apart = request->apart;
    if (!apart->has_run) {
        request->why = HS_SHED_CAPACITY;
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED, "The service is stopping");
    }
    if (apart->wait.is_lost)
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED,
                       "the evidence cannot be written to the disk");
    report_payments(apart);
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
    if (apart != NULL)
        hs_shared_match_release(apart->reply.shared);
    free(apart);
}
