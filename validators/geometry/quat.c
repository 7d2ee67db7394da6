#include "validators/geometry/quat.h"

bool hs_quat_normalise(float q[4])
{
    /* This code has no loop, because gcc would not unroll a loop at -O2. The code runs for every
       posted bone. */
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    double squared = x * x + y * y + z * z + w * w;
    /* When a unit quaternion is rounded to float, its squared length can change by up to 4e-7. A
       division would not bring such a quaternion closer to length 1. */
    if (fabs(squared - 1) < 4e-7)
        return true;
    double length = sqrt(squared);
    if (!(length >= 0.999 && length <= 1.001))
        return false;
    for (int i = 0; i < 4; i++)
        q[i] = (float)((double)q[i] / length);
    return true;
}

void hs_quat_multiply(const float a[4], const float b[4], float out[4])
{
    float x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    float y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    float z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    float w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
    out[3] = w;
}

/* Returns sin(t angle) / sin(angle) as a power series in x = cos(angle) - 1. The angle must be at
   most 90 degrees. */
static double sine_ratio(double t, double x)
{
    double term = t, sum = t;
    for (int i = 1; i <= 40; i++) {
        term *= (t * t - (double)(i * i)) * x / (double)(i * (2 * i + 1));
        sum += term;
        if (fabs(term) < 1e-14)
            break;
    }
    return sum;
}

static double dot4(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

void hs_quat_slerp(const float a[4], const float b[4], double s, float out[4])
{
    double from[4], to[4];
    for (int i = 0; i < 4; i++) {
        from[i] = (double)a[i];
        to[i] = (double)b[i];
    }
    double cosine = dot4(from, to);
    /* q and -q are the same rotation. Use the sign that gives the shorter arc. */
    if (cosine < 0) {
        cosine = -cosine;
        for (int i = 0; i < 4; i++)
            to[i] = -to[i];
    }
    if (cosine < 0.9) {
        /* The normalised sum is the middle of the arc. Continue with the half that contains s. */
        double middle[4];
        for (int i = 0; i < 4; i++)
            middle[i] = from[i] + to[i];
        double length = sqrt(dot4(middle, middle));
        double *replaced = s < 0.5 ? to : from;
        for (int i = 0; i < 4; i++)
            replaced[i] = middle[i] / length;
        s = s < 0.5 ? 2 * s : 2 * s - 1;
        cosine = dot4(from, to);
    }
    double x = cosine < 1 ? cosine - 1 : 0;
    double weight_from = sine_ratio(1 - s, x), weight_to = sine_ratio(s, x);
    for (int i = 0; i < 4; i++)
        out[i] = (float)(from[i] * weight_from + to[i] * weight_to);
}

static inline void find_axes(const float q[4], struct hs_vec axes[3])
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    axes[0] = (struct hs_vec){1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)};
    axes[1] = (struct hs_vec){2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)};
    axes[2] = (struct hs_vec){2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)};
}

void hs_quat_axes(const float q[4], struct hs_vec axes[3])
{
    find_axes(q, axes);
}

struct hs_vec hs_quat_rotate(const float q[4], struct hs_vec v)
{
    struct hs_vec axes[3];
    find_axes(q, axes);
    return hs_axes_rotate(axes, v);
}
