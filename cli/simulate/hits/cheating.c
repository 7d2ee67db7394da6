/*
 * Plays one skirmish in several matches at once. In one match all players are honest; these players
 * are the twins. In each of the other matches all players use the same cheat. The matches can share
 * the skirmish, because shots change nothing in the skirmish. Before a cheat sends a claim, the
 * cheat verifies every possible claim in its own match. The cheat then sends the claim with the
 * most damage. So no real client can gain more with the same choices.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/simulate/hits/simulation.h"
#include "cli/simulate/skirmish.h"
#include "validators/base/units.h"
#include "validators/match.h"

enum { PAID = 32, PAST = 512, TIME_STEPS = 45, FIRE_STEPS = 10, SIDES = 8, HEIGHTS = 2 };

#define ROUNDING  0.01 /* metres; rounding of coordinates can move a path by this much */
#define TIME_STEP 0.01 /* seconds between two hit times that a cheat tries */
/* Degrees, added to the standard deviation of the aiming error. With this value, a third to a half
   of the twins' rifle shots hit. If nearly all shots of the twins hit, the cheats could gain
   nothing. */
#define AIM_ERROR 2.0

#define AMBUSH_EVERY 1.0  /* min seconds between two ambush shots by one player */
#define AMBUSH_TICKS 12   /* each player may ambush once in this many ticks */
#define AMBUSH_RANGE 30.0 /* metres */
/* Pass this value as `extent` to try_claim if the extent is a number of hits. `settle` then counts
   the hits that the player has sent. */
#define COUNTED (-1.0)

/* A cheat that plays in its own match. */
struct play {
    const struct hs_cheat *cheat;
    struct hs_cheat_count *count;
    struct hs_match *match;
    double hits[HS_CROWD], damage[HS_CROWD], counted[HS_CROWD];
    double ready[HS_CROWD]; /* earliest time of the next ambush shot */
    uint64_t ambushes[HS_CROWD];
    uint64_t paid[HS_CROWD][PAID]; /* shot numbers of accepted hits */
    size_t paid_count[HS_CROWD];
    uint64_t released; /* how many of the held packets have been sent */
};

struct run {
    struct hs_skirmish *skirmish;
    struct hs_match *twin;
    double twin_hits[HS_CROWD][HS_ARMS], twin_damage[HS_CROWD][HS_ARMS];
    struct play plays[HS_CHEATS];
    struct {
        double at;
        struct hs_mail shot;
    } past[PAST]; /* the most recent shots, for cheats that hold packets */
    uint64_t past_count;
    struct play *play; /* the cheat that is choosing its claim */
    struct hs_screen screen;
    struct hs_mail best; /* the best claim that this cheat has tried; none if `value` is 0 */
    double value, extent;
    struct hs_hit_result result;
};

static const struct hs_weapon *weapon_of(const struct run *run, const struct hs_mail *mail)
{
    return run->skirmish->game.arena->weapons[mail->arm];
}

/* ---- verification ---- */

static bool post(struct run *run, struct hs_match *match, const struct hs_mail *mail)
{
    int64_t forward_us;
    hs_shot_verify(match, &mail->shot, run->skirmish->now_us, &run->result, &forward_us);
    return run->result.replay != NULL ||
           hs_shot_record(match, &mail->shot, &run->result, HS_STR("{}"));
}

static bool play_twin(struct run *run, const struct hs_mail *mail)
{
    if (mail->is_shot)
        return post(run, run->twin, mail);
    struct hs_hit_claim claim = hs_mail_claim(mail);
    hs_hit_verify(run->twin, &claim, run->skirmish->now_us, &run->result);
    if (run->result.verdict == HS_VERDICT_ACCEPTED) {
        run->twin_hits[mail->from][mail->arm]++;
        run->twin_damage[mail->from][mail->arm] += run->result.damage_total;
    }
    return hs_hit_record(run->twin, &claim, &run->result, HS_STR("{}"));
}

/* Returns where a player's eye is on the server at `time`. */
static struct hs_vec eye_at(const struct run *run, unsigned who, double time)
{
    const struct hs_game *game = &run->skirmish->game;
    const struct hs_sim_pose *pose =
        hs_crowd_at(game->crowd, who, hs_crowd_tick(game->crowd, time));
    return hs_vec_add(hs_crowd_place(game->crowd, who, time),
                      game->arena->rig->stances[pose->crouched].eye);
}

/* Returns whether the shooter's true eye sees the impact in `run->result`. */
static bool is_in_sight(const struct run *run, const struct hs_mail *mail)
{
    /* the line of sight ends before the impact, by this fraction of its length, because the body
       may touch a wall */
    const double drawn_in = 0.005;
    struct hs_vec eye = eye_at(run, mail->from, hs_seconds(mail->hit.fire_time_us));
    return !hs_world_blocks(run->skirmish->game.arena->world, eye,
                            hs_vec_lerp(run->result.impact.point, eye, drawn_in));
}

/* Verifies a claim. If the claim is accepted with more damage than the best claim so far, stores
   the claim as the best claim. */
static void try_claim(struct run *run, const struct hs_mail *mail, double extent)
{
    struct play *play = run->play;
    struct hs_hit_claim claim = hs_mail_claim(mail);
    hs_hit_verify(play->match, &claim, run->skirmish->now_us, &run->result);
    play->count->claims++;
    if (run->result.replay != NULL || run->result.verdict != HS_VERDICT_ACCEPTED) {
        play->count
            ->reasons[run->result.replay != NULL ? HS_REASON_DUPLICATE : run->result.reason]++;
        return;
    }
    double value = 1 + run->result.damage_total;
    /* The cheat `lean` gains nothing from a hit if the shooter's true eye can see the impact,
       too. */
    if (value <= run->value || (play->cheat->kind == HS_CHEAT_LEAN && is_in_sight(run, mail)))
        return;
    run->value = value;
    run->extent = extent;
    run->best = *mail;
}

/* Sends the best of the claims that try_claim found acceptable. Does nothing if try_claim found no
   acceptable claim. Returns false if memory runs out. */
static bool settle(struct run *run)
{
    struct play *play = run->play;
    if (run->value <= 0)
        return true;
    unsigned who = run->best.from;
    struct hs_hit_claim claim = hs_mail_claim(&run->best);
    hs_hit_verify(play->match, &claim, run->skirmish->now_us, &run->result);
    hs_cheat_count_accepted(play->count, &run->result);
    play->hits[who]++;
    play->damage[who] += run->result.damage_total;
    play->paid[who][play->paid_count[who]++ % PAID] = claim.shot;
    if (run->extent < 0)
        run->extent = ++play->counted[who];
    play->count->extent = fmax(play->count->extent, run->extent);
    run->value = 0;
    return hs_hit_record(play->match, &claim, &run->result, HS_STR("{}"));
}

/* ---- aim ---- */

/* Fills the screen with the server's poses at the mail's hit_time. Returns false if this time is
   before the first frame. */
static bool see(struct run *run, const struct hs_mail *mail)
{
    double time = hs_seconds(mail->hit.hit_time_us);
    if (run->screen.moment.time == time)
        return true;
    for (unsigned who = 0; who < HS_CROWD; who++)
        if (!hs_film_pose(&run->skirmish->game.film, time, who, &run->screen.poses[who]))
            return false;
    run->screen.moment.time = time;
    return true;
}

/* Tries to claim what the shot hits at its hit_time. */
static void try_aimed(struct run *run, const struct hs_mail *shot, double extent)
{
    struct hs_mail mail = *shot;
    if (see(run, &mail) && hs_client_claim(&run->skirmish->game, &run->screen, &mail))
        try_claim(run, &mail, extent);
}

/* Aims at the chest or the head of player `who` at the mail's hit_time. Returns false if this
   player is not an enemy who can be hit, or is too close. */
static bool aim_at(struct run *run, struct hs_mail *mail, unsigned who, int height,
                   struct hs_vec *point)
{
    static const double heights[2][HEIGHTS] = {{1.15, 1.6}, {0.85, 1.1}};
    const struct hs_sim_pose *pose = &run->screen.poses[who];
    if (hs_crowd_team(who) == hs_crowd_team(mail->from) || !see(run, mail) || !pose->alive ||
        pose->is_protected)
        return false;
    *point = pose->position;
    point->z += heights[pose->crouched][height];
    struct hs_vec path = hs_vec_sub(*point, mail->hit.start);
    double length = hs_vec_length(path);
    if (length < 0.3)
        return false;
    mail->direction = hs_vec_scale(path, 1 / length);
    return true;
}

static double angle_between(struct hs_vec a, struct hs_vec b)
{
    return acos(fmax(-1, fmin(1, hs_vec_dot(a, b)))) * 180 / M_PI;
}

/* Turns a direction towards another direction, by at most `degrees`. */
static struct hs_vec steer(struct hs_vec from, struct hs_vec to, double degrees)
{
    if (angle_between(from, to) <= degrees)
        return to;
    struct hs_vec side = hs_vec_sub(to, hs_vec_scale(from, hs_vec_dot(from, to)));
    double length = hs_vec_length(side), turn = degrees * M_PI / 180;
    if (length < 1e-9)
        return from;
    return hs_vec_add_scaled(hs_vec_scale(from, cos(turn)), side, sin(turn) / length);
}

/* ---- the choices ---- */

/* Tries the honest hit_time first, and then earlier and later times, nearest first. */
static void try_times(struct run *run, const struct hs_mail *shot)
{
    for (int i = 0; i <= 2 * TIME_STEPS; i++) {
        struct hs_mail mail = *shot;
        int steps = (i + 1) / 2;
        double off = (i % 2 == 1 ? -TIME_STEP : TIME_STEP) * steps;
        int64_t off_us = hs_seconds_to_us(off);
        mail.hit.hit_time_us += off_us;
        double newest = run->skirmish->now + 0.05;
        if (hs_seconds(mail.hit.hit_time_us) > newest || !see(run, &mail) ||
            !hs_client_claim(&run->skirmish->game, &run->screen, &mail))
            continue;
        try_claim(run, &mail, fmax(0, -off));
        if (run->play->cheat->amount <= 0)
            continue;
        mail.hit.fire_time_us += off_us;
        try_claim(run, &mail, fmax(0, -off));
        mail.hit.has_fire_time = false;
        try_claim(run, &mail, fmax(0, -off));
    }
}

/* Tries launches from the shooter's eye, and from high above the target. */
static void try_launches(struct run *run, const struct hs_mail *shot)
{
    static const double ages[] = {0, 0.3, 1.1, 1.6}; /* seconds of flight; 0: from the eye */
    const struct hs_weapon *weapon = weapon_of(run, shot);
    for (unsigned i = 0; i < HS_CROWD * sizeof ages / sizeof ages[0]; i++) {
        struct hs_mail mail = *shot;
        struct hs_vec point;
        double age = ages[i / HS_CROWD], hit = hs_seconds(mail.hit.hit_time_us);
        if (!aim_at(run, &mail, i % HS_CROWD, 0, &point))
            continue;
        mail.target = (int)(i % HS_CROWD);
        mail.hit.target = hs_crowd_name(i % HS_CROWD);
        mail.hit.end = mail.hit.start = point;
        mail.hit.fuse = weapon->has_blast ? HS_FUSE_CONTACT : HS_FUSE_ANY;
        mail.hit.start.z += weapon->speed * age + weapon->gravity * age * age / 2;
        for (int k = 0; k < 4 && ages[i / HS_CROWD] == 0; k++) {
            mail.hit.start = eye_at(run, mail.from, hit - age);
            struct hs_vec path = hs_vec_sub(point, mail.hit.start);
            path.z += weapon->gravity * age * age / 2;
            age = hs_vec_length(path) / weapon->speed;
        }
        mail.hit.fire_time_us = hs_seconds_to_us(hit - age);
        try_claim(run, &mail, COUNTED);
    }
}

static void try_pellets(struct run *run, const struct hs_mail *shot)
{
    const struct hs_cheat *cheat = run->play->cheat;
    for (unsigned i = 0; i < HS_CROWD * HEIGHTS; i++) {
        struct hs_mail mail = *shot;
        struct hs_vec point;
        if (!aim_at(run, &mail, i / HEIGHTS, (int)(i % HEIGHTS), &point))
            continue;
        struct hs_vec along = steer(shot->direction, mail.direction, cheat->amount);
        mail.hit.target = hs_crowd_name(i / HEIGHTS);
        mail.hit.end =
            hs_vec_add_scaled(mail.hit.start, along, hs_vec_distance(point, mail.hit.start));
        mail.hit.pellet_count = (size_t)weapon_of(run, shot)->pellets;
        for (size_t k = 0; k < mail.hit.pellet_count; k++)
            mail.pellets[k] = (struct hs_pellet_claim){mail.hit.end, mail.hit.target};
        try_claim(run, &mail, cheat->posts ? angle_between(shot->direction, along) : COUNTED);
    }
}

/* Chooses the seed with which the most pellets hit. */
static void choose_seed(struct run *run, struct hs_mail *shot)
{
    struct hs_mail mail = *shot;
    size_t most = 0;
    for (uint64_t seed = 1; (double)seed <= run->play->cheat->amount && see(run, &mail); seed++) {
        size_t hits = 0;
        mail.seed = seed;
        if (!hs_client_claim(&run->skirmish->game, &run->screen, &mail))
            continue;
        for (size_t i = 0; i < mail.hit.pellet_count; i++)
            hits += mail.pellets[i].target.ptr != NULL;
        if (hits > most)
            shot->seed = shot->shot.seed = seed;
        most = hits > most ? hits : most;
    }
}

static void try_honest(struct run *run, const struct hs_mail *shot)
{
    try_aimed(run, shot, run->play->cheat->kind == HS_CHEAT_HOLD ? run->play->cheat->amount : 0);
}

/* Returns the angle between the posted direction and the claimed path, in degrees, or 0 if rounding
   of the coordinates can explain the angle. */
static double steered(const struct hs_mail *shot, const struct hs_mail *mail)
{
    double angle = angle_between(shot->direction, mail->direction);
    double length = hs_vec_distance(mail->hit.start, mail->hit.end);
    return length * sin(angle * M_PI / 180) > ROUNDING ? angle : 0;
}

static void try_beside(struct run *run, const struct hs_mail *shot)
{
    const struct hs_game *game = &run->skirmish->game;
    double degrees = run->play->cheat->amount;
    try_aimed(run, shot, 0);
    for (unsigned i = 0; i < HS_CROWD * HEIGHTS; i++) {
        struct hs_mail mail = *shot;
        struct hs_vec point;
        if (!aim_at(run, &mail, i / HEIGHTS, (int)(i % HEIGHTS), &point) ||
            angle_between(shot->direction, mail.direction) > degrees + 10)
            continue;
        mail.direction = steer(shot->direction, mail.direction, degrees);
        if (hs_client_claim(game, &run->screen, &mail))
            try_claim(run, &mail, steered(shot, &mail));
    }
}

/* Fires again with the shot number of an earlier accepted hit. The `amount` of the cheat is the
   number of hits that were accepted after the earlier hit. */
static bool repeat_number(struct run *run, const struct hs_mail *shot)
{
    struct play *play = run->play;
    size_t back = (size_t)play->cheat->amount, count = play->paid_count[shot->from];
    if (count <= back)
        return true;
    struct hs_mail mail = *shot;
    mail.hit.shot = play->paid[shot->from][(count - 1 - back) % PAID];
    mail.hit.start.z += 0.01;
    try_aimed(run, &mail, COUNTED);
    return settle(run);
}

/* Makes the cheat fire the shot and claim the best hit that it can choose. Returns false if memory
   runs out. */
static bool pull(struct run *run, struct play *play, const struct hs_mail *shot)
{
    static void (*const tries[])(struct run *, const struct hs_mail *) = {
        [HS_CHEAT_TIMES] = try_times,     [HS_CHEAT_LAUNCHES] = try_launches,
        [HS_CHEAT_PELLETS] = try_pellets, [HS_CHEAT_SEEDS] = try_honest,
        [HS_CHEAT_BESIDE] = try_beside,   [HS_CHEAT_NUMBERS] = try_honest,
        [HS_CHEAT_HOLD] = try_honest,
    };
    struct hs_mail mine = *shot;
    run->play = play;
    if (play->cheat->kind == HS_CHEAT_SEEDS)
        choose_seed(run, &mine);
    mine.shot.has_seed = play->cheat->kind != HS_CHEAT_PELLETS;
    if (play->cheat->posts && !post(run, play->match, &mine))
        return false;
    tries[play->cheat->kind](run, &mine);
    return settle(run) && (play->cheat->kind != HS_CHEAT_NUMBERS || repeat_number(run, &mine));
}

/* ---- shots that no honest player fires ---- */

/* Tries shots at one enemy from places beside the shooter (lean), or from where the shooter was
   earlier. */
static void try_ambush(struct run *run, const struct hs_mail *shot, unsigned who)
{
    const struct hs_cheat *cheat = run->play->cheat;
    bool leans = cheat->kind == HS_CHEAT_LEAN;
    for (int i = 0; i < (leans ? SIDES : 2 * FIRE_STEPS) * HEIGHTS; i++) {
        struct hs_mail mail = *shot;
        struct hs_vec point;
        int choice = i / HEIGHTS, steps = choice / 2 + 1;
        double back = cheat->amount * steps / FIRE_STEPS, turn = 2 * M_PI * choice / SIDES;
        if (leans) {
            mail.hit.start.x += cheat->amount * cos(turn);
            mail.hit.start.y += cheat->amount * sin(turn);
        } else {
            mail.hit.fire_time_us -= hs_seconds_to_us(back);
            mail.hit.start = eye_at(run, mail.from, hs_seconds(mail.hit.fire_time_us));
            if (choice % 2 == 1)
                mail.hit.hit_time_us -= hs_seconds_to_us(back);
        }
        if (aim_at(run, &mail, who, i % HEIGHTS, &point))
            try_aimed(run, &mail, leans ? cheat->amount : back);
    }
}

/* Fires for a player who is dead or behind cover, at enemies that the player cannot shoot now.
   Returns false if memory runs out. */
static bool ambush(struct run *run, struct play *play, unsigned who)
{
    struct hs_skirmish *skirmish = run->skirmish;
    const struct hs_game *game = &skirmish->game;
    const struct hs_weapon *rifle = game->arena->weapons[HS_ARM_RIFLE];
    double grace = hs_seconds(game->arena->ruleset->hit.death_grace_us);
    bool dies = play->cheat->kind == HS_CHEAT_DEATH;
    bool dead = hs_crowd_dead_for(game->crowd, who, skirmish->now) > grace;
    if (skirmish->now < play->ready[who] || dead != dies || !hs_skirmish_expect(skirmish, who) ||
        hs_crowd_at(game->crowd, who, skirmish->tick)->arm != HS_ARM_RIFLE)
        return true;
    struct hs_mail shot = {.from = who, .arm = HS_ARM_RIFLE, .target = -1, .victim = -1};
    shot.hit = (struct hs_hit_claim){.shot = play->ambushes[who] + 1,
                                     .shooter = hs_crowd_name(who),
                                     .weapon = hs_name_str(&rifle->name),
                                     .hit_time_us = hs_seconds_to_us(skirmish->forger.expected[1]),
                                     .has_fire_time = true,
                                     .fire_time_us = skirmish->now_us,
                                     .start = eye_at(run, who, skirmish->now)};
    run->play = play;
    for (unsigned other = 0; other < HS_CROWD; other++) {
        struct hs_mail mail = shot;
        struct hs_vec point;
        if (aim_at(run, &mail, other, 0, &point) &&
            hs_vec_distance(point, shot.hit.start) <= AMBUSH_RANGE &&
            (dies || hs_pose_is_hidden(game->arena, &run->screen.poses[other], shot.hit.start)))
            try_ambush(run, &shot, other);
    }
    if (run->value > 0) {
        play->ambushes[who]++;
        play->ready[who] = skirmish->now + AMBUSH_EVERY;
    }
    return settle(run);
}

static bool is_ambush(const struct hs_cheat *cheat)
{
    return cheat->kind == HS_CHEAT_COVER || cheat->kind == HS_CHEAT_DEATH ||
           cheat->kind == HS_CHEAT_LEAN;
}

/* ---- a tick ---- */

/* Fires the shots whose packets have been held long enough. Returns false if memory runs out. */
static bool release(struct run *run, struct play *play)
{
    for (; play->released < run->past_count; play->released++) {
        const struct hs_mail *shot = &run->past[play->released % PAST].shot;
        if (run->past[play->released % PAST].at + play->cheat->amount > run->skirmish->now)
            break;
        if (shot->arm == play->cheat->arm && !pull(run, play, shot))
            return false;
    }
    return true;
}

static bool take_mail(struct run *run)
{
    struct hs_mail mail;
    bool good = true;
    while (good && hs_skirmish_take(run->skirmish, &mail)) {
        good = play_twin(run, &mail);
        if (!mail.is_shot)
            continue;
        run->past[run->past_count % PAST].at = run->skirmish->now;
        run->past[run->past_count++ % PAST].shot = mail;
        for (int i = 0; good && i < HS_CHEATS; i++) {
            struct play *play = &run->plays[i];
            if (play->match != NULL && !is_ambush(play->cheat) &&
                play->cheat->kind != HS_CHEAT_HOLD && play->cheat->arm == mail.arm)
                good = pull(run, play, &mail);
        }
    }
    return good;
}

static bool play_tick(struct run *run)
{
    const struct hs_skirmish *skirmish = run->skirmish;
    enum hs_frame_result results[HS_CROWD];
    unsigned flags;
    bool warm = hs_skirmish_is_warm(skirmish);
    bool good = hs_match_post_frame(run->twin, skirmish->frame, results, &flags);
    for (int i = 0; good && i < HS_CHEATS; i++)
        good = run->plays[i].match == NULL ||
               hs_match_post_frame(run->plays[i].match, skirmish->frame, results, &flags);
    good = good && take_mail(run);
    for (int i = 0; good && warm && i < HS_CHEATS; i++) {
        struct play *play = &run->plays[i];
        if (play->cheat->kind == HS_CHEAT_HOLD)
            good = release(run, play);
        for (unsigned who = (unsigned)skirmish->tick % AMBUSH_TICKS;
             good && is_ambush(play->cheat) && who < HS_CROWD; who += AMBUSH_TICKS)
            good = ambush(run, play, who);
    }
    return good;
}

/* ---- a match ---- */

static struct hs_match *open_match(const struct hs_sim_arena *arena)
{
    struct hs_match *match = hs_match_create(
        arena->ruleset, &(struct hs_match_limits){.players = HS_CROWD, .samples = 256});
    if (match != NULL)
        hs_match_set_world(match, arena->world);
    return match;
}

static bool set_up(struct run *run, const struct hs_simulation *simulation,
                   const struct hs_sim_arena *arena, int link, uint64_t number,
                   struct hs_score *score)
{
    const struct hs_skirmish_setup setup = {.arena = arena,
                                            .seed = hs_seed_of(simulation->seed + 1, number),
                                            .link = link,
                                            .arm = -1,
                                            .seconds = simulation->seconds,
                                            .stamp_error = simulation->stamp_error,
                                            .aim_error = AIM_ERROR,
                                            .frame_every = 1,
                                            .snapshot_every = 2,
                                            .posts_shots = true,
                                            .ends_at_impact = true};
    run->skirmish = hs_skirmish_create(&setup);
    run->twin = open_match(arena);
    bool good = run->skirmish != NULL && run->twin != NULL;
    for (int i = 0; i < HS_CHEATS; i++) {
        run->plays[i].cheat = &hs_cheats[i];
        run->plays[i].count = &score->cheats[i][link];
        if (hs_cheats[i].kind < HS_CHEAT_VOLLEY) {
            run->plays[i].match = open_match(arena);
            good = good && run->plays[i].match != NULL;
        }
    }
    return good;
}

/* Adds the hits and the damage of all cheats to their counts. A cheat that ambushes also fires all
   shots of its twin. So the cheat's hits are the sum of the twin's hits and the ambush hits. */
static void add_up(const struct run *run)
{
    for (int i = 0; i < HS_CHEATS; i++) {
        const struct play *play = &run->plays[i];
        const struct hs_cheat *cheat = play->cheat;
        for (unsigned who = 0; play->match != NULL && who < HS_CROWD; who++) {
            double hits = run->twin_hits[who][cheat->arm];
            double damage = run->twin_damage[who][cheat->arm];
            double more = is_ambush(cheat) ? 1 : 0;
            hs_paired_add(&play->count->hits, hits, play->hits[who] + more * hits);
            hs_paired_add(&play->count->damage, damage, play->damage[who] + more * damage);
        }
    }
}

static void clean_up(struct run *run)
{
    for (int i = 0; i < HS_CHEATS; i++)
        hs_match_destroy(run->plays[i].match);
    hs_match_destroy(run->twin);
    hs_skirmish_destroy(run->skirmish);
    free(run);
}

bool hs_cheats_run(const struct hs_simulation *simulation, const struct hs_sim_arena *arena,
                   uint64_t number, struct hs_score *score)
{
    int link = (int)(number % HS_LINKS_AND_STEADY);
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return false;
    bool good = set_up(run, simulation, arena, link, number, score);
    while (good && hs_skirmish_begin(run->skirmish)) {
        good = play_tick(run);
        hs_skirmish_end(run->skirmish);
    }
    good = good && !run->skirmish->failed;
    if (good)
        add_up(run);
    clean_up(run);
    uint64_t seed = hs_seed_of(~simulation->seed, number);
    for (int i = 0; good && i < HS_CHEATS; i++) {
        const struct hs_cheat *cheat = &hs_cheats[i];
        struct hs_cheat_count *count = &score->cheats[i][link];
        if (cheat->kind == HS_CHEAT_VOLLEY)
            good = hs_volley_compare(arena, cheat, (enum hs_link_kind)link, seed, count);
        else if (cheat->kind == HS_CHEAT_MOVE)
            good = hs_moving_compare(arena, cheat, (enum hs_link_kind)link, seed, count);
    }
    return good;
}
