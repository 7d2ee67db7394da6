/* Movers: the fields and inheritance of samples, refusals, and past places. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/fixture.h"
#include "tests/support/run_suite.h"
#include "validators/geometry/angle.h"
#include "validators/match/players.h"
#include "validators/world/movers.h"

static unsigned flags;

static void set_up(void)
{
    open_stage();
    flags = 0;
}

static enum hs_frame_result post(int ms, const struct hs_mover_frame *entry)
{
    enum hs_frame_result result = HS_FRAME_RESULT_COUNT;
    struct hs_frame frame = {.time_us = HS_MS(ms), .movers = entry, .mover_count = 1};
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    return result;
}

/* A door of 2 x 0.2 x 2 that turns about one of its edges. */
static struct hs_mover_frame door_at(double x)
{
    return (struct hs_mover_frame){.mover = HS_STR("door"),
                                   .fields = HS_MOVER_BOX,
                                   .position = {x, 0, 0},
                                   .half_extents = {1, 0.1, 1},
                                   .center = {1, 0, 0}};
}

static struct hs_mover_frame just_at(double x)
{
    return (struct hs_mover_frame){.mover = HS_STR("door"), .position = {x, 0, 0}};
}

static void turn(struct hs_mover_frame *entry, double radians)
{
    entry->fields |= HS_MOVER_ROTATION;
    entry->rotation[2] = sin(radians / 2);
    entry->rotation[3] = cos(radians / 2);
}

static const struct hs_mover *door(void)
{
    ck_assert_uint_eq(match->movers.count, 1);
    return &match->movers.all[0];
}

static enum hs_rewind_status rewind_to(double ms, struct hs_mover_pose *pose)
{
    struct hs_bracket bracket;
    enum hs_rewind_status status =
        hs_rewind_find(door()->history, rules, (int64_t)(ms * 1000), &bracket);
    if (status == HS_REWIND_OK)
        hs_mover_place(door(), &bracket, pose);
    return status;
}

static void expect_center(double ms, double x, double y)
{
    struct hs_mover_pose pose;
    ck_assert_int_eq(rewind_to(ms, &pose), HS_REWIND_OK);
    ck_assert_double_eq_tol(pose.solid.center.x, x, 1e-6);
    ck_assert_double_eq_tol(pose.solid.center.y, y, 1e-6);
}

static void expect_point(struct hs_vec point, double x, double y)
{
    ck_assert_double_eq_tol(point.x, x, 1e-6);
    ck_assert_double_eq_tol(point.y, y, 1e-6);
}

START_TEST(riders_move_and_turn_along)
{
    struct hs_mover_frame before = door_at(5), after = just_at(6);
    turn(&before, 0);
    turn(&after, HS_PI / 2);
    ck_assert_int_eq(post(0, &before), HS_FRAME_STORED);
    ck_assert_int_eq(post(100, &after), HS_FRAME_STORED);
    struct hs_vec local = {2, 0, 0}, rider = {7, 0, 0}, back = {6, 2, 0};
    ck_assert(hs_mover_to_world(door(), rules, HS_MS(100), &local));
    expect_point(local, 6, 2);
    ck_assert(hs_mover_carry(door(), rules, 0, HS_MS(100), &rider));
    expect_point(rider, 6, 2);
    ck_assert(hs_mover_carry(door(), rules, HS_MS(100), 0, &back));
    expect_point(back, 7, 0);
    /* After its newest sample the mover rests. Before its first sample its place is unknown. */
    struct hs_vec later = {7, 0, 0}, earlier = {7, 0, 0};
    ck_assert(hs_mover_carry(door(), rules, 0, HS_MS(9000), &later));
    expect_point(later, 6, 2);
    ck_assert(!hs_mover_carry(door(), rules, HS_MS(-1), HS_MS(100), &earlier));
}
END_TEST

START_TEST(places_are_interpolated_and_rotations_turn)
{
    struct hs_mover_frame closed = door_at(5), open = just_at(6);
    turn(&closed, 0);
    turn(&open, HS_PI / 2);
    ck_assert_int_eq(post(0, &closed), HS_FRAME_STORED);
    ck_assert_int_eq(post(100, &open), HS_FRAME_STORED);
    expect_center(0, 6, 0);
    expect_center(100, 6, 1);
    expect_center(50, 5.5 + cos(HS_PI / 4), sin(HS_PI / 4));
    struct hs_mover_pose pose;
    ck_assert_int_eq(rewind_to(50, &pose), HS_REWIND_OK);
    ck_assert_double_eq_tol(pose.solid.axes[0].x, cos(HS_PI / 4), 1e-6);
    ck_assert_double_eq_tol(pose.solid.axes[0].y, sin(HS_PI / 4), 1e-6);
    ck_assert_double_eq(pose.solid.half_extents.y, 0.1);
    ck_assert_double_eq(pose.solid.radius, 0);
    ck_assert(pose.is_solid);
    ck_assert_double_ge(pose.reach, sqrt(2.01));
}
END_TEST

START_TEST(box_and_solidity_are_sticky_in_time)
{
    struct hs_mover_frame entry = door_at(5);
    ck_assert_int_eq(post(100, &entry), HS_FRAME_STORED);
    entry = just_at(5);
    entry.fields = HS_MOVER_SOLID; /* the entry posts that the mover is not solid */
    ck_assert_int_eq(post(200, &entry), HS_FRAME_STORED);
    entry = just_at(5);
    ck_assert_int_eq(post(300, &entry), HS_FRAME_STORED);
    /* A late sample between the first two inherits from the first. Later samples do not change. */
    ck_assert_int_eq(post(150, &entry), HS_FRAME_STORED);
    static const bool solid[] = {true, true, true, false, false};
    static const int at[] = {100, 150, 199, 200, 300};
    for (int i = 0; i < 5; i++) {
        struct hs_mover_pose pose;
        ck_assert_int_eq(rewind_to(at[i], &pose), HS_REWIND_OK);
        ck_assert_msg(pose.is_solid == solid[i], "at %d ms", at[i]);
    }
    struct hs_mover_pose newest;
    ck_assert(hs_mover_newest(door(), &newest));
    ck_assert(!newest.is_solid);
}
END_TEST

START_TEST(a_mover_needs_a_box)
{
    struct hs_mover_frame entry = just_at(5);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_NO_HITBOXES);
    ck_assert_uint_eq(match->movers.count, 0);
    entry = door_at(5);
    ck_assert_int_eq(post(100, &entry), HS_FRAME_STORED);
    entry = just_at(5); /* before the first sample that has a box */
    ck_assert_int_eq(post(50, &entry), HS_FRAME_NO_HITBOXES);
}
END_TEST

START_TEST(bad_samples_are_refused)
{
    struct hs_mover_frame entry = door_at(5);
    entry.fields |= HS_MOVER_ROTATION;
    entry.rotation[3] = 0.99;
    ck_assert_int_eq(post(0, &entry), HS_FRAME_BAD_ROTATION);
    entry = door_at(rules->history.world_bound * 1.01);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_COORDINATE_OUT_OF_WORLD);
    entry = door_at(5);
    entry.half_extents.z = rules->history.world_bound * 1.01;
    ck_assert_int_eq(post(0, &entry), HS_FRAME_COORDINATE_OUT_OF_WORLD);
    entry = door_at(5);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_STORED);
    entry = door_at(6);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_DUPLICATE_TIME);
    expect_center(0, 6, 0);
}
END_TEST

START_TEST(as_many_as_the_match_may_have)
{
    char names[17][8];
    for (int i = 0; i < 17; i++) {
        struct hs_mover_frame entry = door_at(i);
        snprintf(names[i], sizeof names[i], "m%d", i);
        entry.mover = hs_stage_str(names[i]);
        ck_assert_int_eq(post(0, &entry), i < 16 ? HS_FRAME_STORED : HS_FRAME_CAPACITY);
    }
    struct hs_match_info info;
    hs_match_info(match, &info);
    ck_assert_uint_eq(info.movers, 16);
    ck_assert_uint_eq(info.players, 0);
    ck_assert(info.has_frames);
}
END_TEST

/* No place is interpolated across a jump, announced or not. Until the jump the older place
   counts. */
START_TEST(no_place_is_interpolated_across_a_jump)
{
    bool told = _i == 0;
    struct hs_mover_frame entry = door_at(0);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_STORED);
    entry = just_at(50);
    entry.teleported = told;
    ck_assert_int_eq(post(100, &entry), HS_FRAME_STORED);
    ck_assert_int_eq((flags & 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP) != 0, !told);
    entry = just_at(50.5);
    ck_assert_int_eq(post(200, &entry), HS_FRAME_STORED);
    expect_center(99, 1, 0);
    expect_center(100, 51, 0);
    expect_center(150, 51.25, 0);
    struct hs_bracket now, later;
    ck_assert_int_eq(hs_rewind_find(door()->history, rules, 0, &now), HS_REWIND_OK);
    ck_assert(!hs_mover_later(door(), rules, &now, HS_MS(50), &later));
    ck_assert_int_eq(hs_rewind_find(door()->history, rules, HS_MS(100), &now), HS_REWIND_OK);
    ck_assert(hs_mover_later(door(), rules, &now, HS_MS(200), &later));
    ck_assert_double_eq(later.alpha, 1);
    ck_assert_int_eq(hs_mover_next_change(door(), rules, 0), HS_MS(100));
    ck_assert_int_eq(hs_mover_next_change(door(), rules, HS_MS(200)), HS_MS(250));
    ck_assert_int_eq(hs_mover_next_change(door(), rules, HS_MS(250)), INT64_MAX);
}
END_TEST

START_TEST(before_and_between_samples_a_place_may_be_unknown)
{
    struct hs_mover_pose pose;
    struct hs_mover_frame entry = door_at(0);
    for (int ms = 0; ms <= 300; ms += 300)
        ck_assert_int_eq(post(ms, &entry), HS_FRAME_STORED);
    ck_assert_int_eq(rewind_to(-1, &pose), HS_REWIND_TOO_SHORT);
    ck_assert_int_eq(rewind_to(100, &pose), HS_REWIND_LOW_CONFIDENCE);
    ck_assert_int_eq(rewind_to(350, &pose), HS_REWIND_OK);
    ck_assert_int_eq(rewind_to(350.001, &pose), HS_REWIND_AFTER_NEWEST);
}
END_TEST

/* The time window limits the memory. One sample at or before the window's start stays. */
START_TEST(samples_older_than_the_window_are_dropped)
{
    struct hs_mover_frame entry = door_at(0);
    size_t most = 0;
    for (int ms = 0; ms <= 20000; ms += 10) {
        entry.position.x = ms * 1e-3;
        ck_assert_int_eq(post(ms, &entry), HS_FRAME_STORED);
        if (ms == 2000)
            most = hs_movers_bytes(&match->movers);
        ck_assert(ms <= 2000 || hs_movers_bytes(&match->movers) <= most * 2);
    }
    ck_assert_uint_eq(hs_history_count(door()->history), 101);
    expect_center(19000, 20, 0);
    entry.position.x = 0;
    ck_assert_int_eq(post(18999, &entry), HS_FRAME_TOO_OLD);
}
END_TEST

/* The surroundings contain all samples and do not grow with dropped ones. hs_mover_is_placed
   returns whether the mover has a place during a whole span of time. */
START_TEST(surroundings_contain_all_samples)
{
    struct hs_mover_frame entry = door_at(0);
    for (int ms = 0; ms <= 5000; ms += 50) {
        entry.position = (struct hs_vec){ms * 1e-3, -ms * 1e-3, 0};
        ck_assert_int_eq(post(ms, &entry), HS_FRAME_STORED);
        double reach = sqrt(2.01) + 1, oldest = fmax(0, ms - 1000) * 1e-3;
        struct hs_vec low, high;
        hs_mover_surroundings(door(), &low, &high);
        ck_assert_double_le(low.x, oldest - reach);
        ck_assert_double_ge(high.x, ms * 1e-3 + reach);
        ck_assert_double_le(low.y, -ms * 1e-3 - reach);
        ck_assert_double_ge(high.z, reach);
        ck_assert_double_ge(low.x, oldest - reach - 1.2);
    }
    ck_assert(hs_mover_is_placed(door(), rules, HS_MS(4000), HS_MS(5050)));
    ck_assert(!hs_mover_is_placed(door(), rules, HS_MS(3999), HS_MS(5000)));
    ck_assert(!hs_mover_is_placed(door(), rules, HS_MS(4500), HS_MS(5051)));
    ck_assert_int_eq(post(5151, &entry), HS_FRAME_STORED); /* 151 ms later, which is a gap */
    ck_assert(!hs_mover_is_placed(door(), rules, HS_MS(4500), HS_MS(5151)));
}
END_TEST

/* A full history needs no space beyond its limit, and reuses the space of dropped samples. */
START_TEST(a_full_history_stays_within_its_limit)
{
    enum { LIMIT = 21 };
    hs_match_destroy(match);
    match = hs_match_create(rules,
                            &(struct hs_match_limits){.players = 1, .samples = LIMIT, .movers = 1});
    ck_assert_ptr_nonnull(match);
    struct hs_mover_frame entry = door_at(0);
    for (int ms = 0; ms <= 3000; ms += 10) {
        entry.position.x = ms * 1e-3;
        if (ms % 70 != 60)
            ck_assert_int_eq(post(ms, &entry), HS_FRAME_STORED);
        if (ms % 70 == 0 && ms > 0) { /* the sample that was omitted before arrives late */
            entry.position.x = (ms - 10) * 1e-3;
            ck_assert_int_eq(post(ms - 10, &entry), HS_FRAME_STORED);
        }
        ck_assert_uint_le(hs_history_capacity(door()->history), LIMIT);
        for (int back = 0; back < 150 && back <= ms - 20; back += 5)
            expect_center(ms - back - 20, (ms - back - 20) * 1e-3 + 1, 0);
    }
    ck_assert_uint_eq(hs_history_count(door()->history), LIMIT);
    ck_assert_uint_le(hs_movers_bytes(&match->movers),
                      match->movers.capacity * sizeof *match->movers.all +
                          hs_history_min_bytes(LIMIT) +
                          (LIMIT - HS_HISTORY_FIRST) * sizeof(struct hs_sample));
}
END_TEST

/* A late sample still inherits from a sample that a full history has dropped. */
START_TEST(late_samples_inherit_from_dropped_samples)
{
    hs_match_destroy(match);
    match =
        hs_match_create(rules, &(struct hs_match_limits){.players = 1, .samples = 2, .movers = 1});
    ck_assert_ptr_nonnull(match);
    struct hs_mover_frame entry = door_at(0);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_STORED);
    entry = just_at(0);
    ck_assert_int_eq(post(900, &entry), HS_FRAME_STORED);
    ck_assert_int_eq(post(1000, &entry), HS_FRAME_STORED); /* full: the sample at 0 ms is dropped */
    ck_assert_int_eq(post(1950, &entry), HS_FRAME_STORED); /* so is the sample at 900 ms */
    ck_assert_int_eq(post(2010, &entry), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_history_count(door()->history), 2);
    ck_assert(door()->carried.has_box);
}
END_TEST

/* When the clock restarts, the mover's places are forgotten, but its shape stays. */
START_TEST(a_clock_reset_keeps_the_shapes_of_movers)
{
    struct hs_mover_frame entry = door_at(0);
    hs_stage_place(match, 0, "T", 0, 0, 0);
    ck_assert_int_eq(post(1, &entry), HS_FRAME_STORED);
    for (int ms = 100000; ms <= 100100; ms += 50) {
        struct hs_player_frame t = hs_stage_entry("T", 0, 0, 0);
        hs_stage_post(match, HS_MS(ms), &t, NULL);
    }
    ck_assert_uint_eq(hs_history_count(door()->history), 0);
    entry = just_at(3);
    ck_assert_int_eq(post(100150, &entry), HS_FRAME_STORED);
    expect_center(100150, 4, 0);
}
END_TEST

/* Frames that contain only movers advance the clock, so they can also restart it. */
START_TEST(frames_of_movers_alone_restart_the_clock)
{
    struct hs_mover_frame entry = door_at(0);
    ck_assert_int_eq(post(0, &entry), HS_FRAME_STORED);
    entry = just_at(3); /* the match remembers the box */
    ck_assert_int_eq(post(100000, &entry), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(post(100050, &entry), HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(flags, 0);
    ck_assert_int_eq(post(100100, &entry), HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_RESTARTED);
    ck_assert_uint_eq(hs_history_count(door()->history), 1);
    expect_center(100100, 4, 0);
}
END_TEST

/* A refused entry of a mover does not restart the clock, so no history is dropped. Rows: no box,
   too many movers. */
START_TEST(refused_movers_do_not_restart_the_clock)
{
    enum { LIMIT = 16 };
    char names[LIMIT][8];
    struct hs_mover_frame entry = door_at(0);
    for (int i = 0; _i == 1 && i < LIMIT; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        entry.mover = hs_stage_str(names[i]);
        ck_assert_int_eq(post(0, &entry), HS_FRAME_STORED);
    }
    hs_stage_place(match, 0, "T", 0, 0, 0);
    entry = _i == 0 ? just_at(3) : door_at(3);
    for (int ms = 100000; ms <= 100150; ms += 50)
        ck_assert_int_eq(post(ms, &entry), HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(flags, 0);
    struct hs_match_info times;
    hs_match_info(match, &times);
    ck_assert_int_eq(times.newest_us, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("movers");
    TCase *tcase = tcase_create("movers");
    tcase_add_checked_fixture(tcase, set_up, close_stage);
    tcase_add_test(tcase, riders_move_and_turn_along);
    tcase_add_test(tcase, places_are_interpolated_and_rotations_turn);
    tcase_add_test(tcase, box_and_solidity_are_sticky_in_time);
    tcase_add_test(tcase, a_mover_needs_a_box);
    tcase_add_test(tcase, bad_samples_are_refused);
    tcase_add_test(tcase, as_many_as_the_match_may_have);
    tcase_add_loop_test(tcase, no_place_is_interpolated_across_a_jump, 0, 2);
    tcase_add_test(tcase, before_and_between_samples_a_place_may_be_unknown);
    tcase_add_test(tcase, samples_older_than_the_window_are_dropped);
    tcase_add_test(tcase, surroundings_contain_all_samples);
    tcase_add_test(tcase, a_full_history_stays_within_its_limit);
    tcase_add_test(tcase, late_samples_inherit_from_dropped_samples);
    tcase_add_test(tcase, a_clock_reset_keeps_the_shapes_of_movers);
    tcase_add_test(tcase, frames_of_movers_alone_restart_the_clock);
    tcase_add_loop_test(tcase, refused_movers_do_not_restart_the_clock, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
