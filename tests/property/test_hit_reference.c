/* The contacts of a claim, compared with a reference that walks along the path in 20,000 steps and
   measures all distances at each. The first body, its zone, the distance, and the gap to a missed
   target must agree. Cases for which the steps are too coarse are counted. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/property/scene_reference.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED  20250305
#define DEFAULT_CASES 300

/* Rows: everything turns and the shot is instant, or nothing turns and the shot is a projectile.
   Two more rows have bodies that do not block, and hits by touch. */
static const struct hs_scene_wishes wishes[] = {
    {.aligned = true, .turning = true, .instant = true},
    {.aligned = true},
    {.aligned = true, .turning = true, .instant = true, .ghosts = true},
    {.aligned = true, .ghosts = true},
};

enum { ROWS = sizeof wishes / sizeof wishes[0] };

/* The first body on the path. */
struct first {
    int player;       /* -1: none */
    const char *zone; /* the zone that counts */
    double distance;  /* travel at the first touch */
    double zone_distance;
    bool is_clear; /* the steps are fine enough to decide */
};

/* Finds the zone of one body that counts: the head if it has priority, otherwise the first zone
   touched. */
static void first_zone(const struct hs_scene *scene, const struct hs_scene_meeting *meeting,
                       double margin, struct first *out)
{
    const struct hs_scene_gap *first = NULL, *counts = NULL;
    for (int i = 0; i < meeting->count; i++) {
        const struct hs_scene_gap *h = &meeting->hitboxes[i];
        out->is_clear = out->is_clear && fabs(h->gap) > margin;
        if (h->gap > 0)
            continue;
        if (first == NULL || h->distance < first->distance)
            first = h;
        if (scene->priority && strcmp(h->zone, "head") == 0)
            counts = h;
    }
    out->distance = out->zone_distance = HUGE_VAL;
    if (first == NULL)
        return;
    counts = counts == NULL ? first : counts;
    out->zone = counts->zone;
    out->distance = first->distance;
    out->zone_distance = counts->distance;
    for (int i = 0; i < meeting->count && counts == first; i++) {
        const struct hs_scene_gap *h = &meeting->hitboxes[i];
        bool is_close = h != first && h->gap <= 0 && h->distance - first->distance <= margin;
        out->is_clear = out->is_clear && !is_close;
    }
}

struct expected {
    struct first target, other;
    double target_gap;
    enum hs_reason reason;
    bool is_clear;
};

/* Whether a player stops shots: not if frames say that they are not solid, nor if they are a team
   mate and teammates_block is false. */
static bool is_in_the_way(const struct hs_scene *scene, int p)
{
    int team = scene->players[0].team;
    bool is_mate = team != 0 && scene->players[p].team == team;
    return !scene->players[p].is_ghost && !(is_mate && scene->passes_team);
}

/* Expects the first touched body as the victim. A body that does not block counts only if the claim
   names it and no other body is touched. */
static void expect_by_touch(const struct hs_scene *scene, struct expected *out)
{
    bool named_blocks = scene->has_target && is_in_the_way(scene, scene->target);
    if (out->other.player < 0 || (named_blocks && out->target.distance < out->other.distance))
        return;
    out->target = out->other;
    out->other = (struct first){.player = -1, .distance = HUGE_VAL};
}

static void expect_by_reference(const struct hs_scene *scene, struct expected *out)
{
    double margin = 4 * hs_scene_reference_step(scene) + 1e-3;
    out->target = out->other = (struct first){.player = -1, .distance = HUGE_VAL};
    out->target_gap = HUGE_VAL;
    out->is_clear = true;
    for (int p = 1; p < scene->player_count; p++) {
        struct hs_scene_meeting meeting;
        struct first first = {.player = p, .is_clear = true};
        hs_scene_reference(scene, p, &meeting);
        first_zone(scene, &meeting, margin, &first);
        out->is_clear = out->is_clear && first.is_clear;
        if (p == scene->target && scene->has_target) {
            out->target = first;
            for (int i = 0; i < meeting.count; i++)
                out->target_gap = fmin(out->target_gap, meeting.hitboxes[i].gap);
        } else if (first.distance < HUGE_VAL && is_in_the_way(scene, p)) {
            bool close = fabs(first.distance - out->other.distance) <= margin;
            out->is_clear = out->is_clear && !close;
            if (first.distance < out->other.distance)
                out->other = first;
        }
    }
    bool touched = out->target.distance < HUGE_VAL, met = out->other.player >= 0;
    out->is_clear = out->is_clear &&
                    !(touched && met && fabs(out->other.distance - out->target.distance) <= margin);
    if (scene->is_by_touch) {
        expect_by_touch(scene, out);
        touched = out->target.distance < HUGE_VAL;
        met = out->other.player >= 0 && scene->has_target;
    }
    bool blocked = met && out->other.distance < out->target.distance;
    if (!touched && !scene->has_target) {
        out->reason = HS_REASON_OK; /* no body is claimed, and none is hit */
        return;
    }
    out->reason = touched ? (blocked ? HS_REASON_BLOCKED_BY_PLAYER : HS_REASON_OK)
                  : met   ? HS_REASON_WRONG_TARGET
                          : HS_REASON_NO_INTERSECTION;
}

static void compare(const struct hs_scene *scene, const struct expected *want,
                    const struct hs_hit_result *got, long i)
{
    ck_assert_msg(got->reason == want->reason, "case %ld: %s instead of %s", i,
                  hs_reason_name(got->reason), hs_reason_name(want->reason));
    bool is_hit = want->reason == HS_REASON_OK;
    const struct first *first = is_hit ? &want->target : &want->other;
    double near = 4 * hs_scene_reference_step(scene) + 1e-3;
    ck_assert_msg(got->impact.present == (first->player >= 0 && first->distance < HUGE_VAL),
                  "case %ld", i);
    if (got->impact.present) {
        ck_assert_str_eq(got->impact.player.text, scene->players[first->player].name);
        ck_assert_msg(strcmp(got->impact.zone.text, first->zone) == 0, "case %ld: %s, not %s", i,
                      got->impact.zone.text, first->zone);
        ck_assert_msg(fabs(got->impact.distance - first->zone_distance) <= near,
                      "case %ld: after %g instead of %g", i, got->impact.distance,
                      first->zone_distance);
    }
    bool missed = want->target.distance == HUGE_VAL && scene->has_target;
    ck_assert_int_eq(got->has_margin, missed);
    ck_assert_msg(!missed || fabs(got->margin - want->target_gap) <= near,
                  "case %ld: missed by %g instead of %g", i, got->margin, want->target_gap);
}

/* Judges the scene with only the check of contacts. */
static void judge(const struct hs_scene *scene, struct hs_hit_result *out)
{
    struct hs_scene_stage stage;
    struct hs_scene_frame frame = hs_scene_as_it_is();
    hs_scene_open(scene, &frame, &stage);
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        if (i != HS_CHECK_CONTACT && i != HS_CHECK_BYSTANDER)
            stage.rules->checks[i] = HS_MODE_OFF;
    stage.rules->hit.claim_padding = 0;
    hs_hit_verify(stage.match, &stage.claim, stage.now_us, out);
    hs_scene_close(&stage);
}

/* Moves the times of a claim into the history, because claims outside it are not compared. */
static void keep_within_history(struct hs_scene *scene)
{
    if (scene->hit_time_us < scene->times_us[1])
        scene->hit_time_us = scene->times_us[1];
    double flight = hs_vec_distance(scene->start, scene->end) / 30 * 1e6;
    if (scene->fire_time_us < scene->times_us[0])
        scene->fire_time_us = scene->times_us[0];
    if (scene->fire_time_us > scene->hit_time_us)
        scene->fire_time_us = scene->hit_time_us;
    if (scene->hit_time_us - (int64_t)flight - 1 < scene->times_us[0])
        scene->has_fire_time = true;
}

START_TEST(the_reference_agrees)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    /* Fewer shots are blocked if some bodies do not block, so this needs more cases. */
    long cases = hs_test_count("HS_REFERENCE_CASES", DEFAULT_CASES) * (wishes[_i].ghosts ? 3 : 1);
    long unclear = 0;
    long reasons[HS_REASON_COUNT] = {0};
    static struct hs_hit_result got;
    static struct hs_scene scene;
    for (long i = 0; i < cases; i++) {
        struct expected want;
        hs_scene_draw(&random, &wishes[_i], &scene);
        keep_within_history(&scene);
        expect_by_reference(&scene, &want);
        if (!want.is_clear) {
            unclear++;
            continue;
        }
        judge(&scene, &got);
        compare(&scene, &want, &got, i);
        reasons[got.reason]++;
    }
    printf("%s: %ld cases, %ld hit, %ld missed, %ld another, %ld blocked, %ld too close to tell\n",
           _i % 2 == 0 ? "instant" : "in flight", cases, reasons[HS_REASON_OK],
           reasons[HS_REASON_NO_INTERSECTION], reasons[HS_REASON_WRONG_TARGET],
           reasons[HS_REASON_BLOCKED_BY_PLAYER], unclear);
    ck_assert_int_le(unclear, cases / 10);
    if (cases < 300)
        return;
    ck_assert_int_ge(reasons[HS_REASON_OK], cases / 10);
    ck_assert_int_ge(reasons[HS_REASON_NO_INTERSECTION], cases / 10);
    ck_assert_int_ge(reasons[HS_REASON_WRONG_TARGET], 1);
    ck_assert_int_ge(reasons[HS_REASON_BLOCKED_BY_PLAYER], 1);
}
END_TEST

int main(void)
{
    printf("hit reference: HS_SEED=%llu, %ld cases\n",
           (unsigned long long)hs_test_seed(DEFAULT_SEED),
           hs_test_count("HS_REFERENCE_CASES", DEFAULT_CASES));
    Suite *suite = suite_create("hit reference");
    TCase *tcase = tcase_create("hit reference");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_reference_agrees, 0, ROWS);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
