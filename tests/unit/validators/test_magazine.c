/* How many rounds of a magazine are fired, in any order of arrival. */
#include <check.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/ledger.h"

static struct hs_ledger ledger;

static void set_up(void)
{
    ledger = (struct hs_ledger){0};
}

static void tear_down(void)
{
    hs_ledger_clear(&ledger);
}

/* Row: a shot in ms, and the rounds fired since a pause of 400 ms, including this shot. */
static const struct {
    int ms;
    uint32_t rounds;
} magazine[] = {
    {0, 1},   {100, 2},  {200, 3},  {599, 4},   {600, 5},   {1000, 1},  {1001, 2},
    {900, 8}, {1400, 9}, {1800, 1}, {1700, 11}, {2199, 12}, {2200, 13}, {9000, 1},
};

START_TEST(rounds_count_from_the_last_long_pause)
{
    for (size_t i = 0; i < sizeof magazine / sizeof *magazine; i++) {
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
        if (cadence != NULL)
            ck_assert_uint_eq(hs_cadence_rounds(cadence, HS_MS(magazine[i].ms), HS_MS(400)),
                              magazine[i].rounds);
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(magazine[i].ms), 0, HS_MS(400)));
        ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->rounds, magazine[i].rounds);
    }
}
END_TEST

/* Rows: shots in ms in order of arrival, for a magazine of 3 rounds and a reload of 300 ms, and the
   number of accepted shots. The order changes nothing. */
static const struct {
    int ms[6], accepted;
} arrivals[] = {
    {{500, 600, 700, 1000, 1100, 1200}, 6}, {{500, 600, 1000, 700, 1100, 1200}, 6},
    {{1200, 1100, 1000, 700, 600, 500}, 6}, {{500, 600, 700, 800, 900, 1000}, 4},
    {{500, 600, 700, 1000, 800, 900}, 4},   {{1000, 500, 900, 700, 600, 800}, 4},
};

START_TEST(the_magazine_does_not_depend_on_the_order_of_arrival)
{
    struct hs_cadence cadence = hs_cadence_of(0);
    int accepted = 0;
    for (int i = 0; i < 6; i++) {
        if (hs_cadence_rounds(&cadence, HS_MS(arrivals[_i].ms[i]), HS_MS(300)) > 3)
            continue;
        hs_cadence_record(&cadence, HS_MS(arrivals[_i].ms[i]), HS_MS(100), HS_MS(300));
        accepted++;
    }
    ck_assert_int_eq(accepted, arrivals[_i].accepted);
}
END_TEST

/* Returns the largest number of shots without a pause of `reload_us` in between. */
static uint32_t longest_run(const struct hs_cadence *cadence, int64_t reload_us)
{
    uint32_t run = 0, longest = 0;
    for (uint16_t i = 0; i < cadence->count; i++) {
        const int64_t *at = &cadence->fire_time_us[i];
        run = i > 0 && at[0] - at[-1] < reload_us ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Random shots in any order never exceed the magazine, and `rounds` stays the number of shots since
   the last pause, also after a shot is withdrawn. */
START_TEST(no_order_exceeds_the_magazine)
{
    struct hs_random random = hs_random_start(hs_test_seed(20260111), (uint64_t)_i);
    struct hs_cadence cadence = hs_cadence_of(0);
    for (int i = 0; i < 500 && cadence.count < HS_LEDGER_SHOTS - 1; i++) {
        int64_t at_us = HS_MS(hs_random_index(&random, 6000));
        if (hs_cadence_rounds(&cadence, at_us, HS_MS(300)) <= 5)
            hs_cadence_record(&cadence, at_us, HS_MS(1), HS_MS(300));
        if (cadence.count > 0 && i % 7 == 0)
            hs_cadence_return(&cadence,
                              cadence.fire_time_us[hs_random_index(&random, cadence.count)],
                              HS_MS(300));
        ck_assert_uint_le(longest_run(&cadence, HS_MS(300)), 5);
        uint32_t rounds = 0;
        for (uint16_t k = cadence.count; k > 0; k--) {
            rounds++;
            if (k == 1 || cadence.fire_time_us[k - 1] - cadence.fire_time_us[k - 2] >= HS_MS(300))
                break;
        }
        ck_assert_uint_eq(cadence.rounds, rounds);
    }
}
END_TEST

/* A player leaves with an empty magazine and comes back with a full one. A late shot of the new
   session does not count with those of the old one, and the debts stay. */
START_TEST(late_shots_of_a_new_session_find_a_full_magazine)
{
    static const int shots[] = {0, 100, 200};
    for (int i = 0; i < 3; i++)
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(shots[i]), HS_MS(100), HS_MS(400)));
    hs_ledger_end_session(&ledger);
    ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(700), HS_MS(100), HS_MS(400)));
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_uint_eq(hs_cadence_rounds(cadence, HS_MS(500), HS_MS(400)), 2);
    ck_assert_int_eq(hs_cadence_debt(cadence, HS_MS(210), HS_MS(100)), HS_MS(75));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("magazine");
    TCase *tcase = tcase_create("magazine");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, rounds_count_from_the_last_long_pause);
    tcase_add_loop_test(tcase, the_magazine_does_not_depend_on_the_order_of_arrival, 0, 6);
    tcase_add_loop_test(tcase, no_order_exceeds_the_magazine, 0, 20);
    tcase_add_test(tcase, late_shots_of_a_new_session_find_a_full_magazine);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
