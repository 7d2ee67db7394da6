/* A connection that sends volleys of requests, cut into random pieces, and parses answers as they
   arrive. Nothing blocks, so one thread can drive several lanes. */
#ifndef HS_TESTS_HTTP_LANE_H
#define HS_TESTS_HTTP_LANE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/json/buffer.h"
#include "tests/integration/http_requests.h"

enum { HS_LANE_REQUESTS = 6 };

struct hs_lane_answer {
    int status;
    bool closes;                      /* "Connection: close" */
    const char *head, *body;          /* not terminated */
    size_t head_size, body_size;      /* the head with the blank line at its end */
    const struct hs_sent_request *to; /* NULL: the answer to a doubtful request */
};

/* Checks an answer: returns NULL, or a sentence about a fault. */
typedef const char *hs_lane_judge(void *context, const struct hs_lane_answer *answer);

struct hs_lane {
    unsigned port;
    hs_lane_judge *judge;
    void *context;
    /* private; zeroed at first, except fd = -1 */
    int fd;
    bool busy;
    uint64_t number; /* of the volley */
    int64_t began_ms,
        out_ms; /* out: when everything except a doubtful request was sent and answered */
    struct hs_random random; /* chooses the pieces */
    struct hs_buffer out, in;
    size_t sent, taken; /* sizes of `out` and of `in` */
    struct hs_sent_request requests[HS_LANE_REQUESTS];
    size_t count, answered; /* answered whole requests */
    bool closing, ended, half_closed;
};

/* Sends volley `number` of the seed, on a new connection if the lane has none. NULL, or a fault. */
const char *hs_lane_begin(struct hs_lane *lane, struct hs_request_maker *maker, uint64_t seed,
                          uint64_t number);

/* Returns the events to poll for. */
struct pollfd hs_lane_poll(const struct hs_lane *lane);

/* Continues after poll; `busy` becomes false when the volley is complete. A volley is complete if
   each whole request was answered. It is also complete if the last answer announced the end of the
   connection, or if a doubtful request ended it. NULL, or a sentence about what went wrong. */
const char *hs_lane_step(struct hs_lane *lane, short events);

/* The number of requests that were answered, or that were sent although no answer can come. */
size_t hs_lane_done(const struct hs_lane *lane);

/* Copies the value of a header; false: it is absent. */
bool hs_lane_header(const struct hs_lane_answer *answer, const char *name, char *value,
                    size_t size);

/* Writes the bytes of the volley, one line per request, and the received bytes to stderr. */
void hs_lane_print(const struct hs_lane *lane);

void hs_lane_close(struct hs_lane *lane);

#endif
