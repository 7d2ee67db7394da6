#include "service/http/header_block.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE_END = 2 }; /* CR LF, now two zero bytes */

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

void hs_header_block_begin(struct hs_header_block *block, const char *method, const char *url,
                           const struct hs_request_target *target, const char *version)
{
    block->next = version + strlen(version) + LINE_END;
    block->is_whole = url == method + strlen(method) + 1 && version == target->end + 1;
}

void hs_header_block_add(struct hs_header_block *block, struct hs_str name, struct hs_str value)
{
    block->is_whole = block->is_whole && name.ptr == block->next && value.ptr != NULL;
    if (!block->is_whole)
        return;
    const char *at = name.ptr + name.len + 1; /* after the colon */
    while (at != value.ptr && (*at == ' ' || *at == '\t'))
        at++;
    block->is_whole = at == value.ptr;
    block->next = value.ptr + value.len + LINE_END;
}

bool hs_header_block_ends(const struct hs_header_block *block, const char *end)
{
    return block->is_whole && block->next + LINE_END == end;
}

struct collecting {
    struct hs_header_block *block;
    struct hs_headers *headers;
};

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    const struct collecting *collecting = context;
    struct hs_str key = {name, name_size}, text = {value, value_size};
    hs_headers_add(collecting->headers, key, text);
    hs_header_block_add(collecting->block, key, text);
    return MHD_YES;
}

void hs_header_block_collect(struct hs_header_block *block, struct MHD_Connection *connection,
                             const char *method, struct hs_headers *headers)
{
    struct collecting collecting = {block, headers};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect, &collecting);
    /* Later versions of the library refuse these requests themselves. */
    if (MHD_get_version()[0] != '0' || headers->ambiguous[0] != '\0')
        return;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == NULL || !hs_header_block_ends(block, method + info->header_size))
        snprintf(headers->ambiguous, sizeof headers->ambiguous,
                 "a line has a NUL, is folded, or lacks its name or CR LF");
}
