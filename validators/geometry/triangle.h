/*
 * Exact swept-sphere test against one two-sided triangle.
 *
 * A triangle grown by a radius is a union of seven parts: a prism, three cylinders around its edges
 * and three balls around its corners. Each part is convex, and a formula gives the place where a
 * path enters it. The path enters the union at the first of these places.
 *
 * All parts are always tested. So narrow triangles, paths that graze an edge and paths in the plane
 * of the triangle need no special case.
 *
 * All functions are pure and safe to call from any thread. They use only + - * / and sqrt.
 */
#ifndef HS_TRIANGLE_H
#define HS_TRIANGLE_H

#include <stdbool.h>

#include "validators/sweep.h"
#include "validators/vec.h"

struct hs_triangle {
    struct hs_vec corner[3]; /* world, length */
};

/* Returns whether the triangle is too thin to have an area. The smallest height of such a triangle
   is below 1e-10 of its longest edge, or below the resolution of its coordinates. */
bool hs_triangle_is_degenerate(const struct hs_triangle *triangle);

/*
 * Finds the first touch of a swept sphere; radius 0 is a ray. A sphere that comes within
 * HS_TOUCH_SLACK also touches, as in sweep.h. The triangle must not be degenerate.
 *
 * True: the sphere touches, and *distance is the travel of its centre, 0 .. length. *distance is 0
 * if the sphere touches at its start. If the sphere only comes within the slack, *distance is the
 * travel at the nearest approach to the first edge, or the whole length.
 */
bool hs_triangle_touches(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                         double *distance);

/* Returns the point of the triangle nearest to a world point. */
struct hs_vec hs_triangle_nearest(const struct hs_triangle *triangle, struct hs_vec point);

/* Returns the unit normal of the face. Seen from the side to which the normal points, the corners
   run counter-clockwise. */
static inline struct hs_vec hs_triangle_normal(const struct hs_triangle *triangle)
{
    const struct hs_vec *c = triangle->corner;
    struct hs_vec normal = hs_vec_cross(hs_vec_sub(c[1], c[0]), hs_vec_sub(c[2], c[1]));
    return hs_vec_scale(normal, 1 / hs_vec_length(normal));
}

#endif
