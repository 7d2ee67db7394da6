#include "service/evidence/wal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "service/evidence/files.h"
#include "service/evidence/tables.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

/* TRIES: max number of moves in a row. SQLite starts to overwrite the log only after all pages of
   the log were moved. Commits during a move add pages that this move does not include, so the move
   is repeated. The repetitions are short. BUSY_MS: how long a move waits for a transaction of the
   writer. */
enum { TRIES = 4, BUSY_MS = 2000 };
/* PAGES_MAX pages are 256 MiB. If the log has more pages than PAGES_MAX, and the repeated moves
   have not moved all pages, the writer has to wait for a last move. Without this wait, the log
   could grow without limit while rows are committed constantly. */
enum { PAGES_MAX = 65536 };

struct hs_wal_mover {
    struct hs_metrics *metrics;
    int64_t pause_us;
    struct hs_log_limit log_limit;
    pthread_mutex_t open; /* locked while the thread has a file open */
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t wake;
    char path[HS_EVIDENCE_PATH]; /* file with new commits, or "" */
    bool is_ending;
    pthread_t thread;
};

struct moved {
    bool is_fine;
    int64_t pages, done; /* pages in the log; pages that were moved */
};

static struct moved move(struct hs_db *db, const char *sql)
{
    struct moved moved = {false, 0, 0};
    struct hs_db_statement *statement = hs_db_prepare(db, sql);
    if (statement != NULL && hs_db_step(statement) == HS_DB_ROW)
        moved = (struct moved){true, hs_db_int(statement, 1), hs_db_int(statement, 2)};
    hs_db_finalize(statement);
    return moved;
}

static bool move_all(struct hs_db *db)
{
    struct moved moved = {true, 1, 0};
    for (int i = 0; i < TRIES && moved.is_fine && moved.done < moved.pages; i++)
        moved = move(db, "PRAGMA wal_checkpoint(PASSIVE)");
    if (moved.is_fine && moved.done < moved.pages && moved.pages > PAGES_MAX)
        moved = move(db, "PRAGMA wal_checkpoint(FULL)");
    return moved.is_fine;
}

static void move_log(struct hs_wal_mover *mover, const char *path)
{
    bool fine;
    pthread_mutex_lock(&mover->open);
    struct hs_db *db = hs_db_open_sqlite(path, true, BUSY_MS, &fine);
    if (db != NULL && !(fine && move_all(db))) {
        hs_metrics_add(mover->metrics, HS_METRIC_EVIDENCE_FAILURES, 0, 1);
        if (hs_log_allowed(&mover->log_limit))
            hs_log(HS_LOG_ERROR, "the log of an evidence file cannot be moved into the file",
                   HS_LOG_TEXT("path", path), HS_LOG_TEXT("detail", hs_db_error(db)));
    }
    hs_db_close(db);
    pthread_mutex_unlock(&mover->open);
}

static void *run(void *context)
{
    struct hs_wal_mover *mover = context;
    char path[HS_EVIDENCE_PATH];
    pthread_mutex_lock(&mover->lock);
    while (!mover->is_ending) {
        struct timespec until = hs_clock_timespec(hs_clock_us() + mover->pause_us);
        pthread_cond_timedwait(&mover->wake, &mover->lock, &until);
        if (mover->path[0] == '\0' || mover->is_ending)
            continue;
        snprintf(path, sizeof path, "%s", mover->path);
        mover->path[0] = '\0';
        pthread_mutex_unlock(&mover->lock);
        move_log(mover, path);
        pthread_mutex_lock(&mover->lock);
    }
    pthread_mutex_unlock(&mover->lock);
    return NULL;
}

static void destroy(struct hs_wal_mover *mover)
{
    pthread_cond_destroy(&mover->wake);
    pthread_mutex_destroy(&mover->lock);
    pthread_mutex_destroy(&mover->open);
    free(mover);
}

struct hs_wal_mover *hs_wal_mover_start(struct hs_metrics *metrics, int64_t pause_us)
{
    struct hs_wal_mover *mover = calloc(1, sizeof *mover);
    if (mover == NULL)
        return NULL;
    mover->metrics = metrics;
    mover->pause_us = pause_us;
    mover->log_limit = (struct hs_log_limit){.per_second = 1, .kind = "evidence"};
    pthread_mutex_init(&mover->open, NULL);
    pthread_mutex_init(&mover->lock, NULL);
    hs_clock_condition(&mover->wake);
    if (hs_thread_start(&mover->thread, run, mover))
        return mover;
    destroy(mover);
    return NULL;
}

void hs_wal_mover_written(struct hs_wal_mover *mover, const char *path)
{
    pthread_mutex_lock(&mover->lock);
    snprintf(mover->path, sizeof mover->path, "%s", path);
    pthread_mutex_unlock(&mover->lock);
}

void hs_wal_mover_hold(struct hs_wal_mover *mover)
{
    pthread_mutex_lock(&mover->open);
}

void hs_wal_mover_release(struct hs_wal_mover *mover)
{
    pthread_mutex_unlock(&mover->open);
}

void hs_wal_mover_stop(struct hs_wal_mover *mover)
{
    if (mover == NULL)
        return;
    pthread_mutex_lock(&mover->lock);
    mover->is_ending = true;
    pthread_cond_signal(&mover->wake);
    pthread_mutex_unlock(&mover->lock);
    pthread_join(mover->thread, NULL);
    destroy(mover);
}

void hs_wal_leave(struct hs_db *db)
{
    hs_db_run(db, "PRAGMA wal_autocheckpoint = 0");
}

/* Any write starts the log, so this function sets the version of the tables to its current
   value. */
void hs_wal_begin(struct hs_db *db)
{
    char sql[48];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", HS_EVIDENCE_SCHEMA);
    hs_db_run(db, sql);
}

/* Retries, because SQLite waits for readers, but not for another move of the log. */
bool hs_wal_empty(struct hs_db *db)
{
    enum { LONGEST_US = 3000000, NAP_NS = 50000000 };
    int64_t until_us = hs_clock_us() + LONGEST_US;
    bool is_empty;
    while (!(is_empty = hs_db_number(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, 1) == 0) &&
           hs_clock_us() < until_us)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    return is_empty;
}
