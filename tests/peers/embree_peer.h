/* Rays against a triangle mesh by Intel Embree 3 (libembree), a very fast library, for comparison.
   For benchmarks only. */
#ifndef HS_TESTS_EMBREE_PEER_H
#define HS_TESTS_EMBREE_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct hs_embree_mesh;

/* Copies the mesh and builds with Embree's defaults. NULL: out of memory. */
struct hs_embree_mesh *hs_embree_mesh_create(const float (*vertices)[3], size_t vertex_count,
                                             const int (*triangles)[3], size_t triangle_count);
void hs_embree_mesh_destroy(struct hs_embree_mesh *mesh);

/* First hit of a ray of unit direction: true, and its distance. Thread-safe. */
bool hs_embree_ray_cast(const struct hs_embree_mesh *mesh, const double from[3],
                        const double direction[3], double length, double *distance);

/* Whether a ray hits anything before its end. Thread-safe. */
bool hs_embree_blocks(const struct hs_embree_mesh *mesh, const double from[3],
                      const double direction[3], double length);

#endif
