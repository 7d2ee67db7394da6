/*
 * Verification allocates nothing. This file counts every allocation of the program. If a sanitizer
 * replaces the allocator, hooks of the sanitizer count. Otherwise functions of this file replace
 * the allocator of the C library, and can let one allocation fail.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/all_scenarios.h"
#include "tests/support/oracle/offline.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/shot.h"
#include "validators/snapshot.h"
#include "validators/world.h"

/* These are volatile, because compilers assume that malloc does not change them. Here it does. */
static volatile unsigned long allocations, releases;
static void *volatile kept; /* so that the compiler removes no call */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#ifdef SANITIZED

/* <sanitizer/allocator_interface.h> declares this; not every compiler installs that header. */
extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                     void (*)(const volatile void *));

static void note_malloc(const volatile void *pointer, size_t size)
{
    (void)pointer;
    (void)size;
    allocations++;
}

static void note_free(const volatile void *pointer)
{
    (void)pointer;
    releases++;
}

static bool start_counting(void)
{
    return __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) > 0;
}

#else

/* glibc's own names for its allocator. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void __libc_free(void *pointer);

/* The number of allocations before one that fails; -1: none fails. */
static volatile long allocations_left = -1;

static bool fails(void)
{
    allocations++;
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    return fails() ? NULL : __libc_realloc(pointer, size);
}

void free(void *pointer)
{
    releases += pointer != NULL;
    __libc_free(pointer);
}

static bool start_counting(void)
{
    return true;
}

#endif

static struct hs_ruleset *rules;
static struct hs_match *match;
static struct hs_world *world;

static struct hs_weapon *add_weapon(const char *name, enum hs_weapon_type type)
{
    uint16_t i = hs_ruleset_add_weapon(rules, hs_stage_str(name));
    ck_assert_uint_ne(i, HS_NONE);
    struct hs_weapon *weapon = rules->weapons[i];
    weapon->type = type;
    weapon->damage = 10;
    weapon->pellets = 1;
    weapon->range = 100;
    weapon->radius = 0.05;
    weapon->has_require_shot = true; /* claims with posted shots and claims without them are
                                        tested */
    return weapon;
}

/* Adds one weapon of each kind to those of the stage. */
static void add_weapons(void)
{
    struct hs_weapon *shotgun = add_weapon("shotgun", HS_WEAPON_HITSCAN);
    shotgun->pellets = 8;
    shotgun->spread_deg = 4;
    add_weapon("pike", HS_WEAPON_HITSCAN)->pierce = 2;
    struct hs_weapon *rocket = add_weapon("rocket", HS_WEAPON_PROJECTILE);
    rocket->speed = 60;
    rocket->gravity = 9.81;
    rocket->max_flight_us = 2000000;
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){
        .radius = 4, .damage = 20, .inner_radius = 1, .self_scale = 0.5, .occlusion = true};
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = 150000;
    hs_ruleset_finish(rules);
    ck_assert_uint_eq(hs_ruleset_validate(rules, NULL, NULL), 0);
}

/* Builds some walls, a wedge, and a floor. */
static void build_world(void)
{
    static const struct hs_vec vertices[] = {{10, 5, 0}, {10, 9, 0}, {11, 7, 4}, {14, 7, 0}};
    static const uint32_t triangles[][3] = {{0, 1, 2}, {1, 2, 3}};
    static const struct hs_world_box boxes[] = {{{-50, -50, -1}, {50, 50, -0.1}},
                                                {{15, -3, 0}, {15.5, -1, 3}},
                                                {{18, 4.5, 0}, {18.2, 6, 3}}};
    struct hs_world_mesh mesh = {vertices, 4, triangles, 2, boxes, 3};
    world = hs_world_create(&mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(match, world);
}

/* Posts a lift and a door in all frames, and a gate only in the newest frame. Also posts the aims
   and the round trips of S. */
static void post_movers(void)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_mover_frame movers[3];
        enum hs_frame_result results[4];
        unsigned flags = 0;
        for (int i = 0; i < 3; i++)
            movers[i] = (struct hs_mover_frame){
                .mover = i == 0   ? HS_STR("lift")
                         : i == 1 ? HS_STR("door")
                                  : HS_STR("gate"),
                .fields = HS_MOVER_BOX | HS_MOVER_SOLID,
                .position = {8 + 4.0 * i, i == 0 ? 2 : 1, i == 0 ? 0.002 * ms : 1},
                .half_extents = {0.2, 0.4, 1},
                .is_solid = i != 1 || ms < 800};
        struct hs_player_frame shooter = hs_stage_entry("S2", 0, 0, 0);
        shooter.fields = HS_FIELD_AIM | HS_FIELD_RTT;
        shooter.aim[0] = 1;
        shooter.rtt_us = 60000 + 3000 * (ms % 7);
        shooter.team = HS_STR("red");
        struct hs_frame frame = {.time_us = HS_MS(ms),
                                 .players = &shooter,
                                 .player_count = 1,
                                 .movers = movers,
                                 .mover_count = ms > 900 ? 3 : 2};
        ck_assert(hs_match_post_frame(match, &frame, results, &flags));
    }
}

static void set_up(void)
{
    rules = hs_stage_ruleset();
    add_weapons();
    match = hs_stage_match(rules);
    build_world();
    hs_stage_play(match);
    post_movers();
    char name[8];
    for (int i = 0; i < 20; i++) { /* a crowd; some of its bodies have no pose at the time */
        snprintf(name, sizeof name, "B%d", i);
        for (int ms = i < 15 ? 700 : 990; ms <= 1000; ms += 50)
            hs_stage_place(match, HS_MS(ms), name, 5 + i / 2.0, 0.7 * i - 6, 0);
    }
}

static void tear_down(void)
{
    hs_match_destroy(match);
    hs_world_destroy(world);
    hs_ruleset_destroy(rules);
}

/* Check (the test framework) allocates in its assertions. So the test reads the counts first, and
   asserts later. */
START_TEST(the_counters_count)
{
    unsigned long before = allocations, released = releases;
    kept = malloc(100);
    free(kept);
    unsigned long one = allocations - before, one_released = releases - released;
    kept = calloc(3, 5);
    kept = realloc(kept, 2000);
    free(kept);
    unsigned long three = allocations - before, all_released = releases - released;
    ck_assert_uint_eq(one, 1);
    ck_assert_uint_eq(one_released, 1);
    ck_assert_uint_ge(three, 3);
    ck_assert_uint_ge(all_released, 2);
    /* The counters must notice allocations inside the library. */
    before = allocations;
    hs_stage_place(match, HS_MS(1000), "New", 0, 0, 0);
    unsigned long inside = allocations - before;
    ck_assert_uint_ge(inside, 2);
}
END_TEST

static struct hs_pellet_claim pellets[9];
static struct hs_str victims[6];

static void claim_of(int i, struct hs_hit_claim *claim)
{
    static const char *const weapons[] = {"rifle",   "bow",  "knife",  "unheard-of",
                                          "shotgun", "pike", "rocket", NULL};
    static const char *const targets[] = {"T", "B3", "S", "Nobody", "B17", NULL};
    *claim = hs_stage_claim(HS_MS(700 + i % 350), 20, (i % 7) - 1.0, 1.0 + (i % 5) / 5.0);
    claim->shot = (uint64_t)(100 + i);
    claim->shooter = i % 11 == 0 ? HS_STR("S2") : HS_STR("S");
    claim->weapon = hs_stage_str(weapons[i % 8]);
    claim->target = hs_stage_str(targets[i % 6]);
    claim->claimed_bone = hs_stage_str(i % 2 == 0 ? "head" : NULL);
    claim->has_fire_time = i % 3 == 0;
    claim->fire_time_us = claim->hit_time_us - HS_MS(i % 500);
    claim->has_velocity = i % 5 == 0;
    claim->velocity = (struct hs_vec){60, 0, 0};
    claim->fuse = i % 4 == 0 ? HS_FUSE_CONTACT : HS_FUSE_ANY;
    claim->has_claimed_damage = i % 9 == 0;
    claim->claimed_damage = 999;
    if (i % 8 == 4) {
        claim->pellets = pellets;
        claim->pellet_count = (size_t)(1 + i / 8 % 9);
        for (size_t k = 0; k < claim->pellet_count; k++)
            pellets[k] = (struct hs_pellet_claim){
                {20, claim->end.y + 0.1 * (double)k, claim->end.z}, hs_stage_str(targets[k % 6])};
    } else if (i % 8 == 5 || i % 8 == 6) {
        claim->victims = victims;
        claim->victim_count = 6;
        for (size_t k = 0; k < claim->victim_count; k++)
            victims[k] = hs_stage_str(targets[k % 5]);
    }
}

/* The checks that ran, and the reasons of the claims. */
struct seen {
    bool checks[HS_CHECK_COUNT], reasons[HS_REASON_COUNT];
};

static void see(struct seen *seen, const struct hs_hit_result *result)
{
    seen->reasons[result->reason] = true;
    for (int i = 0; i < result->check_count; i++)
        seen->checks[result->checks[i].check] = true;
}

/* Records earlier shots of S, for the cadence and for repeated traces. */
static void note_some(struct hs_hit_result *result)
{
    for (int i = 0; i < 4; i++) {
        struct hs_hit_claim claim = hs_stage_claim(HS_MS(800 + 60 * i), 20, 9, 1.6 + 0.1 * i);
        claim.shot = (uint64_t)(1 + i);
        hs_hit_verify(match, &claim, HS_MS(1000), result);
        ck_assert(hs_hit_record(match, &claim, result, HS_STR("{\"answer\":1")));
    }
}

static void expect_seen(const struct seen *seen, int mode, int reasons)
{
    int count = 0;
    for (int i = 0; i < HS_REASON_COUNT; i++)
        count += seen->reasons[i];
    ck_assert_int_ge(count, mode == HS_MODE_ENFORCE ? reasons : 1);
    for (int i = 0; i < HS_CHECK_COUNT && mode != HS_MODE_OFF; i++)
        ck_assert_msg(seen->checks[i], "%s never ran", hs_check_name((enum hs_check)i));
}

/* Row 0: modes as given; row 1: all checks in shadow; row 2: all checks off. */
START_TEST(verification_allocates_nothing)
{
    static struct hs_hit_result result;
    struct seen seen = {0};
    note_some(&result);
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = (enum hs_mode)_i;
    unsigned long before = allocations, released = releases;
    for (int i = 0; i < 8000; i++) {
        struct hs_hit_claim claim;
        claim_of(i, &claim);
        hs_hit_verify(match, &claim, HS_MS(1000), &result);
        see(&seen, &result);
    }
    unsigned long allocated = allocations - before, freed = releases - released;
    ck_assert_uint_eq(allocated, 0);
    ck_assert_uint_eq(freed, 0);
    expect_seen(&seen, _i, 16); /* the claims must have different results */
}
END_TEST

START_TEST(shots_allocate_nothing)
{
    static struct hs_hit_result result;
    int reasons = 0;
    struct seen seen = {0};
    unsigned long before = allocations, released = releases;
    for (int i = 0; i < 2000; i++) {
        struct hs_hit_claim claim;
        int64_t forward_us;
        claim_of(i, &claim);
        struct hs_shot_claim shot = {.shot = claim.shot,
                                     .shooter = claim.shooter,
                                     .weapon = claim.weapon,
                                     .time_us = claim.hit_time_us,
                                     .origin = {0, 0, i % 3},
                                     .direction = {1, 0, 0},
                                     .has_direction = i % 4 != 0,
                                     .has_seed = true,
                                     .seed = (uint64_t)i};
        hs_shot_verify(match, &shot, HS_MS(1000), &result, &forward_us);
        see(&seen, &result);
    }
    unsigned long allocated = allocations - before, freed = releases - released;
    ck_assert_uint_eq(allocated, 0);
    ck_assert_uint_eq(freed, 0);
    for (int i = 0; i < HS_REASON_COUNT; i++)
        reasons += seen.reasons[i];
    ck_assert_int_ge(reasons, 4);
}
END_TEST

/* Makes the moves of a player: on time, late, repeated, altered, of another epoch, after a reset,
   far away. */
static void move_of(int i, struct hs_move *move)
{
    *move = (struct hs_move){.player = HS_STR("S"),
                             .fields = HS_MOVE_HAS_SEQ | HS_MOVE_HAS_ACK | HS_MOVE_HAS_POSITION |
                                       HS_MOVE_HAS_VELOCITY | HS_MOVE_HAS_SERVER_POSITION,
                             .kind = i % 17 == 0 ? HS_MOVE_PENDING : HS_MOVE_NEW,
                             .seq = (uint64_t)(i % 13 == 0 ? i - 1 : i),
                             .epoch = (uint64_t)(1 + i / 1000),
                             .timestamp_us = HS_MS(300000 + 17 * i - (i % 7 == 0 ? 20 : 0)),
                             .received_us = HS_MS(1000 + 17 * i),
                             .ack_us = HS_MS(900 + 17 * i),
                             .dilation = i % 500 < 20 ? 0.5 : 1,
                             .mode = i % 400 < 100 ? HS_STR("falling") : HS_STR("walking"),
                             .position = {i / 10.0, i % 300 == 0 ? 50 : 0, 0},
                             .velocity = {6, 0, 0},
                             .server_position = {i / 10.0, i % 90 == 0 ? 9 : 0, 0}};
    if (i > 2000)
        move->timestamp_us += HS_MS(17 * (i - 2000)); /* from move 2000 on the clock is fast */
    if (i % 111 == 0)
        move->timestamp_us = -1;
    move->timestamp_us -= i % 1000 > 500 ? HS_MS(240000) : 0;
}

/* After this many moves, each place for an answer has had a result with failures. */
enum { FIRST_MOVES = 4000 };

START_TEST(moves_allocate_nothing)
{
    struct hs_move move;
    struct hs_move_result result;
    unsigned long seen[HS_MOVE_REASON_COUNT] = {0}, flagged = 0;
    hs_ruleset_add_builtin_moves(rules, 100);
    for (int i = 1; i < FIRST_MOVES; i++) {
        move_of(i, &move);
        ck_assert(hs_match_check_move(match, &move, &result));
    }
    unsigned long before = allocations, released = releases;
    for (int i = FIRST_MOVES; i < 10000; i++) {
        move_of(i, &move);
        if (!hs_match_check_move(match, &move, &result))
            break;
        seen[result.reason]++;
        flagged += result.raised != 0;
    }
    unsigned long allocated = allocations - before, freed = releases - released;
    ck_assert_uint_eq(allocated, 0);
    ck_assert_uint_eq(freed, 0);
    int reasons = 0;
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        reasons += seen[i] > 0;
    ck_assert_int_ge(reasons, 5);
    ck_assert_uint_gt(flagged, 10);
}
END_TEST

/* ---- the scenarios ---- */

/* Allocations count only between the calls of `before` and `after`, because decoding allocates. */
struct watch {
    unsigned long judged, allocations, releases, from_allocations, from_releases;
};

static void note_answer(void *context, const struct hs_offline_item *item)
{
    (void)context;
    (void)item;
}

static void before_judging(void *context)
{
    struct watch *watch = context;
    watch->from_allocations = allocations;
    watch->from_releases = releases;
}

static void after_judging(void *context)
{
    struct watch *watch = context;
    watch->allocations += allocations - watch->from_allocations;
    watch->releases += releases - watch->from_releases;
    watch->judged++;
}

static void play_scenario(const struct hs_one_scenario *one, struct watch *watch)
{
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(one->file, one->index, &hs_references[0], "counted", error);
    ck_assert_msg(plan != NULL, "%s", error);
    struct hs_offline *offline = hs_offline_create(note_answer, watch);
    hs_offline_watch(offline, before_judging, after_judging);
    ck_assert(hs_offline_play(offline, plan));
    hs_offline_destroy(offline);
    hs_scenario_plan_destroy(plan);
}

/* Every kind of claim that occurs in the scenarios. */
START_TEST(scenarios_allocate_nothing)
{
    static struct hs_all_scenarios scenarios;
    struct watch watch = {0};
    ck_assert(hs_all_scenarios_load(&scenarios));
    for (size_t i = 0; i < scenarios.count; i++)
        play_scenario(&scenarios.items[i], &watch);
    hs_all_scenarios_free(&scenarios);
    ck_assert_uint_ge(watch.judged, 600);
    ck_assert_uint_eq(watch.allocations, 0);
    ck_assert_uint_eq(watch.releases, 0);
}
END_TEST

START_TEST(a_replay_allocates_nothing)
{
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 9, 1.6);
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert(hs_hit_record(match, &claim, result, HS_STR("{\"answer\":1")));
    unsigned long before = allocations;
    hs_hit_verify(match, &claim, HS_MS(1000), result);
    unsigned long allocated = allocations - before;
    ck_assert_ptr_nonnull(result->replay);
    ck_assert_uint_eq(allocated, 0);
    free(result);
}
END_TEST

#ifndef SANITIZED

/* Loads the bytes once for each allocation of a load, which then fails. */
static void load_with_failures(const struct hs_bytes *saved)
{
    struct hs_match_limits limits = match->limits;
    enum hs_match_load loaded = HS_MATCH_LOAD_NO_MEMORY;
    long failures = 0;
    for (; loaded == HS_MATCH_LOAD_NO_MEMORY; failures++) {
        struct hs_match *read;
        allocations_left = failures;
        loaded = hs_match_load(rules, &limits, saved->data, saved->len, &read);
        bool has_failed = allocations_left < 0;
        allocations_left = -1;
        hs_match_destroy(read);
        ck_assert_int_eq(loaded, has_failed ? HS_MATCH_LOAD_NO_MEMORY : HS_MATCH_LOADED);
    }
    ck_assert_int_gt(failures, 10);
}

/* Each allocation for the first move of a new player may fail. The match is then unchanged. */
START_TEST(a_failed_allocation_adds_no_player)
{
    struct hs_move move = {.player = HS_STR("new"),
                           .timestamp_us = HS_MS(1000),
                           .received_us = HS_MS(1010),
                           .dilation = 1};
    struct hs_match_info before, after;
    hs_match_info(match, &before);
    size_t used = hs_budget_used(&match->budget);
    int failures = 0;
    for (bool fine = false; !fine; failures++) {
        struct hs_move_result result;
        allocations_left = failures;
        fine = hs_match_check_move(match, &move, &result);
        bool has_failed = allocations_left < 0;
        allocations_left = -1;
        ck_assert_int_eq(fine, !has_failed);
        hs_match_info(match, &after);
        ck_assert_uint_eq(after.players, before.players + fine);
        ck_assert(fine || hs_budget_used(&match->budget) == used);
    }
    ck_assert_int_gt(failures, 2);
}
END_TEST

/* An entry that is not stored for lack of memory is not reported as stored. */
START_TEST(a_failed_allocation_stores_no_entry)
{
    struct hs_player_frame entry = hs_stage_entry("new", 0, 0, 0);
    struct hs_frame frame = {.time_us = HS_MS(1010), .players = &entry, .player_count = 1};
    int failures = 0;
    for (bool fine = false; !fine; failures++) {
        enum hs_frame_result result;
        unsigned flags = 0;
        allocations_left = failures;
        fine = hs_match_post_frame(match, &frame, &result, &flags);
        allocations_left = -1;
        ck_assert_int_eq(result, fine ? HS_FRAME_STORED : HS_FRAME_CAPACITY);
    }
    ck_assert_int_gt(failures, 2);
}
END_TEST

START_TEST(a_failed_allocation_is_not_reported_as_damage)
{
    struct hs_bytes saved = {0};
    struct hs_player_frame entry = hs_stage_entry("T", 20, 0, 0);
    entry.team = HS_STR("red");
    ck_assert_int_eq(hs_stage_post(match, HS_MS(1010), &entry, NULL), HS_FRAME_STORED);
    hs_match_save(match, &saved);
    load_with_failures(&saved);
    saved.len = 0;
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(1000), 20, 0, 1.1);
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1010));
    hs_hit_save_excerpt(match, &claim, result, &saved);
    load_with_failures(&saved);
    free(result);
    free(saved.data);
}
END_TEST

#endif

int main(void)
{
    if (!start_counting()) {
        fprintf(stderr, "allocations cannot be counted\n");
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("allocation");
    TCase *tcase = tcase_create("allocation");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_counters_count);
    tcase_add_loop_test(tcase, verification_allocates_nothing, 0, HS_MODE_COUNT);
    tcase_add_test(tcase, shots_allocate_nothing);
    tcase_add_test(tcase, moves_allocate_nothing);
    tcase_add_test(tcase, scenarios_allocate_nothing);
    tcase_add_test(tcase, a_replay_allocates_nothing);
#ifndef SANITIZED
    tcase_add_test(tcase, a_failed_allocation_adds_no_player);
    tcase_add_test(tcase, a_failed_allocation_stores_no_entry);
    tcase_add_test(tcase, a_failed_allocation_is_not_reported_as_damage);
#endif
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
