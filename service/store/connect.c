#include "service/store/connect.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "service/system/address.h"
#include "service/system/clock.h"
#include "service/system/secret.h"

/* Waits for one of `events` on the socket. Returns false if no event occurs before `until_us`. */
static bool wait_for_socket(redisContext *redis, short events, int64_t until_us)
{
    struct pollfd polls[] = {{.fd = redis->fd, .events = events}};
    int64_t left_us = until_us - hs_clock_us();
    return left_us > 0 && poll(polls, 1, (int)(left_us / 1000) + 1) > 0;
}

/* Sends a command and waits for the reply. Returns NULL on failure, or if there is no reply before
   `until_us`. */
static redisReply *ask(redisContext *redis, int count, const char **texts, const size_t *sizes,
                       int64_t until_us)
{
    void *reply = NULL;
    int done = 0;
    bool fine = redisAppendCommandArgv(redis, count, texts, sizes) == REDIS_OK;
    while (fine && done == 0)
        fine = redisBufferWrite(redis, &done) == REDIS_OK &&
               (done != 0 || wait_for_socket(redis, POLLOUT, until_us));
    while (fine && reply == NULL)
        fine = redisGetReplyFromReader(redis, &reply) == REDIS_OK &&
               (reply != NULL ||
                (wait_for_socket(redis, POLLIN, until_us) && redisBufferRead(redis) == REDIS_OK));
    return reply;
}

static bool authenticate(redisContext *redis, const struct hs_secret *secret, int64_t until_us,
                         char detail[256])
{
    if (secret == NULL)
        return true;
    const char *texts[] = {"AUTH", (const char *)secret->bytes};
    const size_t sizes[] = {4, secret->size};
    redisReply *reply = ask(redis, 2, texts, sizes, until_us);
    bool fine = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (!fine)
        snprintf(detail, 256, "AUTH: %s", reply != NULL ? reply->str : "no reply");
    freeReplyObject(reply);
    return fine;
}

/* Returns whether the server is a primary, which accepts writes. If the server is not a primary,
   sets `detail` to the reason. */
static bool is_primary(redisContext *redis, int64_t until_us, char detail[256])
{
    const char *texts[] = {"ROLE"};
    const size_t sizes[] = {4};
    redisReply *reply = ask(redis, 1, texts, sizes, until_us);
    bool has_role = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
                    reply->element[0]->type == REDIS_REPLY_STRING;
    bool fine = has_role && strcmp(reply->element[0]->str, "master") == 0;
    if (!fine)
        snprintf(detail, 256, "ROLE: %s",
                 reply == NULL                      ? "no reply"
                 : has_role                         ? reply->element[0]->str
                 : reply->type == REDIS_REPLY_ERROR ? reply->str
                                                    : "not a Redis server");
    freeReplyObject(reply);
    return fine;
}

/* Waits until the socket is connected, and sets its options. */
static bool open_socket(redisContext *redis, int64_t until_us, char detail[256])
{
    const int on = 1;
    int error = 0;
    socklen_t size = sizeof error;
    bool is_open = wait_for_socket(redis, POLLOUT, until_us) &&
                   getsockopt(redis->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0;
    if (!is_open || error != 0) {
        snprintf(detail, 256, "connect: %s", is_open ? strerror(error) : "no answer in time");
        return false;
    }
    fcntl(redis->fd, F_SETFD, FD_CLOEXEC);
    setsockopt(redis->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return true;
}

redisContext *hs_store_connect(const char *address, const struct hs_secret *secret,
                               int64_t until_us, char detail[256])
{
    char host[HS_ADDRESS_HOST_MAX];
    int port;
    redisContext *redis =
        hs_address_split(address, host, &port) ? redisConnectNonBlock(host, port) : NULL;
    snprintf(detail, 256, "%s", redis != NULL ? redis->errstr : "out of memory");
    if (redis != NULL && redis->err == 0 && open_socket(redis, until_us, detail) &&
        authenticate(redis, secret, until_us, detail) && is_primary(redis, until_us, detail))
        return redis;
    if (redis != NULL)
        redisFree(redis);
    return NULL;
}
