/* The receiver of a webhook: a server on 127.0.0.1 that keeps all requests, and answers as a test
   asks. The server runs in threads of the test's process. */
#ifndef HS_TESTS_RECEIVER_H
#define HS_TESTS_RECEIVER_H

#include <jansson.h>
#include <stddef.h>

enum { HS_RECEIVED_MAX = 256 };

/* One request. All texts are terminated. */
struct hs_received {
    char path[128];
    char signature[128], key[128], content_type[64]; /* headers; "" if absent */
    char *body;
    double at; /* arrival, by hs_test_seconds */
};

struct hs_receiver;

/* Starts a receiver on the port *port. If *port is 0, it takes a free port and sets *port. NULL: it
   cannot be started. */
struct hs_receiver *hs_receiver_start(unsigned *port);
/* NULL does nothing. */
void hs_receiver_stop(struct hs_receiver *receiver);

/* The next `times` requests get this status after a pause; later ones get 200 at once. A status of
   300 to 399 has a Location that leads to the path /elsewhere. */
void hs_receiver_answer(struct hs_receiver *receiver, unsigned status, long pause_ms, int times);

/* Waits until the receiver has `count` requests. The test fails if they do not come in 30 s. */
void hs_receiver_wait(struct hs_receiver *receiver, size_t count);

/* The first returns how many requests came so far; the second returns one of them. A request stays
   valid until hs_receiver_stop. */
size_t hs_receiver_count(struct hs_receiver *receiver);
const struct hs_received *hs_receiver_get(struct hs_receiver *receiver, size_t i);

/* Returns the list `verdicts` of a request, a new reference. The test fails if it is missing. */
json_t *hs_received_verdicts(const struct hs_received *received);

#endif
