/*
 * A connection on which volleys of requests go out together, cut into pieces where chance has it,
 * while answers are taken apart as they come: nothing blocks, so that one thread drives several.
 */
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
    size_t head_size, body_size;      /* the head with the blank line */
    const struct hs_sent_request *to; /* NULL: to a doubtful one */
};

/* Looks at an answer: NULL, or a sentence about what is wrong with it. */
typedef const char *hs_lane_judge(void *context, const struct hs_lane_answer *answer);

struct hs_lane {
    unsigned port;
    hs_lane_judge *judge;
    void *context;
    /* from here on its own; zeroed, but for fd = -1 */
    int fd;
    bool busy;
    uint64_t number;          /* of the volley */
    int64_t began_ms, out_ms; /* out: when all was sent and answered but what is doubtful */
    struct hs_random random;  /* for the pieces it is sent in */
    struct hs_buffer out, in;
    size_t sent, taken; /* of out; of in */
    struct hs_sent_request requests[HS_LANE_REQUESTS];
    size_t count, answered; /* whole ones only are counted as answered */
    bool closing, ended, half_closed;
};

/* Sends volley `number` of the seed, on a new connection if the lane has none. NULL, or a fault. */
const char *hs_lane_begin(struct hs_lane *lane, struct hs_request_maker *maker, uint64_t seed,
                          uint64_t number);

/* What to poll for. */
struct pollfd hs_lane_poll(const struct hs_lane *lane);

/*
 * Goes on after poll; `busy` is false when the volley is through. A volley is through when each
 * whole request was answered, or the last answer said that the connection closes and it did, and
 * what was doubtful ended the connection. NULL, or a sentence about what went wrong.
 */
const char *hs_lane_step(struct hs_lane *lane, short events);

/* Requests that were answered, or whose bytes went out where no answer is to be had. */
size_t hs_lane_done(const struct hs_lane *lane);

/* Copies the value of a header; false: it is absent. */
bool hs_lane_header(const struct hs_lane_answer *answer, const char *name, char *value,
                    size_t size);

/* The bytes of the volley, one line a request, and what came back, on stderr. */
void hs_lane_print(const struct hs_lane *lane);

void hs_lane_close(struct hs_lane *lane);

#endif
