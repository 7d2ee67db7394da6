#include "cli/simulate/client.h"

#include <math.h>

#include "validators/base/units.h"

#define PI 3.14159265358979323846
#define DT (1.0 / HS_CROWD_HZ)

#define CLOCK_ERROR   0.003 /* seconds: deviation of a client's idea of the server's clock */
#define CLOCK_WANDERS 5.0   /* seconds in which that becomes another one */
#define HAND_WANDERS  0.15  /* seconds, the same of a hand */
#define TURN          12.0  /* rad/s: the fastest aiming */
#define FLICK         60.0  /* rad/s: turning round */
#define DRAW_SECONDS  0.4   /* from one weapon to the next */
#define SHOWN_AGAIN   0.2   /* seconds of the film looked through for an older snapshot */

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
    /* Two snapshots, so that one may be lost, as far as the rules believe it. */
    client->interp = fmin(2 * game->snapshot_gap, 0.1);
    client->up = client->link.base / 2 + 1.5 * client->link.jitter;
    client->up_error = CLOCK_ERROR * hs_dice_normal(dice);
    client->clock_error = CLOCK_ERROR * hs_dice_normal(dice);
    client->skill = hs_dice_between(dice, 0.4, 1.6) * PI / 180;
    client->look = (struct hs_vec){1, 0, 0};
    for (int arm = 0; arm < HS_ARMS; arm++)
        fill_magazine(client, game, (enum hs_arm)arm);
}

void hs_client_send_snapshot(struct hs_client *client, const struct hs_game *game, size_t frame)
{
    bool lost = hs_link_loses(&client->dice);
    double delay = hs_link_delay(&client->link, &client->dice);
    if (!lost)
        client->arrivals[frame] = game->film.frames[frame].time + delay;
}

static double wander(struct hs_dice *dice, double value, double deviation, double seconds)
{
    double kept = exp(-DT / seconds);
    return kept * value + sqrt(1 - kept * kept) * deviation * hs_dice_normal(dice);
}

/* The newest snapshot that is here of those up to a frame; false: none within reach. */
static bool newest_here(const struct hs_client *client, const struct hs_game *game, double now,
                        size_t frame, size_t *out)
{
    double oldest = game->film.frames[frame].time - SHOWN_AGAIN;
    for (size_t i = frame + 1; i-- > 0 && game->film.frames[i].time >= oldest;) {
        if (client->arrivals[i] <= now) {
            *out = i;
            return true;
        }
    }
    return false;
}

/*
 * What the screen shows: the moment a client chooses by its idea of the server's clock, between
 * the snapshots it has. Where none after it has come, the newest stays on the screen, and that is
 * the moment shown: nothing is extrapolated.
 */
static bool show(const struct hs_client *client, const struct hs_game *game, double now,
                 struct hs_screen *out)
{
    const struct hs_film *film = &game->film;
    double wanted =
        now + client->clock_error - client->link.base / 2 - client->link.jitter - client->interp;
    struct hs_moment *moment = &out->moment;
    if (!hs_film_find(film, wanted, moment) ||
        !newest_here(client, game, now, moment->from, &moment->from))
        return false;
    size_t next = moment->from + 1;
    while (next < film->count && !(client->arrivals[next] <= now))
        next++;
    double from = film->frames[moment->from].time;
    if (next < film->count) {
        double to = film->frames[next].time;
        *moment = (struct hs_moment){moment->from, next, (wanted - from) / (to - from), wanted};
    } else {
        *moment = (struct hs_moment){moment->from, moment->from, 0, from};
    }
    for (unsigned who = 0; who < HS_CROWD; who++)
        hs_film_pose_sent(film, moment, who, &out->poses[who]);
    return true;
}

/* ---- whom he looks at ---- */

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

/* Where on the foe he aims: mostly the chest, sometimes the head or the legs. */
static struct hs_vec aim_point(const struct hs_client *client, const struct hs_sim_pose *pose)
{
    struct hs_vec point = pose->position;
    bool head = client->aim_height > 0.75, legs = client->aim_height < 0.1;
    point.z += head ? (pose->crouched ? 1.1 : 1.6) : legs ? 0.5 : 1.1;
    return point;
}

/* What flies is aimed at where the foe will be, and above it where it falls. */
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
        point.z = 0.1; /* rockets are shot at feet */
    return point;
}

/* Turns to a direction as fast as he can. True: he looks there. */
static bool turn_to(struct hs_client *client, struct hs_vec wanted)
{
    double off = acos(fmax(-1, fmin(1, hs_vec_dot(client->look, wanted))));
    double most = (off > 1 ? FLICK : TURN) * DT;
    if (off <= most) {
        client->look = wanted;
        return true;
    }
    struct hs_vec across =
        hs_vec_sub(wanted, hs_vec_scale(client->look, hs_vec_dot(client->look, wanted)));
    double length = hs_vec_length(across);
    across = length > 1e-9 ? hs_vec_scale(across, 1 / length) : (struct hs_vec){0, 0, 1};
    client->look = hs_vec_add_scaled(hs_vec_scale(client->look, cos(most)), across, sin(most));
    client->look = hs_vec_scale(client->look, 1 / hs_vec_length(client->look));
    return off <= 0.05;
}

/* ---- a frame ---- */

static void note_doing(struct hs_client *client, double time)
{
    client->log[client->frames++ % HS_CLIENT_LOG] =
        (struct hs_doing){.time = time,
                          .look = hs_client_aim(client),
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

/* He hears of his own death and life from the server; what he does he sees at once. */
static bool thinks_he_lives(const struct hs_client *client, const struct hs_game *game, double time)
{
    double heard = time - client->link.base / 2;
    return hs_crowd_at(game->crowd, client->me, hs_crowd_tick(game->crowd, heard))->alive;
}

static void handle_weapon(struct hs_client *client, const struct hs_game *game, double time)
{
    size_t tick = hs_crowd_tick(game->crowd, time + client->up);
    enum hs_arm arm = (enum hs_arm)hs_crowd_at(game->crowd, client->me, tick)->arm;
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

/* Within what the weapon is good for. */
static bool is_in_reach(const struct hs_client *client, const struct hs_screen *screen,
                        struct hs_vec eye)
{
    static const double reach[HS_ARMS] = {60, 14, 30, 30, 1.7};
    static const double nearest[HS_ARMS] = {0, 0, 2, 4, 0};
    struct hs_vec way = hs_vec_sub(screen->poses[client->foe].position, eye);
    double away = hypot(way.x, way.y);
    return away <= reach[client->arm] && away >= nearest[client->arm];
}

static bool is_ready(const struct hs_client *client, double time)
{
    return time >= client->ready_at[client->arm] && time >= client->drawn_at &&
           client->rounds[client->arm] != 0 && client->reload_until == 0;
}

/* The weapon's own pace on the average, give or take a frame; by hand some wait longer. */
static void note_fired(struct hs_client *client, const struct hs_game *game, double time)
{
    static const double by_hand[HS_ARMS] = {0, 0.1, 0.9, 0.9, 0};
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
    if (show(client, game, time, &screen)) {
        struct hs_vec eye = hs_client_true_eye(client, game, time);
        hs_client_follow(client, game, time, &screen, box);
        client->last = screen;
        if (client->foe < 0 || time >= client->foe_until || !screen.poses[client->foe].alive)
            choose_foe(client, game, time, &screen, eye);
        if (client->foe >= 0 && thinks_he_lives(client, game, time)) {
            struct hs_vec way = hs_vec_sub(lead(client, game, time, &screen, eye), eye);
            bool aimed = turn_to(client, hs_vec_scale(way, 1 / fmax(hs_vec_length(way), 1e-6)));
            if (aimed && is_ready(client, time) && is_in_reach(client, &screen, eye) &&
                !hs_pose_is_hidden(game->arena, &screen.poses[client->foe], eye)) {
                note_fired(client, game, time);
                note_doing(client, time);
                hs_client_fire(client, game, time, &screen, box);
                return;
            }
        }
    }
    note_doing(client, time);
}
