/* Internal interface of the HTTP server: server.c (listeners), request.c (requests), target.c
   (routing, admission), apart.c and pool.c (long requests), stream.c (event streams), watch.c
   (deadlines), worker.c (threads), linger.c (closed connections) and log.c (log lines). */
#ifndef HS_SERVICE_HTTP_LISTENER_H
#define HS_SERVICE_HTTP_LISTENER_H

#include "api/http/headers.h"
#include "api/http/problem.h"
#include "api/http/routes.h"
#include "service/http/admission.h"
#include "service/http/header_block.h"
#include "service/http/kept.h"
#include "service/http/linger.h"
#include "service/http/pool.h"
#include "service/http/server.h"
#include "service/options/values.h"
#include "service/state/share.h"
#include "service/watch/log.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/*
 * The phase of a connection. The thread that serves the connection advances the phase. The watchdog
 * may set the phase to EXPIRED, unless the phase is QUEUED or ENDPOINT. After that, the serving
 * thread neither reads nor sends. Both threads use compare-and-swap, so if both change the phase at
 * the same time, only one thread succeeds.
 */
enum hs_http_phase {
    HS_HTTP_FREE, /* no connection uses this slot */
    HS_HTTP_IDLE, /* between requests, or receiving a header */
    HS_HTTP_BODY, /* receiving a body */
    /* waiting for a pool thread (pool.h), or for the worker after the pool has run the request */
    HS_HTTP_QUEUED,
    HS_HTTP_ENDPOINT, /* the endpoint is running */
    HS_HTTP_REPLY,    /* the answer is being sent */
    HS_HTTP_EXPIRED,
};

/* Kinds of log lines about requests. Each kind has its own rate limit, so that many lines of one
   kind do not suppress another kind. */
enum hs_http_log { HS_HTTP_LOG_ANSWERED, HS_HTTP_LOG_REFUSED, HS_HTTP_LOG_FAILED, HS_HTTP_LOGS };

/*
 * The part of a connection that the watchdog reads five times a second. These parts of all
 * connections are in one array, so that checking 10,000 idle connections takes microseconds. With a
 * linked list, the check took 2 ms, and 1 % of all requests had to wait for the check.
 */
struct hs_http_watched {
    atomic_llong since_us; /* when the phase began (monotonic) */
    /* `since_us` of the phase in which the watchdog last checked for a closed connection */
    int64_t checked_us;
    union {
        struct hs_http_connection *connection;
        struct hs_http_watched *next_free; /* while the phase is FREE */
    };
    atomic_int phase;
};

/* The connections of one worker. Only the worker adds and removes entries; the watchdog reads them
   under the lock. */
struct hs_http_watch_list {
    pthread_mutex_t lock;
    struct hs_http_watched *slots; /* one for each possible connection */
    size_t limit, used;            /* slots from index `used` on were never used */
    struct hs_http_watched *free;
};

/*
 * A thread with its own libmicrohttpd daemon; all workers accept from the same socket. The library
 * can create such threads itself, but the library's loop has a fault. If the number of ready
 * connections is a multiple of 128, the loop sleeps although connections are ready. So worker.c
 * waits for events, and the library only polls.
 */
struct hs_http_worker {
    struct hs_http *http;
    struct MHD_Daemon *daemon;
    int ready;      /* the library's epoll descriptor; readable if there are events */
    int wake;       /* an eventfd that wakes the worker */
    bool is_closed; /* the worker has stopped accepting connections */
    _Atomic(struct hs_pool_job *) done; /* finished jobs whose connections must be resumed */
    bool has_ended;                     /* a connection was closed since the library last polled */
    /* all bytes that the library has not read yet arrived after this time; INT64_MIN: unknown */
    int64_t unread_since_us;
    int64_t polled_us; /* when the library's last poll began */
    pthread_t thread;
    struct hs_gate gate;
    struct hs_kept kept;
    struct hs_http_stream *streams; /* list of event streams (stream.h) */
    struct hs_http_watch_list watched;
    uint64_t ids;     /* second half of the next request id; starts at a random value */
    uint64_t process; /* first half of all request ids; random */
};

enum { HS_HTTP_WORKERS_MAX = 64 };

/* The fields of a request that appear in its log line and in a 408 answer. */
struct hs_http_caller {
    unsigned route; /* HS_METRICS_NO_ROUTE: no route */
    char request_id[HS_REQUEST_ID_MAX + 1];
    char trace_id[HS_TRACE_ID_LEN + 1];
    struct hs_name tenant;
    struct hs_name match; /* empty: no match */
};

struct hs_http_connection {
    struct hs_http *http;
    struct hs_http_worker *worker;
    struct hs_http_watched *watched;
    int fd; /* open while the connection is watched */
    /* the last request was refused without reading its body; used only by the worker */
    bool is_cut_short;
    struct hs_request_target target; /* target of the request whose header is arriving */
    bool is_expensive;               /* the last request on this connection needed much work */
    /* the next request may have arrived before the worker's last poll */
    bool may_be_old;
    /* the newest request; set before the phase becomes BODY */
    struct hs_http_caller caller;
    atomic_llong stuck_us; /* how long this request's endpoint may run before it counts as stuck */
    /* body size according to the header, and bytes received so far */
    atomic_size_t body_length, body_received;
    struct hs_name tenant; /* tenant to whom the connection is charged; "" if none yet */
    /* the single-threaded pool that runs the request, or NULL */
    struct hs_pool *_Atomic builder;
};

struct hs_http {
    struct hs_service *service;
    enum hs_listener listener;
    struct hs_http_limits limits;
    const struct hs_options *options;
    struct hs_http_worker workers[HS_HTTP_WORKERS_MAX];
    unsigned worker_count;
    char address[64];
    bool is_tls; /* the connections use TLS, so plain bytes must not be written to their sockets */
    /* no new connections are accepted, and every answer is the last on its connection */
    atomic_bool closing;
    atomic_bool stopped;          /* the workers must end */
    struct hs_share *connections; /* numbers of connections, by tenant */
    atomic_uint waits;            /* number of suspended requests that wait for the store */
    /* number of requests whose header is complete, but whose answer is not sent yet */
    atomic_uint in_flight;
    struct hs_log_limit library_log, request_logs[HS_HTTP_LOGS];
    struct hs_linger linger; /* closed connections whose incoming bytes are still discarded */
    struct hs_pool *heavy;   /* runs long requests */

    pthread_t watchdog;
    atomic_bool stopping; /* the watchdog must end */
};

/* Returns how long hits may wait in their sockets, in microseconds (0: no limit). */
static inline int64_t hs_http_queue_us(const struct hs_http *http)
{
    return (int64_t)http->options->queue_ms * 1000;
}

/* Changes a connection's phase. Returns false if the watchdog has expired the connection; the
   caller must then drop the request. */
bool hs_http_advance(struct hs_http_connection *connection, enum hs_http_phase from,
                     enum hs_http_phase to, int64_t now_us);

/* The library's callbacks (request.c). `context` is the struct hs_http_worker. */
enum MHD_Result hs_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request);
void hs_http_completed(void *context, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code);
void *hs_http_record_uri(void *context, const char *uri, struct MHD_Connection *connection);
size_t hs_http_unescape(void *context, struct MHD_Connection *connection, char *text);

/* Allocates slots for a worker's connections. Returns false if memory runs out; there is then
   nothing to free. */
bool hs_http_watch_list_init(struct hs_http_watch_list *list, size_t connections);
void hs_http_watch_list_free(struct hs_http_watch_list *list);

/* These functions start and stop watching a connection, and must be called in the thread of the
   connection's worker. hs_http_connection_open returns NULL if memory runs out.
   hs_http_connection_close does nothing for NULL. */
struct hs_http_connection *hs_http_connection_open(struct hs_http_worker *worker, int fd);
void hs_http_connection_close(struct hs_http_connection *connection);

/* Starts the workers on a listening socket, which the workers own even if the start fails. On
   failure returns false; the log contains the reason. */
bool hs_http_workers_start(struct hs_http *http, int fd, const struct hs_tls *tls);

/* Called after `closing` was set: makes the workers close the listening socket. */
void hs_http_workers_wake(struct hs_http *http);

/* Stops the workers and closes their connections. The watchdog may still read the workers'
   lists. */
void hs_http_workers_stop(struct hs_http *http);

/* Frees the workers. The watchdog must have stopped. */
void hs_http_workers_free(struct hs_http *http);

/* Resumes the connections whose jobs or waits have finished. Must be called in the worker's thread,
   or after this thread has ended. */
void hs_http_resume(struct hs_http_worker *worker);

/* Resumes a worker's streams that have something to send, and closes streams whose peers read too
   slowly. Called in the worker's thread whenever it wakes. */
void hs_http_streams_serve(struct hs_http_worker *worker);
/* Blocks until no request waits for the store any more. A request waits for the store for at most a
   few milliseconds. */
void hs_http_end_waits(struct hs_http *http);
/* Resumes all streams, because the library cannot close a suspended connection. Called after the
   worker's thread has ended. */
void hs_http_streams_resume(struct hs_http_worker *worker);
/* Returns how long a worker may wait for events, at most `wait_ms`. */
int hs_http_streams_wait_ms(const struct hs_http_worker *worker, int wait_ms);

/* Sets `caller` to the fields of a request. `headers` must contain a request id. */
void hs_http_caller_set(struct hs_http_caller *caller, unsigned route,
                        const struct hs_route_params *params, const struct hs_headers *headers,
                        const struct hs_name *tenant);

/* Logs an answered request if the log level and the rate limit allow it. */
void hs_http_log_request(struct hs_http *http, const struct hs_http_caller *caller,
                         const struct hs_problem *problem, int status, int64_t duration_us);

/* Logs how many log lines were dropped, by kind. */
void hs_http_report_log(struct hs_http *http, bool now);

/* The watchdog's thread function. `context` is the struct hs_http. */
void *hs_http_watch(void *context);

#endif
