/*
 * Angles between directions, computed with + - * / and sqrt only. The results of the C library's
 * arc functions may differ in the last bit between machines, but verdicts must not. Internal to
 * validators/.
 */
#ifndef HS_ANGLE_H
#define HS_ANGLE_H

#include "validators/vec.h"

#define HS_PI 3.14159265358979323846

/* Returns the angle between two unit vectors in radians, in [0, pi]. Uses
   2 atan(|a - b| / |a + b|) (Kahan), which is also accurate near 0 and near pi. */
double hs_angle_between(struct hs_vec a, struct hs_vec b);

/* Returns the angle in radians between a unit direction and the nearest direction on an arc. The
   arc is the shorter great-circle arc between the unit vectors `from` and `to`. If `from`
   and `to` are opposite, the arc is not unique, and the result is the angle to the nearer end. */
double hs_angle_to_arc(struct hs_vec direction, struct hs_vec from, struct hs_vec to);

static inline double hs_degrees(double radians)
{
    return radians * (180 / HS_PI);
}

#endif
