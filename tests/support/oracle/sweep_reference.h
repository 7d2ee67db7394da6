/*
 * A slow, simple answer to the question of validators/sweep.h, to test the fast one.
 *
 * It solves no equations. Each shape has a distance function, negative inside, as textbooks define
 * it: a ball around a point, a ball around a segment, a box. The signed distance to a convex body
 * is convex, so along a straight path it falls, then rises. A golden-section search finds its
 * smallest value. If the shapes overlap there, bisection between the start and that point finds the
 * first touch. The reference uses long double, with positions relative to the shape's centre.
 *
 * Only the vector functions are the same as in the code under test; shapes are described in another
 * way.
 */
#ifndef HS_TEST_SWEEP_REFERENCE_H
#define HS_TEST_SWEEP_REFERENCE_H

#include <stdbool.h>

#include "validators/sweep.h"

enum hs_reference_kind {
    HS_REFERENCE_SPHERE,
    HS_REFERENCE_CAPSULE,
    HS_REFERENCE_BOX,        /* oriented */
    HS_REFERENCE_ALIGNED_BOX /* along the world's axes */
};

#define HS_REFERENCE_KINDS 4

struct hs_reference_shape {
    enum hs_reference_kind kind;
    struct hs_vec center;
    /* sphere, capsule: the radius; boxes: radius of the rounded edges, usually 0 */
    double radius;
    struct hs_vec half_segment; /* capsule: from the centre to the centre of one cap */
    struct hs_vec axes[3];      /* oriented box: unit, orthogonal */
    double half[3];             /* boxes: half extents along the axes */
};

struct hs_reference_result {
    bool overlaps;       /* gap <= 0, without slack */
    double distance;     /* travel until the first touch; valid if it overlaps */
    double gap;          /* smallest gap along the path; below 0: minus the depth of the overlap */
    double gap_distance; /* a travel that has this gap */
};

const char *hs_reference_kind_name(enum hs_reference_kind kind);

/* Returns the distance from the surface to the point; negative inside. */
double hs_reference_distance(const struct hs_reference_shape *shape, struct hs_vec point);

/* Like hs_reference_distance, for the point start + direction * travel, which is not rounded to
   double first. */
double hs_reference_distance_at(const struct hs_reference_shape *shape,
                                const struct hs_sweep *sweep, double travel);

void hs_reference_sweep(const struct hs_reference_shape *shape, const struct hs_sweep *sweep,
                        struct hs_reference_result *out);

/* Returns the point of the shape that is farthest along the unit vector `normal`. */
struct hs_vec hs_reference_support(const struct hs_reference_shape *shape, struct hs_vec normal);

#endif
