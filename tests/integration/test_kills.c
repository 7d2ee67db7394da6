/* SIGKILL at random moments under load. A follower records every shot and hit: no answered payment
   is lost, nothing is paid twice, no verdict id changes, and no honest claim is refused. HS_KILLS
   sets how often the service is killed. HS_SEED seeds the game. */
#include "tests/integration/kill_game.h"
#include "tests/support/clock.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/play/follower.h"
#include "tests/support/play/gallery.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/program.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_KILLS = 8 };

static struct hs_test_kept kept;
static char recording[96]; /* value of --record; empty: no recording */

static void setup(void)
{
    hs_kept_setup(&kept);
    recording[0] = '\0';
    hs_kept_write_rules(&kept, "game", hs_kill_game_rules);
    hs_kept_write_rules(&kept, "gallery", hs_gallery_rules);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

/* `idle_seconds` is the value of --match-idle-seconds. If it is set, checkpoints are written only
   at the start and the end of the service. If it is "", both options have their defaults. */
static void start_with(const char *idle_seconds)
{
    const char *more[12] = {"--rules", kept.rules, "--default-ruleset", "game", "--threads", "3"};
    if (idle_seconds[0] != '\0') {
        more[6] = "--match-idle-seconds";
        more[7] = idle_seconds;
        more[8] = "--checkpoint-seconds";
        more[9] = "3600";
    } else if (recording[0] != '\0') {
        more[6] = "--record";
        more[7] = recording;
    }
    hs_kept_start(&kept, more);
}

static void start(void)
{
    start_with("");
}

static void start_gallery(void)
{
    const char *const more[] = {"--rules", kept.rules, "--default-ruleset", "gallery", NULL};
    hs_kept_start(&kept, more);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* Kills a start just before or after it is complete, because reading the files back also changes
   them. */
static void start_in_vain(struct hs_random *random)
{
    const char *program = getenv("HS_PROGRAM");
    ck_assert_ptr_nonnull(program);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || null < 0 ||
            dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
            _exit(127);
        execl(program, program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
              "--data", kept.data, "--rules", kept.rules, "--default-ruleset", "game",
              (char *)NULL);
        _exit(127);
    }
    pause_us(hs_random_index(random, 20000));
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Returns for how long the service lives. Mostly this time is too short to write a checkpoint;
   sometimes it ends at about the moment when one is written. */
static long life_us(struct hs_random *random)
{
    int kind = hs_random_index(random, 10);
    if (kind < 6)
        return hs_random_index(random, 120000);
    if (kind < 9)
        return hs_random_index(random, 400000);
    return 950000 + hs_random_index(random, 150000);
}

static void live_and_die(struct hs_kill_game *game, struct hs_random *random)
{
    start();
    hs_kill_game_begin(game, kept.service.data_port, 1 << 30);
    pause_us(life_us(random));
    hs_kill_game_dies(game);
    hs_kept_kill(&kept);
    hs_kill_game_end(game);
}

/* Plays against a service that ends without a kill. */
static void live(struct hs_kill_game *game, int ticks)
{
    start();
    hs_kill_game_begin(game, kept.service.data_port, ticks);
    hs_kill_game_end(game);
    hs_kept_stop(&kept);
}

static void judge_totals(const struct hs_kill_game *game, long kills, double seconds)
{
    struct hs_kill_game_totals totals;
    hs_kill_game_total(game, &totals);
    printf("%ld kills in %.1f s, %ld ticks, %ld sessions, %ld reopened matches, %ld requests "
           "without answer\n",
           kills, seconds, totals.ticks, totals.sessions, totals.openings, totals.unanswered);
    ck_assert_int_eq(hs_follow_counts_print(&totals.follow), 0);
    ck_assert_int_ge(totals.follow.paid, 20 * (kills + 1));
    ck_assert_int_ge(totals.follow.replayed, 20 * (kills + 1));
    ck_assert_int_ge(totals.sessions, 24);
    ck_assert_int_ge(totals.openings, 1);
}

/* HS_KILLS=0 tests the follower itself, which must then count no fault. */
static long kills_wanted(long fallback)
{
    const char *text = getenv("HS_KILLS");
    return text != NULL && strcmp(text, "0") == 0 ? 0 : hs_test_count("HS_KILLS", fallback);
}

START_TEST(nothing_answered_is_lost)
{
    enum { LAST_TICKS = 400 };
    uint64_t seed = hs_test_seed(20261003);
    long kills = kills_wanted(DEFAULT_KILLS);
    struct hs_random random = hs_random_start(seed, 1);
    struct hs_follower *follower = hs_follower_create();
    struct hs_kill_game *game = hs_kill_game_create(seed, follower);
    double began = hs_test_seconds();
    printf("seed %llu\n", (unsigned long long)seed);
    for (long i = 0; i < kills; i++) {
        if (hs_random_chance(&random, 0.25))
            start_in_vain(&random);
        live_and_die(game, &random);
    }
    live(game, LAST_TICKS);
    live(game, 1); /* an end by SIGTERM loses nothing either */
    judge_totals(game, kills, hs_test_seconds() - began);
    hs_kill_game_destroy(game);
    hs_follower_destroy(follower);
}
END_TEST

/* A recording continues after each kill. Checking it again gives the same answers. */
START_TEST(recordings_survive_kills)
{
    enum { KILLS = 4, LAST_TICKS = 100 };
    uint64_t seed = hs_test_seed(20261005);
    struct hs_random random = hs_random_start(seed, 3);
    struct hs_follower *follower = hs_follower_create();
    struct hs_kill_game *game = hs_kill_game_create(seed, follower);
    struct hs_test_run run;
    printf("seed %llu\n", (unsigned long long)seed);
    snprintf(recording, sizeof recording, "%s/game.stream", kept.directory);
    for (int i = 0; i < KILLS; i++)
        live_and_die(game, &random);
    live(game, LAST_TICKS);
    live(game, LAST_TICKS);
    hs_kill_game_destroy(game);
    hs_follower_destroy(follower);
    HS_TEST_RUN(&run, "recheck", recording, "--json");
    ck_assert_msg(run.code == 0, "%s%s", run.out, run.err);
    json_t *report = json_loads(run.out, 0, NULL);
    json_int_t claims = json_integer_value(json_object_get(report, "claims"));
    ck_assert_int_gt(claims, 500);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "identical")),
                     claims + json_integer_value(json_object_get(report, "moves")));
    ck_assert_int_ge(json_integer_value(json_object_get(report, "matches_restored")), KILLS);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "gaps")), 0);
    json_decref(report);
}
END_TEST

/* ---- requests interrupted by a kill ---- */

/* Sends all claims of a gallery in one request, which has a long answer. Returns false if there is
   no answer. */
static bool send_batch(struct hs_gallery *gallery)
{
    char *list = NULL, path[64];
    size_t size;
    FILE *out = open_memstream(&list, &size);
    ck_assert_ptr_nonnull(out);
    for (int i = 0; i < HS_GALLERY_CLAIMS; i++)
        fprintf(out, "%s%s", i > 0 ? "," : ",\"hits\":[", gallery->claims[i].text);
    fputc(']', out);
    fclose(out);
    char *body = hs_gallery_body(false, list);
    free(list);
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/%s/hits?explain=true", gallery->match);
    hs_test_http_send(kept.http, "POST", path, body, strlen(body), NULL, &response);
    free(body);
    json_t *answer = hs_test_response_json(&response);
    const json_t *results = json_object_get(answer, "results");
    bool is_answered = json_array_size(results) == HS_GALLERY_CLAIMS;
    for (size_t i = 0; is_answered && i < HS_GALLERY_CLAIMS; i++)
        hs_gallery_take(gallery, &gallery->claims[i], json_array_get(results, i));
    ck_assert_msg(is_answered || response.status == 0, "%ld %.300s", response.status,
                  response.body);
    json_decref(answer);
    hs_test_response_free(&response);
    return is_answered;
}

static void *kill_soon(void *context)
{
    pause_us(*(long *)context);
    kill(kept.service.pid, SIGKILL);
    return NULL;
}

/* Payments of a request stay paid if the service is killed before it answers. */
START_TEST(a_request_is_cut_by_a_kill)
{
    enum { ROUNDS = 6, MOST_US = 40000 };
    uint64_t seed = hs_test_seed(20261004);
    struct hs_random random = hs_random_start(seed, 2);
    struct hs_follower *follower = hs_follower_create();
    int cut = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    start_gallery();
    for (int round = 0; round < ROUNDS; round++) {
        char match[16];
        pthread_t killer;
        long us = hs_random_index(&random, MOST_US);
        snprintf(match, sizeof match, "m%d", round);
        struct hs_gallery *gallery = hs_gallery_create(match, follower, (uint64_t)round);
        ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
        ck_assert_int_eq(pthread_create(&killer, NULL, kill_soon, &us), 0);
        cut += send_batch(gallery) ? 0 : 1;
        pthread_join(killer, NULL);
        for (int again = 0; again < 2; again++) {
            hs_kept_kill(&kept);
            start_gallery();
            ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
            ck_assert(send_batch(gallery));
        }
        hs_gallery_judge(gallery, match);
        hs_gallery_destroy(gallery);
    }
    printf("%d of %d requests were cut\n", cut, ROUNDS);
    hs_kept_stop(&kept);
    hs_follower_destroy(follower);
}
END_TEST

/* ---- idle matches ---- */

/* Posts the first frames of a match and one hit. The caller frees the answer. */
static char *play(int shot)
{
    static const char frames[] =
        "{\"frames\":[{\"time\":10.1,\"players\":[{\"player\":\"s\",\"position\":[0,0,0],"
        "\"weapon\":\"rifle\"},{\"player\":\"t\",\"position\":[10,0,0]}]},"
        "{\"time\":10.2,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]},"
        "{\"player\":\"t\",\"position\":[10,0,0]}]}]}";
    char body[256];
    free(hs_kept_post(&kept, "/v1/matches/m/frames", frames));
    snprintf(body, sizeof body,
             "{\"now\":10.2,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%g,"
             "\"start\":[0,0,1.6],\"end\":[20,0,1.6],\"target\":\"t\"}]}",
             shot, 10 + 0.1 * shot);
    return hs_kept_post(&kept, "/v1/matches/m/hits", body);
}

/* Returns the verdict id in an answer. It is valid until the next call. */
static const char *id_of(const char *answer)
{
    static const char key[] = "\"verdict_id\":\"";
    static char id[33];
    const char *at = strstr(answer, key);
    ck_assert_ptr_nonnull(at);
    snprintf(id, sizeof id, "%.32s", at + sizeof key - 1);
    return id;
}

/* A match that ended because it was idle does not come back after a kill, although the newest
   checkpoint contains it. A match that was opened later under its name comes back with its own
   ids. */
START_TEST(a_match_that_ended_idle_stays_ended)
{
    start();
    char *first = play(1), *second, *third;
    hs_kept_holds(strdup(first), "\"verdict\":\"accepted\"");
    hs_kept_stop(&kept);
    start_with("1");
    for (int tries = 0; tries < 1000 && hs_kept_metric(&kept, "hindsight_matches_active") > 0;
         tries++)
        hs_test_pause_ms(10);
    hs_kept_kill(&kept);
    start_with("3600");
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/matches/m", NULL), 404);
    second = play(1);
    hs_kept_holds(strdup(second), "\"verdict\":\"accepted\"");
    hs_kept_holds(strdup(second), "\"replayed\":false");
    ck_assert_ptr_null(strstr(second, id_of(first)));
    hs_kept_kill(&kept);
    start();
    third = play(1);
    hs_kept_holds(strdup(third), "\"replayed\":true");
    hs_kept_holds(strdup(third), id_of(second));
    hs_kept_holds(play(2), "\"verdict\":\"accepted\"");
    free(first);
    free(second);
    free(third);
    hs_kept_stop(&kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kills");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60 + 3 * (double)kills_wanted(DEFAULT_KILLS));
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_answered_is_lost);
    tcase_add_test(tests, recordings_survive_kills);
    tcase_add_test(tests, a_request_is_cut_by_a_kill);
    tcase_add_test(tests, a_match_that_ended_idle_stays_ended);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
