/*
 * The files beside the checkpoint that hold what was paid since: openings and endings of matches,
 * sessions, paid shots and hits (validators/journal.h), rulesets that were put. Records are
 * appended before the answer that depends on them is sent. A start reads the checkpoint and then
 * the journals, in order.
 *
 * Each checkpoint begins a new journal, and removes those that the checkpoint before it did not
 * need. A journal has the form of a checkpoint (checkpoint_file.h) without its last record; what a
 * crash tears off at the end is ignored. Thread-safe.
 */
#ifndef HS_SERVICE_JOURNAL_H
#define HS_SERVICE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "service/checkpoint/checkpoint_file.h"

/* What a loss of power may cost. A crash of the process costs nothing with any of them. */
#define HS_JOURNAL_SYNCS(X)                                                                        \
    X(OFF, "off")           /* what the kernel has not written by itself */                        \
    X(INTERVAL, "interval") /* the last HS_JOURNAL_INTERVAL_US */                                  \
    X(ALWAYS, "always")     /* nothing that was answered */

enum hs_journal_sync {
#define X(id, name) HS_JOURNAL_SYNC_##id,
    HS_JOURNAL_SYNCS(X)
#undef X
        HS_JOURNAL_SYNC_COUNT
};
#define HS_JOURNAL_INTERVAL_US 200000

bool hs_journal_sync_parse(const char *name, enum hs_journal_sync *sync);

struct hs_journal;

struct hs_journal_stats {
    uint64_t written, failed; /* records */
    uint64_t bytes;           /* written so far */
    uint64_t synced_failed;   /* fdatasync */
};

/*
 * The journals of a directory, which must outlive this. The first file that is written has number
 * `next`. A directory that takes no file is no error here: writes fail until it does. NULL: out of
 * memory or threads.
 */
struct hs_journal *hs_journal_create(int directory, uint64_t next, enum hs_journal_sync sync);

/* Ends it; `remove`: its newest file is not needed either. NULL: nothing. */
void hs_journal_destroy(struct hs_journal *journal, bool remove);

/*
 * Appends one record, the concatenation of the parts. False: it is not in the file, and no part of
 * it is. `number`: NULL, or gets the number of the file it went to.
 */
bool hs_journal_write(struct hs_journal *journal, enum hs_checkpoint_type type,
                      const struct iovec *parts, size_t count, uint64_t *number);

/*
 * Waits until what was written so far would survive a loss of power, where that is asked for.
 * False: it may not, until the next checkpoint is there.
 */
bool hs_journal_settle(struct hs_journal *journal);

/* Whether a payment that is written now would be kept: hs_journal_settle does not fail. */
bool hs_journal_is_sound(struct hs_journal *journal);

/* Number of the file that is written now. */
uint64_t hs_journal_number(struct hs_journal *journal);

/*
 * Before a checkpoint is taken: begins a new file, unless the newest is empty or no file can be
 * made. Returns the number of the newest file: the checkpoint holds what is in those before it.
 */
uint64_t hs_journal_rotate(struct hs_journal *journal);

/* A checkpoint that was taken after `hs_journal_rotate` is there: what could not be synced before
   is in it. Removes the files before `number`. */
void hs_journal_checkpointed(struct hs_journal *journal, uint64_t number);

void hs_journal_stats(struct hs_journal *journal, struct hs_journal_stats *out);

/* ---- at the start ---- */

/* The numbers of a directory's journals, ascending; free() them. NULL: memory is out, or the
   directory cannot be read. */
uint64_t *hs_journal_list(int directory, size_t *count);

/* The name of a journal. */
enum { HS_JOURNAL_NAME_MAX = 32 };
void hs_journal_name(uint64_t number, char name[HS_JOURNAL_NAME_MAX]);

#endif
