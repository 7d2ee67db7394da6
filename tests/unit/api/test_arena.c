/* The arena gives zeroed memory, even if it reuses the memory of an earlier request. */
#include "api/json/arena.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct hs_arena arena;

static void teardown(void)
{
    hs_arena_free(&arena);
}

/* Allocates bytes, checks that they are zero and aligned, and writes other values to them. */
static unsigned char *dirty(size_t size)
{
    unsigned char *bytes = hs_arena_alloc(&arena, 1, size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq((uintptr_t)bytes % alignof(max_align_t), 0);
    for (size_t i = 0; i < size; i++)
        ck_assert_uint_eq(bytes[i], 0);
    memset(bytes, 0xAA, size);
    return bytes;
}

START_TEST(memory_is_zero_in_each_round)
{
    static const size_t sizes[] = {1, 700, 16384, 40000, 17, 90000, 3, 16000};
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i <= round % 8; i++)
            dirty(sizes[(round * 3 + i) % 8]);
        hs_arena_reset(&arena);
    }
}
END_TEST

START_TEST(a_small_round_gets_the_same_memory)
{
    const unsigned char *first = dirty(500);
    hs_arena_reset(&arena);
    ck_assert_ptr_eq(dirty(500), first);
    /* A small allocation does not take the large block. */
    hs_arena_reset(&arena);
    dirty(16384);
    const unsigned char *large = dirty(60000);
    hs_arena_reset(&arena);
    ck_assert_ptr_eq(dirty(500), first);
    ck_assert_ptr_eq(dirty(60000), large);
}
END_TEST

START_TEST(allocations_do_not_overlap)
{
    unsigned char *all[50];
    for (size_t i = 0; i < 50; i++) {
        all[i] = dirty(i * 61 + 1);
        memset(all[i], (int)i, i * 61 + 1);
    }
    for (size_t i = 0; i < 50; i++)
        for (size_t k = 0; k < i * 61 + 1; k++)
            ck_assert_uint_eq(all[i][k], i);
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
    ck_assert_ptr_null(hs_arena_alloc(&arena, SIZE_MAX / 2, 16));
    dirty(10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, memory_is_zero_in_each_round);
    tcase_add_test(tests, a_small_round_gets_the_same_memory);
    tcase_add_test(tests, allocations_do_not_overlap);
    tcase_add_test(tests, impossible_sizes_are_refused);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
