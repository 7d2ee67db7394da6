/* Divides the process's file descriptors among connections, threads and files. */
#ifndef HS_SERVICE_DESCRIPTORS_H
#define HS_SERVICE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

struct hs_descriptor_wants {
    size_t threads, admin_threads; /* worker threads of the two listeners */
    size_t connections;            /* max connections of the data listener */
};

/* Maximum numbers of sockets for the two listeners. */
struct hs_descriptor_shares {
    size_t data, admin;
    /* for each listener: max number of lingering connections (linger.h) */
    size_t linger;
};

/*
 * Divides `limit` descriptors before the listeners start. `open`: number of descriptors that are
 * already in use. Threads need some descriptors, and some are kept for checkpoints, logs, reloads
 * and metrics. Connections get the rest. *needed is the lowest limit with which the service can
 * run. Returns false if `limit` is lower.
 */
bool hs_descriptors_share(size_t limit, size_t open, const struct hs_descriptor_wants *wants,
                          struct hs_descriptor_shares *out, size_t *needed);

/* Raises the soft limit of open files to the hard limit, and divides the descriptors. Must be
   called when all long-lived files are open. Logs a warning if fewer connections are possible than
   configured. On failure returns false with a message in `error`. */
bool hs_descriptors_fit(const struct hs_descriptor_wants *wants, struct hs_descriptor_shares *out,
                        char error[256]);

#endif
