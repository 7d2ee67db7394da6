/* The internal form of a world. build.c builds it, and cast.c searches it. */
#ifndef HS_WORLD_TREE_H
#define HS_WORLD_TREE_H

#include "validators/world.h"

/*
 * A reference to a child of a node. The two highest bits are its kind, and the other bits are its
 * index. A child is a node, a group (a leaf with up to four triangles) or a box.
 */
#define HS_CHILD_NODE     0x00000000u
#define HS_CHILD_GROUP    0x40000000u
#define HS_CHILD_BOX      0x80000000u
#define HS_CHILD_KIND(c)  ((c)&0xc0000000u)
#define HS_CHILD_INDEX(c) ((c)&0x3fffffffu)

/* Number of children per node: a power of two, and a multiple of the four lanes. */
enum { HS_WORLD_WIDTH = 8, HS_WORLD_LANES = 4 };

/*
 * A node fills two cache lines. The bounds of a child are base + step * number, relative to the
 * world's origin. The numbers are rounded outwards, with a margin of 16 u x 255 steps, where
 * u = 2^-24. `used` contains a bit for each slot with a child.
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
    double corner[3][3][4]; /* corner, axis, triangle; world coordinates */
    float size[4];          /* longest edge */
    uint32_t index[4];      /* in the mesh; HS_WORLD_NO_TRIANGLE: empty slot */
};

#define HS_WORLD_NO_TRIANGLE UINT32_MAX

/*
 * The stack of a search contains at most WIDTH - 1 children per level of the tree, and one full
 * node. After HS_WORLD_DEPTH_HALVE levels, the build splits ranges only into halves with equal
 * numbers of items, so that no tree is deeper than HS_WORLD_DEPTH_MAX.
 */
enum {
    HS_WORLD_DEPTH_HALVE = 64,
    HS_WORLD_DEPTH_MAX = HS_WORLD_DEPTH_HALVE + 30,
    HS_WORLD_STACK_MAX = (HS_WORLD_WIDTH - 1) * HS_WORLD_DEPTH_MAX + HS_WORLD_WIDTH
};

struct hs_world {
    struct hs_world_node *nodes; /* the first is the root */
    size_t node_count;
    struct hs_world_group *groups;
    size_t group_count;
    struct hs_world_box *boxes;
    struct hs_vec origin; /* the centre of the world */
    double extent;        /* largest distance from the origin along any axis */
    double coordinate;    /* upper bound of the absolute coordinates */
    bool has_eight_lanes; /* searches test eight children at once, and not four; the results are
                             the same */
    struct hs_world_info info;
};

/* Builds nodes and groups for a valid mesh, and sets all members of `world` that depend on them.
   Returns HS_WORLD_FINE or the fault. */
enum hs_world_fault hs_world_build(struct hs_world *world, const struct hs_world_mesh *mesh,
                                   hs_world_alloc *alloc, const struct hs_world_limits *limits);

#endif
