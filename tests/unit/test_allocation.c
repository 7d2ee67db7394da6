/*
 * Verification allocates nothing. Every allocation of this program is counted: by the sanitizer's
 * hooks where one replaces the allocator, else by allocation functions defined here, which take
 * the place of the C library's.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "tests/support/stage.h"

/* Compilers know what malloc does, and that it does not change these: it does, here. */
static volatile unsigned long allocations, releases;
static void *volatile kept; /* so that no call is optimised away */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#ifdef SANITIZED

/* <sanitizer/allocator_interface.h> has this; not every compiler installs that header. */
extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                     void (*)(const volatile void *));

static void note_malloc(const volatile void *pointer, size_t size)
{
    (void)pointer;
    (void)size;
    allocations++;
}

static void note_free(const volatile void *pointer)
{
    (void)pointer;
    releases++;
}

static bool start_counting(void)
{
    return __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) > 0;
}

#else

/* glibc's own names for its allocator. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void __libc_free(void *pointer);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size)
{
    allocations++;
    return __libc_realloc(pointer, size);
}

void free(void *pointer)
{
    releases += pointer != NULL;
    __libc_free(pointer);
}

static bool start_counting(void)
{
    return true;
}

#endif

static struct hs_ruleset *rules;
static struct hs_match *match;

static void set_up(void)
{
    rules = hs_stage_ruleset();
    match = hs_stage_match(rules);
    hs_stage_play(match);
    char name[8];
    for (int i = 0; i < 20; i++) { /* a crowd, some of them without a pose at the time */
        snprintf(name, sizeof name, "B%d", i);
        for (int ms = i < 15 ? 700 : 990; ms <= 1000; ms += 50)
            hs_stage_place(match, HS_MS(ms), name, 5 + i / 2.0, 0.7 * i - 6, 0);
    }
}

static void tear_down(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

/* Check allocates in its assertions: counts are taken first and judged later. */
START_TEST(the_counters_count)
{
    unsigned long before = allocations, released = releases;
    kept = malloc(100);
    free(kept);
    unsigned long one = allocations - before, one_released = releases - released;
    kept = calloc(3, 5);
    kept = realloc(kept, 2000);
    free(kept);
    unsigned long three = allocations - before, all_released = releases - released;
    ck_assert_uint_eq(one, 1);
    ck_assert_uint_eq(one_released, 1);
    ck_assert_uint_ge(three, 3);
    ck_assert_uint_ge(all_released, 2);
    /* And they see what happens inside the library. */
    before = allocations;
    hs_stage_place(match, HS_MS(1000), "New", 0, 0, 0);
    unsigned long inside = allocations - before;
    ck_assert_uint_ge(inside, 2);
}
END_TEST

static void claim_of(int i, struct hs_hit_claim *claim)
{
    static const char *const weapons[] = {"rifle", "bow", "knife", "unheard-of", NULL};
    static const char *const targets[] = {"T", "B3", "S", "Nobody", "B17", NULL};
    *claim = hs_stage_claim(HS_MS(700 + i % 350), 20, (i % 7) - 1.0, 1.0 + (i % 5) / 5.0);
    claim->weapon = hs_stage_str(weapons[i % 5]);
    claim->target = hs_stage_str(targets[i % 6]);
    claim->claimed_bone = hs_stage_str(i % 2 == 0 ? "head" : NULL);
    claim->has_fire_time = i % 3 == 0;
    claim->fire_time_us = claim->hit_time_us - HS_MS(i % 500);
}

/* Row: as enforced, all in shadow, all off. */
START_TEST(verification_allocates_nothing)
{
    static struct hs_hit_result result;
    bool seen[HS_REASON_COUNT] = {false};
    int reasons = 0;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = (enum hs_mode)_i;
    unsigned long before = allocations, released = releases;
    for (int i = 0; i < 2000; i++) {
        struct hs_hit_claim claim;
        claim_of(i, &claim);
        hs_hit_verify(match, &claim, HS_MS(1000), &result);
        seen[result.reason] = true;
    }
    unsigned long allocated = allocations - before, freed = releases - released;
    ck_assert_uint_eq(allocated, 0);
    ck_assert_uint_eq(freed, 0);
    for (int i = 0; i < HS_REASON_COUNT; i++)
        reasons += seen[i];
    ck_assert_int_ge(reasons, _i == 0 ? 8 : 1); /* the claims do go different ways */
}
END_TEST

START_TEST(a_replay_allocates_nothing)
{
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 9, 1.6);
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert(hs_hit_note(match, &claim, result, HS_STR("{\"answer\":1")));
    unsigned long before = allocations;
    hs_hit_verify(match, &claim, HS_MS(1000), result);
    unsigned long allocated = allocations - before;
    ck_assert_ptr_nonnull(result->replay);
    ck_assert_uint_eq(allocated, 0);
    free(result);
}
END_TEST

int main(void)
{
    if (!start_counting()) {
        fprintf(stderr, "allocations cannot be counted\n");
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("allocation");
    TCase *tcase = tcase_create("allocation");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_counters_count);
    tcase_add_loop_test(tcase, verification_allocates_nothing, 0, HS_MODE_COUNT);
    tcase_add_test(tcase, a_replay_allocates_nothing);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
