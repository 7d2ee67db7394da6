/* The internal form of a world: a tree of nodes. build.c builds the tree, and cast.c searches it.
 */
#ifndef HS_WORLD_TREE_H
#define HS_WORLD_TREE_H

#include "validators/world.h"

/*
 * A reference to a child of a node. The two highest bits contain the kind of the child, and the
 * other bits contain its index in `nodes`, `groups` or `boxes`. A child is a node, a group (a leaf
 * with up to four triangles) or a box.
 */
#define HS_CHILD_NODE     0x00000000u
#define HS_CHILD_GROUP    0x40000000u
#define HS_CHILD_BOX      0x80000000u
#define HS_CHILD_KIND(c)  ((c)&0xc0000000u)
#define HS_CHILD_INDEX(c) ((c)&0x3fffffffu)

/* HS_WORLD_WIDTH is the max number of children per node. This number must be a power of two and a
   multiple of HS_WORLD_LANES. HS_WORLD_LANES is the number of triangles per group. */
enum { HS_WORLD_WIDTH = 8, HS_WORLD_LANES = 4 };

/*
 * A node fills two cache lines. Each bound of a child is base + step * number, relative to the
 * world's origin, where `bounds` contains the number. The numbers are rounded outwards, with a
 * margin of 16 u x 255 steps, where u = 2^-24. `used` contains one set bit for each slot that
 * contains a child.
 */
struct hs_world_node {
    float base[4], step[4];            /* x, y, z, 0 */
    uint8_t bounds[6][HS_WORLD_WIDTH]; /* low x, high x, low y, high y, low z, high z */
    uint32_t child[HS_WORLD_WIDTH];
    uint32_t used;
    uint32_t unused[3]; /* pads the node to whole cache lines */
};

/*
 * Four triangles with exact corners. A group fills five cache lines. Empty slots repeat the first
 * triangle.
 */
struct hs_world_group {
    double corner[3][3][4]; /* indices: corner, axis, triangle; in world coordinates */
    float size[4];          /* length of the longest edge of each triangle */
    uint32_t index[4]; /* index of each triangle in the mesh; HS_WORLD_NO_TRIANGLE: empty slot */
};

#define HS_WORLD_NO_TRIANGLE UINT32_MAX

/*
 * The stack of a search contains at most HS_WORLD_WIDTH - 1 children per level of the tree, and
 * HS_WORLD_WIDTH more. If a range is HS_WORLD_DEPTH_HALVE or more levels deep, the build splits it
 * only into halves with equal numbers of items. So no tree is deeper than HS_WORLD_DEPTH_MAX.
 */
enum {
    HS_WORLD_DEPTH_HALVE = 64,
    HS_WORLD_DEPTH_MAX = HS_WORLD_DEPTH_HALVE + 30,
    HS_WORLD_STACK_MAX = (HS_WORLD_WIDTH - 1) * HS_WORLD_DEPTH_MAX + HS_WORLD_WIDTH
};

struct hs_world {
    struct hs_world_node *nodes; /* nodes[0] is the root */
    size_t node_count;
    struct hs_world_group *groups;
    size_t group_count;
    struct hs_world_box *boxes;
    struct hs_vec origin; /* the centre of the world */
    double extent;        /* largest distance from the origin along any axis */
    double coordinate;    /* upper bound of the absolute values of all coordinates */
    /* Searches test eight children at once instead of four; the results are the same. */
    bool has_eight_lanes;
    struct hs_world_info info;
};

/* Builds the nodes and groups for a valid mesh, and sets the other members of `world`. Before the
   call, the caller must set `boxes` and the numbers of triangles and boxes in `info`. Returns
   HS_WORLD_FINE or the fault. */
enum hs_world_fault hs_world_build(struct hs_world *world, const struct hs_world_mesh *mesh,
                                   hs_world_alloc *alloc, const struct hs_world_limits *limits);

#endif
