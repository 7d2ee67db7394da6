/*
 * Properties of every swept-sphere test: the same case moved, turned, scaled, from the other end or
 * in pieces has the same answer.
 * The test runs HS_PROPERTY_CASES cases per property and shape (50,000) from HS_SEED.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/oracle/sweep_cases.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/quat.h"

#define DEFAULT_SEED  20240608u
#define DEFAULT_CASES 50000

/* Prints the case and fails. */
#define HOLDS(condition, c)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            hs_sweep_case_print(stdout, c);                                                        \
            ck_abort_msg("does not hold: %s", #condition);                                         \
        }                                                                                          \
    } while (0)

typedef void property(struct hs_random *random, const struct hs_sweep_case *c);

/* Checks a property for many cases of one shape. The shape's centre is at the origin, where the
   arithmetic is exact. A property that moves the shape chooses how far. */
static void for_all(int kind, uint64_t stream, property *holds)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES);
    struct hs_random random =
        hs_random_start(hs_test_seed(DEFAULT_SEED), stream * HS_REFERENCE_KINDS + (uint64_t)kind);
    for (long i = 0; i < cases; i++) {
        struct hs_sweep_case c;
        hs_sweep_case_draw(&random, (enum hs_reference_kind)kind, &c);
        c.sweep.start = hs_vec_sub(c.sweep.start, c.shape.center);
        c.shape.center = c.solid.center = (struct hs_vec){0, 0, 0};
        holds(&random, &c);
    }
}

static struct hs_sweep_contact ask(const struct hs_sweep *sweep, const struct hs_solid *solid)
{
    struct hs_sweep_contact contact;
    hs_sweep_solid(sweep, solid, &contact);
    return contact;
}

static double slack_of(const struct hs_sweep_case *c)
{
    return HS_TOUCH_SLACK * (c->sweep.length + c->sweep.radius + c->solid.radius);
}

/* Returns the rounding error of a length in the case. */
static double rounding_of(const struct hs_sweep_case *c)
{
    return 1e-10 * c->metre + 1e-14 * c->sweep.length;
}

/* Returns whether rounding could turn a hit into a miss. */
static bool is_undecided(const struct hs_sweep_case *c, double gap)
{
    double slack = slack_of(c), rounding = rounding_of(c);
    return gap > slack / 4 - rounding && gap < slack * 4 + rounding;
}

/* Compares two answers that must be equal. Near tangency only the gap is exact enough. */
static void same_answer(const struct hs_sweep_case *c, const struct hs_sweep_contact *a,
                        const struct hs_sweep_contact *b)
{
    HOLDS(fabs(a->gap - b->gap) <= rounding_of(c), c);
    if (is_undecided(c, a->gap))
        return;
    HOLDS(a->touched == b->touched, c);
    double unit = fmin(c->metre, c->sweep.length);
    if (a->touched && a->gap < -1e-4 * unit)
        HOLDS(fabs(a->distance - b->distance) <= 1e-3 * unit + rounding_of(c), c);
}

static void moved(struct hs_random *random, const struct hs_sweep_case *c)
{
    double far = 1e4 * c->metre;
    struct hs_vec by = {hs_random_between(random, -far, far), hs_random_between(random, -far, far),
                        hs_random_between(random, -far, far)};
    struct hs_sweep sweep = c->sweep;
    struct hs_solid solid = c->solid;
    sweep.start = hs_vec_add(sweep.start, by);
    solid.center = hs_vec_add(solid.center, by);
    struct hs_sweep_contact here = ask(&c->sweep, &c->solid), there = ask(&sweep, &solid);
    same_answer(c, &here, &there);
}

static struct hs_vec turn(const struct hs_vec axes[3], struct hs_vec v)
{
    struct hs_vec out = hs_vec_scale(axes[0], v.x);
    out = hs_vec_add_scaled(out, axes[1], v.y);
    return hs_vec_add_scaled(out, axes[2], v.z);
}

static void turned(struct hs_random *random, const struct hs_sweep_case *c)
{
    struct hs_vec axes[3];
    hs_random_axes(random, axes);
    struct hs_sweep sweep = c->sweep;
    struct hs_solid solid = c->solid;
    sweep.start = turn(axes, sweep.start);
    sweep.direction = turn(axes, sweep.direction);
    solid.axis_aligned = false;
    for (int i = 0; i < 3; i++)
        solid.axes[i] = turn(axes, solid.axes[i]);
    struct hs_sweep_contact here = ask(&c->sweep, &c->solid), there = ask(&sweep, &solid);
    same_answer(c, &here, &there);
}

static void scale_case(struct hs_sweep *sweep, struct hs_solid *solid, double by)
{
    sweep->start = hs_vec_scale(sweep->start, by);
    sweep->length *= by;
    sweep->radius *= by;
    solid->half_extents = hs_vec_scale(solid->half_extents, by);
    solid->radius *= by;
}

/* Multiplying by a power of two changes no digit, so no result may depend on the unit of length. */
static void scaled(struct hs_random *random, const struct hs_sweep_case *c)
{
    double by = ldexp(1.0, hs_random_index(random, 61) - 30);
    struct hs_sweep sweep = c->sweep;
    struct hs_solid solid = c->solid;
    scale_case(&sweep, &solid, by);
    struct hs_sweep_contact a = ask(&c->sweep, &c->solid), b = ask(&sweep, &solid);
    HOLDS(a.touched == b.touched, c);
    HOLDS(b.distance == a.distance * by, c);
    HOLDS(b.gap == a.gap * by, c);
    HOLDS(b.gap_distance == a.gap_distance * by, c);
    HOLDS(b.normal.x == a.normal.x && b.normal.y == a.normal.y && b.normal.z == a.normal.z, c);
}

static void reversed(struct hs_random *random, const struct hs_sweep_case *c)
{
    (void)random;
    struct hs_sweep back = c->sweep;
    back.start = hs_vec_add_scaled(back.start, back.direction, back.length);
    back.direction = hs_vec_scale(back.direction, -1);
    struct hs_sweep_contact a = ask(&c->sweep, &c->solid), b = ask(&back, &c->solid);
    HOLDS(fabs(a.gap - b.gap) <= rounding_of(c), c);
    if (is_undecided(c, a.gap))
        return;
    HOLDS(a.touched == b.touched, c);
    /* The path is inside between the first contacts from its two ends, so these do not overlap. */
    if (a.touched && a.gap < -1e-4 * c->metre)
        HOLDS(a.distance + b.distance <= c->sweep.length + rounding_of(c), c);
}

/* Mirroring the frame of the body along an axis does not change the body. */
static void mirrored(struct hs_random *random, const struct hs_sweep_case *c)
{
    struct hs_solid solid = c->solid;
    solid.axis_aligned = false;
    for (int i = 0; i < 3; i++) {
        if (hs_random_chance(random, 0.5))
            solid.axes[i] = hs_vec_scale(solid.axes[i], -1);
    }
    struct hs_sweep_contact a = ask(&c->sweep, &c->solid), b = ask(&c->sweep, &solid);
    same_answer(c, &a, &b);
}

/* q and -q are the same rotation, so the body is the same. */
static void turned_by_minus_q(struct hs_random *random, const struct hs_sweep_case *c)
{
    struct hs_vec axis = hs_random_direction(random);
    double half_angle = hs_random_between(random, -3.2, 3.2);
    float q[4] = {(float)(axis.x * sin(half_angle)), (float)(axis.y * sin(half_angle)),
                  (float)(axis.z * sin(half_angle)), (float)cos(half_angle)};
    float minus_q[4] = {-q[0], -q[1], -q[2], -q[3]};
    struct hs_solid a = c->solid, b = c->solid;
    a.axis_aligned = b.axis_aligned = false;
    hs_quat_axes(q, a.axes);
    hs_quat_axes(minus_q, b.axes);
    struct hs_sweep_contact from_q = ask(&c->sweep, &a), from_minus_q = ask(&c->sweep, &b);
    HOLDS(from_q.touched == from_minus_q.touched, c);
    HOLDS(from_q.distance == from_minus_q.distance, c);
    HOLDS(from_q.gap == from_minus_q.gap, c);
}

static void short_form_agrees(struct hs_random *random, const struct hs_sweep_case *c)
{
    (void)random;
    const double unset = -12345;
    double distance = unset;
    struct hs_sweep_contact contact = ask(&c->sweep, &c->solid);
    bool touched = hs_sweep_touches(&c->sweep, &c->solid, &distance);
    HOLDS(touched == contact.touched, c);
    HOLDS(distance == (touched ? contact.distance : unset), c);
}

static void grown(struct hs_random *random, const struct hs_sweep_case *c)
{
    double by = c->metre * hs_random_log_between(random, 1e-6, 1);
    struct hs_sweep sweep = c->sweep;
    sweep.radius += by;
    struct hs_solid solid = c->solid;
    solid.radius += by;
    struct hs_sweep_contact before = ask(&c->sweep, &c->solid);
    struct hs_sweep_contact wider[2] = {ask(&sweep, &c->solid), ask(&c->sweep, &solid)};
    for (int i = 0; i < 2; i++) {
        HOLDS(fabs(before.gap - by - wider[i].gap) <= rounding_of(c), c);
        HOLDS(wider[i].touched || !before.touched, c);
        HOLDS(!before.touched || wider[i].distance <= before.distance + rounding_of(c), c);
    }
    /* Swapping the two radii changes nothing. */
    HOLDS(fabs(wider[0].gap - wider[1].gap) <= rounding_of(c), c);
    same_answer(c, &wider[0], &wider[1]);
    solid = c->solid;
    solid.half_extents = hs_vec_add(solid.half_extents, (struct hs_vec){by, by, by});
    struct hs_sweep_contact larger = ask(&c->sweep, &solid);
    HOLDS(larger.gap <= before.gap + rounding_of(c), c);
    if (!is_undecided(c, before.gap))
        HOLDS(larger.touched || !before.touched, c);
}

static void lengthened(struct hs_random *random, const struct hs_sweep_case *c)
{
    struct hs_sweep sweep = c->sweep;
    sweep.length *= 1 + hs_random_unit(random);
    struct hs_sweep_contact before = ask(&c->sweep, &c->solid), after = ask(&sweep, &c->solid);
    HOLDS(after.gap <= before.gap + rounding_of(c), c);
    HOLDS(after.touched || !before.touched, c);
    double unit = fmin(c->metre, c->sweep.length);
    if (before.gap < -1e-4 * unit)
        HOLDS(fabs(after.distance - before.distance) <= 1e-3 * unit + rounding_of(c), c);
}

/* The first contact of the whole path is that of the first piece that has one. */
static void cut_in_two(struct hs_random *random, const struct hs_sweep_case *c)
{
    double cut = hs_random_unit(random) * c->sweep.length;
    struct hs_sweep first = c->sweep, second = c->sweep;
    first.length = cut;
    second.start = hs_vec_add_scaled(second.start, second.direction, cut);
    second.length -= cut;
    struct hs_sweep_contact whole = ask(&c->sweep, &c->solid);
    struct hs_sweep_contact a = ask(&first, &c->solid), b = ask(&second, &c->solid);
    HOLDS(fabs(whole.gap - fmin(a.gap, b.gap)) <= rounding_of(c), c);
    double unit = fmin(c->metre, c->sweep.length);
    if (a.gap > 0 && b.gap < -1e-4 * unit) {
        HOLDS(whole.touched && b.touched, c);
        /* Just before the cut, a touch within the slack of the first piece is nearly the same as a
           touch at the cut. */
        HOLDS(fabs(whole.distance - (cut + b.distance)) <= 1e-3 * unit + rounding_of(c), c);
    } else if (a.gap < -1e-4 * unit) {
        HOLDS(whole.touched && a.touched, c);
        HOLDS(fabs(whole.distance - a.distance) <= 1e-3 * unit + rounding_of(c), c);
    }
}

/* A shape without a turn gives the same bits whether the code turns it or not. */
static void aligned_agrees(struct hs_random *random, const struct hs_sweep_case *c)
{
    (void)random;
    struct hs_solid aligned = c->solid, oriented = c->solid;
    oriented.axes[0] = aligned.axes[0] = (struct hs_vec){1, 0, 0};
    oriented.axes[1] = aligned.axes[1] = (struct hs_vec){0, 1, 0};
    oriented.axes[2] = aligned.axes[2] = (struct hs_vec){0, 0, 1};
    aligned.axis_aligned = true;
    oriented.axis_aligned = false;
    struct hs_sweep_contact a = ask(&c->sweep, &aligned), b = ask(&c->sweep, &oriented);
    HOLDS(a.touched == b.touched && a.distance == b.distance, c);
    HOLDS(a.gap == b.gap && a.gap_distance == b.gap_distance, c);
    HOLDS(a.point.x == b.point.x && a.point.y == b.point.y && a.point.z == b.point.z, c);
    HOLDS(a.normal.x == b.normal.x && a.normal.y == b.normal.y && a.normal.z == b.normal.z, c);
}

/* A move by some length changes the distance by at most that length. The gap of a sweep is the
   smallest distance on its path. */
static void distance_is_consistent(struct hs_random *random, const struct hs_sweep_case *c)
{
    double travel = hs_random_unit(random) * c->sweep.length;
    struct hs_vec there = hs_vec_add_scaled(c->sweep.start, c->sweep.direction, travel);
    double at_start = hs_solid_distance(&c->solid, c->sweep.start);
    double on_the_way = hs_solid_distance(&c->solid, there);
    HOLDS(at_start >= 0 && on_the_way >= 0, c);
    HOLDS(fabs(at_start - on_the_way) <= travel + rounding_of(c), c);
    struct hs_sweep_contact contact = ask(&c->sweep, &c->solid);
    HOLDS(contact.gap <= on_the_way - c->sweep.radius + rounding_of(c), c);
    if (!contact.touched)
        HOLDS(fabs(hs_solid_distance(&c->solid, contact.center) - c->sweep.radius - contact.gap) <=
                  rounding_of(c),
              c);
}

/* Returns a length from almost nothing to far beyond any world. */
static double draw_extreme(struct hs_random *random)
{
    static const double sizes[] = {0,   0,   0,   5e-324, 1e-300, 1e-160, 1e-40, 1e-9,
                                   1.0, 1.0, 2.0, 100.0,  1e7,    4.29e9, 1e12,  1e15};
    return sizes[hs_random_index(random, (int)(sizeof sizes / sizeof *sizes))];
}

static struct hs_vec draw_extreme_vec(struct hs_random *random)
{
    struct hs_vec v = {draw_extreme(random), draw_extreme(random), draw_extreme(random)};
    return hs_random_chance(random, 0.5) ? hs_vec_scale(v, -1) : v;
}

static void always_an_answer(struct hs_random *random, const struct hs_sweep_case *drawn)
{
    struct hs_sweep_case c = *drawn;
    c.sweep.start = draw_extreme_vec(random);
    c.sweep.length = draw_extreme(random);
    c.sweep.radius = draw_extreme(random);
    c.solid.center = hs_random_chance(random, 0.5) ? c.sweep.start : draw_extreme_vec(random);
    c.solid.radius = draw_extreme(random);
    struct hs_vec half = draw_extreme_vec(random);
    c.solid.half_extents = (struct hs_vec){fabs(half.x), fabs(half.y), fabs(half.z)};
    struct hs_sweep_contact got = ask(&c.sweep, &c.solid);
    double distance = got.distance;
    HOLDS(hs_sweep_touches(&c.sweep, &c.solid, &distance) == got.touched, &c);
    HOLDS(distance == got.distance, &c);
    HOLDS(isfinite(got.gap) && isfinite(got.distance), &c);
    HOLDS(got.gap_distance >= 0 && got.gap_distance <= c.sweep.length, &c);
    HOLDS(!got.touched || (got.distance >= 0 && got.distance <= c.sweep.length), &c);
    HOLDS(hs_vec_is_finite(got.center) && hs_vec_is_finite(got.point), &c);
    HOLDS(fabs(hs_vec_length(got.normal) - 1) < 1e-6, &c);
    HOLDS(isfinite(hs_solid_distance(&c.solid, c.sweep.start)), &c);
}

static const struct {
    const char *name;
    property *holds;
} properties[] = {
    {"translation", moved},
    {"rotation", turned},
    {"scaling", scaled},
    {"reversal of the path", reversed},
    {"mirrored frame", mirrored},
    {"q and -q", turned_by_minus_q},
    {"hs_sweep_touches agrees", short_form_agrees},
    {"growing never loses a hit", grown},
    {"lengthening never loses a hit", lengthened},
    {"a path in two pieces", cut_in_two},
    {"axis_aligned is the identity turn", aligned_agrees},
    {"hs_solid_distance agrees", distance_is_consistent},
    {"always an answer", always_an_answer},
};

#define PROPERTIES ((int)(sizeof properties / sizeof *properties))

START_TEST(property_holds)
{
    for (int kind = 0; kind < HS_REFERENCE_KINDS; kind++)
        for_all(kind, (uint64_t)_i, properties[_i].holds);
}
END_TEST

int main(void)
{
    printf("sweep properties: HS_SEED=%llu, %ld cases a property and shape\n",
           (unsigned long long)hs_test_seed(DEFAULT_SEED),
           hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES));
    Suite *suite = suite_create("sweep properties");
    for (int i = 0; i < PROPERTIES; i++) {
        TCase *tcase = tcase_create(properties[i].name);
        tcase_add_loop_test(tcase, property_holds, i, i + 1);
        tcase_set_timeout(tcase, 120);
        suite_add_tcase(suite, tcase);
    }
    return hs_run_suite(suite);
}
