/*
 * The spread generator computes a pellet's direction from the shot's seed and the pellet's index.
 * The client, the game server and this library compute bit-identical results. docs/spread.md
 * describes the generator, with test vectors.
 */
#ifndef HS_SPREAD_H
#define HS_SPREAD_H

#include <stdint.h>

#include "linkage.h"
#include "vec.h"

HS_PUBLIC_BEGIN

/*
 * Returns the direction of one pellet within a cone around `aim` (unit vector). `spread_rad` is the
 * half angle of the cone in radians, in [0, pi/2).
 *
 * SplitMix64 with the start state mix64(seed) + mix64(index + 1) generates u1 and u2 in [0, 1). The
 * direction is `aim` plus an offset of length tan(spread) sqrt(u1), perpendicular to `aim`, at the
 * angle 2 pi u2. The angle refers to the branchless basis by Duff et al. (Building an orthonormal
 * basis, revisited, JCGT 2017).
 */
struct hs_vec hs_spread_direction(struct hs_vec aim, double spread_rad, uint64_t seed,
                                  uint32_t index);

/* Computes sine and cosine with + - * only. |x| must be at most 2 pi radians. The errors are below
   1e-15. */
void hs_sine_cosine(double x, double *sine, double *cosine);

HS_PUBLIC_END

#endif
