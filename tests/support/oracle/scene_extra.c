#include "tests/support/oracle/scene_extra.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/stage.h"

static struct hs_weapon *add_weapon(struct hs_ruleset *rules, const char *name,
                                    enum hs_weapon_type type, double k)
{
    struct hs_weapon *weapon = rules->weapons[hs_ruleset_add_weapon(rules, hs_stage_str(name))];
    weapon->type = type;
    weapon->damage = 20;
    weapon->pellets = 1;
    weapon->range = 40 * k;
    weapon->has_require_shot = true; /* no scene posts shots */
    weapon->radius = 0.05 * k;
    weapon->world_radius = type == HS_WEAPON_PROJECTILE ? weapon->radius : 0;
    weapon->falloff_count = 1;
    weapon->falloff[0] = (struct hs_falloff_point){0, 1};
    return weapon;
}

void hs_scene_add_weapons(struct hs_ruleset *rules, double k)
{
    struct hs_weapon *shotgun = add_weapon(rules, "shotgun", HS_WEAPON_HITSCAN, k);
    shotgun->pellets = HS_SCENE_PELLETS;
    shotgun->damage = 4;
    shotgun->spread_deg = 60; /* the wide spread lets pellets fly on all sides of a near body */
    add_weapon(rules, "pike", HS_WEAPON_HITSCAN, k)->pierce = 1;
    struct hs_weapon *rocket = add_weapon(rules, "rocket", HS_WEAPON_PROJECTILE, k);
    rocket->speed = 40 * k;
    rocket->gravity = 2 * k;
    rocket->max_flight_us = 2000000;
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){.radius = 3 * k,
                                      .damage = 20,
                                      .inner_radius = 1 * k,
                                      .min_scale = 0.25,
                                      .self_scale = 0.5,
                                      .occlusion = true};
}

/* ---- drawing ---- */

static void draw_pellets(struct hs_random *random, struct hs_scene *out)
{
    out->pellet_count = 1 + hs_random_index(random, HS_SCENE_PELLETS);
    for (int i = 0; i < out->pellet_count; i++) {
        double off = hs_random_between(random, 0, 0.6);
        out->pellets[i].end = hs_vec_add_scaled(out->end, hs_random_direction(random), off);
        out->pellets[i].target =
            hs_random_chance(random, 0.7) ? -1 : hs_random_index(random, out->player_count);
    }
}

/* Draws players other than the shooter. For a blast, the shooter may be among them, and one player
   may be there twice. */
static void draw_victims(struct hs_random *random, struct hs_scene *out)
{
    int first = out->weapon == HS_SCENE_ROCKET ? 0 : 1;
    out->victim_count = hs_random_index(random, HS_SCENE_VICTIMS + 1);
    for (int i = 0; i < out->victim_count; i++)
        out->victims[i] = first + hs_random_index(random, out->player_count - first);
    out->has_target = out->weapon != HS_SCENE_ROCKET || hs_random_chance(random, 0.4);
}

/* Places walls beside the path, so that some block it and some do not. */
static struct hs_vec draw_place(struct hs_random *random, const struct hs_scene *scene)
{
    struct hs_vec way = hs_vec_sub(scene->end, scene->start);
    double along = hs_random_between(random, 0.05, 1.2), off = hs_random_between(random, 0, 0.8);
    return hs_vec_add_scaled(hs_vec_add_scaled(scene->start, way, along),
                             hs_random_direction(random), off);
}

static void draw_walls(struct hs_random *random, struct hs_scene *out)
{
    out->has_world = hs_random_chance(random, 0.5);
    out->wall_count = out->has_world ? 1 + hs_random_index(random, HS_SCENE_WALLS) : 0;
    for (int i = 0; i < out->wall_count; i++) {
        struct hs_vec axes[3], place = draw_place(random, out);
        double wide = hs_random_between(random, 0.2, 1.5), high = hs_random_between(random, 0.2, 1);
        hs_random_axes(random, axes);
        for (int c = 0; c < 4; c++)
            out->walls[i][c] =
                hs_vec_add_scaled(hs_vec_add_scaled(place, axes[0], c % 2 == 0 ? -wide : wide),
                                  axes[1], c < 2 ? -high : high);
    }
}

static void draw_mover(struct hs_random *random, struct hs_scene *out)
{
    struct hs_scene_mover *mover = &out->mover;
    mover->is_there = hs_random_chance(random, 0.4);
    mover->place = draw_place(random, out);
    mover->velocity = hs_vec_scale(hs_random_direction(random), hs_random_between(random, 0, 4));
    mover->rotation =
        hs_scene_quat_about(hs_random_direction(random), hs_random_between(random, -3, 3));
    mover->axis = hs_random_direction(random);
    mover->spin = hs_random_between(random, -4, 4);
    mover->half_extents.x = hs_random_between(random, 0.1, 0.8);
    mover->half_extents.y = hs_random_between(random, 0.1, 0.8);
    mover->half_extents.z = hs_random_between(random, 0.1, 0.8);
    mover->center = hs_vec_scale(hs_random_direction(random), 0.2);
    mover->first = hs_random_chance(random, 0.2) ? HS_SCENE_FRAMES - 2 : 0;
    mover->opens = hs_random_chance(random, 0.3) ? hs_random_index(random, HS_SCENE_FRAMES) : -1;
}

/* Draws bodies that do not block. If the scene is by touch, it mostly claims no target. */
static void draw_ghosts(struct hs_random *random, struct hs_scene *out)
{
    out->passes_team = hs_random_chance(random, 0.5);
    out->is_by_touch = hs_random_chance(random, 0.4);
    for (int p = 1; p < out->player_count; p++)
        out->players[p].is_ghost = hs_random_chance(random, 0.2);
    if (out->is_by_touch && out->weapon < HS_SCENE_WEAPONS)
        out->has_target = hs_random_chance(random, 0.5);
}

void hs_scene_draw_extra(struct hs_random *random, const struct hs_scene_wishes *wishes,
                         struct hs_scene *out)
{
    out->has_target = true;
    if (out->weapon == HS_SCENE_SHOTGUN)
        draw_pellets(random, out);
    if (out->weapon == HS_SCENE_PIKE || out->weapon == HS_SCENE_ROCKET)
        draw_victims(random, out);
    if (wishes->world) {
        draw_walls(random, out);
        draw_mover(random, out);
    }
    if (wishes->ghosts)
        draw_ghosts(random, out);
}

/* ---- playing ---- */

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "scene: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

bool hs_scene_play_mover(const struct hs_scene *scene, const struct hs_scene_frame *frame, int f,
                         struct hs_mover_frame *out)
{
    const struct hs_scene_mover *mover = &scene->mover;
    if (!mover->is_there || f < mover->first)
        return false;
    double seconds = (double)(scene->times_us[f] - scene->times_us[HS_SCENE_FRAMES - 1]) / 1e6;
    struct hs_scene_quat turned =
        hs_scene_product(hs_scene_quat_about(mover->axis, mover->spin * seconds), mover->rotation);
    struct hs_scene_quat q = hs_scene_product(frame->rotation, turned);
    double sign = frame->negate && f % 2 == 0 ? -1 : 1;
    *out = (struct hs_mover_frame){
        .mover = HS_STR("box"),
        .fields = HS_MOVER_ROTATION | HS_MOVER_BOX | HS_MOVER_SOLID,
        .position =
            hs_scene_point(frame, hs_vec_add_scaled(mover->place, mover->velocity, seconds)),
        .rotation = {sign * q.x, sign * q.y, sign * q.z, sign * q.w},
        .half_extents = hs_vec_scale(mover->half_extents, frame->scale),
        .center = hs_vec_scale(mover->center, frame->scale),
        .is_solid = mover->opens < 0 || f < mover->opens};
    return true;
}

static void play_walls(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                       struct hs_scene_stage *stage)
{
    struct hs_vec vertices[4 * HS_SCENE_WALLS];
    uint32_t triangles[2 * HS_SCENE_WALLS][3];
    for (uint32_t i = 0; i < (uint32_t)scene->wall_count; i++) {
        for (uint32_t c = 0; c < 4; c++)
            vertices[4 * i + c] = hs_scene_point(frame, scene->walls[i][c]);
        for (uint32_t c = 0; c < 3; c++) {
            triangles[2 * i][c] = 4 * i + c;
            triangles[2 * i + 1][c] = 4 * i + c + 1;
        }
    }
    struct hs_world_mesh mesh = {.vertices = vertices,
                                 .vertex_count = 4 * (size_t)scene->wall_count,
                                 .triangles = (const uint32_t(*)[3])triangles,
                                 .triangle_count = 2 * (size_t)scene->wall_count};
    stage->world = must(hs_world_create(&mesh, NULL, NULL));
    hs_match_set_world(stage->match, stage->world);
}

/* Returns the axis that is nearest to `up` after the turn. */
static enum hs_up find_up(const struct hs_scene_frame *frame)
{
    struct hs_vec up = hs_scene_turn(frame->rotation, (struct hs_vec){0, 0, 1});
    enum hs_up best = HS_UP_PX;
    for (int i = HS_UP_PX; i <= HS_UP_NZ; i++)
        if (hs_vec_dot(up, hs_up_direction((enum hs_up)i)) > hs_vec_dot(up, hs_up_direction(best)))
            best = (enum hs_up)i;
    return best;
}

void hs_scene_play_extra(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                         struct hs_scene_stage *stage)
{
    struct hs_hit_claim *claim = &stage->claim;
    stage->world = NULL;
    stage->rules->up = find_up(frame);
    if (scene->has_world)
        play_walls(scene, frame, stage);
    for (int i = 0; i < scene->pellet_count; i++) {
        int target = scene->pellets[i].target;
        stage->pellets[i] =
            (struct hs_pellet_claim){hs_scene_point(frame, scene->pellets[i].end),
                                     hs_stage_str(target < 0 ? NULL : scene->players[target].name)};
    }
    for (int i = 0; i < scene->victim_count; i++)
        stage->victims[i] = hs_stage_str(scene->players[scene->victims[i]].name);
    claim->pellets = scene->pellet_count > 0 ? stage->pellets : NULL;
    claim->pellet_count = (size_t)scene->pellet_count;
    claim->victims = scene->victim_count > 0 ? stage->victims : NULL;
    claim->victim_count = (size_t)scene->victim_count;
    if (claim->pellet_count > 0)
        claim->end = stage->pellets[0].end;
    if (!scene->has_target)
        claim->target = hs_stage_str(NULL);
}
