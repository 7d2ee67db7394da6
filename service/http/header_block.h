/*
 * Checks that the library read the header of a request as it was sent. libmicrohttpd 0.9 splits the
 * header in place: it writes a zero byte at the end of each word and line, and returns pointers to
 * the words. So a zero byte in the request itself ends a value too early. A line that begins with a
 * zero byte or a colon ends the header: the library reads the rest as a body or as another request.
 * The values that the library returns do not contain these bytes. Therefore the check examines each
 * byte from the request line to the end of the header. The check also finds folded lines and lines
 * that end without CR.
 *
 * The check misses one case: a line without CR whose only byte is a colon or a zero byte. The check
 * also does not find a zero byte at the end of a line without CR. After the library has split the
 * header, both forms look like CR LF.
 */
#ifndef HS_SERVICE_HEADER_BLOCK_H
#define HS_SERVICE_HEADER_BLOCK_H

#include <microhttpd.h>
#include <stdbool.h>

#include "api/http/headers.h"

enum { HS_QUERY_ARGUMENTS = 32, HS_QUERY_BYTES = 8192 };

/* The target of a request, before its header fields are read. */
struct hs_request_target {
    const char *end;     /* terminator of the target */
    bool has_long_query; /* the query has more arguments or bytes than its limits: refuse the
                            request */
};

/* Reads the target of a request before the library does. The library allocates a record for each
   argument, and sends no answer when its memory for the connection is used up. Therefore this
   function empties a query that is too long, in the library's own buffer. */
void hs_request_target_record(struct hs_request_target *target, const char *uri);

/* Records all fields of a request. `method`, `url` and `version` are the words of the request line,
   as in the library's first call of its handler. Marks a header as ambiguous if the library did not
   read it as the peer sent it. */
void hs_header_block_collect(struct MHD_Connection *connection, const char *method, const char *url,
                             const struct hs_request_target *target, const char *version,
                             struct hs_headers *headers);

#endif
