/* Recordings of real matches, verified over HTTP and compared with the decisions of the game's own
   server. The recordings are not in the tree. The tests look for them in $HS_SHARED_DATA or
   ../shared/data, and are skipped if they find none. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/import/match.h"
#include "cli/play/playback.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;

/* `least_confirmed` is the min share of the server's hits that are confirmed. `most_accepted` is
   the max share of its misses that are accepted. */
static const struct {
    const char *file;
    double grow, least_confirmed, most_accepted; /* units, percent, percent */
} matches[] = {
    {"quakeworld/qw_duel_povdmm4.poses.csv.gz", 0.0, 95.0, 2.5},
    {"quakeworld/qw_duel_tron.poses.csv.gz", 0.0, 94.0, 1.5},
    {"quakeworld/qw_duel_povdmm4.poses.csv.gz", 1.0, 98.0, 5.0},
    {"quakeworld/qw_duel_tron.poses.csv.gz", 1.0, 98.0, 4.2},
    {"csgo/csgo_bcast_overpass.poses.csv.gz", 0.0, 95.0, 5.0},
};

enum { MATCHES = sizeof(matches) / sizeof(matches[0]) };

static void path_of(const char *file, char path[512])
{
    const char *folder = getenv("HS_SHARED_DATA");
    snprintf(path, 512, "%s/%s", folder != NULL ? folder : "../shared/data", file);
}

/* Checks that these matches get no hint of an integration mistake, except that the frames of old
   games have no ping. */
static void check_hints(const char *match)
{
    char path[64];
    long status;
    size_t i;
    const json_t *hint;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    snprintf(path, sizeof(path), "/v1/matches/%s", match);
    json_t *state = hs_test_http_json(http, "GET", path, NULL, &status);
    ck_assert_int_eq(status, 200);
    json_array_foreach(json_object_get(state, "hints"), i, hint)
    {
        const char *code = json_string_value(json_object_get(hint, "code"));
        ck_assert_msg(strcmp(code, "rtt") == 0, "%s: %s", code,
                      json_string_value(json_object_get(hint, "detail")));
    }
    json_decref(state);
    hs_test_http_close(http);
}

START_TEST(verdicts_agree_with_the_games_server)
{
    char path[512], url[64], name[32], error[HS_PLAY_ERROR_MAX] = "";
    path_of(matches[_i].file, path);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", service.data_port);
    snprintf(name, sizeof(name), "real-%d", _i);
    struct hs_playback playback = {.client = hs_client_open(url),
                                   .recording = hs_csv_match_open(path, matches[_i].grow, error),
                                   .tally = hs_tally_create(),
                                   .match = name};
    ck_assert_msg(playback.recording != NULL, "%s", error);
    ck_assert_msg(hs_playback_run(&playback, error), "%s", error);
    double confirmed, accepted;
    ck_assert(hs_tally_accepted(playback.tally, HS_TRUTH_HIT, &confirmed));
    ck_assert(hs_tally_accepted(playback.tally, HS_TRUTH_MISS, &accepted));
    printf("%s, grown by %g: %.2f %% of hits confirmed, %.2f %% of misses accepted\n",
           matches[_i].file, matches[_i].grow, confirmed, accepted);
    fflush(stdout);
    ck_assert_double_ge(confirmed, matches[_i].least_confirmed);
    ck_assert_double_le(accepted, matches[_i].most_accepted);
    check_hints(name);
    hs_tally_destroy(playback.tally);
    hs_recording_close(playback.recording);
    hs_client_close(playback.client);
}
END_TEST

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    Suite *suite = suite_create("real matches");
    TCase *tests = tcase_create("real matches");
    tcase_set_timeout(tests, 120);
    for (int i = 0; i < MATCHES; i++) {
        char path[512];
        path_of(matches[i].file, path);
        if (access(path, R_OK) == 0)
            tcase_add_loop_test(tests, verdicts_agree_with_the_games_server, i, i + 1);
        else
            printf("SKIP: no recording %s\n", path);
    }
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
