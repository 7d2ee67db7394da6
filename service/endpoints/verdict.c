/* POST hits, POST shots: verifies a claim or a posted shot, and writes and counts the result. */
#include "service/endpoints/posting.h"

#include <stdlib.h>

#include "service/delivery/delivery.h"
#include "service/evidence/capture.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/system/clock.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "validators/base/units.h"

/* A claim or a posted shot, and its result. One of `hit` and `shot` is NULL. */
struct item {
    const struct hs_hit_claim *hit;
    const struct hs_shot_claim *shot;
    struct hs_str shooter;
    int64_t forward_us;      /* the `forward_time` in the answer to a shot */
    struct hs_verdict_id id; /* set by `encode` */
    struct hs_hit_result result;
};

static void count_verdict(struct hs_metrics *metrics, enum hs_verdict_of kind,
                          const struct hs_hit_result *result)
{
    hs_metrics_verdict(metrics, kind, result->verdict, result->reason, HS_MODE_ENFORCE);
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        hs_metrics_verdict(metrics, kind, hs_reason_verdict(result->would_reject[i]),
                           result->would_reject[i], HS_MODE_SHADOW);
    hs_metrics_flags(metrics, kind, result->flags);
    if (result->rewind.present)
        hs_metrics_observe(metrics, HS_METRIC_REWIND_AGE, 0, hs_seconds(result->rewind.by_us));
}

/* Returns when the game server received the item. This time is `now` if the request contains `now`.
   Otherwise it is the time of the newest frame when the request began. If there are no frames,
   returns the item's own time. */
static int64_t now_of(const struct hs_posting *posting, const struct hs_ticks_request *tick,
                      const struct item *item)
{
    if (tick->fields & HS_TICKS_NOW)
        return tick->now_us;
    if (posting->newest.has_frames)
        return posting->newest.newest_us;
    return item->hit != NULL ? item->hit->hit_time_us : item->shot->time_us;
}

/* ---- the budget ---- */

/* Returns how long the client must wait before a retry, in milliseconds. The service takes about as
   long as this wait to use up a whole budget. So a client that waits before each retry keeps at
   most half of a core busy. */
static unsigned retry_after_ms(const struct hs_posting *posting)
{
    uint64_t ms = posting->budget / HS_WORK_UNITS_A_MS;
    return ms < 1 ? 1 : ms > 60000 ? 60000 : (unsigned)ms;
}

/* Returns what is left of the budget, but at least 1, because a limit of 0 means no limit
   (validators/work.h). One unit is too little for any claim. */
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

static void verify(const struct hs_posting *posting, int64_t now_us, struct item *item)
{
    const struct hs_match *match = posting->slot->match;
    uint64_t left = budget_left(posting);
    bool is_whole = posting->spent == 0;
    if (item->hit != NULL)
        hs_hit_verify_within(match, item->hit, now_us, left, is_whole, &item->result);
    else
        hs_shot_verify_within(match, item->shot, now_us, left, is_whole, &item->result,
                              &item->forward_us);
}

/* Writes the result and returns its text, which a replay will repeat. Returns ptr NULL if memory
   runs out; the whole request then fails. */
static struct hs_str encode(struct hs_posting *posting, struct item *item)
{
    const struct hs_match_slot *slot = posting->slot;
    struct hs_writer *writer = &posting->writer;
    bool explain = posting->request->explain;
    struct hs_verdict_id *id = &item->id;
    const struct hs_hit_result *result = &item->result;
    size_t mark = writer->buffer->len + (writer->needs_comma ? 1 : 0);
    if (item->hit != NULL) {
        int64_t fired_us =
            result->replay != NULL ? result->replay->fire_time_us : result->fire_time_us;
        hs_match_slot_verdict_id(slot, HS_ABOUT_HIT, result->digest.word[0], item->hit->shooter,
                                 fired_us, id);
        hs_hit_encode(writer, item->hit, result, id, explain);
    } else {
        const struct hs_shot_claim *shot = item->shot;
        hs_match_slot_verdict_id(slot, shot->is_cancel ? HS_ABOUT_CANCEL : HS_ABOUT_SHOT,
                                 shot->is_cancel ? shot->shot : result->digest.word[0],
                                 shot->shooter, shot->is_cancel ? INT64_MAX : shot->time_us, id);
        hs_shot_encode(writer, item->shot, result, item->forward_us, id, explain);
    }
    if (hs_reason_is_retryable(result->reason))
        hs_write_int_field(writer, "retry_after_ms",
                           result->reason == HS_REASON_OVER_BUDGET ? retry_after_ms(posting)
                                                                   : HS_RETRY_AFTER_MS);
    if (writer->buffer->failed)
        return (struct hs_str){0};
    return (struct hs_str){writer->buffer->data + mark, writer->buffer->len - mark};
}

static bool book(const struct hs_match_slot *slot, const struct item *item, struct hs_str answer)
{
    if (item->hit != NULL)
        return hs_hit_record(slot->match, item->hit, &item->result, answer);
    return hs_shot_record(slot->match, item->shot, &item->result, answer);
}

/* If there is an earlier answer to the item, repeats that answer and returns true. If a power
   failure could still lose the payment in that answer, the request waits until the payment is
   settled. If the payment is not settled and the journal cannot be written, returns false
   instead. */
static bool answer_replay(struct hs_posting *posting, const struct item *item)
{
    const struct hs_match_slot *slot = posting->slot;
    const struct hs_ledger_entry *entry = item->result.replay;
    bool is_open = entry != NULL && entry->accepted && entry->payment > slot->settled_payments;
    if (entry == NULL || (is_open && slot->pays_nothing))
        return false;
    posting->must_settle = posting->must_settle || is_open || atomic_load(&slot->shared) != NULL;
    posting->has_evidence = true; /* the evidence for the first answer may not be on the disk yet */
    hs_write_raw(&posting->writer, (struct hs_str){entry->answer, entry->answer_size});
    hs_replayed_encode(&posting->writer, true);
    return true;
}

/* Writes the result and records it in the match. A result that cannot be recorded must not pay
   damage. So this function removes the damage from such a result (hs_hit_withhold), and writes the
   changed result. */
static void answer(struct hs_posting *posting, struct item *item, bool is_known)
{
    const struct hs_match_slot *slot = posting->slot;
    struct hs_writer *writer = &posting->writer;
    struct hs_hit_result *result = &item->result;
    struct hs_writer before = *writer;
    size_t len = writer->buffer->len;
    /* a replay lacks a verdict and a reason, but hs_hit_withhold needs both */
    if (result->replay != NULL) {
        result->verdict = HS_VERDICT_ACCEPTED;
        result->reason = HS_REASON_OK;
    }
    if (!is_known)
        hs_hit_withhold(result, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    else if (slot->pays_nothing)
        hs_hit_withhold(result, HS_REASON_NOT_RECORDED);
    bool is_booked = is_known && !hs_reason_is_retryable(result->reason);
    struct hs_str text = encode(posting, item);
    struct hs_verdict_to_keep kept = {.hit = item->hit,
                                      .shot = item->shot,
                                      .result = result,
                                      .forward_us = item->forward_us,
                                      .id = item->id,
                                      .body = posting->request->body,
                                      .place = posting->place,
                                      .items =
                                          item->hit != NULL ? &posting->hits : &posting->shots};
    bool is_kept =
        text.ptr != NULL && is_booked && hs_capture_begin(posting->service->evidence, slot, &kept);
    bool is_done = text.ptr == NULL || (is_booked && book(slot, item, text));
    if (is_kept && is_done)
        posting->has_evidence |= hs_capture_end(posting->service->evidence, posting->slot, &kept);
    free(kept.state.data);
    if (is_done && is_booked && text.ptr != NULL)
        hs_deliver(posting->service, slot, &kept);
    if (is_done)
        return;
    if (item->shot != NULL)
        hs_shot_lacked(slot->match, item->shot);
    posting->is_short = posting->is_short || is_booked || result->reason == HS_REASON_NOT_RECORDED;
    if (!is_booked)
        return;
    if (hs_log_enabled(HS_LOG_ERROR) && hs_log_allowed(&posting->service->match_log))
        hs_log(HS_LOG_ERROR, "out of memory: the service cannot store a verdict, and pays nothing",
               HS_LOG_TEXT("match", slot->name.text));
    hs_hit_withhold(result, HS_REASON_NOT_RECORDED);
    *writer = before;
    writer->buffer->len = len;
    encode(posting, item);
}

/* Answers a cancellation of a shot. While the journal cannot be written, the cancellation is not
   accepted, because a crash would lose the cancellation. */
static bool answer_cancel(struct hs_posting *posting, struct item *item)
{
    item->forward_us = 0;
    hs_shot_cancel(posting->slot->match, item->shot, !posting->slot->pays_nothing, &item->result);
    pay(posting, &item->result);
    encode(posting, item);
    hs_replayed_encode(&posting->writer, false);
    posting->is_plain = hs_hit_is_plain(&item->result);
    count_verdict(posting->service->metrics, HS_VERDICT_OF_SHOT, &item->result);
    return true;
}

static bool answer_item(struct hs_posting *posting, const struct hs_ticks_request *tick,
                        struct item *item)
{
    struct hs_metrics *metrics = posting->service->metrics;
    int64_t began = posting->stage_ns;
    bool is_known = hs_hit_admit(posting->slot->match, item->shooter);
    verify(posting, now_of(posting, tick, item), item);
    pay(posting, &item->result);
    int64_t verified = posting->stage_ns = hs_clock_ns();
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, (double)(verified - began) * 1e-9);
    if (answer_replay(posting, item))
        return true;
    answer(posting, item, is_known);
    hs_replayed_encode(&posting->writer, false);
    posting->is_plain =
        item->hit != NULL ? hs_hit_is_plain(&item->result) : hs_shot_is_plain(&item->result);
    count_verdict(metrics, item->hit != NULL ? HS_VERDICT_OF_HIT : HS_VERDICT_OF_SHOT,
                  &item->result);
    posting->stage_ns = hs_clock_ns();
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_ENCODE,
                       (double)(posting->stage_ns - verified) * 1e-9);
    return true;
}

/* `item` is not zeroed, because item.result is large, and hs_hit_verify_within sets the whole
   result. */
bool hs_post_hit(struct hs_posting *posting, const struct hs_ticks_request *tick, size_t i)
{
    struct item item;
    item.hit = &tick->hits.claims[i];
    item.shot = NULL;
    item.shooter = item.hit->shooter;
    return answer_item(posting, tick, &item);
}

bool hs_post_shot(struct hs_posting *posting, const struct hs_ticks_request *tick, size_t i)
{
    struct item item;
    item.hit = NULL;
    item.shot = &tick->shots.shots[i];
    item.shooter = item.shot->shooter;
    return item.shot->is_cancel ? answer_cancel(posting, &item) : answer_item(posting, tick, &item);
}
