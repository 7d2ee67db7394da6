/*
 * A rig: named bones, their hitboxes, and rest poses (stances) for players without posted bones.
 * Lengths are in the game's unit. Rotations are unit quaternions [x, y, z, w].
 */
#ifndef HS_RIG_H
#define HS_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "str.h"
#include "vec.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

enum { HS_MAX_BONES = 128, HS_MAX_HITBOXES = 128, HS_MAX_STANCES = 16 };

/* A shape fixed to a bone. */
struct hs_hitbox {
    uint16_t bone; /* index in the rig */
    uint16_t zone; /* index in the ruleset */
    enum hs_shape shape;
    double radius;      /* length; for spheres and capsules */
    double half_length; /* capsule: half the distance between the cap centres; along local z */
    struct hs_vec half_extents; /* length; for boxes */
    struct hs_vec center;       /* in the bone's frame */
    float rotation[4];          /* in the bone's frame */
    bool axis_aligned;          /* box: its axes and `center` do not turn with the bone */
};

/* A bone of a rest pose, in the root's frame. */
struct hs_rest_bone {
    struct hs_vec position;
    float rotation[4];
    float scale[3];
};

struct hs_stance {
    struct hs_name name;
    struct hs_vec eye;                       /* in the root's frame */
    struct hs_rest_bone bones[HS_MAX_BONES]; /* in the order of hs_rig.bones */
    double reach; /* derived; length; upper bound of the distance from the root to any hitbox
                     point */
    struct hs_vec middle, half; /* derived; the centre and the half extents of a box around the root
                                   and all hitboxes, in the root's frame */
};

/*
 * Capsules around four hitboxes, in the frames of the hitboxes' bones. Every point of a hitbox is
 * within `radius` of the segment between `from` and `to`, and within `reach` of the bone. An
 * axis-aligned box does not turn with its bone, so both ends of its capsule are at the bone's
 * origin.
 */
struct hs_capsules {
    float from[3][4], to[3][4]; /* ends of the segments; first index: axis, second index: hitbox */
    float radius[4], reach[4];
};

struct hs_rig {
    struct hs_name name;
    struct hs_name bones[HS_MAX_BONES];
    struct hs_hitbox hitboxes[HS_MAX_HITBOXES];
    struct hs_stance stances[HS_MAX_STANCES];
    uint16_t bone_count, hitbox_count, stance_count;
    double hitbox_reach[HS_MAX_HITBOXES]; /* derived; length; upper bound of the distance from the
                                             bone to any point of the hitbox, at scale 1 */
    struct hs_capsules capsules[HS_MAX_HITBOXES / 4]; /* derived, at scale 1 */
};

/* Returns the index of the bone or stance with this name, or HS_NONE (ruleset.h). */
uint16_t hs_rig_find_bone(const struct hs_rig *in, struct hs_str name);
uint16_t hs_rig_find_stance(const struct hs_rig *in, struct hs_str name);

/* Computes the derived members, and normalises the rotations. */
void hs_rig_finish(struct hs_rig *rig);

HS_PUBLIC_END

#endif
