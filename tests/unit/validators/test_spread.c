/* Directions of pellets, compared with the vectors of docs/spread.md and with a second generator
   that uses the C library's functions. The directions are inside the cone, evenly distributed, and
   different for each seed. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/digest.h"
#include "validators/geometry/angle.h"
#include "validators/spread.h"

/* The numbers are written as in the table of docs/spread.md, so that the test can search for them
   in the page. */
static const struct {
    const char *aim, *degrees, *seed, *index, *direction;
} vectors[] = {
    {"0, 0, 1", "4", "0", "0", "-0.042030189384674052, 0.043429947072226076, 0.99817198061135326"},
    {"1, 0, 0", "4", "77", "0", "0.99926391748924415, 0.026632641038700056, -0.027610245115768161"},
    {"1, 0, 0", "4", "77", "1", "0.99907835570595815, -0.040488388636136442, 0.014252352280522351"},
    {"0.6, -0.8, 0", "10", "9007199254740991", "63",
     "0.4848499266387884, -0.87269956364236623, -0.057584896082087653"},
    {"0, 0, -1", "45", "123456789", "7",
     "0.41713865444535142, -0.51010945220909842, -0.75218594093113378"},
};

enum { VECTORS = sizeof vectors / sizeof vectors[0] };

static struct hs_vec parse(const char *text)
{
    double v[3];
    char *end = NULL;
    for (int i = 0; i < 3; i++, text = end + strspn(end, ", "))
        v[i] = strtod(text, &end);
    return (struct hs_vec){v[0], v[1], v[2]};
}

static double radians(double degrees)
{
    return degrees * (HS_PI / 180);
}

/* The results are equal bit by bit, because every operation rounds the same on all platforms. */
START_TEST(the_generator_gives_the_vectors_of_the_page)
{
    struct hs_vec wanted = parse(vectors[_i].direction);
    struct hs_vec got = hs_spread_direction(
        parse(vectors[_i].aim), radians(strtod(vectors[_i].degrees, NULL)),
        strtoull(vectors[_i].seed, NULL, 10), (uint32_t)strtoul(vectors[_i].index, NULL, 10));
    ck_assert_msg(got.x == wanted.x && got.y == wanted.y && got.z == wanted.z,
                  "%.17g, %.17g, %.17g", got.x, got.y, got.z);
}
END_TEST

START_TEST(vectors_are_those_of_the_page)
{
    char *page = hs_test_read_file("docs/spread.md", NULL);
    size_t rows = 0;
    for (int i = 0; i < VECTORS; i++) {
        char row[256];
        snprintf(row, sizeof row, "| %s | %s | %s | %s | %s |\n", vectors[i].aim,
                 vectors[i].degrees, vectors[i].seed, vectors[i].index, vectors[i].direction);
        ck_assert_msg(strstr(page, row) != NULL, "the page has no row %s", row);
    }
    const char *table = strstr(page, "## Vectors");
    ck_assert_ptr_nonnull(table);
    for (const char *at = table; (at = strstr(at, "\n| ")) != NULL; at++)
        rows++;
    ck_assert_uint_eq(rows, VECTORS + 1 /* head of the table */);
    free(page);
}
END_TEST

/* The first outputs of SplitMix64 for seed 1234567, as its authors' program prints them. */
START_TEST(mixing_is_splitmix64)
{
    static const uint64_t wanted[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                      UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                      UINT64_C(16408922859458223821)};
    uint64_t state = 1234567;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        ck_assert(hs_mix64(state) == wanted[i]);
    }
}
END_TEST

START_TEST(sine_and_cosine_are_those_of_the_library)
{
    enum { STEPS = 200000 };
    double worst = 0;
    for (int i = -STEPS; i <= STEPS; i++) {
        double x = 2 * HS_PI * i / STEPS, sine, cosine;
        hs_sine_cosine(x, &sine, &cosine);
        worst = fmax(worst, fmax(fabs(sine - sin(x)), fabs(cosine - cos(x))));
    }
    ck_assert_msg(worst < 1e-15, "off by %g", worst);
}
END_TEST

/* Computes a direction by the algorithm of docs/spread.md, with the C library's functions. */
static struct hs_vec by_the_page(struct hs_vec n, double spread, uint64_t seed, uint32_t index)
{
    uint64_t state = hs_mix64(seed) + hs_mix64((uint64_t)index + 1);
    double u[2];
    for (int i = 0; i < 2; i++) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        u[i] = ldexp((double)(hs_mix64(state) >> 11), -53);
    }
    double off = tan(spread) * sqrt(u[0]), turn = 2 * HS_PI * u[1];
    double sign = signbit(n.z) ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    struct hs_vec b1 = {1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    struct hs_vec b2 = {b, sign + n.y * n.y * a, -n.y};
    struct hs_vec v =
        hs_vec_add_scaled(hs_vec_add_scaled(n, b1, off * cos(turn)), b2, off * sin(turn));
    return hs_vec_scale(v, 1 / hs_vec_length(v));
}

START_TEST(the_page_describes_the_generator)
{
    double worst = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        struct hs_random random = hs_random_start(20260701, i);
        struct hs_vec aim = hs_random_direction(&random);
        double spread = radians(hs_random_between(&random, 0, 80));
        uint64_t seed = (uint64_t)hs_random_between(&random, 0, 9007199254740991.0);
        struct hs_vec got = hs_spread_direction(aim, spread, seed, i % 64);
        worst = fmax(worst, hs_vec_distance(got, by_the_page(aim, spread, seed, i % 64)));
    }
    ck_assert_msg(worst < 2e-15, "off by %g", worst);
}
END_TEST

/* Random aims, and aims along the axes, where a basis is hardest to find. */
START_TEST(pellets_stay_inside_the_cone)
{
    for (uint32_t i = 0; i < 20000; i++) {
        struct hs_random random = hs_random_start(20260702, i);
        struct hs_vec aim = hs_random_direction(&random);
        if (i % 4 == 0) {
            double parts[3] = {0, 0, 0};
            parts[i / 4 % 3] = i / 12 % 2 == 0 ? 1 : -1;
            aim = (struct hs_vec){parts[0], parts[1], parts[2]};
        }
        double degrees = hs_random_between(&random, 0, 80);
        struct hs_vec v = hs_spread_direction(aim, radians(degrees), i, i % 64);
        ck_assert(fabs(hs_vec_length(v) - 1) < 1e-15);
        ck_assert(hs_degrees(hs_angle_between(aim, v)) <= degrees + 1e-12);
    }
}
END_TEST

/*
 * Half of the pellets are in the inner half of the disc's area, and a quarter are in each quadrant.
 */
START_TEST(pellets_are_even_over_the_disc)
{
    enum { PELLETS = 64, SHOTS = 1000, ALL = PELLETS * SHOTS };
    const struct hs_vec aim = {0, 0, 1};
    double whole = tan(radians(10));
    int inner = 0, quarters[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < ALL; i++) {
        struct hs_vec v = hs_spread_direction(aim, radians(10), i / PELLETS, i % PELLETS);
        inner += hypot(v.x / v.z, v.y / v.z) < whole * sqrt(0.5);
        quarters[(v.x < 0) * 2 + (v.y < 0)]++;
    }
    /* The limit is six standard deviations of the binomial distribution. */
    ck_assert_int_le(abs(inner - ALL / 2), (int)(6 * sqrt(ALL * 0.25)));
    for (int i = 0; i < 4; i++)
        ck_assert_int_le(abs(quarters[i] - ALL / 4), (int)(6 * sqrt(ALL * 0.1875)));
}
END_TEST

START_TEST(no_spread_is_straight_on)
{
    struct hs_vec aim = {0.6, 0, -0.8};
    for (uint32_t i = 0; i < 64; i++)
        ck_assert(hs_vec_distance(hs_spread_direction(aim, 0, 77, i), aim) < 1e-15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spread");
    TCase *tcase = tcase_create("spread");
    tcase_add_loop_test(tcase, the_generator_gives_the_vectors_of_the_page, 0, VECTORS);
    tcase_add_test(tcase, vectors_are_those_of_the_page);
    tcase_add_test(tcase, mixing_is_splitmix64);
    tcase_add_test(tcase, sine_and_cosine_are_those_of_the_library);
    tcase_add_test(tcase, the_page_describes_the_generator);
    tcase_add_test(tcase, pellets_stay_inside_the_cone);
    tcase_add_test(tcase, pellets_are_even_over_the_disc);
    tcase_add_test(tcase, no_spread_is_straight_on);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
