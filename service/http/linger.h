/*
 * Connections that have been answered and are closed while their peer may still send. Closed at
 * once, the kernel would answer what comes, or what lies there unread, with a reset, and a reset
 * takes with it what the peer has not read yet: the refusal of a body that was too large, or a long
 * answer before it. So the sending side is closed, and what arrives is thrown away for a while (RFC
 * 9112, section 9.6).
 */
#ifndef HS_SERVICE_HTTP_LINGER_H
#define HS_SERVICE_HTTP_LINGER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Sockets held at a time. For another one the oldest goes, so that a flood shortens the time of
       each, and never costs anybody all of it. */
    HS_LINGER_HELD = 64,
    /* Handed over and not yet taken up. Beyond this a connection is closed at once. */
    HS_LINGER_COMING = 64,
    HS_LINGER_MAX = HS_LINGER_HELD + HS_LINGER_COMING,
    HS_LINGER_US = 2000000, /* a peer's time, in all */
    /* What is thrown away for a peer, roughly; then nothing is read any more, until its time ends.
     */
    HS_LINGER_BYTES = 16 << 20,
};

struct hs_linger_socket {
    int fd;
    int64_t until_us; /* monotonic */
    size_t left;      /* bytes that are still thrown away */
};

/* Of one listener. Any thread hands over; one thread, the watchdog, holds. */
struct hs_linger {
    pthread_mutex_t lock; /* guards `coming`, `coming_count` */
    int coming[HS_LINGER_COMING];
    size_t coming_count, limit;
    int wake; /* an eventfd */
    atomic_size_t count;
    struct hs_linger_socket held[HS_LINGER_HELD]; /* of the watchdog; the oldest first */
    size_t held_count;
};

/* `limit`: sockets at a time, HS_LINGER_MAX at most. False: no descriptor is left; nothing to
   free. */
bool hs_linger_init(struct hs_linger *linger, size_t limit);
/* Closes all of them. No thread uses it any more. */
void hs_linger_free(struct hs_linger *linger);

/*
 * Hands a socket over which its owner closes right after: a duplicate of it is held. Without a
 * place or a descriptor for that nothing happens, and the socket is closed as any other. Any
 * thread.
 */
void hs_linger_take(struct hs_linger *linger, int fd);

/* How many there are, handed over or held. Any thread. */
size_t hs_linger_count(const struct hs_linger *linger);

/* Has hs_linger_wait return. Any thread. */
void hs_linger_wake(struct hs_linger *linger);

/*
 * Waits until a time (monotonic), a hand-over or a wake, and throws away what has arrived
 * meanwhile; may return earlier. Call it in a loop, from one thread.
 */
void hs_linger_wait(struct hs_linger *linger, int64_t until_us);

#endif
