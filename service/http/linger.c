#include "service/http/linger.h"

#include "service/system/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* PIECE: size of one read. PIECES: maximum number of reads from a socket before the next socket's
   turn. */
enum { PIECE = 32768, PIECES = 16 };

/* Pause before each round of reads. More bytes arrive during the pause, so a flood needs fewer
   rounds. The pause delays only peers whose bytes are discarded anyway. */
enum { NAP_NS = 2000000 };

bool hs_linger_init(struct hs_linger *linger, size_t limit)
{
    linger->limit = limit;
    linger->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (linger->wake < 0)
        return false;
    pthread_mutex_init(&linger->lock, NULL);
    linger->coming_count = linger->held_count = 0;
    atomic_store(&linger->count, 0);
    return true;
}

void hs_linger_free(struct hs_linger *linger)
{
    for (size_t i = 0; i < linger->coming_count; i++)
        close(linger->coming[i]);
    for (size_t i = 0; i < linger->held_count; i++)
        close(linger->held[i].fd);
    pthread_mutex_destroy(&linger->lock);
    close(linger->wake);
}

void hs_linger_add(struct hs_linger *linger, int fd)
{
    pthread_mutex_lock(&linger->lock);
    bool has_place =
        linger->coming_count < HS_LINGER_COMING && atomic_load(&linger->count) < linger->limit;
    int own = has_place ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    bool first = own >= 0 && linger->coming_count == 0;
    if (own >= 0) {
        linger->coming[linger->coming_count++] = own;
        atomic_fetch_add(&linger->count, 1);
    }
    pthread_mutex_unlock(&linger->lock);
    if (own >= 0)
        /* Close the sending side, because the library does not do so for connections with TLS. */
        shutdown(own, SHUT_WR);
    if (first)
        hs_linger_wake(linger);
}

size_t hs_linger_count(const struct hs_linger *linger)
{
    return atomic_load(&linger->count);
}

void hs_linger_wake(struct hs_linger *linger)
{
    eventfd_write(linger->wake, 1);
}

/* Discards the bytes that have arrived. Returns false if the peer has closed the connection, or the
   connection has failed. */
static bool discard(struct hs_linger_socket *socket)
{
    char piece[PIECE];
    for (int i = 0; i < PIECES && socket->left > 0; i++) {
        /* With MSG_TRUNC, the kernel discards the bytes without copying them. */
        ssize_t got = recv(socket->fd, piece, sizeof piece, MSG_DONTWAIT | MSG_TRUNC);
        if (got == 0)
            return false;
        if (got < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        socket->left -= (size_t)got < socket->left ? (size_t)got : socket->left;
    }
    return true;
}

/* Closes a socket. First discards the unread bytes, because unread bytes would cause a reset. */
static void end(struct hs_linger *linger, struct hs_linger_socket *socket)
{
    discard(socket);
    close(socket->fd);
    atomic_fetch_sub(&linger->count, 1);
}

/* Closes the sockets whose time is over. Also closes the oldest sockets until there is space for
   `coming` more sockets. The array is sorted by age, oldest first. */
static void drop_oldest(struct hs_linger *linger, size_t coming, int64_t now_us)
{
    size_t gone = 0;
    while (gone < linger->held_count && (linger->held_count - gone + coming > HS_LINGER_HELD ||
                                         linger->held[gone].until_us <= now_us))
        end(linger, &linger->held[gone++]);
    linger->held_count -= gone;
    for (size_t i = 0; gone > 0 && i < linger->held_count; i++)
        linger->held[i] = linger->held[i + gone];
}

static void begin_linger(struct hs_linger *linger, int64_t now_us)
{
    int coming[HS_LINGER_COMING];
    pthread_mutex_lock(&linger->lock);
    size_t count = linger->coming_count;
    for (size_t i = 0; i < count; i++)
        coming[i] = linger->coming[i];
    linger->coming_count = 0;
    pthread_mutex_unlock(&linger->lock);
    drop_oldest(linger, count, now_us);
    for (size_t i = 0; i < count; i++)
        linger->held[linger->held_count++] = (struct hs_linger_socket){
            .fd = coming[i], .until_us = now_us + HS_LINGER_US, .left = HS_LINGER_BYTES};
}

/* Discards the incoming bytes of all lingering sockets. `polls` contains one entry for each socket,
   in the same order. */
static void discard_all(struct hs_linger *linger, const struct pollfd *polls)
{
    size_t kept = 0;
    for (size_t i = 0; i < linger->held_count; i++) {
        struct hs_linger_socket *socket = &linger->held[i];
        /* If `left` is 0, poll reports only errors and connections that both sides have closed. */
        bool over = polls[i].revents != 0 && (socket->left == 0 || !discard(socket));
        if (over)
            end(linger, socket);
        else
            linger->held[kept++] = *socket;
    }
    linger->held_count = kept;
}

void hs_linger_wait(struct hs_linger *linger, int64_t until_us)
{
    struct pollfd polls[1 + HS_LINGER_HELD];
    int64_t now_us = hs_clock_us();
    begin_linger(linger, now_us);
    if (linger->held_count > 0 && linger->held[0].until_us < until_us)
        until_us = linger->held[0].until_us;
    polls[0] = (struct pollfd){.fd = linger->wake, .events = POLLIN};
    for (size_t i = 0; i < linger->held_count; i++)
        polls[i + 1] = (struct pollfd){.fd = linger->held[i].fd,
                                       .events = linger->held[i].left > 0 ? POLLIN : 0};
    int timeout_ms = until_us > now_us ? (int)((until_us - now_us + 999) / 1000) : 0;
    if (poll(polls, 1 + linger->held_count, timeout_ms) <= 0)
        return;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    eventfd_t times;
    if (polls[0].revents != 0 && eventfd_read(linger->wake, &times) != 0) {
        /* nothing to do: the counter was already 0 */
    }
    discard_all(linger, polls + 1);
}
