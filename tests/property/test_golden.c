/* The golden hashes (tests/support/oracle/golden.h), computed with one thread and with eight.
   `.ci/run` repeats this with other compilers and optimisation levels, and `make golden-arm` on
   another architecture. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/oracle/golden.h"
#include "tests/support/run_suite.h"

static const int thread_counts[] = {1, 8};

#define THREAD_COUNTS ((int)(sizeof thread_counts / sizeof *thread_counts))

static void assert_golden(const char *what, const struct hs_golden *got, int threads, uint64_t want)
{
    printf("golden hash of %s: 0x%016" PRIx64 " (%zu played, %ld verdicts, %d threads)\n", what,
           got->hash, got->played, got->verdicts, threads);
    fflush(stdout);
    ck_assert_msg(
        got->hash == want,
        "the golden hash of %s is 0x%016" PRIx64
        ": if the rules or the scenarios changed on purpose, write this hash into golden.h",
        what, got->hash);
}

START_TEST(seeded_matches)
{
    static struct hs_golden got;
    hs_golden_matches(thread_counts[_i], &got);
    static const enum hs_reason wanted[] = {
        HS_REASON_OK,           HS_REASON_NO_INTERSECTION,   HS_REASON_WRONG_TARGET,
        HS_REASON_REWIND_LIMIT, HS_REASON_BLOCKED_BY_PLAYER, HS_REASON_FRIENDLY_FIRE,
        HS_REASON_OUT_OF_RANGE, HS_REASON_TIME_IN_FUTURE,    HS_REASON_SELF_HIT};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_msg(got.reasons[wanted[i]] >= 15, "%s occurred %ld times",
                      hs_reason_name(wanted[i]), got.reasons[wanted[i]]);
    assert_golden("matches", &got, thread_counts[_i], HS_GOLDEN_MATCHES);
}
END_TEST

START_TEST(scenarios)
{
    static struct hs_golden got;
    hs_golden_scenarios(thread_counts[_i], &got);
    ck_assert(got.is_loaded);
    ck_assert_msg(got.unknown == 0, "%ld scenarios have requests that this test does not handle",
                  got.unknown);
    ck_assert_int_gt(got.problems, 0);
    assert_golden("scenarios", &got, thread_counts[_i], HS_GOLDEN_SCENARIOS);
}
END_TEST

/* The hash is over answers with every reason. */
START_TEST(scenarios_show_every_reason)
{
    static struct hs_golden got;
    hs_golden_scenarios(1, &got);
    for (int i = 0; i < HS_REASON_COUNT; i++)
        /* Reasons for missing resources occur in no scenario. Other tests cover them. */
        ck_assert_msg(got.reasons[i] > 0 || hs_reason_is_retryable((enum hs_reason)i),
                      "no scenario answers %s", hs_reason_name((enum hs_reason)i));
}
END_TEST

START_TEST(moves)
{
    static struct hs_golden_moves got;
    hs_golden_moves(&got);
    printf("golden hash of moves: 0x%016" PRIx64 " (%ld moves)\n", got.hash, got.moves);
    fflush(stdout);
    /* The checks from `path` on need a map or movers, so only the scenarios cover them. */
    for (int i = 0; i < HS_MOVE_CHECK_PATH; i++)
        ck_assert_msg(got.raised[i] >= 20, "%s is raised %ld times",
                      hs_move_check_name((enum hs_move_check)i), got.raised[i]);
    ck_assert_msg(got.hash == HS_GOLDEN_MOVES,
                  "the golden hash of moves is 0x%016" PRIx64
                  ": if the rules changed on purpose, write this hash into golden.h",
                  got.hash);
}
END_TEST

int main(void)
{
    /* Runs are slow under a race detector, and only the run with many threads is useful there. */
    int first = getenv("HS_CONCURRENT_ONLY") != NULL ? 1 : 0;
    Suite *suite = suite_create("golden");
    TCase *tcase = tcase_create("hash");
    tcase_add_loop_test(tcase, seeded_matches, first, THREAD_COUNTS);
    tcase_add_loop_test(tcase, scenarios, first, THREAD_COUNTS);
    if (first == 0) {
        tcase_add_test(tcase, scenarios_show_every_reason);
        tcase_add_test(tcase, moves);
    }
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
