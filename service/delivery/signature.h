/* Signs the requests of the webhook (docs/delivery.md). */
#ifndef HS_SERVICE_DELIVERY_SIGNATURE_H
#define HS_SERVICE_DELIVERY_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#include "validators/str.h"

enum { HS_WEBHOOK_SECRET_MIN = 16, HS_WEBHOOK_SECRET_MAX = 1024, HS_SIGNATURE_SIZE = 96 };

/* The shared secret of the webhook. */
struct hs_webhook_secret {
    size_t size;
    uint8_t bytes[HS_WEBHOOK_SECRET_MAX];
};

/*
 * Reads the secret from a file: all bytes, except a line end after the last one. NULL with a
 * sentence in `error`: the file cannot be read, everybody can read it, or it is too short or too
 * long. The caller frees it with hs_webhook_secret_free.
 */
struct hs_webhook_secret *hs_webhook_secret_read(const char *path, char error[256]);
/* Overwrites and frees it. NULL does nothing. */
void hs_webhook_secret_free(struct hs_webhook_secret *secret);

/* Writes "t=SECONDS,v1=HEX": HEX is the HMAC-SHA-256 of "SECONDS." and the body. */
void hs_webhook_sign(const struct hs_webhook_secret *secret, int64_t seconds, struct hs_str body,
                     char out[HS_SIGNATURE_SIZE]);

#endif
