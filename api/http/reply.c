#include "api/http/reply.h"

#include <microhttpd.h>
#include <stdio.h>

/* In whole seconds, rounded up; 0: the usual wait. */
static bool add_retry_after(struct MHD_Response *response, unsigned wait_ms)
{
    char seconds[16];
    if (wait_ms == 0)
        wait_ms = HS_RETRY_AFTER_MS;
    snprintf(seconds, sizeof seconds, "%u", (wait_ms + 999) / 1000);
    return MHD_add_response_header(response, "Retry-After", seconds) == MHD_YES;
}

static bool queue(struct MHD_Connection *connection, int status, const char *content_type,
                  struct MHD_Response *response, const struct hs_reply_headers *headers)
{
    if (response == NULL)
        return false;
    bool fine = MHD_add_response_header(response, "X-Request-Id", headers->request_id) == MHD_YES;
    if (status != 204) /* there is no content to have a type */
        fine = fine && MHD_add_response_header(response, "Content-Type", content_type) == MHD_YES;
    if (headers->allow != NULL && headers->allow[0] != '\0')
        fine = fine && MHD_add_response_header(response, "Allow", headers->allow) == MHD_YES;
    if (headers->challenge != NULL && headers->challenge[0] != '\0')
        fine = fine &&
               MHD_add_response_header(response, "WWW-Authenticate", headers->challenge) == MHD_YES;
    if (status == 429 || status == 503)
        fine = fine && add_retry_after(response, headers->retry_after_ms);
    if (headers->close)
        fine = fine && MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    fine = fine && MHD_queue_response(connection, (unsigned)status, response) == MHD_YES;
    MHD_destroy_response(response);
    return fine;
}

bool hs_reply_buffer(struct MHD_Connection *connection, int status, const char *content_type,
                     struct hs_buffer *body, const struct hs_reply_headers *headers)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        hs_buffer_free(body);
    *body = (struct hs_buffer){0};
    return queue(connection, status, content_type, response, headers);
}

bool hs_reply_static(struct MHD_Connection *connection, int status, const char *content_type,
                     const void *bytes, size_t size, const struct hs_reply_headers *headers)
{
    /* The library promises not to write to persistent memory. */
    union {
        const void *in;
        void *out;
    } alias = {bytes};
    return queue(connection, status, content_type,
                 MHD_create_response_from_buffer(size, alias.out, MHD_RESPMEM_PERSISTENT), headers);
}

bool hs_reply_problem(struct MHD_Connection *connection, const struct hs_problem *problem,
                      const struct hs_reply_headers *headers)
{
    struct hs_buffer body = {0};
    hs_problem_encode(problem, headers->request_id, &body);
    if (body.failed) {
        hs_buffer_free(&body);
        return false;
    }
    struct hs_reply_headers all = *headers;
    all.retry_after_ms = hs_problem_retry_after_ms(problem);
    return hs_reply_buffer(connection, hs_problem_status(problem->code), "application/problem+json",
                           &body, &all);
}
