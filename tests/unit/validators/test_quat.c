/* Quaternions compared with textbook formulas: slerp with the C library's sines and arc tangents,
   and rotation as q v q*. The pairs are random, and some are nearly equal or nearly opposite. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/quat.h"

#define DEFAULT_SEED 20250301
#define PAIRS        20000

/* A few units in the last digit of a float near 1. */
#define CLOSE 1e-7

static void draw(struct hs_random *random, float out[4])
{
    double q[4], length = 0;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = hs_random_between(random, -1, 1);
            length += q[i] * q[i];
        }
    } while (length > 1 || length < 0.01);
    for (int i = 0; i < 4; i++)
        out[i] = (float)(q[i] / sqrt(length));
    ck_assert(hs_quat_normalise(out));
}

/* Sets b to a after a random rotation of about `size`. */
static void draw_near(struct hs_random *random, const float a[4], double size, float b[4])
{
    for (int i = 0; i < 4; i++)
        b[i] = (float)((double)a[i] + size * hs_random_between(random, -1, 1));
    double length = 0;
    for (int i = 0; i < 4; i++)
        length += (double)b[i] * (double)b[i];
    for (int i = 0; i < 4; i++)
        b[i] = (float)((double)b[i] / sqrt(length));
}

static double norm(const double q[4])
{
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

static void reference_slerp(const float a[4], const float b[4], double s, double out[4])
{
    double from[4], to[4], difference[4], sum[4], dot = 0;
    for (int i = 0; i < 4; i++) {
        from[i] = (double)a[i];
        to[i] = (double)b[i];
        dot += from[i] * to[i];
    }
    double from_norm = norm(from), to_norm = norm(to);
    for (int i = 0; i < 4; i++) {
        from[i] /= from_norm;
        to[i] /= dot < 0 ? -to_norm : to_norm;
        difference[i] = to[i] - from[i];
        sum[i] = to[i] + from[i];
    }
    /* Kahan's formula, exact for every angle */
    double angle = 2 * atan2(norm(difference), norm(sum));
    double divisor = sin(angle);
    for (int i = 0; i < 4; i++)
        out[i] = divisor == 0 ? from[i]
                              : (from[i] * sin((1 - s) * angle) + to[i] * sin(s * angle)) / divisor;
}

static double worst;

static void compare(const float a[4], const float b[4], double s)
{
    float got[4];
    double want[4], length = 0;
    hs_quat_slerp(a, b, s, got);
    reference_slerp(a, b, s, want);
    for (int i = 0; i < 4; i++) {
        double error = fabs((double)got[i] - want[i]);
        worst = error > worst ? error : worst;
        ck_assert_msg(error < CLOSE, "s %.17g: [%d] %.9g instead of %.9g", s, i, (double)got[i],
                      want[i]);
        length += (double)got[i] * (double)got[i];
    }
    ck_assert_msg(fabs(sqrt(length) - 1) < CLOSE, "length %.9g at s %.17g", sqrt(length), s);
}

static double share(struct hs_random *random)
{
    switch (hs_random_index(random, 8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return 0.5;
    case 3:
        return hs_random_log_between(random, 1e-12, 1);
    default:
        return hs_random_unit(random);
    }
}

/* Row 0: random pairs; 1 to 3: nearly equal; 4 to 6: nearly opposite; 7: half turns. */
static const double sizes[] = {0, 1e-2, 1e-4, 1e-6, 1e-2, 1e-4, 1e-6, 1e-3};

START_TEST(slerp_equals_the_textbook_formula)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    for (int k = 0; k < PAIRS; k++) {
        float a[4], b[4];
        draw(&random, a);
        if (_i == 0)
            draw(&random, b);
        else if (_i == 7) { /* orthogonal quaternions are half a turn apart; the turn may go either
                               way */
            float turned[4] = {-a[1], a[0], -a[3], a[2]};
            draw_near(&random, turned, sizes[_i], b);
        } else
            draw_near(&random, a, sizes[_i], b);
        if (_i >= 4 && _i <= 6)
            for (int i = 0; i < 4; i++)
                b[i] = -b[i];
        compare(a, b, share(&random));
    }
    printf("slerp row %d: worst %.2g\n", _i, worst);
}
END_TEST

START_TEST(slerp_ends_are_the_arguments_bit_for_bit)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 100);
    for (int k = 0; k < PAIRS; k++) {
        float a[4], b[4], minus_b[4], out[4];
        draw(&random, a);
        draw(&random, b);
        for (int i = 0; i < 4; i++)
            minus_b[i] = -b[i];
        hs_quat_slerp(a, b, 0, out);
        ck_assert_mem_eq(out, a, sizeof out);
        hs_quat_slerp(a, b, 1, out);
        ck_assert(memcmp(out, b, sizeof out) == 0 || memcmp(out, minus_b, sizeof out) == 0);
    }
}
END_TEST

START_TEST(slerp_gives_the_same_for_q_and_minus_q)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 101);
    for (int k = 0; k < PAIRS; k++) {
        float a[4], b[4], minus_b[4], one[4], other[4];
        draw(&random, a);
        draw(&random, b);
        double s = share(&random);
        for (int i = 0; i < 4; i++)
            minus_b[i] = -b[i];
        hs_quat_slerp(a, b, s, one);
        hs_quat_slerp(a, minus_b, s, other);
        ck_assert_mem_eq(one, other, sizeof one);
        /* both ends are the same rotation, so the result is this rotation */
        hs_quat_slerp(minus_b, minus_b, s, other);
        for (int i = 0; i < 4; i++)
            ck_assert_double_eq_tol((double)other[i], (double)minus_b[i], 1.2e-7);
    }
}
END_TEST

static void hamilton(const double a[4], const double b[4], double out[4])
{
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
    out[0] = a[3] * b[0] + b[3] * a[0] + (a[1] * b[2] - a[2] * b[1]);
    out[1] = a[3] * b[1] + b[3] * a[1] + (a[2] * b[0] - a[0] * b[2]);
    out[2] = a[3] * b[2] + b[3] * a[2] + (a[0] * b[1] - a[1] * b[0]);
}

START_TEST(rotation_is_q_v_conjugate)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 102);
    for (int k = 0; k < PAIRS; k++) {
        float q[4];
        draw(&random, q);
        struct hs_vec v = hs_vec_scale(hs_random_direction(&random), 100);
        double qd[4], conjugate[4], pure[4] = {v.x, v.y, v.z, 0}, half[4], whole[4];
        for (int i = 0; i < 4; i++) {
            qd[i] = (double)q[i];
            conjugate[i] = i == 3 ? qd[i] : -qd[i];
        }
        hamilton(qd, pure, half);
        hamilton(half, conjugate, whole);
        struct hs_vec want = {whole[0], whole[1], whole[2]};
        ck_assert_double_lt(hs_vec_distance(hs_quat_rotate(q, v), want), 100 * 5e-7);

        struct hs_vec axes[3];
        hs_quat_axes(q, axes);
        ck_assert_double_lt(hs_vec_distance(hs_quat_rotate(q, (struct hs_vec){1, 0, 0}), axes[0]),
                            1e-12);
        ck_assert_double_lt(hs_vec_distance(hs_vec_cross(axes[0], axes[1]), axes[2]), 1e-6);
    }
}
END_TEST

START_TEST(product_turns_by_b_then_a)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 103);
    for (int k = 0; k < PAIRS; k++) {
        float a[4], b[4], ab[4];
        draw(&random, a);
        draw(&random, b);
        hs_quat_multiply(a, b, ab);
        struct hs_vec v = hs_random_direction(&random);
        ck_assert_double_lt(
            hs_vec_distance(hs_quat_rotate(ab, v), hs_quat_rotate(a, hs_quat_rotate(b, v))), 1e-6);
        float in_place[4];
        memcpy(in_place, a, sizeof a);
        hs_quat_multiply(in_place, b, in_place);
        ck_assert_mem_eq(in_place, ab, sizeof ab);
        memcpy(in_place, b, sizeof b);
        hs_quat_multiply(a, in_place, in_place);
        ck_assert_mem_eq(in_place, ab, sizeof ab);
    }
}
END_TEST

static const struct {
    float q[4];
    bool unit;
} norms[] = {
    {{0, 0, 0, 1}, true},
    {{0, 0, 0, -1}, true},
    {{0, 0, 0, 1.0009f}, true},
    {{0, 0, 0, 0.9991f}, true},
    {{0, 0, 0, 1.0011f}, false},
    {{0, 0, 0, 0.9989f}, false},
    {{0.5f, -0.5f, 0.5f, 0.5f}, true},
    {{0, 0, 0, 0}, false},
    {{0, 0, 0, (float)NAN}, false},
    {{(float)INFINITY, 0, 0, 1}, false},
    {{1e30f, 1e30f, 0, 0}, false},
};

#define NORMS ((int)(sizeof norms / sizeof *norms))

START_TEST(quaternions_near_length_one_are_accepted)
{
    float q[4];
    memcpy(q, norms[_i].q, sizeof q);
    ck_assert_int_eq(hs_quat_normalise(q), norms[_i].unit);
    if (!norms[_i].unit) {
        ck_assert_mem_eq(q, norms[_i].q, sizeof q); /* unchanged */
        return;
    }
    double length = 0;
    for (int i = 0; i < 4; i++)
        length += (double)q[i] * (double)q[i];
    ck_assert_double_eq_tol(sqrt(length), 1, 1e-7);
}
END_TEST

START_TEST(normalising_twice_changes_nothing)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 104);
    for (int k = 0; k < PAIRS; k++) {
        float q[4], again[4];
        draw(&random, q);
        double stretch = hs_random_between(&random, 0.9992, 1.0008);
        for (int i = 0; i < 4; i++)
            q[i] = (float)((double)q[i] * stretch);
        ck_assert(hs_quat_normalise(q));
        memcpy(again, q, sizeof q);
        ck_assert(hs_quat_normalise(again));
        ck_assert_mem_eq(again, q, sizeof q);
    }
}
END_TEST

int main(void)
{
    printf("quat: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    Suite *suite = suite_create("quat");
    TCase *tcase = tcase_create("quat");
    tcase_add_loop_test(tcase, slerp_equals_the_textbook_formula, 0, 8);
    tcase_add_test(tcase, slerp_ends_are_the_arguments_bit_for_bit);
    tcase_add_test(tcase, slerp_gives_the_same_for_q_and_minus_q);
    tcase_add_test(tcase, rotation_is_q_v_conjugate);
    tcase_add_test(tcase, product_turns_by_b_then_a);
    tcase_add_loop_test(tcase, quaternions_near_length_one_are_accepted, 0, NORMS);
    tcase_add_test(tcase, normalising_twice_changes_nothing);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
