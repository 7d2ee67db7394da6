#include "validators/history/bounds.h"

#include "validators/base/lanes.h"
#include "validators/base/units.h"
#include "validators/history/body_box.h"

/* Relative errors of a few operations: in float, and in double. */
#define FLOAT_SLACK  6e-6
#define DOUBLE_SLACK 1e-14

/* Above this, squares in float overflow. */
#define TOO_LARGE 1e15

static inline glmm_128 length(struct hs_lanes_vec a)
{
    return hs_lanes_sqrt(hs_lanes_dot(a, a));
}

/* The sweep, measured from its point that is nearest to the root of the body. */
struct course {
    struct hs_lanes_vec origin;    /* that point, relative to the root */
    struct hs_lanes_vec direction; /* unit */
    glmm_128 start, end;           /* travel from that point to both ends; start <= 0 */
    glmm_128 radius;
    glmm_128 error;       /* maximum error of any distance that is computed here */
    glmm_128 alpha, rest; /* weights of the later and of the earlier sample */
};

/* Four hitboxes of the rig. Lanes beyond the last hitbox are absent. */
struct four {
    const struct hs_capsules *capsules; /* those of the rig, or `changed` */
    struct hs_capsules changed;
    const float *from[4], *to[4]; /* offset and rotation of the bone, in the two samples */
    unsigned present;             /* one bit for each lane */
    struct hs_lanes_vec bones;    /* offsets of the bones from the root */
    glmm_128 balls;               /* lower bounds of the gaps to the balls around the bones */
};

static void lay_course(const struct hs_pose *pose, const struct hs_sweep *sweep, double reach,
                       struct course *out, double *travelled, double *error)
{
    struct hs_vec from = hs_vec_sub(sweep->start, pose->root);
    double along = hs_clamp(-hs_vec_dot(from, sweep->direction), 0, sweep->length);
    struct hs_vec origin = hs_vec_add_scaled(from, sweep->direction, along);
    double size = hs_vec_length(origin) + 2 * reach + sweep->radius;
    double coordinates = hs_vec_length(sweep->start) + hs_vec_length(pose->root) + sweep->length;
    *travelled = along;
    *error = FLOAT_SLACK * size + DOUBLE_SLACK * coordinates;
    out->origin = hs_lanes_set1_vec(origin);
    out->direction = hs_lanes_set1_vec(sweep->direction);
    out->start = glmm_set1(hs_float_below(-along));
    out->end = glmm_set1(hs_float_above(sweep->length - along));
    out->radius = glmm_set1(hs_float_above(sweep->radius));
    out->error = glmm_set1(hs_float_above(*error));
    out->alpha = glmm_set1((float)pose->bracket->alpha);
    out->rest = glmm_set1((float)(1 - pose->bracket->alpha));
}

/* Replaces the capsule of a lane by a ball around the bone. If a bone is scaled differently along
   its axes, only the ball surely contains the hitbox. */
static void use_ball(struct four *four, unsigned lane, double scale)
{
    struct hs_capsules *capsules = &four->changed;
    if (four->capsules != capsules) {
        *capsules = *four->capsules;
        four->capsules = capsules;
    }
    for (int a = 0; a < 3; a++)
        capsules->from[a][lane] = capsules->to[a][lane] = 0;
    capsules->reach[lane] = hs_float_above((double)capsules->reach[lane] * scale * (1 + 1e-6));
    capsules->radius[lane] = capsules->reach[lane];
}

/* One bone in the two samples of a pose: pointers to its offset and rotation. */
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

/* Finds a posted bone in the two samples of a pose. */
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

/* Computes the pose of a bone if at least one of the two samples has no posted bones. */
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
    const struct hs_posted_pose *from, *to; /* NULL: at least one sample has no posted bones */
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

/* Finds a bone if both poses are plain. This is the fast path. */
static inline void find_plain(const struct bones *bones, uint16_t bone, struct four *out,
                              unsigned i)
{
    out->from[i] = bones->from->bones + (size_t)bone * HS_BONE_FLOATS;
    out->to[i] = bones->to->bones + (size_t)bone * HS_BONE_FLOATS;
}

static void find_any(const struct bones *bones, uint16_t bone, struct four *out, unsigned i,
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

/* Finds the bones of four hitboxes. `space` gets the poses of bones that are not posted. */
static void find_bones(const struct bones *bones, uint16_t first, struct four *out,
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

/* Interpolates the first four floats of a bone: its offset, and a fourth float that is ignored. */
static inline glmm_128 between(const struct course *c, const float *from, const float *to)
{
    glmm_128 begin = hs_lanes_read(from);
    return begin + (hs_lanes_read(to) - begin) * c->alpha;
}

/* Returns the offsets of four bones from the root. */
static inline struct hs_lanes_vec place_bones(const struct course *c, const struct four *four)
{
    glmm_128 rows[4] = {
        between(c, four->from[0], four->to[0]), between(c, four->from[1], four->to[1]),
        between(c, four->from[2], four->to[2]), between(c, four->from[3], four->to[3])};
    hs_lanes_transpose(rows);
    return (struct hs_lanes_vec){rows[0], rows[1], rows[2]};
}

/* Returns lower bounds of the gaps to the balls around the bones. *most gets upper bounds of the
   gaps to the hitboxes inside these balls. */
static inline glmm_128 ball_gap(const struct course *c, const struct four *four,
                                struct hs_lanes_vec bones, glmm_128 *most)
{
    struct hs_lanes_vec from = hs_lanes_sub(bones, c->origin);
    glmm_128 along = hs_lanes_max(c->start, hs_lanes_min(hs_lanes_dot(from, c->direction), c->end));
    glmm_128 distance = length(hs_lanes_sub(from, hs_lanes_scale(c->direction, along))) - c->radius;
    glmm_128 reach = hs_lanes_read(four->capsules->reach) + c->error;
    *most = distance + reach;
    return distance - reach;
}

/* Reads the rotations of four bones: x, y, z and w of each. */
static inline void read_rotations(const float *const bones[4], glmm_128 q[4])
{
    q[0] = hs_lanes_read(bones[0] + 3);
    q[1] = hs_lanes_read(bones[1] + 3);
    q[2] = hs_lanes_read(bones[2] + 3);
    q[3] = hs_lanes_read(bones[3] + 3);
    hs_lanes_transpose(q);
}

/* Computes quaternions of four bones at the time of the pose. The quaternions do not have length 1.
   Bones that turn too far get the ball. Returns the error of distances, including the error of the
   linear interpolation. */
static inline glmm_128 turn_bones(const struct course *c, struct four *four, glmm_128 q[4])
{
    glmm_128 from[4], to[4];
    read_rotations(four->from, from);
    read_rotations(four->to, to);
    glmm_128 product = from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3];
    glmm_128 same = hs_lanes_abs(product), alpha = hs_lanes_flip(c->alpha, product);
    q[0] = from[0] * c->rest + to[0] * alpha;
    q[1] = from[1] * c->rest + to[1] * alpha;
    q[2] = from[2] * c->rest + to[2] * alpha;
    q[3] = from[3] * c->rest + to[3] * alpha;
    unsigned fast = ~hs_lanes_at_most(glmm_set1(0.9f), same) & four->present;
    for (; fast != 0; fast &= fast - 1)
        use_ball(four, (unsigned)hs_lowest_bit(fast), 1);
    glmm_128 turned = hs_lanes_abs(glmm_set1(1) - same);
    return c->error + glmm_set1(0.04f) * turned * hs_lanes_read(four->capsules->reach);
}

/* Computes the columns of the rotation matrices of four quaternions of any length. */
static inline void find_axes(const glmm_128 q[4], struct hs_lanes_vec axes[3])
{
    glmm_128 x = q[0], y = q[1], z = q[2], w = q[3], one = glmm_set1(1);
    glmm_128 s = glmm_set1(2) / (x * x + y * y + z * z + w * w);
    glmm_128 xs = x * s, ys = y * s, zs = z * s;
    glmm_128 xx = x * xs, xy = x * ys, xz = x * zs, yy = y * ys, yz = y * zs, zz = z * zs;
    glmm_128 wx = w * xs, wy = w * ys, wz = w * zs;
    axes[0] = (struct hs_lanes_vec){one - (yy + zz), xy + wz, xz - wy};
    axes[1] = (struct hs_lanes_vec){xy - wz, one - (xx + zz), yz + wx};
    axes[2] = (struct hs_lanes_vec){xz + wy, yz - wx, one - (xx + yy)};
}

static inline struct hs_lanes_vec turn(const struct hs_lanes_vec axes[3], struct hs_lanes_vec v)
{
    return hs_lanes_add(hs_lanes_scale(axes[0], v.x),
                        hs_lanes_add(hs_lanes_scale(axes[1], v.y), hs_lanes_scale(axes[2], v.z)));
}

/* Returns where a segment is nearest to a point, as a share in [0, 1] of its length. `along` leads
   from its start to its end, `towards` from its start to the point. If the segment has no length,
   the result may be any share. */
static inline glmm_128 nearest_share(struct hs_lanes_vec along, struct hs_lanes_vec towards)
{
    glmm_128 share = hs_lanes_dot(towards, along) / hs_lanes_dot(along, along);
    return hs_lanes_min(hs_lanes_max(share, glmm_set1(0)), glmm_set1(1));
}

/* The centre lines of four capsules, relative to the origin of the course. */
struct capsules {
    struct hs_lanes_vec from, along;
    glmm_128 radius; /* includes the radius of the sphere, and the error */
};

static inline struct capsules place_capsules(const struct course *c, struct four *four,
                                             struct hs_lanes_vec bones)
{
    glmm_128 q[4];
    struct hs_lanes_vec axes[3];
    glmm_128 error = turn_bones(c, four, q);
    find_axes(q, axes);
    struct hs_lanes_vec from = turn(axes, hs_lanes_read_vec(four->capsules->from[0]));
    struct hs_lanes_vec to = turn(axes, hs_lanes_read_vec(four->capsules->to[0]));
    return (struct capsules){.from = hs_lanes_sub(hs_lanes_add(bones, from), c->origin),
                             .along = hs_lanes_sub(to, from),
                             .radius = hs_lanes_read(four->capsules->radius) + c->radius + error};
}

/*
 * Returns lower bounds of the gaps between the course and the capsules. The distance has two parts.
 * The part across the course is the distance between the line of the course and the capsule's
 * centre line. The part along the course is the distance by which the centre line is beyond an end
 * of the course.
 */
static inline glmm_128 capsule_gap(const struct course *c, const struct capsules *k,
                                   glmm_128 *across, glmm_128 *first)
{
    glmm_128 begin = hs_lanes_dot(k->from, c->direction),
             moved = hs_lanes_dot(k->along, c->direction);
    struct hs_lanes_vec from = hs_lanes_sub(k->from, hs_lanes_scale(c->direction, begin));
    struct hs_lanes_vec along = hs_lanes_sub(k->along, hs_lanes_scale(c->direction, moved));
    glmm_128 share = nearest_share(along, hs_lanes_scale(from, glmm_set1(-1)));
    struct hs_lanes_vec nearest = hs_lanes_add(from, hs_lanes_scale(along, share));
    *first = hs_lanes_min(begin, begin + moved);
    glmm_128 last = hs_lanes_max(begin, begin + moved);
    glmm_128 beyond = hs_lanes_max(hs_lanes_max(*first - c->end, c->start - last), glmm_set1(0));
    *across = hs_lanes_dot(nearest, nearest);
    return hs_lanes_sqrt(*across + beyond * beyond) - k->radius;
}

/* Advances the sphere by its distance to the capsules, so that it cannot pass through them. */
static inline glmm_128 advance(const struct course *c, const struct capsules *k, glmm_128 radius,
                               glmm_128 travel)
{
    struct hs_lanes_vec towards = hs_lanes_sub(hs_lanes_scale(c->direction, travel), k->from);
    glmm_128 share = nearest_share(k->along, towards);
    glmm_128 distance = length(hs_lanes_sub(towards, hs_lanes_scale(k->along, share)));
    return travel + hs_lanes_max(distance - radius, glmm_set1(0));
}

/*
 * Returns lower bounds of the travel until the sphere touches the capsules. Pythagoras gives a
 * first estimate, which is before every possible touch. From this estimate the sphere advances
 * several times by its distance to the capsule (Hart, Sphere tracing, 1996).
 */
static inline glmm_128 first_contact(const struct course *c, const struct capsules *k,
                                     glmm_128 slack, glmm_128 across, glmm_128 first)
{
    /* A sweep that misses by at most the slack also touches. */
    glmm_128 zero = glmm_set1(0), radius = k->radius + c->error + slack;
    glmm_128 travel = first - hs_lanes_sqrt(hs_lanes_max(radius * radius - across, zero));
    travel = advance(c, k, radius, travel);
    travel = advance(c, k, radius, travel);
    travel = advance(c, k, radius, travel);
    return travel - c->error;
}

/* Places the balls of four hitboxes. Lowers each lane of *enough to an upper bound of a gap. */
static inline void bound_balls(const struct course *c, struct four *four, glmm_128 *enough)
{
    glmm_128 most;
    four->bones = place_bones(c, four);
    four->balls = ball_gap(c, four, four->bones, &most);
    if (four->present != 15) {
        float bounds[4];
        hs_lanes_write(bounds, most);
        for (unsigned i = 0; i < 4; i++)
            if ((four->present >> i & 1) == 0)
                bounds[i] = FLT_MAX;
        most = hs_lanes_read(bounds);
    }
    *enough = hs_lanes_min(most, *enough);
}

/* Finds the bounds of four hitboxes whose balls are placed. Returns a bit for each hitbox that may
   matter: its gap may be at most `limit`. */
static inline unsigned bound_four(const struct course *c, struct four *four, glmm_128 slack,
                                  glmm_128 limit, float gap[4], float contact[4])
{
    glmm_128 across, first;
    unsigned near = ~hs_lanes_at_most(limit, four->balls) & four->present;
    if (near == 0)
        return 0;
    struct capsules capsules = place_capsules(c, four, four->bones);
    glmm_128 gaps = capsule_gap(c, &capsules, &across, &first);
    near &= ~hs_lanes_at_most(limit, gaps);
    hs_lanes_write(gap, gaps);
    if (near != 0)
        hs_lanes_write(contact, first_contact(c, &capsules, slack, across, first));
    return near;
}

/* Reports every hitbox as one that may matter, if the numbers are too large for float. */
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

static glmm_128 smallest_of(glmm_128 lanes)
{
    float v[4];
    hs_lanes_write(v, lanes);
    float a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return glmm_set1(a < b ? a : b);
}

/* All balls are compared before any capsule is placed. So the smallest upper bound of a gap is
   known, and most hitboxes of the target are excluded by their balls. */
void hs_pose_find_bounds(const struct hs_pose *pose, const struct hs_sweep *sweep, double slack,
                         bool finds_nearest, struct hs_pose_bounds *out)
{
    struct course course;
    struct bones bones;
    struct four fours[HS_MAX_HITBOXES / 4];
    struct hs_bone_pose space[HS_MAX_HITBOXES];
    double error;
    glmm_128 touches = glmm_set1(hs_float_above(slack)), enough = glmm_set1(FLT_MAX);
    uint16_t count = pose->rig->hitbox_count;
    memset(out->near, 0, sizeof out->near);
    memset(out->excluded, 0, sizeof out->excluded);
    open_bones(pose, &bones);
    lay_course(pose, sweep, hs_pose_reach(pose), &course, &out->travelled, &error);
    if (!(error < FLOAT_SLACK * TOO_LARGE)) {
        allow_all(pose, out);
        return;
    }
    for (uint16_t i = 0; i < count; i += 4) {
        find_bones(&bones, i, &fours[i / 4], out->excluded, space + i);
        bound_balls(&course, &fours[i / 4], &enough);
    }
    glmm_128 limit = finds_nearest ? hs_lanes_max(touches, smallest_of(enough)) : touches;
    for (uint16_t i = 0; i < count; i += 4) {
        uint64_t near =
            bound_four(&course, &fours[i / 4], touches, limit, out->gap + i, out->contact + i);
        out->near[i / 64] |= near << (i % 64);
    }
}
