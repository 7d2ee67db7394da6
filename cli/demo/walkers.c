#include "cli/demo/walkers.h"

#include <math.h>
#include <stdlib.h>

/* The first tick is at this time: not 0, which too much code treats alike with "no time". */
#define FIRST_TICK 10.0

#define ACCELERATION 14.0 /* m/s^2: what legs can do */
#define GRAVITY      9.81
#define JUMP_SPEED   3.2  /* m/s upwards: half a metre high */
#define JUMPS        0.25 /* a second */
#define TURN_SPEED   7.0  /* rad/s */
#define NEAR         1.3  /* metres: closer than this people avoid each other */
#define DEAD_SECONDS 2.5

struct walker {
    struct hs_vec goal, velocity, position;
    double yaw, speed; /* the speed he likes on this way */
    double dead_for;   /* seconds */
    bool alive, killed;
};

/* Ways tried before one is taken that leads to a wall. */
enum { WAYS = 32 };

struct hs_walkers {
    const struct hs_arena *arena;
    struct walker walkers[HS_WALKERS];
    struct hs_walk_pose *poses; /* [tick][walker] */
    double *openings;           /* [tick]: of the door */
    size_t ticks, room;
};

struct hs_walkers *hs_walkers_create(const struct hs_arena *arena, size_t ticks)
{
    struct hs_walkers *walkers = calloc(1, sizeof(*walkers));
    if (walkers == NULL)
        return NULL;
    walkers->arena = arena;
    walkers->room = ticks;
    walkers->poses = calloc(ticks * HS_WALKERS, sizeof(*walkers->poses));
    walkers->openings = calloc(ticks, sizeof(*walkers->openings));
    if (walkers->poses == NULL || walkers->openings == NULL) {
        hs_walkers_destroy(walkers);
        return NULL;
    }
    return walkers;
}

void hs_walkers_destroy(struct hs_walkers *walkers)
{
    if (walkers == NULL)
        return;
    free(walkers->poses);
    free(walkers->openings);
    free(walkers);
}

static void choose_goal(const struct hs_arena *arena, struct walker *walker, struct hs_dice *dice)
{
    int tries = 0;
    do {
        walker->goal = hs_arena_somewhere(arena, dice);
    } while (!hs_arena_is_walkable(arena, walker->position, walker->goal) && ++tries < WAYS);
    walker->speed = hs_dice_between(dice, 2.0, 5.5);
}

static void spawn(const struct hs_arena *arena, struct walker *walker, struct hs_dice *dice)
{
    *walker = (struct walker){.position = hs_arena_somewhere(arena, dice), .alive = true};
    walker->yaw = hs_dice_between(dice, -3.1, 3.1);
    choose_goal(arena, walker, dice);
}

/* Where he would like to go, around the others. */
static struct hs_vec wish(const struct hs_walkers *walkers, const struct walker *walker)
{
    struct hs_vec way = hs_vec_sub(walker->goal, walker->position);
    way.z = 0.0;
    double length = hs_vec_length(way);
    struct hs_vec wanted = hs_vec_scale(way, length > 0.0 ? walker->speed / length : 0.0);
    for (size_t i = 0; i < HS_WALKERS; i++) {
        const struct walker *other = &walkers->walkers[i];
        struct hs_vec apart = hs_vec_sub(walker->position, other->position);
        apart.z = 0.0;
        double distance = hs_vec_length(apart);
        if (other != walker && other->alive && distance > 0.0 && distance < NEAR)
            wanted = hs_vec_add_scaled(wanted, apart, 6.0 * (NEAR - distance) / distance);
    }
    return wanted;
}

static double wrap(double angle)
{
    const double pi = 3.14159265358979323846;
    while (angle > pi)
        angle -= 2.0 * pi;
    while (angle < -pi)
        angle += 2.0 * pi;
    return angle;
}

static void turn(struct walker *walker, double dt)
{
    double speed = hypot(walker->velocity.x, walker->velocity.y);
    if (speed < 0.5)
        return;
    double off = wrap(atan2(walker->velocity.y, walker->velocity.x) - walker->yaw);
    double most = TURN_SPEED * dt;
    walker->yaw = wrap(walker->yaw + fmax(-most, fmin(most, off)));
}

static void walk(const struct hs_walkers *walkers, struct walker *walker, struct hs_dice *dice)
{
    const double dt = 1.0 / HS_WALK_HZ;
    bool on_ground = walker->position.z <= 0.0;
    if (hypot(walker->goal.x - walker->position.x, walker->goal.y - walker->position.y) < 1.0)
        choose_goal(walkers->arena, walker, dice);
    struct hs_vec change = hs_vec_sub(wish(walkers, walker), walker->velocity);
    change.z = 0.0;
    double length = hs_vec_length(change), most = ACCELERATION * dt;
    if (on_ground) /* in the air nobody steers */
        walker->velocity =
            hs_vec_add_scaled(walker->velocity, change, length > most ? most / length : 1.0);
    if (on_ground && hs_dice_between(dice, 0.0, 1.0) < JUMPS * dt)
        walker->velocity.z = JUMP_SPEED;
    walker->position = hs_vec_add_scaled(walker->position, walker->velocity, dt);
    if (hs_arena_push_out(&walker->position, &walker->velocity))
        choose_goal(walkers->arena, walker, dice);
    walker->velocity.z -= GRAVITY * dt;
    if (walker->position.z <= 0.0)
        walker->position.z = walker->velocity.z = 0.0;
    turn(walker, dt);
}

static double round_place(double value)
{
    return round(value * 1e4) / 1e4;
}

static void step(const struct hs_walkers *walkers, struct walker *walker, bool first,
                 struct hs_dice *dice, struct hs_walk_pose *pose)
{
    *pose = (struct hs_walk_pose){0};
    if (walker->killed) {
        walker->killed = walker->alive = false;
        walker->dead_for = 0.0;
        pose->died = true;
    }
    if (first || (!walker->alive && walker->dead_for > DEAD_SECONDS)) {
        spawn(walkers->arena, walker, dice);
        pose->spawned = true;
    } else if (walker->alive) {
        walk(walkers, walker, dice);
    } else {
        walker->dead_for += 1.0 / HS_WALK_HZ;
    }
    pose->position =
        (struct hs_vec){round_place(walker->position.x), round_place(walker->position.y),
                        round_place(walker->position.z)};
    pose->yaw = walker->yaw;
    pose->alive = walker->alive;
}

/* The door opens for those who come near and shuts behind them. */
static double next_opening(const struct hs_walkers *walkers)
{
    double opening = walkers->ticks > 0 ? walkers->openings[walkers->ticks - 1] : 0.0;
    for (size_t i = 0; i < HS_WALKERS; i++) {
        const struct walker *walker = &walkers->walkers[i];
        if (walker->alive && hs_arena_opens_for(walker->position))
            return fmin(1.0, opening + HS_ARENA_DOOR_STEP);
    }
    return fmax(0.0, opening - HS_ARENA_DOOR_STEP);
}

void hs_walkers_step(struct hs_walkers *walkers, struct hs_dice *dice)
{
    struct hs_walk_pose *poses = &walkers->poses[walkers->ticks * HS_WALKERS];
    for (size_t i = 0; i < HS_WALKERS; i++)
        step(walkers, &walkers->walkers[i], walkers->ticks == 0, dice, &poses[i]);
    walkers->openings[walkers->ticks] = next_opening(walkers);
    walkers->ticks++;
}

void hs_walkers_kill(struct hs_walkers *walkers, unsigned walker)
{
    walkers->walkers[walker].killed = true;
}

double hs_walkers_time(size_t tick)
{
    return FIRST_TICK + (double)tick / HS_WALK_HZ;
}

const struct hs_walk_pose *hs_walkers_at(const struct hs_walkers *walkers, unsigned walker,
                                         size_t tick)
{
    return &walkers->poses[tick * HS_WALKERS + walker];
}

/* The tick at or before a time, and how far it is to the next. False: before the first; after the
   last it is the last. */
static bool find_tick(const struct hs_walkers *walkers, double time, size_t *tick, double *alpha)
{
    double ticks = (time - FIRST_TICK) * HS_WALK_HZ;
    if (ticks < 0.0 || walkers->ticks == 0)
        return false;
    *tick = (size_t)ticks;
    *alpha = ticks - (double)*tick;
    if (*tick + 1 >= walkers->ticks) {
        *tick = walkers->ticks - 1;
        *alpha = 0.0;
    }
    return true;
}

double hs_walkers_opening_at(const struct hs_walkers *walkers, size_t tick)
{
    return walkers->openings[tick];
}

double hs_walkers_opening(const struct hs_walkers *walkers, double time)
{
    size_t tick;
    double alpha;
    if (!find_tick(walkers, time, &tick, &alpha))
        return 0.0;
    double from = walkers->openings[tick];
    return alpha > 0.0 ? from + alpha * (walkers->openings[tick + 1] - from) : from;
}

bool hs_walkers_seen(const struct hs_walkers *walkers, unsigned walker, double time,
                     struct hs_walk_pose *out)
{
    size_t tick;
    double alpha;
    if (!find_tick(walkers, time, &tick, &alpha))
        return false;
    const struct hs_walk_pose *from = hs_walkers_at(walkers, walker, tick);
    *out = *from;
    if (alpha <= 0.0)
        return true;
    const struct hs_walk_pose *to = hs_walkers_at(walkers, walker, tick + 1);
    if (!to->spawned) {
        out->position = hs_vec_lerp(from->position, to->position, alpha);
        out->yaw = from->yaw + alpha * wrap(to->yaw - from->yaw);
    }
    return true;
}

void hs_upright_body(struct hs_vec position, double yaw, const struct hs_rig *rig, unsigned stance,
                     struct hs_body *out)
{
    double c = cos(yaw), s = sin(yaw);
    out->rig = rig;
    out->count = rig->hitbox_count;
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        const struct hs_hitbox *box = &rig->hitboxes[i];
        struct hs_vec bone = rig->stances[stance].bones[box->bone].position;
        struct hs_vec at = hs_vec_add(bone, box->center);
        struct hs_vec turned = {c * at.x - s * at.y, s * at.x + c * at.y, at.z};
        out->hitbox[i] = i;
        out->solids[i] = (struct hs_solid){.center = hs_vec_add(position, turned),
                                           .axes = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}},
                                           .half_extents = box->half_extents,
                                           .radius = box->radius};
        if (box->shape == HS_SHAPE_CAPSULE)
            out->solids[i].half_extents = (struct hs_vec){0, 0, box->half_length};
    }
}

void hs_walk_body(const struct hs_walk_pose *pose, const struct hs_rig *rig, struct hs_body *out)
{
    hs_upright_body(pose->position, pose->yaw, rig, 0, out);
}
