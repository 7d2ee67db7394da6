/*
 * A slow, plain judge of sphere casts against triangles, to hold the fast ones against.
 *
 * Nothing is solved here. The distance from a point to a triangle is found by minimising it: a
 * golden-section search over the lines parallel to one edge (the least distance to a line is convex
 * in the choice of the line), on each line the nearest point between its ends. The distance from
 * a point to all triangles changes at most as fast as the point moves, so a sphere may always
 * advance by its present gap: it steps along its path until the gap is gone.
 *
 * It shares no code with what it tests, apart from vectors.
 */
#ifndef HS_TESTS_WORLD_REFERENCE_H
#define HS_TESTS_WORLD_REFERENCE_H

#include <stdbool.h>

#include "validators/sweep.h"
#include "validators/world.h"

/* From a point to the nearest of all triangles of the mesh; its boxes are not looked at. Triangles
   further than `limit` may be left out. */
double hs_reference_mesh_distance(const struct hs_world_mesh *mesh, struct hs_vec point,
                                  double limit);

/*
 * Whether an answer to a sweep is right; NULL, or what is wrong. `hit`, `distance`: the answer. The
 * sphere must not touch at its start.
 *
 * Right is a hit when at its distance the gap is within the slack of touch (HS_TOUCH_SLACK) of
 * zero, and nowhere before is it below; a miss when the gap is nowhere within the slack.
 */
const char *hs_reference_judge(const struct hs_world_mesh *mesh, const struct hs_sweep *sweep,
                               bool hit, double distance);

#endif
