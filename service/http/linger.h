/*
 * Lingering close, for connections whose peer may still be sending when the last answer is sent. If
 * such a connection were closed at once, the kernel would answer unread bytes with a reset. A reset
 * can destroy answers that the peer has not read yet. So only the sending side is closed at first,
 * and incoming bytes are discarded for a while (RFC 9112, section 9.6).
 */
#ifndef HS_SERVICE_HTTP_LINGER_H
#define HS_SERVICE_HTTP_LINGER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Maximum number of lingering sockets. Once the maximum is reached, the oldest socket is closed
       for each new socket. So in a flood, every socket still lingers, but for less than
       HS_LINGER_US. */
    HS_LINGER_HELD = 64,
    /* Maximum number of added sockets that the watchdog has not taken over yet. Connections beyond
       this limit are closed at once. */
    HS_LINGER_COMING = 64,
    HS_LINGER_MAX = HS_LINGER_HELD + HS_LINGER_COMING,
    HS_LINGER_US = 2000000, /* maximum time for one socket */
    /* About this many bytes from one peer are discarded. After that, nothing is read until the
       socket's time ends. */
    HS_LINGER_BYTES = 16 << 20,
};

struct hs_linger_socket {
    int fd;
    int64_t until_us; /* when the socket is closed at the latest (monotonic) */
    size_t left;      /* how many more bytes to discard */
};

/* The lingering sockets of one listener. Any thread may add a socket; only the watchdog reads from
   the sockets. */
struct hs_linger {
    pthread_mutex_t lock; /* guards `coming` and `coming_count` */
    int coming[HS_LINGER_COMING];
    size_t coming_count, limit;
    int wake; /* an eventfd */
    atomic_size_t count;
    /* sorted by age, oldest first; only used by the watchdog */
    struct hs_linger_socket held[HS_LINGER_HELD];
    size_t held_count;
};

/* `limit`: maximum number of sockets, up to HS_LINGER_MAX. Returns false if no descriptor is left;
   there is then nothing to free. */
bool hs_linger_init(struct hs_linger *linger, size_t limit);
/* Closes all sockets. No other thread may use `linger`. */
void hs_linger_free(struct hs_linger *linger);

/* Duplicates a socket and adds the duplicate. The caller still closes the socket. Does nothing if
   there is no space or no descriptor left. Thread-safe. */
void hs_linger_add(struct hs_linger *linger, int fd);

/* Returns the number of sockets that are still open. Thread-safe. */
size_t hs_linger_count(const struct hs_linger *linger);

/* Makes hs_linger_wait return. Thread-safe. */
void hs_linger_wake(struct hs_linger *linger);

/* Discards incoming bytes until `until_us` (monotonic). May return earlier, for example after
   hs_linger_wake or when a socket is added. Call this function in a loop, from one thread. */
void hs_linger_wait(struct hs_linger *linger, int64_t until_us);

#endif
