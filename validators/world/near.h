/* Lists the parts of a map near a place, for pictures. Internal to validators/. */
#ifndef HS_WORLD_NEAR_H
#define HS_WORLD_NEAR_H

#include "validators/geometry/triangle.h"
#include "validators/world.h"

/* The caller's arrays, and how many of their entries are used. */
struct hs_world_parts {
    struct hs_triangle *triangles;
    struct hs_world_box *boxes;
    size_t triangle_capacity, box_capacity;
    size_t triangle_count, box_count;
    size_t left_out; /* parts beyond the capacity */
};

/* Lists every triangle and box whose bounds touch the box from `low` to `high` (world, length).
   Reads the whole map: O(n). */
void hs_world_near(const struct hs_world *world, struct hs_vec low, struct hs_vec high,
                   struct hs_world_parts *out);

#endif
