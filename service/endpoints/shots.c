/* POST shots: verifies shots before their hits arrive. */
#include "service/endpoints/posting.h"
#include "service/endpoints/verdict.h"

bool hs_post_shots(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    const struct hs_shots_request *request = &tick->shots;
    struct hs_hit_result result;
    bool has_now = (request->fields & HS_SHOTS_NOW) != 0;
    const struct hs_malformed *bad = hs_malformed_first(posting->malformed, HS_ITEM_SHOT);
    size_t place = 0;
    hs_write_begin(&posting->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !hs_posting_next(posting))
            return false;
        hs_posting_malformed(posting, HS_ITEM_SHOT, &bad, &place);
        const struct hs_shot_claim *claim = &request->shots[i];
        struct hs_verdict_item item = {.kind = HS_JUDGED_SHOT, .shot = claim, .result = &result};
        hs_verdict_answer(posting, has_now ? &request->now_us : NULL, claim->time_us, &item);
    }
    hs_posting_malformed(posting, HS_ITEM_SHOT, &bad, &place);
    hs_write_end(&posting->writer, ']');
    return true;
}

static void decode(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_shots_decode_body(reader, root, &out->shots);
}

static bool answer(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    return hs_posting_results(posting, tick, hs_post_shots);
}

void hs_endpoint_shots_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    hs_posting_run(service, request, reply, decode, answer);
}
