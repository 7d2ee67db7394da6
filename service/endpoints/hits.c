/* POST hits: verifies claims. */
#include "service/endpoints/posting.h"
#include "service/endpoints/verdict.h"

bool hs_post_hits(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    const struct hs_hits_request *request = &tick->hits;
    struct hs_hit_result result;
    bool has_now = (request->fields & HS_HITS_NOW) != 0;
    const struct hs_malformed *bad = hs_malformed_first(posting->malformed, HS_ITEM_HIT);
    size_t place = 0;
    hs_write_begin(&posting->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !hs_posting_next(posting))
            return false;
        hs_posting_malformed(posting, HS_ITEM_HIT, &bad, &place);
        const struct hs_hit_claim *claim = &request->claims[i];
        struct hs_verdict_item item = {.kind = HS_JUDGED_HIT, .hit = claim, .result = &result};
        hs_verdict_answer(posting, has_now ? &request->now_us : NULL, claim->hit_time_us, &item);
    }
    hs_posting_malformed(posting, HS_ITEM_HIT, &bad, &place);
    hs_write_end(&posting->writer, ']');
    return true;
}

static void decode(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_hits_decode_body(reader, root, &out->hits);
}

static bool answer(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    return hs_posting_results(posting, tick, hs_post_hits);
}

void hs_endpoint_hits_post(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    hs_posting_run(service, request, reply, decode, answer);
}
