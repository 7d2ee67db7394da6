/* Functions that queue a reply on a libmicrohttpd connection. They return false if out of memory. A
   handler of libmicrohttpd can return this result. If the handler returns false, libmicrohttpd
   closes the connection. */
#ifndef HS_API_REPLY_H
#define HS_API_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"

struct MHD_Connection;

/* The headers of a reply, except those that the HTTP library adds. */
struct hs_reply_headers {
    const char *request_id; /* X-Request-Id */
    const char *allow;      /* NULL or "": no Allow */
    const char *challenge;  /* NULL or "": no WWW-Authenticate */
    /* ETag of a console file; NULL: the reply is not a console file. A reply with an ETag also gets
       the headers for browsers. */
    const char *etag;
    const char *encoding; /* NULL: no Content-Encoding */
    /* Time for the header Retry-After of a reply with status 429 or 503; 0: HS_RETRY_AFTER_MS. */
    unsigned retry_after_ms;
    bool close; /* the connection closes after this reply */
};

/* Sends bytes without a copy. The bytes must stay valid until the library reports that the request
   is completed. */
bool hs_reply_bytes(struct MHD_Connection *connection, int status, const char *content_type,
                    const void *bytes, size_t size, const struct hs_reply_headers *headers);

/* Sends the first `size` bytes of a file, and always closes the file. */
bool hs_reply_file(struct MHD_Connection *connection, int status, const char *content_type, int fd,
                   uint64_t size, const struct hs_reply_headers *headers);

/* A function that writes the next bytes of an endless body, at most `size`. The function returns
   the number of bytes, or one of the library's MHD_CONTENT_READER_ values. The function returns 0
   if it has suspended the connection. */
typedef ssize_t hs_reply_reader(void *context, uint64_t place, char *out, size_t size);

/* Sends the bytes that `read` writes, in pieces of at most `piece_bytes`, with status 200.
   `context` must stay valid until the library reports that the request is completed. */
bool hs_reply_stream(struct MHD_Connection *connection, const char *content_type,
                     size_t piece_bytes, hs_reply_reader *read, void *context,
                     const struct hs_reply_headers *headers);

/* Sends the problem as application/problem+json. Adds Retry-After if the status is 429 or 503. The
   text of the problem replaces the content of `body`, which must stay valid until the library
   reports that the request is completed. */
bool hs_reply_problem(struct MHD_Connection *connection, const struct hs_problem *problem,
                      struct hs_buffer *body, const struct hs_reply_headers *headers);

#endif
