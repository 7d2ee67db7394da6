/*
 * Properties that hold for every verdict. Random fights (tests/support/oracle/scene.h) are verified
 * as they are. Then they are moved, turned, scaled, delayed, posted with -q for q, or posted in
 * another order, and verified again.
 *
 * Rounding may decide a claim that lies on the edge of a limit. To find such claims, the test
 * verifies each claim again with a small offset. If the offset changes the words of the answer, the
 * case is left out and counted. Numbers must agree within the change that this offset causes.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/oracle/hit_compare.h"
#include "tests/support/oracle/scene.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED  20250304
#define DEFAULT_CASES 2000

/* In metres: the small offset, and the error of single precision for places two metres from a
   root. */
#define STEP     1e-5
#define ROUNDING 4e-6

/* ---- answers and their stability ---- */

/* An answer. Also: whether its words stay the same with the small offset, and how much its numbers
   change. */
struct judged {
    struct hs_hit_result result;
    struct hs_numbers numbers;
    bool is_stable;
    double spread; /* largest change of a length */
    double impact_spread, normal_spread;
};

static void judge_beside(struct hs_scene_stage *stage, struct hs_random *random, struct judged *out)
{
    struct hs_weapon *weapon =
        stage->rules->weapons[hs_ruleset_find_weapon(stage->rules, stage->claim.weapon)];
    struct hs_hit_claim claim = stage->claim;
    struct hs_pellet_claim pellets[HS_SCENE_PELLETS];
    memcpy(pellets, stage->pellets, sizeof pellets);
    double radius = weapon->radius;
    for (int i = 0; i < 6 && out->is_stable; i++) {
        static struct hs_hit_result beside;
        struct hs_numbers numbers;
        stage->claim.start =
            hs_vec_add_scaled(claim.start, hs_random_direction(random), i < 2 ? 0 : STEP);
        stage->claim.end =
            hs_vec_add_scaled(claim.end, hs_random_direction(random), i < 2 ? 0 : STEP);
        for (size_t k = 0; k < claim.pellet_count; k++)
            stage->pellets[k].end =
                hs_vec_add_scaled(pellets[k].end, hs_random_direction(random), i < 2 ? 0 : STEP);
        weapon->radius = i == 0 ? radius + STEP : i == 1 ? fmax(0, radius - STEP) : radius;
        hs_scene_verify(stage, &beside);
        hs_collect_numbers(&beside, 1, &numbers);
        out->is_stable =
            hs_same_words(&out->result, &beside) && numbers.count == out->numbers.count;
        for (int k = 0; out->is_stable && k < numbers.count; k++)
            if (!numbers.is_damage[k])
                out->spread = fmax(out->spread, fabs(numbers.value[k] - out->numbers.value[k]));
        out->impact_spread = fmax(out->impact_spread,
                                  hs_vec_distance(beside.impact.point, out->result.impact.point));
        out->normal_spread = fmax(out->normal_spread,
                                  hs_vec_distance(beside.impact.normal, out->result.impact.normal));
    }
    weapon->radius = radius;
    stage->claim = claim;
    memcpy(stage->pellets, pellets, sizeof pellets);
}

static void judge_base(const struct hs_scene *scene, struct hs_random *random, struct judged *out)
{
    struct hs_scene_stage stage;
    struct hs_scene_frame frame = hs_scene_as_it_is();
    hs_scene_open(scene, &frame, &stage);
    memset(out, 0, sizeof *out);
    hs_scene_verify(&stage, &out->result);
    hs_collect_numbers(&out->result, 1, &out->numbers);
    out->is_stable = true;
    judge_beside(&stage, random, out);
    hs_scene_close(&stage);
}

/* ---- frames of reference ---- */

static struct hs_scene_quat quarter_turn(struct hs_random *random)
{
    static const struct hs_vec axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    struct hs_scene_quat q = {0, 0, 0, 1};
    for (int i = 0; i < 3; i++)
        q = hs_scene_product(
            hs_scene_quat_about(axes[i], hs_random_index(random, 4) * 1.57079632679489661923), q);
    return q;
}

typedef void draw_frame(struct hs_random *random, struct hs_scene_frame *frame);

static void moved(struct hs_random *random, struct hs_scene_frame *frame)
{
    frame->translation = hs_vec_scale(hs_random_direction(random), 1e6);
}

static void turned_by_quarters(struct hs_random *random, struct hs_scene_frame *frame)
{
    frame->rotation = quarter_turn(random);
}

static void turned(struct hs_random *random, struct hs_scene_frame *frame)
{
    frame->rotation =
        hs_scene_quat_about(hs_random_direction(random), hs_random_between(random, -3.14, 3.14));
}

static void scaled(struct hs_random *random, struct hs_scene_frame *frame)
{
    static const double scales[] = {100, 1 / 0.0254, 0.5, 64, 1e-2, 3};
    frame->scale = scales[hs_random_index(random, 6)];
}

static void all_at_once(struct hs_random *random, struct hs_scene_frame *frame)
{
    scaled(random, frame);
    turned_by_quarters(random, frame);
    moved(random, frame);
    frame->shift_us = INT64_C(1700000000000000);
    frame->negate = true;
    frame->order = 1 + (uint64_t)hs_random_index(random, 1000);
}

static void later(struct hs_random *random, struct hs_scene_frame *frame)
{
    frame->shift_us =
        hs_random_chance(random, 0.5) ? INT64_C(1700000000000000) : -INT64_C(86400000000) * 3650;
}

static void negated(struct hs_random *random, struct hs_scene_frame *frame)
{
    (void)random;
    frame->negate = true;
}

static void in_another_order(struct hs_random *random, struct hs_scene_frame *frame)
{
    frame->order = 1 + (uint64_t)hs_random_index(random, 1000000);
}

static const struct {
    const char *name;
    draw_frame *draw;
    bool exact;   /* all bits must be equal */
    bool aligned; /* axis-aligned boxes keep their shape in this frame of reference */
    bool upright; /* `up` is along an axis */
    /* metres added to the usual tolerance, for the error of adding 1e6 to a place and of turning in
       double */
    double rounding;
} frames[] = {
    {"translation", moved, false, true, true, 1e-9},
    {"quarter turns", turned_by_quarters, false, false, true, 0},
    {"any turn", turned, false, false, false, 0},
    {"scaling", scaled, false, true, true, 0},
    {"another time", later, true, true, true, 0},
    {"-q for q", negated, true, true, true, 0},
    {"order of players", in_another_order, true, true, true, 0},
    {"all of it", all_at_once, false, false, true, 1e-7},
};

#define FRAMES ((int)(sizeof frames / sizeof *frames))

/* A quarter turn swaps the axes of an aligned box. Only a cube stays the same, so this makes cubes
   of the hulls. */
static void square_hulls(const struct hs_scene_stage *stage)
{
    struct hs_rig *hull = stage->rules->rigs[HS_SCENE_HULL];
    double half = hull->hitboxes[0].half_extents.x;
    hull->hitboxes[0].half_extents = (struct hs_vec){half, half, half};
    hull->hitboxes[0].center = (struct hs_vec){0, 0, 0};
    hs_ruleset_finish(stage->rules);
}

static bool is_close(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance;
}

static void expect_numbers(const char *name, long i, const struct judged *base,
                           const struct hs_hit_result *got, const struct hs_scene_frame *frame,
                           double rounding)
{
    struct hs_numbers numbers;
    hs_collect_numbers(got, frame->scale, &numbers);
    ck_assert_int_eq(numbers.count, base->numbers.count);
    double tolerance = rounding + 4 * base->spread;
    for (int k = 0; k < numbers.count; k++) {
        /* Damage is 20 x zone x scale. Its falloff is less than 1 / 30 per metre. */
        double share = numbers.is_damage[k] ? 4 : 1;
        ck_assert_msg(is_close(numbers.value[k], base->numbers.value[k], share * tolerance),
                      "%s, case %ld (%s): %.12g instead of %.12g, %g allowed", name, i,
                      hs_reason_name(got->reason), numbers.value[k], base->numbers.value[k],
                      share * tolerance);
    }
    if (!got->impact.present)
        return;
    struct hs_vec point = hs_scene_point(frame, base->result.impact.point);
    ck_assert_msg(hs_vec_distance(got->impact.point, point) <=
                      frame->scale * (rounding + 4 * base->impact_spread),
                  "%s, case %ld: the impact is %g off", name, i,
                  hs_vec_distance(got->impact.point, point));
    struct hs_vec normal = hs_scene_turn(frame->rotation, base->result.impact.normal);
    ck_assert_double_le(hs_vec_distance(got->impact.normal, normal),
                        20 * rounding + 4 * base->normal_spread + 1e-4);
}

static void expect_bits(const char *name, long i, const struct hs_hit_result *want,
                        const struct hs_hit_result *got)
{
    bool same = hs_same_bits(want, got);
    ck_assert_msg(same, "%s, case %ld (%s): a number differs", name, i,
                  hs_reason_name(got->reason));
}

static void judge_in(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                     bool is_square, struct hs_hit_result *out)
{
    struct hs_scene_stage stage;
    hs_scene_open(scene, frame, &stage);
    if (is_square)
        square_hulls(&stage);
    hs_scene_verify(&stage, out);
    hs_scene_close(&stage);
}

static void draw_scene(struct hs_random *random, int row, struct hs_scene *out)
{
    struct hs_scene_wishes wishes = hs_scene_anything;
    wishes.aligned = frames[row].aligned; /* because a turn changes axis-aligned boxes */
    wishes.falling = frames[row].upright;
    hs_scene_draw(random, &wishes, out);
}

START_TEST(the_same_in_every_frame_of_reference)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    long cases = hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES);
    struct hs_tally tally = {0};
    static struct judged base;
    static struct hs_hit_result got;
    static struct hs_scene scene;
    for (long i = 0; i < cases; i++) {
        draw_scene(&random, _i, &scene);
        judge_base(&scene, &random, &base);
        hs_tally_count(&tally, &base.result);
        tally.unstable += !base.is_stable;
        if (!base.is_stable && !frames[_i].exact)
            continue;
        struct hs_scene_frame frame = hs_scene_as_it_is();
        frames[_i].draw(&random, &frame);
        judge_in(&scene, &frame, false, &got);
        ck_assert_msg(hs_same_words(&base.result, &got), "%s, case %ld: %s instead of %s",
                      frames[_i].name, i, hs_reason_name(got.reason),
                      hs_reason_name(base.result.reason));
        if (frames[_i].exact)
            expect_bits(frames[_i].name, i, &base.result, &got);
        else
            expect_numbers(frames[_i].name, i, &base, &got, &frame, ROUNDING + frames[_i].rounding);
    }
    hs_tally_expect_variety(frames[_i].name, &tally);
}
END_TEST

/* A cube that ignores rotation is the same cube after quarter turns of the world. */
START_TEST(aligned_cubes_turn_by_quarters)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 50);
    long cases = hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES) / 2, compared = 0;
    static struct hs_hit_result base, beside, got;
    static struct hs_scene scene;
    for (long i = 0; i < cases; i++) {
        hs_scene_draw(&random, &hs_scene_anything, &scene);
        for (int p = 0; p < scene.player_count; p++)
            scene.players[p].has_scale = false; /* because the scale is along the world's axes */
        struct hs_scene_frame frame = hs_scene_as_it_is();
        judge_in(&scene, &frame, true, &base);
        bool stable = true;
        for (int k = 0; k < 4 && stable; k++) {
            struct hs_scene moved_scene = scene;
            moved_scene.end = hs_vec_add_scaled(scene.end, hs_random_direction(&random), STEP);
            moved_scene.start = hs_vec_add_scaled(scene.start, hs_random_direction(&random), STEP);
            judge_in(&moved_scene, &frame, true, &beside);
            stable = hs_same_words(&base, &beside);
        }
        turned_by_quarters(&random, &frame);
        judge_in(&scene, &frame, true, &got);
        compared += stable;
        ck_assert_msg(!stable || hs_same_words(&base, &got), "case %ld: %s instead of %s", i,
                      hs_reason_name(got.reason), hs_reason_name(base.reason));
    }
    ck_assert_int_ge(compared, cases * 9 / 10);
}
END_TEST

int main(void)
{
    printf("hit properties: HS_SEED=%llu, %ld cases\n",
           (unsigned long long)hs_test_seed(DEFAULT_SEED),
           hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES));
    Suite *suite = suite_create("hit properties");
    TCase *tcase = tcase_create("hit properties");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_same_in_every_frame_of_reference, 0, FRAMES);
    tcase_add_test(tcase, aligned_cubes_turn_by_quarters);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
