/* The recipes of docs/extending.md work. tests/extending.sh applies the recipes to a copy of the
   tree, builds it, and runs the tests that the page names. If a recipe is wrong, those tests
   fail. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#define PAGE "docs/extending.md"

/* Without optimization, because most of the time is spent on building. */
#define BUILD "make -s -j\"$(nproc)\" VARIANT=recipe OPT=-O0 CFLAGS='-U_FORTIFY_SOURCE -g0' "

static char folder[64];
static int code;

static void setup(void)
{
    strcpy(folder, "/tmp/hindsight_extending_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    hs_test_shell(&code, "rm -rf %s", folder);
    ck_assert_int_eq(code, 0);
}

/* Returns the last part of a command's output, because a message of Check has no space for all of
   it. */
static const char *end_of(const char *out)
{
    enum { SHOWN = 4000 };
    size_t size = strlen(out);
    return size > SHOWN ? out + size - SHOWN : out;
}

/* Copies the tree to `name` in the folder, changes the page with a sed command, and applies the
   page to the copy. */
static const char *apply(const char *name, const char *change)
{
    return hs_test_shell(&code,
                         "exec 2>&1; mkdir %s/%s && cp -R Makefile api cli deploy docs examples "
                         "openapi.yaml scripts service tests validators README.md %s/%s && "
                         "sed '%s' " PAGE " >%s/page && sh tests/extending.sh %s/page %s/%s",
                         folder, name, folder, name, change, folder, folder, folder, name);
}

/* Runs commands in the copy `name`. */
static const char *run_in(const char *name, const char *commands)
{
    return hs_test_shell(&code,
                         "exec 2>&1; unset MAKEFLAGS MAKELEVEL; cd %s/%s && "
                         "for name in $(env | sed -n 's/^\\(HINDSIGHT_[A-Z_]*\\)=.*/\\1/p'); do "
                         "unset \"$name\"; done\n%s",
                         folder, name, commands);
}

/* Starts the service that was built from the copy, plays the scenarios of the recipes against it,
   and requests the new route. */
static const char *prove(const char *name)
{
    return run_in(
        name, "program=build/recipe/hindsight\n"
              "rm -f ready; $program serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data= "
              "--drain-wait-seconds 0 --log-level error >ready &\n"
              "service=$!\n"
              "while ! grep -q ready ready; do\n"
              "kill -0 $service || exit 1; sleep 0.05; done\n"
              "url=$(sed -n 's/.* data=\\([^ ]*\\).*/\\1/p' ready)\n"
              "fine=0\n"
              "$program play tests/scenarios/latency.json --url $url || fine=1\n"
              "curl -sf $url/version || fine=1\n"
              "kill $service; wait $service; exit $fine\n");
}

static bool lacks_compiler(void)
{
    hs_test_shell(&code, "command -v cc make >/dev/null");
    if (code != 0)
        printf("SKIP: no compiler here. Not done: the recipes of " PAGE "\n");
    return code != 0;
}

START_TEST(the_recipes_work)
{
    if (lacks_compiler())
        return;
    const char *out = apply("tree", "");
    ck_assert_msg(code == 0, "%s", end_of(out));
    out = run_in("tree", BUILD
                 "docs build/recipe/tests/unit/api/test_contract_texts "
                 "build/recipe/tests/unit/api/test_contract_numbers "
                 "build/recipe/tests/unit/api/test_detail "
                 "build/recipe/tests/unit/cli/test_scenario_files "
                 "build/recipe/tests/unit/validators/test_shot && "
                 "for test in api/test_contract_texts api/test_contract_numbers api/test_detail "
                 "cli/test_scenario_files validators/test_shot api/test_pages; "
                 "do build/recipe/tests/unit/$test || exit 1; done && "
                 "grep round_trip_too_long docs/api.md");
    ck_assert_msg(code == 0, "%s", end_of(out));
    out = prove("tree");
    ck_assert_msg(code == 0, "%s", end_of(out));
    ck_assert_msg(strstr(out, "{\"version\":\"") != NULL, "%s", end_of(out));

    /* A check with the opposite condition, and a reason that is missing in the contract. */
    out = apply("wrong",
                "s/connection.rtt_us, c->ruleset->hit.max_rtt_us/c->ruleset->hit.max_rtt_us, "
                "connection.rtt_us/; /^ *- round_trip_too_long$/d");
    ck_assert_msg(code == 0, "%s", end_of(out));
    out = run_in("tree",
                 "cp ../wrong/openapi.yaml . && build/recipe/tests/unit/api/test_contract_texts");
    ck_assert_msg(code == 1 && strstr(out, "round_trip_too_long") != NULL, "%s", end_of(out));
    out =
        run_in("tree", "file=validators/hit/checks/round_trip.c; cp ../wrong/$file $file && " BUILD
                       "build/recipe/hindsight");
    ck_assert_msg(code == 0, "%s", end_of(out));
    out = prove("tree");
    ck_assert_msg(code == 1 && strstr(out, "scenario 201 ") != NULL, "%s", end_of(out));
}
END_TEST

/* A wrong change of the page, and the message of tests/extending.sh that it must cause. */
static const struct {
    const char *change, *said;
} wrong[] = {
    {"s/below `X(LATENCY, latency/below `X(LATE, late/", "not once in validators/vocabulary.h"},
    {"s/below `- latency`/below `- nowhere`/", "not once in openapi.yaml"},
    {"s/^`validators.state.h`/`validators\\/states.h`/", "no file validators/states.h"},
    {"s/checks.round_trip.c`, a new/checks\\/range.c`, a new/", "range.c exists"},
};

START_TEST(a_page_that_does_not_fit_is_found)
{
    const char *out = apply("tree", wrong[_i].change);
    ck_assert_msg(strstr(out, wrong[_i].said) != NULL, "%s", end_of(out));
    ck_assert_int_eq(code, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("extending");
    TCase *tests = tcase_create("recipes");
    tcase_set_timeout(tests, 600);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_recipes_work);
    tcase_add_loop_test(tests, a_page_that_does_not_fit_is_found, 0,
                        sizeof wrong / sizeof wrong[0]);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
