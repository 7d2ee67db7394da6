#include "validators/history/body_box.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
#include "validators/geometry/quat.h"

/* The bounds of the hitboxes that were added so far, as offsets from the root. */
struct bounds {
    glmm_128 low, high; /* the fourth lane is unused */
    double reach;       /* the largest distance of a hitbox point from the root */
};

/* Extends the bounds by one hitbox. `bone` points to the floats of the hitbox's bone. `reach` is
   the largest distance from the bone to a point of the hitbox. `above` is `reach` rounded up to a
   float, or 0 if `low` and `high` already contain the hitbox. */
static inline void extend(struct bounds *bounds, const float *bone, double reach, float above)
{
    glmm_128 offset = hs_lanes_read(bone), side = glmm_set1(above);
    bounds->low = hs_lanes_min(offset - side, bounds->low);
    bounds->high = hs_lanes_max(offset + side, bounds->high);
    bounds->reach = hs_larger(hs_vec_length(hs_vec_from_floats(bone)) + reach, bounds->reach);
}

static void extend_by_all(const struct hs_posted_pose *pose, const struct hs_rig *rig,
                          struct bounds *out)
{
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        uint16_t bone = rig->hitboxes[i].bone;
        if (!hs_posted_pose_has_bone(pose, bone))
            continue;
        const float *values = pose->bones + (size_t)bone * pose->stride;
        double reach = rig->hitbox_reach[i];
        if (pose->stride == HS_BONE_FLOATS_SCALED)
            reach *= hs_largest_scale(values + HS_BONE_FLOATS);
        extend(out, values, reach, hs_float_above(reach));
    }
}

static glmm_128 smallest_of_rows(struct hs_lanes_vec v)
{
    glmm_128 rows[4] = {v.x, v.y, v.z, v.z};
    hs_lanes_transpose(rows);
    return hs_lanes_min(hs_lanes_min(rows[0], rows[1]), hs_lanes_min(rows[2], rows[3]));
}

static glmm_128 largest_of_rows(struct hs_lanes_vec v)
{
    glmm_128 rows[4] = {v.x, v.y, v.z, v.z};
    hs_lanes_transpose(rows);
    return hs_lanes_max(hs_lanes_max(rows[0], rows[1]), hs_lanes_max(rows[2], rows[3]));
}

/* Reads the bone offsets of four hitboxes. */
static inline struct hs_lanes_vec read_offsets(const struct hs_posted_pose *pose,
                                               const struct hs_hitbox *box)
{
    glmm_128 rows[4] = {hs_lanes_read(pose->bones + (size_t)box[0].bone * HS_BONE_FLOATS),
                        hs_lanes_read(pose->bones + (size_t)box[1].bone * HS_BONE_FLOATS),
                        hs_lanes_read(pose->bones + (size_t)box[2].bone * HS_BONE_FLOATS),
                        hs_lanes_read(pose->bones + (size_t)box[3].bone * HS_BONE_FLOATS)};
    hs_lanes_transpose(rows);
    return (struct hs_lanes_vec){rows[0], rows[1], rows[2]};
}

/*
 * Does the same as extend_by_all, but faster, and only for a plain pose (hs_posted_pose_is_plain).
 * Most posted poses are plain. Four hitboxes are computed at a time. The reach is first estimated
 * in float. Then the reach is computed in double for the hitboxes that may have the largest reach.
 */
static void extend_by_plain(const struct hs_posted_pose *pose, const struct hs_rig *rig,
                            struct bounds *out)
{
    /* estimate_error is more than the sum of the relative errors of two estimates. */
    const float estimate_error = 1e-5f;
    const struct hs_hitbox *box = rig->hitboxes;
    struct hs_lanes_vec low = {out->low, out->low, out->low};
    struct hs_lanes_vec high = {out->high, out->high, out->high};
    float estimates[HS_MAX_HITBOXES], furthest[4];
    glmm_128 largest = glmm_set1(0);
    unsigned i, whole = rig->hitbox_count / 4u * 4;
    for (i = 0; i < whole; i += 4) {
        struct hs_lanes_vec at = read_offsets(pose, box + i);
        glmm_128 side = hs_lanes_read(rig->capsules[i / 4].reach);
        glmm_128 reach = hs_lanes_sqrt(hs_lanes_dot(at, at)) + side;
        low.x = hs_lanes_min(at.x - side, low.x);
        low.y = hs_lanes_min(at.y - side, low.y);
        low.z = hs_lanes_min(at.z - side, low.z);
        high.x = hs_lanes_max(at.x + side, high.x);
        high.y = hs_lanes_max(at.y + side, high.y);
        high.z = hs_lanes_max(at.z + side, high.z);
        largest = hs_lanes_max(reach, largest);
        hs_lanes_write(estimates + i, reach);
    }
    out->low = smallest_of_rows(low);
    out->high = largest_of_rows(high);
    hs_lanes_write(furthest, largest);
    glmm_128 enough =
        glmm_set1(fmaxf(fmaxf(furthest[0], furthest[1]), fmaxf(furthest[2], furthest[3])) *
                  (1 - estimate_error));
    for (i = 0; i < whole; i += 4) {
        unsigned far = hs_lanes_at_most(enough, hs_lanes_read(estimates + i));
        for (; far != 0; far &= far - 1) {
            unsigned k = i + (unsigned)hs_lowest_bit(far);
            const float *bone = pose->bones + (size_t)box[k].bone * HS_BONE_FLOATS;
            extend(out, bone, rig->hitbox_reach[k], 0);
        }
    }
    for (; i < rig->hitbox_count; i++)
        extend(out, pose->bones + (size_t)box[i].bone * HS_BONE_FLOATS, rig->hitbox_reach[i],
               rig->capsules[i / 4].reach[i % 4]);
}

double hs_posted_pose_bound(struct hs_posted_pose *pose, const struct hs_rig *rig)
{
    struct bounds bounds = {glmm_set1(FLT_MAX), glmm_set1(-FLT_MAX), 0};
    if (hs_posted_pose_is_plain(pose, rig))
        extend_by_plain(pose, rig, &bounds);
    else
        extend_by_all(pose, rig, &bounds);
    float ends[2][4];
    hs_lanes_write(ends[0], bounds.low);
    hs_lanes_write(ends[1], bounds.high);
    for (int a = 0; a < 3; a++) {
        pose->low[a] = hs_float_below((double)ends[0][a]);
        pose->high[a] = hs_float_above((double)ends[1][a]);
    }
    return bounds.reach;
}

/* The box of one sample: bounds of its hitboxes as offsets from the root. */
struct box {
    struct hs_vec low, high;
    double reach;
};

static bool has_bones(const struct hs_posted_pose *pose)
{
    return pose != NULL && pose->bone_count > 0;
}

/* The box of a sample contains a ball around each bone, so that the box is valid for every rotation
   of the bones. Without posted bones, the box contains the stance in every rotation of the root. */
static void box_of_sample(const struct hs_history *history, const struct hs_ruleset *ruleset,
                          const struct hs_sample *sample, const struct hs_posted_pose *pose,
                          struct box *out)
{
    if (has_bones(pose)) {
        out->reach = (double)pose->reach;
        out->low = hs_vec_from_floats(pose->low);
        out->high = hs_vec_from_floats(pose->high);
        return;
    }
    double reach = hs_rewind_stance(history, ruleset, sample)->reach;
    out->reach = reach;
    out->low = (struct hs_vec){-reach, -reach, -reach};
    out->high = (struct hs_vec){reach, reach, reach};
}

/* The offsets and scales of bones are interpolated linearly, so their bounds can be interpolated
   linearly too. */
static void box_of_bones(const struct hs_history *history, const struct hs_ruleset *ruleset,
                         const struct hs_bracket *bracket, const struct hs_posted_pose *pose,
                         const struct hs_posted_pose *later, struct box *out)
{
    struct box to;
    box_of_sample(history, ruleset, bracket->from, pose, out);
    if (!(bracket->alpha > 0))
        return;
    box_of_sample(history, ruleset, bracket->to, later, &to);
    out->low = hs_vec_lerp(out->low, to.low, bracket->alpha);
    out->high = hs_vec_lerp(out->high, to.high, bracket->alpha);
    out->reach = hs_larger(out->reach, to.reach);
}

/* Computes the box for two samples without posted bones. The stance of the older sample turns with
   the interpolated root. The result is a box around the turned box of this stance. */
static void box_at_rest(const struct hs_stance *stance, const struct hs_bracket *bracket,
                        struct box *out)
{
    float rotation[4];
    struct hs_vec a[3], h = stance->half;
    hs_rewind_rotation(bracket, rotation);
    hs_quat_axes(rotation, a);
    struct hs_vec middle = hs_axes_rotate(a, stance->middle);
    struct hs_vec half = {fabs(a[0].x) * h.x + fabs(a[1].x) * h.y + fabs(a[2].x) * h.z,
                          fabs(a[0].y) * h.x + fabs(a[1].y) * h.y + fabs(a[2].y) * h.z,
                          fabs(a[0].z) * h.x + fabs(a[1].z) * h.y + fabs(a[2].z) * h.z};
    out->reach = stance->reach;
    out->low = hs_vec_sub(middle, half);
    out->high = hs_vec_add(middle, half);
}

void hs_rewind_box(const struct hs_history *history, const struct hs_ruleset *ruleset,
                   const struct hs_bracket *bracket, struct hs_vec *middle, struct hs_vec *half)
{
    struct box box;
    const struct hs_posted_pose *pose = hs_history_posted_pose(history, bracket->from);
    const struct hs_posted_pose *later =
        bracket->alpha > 0 ? hs_history_posted_pose(history, bracket->to) : NULL;
    struct hs_vec root = hs_rewind_position(bracket);
    if (has_bones(pose) || has_bones(later))
        box_of_bones(history, ruleset, bracket, pose, later, &box);
    else
        box_at_rest(hs_rewind_stance(history, ruleset, bracket->from), bracket, &box);
    double slack =
        4 * HS_TOUCH_SLACK * box.reach + 1e-12 * (fabs(root.x) + fabs(root.y) + fabs(root.z));
    *middle = hs_vec_add(root, hs_vec_scale(hs_vec_add(box.low, box.high), 0.5));
    *half = hs_vec_scale(hs_vec_sub(box.high, box.low), 0.5);
    *half = (struct hs_vec){half->x + slack, half->y + slack, half->z + slack};
}
