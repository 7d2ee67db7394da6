#include "cli/demo/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_NAME   "demo"
#define MAP_NAME     "demo-arena"
#define WEAPON_NAME  "rifle"
#define INTERP       0.03125 /* seconds: clients show the world two ticks late, to interpolate */
#define TRACE_LENGTH 60.0    /* metres: how far clients trace a shot */
#define CHEST        1.15    /* metres above the feet */
#define WIDE_RADIUS  0.25    /* metres: claimed by the radius forger; the weapon is a ray */
#define HEALTH       100

/* What a player does with his weapon. */
enum habit { HONEST, CLAIM_FORGER, THROUGH_TIME, RADIUS_FORGER, WALL_FORGER, HABITS };

static const char *const labels[HABITS] = {HS_WHO_HONEST, HS_WHO_CLAIM_FORGER, HS_WHO_THROUGH_TIME,
                                           HS_WHO_RADIUS_FORGER, HS_WHO_WALL_FORGER};

static const struct {
    const char *name;
    double rtt; /* seconds; with INTERP and jitter never beyond the rewind limit of 0.4 */
    enum habit habit;
} players[HS_WALKERS] = {
    {"alice", 0.020, HONEST},         {"bob", 0.045, HONEST},
    {"carol", 0.080, HONEST},         {"dave", 0.120, HONEST},
    {"erin", 0.165, HONEST},          {"mallory", 0.130, CLAIM_FORGER},
    {"chronos", 0.060, THROUGH_TIME}, {"bigshot", 0.050, RADIUS_FORGER},
    {"wallace", 0.070, WALL_FORGER},
};

struct tick {
    json_t *hits, *who, *truth; /* NULL: nobody claims anything */
};

struct hs_synthetic {
    struct hs_ruleset *ruleset;
    const struct hs_rig *rig;
    const struct hs_weapon *weapon;
    struct hs_arena *arena;
    struct hs_walkers *walkers;
    struct tick *ticks;
    size_t count;
    struct hs_dice dice;
    double ready_at[HS_WALKERS]; /* when each may shoot next */
    int health[HS_WALKERS];
    long long shots[HS_WALKERS];
    unsigned turns[HS_WALKERS]; /* of a cheat who varies what he does */
    size_t honest_misses;
};

/* A shot on its way to become a claim. */
struct shot {
    unsigned shooter, target;
    size_t tick;
    double hit_time;
    struct hs_vec start, end;
    double radius; /* as claimed */
    uint16_t hitbox;
};

static double to_micro(double seconds)
{
    return round(seconds * 1e6) / 1e6;
}

static struct hs_vec rounded(struct hs_vec v)
{
    return (struct hs_vec){round(v.x * 1e4) / 1e4, round(v.y * 1e4) / 1e4, round(v.z * 1e4) / 1e4};
}

/* How old the world is on a player's screen. */
static double view_delay(struct hs_synthetic *match, unsigned player)
{
    double jitter = fmin(0.012, 0.15 * players[player].rtt);
    return players[player].rtt + INTERP + hs_dice_between(&match->dice, -jitter, jitter);
}

/* The eye, with the small error of the client's own prediction. */
static struct hs_vec eye_of(struct hs_synthetic *match, unsigned player, size_t tick)
{
    const struct hs_walk_pose *pose = hs_walkers_at(match->walkers, player, tick);
    struct hs_vec eye = hs_vec_add(pose->position, match->rig->stances[0].eye);
    eye.x += hs_dice_between(&match->dice, -0.015, 0.015);
    eye.y += hs_dice_between(&match->dice, -0.015, 0.015);
    return rounded(eye);
}

static struct hs_sweep sweep_of(const struct shot *shot, double radius)
{
    struct hs_vec path = hs_vec_sub(shot->end, shot->start);
    double length = hs_vec_length(path);
    return (struct hs_sweep){shot->start, hs_vec_scale(path, 1.0 / length), length, radius};
}

static void aim_at(struct shot *shot, struct hs_vec point)
{
    struct hs_vec way = hs_vec_sub(point, shot->start);
    double scale = TRACE_LENGTH / fmax(hs_vec_length(way), 1e-3);
    shot->end = rounded(hs_vec_add_scaled(shot->start, way, scale));
}

/* The smallest gap between a shot and a player's body as seen at the shot's time. */
static double gap_to(const struct hs_synthetic *match, const struct shot *shot, unsigned player,
                     double radius)
{
    struct hs_walk_pose pose;
    struct hs_body body;
    struct hs_sweep sweep = sweep_of(shot, radius);
    double gap = HUGE_VAL;
    if (!hs_walkers_seen(match->walkers, player, shot->hit_time, &pose))
        return gap;
    hs_walk_body(&pose, match->rig, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_sweep_contact contact;
        hs_sweep_solid(&sweep, &body.solids[i], &contact);
        gap = fmin(gap, contact.gap);
    }
    return gap;
}

/* How far a shot gets before a wall, the floor or the door, as seen at its time, ends it. */
static double free_way(const struct hs_synthetic *match, const struct hs_sweep *sweep, double time)
{
    double distance;
    double opening = hs_walkers_opening(match->walkers, time);
    return hs_arena_stops(match->arena, sweep, opening, &distance) ? distance : HUGE_VAL;
}

/* The first body on the shot's way on the shooter's screen, were there no walls: how far away it
   is, HUGE_VAL when there is none. */
static double first_body(const struct hs_synthetic *match, struct shot *shot)
{
    struct hs_sweep sweep = sweep_of(shot, match->weapon->radius);
    double nearest = HUGE_VAL, distance;
    for (unsigned player = 0; player < HS_WALKERS; player++) {
        struct hs_walk_pose pose;
        struct hs_body body;
        if (player == shot->shooter ||
            !hs_walkers_seen(match->walkers, player, shot->hit_time, &pose) || !pose.alive)
            continue;
        hs_walk_body(&pose, match->rig, &body);
        for (uint16_t i = 0; i < body.count; i++) {
            if (hs_sweep_touches(&sweep, &body.solids[i], &distance) && distance < nearest) {
                nearest = distance;
                shot->target = player;
                shot->hitbox = body.hitbox[i];
            }
        }
    }
    return nearest;
}

/* Whether the shot hits somebody on the shooter's screen, and then whom and where. */
static bool hits_somebody(const struct hs_synthetic *match, struct shot *shot)
{
    struct hs_sweep sweep = sweep_of(shot, match->weapon->radius);
    double distance = first_body(match, shot);
    return distance < HUGE_VAL && distance < free_way(match, &sweep, shot->hit_time);
}

static void add_claim(struct hs_synthetic *match, const struct shot *shot)
{
    struct tick *tick = &match->ticks[shot->tick];
    enum habit habit = players[shot->shooter].habit;
    const struct hs_hitbox *hitbox = &match->rig->hitboxes[shot->hitbox];
    if (tick->hits == NULL) {
        tick->hits = json_array();
        tick->who = json_array();
        tick->truth = json_array();
    }
    double now = hs_walkers_time(shot->tick);
    json_array_append_new(
        tick->hits,
        json_pack("{s:I, s:s, s:s, s:f, s:f, s:[f, f, f], s:[f, f, f], s:s, s:f, s:s, s:f}", "shot",
                  (json_int_t)++match->shots[shot->shooter], "shooter", players[shot->shooter].name,
                  "weapon", WEAPON_NAME, "hit_time", shot->hit_time, "fire_time", now, "start",
                  shot->start.x, shot->start.y, shot->start.z, "end", shot->end.x, shot->end.y,
                  shot->end.z, "target", players[shot->target].name, "radius", shot->radius,
                  "claimed_bone", match->rig->bones[hitbox->bone].text, "claimed_damage",
                  match->weapon->damage * match->weapon->zone_factor[hitbox->zone]));
    json_array_append_new(tick->who, json_string(labels[habit]));
    json_array_append_new(tick->truth, json_string(habit == HONEST ? "hit" : "miss"));
}

/* The middle of a body is in sight of the shooter. */
static bool is_in_sight(const struct hs_synthetic *match, const struct shot *shot,
                        const struct hs_walk_pose *pose)
{
    struct shot look = *shot;
    look.end = pose->position;
    look.end.z += CHEST;
    struct hs_sweep sweep = sweep_of(&look, 0.0);
    return free_way(match, &sweep, shot->hit_time) == HUGE_VAL;
}

/* Somebody else, alive on the screen at the shot's time, in sight or not. False: nobody found. */
static bool choose_target(struct hs_synthetic *match, struct shot *shot, bool in_sight,
                          struct hs_walk_pose *pose)
{
    for (int tries = 0; tries < 16; tries++) {
        shot->target = hs_dice_pick(&match->dice, HS_WALKERS);
        if (shot->target != shot->shooter &&
            hs_walkers_seen(match->walkers, shot->target, shot->hit_time, pose) && pose->alive &&
            hs_vec_distance(pose->position, shot->start) > 2.5 &&
            is_in_sight(match, shot, pose) == in_sight)
            return true;
    }
    return false;
}

/* A point of the body, off sideways and in height by this much as the shooter sees it. */
static struct hs_vec beside(const struct shot *shot, const struct hs_walk_pose *pose, double height,
                            double sideways, double up)
{
    struct hs_vec point = pose->position;
    struct hs_vec way = hs_vec_sub(point, shot->start);
    double length = fmax(hypot(way.x, way.y), 1e-3);
    point.x += sideways * -way.y / length;
    point.y += sideways * way.x / length;
    point.z += height + up;
    return point;
}

static void shoot_honestly(struct hs_synthetic *match, struct shot *shot)
{
    struct hs_walk_pose pose;
    if (!choose_target(match, shot, true, &pose))
        return;
    double away = hs_vec_distance(pose.position, shot->start);
    double error = away * 0.016; /* about a degree */
    double height = hs_dice_between(&match->dice, 0.0, 1.0) < 0.25 ? 1.6 : CHEST;
    double sideways = error * hs_dice_normal(&match->dice);
    aim_at(shot, beside(shot, &pose, height, sideways, error * hs_dice_normal(&match->dice)));
    if (!hits_somebody(match, shot)) {
        match->honest_misses++;
        return;
    }
    add_claim(match, shot);
    if (!hs_walkers_at(match->walkers, shot->target, shot->tick)->alive)
        return; /* shot dead in the meantime */
    match->health[shot->target] -= 20;
    if (match->health[shot->target] <= 0) {
        match->health[shot->target] = HEALTH;
        hs_walkers_kill(match->walkers, shot->target);
    }
}

static void forge_claim(struct hs_synthetic *match, struct shot *shot)
{
    struct hs_walk_pose pose;
    struct hs_dice *dice = &match->dice;
    if (!choose_target(match, shot, true, &pose))
        return;
    unsigned way = match->turns[shot->shooter]++ % 4;
    double off = hs_dice_between(dice, 0.9, 3.0);
    double side = hs_dice_between(dice, 0.0, 1.0) < 0.5 ? -off : off;
    struct hs_vec point = beside(shot, &pose, 1.1, way < 2 ? side : 0.0, way == 2 ? off : 0.0);
    if (way == 3) /* the other way, level */
        point = hs_vec_sub(hs_vec_scale(shot->start, 2.0),
                           beside(shot, &pose, shot->start.z - pose.position.z, 0.0, 0.0));
    aim_at(shot, point);
    if (gap_to(match, shot, shot->target, match->weapon->radius) > 0.3)
        add_claim(match, shot);
}

static void shoot_through_time(struct hs_synthetic *match, struct shot *shot)
{
    struct hs_walk_pose pose;
    struct hs_dice *dice = &match->dice;
    double now = hs_walkers_time(shot->tick);
    bool future = match->turns[shot->shooter]++ % 3 == 2;
    shot->hit_time = to_micro(future ? now + hs_dice_between(dice, 0.08, 0.4)
                                     : now - hs_dice_between(dice, 0.5, 0.9));
    if (!choose_target(match, shot, true, &pose))
        return;
    aim_at(shot, beside(shot, &pose, CHEST, 0.0, 0.0));
    add_claim(match, shot);
}

static void forge_radius(struct hs_synthetic *match, struct shot *shot)
{
    struct hs_walk_pose pose;
    struct shot other;
    if (!choose_target(match, shot, true, &pose))
        return;
    shot->radius = WIDE_RADIUS;
    for (int tries = 0; tries < 20; tries++) {
        double off = hs_dice_between(&match->dice, 0.36, 0.56);
        double side = tries % 2 == 0 ? off : -off;
        aim_at(shot, beside(shot, &pose, 1.1, side, 0.0));
        other = *shot;
        if (gap_to(match, shot, shot->target, match->weapon->radius) > 0.02 &&
            gap_to(match, shot, shot->target, shot->radius) <= 0.0 &&
            !hits_somebody(match, &other)) {
            add_claim(match, shot);
            return;
        }
    }
}

/* Aims well at whom he cannot see: only the wall is wrong with it. */
static void shoot_through_wall(struct hs_synthetic *match, struct shot *shot)
{
    struct hs_walk_pose pose;
    if (!choose_target(match, shot, false, &pose))
        return;
    unsigned target = shot->target;
    aim_at(shot, beside(shot, &pose, CHEST, 0.0, 0.0));
    struct hs_sweep sweep = sweep_of(shot, match->weapon->radius);
    double distance = first_body(match, shot);
    if (shot->target == target && free_way(match, &sweep, shot->hit_time) < distance - 0.1)
        add_claim(match, shot);
}

static void act(struct hs_synthetic *match, unsigned player, size_t tick)
{
    static void (*const habits[HABITS])(struct hs_synthetic *, struct shot *) = {
        [HONEST] = shoot_honestly,           [CLAIM_FORGER] = forge_claim,
        [THROUGH_TIME] = shoot_through_time, [RADIUS_FORGER] = forge_radius,
        [WALL_FORGER] = shoot_through_wall,
    };
    double now = hs_walkers_time(tick);
    if (now < match->ready_at[player] || !hs_walkers_at(match->walkers, player, tick)->alive)
        return;
    match->ready_at[player] = now + hs_dice_between(&match->dice, 0.3, 0.9);
    struct shot shot = {.shooter = player, .tick = tick, .radius = match->weapon->radius};
    shot.hit_time = to_micro(now - view_delay(match, player));
    shot.start = eye_of(match, player, tick);
    habits[players[player].habit](match, &shot);
}

struct hs_synthetic *hs_synthetic_create(uint64_t seed, double seconds)
{
    struct hs_synthetic *match = calloc(1, sizeof(*match));
    if (match == NULL)
        return NULL;
    match->count = (size_t)(fmax(1.0, fmin(3600.0, seconds)) * HS_WALK_HZ);
    match->ticks = calloc(match->count, sizeof(*match->ticks));
    match->arena = hs_arena_create();
    match->walkers = hs_walkers_create(match->arena, match->count);
    match->ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    if (match->ticks == NULL || match->arena == NULL || match->walkers == NULL ||
        match->ruleset == NULL) {
        hs_synthetic_destroy(match);
        return NULL;
    }
    match->rig = match->ruleset->rigs[match->ruleset->default_rig];
    match->weapon =
        match->ruleset->weapons[hs_ruleset_find_weapon(match->ruleset, HS_STR(WEAPON_NAME))];
    match->dice.state = seed;
    for (unsigned player = 0; player < HS_WALKERS; player++) {
        match->health[player] = HEALTH;
        /* The service needs a window of history before it can look back. */
        match->ready_at[player] = hs_walkers_time(0) + 1.0;
    }
    for (size_t tick = 0; tick < match->count; tick++) {
        hs_walkers_step(match->walkers, &match->dice);
        for (unsigned player = 0; player < HS_WALKERS; player++)
            act(match, player, tick);
    }
    return match;
}

void hs_synthetic_destroy(struct hs_synthetic *match)
{
    if (match == NULL)
        return;
    for (size_t i = 0; match->ticks != NULL && i < match->count; i++) {
        json_decref(match->ticks[i].hits);
        json_decref(match->ticks[i].who);
        json_decref(match->ticks[i].truth);
    }
    free(match->ticks);
    hs_walkers_destroy(match->walkers);
    hs_arena_destroy(match->arena);
    hs_ruleset_destroy(match->ruleset);
    free(match);
}

const struct hs_ruleset *hs_synthetic_ruleset(const struct hs_synthetic *match)
{
    return match->ruleset;
}

const struct hs_walkers *hs_synthetic_walkers(const struct hs_synthetic *match)
{
    return match->walkers;
}

int hs_synthetic_find(const char *player)
{
    for (int i = 0; i < HS_WALKERS; i++) {
        if (strcmp(players[i].name, player) == 0)
            return i;
    }
    return -1;
}

size_t hs_synthetic_honest_misses(const struct hs_synthetic *match)
{
    return match->honest_misses;
}

/* ---- as a recording ---- */

struct cursor {
    const struct hs_synthetic *match;
    size_t tick;
};

static json_t *player_of_frame(const struct hs_synthetic *match, unsigned player, size_t tick)
{
    const struct hs_walk_pose *pose = hs_walkers_at(match->walkers, player, tick);
    json_t *object =
        json_pack("{s:s, s:[f, f, f], s:[f, f, f, f]}", "player", players[player].name, "position",
                  pose->position.x, pose->position.y, pose->position.z, "rotation", 0.0, 0.0,
                  round(sin(pose->yaw / 2.0) * 1e9) / 1e9, round(cos(pose->yaw / 2.0) * 1e9) / 1e9);
    if (tick == 0)
        json_object_update_new(object, json_pack("{s:s, s:f, s:f}", "weapon", WEAPON_NAME, "rtt",
                                                 players[player].rtt, "interp", INTERP));
    if (pose->spawned || pose->died) {
        json_object_set_new(object, "event", json_string(pose->spawned ? "spawn" : "death"));
        json_object_set_new(object, "alive", json_boolean(pose->alive));
    }
    return object;
}

static json_t *door_of_frame(const struct hs_synthetic *match, size_t tick)
{
    struct hs_solid door = hs_arena_door(hs_walkers_opening_at(match->walkers, tick));
    const struct hs_vec *at = &door.center, *half = &door.half_extents;
    json_t *object =
        json_pack("{s:s, s:[f, f, f]}", "mover", HS_ARENA_DOOR, "position", at->x, at->y, at->z);
    if (tick == 0)
        json_object_set_new(object, "box",
                            json_pack("{s:[f, f, f], s:[f, f, f]}", "half_extents", half->x,
                                      half->y, half->z, "center", 0.0, 0.0, 0.0));
    return object;
}

static enum hs_recording_result cursor_next(void *state, struct hs_recording_entry *entry,
                                            char error[HS_PLAY_ERROR_MAX])
{
    struct cursor *cursor = state;
    const struct hs_synthetic *match = cursor->match;
    if (cursor->tick == match->count)
        return HS_RECORDING_END;
    const struct tick *tick = &match->ticks[cursor->tick];
    double now = hs_walkers_time(cursor->tick);
    json_t *poses = json_array();
    for (unsigned player = 0; player < HS_WALKERS; player++)
        json_array_append_new(poses, player_of_frame(match, player, cursor->tick));
    json_t *door = door_of_frame(match, cursor->tick);
    cursor->tick++;
    entry->at = now;
    strcpy(entry->method, "POST");
    strcpy(entry->path, "/v1/matches/{match}/ticks");
    entry->body = json_pack("{s:f, s:[{s:f, s:o, s:[o]}]}", "now", now, "frames", "time", now,
                            "players", poses, "movers", door);
    if (entry->body == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "out of memory");
        return HS_RECORDING_BAD;
    }
    if (tick->hits != NULL) {
        json_object_set_new(entry->body, "hits", json_deep_copy(tick->hits));
        entry->who = json_incref(tick->who);
        entry->truth = json_incref(tick->truth);
    }
    return HS_RECORDING_ENTRY;
}

static double cursor_progress(void *state)
{
    const struct cursor *cursor = state;
    return (double)cursor->tick / (double)cursor->match->count;
}

struct hs_recording *hs_synthetic_open(const struct hs_synthetic *match)
{
    struct hs_recording *recording = calloc(1, sizeof(*recording));
    struct cursor *cursor = calloc(1, sizeof(*cursor));
    if (recording == NULL || cursor == NULL) {
        free(recording);
        free(cursor);
        return NULL;
    }
    cursor->match = match;
    recording->state = cursor;
    recording->next = cursor_next;
    recording->progress = cursor_progress;
    recording->destroy = free;
    struct hs_recording_header *header = &recording->header;
    strcpy(header->title, "synthetic match");
    hs_name_set(&header->match, HS_STR(MATCH_NAME));
    hs_name_set(&header->ruleset, hs_name_str(&match->ruleset->name));
    hs_name_set(&header->map, HS_STR(MAP_NAME));
    header->map_document = hs_arena_document();
    header->unit = 1.0;
    if (header->map_document == NULL) {
        hs_recording_close(recording);
        return NULL;
    }
    return recording;
}
