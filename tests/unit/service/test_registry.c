/* Opens matches while the used memory changes. The result is always a match or a reason. New
   matches do not get the last tenth of the memory. Other threads never get the lock of a new match
   before the thread that opened it. */
#include "service/options/values.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { OPENINGS = 100000, PLAYERS = 8, MATCHES = 500 };

static const struct hs_str anybody = {0};

static struct hs_ruleset_store *rulesets;
static struct hs_map_store *maps;
static struct hs_registry *registry;
static struct hs_ruleset_entry *ruleset;
static atomic_bool ends;
static bool is_opening;          /* the first unlock after a match was opened calls try_lock */
static bool was_tried, was_free; /* results of try_lock */

static void setup(void)
{
    char error[256];
    rulesets = hs_ruleset_store_create("metres", 12, 1 << 24, error);
    maps = hs_map_store_create(4, 1 << 20);
    registry = hs_registry_create(MATCHES, rulesets, maps);
    ck_assert(rulesets != NULL && maps != NULL && registry != NULL);
    ruleset = hs_ruleset_store_get(rulesets, HS_STR("default"));
    atomic_store(&ends, false);
    is_opening = was_tried = was_free = false;
}

static void teardown(void)
{
    hs_ruleset_store_release(rulesets, ruleset);
    hs_registry_destroy(registry);
    hs_map_store_destroy(maps);
    hs_ruleset_store_destroy(rulesets);
}

static struct hs_budget *budget_of_all(void)
{
    const struct hs_options options = {0};
    return hs_registry_match_limits(registry, &options).shared;
}

static enum hs_registry_result open_match(struct hs_str name, struct hs_match_slot **slot)
{
    const struct hs_match_opening opening = {
        .ruleset = ruleset,
        .limits = {.players = PLAYERS, .samples = 16, .shared = budget_of_all()}};
    *slot = NULL;
    return hs_registry_acquire(registry, anybody, name, &opening, slot);
}

static void end_match(struct hs_match_slot *slot)
{
    hs_registry_remove(registry, slot);
    hs_registry_release(registry, slot);
}

/* Opens and ends matches that fill the memory, as fast as possible. */
static void *change(void *context)
{
    struct hs_budget *budget = budget_of_all();
    size_t *bytes = context;
    while (!atomic_load(&ends)) {
        if (hs_budget_reserve(budget, *bytes))
            hs_budget_release(budget, *bytes);
    }
    return NULL;
}

START_TEST(opening_gives_a_match_or_a_reason)
{
    size_t all = 8 * hs_match_min_bytes(), nearly_all = all - hs_match_min_bytes() / 2;
    hs_registry_limit_bytes(registry, SIZE_MAX, all);
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, change, &nearly_all), 0);
    int opened = 0, refused = 0, neither = 0;
    /* The test ends soon if both threads run at the same time, and later if they take turns. */
    int64_t until_us = hs_clock_us() + 3000000;
    while ((opened < OPENINGS || refused < OPENINGS) && hs_clock_us() < until_us) {
        struct hs_match_slot *slot;
        enum hs_registry_result result = open_match(HS_STR("another"), &slot);
        if (slot != NULL)
            end_match(slot);
        opened += result == HS_REGISTRY_CREATED && slot != NULL;
        refused += result == HS_REGISTRY_NO_HISTORY && slot == NULL;
        neither += (result == HS_REGISTRY_CREATED) != (slot != NULL);
    }
    atomic_store(&ends, true);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    ck_assert_uint_eq(hs_registry_bytes(registry), 0);
    ck_assert_int_eq(neither, 0);
    ck_assert_int_gt(opened, 0);
    ck_assert_int_gt(refused, 0);
}
END_TEST

/* When nine tenths of the memory are in use, no new match can be opened. A match that was open
   before a restart can be restored. */
START_TEST(restored_matches_may_take_the_last_tenth)
{
    struct hs_match_slot *slot;
    struct hs_budget *budget = budget_of_all();
    hs_registry_limit_bytes(registry, SIZE_MAX, 100 * hs_match_min_bytes());
    ck_assert(hs_budget_reserve(budget, 95 * hs_match_min_bytes()));
    ck_assert_int_eq(open_match(HS_STR("new"), &slot), HS_REGISTRY_NO_HISTORY);
    ck_assert_int_eq(hs_registry_capacity(registry), HS_REGISTRY_NO_HISTORY);
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = 16, .shared = budget};
    const struct hs_match_opening opening = {
        .ruleset = ruleset, .limits = limits, .match = hs_match_create(ruleset->ruleset, &limits)};
    ck_assert_int_eq(hs_registry_acquire(registry, anybody, HS_STR("restored"), &opening, &slot),
                     HS_REGISTRY_CREATED);
    ck_assert_uint_eq(hs_registry_bytes(registry), 96 * hs_match_min_bytes());
    end_match(slot);
    ck_assert_uint_eq(hs_registry_bytes(registry), 95 * hs_match_min_bytes());
}
END_TEST

/* ---- the lock of a new match ---- */

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

/* Does what another thread could do that finds the match at this moment. */
static void try_lock(void *context, struct hs_match_slot *slot)
{
    (void)context;
    was_tried = true;
    was_free = pthread_mutex_trylock(&slot->lock) == 0;
    if (was_free)
        __real_pthread_mutex_unlock(&slot->lock);
}

/* The linker replaces pthread_mutex_unlock with this function. Only one thread calls it while
   `is_opening` is set. The first unlock after the registry counts the match is the unlock of the
   registry. */
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct hs_registry_totals totals = {0};
    int result = __real_pthread_mutex_unlock(mutex);
    if (is_opening)
        hs_registry_totals(registry, &totals);
    if (totals.matches > 0) {
        is_opening = false;
        hs_registry_visit(registry, try_lock, NULL);
    }
    return result;
}

/* If another thread could lock a new match first, it could delete the match. The registry would
   then insert the deleted match again. Row: a new match, a restored one. */
START_TEST(a_new_match_is_locked_before_others_find_it)
{
    struct hs_match_slot *slot;
    const struct hs_match_limits limits = {
        .players = PLAYERS, .samples = 16, .shared = budget_of_all()};
    struct hs_match_opening opening = {.ruleset = ruleset, .limits = limits};
    if (_i == 1)
        opening.match = hs_match_create(ruleset->ruleset, &limits);
    is_opening = true;
    ck_assert_int_eq(hs_registry_acquire(registry, anybody, HS_STR("new"), &opening, &slot),
                     HS_REGISTRY_CREATED);
    ck_assert(was_tried);
    ck_assert(!was_free);
    end_match(slot);
}
END_TEST

/* Opens MATCHES matches, finds each again, and ends every second one. */
START_TEST(many_matches_are_found)
{
    static struct hs_match_slot *slots[MATCHES];
    struct hs_match_slot *slot;
    char name[16];
    for (int i = 0; i < MATCHES; i++) {
        int len = snprintf(name, sizeof name, "match-%d", i);
        ck_assert_int_eq(open_match((struct hs_str){name, (size_t)len}, &slots[i]),
                         HS_REGISTRY_CREATED);
        hs_registry_release(registry, slots[i]);
    }
    ck_assert_int_eq(open_match(HS_STR("one-more"), &slot), HS_REGISTRY_FULL);
    for (int round = 0; round < 2; round++) {
        for (int i = round; i < MATCHES; i += 1 + round) {
            int len = snprintf(name, sizeof name, "match-%d", i);
            ck_assert_int_eq(hs_registry_acquire(registry, anybody,
                                                 (struct hs_str){name, (size_t)len}, NULL, &slot),
                             HS_REGISTRY_FOUND);
            ck_assert_ptr_eq(slot, slots[i]);
            if (round == 0 && i % 2 == 0)
                hs_registry_remove(registry, slot);
            hs_registry_release(registry, slot);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *tests = tcase_create("room");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, opening_gives_a_match_or_a_reason);
    tcase_add_test(tests, restored_matches_may_take_the_last_tenth);
    tcase_add_loop_test(tests, a_new_match_is_locked_before_others_find_it, 0, 2);
    tcase_add_test(tests, many_matches_are_found);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
