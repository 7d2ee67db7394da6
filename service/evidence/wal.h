/*
 * Moves the write-ahead log of an SQLite file into the file, in a separate thread. SQLite can move
 * the log in a commit. But such a commit syncs the disk twice, which takes seconds on a busy disk.
 * A crash in this time would lose the rows that wait for the next commit. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_WAL_H
#define HS_SERVICE_EVIDENCE_WAL_H

#include "service/database/db.h"

struct hs_wal_mover;
struct hs_metrics;

/* Starts the thread, which moves a log at most once every `pause_us`. `metrics` counts the
   failures, and must outlive the mover. Returns NULL if memory runs out or the thread cannot
   start. */
struct hs_wal_mover *hs_wal_mover_start(struct hs_metrics *metrics, int64_t pause_us);

/* Stops the commits of a connection from moving the log, so that only the mover moves it. */
void hs_wal_leave(struct hs_db *db);

/* Begins the log with a write that changes nothing. The first write to a log syncs the disk, so
   call this before commits must be fast. */
void hs_wal_begin(struct hs_db *db);

/* Call it after a commit. The log of the file is moved after the next pause. */
void hs_wal_mover_written(struct hs_wal_mover *mover, const char *path);

/* Waits until the mover has no file open. The mover opens no file until hs_wal_mover_release. */
void hs_wal_mover_hold(struct hs_wal_mover *mover);
void hs_wal_mover_release(struct hs_wal_mover *mover);

/* Ends the thread. Does nothing for NULL. */
void hs_wal_mover_stop(struct hs_wal_mover *mover);

/* Moves the whole log into the file, and truncates the log to zero bytes, because it still contains
   deleted rows. Waits some seconds for the mover and for readers. Returns false if the mover or a
   reader still uses the log after that. */
bool hs_wal_empty(struct hs_db *db);

#endif
