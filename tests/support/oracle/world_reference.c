#include "tests/support/oracle/world_reference.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

/* The rounding error of a distance in a mesh of some hundred units. */
#define ROUNDING 1e-9

static double axis_gap(double p, double a, double b, double c)
{
    double low = fmin(a, fmin(b, c)), high = fmax(a, fmax(b, c));
    return p < low ? low - p : p > high ? p - high : 0;
}

/* Returns the distance to the box around a triangle. The result is never more than the distance to
   the triangle. */
static double box_distance(const struct hs_vec *t, struct hs_vec p)
{
    struct hs_vec gap = {axis_gap(p.x, t[0].x, t[1].x, t[2].x),
                         axis_gap(p.y, t[0].y, t[1].y, t[2].y),
                         axis_gap(p.z, t[0].z, t[1].z, t[2].z)};
    return hs_vec_length(gap);
}

/* Returns the distance to the part of the triangle on a line that is parallel to its first edge.
   The line is at the share `up` of the way to the third corner. */
static double line_distance(const struct hs_vec *t, struct hs_vec p, double up)
{
    struct hs_vec from = hs_vec_lerp(t[0], t[2], up), to = hs_vec_lerp(t[1], t[2], up);
    struct hs_vec along = hs_vec_sub(to, from);
    double square = hs_vec_dot(along, along);
    double s = square > 0 ? hs_vec_dot(hs_vec_sub(p, from), along) / square : 0;
    return hs_vec_distance(p, hs_vec_lerp(from, to, fmin(fmax(s, 0), 1)));
}

static double triangle_distance(const struct hs_vec *t, struct hs_vec p)
{
    const double golden = 0.6180339887498949;
    double low = 0, high = 1, best = fmin(line_distance(t, p, 0), line_distance(t, p, 1));
    double a = high - golden, b = low + golden;
    double at_a = line_distance(t, p, a), at_b = line_distance(t, p, b);
    for (int i = 0; i < 60; i++) {
        best = fmin(best, fmin(at_a, at_b));
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = line_distance(t, p, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = line_distance(t, p, b);
        }
    }
    return best;
}

static void corners_of(const struct hs_world_mesh *mesh, size_t i, struct hs_vec t[3])
{
    for (int k = 0; k < 3; k++)
        t[k] = mesh->vertices[mesh->triangles[i][k]];
}

double hs_reference_mesh_distance(const struct hs_world_mesh *mesh, struct hs_vec point,
                                  double limit)
{
    double best = limit;
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        struct hs_vec t[3];
        corners_of(mesh, i, t);
        if (box_distance(t, point) < best)
            best = fmin(best, triangle_distance(t, point));
    }
    return best;
}

/* Lists the triangles whose boxes are within `margin` of the box around the path. */
static struct hs_world_mesh near_path(const struct hs_world_mesh *mesh,
                                      const struct hs_sweep *sweep, double margin)
{
    struct hs_vec a = sweep->start;
    struct hs_vec b = hs_vec_add_scaled(a, sweep->direction, sweep->length);
    uint32_t(*kept)[3] = malloc((mesh->triangle_count + 1) * sizeof *kept);
    if (kept == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    struct hs_world_mesh near = {.vertices = mesh->vertices,
                                 .vertex_count = mesh->vertex_count,
                                 .triangles = (const uint32_t(*)[3])kept};
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        struct hs_vec t[3];
        corners_of(mesh, i, t);
        struct hs_vec low = {fmin(t[0].x, fmin(t[1].x, t[2].x)), fmin(t[0].y, fmin(t[1].y, t[2].y)),
                             fmin(t[0].z, fmin(t[1].z, t[2].z))};
        struct hs_vec high = {fmax(t[0].x, fmax(t[1].x, t[2].x)),
                              fmax(t[0].y, fmax(t[1].y, t[2].y)),
                              fmax(t[0].z, fmax(t[1].z, t[2].z))};
        if (low.x - margin > fmax(a.x, b.x) || high.x + margin < fmin(a.x, b.x) ||
            low.y - margin > fmax(a.y, b.y) || high.y + margin < fmin(a.y, b.y) ||
            low.z - margin > fmax(a.z, b.z) || high.z + margin < fmin(a.z, b.z))
            continue;
        for (int k = 0; k < 3; k++)
            kept[near.triangle_count][k] = mesh->triangles[i][k];
        near.triangle_count++;
    }
    return near;
}

static double gap_at(const struct hs_world_mesh *mesh, const struct hs_sweep *s, double travel,
                     double limit)
{
    struct hs_vec center = hs_vec_add_scaled(s->start, s->direction, travel);
    return hs_reference_mesh_distance(mesh, center, limit + s->radius) - s->radius;
}

/* Returns the travel at which the gap has shrunk to `enough`. A result above the length means that
   the gap never shrinks so far. */
static double advance(const struct hs_world_mesh *mesh, const struct hs_sweep *s, double enough,
                      double step_at_most)
{
    double travel = 0;
    while (travel <= s->length) {
        double gap = gap_at(mesh, s, travel, step_at_most);
        if (gap <= enough)
            return travel;
        travel += gap;
    }
    /* The last step may have ended just behind the end of the path. */
    return gap_at(mesh, s, s->length, step_at_most) <= enough ? s->length : DBL_MAX;
}

static const char *judge_hit(const struct hs_world_mesh *near, const struct hs_sweep *s,
                             double distance, double slack)
{
    if (!(distance >= 0 && distance <= s->length))
        return "the distance is not on the path";
    double there = gap_at(near, s, distance, s->length);
    if (there > slack * 1.001 + ROUNDING)
        return "nothing is touched at that distance";
    if (there < -slack - ROUNDING)
        return "the sphere is in the surface at that distance";
    double close = advance(near, s, slack, s->length);
    for (int i = 0; i < 200 && close < distance; i++) {
        double before = close + (distance - close) * i / 200;
        if (gap_at(near, s, before, s->length) < -ROUNDING)
            return "something is touched before that distance";
    }
    return NULL;
}

const char *hs_reference_judge(const struct hs_world_mesh *mesh, const struct hs_sweep *sweep,
                               bool hit, double distance)
{
    double slack = HS_TOUCH_SLACK * (sweep->length + sweep->radius);
    struct hs_world_mesh near = near_path(mesh, sweep, sweep->radius + 1);
    const char *fault = NULL;
    if (hit) {
        fault = judge_hit(&near, sweep, distance, slack);
    } else if (near.triangle_count > 0) {
        /* Triangles that are not listed are further than 1 away, so steps of at most 1 are safe. */
        if (advance(&near, sweep, slack * 0.999 - ROUNDING, 1) <= sweep->length)
            fault = "something is touched";
    }
    free((void *)(uintptr_t)near.triangles);
    return fault;
}
