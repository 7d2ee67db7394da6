#include "validators/hit/sight.h"

#include "validators/hit/obstacle.h"

/* Points looked at are drawn this far towards the centre: soles stand in the floor. */
#define DRAWN_IN 0.01

/* Components of a direction along an axis below this are none: which corner of a level face is
   highest must not hang on rounding. */
#define LEVEL 1e-6

/* The point of a solid furthest in a direction (unit). */
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

/* The middle of the box around all hitboxes. */
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
        hs_obstacle_hides(c, from, points[i], time_us, &wall);
        if (wall.touched)
            continue;
        if (!wall.is_doubtful)
            return HS_REASON_OK;
        reason = hs_doubt_reason(&wall);
    }
    return reason;
}
