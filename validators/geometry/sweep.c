#include "validators/sweep.h"

#include <stddef.h>

#include "validators/base/units.h"

/* If a component of the unit direction is smaller than this, the path counts as not moving along
   that axis. Inside the world bound, the resulting error is a millionth of the touch slack. */
#define PARALLEL 1e-12

/*
 * The sweep in the frame of the solid. The solid is a core box that is grown by the solid's radius.
 * A number u measures the position on the path: u is 0 where the path's line is nearest to the
 * solid's centre. With this origin, no digits are lost in differences of large numbers.
 */
struct local_sweep {
    double q[3];    /* point of the path at u = 0, relative to the solid's centre */
    double d[3];    /* unit direction */
    double h[3];    /* half extents of the core box */
    double u0, u1;  /* u at the start and the end of the path */
    double nearest; /* distance from the start of the path to u = 0 */
};

/* How close the path comes to the core box. `reach` is the sum of both radii. */
struct approach {
    bool crosses;      /* the distance falls to `reach` or less */
    double cross_u;    /* the first u where the distance is `reach` or less */
    double smallest;   /* the smallest squared distance */
    double smallest_u; /* the first u with the smallest distance */
};

static void to_local(const struct hs_sweep *sweep, const struct hs_solid *solid,
                     struct local_sweep *out)
{
    struct hs_vec from_center = hs_vec_sub(sweep->start, solid->center);
    double nearest = -hs_vec_dot(from_center, sweep->direction);
    struct hs_vec q = hs_vec_add_scaled(from_center, sweep->direction, nearest);
    struct hs_vec d = sweep->direction;
    if (!solid->axis_aligned) {
        const struct hs_vec *a = solid->axes;
        q = (struct hs_vec){hs_vec_dot(q, a[0]), hs_vec_dot(q, a[1]), hs_vec_dot(q, a[2])};
        d = (struct hs_vec){hs_vec_dot(d, a[0]), hs_vec_dot(d, a[1]), hs_vec_dot(d, a[2])};
    }
    *out =
        (struct local_sweep){{q.x, q.y, q.z},
                             {d.x, d.y, d.z},
                             {solid->half_extents.x, solid->half_extents.y, solid->half_extents.z},
                             -nearest,
                             sweep->length - nearest,
                             nearest};
}

/*
 * The term of f(u) for one axis. The slab is the space between two opposite faces of the box.
 * Inside the slab, the distance along this axis is 0. Outside the slab, the distance is |d u - g|,
 * where g is g_below before the path enters the slab and g_above after the path leaves the slab.
 */
struct slab {
    double d;
    double enter, leave;     /* values of u */
    double g_below, g_above; /* d * enter and d * leave, computed without a division */
};

/* Computes the slabs for the axes along which the path moves. Each of the other axes adds a
   constant to f. Returns the number of slabs. */
static int make_slabs(const struct local_sweep *s, struct slab slabs[3], double *constant)
{
    int count = 0;
    *constant = 0;
    for (int i = 0; i < 3; i++) {
        double d = s->d[i];
        if (fabs(d) < PARALLEL) {
            double out = fabs(s->q[i]) - s->h[i];
            if (out > 0)
                *constant += out * out;
            continue;
        }
        double below = d > 0 ? -s->h[i] - s->q[i] : s->h[i] - s->q[i];
        double above = d > 0 ? s->h[i] - s->q[i] : -s->h[i] - s->q[i];
        slabs[count++] = (struct slab){d, below / d, above / d, below, above};
    }
    return count;
}

/* Lists where the path enters or leaves a slab between u0 and u1, in ascending order. Returns the
   number of these places. */
static int breakpoints(const struct slab *slabs, int count, double u0, double u1, double at[6])
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        const double ends[2] = {slabs[i].enter, slabs[i].leave};
        for (int k = 0; k < 2; k++) {
            if (!(ends[k] > u0 && ends[k] < u1))
                continue;
            int j = n++;
            for (; j > 0 && at[j - 1] > ends[k]; j--)
                at[j] = at[j - 1];
            at[j] = ends[k];
        }
    }
    return n;
}

/* f between two breakpoints is a quadratic: a (u - vertex)^2 plus its value at the vertex. */
struct piece {
    double a, vertex;
    const struct slab *slab[3];
    double g[3];
    int terms;
    double constant;
};

static double piece_value(const struct piece *p, double u)
{
    double f = p->constant;
    for (int i = 0; i < p->terms; i++) {
        double out = p->slab[i]->d * u - p->g[i];
        f += out * out;
    }
    return f;
}

static void make_piece(const struct slab *slabs, int count, double constant, double middle,
                       struct piece *p)
{
    double b = 0;
    p->a = 0;
    p->terms = 0;
    p->constant = constant;
    for (int i = 0; i < count; i++) {
        bool below = middle < slabs[i].enter;
        if (!below && middle <= slabs[i].leave)
            continue;
        p->slab[p->terms] = &slabs[i];
        p->g[p->terms] = below ? slabs[i].g_below : slabs[i].g_above;
        p->a += slabs[i].d * slabs[i].d;
        b += slabs[i].d * p->g[p->terms];
        p->terms++;
    }
    p->vertex = p->a > 0 ? b / p->a : 0;
}

/*
 * Visits the pieces in order. f is convex, so it falls until its minimum. If f crosses reach^2, the
 * first crossing is not after the minimum. So the search stops at the minimum.
 */
static void find_approach(const struct local_sweep *s, double reach, struct approach *out)
{
    struct slab slabs[3];
    double constant, ends[7];
    int count = make_slabs(s, slabs, &constant);
    int pieces = breakpoints(slabs, count, s->u0, s->u1, ends);
    ends[pieces] = s->u1;

    *out = (struct approach){0};
    double from = s->u0;
    for (int i = 0; i <= pieces; i++) {
        struct piece p;
        make_piece(slabs, count, constant, from + (ends[i] - from) * 0.5, &p);
        bool falls_through = p.terms > 0 && p.vertex > ends[i];
        double lowest_u = falls_through                    ? ends[i]
                          : p.terms > 0 && p.vertex > from ? p.vertex
                                                           : from;
        double lowest = piece_value(&p, lowest_u);
        if (!out->crosses && lowest <= reach * reach) {
            out->crosses = true;
            out->cross_u = from;
            if (piece_value(&p, from) > reach * reach) {
                /* The smaller solution u of the equation a (u - vertex)^2 = `below`. */
                double at_vertex = falls_through ? piece_value(&p, p.vertex) : lowest;
                double below = reach * reach - at_vertex;
                double u = p.vertex - (below > 0 ? sqrt(below / p.a) : 0);
                out->cross_u = u < from ? from : u > lowest_u ? lowest_u : u;
            }
        }
        out->smallest = lowest;
        out->smallest_u = lowest_u;
        if (!falls_through)
            return;
        from = ends[i];
    }
}

/* Finds the approach to a sphere, whose core box is a point. By Pythagoras f(u) = |q|^2 + u^2. */
static void find_approach_point(const struct local_sweep *s, double reach, struct approach *out)
{
    double off = s->q[0] * s->q[0] + s->q[1] * s->q[1] + s->q[2] * s->q[2];
    double u = s->u0 > 0 ? s->u0 : s->u1 < 0 ? s->u1 : 0;
    out->smallest = off + u * u;
    out->smallest_u = u;
    out->crosses = out->smallest <= reach * reach;
    out->cross_u = s->u0;
    if (out->crosses && off + s->u0 * s->u0 > reach * reach) {
        double enter = -sqrt(reach * reach - off); /* quadratic formula */
        out->cross_u = enter < s->u0 ? s->u0 : enter > u ? u : enter;
    }
}

static double touch_slack(const struct hs_sweep *sweep, const struct hs_solid *solid)
{
    return HS_TOUCH_SLACK * (sweep->length + sweep->radius + solid->radius);
}

/* Returns whether the sphere touches the solid or comes within the slack. Sets *u to the first
   place where the sphere touches the solid. If the sphere only comes within the slack, sets *u to
   the first place where the sphere is nearest. */
static bool touch_place(const struct approach *a, double reach, double slack, double *u)
{
    *u = a->crosses ? a->cross_u : a->smallest_u;
    return a->crosses || a->smallest <= (reach + slack) * (reach + slack);
}

static void solve(const struct hs_sweep *sweep, const struct hs_solid *solid,
                  struct local_sweep *local, struct approach *approach)
{
    double reach = sweep->radius + solid->radius;
    struct hs_vec h = solid->half_extents;
    to_local(sweep, solid, local);
    if (h.x == 0 && h.y == 0 && h.z == 0)
        find_approach_point(local, reach, approach);
    else
        find_approach(local, reach, approach);
}

bool hs_sweep_touches(const struct hs_sweep *sweep, const struct hs_solid *solid, double *distance)
{
    double reach = sweep->radius + solid->radius;
    double slack = touch_slack(sweep, solid);

    /* Most solids are far away, so first test the path's whole line against the bounding sphere. By
       Pythagoras, `off` is the squared distance between the line and the solid's centre. */
    struct hs_vec from_center = hs_vec_sub(sweep->start, solid->center);
    double along = hs_vec_dot(from_center, sweep->direction);
    double off = hs_vec_dot(from_center, from_center) - along * along;
    double bound = reach + slack + hs_vec_length(solid->half_extents);
    double rounding = 1e-13 * hs_vec_dot(from_center, from_center);
    if (off - rounding > bound * bound)
        return false;

    struct local_sweep local;
    struct approach approach;
    double u;
    solve(sweep, solid, &local, &approach);
    if (!touch_place(&approach, reach, slack, &u))
        return false;
    *distance = hs_clamp(u + local.nearest, 0, sweep->length);
    return true;
}

/* Computes the point on the solid's surface that is nearest to the local point c, and the outward
   normal there. */
static void surface_at(const struct hs_solid *solid, const double h[3], const double c[3],
                       double scale, double normal[3], double point[3])
{
    double out[3], length2 = 0;
    for (int i = 0; i < 3; i++) {
        point[i] = hs_clamp(c[i], -h[i], h[i]);
        out[i] = c[i] - point[i];
        length2 += out[i] * out[i];
    }
    double length = sqrt(length2);
    if (length > 1e-12 * scale && length2 > 1e-290) {
        for (int i = 0; i < 3; i++)
            normal[i] = out[i] / length;
    } else {
        /* c is on or inside the core box, so its distance to the box gives no normal. Use the
           normal of the nearest face. */
        int face = 0;
        for (int i = 1; i < 3; i++)
            if (h[i] - fabs(c[i]) < h[face] - fabs(c[face]))
                face = i;
        normal[0] = normal[1] = normal[2] = 0;
        normal[face] = c[face] < 0 ? -1 : 1;
        point[face] = c[face] < 0 ? -h[face] : h[face];
    }
    for (int i = 0; i < 3; i++)
        point[i] += normal[i] * solid->radius;
}

static struct hs_vec to_world(const struct hs_solid *solid, const double local[3])
{
    if (solid->axis_aligned)
        return (struct hs_vec){local[0], local[1], local[2]};
    struct hs_vec v = hs_vec_scale(solid->axes[0], local[0]);
    v = hs_vec_add_scaled(v, solid->axes[1], local[1]);
    return hs_vec_add_scaled(v, solid->axes[2], local[2]);
}

void hs_sweep_solid(const struct hs_sweep *sweep, const struct hs_solid *solid,
                    struct hs_sweep_contact *out)
{
    double reach = sweep->radius + solid->radius;
    double slack = touch_slack(sweep, solid);
    struct local_sweep local;
    struct approach approach;
    double u;
    solve(sweep, solid, &local, &approach);

    out->touched = touch_place(&approach, reach, slack, &u);
    out->distance = hs_clamp(u + local.nearest, 0, sweep->length);
    out->gap = sqrt(approach.smallest) - reach;
    out->gap_distance = hs_clamp(approach.smallest_u + local.nearest, 0, sweep->length);
    out->center = hs_vec_add_scaled(sweep->start, sweep->direction, out->distance);

    double c[3], normal[3], point[3];
    for (int i = 0; i < 3; i++)
        c[i] = local.q[i] + local.d[i] * u;
    surface_at(solid, local.h, c, sweep->length + reach + hs_vec_length(solid->half_extents),
               normal, point);
    out->normal = to_world(solid, normal);
    out->point = hs_vec_add(solid->center, to_world(solid, point));
}

double hs_solid_distance(const struct hs_solid *solid, struct hs_vec point)
{
    struct hs_vec p = hs_vec_sub(point, solid->center);
    const struct hs_vec *a = solid->axes;
    if (!solid->axis_aligned)
        p = (struct hs_vec){hs_vec_dot(p, a[0]), hs_vec_dot(p, a[1]), hs_vec_dot(p, a[2])};
    const double c[3] = {p.x, p.y, p.z};
    const double h[3] = {solid->half_extents.x, solid->half_extents.y, solid->half_extents.z};
    double squared = 0;
    for (int i = 0; i < 3; i++) {
        double out = fabs(c[i]) - h[i];
        if (out > 0)
            squared += out * out;
    }
    double distance = sqrt(squared) - solid->radius;
    return distance > 0 ? distance : 0;
}
