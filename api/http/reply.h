/*
 * Queues replies on a libmicrohttpd connection, so that a handler's last line is
 * `return hs_reply_...(...)`. Each returns false when memory is out: the connection then closes.
 */
#ifndef HS_API_REPLY_H
#define HS_API_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"

struct MHD_Connection;

/* The headers of a reply besides those the library writes. */
struct hs_reply_headers {
    const char *request_id;  /* X-Request-Id of every reply */
    const char *allow;       /* NULL or "": no Allow */
    const char *challenge;   /* NULL or "": no WWW-Authenticate */
    unsigned retry_after_ms; /* Retry-After of a 429 or 503; 0: HS_RETRY_AFTER_MS */
    bool close;              /* the connection ends with this reply */
};

/* Takes the bytes of `body` over and leaves it empty. The caller looked at body->failed. */
bool hs_reply_buffer(struct MHD_Connection *connection, int status, const char *content_type,
                     struct hs_buffer *body, const struct hs_reply_headers *headers);

/* Sends bytes that outlive the reply, without a copy. */
bool hs_reply_static(struct MHD_Connection *connection, int status, const char *content_type,
                     const void *bytes, size_t size, const struct hs_reply_headers *headers);

/* Sends the problem as application/problem+json; a 429 or 503 carries Retry-After. */
bool hs_reply_problem(struct MHD_Connection *connection, const struct hs_problem *problem,
                      const struct hs_reply_headers *headers);

#endif
