/* The match of the demo: the same seed gives the same match, and each player behaves as their label
   says. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/match.h"
#include "tests/support/run_suite.h"

enum { SEEDS = 4 };
#define SECONDS 12.0

/* Returns the bodies of all requests as text. */
static char *text_of(uint64_t seed)
{
    char error[HS_PLAY_ERROR_MAX], *text = NULL;
    size_t size = 0;
    struct hs_recording_entry entry;
    FILE *file = open_memstream(&text, &size);
    struct hs_recording *recording = hs_demo_open(seed, SECONDS);
    ck_assert_ptr_nonnull(recording);
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        ck_assert_int_eq(json_dumpf(entry.body, file, 0), 0);
        if (entry.who != NULL)
            ck_assert_int_eq(json_dumpf(entry.who, file, 0), 0);
        hs_recording_entry_clear(&entry);
    }
    fclose(file);
    hs_recording_close(recording);
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

/* ---- frames ---- */

/* What a service knows about a player from the frames: a frame without a value leaves the last one
   as it is. */
struct told {
    bool alive, is_protected, crouched;
    json_int_t life;
};

static void remember(const json_t *player, struct told *told)
{
    const json_t *alive = json_object_get(player, "alive");
    const json_t *is_protected = json_object_get(player, "protected");
    const char *stance = json_string_value(json_object_get(player, "stance"));
    const json_t *life = json_object_get(player, "life");
    if (alive != NULL)
        told->alive = json_is_true(alive);
    if (is_protected != NULL)
        told->is_protected = json_is_true(is_protected);
    if (stance != NULL)
        told->crouched = strcmp(stance, "crouch") == 0;
    if (life != NULL)
        told->life = json_integer_value(life);
}

START_TEST(frames_have_every_change)
{
    char error[HS_PLAY_ERROR_MAX];
    struct hs_recording_entry entry;
    struct told told[HS_CROWD] = {{0}};
    size_t deaths = 0, i;
    json_t *player;
    struct hs_recording *recording = hs_demo_open((uint64_t)_i, SECONDS);
    const struct hs_film *film = &hs_demo_skirmish(recording)->game.film;
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        const json_t *frame = json_array_get(json_object_get(entry.body, "frames"), 0);
        json_t *players = json_object_get(frame, "players");
        const struct hs_film_frame *shown = &film->frames[film->count - 1];
        ck_assert_uint_eq(json_array_size(players), HS_CROWD);
        json_array_foreach(players, i, player)
        {
            const struct hs_sim_pose *pose = &shown->people[i];
            deaths += told[i].alive && !pose->alive;
            remember(player, &told[i]);
            ck_assert(told[i].alive == pose->alive && told[i].crouched == pose->crouched);
            ck_assert(told[i].is_protected == pose->is_protected);
            ck_assert_int_eq(told[i].life, pose->life);
        }
        hs_recording_entry_clear(&entry);
    }
    hs_recording_close(recording);
    ck_assert_uint_gt(deaths, 0);
}
END_TEST

/* ---- claims ---- */

static struct hs_vec vector(const json_t *object, const char *key)
{
    const json_t *array = json_object_get(object, key);
    return (struct hs_vec){json_number_value(json_array_get(array, 0)),
                           json_number_value(json_array_get(array, 1)),
                           json_number_value(json_array_get(array, 2))};
}

static struct hs_sim_pose pose_of(const struct hs_skirmish *match, const json_t *hit,
                                  const char *field, double time)
{
    struct hs_sim_pose pose;
    const char *player = json_string_value(json_object_get(hit, field));
    ck_assert(hs_demo_pose(match, player, time, &pose));
    return pose;
}

/* A claim, the server's place of its target, and the walls. */
struct seen {
    /* age of the claim; radius; gaps with the radius of the rules, and with the claimed radius */
    double age, radius, gap, wide_gap;
    double to_body, to_wall; /* length of the path to the body, and to the wall; HUGE_VAL: never
                                touched */
    double from_shooter;     /* distance from the start, as seen from above */
};

static struct seen look_at(const struct hs_skirmish *match, const json_t *hit, double now)
{
    const struct hs_sim_arena *arena = match->game.arena;
    double time = json_number_value(json_object_get(hit, "hit_time"));
    struct hs_vec start = vector(hit, "start");
    struct hs_sim_pose target = pose_of(match, hit, "target", fmin(time, now));
    double fired = json_number_value(json_object_get(hit, "fire_time"));
    struct hs_vec shooter = pose_of(match, hit, "shooter", fmin(fired, now)).position;
    struct seen seen = {.age = now - time,
                        .radius = json_number_value(json_object_get(hit, "radius")),
                        .to_body = HUGE_VAL,
                        .to_wall = HUGE_VAL,
                        .from_shooter = hypot(start.x - shooter.x, start.y - shooter.y)};
    struct hs_sweep sweep =
        hs_sweep_between(start, vector(hit, "end"), arena->weapons[HS_ARM_RIFLE]->radius);
    struct hs_world_contact wall;
    struct hs_body body;
    if (hs_world_sweep(arena->world, &sweep, &wall))
        seen.to_wall = wall.distance;
    hs_pose_body(arena, &target, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        double distance;
        if (hs_sweep_touches(&sweep, &body.solids[i], &distance))
            seen.to_body = fmin(seen.to_body, distance);
    }
    seen.gap = hs_pose_gap(arena, &target, &sweep);
    sweep.radius = seen.radius;
    seen.wide_gap = hs_pose_gap(arena, &target, &sweep);
    return seen;
}

static void check_claim(const char *who, const struct seen *seen)
{
    if (strcmp(who, hs_demo_cheats[HS_DEMO_THROUGH_TIME].label) == 0) {
        ck_assert(seen->age > 0.4 || seen->age < -0.05);
        return;
    }
    ck_assert(seen->age > 0.02 && seen->age < 0.4);
    if (strcmp(who, HS_WHO_HONEST) == 0) {
        ck_assert_double_le(seen->gap, 0.01);
        ck_assert(seen->to_body < seen->to_wall || seen->gap > 0);
        ck_assert_double_lt(seen->from_shooter, 1.0);
    } else if (strcmp(who, hs_demo_cheats[HS_DEMO_CLAIM_FORGER].label) == 0) {
        ck_assert_double_gt(seen->gap, 0.09);
    } else if (strcmp(who, hs_demo_cheats[HS_DEMO_RADIUS_FORGER].label) == 0) {
        ck_assert_double_eq_tol(seen->radius, 0.25, 1e-9);
        ck_assert(seen->gap > 0.02 && seen->wide_gap <= 1e-3);
    } else if (strcmp(who, hs_demo_cheats[HS_DEMO_WALL_FORGER].label) == 0) {
        ck_assert_double_lt(seen->to_wall, HUGE_VAL);
        ck_assert_double_gt(seen->to_body, seen->to_wall);
        ck_assert_double_lt(seen->gap, 0.01);
    } else {
        ck_assert_str_eq(who, hs_demo_cheats[HS_DEMO_ORIGIN_FORGER].label);
        ck_assert_double_gt(seen->from_shooter, 0.6);
    }
}

static int kind_of(const char *who)
{
    for (int cheat = 0; cheat < HS_DEMO_CHEAT_COUNT; cheat++)
        if (strcmp(who, hs_demo_cheats[cheat].label) == 0)
            return cheat;
    ck_assert_str_eq(who, HS_WHO_HONEST);
    return HS_DEMO_CHEAT_COUNT;
}

START_TEST(every_player_acts_as_their_kind)
{
    size_t claims[HS_DEMO_CHEAT_COUNT + 1] = {0}, i;
    char error[HS_PLAY_ERROR_MAX];
    struct hs_recording_entry entry;
    json_t *hit;
    struct hs_recording *recording = hs_demo_open((uint64_t)_i, SECONDS);
    const struct hs_skirmish *match = hs_demo_skirmish(recording);
    while (hs_recording_next(recording, &entry, error) == HS_RECORDING_ENTRY) {
        json_array_foreach(hs_recording_claims(&entry), i, hit)
        {
            const char *who = json_string_value(json_array_get(entry.who, i));
            const char *truth = json_string_value(json_array_get(entry.truth, i));
            struct seen seen = look_at(match, hit, entry.at);
            check_claim(who, &seen);
            ck_assert_str_eq(truth, strcmp(who, HS_WHO_HONEST) == 0 ? "hit" : "miss");
            claims[kind_of(who)]++;
        }
        hs_recording_entry_clear(&entry);
    }
    for (int kind = 0; kind <= HS_DEMO_CHEAT_COUNT; kind++)
        ck_assert_msg(claims[kind] >= 5, "kind %d made %zu claims", kind, claims[kind]);
    ck_assert_uint_gt(hs_demo_honest_misses(match), 0);
    hs_recording_close(recording);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("demo");
    TCase *tests = tcase_create("demo");
    tcase_add_test(tests, same_seed_same_match);
    tcase_add_loop_test(tests, frames_have_every_change, 0, SEEDS);
    tcase_add_loop_test(tests, every_player_acts_as_their_kind, 0, SEEDS);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
