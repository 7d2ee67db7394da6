/*
 * Checks the header fields of a request. The HTTP library and a proxy in front of the service may
 * read an ambiguous request differently. So ambiguous requests are refused before the body is read.
 * Add all fields first, and then call the checks. This code does not use the HTTP library.
 */
#ifndef HS_API_HEADERS_H
#define HS_API_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "validators/str.h"

enum { HS_REQUEST_ID_MAX = 128, HS_TRACE_ID_LEN = 32, HS_DEADLINE_MAX_MS = 3600000 };

struct hs_headers {
    /* How many Content-Length, Content-Type and Host fields the request contains. */
    unsigned lengths, types, hosts;
    unsigned authorizations; /* number of Authorization fields */
    size_t length;           /* value of Content-Length if `lengths` is 1 */
    bool length_bad;         /* Content-Length is not a plain decimal number */
    bool transfer_encoding;  /* a Transfer-Encoding is present */
    bool encoded;            /* a Content-Encoding other than identity is present */
    bool type_fine;          /* the Content-Type is application/json in UTF-8 */
    unsigned deadlines;      /* number of X-Deadline-Ms fields */
    bool deadline_bad;       /* X-Deadline-Ms is not a number from 0 to HS_DEADLINE_MAX_MS */
    unsigned deadline_ms;    /* value of X-Deadline-Ms if `deadlines` is 1 */
    char ambiguous[64];      /* description of the first ambiguity; empty: no ambiguity */
    char request_id[HS_REQUEST_ID_MAX + 1]; /* a valid X-Request-Id; "": missing or not valid */
    unsigned traces;                        /* number of traceparent fields */
    /* Trace id of the traceparent field; "" if this field is missing, repeated or invalid. */
    char trace_id[HS_TRACE_ID_LEN + 1];
};

/* Records one field exactly as it was received. The struct must be zeroed before the first call. */
void hs_headers_add(struct hs_headers *headers, struct hs_str name, struct hs_str value);

/*
 * Sets `problem` if it is uncertain where the request ends. The status is 400 for ambiguous
 * lengths, names or values, and 411 for a Transfer-Encoding or a missing length. If `problem` is
 * set, the connection must be closed after the reply. `takes_body` is true if the method needs a
 * Content-Length.
 */
void hs_headers_check_framing(const struct hs_headers *headers, bool takes_body,
                              struct hs_problem *problem);

/* Sets `problem` if the body or the X-Deadline-Ms is not acceptable. The status is 413 if the body
   is longer than `limit`, and 415 for a wrong media type or a Content-Encoding. The status is 400
   if there is a body but the method does not allow a body, or if the X-Deadline-Ms is bad. */
void hs_headers_check_content(const struct hs_headers *headers, bool takes_body, size_t limit,
                              struct hs_problem *problem);

/* Returns whether a body may follow the headers. If so, the connection can be kept open only if the
   body has been read. */
bool hs_headers_body_follows(const struct hs_headers *headers);

#endif
