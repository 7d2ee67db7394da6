/* Casts rays against a triangle mesh with Intel Embree 3 (libembree), a very fast library.
   Benchmarks compare Hindsight with it. */
#ifndef HS_TESTS_EMBREE_PEER_H
#define HS_TESTS_EMBREE_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct hs_embree_mesh;

/* Copies the mesh and builds Embree's tree with its defaults. NULL: out of memory. */
struct hs_embree_mesh *hs_embree_mesh_create(const float (*vertices)[3], size_t vertex_count,
                                             const int (*triangles)[3], size_t triangle_count);
void hs_embree_mesh_destroy(struct hs_embree_mesh *mesh);

/* Finds the first hit of a ray; `direction` has length 1. True: it hits, and *distance is set.
   Thread-safe. */
bool hs_embree_ray_cast(const struct hs_embree_mesh *mesh, const double from[3],
                        const double direction[3], double length, double *distance);

/* Whether a ray hits anything before its end. Thread-safe. */
bool hs_embree_blocks(const struct hs_embree_mesh *mesh, const double from[3],
                      const double direction[3], double length);

#endif
