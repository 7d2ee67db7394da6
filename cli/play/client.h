/*
 * A small HTTP client over libcurl: one connection, kept open between requests. Use it from one
 * thread.
 */
#ifndef HS_PLAY_CLIENT_H
#define HS_PLAY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct hs_client;

struct hs_client_response {
    long status;    /* the HTTP status; 0: no answer, see hs_client_error */
    char *body;     /* terminated; owned by the client, valid until its next request; never NULL */
    size_t size;    /* bytes of the body, without the terminator */
    double seconds; /* time from the first byte sent to the last byte received */
    double wait_seconds; /* time to wait before the request is sent again; 0: the answer is final */
};

/* Creates a client. `url` is "http://HOST:PORT" or "https://.."; it is copied, and a trailing slash
   is ignored. If the environment variable HINDSIGHT_TOKEN is set, each request is sent with this
   token. There is no option for the token, because other users can read command lines. Returns NULL
   if memory runs out. */
struct hs_client *hs_client_open(const char *url);
void hs_client_close(struct hs_client *client);

/*
 * Sends one request and waits for the answer, at most 30 s. `body` may be NULL (none); otherwise it
 * is sent as application/json. Returns false if there is no answer; see hs_client_error. A response
 * with an error status counts as an answer.
 */
bool hs_client_send(struct hs_client *client, const char *method, const char *path,
                    const char *body, size_t size, struct hs_client_response *response);

/* Returns the reason why the last request got no answer: one sentence without a full stop. */
const char *hs_client_error(const struct hs_client *client);

const char *hs_client_url(const struct hs_client *client);

/* Returns monotonic seconds. */
double hs_client_now(void);

/* Sleeps for `seconds`. If `seconds` is 0 or less, returns at once. */
void hs_client_pause(double seconds);

#endif
