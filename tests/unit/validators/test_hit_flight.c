/* Projectiles. A body is hit at the place that it has when the projectile passes. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_judge(match, claim, NOW);
}

/* ---- projectiles of 40 m/s ---- */

static void play_walk(double speed)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, speed * (ms - 1000) / 1000, 0);
    }
}

static void expect_at(const struct hs_hit_result *r, const char *player, double distance)
{
    ck_assert(r->impact.present);
    ck_assert_str_eq(r->impact.player.text, player);
    ck_assert_double_eq_tol(r->impact.distance, distance, 0.35);
}

static struct hs_hit_claim bow_shot(int64_t hit_time_us, double x, double y)
{
    struct hs_hit_claim claim = hs_stage_claim(hit_time_us, x, y, 1.6);
    claim.weapon = HS_STR("bow");
    return claim;
}

START_TEST(a_target_is_taken_when_the_projectile_passes)
{
    /* T walks at 8 m/s and is at y = 0 at 1000. The flight ends 10 m behind T, 250 ms later. */
    play_walk(8);
    for (int ms = 1050; ms <= 1250; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 8.0 * (ms - 1000) / 1000, 0);
    }
    struct hs_hit_claim claim = bow_shot(HS_MS(1250), 30, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(500);
    struct hs_hit_result *fresh = hs_stage_verify(match, &claim, HS_MS(1250));
    hs_expect_reason(fresh, HS_REASON_OK);
    /*
     * The contact with T is a little before 1000, and 0.04 before the line, because T comes from
     * below.
     */
    ck_assert_double_eq_tol(fresh->impact.distance, 19.8, 0.05);
    ck_assert_double_eq_tol(fresh->impact.center.x, fresh->impact.distance, 1e-6);
    free(fresh);
    /* T reaches this place at the end of the flight. When the projectile passes it, the place is
       still empty. */
    claim.end = (struct hs_vec){20, 2, 1.6};
    claim.fire_time_us = HS_MS(1250) - 502494;
    fresh = hs_stage_verify(match, &claim, HS_MS(1250));
    hs_expect_reason(fresh, HS_REASON_OK); /* now the flight ends at T at the right time */
    free(fresh);
    claim.end = (struct hs_vec){30, 3, 1.6};
    claim.fire_time_us = HS_MS(1250) - 753741;
    fresh = hs_stage_verify(match, &claim, HS_MS(1250));
    hs_expect_reason(fresh, HS_REASON_NO_INTERSECTION);
    ck_assert_double_gt(fresh->margin, 1);
    free(fresh);
}
END_TEST

START_TEST(without_a_fire_time_the_flight_goes_by_the_speed)
{
    play_walk(8);
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    struct hs_hit_result without = *judge(&claim);
    hs_expect_reason(&without, HS_REASON_OK);
    claim.has_fire_time = true;
    claim.fire_time_us = NOW - 500000; /* 20 m at 40 m/s */
    struct hs_hit_result *with = judge(&claim);
    hs_expect_reason(with, HS_REASON_OK);
    ck_assert_double_eq(with->impact.distance, without.impact.distance);
    ck_assert_double_eq(with->impact.point.y, without.impact.point.y);
    /* T stands at the end of the flight at any time, but no projectile flies 20 m in 0 s. */
    claim.fire_time_us = NOW;
    hs_expect_reason(judge(&claim), HS_REASON_FLIGHT_TIME);
    rules->checks[HS_CHECK_FLIGHT] = HS_MODE_OFF;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

/* A projectile cannot hit long before it is fired. The flight of 1.6 m takes 40 ms. With a known
   round trip, the shot may be the server's later simulation of it. */
START_TEST(a_projectile_does_not_hit_before_it_is_fired)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.fields = _i == 0 ? 0 : HS_FIELD_RTT;
        s.rtt_us = 100000;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "T", 1.8, 0, 0);
    }
    rules->checks[HS_CHECK_LATENCY] = HS_MODE_OFF;
    struct hs_hit_claim claim = bow_shot(HS_MS(850), 1.6, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(_i == 0 ? 860 : 960);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.fire_time_us++;
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_FLIGHT_TIME);
    hs_expect_measure(r, HS_CHECK_FLIGHT, HS_UNIT_SECONDS, 0.050001, 0.05);
}
END_TEST

START_TEST(a_projectile_may_be_launched_long_ago)
{
    play_walk(0);
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = NOW - 250000 - 4000000; /* the longest flight, and the rewind limit */
    struct hs_hit_result *r = judge(&claim);
    ck_assert_int_ne(r->reason, HS_REASON_REWIND_LIMIT);
    claim.fire_time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
    /* The launch is before the shooter's history, so the shooter's place at that time is unknown.
       At 40 m/s, 44 m take 1.1 s, and a deviation of 50 ms is allowed. */
    claim.start.x = -24;
    claim.fire_time_us = NOW - 1150000;
    r = judge(&claim);
    hs_expect_reason(r, HS_REASON_HISTORY_TOO_SHORT);
    ck_assert_int_eq(hs_stage_row(r, HS_CHECK_ORIGIN)->outcome, HS_OUTCOME_UNKNOWN);
    ck_assert_double_eq(r->damage_total, 0);
    claim.fire_time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_FLIGHT_TIME);
    ck_assert_int_eq(hs_stage_row(judge(&claim), HS_CHECK_ORIGIN)->outcome, HS_OUTCOME_UNKNOWN);
    /* A launch long ago does not excuse a start that is not at the eye. */
    claim.start.x = 19;
    claim.fire_time_us = NOW - 4000000;
    r = judge(&claim);
    hs_expect_reason(r, HS_REASON_REWIND_LIMIT); /* the contact is after 0.65 m, long ago */
    hs_expect_row(r, HS_CHECK_FLIGHT, HS_OUTCOME_FAIL, HS_REASON_FLIGHT_TIME);
}
END_TEST

/* The launch is before the shooter's history, so the verdict is inconclusive. But the claim is
   rejected if the path needs a time that differs by more than 50 ms, or more time than the
   projectile may fly. */
START_TEST(a_launch_before_the_history_is_inconclusive)
{
    static const struct {
        double speed;
        int64_t flight_us;
        bool can_fly;
    } rows[] = {
        {16, 1250000, true},  {16, 1300000, true}, {16, 1300001, false},
        {40, 1300000, false}, {5, 4000000, true},  {5, 4000001, false},
    };
    play_walk(0);
    rules->weapons[HS_STAGE_BOW]->speed = rows[_i].speed;
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = NOW - rows[_i].flight_us;
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, rows[_i].can_fly ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_FLIGHT_TIME);
    static const enum hs_check of_shooter[] = {HS_CHECK_WEAPON, HS_CHECK_LIFE, HS_CHECK_ORIGIN,
                                               HS_CHECK_AIM};
    for (int i = 0; i < 4; i++)
        hs_expect_row(r, of_shooter[i], HS_OUTCOME_UNKNOWN, HS_REASON_HISTORY_TOO_SHORT);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

START_TEST(the_limit_applies_to_the_impact)
{
    play_walk(0);
    struct hs_hit_claim claim = bow_shot(HS_MS(750), 20, 0);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.hit_time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
}
END_TEST

START_TEST(a_bystander_who_crosses_in_flight_blocks)
{
    play_walk(0);
    /*
     * B crosses the line at x = 10, 250 ms before the end of the flight, at 8 m/s. At the end B is
     * not on the line.
     */
    for (int ms = 400; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "B", 10, 8.0 * (ms - 750) / 1000, 0);
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_BLOCKED_BY_PLAYER);
    ck_assert_str_eq(r->impact.player.text, "B");
    ck_assert_double_eq_tol(r->impact.distance, 9.8, 0.1);
    claim.weapon = HS_STR("rifle"); /* an instant shot at that time passes behind B */
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

/* A runner at 60 m/s crosses the middle of a path that takes one second. At every quarter of the
   flight the runner is far away. Row 0: the runner is the target. Row 1: the runner blocks the path
   to another player. */
START_TEST(fast_bodies_are_met_between_far_places)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        double y = 0.06 * (ms - 375); /* the projectile is at x = 15 at 375 ms */
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), _i == 0 ? "T" : "B", 15, y, 0);
        if (_i == 1)
            hs_stage_place(match, HS_MS(ms), "T", 39, 0, 0);
    }
    rules->rewind.limit_us = HS_MS(600); /* the runner is met 625 ms before the end */
    struct hs_hit_claim claim = bow_shot(NOW, 40, 0);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, _i == 0 ? HS_REASON_OK : HS_REASON_BLOCKED_BY_PLAYER);
    expect_at(r, _i == 0 ? "T" : "B", 15);
}
END_TEST

/* The target turns back on the line, in a sample between two parts of the flight, and is hit
   there. */
START_TEST(bodies_turn_at_their_samples)
{
    play_walk(0);
    static const int64_t times_us[] = {182812, 282812, 332812, 382812, 432812, 532812};
    for (int i = 0; i < 6; i++) /* 100 m/s towards the line and back */
        hs_stage_place(match, times_us[i], "B", 15.3125, i == 3 ? 0 : 5, 0);
    struct hs_hit_claim claim = bow_shot(HS_MS(625), 25, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = 0;
    struct hs_hit_result *fresh = hs_stage_verify(match, &claim, HS_MS(700));
    hs_expect_reason(fresh, HS_REASON_BLOCKED_BY_PLAYER);
    expect_at(fresh, "B", 15.2);
    free(fresh);
}
END_TEST

START_TEST(a_teleport_in_flight_is_no_movement)
{
    play_walk(0);
    for (int ms = 400; ms <= 1000; ms += 50) {
        struct hs_player_frame b = hs_stage_entry("B", 10, ms < 750 ? -10 : 10, 0);
        b.event = ms == 750 ? HS_EVENT_TELEPORT : HS_EVENT_NONE;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &b, NULL), HS_FRAME_STORED);
    }
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    hs_expect_reason(judge(&claim), HS_REASON_OK); /* B was always on the line */
}
END_TEST

/* B stands on the line at 400 and then has no sample until 900, so B has no pose in between. */
START_TEST(a_bystander_is_ignored_from_the_beginning_of_a_gap)
{
    play_walk(0);
    hs_stage_place(match, HS_MS(350), "B", 8.2, 0, 0);
    hs_stage_place(match, HS_MS(400), "B", 8.2, 0, 0);
    hs_stage_place(match, HS_MS(900), "B", 8.2, 0, 0);
    struct hs_hit_claim claim = bow_shot(HS_MS(800), 20, 0);
    claim.has_fire_time = true;
    rules->rewind.limit_us = HS_MS(400);
    for (int ms = 190; ms <= 215; ms++) {
        claim.fire_time_us = HS_MS(ms) + 500; /* reaches B, 8 m away, 200 ms later */
        claim.hit_time_us = claim.fire_time_us + 500000;
        hs_expect_reason(judge(&claim), ms < 200 ? HS_REASON_BLOCKED_BY_PLAYER : HS_REASON_OK);
    }
}
END_TEST

/* T is crouched until 900 and stands from then on. A projectile that passes above the crouched body
   before 900 misses it, like an instant shot. */
START_TEST(the_older_stance_counts_until_the_newer_sample)
{
    rules->rigs[0]->stances[1].bones[0].position.z = -0.5; /* the torso goes down with the head */
    hs_ruleset_finish(rules);
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame t = hs_stage_entry("T", 20, 0, 0);
        t.stance = ms < 900 ? HS_STR("crouch") : HS_STR("stand");
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &t, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
    }
    struct hs_hit_claim claim = bow_shot(NOW, 24.7, 0.247);
    claim.start.z = claim.end.z = 1.35; /* 5 cm above the crouched head */
    claim.has_fire_time = true;
    for (int ms = 870; ms <= 900; ms++) { /* passes T from 7 ms before to 7 ms after `ms` */
        claim.fire_time_us = HS_MS(ms - 500);
        claim.hit_time_us = claim.fire_time_us + 617500;
        hs_expect_reason(judge(&claim), ms < 893 ? HS_REASON_NO_INTERSECTION : HS_REASON_OK);
    }
}
END_TEST

/* ---- claims whose flight goes on after the contact ---- */

/* An arrow launched at 500 meets T, 14 m away, at 845. The claimed flight goes on to 1000. */
static struct hs_hit_claim late_claim(void)
{
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(500);
    return claim;
}

/* T stands at x = 14 until `moves_ms`, and then appears beside the path. */
static void play_target(int moves_ms, const struct hs_player_frame *first,
                        const struct hs_player_frame *later)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame t = ms < moves_ms ? *first : *later;
        t.player = HS_STR("T");
        t.position = (struct hs_vec){14, ms < moves_ms ? 0 : 8, 0};
        t.event = ms == moves_ms ? later->event : HS_EVENT_NONE;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &t, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
    }
}

/* The state of the target counts at the contact, not at the later hit time: T was protected, or
   dead, and has a new life elsewhere. */
START_TEST(the_target_is_taken_at_the_contact)
{
    struct hs_player_frame first = {.fields = _i == 0 ? HS_FIELD_PROTECTED : HS_FIELD_ALIVE,
                                    .is_protected = true};
    struct hs_player_frame later = {.fields = HS_FIELD_PROTECTED,
                                    .event = _i == 0 ? HS_EVENT_TELEPORT : HS_EVENT_SPAWN};
    play_target(900, &first, &later);
    struct hs_hit_claim claim = late_claim();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, _i == 0 ? HS_REASON_TARGET_PROTECTED : HS_REASON_TARGET_DEAD);
    ck_assert_double_eq(r->damage_total, 0);
    /* The answer names the time that counted: the contact, and the tolerance of flight times. */
    ck_assert_int_le(r->rewind.time_us, HS_MS(895));
    claim.end.x = 14;
    claim.hit_time_us = HS_MS(850);
    hs_expect_reason(judge(&claim), _i == 0 ? HS_REASON_TARGET_PROTECTED : HS_REASON_TARGET_DEAD);
}
END_TEST

/* The time limits apply to the contact, and a deviation of 50 ms is allowed. */
START_TEST(a_longer_flight_makes_no_contact_younger)
{
    play_walk(0);
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.fields = HS_FIELD_RTT;
    s.rtt_us = 40000;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(1010), &s, NULL), HS_FRAME_STORED);
    rules->rewind.limit_us = _i == 0 ? HS_MS(350) : HS_MS(450);
    struct hs_hit_claim claim = bow_shot(HS_MS(970), 35.6, 0); /* the contact is at 575 */
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(80);
    struct hs_hit_result *r = hs_stage_judge(match, &claim, HS_MS(1010));
    hs_expect_reason(r, _i == 0 ? HS_REASON_REWIND_LIMIT : HS_REASON_TIME_MISMATCH);
    ck_assert_double_eq_tol(hs_stage_row(r, _i == 0 ? HS_CHECK_REWIND : HS_CHECK_LATENCY)->measured,
                            _i == 0 ? 0.385 : 0.345, 0.001);
}
END_TEST

/* An arrow that pierces U, 6 m away, and then hits T, 22 m away: the last body that the arrow
   pierces is the impact. Each body is taken at its own contact. */
START_TEST(the_last_body_of_a_piercing_flight_is_the_impact)
{
    play_walk(0);
    rules->weapons[HS_STAGE_BOW]->pierce = 1;
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame u = hs_stage_entry("U", 6, ms < 700 ? 0 : 5, 0);
        u.event = ms == 700 ? HS_EVENT_SPAWN : HS_EVENT_NONE;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &u, NULL), HS_FRAME_STORED);
    }
    struct hs_str victim = HS_STR("U");
    struct hs_hit_claim claim = bow_shot(NOW, 20, 0);
    claim.victims = &victim;
    claim.victim_count = 1;
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK); /* T is hit, U has another life since the contact */
    ck_assert_double_eq(r->damage_total, 100);
    ck_assert_uint_eq(r->refused_count, 1);
    ck_assert_int_eq(r->refused[0].reason, HS_REASON_STALE_LIFE);
    victim = HS_STR("T");
    claim.target = HS_STR("U");
    hs_expect_reason(judge(&claim), HS_REASON_STALE_LIFE);
    rules->weapons[HS_STAGE_BOW]->pierce = 0;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
}
END_TEST

static TCase *cases_of_projectiles(void)
{
    TCase *tcase = tcase_create("projectiles");
    tcase_add_test(tcase, a_target_is_taken_when_the_projectile_passes);
    tcase_add_test(tcase, without_a_fire_time_the_flight_goes_by_the_speed);
    tcase_add_loop_test(tcase, a_projectile_does_not_hit_before_it_is_fired, 0, 2);
    tcase_add_test(tcase, a_projectile_may_be_launched_long_ago);
    tcase_add_loop_test(tcase, a_launch_before_the_history_is_inconclusive, 0, 6);
    tcase_add_test(tcase, the_limit_applies_to_the_impact);
    tcase_add_test(tcase, a_bystander_who_crosses_in_flight_blocks);
    tcase_add_loop_test(tcase, fast_bodies_are_met_between_far_places, 0, 2);
    tcase_add_test(tcase, bodies_turn_at_their_samples);
    tcase_add_test(tcase, a_teleport_in_flight_is_no_movement);
    tcase_add_test(tcase, a_bystander_is_ignored_from_the_beginning_of_a_gap);
    tcase_add_test(tcase, the_older_stance_counts_until_the_newer_sample);
    tcase_add_loop_test(tcase, the_target_is_taken_at_the_contact, 0, 2);
    tcase_add_loop_test(tcase, a_longer_flight_makes_no_contact_younger, 0, 2);
    tcase_add_test(tcase, the_last_body_of_a_piercing_flight_is_the_impact);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("hit flight");
    TCase *tcase = cases_of_projectiles();
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
