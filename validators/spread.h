/*
 * The documented spread generator: a shot's seed and a pellet's index give the pellet's direction.
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
 * Direction of one pellet within a cone of `spread_rad` (half angle in radians, 0 .. pi/2
 * exclusive) around `aim` (unit). SplitMix64 from state mix64(seed) + mix64(index + 1) gives u1 and
 * u2, numbers in [0, 1). The direction is `aim` plus an offset of length tan(spread) sqrt(u1) at
 * right angles to it, at the angle 2 pi u2. The two directions at right angles come from a
 * branchless basis (Duff et al., Building an orthonormal basis, revisited, JCGT 2017). Pure.
 */
struct hs_vec hs_spread_direction(struct hs_vec aim, double spread_rad, uint64_t seed,
                                  uint32_t index);

/* Computes sine and cosine with + - * only, for |x| <= 2 pi radians; errors are below 1e-15. */
void hs_sine_cosine(double x, double *sine, double *cosine);

HS_PUBLIC_END

#endif
