#include "service/judge.h"

#include <stdio.h>

#include "service/clock.h"
#include "service/metrics.h"
#include "service/ruleset_store.h"
#include "service/serve.h"
#include "service/sha256.h"

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
        done += frame->player_count;
    }
    size_t counts[HS_FRAME_RESULT_COUNT] = {0};
    for (size_t i = 0; i < request->entries; i++)
        counts[results[i]]++;
    for (int i = 0; i < HS_FRAME_RESULT_COUNT; i++)
        if (counts[i] > 0)
            hs_metrics_frame(service->metrics, (enum hs_frame_result)i, counts[i]);
    struct hs_match_info info;
    hs_match_info(slot->match, &info);
    hs_frames_encode(writer, request, results, flags, info.needs_resync);
    return true;
}

/*
 * The name of a verdict: a hash of the match, its opening (the time of its first frame), the
 * shooter, the shot and the rules, so that the same claim has the same name wherever it is judged.
 */
static void name_verdict(const struct hs_match_slot *slot, const struct hs_hit_claim *claim,
                         int64_t opening_us, struct hs_verdict_id *out)
{
    char text[4 * HS_NAME_MAX + HS_REVISION_MAX + 64], digest[HS_SHA256_HEX];
    int len = snprintf(text, sizeof text, "%s\n%lld\nhit\n%.*s\n%llu\n%s", slot->name.text,
                       (long long)opening_us, (int)claim->shooter.len, claim->shooter.ptr,
                       (unsigned long long)claim->shot, slot->ruleset->revision);
    hs_sha256_hex(text, (size_t)len, digest);
    memcpy(out->text, digest, sizeof out->text - 1);
    out->text[sizeof out->text - 1] = '\0';
}

static void count_verdict(struct hs_service *service, const struct hs_hit_result *result)
{
    struct hs_metrics *metrics = service->metrics;
    hs_metrics_verdict(metrics, result->verdict, result->reason, HS_MODE_ENFORCE);
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        hs_metrics_verdict(metrics, hs_reason_verdict(result->would_reject[i]),
                           result->would_reject[i], HS_MODE_SHADOW);
    if (result->rewind.present)
        hs_metrics_rewind_age(metrics, (double)result->rewind.by_us / 1e6);
}

void hs_judge_hits(struct hs_service *service, struct hs_match_slot *slot,
                   const struct hs_hits_request *request, bool explain, struct hs_writer *writer)
{
    struct hs_match_info info;
    hs_match_info(slot->match, &info);
    hs_write_begin(writer, '[');
    for (size_t i = 0; i < request->count; i++) {
        const struct hs_hit_claim *claim = &request->claims[i];
        int64_t now_us = request->fields & HS_HITS_NOW ? request->now_us
                         : info.has_frames             ? info.newest_us
                                                       : claim->hit_time_us;
        struct hs_hit_result result;
        struct hs_verdict_id id;
        int64_t began = hs_clock_ns();
        hs_hit_verify(slot->match, claim, now_us, &result);
        hs_metrics_verify(service->metrics, (double)(hs_clock_ns() - began) / 1e9);
        hs_hit_note(slot->match, claim, &result);
        count_verdict(service, &result);
        name_verdict(slot, claim, info.opening_us, &id);
        hs_hit_encode(writer, claim, &result, &id, explain);
    }
    hs_write_end(writer, ']');
}
