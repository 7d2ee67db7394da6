/* Searches the hierarchy for the first contact, nearest child first. Skips everything that is
   further away than the best contact so far. */
#include "validators/world/tree.h"

#include "validators/base/lanes.h"
#include "validators/base/prefetch.h"
#include "validators/geometry/triangle.h"

#include <float.h>

/*
 * The state of one search. The float tests may let too much pass, but must never exclude a contact.
 * So they make the sphere larger by more than all rounding errors:
 *
 * - by twice the touch slack, 2e-6 (length + radius). The first half is for touches within the
 *   slack. The second half is for rounding in proportion to the travel, with u = 2^-24: 4 u for the
 *   direction and its inverse, and 3 u for the slab test;
 * - by 1e-12 of the largest coordinate, for rounding in double;
 * - by one float step at the start, which is rounded away from the boxes on each side.
 *
 * The slab test computes (base - start) / direction + number * (step / direction). Its other
 * rounding errors are below 4 u of the size of the node. The margin of the bounds covers them.
 */
struct walk {
    const struct hs_world *world;
    const struct hs_sweep *sweep;
    bool any; /* stop at the first contact found, even if it is not the nearest */
    struct hs_work *work;

    glmm_128 near_from[3], far_from[3]; /* start, moved by the radius of the larger sphere */
    glmm_128 inverse[3];                /* 1 / direction */
    int near_row[3], far_row[3];        /* offsets in hs_world_node.bounds */

    glmm_128 direction[3]; /* for the triangle test */
    glmm_128 reach; /* radius plus the part of the rounding error that is equal for all triangles */
    glmm_128 reach_share; /* rounding error in proportion to the size of a triangle */
    glmm_128 blur;        /* max length that the rounding of corners adds to an edge */

    double best;    /* distance of the best contact; at first the length of the path */
    float farthest; /* `best`, rounded up */
    glmm_128 limit; /* `farthest` in all lanes */
    enum hs_world_kind kind;
    uint32_t index;
    const struct hs_world_group *group; /* the group of the touched triangle */
    unsigned lane;
    bool touched;
};

static double inverse_of(double d)
{
    /* With a component below this, the path does not move along the axis: the movement is smaller
       than the slack. */
    const double flat = 1e-18;
    if (fabs(d) >= flat)
        return 1 / d;
    return d < 0 ? -1 / flat : 1 / flat;
}

static void prepare(struct walk *w)
{
    const struct hs_sweep *s = w->sweep;
    struct hs_vec from = hs_vec_sub(s->start, w->world->origin);
    const double start[3] = {from.x, from.y, from.z};
    const double direction[3] = {s->direction.x, s->direction.y, s->direction.z};
    double span = w->world->extent;
    for (int a = 0; a < 3; a++)
        span = fabs(start[a]) > span ? fabs(start[a]) : span;
    double rounding = 1e-12 * (span + w->world->coordinate);
    double slack = HS_TOUCH_SLACK * (s->length + s->radius);
    double grown = s->radius + 2 * slack + rounding;
    for (int a = 0; a < 3; a++) {
        bool forward = direction[a] >= 0;
        w->near_row[a] = HS_WORLD_WIDTH * (2 * a + (forward ? 0 : 1));
        w->far_row[a] = HS_WORLD_WIDTH * (2 * a + (forward ? 1 : 0));
        float high = hs_float_above(start[a] + grown), low = hs_float_below(start[a] - grown);
        w->near_from[a] = glmm_set1(forward ? high : low);
        w->far_from[a] = glmm_set1(forward ? low : high);
        w->inverse[a] = glmm_set1((float)inverse_of(direction[a]));
        w->direction[a] = glmm_set1((float)direction[a]);
    }
    /* The comment of may_touch explains these constants. */
    w->reach = glmm_set1(hs_float_above(grown + 2.2e-6 * (s->length + grown)));
    w->reach_share = glmm_set1(2.2e-6f);
    w->blur = glmm_set1(hs_float_above(3e-7 * (s->length + 2 * grown)));
}

static void set_limit(struct walk *w, double distance)
{
    w->best = distance;
    w->farthest = hs_float_above(distance);
    w->limit = glmm_set1(w->farthest);
}

/* ---- leaves ---- */

/* Keeps a contact if it is nearer than the best one so far. At equal distances triangles come
   before boxes, and then lower indices before higher ones. */
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

static struct hs_triangle triangle_in(const struct hs_world_group *g, unsigned lane)
{
    struct hs_triangle triangle;
    for (int i = 0; i < 3; i++)
        triangle.corner[i] =
            (struct hs_vec){g->corner[i][0][lane], g->corner[i][1][lane], g->corner[i][2][lane]};
    return triangle;
}

static struct hs_solid solid_of(const struct hs_world_box *box)
{
    return hs_solid_of_box(box->min, box->max);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct lanes_vec {
    glmm_128 x, y, z;
};

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

/*
 * Returns one bit for each of four triangles, set if the sphere may touch it before the limit. Two
 * tests exclude a triangle.
 *
 * First: seen along the path, the line of the path is further than `reach` outside an edge. By the
 * scalar triple product, direction . (edge x corner) is at most the distance between the two lines
 * times the length of the edge.
 *
 * Second: the sphere stays further than `reach` from the plane. normal . (corner - start -
 * direction t) is linear in t. So the sphere can touch the plane only if this value is small at one
 * end of the travel, or has different signs at the two ends.
 *
 * Rounding: if a triangle can be touched, its corners are within D = length + reach + size of the
 * start. Each corner, relative to the start, is rounded to float once. The error is u D per axis,
 * where u = 2^-24. This makes an edge longer by up to 2 sqrt(3) u D; so `blur` is added to the
 * size. The sums in edge x (corner + corner) have an error below 32 u size D = 2e-6 size D. The
 * direction has an error of u. 2.2e-6 D covers both, which gives `reach` and `reach_share`. For
 * triangles further away the result may be wrong, but they cannot be touched.
 */
ALWAYS_INLINE unsigned may_touch(const struct walk *w, const struct hs_world_group *g,
                                 narrow_lanes *narrow)
{
    const struct hs_vec *from = &w->sweep->start;
    struct lanes_vec direction = {w->direction[0], w->direction[1], w->direction[2]};
    struct lanes_vec c[3], e[3];
    for (int i = 0; i < 3; i++)
        c[i] =
            (struct lanes_vec){narrow(g->corner[i][0], from->x), narrow(g->corner[i][1], from->y),
                               narrow(g->corner[i][2], from->z)};
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

/* Does the exact tests of the triangles in `mask`. */
static void visit_triangles(struct walk *w, const struct hs_world_group *group, unsigned mask)
{
    for (; mask != 0; mask &= mask - 1) {
        unsigned lane = (unsigned)hs_lowest_bit(mask);
        if (group->index[lane] == HS_WORLD_NO_TRIANGLE)
            continue;
        double distance;
        hs_work_spend(w->work, HS_WORK_TRIANGLE);
        struct hs_triangle triangle = triangle_in(group, lane);
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

struct place {
    uint32_t child;
    float enter; /* travel at which the sphere may first touch this child */
};

/* Tests the four children from index `first` (slab test). Returns one bit for each child that the
   sphere may enter, and stores the travel until it enters. */
static inline unsigned reached(const struct walk *w, const struct hs_world_node *node, int first,
                               float *entered)
{
    glmm_128 enter = glmm_set1(0), leave = w->limit;
    for (int a = 0; a < 3; a++) {
        glmm_128 base = glmm_set1(node->base[a]), step = glmm_set1(node->step[a]) * w->inverse[a];
        glmm_128 near = (base - w->near_from[a]) * w->inverse[a];
        glmm_128 far = (base - w->far_from[a]) * w->inverse[a];
        const uint8_t *bounds = &node->bounds[0][first];
        glmm_128 in = near + hs_lanes_read_bytes(bounds + w->near_row[a]) * step;
        glmm_128 out = far + hs_lanes_read_bytes(bounds + w->far_row[a]) * step;
        enter = hs_lanes_max(in, enter);
        leave = hs_lanes_min(out, leave);
    }
    glmm_store(entered + first, enter);
    return hs_lanes_at_most(enter, leave) << first;
}

typedef unsigned reach_all(const struct walk *w, const struct hs_world_node *node, float *entered);

/* Tests all children, four at a time. */
static inline unsigned reached_by_four(const struct walk *w, const struct hs_world_node *node,
                                       float *entered)
{
    unsigned mask = 0;
    for (int first = 0; first < HS_WORLD_WIDTH; first += HS_WORLD_LANES)
        mask |= reached(w, node, first, entered);
    return mask & node->used;
}

#ifdef CGLM_SIMD_x86

#define WITH_AVX2 __attribute__((target("avx2")))

/* Computes the same as hs_lanes_narrow. */
WITH_AVX2 static inline glmm_128 narrow_four(const double *from, double minus)
{
    return _mm256_cvtpd_ps(_mm256_load_pd(from) - _mm256_set1_pd(minus));
}

WITH_AVX2 static inline __m256 eight_bounds(const uint8_t *bounds)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)bounds);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

/* Tests all children at once. Each lane computes the same as reached_by_four. */
WITH_AVX2 static inline unsigned reached_by_eight(const struct walk *w,
                                                  const struct hs_world_node *node, float *entered)
{
    __m256 enter = _mm256_setzero_ps(), leave = _mm256_broadcast_ps(&w->limit);
    for (int a = 0; a < 3; a++) {
        __m256 inverse = _mm256_broadcast_ps(&w->inverse[a]);
        __m256 base = _mm256_set1_ps(node->base[a]), step = _mm256_set1_ps(node->step[a]) * inverse;
        __m256 near = (base - _mm256_broadcast_ps(&w->near_from[a])) * inverse;
        __m256 far = (base - _mm256_broadcast_ps(&w->far_from[a])) * inverse;
        const uint8_t *bounds = node->bounds[0];
        __m256 in = near + eight_bounds(bounds + w->near_row[a]) * step;
        __m256 out = far + eight_bounds(bounds + w->far_row[a]) * step;
        enter = _mm256_max_ps(in, enter);
        leave = _mm256_min_ps(out, leave);
    }
    _mm256_store_ps(entered, enter);
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(enter, leave, _CMP_LE_OQ)) & node->used;
}

#endif

/* Prefetches a child that will probably be visited after the nearest one. */
static inline void fetch(const struct hs_world *world, uint32_t child)
{
    uint32_t index = HS_CHILD_INDEX(child);
    if (HS_CHILD_KIND(child) == HS_CHILD_BOX) {
        __builtin_prefetch(&world->boxes[index]);
        return;
    }
    bool is_node = HS_CHILD_KIND(child) == HS_CHILD_NODE;
    const char *memory =
        is_node ? (const char *)&world->nodes[index] : (const char *)&world->groups[index];
    size_t size = is_node ? sizeof *world->nodes : sizeof *world->groups;
    for (size_t line = 0; line < size; line += HS_CACHE_LINE)
        __builtin_prefetch(memory + line);
}

/* Pushes a place. The places from index `bottom` are sorted, with the nearest on top. Returns the
   new top. */
static inline int push(struct place *stack, int bottom, int top, struct place place)
{
    int j = top;
    for (; j > bottom && stack[j - 1].enter < place.enter; j--)
        stack[j] = stack[j - 1];
    stack[j] = place;
    return top + 1;
}

/* Sets *next to the nearest child that the sphere may reach, and pushes the others. All of them are
   prefetched. False: the sphere reaches no child. */
ALWAYS_INLINE bool enter_node(const struct walk *w, const struct hs_world_node *node,
                              reach_all *reach, struct place *stack, int *top, struct place *next)
{
    _Alignas(32) float entered[HS_WORLD_WIDTH];
    unsigned mask = reach(w, node, entered);
    if (mask == 0)
        return false;
    int i = hs_lowest_bit(mask), bottom = *top, end = bottom;
    struct place nearest = {node->child[i], entered[i]};
    mask &= mask - 1;
    if (mask == 0) {
        *next = nearest;
        return true;
    }
    fetch(w->world, nearest.child);
    i = hs_lowest_bit(mask);
    struct place other = {node->child[i], entered[i]};
    fetch(w->world, other.child);
    bool is_nearer = other.enter <= nearest.enter;
    stack[end++] = is_nearer ? nearest : other;
    nearest = is_nearer ? other : nearest;
    for (mask &= mask - 1; mask != 0; mask &= mask - 1) {
        i = hs_lowest_bit(mask);
        struct place place = {node->child[i], entered[i]};
        fetch(w->world, place.child);
        is_nearer = place.enter <= nearest.enter;
        end = push(stack, bottom, end, is_nearer ? nearest : place);
        nearest = is_nearer ? place : nearest;
    }
    *top = end;
    *next = nearest;
    return true;
}

ALWAYS_INLINE void walk_tree(struct walk *w, reach_all *reach, narrow_lanes *narrow)
{
    const struct hs_world *world = w->world;
    struct place stack[HS_WORLD_STACK_MAX], place = {HS_CHILD_NODE, 0};
    int top = 0;
    while (!hs_work_is_over(w->work)) {
        hs_work_spend(w->work, HS_WORK_NODE);
        uint32_t index = HS_CHILD_INDEX(place.child);
        if (HS_CHILD_KIND(place.child) == HS_CHILD_NODE) {
            if (enter_node(w, &world->nodes[index], reach, stack, &top, &place))
                continue;
        } else if (HS_CHILD_KIND(place.child) == HS_CHILD_GROUP) {
            const struct hs_world_group *group = &world->groups[index];
            visit_triangles(w, group, may_touch(w, group, narrow));
        } else {
            visit_box(w, index);
        }
        if (w->any && w->touched)
            return;
        do {
            if (top == 0)
                return;
            place = stack[--top];
        } while (place.enter > w->farthest);
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

bool hs_world_has_eight_lanes(void)
{
    return __builtin_cpu_supports("avx2");
}

#else

static void walk_by_eight(struct walk *w)
{
    walk_by_four(w);
}

bool hs_world_has_eight_lanes(void)
{
    return false;
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
    struct hs_triangle triangle = triangle_in(w->group, w->lane);
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
    /* The centre is so close to the point that the two give no direction. So use the normal of the
              face, on the side of the start. */
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

/* Returns whether the sweep is small enough for float arithmetic. If it is larger, floats overflow,
   and the sweep seems to reach the empty slots of a node. */
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
