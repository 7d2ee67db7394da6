/* Formatted text is appended to a buffer, whatever space is left in it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/buffer.h"
#include "tests/support/run_suite.h"

/* Many short texts are appended from different starts, which are dense around the sizes at which
   the buffer grows. So the text that makes the buffer grow is a different one for each start. */
START_TEST(texts_are_whole_wherever_they_end)
{
    enum { LONGEST = 5000, TEXTS = 700 };
    static char expected[TEXTS * 16];
    for (size_t start = 0; start < LONGEST; start += start % 1024 < 1000 ? 97 : 1) {
        struct hs_buffer buffer = {0};
        size_t len = 0;
        for (size_t i = 0; i < start; i++)
            hs_buffer_append(&buffer, "x", 1);
        for (int i = 0; i < TEXTS; i++) {
            hs_buffer_printf(&buffer, "%d:%s;", i, i % 3 == 0 ? "" : "text");
            len += (size_t)snprintf(expected + len, sizeof expected - len, "%d:%s;", i,
                                    i % 3 == 0 ? "" : "text");
        }
        ck_assert(!buffer.failed);
        ck_assert_uint_eq(buffer.len, start + len);
        ck_assert_int_eq(memcmp(buffer.data + start, expected, len), 0);
        hs_buffer_free(&buffer);
    }
}
END_TEST

/* A text longer than everything before it, and an empty text. */
START_TEST(long_and_empty_texts_are_appended)
{
    struct hs_buffer buffer = {0};
    hs_buffer_printf(&buffer, "%s", "");
    ck_assert_uint_eq(buffer.len, 0);
    hs_buffer_printf(&buffer, "%0*d", 100000, 7);
    ck_assert_uint_eq(buffer.len, 100000);
    ck_assert_int_eq(buffer.data[99999], '7');
    ck_assert_uint_eq(strspn(buffer.data, "0"), 99999);
    hs_buffer_free(&buffer);
}
END_TEST

/* A buffer that once lacked memory accepts nothing more. */
START_TEST(a_failed_buffer_stays_as_it_is)
{
    struct hs_buffer buffer = {0};
    hs_buffer_puts(&buffer, "kept");
    hs_buffer_fail(&buffer);
    hs_buffer_printf(&buffer, "%d", 1);
    hs_buffer_puts(&buffer, "more");
    ck_assert_uint_eq(buffer.len, 4);
    ck_assert(buffer.failed);
    hs_buffer_free(&buffer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("buffer");
    TCase *tests = tcase_create("texts");
    tcase_add_test(tests, texts_are_whole_wherever_they_end);
    tcase_add_test(tests, long_and_empty_texts_are_appended);
    tcase_add_test(tests, a_failed_buffer_stays_as_it_is);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
