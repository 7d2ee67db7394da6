/* The commands in README.md and docs/disputes.md work as printed, and print what the pages show. */
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct hs_test_service service;

/* Prepares the folder of the shell. The folder has the program under test at `build/hindsight`. In
   it, curl reaches the service under test at the address of `make run`, and fails if the service
   refuses. */
static void prepare_folder(void)
{
    char path[128], program[PATH_MAX];
    ck_assert_ptr_nonnull(realpath(getenv("HS_PROGRAM"), program));
    snprintf(path, sizeof path, "%s/build", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/build/hindsight", folder);
    ck_assert_int_eq(symlink(program, path), 0);
    snprintf(path, sizeof path, "%s/.curlrc", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "silent\nshow-error\nfail-with-body\nconnect-to = localhost:8080:127.0.0.1:%u\n",
            service.data_port);
    fclose(file);
}

static void setup(void)
{
    char record[96];
    const char *const arguments[] = {"--record", record, NULL};
    strcpy(folder, "/tmp/hindsight_readme_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(record, sizeof record, "%s/day.stream", folder);
    ck_assert(hs_test_service_start(&service, arguments));
    prepare_folder();
}

static void teardown(void)
{
    char command[128];
    ck_assert(hs_test_service_stop(&service));
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Runs commands in the folder. Returns what they print. */
static const char *run(const char *commands)
{
    int code;
    const char *out = hs_test_shell(&code, "cd %s && export CURL_HOME=%s && set -e\n%s", folder,
                                    folder, commands);
    ck_assert_msg(code == 0, "fails: %s\n%s", commands, out);
    return out;
}

/* Runs the commands of the README.md in folder `from`. tests/readme.sh compares their output with
   the page. */
static const char *type_page(int *code, const char *from)
{
    return hs_test_shell(code,
                         "script=$PWD/tests/readme.sh; cd %s && CURL_HOME=%s HS_README_SECONDS=30 "
                         "HS_README_SKIP='^make ' sh $script service env -C %s "
                         "bash --norc --noprofile --noediting -i 2>&1",
                         from, folder, folder);
}

static void type_right_page(void)
{
    int code;
    const char *out = type_page(&code, ".");
    ck_assert_msg(code == 0, "%s", out);
}

/* A change of the page, and the message of tests/readme.sh that it causes. */
static const struct {
    const char *change, *said;
} wrong[] = {
    {"s/\"stored\":4/\"stored\":5/", "/stored: 4, not 5"},
    {"s/\"refused\":\\[\\], [.]* }/\"refused\":[]}/", "need is not on the page"},
    {"s/\"player_count\"/\"count\"/", "no count"},
    {"s/\"margin\":0/\"margin\":1/", "no element"},
    {"s/\"outcome\":\"fail\"/\"outcome\":\"pass\"/", "no element"},
    {"s/sha256:[.]*/sha1:.../", "/revision: "},
    {"s/^{\"name\":\"mygame\".*/ruleset yourgame/", "the page prints\nruleset yourgame"},
    {"s/check-config rules/check-config no/", "ends with code 1"},
};

START_TEST(a_wrong_page_is_found)
{
    int code;
    hs_test_shell(&code, "sed '%s' README.md >%s/README.md && ! cmp -s README.md %s/README.md",
                  wrong[_i].change, folder, folder);
    ck_assert_int_eq(code, 0);
    const char *out = type_page(&code, folder);
    ck_assert_int_eq(code, 1);
    ck_assert_msg(strstr(out, wrong[_i].said) != NULL, "%s", out);
}
END_TEST

/*
 * The table and the picture on the page are those of the demo. The picture is the indented block of
 * the page.
 */
START_TEST(the_demo_draws_the_picture)
{
    int code;
    const char *out = hs_test_shell(
        &code,
        "sed -n '/^    One impossible hit/,/^    ───/s/^    //p' README.md >%s/picture; "
        "sed -n '/^  who  /,/^```/{/^```/!p}' README.md >%s/table; "
        "LC_ALL=C.UTF-8 %s demo >%s/demo; "
        "for part in picture table; do test \"$(wc -l <%s/$part)\" -gt 5 && "
        "case \"$(cat %s/demo)\" in *\"$(cat %s/$part)\"*) ;; "
        "*) echo \"not the same: $part\"; exit 1 ;; esac || exit 1; done",
        folder, folder, getenv("HS_PROGRAM"), folder, folder, folder, folder);
    ck_assert_msg(code == 0, "%s", out);
}
END_TEST

/* The verdict on the refused claim is found by its id in the service's recording. */
START_TEST(a_verdict_is_found_again)
{
    static const char example[] = "b8f9e7885a3016bb7b4dfc3de54a0299";
    char id[33] = "";
    int code;
    type_right_page();
    /* the same claim gets the same answer */
    const char *text = hs_test_shell(&code,
                                     "sh tests/readme.sh block '\"shot\":1043' README.md | "
                                     "CURL_HOME=%s sh | jq -r '.results[0].verdict_id'",
                                     folder);
    ck_assert_uint_eq(strlen(text), 33);
    memcpy(id, text, 32);
    for (int i = 0; i < 100;
         i++) { /* wait, because the service writes lines slightly later than it sends answers */
        text = hs_test_shell(&code,
                             "sh tests/readme.sh block find_verdict docs/disputes.md | "
                             "sed s/%s/%s/ | (cd %s && sh) | jq -s '.[0] // empty'",
                             example, id, folder);
        if (text[0] != '\0')
            break;
        usleep(50000);
    }
    json_t *verdict = json_loads(text, 0, NULL);
    ck_assert_msg(verdict != NULL, "%s", text);
    const json_t *claim = json_object_get(verdict, "claim");
    const json_t *answer = json_object_get(verdict, "answer");
    ck_assert_int_eq(json_integer_value(json_object_get(claim, "shot")), 1043);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "verdict_id")), id);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "reason")), "no_intersection");
    json_decref(verdict);
}
END_TEST

/* The page puts the built-in ruleset `metres` with a new name, so both rulesets must be equal. */
START_TEST(commands_print_the_output_of_the_page)
{
    type_right_page();
    const char *text = run("for name in mygame metres; do curl localhost:8080/v1/rulesets/$name | "
                           "jq -c '.ruleset | .name = 0'; done");
    size_t half = strlen(text) / 2;
    ck_assert_uint_gt(half, 1000);
    ck_assert_int_eq(strncmp(text, text + half, half), 0);
}
END_TEST

/* A short document is in centimetres. With a built-in name it would change the unit of a game
   without notice. */
START_TEST(builtin_names_are_reserved)
{
    static const char *const names[] = {"metres", "centimetres", "inches", "default",
                                        "unreal", "unity",       "godot",  "source"};
    char command[256], expected[128];
    snprintf(command, sizeof command,
             "curl --no-fail-with-body -X PUT localhost:8080/v1/rulesets/%s -d '{\"name\":\"%s\"}' "
             "-H 'Content-Type: application/json' -w '%%{http_code}'\n",
             names[_i], names[_i]);
    const char *text = run(command);
    ck_assert_str_eq(text + strlen(text) - 3, "400");
    snprintf(expected, sizeof expected, "{\"pointer\":\"/name\",\"detail\":\"`%s` is reserved",
             names[_i]);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
}
END_TEST

/* `make demo` and `make run` install every program that the commands of the page need. */
START_TEST(commands_are_installed)
{
    static const char *const targets[] = {"demo", "run"};
    int code;
    const char *missing = hs_test_shell(
        &code,
        "unset MAKEFLAGS MAKELEVEL; installed=$(make -n %s | sed -n 's/^sh scripts.deps.sh//p' | "
        "tr "
        "'\\n' ' '); "
        "awk '/^```/ { inside = /sh$/; next } inside' README.md | "
        "grep -oE '(^|\\| )[a-z]+ ' | tr -d '| ' | sort -u | while read -r command; do "
        "case \" make mkdir \"$installed' ' in *\" $command \"*) ;; *) echo $command ;; esac; done",
        targets[_i]);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(missing, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("readme");
    TCase *tests = tcase_create("commands");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, commands_print_the_output_of_the_page);
    tcase_add_loop_test(tests, a_wrong_page_is_found, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tests, the_demo_draws_the_picture);
    tcase_add_test(tests, a_verdict_is_found_again);
    tcase_add_loop_test(tests, commands_are_installed, 0, 2);
    tcase_add_loop_test(tests, builtin_names_are_reserved, 0, 8);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
