/*
 * The world, compared with its peers on a level of a million triangles, in one run.
 *
 *   world_build_s          building the hierarchy; its memory is printed, too
 *   world_sphere_cast_us   a swept sphere of 0.05, baseline Bullet's sweep against its mesh
 *   world_ray_us           first hit of a ray, baseline Embree's rtcIntersect1
 *   world_blocks_us        any hit of a ray, baseline Embree's rtcOccluded1
 *
 * Rounds alternate and medians are compared, so that other load on the machine slows both equally.
 * `ratio` is the baseline's time / ours.
 */
#include "service/system/pages.h"
#include "tests/peers/bullet_peer.h"
#include "tests/peers/embree_peer.h"
#include "tests/support/bench.h"
#include "tests/support/oracle/world_cases.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 9, BLOCKS = 23334 };

static double now_us(void)
{
    return (double)hs_bench_now_ns() * 1e-3;
}

/* The mesh in the layout of the peers. */
struct narrow {
    float (*vertices)[3];
    int (*triangles)[3];
};

static struct narrow narrow_of(const struct hs_world_mesh *mesh)
{
    struct narrow n = {malloc(mesh->vertex_count * sizeof *n.vertices),
                       malloc(mesh->triangle_count * sizeof *n.triangles)};
    if (n.vertices == NULL || n.triangles == NULL)
        exit(2);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        n.vertices[i][0] = (float)mesh->vertices[i].x;
        n.vertices[i][1] = (float)mesh->vertices[i].y;
        n.vertices[i][2] = (float)mesh->vertices[i].z;
    }
    for (size_t i = 0; i < mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            n.triangles[i][k] = (int)mesh->triangles[i][k];
    return n;
}

struct stage {
    struct hs_world *world;
    struct hs_bullet_mesh *bullet;
    struct hs_embree_mesh *embree;
    struct hs_sweep *shots;
    int count;
    /* results of the last round; the compiler must not remove the work */
    double hits, travel;
};

static void ends_of(const struct hs_sweep *s, double from[3], double to[3])
{
    struct hs_vec end = hs_vec_add_scaled(s->start, s->direction, s->length);
    from[0] = s->start.x, from[1] = s->start.y, from[2] = s->start.z;
    to[0] = end.x, to[1] = end.y, to[2] = end.z;
}

static void note(struct stage *stage, bool hit, double travel)
{
    stage->hits += hit;
    stage->travel += hit ? travel : 0;
}

static void cast_own(struct stage *stage)
{
    for (int i = 0; i < stage->count; i++) {
        struct hs_world_contact contact;
        bool hit = hs_world_sweep(stage->world, &stage->shots[i], &contact);
        note(stage, hit, hit ? contact.distance : 0);
    }
}

static void look_own(struct stage *stage)
{
    for (int i = 0; i < stage->count; i++) {
        const struct hs_sweep *s = &stage->shots[i];
        note(stage,
             hs_world_blocks(stage->world, s->start,
                             hs_vec_add_scaled(s->start, s->direction, s->length)),
             0);
    }
}

static void cast_bullet(struct stage *stage)
{
    for (int i = 0; i < stage->count; i++) {
        double from[3], to[3], fraction;
        ends_of(&stage->shots[i], from, to);
        bool hit =
            stage->shots[i].radius > 0
                ? hs_bullet_sphere_cast(stage->bullet, from, to, stage->shots[i].radius, &fraction)
                : hs_bullet_ray_cast(stage->bullet, from, to, &fraction);
        note(stage, hit, fraction * stage->shots[i].length);
    }
}

static void cast_embree(struct stage *stage)
{
    for (int i = 0; i < stage->count; i++) {
        const struct hs_sweep *s = &stage->shots[i];
        double from[3] = {s->start.x, s->start.y, s->start.z}, distance;
        double direction[3] = {s->direction.x, s->direction.y, s->direction.z};
        bool hit = hs_embree_ray_cast(stage->embree, from, direction, s->length, &distance);
        note(stage, hit, distance);
    }
}

static void look_embree(struct stage *stage)
{
    for (int i = 0; i < stage->count; i++) {
        const struct hs_sweep *s = &stage->shots[i];
        double from[3] = {s->start.x, s->start.y, s->start.z};
        double direction[3] = {s->direction.x, s->direction.y, s->direction.z};
        note(stage, hs_embree_blocks(stage->embree, from, direction, s->length), 0);
    }
}

static double round_us(struct stage *stage, void (*run)(struct stage *))
{
    stage->hits = stage->travel = 0;
    double began = now_us();
    run(stage);
    return (now_us() - began) / stage->count;
}

/* Checks that the library and the peer find the same contacts, except a few grazing ones. If they
   do not, a comparison of their times proves nothing. */
static void must_agree(const char *name, double own, double other)
{
    if (fabs(own - other) <= 0.01 * (own + other) + 1)
        return;
    fprintf(stderr, "%s: %g and %g disagree\n", name, own, other);
    exit(1);
}

static void compete(struct stage *stage, const char *name, const char *baseline,
                    void (*own)(struct stage *), void (*other)(struct stage *))
{
    double own_us[ROUNDS], other_us[ROUNDS], own_hits = 0, own_travel = 0;
    for (int i = 0; i < ROUNDS; i++) {
        own_us[i] = round_us(stage, own);
        own_hits = stage->hits;
        own_travel = stage->travel;
        other_us[i] = round_us(stage, other);
        must_agree(name, own_hits, stage->hits);
        if (own_travel > 0)
            must_agree(name, own_travel, stage->travel);
    }
    double value = hs_bench_median(own_us, ROUNDS), base = hs_bench_median(other_us, ROUNDS);
    hs_bench_print(baseline, base, "us", NULL, 0);
    hs_bench_print(name, value, "us", baseline, base / value);
}

static void draw(struct stage *stage, const struct hs_test_mesh *mesh, int count, double radius)
{
    struct hs_random random = hs_random_start(hs_test_seed(7), 1);
    stage->count = count;
    for (int i = 0; i < count; i++)
        stage->shots[i] = hs_test_level_shot(mesh, &random, radius);
}

int main(void)
{
    enum { RAYS = 20000, SPHERES = 20000 };
    struct hs_test_mesh mesh = {0};
    struct hs_random random = hs_random_start(hs_test_seed(7), 0);
    hs_test_mesh_level(&mesh, &random, BLOCKS);
    struct narrow narrow = narrow_of(&mesh.mesh);
    /* Bullet and Embree store vertices as floats. All three get the rounded vertices. */
    for (size_t i = 0; i < mesh.mesh.vertex_count; i++)
        mesh.vertices[i] =
            (struct hs_vec){(double)narrow.vertices[i][0], (double)narrow.vertices[i][1],
                            (double)narrow.vertices[i][2]};
    double began = now_us();
    struct stage stage = {.world = hs_world_create(&mesh.mesh, hs_pages_alloc, NULL)};
    double built = now_us();
    stage.bullet =
        hs_bullet_mesh_create((const float(*)[3])narrow.vertices, mesh.mesh.vertex_count,
                              (const int(*)[3])narrow.triangles, mesh.mesh.triangle_count);
    double bullet_built = now_us();
    stage.embree =
        hs_embree_mesh_create((const float(*)[3])narrow.vertices, mesh.mesh.vertex_count,
                              (const int(*)[3])narrow.triangles, mesh.mesh.triangle_count);
    stage.shots = malloc(RAYS * sizeof *stage.shots);
    if (stage.world == NULL || stage.bullet == NULL || stage.embree == NULL || stage.shots == NULL)
        return 2;
    hs_bench_print("bullet_build_s", (bullet_built - built) * 1e-6, "s", NULL, 0);
    hs_bench_print("world_build_s", (built - began) * 1e-6, "s", "bullet_build_s",
                   (bullet_built - built) / (built - began));
    struct hs_world_info info;
    hs_world_info(stage.world, &info);
    hs_bench_print("world_bytes", (double)info.bytes, "B", NULL, 0);
    draw(&stage, &mesh, SPHERES, 0.05);
    compete(&stage, "world_sphere_cast_us", "bullet_sphere_cast_us", cast_own, cast_bullet);
    draw(&stage, &mesh, RAYS, 0);
    compete(&stage, "world_ray_us", "embree_intersect1_us", cast_own, cast_embree);
    compete(&stage, "world_blocks_us", "embree_occluded1_us", look_own, look_embree);
    hs_world_destroy(stage.world);
    hs_bullet_mesh_destroy(stage.bullet);
    hs_embree_mesh_destroy(stage.embree);
    hs_test_mesh_free(&mesh);
    free(narrow.vertices);
    free(narrow.triangles);
    free(stage.shots);
    return 0;
}
