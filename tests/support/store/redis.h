/*
 * A private redis-server on loopback, without files. The server ends with the process that started
 * it. Start and stop it from the same thread.
 */
#ifndef HS_TESTS_REDIS_H
#define HS_TESTS_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hs_test_redis {
    pid_t pid; /* 0: not running */
    unsigned port;
    char address[32]; /* 127.0.0.1:PORT */
};

/* Returns the path of redis-server, or NULL: not installed. */
const char *hs_test_redis_program(void);

/* Starts a server on `port`; 0: on a free port. `extra`: up to 6 more arguments, which end with
   NULL; or NULL. Returns false if the server does not answer in time; the reason is on stderr. */
bool hs_test_redis_start(struct hs_test_redis *redis, unsigned port, const char *const *extra);

/* Ends the server at once. Does nothing if the server does not run. */
void hs_test_redis_stop(struct hs_test_redis *redis);

/* Runs a command and returns the reply as text, valid until the next call. The elements of an array
   are separated by spaces. "": there was no reply. `format` is that of printf; arguments may
   contain no spaces. */
const char *hs_test_redis_ask(const struct hs_test_redis *redis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets a key to bytes. */
void hs_test_redis_set(const struct hs_test_redis *redis, const char *key, const void *bytes,
                       size_t size);

#endif
