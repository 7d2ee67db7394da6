#include "cli/simulate/film.h"

#include <math.h>

#include "validators/base/units.h"

bool hs_film_find(const struct hs_film *film, double time, struct hs_moment *out)
{
    if (film->count == 0 || time < film->frames[0].time)
        return false;
    size_t low = 0, high = film->count; /* invariant: frames[low] is at or before `time` */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (film->frames[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    *out = (struct hs_moment){low, low, 0, film->frames[low].time};
    if (low + 1 == film->count)
        return true;
    double from = film->frames[low].time, to = film->frames[low + 1].time;
    *out = (struct hs_moment){low, low + 1, (time - from) / (to - from), time};
    return true;
}

static void blend(const struct hs_sim_pose *from, const struct hs_sim_pose *to, double alpha,
                  struct hs_sim_pose *out)
{
    *out = *from;
    if (to->jumps != from->jumps)
        return;
    out->position = hs_vec_lerp(from->position, to->position, alpha);
    out->yaw = from->yaw + alpha * remainder(to->yaw - from->yaw, 2 * M_PI);
}

bool hs_film_pose(const struct hs_film *film, double time, unsigned who, struct hs_sim_pose *out)
{
    struct hs_moment moment;
    if (!hs_film_find(film, time, &moment))
        return false;
    blend(&film->frames[moment.from].people[who], &film->frames[moment.to].people[who],
          moment.alpha, out);
    return true;
}

/* Rounds a number to single precision. `single` is volatile, because gcc 12 at -O2 omits the
   rounding when it vectorizes two conversions. */
static double to_single(double value)
{
    volatile float single = (float)value;
    return (double)single;
}

struct hs_vec hs_to_single(struct hs_vec v)
{
    return (struct hs_vec){to_single(v.x), to_single(v.y), to_single(v.z)};
}

static struct hs_sim_pose as_sent(const struct hs_sim_pose *pose)
{
    const double steps = 65536 / (2 * M_PI);
    struct hs_sim_pose sent = *pose;
    sent.position = hs_to_single(pose->position);
    sent.yaw = round(pose->yaw * steps) / steps;
    return sent;
}

void hs_film_pose_sent(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                       struct hs_sim_pose *out)
{
    struct hs_sim_pose from = as_sent(&film->frames[moment->from].people[who]);
    struct hs_sim_pose to = as_sent(&film->frames[moment->to].people[who]);
    blend(&from, &to, moment->alpha, out);
}

void hs_pose_body(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                  struct hs_body *out)
{
    const struct hs_rig *rig = arena->rig;
    const struct hs_stance *stance = &rig->stances[pose->crouched ? 1 : 0];
    double c = cos(pose->yaw), s = sin(pose->yaw);
    out->rig = rig;
    out->count = rig->hitbox_count;
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        const struct hs_hitbox *box = &rig->hitboxes[i];
        struct hs_vec at = hs_vec_add(stance->bones[box->bone].position, box->center);
        struct hs_vec turned = {c * at.x - s * at.y, s * at.x + c * at.y, at.z};
        out->hitbox[i] = i;
        out->solids[i] = (struct hs_solid){.center = hs_vec_add(pose->position, turned),
                                           .axes = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}},
                                           .half_extents = box->half_extents,
                                           .radius = box->radius};
        if (box->shape == HS_SHAPE_CAPSULE)
            out->solids[i].half_extents = (struct hs_vec){0, 0, box->half_length};
    }
}

/* Returns false if the sweep is too far from the player's position to touch any hitbox. */
static bool can_touch(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                      const struct hs_sweep *sweep)
{
    double along = hs_vec_dot(hs_vec_sub(pose->position, sweep->start), sweep->direction);
    struct hs_vec nearest =
        hs_vec_add_scaled(sweep->start, sweep->direction, hs_clamp(along, 0, sweep->length));
    return hs_vec_distance(nearest, pose->position) <= arena->ruleset->reach + sweep->radius + 0.01;
}

bool hs_pose_touch(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep, struct hs_first *out)
{
    struct hs_body body;
    bool touched = false;
    double distance;
    if (!can_touch(arena, pose, sweep))
        return false;
    hs_pose_body(arena, pose, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        if (!hs_sweep_touches(sweep, &body.solids[i], &distance) || distance >= out->distance)
            continue;
        out->hitbox = i;
        out->distance = distance;
        touched = true;
    }
    return touched;
}

double hs_pose_gap(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep)
{
    struct hs_body body;
    double gap = HUGE_VAL;
    hs_pose_body(arena, pose, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_sweep_contact contact;
        hs_sweep_solid(sweep, &body.solids[i], &contact);
        gap = fmin(gap, contact.gap);
    }
    return gap;
}

double hs_pose_distance(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                        struct hs_vec point)
{
    struct hs_body body;
    double nearest = HUGE_VAL;
    hs_pose_body(arena, pose, &body);
    for (uint16_t i = 0; i < body.count; i++)
        nearest = fmin(nearest, hs_solid_distance(&body.solids[i], point));
    return nearest;
}

bool hs_pose_is_hidden(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                       struct hs_vec from)
{
    struct hs_body body;
    struct hs_vec centre = pose->position, top = centre, bottom = centre;
    double low = HUGE_VAL, high = -HUGE_VAL;
    hs_pose_body(arena, pose, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_vec at = body.solids[i].center;
        double z = at.z, half = body.solids[i].half_extents.z + body.solids[i].radius;
        if (z - half < low) {
            at.z = low = z - half;
            bottom = at;
        }
        if (z + half > high) {
            at.z = high = z + half;
            top = at;
        }
    }
    centre.z = (low + high) / 2;
    return hs_world_blocks(arena->world, from, centre) &&
           hs_world_blocks(arena->world, from, top) && hs_world_blocks(arena->world, from, bottom);
}

struct hs_sweep hs_sweep_between(struct hs_vec from, struct hs_vec to, double radius)
{
    struct hs_vec along = hs_vec_sub(to, from);
    double length = hs_vec_length(along);
    return (struct hs_sweep){from, hs_vec_scale(along, 1 / length), length, radius};
}
