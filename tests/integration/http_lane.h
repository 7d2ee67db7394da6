/* A connection that sends volleys of requests, cut into random pieces, and parses the answers as
   they arrive. Its functions never block, so one thread can drive several lanes. */
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
    bool closes;                      /* has "Connection: close" */
    const char *head, *body;          /* not terminated */
    size_t head_size, body_size;      /* the head includes the blank line at its end */
    const struct hs_sent_request *to; /* the request that is answered; NULL: a doubtful request */
};

/* Checks an answer. Returns NULL, or a sentence about a fault. */
typedef const char *hs_lane_judge(void *context, const struct hs_lane_answer *answer);

struct hs_lane {
    unsigned port;
    hs_lane_judge *judge;
    void *context;
    /* private; all zero at first, except fd = -1 */
    int fd;
    bool busy;
    uint64_t number; /* number of the volley */
    int64_t began_ms,
        /* times when the volley began, and when everything except a doubtful request was sent and
           answered */
        out_ms;
    struct hs_random random; /* chooses the sizes of pieces */
    struct hs_buffer out, in;
    size_t sent, taken; /* numbers of sent bytes of `out` and of parsed bytes of `in` */
    struct hs_sent_request requests[HS_LANE_REQUESTS];
    size_t count, answered; /* number of requests, and number of whole requests that were
                               answered */
    bool closing, ended, half_closed;
};

/* Sends volley `number` of the seed, on a new connection if the lane has none. Returns NULL, or a
   sentence about a fault. */
const char *hs_lane_begin(struct hs_lane *lane, struct hs_request_maker *maker, uint64_t seed,
                          uint64_t number);

/* Returns the events to poll for. */
struct pollfd hs_lane_poll(const struct hs_lane *lane);

/* Continues after poll. `busy` becomes false when the volley is complete: each whole request was
   answered, the last answer announced the end of the connection, or a doubtful request ended it.
   Returns NULL, or a sentence about a fault. */
const char *hs_lane_step(struct hs_lane *lane, short events);

/* Returns the number of requests that were answered, or that were sent although no answer can
   arrive. */
size_t hs_lane_done(const struct hs_lane *lane);

/* Copies the value of a header field. Returns false if the answer does not have it. */
bool hs_lane_header(const struct hs_lane_answer *answer, const char *name, char *value,
                    size_t size);

/* Writes the sent bytes of the volley, one line per request, and the received bytes to stderr. */
void hs_lane_print(const struct hs_lane *lane);

void hs_lane_close(struct hs_lane *lane);

#endif
