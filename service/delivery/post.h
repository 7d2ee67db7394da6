/* Sends the webhook's POST requests with libcurl. Does not follow redirects, and verifies TLS
   certificates. */
#ifndef HS_SERVICE_DELIVERY_POST_H
#define HS_SERVICE_DELIVERY_POST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_post;

/* Prepares a connection to a URL. The connection stays open between requests. Only one thread at a
   time may use the connection. At *end_us (hs_clock_us), a running request is aborted; other
   threads may change *end_us. `url` and `end_us` must outlive the connection. Returns NULL if
   memory runs out. */
struct hs_post *hs_post_open(const char *url, const atomic_llong *end_us);
void hs_post_close(struct hs_post *post); /* does nothing for NULL */

struct hs_post_headers {
    const char *signature, *idempotency_key; /* values of these headers */
};

/* Sends `body`, with a timeout of five seconds. Returns the HTTP status of the answer. If there was
   no answer, returns 0 and writes a message to `error`. */
long hs_post_send(struct hs_post *post, const struct hs_post_headers *headers, struct hs_str body,
                  char error[256]);

#endif
