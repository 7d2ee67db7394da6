/* The state that survives the process, tested over HTTP after SIGKILL and after SIGTERM. */
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

/* Posts moves with a clock that runs 25 times as fast. The moves use up all credit. */
static char *post_moves(const char *match, int from, int to)
{
    char path[96], body[4096] = "{\"moves\":[";
    size_t len = strlen(body);
    snprintf(path, sizeof path, "/v1/matches/%s/moves", match);
    for (int i = from; i <= to; i++)
        len += (size_t)snprintf(body + len, sizeof body - len,
                                "%s{\"player\":\"s\",\"seq\":%d,\"client_time\":%.2f,"
                                "\"received\":%.2f}",
                                i > from ? "," : "", i, 5 + 0.5 * i, 11 + 0.02 * i);
    snprintf(body + len, sizeof body - len, "]}");
    return hs_kept_post(&kept, path, body);
}

/* Posts one more move after a pause: 0.3 s later by the client's clock, and seconds later by the
   server's. */
static char *post_late_move(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s/moves", match);
    return hs_kept_post(&kept, path,
                        "{\"moves\":[{\"player\":\"s\",\"seq\":31,\"client_time\":20.3,"
                        "\"received\":14}]}");
}

/* Changes each `"replayed":false` of an answer to `"replayed":true`, in place. */
static void say_replayed(char *answer)
{
    static const char was[] = "\"replayed\":false", is[] = "\"replayed\":true";
    for (char *at; (at = strstr(answer, was)) != NULL;) {
        memcpy(at, is, sizeof is - 1);
        memmove(at + sizeof is - 1, at + sizeof was - 1, strlen(at + sizeof was - 1) + 1);
    }
}

static double damage_of(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s/players/s", match);
    json_t *player = hs_test_http_json(kept.http, "GET", path, NULL, NULL);
    ck_assert_ptr_nonnull(player);
    double damage = json_number_value(json_object_get(player, "damage_dealt"));
    json_decref(player);
    return damage;
}

/*
 * After a restart, the service repeats its earlier answers, and a player gains nothing from the end
 * of the process.
 */
static void play_then_check(void (*end)(struct hs_test_kept *), bool waits)
{
    hs_kept_frames(&kept, "m", 10);
    char *hit = hs_kept_hit(&kept, "m", 1, 11), *moves = post_moves("m", 1, 30);
    hs_kept_holds(strdup(hit), "\"verdict\":\"accepted\"");
    hs_kept_holds(strdup(moves), "\"credit\":0,");
    double damage = damage_of("m");
    ck_assert_double_gt(damage, 0);
    if (waits)
        hs_kept_wait(&kept);
    end(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_checkpoint_matches_total{result=\"restored\"}"), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_matches_active"), 1);

    char *hit_again = hs_kept_hit(&kept, "m", 1, 11), *moves_again = post_moves("m", 1, 30);
    say_replayed(hit);
    say_replayed(moves);
    ck_assert_str_eq(hit_again, hit);
    ck_assert_str_eq(moves_again, moves);
    ck_assert_double_eq(damage_of("m"), damage);
    /* There are no poses yet, so a new claim is neither accepted nor rejected. */
    hs_kept_holds(hs_kept_hit(&kept, "m", 2, 11.2), "\"verdict\":\"inconclusive\"");
    ck_assert_double_eq(damage_of("m"), damage);
    /* Seconds have passed since the last move. After a kill the player gets no time for them,
       because the service may have granted more time after the checkpoint. After an orderly end the
       player gets the time. */
    char *late = post_late_move("m");
    hs_kept_holds(strdup(late), waits ? "\"delta_time\":0," : "\"delta_time\":0.125,");
    hs_kept_holds(late, waits ? "\"credit\":0," : "\"credit\":0.225,");
    hs_kept_holds(hs_kept_post(&kept, "/v1/matches/m/frames",
                               "{\"frames\":[{\"time\":14,\"players\":[{\"player\":\"s\","
                               "\"position\":[0,0,0]}]}]}"),
                  "\"need\":\"resync\"");
    hs_kept_frames(&kept, "m", 14.05);
    hs_kept_holds(hs_kept_hit(&kept, "m", 3, 15), "\"verdict\":\"accepted\"");
    ck_assert_double_gt(damage_of("m"), damage);
    free(hit);
    free(moves);
    free(hit_again);
    free(moves_again);
    hs_kept_stop(&kept);
}

START_TEST(after_sigkill)
{
    hs_kept_start(&kept, NULL);
    play_then_check(hs_kept_kill, true);
}
END_TEST

START_TEST(after_sigterm)
{
    hs_kept_start(&kept, NULL);
    play_then_check(hs_kept_stop, false);
}
END_TEST

/* ---- a full disk ---- */

/* If `is_full`, limits the size of each file that the next service writes. The limit is enough for
   its log, but not for a checkpoint. */
static void fill_disk(bool is_full)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = is_full ? 4096 : limit.rlim_max;
    signal(SIGXFSZ, is_full ? SIG_IGN : SIG_DFL); /* SIG_DFL would end the process */
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#define FAILED "hindsight_checkpoints_total{result=\"failed\"}"

static void wait_for_failures(int count)
{
    for (int tries = 0; tries < 1000 && hs_kept_metric(&kept, FAILED) < count; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_ge(hs_kept_metric(&kept, FAILED), count);
}

/* On a full disk the service starts with the files that it can read, and tries to write again
   later. The old checkpoint no longer counts as final (service/checkpoint/file.h). */
START_TEST(a_start_on_a_full_disk)
{
    hs_kept_start(&kept, NULL);
    hs_kept_frames(&kept, "m", 10);
    free(hs_kept_hit(&kept, "m", 1, 11));
    free(post_moves("m", 1, 30));
    hs_kept_stop(&kept);
    for (int times = 0; times < 2; times++) { /* the second round follows a kill */
        fill_disk(true);
        hs_kept_start(&kept, NULL);
        fill_disk(false);
        ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 1);
        hs_kept_holds(hs_kept_hit(&kept, "m", 1, 11), "\"replayed\":true");
        wait_for_failures(2);
        ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_WRITTEN), 0);
        ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_checkpoint_lag_seconds"), 1);
        hs_kept_kill(&kept);
    }
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoint_files_refused_total"), 0);
    char *late = post_late_move("m"); /* after a kill no time is granted */
    hs_kept_holds(strdup(late), "\"delta_time\":0,");
    hs_kept_holds(late, "\"credit\":0,");
    hs_kept_stop(&kept);
}
END_TEST

/* While the disk is full no match can be opened, because its payments could not be saved. When the
   disk has space again, matches can be opened without a restart. */
START_TEST(a_disk_with_space_again)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    fill_disk(true);
    hs_kept_start(&kept, NULL); /* this service starts with an empty directory */
    fill_disk(false);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{}"), 503);
    ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_journal_records_total{result=\"failed\"}"),
                        1);
    ck_assert_int_eq(prlimit(kept.service.pid, RLIMIT_FSIZE, &limit, NULL), 0);
    hs_kept_frames(&kept, "m", 10);
    free(hs_kept_hit(&kept, "m", 1, 11));
    hs_kept_kill(&kept);
    hs_kept_start(&kept, NULL);
    hs_kept_holds(hs_kept_hit(&kept, "m", 1, 11), "\"replayed\":true");
    hs_kept_stop(&kept);
}
END_TEST

/* ---- between two checkpoints ---- */

/* A crash loses no answered payment, whether or not the newest checkpoint contains it. */
START_TEST(no_payment_is_lost)
{
    enum { SHOTS = 60 };
    hs_kept_start(&kept, NULL);
    for (int shot = 1; shot <= SHOTS; shot++) {
        hs_kept_frames(&kept, "m", 10 + 3 * shot); /* the time between two shots is long enough to
                                                      reload */
        hs_kept_holds(hs_kept_hit(&kept, "m", shot, 11 + 3 * shot), "\"verdict\":\"accepted\"");
        hs_test_pause_ms(25);
    }
    hs_kept_kill(&kept);
    hs_kept_start(&kept, NULL);
    for (int shot = 1; shot <= SHOTS; shot++)
        hs_kept_holds(hs_kept_hit(&kept, "m", shot, 11 + 3 * shot), "\"replayed\":true");
    hs_kept_stop(&kept);
}
END_TEST

/* ---- traffic ---- */

static atomic_bool is_over;

static void *send_ticks(void *context)
{
    int number = *(int *)context;
    struct hs_test_http *own = hs_test_http_open(kept.service.data_port);
    char path[64], body[1024];
    long *failed = calloc(1, sizeof *failed);
    for (int i = 1; !atomic_load(&is_over); i++) {
        double time = 10 + 0.05 * i;
        /* Two of the four threads use the same match. Sometimes one of them ends the match. */
        snprintf(path, sizeof path, "/v1/matches/m%d%s", number / 2, i % 97 == 0 ? "" : "/ticks");
        snprintf(
            body, sizeof body,
            "{\"now\":%.2f,\"frames\":[{\"time\":%.2f,\"players\":[{\"player\":\"s%d\","
            "\"position\":[0,0,0]},{\"player\":\"t\",\"position\":[500,0,0]%s}]}],"
            "\"moves\":[{\"player\":\"s%d\",\"seq\":%d,\"client_time\":%.2f,\"received\":%.2f}],"
            "\"hits\":[{\"shot\":%d,\"shooter\":\"s%d\",\"weapon\":\"rifle\",\"hit_time\":%.2f,"
            "\"start\":[0,0,160],\"end\":[500,%d,160],\"target\":\"t\"}]}",
            time, time, number, i % 50 == 0 ? ",\"event\":\"leave\"" : "", number, i, time, time, i,
            number, time, i % 20);
        struct hs_test_response response;
        bool ends = i % 97 == 0;
        hs_test_http_send(own, ends ? "DELETE" : "POST", path, ends ? NULL : body,
                          ends ? 0 : strlen(body), NULL, &response);
        *failed += response.status != 200 && !(ends && response.status == 404);
        hs_test_response_free(&response);
    }
    hs_test_http_close(own);
    return failed;
}

/* Puts and deletes maps and rulesets, and a match that uses them. */
static void *change_maps(void *context)
{
    struct hs_test_http *own = hs_test_http_open(kept.service.data_port);
    char wall[128], rules[64];
    long *failed = calloc(1, sizeof *failed);
    (void)context;
    for (int i = 1; !atomic_load(&is_over); i++) {
        snprintf(wall, sizeof wall, "{\"boxes\":[{\"min\":[%d,-100,0],\"max\":[260,100,300]}]}",
                 i % 5);
        snprintf(rules, sizeof rules, "{\"name\":\"r\",\"up\":\"+%c\"}", i % 2 == 0 ? 'y' : 'z');
        const struct {
            const char *method, *path, *body;
        } sent[] = {{"PUT", "/v1/rulesets/r", rules},
                    {"PUT", "/v1/maps/hall", wall},
                    {"PUT", "/v1/matches/x", "{\"ruleset\":\"r\",\"map\":\"hall\"}"},
                    {"DELETE", "/v1/maps/hall", NULL},
                    {"DELETE", i % 4 == 0 ? "/v1/matches/x" : "/v1/matches/y", NULL}};
        for (size_t k = 0; k < sizeof sent / sizeof sent[0]; k++) {
            struct hs_test_response response;
            const char *body = sent[k].body;
            hs_test_http_send(own, sent[k].method, sent[k].path, body,
                              body != NULL ? strlen(body) : 0, NULL, &response);
            bool fine = response.status / 100 == 2 || (k == 4 && response.status == 404);
            *failed += !fine;
            hs_test_response_free(&response);
        }
    }
    hs_test_http_close(own);
    return failed;
}

/* The service writes checkpoints while requests use the same matches. This test is also run under
   ThreadSanitizer. */
START_TEST(beside_traffic)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS + 1];
    int numbers[THREADS];
    hs_kept_start(&kept, NULL);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, send_ticks, &numbers[i]), 0);
    }
    ck_assert_int_eq(pthread_create(&threads[THREADS], NULL, change_maps, NULL), 0);
    hs_kept_wait(&kept);
    hs_kept_wait(&kept);
    atomic_store(&is_over, true);
    for (int i = 0; i <= THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_int_eq(*(long *)failed, 0);
        free(failed);
    }
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_checkpoints_total{result=\"failed\"}"), 0);
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_checkpoint_map_files_total{result=\"failed\"}"), 0);
    double matches = hs_kept_metric(&kept, "hindsight_matches_active");
    hs_kept_stop(&kept);
    hs_kept_start(&kept, NULL);
    ck_assert_double_eq(hs_kept_metric(&kept, HS_KEPT_RESTORED), matches);
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_checkpoint_maps_total{result=\"missing\"}"), 0);
    hs_kept_stop(&kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, after_sigkill);
    tcase_add_test(tests, after_sigterm);
    tcase_add_test(tests, a_start_on_a_full_disk);
    tcase_add_test(tests, a_disk_with_space_again);
    tcase_add_test(tests, no_payment_is_lost);
    tcase_add_test(tests, beside_traffic);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
