#include "service/http/listener.h"

#include "service/service.h"
#include "service/system/address.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/metrics.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* Opens the listening socket. The library could open the socket, but would not report why opening
   failed. Returns -1 on failure. */
static int open_socket(const char *text, char bound[64], char error[256])
{
    struct hs_address address;
    if (!hs_address_parse(text, &address)) {
        snprintf(error, 256, "%.100s is not ADDR:PORT with a numeric address", text);
        return -1;
    }
    const int on = 1;
    int fd = socket(address.socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool fine = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
    if (fine && address.socket.ss_family == AF_INET6)
        fine = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0;
    fine = fine && bind(fd, (const struct sockaddr *)&address.socket, address.size) == 0;
    fine = fine && listen(fd, BACKLOG) == 0;
    fine = fine && getsockname(fd, (struct sockaddr *)&address.socket, &address.size) == 0;
    if (!fine) {
        snprintf(error, 256, "cannot listen on %.100s: %s", text, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    hs_address_print(&address, bound, 64);
    return fd;
}

static struct hs_http *create(struct hs_service *service, enum hs_listener listener,
                              const struct hs_http_limits *limits)
{
    struct hs_http *http = calloc(1, sizeof *http);
    /* A tenant may have half of the connections, so the limit must be at least 2. */
    struct hs_share *connections =
        hs_share_create(limits->connections > 1 ? limits->connections : 2);
    if (http == NULL || connections == NULL || !hs_linger_init(&http->linger, limits->linger)) {
        hs_share_destroy(connections);
        free(http);
        return NULL;
    }
    http->connections = connections;
    http->service = service;
    http->listener = listener;
    http->limits = *limits;
    http->options = service->options;
    unsigned rate = (unsigned)service->options->log_rate;
    static const char *const kinds[HS_HTTP_LOGS] = {"requests answered", "requests refused",
                                                    "requests failed"};
    http->library_log = (struct hs_log_limit){.per_second = rate, .kind = "http library"};
    for (size_t i = 0; i < HS_HTTP_LOGS; i++)
        http->request_logs[i] = (struct hs_log_limit){.per_second = rate, .kind = kinds[i]};
    hs_metrics_set(service->metrics, HS_METRIC_CONNECTIONS_LIMIT, listener - HS_LISTENER_DATA,
                   limits->connections);
    return http;
}

static void destroy(struct hs_http *http)
{
    hs_linger_free(&http->linger);
    hs_share_destroy(http->connections);
    free(http);
}

static void stop_watchdog(struct hs_http *http)
{
    atomic_store(&http->stopping, true);
    hs_linger_wake(&http->linger);
    pthread_join(http->watchdog, NULL);
}

struct hs_http *hs_http_start(struct hs_service *service, enum hs_listener listener,
                              const struct hs_http_limits *limits, const struct hs_tls *tls,
                              char error[256])
{
    struct hs_http *http = create(service, listener, limits);
    if (http == NULL) {
        snprintf(error, 256, "out of memory or descriptors");
        return NULL;
    }
    http->is_tls = tls->certificate != NULL;
    int fd = open_socket(listener == HS_LISTENER_DATA ? http->options->listen
                                                      : http->options->admin_listen,
                         http->address, error);
    bool has_workers = fd >= 0 && hs_http_workers_start(http, fd, tls);
    if (fd >= 0 && !has_workers)
        snprintf(error, 256, "cannot serve %.100s: see the log%s", http->address,
                 http->is_tls ? "; perhaps the key does not belong to the certificate" : "");
    if (has_workers && hs_thread_start(&http->watchdog, hs_http_watch, http))
        return http;
    if (has_workers) {
        snprintf(error, 256, "cannot start a thread");
        hs_http_workers_stop(http);
        hs_http_workers_free(http);
    }
    destroy(http);
    return NULL;
}

const char *hs_http_address(const struct hs_http *http)
{
    return http->address;
}

void hs_http_stop(struct hs_http *http, unsigned wait_ms)
{
    if (http == NULL)
        return;
    atomic_store(&http->closing, true);
    hs_http_workers_wake(http);
    /* Stopping the workers would drop unfinished answers, so wait until all answers are
       finished. */
    int64_t until_us = hs_clock_us() + (int64_t)wait_ms * 1000;
    while (atomic_load(&http->in_flight) > 0 && hs_clock_us() < until_us)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    hs_http_workers_stop(http);
    /* The exit of the process would close lingering sockets, so wait until their time is over. */
    while (hs_linger_count(&http->linger) > 0 && hs_clock_us() < until_us)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    stop_watchdog(http);
    hs_http_workers_free(http);
    hs_http_report_log(http, true);
    destroy(http);
}
