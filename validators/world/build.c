/*
 * Builds the tree of a world (tree.h) in two steps.
 *
 * The first step splits the items (triangles and boxes) into a binary tree, from the top down. This
 * step puts the centres of the items into bins. It splits at the border between two bins that has
 * the smallest cost according to the surface area heuristic (Wald, "On fast construction of
 * SAH-based bounding volume hierarchies", 2007).
 *
 * The second step merges branches of the binary tree into wide nodes. This step makes the total
 * surface of all wide nodes as small as possible (Ylitie and others, "Efficient incoherent ray
 * traversal on GPUs through compressed wide BVHs", 2017).
 *
 * The build uses one thread and no random numbers, so the same mesh always gives the same tree.
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
    /* must_stop is not called for ranges with at most this many items, because it takes only 1 to 5
       ms to split such a range down to its leaves */
    MANY_ITEMS = 4096,
};

struct bounds {
    float low[3], high[3];
};

struct item {
    struct bounds bounds;
    uint32_t index; /* index of the triangle or box in the mesh */
};

/* A range of consecutive items. All items are triangles, or all items are boxes. Only the range of
   the root can contain both kinds. */
struct range {
    uint32_t first, count;
    bool boxes;
    struct bounds bounds;
};

/*
 * A branch of the binary tree. The second step replaces the branch by some children of a wide node.
 * With at most k children, the smallest possible total surface of the wide nodes inside the branch
 * is cost[k - 1].
 */
struct branch {
    struct range range;
    uint32_t part[2]; /* indices of the two parts in builder.branches; 0: the branch is a leaf */
    float cost[CHILDREN - 1];
};

struct builder {
    struct hs_world *world;
    const struct hs_world_mesh *mesh;
    struct item *items;
    struct branch *branches; /* branches[0] is the root */
    size_t branch_count, branch_capacity;
    size_t group_count;
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

/* Returns half the surface area of the bounds, or 0 if the bounds are empty. */
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

/* Parameters that map the centre of an item to a bin on each axis. */
struct binning {
    float low[3], scale[3];
    int bins;
};

static int bin_of(const struct binning *b, const struct bounds *bounds, int axis)
{
    /* `center` is twice the centre. choose_bins also uses twice the centres, so the factor does not
       matter. */
    float center = bounds->low[axis] + bounds->high[axis];
    int i = (int)((center - b->low[axis]) * b->scale[axis]);
    return i < 0 ? 0 : i >= b->bins ? b->bins - 1 : i;
}

/* Chooses the bins for the centres of the items. Returns false if all centres are equal or nearly
   equal. */
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
    const float narrow = BINS * FLT_MIN; /* below this width, the scale could be infinite */
    bool apart = false;
    out->bins = count < FEW_ITEMS ? FEW_BINS : BINS;
    vec3 width;
    glm_vec3_sub(centers.high, centers.low, width);
    glm_vec3_copy(centers.low, out->low);
    for (int a = 0; a < 3; a++) {
        out->scale[a] = width[a] > narrow ? (float)out->bins / width[a] : 0;
        apart = apart || width[a] > narrow;
    }
    return apart;
}

static float groups_of(size_t count, bool boxes)
{
    return (float)(boxes ? count : (count + GROUP - 1) / GROUP);
}

/* Finds the border with the smallest cost between the bins of one axis. Returns this cost, and sets
   *border to the index of the first bin after the border. Items in bins below *border go to the
   left part. */
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

/* Fills the bins of all three axes, and finds the axis and the border with the smallest cost.
   Returns false if no border separates the items. */
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

/* Moves the items in bins below the border to the front. Returns the number of these items. */
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

static __attribute__((noinline)) void split(const struct builder *b, const struct range *whole,
                                            bool halve, struct range *left, struct range *right)
{
    struct item *items = b->items + whole->first;
    struct binning binning;
    int axis = 0, border = 0;
    uint32_t middle = whole->count / 2;
    if (!halve && choose_bins(items, whole->count, &binning) &&
        find_split(items, whole->count, whole->boxes, &binning, &axis, &border))
        middle = (uint32_t)partition(items, whole->count, &binning, axis, border);
    *left = *right = *whole;
    left->count = middle;
    right->first += middle;
    right->count -= middle;
    measure(b, left);
    measure(b, right);
}

/* ---- memory ---- */

/* Returns the max number of bytes that a build with these counts allocates at the same time. */
static size_t bytes_with(const struct hs_world_mesh *mesh, size_t branches, size_t nodes,
                         size_t groups)
{
    return sizeof(struct hs_world) + mesh->box_count * sizeof *mesh->boxes +
           (mesh->triangle_count + mesh->box_count) * sizeof(struct item) +
           branches * sizeof(struct branch) + nodes * sizeof(struct hs_world_node) +
           groups * sizeof(struct hs_world_group);
}

/* hs_world_build_bytes adds this number to the node count and the group count, because its
   divisions round down. */
enum { ROUNDING = 8 };

size_t hs_world_build_bytes(const struct hs_world_mesh *mesh, bool any)
{
    /* In the worst case, each group contains only one triangle. A node and its parent together have
       at least 10 children, because the build merges two nodes with fewer children. So there are
       fewer than 5 nodes per 8 leaves. */
    size_t triangles = mesh->triangle_count, boxes = mesh->box_count;
    size_t groups = any ? triangles : triangles / 3;
    size_t nodes = (any ? triangles / 8 * 5 : triangles / 16) + boxes / 8 * 5;
    return bytes_with(mesh, 2 * (groups + boxes + ROUNDING), nodes + ROUNDING, groups + ROUNDING);
}

/* ---- branches ---- */

/* Adds a branch, and sets *out to its index. If memory runs out, or if the build would need more
   than max_bytes, sets b->fault and returns false. */
static bool add_branch(struct builder *b, const struct range *range, uint32_t *out)
{
    if (bytes_with(b->mesh, b->branch_count + 1, 1, b->group_count + 1) > b->limits->max_bytes)
        b->fault = HS_WORLD_TOO_LARGE;
    if (b->branch_count == b->branch_capacity && b->fault == HS_WORLD_FINE) {
        size_t more = b->branch_capacity + b->branch_capacity / 2 + 64;
        struct branch *moved = realloc(b->branches, more * sizeof *moved);
        if (moved == NULL) {
            b->fault = HS_WORLD_NO_MEMORY;
        } else {
            b->branches = moved;
            b->branch_capacity = more;
        }
    }
    if (b->fault != HS_WORLD_FINE)
        return false;
    *out = (uint32_t)b->branch_count++;
    b->branches[*out] = (struct branch){.range = *range};
    return true;
}

static bool is_leaf(const struct branch *branch)
{
    return branch->part[0] == 0;
}

/* Returns the smallest cost of a branch whose two parts together become at most `children` children
   of a wide node. Sets *first to the number of children that the first part may become. */
static float share_children(const struct builder *b, const struct branch *branch, int children,
                            int *first)
{
    const float *left = b->branches[branch->part[0]].cost;
    const float *right = b->branches[branch->part[1]].cost;
    float best = FLT_MAX;
    for (int i = 1; i < children; i++) {
        float cost = left[i - 1] + right[children - i - 1];
        if (cost < best) {
            best = cost;
            *first = i;
        }
    }
    return best;
}

static void find_costs(const struct builder *b, struct branch *branch)
{
    int first;
    branch->cost[0] = surface(&branch->range.bounds) + share_children(b, branch, CHILDREN, &first);
    for (int k = 2; k < CHILDREN; k++)
        branch->cost[k - 1] = fminf(branch->cost[k - 2], share_children(b, branch, k, &first));
}

static void grow(struct builder *b, uint32_t index, int depth);

static void grow_parts(struct builder *b, uint32_t index, const struct range parts[2], int depth)
{
    uint32_t added[2];
    for (int i = 0; i < 2; i++) {
        if (!add_branch(b, &parts[i], &added[i]))
            return;
        grow(b, added[i], depth + 1);
    }
    if (b->fault != HS_WORLD_FINE)
        return;
    memcpy(b->branches[index].part, added, sizeof added);
    find_costs(b, &b->branches[index]);
}

/* Calls must_stop if the range has more than MANY_ITEMS items. If the build must stop, sets
   b->fault and returns true. */
static bool is_stopped(struct builder *b, const struct range *whole)
{
    const struct hs_world_limits *limits = b->limits;
    if (whole->count > MANY_ITEMS && limits->must_stop != NULL &&
        limits->must_stop(limits->context))
        b->fault = HS_WORLD_STOPPED;
    return b->fault == HS_WORLD_STOPPED;
}

/* Splits a branch into two parts, and splits each part in the same way, down to the leaves. */
static void grow(struct builder *b, uint32_t index, int depth)
{
    struct range whole = b->branches[index].range, parts[2];
    if (whole.count <= (whole.boxes ? 1 : GROUP)) {
        b->group_count += whole.boxes || whole.count == 0 ? 0 : 1;
        return;
    }
    if (is_stopped(b, &whole))
        return;
    split(b, &whole, depth >= HS_WORLD_DEPTH_HALVE, &parts[0], &parts[1]);
    grow_parts(b, index, parts, depth);
}

/* ---- nodes and groups ---- */

static struct hs_triangle triangle_of(const struct hs_world_mesh *mesh, size_t index)
{
    const uint32_t *v = mesh->triangles[index];
    const struct hs_vec *all = mesh->vertices;
    return (struct hs_triangle){{all[v[0]], all[v[1]], all[v[2]]}};
}

static uint32_t add_group(const struct builder *b, const struct range *range)
{
    struct hs_world *world = b->world;
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

/* Stores the bounds of a node's children on one axis. */
static void set_bounds(struct hs_world_node *node, const struct branch *const *parts, int count,
                       size_t axis)
{
    double low = DBL_MAX, high = -DBL_MAX;
    for (int i = 0; i < count; i++) {
        low = hs_smaller(low, (double)parts[i]->range.bounds.low[axis]);
        high = hs_larger(high, (double)parts[i]->range.bounds.high[axis]);
    }
    if (count == 0)
        low = high = 0;
    /* The span is larger than high - low. So it is never 0, and 255 steps reach at least `high +
       margin` even after the rounding to float. */
    double span = high - low + 5e-7 * hs_larger(fabs(low), fabs(high)) + (double)FLT_MIN;
    double margin = 1e-6 * span;
    float base = hs_float_below(low - margin);
    float step = hs_float_above((high + margin - (double)base) / 255);
    node->base[axis] = base;
    node->step[axis] = step;
    for (int i = 0; i < count; i++) {
        double from = (double)parts[i]->range.bounds.low[axis] - margin - (double)base;
        double to = (double)parts[i]->range.bounds.high[axis] + margin - (double)base;
        node->bounds[2 * axis][i] = (uint8_t)floor(from / (double)step);
        node->bounds[2 * axis + 1][i] = (uint8_t)ceil(to / (double)step);
    }
}

/* Lists the branches that become children of a wide node in place of `branch`. Returns their
   number, which is at most `children`. */
static int list_children(const struct builder *b, const struct branch *branch, int children,
                         const struct branch **out)
{
    if (branch->range.count == 0)
        return 0;
    for (; !is_leaf(branch) && children > 1; children--) {
        int first = 1;
        float cost = share_children(b, branch, children, &first);
        if (children < CHILDREN && cost > branch->cost[children - 2])
            continue;
        int count = list_children(b, &b->branches[branch->part[0]], first, out);
        return count +
               list_children(b, &b->branches[branch->part[1]], children - first, out + count);
    }
    out[0] = branch;
    return 1;
}

static size_t count_nodes(const struct builder *b, const struct branch *branch)
{
    const struct branch *children[CHILDREN];
    int count = list_children(b, branch, CHILDREN, children);
    size_t nodes = 1;
    for (int i = 0; i < count; i++)
        nodes += is_leaf(children[i]) ? 0 : count_nodes(b, children[i]);
    return nodes;
}

/* Adds a node and all nodes and groups below it. The groups of one node are adjacent in memory. */
static uint32_t add_node(const struct builder *b, const struct branch *branch)
{
    const struct branch *children[CHILDREN];
    int count = list_children(b, branch, CHILDREN, children);
    uint32_t index = (uint32_t)b->world->node_count++;
    struct hs_world_node *node = &b->world->nodes[index];
    memset(node, 0, sizeof *node);
    node->used = (1u << count) - 1;
    for (size_t a = 0; a < 3; a++)
        set_bounds(node, children, count, a);
    for (int i = 0; i < count; i++) {
        const struct range *range = &children[i]->range;
        if (is_leaf(children[i]))
            node->child[i] =
                range->boxes ? HS_CHILD_BOX | b->items[range->first].index : add_group(b, range);
    }
    for (int i = 0; i < count; i++)
        if (!is_leaf(children[i]))
            node->child[i] = add_node(b, children[i]);
    return HS_CHILD_NODE | index;
}

/* Allocates the nodes and groups of the world. */
static enum hs_world_fault make_space(const struct builder *b, hs_world_alloc *alloc)
{
    struct hs_world *world = b->world;
    size_t nodes = count_nodes(b, &b->branches[0]);
    if (bytes_with(b->mesh, b->branch_count, nodes, b->group_count) > b->limits->max_bytes)
        return HS_WORLD_TOO_LARGE;
    world->nodes = alloc(nodes * sizeof *world->nodes);
    world->groups = alloc((b->group_count + 1) * sizeof *world->groups);
    return world->nodes != NULL && world->groups != NULL ? HS_WORLD_FINE : HS_WORLD_NO_MEMORY;
}

/* ---- the whole tree ---- */

static void cover_point(struct hs_vec *low, struct hs_vec *high, struct hs_vec p)
{
    *low = hs_vec_min(p, *low);
    *high = hs_vec_max(p, *high);
}

static const struct hs_vec highest = {DBL_MAX, DBL_MAX, DBL_MAX};
static const struct hs_vec lowest = {-DBL_MAX, -DBL_MAX, -DBL_MAX};

/* Writes the triangles that are not degenerate into `items`, and returns their number. Also
   computes the bounds of these triangles and all boxes. */
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

/* Builds the binary tree. If there are both triangles and boxes, the root has one part with all
   triangles and one part with all boxes. */
static void grow_tree(struct builder *b, uint32_t triangles, uint32_t boxes)
{
    struct range parts[2] = {{.count = triangles},
                             {.first = triangles, .count = boxes, .boxes = true}};
    uint32_t root;
    for (int i = 0; i < 2; i++)
        measure(b, &parts[i]);
    if (triangles > 0 && boxes > 0) {
        struct range whole = {.count = triangles + boxes, .bounds = parts[0].bounds};
        cover(&whole.bounds, &parts[1].bounds);
        if (add_branch(b, &whole, &root))
            grow_parts(b, root, parts, 0);
    } else if (add_branch(b, &parts[boxes > 0 ? 1 : 0], &root)) {
        grow(b, root, 0);
    }
}

enum hs_world_fault hs_world_build(struct hs_world *world, const struct hs_world_mesh *mesh,
                                   hs_world_alloc *alloc, const struct hs_world_limits *limits)
{
    struct builder b = {.world = world, .mesh = mesh, .limits = limits};
    world->has_eight_lanes = hs_lanes_can_be_eight();
    size_t most = world->info.triangles + world->info.boxes;
    b.items = malloc((most + 1) * sizeof *b.items);
    if (b.items == NULL)
        return HS_WORLD_NO_MEMORY;
    size_t triangles = survey(world, mesh, b.items);
    fill_items(world, mesh, b.items, triangles);
    grow_tree(&b, (uint32_t)triangles, (uint32_t)world->info.boxes);
    if (b.fault == HS_WORLD_FINE && !is_stopped(&b, &b.branches[0].range))
        b.fault = make_space(&b, alloc);
    if (b.fault == HS_WORLD_FINE)
        add_node(&b, &b.branches[0]);
    free(b.branches);
    free(b.items);
    return b.fault;
}
