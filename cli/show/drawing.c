#include "cli/show/drawing.h"

#include <stdlib.h>

#include "cli/play/picture.h"
#include "validators/base/units.h"

/* The shapes in a scene, turned so that z is up, as hs_picture_draw requires. */
struct turned {
    struct hs_vec right, ahead, up; /* the picture's x, y and z axes, as world vectors */
    struct hs_body then, now;
    struct hs_sweep_contact closest;
    struct hs_vec *path;
    struct hs_triangle *triangles;
    struct hs_solid *walls;
    size_t wall_count;
};

static struct hs_vec turn(const struct turned *t, struct hs_vec v)
{
    return (struct hs_vec){hs_vec_dot(v, t->right), hs_vec_dot(v, t->ahead), hs_vec_dot(v, t->up)};
}

static struct hs_solid turn_solid(const struct turned *t, struct hs_solid solid)
{
    solid.center = turn(t, solid.center);
    for (int i = 0; i < 3; i++)
        solid.axes[i] = turn(t, solid.axes[i]);
    solid.axis_aligned = false;
    return solid;
}

static void turn_body(const struct turned *t, const struct hs_body *from, struct hs_body *to)
{
    *to = *from;
    for (uint16_t i = 0; i < to->count; i++)
        to->solids[i] = turn_solid(t, to->solids[i]);
}

/* If a player stopped the shot, adds this player's body to the walls, so that the body is drawn
   like a wall. */
static void add_blocker(const struct hs_verdict_scene *scene, struct turned *t)
{
    const struct hs_recomputed *of = scene->of;
    struct hs_bracket bracket;
    struct hs_body body;
    if (scene->stop != HS_SCENE_STOP_PLAYER)
        return;
    const struct hs_player *player =
        hs_players_find(&of->match->players, hs_name_str(&of->result.impact.player));
    if (player == NULL ||
        !hs_scene_body(of->match, player, scene->shot.hit_time_us, &bracket, &body))
        return;
    for (uint16_t i = 0; i < body.count; i++)
        t->walls[t->wall_count++] = turn_solid(t, body.solids[i]);
}

static void turn_walls(const struct hs_verdict_scene *scene, struct turned *t)
{
    const struct hs_world_parts *walls = &scene->walls;
    for (size_t i = 0; i < walls->box_count; i++)
        t->walls[t->wall_count++] =
            turn_solid(t, hs_solid_of_box(walls->boxes[i].min, walls->boxes[i].max));
    for (size_t i = 0; i < scene->mover_count; i++)
        if (scene->movers[i].pose.is_solid)
            t->walls[t->wall_count++] = turn_solid(t, scene->movers[i].pose.solid);
    for (size_t i = 0; i < walls->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            t->triangles[i].corner[k] = turn(t, walls->triangles[i][k]);
    add_blocker(scene, t);
}

/* Fills `t` from a scene. Returns false if memory runs out. In both cases, the caller must free
   `path`, `triangles` and `walls`. */
static bool turn_scene(const struct hs_verdict_scene *scene, struct turned *t)
{
    const struct hs_hit_scene *shot = &scene->shot;
    t->up = hs_up_direction(scene->of->ruleset->up);
    t->right = (struct hs_vec){t->up.y, t->up.z, t->up.x};
    t->ahead = hs_vec_cross(t->up, t->right);
    t->path = calloc(HS_SCENE_POINTS_MAX, sizeof *t->path);
    t->triangles = calloc(scene->walls.triangle_count + 1, sizeof *t->triangles);
    t->walls =
        calloc(scene->walls.box_count + scene->mover_count + HS_MAX_HITBOXES, sizeof *t->walls);
    if (t->path == NULL || t->triangles == NULL || t->walls == NULL)
        return false;
    for (uint32_t i = 0; i < shot->point_count; i++)
        t->path[i] = turn(t, shot->points[i]);
    turn_body(t, &scene->then, &t->then);
    if (scene->has_now)
        turn_body(t, &scene->now, &t->now);
    t->closest = shot->closest;
    t->closest.center = turn(t, t->closest.center);
    t->closest.point = turn(t, t->closest.point);
    turn_walls(scene, t);
    return true;
}

/* Returns the height of a body. The scale of the picture and the thickness of the drawn slice
   depend on this height. */
static double height_of(const struct hs_body *body)
{
    double low = body->solids[0].center.z, high = low;
    for (uint16_t i = 0; i < body->count; i++) {
        const struct hs_solid *solid = &body->solids[i];
        double reach = solid->radius + hs_vec_length(solid->half_extents);
        low = hs_smaller(low, solid->center.z - reach);
        high = hs_larger(high, solid->center.z + reach);
    }
    return high - low;
}

static void set_obstacle(const struct hs_verdict_scene *scene, const struct turned *t,
                         struct hs_picture *picture)
{
    static const char *const names[] = {NULL, "a wall", "a mover", "another player"};
    const struct hs_hit_result *result = &scene->of->result;
    const struct hs_check_row *deciding = hs_scene_deciding(result);
    picture->obstacle = names[scene->stop];
    picture->stopped = turn(t, result->impact.center);
    picture->measured = result->impact.distance;
    picture->limit = scene->shot.closest.gap_distance;
    if (deciding != NULL && deciding->check == HS_CHECK_WORLD && deciding->unit != HS_UNIT_NONE) {
        picture->measured = deciding->measured;
        picture->limit = deciding->limit;
    }
}

/* Sets the distance by which the shot missed, and the largest allowed distance. */
static void set_miss(const struct hs_verdict_scene *scene, struct hs_picture *picture)
{
    picture->measured = scene->shot.closest.gap;
    picture->limit = scene->of->ruleset->hit.claim_padding;
    picture->is_hit = scene->shot.closest.touched;
}

static void draw(const struct hs_verdict_scene *scene, const struct turned *t, FILE *out)
{
    const struct hs_hit_scene *shot = &scene->shot;
    const char *unit = hs_scene_length_unit(scene->of->ruleset);
    double height = height_of(&t->then);
    struct hs_picture picture = {.shooter =
                                     shot->shooter != NULL ? shot->shooter->name.text : "nobody",
                                 .target = shot->target->name.text,
                                 .then = &t->then,
                                 .now = scene->has_now ? &t->now : NULL,
                                 .hit_time = hs_seconds(shot->hit_time_us),
                                 .arrival = hs_seconds(scene->of->now_us),
                                 .start = t->path[0],
                                 .end = t->path[shot->point_count - 1],
                                 .path = t->path,
                                 .path_count = shot->point_count,
                                 .closest = &t->closest,
                                 .radius = shot->radius,
                                 .unit = unit != NULL ? unit : "units",
                                 .min_scale = height / 45,
                                 .walls = t->walls,
                                 .wall_count = t->wall_count,
                                 .triangles = t->triangles,
                                 .triangle_count = scene->walls.triangle_count,
                                 .slice = height / 8};
    if (scene->stop != HS_SCENE_STOP_NONE)
        set_obstacle(scene, t, &picture);
    else
        set_miss(scene, &picture);
    hs_picture_draw(&picture, hs_picture_style_for(out), out);
}

bool hs_show_draw(const struct hs_verdict_scene *scene, FILE *out)
{
    const struct hs_hit_scene *shot = &scene->shot;
    struct turned *t;
    if (!shot->has_path || !scene->has_then || !shot->has_closest || shot->point_count < 2) {
        fprintf(out, "No picture: %s.\n",
                scene->of->hit == NULL ? "a posted shot has no target"
                : shot->target == NULL ? "the claim names no known target"
                : !scene->has_then     ? "the target has no pose at that time"
                : !shot->has_path      ? "the claim has no single path"
                                       : "the path does not reach the target's times");
        return true;
    }
    t = calloc(1, sizeof *t);
    bool fine = t != NULL && turn_scene(scene, t);
    if (fine)
        draw(scene, t, out);
    if (t != NULL) {
        free(t->path);
        free(t->triangles);
        free(t->walls);
    }
    free(t);
    return fine;
}
