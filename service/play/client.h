/*
 * A small HTTP client over libcurl: one connection, kept open from request to request. Use it
 * from one thread.
 */
#ifndef HS_PLAY_CLIENT_H
#define HS_PLAY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct hs_client;

struct hs_client_response {
    long status;    /* of HTTP; 0: no answer, `error` of the client says why */
    char *body;     /* terminated; owned by the client, valid until its next request; never NULL */
    size_t size;    /* of the body, without the terminator */
    double seconds; /* from the first byte sent to the last byte received */
};

/*
 * `url` is "http://HOST:PORT" or "https://..", copied; a trailing slash is ignored. The token of
 * the variable HINDSIGHT_TOKEN, if there is one, goes with each request: on a command line
 * everybody could read it. NULL: out of memory.
 */
struct hs_client *hs_client_open(const char *url);
void hs_client_close(struct hs_client *client);

/*
 * Sends one request and waits for the answer, at most 30 s. `body` may be NULL (none); otherwise
 * it goes out as application/json. False when there was no answer: hs_client_error says why.
 * An error status is an answer.
 */
bool hs_client_send(struct hs_client *client, const char *method, const char *path,
                    const char *body, size_t size, struct hs_client_response *response);

/* Why the last request got no answer, one sentence without a full stop. */
const char *hs_client_error(const struct hs_client *client);

const char *hs_client_url(const struct hs_client *client);

#endif
