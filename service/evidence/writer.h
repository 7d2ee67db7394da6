/*
 * Writes verdicts to the evidence store, which has one file for each day. With PostgreSQL the file
 * is the spool; another thread sends the verdicts from there to the database (spool.h). One thread
 * writes the rows, and commits 20 ms after the oldest row was added, or after 50 rows. Requests add
 * rows and never wait for the disk. With `is_synced` the thread commits at once, and
 * hs_evidence_await reports the commit. Thread-safe.
 *
 * The queue has a limit in bytes. Above half of the limit, samples of accepted verdicts are
 * dropped. Above the limit, every row is dropped. Dropped rows are counted. While the disk is full
 * or cannot be written, the thread tries again every second.
 */
#ifndef HS_SERVICE_EVIDENCE_WRITER_H
#define HS_SERVICE_EVIDENCE_WRITER_H

#include "service/evidence/store.h"

struct hs_evidence;
struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

struct hs_evidence_settings {
    struct hs_evidence_home home; /* its directory must exist */
    size_t queue_bytes;
    bool is_synced;
    bool blocks;         /* whether a full queue refuses claims (true) or drops rows (false) */
    unsigned keep_days;  /* older files are removed */
    uint64_t keep_bytes; /* if all files together are larger, the oldest files are removed, but
                            never today's file */
    const char *mask;    /* pointers in posted items (items.h) */
    /* One in this many accepted verdicts is stored; 0: no accepted verdict is stored. */
    unsigned sample;
};

/* Starts the thread. The stores of rulesets and maps and the metrics of `service` must outlive the
   writer. Returns NULL with a message in `error` on failure. */
struct hs_evidence *hs_evidence_start(const struct hs_service *service,
                                      const struct hs_evidence_settings *settings, char error[256]);

/* Writes the waiting rows, for at most `wait_us`. After that, ends the thread and frees the writer.
   Does nothing for NULL. */
void hs_evidence_stop(struct hs_evidence *evidence, int64_t wait_us);

/* Returns whether to store a verdict. The store gets every verdict that is not plain, and a sample
   of the plain verdicts. The id selects the sample. `is_plain`: accepted, with an empty
   `would_reject`. */
bool hs_evidence_wants(const struct hs_evidence *evidence, bool is_plain, struct hs_str id);

/* Adds a row; `map` may be NULL. Returns false if the row was dropped; the metrics count it. */
bool hs_evidence_put(struct hs_evidence *evidence, const struct hs_evidence_row *row,
                     bool is_sample, struct hs_ruleset_entry *ruleset, struct hs_map_entry *map);

/* Returns a mark for all rows that were added so far. 0: requests need not wait for these rows. */
uint64_t hs_evidence_mark(struct hs_evidence *evidence);

/* A request that waits for a commit. The wait must stay valid until `done` is called. */
struct hs_evidence_wait {
    const void *owner; /* for hs_evidence_end_waits */
    uint64_t mark;
    void (*done)(
        struct hs_evidence_wait *wait); /* called by any thread; must not call the writer */
    bool is_lost; /* set before `done`: the rows were not on the disk within two seconds */
    int64_t until_us;
    struct hs_evidence_wait *next; /* used by the writer */
};

/* Calls `done` as soon as the rows up to the mark are on the disk, or after two to three seconds.
   Returns false, without calling `done`, if the rows are already on the disk. */
bool hs_evidence_await(struct hs_evidence *evidence, struct hs_evidence_wait *wait);

/* Ends the waits that have lasted too long. Call it every second. Does nothing for NULL. */
void hs_evidence_expire(struct hs_evidence *evidence);

/* Ends all waits of an owner. The owner must not begin another wait. Does nothing for NULL. */
void hs_evidence_end_waits(struct hs_evidence *evidence, const void *owner);

/* Returns whether claims must be refused, because the queue is full and rows must not be dropped.
 */
bool hs_evidence_is_blocked(struct hs_evidence *evidence);

/* Returns where the verdicts are stored. */
const struct hs_evidence_home *hs_evidence_home(const struct hs_evidence *evidence);

/* Returns the JSON pointers of the members whose values must not be stored, separated by commas, or
   "". */
const char *hs_evidence_mask(const struct hs_evidence *evidence);

/* Returns how many verdicts are not in the store yet: the verdicts in the queue and in the spool.
 */
size_t hs_evidence_queue_length(struct hs_evidence *evidence);

#endif
