#include "validators/geometry/angle.h"

/* Returns atan(x) for x in [0, 1]. Three applications of the half-angle formula
   x / (1 + sqrt(1 + x^2)) reduce the argument to less than 0.1. For such arguments, TERMS terms of
   the Taylor series are exact to the last bits. */
static double arc_tangent(double x)
{
    enum { HALVINGS = 3, TERMS = 10 };
    for (int i = 0; i < HALVINGS; i++)
        x = x / (1 + sqrt(1 + x * x));
    double sum = 0, square = x * x;
    for (int i = TERMS; i-- > 0;)
        sum = 1.0 / (2 * i + 1) - square * sum;
    return 8 * x * sum;
}

double hs_angle_between(struct hs_vec a, struct hs_vec b)
{
    double apart = hs_vec_length(hs_vec_sub(a, b)), together = hs_vec_length(hs_vec_add(a, b));
    if (apart <= together)
        return together > 0 ? 2 * arc_tangent(apart / together) : 0;
    return HS_PI - 2 * arc_tangent(together / apart);
}

/* Returns the angle to `a` or to `b`, whichever is smaller. Often `a` and `b` are equal. */
static double angle_to_nearer(struct hs_vec direction, struct hs_vec a, struct hs_vec b)
{
    double to_a = hs_angle_between(direction, a);
    if (a.x == b.x && a.y == b.y && a.z == b.z)
        return to_a;
    double to_b = hs_angle_between(direction, b);
    return to_a < to_b ? to_a : to_b;
}

double hs_angle_to_arc(struct hs_vec direction, struct hs_vec from, struct hs_vec to)
{
    struct hs_vec normal = hs_vec_cross(from, to);
    double length = hs_vec_length(normal);
    if (length < 1e-9)
        return angle_to_nearer(direction, from, to);
    normal = hs_vec_scale(normal, 1 / length);
    /* Project the direction onto the plane of the arc. */
    struct hs_vec in_plane = hs_vec_add_scaled(direction, normal, -hs_vec_dot(direction, normal));
    double flat = hs_vec_length(in_plane);
    bool between = hs_vec_dot(hs_vec_cross(from, in_plane), normal) >= 0 &&
                   hs_vec_dot(hs_vec_cross(in_plane, to), normal) >= 0;
    if (flat < 1e-9 || !between)
        return angle_to_nearer(direction, from, to);
    return hs_angle_between(direction, hs_vec_scale(in_plane, 1 / flat));
}
