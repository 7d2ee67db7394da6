#include "tests/support/oracle/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/scene_extra.h"
#include "tests/support/play/stage.h"

#define PI 3.14159265358979323846

const struct hs_scene_wishes hs_scene_anything = {.aligned = true,
                                                  .events = true,
                                                  .turning = true,
                                                  .lagging = true,
                                                  .kinds = true,
                                                  .falling = true,
                                                  .world = true,
                                                  .ghosts = true};

/* ---- rotations, in double ---- */

struct hs_scene_quat hs_scene_product(struct hs_scene_quat a, struct hs_scene_quat b)
{
    return (struct hs_scene_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                                  a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

struct hs_vec hs_scene_turn(struct hs_scene_quat q, struct hs_vec v)
{
    struct hs_scene_quat pure = {v.x, v.y, v.z, 0}, conjugate = {-q.x, -q.y, -q.z, q.w};
    struct hs_scene_quat r = hs_scene_product(hs_scene_product(q, pure), conjugate);
    return (struct hs_vec){r.x, r.y, r.z};
}

struct hs_scene_quat hs_scene_quat_about(struct hs_vec axis, double angle)
{
    double s = sin(angle / 2);
    return (struct hs_scene_quat){axis.x * s, axis.y * s, axis.z * s, cos(angle / 2)};
}

static struct hs_scene_quat random_turn(struct hs_random *random, double most)
{
    return hs_scene_quat_about(hs_random_direction(random), hs_random_between(random, -most, most));
}

/* ---- the ruleset ---- */

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "scene: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

static void set_rotation(float out[4], struct hs_scene_quat q)
{
    out[0] = (float)q.x;
    out[1] = (float)q.y;
    out[2] = (float)q.z;
    out[3] = (float)q.w;
}

static struct hs_hitbox *add_hitbox(struct hs_ruleset *rules, struct hs_rig *rig,
                                    enum hs_shape shape, const char *zone, struct hs_vec center)
{
    struct hs_hitbox *box = &rig->hitboxes[rig->hitbox_count++];
    box->shape = shape;
    box->zone = hs_ruleset_add_zone(rules, hs_stage_str(zone), 1 + rules->zone_count / 4.0);
    box->center = center;
    box->rotation[3] = 1;
    return box;
}

static struct hs_rig *add_rig(struct hs_ruleset *rules, const char *name, double k)
{
    uint16_t index = hs_ruleset_add_rig(rules, hs_stage_str(name));
    struct hs_rig *rig = rules->rigs[index];
    rig->bone_count = HS_SCENE_BONES;
    hs_name_set(&rig->bones[0], HS_STR("root"));
    hs_name_set(&rig->bones[1], HS_STR("head"));
    rig->stance_count = 1;
    hs_name_set(&rig->stances[0].name, HS_STR("stand"));
    rig->stances[0].eye = (struct hs_vec){0, 0, 1.6 * k};
    rig->stances[0].bones[0] = (struct hs_rest_bone){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    rig->stances[0].bones[1] = (struct hs_rest_bone){{0, 0, 1.6 * k}, {0, 0, 0, 1}, {1, 1, 1}};
    set_rotation(rig->stances[0].bones[1].rotation,
                 hs_scene_quat_about((struct hs_vec){1, 0, 0}, 0.5));
    return rig;
}

static void add_rigs(struct hs_ruleset *rules, double k)
{
    struct hs_scene_quat tilt = hs_scene_quat_about((struct hs_vec){0.6, 0.8, 0}, 0.7);
    struct hs_rig *ball = add_rig(rules, "ball", k);
    add_hitbox(rules, ball, HS_SHAPE_SPHERE, "core", (struct hs_vec){0, 0, 0.9 * k})->radius =
        0.4 * k;

    struct hs_rig *body = add_rig(rules, "body", k);
    struct hs_hitbox *head =
        add_hitbox(rules, body, HS_SHAPE_SPHERE, "head", (struct hs_vec){0.05 * k, 0, 0.02 * k});
    head->bone = 1;
    head->radius = 0.15 * k;
    struct hs_hitbox *torso =
        add_hitbox(rules, body, HS_SHAPE_CAPSULE, "torso", (struct hs_vec){0, 0, 1.1 * k});
    torso->radius = 0.28 * k;
    torso->half_length = 0.22 * k;
    set_rotation(torso->rotation, tilt);
    struct hs_hitbox *legs =
        add_hitbox(rules, body, HS_SHAPE_BOX, "legs", (struct hs_vec){0, 0.05 * k, 0.4 * k});
    legs->half_extents = (struct hs_vec){0.2 * k, 0.25 * k, 0.4 * k};

    struct hs_rig *crate = add_rig(rules, "crate", k);
    struct hs_hitbox *box =
        add_hitbox(rules, crate, HS_SHAPE_BOX, "crate", (struct hs_vec){0.1 * k, 0, 0.8 * k});
    box->half_extents = (struct hs_vec){0.3 * k, 0.5 * k, 0.7 * k};
    set_rotation(box->rotation, tilt);

    struct hs_rig *hull = add_rig(rules, "hull", k);
    struct hs_hitbox *aligned =
        add_hitbox(rules, hull, HS_SHAPE_BOX, "hull", (struct hs_vec){0, 0.1 * k, 0.9 * k});
    aligned->half_extents = (struct hs_vec){0.4 * k, 0.4 * k, 0.9 * k};
    aligned->axis_aligned = true;
}

static void add_weapon(struct hs_ruleset *rules, const char *name, enum hs_weapon_type type,
                       double radius, double speed, double k)
{
    uint16_t i = hs_ruleset_add_weapon(rules, hs_stage_str(name));
    struct hs_weapon *weapon = rules->weapons[i];
    weapon->type = type;
    weapon->damage = 20;
    weapon->pellets = 1;
    weapon->range = 40 * k;
    weapon->radius = radius * k;
    weapon->world_radius = type == HS_WEAPON_PROJECTILE ? radius * k : 0;
    weapon->speed = speed * k;
    weapon->max_flight_us = 2000000;
    weapon->has_require_shot = true; /* no scene posts shots */
    weapon->falloff_count = 2;
    weapon->falloff[0] = (struct hs_falloff_point){2 * k, 1};
    weapon->falloff[1] = (struct hs_falloff_point){25 * k, 0.25};
}

struct hs_ruleset *hs_scene_ruleset(double k)
{
    struct hs_ruleset *rules = must(hs_ruleset_create(100 / k));
    rules->rewind.limit_us = 250000; /* short, so that some claims are beyond it */
    rules->history.world_bound = 1e9 * k;
    add_rigs(rules, k);
    add_weapon(rules, "rifle", HS_WEAPON_HITSCAN, 0.05, 0, k);
    add_weapon(rules, "ray", HS_WEAPON_HITSCAN, 0, 0, k);
    add_weapon(rules, "bow", HS_WEAPON_PROJECTILE, 0.05, 60, k);
    add_weapon(rules, "cannon", HS_WEAPON_PROJECTILE, 0.3, 30, k);
    hs_scene_add_weapons(rules, k);
    hs_ruleset_finish(rules);
    if (hs_ruleset_validate(rules, NULL, NULL) != 0) {
        fprintf(stderr, "scene: the ruleset is not valid\n");
        exit(EXIT_FAILURE);
    }
    return rules;
}

/* ---- drawing ---- */

/* The motion of a player; all poses follow from it. */
struct motion {
    struct hs_vec start, velocity;
    struct hs_scene_quat rotation;
    struct hs_vec spin_axis;
    double spin; /* radians a second */
};

static struct hs_vec motion_position(const struct motion *m, double seconds)
{
    return hs_vec_add_scaled(m->start, m->velocity, seconds);
}

static struct hs_scene_quat motion_rotation(const struct motion *m, double seconds)
{
    return hs_scene_product(hs_scene_quat_about(m->spin_axis, m->spin * seconds), m->rotation);
}

static void draw_bones(struct hs_random *random, const struct hs_scene_wishes *wishes,
                       const struct hs_scene_player *player, struct hs_scene_pose *pose)
{
    static const double rest[HS_SCENE_BONES] = {0, 1.6};
    for (int b = 0; b < HS_SCENE_BONES; b++) {
        struct hs_scene_bone *bone = &pose->bones[b];
        struct hs_vec place = {0, 0, rest[b]};
        struct hs_scene_quat turn = {0, 0, 0, 1};
        if (wishes->turning) {
            place = hs_vec_add_scaled(place, hs_random_direction(random), 0.1);
            turn = random_turn(random, 0.5);
        }
        /* In most rigs the first bone carries the whole body, so the first bone is missing more
           rarely. */
        double missing = wishes->events ? (b == 0 ? 0.003 : 0.02) : 0;
        bone->present = !hs_random_chance(random, missing);
        bone->position = hs_vec_add(pose->position, hs_scene_turn(pose->rotation, place));
        bone->rotation = hs_scene_product(pose->rotation, turn);
        for (int i = 0; i < 3; i++)
            bone->scale[i] = !player->has_scale ? 1
                             : wishes->turning  ? hs_random_between(random, 0.7, 1.4)
                                                : 0.8 + 0.2 * i;
    }
}

static void draw_player(struct hs_random *random, const struct hs_scene_wishes *wishes,
                        const int64_t *times_us, struct hs_scene_player *player,
                        struct motion *motion)
{
    int rigs = wishes->aligned ? HS_SCENE_RIGS : HS_SCENE_RIGS - 1;
    player->rig = (enum hs_scene_rig)hs_random_index(random, rigs);
    player->team = hs_random_index(random, 20) < 14 ? 0 : 1 + hs_random_index(random, 2);
    player->has_bones = hs_random_chance(random, 0.5);
    player->has_scale = player->has_bones && hs_random_chance(random, 0.5);
    player->has_eye = hs_random_chance(random, 0.3);
    player->damage_scale = hs_random_between(random, 0.5, 2);
    motion->start =
        (struct hs_vec){hs_random_between(random, -8, 8), hs_random_between(random, -8, 8),
                        hs_random_between(random, -1, 1)};
    motion->velocity = hs_vec_scale(hs_random_direction(random), hs_random_between(random, 0, 8));
    motion->rotation =
        hs_scene_quat_about((struct hs_vec){0, 0, 1}, hs_random_between(random, -PI, PI));
    if (hs_random_chance(random, 0.5))
        motion->rotation = random_turn(random, PI);
    motion->spin_axis = hs_random_direction(random);
    motion->spin = wishes->turning ? hs_random_between(random, -20, 20) : 0;

    int first = wishes->events && hs_random_chance(random, 0.1) ? hs_random_index(random, 3) : 0;
    int last = wishes->lagging && hs_random_chance(random, 0.15) ? HS_SCENE_FRAMES - 2
                                                                 : HS_SCENE_FRAMES - 1;
    for (int f = 0; f < HS_SCENE_FRAMES; f++) {
        struct hs_scene_pose *pose = &player->poses[f];
        double seconds = (double)times_us[f] / 1e6;
        pose->posted = f >= first && f <= last;
        pose->event = HS_EVENT_NONE;
        if (wishes->events && hs_random_chance(random, 0.03)) {
            pose->event = (enum hs_sample_event)(1 + hs_random_index(random, 3));
            if (pose->event != HS_EVENT_DEATH)
                motion->start = hs_vec_add_scaled(motion->start, hs_random_direction(random), 5);
        }
        pose->position = motion_position(motion, seconds);
        pose->rotation = motion_rotation(motion, seconds);
        pose->eye =
            hs_vec_add(pose->position, hs_scene_turn(pose->rotation, (struct hs_vec){0.1, 0, 1.5}));
        draw_bones(random, wishes, player, pose);
    }
}

/* The place at which a player aims, and how far behind or before that place the trace ends. */
struct aim {
    struct hs_vec on_body;  /* from the target's root; turns with the target */
    struct hs_vec off_body; /* how far the shot misses, in the world */
    struct hs_vec off_eye;  /* from the shooter's eye to the start, in the world */
    double stretch;
};

static void draw_aim(struct hs_random *random, struct aim *out)
{
    out->on_body = (struct hs_vec){0, 0, hs_random_between(random, 0, 1.8)};
    out->off_body = hs_vec_scale(hs_random_direction(random), hs_random_between(random, 0, 0.7));
    out->off_eye = hs_vec_scale(hs_random_direction(random), hs_random_between(random, 0, 0.4));
    out->stretch = hs_random_chance(random, 0.5) ? 1 : hs_random_between(random, 0.9, 1.6);
}

/* Computes the trace of a shot that ends at hit_time, and its fire time. A projectile starts at the
   shooter's place at the fire time, and meets the target on its way. A few rounds of iteration find
   its flight time, because the players walk much slower than it flies. */
static void lay_trace(const struct motion *motions, const struct aim *aim, double speed,
                      struct hs_scene *out)
{
    const struct motion *shooter = &motions[0], *target = &motions[out->aimed_at];
    double hit = (double)out->hit_time_us / 1e6, flight = 0;
    for (int round = 0; round < 8; round++) {
        double fired = hit - flight, met = fmin(hit, fired + flight / aim->stretch);
        struct hs_vec at = hs_vec_add(motion_position(target, met),
                                      hs_scene_turn(motion_rotation(target, met), aim->on_body));
        /* If a hitscan claim has no fire time, it starts at the shooter's newest pose. */
        double left = speed > 0 || out->has_fire_time
                          ? fired
                          : (double)out->times_us[HS_SCENE_FRAMES - 1] / 1e6;
        struct hs_vec eye = hs_vec_add(
            motion_position(shooter, left),
            hs_scene_turn(motion_rotation(shooter, left), (struct hs_vec){0.05, 0, 1.55}));
        out->start = hs_vec_add(eye, aim->off_eye);
        struct hs_vec way = hs_vec_sub(hs_vec_add(at, aim->off_body), out->start);
        out->end = hs_vec_add_scaled(out->start, way, aim->stretch);
        out->fire_time_us = out->hit_time_us - (int64_t)(flight * 1e6);
        flight = speed > 0 ? hs_vec_distance(out->start, out->end) / speed : 0;
    }
}

/* Draws the sticky fields of the shooter. The fields usually fit the shot, but not always. */
static void draw_shooter(struct hs_random *random, struct hs_scene *out)
{
    struct hs_scene_player *shooter = &out->players[0];
    struct hs_vec way = hs_vec_sub(out->end, out->start);
    double length = hs_vec_length(way);
    shooter->has_look = hs_random_chance(random, 0.6);
    /* A random fire time rarely fits the round trip, so most scenes have either a fire time or a
       round trip. */
    shooter->has_rtt = hs_random_chance(random, out->has_fire_time ? 0.2 : 0.5);
    double off = hs_random_chance(random, 0.9) ? 0.08 : 0.8;
    for (int f = 0; f < HS_SCENE_FRAMES; f++)
        shooter->poses[f].look = hs_vec_add_scaled(way, hs_random_direction(random),
                                                   length * hs_random_between(random, 0, off));
    bool is_near = hs_random_chance(random, 0.9);
    double early = is_near ? 60000 : 400000, late = is_near ? 30000 : 400000;
    shooter->rtt_us =
        out->now_us - out->hit_time_us + (int64_t)hs_random_between(random, -early, late);
    shooter->rtt_us = shooter->rtt_us < 0 ? 0 : shooter->rtt_us;
}

static void draw_claim(struct hs_random *random, const struct hs_scene_wishes *wishes,
                       const struct motion *motions, struct hs_scene *out)
{
    static const double speeds[HS_SCENE_ALL_WEAPONS] = {
        [HS_SCENE_BOW] = 60, [HS_SCENE_CANNON] = 30, [HS_SCENE_ROCKET] = 40};
    int kinds = wishes->instant  ? 2
                : !wishes->kinds ? HS_SCENE_WEAPONS
                                 : (wishes->falling ? HS_SCENE_ALL_WEAPONS : HS_SCENE_ROCKET);
    int64_t newest = out->times_us[HS_SCENE_FRAMES - 1];
    out->weapon = (enum hs_scene_weapon)hs_random_index(random, kinds);
    out->now_us = newest + hs_random_index(random, 40000);
    out->hit_time_us = newest - hs_random_index(random, wishes->events ? 260000 : 200000);
    if (wishes->events && hs_random_chance(random, 0.1))
        out->hit_time_us = newest + hs_random_index(random, 100000);
    out->aimed_at = 1 + hs_random_index(random, out->player_count - 1);
    out->target = hs_random_chance(random, 0.85)
                      ? out->aimed_at
                      : 1 + hs_random_index(random, out->player_count - 1);
    struct aim aim;
    draw_aim(random, &aim);
    bool flies = speeds[out->weapon] > 0;
    out->has_fire_time = hs_random_chance(random, flies ? 0.7 : 0.2);
    lay_trace(motions, &aim, speeds[out->weapon], out);
    if (flies && hs_random_chance(random, 0.1)) /* a time that differs from the flight time */
        out->fire_time_us += (int64_t)hs_random_between(random, -2e5, 2e5);
    draw_shooter(random, out);
}

void hs_scene_draw(struct hs_random *random, const struct hs_scene_wishes *wishes,
                   struct hs_scene *out)
{
    struct motion motions[HS_SCENE_PLAYERS];
    memset(out, 0, sizeof *out);
    out->player_count = 2 + hs_random_index(random, HS_SCENE_PLAYERS - 1);
    int64_t time_us = hs_random_index(random, 1000000);
    for (int f = 0; f < HS_SCENE_FRAMES; f++) {
        out->times_us[f] = time_us;
        time_us += 16000 + hs_random_index(random, 60000);
        if (wishes->events && hs_random_chance(random, 0.02))
            time_us += 150000; /* a gap */
    }
    for (int p = 0; p < out->player_count; p++) {
        snprintf(out->players[p].name, sizeof out->players[p].name, "p%d", p);
        draw_player(random, wishes, out->times_us, &out->players[p], &motions[p]);
    }
    out->priority = hs_random_chance(random, 0.3);
    out->claim_padding = hs_random_chance(random, 0.3) ? 0.1 : 0;
    draw_claim(random, wishes, motions, out);
    hs_scene_draw_extra(random, wishes, out);
}

/* ---- playing ---- */

struct hs_scene_frame hs_scene_as_it_is(void)
{
    return (struct hs_scene_frame){.scale = 1, .rotation = {0, 0, 0, 1}};
}

struct hs_vec hs_scene_point(const struct hs_scene_frame *frame, struct hs_vec p)
{
    return hs_vec_add(hs_scene_turn(frame->rotation, hs_vec_scale(p, frame->scale)),
                      frame->translation);
}

static void play_rotation(const struct hs_scene_frame *frame, struct hs_scene_quat q, int n,
                          double out[4])
{
    struct hs_scene_quat turned = hs_scene_product(frame->rotation, q);
    double sign = frame->negate && n % 2 == 0 ? -1 : 1;
    out[0] = sign * turned.x;
    out[1] = sign * turned.y;
    out[2] = sign * turned.z;
    out[3] = sign * turned.w;
}

static void play_pose(const struct hs_scene *scene, const struct hs_scene_frame *frame, int p,
                      int f, struct hs_player_frame *entry, struct hs_posted_bone *bones)
{
    static const char *const rigs[] = {"ball", "body", "crate", "hull"};
    static const char *const teams[] = {NULL, "red", "blue"};
    const struct hs_scene_player *player = &scene->players[p];
    const struct hs_scene_pose *pose = &player->poses[f];
    struct hs_vec at = hs_scene_point(frame, pose->position);
    *entry = hs_stage_entry(player->name, at.x, at.y, at.z);
    entry->rig = hs_stage_str(rigs[player->rig]);
    entry->team = hs_stage_str(teams[player->team]);
    entry->event = pose->event;
    entry->fields = HS_FIELD_ROTATION | HS_FIELD_DAMAGE_SCALE;
    entry->damage_scale = player->damage_scale;
    play_rotation(frame, pose->rotation, p + f, entry->rotation);
    if (player->has_eye) {
        entry->fields |= HS_FIELD_EYE;
        entry->eye = hs_scene_point(frame, pose->eye);
    }
    if (player->has_look) {
        struct hs_vec look = hs_scene_turn(frame->rotation, pose->look);
        entry->fields |= HS_FIELD_AIM;
        entry->aim[0] = look.x;
        entry->aim[1] = look.y;
        entry->aim[2] = look.z;
    }
    if (player->has_rtt) {
        entry->fields |= HS_FIELD_RTT;
        entry->rtt_us = (int32_t)player->rtt_us;
    }
    if (player->is_ghost) {
        entry->fields |= HS_FIELD_SOLID;
        entry->is_solid = false;
    }
    if (!player->has_bones)
        return;
    entry->fields |= HS_FIELD_BONES | (player->has_scale ? (unsigned)HS_FIELD_SCALES : 0);
    entry->bones = bones;
    entry->bone_count = HS_SCENE_BONES;
    for (int b = 0; b < HS_SCENE_BONES; b++) {
        struct hs_vec place = hs_scene_point(frame, pose->bones[b].position);
        bones[b].present = pose->bones[b].present;
        bones[b].position[0] = place.x;
        bones[b].position[1] = place.y;
        bones[b].position[2] = place.z;
        play_rotation(frame, pose->bones[b].rotation, p + f + b, bones[b].rotation);
        memcpy(bones[b].scale, pose->bones[b].scale, sizeof bones[b].scale);
    }
}

static void play_frames(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                        struct hs_match *match)
{
    struct hs_random random = hs_random_start(frame->order, 0);
    for (int f = 0; f < HS_SCENE_FRAMES; f++) {
        struct hs_player_frame entries[HS_SCENE_PLAYERS];
        struct hs_posted_bone bones[HS_SCENE_PLAYERS][HS_SCENE_BONES];
        struct hs_mover_frame mover;
        enum hs_frame_result results[HS_SCENE_PLAYERS + 1];
        unsigned flags = 0;
        size_t count = 0;
        for (int p = 0; p < scene->player_count; p++)
            if (scene->players[p].poses[f].posted) {
                play_pose(scene, frame, p, f, &entries[count], bones[count]);
                count++;
            }
        for (size_t i = count; frame->order != 0 && i > 1; i--) {
            size_t k = (size_t)hs_random_index(&random, (int)i);
            struct hs_player_frame swapped = entries[i - 1];
            entries[i - 1] = entries[k];
            entries[k] = swapped;
        }
        struct hs_frame posted = {.time_us = scene->times_us[f] + frame->shift_us,
                                  .players = entries,
                                  .player_count = count,
                                  .movers = &mover};
        posted.mover_count = hs_scene_play_mover(scene, frame, f, &mover) ? 1 : 0;
        if (!hs_match_post_frame(match, &posted, results, &flags))
            must(NULL);
    }
}

void hs_scene_open(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                   struct hs_scene_stage *out)
{
    static const char *const weapons[] = {"rifle",   "ray",  "bow",   "cannon",
                                          "shotgun", "pike", "rocket"};
    out->rules = hs_scene_ruleset(frame->scale);
    out->rules->hit.claim_padding = scene->claim_padding * frame->scale;
    out->rules->hit.teammates_block = !scene->passes_team;
    if (scene->is_by_touch)
        out->rules->hit.resolve = HS_RESOLVE_TOUCHED;
    if (scene->priority) {
        out->rules->hit.zone_priority[0] = hs_ruleset_find_zone(out->rules, HS_STR("head"));
        out->rules->hit.zone_priority_count = 1;
    }
    out->match = hs_stage_match(out->rules);
    play_frames(scene, frame, out->match);
    out->now_us = scene->now_us + frame->shift_us;
    out->claim = (struct hs_hit_claim){
        .shot = 1,
        .shooter = hs_stage_str(scene->players[0].name),
        .weapon = hs_stage_str(weapons[scene->weapon]),
        .target = hs_stage_str(scene->players[scene->target].name),
        .hit_time_us = scene->hit_time_us + frame->shift_us,
        .fire_time_us = scene->fire_time_us + frame->shift_us,
        .has_fire_time = scene->has_fire_time,
        .start = hs_scene_point(frame, scene->start),
        .end = hs_scene_point(frame, scene->end),
    };
    hs_scene_play_extra(scene, frame, out);
}

void hs_scene_close(struct hs_scene_stage *stage)
{
    hs_match_destroy(stage->match);
    hs_world_destroy(stage->world);
    hs_ruleset_destroy(stage->rules);
}

void hs_scene_verify(const struct hs_scene_stage *stage, struct hs_hit_result *out)
{
    hs_hit_verify(stage->match, &stage->claim, stage->now_us, out);
}
