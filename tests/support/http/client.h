/* A small HTTP client for tests, over libcurl. One struct hs_test_http is one connection that stays
   open between requests. Each thread needs its own. Transport failures (refused, reset, no answer
   within 60 s times CK_TIMEOUT_MULTIPLIER) give status 0 and never end the program. */
#ifndef HS_TESTS_CLIENT_H
#define HS_TESTS_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_test_http;

struct hs_test_response {
    long status;   /* 0: no answer; `error` has the reason */
    char *body;    /* terminated; never NULL */
    size_t size;   /* size of the body without the terminator */
    char *headers; /* the raw header lines, terminated; never NULL */
    char error[256];
};

/* Creates a client of http://127.0.0.1:PORT. Never NULL: if out of memory, the test program
   ends. */
struct hs_test_http *hs_test_http_open(unsigned port);
void hs_test_http_close(struct hs_test_http *http);

/* Sends one request. `body` may be NULL (no body); otherwise it is sent with Content-Type:
   application/json. `headers` is NULL, or a list of "Name: value" strings that ends with NULL. The
   old contents of `response` are overwritten: free them first. */
void hs_test_http_send(struct hs_test_http *http, const char *method, const char *path,
                       const char *body, size_t size, const char *const *headers,
                       struct hs_test_response *response);

/* Puts a JSON body (takes ownership). Returns false if it is refused. Then the answer is on
   stderr. */
bool hs_test_http_put(struct hs_test_http *http, const char *path, json_t *body);

/* Sends a JSON body (takes ownership; NULL: no body) and returns the parsed answer, a new
   reference. Returns NULL if there is no answer, or it is not JSON. `status` may be NULL. */
json_t *hs_test_http_json(struct hs_test_http *http, const char *method, const char *path,
                          json_t *body, long *status);

/* Sends one request on a separate connection and returns the status. `body`: see
   hs_test_http_send. */
long hs_test_http_status(unsigned port, const char *method, const char *path, const char *body);

/* Returns the parsed body, a new reference. Returns NULL if it is not JSON. */
json_t *hs_test_response_json(const struct hs_test_response *response);

/* Copies the value of a header (name in any case) into `value`. Returns false if it is absent. */
bool hs_test_response_header(const struct hs_test_response *response, const char *name, char *value,
                             size_t size);

void hs_test_response_free(struct hs_test_response *response);

/* Overwrites the verdict ids in an answer, because each opening of a match has its own ids. */
void hs_test_mask_ids(char *answer);

#endif
