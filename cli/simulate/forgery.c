#include "cli/simulate/forgery.h"

#include <math.h>

#include "validators/base/units.h"

#define CLEAR  0.03 /* metres; min gap between a forged shot and the body */
#define THIN   0.05 /* metres; min radius that a forgery multiplies by five */
#define TRIES  24
#define LEGS   128 /* a flight is divided into this many legs, each tested against the body */
#define LATEST 0.3 /* seconds; a forged time exceeds its limit by at most LATEST */

const char *const hs_forgery_names[HS_FORGERIES] = {
#define X(id, name, text) name,
    HS_FORGERY_LIST(X)
#undef X
};

static const struct hs_weapon *weapon_of(const struct hs_forger *forger, const struct hs_mail *mail)
{
    return forger->game->arena->weapons[mail->arm];
}

static double between(struct hs_forger *forger, double low, double high)
{
    return hs_dice_between(&forger->dice, low, high);
}

static void claim(struct hs_mail *mail, unsigned target)
{
    mail->target = (int)target;
    mail->hit.target = hs_crowd_name(target);
    for (size_t i = 0; i < mail->hit.pellet_count; i++)
        if (mail->pellets[i].target.ptr != NULL)
            mail->pellets[i].target = mail->hit.target;
}

static bool pose_at(const struct hs_forger *forger, unsigned who, double time,
                    struct hs_sim_pose *out)
{
    return hs_film_pose(&forger->game->film, time, who, out);
}

/* Finds the pose of player `who`. Returns false if the player is not an enemy who can be hit. */
static bool enemy_at(const struct hs_forger *forger, unsigned from, unsigned who, double time,
                     struct hs_sim_pose *out)
{
    return hs_crowd_team(who) != hs_crowd_team(from) && pose_at(forger, who, time, out) &&
           out->alive && !out->is_protected;
}

static double hit_time(const struct hs_mail *mail)
{
    return hs_seconds(mail->hit.hit_time_us);
}

/* ---- the gap between a shot and a body ---- */

static double trace_gap(const struct hs_forger *forger, const struct hs_mail *mail,
                        struct hs_vec end, const struct hs_sim_pose *pose)
{
    struct hs_sweep sweep = hs_sweep_between(mail->hit.start, end, weapon_of(forger, mail)->radius);
    sweep.length += forger->game->arena->ruleset->hit.sweep_extension;
    return hs_pose_gap(forger->game->arena, pose, &sweep);
}

static double flight_gap(const struct hs_forger *forger, const struct hs_mail *mail, unsigned who)
{
    const struct hs_weapon *weapon = weapon_of(forger, mail);
    double from = hs_seconds(mail->hit.fire_time_us), flight = hit_time(mail) - from;
    double gap = HUGE_VAL;
    struct hs_vec at = mail->hit.start;
    if (!(flight > 0))
        return -1;
    for (int i = 1; i <= LEGS; i++) {
        double share = (double)i / LEGS;
        struct hs_sim_pose pose;
        /* follow the parabola through the start and the end of the claim */
        struct hs_vec to = hs_vec_lerp(mail->hit.start, mail->hit.end, share);
        to.z += weapon->gravity * flight * flight / 2 * share * (1 - share);
        struct hs_sweep sweep = hs_sweep_between(at, to, weapon->radius);
        if (i == LEGS)
            sweep.length += forger->game->arena->ruleset->hit.sweep_extension;
        if (!pose_at(forger, who, from + flight * (share - 0.5 / LEGS), &pose))
            return -1;
        gap = fmin(gap, hs_pose_gap(forger->game->arena, &pose, &sweep));
        at = to;
    }
    return gap - 0.02; /* the margin allows for the body's movement during a leg */
}

/* Returns the smallest gap between a claimed shot and a player's body on the server. Returns -1 if
   the body's pose is unknown. */
static double gap_to(const struct hs_forger *forger, const struct hs_mail *mail, unsigned who)
{
    struct hs_sim_pose pose;
    if (weapon_of(forger, mail)->type == HS_WEAPON_PROJECTILE)
        return flight_gap(forger, mail, who);
    if (!pose_at(forger, who, hit_time(mail), &pose))
        return -1;
    if (mail->hit.pellet_count == 0)
        return trace_gap(forger, mail, mail->hit.end, &pose);
    double gap = HUGE_VAL;
    for (size_t i = 0; i < mail->hit.pellet_count; i++)
        gap = fmin(gap, trace_gap(forger, mail, mail->pellets[i].end, &pose));
    return gap;
}

/* ---- other paths ---- */

/* Returns a random vector of length `length` at a right angle to `along`. */
static struct hs_vec across(struct hs_forger *forger, struct hs_vec along, double length)
{
    struct hs_vec any = {between(forger, -1, 1), between(forger, -1, 1), between(forger, -1, 1)};
    struct hs_vec side = hs_vec_cross(along, any);
    double size = hs_vec_length(side);
    return size > 1e-6 ? hs_vec_scale(side, length / size) : (struct hs_vec){0, 0, length};
}

/* Turns a trace about its start, so that the point at the distance `away` from the start moves by
   about `shift`. Returns the new end. The length stays the same. */
static struct hs_vec swing(struct hs_vec start, struct hs_vec end, double away, struct hs_vec shift)
{
    struct hs_vec along = hs_vec_sub(end, start);
    double length = hs_vec_length(along);
    struct hs_vec aimed = hs_vec_add_scaled(shift, along, away / length);
    return hs_vec_add_scaled(start, aimed, length / hs_vec_length(aimed));
}

/* Turns a shot so that it passes its target with a gap between gap[0] and gap[1]. Tries random
   shifts between shift[0] and shift[1], measured at the target. Lengths are in metres. */
static bool pass_by(struct hs_forger *forger, const double shift[2], const double gap[2],
                    struct hs_mail *mail)
{
    const struct hs_mail honest = *mail;
    struct hs_vec start = honest.hit.start;
    struct hs_sim_pose pose;
    if (honest.target < 0 || !pose_at(forger, (unsigned)honest.target, hit_time(mail), &pose))
        return false;
    pose.position.z += 1;
    double away = fmax(hs_vec_distance(pose.position, start), 0.3);
    claim(mail, (unsigned)honest.target); /* all pellets claim the same target */
    for (int i = 0; i < TRIES; i++) {
        double size = between(forger, shift[0], shift[1]);
        struct hs_vec by = across(forger, hs_vec_sub(honest.hit.end, start), size);
        mail->hit.end = swing(start, honest.hit.end, away, by);
        for (size_t k = 0; k < honest.hit.pellet_count; k++)
            mail->pellets[k].end = swing(start, honest.pellets[k].end, away, by);
        double passes = gap_to(forger, mail, (unsigned)honest.target);
        if (passes >= gap[0] && passes <= gap[1])
            return true;
    }
    return false;
}

static bool forge_beside(struct hs_forger *forger, struct hs_mail *mail)
{
    return pass_by(forger, (double[]){1.0, 3.0}, (double[]){0.1, HUGE_VAL}, mail);
}

static bool forge_radius(struct hs_forger *forger, struct hs_mail *mail)
{
    double radius = fmax(weapon_of(forger, mail)->radius, THIN);
    mail->hit.radius = 5 * radius;
    return pass_by(forger, (double[]){0.2, 2.0}, (double[]){CLEAR, 4 * radius}, mail);
}

static bool forge_start(struct hs_forger *forger, struct hs_mail *mail)
{
    double turn = between(forger, -3.14159, 3.14159), by = between(forger, 1.5, 4);
    mail->hit.start.x += by * cos(turn);
    mail->hit.start.y += by * sin(turn);
    return true;
}

/* ---- other times ---- */

/* Moves a claim to another time, and shifts its end by the target's displacement between the two
   times. */
static bool move_in_time(const struct hs_forger *forger, double to, struct hs_mail *mail)
{
    struct hs_sim_pose then, other;
    unsigned who = (unsigned)(mail->target >= 0 ? mail->target : mail->victim);
    if (!pose_at(forger, who, hit_time(mail), &then) ||
        !pose_at(forger, who, fmin(to, forger->now), &other))
        return false;
    int64_t by_us = hs_seconds_to_us(to) - mail->hit.hit_time_us;
    mail->hit.hit_time_us += by_us;
    if (weapon_of(forger, mail)->type == HS_WEAPON_PROJECTILE)
        mail->hit.fire_time_us += by_us;
    struct hs_vec moved = hs_vec_sub(other.position, then.position);
    mail->hit.end = hs_vec_add(mail->hit.end, moved);
    for (size_t i = 0; i < mail->hit.pellet_count; i++)
        mail->pellets[i].end = hs_vec_add(mail->pellets[i].end, moved);
    return true;
}

static bool forge_old(struct hs_forger *forger, struct hs_mail *mail)
{
    double limit = hs_seconds(forger->game->arena->ruleset->rewind.limit_us);
    if (!move_in_time(forger, forger->now - limit - between(forger, 0.001, LATEST), mail))
        return false;
    if (weapon_of(forger, mail)->type != HS_WEAPON_PROJECTILE)
        mail->hit.fire_time_us = mail->hit.hit_time_us;
    return true;
}

static bool forge_future(struct hs_forger *forger, struct hs_mail *mail)
{
    double slack = hs_seconds(forger->game->arena->ruleset->rewind.future_slack_us);
    return move_in_time(forger, forger->now + slack + between(forger, 0.001, LATEST), mail);
}

/* Sets a hit_time outside the latency slack, but inside the other time limits if possible. */
static bool forge_slack(struct hs_forger *forger, struct hs_mail *mail)
{
    const struct hs_rewind_rules *rules = &forger->game->arena->ruleset->rewind;
    /* Use the largest slacks: the slacks for the noisiest connections. */
    double newer = fmax(hs_seconds(rules->newer_slack_us), hs_seconds(rules->older_slack_us));
    double latest = forger->expected[1] + newer + 0.001;
    double oldest = forger->expected[0] - 2 * hs_seconds(rules->older_slack_us) - 0.001;
    double early = oldest - (forger->now - hs_seconds(rules->limit_us));
    double late = forger->now + hs_seconds(rules->future_slack_us) - latest;
    bool is_late = late > 0 && (early <= 0 || hs_dice_pick(&forger->dice, 2) == 1);
    double space = is_late ? late : early;
    double off = between(forger, 0, space > 0 ? space : LATEST);
    return move_in_time(forger, is_late ? latest + off : oldest - off, mail);
}

/* ---- walls ---- */

/* Aims at an enemy behind a wall. The wall must stop the shot at least 0.8 m before the chest. */
static bool aim_through_wall(struct hs_forger *forger, unsigned who, struct hs_mail *mail)
{
    const struct hs_game *game = forger->game;
    const struct hs_weapon *weapon = weapon_of(forger, mail);
    struct hs_hit_claim *hit = &mail->hit;
    struct hs_sim_pose pose;
    struct hs_world_contact contact;
    if (!enemy_at(forger, mail->from, who, hit_time(mail), &pose))
        return false;
    struct hs_vec chest = pose.position;
    chest.z += pose.crouched ? 0.9 : 1.1;
    struct hs_sweep sweep = hs_sweep_between(hit->start, chest, weapon->world_radius);
    if (sweep.length < 1 || sweep.length > weapon->range ||
        !hs_world_sweep(game->arena->world, &sweep, &contact) ||
        contact.distance >= sweep.length - 0.8)
        return false;
    double fired = hs_seconds(hit->fire_time_us);
    claim(mail, who);
    hit->end = chest;
    hit->victim_count = hit->pellet_count = 0;
    if (weapon->type != HS_WEAPON_PROJECTILE)
        return true;
    /* The fire time must fit the new distance. At the new fire time, the shooter must have been at
       the same place. Weapons with gravity are excluded, because a curved path could go over the
       wall. */
    hit->fire_time_us -=
        hs_seconds_to_us(sweep.length / weapon->speed) - (hit->hit_time_us - hit->fire_time_us);
    struct hs_vec before = hs_crowd_place(game->crowd, mail->from, hs_seconds(hit->fire_time_us));
    return weapon->gravity == 0 &&
           hs_vec_distance(before, hs_crowd_place(game->crowd, mail->from, fired)) < 0.3;
}

/* Claims that the blast hit an enemy behind a wall, and nobody else. */
static bool blast_through_wall(struct hs_forger *forger, unsigned who, struct hs_mail *mail)
{
    const struct hs_sim_arena *arena = forger->game->arena;
    struct hs_sim_pose pose;
    struct hs_vec from = mail->hit.end;
    if (mail->target >= 0 || !enemy_at(forger, mail->from, who, hit_time(mail), &pose) ||
        hs_pose_distance(arena, &pose, from) > weapon_of(forger, mail)->blast.radius - 0.1)
        return false;
    /* The body must be hidden from six points around the claimed end. The checks compute the centre
       of the blast themselves. This computed centre may differ slightly from the claimed end. */
    for (int i = 0; i < 6; i++) {
        double off = i % 2 == 0 ? 0.12 : -0.12;
        struct hs_vec near = {from.x + (i / 2 == 0 ? off : 0), from.y + (i / 2 == 1 ? off : 0),
                              from.z + (i / 2 == 2 ? off : 0)};
        if (!hs_pose_is_hidden(arena, &pose, near))
            return false;
    }
    mail->victims[0] = hs_crowd_name(who);
    mail->hit.victim_count = 1;
    return true;
}

static bool forge_wall(struct hs_forger *forger, struct hs_mail *mail)
{
    const struct hs_mail honest = *mail;
    unsigned first = hs_dice_pick(&forger->dice, HS_CROWD);
    for (unsigned i = 0; i < HS_CROWD; i++) {
        unsigned who = (first + i) % HS_CROWD;
        if (weapon_of(forger, mail)->has_blast && blast_through_wall(forger, who, mail))
            return true;
        /* The path of a posted shot is fixed, so this forgery must not aim in another direction. */
        if (!hs_game_posts(forger->game, mail->arm) && aim_through_wall(forger, who, mail))
            return true;
        *mail = honest;
    }
    return false;
}

/* ---- the rest ---- */

static bool forge_aligned(struct hs_forger *forger, struct hs_mail *mail)
{
    (void)forger;
    if (mail->hit.pellet_count < 2)
        return false;
    for (size_t i = 0; i < mail->hit.pellet_count; i++) {
        const struct hs_pellet_claim pellet = mail->pellets[i];
        if (pellet.target.ptr == NULL)
            continue;
        for (size_t k = 0; k < mail->hit.pellet_count; k++)
            mail->pellets[k] = pellet;
        return true;
    }
    return false;
}

static bool forge_weapon(struct hs_forger *forger, struct hs_mail *mail)
{
    const struct hs_crowd *crowd = forger->game->crowd;
    double fired = hs_seconds(mail->hit.fire_time_us);
    enum hs_arm arm = (enum hs_arm)hs_dice_pick(&forger->dice, HS_ARMS);
    size_t last = hs_crowd_tick(crowd, fired + 0.15);
    for (size_t tick = hs_crowd_tick(crowd, fired - 0.15); tick <= last; tick++)
        if (hs_crowd_at(crowd, mail->from, tick)->arm == arm)
            return false;
    mail->hit.weapon = hs_name_str(&forger->game->arena->weapons[arm]->name);
    return true;
}

static bool forge_other(struct hs_forger *forger, struct hs_mail *mail)
{
    unsigned who = hs_dice_pick(&forger->dice, HS_CROWD);
    struct hs_sim_pose pose;
    if (mail->target < 0 || (int)who == mail->target ||
        hs_crowd_team(who) == hs_crowd_team(mail->from) ||
        !pose_at(forger, who, hit_time(mail), &pose) || !pose.alive)
        return false;
    mail->hit.victim_count = 0;
    claim(mail, who);
    return gap_to(forger, mail, who) > CLEAR;
}

static bool forge_number(struct hs_forger *forger, struct hs_mail *mail)
{
    unsigned who = hs_dice_pick(&forger->dice, HS_CROWD);
    if (mail->target < 0 || (int)who == mail->target || who == mail->from)
        return false;
    claim(mail, who);
    return true;
}

bool hs_forge(struct hs_forger *forger, enum hs_forgery kind, struct hs_mail *mail)
{
    static bool (*const forge[HS_FORGERIES])(struct hs_forger *, struct hs_mail *) = {
        [HS_FORGERY_BESIDE] = forge_beside,   [HS_FORGERY_START] = forge_start,
        [HS_FORGERY_OLD] = forge_old,         [HS_FORGERY_SLACK] = forge_slack,
        [HS_FORGERY_FUTURE] = forge_future,   [HS_FORGERY_WALL] = forge_wall,
        [HS_FORGERY_ALIGNED] = forge_aligned, [HS_FORGERY_RADIUS] = forge_radius,
        [HS_FORGERY_WEAPON] = forge_weapon,   [HS_FORGERY_OTHER] = forge_other,
        [HS_FORGERY_NUMBER] = forge_number,
    };
    return forge[kind] != NULL && forge[kind](forger, mail);
}

bool hs_forge_shot(struct hs_forger *forger, unsigned who, struct hs_mail *out)
{
    const struct hs_game *game = forger->game;
    size_t tick = hs_crowd_tick(game->crowd, forger->now);
    const struct hs_sim_pose *shooter = hs_crowd_at(game->crowd, who, tick);
    const struct hs_weapon *weapon = game->arena->weapons[shooter->arm];
    struct hs_vec eye =
        hs_vec_add(shooter->position, game->arena->rig->stances[shooter->crouched ? 1 : 0].eye);
    *out = (struct hs_mail){.from = who, .arm = shooter->arm, .target = -1};
    out->hit = (struct hs_hit_claim){.shot = (uint64_t)1 << 40,
                                     .shooter = hs_crowd_name(who),
                                     .weapon = hs_name_str(&weapon->name),
                                     .hit_time_us = hs_seconds_to_us(forger->expected[1]),
                                     .has_fire_time = true,
                                     .fire_time_us = hs_seconds_to_us(forger->now),
                                     .start = eye};
    bool is_fit = weapon->type == HS_WEAPON_HITSCAN && !hs_game_posts(game, shooter->arm);
    for (unsigned other = 0; is_fit && other < HS_CROWD; other++) {
        struct hs_sim_pose pose;
        if (!enemy_at(forger, who, other, forger->expected[1], &pose))
            continue;
        struct hs_vec chest = pose.position;
        chest.z += 1.1;
        double away = hs_vec_distance(chest, eye);
        if (away < 1 || away > weapon->range || hs_world_blocks(game->arena->world, eye, chest))
            continue;
        out->hit.end = chest;
        claim(out, other);
        return true;
    }
    return false;
}
