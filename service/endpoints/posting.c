#include "service/endpoints/posting.h"

#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/endpoints/brief.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "validators/hints.h"

/* Stops recording this match, or prevents the recording from starting. From now on, answers may
   depend on a lack of memory or disk space, so `recheck` cannot compute these answers again. */
static void end_recording(struct hs_match_slot *slot)
{
    if (slot->recorded == HS_RECORDED_OPEN || slot->recorded == HS_RECORDED_NOT)
        slot->recorded = HS_RECORDED_LOST;
}

static void record_post(struct hs_service *service, struct hs_match_slot *slot, int64_t now_us)
{
    bool was_limited = slot->memory_limited;
    hs_registry_record_post(slot, now_us);
    if (slot->memory_limited == was_limited)
        return;
    struct hs_match_info info;
    hs_match_info(slot->match, &info);
    if (slot->memory_limited && hs_log_enabled(HS_LOG_WARN) && hs_log_allowed(&service->match_log))
        hs_log(HS_LOG_WARN, "a match is memory-limited", HS_LOG_TEXT("match", slot->name.text),
               HS_LOG_NUMBER("bytes", info.history_bytes));
    end_recording(slot);
}

static void await_map(const struct hs_match_slot *slot, struct hs_reply *reply)
{
    hs_problem_set(reply->problem, HS_PROBLEM_OVERLOADED,
                   "the map of this match, %s, was lost in a restart: upload the same map again",
                   slot->awaited_map.text);
    reply->shed = HS_SHED_MAP;
}

/* Writes payments to the journal before other requests can see them. Also called before any claim
   is verified, to find out whether the journal can be written. */
static void write_journal(struct hs_posting *posting)
{
    bool has_records = posting->slot->journal.len > posting->unwritten;
    bool is_written = hs_kept_match_write(posting->service, posting->slot);
    posting->is_unwritten = posting->is_unwritten || (has_records && !is_written);
    posting->must_settle = posting->must_settle || has_records;
    posting->unwritten = posting->slot->journal.len;
    posting->slot->pays_nothing = !is_written;
}

/* Unlocks the match so that each waiting thread gets one turn, and then locks the match again.
   Returns false if the match was deleted. */
static bool yield(struct hs_posting *posting)
{
    write_journal(posting);
    if (!hs_registry_yield(posting->service->registry, posting->slot))
        return false;
    /* other requests may have added records in the meantime */
    posting->unwritten = posting->slot->journal.len;
    write_journal(posting);
    return true;
}

/* The amount of work (1 ms) after which a request may unlock its match between two claims. An
   ordinary request needs less work, so all its claims see the same frames. */
enum { TURN_WORK = HS_WORK_UNITS_A_MS };

/* If the request has done TURN_WORK since the last check for waiting threads, lets these threads
   use the match. Returns false if the match was deleted. A service that records requests never
   unlocks the match here, because `recheck` runs requests one after the other. */
static bool lend(struct hs_posting *posting)
{
    if (posting->spent - posting->lent_at < TURN_WORK)
        return true;
    posting->lent_at = posting->spent;
    if (posting->request->alive_us != NULL)
        atomic_store(posting->request->alive_us, hs_clock_us());
    bool may_lend = posting->service->record == NULL && hs_registry_is_awaited(posting->slot);
    if (!may_lend)
        return true;
    bool is_open = yield(posting);
    /* the metrics must not count this wait as verification time */
    posting->stage_ns = hs_clock_ns();
    return is_open;
}

static void log_over_budget(const struct hs_posting *posting)
{
    struct hs_service *service = posting->service;
    if (posting->over_budget == 0 || !hs_log_enabled(HS_LOG_WARN) ||
        !hs_log_allowed(&service->match_log))
        return;
    hs_log(HS_LOG_WARN, "claims did not fit the work budget of their request",
           HS_LOG_TEXT("match", posting->slot->name.text),
           HS_LOG_NUMBER("claims", posting->over_budget),
           HS_LOG_NUMBER("request_work", posting->budget));
}

/* Logs each hint about a match once. */
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
               HS_LOG_TEXT("hint", hs_hint_code_name(hints[i].code)),
               HS_LOG_TEXT("detail", hints[i].detail));
    }
}

/* ---- the answer ---- */

static void count_malformed(struct hs_service *service, enum hs_item kind)
{
    if (kind == HS_ITEM_MOVE)
        hs_metrics_move(service->metrics, HS_VERDICT_REJECTED, HS_MOVE_MALFORMED, 0);
    else
        hs_metrics_verdict(service->metrics,
                           kind == HS_ITEM_HIT ? HS_VERDICT_OF_HIT : HS_VERDICT_OF_SHOT,
                           HS_VERDICT_REJECTED, HS_REASON_MALFORMED, HS_MODE_ENFORCE);
}

/* Answers the malformed items from index *place up to the next readable item. Then sets *place to
   the index after this readable item. Malformed items change nothing in the match. */
static void answer_malformed(struct hs_posting *posting, enum hs_item kind,
                             const struct hs_malformed **next, size_t *place)
{
    for (; *next != NULL && (*next)->index == *place; *next = (*next)->next, ++*place) {
        struct hs_brief_mark mark = hs_brief_mark(posting);
        posting->place = *place;
        posting->is_plain = false;
        hs_malformed_encode(&posting->writer, kind, *next);
        hs_brief_item(posting, kind, mark);
        count_malformed(posting->service, kind);
    }
    ++*place;
}

/* Bytes to reserve in the answer for each result. RESULT_BYTES: for a move or a shot. HIT_BYTES:
   for a hit. Most results are shorter; the buffer grows for longer results. */
enum { RESULT_BYTES = 240, HIT_BYTES = 640 };

/* Writes an array with the results of all items of one kind. Returns false if memory runs out or
   the match was deleted. */
static bool answer_items(struct hs_posting *posting, const struct hs_ticks_request *tick,
                         enum hs_item kind, size_t count, hs_posting_item *answer)
{
    const struct hs_malformed *bad = hs_malformed_first(posting->malformed, kind);
    size_t place = 0;
    if (kind != HS_ITEM_MOVE && posting->request->route == HS_ROUTE_TICKS_POST)
        posting->stage_ns = hs_clock_ns();
    hs_write_begin(&posting->writer, '[');
    if (!posting->request->brief)
        hs_buffer_space(posting->writer.buffer,
                        count * (kind == HS_ITEM_HIT ? HIT_BYTES : RESULT_BYTES));
    for (size_t i = 0; i < count; i++) {
        posting->is_gone = i > 0 && !lend(posting);
        if (posting->is_gone)
            return false;
        answer_malformed(posting, kind, &bad, &place);
        struct hs_brief_mark mark = hs_brief_mark(posting);
        posting->place = place - 1;
        posting->is_plain = false;
        if (!answer(posting, tick, i))
            return false;
        hs_brief_item(posting, kind, mark);
    }
    answer_malformed(posting, kind, &bad, &place);
    hs_write_end(&posting->writer, ']');
    return true;
}

/* Processes the parts of a tick and writes the answer. Returns false if memory runs out or the
   match was deleted. */
static bool answer(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    const struct {
        unsigned field;
        enum hs_item kind;
        const char *key;
        size_t count;
        hs_posting_item *answer;
    } parts[] = {
        {HS_TICKS_MOVES, HS_ITEM_MOVE, "moves", tick->moves.count, hs_post_move},
        {HS_TICKS_SHOTS, HS_ITEM_SHOT, "shots", tick->shots.count, hs_post_shot},
        {HS_TICKS_HITS, HS_ITEM_HIT, "hits", tick->hits.count, hs_post_hit},
    };
    struct hs_writer *writer = &posting->writer;
    if (posting->request->route == HS_ROUTE_FRAMES_POST)
        return hs_post_frames(posting, &tick->frames);
    bool is_tick = posting->request->route == HS_ROUTE_TICKS_POST;
    hs_write_begin(writer, '{');
    if (tick->fields & HS_TICKS_FRAMES) {
        hs_write_key(writer, "frames");
        if (!hs_post_frames(posting, &tick->frames))
            return false;
    }
    hs_match_info(posting->slot->match, &posting->newest);
    if (!hs_brief_begin(posting, tick))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((tick->fields & parts[i].field) == 0)
            continue;
        hs_write_key(writer, is_tick ? parts[i].key : "results");
        if (!answer_items(posting, tick, parts[i].kind, parts[i].count, parts[i].answer))
            return false;
    }
    if (posting->request->brief)
        hs_brief_end(posting, tick);
    else
        hs_write_word_field(writer, "revision", posting->slot->ruleset->revision);
    hs_write_end(writer, '}');
    return true;
}

static void refuse(const struct hs_posting *posting, struct hs_reply *reply)
{
    struct hs_shared_match *shared = atomic_load(&posting->slot->shared);
    if (posting->is_gone && shared != NULL && hs_shared_match_is_lost(shared))
        hs_endpoint_moved(reply);
    else if (posting->is_gone)
        hs_endpoint_unknown(posting->request, reply, HS_PROBLEM_UNKNOWN_MATCH,
                            "the match was deleted during this request");
    else
        hs_endpoint_overloaded(reply, "out of memory");
}

/* Processes a decoded request. The match must be locked; this function unlocks it. */
static void run(struct hs_posting *posting, const struct hs_ticks_request *tick,
                struct hs_reply *reply)
{
    struct hs_service *service = posting->service;
    struct hs_match_slot *slot = posting->slot;
    /* A restart lost the match's map. Verdicts without the walls of this map would be wrong. */
    if (slot->awaited_map.text[0] != '\0')
        await_map(slot, reply);
    else if (!answer(posting, tick))
        refuse(posting, reply);
    record_post(service, slot, posting->stage_ns / 1000);
    log_over_budget(posting);
    if (tick->hits.count > 0)
        log_hints(service, slot);
    reply->work = posting->spent;
    write_journal(posting);
    if (posting->is_short || posting->is_unwritten)
        end_recording(slot);
    if (posting->is_unwritten)
        hs_endpoint_overloaded(reply, "the payments cannot be written to the journal");
    hs_endpoint_record(service, posting->request, slot,
                       posting->over_budget > 0 ? posting->budget : 0, reply);
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    bool has_claims = tick->hits.count + tick->shots.count > 0;
    bool is_handed_off = tick->moves.count > 0 && hs_kept_match_hand_off(service, slot);
    if (((has_claims && posting->must_settle && shared != NULL) || is_handed_off) &&
        reply->problem->code == HS_PROBLEM_NONE)
        reply->shared = hs_shared_match_retain(shared);
    hs_registry_release(service->registry, slot);
    if (posting->has_evidence && reply->problem->code == HS_PROBLEM_NONE)
        reply->evidence_mark = hs_evidence_mark(service->evidence, reply->evidence_done);
    if (posting->must_settle && !hs_journal_settle(service->journal))
        hs_endpoint_overloaded(reply, "the payments cannot be synced to the disk");
}

void hs_endpoint_post(struct hs_service *service, const struct hs_request *request,
                      struct hs_reply *reply)
{
    struct hs_reader reader;
    int64_t began = hs_clock_ns();
    if (!hs_endpoint_has_capacity(service, request, reply))
        return;
    if (request->route != HS_ROUTE_FRAMES_POST && hs_evidence_is_blocked(service->evidence)) {
        hs_endpoint_overloaded(reply,
                               "the evidence store is full, and `evidence-overflow` is block");
        return;
    }
    struct hs_ticks_request tick = {0};
    struct hs_malformed_items malformed = {.count = 0};
    json_t *root = NULL;
    hs_body_reader(service, request, reply, &reader);
    if (!hs_ticks_read_directly(&reader, request->body, request->route, &tick)) {
        root = hs_json_parse(request->body, reply->problem);
        if (root == NULL)
            return;
        reader.malformed = request->strict ? NULL : &malformed;
        hs_ticks_decode_body(&reader, root, request->route, &tick);
    }
    struct hs_posting posting = {.service = service,
                                 .request = request,
                                 .writer = {.buffer = &reply->body},
                                 .malformed = &malformed,
                                 .moves.starts = reader.starts[HS_ITEM_MOVE],
                                 .shots.starts = reader.starts[HS_ITEM_SHOT],
                                 .hits.starts = reader.starts[HS_ITEM_HIT],
                                 .budget = service->options->request_work};
    int64_t decoded = hs_clock_ns();
    if (hs_body_is_fine(&reader, reply))
        posting.slot = hs_endpoint_match(service, request, reply, true);
    if (posting.slot != NULL) {
        posting.unwritten = posting.slot->journal.len;
        write_journal(&posting);
        reply->evidence_done = hs_evidence_done(service->evidence);
        posting.stage_ns = hs_clock_ns();
        if (tick.hits.count + tick.shots.count > 0) {
            hs_metrics_observe(service->metrics, HS_METRIC_STAGE, HS_STAGE_DECODE,
                               (double)(decoded - began) * 1e-9);
            hs_metrics_observe(service->metrics, HS_METRIC_STAGE, HS_STAGE_LOCK,
                               (double)(posting.stage_ns - decoded) * 1e-9);
        }
        run(&posting, &tick, reply);
        hs_body_items_free(&posting.moves);
        hs_body_items_free(&posting.hits);
        hs_body_items_free(&posting.shots);
    }
    json_decref(root);
}
