#include "service/record/stream.h"

#include <inttypes.h>
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

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hs_stream_encode(struct hs_buffer *out, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    for (size_t at = 0; at < size; at += 3) {
        size_t count = size - at < 3 ? size - at : 3;
        unsigned group = (unsigned)from[at] << 16;
        group |= count > 1 ? (unsigned)from[at + 1] << 8 : 0;
        group |= count > 2 ? (unsigned)from[at + 2] : 0;
        const char text[4] = {digits[group >> 18], digits[group >> 12 & 63],
                              count > 1 ? digits[group >> 6 & 63] : '=',
                              count > 2 ? digits[group & 63] : '='};
        hs_buffer_append(out, text, sizeof text);
    }
}

/* The values of base64 digits; 64: not a digit. */
static void make_values(unsigned char values[256])
{
    memset(values, 64, 256);
    for (unsigned i = 0; i < 64; i++)
        values[(unsigned char)digits[i]] = (unsigned char)i;
}

unsigned char *hs_stream_decode(struct hs_str text, size_t *size)
{
    unsigned char values[256];
    size_t end = text.len, written = 0;
    make_values(values);
    while (end > 0 && text.len - end < 2 && text.ptr[end - 1] == '=')
        end--;
    unsigned char *bytes = text.len % 4 == 0 ? malloc(text.len / 4 * 3 + 1) : NULL;
    unsigned group = 0;
    for (size_t at = 0; bytes != NULL && at < end; at++) {
        unsigned value = values[(unsigned char)text.ptr[at]];
        if (value > 63) {
            free(bytes);
            return NULL;
        }
        group = group << 6 | value;
        if (at % 4 != 0) /* 6, 12, 18 and 24 bits: from the second digit on there is a byte */
            bytes[written++] = (unsigned char)(group >> (6 - 2 * (at % 4)));
    }
    *size = written;
    return bytes;
}
