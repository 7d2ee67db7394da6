/* Files of the evidence store, while other threads make, read and remove them. */
#include "service/evidence/files.h"
#include "service/evidence/reader.h"
#include "service/evidence/reading.h"
#include "service/evidence/wal.h"
#include "service/evidence/writer.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/system/clock.h"
#include "service/watch/metrics.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64];

static void setup(void)
{
    strcpy(folder, "/tmp/hindsight_evidence_store_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    int code;
    hs_test_shell(&code, "rm -r '%s'", folder);
    ck_assert_int_eq(code, 0);
}

static struct hs_evidence_store *open_store(const char *path)
{
    char error[256];
    struct hs_evidence_store *store = hs_evidence_store_open(path, false, error);
    ck_assert_msg(store != NULL, "%s", error);
    return store;
}

/* ---- new files ---- */

/* A thread that opens a file again and again, from the moment when the file exists. */
struct reader {
    pthread_t thread;
    char day[HS_EVIDENCE_DAY], path[HS_EVIDENCE_PATH];
    atomic_bool ends;
    size_t looks, without_tables, failures;
};

static void *read_on(void *context)
{
    struct reader *reader = context;
    const struct hs_evidence_home home = {.directory = folder};
    struct hs_db *db;
    while (!atomic_load(&reader->ends)) {
        if (access(reader->path, F_OK) != 0)
            continue;
        enum hs_evidence_read result = hs_evidence_open(&home, reader->day, &db);
        reader->looks++;
        reader->without_tables += result == HS_EVIDENCE_MISSING;
        reader->failures += result == HS_EVIDENCE_FAILED;
        if (result == HS_EVIDENCE_READ)
            hs_db_close(db);
    }
    return NULL;
}

/* SQLite locks a file while it makes the tables, and readers would fail on a slow disk. So a file
   gets its name only when it has its tables. */
START_TEST(a_new_file_appears_with_its_tables)
{
    enum { FILES = 20 };
    size_t looks = 0;
    for (int i = 0; i < FILES; i++) {
        struct reader reader = {0};
        snprintf(reader.day, sizeof reader.day, "2026-01-%02d", i + 1);
        hs_evidence_path(folder, reader.day, reader.path);
        ck_assert_int_eq(pthread_create(&reader.thread, NULL, read_on, &reader), 0);
        struct hs_evidence_store *store = open_store(reader.path);
        usleep(2000);
        atomic_store(&reader.ends, true);
        pthread_join(reader.thread, NULL);
        hs_evidence_store_close(store);
        ck_assert_uint_eq(reader.without_tables, 0);
        ck_assert_uint_eq(reader.failures, 0);
        looks += reader.looks;
    }
    ck_assert_uint_gt(looks, 0);
}
END_TEST

START_TEST(a_new_file_belongs_to_one_user_and_leaves_no_other_file)
{
    struct stat status;
    char path[HS_EVIDENCE_PATH];
    int code;
    hs_evidence_path(folder, "2026-01-31", path);
    hs_evidence_store_close(open_store(path));
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    const char *names = hs_test_shell(&code, "ls '%s'", folder);
    ck_assert_str_eq(names, "evidence-2026-01-31.db\n");
}
END_TEST

/* ---- removed files ---- */

/* Retention may remove a file after a reader has listed it. */
START_TEST(a_removed_file_has_no_verdicts)
{
    const struct hs_evidence_home home = {.directory = folder};
    struct hs_db *db;
    ck_assert_int_eq(hs_evidence_open(&home, "2026-01-31", &db), HS_EVIDENCE_MISSING);
    ck_assert_ptr_null(db);
}
END_TEST

/* Files are removed by their age. After a jump of the wall clock, the first day only removes files
   that the day before the jump would also have removed. */
START_TEST(a_jump_of_the_clock_removes_no_file)
{
    static const struct {
        const char *today, *left;
    } steps[] = {
        {"2026-02-03", "evidence-2026-02-01.db\nevidence-2026-02-02.db\nevidence-2026-02-03.db\n"},
        {"2026-06-03", "evidence-2026-02-02.db\nevidence-2026-02-03.db\nevidence-2026-06-03.db\n"},
        {"2026-02-04", "evidence-2026-02-02.db\nevidence-2026-02-03.db\nevidence-2026-02-04.db\n"
                       "evidence-2026-06-03.db\n"},
        {"2026-02-05", "evidence-2026-02-03.db\nevidence-2026-02-04.db\nevidence-2026-02-05.db\n"
                       "evidence-2026-06-03.db\n"},
        {"2026-06-04", "evidence-2026-06-03.db\nevidence-2026-06-04.db\n"},
    };
    enum { KEEP_DAYS = 2 };
    int code;
    hs_test_shell(&code,
                  "cd '%s' && touch evidence-2026-01-30.db evidence-2026-02-01.db "
                  "evidence-2026-02-02.db",
                  folder);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        hs_test_shell(&code, "touch '%s/evidence-%s.db'", folder, steps[i].today);
        hs_evidence_remove_old(folder, steps[i].today, KEEP_DAYS, UINT64_MAX);
        const char *names = hs_test_shell(&code, "ls '%s'", folder);
        ck_assert_msg(strcmp(names, steps[i].left) == 0, "%s: %s", steps[i].today, names);
    }
}
END_TEST

/* ---- times ---- */

static size_t listed(int64_t since_us, int64_t until_us)
{
    const struct hs_evidence_home home = {.directory = folder};
    struct hs_evidence_query query = {.limit = 1000, .since_us = since_us, .until_us = until_us};
    size_t count = 0;
    while (query.until_us > 0) {
        struct hs_buffer text = {0};
        struct hs_writer writer = {.buffer = &text};
        int64_t next_us;
        ck_assert_int_eq(hs_evidence_list(&home, &query, &writer, &next_us), HS_EVIDENCE_READ);
        hs_buffer_append(&text, "", 1);
        ck_assert(!text.failed);
        for (const char *at = text.data; (at = strstr(at, "\"verdict_id\"")) != NULL; at++)
            count++;
        hs_buffer_free(&text);
        query.until_us = next_us;
    }
    return count;
}

/* The wall clock steps back after the last microsecond of a day has a row. A list finds a row only
   if its time is in the day of its file. */
START_TEST(no_row_gets_a_time_after_the_day_of_its_file)
{
    enum { ROWS = 5 };
    char path[HS_EVIDENCE_PATH], id[40];
    int64_t day_us, end_us;
    hs_evidence_path(folder, "2026-01-01", path);
    hs_evidence_span("2026-01-01", &day_us, &end_us);
    struct hs_evidence_store *store = open_store(path);
    ck_assert(hs_evidence_store_begin(store));
    for (int i = 0; i < 2 * ROWS; i++) {
        snprintf(id, sizeof id, "%032x", (unsigned)i);
        const struct hs_evidence_row row = {.at_us = end_us - (i < ROWS ? 1 : 1000000),
                                            .id = {id, 32},
                                            .kind = HS_STR("hit"),
                                            .verdict = HS_STR("rejected"),
                                            .revision = HS_STR("sha256:0")};
        ck_assert(hs_evidence_store_put(store, &row, end_us));
        ck_assert(hs_evidence_store_put(store, &row, end_us)); /* the same id: does nothing */
    }
    ck_assert(hs_evidence_store_commit(store));
    hs_evidence_store_close(store);
    ck_assert_uint_eq(listed(day_us, end_us), 2 * ROWS);
    ck_assert_uint_eq(listed(end_us - ROWS, end_us), ROWS);
    ck_assert_uint_eq(listed(day_us, end_us - ROWS), ROWS);
}
END_TEST

/* The wall clock steps back over midnight while rows wait in the queue, so their times are after
   the day of the open file. All are stored, in the order of the queue. */
START_TEST(rows_from_after_midnight_are_stored_in_order)
{
    enum { ROWS = 3000, LIMIT = 1 << 24, WAIT_US = 10000000 };
    char error[256], id[40], day[HS_EVIDENCE_DAY];
    int64_t day_us, end_us, at_us = 0, now_us = hs_clock_wall_us();
    hs_evidence_day((time_t)(now_us / 1000000), day);
    hs_evidence_span(day, &day_us, &end_us);
    struct hs_service service = {
        .rulesets = hs_ruleset_store_create("metres", HS_BUILTIN_RULESETS, LIMIT, error),
        .maps = hs_map_store_create(1, LIMIT),
        .metrics = hs_metrics_create()};
    struct hs_evidence_settings settings = {
        .home = {.directory = folder}, .queue_bytes = LIMIT, .keep_days = 1, .keep_bytes = LIMIT};
    struct hs_ruleset_entry *ruleset = hs_ruleset_store_get(service.rulesets, HS_STR("default"));
    struct hs_evidence *evidence = hs_evidence_start(&service, &settings, error);
    ck_assert_msg(evidence != NULL, "%s", error);
    for (int i = 0; i < ROWS; i++) {
        snprintf(id, sizeof id, "%032x", (unsigned)i);
        const struct hs_evidence_row row = {.at_us = end_us + i,
                                            .id = {id, 32},
                                            .kind = HS_STR("hit"),
                                            .verdict = HS_STR("rejected"),
                                            .revision = HS_STR("sha256:0")};
        ck_assert(hs_evidence_put(evidence, &row, false, ruleset, NULL));
    }
    hs_evidence_stop(evidence, WAIT_US);
    for (int i = 0; i < ROWS; i++) {
        struct hs_evidence_stored stored;
        snprintf(id, sizeof id, "%032x", (unsigned)i);
        ck_assert_int_eq(
            hs_evidence_find(&settings.home, HS_STR(""), (struct hs_str){id, 32}, &stored),
            HS_EVIDENCE_READ);
        ck_assert_int_gt(stored.row.at_us, at_us);
        ck_assert_int_ge(stored.row.at_us, now_us);
        at_us = stored.row.at_us;
        hs_evidence_stored_close(&stored);
    }
    hs_ruleset_store_release(service.rulesets, ruleset);
    hs_map_store_destroy(service.maps);
    hs_ruleset_store_destroy(service.rulesets);
    hs_metrics_destroy(service.metrics);
}
END_TEST

/* ---- the log ---- */

static pthread_t writer;                 /* the thread of the test */
static atomic_bool writer_must_not_sync; /* a database */
static atomic_int moves;                 /* syncs of databases by other threads */

/* Called by SQLite instead of the function of the C library. The writer may sync a log, but not a
   database: that would move its log. */
int fdatasync(int fd)
{
    char link[32], path[HS_EVIDENCE_PATH] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    bool is_database = len > 3 && strcmp(path + len - 3, ".db") == 0;
    bool is_writer = pthread_equal(pthread_self(), writer);
    bool is_wrong = is_database && is_writer && atomic_load(&writer_must_not_sync);
    ck_assert_msg(!is_wrong, "a commit moved the log");
    atomic_fetch_add(&moves, is_database && !is_writer);
    return (int)syscall(SYS_fdatasync, fd);
}

static void put_rows(struct hs_evidence_store *store, int from, int count)
{
    char id[40];
    ck_assert(hs_evidence_store_begin(store));
    for (int i = from; i < from + count; i++) {
        snprintf(id, sizeof id, "%032x", (unsigned)i);
        const struct hs_evidence_row row = {.at_us = i + 1,
                                            .id = {id, 32},
                                            .kind = HS_STR("hit"),
                                            .verdict = HS_STR("rejected"),
                                            .revision = HS_STR("sha256:0"),
                                            .state = HS_STR("state")};
        ck_assert(hs_evidence_store_put(store, &row, INT64_MAX));
    }
    ck_assert(hs_evidence_store_commit(store));
}

static off_t size_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_size;
}

/* A log that is written again and again does not grow, and the thread that writes it does not wait
   for the sync of the database. At the end the log can be emptied while the mover works. */
START_TEST(another_thread_moves_the_log)
{
    enum { ROUNDS = 40, ROUNDS_MAX = 1000, ROWS = 10, PAUSE_US = 20000 };
    char path[HS_EVIDENCE_PATH], wal[HS_EVIDENCE_PATH + 4];
    hs_evidence_path(folder, "2026-01-01", path);
    snprintf(wal, sizeof wal, "%s-wal", path);
    struct hs_metrics *metrics = hs_metrics_create();
    struct hs_wal_mover *mover = hs_wal_mover_start(metrics, PAUSE_US);
    ck_assert_ptr_nonnull(mover);
    struct hs_evidence_store *store = open_store(path);
    hs_wal_leave(hs_evidence_store_db(store));
    put_rows(store, 0, ROWS);
    off_t one = size_of(wal);
    writer = pthread_self();
    atomic_store(&writer_must_not_sync, true);
    int round = 1;
    for (; round < ROUNDS || (round < ROUNDS_MAX && size_of(wal) >= one * round / 2); round++) {
        put_rows(store, round * ROWS, ROWS);
        hs_wal_mover_written(mover, path);
        usleep(PAUSE_US);
    }
    ck_assert_int_gt(atomic_load(&moves), 1);
    ck_assert_int_lt(size_of(wal), one * round / 2);
    atomic_store(&writer_must_not_sync, false);
    ck_assert(hs_wal_empty(hs_evidence_store_db(store)));
    ck_assert_int_eq(size_of(wal), 0);
    hs_wal_mover_stop(mover);
    hs_evidence_store_close(store);
    hs_metrics_destroy(metrics);
}
END_TEST

/* ---- long lists ---- */

enum { LISTED = 12000, CHANGED = 500 };

/* A list whose store changes while the first rows are read. */
struct changing {
    struct hs_evidence_store *store;
    bool adds; /* false: newest rows are deleted */
    int seen[LISTED + CHANGED];
    int count;
};

static bool change_store(void *context, const struct hs_evidence_stored *stored)
{
    struct changing *list = context;
    char text[40];
    snprintf(text, sizeof text, "%.*s", (int)stored->row.id.len, stored->row.id.ptr);
    list->seen[strtol(text, NULL, 16)]++;
    if (++list->count != 2 * CHANGED)
        return true;
    if (list->adds)
        put_rows(list->store, LISTED, CHANGED);
    else
        ck_assert(hs_db_run(hs_evidence_store_db(list->store),
                            "DELETE FROM verdicts WHERE at IN"
                            " (SELECT at FROM verdicts ORDER BY at DESC LIMIT 500)"));
    return true;
}

/* A list is read in slices. If rows are added or deleted meanwhile, the next slice neither repeats
   nor omits a row. Rows: deleted, added. */
START_TEST(long_lists_have_each_row_once)
{
    static struct changing list;
    const struct hs_evidence_home home = {.directory = folder};
    const struct hs_evidence_query query = {.limit = SIZE_MAX, .until_us = INT64_MAX};
    char path[HS_EVIDENCE_PATH];
    int64_t next_us;
    hs_evidence_path(folder, "2026-01-01", path);
    list = (struct changing){.store = open_store(path), .adds = _i == 1};
    put_rows(list.store, 0, LISTED);
    ck_assert_int_eq(hs_evidence_each(&home, &query, INT64_MAX, change_store, &list, &next_us),
                     HS_EVIDENCE_READ);
    for (int i = 0; i < LISTED; i++)
        ck_assert_msg(list.seen[i] == 1, "row %d was listed %d times", i, list.seen[i]);
    hs_evidence_store_close(list.store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evidence store");
    TCase *tcase = tcase_create("files");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_new_file_appears_with_its_tables);
    tcase_add_test(tcase, a_new_file_belongs_to_one_user_and_leaves_no_other_file);
    tcase_add_test(tcase, a_removed_file_has_no_verdicts);
    tcase_add_test(tcase, a_jump_of_the_clock_removes_no_file);
    tcase_add_test(tcase, no_row_gets_a_time_after_the_day_of_its_file);
    tcase_add_test(tcase, rows_from_after_midnight_are_stored_in_order);
    tcase_add_test(tcase, another_thread_moves_the_log);
    tcase_add_loop_test(tcase, long_lists_have_each_row_once, 0, 2);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
