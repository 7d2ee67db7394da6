#include "validators/geometry/path.h"
#include "validators/base/units.h"

static struct hs_vec unit_or_x(struct hs_vec v)
{
    double length = hs_vec_length(v);
    return length > 0 ? hs_vec_scale(v, 1 / length) : (struct hs_vec){1, 0, 0};
}

void hs_path_trace(struct hs_vec start, struct hs_vec end, double radius, double extension,
                   int64_t time_us, struct hs_path *out)
{
    struct hs_vec along = hs_vec_sub(end, start);
    double length = hs_vec_length(along);
    /* A trace with length 0 still needs a direction: its sphere is tested at the start. */
    struct hs_vec direction = unit_or_x(along), none = {0, 0, 0};
    out->start = start;
    out->velocity = out->gravity = none;
    out->direction = out->end_direction = direction;
    out->length = length;
    out->extension = length > 0 ? extension : 0;
    out->radius = radius;
    out->start_us = out->end_us = time_us;
    out->flight_legs = 0;
    out->reach = out->length + out->extension;
}

/* Returns the position after a share (0 .. 1) of the flight time:
   start + velocity t + gravity t^2 / 2. */
static struct hs_vec flight_place(const struct hs_path *path, double share)
{
    double t = hs_seconds(path->end_us - path->start_us) * share;
    struct hs_vec at = hs_vec_add_scaled(path->start, path->velocity, t);
    return hs_vec_add_scaled(at, path->gravity, t * t / 2);
}

static uint32_t legs_needed(const struct hs_path *path, double chord_error)
{
    int64_t flight = path->end_us - path->start_us;
    double legs = ceil((double)flight / HS_LEG_US);
    double gravity = hs_vec_length(path->gravity);
    if (gravity > 0 && chord_error > 0) {
        /* The chord over a time dt is at most g dt^2 / 8 away from the parabola. */
        double longest = sqrt(8 * chord_error / gravity);
        legs = fmax(legs, ceil(hs_seconds(flight) / longest));
    }
    return legs >= HS_MAX_LEGS ? HS_MAX_LEGS : legs < 1 ? 1 : (uint32_t)legs;
}

void hs_path_flight(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double radius,
                    double extension, double chord_error, int64_t start_us, int64_t end_us,
                    struct hs_path *out)
{
    double t = hs_seconds(end_us - start_us);
    struct hs_vec along = hs_vec_sub(end, start);
    struct hs_vec fall = hs_vec_scale(gravity, t * t / 2);
    *out = (struct hs_path){.start = start,
                            .velocity = hs_vec_scale(hs_vec_sub(along, fall), 1 / t),
                            .gravity = gravity,
                            .extension = extension,
                            .radius = radius,
                            .start_us = start_us,
                            .end_us = end_us};
    out->direction = unit_or_x(out->velocity);
    out->end_direction = unit_or_x(hs_vec_add_scaled(out->velocity, gravity, t));
    out->flight_legs = legs_needed(out, chord_error);
    struct hs_vec from = start;
    for (uint32_t i = 1; i <= out->flight_legs; i++) {
        struct hs_vec to = flight_place(out, (double)i / (double)out->flight_legs);
        out->length += hs_vec_distance(from, to);
        out->travelled[i] = out->length;
        from = to;
    }
    out->reach = out->length + out->extension;
}

uint32_t hs_path_legs(const struct hs_path *path)
{
    if (path->flight_legs == 0)
        return 1;
    uint32_t legs = path->flight_legs + (path->extension > 0 ? 1 : 0);
    while (legs > 1 && path->travelled[legs - 1] >= path->reach)
        legs--;
    return legs;
}

bool hs_leg_cut(struct hs_leg *leg, int64_t at_us, struct hs_leg *rest)
{
    if (at_us <= leg->start_us || at_us >= leg->end_us)
        return false;
    double share = (double)(at_us - leg->start_us) / (double)(leg->end_us - leg->start_us);
    double length = leg->sweep.length * share;
    *rest = *leg;
    rest->start_us = leg->end_us = at_us;
    rest->travelled += length;
    rest->sweep.length -= length;
    rest->sweep.start = hs_vec_add_scaled(leg->sweep.start, leg->sweep.direction, length);
    leg->sweep.length = length;
    return true;
}

struct hs_sweep hs_leg_relative(const struct hs_leg *leg, struct hs_vec motion)
{
    struct hs_sweep relative = leg->sweep;
    struct hs_vec travel =
        hs_vec_sub(hs_vec_scale(leg->sweep.direction, leg->sweep.length), motion);
    relative.length = hs_vec_length(travel);
    if (relative.length > 0)
        relative.direction = hs_vec_scale(travel, 1 / relative.length);
    return relative;
}

void hs_leg_to_world(const struct hs_leg *leg, const struct hs_sweep *relative,
                     struct hs_vec motion, struct hs_sweep_contact *contact)
{
    double share = relative->length > 0 ? contact->distance / relative->length : 0;
    struct hs_vec moved = hs_vec_scale(motion, share);
    contact->center = hs_vec_add(contact->center, moved);
    contact->point = hs_vec_add(contact->point, moved);
    contact->distance = leg->travelled + leg->sweep.length * share;
    share = relative->length > 0 ? contact->gap_distance / relative->length : 0;
    contact->gap_distance = leg->travelled + leg->sweep.length * share;
}

static int64_t flight_time_at(const struct hs_path *path, uint32_t i)
{
    double duration = (double)(path->end_us - path->start_us);
    return i == path->flight_legs
               ? path->end_us
               : path->start_us + (int64_t)(duration * ((double)i / (double)path->flight_legs));
}

static void whole_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out)
{
    out->sweep.radius = path->radius;
    if (i < path->flight_legs) {
        double legs = (double)path->flight_legs;
        struct hs_vec from = flight_place(path, (double)i / legs);
        struct hs_vec along = hs_vec_sub(flight_place(path, (double)(i + 1) / legs), from);
        out->sweep.start = from;
        out->sweep.direction = unit_or_x(along);
        out->sweep.length = hs_vec_length(along);
        out->travelled = path->travelled[i];
        out->start_us = flight_time_at(path, i);
        out->end_us = flight_time_at(path, i + 1);
        return;
    }
    bool instant = path->flight_legs == 0;
    out->sweep.start = instant ? path->start : flight_place(path, 1);
    out->sweep.direction = path->end_direction;
    out->sweep.length = path->extension + (instant ? path->length : 0);
    out->travelled = instant ? 0 : path->length;
    out->start_us = out->end_us = path->end_us;
}

void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out)
{
    whole_leg(path, i, out);
    double left = path->reach - out->travelled;
    if (left >= out->sweep.length)
        return;
    left = left > 0 ? left : 0;
    /* Round to the nearest microsecond. The obstacle that ends the path may have appeared exactly
       at the time of a sample, and rounding down could end the path before this time. */
    double lasts = (double)(out->end_us - out->start_us) * (left / out->sweep.length);
    out->end_us = out->start_us + (int64_t)(lasts + 0.5);
    out->sweep.length = left;
}

int64_t hs_path_time(const struct hs_path *path, double distance)
{
    for (uint32_t i = 0; i < path->flight_legs; i++) {
        double from = path->travelled[i], to = path->travelled[i + 1];
        if (distance >= to)
            continue;
        int64_t start_us = flight_time_at(path, i), end_us = flight_time_at(path, i + 1);
        double share = distance > from ? (distance - from) / (to - from) : 0;
        return start_us + (int64_t)((double)(end_us - start_us) * share);
    }
    return path->end_us;
}

bool hs_flight_times(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double speed,
                     double *low, double *high, double *needed)
{
    struct hs_vec along = hs_vec_sub(end, start);
    double squared = hs_vec_dot(along, along), g2 = hs_vec_dot(gravity, gravity);
    if (g2 == 0) {
        *low = *high = speed > 0 ? sqrt(squared) / speed : 0;
        *needed = 0;
        return speed > 0;
    }
    /* Square |d - g t^2 / 2| = v t. With s = t^2, the result is g^2/4 s^2 - (d.g + v^2) s + d^2 =
       0. The product of the roots is positive, so both roots have the same sign. */
    double b = hs_vec_dot(along, gravity) + speed * speed;
    double discriminant = b * b - g2 * squared;
    *needed = sqrt(fmax(sqrt(g2 * squared) - hs_vec_dot(along, gravity), 0));
    if (b <= 0 ||
        !(discriminant >= 0 && discriminant < (double)INFINITY)) /* no real root, or overflow */
        return false;
    double root = sqrt(discriminant);
    *low = sqrt(2 * squared /
                (b + root)); /* smaller root by Vieta's formula; b - root would lose digits */
    *high = sqrt(2 * (b + root) / g2);
    return true;
}
