/* GET /v1/verdicts/{verdict}/scene: a stored verdict with everything that is needed to draw it. */
#include "service/evidence/scene.h"
#include "service/evidence/row.h"

#include "service/endpoints/evidence.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"

static void refuse(enum hs_recompute_status status, const struct hs_request *request,
                   struct hs_reply *reply)
{
    if (status == HS_RECOMPUTE_NO_MEMORY)
        hs_endpoint_overloaded(reply, "out of memory");
    else if (status == HS_RECOMPUTE_FOREIGN)
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "another version of the program stored this verdict; this version "
                            "cannot compute it again");
    else
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "the evidence of this verdict is damaged");
}

static void answer(const struct hs_evidence_stored *stored, const struct hs_recomputed *recomputed,
                   const struct hs_evidence_parts *parts, struct hs_reply *reply)
{
    struct hs_verdict_scene scene;
    struct hs_writer writer = {.buffer = &reply->body};
    if (hs_verdict_scene_find(recomputed, &scene)) {
        hs_write_begin(&writer, '{');
        hs_write_begin_field(&writer, "verdict", '{');
        hs_evidence_row_encode(&writer, &stored->row);
        hs_write_end(&writer, '}');
        hs_verdict_scene_encode(&scene, parts, &writer);
        hs_write_end(&writer, '}');
    } else {
        hs_endpoint_overloaded(reply, "out of memory");
    }
    hs_verdict_scene_free(&scene);
}

static void answer_stored(const struct hs_evidence_stored *stored, const struct hs_map_entry *map,
                          const struct hs_request *request, struct hs_reply *reply)
{
    struct hs_recompute *recompute = hs_recompute_create();
    struct hs_stored_parts parts = {0};
    struct hs_recomputed recomputed = {0};
    enum hs_recompute_status status = HS_RECOMPUTE_NO_MEMORY;
    if (recompute != NULL && map != NULL)
        hs_recompute_lend_map(recompute, map);
    if (recompute != NULL)
        status = hs_stored_parts_read(stored, recompute, &parts)
                     ? hs_recompute_run(recompute, &parts.parts, NULL, &recomputed)
                     : HS_RECOMPUTE_DAMAGED;
    if (status == HS_RECOMPUTE_DONE)
        answer(stored, &recomputed, &parts.parts, reply);
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
    /* The map of the service; it may be newer than that of the verdict, which is built then. */
    struct hs_map_entry *map =
        stored.row.map.ptr != NULL ? hs_endpoint_map(service, request, stored.row.map) : NULL;
    answer_stored(&stored, map, request, reply);
    hs_map_store_release(service->maps, map);
    hs_evidence_stored_close(&stored);
}
