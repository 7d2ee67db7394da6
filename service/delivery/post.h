/* One POST of the webhook, over libcurl. Redirects are refused, and TLS certificates are verified.
 */
#ifndef HS_SERVICE_DELIVERY_POST_H
#define HS_SERVICE_DELIVERY_POST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_post;

/* Prepares a connection to a URL. The connection stays open between requests. Only one thread at a
   time may use it. A request ends at the latest at *end_us (hs_clock_us). Another thread may lower
   *end_us. `url` and `end_us` must outlive the connection. NULL: out of memory. */
struct hs_post *hs_post_open(const char *url, const atomic_llong *end_us);
void hs_post_close(struct hs_post *post); /* does nothing for NULL */

struct hs_post_headers {
    const char *signature, *idempotency_key; /* values of these headers */
};

/* Sends a body, in at most five seconds. Returns the status of the answer. 0: no answer came, and
   `error` has a message. */
long hs_post_send(struct hs_post *post, const struct hs_post_headers *headers, struct hs_str body,
                  char error[256]);

#endif
