/* The hierarchy of a world, compared with exact tests of every triangle and every box. The answers
   must be equal, bit for bit, for any mesh, place and path. Rounding of floats in the hierarchy may
   only keep too many items. This test notices if the hierarchy drops an item. */
#include "tests/support/oracle/world_cases.h"
#include "tests/support/run_suite.h"
#include "validators/base/lanes.h"
#include "validators/world/tree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED 20261121

enum { DEFAULT_CASES = 1000 };

enum kind { TERRAIN, BLOCKS, BOXES, SOUP, MIXED, PLANK, KINDS };

static const char *const names[KINDS] = {"terrain", "blocks", "boxes", "soup", "mixed", "planks"};

#define WIDTH 100.0

static void make_mesh(enum kind kind, struct hs_random *random, struct hs_test_mesh *mesh)
{
    *mesh = (struct hs_test_mesh){0};
    if (kind == TERRAIN || kind == MIXED)
        hs_test_mesh_terrain(mesh, random, 20, WIDTH, 5);
    if (kind == BLOCKS)
        hs_test_mesh_corridors(mesh, random, 7, WIDTH, false);
    if (kind == BOXES || kind == MIXED)
        hs_test_mesh_corridors(mesh, random, 10, WIDTH, true);
    if (kind == SOUP || kind == MIXED)
        hs_test_mesh_soup(mesh, random, 800, WIDTH, 5);
    if (kind == PLANK) /* all triangles at one place, without extent along one axis */
        for (int i = 0; i < 300; i++) {
            double x = hs_random_between(random, 0, 5);
            hs_test_mesh_block(mesh, (struct hs_vec){x, 0, 0}, (struct hs_vec){x, WIDTH, 0.1});
        }
}

/* Rounds a coordinate so that a shift by 2^20 leaves it exact. */
static double coarse(double x)
{
    return floor(x * 0x1p20) * 0x1p-20;
}

static struct hs_vec coarse_vec(struct hs_vec v)
{
    return (struct hs_vec){coarse(v.x), coarse(v.y), coarse(v.z)};
}

/* Draws paths of all lengths and radii. Every fourth is aimed at a corner or along an edge. */
static struct hs_sweep draw(struct hs_random *random, const struct hs_test_mesh *mesh,
                            struct hs_vec middle)
{
    struct hs_sweep s = {.direction = hs_random_direction(random)};
    s.length = hs_random_log_between(random, 1e-4, 2 * WIDTH);
    s.radius = hs_random_chance(random, 0.4) ? 0 : hs_random_log_between(random, 1e-3, 20);
    double spread = hs_random_chance(random, 0.1) ? 3 * WIDTH : 0.6 * WIDTH;
    s.start = hs_vec_add_scaled(middle, hs_random_direction(random),
                                hs_random_between(random, 0, spread));
    if (hs_random_chance(random, 0.2)) { /* along an axis, so that inverses are infinite */
        int axis = hs_random_index(random, 3);
        s.direction = (struct hs_vec){axis == 0, axis == 1, -(axis == 2)};
    }
    if (mesh->mesh.triangle_count == 0 || !hs_random_chance(random, 0.3))
        return s;
    const uint32_t *t = mesh->triangles[hs_random_index(random, (int)mesh->mesh.triangle_count)];
    struct hs_vec a = mesh->vertices[t[0]], b = mesh->vertices[t[1]];
    struct hs_vec at =
        hs_vec_lerp(a, b, hs_random_chance(random, 0.5) ? 0 : hs_random_between(random, 0, 1));
    struct hs_vec towards =
        hs_random_chance(random, 0.3) ? hs_vec_sub(b, a) : hs_vec_sub(at, s.start);
    double length = hs_vec_length(towards);
    if (!(length > 1e-6))
        return s;
    s.direction = hs_vec_scale(towards, 1 / length);
    s.length = hs_random_chance(random, 0.3) ? length : hs_random_between(random, 0.5, 2) * length;
    double back = hs_random_chance(random, 0.2) ? 0 : hs_random_between(random, 0.3, 1.5) * length;
    s.start = hs_vec_add_scaled(at, s.direction, -back);
    if (s.radius > 0 && hs_random_chance(random, 0.5)) /* exactly or nearly tangent */
        s.start = hs_vec_add_scaled(
            s.start, hs_random_direction(random),
            s.radius * (1 + hs_random_between(random, -1, 1) * 1e-5 * hs_random_index(random, 2)));
    return s;
}

static void report(const struct hs_sweep *s, bool got, const struct hs_world_contact *c, bool want,
                   const struct hs_world_contact *w)
{
    printf("  start {%.17g, %.17g, %.17g} direction {%.17g, %.17g, %.17g} length %.17g radius "
           "%.17g\n",
           s->start.x, s->start.y, s->start.z, s->direction.x, s->direction.y, s->direction.z,
           s->length, s->radius);
    printf("  got %d %.17g %d/%u, want %d %.17g %d/%u\n", got, got ? c->distance : -1,
           got ? (int)c->kind : -1, got ? c->index : 0, want, want ? w->distance : -1,
           want ? (int)w->kind : -1, want ? w->index : 0);
    fflush(stdout);
}

/* The contact must be on the surface, one radius away, and the normal must point from the surface
   to the centre. */
static const char *check_contact(const struct hs_sweep *s, const struct hs_world_contact *c)
{
    double slack = HS_TOUCH_SLACK * (s->length + s->radius) + 1e-8;
    if (!(c->distance >= 0 && c->distance <= s->length))
        return "the distance is not on the path";
    if (fabs(hs_vec_length(c->normal) - 1) > 1e-9)
        return "the normal is not of length 1";
    if (c->kind == HS_WORLD_BOX)
        return NULL;
    double gap = hs_vec_distance(c->point, c->center);
    if (gap > s->radius + slack)
        return "the touched point is out of reach";
    if (c->distance > 0 && gap < s->radius - slack)
        return "the sphere is in the surface";
    if (hs_vec_dot(c->normal, hs_vec_sub(c->center, c->point)) < -slack)
        return "the normal points away from the sphere";
    return NULL;
}

static struct hs_world *create(const struct hs_test_mesh *mesh)
{
    struct hs_world *world = hs_world_create(&mesh->mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    return world;
}

static struct hs_vec middle_of(const struct hs_world *world)
{
    struct hs_world_info info;
    hs_world_info(world, &info);
    return hs_vec_lerp(info.min, info.max, 0.5);
}

static void compare_all(enum kind kind, struct hs_vec shift, double scale)
{
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long cases = hs_test_count("HS_WORLD_CASES", DEFAULT_CASES), wrong = 0, hits = 0;
    struct hs_random random = hs_random_start(seed, (uint64_t)kind);
    struct hs_test_mesh mesh;
    make_mesh(kind, &random, &mesh);
    hs_test_mesh_scale(&mesh, scale);
    hs_test_mesh_translate(&mesh, shift);
    struct hs_world *world = create(&mesh);
    struct hs_vec middle = middle_of(world);
    for (long i = 0; i < cases; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        struct hs_world_contact got, want;
        bool hit = hs_world_sweep(world, &s, &got),
             expected = hs_test_world_brute(&mesh.mesh, &s, &want);
        const char *fault = NULL;
        if (hit != expected)
            fault = "hit and miss";
        else if (hit && (got.distance != want.distance || got.kind != want.kind ||
                         got.index != want.index))
            fault = "another contact";
        else if (hs_world_sweep(world, &s, NULL) != hit)
            fault = "any contact and the first one disagree";
        else if (hit && scale == 1)
            fault = check_contact(&s, &got);
        hits += hit;
        if (fault != NULL && wrong++ < 5) {
            printf("  case %ld: %s\n", i, fault);
            report(&s, hit, &got, expected, &want);
        }
    }
    printf("world, %s at %g times %g: HS_SEED=%llu, %ld cases, %ld hits\n", names[kind], shift.x,
           scale, (unsigned long long)seed, cases, hits);
    fflush(stdout);
    hs_world_destroy(world);
    hs_test_mesh_free(&mesh);
    ck_assert_msg(wrong == 0, "%ld of %ld cases disagree", wrong, cases);
    /* Hits and misses must both be frequent enough. */
    ck_assert_int_ge(hits * 20, cases);
    ck_assert_int_le(hits * 20, cases * 19);
}

START_TEST(equals_brute_force)
{
    compare_all((enum kind)_i, (struct hs_vec){0, 0, 0}, 1);
}
END_TEST

START_TEST(equals_brute_force_far_away)
{
    compare_all((enum kind)_i, (struct hs_vec){1e6, -2e6, 9e6}, 1);
}
END_TEST

/* The paths stay the same. First the mesh is tiny, then so large that the paths are only in a
   corner of it. */
START_TEST(equals_brute_force_in_other_sizes)
{
    compare_all(_i % 2 == 0 ? TERRAIN : SOUP, (struct hs_vec){1000, 0, 0}, _i < 2 ? 0.3 : 4);
}
END_TEST

/* All coordinates are exact before and after the shift, so all differences and all results are
   equal. */
START_TEST(moving_everything_changes_no_bit)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 50 + (uint64_t)_i);
    const struct hs_vec shift = {0x1p20, -0x1p20, 0x1p20};
    struct hs_test_mesh mesh;
    make_mesh((enum kind)_i, &random, &mesh);
    for (size_t i = 0; i < mesh.mesh.vertex_count; i++)
        mesh.vertices[i] = coarse_vec(mesh.vertices[i]);
    for (size_t i = 0; i < mesh.mesh.box_count; i++) {
        mesh.boxes[i].min = coarse_vec(mesh.boxes[i].min);
        mesh.boxes[i].max = coarse_vec(mesh.boxes[i].max);
    }
    struct hs_world *here = create(&mesh);
    struct hs_vec middle = middle_of(here);
    hs_test_mesh_translate(&mesh, shift);
    struct hs_world *there = create(&mesh);
    hs_test_mesh_translate(&mesh, hs_vec_scale(shift, -1));
    long hits = 0;
    for (int i = 0; i < 3000; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        s.start = coarse_vec(s.start);
        struct hs_sweep moved = s;
        moved.start = hs_vec_add(s.start, shift);
        struct hs_world_contact a, b;
        bool hit = hs_world_sweep(here, &s, &a);
        ck_assert(hs_world_sweep(there, &moved, &b) == hit);
        if (!hit)
            continue;
        hits++;
        ck_assert_msg(a.distance == b.distance, "case %d: %.17g %.17g", i, a.distance, b.distance);
        ck_assert_uint_eq(a.index, b.index);
        ck_assert(hs_vec_distance(hs_vec_sub(b.point, shift), a.point) < 1e-8);
    }
    ck_assert_int_gt(hits, 300);
    hs_world_destroy(here);
    hs_world_destroy(there);
    hs_test_mesh_free(&mesh);
}
END_TEST

/* A larger sphere touches everything that a smaller one touches, and not later. */
START_TEST(larger_spheres_touch_sooner)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 70 + (uint64_t)_i);
    struct hs_test_mesh mesh;
    make_mesh((enum kind)_i, &random, &mesh);
    struct hs_world *world = create(&mesh);
    struct hs_vec middle = middle_of(world);
    for (int i = 0; i < 3000; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        struct hs_world_contact small, large;
        if (!hs_world_sweep(world, &s, &small))
            continue;
        s.radius = s.radius * hs_random_between(&random, 1, 2) + 1e-4;
        ck_assert_msg(hs_world_sweep(world, &s, &large), "case %d", i);
        ck_assert_msg(large.distance <= small.distance + 1e-6 * s.length, "case %d: %.17g %.17g", i,
                      small.distance, large.distance);
    }
    hs_world_destroy(world);
    hs_test_mesh_free(&mesh);
}
END_TEST

START_TEST(blocks_is_a_ray)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 90 + (uint64_t)_i);
    struct hs_test_mesh mesh;
    make_mesh((enum kind)_i, &random, &mesh);
    struct hs_world *world = create(&mesh);
    struct hs_vec middle = middle_of(world);
    long blocked = 0;
    for (int i = 0; i < 3000; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        struct hs_vec end = hs_vec_add_scaled(s.start, s.direction, s.length);
        struct hs_vec along = hs_vec_sub(end, s.start);
        double length = hs_vec_length(along);
        struct hs_sweep ray = {s.start, hs_vec_scale(along, 1 / length), length, 0};
        struct hs_world_contact c;
        bool first = hs_world_sweep(world, &ray, &c);
        ck_assert(hs_world_blocks(world, s.start, end) == first);
        blocked += first;
    }
    ck_assert_int_gt(blocked, 100);
    hs_world_destroy(world);
    hs_test_mesh_free(&mesh);
}
END_TEST

/* The same mesh gives the same tree, independent of memory addresses. */
START_TEST(building_again_changes_nothing)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 110);
    struct hs_test_mesh mesh;
    make_mesh(MIXED, &random, &mesh);
    struct hs_world *a = create(&mesh), *b = create(&mesh);
    struct hs_world_info info_a, info_b;
    hs_world_info(a, &info_a);
    hs_world_info(b, &info_b);
    ck_assert_uint_eq(info_a.bytes, info_b.bytes);
    struct hs_vec middle = middle_of(a);
    for (int i = 0; i < 3000; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        struct hs_world_contact ca, cb;
        bool hit = hs_world_sweep(a, &s, &ca);
        ck_assert(hs_world_sweep(b, &s, &cb) == hit);
        if (hit)
            ck_assert(ca.distance == cb.distance && ca.index == cb.index &&
                      hs_vec_distance(ca.normal, cb.normal) == 0);
    }
    hs_world_destroy(a);
    hs_world_destroy(b);
    hs_test_mesh_free(&mesh);
}
END_TEST

/* Four lanes and eight lanes give the same bits for the same input. */
START_TEST(lanes_change_nothing)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 130 + (uint64_t)_i);
    struct hs_test_mesh mesh;
    make_mesh((enum kind)_i, &random, &mesh);
    struct hs_world *world = create(&mesh);
    struct hs_vec middle = middle_of(world);
    long hits = 0;
    for (int i = 0; i < 3000; i++) {
        struct hs_sweep s = draw(&random, &mesh, middle);
        struct hs_world_contact four, eight;
        struct hs_work work_four = {0}, work_eight = {0};
        memset(&four, 0, sizeof four);
        memset(&eight, 0, sizeof eight);
        world->has_eight_lanes = hs_lanes_can_be_eight();
        bool hit = hs_world_sweep_within(world, &s, &work_eight, &eight);
        world->has_eight_lanes = false;
        ck_assert(hs_world_sweep_within(world, &s, &work_four, &four) == hit);
        ck_assert_mem_eq(&four, &eight, sizeof four);
        ck_assert_uint_eq(work_four.spent, work_eight.spent);
        hits += hit;
    }
    ck_assert_int_gt(hits, 100);
    hs_world_destroy(world);
    hs_test_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("world against brute force");
    TCase *tests = tcase_create("brute");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, equals_brute_force, 0, KINDS);
    tcase_add_loop_test(tests, equals_brute_force_far_away, 0, KINDS);
    tcase_add_loop_test(tests, equals_brute_force_in_other_sizes, 0, 4);
    tcase_add_loop_test(tests, moving_everything_changes_no_bit, 0, SOUP);
    tcase_add_loop_test(tests, larger_spheres_touch_sooner, 0, KINDS);
    tcase_add_loop_test(tests, blocks_is_a_ray, 0, KINDS);
    tcase_add_test(tests, building_again_changes_nothing);
    tcase_add_loop_test(tests, lanes_change_nothing, 0, KINDS);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
