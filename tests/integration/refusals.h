/* Hand-made requests to the routes of openapi.yaml. Each answer is compared with the documented
   status, body and header fields. All forked processes of the test program record the answers that
   they see. So the last test can list the documented answers that were never seen. */
#ifndef HS_TESTS_REFUSALS_H
#define HS_TESTS_REFUSALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"

/* A request. The Content-Length is that of the body, unless `headers` has one. */
struct hs_refusal_message {
    const char *method, *headers, *body; /* `headers`: complete lines, or ""; `body` may be NULL */
    char path[256];
    size_t size;           /* size of the body */
    bool unsized;          /* without Content-Length */
    size_t claimed_length; /* Content-Length of a body that is not sent */
};

/* Makes a message that the service serves, or that gets to the check under test before it is
   refused. */
void hs_refusal_any(size_t route, const char *name, struct hs_refusal_message *message);

/* Writes the smallest body that the schema of the route allows. If the schema has branches, uses
   the first. */
void hs_refusal_smallest_body(const json_t *document, size_t route, char *out, size_t size);

/* Connects, sends and returns the connection. The test fails if the message cannot be sent. */
int hs_refusal_send(unsigned port, const struct hs_refusal_message *message);

/* Reads the only answer and closes the connection. */
const struct hs_raw_answer *hs_refusal_receive(int fd);

/* Return the port for a route (its number in api/http/routes.h), its operation in the contract,
   whether its method has a body, its method, and its pattern. */
unsigned hs_refusal_port(const struct hs_test_service *service, size_t route);
const json_t *hs_refusal_operation(const json_t *document, size_t route);
bool hs_refusal_takes_body(size_t route);
const char *hs_refusal_method(size_t route);
const char *hs_refusal_pattern(size_t route);

/* Writes the path of a route, with each of its names replaced by `name`. */
void hs_refusal_path(size_t route, const char *name, char path[256]);

/* Compares an answer with the contract of the route for that status, and records it. For a problem
   (400 and above, except health) it also checks type, code, instance, Retry-After and
   WWW-Authenticate. A fault fails the test, and the message contains `what`. */
void hs_refusal_expect(const json_t *document, size_t route, const struct hs_raw_answer *raw,
                       int status, const char *what);

/* Returns whether a test has seen a correct answer of the route with that status. */
bool hs_refusal_was_seen(size_t route, int status);

/* Must be called in main, before the tests. */
bool hs_refusal_init(void);

#endif
