/* The files of tests/scenarios: every check and every reason has a scenario. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "validators/vocabulary.h"

static json_t *all; /* all files, in one array */

static void read_files(void)
{
    glob_t found;
    all = json_array();
    ck_assert_int_eq(glob("tests/scenarios/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        ck_assert_int_eq(json_array_append_new(all, json_load_file(found.gl_pathv[i], 0, NULL)), 0);
    globfree(&found);
}

static void release_files(void)
{
    json_decref(all);
}

static bool has(const json_t *object, const char *member, const char *text)
{
    const char *found = json_string_value(json_object_get(object, member));
    return found != NULL && strcmp(found, text) == 0;
}

static bool fails(const json_t *object, const char *check)
{
    return has(object, "check", check) && has(object, "outcome", "fail");
}

static bool decides(const json_t *object, const char *reason)
{
    return has(object, "reason", reason) && json_object_get(object, "check") == NULL;
}

/* Returns whether `wanted` accepts an object in `value`. Reasons of pellets and of refused victims
   do not count, because they do not decide the verdict. */
static bool expects(const json_t *value, bool wanted(const json_t *object, const char *name),
                    const char *name)
{
    if (json_is_object(value)) {
        if (wanted(value, name))
            return true;
        void *object = (void *)(uintptr_t)value;
        for (void *at = json_object_iter(object); at != NULL;
             at = json_object_iter_next(object, at)) {
            const char *key = json_object_iter_key(at);
            if (strcmp(key, "pellets") != 0 && strcmp(key, "refused") != 0 &&
                expects(json_object_iter_value(at), wanted, name))
                return true;
        }
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (expects(json_array_get(value, i), wanted, name))
            return true;
    return false;
}

START_TEST(every_check_fails_in_a_scenario)
{
    const char *name = hs_check_name((enum hs_check)_i);
    ck_assert_msg(expects(all, fails, name), "in no scenario the check %s fails", name);
}
END_TEST

/* Every reason decides a scenario, except the two reasons for a retry. Only a service that is out
   of memory, or has a small work budget, gives these two; test_memory_faults.c and
   test_work_budget.c test them. */
START_TEST(every_reason_decides_a_scenario)
{
    const char *name = hs_reason_name((enum hs_reason)_i);
    if (!hs_reason_is_retryable((enum hs_reason)_i))
        ck_assert_msg(expects(all, decides, name), "no scenario ends with %s", name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scenario files");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, read_files, release_files);
    tcase_add_loop_test(tests, every_check_fails_in_a_scenario, 0, HS_CHECK_COUNT);
    tcase_add_loop_test(tests, every_reason_decides_a_scenario, 0, HS_REASON_COUNT);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
