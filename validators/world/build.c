/*
 * Builds the hierarchy from the top down.
 *
 * A node starts with one range of items. Its largest part is split again and again, until the node
 * has all its children. Each split is the cheapest according to the surface area heuristic over
 * binned centres (Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007). The
 * build uses no random numbers and one thread, so the same mesh always gives the same tree.
 */
#include "validators/world/tree.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
#include "validators/geometry/triangle.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    BINS = 16,
    FEW_BINS = 8,
    FEW_ITEMS = 32,
    CHILDREN = HS_WORLD_WIDTH,
    GROUP = HS_WORLD_LANES,
    MANY_ITEMS = 4096, /* smaller parts are split without a call of must_stop, in 1 to 5 ms */
};

struct bounds {
    float low[3], high[3];
};

struct item {
    struct bounds bounds;
    uint32_t index; /* index of the triangle or box in the mesh */
};

/* Items of one kind: triangles only, or boxes only. */
struct range {
    size_t first, count;
    bool boxes;
    struct bounds bounds;
};

struct builder {
    struct hs_world *world;
    const struct hs_world_mesh *mesh;
    struct item *items;
    size_t node_capacity, group_capacity;
    const struct hs_world_limits *limits;
    enum hs_world_fault fault;
};

struct bin {
    struct bounds bounds;
    size_t count;
};

/* ---- bounds ---- */

static const struct bounds nothing = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

static void cover(struct bounds *bounds, const struct bounds *more)
{
    struct bounds other = *more;
    glm_vec3_minv(other.low, bounds->low, bounds->low);
    glm_vec3_maxv(other.high, bounds->high, bounds->high);
}

/* Returns half the surface area; 0 if the bounds are empty. */
static float surface(const struct bounds *b)
{
    struct bounds box = *b;
    vec3 d;
    glm_vec3_sub(box.high, box.low, d);
    return d[0] < 0 ? 0 : d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

static struct bounds bounds_of(const struct hs_world *world, struct hs_vec low, struct hs_vec high)
{
    low = hs_vec_sub(low, world->origin);
    high = hs_vec_sub(high, world->origin);
    return (struct bounds){
        {hs_float_below(low.x), hs_float_below(low.y), hs_float_below(low.z)},
        {hs_float_above(high.x), hs_float_above(high.y), hs_float_above(high.z)}};
}

/* ---- splitting ---- */

/* Computes the bin of a centre. */
struct binning {
    float low[3], scale[3];
    int bins;
};

static int bin_of(const struct binning *b, const struct bounds *bounds, int axis)
{
    /* Only ratios matter, so the code uses twice the centre. This saves a multiplication. */
    float center = bounds->low[axis] + bounds->high[axis];
    int i = (int)((center - b->low[axis]) * b->scale[axis]);
    return i < 0 ? 0 : i >= b->bins ? b->bins - 1 : i;
}

/* Chooses bins for the centres of items. False: all centres are equal. */
static bool choose_bins(const struct item *items, size_t count, struct binning *out)
{
    struct bounds centers = nothing;
    for (size_t i = 0; i < count; i++) {
        struct bounds box = items[i].bounds;
        vec3 c;
        glm_vec3_add(box.low, box.high, c);
        glm_vec3_minv(c, centers.low, centers.low);
        glm_vec3_maxv(c, centers.high, centers.high);
    }
    bool apart = false;
    out->bins = count < FEW_ITEMS ? FEW_BINS : BINS;
    vec3 width;
    glm_vec3_sub(centers.high, centers.low, width);
    glm_vec3_copy(centers.low, out->low);
    for (int a = 0; a < 3; a++) {
        out->scale[a] = width[a] > FLT_MIN ? (float)out->bins / width[a] : 0;
        apart = apart || width[a] > FLT_MIN;
    }
    return apart;
}

static float groups_of(size_t count, bool boxes)
{
    return (float)(boxes ? count : (count + GROUP - 1) / GROUP);
}

/* Finds the cheapest border between the bins of one axis. Returns its cost. Bins below the border
   go to the left part. */
static float best_border(const struct bin *bins, int count, bool boxes, int *border)
{
    float right_cost[BINS], best = FLT_MAX;
    struct bounds box = nothing;
    size_t n = 0;
    for (int i = count - 1; i > 0; i--) {
        cover(&box, &bins[i].bounds);
        n += bins[i].count;
        right_cost[i] = n == 0 ? FLT_MAX : surface(&box) * groups_of(n, boxes);
    }
    box = nothing;
    n = 0;
    for (int i = 1; i < count; i++) {
        cover(&box, &bins[i - 1].bounds);
        n += bins[i - 1].count;
        if (n == 0 || right_cost[i] >= FLT_MAX)
            continue;
        float cost = surface(&box) * groups_of(n, boxes) + right_cost[i];
        if (cost < best) {
            best = cost;
            *border = i;
        }
    }
    return best;
}

/* Fills the bins of all three axes and finds the best border. False: no border separates the
   items. */
static bool find_split(const struct item *items, size_t count, bool boxes,
                       const struct binning *binning, int *axis, int *border)
{
    struct bin bins[3][BINS];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < BINS; i++)
            bins[a][i] = (struct bin){nothing, 0};
    for (size_t i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            struct bin *bin = &bins[a][bin_of(binning, &items[i].bounds, a)];
            cover(&bin->bounds, &items[i].bounds);
            bin->count++;
        }
    }
    float best = FLT_MAX;
    for (int a = 0; a < 3; a++) {
        int here = 0;
        float cost = best_border(bins[a], binning->bins, boxes, &here);
        if (cost < best) {
            best = cost;
            *axis = a;
            *border = here;
        }
    }
    return best < FLT_MAX;
}

/* Moves the items of the left bins to the front. Returns their number. */
static size_t partition(struct item *items, size_t count, const struct binning *binning, int axis,
                        int border)
{
    size_t left = 0, right = count;
    while (left < right) {
        if (bin_of(binning, &items[left].bounds, axis) < border) {
            left++;
        } else {
            struct item other = items[--right];
            items[right] = items[left];
            items[left] = other;
        }
    }
    return left;
}

static void measure(const struct builder *b, struct range *range)
{
    range->bounds = nothing;
    for (size_t i = 0; i < range->count; i++)
        cover(&range->bounds, &b->items[range->first + i].bounds);
}

static void split(const struct builder *b, const struct range *whole, bool halve,
                  struct range *left, struct range *right)
{
    struct item *items = b->items + whole->first;
    struct binning binning;
    int axis = 0, border = 0;
    size_t middle = whole->count / 2;
    if (!halve && choose_bins(items, whole->count, &binning) &&
        find_split(items, whole->count, whole->boxes, &binning, &axis, &border))
        middle = partition(items, whole->count, &binning, axis, border);
    *left = *right = *whole;
    left->count = middle;
    right->first += middle;
    right->count -= middle;
    measure(b, left);
    measure(b, right);
}

/* ---- nodes and groups ---- */

/* Returns the largest number of bytes that a build with these counts uses at one time. At the end
   of the build, nodes and groups exist twice for a short time. */
static size_t bytes_with(size_t items, size_t nodes, size_t groups)
{
    return items * sizeof(struct item) +
           2 * (nodes * sizeof(struct hs_world_node) + groups * sizeof(struct hs_world_group));
}

/* Added to the counts of nodes and groups, because the divisions round down. */
enum { ROUNDING = 8 };

size_t hs_world_build_bytes(const struct hs_world_mesh *mesh, bool any)
{
    /* In the worst case each triangle is alone in its group. A node above another node has eight
       children, and every node has at least two. So there are fewer than 4 nodes for 7 leaves. */
    size_t triangles = mesh->triangle_count, boxes = mesh->box_count;
    size_t groups = any ? triangles : triangles / 3;
    size_t nodes = (any ? triangles / 7 * 4 : triangles / 6) + boxes / 7 * 4 + ROUNDING;
    return sizeof(struct hs_world) + bytes_with(triangles + boxes, nodes, groups + ROUNDING) +
           boxes * sizeof *mesh->boxes;
}

/* Makes space for one more element of an array. False: no space, and b->fault is set. */
static bool grow(struct builder *b, void **array, size_t count, size_t *capacity, size_t size)
{
    const struct hs_world *world = b->world;
    size_t leaves = world->info.triangles + world->info.boxes;
    size_t bytes = bytes_with(leaves, world->node_count, world->group_count);
    bytes += sizeof *world + world->info.boxes * sizeof *world->boxes;
    if (bytes + 2 * size > b->limits->max_bytes)
        b->fault = HS_WORLD_TOO_LARGE;
    if (count < *capacity || b->fault != HS_WORLD_FINE)
        return b->fault == HS_WORLD_FINE;
    size_t more = *capacity + *capacity / 2 + 64;
    void *moved = realloc(*array, more * size);
    if (moved == NULL) {
        b->fault = HS_WORLD_NO_MEMORY;
        return false;
    }
    *array = moved;
    *capacity = more;
    return true;
}

static struct hs_triangle triangle_of(const struct hs_world_mesh *mesh, size_t index)
{
    const uint32_t *v = mesh->triangles[index];
    const struct hs_vec *all = mesh->vertices;
    return (struct hs_triangle){{all[v[0]], all[v[1]], all[v[2]]}};
}

static uint32_t add_group(struct builder *b, const struct range *range)
{
    struct hs_world *world = b->world;
    void *array = world->groups;
    if (!grow(b, &array, world->group_count, &b->group_capacity, sizeof *world->groups))
        return HS_CHILD_GROUP;
    world->groups = array;
    struct hs_world_group *group = &world->groups[world->group_count];
    for (size_t lane = 0; lane < GROUP; lane++) {
        bool there = lane < range->count;
        uint32_t index = b->items[range->first + (there ? lane : 0)].index;
        struct hs_triangle triangle = triangle_of(b->mesh, index);
        double longest = 0;
        for (int i = 0; i < 3; i++) {
            struct hs_vec corner = triangle.corner[i];
            double edge = hs_vec_distance(corner, triangle.corner[i == 2 ? 0 : i + 1]);
            longest = edge > longest ? edge : longest;
            group->corner[i][0][lane] = corner.x;
            group->corner[i][1][lane] = corner.y;
            group->corner[i][2][lane] = corner.z;
        }
        group->size[lane] = hs_float_above(longest);
        group->index[lane] = there ? index : HS_WORLD_NO_TRIANGLE;
    }
    return HS_CHILD_GROUP | (uint32_t)world->group_count++;
}

static bool is_leaf(const struct range *range)
{
    return range->count <= (range->boxes ? 1 : GROUP);
}

/* Whether the build should stop before a split. If so, sets b->fault. */
static bool is_stopped(struct builder *b, const struct range *whole)
{
    const struct hs_world_limits *limits = b->limits;
    if (whole->count > MANY_ITEMS && limits->must_stop != NULL &&
        limits->must_stop(limits->context))
        b->fault = HS_WORLD_STOPPED;
    return b->fault == HS_WORLD_STOPPED;
}

/* Splits the largest part until the node is full or only leaves are left. */
static int split_to_children(struct builder *b, struct range parts[CHILDREN], int count, bool halve)
{
    while (count < CHILDREN) {
        int largest = -1;
        float best = -1;
        for (int i = 0; i < count; i++) {
            float size = surface(&parts[i].bounds) * groups_of(parts[i].count, parts[i].boxes);
            if (!is_leaf(&parts[i]) && size > best) {
                best = size;
                largest = i;
            }
        }
        if (largest < 0 || is_stopped(b, &parts[largest]))
            break;
        struct range whole = parts[largest];
        split(b, &whole, halve, &parts[largest], &parts[count]);
        count++;
    }
    return count;
}

static uint32_t add_node(struct builder *b, const struct range *ranges, int count, int depth)
{
    struct hs_world *world = b->world;
    void *array = world->nodes;
    if (!grow(b, &array, world->node_count, &b->node_capacity, sizeof *world->nodes))
        return HS_CHILD_NODE;
    world->nodes = array;
    size_t place = world->node_count++;
    struct range parts[CHILDREN] = {{0}};
    memcpy(parts, ranges, (size_t)count * sizeof *ranges);
    count = split_to_children(b, parts, count, depth >= HS_WORLD_DEPTH_HALVE);

    struct hs_world_node node = {0};
    for (int i = 0; i < CHILDREN; i++) {
        const struct bounds *box = i < count ? &parts[i].bounds : &nothing;
        for (size_t a = 0; a < 3; a++) {
            node.bounds[2 * a][i] = box->low[a];
            node.bounds[2 * a + 1][i] = box->high[a];
        }
    }
    for (int i = 0; i < count && b->fault == HS_WORLD_FINE; i++) {
        if (!is_leaf(&parts[i]))
            node.child[i] = add_node(b, &parts[i], 1, depth + 1);
        else if (parts[i].boxes)
            node.child[i] = HS_CHILD_BOX | b->items[parts[i].first].index;
        else
            node.child[i] = add_group(b, &parts[i]);
    }
    world->nodes[place] = node;
    return HS_CHILD_NODE | (uint32_t)place;
}

/* ---- the whole tree ---- */

static void cover_point(struct hs_vec *low, struct hs_vec *high, struct hs_vec p)
{
    *low = hs_vec_min(p, *low);
    *high = hs_vec_max(p, *high);
}

static const struct hs_vec highest = {DBL_MAX, DBL_MAX, DBL_MAX};
static const struct hs_vec lowest = {-DBL_MAX, -DBL_MAX, -DBL_MAX};

/* Lists the triangles that are not degenerate in `items`, and returns their number. Also computes
   the bounds of all triangles and boxes. */
static size_t survey(struct hs_world *world, const struct hs_world_mesh *mesh, struct item *items)
{
    struct hs_vec low = highest, high = lowest;
    size_t kept = 0;
    for (size_t i = 0; i < world->info.triangles; i++) {
        struct hs_triangle triangle = triangle_of(mesh, i);
        if (hs_triangle_is_degenerate(&triangle))
            continue;
        items[kept++].index = (uint32_t)i;
        for (int k = 0; k < 3; k++)
            cover_point(&low, &high, triangle.corner[k]);
    }
    for (size_t i = 0; i < world->info.boxes; i++) {
        cover_point(&low, &high, world->boxes[i].min);
        cover_point(&low, &high, world->boxes[i].max);
    }
    world->info.degenerate = world->info.triangles - kept;
    if (kept + world->info.boxes == 0)
        low = high = (struct hs_vec){0, 0, 0};
    world->info.min = low;
    world->info.max = high;
    world->origin = hs_vec_add_scaled(low, hs_vec_sub(high, low), 0.5);
    world->extent = hs_larger(hs_vec_largest(hs_vec_sub(low, world->origin)),
                              hs_vec_largest(hs_vec_sub(high, world->origin)));
    world->coordinate = world->extent + hs_vec_largest(world->origin);
    return kept;
}

static void fill_items(const struct hs_world *world, const struct hs_world_mesh *mesh,
                       struct item *items, size_t triangles)
{
    for (size_t i = 0; i < triangles; i++) {
        struct hs_triangle triangle = triangle_of(mesh, items[i].index);
        struct hs_vec low = highest, high = lowest;
        for (int k = 0; k < 3; k++)
            cover_point(&low, &high, triangle.corner[k]);
        items[i].bounds = bounds_of(world, low, high);
    }
    for (size_t i = 0; i < world->info.boxes; i++) {
        items[triangles + i].bounds = bounds_of(world, world->boxes[i].min, world->boxes[i].max);
        items[triangles + i].index = (uint32_t)i;
    }
}

/* Copies the elements to memory from `alloc`, and frees the old array. NULL: out of memory. */
static void *settle(void *array, size_t count, size_t size, hs_world_alloc *alloc)
{
    void *settled = array == NULL ? NULL : alloc(count * size);
    if (settled != NULL)
        memcpy(settled, array, count * size);
    free(array);
    return settled;
}

enum hs_world_fault hs_world_build(struct hs_world *world, const struct hs_world_mesh *mesh,
                                   hs_world_alloc *alloc, const struct hs_world_limits *limits)
{
    struct builder b = {.world = world, .mesh = mesh, .limits = limits};
    world->has_eight_lanes = hs_world_has_eight_lanes();
    size_t most = world->info.triangles + world->info.boxes;
    b.items = malloc((most + 1) * sizeof *b.items);
    if (b.items == NULL)
        return HS_WORLD_NO_MEMORY;
    size_t triangles = survey(world, mesh, b.items);
    fill_items(world, mesh, b.items, triangles);

    struct range ranges[2];
    int count = 0;
    if (triangles > 0)
        ranges[count++] = (struct range){.count = triangles};
    if (world->info.boxes > 0)
        ranges[count++] =
            (struct range){.first = triangles, .count = world->info.boxes, .boxes = true};
    for (int i = 0; i < count; i++)
        measure(&b, &ranges[i]);
    add_node(&b, ranges, count, 0);
    free(b.items);
    if (b.fault != HS_WORLD_FINE)
        return b.fault;
    world->nodes = settle(world->nodes, world->node_count, sizeof *world->nodes, alloc);
    if (world->group_count > 0)
        world->groups = settle(world->groups, world->group_count, sizeof *world->groups, alloc);
    bool fine = world->nodes != NULL && (world->group_count == 0 || world->groups != NULL);
    return fine ? HS_WORLD_FINE : HS_WORLD_NO_MEMORY;
}
