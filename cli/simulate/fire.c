/* The part of a client that fires: posts shots, moves projectiles, and claims the hits that the
   screen shows. */
#include <math.h>
#include <stdlib.h>

#include "cli/simulate/client.h"
#include "validators/base/units.h"
#include "validators/spread.h"

/* Metres. A client draws its own player with an error. PREDICTION is the standard deviation of this
   error on each axis. A lost command adds an error of LOST_PREDICTION. */
#define PREDICTION      0.015
#define LOST_PREDICTION 0.05

static const struct hs_weapon *weapon_of(const struct hs_game *game, const struct hs_mail *mail)
{
    return game->arena->weapons[mail->arm];
}

/* Returns whether a player is an enemy who can be hit. */
static bool is_target(const struct hs_mail *mail, const struct hs_sim_pose poses[HS_CROWD], int who)
{
    return who >= 0 && hs_crowd_team((unsigned)who) != hs_crowd_team(mail->from) &&
           poses[who].alive && !poses[who].is_protected;
}

static void claim_target(const struct hs_game *game, struct hs_mail *mail,
                         const struct hs_first *first)
{
    uint16_t bone = game->arena->rig->hitboxes[first->hitbox].bone;
    mail->target = first->who;
    mail->hit.target = hs_crowd_name((unsigned)first->who);
    mail->hit.claimed_bone = hs_name_str(&game->arena->rig->bones[bone]);
}

/* Returns the end of a claim: the impact, or the point at the range of the weapon. */
static struct hs_vec end_of(const struct hs_game *game, const struct hs_sweep *sweep,
                            const struct hs_first *first)
{
    double travel = game->setup.ends_at_impact ? fmax(first->distance, 0.01) : sweep->length;
    return hs_to_single(hs_vec_add_scaled(sweep->start, sweep->direction, travel));
}

/* Finds what a shot hits first on the screen. */
static void trace(const struct hs_game *game, const struct hs_mail *mail,
                  const struct hs_screen *screen, struct hs_vec direction, struct hs_sweep *sweep,
                  struct hs_first *first)
{
    const struct hs_weapon *weapon = weapon_of(game, mail);
    struct hs_vec far = hs_vec_add_scaled(mail->hit.start, direction, weapon->range);
    struct hs_world_contact wall;
    *sweep = hs_sweep_between(mail->hit.start, hs_to_single(far), weapon->radius);
    sweep->length = fmin(sweep->length, weapon->range);
    struct hs_sweep thin = *sweep;
    thin.radius = weapon->world_radius;
    bool meets_wall = hs_world_sweep(game->arena->world, &thin, &wall);
    *first = (struct hs_first){.who = -1, .distance = meets_wall ? wall.distance : sweep->length};
    for (unsigned who = 0; who < HS_CROWD; who++)
        if (who != mail->from && screen->poses[who].alive &&
            hs_pose_touch(game->arena, &screen->poses[who], sweep, first))
            first->who = (int)who;
}

/* Claims the enemy that a shot without pellets has hit. Returns false if the screen shows no
   hit. */
static bool hit_with_one(const struct hs_game *game, const struct hs_screen *screen,
                         struct hs_mail *mail)
{
    struct hs_sweep sweep;
    struct hs_first first;
    trace(game, mail, screen, mail->direction, &sweep, &first);
    if (!is_target(mail, screen->poses, first.who))
        return false;
    claim_target(game, mail, &first);
    mail->hit.end = end_of(game, &sweep, &first);
    return true;
}

static bool hit_with_pellets(const struct hs_game *game, const struct hs_screen *screen,
                             struct hs_mail *mail)
{
    const struct hs_weapon *weapon = weapon_of(game, mail);
    mail->hit.pellet_count = (size_t)weapon->pellets;
    for (uint32_t i = 0; i < (uint32_t)weapon->pellets; i++) {
        struct hs_sweep sweep;
        struct hs_first first;
        struct hs_vec along =
            hs_spread_direction(mail->direction, weapon->spread_deg * M_PI / 180, mail->seed, i);
        trace(game, mail, screen, along, &sweep, &first);
        mail->pellets[i] = (struct hs_pellet_claim){.end = end_of(game, &sweep, &first)};
        if (!is_target(mail, screen->poses, first.who))
            continue;
        mail->pellets[i].target = hs_crowd_name((unsigned)first.who);
        if (mail->target < 0)
            claim_target(game, mail, &first);
    }
    mail->hit.end = mail->pellets[0].end;
    return mail->target >= 0;
}

bool hs_client_claim(const struct hs_game *game, const struct hs_screen *screen,
                     struct hs_mail *mail)
{
    mail->target = -1;
    return weapon_of(game, mail)->pellets > 1 ? hit_with_pellets(game, screen, mail)
                                              : hit_with_one(game, screen, mail);
}

static void send_mail(struct hs_mailbox *box, const struct hs_mail *mail)
{
    if (box->count == box->capacity) {
        size_t capacity = box->capacity * 2 + 16;
        struct hs_mail *mails = realloc(box->mails, capacity * sizeof *mails);
        if (mails == NULL) {
            box->failed = true;
            return;
        }
        box->mails = mails;
        box->capacity = capacity;
    }
    box->mails[box->count] = *mail;
    box->mails[box->count++].order = box->sent++;
}

static void post_shot(const struct hs_mail *mail, struct hs_mailbox *box)
{
    struct hs_mail shot = *mail;
    shot.is_shot = true;
    shot.shot = (struct hs_shot_claim){.shot = mail->hit.shot,
                                       .shooter = mail->hit.shooter,
                                       .weapon = mail->hit.weapon,
                                       .time_us = mail->hit.fire_time_us,
                                       .origin = mail->hit.start,
                                       .direction = mail->direction,
                                       .has_direction = true,
                                       .has_seed = true,
                                       .seed = mail->seed};
    send_mail(box, &shot);
}

static void send_claim(struct hs_client *client, const struct hs_mail *mail, struct hs_mailbox *box)
{
    client->claims++;
    send_mail(box, mail);
}

static void launch(struct hs_client *client, const struct hs_mail *mail, double speed)
{
    for (int i = 0; i < HS_CLIENT_MISSILES; i++) {
        struct hs_missile *missile = &client->missiles[i];
        if (missile->flies)
            continue;
        *missile = (struct hs_missile){.flies = true,
                                       .mail = *mail,
                                       .velocity = hs_vec_scale(mail->direction, speed),
                                       .flown_to = hs_seconds(mail->hit.fire_time_us)};
        return;
    }
}

static int64_t stamp_hit(struct hs_client *client, const struct hs_game *game, double shown)
{
    return hs_seconds_to_us(shown + game->setup.stamp_error * hs_dice_normal(&client->dice));
}

static void displace(struct hs_vec *eye, double deviation, struct hs_dice *dice)
{
    eye->x += deviation * hs_dice_normal(dice);
    eye->y += deviation * hs_dice_normal(dice);
}

void hs_client_fire(struct hs_client *client, const struct hs_game *game, double time,
                    const struct hs_screen *screen, struct hs_mailbox *box)
{
    const struct hs_weapon *weapon = game->arena->weapons[client->arm];
    struct hs_mail mail = {.from = client->me, .arm = client->arm, .target = -1, .victim = -1};
    unsigned losses;
    /* If a command arrives early, the server keeps the command until the simulation of the shooter
       reaches the time of the command. */
    mail.arrival =
        time + fmax(client->up, hs_link_command(&client->link, time, &client->dice, &losses));
    mail.direction = hs_client_shot_direction(client);
    mail.seed = hs_dice_next(&client->dice) >> 11;
    struct hs_vec eye = hs_client_true_eye(client, game, time);
    displace(&eye, PREDICTION, &client->dice);
    eye = hs_to_single(eye);
    if (losses > 0)
        displace(&eye, LOST_PREDICTION, &client->dice);
    double stamp = time + client->clock_error + client->up + client->up_error;
    mail.hit = (struct hs_hit_claim){
        .shot = ++client->shots,
        .shooter = hs_crowd_name(client->me),
        .weapon = hs_name_str(&weapon->name),
        .has_fire_time = true,
        .fire_time_us = hs_seconds_to_us(stamp),
        .start = hs_to_single(eye),
        .has_radius = true,
        .radius = weapon->radius,
    };
    mail.hit.hit_time_us = stamp_hit(client, game, screen->moment.time);
    if (hs_game_posts(game, client->arm))
        post_shot(&mail, box);
    if (weapon->type == HS_WEAPON_PROJECTILE)
        launch(client, &mail, weapon->speed);
    else if (hs_client_claim(game, screen, &mail))
        send_claim(client, &mail, box);
}

/* ---- projectiles ---- */

static struct hs_vec missile_place(const struct hs_game *game, const struct hs_missile *missile,
                                   double time)
{
    double flown = time - hs_seconds(missile->mail.hit.fire_time_us);
    struct hs_vec place = hs_vec_add_scaled(missile->mail.hit.start, missile->velocity, flown);
    place.z -= weapon_of(game, &missile->mail)->gravity * flown * flown / 2;
    return place;
}

/* Computes the poses at `time`, between the moments that two client frames showed. */
static void blend_screens(const struct hs_screen *from, const struct hs_screen *to, double time,
                          struct hs_sim_pose out[HS_CROWD])
{
    double span = to->moment.time - from->moment.time;
    double alpha = span > 0 ? fmax(0, fmin(1, (time - from->moment.time) / span)) : 1;
    for (int who = 0; who < HS_CROWD; who++) {
        out[who] =
            from->poses[who].jumps == to->poses[who].jumps ? from->poses[who] : to->poses[who];
        out[who].position = hs_vec_lerp(out[who].position, to->poses[who].position, alpha);
    }
}

/* Finds what a missile hits first in the step from `flown_to` to `until`. Sets *share to the
   fraction of the step before the contact, 0 .. 1. During the step each body moves in a straight
   line, so the missile is swept along its path relative to that body. */
static bool touches(const struct hs_game *game, const struct hs_missile *missile, double until,
                    const struct hs_sim_pose before[HS_CROWD],
                    const struct hs_sim_pose after[HS_CROWD], struct hs_first *first, double *share)
{
    double radius = weapon_of(game, &missile->mail)->radius;
    struct hs_vec a = missile_place(game, missile, missile->flown_to);
    struct hs_vec b = missile_place(game, missile, until);
    struct hs_sweep sweep = hs_sweep_between(a, b, radius);
    struct hs_world_contact wall;
    *share = 2;
    *first = (struct hs_first){.who = -1};
    if (hs_world_sweep(game->arena->world, &sweep, &wall)) {
        first->normal = wall.normal;
        *share = wall.distance / sweep.length;
    }
    for (unsigned who = 0; who < HS_CROWD; who++) {
        struct hs_first contact = {.who = (int)who, .distance = HUGE_VAL};
        struct hs_vec moved = hs_vec_sub(after[who].position, before[who].position);
        sweep = hs_sweep_between(a, hs_vec_sub(b, moved), radius);
        if (who == missile->mail.from || !before[who].alive ||
            !hs_pose_touch(game->arena, &before[who], &sweep, &contact) ||
            contact.distance / sweep.length >= *share)
            continue;
        *share = contact.distance / sweep.length;
        *first = contact;
    }
    return *share <= 1;
}

/* Adds victims to the claim: every enemy on the screen who is in reach of the blast and is not
   shielded by a wall. */
static void claim_victims(const struct hs_game *game, struct hs_mail *mail,
                          const struct hs_sim_pose poses[HS_CROWD], struct hs_vec normal)
{
    const struct hs_blast *blast = &weapon_of(game, mail)->blast;
    struct hs_vec from = hs_vec_add_scaled(mail->hit.end, normal, 1e-3);
    for (int who = 0; who < HS_CROWD; who++) {
        if (who == mail->target || !is_target(mail, poses, who) ||
            hs_pose_distance(game->arena, &poses[who], mail->hit.end) > blast->radius ||
            hs_pose_is_hidden(game->arena, &poses[who], from))
            continue;
        if (mail->victim < 0)
            mail->victim = who;
        mail->victims[mail->hit.victim_count++] = hs_crowd_name((unsigned)who);
    }
}

static void strike(struct hs_client *client, const struct hs_game *game, double now, double hit,
                   const struct hs_first *first, const struct hs_screen *screen,
                   struct hs_missile *missile, struct hs_mailbox *box)
{
    struct hs_mail *mail = &missile->mail;
    struct hs_sim_pose poses[HS_CROWD];
    unsigned losses;
    blend_screens(&client->last, screen, hit, poses);
    mail->arrival = now + hs_link_command(&client->link, now, &client->dice, &losses);
    mail->hit.end = hs_to_single(missile_place(game, missile, hit));
    mail->hit.hit_time_us = stamp_hit(client, game, hit);
    /* The missile hit a teammate or a protected player, so there is nothing to claim. */
    if (first->who >= 0 && !is_target(mail, poses, first->who))
        return;
    if (first->who >= 0)
        claim_target(game, mail, first);
    if (weapon_of(game, mail)->has_blast) {
        mail->hit.fuse = HS_FUSE_CONTACT;
        claim_victims(game, mail, poses, first->normal);
    }
    if (mail->target >= 0 || mail->victim >= 0)
        send_claim(client, mail, box);
}

static void fly(struct hs_client *client, const struct hs_game *game, double time,
                const struct hs_screen *screen, struct hs_missile *missile, struct hs_mailbox *box)
{
    const struct hs_weapon *weapon = weapon_of(game, &missile->mail);
    double until = screen->moment.time, share;
    double launched = hs_seconds(missile->mail.hit.fire_time_us);
    struct hs_sim_pose before[HS_CROWD];
    struct hs_first first;
    if (until <= missile->flown_to)
        return;
    blend_screens(&client->last, screen, missile->flown_to, before);
    if (touches(game, missile, until, before, screen->poses, &first, &share)) {
        double hit = missile->flown_to + share * (until - missile->flown_to);
        missile->flies = false;
        if (hit - launched > 0.001)
            strike(client, game, time, hit, &first, screen, missile, box);
        return;
    }
    missile->flown_to = until;
    if (until - launched > hs_seconds(weapon->max_flight_us))
        missile->flies = false;
}

void hs_client_follow(struct hs_client *client, const struct hs_game *game, double time,
                      const struct hs_screen *screen, struct hs_mailbox *box)
{
    for (int i = 0; i < HS_CLIENT_MISSILES; i++)
        if (client->missiles[i].flies)
            fly(client, game, time, screen, &client->missiles[i], box);
}
