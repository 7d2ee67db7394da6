/*
 * Moves verdicts from the spool to PostgreSQL. The writer (writer.h) commits each verdict to the
 * spool, a file in the data directory, as it does without a database. One thread sends them to the
 * database and then removes them from the spool. So nothing waits for the database, and no written
 * verdict is lost while the database is away. A verdict may be sent twice; the database keeps the
 * first one. Thread-safe.
 *
 * The thread also makes the partitions of the next days, and removes old ones.
 */
#ifndef HS_SERVICE_EVIDENCE_SPOOL_H
#define HS_SERVICE_EVIDENCE_SPOOL_H

#include "service/evidence/files.h"

struct hs_metrics;
struct hs_spool;

/* Starts the thread. `home` and `metrics` must outlive it. Old days are removed as by
   hs_evidence_remove_old (files.h). NULL: out of memory or threads. */
struct hs_spool *hs_spool_start(const struct hs_evidence_home *home, unsigned keep_days,
                                uint64_t keep_bytes, struct hs_metrics *metrics);

/* Sends verdicts until the spool is empty, the database fails, or `end_us` (hs_clock_us) passes.
   Then ends the thread. Does nothing for NULL. */
void hs_spool_stop(struct hs_spool *spool, int64_t end_us);

/* Tells the thread that verdicts were committed to the spool. Does nothing for NULL. */
void hs_spool_add(struct hs_spool *spool, size_t count);

/* Whether the thread found the spool damaged. NULL: false. */
bool hs_spool_is_damaged(struct hs_spool *spool);

/* Moves the damaged file of the spool aside (files.h). The caller has closed it. Waits until the
   thread has closed the file, too; this takes as long as the current batch of the thread. */
void hs_spool_move_aside(struct hs_spool *spool);

/* The verdicts in the spool. NULL: 0. */
size_t hs_spool_length(struct hs_spool *spool);

#endif
