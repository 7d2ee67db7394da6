/* Tests the evidence store when the process is killed, when the disk is full, and when the folder
   refuses writes. With `sync` no answered verdict is lost; with `async` at most those of 0.2 s are.
   While the disk fails, claims are still answered, unless `evidence-overflow` is `block`. Later the
   store works again without a restart. HS_KILLS sets how often the service is killed. */
#include "tests/integration/stored.h"
#include "tests/support/clock.h"
#include "tests/support/faults.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

/* ---- kills ---- */

enum { DEFAULT_KILLS = 10, ANSWERS_MAX = 4096 };

/* A client that posts rejected claims, one after the other, until the service is killed. */
struct client {
    pthread_t thread;
    unsigned port;
    const char *match;
    int shot;         /* shot number of the first claim */
    atomic_bool ends; /* after the kill */
    struct {
        char id[HS_STORED_ID];
        double seconds; /* when its answer came */
    } answers[ANSWERS_MAX];
    size_t count;
};

static void *post_claims(void *context)
{
    struct client *client = context;
    struct hs_test_http *http = hs_test_http_open(client->port);
    char path[96], body[256];
    snprintf(path, sizeof path, "/v1/matches/%s/hits", client->match);
    while (!atomic_load(&client->ends) && client->count < ANSWERS_MAX) {
        long status;
        snprintf(body, sizeof body,
                 "{\"now\":11.05,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":11,"
                 "\"start\":[0,300,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
                 client->shot++);
        json_t *answer = hs_test_http_json(http, "POST", path, json_loads(body, 0, NULL), &status);
        if (status == 200) {
            const json_t *result = json_array_get(json_object_get(answer, "results"), 0);
            snprintf(client->answers[client->count].id, HS_STORED_ID, "%s",
                     json_string_value(json_object_get(result, "verdict_id")));
            client->answers[client->count++].seconds = hs_test_seconds();
        }
        json_decref(answer);
    }
    hs_test_http_close(http);
    return NULL;
}

/* Opens the files of all days as the databases d0, d1 and so on of one connection. There are two
   files if the run passes midnight (UTC). Returns how many there are. */
static int open_days(sqlite3 **db)
{
    glob_t found;
    char sql[320];
    snprintf(sql, sizeof sql, "%s/evidence-*.db", kept.data);
    ck_assert_int_eq(glob(sql, 0, NULL, &found), 0);
    int count = (int)found.gl_pathc;
    ck_assert_int_eq(sqlite3_open(":memory:", db), SQLITE_OK);
    for (int i = 0; i < count; i++) {
        snprintf(sql, sizeof sql, "ATTACH '%s' AS d%d", found.gl_pathv[i], i);
        ck_assert_int_eq(sqlite3_exec(*db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    globfree(&found);
    return count;
}

/* Returns how long before `died` the oldest answer came whose verdict is not in one of the `days`
   files. At least 0; 0 if no verdict is missing. */
static double oldest_missing(sqlite3 *db, int days, const struct client *client, double died)
{
    double oldest = 0;
    char sql[1024] = "";
    sqlite3_stmt *find;
    for (int i = 0; i < days; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql),
                 "%sSELECT 1 FROM d%d.bodies b JOIN d%d.verdicts v ON v.at = b.at WHERE b.id = ?1",
                 i > 0 ? " UNION " : "", i, i);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &find, NULL), SQLITE_OK);
    for (size_t i = 0; i < client->count; i++) {
        double age = died - client->answers[i].seconds;
        sqlite3_bind_text(find, 1, client->answers[i].id, -1, SQLITE_STATIC);
        if (sqlite3_step(find) != SQLITE_ROW)
            oldest = age > oldest ? age : oldest > 0 ? oldest : 1e-6;
        sqlite3_reset(find);
    }
    sqlite3_finalize(find);
    return oldest;
}

static void expect_whole(sqlite3 *db)
{
    sqlite3_stmt *check;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(check), SQLITE_ROW);
    ck_assert_str_eq((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
}

/* A thread that sleeps and computes for a moment, again and again, and measures by how much this
   takes longer than on a quiet machine. The writer of the service has to wait in the same way. */
struct watcher {
    pthread_t thread;
    atomic_bool ends;
    double late; /* the largest delay, seconds */
};

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void *watch(void *context)
{
    enum { NAP_MS = 10, WORK_MS = 2 };
    struct watcher *watcher = context;
    while (!atomic_load(&watcher->ends)) {
        double began = hs_test_seconds(), worked = processor_seconds();
        hs_test_pause_ms(NAP_MS);
        while (processor_seconds() < worked + 0.001 * WORK_MS)
            continue;
        double late = hs_test_seconds() - began - 0.001 * (NAP_MS + WORK_MS);
        watcher->late = late > watcher->late ? late : watcher->late;
    }
    return NULL;
}

/* What a kill cost. */
struct loss {
    double seconds; /* age of the oldest lost answer at the kill */
    double late;    /* by how much threads were delayed (struct watcher) */
};

/* Starts the service; two clients post until SIGKILL. Returns the number of answers. */
static size_t live_and_die(const char *mode, struct hs_random *random, int *shot, struct loss *lost)
{
    struct watcher watcher = {.late = 0};
    static struct client clients[2];
    static const char *const matches[2] = {"one", "two"};
    sqlite3 *db;
    hs_kept_start_with(&kept, "--evidence", mode);
    for (int i = 0; i < 2; i++) {
        clients[i] =
            (struct client){.port = kept.service.data_port, .match = matches[i], .shot = *shot};
        hs_stored_frames(&kept, matches[i], 10);
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, post_claims, &clients[i]), 0);
    }
    ck_assert_int_eq(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    hs_test_pause_ms(50 + hs_random_index(random, 350));
    double died = hs_test_seconds();
    hs_kept_kill(&kept);
    atomic_store(&watcher.ends, true);
    pthread_join(watcher.thread, NULL);
    size_t answers = 0;
    for (int i = 0; i < 2; i++) {
        atomic_store(&clients[i].ends, true);
        pthread_join(clients[i].thread, NULL);
        *shot = clients[i].shot > *shot ? clients[i].shot : *shot;
        answers += clients[i].count;
    }
    int days = open_days(&db);
    expect_whole(db);
    *lost = (struct loss){.late = watcher.late};
    for (int i = 0; i < 2; i++) {
        double oldest = oldest_missing(db, days, &clients[i], died);
        lost->seconds = oldest > lost->seconds ? oldest : lost->seconds;
    }
    sqlite3_close(db);
    return answers;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct loss *)a)->seconds, y = ((const struct loss *)b)->seconds;
    return (x > y) - (x < y);
}

/* Sets the clock of the service to `us` before the next midnight. */
static void approach_midnight(struct hs_faults *faults, int64_t us)
{
    static const int64_t day_us = INT64_C(86400000000);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t true_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    int64_t day = (true_us + atomic_load(&faults->wall_shift_us)) / day_us;
    atomic_store(&faults->wall_shift_us, (day + 1) * day_us - us - true_us);
}

/* Row: sync, async; both again while a new day begins. With async, a verdict is committed within
   0.2 s. On a busy machine, the threads from the answer to the commit wait for a processor up to
   WAITS times, each perhaps as long as the watcher. */
START_TEST(kills_lose_no_more_than_promised)
{
    enum { PROMISE_MS = 200, WAITS = 6, MIDNIGHTS = 8, MIDNIGHT_US = 150000 };
    bool is_midnight = _i >= 2;
    const char *mode = _i % 2 == 0 ? "sync" : "async";
    uint64_t seed = hs_test_seed(20261123);
    struct hs_random random = hs_random_start(seed, (uint64_t)_i);
    long kills = is_midnight ? MIDNIGHTS : hs_test_count("HS_KILLS", DEFAULT_KILLS);
    int shot = 1;
    size_t answers = 0;
    char id[HS_STORED_ID], path[128];
    snprintf(path, sizeof path, "%s/clock", kept.directory);
    struct hs_faults *faults = is_midnight ? hs_faults_begin(path, kept.data) : NULL;
    hs_kept_start(&kept, NULL); /* makes the file of today */
    hs_stored_frames(&kept, "zero", 10);
    hs_stored_post(&kept, "zero", "s", 1, HS_STORED_AWAY, id);
    hs_kept_stop(&kept);
    struct loss *lost = calloc((size_t)kills, sizeof *lost);
    ck_assert_ptr_nonnull(lost);
    for (long i = 0; i < kills; i++) {
        if (is_midnight)
            approach_midnight(faults, MIDNIGHT_US);
        answers += live_and_die(mode, &random, &shot, &lost[i]);
        double allowed = _i % 2 == 0 ? 0 : 0.001 * PROMISE_MS + WAITS * lost[i].late;
        ck_assert_msg(lost[i].seconds <= allowed, "%s: kill %ld lost %.3f s, allowed %.3f", mode, i,
                      lost[i].seconds, allowed);
    }
    qsort(lost, (size_t)kills, sizeof *lost, by_seconds);
    printf(
        "%s%s: %ld kills, %zu answers, lost at most %.3f s (median %.3f, 99 %% %.3f), seed %llu\n",
        mode, is_midnight ? " at midnight" : "", kills, answers, lost[kills - 1].seconds,
        lost[kills / 2].seconds, lost[kills * 99 / 100].seconds, (unsigned long long)seed);
    free(lost);
    ck_assert_uint_gt(answers, 2 * (size_t)kills);
    sqlite3 *db;
    ck_assert_int_ge(open_days(&db), is_midnight ? 2 : 1);
    sqlite3_close(db);
    hs_kept_start(&kept, NULL); /* the files open again, and are listed */
    json_t *list = hs_stored_list(&kept, "limit=1000");
    ck_assert_uint_gt(json_array_size(list), 0);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- a full disk ---- */

/* No file of the service may grow beyond `bytes`. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    ck_assert_int_eq(prlimit(kept.service.pid, RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = bytes;
    ck_assert_int_eq(prlimit(kept.service.pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* For a while nothing can be written. Claims are still answered, and metrics and the log report the
   failure. Later every verdict is stored. */
START_TEST(full_disk_delays_the_store)
{
    enum { CLAIMS = 40 };
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    limit_files(4096);
    for (int i = 0; i < CLAIMS; i++)
        hs_stored_post(&kept, "one", "s", 2 + i, HS_STORED_AWAY, id);
    hs_test_pause_ms(500);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_queue_length"), CLAIMS);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_written_total"), 1);
    ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_evidence_failures_total"), 1);
    limit_files(RLIM_INFINITY);
    hs_stored_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_written_total"), 1 + CLAIMS);
    json_t *list = hs_stored_list(&kept, "limit=100");
    ck_assert_uint_eq(json_array_size(list), 1 + CLAIMS);
    hs_stored_recheck(&kept, list);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

/* With `sync`, answers wait for the disk, at most three seconds. Their worker serves other requests
   during that time. */
START_TEST(sync_answers_wait_without_a_worker)
{
    static const char *const more[] = {"--evidence", "sync", "--threads", "1", NULL};
    static struct client client;
    char id[HS_STORED_ID];
    hs_kept_start(&kept, more);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    limit_files(4096);
    client = (struct client){.port = kept.service.data_port, .match = "one", .shot = 2};
    ck_assert_int_eq(pthread_create(&client.thread, NULL, post_claims, &client), 0);
    hs_test_pause_ms(100);
    struct hs_test_http *other = hs_test_http_open(kept.service.data_port);
    for (int i = 0; i < 20; i++) { /* the only worker serves them */
        long status;
        double began = hs_test_seconds();
        json_decref(hs_test_http_json(other, "GET", "/v1/matches/one", NULL, &status));
        ck_assert_int_eq(status, 200);
        ck_assert_double_lt(hs_test_seconds() - began, 1);
    }
    hs_test_http_close(other);
    ck_assert_uint_eq(client.count, 0); /* the claim is not answered yet */
    limit_files(RLIM_INFINITY);
    for (int tries = 0;
         tries < 500 && hs_kept_metric(&kept, "hindsight_evidence_written_total") < 3; tries++)
        hs_test_pause_ms(10);
    atomic_store(&client.ends, true);
    pthread_join(client.thread, NULL);
    ck_assert_uint_ge(client.count, 1);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- overflow ---- */

static const char small_queue[] = "65536";

/* Row: drop, block. */
START_TEST(full_queues_drop_or_block)
{
    static const char *const overflows[] = {"drop", "block"};
    const char *const more[] = {"--evidence-overflow", overflows[_i], "--evidence-queue-bytes",
                                small_queue, NULL};
    char id[HS_STORED_ID], body[256];
    long refused = 0, answered = 0;
    hs_kept_start(&kept, more);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    limit_files(4096);
    for (int shot = 2; shot < 60; shot++) {
        snprintf(body, sizeof body,
                 "{\"now\":11.05,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":11,"
                 "\"start\":[0,300,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
                 shot);
        long status = hs_kept_status(&kept, "POST", "/v1/matches/one/hits", body);
        ck_assert(status == 200 || status == 503);
        refused += status == 503;
        answered += status == 200;
    }
    double dropped = hs_kept_metric(&kept, "hindsight_evidence_dropped_total{reason=\"queue\"}");
    ck_assert_int_ge(answered, 5);
    ck_assert_int_eq(refused > 0, _i == 1);
    ck_assert_int_eq(dropped > 0, _i == 0);
    limit_files(RLIM_INFINITY);
    hs_stored_wait(&kept);
    json_t *list = hs_stored_list(&kept, "limit=1000");
    ck_assert_int_eq((long)json_array_size(list), 1 + answered - (long)dropped);
    json_decref(list);
    hs_stored_post(&kept, "one", "s", 100, HS_STORED_AWAY, id);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- a folder that refuses writes ---- */

/* A directory has the name of the file of today, so nobody can write the file, not even root. */
START_TEST(refused_files_delay_the_store)
{
    char day[32], id[HS_STORED_ID], path[256];
    time_t now = time(NULL);
    struct tm utc;
    strftime(day, sizeof day, "evidence-%Y-%m-%d.db", gmtime_r(&now, &utc));
    hs_kept_start(&kept, NULL);
    snprintf(path, sizeof path, "%s", hs_kept_path(&kept, day));
    ck_assert_int_eq(mkdir(path, 0700), 0);
    hs_stored_frames(&kept, "one", 10);
    for (int i = 1; i <= 5; i++)
        hs_stored_post(&kept, "one", "s", i, HS_STORED_AWAY, id);
    hs_test_pause_ms(500);
    ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_evidence_failures_total"), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_written_total"), 0);
    ck_assert_int_eq(rmdir(path), 0);
    hs_stored_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_written_total"), 5);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- a row that the file never takes ---- */

/* One such row must not keep the others out of the store. */
START_TEST(refused_rows_do_not_stop_the_store)
{
    static const char trigger[] = "CREATE TRIGGER refuse BEFORE INSERT ON bodies"
                                  " WHEN NEW.unit = 'seconds' BEGIN SELECT RAISE(ABORT, 'no'); END";
    char id[HS_STORED_ID];
    sqlite3 *db;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    ck_assert_int_eq(sqlite3_open(hs_stored_file(&kept), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, trigger, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    hs_stored_post(&kept, "one", "s", 2, HS_STORED_AWAY, id);
    hs_stored_post(&kept, "one", "s", 3, HS_STORED_TOO_OLD, id);
    hs_stored_post(&kept, "one", "s", 4, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_evidence_written_total"), 3);
    ck_assert_double_eq(
        hs_kept_metric(&kept, "hindsight_evidence_dropped_total{reason=\"refused\"}"), 1);
    json_t *list = hs_stored_list(&kept, "limit=100");
    ck_assert_uint_eq(json_array_size(list), 3);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

enum { MANY = 300, MANY_BYTES = MANY * 160 };

/* Writes a request with MANY claims. Only the first claim is far away. */
static void write_many(int shot, double first_y, char body[MANY_BYTES])
{
    size_t len = (size_t)snprintf(body, MANY_BYTES, "{\"now\":11.05,\"hits\":[");
    for (int i = 0; i < MANY; i++)
        len += (size_t)snprintf(body + len, MANY_BYTES - len,
                                "%s{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":11,"
                                "\"start\":[0,%g,160],\"end\":[500,0,160],\"target\":\"t\"}",
                                i > 0 ? "," : "", shot + i, i == 0 ? first_y : 300);
    snprintf(body + len, MANY_BYTES - len, "]}");
}

static long post_many(int shot, double first_y)
{
    static char body[MANY_BYTES];
    write_many(shot, first_y, body);
    return hs_kept_status(&kept, "POST", "/v1/matches/one/hits", body);
}

/* With `sync`, the answer to a long request reports a refused row even if the row was refused while
   the service still verified the last claims. */
START_TEST(sync_answers_report_rows_that_were_refused_early)
{
    enum { REQUESTS = 5 };
    static const char *const more[] = {"--evidence", "sync", NULL};
    static const char trigger[] = "CREATE TRIGGER refuse BEFORE INSERT ON bodies"
                                  " WHEN NEW.measured > 600 BEGIN SELECT RAISE(ABORT, 'no'); END";
    static const char refused[] = "hindsight_evidence_dropped_total{reason=\"refused\"}";
    sqlite3 *db;
    hs_kept_start(&kept, more);
    hs_stored_frames(&kept, "one", 10);
    ck_assert_int_eq(post_many(1, 900), 200);
    ck_assert_int_eq(sqlite3_open(hs_stored_file(&kept), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, trigger, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int i = 1; i <= REQUESTS; i++) {
        ck_assert_int_eq(post_many(2000 * i, 900), 503);
        ck_assert_int_eq(post_many(2000 * i + 1000, 300), 200); /* earlier losses do not count */
    }
    hs_stored_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, refused), REQUESTS);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- other writers ---- */

static atomic_bool has_enough;

/* Posts requests with many rejected claims, so that the store writes all the time. */
static void *post_without_end(void *context)
{
    static char body[MANY_BYTES];
    struct hs_test_http *http = hs_test_http_open(kept.service.data_port);
    (void)context;
    for (int shot = 1; !atomic_load(&has_enough); shot += MANY) {
        struct hs_test_response response;
        write_many(shot, 300, body);
        hs_test_http_send(http, "POST", "/v1/matches/one/hits", body, strlen(body), NULL,
                          &response);
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    return NULL;
}

/* Uploaded maps and deletions use their own connections. They must get a turn between the commits
   of a store that writes all the time. */
START_TEST(a_busy_store_takes_maps_and_deletions)
{
    enum { MAPS = 10 };
    static const char *const more[] = {"--queue-ms", "0", NULL};
    pthread_t poster;
    sqlite3 *db;
    sqlite3_stmt *count;
    int maps = 0;
    hs_kept_start(&kept, more);
    hs_stored_frames(&kept, "one", 10);
    ck_assert_int_eq(pthread_create(&poster, NULL, post_without_end, NULL), 0);
    while (hs_kept_metric(&kept, "hindsight_evidence_written_total") < MANY)
        hs_test_pause_ms(1);
    for (int i = 0; i < MAPS; i++) {
        char map[96];
        snprintf(map, sizeof map, "{\"boxes\":[{\"min\":[0,0,0],\"max\":[%d,1,1]}]}", i + 1);
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/m", map), i == 0 ? 201 : 200);
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/nobody", NULL), 200);
    }
    atomic_store(&has_enough, true);
    pthread_join(poster, NULL);
    hs_kept_stop(&kept);
    int days = open_days(&db);
    for (int i = 0; i < days; i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM d%d.documents WHERE kind = 'map'", i);
        ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &count, NULL), SQLITE_OK);
        ck_assert_int_eq(sqlite3_step(count), SQLITE_ROW);
        maps += sqlite3_column_int(count, 0);
        sqlite3_finalize(count);
    }
    sqlite3_close(db);
    ck_assert_int_eq(maps, MAPS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evidence_disk");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, kills_lose_no_more_than_promised, 0, 4);
    tcase_add_test(tests, full_disk_delays_the_store);
    tcase_add_test(tests, sync_answers_wait_without_a_worker);
    tcase_add_loop_test(tests, full_queues_drop_or_block, 0, 2);
    tcase_add_test(tests, refused_files_delay_the_store);
    tcase_add_test(tests, refused_rows_do_not_stop_the_store);
    tcase_add_test(tests, sync_answers_report_rows_that_were_refused_early);
    tcase_add_test(tests, a_busy_store_takes_maps_and_deletions);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
