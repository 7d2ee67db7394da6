#include "service/record/stream.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>

#include "validators/journal.h"

#define X(name, route) {name, route},
static const struct {
    const char *name;
    enum hs_route route;
} requests[] = {HS_STREAM_REQUESTS(X)};
#undef X

enum { REQUEST_COUNT = sizeof requests / sizeof requests[0] };

const char *hs_stream_request_name(enum hs_route route)
{
    for (size_t i = 0; i < REQUEST_COUNT; i++)
        if (requests[i].route == route)
            return requests[i].name;
    return NULL;
}

bool hs_stream_request_route(struct hs_str name, enum hs_route *route)
{
    for (size_t i = 0; i < REQUEST_COUNT; i++) {
        if (hs_str_equal(name, hs_str_of(requests[i].name))) {
            *route = requests[i].route;
            return true;
        }
    }
    return false;
}

void hs_stream_layout(char layout[HS_STREAM_LAYOUT])
{
    snprintf(layout, HS_STREAM_LAYOUT, "%016" PRIx64, hs_journal_layout());
}

void hs_stream_flatten(char *json, size_t size)
{
    static const char ends[] = {'\n', '\r'};
    for (size_t i = 0; i < sizeof ends; i++)
        for (char *at = json; (at = memchr(at, ends[i], size - (size_t)(at - json))) != NULL;)
            *at = ' ';
}

void hs_stream_encode(struct hs_buffer *out, const void *bytes, size_t size)
{
    enum { PART = 768 }; /* a multiple of 3 */
    char text[BASE64_ENCODE_RAW_LENGTH(PART)];
    for (size_t at = 0; at < size; at += PART) {
        size_t count = size - at < PART ? size - at : PART;
        base64_encode_raw(text, count, (const unsigned char *)bytes + at);
        hs_buffer_append(out, text, BASE64_ENCODE_RAW_LENGTH(count));
    }
}

unsigned char *hs_stream_decode(struct hs_str text, size_t *size)
{
    struct base64_decode_ctx context;
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    unsigned char *bytes = text.len % 4 == 0 ? malloc(BASE64_DECODE_LENGTH(text.len) + 1) : NULL;
    base64_decode_init(&context);
    /* The library skips white space. The length check refuses texts that contain white space. */
    if (bytes != NULL && base64_decode_update(&context, size, bytes, text.len, text.ptr) &&
        base64_decode_final(&context) && *size == text.len / 4 * 3 - padding)
        return bytes;
    free(bytes);
    return NULL;
}
