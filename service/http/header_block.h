/*
 * Checks that the library has read a request's header as the client sent it. libmicrohttpd 0.9
 * splits the header in place. The library writes a zero byte after each word and line, and returns
 * pointers to the words. So a zero byte in the request ends a value too early. A line that begins
 * with a zero byte or a colon even ends the header. The library then reads the following lines as a
 * body or as another request. These zero bytes and colons do not appear in the values that the
 * library returns. Therefore this check covers every byte from the request line to the end of the
 * header. The check also finds folded lines and lines that end without CR.
 *
 * Two kinds of lines without CR cannot be detected: lines that contain only a colon or a zero byte,
 * and lines that end with a zero byte. After the split, the ends of such lines look like CR LF.
 */
#ifndef HS_SERVICE_HEADER_BLOCK_H
#define HS_SERVICE_HEADER_BLOCK_H

#include <microhttpd.h>
#include <stdbool.h>

#include "api/http/headers.h"

enum { HS_QUERY_ARGUMENTS = 32, HS_QUERY_BYTES = 8192 };

/* A request's target (path and query), before the header fields are read. */
struct hs_request_target {
    const char *end;     /* points to the terminator of the target */
    bool has_long_query; /* the query is too long, so the request must be refused */
};

/* Reads the target before the library parses it. The library allocates memory for each query
   argument, and does not answer at all if this memory runs out. Therefore this function empties a
   query that is too long, in the library's own buffer. */
void hs_request_target_record(struct hs_request_target *target, const char *uri);

/* Collects all header fields. `method`, `url` and `version` are the words of the request line, as
   the library passes them to its handler. Marks the header as ambiguous if the fields that the
   library has read differ from the bytes that the client sent. */
void hs_header_block_collect(struct MHD_Connection *connection, const char *method, const char *url,
                             const struct hs_request_target *target, const char *version,
                             struct hs_headers *headers);

#endif
