/* Memory budgets: the limit of one budget and of all, the spare part, and many threads that reserve
   at once. */
#include "tests/support/run_suite.h"
#include "validators/base/budget_inside.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>

static struct hs_budget all, own, other;

static void setup(void)
{
    hs_budget_init(&all, 1000, NULL);
    hs_budget_init(&own, 600, &all);
    hs_budget_init(&other, SIZE_MAX, &all);
}

static void assert_used(size_t of_own, size_t of_other)
{
    ck_assert_uint_eq(atomic_load(&own.used), of_own);
    ck_assert_uint_eq(atomic_load(&other.used), of_other);
    ck_assert_uint_eq(atomic_load(&all.used), of_own + of_other);
}

START_TEST(a_budget_reserves_up_to_its_limit)
{
    ck_assert(hs_budget_reserve(&own, 600) && hs_budget_reserve(&own, 0));
    ck_assert(!atomic_load(&own.was_refused));
    ck_assert(!hs_budget_reserve(&own, 1) && !hs_budget_has(&own, 1));
    ck_assert(atomic_load(&own.was_refused) && !atomic_load(&all.was_refused));
    assert_used(600, 0);
    hs_budget_release(&own, 100);
    ck_assert(hs_budget_has(&own, 100) && hs_budget_reserve(&own, 100));
    ck_assert(!hs_budget_reserve(&own, SIZE_MAX));
    assert_used(600, 0);
}
END_TEST

/* Bytes that one budget has reserved are not left for the other one. A reservation that the budget
   above refuses changes nothing in the budget below. */
START_TEST(budgets_reserve_up_to_the_common_limit)
{
    ck_assert(hs_budget_reserve(&other, 900));
    ck_assert(!hs_budget_has(&own, 101) && !hs_budget_reserve(&own, 101));
    assert_used(0, 900);
    ck_assert(atomic_load(&own.was_refused) && !atomic_load(&other.was_refused));
    ck_assert(hs_budget_reserve(&own, 100));
    assert_used(100, 900);
    hs_budget_release(&other, 900);
    hs_budget_release(&own, 100);
    assert_used(0, 0);
}
END_TEST

/* The last twentieth of each limit is not spare memory. */
START_TEST(a_twentieth_of_each_limit_is_not_spare)
{
    ck_assert(hs_budget_has_spare(&own, 570) && !atomic_load(&own.was_refused));
    ck_assert(!hs_budget_has_spare(&own, 571) && atomic_load(&own.was_refused));
    ck_assert(hs_budget_reserve_spare(&own, 570));
    ck_assert(!hs_budget_reserve_spare(&own, 1) && hs_budget_reserve(&own, 30));
    ck_assert(!hs_budget_reserve_spare(&own, 1) && hs_budget_reserve_spare(&own, 0));
    ck_assert(hs_budget_reserve_spare(&other, 350));
    ck_assert(!hs_budget_reserve_spare(&other, 1) && hs_budget_reserve(&other, 50));
    assert_used(600, 400);
}
END_TEST

START_TEST(no_budget_grants_every_request)
{
    ck_assert(hs_budget_reserve(NULL, SIZE_MAX) && hs_budget_reserve_spare(NULL, SIZE_MAX));
    ck_assert(hs_budget_has(NULL, SIZE_MAX) && hs_budget_has_spare(NULL, SIZE_MAX));
    hs_budget_release(NULL, 1);
}
END_TEST

static void *take_and_give(void *context)
{
    struct hs_budget *budget = context;
    for (int i = 0; i < 200000; i++) {
        size_t bytes = (size_t)(i % 400);
        bool taken =
            i % 2 ? hs_budget_reserve(budget, bytes) : hs_budget_reserve_spare(budget, bytes);
        ck_assert_uint_le(atomic_load(&all.used), all.limit);
        ck_assert_uint_le(atomic_load(&own.used), own.limit);
        if (taken)
            hs_budget_release(budget, bytes);
    }
    return NULL;
}

START_TEST(threads_reserve_and_release_at_once)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, i % 2 ? &own : &other),
                         0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_used(0, 0);
}
END_TEST

START_TEST(users_create_budgets)
{
    struct hs_budget *shared = hs_budget_create(1000, NULL),
                     *match = hs_budget_create(SIZE_MAX, shared);
    ck_assert(shared != NULL && match != NULL);
    ck_assert(hs_budget_reserve(match, 700) && !hs_budget_reserve(match, 301));
    ck_assert_uint_eq(hs_budget_used(match), 700);
    ck_assert_uint_eq(hs_budget_used(shared), 700);
    hs_budget_release(match, 700);
    ck_assert_uint_eq(hs_budget_used(shared), 0);
    hs_budget_destroy(match);
    hs_budget_destroy(shared);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *tests = tcase_create("limits");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, a_budget_reserves_up_to_its_limit);
    tcase_add_test(tests, budgets_reserve_up_to_the_common_limit);
    tcase_add_test(tests, a_twentieth_of_each_limit_is_not_spare);
    tcase_add_test(tests, no_budget_grants_every_request);
    tcase_add_test(tests, threads_reserve_and_release_at_once);
    tcase_add_test(tests, users_create_budgets);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
