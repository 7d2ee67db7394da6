#include "api/json/escape.h"

#include <stdbool.h>

/* The length of the UTF-8 sequence that starts here; 0: it is invalid. */
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

/* Returns a control character or line separator plus 1, and 0 for other characters. Terminals obey
   control characters above U+0080 too, and some readers end a line at the separators. */
static unsigned control_character(const unsigned char *bytes, size_t len)
{
    unsigned character = 0x20;
    if (len == 1)
        character = bytes[0];
    else if (len == 2)
        character = (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
    else if (len == 3)
        character = (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
    bool control = character < 0x20 || (character >= 0x7F && character < 0xA0) ||
                   character == 0x2028 || character == 0x2029;
    return control ? character + 1 : 0;
}

void hs_escape_json(struct hs_buffer *out, struct hs_str text)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t start = 0, at = 0;
    hs_buffer_append(out, "\"", 1);
    while (at < text.len) {
        size_t len = sequence_length(bytes + at, text.len - at);
        unsigned control = control_character(bytes + at, len);
        if (len > 0 && control == 0 && bytes[at] != '"' && bytes[at] != '\\') {
            at += len;
            continue;
        }
        hs_buffer_append(out, text.ptr + start, at - start);
        if (len == 0)
            hs_buffer_puts(out, "\\ufffd");
        else if (control == 0)
            hs_buffer_printf(out, "\\%c", bytes[at]);
        else
            hs_buffer_printf(out, "\\u%04x", control - 1);
        start = at += len > 0 ? len : 1;
    }
    hs_buffer_append(out, text.ptr + start, text.len - start);
    hs_buffer_append(out, "\"", 1);
}
