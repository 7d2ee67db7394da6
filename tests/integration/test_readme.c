/* What README.md and docs/disputes.md tell people to type works as printed, and answers what they
 * say. */
#include "tests/support/program.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"

#include <check.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char page[65536], folder[64];
static struct hs_test_service service;

static void read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "run from the root of the tree");
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    ck_assert_uint_lt(size, sizeof page - 1);
    page[size] = '\0';
}

static void setup(void)
{
    char record[96];
    const char *const arguments[] = {"--record", record, NULL};
    read_page("README.md");
    strcpy(folder, "/tmp/hindsight_readme_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(record, sizeof record, "%s/day.stream", folder);
    ck_assert(hs_test_service_start(&service, arguments));
}

static void teardown(void)
{
    char command[128];
    ck_assert(hs_test_service_stop(&service));
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Writes `text` with one word for another. */
static void put_replaced(FILE *out, const char *text, const char *word, const char *by)
{
    for (const char *at; (at = strstr(text, word)) != NULL; text = at + strlen(word))
        fprintf(out, "%.*s%s", (int)(at - text), text, by);
    fputs(text, out);
}

/*
 * Runs a block of commands in the folder: the service under test stands for that of `make run`, the
 * program under test for the one it built, and a status of 400 or above fails. Gives what was
 * printed; to be freed.
 */
static char *run_block(const char *block)
{
    char command[256], program[PATH_MAX], port[32], *script = NULL, *text = NULL;
    size_t size = 0;
    ck_assert_ptr_nonnull(realpath(getenv("HS_PROGRAM"), program));
    snprintf(port, sizeof port, "127.0.0.1:%u", service.data_port);
    FILE *draft = open_memstream(&script, &size);
    put_replaced(draft, block, "localhost:8080", port);
    fclose(draft);
    snprintf(command, sizeof command, "%s/block.sh", folder);
    FILE *file = fopen(command, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "set -e\ncd '%s'\ncurl() { command curl -sS --fail-with-body \"$@\"; }\n",
            folder);
    put_replaced(file, script, "build/hindsight", program);
    fclose(file);
    free(script);
    snprintf(command, sizeof command, "sh %s/block.sh 2>&1", folder);
    FILE *pipe = popen(command, "r");
    FILE *kept = open_memstream(&text, &size);
    for (int c; (c = fgetc(pipe)) != EOF;)
        fputc(c, kept);
    fclose(kept);
    ck_assert_msg(pclose(pipe) == 0, "fails: %s\n%s", block, text);
    return text;
}

/* The block of the page that holds `word`; to be freed. */
static char *block_with(const char *word)
{
    const char *fence = "\n```\n", *at = page;
    while ((at = strstr(at, fence)) != NULL) {
        const char *begin = at + strlen(fence);
        const char *end = strstr(begin, fence);
        ck_assert_msg(end != NULL, "an open block");
        char *block = strndup(begin, (size_t)(end - begin) + 1);
        if (strstr(block, word) != NULL)
            return block;
        free(block);
        at = end + strlen(fence) - 1;
    }
    ck_abort_msg("no block with %s", word);
    return NULL;
}

static void expect(const char *block_word, const char *answer)
{
    char *block = block_with(block_word), *text = run_block(block);
    ck_assert_msg(strstr(text, answer) != NULL, "%s\nanswers\n%s\nwithout %s", block, text, answer);
    free(block);
    free(text);
}

START_TEST(a_game_server_is_connected)
{
    expect("-X PUT localhost:8080/v1/matches/m1", "\"ruleset\":\"metres\"");
    expect("/m1/frames", "\"stored\":4");
    expect("\"shot\":1042", "\"verdict\":\"accepted\"");
    expect("\"shot\":1043", "\"reason\":\"no_intersection\"");
    expect("\"shot\":1043", "\"margin\":0.274791");
    char *said = block_with("{\"verdict\":\"rejected\"");
    ck_assert_ptr_nonnull(strstr(said, "\"margin\":0.274791"));
    free(said);
}
END_TEST

/* The verdict of the refused claim, by its id, in what the service recorded. */
START_TEST(a_verdict_is_found_again)
{
    static const char *const steps[] = {"-X PUT localhost:8080/v1/matches/m1", "/m1/frames"};
    static const char example[] = "b8f9e7885a3016bb7b4dfc3de54a0299", key[] = "\"verdict_id\":\"";
    char id[33] = "";
    for (size_t i = 0; i < 2; i++) {
        char *block = block_with(steps[i]);
        free(run_block(block));
        free(block);
    }
    char *block = block_with("\"shot\":1043"), *text = run_block(block);
    const char *found = strstr(text, key);
    ck_assert_ptr_nonnull(found);
    memcpy(id, found + strlen(key), 32);
    free(text);
    free(block);
    read_page("docs/disputes.md");
    block = block_with("find_verdict");
    char *place = strstr(block, example);
    ck_assert_ptr_nonnull(place);
    memcpy(place, id, 32);
    for (int i = 0; i < 100; i++) { /* lines are written a little later than answers are sent */
        text = run_block(block);
        if (text[0] != '\0')
            break;
        free(text);
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
    free(text);
    free(block);
}
END_TEST

START_TEST(a_ruleset_is_taken_and_put)
{
    expect("rulesets/mygame", "\"name\":\"mygame\"");
    /* what was put is the built-in one but for its name, in metres */
    char *text =
        run_block("curl localhost:8080/v1/rulesets/mygame | jq -c '.ruleset | .name = 0'\n"
                  "curl localhost:8080/v1/rulesets/metres | jq -c '.ruleset | .name = 0'\n");
    size_t half = strlen(text) / 2;
    ck_assert_uint_gt(half, 1000);
    ck_assert_int_eq(strncmp(text, text + half, half), 0);
    free(text);
}
END_TEST

/* A short document is in centimetres: under a built-in name it would change a game's unit unseen.
 */
START_TEST(builtin_names_are_reserved)
{
    static const char *const names[] = {"metres", "centimetres", "inches", "default",
                                        "unreal", "unity",       "godot",  "source"};
    char command[256];
    snprintf(command, sizeof command,
             "command curl -sS -X PUT localhost:8080/v1/rulesets/%s -d '{\"name\":\"%s\"}' "
             "-H 'Content-Type: application/json' -w '%%{http_code}'\n",
             names[_i], names[_i]);
    char *text = run_block(command), expected[128];
    ck_assert_str_eq(text + strlen(text) - 3, "400");
    snprintf(expected, sizeof expected, "{\"pointer\":\"/name\",\"detail\":\"`%s` is reserved",
             names[_i]);
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
    free(text);
}
END_TEST

/* `make demo` and `make run` install every program that the commands of the page need. */
START_TEST(commands_are_installed)
{
    static const char *const targets[] = {"demo", "run"};
    int code;
    const char *missing = hs_test_shell(
        &code,
        "unset MAKEFLAGS MAKELEVEL; installed=$(make -n %s | sed -n 's/^sh tools.deps.sh//p' | tr "
        "'\\n' ' '); "
        "awk '/^```/ { inside = !inside; next } inside' README.md | "
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
    tcase_add_test(tests, a_game_server_is_connected);
    tcase_add_test(tests, a_verdict_is_found_again);
    tcase_add_test(tests, a_ruleset_is_taken_and_put);
    tcase_add_loop_test(tests, commands_are_installed, 0, 2);
    tcase_add_loop_test(tests, builtin_names_are_reserved, 0, 8);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
