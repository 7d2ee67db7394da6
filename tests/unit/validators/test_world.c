/* The world with one triangle or box at a time, and results that need no arithmetic. */
#include "tests/support/run_suite.h"
#include "validators/world.h"

#include "tests/support/oracle/world_cases.h"
#include "validators/geometry/triangle.h"

#include <check.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

static struct hs_test_mesh mesh;
static struct hs_world *world;

static void teardown(void)
{
    hs_world_destroy(world);
    world = NULL;
    hs_test_mesh_free(&mesh);
}

static void build(void)
{
    enum hs_world_fault fault = HS_WORLD_NO_MEMORY;
    world = hs_world_create(&mesh.mesh, NULL, &fault);
    ck_assert_int_eq(fault, HS_WORLD_FINE);
    ck_assert_ptr_nonnull(world);
}

static void add(double ax, double ay, double az, double bx, double by, double bz, double cx,
                double cy, double cz)
{
    uint32_t a = hs_test_mesh_vertex(&mesh, ax, ay, az);
    uint32_t b = hs_test_mesh_vertex(&mesh, bx, by, bz);
    uint32_t c = hs_test_mesh_vertex(&mesh, cx, cy, cz);
    hs_test_mesh_triangle(&mesh, a, b, c);
}

/* A triangle in the plane z = 0. Its right angle is at the origin, and its sides of 4 are along x
   and y. */
static void build_floor(void)
{
    add(0, 0, 0, 4, 0, 0, 0, 4, 0);
    build();
}

static struct hs_sweep path(double ax, double ay, double az, double bx, double by, double bz,
                            double radius)
{
    struct hs_vec along = {bx - ax, by - ay, bz - az};
    double length = hs_vec_length(along);
    return (struct hs_sweep){.start = {ax, ay, az},
                             .direction = hs_vec_scale(along, 1 / length),
                             .length = length,
                             .radius = radius};
}

#define CLOSE 1e-9

static void assert_vec(struct hs_vec got, double x, double y, double z)
{
    ck_assert_msg(hs_vec_distance(got, (struct hs_vec){x, y, z}) <= CLOSE,
                  "%.12g %.12g %.12g instead of %.12g %.12g %.12g", got.x, got.y, got.z, x, y, z);
}

/* Contacts of paths with one triangle of the floor. */
static const struct {
    const char *what;
    double from[3], to[3], radius;
    double distance; /* negative: missed */
    double point[3], normal[3];
} floor_cases[] = {
    {"ray on the face", {1, 1, 5}, {1, 1, -5}, 0, 5, {1, 1, 0}, {0, 0, 1}},
    {"ray on the back", {1, 1, -5}, {1, 1, 5}, 0, 5, {1, 1, 0}, {0, 0, -1}},
    {"ray beside", {3, 3, 5}, {3, 3, -5}, 0, -1, {0}, {0}},
    {"ray too short", {1, 1, 5}, {1, 1, 0.1}, 0, -1, {0}, {0}},
    {"ray away", {1, 1, 5}, {1, 1, 9}, 0, -1, {0}, {0}},
    {"ray on an edge", {2, 0, 5}, {2, 0, -5}, 0, 5, {2, 0, 0}, {0, 0, 1}},
    {"ray on a corner", {0, 0, 5}, {0, 0, -5}, 0, 5, {0, 0, 0}, {0, 0, 1}},
    {"ray just beside an edge", {2, -1e-4, 5}, {2, -1e-4, -5}, 0, -1, {0}, {0}},
    {"ray that ends on the face", {1, 1, 5}, {1, 1, 0}, 0, 5, {1, 1, 0}, {0, 0, 1}},
    {"ray that starts on the face", {1, 1, 0}, {1, 1, 5}, 0, 0, {1, 1, 0}, {0, 0, -1}},
    {"ray in the plane, across", {-3, 1, 0}, {7, 1, 0}, 0, 3, {0, 1, 0}, {0, 0, 1}},
    {"ray in the plane, along an edge", {-3, 0, 0}, {7, 0, 0}, 0, 3, {0, 0, 0}, {0, 0, 1}},
    {"ray in the plane, beside", {-3, -1, 0}, {7, -1, 0}, 0, -1, {0}, {0}},
    {"ray above, parallel", {-3, 1, 1}, {7, 1, 1}, 0, -1, {0}, {0}},
    {"sphere on the face", {1, 1, 5}, {1, 1, -5}, 0.5, 4.5, {1, 1, 0}, {0, 0, 1}},
    {"sphere on the back", {1, 1, -5}, {1, 1, 5}, 0.5, 4.5, {1, 1, 0}, {0, 0, -1}},
    {"sphere on an edge", {2, -0.3, 5}, {2, -0.3, -5}, 0.5, 4.6, {2, 0, 0}, {0, -0.6, 0.8}},
    {"sphere on a corner",
     {-0.3, -0.4, 5},
     {-0.3, -0.4, -5},
     1.3,
     3.8,
     {0, 0, 0},
     {-0.3 / 1.3, -0.4 / 1.3, 1.2 / 1.3}},
    {"sphere past an edge", {2, -0.6, 5}, {2, -0.6, -5}, 0.5, -1, {0}, {0}},
    {"sphere tangent to an edge", {2, -0.5, 5}, {2, -0.5, -5}, 0.5, 5, {2, 0, 0}, {0, -1, 0}},
    {"sphere tangent to a corner",
     {-0.3, -0.4, 5},
     {-0.3, -0.4, -5},
     0.5,
     5,
     {0, 0, 0},
     {-0.6, -0.8, 0}},
    {"sphere that skims the face", {-3, 1, 0.5}, {7, 1, 0.5}, 0.5, 3, {0, 1, 0}, {0, 0, 1}},
    {"sphere over the face", {-3, 1, 0.6}, {7, 1, 0.6}, 0.5, -1, {0}, {0}},
    {"sphere in the plane", {-3, 1, 0}, {7, 1, 0}, 0.5, 2.5, {0, 1, 0}, {-1, 0, 0}},
    {"sphere that starts in the face", {1, 1, 0.2}, {1, 1, 5}, 0.5, 0, {1, 1, 0}, {0, 0, 1}},
    {"sphere that starts on an edge", {2, -0.3, 0}, {2, -5, 0}, 0.5, 0, {2, 0, 0}, {0, -1, 0}},
    {"sphere that starts close", {1, 1, 0.6}, {1, 1, 5}, 0.5, -1, {0}, {0}},
    {"sphere larger than the triangle", {1, 1, 99}, {1, 1, -99}, 50, 49, {1, 1, 0}, {0, 0, 1}},
};

START_TEST(contacts_with_one_triangle_equal_those_by_hand)
{
    build_floor();
    const double *a = floor_cases[_i].from, *b = floor_cases[_i].to;
    struct hs_sweep sweep = path(a[0], a[1], a[2], b[0], b[1], b[2], floor_cases[_i].radius);
    struct hs_world_contact c;
    bool hit = hs_world_sweep(world, &sweep, &c);
    ck_assert_msg(hit == (floor_cases[_i].distance >= 0), "%s", floor_cases[_i].what);
    ck_assert(hs_world_sweep(world, &sweep, NULL) == hit);
    if (!hit)
        return;
    ck_assert_msg(fabs(c.distance - floor_cases[_i].distance) <= CLOSE, "%s: at %.12g",
                  floor_cases[_i].what, c.distance);
    const double *p = floor_cases[_i].point, *n = floor_cases[_i].normal;
    assert_vec(c.point, p[0], p[1], p[2]);
    /* If the path is in the plane of the face, the normal may point to either side. */
    if (n[2] == 1 && a[2] == 0)
        c.normal.z = fabs(c.normal.z);
    assert_vec(c.normal, n[0], n[1], n[2]);
    struct hs_vec center = hs_vec_add_scaled(sweep.start, sweep.direction, c.distance);
    assert_vec(c.center, center.x, center.y, center.z);
    ck_assert_int_eq(c.kind, HS_WORLD_TRIANGLE);
    ck_assert_uint_eq(c.index, 0);
}
END_TEST

/* A gap of up to 1e-6 of the path length counts as touch. A larger gap is no touch. */
START_TEST(touch_is_inclusive_within_the_slack)
{
    build_floor();
    struct hs_sweep inside = path(2, -0.5 - 0.9e-5, 5, 2, -0.5 - 0.9e-5, -5, 0.5);
    struct hs_sweep outside = path(2, -0.5 - 1.2e-5, 5, 2, -0.5 - 1.2e-5, -5, 0.5);
    struct hs_world_contact c;
    ck_assert(hs_world_sweep(world, &inside, &c));
    ck_assert_double_eq_tol(c.distance, 5, 1e-6);
    ck_assert(!hs_world_sweep(world, &outside, &c));
    /* The same slack counts at the end of the path. */
    struct hs_sweep stops = path(1, 1, 5, 1, 1, 0.5 + 4e-6, 0.5);
    ck_assert(hs_world_sweep(world, &stops, &c));
    ck_assert_double_eq(c.distance, stops.length);
    stops = path(1, 1, 5, 1, 1, 0.5 + 6e-6, 0.5);
    ck_assert(!hs_world_sweep(world, &stops, &c));
}
END_TEST

START_TEST(slivers_are_solid)
{
    /* A triangle of a kilometre by a tenth of a millimetre. */
    add(0, 0, 0, 1000, 0, 0, 1000, 1e-4, 0);
    build();
    struct hs_world_info info;
    hs_world_info(world, &info);
    ck_assert_uint_eq(info.degenerate, 0);
    struct hs_world_contact c;
    struct hs_sweep ray = path(700, 3.5e-5, 5, 700, 3.5e-5, -5, 0);
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_double_eq_tol(c.distance, 5, CLOSE);
    struct hs_sweep sphere = path(700, 0.3, 5, 700, 0.3, -5, 0.5);
    ck_assert(hs_world_sweep(world, &sphere, &c));
    ck_assert_double_eq_tol(c.distance, 4.6, 1e-4);
    struct hs_sweep tip = path(-0.3, 0, 5, -0.3, 0, -5, 0.5);
    ck_assert(hs_world_sweep(world, &tip, &c));
    ck_assert_double_eq_tol(c.distance, 4.6, CLOSE);
    struct hs_sweep beyond = path(-1e-3, 0, 5, -1e-3, 0, -5, 0);
    ck_assert(!hs_world_sweep(world, &beyond, &c));
}
END_TEST

START_TEST(degenerate_triangles_are_skipped_and_counted)
{
    add(0, 0, 0, 1, 1, 1, 2, 2, 2);         /* a line */
    add(5, 5, 5, 5, 5, 5, 5, 5, 5);         /* a point */
    add(0, 0, 0, 4, 0, 0, 0, 4, 0);         /* a triangle */
    hs_test_mesh_triangle(&mesh, 6, 7, 6);  /* two equal corners */
    add(0, 0, 9, 1000, 0, 9, 500, 1e-9, 9); /* narrower than the rounding error */
    build();
    struct hs_world_info info;
    hs_world_info(world, &info);
    ck_assert_uint_eq(info.triangles, 5);
    ck_assert_uint_eq(info.degenerate, 4);
    struct hs_sweep ray = path(0.5, 0.5, 5, 0.5, 0.5, -5, 0);
    struct hs_world_contact c;
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_uint_eq(c.index, 2);
    assert_vec(info.min, 0, 0, 0);
    assert_vec(info.max, 4, 4, 0);
}
END_TEST

START_TEST(boxes_are_solid)
{
    hs_test_mesh_box(&mesh, (struct hs_vec){10, -1, -1}, (struct hs_vec){12, 1, 1});
    hs_test_mesh_box(&mesh, (struct hs_vec){20, -1, 0}, (struct hs_vec){22, 1, 0}); /* flat */
    build();
    struct hs_world_contact c;
    struct hs_sweep ray = path(0, 0, 0.5, 30, 0, 0.5, 0);
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_double_eq_tol(c.distance, 10, CLOSE);
    ck_assert_int_eq(c.kind, HS_WORLD_BOX);
    ck_assert_uint_eq(c.index, 0);
    assert_vec(c.point, 10, 0, 0.5);
    assert_vec(c.normal, -1, 0, 0);
    struct hs_sweep corner = path(11, 1.3, 9, 11, 1.3, -9, 0.5);
    ck_assert(hs_world_sweep(world, &corner, &c));
    ck_assert_double_eq_tol(c.distance, 7.6, CLOSE);
    assert_vec(c.normal, 0, 0.6, 0.8);
    struct hs_sweep within = path(11, 0, 0, 30, 0, 0, 0.1);
    ck_assert(hs_world_sweep(world, &within, &c));
    ck_assert_double_eq(c.distance, 0);
    struct hs_sweep flat = path(21, 0, 5, 21, 0, -5, 0);
    ck_assert(hs_world_sweep(world, &flat, &c));
    ck_assert_double_eq_tol(c.distance, 5, CLOSE);
    ck_assert_uint_eq(c.index, 1);
}
END_TEST

START_TEST(ties_go_to_triangles_then_to_the_lower_index)
{
    hs_test_mesh_box(&mesh, (struct hs_vec){-9, -9, -1}, (struct hs_vec){9, 9, 0});
    add(50, 50, 50, 51, 50, 50, 50, 51, 50);
    for (int i = 0; i < 40; i++)
        add(0, 0, 0, 4, 0, 0, 0, 4, 0);
    build();
    struct hs_world_contact c;
    struct hs_sweep ray = path(1, 1, 5, 1, 1, -5, 0);
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_int_eq(c.kind, HS_WORLD_TRIANGLE);
    ck_assert_uint_eq(c.index, 1);
    /* The order is the same if all are touched at the start. */
    struct hs_sweep within = path(1, 1, 0.1, 1, 1, 5, 0.5);
    ck_assert(hs_world_sweep(world, &within, &c));
    ck_assert_double_eq(c.distance, 0);
    ck_assert_uint_eq(c.index, 1);
}
END_TEST

START_TEST(the_nearest_of_many_triangles_is_found)
{
    for (int i = 0; i < 100; i++)
        add(0, 0, -i, 9, 0, -i, 0, 9, -i);
    build();
    for (int i = 0; i < 100; i++) {
        struct hs_sweep down = path(1, 1, 0.5 - i, 1, 1, -200, 0.1);
        struct hs_world_contact c;
        ck_assert(hs_world_sweep(world, &down, &c));
        ck_assert_uint_eq(c.index, (unsigned)i);
        ck_assert_double_eq_tol(c.distance, 0.4, CLOSE);
    }
}
END_TEST

START_TEST(a_segment_is_blocked_if_it_touches_a_triangle)
{
    build_floor();
    struct hs_vec above = {1, 1, 2}, below = {1, 1, -2}, aside = {9, 9, -2}, on = {1, 1, 0};
    ck_assert(hs_world_blocks(world, above, below));
    ck_assert(!hs_world_blocks(world, above, aside));
    ck_assert(!hs_world_blocks(world, above, above));
    ck_assert(hs_world_blocks(world, on, on));
    ck_assert(hs_world_blocks(world, above, on));
}
END_TEST

START_TEST(a_path_without_length_touches_within_its_radius)
{
    build_floor();
    struct hs_world_contact c;
    struct hs_sweep still = {.start = {1, 1, 0.3}, .direction = {1, 0, 0}, .radius = 0.5};
    ck_assert(hs_world_sweep(world, &still, &c));
    ck_assert_double_eq(c.distance, 0);
    still.radius = 0.2;
    ck_assert(!hs_world_sweep(world, &still, &c));
}
END_TEST

START_TEST(an_empty_mesh_is_a_world_without_contacts)
{
    build();
    struct hs_sweep ray = path(0, 0, 5, 0, 0, -5, 1);
    struct hs_world_contact c;
    ck_assert(!hs_world_sweep(world, &ray, &c));
    struct hs_world_info info;
    hs_world_info(world, &info);
    ck_assert_uint_eq(info.triangles + info.boxes + info.degenerate, 0);
    assert_vec(info.min, 0, 0, 0);
    ck_assert_uint_gt(info.bytes, 0);
    hs_world_destroy(NULL);
}
END_TEST

/* The places of these boxes differ by less than the smallest normal float. Sanitizers end the
   program if the build converts a number to an integer that is too large for it. */
START_TEST(boxes_may_be_closer_than_floats_can_tell)
{
    enum { COUNT = 6 };
    struct hs_world_box boxes[COUNT];
    for (int i = 0; i < COUNT; i++)
        boxes[i].min = boxes[i].max = (struct hs_vec){2e-39 * i, 0, 0};
    const struct hs_world_mesh close = {.boxes = boxes, .box_count = COUNT};
    world = hs_world_create(&close, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    struct hs_world_contact c;
    struct hs_sweep ray = path(0, 0, 1, 0, 0, -1, 0);
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_uint_eq(c.index, 0);
}
END_TEST

START_TEST(bad_meshes_are_refused)
{
    enum hs_world_fault fault = HS_WORLD_FINE;
    add(0, 0, 0, 4, 0, 0, 0, 4, 0);
    mesh.triangles[0][2] = 3;
    ck_assert_ptr_null(hs_world_create(&mesh.mesh, NULL, &fault));
    ck_assert_int_eq(fault, HS_WORLD_BAD_TRIANGLE);
    mesh.triangles[0][2] = 2;
    mesh.vertices[1].y = (double)NAN;
    ck_assert_ptr_null(hs_world_create(&mesh.mesh, NULL, &fault));
    ck_assert_int_eq(fault, HS_WORLD_BAD_VERTEX);
    mesh.vertices[1].y = 2e12;
    ck_assert_ptr_null(hs_world_create(&mesh.mesh, NULL, NULL));
    mesh.vertices[1].y = 0;
    hs_test_mesh_box(&mesh, (struct hs_vec){0, 1, 0}, (struct hs_vec){1, 0, 1});
    ck_assert_ptr_null(hs_world_create(&mesh.mesh, NULL, &fault));
    ck_assert_int_eq(fault, HS_WORLD_BAD_BOX);
    mesh.boxes[0].min.y = 0;
    build();
}
END_TEST

enum { ODD_MESH = 3 }; /* all triangles of this mesh are at one place */

/* Meshes that fill their groups completely or partly, boxes, and nearly empty meshes. */
static void fill_mesh(int kind)
{
    struct hs_random random = hs_random_start(7, (uint64_t)kind);
    if (kind == 0)
        hs_test_mesh_terrain(&mesh, &random, 60, 100, 10);
    else if (kind == 1)
        hs_test_mesh_soup(&mesh, &random, 5000, 100, 30);
    else if (kind == 2)
        hs_test_mesh_corridors(&mesh, &random, 30, 100, true);
    for (int i = 0; kind == ODD_MESH && i < 3000; i++)
        add(0, 0, 0, 4, 0, 0, 0, 4, 0);
    for (int i = 0; kind == 4 && i < 3000; i++)
        add(i * i, 0, 0, i * i + 1, 0, 0, i * i, 1, i % 7);
    if (kind == 5)
        add(0, 0, 0, 4, 0, 0, 0, 4, 0);
}

/* A build stops before it exceeds its memory limit. No mesh needs more than hs_world_build_bytes
   with `any`, and usual meshes need no more than without it. */
START_TEST(a_build_stays_within_its_memory_limit)
{
    enum hs_world_fault fault;
    fill_mesh(_i);
    struct hs_world_limits limits = {.max_bytes = hs_world_build_bytes(&mesh.mesh, true)};
    world = hs_world_create_within(&mesh.mesh, NULL, &limits, &fault);
    ck_assert_ptr_nonnull(world);
    struct hs_world_info info;
    hs_world_info(world, &info);
    ck_assert_uint_le(info.bytes, limits.max_bytes);
    limits.max_bytes = info.bytes;
    ck_assert_ptr_null(hs_world_create_within(&mesh.mesh, NULL, &limits, &fault));
    ck_assert_int_eq(fault, HS_WORLD_TOO_LARGE);
    hs_world_destroy(world);
    limits.max_bytes = hs_world_build_bytes(&mesh.mesh, false);
    world = hs_world_create_within(&mesh.mesh, NULL, &limits, &fault);
    ck_assert_int_eq(world != NULL, _i != ODD_MESH);
}
END_TEST

/* Counts down the calls until the build must stop. */
static bool count_down(void *context)
{
    int *calls = context;
    return --*calls == 0;
}

/* A build asks many times, stops at the first call that wants it, and asks no more then. */
START_TEST(builds_can_be_stopped)
{
    enum { SIDE = 150, MANY = 1000000, LEAST_CALLS = 5 };
    int calls = MANY;
    enum hs_world_fault fault;
    const struct hs_world_limits limits = {SIZE_MAX, count_down, &calls};
    for (int i = 0; i < SIDE * SIDE; i++)
        add(i % SIDE, i / SIDE, 0, i % SIDE + 1, i / SIDE, 0, i % SIDE, i / SIDE + 1, 0);
    world = hs_world_create_within(&mesh.mesh, NULL, &limits, &fault);
    ck_assert_ptr_nonnull(world);
    int asked = MANY - calls;
    ck_assert_int_ge(asked, LEAST_CALLS);
    for (int i = 1; i <= asked; i++) {
        calls = i;
        ck_assert_ptr_null(hs_world_create_within(&mesh.mesh, NULL, &limits, &fault));
        ck_assert_int_eq(fault, HS_WORLD_STOPPED);
        ck_assert_int_eq(calls, 0);
    }
}
END_TEST

START_TEST(contacts_far_from_the_origin_are_exact)
{
    const double far = 9e6;
    add(far, far, far, far + 4, far, far, far, far + 4, far);
    hs_test_mesh_box(&mesh, (struct hs_vec){far + 10, far, far},
                     (struct hs_vec){far + 11, far + 1, far + 1});
    build();
    struct hs_world_contact c;
    struct hs_sweep edge = path(far + 2, far - 0.3, far + 5, far + 2, far - 0.3, far - 5, 0.5);
    ck_assert(hs_world_sweep(world, &edge, &c));
    ck_assert_double_eq_tol(c.distance, 4.6, 1e-7);
    struct hs_sweep ray = path(far + 9, far + 0.5, far + 0.5, far + 12, far + 0.5, far + 0.5, 0);
    ck_assert(hs_world_sweep(world, &ray, &c));
    ck_assert_double_eq_tol(c.distance, 1, 1e-7);
    ck_assert_int_eq(c.kind, HS_WORLD_BOX);
    ck_assert(!hs_world_blocks(world, (struct hs_vec){0, 0, 0}, (struct hs_vec){far, far, -far}));
}
END_TEST

/* Claims may contain any finite number. A path beyond the limit of coordinates touches nothing and
   causes no failure. */
START_TEST(paths_beyond_the_coordinate_limit_touch_nothing)
{
    hs_test_mesh_box(&mesh, (struct hs_vec){-1, -1, -1}, (struct hs_vec){1, 1, 1});
    build();
    static const double far[] = {1e14, 1e18, 1e30, 1e39, 1e150, DBL_MAX};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct hs_world_contact contact;
        struct hs_sweep to_it = {
            .start = {-far[i], 0, 0}, .direction = {1, 0, 0}, .length = far[i]};
        struct hs_sweep beside = {.start = {0, far[i], 0}, .direction = {0, 0, 1}, .length = 1};
        ck_assert(!hs_world_sweep(world, &to_it, &contact));
        ck_assert(!hs_world_sweep(world, &beside, &contact));
        ck_assert(!hs_world_blocks(world, (struct hs_vec){0, 0, far[i]}, (struct hs_vec){0, 0, 0}));
    }
}
END_TEST

static bool overlap(struct hs_vec low, struct hs_vec high, struct hs_vec min, struct hs_vec max)
{
    return min.x <= high.x && min.y <= high.y && min.z <= high.z && max.x >= low.x &&
           max.y >= low.y && max.z >= low.z;
}

/* Counts the parts of a mesh whose bounds touch a box. */
static size_t count_near(const struct hs_world_mesh *all, struct hs_vec low, struct hs_vec high)
{
    size_t count = 0;
    for (size_t i = 0; i < all->triangle_count; i++) {
        struct hs_vec a = all->vertices[all->triangles[i][0]];
        struct hs_vec b = all->vertices[all->triangles[i][1]];
        struct hs_vec c = all->vertices[all->triangles[i][2]];
        count +=
            overlap(low, high, hs_vec_min(hs_vec_min(a, b), c), hs_vec_max(hs_vec_max(a, b), c));
    }
    for (size_t i = 0; i < all->box_count; i++)
        count += overlap(low, high, all->boxes[i].min, all->boxes[i].max);
    return count;
}

/* Every part near a place is listed once, as far as there is space. */
START_TEST(every_part_near_a_place_is_listed_once)
{
    enum { MOST = 200, CASES = 300, SIDE = 40 };
    static struct hs_vec triangles[MOST][3];
    static struct hs_world_box boxes[MOST];
    struct hs_random random = hs_random_start(hs_test_seed(20271), 0);
    struct hs_test_mesh level = {0};
    size_t full = 0;
    hs_test_mesh_terrain(&level, &random, 30, SIDE, 3);
    hs_test_mesh_corridors(&level, &random, 8, SIDE, true);
    struct hs_world *built = hs_world_create(&level.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(built);
    for (int i = 0; i < CASES; i++) {
        struct hs_vec low = {hs_random_between(&random, -2, SIDE),
                             hs_random_between(&random, -2, SIDE),
                             hs_random_between(&random, -2, 3)};
        double size = hs_random_between(&random, 0, 15);
        struct hs_vec high = hs_vec_add(low, (struct hs_vec){size, size, size});
        struct hs_world_parts parts = {triangles, boxes, MOST, MOST, 0, 0, 0};
        hs_world_near(built, low, high, &parts);
        size_t listed = parts.triangle_count + parts.box_count;
        ck_assert_uint_eq(listed + parts.left_out, count_near(&level.mesh, low, high));
        ck_assert(parts.left_out == 0 || parts.triangle_count == MOST || parts.box_count == MOST);
        for (size_t k = 0; k < parts.box_count; k++)
            ck_assert(overlap(low, high, boxes[k].min, boxes[k].max));
        full += parts.left_out > 0;
    }
    ck_assert_uint_gt(full, 3);
    hs_world_destroy(built);
    hs_test_mesh_free(&level);
}
END_TEST

/* Rays that end on a corner: rounding must not put the contact behind the end of the path. */
START_TEST(no_contact_is_behind_the_end_of_the_path)
{
    enum { CASES = 200000 };
    struct hs_random random = hs_random_start(hs_test_seed(20261128), 0);
    size_t touched = 0;
    for (int i = 0; i < CASES; i++) {
        double v[12], distance;
        for (int k = 0; k < 12; k++)
            v[k] = hs_random_between(&random, -100, 100);
        const struct hs_triangle t = {{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}}};
        struct hs_sweep ray = path(v[9], v[10], v[11], v[0], v[1], v[2], 0);
        if (hs_triangle_is_degenerate(&t) || !hs_triangle_touches(&ray, &t, &distance))
            continue;
        ck_assert_msg(distance >= 0 && distance <= ray.length, "case %d: %.17g of %.17g", i,
                      distance, ray.length);
        touched++;
    }
    ck_assert_uint_gt(touched, CASES / 2);
}
END_TEST

START_TEST(nearest_points_of_a_triangle_equal_those_by_hand)
{
    const struct hs_triangle t = {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
    static const double cases[][2][3] = {
        {{1, 1, 3}, {1, 1, 0}},   {{1, 1, -3}, {1, 1, 0}}, {{2, -1, 1}, {2, 0, 0}},
        {{-1, -2, 1}, {0, 0, 0}}, {{9, -1, 0}, {4, 0, 0}}, {{3, 3, 2}, {2, 2, 0}},
        {{-5, 2, 0}, {0, 2, 0}},  {{1, 1, 0}, {1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double *p = cases[i][0], *want = cases[i][1];
        assert_vec(hs_triangle_nearest(&t, (struct hs_vec){p[0], p[1], p[2]}), want[0], want[1],
                   want[2]);
    }
    assert_vec(hs_triangle_normal(&t), 0, 0, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("world");
    TCase *tests = tcase_create("world");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_loop_test(tests, contacts_with_one_triangle_equal_those_by_hand, 0,
                        (int)(sizeof floor_cases / sizeof floor_cases[0]));
    tcase_add_test(tests, touch_is_inclusive_within_the_slack);
    tcase_add_test(tests, slivers_are_solid);
    tcase_add_test(tests, degenerate_triangles_are_skipped_and_counted);
    tcase_add_test(tests, boxes_are_solid);
    tcase_add_test(tests, ties_go_to_triangles_then_to_the_lower_index);
    tcase_add_test(tests, the_nearest_of_many_triangles_is_found);
    tcase_add_test(tests, a_segment_is_blocked_if_it_touches_a_triangle);
    tcase_add_test(tests, a_path_without_length_touches_within_its_radius);
    tcase_add_test(tests, an_empty_mesh_is_a_world_without_contacts);
    tcase_add_test(tests, boxes_may_be_closer_than_floats_can_tell);
    tcase_add_test(tests, bad_meshes_are_refused);
    tcase_add_loop_test(tests, a_build_stays_within_its_memory_limit, 0, 6);
    tcase_add_test(tests, builds_can_be_stopped);
    tcase_add_test(tests, contacts_far_from_the_origin_are_exact);
    tcase_add_test(tests, paths_beyond_the_coordinate_limit_touch_nothing);
    tcase_add_test(tests, every_part_near_a_place_is_listed_once);
    tcase_add_test(tests, no_contact_is_behind_the_end_of_the_path);
    tcase_add_test(tests, nearest_points_of_a_triangle_equal_those_by_hand);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
