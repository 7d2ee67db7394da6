/* The sentences of checks. The test makes each check fail. Each reason has its own words. The
   numbers in a sentence show on which side of the limit the measured value is. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/detail.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/play/fixture.h"
#include "tests/support/run_suite.h"

static struct hs_world *world;

static void set_up(void)
{
    open_stage();
    world = NULL;
    hs_stage_play(match);
}

static void tear_down(void)
{
    close_stage();
    hs_world_destroy(world);
}

/* ---- checks, provoked ---- */

static void post(int64_t time_us, struct hs_player_frame entry)
{
    ck_assert_int_eq(hs_stage_post(match, time_us, &entry, NULL), HS_FRAME_STORED);
}

static void note(const struct hs_hit_claim *claim)
{
    struct hs_hit_result *result = hs_stage_judge(match, claim, NOW);
    ck_assert_int_eq(result->verdict, HS_VERDICT_ACCEPTED);
    ck_assert(hs_hit_record(match, claim, result, HS_STR("{")));
}

static void point(struct hs_hit_claim *claim)
{
    claim->end = claim->start;
}

static void reuse_number(struct hs_hit_claim *claim)
{
    note(claim);
    claim->end.z += 0.01;
}

static void repeat_path(struct hs_hit_claim *claim)
{
    note(claim);
    claim->shot++;
}

static void name_laser(struct hs_hit_claim *claim)
{
    claim->weapon = HS_STR("laser");
}

static void fire_fast(struct hs_hit_claim *claim)
{
    for (int i = 3; i > 0; i--) {
        struct hs_hit_claim before = *claim;
        before.hit_time_us -= HS_MS(30 * i);
        before.end.y -= 0.12 * i;
        before.shot = (uint64_t)(10 - i);
        note(&before);
    }
    claim->shot = 10;
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(100);
}

static void come_late(struct hs_hit_claim *claim)
{
    claim->hit_time_us = HS_MS(500);
}

static void lag(struct hs_hit_claim *claim)
{
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_RTT;
    s.rtt_us = (int32_t)HS_MS(300);
    post(HS_MS(10), s);
    rules->rewind.newer_slack_us = HS_MS(10);
    (void)claim;
}

static void kill_target(struct hs_hit_claim *claim)
{
    struct hs_player_frame t = hs_stage_entry("T", 20, 3.68, 0);
    t.event = HS_EVENT_DEATH;
    post(HS_MS(920), t);
    claim->hit_time_us = HS_MS(945);
}

static void team_up(struct hs_hit_claim *claim)
{
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0), t = hs_stage_entry("T", 20, 3.68, 0);
    s.team = t.team = HS_STR("red");
    post(HS_MS(920), s);
    post(HS_MS(920), t);
    claim->hit_time_us = HS_MS(925);
}

static void start_aside(struct hs_hit_claim *claim)
{
    claim->start.y = 1.58;
}

static void look_aside(struct hs_hit_claim *claim)
{
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_AIM;
    s.aim[1] = 1;
    post(HS_MS(890), s);
    claim->hit_time_us = HS_MS(890);
}

static void shorten_range(struct hs_hit_claim *claim)
{
    rules->weapons[HS_STAGE_RIFLE]->range = 10;
    (void)claim;
}

static void build_wall(struct hs_hit_claim *claim)
{
    struct hs_test_mesh mesh = {0};
    hs_test_mesh_box(&mesh, (struct hs_vec){5, -5, 0}, (struct hs_vec){6, 5, 3});
    world = hs_world_create(&mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(match, world);
    hs_test_mesh_free(&mesh);
    (void)claim;
}

static void miss(struct hs_hit_claim *claim)
{
    claim->end.y += 1;
}

static void step_between(struct hs_hit_claim *claim)
{
    for (int ms = 850; ms <= 950; ms += 50)
        hs_stage_place(match, HS_MS(ms), "between", 10, 1.8, 0);
    (void)claim;
}

static void fire_two_pellets(struct hs_hit_claim *claim)
{
    static const struct hs_pellet_claim pellets[2] = {{.end = {20, 3.6, 1.6}},
                                                      {.end = {20, 3.6, 1.6}}};
    claim->pellets = pellets;
    claim->pellet_count = 2;
}

static void fly(struct hs_hit_claim *claim, double speed, int64_t flight_us)
{
    rules->weapons[HS_STAGE_RIFLE]->type = HS_WEAPON_PROJECTILE;
    rules->weapons[HS_STAGE_RIFLE]->speed = 40;
    rules->weapons[HS_STAGE_RIFLE]->max_flight_us = HS_MS(600);
    claim->has_velocity = speed > 0;
    claim->velocity = (struct hs_vec){speed, 0, 0};
    claim->has_fire_time = true;
    claim->fire_time_us = claim->hit_time_us - flight_us;
}

static void launch_slowly(struct hs_hit_claim *claim)
{
    fly(claim, 20, HS_MS(500));
}

static void launch_aside(struct hs_hit_claim *claim)
{
    fly(claim, 40, HS_MS(500));
}

static void launch_late(struct hs_hit_claim *claim)
{
    fly(claim, 0, HS_MS(200));
}

static void fly_long(struct hs_hit_claim *claim)
{
    fly(claim, 0, HS_MS(700));
}

static void burst_far_away(struct hs_hit_claim *claim)
{
    static const struct hs_str victims[] = {{"T", 1}};
    rules->weapons[HS_STAGE_RIFLE]->has_blast = true;
    rules->weapons[HS_STAGE_RIFLE]->blast = (struct hs_blast){.radius = 3, .damage = 10};
    claim->target = (struct hs_str){NULL, 0};
    claim->end.x = 10;
    claim->victims = victims;
    claim->victim_count = 1;
}

static void look_ahead(struct hs_hit_claim *claim)
{
    claim->hit_time_us = HS_MS(1060);
}

static void look_before(struct hs_hit_claim *claim)
{
    claim->hit_time_us = HS_MS(-100);
}

static void look_between(struct hs_hit_claim *claim)
{
    rules->history.max_gap_us = 10000;
    claim->hit_time_us = HS_MS(875);
}

static void burst_ahead(struct hs_hit_claim *claim)
{
    burst_far_away(claim);
    look_ahead(claim);
}

static void claim_nobody(struct hs_hit_claim *claim)
{
    claim->target = HS_STR("zoe");
}

static const struct {
    enum hs_check check;
    void (*provoke)(struct hs_hit_claim *claim);
    const char *sentence;
} provoked[] = {
    {HS_CHECK_SHAPE, point, "the trace is 0 long, but must be longer than 0.000001"},
    {HS_CHECK_IDENTITY, reuse_number, "the number 1 was used before"},
    {HS_CHECK_TRAJECTORY, repeat_path,
     "an accepted claim with the same path was fired 0 s earlier or later, but the times must "
     "differ by more than 0.1 s"},
    {HS_CHECK_WEAPON, name_laser, "the ruleset has no weapon laser"},
    {HS_CHECK_FIRE_RATE, fire_fast,
     "the shot came 0.195 s before the weapon's rate of fire allows it, limit 0.067 s"},
    {HS_CHECK_REWIND, come_late, "the time of the claim is 0.5 s before now, limit 0.25 s"},
    {HS_CHECK_LATENCY, lag,
     "hit_time differs by 0.3 s from the time expected from fire_time, rtt and interp, limit 0.01 "
     "s"},
    {HS_CHECK_LIFE, kill_target, "T was dead for 0.025 s at 0.945 s"},
    {HS_CHECK_TEAM, team_up, "T is on the shooter's team"},
    {HS_CHECK_ORIGIN, start_aside, "start is 1.58 from the shooter's eye at 0.9 s, limit 0.25"},
    {HS_CHECK_BINDING, launch_aside,
     "the path is 10.2 degrees from the direction of the shot, limit 0.5 degrees"},
    {HS_CHECK_AIM, look_aside,
     "the path is 79.8 degrees from the shooter's aim at 0.89 s, limit 5 degrees"},
    {HS_CHECK_RANGE, shorten_range, "the trace is 20.3 long, limit 10.1"},
    {HS_CHECK_WORLD, build_wall, "a wall is in the way at 5.08, before the target at 20.12"},
    {HS_CHECK_CONTACT, miss, "the path misses T by 0.67, limit 0"},
    {HS_CHECK_BYSTANDER, step_between, "between is in the way at 9.96, before the target at 20.12"},
    {HS_CHECK_PELLETS, fire_two_pellets, "the claim has 2 pellets, limit 1"},
    {HS_CHECK_FLIGHT, launch_slowly, "the launch speed is 20 per second, minimum 39.2"},
    {HS_CHECK_FLIGHT, launch_late,
     "the flight time differs by 0.308 s from the time that the path takes, limit 0.05 s"},
    {HS_CHECK_FLIGHT, fly_long, "the flight took 0.7 s, limit 0.6 s"},
    {HS_CHECK_BLAST, burst_far_away, "T is 9.7 from the blast, limit 3"},
    {HS_CHECK_WEAPON, look_ahead, "1.06 s is 0.06 s after the newest frame of S, limit 0.05 s"},
    {HS_CHECK_LIFE, look_ahead, "1.06 s is 0.06 s after the newest frame of S, limit 0.05 s"},
    {HS_CHECK_ORIGIN, look_ahead, "1.06 s is 0.06 s after the newest frame of S, limit 0.05 s"},
    {HS_CHECK_CONTACT, look_ahead, "1.06 s is 0.06 s after the newest frame of T, limit 0.05 s"},
    {HS_CHECK_CONTACT, look_before, "-0.1 s is 0.1 s before the oldest frame of T"},
    {HS_CHECK_CONTACT, look_between,
     "the frames of T around 0.875 s are 0.05 s apart, limit 0.01 s"},
    {HS_CHECK_CONTACT, claim_nobody, "no frame ever showed zoe"},
    {HS_CHECK_BLAST, burst_ahead, "1.06 s is 0.06 s after the newest frame of T, limit 0.05 s"},
};

enum { PROVOKED = sizeof provoked / sizeof provoked[0] };

static struct hs_detail_claim about(const struct hs_hit_claim *claim)
{
    return (struct hs_detail_claim){.shot = claim->shot,
                                    .shooter = claim->shooter,
                                    .target = claim->target,
                                    .weapon = claim->weapon};
}

START_TEST(a_failed_check_gets_the_expected_sentence)
{
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 3.6, 1.6);
    provoked[_i].provoke(&claim);
    if (!claim.has_fire_time) {
        claim.has_fire_time = true;
        claim.fire_time_us = claim.hit_time_us;
    }
    const struct hs_hit_result *result = hs_stage_judge(match, &claim, NOW);
    const struct hs_check_row *row = hs_stage_row(result, provoked[_i].check);
    ck_assert_ptr_nonnull(row);
    ck_assert_int_ne(row->outcome, HS_OUTCOME_PASS);
    char text[HS_SENTENCE_MAX];
    struct hs_detail_claim subject = about(&claim);
    hs_check_detail(&subject, result, row, text);
    ck_assert_str_eq(text, provoked[_i].sentence);
}
END_TEST

/* The sentence names the time at which the shooter's pose counted, not the time of the target's
   pose. */
START_TEST(without_fire_time_the_shooter_is_where_they_are_now)
{
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 3.6, 1.6);
    start_aside(&claim);
    const struct hs_hit_result *result = hs_stage_judge(match, &claim, NOW);
    char text[HS_SENTENCE_MAX];
    struct hs_detail_claim subject = about(&claim);
    hs_check_detail(&subject, result, hs_stage_row(result, HS_CHECK_ORIGIN), text);
    ck_assert_str_eq(text, "start is 1.58 from the shooter's eye at 1 s, limit 0.25");
}
END_TEST

/* Every check has a sentence in this test. Only a check that is off by default may be missing. */
START_TEST(every_check_has_a_sentence_in_this_test)
{
    unsigned seen = 0;
    for (int i = 0; i < PROVOKED; i++)
        seen |= 1u << provoked[i].check;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        ck_assert((seen & 1u << i) != 0 || hs_check_default_mode((enum hs_check)i) == HS_MODE_OFF);
}
END_TEST

/* ---- every reason has a sentence ---- */

static struct hs_hit_result result_at(void)
{
    return (struct hs_hit_result){.eye_time_us = HS_MS(12410),
                                  .rewind = {.time_us = HS_MS(12300), .by_us = HS_MS(100)}};
}

static const struct hs_detail_claim claim_of_s = {
    .shot = 7, .shooter = {"S", 1}, .target = {"T", 1}, .weapon = {"laser", 5}};

/* A new reason, or a new check with an old reason, needs a sentence. */
START_TEST(every_reason_has_a_sentence)
{
    static struct hs_hit_result result;
    result = result_at();
    enum hs_reason reason = (enum hs_reason)_i;
    if (hs_reason_verdict(reason) == HS_VERDICT_ACCEPTED || reason == HS_REASON_OVER_BUDGET ||
        reason == HS_REASON_MALFORMED)
        return; /* no check row has these reasons */
    bool is_worded = false;
    for (int check = 0; check < HS_CHECK_COUNT; check++) {
        for (int unit = 0; unit < HS_UNIT_COUNT; unit++) {
            struct hs_check_row row = {.check = (enum hs_check)check,
                                       .outcome = HS_OUTCOME_FAIL,
                                       .reason = reason,
                                       .unit = (enum hs_unit)unit,
                                       .measured = 2,
                                       .limit = 1};
            char text[HS_SENTENCE_MAX];
            hs_check_detail(&claim_of_s, &result, &row, text);
            ck_assert_ptr_null(strpbrk(text, "{}"));
            bool lacks = strlen(text) < 8;
            ck_assert_msg(!lacks || unit == HS_UNIT_NONE, "%s of %s", hs_reason_name(reason),
                          hs_check_name((enum hs_check)check));
            is_worded = is_worded || !lacks;
        }
    }
    ck_assert(is_worded);
}
END_TEST

START_TEST(every_check_of_a_move_has_a_sentence)
{
    struct hs_move_failure failure = {.check = (uint8_t)_i,
                                      .mode = HS_MODE_SHADOW,
                                      .unit = HS_UNIT_LENGTH,
                                      .measured = 9.6,
                                      .limit = 6};
    char text[HS_SENTENCE_MAX];
    hs_move_detail(&failure, text);
    static const char *const wanted[HS_MOVE_CHECK_COUNT] = {
        [HS_MOVE_CHECK_FAST_CLOCK_PROVEN] =
            "client_time is 9.6 s ahead of what ack allows, limit 6 s",
        [HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED] = "the client's clock has gained 9.6 s, limit 6 s",
        [HS_MOVE_CHECK_TIMING_DISCREPANCY] = "the client is 9.6 s ahead of the server, limit 6 s",
        [HS_MOVE_CHECK_TELEPORT] =
            "the player moved 9.6 at once without a teleport or spawn, limit 6",
        [HS_MOVE_CHECK_SPEED] = "the player moves 9.6 per second, limit 6",
        [HS_MOVE_CHECK_ACCELERATION] = "the player accelerates by 9.6 per second squared, limit 6",
        [HS_MOVE_CHECK_GRAVITY] = "the player is 9.6 above where gravity would have them, limit 6",
        [HS_MOVE_CHECK_PATH] = "the map or a mover blocks the path of length 6 after 9.6",
        [HS_MOVE_CHECK_GROUND] = "the player walked 9.6 s without ground below, limit 6 s",
        [HS_MOVE_CHECK_BASE] = "the player is 9.6 from the mover that is their base, limit 6",
        [HS_MOVE_CHECK_STANCE] =
            ("the flags of the move do not fit the stance in the frames, or the player jumped in a "
             "mode without ground and gravity"),
    };
    ck_assert_ptr_nonnull(wanted[_i]);
    ck_assert_str_eq(text, wanted[_i]);
}
END_TEST

START_TEST(changes_of_base_are_counted)
{
    struct hs_move_failure failure = {.check = HS_MOVE_CHECK_SPEED,
                                      .mode = HS_MODE_SHADOW,
                                      .unit = HS_UNIT_COUNTED,
                                      .measured = 20.4,
                                      .limit = 20};
    char text[HS_SENTENCE_MAX];
    hs_move_detail(&failure, text);
    ck_assert_str_eq(text, "the player changed base 20.4 times within a short time, limit 20");
    failure.check = HS_MOVE_CHECK_BASE;
    failure.unit = HS_UNIT_NONE;
    hs_move_detail(&failure, text);
    ck_assert_str_eq(text, "no mover in the frames has the name of the base");
}
END_TEST

static const struct {
    struct hs_check_row row;
    const char *sentence;
} worded[] = {
    {{.check = HS_CHECK_ORIGIN,
      .outcome = HS_OUTCOME_FAIL,
      .reason = HS_REASON_ORIGIN_MISMATCH,
      .unit = HS_UNIT_LENGTH,
      .measured = 1.58,
      .limit = 0.25,
      .of_posted_shot = true},
     "posted shot: start is 1.58 from the shooter's eye at 12.41 s, limit 0.25"},
    {{.check = HS_CHECK_LATENCY,
      .outcome = HS_OUTCOME_FAIL,
      .reason = HS_REASON_TIME_MISMATCH,
      .unit = HS_UNIT_SECONDS,
      .measured = 0.15,
      .limit = 0.1},
     "hit_time differs by 0.15 s from the time expected from rtt and interp, limit 0.1 s"},
    {{.check = HS_CHECK_WORLD,
      .outcome = HS_OUTCOME_UNKNOWN,
      .reason = HS_REASON_HISTORY_GAP,
      .unit = HS_UNIT_LENGTH,
      .measured = 5,
      .limit = 20,
      .mover = {"door"}},
     "mover door may be in the way at 5, before 20, but its place or state at 12.3 s is unknown"},
    {{.check = HS_CHECK_CONTACT,
      .outcome = HS_OUTCOME_UNKNOWN,
      .reason = HS_REASON_HISTORY_TOO_SHORT,
      .unit = HS_UNIT_LENGTH,
      .measured = 0.3,
      .player = {"T"}},
     "the path misses T by 0.3, limit 0, but the weapon was last reported before a restart"},
    {{.check = HS_CHECK_IDENTITY,
      .outcome = HS_OUTCOME_UNKNOWN,
      .reason = HS_REASON_UNKNOWN_SHOOTER_HISTORY,
      .unit = HS_UNIT_SECONDS},
     "the match has no space to remember a new shooter"},
    {{.check = HS_CHECK_REWIND,
      .outcome = HS_OUTCOME_UNKNOWN,
      .reason = HS_REASON_UNKNOWN_SHOOTER_HISTORY},
     "no round trip of the shooter is known"},
    {{.check = HS_CHECK_IDENTITY, .outcome = HS_OUTCOME_FAIL, .reason = HS_REASON_NO_MATCHING_SHOT},
     "shot 7 was not posted with this weapon, or was refused"},
};

START_TEST(every_row_gets_the_expected_sentence)
{
    static struct hs_hit_result result;
    result = result_at();
    char text[HS_SENTENCE_MAX];
    hs_check_detail(&claim_of_s, &result, &worded[_i].row, text);
    ck_assert_str_eq(text, worded[_i].sentence);
}
END_TEST

START_TEST(shots_use_their_own_words)
{
    static struct hs_hit_result result;
    result = result_at();
    struct hs_detail_claim shot = {.shooter = HS_STR("S"), .is_shot = true};
    struct hs_check_row row = {
        .check = HS_CHECK_WEAPON, .outcome = HS_OUTCOME_FAIL, .reason = HS_REASON_NO_WEAPON};
    char text[HS_SENTENCE_MAX];
    hs_check_detail(&shot, &result, &row, text);
    ck_assert_str_eq(text, "neither the shot nor a frame names a weapon");
}
END_TEST

/* ---- numbers show on which side of the limit they are ---- */

static const struct {
    double measured, limit;
    const char *text;
} numbers[] = {
    {1.58, 0.25, "1.58 long, limit 0.25"},
    {1.5849, 0.25, "1.58 long, limit 0.25"},
    {0.2503, 0.25, "0.2503 long, limit 0.25"},
    {0.250000001, 0.25, "more than 0.25 long, limit 0.25"},
    {0.12347, 0.12346, "more than 0.1235 long, limit 0.1235"},
    {0.2499, 0.25, "0.2499 long, minimum 0.25"},
    {0.249999, 0.25, "less than 0.25 long, minimum 0.25"},
    {15823, 10000, "15800 long, limit 10000"},
    {2e-5, 1e-5, "0.00002 long, limit 0.00001"},
    {1e300, 1e6, "1e+300 long, limit 1000000"},
    {3, 0, "3 long, limit 0"},
};

START_TEST(numbers_show_their_side_of_the_limit)
{
    static struct hs_hit_result result;
    struct hs_check_row row = {.check = HS_CHECK_RANGE,
                               .outcome = HS_OUTCOME_FAIL,
                               .reason = HS_REASON_OUT_OF_RANGE,
                               .unit = HS_UNIT_LENGTH,
                               .measured = numbers[_i].measured,
                               .limit = numbers[_i].limit};
    char text[HS_SENTENCE_MAX];
    hs_check_detail(&claim_of_s, &result, &row, text);
    ck_assert_str_eq(text + strlen("the trace is "), numbers[_i].text);
}
END_TEST

START_TEST(a_jump_names_the_player_and_the_distance)
{
    struct hs_frame_jump jump = {.distance = 31, .limit = 10, .elapsed_us = HS_MS(50)};
    char text[HS_SENTENCE_MAX];
    hs_jump_detail(HS_STR("bob"), &jump, text);
    ck_assert_str_eq(text, "bob moved 31 in 0.05 s without a teleport or spawn, limit 10");
}
END_TEST

START_TEST(the_longest_names_fit)
{
    static struct hs_hit_result result;
    struct hs_check_row row = {.check = HS_CHECK_WORLD,
                               .outcome = HS_OUTCOME_UNKNOWN,
                               .reason = HS_REASON_HISTORY_GAP,
                               .unit = HS_UNIT_LENGTH,
                               .measured = -1.234e-300,
                               .limit = -1.235e-300,
                               .of_posted_shot = true};
    memset(row.mover.text, 'm', HS_NAME_MAX);
    result.rewind.time_us = INT64_MIN / 2 + 1234;
    char text[HS_SENTENCE_MAX];
    hs_check_detail(&claim_of_s, &result, &row, text);
    ck_assert_uint_lt(strlen(text), HS_SENTENCE_MAX - 1);
    ck_assert_ptr_nonnull(strstr(text, "is unknown"));
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("detail");
    TCase *provoking = tcase_create("provoked");
    tcase_add_checked_fixture(provoking, set_up, tear_down);
    tcase_add_loop_test(provoking, a_failed_check_gets_the_expected_sentence, 0, PROVOKED);
    tcase_add_test(provoking, without_fire_time_the_shooter_is_where_they_are_now);
    tcase_add_test(provoking, every_check_has_a_sentence_in_this_test);
    suite_add_tcase(suite, provoking);
    TCase *wording = tcase_create("wording");
    tcase_add_loop_test(wording, every_reason_has_a_sentence, 0, HS_REASON_COUNT);
    tcase_add_loop_test(wording, every_check_of_a_move_has_a_sentence, 0, HS_MOVE_CHECK_COUNT);
    tcase_add_test(wording, changes_of_base_are_counted);
    tcase_add_loop_test(wording, every_row_gets_the_expected_sentence, 0,
                        sizeof worded / sizeof worded[0]);
    tcase_add_test(wording, shots_use_their_own_words);
    tcase_add_loop_test(wording, numbers_show_their_side_of_the_limit, 0,
                        sizeof numbers / sizeof numbers[0]);
    tcase_add_test(wording, a_jump_names_the_player_and_the_distance);
    tcase_add_test(wording, the_longest_names_fit);
    suite_add_tcase(suite, wording);
    return suite;
}

int main(void)
{
    return hs_run_suite(suite());
}
