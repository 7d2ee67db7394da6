#include "obstacle.h"

#include <float.h>

/* ---- one mover on one leg ---- */

/* The box cannot be touched on this leg, however it moves by `motion` meanwhile. */
static bool is_far(const struct hs_leg *leg, const struct hs_mover_pose *pose, struct hs_vec motion,
                   double slack)
{
    const struct hs_sweep *sweep = &leg->sweep;
    struct hs_vec from = hs_vec_sub(sweep->start, pose->solid.center);
    struct hs_vec travel = hs_vec_sub(hs_vec_scale(sweep->direction, sweep->length), motion);
    double squared = hs_vec_dot(travel, travel);
    double s = squared > 0 ? -hs_vec_dot(from, travel) / squared : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    double nearest = hs_vec_length(hs_vec_add_scaled(from, travel, s));
    return nearest > pose->reach + sweep->radius + slack;
}

static bool touches(const struct hs_leg *leg, const struct hs_mover_pose *pose,
                    struct hs_vec motion, struct hs_sweep_contact *out)
{
    double slack = 4 * HS_TOUCH_SLACK * (leg->sweep.length + leg->sweep.radius + pose->reach);
    if (!pose->is_solid || is_far(leg, pose, motion, slack))
        return false;
    struct hs_sweep relative = hs_leg_relative(leg, motion);
    hs_sweep_solid(&relative, &pose->solid, out);
    if (out->touched)
        hs_leg_to_world(leg, &relative, motion, out);
    return out->touched;
}

/* A mover without a place then: would it be in the way as it stands now? */
static void doubt_mover(const struct hs_leg *leg, const struct hs_mover *mover,
                        enum hs_rewind_status status, struct hs_obstacle *out)
{
    struct hs_mover_pose pose;
    struct hs_sweep_contact contact;
    if (!hs_mover_newest(mover, &pose) ||
        !touches(leg, &pose, (struct hs_vec){0, 0, 0}, &contact) ||
        (out->is_doubtful && out->doubt_distance <= contact.distance))
        return;
    out->is_doubtful = true;
    out->doubt_distance = contact.distance;
    out->doubt = status;
    out->doubt_mover = mover;
}

/* A leg with no sample of the mover inside: it moves straight. */
static void try_mover(struct hs_hit_context *c, const struct hs_leg *leg,
                      const struct hs_mover *mover, struct hs_obstacle *out)
{
    struct hs_mover_pose pose, end;
    enum hs_rewind_status status = hs_mover_rewind(mover, c->ruleset, leg->start_us, &pose);
    if (status != HS_REWIND_OK) {
        c->out->flags |= 1u << HS_FLAG_MOVER_UNKNOWN;
        doubt_mover(leg, mover, status, out);
        return;
    }
    struct hs_vec motion = {0, 0, 0};
    if (leg->end_us > leg->start_us && hs_mover_is_continuous(mover, leg->start_us, leg->end_us) &&
        hs_mover_rewind(mover, c->ruleset, leg->end_us, &end) == HS_REWIND_OK)
        motion = hs_vec_sub(end.solid.center, pose.solid.center);
    struct hs_sweep_contact contact;
    if (!touches(leg, &pose, motion, &contact) ||
        (out->touched && out->contact.distance <= contact.distance))
        return;
    out->touched = true;
    out->contact = contact;
    out->mover = mover;
}

static void try_movers(struct hs_hit_context *c, const struct hs_leg *whole,
                       struct hs_obstacle *out)
{
    const struct hs_movers *movers = &c->match->movers;
    for (uint32_t i = 0; i < movers->count; i++) {
        const struct hs_mover *mover = &movers->all[i];
        struct hs_leg leg = *whole, rest;
        while (hs_leg_cut(&leg, hs_mover_next_sample(mover, leg.start_us), &rest)) {
            try_mover(c, &leg, mover, out);
            leg = rest;
        }
        try_mover(c, &leg, mover, out);
    }
}

static void try_map(const struct hs_hit_context *c, const struct hs_leg *leg,
                    struct hs_obstacle *out)
{
    struct hs_world_contact contact;
    if (c->match->world == NULL || !hs_world_sweep(c->match->world, &leg->sweep, &contact))
        return;
    out->touched = true;
    out->mover = NULL;
    out->contact = (struct hs_sweep_contact){.touched = true,
                                             .distance = leg->travelled + contact.distance,
                                             .center = contact.center,
                                             .point = contact.point,
                                             .normal = contact.normal};
}

/* ---- paths and lines ---- */

static bool is_open(const struct hs_hit_context *c)
{
    return c->match->world == NULL && c->match->movers.count == 0;
}

/* Along the path with a sphere of that radius, as far as the first leg on which something is. */
static void cast(struct hs_hit_context *c, const struct hs_path *path, double radius,
                 struct hs_obstacle *out)
{
    memset(out, 0, sizeof *out);
    uint32_t legs = hs_path_legs(path);
    for (uint32_t i = 0; i < legs && !out->touched; i++) {
        struct hs_leg leg;
        hs_path_leg(path, i, &leg);
        leg.sweep.radius = radius;
        try_map(c, &leg, out);
        try_movers(c, &leg, out);
    }
    if (out->touched && out->is_doubtful && out->doubt_distance >= out->contact.distance)
        out->is_doubtful = false;
}

void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, struct hs_obstacle *out)
{
    out->touched = out->is_doubtful = false;
    if (is_open(c))
        return;
    cast(c, path, path->radius, out);
    bool starts_inside = (out->touched && out->contact.distance <= 0) ||
                         (out->is_doubtful && out->doubt_distance <= 0);
    if (starts_inside && path->radius > 0)
        cast(c, path, 0, out);
}

void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, struct hs_obstacle *out)
{
    memset(out, 0, sizeof *out);
    struct hs_vec along = hs_vec_sub(to, from);
    double length = hs_vec_length(along);
    if (is_open(c) || !(length > 0))
        return;
    struct hs_leg leg = {.sweep = {.start = from,
                                   .direction = hs_vec_scale(along, 1 / length),
                                   .length = length,
                                   .radius = 0},
                         .start_us = time_us,
                         .end_us = time_us};
    try_map(c, &leg, out);
    try_movers(c, &leg, out);
    if (out->touched && out->is_doubtful && out->doubt_distance >= out->contact.distance)
        out->is_doubtful = false;
}

/* ---- reporting ---- */

void hs_report_mover(struct hs_check_row *row, const struct hs_mover *mover)
{
    if (mover != NULL)
        row->mover = mover->name;
}

enum hs_reason hs_doubt_reason(const struct hs_obstacle *obstacle)
{
    return hs_missing_pose_reason(obstacle->doubt, HS_REASON_HISTORY_TOO_SHORT);
}
