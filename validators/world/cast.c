/* Searches the tree (tree.h) for the first contact of a sweep. The search visits the nearest child
   first. The search skips children that are further away than the nearest contact so far. */
#include "validators/world/tree.h"

#include "validators/base/lanes.h"
#include "validators/base/prefetch.h"
#include "validators/base/units.h"
#include "validators/geometry/triangle.h"

#include <float.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct lanes_vec {
    glmm_128 x, y, z;
};

/*
 * The state of one search. The tests with float numbers may accept children that the sphere does
 * not touch, but they must accept every child with a contact. So the tests enlarge the sphere by
 * more than the sum of all rounding errors:
 *
 * - Twice the touch slack, 2e-6 (length + radius). The first half is for contacts within the slack.
 *   The second half is for rounding errors that grow with the distance travelled. These errors are
 *   4 u for the direction and its inverse, and 3 u for the slab test, where u = 2^-24.
 * - 1e-12 of the largest coordinate, for rounding in double.
 * - One float step for the start of the path: the start is rounded outwards on each side.
 *
 * The slab test computes (base - start) / direction + number * (step / direction). The remaining
 * rounding errors of this test are less than 4 u times the size of the node. The remaining errors
 * are smaller than the margin of the node's bounds (16 u x 255 steps, tree.h).
 */
struct walk {
    const struct hs_world *world;
    const struct hs_sweep *sweep;
    bool any; /* the search stops at any contact, even if the contact is not the nearest */
    struct hs_work *work;

    /* The next members have one value for each axis: x, y, z. */
    /* The start, moved along each axis by the radius of the enlarged sphere. */
    glmm_128 near_from, far_from;
    glmm_128 inverse; /* 1 / direction */
    /* Offsets in hs_world_node.bounds. The offsets select the bounds through which the path enters
       and leaves a child. */
    size_t near_row[3], far_row[3];

    struct lanes_vec direction; /* the direction, for the triangle test */
    glmm_128 reach; /* radius plus the part of the rounding error that is equal for all triangles */
    /* The part of the rounding error that grows with the size of a triangle, divided by this size.
     */
    glmm_128 reach_share;
    glmm_128 blur; /* the max length that the rounding of corners can add to an edge */

    /* Distance of the nearest contact so far; the length of the path if there is no contact. */
    double best;
    uint32_t farthest; /* the bits of `best`, rounded up to a float */
    glmm_128 limit;    /* `best`, rounded up to a float, in all lanes */
    enum hs_world_kind kind;
    uint32_t index;
    const struct hs_world_group *group; /* the group of the touched triangle */
    unsigned lane;
    bool touched;
};

static double inverse_of(double d)
{
    /* If a component of the direction has an absolute value below `flat`, the absolute value is
       replaced by `flat`, because the movement along this axis is smaller than the slack. */
    const double flat = 1e-18;
    return 1 / copysign(hs_larger(fabs(d), flat), d + 0.0); /* -0.0 counts as 0.0 */
}

/* Sets the values of one axis: the start, moved by the radius `grown`, and the bounds through which
   the sphere enters and leaves a child. */
static inline void prepare_axis(struct walk *w, int axis, double start, double grown,
                                double direction, float near_from[4], float far_from[4])
{
    size_t back = direction < 0;
    float from[2] = {hs_float_above(start + grown), hs_float_below(start - grown)};
    near_from[axis] = from[back];
    far_from[axis] = from[1 - back];
    w->near_row[axis] = HS_WORLD_WIDTH * (2 * (size_t)axis + back);
    w->far_row[axis] = HS_WORLD_WIDTH * (2 * (size_t)axis + 1 - back);
}

static void prepare(struct walk *w)
{
    const struct hs_sweep *s = w->sweep;
    struct hs_vec start = hs_vec_sub(s->start, w->world->origin), d = s->direction;
    double span = hs_larger(w->world->extent, hs_vec_largest(start));
    double rounding = 1e-12 * (span + w->world->coordinate);
    double slack = HS_TOUCH_SLACK * (s->length + s->radius);
    double grown = s->radius + 2 * slack + rounding;
    _Alignas(16) float near_from[4] = {0}, far_from[4] = {0};
    prepare_axis(w, 0, start.x, grown, d.x, near_from, far_from);
    prepare_axis(w, 1, start.y, grown, d.y, near_from, far_from);
    prepare_axis(w, 2, start.z, grown, d.z, near_from, far_from);
    w->near_from = glmm_load(near_from);
    w->far_from = glmm_load(far_from);
    w->inverse = (glmm_128){(float)inverse_of(d.x), (float)inverse_of(d.y), (float)inverse_of(d.z)};
    w->direction =
        (struct lanes_vec){glmm_set1((float)d.x), glmm_set1((float)d.y), glmm_set1((float)d.z)};
    /* The comment at may_touch explains the constants 2.2e-6 and 3e-7. */
    w->reach = glmm_set1(hs_float_above(grown + 2.2e-6 * (s->length + grown)));
    w->reach_share = glmm_set1(2.2e-6f);
    w->blur = glmm_set1(hs_float_above(3e-7 * (s->length + 2 * grown)));
}

static void set_limit(struct walk *w, double distance)
{
    w->best = distance;
    float limit = hs_float_above(distance);
    memcpy(&w->farthest, &limit, sizeof limit);
    w->limit = glmm_set1(limit);
}

/* ---- leaves ---- */

/* Keeps a contact if it comes before the best contact so far in the order that hs_world_sweep
   defines. Returns whether the contact is kept. */
static bool keep(struct walk *w, double distance, enum hs_world_kind kind, uint32_t index)
{
    bool better = !w->touched || distance < w->best;
    if (!better && distance == w->best)
        better = kind < w->kind || (kind == w->kind && index < w->index);
    if (!better)
        return false;
    w->touched = true;
    w->kind = kind;
    w->index = index;
    set_limit(w, distance);
    return true;
}

static inline struct hs_vec corner_in(const struct hs_world_group *g, int i, unsigned lane)
{
    return (struct hs_vec){g->corner[i][0][lane], g->corner[i][1][lane], g->corner[i][2][lane]};
}

/* There is no loop over the corners, because gcc would not unroll a loop at -O2. */
static inline void triangle_in(const struct hs_world_group *g, unsigned lane,
                               struct hs_triangle *out)
{
    out->corner[0] = corner_in(g, 0, lane);
    out->corner[1] = corner_in(g, 1, lane);
    out->corner[2] = corner_in(g, 2, lane);
}

static struct hs_solid solid_of(const struct hs_world_box *box)
{
    return hs_solid_of_box(box->min, box->max);
}

static inline struct lanes_vec minus(struct lanes_vec a, struct lanes_vec b)
{
    return (struct lanes_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline struct lanes_vec plus(struct lanes_vec a, struct lanes_vec b)
{
    return (struct lanes_vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline glmm_128 dot(struct lanes_vec a, struct lanes_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct lanes_vec cross(struct lanes_vec a, struct lanes_vec b)
{
    return (struct lanes_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

typedef glmm_128 narrow_lanes(const double *from, double minus);

/* Returns corner `i` of each triangle in a group, relative to `from`. */
ALWAYS_INLINE struct lanes_vec corners_of(const struct hs_world_group *g, int i,
                                          const struct hs_vec *from, narrow_lanes *narrow)
{
    return (struct lanes_vec){narrow(g->corner[i][0], from->x), narrow(g->corner[i][1], from->y),
                              narrow(g->corner[i][2], from->z)};
}

/*
 * Returns a bit for each of the four triangles of a group. The bit is set if the sphere may touch
 * the triangle before the limit. Two tests exclude triangles.
 *
 * The first test uses the value direction . (edge x corner) of each edge. If the path's line passes
 * through the triangle, the three values have the same sign. The absolute value of each is at most
 * the distance between the path's line and the edge's line, times the length of the edge. So a
 * triangle is out of reach if one value is above reach * size, and another value is below -reach *
 * size. The code compares doubled values, because it adds the two corners of an edge.
 *
 * The second test excludes a triangle if the sphere's centre is always further than `reach` from
 * the triangle's plane. The value normal . (corner - start - direction t) is linear in t. So the
 * sphere can reach the plane only if the value is small at one end of the path, or has different
 * signs at the two ends.
 *
 * Rounding: if the sphere can touch a triangle, the triangle's corners are at most D = length +
 * reach + size away from the start. Each corner, relative to the start, is rounded to float once,
 * with an error of u D per axis, where u = 2^-24. The error can lengthen an edge by 2 sqrt(3) u D,
 * so `blur` is added to the size. The sums in edge x (corner + corner) have an error below 32 u
 * size D = 2e-6 size D. The direction has an error of u. Both errors together are below 2.2e-6 D,
 * and `reach` and `reach_share` contain this value. For triangles further away than D, the result
 * may be wrong. This does no harm, because the sphere cannot touch such triangles.
 */
ALWAYS_INLINE unsigned may_touch(const struct walk *w, const struct hs_world_group *g,
                                 narrow_lanes *narrow)
{
    const struct hs_vec *from = &w->sweep->start;
    struct lanes_vec direction = w->direction;
    struct lanes_vec c[3] = {corners_of(g, 0, from, narrow), corners_of(g, 1, from, narrow),
                             corners_of(g, 2, from, narrow)};
    struct lanes_vec e[3];
    e[0] = minus(c[1], c[0]);
    e[1] = minus(c[2], c[1]);
    e[2] = minus(c[0], c[2]);
    glmm_128 f0 = dot(direction, cross(e[0], plus(c[0], c[1])));
    glmm_128 f1 = dot(direction, cross(e[1], plus(c[1], c[2])));
    glmm_128 f2 = dot(direction, cross(e[2], plus(c[2], c[0])));

    glmm_128 zero = glmm_set1(0);
    glmm_128 size = glmm_load(g->size) + w->blur;
    glmm_128 reach = w->reach + w->reach_share * size;
    glmm_128 by_size = reach * size;
    glmm_128 aside = by_size + by_size;
    glmm_128 lowest = hs_lanes_min(f0, hs_lanes_min(f1, f2));
    glmm_128 highest = hs_lanes_max(f0, hs_lanes_max(f1, f2));
    unsigned mask = hs_lanes_at_most(zero - aside, lowest) | hs_lanes_at_most(highest, aside);
    if (mask == 0)
        return 0;

    struct lanes_vec normal = cross(e[0], e[1]);
    glmm_128 near_height = dot(normal, c[0]);
    glmm_128 far_height = near_height - w->limit * dot(normal, direction);
    glmm_128 off = by_size * size;
    mask &= hs_lanes_at_most(hs_lanes_min(near_height, far_height), off);
    mask &= hs_lanes_at_most(zero - off, hs_lanes_max(near_height, far_height));
    return mask;
}

static void visit_triangles(struct walk *w, const struct hs_world_group *group, unsigned mask)
{
    for (; mask != 0; mask &= mask - 1) {
        unsigned lane = (unsigned)hs_lowest_bit(mask);
        if (group->index[lane] == HS_WORLD_NO_TRIANGLE)
            continue;
        double distance;
        hs_work_spend(w->work, HS_WORK_TRIANGLE);
        struct hs_triangle triangle;
        triangle_in(group, lane, &triangle);
        if (hs_triangle_touches(w->sweep, &triangle, &distance) &&
            keep(w, distance, HS_WORLD_TRIANGLE, group->index[lane])) {
            w->group = group;
            w->lane = lane;
        }
    }
}

static void visit_box(struct walk *w, uint32_t index)
{
    double distance;
    hs_work_spend(w->work, HS_WORK_TRIANGLE);
    struct hs_solid solid = solid_of(&w->world->boxes[index]);
    if (hs_sweep_touches(w->sweep, &solid, &distance))
        keep(w, distance, HS_WORLD_BOX, index);
}

/* ---- the walk ---- */

/* Returns four copies of lane `a` of `v`. */
#define LANE(v, a) __builtin_shufflevector(v, v, a, a, a, a)

/* For each of four children, reduces [*enter, *leave] to the part of the path between the child's
   two bounds on one axis. */
ALWAYS_INLINE void between_bounds(const uint8_t *near_row, const uint8_t *far_row, glmm_128 near,
                                  glmm_128 far, glmm_128 step, glmm_128 *enter, glmm_128 *leave)
{
    *enter = hs_lanes_max(near + hs_lanes_read_bytes(near_row) * step, *enter);
    *leave = hs_lanes_min(far + hs_lanes_read_bytes(far_row) * step, *leave);
}

typedef unsigned reach_all(const struct walk *w, const struct hs_world_node *node, float *entered);

/* Tests all children of a node with the slab test, four at a time. Returns a set bit for each child
   that the sphere may enter. entered[i] is the distance that the sphere travels before it may enter
   child i. */
ALWAYS_INLINE unsigned reached_by_four(const struct walk *w, const struct hs_world_node *node,
                                       float *entered)
{
    glmm_128 base = glmm_load(node->base), step = glmm_load(node->step) * w->inverse;
    glmm_128 near = (base - w->near_from) * w->inverse, far = (base - w->far_from) * w->inverse;
    unsigned mask = 0;
    for (int first = 0; first < HS_WORLD_WIDTH; first += HS_WORLD_LANES) {
        const uint8_t *rows = &node->bounds[0][first];
        glmm_128 enter = glmm_set1(0), leave = w->limit;
        between_bounds(rows + w->near_row[0], rows + w->far_row[0], LANE(near, 0), LANE(far, 0),
                       LANE(step, 0), &enter, &leave);
        between_bounds(rows + w->near_row[1], rows + w->far_row[1], LANE(near, 1), LANE(far, 1),
                       LANE(step, 1), &enter, &leave);
        between_bounds(rows + w->near_row[2], rows + w->far_row[2], LANE(near, 2), LANE(far, 2),
                       LANE(step, 2), &enter, &leave);
        glmm_store(entered + first, enter);
        mask |= hs_lanes_at_most(enter, leave) << first;
    }
    return mask & node->used;
}

#ifdef CGLM_SIMD_x86

#define WITH_AVX2 __attribute__((target("avx2")))

/* Computes the same result as hs_lanes_narrow. */
WITH_AVX2 static inline glmm_128 narrow_four(const double *from, double minus)
{
    return _mm256_cvtpd_ps(_mm256_load_pd(from) - _mm256_set1_pd(minus));
}

WITH_AVX2 static inline __m256 eight_bounds(const uint8_t *bounds)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)bounds);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

/* Returns eight copies of lane `a` of `v`. The two halves of `v` must be equal. */
#define LANE_OF_HALVES(v, a) _mm256_permute_ps(v, (a)*0x55)

/* Does the same as between_bounds, for eight children. */
WITH_AVX2 ALWAYS_INLINE void between_eight(const uint8_t *near_row, const uint8_t *far_row,
                                           __m256 near, __m256 far, __m256 step, __m256 *enter,
                                           __m256 *leave)
{
    *enter = _mm256_max_ps(near + eight_bounds(near_row) * step, *enter);
    *leave = _mm256_min_ps(far + eight_bounds(far_row) * step, *leave);
}

/* Computes the same result as reached_by_four, but tests all eight children at once. */
WITH_AVX2 static inline unsigned reached_by_eight(const struct walk *w,
                                                  const struct hs_world_node *node, float *entered)
{
    __m256 inverse = _mm256_broadcast_ps(&w->inverse);
    __m256 base = _mm256_broadcast_ps((const __m128 *)(const void *)node->base);
    __m256 step = _mm256_broadcast_ps((const __m128 *)(const void *)node->step) * inverse;
    __m256 near = (base - _mm256_broadcast_ps(&w->near_from)) * inverse;
    __m256 far = (base - _mm256_broadcast_ps(&w->far_from)) * inverse;
    const uint8_t *rows = node->bounds[0];
    __m256 enter = _mm256_setzero_ps(), leave = _mm256_broadcast_ps(&w->limit);
    between_eight(rows + w->near_row[0], rows + w->far_row[0], LANE_OF_HALVES(near, 0),
                  LANE_OF_HALVES(far, 0), LANE_OF_HALVES(step, 0), &enter, &leave);
    between_eight(rows + w->near_row[1], rows + w->far_row[1], LANE_OF_HALVES(near, 1),
                  LANE_OF_HALVES(far, 1), LANE_OF_HALVES(step, 1), &enter, &leave);
    between_eight(rows + w->near_row[2], rows + w->far_row[2], LANE_OF_HALVES(near, 2),
                  LANE_OF_HALVES(far, 2), LANE_OF_HALVES(step, 2), &enter, &leave);
    _mm256_store_ps(entered, enter);
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(enter, leave, _CMP_LE_OQ)) & node->used;
}

#endif

struct line {
    char bytes[HS_CACHE_LINE];
};

/* Prefetches a child that the search will probably visit. */
ALWAYS_INLINE void fetch(const struct hs_world *world, uint32_t child)
{
    uint32_t index = HS_CHILD_INDEX(child);
    if (HS_CHILD_KIND(child) == HS_CHILD_NODE) {
        const struct line *line = (const void *)&world->nodes[index];
        __builtin_prefetch(&line[0]);
        __builtin_prefetch(&line[1]);
    } else if (HS_CHILD_KIND(child) == HS_CHILD_GROUP) {
        const struct line *line = (const void *)&world->groups[index];
        __builtin_prefetch(&line[0]);
        __builtin_prefetch(&line[1]);
        __builtin_prefetch(&line[2]);
        __builtin_prefetch(&line[3]);
        __builtin_prefetch(&line[4]);
    } else {
        __builtin_prefetch(&world->boxes[index]);
    }
}

/* A child and its distance. The lower half is the reference to the child. The upper half contains
   the bits of a float: the distance that the sphere travels before it may enter the child. The
   float is never negative, so the smaller of two `place` values is the nearer child. */
typedef uint64_t place;

ALWAYS_INLINE place place_of(const struct hs_world_node *node, const float *entered, unsigned mask)
{
    int i = hs_lowest_bit(mask);
    uint32_t enter;
    memcpy(&enter, entered + i, sizeof enter);
    return (place)enter << 32 | node->child[i];
}

/* Returns the nearest of the children in `mask`, which must not be 0. Pushes the other children
   onto the stack in order of distance, with the nearest on top. Prefetches all these children. */
ALWAYS_INLINE place enter_node(const struct hs_world *world, const struct hs_world_node *node,
                               const float *entered, unsigned mask, place **top)
{
    if ((mask & (mask - 1)) == 0)
        return node->child[hs_lowest_bit(mask)];
    place nearest = place_of(node, entered, mask);
    mask &= mask - 1;
    fetch(world, (uint32_t)nearest);
    place other = place_of(node, entered, mask);
    fetch(world, (uint32_t)other);
    place *bottom = *top, *end = bottom;
    *end++ = nearest > other ? nearest : other;
    nearest = nearest > other ? other : nearest;
    for (mask &= mask - 1; mask != 0; mask &= mask - 1) {
        other = place_of(node, entered, mask);
        fetch(world, (uint32_t)other);
        place more = nearest > other ? nearest : other, *p = end++;
        nearest = nearest > other ? other : nearest;
        for (; p > bottom && p[-1] < more; p--)
            *p = p[-1];
        *p = more;
    }
    *top = end;
    return nearest;
}

ALWAYS_INLINE void walk_tree(struct walk *w, reach_all *reach, narrow_lanes *narrow)
{
    const struct hs_world *world = w->world;
    place stack[HS_WORLD_STACK_MAX], *top = stack, next = HS_CHILD_NODE;
    while (!hs_work_is_over(w->work)) {
        hs_work_spend(w->work, HS_WORK_NODE);
        uint32_t child = (uint32_t)next, index = HS_CHILD_INDEX(child);
        if (HS_CHILD_KIND(child) == HS_CHILD_NODE) {
            _Alignas(32) float entered[HS_WORLD_WIDTH];
            const struct hs_world_node *node = &world->nodes[index];
            unsigned mask = reach(w, node, entered);
            if (mask != 0) {
                next = enter_node(world, node, entered, mask, &top);
                continue;
            }
        } else if (HS_CHILD_KIND(child) == HS_CHILD_GROUP) {
            const struct hs_world_group *group = &world->groups[index];
            visit_triangles(w, group, may_touch(w, group, narrow));
            if (w->any && w->touched)
                return;
        } else {
            visit_box(w, index);
            if (w->any && w->touched)
                return;
        }
        do {
            if (top == stack)
                return;
            next = *--top;
        } while (next >> 32 > w->farthest);
    }
}

static void walk_by_four(struct walk *w)
{
    walk_tree(w, reached_by_four, hs_lanes_narrow);
}

#ifdef CGLM_SIMD_x86

WITH_AVX2 static void walk_by_eight(struct walk *w)
{
    walk_tree(w, reached_by_eight, narrow_four);
}

#else

static void walk_by_eight(struct walk *w)
{
    walk_by_four(w);
}

#endif

static bool cast(struct walk *w)
{
    prepare(w);
    w->touched = false;
    w->kind = HS_WORLD_TRIANGLE;
    w->index = 0;
    w->group = NULL;
    w->lane = 0;
    set_limit(w, w->sweep->length);
    if (w->world->has_eight_lanes)
        walk_by_eight(w);
    else
        walk_by_four(w);
    return w->touched;
}

/* ---- the contact ---- */

static void describe_triangle(const struct walk *w, struct hs_world_contact *out)
{
    struct hs_triangle triangle;
    triangle_in(w->group, w->lane, &triangle);
    double slack = HS_TOUCH_SLACK * (w->sweep->length + w->sweep->radius);
    out->point = out->center;
    if (w->sweep->radius > 0) {
        out->point = hs_triangle_nearest(&triangle, out->center);
        struct hs_vec to_center = hs_vec_sub(out->center, out->point);
        double length = hs_vec_length(to_center);
        if (w->sweep->radius > 2 * slack && length > slack) {
            out->normal = hs_vec_scale(to_center, 1 / length);
            return;
        }
    }
    /* The sphere's centre is so close to the touched point that the vector between the two has no
       reliable direction. So use the triangle's normal on the side of the start. */
    out->normal = hs_triangle_normal(&triangle);
    double side = hs_vec_dot(out->normal, hs_vec_sub(w->sweep->start, triangle.corner[0]));
    if (fabs(side) <= slack)
        side = -hs_vec_dot(out->normal, w->sweep->direction);
    if (side < 0)
        out->normal = hs_vec_scale(out->normal, -1);
}

static void describe_box(const struct walk *w, struct hs_world_contact *out)
{
    struct hs_sweep_contact contact;
    struct hs_solid solid = solid_of(&w->world->boxes[w->index]);
    hs_sweep_solid(w->sweep, &solid, &contact);
    out->point = contact.point;
    out->normal = contact.normal;
}

/* Returns whether the numbers of a sweep are small enough for float arithmetic. If a float
   overflowed, the results of the float tests would be wrong. */
static bool is_castable(const struct hs_sweep *s)
{
    const double farthest = 10 * HS_WORLD_COORDINATE_MAX;
    return hs_vec_is_within(s->start, farthest) && s->length <= farthest && s->radius <= farthest;
}

bool hs_world_sweep(const struct hs_world *world, const struct hs_sweep *sweep,
                    struct hs_world_contact *out)
{
    struct hs_work work = {0};
    return hs_world_sweep_within(world, sweep, &work, out);
}

bool hs_world_sweep_within(const struct hs_world *world, const struct hs_sweep *sweep,
                           struct hs_work *work, struct hs_world_contact *out)
{
    if (!is_castable(sweep))
        return false;
    struct walk w;
    w.world = world;
    w.sweep = sweep;
    w.any = out == NULL;
    w.work = work;
    if (!cast(&w))
        return false;
    if (out == NULL)
        return true;
    out->distance = w.best;
    out->center = hs_vec_add_scaled(sweep->start, sweep->direction, w.best);
    out->kind = w.kind;
    out->index = w.index;
    if (w.kind == HS_WORLD_TRIANGLE)
        describe_triangle(&w, out);
    else
        describe_box(&w, out);
    return true;
}

bool hs_world_blocks(const struct hs_world *world, struct hs_vec from, struct hs_vec to)
{
    struct hs_vec path = hs_vec_sub(to, from);
    double length = hs_vec_length(path);
    struct hs_sweep sweep = {.start = from, .direction = {1, 0, 0}, .length = length};
    if (length > 0)
        sweep.direction = hs_vec_scale(path, 1 / length);
    return hs_world_sweep(world, &sweep, NULL);
}
