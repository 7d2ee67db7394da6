/*
 * Exact swept-sphere tests: when does a sphere that travels along a straight segment first touch
 * a hitbox, and how near does it come?
 *
 * All shapes are one family: a box of half extents h, grown by a radius. A sphere has h = 0, a
 * capsule h = (0, 0, half_length), a box radius 0. In the frame of the shape the squared distance
 * from a moving point p(s) = p + d s to that box,
 *
 *     f(s) = sum over axes of max(|p_i(s)| - h_i, 0)^2,
 *
 * is convex and piecewise quadratic with at most six breakpoints (p_i(s) = +-h_i), so both its
 * minimum and its first crossing of a level are found in closed form, piece by piece. There is no
 * iteration, no tolerance in the geometry, and no special case for edges or corners. (The distance
 * from a point to a box is convex: Boyd and Vandenberghe, Convex Optimization, 2004, 3.2.5.)
 *
 * Everything here is pure, reads only its arguments, and is safe to call from any thread.
 */
#ifndef HS_SWEEP_H
#define HS_SWEEP_H

#include <stdbool.h>

#include "linkage.h"
#include "vec.h"

HS_PUBLIC_BEGIN

/* A hitbox placed in the world. */
struct hs_solid {
    struct hs_vec center;  /* world, length */
    struct hs_vec axes[3]; /* world directions of the local x, y and z; orthonormal */
    struct hs_vec
        half_extents;  /* length, each >= 0: (0,0,0) sphere, (0,0,h) capsule along local z */
    double radius;     /* length, >= 0: grown by this in every direction */
    bool axis_aligned; /* axes are the world's: the turn into the frame can be left out */
};

/* A sphere that travels from `start` along `direction`. */
struct hs_sweep {
    struct hs_vec start;     /* centre of the sphere at the start; world, length */
    struct hs_vec direction; /* unit vector, world */
    double length;           /* of the travel, >= 0, finite */
    double radius;           /* of the sphere, >= 0; 0 is a ray */
};

struct hs_sweep_contact {
    bool touched;
    double distance;      /* travel of the sphere's centre until first contact, 0 .. length; when
                             touched only within the slack: the travel at the nearest approach */
    double gap;           /* smallest gap between sphere and solid along the whole travel; <= 0
                             where they overlap */
    double gap_distance;  /* travel of the centre at that smallest gap (the first such) */
    struct hs_vec center; /* of the sphere at `distance`; world */
    struct hs_vec point;  /* on the solid's surface, nearest to `center`; world */
    struct hs_vec normal; /* unit, outwards from the solid at `point`; world */
};

/*
 * Touch is inclusive, with a slack of this times (length of travel + the two radii): far above
 * what rounding in double can move a tangent, far below anything a player could see. Doubling it
 * turns near misses of micrometres into hits; zero makes exact tangency depend on rounding.
 */
#define HS_TOUCH_SLACK 1e-6

/*
 * First contact and smallest gap of a swept sphere and one solid. A sphere that touches the solid
 * at its start touches at distance 0. When nothing is touched `center`, `point` and `normal`
 * describe the nearest approach.
 */
void hs_sweep_solid(const struct hs_sweep *sweep, const struct hs_solid *solid,
                    struct hs_sweep_contact *out);

/*
 * The same question, hit or miss and the distance only: what the inner loop of contact ordering
 * needs. Returns true when touched and then sets *distance (as hs_sweep_contact.distance).
 */
bool hs_sweep_touches(const struct hs_sweep *sweep, const struct hs_solid *solid, double *distance);

/* Distance from a world point to the surface of the solid; 0 inside it. */
double hs_solid_distance(const struct hs_solid *solid, struct hs_vec point);

HS_PUBLIC_END

#endif
