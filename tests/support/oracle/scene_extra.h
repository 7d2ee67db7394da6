/* The parts of random fights (scene.h) that need more than one path among bodies: shotguns,
   piercing shots and blasts; walls and a moving box. Internal to scene.c. */
#ifndef HS_TESTS_SCENE_EXTRA_H
#define HS_TESTS_SCENE_EXTRA_H

#include "tests/support/oracle/scene.h"

/* Adds the weapons from HS_SCENE_SHOTGUN on, for a unit of 1 / k metres. */
void hs_scene_add_weapons(struct hs_ruleset *rules, double k);

/* Adds the other fields of the claim, and the surroundings. Call it after the claim was drawn. */
void hs_scene_draw_extra(struct hs_random *random, const struct hs_scene_wishes *wishes,
                         struct hs_scene *out);

/* Sets the mover as it is posted with frame `f`. Returns false if it is not posted. */
bool hs_scene_play_mover(const struct hs_scene *scene, const struct hs_scene_frame *frame, int f,
                         struct hs_mover_frame *out);

/* Adds the world, the claim and `up` to a stage that has rules, a match and a claim. */
void hs_scene_play_extra(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                         struct hs_scene_stage *stage);

#endif
