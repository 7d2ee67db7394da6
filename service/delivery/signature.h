/* Signs the webhook's requests (docs/delivery.md). */
#ifndef HS_SERVICE_DELIVERY_SIGNATURE_H
#define HS_SERVICE_DELIVERY_SIGNATURE_H

#include <stdint.h>

#include "validators/str.h"

enum { HS_WEBHOOK_SECRET_MIN = 16, HS_SIGNATURE_SIZE = 96 };

struct hs_secret;

/* Writes "t=SECONDS,v1=HEX", where HEX is the HMAC-SHA-256 of "SECONDS." followed by the body. */
void hs_webhook_sign(const struct hs_secret *secret, int64_t seconds, struct hs_str body,
                     char out[HS_SIGNATURE_SIZE]);

#endif
