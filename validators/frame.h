/* Frames as the game server posts them: the positions of players and movers at one time. */
#ifndef HS_FRAME_H
#define HS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "state.h"
#include "str.h"
#include "vec.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/* A posted bone: world position, unit rotation [x, y, z, w], scale. */
struct hs_posted_bone {
    bool present;
    double position[3];
    double rotation[4];
    double scale[3];
};

/* The indices of the sticky members that a frame can post, in the order of state.h. */
enum hs_sticky_field {
#define SAID(type, member, first, saved, stale, field) HS_STICKY_##field,
#define OWN(type, member, dimension, first, saved, stale)
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
        HS_STICKY_COUNT
};

/* Bits for the optional members of struct hs_player_frame. A set bit means that the frame contains
   the member. */
enum hs_frame_field {
    HS_FIELD_ROTATION = 1 << 0,
    HS_FIELD_AIM = 1 << 1,
    HS_FIELD_EYE = 1 << 2,
    HS_FIELD_BONES = 1 << 3,
    HS_FIELD_SCALES = 1 << 4, /* the bones have scales */
    HS_FIELD_ALIVE = 1 << 5,
    HS_FIELD_LIFE = 1 << 6,
    HS_FIELD_RTT = 1 << 7,
    HS_FIELD_INTERP = 1 << 8,
    HS_FIELD_WEAPONS = 1 << 9,
    HS_FIELD_VELOCITY = 1 << 30, /* not bit 10: the sticky members use the bits from 10 on */
#define SAID(type, member, first, saved, stale, field)                                             \
    HS_FIELD_##field = 1 << (10 + HS_STICKY_##field),
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
};

/* One player in a posted frame. An absent name has ptr NULL. All numbers are finite. */
struct hs_player_frame {
    struct hs_str player;
    unsigned fields; /* enum hs_frame_field */
    struct hs_vec position;
    double rotation[4];
    double aim[3];     /* a direction; not normalised, but longer than 0 */
    struct hs_vec eye; /* world coordinates */
    const struct hs_posted_bone *bones;
    size_t bone_count;
    struct hs_str account, rig, stance, team, weapon;
    const struct hs_str *weapons;
    size_t weapon_count;
    enum hs_sample_event event;
    struct hs_vec velocity; /* the player's velocity after HS_EVENT_LAUNCH; length/s */
    bool alive;
    int64_t life;
    int32_t rtt_us, interp_us;
#define SAID(type, member, first, saved, stale, field)                                             \
    type member; /* valid if the bit HS_FIELD_##field is set */
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
};

/* Bits for the optional members of struct hs_mover_frame. */
enum hs_mover_field {
    HS_MOVER_ROTATION = 1 << 0,
    HS_MOVER_BOX = 1 << 1,
    HS_MOVER_SOLID = 1 << 2,
};

/* One mover in a posted frame, for example a door. All numbers are finite. */
struct hs_mover_frame {
    struct hs_str mover;
    unsigned fields;        /* enum hs_mover_field */
    struct hs_vec position; /* world coordinates */
    double rotation[4];
    struct hs_vec half_extents; /* half the size of the mover's box on each axis; length, >= 0 */
    struct hs_vec center;       /* centre of the box, in the mover's frame */
    bool is_solid;
    bool teleported; /* the mover jumped to `position` without passing through the places in
                        between */
};

struct hs_frame {
    int64_t time_us;
    const struct hs_player_frame *players;
    size_t player_count;
    const struct hs_mover_frame *movers;
    size_t mover_count;
};

HS_PUBLIC_END

#endif
