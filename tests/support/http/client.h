/*
 * A small HTTP client for tests, over libcurl. One struct hs_test_http is one connection that is
 * kept open between requests; use it from one thread, open another for each further thread.
 * Transport failures (refused, reset, no answer within 60 s times CK_TIMEOUT_MULTIPLIER) give
 * status 0, never an abort.
 */
#ifndef HS_TESTS_CLIENT_H
#define HS_TESTS_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_test_http;

struct hs_test_response {
    long status;   /* 0: no answer; `error` says why */
    char *body;    /* terminated; never NULL */
    size_t size;   /* of the body, without the terminator */
    char *headers; /* the raw header lines, terminated; never NULL */
    char error[256];
};

/* A client of http://127.0.0.1:PORT. Never NULL: without memory the test program ends. */
struct hs_test_http *hs_test_http_open(unsigned port);
void hs_test_http_close(struct hs_test_http *http);

/*
 * Sends one request. `body` may be NULL (none); otherwise it goes out with
 * Content-Type: application/json. `headers` (NULL, or "Name: value" strings closed by NULL) are
 * added. Whatever `response` held before is lost: free it first.
 */
void hs_test_http_send(struct hs_test_http *http, const char *method, const char *path,
                       const char *body, size_t size, const char *const *headers,
                       struct hs_test_response *response);

/*
 * Sends a JSON body (taken over and released; NULL: none) and returns the parsed answer: a new
 * reference, or NULL without an answer or when it is not JSON. `status` may be NULL.
 */
json_t *hs_test_http_json(struct hs_test_http *http, const char *method, const char *path,
                          json_t *body, long *status);

/* One request on a connection of its own: the status alone. `body` as above. */
long hs_test_http_status(unsigned port, const char *method, const char *path, const char *body);

/* The parsed body: a new reference, or NULL when it is not JSON. */
json_t *hs_test_response_json(const struct hs_test_response *response);

/* Copies the value of a header (name in any case) into `value`; false: it is absent. */
bool hs_test_response_header(const struct hs_test_response *response, const char *name, char *value,
                             size_t size);

void hs_test_response_free(struct hs_test_response *response);

/* Overwrites the verdict ids in an answer: each opening of a match has its own. */
void hs_test_mask_ids(char *answer);

#endif
