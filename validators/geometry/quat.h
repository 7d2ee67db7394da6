/*
 * Unit quaternions [x, y, z, w] in float. Written out here rather than taken from a library:
 * verdicts must not depend on how a library orders its sums or uses the machine's vector unit,
 * and interpolation must survive q and -q meaning the same rotation.
 */
#ifndef HS_QUAT_H
#define HS_QUAT_H

#include <stdbool.h>

#include "validators/vec.h"

/* Makes q unit. False (and q untouched) unless it is finite and its length is within 1e-3 of 1. */
bool hs_quat_normalise(float q[4]);

/* out = a * b: the rotation b, then a. `out` may be either argument. */
void hs_quat_multiply(const float a[4], const float b[4], float out[4]);

/*
 * Spherical interpolation along the shorter way (Shoemake, Animating rotation with quaternion
 * curves, 1985), s in [0, 1]. The ratio of sines is summed as a series in cos(angle) - 1, with +
 * and * only (Eberly, A fast and accurate algorithm for computing SLERP, 2011), after one halving
 * of a wide angle, so that it converges to better than 1e-12.
 */
void hs_quat_slerp(const float a[4], const float b[4], double s, float out[4]);

/* The images of the three axes: columns of the rotation matrix. */
void hs_quat_axes(const float q[4], struct hs_vec axes[3]);

struct hs_vec hs_quat_rotate(const float q[4], struct hs_vec v);

#endif
