#include "cli/simulate/film.h"

#include <math.h>

#define PI 3.14159265358979323846

bool hs_film_find(const struct hs_film *film, double time, struct hs_moment *out)
{
    if (film->count == 0 || time < film->frames[0].time)
        return false;
    size_t low = 0, high = film->count; /* frames[low] is at or before the time */
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

static double blend_angle(double from, double to, double alpha)
{
    return from + alpha * remainder(to - from, 2 * PI);
}

static void blend(const struct hs_sim_pose *from, const struct hs_sim_pose *to, double alpha,
                  struct hs_sim_pose *out)
{
    *out = *from;
    if (to->jumps != from->jumps)
        return;
    out->position = hs_vec_lerp(from->position, to->position, alpha);
    out->yaw = blend_angle(from->yaw, to->yaw, alpha);
}

void hs_film_pose(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                  struct hs_sim_pose *out)
{
    blend(&film->frames[moment->from].people[who], &film->frames[moment->to].people[who],
          moment->alpha, out);
}

/* Through memory: gcc 12 at -O2 leaves the rounding out where it converts two at a time. */
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
    const double steps = 65536 / (2 * PI);
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
    hs_sim_arena_body(arena, pose->position, pose->yaw, pose->crouched ? 1 : 0, out);
}

void hs_film_first(const struct hs_sim_arena *arena, const struct hs_sim_pose poses[HS_CROWD],
                   unsigned but_for, const struct hs_sweep *sweep, double world_radius,
                   struct hs_first *out)
{
    struct hs_sweep thin = *sweep;
    struct hs_world_contact contact;
    thin.radius = world_radius;
    *out = (struct hs_first){.who = -1, .distance = sweep->length};
    if (hs_world_sweep(arena->world, &thin, &contact)) {
        out->world = true;
        out->distance = contact.distance;
        out->normal = contact.normal;
    }
    for (unsigned who = 0; who < HS_CROWD; who++) {
        struct hs_body body;
        double distance;
        if (who == but_for || !poses[who].alive)
            continue;
        hs_pose_body(arena, &poses[who], &body);
        for (uint16_t i = 0; i < body.count; i++) {
            if (!hs_sweep_touches(sweep, &body.solids[i], &distance) || distance >= out->distance)
                continue;
            *out = (struct hs_first){.who = (int)who, .hitbox = i, .distance = distance};
        }
    }
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

void hs_pose_marks(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   struct hs_vec out[3])
{
    struct hs_body body;
    double low = HUGE_VAL, high = -HUGE_VAL;
    hs_pose_body(arena, pose, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        const struct hs_solid *solid = &body.solids[i];
        double half = solid->half_extents.z + solid->radius;
        if (solid->center.z - half < low) {
            low = solid->center.z - half;
            out[2] = (struct hs_vec){solid->center.x, solid->center.y, low};
        }
        if (solid->center.z + half > high) {
            high = solid->center.z + half;
            out[1] = (struct hs_vec){solid->center.x, solid->center.y, high};
        }
    }
    out[0] = pose->position;
    out[0].z = (low + high) / 2;
}

bool hs_pose_is_hidden(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                       struct hs_vec from)
{
    struct hs_vec marks[3];
    hs_pose_marks(arena, pose, marks);
    for (int i = 0; i < 3; i++)
        if (!hs_world_blocks(arena->world, from, marks[i]))
            return false;
    return true;
}

struct hs_sweep hs_sweep_between(struct hs_vec from, struct hs_vec to, double radius)
{
    struct hs_vec along = hs_vec_sub(to, from);
    double length = hs_vec_length(along);
    return (struct hs_sweep){from, hs_vec_scale(along, 1 / length), length, radius};
}
