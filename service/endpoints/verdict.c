#include "service/endpoints/verdict.h"

#include <stdio.h>

#include "service/options/values.h"
#include "service/service.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "service/system/sha256.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "validators/base/units.h"

/*
 * Makes the id of a verdict: a hash of the tenant (if any), the match and its opening, the shooter
 * and their session, the shot and the rules. All of them survive the process, so the same claim
 * keeps its id, and no other claim has it.
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
        hs_metrics_observe(metrics, HS_METRIC_REWIND_AGE, 0, hs_seconds(result->rewind.by_us));
}

/* The default of `now` is the newest frame. */
static int64_t now_of(struct hs_posting *posting, const int64_t *now_us, int64_t without_frames_us)
{
    const struct hs_match_info *newest = &posting->newest;
    if (!posting->has_newest)
        hs_match_info(posting->slot->match, &posting->newest);
    posting->has_newest = true;
    return now_us != NULL ? *now_us : newest->has_frames ? newest->newest_us : without_frames_us;
}

/* The text written since `mark`: the answer that a replay repeats. */
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
static unsigned retry_after_ms(const struct hs_posting *posting)
{
    uint64_t ms = posting->budget / HS_WORK_UNITS_A_MS;
    return ms < 1 ? 1 : ms > 60000 ? 60000 : (unsigned)ms;
}

/* The budget is spent: with a limit of 1 no claim begins. */
static uint64_t budget_left(const struct hs_posting *posting)
{
    return posting->spent < posting->budget ? posting->budget - posting->spent : 1;
}

static void pay(struct hs_posting *posting, const struct hs_hit_result *result)
{
    posting->spent += result->work;
    hs_metrics_add(posting->service->metrics, HS_METRIC_WORK_UNITS, 0, (int64_t)result->work);
    bool is_over = result->replay == NULL && result->reason == HS_REASON_OVER_BUDGET;
    posting->over_budget += is_over ? 1 : 0;
}

/* ---- one item ---- */

static struct hs_str shooter_of(const struct hs_verdict_item *item)
{
    return item->hit != NULL ? item->hit->shooter : item->shot->shooter;
}

static void verify(const struct hs_posting *posting, int64_t now_us, struct hs_verdict_item *item)
{
    const struct hs_match *match = posting->slot->match;
    uint64_t left = budget_left(posting);
    bool is_whole = posting->spent == 0;
    if (item->hit != NULL)
        hs_hit_verify_within(match, item->hit, now_us, left, is_whole, item->result);
    else
        hs_shot_verify_within(match, item->shot, now_us, left, is_whole, item->result,
                              &item->forward_us);
}

/* Writes the result and returns the text, which a replay repeats. ptr NULL: memory is out, and the
   whole reply fails. */
static struct hs_str encode(struct hs_posting *posting, const struct hs_verdict_item *item)
{
    const struct hs_match_slot *slot = posting->slot;
    struct hs_writer *writer = &posting->writer;
    bool explain = posting->request->explain;
    struct hs_verdict_id id;
    size_t mark = mark_of(writer);
    if (item->hit != NULL) {
        int64_t fired_us = item->result->replay != NULL ? item->result->replay->fire_time_us
                                                        : item->result->fire_time_us;
        name_verdict(slot, "hit", item->hit->shot, item->hit->shooter, fired_us, &id);
        hs_hit_encode(writer, item->hit, item->result, &id, explain);
    } else {
        name_verdict(slot, "shot", item->shot->shot, item->shot->shooter, item->shot->time_us, &id);
        hs_shot_encode(writer, item->shot, item->result, item->forward_us, &id, explain);
    }
    if (item->result->reason == HS_REASON_OVER_BUDGET)
        hs_retry_encode(writer, retry_after_ms(posting));
    else if (hs_reason_is_retryable(item->result->reason))
        hs_retry_encode(writer, HS_RETRY_AFTER_MS);
    return written_since(writer, mark);
}

static bool book(const struct hs_match_slot *slot, const struct hs_verdict_item *item,
                 struct hs_str answer)
{
    if (item->hit != NULL)
        return hs_hit_record(slot->match, item->hit, item->result, answer);
    return hs_shot_record(slot->match, item->shot, item->result, answer);
}

/* Repeats an earlier answer. A payment that is not settled must be settled before the request is
   answered. While the journal cannot be written, such a payment is not repeated. */
static bool answer_replay(struct hs_posting *posting, const struct hs_verdict_item *item)
{
    const struct hs_match_slot *slot = posting->slot;
    const struct hs_ledger_entry *entry = item->result->replay;
    bool is_open = entry != NULL && entry->accepted && entry->payment > slot->settled_payments;
    if (entry == NULL || (is_open && slot->pays_nothing))
        return false;
    posting->must_settle = posting->must_settle || is_open;
    write_replay(&posting->writer, entry);
    return true;
}

/* Encodes and books the result. If it cannot be booked, it pays nothing and is encoded once
   more. */
static void answer(struct hs_posting *posting, struct hs_verdict_item *item, bool is_known)
{
    const struct hs_match_slot *slot = posting->slot;
    struct hs_writer *writer = &posting->writer;
    struct hs_hit_result *result = item->result;
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
    struct hs_str text = encode(posting, item);
    if (text.ptr == NULL || (is_booked && book(slot, item, text)))
        return;
    if (item->shot != NULL)
        hs_shot_lacked(slot->match, item->shot);
    posting->is_short = posting->is_short || is_booked || result->reason == HS_REASON_NOT_RECORDED;
    if (!is_booked)
        return;
    if (hs_log_enabled(HS_LOG_ERROR) && hs_log_allowed(&posting->service->match_log))
        hs_log(HS_LOG_ERROR, "memory is out: the service cannot store a verdict, and pays nothing",
               HS_LOG_TEXT("match", slot->name.text));
    hs_hit_withhold(result, HS_REASON_NOT_RECORDED);
    *writer = before;
    writer->buffer->len = len;
    encode(posting, item);
}

void hs_verdict_answer(struct hs_posting *posting, const int64_t *now_us, int64_t without_frames_us,
                       struct hs_verdict_item *item)
{
    struct hs_metrics *metrics = posting->service->metrics;
    struct hs_hit_result *result = item->result;
    int64_t began = hs_clock_ns();
    bool is_known = hs_hit_admit(posting->slot->match, shooter_of(item));
    verify(posting, now_of(posting, now_us, without_frames_us), item);
    pay(posting, result);
    int64_t verified = hs_clock_ns();
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, (double)(verified - began) * 1e-9);
    if (answer_replay(posting, item))
        return;
    answer(posting, item, is_known);
    hs_replayed_encode(&posting->writer, false);
    count_verdict(posting->service, item->kind, result);
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_ENCODE,
                       (double)(hs_clock_ns() - verified) * 1e-9);
}
