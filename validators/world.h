/*
 * The static world of a map: triangles and axis-aligned boxes in a bounding-volume hierarchy.
 *
 * A world never changes after it was created. All queries are pure, allocate nothing and are safe
 * to call from any thread at the same time; they give the same bits whatever the order the
 * hierarchy is walked in, and on every machine with IEEE 754 arithmetic.
 *
 * How: the hierarchy and a first test of the triangles work in float, rounded so that they only
 * ever keep too much. What is left is decided by the exact tests of triangle.h and sweep.h, in
 * double, on the coordinates as they were given. Float is relative to the middle of the world, so a
 * small map far from the origin loses nothing; a map as large as the world bound loses speed only.
 */
#ifndef HS_WORLD_H
#define HS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "sweep.h"
#include "vec.h"
#include "work.h"

HS_PUBLIC_BEGIN

/* No coordinate, start, length or radius may be larger: products of three stay inside float. A
   query with numbers ten times that touches nothing. */
#define HS_WORLD_COORDINATE_MAX 1e12

/* The most triangles, and the most boxes: their numbers share a word with a tag. */
#define HS_WORLD_ITEMS_MAX ((size_t)1 << 28)

struct hs_world_box {
    struct hs_vec min, max; /* world, length; min <= max on every axis */
};

struct hs_world_mesh {
    const struct hs_vec *vertices; /* world, length */
    size_t vertex_count;
    const uint32_t (*triangles)[3]; /* numbers of vertices */
    size_t triangle_count;
    const struct hs_world_box *boxes;
    size_t box_count;
};

enum hs_world_fault {
    HS_WORLD_FINE,
    HS_WORLD_BAD_VERTEX,   /* not finite or beyond HS_WORLD_COORDINATE_MAX */
    HS_WORLD_BAD_TRIANGLE, /* names a vertex there is not */
    HS_WORLD_BAD_BOX,      /* not finite, too far, or min > max */
    HS_WORLD_TOO_LARGE,    /* more than HS_WORLD_ITEMS_MAX, or beyond the bound of the build */
    HS_WORLD_NO_MEMORY
};

struct hs_world;

/* Memory for what queries read, aligned to 64 bytes; free() gives it back. NULL: there is none. */
typedef void *hs_world_alloc(size_t size);

/*
 * Builds the world; the mesh is copied. Time grows as n log n: about a second for a million
 * triangles. `alloc` gives the memory queries read, which is quicker in large pages (NULL: malloc's
 * memory). NULL with *fault set (`fault` may be NULL). hs_world_destroy frees the world; destroying
 * NULL does nothing. An empty mesh gives a world that nothing touches.
 */
struct hs_world *hs_world_create(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                 enum hs_world_fault *fault);

/*
 * The same within a bound: the build fails with HS_WORLD_TOO_LARGE before it uses more than
 * `max_bytes`. This includes its result, but not the mesh.
 */
struct hs_world *hs_world_create_within(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                        size_t max_bytes, enum hs_world_fault *fault);

/*
 * Computes such a bound from the counts of a mesh alone. `any`: no mesh needs more. Otherwise it is
 * about a third of that, and enough for nearly all meshes.
 */
size_t hs_world_build_bytes(const struct hs_world_mesh *mesh, bool any);
void hs_world_destroy(struct hs_world *world);

struct hs_world_info {
    size_t vertices, triangles, boxes; /* as given */
    size_t degenerate;                 /* triangles skipped for having no area */
    size_t bytes;                      /* of memory the world takes */
    struct hs_vec min, max;            /* around all that can be touched; zero where nothing can */
};

void hs_world_info(const struct hs_world *world, struct hs_world_info *out);
size_t hs_world_bytes(const struct hs_world *world);

enum hs_world_kind { HS_WORLD_TRIANGLE, HS_WORLD_BOX };

struct hs_world_contact {
    double distance;         /* travel of the sphere's centre until first contact, 0 .. length */
    struct hs_vec center;    /* of the sphere then; world */
    struct hs_vec point;     /* touched; of a ray on a triangle, `center`; world */
    struct hs_vec normal;    /* unit, from the surface to the sphere; world */
    enum hs_world_kind kind; /* what was touched */
    uint32_t index;          /* of it in the mesh */
};

/*
 * First contact of a swept sphere with the world; radius 0 is a ray. Both sides of a triangle are
 * solid, a box is solid inside. Touching at the start is contact at distance 0; touch is inclusive
 * with HS_TOUCH_SLACK. Of equal distances the triangle comes before the box, then the lower index.
 * True when something is touched; *out is set then (NULL: only the answer is wanted).
 *
 * The normal of a ray on a triangle is that of the face, on the side the ray comes from; that of a
 * sphere points from the touched point to its centre.
 */
bool hs_world_sweep(const struct hs_world *world, const struct hs_sweep *sweep,
                    struct hs_world_contact *out);

/* The same, counted in `work`. Once `work` is over its limit the result is meaningless. */
bool hs_world_sweep_within(const struct hs_world *world, const struct hs_sweep *sweep,
                           struct hs_work *work, struct hs_world_contact *out);

/*
 * Whether anything touches the segment: the same answer as a sweep with radius 0 from one end to
 * the other, but found as soon as anything is. Ends that lie in a surface are touched.
 */
bool hs_world_blocks(const struct hs_world *world, struct hs_vec from, struct hs_vec to);

HS_PUBLIC_END

#endif
