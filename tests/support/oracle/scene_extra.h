/* The parts of random fights (scene.h) beyond one path among bodies: shotguns, piercing shots and
   bursts; walls and a moving box. Internal to scene.c. */
#ifndef HS_TESTS_SCENE_EXTRA_H
#define HS_TESTS_SCENE_EXTRA_H

#include "tests/support/oracle/scene.h"

/* Adds the weapons from HS_SCENE_SHOTGUN on, for a unit of 1 / k metres. */
void hs_scene_add_weapons(struct hs_ruleset *rules, double k);

/* After the claim was drawn: adds its other fields, and the surroundings. */
void hs_scene_draw_extra(struct hs_random *random, const struct hs_scene_wishes *wishes,
                         struct hs_scene *out);

/* Fills the mover as posted with frame `f`; false: it is not posted. */
bool hs_scene_play_mover(const struct hs_scene *scene, const struct hs_scene_frame *frame, int f,
                         struct hs_mover_frame *out);

/* Adds the world, the claim and `up` to a stage that has rules, a match and a claim. */
void hs_scene_play_extra(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                         struct hs_scene_stage *stage);

#endif
