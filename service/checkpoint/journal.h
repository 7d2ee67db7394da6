/*
 * The journals contain changes that were made since the last checkpoint and must survive a crash:
 * sessions, paid shots and hits, openings and ends of matches (validators/journal.h), and changes
 * to rulesets. The service appends a record before it sends the answer that depends on the record.
 * At the start, the service reads the checkpoint and then the journals, in order.
 *
 * Each checkpoint begins a new journal, and deletes the journals whose records the previous
 * checkpoint contains. A journal has the format of a checkpoint (file.h) without the end record. A
 * partial record at the end is ignored. Thread-safe.
 */
#ifndef HS_SERVICE_JOURNAL_H
#define HS_SERVICE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "service/checkpoint/file.h"
#include "service/options/values.h"

/* Time between two syncs in the sync mode `interval`. */
#define HS_JOURNAL_INTERVAL_US 200000

struct hs_journal;

struct hs_journal_stats {
    uint64_t written, failed;
    uint64_t bytes; /* bytes of all written records */
    uint64_t synced_failed;
};

/*
 * Creates the journal. `directory` is a file descriptor that must outlive the journal. The first
 * file gets the number `next`. If no file can be created yet, every write tries again, and fails
 * until a file can be created. Returns NULL if memory or threads run out.
 */
struct hs_journal *hs_journal_create(int directory, uint64_t next, enum hs_journal_sync sync);

/* Closes the journal. If `remove` is set, also deletes the newest file. Does nothing for NULL. */
void hs_journal_destroy(struct hs_journal *journal, bool remove);

/* Appends one record that consists of the parts. On failure returns false; readers of the file then
   never see the record. If `number` is not NULL, sets *number to the number of the current file. */
bool hs_journal_write(struct hs_journal *journal, enum hs_checkpoint_type type,
                      const struct iovec *parts, size_t count, uint64_t *number);

/* In the sync mode `always`, waits until all records written so far would survive a power failure.
   Returns false if a power failure before the next checkpoint could still lose some of these
   records. In the other sync modes, and if `journal` is NULL, returns true at once. */
bool hs_journal_settle(struct hs_journal *journal);

struct hs_journal_state {
    /* in the sync mode `always`: whether a payment survives a power failure if it is written
       immediately and then synced; in the other modes: true */
    bool is_sound;
    uint64_t number; /* number of the current file */
    /* Numbers of record bytes that were written, and that were synced. A power failure cannot lose
       the first `settled` bytes. */
    uint64_t written, synced, settled;
};
void hs_journal_state(struct hs_journal *journal, struct hs_journal_state *out);

/* Must be called before a checkpoint is taken. Begins a new file if the current file contains
   records. If the new file cannot be created, keeps the current file. Returns the number of the
   file that is now current: the checkpoint will contain the records in all files with lower
   numbers. */
uint64_t hs_journal_rotate(struct hs_journal *journal);

/* Must be called when the checkpoint after hs_journal_rotate is complete. From then on, failed
   syncs of the records in this checkpoint do no harm. Deletes the files with numbers below
   `number`. */
void hs_journal_checkpointed(struct hs_journal *journal, uint64_t number);

void hs_journal_stats(struct hs_journal *journal, struct hs_journal_stats *out);

/* ---- at the start ---- */

/* Returns the numbers of all journals in a directory, sorted; the caller frees them. Returns NULL
   if memory runs out or the directory cannot be read. */
uint64_t *hs_journal_list(int directory, size_t *count);

/* Writes the file name of the journal with this number. */
enum { HS_JOURNAL_NAME_MAX = 32 };
void hs_journal_name(uint64_t number, char name[HS_JOURNAL_NAME_MAX]);

#endif
