#include "api/http/reply.h"

#include <microhttpd.h>
#include <stdio.h>

/* Adds a header if it has a value. False: out of memory. */
static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return value == NULL || value[0] == '\0' ||
           MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool queue(struct MHD_Connection *connection, int status, const char *content_type,
                  struct MHD_Response *response, const struct hs_reply_headers *headers)
{
    char seconds[16] = "";
    unsigned wait_ms = headers->retry_after_ms > 0 ? headers->retry_after_ms : HS_RETRY_AFTER_MS;
    if (response == NULL)
        return false;
    if (status == 429 || status == 503)
        snprintf(seconds, sizeof seconds, "%u", (wait_ms + 999) / 1000);
    bool is_queued = add(response, "X-Request-Id", headers->request_id) &&
                     add(response, "Content-Type", status == 204 ? NULL : content_type) &&
                     add(response, "Allow", headers->allow) &&
                     add(response, "WWW-Authenticate", headers->challenge) &&
                     add(response, "Retry-After", seconds) &&
                     add(response, "Connection", headers->close ? "close" : NULL) &&
                     MHD_queue_response(connection, (unsigned)status, response) == MHD_YES;
    MHD_destroy_response(response);
    return is_queued;
}

bool hs_reply_bytes(struct MHD_Connection *connection, int status, const char *content_type,
                    const void *bytes, size_t size, const struct hs_reply_headers *headers)
{
    /* The library promises not to write to persistent memory, so this cast is safe. */
    union {
        const void *in;
        void *out;
    } alias = {bytes};
    return queue(connection, status, content_type,
                 MHD_create_response_from_buffer(size, alias.out, MHD_RESPMEM_PERSISTENT), headers);
}

bool hs_reply_problem(struct MHD_Connection *connection, const struct hs_problem *problem,
                      struct hs_buffer *body, const struct hs_reply_headers *headers)
{
    body->len = 0;
    body->failed = false;
    hs_problem_encode(problem, headers->request_id, body);
    if (body->failed)
        return false;
    struct hs_reply_headers all = *headers;
    all.retry_after_ms = hs_problem_retry_after_ms(problem);
    return hs_reply_bytes(connection, hs_problem_status(problem->code), "application/problem+json",
                          body->data, body->len, &all);
}
