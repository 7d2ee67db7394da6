#include "api/http/reply.h"

#include "api/json/digits.h"

#include <microhttpd.h>
#include <unistd.h>

/* Adds a header to a response. Does nothing if the value is NULL or empty. Returns false if out of
   memory. */
static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return value == NULL || value[0] == '\0' ||
           MHD_add_response_header(response, name, value) == MHD_YES;
}

/* The Content-Security-Policy of the console. The console may load and run only its own files, and
   no other page may show the console in a frame. The policy style-src 'self' is enough for Three.js
   and Chart.js, because they set styles through properties of elements. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static bool add_for_browsers(struct MHD_Response *response, const struct hs_reply_headers *headers)
{
    return headers->etag == NULL ||
           (add(response, "ETag", headers->etag) && add(response, "Cache-Control", "no-cache") &&
            add(response, "Vary", "Accept-Encoding") &&
            add(response, "Content-Encoding", headers->encoding) &&
            add(response, "Content-Security-Policy", policy) &&
            add(response, "Referrer-Policy", "no-referrer") &&
            add(response, "X-Content-Type-Options", "nosniff"));
}

static bool queue(struct MHD_Connection *connection, int status, const char *content_type,
                  struct MHD_Response *response, const struct hs_reply_headers *headers)
{
    char seconds[HS_DIGITS_MAX + 1] = "";
    unsigned wait_ms = headers->retry_after_ms > 0 ? headers->retry_after_ms : HS_RETRY_AFTER_MS;
    if (response == NULL)
        return false;
    if (status == 429 || status == 503)
        *hs_digits_whole(seconds, (wait_ms + 999) / 1000) = '\0';
    bool is_queued =
        add(response, "X-Request-Id", headers->request_id) &&
        add(response, "Content-Type", status == 204 || status == 304 ? NULL : content_type) &&
        add(response, "Allow", headers->allow) &&
        add(response, "WWW-Authenticate", headers->challenge) &&
        add(response, "Retry-After", seconds) &&
        add(response, "Connection", headers->close ? "close" : NULL) &&
        add_for_browsers(response, headers) &&
        MHD_queue_response(connection, (unsigned)status, response) == MHD_YES;
    MHD_destroy_response(response);
    return is_queued;
}

bool hs_reply_bytes(struct MHD_Connection *connection, int status, const char *content_type,
                    const void *bytes, size_t size, const struct hs_reply_headers *headers)
{
    /* This cast is safe, because libmicrohttpd does not write to memory that is passed as
       MHD_RESPMEM_PERSISTENT. */
    union {
        const void *in;
        void *out;
    } alias = {bytes};
    return queue(connection, status, content_type,
                 MHD_create_response_from_buffer(size, alias.out, MHD_RESPMEM_PERSISTENT), headers);
}

bool hs_reply_file(struct MHD_Connection *connection, int status, const char *content_type, int fd,
                   uint64_t size, const struct hs_reply_headers *headers)
{
    struct MHD_Response *response = MHD_create_response_from_fd64(size, fd);
    if (response == NULL)
        close(fd);
    return queue(connection, status, content_type, response, headers);
}

bool hs_reply_stream(struct MHD_Connection *connection, const char *content_type,
                     size_t piece_bytes, hs_reply_reader *read, void *context,
                     const struct hs_reply_headers *headers)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, piece_bytes, read, context, NULL);
    if (response != NULL && !add(response, "Cache-Control", "no-store")) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return queue(connection, 200, content_type, response, headers);
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
