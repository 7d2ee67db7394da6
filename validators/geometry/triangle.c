#include "validators/geometry/triangle.h"

#include <float.h>

#include "validators/base/units.h"

/* The squared sine of the angle below which a path counts as parallel to an edge. For any length of
   the path, the resulting error is a millionth of the touch slack. */
#define PARALLEL_SQUARED 1e-24

/* The smallest height of a triangle, relative to its longest edge. For a thinner triangle, rounding
   errors would make the inside test useless. */
#define SLIVER 1e-10

/* The triangle relative to the start of the path. */
struct local {
    struct hs_vec corner[3];
    struct hs_vec edge[3]; /* from corner i to the next corner */
    struct hs_vec normal;  /* not a unit vector */
    struct hs_vec direction;
    double length;
    double reach, outer; /* radius of the sphere, without and with the slack */
};

/* This function has no loops, because gcc would not unroll a loop at -O2, and would keep the
   vectors in memory. */
static inline void to_local(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                            struct local *out)
{
    const struct hs_vec a = triangle->corner[0], b = triangle->corner[1], c = triangle->corner[2];
    out->corner[0] = hs_vec_sub(a, sweep->start);
    out->corner[1] = hs_vec_sub(b, sweep->start);
    out->corner[2] = hs_vec_sub(c, sweep->start);
    out->edge[0] = hs_vec_sub(b, a);
    out->edge[1] = hs_vec_sub(c, b);
    out->edge[2] = hs_vec_sub(a, c);
    out->normal = hs_vec_cross(out->edge[0], out->edge[1]);
    out->direction = sweep->direction;
    out->length = sweep->length;
    out->reach = sweep->radius;
    out->outer = sweep->radius + HS_TOUCH_SLACK * (sweep->length + sweep->radius);
}

bool hs_triangle_is_degenerate(const struct hs_triangle *triangle)
{
    const struct hs_vec *c = triangle->corner;
    struct hs_vec normal = hs_vec_cross(hs_vec_sub(c[1], c[0]), hs_vec_sub(c[2], c[1]));
    double longest = 0, coordinate = 0;
    for (int i = 0; i < 3; i++) {
        longest = hs_larger(longest, hs_vec_distance(c[i], c[i == 2 ? 0 : i + 1]));
        coordinate = hs_larger(coordinate, hs_vec_largest(c[i]));
    }
    double resolved = hs_larger(SLIVER * longest, 4 * DBL_EPSILON * coordinate);
    return !(hs_vec_length(normal) > resolved * longest);
}

/* ---- the face ---- */

static double sum_of_sizes(struct hs_vec v)
{
    return fabs(v.x) + fabs(v.y) + fabs(v.z);
}

static bool within_box(const struct local *t, struct hs_vec p)
{
    const struct hs_vec *c = t->corner;
    double rounding = 1e-13 * (sum_of_sizes(c[0]) + sum_of_sizes(c[1]) + sum_of_sizes(c[2]));
    double slack = t->outer - t->reach + rounding;
    struct hs_vec low = hs_vec_min(c[0], hs_vec_min(c[1], c[2]));
    struct hs_vec high = hs_vec_max(c[0], hs_vec_max(c[1], c[2]));
    return p.x >= low.x - slack && p.x <= high.x + slack && p.y >= low.y - slack &&
           p.y <= high.y + slack && p.z >= low.z - slack && p.z <= high.z + slack;
}

/* Returns whether p is on the inner side of edge i, seen along the normal. */
static inline bool is_inside(const struct local *t, int i, struct hs_vec p)
{
    return hs_vec_dot(hs_vec_cross(t->normal, t->edge[i]), hs_vec_sub(p, t->corner[i])) >= 0;
}

/* Returns whether p, projected onto the plane, is inside the triangle. */
static inline bool between_edges(const struct local *t, struct hs_vec p)
{
    return is_inside(t, 0, p) && is_inside(t, 1, p) && is_inside(t, 2, p);
}

/* Returns whether the path enters the prism (triangle.h) through its top or bottom, or starts
   inside the prism. Sets *u to the distance along the path to this place. A path that enters the
   prism through a side touches an edge first. Sets *near to true if an end of the path is so close
   to the plane that the slack may matter. */
static bool enter_face(const struct local *t, double *u, bool *near)
{
    double area = hs_vec_length(t->normal);
    struct hs_vec n = hs_vec_scale(t->normal, 1 / area);
    /* The signed distance to the plane changes linearly along the path. */
    double height = -hs_vec_dot(n, t->corner[0]);
    double rate = hs_vec_dot(n, t->direction);
    double at_end = height + rate * t->length;
    *near = fabs(height) <= t->outer || fabs(at_end) <= t->outer;

    double above = fabs(height) - t->reach;
    double approach = height > 0 ? -rate : rate;
    if (above <= 0)
        *u = 0;
    else if (approach > 0 && above <= approach * t->length)
        *u = hs_smaller(above / approach, t->length); /* the division may round up */
    else
        return false;
    struct hs_vec center = hs_vec_scale(t->direction, *u);
    if (!between_edges(t, center))
        return false;
    /* Near the tip of a narrow triangle, between_edges may accept points that are far outside. So
       the point must also be inside the box around the triangle. */
    double foot = above <= 0 ? height : height > 0 ? t->reach : -t->reach;
    return within_box(t, hs_vec_add_scaled(center, n, -foot));
}

/* ---- corners and edges ---- */

/* If the path enters one part of the grown triangle at a distance below *first, sets *first to this
   distance. The path's infinite line is inside the part from `enter` to `leave`. */
static void keep_first(const struct local *t, double enter, double leave, double *first)
{
    if (leave < 0 || enter > t->length || enter > leave)
        return;
    *first = hs_smaller(*first, hs_larger(enter, 0));
}

static void enter_corner(const struct local *t, int i, double *first, bool *near)
{
    /* `miss` goes from the nearest point of the path's line to the corner. */
    double middle = hs_vec_dot(t->corner[i], t->direction);
    struct hs_vec miss = hs_vec_add_scaled(t->corner[i], t->direction, -middle);
    double square = hs_vec_dot(miss, miss);
    if (square > t->outer * t->outer)
        return;
    *near = true;
    double below = t->reach * t->reach - square;
    if (below < 0)
        return;
    double half = sqrt(below); /* by Pythagoras, half of the line's length inside the ball */
    keep_first(t, middle - half, middle + half, first);
}

/* Reduces [enter, leave] to the part between the two planes through the ends of an edge. The result
   may be empty. `at_start` and `rate` are shares of the edge's length. */
static void between_ends(double at_start, double rate, double *enter, double *leave)
{
    if (rate == 0) {
        if (at_start < 0 || at_start > 1)
            *leave = *enter - 1;
        return;
    }
    double at_first = -at_start / rate, at_second = (1 - at_start) / rate;
    *enter = hs_larger(*enter, hs_smaller(at_first, at_second));
    *leave = hs_smaller(*leave, hs_larger(at_first, at_second));
}

static void enter_edge(const struct local *t, int i, double *first, bool *near)
{
    struct hs_vec edge = t->edge[i];
    struct hs_vec from_corner = hs_vec_scale(t->corner[i], -1);
    double square = hs_vec_dot(edge, edge);
    double along = hs_vec_dot(from_corner, edge) / square;
    double rate = hs_vec_dot(t->direction, edge) / square;
    /* Project along the edge: the cylinder becomes a circle, and the path becomes a line. */
    struct hs_vec across = hs_vec_add_scaled(from_corner, edge, -along);
    struct hs_vec slide = hs_vec_add_scaled(t->direction, edge, -rate);
    double slide2 = hs_vec_dot(slide, slide);
    bool parallel = slide2 <= PARALLEL_SQUARED;
    /* `miss` goes from the centre of the circle to the nearest point of this line. By Pythagoras,
       the length of `miss` gives half of the interval inside the circle. */
    double middle = parallel ? 0 : -hs_vec_dot(across, slide) / slide2;
    struct hs_vec miss = hs_vec_add_scaled(across, slide, middle);
    double miss2 = hs_vec_dot(miss, miss);
    if (miss2 > t->outer * t->outer)
        return;
    *near = true;
    double below = t->reach * t->reach - miss2;
    if (below < 0)
        return;
    double enter = 0, leave = t->length;
    if (!parallel) {
        double half = sqrt(below / slide2);
        enter = middle - half;
        leave = middle + half;
    }
    between_ends(along, rate, &enter, &leave);
    keep_first(t, enter, leave, first);
}

/* ---- within the slack ---- */

/* Returns the distance along the path to the point that is nearest to edge i. Sets *square to the
   squared distance between this point and the edge (closest points of two segments: Ericson,
   Real-Time Collision Detection, 2005, 5.1.9). */
static double approach_edge(const struct local *t, int i, double *square)
{
    struct hs_vec edge = t->edge[i], r = hs_vec_scale(t->corner[i], -1);
    double e = hs_vec_dot(edge, edge), f = hs_vec_dot(edge, r);
    double b = hs_vec_dot(t->direction, edge), c = hs_vec_dot(t->direction, r);
    double apart = e - b * b;
    double u = apart > PARALLEL_SQUARED * e ? hs_clamp((b * f - c * e) / apart, 0, t->length) : 0;
    double s = (b * u + f) / e;
    if (s < 0 || s > 1) {
        s = hs_clamp(s, 0, 1);
        u = hs_clamp(s * b - c, 0, t->length);
    }
    struct hs_vec gap = hs_vec_add_scaled(hs_vec_add_scaled(r, t->direction, u), edge, -s);
    *square = hs_vec_dot(gap, gap);
    return u;
}

static bool end_touches(const struct hs_sweep *sweep, const struct hs_triangle *triangle, double u,
                        double outer)
{
    struct hs_vec center = hs_vec_add_scaled(sweep->start, sweep->direction, u);
    return hs_vec_distance(hs_triangle_nearest(triangle, center), center) <= outer;
}

/* For a path that does not touch the triangle exactly: returns whether the path comes within the
   slack of the triangle. Sets `distance` as hs_triangle_touches does. */
static bool touches_within_slack(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                                 const struct local *t, double *distance)
{
    if (end_touches(sweep, triangle, 0, t->outer)) {
        *distance = 0;
        return true;
    }
    bool touched = false;
    for (int i = 0; i < 3; i++) {
        double square, u = approach_edge(t, i, &square);
        if (square <= t->outer * t->outer && (!touched || u < *distance)) {
            *distance = u;
            touched = true;
        }
    }
    if (!touched && end_touches(sweep, triangle, sweep->length, t->outer)) {
        *distance = sweep->length;
        touched = true;
    }
    return touched;
}

bool hs_triangle_touches(const struct hs_sweep *sweep, const struct hs_triangle *triangle,
                         double *distance)
{
    struct local t;
    bool near;
    to_local(sweep, triangle, &t);
    if (enter_face(&t, distance, &near))
        return true;
    double first = DBL_MAX;
    for (int i = 0; i < 3; i++) {
        enter_corner(&t, i, &first, &near);
        enter_edge(&t, i, &first, &near);
    }
    if (first <= t.length) {
        *distance = first;
        return true;
    }
    return near && touches_within_slack(sweep, triangle, &t, distance);
}

/* ---- the touched point ---- */

struct hs_vec hs_triangle_nearest(const struct hs_triangle *triangle, struct hs_vec point)
{
    struct local t;
    to_local(&(struct hs_sweep){.start = point}, triangle, &t);
    struct hs_vec best = t.corner[0];
    double best2 = DBL_MAX;
    for (int i = 0; i < 3; i++) {
        /* The nearest point on the edge's line, clamped to the edge. */
        double along = -hs_vec_dot(t.corner[i], t.edge[i]) / hs_vec_dot(t.edge[i], t.edge[i]);
        struct hs_vec p = hs_vec_add_scaled(t.corner[i], t.edge[i], hs_clamp(along, 0, 1));
        double square = hs_vec_dot(p, p);
        if (square < best2) {
            best = p;
            best2 = square;
        }
    }
    /* The nearest point on the plane. */
    double over = hs_vec_dot(t.normal, t.corner[0]) / hs_vec_dot(t.normal, t.normal);
    struct hs_vec foot = hs_vec_scale(t.normal, over);
    if (between_edges(&t, (struct hs_vec){0, 0, 0}) && within_box(&t, foot) &&
        hs_vec_dot(foot, foot) < best2)
        best = foot;
    return hs_vec_add(point, best);
}
