/*
 * A slow, simple reference for the contacts of a claim's path in a scene. The reference walks along
 * the path in small steps. At each step it places all players again and measures the distance to
 * every hitbox. The reference uses doubles, sines and arc cosines, and reads only the scene. Only
 * the vector functions are the same as in the code under test.
 *
 * The reference is only for scenes without events. Scenes with projectiles may contain no turns,
 * because in a flight the library deliberately keeps a body's rotation for a whole leg.
 */
#ifndef HS_TESTS_SCENE_REFERENCE_H
#define HS_TESTS_SCENE_REFERENCE_H

#include "tests/support/oracle/scene.h"

enum { HS_REFERENCE_STEPS = 20000, HS_REFERENCE_HITBOXES = 3 };

/* The result for one hitbox of one player. */
struct hs_scene_gap {
    const char *zone;
    double gap;      /* smallest distance; below 0 they overlap */
    double distance; /* travel at the first step with overlap; HUGE_VAL: no overlap */
};

struct hs_scene_meeting {
    int count; /* number of hitboxes of the player's rig, and so of gaps */
    struct hs_scene_gap hitboxes[HS_REFERENCE_HITBOXES];
};

/* Length of a step, which is the accuracy of distances and gaps. */
double hs_scene_reference_step(const struct hs_scene *scene);

void hs_scene_reference(const struct hs_scene *scene, int player, struct hs_scene_meeting *out);

#endif
