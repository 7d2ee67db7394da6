#include "service/system/sha256.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdint.h>

void hs_sha256_hex(const void *bytes, size_t size, char out[HS_SHA256_HEX])
{
    hs_sha256_hex_parts(&(struct hs_sha256_part){bytes, size}, 1, out);
}

void hs_sha256_hex_parts(const struct hs_sha256_part *parts, size_t count, char out[HS_SHA256_HEX])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    for (size_t i = 0; i < count; i++)
        sha256_update(&context, parts[i].size, parts[i].bytes);
    sha256_digest(&context, sizeof digest, digest);
    base16_encode_update(out, sizeof digest, digest);
    out[HS_SHA256_HEX - 1] = '\0';
}
