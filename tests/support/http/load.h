/* A small HTTP load generator: one thread, epoll, and a few persistent connections. Each connection
   sends its next request after the answer to its last one. The generator uses far less processor
   time than the service that it measures. */
#ifndef HS_TESTS_LOAD_H
#define HS_TESTS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_load;

/* Connects to 127.0.0.1:port. Each request is a POST of `body`. The number at offset `digits` of
   the body counts up, so no two requests are equal. If `digits` is past the end, the body stays the
   same. Returns NULL on failure, with the reason on stderr. */
struct hs_load *hs_load_open(unsigned port, const char *path, const char *body, size_t digits,
                             size_t connections);
void hs_load_close(struct hs_load *load);

/* Makes every other place in the request that has the first `count` digits of the number change
   with the number. Returns false if there is no such place, or there are too many. */
bool hs_load_copy(struct hs_load *load, size_t count);

/*
 * Sends requests for `seconds`, and returns answers per second. The function waits for the answers
 * that are missing at the end, but does not count them. Every answer must have status 200 and
 * contain `expected` (NULL: anything). Returns 0 with the reason on stderr if an answer is wrong,
 * or the transport fails.
 */
double hs_load_run(struct hs_load *load, double seconds, const char *expected);

/* A minimal server on the same library: libmicrohttpd with its own threads, which answers every
   POST with the same body. */
struct hs_echo;

struct hs_echo *hs_echo_start(unsigned threads, unsigned *port);
void hs_echo_stop(struct hs_echo *echo);

#endif
