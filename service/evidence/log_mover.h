/*
 * Moves the write-ahead log of an SQLite file into the file, on a thread of its own. SQLite could
 * do it in a commit, but it syncs the disk twice, which takes seconds on a busy disk. The rows that
 * wait for the next commit would be lost in a crash. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_LOG_MOVER_H
#define HS_SERVICE_EVIDENCE_LOG_MOVER_H

#include "service/database/db.h"

struct hs_log_mover;
struct hs_metrics;

/* Starts the thread, which moves a log at most once each `pause_us`. `metrics` counts the failures,
   and outlives the mover. NULL: no thread. */
struct hs_log_mover *hs_log_mover_start(struct hs_metrics *metrics, int64_t pause_us);

/* Makes the commits of a connection leave the log to the mover. */
void hs_log_leave(struct hs_db *db);

/* Writes something to the log, so that the next commit need not begin it. */
void hs_log_begin(struct hs_db *db);

/* Call it after a commit. The log of the file is moved after the next pause. */
void hs_log_mover_written(struct hs_log_mover *mover, const char *path);

/* Waits until the mover has no file open, and lets it open none until the release. */
void hs_log_mover_hold(struct hs_log_mover *mover);
void hs_log_mover_release(struct hs_log_mover *mover);

/* NULL does nothing. */
void hs_log_mover_stop(struct hs_log_mover *mover);

/* Moves the whole log and cuts it to zero bytes, because it still has deleted rows. Waits some
   seconds for the mover and for readers. Returns false if they did not end. */
bool hs_log_empty(struct hs_db *db);

#endif
