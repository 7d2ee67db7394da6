/* The documents list the options as the program's own texts do. `make docs` writes them. */
#include "service/options/values.h"
#include "service/system/version.h"

#include "tests/support/files.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *path;
    void (*write)(FILE *to);
    const char *names[3]; /* how one option is written in that document */
} documents[] = {
    {"docs/configuration.md",
     hs_options_write_markdown,
     {"`--drain-wait-seconds N`", "`drain_wait_seconds`", "`HINDSIGHT_DRAIN_WAIT_SECONDS`"}},
    {"deploy/hindsight.1",
     hs_options_write_man,
     {"\\-\\-drain\\-wait\\-seconds\\fR \\fIN\\fR", "\\fBdrain_wait_seconds\\fR",
      "\\fBHINDSIGHT_DRAIN_WAIT_SECONDS\\fR"}},
};

START_TEST(documents_have_the_list_of_the_program)
{
    char *text = hs_test_read_file(documents[_i].path, NULL), *list = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&list, &size);
    documents[_i].write(to);
    fclose(to);
    char *begin = strstr(text, "options: begin"), *end = strstr(text, "options: end");
    ck_assert(begin != NULL && end != NULL);
    begin = strchr(begin, '\n') + 1;
    while (end[-1] != '\n')
        end--;
    ck_assert_msg((size_t)(end - begin) == size && memcmp(begin, list, size) == 0,
                  "%s does not have the present list of options: make docs", documents[_i].path);
    for (size_t i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(strstr(list, documents[_i].names[i]));
    free(list);
    free(text);
}
END_TEST

/* Every option is in both documents, between the headings of its section and the next. */
START_TEST(every_option_is_listed)
{
    static const char *const names[] = {
#define HS_OPTION_TEXT(field, name, initial, argument, help)   "HINDSIGHT_" #field,
#define HS_OPTION_BOOL(field, name, initial, help)             "HINDSIGHT_" #field,
#define HS_OPTION_NUMBER(field, name, initial, min, max, help) "HINDSIGHT_" #field,
#include "service/options/options.def"
    };
    char *text = hs_test_read_file(documents[_i].path, NULL);
    const char *at = strstr(text, "options: begin");
    ck_assert_ptr_nonnull(at);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        at = strcasestr(at, names[i]);
        ck_assert_msg(at != NULL, "%s has no %s in its place", documents[_i].path, names[i]);
    }
    free(text);
}
END_TEST

START_TEST(the_man_page_is_of_this_version)
{
    char *text = hs_test_read_file("deploy/hindsight.1", NULL);
    ck_assert_ptr_nonnull(strstr(text, ".TH HINDSIGHT 1 \"\" \"Hindsight " HS_VERSION "\""));
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("option texts");
    TCase *tests = tcase_create("documents");
    tcase_add_loop_test(tests, documents_have_the_list_of_the_program, 0, 2);
    tcase_add_loop_test(tests, every_option_is_listed, 0, 2);
    tcase_add_test(tests, the_man_page_is_of_this_version);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
