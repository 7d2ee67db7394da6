/*
 * Plays every scenario of tests/scenarios over HTTP, in every frame of reference, and again on a
 * second, fresh service that must answer byte for byte the same.
 */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/play/scenario.h"
#include "tests/support/http.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"

enum { MAX_FILES = 32, MAX_CASES = 2048 };

struct one_case {
    const struct hs_scenarios *file;
    size_t index;
    const struct hs_reference *reference;
};

static struct hs_scenarios *files[MAX_FILES];
static size_t file_count;
static struct one_case cases[MAX_CASES];
static size_t case_count;
static struct hs_test_service service, second;

struct sender {
    struct hs_test_http *http;
    struct hs_test_response response; /* of the last request */
};

static long send_step(void *context, const struct hs_scenario_step *step, const char **answer,
                      size_t *size)
{
    struct sender *sender = context;
    hs_test_response_free(&sender->response);
    hs_test_http_send(sender->http, step->method, step->path, step->body, step->size, NULL,
                      &sender->response);
    *answer = sender->response.body;
    *size = sender->response.size;
    return sender->response.status;
}

static struct hs_scenario_plan *plan_case(const struct one_case *one, const char *prefix)
{
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(one->file, one->index, one->reference, prefix, error);
    ck_assert_msg(plan != NULL, "row %s: %s", hs_scenarios_info(one->file, one->index).row, error);
    return plan;
}

START_TEST(test_scenario)
{
    const struct one_case *one = &cases[_i];
    struct hs_scenario_info info = hs_scenarios_info(one->file, one->index);
    struct hs_scenario_plan *plan = plan_case(one, "play");
    struct sender sender = {.http = hs_test_http_open(service.data_port)};
    char fault[HS_SCENARIO_ERROR_MAX];
    bool good = hs_scenario_play(plan, send_step, &sender, fault);
    ck_assert_msg(good, "row %s, %s, %s: %s", info.row, one->reference->name, info.title, fault);
    hs_test_response_free(&sender.response);
    hs_test_http_close(sender.http);
    hs_scenario_plan_destroy(plan);
}
END_TEST

/* Sends one scenario to both services; their answers with status 200 must be the same bytes.
   (Error documents carry the id of their request.) Returns how many were compared. */
static size_t compare_services(const struct one_case *one, struct sender *first,
                               struct sender *other)
{
    struct hs_scenario_plan *plan = plan_case(one, "again");
    const char *row = hs_scenarios_info(one->file, one->index).row;
    size_t compared = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const char *a, *b;
        size_t a_size, b_size;
        const struct hs_scenario_step *step = &plan->steps[i];
        long a_status = send_step(first, step, &a, &a_size);
        long b_status = send_step(other, step, &b, &b_size);
        /* The rulesets are new to one of the services only. */
        if (strcmp(step->method, "PUT") == 0)
            continue;
        ck_assert_msg(a_status == b_status, "row %s, %s: status %ld and %ld", row, step->path,
                      a_status, b_status);
        if (a_status != 200)
            continue;
        ck_assert_msg(a_size == b_size && memcmp(a, b, a_size) == 0, "row %s, %s:\n%s\n%s", row,
                      step->path, a, b);
        compared++;
    }
    hs_scenario_plan_destroy(plan);
    return compared;
}

/* Row 93: the same requests against the same history, answered by another process later. */
START_TEST(test_fresh_service_answers_the_same)
{
    struct sender first = {.http = hs_test_http_open(service.data_port)};
    struct sender other = {.http = hs_test_http_open(second.data_port)};
    size_t compared = 0;
    for (size_t i = 0; i < case_count; i++)
        if (cases[i].reference == &hs_references[0])
            compared += compare_services(&cases[i], &first, &other);
    ck_assert_msg(compared > 2 * hs_scenarios_count(files[0]), "only %zu compared", compared);
    hs_test_response_free(&first.response);
    hs_test_response_free(&other.response);
    hs_test_http_close(first.http);
    hs_test_http_close(other.http);
}
END_TEST

static bool has_row(long number)
{
    for (size_t i = 0; i < case_count; i++)
        if (strtol(hs_scenarios_info(cases[i].file, cases[i].index).row, NULL, 10) == number)
            return true;
    return false;
}

/* The rows of the acceptance table that data files can hold; a lost file must not go unnoticed.
   Rows 93 (above), 94 and 95 (test_match_life.c) are programs. */
START_TEST(test_rows_are_there)
{
    static const struct {
        long from, to;
    } ranges[] = {{1, 31},  {33, 37}, {40, 52}, {55, 55}, {57, 59},
                  {61, 62}, {64, 92}, {96, 96}, {98, 100}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        for (long row = ranges[i].from; row <= ranges[i].to; row++)
            ck_assert_msg(has_row(row), "row %ld has no scenario", row);
}
END_TEST

/* The same row twice would share a match. */
START_TEST(test_rows_are_unique)
{
    for (size_t i = 0; i < case_count; i++)
        for (size_t k = i + 1; k < case_count; k++)
            ck_assert_msg(cases[i].reference != cases[k].reference ||
                              strcmp(hs_scenarios_info(cases[i].file, cases[i].index).row,
                                     hs_scenarios_info(cases[k].file, cases[k].index).row) != 0,
                          "row %s stands twice",
                          hs_scenarios_info(cases[i].file, cases[i].index).row);
}
END_TEST

static bool load_files(void)
{
    glob_t found;
    if (glob("tests/scenarios/*.json", 0, NULL, &found) != 0)
        return false;
    char error[HS_SCENARIO_ERROR_MAX];
    for (size_t i = 0; i < found.gl_pathc && file_count < MAX_FILES; i++) {
        struct hs_scenarios *file = hs_scenarios_load(found.gl_pathv[i], error);
        if (file == NULL) {
            fprintf(stderr, "%s\n", error);
            globfree(&found);
            return false;
        }
        files[file_count++] = file;
        for (size_t k = 0; k < hs_scenarios_count(file); k++)
            for (size_t r = 0; r < HS_REFERENCES && case_count < MAX_CASES; r++)
                cases[case_count++] = (struct one_case){file, k, &hs_references[r]};
    }
    globfree(&found);
    return case_count > 0;
}

static int run_suite(void)
{
    Suite *suite = suite_create("scenarios");
    TCase *table = tcase_create("table");
    tcase_add_test(table, test_rows_are_there);
    tcase_add_test(table, test_rows_are_unique);
    suite_add_tcase(suite, table);
    TCase *play = tcase_create("play");
    tcase_set_timeout(play, 60);
    tcase_add_loop_test(play, test_scenario, 0, (int)case_count);
    suite_add_tcase(suite, play);
    TCase *again = tcase_create("again");
    tcase_set_timeout(again, 300);
    tcase_add_test(again, test_fresh_service_answers_the_same);
    suite_add_tcase(suite, again);
    return hs_run_suite(suite);
}

int main(void)
{
    /* What the scenarios marked with it require, and no other scenario minds. */
    static const char *const options[] = {"--auto-open=false", NULL};
    int failed = 1;
    if (load_files() && hs_test_service_start(&service, options) &&
        hs_test_service_start(&second, options))
        failed = run_suite();
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&second) && clean;
    for (size_t i = 0; i < file_count; i++)
        hs_scenarios_destroy(files[i]);
    return failed == 0 && clean ? 0 : 1;
}
