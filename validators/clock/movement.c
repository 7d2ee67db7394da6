#include "validators/clock/movement.h"

#include "validators/base/glm.h"

#include <math.h>

/*
 * Share by which time counts more than it is: clocks of honest machines differ by some 1e-4, and
 * rounded positions make a way longer by up to half a percent. Without it who runs at his limit for
 * an hour is found too fast.
 */
#define TIME_TOLERANCE 1.01

/* The most seconds one move can spend: keeps what is reported finite. */
#define MOST_SPENT_S 1e6

/* Smaller limits count as this: whatever is divided by it is a number. */
#define LEAST_LIMIT 1e-200

/* Claimed velocities beyond are not believed, and not squared. */
#define MOST_VELOCITY 1e12

#define TICK_MOST_US    50000.0
#define TICK_LEAST_US   1000.0
#define TICK_WEIGHT     0.125
#define RTT_UNKNOWN_US  INT64_C(200000)
#define RTT_MOST_US     INT64_C(1000000)
#define SILENCE_MOST_US 1e7  /* the longest whose time may be used at once */
#define BASE_CHANGES    20.0 /* more at once are too many */
#define BASE_FORGIVEN_S 4.0  /* a second */

/*
 * Velocities are told from ways at least this long. A shorter time tells the rounding of positions
 * rather than motion: 1 cm in 1/144 s is 1.4 m/s.
 */
#define GATHER_S 0.1

/*
 * A rise that begins within this of entering a mode with gravity is its launch: games let players
 * jump shortly after the ground was left. The limits of the mode before let it begin later, too. A
 * climb that gravity stops within LAUNCH_LEAST_S is none: hovering is not launching.
 */
#define LAUNCH_S       0.15
#define LAUNCH_LEAST_S 0.05

/*
 * Changes upwards that no ground explains, until there is ground again: a second jump in the air,
 * and moves on the ground that were lost, of which a player who hops makes one a jump. Who jumps on
 * nothing again and again is found by the third.
 */
#define BOUNCES 2

/* What a body did in so long a time, nobody can tell from where it ended: it may have landed. */
#define HIDDEN_S 0.25

/* Shares of gravity demanded. Falling, that of a body sliding down 45 degrees, and for a second at
   most: the air brakes. */
#define RISING_SHARE  0.9
#define FALLING_SHARE 0.5
#define FALLING_S     1.0

/* Height kept is forgiven in this time without gravity. */
#define KEPT_FORGIVEN_S 5.0

enum { VELOCITY_NONE, VELOCITY_CLAIMED, VELOCITY_DERIVED };

/* A step taken apart. */
struct passage {
    const struct hs_move_mode *mode; /* NULL: not known */
    const struct hs_move_mode *old;  /* whose limits count, too; NULL: not known */
    bool in_window;                  /* `old` counts */
    double time_s;
    struct hs_vec way, up;
};

/* fmax and fmin are calls, for the sake of numbers that are none: a third of a judgement. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- limits ---- */

static const struct hs_move_mode *mode_of(const struct hs_moves_rules *rules, uint16_t index)
{
    return index < rules->mode_count && index < HS_MAX_MOVE_MODES ? &rules->modes[index] : NULL;
}

static double speed_of(const struct hs_move_mode *mode)
{
    return mode != NULL && mode->max_speed > 0 ? mode->max_speed : HUGE_VAL;
}

static double acceleration_of(const struct hs_move_mode *mode)
{
    return mode != NULL && mode->max_accel > 0 ? mode->max_accel : HUGE_VAL;
}

static double max_speed(const struct passage *passage)
{
    double limit = speed_of(passage->mode);
    return passage->in_window ? larger(limit, speed_of(passage->old)) : limit;
}

static double max_acceleration(const struct passage *passage)
{
    double limit = acceleration_of(passage->mode);
    return passage->in_window ? larger(limit, acceleration_of(passage->old)) : limit;
}

static double credit_of(const struct hs_move_mode *mode)
{
    return mode != NULL ? mode->credit : 0;
}

/* ---- credit ---- */

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
 * Spends `spent_s` while `time_s` passed, and finds it where the credit is overdrawn by that; the
 * credit starts anew then. `limit` is what can be made in a second, and the unit of the finding.
 */
static void pool_spend(struct hs_movement_pool *pool, double credit_s, double spent_s, double limit,
                       const struct lapse *lapse, struct hs_movement_finding *out)
{
    double before_s = (double)pool->owed_s;
    /* What was owed under a larger credit may still be owed: neither an offence nor a gift. */
    double ceiling_s = larger(credit_s, smaller((double)pool->ceiling_s, before_s + credit_s));
    double owed_s = before_s + smaller(spent_s, MOST_SPENT_S) - lapse->time_s * TIME_TOLERANCE;
    double run_s = (double)pool->run_s + lapse->time_s;
    if (owed_s > larger(ceiling_s, before_s)) { /* who pays back never overdraws */
        find(out, (TIME_TOLERANCE + owed_s / larger(run_s, lapse->tick_us / 1e6)) * limit, limit);
        owed_s = 0;
    }
    if (owed_s <= 0)
        owed_s = run_s = 0;
    *pool = (struct hs_movement_pool){(float)owed_s, (float)ceiling_s, (float)run_s};
}

/* ---- time ---- */

static double tick_us(const struct hs_movement *movement)
{
    return movement->tick_us > 0 ? (double)movement->tick_us : TICK_MOST_US;
}

/* Takes the moment over, and returns the seconds that the step may be taken for. */
static double hear(struct hs_movement *movement, const struct hs_moves_rules *rules,
                   const struct hs_movement_step *step)
{
    double unused_us = (double)movement->unused_us;
    if (movement->has_begun && step->received_us > movement->received_us) {
        double between = (double)(step->received_us - movement->received_us);
        double tick = larger(TICK_LEAST_US, smaller(between, TICK_MOST_US));
        double mean = tick_us(movement);
        movement->tick_us = (float)(mean + (tick - mean) * TICK_WEIGHT);
        unused_us = smaller(unused_us, (double)rules->credit_max_us) +
                    smaller(between * step->dilation, SILENCE_MOST_US);
    }
    if (!movement->has_begun || step->received_us > movement->received_us)
        movement->received_us = step->received_us;
    double time_us = larger(step->delta_us, smaller(step->client_us, unused_us));
    movement->unused_us = (float)larger(0, unused_us - time_us);
    return time_us / 1e6;
}

/* ---- state ---- */

static void restart_gathering(struct hs_movement *movement)
{
    glm_vec3_zero(movement->way);
    movement->way_s = 0;
}

/* A launch may follow. */
static void restart_flight(struct hs_movement *movement)
{
    movement->rise = movement->rise_age_s = movement->airborne_s = movement->last_climb = 0;
}

/* What was before tells nothing of velocities any more. */
static void restart_motion(struct hs_movement *movement)
{
    restart_gathering(movement);
    movement->velocity_source = VELOCITY_NONE;
    restart_flight(movement);
}

static void begin(struct hs_movement *movement, const struct hs_movement_step *step)
{
    *movement = (struct hs_movement){.position = step->position,
                                     .base = step->base,
                                     .received_us = movement->received_us,
                                     .window_until_us = INT64_MIN,
                                     .unused_us = movement->unused_us,
                                     .tick_us = movement->tick_us,
                                     .base_changes = movement->base_changes,
                                     .mode = step->mode,
                                     .old_mode = step->mode,
                                     .has_begun = true};
}

/*
 * The old limits count for a while. Where older ones still do, the larger are kept and run out when
 * they would have: changing to and fro between two lesser modes prolongs nothing.
 */
static void change_mode(struct hs_movement *movement, const struct hs_moves_rules *rules,
                        const struct hs_movement_step *step)
{
    bool in_window = movement->received_us <= movement->window_until_us;
    double old = speed_of(mode_of(rules, movement->mode));
    if (!in_window || old >= speed_of(mode_of(rules, movement->old_mode))) {
        int64_t rtt_us = step->rtt_us >= 0 ? step->rtt_us : RTT_UNKNOWN_US;
        movement->old_mode = movement->mode;
        movement->window_until_us = movement->received_us +
                                    (rtt_us < RTT_MOST_US ? rtt_us : RTT_MOST_US) +
                                    (int64_t)(2 * tick_us(movement));
    }
    movement->mode = step->mode;
    restart_gathering(movement);
    if (movement->velocity_source == VELOCITY_DERIVED)
        movement->velocity_source = VELOCITY_NONE;
    restart_flight(movement);
}

/* ---- the checks ---- */

/* The way from the last place, or from where the server put the client if that is nearer. */
static struct hs_vec way_of(const struct hs_movement *movement, const struct hs_movement_step *step)
{
    struct hs_vec way = hs_vec_sub(step->position, movement->position);
    if (!step->has_corrected)
        return way;
    struct hs_vec other = hs_vec_sub(step->position, step->corrected);
    return hs_vec_dot(other, other) < hs_vec_dot(way, way) ? other : way;
}

static bool is_teleport(const struct hs_movement *movement, const struct hs_movement_step *step,
                        struct hs_vec way, double time_s, struct hs_movement_finding *out)
{
    if (step->jump_speed <= 0)
        return false;
    double reach = step->jump_speed * larger(time_s, tick_us(movement) / 1e6);
    double squared = hs_vec_dot(way, way);
    if (squared <= reach * reach)
        return false;
    find(out, sqrt(squared), reach);
    return true;
}

static void judge_bases(struct hs_movement *movement, struct hs_movement_finding *out)
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

static void judge_speed(struct hs_movement *movement, const struct passage *passage,
                        struct hs_movement_finding *out)
{
    double limit = max_speed(passage), credit_s = credit_of(passage->mode);
    double inverse = 1 / larger(limit, LEAST_LIMIT);
    struct lapse lapse = {passage->time_s, tick_us(movement)};
    double climb = hs_vec_dot(passage->way, passage->up);
    double plane = hs_vec_length(across(passage->way, passage->up));
    if (climb < 0 && passage->time_s >= HIDDEN_S)
        climb = 0; /* it may have fallen meanwhile */
    pool_spend(&movement->climbing, credit_s, fabs(climb) * inverse, limit, &lapse, out);
    pool_spend(&movement->speed, credit_s, plane * inverse, limit, &lapse, out);
}

/* Pays for a gain of velocity, made in `time`. */
static void pay_gain(struct hs_movement *movement, const struct passage *passage, double gain,
                     double time_s, struct hs_movement_finding *out)
{
    struct lapse lapse = {time_s, tick_us(movement)};
    double limit = max_acceleration(passage);
    pool_spend(&movement->acceleration, credit_of(passage->mode),
               larger(0, gain) / larger(limit, LEAST_LIMIT), limit, &lapse, out);
}

static void take_velocity(struct hs_movement *movement, struct hs_vec velocity, uint8_t source)
{
    hs_vec_to_floats(velocity, movement->velocity);
    movement->velocity_source = source;
}

/*
 * Paid for is what the new speed has more than the old velocity has in its direction. Turning
 * little by little is free by that, and turning round at once is not. Speed beyond the limit is
 * none of its business.
 */
static void judge_claimed(struct hs_movement *movement, const struct passage *passage,
                          struct hs_vec velocity, struct hs_movement_finding *out)
{
    struct hs_vec plane = across(velocity, passage->up);
    double speed = hs_vec_length(plane);
    double gain = 0;
    if (movement->velocity_source == VELOCITY_CLAIMED && speed > 0) {
        double before = hs_vec_dot(hs_vec_from_floats(movement->velocity), plane) / speed;
        gain = smaller(speed, max_speed(passage)) - larger(0, before);
    }
    pay_gain(movement, passage, gain, passage->time_s, out);
    take_velocity(movement, plane, VELOCITY_CLAIMED);
}

/* From positions only growth of speed counts: how a body turned meanwhile is not seen. */
static void judge_derived(struct hs_movement *movement, const struct passage *passage,
                          struct hs_movement_finding *out)
{
    double time_s = (double)movement->way_s;
    struct hs_vec velocity =
        hs_vec_scale(across(hs_vec_from_floats(movement->way), passage->up), 1 / time_s);
    double gain = 0;
    if (movement->velocity_source == VELOCITY_DERIVED)
        gain = smaller(hs_vec_length(velocity), max_speed(passage)) -
               hs_vec_length(hs_vec_from_floats(movement->velocity));
    pay_gain(movement, passage, gain, time_s, out);
    take_velocity(movement, velocity, VELOCITY_DERIVED);
}

/* The fastest climb left of `rise` after `time` under gravity, as far as it is demanded. */
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
    return larger(rise - falling * time_s, -falling * FALLING_S);
}

/*
 * The body was thrown, or stopped falling, by something: a change upwards that is sudden. Who stays
 * up, or climbs evenly, changes nothing.
 */
static bool is_launch(struct hs_movement *movement, const struct passage *passage, double climb,
                      double allowed, double gravity)
{
    double sudden = gravity * LAUNCH_LEAST_S;
    if (climb <= allowed)
        return false;
    double before = (double)movement->last_climb;
    if (climb > sudden && (double)movement->airborne_s < LAUNCH_S)
        return true;
    bool is_late = passage->in_window && climb > sudden && before <= sudden;
    if (!is_late && (climb <= before + sudden || movement->bounces >= BOUNCES))
        return false;
    if (!is_late)
        movement->bounces++;
    movement->airborne_s = 0; /* what is gathered may be half of it */
    return true;
}

/*
 * Compares the climb of what is gathered with that of a body thrown up as this one was. A climb
 * below it replaces it, but for falling: who rises less than he might has less to fall from, while
 * falling faster than demanded obliges to nothing.
 */
static void judge_gravity(struct hs_movement *movement, const struct passage *passage,
                          double gravity, struct hs_movement_finding *out)
{
    double time_s = (double)movement->way_s, half_s = time_s / 2;
    if (time_s >= HIDDEN_S) {
        restart_flight(movement);
        return;
    }
    double climb =
        hs_vec_dot(hs_vec_from_floats(movement->way), passage->up) / time_s; /* at half the time */
    double allowed = slowed((double)movement->rise, gravity, (double)movement->rise_age_s + half_s);
    if (is_launch(movement, passage, climb, allowed, gravity)) {
        allowed = larger(climb, 0); /* it may fall from here */
    } else {
        double kept = (double)movement->kept + (climb - allowed) * time_s;
        double slack_s = credit_of(passage->mode) + GATHER_S;
        double slack = gravity * slack_s * slack_s / 2;
        movement->kept = (float)larger(0, kept);
        if (kept > slack) {
            find(out, kept, slack);
            movement->kept = 0;
            allowed = larger(climb, 0); /* as launched here */
        }
    }
    movement->rise = (float)smaller(allowed, larger(climb, 0));
    movement->rise_age_s = (float)half_s;
    movement->last_climb = (float)climb;
    movement->airborne_s += (float)smaller((double)movement->way_s, GATHER_S);
}

static void touch_ground(struct hs_movement *movement, double time_s)
{
    movement->bounces = 0;
    double left = 1 - time_s / KEPT_FORGIVEN_S;
    movement->kept = (float)((double)movement->kept * larger(0, left));
}

static void judge_motion(struct hs_movement *movement, const struct hs_movement_step *step,
                         const struct passage *passage, struct hs_movement_result *out)
{
    double gravity = passage->mode != NULL ? passage->mode->gravity : 0;
    bool is_claimed = step->has_velocity && hs_vec_is_within(step->velocity, MOST_VELOCITY);
    judge_speed(movement, passage, &out->speed);
    vec3 step_way;
    hs_vec_to_floats(passage->way, step_way);
    glm_vec3_add(movement->way, step_way, movement->way);
    movement->way_s += (float)passage->time_s;
    if (is_claimed)
        judge_claimed(movement, passage, step->velocity, &out->acceleration);
    if (gravity <= 0)
        touch_ground(movement, passage->time_s);
    if ((double)movement->way_s < GATHER_S)
        return;
    if (!is_claimed)
        judge_derived(movement, passage, &out->acceleration);
    if (gravity > 0)
        judge_gravity(movement, passage, gravity, &out->gravity);
    restart_gathering(movement);
}

void hs_movement_judge(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out)
{
    *out = (struct hs_movement_result){.teleport = {.unit = HS_UNIT_LENGTH},
                                       .speed = {.unit = HS_UNIT_SPEED},
                                       .acceleration = {.unit = HS_UNIT_ACCELERATION},
                                       .gravity = {.unit = HS_UNIT_LENGTH}};
    double time_s = hear(movement, rules, step);
    movement->base_changes =
        (float)larger(0, (double)movement->base_changes - time_s * BASE_FORGIVEN_S);
    if (!movement->has_begun || step->is_announced) {
        begin(movement, step);
        return;
    }
    if (step->mode != movement->mode)
        change_mode(movement, rules, step);
    struct hs_vec way = way_of(movement, step);
    movement->position = step->position;
    if (step->base != movement->base) {
        movement->base = step->base;
        restart_motion(movement);
        judge_bases(movement, &out->speed);
        return;
    }
    if (is_teleport(movement, step, way, time_s, &out->teleport)) {
        restart_motion(movement);
        return;
    }
    struct passage passage = {.mode = mode_of(rules, movement->mode),
                              .old = mode_of(rules, movement->old_mode),
                              .in_window = movement->received_us <= movement->window_until_us,
                              .time_s = time_s,
                              .way = way,
                              .up = step->up};
    judge_motion(movement, step, &passage, out);
}
