/*
 * Moves the write-ahead log of an SQLite file into the file, on a thread of its own. SQLite can do
 * this in a commit, but such a commit syncs the disk twice, which takes seconds if the disk is
 * busy. A crash in that time would lose the rows that wait for the next commit. Thread-safe.
 */
#ifndef HS_SERVICE_EVIDENCE_WAL_H
#define HS_SERVICE_EVIDENCE_WAL_H

#include "service/database/db.h"

struct hs_wal_mover;
struct hs_metrics;

/* Starts the thread, which moves a log at most once each `pause_us`. `metrics` counts the failures,
   and outlives the mover. Returns NULL if out of memory, or if the thread cannot start. */
struct hs_wal_mover *hs_wal_mover_start(struct hs_metrics *metrics, int64_t pause_us);

/* Makes the commits of a connection leave the log to the mover. */
void hs_wal_leave(struct hs_db *db);

/* Begins the log with a write that changes nothing. The first write to a log syncs the disk, so
   call this before commits must be fast. */
void hs_wal_begin(struct hs_db *db);

/* Call it after a commit. The log of the file is moved after the next pause. */
void hs_wal_mover_written(struct hs_wal_mover *mover, const char *path);

/* Waits until the mover has no file open, and lets it open none until the release. */
void hs_wal_mover_hold(struct hs_wal_mover *mover);
void hs_wal_mover_release(struct hs_wal_mover *mover);

/* Ends the thread. Does nothing for NULL. */
void hs_wal_mover_stop(struct hs_wal_mover *mover);

/* Moves the whole log into the file and cuts the log to zero bytes, because it still has deleted
   rows. Waits some seconds for the mover and for readers. Returns false if they still use the
   log. */
bool hs_wal_empty(struct hs_db *db);

#endif
