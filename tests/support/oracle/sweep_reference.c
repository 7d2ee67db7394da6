#include "tests/support/oracle/sweep_reference.h"

#include <math.h>

/* A position or direction relative to the centre of the shape. */
struct wide {
    long double x, y, z;
};

static struct wide widen(struct hs_vec v)
{
    return (struct wide){(long double)v.x, (long double)v.y, (long double)v.z};
}

static long double wide_dot(struct wide a, struct wide b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static long double wide_length(struct wide v)
{
    return sqrtl(wide_dot(v, v));
}

static struct wide wide_add_scaled(struct wide a, struct wide b, long double s)
{
    return (struct wide){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}

static struct wide relative_to(const struct hs_reference_shape *shape, struct hs_vec point)
{
    return wide_add_scaled(widen(point), widen(shape->center), -1);
}

/* Returns the distance from p to the segment from -half to +half. */
static long double segment_distance(struct wide p, struct wide half)
{
    long double square = wide_dot(half, half);
    long double along = square > 0 ? wide_dot(p, half) / square : 0;
    along = along < -1 ? -1 : along > 1 ? 1 : along;
    return wide_length(wide_add_scaled(p, half, -along));
}

/* Returns the distance to the box |p_i| <= half_i. Inside the box it is minus the distance to the
   nearest face. */
static long double box_distance(struct wide p, const double half[3])
{
    struct wide out = {fabsl(p.x) - (long double)half[0], fabsl(p.y) - (long double)half[1],
                       fabsl(p.z) - (long double)half[2]};
    long double nearest_face = fmaxl(out.x, fmaxl(out.y, out.z));
    if (nearest_face <= 0)
        return nearest_face;
    return wide_length((struct wide){fmaxl(out.x, 0), fmaxl(out.y, 0), fmaxl(out.z, 0)});
}

static long double core_distance(const struct hs_reference_shape *shape, struct wide p)
{
    switch (shape->kind) {
    case HS_REFERENCE_SPHERE:
        return wide_length(p);
    case HS_REFERENCE_CAPSULE:
        return segment_distance(p, widen(shape->half_segment));
    case HS_REFERENCE_BOX: {
        struct wide local = {wide_dot(p, widen(shape->axes[0])), wide_dot(p, widen(shape->axes[1])),
                             wide_dot(p, widen(shape->axes[2]))};
        return box_distance(local, shape->half);
    }
    case HS_REFERENCE_ALIGNED_BOX:
        break;
    }
    return box_distance(p, shape->half);
}

static long double signed_distance(const struct hs_reference_shape *shape, struct wide p)
{
    return core_distance(shape, p) - (long double)shape->radius;
}

/* A path; its start is relative to the centre of the shape. */
struct path {
    const struct hs_reference_shape *shape;
    struct wide start, direction;
    long double length;
};

static struct path path_of(const struct hs_reference_shape *shape, const struct hs_sweep *sweep)
{
    return (struct path){.shape = shape,
                         .start = relative_to(shape, sweep->start),
                         .direction = widen(sweep->direction),
                         .length = (long double)sweep->length};
}

static long double distance_at(const struct path *path, long double travel)
{
    return signed_distance(path->shape, wide_add_scaled(path->start, path->direction, travel));
}

struct valley {
    long double travel, value;
};

static void keep_lower(struct valley *best, long double travel, long double value)
{
    if (value < best->value)
        *best = (struct valley){travel, value};
}

/* Finds the smallest distance on the path with a golden-section search. */
static struct valley find_valley(const struct path *path)
{
    const long double golden = 0.61803398874989484820458683436563811772L;
    struct valley best = {0, distance_at(path, 0)};
    keep_lower(&best, path->length, distance_at(path, path->length));
    long double low = 0, high = path->length;
    long double a = high - golden * (high - low), b = low + golden * (high - low);
    long double at_a = distance_at(path, a);
    long double at_b = distance_at(path, b);
    keep_lower(&best, a, at_a);
    keep_lower(&best, b, at_b);
    for (int i = 0; i < 75 && high - low > 1e-15L * path->length; i++) {
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = distance_at(path, a);
            keep_lower(&best, a, at_a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = distance_at(path, b);
            keep_lower(&best, b, at_b);
        }
    }
    return best;
}

void hs_reference_sweep(const struct hs_reference_shape *shape, const struct hs_sweep *sweep,
                        struct hs_reference_result *out)
{
    struct path path = path_of(shape, sweep);
    struct valley valley = find_valley(&path);
    long double reach = (long double)sweep->radius;
    *out = (struct hs_reference_result){.overlaps = valley.value <= reach,
                                        .gap = (double)(valley.value - reach),
                                        .gap_distance = (double)valley.travel};
    if (!out->overlaps || distance_at(&path, 0) <= reach)
        return;
    long double apart = 0, touching = valley.travel;
    for (int i = 0; i < 70 && touching - apart > 1e-16L * path.length; i++) {
        long double middle = (apart + touching) / 2;
        if (distance_at(&path, middle) <= reach)
            touching = middle;
        else
            apart = middle;
    }
    out->distance = (double)touching;
}

double hs_reference_distance(const struct hs_reference_shape *shape, struct hs_vec point)
{
    return (double)signed_distance(shape, relative_to(shape, point));
}

double hs_reference_distance_at(const struct hs_reference_shape *shape,
                                const struct hs_sweep *sweep, double travel)
{
    struct path path = path_of(shape, sweep);
    return (double)distance_at(&path, (long double)travel);
}

struct hs_vec hs_reference_support(const struct hs_reference_shape *shape, struct hs_vec normal)
{
    static const struct hs_vec world[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    struct hs_vec at = hs_vec_add_scaled(shape->center, normal, shape->radius);
    switch (shape->kind) {
    case HS_REFERENCE_SPHERE:
        return at;
    case HS_REFERENCE_CAPSULE:
        return hs_vec_add_scaled(at, shape->half_segment,
                                 hs_vec_dot(normal, shape->half_segment) < 0 ? -1.0 : 1.0);
    case HS_REFERENCE_BOX:
    case HS_REFERENCE_ALIGNED_BOX:
        break;
    }
    const struct hs_vec *axes = shape->kind == HS_REFERENCE_BOX ? shape->axes : world;
    for (int i = 0; i < 3; i++) {
        double side = hs_vec_dot(normal, axes[i]) < 0 ? -1.0 : 1.0;
        at = hs_vec_add_scaled(at, axes[i], side * shape->half[i]);
    }
    return at;
}

const char *hs_reference_kind_name(enum hs_reference_kind kind)
{
    switch (kind) {
    case HS_REFERENCE_SPHERE:
        return "sphere";
    case HS_REFERENCE_CAPSULE:
        return "capsule";
    case HS_REFERENCE_BOX:
        return "oriented box";
    case HS_REFERENCE_ALIGNED_BOX:
        break;
    }
    return "axis-aligned box";
}
