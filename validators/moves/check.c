#include "validators/base/units.h"
#include "validators/moves.h"

#include <stdlib.h>

#include "validators/match/connection.h"
#include "validators/match/journal.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/match/suspicion.h"

/* A jump of the server's may reach its client this much later than the round trip, and no client's
   move is taken for its effect after that. */
#define JUMP_ARRIVES_US INT64_C(1000000)

/* Of a player whose round trip is not known. */
#define UNKNOWN_RTT_US INT64_C(500000)

/* The clock was set back when so many moves agree that came over at least this long, each later
   than the one before by no more than history.max_forward. A batch that is sent again is shorter.
 */
enum { AGREEING_MOVES = 3 };
#define AGREEING_US INT64_C(1000000)

/* A move, its player, and what is known of his line. */
struct judging {
    const struct hs_match *match;
    const struct hs_moves_rules *rules;
    const struct hs_move *move;
    struct hs_player *player;
    struct hs_player_moves *moves;
    int64_t rtt_us; /* -1: not known */
    struct hs_move_result *out;
};

static int64_t round_us(double us)
{
    return (int64_t)floor(us + 0.5);
}

/* ---- what failed ---- */

static void add_failure(struct judging *j, enum hs_move_check check, enum hs_unit unit,
                        double measured, double limit)
{
    enum hs_mode mode = j->match->ruleset->move_checks[check];
    if (mode == HS_MODE_OFF)
        return;
    j->out->raised |= 1u << check;
    j->out->failures[j->out->failure_count++] =
        (struct hs_move_failure){(uint8_t)check, (uint8_t)mode, (uint8_t)unit, measured, limit};
}

static void add_timing_failures(struct judging *j, const struct hs_timing_result *timing)
{
    if (timing->flags & HS_TIMING_FAST_PROVEN)
        add_failure(j, HS_MOVE_CHECK_FAST_CLOCK_PROVEN, HS_UNIT_SECONDS, timing->proven_by_us / 1e6,
                    hs_seconds(j->rules->ack_slack_us));
    if (timing->flags & HS_TIMING_FAST_SUSPECTED)
        add_failure(j, HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED, HS_UNIT_SECONDS,
                    timing->suspected_us / 1e6, timing->suspected_limit_us / 1e6);
    if (timing->flags & HS_TIMING_DISCREPANCY)
        add_failure(j, HS_MOVE_CHECK_TIMING_DISCREPANCY, HS_UNIT_SECONDS, timing->ahead_us / 1e6,
                    hs_seconds(j->rules->max_margin_us));
}

static void add_finding(struct judging *j, enum hs_move_check check,
                        const struct hs_movement_finding *finding)
{
    if (finding->failed)
        add_failure(j, check, finding->unit, finding->measured, finding->limit);
}

/* ---- movement ---- */

static bool found_something(const struct hs_movement_result *found)
{
    return found->teleport.failed || found->speed.failed || found->acceleration.failed ||
           found->gravity.failed;
}

/* What the server did then, a move of now may be the first to show. */
static bool is_recent(const struct judging *j, int64_t time_us)
{
    int64_t rtt_us = j->rtt_us >= 0 ? j->rtt_us : UNKNOWN_RTT_US;
    return j->move->received_us - time_us <= rtt_us + JUMP_ARRIVES_US;
}

/* The server moved the player, and no move of his was taken for it yet: the first such time. */
static bool find_announced_jump(const struct judging *j, int64_t *time_us)
{
    const struct hs_player *player = j->player;
    for (int i = 0; i < HS_JUMPS_OPEN && player->was_moved; i++) {
        *time_us = player->moved_us[i];
        if (*time_us > j->moves->jump_closed_us && is_recent(j, *time_us))
            return true;
    }
    return false;
}

/* The server may have moved him while nobody listened, and no move of his was taken for it yet. */
static bool may_have_jumped(const struct judging *j)
{
    const struct hs_match *match = j->match;
    int64_t since_us = j->moves->restored_us;
    if (match->has_frames && match->window_start_us > since_us)
        since_us = match->window_start_us; /* moves of before were sent again, and frames not */
    return j->moves->is_restored && j->moves->has_restored_us && is_recent(j, since_us);
}

static void judge_movement(struct judging *j, const struct hs_timing_result *granted)
{
    const struct hs_move *move = j->move;
    struct hs_player_moves *moves = j->moves;
    moves->unmoved_us += granted->delta_us;
    moves->unmoved_client_us += granted->client_us;
    if (move->kind != HS_MOVE_NEW || !(move->fields & HS_MOVE_HAS_POSITION))
        return;
    struct hs_movement_step step = {
        .position = move->position,
        .velocity = move->velocity,
        .has_velocity = (move->fields & HS_MOVE_HAS_VELOCITY) != 0,
        .up = hs_up_direction(j->match->ruleset->up),
        .mode = move->mode.ptr != NULL ? hs_ruleset_find_move_mode(j->match->ruleset, move->mode)
                                       : (uint16_t)HS_NONE,
        .base = move->base.ptr != NULL ? hs_str_hash(move->base) : 0,
        .delta_us = moves->unmoved_us,
        .client_us = moves->unmoved_client_us,
        .dilation = move->dilation,
        .corrected = moves->corrected,
        .has_corrected = moves->has_corrected && is_recent(j, moves->corrected_us),
        .received_us = move->received_us,
        .rtt_us = j->rtt_us,
        .jump_speed = j->match->ruleset->history.max_speed,
    };
    moves->unmoved_us = moves->unmoved_client_us = 0;
    struct hs_movement before = moves->judges.movement;
    struct hs_movement_result found;
    hs_movement_check(&moves->judges.movement, j->rules, &step, &found);
    int64_t announced_us;
    bool is_announced = found_something(&found) && find_announced_jump(j, &announced_us);
    if (is_announced || (found_something(&found) && may_have_jumped(j))) {
        /* This is the move that shows what the server did. */
        if (is_announced)
            moves->jump_closed_us = announced_us;
        moves->is_restored = false;
        moves->judges.movement = before;
        step.is_announced = true;
        hs_movement_check(&moves->judges.movement, j->rules, &step, &found);
    }
    add_finding(j, HS_MOVE_CHECK_TELEPORT, &found.teleport);
    add_finding(j, HS_MOVE_CHECK_SPEED, &found.speed);
    add_finding(j, HS_MOVE_CHECK_ACCELERATION, &found.acceleration);
    add_finding(j, HS_MOVE_CHECK_GRAVITY, &found.gravity);
}

/* ---- position ---- */

static bool differs(const struct judging *j, double error_squared)
{
    const struct hs_move *move = j->move;
    bool other_mode = move->mode.ptr != NULL && move->server_mode.ptr != NULL &&
                      !hs_str_equal(move->mode, move->server_mode);
    return error_squared > j->rules->position_error_squared || other_mode;
}

static void correct(struct judging *j, double error_squared)
{
    const struct hs_move *move = j->move;
    struct hs_player_moves *moves = j->moves;
    struct hs_move_result *out = j->out;
    if (moves->has_corrected &&
        move->received_us - moves->corrected_us < j->rules->correction_interval_us)
        return; /* the last one is on its way; this move is neither right nor corrected */
    moves->has_corrected = true;
    moves->corrected_us = move->received_us;
    moves->corrected = move->server_position;
    out->position = HS_MOVE_POSITION_CORRECTION;
    out->error = sqrt(error_squared);
    out->limit = sqrt(j->rules->position_error_squared);
    out->corrected = move->server_position;
    out->corrected_velocity = move->server_velocity;
    out->has_corrected_velocity = (move->fields & HS_MOVE_HAS_SERVER_VELOCITY) != 0;
    struct hs_str mode = move->server_mode.ptr != NULL ? move->server_mode : move->mode;
    if (mode.ptr != NULL)
        out->corrected_mode = hs_ruleset_find_move_mode(j->match->ruleset, mode);
}

/* `is_forced`: the client needs the server's state whatever the error. */
static void compare_position(struct judging *j, bool is_forced)
{
    const struct hs_move *move = j->move;
    if (move->kind != HS_MOVE_NEW || !(move->fields & HS_MOVE_HAS_POSITION))
        return;
    bool is_taken_over =
        j->rules->client_authoritative && j->out->verdict == HS_VERDICT_ACCEPTED && !is_forced;
    if (is_taken_over) {
        j->out->position = HS_MOVE_POSITION_ACK;
        return;
    }
    if (!(move->fields & HS_MOVE_HAS_SERVER_POSITION))
        return;
    struct hs_vec apart = hs_vec_sub(move->server_position, move->position);
    double error_squared = hs_vec_dot(apart, apart);
    if (is_forced || differs(j, error_squared))
        correct(j, error_squared);
    else
        j->out->position = HS_MOVE_POSITION_ACK;
}

/* ---- a move ---- */

/* The first failure of an enforced check decides. */
static void decide(struct judging *j, enum hs_move_reason reason)
{
    j->out->reason = reason;
    for (uint16_t i = 0; i < j->out->failure_count; i++) {
        if (j->out->failures[i].mode != HS_MODE_ENFORCE)
            continue;
        j->out->reason = hs_move_check_reason((enum hs_move_check)j->out->failures[i].check);
        break;
    }
    j->out->verdict = hs_move_reason_verdict(j->out->reason);
}

/* The client's clock may have been begun anew. OK: it stands in its epoch. */
static enum hs_move_reason enter_epoch(struct judging *j)
{
    struct hs_player_moves *moves = j->moves;
    const struct hs_move *move = j->move;
    if (!moves->has_epoch) {
        moves->has_epoch = true;
        moves->epoch = move->epoch;
        moves->epoch_us = move->received_us;
        return HS_MOVE_OK;
    }
    if (move->epoch == moves->epoch)
        return HS_MOVE_OK;
    if (move->epoch < moves->epoch)
        return HS_MOVE_STALE;
    if (move->received_us - moves->epoch_us < j->rules->epoch_interval_us)
        return HS_MOVE_EPOCH_TOO_SOON;
    hs_timing_restart(&moves->judges.timing);
    moves->epoch = move->epoch;
    moves->epoch_us = move->received_us;
    return HS_MOVE_OK;
}

static void report_state(struct judging *j)
{
    const struct hs_timing *timing = &j->moves->judges.timing;
    j->out->discrepancy_us = round_us(timing->compat.ahead_us);
    j->out->lifetime_us = round_us(timing->compat.lifetime_us);
    j->out->is_resolving = timing->compat.is_resolving;
    j->out->credit_us = round_us(timing->credit_us);
    j->out->speed = timing->has_begun ? (double)timing->guard.speed : 1;
}

static void refuse(struct judging *j, enum hs_move_reason reason)
{
    j->out->reason = reason;
    j->out->verdict = hs_move_reason_verdict(reason);
}

/*
 * A move from long before the last one: a straggler, or the server's own clock was set back and no
 * frame said so. As with frames, one alone does not tell, and frames know better.
 */
static bool is_clock_set_back(struct judging *j)
{
    struct hs_player_moves *moves = j->moves;
    int64_t most = j->match->ruleset->history.max_forward_us, received_us = j->move->received_us;
    if (j->match->has_frames && j->match->newest_us - received_us > most)
        return false;
    if (moves->has_epoch && j->move->epoch < moves->epoch)
        return false;
    int64_t step = received_us - moves->behind_us;
    if (moves->behind_count > 0 && step == 0)
        return false; /* of the same packet */
    if (moves->behind_count == 0 || step < 0 || step > most) {
        moves->behind_count = 0;
        moves->behind_from_us = received_us;
    }
    moves->behind_us = received_us;
    moves->behind_count++;
    return moves->behind_count >= AGREEING_MOVES &&
           received_us - moves->behind_from_us >= AGREEING_US;
}

/* All begins anew; what was granted up to now is not granted again should the clock return. */
static void set_clock_back(struct hs_player_moves *moves)
{
    int64_t heard_us = moves->judges.timing.heard_us, granted_us = moves->granted_us;
    hs_player_moves_forget_times(moves);
    moves->granted_us = heard_us > granted_us ? heard_us : granted_us;
}

/* Credit is granted for the time after this move only where it was not granted already. */
static void pass_granted_time(struct hs_player_moves *moves, int64_t received_us)
{
    struct hs_timing *state = &moves->judges.timing;
    if (moves->has_lost_moves && received_us > state->heard_us)
        state->heard_us = received_us; /* from here on time is granted again */
    else if (state->heard_us < moves->granted_us && received_us > moves->granted_us)
        state->heard_us = moves->granted_us;
    moves->has_lost_moves = false;
}

static void judge_time_and_place(struct judging *j)
{
    const struct hs_move *move = j->move;
    struct hs_timing *state = &j->moves->judges.timing;
    bool is_behind = state->has_begun && state->heard_us - move->received_us >
                                             j->match->ruleset->history.max_forward_us;
    if (is_behind && !is_clock_set_back(j)) {
        refuse(j, HS_MOVE_STALE);
        return;
    }
    if (is_behind)
        set_clock_back(j->moves);
    j->moves->behind_count = 0;
    pass_granted_time(j->moves, move->received_us);
    if (j->moves->is_restored && !j->moves->has_restored_us) {
        j->moves->has_restored_us = true;
        j->moves->restored_us = move->received_us;
    }
    enum hs_move_reason entered = enter_epoch(j);
    if (entered != HS_MOVE_OK) {
        refuse(j, entered);
        return;
    }
    struct hs_connection connection;
    hs_connection_read(j->player, move->received_us, &connection);
    j->rtt_us = connection.is_known ? connection.rtt_us : -1;
    struct hs_timing_move timed = {
        .timestamp_us = move->timestamp_us,
        .received_us = move->received_us,
        .ack_us = move->ack_us,
        .has_ack = (move->fields & HS_MOVE_HAS_ACK) != 0,
        .dilation = move->dilation,
    };
    struct hs_timing_result timing;
    hs_timing_check(state, j->rules, &timed, &timing);
    add_timing_failures(j, &timing);
    bool is_simulated = timing.reason == HS_MOVE_OK || timing.reason == HS_MOVE_RESET;
    if (is_simulated)
        judge_movement(j, &timing);
    decide(j, timing.reason);
    bool is_refused = is_simulated && j->out->verdict != HS_VERDICT_ACCEPTED;
    j->out->force_update = timing.force_update || is_refused;
    if (j->out->verdict == HS_VERDICT_ACCEPTED)
        j->out->delta_us = round_us(timing.delta_us);
    if (is_simulated)
        compare_position(j, timing.force_update || is_refused);
}

/* A refusal that a bad line cannot cause is suspicious, enforced or not. */
static void book(struct judging *j)
{
    struct hs_player_moves *moves = j->moves;
    moves->reasons[j->out->reason]++;
    for (uint16_t i = 0; i < j->out->failure_count; i++) {
        moves->raised[j->out->failures[i].check]++;
        if (j->out->failures[i].check != HS_MOVE_CHECK_TIMING_DISCREPANCY)
            hs_suspicion_add_one(j->player, j->match->newest_us);
    }
}

enum standing { STANDS, FULL, NO_MEMORY };

/* The player and room for his moves. */
static enum standing admit(struct hs_match *match, struct judging *j)
{
    bool is_here = j->player != NULL && !j->player->left;
    if (!is_here && !hs_journal_reserve(&match->players, NULL))
        return NO_MEMORY;
    if (j->player == NULL) {
        enum hs_players_add added =
            hs_players_add(&match->players, j->move->player, match->limits.samples, &j->player);
        if (added != HS_PLAYERS_ADDED)
            return added == HS_PLAYERS_FULL ? FULL : NO_MEMORY;
        hs_players_begin_session(&match->players, j->player);
    }
    if (j->player->left)
        hs_players_rejoin(&match->players, j->player);
    if (j->player->moves == NULL)
        j->player->moves = hs_player_moves_create();
    if (j->player->moves == NULL)
        return NO_MEMORY;
    j->moves = j->player->moves;
    if ((j->move->fields & HS_MOVE_HAS_SEQ) && j->moves->answers == NULL) {
        j->moves->answers = hs_move_answers_create(HS_MOVES_FIRST);
        if (j->moves->answers == NULL)
            return NO_MEMORY;
    }
    return STANDS;
}

/* A move that was judged before. True: `out` is its answer. */
static bool replay(struct judging *j, const struct hs_digest *digest)
{
    if (j->moves == NULL || !(j->move->fields & HS_MOVE_HAS_SEQ))
        return false;
    const struct hs_move_answer *kept =
        hs_move_answers_find(j->moves->answers, j->move->epoch, j->move->seq);
    if (kept == NULL)
        return false;
    if (memcmp(&kept->digest, digest, sizeof *digest) == 0) {
        hs_move_result_copy(j->out, &kept->result);
        return true;
    }
    refuse(j, HS_MOVE_DUPLICATE);
    j->moves->reasons[HS_MOVE_DUPLICATE]++;
    report_state(j);
    return true;
}

bool hs_match_judge_move(struct hs_match *match, const struct hs_move *move,
                         struct hs_move_result *out)
{
    hs_move_result_clear(out);
    struct judging j = {.match = match,
                        .rules = &match->ruleset->moves,
                        .move = move,
                        .player = hs_players_find(&match->players, move->player),
                        .rtt_us = -1,
                        .out = out};
    j.moves = j.player != NULL ? j.player->moves : NULL;
    struct hs_digest digest = hs_move_digest(move);
    if (replay(&j, &digest))
        return true;
    bool is_late =
        j.player != NULL && j.player->has_left_before && move->received_us <= j.player->ended_us;
    if (is_late || move->timestamp_us <= 0) {
        /* Of a session that ended, or of no clock: nobody is added for it. */
        refuse(&j, is_late ? HS_MOVE_STALE : HS_MOVE_BAD_TIMESTAMP);
        if (j.moves != NULL && !j.player->left) {
            j.moves->reasons[out->reason]++;
            report_state(&j);
        }
        return true;
    }
    enum standing standing = admit(match, &j);
    if (standing == NO_MEMORY)
        return false;
    if (standing == FULL) {
        refuse(&j, HS_MOVE_CAPACITY);
        return true;
    }
    judge_time_and_place(&j);
    report_state(&j);
    book(&j);
    if (move->fields & HS_MOVE_HAS_SEQ) {
        if (hs_player_moves_need(j.moves) > 0) {
            hs_players_make_room(&match->players, hs_player_moves_need(j.moves));
            hs_player_moves_grow(j.moves, &match->account);
        }
        hs_move_answers_keep(j.moves->answers, move, &digest, out);
    }
    return true;
}

/* In this session. */
static bool has_sent_one(const struct hs_player_moves *moves)
{
    uint64_t count = 0;
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        count += moves->reasons[i];
    return count > 0;
}

bool hs_match_moves_info(const struct hs_match *match, struct hs_str name,
                         struct hs_moves_info *out)
{
    *out = (struct hs_moves_info){.speed = 1};
    const struct hs_player *player = hs_players_find(&match->players, name);
    if (player == NULL || player->left)
        return false;
    const struct hs_player_moves *moves = player->moves;
    if (moves == NULL || !has_sent_one(moves))
        return true;
    const struct hs_timing *timing = &moves->judges.timing;
    *out = (struct hs_moves_info){
        .present = true,
        .epoch = moves->epoch,
        .received_us = timing->heard_us,
        .discrepancy_us = round_us(timing->compat.ahead_us),
        .lifetime_us = round_us(timing->compat.lifetime_us),
        .credit_us = round_us(timing->credit_us),
        .is_resolving = timing->compat.is_resolving,
        .speed = timing->has_begun ? (double)timing->guard.speed : 1,
        .bursts_per_minute = hs_timing_bursts_per_minute(timing),
    };
    memcpy(out->reasons, moves->reasons, sizeof out->reasons);
    memcpy(out->raised, moves->raised, sizeof out->raised);
    return true;
}
