#include "tests/support/http/load.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/bench.h"

enum { ANSWER_MAX = 64 * 1024, WAIT_MS = 10000, COPIES_MAX = 128 };

struct connection {
    int fd;
    bool waiting; /* a request waits for its answer */
    size_t got;
    char answer[ANSWER_MAX + 1];
};

/* A place in the request that repeats the leading digits of its number. */
struct copy {
    size_t at, count;
};

struct hs_load {
    int epoll;
    char *request;
    size_t size;
    size_t digits, digit_count; /* place and length of the number in `request` */
    struct copy copies[COPIES_MAX];
    size_t copy_count;
    const char *expected;
    uint64_t answered;
    size_t connection_count;
    struct connection connections[];
};

/* ---- requests ---- */

static bool build_request(struct hs_load *load, const char *path, const char *body, size_t digits)
{
    size_t body_size = strlen(body), room = body_size + strlen(path) + 256;
    load->request = malloc(room);
    if (load->request == NULL)
        return false;
    int head = snprintf(load->request, room,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        path, body_size);
    memcpy(load->request + head, body, body_size + 1);
    load->size = (size_t)head + body_size;
    load->digits = (size_t)head + (digits < body_size ? digits : body_size);
    while (isdigit((unsigned char)load->request[load->digits + load->digit_count]))
        load->digit_count++;
    return true;
}

static void count_up(struct hs_load *load)
{
    for (size_t i = load->digit_count; i-- > 0;) {
        char *digit = &load->request[load->digits + i];
        *digit = *digit == '9' ? '0' : (char)(*digit + 1);
        if (*digit != '0')
            break;
    }
    for (size_t i = 0; i < load->copy_count; i++)
        memcpy(load->request + load->copies[i].at, load->request + load->digits,
               load->copies[i].count);
}

bool hs_load_copy(struct hs_load *load, size_t count)
{
    const char *number = load->request + load->digits, *at = load->request;
    size_t left = load->size;
    while ((at = memmem(at, left, number, count)) != NULL) {
        if (at != number) {
            if (load->copy_count == COPIES_MAX)
                return false;
            load->copies[load->copy_count++] = (struct copy){(size_t)(at - load->request), count};
        }
        at += count;
        left = load->size - (size_t)(at - load->request);
    }
    return load->copy_count > 0;
}

/* Sends the next request. Requests are far smaller than a socket's buffer, so a partial write is a
   fault. */
static bool send_next(struct hs_load *load, struct connection *connection)
{
    count_up(load);
    connection->got = 0;
    connection->waiting = true;
    ssize_t sent = send(connection->fd, load->request, load->size, MSG_NOSIGNAL);
    if (sent == (ssize_t)load->size)
        return true;
    fprintf(stderr, "load: cannot send: %s\n", sent < 0 ? strerror(errno) : "in part only");
    return false;
}

/* ---- answers ---- */

/* Returns the size of the whole answer once its head has arrived. Returns 0 if it has not. Returns
   -1 if the answer is not as expected. */
static ssize_t answer_size(const struct connection *connection)
{
    const char *end = strstr(connection->answer, "\r\n\r\n");
    if (end == NULL)
        return 0;
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    if (strncmp(connection->answer, "HTTP/1.1 200 ", 13) != 0 || length == NULL || length > end)
        return -1;
    size_t body = strtoul(length + 17, NULL, 10);
    size_t size = (size_t)(end - connection->answer) + 4 + body;
    return size <= ANSWER_MAX ? (ssize_t)size : -1;
}

/* Reads the available bytes. Returns false if the answer is not as expected. */
static bool receive(struct hs_load *load, struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->answer + connection->got,
                       ANSWER_MAX - connection->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0) {
        fprintf(stderr, "load: the connection ended: %s\n", got < 0 ? strerror(errno) : "closed");
        return false;
    }
    connection->got += (size_t)got;
    connection->answer[connection->got] = '\0';
    ssize_t size = answer_size(connection);
    if (size == 0 || (size > 0 && connection->got < (size_t)size))
        return true;
    if (size < 0 || connection->got > (size_t)size ||
        (load->expected != NULL && strstr(connection->answer, load->expected) == NULL)) {
        fprintf(stderr, "load: not the answer expected:\n%s\n", connection->answer);
        return false;
    }
    connection->waiting = false;
    load->answered++;
    return true;
}

/* Waits once and handles the events. If `go_on`, each connection sends a new request after its
   answer. */
static bool serve_events(struct hs_load *load, bool go_on)
{
    struct epoll_event events[64];
    int count = epoll_wait(load->epoll, events, 64, WAIT_MS);
    if (count == 0)
        fprintf(stderr, "load: no answer for %d s\n", WAIT_MS / 1000);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (!receive(load, connection))
            return false;
        if (go_on && !connection->waiting && !send_next(load, connection))
            return false;
    }
    return count > 0 || (count < 0 && errno == EINTR);
}

static bool is_waiting(const struct hs_load *load)
{
    for (size_t i = 0; i < load->connection_count; i++)
        if (load->connections[i].waiting)
            return true;
    return false;
}

double hs_load_run(struct hs_load *load, double seconds, const char *expected)
{
    load->expected = expected;
    load->answered = 0;
    int64_t began = hs_bench_now_ns(), until = began + (int64_t)(seconds * 1e9), now = began;
    for (size_t i = 0; i < load->connection_count; i++)
        if (!send_next(load, &load->connections[i]))
            return 0;
    for (; now < until; now = hs_bench_now_ns())
        if (!serve_events(load, true))
            return 0;
    double rate = (double)load->answered * 1e9 / (double)(now - began);
    while (is_waiting(load))
        if (!serve_events(load, false))
            return 0;
    return rate;
}

/* ---- connections ---- */

static bool open_connection(struct hs_load *load, struct connection *connection, unsigned port)
{
    const int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connection->fd >= 0 &&
           setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
           connect(connection->fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
           epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0;
}

struct hs_load *hs_load_open(unsigned port, const char *path, const char *body, size_t digits,
                             size_t connections)
{
    struct hs_load *load = calloc(1, sizeof *load + connections * sizeof load->connections[0]);
    if (load == NULL)
        return NULL;
    load->connection_count = connections;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < connections; i++)
        load->connections[i].fd = -1;
    bool fine = load->epoll >= 0 && build_request(load, path, body, digits);
    for (size_t i = 0; fine && i < connections; i++)
        fine = open_connection(load, &load->connections[i], port);
    if (fine)
        return load;
    fprintf(stderr, "load: cannot connect to port %u: %s\n", port, strerror(errno));
    hs_load_close(load);
    return NULL;
}

void hs_load_close(struct hs_load *load)
{
    if (load == NULL)
        return;
    for (size_t i = 0; i < load->connection_count; i++)
        if (load->connections[i].fd >= 0)
            close(load->connections[i].fd);
    if (load->epoll >= 0)
        close(load->epoll);
    free(load->request);
    free(load);
}
