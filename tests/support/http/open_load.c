#include "tests/support/http/open_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/bench.h"

/* BACKLOG_NS: how long after the end requests that are due may still wait for their connection. */
enum { ANSWER_MAX = 64 * 1024, EVENTS = 256, LAST_ANSWERS_NS = 2000000000 };
#define BACKLOG_NS INT64_C(8000000000)

struct connection {
    int fd;
    bool waiting;
    bool is_timed;       /* the latency of the current request is measured */
    int64_t intended_ns; /* intended time of the current request */
    uint64_t sent;       /* requests so far */
    int64_t freed_ns;    /* when the last request of this connection was answered */
    size_t got;
    struct connection *next_free;
    char answer[ANSWER_MAX + 1];
};

/* Times in microseconds. */
struct times {
    uint32_t *us;
    size_t count, room;
};

struct load {
    const struct hs_open_load_options *options;
    struct hs_open_load_result *result;
    int epoll;
    struct connection *connections, *free;
    unsigned waiting;
    int64_t began_ns;
    int64_t until_ns;
    uint64_t taken;                 /* number of requests that connections have taken */
    uint64_t come;                  /* number of requests that have become due; only used if
                                       is_in_order */
    struct times latencies, delays; /* latencies of answers, and delays of sending */
    char request[HS_OPEN_LOAD_REQUEST_MAX];
};

/* ---- connections ---- */

static bool open_connection(struct load *load, struct connection *connection)
{
    const int on = 1, buffer = 2 * HS_OPEN_LOAD_REQUEST_MAX;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)load->options->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool fine = connection->fd >= 0 &&
                setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
                setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) == 0 &&
                connect(connection->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
                epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0;
    if (!fine) {
        fprintf(stderr, "load: cannot connect to port %u: %s\n", load->options->port,
                strerror(errno));
        return false;
    }
    connection->next_free = load->free;
    load->free = connection;
    return true;
}

static bool reopen(struct load *load, struct connection *connection)
{
    close(connection->fd);
    connection->fd = -1;
    return open_connection(load, connection);
}

/* ---- answers ---- */

static bool note_time(struct times *times, int64_t ns)
{
    if (times->count == times->room) {
        size_t room = times->room * 2 + 65536;
        uint32_t *more = realloc(times->us, room * sizeof *more);
        if (more == NULL)
            return false;
        times->us = more;
        times->room = room;
    }
    times->us[times->count++] = (uint32_t)(ns / 1000);
    return true;
}

static bool count_answer(struct load *load, const struct connection *connection, int status)
{
    struct hs_open_load_result *result = load->result;
    if (status != 200) {
        result->limited += status == 429 ? 1 : 0;
        result->shed += status == 503 ? 1 : 0;
        result->other += status != 429 && status != 503 ? 1 : 0;
        return true;
    }
    int64_t latency_ns = hs_bench_now_ns() - connection->intended_ns;
    result->ok++;
    result->good += latency_ns <= load->options->good_us * 1000 ? 1 : 0;
    return !connection->is_timed || note_time(&load->latencies, latency_ns);
}

/* Returns the size of the whole answer once its head is complete, and sets *end to the end of the
   head. Returns 0 if it is not complete yet. */
static size_t answer_size(struct connection *connection, char **end)
{
    *end = strstr(connection->answer, "\r\n\r\n");
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    if (*end == NULL || length == NULL || length > *end)
        return 0;
    return (size_t)(*end - connection->answer) + 4 + strtoul(length + 17, NULL, 10);
}

/* Ends the current request of the connection, if there is one, without an answer. */
static bool break_off(struct load *load, struct connection *connection)
{
    if (connection->waiting) {
        load->result->other++;
        load->waiting--;
        connection->waiting = false;
        return reopen(load, connection);
    }
    /* If the peer closed a free connection between two requests, a new connection takes its
       place. */
    struct connection *free = load->free, *next = connection->next_free;
    bool fine = reopen(load, connection);
    load->free = free;
    connection->next_free = next;
    return fine;
}

/* Reads the bytes that have arrived. `done`: the answer is complete. Returns false if the load
   cannot go on. */
static bool receive(struct load *load, struct connection *connection, bool *done)
{
    char *end = NULL;
    ssize_t got = recv(connection->fd, connection->answer + connection->got,
                       ANSWER_MAX - connection->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0)
        return break_off(load, connection);
    connection->got += (size_t)got;
    connection->answer[connection->got] = '\0';
    size_t size = answer_size(connection, &end);
    if (connection->got == ANSWER_MAX)
        return break_off(load, connection);
    if (size == 0 || connection->got < size)
        return true;
    connection->waiting = false;
    connection->freed_ns = hs_bench_now_ns();
    load->waiting--;
    *done = true;
    bool fine = count_answer(load, connection, atoi(connection->answer + 9));
    *end = '\0'; /* terminate the head, so that only the head is searched */
    if (strcasestr(connection->answer, "\r\nConnection: close") != NULL)
        return fine && reopen(load, connection);
    connection->next_free = load->free;
    load->free = connection;
    return fine;
}

/* ---- requests ---- */

/* Returns when request i is due. */
static int64_t due_ns(const struct load *load, uint64_t i)
{
    if (load->options->rate <= 0)
        return load->began_ns;
    return load->began_ns + (int64_t)((double)i * 1e9 / load->options->rate);
}

/* Returns whether request i is due and still has to be sent. If is_in_order, no request is left
   out, however late it is. */
static bool is_due(const struct load *load, uint64_t i, int64_t now_ns)
{
    return (now_ns < load->until_ns || load->options->is_in_order) && due_ns(load, i) <= now_ns &&
           due_ns(load, i) < load->until_ns &&
           (load->options->most == 0 || i < load->options->most);
}

static bool send_on(struct load *load, struct connection *connection, uint64_t i)
{
    const struct hs_open_load_options *options = load->options;
    uint64_t number = options->first + i;
    size_t size = options->fill(options->context, number, load->request);
    int64_t now_ns = hs_bench_now_ns();
    connection->is_timed = options->is_timed == NULL || options->is_timed(options->context, number);
    connection->intended_ns = options->rate > 0 ? due_ns(load, i) : now_ns;
    /* The time for which a request waited for its connection is not a delay of this program. */
    int64_t able_ns = connection->intended_ns > connection->freed_ns ? connection->intended_ns
                                                                     : connection->freed_ns;
    bool fine = note_time(&load->delays, now_ns > able_ns ? now_ns - able_ns : 0);
    connection->got = 0;
    connection->waiting = true;
    connection->sent++;
    load->waiting++;
    load->taken++;
    ssize_t sent = send(connection->fd, load->request, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    /* Requests are far smaller than a socket's buffer, so a partial write is a fault. */
    return fine && (sent == (ssize_t)size || break_off(load, connection));
}

/* If is_in_order: sends the next request of a connection if the request is due and the last one was
   answered. */
static bool send_next(struct load *load, struct connection *connection, int64_t now_ns)
{
    unsigned count = load->options->connections;
    uint64_t i = (uint64_t)(connection - load->connections) + connection->sent * count;
    return connection->waiting || !is_due(load, i, now_ns) || send_on(load, connection, i);
}

/* Sends the requests that are due, as far as connections are free. */
static bool send_due(struct load *load, int64_t now_ns)
{
    bool fine = true;
    if (load->options->is_in_order) {
        /* In a closed loop each request follows an answer. */
        for (; fine && load->options->rate > 0 && is_due(load, load->come, now_ns);
             now_ns = hs_bench_now_ns()) {
            unsigned own = (unsigned)(load->come++ % load->options->connections);
            fine = send_next(load, &load->connections[own], now_ns);
        }
        return fine;
    }
    while (fine && load->free != NULL && is_due(load, load->taken, now_ns)) {
        struct connection *connection = load->free;
        load->free = connection->next_free;
        fine = send_on(load, connection, load->taken);
        now_ns = hs_bench_now_ns();
    }
    return fine;
}

/* Waits for answers, at most until the next request is due. */
static bool wait_for_answers(struct load *load, int64_t until_ns)
{
    struct epoll_event events[EVENTS];
    bool in_order = load->options->is_in_order, done = false;
    int64_t now_ns = hs_bench_now_ns(), next_ns = until_ns;
    if (in_order && load->options->rate > 0)
        next_ns = due_ns(load, load->come);
    else if (!in_order && load->free != NULL)
        next_ns = due_ns(load, load->taken);
    int64_t left_ns = (next_ns < until_ns ? next_ns : until_ns) - now_ns;
    if (left_ns < 0)
        left_ns = 0;
    struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
    int count = epoll_pwait2(load->epoll, events, EVENTS, &left, NULL);
    bool fine = count >= 0 || errno == EINTR;
    for (int i = 0; fine && i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        done = false;
        fine = receive(load, connection, &done);
        if (in_order && done)
            fine = fine && send_next(load, connection, hs_bench_now_ns());
    }
    return fine;
}

static bool drive(struct load *load)
{
    const struct hs_open_load_options *options = load->options;
    load->began_ns = hs_bench_now_ns();
    load->until_ns = load->began_ns + (int64_t)(options->seconds * 1e9);
    bool fine = true;
    if (options->is_in_order && options->rate <= 0)
        for (unsigned i = 0; fine && i < options->connections; i++)
            fine = send_next(load, &load->connections[i], hs_bench_now_ns());
    int64_t end_ns = load->until_ns + (options->is_in_order ? BACKLOG_NS : 0);
    while (fine && hs_bench_now_ns() < end_ns &&
           (options->most == 0 || load->taken < options->most))
        fine = send_due(load, hs_bench_now_ns()) && wait_for_answers(load, end_ns);
    /* Wait for the missing answers, but send nothing more. */
    int64_t ended_ns = hs_bench_now_ns();
    load->result->seconds = (double)(ended_ns - load->began_ns) * 1e-9;
    load->free = NULL;
    load->until_ns = 0;
    int64_t last_ns = ended_ns + (options->is_in_order ? BACKLOG_NS : LAST_ANSWERS_NS);
    while (fine && load->waiting > 0 && hs_bench_now_ns() < last_ns) {
        fine = wait_for_answers(load, last_ns);
        load->free = NULL;
    }
    load->result->other += load->waiting;
    return fine;
}

/* ---- the whole ---- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns a quantile of sorted times. */
static double quantile(const struct times *times, double q)
{
    size_t i = (size_t)(q * (double)times->count);
    return times->count == 0 ? 0 : times->us[i < times->count ? i : times->count - 1];
}

static void sort(struct times *times)
{
    if (times->count > 0)
        qsort(times->us, times->count, sizeof times->us[0], ascending);
}

static void summarise(struct load *load)
{
    const struct hs_open_load_options *options = load->options;
    struct hs_open_load_result *result = load->result;
    result->intended =
        options->rate > 0 ? (uint64_t)(options->rate * options->seconds) : load->taken;
    if (result->intended < load->taken)
        result->intended = load->taken;
    result->unsent = result->intended - load->taken;
    result->next = options->first + load->taken;
    result->goodput = (double)result->good / result->seconds;
    sort(&load->latencies);
    sort(&load->delays);
    result->p50_us = quantile(&load->latencies, 0.5);
    result->p99_us = quantile(&load->latencies, 0.99);
    result->p999_us = quantile(&load->latencies, 0.999);
    result->max_us = quantile(&load->latencies, 1);
    result->late_p50_us = quantile(&load->delays, 0.5);
    result->late_p99_us = quantile(&load->delays, 0.99);
}

bool hs_open_load_run(const struct hs_open_load_options *options,
                      struct hs_open_load_result *result)
{
    *result = (struct hs_open_load_result){0};
    struct load *load = calloc(1, sizeof *load);
    if (load == NULL)
        return false;
    load->options = options;
    load->result = result;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(options->connections, sizeof *load->connections);
    bool fine = load->epoll >= 0 && load->connections != NULL;
    unsigned opened = 0;
    while (fine && opened < options->connections)
        fine = open_connection(load, &load->connections[opened++]);
    fine = fine && drive(load);
    if (fine)
        summarise(load);
    for (unsigned i = 0; i < opened; i++)
        if (load->connections[i].fd >= 0)
            close(load->connections[i].fd);
    if (load->epoll >= 0)
        close(load->epoll);
    free(load->connections);
    free(load->latencies.us);
    free(load->delays.us);
    free(load);
    return fine;
}
