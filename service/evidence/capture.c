#include "service/evidence/capture.h"

#include <stdlib.h>

#include "service/evidence/context.h"
#include "service/record/lines.h"
#include "service/record/stream.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "validators/match/player_moves.h"
#include "validators/snapshot.h"

static struct hs_str shooter_of(const struct hs_verdict_to_keep *verdict)
{
    return verdict->hit != NULL ? verdict->hit->shooter : verdict->shot->shooter;
}

bool hs_capture_begin(const struct hs_evidence *evidence, const struct hs_match_slot *slot,
                      struct hs_verdict_to_keep *verdict)
{
    const struct hs_hit_result *result = verdict->result;
    verdict->is_sample = result->verdict == HS_VERDICT_ACCEPTED && result->would_reject_count == 0;
    if (evidence == NULL ||
        !hs_evidence_wants(evidence, verdict->is_sample, hs_str_of(verdict->id.text)))
        return false;
    if (verdict->hit != NULL)
        hs_hit_save_excerpt(slot->match, verdict->hit, result, &verdict->state);
    else
        hs_shot_save_excerpt(slot->match, verdict->shot, result, &verdict->state);
    return true;
}

/* ---- the request ---- */

/* Writes the body of a request that contains only this claim or shot. */
static void write_request(const struct hs_verdict_to_keep *verdict, const char *mask,
                          struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    struct hs_str key = verdict->hit != NULL ? HS_STR("hits") : HS_STR("shots");
    hs_write_begin(&writer, '{');
    hs_write_time_field(&writer, "now", verdict->result->now_us);
    hs_write_begin_field(&writer, key.ptr, '[');
    hs_body_item(verdict->items, verdict->body, key, verdict->place, mask, out);
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
}

/* ---- the answer ---- */

/* Encodes the result with all checks. */
static void write_answer(const struct hs_verdict_to_keep *verdict, const char *revision,
                         struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    hs_write_begin(&writer, '{');
    hs_write_begin_field(&writer, "results", '[');
    if (verdict->hit != NULL)
        hs_hit_encode(&writer, verdict->hit, verdict->result, &verdict->id, true);
    else
        hs_shot_encode(&writer, verdict->shot, verdict->result, verdict->forward_us, &verdict->id,
                       true);
    hs_replayed_encode(&writer, false);
    hs_write_end(&writer, ']');
    hs_write_text_field(&writer, "revision", revision);
    hs_write_end(&writer, '}');
}

/* ---- the row ---- */

/* Copies the measurement of the deciding check. */
static void copy_measure(const struct hs_hit_result *result, struct hs_evidence_row *row)
{
    for (uint16_t i = 0; i < result->check_count; i++) {
        const struct hs_check_row *check = &result->checks[i];
        if (check->reason != result->reason || check->outcome == HS_OUTCOME_PASS ||
            check->unit == HS_UNIT_NONE)
            continue;
        row->has_measure = true;
        row->measured = check->measured;
        row->limit = check->limit;
        row->unit = hs_str_of(hs_unit_name(check->unit));
        return;
    }
}

/* Writes the opening line and the request line of a recorded stream. From these two lines,
   `hindsight recheck` can verify the claim again. */
static void write_lines(const struct hs_match_slot *slot, const struct hs_verdict_to_keep *verdict,
                        const char *mask, struct hs_buffer *opening, struct hs_buffer *request)
{
    struct hs_writer writer = {.buffer = opening};
    struct hs_buffer body = {0}, answer = {0};
    hs_line_begin_opening(&writer, slot);
    write_request(verdict, mask, &body);
    write_answer(verdict, slot->ruleset->revision, &answer);
    struct hs_recorded_request recorded = {.route = verdict->hit != NULL ? HS_ROUTE_HITS_POST
                                                                         : HS_ROUTE_SHOTS_POST,
                                           .explain = true,
                                           .body = {body.data, body.len},
                                           .answer = {answer.data, answer.len}};
    writer = (struct hs_writer){.buffer = request};
    hs_line_put_request(&writer, slot, &recorded);
    request->failed = request->failed || body.failed || answer.failed;
    hs_buffer_free(&body);
    hs_buffer_free(&answer);
}

static void free_state(struct hs_verdict_to_keep *verdict)
{
    free(verdict->state.data);
    verdict->state = (struct hs_bytes){0};
}

void hs_capture_row(const struct hs_match_slot *slot, struct hs_verdict_to_keep *verdict,
                    struct hs_evidence_row *row)
{
    const struct hs_hit_result *result = verdict->result;
    const struct hs_ruleset *ruleset = slot->ruleset->ruleset;
    struct hs_player_info shooter;
    if (verdict->at_us == 0)
        verdict->at_us = hs_clock_wall_us();
    *row = (struct hs_evidence_row){
        .at_us = verdict->at_us,
        .now_us = result->now_us,
        .id = hs_str_of(verdict->id.text),
        .tenant = hs_name_str(&slot->tenant),
        .match = hs_name_str(&slot->name),
        .player = shooter_of(verdict),
        .target = verdict->hit != NULL ? verdict->hit->target : (struct hs_str){0},
        .kind = verdict->hit != NULL ? HS_STR("hit") : HS_STR("shot"),
        .verdict = hs_str_of(hs_verdict_name(result->verdict)),
        .reason = hs_str_of(hs_reason_name(result->reason)),
        .ruleset = hs_name_str(&ruleset->name),
        .revision = hs_str_of(slot->ruleset->revision),
    };
    if (result->weapon != HS_NONE)
        row->weapon = hs_name_str(&ruleset->weapons[result->weapon]->name);
    if (hs_match_find_player(slot->match, row->player, &shooter))
        row->account = shooter.account;
    copy_measure(result, row);
}

bool hs_capture_end(struct hs_evidence *evidence, struct hs_match_slot *slot,
                    struct hs_verdict_to_keep *verdict)
{
    struct hs_buffer opening = {0}, request = {0}, context = {0};
    struct hs_evidence_row row;
    write_lines(slot, verdict, hs_evidence_mask(evidence), &opening, &request);
    hs_capture_row(slot, verdict, &row);
    hs_context_write(slot, row.player, (int)verdict->result->reason, &context);
    row.opening = (struct hs_str){opening.data, opening.len};
    row.request = (struct hs_str){request.data, request.len};
    row.state = (struct hs_str){(const char *)verdict->state.data, verdict->state.len};
    if (slot->map != NULL) {
        row.map = hs_name_str(&slot->map->name);
        row.map_revision = hs_str_of(slot->map->revision);
    }
    row.context = (struct hs_str){context.data, context.len};
    bool is_whole = !opening.failed && !request.failed && !context.failed && !verdict->state.failed;
    bool is_kept =
        is_whole && hs_evidence_put(evidence, &row, verdict->is_sample, slot->ruleset, slot->map);
    hs_buffer_free(&opening);
    hs_buffer_free(&request);
    hs_buffer_free(&context);
    free_state(verdict);
    return is_kept;
}

/* ---- moves ---- */

/* For each match, player and reason, the first FIRST_MOVES moves are stored. After that, one of
   every EACH moves is stored. Without this limit, a cheating player or a faulty game server could
   add a row for every move. */
enum { FIRST_MOVES = 8, EACH = 64 };

static bool wants_move(const struct hs_match_slot *slot, const struct hs_move_to_keep *kept)
{
    const struct hs_move_result *result = kept->result;
    struct hs_moves_info info;
    if ((result->verdict != HS_VERDICT_REJECTED && result->failure_count == 0) ||
        !hs_match_moves_info(slot->match, kept->move->player, &info))
        return false;
    uint64_t count = result->verdict == HS_VERDICT_REJECTED
                         ? info.reasons[result->reason]
                         : info.raised[result->failures[0].check];
    return count <= FIRST_MOVES || count % EACH == 0;
}

/* Writes the move and its result as a `gap` line of a recorded stream. `hindsight recheck` skips
   this line, because the store does not contain the state that is needed to check the move
   again. */
static void write_move_line(const struct hs_match_slot *slot, const struct hs_move_to_keep *kept,
                            const char *mask, struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    hs_write_begin(&writer, '{');
    hs_write_text_field(&writer, "gap", slot->name.text);
    hs_write_text_field(&writer, "reason",
                        "a stored move is not computed again; use a recording of the match");
    hs_write_text_field(&writer, "request", hs_stream_request_name(HS_ROUTE_MOVES_POST));
    hs_write_begin_field(&writer, "body", '{');
    hs_write_begin_field(&writer, "moves", '[');
    hs_body_item(kept->items, kept->body, HS_STR("moves"), kept->place, mask, out);
    hs_write_end(&writer, ']');
    hs_write_end(&writer, '}');
    hs_write_begin_field(&writer, "answer", '{');
    hs_write_begin_field(&writer, "results", '[');
    hs_move_encode(&writer, &slot->ruleset->ruleset->moves, kept->move, kept->result);
    hs_write_end(&writer, ']');
    hs_write_text_field(&writer, "revision", slot->ruleset->revision);
    hs_write_end(&writer, '}');
    hs_line_end(&writer);
}

/* Copies the reason and the measured value of a failed check to the row. For a rejected move, uses
   the check that rejected the move. For an accepted move, uses the first failed check; all failed
   checks of an accepted move are in mode `shadow`. */
static void copy_failure(const struct hs_move_result *result, struct hs_evidence_row *row)
{
    for (uint16_t i = 0; i < result->failure_count; i++) {
        const struct hs_move_failure *failure = &result->failures[i];
        if (result->verdict == HS_VERDICT_REJECTED && failure->reason != result->reason)
            continue;
        row->reason = hs_str_of(hs_move_reason_name((enum hs_move_reason)failure->reason));
        row->has_measure = failure->unit != HS_UNIT_NONE;
        row->measured = failure->measured;
        row->limit = failure->limit;
        if (row->has_measure)
            row->unit = hs_str_of(hs_unit_name((enum hs_unit)failure->unit));
        return;
    }
}

bool hs_capture_move(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                     const struct hs_move_to_keep *kept)
{
    struct hs_buffer line = {0}, context = {0};
    struct hs_verdict_id id;
    struct hs_player_info player;
    const struct hs_move *move = kept->move;
    if (evidence == NULL || !wants_move(slot, kept))
        return false;
    /* The id depends on a hash of the move, because a move may have no number, and all moves of a
       packet have the same received_us. */
    hs_match_slot_verdict_id(slot, HS_ABOUT_MOVE, hs_move_digest(move).word[0], move->player,
                             move->received_us, &id);
    write_move_line(slot, kept, hs_evidence_mask(evidence), &line);
    hs_context_write(slot, move->player, -1, &context);
    struct hs_evidence_row row = {
        .at_us = hs_clock_wall_us(),
        .now_us = move->received_us,
        .id = hs_str_of(id.text),
        .tenant = hs_name_str(&slot->tenant),
        .match = hs_name_str(&slot->name),
        .player = move->player,
        .kind = HS_STR("move"),
        .verdict = hs_str_of(hs_verdict_name(kept->result->verdict)),
        .reason = hs_str_of(hs_move_reason_name(kept->result->reason)),
        .ruleset = hs_name_str(&slot->ruleset->ruleset->name),
        .revision = hs_str_of(slot->ruleset->revision),
        .request = {line.data, line.len},
        .context = {context.data, context.len},
    };
    if (hs_match_find_player(slot->match, move->player, &player))
        row.account = player.account;
    copy_failure(kept->result, &row);
    bool is_kept = !line.failed && !context.failed &&
                   hs_evidence_put(evidence, &row, false, slot->ruleset, NULL);
    hs_buffer_free(&line);
    hs_buffer_free(&context);
    return is_kept;
}
