#include "validators/history/bounds.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
#include "validators/history/body_box.h"

/* Upper bounds of the relative rounding errors of a few operations, in float and in double. */
#define FLOAT_SLACK  6e-6
#define DOUBLE_SLACK 1e-14

/* Larger coordinates could overflow a float. */
#define TOO_LARGE 1e15

/* The sweep, measured from its point that is nearest to the body's root. */
struct course {
    struct hs_vec origin;    /* the point that is nearest to the root, relative to the root */
    struct hs_vec direction; /* unit */
    float start, end; /* travel from `origin` to the sweep's start (negative or 0) and to its end */
    float radius;
    float error;       /* maximum error of any distance that is computed in lanes */
    float alpha, rest; /* weights of the later and the earlier sample */
};

/* Four hitboxes of the rig. The last group may have fewer hitboxes. */
struct group {
    const struct hs_capsules *capsules; /* the rig's capsules, or `changed` */
    struct hs_capsules changed;
    const float *from[4], *to[4]; /* offset and rotation of the bone, in the two samples */
    unsigned present;             /* one bit for each lane that has a hitbox */
};

static void lay_course(const struct hs_pose *pose, const struct hs_sweep *sweep, double reach,
                       struct course *out, double *travelled, double *error)
{
    struct hs_vec from = hs_vec_sub(sweep->start, pose->root);
    double along = hs_clamp(-hs_vec_dot(from, sweep->direction), 0, sweep->length);
    out->origin = hs_vec_add_scaled(from, sweep->direction, along);
    out->direction = sweep->direction;
    double size = hs_vec_length(out->origin) + 2 * reach + sweep->radius;
    double coordinates = hs_vec_length(sweep->start) + hs_vec_length(pose->root) + sweep->length;
    *travelled = along;
    *error = FLOAT_SLACK * size + DOUBLE_SLACK * coordinates;
    out->start = hs_float_below(-along);
    out->end = hs_float_above(sweep->length - along);
    out->radius = hs_float_above(sweep->radius);
    out->error = hs_float_above(*error);
    out->alpha = (float)pose->bracket->alpha;
    out->rest = (float)(1 - pose->bracket->alpha);
}

/* Replaces the capsule in a lane by a ball around the bone. If the bone turns far, or if the bone
   is scaled, the capsule may not contain the whole hitbox, but the ball does. */
static void use_ball(struct group *group, unsigned lane, double scale)
{
    struct hs_capsules *capsules = &group->changed;
    if (group->capsules != capsules) {
        *capsules = *group->capsules;
        group->capsules = capsules;
    }
    for (int a = 0; a < 3; a++)
        capsules->from[a][lane] = capsules->to[a][lane] = 0;
    capsules->reach[lane] = hs_float_above((double)capsules->reach[lane] * scale * (1 + 1e-6));
    capsules->radius[lane] = capsules->reach[lane];
}

/* One bone in the two samples of a pose: pointers to its floats (offset, rotation). */
struct ends {
    const float *from, *to;
    bool is_scaled;
    double scale; /* the largest scale; valid if is_scaled */
};

static bool is_scaled(const float scale[3])
{
    return scale[0] != 1 || scale[1] != 1 || scale[2] != 1;
}

/* Returns the largest scale of a posted bone; `values` are its floats. */
static double scale_of(const struct hs_posted_pose *pose, const float *values)
{
    return pose->stride == HS_BONE_FLOATS_SCALED ? hs_largest_scale(values + HS_BONE_FLOATS) : 1;
}

/* Finds a posted bone in the two samples of a pose. Returns false if one of the samples lacks the
   bone. */
static inline bool find_posted(const struct hs_posted_pose *from, const struct hs_posted_pose *to,
                               uint16_t bone, struct ends *out)
{
    if (!hs_posted_pose_has_bone(from, bone) || !hs_posted_pose_has_bone(to, bone))
        return false;
    out->from = from->bones + (size_t)bone * from->stride;
    out->to = to->bones + (size_t)bone * to->stride;
    out->is_scaled =
        (from->stride == HS_BONE_FLOATS_SCALED && is_scaled(out->from + HS_BONE_FLOATS)) ||
        (to->stride == HS_BONE_FLOATS_SCALED && is_scaled(out->to + HS_BONE_FLOATS));
    if (out->is_scaled)
        out->scale = fmax(scale_of(from, out->from), scale_of(to, out->to));
    return true;
}

/* Like find_posted, for a pose in which at least one sample has no posted bones. Computes the pose
   of the bone, and stores it in `space`. */
static bool find_rest(const struct hs_pose *pose, uint16_t bone, struct hs_bone_pose *space,
                      struct ends *out)
{
    if (!hs_pose_bone(pose, bone, space))
        return false;
    out->from = out->to = (const float *)space;
    out->is_scaled = is_scaled(space->scale);
    out->scale = hs_largest_scale(space->scale);
    return true;
}

/* The bones of a body in the two samples of a pose. */
struct bones {
    const struct hs_pose *pose;
    const struct hs_posted_pose *from, *to; /* both NULL: at least one sample has no posted bones */
    bool is_plain;
};

static void open_bones(const struct hs_pose *pose, struct bones *out)
{
    out->pose = pose;
    out->from = pose->from;
    out->to = hs_pose_interpolates(pose) ? pose->to : pose->from;
    if (out->from == NULL || out->to == NULL)
        out->from = out->to = NULL;
    out->is_plain = out->from != NULL && hs_posted_pose_is_plain(out->from, pose->rig) &&
                    hs_posted_pose_is_plain(out->to, pose->rig);
}

/* Finds a bone if the posted poses of both samples are plain. This is the fast path. */
static inline void find_plain(const struct bones *bones, uint16_t bone, struct group *out,
                              unsigned i)
{
    out->from[i] = bones->from->bones + (size_t)bone * HS_BONE_FLOATS;
    out->to[i] = bones->to->bones + (size_t)bone * HS_BONE_FLOATS;
}

static void find_any(const struct bones *bones, uint16_t bone, struct group *out, unsigned i,
                     uint64_t *excluded, struct hs_bone_pose *space)
{
    struct ends ends;
    if (!(bones->from != NULL ? find_posted(bones->from, bones->to, bone, &ends)
                              : find_rest(bones->pose, bone, space, &ends))) {
        excluded[bone / 64] |= UINT64_C(1) << (bone % 64);
        out->present &= ~(1u << i);
        return;
    }
    out->from[i] = ends.from;
    out->to[i] = ends.to;
    if (ends.is_scaled)
        use_ball(out, i, ends.scale);
}

/* Finds the bones of four hitboxes. `space` receives the poses of bones that were not posted. */
static void find_bones(const struct bones *bones, uint16_t first, struct group *out,
                       uint64_t *excluded, struct hs_bone_pose space[4])
{
    static const float none[HS_BONE_FLOATS] = {0, 0, 0, 0, 0, 0, 1};
    const struct hs_rig *rig = bones->pose->rig;
    const struct hs_hitbox *box = &rig->hitboxes[first];
    unsigned left = (unsigned)rig->hitbox_count - first, count = left < 4 ? left : 4;
    out->capsules = &rig->capsules[first / 4];
    out->present = (1u << count) - 1;
    if (bones->is_plain && count == 4) {
        find_plain(bones, box[0].bone, out, 0);
        find_plain(bones, box[1].bone, out, 1);
        find_plain(bones, box[2].bone, out, 2);
        find_plain(bones, box[3].bone, out, 3);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        out->from[i] = out->to[i] = none;
        if (i < count)
            find_any(bones, box[i].bone, out, i, excluded, &space[i]);
    }
}

#define LANES 4
#include "validators/history/bounds_lanes.def"

#ifdef CGLM_SIMD_x86

#define LANES 8
#include "validators/history/bounds_lanes.def"

#else

#define bound_all_eight bound_all_four

#endif

/* Marks the hitboxes that may matter: here, all hitboxes whose bone has a pose. Used if the numbers
   are too large for float. */
static void allow_all(const struct hs_pose *pose, struct hs_pose_bounds *out)
{
    for (uint16_t i = 0; i < pose->rig->hitbox_count; i++) {
        struct hs_bone_pose space;
        uint16_t bone = pose->rig->hitboxes[i].bone;
        out->gap[i] = out->contact[i] = -FLT_MAX;
        if (hs_pose_bone(pose, bone, &space))
            out->near[i / 64] |= UINT64_C(1) << (i % 64);
        else
            out->excluded[bone / 64] |= UINT64_C(1) << (bone % 64);
    }
}

void hs_pose_find_bounds_by(bool eight_lanes, const struct hs_pose *pose,
                            const struct hs_sweep *sweep, double slack, bool finds_nearest,
                            struct hs_pose_bounds *out)
{
    struct course course;
    struct bones bones;
    struct group groups[HS_MAX_HITBOXES / 4];
    struct hs_bone_pose space[HS_MAX_HITBOXES];
    double error;
    unsigned count = 0;
    memset(out->near, 0, sizeof out->near);
    memset(out->excluded, 0, sizeof out->excluded);
    open_bones(pose, &bones);
    lay_course(pose, sweep, hs_pose_reach(pose), &course, &out->travelled, &error);
    if (!(error < FLOAT_SLACK * TOO_LARGE)) {
        allow_all(pose, out);
        return;
    }
    for (; count < pose->rig->hitbox_count; count += 4)
        find_bones(&bones, (uint16_t)count, &groups[count / 4], out->excluded, space + count);
    float touches = hs_float_above(slack);
    if (!eight_lanes || count == 4) {
        bound_all_four(&course, groups, count, touches, finds_nearest, out);
        return;
    }
    if (count % 8 != 0) {
        groups[count / 4] = groups[count / 4 - 1];
        groups[count / 4].present = 0;
        count += 4;
    }
    bound_all_eight(&course, groups, count, touches, finds_nearest, out);
}

void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out)
{
    hs_pose_find_bounds_by(hs_lanes_can_be_eight(), pose, sweep, slack, finds_nearest, out);
}
