/* POST ticks: frames, moves, shots and hits of one tick in one request. */
#include "service/endpoints/posting.h"
#include "service/state/rulesets.h"

static const struct {
    unsigned field; /* offset in struct hs_ticks_request */
    const char *key;
    hs_posting_answer *answer;
} parts[] = {
    {HS_TICKS_FRAMES, "frames", hs_post_frames},
    {HS_TICKS_MOVES, "moves", hs_post_moves},
    {HS_TICKS_SHOTS, "shots", hs_post_shots},
    {HS_TICKS_HITS, "hits", hs_post_hits},
};

static bool answer(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    hs_write_begin(&posting->writer, '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((tick->fields & parts[i].field) == 0)
            continue;
        hs_write_key(&posting->writer, parts[i].key);
        if (!parts[i].answer(posting, tick))
            return false;
    }
    hs_write_key(&posting->writer, "revision");
    hs_write_text(&posting->writer, posting->slot->ruleset->revision);
    hs_write_end(&posting->writer, '}');
    return true;
}

void hs_endpoint_ticks_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    hs_posting_run(service, request, reply, hs_ticks_decode_body, answer);
}
