#include "cli/simulate/forgery.h"

#include <math.h>
#include <string.h>

#include "validators/base/units.h"

#define CLEAR  0.03 /* metres by which a forged shot passes a body at least */
#define THIN   0.05 /* metres: five times this is claimed for a ray */
#define TRIES  24
#define LEGS   128 /* of a flight, to look how near it comes */
#define LATEST 0.3 /* seconds: times are forged by up to so much more than is allowed */

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
    const char *name = hs_crowd_name(target);
    mail->target = (int)target;
    mail->hit.target = (struct hs_str){name, strlen(name)};
    for (size_t i = 0; i < mail->hit.pellet_count; i++)
        if (mail->pellets[i].target.ptr != NULL)
            mail->pellets[i].target = mail->hit.target;
}

/* Where the server had somebody. False: before its first frame. */
static bool pose_at(const struct hs_forger *forger, unsigned who, double time,
                    struct hs_sim_pose *out)
{
    struct hs_moment moment;
    if (!hs_film_find(&forger->game->film, time, &moment))
        return false;
    hs_film_pose(&forger->game->film, &moment, who, out);
    return true;
}

static double hit_time(const struct hs_mail *mail)
{
    return hs_seconds(mail->hit.hit_time_us);
}

/* ---- how near a shot comes ---- */

static double trace_gap(const struct hs_forger *forger, const struct hs_mail *mail,
                        struct hs_vec end, const struct hs_sim_pose *pose)
{
    double extension = forger->game->arena->ruleset->hit.sweep_extension;
    struct hs_sweep sweep = hs_sweep_between(mail->hit.start, end, weapon_of(forger, mail)->radius);
    sweep.length += extension;
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
        /* The parabola through both ends: a fall that is 0 at either. */
        double hangs = weapon->gravity * flight * flight / 2 * share * (1 - share);
        struct hs_vec to = hs_vec_lerp(mail->hit.start, mail->hit.end, share);
        to.z += hangs;
        struct hs_sweep sweep = hs_sweep_between(at, to, weapon->radius);
        if (i == LEGS)
            sweep.length += forger->game->arena->ruleset->hit.sweep_extension;
        if (!pose_at(forger, who, from + flight * (share - 0.5 / LEGS), &pose))
            return -1;
        gap = fmin(gap, hs_pose_gap(forger->game->arena, &pose, &sweep));
        at = to;
    }
    return gap - 0.02; /* the body moves within a leg */
}

/* The smallest gap between a claimed shot and somebody's body where the server had it. */
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

/* ---- moving shots about ---- */

/* A vector of that length across a direction. */
static struct hs_vec across(struct hs_forger *forger, struct hs_vec along, double length)
{
    struct hs_vec any = {between(forger, -1, 1), between(forger, -1, 1), between(forger, -1, 1)};
    struct hs_vec side = hs_vec_cross(along, any);
    double size = hs_vec_length(side);
    return size > 1e-6 ? hs_vec_scale(side, length / size) : (struct hs_vec){0, 0, length};
}

/* An end moved by a shift that counts at the distance of the target; the trace keeps its length. */
static struct hs_vec swing(const struct hs_mail *mail, struct hs_vec end, double away,
                           struct hs_vec shift)
{
    struct hs_vec along = hs_vec_sub(end, mail->hit.start);
    double length = hs_vec_length(along);
    struct hs_vec aimed = hs_vec_add_scaled(shift, along, away / length);
    return hs_vec_add_scaled(mail->hit.start, aimed, length / hs_vec_length(aimed));
}

static void swing_all(const struct hs_mail *honest, double away, struct hs_vec shift,
                      struct hs_mail *out)
{
    *out = *honest;
    claim(out, (unsigned)honest->target); /* alone: pellets may have hit others too */
    out->hit.end = swing(honest, honest->hit.end, away, shift);
    for (size_t i = 0; i < honest->hit.pellet_count; i++)
        out->pellets[i].end = swing(honest, honest->pellets[i].end, away, shift);
}

/* Swings a shot until it passes its target by a gap within bounds. */
static bool pass_by(struct hs_forger *forger, const struct hs_mail *honest, const double shift[2],
                    const double gap[2], struct hs_mail *out)
{
    struct hs_sim_pose pose;
    if (honest->target < 0 || !pose_at(forger, (unsigned)honest->target, hit_time(honest), &pose))
        return false;
    pose.position.z += 1;
    double away = fmax(hs_vec_distance(pose.position, honest->hit.start), 0.3);
    struct hs_vec along = hs_vec_sub(honest->hit.end, honest->hit.start);
    for (int i = 0; i < TRIES; i++) {
        double by = between(forger, shift[0], shift[1]);
        swing_all(honest, away, across(forger, along, by), out);
        double passes = gap_to(forger, out, (unsigned)honest->target);
        if (passes >= gap[0] && passes <= gap[1])
            return true;
    }
    return false;
}

static bool forge_beside(struct hs_forger *forger, const struct hs_mail *honest,
                         struct hs_mail *out)
{
    return pass_by(forger, honest, (double[]){1.0, 3.0}, (double[]){0.1, HUGE_VAL}, out);
}

static bool forge_radius(struct hs_forger *forger, const struct hs_mail *honest,
                         struct hs_mail *out)
{
    double radius = fmax(weapon_of(forger, honest)->radius, THIN);
    if (!pass_by(forger, honest, (double[]){0.2, 2.0}, (double[]){CLEAR, 4 * radius}, out))
        return false;
    out->hit.radius = 5 * radius;
    return true;
}

static bool forge_start(struct hs_forger *forger, const struct hs_mail *honest, struct hs_mail *out)
{
    *out = *honest;
    double turn = between(forger, -3.14159, 3.14159), by = between(forger, 1.5, 4);
    out->hit.start.x += by * cos(turn);
    out->hit.start.y += by * sin(turn);
    return true;
}

/* ---- times ---- */

/* The claim as of another moment, aimed at where the target was then. */
static bool move_in_time(const struct hs_forger *forger, const struct hs_mail *honest, double to,
                         struct hs_mail *out)
{
    struct hs_sim_pose then, other;
    *out = *honest;
    int64_t by_us = hs_seconds_to_us(to) - honest->hit.hit_time_us;
    out->hit.hit_time_us += by_us;
    if (weapon_of(forger, honest)->type == HS_WEAPON_PROJECTILE)
        out->hit.fire_time_us += by_us;
    int who = honest->target >= 0 ? honest->target : honest->victim;
    if (!pose_at(forger, (unsigned)who, hit_time(honest), &then) ||
        !pose_at(forger, (unsigned)who, fmin(to, forger->now), &other))
        return false;
    struct hs_vec moved = hs_vec_sub(other.position, then.position);
    out->hit.end = hs_vec_add(out->hit.end, moved);
    for (size_t i = 0; i < out->hit.pellet_count; i++)
        out->pellets[i].end = hs_vec_add(out->pellets[i].end, moved);
    return true;
}

static bool forge_old(struct hs_forger *forger, const struct hs_mail *honest, struct hs_mail *out)
{
    double limit = hs_seconds(forger->game->arena->ruleset->rewind.limit_us);
    double to = forger->now - limit - between(forger, 0.001, LATEST);
    if (!move_in_time(forger, honest, to, out))
        return false;
    if (weapon_of(forger, honest)->type != HS_WEAPON_PROJECTILE)
        out->hit.fire_time_us = out->hit.hit_time_us;
    return true;
}

static bool forge_future(struct hs_forger *forger, const struct hs_mail *honest,
                         struct hs_mail *out)
{
    double slack = hs_seconds(forger->game->arena->ruleset->rewind.future_slack_us);
    return move_in_time(forger, honest, forger->now + slack + between(forger, 0.001, LATEST), out);
}

/* Off the expected time, and where there is room neither too old nor in the future. */
static bool forge_slack(struct hs_forger *forger, const struct hs_mail *honest, struct hs_mail *out)
{
    const struct hs_rewind_rules *rules = &forger->game->arena->ruleset->rewind;
    double slack = hs_seconds(rules->latency_slack_us) + 0.001;
    double room[2] = {forger->expected[0] - slack - (forger->now - hs_seconds(rules->limit_us)),
                      forger->now + hs_seconds(rules->future_slack_us) -
                          (forger->expected[1] + slack)};
    int way = room[1] > 0 && (room[0] <= 0 || hs_dice_pick(&forger->dice, 2) == 1) ? 1 : 0;
    double off = slack + between(forger, 0, room[way] > 0 ? room[way] : LATEST);
    return move_in_time(forger, honest,
                        way == 1 ? forger->expected[1] + off : forger->expected[0] - off, out);
}

/* ---- walls ---- */

/* A line to the middle of somebody, which the world cuts clearly before him. */
static bool is_behind_wall(const struct hs_forger *forger, struct hs_vec from, struct hs_vec to,
                           double radius)
{
    struct hs_world_contact contact;
    struct hs_sweep sweep = hs_sweep_between(from, to, radius);
    return hs_world_sweep(forger->game->arena->world, &sweep, &contact) &&
           contact.distance < sweep.length - 0.8;
}

static bool aim_through_wall(struct hs_forger *forger, const struct hs_mail *honest, unsigned who,
                             struct hs_mail *out)
{
    const struct hs_weapon *weapon = weapon_of(forger, honest);
    struct hs_sim_pose pose;
    if (!pose_at(forger, who, hit_time(honest), &pose) || !pose.alive || pose.is_protected)
        return false;
    struct hs_vec chest = pose.position;
    chest.z += pose.crouched ? 0.9 : 1.1;
    double away = hs_vec_distance(chest, honest->hit.start);
    if (away < 1 || away > weapon->range ||
        !is_behind_wall(forger, honest->hit.start, chest, weapon->world_radius))
        return false;
    *out = *honest;
    claim(out, who);
    out->hit.end = chest;
    out->hit.victim_count = out->hit.pellet_count = 0;
    if (weapon->type != HS_WEAPON_PROJECTILE)
        return true;
    /* It left when it had to, from where he was then; straight enough to be as far up as the wall.
     */
    out->hit.fire_time_us -= hs_seconds_to_us(away / weapon->speed) -
                             (honest->hit.hit_time_us - honest->hit.fire_time_us);
    return weapon->gravity == 0 &&
           hs_vec_distance(
               hs_crowd_place(forger->game->crowd, honest->from, hs_seconds(out->hit.fire_time_us)),
               hs_crowd_place(forger->game->crowd, honest->from,
                              hs_seconds(honest->hit.fire_time_us))) < 0.3;
}

/* A burst whose victim stands behind a wall. */
static bool burst_through_wall(struct hs_forger *forger, const struct hs_mail *honest, unsigned who,
                               struct hs_mail *out)
{
    const struct hs_sim_arena *arena = forger->game->arena;
    struct hs_sim_pose pose;
    struct hs_vec from = honest->hit.end;
    if (honest->target >= 0 || !pose_at(forger, who, hit_time(honest), &pose) || !pose.alive ||
        pose.is_protected ||
        hs_pose_distance(arena, &pose, from) > weapon_of(forger, honest)->blast.radius - 0.1)
        return false;
    /* Hidden from all around the burst: the exact spot of it is the judge's business. */
    for (int i = 0; i < 6; i++) {
        double off = i % 2 == 0 ? 0.12 : -0.12;
        struct hs_vec near = {from.x + (i / 2 == 0 ? off : 0), from.y + (i / 2 == 1 ? off : 0),
                              from.z + (i / 2 == 2 ? off : 0)};
        if (!hs_pose_is_hidden(arena, &pose, near))
            return false;
    }
    const char *name = hs_crowd_name(who);
    *out = *honest;
    out->victims[0] = (struct hs_str){name, strlen(name)};
    out->hit.victim_count = 1;
    return true;
}

static bool forge_wall(struct hs_forger *forger, const struct hs_mail *honest, struct hs_mail *out)
{
    /* A posted shot tells where its pellets and its flight go: the forgery would be another. */
    bool told = forger->game->posts_shots;
    bool bursts = weapon_of(forger, honest)->has_blast;
    unsigned first = hs_dice_pick(&forger->dice, HS_CROWD);
    for (unsigned i = 0; i < HS_CROWD; i++) {
        unsigned who = (first + i) % HS_CROWD;
        if (hs_crowd_team(who) == hs_crowd_team(honest->from))
            continue;
        if ((bursts && burst_through_wall(forger, honest, who, out)) ||
            (!told && aim_through_wall(forger, honest, who, out)))
            return true;
    }
    return false;
}

/* ---- the rest ---- */

static bool forge_aligned(struct hs_forger *forger, const struct hs_mail *honest,
                          struct hs_mail *out)
{
    *out = *honest;
    if (!forger->game->posts_shots || honest->hit.pellet_count < 2)
        return false;
    size_t best = 0;
    while (best < honest->hit.pellet_count && honest->pellets[best].target.ptr == NULL)
        best++;
    for (size_t i = 0; best < honest->hit.pellet_count && i < honest->hit.pellet_count; i++)
        out->pellets[i] = honest->pellets[best];
    return best < honest->hit.pellet_count;
}

static bool forge_weapon(struct hs_forger *forger, const struct hs_mail *honest,
                         struct hs_mail *out)
{
    const struct hs_crowd *crowd = forger->game->crowd;
    double fired = hs_seconds(honest->hit.fire_time_us);
    enum hs_arm arm = (enum hs_arm)hs_dice_pick(&forger->dice, HS_ARMS);
    for (size_t tick = hs_crowd_tick(crowd, fired - 0.15);
         tick <= hs_crowd_tick(crowd, fired + 0.15); tick++)
        if (hs_crowd_at(crowd, honest->from, tick)->arm == arm)
            return false;
    *out = *honest;
    out->hit.weapon = hs_name_str(&forger->game->arena->weapons[arm]->name);
    return true;
}

static bool forge_other(struct hs_forger *forger, const struct hs_mail *honest, struct hs_mail *out)
{
    unsigned who = hs_dice_pick(&forger->dice, HS_CROWD);
    struct hs_sim_pose pose;
    if (honest->target < 0 || (int)who == honest->target ||
        hs_crowd_team(who) == hs_crowd_team(honest->from) ||
        !pose_at(forger, who, hit_time(honest), &pose) || !pose.alive)
        return false;
    *out = *honest;
    out->hit.victim_count = 0;
    claim(out, who);
    return gap_to(forger, out, who) > CLEAR;
}

static bool forge_number(struct hs_forger *forger, const struct hs_mail *honest,
                         struct hs_mail *out)
{
    unsigned who = hs_dice_pick(&forger->dice, HS_CROWD);
    if (honest->target < 0 || (int)who == honest->target || who == honest->from)
        return false;
    *out = *honest;
    claim(out, who);
    return true;
}

bool hs_forge_honest(struct hs_forger *forger, enum hs_forgery kind, const struct hs_mail *honest,
                     struct hs_mail *out)
{
    static bool (*const forge[HS_FORGERIES])(struct hs_forger *, const struct hs_mail *,
                                             struct hs_mail *) = {
        [HS_FORGERY_BESIDE] = forge_beside,   [HS_FORGERY_START] = forge_start,
        [HS_FORGERY_OLD] = forge_old,         [HS_FORGERY_SLACK] = forge_slack,
        [HS_FORGERY_FUTURE] = forge_future,   [HS_FORGERY_WALL] = forge_wall,
        [HS_FORGERY_ALIGNED] = forge_aligned, [HS_FORGERY_RADIUS] = forge_radius,
        [HS_FORGERY_WEAPON] = forge_weapon,   [HS_FORGERY_OTHER] = forge_other,
        [HS_FORGERY_NUMBER] = forge_number,
    };
    return forge[kind] != NULL && forge[kind](forger, honest, out);
}

bool hs_forge_shot(struct hs_forger *forger, unsigned who, struct hs_mail *out)
{
    const struct hs_game *game = forger->game;
    size_t tick = hs_crowd_tick(game->crowd, forger->now);
    const struct hs_person *person = hs_crowd_at(game->crowd, who, tick);
    const struct hs_weapon *weapon = game->arena->weapons[person->arm];
    const char *name = hs_crowd_name(who);
    struct hs_vec eye =
        hs_vec_add(person->position, game->arena->rig->stances[person->crouched ? 1 : 0].eye);
    *out = (struct hs_mail){.from = who, .arm = (enum hs_arm)person->arm, .target = -1};
    if (weapon->type != HS_WEAPON_HITSCAN)
        return false;
    out->hit = (struct hs_hit_claim){.shot = (uint64_t)1 << 40,
                                     .shooter = {name, strlen(name)},
                                     .weapon = hs_name_str(&weapon->name),
                                     .hit_time_us = hs_seconds_to_us(forger->expected[1]),
                                     .has_fire_time = true,
                                     .fire_time_us = hs_seconds_to_us(forger->now),
                                     .start = eye};
    for (unsigned other = 0; other < HS_CROWD; other++) {
        struct hs_sim_pose pose;
        if (hs_crowd_team(other) == hs_crowd_team(who) ||
            !pose_at(forger, other, forger->expected[1], &pose) || !pose.alive || pose.is_protected)
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
