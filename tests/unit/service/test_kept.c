/* A worker keeps no more memory between requests than its bounds allow. */
#include "service/http/kept.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdlib.h>

static struct hs_kept kept;

static void teardown(void)
{
    hs_kept_free(&kept);
}

START_TEST(a_body_of_the_same_size_reuses_its_memory)
{
    struct hs_buffer body = hs_kept_body(&kept, 5000);
    ck_assert_uint_eq(body.capacity, 5000);
    const char *data = body.data;
    hs_buffer_append(&body, "text", 4);
    hs_keep_body(&kept, &body);
    ck_assert_ptr_null(body.data);
    body = hs_kept_body(&kept, 5000 - HS_KEPT_SLACK);
    ck_assert_ptr_eq(body.data, data);
    ck_assert_uint_eq(body.len, 0);
    hs_keep_body(&kept, &body);
}
END_TEST

/* Otherwise a slow client with small bodies could hold much more memory than is reserved for it. */
START_TEST(a_small_body_gets_no_large_memory)
{
    struct hs_buffer large = hs_kept_body(&kept, 60000);
    hs_keep_body(&kept, &large);
    ck_assert_uint_eq(kept.bodies.count, 1);
    struct hs_buffer small = hs_kept_body(&kept, 100), longer = hs_kept_body(&kept, 60001);
    ck_assert_uint_eq(small.capacity, 100);
    ck_assert_uint_eq(longer.capacity, 60001);
    hs_buffer_free(&small);
    hs_buffer_free(&longer);
}
END_TEST

START_TEST(only_a_few_buffers_are_kept)
{
    struct hs_buffer bodies[2 * HS_KEPT], answers[2 * HS_KEPT];
    for (size_t i = 0; i < 2 * HS_KEPT; i++) {
        bodies[i] = hs_kept_body(&kept, 100);
        answers[i] = hs_kept_answer(&kept);
        hs_buffer_puts(&answers[i], "{}");
    }
    for (size_t i = 0; i < 2 * HS_KEPT; i++) {
        hs_keep_body(&kept, &bodies[i]);
        hs_keep_answer(&kept, &answers[i]);
        ck_assert_ptr_null(bodies[i].data);
        ck_assert_ptr_null(answers[i].data);
    }
    ck_assert_uint_eq(kept.bodies.count, HS_KEPT);
    ck_assert_uint_eq(kept.answers.count, HS_KEPT);
    struct hs_buffer answer = hs_kept_answer(&kept);
    ck_assert_ptr_nonnull(answer.data);
    ck_assert_uint_eq(answer.len, 0);
    hs_buffer_free(&answer);
}
END_TEST

START_TEST(long_and_failed_buffers_are_freed)
{
    struct hs_buffer body = hs_kept_body(&kept, HS_KEPT_BODY + 1), answer = {0};
    hs_keep_body(&kept, &body);
    ck_assert_ptr_null(body.data);
    while (answer.capacity <= HS_KEPT_ANSWER)
        hs_buffer_puts(&answer, "0123456789abcdef");
    hs_keep_answer(&kept, &answer);
    hs_keep_answer(&kept, &answer); /* the buffer is empty now */
    hs_buffer_puts(&answer, "x");
    answer.failed = true;
    hs_keep_answer(&kept, &answer);
    ck_assert_uint_eq(kept.bodies.count + kept.answers.count, 0);
    ck_assert(answer.data == NULL && !answer.failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kept");
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, a_body_of_the_same_size_reuses_its_memory);
    tcase_add_test(tests, a_small_body_gets_no_large_memory);
    tcase_add_test(tests, only_a_few_buffers_are_kept);
    tcase_add_test(tests, long_and_failed_buffers_are_freed);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
