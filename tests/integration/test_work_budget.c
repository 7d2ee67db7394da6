/*
 * The work budget of requests. A request of 1 MiB costs no more than --request-work, whatever it
 * contains. Items that do not fit get an answer in their place. When such an item is sent again, it
 * is verified. Other clients do not wait until a long request ends. Work is counted in units, so a
 * slow machine changes nothing.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/files.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/play/crowd.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

enum { BUDGET = 5000000 };

/* Max cost of the items after the budget of a request is used up: each item is still looked up, and
   one claim is stopped in the middle. */
enum { BEYOND = 500000 };

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

static double metric(const char *name)
{
    return hs_metric(&kept.service, name);
}

static char *post(const char *path, struct hs_buffer *body)
{
    hs_buffer_append(body, "", 1);
    ck_assert(!body->failed);
    char *answer = hs_kept_post(&kept, path, body->data);
    hs_buffer_free(body);
    return answer;
}

/* ---- a crowd, and claims ---- */

static void crowd(const char *path)
{
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{");
    hs_crowd_put_frames(&body, 0);
    hs_buffer_puts(&body, "}");
    free(post(path, &body));
}

/* ---- 1 MiB of every kind ---- */

static const struct {
    const char *route, *key;
    hs_crowd_put *put;
    bool is_tick, is_over;
} kinds[] = {
    {"hits", "hits", hs_crowd_put_pellets, false, true},
    {"hits", "hits", hs_crowd_put_bullet, false, true},
    {"hits", "hits", hs_crowd_put_rocket, false, true},
    {"shots", "shots", hs_crowd_put_shot, false, false},
    {"ticks", "hits", hs_crowd_put_pellets, true, true},
};

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

START_TEST(no_request_passes_its_budget)
{
    struct hs_buffer body = {0};
    char path[64];
    hs_kept_start(&kept, NULL);
    crowd("/v1/matches/m/frames");
    hs_buffer_puts(&body, "{\"now\":" HS_CROWD_NOW ",");
    if (kinds[_i].is_tick) {
        hs_crowd_put_frames(&body, HS_CROWD_FRAMES);
        hs_buffer_puts(&body, ",");
    }
    hs_crowd_put_items(&body, kinds[_i].key, kinds[_i].put);
    hs_buffer_puts(&body, "}");
    snprintf(path, sizeof path, "/v1/matches/m/%s", kinds[_i].route);
    char *answer = post(path, &body);
    double work = metric("hindsight_work_units_total");
    ck_assert_msg(work > 0 && work <= BUDGET + BEYOND, "%.0f units", work);
    size_t over = count_of(answer, "\"reason\":\"over_budget\"");
    ck_assert_msg((over > 0) == kinds[_i].is_over, "%zu over the budget", over);
    ck_assert_uint_eq(count_of(answer, "\"retry_after_ms\":50"), over);
    ck_assert_double_eq(metric("hindsight_verdicts_total{kind=\"hit\",verdict=\"inconclusive\","
                               "reason=\"over_budget\",mode=\"enforce\"}"),
                        (double)over);
    free(answer);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- items that did not fit ---- */

static double place(int i, bool is_y)
{
    double angle = 6.28 * i / HS_CROWD_PLAYERS;
    return i == 0 ? 0 : 1000 * (is_y ? sin(angle) : cos(angle));
}

/* Places all other players around p0. */
static void ring(const char *path)
{
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"frames\":[");
    for (int step = 0; step < HS_CROWD_FRAMES; step++) {
        hs_buffer_printf(&body, "%s{\"time\":%.3f,\"players\":[", step > 0 ? "," : "",
                         10 + 0.01 * step);
        for (int i = 0; i < HS_CROWD_PLAYERS; i++)
            hs_buffer_printf(&body, "%s{\"player\":\"p%d\",\"position\":[%.3f,%.3f,0]}",
                             i > 0 ? "," : "", i, place(i, false), place(i, true));
        hs_buffer_puts(&body, "]}");
    }
    hs_buffer_puts(&body, "]}");
    free(post(path, &body));
}

/* Writes a hit of p0. Every other player hits p0 once. */
static void put_accepted(struct hs_buffer *to, int i)
{
    hs_buffer_printf(
        to,
        "{\"shot\":1,\"shooter\":\"p%d\",\"weapon\":\"rifle\",\"hit_time\":" HS_CROWD_NOW
        ",\"start\":[%.3f,%.3f,160],\"end\":[0,0,100],\"target\":\"p0\"}",
        i, place(i, false), place(i, true));
}

static json_t *judge_one(int i)
{
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"now\":" HS_CROWD_NOW ",\"hits\":[");
    put_accepted(&body, i);
    hs_buffer_puts(&body, "]}");
    char *text = post("/v1/matches/m/hits", &body);
    json_t *answer = json_loads(text, 0, NULL);
    json_t *result = json_incref(json_array_get(json_object_get(answer, "results"), 0));
    json_decref(answer);
    free(text);
    return result;
}

static void assert_text(const json_t *result, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(result, key));
    ck_assert_msg(text != NULL && strcmp(text, wanted) == 0, "%s is %s, not %s", key, text, wanted);
}

/* Sends an item that did not fit again, alone in a request. Then the item is verified and paid
   once. */
static void send_again(const json_t *over)
{
    int shooter = atoi(json_string_value(json_object_get(over, "shooter")) + 1);
    json_t *result = judge_one(shooter);
    assert_text(result, "reason", "ok");
    ck_assert(json_is_false(json_object_get(result, "replayed")));
    assert_text(result, "verdict_id", json_string_value(json_object_get(over, "verdict_id")));
    json_decref(result);
    result = judge_one(shooter);
    ck_assert(json_is_true(json_object_get(result, "replayed")));
    json_decref(result);
}

START_TEST(items_that_did_not_fit_are_verified_later)
{
    static const char *const arguments[] = {"--request-work", "100000", NULL};
    struct hs_buffer body = {0};
    hs_kept_start(&kept, arguments);
    ring("/v1/matches/m/frames");
    hs_buffer_puts(&body, "{\"now\":" HS_CROWD_NOW ",\"hits\":[");
    for (int i = 1; i < HS_CROWD_PLAYERS; i++) {
        hs_buffer_puts(&body, i > 1 ? "," : "");
        put_accepted(&body, i);
    }
    hs_buffer_puts(&body, "]}");
    char *text = post("/v1/matches/m/hits", &body);
    json_t *answer = json_loads(text, 0, NULL);
    const json_t *results = json_object_get(answer, "results"), *result;
    size_t i, over = 0;
    ck_assert_uint_eq(json_array_size(results), HS_CROWD_PLAYERS - 1);
    json_array_foreach(results, i, result)
    {
        bool is_over = strcmp(json_string_value(json_object_get(result, "verdict")), "accepted");
        ck_assert_int_eq(atoi(json_string_value(json_object_get(result, "shooter")) + 1),
                         (int)i + 1);
        if (!is_over)
            continue;
        assert_text(result, "verdict", "inconclusive");
        assert_text(result, "reason", "over_budget");
        ck_assert_int_eq(json_integer_value(json_object_get(result, "retry_after_ms")), 1);
        send_again(result);
        over++;
    }
    ck_assert_msg(over > 0 && over < HS_CROWD_PLAYERS - 1, "%zu over the budget", over);
    json_decref(answer);
    free(text);
    text = hs_kept_get(&kept, "/v1/matches/m");
    ck_assert_uint_eq(count_of(text, "over_budget"), 0);
    free(text);
    hs_kept_stop(&kept);
}
END_TEST

/* `recheck` gets the same answers from a recording of such requests. */
START_TEST(recordings_hold_what_did_not_fit)
{
    char path[128];
    snprintf(path, sizeof path, "%s/stream.jsonl", kept.directory);
    const char *const arguments[] = {"--request-work", "100000", "--record", path, NULL};
    struct hs_buffer body = {0};
    hs_kept_start(&kept, arguments);
    crowd("/v1/matches/m/frames");
    hs_buffer_puts(&body, "{\"now\":" HS_CROWD_NOW ",");
    hs_crowd_put_items(&body, "hits", hs_crowd_put_bullet);
    hs_buffer_puts(&body, "}");
    char *answer = post("/v1/matches/m/hits", &body);
    ck_assert_uint_gt(count_of(answer, "over_budget"), 0);
    free(answer);
    json_decref(judge_one(HS_CROWD_PLAYERS - 1));
    hs_kept_stop(&kept);
    struct hs_test_run run;
    HS_TEST_RUN(&run, "recheck", path);
    ck_assert_msg(run.code == 0, "%s%s", run.out, run.err);
}
END_TEST

/* ---- waiting for a match ---- */

#define RIG_BOXES 100

/* Puts a ruleset with a rig that makes claims as expensive as allowed. */
static void put_dear_ruleset(const char *weapons)
{
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"zones\":{\"body\":1},\"rigs\":{\"body\":{\"bones\":[\"root\"],"
                          "\"hitboxes\":[");
    for (int i = 0; i < RIG_BOXES; i++)
        hs_buffer_printf(&body,
                         "%s{\"bone\":\"root\",\"zone\":\"body\",\"shape\":\"box\","
                         "\"half_extents\":[20,20,%d]}",
                         i > 0 ? "," : "", 50 + i);
    hs_buffer_printf(&body,
                     "],\"stances\":{\"stand\":{\"eye\":[0,0,160],"
                     "\"bones\":[[0,0,100,0,0,0,1]]}}}},\"weapons\":{%s}}",
                     weapons);
    hs_buffer_append(&body, "", 1);
    char *answer = NULL;
    long status = hs_kept_send(&kept, "PUT", "/v1/rulesets/dear", body.data, &answer);
    ck_assert_msg(status == 201, "%ld: %s", status, answer);
    free(answer);
    hs_buffer_free(&body);
}

struct heavy {
    unsigned port;
    char *body;
    long status;
    atomic_bool is_done;
};

static void *run_heavy(void *context)
{
    struct heavy *heavy = context;
    heavy->status = hs_test_http_status(heavy->port, "POST", "/v1/matches/dear/hits", heavy->body);
    atomic_store(&heavy->is_done, true);
    return NULL;
}

/* Begins a request with many expensive claims. */
static pthread_t begin_heavy(struct heavy *heavy)
{
    struct hs_buffer body = {0};
    put_dear_ruleset("\"shotgun\":{\"type\":\"hitscan\",\"damage\":1,\"range\":5000,\"radius\":1,"
                     "\"pellets\":16}");
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/dear", "{\"ruleset\":\"dear\"}"),
                     201);
    crowd("/v1/matches/dear/frames");
    hs_buffer_puts(&body, "{\"now\":" HS_CROWD_NOW ",\"hits\":[");
    for (int i = 0; i < 300; i++) {
        hs_buffer_puts(&body, i > 0 ? "," : "");
        hs_crowd_put_pellets(&body, i + 1);
    }
    hs_buffer_puts(&body, "]}");
    hs_buffer_append(&body, "", 1);
    ck_assert(!body.failed);
    *heavy = (struct heavy){.port = kept.service.data_port, .body = body.data};
    pthread_t thread;
    double before = metric("hindsight_work_units_total");
    ck_assert_int_eq(pthread_create(&thread, NULL, run_heavy, heavy), 0);
    while (metric("hindsight_work_units_total") == before && !atomic_load(&heavy->is_done))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return thread;
}

static const char *const unbounded[] = {"--request-work", "300000000", NULL};

/* While the claims of a request are verified for seconds, the match can be read and saved, and
   /livez reports that the service is alive. */
START_TEST(other_requests_run_between_claims)
{
    struct heavy heavy;
    hs_kept_start(&kept, unbounded);
    pthread_t thread = begin_heavy(&heavy);
    double written = metric(HS_KEPT_WRITTEN);
    int shown = 0, saved = 0;
    for (; !atomic_load(&heavy.is_done); shown++) {
        free(hs_kept_get(&kept, "/v1/matches/dear"));
        ck_assert_int_eq(hs_kept_status(&kept, "GET", "/livez", NULL), 200);
        saved = (int)(metric(HS_KEPT_WRITTEN) - written);
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(heavy.status, 200);
    ck_assert_msg(shown >= 5, "shown %d times", shown);
    ck_assert_msg(saved >= 1, "saved %d times", saved);
    ck_assert_double_eq(metric("hindsight_players_active"), HS_CROWD_PLAYERS);
    free(heavy.body);
    hs_kept_stop(&kept);
}
END_TEST

/* While a long request runs, the only worker of the listener serves other connections. */
START_TEST(workers_go_on)
{
    static const char *const arguments[] = {"--request-work", "300000000", "--threads", "1", NULL};
    struct heavy heavy;
    hs_kept_start(&kept, arguments);
    pthread_t thread = begin_heavy(&heavy);
    int answered = 0;
    for (; !atomic_load(&heavy.is_done); answered++) {
        long status = hs_test_http_status(heavy.port, "POST", "/v1/matches/other/frames",
                                          "{\"frames\":[{\"time\":1,\"players\":[]}]}");
        ck_assert_int_eq(status, 200);
    }
    pthread_join(thread, NULL);
    ck_assert_int_eq(heavy.status, 200);
    ck_assert_msg(answered >= 5, "%d answers", answered);
    free(heavy.body);
    hs_kept_stop(&kept);
}
END_TEST

/* If a match is deleted between two claims of a request, the later claims find no match. */
START_TEST(deleted_between_claims)
{
    struct heavy heavy;
    hs_kept_start(&kept, unbounded);
    pthread_t thread = begin_heavy(&heavy);
    ck_assert(!atomic_load(&heavy.is_done));
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/matches/dear", NULL), 200);
    pthread_join(thread, NULL);
    ck_assert_int_eq(heavy.status, 404);
    ck_assert_double_eq(metric("hindsight_matches_active"), 0);
    ck_assert_double_eq(metric("hindsight_players_active"), 0);
    free(heavy.body);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- rulesets ---- */

/* A ruleset is refused, whether it comes from a file or from a PUT, if a single claim under it
   could cost more than a request may. */
START_TEST(expensive_rulesets_are_refused)
{
    static const char text[] =
        "{\"name\":\"dear\",\"weapons\":{\"rifle\":{\"type\":\"hitscan\"},\"gun\":{"
        "\"type\":\"hitscan\",\"pellets\":64}},\"rigs\":{\"body\":{"
        "\"bones\":[\"root\"],\"stances\":{\"stand\":{\"eye\":[0,0,160],"
        "\"bones\":[[0,0,100,0,0,0,1]]}},\"hitboxes\":[";
    struct hs_buffer body = {0};
    char path[128], *answer = NULL;
    hs_buffer_puts(&body, text);
    for (int i = 0; i < 128; i++)
        hs_buffer_printf(&body,
                         "%s{\"bone\":\"root\",\"zone\":\"torso\",\"shape\":\"sphere\","
                         "\"radius\":50}",
                         i > 0 ? "," : "");
    hs_buffer_puts(&body, "]}}}");
    hs_buffer_append(&body, "", 1);
    hs_kept_start(&kept, NULL);
    long status = hs_kept_send(&kept, "PUT", "/v1/rulesets/dear", body.data, &answer);
    ck_assert_msg(status == 422 || status == 400, "%ld: %s", status, answer);
    hs_kept_holds(answer, "\"pointer\":\"/weapons/gun/pellets\"");
    hs_kept_stop(&kept);
    snprintf(path, sizeof path, "%s/dear.json", kept.directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(body.data, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    struct hs_test_run run;
    HS_TEST_RUN(&run, "check-config", path);
    ck_assert_int_eq(run.code, 1);
    ck_assert_ptr_nonnull(strstr(run.out, "/weapons/gun/pellets: makes one claim cost up to "));
    HS_TEST_RUN(&run, "serve", "--rules", kept.directory, "--data=", "--listen", "127.0.0.1:0",
                "--admin-listen", "127.0.0.1:0");
    ck_assert_int_eq(run.code, 2);
    ck_assert_ptr_nonnull(strstr(run.err, "/weapons/gun/pellets"));
    hs_buffer_free(&body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("work budget");
    TCase *tcase = tcase_create("budget");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, no_request_passes_its_budget, 0, sizeof kinds / sizeof kinds[0]);
    tcase_add_test(tcase, items_that_did_not_fit_are_verified_later);
    tcase_add_test(tcase, recordings_hold_what_did_not_fit);
    tcase_add_test(tcase, other_requests_run_between_claims);
    tcase_add_test(tcase, workers_go_on);
    tcase_add_test(tcase, deleted_between_claims);
    tcase_add_test(tcase, expensive_rulesets_are_refused);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
