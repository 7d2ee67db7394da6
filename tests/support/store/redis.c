#include "tests/support/store/redis.h"

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/http/raw.h"

enum { TRIES = 500, TRY_MS = 10, EXTRA_MAX = 6 };

const char *hs_test_redis_program(void)
{
    static const char *const places[] = {"/usr/bin/redis-server", "/usr/bin/valkey-server"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

static _Noreturn void run_child(pid_t parent, const struct hs_test_redis *redis,
                                const char *const *extra)
{
    char port[16];
    /* No server writes a file, also not when it copies another one. Otherwise the next server that
       starts would read it. */
    const char *const fixed[] = {"--port",
                                 port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--save",
                                 "",
                                 "--appendonly",
                                 "no",
                                 "--dir",
                                 "/tmp",
                                 "--dbfilename",
                                 "hindsight-test-no-file.rdb",
                                 "--repl-diskless-sync",
                                 "yes",
                                 "--repl-diskless-sync-delay",
                                 "0",
                                 "--repl-diskless-load",
                                 "swapdb"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    const char *arguments[1 + FIXED + EXTRA_MAX + 1] = {hs_test_redis_program()};
    memcpy(arguments + 1, fixed, sizeof fixed);
    snprintf(port, sizeof port, "%u", redis->port);
    for (size_t i = 0; extra != NULL && extra[i] != NULL && i < EXTRA_MAX; i++)
        arguments[1 + FIXED + i] = extra[i];
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        freopen("/dev/null", "w", stdout) == NULL)
        _exit(127);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

bool hs_test_redis_start(struct hs_test_redis *redis, unsigned port, const char *const *extra)
{
    *redis = (struct hs_test_redis){.port = port};
    /* The port stays reserved until the server has it, which is possible because the server reuses
       addresses. */
    int reserved = port == 0 ? hs_raw_reserve(&redis->port) : -1;
    snprintf(redis->address, sizeof redis->address, "127.0.0.1:%u", redis->port);
    pid_t parent = getpid();
    fflush(NULL);
    redis->pid = fork();
    if (redis->pid == 0)
        run_child(parent, redis, extra);
    bool is_up = false;
    for (int i = 0; redis->pid > 0 && !is_up && i < TRIES; i++) {
        /* With a password the answer is an error, which is an answer too. */
        is_up = hs_test_redis_ask(redis, "PING")[0] != '\0';
        if (!is_up)
            hs_test_pause_ms(TRY_MS);
    }
    if (reserved >= 0)
        close(reserved);
    if (is_up)
        return true;
    fprintf(stderr, "redis-server did not start on port %u\n", redis->port);
    hs_test_redis_stop(redis);
    return false;
}

void hs_test_redis_stop(struct hs_test_redis *redis)
{
    if (redis->pid > 0) {
        kill(redis->pid, SIGKILL);
        kill(redis->pid, SIGCONT);
        waitpid(redis->pid, NULL, 0);
    }
    redis->pid = 0;
}

/* Appends a reply to `text` as far as it fits. */
static void put(const redisReply *reply, char *text, size_t size)
{
    size_t len = strlen(text);
    if (reply->type == REDIS_REPLY_INTEGER)
        snprintf(text + len, size - len, "%lld", reply->integer);
    else if (reply->str != NULL)
        snprintf(text + len, size - len, "%s", reply->str);
    for (size_t i = 0; i < reply->elements; i++) {
        len = strlen(text);
        if (i > 0)
            snprintf(text + len, size - len, " ");
        put(reply->element[i], text, size);
    }
}

const char *hs_test_redis_ask(const struct hs_test_redis *redis, const char *format, ...)
{
    static char text[65536];
    char command[1024];
    const struct timeval timeout = {.tv_sec = 10};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    text[0] = '\0';
    redisContext *context = redisConnectWithTimeout("127.0.0.1", (int)redis->port, timeout);
    if (context == NULL)
        return text;
    const char *words[16];
    size_t count = 0;
    char *rest;
    for (char *word = strtok_r(command, " ", &rest); word != NULL && count < 16;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    redisSetTimeout(context, timeout);
    redisReply *reply =
        context->err == 0 ? redisCommandArgv(context, (int)count, words, NULL) : NULL;
    if (reply != NULL) {
        put(reply, text, sizeof text);
        freeReplyObject(reply);
    }
    redisFree(context);
    return text;
}

void hs_test_redis_set(const struct hs_test_redis *redis, const char *key, const void *bytes,
                       size_t size)
{
    redisContext *context = redisConnect("127.0.0.1", (int)redis->port);
    if (context == NULL)
        return;
    freeReplyObject(redisCommand(context, "SET %s %b", key, bytes, size));
    redisFree(context);
}
