#include "cli/simulate/client.h"

#include <math.h>

#include "validators/base/units.h"

#define DT (1.0 / HS_CROWD_HZ)

/* seconds; standard deviation of a client's error in estimating the server's clock */
#define CLOCK_ERROR   0.003
#define CLOCK_WANDERS 5.0  /* seconds; time constant of the clock error */
#define HAND_WANDERS  0.15 /* seconds; time constant of the aiming error */
#define TURN          12.0 /* rad/s; speed of turns of at most one radian */
#define FLICK         60.0 /* rad/s; speed of larger turns */
#define DRAW_SECONDS  0.4  /* seconds to change from one weapon to another */
#define SHOWN_AGAIN   0.2  /* seconds; max time from the drawn snapshot to the moment shown */

static void fill_magazine(struct hs_client *client, const struct hs_game *game, enum hs_arm arm)
{
    int64_t magazine = game->arena->weapons[arm]->magazine;
    client->rounds[arm] = magazine > 0 ? (int)magazine : -1;
}

void hs_client_start(struct hs_client *client, const struct hs_game *game, unsigned me,
                     enum hs_link_kind kind, uint64_t seed, double *arrivals)
{
    *client = (struct hs_client){.me = me, .dice.state = seed, .arrivals = arrivals, .foe = -1};
    struct hs_dice *dice = &client->dice;
    hs_link_draw(kind, dice, &client->link);
    client->phase = hs_dice_between(dice, 0, DT);
    /* The interpolation delay is two snapshot intervals, so that one snapshot may be lost. The
       delay never exceeds the longest delay that the rules accept. */
    size_t ticks = game->setup.frame_every * game->setup.snapshot_every;
    client->interp = fmin(2 * ((double)ticks / HS_CROWD_HZ), 0.1);
    client->up = client->link.base / 2 + 1.5 * client->link.jitter;
    client->up_error = CLOCK_ERROR * hs_dice_normal(dice);
    client->clock_error = CLOCK_ERROR * hs_dice_normal(dice);
    client->skill = (hs_dice_between(dice, 0.4, 1.6) + game->setup.aim_error) * M_PI / 180;
    client->aim = (struct hs_vec){1, 0, 0};
    for (int arm = 0; arm < HS_ARMS; arm++)
        fill_magazine(client, game, (enum hs_arm)arm);
}

void hs_client_send_snapshot(struct hs_client *client, const struct hs_game *game, size_t frame)
{
    double sent = game->film.frames[frame].time;
    bool is_cut, lost = hs_link_loses(&client->dice);
    double delay = hs_link_delay(&client->link, &client->dice);
    delay += hs_link_outage(&client->link, sent, &is_cut);
    if (!lost && !is_cut)
        client->arrivals[frame] = sent + delay;
}

static double wander(struct hs_dice *dice, double value, double deviation, double seconds)
{
    double kept = exp(-DT / seconds);
    return kept * value + sqrt(1 - kept * kept) * deviation * hs_dice_normal(dice);
}

/*
 * Draws what the client shows at `now`. The moment shown is the client's estimate of the server's
 * clock, minus the usual latency and the interpolation delay. Interpolates between two snapshots
 * that have arrived: the last one before this moment, and the first one after this moment. If no
 * later snapshot has arrived, draws the earlier snapshot without extrapolation. Returns false if
 * the earlier snapshot is too old.
 */
static bool draw(const struct hs_client *client, const struct hs_game *game, double now,
                 struct hs_screen *out)
{
    const struct hs_film *film = &game->film;
    const struct hs_film_frame *frames = film->frames;
    double wanted =
        now + client->clock_error - client->link.base / 2 - client->link.jitter - client->interp;
    struct hs_moment *moment = &out->moment;
    if (!hs_film_find(film, wanted, moment))
        return false;
    size_t from = moment->from, to = from + 1;
    double oldest = frames[from].time - SHOWN_AGAIN;
    while (client->arrivals[from] > now)
        if (from-- == 0 || frames[from].time < oldest)
            return false;
    while (to < film->count && client->arrivals[to] > now)
        to++;
    double start = frames[from].time;
    *moment = (struct hs_moment){from, from, 0, start};
    if (to < film->count)
        *moment =
            (struct hs_moment){from, to, (wanted - start) / (frames[to].time - start), wanted};
    for (unsigned who = 0; who < HS_CROWD; who++)
        hs_film_pose_sent(film, moment, who, &out->poses[who]);
    return true;
}

/* ---- aiming ---- */

static void choose_foe(struct hs_client *client, const struct hs_game *game, double time,
                       const struct hs_screen *screen, struct hs_vec eye)
{
    double best = HUGE_VAL;
    client->foe = -1;
    client->foe_until = time + hs_dice_between(&client->dice, 0.5, 2.5);
    client->aim_height = hs_dice_between(&client->dice, 0, 1);
    for (unsigned who = 0; who < HS_CROWD; who++) {
        const struct hs_sim_pose *pose = &screen->poses[who];
        struct hs_vec chest = pose->position;
        chest.z += 1.1;
        if (hs_crowd_team(who) == hs_crowd_team(client->me) || !pose->alive)
            continue;
        double away = hs_vec_distance(chest, eye) * hs_dice_between(&client->dice, 0.5, 1.5);
        if (hs_world_blocks(game->arena->world, eye, chest))
            away += 100;
        if (away < best) {
            best = away;
            client->foe = (int)who;
        }
    }
}

/* Returns the point on the foe's body at which the player aims: mostly the chest, sometimes the
   head or the legs. */
static struct hs_vec aim_point(const struct hs_client *client, const struct hs_sim_pose *pose)
{
    struct hs_vec point = pose->position;
    bool head = client->aim_height > 0.75, legs = client->aim_height < 0.1;
    point.z += head ? (pose->crouched ? 1.1 : 1.6) : legs ? 0.5 : 1.1;
    return point;
}

/* Returns the point to aim at. If the weapon fires projectiles, the player aims at the place where
   the foe will be when the projectile arrives. If the projectiles fall, the player aims higher. */
static struct hs_vec lead(const struct hs_client *client, const struct hs_game *game, double time,
                          const struct hs_screen *screen, struct hs_vec eye)
{
    const struct hs_weapon *weapon = game->arena->weapons[client->arm];
    struct hs_vec point = aim_point(client, &screen->poses[client->foe]);
    const struct hs_moment *moment = &screen->moment;
    if (weapon->type != HS_WEAPON_PROJECTILE || moment->to == moment->from)
        return point;
    const struct hs_film_frame *from = &game->film.frames[moment->from];
    const struct hs_film_frame *to = &game->film.frames[moment->to];
    struct hs_vec velocity = {0, 0, 0};
    if (to->people[client->foe].jumps == from->people[client->foe].jumps)
        velocity = hs_vec_scale(
            hs_vec_sub(to->people[client->foe].position, from->people[client->foe].position),
            1 / (to->time - from->time));
    velocity.z = 0;
    double flight = hs_vec_distance(point, eye) / weapon->speed;
    point = hs_vec_add_scaled(point, velocity, time + client->up - moment->time + flight);
    flight = hs_vec_distance(point, eye) / weapon->speed;
    point.z += weapon->gravity * flight * flight / 2;
    if (client->arm == HS_ARM_ROCKET && client->aim_height < 0.4)
        point.z = 0.1; /* players often aim rockets at the feet */
    return point;
}

/* Turns the aim towards a direction, as fast as a hand can. Returns true if the aim reaches the
   direction, or if the angle to the direction was at most 0.05 rad before the turn. */
static bool turn_to(struct hs_client *client, struct hs_vec wanted)
{
    double off = acos(fmax(-1, fmin(1, hs_vec_dot(client->aim, wanted))));
    double turn = (off > 1 ? FLICK : TURN) * DT;
    if (off <= turn) {
        client->aim = wanted;
        return true;
    }
    struct hs_vec across =
        hs_vec_sub(wanted, hs_vec_scale(client->aim, hs_vec_dot(client->aim, wanted)));
    double length = hs_vec_length(across);
    across = length > 1e-9 ? hs_vec_scale(across, 1 / length) : (struct hs_vec){0, 0, 1};
    client->aim = hs_vec_add_scaled(hs_vec_scale(client->aim, cos(turn)), across, sin(turn));
    client->aim = hs_vec_scale(client->aim, 1 / hs_vec_length(client->aim));
    return off <= 0.05;
}

struct hs_vec hs_client_shot_direction(const struct hs_client *client)
{
    struct hs_vec side = {-client->aim.y, client->aim.x, 0};
    double length = hs_vec_length(side);
    side = length > 1e-9 ? hs_vec_scale(side, 1 / length) : (struct hs_vec){0, 1, 0};
    struct hs_vec up = hs_vec_cross(client->aim, side);
    struct hs_vec along = hs_vec_add_scaled(client->aim, side, client->off_yaw);
    along = hs_vec_add_scaled(along, up, client->off_pitch);
    return hs_vec_scale(along, 1 / hs_vec_length(along));
}

/* ---- a frame of the client ---- */

struct hs_vec hs_client_true_eye(const struct hs_client *client, const struct hs_game *game,
                                 double time)
{
    double at = time + client->up;
    size_t tick = hs_crowd_tick(game->crowd, at);
    bool crouched = hs_crowd_at(game->crowd, client->me, tick)->crouched;
    return hs_vec_add(hs_crowd_place(game->crowd, client->me, at),
                      game->arena->rig->stances[crouched ? 1 : 0].eye);
}

static void log_frame(struct hs_client *client, double time)
{
    client->log[client->frames++ % HS_CLIENT_LOG] =
        (struct hs_doing){.time = time,
                          .aim = hs_client_shot_direction(client),
                          .rounds = client->rounds[client->arm],
                          .reloading = client->reload_until > time};
}

const struct hs_doing *hs_client_doing(const struct hs_client *client, double time)
{
    for (uint64_t i = client->frames; i > 0 && i + HS_CLIENT_LOG > client->frames; i--) {
        const struct hs_doing *doing = &client->log[(i - 1) % HS_CLIENT_LOG];
        if (doing->time + client->up <= time)
            return doing;
    }
    return NULL;
}

/* Returns whether the client believes that the player is alive. The client learns late, from the
   server, that the player died or respawned. */
static bool seems_alive(const struct hs_client *client, const struct hs_game *game, double time)
{
    size_t tick = hs_crowd_tick(game->crowd, time - client->link.base / 2);
    return hs_crowd_at(game->crowd, client->me, tick)->alive;
}

static void handle_weapon(struct hs_client *client, const struct hs_game *game, double time)
{
    size_t tick = hs_crowd_tick(game->crowd, time + client->up);
    enum hs_arm arm = hs_crowd_at(game->crowd, client->me, tick)->arm;
    if (arm != client->arm) {
        client->arm = arm;
        client->drawn_at = time + DRAW_SECONDS;
        client->reload_until = 0;
    }
    if (client->rounds[arm] != 0)
        return;
    if (client->reload_until == 0) {
        client->reload_until =
            fmax(time, client->drawn_at) + hs_seconds(game->arena->weapons[arm]->reload_us);
    } else if (client->reload_until <= time) {
        client->reload_until = 0;
        fill_magazine(client, game, arm);
    }
}

/* Returns whether the foe is at a distance at which players use the weapon in hand. */
static bool is_in_range(const struct hs_client *client, const struct hs_screen *screen,
                        struct hs_vec eye)
{
    static const double min[HS_ARMS] = {0, 0, 2, 4, 0}, max[HS_ARMS] = {60, 14, 30, 30, 1.7};
    struct hs_vec foe = screen->poses[client->foe].position;
    double away = hypot(foe.x - eye.x, foe.y - eye.y);
    return away >= min[client->arm] && away <= max[client->arm];
}

static bool is_ready(const struct hs_client *client, double time)
{
    return time >= client->ready_at[client->arm] && time >= client->drawn_at &&
           client->rounds[client->arm] != 0 && client->reload_until == 0;
}

/* Sets the earliest time of the next shot, from the weapon's fire rate. Adds a random delay for
   weapons that need a trigger pull for each shot. */
static void set_next_shot(struct hs_client *client, const struct hs_game *game, double time)
{
    static const double by_hand[HS_ARMS] = {0, 0.1, 0.1, 0.1, 0};
    double interval = hs_seconds(game->arena->weapons[client->arm]->min_interval_us);
    double *ready_at = &client->ready_at[client->arm];
    *ready_at = fmax(*ready_at, time - DT) + interval +
                by_hand[client->arm] * hs_dice_between(&client->dice, 0, 2);
    if (client->rounds[client->arm] > 0)
        client->rounds[client->arm]--;
}

void hs_client_frame(struct hs_client *client, const struct hs_game *game, double time,
                     struct hs_mailbox *box)
{
    struct hs_screen screen;
    client->clock_error = wander(&client->dice, client->clock_error, CLOCK_ERROR, CLOCK_WANDERS);
    client->off_yaw = wander(&client->dice, client->off_yaw, client->skill, HAND_WANDERS);
    client->off_pitch = wander(&client->dice, client->off_pitch, client->skill, HAND_WANDERS);
    handle_weapon(client, game, time);
    if (draw(client, game, time, &screen)) {
        struct hs_vec eye = hs_client_true_eye(client, game, time);
        hs_client_follow(client, game, time, &screen, box);
        client->last = screen;
        if (client->foe < 0 || time >= client->foe_until || !screen.poses[client->foe].alive)
            choose_foe(client, game, time, &screen, eye);
        if (client->foe >= 0 && seems_alive(client, game, time)) {
            struct hs_vec path = hs_vec_sub(lead(client, game, time, &screen, eye), eye);
            bool aimed = turn_to(client, hs_vec_scale(path, 1 / fmax(hs_vec_length(path), 1e-6)));
            if (aimed && is_ready(client, time) && is_in_range(client, &screen, eye) &&
                !hs_pose_is_hidden(game->arena, &screen.poses[client->foe], eye)) {
                set_next_shot(client, game, time);
                log_frame(client, time);
                hs_client_fire(client, game, time, &screen, box);
                return;
            }
        }
    }
    log_frame(client, time);
}
