/* The threads that serve a listener. */
#include "service/http/listener.h"

#include "service/evidence/writer.h"
#include "service/service.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST_WAIT_MS = 60000 };

static void log_library(void *context, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void log_library(void *context, const char *format, va_list args)
{
    struct hs_http_worker *worker = context;
    struct hs_http *http = worker->http;
    if (!hs_log_enabled(HS_LOG_INFO) || !hs_log_allowed(&http->library_log))
        return;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\r\n")] = '\0';
    hs_log(HS_LOG_INFO, "http library", HS_LOG_TEXT("detail", text));
}

/* Returns whether closing this socket could cause a reset, because the socket contains unread bytes
   or may still receive bytes. Returns false if the peer has closed the connection, or if every
   request was read completely. In both cases, there is no reset. */
static bool must_linger(const struct hs_http_connection *connection)
{
    char byte;
    ssize_t got = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && errno == EAGAIN && connection->is_cut_short);
}

static void notify_connection(void *context, struct MHD_Connection *connection,
                              void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct hs_http_worker *worker = context;
    struct hs_http *http = worker->http;
    bool starts = code == MHD_CONNECTION_NOTIFY_STARTED;
    hs_metrics_add(http->service->metrics, HS_METRIC_CONNECTIONS, http->listener - HS_LISTENER_DATA,
                   starts ? 1 : -1);
    worker->has_ended = worker->has_ended || code == MHD_CONNECTION_NOTIFY_CLOSED;
    if (starts) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = info == NULL ? NULL : hs_http_connection_open(worker, info->connect_fd);
    } else {
        if (*socket_context != NULL && must_linger(*socket_context))
            hs_linger_add(&http->linger, ((struct hs_http_connection *)*socket_context)->fd);
        hs_http_connection_close(*socket_context);
        *socket_context = NULL;
    }
}

/* Starts the library's daemon for a worker. The daemon owns `fd`, which is closed on failure. */
static bool start_daemon(struct hs_http_worker *worker, int fd, unsigned connections,
                         const struct hs_tls *tls)
{
    const struct hs_http *http = worker->http;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
                     (http->is_tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem encryption[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, tls->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key},
        /* Allow only forward secrecy and authenticated ciphers. This excludes RSA key exchange and
           CBC in TLS 1.2. */
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:"
         "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"},
        {MHD_OPTION_END, 0, NULL},
    };
    worker->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, hs_http_handle, worker, MHD_OPTION_EXTERNAL_LOGGER, log_library,
        worker, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)http->options->idle_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, worker,
        MHD_OPTION_NOTIFY_COMPLETED, hs_http_completed, worker, MHD_OPTION_URI_LOG_CALLBACK,
        hs_http_record_uri, worker, MHD_OPTION_UNESCAPE_CALLBACK, hs_http_unescape, worker,
        MHD_OPTION_ARRAY, http->is_tls ? encryption : encryption + 3, MHD_OPTION_END);
    if (worker->daemon == NULL) {
        close(fd);
        return false;
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    worker->ready = info == NULL ? -1 : info->epoll_fd;
    return worker->ready >= 0;
}

/* Waits until the library has events or another thread wakes the worker. Returns false without
   waiting if the library still has work, for example requests that it has already read. */
static bool wait_for_work(struct hs_http_worker *worker)
{
    /* If the library was at its connection limit, the library accepts the next connection only
       after another poll. */
    bool must_poll = worker->has_ended;
    worker->has_ended = false;
    if (must_poll)
        return false;
    MHD_UNSIGNED_LONG_LONG wait_ms = LONGEST_WAIT_MS;
    if (MHD_get_timeout(worker->daemon, &wait_ms) == MHD_YES && wait_ms == 0)
        return false;
    struct pollfd polls[] = {{.fd = worker->ready, .events = POLLIN},
                             {.fd = worker->wake, .events = POLLIN}};
    int timeout_ms =
        hs_http_streams_wait_ms(worker, wait_ms < LONGEST_WAIT_MS ? (int)wait_ms : LONGEST_WAIT_MS);
    if (poll(polls, 2, timeout_ms) > 0 && polls[1].revents != 0) {
        uint64_t times;
        if (read(worker->wake, &times, sizeof times) < 0) {
            /* nothing to do: the counter was already 0 */
        }
    }
    return true;
}

static void *serve(void *context)
{
    struct hs_http_worker *worker = context;
    struct hs_http *http = worker->http;
    hs_metrics_enter(http->service->metrics);
    while (!atomic_load(&http->stopped)) {
        if (!worker->is_closed && atomic_load(&http->closing)) {
            int fd = MHD_quiesce_daemon(worker->daemon);
            if (fd >= 0)
                close(fd);
            worker->is_closed = true;
        }
        bool is_drained = wait_for_work(worker);
        hs_http_resume(worker);
        hs_http_streams_serve(worker);
        worker->unread_since_us = is_drained ? worker->polled_us : INT64_MIN;
        worker->polled_us = hs_clock_us();
        MHD_run(worker->daemon);
    }
    hs_metrics_leave();
    return NULL;
}

static void make_ids(struct hs_http_worker *worker)
{
    uint64_t words[2];
    if (getrandom(words, sizeof words, 0) != (ssize_t)sizeof words) {
        /* getrandom fails only early after boot or in a sandbox. In that case, the clock is random
           enough for request ids. */
        words[0] = (uint64_t)hs_clock_ns();
        words[1] = (uint64_t)(uintptr_t)worker;
    }
    worker->process = words[0];
    worker->ids = words[1];
}

/* Starts one worker. On failure frees everything and returns false. */
static bool start_worker(struct hs_http *http, int fd, unsigned connections,
                         const struct hs_tls *tls)
{
    struct hs_http_worker *worker = &http->workers[http->worker_count];
    worker->http = http;
    worker->polled_us = hs_clock_us();
    make_ids(worker);
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    bool fine =
        worker->wake >= 0 && own >= 0 && hs_http_watch_list_init(&worker->watched, connections);
    if (!fine && own >= 0)
        close(own);
    fine = fine && start_daemon(worker, own, connections, tls);
    if (fine && hs_thread_start(&worker->thread, serve, worker)) {
        http->worker_count++;
        return true;
    }
    if (worker->daemon != NULL)
        MHD_stop_daemon(worker->daemon);
    if (worker->wake >= 0)
        close(worker->wake);
    hs_http_watch_list_free(&worker->watched);
    return false;
}

bool hs_http_workers_start(struct hs_http *http, int fd, const struct hs_tls *tls)
{
    unsigned count = http->limits.threads, each = http->limits.connections / count;
    unsigned more = http->limits.connections % count;
    /* The pool has one more thread than the listener has workers. A tenant may use all threads
       except one, so one thread always remains for other tenants. */
    http->heavy = hs_pool_create(count + 1, false);
    bool fine = http->heavy != NULL;
    for (unsigned i = 0; fine && i < count; i++) {
        unsigned connections = each + (i < more ? 1 : 0);
        fine = start_worker(http, fd, connections > 0 ? connections : 1, tls);
    }
    close(fd);
    if (!fine) {
        hs_http_workers_stop(http);
        hs_http_workers_free(http);
    }
    return fine;
}

void hs_http_workers_wake(struct hs_http *http)
{
    for (unsigned i = 0; i < http->worker_count; i++)
        eventfd_write(http->workers[i].wake, 1);
}

void hs_http_workers_stop(struct hs_http *http)
{
    hs_pool_end(http->heavy, http);
    hs_pool_end(http->service->map_builder, http);
    hs_pool_end(http->service->ruleset_builder, http);
    hs_pool_end(http->service->evidence_readers, http);
    hs_pool_end(http->service->taker_pool, http);
    hs_http_end_waits(http);
    hs_evidence_end_waits(http->service->evidence, http);
    atomic_store(&http->stopped, true);
    hs_http_workers_wake(http);
    for (unsigned i = 0; i < http->worker_count; i++) {
        struct hs_http_worker *worker = &http->workers[i];
        pthread_join(worker->thread, NULL);
        /* The last requests of this worker may have started new waits. */
        hs_http_end_waits(http);
        hs_evidence_end_waits(http->service->evidence, http);
        hs_http_resume(worker); /* the library cannot close a suspended connection */
        hs_http_streams_resume(worker);
        MHD_stop_daemon(worker->daemon);
        close(worker->wake);
    }
}

void hs_http_workers_free(struct hs_http *http)
{
    for (unsigned i = 0; i < http->worker_count; i++) {
        hs_http_watch_list_free(&http->workers[i].watched);
        hs_kept_free(&http->workers[i].kept);
    }
    http->worker_count = 0;
    hs_pool_destroy(http->heavy);
    http->heavy = NULL;
}
