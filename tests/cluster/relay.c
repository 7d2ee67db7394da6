#include "tests/cluster/relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/http/raw.h"
#include "tests/support/need.h"

enum { LINKS_MAX = 256, PIECE = 65536 };

struct link {
    struct hs_relay *relay;
    int client, server; /* -1: the link is free */
    int pumps;          /* running threads */
};

struct hs_relay {
    int listener;
    unsigned port;
    atomic_int delay_ms;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t ended; /* a link became free */
    char target[108];     /* "": none */
    struct link links[LINKS_MAX];
};

/* Forwards bytes until one side closes, then ends both directions. */
static void pump(struct link *link, int from, int to, bool delays)
{
    char *piece = need(malloc(PIECE));
    for (ssize_t got; (got = read(from, piece, PIECE)) > 0;) {
        int delay = delays ? atomic_load(&link->relay->delay_ms) : 0;
        if (delay > 0)
            hs_test_pause_ms(delay);
        if (!hs_raw_send(to, piece, (size_t)got))
            break;
    }
    free(piece);
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
    pthread_mutex_lock(&link->relay->lock);
    if (--link->pumps == 0) {
        close(link->client);
        close(link->server);
        link->client = link->server = -1;
        pthread_cond_broadcast(&link->relay->ended);
    }
    pthread_mutex_unlock(&link->relay->lock);
}

static void *pump_requests(void *context)
{
    struct link *link = context;
    pump(link, link->client, link->server, false);
    return NULL;
}

static void *pump_answers(void *context)
{
    struct link *link = context;
    pump(link, link->server, link->client, true);
    return NULL;
}

/* Returns a connection to the target, or -1. */
static int reach(const char *target)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (target[0] != '/')
        return target[0] != '\0' ? hs_raw_connect((unsigned)atoi(target)) : -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", target);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void begin_link(struct hs_relay *relay, int client)
{
    static const int on = 1;
    static const struct timeval forever = {0};
    pthread_t threads[2];
    pthread_mutex_lock(&relay->lock);
    int server = reach(relay->target);
    struct link *link = NULL;
    for (int i = 0; server >= 0 && link == NULL && i < LINKS_MAX; i++)
        if (relay->links[i].client < 0)
            link = &relay->links[i];
    if (link == NULL) {
        close(client);
        if (server >= 0)
            close(server);
    } else {
        setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        *link = (struct link){.relay = relay, .client = client, .server = server, .pumps = 2};
        if (pthread_create(&threads[0], NULL, pump_requests, link) != 0 ||
            pthread_create(&threads[1], NULL, pump_answers, link) != 0)
            abort();
        pthread_detach(threads[0]);
        pthread_detach(threads[1]);
    }
    pthread_mutex_unlock(&relay->lock);
}

static void *accept_all(void *context)
{
    struct hs_relay *relay = context;
    for (int client; (client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        begin_link(relay, client);
    return NULL;
}

struct hs_relay *hs_relay_start(const char *target)
{
    struct hs_relay *relay = need(calloc(1, sizeof *relay));
    for (int i = 0; i < LINKS_MAX; i++)
        relay->links[i].client = -1;
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->ended, NULL);
    snprintf(relay->target, sizeof relay->target, "%s", target);
    relay->listener = hs_raw_reserve(&relay->port);
    if (relay->listener < 0 || listen(relay->listener, LINKS_MAX) != 0 ||
        pthread_create(&relay->thread, NULL, accept_all, relay) != 0) {
        if (relay->listener >= 0)
            close(relay->listener);
        free(relay);
        return NULL;
    }
    return relay;
}

unsigned hs_relay_port(const struct hs_relay *relay)
{
    return relay->port;
}

void hs_relay_delay(struct hs_relay *relay, int ms)
{
    atomic_store(&relay->delay_ms, ms);
}

void hs_relay_point(struct hs_relay *relay, const char *target)
{
    pthread_mutex_lock(&relay->lock);
    snprintf(relay->target, sizeof relay->target, "%s", target);
    for (int i = 0; i < LINKS_MAX; i++)
        if (relay->links[i].client >= 0) {
            shutdown(relay->links[i].client, SHUT_RDWR);
            shutdown(relay->links[i].server, SHUT_RDWR);
        }
    pthread_mutex_unlock(&relay->lock);
}

void hs_relay_stop(struct hs_relay *relay)
{
    if (relay == NULL)
        return;
    shutdown(relay->listener, SHUT_RDWR); /* ends accept */
    pthread_join(relay->thread, NULL);
    close(relay->listener);
    hs_relay_point(relay, "");
    pthread_mutex_lock(&relay->lock);
    for (int i = 0; i < LINKS_MAX;) {
        if (relay->links[i].client < 0)
            i++;
        else
            pthread_cond_wait(&relay->ended, &relay->lock);
    }
    pthread_mutex_unlock(&relay->lock);
    pthread_mutex_destroy(&relay->lock);
    pthread_cond_destroy(&relay->ended);
    free(relay);
}
