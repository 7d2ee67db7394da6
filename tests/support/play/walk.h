/* A body for tests of movement: metres, up is +z, 60 moves a second, and each move arrives alone.
   Only one body exists at a time; hs_walk_begin is the fixture of a test case. */
#ifndef HS_TESTS_WALK_H
#define HS_TESTS_WALK_H

#include "validators/clock/movement.h"

#define HZ     60
#define DT_US  16667
#define DT     (DT_US / 1e6)
#define TICK_S DT
#define SHARE  1.01 /* granted time of a move */

/* Modes of `rules`. */
enum { WALKING, FALLING, FLYING, FREE, SPRINTING, STRICT, GLIDING, MODES };

struct hs_walk {
    struct hs_moves_rules rules;
    struct hs_movement body;
    struct hs_movement_step step; /* the next move */
    struct hs_movement_result result;
    int failures[4]; /* teleport, speed, acceleration, gravity */
    struct hs_movement_finding found[4];
};

extern struct hs_walk hs_walk;

void hs_walk_begin(void);

/* Checks the step, and counts the failed checks. */
void hs_walk_judge(void);

/* Makes a move that ends dx, dz further. */
void hs_walk_by(double dx, double dz);

/* Moves at a velocity for a time; stops at the first failure. Returns the seconds for which the
   body moved. */
double hs_walk_for(double vx, double vz, double seconds);

/* Expects how often each check has failed. */
void hs_walk_expect(int teleports, int speeds, int accelerations, int gravities);

#endif
