/* frames, hits, ticks: the requests of a running match. */
#include "api/ticks.h"

#include "service/endpoints.h"
#include "service/judge.h"
#include "service/ruleset_store.h"
#include "service/serve.h"

static void write_revision(struct hs_writer *writer, const struct hs_match_slot *slot)
{
    hs_write_key(writer, "revision");
    hs_write_text(writer, slot->ruleset->revision);
}

void hs_endpoint_frames_post(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    struct hs_body_reader body;
    if (!hs_body_open(service, request, reply, &body))
        return;
    struct hs_frames_request frames = {0};
    hs_frames_decode_body(&body.reader, body.root, &frames);
    struct hs_match_slot *slot =
        hs_body_is_fine(&body, reply) ? hs_endpoint_match(service, request, reply, true) : NULL;
    if (slot != NULL) {
        struct hs_writer writer = {.buffer = &reply->body};
        if (!hs_judge_frames(service, slot, &frames, request->arena, &writer))
            hs_endpoint_overloaded(reply, "out of memory");
        hs_endpoint_record(service, request, slot, reply);
        hs_registry_release(service->registry, slot);
    }
    hs_body_close(&body);
}

void hs_endpoint_hits_post(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_body_reader body;
    if (!hs_body_open(service, request, reply, &body))
        return;
    struct hs_hits_request hits = {0};
    hs_hits_decode_body(&body.reader, body.root, &hits);
    struct hs_match_slot *slot =
        hs_body_is_fine(&body, reply) ? hs_endpoint_match(service, request, reply, true) : NULL;
    if (slot != NULL) {
        struct hs_writer writer = {.buffer = &reply->body};
        hs_write_begin(&writer, '{');
        hs_write_key(&writer, "results");
        hs_judge_hits(service, slot, &hits, request->explain, &writer);
        write_revision(&writer, slot);
        hs_write_end(&writer, '}');
        hs_endpoint_record(service, request, slot, reply);
        hs_registry_release(service->registry, slot);
    }
    hs_body_close(&body);
}

void hs_endpoint_shots_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    struct hs_body_reader body;
    if (!hs_body_open(service, request, reply, &body))
        return;
    struct hs_shots_request shots = {0};
    hs_shots_decode_body(&body.reader, body.root, &shots);
    struct hs_match_slot *slot =
        hs_body_is_fine(&body, reply) ? hs_endpoint_match(service, request, reply, true) : NULL;
    if (slot != NULL) {
        struct hs_writer writer = {.buffer = &reply->body};
        hs_write_begin(&writer, '{');
        hs_write_key(&writer, "results");
        hs_judge_shots(service, slot, &shots, request->explain, &writer);
        write_revision(&writer, slot);
        hs_write_end(&writer, '}');
        hs_endpoint_record(service, request, slot, reply);
        hs_registry_release(service->registry, slot);
    }
    hs_body_close(&body);
}

static void answer_tick(struct hs_service *service, const struct hs_request *request,
                        const struct hs_ticks_request *tick, struct hs_match_slot *slot,
                        struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    if (tick->fields & HS_TICKS_FRAMES) {
        hs_write_key(&writer, "frames");
        if (!hs_judge_frames(service, slot, &tick->frames, request->arena, &writer)) {
            hs_endpoint_overloaded(reply, "out of memory");
            return;
        }
    }
    if (tick->fields & HS_TICKS_SHOTS) {
        hs_write_key(&writer, "shots");
        hs_judge_shots(service, slot, &tick->shots, request->explain, &writer);
    }
    if (tick->fields & HS_TICKS_HITS) {
        hs_write_key(&writer, "hits");
        hs_judge_hits(service, slot, &tick->hits, request->explain, &writer);
    }
    write_revision(&writer, slot);
    hs_write_end(&writer, '}');
}

void hs_endpoint_ticks_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    struct hs_body_reader body;
    if (!hs_body_open(service, request, reply, &body))
        return;
    struct hs_ticks_request tick = {0};
    hs_ticks_decode_body(&body.reader, body.root, &tick);
    struct hs_match_slot *slot =
        hs_body_is_fine(&body, reply) ? hs_endpoint_match(service, request, reply, true) : NULL;
    if (slot != NULL) {
        answer_tick(service, request, &tick, slot, reply);
        hs_endpoint_record(service, request, slot, reply);
        hs_registry_release(service->registry, slot);
    }
    hs_body_close(&body);
}
