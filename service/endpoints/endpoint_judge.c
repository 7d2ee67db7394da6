/* frames, moves, shots, hits, ticks: the requests of a running match. */
#include "api/ticks.h"

#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/clock.h"
#include "service/endpoints/endpoints.h"
#include "service/judge.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "service/options/options.h"
#include "service/state/ruleset_store.h"
#include "service/serve.h"
#include "validators/hints.h"

static void write_revision(struct hs_writer *writer, const struct hs_match_slot *slot)
{
    hs_write_key(writer, "revision");
    hs_write_text(writer, slot->ruleset->revision);
}

/* A body decodes into that part of a tick which its route posts. */
typedef void decode_body(struct hs_reader *reader, const json_t *root,
                         struct hs_ticks_request *out);

/* Writes the answer. False: out of memory, or the match is gone. */
typedef bool answer_body(struct hs_judging *judging, const struct hs_ticks_request *tick);

/* A replay cannot know what was refused for lack of memory or disk: the recording ends here, or
   never begins. */
static void end_recording(struct hs_match_slot *slot)
{
    if (slot->recorded == HS_RECORDED_OPEN || slot->recorded == HS_RECORDED_NOT)
        slot->recorded = HS_RECORDED_LOST;
}

static void note_posted(struct hs_service *service, struct hs_match_slot *slot)
{
    bool was_held = slot->held;
    hs_registry_note_posted(slot);
    if (slot->held == was_held)
        return;
    struct hs_match_info info;
    hs_match_info(slot->match, &info);
    if (slot->held && hs_log_enabled(HS_LOG_WARN) && hs_log_allowed(&service->match_log))
        hs_log(HS_LOG_WARN, "a match takes no more memory", HS_LOG_TEXT("match", slot->name.text),
               HS_LOG_NUMBER("bytes", info.history_bytes));
    end_recording(slot);
}

static void await_map(const struct hs_match_slot *slot, struct hs_reply *reply)
{
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED,
                   "the map of this match, %s, was lost in a restart: put it again, as it was",
                   slot->awaited_map.text);
    reply->shed = HS_SHED_MAP;
}

/* Writes payments to the journal before other requests can see them. Called before a claim is
   judged, it also finds out whether the journal can be written. */
static void write_journal(struct hs_judging *judging)
{
    bool has_records = judging->slot->journal.len > judging->unwritten;
    bool is_written = hs_kept_match_write(judging->service, judging->slot);
    judging->is_unwritten = judging->is_unwritten || (has_records && !is_written);
    judging->unwritten = judging->slot->journal.len;
    judging->slot->pays_nothing = !is_written;
}

/*
 * Unlocks the match of a request: for good, or only for the waiting threads. False: it was deleted
 * while others had the lock. Every unlock goes through this function.
 */
static bool let_go(struct hs_judging *judging, bool for_good)
{
    struct hs_registry *registry = judging->service->registry;
    if (for_good) {
        hs_registry_release(registry, judging->slot);
        return true;
    }
    write_journal(judging);
    if (!hs_registry_yield(registry, judging->slot))
        return false;
    judging->unwritten = judging->slot->journal.len; /* other requests may have added records */
    write_journal(judging);
    return true;
}

/* A request lends its match after this work (1 ms). So all claims of an ordinary request see the
   same frames. */
enum { TURN_WORK = HS_WORK_UNITS_A_MS };

/* Runs between two claims. `recheck` computes recorded requests one after the other, so a service
   that records does not mix them. */
static bool lend(struct hs_judging *judging)
{
    if (judging->spent - judging->lent_at < TURN_WORK)
        return true;
    judging->lent_at = judging->spent;
    if (judging->request->alive_us != NULL)
        atomic_store(judging->request->alive_us, hs_clock_us());
    bool may_lend = judging->service->record == NULL && hs_registry_is_awaited(judging->slot);
    return !may_lend || let_go(judging, false);
}

static void note_over_budget(const struct hs_judging *judging)
{
    struct hs_service *service = judging->service;
    if (judging->over_budget == 0 || !hs_log_enabled(HS_LOG_WARN) ||
        !hs_log_allowed(&service->match_log))
        return;
    hs_log(HS_LOG_WARN, "claims did not fit the work budget of their request",
           HS_LOG_TEXT("match", judging->slot->name.text),
           HS_LOG_NUMBER("claims", judging->over_budget),
           HS_LOG_NUMBER("request_work", judging->budget));
}

/* Logs each hint once a match, while it is open in this process. */
static void log_hints(struct hs_service *service, struct hs_match_slot *slot)
{
    unsigned found = hs_match_hint_codes(slot->match) & ~slot->logged_hints;
    if (found == 0 || !hs_log_enabled(HS_LOG_WARN))
        return;
    struct hs_hint hints[HS_HINTS_MAX];
    size_t count = hs_match_hints(slot->match, hints);
    for (size_t i = 0; i < count; i++) {
        unsigned bit = 1u << hints[i].code;
        if ((found & bit) == 0 || !hs_log_allowed(&service->match_log))
            continue;
        slot->logged_hints |= bit;
        hs_log(HS_LOG_WARN, "the integration of a game looks wrong",
               HS_LOG_TEXT("match", slot->name.text),
               HS_LOG_TEXT("hint", hs_hint_name(hints[i].code)),
               HS_LOG_TEXT("detail", hints[i].detail));
    }
}

static void refuse(const struct hs_judging *judging, struct hs_reply *reply)
{
    if (judging->is_gone)
        hs_endpoint_unknown(judging->request, reply, HS_PROBLEM_UNKNOWN_MATCH,
                            "the match was deleted while this request was judged");
    else
        hs_endpoint_overloaded(reply, "out of memory");
}

static void judge(struct hs_service *service, const struct hs_request *request,
                  struct hs_reply *reply, decode_body *decode, answer_body *answer)
{
    struct hs_body_reader body;
    int64_t began = hs_clock_ns();
    if (!hs_endpoint_has_room(service, request, reply) ||
        !hs_body_open(service, request, reply, &body))
        return;
    struct hs_ticks_request tick = {0};
    struct hs_malformed_items malformed = {.count = 0};
    body.reader.malformed = request->strict ? NULL : &malformed;
    decode(&body.reader, body.root, &tick);
    struct hs_judging judging = {.service = service,
                                 .request = request,
                                 .writer = {.buffer = &reply->body},
                                 .malformed = &malformed,
                                 .budget = service->options->request_work,
                                 .between = lend};
    int64_t decoded = hs_clock_ns();
    if (hs_body_is_fine(&body, reply))
        judging.slot = hs_endpoint_match(service, request, reply, true);
    if (judging.slot != NULL) {
        judging.unwritten = judging.slot->journal.len;
        write_journal(&judging);
        if (tick.hits.count + tick.shots.count > 0) {
            hs_metrics_stage(service->metrics, HS_STAGE_DECODE, decoded - began);
            hs_metrics_stage(service->metrics, HS_STAGE_LOCK, hs_clock_ns() - decoded);
        }
        /* Without its walls it would be judged wrongly. */
        if (judging.slot->awaited_map.text[0] != '\0')
            await_map(judging.slot, reply);
        else if (!answer(&judging, &tick))
            refuse(&judging, reply);
        note_posted(service, judging.slot);
        note_over_budget(&judging);
        if (tick.hits.count > 0)
            log_hints(service, judging.slot);
        reply->work = judging.spent;
        write_journal(&judging);
        if (judging.is_short || judging.is_unwritten)
            end_recording(judging.slot);
        if (judging.is_unwritten)
            hs_endpoint_overloaded(reply, "the payments cannot be written to the journal");
        hs_endpoint_record(service, request, judging.slot,
                           judging.over_budget > 0 ? judging.budget : 0, reply);
        let_go(&judging, true);
        if (service->journal != NULL && !hs_journal_settle(service->journal))
            hs_endpoint_overloaded(reply, "the payments cannot be synced to the disk");
    }
    hs_body_close(&body);
}

static bool write_frames(struct hs_judging *judging, const struct hs_ticks_request *tick)
{
    return hs_judge_frames(judging, &tick->frames);
}

/* False: out of memory. */
static bool write_moves(struct hs_judging *judging, const struct hs_ticks_request *tick,
                        const char *key)
{
    hs_write_key(&judging->writer, key);
    return hs_judge_moves(judging, &tick->moves);
}

/* False: the match is gone. The same holds for write_hits. */
static bool write_shots(struct hs_judging *judging, const struct hs_ticks_request *tick,
                        const char *key)
{
    hs_write_key(&judging->writer, key);
    return hs_judge_shots(judging, &tick->shots);
}

static bool write_hits(struct hs_judging *judging, const struct hs_ticks_request *tick,
                       const char *key)
{
    hs_write_key(&judging->writer, key);
    return hs_judge_hits(judging, &tick->hits);
}

/* ---- frames ---- */

static void decode_frames(struct hs_reader *reader, const json_t *root,
                          struct hs_ticks_request *out)
{
    hs_frames_decode_body(reader, root, &out->frames);
}

void hs_endpoint_frames_post(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    judge(service, request, reply, decode_frames, write_frames);
}

/* ---- moves ---- */

static void decode_moves(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_moves_decode_body(reader, root, &out->moves);
}

static bool answer_moves(struct hs_judging *judging, const struct hs_ticks_request *tick)
{
    hs_write_begin(&judging->writer, '{');
    if (!write_moves(judging, tick, "results"))
        return false;
    write_revision(&judging->writer, judging->slot);
    hs_write_end(&judging->writer, '}');
    return true;
}

void hs_endpoint_moves_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    judge(service, request, reply, decode_moves, answer_moves);
}

/* ---- hits ---- */

static void decode_hits(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_hits_decode_body(reader, root, &out->hits);
}

static bool answer_hits(struct hs_judging *judging, const struct hs_ticks_request *tick)
{
    hs_write_begin(&judging->writer, '{');
    if (!write_hits(judging, tick, "results"))
        return false;
    write_revision(&judging->writer, judging->slot);
    hs_write_end(&judging->writer, '}');
    return true;
}

void hs_endpoint_hits_post(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    judge(service, request, reply, decode_hits, answer_hits);
}

/* ---- shots ---- */

static void decode_shots(struct hs_reader *reader, const json_t *root, struct hs_ticks_request *out)
{
    hs_shots_decode_body(reader, root, &out->shots);
}

static bool answer_shots(struct hs_judging *judging, const struct hs_ticks_request *tick)
{
    hs_write_begin(&judging->writer, '{');
    if (!write_shots(judging, tick, "results"))
        return false;
    write_revision(&judging->writer, judging->slot);
    hs_write_end(&judging->writer, '}');
    return true;
}

void hs_endpoint_shots_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    judge(service, request, reply, decode_shots, answer_shots);
}

/* ---- ticks ---- */

static bool answer_tick(struct hs_judging *judging, const struct hs_ticks_request *tick)
{
    hs_write_begin(&judging->writer, '{');
    if (tick->fields & HS_TICKS_FRAMES) {
        hs_write_key(&judging->writer, "frames");
        if (!write_frames(judging, tick))
            return false;
    }
    if ((tick->fields & HS_TICKS_MOVES) && !write_moves(judging, tick, "moves"))
        return false;
    if ((tick->fields & HS_TICKS_SHOTS) && !write_shots(judging, tick, "shots"))
        return false;
    if ((tick->fields & HS_TICKS_HITS) && !write_hits(judging, tick, "hits"))
        return false;
    write_revision(&judging->writer, judging->slot);
    hs_write_end(&judging->writer, '}');
    return true;
}

void hs_endpoint_ticks_post(struct hs_service *service, const struct hs_request *request,
                            struct hs_reply *reply)
{
    judge(service, request, reply, hs_ticks_decode_body, answer_tick);
}
