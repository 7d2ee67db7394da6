/* What outlives the process, seen over HTTP: after SIGKILL, after SIGTERM, from damaged files. */
#include "tests/support/http.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[64], data[96];
static struct hs_test_service service;
static struct hs_test_http *http;

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", data, name);
    return path;
}

static void setup(void)
{
    strcpy(directory, "/tmp/hindsight_checkpoint_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(data, sizeof data, "%s/deep/data", directory);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void start_with(const char *option, const char *value)
{
    const char *const arguments[] = {"--data", data, "--checkpoint-seconds", "1", option,
                                     value,    NULL};
    ck_assert(hs_test_service_start(&service, arguments));
    http = hs_test_http_open(service.admin_port);
}

static void start(void)
{
    start_with(NULL, NULL);
}

static void stop(void)
{
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}

/* As the kernel does when memory is out. */
static void kill_it(void)
{
    hs_test_http_close(http);
    ck_assert_int_eq(kill(service.pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(service.pid, NULL, 0), service.pid);
    service.pid = 0;
    ck_assert(hs_test_service_stop(&service));
}

/* The caller frees the body. */
static long send_text(const char *method, const char *path, const char *body, char **answer)
{
    struct hs_test_response response;
    hs_test_http_send(http, method, path, body, body != NULL ? strlen(body) : 0, NULL, &response);
    long status = response.status;
    *answer = strdup(response.body);
    ck_assert_ptr_nonnull(*answer);
    hs_test_response_free(&response);
    return status;
}

static long status_of(const char *method, const char *path, const char *body)
{
    char *answer;
    long status = send_text(method, path, body, &answer);
    free(answer);
    return status;
}

static char *post(const char *path, const char *body)
{
    char *answer;
    long status = send_text("POST", path, body, &answer);
    ck_assert_msg(status == 200, "%s: %ld %s", path, status, answer);
    return answer;
}

static double metric(const char *series)
{
    char *answer, line[160];
    snprintf(line, sizeof line, "\n%s ", series);
    ck_assert_int_eq(send_text("GET", "/metrics", NULL, &answer), 200);
    const char *found = strstr(answer, line);
    ck_assert_msg(found != NULL, "no series %s", series);
    double value = strtod(found + strlen(line), NULL);
    free(answer);
    return value;
}

#define WRITTEN "hindsight_checkpoints_total{result=\"written\"}"

/* One that began after this was called has been written. */
static void wait_for_checkpoint(void)
{
    double before = metric(WRITTEN);
    for (int tries = 0; tries < 2000 && metric(WRITTEN) < before + 2; tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_double_ge(metric(WRITTEN), before + 2);
    ck_assert_double_lt(metric("hindsight_checkpoint_lag_seconds"), 5);
}

/* 21 frames, a window and one, from a time: `s` at the origin, `t` 5 m before him. */
static void post_frames(const char *match, double from)
{
    char path[96], body[512];
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    for (int i = 0; i <= 20; i++) {
        snprintf(
            body, sizeof body,
            "{\"frames\":[{\"time\":%.2f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]%s},"
            "{\"player\":\"t\",\"position\":[500,0,0]}]}]}",
            from + 0.05 * i, i == 0 ? ",\"weapon\":\"rifle\",\"team\":\"red\"" : "");
        free(post(path, body));
    }
}

static char *post_hit(const char *match, int shot, double time)
{
    char path[96], body[512];
    snprintf(path, sizeof path, "/v1/matches/%s/hits", match);
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.2f,"
             "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
             time + 0.05, shot, time);
    return post(path, body);
}

/* Moves of a clock that is 25 times as fast: they use up all credit. */
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
    return post(path, body);
}

/* `"replayed":true` for false, in place. */
static void say_replayed(char *answer)
{
    static const char was[] = "\"replayed\":false", is[] = "\"replayed\":true";
    for (char *at; (at = strstr(answer, was)) != NULL;) {
        memcpy(at, is, sizeof is - 1);
        memmove(at + sizeof is - 1, at + sizeof was - 1, strlen(at + sizeof was - 1) + 1);
    }
}

static void assert_holds(char *answer, const char *what)
{
    ck_assert_msg(strstr(answer, what) != NULL, "no %s in %s", what, answer);
    free(answer);
}

static double damage_of(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s/players/s", match);
    json_t *player = hs_test_http_json(http, "GET", path, NULL, NULL);
    ck_assert_ptr_nonnull(player);
    double damage = json_number_value(json_object_get(player, "damage_dealt"));
    json_decref(player);
    return damage;
}

/* What was answered before is answered again, and nothing was gained by the end of the process. */
static void play_then_check(void (*end)(void), bool waits)
{
    post_frames("m", 10);
    char *hit = post_hit("m", 1, 11), *moves = post_moves("m", 1, 30);
    assert_holds(strdup(hit), "\"verdict\":\"accepted\"");
    assert_holds(strdup(moves), "\"credit\":0,");
    double damage = damage_of("m");
    ck_assert_double_gt(damage, 0);
    if (waits)
        wait_for_checkpoint();
    end();
    start();
    ck_assert_double_eq(metric("hindsight_checkpoint_matches_total{result=\"restored\"}"), 1);
    ck_assert_double_eq(metric("hindsight_matches_active"), 1);

    char *hit_again = post_hit("m", 1, 11), *moves_again = post_moves("m", 1, 30);
    say_replayed(hit);
    say_replayed(moves);
    ck_assert_str_eq(hit_again, hit);
    ck_assert_str_eq(moves_again, moves);
    ck_assert_double_eq(damage_of("m"), damage);
    /* No poses yet: another claim is neither taken nor held against anybody. */
    assert_holds(post_hit("m", 2, 11.2), "\"verdict\":\"inconclusive\"");
    ck_assert_double_eq(damage_of("m"), damage);
    /* The 30 moves came until 11.60. */
    assert_holds(post_moves("m", 31, 31), waits ? "\"credit\":0," : "\"delta_time\":0.02,");
    assert_holds(post("/v1/matches/m/frames",
                      "{\"frames\":[{\"time\":14,\"players\":[{\"player\":\"s\","
                      "\"position\":[0,0,0]}]}]}"),
                 "\"need\":\"resync\"");
    post_frames("m", 14.05);
    assert_holds(post_hit("m", 3, 15), "\"verdict\":\"accepted\"");
    ck_assert_double_gt(damage_of("m"), damage);
    free(hit);
    free(moves);
    free(hit_again);
    free(moves_again);
    stop();
}

START_TEST(after_sigkill)
{
    start();
    play_then_check(kill_it, true);
}
END_TEST

START_TEST(after_sigterm)
{
    start();
    play_then_check(stop, false);
}
END_TEST

static char *revision_of(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    json_t *state = hs_test_http_json(http, "GET", path, NULL, NULL);
    ck_assert_ptr_nonnull(state);
    char *revision = strdup(json_string_value(json_object_get(state, "revision")));
    json_decref(state);
    return revision;
}

static void write_rules(const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/arena.json", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
}

/* A match goes on by the rules it was opened with, though the files say otherwise by now, or the
   name leads to none. */
START_TEST(rules_are_pinned)
{
    write_rules("{\"name\":\"arena\",\"weapons\":{\"rifle\":{\"type\":\"hitscan\",\"damage\":7}}}");
    start_with("--rules", directory);
    ck_assert_int_eq(status_of("PUT", "/v1/matches/m", "{\"ruleset\":\"arena\"}"), 201);
    ck_assert_int_eq(status_of("PUT", "/v1/matches/n", "{\"ruleset\":\"arena\"}"), 201);
    ck_assert_int_eq(status_of("PUT", "/v1/rulesets/posted", "{\"name\":\"posted\"}"), 201);
    ck_assert_int_eq(status_of("PUT", "/v1/matches/p", "{\"ruleset\":\"posted\"}"), 201);
    char *revision = revision_of("m"), *posted = revision_of("p");
    stop();
    write_rules("{\"name\":\"arena\"}");
    for (int round = 0; round < 2; round++) {
        start_with("--rules", directory);
        static const char *const names[] = {"m", "n", "p"};
        for (size_t i = 0; i < 3; i++) {
            char *now = revision_of(names[i]);
            ck_assert_str_eq(now, i < 2 ? revision : posted);
            free(now);
        }
        ck_assert_int_eq(status_of("GET", "/v1/rulesets/posted", NULL), 404);
        ck_assert_int_eq(status_of("PUT", "/v1/matches/m", "{\"ruleset\":\"arena\"}"), 200);
        ck_assert_int_eq(status_of("PUT", "/v1/matches/p", "{\"ruleset\":\"posted\"}"), 200);
        ck_assert_int_eq(status_of("PUT", "/v1/matches/p", "{\"ruleset\":\"other\"}"), 422);
        ck_assert_int_eq(status_of("PUT", "/v1/matches/q", "{\"ruleset\":\"posted\"}"), 422);
        post_frames("m", 10 + 100 * round);
        assert_holds(post_hit("m", 1 + round, 11 + 100 * round),
                     "\"damage_total\":14," /* twice 7 */);
        stop();
    }
    free(revision);
    free(posted);
}
END_TEST

/* Without its walls a match is not judged: it waits for the map it was opened with. */
START_TEST(a_map_is_waited_for)
{
    static const char wall[] = "{\"boxes\":[{\"min\":[240,-100,0],\"max\":[260,100,300]}]}";
    static const char other[] = "{\"boxes\":[{\"min\":[0,900,0],\"max\":[10,910,10]}]}";
    static const char hit[] =
        "{\"hits\":[{\"shot\":9,\"shooter\":\"s\",\"hit_time\":15,\"start\":[0,0,160],"
        "\"end\":[500,0,160],\"target\":\"t\"}]}";
    start();
    ck_assert_int_eq(status_of("PUT", "/v1/maps/hall", wall), 201);
    ck_assert_int_eq(status_of("PUT", "/v1/matches/m", "{\"map\":\"hall\"}"), 201);
    for (int round = 0; round < 2; round++) { /* it waits on through another restart */
        stop();
        start();
        ck_assert_int_eq(status_of("PUT", "/v1/matches/m", "{\"map\":\"hall\"}"), 200);
        ck_assert_int_eq(status_of("PUT", "/v1/matches/m", "{\"map\":\"yard\"}"), 422);
        ck_assert_int_eq(status_of("POST", "/v1/matches/m/hits", hit), 503);
    }
    ck_assert_int_eq(status_of("PUT", "/v1/maps/hall", other), 201);
    ck_assert_int_eq(status_of("POST", "/v1/matches/m/hits", hit), 503);
    ck_assert_int_eq(status_of("PUT", "/v1/maps/hall", wall), 200);
    post_frames("m", 14);
    assert_holds(post_hit("m", 1, 15), "\"reason\":\"occluded_world\"");
    stop();
}
END_TEST

/* ---- damage ---- */

static void change(const char *name, long at, int with)
{
    int file = open(path_of(name), O_RDWR);
    ck_assert_int_ge(file, 0);
    off_t size = lseek(file, 0, SEEK_END);
    unsigned char byte;
    off_t place = at >= 0 ? at : size + at;
    if (with < 0) {
        ck_assert_int_eq(ftruncate(file, place), 0);
    } else {
        ck_assert_int_eq(pread(file, &byte, 1, place), 1);
        byte = (unsigned char)(byte ^ with);
        ck_assert_int_eq(pwrite(file, &byte, 1, place), 1);
    }
    close(file);
}

/* `at` counts from the end where it is below 0; `with` is put over the byte there, or, below 0, the
   file ends there. `both`: the one before, too. */
static const struct damage {
    long at;
    int with;
    bool both;
    int restored;
} damages[] = {
    {0, -1, false, 2},  {4, -1, false, 2},   {8, -1, false, 2},    {20, -1, false, 2},
    {-1, -1, false, 2}, {-30, -1, false, 2}, {-500, -1, false, 2}, {0, 1, false, 2},
    {7, 3, false, 2},   {12, 1, false, 2},   {16, 64, false, 2},   {23, 64, false, 2},
    {100, 1, false, 2}, {-1, 1, false, 2},   {-40, 1, false, 2},   {-3000, 255, false, 2},
    {0, -1, true, 0},   {7, 3, true, 0},     {0, 1, true, 0},
};

#define RESTORED "hindsight_checkpoint_matches_total{result=\"restored\"}"

static void check_damage(const struct damage *damage)
{
    change("checkpoint", damage->at, damage->with);
    if (damage->both)
        change("checkpoint.previous", damage->at, damage->with);
    start();
    ck_assert_double_eq(metric(RESTORED), damage->restored);
    ck_assert_double_eq(metric("hindsight_checkpoint_files_refused_total"), damage->both ? 2 : 1);
    ck_assert_int_eq(access(path_of("checkpoint.damaged"), F_OK), 0);
    if (damage->restored > 0)
        assert_holds(post_hit("m", 1, 11), "\"replayed\":true");
    stop();
    start();
    ck_assert_double_eq(metric("hindsight_checkpoint_files_refused_total"), 0);
    ck_assert_double_eq(metric(RESTORED), damage->restored);
    stop();
}

START_TEST(damaged_files)
{
    char command[600];
    start();
    post_frames("m", 10);
    post_frames("n", 10);
    free(post_hit("m", 1, 11));
    wait_for_checkpoint();
    wait_for_checkpoint(); /* the one before knows as much */
    kill_it();
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        snprintf(command, sizeof command,
                 "%s '%s' '%s/good' && rm -rf '%s' && cp -r '%s/good' '%s'", i == 0 ? "cp -r" : ":",
                 data, directory, data, directory, data);
        ck_assert_int_eq(system(command), 0);
        printf("damage %zu\n", i);
        check_damage(&damages[i]);
    }
}
END_TEST

/* A process that was killed in the middle of writing leaves a piece that nobody reads. */
START_TEST(pieces_are_not_read)
{
    start();
    post_frames("m", 10);
    stop();
    FILE *file = fopen(path_of("checkpoint.new"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("HSCHKPT", file);
    fclose(file);
    start();
    ck_assert_double_eq(metric(RESTORED), 1);
    ck_assert_double_eq(metric("hindsight_checkpoint_files_refused_total"), 0);
    stop();
    ck_assert_int_ne(access(path_of("checkpoint.new"), F_OK), 0);
}
END_TEST

/* ---- the directory ---- */

/* Runs the program with a data directory, in vain; what it logged. */
static const char *refused_with(const char *where)
{
    int code;
    const char *output = hs_test_shell(
        &code, "%s serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data='%s' 2>&1",
        getenv("HS_PROGRAM"), where);
    ck_assert_int_eq(code, 1);
    return output;
}

START_TEST(directories_that_cannot_be_used)
{
    char file[160];
    start();
    const char *output = refused_with(data);
    ck_assert_msg(strstr(output, "in use by another process") != NULL, "%s", output);
    snprintf(file, sizeof file, "%s/checkpoint", data);
    wait_for_checkpoint();
    stop();
    output = refused_with(file);
    ck_assert_msg(strstr(output, "cannot be written to: Not a directory") != NULL, "%s", output);
    strcat(file, "/below");
    output = refused_with(file);
    ck_assert_msg(strstr(output, "cannot be made: Not a directory") != NULL, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "switch it off: --data="));
    output = refused_with("/proc/self"); /* a directory that takes no files */
    ck_assert_msg(strstr(output, "cannot be written to") != NULL, "%s", output);
}
END_TEST

/* Nothing is kept where that is wished, and the metrics say so. */
START_TEST(switched_off)
{
    const char *const arguments[] = {"--data=", NULL};
    ck_assert(hs_test_service_start(&service, arguments));
    http = hs_test_http_open(service.admin_port);
    ck_assert_double_eq(metric(WRITTEN), 0);
    ck_assert_double_eq(metric("hindsight_checkpoint_lag_seconds"), 0);
    ck_assert_int_ne(access("hindsight-data", F_OK), 0);
    stop();
}
END_TEST

/* ---- traffic ---- */

static atomic_bool is_over;

static void *send_ticks(void *context)
{
    int number = *(int *)context;
    struct hs_test_http *own = hs_test_http_open(service.data_port);
    char path[64], body[1024];
    long *failed = calloc(1, sizeof *failed);
    for (int i = 1; !atomic_load(&is_over); i++) {
        double time = 10 + 0.05 * i;
        /* Two of the four share a match, and now and then one ends it. */
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

/* Checkpoints are taken beside requests on the same matches; meant for ThreadSanitizer, too. */
START_TEST(beside_traffic)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    start();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, send_ticks, &numbers[i]), 0);
    }
    wait_for_checkpoint();
    wait_for_checkpoint();
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_int_eq(*(long *)failed, 0);
        free(failed);
    }
    ck_assert_double_eq(metric("hindsight_checkpoints_total{result=\"failed\"}"), 0);
    double matches = metric("hindsight_matches_active");
    stop();
    start();
    ck_assert_double_eq(metric(RESTORED), matches);
    stop();
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
    tcase_add_test(tests, rules_are_pinned);
    tcase_add_test(tests, a_map_is_waited_for);
    tcase_add_test(tests, damaged_files);
    tcase_add_test(tests, pieces_are_not_read);
    tcase_add_test(tests, directories_that_cannot_be_used);
    tcase_add_test(tests, switched_off);
    tcase_add_test(tests, beside_traffic);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
