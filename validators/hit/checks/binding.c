/* binding: does the claimed path start in the direction of the posted shot? For a projectile, its
   launch direction is compared. Pellets are compared with the direction of the shot here; pellets.c
   compares each pellet with its own expected direction. */
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"

/* Games round the start and end of a trace, in some engines to a centimetre. So the end may be off
   the shot's line by this share of hit.sweep_extension. This tolerance matters only for short
   traces. */
#define ROUNDING_SHARE 0.1

/* The directions that a claim may have. */
struct bound {
    struct hs_vec directions[HS_MAX_PELLETS];
    size_t count; /* 0: every direction is allowed */
    double limit; /* allowed angle to the nearest of these directions, degrees */
};

static bool has_velocity(const struct hs_hit_context *c)
{
    return hs_hit_flies(c) && c->claim->has_velocity && hs_vec_length(c->claim->velocity) > 0;
}

static void find_bound(const struct hs_hit_context *c, struct bound *out)
{
    const struct hs_posted_shot *shot = c->posted != NULL ? c->posted->shot : NULL;
    out->limit = c->ruleset->hit.binding_tolerance_deg;
    out->count = 0;
    if (c->claim->pellet_count == 0 &&
        (out->count = hs_posted_directions(c, out->directions)) > 0) {
        out->limit = HS_SPREAD_TOLERANCE_DEG;
    } else if (shot != NULL && shot->has_direction) {
        out->directions[out->count++] = shot->direction;
        out->limit += c->weapon->spread_deg;
    } else if (has_velocity(c)) {
        /* No direction was posted, so the path must fit the claimed velocity. */
        out->directions[out->count++] = c->direction;
    }
}

/* Returns the angle between an arc of directions and the nearest allowed direction, in radians. */
static double nearest_to_arc(const struct bound *bound, struct hs_vec from, struct hs_vec to)
{
    double nearest = HS_PI;
    for (size_t i = 0; i < bound->count; i++)
        nearest = fmin(nearest, hs_angle_to_arc(bound->directions[i], from, to));
    return nearest;
}

static double nearest(const struct bound *bound, struct hs_vec direction)
{
    double off = HS_PI;
    for (size_t i = 0; i < bound->count; i++)
        off = fmin(off, hs_angle_between(bound->directions[i], direction));
    return off;
}

/*
 * A launch that reaches the end of the claim may have any speed that the weapon allows, and a flat
 * or a lobbed arc. Computes the smallest angle, in radians, between such a launch and the allowed
 * directions. The claimed times are not used, because games round times to ticks. With rounded
 * times, the computed launch direction of a slow projectile would be wrong by several degrees.
 * Returns false if no launch reaches the end.
 */
static bool launch_off(const struct hs_hit_context *c, const struct bound *bound, double *off)
{
    double speed = c->weapon->speed, flat[2], lobbed[2], needed;
    if (!hs_hit_flight_times(c, speed * (1 + HS_SPEED_TOLERANCE), &flat[0], &lobbed[0], &needed))
        return false;
    /* If the slowest allowed speed does not reach the end, use the slowest launch that reaches the
       end. Its flat and its lobbed arc are the same. Its flight time is sqrt(2 d / g), where d is
       the distance from start to end (`trace_length`). */
    if (!hs_hit_flight_times(c, speed * (1 - HS_SPEED_TOLERANCE), &flat[1], &lobbed[1], &needed))
        flat[1] = lobbed[1] = sqrt(2 * c->trace_length / c->weapon->gravity);
    double low = nearest_to_arc(bound, hs_hit_launch(c, flat[0]), hs_hit_launch(c, flat[1]));
    double high = nearest_to_arc(bound, hs_hit_launch(c, lobbed[0]), hs_hit_launch(c, lobbed[1]));
    *off = fmin(low, high);
    if (has_velocity(c))
        *off = fmax(*off, nearest(bound, c->direction));
    return true;
}

/* Reports the pellet that is furthest beyond its limit. */
static enum hs_reason check_pellets(const struct hs_hit_context *c, const struct bound *bound,
                                    double rounding, struct hs_check_row *row)
{
    double worst = -HS_PI;
    for (size_t i = 0; i < c->claim->pellet_count; i++) {
        struct hs_vec direction;
        if (!hs_pellet_direction(c, i, &direction))
            continue;
        double off = nearest(bound, direction);
        double length = hs_vec_distance(c->claim->start, c->claim->pellets[i].end);
        double limit = fmax(bound->limit, hs_degrees(rounding / length));
        if (hs_degrees(off) - limit <= worst)
            continue;
        worst = hs_degrees(off) - limit;
        hs_report_measure(row, HS_UNIT_DEGREES, hs_degrees(off), limit);
    }
    return row->measured <= row->limit ? HS_REASON_OK : HS_REASON_DIRECTION_MISMATCH;
}

enum hs_reason hs_check_binding(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (c->weapon == NULL || !c->has_path || !(c->trace_length > 0) || hs_hit_is_driven(c) ||
        (c->posted == NULL && !has_velocity(c)))
        return HS_NO_ROW;
    struct bound bound;
    find_bound(c, &bound);
    if (bound.count == 0)
        return HS_NO_ROW;
    double rounding = ROUNDING_SHARE * c->ruleset->hit.sweep_extension, off;
    hs_work_spend(&c->work, (bound.count + c->claim->pellet_count) * HS_WORK_BALL);
    if (c->claim->pellet_count > 0)
        return check_pellets(c, &bound, rounding, row);
    if (!hs_hit_flies(c))
        off = nearest(&bound, c->direction);
    else if (!launch_off(c, &bound, &off))
        return HS_NO_ROW; /* the check `flight` rejects the claim */
    return hs_report_limit(row, HS_UNIT_DEGREES, hs_degrees(off),
                           fmax(bound.limit, hs_degrees(rounding / c->trace_length)),
                           HS_REASON_DIRECTION_MISMATCH);
}
