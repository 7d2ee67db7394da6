/* How the file descriptors of the process are shared, so that connections leave enough for files.
 */
#ifndef HS_SERVICE_DESCRIPTORS_H
#define HS_SERVICE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

struct hs_descriptor_wants {
    size_t threads, admin_threads; /* of the two listeners */
    size_t connections;            /* of the data listener, as configured */
};

/* Sockets of each kind, at most. */
struct hs_descriptor_shares {
    size_t data, admin;
    size_t linger; /* of each listener: connections that have ended and are still read */
};

/*
 * Shares `limit` descriptors, of which `open` are open before the listeners start. What the threads
 * need comes first, then a reserve for checkpoints, logs, reloads and scrapes. *needed is the
 * lowest limit with which the service can run. False: `limit` is below it.
 */
bool hs_descriptors_share(size_t limit, size_t open, const struct hs_descriptor_wants *wants,
                          struct hs_descriptor_shares *out, size_t *needed);

/* Raises the soft limit to the hard one and shares what there is; logs when connections are fewer
   than is wanted. Call when all files are open that stay open. False with a sentence in `error`. */
bool hs_descriptors_fit(const struct hs_descriptor_wants *wants, struct hs_descriptor_shares *out,
                        char error[256]);

#endif
