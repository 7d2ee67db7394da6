/*
 * Sphere casts, compared with an independent oracle: Bullet's sweep test on the same triangles.
 *
 * Bullet casts in floats and advances until a fixed distance is left, so it cannot decide every
 * case. Hit and miss must agree, and distances must agree within 1e-3 of the path. If they differ,
 * a third implementation decides: tests/support/oracle/world_reference.h, which solves no equations
 * and only measures distances. Our answer must then be right within the slack of touch, even in a
 * close case. A disagreement of Bullet is counted as grazing, or as an error of Bullet. Both must
 * stay rare. It is grazing if the smallest gap is within 1e-3 of the path of zero. It is also
 * grazing if the surface is met so flatly that Bullet's tolerance moves the contact that far. Every
 * 50th case is checked by the third implementation even if both agree.
 */
#include "tests/peers/bullet_peer.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/oracle/world_reference.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_SEED 20261121
#define WIDTH        60.0

enum { DEFAULT_CASES = 40000 };

enum kind { TERRAIN, BLOCKS, BOXES, SOUP, KINDS };

static const char *const names[KINDS] = {"terrain", "corridors", "corridors of boxes", "soup"};

/* The volatile is needed, because GCC 12.2 at -O2 drops the last two of six such conversions in a
   row. */
static void narrow(struct hs_vec *v)
{
    volatile float x = (float)v->x, y = (float)v->y, z = (float)v->z;
    *v = (struct hs_vec){(double)x, (double)y, (double)z};
}

/* If `boxes`, the corridors of our mesh consist of boxes. The oracle always gets triangles. */
static void make_mesh(enum kind kind, bool boxes, uint64_t seed, struct hs_test_mesh *mesh)
{
    struct hs_random random = hs_random_start(seed, kind == BOXES ? BLOCKS : (uint64_t)kind);
    *mesh = (struct hs_test_mesh){0};
    if (kind == TERRAIN)
        hs_test_mesh_terrain(mesh, &random, 30, WIDTH, 5);
    else if (kind == SOUP)
        hs_test_mesh_soup(mesh, &random, 1500, WIDTH, 4);
    else
        hs_test_mesh_corridors(mesh, &random, 7, WIDTH, boxes);
    /* The oracle uses floats, so both get the same corners in float. */
    for (size_t i = 0; i < mesh->mesh.vertex_count; i++)
        narrow(&mesh->vertices[i]);
    for (size_t i = 0; i < mesh->mesh.box_count; i++) {
        narrow(&mesh->boxes[i].min);
        narrow(&mesh->boxes[i].max);
    }
}

struct oracle {
    float (*vertices)[3];
    int (*triangles)[3];
    struct hs_bullet_mesh *bullet;
};

static void open_oracle(const struct hs_world_mesh *mesh, struct oracle *o)
{
    o->vertices = malloc(mesh->vertex_count * sizeof *o->vertices);
    o->triangles = malloc(mesh->triangle_count * sizeof *o->triangles);
    ck_assert(o->vertices != NULL && o->triangles != NULL);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        o->vertices[i][0] = (float)mesh->vertices[i].x;
        o->vertices[i][1] = (float)mesh->vertices[i].y;
        o->vertices[i][2] = (float)mesh->vertices[i].z;
    }
    for (size_t i = 0; i < mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            o->triangles[i][k] = (int)mesh->triangles[i][k];
    o->bullet = hs_bullet_mesh_create((const float(*)[3])o->vertices, mesh->vertex_count,
                                      (const int(*)[3])o->triangles, mesh->triangle_count);
    ck_assert_ptr_nonnull(o->bullet);
}

static void close_oracle(struct oracle *o)
{
    hs_bullet_mesh_destroy(o->bullet);
    free(o->vertices);
    free(o->triangles);
}

static bool inside_a_box(const struct hs_world_mesh *mesh, struct hs_vec p)
{
    for (size_t i = 0; i < mesh->box_count; i++) {
        const struct hs_world_box *b = &mesh->boxes[i];
        if (p.x >= b->min.x && p.x <= b->max.x && p.y >= b->min.y && p.y <= b->max.y &&
            p.z >= b->min.z && p.z <= b->max.z)
            return true;
    }
    return false;
}

/* Makes a cast that does not touch at its start. */
static struct hs_sweep draw(struct hs_random *random, const struct hs_test_mesh *own,
                            const struct hs_test_mesh *triangles)
{
    for (;;) {
        struct hs_sweep s = {.start = {hs_random_between(random, -2, WIDTH + 2),
                                       hs_random_between(random, -2, WIDTH + 2),
                                       hs_random_between(random, -8, 12)},
                             .direction = hs_random_direction(random),
                             .length = hs_random_between(random, 10, 80),
                             .radius = hs_random_log_between(random, 0.02, 1.5)};
        if (own->mesh.box_count == 0 && hs_random_chance(random, 0.5))
            s.start.z = hs_random_between(random, 0, WIDTH);
        double clear = s.radius + 0.02;
        if (!inside_a_box(&own->mesh, s.start) &&
            hs_reference_mesh_distance(&triangles->mesh, s.start, clear) >= clear)
            return s;
    }
}

struct answer {
    bool hit;
    double distance;
};

static struct answer ask_bullet(const struct oracle *oracle, const struct hs_sweep *s)
{
    struct hs_vec end = hs_vec_add_scaled(s->start, s->direction, s->length);
    double from[3] = {s->start.x, s->start.y, s->start.z}, to[3] = {end.x, end.y, end.z};
    struct answer a;
    a.hit = hs_bullet_sphere_cast(oracle->bullet, from, to, s->radius, &a.distance);
    a.distance *= s->length;
    return a;
}

static struct answer ask_world(const struct hs_world *world, const struct hs_sweep *s)
{
    struct hs_world_contact contact = {0};
    struct answer a = {.hit = hs_world_sweep(world, s, &contact)};
    a.distance = contact.distance;
    return a;
}

static bool agree(const struct hs_sweep *s, struct answer a, struct answer b)
{
    return a.hit == b.hit && (!a.hit || fabs(a.distance - b.distance) <= 1e-3 * s->length);
}

/* Returns whether Bullet's own tolerance may explain the difference: the result changes if the
   sphere grows or shrinks by 1e-3 of the path. */
static bool is_grazing(const struct hs_world *world, const struct hs_sweep *s, struct answer bullet)
{
    struct hs_sweep larger = *s, smaller = *s;
    larger.radius += 1e-3 * s->length;
    smaller.radius = fmax(0, s->radius - 1e-3 * s->length);
    struct answer first = ask_world(world, &larger), last = ask_world(world, &smaller);
    if (!bullet.hit)
        return !last.hit;
    return first.hit && bullet.distance >= first.distance - 1e-3 * s->length &&
           (!last.hit || bullet.distance <= last.distance + 1e-3 * s->length);
}

struct tally {
    long hits, judged, grazing, errors, wrong;
};

static void check_case(const struct hs_world *world, const struct oracle *oracle,
                       const struct hs_world_mesh *triangles, const struct hs_sweep *s, long i,
                       struct tally *tally)
{
    struct answer own = ask_world(world, s), other = ask_bullet(oracle, s);
    bool same = agree(s, own, other);
    tally->hits += own.hit;
    if (!same) {
        tally->judged++;
        *(is_grazing(world, s, other) ? &tally->grazing : &tally->errors) += 1;
    }
    if (same && i % 50 != 0)
        return;
    const char *fault = hs_reference_judge(triangles, s, own.hit, own.distance);
    if (fault == NULL || tally->wrong++ >= 5)
        return;
    printf("  case %ld: %s\n  start {%.17g, %.17g, %.17g} direction {%.17g, %.17g, %.17g} length "
           "%.17g radius %.17g\n  own %d %.17g, Bullet %d %.17g\n",
           i, fault, s->start.x, s->start.y, s->start.z, s->direction.x, s->direction.y,
           s->direction.z, s->length, s->radius, own.hit, own.distance, other.hit, other.distance);
    fflush(stdout);
}

START_TEST(agrees_with_bullet)
{
    enum kind kind = (enum kind)_i;
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long cases = hs_test_count("HS_ORACLE_CASES", DEFAULT_CASES) / KINDS;
    struct hs_test_mesh own, triangles;
    make_mesh(kind, kind == BOXES, seed, &own);
    make_mesh(kind, false, seed, &triangles);
    struct hs_world *world = hs_world_create(&own.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    struct oracle oracle;
    open_oracle(&triangles.mesh, &oracle);
    struct hs_random random = hs_random_start(seed, 10 + (uint64_t)kind);
    struct tally tally = {0};
    printf("world oracle, %s: HS_SEED=%llu, %ld casts on %zu triangles\n", names[kind],
           (unsigned long long)seed, cases, triangles.mesh.triangle_count);
    for (long i = 0; i < cases; i++) {
        struct hs_sweep s = draw(&random, &own, &triangles);
        check_case(world, &oracle, &triangles.mesh, &s, i, &tally);
    }
    printf("  %ld hits; Bullet differs in %ld: %ld grazing, %ld its error; we are wrong in %ld\n",
           tally.hits, tally.judged, tally.grazing, tally.errors, tally.wrong);
    fflush(stdout);
    close_oracle(&oracle);
    hs_world_destroy(world);
    hs_test_mesh_free(&own);
    hs_test_mesh_free(&triangles);
    ck_assert_int_eq(tally.wrong, 0);
    ck_assert_int_ge(tally.hits * 5, cases);
    ck_assert_int_le(tally.hits * 20, cases * 19);
    /* If Bullet often disagreed, the test would depend on the third implementation alone. */
    ck_assert_int_le(tally.grazing * 50, cases);
    ck_assert_int_le(tally.errors * 200, cases);
}
END_TEST

/* The third implementation must distinguish right answers from wrong ones. */
START_TEST(the_reference_detects_errors)
{
    struct hs_test_mesh mesh = {0};
    uint32_t a = hs_test_mesh_vertex(&mesh, 0, 0, 0), b = hs_test_mesh_vertex(&mesh, 4, 0, 0);
    hs_test_mesh_triangle(&mesh, a, b, hs_test_mesh_vertex(&mesh, 0, 4, 0));
    struct hs_sweep s = {.start = {1, 1, 5}, .direction = {0, 0, -1}, .length = 10, .radius = 0.5};
    ck_assert_ptr_null(hs_reference_judge(&mesh.mesh, &s, true, 4.5));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, true, 4.5 + 1e-6));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, true, 4.501));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, true, 4.499));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, true, 5.5));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, false, 0));
    s.start = (struct hs_vec){2, -0.5, 5}; /* tangent */
    ck_assert_ptr_null(hs_reference_judge(&mesh.mesh, &s, true, 5));
    s.start.y = -0.51;
    ck_assert_ptr_null(hs_reference_judge(&mesh.mesh, &s, false, 0));
    ck_assert_ptr_nonnull(hs_reference_judge(&mesh.mesh, &s, true, 5));
    s.start.y = -0.3;
    ck_assert_ptr_null(hs_reference_judge(&mesh.mesh, &s, true, 4.6));
    ck_assert_double_eq_tol(hs_reference_mesh_distance(&mesh.mesh, (struct hs_vec){3, 3, 1}, 99),
                            sqrt(3), 1e-9);
    ck_assert_double_eq_tol(hs_reference_mesh_distance(&mesh.mesh, (struct hs_vec){-3, -4, 0}, 99),
                            5, 1e-9);
    hs_test_mesh_free(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("world oracle");
    TCase *tests = tcase_create("oracle");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, the_reference_detects_errors);
    tcase_add_loop_test(tests, agrees_with_bullet, 0, KINDS);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
