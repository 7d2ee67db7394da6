/* Makes requests for fuzzing a service over HTTP. Each begins as a valid request to some route,
   with a body from the corpus or from its schema. Then some parts of it are damaged. Everything
   follows from the seed and a number, so each request can be made again. */
#ifndef HS_TESTS_HTTP_REQUESTS_H
#define HS_TESTS_HTTP_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/json/buffer.h"
#include "tests/support/random.h"

enum hs_sent {
    HS_SENT_WHOLE,    /* a request whose end is clear, so that it gets one answer */
    HS_SENT_DOUBTFUL, /* a request with damaged framing or head, so that it may get any answer or
                         none */
    HS_SENT_CUT,      /* the connection ends in the middle of this request, or before its answer */
};

/* A route is a number in HS_ROUTES, or HS_NO_ROUTE if the method and path belong to no route. */
enum { HS_NO_ROUTE = -1 };

struct hs_sent_request {
    enum hs_sent kind;
    int route;
    bool head;         /* the method is HEAD, so the answer has no body */
    size_t begin, end; /* position of the request in the sent bytes */
};

struct hs_request_maker;

/*
 * `authorizations` has `count` header lines "Authorization: Bearer ...", and most requests have the
 * first of them. Bodies come from tests/fuzz/corpus in the working directory, or are drawn from
 * `document` (openapi.yaml). A drawn body may get any documented answer. If the corpus is missing,
 * the program ends.
 */
struct hs_request_maker *hs_request_maker_create(const json_t *document,
                                                 const char *const *authorizations, size_t count,
                                                 uint64_t seed);
void hs_request_maker_destroy(struct hs_request_maker *maker);

/* Appends one request to `out` and describes it in `request`. Only the last request of a connection
   (`last`) can be doubtful or cut. */
void hs_request_make(struct hs_request_maker *maker, bool last, struct hs_random *random,
                     struct hs_buffer *out, struct hs_sent_request *request);

#endif
