/*
 * Moves verdicts from the spool to PostgreSQL. The spool is a file in the data directory. The
 * writer (writer.h) commits each verdict to the spool. A thread sends the verdicts to the database,
 * and then deletes the sent verdicts from the spool. So requests never wait for the database, and
 * no committed verdict is lost during an outage of the database. After a failure, a verdict may be
 * sent twice; the database ignores the second copy. Thread-safe.
 *
 * The thread also creates the partitions for today and the next two days, and drops old partitions.
 */
#ifndef HS_SERVICE_EVIDENCE_SPOOL_H
#define HS_SERVICE_EVIDENCE_SPOOL_H

#include "service/evidence/files.h"

struct hs_metrics;
struct hs_spool;

/* Starts the thread. `home` and `metrics` must outlive the thread. `keep_days` and `keep_bytes`
   limit the partitions in the database, by the rule of hs_evidence_remove_old (files.h). Returns
   NULL if memory runs out or the thread cannot start. */
struct hs_spool *hs_spool_start(const struct hs_evidence_home *home, unsigned keep_days,
                                uint64_t keep_bytes, struct hs_metrics *metrics);

/* Sends verdicts until the spool is empty, a transfer fails, or `end_us` (hs_clock_us) has passed.
   Then stops the thread. Does nothing for NULL. */
void hs_spool_stop(struct hs_spool *spool, int64_t end_us);

/* Tells the thread that `count` verdicts were committed to the spool. Does nothing for NULL. */
void hs_spool_add(struct hs_spool *spool, size_t count);

/* Returns whether the thread has detected that the file of the spool is damaged. Returns false for
   NULL. */
bool hs_spool_is_damaged(struct hs_spool *spool);

/* Renames the damaged file of the spool (hs_evidence_move_aside). The caller must have closed the
   file. Waits until the thread has finished its current batch and has also closed the file. */
void hs_spool_move_aside(struct hs_spool *spool);

/* Returns the number of verdicts in the spool. Returns 0 for NULL. */
size_t hs_spool_length(struct hs_spool *spool);

#endif
