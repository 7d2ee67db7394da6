/*
 * The way of a shot through space and time: one leg for what is instant, many for a projectile,
 * so that targets are met where they are when it passes them. Internal to validators/.
 */
#ifndef HS_PATH_H
#define HS_PATH_H

#include <stdint.h>

#include "sweep.h"

/* A leg is at most this long in time, so that a body hardly turns within it: 1/64 s. Bodies move
   within a leg; only their turning is rounded to its start. Halving it doubles the work. */
#define HS_LEG_US 15625

/* More legs than this and they get longer instead: a bound on the work of one claim. */
#define HS_MAX_LEGS 512

struct hs_path {
    struct hs_vec start, direction; /* unit */
    double length;                  /* from start to end, without the extension */
    double extension;               /* beyond the end, at the end's time */
    double radius;                  /* of the sphere */
    int64_t start_us, end_us;       /* equal: instant */
};

struct hs_leg {
    struct hs_sweep sweep;
    double travelled;         /* length before this leg */
    int64_t start_us, end_us; /* times at its ends */
};

uint32_t hs_path_legs(const struct hs_path *path);
void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out);

#endif
