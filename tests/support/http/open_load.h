/*
 * An open-loop HTTP load. Requests leave at their intended times, a fixed number per second,
 * whether or not earlier ones were answered. Each request uses any free connection of a set that
 * stays open. Latency counts from the intended time. So if a slow service delays the sending of a
 * request, the request counts as slow, too. This avoids Gil Tene's "coordinated omission". The load
 * uses one thread and epoll.
 */
#ifndef HS_TESTS_OPEN_LOAD_H
#define HS_TESTS_OPEN_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HS_OPEN_LOAD_REQUEST_MAX = 192 * 1024 };

/* Writes request `number` (0, 1, ...), header and body, into `out` and returns its size. */
typedef size_t hs_open_load_fill(void *context, uint64_t number,
                                 char out[HS_OPEN_LOAD_REQUEST_MAX]);

struct hs_open_load_options {
    unsigned port; /* on 127.0.0.1 */
    /* Requests per second. 0: a closed loop, in which each connection sends its next request after
       an answer. */
    double rate;
    double seconds;
    unsigned connections;
    int64_t
        /* An answer 200 is good if it arrives within this time after the intended time. */
        good_us;
    hs_open_load_fill *fill;
    void *context;
    uint64_t first; /* number of the first request */
    uint64_t most;  /* max number of requests; 0: as many as the time allows */
    /* Request i uses connection i modulo `connections` and waits for it, because the ticks of a
       match wait for one another. Otherwise a request uses any free connection. */
    bool is_in_order;
    /* Returns whether the latency of a request counts. NULL: all count. */
    bool (*is_timed)(void *context, uint64_t number);
};

struct hs_open_load_result {
    uint64_t intended; /* requests that became due */
    uint64_t unsent;   /* unsent requests, because no connection was free at the end */
    uint64_t ok, limited, shed, other;      /* answers 200, 429, 503, any other, or none */
    uint64_t good;                          /* how many answers 200 were good */
    double goodput;                         /* good answers per second */
    double p50_us, p99_us, p999_us, max_us; /* latencies of answers 200, from the intended time */
    /* delays of sending by this program; the latencies include them */
    double late_p50_us, late_p99_us;
    double seconds; /* time until the last request was sent */
    uint64_t next;  /* number after the last request */
};

/* Runs a load. Returns false if it cannot connect, or if memory runs out; the reason is on
   stderr. */
bool hs_open_load_run(const struct hs_open_load_options *options,
                      struct hs_open_load_result *result);

#endif
