/*
 * A slow, simple reference for sphere casts against triangles, to test the fast ones.
 *
 * It solves no equations. To find the distance from a point to a triangle, it looks at the lines
 * parallel to one edge: on each line it takes the nearest point between the ends. This distance is
 * a convex function of the position of the line, so a golden-section search finds the smallest one.
 * The distance from a point to all triangles changes at most as fast as the point moves. So a
 * sphere can always advance by its present gap. It takes such steps along its path until the gap is
 * gone.
 *
 * Only the vector functions are the same as in the code under test.
 */
#ifndef HS_TESTS_WORLD_REFERENCE_H
#define HS_TESTS_WORLD_REFERENCE_H

#include <stdbool.h>

#include "validators/sweep.h"
#include "validators/world.h"

/* Returns the distance from a point to the nearest triangle of the mesh, without boxes. Triangles
   further away than `limit` may be left out. */
double hs_reference_mesh_distance(const struct hs_world_mesh *mesh, struct hs_vec point,
                                  double limit);

/*
 * Checks an answer to a sweep; returns NULL, or a sentence about the fault. `hit` and `distance`
 * are the answer. The sphere must not touch at its start.
 *
 * A hit is right if the gap at its distance differs from zero by at most the slack of touch
 * (HS_TOUCH_SLACK), and if the gap is not smaller anywhere before it. A miss is right if the gap is
 * always larger than the slack.
 */
const char *hs_reference_judge(const struct hs_world_mesh *mesh, const struct hs_sweep *sweep,
                               bool hit, double distance);

#endif
