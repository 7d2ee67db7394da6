/* Handles the library's calls for one request: header, body, endpoint, answer. */
#include "service/http/request.h"

#include "api/http/reply.h"
#include "api/json/digits.h"
#include "service/http/stream.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/system/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An endpoint counts as stuck after STUCK_US, plus one second for every STUCK_BYTES_A_SECOND bytes
   in the body. Most endpoints take less than a millisecond; a map of 108 MB took 8.5 s on a busy
   machine. */
enum { STUCK_US = 5000000, STUCK_BYTES_A_SECOND = 4 << 20 };

/* A database call that hangs can take longer than STUCK_US (service/database/db.h). Such a call
   must not count as stuck, because the service manager would then restart the process. */
enum { STUCK_DATABASE_US = 60000000 };

/* ---- names and headers ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes only characters that are allowed in names, and commas, which separate the values of an
   argument. Other encoded characters keep their `%`. Names
   and routes never contain a `%`. So an encoded slash or zero byte never changes the path. */
size_t hs_http_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        char decoded = low >= 0 ? (char)(high * 16 + low) : '\0';
        if (low >= 0 && (decoded == ',' || hs_name_is_valid((struct hs_str){&decoded, 1}))) {
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

void *hs_http_record_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    struct hs_http_connection *peer = peer_of(connection);
    if (peer != NULL)
        hs_request_target_record(&peer->target, uri);
    return NULL; /* the request is created later, in the first call of hs_http_handle */
}

static void make_request_id(struct hs_http_worker *worker, char id[HS_REQUEST_ID_MAX + 1])
{
    *hs_digits_hex(hs_digits_hex(id, worker->process), worker->ids++) = '\0';
}

/* ---- the handler calls, in order ---- */

/* Creates a request. Most of `problem` is not zeroed, because the list of errors in `problem` takes
   11 KiB. */
static struct hs_http_request *create_request(struct hs_kept *kept)
{
    struct hs_http_request *request =
        kept->request_count > 0 ? kept->requests[--kept->request_count] : malloc(sizeof *request);
    if (request != NULL)
        memset(request, 0, offsetof(struct hs_http_request, problem));
    return request;
}

static void free_request(struct hs_http_request *request)
{
    struct hs_kept *kept = &request->connection->worker->kept;
    hs_http_free_apart(request->apart);
    hs_keep_answer(kept, &request->answer);
    if (kept->request_count < HS_KEPT)
        kept->requests[kept->request_count++] = request;
    else
        free(request);
}

static enum MHD_Result refuse(struct hs_http_request *request, struct MHD_Connection *connection)
{
    struct hs_reply reply = {.problem = &request->problem};
    return hs_http_send_reply(request, connection, &reply, hs_clock_us());
}

/*
 * Returns how long the header waited in its socket. The kernel measures this time in milliseconds.
 * If the worker's previous poll left no bytes unread and began less than a millisecond ago, the
 * header arrived after that poll. The result is then 0, and the kernel is not asked.
 */
static int64_t waited_us(struct hs_http_connection *peer, int64_t now_us)
{
    enum { RECENT_US = 1000 };
    int64_t since_us = peer->worker->unread_since_us;
    bool is_recent = !peer->may_be_old && since_us != INT64_MIN && now_us - since_us < RECENT_US;
    peer->may_be_old = false;
    return is_recent ? 0 : hs_socket_waited_us(peer->fd);
}

static enum MHD_Result begin(struct hs_http *http, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             void **context)
{
    struct hs_http_connection *peer = peer_of(connection);
    struct hs_http_request *request = peer == NULL ? NULL : create_request(&peer->worker->kept);
    if (request == NULL)
        return MHD_NO;
    *context = request;
    request->http = http;
    request->connection = peer;
    request->start_us = hs_clock_us();
    request->arrived_us = request->start_us - waited_us(peer, request->start_us);
    hs_metrics_observe(http->service->metrics, HS_METRIC_WAIT, 0,
                       (double)(request->start_us - request->arrived_us) * 1e-6);
    request->auth.failure = HS_AUTH_FINE;
    atomic_fetch_add(&http->in_flight, 1);
    hs_metrics_add(http->service->metrics, HS_METRIC_INFLIGHT, 0, 1);

    hs_header_block_collect(connection, method, url, &peer->target, version, &request->headers);
    if (request->headers.request_id[0] == '\0')
        make_request_id(peer->worker, request->headers.request_id);
    hs_http_examine(request, connection, method, url);
    if (!hs_http_charge_connection(request)) {
        hs_problem_init(&request->problem);
        hs_http_shed(request, HS_SHED_CONNECTIONS);
        hs_http_refuse_shed(request);
        request->close = true;
    } else if (request->problem.code == HS_PROBLEM_NONE) {
        hs_http_admit(request);
    }
    hs_http_caller_set(&peer->caller, request->route, &request->params, &request->headers,
                       &request->auth.identity.tenant);
    bool waits_for_database = hs_evidence_backend_is_postgres(http->service->options) &&
                              hs_http_reads_evidence(request->route);
    atomic_store(&peer->stuck_us,
                 (waits_for_database ? STUCK_DATABASE_US : STUCK_US) +
                     (int64_t)(request->headers.length / STUCK_BYTES_A_SECOND) * 1000000);
    atomic_store(&peer->body_length, request->headers.length);
    atomic_store(&peer->body_received, 0);
    if (!hs_http_advance(peer, HS_HTTP_IDLE, HS_HTTP_BODY, request->start_us))
        return MHD_NO;
    if (!request->close)
        return MHD_YES;
    /* After an answer in the first call, the library closes the connection and reads nothing
       more. */
    peer->is_cut_short = true;
    return hs_http_advance(peer, HS_HTTP_BODY, HS_HTTP_REPLY, request->start_us)
               ? refuse(request, connection)
               : MHD_NO;
}

static enum MHD_Result receive(struct hs_http_request *request, const char *bytes, size_t size)
{
    if (atomic_load(&request->connection->watched->phase) != HS_HTTP_BODY)
        return MHD_NO;
    atomic_fetch_add(&request->connection->body_received, size);
    if (request->shed)
        return MHD_YES;
    /* The buffer is allocated for the whole body at once, so that the buffer never grows beyond the
       reserved bytes. */
    if (request->body.data == NULL)
        request->body = hs_kept_body(&request->connection->worker->kept, request->headers.length);
    if (size > request->body.capacity - request->body.len) {
        hs_http_shed(request, HS_SHED_BODIES);
        hs_http_drop_body(request);
        return MHD_YES;
    }
    hs_buffer_append(&request->body, bytes, size);
    return MHD_YES;
}

static enum MHD_Result finish(struct hs_http_request *request, struct MHD_Connection *connection)
{
    if (request->apart != NULL)
        return hs_http_finish_apart(request, connection);
    struct hs_reply reply = {
        .status = 200, .content_type = "application/json", .problem = &request->problem};
    int64_t now_us = hs_clock_us();
    if (!hs_http_advance(request->connection, HS_HTTP_BODY, HS_HTTP_ENDPOINT, now_us))
        return MHD_NO;
    if (request->problem.code == HS_PROBLEM_NONE)
        hs_http_admit_again(request, now_us);
    if (request->problem.code == HS_PROBLEM_NONE && request->shed)
        hs_http_refuse_shed(request);
    struct hs_pool *pool = hs_http_pool_of(request);
    if (pool != NULL && hs_http_begin_apart(request, connection, pool))
        return MHD_YES;
    if (request->problem.code == HS_PROBLEM_NONE)
        hs_http_run_endpoint(request, connection, &reply);
    if (hs_http_must_wait(&reply)) {
        if (hs_http_begin_wait(request, connection, &reply))
            return MHD_YES;
        hs_problem_set(&request->problem, HS_PROBLEM_OVERLOADED, "out of memory");
    }
    request->connection->is_expensive = reply.work > HS_HTTP_HEAVY_WORK;
    now_us = hs_clock_us();
    hs_http_advance(request->connection, HS_HTTP_ENDPOINT, HS_HTTP_REPLY, now_us);
    return hs_http_send_reply(request, connection, &reply, now_us);
}

enum MHD_Result hs_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request)
{
    const struct hs_http_worker *worker = context;
    if (*request == NULL)
        return begin(worker->http, connection, url, method, version, request);
    /* The library sometimes makes an extra call with 0 bytes. During this call, the request cannot
       be answered yet. The extra call occurs if a request with `Expect: 100-continue` has no body,
       and the client has already sent the next request. */
    if (upload != NULL) {
        enum MHD_Result result =
            *upload_size > 0 ? receive(*request, upload, *upload_size) : MHD_YES;
        *upload_size = 0;
        return result;
    }
    return finish(*request, connection);
}

void hs_http_completed(void *context, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    const struct hs_http_worker *worker = context;
    struct hs_http *http = worker->http;
    struct hs_http_request *ended = *request;
    *request = NULL;
    if (ended == NULL)
        return;
    /* hs_http_advance does nothing if the watchdog has expired the connection, or the connection
       was lost. */
    hs_http_advance(ended->connection, HS_HTTP_REPLY, HS_HTTP_IDLE, hs_clock_us());
    hs_http_stream_end(ended->stream);
    hs_http_drop_body(ended);
    free_request(ended);
    hs_metrics_add(http->service->metrics, HS_METRIC_INFLIGHT, 0, -1);
    atomic_fetch_sub(&http->in_flight, 1);
}
