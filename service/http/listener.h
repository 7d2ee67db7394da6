/* The internal interface of the HTTP server, for server.c (listener), request.c (requests),
   target.c (routing, admission), apart.c and pool.c (long requests), stream.c (streams of events),
   watch.c (deadlines), worker.c (threads), linger.c (ended connections) and log.c (log lines). */
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
 * may change any phase except QUEUED and ENDPOINT to EXPIRED. After EXPIRED, the thread of the
 * connection reads and sends nothing more. Both threads change the phase with compare-and-swap, so
 * exactly one of them succeeds.
 */
enum hs_http_phase {
    HS_HTTP_FREE,     /* there is no connection */
    HS_HTTP_IDLE,     /* between requests, or the header is arriving */
    HS_HTTP_BODY,     /* the header is complete, the body is arriving */
    HS_HTTP_QUEUED,   /* the request waits for a thread of a pool (pool.h), or for its worker after
                         the pool has run it */
    HS_HTTP_ENDPOINT, /* the endpoint runs */
    HS_HTTP_REPLY,    /* the reply is queued */
    HS_HTTP_EXPIRED,
};

/* Kinds of log lines about requests. Each kind has its own limit, so many lines of one kind do not
   hide another kind. */
enum hs_http_log { HS_HTTP_LOG_ANSWERED, HS_HTTP_LOG_REFUSED, HS_HTTP_LOG_FAILED, HS_HTTP_LOGS };

/*
 * The part of a connection that the watchdog reads five times a second. These parts are in one
 * array, so checking 10,000 idle connections takes microseconds. With a linked list, the check of
 * so many connections took 2 ms, and 1 % of all requests waited for the check.
 */
struct hs_http_watched {
    atomic_llong since_us; /* start of the phase, monotonic */
    int64_t checked_us;    /* start of the phase in which the watchdog last checked the peer */
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
    size_t limit, used;            /* slots from `used` on were never used */
    struct hs_http_watched *free;
};

/*
 * A thread with its own libmicrohttpd daemon. All workers accept from the same socket. The library
 * can run such threads itself, but its loop has a fault: if the number of connections that are
 * ready at once is a multiple of 128, the thread sleeps and these connections wait. So worker.c
 * waits for events, and the library only polls.
 */
struct hs_http_worker {
    struct hs_http *http;
    struct MHD_Daemon *daemon;
    int ready;      /* the library's epoll descriptor; readable when there are events */
    int wake;       /* an eventfd that wakes the worker */
    bool is_closed; /* the worker accepts no more connections */
    _Atomic(struct hs_pool_job *) done; /* finished jobs whose connections the worker must resume */
    bool has_ended;                     /* a connection ended since the library last accepted one */
    /* The bytes that the library now reads arrived after this time. INT64_MIN if the time is
       unknown. */
    int64_t unread_since_us;
    int64_t polled_us; /* when the library last began to look for events */
    pthread_t thread;
    struct hs_gate gate;
    struct hs_kept kept;
    struct hs_http_stream *streams; /* stream.h */
    struct hs_http_watch_list watched;
    uint64_t ids;     /* second half of the next request id; starts at a random number */
    uint64_t process; /* first half of all request ids: a random number */
};

enum { HS_HTTP_WORKERS_MAX = 64 };

/* The fields of a request that its log line or its 408 answer contains. */
struct hs_http_caller {
    unsigned route; /* the route, or HS_METRICS_NO_ROUTE */
    char request_id[HS_REQUEST_ID_MAX + 1];
    char trace_id[HS_TRACE_ID_LEN + 1];
    struct hs_name tenant;
    struct hs_name match; /* empty: no match */
};

struct hs_http_connection {
    struct hs_http *http;
    struct hs_http_worker *worker; /* serves this connection to its end */
    struct hs_http_watched *watched;
    int fd; /* open while the connection is watched */
    /* The last request of the connection was refused, and its body was not read. Only the worker
       uses this member. */
    bool is_cut_short;
    struct hs_request_target target; /* target of the request that begins */
    bool is_expensive;               /* the last request of the connection took long */
    /* The next request may have arrived while the worker did not poll the socket. */
    bool may_be_old;
    /* The newest request; set before the phase becomes BODY. */
    struct hs_http_caller caller;
    atomic_llong stuck_us;                    /* time after which the endpoint of the request counts
                                                 as stuck */
    atomic_size_t body_length, body_received; /* bytes of the request's body: in full, and received
                                                 so far */
    struct hs_name tenant; /* tenant charged for the connection, or "" if there is no tenant yet */
    /* The single-threaded pool that runs the endpoint of the request, or NULL. */
    struct hs_pool *_Atomic builder;
};

struct hs_http {
    struct hs_service *service;
    enum hs_listener listener;
    struct hs_http_limits limits;
    const struct hs_options *options; /* options of the service */
    struct hs_http_worker workers[HS_HTTP_WORKERS_MAX];
    unsigned worker_count;
    char address[64];
    bool is_tls;                  /* serves TLS; never write plain bytes to its sockets */
    atomic_bool closing;          /* the listener accepts no new connections, and each reply is the
                                     last of its connection */
    atomic_bool stopped;          /* the workers must end */
    struct hs_share *connections; /* connections of each tenant */
    atomic_uint waits;            /* suspended requests that wait for the store */
    atomic_uint in_flight;        /* requests whose header is complete and whose reply is not */
    struct hs_log_limit library_log, request_logs[HS_HTTP_LOGS];
    struct hs_linger linger; /* ended connections that are still read */
    struct hs_pool *heavy;   /* runs long requests */

    pthread_t watchdog;
    atomic_bool stopping; /* the watchdog must end */
};

/* Returns how long hits may wait in their sockets, in microseconds, or 0 for no limit. */
static inline int64_t hs_http_queue_us(const struct hs_http *http)
{
    return (int64_t)http->options->queue_ms * 1000;
}

/* Changes the phase of a connection. Returns false if the watchdog has expired the connection; the
   caller must then drop the request. */
bool hs_http_advance(struct hs_http_connection *connection, enum hs_http_phase from,
                     enum hs_http_phase to, int64_t now_us);

/* Callbacks of the library (request.c); the context is the struct hs_http_worker. */
enum MHD_Result hs_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request);
void hs_http_completed(void *context, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code);
void *hs_http_record_uri(void *context, const char *uri, struct MHD_Connection *connection);
size_t hs_http_unescape(void *context, struct MHD_Connection *connection, char *text);

/* Allocates the slots for the connections of a worker. Returns false, with nothing to free, if
   memory runs out. */
bool hs_http_watch_list_init(struct hs_http_watch_list *list, size_t connections);
void hs_http_watch_list_free(struct hs_http_watch_list *list);

/* Begin and end the watch of a connection. Call both in the thread of its worker.
   hs_http_connection_open returns NULL if memory runs out. hs_http_connection_close does nothing
   for NULL. */
struct hs_http_connection *hs_http_connection_open(struct hs_http_worker *worker, int fd);
void hs_http_connection_close(struct hs_http_connection *connection);

/* Starts the workers on a listening socket. Takes ownership of the socket, even on failure. Returns
   false if no worker runs; the log has the reason. */
bool hs_http_workers_start(struct hs_http *http, int fd, const struct hs_tls *tls);

/* Call it after setting `closing`: the workers then close the listening socket. */
void hs_http_workers_wake(struct hs_http *http);

/* Ends the workers and closes their connections. The watchdog may still read the workers' lists. */
void hs_http_workers_stop(struct hs_http *http);

/* Frees the workers; the watchdog must have ended. */
void hs_http_workers_free(struct hs_http *http);

/* Resumes each connection of a worker if a pool has run its request. Call it in the worker's
   thread, or after the thread has ended. */
void hs_http_resume(struct hs_http_worker *worker);

/* Resumes the streams of a worker that have something to send, and cuts the streams whose peers
   read too slowly. Call it in the worker's thread each time the thread wakes. */
void hs_http_streams_serve(struct hs_http_worker *worker);
/* Waits until no request waits for the store. A request waits for the store for a few milliseconds
   at most. */
void hs_http_end_waits(struct hs_http *http);
/* Resumes all streams, because the library cannot end a suspended connection. Call it after the
   worker's thread has ended. */
void hs_http_streams_resume(struct hs_http_worker *worker);
/* Returns how long a worker may wait for events, at most `wait_ms`. */
int hs_http_streams_wait_ms(const struct hs_http_worker *worker, int wait_ms);

/* Sets `caller` to the fields of a request. `headers` must have a request id. */
void hs_http_caller_set(struct hs_http_caller *caller, unsigned route,
                        const struct hs_route_params *params, const struct hs_headers *headers,
                        const struct hs_name *tenant);

/* Logs an answered request, if the log level and the limit of its kind allow it. */
void hs_http_log_request(struct hs_http *http, const struct hs_http_caller *caller,
                         const struct hs_problem *problem, int status, int64_t duration_us);

/* Logs how many lines of each kind were dropped. */
void hs_http_report_log(struct hs_http *http, bool now);

/* The function that the watchdog's thread runs; the argument is the struct hs_http. */
void *hs_http_watch(void *context);

#endif
