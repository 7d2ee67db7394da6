/* Simulated players on bad networks. Honest claims are accepted and forged ones are refused. Firing
   at twice the rate gains almost nothing, and the cheats stay within their limits.
   HS_PROPERTY_CASES is the min number of honest claims; at least MIN_CLAIMS are made. */
#include <check.h>
#include <stdio.h>

#include "cli/simulate/hits/simulation.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED 20250611

/* With fewer claims, some kinds of forgery occur too rarely. */
enum { MIN_CLAIMS = 8000 };

static struct hs_simulation simulation;
static struct hs_score score;

static uint64_t honest_claims(void)
{
    struct hs_count honest = hs_score_honest(&score);
    return hs_count_all(&honest);
}

static void set_up(void)
{
    simulation = hs_simulation_default();
    simulation.seed = hs_test_seed(DEFAULT_SEED);
    long claims = hs_test_count("HS_PROPERTY_CASES", 20000);
    simulation.claims = (uint64_t)(claims > MIN_CLAIMS ? claims : MIN_CLAIMS);
    simulation.bursts = 90;
    simulation.cheats = 1;
}

/* A goal proves nothing if nothing was tried, so every kind of claim must occur. */
static void assert_everything_comes_up(void)
{
    for (int kind = 0; kind < HS_FORGERIES; kind++)
        ck_assert_msg(hs_count_all(&score.forged[kind]) >= 50, "%s occurred %llu times",
                      hs_forgery_names[kind],
                      (unsigned long long)hs_count_all(&score.forged[kind]));
    for (int link = 0; link < HS_LINKS; link++) {
        ck_assert_uint_ge(hs_count_all(&score.shots[link]), 200);
        for (int arm = 0; arm < HS_ARMS; arm++)
            ck_assert_msg(hs_count_all(&score.honest[link][arm]) >= 50, "%s, %s",
                          hs_link_names[link], hs_arm_names[arm]);
    }
    ck_assert_uint_gt(score.bursts[HS_ARM_RIFLE].bursts, 0);
    ck_assert_uint_gt(score.bursts[HS_ARM_KNIFE].accepted, 0);
    ck_assert_uint_gt(score.bursts[HS_ARM_SHOTGUN].shots, score.bursts[HS_ARM_SHOTGUN].accepted);
    for (int i = 0; i < HS_CHEATS; i++)
        for (int link = 0; link < HS_LINKS_AND_STEADY; link++) {
            const struct hs_cheat_count *count = &score.cheats[i][link];
            ck_assert_msg(count->claims > 0 && count->hits.twin > 0, "%s, %s", hs_cheats[i].name,
                          hs_link_names[link]);
        }
}

START_TEST(goals_are_met)
{
    char missed[256];
    ck_assert(hs_simulation_run(&simulation, &score));
    bool good = hs_score_meets_goals(&score, missed, sizeof missed);
    if (!good)
        hs_simulation_print(&simulation, &score, HS_EXAMPLES, stdout);
    ck_assert_msg(good, "%s", missed);
    ck_assert_uint_ge(honest_claims(), simulation.claims);
    assert_everything_comes_up();
}
END_TEST

/*
 * If a rule is too strict, the simulation must notice it.
 */
START_TEST(a_short_memory_is_noticed)
{
    char missed[256];
    simulation.claims = 2000;
    simulation.bursts = simulation.cheats = 0;
    simulation.link = HS_LINK_BAD;
    simulation.rewind_limit = 0.2;
    ck_assert(hs_simulation_run(&simulation, &score));
    struct hs_count honest = hs_score_honest(&score);
    ck_assert_uint_gt(honest.reasons[HS_REASON_REWIND_LIMIT], hs_count_all(&honest) / 2);
    ck_assert(!hs_score_meets_goals(&score, missed, sizeof missed));
    ck_assert_str_ne(missed, "");
}
END_TEST

/* No check can stop a client that chooses its seeds, so this cheat must gain. If it does not, the
   simulated cheats do not use all their chances. */
START_TEST(cheats_try)
{
    double twin = 0, cheat = 0;
    simulation.claims = 1;
    simulation.bursts = 0;
    ck_assert(hs_simulation_run(&simulation, &score));
    for (int i = 0; i < HS_CHEATS; i++)
        for (int link = 0; hs_cheats[i].kind == HS_CHEAT_SEEDS && link < HS_LINKS_AND_STEADY;
             link++) {
            twin += score.cheats[i][link].damage.twin;
            cheat += score.cheats[i][link].damage.cheat;
        }
    ck_assert(twin > 0 && cheat > 1.2 * twin);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulated_hits");
    TCase *tcase = tcase_create("simulated_hits");
    tcase_set_timeout(tcase, 600);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, goals_are_met);
    tcase_add_test(tcase, a_short_memory_is_noticed);
    tcase_add_test(tcase, cheats_try);
    suite_add_tcase(suite, tcase);
    printf("simulated_hits: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    return hs_run_suite(suite);
}
