/* SHA-256 as text: what names a ruleset's revision and a verdict. */
#ifndef HS_SERVICE_SHA256_H
#define HS_SERVICE_SHA256_H

#include <stddef.h>

enum { HS_SHA256_HEX = 65 };

/* 64 hexadecimal digits and a terminator. */
void hs_sha256_hex(const void *bytes, size_t size, char out[HS_SHA256_HEX]);

struct hs_sha256_part {
    const void *bytes;
    size_t size;
};

/* The same of several runs of bytes, one after the other. */
void hs_sha256_hex_parts(const struct hs_sha256_part *parts, size_t count, char out[HS_SHA256_HEX]);

#endif
