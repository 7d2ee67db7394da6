/* Damage: weapon x zone x falloff x the shooter's scale. The claimed value is only compared. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/fixture.h"
#include "tests/support/run_suite.h"
#include "validators/hit/context.h"

static struct hs_weapon *rifle;

static void set_up(void)
{
    open_stage();
    rifle = rules->weapons[HS_STAGE_RIFLE];
}

/* ---- falloff ---- */

static const struct {
    double distance, factor;
} curve[] = {
    {0, 1.25},    {9.999999, 1.25}, {10, 1.25}, {15, 1.125},  {20, 1},
    {22.5, 0.75}, {25, 0.5},        {1e3, 0.5}, {1e300, 0.5}, {17.5, 1.0625},
};

#define CURVE ((int)(sizeof curve / sizeof *curve))

START_TEST(falloff_is_linear_between_points)
{
    rifle->falloff_count = 3;
    rifle->falloff[0] = (struct hs_falloff_point){10, 1.25};
    rifle->falloff[1] = (struct hs_falloff_point){20, 1};
    rifle->falloff[2] = (struct hs_falloff_point){25, 0.5};
    ck_assert_double_eq(hs_falloff(rifle, curve[_i].distance), curve[_i].factor);
}
END_TEST

START_TEST(falloff_with_no_or_one_point_is_constant)
{
    ck_assert_double_eq(hs_falloff(rifle, 1e9), 1);
    rifle->falloff_count = 1;
    rifle->falloff[0] = (struct hs_falloff_point){10, 0.5};
    for (double d = 0; d < 30; d += 10)
        ck_assert_double_eq(hs_falloff(rifle, d), 0.5);
}
END_TEST

/* ---- in a verdict ---- */

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_verify(match, claim, HS_MS(1000));
}

/* Checks that the claim is accepted, and pays this damage for this zone. */
static void expect_damage(const struct hs_hit_claim *claim, double amount, const char *zone)
{
    struct hs_hit_result *r = judge(claim);
    ck_assert_str_eq(hs_reason_name(r->reason), "ok");
    ck_assert_uint_eq(r->damage_count, 1);
    ck_assert_double_eq_tol(r->damage_total, amount, 1e-9);
    ck_assert_double_eq(r->damage[0].amount, r->damage_total);
    ck_assert_str_eq(r->damage[0].player.text, "T");
    ck_assert_str_eq(r->damage[0].zone.text, zone);
    free(r);
}

/* A row has the height of the aim, and either the ruleset's or the weapon's own zones. */
static const struct {
    double height;
    const char *zone, *bone;
    double own, amount;
} zones[] = {
    {1.6, "head", "head", 0, 40},    {1.1, "torso", "root", 0, 20},  {1.6, "head", "head", 3.5, 70},
    {1.1, "torso", "root", 3.5, 70}, {1.6, "head", "head", 0.25, 5},
};

#define ZONES ((int)(sizeof zones / sizeof *zones))

START_TEST(zones_multiply)
{
    int zone = zones[_i].height > 1.5 ? HS_STAGE_HEAD : HS_STAGE_TORSO;
    rifle->zone_own[zone] = zones[_i].own > 0;
    rifle->zone_factor[zone] = zones[_i].own;
    hs_ruleset_finish(rules);
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, zones[_i].height);
    expect_damage(&claim, zones[_i].amount, zones[_i].zone);
    struct hs_hit_result *r = judge(&claim);
    ck_assert_str_eq(r->damage[0].bone.text, zones[_i].bone);
    ck_assert_str_eq(r->impact.bone.text, zones[_i].bone);
    ck_assert_double_eq(r->damage[0].distance, r->impact.distance);
    free(r);
}
END_TEST

START_TEST(falloff_is_taken_at_the_contact)
{
    rifle->falloff_count = 2;
    rifle->falloff[0] = (struct hs_falloff_point){0, 1};
    rifle->falloff[1] = (struct hs_falloff_point){100, 0};
    hs_stage_place(match, HS_MS(1000), "S", 0, 0, 0);
    hs_stage_place(match, HS_MS(1000), "T", 20, 0, 0);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 90, 0, 1.6); /* the trace ends far
                                                                            behind T */
    /* The head has a radius of 0.15 and the sphere of 0.05, so the centre of the sphere travels
       19.8. */
    expect_damage(&claim, 40 * (1 - 0.198), "head");
}
END_TEST

START_TEST(the_shooters_scale_at_the_fire_time_counts)
{
    hs_stage_play(match);
    struct hs_player_frame late = hs_stage_entry("S", 0, 0, 0);
    late.fields = HS_FIELD_DAMAGE_SCALE;
    late.damage_scale = 4;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(975), &late, NULL), HS_FRAME_STORED);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(1000), 20, 4, 1.1);
    expect_damage(&claim, 20, "torso"); /* a late sample does not change later samples */
    claim = hs_stage_claim_fired(HS_MS(975), 20, 3.9, 1.1);
    expect_damage(&claim, 80, "torso");
    claim = hs_stage_claim_fired(HS_MS(974), 20, 3.896, 1.1);
    expect_damage(&claim, 20, "torso");
    claim = hs_stage_claim_fired(HS_MS(974), 20, 3.896, 1.1);
    claim.fire_time_us = HS_MS(976); /* the scale at the fire time counts, not the scale at the hit
                                        time */
    expect_damage(&claim, 80, "torso");
    claim.fire_time_us = HS_MS(940);
    expect_damage(&claim, 20, "torso");
}
END_TEST

START_TEST(with_scale_zero_a_hit_is_accepted_without_damage)
{
    hs_stage_play(match);
    struct hs_player_frame entry = hs_stage_entry("S", 0, 0, 0);
    entry.fields = HS_FIELD_DAMAGE_SCALE;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(1010), &entry, NULL), HS_FRAME_STORED);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(1010), 20, 4, 1.1);
    expect_damage(&claim, 0, "torso");
}
END_TEST

START_TEST(claimed_numbers_pay_nothing)
{
    hs_stage_play(match);
    static const double damages[] = {0, 1, 19.99, 20, 40, 999, 1e9};
    for (int i = 0; i < 7; i++) {
        struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, 1.1);
        claim.has_claimed_damage = claim.has_radius = true;
        claim.claimed_damage = damages[i];
        claim.radius = damages[i] / 100;
        claim.claimed_bone = i % 2 == 0 ? HS_STR("head") : HS_STR("torso");
        expect_damage(&claim, 20, "torso");
    }
}
END_TEST

/* The max damage of the rifle is 20 x 2. A falloff above 1, or the shooter's scale, raises that
   max. So do the victims that the claim names, if the rifle pierces. */
START_TEST(only_impossible_claimed_damage_is_flagged)
{
    static const struct hs_str victims[2] = {{"B", 1}, {"C", 1}};
    static const struct {
        double falloff, scale, claimed;
        int pierce, victims;
        bool forged;
    } rows[] = {
        {1, 1, 40, 0, 0, false},    {1, 1, 40.001, 0, 0, true}, {1, 2, 80, 0, 0, false},
        {1, 2, 80.001, 0, 0, true}, {3, 1, 120, 0, 0, false},   {3, 1, 120.001, 0, 0, true},
        {0.5, 1, 40, 0, 0, false},  {1, 1, 0, 0, 0, false},     {1, 1, 80, 1, 2, false},
        {1, 1, 80.001, 1, 2, true}, {1, 1, 80, 2, 1, false},    {1, 1, 80.001, 2, 1, true},
        {1, 1, 80, 0, 2, true},
    };
    const int count = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < count; i++) {
        struct hs_match *saved = match;
        match = hs_stage_match(rules);
        rifle->falloff_count = 1;
        rifle->falloff[0] = (struct hs_falloff_point){0, rows[i].falloff};
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.fields = HS_FIELD_DAMAGE_SCALE;
        s.damage_scale = rows[i].scale;
        hs_stage_post(match, HS_MS(1000), &s, NULL);
        hs_stage_place(match, HS_MS(1000), "T", 20, 0, 0);
        struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 0, 1.1);
        claim.has_claimed_damage = true;
        claim.claimed_damage = rows[i].claimed;
        rifle->pierce = rows[i].pierce;
        claim.victims = victims;
        claim.victim_count = (size_t)rows[i].victims;
        struct hs_hit_result *r = judge(&claim);
        ck_assert_int_eq((r->flags >> HS_FLAG_DAMAGE_FORGED & 1) != 0, rows[i].forged);
        ck_assert_int_eq(r->verdict, HS_VERDICT_ACCEPTED);
        free(r);
        hs_match_destroy(match);
        match = saved;
    }
}
END_TEST

/* The blast hurts four players. The claim names none of them, but its sum is the true damage. */
START_TEST(the_damage_to_unclaimed_players_may_be_claimed)
{
    struct hs_weapon *bow = rules->weapons[HS_STAGE_BOW];
    bow->damage = 1;
    bow->has_blast = true;
    bow->blast = (struct hs_blast){
        .radius = 3, .inner_radius = 3, .damage = 30, .unclaimed = HS_UNCLAIMED_DAMAGE};
    for (int ms = 500; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "A", 20, 1, 0);
        hs_stage_place(match, HS_MS(ms), "B", 20, -1, 0);
        hs_stage_place(match, HS_MS(ms), "C", 21, 1, 0);
        hs_stage_place(match, HS_MS(ms), "D", 21, -1, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 0, 1.6);
    claim.weapon = HS_STR("bow");
    claim.target = (struct hs_str){0};
    claim.has_claimed_damage = true;
    claim.claimed_damage = _i == 0 ? 120 : 120.001;
    struct hs_hit_result *r = judge(&claim);
    ck_assert_int_eq(r->verdict, HS_VERDICT_ACCEPTED);
    ck_assert_double_eq(r->damage_total, 120);
    ck_assert_int_eq((r->flags >> HS_FLAG_DAMAGE_FORGED & 1) != 0, _i);
    free(r);
}
END_TEST

START_TEST(other_verdicts_pay_nothing)
{
    hs_stage_play(match);
    struct hs_hit_claim miss = hs_stage_claim(HS_MS(1000), 20, 9, 1.6);
    struct hs_hit_claim unknown = hs_stage_claim(HS_MS(1000), 20, 4, 1.6);
    unknown.target = HS_STR("X");
    struct hs_hit_claim nobody = hs_stage_claim(HS_MS(1000), 20, 4, 1.6);
    nobody.target.ptr = NULL;
    const struct hs_hit_claim *claims[] = {&miss, &unknown, &nobody};
    static const enum hs_verdict verdicts[] = {HS_VERDICT_REJECTED, HS_VERDICT_INCONCLUSIVE,
                                               HS_VERDICT_ACCEPTED};
    for (int i = 0; i < 3; i++) {
        struct hs_hit_result *r = judge(claims[i]);
        ck_assert_int_eq(r->verdict, verdicts[i]);
        ck_assert_double_eq(r->damage_total, 0);
        ck_assert_uint_eq(r->damage_count, 0);
        free(r);
    }
}
END_TEST

START_TEST(lenient_hits_pay_for_the_zone_they_nearly_touched)
{
    rules->hit.claim_padding = 0.1;
    rules->hit.origin_tolerance = 0.3;
    hs_stage_play(match);
    /* Above the head: the path is 0.15 + 0.05 + 0.08 above its centre. */
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, 1.6);
    double rise = 0.28;
    claim.start.z += rise;
    claim.end.z += rise;
    struct hs_hit_result *r = judge(&claim);
    ck_assert_str_eq(hs_reason_name(r->reason), "ok_lenient");
    ck_assert_double_eq(r->damage_total, 40);
    ck_assert_str_eq(r->damage[0].zone.text, "head");
    ck_assert_double_eq_tol(r->margin, 0.08, 1e-6);
    free(r);
}
END_TEST

/* ---- with the contact check in shadow, the claimed zone is paid ---- */

START_TEST(with_contact_in_shadow_a_miss_pays_the_claimed_zone)
{
    static const struct {
        const char *bone;
        double amount;
        const char *zone;
    } rows[] = {{"head", 40, "head"},
                {"torso", 20, "torso"},
                {"root", 20, "torso"},
                {"tail", 20, ""},
                {NULL, 20, ""}};
    rules->checks[HS_CHECK_CONTACT] = _i == 0 ? HS_MODE_SHADOW : HS_MODE_OFF;
    rifle->falloff_count = 2;
    rifle->falloff[0] = (struct hs_falloff_point){10, 1};
    rifle->falloff[1] = (struct hs_falloff_point){20, 0.5};
    hs_stage_play(match);
    for (int i = 0; i < 5; i++) {
        /* the path ends at 15 */
        struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 15, 0, 1.6);
        claim.claimed_bone = hs_stage_str(rows[i].bone);
        struct hs_hit_result *r = judge(&claim);
        ck_assert_int_eq(r->verdict, HS_VERDICT_ACCEPTED);
        ck_assert_double_eq_tol(r->damage_total, rows[i].amount * 0.75, 1e-9);
        ck_assert_str_eq(r->damage[0].zone.text, rows[i].zone);
        ck_assert_uint_eq(r->would_reject_count, _i == 0 ? 1 : 0);
        free(r);
    }
}
END_TEST

START_TEST(with_contact_in_shadow_a_hit_pays_the_touched_zone)
{
    rules->checks[HS_CHECK_CONTACT] = HS_MODE_SHADOW;
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, 1.1);
    claim.claimed_bone = HS_STR("head");
    expect_damage(&claim, 20, "torso");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damage");
    TCase *tcase = tcase_create("damage");
    tcase_add_checked_fixture(tcase, set_up, close_stage);
    tcase_add_loop_test(tcase, falloff_is_linear_between_points, 0, CURVE);
    tcase_add_test(tcase, falloff_with_no_or_one_point_is_constant);
    tcase_add_loop_test(tcase, zones_multiply, 0, ZONES);
    tcase_add_test(tcase, falloff_is_taken_at_the_contact);
    tcase_add_test(tcase, the_shooters_scale_at_the_fire_time_counts);
    tcase_add_test(tcase, with_scale_zero_a_hit_is_accepted_without_damage);
    tcase_add_test(tcase, claimed_numbers_pay_nothing);
    tcase_add_test(tcase, only_impossible_claimed_damage_is_flagged);
    tcase_add_loop_test(tcase, the_damage_to_unclaimed_players_may_be_claimed, 0, 2);
    tcase_add_test(tcase, other_verdicts_pay_nothing);
    tcase_add_test(tcase, lenient_hits_pay_for_the_zone_they_nearly_touched);
    tcase_add_loop_test(tcase, with_contact_in_shadow_a_miss_pays_the_claimed_zone, 0, 2);
    tcase_add_test(tcase, with_contact_in_shadow_a_hit_pays_the_touched_zone);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
