/* Sweeps of a sphere against a solid, with results computed by hand. 3-4-5 triangles: a sphere with
   reach 5 at height 3 touches 4 before the nearest point. Corners use 2-3-6-7. At a tangent, the
   nearest point is the foot of the perpendicular. The slack of a touch is 1e-6 x (path + radii). */
#include <check.h>
#include <stdio.h>

#include "tests/support/run_suite.h"
#include "validators/sweep.h"

#define ROOT_HALF 0.70710678118654752440
#define ROOT_2    1.41421356237309504880

/* The macros make each case fit in one or two lines. V is a vector, or three of them. */
#define V(x, y, z)                                                                                 \
    {                                                                                              \
        x, y, z                                                                                    \
    }
#define WORLD V(V(1, 0, 0), V(0, 1, 0), V(0, 0, 1))
/* Axes of a solid turned about z, by a quarter turn (x to y, y to -x) or an eighth. */
#define QUARTER V(V(0, 1, 0), V(-1, 0, 0), V(0, 0, 1))
#define EIGHTH  V(V(ROOT_HALF, ROOT_HALF, 0), V(-ROOT_HALF, ROOT_HALF, 0), V(0, 0, 1))
/* Axes of a lying solid: its z axis is along the world's x. */
#define LYING V(V(0, 1, 0), V(0, 0, 1), V(1, 0, 0))

#define TURNED(turn, x, y, z, a, b, c, r)                                                          \
    {                                                                                              \
        V(x, y, z), turn, V(a, b, c), r, false                                                     \
    }
#define ALIGNED(x, y, z, a, b, c)                                                                  \
    {                                                                                              \
        V(x, y, z), WORLD, V(a, b, c), 0, true                                                     \
    }
#define BALL(x, y, z, r)                                                                           \
    {                                                                                              \
        V(x, y, z), WORLD, V(0, 0, 0), r, false                                                    \
    }
#define CAPSULE(x, y, z, h, r)                                                                     \
    {                                                                                              \
        V(x, y, z), WORLD, V(0, 0, h), r, false                                                    \
    }
#define BOX(x, y, z, a, b, c)                                                                      \
    {                                                                                              \
        V(x, y, z), WORLD, V(a, b, c), 0, false                                                    \
    }

/* A sweep from a start in a direction. The other macros sweep along +x, +z and -z. */
#define SWEEP(start, direction, length, radius)                                                    \
    {                                                                                              \
        start, direction, length, radius                                                           \
    }
#define X(sx, sy, sz, length, r)                                                                   \
    {                                                                                              \
        V(sx, sy, sz), V(1, 0, 0), length, r                                                       \
    }
#define Z(sx, sy, sz, length, r)                                                                   \
    {                                                                                              \
        V(sx, sy, sz), V(0, 0, 1), length, r                                                       \
    }
#define DOWN(sx, sy, sz, length, r)                                                                \
    {                                                                                              \
        V(sx, sy, sz), V(0, 0, -1), length, r                                                      \
    }

#define ROW(name, solid, sweep, touched, distance, gap, point, normal)                             \
    {                                                                                              \
        name, solid, sweep, touched, distance, gap, point, normal                                  \
    }
#define HIT  true
#define MISS false
/* Values that match several results: a gap inside the core is any value up to 0, and a normal may
   be any of several. */
#define OVERLAP -HUGE_VAL
#define ANY     V(0, 0, 0)

struct row {
    const char *name;
    struct hs_solid solid;
    struct hs_sweep sweep;
    bool touched;
    double distance; /* for a miss: travel to the nearest approach */
    double gap;
    struct hs_vec point;
    struct hs_vec normal;
};

/* Far from the origin, positions are exact to nanometres. Elsewhere they are far more exact. */
#define TOLERANCE 1e-9

static const struct row rows[] = {
    /* Sphere of radius 1 around (10,0,0): its near pole is at x = 9. A path through the centre has
       the gap -r. */
    ROW("ray head on", BALL(10, 0, 0, 1), X(0, 0, 0, 20, 0), HIT, 9, -1, V(9, 0, 0), V(-1, 0, 0)),
    ROW("sphere head on", BALL(10, 0, 0, 1), X(0, 0, 0, 20, .5), HIT, 8.5, -1.5, V(9, 0, 0),
        V(-1, 0, 0)),
    /* The reach 3 + 2 at height 3: the touch is 4 before the foot. The point is the centre + 3 x
       normal. */
    ROW("3-4-5", BALL(10, 0, 0, 3), X(0, 3, 0, 20, 2), HIT, 6, -2, V(7.6, 1.8, 0), V(-.8, .6, 0)),
    ROW("3-4-5 a million away", BALL(1e6 + 10, -1e6, 1e6, 3), X(1e6, 3 - 1e6, 1e6, 20, 2), HIT, 6,
        -2, V(1e6 + 7.6, 1.8 - 1e6, 1e6), V(-.8, .6, 0)),
    ROW("3-4-5 in centimetres", BALL(1000, 0, 0, 300), X(0, 300, 0, 2000, 200), HIT, 600, -200,
        V(760, 180, 0), V(-.8, .6, 0)),
    /* The path passes at the height of the reach. Such a tangent is a contact. */
    ROW("tangent", BALL(10, 0, 0, 3), X(0, 5, 0, 20, 2), HIT, 10, 0, V(10, 3, 0), V(0, 1, 0)),
    /* The slack is 1e-6 x 25 = 2.5e-5. So a gap of 1e-5 is a touch at the foot, and 1e-4 is
       none. */
    ROW("within the slack", BALL(10, 0, 0, 3), X(0, 5.00001, 0, 20, 2), HIT, 10, 1e-5, V(10, 3, 0),
        V(0, 1, 0)),
    ROW("past the slack", BALL(10, 0, 0, 3), X(0, 5.0001, 0, 20, 2), MISS, 10, 1e-4, V(10, 3, 0),
        V(0, 1, 0)),
    /* The path starts half a unit from the centre and moves away, so its start is the deepest
       point. */
    ROW("starts inside", BALL(10, 0, 0, 1), X(10.5, 0, 0, 20, 0), HIT, 0, -.5, V(11, 0, 0),
        V(1, 0, 0)),
    ROW("starts touching, leaves", BALL(10, 0, 0, 1), X(11.5, 0, 0, 20, .5), HIT, 0, 0, V(11, 0, 0),
        V(1, 0, 0)),
    ROW("starts behind", BALL(10, 0, 0, 1), X(12, 0, 0, 20, 0), MISS, 0, 1, V(11, 0, 0),
        V(1, 0, 0)),
    ROW("stops short", BALL(10, 0, 0, 1), X(0, 0, 0, 8, 0), MISS, 8, 1, V(9, 0, 0), V(-1, 0, 0)),
    ROW("stops at the surface", BALL(10, 0, 0, 1), X(0, 0, 0, 9, 0), HIT, 9, 0, V(9, 0, 0),
        V(-1, 0, 0)),
    ROW("no travel, touching", BALL(0, 0, 2, 1), X(0, 0, 0, 0, 1), HIT, 0, 0, V(0, 0, 1),
        V(0, 0, -1)),
    ROW("no travel, apart", BALL(0, 0, 3, 1), X(0, 0, 0, 0, 1), MISS, 0, 1, V(0, 0, 2),
        V(0, 0, -1)),
    ROW("ray at a point", BALL(3, 4, 0, 0), SWEEP(V(0, 0, 0), V(.6, .8, 0), 10, 0), HIT, 5, 0,
        V(3, 4, 0), ANY),
    ROW("ray past a point", BALL(3, 4, 0, 0), X(0, 0, 0, 10, 0), MISS, 3, 4, V(3, 4, 0),
        V(0, -1, 0)),
    /* A head of radius 0.15 at (20,3.5), and a bullet of radius 0.05 from the origin. Aimed at the
       centre, the touch is at the distance minus 0.2. Aimed 0.2 (or 0.21) to the side, the line
       passes the centre at 20 x 0.2 / |(20,3.7)| = 0.19666. With a reach of 0.2, the touch is
       root(0.2^2 - 0.19666^2) = 0.03638 before the foot. */
    ROW("head, centre", BALL(20, 3.5, 1.6, .15),
        SWEEP(V(0, 0, 1.6), V(20 / 20.303940504246953, 3.5 / 20.303940504246953, 0), 20.4, .05),
        HIT, 20.303940504246953 - .2, -.2,
        V(20 - .15 * 20 / 20.303940504246953, 3.5 - .15 * 3.5 / 20.303940504246953, 1.6),
        V(-20 / 20.303940504246953, -3.5 / 20.303940504246953, 0)),
    ROW("head, 0.2 aside", BALL(20, 3.5, 1.6, .15),
        SWEEP(V(0, 0, 1.6), V(20 / 20.339370688396432, 3.7 / 20.339370688396432, 0), 20.4, .05),
        HIT, 20.266605408552042, 4 / 20.339370688396432 - .2,
        V(19.946336628876697, 3.640072276342189, 1.6),
        V(-0.35775580748868663, 0.933815175614594, 0)),
    ROW("head, 0.21 aside", BALL(20, 3.5, 1.6, .15),
        SWEEP(V(0, 0, 1.6), V(20 / 20.341192197115685, 3.71 / 20.341192197115685, 0), 20.4, .05),
        MISS, 412.985 / 20.341192197115685, 4.2 / 20.341192197115685 - .2,
        V(20 - .15 * 3.71 / 20.341192197115685, 3.5 + .15 * 20 / 20.341192197115685, 1.6),
        V(-3.71 / 20.341192197115685, 20 / 20.341192197115685, 0)),
    /* Capsule along z around (10,0,0), with the centres of its caps at z = -2 and 2. */
    ROW("capsule, side", CAPSULE(10, 0, 0, 2, 1), X(0, 0, 1, 20, 0), HIT, 9, -1, V(9, 0, 1),
        V(-1, 0, 0)),
    /* The top is at z = 2 + 1. */
    ROW("capsule, from above", CAPSULE(10, 0, 0, 2, 1), DOWN(10, 0, 10, 20, 0), HIT, 7, -1,
        V(10, 0, 3), V(0, 0, 1)),
    /* A 3-4-5 triangle above the upper cap's centre. */
    ROW("capsule, cap", CAPSULE(10, 0, 0, 2, 3), X(0, 0, 5, 20, 2), HIT, 6, -2, V(7.6, 0, 3.8),
        V(-.8, 0, .6)),
    ROW("capsule, cap tangent", CAPSULE(10, 0, 0, 2, 3), X(0, 0, 7, 20, 2), HIT, 10, 0, V(10, 0, 5),
        V(0, 0, 1)),
    ROW("capsule, over the cap", CAPSULE(10, 0, 0, 2, 3), X(0, 0, 7.5, 20, 2), MISS, 10, .5,
        V(10, 0, 5), V(0, 0, 1)),
    /* The path goes along the side at the height of the reach, so it is in contact from z = -2 on.
       The first contact counts. */
    ROW("capsule, slides along", CAPSULE(10, 0, 0, 2, 3), Z(10, 5, -20, 40, 2), HIT, 18, 0,
        V(10, 3, -2), V(0, 1, 0)),
    ROW("capsule, passes along", CAPSULE(10, 0, 0, 2, 3), Z(10, 6, -20, 40, 2), MISS, 18, 1,
        V(10, 3, -2), V(0, 1, 0)),
    /* The same path at height 3: the touch is 4 before the lower cap's centre. */
    ROW("capsule, along, into the cap", CAPSULE(10, 0, 0, 2, 3), Z(10, 3, -20, 40, 2), HIT, 14, -2,
        V(10, 1.8, -4.4), V(0, .6, -.8)),
    ROW("capsule, starts inside", CAPSULE(10, 0, 0, 2, 1), X(9.25, 0, -1, 0, 0), HIT, 0, -.25,
        V(9, 0, -1), V(-1, 0, 0)),
    /* A capsule that lies along x spans 8 to 12, so the path at x = 11.5 touches its side. A
       standing one is missed. */
    ROW("capsule, lying", TURNED(LYING, 10, 0, 0, 0, 0, 2, 1), DOWN(11.5, 0, 10, 20, 0), HIT, 9, -1,
        V(11.5, 0, 1), V(0, 0, 1)),
    ROW("capsule, standing", CAPSULE(10, 0, 0, 2, 1), DOWN(11.5, 0, 10, 20, 0), MISS, 8, .5,
        V(11, 0, 2), V(1, 0, 0)),
    ROW("capsule of no length", CAPSULE(10, 0, 0, 0, 3), X(0, 0, 3, 20, 2), HIT, 6, -2,
        V(7.6, 0, 1.8), V(-.8, 0, .6)),
    ROW("capsule of no radius", CAPSULE(10, 0, 0, 2, 0), X(0, .5, 1, 20, .5), HIT, 10, 0,
        V(10, 0, 1), V(0, 1, 0)),
    /* Box of half extents 1, 2, 3 around (10,0,0): its faces are at x = 9, y = 2, z = 3. */
    ROW("box, face", BOX(10, 0, 0, 1, 2, 3), X(0, 0, 0, 20, 0), HIT, 9, OVERLAP, V(9, 0, 0),
        V(-1, 0, 0)),
    /* A 7-24-25 triangle: the path of 9 along x has the length 9 / 0.96, and climbs 2.625 from y =
       -1.7. */
    ROW("box, ray at a slant", BOX(10, 0, 0, 1, 2, 3), SWEEP(V(0, -1.7, .2), V(.96, .28, 0), 20, 0),
        HIT, 9.375, OVERLAP, V(9, .925, .2), V(-1, 0, 0)),
    ROW("box, face, aligned", ALIGNED(10, 0, 0, 1, 2, 3), X(0, 1, 2, 20, 0), HIT, 9, OVERLAP,
        V(9, 1, 2), V(-1, 0, 0)),
    ROW("box, face, with radius", BOX(10, 0, 0, 1, 2, 3), X(0, 1, 2, 20, .5), HIT, 8.5, OVERLAP,
        V(9, 1, 2), V(-1, 0, 0)),
    /* The path is 0.3 above the edge and its radius is 0.5, so the touch is 0.4 before the edge. */
    ROW("box, edge", BOX(10, 0, 0, 1, 2, 3), X(0, 2.3, 0, 20, .5), HIT, 8.6, -.2, V(9, 2, 0),
        V(-.8, .6, 0)),
    ROW("box, edge tangent", BOX(10, 0, 0, 1, 2, 3), X(0, 2.5, 0, 20, .5), HIT, 9, 0, V(9, 2, 0),
        V(0, 1, 0)),
    /* The path is 0.3 and 0.2 from the corner and its radius is 0.7, so the touch is 0.6 before the
       corner. */
    ROW("box, corner", ALIGNED(10, 0, 0, 1, 2, 3), X(0, 2.3, 3.2, 20, .7), HIT, 8.4,
        -.33944487245360108, V(9, 2, 3), V(-6. / 7, 3. / 7, 2. / 7)),
    /* The path is 0.6 and 0.6 from the corner: root 0.72 is more than the radius 0.7. A box
       enlarged by 0.7 without rounded corners would be hit. */
    ROW("box, past the corner", ALIGNED(10, 0, 0, 1, 2, 3), X(0, 2.6, 3.6, 20, .7), MISS, 9,
        .14852813742385703, V(9, 2, 3), V(0, ROOT_HALF, ROOT_HALF)),
    ROW("box, ray ends at a corner", BOX(0, 0, 0, 1, 1, 1),
        SWEEP(V(-1 - 6, 1 + 3, 1 + 2), V(6. / 7, -3. / 7, -2. / 7), 7, 0), HIT, 7, 0, V(-1, 1, 1),
        ANY),
    /* The path goes through the point (1,1) of the edge, perpendicular to the edge's diagonal. The
       point is 5 from the start. */
    ROW("box, ray touches an edge", BOX(0, 0, 0, 1, 1, 1),
        SWEEP(V(1 - 5 * ROOT_HALF, 1 + 5 * ROOT_HALF, 0), V(ROOT_HALF, -ROOT_HALF, 0), 10, 0), HIT,
        5, 0, V(1, 1, 0), ANY),
    ROW("box, ray in the plane of a face", BOX(10, 0, 0, 1, 2, 3), X(0, 2, 0, 20, 0), HIT, 9, 0,
        V(9, 2, 0), ANY),
    ROW("box, ray over a face", BOX(10, 0, 0, 1, 2, 3), X(0, 2.001, 0, 20, 0), MISS, 9, .001,
        V(9, 2, 0), V(0, 1, 0)),
    /* The faces are at distances of 0.75 (x = 11), 2 and 3. */
    ROW("box, starts inside", BOX(10, 0, 0, 1, 2, 3), X(10.25, 0, 0, 5, 0), HIT, 0, OVERLAP,
        V(11, 0, 0), V(1, 0, 0)),
    ROW("box, starts inside, with radius", BOX(10, 0, 0, 1, 2, 3), X(10, 1.5, 0, 5, .25), HIT, 0,
        OVERLAP, V(10, 2, 0), V(0, 1, 0)),
    ROW("box, starts behind", BOX(10, 0, 0, 1, 2, 3), X(11.5, 0, 0, 9, .25), MISS, 0, .25,
        V(11, 0, 0), V(1, 0, 0)),
    /* After a quarter turn, the half extent of 2 is along x. */
    ROW("box, quarter turn", TURNED(QUARTER, 10, 0, 0, 1, 2, 3, 0), X(0, 0, 0, 20, 0), HIT, 8,
        OVERLAP, V(8, 0, 0), V(-1, 0, 0)),
    /* After an eighth of a turn, an edge points at the start, root 2 from the centre. Half a unit
       beside the edge, the face is half a unit further away. */
    ROW("box, eighth turn, edge", TURNED(EIGHTH, 10, 0, 0, 1, 1, 1, 0), X(0, 0, 0, 20, 0), HIT,
        10 - ROOT_2, OVERLAP, V(10 - ROOT_2, 0, 0), ANY),
    ROW("box, eighth turn, face", TURNED(EIGHTH, 10, 0, 0, 1, 1, 1, 0), X(0, .5, 0, 20, 0), HIT,
        10.5 - ROOT_2, OVERLAP, V(10.5 - ROOT_2, .5, 0), V(-ROOT_HALF, ROOT_HALF, 0)),
    ROW("plate, ray", BOX(5, 0, 0, 0, 1, 1), X(0, .5, 0, 20, 0), HIT, 5, 0, V(5, .5, 0), ANY),
    ROW("plate, sphere", BOX(5, 0, 0, 0, 1, 1), X(0, .5, 0, 20, .5), HIT, 4.5, -.5, V(5, .5, 0),
        V(-1, 0, 0)),
    ROW("plate, past its rim", BOX(5, 0, 0, 0, 1, 1), X(0, 1.1, 0, 20, 0), MISS, 5, .1, V(5, 1, 0),
        V(0, 1, 0)),
    ROW("box of no size", ALIGNED(5, 0, 0, 0, 0, 0), X(0, .3, 0, 20, .5), HIT, 4.6, -.2, V(5, 0, 0),
        V(-.8, .6, 0)),
    /* Rounded by 0.5: the face is at x = 8.5, and the edge is a part of a cylinder of radius
       0.5. */
    ROW("rounded box, face", TURNED(WORLD, 10, 0, 0, 1, 1, 1, .5), X(0, 0, 0, 20, 0), HIT, 8.5,
        OVERLAP, V(8.5, 0, 0), V(-1, 0, 0)),
    ROW("rounded box, edge", TURNED(WORLD, 10, 0, 0, 1, 1, 1, .5), X(0, 1.3, 0, 20, 0), HIT, 8.6,
        -.2, V(8.6, 1.3, 0), V(-.8, .6, 0)),
};

#define ROWS ((int)(sizeof rows / sizeof *rows))

static void ck_vec(const char *row, const char *what, struct hs_vec got, struct hs_vec want)
{
    ck_assert_msg(hs_vec_distance(got, want) <= TOLERANCE,
                  "%s: %s is %.12g %.12g %.12g, not %.12g %.12g %.12g", row, what, got.x, got.y,
                  got.z, want.x, want.y, want.z);
}

static void ck_number(const char *row, const char *what, double got, double want)
{
    ck_assert_msg(fabs(got - want) <= TOLERANCE, "%s: %s is %.15g, not %.15g", row, what, got,
                  want);
}

START_TEST(sweeps_equal_the_results_by_hand)
{
    const struct row *row = &rows[_i];
    struct hs_sweep_contact got;
    hs_sweep_solid(&row->sweep, &row->solid, &got);
    ck_assert_msg(got.touched == row->touched, "%s: touched is %d, gap %.15g", row->name,
                  got.touched, got.gap);
    if (row->touched)
        ck_number(row->name, "distance", got.distance, row->distance);
    else
        ck_number(row->name, "gap_distance", got.gap_distance, row->distance);
    if (row->gap < -1e300)
        ck_assert_msg(got.gap <= 0, "%s: gap is %.15g", row->name, got.gap);
    else
        ck_number(row->name, "gap", got.gap, row->gap);
    ck_vec(row->name, "center", got.center,
           hs_vec_add_scaled(row->sweep.start, row->sweep.direction, row->distance));
    ck_vec(row->name, "point", got.point, row->point);
    ck_number(row->name, "length of the normal", hs_vec_length(got.normal), 1);
    if (hs_vec_length(row->normal) > 0)
        ck_vec(row->name, "normal", got.normal, row->normal);

    double distance = -1;
    ck_assert(hs_sweep_touches(&row->sweep, &row->solid, &distance) == row->touched);
    ck_number(row->name, "distance of the short form", distance, row->touched ? row->distance : -1);
}
END_TEST

/*
 * At the centre of a sphere, every direction is a normal. The answer is one of them.
 */
START_TEST(from_the_centre_a_direction_is_chosen)
{
    const struct hs_solid solids[] = {BALL(1, 2, 3, .5), CAPSULE(1, 2, 3, 2, .5),
                                      ALIGNED(1, 2, 3, .5, .5, .5), BALL(1, 2, 3, 0)};
    const double depths[] = {.5, .5, .5, 0};
    const struct hs_sweep sweep = X(1, 2, 3, 0, .25);
    struct hs_sweep_contact got;
    hs_sweep_solid(&sweep, &solids[_i], &got);
    ck_assert(got.touched);
    ck_number("centre", "distance", got.distance, 0);
    ck_number("centre", "depth", hs_vec_distance(got.point, sweep.start), depths[_i]);
    ck_number("centre", "length of the normal", hs_vec_length(got.normal), 1);
    ck_vec("centre", "point", got.point, hs_vec_add_scaled(sweep.start, got.normal, depths[_i]));
}
END_TEST

START_TEST(distances_to_surfaces_equal_those_by_hand)
{
    const struct {
        struct hs_solid solid;
        struct hs_vec point;
        double distance;
    } cases[] = {
        {BALL(1, 0, 0, 1), V(4, 4, 0), 4},                     /* 3-4-5, minus the radius 1 */
        {BALL(1, 0, 0, 1), V(1.5, 0, 0), 0},                   /* inside */
        {CAPSULE(0, 0, 0, 2, 1), V(3, 0, 6), 4},               /* from the cap's centre (0,0,2) */
        {CAPSULE(0, 0, 0, 2, 1), V(3, 0, -1), 2},              /* from the side */
        {BOX(0, 0, 0, 1, 2, 3), V(7, 5, 5), 7},                /* (6, 3, 2) from the corner */
        {BOX(0, 0, 0, 1, 2, 3), V(.5, -1, 2), 0},              /* inside */
        {TURNED(QUARTER, 0, 0, 0, 1, 2, 3, 0), V(5, 5, 0), 5}, /* corner (2,1): 3-4-5 */
        {TURNED(EIGHTH, 0, 0, 0, 1, 1, 1, 0), V(3, 0, 0), 3 - ROOT_2} /* from the edge */
    };
    ck_assert_int_lt(_i, (int)(sizeof cases / sizeof *cases));
    ck_number("surface", "distance", hs_solid_distance(&cases[_i].solid, cases[_i].point),
              cases[_i].distance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tcase = tcase_create("by hand");
    tcase_add_loop_test(tcase, sweeps_equal_the_results_by_hand, 0, ROWS);
    tcase_add_loop_test(tcase, from_the_centre_a_direction_is_chosen, 0, 4);
    tcase_add_loop_test(tcase, distances_to_surfaces_equal_those_by_hand, 0, 8);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
