/* Meshes and casts for tests and benchmarks of the world. If out of memory, the program ends. */
#ifndef HS_TESTS_WORLD_CASES_H
#define HS_TESTS_WORLD_CASES_H

#include "tests/support/random.h"
#include "validators/world.h"

/* A mesh that can grow; `mesh` points into it. */
struct hs_test_mesh {
    struct hs_vec *vertices;
    uint32_t (*triangles)[3];
    struct hs_world_box *boxes;
    size_t vertex_room, triangle_room, box_room;
    struct hs_world_mesh mesh;
};

void hs_test_mesh_free(struct hs_test_mesh *mesh);

uint32_t hs_test_mesh_vertex(struct hs_test_mesh *mesh, double x, double y, double z);
void hs_test_mesh_triangle(struct hs_test_mesh *mesh, uint32_t a, uint32_t b, uint32_t c);
void hs_test_mesh_box(struct hs_test_mesh *mesh, struct hs_vec min, struct hs_vec max);
/* Adds the twelve triangles around a box. */
void hs_test_mesh_block(struct hs_test_mesh *mesh, struct hs_vec min, struct hs_vec max);

/* Adds hills: a grid of cells x cells squares with two triangles each. The grid is `width` wide and
   long, from the origin. */
void hs_test_mesh_terrain(struct hs_test_mesh *mesh, struct hs_random *random, int cells,
                          double width, double height);
double hs_test_terrain_height(const struct hs_test_mesh *mesh, int cells, double width, double x,
                              double y);

/* Adds a grid of passages and rooms with walls of boxes and blocks. The grid is `width` wide and
   long, and 4 high. */
void hs_test_mesh_corridors(struct hs_test_mesh *mesh, struct hs_random *random, int cells,
                            double width, bool as_boxes);

/* Adds triangles of all sizes and shapes in a cube from the origin, including slivers. */
void hs_test_mesh_soup(struct hs_test_mesh *mesh, struct hs_random *random, size_t count,
                       double width, double size);

/* Scales the whole mesh from the origin, or moves it. */
void hs_test_mesh_scale(struct hs_test_mesh *mesh, double by);
void hs_test_mesh_translate(struct hs_test_mesh *mesh, struct hs_vec by);

/* Adds a shooter's level: 600 by 600 of terrain with `blocks` buildings on it. */
enum { HS_TEST_LEVEL_CELLS = 600 };
#define HS_TEST_LEVEL_WIDTH 600.0
void hs_test_mesh_level(struct hs_test_mesh *mesh, struct hs_random *random, int blocks);
/* Returns a shot in that level: at eye height above the ground, mostly level, 10 to 100 long. */
struct hs_sweep hs_test_level_shot(const struct hs_test_mesh *mesh, struct hs_random *random,
                                   double radius);

/* Finds the first contact by testing every item; sets only distance, kind and index of `best`. */
bool hs_test_world_brute(const struct hs_world_mesh *mesh, const struct hs_sweep *sweep,
                         struct hs_world_contact *best);

#endif
