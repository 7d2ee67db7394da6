#include "tests/property/scene_reference.h"

#include <math.h>

/* The rigs of tests/support/oracle/scene.h, written again as separate code. */
struct shape {
    const char *zone;
    int bone;
    enum { BALL, CAPSULE, BOX, ALIGNED } kind;
    struct hs_vec center,
        /* half extents; for a capsule z is half the distance between the centres of its caps, and
           the rest is 0 */
        half;
    double radius;
    bool tilted;
};

static const struct shape shapes[HS_SCENE_RIGS][HS_REFERENCE_HITBOXES] = {
    [HS_SCENE_BALL] = {{"core", 0, BALL, {0, 0, 0.9}, {0, 0, 0}, 0.4, false}},
    [HS_SCENE_BODY] = {{"head", 1, BALL, {0.05, 0, 0.02}, {0, 0, 0}, 0.15, false},
                       {"torso", 0, CAPSULE, {0, 0, 1.1}, {0, 0, 0.22}, 0.28, true},
                       {"legs", 0, BOX, {0, 0.05, 0.4}, {0.2, 0.25, 0.4}, 0, false}},
    [HS_SCENE_CRATE] = {{"crate", 0, BOX, {0.1, 0, 0.8}, {0.3, 0.5, 0.7}, 0, true}},
    [HS_SCENE_HULL] = {{"hull", 0, ALIGNED, {0, 0.1, 0.9}, {0.4, 0.4, 0.9}, 0, false}},
};

static const double radii[HS_SCENE_WEAPONS] = {0.05, 0, 0.05, 0.3};
static const double speeds[HS_SCENE_WEAPONS] = {0, 0, 60, 30};

#define EXTENSION 0.1

/* ---- poses ---- */

static struct hs_vec mix(struct hs_vec a, struct hs_vec b, double s)
{
    return hs_vec_add(hs_vec_scale(a, 1 - s), hs_vec_scale(b, s));
}

static struct hs_scene_quat slerp(struct hs_scene_quat a, struct hs_scene_quat b, double s)
{
    double dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    if (dot < 0) {
        b = (struct hs_scene_quat){-b.x, -b.y, -b.z, -b.w};
        dot = -dot;
    }
    double angle = dot < 1 ? acos(dot) : 0, divisor = sin(angle);
    double p = divisor > 1e-9 ? sin((1 - s) * angle) / divisor : 1 - s;
    double q = divisor > 1e-9 ? sin(s * angle) / divisor : s;
    return (struct hs_scene_quat){p * a.x + q * b.x, p * a.y + q * b.y, p * a.z + q * b.z,
                                  p * a.w + q * b.w};
}

/* The pose of a bone in the world. */
struct placed {
    struct hs_vec position;
    struct hs_scene_quat rotation;
    double scale[3];
};

static struct placed bone_of(const struct hs_scene_player *player, int f, int bone)
{
    const struct hs_scene_pose *pose = &player->poses[f];
    if (player->has_bones) {
        const struct hs_scene_bone *b = &pose->bones[bone];
        return (struct placed){b->position, b->rotation, {b->scale[0], b->scale[1], b->scale[2]}};
    }
    struct hs_scene_quat nod = hs_scene_quat_about((struct hs_vec){1, 0, 0}, 0.5);
    struct hs_vec rest = {0, 0, bone == 0 ? 0 : 1.6};
    return (struct placed){hs_vec_add(pose->position, hs_scene_turn(pose->rotation, rest)),
                           bone == 0 ? pose->rotation : hs_scene_product(pose->rotation, nod),
                           {1, 1, 1}};
}

/* Returns the pose of a bone at a time. A rest pose moves with the interpolated root. Posted bones
   are interpolated separately, each from its older place to its newer one. */
static struct placed bone_at(const struct hs_scene *scene, const struct hs_scene_player *player,
                             int bone, double time_us)
{
    int f = 0;
    while (f + 2 < HS_SCENE_FRAMES && (double)scene->times_us[f + 1] <= time_us)
        f++;
    double from = (double)scene->times_us[f], to = (double)scene->times_us[f + 1];
    double s = fmin(1, fmax(0, (time_us - from) / (to - from)));
    const struct hs_scene_pose *a = &player->poses[f], *b = &player->poses[f + 1];
    struct placed p = bone_of(player, f, bone), q = bone_of(player, f + 1, bone);
    if (!player->has_bones) {
        struct hs_scene_quat root = slerp(a->rotation, b->rotation, s);
        struct hs_scene_player still = *player;
        still.poses[0].position = mix(a->position, b->position, s);
        still.poses[0].rotation = root;
        return bone_of(&still, 0, bone);
    }
    /* The library interpolates each bone relative to the root, which moves in a straight line. That
       gives the same result as interpolating between places in the world. */
    p.position = mix(p.position, q.position, s);
    p.rotation = slerp(p.rotation, q.rotation, s);
    for (int i = 0; i < 3; i++)
        p.scale[i] = p.scale[i] * (1 - s) + q.scale[i] * s;
    return p;
}

/* ---- distances ---- */

static double outside(double at, double half)
{
    return fmax(fabs(at) - half, 0);
}

/* Returns the distance from a point to a shape on a bone. The distance is negative inside the
   shape. */
static double shape_distance(const struct shape *shape, const struct placed *bone,
                             struct hs_vec point)
{
    const double *k = bone->scale;
    struct hs_vec center = {shape->center.x * k[0], shape->center.y * k[1], shape->center.z * k[2]};
    struct hs_vec half = {shape->half.x * k[0], shape->half.y * k[1], shape->half.z * k[2]};
    struct hs_vec p = hs_vec_sub(point, bone->position);
    struct hs_scene_quat back = bone->rotation;
    if (shape->kind != ALIGNED) {
        back.w = -back.w; /* the inverse rotation, except for a sign that does not matter */
        p = hs_scene_turn(back, p);
    }
    p = hs_vec_sub(p, center);
    if (shape->tilted) {
        struct hs_scene_quat tilt = hs_scene_quat_about((struct hs_vec){0.6, 0.8, 0}, -0.7);
        p = hs_scene_turn(tilt, p);
    }
    if (shape->kind == BALL)
        return hs_vec_length(p) - shape->radius * fmax(fmax(k[0], k[1]), k[2]);
    if (shape->kind == CAPSULE) {
        p.z = outside(p.z, half.z);
        return hs_vec_length(p) - shape->radius * fmax(k[0], k[1]);
    }
    double inside = fmax(fmax(fabs(p.x) - half.x, fabs(p.y) - half.y), fabs(p.z) - half.z);
    if (inside <= 0)
        return inside;
    return hs_vec_length(
        (struct hs_vec){outside(p.x, half.x), outside(p.y, half.y), outside(p.z, half.z)});
}

/* ---- the path ---- */

static double whole_length(const struct hs_scene *scene)
{
    return hs_vec_distance(scene->start, scene->end) + EXTENSION;
}

double hs_scene_reference_step(const struct hs_scene *scene)
{
    return whole_length(scene) / HS_REFERENCE_STEPS;
}

/* Returns the time at which the projectile has travelled this far. */
static double time_at(const struct hs_scene *scene, double travel)
{
    double end_us = (double)scene->hit_time_us, length = whole_length(scene) - EXTENSION;
    if (speeds[scene->weapon] == 0 || travel >= length)
        return end_us;
    double start_us = scene->has_fire_time ? (double)scene->fire_time_us
                                           : end_us - length / speeds[scene->weapon] * 1e6;
    return start_us + (end_us - start_us) * travel / length;
}

static double gap_at(const struct hs_scene *scene, int player, const struct shape *shape,
                     double travel)
{
    double length = whole_length(scene) - EXTENSION;
    struct hs_vec center = mix(scene->start, scene->end, travel / length);
    struct placed bone =
        bone_at(scene, &scene->players[player], shape->bone, time_at(scene, travel));
    return shape_distance(shape, &bone, center) - radii[scene->weapon];
}

/* Finds the smallest distance to a shape. First measures every hundredth step. Along one unit of
   travel the distance changes by at most one, and the motion of the bodies changes it by at most
   one more. If the distance cannot be a new smallest one between two measured steps, the steps
   between them are skipped. */
static void walk(const struct hs_scene *scene, int player, const struct shape *shape,
                 struct hs_scene_gap *out)
{
    enum { STRIDE = 100, MARKS = HS_REFERENCE_STEPS / STRIDE + 1 };
    double step = hs_scene_reference_step(scene), marks[MARKS];
    *out = (struct hs_scene_gap){shape->zone, HUGE_VAL, HUGE_VAL};
    for (int m = 0; m < MARKS; m++) {
        marks[m] = gap_at(scene, player, shape, m * STRIDE * step);
        out->gap = fmin(out->gap, marks[m]);
    }
    for (int m = 0; m + 1 < MARKS; m++) {
        double lowest = fmin(marks[m], marks[m + 1]) - 2 * STRIDE * step;
        if (lowest > fmax(out->gap, 0) || (out->distance < HUGE_VAL && lowest > out->gap))
            continue;
        for (int i = m * STRIDE; i <= (m + 1) * STRIDE; i++) {
            double gap = gap_at(scene, player, shape, i * step);
            out->gap = fmin(out->gap, gap);
            if (gap <= 0 && i * step < out->distance)
                out->distance = i * step;
        }
    }
}

void hs_scene_reference(const struct hs_scene *scene, int player, struct hs_scene_meeting *out)
{
    const struct shape *rig = shapes[scene->players[player].rig];
    out->count = 0;
    for (int i = 0; i < HS_REFERENCE_HITBOXES && rig[i].zone != NULL; i++)
        walk(scene, player, &rig[i], &out->hitboxes[out->count++]);
}
