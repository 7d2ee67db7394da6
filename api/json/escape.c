#include "api/json/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the length of the UTF-8 sequence at `bytes`, or 0 if the sequence is invalid. */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
    if (bytes[0] < 0x80)
        return 1;
    size_t len = 0;
    unsigned lowest = 0x80, highest = 0xBF; /* limits of the second byte */
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

/* If a character is a control character or a line separator (escape.h), returns its code plus 1.
   Otherwise returns 0. */
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

/* ---- plain text: ASCII without anything to escape ---- */

/* Marks the bytes that are below `limit` (at most 128). In the result, the highest bit of a byte is
   set if the byte is below `limit`. Bytes that are more significant than a marked byte may be
   marked wrongly. */
static uint64_t below(uint64_t word, uint64_t limit)
{
    return (word - limit * UINT64_C(0x0101010101010101)) & ~word;
}

static uint64_t equals(uint64_t word, uint64_t byte)
{
    return below(word ^ byte * UINT64_C(0x0101010101010101), 1);
}

/* Returns whether all eight characters are plain: ASCII characters that JSON strings contain
   without an escape. */
static bool is_plain(uint64_t word)
{
    uint64_t found =
        word | below(word, 0x20) | equals(word, '"') | equals(word, '\\') | equals(word, 0x7F);
    return (found & UINT64_C(0x8080808080808080)) == 0;
}

/* Copies a text, and returns whether all its characters are plain. If not, the copy may be
   incomplete. */
static bool copy_plain(char *to, const char *from, size_t len)
{
    uint64_t word;
    uint32_t first, last;
    bool plain = true;
    if (len >= sizeof word) {
        for (size_t at = 0; plain && at < len; at += sizeof word) {
            size_t place = at + sizeof word < len ? at : len - sizeof word;
            memcpy(&word, from + place, sizeof word);
            memcpy(to + place, &word, sizeof word);
            plain = is_plain(word);
        }
        return plain;
    }
    if (len >= sizeof first) {
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + len - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + len - sizeof last, &last, sizeof last);
        return is_plain((uint64_t)first << 32 | last);
    }
    word = UINT64_C(0x2020202020202020);
    for (size_t at = 0; at < len; at++)
        word = word << 8 | (unsigned char)(to[at] = from[at]);
    return is_plain(word);
}

/* ---- any text ---- */

static void escape(struct hs_buffer *out, struct hs_str text)
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

void hs_escape_json(struct hs_buffer *out, struct hs_str text)
{
    char *at = text.len < SIZE_MAX / 2 ? hs_buffer_space(out, text.len + 2) : NULL;
    if (at == NULL || !copy_plain(at + 1, text.ptr, text.len)) {
        escape(out, text);
        return;
    }
    at[0] = '"';
    at[text.len + 1] = '"';
    out->len += text.len + 2;
}
