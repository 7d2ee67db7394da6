/* Divides the file descriptors of the process, so that connections leave enough descriptors for
   files. */
#ifndef HS_SERVICE_DESCRIPTORS_H
#define HS_SERVICE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

struct hs_descriptor_wants {
    size_t threads, admin_threads; /* worker threads of the two listeners */
    size_t connections;            /* max connections of the data listener */
};

/* The max number of sockets of each kind. */
struct hs_descriptor_shares {
    size_t data, admin;
    /* For each listener: ended connections whose sockets are still read (linger.h). */
    size_t linger;
};

/*
 * Divides `limit` descriptors, of which `open` are in use before the listeners start. The threads
 * need some descriptors, and some are a reserve for checkpoints, logs, reloads and scrapes.
 * Connections get the rest. *needed is the lowest limit with which the service can run. Returns
 * false if `limit` is below *needed.
 */
bool hs_descriptors_share(size_t limit, size_t open, const struct hs_descriptor_wants *wants,
                          struct hs_descriptor_shares *out, size_t *needed);

/* Raises the soft limit of descriptors to the hard limit, and divides the descriptors. Logs a
   warning if there can be fewer connections than configured. Call it when all long-lived files are
   open. Returns false with a sentence in `error` on failure. */
bool hs_descriptors_fit(const struct hs_descriptor_wants *wants, struct hs_descriptor_shares *out,
                        char error[256]);

#endif
