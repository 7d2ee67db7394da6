#include "validators/moves.h"

#include <stdlib.h>

#include "validators/base/units.h"
#include "validators/match/connection.h"
#include "validators/match/journal.h"
#include "validators/moves/checking.h"
#include "validators/moves/flags.h"

/* The game server's clock counts as set back after AGREEING_MOVES consecutive moves whose arrival
   times are far before the newest arrival time. The last of these moves must arrive at least
   AGREEING_US after the first. If a client sends old moves again, they arrive within less time.
   Each of these moves must arrive at most history.max_forward after the move before it. */
enum { AGREEING_MOVES = 3 };
#define AGREEING_US INT64_C(1000000)

/* The max round trip that the checks use. A larger value would let a client that answers pings late
   use a launch or a correction for too long. */
#define ROUND_TRIP_MAX_US INT64_C(1000000)

/* Computes floor(us + 0.5) without a library call. */
static int64_t round_us(double us)
{
    double up = us + 0.5;
    int64_t whole = (int64_t)up;
    return whole - ((double)whole > up ? 1 : 0);
}

/* ---- failures ---- */

void hs_checking_fail(struct hs_checking *c, enum hs_move_check check, enum hs_unit unit,
                      double measured, double limit)
{
    enum hs_mode mode = c->match->ruleset->move_checks[check];
    if (mode == HS_MODE_OFF)
        return;
    c->out->raised |= 1u << check;
    c->out->failures[c->out->failure_count++] =
        (struct hs_move_failure){.check = (uint8_t)check,
                                 .mode = (uint8_t)mode,
                                 .unit = (uint8_t)unit,
                                 .reason = (uint8_t)hs_move_check_reason(check),
                                 .measured = measured,
                                 .limit = limit};
}

static void add_timing_failures(struct hs_checking *c, const struct hs_timing_result *timing)
{
    if (timing->flags & HS_TIMING_FAST_PROVEN)
        hs_checking_fail(c, HS_MOVE_CHECK_FAST_CLOCK_PROVEN, HS_UNIT_SECONDS,
                         timing->proven_by_us / 1e6, hs_seconds(c->rules->ack_slack_us));
    if (timing->flags & HS_TIMING_FAST_SUSPECTED)
        hs_checking_fail(c, HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED, HS_UNIT_SECONDS,
                         timing->suspected_us / 1e6, timing->suspected_limit_us / 1e6);
    if (timing->flags & HS_TIMING_DISCREPANCY)
        hs_checking_fail(c, HS_MOVE_CHECK_TIMING_DISCREPANCY, HS_UNIT_SECONDS,
                         timing->ahead_us / 1e6, hs_seconds(c->rules->max_margin_us));
}

/* ---- position ---- */

static bool has_other_mode(const struct hs_move *move)
{
    return move->mode.ptr != NULL && move->server_mode.ptr != NULL &&
           !hs_str_equal(move->mode, move->server_mode);
}

/* Adds an ack to the answer if ack_interval has passed since the last ack. If client_max_error is
   set, every answer gets an ack, because the ack tells the server to adopt the client's position.
 */
static void acknowledge(struct hs_checking *c)
{
    const struct hs_move *move = c->move;
    struct hs_player_moves *moves = c->moves;
    if (c->rules->client_max_error <= 0 && moves->has_acked &&
        move->received_us - moves->acked_us < c->rules->ack_interval_us)
        return;
    moves->has_acked = true;
    moves->acked_us = move->received_us;
    c->out->position = HS_MOVE_POSITION_ACK;
}

static void correct(struct hs_checking *c, double error_squared, double limit_squared)
{
    const struct hs_move *move = c->move;
    const struct hs_moves_rules *rules = c->rules;
    struct hs_player_moves *moves = c->moves;
    struct hs_move_result *out = c->out;
    bool is_large =
        rules->large_error > 0 && error_squared >= rules->large_error * rules->large_error;
    int64_t interval_us = is_large ? rules->large_interval_us : rules->correction_interval_us;
    if (moves->has_corrected && move->received_us - moves->corrected_us < interval_us)
        /* The client may not have received the last correction yet, so send neither an ack nor a
           correction. */
        return;
    moves->has_corrected = true;
    moves->has_used_correction = false;
    moves->corrected_us = move->received_us;
    moves->corrected = move->server_position;
    struct hs_str base = move->server_base.ptr != NULL ? move->server_base : move->base;
    moves->corrected_base = base.ptr != NULL ? hs_str_hash(base) : 0;
    hs_move_trace_correct(c->trace, &moves->whereabouts);
    out->position = HS_MOVE_POSITION_CORRECTION;
    out->error = sqrt(error_squared);
    out->limit = sqrt(limit_squared);
    out->corrected = move->server_position;
    out->corrected_velocity = move->server_velocity;
    out->has_corrected_velocity = (move->fields & HS_MOVE_HAS_SERVER_VELOCITY) != 0;
    struct hs_str mode = move->server_mode.ptr != NULL ? move->server_mode : move->mode;
    if (mode.ptr != NULL)
        out->corrected_mode = hs_ruleset_find_move_mode(c->match->ruleset, mode);
}

/* Adds an ack or a correction to the answer. Adds a correction if the client's position is too far
   from the server's position, if the client and the server have different movement modes, or if
   `is_forced`. A distance of up to client_max_error needs no correction, because the server then
   adopts the client's position. */
static void compare_position(struct hs_checking *c, bool is_forced)
{
    const struct hs_move *move = c->move;
    if (move->kind != HS_MOVE_NEW || !(move->fields & HS_MOVE_HAS_POSITION))
        return;
    double max_error = c->rules->client_max_error;
    bool is_wrong = is_forced || has_other_mode(move);
    if (!(move->fields & HS_MOVE_HAS_SERVER_POSITION)) {
        if (max_error > 0 && !is_wrong)
            acknowledge(c); /* the server posted no position to compare */
        return;
    }
    struct hs_vec apart = hs_move_trace_apart(c->trace);
    double error_squared = hs_vec_dot(apart, apart);
    double limit_squared = hs_larger(c->rules->position_error_squared, max_error * max_error);
    if (is_wrong || error_squared > limit_squared)
        correct(c, error_squared, limit_squared);
    else
        acknowledge(c);
}

/* ---- the body ---- */

static bool is_dead(const struct hs_checking *c)
{
    const struct hs_history *history = c->player->history;
    int64_t i = hs_history_find(history, c->move->received_us);
    if (i < 0)
        return false;
    const struct hs_state *state = hs_history_state(history, hs_history_at(history, (uint32_t)i));
    return !state->alive && !(state->stale & HS_STALE_LIFE);
}

/* Records that the client has seen the last spawn. The new body cannot use the time before the
   spawn, even if it spawned where the old body was. */
static void show_spawn(struct hs_checking *c)
{
    int64_t spawned_us = c->player->spawned_us;
    if (c->moves->spawn_shown_us >= spawned_us)
        return;
    c->moves->spawn_shown_us = spawned_us;
    hs_movement_skip_before(&c->moves->checks.movement, c->rules, spawned_us);
}

/* Returns HS_MOVE_OK if the client controls the body. The client of a dead player does not control
   the body. A client that has not seen the player's last spawn yet also does not control the
   body. */
static enum hs_move_reason check_control(struct hs_checking *c)
{
    const struct hs_player *player = c->player;
    if (is_dead(c))
        return HS_MOVE_NOT_IN_CONTROL;
    bool is_shown = !player->has_spawned || c->move->received_us < player->spawned_us ||
                    c->moves->spawn_shown_us >= player->spawned_us;
    if (is_shown)
        return HS_MOVE_OK;
    if (!hs_checking_is_in_reach(c, player->spawn_place, player->spawned_us))
        return HS_MOVE_STALE; /* the client has not seen the spawn yet */
    show_spawn(c);
    return HS_MOVE_OK;
}

/* ---- a move ---- */

/* Sets the reason and the verdict. The first failure of an enforced check determines the reason. If
   no enforced check failed, the reason is `reason`. */
static void decide(struct hs_checking *c, enum hs_move_reason reason)
{
    c->out->reason = reason;
    for (uint16_t i = 0; i < c->out->failure_count; i++) {
        if (c->out->failures[i].mode != HS_MODE_ENFORCE)
            continue;
        c->out->reason = (enum hs_move_reason)c->out->failures[i].reason;
        break;
    }
    c->out->verdict = hs_move_reason_verdict(c->out->reason);
}

/* Starts an epoch. A client that starts a new clock has received the position of its body. So the
   client has seen every spawn before the epoch. */
static void begin_epoch(struct hs_checking *c)
{
    c->moves->epoch = c->move->epoch;
    c->moves->epoch_us = c->move->received_us;
    if (c->player->has_spawned && c->player->spawned_us <= c->move->received_us)
        show_spawn(c);
}

/* Starts an epoch if the move has a larger epoch number than the current epoch. Returns HS_MOVE_OK
   if the move belongs to the current epoch or starts one. Otherwise returns the reason for refusing
   the move. */
static enum hs_move_reason enter_epoch(struct hs_checking *c)
{
    struct hs_player_moves *moves = c->moves;
    const struct hs_move *move = c->move;
    if (!moves->has_epoch) {
        moves->has_epoch = true;
        begin_epoch(c);
        return HS_MOVE_OK;
    }
    if (move->epoch == moves->epoch)
        return HS_MOVE_OK;
    if (move->epoch < moves->epoch)
        return HS_MOVE_STALE;
    if (move->received_us - moves->epoch_us < c->rules->epoch_interval_us)
        return HS_MOVE_EPOCH_TOO_SOON;
    hs_timing_restart(&moves->checks.timing);
    begin_epoch(c);
    return HS_MOVE_OK;
}

static void report_state(struct hs_checking *c)
{
    const struct hs_timing *timing = &c->moves->checks.timing;
    c->out->discrepancy_us = round_us(timing->compat.ahead_us);
    c->out->lifetime_us = round_us(timing->compat.lifetime_us);
    c->out->age_us = timing->has_begun ? timing->heard_us - timing->first_us : 0;
    c->out->is_resolving = timing->compat.is_resolving;
    c->out->credit_us = round_us(timing->credit_us);
    c->out->speed = timing->has_begun ? (double)timing->guard.speed : 1;
}

/* Returns whether the game server's clock was set back. Call this function for a move whose arrival
   time is far before the newest arrival time. A single move with such a time may simply be late, so
   several moves must agree. If the match has frames, the newest frame must agree too. */
static bool is_clock_set_back(struct hs_checking *c)
{
    struct hs_player_moves *moves = c->moves;
    int64_t most = c->match->ruleset->history.max_forward_us, received_us = c->move->received_us;
    if (c->match->has_frames && c->match->newest_us - received_us > most)
        return false;
    if (moves->has_epoch && c->move->epoch < moves->epoch)
        return false;
    int64_t step = received_us - moves->behind_us;
    if (moves->behind_count > 0 && step == 0)
        return false; /* both moves came in one packet, so they count as one */
    if (moves->behind_count == 0 || step < 0 || step > most) {
        moves->behind_count = 0;
        moves->behind_from_us = received_us;
    }
    moves->behind_us = received_us;
    moves->behind_count++;
    return moves->behind_count >= AGREEING_MOVES &&
           received_us - moves->behind_from_us >= AGREEING_US;
}

/* Forgets the times of the player's moves after the game server's clock was set back. Remembers up
   to which time credit was granted. So credit is not granted twice for the same time if the game
   server's clock returns to the old time. */
static void set_clock_back(struct hs_player_moves *moves)
{
    int64_t heard_us = moves->checks.timing.heard_us, granted_us = moves->granted_us;
    hs_player_moves_forget_times(moves);
    moves->granted_us = heard_us > granted_us ? heard_us : granted_us;
}

/* If credit for a time was already granted, or may have been granted before a restore, excludes
   this time from the next grant of credit. */
static void pass_granted_time(struct hs_player_moves *moves, int64_t received_us)
{
    struct hs_timing *state = &moves->checks.timing;
    if (moves->has_lost_moves && received_us > state->heard_us)
        /* Moves that were lost in the restore may have used the credit for the time up to now. */
        state->heard_us = received_us;
    else if (state->heard_us < moves->granted_us && received_us > moves->granted_us)
        state->heard_us = moves->granted_us;
    moves->has_lost_moves = false;
}

/* Handles a refused move in a paused game: the body cannot use the time of the pause. If the body
   spawned during the pause, the time ends before the spawn, because the next move is then the first
   move of the new body. */
static void pass_pause(struct hs_checking *c, const struct hs_timing_result *timing)
{
    struct hs_movement *movement = &c->moves->checks.movement;
    int64_t until_us = c->move->received_us, spawned_us = c->player->spawned_us;
    if (c->player->has_spawned && movement->received_us < spawned_us && spawned_us <= until_us)
        until_us = spawned_us;
    /* The body may also spawn at the time of this move, in a frame that arrives later. */
    hs_movement_pause(movement, c->rules, until_us - 1);
    if (timing->slowed_by > 0)
        hs_movement_slow_down(movement, timing->slowed_by, timing->slowed_after_us, c->rtt_us);
}

/* Runs all checks that follow the clock check, and sets the result. If the client does not control
   the body, the player loses the granted time. */
static void check_timing(struct hs_checking *c, const struct hs_timing_result *timing)
{
    c->out->error_us = round_us(timing->error_us);
    c->out->late_us = timing->late_us;
    c->out->forced_us = round_us(timing->forced_us);
    add_timing_failures(c, timing);
    bool has_time = timing->reason == HS_MOVE_OK || timing->reason == HS_MOVE_RESET;
    enum hs_move_reason control = has_time ? check_control(c) : HS_MOVE_OK;
    bool is_simulated = has_time && control == HS_MOVE_OK;
    if (!has_time && c->move->dilation <= 0)
        pass_pause(c, timing);
    if (is_simulated) {
        hs_checking_movement(c, timing);
        if (hs_move_flags_contradict(c->match, c->player, c->move, c->rtt_us))
            hs_checking_fail(c, HS_MOVE_CHECK_STANCE, HS_UNIT_NONE, 0, 0);
    }
    decide(c, control != HS_MOVE_OK ? control : timing->reason);
    bool is_refused =
        has_time && c->out->verdict != HS_VERDICT_ACCEPTED && c->out->reason != control;
    c->out->force_update = timing->force_update || is_refused;
    if (c->out->verdict == HS_VERDICT_ACCEPTED) {
        c->out->delta_us = round_us(timing->delta_us);
        c->out->is_whole = (double)c->out->delta_us == timing->client_us && !c->moves->was_refused;
        hs_timing_spend(&c->moves->checks.timing, c->more_us);
        if (c->has_moved)
            hs_move_trace_keep(c->trace, &c->moves->whereabouts);
    } else {
        hs_checking_take_back(c);
    }
    if (has_time)
        c->moves->was_refused = c->out->verdict != HS_VERDICT_ACCEPTED;
    if (is_simulated)
        compare_position(c, timing->force_update || is_refused);
}

static void check_time_and_position(struct hs_checking *c)
{
    const struct hs_move *move = c->move;
    struct hs_timing *state = &c->moves->checks.timing;
    bool is_behind = state->has_begun && state->heard_us - move->received_us >
                                             c->match->ruleset->history.max_forward_us;
    if (is_behind && !is_clock_set_back(c)) {
        c->out->late_us = state->heard_us - move->received_us;
        decide(c, HS_MOVE_STALE);
        return;
    }
    if (is_behind)
        set_clock_back(c->moves);
    c->moves->behind_count = 0;
    pass_granted_time(c->moves, move->received_us);
    if (c->moves->is_restored && !c->moves->has_restored_us) {
        c->moves->has_restored_us = true;
        c->moves->restored_us = move->received_us;
    }
    enum hs_move_reason entered = enter_epoch(c);
    if (entered != HS_MOVE_OK) {
        decide(c, entered);
        return;
    }
    struct hs_connection connection;
    hs_connection_read(c->player, move->received_us, &connection);
    c->rtt_us = !connection.is_known                    ? -1
                : connection.rtt_us < ROUND_TRIP_MAX_US ? connection.rtt_us
                                                        : ROUND_TRIP_MAX_US;
    c->interp_us = connection.interp_us;
    c->credit_us = hs_connection_move_credit(c->player, move->received_us);
    struct hs_timing_move timed = {
        .timestamp_us = move->timestamp_us,
        .received_us = move->received_us,
        .ack_us = move->ack_us,
        .has_ack = (move->fields & HS_MOVE_HAS_ACK) != 0,
        .dilation = move->dilation,
        .credit_us = c->credit_us,
        .has_credit = c->credit_us >= 0,
    };
    struct hs_timing_result timing;
    hs_timing_check(state, c->rules, &timed, &timing);
    check_timing(c, &timing);
}

/* Counts the result, and raises the suspicion for each failure, in every mode of the check. A
   failure of timing_discrepancy does not raise the suspicion, because a bad connection can cause
   it. */
static void book(struct hs_checking *c)
{
    struct hs_player_moves *moves = c->moves;
    moves->reasons[c->out->reason]++;
    for (uint16_t i = 0; i < c->out->failure_count; i++) {
        const struct hs_move_failure *failure = &c->out->failures[i];
        moves->raised[failure->check]++;
        if (failure->check == HS_MOVE_CHECK_TIMING_DISCREPANCY)
            continue;
        hs_suspicion_decay(&c->player->standing.suspicion, c->match->newest_us);
        c->player->standing.suspicion.moves[failure->check] += hs_suspicion_weight(
            c->match->ruleset, (enum hs_unit)failure->unit, failure->measured, failure->limit);
    }
}

enum standing { STANDS, FULL, NO_MEMORY };

/* Adds the player of a move to the match. On failure, the match is unchanged, except that a player
   who left may have been evicted. */
static enum standing add_player(struct hs_match *match, struct hs_checking *c)
{
    enum hs_players_add added =
        hs_players_add(&match->players, c->move->player, match->limits.samples, &c->player);
    if (added != HS_PLAYERS_ADDED)
        return added == HS_PLAYERS_FULL ? FULL : NO_MEMORY;
    hs_players_begin_session(&match->players, c->player);
    return STANDS;
}

/* Adds a new player to the match, or starts the next session of a player who left. Allocates struct
   hs_player_moves if the player has none. On failure, the match is unchanged, except that a player
   who left may have been evicted. */
static enum standing admit(struct hs_match *match, struct hs_checking *c)
{
    bool is_here = c->player != NULL && !c->player->left;
    if (!is_here && !hs_journal_reserve(&match->players, NULL))
        return NO_MEMORY;
    struct hs_player_moves *made = c->moves == NULL ? hs_player_moves_create() : NULL;
    if (c->moves == NULL && made == NULL)
        return NO_MEMORY;
    enum standing standing = c->player == NULL ? add_player(match, c) : STANDS;
    if (standing != STANDS) {
        hs_player_moves_destroy(made, &match->budget);
        return standing;
    }
    if (made != NULL)
        c->player->moves = made;
    if (c->player->left)
        hs_players_rejoin(&match->players, c->player);
    c->moves = c->player->moves;
    return STANDS;
}

/* Returns true if an answer to a move with the same number is stored. If the stored answer is for
   the same move, the result is the stored answer. If the stored answer is for a different move, the
   result is `duplicate`. */
static bool replay(struct hs_checking *c, const struct hs_digest *digest)
{
    if (c->moves == NULL || !(c->move->fields & HS_MOVE_HAS_SEQ))
        return false;
    const struct hs_move_answer *kept =
        hs_move_answers_find(c->moves->answers, c->move->epoch, c->move->seq);
    if (kept == NULL)
        return false;
    if (memcmp(&kept->digest, digest, sizeof *digest) == 0) {
        hs_move_answer_read(kept, c->out);
        c->out->replayed = true;
        return true;
    }
    decide(c, HS_MOVE_DUPLICATE);
    c->moves->reasons[HS_MOVE_DUPLICATE]++;
    report_state(c);
    return true;
}

bool hs_match_check_move(struct hs_match *match, const struct hs_move *move,
                         struct hs_move_result *out)
{
    hs_move_result_clear(out);
    struct hs_move_trace trace;
    struct hs_move_undo undo;
    struct hs_checking c = {
        .match = match,
        .rules = &match->ruleset->moves,
        .move = move,
        .player = hs_players_find_next(&match->players, move->player, HS_PLAYERS_FOR_MOVE),
        .rtt_us = -1,
        .trace = &trace,
        .undo = &undo,
        .out = out};
    c.moves = c.player != NULL ? c.player->moves : NULL;
    struct hs_digest digest = hs_move_digest(move);
    if (replay(&c, &digest))
        return true;
    bool is_late =
        c.player != NULL && c.player->has_left_before && move->received_us <= c.player->ended_us;
    if (is_late || move->timestamp_us <= 0) {
        /* No player is added for a move from an ended session, or for a move without a valid
           timestamp. */
        decide(&c, is_late ? HS_MOVE_STALE : HS_MOVE_BAD_TIMESTAMP);
        if (c.moves != NULL && !c.player->left) {
            c.moves->reasons[out->reason]++;
            report_state(&c);
        }
        return true;
    }
    enum standing standing = admit(match, &c);
    if (standing == NO_MEMORY)
        return false;
    if (standing == FULL) {
        decide(&c, HS_MOVE_CAPACITY);
        return true;
    }
    check_time_and_position(&c);
    report_state(&c);
    book(&c);
    if (move->fields & HS_MOVE_HAS_SEQ) {
        size_t need = hs_player_moves_need(c.moves, out);
        if (need > 0)
            hs_players_free_space(&match->players, need);
        hs_player_moves_keep(c.moves, &match->budget, move, &digest, out);
    }
    return true;
}

static bool has_sent_one(const struct hs_player_moves *moves)
{
    uint64_t count = 0;
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        count += moves->reasons[i];
    return count > 0;
}

/* Returns an upper bound of the error of the estimated clock speed, from 0 to 1. The estimate is
   the slope between two leads (clock/guard.h). The noise of the connection can shift each of the
   two leads. */
static double speed_error(const struct hs_timing *timing)
{
    int64_t longest_us = HS_LEAD_CELLS * HS_LEAD_CELL_US;
    int64_t age_us = timing->has_begun ? timing->heard_us - timing->first_us : 0;
    if (age_us < 2 * HS_LEAD_CELL_US)
        return 1;
    double noise_us = (double)hs_clock_guard_noise(&timing->guard);
    return hs_smaller(1, 2 * noise_us / (double)(age_us < longest_us ? age_us : longest_us));
}

bool hs_match_moves_info(const struct hs_match *match, struct hs_str name,
                         struct hs_moves_info *out)
{
    *out = (struct hs_moves_info){.speed = 1, .speed_error = 1};
    const struct hs_player *player = hs_players_find(&match->players, name);
    if (player == NULL || player->left)
        return false;
    const struct hs_player_moves *moves = player->moves;
    if (moves == NULL || !has_sent_one(moves))
        return true;
    const struct hs_timing *timing = &moves->checks.timing;
    *out = (struct hs_moves_info){
        .present = true,
        .epoch = moves->epoch,
        .received_us = timing->heard_us,
        .discrepancy_us = round_us(timing->compat.ahead_us),
        .lifetime_us = round_us(timing->compat.lifetime_us),
        .age_us = timing->has_begun ? timing->heard_us - timing->first_us : 0,
        .credit_us = round_us(timing->credit_us),
        .is_resolving = timing->compat.is_resolving,
        .speed = timing->has_begun ? (double)timing->guard.speed : 1,
        .speed_error = speed_error(timing),
        .bursts_per_minute = hs_timing_bursts_per_minute(timing),
    };
    memcpy(out->reasons, moves->reasons, sizeof out->reasons);
    memcpy(out->raised, moves->raised, sizeof out->raised);
    return true;
}
