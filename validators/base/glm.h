/*
 * The parts of cglm that this project uses. No other file includes cglm.
 *
 * A verdict must be bit-identical on every machine. This table compares the results of cglm 0.8.8
 * with scalar code that is compiled with -ffp-contract=off.
 *
 *                 x86-64        x86-64 -mfma   aarch64 gcc   aarch64 clang
 *   glm_vec3_*    equal         equal          equal         equal
 *   glm_quat_mul  equal         90 % differ    equal         89 % differ
 *   glm_vec4_dot  30 % differ   30 % differ    equal         30 % differ
 *
 * Used: glm_vec3_* for three floats; glmm_128, glmm_load, glmm_store, glmm_set1 and the operators
 * + - * of the vector type. Code that draws pictures also uses mat4, glm_lookat, glm_ortho and
 * glm_project, because no verdict depends on a picture.
 *
 * Not used, and the reason:
 *   glm_quat_mul, glm_vec4_*, glmm_fmadd, glmm_dot   the bits depend on the build
 *   glm_quat_slerp     between q and nearly -q, the result is 0.00025 long; uses the math library
 *   glm_ray_triangle   its absolute epsilon would make a verdict depend on the unit of length
 *   glm_aabb_*         stores world coordinates in float
 *   versor, mat4       structs with such members would need 16-byte or 32-byte alignment
 */
#ifndef HS_GLM_H
#define HS_GLM_H

/* cglm 0.8.8 enables its Arm layer by a macro that gcc defines on 32-bit Arm only. */
#if defined(__aarch64__) && !defined(CGLM_SIMD_ARM)
#define CGLM_SIMD_ARM
#endif

#include <cglm/cam.h>
#include <cglm/project.h>
#include <cglm/vec3.h>

#include "validators/vec.h"

static inline struct hs_vec hs_vec_from_floats(const float from[3])
{
    return (struct hs_vec){(double)from[0], (double)from[1], (double)from[2]};
}

/* Returns the largest absolute value among the three factors. */
static inline double hs_largest_scale(const float scale[3])
{
    vec3 sizes = {fabsf(scale[0]), fabsf(scale[1]), fabsf(scale[2])};
    return (double)glm_vec3_max(sizes);
}

static inline void hs_vec_to_floats(struct hs_vec from, float to[3])
{
    to[0] = (float)from.x;
    to[1] = (float)from.y;
    to[2] = (float)from.z;
}

#endif
