/* A verdict that is delivered to a game's tools: the JSON object, and the values that filters
   compare. The streams and the webhook share the event. Immutable and thread-safe; freed with its
   last reference. */
#ifndef HS_SERVICE_DELIVERY_EVENT_H
#define HS_SERVICE_DELIVERY_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/evidence/capture.h"
#include "service/options/values.h"

/* Returns the kinds (HS_EVENT_...) that a result belongs to, or 0 if the result is not
   delivered. */
unsigned hs_event_kinds_of(const struct hs_hit_result *result);

enum { HS_EVENT_REASON_WORDS = (HS_REASON_COUNT + 63) / 64 };

struct hs_event {
    atomic_uint references;
    unsigned kinds;
    /* one bit for each reason that decided the verdict or is in `would_reject` */
    uint64_t reasons[HS_EVENT_REASON_WORDS];
    struct hs_name match;
    size_t size;
    char json[]; /* a JSON object of `size` bytes; not null-terminated */
};

/* Creates the event for a verdict in a locked match, with one reference. Returns NULL if memory
   runs out. */
struct hs_event *hs_event_create(const struct hs_match_slot *slot,
                                 struct hs_verdict_to_keep *verdict);
struct hs_event *hs_event_retain(struct hs_event *event);
void hs_event_release(struct hs_event *event);

bool hs_event_has_reason(const struct hs_event *event, enum hs_reason reason);

#endif
