/* Plays every scenario of tests/scenarios over HTTP in every frame of reference. A second, fresh
   service must give the same bytes. On that service the scenarios are also played with split and
   merged requests. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/regroup.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/oracle/all_scenarios.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

struct one_case {
    const struct hs_scenarios *file;
    size_t index;
    const struct hs_reference *reference;
};

static struct hs_all_scenarios scenarios;
static struct one_case cases[sizeof scenarios.items / sizeof scenarios.items[0] * HS_REFERENCES];
static size_t case_count;
static struct hs_test_service service, second;

struct sender {
    struct hs_test_http *http;
    struct hs_test_response response; /* answer to the last request */
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

/* Sends one scenario to both services. Answers with status 200 must be the same bytes. (Error
   documents contain the id of their request.) Returns the number of compared answers. */
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
        /* The rulesets are new to only one of the services, so its answer differs. */
        if (strcmp(step->method, "PUT") == 0)
            continue;
        ck_assert_msg(a_status == b_status, "row %s, %s: status %ld and %ld", row, step->path,
                      a_status, b_status);
        if (a_status != 200)
            continue;
        hs_test_mask_ids(first->response.body);
        hs_test_mask_ids(other->response.body);
        ck_assert_msg(a_size == b_size && memcmp(a, b, a_size) == 0, "row %s, %s:\n%s\n%s", row,
                      step->path, a, b);
        compared++;
    }
    hs_scenario_plan_destroy(plan);
    return compared;
}

/* Row 93 of the acceptance table: another process, later, gives the same answers to the same
   requests about the same history. */
START_TEST(test_fresh_service_answers_the_same)
{
    struct sender first = {.http = hs_test_http_open(service.data_port)};
    struct sender other = {.http = hs_test_http_open(second.data_port)};
    size_t compared = 0;
    for (size_t i = 0; i < case_count; i++)
        if (cases[i].reference == &hs_references[0])
            compared += compare_services(&cases[i], &first, &other);
    ck_assert_msg(compared > 2 * scenarios.count, "only %zu compared", compared);
    hs_test_response_free(&first.response);
    hs_test_response_free(&other.response);
    hs_test_http_close(first.http);
    hs_test_http_close(other.http);
}
END_TEST

/* ---- regrouped requests ---- */

/* Sends requests and records the answers. Stores the status of each request in `statuses`, unless
   that is NULL. */
static void send_list(struct sender *sender, const struct hs_regroup_list *list, const char *row,
                      long *statuses, struct hs_transcript *out)
{
    hs_transcript_begin(out);
    for (size_t i = 0; i < list->count; i++) {
        const struct hs_regrouped *request = &list->items[i];
        hs_test_response_free(&sender->response);
        hs_test_http_send(sender->http, request->method, request->path, request->body,
                          request->size, NULL, &sender->response);
        const struct hs_test_response *answer = &sender->response;
        ck_assert_msg(!request->is_batch || answer->status == 200, "row %s, %s: %ld %s\n%s", row,
                      request->path, answer->status, answer->body, request->body);
        ck_assert_msg(answer->status != 0 && answer->status < 500, "row %s, %s: %ld %s", row,
                      request->path, answer->status, answer->body);
        if (statuses != NULL)
            statuses[i] = answer->status;
        hs_test_mask_ids(answer->body);
        hs_transcript_add(out, request, answer->status, answer->body, answer->size);
    }
}

static void assert_same_transcript(const struct one_case *one, const struct hs_transcript *written,
                                   const struct hs_transcript *regrouped)
{
    if (json_equal(written->content, regrouped->content))
        return;
    const char *key;
    json_t *value;
    json_object_foreach(written->content, key, value)
    {
        const json_t *other = json_object_get(regrouped->content, key);
        if (!json_equal(value, other))
            ck_abort_msg("row %s, %s, %s:\n%s\n%s", hs_scenarios_info(one->file, one->index).row,
                         one->reference->name, key,
                         json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY),
                         json_dumps(other, JSON_COMPACT | JSON_ENCODE_ANY));
    }
}

struct regroup_counts {
    size_t scenarios;
    size_t written, regrouped; /* numbers of requests */
    size_t judged;             /* number of compared shots and hits */
};

/*
 * Both services have the same match with the same name, so results are equal including their ids.
 */
static void compare_groups(const struct one_case *one, enum hs_regrouping regrouping,
                           struct sender *first, struct sender *other,
                           struct regroup_counts *counts)
{
    struct hs_scenario_plan *plan =
        plan_case(one, regrouping == HS_REGROUP_SPLIT ? "split" : "merged");
    const char *row = hs_scenarios_info(one->file, one->index).row;
    long *statuses = calloc(plan->count, sizeof *statuses);
    ck_assert_ptr_nonnull(statuses);
    struct hs_regroup_list as_written, regrouped;
    struct hs_transcript written, again;
    hs_regroup(plan, statuses, HS_REGROUP_NOT, &as_written);
    send_list(first, &as_written, row, statuses, &written);
    hs_regroup(plan, statuses, regrouping, &regrouped);
    send_list(other, &regrouped, row, NULL, &again);
    assert_same_transcript(one, &written, &again);
    counts->scenarios++;
    counts->written += as_written.count;
    counts->regrouped += regrouped.count;
    counts->judged += json_array_size(json_object_get(written.content, "shots")) +
                      json_array_size(json_object_get(written.content, "hits"));
    hs_transcript_end(&written);
    hs_transcript_end(&again);
    hs_regroup_free(&as_written);
    hs_regroup_free(&regrouped);
    free(statuses);
    hs_scenario_plan_destroy(plan);
}

/* Requests are regrouped only in these frames of reference. The last two frames differ only by a
   shift, so they would add nothing. */
enum { FRAMES = 3 };

/* Returns whether to regroup this scenario in this frame. Each scenario is regrouped in one frame,
   or in all of them with HS_GROUP_FRAMES=3, which `make nightly` sets. */
static bool is_regrouped(size_t i, int frame, long frames)
{
    return cases[i].reference == &hs_references[frame] &&
           (i / HS_REFERENCES + (size_t)frame) % FRAMES < (size_t)frames;
}

/* Row: a frame of reference, and whether the requests are split or merged. */
START_TEST(test_groups_do_not_matter)
{
    enum hs_regrouping regrouping = _i % 2 == 0 ? HS_REGROUP_SPLIT : HS_REGROUP_MERGED;
    struct sender first = {.http = hs_test_http_open(service.data_port)};
    struct sender other = {.http = hs_test_http_open(second.data_port)};
    struct regroup_counts counts = {0};
    long frames = hs_test_count("HS_GROUP_FRAMES", 1);
    for (size_t i = 0; i < case_count; i++)
        if (is_regrouped(i, _i / 2, frames))
            compare_groups(&cases[i], regrouping, &first, &other, &counts);
    printf("%s, %s: %zu requests instead of %zu, %zu results\n", hs_references[_i / 2].name,
           regrouping == HS_REGROUP_SPLIT ? "split" : "merged", counts.regrouped, counts.written,
           counts.judged);
    /* A scenario must have more than 2 results on average in all frames, and more than 1.5 in
       one. */
    ck_assert_uint_gt(2 * counts.judged, (frames == FRAMES ? 4 : 3) * counts.scenarios);
    if (regrouping == HS_REGROUP_SPLIT)
        ck_assert_uint_gt(counts.regrouped, 3 * counts.written);
    else
        ck_assert_uint_lt(counts.regrouped, counts.written * 3 / 4);
    hs_test_response_free(&first.response);
    hs_test_response_free(&other.response);
    hs_test_http_close(first.http);
    hs_test_http_close(other.http);
}
END_TEST

/* ---- the table ---- */

static bool has_row(long number)
{
    for (size_t i = 0; i < case_count; i++)
        if (strtol(hs_scenarios_info(cases[i].file, cases[i].index).row, NULL, 10) == number)
            return true;
    return false;
}

/* The rows of the acceptance table that data files can express. No file may be missing. Programs
   test the rows 93 (above), 94 and 95 (test_match_life.c). */
START_TEST(test_rows_are_there)
{
    static const struct {
        long from, to;
    } ranges[] = {{1, 92}, {96, 96}, {98, 100}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        for (long row = ranges[i].from; row <= ranges[i].to; row++)
            ck_assert_msg(has_row(row), "row %ld has no scenario", row);
}
END_TEST

/* If a row occurred twice, both would use the same match. */
START_TEST(test_rows_are_unique)
{
    for (size_t i = 0; i < case_count; i++)
        for (size_t k = i + 1; k < case_count; k++)
            if (cases[i].reference == cases[k].reference &&
                strcmp(hs_scenarios_info(cases[i].file, cases[i].index).row,
                       hs_scenarios_info(cases[k].file, cases[k].index).row) == 0)
                ck_abort_msg("row %s stands twice",
                             hs_scenarios_info(cases[i].file, cases[i].index).row);
}
END_TEST

static bool load_cases(void)
{
    if (!hs_all_scenarios_load(&scenarios))
        return false;
    for (size_t i = 0; i < scenarios.count; i++)
        for (size_t r = 0; r < HS_REFERENCES; r++)
            cases[case_count++] = (struct one_case){scenarios.items[i].file,
                                                    scenarios.items[i].index, &hs_references[r]};
    return true;
}

static int run_suite(void)
{
    Suite *suite = suite_create("scenarios");
    TCase *table = tcase_create("table");
    tcase_add_test(table, test_rows_are_there);
    tcase_add_test(table, test_rows_are_unique);
    suite_add_tcase(suite, table);
    TCase *play = tcase_create("play");
    tcase_add_loop_test(play, test_scenario, 0, (int)case_count);
    suite_add_tcase(suite, play);
    TCase *again = tcase_create("again");
    tcase_add_test(again, test_fresh_service_answers_the_same);
    /* Sanitizers make this long, and regrouped requests run hardly any other code. */
    if (getenv("HS_CONCURRENT_ONLY") == NULL)
        tcase_add_loop_test(again, test_groups_do_not_matter, 0, 2 * FRAMES);
    suite_add_tcase(suite, again);
    return hs_run_suite_in_one_process(suite);
}

int main(void)
{
    /* Options that only some marked scenarios need and that do not affect the others; and enough
       capacity for all scenarios. */
    static const char *const options[] = {"--auto-open=false", "--max-matches=100000",
                                          "--max-rulesets=10000", "--max-maps=4096", NULL};
    int failed = 1;
    if (load_cases() && hs_test_service_start(&service, options) &&
        hs_test_service_start(&second, options))
        failed = run_suite();
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&second) && clean;
    hs_all_scenarios_free(&scenarios);
    return failed == 0 && clean ? 0 : 1;
}
