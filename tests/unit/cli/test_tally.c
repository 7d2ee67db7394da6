/* Counts verdicts, and draws one of them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/picture.h"
#include "cli/play/tally.h"
#include "cli/simulate/film.h"
#include "tests/support/run_suite.h"

static void add(struct hs_tally *tally, const char *who, enum hs_truth truth, const char *text)
{
    json_t *result = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(result);
    ck_assert(hs_tally_result(tally, who, truth, result));
    json_decref(result);
}

#define OK "{\"verdict\":\"accepted\",\"reason\":\"ok\",\"flags\":[\"radius_forged\"]}"
#define MISS                                                                                       \
    "{\"verdict\":\"rejected\",\"reason\":\"no_intersection\",\"flags\":[],\"checks\":["           \
    "{\"check\":\"origin\",\"outcome\":\"fail\",\"reason\":\"origin_mismatch\",\"measured\":9,"    \
    "\"limit\":1,\"unit\":\"length\",\"mode\":\"shadow\"},"                                        \
    "{\"check\":\"contact\",\"outcome\":\"fail\",\"reason\":\"no_intersection\","                  \
    "\"measured\":1.5,\"limit\":0,\"unit\":\"length\",\"mode\":\"enforce\"}]}"
#define GAP "{\"verdict\":\"inconclusive\",\"reason\":\"history_gap\"}"

START_TEST(verdicts_are_counted_by_kind)
{
    struct hs_tally *tally = hs_tally_create();
    double percent;
    ck_assert(!hs_tally_accepted(tally, HS_TRUTH_HIT, &percent));
    add(tally, "honest", HS_TRUTH_HIT, OK);
    add(tally, "honest", HS_TRUTH_HIT, OK);
    add(tally, "honest", HS_TRUTH_HIT, GAP);
    add(tally, "cheat", HS_TRUTH_MISS, MISS);
    add(tally, "cheat", HS_TRUTH_UNKNOWN, MISS);
    add(tally, NULL, HS_TRUTH_UNKNOWN, MISS);
    const struct hs_tally_kind *total = &tally->total;
    ck_assert_uint_eq(total->claims, 6);
    ck_assert_uint_eq(total->accepted, 2);
    ck_assert_uint_eq(total->rejected, 3);
    ck_assert_uint_eq(total->inconclusive, 1);
    const struct hs_tally_kind *cheat = hs_tally_kind(tally, "cheat");
    ck_assert_ptr_nonnull(cheat);
    ck_assert_uint_eq(cheat->claims, 2);
    ck_assert_uint_eq(cheat->reason_count, 1);
    ck_assert_str_eq(cheat->reasons[0].name, "no_intersection");
    /* The number belongs to the check that decided, not to the first that failed. */
    ck_assert_str_eq(cheat->reasons[0].example.check, "contact");
    ck_assert_double_eq(cheat->reasons[0].example.measured, 1.5);
    ck_assert_ptr_null(hs_tally_kind(tally, "nobody"));
    ck_assert(hs_tally_accepted(tally, HS_TRUTH_HIT, &percent));
    ck_assert_double_eq_tol(percent, 200.0 / 3.0, 1e-9);
    ck_assert(hs_tally_accepted(tally, HS_TRUTH_MISS, &percent));
    ck_assert_double_eq(percent, 0.0);

    json_t *json = hs_tally_json(tally);
    json_t *flags =
        json_object_get(json_object_get(json_object_get(json, "kinds"), "honest"), "flags");
    ck_assert_int_eq(json_integer_value(json_object_get(flags, "radius_forged")), 2);
    json_decref(json);
    hs_tally_destroy(tally);
}
END_TEST

START_TEST(results_without_verdict_are_no_results)
{
    struct hs_tally *tally = hs_tally_create();
    json_t *result = json_pack("{s:s}", "verdict", "accepted");
    ck_assert(!hs_tally_result(tally, NULL, HS_TRUTH_HIT, result));
    ck_assert_uint_eq(tally->total.claims, 0);
    json_decref(result);
    hs_tally_destroy(tally);
}
END_TEST

START_TEST(latencies_are_ordered)
{
    struct hs_tally *tally = hs_tally_create();
    for (int i = 100; i > 0; i--) /* 1 to 100 ms, the longest first */
        hs_tally_request(tally, i * 1e-3);
    json_t *json = hs_tally_json(tally);
    json_t *requests = json_object_get(json, "requests");
    ck_assert_int_eq(json_integer_value(json_object_get(requests, "count")), 100);
    ck_assert_double_eq_tol(json_number_value(json_object_get(requests, "p50_ms")), 50.0, 1e-9);
    ck_assert_double_eq_tol(json_number_value(json_object_get(requests, "p99_ms")), 99.0, 1e-9);
    ck_assert_double_eq_tol(json_number_value(json_object_get(requests, "max_ms")), 100.0, 1e-9);
    json_decref(json);
    hs_tally_destroy(tally);
}
END_TEST

/* Draws a shot along x that passes a body at the origin, beside it or above it. */
static char *draw(struct hs_vec aside)
{
    struct hs_sim_arena *arena = hs_sim_arena_create(0.4);
    ck_assert_ptr_nonnull(arena);
    struct hs_body then, now;
    hs_pose_body(arena, &(struct hs_sim_pose){.position = {0, 0, 0}}, &then);
    hs_pose_body(arena, &(struct hs_sim_pose){.position = {0, -1, 0}}, &now);
    struct hs_picture picture = {.shooter = "ann",
                                 .target = "ben",
                                 .then = &then,
                                 .now = &now,
                                 .hit_time = 1.0,
                                 .arrival = 1.1,
                                 .start = hs_vec_add((struct hs_vec){-5, 0, 1.1}, aside),
                                 .end = hs_vec_add((struct hs_vec){50, 0, 1.1}, aside),
                                 .measured = 1.25,
                                 .unit = "m",
                                 .min_scale = 0.04};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    hs_picture_draw(&picture, (struct hs_picture_style){0}, out);
    fclose(out);
    hs_sim_arena_destroy(arena);
    return text;
}

START_TEST(pictures_show_the_miss_from_where_it_is_seen)
{
    char *beside = draw((struct hs_vec){0, 1.6, 0}), *over = draw((struct hs_vec){0, 0, 2.0});
    ck_assert_ptr_nonnull(strstr(beside, "from above"));
    ck_assert_ptr_nonnull(strstr(over, "from the side"));
    const char *const parts[] = {
        "#", ":", "->|", "X", "missed by 1.25 m", "100 ms later", "the shot of ann"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ck_assert_msg(strstr(beside, parts[i]) != NULL, "no %s in\n%s", parts[i], beside);
        ck_assert_msg(strstr(over, parts[i]) != NULL, "no %s in\n%s", parts[i], over);
    }
    /* The shot passes on the left of the body, which is above it in the picture. */
    ck_assert(strchr(beside, 'X') < strchr(beside, '#'));
    for (const char *line = beside; *line == ' '; line = strchr(line, '\n') + 1)
        ck_assert_int_lt((int)strcspn(line, "\n"), 80);
    free(beside);
    free(over);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tally");
    TCase *tests = tcase_create("tally");
    tcase_add_test(tests, verdicts_are_counted_by_kind);
    tcase_add_test(tests, results_without_verdict_are_no_results);
    tcase_add_test(tests, latencies_are_ordered);
    tcase_add_test(tests, pictures_show_the_miss_from_where_it_is_seen);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
