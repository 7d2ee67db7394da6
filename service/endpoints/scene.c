/* GET /v1/verdicts/{verdict}/scene: a stored verdict with everything that is needed to draw it. */
#include "service/evidence/scene.h"
#include "service/endpoints/evidence.h"
#include "service/evidence/context.h"
#include "service/evidence/ended.h"
#include "service/evidence/row.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/record/line_reader.h"
#include "service/record/members.h"
#include "service/service.h"
#include "service/state/maps.h"

static void refuse(enum hs_recompute_status status, const struct hs_request *request,
                   struct hs_reply *reply)
{
    if (status == HS_RECOMPUTE_NO_MEMORY)
        hs_endpoint_overloaded(reply, "out of memory");
    else if (status == HS_RECOMPUTE_STOPPED)
        hs_endpoint_overloaded(reply, "the service is stopping and does not build maps any more");
    else if (status == HS_RECOMPUTE_FOREIGN)
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "another version of the program stored this verdict; this version "
                            "cannot compute it again");
    else
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "the evidence of this verdict is damaged");
}

/* Writes the current state of an open match, or the final state of an ended match. Writes `null` if
   the final state of an ended match is not stored. A later match with the same name is a different
   match. */
static void write_match(struct hs_service *service, const struct hs_request *request,
                        const struct hs_evidence_row *row, struct hs_writer *writer)
{
    struct hs_match_slot *slot = NULL;
    uint64_t opening = 0;
    bool has_opening = hs_piece_whole(hs_context_member(row->context, HS_STR("opening")), &opening);
    if (has_opening)
        hs_registry_acquire(service->registry, request->tenant, row->match, NULL, &slot);
    bool is_open = slot != NULL && slot->opening == opening;
    hs_write_key(writer, "match");
    if (is_open) {
        struct hs_match_head head = hs_match_slot_head(slot);
        hs_match_encode_state(writer, &head, slot->match);
    }
    if (slot != NULL)
        hs_registry_release(service->registry, slot);
    if (!is_open &&
        (!has_opening || hs_ended_match(hs_evidence_home(service->evidence), request->tenant,
                                        row->match, opening, writer) != HS_EVIDENCE_READ))
        hs_write_null(writer);
}

/* Writes the members that every scene has. */
static void write_row(struct hs_service *service, const struct hs_request *request,
                      const struct hs_evidence_row *row, struct hs_writer *writer)
{
    hs_write_begin_field(writer, "verdict", '{');
    hs_evidence_row_encode(writer, row);
    hs_write_end(writer, '}');
    hs_write_key(writer, "context");
    if (row->context.len > 0)
        hs_write_raw(writer, row->context);
    else
        hs_write_null(writer);
    write_match(service, request, row, writer);
}

static void answer(struct hs_service *service, const struct hs_evidence_stored *stored,
                   const struct hs_recomputed *recomputed, const struct hs_evidence_parts *parts,
                   const struct hs_request *request, struct hs_reply *reply)
{
    struct hs_verdict_scene scene;
    struct hs_writer writer = {.buffer = &reply->body};
    if (hs_verdict_scene_find(recomputed, &scene)) {
        hs_write_begin(&writer, '{');
        write_row(service, request, &stored->row, &writer);
        hs_verdict_scene_encode(&scene, parts, &writer);
        hs_write_end(&writer, '}');
    } else {
        hs_endpoint_overloaded(reply, "out of memory");
    }
    hs_verdict_scene_free(&scene);
}

/* Answers with the scene of a move, which contains no geometry to draw. */
static void answer_move(struct hs_service *service, const struct hs_evidence_row *row,
                        const struct hs_request *request, struct hs_reply *reply)
{
    struct hs_stream_line line;
    struct hs_writer writer = {.buffer = &reply->body};
    struct hs_str text = row->request;
    text.len -= text.len > 0 && text.ptr[text.len - 1] == '\n' ? 1 : 0;
    if (!hs_stream_line_read(text, &line)) {
        refuse(HS_RECOMPUTE_DAMAGED, request, reply);
        return;
    }
    hs_write_begin(&writer, '{');
    write_row(service, request, row, &writer);
    hs_write_text_field(&writer, "kind", "move");
    hs_write_key(&writer, "request");
    hs_write_raw(&writer, hs_pieces_first(line.body, HS_STR("moves")));
    hs_write_key(&writer, "answer");
    hs_write_raw(&writer, hs_pieces_first(line.answer, HS_STR("results")));
    hs_write_end(&writer, '}');
}

/* Returns whether a running build of a map must stop. */
static bool is_draining(void *context)
{
    const struct hs_service *service = context;
    return atomic_load(&service->draining);
}

static void answer_stored(struct hs_service *service, const struct hs_evidence_stored *stored,
                          struct hs_map_entry *map, const struct hs_request *request,
                          struct hs_reply *reply)
{
    struct hs_recompute *recompute = hs_recompute_create(service->maps);
    struct hs_stored_parts parts = {0};
    struct hs_recomputed recomputed = {0};
    enum hs_recompute_status status = HS_RECOMPUTE_NO_MEMORY;
    if (recompute != NULL && map != NULL)
        hs_recompute_lend_map(recompute, map);
    if (recompute != NULL) {
        hs_recompute_limit_builds(recompute, is_draining, service);
        status = hs_stored_parts_read(stored, recompute, &parts)
                     ? hs_recompute_run(recompute, &parts.parts, NULL, &recomputed)
                     : HS_RECOMPUTE_DAMAGED;
    }
    if (status == HS_RECOMPUTE_DONE)
        answer(service, stored, &recomputed, &parts.parts, request, reply);
    else
        refuse(status, request, reply);
    hs_recomputed_free(&recomputed);
    hs_stored_parts_free(&parts);
    hs_recompute_destroy(recompute);
}

void hs_endpoint_verdict_scene(struct hs_service *service, const struct hs_request *request,
                               struct hs_reply *reply)
{
    struct hs_evidence_stored stored;
    if (!hs_endpoint_has_evidence(service, reply))
        return;
    enum hs_evidence_read result = hs_evidence_find(
        hs_evidence_home(service->evidence), request->tenant, request->params.name[0], &stored);
    if (!hs_endpoint_evidence_is_read(result, request, reply))
        return;
    /* The current map with this name may be newer than the map of the verdict. In that case, the
       old map is built from the evidence. */
    struct hs_map_entry *map =
        stored.row.map.ptr != NULL ? hs_endpoint_map(service, request, stored.row.map) : NULL;
    if (hs_str_equal(stored.row.kind, HS_STR("move")))
        answer_move(service, &stored.row, request, reply);
    else
        answer_stored(service, &stored, map, request, reply);
    hs_map_store_release(service->maps, map);
    hs_evidence_stored_close(&stored);
}
