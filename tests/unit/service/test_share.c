/* Shares of tenants. The total is limited, and each tenant must leave at least as much free as they
   use. */
#include "service/state/share.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 1200 };

static struct hs_share *share;

static void setup(void)
{
    share = hs_share_create(LIMIT);
    ck_assert_ptr_nonnull(share);
}

static void teardown(void)
{
    hs_share_destroy(share);
}

/* Reserves in steps until a reservation is refused. Returns the reserved amount. */
static size_t take_all(struct hs_str tenant)
{
    size_t taken = 0;
    while (hs_share_reserve(share, tenant, 1))
        taken++;
    return taken;
}

START_TEST(without_tenants_the_whole_share_can_be_held)
{
    ck_assert_uint_eq(hs_share_max(share, HS_STR("")), LIMIT);
    ck_assert_uint_eq(hs_share_left(share, HS_STR("")), LIMIT);
    ck_assert(!hs_share_reserve(share, HS_STR(""), LIMIT + 1));
    ck_assert(hs_share_reserve(share, HS_STR(""), LIMIT));
    ck_assert(!hs_share_reserve(share, HS_STR(""), 1));
    ck_assert(hs_share_reserve(share, HS_STR(""), 0));
    hs_share_release(share, (struct hs_str){0}, LIMIT);
    ck_assert_uint_eq(hs_share_used(share), 0);
}
END_TEST

START_TEST(a_tenant_leaves_as_much_as_they_hold)
{
    ck_assert_uint_eq(hs_share_max(share, HS_STR("acme")), LIMIT / 2);
    ck_assert(!hs_share_reserve(share, HS_STR("acme"), LIMIT / 2 + 1));
    ck_assert_uint_eq(take_all(HS_STR("acme")), LIMIT / 2);
    ck_assert_uint_eq(take_all(HS_STR("zeta")), LIMIT / 4);
    ck_assert_uint_eq(take_all(HS_STR("beta")), LIMIT / 8);
    ck_assert_uint_eq(take_all(HS_STR("acme")), 0);
    ck_assert_uint_eq(hs_share_left(share, HS_STR("zeta")), 0);
    /* A tenant can reserve more after other tenants have released some. */
    hs_share_release(share, HS_STR("acme"), LIMIT / 2);
    ck_assert_uint_gt(take_all(HS_STR("beta")), 0);
    ck_assert_uint_le(hs_share_used(share), LIMIT);
}
END_TEST

START_TEST(an_amount_without_an_owner_is_charged_later)
{
    ck_assert(hs_share_reserve(share, HS_STR(""), LIMIT / 2));
    ck_assert(hs_share_assign(share, HS_STR("acme"), LIMIT / 2));
    ck_assert_uint_eq(hs_share_used(share), LIMIT / 2);
    ck_assert(!hs_share_reserve(share, HS_STR("acme"), 1));
    hs_share_release(share, HS_STR("acme"), LIMIT / 2);
    ck_assert_uint_eq(take_all(HS_STR("acme")), LIMIT / 2);
}
END_TEST

/* Many tenants reserve and release at random. The limit always holds, and nothing is left at the
   end. */
START_TEST(at_random)
{
    enum { TENANTS = 200, STEPS = 100000 };
    static size_t held[TENANTS];
    uint64_t seed = hs_test_seed(5);
    struct hs_random random = hs_random_start(seed, 0);
    size_t used = 0;
    printf("at_random: HS_SEED=%llu\n", (unsigned long long)seed);
    for (int step = 0; step < STEPS; step++) {
        char name[16];
        int who = hs_random_index(&random, TENANTS);
        size_t amount = 1 + (size_t)hs_random_index(&random, 20);
        snprintf(name, sizeof name, "t%d", who);
        struct hs_str tenant = {name, strlen(name)};
        if (hs_random_index(&random, 2) == 0) {
            bool fits = held[who] + amount <= LIMIT - used - amount && used + amount <= LIMIT;
            ck_assert_int_eq(hs_share_reserve(share, tenant, amount), fits);
            used += fits ? amount : 0;
            held[who] += fits ? amount : 0;
        } else {
            amount = amount < held[who] ? amount : held[who];
            hs_share_release(share, tenant, amount);
            used -= amount;
            held[who] -= amount;
        }
        ck_assert_uint_eq(hs_share_used(share), used);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("share");
    TCase *tests = tcase_create("share");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, without_tenants_the_whole_share_can_be_held);
    tcase_add_test(tests, a_tenant_leaves_as_much_as_they_hold);
    tcase_add_test(tests, an_amount_without_an_owner_is_charged_later);
    tcase_add_test(tests, at_random);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
