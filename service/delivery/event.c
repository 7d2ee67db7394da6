#include "service/delivery/event.h"

#include <stdlib.h>
#include <string.h>

#include "api/hits.h"
#include "service/evidence/row.h"

static bool would_reject(const struct hs_hit_result *result)
{
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        if (hs_reason_verdict(result->would_reject[i]) == HS_VERDICT_REJECTED)
            return true;
    return false;
}

unsigned hs_event_kinds_of(const struct hs_hit_result *result)
{
    if (result->verdict == HS_VERDICT_REJECTED)
        return HS_EVENT_REJECTED;
    return (result->verdict == HS_VERDICT_INCONCLUSIVE ? HS_EVENT_INCONCLUSIVE : 0u) |
           (would_reject(result) ? HS_EVENT_SHADOW : 0u);
}

static void add_reason(struct hs_event *event, enum hs_reason reason)
{
    event->reasons[reason / 64] |= UINT64_C(1) << reason % 64;
}

bool hs_event_has_reason(const struct hs_event *event, enum hs_reason reason)
{
    return (event->reasons[reason / 64] >> reason % 64 & 1) != 0;
}

static void write_json(const struct hs_match_slot *slot, struct hs_verdict_to_keep *verdict,
                       struct hs_buffer *out)
{
    const struct hs_hit_result *result = verdict->result;
    struct hs_writer writer = {.buffer = out};
    struct hs_evidence_row row;
    hs_capture_row(slot, verdict, &row);
    hs_write_begin(&writer, '{');
    hs_evidence_row_encode(&writer, &row);
    if (result->would_reject_count > 0)
        hs_would_reject_encode(&writer, result);
    hs_write_end(&writer, '}');
}

struct hs_event *hs_event_create(const struct hs_match_slot *slot,
                                 struct hs_verdict_to_keep *verdict)
{
    const struct hs_hit_result *result = verdict->result;
    struct hs_buffer json = {0};
    write_json(slot, verdict, &json);
    struct hs_event *event = json.failed ? NULL : malloc(sizeof *event + json.len);
    if (event != NULL) {
        *event = (struct hs_event){.kinds = hs_event_kinds_of(result), .size = json.len};
        atomic_init(&event->references, 1);
        hs_name_set(&event->match, hs_name_str(&slot->name));
        add_reason(event, result->reason);
        for (uint16_t i = 0; i < result->would_reject_count; i++)
            add_reason(event, result->would_reject[i]);
        memcpy(event->json, json.data, json.len);
    }
    hs_buffer_free(&json);
    return event;
}

struct hs_event *hs_event_retain(struct hs_event *event)
{
    atomic_fetch_add(&event->references, 1);
    return event;
}

void hs_event_release(struct hs_event *event)
{
    if (event != NULL && atomic_fetch_sub(&event->references, 1) == 1)
        free(event);
}
