#include "cli/simulate/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "validators/base/units.h"

/* The first tick is at this time: not 0, which too much code treats alike with "no time". */
#define FIRST_TICK 10.0
#define DT         (1.0 / HS_CROWD_HZ)

#define WIDTH        0.45 /* metres from walls to the middle of somebody */
#define RUN          5.5  /* m/s */
#define SNEAK        2.2  /* m/s, crouched */
#define ACCELERATION 40.0 /* m/s^2: shooters start and stop quickly */
#define GRAVITY      9.81
#define JUMP_SPEED   3.6  /* m/s upwards: two thirds of a metre high */
#define JUMPS        0.25 /* a second */
#define CROUCHES     0.2  /* a second, and as often up again five times as fast */
#define DEATHS       0.07 /* a second */
#define PORTALS      0.04 /* a second */
#define DEAD_SECONDS 2.5
#define PROTECTION   1.0 /* seconds after a spawn */
#define NEAR         0.9 /* metres: closer than this people avoid each other */

static const char *const names[HS_CROWD] = {"alice", "bob",   "carol", "dave", "erin",
                                            "frank", "grace", "heidi", "ivan", "judy"};

enum gait { GAIT_RUN, GAIT_STRAFE, GAIT_STAND, GAITS };

struct mover {
    struct hs_vec velocity, goal;
    enum gait gait;
    double gait_until, side_until, side; /* strafing: to which side */
    double arm_until, dead_until, protected_until;
};

struct hs_crowd {
    size_t ticks;
    int arm;                  /* in all hands; -1: they change */
    struct hs_person *people; /* [tick][who] */
    struct mover movers[HS_CROWD];
};

const char *hs_crowd_name(unsigned who)
{
    return names[who];
}

unsigned hs_crowd_team(unsigned who)
{
    return who % 2;
}

double hs_crowd_time(size_t tick)
{
    return (double)hs_crowd_time_us(tick) / 1e6;
}

int64_t hs_crowd_time_us(size_t tick)
{
    return hs_seconds_to_us(FIRST_TICK + (double)tick * DT);
}

size_t hs_crowd_tick(const struct hs_crowd *crowd, double time)
{
    /* Times of ticks are whole microseconds: up to half of one before where they belong. */
    double ticks = floor((time - FIRST_TICK) * HS_CROWD_HZ + 6e-5);
    if (!(ticks > 0))
        return 0;
    return ticks < (double)crowd->ticks ? (size_t)ticks : crowd->ticks - 1;
}

const struct hs_person *hs_crowd_at(const struct hs_crowd *crowd, unsigned who, size_t tick)
{
    return &crowd->people[tick * HS_CROWD + who];
}

struct hs_vec hs_crowd_place(const struct hs_crowd *crowd, unsigned who, double time)
{
    size_t tick = hs_crowd_tick(crowd, time);
    const struct hs_person *from = hs_crowd_at(crowd, who, tick);
    if (tick + 1 == crowd->ticks)
        return from->position;
    const struct hs_person *to = hs_crowd_at(crowd, who, tick + 1);
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

static void spawn(struct mover *mover, struct hs_person *person, double now, struct hs_dice *dice)
{
    mover->velocity = (struct hs_vec){0, 0, 0};
    mover->goal = somewhere(dice);
    mover->gait_until = mover->arm_until = now;
    mover->protected_until = now + PROTECTION;
    person->position = somewhere(dice);
    person->alive = true;
    person->crouched = false;
    person->event = HS_EVENT_SPAWN;
    person->jumps++;
    person->life++;
}

/* The nearest one of the others who lives, for somebody with a knife. */
static struct hs_vec prey(const struct hs_crowd *crowd, unsigned who, size_t tick)
{
    struct hs_vec from = hs_crowd_at(crowd, who, tick - 1)->position, best = from;
    double nearest = HUGE_VAL;
    for (unsigned i = 0; i < HS_CROWD; i++) {
        const struct hs_person *other = hs_crowd_at(crowd, i, tick - 1);
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

/* The velocity somebody would like to have. */
static struct hs_vec wish(const struct hs_crowd *crowd, unsigned who, size_t tick,
                          struct mover *mover, struct hs_person *person, struct hs_dice *dice)
{
    double now = hs_crowd_time(tick), speed = person->crouched ? SNEAK : RUN;
    bool hunts = person->arm == HS_ARM_KNIFE;
    if (hunts)
        mover->goal = prey(crowd, who, tick);
    else if (hypot(mover->goal.x - person->position.x, mover->goal.y - person->position.y) < 1)
        mover->goal = somewhere(dice);
    if (now >= mover->gait_until)
        choose_gait(mover, now, dice);
    if (now >= mover->side_until) {
        mover->side = hs_dice_pick(dice, 2) == 0 ? 1 : -1;
        mover->side_until = now + hs_dice_between(dice, 0.25, 0.9);
    }
    struct hs_vec way = hs_vec_sub(mover->goal, person->position);
    way.z = 0;
    double length = hs_vec_length(way);
    way = length > 0.7 ? hs_vec_scale(way, speed / length) : (struct hs_vec){0, 0, 0};
    if (!hunts && mover->gait == GAIT_STAND)
        way = (struct hs_vec){0, 0, 0};
    else if (!hunts && mover->gait == GAIT_STRAFE)
        way = (struct hs_vec){-way.y * mover->side, way.x * mover->side, 0};
    for (unsigned i = 0; i < HS_CROWD; i++) {
        const struct hs_person *other = hs_crowd_at(crowd, i, tick - 1);
        struct hs_vec apart = hs_vec_sub(person->position, other->position);
        apart.z = 0;
        double distance = hs_vec_length(apart);
        if (i != who && other->alive && distance > 0 && distance < NEAR)
            way = hs_vec_add_scaled(way, apart, 6 * (NEAR - distance) / distance);
    }
    return way;
}

static void walk(const struct hs_crowd *crowd, unsigned who, size_t tick, struct mover *mover,
                 struct hs_person *person, struct hs_dice *dice)
{
    bool on_ground = person->position.z <= 0;
    struct hs_vec change = hs_vec_sub(wish(crowd, who, tick, mover, person, dice), mover->velocity);
    change.z = 0;
    double length = hs_vec_length(change), most = ACCELERATION * DT;
    if (on_ground) { /* in the air nobody steers */
        mover->velocity =
            hs_vec_add_scaled(mover->velocity, change, length > most ? most / length : 1);
        if (happens(dice, person->crouched ? 5 * CROUCHES : CROUCHES))
            person->crouched = !person->crouched;
        if (happens(dice, JUMPS))
            mover->velocity.z = JUMP_SPEED;
    }
    person->position = hs_vec_add_scaled(person->position, mover->velocity, DT);
    mover->velocity.z -= GRAVITY * DT;
    if (person->position.z <= 0)
        person->position.z = mover->velocity.z = 0;
    struct hs_vec wanted = person->position;
    person->position = hs_sim_arena_push_out(wanted, WIDTH);
    if (person->position.x != wanted.x)
        mover->velocity.x = 0;
    if (person->position.y != wanted.y)
        mover->velocity.y = 0;
}

static uint8_t choose_arm(const struct hs_crowd *crowd, struct hs_dice *dice)
{
    return (uint8_t)(crowd->arm >= 0 ? (unsigned)crowd->arm : hs_dice_pick(dice, HS_ARMS));
}

static void live(const struct hs_crowd *crowd, unsigned who, size_t tick, struct mover *mover,
                 struct hs_person *person, struct hs_dice *dice)
{
    double now = hs_crowd_time(tick);
    person->is_protected = now < mover->protected_until;
    if (now >= mover->arm_until) {
        person->arm = choose_arm(crowd, dice);
        mover->arm_until = now + hs_dice_between(dice, 3, 8);
    }
    if (happens(dice, DEATHS)) {
        person->alive = false;
        person->event = HS_EVENT_DEATH;
        mover->dead_until = now + DEAD_SECONDS;
    } else if (happens(dice, PORTALS)) {
        person->position = somewhere(dice);
        person->event = HS_EVENT_TELEPORT;
        person->jumps++;
        mover->goal = somewhere(dice);
    } else {
        walk(crowd, who, tick, mover, person, dice);
    }
}

static void step(struct hs_crowd *crowd, unsigned who, size_t tick, struct hs_dice *dice)
{
    struct mover *mover = &crowd->movers[who];
    struct hs_person *person = &crowd->people[tick * HS_CROWD + who];
    if (tick == 0) {
        spawn(mover, person, hs_crowd_time(tick), dice);
        person->arm = choose_arm(crowd, dice);
        return;
    }
    *person = *hs_crowd_at(crowd, who, tick - 1);
    person->event = HS_EVENT_NONE;
    if (person->alive)
        live(crowd, who, tick, mover, person, dice);
    else if (hs_crowd_time(tick) >= mover->dead_until)
        spawn(mover, person, hs_crowd_time(tick), dice);
}

struct hs_crowd *hs_crowd_create(size_t ticks, int arm, struct hs_dice *dice)
{
    struct hs_crowd *crowd = calloc(1, sizeof *crowd);
    if (crowd == NULL)
        return NULL;
    crowd->ticks = ticks;
    crowd->arm = arm;
    crowd->people = calloc(ticks * HS_CROWD, sizeof *crowd->people);
    if (crowd->people == NULL) {
        free(crowd);
        return NULL;
    }
    for (size_t tick = 0; tick < ticks; tick++)
        for (unsigned who = 0; who < HS_CROWD; who++)
            step(crowd, who, tick, dice);
    return crowd;
}

void hs_crowd_destroy(struct hs_crowd *crowd)
{
    if (crowd == NULL)
        return;
    free(crowd->people);
    free(crowd);
}
