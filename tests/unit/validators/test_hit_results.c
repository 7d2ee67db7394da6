/* Results of claims: flags, the member `rewind`, and what is recorded of a verdict. Fixture:
   tests/support/play/stage.h. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_judge(match, claim, NOW);
}

static struct hs_hit_claim head_shot(void)
{
    return hs_stage_claim(NOW, 20, 4, 1.6);
}

/* ---- flags, and the member `rewind` ---- */

START_TEST(forged_radius_is_off_by_more_than_one_percent)
{
    hs_stage_play(match);
    static const struct {
        double weapon, radius;
        bool forged;
    } rows[] = {{0.05, 0.05, false},    {0.05, 0.050499, false}, {0.05, 0.049501, false},
                {0.05, 0.050501, true}, {0.05, 0.049499, true},  {0.05, 5, true},
                {0.05, 0, true},        {0, 0, false},           {0, 1e-6, true},
                {0, 0.05, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hs_hit_claim claim = head_shot();
        rules->weapons[HS_STAGE_RIFLE]->radius = rows[i].weapon;
        claim.has_radius = true;
        claim.radius = rows[i].radius;
        struct hs_hit_result *r = judge(&claim);
        hs_expect_reason(r, HS_REASON_OK);
        ck_assert_msg(hs_result_has_flag(r, HS_FLAG_RADIUS_FORGED) == rows[i].forged, "%g of %g",
                      rows[i].radius, rows[i].weapon);
    }
}
END_TEST

START_TEST(a_claimed_bone_in_another_zone_is_flagged)
{
    hs_stage_play(match);
    static const struct {
        const char *claimed;
        bool mismatch;
    } rows[] = {{NULL, false}, {"head", false}, {"torso", true}, {"root", true}, {"tail", true}};
    for (int i = 0; i < 5; i++) {
        struct hs_hit_claim claim = head_shot();
        claim.claimed_bone = hs_stage_str(rows[i].claimed);
        struct hs_hit_result *r = judge(&claim);
        hs_expect_reason(r, HS_REASON_OK);
        ck_assert_int_eq(hs_result_has_flag(r, HS_FLAG_REGION_MISMATCH), rows[i].mismatch);
    }
    struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 4, 1.1);
    claim.claimed_bone = HS_STR("root"); /* the name of a bone or zone */
    ck_assert(!hs_result_has_flag(judge(&claim), HS_FLAG_REGION_MISMATCH));
}
END_TEST

START_TEST(the_rewind_is_described)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(860), 20, 3.44, 1.6);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert(r->rewind.present && !r->rewind.clamped && !r->rewind.held);
    ck_assert_int_eq(r->rewind.time_us, HS_MS(860));
    ck_assert_int_eq(r->rewind.by_us, HS_MS(140));
    ck_assert_int_eq(r->rewind.from_us, HS_MS(850));
    ck_assert_int_eq(r->rewind.to_us, HS_MS(900));
    ck_assert_double_eq(r->rewind.alpha, 0.2);
    ck_assert_uint_eq(r->rewind.excluded_bone_count + r->rewind.ignored_count, 0);
}
END_TEST

/* ---- what is recorded ---- */

/* Verifies and records a claim under the next number. */
static void note(struct hs_hit_claim *claim)
{
    claim->shot++;
    ck_assert(hs_hit_record(match, claim, judge(claim), HS_STR("{")));
}

START_TEST(results_are_counted_for_the_shooter)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = head_shot();
    note(&claim);
    claim.end.y = 9;
    note(&claim);
    claim.hit_time_us = HS_MS(700); /* only the latency fails, which is not suspicious */
    note(&claim);
    struct hs_player_info info;
    ck_assert(hs_match_find_player(match, HS_STR("S"), &info));
    ck_assert_uint_eq(info.reasons[HS_REASON_OK], 1);
    ck_assert_uint_eq(info.reasons[HS_REASON_NO_INTERSECTION], 1);
    ck_assert_uint_eq(info.reasons[HS_REASON_REWIND_LIMIT], 1);
    ck_assert_double_eq(info.suspicion, 1);
    ck_assert_double_eq(info.damage_dealt, 40);
    rules->checks[HS_CHECK_CONTACT] = HS_MODE_SHADOW;
    claim.hit_time_us = NOW;
    note(&claim);
    ck_assert(hs_match_find_player(match, HS_STR("S"), &info));
    ck_assert_uint_eq(info.would_reject, 1);
    ck_assert_double_eq(info.suspicion, 2);
}
END_TEST

/* Other players stand before a target, or walk into the line. Such players prove nothing about the
   shooter. */
START_TEST(ten_minutes_behind_others_are_not_suspicious)
{
    struct hs_player_frame safe = hs_stage_entry("safe", 20, 0, 0);
    safe.fields = HS_FIELD_PROTECTED;
    safe.is_protected = true;
    uint64_t shot = 0;
    for (int64_t ms = 0; ms <= 600000; ms += 100) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_post(match, HS_MS(ms), &safe, NULL);
        hs_stage_place(match, HS_MS(ms), "near", 0, 10, 0);
        hs_stage_place(match, HS_MS(ms), "far", 0, 20, 0);
        bool is_at_safe = ms % 1000 == 0;
        if (ms % 500 != 0)
            continue;
        struct hs_hit_claim claim =
            hs_stage_claim(HS_MS(ms), is_at_safe ? 20 : 0, is_at_safe ? 0 : 20, 1.6);
        claim.shot = ++shot;
        claim.target = is_at_safe ? HS_STR("safe") : HS_STR("far");
        struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(ms));
        hs_expect_reason(r, is_at_safe ? HS_REASON_TARGET_PROTECTED : HS_REASON_BLOCKED_BY_PLAYER);
        ck_assert(hs_hit_record(match, &claim, r, HS_STR("{")));
        free(r);
    }
    struct hs_player_info info;
    ck_assert(hs_match_find_player(match, HS_STR("S"), &info));
    ck_assert_double_eq(info.suspicion, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hit results");
    TCase *tcase = tcase_create("results");
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    tcase_add_test(tcase, forged_radius_is_off_by_more_than_one_percent);
    tcase_add_test(tcase, a_claimed_bone_in_another_zone_is_flagged);
    tcase_add_test(tcase, the_rewind_is_described);
    tcase_add_test(tcase, results_are_counted_for_the_shooter);
    tcase_add_test(tcase, ten_minutes_behind_others_are_not_suspicious);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
