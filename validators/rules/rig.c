#include "validators/rig.h"

#include "validators/base/glm.h"
#include "validators/geometry/quat.h"
#include "validators/ruleset.h"

static double hitbox_reach(const struct hs_hitbox *box)
{
    double extent = box->radius;
    if (box->shape == HS_SHAPE_CAPSULE)
        extent += box->half_length;
    if (box->shape == HS_SHAPE_BOX)
        extent = hs_vec_length(box->half_extents);
    return hs_vec_length(box->center) + extent;
}

void hs_rig_finish(struct hs_rig *rig)
{
    for (int i = 0; i < rig->hitbox_count; i++)
        hs_quat_normalise(rig->hitboxes[i].rotation);
    for (int s = 0; s < rig->stance_count; s++)
        for (int i = 0; i < rig->bone_count; i++)
            hs_quat_normalise(rig->stances[s].bones[i].rotation);
    for (int i = 0; i < rig->hitbox_count; i++)
        rig->hitbox_reach[i] = hitbox_reach(&rig->hitboxes[i]);
    for (int s = 0; s < rig->stance_count; s++) {
        struct hs_stance *stance = &rig->stances[s];
        stance->reach = 0;
        for (int i = 0; i < rig->hitbox_count; i++) {
            const struct hs_rest_bone *bone = &stance->bones[rig->hitboxes[i].bone];
            double reach = hs_vec_length(bone->position) +
                           rig->hitbox_reach[i] * hs_largest_scale(bone->scale);
            if (reach > stance->reach)
                stance->reach = reach;
        }
    }
}
