#include "service/judge.h"

#include <stdio.h>

#include "service/clock.h"
#include "service/watch/metrics.h"
#include "service/state/ruleset_store.h"
#include "service/options/options.h"
#include "service/serve.h"
#include "service/state/sha256.h"

bool hs_judge_frames(struct hs_service *service, struct hs_match_slot *slot,
                     const struct hs_frames_request *request, struct hs_arena *arena,
                     struct hs_writer *writer)
{
    enum hs_frame_result *results = hs_arena_alloc(arena, request->entries + 1, sizeof *results);
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
    hs_frames_count(request, results, &counts);
    for (int i = 0; i < HS_FRAME_RESULT_COUNT; i++) {
        enum hs_frame_result result = (enum hs_frame_result)i;
        hs_metrics_frame(service->metrics, HS_POSTED_PLAYER, result, counts.players[i]);
        hs_metrics_frame(service->metrics, HS_POSTED_MOVER, result, counts.movers[i]);
    }
    struct hs_match_times times;
    hs_match_times(slot->match, &times);
    hs_frames_encode(writer, request, results, flags, times.needs_resync);
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

bool hs_judge_moves(struct hs_service *service, struct hs_match_slot *slot,
                    const struct hs_moves_request *request, struct hs_writer *writer)
{
    const struct hs_moves_rules *rules = &slot->ruleset->ruleset->moves;
    hs_write_begin(writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        struct hs_move_result result;
        if (!hs_match_judge_move(slot->match, &request->moves[i], &result))
            return false;
        hs_move_encode(writer, rules, &request->moves[i], &result);
        if (!result.replayed)
            count_move(service, &result);
    }
    hs_write_end(writer, ']');
    return true;
}

/*
 * The name of a verdict: a hash of the tenant (where there are any), the match, its opening (the
 * time of its first frame), the shooter, the shot and the rules, so that the same claim has the
 * same name wherever it is judged.
 */
static void name_verdict(const struct hs_match_slot *slot, const char *kind, uint64_t shot,
                         struct hs_str shooter, struct hs_verdict_id *out)
{
    struct hs_match_times times;
    char text[5 * HS_NAME_MAX + HS_REVISION_MAX + 64], digest[HS_SHA256_HEX];
    hs_match_times(slot->match, &times);
    int len = snprintf(text, sizeof text, "%s%s%s\n%lld\n%s\n%.*s\n%llu\n%s", slot->tenant.text,
                       slot->tenant.text[0] != '\0' ? "\n" : "", slot->name.text,
                       (long long)times.opening_us, kind, (int)shooter.len, shooter.ptr,
                       (unsigned long long)shot, slot->ruleset->revision);
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
static int64_t now_of(const struct hs_match_slot *slot, bool has_now, int64_t now_us,
                      int64_t without_frames_us)
{
    struct hs_match_times times;
    hs_match_times(slot->match, &times);
    return has_now ? now_us : times.has_frames ? times.newest_us : without_frames_us;
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

/* A client that waits that long before it sends the claim again keeps half a core busy. */
static unsigned retry_after_ms(const struct hs_judging *judging)
{
    uint64_t ms = judging->budget / HS_WORK_UNITS_A_MS;
    return ms < 1 ? 1 : ms > 60000 ? 60000 : (unsigned)ms;
}

/* A claim without any budget left is not even looked at. */
static uint64_t budget_left(const struct hs_judging *judging)
{
    return judging->spent < judging->budget ? judging->budget - judging->spent : 1;
}

/* Pays for a claim. True: it did not fit, and nothing of it is recorded. */
static bool pay(struct hs_judging *judging, const struct hs_hit_result *result)
{
    judging->spent += result->work;
    hs_metrics_work(judging->service->metrics, result->work);
    bool is_over = result->replay == NULL && result->reason == HS_REASON_OVER_BUDGET;
    judging->over_budget += is_over ? 1 : 0;
    return is_over;
}

/* ---- one item ---- */

static void judge_shot(struct hs_judging *judging, const struct hs_shot_claim *claim,
                       int64_t now_us)
{
    struct hs_service *service = judging->service;
    struct hs_match_slot *slot = judging->slot;
    struct hs_writer *writer = &judging->writer;
    struct hs_hit_result result;
    struct hs_verdict_id id;
    int64_t forward_us, began = hs_clock_ns();
    bool is_known = hs_hit_admit(slot->match, claim->shooter);
    hs_shot_verify_within(slot->match, claim, now_us, budget_left(judging), judging->spent == 0,
                          &result, &forward_us);
    bool is_over = pay(judging, &result);
    if (!is_known)
        hs_hit_withhold(&result);
    int64_t judged = hs_clock_ns();
    hs_metrics_stage(service->metrics, HS_STAGE_JUDGE, judged - began);
    if (result.replay != NULL) {
        write_replay(writer, result.replay);
        return;
    }
    size_t mark = mark_of(writer);
    name_verdict(slot, "shot", claim->shot, claim->shooter, &id);
    hs_shot_encode(writer, claim, &result, forward_us, &id, judging->request->explain);
    struct hs_str answer = written_since(writer, mark);
    if (is_over)
        hs_retry_encode(writer, retry_after_ms(judging));
    else if (answer.ptr !=
             NULL) /* else memory is out: the reply fails, and a retry is judged anew */
        hs_shot_note(slot->match, claim, &result, answer);
    hs_replayed_encode(writer, false);
    count_verdict(service, HS_JUDGED_SHOT, &result);
    hs_metrics_stage(service->metrics, HS_STAGE_ENCODE, hs_clock_ns() - judged);
}

static void judge_hit(struct hs_judging *judging, const struct hs_hit_claim *claim, int64_t now_us)
{
    struct hs_service *service = judging->service;
    struct hs_match_slot *slot = judging->slot;
    struct hs_writer *writer = &judging->writer;
    struct hs_hit_result result;
    struct hs_verdict_id id;
    int64_t began = hs_clock_ns();
    bool is_known = hs_hit_admit(slot->match, claim->shooter);
    hs_hit_verify_within(slot->match, claim, now_us, budget_left(judging), judging->spent == 0,
                         &result);
    bool is_over = pay(judging, &result);
    if (!is_known)
        hs_hit_withhold(&result);
    int64_t judged = hs_clock_ns();
    hs_metrics_stage(service->metrics, HS_STAGE_JUDGE, judged - began);
    if (result.replay != NULL) {
        write_replay(writer, result.replay);
        return;
    }
    size_t mark = mark_of(writer);
    name_verdict(slot, "hit", claim->shot, claim->shooter, &id);
    hs_hit_encode(writer, claim, &result, &id, judging->request->explain);
    struct hs_str answer = written_since(writer, mark);
    if (is_over)
        hs_retry_encode(writer, retry_after_ms(judging));
    else if (answer.ptr != NULL) /* as for shots */
        hs_hit_note(slot->match, claim, &result, answer);
    hs_replayed_encode(writer, false);
    count_verdict(service, HS_JUDGED_HIT, &result);
    hs_metrics_stage(service->metrics, HS_STAGE_ENCODE, hs_clock_ns() - judged);
}

/* ---- lists ---- */

bool hs_judge_shots(struct hs_judging *judging, const struct hs_shots_request *request)
{
    bool has_now = (request->fields & HS_SHOTS_NOW) != 0;
    hs_write_begin(&judging->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !judging->between(judging)) {
            judging->is_gone = true;
            return false;
        }
        const struct hs_shot_claim *claim = &request->shots[i];
        judge_shot(judging, claim, now_of(judging->slot, has_now, request->now_us, claim->time_us));
    }
    hs_write_end(&judging->writer, ']');
    return true;
}

bool hs_judge_hits(struct hs_judging *judging, const struct hs_hits_request *request)
{
    bool has_now = (request->fields & HS_HITS_NOW) != 0;
    hs_write_begin(&judging->writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        if (i > 0 && !judging->between(judging)) {
            judging->is_gone = true;
            return false;
        }
        const struct hs_hit_claim *claim = &request->claims[i];
        judge_hit(judging, claim,
                  now_of(judging->slot, has_now, request->now_us, claim->hit_time_us));
    }
    hs_write_end(&judging->writer, ']');
    return true;
}
