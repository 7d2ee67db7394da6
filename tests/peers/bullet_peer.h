/* Sweeps a sphere against a triangle mesh with Bullet Physics (libbullet), to compare the results.
   For tests and benchmarks only. Not thread-safe: Bullet keeps statistics in globals. */
#ifndef HS_TESTS_BULLET_PEER_H
#define HS_TESTS_BULLET_PEER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hs_bullet_mesh;

/* Both arrays must live as long as the mesh. Margins are 0, so the triangles keep their places. The
   default of 0.04 would thicken them. NULL: out of memory. */
struct hs_bullet_mesh *hs_bullet_mesh_create(const float (*vertices)[3], size_t vertex_count,
                                             const int (*triangles)[3], size_t triangle_count);
void hs_bullet_mesh_destroy(struct hs_bullet_mesh *mesh);

/*
 * Finds the first contact of a sphere that travels from one point to another. True: it touches, and
 * *fraction is the share of the path before the contact. The sphere must not touch at its start.
 */
bool hs_bullet_sphere_cast(struct hs_bullet_mesh *mesh, const double from[3], const double to[3],
                           double radius, double *fraction);

/* The same for a ray. */
bool hs_bullet_ray_cast(struct hs_bullet_mesh *mesh, const double from[3], const double to[3],
                        double *fraction);

#ifdef __cplusplus
}
#endif

#endif
