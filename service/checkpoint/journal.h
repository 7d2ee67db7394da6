/*
 * The journals contain the changes since the checkpoint that a crash must not lose: openings and
 * endings of matches, sessions, paid shots and hits (validators/journal.h), and rulesets that were
 * put. The service appends records before it sends the answer that depends on them. A start reads
 * the checkpoint and then the journals, in order.
 *
 * Each checkpoint begins a new journal, and deletes the journals whose records the previous
 * checkpoint already contains. A journal has the format of a checkpoint (file.h) without the end
 * record; a partial record at the end is ignored. Thread-safe.
 */
#ifndef HS_SERVICE_JOURNAL_H
#define HS_SERVICE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "service/checkpoint/file.h"
#include "service/options/values.h"

/* The time between two syncs in the sync mode `interval`. */
#define HS_JOURNAL_INTERVAL_US 200000

struct hs_journal;

struct hs_journal_stats {
    uint64_t written, failed; /* numbers of records */
    uint64_t bytes;           /* bytes of records written so far */
    uint64_t synced_failed;   /* failed calls of fdatasync */
};

/*
 * Opens the journals of a directory, whose descriptor must outlive the journal. The first new file
 * has number `next`. If no file can be created now, writes fail until a file can be created.
 * Returns NULL if memory or threads run out.
 */
struct hs_journal *hs_journal_create(int directory, uint64_t next, enum hs_journal_sync sync);

/* Closes the journal. With `remove`, also deletes the newest file. Does nothing for NULL. */
void hs_journal_destroy(struct hs_journal *journal, bool remove);

/* Appends one record, the concatenation of the parts. On failure returns false, and no part of the
   record is in the file. If `number` is not NULL, *number is set to the number of the file with the
   record. */
bool hs_journal_write(struct hs_journal *journal, enum hs_checkpoint_type type,
                      const struct iovec *parts, size_t count, uint64_t *number);

/* If the sync mode is `always`, waits until all records written so far survive a loss of power.
   Returns false if a loss of power before the next checkpoint could lose some of these records.
   Returns true if `journal` is NULL. */
bool hs_journal_settle(struct hs_journal *journal);

struct hs_journal_state {
    bool is_sound;   /* new payments survive as the sync mode promises */
    uint64_t number; /* number of the current file */
    /* Bytes of records. A loss of power loses none of the first `settled` bytes. */
    uint64_t written, synced, settled;
};
void hs_journal_state(struct hs_journal *journal, struct hs_journal_state *out);

/* Call it before a checkpoint is taken. Begins a new file, unless the newest file is empty or no
   file can be made. Returns the number of the newest file: the checkpoint will contain the records
   of all files with lower numbers. */
uint64_t hs_journal_rotate(struct hs_journal *journal);

/* Call it after a checkpoint was written. The checkpoint must have begun after hs_journal_rotate
   was called. Therefore the checkpoint contains the records that could not be synced before.
   Removes the files with numbers below `number`. */
void hs_journal_checkpointed(struct hs_journal *journal, uint64_t number);

void hs_journal_stats(struct hs_journal *journal, struct hs_journal_stats *out);

/* ---- at the start ---- */

/* Returns the numbers of a directory's journals, ascending; free() them. Returns NULL if memory
   runs out, or the directory cannot be read. */
uint64_t *hs_journal_list(int directory, size_t *count);

/* Writes the file name of a journal. */
enum { HS_JOURNAL_NAME_MAX = 32 };
void hs_journal_name(uint64_t number, char name[HS_JOURNAL_NAME_MAX]);

#endif
