#include "service/evidence/spool.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/evidence/cases.h"
#include "service/evidence/documents.h"
#include "service/evidence/erase.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"
#include "service/system/sha256.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

/* BATCH_ROWS: max rows in one transaction. PAUSE_US: the pause after a failure, and between checks
   of an idle connection. DAYS_AHEAD: partitions are created for today and this many more days.
   SENT: size of the cache `sent`. CARE_US: the interval between checks for missing and for old
   partitions. TIDY_ROWS: while more verdicts wait, no documents are deleted, because that would
   take long. TIDY_SHARE: documents may use 1 / TIDY_SHARE of the spool. */
enum { BATCH_ROWS = 100, PAUSE_US = 1000000, DAYS_AHEAD = 2, SENT = 64 };
enum { TIDY_ROWS = 1000, TIDY_SHARE = 4 };
#define CARE_US INT64_C(600000000)

struct hs_spool {
    const struct hs_evidence_home *home;
    unsigned keep_days;
    uint64_t keep_bytes;
    struct hs_metrics *metrics;
    struct hs_log_limit log_limit;
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t wake;
    size_t waiting;  /* number of rows in the spool */
    bool is_damaged; /* the file of the spool is damaged */
    bool must_move;  /* the writer waits until the thread has renamed the file */
    bool is_ending;
    int64_t end_us; /* if is_ending: the thread gives up at this time (hs_clock_us) */
    pthread_t thread;
    /* Only the thread uses the following members. */
    struct hs_evidence_store *local, *remote; /* NULL: not open */
    int64_t care_us;                          /* time of the next call of `care` */
    int64_t documents_us;                     /* time of the next call of send_late_documents */
    int64_t tidied_us; /* when unused documents were last deleted; 0: not yet */
    /* The day on which the partitions were last checked (days since 1970-01-01); -1: not yet. */
    int64_t day;
    int limit;                        /* max rows in the next batch */
    char sent[SENT][HS_REVISION_MAX]; /* cache of revisions in the database, by hash */
    int64_t removed_us;               /* the last result of hs_evidence_documents_removed */
};

/* ---- connections ---- */

static void report(struct hs_spool *spool, const char *detail)
{
    hs_metrics_add(spool->metrics, HS_METRIC_EVIDENCE_FAILURES, 0, 1);
    if (hs_log_allowed(&spool->log_limit))
        hs_log(HS_LOG_ERROR, "verdicts wait in the spool for the database",
               HS_LOG_TEXT("detail", detail), HS_LOG_NUMBER("verdicts", hs_spool_length(spool)));
}

static void set_up(struct hs_spool *spool, bool is_up)
{
    hs_metrics_set(spool->metrics, HS_METRIC_EVIDENCE_DATABASE_UP, 0, is_up);
}

/* Closes the connections to the spool and to the database after one of them failed. Returns
   false. */
static bool fail(struct hs_spool *spool, const struct hs_evidence_store *failed)
{
    report(spool, hs_evidence_store_error(failed));
    if (hs_evidence_store_is_damaged(failed)) {
        pthread_mutex_lock(&spool->lock);
        spool->is_damaged = true;
        pthread_mutex_unlock(&spool->lock);
    }
    hs_evidence_store_close(spool->local);
    hs_evidence_store_close(spool->remote);
    spool->local = spool->remote = NULL;
    set_up(spool, false);
    return false;
}

static bool open_remote(struct hs_spool *spool)
{
    char error[256];
    struct hs_evidence_store *cases =
        hs_evidence_store_open_at(spool->home, HS_EVIDENCE_CASES, error);
    if (cases != NULL)
        spool->remote = hs_evidence_store_open_at(spool->home, HS_EVIDENCE_ALL, error);
    hs_evidence_store_close(cases);
    spool->care_us = 0;
    spool->day = -1;
    spool->limit = BATCH_ROWS;
    memset(spool->sent, 0, sizeof spool->sent);
    if (spool->remote == NULL)
        report(spool, error);
    set_up(spool, spool->remote != NULL);
    return spool->remote != NULL;
}

static bool open_local(struct hs_spool *spool)
{
    char path[HS_EVIDENCE_PATH], error[256];
    hs_evidence_path(spool->home->directory, HS_EVIDENCE_SPOOL, path);
    spool->local = hs_evidence_store_open(path, false, error);
    if (spool->local == NULL)
        report(spool, error);
    return spool->local != NULL;
}

/* Creates the partitions for today and DAYS_AHEAD more days, and drops old partitions. If an old
   partition cannot be dropped, only logs the failure, because verdicts can still be sent. */
static bool care(struct hs_spool *spool)
{
    struct hs_db *db = hs_evidence_store_db(spool->remote);
    int64_t today = hs_clock_wall_us() / HS_EVIDENCE_DAY_US;
    for (int64_t day = today; day <= today + DAYS_AHEAD; day++)
        if (!hs_evidence_make_day(db, day))
            return fail(spool, spool->remote);
    if (!hs_evidence_drop_days(db, today, spool->keep_days, spool->keep_bytes))
        report(spool, hs_db_error(db));
    spool->care_us = hs_clock_us() + CARE_US;
    spool->day = today;
    return true;
}

static bool is_ready(struct hs_spool *spool)
{
    if ((spool->local == NULL && !open_local(spool)) ||
        (spool->remote == NULL && !open_remote(spool)))
        return false;
    bool is_due =
        hs_clock_us() >= spool->care_us || hs_clock_wall_us() / HS_EVIDENCE_DAY_US != spool->day;
    return !is_due || care(spool);
}

/* ---- batches ---- */

/* Rows that are sent in one transaction, sorted by time. */
struct batch {
    /* first_us: time of the batch's first row (column `at`). last_us: time of the last row that the
       batch handled; 0: none yet. A batch handles a row by trying to send it, or by skipping the
       row because the row's player was deleted. */
    int64_t first_us, last_us;
    size_t added;    /* number of rows that were new to the database */
    bool has_erased; /* some player was deleted after first_us */
};

/* Returns 1 if the deletion of the row's player, account or target began after the verdict,
   otherwise 0. -1: the database failed. */
static int is_erased(struct hs_db *db, const struct hs_evidence_row *row)
{
    static const char sql[] =
        "SELECT count(*) FROM hindsight_cases.audit WHERE action = ?1 AND at >= ?2"
        " AND (tenant IS NULL OR tenant = ?3) AND subject IN (?4, ?5, ?6)";
    const struct hs_str names[] = {row->player, row->account, row->target};
    char digests[3][HS_SHA256_HEX];
    struct hs_db_statement *find = hs_db_prepare(db, sql);
    if (find == NULL)
        return -1;
    hs_db_bind_text(find, 1, HS_STR(HS_EVIDENCE_ERASE_BEGINS));
    hs_db_bind_int(find, 2, row->at_us);
    hs_db_bind_text(find, 3, row->tenant);
    for (int i = 0; i < 3; i++) {
        hs_sha256_hex(names[i].ptr, names[i].len, digests[i]);
        hs_db_bind_text(find, 4 + i, hs_str_of(digests[i]));
    }
    int found = hs_db_step(find) == HS_DB_ROW ? hs_db_int(find, 0) > 0 : -1;
    hs_db_finalize(find);
    return found;
}

/* Sends the ruleset and the map of a verdict. If the cache shows that the database has both
   documents, sends nothing. */
static bool send_documents(struct hs_spool *spool, const struct hs_evidence_stored *stored)
{
    const struct hs_str revisions[2] = {stored->row.revision, stored->row.map_revision};
    char *places[2];
    bool are_sent = true;
    for (int i = 0; i < 2; i++) {
        places[i] = spool->sent[hs_str_hash(revisions[i]) % SENT];
        are_sent =
            are_sent && (revisions[i].len == 0 || hs_str_equal(hs_str_of(places[i]), revisions[i]));
    }
    if (are_sent)
        return true;
    if (!hs_evidence_copy_documents(spool->remote, stored))
        return false;
    /* The spool may not contain the map yet. In that case, the map is not added to the cache, and
       send_late_documents sends the map later. */
    for (int i = 0; i < 2; i++)
        if (hs_evidence_store_has(spool->remote, i == 0 ? HS_STR("ruleset") : HS_STR("map"),
                                  revisions[i]))
            snprintf(places[i], HS_REVISION_MAX, "%.*s", (int)revisions[i].len, revisions[i].ptr);
    return true;
}

/* Sends one row. Skips the row if it is about a player who was deleted after the verdict. The body
   stays compressed. */
static bool send_row(struct hs_spool *spool, struct hs_db_statement *found, struct batch *batch)
{
    struct hs_evidence_stored stored = {.db = hs_db_of(found)};
    struct hs_db *db = hs_evidence_store_db(spool->remote);
    hs_evidence_load_packed(found, &stored);
    int erased = batch->has_erased ? is_erased(db, &stored.row) : 0;
    bool fine = erased >= 0;
    if (erased == 0) {
        fine = send_documents(spool, &stored) && hs_evidence_store_copy(spool->remote, &stored.row);
        batch->added += fine && hs_db_changes(db) > 0;
    }
    batch->last_us = stored.row.at_us;
    return fine;
}

/* The columns of HS_EVIDENCE_ALL_OF_ROW: the columns of `bodies`, followed by the text columns of
   `verdicts`. */
enum { BODY_COLUMNS = 11, VERDICT_COLUMNS = 11 };
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, MAP, MAP_REVISION, SIZES, BODY };

static void append_values(struct hs_buffer *sql, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        hs_buffer_puts(sql, i == 0 ? "VALUES(?" : ",(?");
        for (int k = 1; k < columns; k++)
            hs_buffer_puts(sql, ",?");
        hs_buffer_puts(sql, ")");
    }
}

/* Prepares a statement that inserts `rows` rows and returns the times of the inserted rows. The
   statement skips a row if the row's time or id is already in the database. */
static struct hs_db_statement *prepare_group(struct hs_db *db, int rows)
{
    struct hs_buffer sql = {0};
    hs_buffer_puts(&sql, "WITH put AS (INSERT INTO bodies ");
    append_values(&sql, rows, BODY_COLUMNS);
    hs_buffer_puts(&sql, " ON CONFLICT DO NOTHING RETURNING at) INSERT INTO verdicts"
                         " SELECT * FROM (");
    append_values(&sql, rows, VERDICT_COLUMNS);
    hs_buffer_puts(&sql, ") v(at) WHERE at IN (SELECT at FROM put) RETURNING at");
    hs_buffer_append(&sql, "", 1);
    struct hs_db_statement *group = sql.failed ? NULL : hs_db_prepare(db, sql.data);
    hs_buffer_free(&sql);
    return group;
}

/* Binds a row from the spool as row `i` of the statement. The body stays compressed. */
static void bind_row(struct hs_db_statement *group, int i, int rows, struct hs_db_statement *row)
{
    int body = i * BODY_COLUMNS + 1, verdict = rows * BODY_COLUMNS + i * VERDICT_COLUMNS + 1;
    for (int k = 0; k < BODY_COLUMNS; k++) {
        if (k == AT || k == NOW)
            hs_db_bind_int(group, body + k, hs_db_int(row, k));
        else if (k == MEASURED || k == LIMIT)
            hs_db_bind_real(group, body + k,
                            hs_db_is_null(row, k) ? (double)NAN : hs_db_real(row, k));
        else if (k == BODY)
            hs_db_bind_blob(group, body + k, hs_db_blob(row, k));
        else
            hs_db_bind_text(group, body + k, hs_db_text(row, k));
    }
    hs_db_bind_int(group, verdict, hs_db_int(row, AT));
    for (int k = 1; k < VERDICT_COLUMNS; k++)
        hs_db_bind_text(group, verdict + k, hs_db_text(row, BODY_COLUMNS + k - 1));
}
/* Sends a single row that the statement for the group has skipped. If another row in the database
   has the same time, this row gets another time (hs_evidence_store_copy). */
static bool send_again(struct hs_spool *spool, int64_t at_us, struct batch *batch)
{
    struct hs_db_statement *row = hs_db_prepare(hs_evidence_store_db(spool->local),
                                                "SELECT " HS_EVIDENCE_ALL_OF_ROW " WHERE v.at = ?");
    if (row == NULL)
        return false;
    hs_db_bind_int(row, 1, at_us);
    enum hs_db_step step = hs_db_step(row);
    bool fine = step == HS_DB_ROW ? send_row(spool, row, batch) : step == HS_DB_DONE;
    hs_db_finalize(row);
    return fine;
}

/* Runs the statement, and then sends each row that the statement skipped. */
static bool finish_group(struct hs_spool *spool, struct hs_db_statement *group,
                         const int64_t *times, int count, struct batch *batch)
{
    bool is_added[BATCH_ROWS] = {false}, fine = true;
    enum hs_db_step step;
    while ((step = hs_db_step(group)) == HS_DB_ROW) {
        int64_t at_us = hs_db_int(group, 0);
        for (int i = 0; i < count; i++)
            is_added[i] = is_added[i] || times[i] == at_us;
        batch->added++;
    }
    for (int i = 0; i < count && fine && step == HS_DB_DONE; i++)
        fine = is_added[i] || send_again(spool, times[i], batch);
    batch->last_us = times[count - 1];
    return fine && step == HS_DB_DONE;
}

static bool send_group(struct hs_spool *spool, struct hs_db_statement *rows, int count,
                       struct batch *batch)
{
    int64_t times[BATCH_ROWS];
    int bound = 0;
    bool fine = true;
    struct hs_db_statement *group = prepare_group(hs_evidence_store_db(spool->remote), count);
    if (group == NULL)
        return false;
    while (fine && bound < count && hs_db_step(rows) == HS_DB_ROW) {
        struct hs_evidence_stored stored = {.db = hs_db_of(rows)};
        hs_evidence_load_packed(rows, &stored);
        times[bound] = stored.row.at_us;
        bind_row(group, bound++, count, rows);
        fine = send_documents(spool, &stored);
    }
    fine = fine && bound == count && finish_group(spool, group, times, count, batch);
    hs_db_finalize(group);
    return fine;
}

/* If any replica has deleted documents from the database, clears the cache of sent documents. Call
   this function in the transaction that needs the documents. */
static bool check_documents(struct hs_spool *spool)
{
    int64_t removed_us = hs_evidence_documents_removed(hs_evidence_store_db(spool->remote));
    if (removed_us != spool->removed_us)
        memset(spool->sent, 0, sizeof spool->sent);
    spool->removed_us = removed_us;
    return removed_us >= 0;
}

/* Sends the rows in one transaction. If there are several rows, and no player was deleted after the
   first row, uses a single statement. Otherwise sends each row with its own statement. */
static bool send_rows(struct hs_spool *spool, struct hs_db_statement *rows, int count,
                      struct batch *batch)
{
    static const char erased[] = "SELECT count(*) FROM hindsight_cases.audit"
                                 " WHERE action = '" HS_EVIDENCE_ERASE_BEGINS "' AND at >= %lld";
    char sql[192];
    snprintf(sql, sizeof sql, erased, (long long)batch->first_us);
    bool fine = hs_evidence_store_begin(spool->remote);
    int64_t found = fine ? hs_db_number(hs_evidence_store_db(spool->remote), sql, NULL, -1) : -1;
    fine = fine && found >= 0 && check_documents(spool);
    batch->has_erased = found > 0;
    if (!batch->has_erased && count > 1)
        return fine && send_group(spool, rows, count, batch) &&
               hs_evidence_store_commit(spool->remote);
    for (int i = 0; i < count && fine; i++)
        fine = hs_db_step(rows) == HS_DB_ROW && send_row(spool, rows, batch);
    return fine && hs_evidence_store_commit(spool->remote);
}

/* Deletes the rows with times up to and including `last_us` from the spool. */
static bool remove_rows(struct hs_spool *spool, int64_t last_us)
{
    char sql[160];
    long long at = last_us;
    snprintf(sql, sizeof sql,
             "DELETE FROM bodies WHERE at <= %lld; DELETE FROM verdicts WHERE at <= %lld; COMMIT",
             at, at);
    struct hs_db *db = hs_evidence_store_db(spool->local);
    if (!hs_evidence_begin_alone(db) || !hs_db_run(db, sql))
        return fail(spool, spool->local);
    pthread_mutex_lock(&spool->lock);
    size_t count = (size_t)hs_db_changes(db);
    spool->waiting = spool->waiting > count ? spool->waiting - count : 0;
    pthread_mutex_unlock(&spool->lock);
    return true;
}

/* Call this function after a failed batch. If the database refused a row, the next batch contains
   only one row. If the database refuses the only row of a batch, the row is dropped. */
static bool recover(struct hs_spool *spool, const struct batch *batch)
{
    if (batch->last_us == 0 || !hs_evidence_store_has_refused(spool->remote))
        return fail(spool, spool->remote);
    report(spool, hs_evidence_store_error(spool->remote));
    hs_evidence_store_undo(spool->remote);
    memset(spool->sent, 0, sizeof spool->sent); /* the cache may contain documents whose transfer
                                                   was just undone */
    bool was_alone = spool->limit == 1;
    spool->limit = 1;
    if (was_alone)
        hs_metrics_add(spool->metrics, HS_METRIC_EVIDENCE_DROPPED, HS_EVIDENCE_DROP_REFUSED, 1);
    return !was_alone || remove_rows(spool, batch->last_us);
}

/* Sends the oldest rows in the spool. All rows of a batch belong to the same day (UTC). */
static bool send_batch(struct hs_spool *spool, int64_t first_us)
{
    static const char sql[] = "SELECT " HS_EVIDENCE_ALL_OF_ROW " WHERE v.at < ?1"
                              " ORDER BY v.at LIMIT ?2";
    char counting[128];
    struct batch batch = {.first_us = first_us};
    struct hs_db *db = hs_evidence_store_db(spool->remote);
    int64_t day = first_us / HS_EVIDENCE_DAY_US, end_us = (day + 1) * HS_EVIDENCE_DAY_US;
    if (day != spool->day && (!hs_evidence_make_day(db, day) || !hs_evidence_make_day(db, day + 1)))
        return fail(spool, spool->remote);
    struct hs_db *local = hs_evidence_store_db(spool->local);
    struct hs_db_statement *rows = hs_db_prepare(local, sql);
    snprintf(counting, sizeof counting,
             "SELECT count(*) FROM (SELECT at FROM verdicts WHERE at < %lld LIMIT %d)",
             (long long)end_us, spool->limit);
    /* The transaction makes sure that the same rows are counted and read. */
    if (rows == NULL || !hs_db_run(local, "BEGIN")) {
        hs_db_finalize(rows);
        return fail(spool, spool->local);
    }
    int count = (int)hs_db_number(local, counting, NULL, 0);
    hs_db_bind_int(rows, 1, end_us);
    hs_db_bind_int(rows, 2, spool->limit);
    bool fine = send_rows(spool, rows, count, &batch);
    hs_db_finalize(rows);
    if (!fine && hs_evidence_store_is_damaged(spool->local))
        return fail(spool, spool->local);
    hs_db_run(local, "COMMIT");
    if (!fine)
        return recover(spool, &batch);
    hs_metrics_add(spool->metrics, HS_METRIC_EVIDENCE_SENT, 0, (int64_t)batch.added);
    spool->limit = spool->limit < BATCH_ROWS / 2 ? 2 * spool->limit : BATCH_ROWS;
    return remove_rows(spool, batch.last_us);
}

/* Returns whether to delete unused documents: once a day, and when documents use too much of the
   spool. Documents are not deleted sooner, because the writer adds a map again with the next
   verdict that needs the map. */
static bool must_tidy(struct hs_spool *spool)
{
    static const char size[] = "SELECT coalesce(sum(length(body)), 0) FROM documents";
    if (spool->tidied_us == 0)
        return true;
    if (hs_spool_length(spool) > TIDY_ROWS)
        return false;
    int64_t bytes = hs_db_number(hs_evidence_store_db(spool->local), size, NULL, 0);
    return (uint64_t)bytes > spool->keep_bytes / TIDY_SHARE ||
           hs_clock_us() >= spool->tidied_us + HS_EVIDENCE_DAY_US;
}

/* Deletes the documents that no verdict in the spool needs. `last`: the rowid of the newest
   document that was sent or refused. The writer adds a verdict and its documents in one
   transaction, so it never needs a document that is being deleted. */
static bool tidy(struct hs_spool *spool, int64_t last)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "DELETE FROM documents WHERE rowid <= %lld AND revision NOT IN (SELECT revision"
             " FROM bodies UNION SELECT map_revision FROM bodies WHERE map_revision IS NOT NULL)",
             (long long)last);
    spool->tidied_us = hs_clock_us();
    return hs_db_run(hs_evidence_store_db(spool->local), sql);
}

/* Sends all documents in the spool, because a map may be added to the spool after the last verdict
   that needs the map. Then deletes unused documents if it is time. */
static bool send_late_documents(struct hs_spool *spool)
{
    static const char sql[] = "SELECT kind, name, revision, rowid FROM documents";
    struct hs_db *local = hs_evidence_store_db(spool->local);
    struct hs_db_statement *documents = hs_db_prepare(local, sql);
    enum hs_db_step step = HS_DB_DONE;
    int64_t last = 0;
    bool fine = true;
    while (fine && (step = hs_db_step(documents)) == HS_DB_ROW) {
        struct hs_evidence_stored stored = {.db = local};
        bool is_map = hs_str_equal(hs_db_text(documents, 0), HS_STR("map"));
        *(is_map ? &stored.row.map : &stored.row.ruleset) = hs_db_text(documents, 1);
        *(is_map ? &stored.row.map_revision : &stored.row.revision) = hs_db_text(documents, 2);
        last = hs_db_int(documents, 3) > last ? hs_db_int(documents, 3) : last;
        bool is_sent = send_documents(spool, &stored);
        fine = is_sent || hs_evidence_store_has_refused(spool->remote);
        if (fine && !is_sent) /* a refused document must not delay verdicts */
            report(spool, hs_evidence_store_error(spool->remote));
    }
    hs_db_finalize(documents);
    if (!fine)
        return fail(spool, spool->remote);
    if (step != HS_DB_DONE || (must_tidy(spool) && !tidy(spool, last)))
        return fail(spool, spool->local);
    spool->documents_us = hs_clock_us() + PAUSE_US;
    return true;
}

/* Sends a batch. If the spool is empty, checks that the database still answers. */
static bool work(struct hs_spool *spool)
{
    static const char oldest[] = "SELECT coalesce(min(at), 0) FROM verdicts";
    if (!is_ready(spool) || (hs_clock_us() >= spool->documents_us && !send_late_documents(spool)))
        return false;
    size_t before = hs_spool_length(spool);
    int64_t first_us = hs_db_number(hs_evidence_store_db(spool->local), oldest, NULL, -1);
    if (first_us < 0)
        return fail(spool, spool->local);
    if (first_us > 0)
        return send_batch(spool, first_us);
    pthread_mutex_lock(&spool->lock);
    /* The spool is empty, so a count above 0 is wrong: count_rows and hs_spool_add may both have
       counted the same row. */
    if (spool->waiting == before)
        spool->waiting = 0;
    pthread_mutex_unlock(&spool->lock);
    return hs_db_run(hs_evidence_store_db(spool->remote), "SELECT 1") || fail(spool, spool->remote);
}

/* If the writer waits in hs_spool_move_aside, closes and renames the file of the spool. */
static void move_if_due(struct hs_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    if (spool->must_move) {
        hs_evidence_store_close(spool->local);
        spool->local = NULL;
        hs_evidence_move_aside(spool->home->directory, HS_EVIDENCE_SPOOL, time(NULL));
        spool->waiting = 0;
        spool->must_move = spool->is_damaged = false;
        pthread_cond_broadcast(&spool->wake);
    }
    pthread_mutex_unlock(&spool->lock);
}

static void *run(void *context)
{
    struct hs_spool *spool = context;
    bool goes_on = true;
    while (goes_on) {
        move_if_due(spool);
        bool fine = work(spool);
        pthread_mutex_lock(&spool->lock);
        if ((spool->waiting == 0 || !fine) && !spool->must_move && !spool->is_ending) {
            struct timespec until = hs_clock_timespec(hs_clock_us() + PAUSE_US);
            pthread_cond_timedwait(&spool->wake, &spool->lock, &until);
        }
        goes_on =
            !spool->is_ending || (fine && spool->waiting > 0 && hs_clock_us() < spool->end_us);
        pthread_mutex_unlock(&spool->lock);
    }
    hs_evidence_store_close(spool->local);
    hs_evidence_store_close(spool->remote);
    return NULL;
}

/* ---- other threads ---- */

void hs_spool_add(struct hs_spool *spool, size_t count)
{
    if (spool == NULL || count == 0)
        return;
    pthread_mutex_lock(&spool->lock);
    if (spool->waiting == 0)
        pthread_cond_signal(&spool->wake);
    spool->waiting += count;
    pthread_mutex_unlock(&spool->lock);
}

bool hs_spool_is_damaged(struct hs_spool *spool)
{
    if (spool == NULL)
        return false;
    pthread_mutex_lock(&spool->lock);
    bool is_damaged = spool->is_damaged;
    pthread_mutex_unlock(&spool->lock);
    return is_damaged;
}

void hs_spool_move_aside(struct hs_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    spool->must_move = true;
    pthread_cond_broadcast(&spool->wake);
    while (spool->must_move)
        pthread_cond_wait(&spool->wake, &spool->lock);
    pthread_mutex_unlock(&spool->lock);
}

size_t hs_spool_length(struct hs_spool *spool)
{
    if (spool == NULL)
        return 0;
    pthread_mutex_lock(&spool->lock);
    size_t waiting = spool->waiting;
    pthread_mutex_unlock(&spool->lock);
    return waiting;
}

/* Counts the verdicts that previous processes left in the spool. */
static size_t count_rows(const struct hs_evidence_home *home)
{
    char path[HS_EVIDENCE_PATH], error[256];
    hs_evidence_path(home->directory, HS_EVIDENCE_SPOOL, path);
    struct hs_evidence_store *store = hs_evidence_store_open(path, false, error);
    if (store == NULL)
        return 0; /* the thread reports the failure */
    int64_t count =
        hs_db_number(hs_evidence_store_db(store), "SELECT count(*) FROM verdicts", NULL, 0);
    hs_evidence_store_close(store);
    return (size_t)count;
}

static void destroy(struct hs_spool *spool)
{
    pthread_cond_destroy(&spool->wake);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}

struct hs_spool *hs_spool_start(const struct hs_evidence_home *home, unsigned keep_days,
                                uint64_t keep_bytes, struct hs_metrics *metrics)
{
    struct hs_spool *spool = calloc(1, sizeof *spool);
    if (spool == NULL)
        return NULL;
    spool->home = home;
    spool->keep_days = keep_days;
    spool->keep_bytes = keep_bytes;
    spool->metrics = metrics;
    spool->log_limit = (struct hs_log_limit){.per_second = 1, .kind = "spool"};
    spool->waiting = count_rows(home);
    pthread_mutex_init(&spool->lock, NULL);
    hs_clock_condition(&spool->wake);
    if (hs_thread_start(&spool->thread, run, spool))
        return spool;
    destroy(spool);
    return NULL;
}

void hs_spool_stop(struct hs_spool *spool, int64_t end_us)
{
    if (spool == NULL)
        return;
    pthread_mutex_lock(&spool->lock);
    spool->is_ending = true;
    spool->end_us = end_us;
    pthread_cond_signal(&spool->wake);
    pthread_mutex_unlock(&spool->lock);
    pthread_join(spool->thread, NULL);
    destroy(spool);
}
