/*
 * Lingering close, for connections whose last answer is sent while the peer may still send bytes.
 * If such a connection were closed at once, the kernel would answer unread bytes with a reset. A
 * reset can delete answers that the peer has not read yet. So only the sending side is closed at
 * first, and incoming bytes are discarded for a while (RFC 9112, section 9.6).
 */
#ifndef HS_SERVICE_HTTP_LINGER_H
#define HS_SERVICE_HTTP_LINGER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Max lingering sockets. When this many sockets linger, the oldest socket is closed for each
       new one. So a flood of sockets shortens the time of each socket, but every socket has some
       time. */
    HS_LINGER_HELD = 64,
    /* Max sockets that were added and that the watchdog has not taken over yet. Connections beyond
       this limit are closed at once. */
    HS_LINGER_COMING = 64,
    HS_LINGER_MAX = HS_LINGER_HELD + HS_LINGER_COMING,
    HS_LINGER_US = 2000000, /* the max time for one peer */
    /* About this many bytes of one peer are discarded. After these bytes, nothing is read until the
       peer's time ends. */
    HS_LINGER_BYTES = 16 << 20,
};

struct hs_linger_socket {
    int fd;
    int64_t until_us; /* when the socket is closed at the latest, monotonic */
    size_t left;      /* bytes that will still be discarded */
};

/* The lingering sockets of one listener. Any thread may add a socket; only the watchdog reads the
   sockets. */
struct hs_linger {
    pthread_mutex_t lock; /* guards `coming`, `coming_count` */
    int coming[HS_LINGER_COMING];
    size_t coming_count, limit;
    int wake; /* an eventfd */
    atomic_size_t count;
    /* In order of age, the oldest socket first. Only the watchdog uses the array. */
    struct hs_linger_socket held[HS_LINGER_HELD];
    size_t held_count;
};

/* `limit` is the max number of sockets, up to HS_LINGER_MAX. Returns false, with nothing to free,
   if no descriptor is left. */
bool hs_linger_init(struct hs_linger *linger, size_t limit);
/* Closes all sockets. No other thread may use `linger`. */
void hs_linger_free(struct hs_linger *linger);

/* Adds a duplicate of a socket that the caller closes afterwards. Does nothing if no place or
   descriptor is left. Thread-safe. */
void hs_linger_add(struct hs_linger *linger, int fd);

/* Returns the number of sockets that were added and are still open. Thread-safe. */
size_t hs_linger_count(const struct hs_linger *linger);

/* Causes hs_linger_wait to return. Thread-safe. */
void hs_linger_wake(struct hs_linger *linger);

/* Discards incoming bytes until `until_us` (monotonic), or until hs_linger_add or hs_linger_wake is
   called. The function may return earlier. Call it in a loop, from one thread. */
void hs_linger_wait(struct hs_linger *linger, int64_t until_us);

#endif
