#include "service/delivery/signature.h"

#include <inttypes.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>

#include "service/system/secret.h"

void hs_webhook_sign(const struct hs_secret *secret, int64_t seconds, struct hs_str body,
                     char out[HS_SIGNATURE_SIZE])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char time[24];
    int len = snprintf(time, sizeof time, "%" PRId64 ".", seconds);
    hmac_sha256_set_key(&context, secret->size, secret->bytes);
    hmac_sha256_update(&context, (size_t)len, (const uint8_t *)time);
    hmac_sha256_update(&context, body.len, (const uint8_t *)body.ptr);
    hmac_sha256_digest(&context, sizeof digest, digest);
    explicit_bzero(&context, sizeof context);
    len = snprintf(out, HS_SIGNATURE_SIZE, "t=%" PRId64 ",v1=", seconds);
    base16_encode_update(out + len, sizeof digest, digest);
    out[(size_t)len + BASE16_ENCODE_LENGTH(sizeof digest)] = '\0';
}
