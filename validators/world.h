/*
 * The static world of a map: triangles and axis-aligned boxes in a bounding-volume hierarchy.
 *
 * A world never changes after its creation. Queries allocate nothing, and many threads may query
 * one world at once. Results are bit-identical on every machine with IEEE 754 arithmetic, and do
 * not depend on the order in which the hierarchy is searched.
 *
 * Two steps use float: the search of the hierarchy, and a first test of the triangles. Both steps
 * round so that they never exclude a contact. Triangles and boxes that these steps do not exclude
 * are tested exactly (triangle.h, sweep.h), in double and with the original coordinates. Float
 * coordinates are relative to the centre of the world. So a small map far from the origin loses no
 * precision, and a huge map only loses speed.
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

/* The limit for the coordinates of a mesh. Within this limit, products of three lengths do not
   overflow a float. A query whose start, length or radius exceeds ten times this limit touches
   nothing. */
#define HS_WORLD_COORDINATE_MAX 1e12

/* The maximum number of triangles, and also of boxes. The limit exists because an index and a tag
   share a 32-bit word. */
#define HS_WORLD_ITEMS_MAX ((size_t)1 << 28)

struct hs_world_box {
    struct hs_vec min, max; /* world coordinates; min <= max on every axis */
};

struct hs_world_mesh {
    const struct hs_vec *vertices; /* world coordinates */
    size_t vertex_count;
    const uint32_t (*triangles)[3]; /* indices of vertices */
    size_t triangle_count;
    const struct hs_world_box *boxes;
    size_t box_count;
};

enum hs_world_fault {
    HS_WORLD_FINE,
    HS_WORLD_BAD_VERTEX,   /* not finite or beyond HS_WORLD_COORDINATE_MAX */
    HS_WORLD_BAD_TRIANGLE, /* the index of a vertex is out of range */
    HS_WORLD_BAD_BOX,      /* not finite, beyond HS_WORLD_COORDINATE_MAX, or min > max */
    HS_WORLD_TOO_LARGE,    /* too many items, or the build would exceed `max_bytes` */
    HS_WORLD_NO_MEMORY,
    HS_WORLD_STOPPED /* `must_stop` of hs_world_limits returned true */
};

struct hs_world;

/* A function that allocates memory for a world. Queries read this memory. The memory must be
   aligned to 64 bytes, and free() must release it. The function returns NULL if out of memory. */
typedef void *hs_world_alloc(size_t size);

/*
 * Builds a world from a copy of the mesh, which may be empty. Takes O(n log n) time, about a second
 * for a million triangles. Queries are faster if `alloc` returns memory in large pages. If `alloc`
 * is NULL, aligned_alloc is used. If the build fails, returns NULL and sets *fault (`fault` may be
 * NULL). The caller owns the world and frees it with hs_world_destroy, which does nothing for NULL.
 */
struct hs_world *hs_world_create(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                 enum hs_world_fault *fault);

struct hs_world_limits {
    /* The build fails with HS_WORLD_TOO_LARGE before it uses more than this many bytes, including
       the new world but not the caller's mesh. */
    size_t max_bytes;
    /* The build calls this function every few milliseconds. If the function returns true, the build
       fails with HS_WORLD_STOPPED. With a million triangles, the first call can come after 0.2 s.
       NULL: no calls. */
    bool (*must_stop)(void *context);
    void *context;
};

/* Like hs_world_create, with limits. */
struct hs_world *hs_world_create_within(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                        const struct hs_world_limits *limits,
                                        enum hs_world_fault *fault);

/*
 * Computes a value for `max_bytes` from the numbers of triangles and boxes in a mesh. If `any` is
 * true, the value is enough for every mesh with these numbers. If `any` is false, the value is
 * about three times smaller, and enough for nearly all meshes with these numbers.
 */
size_t hs_world_build_bytes(const struct hs_world_mesh *mesh, bool any);
void hs_world_destroy(struct hs_world *world);

struct hs_world_info {
    size_t vertices, triangles, boxes; /* numbers in the mesh */
    size_t degenerate;                 /* number of triangles without area, which are skipped */
    size_t bytes;                      /* memory of the world */
    struct hs_vec min, max; /* bounds of everything that can be touched; zero if nothing can be
                               touched */
};

void hs_world_info(const struct hs_world *world, struct hs_world_info *out);

enum hs_world_kind { HS_WORLD_TRIANGLE, HS_WORLD_BOX };

struct hs_world_contact {
    double distance;      /* how far the sphere's centre travels until contact, 0 .. length */
    struct hs_vec center; /* centre of the sphere at contact */
    struct hs_vec point;  /* touched point; equal to `center` for a ray that hits a triangle */
    struct hs_vec normal; /* unit, from the surface to the sphere */
    enum hs_world_kind kind;
    uint32_t index; /* index of the triangle or box in the mesh */
};

/*
 * Finds the first contact of a swept sphere with the world; radius 0 is a ray. Returns whether
 * something is touched, and then sets *out (`out` may be NULL).
 *
 * Both sides of a triangle are solid, and so is the inside of a box. A sphere that touches
 * something at its start has its contact at distance 0. A gap within the slack counts as touching
 * (HS_TOUCH_SLACK). At equal distances, triangles win over boxes. Among triangles, and among boxes,
 * the lower index wins.
 *
 * For a ray that hits a triangle, `normal` is the normal of the face that points to the side from
 * which the ray comes. For a sphere, `normal` points from the touched point to the centre.
 */
bool hs_world_sweep(const struct hs_world *world, const struct hs_sweep *sweep,
                    struct hs_world_contact *out);

/* Like hs_world_sweep, but adds its cost to `work`. If `work` then exceeds its limit, the result is
   meaningless. */
bool hs_world_sweep_within(const struct hs_world *world, const struct hs_sweep *sweep,
                           struct hs_work *work, struct hs_world_contact *out);

/*
 * Returns whether anything touches the segment: the same as hs_world_sweep with radius 0, but
 * faster, because the search stops at any contact. A segment that ends on a surface touches this
 * surface.
 */
bool hs_world_blocks(const struct hs_world *world, struct hs_vec from, struct hs_vec to);

/* Parts of a world, in arrays that the caller provides. */
struct hs_world_parts {
    struct hs_vec (*triangles)[3]; /* three corners of each triangle */
    struct hs_world_box *boxes;
    size_t triangle_capacity, box_capacity;
    size_t triangle_count, box_count;
    size_t left_out; /* number of parts for which an array had no space */
};

/* Lists the triangles and boxes whose bounds touch the box from `low` to `high`, for pictures.
   Degenerate triangles are not listed. Reads the whole world: O(n). */
void hs_world_near(const struct hs_world *world, struct hs_vec low, struct hs_vec high,
                   struct hs_world_parts *out);

HS_PUBLIC_END

#endif
