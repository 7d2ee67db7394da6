/*
 * Unit quaternions [x, y, z, w] in float.
 *
 * The functions here replace two functions of cglm (base/glm.h). The bits of glm_quat_mul depend on
 * the build. glm_quat_slerp gives quaternions far from length 1 if its arguments are q and nearly
 * -q.
 */
#ifndef HS_QUAT_H
#define HS_QUAT_H

#include <stdbool.h>

#include "validators/vec.h"

/* Normalises q. If q is not finite, or its length differs from 1 by more than 1e-3, returns false
   and leaves q unchanged. */
bool hs_quat_normalise(float q[4]);

/* Sets out = a * b: a rotation by b, followed by a rotation by a. `out` may be either argument. */
void hs_quat_multiply(const float a[4], const float b[4], float out[4]);

/*
 * Interpolates along the shorter arc: spherical linear interpolation (Shoemake, Animating rotation
 * with quaternion curves, 1985). s is in [0, 1].
 *
 * The ratio of sines is a power series in cos(angle) - 1 (Eberly, A fast and accurate algorithm for
 * computing SLERP, 2011). A wide angle is halved first, so that the error is below 1e-12. Only
 * + - * / and sqrt are used.
 */
void hs_quat_slerp(const float a[4], const float b[4], double s, float out[4]);

/* Rotates the three axes of the world. The results are the columns of the rotation matrix. */
void hs_quat_axes(const float q[4], struct hs_vec axes[3]);

struct hs_vec hs_quat_rotate(const float q[4], struct hs_vec v);

#endif
