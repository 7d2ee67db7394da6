#include "validators/world.h"

#include "validators/world/tree.h"

#include <stdlib.h>
#include <string.h>

static enum hs_world_fault examine(const struct hs_world_mesh *mesh)
{
    if (mesh->triangle_count > HS_WORLD_ITEMS_MAX || mesh->box_count > HS_WORLD_ITEMS_MAX ||
        mesh->vertex_count > UINT32_MAX)
        return HS_WORLD_TOO_LARGE;
    for (size_t i = 0; i < mesh->vertex_count; i++)
        if (!hs_vec_is_within(mesh->vertices[i], HS_WORLD_COORDINATE_MAX))
            return HS_WORLD_BAD_VERTEX;
    for (size_t i = 0; i < mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            if (mesh->triangles[i][k] >= mesh->vertex_count)
                return HS_WORLD_BAD_TRIANGLE;
    for (size_t i = 0; i < mesh->box_count; i++) {
        const struct hs_world_box *box = &mesh->boxes[i];
        if (!hs_vec_is_within(box->min, HS_WORLD_COORDINATE_MAX) ||
            !hs_vec_is_within(box->max, HS_WORLD_COORDINATE_MAX) || !(box->min.x <= box->max.x) ||
            !(box->min.y <= box->max.y) || !(box->min.z <= box->max.z))
            return HS_WORLD_BAD_BOX;
    }
    return HS_WORLD_FINE;
}

/* Returns a copy of the elements, or NULL if out of memory. If `count` is 0, the result is not
   NULL. */
static void *copy(const void *from, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);
    if (to != NULL && count > 0)
        memcpy(to, from, count * size);
    return to;
}

/* The default for `alloc`. Allocates a multiple of 64 bytes, the size of a cache line, and at least
   64 bytes. */
static void *alloc_lines(size_t size)
{
    size_t rounded = (size / 64 + 1) * 64;
    return rounded > size ? aligned_alloc(64, rounded) : NULL;
}

static enum hs_world_fault fill(struct hs_world *world, const struct hs_world_mesh *mesh,
                                hs_world_alloc *alloc, const struct hs_world_limits *limits)
{
    world->info.vertices = mesh->vertex_count;
    world->info.triangles = mesh->triangle_count;
    world->info.boxes = mesh->box_count;
    world->boxes = copy(mesh->boxes, mesh->box_count, sizeof *mesh->boxes);
    if (world->boxes == NULL)
        return HS_WORLD_NO_MEMORY;
    enum hs_world_fault fault =
        hs_world_build(world, mesh, alloc != NULL ? alloc : alloc_lines, limits);
    if (fault != HS_WORLD_FINE)
        return fault;
    world->info.bytes = sizeof *world + world->node_count * sizeof *world->nodes +
                        world->group_count * sizeof *world->groups +
                        mesh->box_count * sizeof *mesh->boxes;
    return HS_WORLD_FINE;
}

struct hs_world *hs_world_create(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                 enum hs_world_fault *fault)
{
    const struct hs_world_limits limits = {.max_bytes = SIZE_MAX};
    return hs_world_create_within(mesh, alloc, &limits, fault);
}

struct hs_world *hs_world_create_within(const struct hs_world_mesh *mesh, hs_world_alloc *alloc,
                                        const struct hs_world_limits *limits,
                                        enum hs_world_fault *fault)
{
    enum hs_world_fault result = examine(mesh);
    struct hs_world *world = NULL;
    if (result == HS_WORLD_FINE) {
        world = calloc(1, sizeof *world);
        result = world == NULL ? HS_WORLD_NO_MEMORY : fill(world, mesh, alloc, limits);
        if (result != HS_WORLD_FINE) {
            hs_world_destroy(world);
            world = NULL;
        }
    }
    if (fault != NULL)
        *fault = result;
    return world;
}

void hs_world_destroy(struct hs_world *world)
{
    if (world == NULL)
        return;
    free(world->nodes);
    free(world->groups);
    free(world->boxes);
    free(world);
}

void hs_world_info(const struct hs_world *world, struct hs_world_info *out)
{
    *out = world->info;
}
