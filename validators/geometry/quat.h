/*
 * Unit quaternions [x, y, z, w] in float.
 *
 * Two functions of cglm could not be used (base/glm.h). The result of glm_quat_mul differs between
 * builds. Between q and nearly -q, the result of glm_quat_slerp is far from length 1.
 */
#ifndef HS_QUAT_H
#define HS_QUAT_H

#include <stdbool.h>

#include "validators/vec.h"

/* Normalises q. If the length of q differs from 1 by more than 1e-3 or is not finite, leaves q
   unchanged and returns false. */
bool hs_quat_normalise(float q[4]);

/* Sets out = a * b: the rotation b, followed by the rotation a. `out` may be `a` or `b`. */
void hs_quat_multiply(const float a[4], const float b[4], float out[4]);

/*
 * Spherical linear interpolation along the shorter arc (Shoemake, Animating rotation with
 * quaternion curves, 1985). s is in [0, 1].
 *
 * The ratios of sines are computed as power series in cos(angle) - 1 (Eberly, A fast and accurate
 * algorithm for computing SLERP, 2011). If the angle is wide, it is halved first, so that the error
 * is below 1e-12. Only + - * / and sqrt are used.
 */
void hs_quat_slerp(const float a[4], const float b[4], double s, float out[4]);

/* Rotates the three axes of the world: computes the columns of the rotation matrix. */
void hs_quat_axes(const float q[4], struct hs_vec axes[3]);

struct hs_vec hs_quat_rotate(const float q[4], struct hs_vec v);

/* Returns the same vector as hs_quat_rotate(q, v). hs_quat_axes(q, axes) must have computed
   `axes`. */
static inline struct hs_vec hs_axes_rotate(const struct hs_vec axes[3], struct hs_vec v)
{
    struct hs_vec r = hs_vec_scale(axes[0], v.x);
    r = hs_vec_add_scaled(r, axes[1], v.y);
    return hs_vec_add_scaled(r, axes[2], v.z);
}

#endif
