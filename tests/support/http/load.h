/* A small HTTP load generator: one thread, epoll, and a few persistent connections. Each sends its
   next request after the last answer. It costs far less than the service that it measures. */
#ifndef HS_TESTS_LOAD_H
#define HS_TESTS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_load;

/* Connects to 127.0.0.1:port. Each request is a POST of `body`. The digits from `digits` on count
   up, so no two requests are equal. If `digits` is past the end, the body stays the same. NULL: it
   failed, with the reason on stderr. */
struct hs_load *hs_load_open(unsigned port, const char *path, const char *body, size_t digits,
                             size_t connections);
void hs_load_close(struct hs_load *load);

/* Wherever else the request has the first `count` digits of its number now, they change with the
   number. False: nowhere, or in too many places. */
bool hs_load_copy(struct hs_load *load, size_t count);

/*
 * Sends for `seconds` and returns answers a second; what is on its way at the end is waited for
 * and not counted. Every answer must have status 200, and hold `expected` (NULL: anything). 0,
 * with the reason on stderr, when that or the transport fails.
 */
double hs_load_run(struct hs_load *load, double seconds, const char *expected);

/* A minimal server on the same library: libmicrohttpd with its own threads, which answers every
   POST with the same body. */
struct hs_echo;

struct hs_echo *hs_echo_start(unsigned threads, unsigned *port);
void hs_echo_stop(struct hs_echo *echo);

#endif
