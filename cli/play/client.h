/*
 * A small HTTP client over libcurl. The client keeps one connection open between requests. Only one
 * thread at a time may use a client.
 */
#ifndef HS_PLAY_CLIENT_H
#define HS_PLAY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct hs_client;

struct hs_client_response {
    long status;    /* the HTTP status; 0: no answer, see hs_client_error */
    char *body;     /* terminated; owned by the client, valid until its next request; never NULL */
    size_t size;    /* bytes in `body`, without the terminator */
    double seconds; /* duration of the request, including connection setup */
    double wait_seconds; /* time to wait before the request is sent again; 0: the answer is final */
};

/* Creates a client. `url` is "http://HOST:PORT" or "https://..". The client copies `url`, and
   ignores trailing slashes. If the environment variable HINDSIGHT_TOKEN is set, each request
   contains the value of this variable as the token. There is no option for the token, because other
   users of the machine can read command lines. Returns NULL if memory runs out or the URL is too
   long. */
struct hs_client *hs_client_open(const char *url);
void hs_client_close(struct hs_client *client);

/*
 * Sends one request and waits up to 30 s for the answer. `body` is sent as application/json; NULL:
 * no body. Returns false if no answer arrives; hs_client_error then returns the reason. A response
 * with an error status counts as an answer.
 */
bool hs_client_send(struct hs_client *client, const char *method, const char *path,
                    const char *body, size_t size, struct hs_client_response *response);

/* Returns the reason why the last request got no answer, as one sentence without a full stop. */
const char *hs_client_error(const struct hs_client *client);

const char *hs_client_url(const struct hs_client *client);

/* Returns the time of the monotonic clock, in seconds. */
double hs_client_now(void);

/* Sleeps for `seconds`; returns at once if `seconds` is 0 or negative. */
void hs_client_pause(double seconds);

#endif
