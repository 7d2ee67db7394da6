/*
 * Moves the content of a SQLite write-ahead log into the database file, in a separate thread.
 * SQLite could move the content within a commit. But that commit would sync the disk twice, which
 * takes seconds on a busy disk. A crash during these seconds would lose all rows that wait for the
 * next commit. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_WAL_H
#define HS_SERVICE_EVIDENCE_WAL_H

#include "service/database/db.h"

struct hs_wal_mover;
struct hs_metrics;

/* Starts the thread. The thread moves the log at most once in `pause_us`. `metrics` counts failures
   and must outlive the mover. Returns NULL if memory runs out or the thread cannot start. */
struct hs_wal_mover *hs_wal_mover_start(struct hs_metrics *metrics, int64_t pause_us);

/* After this call, commits on this connection do not move the log. Only the mover moves the log. */
void hs_wal_leave(struct hs_db *db);

/* Starts the log with a write that changes nothing. The first write to a log syncs the disk, so
   call this function before commits must be fast. */
void hs_wal_begin(struct hs_db *db);

/* Call this function after a commit. The mover moves the log of the file `path` after its next
   pause. The mover remembers only the file of the last call. */
void hs_wal_mover_written(struct hs_wal_mover *mover, const char *path);

/* hs_wal_mover_hold waits until the mover has no file open. The mover then opens no file until
   hs_wal_mover_release. */
void hs_wal_mover_hold(struct hs_wal_mover *mover);
void hs_wal_mover_release(struct hs_wal_mover *mover);

/* Stops the thread and frees the mover. Does nothing for NULL. */
void hs_wal_mover_stop(struct hs_wal_mover *mover);

/* Copies the whole log into the file. Then truncates the log, because SQLite leaves copied pages in
   the log, and these pages may contain rows that were deleted later. Waits up to three seconds for
   the mover and for readers. Returns false if the mover or a reader still uses the log after that
   time. */
bool hs_wal_empty(struct hs_db *db);

#endif
