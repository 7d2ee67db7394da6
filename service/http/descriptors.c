#include "service/http/descriptors.h"

#include "service/http/linger.h"
#include "service/watch/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
    ADMIN_CONNECTIONS = 256,
    /* for each worker: an eventfd, the library's epoll descriptor, and a copy of the listening
       socket */
    OF_WORKER = 3,
    OF_LISTENERS = 4, /* for the two listeners: a socket and an eventfd each */
    /* One half of the reserve is for the journal, a checkpoint, a map file, a directory, the
       files that a reload reads, and the service manager's socket. The other half is spare. */
    RESERVE = 16,
    OF_SCRAPE = 2,    /* each admin thread may open a file in /proc */
    MIN_SOCKETS = 16, /* sockets for connections: at least this many, plus two for each thread */
    CHECKED_MAX = 4096,
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool hs_descriptors_share(size_t limit, size_t open, const struct hs_descriptor_wants *wants,
                          struct hs_descriptor_shares *out, size_t *needed)
{
    size_t threads = wants->threads + wants->admin_threads;
    size_t kept =
        open + OF_WORKER * threads + OF_LISTENERS + RESERVE + OF_SCRAPE * wants->admin_threads;
    *needed = kept + MIN_SOCKETS + 2 * threads;
    if (limit < *needed)
        return false;
    size_t sockets = limit - kept;
    out->linger = min_size(HS_LINGER_MAX, sockets / 16);
    out->admin = min_size(ADMIN_CONNECTIONS, sockets / 4);
    if (out->admin < wants->admin_threads)
        out->admin = wants->admin_threads;
    out->data = min_size(wants->connections, sockets - out->admin - 2 * out->linger);
    return true;
}

static size_t count_open(void)
{
    size_t count = 0;
    for (int fd = 0; fd < CHECKED_MAX; fd++)
        count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

bool hs_descriptors_fit(const struct hs_descriptor_wants *wants, struct hs_descriptor_shares *out,
                        char error[256])
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    size_t needed, open = count_open();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            getrlimit(RLIMIT_NOFILE, &limit);
    }
    size_t descriptors = limit.rlim_cur == RLIM_INFINITY ? (size_t)-1 : (size_t)limit.rlim_cur;
    if (!hs_descriptors_share(descriptors, open, wants, out, &needed)) {
        snprintf(error, 256, "the limit of open files is %zu, and at least %zu are needed",
                 descriptors, needed);
        return false;
    }
    if (out->data < wants->connections)
        hs_log(HS_LOG_WARN, "fewer connections than configured: the descriptor limit is too low",
               HS_LOG_NUMBER("max_connections", out->data),
               HS_LOG_NUMBER("configured", wants->connections),
               HS_LOG_NUMBER("descriptors", descriptors));
    return true;
}
