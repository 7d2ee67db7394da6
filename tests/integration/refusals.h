/*
 * Requests by hand to the routes of openapi.yaml, and what comes back held against it: the status,
 * the body, every header it documents. What was seen is noted for all processes that the test
 * program forked, so that its last test can tell what was never seen.
 */
#ifndef HS_TESTS_REFUSALS_H
#define HS_TESTS_REFUSALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"

/* What goes out. The length is that of the body unless `headers` say it. */
struct hs_refusal_message {
    const char *method, *headers, *body; /* `headers`: whole lines, or ""; a body may be NULL */
    char path[256];
    size_t size;           /* of the body */
    bool unsized;          /* no Content-Length */
    size_t claimed_length; /* Content-Length of a body that does not follow */
};

/* A message that would be served, or as near to it as does not matter to what refuses it. */
void hs_refusal_any(size_t route, const char *name, struct hs_refusal_message *message);

/* The smallest body the schema of the route allows; of several the first. */
void hs_refusal_smallest_body(const json_t *document, size_t route, char *out, size_t size);

/* Connects, sends and returns the connection. What cannot be sent fails the test. */
int hs_refusal_send(unsigned port, const struct hs_refusal_message *message);

/* Reads one answer, the only one at a time, and closes the connection. */
const struct hs_raw_answer *hs_refusal_receive(int fd);

/* Where a service listens for a route (its number in api/http/routes.h), what the contract says of
   it, whether its method comes with a body. */
unsigned hs_refusal_port(const struct hs_test_service *service, size_t route);
const json_t *hs_refusal_operation(const json_t *document, size_t route);
bool hs_refusal_takes_body(size_t route);
const char *hs_refusal_method(size_t route);
const char *hs_refusal_pattern(size_t route);

/* The path of a route, each of its names replaced by `name`. */
void hs_refusal_path(size_t route, const char *name, char path[256]);

/*
 * Holds an answer against what is documented of a route for that status, notes it, and for a
 * problem (400 and above, but health) its type, code, instance, Retry-After, WWW-Authenticate.
 * Anything amiss fails the test, which is about `what`.
 */
void hs_refusal_expect(const json_t *document, size_t route, const struct hs_raw_answer *raw,
                       int status, const char *what);

/* Whether an answer of that status was expected of a route, and was right, in any test so far. */
bool hs_refusal_was_seen(size_t route, int status);

/* From main, before the tests. */
bool hs_refusal_init(void);

#endif
