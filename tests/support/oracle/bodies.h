/* Random rigs and random posted poses, for tests of bounds. `unit` is the length of a limb. */
#ifndef HS_TEST_BODIES_H
#define HS_TEST_BODIES_H

#include "tests/support/random.h"
#include "validators/history/ring.h"
#include "validators/ruleset.h"

struct hs_vec hs_body_draw_offset(struct hs_random *random, double unit);

/* Draws a unit quaternion. */
void hs_body_draw_rotation(struct hs_random *random, float out[4]);

/* Draws a ruleset with one rig, which has up to 20 hitboxes of all shapes. */
struct hs_ruleset *hs_body_draw_ruleset(struct hs_random *random, double unit);

/* Draws bones without their bounds. Half of the poses are plain: they have every bone, and no
   scale. */
void hs_body_draw_pose(struct hs_random *random, const struct hs_rig *rig, double unit,
                       struct hs_posted_pose *out);

#endif
