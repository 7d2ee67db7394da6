#include "service/sha256.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>

void hs_sha256_hex(const void *bytes, size_t size, char out[HS_SHA256_HEX])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
