/*
 * Moves verdicts from the spool to PostgreSQL. The writer (writer.h) commits each verdict to the
 * spool, a file in the data directory. One thread sends the verdicts to the database, and then
 * removes them from the spool. So requests never wait for the database, and no committed verdict is
 * lost while the database cannot be reached. The thread may send a verdict twice; the database
 * ignores the second copy. Thread-safe.
 *
 * The thread also creates the partitions of the next days, and removes old partitions.
 */
#ifndef HS_SERVICE_EVIDENCE_SPOOL_H
#define HS_SERVICE_EVIDENCE_SPOOL_H

#include "service/evidence/files.h"

struct hs_metrics;
struct hs_spool;

/* Starts the thread. `home` and `metrics` must outlive the thread. The thread removes old days by
   the rule of hs_evidence_remove_old (files.h). NULL: out of memory or threads. */
struct hs_spool *hs_spool_start(const struct hs_evidence_home *home, unsigned keep_days,
                                uint64_t keep_bytes, struct hs_metrics *metrics);

/* Sends verdicts until the spool is empty, the database fails, or `end_us` (hs_clock_us) passes.
   After that, ends the thread. Does nothing for NULL. */
void hs_spool_stop(struct hs_spool *spool, int64_t end_us);

/* Reports to the thread that verdicts were committed to the spool. Does nothing for NULL. */
void hs_spool_add(struct hs_spool *spool, size_t count);

/* Returns whether the thread found the spool damaged. Returns false for NULL. */
bool hs_spool_is_damaged(struct hs_spool *spool);

/* Moves the damaged file of the spool aside (hs_evidence_move_aside). The caller must have closed
   the file. Waits until the thread has ended its current batch and closed the file too. */
void hs_spool_move_aside(struct hs_spool *spool);

/* Returns the number of verdicts in the spool. Returns 0 for NULL. */
size_t hs_spool_length(struct hs_spool *spool);

#endif
