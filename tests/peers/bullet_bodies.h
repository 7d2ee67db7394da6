/*
 * Lag compensation as a game builds it on a physics engine, here Bullet (libbullet): the bodies of
 * all players stand in one collision world; for a claim they are moved back to where they were, the
 * world is asked, and they are put where they belong. For benchmarks only. Not thread-safe.
 */
#ifndef HS_TESTS_BULLET_BODIES_H
#define HS_TESTS_BULLET_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every bone is a capsule along its local z axis, its middle at the bone. */
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

/*
 * Adds a frame, later than those before: poses of player 0's bones, then player 1's and so on. The
 * bodies move there.
 */
void hs_bullet_bodies_frame(struct hs_bullet_bodies *bodies, int64_t time_us,
                            const struct hs_bullet_pose *poses);

struct hs_bullet_claim {
    size_t shooter, target;
    int64_t time_us; /* not before the first frame, not after the last */
    double from[3], to[3], radius;
};

/*
 * The first body a sphere meets on its way, the shooter's own left out, with the target where it
 * was then and all others where they are now. True: *player is whose, *fraction the share of the
 * way to it.
 */
bool hs_bullet_verify_target(struct hs_bullet_bodies *bodies, const struct hs_bullet_claim *claim,
                             size_t *player, double *fraction);

/* The same with all players but the shooter where they were then. */
bool hs_bullet_verify_all(struct hs_bullet_bodies *bodies, const struct hs_bullet_claim *claim,
                          size_t *player, double *fraction);

#ifdef __cplusplus
}
#endif

#endif
