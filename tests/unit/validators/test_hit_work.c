/* The work of verifying claims is estimated, counted and limited. A claim that does not fit its
   budget changes nothing. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/play/duel.h"
#include "tests/support/play/hostile.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/hit/work.h"
#include "validators/shot.h"

/* Max cost of one step after the limit is exceeded. A step compares 64 pellets with 64 directions,
   or checks the hitboxes of a moving body or the legs of a flight. */
enum { STEP = 40000 };

static struct hs_hostile hostile;
static struct hs_hit_result result;

static void verify(uint64_t limit, bool is_whole)
{
    hs_hit_verify_within(hostile.match, &hostile.claim, hostile.now_us, limit, is_whole, &result);
}

/* ---- counting ---- */

/* Even the most expensive claim costs at most its limit plus one step. */
START_TEST(a_claim_costs_at_most_its_limit_plus_a_step)
{
    hs_hostile_make((enum hs_hostile_kind)_i, &hostile);
    for (uint64_t limit = 1000; limit <= 1000000; limit *= 10) {
        verify(limit, true);
        ck_assert_msg(result.work <= limit + STEP, "%s: %llu of %llu units", hostile.name,
                      (unsigned long long)result.work, (unsigned long long)limit);
        if (result.reason == HS_REASON_OVER_BUDGET) {
            ck_assert_int_eq(result.verdict, HS_VERDICT_INCONCLUSIVE);
            ck_assert_int_eq(result.check_count + result.damage_count + result.pellet_count, 0);
        }
    }
    hs_hostile_free(&hostile);
}
END_TEST

/* If the limit is exactly the cost of a claim, the claim is verified as if there were no limit, at
   the same cost. With a lower limit, the verification stops. */
START_TEST(a_limit_equal_to_the_cost_is_enough)
{
    hs_hostile_make(HS_HOSTILE_PASSERS, &hostile);
    hs_hit_verify(hostile.match, &hostile.claim, hostile.now_us, &result);
    enum hs_reason reason = result.reason;
    uint64_t work = result.work;
    ck_assert_int_ne(reason, HS_REASON_OVER_BUDGET);
    verify(work, true);
    ck_assert_int_eq(result.reason, reason);
    ck_assert_uint_eq(result.work, work);
    verify(work - 1, true);
    ck_assert_int_eq(result.reason, HS_REASON_OVER_BUDGET);
    hs_hostile_free(&hostile);
}
END_TEST

/* The test's most expensive claim costs more than 0.3 of the default budget. */
START_TEST(the_hostile_claim_uses_much_of_the_budget)
{
    hs_hostile_make(HS_HOSTILE_PELLETS, &hostile);
    verify(1500000, true);
    ck_assert_int_eq(result.reason, HS_REASON_OVER_BUDGET);
    hs_hostile_free(&hostile);
}
END_TEST

/* ---- the estimate ---- */

/* A claim whose estimate does not fit the rest of the budget is not started, unless the budget is
   unused. */
START_TEST(a_claim_whose_estimate_does_not_fit_does_not_start)
{
    hs_hostile_make(HS_HOSTILE_PASSERS, &hostile);
    hs_hit_verify(hostile.match, &hostile.claim, hostile.now_us, &result);
    uint64_t work = result.work;
    verify(work, false);
    ck_assert_int_eq(result.reason, HS_REASON_OVER_BUDGET);
    ck_assert_uint_lt(result.work, work / 10);
    verify(work, true);
    ck_assert_int_ne(result.reason, HS_REASON_OVER_BUDGET);
    hs_hostile_free(&hostile);
}
END_TEST

/* A claim about players in usual places costs no more than the estimate. */
START_TEST(estimate_covers_a_usual_claim)
{
    struct hs_ruleset *rules = hs_stage_ruleset();
    struct hs_match *match = hs_stage_match(rules);
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(875), 20, 3.5, 1.6);
    const struct hs_hit_size size = {.bodies = 2, .near = HS_WORK_NEAR_BODIES, .hitboxes = 2};
    hs_hit_verify(match, &claim, HS_MS(1000), &result);
    ck_assert_int_eq(result.reason, HS_REASON_OK);
    ck_assert_uint_le(result.work, hs_hit_work(&size));
    ck_assert_uint_ge(2 * result.work, hs_hit_work(&size));
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}
END_TEST

/* The estimate grows with the number of items of each kind. */
START_TEST(the_estimate_grows_with_each_kind_of_item)
{
    const struct hs_hit_size base = {.bodies = 8,
                                     .near = 8,
                                     .hitboxes = 4,
                                     .legs = 40,
                                     .pellets = 1,
                                     .victims = 1,
                                     .triangles = 1000,
                                     .movers = 1,
                                     .has_blast = true};
    struct hs_hit_size more[8];
    for (size_t i = 0; i < 8; i++)
        more[i] = base;
    more[0].bodies = 100;
    more[1].hitboxes = 5;
    more[2].legs = 64;
    more[3].pellets = 2;
    more[4].victims = 2;
    more[5].triangles = 1000000;
    more[6].movers = 2;
    more[7].near = 0;
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_gt(hs_hit_work(&more[i]), hs_hit_work(&base));
    ck_assert_uint_lt(hs_hit_work(&more[7]), hs_hit_work(&base));
}
END_TEST

/* The default budget is ten times what the most expensive claim under the built-in rules needs. */
START_TEST(builtin_rules_are_cheap)
{
    for (size_t i = 0; i < HS_BUILTIN_RULESETS; i++) {
        struct hs_ruleset *rules = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
        ck_assert_ptr_nonnull(rules);
        for (int w = 0; w < rules->weapon_count; w++)
            ck_assert_msg(hs_weapon_work(rules, rules->weapons[w]) <= 500000, "%s: %llu",
                          rules->weapons[w]->name.text,
                          (unsigned long long)hs_weapon_work(rules, rules->weapons[w]));
        hs_ruleset_destroy(rules);
    }
}
END_TEST

/* ---- pellets ---- */

/* Pellets that the weapon does not have cost only their entry in the answer. */
START_TEST(pellets_beyond_the_weapons_number_are_not_swept)
{
    hs_hostile_make(HS_HOSTILE_PELLETS, &hostile);
    hostile.ruleset->weapons[0]->pellets = 10;
    hs_hit_verify(hostile.match, &hostile.claim, hostile.now_us, &result);
    uint64_t all = result.work;
    ck_assert_int_eq(result.pellet_count, HS_MAX_PELLETS);
    for (int i = 10; i < HS_MAX_PELLETS; i++) {
        ck_assert_int_eq(result.pellets[i].outcome, HS_PELLET_REFUSED);
        ck_assert_int_eq(result.pellets[i].reason, HS_REASON_PELLET_COUNT);
    }
    hostile.claim.pellet_count = 10;
    hs_hit_verify(hostile.match, &hostile.claim, hostile.now_us, &result);
    /* If the number of pellets is valid, the pellets are also compared with each other. If there
       are too many, they are not. */
    ck_assert_uint_eq(all + 100, result.work + (HS_MAX_PELLETS - 10) * HS_WORK_PELLET);
    hs_hostile_free(&hostile);
}
END_TEST

/* ---- earlier hits ---- */

/* Rows: is the round trip known? Each earlier hit is compared by its path, and also by its time
   offset if the round trip is known. */
START_TEST(comparing_earlier_hits_is_counted)
{
    enum { HITS = 40 };
    hs_duel_set_up();
    const struct hs_player_frame line = {.fields = HS_FIELD_RTT | HS_FIELD_INTERP,
                                         .rtt_us = 40 * HS_DUEL_MS,
                                         .interp_us = 50 * HS_DUEL_MS};
    hs_duel_post(0, _i == 1 ? &line : NULL, NULL);
    hs_duel_play(50, 1000);
    struct hs_hit_claim claim = {.shot = 1000,
                                 .shooter = HS_STR("alice"),
                                 .target = HS_STR("bob"),
                                 .weapon = HS_STR("rifle"),
                                 .hit_time_us = 910 * HS_DUEL_MS,
                                 .start = {0, 0, 1.6},
                                 .end = {20, 0, 1.5}};
    hs_hit_verify(hs_duel.match, &claim, 1000 * HS_DUEL_MS, &result);
    uint64_t alone = result.work;
    for (uint64_t i = 1; i <= HITS; i++)
        (void)hs_duel_hit_with(910, HS_STR("rifle"), i);
    hs_hit_verify(hs_duel.match, &claim, 1000 * HS_DUEL_MS, &result);
    uint64_t passes = _i == 1 ? 2 : 1;
    ck_assert_uint_eq(result.work, alone + passes * HITS * HS_WORK_PASS);
    hs_duel_tear_down();
}
END_TEST

/* ---- shots ---- */

START_TEST(shots_have_a_budget)
{
    hs_hostile_make(HS_HOSTILE_CHEAP, &hostile);
    const struct hs_shot_claim shot = {.shot = 1,
                                       .shooter = hostile.claim.shooter,
                                       .weapon = HS_STR("rifle"),
                                       .time_us = hostile.now_us,
                                       .origin = hostile.claim.start};
    int64_t forward_us;
    hs_shot_verify_within(hostile.match, &shot, hostile.now_us, 1, false, &result, &forward_us);
    ck_assert_int_eq(result.reason, HS_REASON_OVER_BUDGET);
    hs_shot_verify_within(hostile.match, &shot, hostile.now_us, 2 * HS_WORK_CLAIM, false, &result,
                          &forward_us);
    ck_assert_int_eq(result.reason, HS_REASON_OK);
    hs_hostile_free(&hostile);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hit work");
    TCase *tcase = tcase_create("work");
    tcase_add_loop_test(tcase, a_claim_costs_at_most_its_limit_plus_a_step, 0, HS_HOSTILE_COUNT);
    tcase_add_test(tcase, a_limit_equal_to_the_cost_is_enough);
    tcase_add_test(tcase, the_hostile_claim_uses_much_of_the_budget);
    tcase_add_test(tcase, a_claim_whose_estimate_does_not_fit_does_not_start);
    tcase_add_test(tcase, estimate_covers_a_usual_claim);
    tcase_add_test(tcase, the_estimate_grows_with_each_kind_of_item);
    tcase_add_test(tcase, builtin_rules_are_cheap);
    tcase_add_test(tcase, pellets_beyond_the_weapons_number_are_not_swept);
    tcase_add_loop_test(tcase, comparing_earlier_hits_is_counted, 0, 2);
    tcase_add_test(tcase, shots_have_a_budget);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
