/*
 * Exact swept-sphere tests: where does a sphere that moves along a straight segment first touch a
 * hitbox, and how close does the sphere come?
 *
 * Every shape is a box with half extents h that is grown by a radius. A sphere has h = 0. A capsule
 * has h = (0, 0, half_length). A box has the radius 0. In the frame of the shape, the squared
 * distance from a moving point p(s) = p + d s to the box with half extents h is
 *
 *     f(s) = sum over axes of max(|p_i(s)| - h_i, 0)^2.
 *
 * f is convex (the distance to a convex set is convex: Boyd and Vandenberghe, Convex Optimization,
 * 2004, 3.2.5). f is piecewise quadratic, with at most six breakpoints p_i(s) = +-h_i. So on each
 * piece, the quadratic formula gives the minimum of f and the place where f first crosses a level.
 * There is no iteration, no geometric tolerance, and no special case for edges or corners.
 *
 * All functions depend only on their arguments, and may be called from any thread.
 */
#ifndef HS_SWEEP_H
#define HS_SWEEP_H

#include <stdbool.h>

#include "linkage.h"
#include "vec.h"

HS_PUBLIC_BEGIN

/* A hitbox placed in the world. */
struct hs_solid {
    struct hs_vec center;  /* world coordinates */
    struct hs_vec axes[3]; /* world directions of the local x, y and z; orthonormal */
    /* Length, each >= 0. (0,0,0): sphere; (0,0,h): capsule along local z. */
    struct hs_vec half_extents;
    double radius;     /* length, >= 0; the box is grown by this in every direction */
    bool axis_aligned; /* `axes` are the world's axes, so no rotation is needed */
};

/* Returns the axis-aligned box between two corners. */
static inline struct hs_solid hs_solid_of_box(struct hs_vec low, struct hs_vec high)
{
    struct hs_vec half = hs_vec_scale(hs_vec_sub(high, low), 0.5);
    struct hs_solid box = {hs_vec_add(low, half), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, half, 0, true};
    return box;
}

/* A sphere that moves from `start` along `direction`. */
struct hs_sweep {
    struct hs_vec start;     /* centre of the sphere at the start; world coordinates */
    struct hs_vec direction; /* unit vector, world */
    double length;           /* how far the sphere travels; >= 0, finite */
    double radius;           /* radius of the sphere; >= 0; 0 is a ray */
};

struct hs_sweep_contact {
    bool touched;
    /* How far the sphere's centre travels until first contact, 0 .. length. If the gap stays above
       0 but comes within the slack, `distance` is how far the centre travels to its nearest
       approach. */
    double distance;
    /* Smallest gap between sphere and solid along the whole travel; <= 0 if they overlap. */
    double gap;
    double gap_distance;  /* how far the centre travels to the first place with this gap */
    struct hs_vec center; /* centre of the sphere at `distance`; world coordinates */
    struct hs_vec point;  /* on the surface of the solid, nearest to `center`; world coordinates */
    struct hs_vec normal; /* unit, away from the solid at `point` */
};

/*
 * A sphere whose gap to a solid is within a slack counts as touching. The slack is this constant
 * times (length of travel + radius of the sphere + radius of the solid). This slack is far above
 * rounding errors in double, and far below anything a player can see. Without a slack, rounding
 * errors would decide whether a sphere that just grazes a solid touches it.
 */
#define HS_TOUCH_SLACK 1e-6

/*
 * Computes the first contact and the smallest gap between a swept sphere and one solid. A sphere
 * that already touches the solid at `start` has its contact at distance 0. If the sphere does not
 * touch the solid, `center`, `point` and `normal` describe the nearest approach.
 */
void hs_sweep_solid(const struct hs_sweep *sweep, const struct hs_solid *solid,
                    struct hs_sweep_contact *out);

/*
 * Like hs_sweep_solid, but faster. Returns whether the sphere touches the solid. If the sphere
 * touches the solid, sets *distance as in hs_sweep_contact.
 */
bool hs_sweep_touches(const struct hs_sweep *sweep, const struct hs_solid *solid, double *distance);

/* Returns the distance from a world point to the surface of the solid; 0 inside the solid. */
double hs_solid_distance(const struct hs_solid *solid, struct hs_vec point);

HS_PUBLIC_END

#endif
