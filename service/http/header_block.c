#include "service/http/header_block.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE_END = 2 }; /* size of CR LF, which the library has replaced with zero bytes */

void hs_request_target_record(struct hs_request_target *target, const char *uri)
{
    const char *query = strchr(uri, '?');
    unsigned arguments = 1;
    target->end = uri + strlen(uri);
    for (const char *at = query; at != NULL && (at = strchr(at + 1, '&')) != NULL;)
        arguments++;
    target->has_long_query = query != NULL && (arguments > HS_QUERY_ARGUMENTS ||
                                               target->end - query - 1 > HS_QUERY_BYTES);
    if (target->has_long_query)
        ((char *)(uintptr_t)query)[1] = '\0';
}

struct collecting {
    struct hs_headers *headers;
    const char *next; /* where the next line must start */
    bool is_whole;    /* so far, every byte belongs to a name, a value or a line end */
};

/* The library calls this function for each header field, in the order of the lines. Both strings
   are null-terminated. */
static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    struct collecting *block = context;
    hs_headers_add(block->headers, (struct hs_str){name, name_size},
                   (struct hs_str){value, value_size});
    block->is_whole = block->is_whole && name == block->next && value != NULL;
    if (!block->is_whole)
        return MHD_YES;
    const char *at = name + name_size + 1; /* just after the colon */
    while (at != value && (*at == ' ' || *at == '\t'))
        at++;
    block->is_whole = at == value;
    block->next = value + value_size + LINE_END;
    return MHD_YES;
}

void hs_header_block_collect(struct MHD_Connection *connection, const char *method, const char *url,
                             const struct hs_request_target *target, const char *version,
                             struct hs_headers *headers)
{
    struct collecting block = {headers, version + strlen(version) + LINE_END,
                               url == method + strlen(method) + 1 && version == target->end + 1};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect, &block);
    /* libmicrohttpd 1.0 and later refuse ambiguous headers themselves. */
    if (MHD_get_version()[0] != '0' || headers->ambiguous[0] != '\0')
        return;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == NULL || !block.is_whole || block.next + LINE_END != method + info->header_size)
        snprintf(headers->ambiguous, sizeof headers->ambiguous,
                 "a line has a NUL, is folded, or lacks its name or CR LF");
}
