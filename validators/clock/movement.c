#include "validators/clock/movement.h"

#include "validators/base/glm.h"
#include "validators/base/units.h"

/*
 * Elapsed time is multiplied by this factor, because the clocks of honest machines differ by about
 * 1e-4, and rounding of positions lengthens a path by up to 0.5 %. Without the factor, a player who
 * runs at the limit for an hour would fail.
 */
#define TIME_TOLERANCE 1.01

/* One move uses at most this much credit, so that reported values are finite. */
#define MAX_SPENT_S 1e6

/* Smaller limits are raised to this value, so that dividing by a limit gives a finite number. */
#define MIN_LIMIT 1e-200

/* Larger claimed velocities are ignored, because their squares could overflow. */
#define MAX_VELOCITY 1e12

#define TICK_MAX_US     50000.0
#define TICK_MIN_US     1000.0
#define TICK_WEIGHT     0.125
#define RTT_UNKNOWN_US  INT64_C(200000)
#define RTT_MAX_US      INT64_C(1000000)
#define SILENCE_MAX_US  1e7  /* a silence adds at most this much unused time */
#define BASE_CHANGES    20.0 /* changes of base that are allowed within a short time */
#define BASE_FORGIVEN_S 4.0  /* number of base changes that are forgiven per second */

/*
 * After a silence, a player may catch up with unused time. If this time is above credit.max, the
 * excess shrinks by this many seconds per second. After a stall, the delayed packets need about
 * 0.07 s to arrive, because some are lost and sent again. During these 0.07 s, the excess must
 * shrink by less than the credit of a steady connection, which is 0.04 s. The value was measured
 * with the profiles LAN and 40MS, and with players at the speed limit. With the value 4, one move
 * is refused in every 20th stall of 0.4 s, and four moves in each stall of 0.8 s. With the value
 * 0.5, moves are refused in 0 of 1,000 stalls of 0.4 s, and in 2 of 1,000 stalls of 0.8 s.
 */
#define SILENCE_FADES 0.5

/*
 * Velocities are derived over at least this much time. Over a shorter time, rounded positions cause
 * a large error: 1 cm in 1/144 s is 1.4 m/s.
 */
#define GATHER_S 0.1

/*
 * A rise is a launch if it begins within LAUNCH_S after the player enters a mode with gravity: many
 * games allow a jump shortly after the player leaves the ground. A launch may also begin later,
 * while the limits of the old mode still apply. A climb that gravity would stop within LAUNCH_MIN_S
 * is not a launch: the body hovers.
 */
#define LAUNCH_S     0.15
#define LAUNCH_MIN_S 0.05

/*
 * This many sudden climbs are allowed in addition to the air jumps, until the body touches ground
 * again. The additional climbs cover landings whose moves were lost: a player who hops all the time
 * is on the ground for one move per hop. With the value 1, such a player fails once in 28 hours;
 * with the value 2, once in 500 hours.
 */
#define LOST_LANDINGS 2

/* A step at least this long may hide a landing, because only the position at the end of the step is
   known. */
#define HIDDEN_S 0.25

/* The deceleration of a rising body must be at least RISING_SHARE of gravity. The acceleration of a
   falling body must be at least FALLING_SHARE of gravity: this share is smaller, because the body
   may slide down a slope of 45 degrees. After falling for FALLING_S, the body need not accelerate,
   because the air slows its fall. */
#define RISING_SHARE  0.9
#define FALLING_SHARE 0.5
#define FALLING_S     1.0

/* The time constant, in seconds, with which `kept` decays in modes without gravity. */
#define KEPT_FORGIVEN_S 5.0

enum { VELOCITY_NONE, VELOCITY_CLAIMED, VELOCITY_DERIVED };

/* A step, with the limits that apply to it. */
struct passage {
    const struct hs_move_mode *mode;
    const struct hs_move_mode *old; /* the previous mode; its limits apply too, if in_window */
    bool in_window;
    double time_s;
    double credit_s;                   /* speed credit */
    double launch_speed, launch_climb; /* length/s; 0: no launch */
    bool may_be_thrown;
    struct hs_vec path, up;
};

/* ---- limits ---- */

static const struct hs_move_mode *mode_of(const struct hs_moves_rules *rules, uint16_t index)
{
    static const struct hs_move_mode unknown = {0}; /* nothing is checked */
    bool is_known = index < rules->mode_count && index < HS_MAX_MOVE_MODES;
    return is_known ? &rules->modes[index] : &unknown;
}

static double speed_of(const struct hs_move_mode *mode)
{
    return mode->max_speed > 0 ? mode->max_speed : HUGE_VAL;
}

static double acceleration_of(const struct hs_move_mode *mode)
{
    return mode->max_accel > 0 ? mode->max_accel : HUGE_VAL;
}

double hs_move_mode_fall_speed(const struct hs_move_mode *mode)
{
    return mode->max_fall_speed > 0 ? mode->max_fall_speed : speed_of(mode);
}

static double max_speed(const struct passage *passage)
{
    double limit = speed_of(passage->mode);
    limit = passage->in_window ? hs_larger(limit, speed_of(passage->old)) : limit;
    return hs_larger(limit, passage->launch_speed);
}

/* Returns the speed limit for climbing (`is_upwards`) or for falling. */
static double max_climb(const struct passage *passage, bool is_upwards)
{
    double limit = is_upwards ? speed_of(passage->mode) : hs_move_mode_fall_speed(passage->mode);
    if (passage->in_window)
        limit = hs_larger(limit, is_upwards ? speed_of(passage->old)
                                            : hs_move_mode_fall_speed(passage->old));
    return is_upwards ? hs_larger(limit, passage->launch_climb) : limit;
}

static double max_acceleration(const struct passage *passage)
{
    double limit = acceleration_of(passage->mode);
    return passage->in_window ? hs_larger(limit, acceleration_of(passage->old)) : limit;
}

/* ---- credit ---- */

/* Returns the speed credit: the credit of the mode, but no more than the connection needs. */
static double credit_of(const struct hs_moves_rules *rules, const struct hs_movement *movement,
                        const struct hs_movement_step *step)
{
    double credit_s = mode_of(rules, movement->mode)->credit;
    return step->has_credit ? hs_smaller(credit_s, step->credit_s) : credit_s;
}

static void find(struct hs_movement_finding *finding, double measured, double limit)
{
    finding->failed = true;
    finding->measured = measured;
    finding->limit = limit;
}

struct lapse {
    double time_s, tick_us;
};

/*
 * Spends `spent_s` of the credit, and refills it with the time of `lapse`. If the credit is
 * overdrawn, records a finding and fills the credit up. `limit` is the limit of the speed or
 * acceleration, and is used only in the finding.
 */
static void pool_spend(struct hs_movement_pool *pool, double credit_s, double spent_s, double limit,
                       const struct lapse *lapse, struct hs_movement_finding *out)
{
    double before_s = (double)pool->owed_s;
    /* A debt from an earlier mode with a larger credit is not a failure, but the player still owes
       this debt. */
    double ceiling_s =
        hs_larger(credit_s, hs_smaller((double)pool->ceiling_s, before_s + credit_s));
    double owed_s = before_s + hs_smaller(spent_s, MAX_SPENT_S) - lapse->time_s * TIME_TOLERANCE;
    double run_s = (double)pool->run_s + lapse->time_s;
    if (owed_s > hs_larger(ceiling_s, before_s)) { /* never true while a debt is paid back, because
                                                      paying back lowers owed_s */
        find(out, (TIME_TOLERANCE + owed_s / hs_larger(run_s, lapse->tick_us / 1e6)) * limit,
             limit);
        owed_s = 0;
    }
    if (owed_s <= 0)
        owed_s = run_s = 0;
    *pool = (struct hs_movement_pool){(float)owed_s, (float)ceiling_s, (float)run_s};
}

/* ---- time ---- */

static double tick_us(const struct hs_movement *movement)
{
    return movement->tick_us > 0 ? (double)movement->tick_us : TICK_MAX_US;
}

/* Returns the unused time after a time without steps (SILENCE_FADES). */
static double unused_after(const struct hs_movement *movement, const struct hs_moves_rules *rules,
                           int64_t time_us)
{
    double unused_us = (double)movement->unused_us;
    double between = (double)(time_us - movement->received_us);
    return hs_larger(hs_smaller(unused_us, (double)rules->credit_max_us),
                     unused_us - between * SILENCE_FADES);
}

/* Records the arrival. Returns the duration of the step, in seconds, as the checks count it. */
static double record_arrival(struct hs_movement *movement, const struct hs_moves_rules *rules,
                             const struct hs_movement_step *step)
{
    double unused_us = (double)movement->unused_us;
    if (movement->has_begun && step->received_us > movement->received_us) {
        double between = (double)(step->received_us - movement->received_us);
        double tick = hs_larger(TICK_MIN_US, hs_smaller(between, TICK_MAX_US));
        double mean = tick_us(movement);
        movement->tick_us = (float)(mean + (tick - mean) * TICK_WEIGHT);
        unused_us = unused_after(movement, rules, step->received_us) +
                    hs_smaller(between * step->dilation, SILENCE_MAX_US);
    }
    if (!movement->has_begun || step->received_us > movement->received_us)
        movement->received_us = step->received_us;
    double time_us = hs_larger(step->delta_us, hs_smaller(step->client_us, unused_us));
    movement->unused_us = (float)hs_larger(0, unused_us - time_us);
    return time_us / 1e6;
}

/* ---- state ---- */

static void restart_gathering(struct hs_movement *movement)
{
    glm_vec3_zero(movement->gathered);
    movement->gathered_s = 0;
}

/* Allows a new launch. */
static void restart_flight(struct hs_movement *movement)
{
    movement->rise = movement->rise_age_s = movement->airborne_s = movement->last_climb = 0;
}

static void restart_motion(struct hs_movement *movement)
{
    restart_gathering(movement);
    movement->velocity_source = VELOCITY_NONE;
    restart_flight(movement);
}

/* Starts at the position of the step. After an announced jump, the body cannot use the time before
   the jump. */
static void begin(struct hs_movement *movement, const struct hs_moves_rules *rules,
                  const struct hs_movement_step *step)
{
    double most_us =
        hs_larger(0, step->announced_us * step->dilation + (double)rules->credit_max_us);
    *movement =
        (struct hs_movement){.position = step->position,
                             .base = step->base,
                             .received_us = movement->received_us,
                             .window_until_us = INT64_MIN,
                             .unused_us = (float)hs_smaller((double)movement->unused_us, most_us),
                             .tick_us = movement->tick_us,
                             .base_changes = movement->base_changes,
                             .mode = step->mode,
                             .old_mode = step->mode,
                             .has_begun = true};
}

/* After a change of the limits, moves that were made before the change still arrive for some time.
   Returns this time. */
static int64_t on_their_way_us(const struct hs_movement *movement, int64_t rtt_us)
{
    int64_t trip_us = rtt_us >= 0 ? rtt_us : RTT_UNKNOWN_US;
    return (trip_us < RTT_MAX_US ? trip_us : RTT_MAX_US) + (int64_t)(2 * tick_us(movement));
}

void hs_movement_slow_down(struct hs_movement *movement, double slowed_by, double slowed_after_us,
                           int64_t rtt_us)
{
    double late_us = hs_smaller((double)on_their_way_us(movement, rtt_us), slowed_after_us);
    movement->unused_us += (float)(slowed_by * late_us);
}

void hs_movement_pause(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       int64_t until_us)
{
    if (!movement->has_begun || movement->received_us >= until_us)
        return;
    movement->unused_us = (float)unused_after(movement, rules, until_us);
    movement->received_us = until_us;
}

void hs_movement_skip_before(struct hs_movement *movement, const struct hs_moves_rules *rules,
                             int64_t event_us)
{
    if (!movement->has_begun || movement->received_us >= event_us)
        return;
    double between_us = (double)(event_us - 1 - movement->received_us);
    movement->received_us = event_us - 1;
    movement->unused_us =
        (float)hs_smaller((double)movement->unused_us + between_us, (double)rules->credit_max_us);
}

/* Changes the movement mode. The limits of the old mode apply for a while longer. If the limits of
   an even earlier and faster mode still apply, that mode keeps its window instead. So switching
   between two slower modes does not extend the faster mode's window. */
static void change_mode(struct hs_movement *movement, const struct hs_moves_rules *rules,
                        const struct hs_movement_step *step)
{
    bool in_window = movement->received_us <= movement->window_until_us;
    double old = speed_of(mode_of(rules, movement->mode));
    if (!in_window || old >= speed_of(mode_of(rules, movement->old_mode))) {
        movement->old_mode = movement->mode;
        movement->window_until_us = movement->received_us + on_their_way_us(movement, step->rtt_us);
    }
    movement->mode = step->mode;
    restart_gathering(movement);
    if (movement->velocity_source == VELOCITY_DERIVED)
        movement->velocity_source = VELOCITY_NONE;
    restart_flight(movement);
}

/* ---- the checks ---- */

/* Returns the path to the step's position: from the last position or from the position of the
   server's correction, whichever is nearer. */
static struct hs_vec path_of(const struct hs_movement *movement,
                             const struct hs_movement_step *step)
{
    struct hs_vec path = hs_vec_sub(step->position, movement->position);
    if (!step->has_corrected)
        return path;
    struct hs_vec other = hs_vec_sub(step->position, step->corrected);
    return hs_vec_dot(other, other) < hs_vec_dot(path, path) ? other : path;
}

static bool is_teleport(const struct hs_movement *movement, const struct hs_movement_step *step,
                        struct hs_vec path, double time_s, struct hs_movement_finding *out)
{
    if (step->jump_speed <= 0)
        return false;
    double reach = step->jump_speed * hs_larger(time_s, tick_us(movement) / 1e6);
    double squared = hs_vec_dot(path, path);
    if (squared <= reach * reach)
        return false;
    find(out, sqrt(squared), reach);
    return true;
}

static void check_bases(struct hs_movement *movement, struct hs_movement_finding *out)
{
    movement->base_changes += 1;
    if ((double)movement->base_changes <= BASE_CHANGES)
        return;
    out->unit = HS_UNIT_COUNTED;
    find(out, (double)movement->base_changes, BASE_CHANGES);
    movement->base_changes = 0;
}

static struct hs_vec across(struct hs_vec v, struct hs_vec up)
{
    return hs_vec_add_scaled(v, up, -hs_vec_dot(v, up));
}

static void check_speed(struct hs_movement *movement, const struct passage *passage,
                        struct hs_movement_finding *out)
{
    double limit = max_speed(passage), credit_s = passage->credit_s;
    double inverse = 1 / hs_larger(limit, MIN_LIMIT);
    struct lapse lapse = {passage->time_s, tick_us(movement)};
    double climb = hs_vec_dot(passage->path, passage->up);
    double plane = hs_vec_length(across(passage->path, passage->up));
    if (climb < 0 && passage->time_s >= HIDDEN_S)
        climb = 0; /* the body may have fallen during the step */
    double climb_limit = max_climb(passage, climb > 0);
    pool_spend(&movement->climbing, credit_s, fabs(climb) / hs_larger(climb_limit, MIN_LIMIT),
               climb_limit, &lapse, out);
    pool_spend(&movement->speed, credit_s, plane * inverse, limit, &lapse, out);
}

/* Charges the acceleration credit for a gain of velocity within `time_s`. */
static void pay_gain(struct hs_movement *movement, const struct passage *passage, double gain,
                     double time_s, struct hs_movement_finding *out)
{
    struct lapse lapse = {time_s, tick_us(movement)};
    double limit = max_acceleration(passage);
    gain -= passage->launch_speed; /* do not charge the part that the server's launch explains */
    pool_spend(&movement->acceleration, passage->mode->credit,
               hs_larger(0, gain) / hs_larger(limit, MIN_LIMIT), limit, &lapse, out);
}

static void take_velocity(struct hs_movement *movement, struct hs_vec velocity, uint8_t source)
{
    hs_vec_to_floats(velocity, movement->velocity);
    movement->velocity_source = source;
}

/*
 * Charges the new speed minus the component of the old velocity in the new direction. So gradual
 * turning is free, and sudden turning is not. The speed check handles speed above the limit.
 */
static void check_claimed(struct hs_movement *movement, const struct passage *passage,
                          struct hs_vec velocity, struct hs_movement_finding *out)
{
    struct hs_vec plane = across(velocity, passage->up);
    double speed = hs_vec_length(plane);
    double gain = 0;
    if (movement->velocity_source == VELOCITY_CLAIMED && speed > 0) {
        double before = hs_vec_dot(hs_vec_from_floats(movement->velocity), plane) / speed;
        gain = hs_smaller(speed, max_speed(passage)) - hs_larger(0, before);
    }
    pay_gain(movement, passage, gain, passage->time_s, out);
    take_velocity(movement, plane, VELOCITY_CLAIMED);
}

/* Checks a velocity derived from positions. Only a gain of speed is charged, because positions do
   not show turns within a step. */
static void check_derived(struct hs_movement *movement, const struct passage *passage,
                          struct hs_movement_finding *out)
{
    double time_s = (double)movement->gathered_s;
    struct hs_vec velocity =
        hs_vec_scale(across(hs_vec_from_floats(movement->gathered), passage->up), 1 / time_s);
    double gain = 0;
    if (movement->velocity_source == VELOCITY_DERIVED)
        gain = hs_smaller(hs_vec_length(velocity), max_speed(passage)) -
               hs_vec_length(hs_vec_from_floats(movement->velocity));
    pay_gain(movement, passage, gain, time_s, out);
    take_velocity(movement, velocity, VELOCITY_DERIVED);
}

/* Returns the highest possible climbing speed `time_s` after a climb at the speed `rise`. Assumes
   that gravity changes the speed by at least the required shares. */
static double slowed(double rise, double gravity, double time_s)
{
    double slowing = RISING_SHARE * gravity, falling = FALLING_SHARE * gravity;
    if (rise > 0) {
        double rising_s = rise / slowing;
        if (time_s <= rising_s)
            return rise - slowing * time_s;
        rise = 0;
        time_s -= rising_s;
    }
    return hs_larger(rise - falling * time_s, -falling * FALLING_S);
}

static bool may_bounce(const struct hs_movement *movement, const struct passage *passage,
                       int64_t lost_landings)
{
    return movement->bounces < passage->mode->air_jumps + lost_landings;
}

/* Returns whether something threw the body up or stopped its fall. Each of these two events raises
   the climbing speed suddenly. Hovering and a steady climb are not launches. */
static bool is_launch(struct hs_movement *movement, const struct passage *passage, double climb,
                      double allowed, double gravity, bool *was_thrown)
{
    double sudden = gravity * LAUNCH_MIN_S;
    if (climb <= allowed)
        return false;
    if (passage->may_be_thrown && climb > sudden && climb <= passage->launch_climb + sudden) {
        movement->airborne_s = 0; /* the launch may also raise the next derived velocity */
        *was_thrown = true;
        return true;
    }
    double before = (double)movement->last_climb;
    if (climb > sudden && (double)movement->airborne_s < LAUNCH_S)
        return true;
    bool is_late = passage->in_window && climb > sudden && before <= sudden;
    if (!is_late && (climb <= before + sudden || !may_bounce(movement, passage, LOST_LANDINGS)))
        return false;
    if (!is_late)
        movement->bounces++;
    movement->airborne_s = 0; /* the launch may also raise the next derived velocity */
    return true;
}

/* Checks a step that is long enough to hide a landing. `above` is the step's climbing speed minus
   the climbing speed that gravity allows. A hidden landing counts as a bounce. Otherwise a client
   could fly by sending few moves. One bounce more than LOST_LANDINGS is allowed, for the hidden
   landing itself. */
static void check_hidden(struct hs_movement *movement, const struct passage *passage, double climb,
                         double above, double gravity, struct hs_movement_result *out)
{
    double kept = above * (double)movement->gathered_s, slack = gravity * HIDDEN_S * HIDDEN_S / 8;
    uint8_t bounces = movement->bounces;
    bool is_thrown = is_launch(movement, passage, climb, climb - above, gravity, &out->was_thrown);
    restart_flight(movement);
    if (movement->bounces > bounces)
        return; /* the body may be launched again at the end of this step */
    if (is_thrown)
        movement->rise = (float)hs_larger(climb, 0);
    if (is_thrown || kept <= slack)
        movement->airborne_s = (float)LAUNCH_S;
    else if (may_bounce(movement, passage, LOST_LANDINGS + 1))
        movement->bounces++;
    else
        find(&out->gravity, kept, slack);
}

/*
 * Compares two climbing speeds: the mean speed over the gathered time, and the speed of a body that
 * starts upwards at the speed `rise` and is slowed by gravity. A lower speed becomes the new
 * `rise`, because a body that rises more slowly falls from a smaller height. Falling faster than
 * required does not change `rise`.
 */
static void check_gravity(struct hs_movement *movement, const struct passage *passage,
                          double gravity, struct hs_movement_result *out)
{
    double time_s = (double)movement->gathered_s, half_s = time_s / 2;
    /* The mean climbing speed. A body under gravity has this speed halfway through the time. */
    double climb = hs_vec_dot(hs_vec_from_floats(movement->gathered), passage->up) / time_s;
    double allowed = slowed((double)movement->rise, gravity, (double)movement->rise_age_s + half_s);
    if (time_s >= HIDDEN_S) {
        check_hidden(movement, passage, climb, climb - allowed, gravity, out);
        return;
    }
    if (is_launch(movement, passage, climb, allowed, gravity, &out->was_thrown)) {
        allowed = hs_larger(climb, 0); /* if the body falls, its fall may begin here */
    } else {
        double kept = (double)movement->kept + (climb - allowed) * time_s;
        double slack_s = passage->mode->credit + GATHER_S;
        double slack = gravity * slack_s * slack_s / 2;
        movement->kept = (float)hs_larger(0, kept);
        if (kept > slack) {
            find(&out->gravity, kept, slack);
            movement->kept = 0;
            /* Continue from the measured climb, so that the finding is not repeated. */
            allowed = hs_larger(climb, 0);
        }
    }
    movement->rise = (float)hs_smaller(allowed, hs_larger(climb, 0));
    movement->rise_age_s = (float)half_s;
    movement->last_climb = (float)climb;
    movement->airborne_s += (float)hs_smaller((double)movement->gathered_s, GATHER_S);
}

static void touch_ground(struct hs_movement *movement, double time_s)
{
    movement->bounces = 0;
    double left = 1 - time_s / KEPT_FORGIVEN_S;
    movement->kept = (float)((double)movement->kept * hs_larger(0, left));
}

static void check_motion(struct hs_movement *movement, const struct hs_movement_step *step,
                         const struct passage *passage, struct hs_movement_result *out)
{
    double gravity = passage->mode->gravity;
    bool is_claimed = step->has_velocity && hs_vec_is_within(step->velocity, MAX_VELOCITY);
    check_speed(movement, passage, &out->speed);
    vec3 step_path;
    hs_vec_to_floats(passage->path, step_path);
    glm_vec3_add(movement->gathered, step_path, movement->gathered);
    movement->gathered_s += (float)passage->time_s;
    if (is_claimed)
        check_claimed(movement, passage, step->velocity, &out->acceleration);
    if (gravity <= 0)
        touch_ground(movement, passage->time_s);
    if ((double)movement->gathered_s < GATHER_S)
        return;
    if (!is_claimed)
        check_derived(movement, passage, &out->acceleration);
    if (gravity > 0)
        check_gravity(movement, passage, gravity, out);
    restart_gathering(movement);
}

void hs_movement_check(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out)
{
    *out = (struct hs_movement_result){.teleport = {.unit = HS_UNIT_LENGTH},
                                       .speed = {.unit = HS_UNIT_SPEED},
                                       .acceleration = {.unit = HS_UNIT_ACCELERATION},
                                       .gravity = {.unit = HS_UNIT_LENGTH}};
    double time_s = record_arrival(movement, rules, step);
    out->time_us = time_s * 1e6;
    movement->base_changes =
        (float)hs_larger(0, (double)movement->base_changes - time_s * BASE_FORGIVEN_S);
    if (!movement->has_begun || step->is_announced) {
        begin(movement, rules, step);
        return;
    }
    if (step->mode != movement->mode)
        change_mode(movement, rules, step);
    bool is_new_base = step->base != movement->base;
    struct hs_vec path =
        is_new_base && step->has_base_path ? step->base_path : path_of(movement, step);
    movement->position = step->position;
    movement->base = step->base;
    if (is_new_base)
        restart_motion(movement);
    if (is_new_base && !step->has_base_path) {
        check_bases(movement, &out->speed);
        return;
    }
    if (is_teleport(movement, step, path, time_s, &out->teleport)) {
        restart_motion(movement);
        return;
    }
    struct passage passage = {.mode = mode_of(rules, movement->mode),
                              .old = mode_of(rules, movement->old_mode),
                              .in_window = movement->received_us <= movement->window_until_us,
                              .time_s = time_s,
                              .credit_s = credit_of(rules, movement, step),
                              .launch_speed = step->launch_speed,
                              .launch_climb = step->launch_climb,
                              .may_be_thrown = step->may_be_thrown,
                              .path = path,
                              .up = step->up};
    if (is_new_base)
        check_speed(movement, &passage, &out->speed);
    else
        check_motion(movement, step, &passage, out);
}
