#include "validators/hit/obstacle.h"

#include "validators/hit/contact.h"
#include "validators/hit/report.h"

/* ---- the blockers of a claim ---- */

static struct hs_blockers blockers_of(struct hs_hit_context *c)
{
    return (struct hs_blockers){.world = c->match->world,
                                .movers = &c->match->movers,
                                .ruleset = c->ruleset,
                                .work = &c->work};
}

static void flag_unknown(struct hs_hit_context *c, const struct hs_blockers *blockers)
{
    if (blockers->is_mover_unknown)
        c->out->flags |= 1u << HS_FLAG_MOVER_UNKNOWN;
}

void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out)
{
    struct hs_blockers blockers = blockers_of(c);
    hs_blockers_find(&blockers, path, radius, out);
    flag_unknown(c, &blockers);
}

void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out)
{
    struct hs_blockers blockers = blockers_of(c);
    hs_blockers_between(&blockers, from, to, time_us, scope, out);
    flag_unknown(c, &blockers);
}

void hs_obstacle_at(struct hs_hit_context *c, struct hs_vec center, double radius,
                    struct hs_obstacle *out)
{
    const struct hs_sweep sweep = {.start = center, .direction = {1, 0, 0}, .radius = radius};
    struct hs_blockers blockers = blockers_of(c);
    *out = (struct hs_obstacle){.touched = false};
    if (c->match->world != NULL)
        hs_blockers_sweep_map(&blockers, &sweep, out);
}

/* ---- the sight of a body ---- */

/* The tested points are moved towards the body's centre by this share of their distance from the
   centre. Otherwise the floor would hide the lowest point. */
#define DRAWN_IN 0.01

/* A smaller component of a direction counts as 0, so that rounding does not decide which corner of
   a level face is the highest. */
#define LEVEL 1e-6

/* Returns the point of a solid that is furthest in `direction`, a unit vector. */
static struct hs_vec furthest(const struct hs_solid *solid, struct hs_vec direction)
{
    const double half[3] = {solid->half_extents.x, solid->half_extents.y, solid->half_extents.z};
    struct hs_vec point = hs_vec_add_scaled(solid->center, direction, solid->radius);
    for (int i = 0; i < 3; i++) {
        double along = hs_vec_dot(solid->axes[i], direction);
        double sign = along > LEVEL ? 1 : along < -LEVEL ? -1 : 0;
        point = hs_vec_add_scaled(point, solid->axes[i], sign * half[i]);
    }
    return point;
}

static struct hs_vec furthest_of_body(const struct hs_body *body, struct hs_vec direction)
{
    struct hs_vec best = furthest(&body->solids[0], direction);
    for (uint16_t i = 1; i < body->count; i++) {
        struct hs_vec point = furthest(&body->solids[i], direction);
        if (hs_vec_dot(point, direction) > hs_vec_dot(best, direction))
            best = point;
    }
    return best;
}

static struct hs_vec middle_of_body(const struct hs_body *body)
{
    static const struct hs_vec axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    struct hs_vec middle = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct hs_vec high = furthest_of_body(body, axes[i]);
        struct hs_vec low = furthest_of_body(body, hs_vec_scale(axes[i], -1));
        middle = hs_vec_add_scaled(middle, axes[i],
                                   (hs_vec_dot(high, axes[i]) + hs_vec_dot(low, axes[i])) / 2);
    }
    return middle;
}

enum hs_reason hs_sight_of_body(struct hs_hit_context *c, struct hs_vec from,
                                const struct hs_body *body, int64_t time_us)
{
    if (body->count == 0)
        return HS_REASON_OK;
    struct hs_vec up = hs_up_direction(c->ruleset->up);
    struct hs_vec middle = middle_of_body(body);
    const struct hs_vec points[3] = {
        middle, hs_vec_lerp(furthest_of_body(body, up), middle, DRAWN_IN),
        hs_vec_lerp(furthest_of_body(body, hs_vec_scale(up, -1)), middle, DRAWN_IN)};
    enum hs_reason reason = HS_REASON_BLAST_OCCLUDED;
    for (int i = 0; i < 3; i++) {
        struct hs_obstacle wall;
        hs_obstacle_between(c, from, points[i], time_us, HS_ANY, &wall);
        if (wall.touched)
            continue;
        if (!wall.is_unknown)
            return HS_REASON_OK;
        reason = hs_unknown_reason(&wall);
    }
    return reason;
}

/* ---- reporting ---- */

enum hs_reason hs_unknown_reason(const struct hs_obstacle *obstacle)
{
    return hs_missing_pose_reason(obstacle->unknown_status, HS_REASON_HISTORY_TOO_SHORT);
}

enum hs_reason hs_report_obstacle(struct hs_check_row *row, const struct hs_obstacle *obstacle,
                                  bool is_certain, enum hs_reason reason, double needed)
{
    const struct hs_mover *mover = is_certain ? obstacle->mover : obstacle->unknown_mover;
    double distance = is_certain ? obstacle->contact.distance : obstacle->unknown_distance;
    hs_report_measure(row, HS_UNIT_LENGTH, distance, needed);
    if (mover != NULL)
        row->mover = mover->name;
    return is_certain ? reason : hs_unknown_reason(obstacle);
}
