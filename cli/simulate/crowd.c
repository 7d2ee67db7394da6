#include "cli/simulate/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "validators/base/units.h"

/* The time of the first tick, in seconds. The time is not 0, because much of the code uses 0 for
   "no time". */
#define FIRST_TICK 10.0
#define DT         (1.0 / HS_CROWD_HZ)

#define WIDTH        0.45 /* metres; min distance from a player's centre to a wall */
#define RUN          5.5  /* m/s */
#define SNEAK        2.2  /* m/s, crouched */
#define ACCELERATION 40.0 /* m/s^2; in shooter games, players start and stop quickly */
#define GRAVITY      9.81
#define JUMP_SPEED   3.6  /* m/s upwards; a jump is two thirds of a metre high */
#define JUMPS        0.25 /* jumps per player and second */
#define CROUCHES     0.2  /* crouches per player and second; standing up: 5 * CROUCHES */
#define DEATHS       0.07 /* deaths per player and second */
#define PORTALS      0.04 /* portals used per player and second */
#define DEAD_SECONDS 2.5
#define PROTECTION   1.0 /* seconds after a spawn in which a player is protected */
#define NEAR         0.9 /* metres; players who are closer avoid each other */

static const char *const names[HS_CROWD] = {"alice", "bob",   "carol", "dave", "erin",
                                            "frank", "grace", "heidi", "ivan", "judy"};

enum gait { GAIT_RUN, GAIT_STRAFE, GAIT_STAND, GAITS };

struct mover {
    struct hs_vec velocity, goal;
    enum gait gait;
    double gait_until, side_until, side; /* `side`: direction of strafing, 1 or -1 */
    double arm_until, dead_until, protected_until;
};

struct hs_crowd {
    size_t ticks;
    int arm; /* enum hs_arm of all players; -1: the players change weapons */
    struct mover movers[HS_CROWD];
    struct hs_sim_pose poses[]; /* [tick][who] */
};

struct hs_str hs_crowd_name(unsigned who)
{
    return hs_str_of(names[who]);
}

unsigned hs_crowd_team(unsigned who)
{
    return who % 2;
}

double hs_crowd_time(size_t tick)
{
    return hs_seconds(hs_crowd_time_us(tick));
}

int64_t hs_crowd_time_us(size_t tick)
{
    return hs_seconds_to_us(FIRST_TICK + (double)tick * DT);
}

size_t hs_crowd_tick(const struct hs_crowd *crowd, double time)
{
    /* Tick times are rounded to microseconds, so a tick's time may be half a microsecond too
       early. */
    double ticks = floor((time - FIRST_TICK) * HS_CROWD_HZ + 6e-5);
    if (!(ticks > 0))
        return 0;
    return ticks < (double)crowd->ticks ? (size_t)ticks : crowd->ticks - 1;
}

const struct hs_sim_pose *hs_crowd_at(const struct hs_crowd *crowd, unsigned who, size_t tick)
{
    return &crowd->poses[tick * HS_CROWD + who];
}

struct hs_vec hs_crowd_place(const struct hs_crowd *crowd, unsigned who, double time)
{
    size_t tick = hs_crowd_tick(crowd, time);
    const struct hs_sim_pose *from = hs_crowd_at(crowd, who, tick);
    if (tick + 1 == crowd->ticks)
        return from->position;
    const struct hs_sim_pose *to = hs_crowd_at(crowd, who, tick + 1);
    if (to->jumps != from->jumps)
        return from->position;
    double alpha = (time - hs_crowd_time(tick)) * HS_CROWD_HZ;
    return hs_vec_lerp(from->position, to->position, fmax(0, fmin(1, alpha)));
}

double hs_crowd_dead_for(const struct hs_crowd *crowd, unsigned who, double time)
{
    size_t tick = hs_crowd_tick(crowd, time);
    if (hs_crowd_at(crowd, who, tick)->alive)
        return 0;
    while (tick > 0 && !hs_crowd_at(crowd, who, tick - 1)->alive)
        tick--;
    return fmax(time - hs_crowd_time(tick), 1e-9);
}

static bool happens(struct hs_dice *dice, double per_second)
{
    return hs_dice_between(dice, 0, 1) < per_second * DT;
}

static struct hs_vec somewhere(struct hs_dice *dice)
{
    struct hs_vec place;
    do {
        place = (struct hs_vec){hs_dice_between(dice, -19, 19), 0, 0};
        place.y = hs_dice_between(dice, -19, 19);
    } while (!hs_sim_arena_is_free(place, WIDTH));
    return place;
}

static void spawn(struct mover *mover, struct hs_sim_pose *pose, double now, struct hs_dice *dice)
{
    mover->velocity = (struct hs_vec){0, 0, 0};
    mover->goal = somewhere(dice);
    mover->gait_until = mover->arm_until = now;
    mover->protected_until = now + PROTECTION;
    pose->position = somewhere(dice);
    pose->alive = true;
    pose->crouched = false;
    pose->jumps++;
    pose->life++;
}

/* Returns the place of the nearest living enemy. A player with a knife runs to this place. */
static struct hs_vec prey(const struct hs_crowd *crowd, unsigned who, size_t tick)
{
    struct hs_vec from = hs_crowd_at(crowd, who, tick - 1)->position, best = from;
    double nearest = HUGE_VAL;
    for (unsigned i = 0; i < HS_CROWD; i++) {
        const struct hs_sim_pose *other = hs_crowd_at(crowd, i, tick - 1);
        double away = hs_vec_distance(other->position, from);
        if (hs_crowd_team(i) != hs_crowd_team(who) && other->alive && away < nearest) {
            nearest = away;
            best = other->position;
        }
    }
    return best;
}

static void choose_gait(struct mover *mover, double now, struct hs_dice *dice)
{
    mover->gait = (enum gait)hs_dice_pick(dice, GAITS);
    mover->gait_until = now + hs_dice_between(dice, 0.4, mover->gait == GAIT_STAND ? 1.2 : 3.0);
}

/* Returns the velocity at which a player wants to move. */
static struct hs_vec wish(const struct hs_crowd *crowd, unsigned who, size_t tick,
                          struct mover *mover, struct hs_sim_pose *pose, struct hs_dice *dice)
{
    double now = hs_crowd_time(tick), speed = pose->crouched ? SNEAK : RUN;
    bool hunts = pose->arm == HS_ARM_KNIFE;
    if (hunts)
        mover->goal = prey(crowd, who, tick);
    else if (hypot(mover->goal.x - pose->position.x, mover->goal.y - pose->position.y) < 1)
        mover->goal = somewhere(dice);
    if (now >= mover->gait_until)
        choose_gait(mover, now, dice);
    if (now >= mover->side_until) {
        mover->side = hs_dice_pick(dice, 2) == 0 ? 1 : -1;
        mover->side_until = now + hs_dice_between(dice, 0.25, 0.9);
    }
    struct hs_vec wanted = hs_vec_sub(mover->goal, pose->position);
    wanted.z = 0;
    double length = hs_vec_length(wanted);
    wanted = length > 0.7 ? hs_vec_scale(wanted, speed / length) : (struct hs_vec){0, 0, 0};
    if (!hunts && mover->gait == GAIT_STAND)
        wanted = (struct hs_vec){0, 0, 0};
    else if (!hunts && mover->gait == GAIT_STRAFE)
        wanted = (struct hs_vec){-wanted.y * mover->side, wanted.x * mover->side, 0};
    for (unsigned i = 0; i < HS_CROWD; i++) {
        const struct hs_sim_pose *other = hs_crowd_at(crowd, i, tick - 1);
        struct hs_vec apart = hs_vec_sub(pose->position, other->position);
        apart.z = 0;
        double distance = hs_vec_length(apart);
        if (i != who && other->alive && distance > 0 && distance < NEAR)
            wanted = hs_vec_add_scaled(wanted, apart, 6 * (NEAR - distance) / distance);
    }
    return wanted;
}

static void walk(const struct hs_crowd *crowd, unsigned who, size_t tick, struct mover *mover,
                 struct hs_sim_pose *pose, struct hs_dice *dice)
{
    bool on_ground = pose->position.z <= 0;
    struct hs_vec change = hs_vec_sub(wish(crowd, who, tick, mover, pose, dice), mover->velocity);
    change.z = 0;
    double length = hs_vec_length(change), max = ACCELERATION * DT;
    if (on_ground) { /* a player in the air cannot steer */
        mover->velocity =
            hs_vec_add_scaled(mover->velocity, change, length > max ? max / length : 1);
        if (happens(dice, pose->crouched ? 5 * CROUCHES : CROUCHES))
            pose->crouched = !pose->crouched;
        if (happens(dice, JUMPS))
            mover->velocity.z = JUMP_SPEED;
    }
    pose->position = hs_vec_add_scaled(pose->position, mover->velocity, DT);
    mover->velocity.z -= GRAVITY * DT;
    if (pose->position.z <= 0)
        pose->position.z = mover->velocity.z = 0;
    struct hs_vec wanted = pose->position;
    pose->position = hs_sim_arena_push_out(wanted, WIDTH);
    if (pose->position.x != wanted.x)
        mover->velocity.x = 0;
    if (pose->position.y != wanted.y)
        mover->velocity.y = 0;
}

static enum hs_arm choose_arm(const struct hs_crowd *crowd, struct hs_dice *dice)
{
    return crowd->arm >= 0 ? (enum hs_arm)crowd->arm : (enum hs_arm)hs_dice_pick(dice, HS_ARMS);
}

static void live(const struct hs_crowd *crowd, unsigned who, size_t tick, struct mover *mover,
                 struct hs_sim_pose *pose, struct hs_dice *dice)
{
    double now = hs_crowd_time(tick);
    pose->is_protected = now < mover->protected_until;
    if (now >= mover->arm_until) {
        pose->arm = choose_arm(crowd, dice);
        mover->arm_until = now + hs_dice_between(dice, 3, 8);
    }
    if (happens(dice, DEATHS)) {
        pose->alive = false;
        mover->dead_until = now + DEAD_SECONDS;
    } else if (happens(dice, PORTALS)) {
        pose->position = somewhere(dice);
        pose->jumps++;
        mover->goal = somewhere(dice);
    } else {
        walk(crowd, who, tick, mover, pose, dice);
    }
}

static void step(struct hs_crowd *crowd, unsigned who, size_t tick, struct hs_dice *dice)
{
    struct mover *mover = &crowd->movers[who];
    struct hs_sim_pose *pose = &crowd->poses[tick * HS_CROWD + who];
    if (tick == 0) {
        spawn(mover, pose, hs_crowd_time(tick), dice);
        pose->arm = choose_arm(crowd, dice);
        return;
    }
    *pose = *hs_crowd_at(crowd, who, tick - 1);
    if (pose->alive)
        live(crowd, who, tick, mover, pose, dice);
    else if (hs_crowd_time(tick) >= mover->dead_until)
        spawn(mover, pose, hs_crowd_time(tick), dice);
}

struct hs_crowd *hs_crowd_create(size_t ticks, int arm, struct hs_dice *dice)
{
    struct hs_crowd *crowd =
        calloc(1, sizeof *crowd + ticks * HS_CROWD * sizeof(struct hs_sim_pose));
    if (crowd == NULL)
        return NULL;
    crowd->ticks = ticks;
    crowd->arm = arm;
    for (size_t tick = 0; tick < ticks; tick++)
        for (unsigned who = 0; who < HS_CROWD; who++)
            step(crowd, who, tick, dice);
    return crowd;
}

void hs_crowd_destroy(struct hs_crowd *crowd)
{
    free(crowd);
}
