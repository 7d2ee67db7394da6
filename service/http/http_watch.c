/*
 * Deadlines the library does not have: a body that trickles, a header that trickles, an endpoint
 * that does not return. The library's own timeout only sees silence.
 */
#include "service/http/http_listener.h"

#include "service/clock.h"
#include "service/watch/metrics.h"
#include "service/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TICK_MS = 200,
    STUCK_SECONDS = 5, /* an endpoint takes well under a millisecond */
    ENDED_US = 1000000,
};

bool hs_http_advance(struct hs_http_connection *connection, enum hs_http_phase from,
                     enum hs_http_phase to)
{
    /* The time first: seen with the old phase it only makes the watchdog wait. */
    atomic_store(&connection->since_us, hs_clock_us());
    int expected = (int)from;
    return atomic_compare_exchange_strong(&connection->phase, &expected, (int)to);
}

struct hs_http_connection *hs_http_connection_open(struct hs_http_worker *worker, int fd)
{
    struct hs_http *http = worker->http;
    struct hs_http_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return NULL;
    connection->http = http;
    connection->worker = worker;
    connection->fd = fd;
    atomic_store(&connection->since_us, hs_clock_us());
    pthread_mutex_lock(&http->lock);
    connection->next = http->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    http->connections = connection;
    pthread_mutex_unlock(&http->lock);
    return connection;
}

void hs_http_connection_close(struct hs_http_connection *connection)
{
    if (connection == NULL)
        return;
    struct hs_http *http = connection->http;
    pthread_mutex_lock(&http->lock);
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    pthread_mutex_unlock(&http->lock);
    free(connection);
}

/* The library cannot reply while a body arrives, so the reply goes to the socket directly. Nothing
   else was sent for this request, and nothing will be: the phase is EXPIRED. */
static void send_timeout(const struct hs_http_connection *connection)
{
    struct hs_problem problem;
    struct hs_buffer body = {0}, reply = {0};
    hs_problem_init(&problem);
    hs_problem_set(&problem, HS_PROBLEM_REQUEST_TIMEOUT, "The body must arrive within %u s",
                   connection->http->limits.request_seconds);
    hs_problem_encode(&problem, connection->request_id, &body);
    hs_buffer_printf(&reply,
                     "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nX-Request-Id: %s\r\n"
                     "Content-Type: application/problem+json\r\nContent-Length: %zu\r\n\r\n",
                     connection->request_id, body.len);
    hs_buffer_append(&reply, body.data, body.len);
    if (!body.failed && !reply.failed &&
        send(connection->fd, reply.data, reply.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* The peer is gone or reads nothing; the connection is closed in any case. */
    }
    hs_buffer_free(&body);
    hs_buffer_free(&reply);
}

/*
 * The library overlooks that its peer is gone when that came together with the last bytes: it is
 * told of both once, and reads on only when it is told again. So every connection is looked at once
 * when a phase of it has lasted a second. Only reading is shut down: a reply still goes out.
 */
static void notice_end(struct hs_http_connection *connection, int64_t since_us, int64_t now_us)
{
    char byte;
    if (now_us - since_us < ENDED_US || connection->looked_us == since_us)
        return;
    connection->looked_us = since_us;
    if (recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        shutdown(connection->fd, SHUT_RD);
}

/* Looks at one connection; returns whether its endpoint is stuck. */
static bool inspect(struct hs_http_connection *connection, int64_t now_us)
{
    struct hs_http *http = connection->http;
    int phase = atomic_load(&connection->phase);
    int64_t since_us = atomic_load(&connection->since_us), age_us = now_us - since_us;
    if (phase == HS_HTTP_ENDPOINT)
        return age_us > (int64_t)STUCK_SECONDS * 1000000;
    if (phase == HS_HTTP_IDLE || phase == HS_HTTP_BODY)
        notice_end(connection, since_us, now_us);
    /* One second more than the library waits: it closes silent connections by itself. */
    int64_t limit_us = ((int64_t)http->limits.idle_seconds + 1) * 1000000;
    if (phase == HS_HTTP_BODY)
        limit_us = (int64_t)http->limits.request_seconds * 1000000;
    if (phase == HS_HTTP_EXPIRED || age_us <= limit_us ||
        !atomic_compare_exchange_strong(&connection->phase, &phase, HS_HTTP_EXPIRED))
        return false;
    if (phase == HS_HTTP_BODY) {
        if (!http->is_tls)
            send_timeout(connection);
        hs_metrics_http(http->service->metrics, connection->route, 408, (double)age_us * 1e-6);
    }
    /* Wakes the thread that serves it: it reads the end, and closes. */
    shutdown(connection->fd, SHUT_RDWR);
    return false;
}

void hs_http_report_log(struct hs_http *http, bool now)
{
    hs_log_report(&http->library_log, now);
    for (size_t i = 0; i < HS_HTTP_LOGS; i++)
        hs_log_report(&http->request_logs[i], now);
}

void *hs_http_watch(void *context)
{
    struct hs_http *http = context;
    pthread_mutex_lock(&http->lock);
    while (!http->stopping) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&http->wake, &http->lock, &until);
        int64_t now_us = hs_clock_us();
        unsigned stuck = 0;
        for (struct hs_http_connection *c = http->connections; c != NULL; c = c->next)
            stuck += inspect(c, now_us) ? 1 : 0;
        atomic_store(&http->service->stuck[http->listener], stuck);
        hs_http_report_log(http, false);
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}
