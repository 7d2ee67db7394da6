/* The synthetic match: the same from the same seed, plausible, and each player true to his kind. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/synthetic.h"
#include "tests/support/run_suite.h"

enum { SEEDS = 4 };
#define SECONDS 12.0

/* The whole recording as text. */
static char *text_of(uint64_t seed)
{
    char error[HS_PLAY_ERROR_MAX], *text = NULL;
    size_t size = 0;
    struct hs_recording_entry entry;
    FILE *file = open_memstream(&text, &size);
    struct hs_synthetic *match = hs_synthetic_create(seed, SECONDS);
    struct hs_recording *recording = hs_synthetic_open(match);
    ck_assert(hs_recording_write_header(file, &recording->header));
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        ck_assert(hs_recording_write_entry(file, &entry));
        hs_recording_entry_clear(&entry);
    }
    fclose(file);
    hs_recording_close(recording);
    hs_synthetic_destroy(match);
    return text;
}

START_TEST(same_seed_same_match)
{
    char *once = text_of(3), *again = text_of(3), *other = text_of(4);
    ck_assert_uint_gt(strlen(once), 100000);
    ck_assert_int_eq(strcmp(once, again), 0);
    ck_assert_int_ne(strcmp(once, other), 0);
    free(once);
    free(again);
    free(other);
}
END_TEST

START_TEST(people_move_like_people)
{
    struct hs_synthetic *match = hs_synthetic_create((uint64_t)_i, SECONDS);
    const struct hs_walkers *walkers = hs_synthetic_walkers(match);
    double fastest = 0.0, highest = 0.0;
    for (unsigned i = 0; i < HS_WALKERS; i++) {
        for (size_t tick = 0; tick < (size_t)(SECONDS * HS_WALK_HZ); tick++) {
            const struct hs_walk_pose *pose = hs_walkers_at(walkers, i, tick);
            ck_assert(fabs(pose->position.x) < 20.0 && fabs(pose->position.y) < 20.0);
            ck_assert_double_ge(pose->position.z, 0.0);
            highest = fmax(highest, pose->position.z);
            if (tick == 0 || pose->spawned)
                continue;
            const struct hs_walk_pose *before = hs_walkers_at(walkers, i, tick - 1);
            struct hs_vec step = hs_vec_sub(pose->position, before->position);
            fastest = fmax(fastest, hypot(step.x, step.y) * HS_WALK_HZ);
        }
    }
    hs_synthetic_destroy(match);
    ck_assert_msg(fastest > 3.0 && fastest < 12.0, "fastest %g m/s", fastest);
    ck_assert_msg(highest > 0.2 && highest < 1.0, "highest %g m", highest);
}
END_TEST

/* A body with half a metre around it, minus what rounding may take. */
static bool is_inside(const struct hs_world_box *box, struct hs_vec at)
{
    const double room = 0.44;
    return box->min.z < 2.0 && at.x > box->min.x - room && at.x < box->max.x + room &&
           at.y > box->min.y - room && at.y < box->max.y + room;
}

/* How often somebody was in the doorway, on the way through. */
static size_t check_walls(const struct hs_walkers *walkers)
{
    size_t count, crossings = 0;
    const struct hs_world_box *boxes = hs_arena_boxes(&count);
    for (unsigned i = 0; i < HS_WALKERS; i++) {
        for (size_t tick = 0; tick < (size_t)(SECONDS * HS_WALK_HZ); tick++) {
            struct hs_vec at = hs_walkers_at(walkers, i, tick)->position;
            struct hs_solid door = hs_arena_door(hs_walkers_opening_at(walkers, tick));
            for (size_t k = 0; k < count; k++)
                ck_assert_msg(!is_inside(&boxes[k], at), "box %zu at tick %zu", k, tick);
            ck_assert_double_gt(hs_solid_distance(&door, at), 0.3);
            crossings += fabs(at.x) < 1.0 && fabs(at.y) < 0.2;
        }
    }
    return crossings;
}

START_TEST(nobody_walks_through_walls)
{
    size_t crossings = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct hs_synthetic *match = hs_synthetic_create(seed, 60.0);
        crossings += check_walls(hs_synthetic_walkers(match));
        hs_synthetic_destroy(match);
    }
    ck_assert_uint_gt(crossings, 0);
}
END_TEST

START_TEST(the_door_opens_and_shuts)
{
    struct hs_synthetic *match = hs_synthetic_create((uint64_t)_i, 60.0);
    const struct hs_walkers *walkers = hs_synthetic_walkers(match);
    size_t open = 0, shut = 0, moving = 0, ticks = (size_t)(60 * HS_WALK_HZ);
    for (size_t tick = 0; tick < ticks; tick++) {
        double opening = hs_walkers_opening_at(walkers, tick);
        ck_assert(opening >= 0.0 && opening <= 1.0);
        open += opening == 1.0;
        shut += opening == 0.0;
        moving += opening > 0.0 && opening < 1.0;
        if (tick == 0)
            continue;
        double before = hs_walkers_opening_at(walkers, tick - 1);
        double half = (hs_walkers_time(tick - 1) + hs_walkers_time(tick)) / 2.0;
        ck_assert_double_le(fabs(opening - before), HS_ARENA_DOOR_STEP);
        ck_assert_double_eq_tol(hs_walkers_opening(walkers, half), (before + opening) / 2.0, 1e-9);
    }
    ck_assert_double_eq(hs_walkers_opening(walkers, hs_walkers_time(ticks) + 1.0),
                        hs_walkers_opening_at(walkers, ticks - 1));
    hs_synthetic_destroy(match);
    ck_assert_uint_gt(open, 64);
    ck_assert_uint_gt(shut, 64);
    ck_assert_uint_gt(moving, 64);
}
END_TEST

START_TEST(screens_show_the_way_between_ticks)
{
    struct hs_synthetic *match = hs_synthetic_create(1, SECONDS);
    const struct hs_walkers *walkers = hs_synthetic_walkers(match);
    const struct hs_walk_pose *from = hs_walkers_at(walkers, 2, 100);
    const struct hs_walk_pose *to = hs_walkers_at(walkers, 2, 101);
    struct hs_walk_pose seen;
    double between = (hs_walkers_time(100) + hs_walkers_time(101)) / 2.0;
    ck_assert(hs_walkers_seen(walkers, 2, hs_walkers_time(100), &seen));
    ck_assert_double_eq(seen.position.x, from->position.x);
    ck_assert(hs_walkers_seen(walkers, 2, between, &seen));
    ck_assert_double_eq_tol(seen.position.x, (from->position.x + to->position.x) / 2.0, 1e-9);
    ck_assert(!hs_walkers_seen(walkers, 2, hs_walkers_time(0) - 0.01, &seen));
    hs_synthetic_destroy(match);
}
END_TEST

static struct hs_vec vector(const json_t *object, const char *key)
{
    const json_t *array = json_object_get(object, key);
    return (struct hs_vec){json_number_value(json_array_get(array, 0)),
                           json_number_value(json_array_get(array, 1)),
                           json_number_value(json_array_get(array, 2))};
}

/* The claim's target at the claimed time, and the claim's path, this wide. */
static void body_of(const struct hs_synthetic *match, const json_t *hit, double radius,
                    struct hs_body *body, struct hs_sweep *sweep)
{
    const struct hs_ruleset *ruleset = hs_synthetic_ruleset(match);
    int target = hs_synthetic_find(json_string_value(json_object_get(hit, "target")));
    struct hs_walk_pose pose;
    ck_assert_int_ge(target, 0);
    ck_assert(hs_walkers_seen(hs_synthetic_walkers(match), (unsigned)target,
                              json_number_value(json_object_get(hit, "hit_time")), &pose));
    hs_walk_body(&pose, ruleset->rigs[ruleset->default_rig], body);
    struct hs_vec start = vector(hit, "start");
    struct hs_vec path = hs_vec_sub(vector(hit, "end"), start);
    double length = hs_vec_length(path);
    *sweep = (struct hs_sweep){start, hs_vec_scale(path, 1.0 / length), length, radius};
}

/* The gap between a claim's path, this wide, and its target. */
static double gap_of(const struct hs_synthetic *match, const json_t *hit, double radius)
{
    struct hs_body body;
    struct hs_sweep sweep;
    double gap = HUGE_VAL;
    body_of(match, hit, radius, &body, &sweep);
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_sweep_contact contact;
        hs_sweep_solid(&sweep, &body.solids[i], &contact);
        gap = fmin(gap, contact.gap);
    }
    return gap;
}

/* How far a claim's path gets before the arena, as it stood at the claimed time, is in the way. */
static double way_of(const struct hs_synthetic *match, const struct hs_arena *arena,
                     const json_t *hit)
{
    struct hs_body body;
    struct hs_sweep sweep;
    double distance;
    body_of(match, hit, 0, &body, &sweep);
    double opening = hs_walkers_opening(hs_synthetic_walkers(match),
                                        json_number_value(json_object_get(hit, "hit_time")));
    return hs_arena_stops(arena, &sweep, opening, &distance) ? distance : HUGE_VAL;
}

/* The travel of the claim's path until it touches its target; HUGE_VAL: never. */
static double touch_of(const struct hs_synthetic *match, const json_t *hit)
{
    struct hs_body body;
    struct hs_sweep sweep;
    double first = HUGE_VAL, distance;
    body_of(match, hit, 0, &body, &sweep);
    for (uint16_t i = 0; i < body.count; i++)
        if (hs_sweep_touches(&sweep, &body.solids[i], &distance))
            first = fmin(first, distance);
    return first;
}

static void check_claim(const struct hs_synthetic *match, const struct hs_arena *arena,
                        const char *who, const json_t *hit, double now)
{
    double age = now - json_number_value(json_object_get(hit, "hit_time"));
    double radius = json_number_value(json_object_get(hit, "radius"));
    if (strcmp(who, HS_WHO_HONEST) == 0) {
        ck_assert_double_le(gap_of(match, hit, 0), 1e-4);
        ck_assert_double_lt(touch_of(match, hit), way_of(match, arena, hit));
        ck_assert(age >= 0.02 && age < 0.25);
    } else if (strcmp(who, HS_WHO_WALL_FORGER) == 0) {
        ck_assert_double_gt(touch_of(match, hit), way_of(match, arena, hit));
        ck_assert_double_lt(touch_of(match, hit), HUGE_VAL);
        ck_assert(age >= 0.02 && age < 0.25);
    } else if (strcmp(who, HS_WHO_CLAIM_FORGER) == 0) {
        ck_assert_double_gt(gap_of(match, hit, 0), 0.3);
        ck_assert(age >= 0.02 && age < 0.25);
    } else if (strcmp(who, HS_WHO_THROUGH_TIME) == 0) {
        ck_assert(age > 0.3 || age < -0.05);
    } else {
        ck_assert_str_eq(who, HS_WHO_RADIUS_FORGER);
        ck_assert_double_eq_tol(radius, 0.25, 1e-9);
        ck_assert_double_gt(gap_of(match, hit, 0), 0.01);
        ck_assert_double_le(gap_of(match, hit, radius), 1e-9);
    }
}

START_TEST(everybody_is_true_to_his_kind)
{
    static const char *const kinds[] = {HS_WHO_HONEST, HS_WHO_CLAIM_FORGER, HS_WHO_THROUGH_TIME,
                                        HS_WHO_RADIUS_FORGER, HS_WHO_WALL_FORGER};
    size_t claims[5] = {0};
    char error[HS_PLAY_ERROR_MAX];
    struct hs_recording_entry entry;
    struct hs_synthetic *match = hs_synthetic_create((uint64_t)_i, SECONDS);
    struct hs_recording *recording = hs_synthetic_open(match);
    struct hs_arena *arena = hs_arena_create();
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        size_t i;
        json_t *hit;
        json_array_foreach(hs_recording_claims(&entry), i, hit)
        {
            const char *who = json_string_value(json_array_get(entry.who, i));
            check_claim(match, arena, who, hit, entry.at);
            for (size_t k = 0; k < 5; k++)
                claims[k] += strcmp(who, kinds[k]) == 0;
        }
        hs_recording_entry_clear(&entry);
    }
    hs_recording_close(recording);
    hs_arena_destroy(arena);
    for (size_t k = 0; k < 5; k++)
        ck_assert_msg(claims[k] >= 5, "%s made %zu claims", kinds[k], claims[k]);
    ck_assert_uint_gt(hs_synthetic_honest_misses(match), 0);
    hs_synthetic_destroy(match);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("synthetic");
    TCase *tests = tcase_create("synthetic");
    tcase_add_test(tests, same_seed_same_match);
    tcase_add_loop_test(tests, people_move_like_people, 0, SEEDS);
    tcase_add_test(tests, nobody_walks_through_walls);
    tcase_add_loop_test(tests, the_door_opens_and_shuts, 0, SEEDS);
    tcase_add_test(tests, screens_show_the_way_between_ticks);
    tcase_add_loop_test(tests, everybody_is_true_to_his_kind, 0, SEEDS);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
