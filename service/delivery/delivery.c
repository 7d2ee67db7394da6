#include "service/delivery/delivery.h"

#include "service/delivery/events.h"
#include "service/delivery/webhook.h"
#include "service/service.h"

void hs_deliver(const struct hs_service *service, const struct hs_match_slot *slot,
                struct hs_verdict_to_keep *verdict)
{
    unsigned kinds = hs_event_kinds_of(verdict->result);
    struct hs_str tenant = hs_name_str(&slot->tenant);
    if (kinds == 0 || service->events == NULL)
        return; /* a process that only computes stored verdicts again has no `events` */
    bool is_posted = hs_webhook_wants(service->webhook, kinds);
    if (!is_posted && !hs_events_want(service->events, tenant))
        return;
    struct hs_event *event = hs_event_create(slot, verdict);
    if (is_posted)
        hs_webhook_add(service->webhook, event);
    if (event != NULL)
        hs_events_add(service->events, tenant, event);
    hs_event_release(event);
}
