/* Paths of moves through a map: where the world is checked, and when it is not. */
#include <check.h>

#include "tests/support/play/session.h"
#include "tests/support/run_suite.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"

#define TICK_US INT64_C(100000)

static struct hs_test_session session;
static struct hs_world *world;
static int64_t now_us;

/* A floor, and a wall 4 m thick from x = 5 on. */
static void set_up(void)
{
    static const struct hs_world_box boxes[] = {{{-30, -30, -1}, {30, 30, 0}},
                                                {{5, -5, 0}, {9, 5, 3}}};
    const struct hs_world_mesh mesh = {.boxes = boxes, .box_count = 2};
    hs_session_open(&session);
    hs_ruleset_add_builtin_moves(session.rules, 100);
    world = hs_world_create(&mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(session.match, world);
    now_us = INT64_C(100000000);
}

static void tear_down(void)
{
    hs_session_close(&session);
    hs_world_destroy(world);
}

/* Posts a move to the place, one tick later. Returns the checks that failed. */
static unsigned go(const char *mode, double x, double y, double z)
{
    now_us += TICK_US;
    struct hs_move move = hs_session_move(now_us - INT64_C(90000000), now_us);
    move.fields = HS_MOVE_HAS_POSITION;
    move.position = (struct hs_vec){x, y, z};
    if (mode != NULL)
        move.mode = hs_str_of(mode);
    return hs_session_judge(&session, &move).raised;
}

static unsigned bit(enum hs_move_check check)
{
    return 1u << check;
}

START_TEST(in_an_unknown_mode_the_smallest_body_radius_counts)
{
    ck_assert_uint_eq(go(NULL, 4, 0, 0), 0);
    ck_assert_uint_eq(go(NULL, 4.6, 0, 0), 0);
    ck_assert_uint_eq(go("nothing", 5.2, 0, 0), bit(HS_MOVE_CHECK_PATH));
}
END_TEST

START_TEST(without_a_map_no_path_is_checked)
{
    hs_match_set_world(session.match, NULL);
    for (int i = 0; i < 20; i++)
        ck_assert_uint_eq(go("walking", 0.5 * i, 0, 7), 0);
}
END_TEST

START_TEST(a_body_in_another_unit_is_not_judged)
{
    for (int i = 0; i < session.rules->moves.mode_count; i++) {
        session.rules->moves.modes[i].body_radius *= 100;
        session.rules->moves.modes[i].step *= 100;
    }
    for (int i = 0; i < 20; i++)
        ck_assert_uint_eq(go("walking", 0.5 * i, 0, 0), 0);
}
END_TEST

START_TEST(the_end_of_a_session_forgets_the_place)
{
    ck_assert_uint_eq(go("walking", 4, 0, 0), 0);
    now_us += TICK_US;
    hs_session_post(&session, now_us, HS_EVENT_LEAVE);
    ck_assert_uint_eq(go("walking", 10, 0, 0), 0);
    ck_assert_uint_eq(go("walking", 10.5, 0, 0), 0);
}
END_TEST

START_TEST(a_clock_reset_forgets_the_place)
{
    ck_assert_uint_eq(go("walking", 4, 0, 0), 0);
    hs_match_restart(session.match, now_us + TICK_US);
    ck_assert_uint_eq(go("walking", 10, 0, 0), 0);
}
END_TEST

/* The time in the air includes the moves that claim to walk, whatever modes are between them. */
START_TEST(hovering_with_short_walks_is_found)
{
    unsigned raised = 0;
    go("walking", 0, 0, 0);
    for (int i = 0; i < 40; i++)
        raised |= go(i % 2 == 0 ? "walking" : "falling", 0.1 * i - 4, 0, 2);
    ck_assert(raised & bit(HS_MOVE_CHECK_GROUND));
}
END_TEST

START_TEST(an_edge_is_ground_for_a_body_beyond_it)
{
    for (int i = 0; i < 30; i++)
        ck_assert_uint_eq(go("walking", 30.3, 0, 0), 0);
    unsigned raised = 0;
    for (int i = 0; i < 30; i++)
        raised |= go("walking", 30.6, 0, 0);
    ck_assert_uint_eq(raised, bit(HS_MOVE_CHECK_GROUND));
}
END_TEST

/* In half a second without moves the player may have walked around a corner. No time is enough for
   a path through the wall. */
START_TEST(lost_moves_may_have_gone_around)
{
    ck_assert_uint_eq(go("walking", 4.5, 4.5, 0), 0);
    now_us += 4 * TICK_US;
    ck_assert_uint_eq(go("walking", 6, 5.5, 0), 0);
    now_us += 50 * TICK_US;
    ck_assert_uint_ne(go("walking", 6, -5.5, 0) & bit(HS_MOVE_CHECK_PATH), 0);
}
END_TEST

/* A client's clock cannot give the time for a way around a wall. Rows: the clock jumps ahead, or a
   new clock begins. */
START_TEST(a_clock_gives_no_time_to_go_around)
{
    for (int i = 0; i < 60; i++)
        ck_assert_uint_eq(go("walking", 4.7, 4.7, 0), 0);
    now_us += TICK_US;
    struct hs_move move = hs_session_move(now_us - INT64_C(90000000), now_us);
    move.fields = HS_MOVE_HAS_POSITION;
    move.position = (struct hs_vec){5.3, 5.3, 0};
    move.mode = HS_STR("walking");
    move.epoch = _i == 1;
    move.timestamp_us += _i == 0 ? 10 * TICK_US : 0;
    ck_assert_uint_ne(hs_session_judge(&session, &move).raised & bit(HS_MOVE_CHECK_PATH), 0);
}
END_TEST

START_TEST(a_refused_move_does_not_become_the_start_of_the_next)
{
    session.rules->move_checks[HS_MOVE_CHECK_PATH] = HS_MODE_ENFORCE;
    ck_assert_uint_eq(go("walking", 4.6, 0, 0), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_uint_ne(go("walking", 5.2 + 0.5 * i, 0, 0) & bit(HS_MOVE_CHECK_PATH), 0);
    const struct hs_player *player = hs_players_find(&session.match->players, HS_STR("S"));
    ck_assert_double_eq(player->moves->whereabouts.place.x, 4.6);
    ck_assert_uint_eq(go("walking", 4.4, 0, 0) & bit(HS_MOVE_CHECK_PATH), 0);
}
END_TEST

/* Posts a frame with a lift at x. */
static void post_lift(int64_t time_us, double x)
{
    struct hs_mover_frame lift = {.mover = HS_STR("lift"),
                                  .fields = HS_MOVER_BOX,
                                  .position = {x, 20, 0},
                                  .half_extents = {2, 2, 0.1}};
    struct hs_frame frame = {.time_us = time_us, .movers = &lift, .mover_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(session.match, &frame, &result, &flags));
    ck_assert_int_eq(result, HS_FRAME_STORED);
}

/* The server puts the player at x = 100, and the next move ends on a lift. Rows: the lift's x at
   the time of the event, its speed, the ticks until the move, the base, whether the event
   excuses the move, and whether the frames around the event lack the lift. */
START_TEST(a_jump_excuses_only_moves_to_a_base_within_reach)
{
    static const struct {
        double x, speed;
        int ticks;
        const char *base;
        bool is_excused, is_lost;
    } rows[] = {
        {100, 0, 2, "lift", true, false},
        {103, 0, 2, "lift", true, false},
        {1000, 0, 2, "lift", false, false},
        {100, 100, 5, "lift", true, false}, /* the lift carries the player */
        {80, 40, 5, "lift", true, false},   /* the player waits until the lift comes */
        {900, 100, 5, "lift", false, false},
        {100, 20, 13, "lift", true, false}, /* the pose at the time of the event was dropped */
        {1000, 0, 13, "lift", false, false},
        {1000, 0, 5, "lift", true, true},
        {1000, 0, 2, "ship", true, false}, /* no frame has this mover */
    };
    ck_assert_uint_eq(go("walking", 0, 0, 0), 0);
    struct hs_player_frame jump = hs_stage_event("S", HS_EVENT_TELEPORT);
    jump.position = (struct hs_vec){100, 20, 0};
    for (int i = 0; i <= rows[_i].ticks + 4; i++) {
        int64_t time_us = now_us + (i - 4) * TICK_US;
        if (!rows[_i].is_lost || i < 3 || i > 5)
            post_lift(time_us, rows[_i].x + rows[_i].speed * 0.1 * (i - 4));
        if (i == 4)
            ck_assert_int_eq(hs_stage_post(session.match, time_us, &jump, NULL), HS_FRAME_STORED);
    }
    now_us += rows[_i].ticks * TICK_US;
    struct hs_move move = hs_session_move(now_us - INT64_C(90000000), now_us);
    move.fields = HS_MOVE_HAS_POSITION;
    move.position = (struct hs_vec){0, 0, 0.1};
    move.mode = HS_STR("walking");
    move.base = hs_stage_str(rows[_i].base);
    unsigned raised = hs_session_judge(&session, &move).raised;
    ck_assert_int_eq((raised & bit(HS_MOVE_CHECK_TELEPORT)) == 0, rows[_i].is_excused);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moves in the world");
    TCase *tests = tcase_create("ways");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, in_an_unknown_mode_the_smallest_body_radius_counts);
    tcase_add_test(tests, without_a_map_no_path_is_checked);
    tcase_add_test(tests, a_body_in_another_unit_is_not_judged);
    tcase_add_test(tests, the_end_of_a_session_forgets_the_place);
    tcase_add_test(tests, a_clock_reset_forgets_the_place);
    tcase_add_test(tests, hovering_with_short_walks_is_found);
    tcase_add_test(tests, an_edge_is_ground_for_a_body_beyond_it);
    tcase_add_test(tests, lost_moves_may_have_gone_around);
    tcase_add_loop_test(tests, a_clock_gives_no_time_to_go_around, 0, 2);
    tcase_add_test(tests, a_refused_move_does_not_become_the_start_of_the_next);
    tcase_add_loop_test(tests, a_jump_excuses_only_moves_to_a_base_within_reach, 0, 10);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
