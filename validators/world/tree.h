/* The inside of a world: what world_build.c makes and world_cast.c walks. */
#ifndef HS_WORLD_TREE_H
#define HS_WORLD_TREE_H

#include "validators/world.h"

/*
 * A reference to a child: the two highest bits say what it is, the rest its number. A box leaf is
 * one box, whose bounds stand in the parent; a triangle leaf is one group.
 */
#define HS_CHILD_NODE     0x00000000u
#define HS_CHILD_GROUP    0x40000000u
#define HS_CHILD_BOX      0x80000000u
#define HS_CHILD_KIND(c)  ((c)&0xc0000000u)
#define HS_CHILD_INDEX(c) ((c)&0x3fffffffu)

/* Children of a node; a power of two from 4 on, in lanes of four. */
enum { HS_WORLD_WIDTH = 8, HS_WORLD_LANES = 4 };

/* Bounds of the children, relative to the world's origin and rounded outwards. Places without a
   child have bounds that nothing enters. */
struct hs_world_node {
    float bounds[6][HS_WORLD_WIDTH]; /* low x, high x, low y, high y, low z, high z */
    uint32_t child[HS_WORLD_WIDTH];
    uint32_t unused[HS_WORLD_WIDTH]; /* fills whole cache lines */
};

/*
 * Four triangles with their corners as they were given, beside each other: five cache lines that
 * come in one go. Places without a triangle repeat the first one.
 */
struct hs_world_group {
    double corner[3][3][4]; /* corner, axis, triangle; world */
    float size[4];          /* longest edge */
    uint32_t index[4];      /* in the mesh; HS_WORLD_NO_TRIANGLE */
};

#define HS_WORLD_NO_TRIANGLE UINT32_MAX

/*
 * The walk keeps at most all children but one a level. Below HS_WORLD_DEPTH_HALVE levels the build
 * halves what is left by number, so that no tree is deeper than HS_WORLD_DEPTH_MAX.
 */
enum {
    HS_WORLD_DEPTH_HALVE = 32,
    HS_WORLD_DEPTH_MAX = HS_WORLD_DEPTH_HALVE + 30,
    HS_WORLD_STACK_MAX = (HS_WORLD_WIDTH - 1) * HS_WORLD_DEPTH_MAX + HS_WORLD_WIDTH
};

struct hs_world {
    struct hs_world_node *nodes; /* the first is the root */
    size_t node_count;
    struct hs_world_group *groups;
    size_t group_count;
    struct hs_world_box *boxes;
    struct hs_vec origin; /* the middle of the world */
    double extent;        /* no coordinate is further from the origin */
    double coordinate;    /* no coordinate is larger */
    struct hs_world_info info;
};

/* Builds everything for a mesh that was examined: nodes and groups over triangles and boxes, the
   rest of the info, the origin. HS_WORLD_FINE, HS_WORLD_TOO_LARGE or HS_WORLD_NO_MEMORY. */
enum hs_world_fault hs_world_build(struct hs_world *world, const struct hs_world_mesh *mesh,
                                   hs_world_alloc *alloc, size_t max_bytes);

#endif
