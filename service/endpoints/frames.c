/* POST frames: stores the poses that the game server simulated. */
#include "service/endpoints/posting.h"
#include "service/evidence/ended.h"
#include "service/service.h"
#include "service/watch/metrics.h"

/* Stores, as evidence, the data about each player who leaves in this frame. Called before the match
   deletes the data. */
static void keep_leaving(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                         const struct hs_frame *frame)
{
    for (size_t i = 0; evidence != NULL && i < frame->player_count; i++)
        if (frame->players[i].event == HS_EVENT_LEAVE)
            hs_ended_keep_player(evidence, slot, frame->players[i].player);
}

bool hs_post_frames(struct hs_posting *posting, const struct hs_frames_request *request)
{
    struct hs_service *service = posting->service;
    struct hs_match_slot *slot = posting->slot;
    enum hs_frame_result *results =
        hs_arena_alloc(posting->request->arena, request->entries + 1, sizeof *results);
    if (results == NULL)
        return false;
    unsigned flags = 0;
    size_t done = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct hs_frame *frame = &request->frames[i];
        keep_leaving(service->evidence, slot, frame);
        if (!hs_match_post_frame(slot->match, frame, results + done, &flags))
            return false;
        done += frame->player_count + frame->mover_count;
    }
    struct hs_frames_counts counts;
    hs_frames_count(request, posting->malformed, results, &counts);
    for (size_t i = 0; i < HS_FRAME_RESULT_COUNT; i++) {
        hs_metrics_add(service->metrics, HS_METRIC_FRAMES, i, (int64_t)counts.players[i]);
        hs_metrics_add(service->metrics, HS_METRIC_MOVER_FRAMES, i, (int64_t)counts.movers[i]);
    }
    struct hs_match_info times;
    hs_match_info(slot->match, &times);
    hs_frames_encode(&posting->writer, request, posting->malformed, results,
                     counts.players[HS_FRAME_STORED], flags, slot->match, times.needs_resync);
    return true;
}
