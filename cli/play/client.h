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
    double wait_seconds; /* with a 429 or 503: when to come back, as it was told; 0: it was not */
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

/* How often, and until when, one request was and may be sent again. Zeroed at first. */
struct hs_client_patience {
    unsigned waits;
    double until; /* monotonic seconds; of no meaning before the first wait */
};

/*
 * Has a request been refused only for now? Then waits as long as it was told, and returns whether
 * to send it again: not when that would take more than 30 s or 100 waits in all, or nothing was
 * told. Requests may be sent again by their contract: nothing counts twice.
 */
bool hs_client_wait(struct hs_client_patience *patience, const struct hs_client_response *response);

/* Why the last request got no answer, one sentence without a full stop. */
const char *hs_client_error(const struct hs_client *client);

const char *hs_client_url(const struct hs_client *client);

#endif
