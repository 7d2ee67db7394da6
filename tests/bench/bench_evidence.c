/*
 * The evidence store: how long a first page of verdicts takes while others are written, and what
 * the store costs the requests.
 *
 *   evidence_page_ms      the first page of a list with a filter; the slowest kind of filter, 95th
 *                         percentile. HS_EVIDENCE_ROWS (1,000,000) verdicts are stored, and 5,000 a
 *                         second are added
 *   evidence_page_postgres_ms  the same in PostgreSQL
 *   evidence_put_us       adding a small verdict to a file, with its compression and its commit
 *   evidence_writer_rps   verdicts a second that one thread adds to a file: those that the service
 *                         stored for hit_store_us, again and again under other ids
 *   evidence_writer_us    the processor time of that thread for one of them
 *   hit_store_off_us      the service's processor time for a request with an accepted claim (48 of
 *                         49) or a rejected one, without a store
 *   hit_store_us          the same with a store, with its defaults
 */
#include <check.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/evidence/files.h"
#include "service/evidence/reader.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"
#include "tests/bench/processor.h"
#include "tests/support/bench.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/postgres.h"

enum {
    ROWS = 1000000,
    BATCH = 500,
    BATCH_MS = 100, /* between two batches of the writer: 5,000 rows a second */
    PAGES = 40,     /* pages of each kind of filter */
    PLAYERS = 2000,
    MATCHES = 500,
    DAYS = 30, /* older days, each with empty partitions */
    REQUESTS = 20000
};

/* ---- the store ---- */

static char directory[] = "/tmp/hindsight_bench_XXXXXX";

/* Adds verdict i. Most verdicts have one reason, some have another, and very few have a third. */
static void put_row(struct hs_evidence_store *store, size_t i)
{
    char id[40], match[16], player[16], target[16], state[512];
    int lengths[] = {snprintf(id, sizeof id, "%032zx", i),
                     snprintf(match, sizeof match, "m%zu", i / 40 % MATCHES),
                     snprintf(player, sizeof player, "p%zu", i * 7919 % PLAYERS),
                     snprintf(target, sizeof target, "p%zu", i * 104729 % PLAYERS)};
    for (size_t k = 0; k < sizeof state; k++)
        state[k] = (char)(i * 2654435761u >> (k % 29));
    const struct hs_evidence_row row = {
        .at_us = hs_clock_wall_us(),
        .now_us = (int64_t)i,
        .id = {id, (size_t)lengths[0]},
        .match = {match, (size_t)lengths[1]},
        .player = {player, (size_t)lengths[2]},
        .target = {target, (size_t)lengths[3]},
        .weapon = HS_STR("rifle"),
        .kind = HS_STR("hit"),
        .verdict = i % 10 == 0 ? HS_STR("inconclusive") : HS_STR("rejected"),
        .reason = i == 1000      ? HS_STR("team")
                  : i % 100 == 0 ? HS_STR("fire_rate")
                                 : HS_STR("origin_mismatch"),
        .ruleset = HS_STR("metres"),
        .revision = HS_STR("sha256:0"),
        .opening = HS_STR("{}"),
        .request = HS_STR("{}"),
        .state = {state, sizeof state},
    };
    hs_bench_need(hs_evidence_store_put(store, &row, INT64_MAX), "a row was not stored");
}

static void put_batch(struct hs_evidence_store *store, size_t from)
{
    hs_bench_need(hs_evidence_store_begin(store), "no transaction");
    for (size_t i = from; i < from + BATCH; i++)
        put_row(store, i);
    hs_bench_need(hs_evidence_store_commit(store), "no commit");
}

static size_t rows_wanted(void)
{
    const char *wanted = getenv("HS_EVIDENCE_ROWS");
    return wanted != NULL ? (size_t)atol(wanted) : ROWS;
}

/* Adds the verdicts from `from` up to but without `until` to PostgreSQL. There are 5,000 in a
   second; the verdict HS_EVIDENCE_ROWS is of now. One statement adds many, as the thread of the
   spool does. */
static void put_in_postgres(struct hs_evidence_store *store, size_t from, size_t until)
{
    static const char format[] =
        "WITH i AS (SELECT i, %lld + i * 200 AS at FROM generate_series(%zu::bigint, %zu) i),"
        " put AS (INSERT INTO bodies SELECT at, md5(i::text), i, NULL, NULL, NULL, 'sha256:0', "
        "NULL,"
        " NULL, '2 2 512 0', decode(repeat(md5(i::text), 32), 'hex') FROM i)"
        " INSERT INTO verdicts SELECT at, '', 'm' || i / 40 %% %d, 'p' || i * 7919 %% %d, '',"
        " 'p' || i * 104729 %% %d, 'rifle', 'hit',"
        " CASE WHEN i %% 10 = 0 THEN 'inconclusive' ELSE 'rejected' END,"
        " CASE WHEN i = 1000 THEN 'team' WHEN i %% 100 = 0 THEN 'fire_rate'"
        " ELSE 'origin_mismatch' END, 'metres' FROM i";
    static int64_t first_us;
    char sql[1024];
    if (from == 0)
        first_us = hs_clock_wall_us() - (int64_t)rows_wanted() * 200;
    snprintf(sql, sizeof sql, format, (long long)first_us, from, until - 1, MATCHES, PLAYERS,
             PLAYERS);
    struct hs_db *db = hs_evidence_store_db(store);
    hs_bench_need(hs_db_run(db, sql), hs_db_error(db));
}

struct writer {
    struct hs_evidence_store *store;
    size_t next;
    atomic_bool ends;
};

static void put_next(struct writer *writer)
{
    if (hs_db_is_postgres(hs_evidence_store_db(writer->store)))
        put_in_postgres(writer->store, writer->next, writer->next + BATCH);
    else
        put_batch(writer->store, writer->next);
    writer->next += BATCH;
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    for (int64_t due = hs_clock_us(); !atomic_load(&writer->ends); due += BATCH_MS * 1000) {
        put_next(writer);
        int64_t left = due + BATCH_MS * 1000 - hs_clock_us();
        if (left > 0)
            nanosleep(&(struct timespec){.tv_nsec = left * 1000}, NULL);
    }
    return NULL;
}

static double time_page(const struct hs_evidence_home *home, const struct hs_evidence_query *query)
{
    struct hs_buffer out = {0};
    struct hs_writer writer = {.buffer = &out};
    int64_t next_us, began = hs_clock_us();
    hs_bench_need(hs_evidence_list(home, query, &writer, &next_us) == HS_EVIDENCE_READ, "no page");
    hs_buffer_free(&out);
    return (double)(hs_clock_us() - began) / 1e3;
}

/* Prints the time of the first page with the slowest kind of filter, while rows are added. Closes
   the store. */
static void bench_pages(const struct hs_evidence_home *home, struct hs_evidence_store *store,
                        const char *metric)
{
    const struct {
        const char *what;
        struct hs_evidence_query query;
    } kinds[] = {
        {"no filter", {.limit = 50}},
        {"player", {.player = HS_STR("p77"), .limit = 50}},
        {"match", {.match = HS_STR("m77"), .limit = 50}},
        {"target", {.target = HS_STR("p77"), .limit = 50}},
        {"player and reason",
         {.player = HS_STR("p100"), .reason = HS_STR("fire_rate"), .limit = 50}},
        {"common reason", {.reason = HS_STR("origin_mismatch"), .limit = 50}},
        {"rare reason", {.reason = HS_STR("team"), .limit = 50}},
        {"verdict", {.verdict = HS_STR("inconclusive"), .limit = 50}},
        {"nothing",
         {.weapon = HS_STR("rifle"),
          .verdict = HS_STR("rejected"),
          .reason = HS_STR("team"),
          .kind = HS_STR("hit"),
          .limit = 1000}},
        {"nothing, with a common reason",
         {.reason = HS_STR("origin_mismatch"), .ruleset = HS_STR("unity"), .limit = 50}},
        {"nothing, without an index", {.weapon = HS_STR("m77"), .limit = 50}},
    };
    double slowest = 0;
    struct writer writer = {.store = store, .next = rows_wanted()};
    pthread_t thread;
    hs_bench_need(pthread_create(&thread, NULL, write_on, &writer) == 0, "no thread");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        double taken[PAGES];
        struct hs_evidence_query query = kinds[k].query;
        query.until_us = INT64_MAX;
        for (int i = 0; i < PAGES; i++)
            taken[i] = time_page(home, &query);
        double high = hs_bench_percentile(taken, PAGES, 0.95);
        fprintf(stderr, "first page, %s: median %.1f ms, 95th percentile %.1f ms\n", kinds[k].what,
                taken[PAGES / 2], high);
        slowest = high > slowest ? high : slowest;
    }
    atomic_store(&writer.ends, true);
    pthread_join(thread, NULL);
    hs_evidence_store_close(store);
    hs_bench_print(metric, slowest, "ms", NULL, 0);
}

static void bench_file(void)
{
    const struct hs_evidence_home home = {.directory = directory};
    char day[HS_EVIDENCE_DAY], path[HS_EVIDENCE_PATH], error[256];
    hs_evidence_day(time(NULL), day);
    hs_evidence_path(directory, day, path);
    struct hs_evidence_store *store = hs_evidence_store_open(path, false, error);
    hs_bench_need(store != NULL, error);
    int64_t began = hs_clock_us();
    for (size_t next = 0; next < rows_wanted(); next += BATCH)
        put_batch(store, next);
    hs_bench_print("evidence_put_us", (double)(hs_clock_us() - began) / (double)rows_wanted(), "us",
                   NULL, 0);
    bench_pages(&home, store, "evidence_page_ms");
}

START_TEST(fill_and_list)
{
    struct hs_test_postgres server;
    char file[64], error[256];
    const struct hs_evidence_home home = {
        .is_postgres = true, .connection_file = file, .readers = hs_db_pool_create()};
    hs_postgres_create(&server);
    snprintf(file, sizeof file, "%s/connection", directory);
    hs_postgres_write(&server, file, "postgres", "postgres");
    struct hs_evidence_store *store = hs_evidence_store_open_at(&home, HS_EVIDENCE_ALL, error);
    hs_bench_need(store != NULL, error);
    int64_t today = hs_clock_wall_us() / 86400000000;
    for (int64_t day = today - DAYS; day <= today + 1; day++)
        hs_bench_need(hs_evidence_make_day(hs_evidence_store_db(store), day), "no partition");
    for (size_t next = 0; next < rows_wanted(); next += BATCH)
        put_in_postgres(store, next, next + BATCH);
    bench_pages(&home, store, "evidence_page_postgres_ms");
    hs_db_pool_destroy(home.readers);
    hs_postgres_remove(&server);
}
END_TEST

/* The functions that run PostgreSQL need a test of Check around them. */
static void bench_postgres(void)
{
    const char *missing = hs_postgres_missing();
    if (missing != NULL) {
        fprintf(stderr, "SKIP: evidence_page_postgres_ms: %s\n", missing);
        return;
    }
    Suite *suite = suite_create("postgres");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, fill_and_list);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    hs_bench_need(srunner_ntests_failed(runner) == 0, "PostgreSQL failed");
    srunner_free(runner);
}

/* ---- the service ---- */

enum { REFUSED_EACH = 49, ROUND = 1000, SHOOTERS = 20 };

struct side {
    struct hs_test_service service;
    struct hs_test_http *http;
    double seconds; /* processor time of the requests alone */
};

/* Posts a request. Returns whether the answer has an accepted verdict. */
static bool post(struct side *side, const char *path, const char *body)
{
    struct hs_test_response response;
    hs_test_http_send(side->http, "POST", path, body, strlen(body), NULL, &response);
    if (response.status != 200)
        fprintf(stderr, "%s\n", response.body);
    hs_bench_need(response.status == 200, "a request was not answered");
    bool is_accepted = strstr(response.body, "\"accepted\"") != NULL;
    hs_test_response_free(&response);
    return is_accepted;
}

/* A full window of frames with shooters in a column and targets in another one. */
static void post_frames(struct side *side)
{
    static char body[32768];
    for (int frame = 0; frame < 64; frame++) {
        size_t len = (size_t)snprintf(
            body, sizeof body, "{\"frames\":[{\"time\":%.4f,\"players\":[", 10 + frame / 64.0);
        for (int i = 0; i < SHOOTERS; i++)
            len += (size_t)snprintf(body + len, sizeof body - len,
                                    "%s{\"player\":\"s%d\",\"position\":[0,%d,0],"
                                    "\"weapon\":\"rifle\"}",
                                    i > 0 ? "," : "", i, 2 * i);
        for (int i = 0; i < SHOOTERS; i++)
            len += (size_t)snprintf(body + len, sizeof body - len,
                                    ",{\"player\":\"t%d\",\"position\":[20,%d.%d,0]}", i, 2 * i,
                                    frame % 5);
        snprintf(body + len, sizeof body - len, "]}]}");
        post(side, "/v1/matches/m/frames", body);
    }
}

/* Opens a match with the rules in metres and a rifle that may fire at any rate and is never
   empty. */
static void open_match(struct side *side)
{
    json_t *answer = hs_test_http_json(side->http, "GET", "/v1/rulesets/metres", NULL, NULL);
    json_t *rules = json_object_get(answer, "ruleset");
    json_t *rifle = json_object_get(json_object_get(rules, "weapons"), "rifle");
    json_object_set_new(rules, "name", json_string("fast"));
    json_object_set_new(rifle, "min_interval", json_integer(0));
    json_object_del(rifle, "magazine");
    json_object_del(rifle, "reload");
    hs_bench_need(
        hs_test_http_put(side->http, "/v1/rulesets/fast", json_incref(rules)) &&
            hs_test_http_put(side->http, "/v1/matches/m", json_pack("{s:s}", "ruleset", "fast")),
        "no match");
    json_decref(answer);
}

static void start(struct side *side, const char *data, const char *mode)
{
    const char *const arguments[] = {"--data", data, "--evidence", mode, NULL};
    hs_bench_need(hs_test_service_start(&side->service, arguments), "the service did not start");
    side->http = hs_test_http_open(side->service.data_port);
    open_match(side);
    post_frames(side);
}

/* One claim in each request. */
static void play(struct side *side, int from)
{
    char body[512];
    double began = hs_processor_time(side->service.pid);
    for (int i = from; i < from + ROUND; i++) {
        bool is_refused = i % REFUSED_EACH == 0;
        int pair = i % SHOOTERS;
        snprintf(body, sizeof body,
                 "{\"now\":11,\"hits\":[{\"shot\":%d,\"shooter\":\"s%d\",\"hit_time\":10.9,"
                 "\"fire_time\":10.9,\"start\":[0,%d,1.6],\"end\":[20,%d.2,%.5f],"
                 "\"target\":\"t%d\"}]}",
                 i, pair, 2 * pair + (is_refused ? 9 : 0), 2 * pair, 1.0 + 1e-5 * i, pair);
        hs_bench_need(post(side, "/v1/matches/m/hits", body) != is_refused,
                      "an unexpected verdict");
    }
    side->seconds += hs_processor_time(side->service.pid) - began;
}

static void bench_requests(void)
{
    static struct side sides[2];
    char without[64], with[64];
    snprintf(without, sizeof without, "%s/off", directory);
    snprintf(with, sizeof with, "%s/on", directory);
    start(&sides[0], without, "off");
    start(&sides[1], with, "async");
    for (int i = 0; i < REQUESTS; i += ROUND)
        for (int k = 0; k < 2; k++)
            play(&sides[(i / ROUND + k) % 2], 1 + i);
    for (int k = 0; k < 2; k++) {
        hs_test_http_close(sides[k].http);
        hs_bench_need(hs_test_service_stop(&sides[k].service), "the service did not end well");
    }
    double off = sides[0].seconds * 1e6 / REQUESTS, on = sides[1].seconds * 1e6 / REQUESTS;
    hs_bench_print("hit_store_off_us", off, "us", NULL, 0);
    hs_bench_print("hit_store_us", on, "us", "hit_store_off_us", off / on);
}

/* ---- the writer ---- */

enum { SAMPLES = 64, WRITTEN = 20000 };

/* Reads the first verdicts of the file of a day. */
static void read_verdicts(const char *folder, struct hs_evidence_stored out[SAMPLES])
{
    const struct hs_evidence_home home = {.directory = folder};
    char day[HS_EVIDENCE_DAY];
    struct hs_db *db;
    hs_evidence_day(time(NULL), day);
    hs_bench_need(hs_evidence_open(&home, day, &db) == HS_EVIDENCE_READ,
                  "the verdicts cannot be read");
    struct hs_db_statement *ids = hs_db_prepare(db, "SELECT id FROM bodies");
    for (int i = 0; i < SAMPLES; i++) {
        hs_bench_need(hs_db_step(ids) == HS_DB_ROW, "too few verdicts are stored");
        hs_bench_need(hs_evidence_find(&home, (struct hs_str){0}, hs_db_text(ids, 0), &out[i]) ==
                          HS_EVIDENCE_READ,
                      "a verdict cannot be read");
    }
    hs_db_finalize(ids);
    hs_db_close(db);
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static void bench_writer(void)
{
    static struct hs_evidence_stored stored[SAMPLES];
    char folder[64], path[96], id[40], error[256];
    snprintf(folder, sizeof folder, "%s/on", directory);
    snprintf(path, sizeof path, "%s/written.db", directory);
    read_verdicts(folder, stored);
    struct hs_evidence_store *store = hs_evidence_store_open(path, false, error);
    hs_bench_need(store != NULL, error);
    int64_t began = hs_clock_us();
    double used = processor_seconds();
    for (size_t i = 0; i < WRITTEN; i++) {
        struct hs_evidence_row row = stored[i % SAMPLES].row;
        /* The ids are spread as evenly as those of the service, which are hashes. */
        row.id = (struct hs_str){
            id, (size_t)snprintf(id, sizeof id, "%016zx%016zx", i * 0x9e3779b97f4a7c15u, i)};
        row.at_us = hs_clock_wall_us();
        hs_bench_need(i % BATCH != 0 || hs_evidence_store_begin(store), "no transaction");
        hs_bench_need(hs_evidence_store_put(store, &row, INT64_MAX), "a row was not stored");
        hs_bench_need((i + 1) % BATCH != 0 || hs_evidence_store_commit(store), "no commit");
    }
    double seconds = (double)(hs_clock_us() - began) / 1e6;
    used = processor_seconds() - used;
    hs_evidence_store_close(store);
    for (int i = 0; i < SAMPLES; i++)
        hs_evidence_stored_close(&stored[i]);
    hs_bench_print("evidence_writer_rps", WRITTEN / seconds, "1/s", NULL, 0);
    hs_bench_print("evidence_writer_us", used * 1e6 / WRITTEN, "us", NULL, 0);
}

int main(void)
{
    char command[96];
    hs_bench_need(mkdtemp(directory) != NULL, "no directory");
    bench_requests();
    bench_writer();
    fflush(stdout);
    bench_file();
    bench_postgres();
    snprintf(command, sizeof command, "rm -r %s", directory);
    hs_bench_need(system(command) == 0, "cannot remove the directory");
    return 0;
}
