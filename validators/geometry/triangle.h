/*
 * Exact swept-sphere test against one two-sided triangle: a path may hit the triangle from either
 * side.
 *
 * A triangle that is grown by a radius is the union of seven convex parts: a prism, three cylinders
 * around its edges and three balls around its corners. A formula computes where a path enters each
 * part. The path enters the grown triangle at the first of these places. So narrow triangles, paths
 * that graze an edge and paths in the plane of the triangle need no special case.
 *
 * All functions depend only on their arguments, and use only + - * / and sqrt. All functions may be
 * called from any thread.
 */
#ifndef HS_TRIANGLE_H
#define HS_TRIANGLE_H

#include <stdbool.h>

#include "validators/sweep.h"
#include "validators/vec.h"

struct hs_triangle {
    struct hs_vec corner[3]; /* world coordinates */
};

/* Returns whether the triangle is too thin to be tested: its smallest height is below 1e-10 of its
   longest edge, or below the resolution of its coordinates. */
bool hs_triangle_is_degenerate(const struct hs_triangle *triangle);

/*
 * Returns whether a swept sphere touches the triangle, which must not be degenerate; radius 0 is a
 * ray. A gap within the slack counts as touching, as in sweep.h.
 *
 * If the sphere touches, sets *distance to how far its centre travels until the first touch, 0 ..
 * length. If the sphere only comes within the slack, sets *distance to the distance of a point of
 * the path that is within the slack. These points are tried in this order: the start, the points
 * that are nearest to an edge (in order along the path), the end.
 */
bool hs_triangle_touches(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                         double *distance);

/* Returns the point on the triangle that is nearest to a world point. */
struct hs_vec hs_triangle_nearest(const struct hs_triangle *triangle, struct hs_vec point);

/* Returns the unit normal of the face. The normal points to the side from which the corners run
   counter-clockwise. */
static inline struct hs_vec hs_triangle_normal(const struct hs_triangle *triangle)
{
    const struct hs_vec *c = triangle->corner;
    struct hs_vec normal = hs_vec_cross(hs_vec_sub(c[1], c[0]), hs_vec_sub(c[2], c[1]));
    return hs_vec_scale(normal, 1 / hs_vec_length(normal));
}

#endif
