#include "cli/simulate/arena.h"

#include <math.h>
#include <stdlib.h>

#include "validators/base/units.h"

#define HALF_FIELD 20.0
#define FENCE      4.0 /* height of the walls around the field */

/* Walls for cover: two opposite corners, seen from above, and the height. */
static const struct {
    double x0, y0, x1, y1, height;
} walls[] = {
    {-12, -12, -8, -11, 3}, {8, 10, 12, 11, 3},      {-2, -2, 2, 2, 3},     {-14, 4, -13, 10, 3},
    {13, -10, 14, -4, 3},   {-6, 8, -2, 8.6, 1.2},   {3, -9, 7, -8.4, 1.2}, {6, 2, 6.5, 7, 3},
    {-7, -7, -6.5, -3, 3},  {-18, -6, -15, -5.5, 3}, {15, 6, 18, 6.5, 3},   {-1, 13, 1, 17, 3},
};
enum { WALLS = sizeof walls / sizeof walls[0], FENCES = 4, MESHED = 4 };

_Static_assert(WALLS + FENCES == HS_SIM_WALLS, "every wall has its box");

const char *const hs_arm_names[HS_ARMS] = {"rifle", "shotgun", "bow", "rocket", "knife"};

void hs_sim_arena_walls(struct hs_world_box out[HS_SIM_WALLS])
{
    const double near = HALF_FIELD, far = HALF_FIELD + 1;
    for (int i = 0; i < WALLS; i++)
        out[i] = (struct hs_world_box){{walls[i].x0, walls[i].y0, 0},
                                       {walls[i].x1, walls[i].y1, walls[i].height}};
    out[WALLS] = (struct hs_world_box){{-far, -far, 0}, {-near, far, FENCE}};
    out[WALLS + 1] = (struct hs_world_box){{near, -far, 0}, {far, far, FENCE}};
    out[WALLS + 2] = (struct hs_world_box){{-far, -far, 0}, {far, -near, FENCE}};
    out[WALLS + 3] = (struct hs_world_box){{-far, near, 0}, {far, far, FENCE}};
}

/* Converts the faces of a box to triangles. Some walls become meshes, because real maps contain
   meshes as well as boxes. */
static void mesh_box(struct hs_world_box box, uint32_t first, struct hs_vec vertices[8],
                     uint32_t triangles[12][3])
{
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                          {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                          {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (unsigned i = 0; i < 8; i++)
        vertices[i] = (struct hs_vec){(i & 1) != 0 ? box.max.x : box.min.x,
                                      (i & 2) != 0 ? box.max.y : box.min.y,
                                      (i & 4) != 0 ? box.max.z : box.min.z};
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            triangles[i][k] = first + faces[i][k];
}

struct geometry {
    struct hs_vec vertices[4 + 8 * MESHED];
    uint32_t triangles[2 + 12 * MESHED][3];
    struct hs_world_box walls[HS_SIM_WALLS];
};

/* Builds the map in `geometry`. The returned mesh borrows the arrays of `geometry`. The floor and
   the first MESHED walls are triangles, the other walls are boxes. */
static struct hs_world_mesh build(struct geometry *geometry)
{
    const double far = HALF_FIELD + 1;
    *geometry = (struct geometry){.triangles = {{0, 1, 2}, {0, 2, 3}}};
    hs_sim_arena_walls(geometry->walls);
    for (int i = 0; i < 4; i++) /* the floor */
        geometry->vertices[i] =
            (struct hs_vec){i == 1 || i == 2 ? far : -far, i >= 2 ? far : -far, 0};
    for (int i = 0; i < MESHED; i++)
        mesh_box(geometry->walls[i], 4 + 8 * (uint32_t)i, &geometry->vertices[4 + 8 * i],
                 &geometry->triangles[2 + 12 * i]);
    return (struct hs_world_mesh){
        .vertices = geometry->vertices,
        .vertex_count = sizeof geometry->vertices / sizeof geometry->vertices[0],
        .triangles = (const uint32_t(*)[3])geometry->triangles,
        .triangle_count = sizeof geometry->triangles / sizeof geometry->triangles[0],
        .boxes = geometry->walls + MESHED,
        .box_count = HS_SIM_WALLS - MESHED,
    };
}

json_t *hs_sim_arena_document(void)
{
    struct geometry geometry;
    const struct hs_world_mesh mesh = build(&geometry);
    json_t *vertices = json_array(), *triangles = json_array(), *boxes = json_array();
    for (size_t i = 0; i < mesh.vertex_count; i++)
        json_array_append_new(vertices, json_pack("[f, f, f]", mesh.vertices[i].x,
                                                  mesh.vertices[i].y, mesh.vertices[i].z));
    for (size_t i = 0; i < mesh.triangle_count; i++)
        json_array_append_new(triangles,
                              json_pack("[i, i, i]", (int)mesh.triangles[i][0],
                                        (int)mesh.triangles[i][1], (int)mesh.triangles[i][2]));
    for (size_t i = 0; i < mesh.box_count; i++) {
        const struct hs_vec *min = &mesh.boxes[i].min, *max = &mesh.boxes[i].max;
        json_array_append_new(boxes, json_pack("{s:[f, f, f], s:[f, f, f]}", "min", min->x, min->y,
                                               min->z, "max", max->x, max->y, max->z));
    }
    return json_pack("{s:o, s:o, s:o}", "vertices", vertices, "triangles", triangles, "boxes",
                     boxes);
}

struct hs_sim_arena *hs_sim_arena_create(double rewind_limit)
{
    struct geometry geometry;
    const struct hs_world_mesh mesh = build(&geometry);
    struct hs_sim_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    arena->world = hs_world_create(&mesh, NULL, NULL);
    if (arena->ruleset == NULL || arena->world == NULL) {
        hs_sim_arena_destroy(arena);
        return NULL;
    }
    arena->ruleset->rewind.limit_us = hs_seconds_to_us(rewind_limit);
    /* Half of the matches do not post shots. In these matches a claim states its own launch time,
       so the history must reach back to the launch. */
    arena->ruleset->history.keep_us = hs_seconds_to_us(1.5);
    arena->rig = arena->ruleset->rigs[arena->ruleset->default_rig];
    for (int i = 0; i < HS_ARMS; i++) {
        uint16_t weapon = hs_ruleset_find_weapon(arena->ruleset, hs_str_of(hs_arm_names[i]));
        arena->weapons[i] = arena->ruleset->weapons[weapon];
    }
    return arena;
}

void hs_sim_arena_destroy(struct hs_sim_arena *arena)
{
    if (arena == NULL)
        return;
    hs_world_destroy(arena->world);
    hs_ruleset_destroy(arena->ruleset);
    free(arena);
}

bool hs_sim_arena_is_free(struct hs_vec place, double width)
{
    struct hs_vec out = hs_sim_arena_push_out(place, width);
    return out.x == place.x && out.y == place.y;
}

/* If a place is inside a wall, moves the place out through the nearest side of this wall. */
static struct hs_vec push_out_of(struct hs_vec place, int wall, double width)
{
    double left = place.x - (walls[wall].x0 - width), right = walls[wall].x1 + width - place.x;
    double low = place.y - (walls[wall].y0 - width), high = walls[wall].y1 + width - place.y;
    if (left <= 0 || right <= 0 || low <= 0 || high <= 0)
        return place;
    double nearest = fmin(fmin(left, right), fmin(low, high));
    if (nearest == left)
        place.x -= left;
    else if (nearest == right)
        place.x += right;
    else if (nearest == low)
        place.y -= low;
    else
        place.y += high;
    return place;
}

struct hs_vec hs_sim_arena_push_out(struct hs_vec place, double width)
{
    double edge = HALF_FIELD - width;
    for (int i = 0; i < WALLS; i++)
        place = push_out_of(place, i, width);
    place.x = fmax(-edge, fmin(edge, place.x));
    place.y = fmax(-edge, fmin(edge, place.y));
    return place;
}
