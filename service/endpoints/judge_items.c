#include "service/endpoints/judge_items.h"

#include <stdio.h>

#include "service/options/values.h"
#include "service/serve.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "service/system/sha256.h"
#include "service/watch/metrics.h"

bool hs_judge_frames(struct hs_judging *judging, const struct hs_frames_request *request)
{
    struct hs_service *service = judging->service;
    struct hs_match_slot *slot = judging->slot;
    enum hs_frame_result *results =
        hs_arena_alloc(judging->request->arena, request->entries + 1, sizeof *results);
    if (results == NULL)
        return false;
    unsigned flags = 0;
    size_t done = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct hs_frame *frame = &request->frames[i];
        if (!hs_match_post_frame(slot->match, frame, results + done, &flags))
            return false;
        done += frame->player_count + frame->mover_count;
    }
    struct hs_frames_counts counts;
    hs_frames_count(request, judging->malformed, results, &counts);
    for (int i = 0; i < HS_FRAME_RESULT_COUNT; i++) {
        enum hs_frame_result result = (enum hs_frame_result)i;
        hs_metrics_frame(service->metrics, HS_POSTED_PLAYER, result, counts.players[i]);
        hs_metrics_frame(service->metrics, HS_POSTED_MOVER, result, counts.movers[i]);
    }
    struct hs_match_times times;
    hs_match_times(slot->match, &times);
    hs_frames_encode(&judging->writer, request, judging->malformed, results, flags, slot->match,
                     times.needs_resync);
    return true;
}

static void count_move(struct hs_service *service, const struct hs_move_result *result)
{
    struct hs_metrics *metrics = service->metrics;
    hs_metrics_move(metrics, result->verdict, result->reason, result->raised);
    for (uint16_t i = 0; i < result->failure_count; i++)
        hs_metrics_move_failure(metrics, (enum hs_move_check)result->failures[i].check,
                                (enum hs_mode)result->failures[i].mode);
}

/* ---- malformed items ---- */

static void count_malformed(struct hs_service *service, enum hs_item kind)
{
    if (kind == HS_ITEM_MOVE)
        hs_metrics_move(service->metrics, HS_VERDICT_REJECTED, HS_MOVE_MALFORMED, 0);
    else
        hs_metrics_verdict(service->metrics, kind == HS_ITEM_HIT ? HS_JUDGED_HIT : HS_JUDGED_SHOT,
                           HS_VERDICT_REJECTED, HS_REASON_MALFORMED, HS_MODE_ENFORCE);
}

/* Answers the malformed items from place `*place` on, up to the next item that could be read, whose
   place it returns in `*place`. They change nothing in the match. */
static void answer_malformed(struct hs_judging *judging, enum hs_item kind,
                             const struct hs_malformed **next, size_t *place)
{
    for (; *next != NULL && (*next)->index == *place; *next = (*next)->next, ++*place) {
        hs_malformed_encode(&judging->writer, kind, *next);
        count_malformed(judging->service, kind);
    }
    ++*place;
}

bool hs_judge_moves(struct hs_judging *judging, const struct hs_moves_request *request)
{
    struct hs_match_slot *slot = judging->slot;
    struct hs_writer *writer = &judging->writer;
    const struct hs_moves_rules *rules = &slot->ruleset->ruleset->moves;
    const struct hs_malformed *bad = hs_malformed_first(judging->malformed, HS_ITEM_MOVE);
    size_t place = 0;
    hs_write_begin(writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        struct hs_move_result result;
        answer_malformed(judging, HS_ITEM_MOVE, &bad, &place);
        if (!hs_match_judge_move(slot->match, &request->moves[i], &result))
            return false;
        hs_move_encode(writer, rules, &request->moves[i], &result);
        if (!result.replayed)
            count_move(judging->service, &result);
    }
    answer_malformed(judging, HS_ITEM_MOVE, &bad, &place);
    hs_write_end(writer, ']');
    return true;
}

/*
 * The name of a verdict: a hash of the tenant (if there are any), the match and its opening, the
 * shooter and their session, the shot and the rules. All of them outlive the process, so the same
 * claim keeps its name, and no other claim has it.
 */
static void name_verdict(const struct hs_match_slot *slot, const char *kind, uint64_t shot,
                         struct hs_str shooter, int64_t fire_time_us, struct hs_verdict_id *out)
{
    char text[5 * HS_NAME_MAX + HS_REVISION_MAX + 96], digest[HS_SHA256_HEX];
    uint64_t session = hs_match_session(slot->match, shooter, fire_time_us);
    int len =
        snprintf(text, sizeof text, "%s%s%s\n%llu\n%s\n%.*s\n%llu\n%llu\n%s", slot->tenant.text,
                 slot->tenant.text[0] != '\0' ? "\n" : "", slot->name.text,
                 (unsigned long long)slot->opening, kind, (int)shooter.len, shooter.ptr,
                 (unsigned long long)session, (unsigned long long)shot, slot->ruleset->revision);
    hs_sha256_hex(text, (size_t)len, digest);
    memcpy(out->text, digest, sizeof out->text - 1);
    out->text[sizeof out->text - 1] = '\0';
}

static void count_verdict(struct hs_service *service, enum hs_judged kind,
                          const struct hs_hit_result *result)
{
    struct hs_metrics *metrics = service->metrics;
    hs_metrics_verdict(metrics, kind, result->verdict, result->reason, HS_MODE_ENFORCE);
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        hs_metrics_verdict(metrics, kind, hs_reason_verdict(result->would_reject[i]),
                           result->would_reject[i], HS_MODE_SHADOW);
    hs_metrics_flags(metrics, kind, result->flags);
    if (result->rewind.present)
        hs_metrics_rewind_age(metrics, (double)result->rewind.by_us / 1e6);
}

/* What is received without a `now` is received at the newest frame. */
static int64_t now_of(struct hs_judging *judging, bool has_now, int64_t now_us,
                      int64_t without_frames_us)
{
    const struct hs_match_times *newest = &judging->newest;
    if (!judging->has_newest)
        hs_match_times(judging->slot->match, &judging->newest);
    judging->has_newest = true;
    return has_now ? now_us : newest->has_frames ? newest->newest_us : without_frames_us;
}

/* What was written since `mark`: the answer a replay repeats. */
static struct hs_str written_since(const struct hs_writer *writer, size_t mark)
{
    const struct hs_buffer *buffer = writer->buffer;
    if (buffer->failed)
        return (struct hs_str){0};
    return (struct hs_str){buffer->data + mark, buffer->len - mark};
}

static size_t mark_of(const struct hs_writer *writer)
{
    return writer->buffer->len + (writer->needs_comma ? 1 : 0);
}

static void write_replay(struct hs_writer *writer, const struct hs_ledger_entry *entry)
{
    hs_write_raw(writer, (struct hs_str){entry->answer, entry->answer_size});
    hs_replayed_encode(writer, true);
}

/* ---- the budget ---- */

/* A client that waits this long before each retry keeps half a core busy. */
static unsigned retry_after_ms(const struct hs_judging *judging)
{
    uint64_t ms = judging->budget / HS_WORK_UNITS_A_MS;
    return ms < 1 ? 1 : ms > 60000 ? 60000 : (unsigned)ms;
}

/* With a limit of 1 no claim is begun: the budget is spent. */
static uint64_t budget_left(const struct hs_judging *judging)
{
    return judging->spent < judging->budget ? judging->budget - judging->spent : 1;
}

static void pay(struct hs_judging *judging, const struct hs_hit_result *result)
{
    judging->spent += result->work;
    hs_metrics_work(judging->service->metrics, result->work);
    bool is_over = result->replay == NULL && result->reason == HS_REASON_OVER_BUDGET;
    judging->over_budget += is_over ? 1 : 0;
}

/* ---- one item ---- */

/* A claim or a posted shot, its result, and the fields that only one of the two has. */
struct judged {
    enum hs_judged kind;
    const struct hs_hit_claim *hit;
    const struct hs_shot_claim *shot;
    int64_t forward_us;
    struct hs_hit_result *result; /* large, so it is not cleared for each claim */
};

static struct hs_str shooter_of(const struct judged *judged)
{
    return judged->hit != NULL ? judged->hit->shooter : judged->shot->shooter;
}

static void verify(const struct hs_judging *judging, int64_t now_us, struct judged *judged)
{
    const struct hs_match *match = judging->slot->match;
    uint64_t left = budget_left(judging);
    bool is_whole = judging->spent == 0;
    if (judged->hit != NULL)
        hs_hit_verify_within(match, judged->hit, now_us, left, is_whole, judged->result);
    else
        hs_shot_verify_within(match, judged->shot, now_us, left, is_whole, judged->result,
                              &judged->forward_us);
}

/* Writes the result and returns the text, which a replay repeats. ptr NULL: memory is out, and the
   whole reply fails. */
static struct hs_str encode(struct hs_judging *judging, const struct judged *judged)
{
    const struct hs_match_slot *slot = judging->slot;
    struct hs_writer *writer = &judging->writer;
    bool explain = judging->request->explain;
    struct hs_verdict_id id;
    size_t mark = mark_of(writer);
    if (judged->hit != NULL) {
        int64_t fired_us = judged->result->replay != NULL ? judged->result->replay->fire_time_us
                                                          : judged->result->fire_time_us;
        name_verdict(slot, "hit", judged->hit->shot, judged->hit->shooter, fired_us, &id);
        hs_hit_encode(writer, judged->hit, judged->result, &id, explain);
    } else {
        name_verdict(slot, "shot", judged->shot->shot, judged->shot->shooter, judged->shot->time_us,
                     &id);
        hs_shot_encode(writer, judged->shot, judged->result, judged->forward_us, &id, explain);
    }
    if (judged->result->reason == HS_REASON_OVER_BUDGET)
        hs_retry_encode(writer, retry_after_ms(judging));
    else if (hs_reason_is_retryable(judged->result->reason))
        hs_retry_encode(writer, HS_RETRY_AFTER_MS);
    return written_since(writer, mark);
}

static bool book(const struct hs_match_slot *slot, const struct judged *judged,
                 struct hs_str answer)
{
    if (judged->hit != NULL)
        return hs_hit_note(slot->match, judged->hit, judged->result, answer);
    return hs_shot_note(slot->match, judged->shot, judged->result, answer);
}

/* Repeats an earlier answer. While the journal cannot be written, an earlier payment may not be in
   a file yet, so it is not repeated. */
static bool answer_replay(const struct hs_match_slot *slot, struct judged *judged,
                          struct hs_writer *writer)
{
    const struct hs_ledger_entry *entry = judged->result->replay;
    if (entry == NULL || (slot->pays_nothing && entry->accepted))
        return false;
    write_replay(writer, entry);
    return true;
}

/* Encodes and books the result. If it cannot be booked, it pays nothing and is encoded once
   more. */
static void answer(struct hs_judging *judging, struct judged *judged, bool is_known)
{
    const struct hs_match_slot *slot = judging->slot;
    struct hs_writer *writer = &judging->writer;
    struct hs_hit_result *result = judged->result;
    struct hs_writer before = *writer;
    size_t len = writer->buffer->len;
    if (result->replay != NULL) { /* a replay sets nothing else; the result is withheld below */
        result->verdict = HS_VERDICT_ACCEPTED;
        result->reason = HS_REASON_OK;
    }
    if (!is_known)
        hs_hit_withhold(result, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    else if (slot->pays_nothing)
        hs_hit_withhold(result, HS_REASON_NOT_RECORDED);
    bool is_booked = is_known && !hs_reason_is_retryable(result->reason);
    struct hs_str text = encode(judging, judged);
    if (text.ptr == NULL || (is_booked && book(slot, judged, text)))
        return;
    if (judged->shot != NULL)
        hs_shot_lacked(slot->match, judged->shot);
    judging->is_short = judging->is_short || is_booked || result->reason == HS_REASON_NOT_RECORDED;
    if (!is_booked)
        return;
    if (hs_log_enabled(HS_LOG_ERROR) && hs_log_allowed(&judging->service->match_log))
        hs_log(HS_LOG_ERROR,
               "memory is out: the service cannot remember a verdict, and pays nothing",
               HS_LOG_TEXT("match", slot->name.text));
    hs_hit_withhold(result, HS_REASON_NOT_RECORDED);
    *writer = before;
    writer->buffer->len = len;
    encode(judging, judged);
}

static void judge_one(struct hs_judging *judging, int64_t now_us, struct judged *judged)
{
    struct hs_metrics *metrics = judging->service->metrics;
    struct hs_hit_result *result = judged->result;
    int64_t began = hs_clock_ns();
    bool is_known = hs_hit_admit(judging->slot->match, shooter_of(judged));
    verify(judging, now_us, judged);
    pay(judging, result);
    int64_t verified = hs_clock_ns();
    hs_metrics_stage(metrics, HS_STAGE_JUDGE, verified - began);
    if (answer_replay(judging->slot, judged, &judging->writer))
        return;
    answer(judging, judged, is_known);
    hs_replayed_encode(&judging->writer, false);
    count_verdict(judging->service, judged->kind, result);
    hs_metrics_stage(metrics, HS_STAGE_ENCODE, hs_clock_ns() - verified);
}

/* ---- lists ---- */

bool hs_judge_shots(struct hs_judging *judging, const struct hs_shots_request *request)
{
    struct hs_hit_result result;
    bool has_now = (request->fields & HS_SHOTS_NOW) != 0;
    const struct hs_malformed *bad = hs_malformed_first(judging->malformed, HS_ITEM_SHOT);
    size_t place = 0;
    hs_write_begin(&judging->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !judging->between(judging)) {
            judging->is_gone = true;
            return false;
        }
        answer_malformed(judging, HS_ITEM_SHOT, &bad, &place);
        const struct hs_shot_claim *claim = &request->shots[i];
        struct judged judged = {.kind = HS_JUDGED_SHOT, .shot = claim, .result = &result};
        judge_one(judging, now_of(judging, has_now, request->now_us, claim->time_us), &judged);
    }
    answer_malformed(judging, HS_ITEM_SHOT, &bad, &place);
    hs_write_end(&judging->writer, ']');
    return true;
}

bool hs_judge_hits(struct hs_judging *judging, const struct hs_hits_request *request)
{
    struct hs_hit_result result;
    bool has_now = (request->fields & HS_HITS_NOW) != 0;
    const struct hs_malformed *bad = hs_malformed_first(judging->malformed, HS_ITEM_HIT);
    size_t place = 0;
    hs_write_begin(&judging->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !judging->between(judging)) {
            judging->is_gone = true;
            return false;
        }
        answer_malformed(judging, HS_ITEM_HIT, &bad, &place);
        const struct hs_hit_claim *claim = &request->claims[i];
        struct judged judged = {.kind = HS_JUDGED_HIT, .hit = claim, .result = &result};
        judge_one(judging, now_of(judging, has_now, request->now_us, claim->hit_time_us), &judged);
    }
    answer_malformed(judging, HS_ITEM_HIT, &bad, &place);
    hs_write_end(&judging->writer, ']');
    return true;
}
