/* Angles are compared with the C library's arc functions, and arcs with a search along them. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/angle.h"

static struct hs_vec unit(double x, double y, double z)
{
    struct hs_vec v = {x, y, z};
    return hs_vec_scale(v, 1 / hs_vec_length(v));
}

START_TEST(angles_between_directions_equal_those_of_libm)
{
    double worst = 0;
    for (int i = 0; i <= 200000; i++) {
        double angle = HS_PI * i / 200000;
        struct hs_vec b = {cos(angle), sin(angle), 0};
        worst = fmax(worst, fabs(hs_angle_between((struct hs_vec){1, 0, 0}, b) - angle));
    }
    ck_assert_msg(worst < 2e-15, "worst %g", worst);
}
END_TEST

/* For such angles an arc cosine would lose all its digits. */
START_TEST(tiny_angles_and_nearly_opposite_ones)
{
    for (double angle = 1e-15; angle < 0.1; angle *= 3) {
        struct hs_vec a = {1, 0, 0}, b = {cos(angle), sin(angle), 0},
                      c = {-cos(angle), sin(angle), 0};
        ck_assert_double_eq_tol(hs_angle_between(a, b), angle, 1e-15 + 1e-14 * angle);
        ck_assert_double_eq_tol(HS_PI - hs_angle_between(a, c), angle, 1e-15 + 1e-14 * angle);
    }
    struct hs_vec a = unit(1, 2, 3);
    ck_assert_double_eq(hs_angle_between(a, a), 0);
    ck_assert_double_eq(hs_angle_between(a, hs_vec_scale(a, -1)), HS_PI);
}
END_TEST

START_TEST(angles_of_random_directions_equal_those_of_libm)
{
    struct hs_random random = hs_random_start(hs_test_seed(20250403), (uint64_t)_i);
    for (int i = 0; i < 20000; i++) {
        struct hs_vec a = hs_random_direction(&random), b = hs_random_direction(&random);
        double angle = hs_angle_between(a, b);
        double wanted = atan2(hs_vec_length(hs_vec_cross(a, b)), hs_vec_dot(a, b));
        ck_assert_msg(fabs(angle - wanted) < 2e-15 * (1 + 1 / fmax(0.1, sin(wanted))),
                      "%.17g, not %.17g", angle, wanted);
        ck_assert(angle == hs_angle_between(b, a));
        ck_assert(angle >= 0 && angle <= HS_PI);
    }
}
END_TEST

static const struct {
    struct hs_vec direction, from, to;
    double degrees;
} arcs[] = {
    {{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 0},
    {{0, 1, 0}, {1, 0, 0}, {0, 1, 0}, 0},
    {{1, 1, 0}, {1, 0, 0}, {0, 1, 0}, 0},
    {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, 90},
    {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, 35.264389682754654},
    {{1, -1, 0}, {1, 0, 0}, {0, 1, 0}, 45},
    {{-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 90},
    {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}, 135}, /* the far side of the circle is no part of the arc */
    {{0, 1, 0}, {1, 0, 0}, {1, 0, 0}, 90},
    {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, 0},
    {{1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, 0}, /* half a turn: the nearer end counts */
    {{-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, 0},
    {{0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, 90},
    {{1, 1, 0}, {1, 0, 0}, {-1, 0, 0}, 45},
};

#define ARCS ((int)(sizeof arcs / sizeof *arcs))

static struct hs_vec normal_of(struct hs_vec v)
{
    return unit(v.x, v.y, v.z);
}

START_TEST(angles_to_arcs_equal_those_by_hand)
{
    struct hs_vec direction = normal_of(arcs[_i].direction);
    ck_assert_double_eq_tol(hs_degrees(hs_angle_to_arc(direction, arcs[_i].from, arcs[_i].to)),
                            arcs[_i].degrees, 1e-12);
    ck_assert_double_eq_tol(hs_degrees(hs_angle_to_arc(direction, arcs[_i].to, arcs[_i].from)),
                            arcs[_i].degrees, 1e-12);
}
END_TEST

/* The nearest of many points on the arc is as near as the function says, and no point is nearer. */
START_TEST(no_point_of_an_arc_is_nearer_than_the_angle)
{
    enum { STEPS = 2000 };
    struct hs_random random = hs_random_start(hs_test_seed(20250403), 100 + (uint64_t)_i);
    for (int i = 0; i < 50; i++) {
        struct hs_vec from = hs_random_direction(&random), to = hs_random_direction(&random);
        struct hs_vec direction = hs_random_direction(&random);
        double whole = acos(hs_vec_dot(from, to)), nearest = HS_PI;
        if (whole > 3.1 || whole < 1e-3)
            continue;
        for (int k = 0; k <= STEPS; k++) {
            double t = (double)k / STEPS;
            struct hs_vec on =
                hs_vec_add_scaled(hs_vec_scale(from, sin((1 - t) * whole)), to, sin(t * whole));
            nearest = fmin(nearest, hs_angle_between(direction, normal_of(on)));
        }
        double angle = hs_angle_to_arc(direction, from, to);
        ck_assert_msg(angle <= nearest + 1e-12 && angle > nearest - whole / STEPS,
                      "%.12g, found %.12g", angle, nearest);
    }
}
END_TEST

/* An arc that is almost a point gives a valid angle. */
START_TEST(a_tiny_arc_has_the_angle_of_its_end)
{
    struct hs_random random = hs_random_start(hs_test_seed(20250403), 200);
    for (double tiny = 1e-17; tiny < 1e-3; tiny *= 2) {
        struct hs_vec from = hs_random_direction(&random), side = hs_random_direction(&random);
        struct hs_vec to = normal_of(hs_vec_add_scaled(from, side, tiny));
        struct hs_vec direction = hs_random_direction(&random);
        ck_assert_double_eq_tol(hs_angle_to_arc(direction, from, to),
                                hs_angle_between(direction, from), tiny + 1e-7);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("angle");
    TCase *tcase = tcase_create("angle");
    tcase_add_test(tcase, angles_between_directions_equal_those_of_libm);
    tcase_add_test(tcase, tiny_angles_and_nearly_opposite_ones);
    tcase_add_loop_test(tcase, angles_of_random_directions_equal_those_of_libm, 0, 5);
    tcase_add_loop_test(tcase, angles_to_arcs_equal_those_by_hand, 0, ARCS);
    tcase_add_loop_test(tcase, no_point_of_an_arc_is_nearer_than_the_angle, 0, 10);
    tcase_add_test(tcase, a_tiny_arc_has_the_angle_of_its_end);
    suite_add_tcase(suite, tcase);
    printf("angle: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(20250403));
    return hs_run_suite(suite);
}
