/*
 * Angles between directions, computed with + - * / and sqrt only. The C library's arc functions may
 * differ in the last bit between machines, but verdicts must be the same everywhere. Internal to
 * validators/.
 */
#ifndef HS_ANGLE_H
#define HS_ANGLE_H

#include "validators/vec.h"

#define HS_PI 3.14159265358979323846

/* Returns the angle between two unit vectors in radians, in [0, pi]. The formula 2 atan(|a - b| /
   |a + b|) is also exact near 0 and near pi (Kahan). */
double hs_angle_between(struct hs_vec a, struct hs_vec b);

/* Returns the angle, in radians, from a unit direction to the nearest point of the shorter
   great-circle arc between two unit vectors. If the ends are opposite, the arc is not unique; then
   the result is the angle to the nearer end. */
double hs_angle_to_arc(struct hs_vec direction, struct hs_vec from, struct hs_vec to);

static inline double hs_degrees(double radians)
{
    return radians * (180 / HS_PI);
}

#endif
