/* Tests of the evidence store in PostgreSQL: several replicas with one database, and what happens
   while the database is away. */
#include "tests/integration/stored.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UP       "hindsight_evidence_database_up"
#define QUEUE    "hindsight_evidence_queue_length"
#define WRITTEN  "hindsight_evidence_written_total"
#define SENT     "hindsight_evidence_sent_total"
#define FAILURES "hindsight_evidence_failures_total"

enum { REPLICAS = 2 };

static struct hs_test_kept kept[REPLICAS];

static void setup(void)
{
    hs_stored_setup(&kept[0]);
    hs_kept_setup(&kept[1]);
    memcpy(kept[1].store, kept[0].store, sizeof kept[1].store);
}

static void teardown(void)
{
    if (hs_stored_server()->pid == 0)
        hs_postgres_start(hs_stored_server());
    hs_postgres_pause(hs_stored_server(), false);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_teardown(&kept[i]);
}

static const char *sql(const char *text)
{
    return hs_postgres_sql(hs_stored_server(), hs_stored_database(), "%s", text);
}

static size_t count_of(struct hs_test_kept *replica, const char *query)
{
    json_t *list = hs_stored_list(replica, query);
    size_t count = json_array_size(list);
    json_decref(list);
    return count;
}

/* Waits until a metric has at least a value. */
static void await(struct hs_test_kept *replica, const char *metric, double least)
{
    for (int tries = 0; tries < 6000 && hs_kept_metric(replica, metric) < least; tries++)
        hs_test_pause_ms(10);
    ck_assert_msg(hs_kept_metric(replica, metric) >= least, "%s", metric);
}

/* Posts claims of `s` about a match, whose verdicts are stored. */
static void post(struct hs_test_kept *replica, const char *match, int first, int count)
{
    char id[HS_STORED_ID];
    for (int i = 0; i < count; i++)
        hs_stored_post(replica, match, "s", first + i, HS_STORED_AWAY, id);
}

static void open_match(struct hs_test_kept *replica, const char *match)
{
    hs_stored_frames(replica, match, 10);
}

/* ---- replicas ---- */

/* Both replicas make the tables of an empty database at the same time. Each replica lists the
   verdicts that both have stored. */
START_TEST(replicas_share_a_database)
{
    char id[HS_STORED_ID], path[96], *answer;
    static const char *const matches[REPLICAS] = {"one", "two"};
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_start(&kept[i], NULL);
    for (int i = 0; i < REPLICAS; i++) {
        open_match(&kept[i], matches[i]);
        post(&kept[i], matches[i], 1, 3);
    }
    hs_stored_post(&kept[0], "one", "t", 9, HS_STORED_BESIDE, id);
    for (int i = 0; i < REPLICAS; i++)
        hs_stored_wait(&kept[i]);
    for (int i = 0; i < REPLICAS; i++) {
        ck_assert_uint_eq(count_of(&kept[i], ""), 7);
        ck_assert_uint_eq(count_of(&kept[i], "match=two"), 3);
    }
    snprintf(path, sizeof path, "/v1/verdicts/%s/reviews", id);
    ck_assert_int_eq(hs_kept_status(&kept[1], "POST", path, "{\"label\":\"lag\"}"), 201);
    ck_assert_uint_eq(count_of(&kept[0], "reviewed"), 1);
    hs_kept_holds(hs_kept_get(&kept[0], path), "\"lag\"");
    json_t *list = hs_stored_list(&kept[1], "");
    hs_stored_recheck(&kept[1], list);
    json_decref(list);
    ck_assert_int_eq(hs_kept_send(&kept[1], "DELETE", "/v1/players/s", NULL, &answer), 200);
    ck_assert_str_eq(answer, "{\"deleted\":8}"); /* `s` is the target of the reviewed verdict */
    free(answer);
    ck_assert_uint_eq(count_of(&kept[0], ""), 0);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_stop(&kept[i]);
}
END_TEST

/* Changes the spool of a replica that does not run. */
static void change_spool(struct hs_test_kept *replica, const char *text)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(hs_kept_path(replica, "spool.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Gives the rows of a spool the times `first_us`, `first_us` + 1 and so on. */
static void set_times(struct hs_test_kept *replica, int64_t first_us)
{
    char text[512];
    snprintf(text, sizeof text,
             "CREATE TEMP TABLE t AS SELECT at, %lld + (SELECT count(*) FROM verdicts w"
             " WHERE w.at < v.at) AS later FROM verdicts v;"
             "UPDATE bodies SET at = (SELECT later FROM t WHERE t.at = bodies.at);"
             "UPDATE verdicts SET at = (SELECT later FROM t WHERE t.at = verdicts.at)",
             (long long)first_us);
    change_spool(replica, text);
}

/* Every page has each row once, although replicas stored rows with the same time. The rows are of a
   day that has no partition yet. */
START_TEST(rows_of_one_time_are_all_listed)
{
    enum { ROWS = 6 };
    static const char *const matches[REPLICAS] = {"one", "two"};
    char path[96] = "/v1/verdicts?limit=2";
    int64_t first_us = ((int64_t)time(NULL) - INT64_C(5) * 86400) * 1000000;
    size_t seen = 0;
    json_int_t next = 0;
    hs_postgres_stop(hs_stored_server());
    for (int i = 0; i < REPLICAS; i++) {
        hs_kept_start(&kept[i], NULL);
        open_match(&kept[i], matches[i]);
        post(&kept[i], matches[i], 1, ROWS / REPLICAS);
        hs_kept_stop(&kept[i]);
        set_times(&kept[i], first_us);
    }
    hs_postgres_start(hs_stored_server());
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_start(&kept[i], NULL);
    for (int i = 0; i < REPLICAS; i++)
        hs_stored_wait(&kept[i]);
    do {
        json_t *root = hs_stored_get(&kept[0], path);
        seen += json_array_size(json_object_get(root, "verdicts"));
        next = json_integer_value(json_object_get(root, "next"));
        snprintf(path, sizeof path, "/v1/verdicts?limit=2&cursor=%lld", (long long)next);
        json_decref(root);
    } while (next > 0);
    ck_assert_uint_eq(seen, ROWS);
    ck_assert_str_eq(sql("SELECT count(DISTINCT at) || ' ' || max(at) - min(at)"
                         " FROM hindsight.verdicts"),
                     "6 5");
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_stop(&kept[i]);
}
END_TEST

static void *lock_often(void *unused)
{
    for (int i = 0; i < 10; i++)
        sql("BEGIN; LOCK TABLE hindsight.verdicts; SELECT pg_sleep(0.1); COMMIT");
    return unused;
}

/* A page that takes long ends after today and yesterday. The next page reads all older days. */
START_TEST(slow_pages_end)
{
    char path[96] = "/v1/verdicts";
    pthread_t locker;
    json_int_t next;
    int pages = 0;
    hs_kept_start(&kept[0], NULL);
    await(&kept[0], UP, 1);
    ck_assert_int_eq(pthread_create(&locker, NULL, lock_often, NULL), 0);
    hs_test_pause_ms(50);
    do {
        json_t *root = hs_stored_get(&kept[0], path);
        next = json_integer_value(json_object_get(root, "next"));
        snprintf(path, sizeof path, "/v1/verdicts?cursor=%lld", (long long)next);
        json_decref(root);
        pages++;
    } while (next > 0 && pages < 5);
    pthread_join(locker, NULL);
    ck_assert_int_le(pages, 2);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* ---- a database that is away ---- */

/* Posts while the database is away, with `--evidence sync`. No claim waits for it. */
static void post_while_away(struct hs_test_kept *replica)
{
    enum { CLAIMS = 20 };
    double slowest = 0;
    for (int i = 0; i < CLAIMS; i++) {
        double began = hs_test_seconds();
        post(replica, "one", 100 + i, 1);
        double took = hs_test_seconds() - began;
        slowest = took > slowest ? took : slowest;
        hs_test_pause_ms(20);
    }
    ck_assert_double_lt(slowest, 1);
    ck_assert_double_ge(hs_kept_metric(replica, QUEUE), CLAIMS);
}

/* Rows: stopped, hung. */
START_TEST(verdicts_wait_for_the_database)
{
    struct hs_test_postgres *server = hs_stored_server();
    bool is_stopped = _i == 0;
    hs_kept_start_with(&kept[0], "--evidence", "sync");
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 5);
    hs_stored_wait(&kept[0]);
    ck_assert_double_eq(hs_kept_metric(&kept[0], UP), 1);
    if (is_stopped)
        hs_postgres_stop(server);
    else
        hs_postgres_pause(server, true);
    post_while_away(&kept[0]);
    ck_assert_int_eq(hs_kept_status(&kept[0], "GET", "/v1/verdicts", NULL), 503);
    await(&kept[0], FAILURES, 1);
    ck_assert_double_eq(hs_kept_metric(&kept[0], UP), 0);
    ck_assert_int_eq(hs_kept_status(&kept[0], "GET", "/readyz", NULL), 200);
    if (is_stopped)
        hs_postgres_start(server);
    else
        hs_postgres_pause(server, false);
    hs_stored_wait(&kept[0]);
    ck_assert_uint_eq(count_of(&kept[0], ""), 25);
    ck_assert_double_eq(hs_kept_metric(&kept[0], SENT), 25);
    ck_assert_double_eq(hs_kept_metric(&kept[0], UP), 1);
    json_t *list = hs_stored_list(&kept[0], "");
    hs_stored_recheck(&kept[0], list);
    json_decref(list);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* The first host of the connection string is not there. */
START_TEST(the_next_host_takes_over)
{
    char text[160];
    snprintf(text, sizeof text,
             "host=/nowhere,%s dbname=%s user=postgres target_session_attrs=read-write",
             hs_stored_server()->directory, hs_stored_database());
    hs_test_write_file(kept[0].store[3], text);
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 3);
    hs_stored_wait(&kept[0]);
    ck_assert_uint_eq(count_of(&kept[0], ""), 3);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* The verdicts of a spool are stored once, even if they are sent twice. This happens if the process
   ends between the commit of the database and that of the spool. */
START_TEST(the_spool_survives_a_restart)
{
    int code;
    hs_postgres_stop(hs_stored_server());
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 5);
    await(&kept[0], WRITTEN, 5);
    hs_kept_kill(&kept[0]);
    hs_test_shell(&code, "cd '%s' && mkdir before && cp -p spool.db* before", kept[0].data);
    ck_assert_int_eq(code, 0);
    hs_kept_start(&kept[0], NULL);
    ck_assert_double_eq(hs_kept_metric(&kept[0], QUEUE), 5);
    hs_postgres_start(hs_stored_server());
    hs_stored_wait(&kept[0]);
    ck_assert_double_eq(hs_kept_metric(&kept[0], SENT), 5);
    hs_kept_stop(&kept[0]);
    hs_test_shell(&code, "cd '%s' && rm spool.db* && mv before/* .", kept[0].data);
    ck_assert_int_eq(code, 0);
    hs_kept_start(&kept[0], NULL);
    hs_stored_wait(&kept[0]);
    ck_assert_double_eq(hs_kept_metric(&kept[0], SENT), 0);
    ck_assert_uint_eq(count_of(&kept[0], ""), 5);
    ck_assert_str_eq(sql("SELECT count(*) FROM hindsight.bodies"), "5");
    hs_kept_stop(&kept[0]);
}
END_TEST

/* A verdict with a damaged body in the spool is sent with this body, and the verdicts after it
   follow. Rows: the damaged verdict is the only one; other verdicts wait behind it. */
START_TEST(damaged_bodies_hold_up_nothing)
{
    int count = _i == 0 ? 1 : 3;
    hs_postgres_stop(hs_stored_server());
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, count);
    hs_kept_stop(&kept[0]);
    change_spool(&kept[0], "UPDATE bodies SET body = x'c0ffee' WHERE at ="
                           " (SELECT min(at) FROM bodies)");
    hs_postgres_start(hs_stored_server());
    hs_kept_start(&kept[0], NULL);
    hs_stored_wait(&kept[0]);
    ck_assert_double_eq(hs_kept_metric(&kept[0], SENT), count);
    ck_assert_double_eq(hs_kept_metric(&kept[0], FAILURES), 0);
    ck_assert_uint_eq(count_of(&kept[0], "player=s"), (size_t)count);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* Returns the number of pages of the spool, with those that are still in its log. */
static int count_pages(struct hs_test_kept *replica)
{
    sqlite3 *db;
    sqlite3_stmt *find;
    ck_assert_int_eq(sqlite3_open(hs_kept_path(replica, "spool.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA page_count", -1, &find, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(find), SQLITE_ROW);
    int count = sqlite3_column_int(find, 0);
    sqlite3_finalize(find);
    sqlite3_close(db);
    return count;
}

START_TEST(the_spool_is_bounded)
{
    enum { LIMIT = 1048576, PAGE = 4096, CLAIMS = 2000 };
    static const char dropped[] = "hindsight_evidence_dropped_total{reason=\"queue\"}";
    int posted = 0;
    hs_postgres_stop(hs_stored_server());
    hs_kept_start(&kept[0], (const char *const[]){"--evidence-bytes", "1048576",
                                                  "--evidence-queue-bytes", "524288", NULL});
    open_match(&kept[0], "one");
    for (; posted < CLAIMS && hs_kept_metric(&kept[0], dropped) == 0; posted += 20) {
        double written = hs_kept_metric(&kept[0], WRITTEN);
        post(&kept[0], "one", posted, 20);
        for (int tries = 0; tries < 30 && hs_kept_metric(&kept[0], WRITTEN) < written + 20; tries++)
            hs_test_pause_ms(10); /* or stop waiting, because a full spool takes no verdict */
    }
    ck_assert_double_gt(hs_kept_metric(&kept[0], dropped), 0);
    ck_assert_int_gt(count_pages(&kept[0]), LIMIT / PAGE / 2);
    ck_assert_int_le(count_pages(&kept[0]), LIMIT / PAGE);
    hs_postgres_start(hs_stored_server());
    hs_stored_wait(&kept[0]);
    ck_assert_double_eq(hs_kept_metric(&kept[0], SENT) + hs_kept_metric(&kept[0], dropped), posted);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* A verdict that waited in a spool while its player was deleted is not stored any more. */
START_TEST(deletions_reach_the_spools_of_other_replicas)
{
    char id[HS_STORED_ID];
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_start(&kept[i], NULL);
    hs_postgres_stop(hs_stored_server());
    open_match(&kept[1], "one");
    post(&kept[1], "one", 1, 3);
    hs_kept_stop(&kept[1]);
    hs_postgres_start(hs_stored_server());
    await(&kept[0], UP, 1);
    ck_assert_int_eq(hs_kept_status(&kept[0], "DELETE", "/v1/players/account-s", NULL), 200);
    hs_kept_start(&kept[1], NULL);
    hs_stored_wait(&kept[1]);
    ck_assert_uint_eq(count_of(&kept[0], ""), 0);
    open_match(&kept[1], "two"); /* later verdicts are stored */
    hs_stored_post(&kept[1], "two", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept[1]);
    ck_assert_uint_eq(count_of(&kept[0], ""), 1);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_stop(&kept[i]);
}
END_TEST

static bool is_logged(const char *text)
{
    char log[16384] = "";
    ck_assert_int_gt(pread(kept[0].service.err, log, sizeof log - 1, 0), 0);
    return strstr(log, text) != NULL;
}

/* ---- partitions and rights ---- */

static const char partitions[] =
    "SELECT count(*) || ' ' || min(relname) FROM pg_class c JOIN pg_inherits i"
    " ON i.inhrelid = c.oid WHERE i.inhparent = 'hindsight.%s'::regclass AND relkind = 'r'";

static void add_day(const char *table, const char *day, int64_t from_us)
{
    long long until_us = from_us + INT64_C(86400000000);
    hs_postgres_sql(hs_stored_server(), hs_stored_database(),
                    "CREATE TABLE hindsight.%s_%s PARTITION OF hindsight.%s FOR VALUES FROM (%lld)"
                    " TO (%lld)",
                    table, day, table, (long long)from_us, until_us);
}

START_TEST(days_have_partitions)
{
    static const int64_t day_us = INT64_C(86400000000);
    char wanted[64], day[16];
    time_t yesterday = time(NULL) - 86400;
    long long from_us = yesterday / 86400 * day_us;
    hs_kept_start(&kept[0], NULL);
    await(&kept[0], UP, 1);
    hs_kept_stop(&kept[0]);
    strftime(day, sizeof day, "%Y_%m_%d", gmtime(&yesterday));
    sql("CREATE TABLE hindsight.verdicts_2020_01_01 PARTITION OF hindsight.verdicts"
        " FOR VALUES FROM (1577836800000000) TO (1577923200000000);"
        "CREATE TABLE hindsight.bodies_2020_01_01 PARTITION OF hindsight.bodies"
        " FOR VALUES FROM (1577836800000000) TO (1577923200000000)");
    add_day("verdicts", day, from_us);
    add_day("bodies", day, from_us);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_start(&kept[i], NULL);
    for (int i = 0; i < REPLICAS; i++)
        await(&kept[i], UP, 1);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_stop(&kept[i]);
    for (int i = 0; i < 2; i++) {
        const char *table = i == 0 ? "verdicts" : "bodies";
        snprintf(wanted, sizeof wanted, "4 %s_%s", table, day);
        ck_assert_str_eq(
            hs_postgres_sql(hs_stored_server(), hs_stored_database(), partitions, table), wanted);
    }
}
END_TEST

/* Returns how many rulesets and maps the database has. */
static int count_documents(void)
{
    return (int)strtol(sql("SELECT count(*) FROM hindsight.documents"), NULL, 10);
}

/* When an old day is removed, so are the documents that only its verdicts need. A replica that has
   sent such a document before sends it again with the next verdict that needs it. */
START_TEST(documents_go_with_the_last_day_that_needs_them)
{
    char old[16], before[16];
    int64_t today = (int64_t)time(NULL) / 86400;
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_start(&kept[i], NULL);
    await(&kept[1], UP, 1);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 1);
    hs_stored_wait(&kept[0]);
    ck_assert_int_eq(count_documents(), 1);
    hs_kept_stop(&kept[1]);
    strftime(old, sizeof old, "%Y_%m_%d", gmtime(&(time_t){(today - 60) * 86400}));
    strftime(before, sizeof before, "%Y_%m_%d", gmtime(&(time_t){(today - 1) * 86400}));
    for (int i = 0; i < 2; i++) {
        add_day(i == 0 ? "verdicts" : "bodies", old, (today - 60) * 86400000000);
        add_day(i == 0 ? "verdicts" : "bodies", before, (today - 1) * 86400000000);
    }
    /* The verdict is now of the old day. Another document belongs to a verdict of yesterday. */
    sql("UPDATE hindsight.verdicts SET at = at - 60 * 86400000000;"
        "UPDATE hindsight.bodies SET at = at - 60 * 86400000000;"
        "INSERT INTO hindsight.documents VALUES('map', 'sha256:1', 'arena', ''),"
        " ('map', 'sha256:2', 'arena', ''), ('ruleset', 'sha256:3', 'game', '');"
        "INSERT INTO hindsight.bodies SELECT at + 59 * 86400000000, 'a', 0, NULL, NULL, NULL,"
        " 'sha256:3', 'arena', 'sha256:2', '', '' FROM hindsight.bodies");
    hs_kept_start(&kept[1], NULL); /* it removes the old day */
    for (int tries = 0; tries < 1000 && count_documents() > 2; tries++)
        hs_test_pause_ms(10);
    ck_assert_str_eq(sql("SELECT string_agg(revision, ' ' ORDER BY revision)"
                         " FROM hindsight.documents"),
                     "sha256:2 sha256:3");
    post(&kept[0], "one", 2, 1);
    hs_stored_wait(&kept[0]);
    ck_assert_int_eq(count_documents(), 3);
    json_t *list = hs_stored_list(&kept[1], "player=s");
    ck_assert_uint_eq(json_array_size(list), 1);
    hs_stored_recheck(&kept[1], list);
    json_decref(list);
    for (int i = 0; i < REPLICAS; i++)
        hs_kept_stop(&kept[i]);
}
END_TEST

/* Waits until the service's connections are closed, because only then has PostgreSQL counted all of
   their scans. Returns how often the filled partitions were read as a whole. */
static long count_whole_scans(void)
{
    static const char open[] = "SELECT count(*) FROM pg_stat_activity"
                               " WHERE application_name = 'hindsight'";
    for (int tries = 0; tries < 1000 && strcmp(sql(open), "0") != 0; tries++)
        hs_test_pause_ms(10);
    return strtol(sql("SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE n_live_tup > 1000"),
                  NULL, 10);
}

/* Stores verdicts of many players on the days before today. */
static void fill_days(int days)
{
    int64_t today = (int64_t)time(NULL) / 86400;
    for (int i = 1; i <= days; i++) {
        char day[16];
        int64_t from_us = (today - i) * 86400000000;
        strftime(day, sizeof day, "%Y_%m_%d", gmtime(&(time_t){(today - i) * 86400}));
        add_day("verdicts", day, from_us);
        add_day("bodies", day, from_us);
        hs_postgres_sql(hs_stored_server(), hs_stored_database(),
                        "INSERT INTO hindsight.verdicts SELECT %lld + i, '', 'm' || i / 1000,"
                        " 'p' || i %% 500, 'a' || i %% 500, 't' || i %% 500, 'rifle', 'hit',"
                        " 'rejected', 'fire_rate', 'centimetres' FROM generate_series(1, 20000) i;"
                        "INSERT INTO hindsight.bodies SELECT at, md5(at::text), 1, NULL, NULL,"
                        " NULL, 'sha256:1', '', '', '0 0 0 0', '' FROM hindsight.verdicts"
                        " WHERE at > %lld AND at < %lld + 86400000000",
                        (long long)from_us, (long long)from_us, (long long)from_us);
    }
    sql("ANALYZE hindsight.verdicts; ANALYZE hindsight.bodies");
}

/* Reports and deletions find the rows of a player with indexes, under each of the player's names.
   Otherwise both would time out in a large store. */
START_TEST(players_are_found_with_indexes)
{
    char *answer;
    hs_kept_start(&kept[0], NULL);
    await(&kept[0], UP, 1);
    fill_days(4);
    hs_kept_stop(&kept[0]);
    long before = count_whole_scans();
    hs_kept_start(&kept[0], NULL);
    hs_kept_holds(hs_kept_get(&kept[0], "/v1/players/p7"), "{\"rejected\":160}");
    hs_kept_holds(hs_kept_get(&kept[0], "/v1/players/a7"), "{\"rejected\":160}");
    for (int i = 0; i < 3; i++) {
        char path[] = "/v1/players/?7";
        path[12] = "pat"[i];
        ck_assert_int_eq(hs_kept_send(&kept[0], "DELETE", path, NULL, &answer), 200);
        ck_assert_str_eq(answer, i == 0 ? "{\"deleted\":160}" : "{\"deleted\":0}");
        free(answer);
    }
    hs_kept_stop(&kept[0]);
    ck_assert_int_eq(count_whole_scans(), before);
}
END_TEST

/* Uploads a map whose boxes have random corners, so that it cannot be compressed well. */
static void upload_large_map(int seed)
{
    enum { BOXES = 4000, BOX = 96 };
    char *map = malloc(BOXES * BOX + 64);
    unsigned bits = (unsigned)seed;
    ck_assert_ptr_nonnull(map);
    size_t len = (size_t)sprintf(map, "{\"boxes\":[");
    for (int i = 0; i < BOXES; i++) {
        unsigned corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = (bits = bits * 1664525 + 1013904223) >> 12;
        len += (size_t)sprintf(map + len, "%s{\"min\":[%u,%u,%u],\"max\":[%u,%u,%u]}",
                               i > 0 ? "," : "", corner[0], corner[1], corner[2], corner[0] + 100,
                               corner[1] + 100, corner[2] + 100);
    }
    memcpy(map + len, "]}", sizeof "]}");
    int status = (int)hs_kept_status(&kept[0], "PUT", "/v1/maps/arena", map);
    ck_assert_msg(status == 200 || status == 201, "%d", status);
    free(map);
}

/* Maps that are uploaded again and again leave the spool, so that it can still take verdicts. */
START_TEST(sent_maps_leave_the_spool)
{
    enum { MAPS = 24 };
    hs_kept_start(&kept[0], (const char *const[]){"--evidence-bytes", "1048576",
                                                  "--evidence-queue-bytes", "524288", NULL});
    await(&kept[0], UP, 1);
    for (int i = 0; i < MAPS; i++)
        upload_large_map(i);
    for (int tries = 0; tries < 3000 && count_documents() < MAPS; tries++)
        hs_test_pause_ms(10);
    ck_assert_int_eq(count_documents(), MAPS);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 3);
    hs_stored_wait(&kept[0]);
    ck_assert_uint_eq(count_of(&kept[0], ""), 3);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* A list uses the connection of the list before. */
START_TEST(lists_share_connections)
{
    static const char connections[] =
        "SELECT count(*) || ' ' || max(backend_start) FROM pg_stat_activity"
        " WHERE application_name = 'hindsight' AND datname = current_database()";
    char before[64];
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 3);
    hs_stored_wait(&kept[0]);
    ck_assert_uint_eq(count_of(&kept[0], "player=s&reason=origin_mismatch"), 3);
    snprintf(before, sizeof before, "%s", sql(connections));
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(count_of(&kept[0], "match=one"), 3);
    ck_assert_str_eq(sql(connections), before);
    hs_postgres_stop(hs_stored_server()); /* the connection fails, and a new one takes its place */
    hs_postgres_start(hs_stored_server());
    ck_assert_uint_eq(count_of(&kept[0], "match=one"), 3);
    hs_kept_stop(&kept[0]);
}
END_TEST

START_TEST(a_role_without_rights_is_reported)
{
    hs_postgres_sql(hs_stored_server(), "postgres",
                    "DO $$BEGIN IF to_regrole('guest') IS NULL THEN CREATE ROLE guest LOGIN;"
                    " END IF; END$$");
    hs_postgres_write(hs_stored_server(), kept[0].store[3], hs_stored_database(), "guest");
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 3);
    await(&kept[0], FAILURES, 1);
    ck_assert_double_eq(hs_kept_metric(&kept[0], UP), 0);
    ck_assert(is_logged("permission denied"));
    hs_postgres_sql(hs_stored_server(), "postgres", "GRANT CREATE ON DATABASE %s TO guest",
                    hs_stored_database());
    hs_stored_wait(&kept[0]); /* it goes on without a restart */
    ck_assert_uint_eq(count_of(&kept[0], ""), 3);
    hs_kept_stop(&kept[0]);
    hs_postgres_sql(hs_stored_server(), hs_stored_database(), "DROP OWNED BY guest");
}
END_TEST

START_TEST(tables_of_another_version_are_left_alone)
{
    sql("CREATE SCHEMA hindsight; CREATE TABLE hindsight.verdicts(at bigint);"
        "COMMENT ON TABLE hindsight.verdicts IS '99'");
    hs_kept_start(&kept[0], NULL);
    open_match(&kept[0], "one");
    post(&kept[0], "one", 1, 3);
    await(&kept[0], FAILURES, 1);
    ck_assert(is_logged("tables of version 99, and this program writes version 2"));
    ck_assert_int_eq(hs_kept_status(&kept[0], "GET", "/v1/verdicts", NULL), 503);
    ck_assert(is_logged("tables of version 99, and this program reads version 2"));
    sql("DROP SCHEMA hindsight CASCADE");
    hs_stored_wait(&kept[0]); /* it goes on without a restart */
    ck_assert_uint_eq(count_of(&kept[0], ""), 3);
    hs_kept_stop(&kept[0]);
}
END_TEST

/* Rows: no connection string at all, a server that is not there. */
START_TEST(the_log_has_no_part_of_the_connection_string)
{
    static const char *const texts[] = {"password hunter2", "host=/nowhere password=hunter2"};
    hs_test_write_file(kept[0].store[3], texts[_i]);
    hs_kept_start(&kept[0], NULL);
    await(&kept[0], FAILURES, 1);
    ck_assert_int_eq(hs_kept_status(&kept[0], "GET", "/v1/verdicts", NULL), 503);
    ck_assert(is_logged(_i == 0 ? "does not contain a PostgreSQL connection string" : "/nowhere"));
    ck_assert(!is_logged("hunter2"));
    hs_kept_stop(&kept[0]);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, replicas_share_a_database);
    tcase_add_test(tests, rows_of_one_time_are_all_listed);
    tcase_add_test(tests, slow_pages_end);
    tcase_add_loop_test(tests, verdicts_wait_for_the_database, 0, 2);
    tcase_add_test(tests, the_next_host_takes_over);
    tcase_add_test(tests, the_spool_survives_a_restart);
    tcase_add_loop_test(tests, damaged_bodies_hold_up_nothing, 0, 2);
    tcase_add_test(tests, the_spool_is_bounded);
    tcase_add_test(tests, deletions_reach_the_spools_of_other_replicas);
    tcase_add_test(tests, days_have_partitions);
    tcase_add_test(tests, documents_go_with_the_last_day_that_needs_them);
    tcase_add_test(tests, players_are_found_with_indexes);
    tcase_add_test(tests, sent_maps_leave_the_spool);
    tcase_add_test(tests, lists_share_connections);
    tcase_add_test(tests, tables_of_another_version_are_left_alone);
    tcase_add_test(tests, a_role_without_rights_is_reported);
    tcase_add_loop_test(tests, the_log_has_no_part_of_the_connection_string, 0, 2);
}

/* In one process, because tests stop the server, which must be a child of theirs. */
int main(void)
{
    Suite *suite = suite_create("evidence_postgres");
    hs_stored_add_cases(suite, HS_STORED_POSTGRES, setup, teardown, add_tests);
    return hs_run_suite_in_one_process(suite);
}
