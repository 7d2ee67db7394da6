/*
 * The static world of a map: triangles and axis-aligned boxes in a bounding-volume hierarchy.
 *
 * A world never changes after its creation. All queries are pure, allocate nothing, and are safe to
 * call from any thread at the same time. On every machine with IEEE 754 arithmetic the results are
 * bit-identical, whichever part of the hierarchy is searched first.
 *
 * The hierarchy and a first test of the triangles use float, rounded so that they never exclude a
 * contact. For the triangles and boxes that remain, the exact tests of triangle.h and sweep.h
 * decide, in double, with the original coordinates. Floats are relative to the centre of the world.
 * So a small map far from the origin loses no precision, and a map as large as the world bound only
 * loses speed.
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

/* The limit of coordinates, starts, lengths and radii. Within this limit, products of three such
   numbers do not overflow a float. A query with a number above ten times this limit touches
   nothing. */
#define HS_WORLD_COORDINATE_MAX 1e12

/* The maximum number of triangles, and of boxes. Their indices share a 32-bit word with a tag. */
#define HS_WORLD_ITEMS_MAX ((size_t)1 << 28)

struct hs_world_box {
    struct hs_vec min, max; /* world, length; min <= max on every axis */
};

struct hs_world_mesh {
    const struct hs_vec *vertices; /* world, length */
    size_t vertex_count;
    const uint32_t (*triangles)[3]; /* indices of vertices */
    size_t triangle_count;
    const struct hs_world_box *boxes;
    size_t box_count;
};

enum hs_world_fault {
    HS_WORLD_FINE,
    HS_WORLD_BAD_VERTEX,   /* not finite or beyond HS_WORLD_COORDINATE_MAX */
    HS_WORLD_BAD_TRIANGLE, /* index of a vertex out of range */
    HS_WORLD_BAD_BOX,      /* not finite, out of range, or min > max */
    HS_WORLD_TOO_LARGE,    /* more than HS_WORLD_ITEMS_MAX, or more memory than the build may use */
    HS_WORLD_NO_MEMORY,
    HS_WORLD_STOPPED /* `must_stop` of hs_world_limits returned true */
};

struct hs_world;

/* Allocates the memory that queries read, aligned to 64 bytes; free() releases it. Returns NULL if
   out of memory. */
typedef void *hs_world_alloc(size_t size);

/*
 * Builds a world; the mesh is copied. Takes O(n log n) time, about a second for a million
 * triangles. `alloc` allocates the memory that queries read; large pages make queries faster. If
 * `alloc` is NULL, malloc is used. Returns NULL and sets *fault if the build fails (`fault` may be
 * NULL). Free the world with hs_world_destroy; destroying NULL does nothing. In the world of an
 * empty mesh, no query touches anything.
 */
struct hs_world *hs_world_create(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                 enum hs_world_fault *fault);

struct hs_world_limits {
    /* The build fails with HS_WORLD_TOO_LARGE before it uses more than this many bytes. The bytes
       of the new world count, but not the bytes of the mesh. */
    size_t max_bytes;
    /* Called every few milliseconds with `context`. If it returns true, the build fails with
       HS_WORLD_STOPPED. With a mesh of a million triangles, the first call can come after 0.2 s.
       NULL: no calls. */
    bool (*must_stop)(void *context);
    void *context;
};

/* Like hs_world_create, with limits. */
struct hs_world *hs_world_create_within(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                        const struct hs_world_limits *limits,
                                        enum hs_world_fault *fault);

/*
 * Returns a value for `max_bytes` of hs_world_limits, computed from the counts of a mesh alone.
 * With `any`, the value is enough for every mesh. Without `any`, it is about a third as large,
 * which is enough for nearly all meshes.
 */
size_t hs_world_build_bytes(const struct hs_world_mesh *mesh, bool any);
void hs_world_destroy(struct hs_world *world);

struct hs_world_info {
    size_t vertices, triangles, boxes; /* as given */
    size_t degenerate;                 /* triangles skipped because they have no area */
    size_t bytes;                      /* memory of the world */
    struct hs_vec min, max; /* bounds of everything that can be touched; zero if the world is
                               empty */
};

void hs_world_info(const struct hs_world *world, struct hs_world_info *out);

enum hs_world_kind { HS_WORLD_TRIANGLE, HS_WORLD_BOX };

struct hs_world_contact {
    double distance;      /* travel of the sphere's centre until first contact, 0 .. length */
    struct hs_vec center; /* centre of the sphere at contact; world */
    struct hs_vec point;  /* touched point; equal to `center` for a ray on a triangle; world */
    struct hs_vec normal; /* unit, from the surface to the sphere; world */
    enum hs_world_kind kind;
    uint32_t index; /* index of the triangle or box in the mesh */
};

/*
 * Finds the first contact of a swept sphere with the world; radius 0 is a ray. Both sides of a
 * triangle are solid, and the inside of a box is solid. A sphere that touches something at its
 * start has its contact at distance 0. A sphere that comes within HS_TOUCH_SLACK counts as
 * touching. At equal distances triangles come before boxes, and then lower indices before higher
 * ones. Returns true and sets *out if something is touched (`out` may be NULL).
 *
 * For a ray on a triangle, `normal` is the normal of the face, on the side of the ray's start. For
 * a sphere, `normal` points from the touched point to the centre.
 */
bool hs_world_sweep(const struct hs_world *world, const struct hs_sweep *sweep,
                    struct hs_world_contact *out);

/* Like hs_world_sweep, but adds its cost to `work`. After `work` exceeds its limit, the result is
   meaningless. */
bool hs_world_sweep_within(const struct hs_world *world, const struct hs_sweep *sweep,
                           struct hs_work *work, struct hs_world_contact *out);

/*
 * Returns whether anything touches the segment. The result is equal to that of hs_world_sweep with
 * radius 0 between the two ends. This function is faster, because it stops at the first contact
 * found. A segment that ends in a surface touches it.
 */
bool hs_world_blocks(const struct hs_world *world, struct hs_vec from, struct hs_vec to);

/* Parts of a world: the caller's arrays, and how many of their entries are used. */
struct hs_world_parts {
    struct hs_vec (*triangles)[3]; /* three corners of each triangle */
    struct hs_world_box *boxes;
    size_t triangle_capacity, box_capacity;
    size_t triangle_count, box_count;
    size_t left_out; /* parts beyond the capacities */
};

/* Lists every triangle and box whose bounds touch the box from `low` to `high`, for pictures. Reads
   the whole world: O(n). Triangles without area are not listed. */
void hs_world_near(const struct hs_world *world, struct hs_vec low, struct hs_vec high,
                   struct hs_world_parts *out);

HS_PUBLIC_END

#endif
