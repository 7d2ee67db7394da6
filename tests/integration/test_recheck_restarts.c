/* Recordings of services that are stopped, killed and started again, and of matches without enough
   memory. All compared answers are identical. Missing parts are reported as a gap. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/recordings.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/random.h"

static struct hs_test_service service;

/* ---- restarts ---- */

START_TEST(a_restarted_service_continues_the_file)
{
    struct hs_recheck result;
    struct stat status;
    const char *path = hs_recordings_file("restart.stream");
    hs_record_little(path, "little", true);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(truncate(path, status.st_size - 40), 0); /* as if the service was killed in the
                                                                 middle of a line */
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert_int_eq(hs_recheck_number(&result, "interrupted"), 1);
    ck_assert_int_eq(hs_recheck_number(&result, "identical"), 89);
    json_decref(result.report);
    /* After the restart, the same name means another match. */
    hs_record_little(path, "little", false);
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s", result.program.err);
    ck_assert_int_eq(hs_recheck_number(&result, "interrupted"), 1);
    ck_assert_int_eq(hs_recheck_number(&result, "matches"), 2);
    ck_assert_int_eq(hs_recheck_number(&result, "identical"), 89 + 90);
    json_decref(result.report);
    HS_RECHECK(&result, "recheck", path);
    ck_assert_ptr_nonnull(strstr(result.program.out, "1 lines end in the middle"));
}
END_TEST

/* Records traffic over three runs of a service, which restores its matches each time. The first run
   ends by SIGTERM. The second run ends by SIGKILL or SIGTERM, with no checkpoint except the one at
   its start. `sum` gets the claims of all three runs. */
static void record_lives(const char *path, bool kill_it, struct hs_traffic *sum)
{
    static const int until[] = {100, 130, HS_TRAFFIC_TICKS};
    char data[160];
    snprintf(data, sizeof data, "%s.data", path);
    const char *extra[] = {"--record", path, "--default-ruleset",    "metres", "--threads", "4",
                           "--data",   data, "--checkpoint-seconds", "3600",   NULL};
    for (int life = 0; life < 3; life++) {
        ck_assert(hs_test_service_start(&service, extra));
        hs_traffic_play_part(service.data_port, hs_test_seed(7), life > 0 ? until[life - 1] : 0,
                             until[life], sum);
        ck_assert_msg(sum->fault[0] == '\0', "%s", sum->fault);
        ck_assert(hs_metric(&service, "hindsight_record_dropped_total") == 0);
        hs_record_wait(&service);
        bool dies = kill_it && life == 1;
        if (dies)
            kill(service.pid, SIGKILL);
        ck_assert(hs_test_service_stop(&service) != dies);
    }
}

/* Matches and their recordings continue after a restart, because the recording contains the saved
   state. */
START_TEST(recordings_go_on_after_a_restart)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    const char *path = hs_recordings_file(_i == 0 ? "stopped.stream" : "killed.stream");
    record_lives(path, _i != 0, &sum);
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "gaps")), 0);
    ck_assert_int_eq(hs_recheck_number(&result, "claims") + hs_recheck_number(&result, "moves"),
                     (json_int_t)sum.claims);
    ck_assert_int_eq(hs_recheck_number(&result, "identical"), (json_int_t)sum.claims);
    ck_assert_int_eq(hs_recheck_number(&result, "replayed"), (json_int_t)sum.replayed);
    ck_assert_int_eq(hs_recheck_number(&result, "matches_restored"), 2 * (HS_TRAFFIC_OWN + 1));
    ck_assert_ptr_nonnull(strstr(result.program.out, "fast_clock_proven"));
    json_decref(result.report);
    HS_RECHECK(&result, "recheck", path);
    ck_assert_ptr_nonnull(strstr(result.program.out, "8 of them restored after a restart"));
    /* If another program saved a state, it cannot be loaded, so its match is a gap. */
    const char *other = hs_record_copy(path, "other-state.stream", "\"state\":\"", "\"state\":\"/");
    HS_RECHECK(&result, "recheck", other, "--json");
    ck_assert_int_eq(hs_recheck_number(&result, "matches_restored"), 2 * (HS_TRAFFIC_OWN + 1) - 1);
    ck_assert_int_eq(hs_recheck_number(&result, "flipped"), 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "its state is damaged"));
    json_decref(result.report);
}
END_TEST

/* A match whose saved state does not fit into the queue is a gap in the next file. */
START_TEST(a_state_that_is_too_large_is_a_gap)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    const char *path = hs_recordings_file("large.stream"),
               *next = hs_recordings_file("next.stream");
    char data[160];
    snprintf(data, sizeof data, "%s.data", path);
    const char *extra[] = {"--record", next, "--record-queue-bytes", "65536", "--data", data, NULL};
    record_lives(path, false, &sum);
    ck_assert(hs_test_service_start(&service, extra));
    ck_assert(hs_test_service_stop(&service));
    HS_RECHECK(&result, "recheck", next);
    ck_assert_int_eq(result.program.code, 0);
    ck_assert_ptr_nonnull(strstr(result.program.out, "gaps: these matches are not compared until"));
    ck_assert_ptr_nonnull(
        strstr(result.program.out, ": its saved state does not fit into --record-queue-bytes\n"));
}
END_TEST

/* If `recheck` uses other rules, a restored match continues from its own state, not from the
   recorded state. Here the other rules equal the recorded ones, so nothing may change. */
START_TEST(other_rules_go_on_after_a_restart)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    long status;
    const char *path = hs_recordings_file("other-lives.stream"),
               *rules = hs_recordings_file("same.json");
    record_lives(path, false, &sum);
    ck_assert(hs_test_service_start(&service, NULL));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_object_set_new(json_object_get(answer, "ruleset"), "name", json_string("same"));
    ck_assert_int_eq(json_dump_file(json_object_get(answer, "ruleset"), rules, 0), 0);
    json_decref(answer);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    HS_RECHECK(&result, "recheck", path, "--rules", rules, "--ruleset", "metres", "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_msg(json_array_size(json_object_get(result.report, "gaps")) == 0, "%s",
                  result.program.out);
    ck_assert_int_eq(hs_recheck_number(&result, "matches_restored"),
                     2); /* the shared match was restored twice */
    ck_assert_int_gt(hs_recheck_number(&result, "unchanged"), (json_int_t)sum.claims / 2);
    ck_assert_int_eq(hs_recheck_number(&result, "claims") + hs_recheck_number(&result, "moves"),
                     hs_recheck_number(&result, "unchanged"));
    json_decref(result.report);
}
END_TEST

/* ---- matches without enough memory ---- */

static const char *const match_bytes[] = {"65536", "70000", "100000", "150000", "250000"};

/* Traffic of matches that drop state sooner or later because memory is too small. The recording
   must not contain requests that a replay with more memory would answer differently. */
START_TEST(answers_that_memory_decided_are_not_computed_again)
{
    struct hs_recheck result;
    struct hs_traffic sum;
    const char *path = hs_recordings_file(match_bytes[_i]);
    const char *extra[] = {"--record",      path, "--default-ruleset", "metres", "--match-bytes",
                           match_bytes[_i], NULL};
    ck_assert(hs_test_service_start(&service, extra));
    hs_traffic_play(service.data_port, hs_test_seed(7), &sum);
    ck_assert_msg(sum.fault[0] == '\0', "%s", sum.fault);
    ck_assert(hs_test_service_stop(&service));
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_eq(hs_recheck_number(&result, "flipped"), 0);
    ck_assert_uint_gt(json_array_size(json_object_get(result.report, "gaps")), 0);
    json_decref(result.report);
}
END_TEST

/* If the first request of a match does not fit, the recording has only a gap for it. */
START_TEST(a_match_without_memory_from_its_first_request)
{
    struct hs_recheck result;
    long status;
    const char *path = hs_recordings_file("short.stream");
    const char *extra[] = {"--record", path, "--match-bytes", "65536", NULL};
    ck_assert(hs_test_service_start(&service, extra));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *players = json_array();
    for (int i = 0; i < 100; i++)
        json_array_append_new(players, json_pack("{so, s[iii]}", "player", json_sprintf("p%d", i),
                                                 "position", i, 2, 3));
    json_t *frames = json_pack("{s[{sf, so}]}", "frames", "time", 1.0, "players", players);
    for (int i = 0; i < 2; i++) {
        json_t *answer = hs_test_http_json(http, "POST", "/v1/matches/short/frames",
                                           json_incref(frames), &status);
        ck_assert_int_eq(status, 200);
        ck_assert_uint_gt(json_array_size(json_object_get(answer, "refused")), 0);
        json_decref(answer);
    }
    json_decref(frames);
    ck_assert_double_eq(hs_metric(&service, "hindsight_record_dropped_total"), 2);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    HS_RECHECK(&result, "recheck", path, "--json");
    ck_assert_msg(result.program.code == 0, "%s%s", result.program.out, result.program.err);
    ck_assert_int_eq(hs_recheck_number(&result, "matches"), 0);
    ck_assert_int_eq(hs_recheck_number(&result, "requests"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "gaps")), 1);
    json_decref(result.report);
    HS_RECHECK(&result, "recheck", path);
    ck_assert_ptr_nonnull(
        strstr(result.program.out, "short  from line 2 on: requests are missing"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recheck restarts");
    TCase *tests = tcase_create("restarts");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_restarted_service_continues_the_file);
    tcase_add_loop_test(tests, recordings_go_on_after_a_restart, 0, 2);
    tcase_add_test(tests, a_state_that_is_too_large_is_a_gap);
    tcase_add_test(tests, other_rules_go_on_after_a_restart);
    tcase_add_test(tests, a_match_without_memory_from_its_first_request);
    tcase_add_loop_test(tests, answers_that_memory_decided_are_not_computed_again, 0,
                        sizeof match_bytes / sizeof match_bytes[0]);
    suite_add_tcase(suite, tests);
    return hs_recordings_run(suite);
}
