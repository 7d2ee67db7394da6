#include "tests/support/fuzz/targets.h"

#include <math.h>

#include "tests/support/oracle/map_reference.h"
#include "tests/support/oracle/world_cases.h"

/* The max number of items. A larger document would make the test of all items slow. */
enum { MOST_ITEMS = 400 };

static const char *check_sweep(const struct hs_world *world, const struct hs_world_mesh *mesh,
                               const struct hs_sweep *sweep)
{
    struct hs_world_contact got, want;
    bool hit = hs_world_sweep(world, sweep, &got);
    if (hit != hs_test_world_brute(mesh, sweep, &want))
        return "the world and the test of all its items disagree whether something is touched";
    if (hit != hs_world_sweep(world, sweep, NULL))
        return "any contact and the first contact disagree";
    if (!hit)
        return NULL;
    if (got.distance != want.distance || got.kind != want.kind || got.index != want.index)
        return "the world finds another first contact than the test of all items";
    if (!(got.distance >= 0 && got.distance <= sweep->length))
        return "the contact is not on the path";
    bool finite =
        hs_vec_is_finite(got.center) && hs_vec_is_finite(got.point) && hs_vec_is_finite(got.normal);
    return finite ? NULL : "the contact is not finite";
}

/* Casts a ray and a sphere across the world, to each vertex, and past it. */
static const char *cast_about(const struct hs_world *world, const struct hs_world_mesh *mesh)
{
    struct hs_world_info info;
    hs_world_info(world, &info);
    struct hs_vec across = hs_vec_sub(info.max, info.min);
    double size = hs_vec_length(across) + 1;
    struct hs_vec start = hs_vec_add_scaled(info.min, (struct hs_vec){-0.3, -0.2, -0.1}, size);
    struct hs_random random = hs_random_start(mesh->triangle_count, mesh->box_count);
    for (size_t i = 0; i <= mesh->vertex_count && i < 16; i++) {
        struct hs_vec end = i < mesh->vertex_count ? mesh->vertices[i] : info.max;
        struct hs_vec path = hs_vec_sub(end, start);
        double length = hs_vec_length(path);
        if (!(length > 0))
            continue;
        struct hs_sweep sweep = {.start = start, .direction = hs_vec_scale(path, 1 / length)};
        sweep.length = length * hs_random_between(&random, 0.9, 1.5);
        const char *fault = check_sweep(world, mesh, &sweep);
        sweep.radius = size * hs_random_log_between(&random, 1e-6, 0.5);
        if (fault == NULL)
            fault = check_sweep(world, mesh, &sweep);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

const char *hs_fuzz_maps(const uint8_t *data, size_t size)
{
    struct hs_problem problem;
    struct hs_str text = {(const char *)data, size};
    bool accepted = false;
    const char *fault = hs_map_compare(text, &accepted, &problem);
    if (fault != NULL || !accepted)
        return fault;
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    struct hs_map_document document;
    struct hs_world_mesh counts = hs_map_measure(text);
    hs_map_decode(&reader, text, &counts, &document);
    struct hs_world_mesh mesh = hs_map_mesh(&document);
    struct hs_world *world = hs_world_create(&mesh, NULL, NULL);
    if (world == NULL)
        fault = "no world can be built from an accepted document";
    else if (mesh.triangle_count + mesh.box_count <= MOST_ITEMS)
        fault = cast_about(world, &mesh);
    hs_world_destroy(world);
    hs_map_document_free(&document);
    hs_arena_free(&arena);
    return fault;
}
