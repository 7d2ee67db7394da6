/* Checks the speed and the path of a move. Jumps and launches by the server can excuse a failure.
 */
#include <stdlib.h>

#include "validators/base/units.h"
#include "validators/moves/checking.h"

/* After the server moves or corrects the player, the first move from the new position arrives
   within the round trip plus this time. After this period, the jump or correction no longer excuses
   a move. */
#define JUMP_ARRIVES_US INT64_C(1000000)

/* The round trip that is assumed if the round trip is unknown. */
#define UNKNOWN_RTT_US INT64_C(500000)

/*
 * A launch by the server raises the speed limits. For the round trip plus LAUNCH_ARRIVES_US, the
 * speeds of the launch do not shrink, because the client may not have received the launch yet.
 * After that, on the ground, the speeds shrink by a share of 1/LAUNCH_FADES_S each second. In the
 * air, the speeds do not shrink. Each landing multiplies the speeds by LAUNCH_LANDED. Otherwise a
 * client that hops would keep the speed of the launch. After LAUNCH_ENDS_US the launch is over.
 */
#define LAUNCH_ARRIVES_US INT64_C(500000)
#define LAUNCH_FADES_S    1.0
#define LAUNCH_LANDED     0.75
#define LAUNCH_ENDS_US    INT64_C(10000000)

/* After a restore, a launch is assumed if a body is too fast (assume_launch). Its speed is at most
   ASSUMED_LAUNCH times the limit, and it is over after ASSUMED_ENDS_US. Otherwise one small jump
   right after a restore would allow any speed for a long time. */
#define ASSUMED_LAUNCH  4.0
#define ASSUMED_ENDS_US INT64_C(3000000)

static void add_finding(struct hs_checking *c, enum hs_move_check check,
                        const struct hs_movement_finding *finding)
{
    if (finding->failed)
        hs_checking_fail(c, check, finding->unit, finding->measured, finding->limit);
}

static bool found_something(const struct hs_movement_result *found)
{
    return found->teleport.failed || found->speed.failed || found->acceleration.failed ||
           found->gravity.failed;
}

/* The server moved or corrected the player at `time_us`. Returns whether this move may be the first
   from the new position. */
static bool is_recent(const struct hs_checking *c, int64_t time_us)
{
    int64_t rtt_us = c->rtt_us >= 0 ? c->rtt_us : UNKNOWN_RTT_US;
    return c->move->received_us - time_us <= rtt_us + JUMP_ARRIVES_US;
}

static uint16_t slowest_mode(const struct hs_moves_rules *rules)
{
    uint16_t slowest = HS_NONE;
    for (uint16_t i = 0; i < rules->mode_count; i++) {
        double speed = rules->modes[i].max_speed;
        if (speed > 0 && (slowest == HS_NONE || speed < rules->modes[slowest].max_speed))
            slowest = i;
    }
    return slowest;
}

/*
 * Returns the mode whose limits apply to the move: the client's mode, or the server's mode if the
 * client names no mode. If this mode is not in the ruleset, the slowest mode applies instead. The
 * slowest mode also applies if only the client names the mode, and the mode has no speed limit. So
 * a client cannot escape the limits by its choice of mode. If the slowest mode is needed and no
 * mode has a speed limit, returns HS_NONE.
 */
static uint16_t limiting_mode(const struct hs_checking *c)
{
    const struct hs_move *move = c->move;
    struct hs_str name = move->mode.ptr != NULL ? move->mode : move->server_mode;
    if (name.ptr == NULL)
        return slowest_mode(c->rules);
    uint16_t mode = hs_ruleset_find_move_mode(c->match->ruleset, name);
    bool is_of_server = move->server_mode.ptr != NULL && hs_str_equal(name, move->server_mode);
    bool counts = mode != HS_NONE && (is_of_server || c->rules->modes[mode].max_speed > 0);
    return counts ? mode : slowest_mode(c->rules);
}

/* Returns the largest fall speed of all modes, because the body may have fallen in an earlier mode.
 */
static double max_fall_speed(const struct hs_moves_rules *rules)
{
    double speed = 0;
    for (uint16_t i = 0; i < rules->mode_count; i++)
        speed = hs_larger(speed, hs_move_mode_fall_speed(&rules->modes[i]));
    return speed;
}

/* Returns whether a player who was at `place` at `time_us` can be at `end` when the move arrives.
   Returns true if the mode has no speed limit. */
static bool can_reach(const struct hs_checking *c, struct hs_vec end, struct hs_vec place,
                      int64_t time_us)
{
    uint16_t mode = limiting_mode(c);
    if (mode == HS_NONE || c->rules->modes[mode].max_speed <= 0)
        return true;
    const struct hs_player *player = c->player;
    double speed = c->rules->modes[mode].max_speed;
    if (player->was_launched && player->launch.time_us >= time_us)
        speed = hs_larger(speed, hs_larger(player->launch.speed, player->launch.climb));
    double since_s = hs_seconds(c->move->received_us - time_us);
    /* Frames and moves may use different points of the body. */
    double reach = 2 * c->match->ruleset->reach + speed * (since_s + c->rules->modes[mode].credit);
    struct hs_vec path = hs_vec_sub(end, place), up = hs_up_direction(c->match->ruleset->up);
    /* `since_s` is negative if the frame that posted the jump is later than the move. */
    double fall = since_s > 0 ? max_fall_speed(c->rules) * since_s : 0;
    double drop = hs_clamp(-hs_vec_dot(path, up), 0, fall);
    return hs_vec_length(hs_vec_add_scaled(path, up, drop)) <= reach;
}

bool hs_checking_is_in_reach(const struct hs_checking *c, struct hs_vec place, int64_t time_us)
{
    const struct hs_move *move = c->move;
    if (!(move->fields & HS_MOVE_HAS_POSITION) || move->base.ptr != NULL)
        return true;
    return can_reach(c, move->position, place, time_us);
}

/* Returns whether a jump by the server to `place` at `time_us` can explain the end of the move. If
   the move names a base, the end is converted to world coordinates. In this case, the base may also
   have carried the player since the jump. */
static bool can_explain(const struct hs_checking *c, struct hs_vec place, int64_t time_us)
{
    const struct hs_move_trace *trace = c->trace;
    if (c->move->base.ptr == NULL)
        return hs_checking_is_in_reach(c, place, time_us);
    if (!trace->is_placed || can_reach(c, trace->place, place, time_us))
        return true;
    /* The history may no longer contain the base's pose at the time of the jump. In this case use
       the oldest pose. If the base has no pose at this time or at the arrival of the move, the
       movement of the base is unknown, and the jump counts as an explanation. */
    int64_t oldest_us = hs_history_span(trace->base->history)->oldest_us;
    return !hs_mover_carry(trace->base, c->match->ruleset,
                           time_us > oldest_us ? time_us : oldest_us, c->move->received_us,
                           &place) ||
           can_reach(c, trace->place, place, time_us);
}

/* Returns whether this move is the first with a position since the spawn at `spawned_us`. Refused
   moves do not count. */
static bool is_first_since_spawn(const struct hs_checking *c, int64_t spawned_us)
{
    return c->moves->spawn_shown_us == spawned_us && c->player->spawned_us == spawned_us &&
           c->undo->movement.received_us < spawned_us;
}

/* Finds the first jump by the server that can explain this move. Skips a jump if this jump or a
   later jump has already excused a move. Also skips a jump that is not recent. For the first move
   after a spawn, the spawn always counts as recent. */
static bool find_announced_jump(const struct hs_checking *c, int64_t *time_us)
{
    const struct hs_player *player = c->player;
    for (int i = 0; i < HS_JUMPS_OPEN && player->was_moved; i++) {
        *time_us = player->moved_us[i];
        bool is_open = is_first_since_spawn(c, *time_us) || is_recent(c, *time_us);
        if (*time_us > c->moves->jump_closed_us && is_open &&
            can_explain(c, player->moved_to[i], *time_us))
            return true;
    }
    return false;
}

/* If this move may be the first after a jump by the server, the body cannot use the time before the
   jump. If the jump is so short that the move fails no check, this is the only effect of the jump.
   */
static void skip_time_before_jump(struct hs_checking *c)
{
    const struct hs_player *player = c->player;
    struct hs_movement *movement = &c->moves->checks.movement;
    int64_t jump_us;
    if (!player->was_moved || player->moved_us[HS_JUMPS_OPEN - 1] <= movement->received_us ||
        !find_announced_jump(c, &jump_us) || jump_us > c->move->received_us)
        return;
    hs_movement_skip_before(movement, c->rules, jump_us);
    c->undo->movement = *movement;
}

/* Returns whether the server may have moved the player between save and restore, and this move may
   be the first that shows the new position. Returns false if the server posted a jump after the
   restore, because the player's position is then known. */
static bool may_have_jumped(const struct hs_checking *c)
{
    const struct hs_match *match = c->match;
    const struct hs_player *player = c->player;
    int64_t since_us = c->moves->restored_us;
    if (match->has_frames && match->window_start_us > since_us)
        /* The first move after the restore may be an old move that was sent again. Frames are not
           sent again, so if the first frame is later, its time is used. */
        since_us = match->window_start_us;
    bool is_told = match->has_frames && player->was_moved &&
                   player->moved_us[HS_JUMPS_OPEN - 1] >= match->window_start_us;
    return c->moves->is_restored && c->moves->has_restored_us && !is_told && is_recent(c, since_us);
}

/* Starts the last launch by the server, if it is not later than the move. Ends a launch after
   LAUNCH_ENDS_US. */
static void notice_launch(struct hs_checking *c)
{
    const struct hs_player *player = c->player;
    struct hs_player_moves *moves = c->moves;
    int64_t received_us = c->move->received_us;
    if (player->was_launched && player->launch.time_us > moves->launch.time_us &&
        player->launch.time_us <= received_us) {
        moves->launch = player->launch;
        moves->may_be_thrown = player->launch.climb > 0;
    }
    if (moves->launch.time_us < received_us - LAUNCH_ENDS_US)
        moves->launch.speed = moves->launch.climb = 0;
}

static bool has_gravity(const struct hs_checking *c, uint16_t mode)
{
    return mode < c->rules->mode_count && c->rules->modes[mode].gravity > 0;
}

/* Reduces the speeds of the launch for the time of one step. */
static void fade_launch(struct hs_checking *c, const struct hs_movement_step *step)
{
    struct hs_launch *launch = &c->moves->launch;
    int64_t rtt_us = c->rtt_us >= 0 ? c->rtt_us : UNKNOWN_RTT_US;
    bool is_on_its_way = c->move->received_us - launch->time_us <= rtt_us + LAUNCH_ARRIVES_US;
    if (is_on_its_way || has_gravity(c, step->mode))
        return;
    double left = hs_larger(0, 1 - step->delta_us / 1e6 / LAUNCH_FADES_S);
    if (has_gravity(c, c->undo->movement.mode))
        left *= LAUNCH_LANDED;
    launch->speed *= left;
    launch->climb *= left;
    c->moves->may_be_thrown = false;
}

/* If a body is too fast after a restore, assumes that the server launched the body before the
   restore. The launch gets an earlier time, so that it ends after ASSUMED_ENDS_US. This time is
   never before the last launch, so that notice_launch does not start the last launch again. */
static void assume_launch(struct hs_checking *c, const struct hs_movement_finding *speed,
                          struct hs_movement_step *step)
{
    if (!speed->failed || speed->unit != HS_UNIT_SPEED)
        return;
    struct hs_launch *launch = &c->moves->launch;
    double assumed = hs_smaller(speed->measured, ASSUMED_LAUNCH * speed->limit);
    int64_t time_us = c->move->received_us - (LAUNCH_ENDS_US - ASSUMED_ENDS_US);
    if (launch->time_us < time_us)
        launch->time_us = time_us;
    launch->speed = step->launch_speed = hs_larger(launch->speed, assumed);
    launch->climb = step->launch_climb = hs_larger(launch->climb, assumed);
}

/* Begins the trace, and copies has_base_path and base_path from the trace to the step. */
static void begin_trace(struct hs_checking *c, struct hs_movement_step *step)
{
    hs_move_trace_begin(c->trace, c->match, &c->moves->whereabouts, c->move, step->mode, c->rtt_us,
                        c->interp_us);
    step->has_base_path = c->trace->has_base_path;
    step->base_path = c->trace->base_path;
    step->has_corrected = step->has_corrected && c->moves->corrected_base == step->base;
}

/* Returns whether this move may be the first that starts at the position of the last correction. */
static bool may_be_corrected(const struct hs_checking *c)
{
    const struct hs_player_moves *moves = c->moves;
    return moves->has_corrected && !moves->has_used_correction && is_recent(c, moves->corrected_us);
}

/* Returns whether the move would fail if it could not start at the position of the last correction.
 */
static bool needs_correction(const struct hs_checking *c, const struct hs_movement_step *step)
{
    struct hs_movement movement = c->undo->movement;
    struct hs_movement_step without = *step;
    struct hs_movement_result found;
    without.has_corrected = false;
    hs_movement_check(&movement, c->rules, &without, &found);
    return found_something(&found);
}

static void add_trace_findings(struct hs_checking *c)
{
    add_finding(c, HS_MOVE_CHECK_PATH, &c->trace->path);
    add_finding(c, HS_MOVE_CHECK_GROUND, &c->trace->ground);
    uint16_t before = c->out->failure_count;
    add_finding(c, HS_MOVE_CHECK_BASE, &c->trace->base_found);
    if (c->out->failure_count > before && c->trace->has_unknown_base)
        c->out->failures[before].reason = HS_MOVE_UNKNOWN_BASE;
}

static void remember(struct hs_checking *c)
{
    const struct hs_player_moves *moves = c->moves;
    c->has_moved = true;
    *c->undo = (struct hs_move_undo){.movement = moves->checks.movement,
                                     .launch = moves->launch,
                                     .jump_closed_us = moves->jump_closed_us,
                                     .unmoved_us = moves->unmoved_us,
                                     .unmoved_client_us = moves->unmoved_client_us,
                                     .may_be_thrown = moves->may_be_thrown,
                                     .is_restored = moves->is_restored,
                                     .has_used_correction = moves->has_used_correction};
}

/*
 * A refused move does not move the body. The next move starts from the same place with the same
 * credit, and may use the time of both moves. So the moves of an honest player are soon accepted
 * again. If these moves start from the corrected position, they are accepted at once. Otherwise
 * they are accepted when the time since the last accepted move is enough for the distance.
 */
void hs_checking_take_back(struct hs_checking *c)
{
    struct hs_player_moves *moves = c->moves;
    if (!c->has_moved)
        return;
    moves->checks.movement = c->undo->movement;
    moves->launch = c->undo->launch;
    moves->jump_closed_us = c->undo->jump_closed_us;
    moves->unmoved_us = c->undo->unmoved_us;
    moves->unmoved_client_us = c->undo->unmoved_client_us;
    moves->may_be_thrown = c->undo->may_be_thrown;
    moves->is_restored = c->undo->is_restored;
    moves->has_used_correction = c->undo->has_used_correction;
}

static struct hs_movement_step make_step(const struct hs_checking *c)
{
    const struct hs_move *move = c->move;
    const struct hs_player_moves *moves = c->moves;
    return (struct hs_movement_step){
        .position = move->position,
        .velocity = move->velocity,
        .has_velocity = (move->fields & HS_MOVE_HAS_VELOCITY) != 0,
        .up = hs_up_direction(c->match->ruleset->up),
        .mode = limiting_mode(c),
        .base = move->base.ptr != NULL ? hs_str_hash(move->base) : 0,
        .delta_us = moves->unmoved_us,
        .client_us = moves->unmoved_client_us,
        .dilation = move->dilation,
        .corrected = moves->corrected,
        .has_corrected = may_be_corrected(c),
        .received_us = move->received_us,
        .rtt_us = c->rtt_us,
        .jump_speed = c->match->ruleset->history.max_speed,
        .launch_speed = moves->launch.speed,
        .launch_climb = moves->launch.climb,
        .may_be_thrown = moves->may_be_thrown,
        .credit_s = hs_seconds(c->credit_us),
        .has_credit = c->credit_us >= 0,
    };
}

void hs_checking_movement(struct hs_checking *c, const struct hs_timing_result *granted)
{
    const struct hs_move *move = c->move;
    struct hs_player_moves *moves = c->moves;
    moves->unmoved_us += granted->delta_us;
    moves->unmoved_client_us += granted->client_us;
    if (granted->slowed_by > 0)
        hs_movement_slow_down(&moves->checks.movement, granted->slowed_by, granted->slowed_after_us,
                              c->rtt_us);
    if (!(move->fields & HS_MOVE_HAS_POSITION))
        return;
    remember(c);
    notice_launch(c);
    struct hs_movement_step step = make_step(c);
    moves->unmoved_us = moves->unmoved_client_us = 0;
    const struct hs_movement *before = &c->undo->movement;
    struct hs_movement_result found;
    begin_trace(c, &step);
    skip_time_before_jump(c);
    hs_movement_check(&moves->checks.movement, c->rules, &step, &found);
    hs_move_trace_judge(c->trace, found.time_us, may_be_corrected(c), before->base != step.base);
    int64_t announced_us;
    bool is_found = found_something(&found) || hs_move_trace_found(c->trace);
    bool is_announced = is_found && find_announced_jump(c, &announced_us);
    if (is_announced || (is_found && may_have_jumped(c))) {
        /* A jump by the server can explain the failures, so check the move again as a move after a
           jump. */
        if (is_announced)
            moves->jump_closed_us = announced_us;
        else
            assume_launch(c, &found.speed, &step);
        moves->is_restored = false;
        moves->checks.movement = *before;
        step.is_announced = true;
        step.announced_us =
            is_announced ? (double)(move->received_us - announced_us) : (double)HS_MOVES_LONGEST_US;
        hs_movement_check(&moves->checks.movement, c->rules, &step, &found);
        hs_move_trace_excuse(c->trace);
    }
    if (!is_found &&
        (c->trace->used_corrected || (step.has_corrected && needs_correction(c, &step))))
        moves->has_used_correction = true;
    c->more_us = hs_larger(0, found.time_us - step.delta_us);
    moves->may_be_thrown = moves->may_be_thrown && !found.was_thrown;
    if (moves->launch.speed > 0 || moves->launch.climb > 0)
        fade_launch(c, &step);
    add_finding(c, HS_MOVE_CHECK_TELEPORT, &found.teleport);
    add_finding(c, HS_MOVE_CHECK_SPEED, &found.speed);
    add_finding(c, HS_MOVE_CHECK_ACCELERATION, &found.acceleration);
    add_finding(c, HS_MOVE_CHECK_GRAVITY, &found.gravity);
    add_trace_findings(c);
}
