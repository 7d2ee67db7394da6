/*
 * Writes verdicts to the evidence store: a file a day in a directory, by one thread, which commits
 * every 200 ms or 500 rows. Requests add rows and never wait for the disk, except with
 * `is_synced`: then hs_evidence_settle waits for the commit. Thread-safe.
 *
 * The queue has a limit in bytes. Above half of it samples of accepted verdicts are dropped, above
 * all of it every row. Dropped rows are counted. While the disk is full or cannot be written, the
 * thread tries again each second.
 */
#ifndef HS_SERVICE_EVIDENCE_WRITER_H
#define HS_SERVICE_EVIDENCE_WRITER_H

#include "service/evidence/store.h"

struct hs_evidence;
struct hs_map_entry;
struct hs_ruleset_entry;
struct hs_service;

struct hs_evidence_settings {
    const char *directory; /* exists */
    size_t queue_bytes;
    bool is_synced;
    unsigned keep_days; /* older files are removed */
    uint64_t keep_bytes; /* the oldest files are removed beyond this, but never today's */
    unsigned sample; /* one of so many accepted verdicts is stored; 0: none */
};

/* Starts the thread. `service` gives the stores of rulesets and maps, and the metrics; all outlive
   the writer. NULL with a sentence in `error`. */
struct hs_evidence *hs_evidence_start(const struct hs_service *service,
                                      const struct hs_evidence_settings *settings,
                                      char error[256]);

/* Writes the rows that wait, for at most `wait_us`, and ends. NULL does nothing. */
void hs_evidence_stop(struct hs_evidence *evidence, int64_t wait_us);

/* Whether a verdict belongs into the store: all but plainly accepted ones, and a sample of those,
   chosen by their id. */
bool hs_evidence_wants(const struct hs_evidence *evidence, bool is_plain, struct hs_str id);

/* Adds a row; `map` may be NULL. False: it was dropped, and is counted. */
bool hs_evidence_put(struct hs_evidence *evidence, const struct hs_evidence_row *row,
                     bool is_sample, struct hs_ruleset_entry *ruleset, struct hs_map_entry *map);

/* With is_synced: waits until all rows added so far are on the disk, at most two seconds. False:
   they are not. */
bool hs_evidence_settle(struct hs_evidence *evidence);

size_t hs_evidence_queue_length(struct hs_evidence *evidence);

#endif
