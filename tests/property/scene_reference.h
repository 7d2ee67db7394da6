/*
 * A slow, plain answer to what a claim's path meets in a scene: the path is walked in small steps;
 * at each, all players are placed again and the distance to every hitbox is taken. In double, with
 * sines and arc cosines, from the scene alone: it shares no code with what it tests but vectors.
 *
 * Only for scenes without events, and for projectiles only where nothing turns: the library rounds
 * turning to pieces of a flight on purpose.
 */
#ifndef HS_TESTS_SCENE_REFERENCE_H
#define HS_TESTS_SCENE_REFERENCE_H

#include "tests/support/oracle/scene.h"

enum { HS_REFERENCE_STEPS = 20000, HS_REFERENCE_HITBOXES = 3 };

/* Of one hitbox of one player. */
struct hs_scene_gap {
    const char *zone;
    double gap;      /* smallest, below 0 where they overlap */
    double distance; /* travel at the first step that overlaps; HUGE_VAL: none does */
};

struct hs_scene_meeting {
    int count; /* of hitboxes of the player's rig */
    struct hs_scene_gap hitboxes[HS_REFERENCE_HITBOXES];
};

/* Length of a step: what distances and gaps are good to. */
double hs_scene_reference_step(const struct hs_scene *scene);

void hs_scene_reference(const struct hs_scene *scene, int player, struct hs_scene_meeting *out);

#endif
