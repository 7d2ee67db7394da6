/* POST moves: checks the moves that clients report. */
#include "service/endpoints/posting.h"
#include "service/service.h"
#include "service/state/rulesets.h"
#include "service/watch/metrics.h"

static void count_move(struct hs_service *service, const struct hs_move_result *result)
{
    struct hs_metrics *metrics = service->metrics;
    hs_metrics_move(metrics, result->verdict, result->reason, result->raised);
    for (uint16_t i = 0; i < result->failure_count; i++)
        hs_metrics_move_failure(metrics, (enum hs_move_check)result->failures[i].check,
                                (enum hs_mode)result->failures[i].mode);
}

bool hs_post_moves(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    const struct hs_moves_request *request = &tick->moves;
    struct hs_match_slot *slot = posting->slot;
    struct hs_writer *writer = &posting->writer;
    const struct hs_moves_rules *rules = &slot->ruleset->ruleset->moves;
    const struct hs_malformed *bad = hs_malformed_first(posting->malformed, HS_ITEM_MOVE);
    size_t place = 0;
    hs_write_begin(writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        struct hs_move_result result;
        hs_posting_malformed(posting, HS_ITEM_MOVE, &bad, &place);
        if (!hs_match_check_move(slot->match, &request->moves[i], &result))
            return false;
        hs_move_encode(writer, rules, &request->moves[i], &result);
        if (!result.replayed)
            count_move(posting->service, &result);
    }
    hs_posting_malformed(posting, HS_ITEM_MOVE, &bad, &place);
    hs_write_end(writer, ']');
    return true;
}

static void decode(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_moves_decode_body(reader, root, &out->moves);
}

static bool answer(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    return hs_posting_results(posting, tick, hs_post_moves);
}

void hs_endpoint_moves_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    hs_posting_run(service, request, reply, decode, answer);
}
