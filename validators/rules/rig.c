#include "validators/rig.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
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

/* Computes a capsule around a hitbox. Returns the vector from the centre of the capsule to one end
   of its segment, and sets *radius to the radius of the capsule. */
static struct hs_vec capsule_axis(const struct hs_hitbox *box, double *radius)
{
    struct hs_vec axes[3], h = box->half_extents;
    hs_quat_axes(box->rotation, axes);
    *radius = box->radius;
    if (box->shape == HS_SHAPE_CAPSULE)
        return hs_vec_scale(axes[2], box->half_length);
    if (box->shape != HS_SHAPE_BOX)
        return (struct hs_vec){0, 0, 0};
    if (h.x >= h.y && h.x >= h.z) {
        *radius = hypot(h.y, h.z);
        return hs_vec_scale(axes[0], h.x);
    }
    *radius = hypot(h.x, h.y >= h.z ? h.z : h.y);
    return h.y >= h.z ? hs_vec_scale(axes[1], h.y) : hs_vec_scale(axes[2], h.z);
}

static void make_capsule(const struct hs_hitbox *box, double reach, struct hs_capsules *out,
                         int lane)
{
    double radius, bound = reach;
    struct hs_vec axis = capsule_axis(box, &radius), from = {0, 0, 0}, to = {0, 0, 0};
    if (!(box->shape == HS_SHAPE_BOX && box->axis_aligned)) {
        from = hs_vec_sub(box->center, axis);
        to = hs_vec_add(box->center, axis);
        bound = radius;
    }
    const double ends[2][3] = {{from.x, from.y, from.z}, {to.x, to.y, to.z}};
    for (int a = 0; a < 3; a++) {
        out->from[a][lane] = (float)ends[0][a];
        out->to[a][lane] = (float)ends[1][a];
    }
    out->radius[lane] = hs_float_above(bound);
    out->reach[lane] = hs_float_above(reach);
}

/* Returns one end of the capsule around a hitbox. */
static struct hs_vec capsule_end(const float end[3][4], int lane)
{
    return (struct hs_vec){(double)end[0][lane], (double)end[1][lane], (double)end[2][lane]};
}

/* Extends a box by a ball. */
static void extend(struct hs_vec *low, struct hs_vec *high, struct hs_vec center, double radius)
{
    *low = (struct hs_vec){hs_smaller(low->x, center.x - radius),
                           hs_smaller(low->y, center.y - radius),
                           hs_smaller(low->z, center.z - radius)};
    *high = (struct hs_vec){hs_larger(high->x, center.x + radius),
                            hs_larger(high->y, center.y + radius),
                            hs_larger(high->z, center.z + radius)};
}

/* Computes the bounds of a stance. The box contains the capsule around each hitbox. If the bone is
   scaled, the box contains the ball around the bone instead. */
static void bound_stance(const struct hs_rig *rig, struct hs_stance *stance)
{
    const double rotation_error = 1e-5; /* more than the errors of rotations in float */
    struct hs_vec low = {0, 0, 0}, high = {0, 0, 0};
    stance->reach = 0;
    for (int i = 0; i < rig->hitbox_count; i++) {
        const struct hs_rest_bone *bone = &stance->bones[rig->hitboxes[i].bone];
        const struct hs_capsules *capsules = &rig->capsules[i / 4];
        double reach = rig->hitbox_reach[i] * hs_largest_scale(bone->scale);
        stance->reach = hs_larger(stance->reach, hs_vec_length(bone->position) + reach);
        if (bone->scale[0] != 1 || bone->scale[1] != 1 || bone->scale[2] != 1) {
            extend(&low, &high, bone->position, reach);
            continue;
        }
        struct hs_vec from = hs_quat_rotate(bone->rotation, capsule_end(capsules->from, i % 4));
        struct hs_vec to = hs_quat_rotate(bone->rotation, capsule_end(capsules->to, i % 4));
        double radius = (double)capsules->radius[i % 4];
        extend(&low, &high, hs_vec_add(bone->position, from), radius);
        extend(&low, &high, hs_vec_add(bone->position, to), radius);
    }
    double margin = rotation_error * stance->reach;
    stance->middle = hs_vec_lerp(low, high, 0.5);
    stance->half = hs_vec_scale(hs_vec_sub(high, low), 0.5);
    stance->half = hs_vec_add(stance->half, (struct hs_vec){margin, margin, margin});
}

void hs_rig_finish(struct hs_rig *rig)
{
    for (int i = 0; i < rig->hitbox_count; i++)
        hs_quat_normalise(rig->hitboxes[i].rotation);
    for (int s = 0; s < rig->stance_count; s++)
        for (int i = 0; i < rig->bone_count; i++)
            hs_quat_normalise(rig->stances[s].bones[i].rotation);
    for (int i = 0; i < rig->hitbox_count; i++) {
        rig->hitbox_reach[i] = hitbox_reach(&rig->hitboxes[i]);
        make_capsule(&rig->hitboxes[i], rig->hitbox_reach[i], &rig->capsules[i / 4], i % 4);
    }
    for (int s = 0; s < rig->stance_count; s++)
        bound_stance(rig, &rig->stances[s]);
}
