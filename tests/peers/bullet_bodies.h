/* Lag compensation as many games build it on a physics engine. The engine here is Bullet
   (libbullet). The bodies of all players stand in one collision world. For a claim the peer moves
   them back to their earlier places, casts, and restores them. For benchmarks only. Not thread-
   safe. */
#ifndef HS_TESTS_BULLET_BODIES_H
#define HS_TESTS_BULLET_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every bone is a capsule along its local z axis, centred on the bone. */
struct hs_bullet_rig {
    size_t players, bones;
    double radius, half_length;
};

struct hs_bullet_pose {
    double position[3]; /* world */
    double rotation[4]; /* x y z w, unit */
};

struct hs_bullet_bodies;

/* NULL: out of memory. */
struct hs_bullet_bodies *hs_bullet_bodies_create(const struct hs_bullet_rig *rig);
void hs_bullet_bodies_destroy(struct hs_bullet_bodies *bodies);

/* Adds a frame that is later than all earlier ones: the poses of player 0's bones, then player 1's
   and so on. The bodies move to these poses. */
void hs_bullet_bodies_frame(struct hs_bullet_bodies *bodies, int64_t time_us,
                            const struct hs_bullet_pose *poses);

struct hs_bullet_claim {
    size_t shooter, target;
    int64_t time_us; /* neither before the first frame nor after the last */
    double from[3], to[3], radius;
};

/* Finds the first body on the path of a sphere, except the shooter's own. The target is at its
   place at the time of the claim, and all others are at their present places. True: *player is the
   owner, and *fraction the share of the path before the contact. */
bool hs_bullet_verify_target(struct hs_bullet_bodies *bodies, const struct hs_bullet_claim *claim,
                             size_t *player, double *fraction);

/* The same, but all players except the shooter are at their places at the time of the claim. */
bool hs_bullet_verify_all(struct hs_bullet_bodies *bodies, const struct hs_bullet_claim *claim,
                          size_t *player, double *fraction);

#ifdef __cplusplus
}
#endif

#endif
