#include "tests/support/fuzz/moves.h"

#include <math.h>
#include <string.h>

#include "tests/support/fuzz/body.h"
#include "tests/support/fuzz/checks.h"
#include "tests/support/fuzz/stage.h"
#include "tests/support/fuzz/targets.h"

/* ---- answers ---- */

static const char *check_failures(const struct hs_move_result *result)
{
    unsigned raised = 0;
    int last = -1;
    HS_MUST(result->failure_count <= HS_MOVE_CHECK_COUNT, "more failures than checks");
    for (uint16_t i = 0; i < result->failure_count; i++) {
        const struct hs_move_failure *failure = &result->failures[i];
        HS_MUST(failure->check < HS_MOVE_CHECK_COUNT && failure->unit < HS_UNIT_COUNT,
                "a failure not in the vocabulary");
        HS_MUST((int)failure->check > last, "failures are not in deciding order");
        HS_MUST(failure->mode == HS_MODE_ENFORCE || failure->mode == HS_MODE_SHADOW,
                "a check that is off failed");
        HS_MUST(isfinite(failure->measured) && isfinite(failure->limit),
                "a failure without number");
        last = failure->check;
        raised |= 1u << failure->check;
        if (failure->mode == HS_MODE_ENFORCE)
            HS_MUST(result->verdict == HS_VERDICT_REJECTED && result->force_update,
                    "an enforced failure did not reject");
    }
    HS_MUST(raised == result->raised, "the raised checks are not the failed checks");
    return NULL;
}

static const char *check_result(const struct hs_moves_rules *rules, const struct hs_move *move,
                                const struct hs_move_result *result)
{
    HS_MUST(result->reason < HS_MOVE_REASON_COUNT, "a reason not in the vocabulary");
    HS_MUST(result->verdict == hs_move_reason_verdict(result->reason),
            "the verdict does not belong to the reason");
    HS_MUST(result->delta_us >= 0, "time runs back");
    HS_MUST((double)result->delta_us <= (double)rules->max_delta_us * move->dilation + 1,
            "more time is simulated than a move may have at most");
    HS_MUST(result->verdict == HS_VERDICT_ACCEPTED || result->delta_us == 0,
            "a rejected move is simulated");
    HS_MUST(result->credit_us >= 0 && result->credit_us <= rules->credit_max_us,
            "credit out of its bounds");
    HS_MUST(isfinite(result->speed), "the speed of the clock is not a number");
    bool judged_place = result->position != HS_MOVE_POSITION_NONE;
    HS_MUST(!judged_place || (move->fields & HS_MOVE_HAS_POSITION),
            "a place that the request did not contain");
    return check_failures(result);
}

static const char *write_result(const struct hs_moves_rules *rules, const struct hs_move *move,
                                const struct hs_move_result *result, struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    hs_move_encode(&writer, rules, move, result);
    return hs_check_document(out);
}

/* Compares two answers to one move. They must be equal except for `replayed`. */
static const char *compare(const struct hs_moves_rules *rules, const struct hs_move *move,
                           const struct hs_move_result *first, struct hs_move_result again)
{
    struct hs_buffer a = {0}, b = {0};
    again.replayed = first->replayed;
    const char *fault = write_result(rules, move, first, &a);
    if (fault == NULL)
        fault = write_result(rules, move, &again, &b);
    if (fault == NULL && (a.len != b.len || memcmp(a.data, b.data, a.len) != 0))
        fault = "a retry gets another answer";
    hs_buffer_free(&a);
    hs_buffer_free(&b);
    return fault;
}

static const char *judge_twice(struct hs_match *match, const struct hs_move *move)
{
    const struct hs_moves_rules *rules = &hs_match_ruleset(match)->moves;
    struct hs_move_result first, again;
    bool has_seq = (move->fields & HS_MOVE_HAS_SEQ) != 0;
    HS_MUST(hs_match_check_move(match, move, &first), "out of memory");
    HS_MUST_HOLD(check_result(rules, move, &first));
    HS_MUST(hs_match_check_move(match, move, &again), "out of memory");
    HS_MUST_HOLD(check_result(rules, move, &again));
    HS_MUST(has_seq || !again.replayed, "a move without a number counts as a retry");
    HS_MUST(!has_seq || first.verdict != HS_VERDICT_ACCEPTED || again.replayed,
            "an accepted move was checked twice");
    return again.replayed ? compare(rules, move, &first, again)
                          : compare(rules, move, &first, first);
}

static const char *check_info(const struct hs_match *match, struct hs_str player)
{
    struct hs_moves_info info;
    struct hs_buffer buffer = {0};
    struct hs_writer writer = {.buffer = &buffer};
    if (!hs_match_moves_info(match, player, &info) || !info.present)
        return NULL;
    hs_moves_info_encode(&writer, &info);
    const char *fault = hs_check_document(&buffer);
    hs_buffer_free(&buffer);
    return fault;
}

const char *hs_fuzz_judge_moves(struct hs_match *match, const struct hs_moves_request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        HS_MUST_HOLD(judge_twice(match, &request->moves[i]));
        HS_MUST_HOLD(check_info(match, request->moves[i].player));
    }
    return NULL;
}

static const char *moves_in_match(const struct hs_moves_request *request)
{
    struct hs_match *match = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
    const char *fault = match != NULL && hs_fuzz_stage_play(match) ? NULL : "out of memory";
    if (fault == NULL)
        fault = hs_fuzz_judge_moves(match, request);
    if (fault == NULL)
        fault = hs_check_match(match, &hs_fuzz_limits);
    hs_match_destroy(match);
    return fault;
}

const char *hs_fuzz_moves(const uint8_t *data, size_t size)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request request = {0};
    const char *fault;
    hs_fuzz_body_open(&body, data, size);
    fault = hs_fuzz_body_decode(&body, HS_ROUTE_MOVES_POST, &request);
    if (fault == NULL && body.problem.code != HS_PROBLEM_NONE)
        fault = hs_check_problem(&body.problem, body.root);
    else if (fault == NULL)
        fault = moves_in_match(&request.moves);
    hs_fuzz_body_close(&body);
    return fault;
}
