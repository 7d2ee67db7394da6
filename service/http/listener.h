/* Shared by the parts of the HTTP edge: http.c (listener), http_request.c (requests), http_target.c
   (routing, admission), http_apart.c and pool.c (long requests), http_watch.c (deadlines),
   http_worker.c (threads), http_linger.c (ends), http_log.c. */
#ifndef HS_SERVICE_HTTP_LISTENER_H
#define HS_SERVICE_HTTP_LISTENER_H

#include "api/http/headers.h"
#include "api/http/problem.h"
#include "api/http/routes.h"
#include "service/http/admission.h"
#include "service/http/header_block.h"
#include "service/http/linger.h"
#include "service/http/pool.h"
#include "service/http/server.h"
#include "service/state/share.h"
#include "service/watch/log.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/*
 * The phase of a connection. The thread that serves it advances the phase. The watchdog may turn
 * any phase except QUEUED and ENDPOINT to EXPIRED; then that thread reads and sends nothing more.
 * Both compare and swap, so exactly one wins.
 */
enum hs_http_phase {
    HS_HTTP_FREE,     /* there is no connection */
    HS_HTTP_IDLE,     /* between requests, or the header is arriving */
    HS_HTTP_BODY,     /* the header is known, the body is arriving */
    HS_HTTP_QUEUED,   /* it waits for a thread of a pool (pool.h), or comes back from one */
    HS_HTTP_ENDPOINT, /* the endpoint runs */
    HS_HTTP_REPLY,    /* the reply is queued */
    HS_HTTP_EXPIRED,
};

/* Requests are logged in kinds, each with a limit of its own: a flood of one hides no other. */
enum hs_http_log { HS_HTTP_LOG_ANSWERED, HS_HTTP_LOG_REFUSED, HS_HTTP_LOG_FAILED, HS_HTTP_LOGS };

/*
 * What the watchdog looks at, of each connection and five times a second: apart from the rest of
 * the connection and side by side, so that ten thousand idle ones take it microseconds. Through a
 * list of the connections it took 2 ms each time, which 1 % of all requests waited for.
 */
struct hs_http_watched {
    atomic_llong since_us; /* start of the phase, monotonic */
    int64_t looked_us;     /* start of the phase whose peer was looked for, of the watchdog */
    union {
        struct hs_http_connection *connection;
        struct hs_http_watched *next_free; /* while the phase is FREE */
    };
    atomic_int phase;
};

/* Those of one worker. Its thread enters and takes out; the watchdog looks with the lock. */
struct hs_http_watch_list {
    pthread_mutex_t lock;
    struct hs_http_watched *slots; /* one for each connection there can be */
    size_t limit, used;            /* from `used` on none was ever taken */
    struct hs_http_watched *free;
};

/*
 * A thread with a daemon of the library's of its own; all accept from the same socket. The library
 * would run such threads by itself, but its loop waits for another event when a multiple of 128 are
 * ready at once, and forgets those over it: with many connections a worker sleeps while all of them
 * wait. Here the wait is ours, and the library only looks (http_worker.c).
 */
struct hs_http_worker {
    struct hs_http *http;
    struct MHD_Daemon *daemon;
    int ready;      /* the library's epoll; readable when there is something to do */
    int wake;       /* an eventfd: look at `closing` and `stopped` */
    bool is_closed; /* accepts no more */
    _Atomic(struct hs_pool_job *) done; /* jobs whose connections it resumes */
    bool has_ended; /* a connection ended since the library last looked for new ones */
    pthread_t thread;
    struct hs_gate gate;
    struct hs_http_watch_list watched;
    uint64_t ids;     /* of requests that bring none: random, and counted up */
    uint64_t process; /* random */
};

enum { HS_HTTP_WORKERS_MAX = 64 };

/* Of one request, what its line in the log says of it, and its 408. */
struct hs_http_caller {
    unsigned route; /* or HS_METRICS_NO_ROUTE */
    char request_id[HS_REQUEST_ID_MAX + 1];
    char trace_id[HS_TRACE_ID_LEN + 1];
    struct hs_name tenant;
    struct hs_name match; /* empty: it is about none */
};

struct hs_http_connection {
    struct hs_http *http;
    struct hs_http_worker *worker; /* serves it, from first to last */
    struct hs_http_watched *watched;
    int fd; /* open for as long as the connection is watched */
    /* It was refused with bytes on their way that nobody will read. Of the thread that serves it.
     */
    bool is_cut_short;
    struct hs_request_target target; /* target of the request that begins */
    bool is_dear;                    /* its last request took long */
    /* The newest request; set before the phase becomes BODY. */
    struct hs_http_caller caller;
    atomic_llong stuck_us;                    /* its endpoint hangs when it takes longer */
    atomic_size_t body_length, body_received; /* bytes of its body */
    struct hs_name tenant;           /* charged for it: sent its newest request; "": nobody yet */
    struct hs_pool *_Atomic builder; /* the single-threaded pool that runs its endpoint; or NULL */
};

struct hs_http {
    struct hs_service *service;
    enum hs_listener listener;
    struct hs_http_limits limits;
    struct hs_http_worker workers[HS_HTTP_WORKERS_MAX];
    unsigned worker_count;
    char address[64];
    bool is_tls;                  /* never write plain bytes to its sockets */
    atomic_bool closing;          /* no new connections; each reply is the last of its connection */
    atomic_bool stopped;          /* the workers end */
    struct hs_share *connections; /* connections of each tenant */
    atomic_uint in_flight;        /* requests between header and reply sent */
    struct hs_log_limit library_log, request_logs[HS_HTTP_LOGS];
    struct hs_linger linger; /* ended connections that are still read */
    struct hs_pool *heavy;   /* runs long requests */

    pthread_t watchdog;
    atomic_bool stopping; /* the watchdog ends */
};

/* Moves a connection on; false: the watchdog was faster, drop the request. */
bool hs_http_advance(struct hs_http_connection *connection, enum hs_http_phase from,
                     enum hs_http_phase to);

/* Callbacks of the library (http_request.c); the context is the struct hs_http_worker. */
enum MHD_Result hs_http_handle(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **request);
void hs_http_completed(void *context, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code);
void *hs_http_note_uri(void *context, const char *uri, struct MHD_Connection *connection);
size_t hs_http_unescape(void *context, struct MHD_Connection *connection, char *text);

/* Room for the connections of a worker; false: there is no memory, and nothing to free. */
bool hs_http_watch_list_init(struct hs_http_watch_list *list, size_t connections);
void hs_http_watch_list_free(struct hs_http_watch_list *list);

/* Has a connection watched and lets go of it again, in the thread of its worker. NULL: there is no
   memory. Closing NULL does nothing. */
struct hs_http_connection *hs_http_connection_open(struct hs_http_worker *worker, int fd);
void hs_http_connection_close(struct hs_http_connection *connection);

/*
 * Starts the workers on a listening socket, which is taken over, closed or not. False: none runs,
 * and the log says why.
 */
bool hs_http_workers_start(struct hs_http *http, int fd, const struct hs_tls *tls);

/* After `closing` was set: the listening socket is closed soon. */
void hs_http_workers_wake(struct hs_http *http);

/* Ends the workers and closes their connections. The watchdog may still run, and look at them. */
void hs_http_workers_stop(struct hs_http *http);

/* Once the watchdog has ended, too. */
void hs_http_workers_free(struct hs_http *http);

/* Resumes the connections of a worker whose requests a pool has run. Call it in the worker's
   thread, or after the thread has ended. */
void hs_http_resume(struct hs_http_worker *worker);

/* Takes from a request what is said of it. `headers` have an id. */
void hs_http_caller_set(struct hs_http_caller *caller, unsigned route,
                        const struct hs_route_params *params, const struct hs_headers *headers,
                        const struct hs_name *tenant);

/* Writes the line about a request that was answered, if its level and its kind's limit allow. */
void hs_http_log_request(struct hs_http *http, const struct hs_http_caller *caller,
                         const struct hs_problem *problem, int status, int64_t duration_us);

/* Writes how many log lines of each kind were left out. */
void hs_http_report_log(struct hs_http *http, bool now);

/* The watchdog's thread; the argument is the struct hs_http. */
void *hs_http_watch(void *context);

#endif
