#include "tests/support/oracle/world_cases.h"

#include "validators/geometry/triangle.h"

#include <stdio.h>
#include <stdlib.h>

static void *room(void *array, size_t count, size_t *has, size_t size)
{
    if (count < *has)
        return array;
    *has = *has * 2 + 64;
    array = realloc(array, *has * size);
    if (array == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return array;
}

void hs_test_mesh_free(struct hs_test_mesh *mesh)
{
    free(mesh->vertices);
    free(mesh->triangles);
    free(mesh->boxes);
    *mesh = (struct hs_test_mesh){0};
}

static void point_at_arrays(struct hs_test_mesh *m)
{
    m->mesh.vertices = m->vertices;
    m->mesh.triangles = (const uint32_t(*)[3])m->triangles;
    m->mesh.boxes = m->boxes;
}

uint32_t hs_test_mesh_vertex(struct hs_test_mesh *m, double x, double y, double z)
{
    m->vertices = room(m->vertices, m->mesh.vertex_count, &m->vertex_room, sizeof *m->vertices);
    m->vertices[m->mesh.vertex_count] = (struct hs_vec){x, y, z};
    point_at_arrays(m);
    return (uint32_t)m->mesh.vertex_count++;
}

void hs_test_mesh_triangle(struct hs_test_mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
    m->triangles =
        room(m->triangles, m->mesh.triangle_count, &m->triangle_room, sizeof *m->triangles);
    uint32_t *t = m->triangles[m->mesh.triangle_count++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    point_at_arrays(m);
}

void hs_test_mesh_box(struct hs_test_mesh *m, struct hs_vec min, struct hs_vec max)
{
    m->boxes = room(m->boxes, m->mesh.box_count, &m->box_room, sizeof *m->boxes);
    m->boxes[m->mesh.box_count++] = (struct hs_world_box){min, max};
    point_at_arrays(m);
}

void hs_test_mesh_block(struct hs_test_mesh *m, struct hs_vec min, struct hs_vec max)
{
    /* Corner i: bits 0, 1 and 2 of i choose min or max on x, y and z. */
    static const unsigned char faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                              {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    uint32_t first = (uint32_t)m->mesh.vertex_count;
    for (unsigned i = 0; i < 8; i++)
        hs_test_mesh_vertex(m, i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z);
    for (int f = 0; f < 6; f++) {
        const unsigned char *q = faces[f];
        hs_test_mesh_triangle(m, first + q[0], first + q[1], first + q[2]);
        hs_test_mesh_triangle(m, first + q[0], first + q[2], first + q[3]);
    }
}

void hs_test_mesh_terrain(struct hs_test_mesh *m, struct hs_random *random, int cells, double width,
                          double height)
{
    uint32_t first = (uint32_t)m->mesh.vertex_count, row = (uint32_t)cells + 1;
    double wave = 12 * 3.14159265358979 / width;
    for (int y = 0; y <= cells; y++)
        for (int x = 0; x <= cells; x++) {
            double px = x * width / cells, py = y * width / cells;
            double z = sin(px * wave) * cos(py * wave * 0.7) * height +
                       hs_random_between(random, -0.02, 0.02) * height;
            hs_test_mesh_vertex(m, px, py, z);
        }
    for (uint32_t y = 0; y < (uint32_t)cells; y++)
        for (uint32_t x = 0; x < (uint32_t)cells; x++) {
            uint32_t corner = first + y * row + x;
            hs_test_mesh_triangle(m, corner, corner + 1, corner + row + 1);
            hs_test_mesh_triangle(m, corner, corner + row + 1, corner + row);
        }
}

double hs_test_terrain_height(const struct hs_test_mesh *m, int cells, double width, double x,
                              double y)
{
    int column = (int)(x / width * cells), line = (int)(y / width * cells);
    column = column < 0 ? 0 : column > cells ? cells : column;
    line = line < 0 ? 0 : line > cells ? cells : line;
    return m->vertices[line * (cells + 1) + column].z;
}

void hs_test_mesh_corridors(struct hs_test_mesh *m, struct hs_random *random, int cells,
                            double width, bool as_boxes)
{
    double step = width / cells, thick = 0.15;
    void (*add)(struct hs_test_mesh *, struct hs_vec, struct hs_vec) =
        as_boxes ? hs_test_mesh_box : hs_test_mesh_block;
    add(m, (struct hs_vec){0, 0, -0.2}, (struct hs_vec){width, width, 0});
    add(m, (struct hs_vec){0, 0, 4}, (struct hs_vec){width, width, 4.2});
    for (int y = 0; y <= cells; y++)
        for (int x = 0; x < cells; x++) {
            double along = x * step, at = y * step;
            if (hs_random_chance(random, 0.55))
                add(m, (struct hs_vec){along, at - thick, 0},
                    (struct hs_vec){along + step, at + thick, 4});
            if (hs_random_chance(random, 0.55))
                add(m, (struct hs_vec){at - thick, along, 0},
                    (struct hs_vec){at + thick, along + step, 4});
        }
}

void hs_test_mesh_soup(struct hs_test_mesh *m, struct hs_random *random, size_t count, double width,
                       double size)
{
    for (size_t i = 0; i < count; i++) {
        struct hs_vec at = {hs_random_between(random, 0, width),
                            hs_random_between(random, 0, width),
                            hs_random_between(random, 0, width)};
        double scale = hs_random_log_between(random, 0.1, 3) * size;
        struct hs_vec u = hs_vec_scale(hs_random_direction(random), scale);
        struct hs_vec v = hs_vec_scale(hs_random_direction(random), scale);
        if (hs_random_chance(random, 0.1))
            v = hs_vec_add_scaled(hs_vec_scale(u, hs_random_between(random, -1, 2)), v,
                                  hs_random_log_between(random, 1e-8, 1e-2));
        uint32_t a = hs_test_mesh_vertex(m, at.x, at.y, at.z);
        uint32_t b = hs_test_mesh_vertex(m, at.x + u.x, at.y + u.y, at.z + u.z);
        uint32_t c = hs_test_mesh_vertex(m, at.x + v.x, at.y + v.y, at.z + v.z);
        hs_test_mesh_triangle(m, a, b, c);
    }
}

void hs_test_mesh_scale(struct hs_test_mesh *m, double by)
{
    for (size_t i = 0; i < m->mesh.vertex_count; i++)
        m->vertices[i] = hs_vec_scale(m->vertices[i], by);
    for (size_t i = 0; i < m->mesh.box_count; i++) {
        m->boxes[i].min = hs_vec_scale(m->boxes[i].min, by);
        m->boxes[i].max = hs_vec_scale(m->boxes[i].max, by);
    }
}

void hs_test_mesh_translate(struct hs_test_mesh *m, struct hs_vec by)
{
    for (size_t i = 0; i < m->mesh.vertex_count; i++)
        m->vertices[i] = hs_vec_add(m->vertices[i], by);
    for (size_t i = 0; i < m->mesh.box_count; i++) {
        m->boxes[i].min = hs_vec_add(m->boxes[i].min, by);
        m->boxes[i].max = hs_vec_add(m->boxes[i].max, by);
    }
}

void hs_test_mesh_level(struct hs_test_mesh *m, struct hs_random *random, int blocks)
{
    const double width = HS_TEST_LEVEL_WIDTH;
    hs_test_mesh_terrain(m, random, HS_TEST_LEVEL_CELLS, width, 6);
    for (int i = 0; i < blocks; i++) {
        double x = hs_random_between(random, 0, width), y = hs_random_between(random, 0, width);
        double ground = hs_test_terrain_height(m, HS_TEST_LEVEL_CELLS, width, x, y);
        double size = hs_random_log_between(random, 0.2, 6);
        hs_test_mesh_block(m, (struct hs_vec){x, y, ground - 1},
                           (struct hs_vec){x + size * hs_random_between(random, 0.3, 1),
                                           y + size * hs_random_between(random, 0.3, 1),
                                           ground + size});
    }
}

struct hs_sweep hs_test_level_shot(const struct hs_test_mesh *m, struct hs_random *random,
                                   double radius)
{
    const double width = HS_TEST_LEVEL_WIDTH;
    double x = hs_random_between(random, 0, width), y = hs_random_between(random, 0, width);
    double z = hs_test_terrain_height(m, HS_TEST_LEVEL_CELLS, width, x, y);
    struct hs_vec d = hs_random_direction(random);
    d.z *= 0.3;
    d = hs_vec_scale(d, 1 / hs_vec_length(d));
    return (struct hs_sweep){.start = {x, y, z + hs_random_between(random, 1.2, 6)},
                             .direction = d,
                             .length = hs_random_between(random, 10, 100),
                             .radius = radius};
}

bool hs_test_world_brute(const struct hs_world_mesh *m, const struct hs_sweep *sweep,
                         struct hs_world_contact *best)
{
    bool touched = false;
    for (size_t i = 0; i < m->triangle_count; i++) {
        const uint32_t *v = m->triangles[i];
        struct hs_triangle t = {{m->vertices[v[0]], m->vertices[v[1]], m->vertices[v[2]]}};
        double distance;
        if (hs_triangle_is_degenerate(&t) || !hs_triangle_touches(sweep, &t, &distance) ||
            (touched && distance >= best->distance))
            continue;
        touched = true;
        *best = (struct hs_world_contact){
            .distance = distance, .kind = HS_WORLD_TRIANGLE, .index = (uint32_t)i};
    }
    for (size_t i = 0; i < m->box_count; i++) {
        struct hs_vec half = hs_vec_scale(hs_vec_sub(m->boxes[i].max, m->boxes[i].min), 0.5);
        struct hs_solid solid = {.center = hs_vec_add(m->boxes[i].min, half),
                                 .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 .half_extents = half,
                                 .axis_aligned = true};
        double distance;
        if (!hs_sweep_touches(sweep, &solid, &distance) || (touched && distance >= best->distance))
            continue;
        touched = true;
        *best = (struct hs_world_contact){
            .distance = distance, .kind = HS_WORLD_BOX, .index = (uint32_t)i};
    }
    return touched;
}
