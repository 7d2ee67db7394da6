/*
 * Requests for fuzzing a service over HTTP: each begins as a good one of some route, with a body of
 * the fuzzers' corpus or made from its schema, and then has a few things wrong with it. Everything
 * comes from seed and number, so that a request can be made again.
 */
#ifndef HS_TESTS_HTTP_REQUESTS_H
#define HS_TESTS_HTTP_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/json/buffer.h"
#include "tests/support/random.h"

enum hs_sent {
    HS_SENT_WHOLE,    /* where it ends is beyond doubt: it gets one answer */
    HS_SENT_DOUBTFUL, /* its framing or its head is damaged: it is answered somehow, or not at all
                       */
    HS_SENT_CUT,      /* the connection ends in the middle of it, or before the answer */
};

/* A route by its number in HS_ROUTES; HS_NO_ROUTE: method or path are not those of one. */
enum { HS_NO_ROUTE = -1 };

struct hs_sent_request {
    enum hs_sent kind;
    int route;
    bool head;         /* a HEAD: no body comes back */
    size_t begin, end; /* in the buffer it was written to */
};

struct hs_request_maker;

/*
 * `authorizations`: `count` header lines "Authorization: Bearer ...", the first for most requests.
 * Bodies are read from tests/fuzz/corpus of the working directory and drawn from `document`
 * (openapi.yaml); the service may answer for those drawn as it likes. Ends the program when there
 * is no corpus. Freed by hs_request_maker_destroy.
 */
struct hs_request_maker *hs_request_maker_create(const json_t *document,
                                                 const char *const *authorizations, size_t count,
                                                 uint64_t seed);
void hs_request_maker_destroy(struct hs_request_maker *maker);

/*
 * Appends one request to `out` and says what it is in `request`. Only one that is the last of its
 * connection (`last`) is ever doubtful or cut.
 */
void hs_request_make(struct hs_request_maker *maker, bool last, struct hs_random *random,
                     struct hs_buffer *out, struct hs_sent_request *request);

#endif
