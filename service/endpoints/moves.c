/* POST moves: checks moves that clients made. */
#include "service/endpoints/posting.h"
#include "service/evidence/capture.h"
#include "service/service.h"
#include "service/state/rulesets.h"
#include "service/watch/metrics.h"

bool hs_post_move(struct hs_posting *posting, const struct hs_ticks_request *tick, size_t i)
{
    struct hs_metrics *metrics = posting->service->metrics;
    const struct hs_match_slot *slot = posting->slot;
    const struct hs_move *move = &tick->moves.moves[i];
    struct hs_move_result result;
    if (!hs_match_check_move(slot->match, move, &result))
        return false;
    posting->is_plain = posting->request->brief && hs_move_is_plain(&result);
    if (!posting->is_plain)
        hs_move_encode(&posting->writer, &slot->ruleset->ruleset->moves, move, &result);
    else if (result.position == HS_MOVE_POSITION_ACK)
        posting->acks[posting->ack_count++] = posting->place;
    if (result.replayed) {
        posting->has_evidence = true; /* the evidence for the first answer may not be stored yet */
        return true;
    }
    hs_metrics_move(metrics, result.verdict, result.reason, result.raised);
    for (uint16_t k = 0; k < result.failure_count; k++)
        hs_metrics_move_failure(metrics, (enum hs_move_check)result.failures[k].check,
                                (enum hs_mode)result.failures[k].mode);
    const struct hs_move_to_keep kept = {.move = move,
                                         .result = &result,
                                         .body = posting->request->body,
                                         .place = posting->place,
                                         .items = &posting->moves};
    posting->has_evidence |= hs_capture_move(posting->service->evidence, slot, &kept);
    return true;
}
