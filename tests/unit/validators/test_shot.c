/* Posted shots: each check at its limit, what is stored, and the effect on the hits of the
   shots. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/world_cases.h"
#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"
#include "validators/hit/context.h"
#include "validators/journal.h"
#include "validators/shot.h"
#include "validators/snapshot.h"

static struct hs_hit_result result;
static int64_t forward_us;

static void set_up(void)
{
    open_stage();
    hs_stage_play(match);
}

static struct hs_shot_claim shot_at(uint64_t number, int64_t time_us)
{
    return (struct hs_shot_claim){.shot = number,
                                  .shooter = HS_STR("S"),
                                  .weapon = HS_STR("rifle"),
                                  .time_us = time_us,
                                  .origin = {0, 0, 1.6}};
}

static struct hs_hit_result *judge_at(const struct hs_shot_claim *claim, int64_t now_us)
{
    memset(&result, 0xA5, sizeof result);
    forward_us = -1;
    hs_shot_verify(match, claim, now_us, &result, &forward_us);
    return &result;
}

static struct hs_hit_result *judge(const struct hs_shot_claim *claim)
{
    return judge_at(claim, NOW);
}

static void note(const struct hs_shot_claim *claim)
{
    ck_assert(hs_shot_record(match, claim, judge(claim), HS_STR("{\"posted\"")));
}

/* Judges a hit of a shot that ends at T's head. */
static struct hs_hit_result *judge_hit(uint64_t number, int64_t time_us)
{
    struct hs_hit_claim claim = hs_stage_claim(time_us, 20, 4e-6 * (double)time_us, 1.6);
    claim.shot = number;
    struct hs_hit_result *fresh = hs_stage_verify(match, &claim, NOW);
    result = *fresh;
    free(fresh);
    return &result;
}

static struct hs_ledger *ledger_of(const char *name)
{
    return &hs_players_find(&match->players, hs_stage_str(name))->ledger;
}

/* ---- verdicts ---- */

START_TEST(the_checks_of_a_shot_run_in_order)
{
    static const enum hs_check wanted[] = {HS_CHECK_SHAPE,     HS_CHECK_IDENTITY, HS_CHECK_WEAPON,
                                           HS_CHECK_FIRE_RATE, HS_CHECK_REWIND,   HS_CHECK_LATENCY,
                                           HS_CHECK_LIFE,      HS_CHECK_ORIGIN,   HS_CHECK_AIM};
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(100);
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_AIM;
    s.aim[0] = 1;
    hs_stage_post(match, HS_MS(1010), &s, NULL);
    struct hs_shot_claim claim = shot_at(1, HS_MS(1010));
    claim.direction = (struct hs_vec){1, 0, 0};
    claim.has_direction = true;
    struct hs_hit_result *r = judge_at(&claim, HS_MS(1010));
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->check_count, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(r->checks[i].check, wanted[i]);
    ck_assert(r->replay == NULL && r->weapon == HS_STAGE_RIFLE && r->flags == 0);
    ck_assert_int_eq(r->fire_time_us, HS_MS(1010));
    ck_assert_uint_eq(r->damage_count, 0);
    ck_assert(!r->impact.present && !r->rewind.present);
}
END_TEST

START_TEST(forward_time_is_the_age_up_to_the_rewind_limit)
{
    static const struct {
        int64_t fired_us, forward_us;
    } rows[] = {{1000000, 0},     {999999, 1},      {900000, 100000},
                {750000, 250000}, {749999, 250000}, {-100000, 250000},
                {1000001, 0},     {1050000, 0},     {9000000000000, 0}};
    for (int i = 0; i < 9; i++) {
        struct hs_shot_claim claim = shot_at(1, rows[i].fired_us);
        judge(&claim);
        ck_assert_int_eq(forward_us, rows[i].forward_us);
    }
    struct hs_shot_claim claim = shot_at(1, HS_MS(900)); /* a repeated answer also has the checks */
    note(&claim);
    ck_assert(judge_at(&claim, HS_MS(940))->replay != NULL);
}
END_TEST

START_TEST(each_check_of_a_shot_holds_at_its_limit)
{
    struct hs_shot_claim claim = shot_at(1, HS_MS(750));
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(&result, HS_CHECK_REWIND, HS_UNIT_SECONDS, 0.25, 0.25);
    claim.time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
    claim = shot_at(1, HS_MS(1050));
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.time_us++;
    hs_expect_reason(judge(&claim), HS_REASON_TIME_IN_FUTURE);
    claim = shot_at(1, HS_MS(900));
    claim.origin.y = 0.25;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(&result, HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 0.25, 0.25);
    claim.origin.y = 0.250001;
    hs_expect_reason(judge(&claim), HS_REASON_ORIGIN_MISMATCH);
    claim.origin = (struct hs_vec){rules->history.world_bound * 1.01, 0, 0};
    hs_expect_reason(judge(&claim), HS_REASON_COORDINATE_OUT_OF_WORLD);
    claim = shot_at(1, HS_MS(900));
    claim.weapon = HS_STR("knife");
    hs_expect_reason(judge(&claim), HS_REASON_WEAPON_NOT_AVAILABLE);
    claim.weapon = HS_STR("bazooka");
    hs_expect_reason(judge(&claim), HS_REASON_UNKNOWN_WEAPON);
    ck_assert_uint_eq(result.weapon, HS_NONE);
    claim.weapon = hs_stage_str(NULL);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    ck_assert_uint_eq(result.weapon, HS_STAGE_RIFLE);
    claim.shooter = HS_STR("nobody");
    hs_expect_reason(judge(&claim), HS_REASON_UNKNOWN_SHOOTER_HISTORY);
}
END_TEST

/* A shot may have any fire time between the moment that S saw (150 ms ago, with a slack of 50 ms)
   and the newest pose of S on the server. */
START_TEST(a_fire_time_may_be_between_the_seen_moment_and_now)
{
    static const struct {
        int fired;
        enum hs_reason reason;
    } rows[] = {{799, HS_REASON_TIME_MISMATCH},
                {800, HS_REASON_OK},
                {900, HS_REASON_OK},
                {1000, HS_REASON_OK},
                {1050, HS_REASON_OK}};
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_RTT;
    s.rtt_us = 150000;
    hs_stage_post(match, HS_MS(1000) - 1, &s, NULL);
    rules->rewind.older_slack_us = rules->rewind.newer_slack_us = HS_MS(50);
    struct hs_shot_claim claim = shot_at(1, HS_MS(rows[_i].fired));
    hs_expect_reason(judge(&claim), rows[_i].reason);
    /* A hit must be at the time that S saw, however late S fired. */
    claim = shot_at(2, HS_MS(900));
    note(&claim);
    hs_expect_reason(judge_hit(2, HS_MS(950)), HS_REASON_TIME_MISMATCH);
    hs_expect_reason(judge_hit(2, HS_MS(850)), HS_REASON_OK);
}
END_TEST

/* S cannot have seen at the shot what happened after it: with a round trip of 40 ms, the hit time
   fits the arrival of the hit, but not a shot posted 60 ms before it. */
START_TEST(a_hit_time_is_not_after_its_shot)
{
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_RTT;
    s.rtt_us = 40000;
    hs_stage_post(match, HS_MS(1000) - 1, &s, NULL);
    struct hs_shot_claim claim = shot_at(1, HS_MS(900));
    note(&claim);
    struct hs_hit_result *r = judge_hit(1, HS_MS(960));
    hs_expect_reason(r, HS_REASON_TIME_MISMATCH);
    hs_expect_measure(r, HS_CHECK_LATENCY, HS_UNIT_SECONDS, 0.06, 0.03);
    hs_expect_reason(judge_hit(1, HS_MS(930)), HS_REASON_OK);
    hs_expect_reason(judge_hit(1, HS_MS(930) + 1), HS_REASON_TIME_MISMATCH);
}
END_TEST

/* Far from the centre of the world, rounding loses a direction of length 1. */
START_TEST(directions_far_from_the_origin_are_used)
{
    rules->history.world_bound = 1e12;
    rules->history.max_speed = 1e12;
    rules->checks[HS_CHECK_AIM] = HS_MODE_ENFORCE;
    struct hs_player_frame s = hs_stage_entry("F", 1e11, 1e11, 1e11);
    s.fields = HS_FIELD_AIM;
    s.aim[0] = 1;
    s.weapon = HS_STR("rifle");
    ck_assert_int_eq(hs_stage_post(match, NOW, &s, NULL), HS_FRAME_STORED);
    struct hs_shot_claim claim = shot_at(1, NOW);
    claim.shooter = HS_STR("F");
    claim.origin = (struct hs_vec){1e11, 1e11, 1e11 + 1.6};
    claim.has_direction = true;
    claim.direction = (struct hs_vec){1, 0, 0};
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(&result, HS_CHECK_AIM, HS_UNIT_DEGREES, 0, 5);
    claim.direction = (struct hs_vec){0, 1, 0};
    hs_expect_reason(judge(&claim), HS_REASON_AIM_MISMATCH);
    hs_expect_measure(&result, HS_CHECK_AIM, HS_UNIT_DEGREES, 90, 5);
}
END_TEST

/* ---- numbers ---- */

START_TEST(the_same_shot_is_a_replay_and_a_changed_one_a_duplicate)
{
    struct hs_vec directions[2] = {{1, 0, 0}, {0, 1, 0}}, others[2] = {{1, 0, 0}, {0, 0, 1}};
    struct hs_shot_claim first = shot_at(1, HS_MS(900));
    first.direction = (struct hs_vec){1, 0, 0};
    first.has_direction = first.has_seed = true;
    first.directions = directions;
    first.direction_count = 2;
    note(&first);
    struct hs_shot_claim again = first;
    struct hs_vec copies[2] = {directions[0], directions[1]};
    again.directions = copies;
    for (int64_t now = 0; now <= 2; now++) {
        const struct hs_ledger_entry *replay = judge_at(&again, now * NOW)->replay;
        ck_assert(replay != NULL && replay->answer_size == 9);
        ck_assert(memcmp(replay->answer, "{\"posted\"", 9) == 0);
    }
    struct hs_shot_claim changed[9];
    for (int i = 0; i < 9; i++)
        changed[i] = first;
    changed[0].time_us++;
    changed[1].origin.x = 1e-9;
    changed[2].direction = (struct hs_vec){0, 1, 0};
    changed[3].has_direction = false;
    changed[4].seed = 1;
    changed[5].has_seed = false;
    changed[6].weapon = hs_stage_str(NULL);
    changed[7].direction_count = 1;
    changed[8].directions = others;
    for (int i = 0; i < 9; i++) {
        ck_assert_msg(judge(&changed[i])->replay == NULL, "change %d", i);
        hs_expect_reason(&result, HS_REASON_DUPLICATE);
        note(&changed[i]); /* a result that is a repetition changes nothing */
        ck_assert(judge(&first)->replay != NULL);
    }
    ck_assert_uint_eq(ledger_of("S")->shots.count, 1);
    ck_assert_uint_eq(ledger_of("S")->hits.count, 0);
}
END_TEST

START_TEST(cadence_and_magazine_count_shots_and_not_their_hits)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(50);
    rules->weapons[HS_STAGE_RIFLE]->magazine = 4;
    rules->weapons[HS_STAGE_RIFLE]->reload_us = HS_MS(2000);
    for (uint64_t i = 1; i <= 4; i++) {
        struct hs_shot_claim claim = shot_at(i, HS_MS(750) + HS_MS(50) * (int64_t)i);
        hs_expect_reason(judge(&claim), HS_REASON_OK);
        note(&claim);
    }
    for (uint64_t i = 1; i <= 4; i++) {
        int64_t time_us = HS_MS(750) + HS_MS(50) * (int64_t)i;
        struct hs_hit_result *r = judge_hit(i, time_us);
        hs_expect_reason(r, HS_REASON_OK);
        ck_assert(r->shot_was_posted);
        struct hs_hit_claim claim = hs_stage_claim(time_us, 20, 4e-6 * (double)time_us, 1.6);
        claim.shot = i;
        ck_assert(hs_hit_record(match, &claim, r, HS_STR("{")));
    }
    const struct hs_cadence *cadence = hs_ledger_cadence(ledger_of("S"), HS_STAGE_RIFLE);
    ck_assert(cadence != NULL && cadence->count == 4 && cadence->rounds == 4);
    struct hs_shot_claim claim = shot_at(5, NOW);
    hs_expect_reason(judge(&claim), HS_REASON_WEAPON_NOT_AVAILABLE);
    hs_expect_measure(&result, HS_CHECK_WEAPON, HS_UNIT_COUNTED, 5, 4);
}
END_TEST

START_TEST(a_refused_shot_is_not_fired)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(50);
    struct hs_shot_claim claim = shot_at(1, HS_MS(900));
    claim.origin.y = 9;
    note(&claim);
    ck_assert(hs_ledger_cadence(ledger_of("S"), HS_STAGE_RIFLE) == NULL);
    ck_assert(!hs_ledger_find(&ledger_of("S")->shots, 1)->accepted);
    struct hs_player_info info;
    ck_assert(hs_match_find_player(match, HS_STR("S"), &info));
    /* this counter counts only hit claims, not shots */
    ck_assert_uint_eq(info.reasons[HS_REASON_ORIGIN_MISMATCH], 0);
}
END_TEST

static enum hs_reason cancel(uint64_t number)
{
    struct hs_shot_claim claim = {.shot = number, .shooter = HS_STR("S"), .is_cancel = true};
    memset(&result, 0xA5, sizeof result);
    hs_shot_cancel(match, &claim, true, &result);
    ck_assert_int_eq(result.verdict, hs_reason_verdict(result.reason));
    ck_assert(result.check_count == 1 && result.checks[0].check == HS_CHECK_IDENTITY);
    return result.reason;
}

START_TEST(a_shot_that_is_cancelled_was_not_fired)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(100);
    struct hs_shot_claim first = shot_at(1, HS_MS(900)), second = shot_at(2, HS_MS(901));
    note(&first);
    hs_expect_reason(judge(&second), HS_REASON_FIRE_RATE);
    ck_assert_int_eq(cancel(1), HS_REASON_OK);
    ck_assert_int_eq(cancel(1), HS_REASON_OK);
    hs_expect_reason(judge(&second), HS_REASON_OK);
    note(&second);
    ck_assert_int_eq(cancel(1), HS_REASON_OK); /* the cancellation gives back the token of shot 1
                                                  only */
    struct hs_shot_claim third = shot_at(3, HS_MS(902));
    hs_expect_reason(judge(&third), HS_REASON_FIRE_RATE);
    note(&third);
    hs_expect_reason(judge_hit(1, HS_MS(900)), HS_REASON_NO_MATCHING_SHOT);
    ck_assert(result.shot_was_posted);
    hs_expect_reason(judge_hit(2, HS_MS(901)), HS_REASON_OK);
    ck_assert_int_eq(cancel(3), HS_REASON_NO_MATCHING_SHOT); /* shot 3 was refused */
    ck_assert_int_eq(cancel(9), HS_REASON_NO_MATCHING_SHOT);
    struct hs_shot_claim nobody = {.shot = 1, .shooter = HS_STR("nobody"), .is_cancel = true};
    hs_shot_cancel(match, &nobody, true, &result);
    ck_assert_int_eq(result.reason, HS_REASON_NO_MATCHING_SHOT);
}
END_TEST

/* If its token were given back, a cheat could cancel each paid shot, and so fire at any rate. */
START_TEST(a_shot_that_was_paid_keeps_its_token)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(100);
    struct hs_shot_claim first = shot_at(1, HS_MS(900)), second = shot_at(2, HS_MS(901));
    note(&first);
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(900), 20, 3.6, 1.6);
    hit.shot = 1;
    struct hs_hit_result *r = hs_stage_verify(match, &hit, NOW);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert(hs_hit_record(match, &hit, r, HS_STR("{")));
    free(r);
    ck_assert_int_eq(cancel(1), HS_REASON_OK);
    hs_expect_reason(judge(&second), HS_REASON_FIRE_RATE);
}
END_TEST

START_TEST(a_cancellation_outlasts_a_crash)
{
    struct hs_bytes saved = {0}, journal = {0};
    struct hs_shot_claim claim = shot_at(1, HS_MS(900));
    hs_match_save(match, &saved);
    hs_match_set_journal(match, &journal);
    note(&claim);
    hs_shot_cancel(match, &claim, false, &result);
    ck_assert_int_eq(result.reason, HS_REASON_NOT_RECORDED);
    ck_assert(!hs_ledger_find(&ledger_of("S")->shots, 1)->is_cancelled);
    ck_assert_int_eq(cancel(1), HS_REASON_OK);
    struct hs_match_limits limits = match->limits;
    hs_match_destroy(match);
    ck_assert_int_eq(hs_match_load(rules, &limits, saved.data, saved.len, &match), HS_MATCH_LOADED);
    ck_assert(hs_match_replay(match, journal.data, journal.len));
    ck_assert(hs_ledger_find(&ledger_of("S")->shots, 1)->is_cancelled);
    ck_assert_uint_eq(hs_ledger_cadence(ledger_of("S"), HS_STAGE_RIFLE)->count, 0);
    free(saved.data);
    free(journal.data);
}
END_TEST

/* ---- hits of posted shots ---- */

START_TEST(the_fire_time_and_weapon_of_the_shot_count)
{
    struct hs_shot_claim claim = shot_at(1, HS_MS(800));
    claim.weapon = hs_stage_str(NULL);
    note(&claim);
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(900), 20, 3.6, 1.6);
    hit.weapon = hs_stage_str(NULL);
    hit.has_fire_time = true;
    hit.fire_time_us = HS_MS(950);
    struct hs_hit_result *r = hs_stage_verify(match, &hit, NOW);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_int_eq(r->fire_time_us, HS_MS(800));
    ck_assert_uint_eq(r->weapon, HS_STAGE_RIFLE);
    free(r);
    hit.weapon = HS_STR("knife");
    r = hs_stage_verify(match, &hit, NOW);
    hs_expect_reason(r, HS_REASON_NO_MATCHING_SHOT);
    ck_assert_int_eq(r->fire_time_us, HS_MS(950));
    ck_assert(!r->shot_was_posted);
    free(r);
}
END_TEST

/* Row: the mode of the check that refused the shot. */
START_TEST(what_was_found_is_found_again)
{
    enum hs_mode mode = (enum hs_mode)_i;
    rules->checks[HS_CHECK_ORIGIN] = mode;
    struct hs_shot_claim claim = shot_at(1, HS_MS(900));
    claim.origin.y = 2;
    note(&claim);
    /* the hit itself starts at the right place */
    struct hs_hit_result *r = judge_hit(1, HS_MS(900));
    hs_expect_reason(r, mode == HS_MODE_ENFORCE ? HS_REASON_ORIGIN_MISMATCH : HS_REASON_OK);
    ck_assert_int_eq(r->would_reject_count, mode == HS_MODE_SHADOW);
    if (mode == HS_MODE_OFF) {
        ck_assert(hs_stage_row(r, HS_CHECK_ORIGIN) == NULL);
        return;
    }
    const struct hs_check_row *row =
        hs_expect_row(r, HS_CHECK_ORIGIN, HS_OUTCOME_FAIL, HS_REASON_ORIGIN_MISMATCH);
    ck_assert_int_eq(row->mode, mode);
    hs_expect_measure(r, HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 2, 0.25);
}
END_TEST

START_TEST(a_hit_that_starts_or_goes_elsewhere_is_judged_by_itself)
{
    struct hs_player_frame s = hs_stage_entry("A", 0, -8, 0);
    s.fields = HS_FIELD_AIM;
    s.aim[1] = -1;
    s.weapon = HS_STR("rifle");
    for (int ms = 900; ms <= 1000; ms += 50)
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
    rules->checks[HS_CHECK_AIM] = HS_MODE_ENFORCE;
    struct hs_shot_claim claim = shot_at(1, HS_MS(950));
    claim.shooter = HS_STR("A");
    claim.origin = (struct hs_vec){0, -8, 1.6};
    claim.has_direction = true;
    claim.direction = (struct hs_vec){0, -1, 0};
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    note(&claim);
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(950), 20, 3.8, 1.6);
    hit.shooter = HS_STR("A");
    hit.start = claim.origin;
    struct hs_hit_result *r = hs_stage_verify(match, &hit, NOW);
    hs_expect_reason(r, HS_REASON_DIRECTION_MISMATCH);
    ck_assert_double_eq(r->damage_total, 0);
    free(r);
    hit.start = (struct hs_vec){19, 3.8, 1.6};
    r = hs_stage_verify(match, &hit, NOW);
    hs_expect_reason(r, HS_REASON_ORIGIN_MISMATCH);
    free(r);
}
END_TEST

/* Tests first a wall between the start of the posted shot and the start of its hit, then a wall
   beside both. */
static void expect_walls_at_a_forgotten_launch(void)
{
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(4000), 120, 0, 1.6);
    hit.weapon = HS_STR("bow");
    hit.start = (struct hs_vec){0, 0.2, 1.6};
    for (int i = 0; i < 2; i++) {
        struct hs_test_mesh mesh = {0};
        double y = i == 0 ? 0.1 : 0.4;
        hs_test_mesh_box(&mesh, (struct hs_vec){-0.5, y, 0}, (struct hs_vec){0.5, y + 0.05, 3});
        struct hs_world *world = hs_world_create(&mesh.mesh, NULL, NULL);
        ck_assert_ptr_nonnull(world);
        hs_match_set_world(match, world);
        struct hs_hit_result *r = hs_stage_verify(match, &hit, HS_MS(4000));
        if (i == 0)
            hs_expect_reason(r, HS_REASON_ORIGIN_OCCLUDED);
        else
            hs_expect_row(r, HS_CHECK_ORIGIN, HS_OUTCOME_PASS, HS_REASON_OK);
        hs_expect_measure(r, HS_CHECK_ORIGIN, HS_UNIT_LENGTH, i == 0 ? 0.1 : 0.2,
                          i == 0 ? 0.2 : 0.25);
        free(r);
        hs_match_set_world(match, NULL);
        hs_world_destroy(world);
        hs_test_mesh_free(&mesh);
    }
}

/* At the time of the hit, the history of the launch is gone. So the posted shot is used instead. */
START_TEST(a_hit_uses_its_shot_if_the_launch_left_the_history)
{
    rules->checks[HS_CHECK_AIM] = HS_MODE_ENFORCE;
    rules->weapons[HS_STAGE_BOW]->min_interval_us = 0;
    struct hs_shot_claim claim = shot_at(1, NOW);
    claim.weapon = HS_STR("bow");
    claim.has_direction = true;
    claim.direction = (struct hs_vec){1, 0, 0};
    rules->checks[HS_CHECK_WEAPON] = HS_MODE_OFF;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    note(&claim);
    for (int ms = 1050; ms <= 4000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 120, 0, 0);
    }
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(4000), 120, 0, 1.6);
    hit.weapon = HS_STR("bow");
    struct hs_hit_result *r = hs_stage_verify(match, &hit, HS_MS(4000));
    hs_expect_reason(r, HS_REASON_OK);
    hs_expect_measure(r, HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 0, 0.25);
    free(r);
    hit.start = (struct hs_vec){0, 0.6, 1.6};
    r = hs_stage_verify(match, &hit, HS_MS(4000));
    hs_expect_reason(r, HS_REASON_ORIGIN_MISMATCH);
    free(r);
    expect_walls_at_a_forgotten_launch();
    hit = hs_stage_claim(HS_MS(4000), 0, 120, 1.6);
    hit.weapon = HS_STR("bow");
    hit.target = hs_stage_str(NULL);
    r = hs_stage_verify(match, &hit, HS_MS(4000));
    hs_expect_reason(r, HS_REASON_DIRECTION_MISMATCH);
    free(r);
}
END_TEST

START_TEST(a_shot_is_kept_for_its_hits_for_a_limited_time)
{
    struct hs_shot_claim claim = shot_at(1, NOW);
    note(&claim);
    for (int ms = 1050; ms <= 2600; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    struct hs_hit_claim hit = hs_stage_claim(HS_MS(2500), 20, 0, 1.6);
    struct hs_hit_result *r = hs_stage_verify(match, &hit, HS_MS(2500));
    hs_expect_row(r, HS_CHECK_IDENTITY, HS_OUTCOME_PASS, HS_REASON_OK);
    hs_expect_measure(r, HS_CHECK_IDENTITY, HS_UNIT_SECONDS, 1.5, 1.5);
    free(r);
    r = hs_stage_verify(match, &hit, HS_MS(2500) + 1);
    hs_expect_reason(r, HS_REASON_NO_MATCHING_SHOT);
    free(r);
    rules->rewind.limit_us = HS_MS(1600);
    r = hs_stage_verify(match, &hit, HS_MS(2600));
    hs_expect_row(r, HS_CHECK_IDENTITY, HS_OUTCOME_PASS, HS_REASON_OK);
    hs_expect_measure(r, HS_CHECK_IDENTITY, HS_UNIT_SECONDS, 1.6, 1.6);
    free(r);
}
END_TEST

/* The shot keeps the shooter's team and damage scale. When its arrow lands, the shooter's pose at
   the launch has left the history (0), or the shooter has left (1). */
START_TEST(a_shot_keeps_the_team_and_the_scale_of_its_shooter)
{
    static const double targets_x[] = {120, 20};
    static const int landings_ms[] = {4000, 1500};
    double x = targets_x[_i];
    rules->weapons[HS_STAGE_BOW]->min_interval_us = 0;
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0), t = hs_stage_entry("T", x, 0, 0);
    s.fields = HS_FIELD_DAMAGE_SCALE;
    s.team = HS_STR("red");
    s.damage_scale = 0.5;
    s.weapon = HS_STR("bow");
    t.team = HS_STR("blue");
    hs_stage_post(match, HS_MS(1010), &s, NULL);
    hs_stage_post(match, HS_MS(1010), &t, NULL);
    struct hs_shot_claim claim = shot_at(1, HS_MS(1010));
    claim.weapon = HS_STR("bow");
    hs_expect_reason(judge_at(&claim, HS_MS(1010)), HS_REASON_OK);
    ck_assert(hs_shot_record(match, &claim, &result, HS_STR("{\"posted\"")));
    for (int ms = 1050; ms <= landings_ms[_i]; ms += 50) {
        struct hs_player_frame leaves = hs_stage_event("S", HS_EVENT_LEAVE);
        if (_i == 0)
            hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        else if (ms == 1050)
            hs_stage_post(match, HS_MS(ms), &leaves, NULL);
        hs_stage_place(match, HS_MS(ms), "T", x, 0, 0);
    }
    int64_t now_us = HS_MS(landings_ms[_i]);
    struct hs_hit_claim hit = hs_stage_claim(now_us, x, 0, 1.6);
    hit.weapon = HS_STR("bow");
    struct hs_hit_result *r = hs_stage_judge(match, &hit, now_us);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 0.5 * 2 * 50); /* scale x zone x damage */
    t.team = HS_STR("red");
    hs_stage_post(match, now_us + HS_MS(10), &t, NULL);
    hit.hit_time_us = now_us + HS_MS(10);
    hs_expect_reason(hs_stage_judge(match, &hit, now_us + HS_MS(10)), HS_REASON_FRIENDLY_FIRE);
}
END_TEST

/* Shots of the rifle are never posted here. Its hits may use the number of an old arrow. */
START_TEST(a_free_number_of_another_weapon_needs_no_shot)
{
    struct hs_shot_claim arrow = shot_at(1, NOW);
    arrow.weapon = HS_STR("bow");
    note(&arrow);
    struct hs_hit_claim hit = hs_stage_claim(NOW, 20, 4, 1.6);
    hit.weapon = HS_STR("rifle");
    hs_expect_reason(hs_stage_judge(match, &hit, NOW), HS_REASON_NO_MATCHING_SHOT);
    for (int ms = 1050; ms <= 9000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    hit = hs_stage_claim(HS_MS(9000), 20, 0, 1.6);
    hit.weapon = HS_STR("rifle");
    hs_expect_reason(hs_stage_judge(match, &hit, HS_MS(9000)), HS_REASON_OK);
    hit.weapon = hs_stage_str(NULL); /* the rifle in the shooter's hand */
    hs_expect_reason(hs_stage_judge(match, &hit, HS_MS(9000)), HS_REASON_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shot");
    TCase *tcase = tcase_create("shot");
    tcase_add_checked_fixture(tcase, set_up, close_stage);
    tcase_add_test(tcase, the_checks_of_a_shot_run_in_order);
    tcase_add_test(tcase, forward_time_is_the_age_up_to_the_rewind_limit);
    tcase_add_test(tcase, each_check_of_a_shot_holds_at_its_limit);
    tcase_add_loop_test(tcase, a_fire_time_may_be_between_the_seen_moment_and_now, 0, 5);
    tcase_add_test(tcase, a_hit_time_is_not_after_its_shot);
    tcase_add_test(tcase, directions_far_from_the_origin_are_used);
    tcase_add_test(tcase, the_same_shot_is_a_replay_and_a_changed_one_a_duplicate);
    tcase_add_test(tcase, cadence_and_magazine_count_shots_and_not_their_hits);
    tcase_add_test(tcase, a_refused_shot_is_not_fired);
    tcase_add_test(tcase, a_shot_that_is_cancelled_was_not_fired);
    tcase_add_test(tcase, a_shot_that_was_paid_keeps_its_token);
    tcase_add_test(tcase, a_cancellation_outlasts_a_crash);
    tcase_add_test(tcase, the_fire_time_and_weapon_of_the_shot_count);
    tcase_add_loop_test(tcase, what_was_found_is_found_again, 0, HS_MODE_COUNT);
    tcase_add_test(tcase, a_hit_that_starts_or_goes_elsewhere_is_judged_by_itself);
    tcase_add_test(tcase, a_hit_uses_its_shot_if_the_launch_left_the_history);
    tcase_add_test(tcase, a_shot_is_kept_for_its_hits_for_a_limited_time);
    tcase_add_loop_test(tcase, a_shot_keeps_the_team_and_the_scale_of_its_shooter, 0, 2);
    tcase_add_test(tcase, a_free_number_of_another_weapon_needs_no_shot);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
