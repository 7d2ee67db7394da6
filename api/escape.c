#include "api/escape.h"

/* Bytes of the UTF-8 sequence that starts here; 0 when none does. */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
    if (bytes[0] < 0x80)
        return 1;
    size_t len = 0;
    unsigned lowest = 0x80, highest = 0xBF; /* of the second byte */
    if (bytes[0] >= 0xC2 && bytes[0] <= 0xDF) {
        len = 2;
    } else if (bytes[0] >= 0xE0 && bytes[0] <= 0xEF) {
        len = 3;
        lowest = bytes[0] == 0xE0 ? 0xA0 : 0x80;  /* no overlong forms */
        highest = bytes[0] == 0xED ? 0x9F : 0xBF; /* no surrogates */
    } else if (bytes[0] >= 0xF0 && bytes[0] <= 0xF4) {
        len = 4;
        lowest = bytes[0] == 0xF0 ? 0x90 : 0x80;
        highest = bytes[0] == 0xF4 ? 0x8F : 0xBF; /* nothing above U+10FFFF */
    }
    if (len == 0 || len > left || bytes[1] < lowest || bytes[1] > highest)
        return 0;
    for (size_t i = 2; i < len; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xBF)
            return 0;
    return len;
}

void hs_escape_json(struct hs_buffer *out, struct hs_str text)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t start = 0, at = 0;
    hs_buffer_append(out, "\"", 1);
    while (at < text.len) {
        size_t len = sequence_length(bytes + at, text.len - at);
        if (len > 0 && bytes[at] >= 0x20 && bytes[at] != '"' && bytes[at] != '\\') {
            at += len;
            continue;
        }
        hs_buffer_append(out, text.ptr + start, at - start);
        if (len == 0)
            hs_buffer_puts(out, "\\ufffd");
        else if (bytes[at] >= 0x20)
            hs_buffer_printf(out, "\\%c", bytes[at]);
        else
            hs_buffer_printf(out, "\\u%04x", bytes[at]);
        start = ++at;
    }
    hs_buffer_append(out, text.ptr + start, text.len - start);
    hs_buffer_append(out, "\"", 1);
}
