#include "validators/history/rewind.h"

#include "validators/base/glm.h"
#include "validators/geometry/quat.h"
#include "validators/history/ring_inside.h"

/* ---- the bracket ---- */

/* Returns whether the body jumped between two samples, or got a new life or a new rig. */
static bool is_discontinuous(const struct hs_history *history, const struct hs_sample *from,
                             const struct hs_sample *to)
{
    if (to->jumped || to->event == HS_EVENT_TELEPORT || to->event == HS_EVENT_SPAWN)
        return true;
    if (history->of_mover)
        return false;
    const struct hs_state *a = hs_history_state(history, from);
    const struct hs_state *b = hs_history_state(history, to);
    return a->life != b->life || a->rig != b->rig;
}

enum hs_rewind_status hs_rewind_find(const struct hs_history *history,
                                     const struct hs_ruleset *ruleset, int64_t time_us,
                                     struct hs_bracket *out)
{
    if (history->count == 0)
        return HS_REWIND_NO_HISTORY;
    int64_t i = hs_history_find(history, time_us);
    if (i < 0)
        return HS_REWIND_TOO_SHORT;

    const struct hs_sample *from = hs_history_slot(history, (uint32_t)i);
    *out = (struct hs_bracket){.from = from, .to = from, .time_us = time_us};
    if (from->time_us == time_us)
        return HS_REWIND_OK;
    if ((uint32_t)i + 1 == history->count) {
        if (time_us - from->time_us > ruleset->rewind.future_slack_us)
            return HS_REWIND_AFTER_NEWEST;
        out->clamped = true;
        out->time_us = from->time_us;
        return HS_REWIND_OK;
    }
    const struct hs_sample *to = hs_history_slot(history, (uint32_t)i + 1);
    int64_t gap = to->time_us - from->time_us;
    if (gap > ruleset->history.max_gap_us)
        return HS_REWIND_LOW_CONFIDENCE;
    out->to = to;
    if (is_discontinuous(history, from, to))
        out->held = true;
    else
        out->alpha = (double)(time_us - from->time_us) / (double)gap;
    return HS_REWIND_OK;
}

const struct hs_state *hs_rewind_state(const struct hs_history *history,
                                       const struct hs_bracket *bracket)
{
    return hs_history_state(history, bracket->from);
}

/* ---- the root ---- */

static bool interpolates(const struct hs_bracket *bracket)
{
    return bracket->alpha > 0;
}

struct hs_vec hs_rewind_position(const struct hs_bracket *bracket)
{
    return hs_vec_lerp(bracket->from->position, bracket->to->position, bracket->alpha);
}

void hs_rewind_rotation(const struct hs_bracket *bracket, float out[4])
{
    if (interpolates(bracket))
        hs_quat_slerp(bracket->from->rotation, bracket->to->rotation, bracket->alpha, out);
    else
        memcpy(out, bracket->from->rotation, sizeof bracket->from->rotation);
}

const struct hs_stance *hs_rewind_stance(const struct hs_history *history,
                                         const struct hs_ruleset *ruleset,
                                         const struct hs_sample *sample)
{
    const struct hs_state *state = hs_history_state(history, sample);
    return &ruleset->rigs[state->rig]->stances[state->stance];
}

static const struct hs_posted_pose *posted_bones(const struct hs_history *history,
                                                 const struct hs_sample *sample)
{
    const struct hs_posted_pose *posted_pose = hs_history_posted_pose(history, sample);
    return posted_pose != NULL && posted_pose->bone_count > 0 ? posted_pose : NULL;
}

static double sample_reach(const struct hs_history *history, const struct hs_ruleset *ruleset,
                           const struct hs_sample *sample)
{
    const struct hs_posted_pose *bones = posted_bones(history, sample);
    return bones != NULL ? (double)bones->reach : hs_rewind_stance(history, ruleset, sample)->reach;
}

double hs_rewind_reach(const struct hs_history *history, const struct hs_ruleset *ruleset,
                       const struct hs_bracket *bracket)
{
    double reach = sample_reach(history, ruleset, bracket->from);
    if (interpolates(bracket)) {
        double to = sample_reach(history, ruleset, bracket->to);
        reach = to > reach ? to : reach;
    }
    return reach;
}

void hs_rewind_prefetch(const struct hs_history *history, const struct hs_bracket *bracket)
{
    hs_history_prefetch_pose(history, bracket->from);
    if (interpolates(bracket))
        hs_history_prefetch_pose(history, bracket->to);
}

/* Returns the offset of the eye from the root: the posted offset, or the offset in the stance. */
static struct hs_vec eye_offset(const struct hs_history *history, const struct hs_ruleset *ruleset,
                                const struct hs_sample *sample, const float rotation[4])
{
    const struct hs_posted_pose *posted_pose = hs_history_posted_pose(history, sample);
    if (posted_pose != NULL && posted_pose->has_eye)
        return (struct hs_vec){posted_pose->eye[0], posted_pose->eye[1], posted_pose->eye[2]};
    return hs_quat_rotate(rotation, hs_rewind_stance(history, ruleset, sample)->eye);
}

static bool has_posted_eye(const struct hs_history *history, const struct hs_sample *sample)
{
    const struct hs_posted_pose *posted_pose = hs_history_posted_pose(history, sample);
    return posted_pose != NULL && posted_pose->has_eye;
}

struct hs_vec hs_rewind_eye(const struct hs_history *history, const struct hs_ruleset *ruleset,
                            const struct hs_bracket *bracket)
{
    const struct hs_sample *from = bracket->from, *to = bracket->to;
    struct hs_vec offset;
    if (interpolates(bracket) && (has_posted_eye(history, from) || has_posted_eye(history, to))) {
        offset = hs_vec_lerp(eye_offset(history, ruleset, from, from->rotation),
                             eye_offset(history, ruleset, to, to->rotation), bracket->alpha);
    } else {
        float rotation[4];
        hs_rewind_rotation(bracket, rotation);
        offset = eye_offset(history, ruleset, from, rotation);
    }
    return hs_vec_add(hs_rewind_position(bracket), offset);
}

/* ---- bones ---- */

/* Computes the pose of a bone in a stance. `axes` are hs_quat_axes of `root`, the rotation of the
   root. */
static void rest_bone(const struct hs_stance *stance, uint16_t bone, const float root[4],
                      const struct hs_vec axes[3], struct hs_bone_pose *out)
{
    const struct hs_rest_bone *rest = &stance->bones[bone];
    hs_vec_to_floats(hs_axes_rotate(axes, rest->position), out->offset);
    hs_quat_multiply(root, rest->rotation, out->rotation);
    memcpy(out->scale, rest->scale, sizeof out->scale);
}

/* Reads the posted pose of a bone. Returns false if the bone was not posted. */
static bool posted_bone(const struct hs_posted_pose *bones, uint16_t bone, struct hs_bone_pose *out)
{
    if (!hs_posted_pose_has_bone(bones, bone))
        return false;
    const float *values = bones->bones + (size_t)bone * bones->stride;
    memcpy(out->offset, values, sizeof out->offset);
    memcpy(out->rotation, values + 3, sizeof out->rotation);
    out->scale[0] = out->scale[1] = out->scale[2] = 1;
    if (bones->stride == HS_BONE_FLOATS_SCALED)
        memcpy(out->scale, values + HS_BONE_FLOATS, sizeof out->scale);
    return true;
}

/* Computes the pose of a bone in one sample. Returns false if other bones were posted, but this
   bone was not. */
static bool sample_bone(const struct hs_sample *sample, const struct hs_posted_pose *bones,
                        const struct hs_stance *stance, uint16_t bone, struct hs_bone_pose *out)
{
    if (bones != NULL)
        return posted_bone(bones, bone, out);
    struct hs_vec axes[3];
    hs_quat_axes(sample->rotation, axes);
    rest_bone(stance, bone, sample->rotation, axes, out);
    return true;
}

/* Returns whether no posted bones are used, so that the rest pose is placed on the rewound root. */
static bool is_at_rest(const struct hs_pose *pose)
{
    return pose->from == NULL && (pose->to == NULL || !interpolates(pose->bracket));
}

bool hs_pose_bone(const struct hs_pose *s, uint16_t bone, struct hs_bone_pose *out)
{
    const struct hs_bracket *bracket = s->bracket;
    if (is_at_rest(s)) {
        rest_bone(s->stance_from, bone, s->rotation, s->axes, out);
        return true;
    }
    if (!sample_bone(bracket->from, s->from, s->stance_from, bone, out))
        return false;
    if (!interpolates(bracket))
        return true;
    struct hs_bone_pose to;
    if (!sample_bone(bracket->to, s->to, s->stance_to, bone, &to))
        return false;
    float alpha = (float)bracket->alpha;
    glm_vec3_lerp(out->offset, to.offset, alpha, out->offset);
    glm_vec3_lerp(out->scale, to.scale, alpha, out->scale);
    hs_quat_slerp(out->rotation, to.rotation, bracket->alpha, out->rotation);
    return true;
}

/* ---- hitboxes ---- */

static void place_hitbox(const struct hs_hitbox *box, const struct hs_bone_pose *bone,
                         struct hs_vec root, struct hs_solid *out)
{
    static const struct hs_vec world_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const float *scale = bone->scale;
    struct hs_vec center = {box->center.x * (double)scale[0], box->center.y * (double)scale[1],
                            box->center.z * (double)scale[2]};
    bool aligned = box->shape == HS_SHAPE_BOX && box->axis_aligned;
    struct hs_vec offset = aligned ? center : hs_quat_rotate(bone->rotation, center);

    out->center = hs_vec_add(root, hs_vec_add(hs_vec_from_floats(bone->offset), offset));
    out->axis_aligned = aligned;
    memcpy(out->axes, world_axes, sizeof world_axes);
    if (!aligned && box->shape != HS_SHAPE_SPHERE) {
        float rotation[4];
        hs_quat_multiply(bone->rotation, box->rotation, rotation);
        hs_quat_axes(rotation, out->axes);
    }
    out->half_extents = (struct hs_vec){0, 0, 0};
    out->radius = box->radius;
    switch (box->shape) {
    case HS_SHAPE_BOX:
        out->radius = 0;
        out->half_extents = (struct hs_vec){box->half_extents.x * fabs((double)scale[0]),
                                            box->half_extents.y * fabs((double)scale[1]),
                                            box->half_extents.z * fabs((double)scale[2])};
        break;
    case HS_SHAPE_CAPSULE:
        out->half_extents.z = box->half_length * fabs((double)scale[2]);
        out->radius = box->radius * (double)fmaxf(fabsf(scale[0]), fabsf(scale[1]));
        break;
    case HS_SHAPE_SPHERE:
    case HS_SHAPE_COUNT:
        out->radius = box->radius * hs_largest_scale(scale);
        break;
    }
}

void hs_rewind_pose(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_pose *out)
{
    *out = (struct hs_pose){.bracket = bracket,
                            .rig = ruleset->rigs[hs_rewind_state(history, bracket)->rig],
                            .root = hs_rewind_position(bracket),
                            .stance_from = hs_rewind_stance(history, ruleset, bracket->from),
                            .stance_to = hs_rewind_stance(history, ruleset, bracket->to),
                            .from = posted_bones(history, bracket->from),
                            .to = posted_bones(history, bracket->to)};
    if (is_at_rest(out)) {
        hs_rewind_rotation(bracket, out->rotation);
        hs_quat_axes(out->rotation, out->axes);
    }
}

double hs_pose_reach(const struct hs_pose *pose)
{
    double from = pose->from != NULL ? (double)pose->from->reach : pose->stance_from->reach;
    double to = pose->to != NULL ? (double)pose->to->reach : pose->stance_to->reach;
    return from > to ? from : to;
}

bool hs_pose_place(const struct hs_pose *pose, uint16_t hitbox, struct hs_solid *out)
{
    const struct hs_hitbox *box = &pose->rig->hitboxes[hitbox];
    struct hs_bone_pose bone;
    if (!hs_pose_bone(pose, box->bone, &bone))
        return false;
    place_hitbox(box, &bone, pose->root, out);
    return true;
}

void hs_rewind_body(const struct hs_history *history, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *bracket, struct hs_body *out)
{
    struct hs_pose pose;
    hs_rewind_pose(history, ruleset, bracket, &pose);
    out->rig = pose.rig;
    out->count = 0;
    memset(out->excluded, 0, sizeof out->excluded);

    /* Hitboxes on one bone are usually neighbours, so the bone is computed only once. */
    struct hs_bone_pose bone;
    uint16_t current = UINT16_MAX;
    bool known = false;
    for (uint16_t i = 0; i < out->rig->hitbox_count; i++) {
        const struct hs_hitbox *box = &out->rig->hitboxes[i];
        if (box->bone != current) {
            current = box->bone;
            known = hs_pose_bone(&pose, current, &bone);
            if (!known)
                out->excluded[current / 64] |= UINT64_C(1) << (current % 64);
        }
        if (!known)
            continue;
        out->hitbox[out->count] = i;
        place_hitbox(box, &bone, pose.root, &out->solids[out->count]);
        out->count++;
    }
}
