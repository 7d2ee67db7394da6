/*
 * The scene of a verdict shows what was verified. In random fights, every body is where the rewind
 * of the whole match places it. The nearest approach has the margin of the verdict, and the path is
 * that of the claim. The match of the scene is restored from an excerpt.
 */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "service/evidence/scene.h"
#include "tests/support/oracle/scene.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/quat.h"
#include "validators/snapshot.h"

static const struct hs_match_limits limits = {.players = 64, .samples = 256, .movers = 8};

/* Numbers of a scene are rounded to 1e-6. */
#define NEAR(a, b) (fabs((a) - (b)) <= 1e-6 * (1 + fabs(b)))

enum { NUMBERS = 11 };

static struct {
    long bodies, margins, frames, walls, movers;
} counts;

static double number(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);
    ck_assert_msg(json_is_number(value), "no number at %zu", i);
    return json_number_value(value);
}

static void same_vec(const json_t *list, size_t at, struct hs_vec v)
{
    ck_assert_msg(NEAR(number(list, at), v.x) && NEAR(number(list, at + 1), v.y) &&
                      NEAR(number(list, at + 2), v.z),
                  "(%g %g %g) instead of (%g %g %g)", number(list, at), number(list, at + 1),
                  number(list, at + 2), v.x, v.y, v.z);
}

static void same_solid(const json_t *list, size_t at, const struct hs_solid *solid)
{
    struct hs_vec axes[3];
    float q[4];
    same_vec(list, at, solid->center);
    for (size_t i = 0; i < 4; i++)
        q[i] = (float)number(list, at + 3 + i);
    ck_assert(hs_quat_normalise(q));
    hs_quat_axes(q, axes);
    for (int i = 0; i < 3; i++)
        ck_assert_double_lt(hs_vec_distance(axes[i], solid->axes[i]), 1e-5);
    same_vec(list, at + 7, solid->half_extents);
    ck_assert(NEAR(number(list, at + 10), solid->radius));
}

/* Compares a body with the rewind of the whole match. */
static void same_body(const struct hs_match *whole, const json_t *body, double time)
{
    struct hs_bracket bracket;
    struct hs_body want;
    const char *name = json_string_value(json_object_get(body, "player"));
    const struct hs_player *player = hs_players_find(&whole->players, hs_str_of(name));
    ck_assert_ptr_nonnull(player);
    ck_assert(hs_scene_body(whole, player, llround(time * 1e6), &bracket, &want));
    const json_t *hitboxes = json_object_get(body, "hitboxes");
    const json_t *solids = json_object_get(body, "solids");
    ck_assert_uint_eq(json_array_size(hitboxes), want.count);
    ck_assert_uint_eq(json_array_size(solids), (size_t)want.count * NUMBERS);
    for (uint16_t i = 0; i < want.count; i++) {
        ck_assert_int_eq(json_integer_value(json_array_get(hitboxes, i)), want.hitbox[i]);
        same_solid(solids, (size_t)i * NUMBERS, &want.solids[i]);
    }
    same_vec(json_object_get(body, "root"), 0, hs_rewind_position(&bracket));
    counts.bodies++;
}

static void check_bodies(const struct hs_match *whole, const json_t *scene)
{
    size_t i, k;
    json_t *body, *frame;
    double before = -HUGE_VAL;
    json_array_foreach(json_object_get(scene, "bodies"), i, body)
    {
        same_body(whole, body, json_number_value(json_object_get(body, "time")));
    }
    json_array_foreach(json_object_get(scene, "frames"), i, frame)
    {
        double time = json_number_value(json_object_get(frame, "time"));
        ck_assert_double_gt(time, before);
        before = time;
        json_array_foreach(json_object_get(frame, "bodies"), k, body)
        {
            same_body(whole, body, time);
        }
        counts.frames++;
    }
    ck_assert_uint_le(json_array_size(json_object_get(scene, "frames")), HS_SCENE_FRAMES_MAX);
}

static void check_shot(const struct hs_scene_stage *stage, const struct hs_hit_result *result,
                       const json_t *scene)
{
    const json_t *shot = json_object_get(scene, "shot");
    const json_t *path = json_object_get(shot, "path");
    const json_t *closest = json_object_get(shot, "closest");
    same_vec(json_object_get(shot, "start"), 0, stage->claim.start);
    if (stage->claim.pellet_count > 0)
        return;
    ck_assert_uint_ge(json_array_size(path), 2);
    same_vec(json_array_get(path, 0), 0, stage->claim.start);
    if (!result->has_margin || stage->claim.target.ptr == NULL)
        return;
    double distance = json_number_value(json_object_get(closest, "distance"));
    ck_assert_msg(NEAR(distance, result->margin), "%g instead of the margin %g", distance,
                  result->margin);
    counts.margins++;
}

static void check_world(const json_t *scene)
{
    const json_t *walls = json_object_get(scene, "walls");
    size_t numbers = json_array_size(json_object_get(walls, "triangles"));
    ck_assert_uint_eq(numbers % 9, 0);
    ck_assert_uint_eq(json_array_size(json_object_get(walls, "boxes")) % 6, 0);
    counts.walls += (long)numbers / 9;
    counts.movers += (long)json_array_size(json_object_get(scene, "movers"));
}

static json_t *encode(const struct hs_recomputed *of)
{
    struct hs_evidence_parts parts = {.ruleset = HS_STR("scenes"), .revision = HS_STR("r")};
    struct hs_verdict_scene scene;
    struct hs_buffer text = {0};
    struct hs_writer writer = {.buffer = &text};
    ck_assert(hs_verdict_scene_find(of, &scene));
    hs_write_begin(&writer, '{');
    hs_verdict_scene_encode(&scene, &parts, &writer);
    hs_write_end(&writer, '}');
    json_t *root = json_loadb(text.data, text.len, 0, NULL);
    ck_assert_msg(root != NULL, "%.*s", (int)text.len, text.data);
    hs_buffer_free(&text);
    hs_verdict_scene_free(&scene);
    return root;
}

static void check_scene(const struct hs_scene_stage *stage)
{
    struct hs_bytes bytes = {0};
    struct hs_hit_result result;
    hs_scene_verify(stage, &result);
    hs_hit_save_excerpt(stage->match, &stage->claim, &result, &bytes);
    struct hs_recomputed of = {.ruleset = stage->rules,
                               .hit = &stage->claim,
                               .now_us = stage->now_us,
                               .item = HS_STR("{}"),
                               .recorded = HS_STR("{}")};
    ck_assert_int_eq(hs_match_load(stage->rules, &limits, bytes.data, bytes.len, &of.match),
                     HS_MATCH_LOADED);
    hs_match_set_world(of.match, stage->world);
    hs_hit_verify(of.match, of.hit, of.now_us, &of.result);
    json_t *scene = encode(&of);
    check_bodies(stage->match, scene);
    check_shot(stage, &result, scene);
    check_world(scene);
    json_decref(scene);
    hs_match_destroy(of.match);
    free(bytes.data);
}

START_TEST(scenes_show_what_was_verified)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 2000);
    uint64_t seed = hs_test_seed(20264);
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        struct hs_scene_frame as_it_is = hs_scene_as_it_is();
        struct hs_scene scene;
        struct hs_scene_stage stage;
        hs_scene_draw(&random, &hs_scene_anything, &scene);
        hs_scene_open(&scene, &as_it_is, &stage);
        check_scene(&stage);
        hs_scene_close(&stage);
    }
    printf("%ld bodies, %ld margins, %ld frames, %ld triangles, %ld movers\n", counts.bodies,
           counts.margins, counts.frames, counts.walls, counts.movers);
    ck_assert_int_gt(counts.bodies, 5 * cases);
    ck_assert_int_gt(counts.margins, cases / 8);
    ck_assert_int_gt(counts.frames, 3 * cases);
    ck_assert_int_gt(counts.walls, cases / 8);
    ck_assert_int_gt(counts.movers, cases / 16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict_scenes");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, scenes_show_what_was_verified);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
