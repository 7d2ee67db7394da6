/* Delivers verdicts to the tools of a game as they happen: over streams (events.h) and the webhook
   (webhook.h). */
#ifndef HS_SERVICE_DELIVERY_H
#define HS_SERVICE_DELIVERY_H

#include "service/evidence/capture.h"

struct hs_service;

/* Delivers a verdict after it was recorded in its match. The match must be locked. Never waits for
   a receiver. Thread-safe. */
void hs_deliver(const struct hs_service *service, const struct hs_match_slot *slot,
                struct hs_verdict_to_keep *verdict);

#endif
