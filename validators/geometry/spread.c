#include "validators/spread.h"

#include "validators/base/digest.h"
#include "validators/geometry/angle.h"

void hs_sine_cosine(double x, double *sine, double *cosine)
{
    /* Subtract quarter turns, so that at most an eighth of a turn remains for the Taylor series. */
    double quarters = floor(x * (2 / HS_PI) + 0.5);
    double r = x - quarters * (HS_PI / 2), square = r * r;
    double s = 1, c = 1;
    for (int i = 9; i >= 1; i--) {
        s = 1 - s * square / (double)((2 * i) * (2 * i + 1));
        c = 1 - c * square / (double)((2 * i - 1) * (2 * i));
    }
    s *= r;
    const double sines[4] = {s, c, -s, -c}; /* the sines of r plus 0, 1, 2 and 3 quarter turns */
    int turned = (int)quarters & 3;
    *sine = sines[turned];
    *cosine = sines[(turned + 1) & 3];
}

static double next_unit(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(hs_mix64(*state) >> 11) * 0x1p-53;
}

/* Computes two unit vectors that are perpendicular to n and to each other (Duff et al. 2017, see
   spread.h). */
static void basis(struct hs_vec n, struct hs_vec *b1, struct hs_vec *b2)
{
    double sign = copysign(1, n.z);
    double a = -1 / (sign + n.z), b = n.x * n.y * a;
    *b1 = (struct hs_vec){1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    *b2 = (struct hs_vec){b, sign + n.y * n.y * a, -n.y};
}

struct hs_vec hs_spread_direction(struct hs_vec aim, double spread_rad, uint64_t seed,
                                  uint32_t index)
{
    uint64_t state = hs_mix64(seed) + hs_mix64((uint64_t)index + 1);
    double u1 = next_unit(&state), u2 = next_unit(&state);
    double sine, cosine, off_sine, off_cosine;
    hs_sine_cosine(spread_rad, &off_sine, &off_cosine);
    hs_sine_cosine(2 * HS_PI * u2, &sine, &cosine);
    double off = off_sine / off_cosine * sqrt(u1);
    struct hs_vec b1, b2;
    basis(aim, &b1, &b2);
    struct hs_vec v = hs_vec_add_scaled(aim, b1, off * cosine);
    v = hs_vec_add_scaled(v, b2, off * sine);
    return hs_vec_scale(v, 1 / hs_vec_length(v));
}
