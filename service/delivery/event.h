/* A verdict that is delivered to the tools of a game: its JSON, and the members that filters read.
   Immutable after its creation. The streams and the webhook share an event. Thread-safe. */
#ifndef HS_SERVICE_DELIVERY_EVENT_H
#define HS_SERVICE_DELIVERY_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "service/evidence/capture.h"
#include "service/options/values.h"

/* Returns the kinds (HS_EVENT_...) of a result; 0: the result is not delivered. */
unsigned hs_event_kinds_of(const struct hs_hit_result *result);

enum { HS_EVENT_REASON_WORDS = (HS_REASON_COUNT + 63) / 64 };

struct hs_event {
    atomic_uint references;
    unsigned kinds;
    uint64_t reasons[HS_EVENT_REASON_WORDS]; /* a bit for the deciding reason, and for each reason
                                                in `would_reject` */
    struct hs_name match;
    size_t size; /* bytes of `json` */
    char json[]; /* an object; not terminated */
};

/* Creates the event of a verdict in a locked match. NULL: out of memory. */
struct hs_event *hs_event_create(const struct hs_match_slot *slot,
                                 struct hs_verdict_to_keep *verdict);
struct hs_event *hs_event_retain(struct hs_event *event);
void hs_event_release(struct hs_event *event);

bool hs_event_has_reason(const struct hs_event *event, enum hs_reason reason);

#endif
