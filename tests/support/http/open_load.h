/*
 * An open-loop HTTP load. Requests leave at their intended times, a fixed number per second,
 * whether or not earlier ones were answered. They use any free connection of a set that stays open.
 * Latency counts from the intended time. So a request that a slow service delays before it is sent
 * counts as slow, too (Gil Tene's "coordinated omission" is avoided). One thread, epoll.
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
    double rate;   /* requests per second; 0: a closed loop, where each connection sends after its
                      answer */
    double seconds;
    unsigned connections;
    int64_t
        good_us; /* an answer 200 is good if it arrives within this time after the intended time */
    hs_open_load_fill *fill;
    void *context;
    uint64_t first; /* number of the first request */
    uint64_t most;  /* requests at most; 0: as many as the time allows */
    /* Request i has connection i modulo `connections` and waits for it, as the ticks of a match
       wait for one another. Otherwise it has any free connection. */
    bool is_in_order;
    /* Of which requests latencies are taken; NULL: of all. */
    bool (*is_timed)(void *context, uint64_t number);
};

struct hs_open_load_result {
    uint64_t intended; /* whose time came */
    uint64_t unsent;   /* unsent requests, because no connection was free at the end */
    uint64_t ok, limited, shed, other;      /* answers 200, 429, 503, any other, or none */
    uint64_t good;                          /* of `ok` */
    double goodput;                         /* of those, a second */
    double p50_us, p99_us, p999_us, max_us; /* of answers 200, from the intended time */
    double late_p50_us, late_p99_us;        /* the load's own delay, in the above too */
    double seconds;                         /* until nothing more was sent */
    uint64_t next;                          /* number after the last request */
};

/* False: it cannot connect or memory is out, with the reason on stderr. */
bool hs_open_load_run(const struct hs_open_load_options *options,
                      struct hs_open_load_result *result);

#endif
