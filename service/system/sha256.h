/* SHA-256 as hexadecimal text. */
#ifndef HS_SERVICE_SHA256_H
#define HS_SERVICE_SHA256_H

#include <stddef.h>

enum { HS_SHA256_HEX = 65 };

/* Writes 64 hexadecimal digits and a terminator. */
void hs_sha256_hex(const void *bytes, size_t size, char out[HS_SHA256_HEX]);

struct hs_sha256_part {
    const void *bytes;
    size_t size;
};

/* Hashes the concatenation of several parts. */
void hs_sha256_hex_parts(const struct hs_sha256_part *parts, size_t count, char out[HS_SHA256_HEX]);

#endif
