/*
 * The watchdog enforces deadlines that the library does not have: for slow headers, slow bodies,
 * and endpoints that do not return. The library's own timeout only closes silent connections.
 * Between two checks, the thread serves lingering connections (linger.h).
 */
#include "service/http/listener.h"

#include "service/service.h"
#include "service/system/clock.h"
#include "service/watch/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    TICK_US = 200000,
    ENDED_US = 1000000,
};

bool hs_http_advance(struct hs_http_connection *connection, enum hs_http_phase from,
                     enum hs_http_phase to, int64_t now_us)
{
    struct hs_http_watched *watched = connection->watched;
    /* The time is set before the phase. If the watchdog sees the new time with the old phase, the
       watchdog only waits longer. */
    atomic_store(&watched->since_us, now_us);
    int expected = (int)from;
    return atomic_compare_exchange_strong(&watched->phase, &expected, (int)to);
}

bool hs_http_watch_list_init(struct hs_http_watch_list *list, size_t connections)
{
    *list = (struct hs_http_watch_list){.limit = connections};
    list->slots = calloc(connections, sizeof *list->slots);
    if (list->slots == NULL)
        return false;
    pthread_mutex_init(&list->lock, NULL);
    return true;
}

void hs_http_watch_list_free(struct hs_http_watch_list *list)
{
    if (list->slots != NULL)
        pthread_mutex_destroy(&list->lock);
    free(list->slots);
    list->slots = NULL;
}

/* Returns a free slot, or NULL if no slot is free. In practice, a slot is always free, because the
   library accepts no more connections than there are slots. The caller holds the lock. */
static struct hs_http_watched *take_slot(struct hs_http_watch_list *list)
{
    struct hs_http_watched *slot = list->free;
    if (slot != NULL)
        list->free = slot->next_free;
    else if (list->used < list->limit)
        slot = &list->slots[list->used++];
    return slot;
}

struct hs_http_connection *hs_http_connection_open(struct hs_http_worker *worker, int fd)
{
    struct hs_http_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return NULL;
    connection->http = worker->http;
    connection->worker = worker;
    connection->fd = fd;
    connection->may_be_old = true;
    struct hs_http_watch_list *list = &worker->watched;
    pthread_mutex_lock(&list->lock);
    struct hs_http_watched *slot = connection->watched = take_slot(list);
    if (slot != NULL) {
        slot->connection = connection;
        slot->checked_us = 0;
        atomic_store(&slot->since_us, hs_clock_us());
        atomic_store(&slot->phase, HS_HTTP_IDLE);
    }
    pthread_mutex_unlock(&list->lock);
    if (slot == NULL) {
        free(connection);
        return NULL;
    }
    return connection;
}

void hs_http_connection_close(struct hs_http_connection *connection)
{
    if (connection == NULL)
        return;
    struct hs_http_watch_list *list = &connection->worker->watched;
    struct hs_http_watched *slot = connection->watched;
    pthread_mutex_lock(&list->lock);
    atomic_store(&slot->phase, HS_HTTP_FREE);
    slot->next_free = list->free;
    list->free = slot;
    pthread_mutex_unlock(&list->lock);
    if (connection->tenant.text[0] != '\0')
        hs_share_release(connection->http->connections, hs_name_str(&connection->tenant), 1);
    free(connection);
}

/* Sends a 408 answer directly to the socket, because the library cannot answer while a body
   arrives. The phase is EXPIRED, so nothing else is sent for this request. */
static void send_timeout(const struct hs_http_connection *connection,
                         const struct hs_problem *problem)
{
    const char *request_id = connection->caller.request_id;
    struct hs_buffer body = {0}, reply = {0};
    hs_problem_encode(problem, request_id, &body);
    hs_buffer_printf(&reply,
                     "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nX-Request-Id: %s\r\n"
                     "Content-Type: application/problem+json\r\nContent-Length: %zu\r\n\r\n",
                     request_id, body.len);
    hs_buffer_append(&reply, body.data, body.len);
    if (!body.failed && !reply.failed &&
        send(connection->fd, reply.data, reply.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* ignore errors: the connection is closed in any case */
    }
    hs_buffer_free(&body);
    hs_buffer_free(&reply);
}

/*
 * Returns whether a body took too long, or arrives too slowly to be complete in time. Without the
 * second condition, a peer that sends only a few bytes could occupy memory for the whole body until
 * the deadline. The second condition does not apply while the socket contains unread bytes.
 */
static bool is_too_slow(const struct hs_http *http, const struct hs_http_connection *connection,
                        int64_t age_us)
{
    int64_t limit_us = (int64_t)http->options->request_seconds * 1000000;
    int unread = 0;
    if (age_us > limit_us)
        return true;
    if (age_us <= HS_BODY_GRACE_US)
        return false;
    double due = (double)atomic_load(&connection->body_length) *
                 (double)(age_us - HS_BODY_GRACE_US) / (double)(limit_us - HS_BODY_GRACE_US);
    return (double)atomic_load(&connection->body_received) < due &&
           ioctl(connection->fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* Answers 408 to a request whose body is too slow. */
static void time_out(struct hs_http *http, const struct hs_http_connection *connection,
                     int64_t age_us)
{
    const struct hs_http_caller *caller = &connection->caller;
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_problem_set(&problem, HS_PROBLEM_REQUEST_TIMEOUT,
                   "The body must arrive within %zu s, at a steady rate after the first %d s",
                   http->options->request_seconds, HS_BODY_GRACE_US / 1000000);
    if (!http->is_tls)
        send_timeout(connection, &problem);
    hs_metrics_http(http->service->metrics, caller->route, 408, (double)age_us * 1e-6);
    hs_http_log_request(http, caller, &problem, 408, age_us);
}

/*
 * If a peer closes the connection together with its last bytes, the library does not notice the
 * close. The reason is that epoll reports one event for the bytes and the close, and the library
 * reads again only after another event. So when a phase has lasted a second, the watchdog checks
 * the connection once. If the peer has closed the connection, the watchdog shuts down only the
 * receiving side, so that an answer can still be sent.
 */
static void notice_end(struct hs_http_watched *watched, int64_t since_us, int64_t now_us)
{
    char byte;
    if (now_us - since_us < ENDED_US || watched->checked_us == since_us)
        return;
    watched->checked_us = since_us;
    int fd = watched->connection->fd;
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shutdown(fd, SHUT_RD);
}

/* Returns whether the running endpoint of a connection is stuck. */
static bool is_stuck(const struct hs_http_connection *connection, int64_t age_us, int64_t now_us)
{
    int64_t limit_us = atomic_load(&connection->stuck_us);
    struct hs_pool *builder = atomic_load(&connection->builder);
    return builder != NULL ? hs_pool_is_stuck(builder, limit_us, now_us) : age_us > limit_us;
}

/* Checks one connection. Returns whether its endpoint is stuck. */
static bool inspect(struct hs_http *http, struct hs_http_watched *watched, int64_t now_us)
{
    int phase = atomic_load(&watched->phase);
    if (phase == HS_HTTP_FREE || phase == HS_HTTP_QUEUED)
        return false;
    int64_t since_us = atomic_load(&watched->since_us), age_us = now_us - since_us;
    if (phase == HS_HTTP_ENDPOINT)
        return is_stuck(watched->connection, age_us, now_us);
    if (phase == HS_HTTP_IDLE || phase == HS_HTTP_BODY)
        notice_end(watched, since_us, now_us);
    /* one second more than the library's timeout for silent connections */
    int64_t limit_us = ((int64_t)http->options->idle_seconds + 1) * 1000000;
    const struct hs_http_connection *connection = watched->connection;
    bool is_late =
        phase == HS_HTTP_BODY ? is_too_slow(http, connection, age_us) : age_us > limit_us;
    if (phase == HS_HTTP_EXPIRED || !is_late ||
        !atomic_compare_exchange_strong(&watched->phase, &phase, HS_HTTP_EXPIRED))
        return false;
    if (phase == HS_HTTP_BODY)
        time_out(http, connection, age_us);
    /* The shutdown wakes the worker, which then closes the connection. */
    shutdown(connection->fd, SHUT_RDWR);
    return false;
}

/* Checks all connections of a worker. Returns the number of stuck endpoints. */
static unsigned inspect_all(struct hs_http *http, struct hs_http_watch_list *list)
{
    unsigned stuck = 0;
    pthread_mutex_lock(&list->lock);
    int64_t now_us = hs_clock_us();
    for (size_t i = 0; i < list->used; i++)
        stuck += inspect(http, &list->slots[i], now_us) ? 1 : 0;
    pthread_mutex_unlock(&list->lock);
    return stuck;
}

void *hs_http_watch(void *context)
{
    struct hs_http *http = context;
    int64_t next_us = hs_clock_us() + TICK_US;
    while (!atomic_load(&http->stopping)) {
        hs_linger_wait(&http->linger, next_us);
        int64_t now_us = hs_clock_us();
        if (now_us < next_us)
            continue;
        next_us = now_us + TICK_US;
        unsigned stuck = 0;
        for (unsigned i = 0; i < http->worker_count; i++)
            stuck += inspect_all(http, &http->workers[i].watched);
        atomic_store(&http->service->stuck[http->listener], stuck);
        hs_http_report_log(http, false);
    }
    return NULL;
}
