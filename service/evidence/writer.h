/*
 * Writes verdicts to the evidence store, which has one file for each day. With PostgreSQL, verdicts
 * go to the spool file first, and another thread sends the verdicts from the spool to the database
 * (spool.h). Thread-safe.
 *
 * Requests append rows to a queue and never wait for the disk. One thread writes the rows. The
 * thread commits 20 ms after the oldest row was queued, or as soon as 50 rows are queued. With
 * `is_synced`, the thread commits at once, and hs_evidence_await reports when the rows are on the
 * disk.
 *
 * The queue has a limit in bytes. When the queue is more than half full, plain verdicts
 * (hs_evidence_wants) are dropped. When the queue is full, `blocks` decides between dropping rows
 * and refusing claims. Dropped rows are counted. While the file cannot be written, for example
 * because the disk is full, the thread tries again every second.
 */
#ifndef HS_SERVICE_EVIDENCE_WRITER_H
#define HS_SERVICE_EVIDENCE_WRITER_H

#include "service/evidence/store.h"

struct hs_evidence;
struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

struct hs_evidence_settings {
    struct hs_evidence_home home; /* its directory must already exist */
    size_t queue_bytes;
    bool is_synced;
    bool blocks;         /* a full queue refuses claims (true) or drops rows (false) */
    unsigned keep_days;  /* files that are at least this many days old are removed */
    uint64_t keep_bytes; /* max total size of all files; if the total is larger, the oldest files
                            are removed, but never today's file */
    const char *mask;    /* JSON pointers to the values that must not be stored (items.h) */
    /* The writer stores 1 / sample of the plain verdicts (hs_evidence_wants); 0: no plain
       verdicts. */
    unsigned sample;
};

/* Starts the thread. The ruleset store, the map store and the metrics of `service` must outlive the
   writer. Returns NULL with a message in `error` on failure. */
struct hs_evidence *hs_evidence_start(const struct hs_service *service,
                                      const struct hs_evidence_settings *settings, char error[256]);

/* Writes the queued rows, but gives up after `wait_us`. Then stops the thread and frees the writer.
   Does nothing for NULL. */
void hs_evidence_stop(struct hs_evidence *evidence, int64_t wait_us);

/* Returns whether a verdict should be stored. A plain verdict is accepted and has an empty
   `would_reject`. Only a sample of the plain verdicts is stored; `id` selects the sample. All other
   verdicts are stored. */
bool hs_evidence_wants(const struct hs_evidence *evidence, bool is_plain, struct hs_str id);

/* Copies a row into the queue; `map` may be NULL. Returns false if the row was dropped; the metrics
   count dropped rows. */
bool hs_evidence_put(struct hs_evidence *evidence, const struct hs_evidence_row *row,
                     bool is_sample, struct hs_ruleset_entry *ruleset, struct hs_map_entry *map);

/* Returns how many rows were committed or dropped so far. Call this function before a request adds
   rows. */
uint64_t hs_evidence_done(struct hs_evidence *evidence);

/* Returns a mark for hs_evidence_await that covers all rows queued so far. 0: the caller need not
   wait, because these rows are on the disk, and no row was dropped since hs_evidence_done returned
   `done_before`. hs_evidence_done and hs_evidence_mark return 0 if `evidence` is NULL or
   `is_synced` is false. */
uint64_t hs_evidence_mark(struct hs_evidence *evidence, uint64_t done_before);

/* A request that waits until its rows are committed. The wait must stay valid until `done` is
   called. */
struct hs_evidence_wait {
    const void *owner;          /* for hs_evidence_end_waits */
    uint64_t mark, done_before; /* see hs_evidence_mark */
    /* Called on any thread, while the writer's lock is held, so `done` must not call the writer. */
    void (*done)(struct hs_evidence_wait *wait);
    /* Set before `done` is called, and when hs_evidence_await returns false. True: two seconds
       passed before all rows were on the disk, or rows were dropped after the call that returned
       `done_before`. */
    bool is_lost;
    /* Only the writer uses the following members. */
    int64_t until_us;
    struct hs_evidence_wait *next;
};

/* Calls `done` as soon as the rows up to the mark are on the disk, or after two to three seconds.
   Returns false, and does not call `done`, if the writer has already committed or dropped these
   rows, or has dropped rows since `done_before`. */
bool hs_evidence_await(struct hs_evidence *evidence, struct hs_evidence_wait *wait);

/* Ends the waits that have lasted two seconds. Call this function every second. Does nothing for
   NULL. */
void hs_evidence_expire(struct hs_evidence *evidence);

/* Ends all waits with this owner. After this call, the owner must not start another wait. Does
   nothing for NULL. */
void hs_evidence_end_waits(struct hs_evidence *evidence, const void *owner);

/* Returns true while claims must be refused: the queue is full, and `blocks` is set. */
bool hs_evidence_is_blocked(struct hs_evidence *evidence);

const struct hs_evidence_home *hs_evidence_home(const struct hs_evidence *evidence);

const char *hs_evidence_mask(const struct hs_evidence *evidence);

/* Returns the number of verdicts that still wait in the queue or in the spool. */
size_t hs_evidence_queue_length(struct hs_evidence *evidence);

#endif
