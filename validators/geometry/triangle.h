/*
 * Exact swept-sphere test against one triangle, both sides alike.
 *
 * A triangle grown by a radius is the union of a prism on its face, three cylinders around its
 * edges and three balls around its corners. Each of them is convex and entered in closed form; the
 * union is entered where the first of them is. Nothing decides beforehand which feature of the
 * triangle is met, so a sliver, a grazed edge or a path in the plane of the face needs no case of
 * its own: a feature whose direction is known badly is still only a part of the same union.
 *
 * Everything here is pure and safe to call from any thread. Only + - * / and sqrt are used.
 */
#ifndef HS_TRIANGLE_H
#define HS_TRIANGLE_H

#include <stdbool.h>

#include "validators/sweep.h"
#include "validators/vec.h"

struct hs_triangle {
    struct hs_vec corner[3]; /* world, length */
};

/*
 * True when the triangle has no area that its coordinates can tell from none: its smallest height
 * is below 1e-10 of its longest edge, or below what a coordinate of that size can resolve.
 */
bool hs_triangle_is_degenerate(const struct hs_triangle *triangle);

/*
 * First touch of a swept sphere; radius 0 is a ray. Touch is inclusive with HS_TOUCH_SLACK, as in
 * sweep.h. True when touched; *distance is then the travel of the centre, 0 .. length: 0 when the
 * sphere touches at its start, and when it only comes within the slack, the travel at the nearest
 * approach to the edge (or at the end of the path) that is met first.
 *
 * The triangle must not be degenerate.
 */
bool hs_triangle_touches(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                         double *distance);

/* The point of the triangle that is nearest to a world point. */
struct hs_vec hs_triangle_nearest(const struct hs_triangle *triangle, struct hs_vec point);

/* Unit normal of the face; the corners run counter-clockwise around it. */
struct hs_vec hs_triangle_normal(const struct hs_triangle *triangle);

#endif
