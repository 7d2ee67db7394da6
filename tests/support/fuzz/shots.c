#include "tests/support/fuzz/shots.h"

#include <string.h>

#include "tests/support/fuzz/body.h"
#include "tests/support/fuzz/checks.h"
#include "tests/support/fuzz/stage.h"
#include "tests/support/fuzz/targets.h"
#include "validators/match/players.h"

static void encode_shot(const struct hs_shot_claim *claim, const struct hs_hit_result *result,
                        int64_t forward_us, struct hs_buffer *out)
{
    static const struct hs_verdict_id id = {"0123456789abcdef0123456789abcdef"};
    struct hs_writer writer = {.buffer = out};
    hs_shot_encode(&writer, claim, result, forward_us, &id, true);
    hs_replayed_encode(&writer, false);
}

static const char *check_answers(const struct hs_buffer *first, const struct hs_buffer *second)
{
    HS_MUST_HOLD(hs_check_document(first));
    HS_MUST(first->len == second->len && memcmp(first->data, second->data, first->len) == 0,
            "the same shot got two different results");
    return NULL;
}

/* Checks that a retry gets the answer of the shot, except its last member. */
static const char *check_retry(const struct hs_ledger_entry *replay, const struct hs_buffer *answer)
{
    HS_MUST(replay != NULL, "the retry of a recorded shot was verified again");
    HS_MUST(replay->answer_size == answer->len &&
                memcmp(replay->answer, answer->data, answer->len) == 0,
            "a retry gets another answer");
    return NULL;
}

/* Returns whether the shot can be recorded. A player who left stores nothing, and a number keeps
   its first shot. */
static bool is_new(const struct hs_match *match, const struct hs_shot_claim *claim)
{
    const struct hs_player *player = hs_players_find(&match->players, claim->shooter);
    return player == NULL ||
           (!player->left && hs_ledger_find(&player->ledger.shots, claim->shot) == NULL &&
            !hs_ledger_is_forgotten(&player->ledger.shots, claim->time_us));
}

/* Verifies a shot twice, records it, and sends it again as a retry. */
static const char *judge_shot(struct hs_match *match, const struct hs_shot_claim *claim,
                              int64_t now_us)
{
    struct hs_hit_result result, again;
    struct hs_buffer a = {0}, b = {0};
    int64_t forward_us = 0, forward_again_us = 0;
    hs_shot_verify(match, claim, now_us, &result, &forward_us);
    HS_MUST_HOLD(hs_check_hit_result(&result));
    if (result.replay != NULL)
        return NULL;
    hs_shot_verify(match, claim, now_us, &again, &forward_again_us);
    encode_shot(claim, &result, forward_us, &a);
    encode_shot(claim, &again, forward_again_us, &b);
    const char *fault = check_answers(&a, &b);
    if (fault == NULL) {
        bool fresh = is_new(match, claim);
        bool booked = hs_shot_record(match, claim, &result, (struct hs_str){a.data, a.len});
        hs_shot_verify(match, claim, now_us, &again, &forward_again_us);
        if (fresh && booked)
            fault = check_retry(again.replay, &a);
    }
    hs_buffer_free(&a);
    hs_buffer_free(&b);
    return fault;
}

/* Cancels a shot twice. The second time must change nothing. */
static const char *cancel_shot(struct hs_match *match, const struct hs_shot_claim *claim)
{
    struct hs_hit_result result, again;
    hs_shot_cancel(match, claim, true, &result);
    HS_MUST_HOLD(hs_check_hit_result(&result));
    hs_shot_cancel(match, claim, true, &again);
    HS_MUST(result.reason == again.reason, "cancelling a shot twice gives two different answers");
    return NULL;
}

const char *hs_fuzz_judge_shots(struct hs_match *match, const struct hs_ticks_request *request)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    for (size_t i = 0; i < request->shots.count; i++) {
        const struct hs_shot_claim *claim = &request->shots.shots[i];
        int64_t now_us = request->fields & HS_TICKS_NOW ? request->now_us
                         : info.has_frames              ? info.newest_us
                                                        : claim->time_us;
        HS_MUST_HOLD(claim->is_cancel ? cancel_shot(match, claim)
                                      : judge_shot(match, claim, now_us));
    }
    return NULL;
}

static const char *shots_in_match(const struct hs_ticks_request *request)
{
    struct hs_match *match = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
    const char *fault = match != NULL && hs_fuzz_stage_play(match) ? NULL : "out of memory";
    if (fault == NULL)
        fault = hs_fuzz_judge_shots(match, request);
    if (fault == NULL)
        fault = hs_check_match(match, &hs_fuzz_limits);
    hs_match_destroy(match);
    return fault;
}

const char *hs_fuzz_shots(const uint8_t *data, size_t size)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request request = {0};
    const char *fault;
    hs_fuzz_body_open(&body, data, size);
    fault = hs_fuzz_body_decode(&body, HS_ROUTE_SHOTS_POST, &request);
    if (fault == NULL && body.problem.code != HS_PROBLEM_NONE)
        fault = hs_check_problem(&body.problem, body.root);
    else if (fault == NULL)
        fault = shots_in_match(&request);
    hs_fuzz_body_close(&body);
    return fault;
}
