/*
 * The checks on the header fields of a request. The HTTP library accepts requests that it and a
 * proxy in front of it can read differently; what is ambiguous is refused before a byte of the
 * body is read. No HTTP library in here: fields come in one by one, then the verdict is asked for.
 */
#ifndef HS_API_HEADERS_H
#define HS_API_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "validators/str.h"

enum { HS_REQUEST_ID_MAX = 128, HS_TRACE_ID_LEN = 32, HS_DEADLINE_MAX_MS = 3600000 };

struct hs_headers {
    unsigned lengths, types, hosts;         /* how often the field came */
    unsigned authorizations;                /* the same of Authorization, which is not kept */
    size_t length;                          /* Content-Length; only with lengths == 1 */
    bool length_bad;                        /* not a plain decimal number that fits */
    bool transfer_encoding;                 /* any Transfer-Encoding */
    bool encoded;                           /* a Content-Encoding other than identity */
    bool type_fine;                         /* application/json, UTF-8 */
    unsigned deadlines;                     /* how often X-Deadline-Ms came */
    bool deadline_bad;                      /* not a number of 0 .. HS_DEADLINE_MAX_MS */
    unsigned deadline_ms;                   /* with deadlines == 1 */
    char ambiguous[64];                     /* what was wrong with a field; empty: nothing */
    char request_id[HS_REQUEST_ID_MAX + 1]; /* the caller's X-Request-Id when usable, else "" */
    unsigned traces;                        /* how often a traceparent came */
    char trace_id[HS_TRACE_ID_LEN + 1];     /* of the one W3C traceparent, else "" */
};

/* Notes one field as it was received. Start from a zeroed struct. */
void hs_headers_add(struct hs_headers *headers, struct hs_str name, struct hs_str value);

/*
 * Sets `problem` when the end of the request cannot be told for sure: ambiguous lengths, names or
 * values 400, any Transfer-Encoding or a missing length 411. The connection must then be closed.
 * `takes_body`: the method is one that must say the length of its body.
 */
void hs_headers_check_framing(const struct hs_headers *headers, bool takes_body,
                              struct hs_problem *problem);

/*
 * Sets `problem` when the body is not acceptable: above `limit` 413, a wrong media type or an
 * encoding 415, a body where the method takes none or a bad X-Deadline-Ms 400.
 */
void hs_headers_check_content(const struct hs_headers *headers, bool takes_body, size_t limit,
                              struct hs_problem *problem);

/* Whether the client means to send a body: it may then not be answered on a kept connection
   before the body was read. */
bool hs_headers_body_follows(const struct hs_headers *headers);

#endif
