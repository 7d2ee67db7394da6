/* Delivers verdicts to a game's own tools as they happen: over streams (events.h) and the webhook
   (webhook.h). */
#ifndef HS_SERVICE_DELIVERY_H
#define HS_SERVICE_DELIVERY_H

#include "service/evidence/capture.h"

struct hs_service;

/* Delivers a verdict that was already recorded in its match. The caller holds the match lock. Never
   waits for a receiver. Thread-safe. */
void hs_deliver(const struct hs_service *service, const struct hs_match_slot *slot,
                struct hs_verdict_to_keep *verdict);

#endif
