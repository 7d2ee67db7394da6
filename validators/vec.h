/*
 * Vectors of three doubles, for world positions and for everything measured along a path.
 *
 * World coordinates are never stored in float. Small differences between world coordinates may be
 * stored in float. Only + - * / and sqrt are used, so every machine with IEEE 754 arithmetic
 * computes bit-identical results.
 */
#ifndef HS_VEC_H
#define HS_VEC_H

#include <math.h>
#include <stdbool.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_vec {
    double x, y, z;
};

static inline struct hs_vec hs_vec_add(struct hs_vec a, struct hs_vec b)
{
    struct hs_vec out = {a.x + b.x, a.y + b.y, a.z + b.z};
    return out;
}

static inline struct hs_vec hs_vec_sub(struct hs_vec a, struct hs_vec b)
{
    struct hs_vec out = {a.x - b.x, a.y - b.y, a.z - b.z};
    return out;
}

static inline struct hs_vec hs_vec_scale(struct hs_vec a, double s)
{
    struct hs_vec out = {a.x * s, a.y * s, a.z * s};
    return out;
}

/* a + b * s */
static inline struct hs_vec hs_vec_add_scaled(struct hs_vec a, struct hs_vec b, double s)
{
    struct hs_vec out = {a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
    return out;
}

/* The result is exactly a if s is 0, or if a and b are equal. */
static inline struct hs_vec hs_vec_lerp(struct hs_vec a, struct hs_vec b, double s)
{
    struct hs_vec out = {a.x + (b.x - a.x) * s, a.y + (b.y - a.y) * s, a.z + (b.z - a.z) * s};
    return out;
}

static inline double hs_vec_dot(struct hs_vec a, struct hs_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct hs_vec hs_vec_cross(struct hs_vec a, struct hs_vec b)
{
    struct hs_vec out = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return out;
}

static inline double hs_vec_length(struct hs_vec a)
{
    return sqrt(hs_vec_dot(a, a));
}

static inline double hs_vec_distance(struct hs_vec a, struct hs_vec b)
{
    return hs_vec_length(hs_vec_sub(a, b));
}

/* hs_vec_min returns the smaller of the two coordinates on each axis, hs_vec_max returns the
   larger. */
static inline struct hs_vec hs_vec_min(struct hs_vec a, struct hs_vec b)
{
    struct hs_vec out = {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
    return out;
}

static inline struct hs_vec hs_vec_max(struct hs_vec a, struct hs_vec b)
{
    struct hs_vec out = {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
    return out;
}

/* Returns the largest absolute value among the coordinates. */
static inline double hs_vec_largest(struct hs_vec v)
{
    double x = fabs(v.x), y = fabs(v.y), z = fabs(v.z), larger = x > y ? x : y;
    return larger > z ? larger : z;
}

/* Returns whether every coordinate is between -bound and +bound. */
static inline bool hs_vec_is_within(struct hs_vec a, double bound)
{
    return fabs(a.x) <= bound && fabs(a.y) <= bound && fabs(a.z) <= bound;
}

static inline bool hs_vec_is_finite(struct hs_vec a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* The axis of the world that points up. */
enum hs_up { HS_UP_PX, HS_UP_NX, HS_UP_PY, HS_UP_NY, HS_UP_PZ, HS_UP_NZ, HS_UP_COUNT };

static inline struct hs_vec hs_up_direction(enum hs_up up)
{
    double sign = up % 2 == 0 ? 1 : -1;
    struct hs_vec out = {up <= HS_UP_NX ? sign : 0, up == HS_UP_PY || up == HS_UP_NY ? sign : 0,
                         up >= HS_UP_PZ ? sign : 0};
    return out;
}

HS_PUBLIC_END

#endif
