/*
 * Angles between directions, from + - * / and sqrt alone: the C library's arc functions may differ
 * in the last bit from one machine to the next, and a verdict must not. Internal to validators/.
 */
#ifndef HS_ANGLE_H
#define HS_ANGLE_H

#include "validators/vec.h"

#define HS_PI 3.14159265358979323846

/* Radians, 0 .. pi, between two unit vectors; exact near 0 and near pi (Kahan's 2 atan form). */
double hs_angle_between(struct hs_vec a, struct hs_vec b);

/*
 * Radians from a unit direction to the nearest point of the shorter great-circle arc between two
 * unit vectors. Where the ends are opposite there is no one arc: the nearer end counts.
 */
double hs_angle_to_arc(struct hs_vec direction, struct hs_vec from, struct hs_vec to);

static inline double hs_degrees(double radians)
{
    return radians * (180 / HS_PI);
}

#endif
