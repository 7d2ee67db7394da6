/*
 * The swept-sphere tests, compared with a slow reference that minimises the distance numerically.
 *
 * The test runs HS_ORACLE_CASES cases per shape (100,000, in .ci/run 1,000,000) from HS_SEED. By
 * contract, hit or miss agrees with the reference, except within 1e-4 m of tangency. The distance
 * of contact agrees within 1e-3 m, and the gap within 1e-4 m. The library promises more, and the
 * test requires it: whether the gap is below the slack (HS_TOUCH_SLACK times the lengths) decides
 * between hit and miss. So only gaps between half of the slack and twice the slack are undecided
 * here. For paths shorter than a metre the tolerances are proportionally smaller.
 */
#include <check.h>
#include <stdio.h>

#include "tests/support/oracle/sweep_cases.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED  20240607u
#define DEFAULT_CASES 100000

struct tally {
    long hits, misses;
    long near;      /* hits so near tangency that their distance of contact is not compared */
    long undecided; /* cases at the edge of the slack */
    double worst_distance, worst_gap;
};

/* The allowed deviations of one case, in its own unit of length. */
struct tolerance {
    double distance; /* travel until contact */
    double gap;
    double near;     /* in cases closer to tangency than this, `distance` is not compared */
    double relative; /* rounding of the differences of positions */
    double rounding; /* rounding of a position far from the origin */
    double slack;    /* the library's slack for touch */
};

static struct tolerance tolerance_of(const struct hs_sweep_case *c)
{
    double unit = fmin(c->metre, c->sweep.length);
    double far =
        fmax(fabs(c->shape.center.x), fmax(fabs(c->shape.center.y), fabs(c->shape.center.z)));
    double relative = 1e-11 * c->metre + 2e-15 * c->sweep.length;
    return (struct tolerance){.distance = 1e-3 * unit + relative,
                              .gap = 1e-4 * unit + relative,
                              .near = 1e-4 * unit,
                              .relative = relative,
                              .rounding = relative + 2e-15 * far,
                              .slack = HS_TOUCH_SLACK *
                                       (c->sweep.length + c->sweep.radius + c->solid.radius)};
}

/* Returns the gap as the library defines it. Inside the core of the solid (a box without its
   radius, or the segment of a capsule) the gap has its smallest value. */
static double expected_gap(const struct hs_sweep_case *c, double gap)
{
    return fmax(gap, -c->solid.radius - c->sweep.radius);
}

/*
 * Checks that position, touched point and normal are consistent with each other and with the true
 * surface.
 */
static const char *check_place(const struct hs_sweep_case *c, const struct tolerance *t,
                               const struct hs_sweep_contact *got)
{
    double travel = got->touched ? got->distance : got->gap_distance;
    struct hs_vec center = hs_vec_add_scaled(c->sweep.start, c->sweep.direction, travel);
    if (!(hs_vec_distance(center, got->center) <= t->rounding))
        return "center is not on the path";
    double outside = hs_reference_distance(&c->shape, got->center);
    if (!(fabs(hs_vec_distance(got->center, got->point) - fabs(outside)) <= 10 * t->rounding))
        return "point is not the nearest of the surface";
    if (!(fabs(hs_reference_distance(&c->shape, got->point)) <= 10 * t->rounding))
        return "point is not on the surface";
    if (!(fabs(hs_vec_length(got->normal) - 1.0) <= 1e-9))
        return "normal is not a unit vector";
    /* The normal points outwards: a step along the normal increases the distance to the convex body
       by the step's full length. */
    struct hs_vec off = hs_vec_add_scaled(got->point, got->normal, c->metre);
    if (!(fabs(hs_reference_distance(&c->shape, off) - c->metre) <= 1e-6 * c->metre))
        return "normal does not point straight out of the surface";
    return NULL;
}

static const char *check_gap(const struct hs_sweep_case *c, const struct tolerance *t,
                             const struct hs_reference_result *want,
                             const struct hs_sweep_contact *got, struct tally *tally)
{
    double error = fabs(got->gap - expected_gap(c, want->gap));
    if (!(error <= t->gap))
        return "gap differs";
    tally->worst_gap = fmax(tally->worst_gap, error / c->metre);
    if (!(got->gap_distance >= 0 && got->gap_distance <= c->sweep.length))
        return "gap_distance is not on the path";
    double there = hs_reference_distance_at(&c->shape, &c->sweep, got->gap_distance);
    if (!(fabs(expected_gap(c, there - c->sweep.radius) - got->gap) <= t->gap))
        return "the gap at gap_distance is another one";
    return NULL;
}

static const char *check_touch(const struct hs_sweep_case *c, const struct tolerance *t,
                               const struct hs_reference_result *want,
                               const struct hs_sweep_contact *got, struct tally *tally)
{
    if (want->gap <= t->slack / 2 - t->relative) {
        if (!got->touched)
            return "missed a touch";
    } else if (want->gap >= 2 * t->slack + t->relative) {
        if (got->touched)
            return "touched at a gap";
    } else {
        tally->undecided++;
        return NULL;
    }
    tally->hits += got->touched;
    tally->misses += !got->touched;
    bool near = want->gap >= -t->near && want->gap <= fmax(t->near, 2 * t->slack);
    tally->near += near;
    if (!got->touched)
        return NULL;
    if (!(got->distance >= 0 && got->distance <= c->sweep.length))
        return "distance is not on the path";
    double apart = hs_reference_distance(&c->shape, got->center) - c->sweep.radius;
    if (!(apart <= fmax(t->gap, 2 * t->slack)))
        return "no touch at the distance of contact";
    if (near)
        return NULL;
    if (want->distance > 0 && !(apart >= -t->gap - t->rounding))
        return "deep inside at the distance of contact";
    double error = fabs(got->distance - want->distance);
    if (!(error <= t->distance))
        return "distance of contact differs";
    tally->worst_distance = fmax(tally->worst_distance, error / c->metre);
    return NULL;
}

static const char *check_case(const struct hs_sweep_case *c, struct hs_reference_result *want,
                              struct hs_sweep_contact *got, struct tally *tally)
{
    struct tolerance t = tolerance_of(c);
    hs_reference_sweep(&c->shape, &c->sweep, want);
    hs_sweep_solid(&c->sweep, &c->solid, got);
    const char *wrong = check_touch(c, &t, want, got, tally);
    if (wrong == NULL)
        wrong = check_gap(c, &t, want, got, tally);
    if (wrong == NULL)
        wrong = check_place(c, &t, got);
    if (wrong != NULL)
        return wrong;
    double away = hs_solid_distance(&c->solid, c->sweep.start);
    double reference = fmax(0, hs_reference_distance(&c->shape, c->sweep.start));
    return fabs(away - reference) <= t.rounding ? NULL : "hs_solid_distance differs";
}

static void report(const struct hs_sweep_case *c, const struct hs_reference_result *want,
                   const struct hs_sweep_contact *got, const char *wrong, long index)
{
    printf("case %ld: %s\n", index, wrong);
    hs_sweep_case_print(stdout, c);
    printf("/* reference: overlaps %d distance %.17g gap %.17g at %.17g\n", want->overlaps,
           want->distance, want->gap, want->gap_distance);
    printf("   library: touched %d distance %.17g gap %.17g at %.17g\n", got->touched,
           got->distance, got->gap, got->gap_distance);
    printf("   center %.17g %.17g %.17g point %.17g %.17g %.17g normal %.17g %.17g %.17g */\n",
           got->center.x, got->center.y, got->center.z, got->point.x, got->point.y, got->point.z,
           got->normal.x, got->normal.y, got->normal.z);
    fflush(stdout);
}

START_TEST(agrees_with_the_reference)
{
    enum hs_reference_kind kind = (enum hs_reference_kind)_i;
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long cases = hs_test_count("HS_ORACLE_CASES", DEFAULT_CASES), wrong = 0;
    struct hs_random random = hs_random_start(seed, (uint64_t)kind);
    struct tally tally = {0};
    printf("sweep oracle, %s: HS_SEED=%llu, %ld cases\n", hs_reference_kind_name(kind),
           (unsigned long long)seed, cases);
    for (long i = 0; i < cases; i++) {
        struct hs_sweep_case c;
        struct hs_reference_result want;
        struct hs_sweep_contact got;
        hs_sweep_case_draw(&random, kind, &c);
        const char *message = check_case(&c, &want, &got, &tally);
        if (message != NULL && wrong++ < 5)
            report(&c, &want, &got, message, i);
    }
    printf("  %ld hits, %ld misses, %ld undecided; %ld near tangency; worst error: distance %.2g m,"
           " gap %.2g m\n",
           tally.hits, tally.misses, tally.undecided, tally.near, tally.worst_distance,
           tally.worst_gap);
    fflush(stdout);
    ck_assert_msg(wrong == 0, "%ld of %ld cases disagree", wrong, cases);
    /* Min numbers of interesting cases. If they are not reached, the generator is wrong. */
    ck_assert_int_ge(tally.hits * 5, cases);
    ck_assert_int_ge(tally.misses * 5, cases);
    ck_assert_int_lt((tally.near + tally.undecided) * 100, cases * 15);
}
END_TEST

/* The contact with a sphere has a formula. The reference does not use it, but must agree with
   it. */
START_TEST(reference_agrees_with_the_formula_of_the_sphere)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 100);
    long compared = 0;
    for (long i = 0; i < 20000; i++) {
        struct hs_sweep_case c;
        struct hs_reference_result got;
        hs_sweep_case_draw(&random, HS_REFERENCE_SPHERE, &c);
        hs_reference_sweep(&c.shape, &c.sweep, &got);
        struct hs_vec from = hs_vec_sub(c.shape.center, c.sweep.start);
        double along = hs_vec_dot(from, c.sweep.direction);
        double nearest = fmin(fmax(along, 0), c.sweep.length);
        double reach = c.sweep.radius + c.shape.radius;
        struct hs_vec miss = hs_vec_add_scaled(from, c.sweep.direction, -nearest);
        double gap = hs_vec_length(miss) - reach;
        double rounding = 1e-11 * (c.metre + c.sweep.length);
        ck_assert_msg(fabs(gap - got.gap) <= rounding, "case %ld: gap %.17g, formula %.17g", i,
                      got.gap, gap);
        if (fabs(gap) < 1e-6 * c.metre)
            continue;
        ck_assert_msg(got.overlaps == (gap <= 0), "case %ld: overlaps %d, gap %.17g", i,
                      got.overlaps, gap);
        if (gap > 0)
            continue;
        struct hs_vec across = hs_vec_add_scaled(from, c.sweep.direction, -along);
        double first = fmax(0, along - sqrt(reach * reach - hs_vec_dot(across, across)));
        ck_assert_msg(fabs(first - got.distance) <= 1e-5 * c.metre,
                      "case %ld: distance %.17g, formula %.17g", i, got.distance, first);
        compared++;
    }
    ck_assert_int_ge(compared, 4000);
}
END_TEST

/* Known distances to each shape, so that no mistake in one shape stays hidden. */
START_TEST(reference_knows_its_shapes)
{
    struct hs_reference_shape sphere = {
        .kind = HS_REFERENCE_SPHERE, .center = {1, 0, 0}, .radius = 0.5};
    ck_assert_double_eq_tol(hs_reference_distance(&sphere, (struct hs_vec){1, 3, 0}), 2.5, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&sphere, (struct hs_vec){1, 0, 0}), -0.5, 1e-15);
    struct hs_reference_shape capsule = {
        .kind = HS_REFERENCE_CAPSULE, .half_segment = {0, 2, 0}, .radius = 1};
    ck_assert_double_eq_tol(hs_reference_distance(&capsule, (struct hs_vec){4, 1, 0}), 3, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&capsule, (struct hs_vec){3, 6, 0}), 4, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&capsule, (struct hs_vec){0, -2, 0}), -1, 1e-15);
    /* The local x axis is along the world's y axis, so the long side (3) is along y. */
    struct hs_reference_shape box = {
        .kind = HS_REFERENCE_BOX, .axes = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}, .half = {3, 1, 2}};
    ck_assert_double_eq_tol(hs_reference_distance(&box, (struct hs_vec){0, 5, 0}), 2, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&box, (struct hs_vec){4, 7, 0}), 5, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&box, (struct hs_vec){0.5, 0, 0}), -0.5, 1e-15);
    box.kind = HS_REFERENCE_ALIGNED_BOX;
    ck_assert_double_eq_tol(hs_reference_distance(&box, (struct hs_vec){5, 0, 0}), 2, 1e-15);
    ck_assert_double_eq_tol(hs_reference_distance(&box, (struct hs_vec){6, 5, 2}), 5, 1e-15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep oracle");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, reference_knows_its_shapes);
    tcase_add_test(reference, reference_agrees_with_the_formula_of_the_sphere);
    tcase_set_timeout(reference, 60);
    suite_add_tcase(suite, reference);
    TCase *oracle = tcase_create("oracle");
    tcase_add_loop_test(oracle, agrees_with_the_reference, 0, HS_REFERENCE_KINDS);
    tcase_set_timeout(oracle, 600);
    suite_add_tcase(suite, oracle);
    return hs_run_suite(suite);
}
