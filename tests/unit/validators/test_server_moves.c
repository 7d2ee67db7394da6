/* What the server knows about a player, and moves that contradict it: the mode, the place, the life
   and the stance. */
#include <check.h>
#include <math.h>

#include "tests/support/play/session.h"
#include "tests/support/run_suite.h"
#include "tests/unit/validators/server_moves.h"
#include "validators/match/player_moves.h"

/* ---- modes ---- */

/* Rows: the mode that the client sends, the mode that the server sends, a speed that passes, and a
   speed that fails. */
START_TEST(only_known_modes_and_the_server_allow_speed)
{
    static const struct {
        const char *mode, *server_mode;
        double passes, fails;
    } rows[] = {
        {NULL, NULL, 3, 5},         {"dancing", NULL, 3, 5}, {"walking", NULL, 6, 8},
        {NULL, "walking", 6, 8},    {"ghost", NULL, 3, 5},   {"ghost", "walking", 3, 5},
        {"ghost", "ghost", 150, 0}, {NULL, "ghost", 150, 0}, {"dancing", "dancing", 3, 5},
        {"falling", NULL, 9, 12},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int fast = 0; fast < 2 && (fast == 0 || rows[i].fails > 0); fast++) {
            hs_name_set(&rules->modes[rules->mode_count].name, HS_STR("ghost"));
            rules->mode_count++;
            move.mode = hs_stage_str(rows[i].mode);
            move.server_mode = hs_stage_str(rows[i].server_mode);
            run(fast == 0 ? rows[i].passes : rows[i].fails, 0, 0.1);
            /* In the mode with gravity the player falls, so that the check `gravity` does not
               fail. */
            run(fast == 0 ? rows[i].passes : rows[i].fails, i == 9 ? -6 : 0, 1);
            ck_assert_msg((failures > 0) == (fast == 1), "row %zu: %d", i, failures);
            tear_down();
            set_up();
        }
    }
}
END_TEST

START_TEST(without_speed_limits_every_speed_passes)
{
    rules->mode_count = 0;
    move.mode = HS_STR("");
    move.mode.ptr = NULL;
    run(100, 0, 1);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* The place of a move is checked, whatever kind the move has. */
START_TEST(every_kind_of_move_is_judged)
{
    move.kind = _i == 0 ? HS_MOVE_PENDING : HS_MOVE_OLD;
    run(6, 0, 1);
    ck_assert_int_eq(failures, 0);
    struct hs_move_result result = run(12, 0, 1);
    ck_assert_int_gt(failures, 0);
    ck_assert_int_eq(result.position, HS_MOVE_POSITION_NONE);
    rules->client_max_error = 100;
    result = step(0, 0);
    ck_assert_int_eq(result.position, HS_MOVE_POSITION_NONE);
    /* When the move is sent again, it is late, but no check fails. */
    failures = 0;
    move.received_us += FRAME_US;
    move.timestamp_us -= FRAME_US;
    move.position.x = -50;
    result = judge();
    ck_assert_int_eq(result.reason, HS_MOVE_STALE);
    ck_assert_int_eq(result.late_us, FRAME_US);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* ---- the client's place ---- */

/* Rows: the max error, the distance to the server's place, the server's mode, and the answer. */
START_TEST(the_clients_place_counts_up_to_client_max_error)
{
    static const struct {
        double max_error, apart;
        const char *server_mode;
        enum hs_move_position answer;
    } rows[] = {
        {0, 0.01, "walking", HS_MOVE_POSITION_ACK},
        {0, 0.1, "walking", HS_MOVE_POSITION_CORRECTION},
        {2, 0.01, "walking", HS_MOVE_POSITION_ACK},
        {2, 1.99, "walking", HS_MOVE_POSITION_ACK},
        {2, 1.99, NULL, HS_MOVE_POSITION_ACK},
        {2, 2.01, "walking", HS_MOVE_POSITION_CORRECTION},
        {2, 0, "flying", HS_MOVE_POSITION_CORRECTION},
        {2, 1500, "flying", HS_MOVE_POSITION_CORRECTION},
        /* a margin never makes the limit stricter */
        {0.001, 0.01, "walking", HS_MOVE_POSITION_ACK},
    };
    move.fields |= HS_MOVE_HAS_SERVER_POSITION;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rules->client_max_error = rows[i].max_error;
        move.server_mode = hs_stage_str(rows[i].server_mode);
        move.server_position = move.position;
        move.server_position.y += rows[i].apart;
        struct hs_move_result result = step(0, 0);
        ck_assert_msg(result.position == rows[i].answer, "row %zu: %d", i, result.position);
        if (result.position == HS_MOVE_POSITION_CORRECTION)
            ck_assert_double_eq_tol(result.error, rows[i].apart, 1e-9);
    }
}
END_TEST

START_TEST(a_place_that_nobody_else_simulates_is_taken_over)
{
    ck_assert_int_eq(step(0, 0).position, HS_MOVE_POSITION_NONE);
    rules->client_max_error = 2;
    ck_assert_int_eq(step(0, 0).position, HS_MOVE_POSITION_ACK);
    move.server_mode = HS_STR("flying");
    ck_assert_int_eq(step(0, 0).position, HS_MOVE_POSITION_NONE);
    move.server_mode = HS_STR("walking");
    session.rules->move_checks[HS_MOVE_CHECK_TELEPORT] = HS_MODE_ENFORCE;
    /* the server does not take over the place of a refused move */
    struct hs_move_result result = step(1000, 0);
    ck_assert_int_eq(result.reason, HS_MOVE_UNANNOUNCED_TELEPORT);
    ck_assert_int_eq(result.position, HS_MOVE_POSITION_NONE);
}
END_TEST

static int answers_of(double apart, double seconds, enum hs_move_position wanted)
{
    int count = 0;
    for (long i = lround(seconds * 60); i > 0; i--) {
        move.server_position = move.position;
        move.server_position.y += apart;
        count += step(0, 0).position == wanted;
    }
    return count;
}

START_TEST(acks_and_corrections_keep_their_intervals)
{
    move.fields |= HS_MOVE_HAS_SERVER_POSITION;
    rules->ack_interval_us = S(0.0999);
    ck_assert_int_eq(answers_of(0, 1, HS_MOVE_POSITION_ACK), 10);
    rules->client_max_error = 2; /* with these limits, each place gets an answer at once */
    ck_assert_int_eq(answers_of(1, 1, HS_MOVE_POSITION_ACK), 60);
    rules->client_max_error = 0;
    rules->correction_interval_us = S(0.0999);
    rules->large_error = 3;
    rules->large_interval_us = S(0.0499);
    ck_assert_int_eq(answers_of(2.9, 1, HS_MOVE_POSITION_CORRECTION), 10);
    ck_assert_int_eq(answers_of(3, 1, HS_MOVE_POSITION_CORRECTION), 20);
    rules->large_error = 0;
    ck_assert_int_eq(answers_of(30, 1, HS_MOVE_POSITION_CORRECTION), 10);
}
END_TEST

/* ---- life ---- */

START_TEST(the_dead_do_not_move)
{
    run(6, 0, 1);
    post(move.received_us, hs_stage_event("S", HS_EVENT_DEATH));
    struct hs_move before = move;
    struct hs_move_result result = step(6 * DT, 0);
    ck_assert_int_eq(result.reason, HS_MOVE_NOT_IN_CONTROL);
    ck_assert_int_eq(result.verdict, HS_VERDICT_REJECTED);
    ck_assert_int_eq(result.delta_us, 0);
    ck_assert(!result.force_update);
    failures = 0;
    for (int i = 0; i < 60; i++)
        ck_assert_int_eq(step(1, 0).reason, HS_MOVE_NOT_IN_CONTROL);
    ck_assert_int_eq(failures, 0);
    const struct hs_player *player = hs_players_find(&session.match->players, HS_STR("S"));
    ck_assert_double_eq(
        hs_suspicion_sum(&player->standing.suspicion, player->standing.suspicion.time_us), 0);
    before.timestamp_us = move.timestamp_us + FRAME_US;
    before.received_us--;
    ck_assert_int_eq(hs_session_judge(&session, &before).reason, HS_MOVE_OK);
}
END_TEST

static struct hs_player_frame spawn(double x)
{
    struct hs_player_frame entry = hs_stage_event("S", HS_EVENT_SPAWN);
    entry.position.x = x;
    return entry;
}

/* The player dies at x = 6 and spawns at x = 100. */
static void die_and_spawn(void)
{
    run(6, 0, 1);
    post(move.received_us, hs_stage_event("S", HS_EVENT_DEATH));
    run(0, 0, 0.5);
    post(move.received_us, spawn(100));
}

START_TEST(moves_of_the_old_body_are_stale)
{
    die_and_spawn();
    for (int i = 0; i < 60; i++) {
        struct hs_move_result result = step(0, 0);
        ck_assert_int_eq(result.reason, HS_MOVE_STALE);
        ck_assert_int_eq(result.delta_us, 0);
        ck_assert_int_eq(result.late_us, 0);
    }
    move.position.x = 100;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    run(6, 0, 1);
    ck_assert_int_eq(failures, 0);
    move.position.x = 6; /* after one checked move at the new place, a move to the old place is
                            checked like any other */
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* Each row places the player freely after the spawn: a new epoch, a move without a place, a place
   on a base, a teleport, a restart. */
START_TEST(other_ways_into_the_new_body)
{
    die_and_spawn();
    move.received_us += S(5);
    move.timestamp_us += S(5);
    struct hs_player_frame teleport = hs_stage_event("S", HS_EVENT_TELEPORT);
    switch (_i) {
    case 0:
        move.epoch = 1;
        break;
    case 1:
        move.fields = 0;
        break;
    case 2:
        move.base = HS_STR("lift");
        break;
    case 3:
        post(move.received_us - S(4), teleport);
        break;
    default:
        restart();
    }
    move.position.x = -500;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
}
END_TEST

/* After a spawn, the first move may come late, however many moves were lost: the player may have
   walked on from the place of the spawn. */
START_TEST(a_spawn_may_be_shown_late)
{
    die_and_spawn();
    move.received_us += S(3);
    move.timestamp_us += S(3);
    move.position.x = 100 + 6 * 3;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    ck_assert_int_eq(failures, 0);
    run(6, 0, 1);
    ck_assert_int_eq(failures, 0);
    move.position.x = 100; /* the spawn excuses one jump */
    step(0, 0);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* In a mode without a speed limit, the player may be anywhere when the first move after a spawn
   arrives. */
START_TEST(a_spawn_may_be_shown_late_in_a_mode_without_limit)
{
    hs_name_set(&rules->modes[rules->mode_count].name, HS_STR("ghost"));
    rules->mode_count++;
    die_and_spawn();
    move.mode = move.server_mode = HS_STR("ghost");
    move.received_us += S(3);
    move.timestamp_us += S(3);
    move.position.x = 100 + 150 * 3;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* A move without a position does not use up the excuse of a late spawn. */
START_TEST(a_late_spawn_waits_for_a_place)
{
    die_and_spawn();
    move.received_us += S(10);
    move.timestamp_us += S(10);
    const unsigned fields = move.fields;
    move.fields = 0;
    step(0, 0);
    move.fields = fields;
    move.position.x = 100;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* The same with a new clock: the client connects again after the spawn. */
START_TEST(a_spawn_may_be_shown_late_by_a_new_clock)
{
    die_and_spawn();
    move.received_us += S(10);
    move.timestamp_us = S(1);
    move.epoch = 1;
    move.position.x = 100;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* A body cannot run before it has spawned: the first move shows the spawn, and the next one claims
   the time before it. Rows: a spawn, a teleport, and both of them to the place of the old body. */
START_TEST(the_time_before_a_spawn_is_lost)
{
    bool is_spawn = _i % 2 == 0;
    run(6, 0, 1);
    post(move.received_us, hs_stage_event("S", is_spawn ? HS_EVENT_DEATH : HS_EVENT_NONE));
    for (int i = 0; i < 10; i++) {
        move.received_us += S(1);
        post(move.received_us, hs_stage_entry("S", 6, 0, 0));
    }
    if (_i < 2)
        move.position.x = 100;
    struct hs_player_frame there = spawn(move.position.x);
    there.event = is_spawn ? HS_EVENT_SPAWN : HS_EVENT_TELEPORT;
    move.received_us += S(0.5);
    post(move.received_us, there);
    ck_assert_uint_eq(step(0, 0).failure_count, 0);
    move.timestamp_us += S(5);
    ck_assert_uint_ne(step(30, 0).raised & 1u << HS_MOVE_CHECK_SPEED, 0);
}
END_TEST

/* The time after a spawn or a teleport still counts: the moves after it were lost, and the next one
   makes up for them. */
START_TEST(the_time_after_a_spawn_counts)
{
    run(6, 0, 1);
    post(move.received_us, hs_stage_event("S", _i == 0 ? HS_EVENT_DEATH : HS_EVENT_NONE));
    move.received_us += S(5);
    move.timestamp_us += S(5);
    struct hs_player_frame there = spawn(move.position.x);
    there.event = _i == 0 ? HS_EVENT_SPAWN : HS_EVENT_TELEPORT;
    post(move.received_us, there);
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    move.received_us += S(3);
    move.timestamp_us += S(3);
    ck_assert_int_eq(step(6 * 3, 0).reason, HS_MOVE_OK);
    run(6, 0, 1);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* After a spawn, the body may be faster than its mode: it falls, or the server launches it. The
   first move comes after `late_s`. Rows: 40 m/s downwards in the air and on the ground, a launch
   sideways, and too far sideways and upwards. */
START_TEST(the_new_body_may_fall_and_be_launched)
{
    static const struct {
        const char *mode;
        double x, z, late_s;
        bool is_launched;
        enum hs_move_reason expected;
    } rows[] = {
        {"falling", 100, -120, 4, false, HS_MOVE_OK},
        {"walking", 100, -120, 4, false, HS_MOVE_OK},
        {"falling", 220, 0, 4, true, HS_MOVE_OK},
        {"falling", 220, 0, 4, false, HS_MOVE_STALE},
        {"falling", 100, 120, 4, false, HS_MOVE_STALE},
    };
    die_and_spawn();
    if (rows[_i].is_launched) {
        struct hs_player_frame launch = hs_stage_event("S", HS_EVENT_LAUNCH);
        launch.position.x = 100;
        launch.velocity = (struct hs_vec){30, 0, 5};
        post(move.received_us + FRAME_US, launch);
    }
    move.received_us += S(rows[_i].late_s);
    move.timestamp_us += S(rows[_i].late_s);
    move.mode = hs_stage_str(rows[_i].mode);
    move.position = (struct hs_vec){rows[_i].x, 0, rows[_i].z};
    ck_assert_int_eq(step(0, 0).reason, rows[_i].expected);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* The same fall on the ground with `max_fall_speed` 0, which means `max_speed`. */
START_TEST(the_new_body_may_fall_at_the_largest_speed)
{
    for (uint16_t i = 0; i < rules->mode_count; i++) {
        rules->modes[i].max_fall_speed = 0;
        if (strcmp(rules->modes[i].name.text, "falling") == 0)
            rules->modes[i].max_speed = 40;
    }
    die_and_spawn();
    move.received_us += S(4);
    move.timestamp_us += S(4);
    move.mode = HS_STR("walking");
    move.position = (struct hs_vec){100, 0, -120};
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
}
END_TEST

/* The frame of a teleport may have a later time than the move that shows it. */
START_TEST(a_teleport_may_be_shown_early)
{
    run(6, 0, 1);
    struct hs_player_frame teleport = hs_stage_event("S", HS_EVENT_TELEPORT);
    teleport.position.x = 100;
    post(move.received_us + S(0.15), teleport);
    move.position.x = 100;
    step(0, 0);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* ---- corrections ---- */

/* The client moves on from the position of a correction, and then returns there at once. */
START_TEST(a_correction_excuses_one_jump)
{
    run(0, 0, 1);
    move.fields |= HS_MOVE_HAS_SERVER_POSITION;
    move.server_position = (struct hs_vec){0, 20, 0};
    ck_assert_int_eq(step(0, 0).position, HS_MOVE_POSITION_CORRECTION);
    move.fields &= ~(unsigned)HS_MOVE_HAS_SERVER_POSITION;
    run(6, 0, 0.1); /* the client does not know of the correction yet */
    move.position = move.server_position;
    step(0, 0);
    run(6, 0, 0.5);
    ck_assert_int_eq(failures, 0);
    move.position = move.server_position;
    step(0, 0);
    ck_assert_int_gt(failures, 0);
}
END_TEST

/* ---- flags ---- */

/* Plays moves and frames, 20 per second. Moves have `flags`, and frames have `stance`. Returns
   whether a move failed. */
static bool play(double seconds, const enum hs_move_flag *flags, size_t count, const char *stance)
{
    unsigned raised = 0;
    move.fields |= HS_MOVE_HAS_FLAGS;
    move.flags = flags;
    move.flag_count = count;
    for (long i = lround(seconds * 20); i > 0; i--) {
        move.timestamp_us += 3 * FRAME_US;
        move.received_us += 3 * FRAME_US;
        struct hs_player_frame entry = hs_stage_entry("S", move.position.x, 0, 0);
        entry.stance = hs_stage_str(stance);
        post(move.received_us, entry);
        raised |= judge().raised;
    }
    return raised >> HS_MOVE_CHECK_STANCE & 1;
}

static const enum hs_move_flag crouched[] = {HS_MOVE_CROUCHED}, jumped[] = {HS_MOVE_JUMPED};

/* Rows: whether the moves or the frames say that the player crouches. Moves and frames may disagree
   for the round trip of 0.1 s and another 0.25 s. */
START_TEST(flags_and_frames_may_disagree_for_a_while)
{
    const enum hs_move_flag *flags = _i == 0 ? crouched : NULL;
    size_t count = _i == 0 ? 1 : 0;
    ck_assert(!play(1, NULL, 0, "stand"));
    if (_i == 1)
        ck_assert(!play(1, crouched, 1, "crouch"));
    const char *other = _i == 0 ? "stand" : "crouch";
    ck_assert(!play(0.35, flags, count, other));
    ck_assert(play(0.2, flags, count, other));
    ck_assert(!play(0.05, flags, count, _i == 0 ? "crouch" : "stand"));
}
END_TEST

/* The server chooses the stance, and the client learns of it later. */
START_TEST(a_stance_of_the_server_arrives_late)
{
    ck_assert(!play(1, NULL, 0, "stand"));
    ck_assert(!play(0.3, NULL, 0, "crouch"));
    ck_assert(!play(0.3, crouched, 1, "crouch"));
    ck_assert(!play(1, NULL, 0, "stand"));
}
END_TEST

/* Rows: no frame posts a stance, none since a restart, or moves without flags are in between. */
START_TEST(unknown_stances_contradict_nothing)
{
    if (_i == 0) {
        ck_assert(!play(2, crouched, 1, NULL));
        return;
    }
    ck_assert(!play(1, crouched, 1, "crouch"));
    if (_i == 1) {
        restart();
        ck_assert(!play(2, NULL, 0, NULL));
        ck_assert(play(1, NULL, 0, "crouch"));
        return;
    }
    for (int i = 0; i < 4; i++) {
        ck_assert(!play(0.3, NULL, 0, "crouch"));
        move.fields &= ~(unsigned)HS_MOVE_HAS_FLAGS;
        ck_assert_uint_eq(step(0, 0).raised >> HS_MOVE_CHECK_STANCE, 0);
    }
}
END_TEST

/* Rows: a change between two modes, and whether a jump fails then. If the ruleset has no gravity or
   no ground, the check cannot decide. */
START_TEST(jumps_need_ground_or_gravity)
{
    static const struct {
        const char *from, *to;
        bool fails, lacks_gravity, lacks_ground;
    } rows[] = {
        {"flying", "flying", true, false, false},    {"swimming", "flying", true, false, false},
        {"walking", "falling", false, false, false}, {"walking", "flying", false, false, false},
        {"flying", "falling", false, false, false},  {"flying", NULL, false, false, false},
        {"flying", "nothing", false, false, false},  {"flying", "flying", false, true, false},
        {"flying", "flying", false, false, true},
    };
    for (uint16_t i = 0; i < rules->mode_count; i++) {
        if (rows[_i].lacks_gravity)
            rules->modes[i].gravity = 0;
        if (rows[_i].lacks_ground)
            rules->modes[i].step = 0;
    }
    move.mode = hs_stage_str(rows[_i].from);
    ck_assert(!play(0.1, NULL, 0, NULL));
    move.mode = hs_stage_str(rows[_i].to);
    ck_assert_int_eq(play(0.05, jumped, 1, NULL), rows[_i].fails);
}
END_TEST

/* ---- two frames of the same time ---- */

/* The second launch is added to the first, and a repeated spawn counts once. */
START_TEST(the_last_frame_of_a_time_adds_to_the_first)
{
    session.rules->history.same_time = HS_SAME_TIME_LAST;
    struct hs_player_frame first = spawn(7), second = hs_stage_entry("S", 8, 0, 0);
    first.fields |= HS_FIELD_AMMO;
    first.ammo = 30;
    for (int i = 0; i < 3; i++)
        post(S(100), first);
    second.stance = HS_STR("crouch");
    post(S(100), second);
    const struct hs_player *player = hs_players_find(&session.match->players, HS_STR("S"));
    ck_assert_uint_eq(hs_history_count(player->history), 1);
    const struct hs_sample *sample = hs_history_at(player->history, 0);
    const struct hs_state *state = hs_history_state(player->history, sample);
    ck_assert_double_eq(sample->position.x, 8);
    ck_assert_int_eq(sample->event, HS_EVENT_SPAWN);
    ck_assert_int_eq(state->life, 1);
    ck_assert_int_eq(state->ammo, 30);
    ck_assert_int_eq(state->stance, 1);
    session.rules->history.same_time = HS_SAME_TIME_FIRST;
    ck_assert_int_eq(hs_stage_post(session.match, S(100), &second, NULL), HS_FRAME_DUPLICATE_TIME);
}
END_TEST

/* The server puts the player at x = 100, and corrects the place to x = 200 in the same tick. Rows:
   the event, and the event of the correction. The move to the corrected place is excused, and the
   move to the first place is not. */
START_TEST(a_jump_with_a_corrected_place_excuses_the_move_to_that_place)
{
    static const enum hs_sample_event rows[][2] = {
        {HS_EVENT_TELEPORT, HS_EVENT_NONE},   {HS_EVENT_TELEPORT, HS_EVENT_TELEPORT},
        {HS_EVENT_TELEPORT, HS_EVENT_LAUNCH}, {HS_EVENT_SPAWN, HS_EVENT_NONE},
        {HS_EVENT_SPAWN, HS_EVENT_SPAWN},     {HS_EVENT_SPAWN, HS_EVENT_TELEPORT},
        {HS_EVENT_TELEPORT, HS_EVENT_SPAWN},
    };
    session.rules->history.same_time = HS_SAME_TIME_LAST;
    for (int is_first_place = 0; is_first_place < 2; is_first_place++) {
        run(6, 0, 1);
        struct hs_player_frame entry = hs_stage_event("S", rows[_i][0]);
        bool is_spawn = rows[_i][0] == HS_EVENT_SPAWN || rows[_i][1] == HS_EVENT_SPAWN;
        entry.position.x = 100;
        post(move.received_us, entry);
        entry.event = rows[_i][1];
        entry.position.x = 200;
        post(move.received_us, entry);
        move.position.x = is_first_place ? 100 : 200;
        ck_assert_int_eq(step(0, 0).reason,
                         is_first_place && is_spawn ? HS_MOVE_STALE : HS_MOVE_OK);
        ck_assert_int_eq(failures > 0, is_first_place && !is_spawn);
        tear_down();
        set_up();
        session.rules->history.same_time = HS_SAME_TIME_LAST;
    }
}
END_TEST

/* ---- a clock that stands still ---- */

START_TEST(a_clock_that_stands_still_is_forced)
{
    rules->forced_for_us = S(0.6);
    run(0, 0, 1);
    for (int ms = 50; ms <= 1000; ms += 50) {
        move.received_us += HS_MS(50);
        struct hs_move_result result = judge();
        ck_assert_int_eq(result.reason, HS_MOVE_DUPLICATE);
        ck_assert_int_eq(result.force_update, ms >= 250);
        ck_assert_int_eq(result.forced_us, ms < 250 ? 0 : HS_MS(ms < 600 ? ms : 600));
    }
    struct hs_move_result result = step(0, 0);
    ck_assert_int_eq(result.reason, HS_MOVE_OK);
    ck_assert_int_eq(result.forced_us, 0);
}
END_TEST

/* The game continues after a second, and the client learns of it 0.2 s later. */
START_TEST(a_clock_that_stands_in_a_paused_game_is_not_forced)
{
    run(0, 0, 1);
    for (int ms = 50; ms <= 1200; ms += 50) {
        move.dilation = ms <= 1000 ? 0 : 1;
        move.received_us += HS_MS(50);
        struct hs_move_result result = judge();
        ck_assert_int_eq(result.reason, HS_MOVE_DUPLICATE);
        ck_assert(!result.force_update);
        ck_assert_int_eq(result.forced_us, 0);
    }
    move.received_us += HS_MS(50);
    ck_assert(judge().force_update);
}
END_TEST

/* Pauses the game. The client repeats its last move, and the answers are `duplicate`. */
static void pause_game(double seconds)
{
    move.dilation = 0;
    for (long i = lround(seconds * 60); i > 0; i--) {
        move.received_us += FRAME_US;
        ck_assert_int_eq(judge().reason, HS_MOVE_DUPLICATE);
    }
    move.dilation = 1;
}

/* Two clients claim to have moved during the pause: one with moves after the pause, and one with a
   single move. */
START_TEST(the_time_of_a_pause_is_lost)
{
    run(6, 0, 20);
    pause_game(10);
    step(0, 0);
    ck_assert_int_eq(failures, 0);
    move.timestamp_us += S(9.9);
    struct hs_move_result result = step(_i == 0 ? 0 : 50, 0);
    unsigned raised = _i == 0 ? 1u << HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED
                              : 1u << HS_MOVE_CHECK_TELEPORT | 1u << HS_MOVE_CHECK_SPEED;
    ck_assert_uint_ne(result.raised & raised, 0);
}
END_TEST

START_TEST(an_honest_player_plays_on_after_a_pause)
{
    run(6, 0, 20);
    for (int i = 0; i < 5; i++) {
        pause_game(1 + 3 * i);
        run(6, 0, 7);
    }
    ck_assert_int_eq(failures, 0);
    struct hs_moves_info info;
    ck_assert(hs_match_moves_info(session.match, HS_STR("S"), &info));
    ck_assert_uint_eq(info.bursts_per_minute, 0);
}
END_TEST

/* The first move that arrives in the paused game is the copy of an older move. Moves from before
   the pause are still on their way. */
START_TEST(moves_from_before_a_pause_may_arrive_after_a_copy)
{
    run(6, 0, 2);
    move.dilation = 0;
    move.received_us += FRAME_US;
    move.timestamp_us -= FRAME_US;
    ck_assert_int_eq(judge().reason, HS_MOVE_STALE);
    move.timestamp_us += FRAME_US;
    run(6, 0, 0.1);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* The player spawns elsewhere during the pause. The first move after the pause shows the spawn. */
START_TEST(a_spawn_during_a_pause_is_shown_after_it)
{
    run(6, 0, 1);
    post(move.received_us, hs_stage_event("S", HS_EVENT_DEATH));
    pause_game(1);
    post(move.received_us, spawn(100));
    pause_game(10);
    move.position.x = 100;
    ck_assert_int_eq(step(0, 0).reason, HS_MOVE_OK);
    run(6, 0, 1);
    ck_assert_int_eq(failures, 0);
}
END_TEST

/* ---- state in answers ---- */

START_TEST(answers_tell_the_error_and_the_life_of_a_clock)
{
    struct hs_moves_info info;
    judge();
    struct hs_move_result result = run(0, 0, 1);
    ck_assert_int_eq(result.age_us, 60 * FRAME_US);
    ck_assert_int_eq(result.error_us, 0);
    move.timestamp_us += 5000;
    result = step(0, 0);
    ck_assert_int_eq(result.error_us, 5000);
    ck_assert_int_eq(result.lifetime_us, 5000);
    ck_assert(hs_match_moves_info(session.match, HS_STR("S"), &info));
    ck_assert_int_eq(info.age_us, 61 * FRAME_US);
    move.received_us -= S(8);
    ck_assert_int_eq(judge().late_us, S(8));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server and moves");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, only_known_modes_and_the_server_allow_speed);
    tcase_add_test(tcase, without_speed_limits_every_speed_passes);
    tcase_add_loop_test(tcase, every_kind_of_move_is_judged, 0, 2);
    tcase_add_test(tcase, the_clients_place_counts_up_to_client_max_error);
    tcase_add_test(tcase, a_place_that_nobody_else_simulates_is_taken_over);
    tcase_add_test(tcase, acks_and_corrections_keep_their_intervals);
    tcase_add_test(tcase, the_dead_do_not_move);
    tcase_add_test(tcase, moves_of_the_old_body_are_stale);
    tcase_add_loop_test(tcase, other_ways_into_the_new_body, 0, 5);
    tcase_add_test(tcase, a_spawn_may_be_shown_late);
    tcase_add_loop_test(tcase, the_time_before_a_spawn_is_lost, 0, 4);
    tcase_add_loop_test(tcase, the_time_after_a_spawn_counts, 0, 2);
    tcase_add_test(tcase, a_spawn_may_be_shown_late_in_a_mode_without_limit);
    tcase_add_test(tcase, a_late_spawn_waits_for_a_place);
    tcase_add_test(tcase, a_spawn_may_be_shown_late_by_a_new_clock);
    tcase_add_test(tcase, the_new_body_may_fall_at_the_largest_speed);
    tcase_add_test(tcase, a_teleport_may_be_shown_early);
    tcase_add_loop_test(tcase, the_new_body_may_fall_and_be_launched, 0, 5);
    tcase_add_test(tcase, a_correction_excuses_one_jump);
    tcase_add_loop_test(tcase, flags_and_frames_may_disagree_for_a_while, 0, 2);
    tcase_add_test(tcase, a_stance_of_the_server_arrives_late);
    tcase_add_loop_test(tcase, unknown_stances_contradict_nothing, 0, 3);
    tcase_add_loop_test(tcase, jumps_need_ground_or_gravity, 0, 9);
    tcase_add_test(tcase, the_last_frame_of_a_time_adds_to_the_first);
    tcase_add_loop_test(tcase, a_jump_with_a_corrected_place_excuses_the_move_to_that_place, 0, 7);
    tcase_add_test(tcase, a_clock_that_stands_still_is_forced);
    tcase_add_test(tcase, a_clock_that_stands_in_a_paused_game_is_not_forced);
    tcase_add_loop_test(tcase, the_time_of_a_pause_is_lost, 0, 2);
    tcase_add_test(tcase, an_honest_player_plays_on_after_a_pause);
    tcase_add_test(tcase, moves_from_before_a_pause_may_arrive_after_a_copy);
    tcase_add_test(tcase, a_spawn_during_a_pause_is_shown_after_it);
    tcase_add_test(tcase, answers_tell_the_error_and_the_life_of_a_clock);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
