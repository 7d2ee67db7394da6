#include "validators/world.h"

#include <string.h>

#include "validators/world/tree.h"

static bool is_near(const struct hs_world_box *box, struct hs_vec low, struct hs_vec high)
{
    return box->min.x <= high.x && box->min.y <= high.y && box->min.z <= high.z &&
           box->max.x >= low.x && box->max.y >= low.y && box->max.z >= low.z;
}

static void list_triangle(const struct hs_world_group *group, int i, struct hs_vec low,
                          struct hs_vec high, struct hs_world_parts *out)
{
    struct hs_vec corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] =
            (struct hs_vec){group->corner[k][0][i], group->corner[k][1][i], group->corner[k][2][i]};
    struct hs_world_box bounds = {hs_vec_min(hs_vec_min(corner[0], corner[1]), corner[2]),
                                  hs_vec_max(hs_vec_max(corner[0], corner[1]), corner[2])};
    if (!is_near(&bounds, low, high))
        return;
    if (out->triangle_count < out->triangle_capacity)
        memcpy(out->triangles[out->triangle_count++], corner, sizeof corner);
    else
        out->left_out++;
}

void hs_world_near(const struct hs_world *world, struct hs_vec low, struct hs_vec high,
                   struct hs_world_parts *out)
{
    out->triangle_count = out->box_count = out->left_out = 0;
    for (size_t i = 0; i < world->group_count; i++)
        for (int k = 0; k < HS_WORLD_LANES; k++)
            if (world->groups[i].index[k] != HS_WORLD_NO_TRIANGLE)
                list_triangle(&world->groups[i], k, low, high, out);
    for (size_t i = 0; i < world->info.boxes; i++) {
        if (!is_near(&world->boxes[i], low, high))
            continue;
        if (out->box_count < out->box_capacity)
            out->boxes[out->box_count++] = world->boxes[i];
        else
            out->left_out++;
    }
}
